// Lines of JSON over a socket or a pair of pipes, local only: there is no authentication.
#include "cli_wire.h"
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WIRE_PART 4096 // bytes that a pipe or socket takes at once if it takes any (PIPE_BUF)

// Seconds that only go forward: a deadline shall not move when the clock of the system is set.
static double wire_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Takes both descriptors; they are equal for a socket.
void wire_open(wire *w, int in, int out)
{
    *w = (wire){.in = in, .out = out};
}

void wire_close(wire *w)
{
    if (w->in >= 0) {
        close(w->in);
    }
    if (w->out >= 0 && w->out != w->in) {
        close(w->out);
    }
    free(w->buffer);
    *w = (wire){.in = -1, .out = -1};
}

// Sends one message and releases it. 12 digits keep what a robot can measure and make lines short.
wire_end wire_send(wire *w, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(message);
    if (!text) {
        return WIRE_WRONG;
    }

    // the end of line replaces the terminating zero: the text is written by its length
    const size_t length = strlen(text);
    text[length] = '\n'; // in the place of the end
    wire_end end = WIRE_OK;

    // a pipe or socket takes a part at a time, which it has room for when it says so; one that is not read
    // from takes nothing, for ever
    double until = wire_now() + (w->patience > 0 ? w->patience : WIRE_PATIENCE);
    for (size_t at = 0; end == WIRE_OK && at < length + 1;) {
        const double left = until - wire_now();
        struct pollfd p = {.fd = w->out, .events = POLLOUT};
        if (poll(&p, 1, (int)(1000 * fmin(fmax(left, 0), 0.2)) + 1) <= 0) {
            end = !w->ignore_interrupts && cli_interrupted() ? WIRE_LATE : left <= 0 ? WIRE_CLOSED : WIRE_OK;
            continue;
        }

        const size_t part = length + 1 - at < WIRE_PART ? length + 1 - at : WIRE_PART;
        const ssize_t sent = write(w->out, text + at, part);
        if (sent > 0) {
            at += (size_t)sent;
            until = wire_now() + (w->patience > 0 ? w->patience : WIRE_PATIENCE);
        } else if (sent < 0 && errno != EINTR && errno != EAGAIN) {
            end = WIRE_CLOSED;
        }
    }

    free(text);

    return end;
}

// The first line of the buffer, taken out of it; NULL: none yet.
static char *wire_line(wire *w)
{
    char *end = w->used ? memchr(w->buffer, '\n', w->used) : NULL;
    if (!end) {
        return NULL;
    }

    const size_t length = (size_t)(end - w->buffer);
    char *line = malloc(length + 1);
    if (line) {
        memcpy(line, w->buffer, length);
        line[length] = '\0';
        w->used -= length + 1;
        memmove(w->buffer, end + 1, w->used);
    }

    return line;
}

// Drops the bytes of a line that is too long, up to its end.
static void wire_skip(wire *w)
{
    char *end = w->used ? memchr(w->buffer, '\n', w->used) : NULL;
    const size_t drop = end ? (size_t)(end - w->buffer) + 1 : w->used;
    w->used -= drop;
    memmove(w->buffer, w->buffer + drop, w->used);
    w->skipping = !end;
}

// Makes room for the next read, by doubling; false when the line is longer than WIRE_LINE_MAX, or when memory
// is out.
static bool wire_grow(wire *w)
{
    if (w->room - w->used >= 4096) {
        return true;
    }

    const size_t room = w->room ? 2 * w->room : 8192;
    char *more = room <= WIRE_LINE_MAX ? realloc(w->buffer, room) : NULL;
    if (more) {
        w->buffer = more;
        w->room = room;
    }

    return more != NULL;
}

// The next message; waits at most `seconds`, or without limit when they are negative. The caller owns
// `*message`, also when the text was JSON but no object.
wire_end wire_receive(wire *w, double seconds, json_t **message)
{
    const double until = wire_now() + seconds;
    *message = NULL;
    for (;;) {
        if (w->skipping) {
            wire_skip(w);
        }

        // a line that is complete is taken before more is read
        char *line = w->skipping ? NULL : wire_line(w);
        if (line) {
            *message = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
            free(line);
            return json_is_object(*message) ? WIRE_OK : WIRE_WRONG;
        }

        if (!wire_grow(w)) {
            w->skipping = true;
            return WIRE_LONG;
        }

        // an interruption ends the wait like a deadline
        const double left = until - wire_now();
        if ((!w->ignore_interrupts && cli_interrupted()) || (seconds >= 0 && left <= 0)) {
            return WIRE_LATE;
        }

        // at most 0.2 s at a time, so that an interruption is seen soon
        struct pollfd p = {.fd = w->in, .events = POLLIN};
        const int ready = poll(&p, 1, seconds < 0 ? 200 : (int)(1000 * (left < 0.2 ? left : 0.2)) + 1);
        if (ready <= 0) {
            continue;
        }
        const ssize_t got = read(w->in, w->buffer + w->used, w->room - w->used);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
            return WIRE_CLOSED;
        }
        w->used += got > 0 ? (size_t)got : 0;
    }
}

// Waits for one client on the loopback address. Port 0 lets the system choose; the port is printed, so that a
// test can read it. Returns the descriptor, which the caller closes, or -1.
int wire_listen(const cli_args *args, int port)
{
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;

    if (server < 0 || setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(server, (struct sockaddr *)&at, sizeof at) != 0 || listen(server, 1) != 0 ||
        getsockname(server, (struct sockaddr *)&at, &size) != 0) {
        cli_error(args, "port %d cannot be opened: %s", port, strerror(errno));
        if (server >= 0) {
            close(server);
        }
        return -1;
    }

    fprintf(stderr, "listening on 127.0.0.1:%d\n", ntohs(at.sin_port));

    // one client is enough: the server closes after it
    int client = -1;
    while (client < 0 && !cli_interrupted()) {
        struct pollfd p = {.fd = server, .events = POLLIN};
        if (poll(&p, 1, 200) > 0) {
            client = accept(server, NULL, NULL);
        }
    }

    close(server);

    // each message is a line that is waited for: no delay to collect more
    if (client >= 0) {
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }

    return client;
}

// Connects to a plant on this machine; the descriptor, which the caller closes, or -1 after an error message.
int wire_connect(const cli_args *args, const char *address)
{
    const char *colon = strrchr(address, ':');
    const int port = colon ? atoi(colon + 1) : 0, yes = 1;
    const bool local = strncmp(address, "127.0.0.1:", 10) == 0 || strncmp(address, "localhost:", 10) == 0;

    if (!local || port < 1 || port > 65535) {
        cli_error(args, "--plant %s: expected a robot file, or 127.0.0.1:PORT of a plant that listens",
                  address);
        return -1;
    }

    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof at) != 0) {
        cli_error(args, "--plant %s: %s", address, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);

    return fd;
}
