// A small WebSocket client for tests and benches: starts `pliant serve`, shakes hands, sends frames right or
// wrong, and reads what comes.
#ifndef PL_WS_CLIENT_H
#define PL_WS_CLIENT_H

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline double ws_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void ws_rest(int milliseconds)
{
    const struct timespec t = {.tv_sec = milliseconds / 1000, .tv_nsec = 1000000L * (milliseconds % 1000)};
    nanosleep(&t, NULL);
}

// ---- the server
typedef struct ws_server {
    pid_t pid;
    int port;
} ws_server;

// Runs `program serve ARGUMENTS --port 0` and reads the address it prints. `argument` ends with NULL.
static inline bool ws_start(ws_server *server, const char *program, const char *const *argument)
{
    int ends[2];
    *server = (ws_server){0};
    if (pipe(ends) != 0) {
        return false;
    }
    server->pid = fork();
    if (server->pid == 0) {
        const char *line[40] = {program, "serve"};
        int n = 2;
        for (int i = 0; argument[i] && n < 36; ++i) {
            line[n++] = argument[i];
        }
        line[n++] = "--port";
        line[n++] = "0";
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(program, (char *const *)line);
        _exit(127);
    }

    close(ends[1]);
    char text[2000] = "";
    size_t length = 0;
    ssize_t got;
    while (!strchr(text, '\n') && length < sizeof text - 1 &&
           (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0) {
        length += (size_t)got;
        text[length] = 0;
    }

    close(ends[0]);
    const char *colon = strstr(text, "http://");
    colon = colon ? strchr(colon + 7, ':') : NULL;
    server->port = colon ? atoi(colon + 1) : 0;

    return server->port > 0;
}

// Asks it to end; returns its exit status, or -1 when it had to be killed.
static inline int ws_stop(ws_server *server, int signal_number)
{
    int status = -1;
    kill(server->pid, signal_number);
    for (double start = ws_now(); ws_now() - start < 30;) {
        if (waitpid(server->pid, &status, WNOHANG) == server->pid) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
        ws_rest(10);
    }

    kill(server->pid, SIGKILL);
    waitpid(server->pid, &status, 0);

    return -1;
}

// Resident memory of a process, kB.
static inline long ws_memory(pid_t pid)
{
    char path[60], line[200];
    long kb = -1;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmRSS: %ld", &kb) == 1) {
            break;
        }
    }

    if (file) {
        fclose(file);
    }

    return kb;
}

// ---- bytes
static inline int ws_socket(int port)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }

    return fd;
}

static inline bool ws_put(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        const ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        at += sent;
        bytes -= (size_t)sent;
    }

    return true;
}

// Reads exactly so many bytes; false at the end of the stream or after `seconds`.
static inline bool ws_get(int fd, void *data, size_t bytes, double seconds)
{
    char *to = data;
    const double end = ws_now() + seconds;

    while (bytes > 0) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        const double left = end - ws_now();
        if (left <= 0 || poll(&wait, 1, (int)(1000 * left) + 1) <= 0) {
            return false;
        }
        const ssize_t got = read(fd, to, bytes);
        if (got <= 0) {
            return false;
        }
        to += got;
        bytes -= (size_t)got;
    }

    return true;
}

// ---- the handshake. `origin` and `protocol` may be NULL. Returns a socket, or -1 when refused.
static inline int ws_connect_at(int port, const char *path, const char *origin, const char *protocol)
{
    const int fd = ws_socket(port);
    char text[1500];
    int n = snprintf(text, sizeof text,
                     "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n",
                     path, port);

    if (origin) {
        n += snprintf(text + n, sizeof text - (size_t)n, "Origin: %s\r\n", origin);
    }
    if (protocol) {
        n += snprintf(text + n, sizeof text - (size_t)n, "Sec-WebSocket-Protocol: %s\r\n", protocol);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "\r\n");
    if (fd < 0 || !ws_put(fd, text, (size_t)n)) {
        return -1;
    }

    size_t length = 0;
    memset(text, 0, sizeof text);
    while (length < sizeof text - 1 && !strstr(text, "\r\n\r\n")) {
        if (!ws_get(fd, text + length, 1, 20)) {
            break;
        }
        ++length;
    }

    if (strncmp(text, "HTTP/1.1 101", 12) != 0) {
        close(fd);
        return -1;
    }

    return fd;
}

static inline int ws_connect(int port, const char *origin, const char *protocol)
{
    return ws_connect_at(port, "/", origin, protocol);
}

// ---- frames
// A masked frame as a client must send it, in one piece: of two pieces the second waits until the first is
// acknowledged, which takes 40 ms.
static inline bool ws_frame(int fd, int first_byte, const void *payload, size_t bytes)
{
    unsigned char head[14] = {(unsigned char)first_byte};
    const unsigned char mask[4] = {0x12, 0x34, 0x56, 0x78};
    size_t n = 2;

    if (bytes < 126) {
        head[1] = (unsigned char)(0x80 | bytes);
    } else if (bytes < 65536) {
        head[1] = 0x80 | 126;
        head[2] = (unsigned char)(bytes >> 8);
        head[3] = (unsigned char)bytes;
        n = 4;
    } else {
        head[1] = 0x80 | 127;
        for (int i = 0; i < 8; ++i) {
            head[2 + i] = (unsigned char)((uint64_t)bytes >> (56 - 8 * i));
        }
        n = 10;
    }

    memcpy(head + n, mask, 4);
    n += 4;
    unsigned char *frame = malloc(n + bytes);
    if (!frame) {
        return false;
    }
    memcpy(frame, head, n);
    for (size_t i = 0; i < bytes; ++i) {
        frame[n + i] = ((const unsigned char *)payload)[i] ^ mask[i % 4];
    }

    const bool sent = ws_put(fd, frame, n + bytes);
    free(frame);

    return sent;
}

static inline bool ws_say(int fd, const char *text)
{
    return ws_frame(fd, 0x81, text, strlen(text));
}

// The next message; its payload (closed by a zero) is on the heap. Returns the opcode, or -1. A close frame
// gives 8 with the code in the first two bytes.
static inline int ws_hear(int fd, unsigned char **payload, size_t *bytes, double seconds)
{
    unsigned char head[10];
    *payload = NULL;
    *bytes = 0;
    if (!ws_get(fd, head, 2, seconds)) {
        return -1;
    }

    uint64_t length = head[1] & 0x7f;
    if (length >= 126) {
        const int more = length == 126 ? 2 : 8;
        length = 0;
        if (!ws_get(fd, head + 2, (size_t)more, seconds)) {
            return -1;
        }
        for (int i = 0; i < more; ++i) {
            length = length << 8 | head[2 + i];
        }
    }

    *payload = length < 1u << 30 ? malloc(length + 1) : NULL;
    if (!*payload || !ws_get(fd, *payload, length, seconds)) {
        free(*payload);
        *payload = NULL;
        return -1;
    }

    (*payload)[length] = 0;
    *bytes = length;

    return head[0] & 0x0f;
}

// Reads on until a message with `words` in its text or JSON header comes; on the heap, NULL when none does.
static inline unsigned char *ws_await(int fd, const char *words, size_t *bytes, double seconds)
{
    const double end = ws_now() + seconds;
    while (ws_now() < end) {
        unsigned char *payload;
        const int opcode = ws_hear(fd, &payload, bytes, end - ws_now());
        if (opcode < 0) {
            return NULL;
        }
        if (opcode == 9) {
            ws_frame(fd, 0x8a, payload, *bytes); // the server asks whether anybody is there
        }
        const char *text = (const char *)payload;
        if (opcode == 2 && *bytes > 16) {
            uint32_t arrays;
            memcpy(&arrays, payload + 12, sizeof arrays);
            text += 16 + 16 * (size_t)arrays;
        }
        if (opcode < 8 && strstr(text, words)) {
            return payload;
        }
        free(payload);
    }

    return NULL;
}

#endif
