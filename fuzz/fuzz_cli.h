// A line on which an input comes in, for the files of the command that hear a robot or a machine.
#ifndef PL_FUZZ_CLI_H
#define PL_FUZZ_CLI_H

#include <sys/socket.h>
#include "fuzz.h"

// A socket that reads the bytes and then the end; what is sent to it is taken by `other`, which is not read.
static inline int fuzz_line(const uint8_t *data, size_t size, int *other)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        abort();
    }

    // what a socket holds: at least 64 KiB
    for (size_t at = 0; at < size;) {
        const ssize_t sent = send(pair[1], data + at, size - at, MSG_DONTWAIT);
        if (sent < 0) {
            break;
        }
        at += (size_t)sent;
    }
    shutdown(pair[1], SHUT_WR);
    *other = pair[1];

    return pair[0];
}

#endif
