// Marlin's serial protocol: "N12 G1 X3*87", where the number after the star is the exclusive or of the bytes
// before it. The board answers `ok`; `Resend: 12` (and then `ok`) asks for the line again; `echo:busy` asks
// for patience; `Error:` ends the run.
#define _DEFAULT_SOURCE // cfmakeraw, CRTSCTS
#include "cli_marlin.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MARLIN_RESENDS 5 // of one line
#define MARLIN_START 2.5 // s that a board may take to start after its line was opened

// A move to a safe place must end even after Ctrl-C.
static bool marlin_interrupted(const marlin *m)
{
    return !m->ignore_interrupts && cli_interrupted();
}

// s on a clock that nobody sets.
static double marlin_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The next line of the board within `until` (on the clock): its length, 0: too late, -1: the line is gone.
static int marlin_hear(marlin *m, double until, char *text, size_t size)
{
    for (;;) {
        char *end = memchr(m->buffer, '\n', m->used);
        if (end) {
            size_t length = (size_t)(end - m->buffer);
            const size_t kept = length < size - 1 ? length : size - 1;
            memcpy(text, m->buffer, kept);
            text[kept] = '\0';
            text[strcspn(text, "\r")] = '\0';
            m->used -= length + 1;
            memmove(m->buffer, end + 1, m->used);
            return 1;
        }

        if (m->used == sizeof m->buffer) {
            m->used = 0; // no line is that long
        }
        const double left = until - marlin_now();
        if (left <= 0 || marlin_interrupted(m)) {
            return 0;
        }
        struct pollfd p = {.fd = m->fd, .events = POLLIN};
        if (poll(&p, 1, (int)(1000 * (left < 0.1 ? left : 0.1)) + 1) <= 0) {
            continue;
        }
        const ssize_t got = read(m->fd, m->buffer + m->used, sizeof m->buffer - m->used);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
            return -1;
        }
        m->used += got > 0 ? (size_t)got : 0;
    }
}

// All of the text until `until` (s on the clock); false when that fails.
static bool marlin_write(marlin *m, const char *text, double until)
{
    for (size_t at = 0, length = strlen(text); at < length;) {
        const ssize_t sent = write(m->fd, text + at, length - at);
        if (sent > 0) {
            at += (size_t)sent;
        } else if (sent < 0 && errno != EINTR && errno != EAGAIN) {
            return false;
        } else {
            struct pollfd p = {.fd = m->fd, .events = POLLOUT};
            poll(&p, 1, 100);
            if (marlin_now() > until || marlin_interrupted(m)) {
                return false;
            }
        }
    }

    return true;
}

// A reason with what the board said, without control characters.
static const char *marlin_say(marlin *m, const char *what, const char *line)
{
    snprintf(m->reason, sizeof m->reason, "%s%.150s", what, line);
    for (char *c = m->reason; *c; ++c) {
        *c = (unsigned char)*c < 0x20 ? ' ' : *c;
    }
    return m->reason;
}

// One line without its end; `number` is the one it gets.
static const char *marlin_line(marlin *m, const char *gcode, long number, double timeout)
{
    char text[400], answer[300];
    int length = snprintf(text, sizeof text - 8, "N%ld %s", number, gcode);

    if (length >= (int)sizeof text - 8) {
        return "a line is too long for the machine";
    }

    // checksum: exclusive or of the bytes before the star
    int sum = 0;
    for (int i = 0; i < length; ++i) {
        sum ^= (unsigned char)text[i];
    }
    snprintf(text + length, sizeof text - (size_t)length, "*%d\n", sum);
    bool again = true, asked = false;
    int tries = 0;
    double until = 0;

    // until `ok`, a reason to give up, or too many resends
    for (;;) {
        if (again) {
            if (tries++ > MARLIN_RESENDS) {
                return marlin_say(m, "the machine does not understand: ", gcode);
            }
            m->resent += tries > 1;
            until = marlin_now() + timeout;
            if (!marlin_write(m, text, until)) {
                return marlin_interrupted(m) ? "interrupted" : "the serial line is gone";
            }
            again = asked = false;
        }

        const int got = marlin_hear(m, until, answer, sizeof answer);
        if (got <= 0) {
            return got < 0                 ? "the serial line is gone"
                   : marlin_interrupted(m) ? "interrupted"
                                           : "the machine does not answer";
        }

        // what the board answers
        long wanted = number;
        if (strncmp(answer, "ok", 2) == 0) {
            if (!asked) {
                return NULL;
            }
            again = true; // the `ok` after `Resend`
        } else if (sscanf(answer, "Resend: %ld", &wanted) == 1 || sscanf(answer, "rs %ld", &wanted) == 1) {
            if (wanted != number) {
                return marlin_say(m, "the machine has lost lines: ", answer);
            }
            asked = true;
        } else if (strncmp(answer, "echo:busy", 9) == 0) {
            until = marlin_now() + timeout;
        } else if (strncmp(answer, "!!", 2) == 0 ||
                   (strncmp(answer, "Error:", 6) == 0 && !strstr(answer, "Last Line"))) {
            return marlin_say(m, "the machine reports: ", answer);
        }
    }
}

// Comments and empty lines are not sent. NULL, or why it failed.
const char *marlin_send(marlin *m, const char *gcode, double timeout)
{
    const char *why = NULL;
    while (*gcode && !why) {
        const size_t whole = strcspn(gcode, "\n");
        char line[300];
        size_t length = strcspn(gcode, ";\n");
        while (length > 0 && gcode[length - 1] == ' ') {
            --length;
        }
        if (length >= sizeof line) {
            return "a line is too long for the machine";
        }
        memcpy(line, gcode, length);
        line[length] = '\0';
        why = length > 0 ? marlin_line(m, line, m->line + 1, timeout) : NULL;
        m->line += length > 0 && !why;
        gcode += whole + (gcode[whole] == '\n');
    }

    return why;
}

// The constant of a baud rate; B0: none.
static speed_t marlin_speed(long baud)
{
    static const struct {
        long baud;
        speed_t speed;
    } known[] = {{9600, B9600},     {19200, B19200},    {38400, B38400},   {57600, B57600},
                 {115200, B115200}, {230400, B230400},  {460800, B460800}, {500000, B500000},
                 {921600, B921600}, {1000000, B1000000}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        if (known[i].baud == baud) {
            return known[i].speed;
        }
    }

    return B0;
}

// Sets the line raw, waits for the board to start and sets its line number to 0.
int marlin_open(const cli_args *args, const char *device, double timeout, marlin *m)
{
    *m = (marlin){.fd = -1};

    // DEVICE@BAUD
    const char *at = strrchr(device, '@');
    char path[400], *end = NULL;
    snprintf(path, sizeof path, "%.*s", at ? (int)(at - device) : (int)strlen(device), device);
    const speed_t speed = marlin_speed(at ? strtol(at + 1, &end, 10) : 115200);

    if (speed == B0 || (end && *end)) {
        cli_error(args,
                  "--marlin %s: expected DEVICE or DEVICE@BAUD with a baud rate of 9600 to 1000000 that "
                  "serial lines have, for example /dev/ttyUSB0@115200",
                  device);
        return CLI_EXIT_USAGE;
    }

    m->fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (m->fd < 0) {
        cli_error(args, "--marlin %s: %s", path, strerror(errno));
        return CLI_EXIT_USAGE;
    }

    // raw bytes, no flow control
    struct termios t;
    if (tcgetattr(m->fd, &t) != 0) {
        cli_error(args, "--marlin %s: not a serial line", path);
        return CLI_EXIT_USAGE;
    }

    cfmakeraw(&t);
    t.c_cflag |= CLOCAL | CREAD;
    t.c_cflag &= ~(tcflag_t)CRTSCTS;
    if (cfsetispeed(&t, speed) != 0 || cfsetospeed(&t, speed) != 0 || tcsetattr(m->fd, TCSANOW, &t) != 0) {
        cli_error(args, "--marlin %s: the line cannot be set: %s", path, strerror(errno));
        return CLI_EXIT_SYSTEM;
    }

    // most boards start again when their line is opened, and say `start` and their settings
    char answer[300];
    const double until = marlin_now() + MARLIN_START;
    while (marlin_hear(m, until, answer, sizeof answer) > 0 && strcmp(answer, "start") != 0) {
    }

    const char *why = marlin_line(m, "M110 N0", 0, timeout);
    if (why) {
        cli_error(args, "--marlin %s: %s", path, why);
        return CLI_EXIT_UNSOLVED;
    }

    return CLI_DONE;
}

void marlin_close(marlin *m)
{
    if (m->fd >= 0) {
        close(m->fd);
    }
    m->fd = -1;
}
