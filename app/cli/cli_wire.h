// The protocol between a controller and a robot, real or simulated (docs/howto/control.md): one JSON object
// per line.
#ifndef PL_CLI_WIRE_H
#define PL_CLI_WIRE_H

#include "cli.h"

// A connection and what was read from it but not used yet.
typedef struct wire {
    int in, out; // descriptors; may be the same socket
    char *buffer;
    size_t used, room;
    bool skipping; // the rest of a line that was too long
    bool ignore_interrupts;
    double patience; // s that the other side may take nothing of a message; 0: WIRE_PATIENCE
} wire;

#define WIRE_PROTOCOL "pliant plant 2"
#define WIRE_PATIENCE 30.0              // s
#define WIRE_LINE_MAX ((size_t)1 << 18) // bytes

// WIRE_WRONG: a line that is no JSON object, WIRE_LONG: one beyond WIRE_LINE_MAX; both are consumed.
typedef enum wire_end { WIRE_OK, WIRE_CLOSED, WIRE_LATE, WIRE_WRONG, WIRE_LONG } wire_end;

void wire_open(wire *w, int in, int out);
void wire_close(wire *w); // also the descriptors

// Takes over `message`. WIRE_CLOSED: the connection has ended, or the other side does not read; WIRE_LATE: a
// signal.
wire_end wire_send(wire *w, json_t *message);

// Waits `seconds` at most (negative: for ever), or until a signal. *message is the caller's.
wire_end wire_receive(wire *w, double seconds, json_t **message);

// A server socket on the loopback interface, one connection; -1 after saying why.
int wire_listen(const cli_args *args, int port);

// "127.0.0.1:PORT" or "localhost:PORT"; -1 after saying why.
int wire_connect(const cli_args *args, const char *address);

#endif
