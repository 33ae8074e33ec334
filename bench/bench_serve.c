// The view as a viewer meets it: `pliant serve` in a process of its own, moves of 2 % of the range of the
// bending finger's pressure sent over a WebSocket, each when the shape before has arrived or after a rest, in
// which the server makes the next factor; the time until the new shape has arrived, bytes of a shape, and
// what 20 viewers cost instead of one. Then long drags of several robots: 3 s at 60 events a second from rest
// to 60 % of the range of the first command, and what is seen meanwhile and after letting go.
//
//   bench_serve [PLIANT [NAME [PACE]]]
//     PLIANT: default in the folder of this program; NAME: only rows with it; PACE: on a machine that has
//     other work, the clock of hands that drag is the CPU time of the server over this number (its threads
//     kept busy in the mean, 1.7 on two quiet cores) while it works, and so are the times of their rows
#include <libgen.h>
#include <limits.h>
#include "bench.h"
#include "../tests/web/ws_client.h"

#define MOVES 9
#define VIEWERS 20
#define REST 700        // ms between a shape and the next move
#define DRAG 3.0        // s
#define DRAG_EVENTS 60  // a second
#define DRAG_SHARE 0.6  // of the path from rest to the far end of the range
#define DRAG_BEFORE 3.0 // s that somebody looks at the robot before, unless it is dragged at once
#define DRAG_IDLE 0.1   // s without CPU time: the server waits

static double number_of(const unsigned char *message, const char *key)
{
    uint32_t arrays;
    memcpy(&arrays, message + 12, sizeof arrays);
    const char *at = strstr((const char *)message + 16 + 16 * (size_t)arrays, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

static bool says(const unsigned char *message, const char *words)
{
    uint32_t arrays;
    memcpy(&arrays, message + 12, sizeof arrays);
    return strstr((const char *)message + 16 + 16 * (size_t)arrays, words) != NULL;
}

static int by_size(const void *a, const void *b)
{
    const double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, by_size);
    return count > 0 ? value[count / 2] : NAN;
}

// CPU time of the server so far, s: user and system, in ticks, are fields 14 and 15 of its line.
static double serve_cpu(pid_t pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    const char *at = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    unsigned long user = 0, system = 0;
    if (at) {
        sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    }
    if (file) {
        fclose(file);
    }

    return at ? (double)(user + system) / (double)sysconf(_SC_CLK_TCK) : NAN;
}

typedef struct serve_result {
    double coarse[MOVES], fine[MOVES], solve[MOVES], solves[MOVES], cpu[MOVES];
    int coarse_count, count;
    size_t bytes, coarse_bytes;
    double elements;
} serve_result;

// Sends one pressure (kPa) and waits for the fine shape; notes when the coarse one came before.
static bool serve_move(int fd, pid_t server, int serial, double pressure, serve_result *r)
{
    char text[200], wanted[40];
    snprintf(text, sizeof text, "{\"type\":\"set\",\"robot\":1,\"serial\":%d,\"commands\":[%.9g]}", serial,
             pressure);
    snprintf(wanted, sizeof wanted, "\"serial\":%d.0", serial);
    const double start = ws_now(), cpu = serve_cpu(server);
    if (!ws_say(fd, text)) {
        return false;
    }

    for (;;) {
        size_t bytes;
        unsigned char *message = ws_await(fd, wanted, &bytes, 600);
        if (!message) {
            return false;
        }
        const bool shape = memcmp(message, "PLV1", 4) == 0;
        const bool fine = shape && says(message, "\"level\":\"fine\"");
        const double ms = 1e3 * (ws_now() - start);
        if (r && shape && !fine) {
            r->coarse[r->coarse_count++] = ms;
            r->coarse_bytes = bytes;
        } else if (r && shape) {
            r->fine[r->count] = ms;
            r->cpu[r->count] = 1e3 * (serve_cpu(server) - cpu);
            r->solve[r->count] = 1e3 * number_of(message, "\"seconds\":");
            r->solves[r->count++] = number_of(message, "\"solves\":");
            r->bytes = bytes;
        }
        free(message);
        if (fine) {
            return true;
        }
    }
}

// A crowd that reads everything as it comes, in a process of its own.
static pid_t serve_crowd(int port, int viewers)
{
    const pid_t child = fork();
    if (child != 0) {
        return child;
    }

    struct pollfd seat[VIEWERS];
    static char sink[1 << 20];
    for (int i = 0; i < viewers; ++i) {
        seat[i] = (struct pollfd){.fd = ws_connect(port, NULL, "pliant"), .events = POLLIN};
    }

    while (poll(seat, (nfds_t)viewers, 60000) > 0) {
        for (int i = 0; i < viewers; ++i) {
            if ((seat[i].revents & (POLLIN | POLLHUP)) && read(seat[i].fd, sink, sizeof sink) <= 0) {
                _exit(0);
            }
            // says that it is there, in place of reading the server's pings
            if (seat[i].revents) {
                ws_frame(seat[i].fd, 0x8a, "", 0);
            }
        }
    }

    _exit(0);
}

static bool serve_case(const char *program, const char *robot, const char *size, int viewers, int rest,
                       serve_result *r)
{
    const char *const arguments[] = {robot, "--size", size, NULL};
    ws_server server;

    *r = (serve_result){0};
    if (!ws_start(&server, program, arguments)) {
        printf("the server did not start\n");
        return false;
    }

    const int fd = ws_connect(server.port, NULL, "pliant");
    size_t bytes;
    unsigned char *mesh = fd >= 0 ? ws_await(fd, "\"level\":\"fine\",\"vertices\"", &bytes, 600) : NULL;
    r->elements = mesh ? number_of(mesh, "\"elements\":") : NAN;
    unsigned char *ready = mesh ? ws_await(fd, "\"state\":\"ready\"", &bytes, 600) : NULL;
    free(mesh);
    free(ready);

    // bent by half, then moves of 2 % of the range of 60 kPa
    bool good = ready && serve_move(fd, server.pid, 1, 30, NULL);
    const pid_t crowd = viewers > 1 ? serve_crowd(server.port, viewers - 1) : 0;
    if (crowd > 0) {
        ws_rest(500);
    }

    for (int i = 1; good && i <= MOVES; ++i) {
        if (rest > 0) {
            ws_rest(rest);
        }
        good = serve_move(fd, server.pid, 1 + i, 30 + 1.2 * i, r);
    }

    close(fd);
    ws_stop(&server, SIGTERM);
    if (crowd > 0) {
        kill(crowd, SIGTERM);
        waitpid(crowd, NULL, 0);
    }

    return good;
}

// ---- a long drag
typedef struct drag_result {
    double elements;
    double last;               // number of the last shape seen
    int solved, coarse, other; // shapes seen while the hand moved: solved on the fine mesh, solved on the
                               // coarse one, and those that say they are not
    int tangents;              // derivatives to predict from
    double hint;               // s from the first move to a derivative, when there was none before
    double first;              // s from the first move to the first solved shape
    double shown, lag; // of the drag: the solved shape seen last; the largest distance of the hand from it
    double release;    // s from letting go to the solved shape asked for
    double cpu;        // s of the server from the first move to that shape
} drag_result;

// The clock of the hand: s, by the wall, or by the CPU time of the server while that works.
typedef struct drag_clock {
    pid_t server;
    double pace; // 0: the wall
    double time, wall, cpu, worked;
} drag_clock;

static double drag_now(drag_clock *c)
{
    const double wall = ws_now(), cpu = c->pace > 0 ? serve_cpu(c->server) : 0;
    if (cpu > c->cpu || c->worked == 0) {
        c->worked = wall;
    }

    // who has not worked for a while waits
    c->time += c->pace > 0 && wall - c->worked < DRAG_IDLE ? (cpu - c->cpu) / c->pace : wall - c->wall;
    c->wall = wall;
    c->cpu = cpu;

    return c->time;
}

static drag_clock drag_start(pid_t server, double pace)
{
    drag_clock c = {.server = server, .pace = pace, .wall = ws_now(), .cpu = serve_cpu(server)};
    return c;
}

// Range and rest of the first command, in the robot message.
static bool drag_range(const unsigned char *robot, int *commands, double *rest, double *far)
{
    const char *list = strstr((const char *)robot, "\"commands\":["), *end = list ? strchr(list, ']') : NULL;
    if (!list || !end) {
        return false;
    }
    *commands = 0;
    for (const char *at = list; (at = strstr(at, "\"low\":")) && at < end; ++at) {
        ++*commands;
    }
    if (*commands == 0) {
        return false;
    }

    const double low = strtod(strstr(list, "\"low\":") + 6, NULL),
                 high = strtod(strstr(list, "\"high\":") + 7, NULL);
    *rest = strtod(strstr(list, "\"rest\":") + 7, NULL);
    *far = fabs(high - *rest) >= fabs(low - *rest) ? high : low;

    return true;
}

static bool drag_send(int fd, int serial, int commands, double value)
{
    char text[1000];
    int n = snprintf(text, sizeof text, "{\"type\":\"set\",\"robot\":1,\"serial\":%d,\"commands\":[%.9g",
                     serial, value);

    for (int i = 1; i < commands; ++i) {
        n += snprintf(text + n, sizeof text - (size_t)n, ",null");
    }
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    return ws_say(fd, text);
}

// The value of the first command for which a shape was solved; `rest` when it is idle.
static double drag_at(const unsigned char *message, double rest)
{
    uint32_t arrays;
    memcpy(&arrays, message + 12, sizeof arrays);
    const char *at = strstr((const char *)message + 16 + 16 * (size_t)arrays, "\"commands\":{");
    at = at ? strstr(at, "\"value\":") : NULL;
    return at && at[8] != 'n' ? strtod(at + 8, NULL) : rest;
}

// Hears one message; `hand`: where the hand is, of the drag. True when it is the solved shape of `serial`.
static bool drag_hear(int fd, drag_clock *clock, double hand, int serial, double rest, double span,
                      drag_result *r)
{
    unsigned char *message;
    size_t bytes;
    char wanted[40];
    const int opcode = ws_hear(fd, &message, &bytes, 60);
    const bool binary = opcode == 2 && bytes > 16 && memcmp(message, "PLV1", 4) == 0, moves = hand < 1;
    const double now = drag_now(clock);
    bool last = false;

    if (opcode == 9) {
        ws_frame(fd, 0x8a, message, bytes);
    }

    if (binary && message[4] == 5) {
        r->tangents += moves;
        r->hint = isnan(r->hint) ? now : r->hint;
    } else if (binary && message[4] == 2 && number_of(message, "\"shape\":") > r->last &&
               (number_of(message, "\"serial\":") > 0 || says(message, "\"towards\":"))) {
        const bool fine = says(message, "\"level\":\"fine\""), solved = says(message, "\"converged\":true");
        snprintf(wanted, sizeof wanted, "\"serial\":%d.0", serial);
        last = fine && says(message, wanted);
        r->last = number_of(message, "\"shape\":");
        r->solved += moves && solved && fine;
        r->coarse += moves && solved && !fine;
        r->other += moves && !solved;
        r->first = isnan(r->first) && solved ? now : r->first;
        // the shape before was seen until now
        r->lag = moves ? fmax(r->lag, hand - r->shown) : r->lag;
        r->shown = solved ? (drag_at(message, rest) - rest) / span : r->shown;
    }

    free(message);

    return last;
}

static bool drag_case(const char *program, const char *robot, const char *size, bool at_once, double pace,
                      drag_result *r)
{
    const char *const arguments[] = {robot, size ? "--size" : NULL, size, NULL};
    ws_server server;
    size_t bytes;

    *r = (drag_result){.first = NAN, .hint = NAN, .release = NAN};
    if (!ws_start(&server, program, arguments)) {
        return false;
    }

    const int fd = ws_connect(server.port, NULL, "pliant");
    unsigned char *message = fd >= 0 ? ws_await(fd, "\"type\":\"robot\"", &bytes, 600) : NULL;
    int commands = 0;
    double rest = 0, far = 0;
    bool good = message && drag_range(message, &commands, &rest, &far);
    free(message);
    message = good ? ws_await(fd, "\"level\":\"fine\",\"vertices\"", &bytes, 600) : NULL;
    r->elements = message ? number_of(message, "\"elements\":") : NAN;
    free(message);
    message = good ? ws_await(fd, "\"state\":\"ready\"", &bytes, 600) : NULL;
    good = message != NULL;
    free(message);

    // until the first move: the first shape, its details, a derivative
    for (const double end = ws_now() + (at_once ? 0 : DRAG_BEFORE); good && ws_now() < end;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, 100) > 0) {
            good = ws_hear(fd, &message, &bytes, 60) >= 0;
            const bool binary = good && bytes > 16 && memcmp(message, "PLV1", 4) == 0;
            r->last = binary && message[4] == 2 ? number_of(message, "\"shape\":") : r->last;
            r->hint = binary && message[4] == 5 ? 0 : r->hint;
            free(message);
        }
    }

    const double span = DRAG_SHARE * (far - rest), cpu = serve_cpu(server.pid);
    const int events = (int)(DRAG * DRAG_EVENTS);
    drag_clock clock = drag_start(server.pid, pace);
    for (int k = 1; good && k <= events; ++k) {
        good = drag_send(fd, k, commands, rest + span * k / events);
        while (good && k < events && drag_now(&clock) < (double)k / DRAG_EVENTS) {
            struct pollfd wait = {.fd = fd, .events = POLLIN};
            if (poll(&wait, 1, 2) > 0) {
                drag_hear(fd, &clock, (double)k / events, events, rest, span, r);
            }
        }
    }

    const double released = drag_now(&clock);
    while (good && !drag_hear(fd, &clock, 1, events, rest, span, r)) {
        good = clock.time - released < 120;
    }
    r->release = drag_now(&clock) - released;
    r->cpu = serve_cpu(server.pid) - cpu;
    close(fd);
    ws_stop(&server, SIGTERM);

    return good;
}

// Fingers of two sizes, and designs the solver was not tuned to.
static bool drag_table(const char *program, const char *folder, const char *only, double pace)
{
    static const struct {
        const char *name, *design, *size, *parameters;
        bool at_once;
    } table[] = {{"drag, half a finger", "bending_finger", "7", "--param modules=4 --param length=50", false},
                 {"drag, finger", "bending_finger", "3.8", "", false},
                 {"drag at once, finger", "bending_finger", "3.8", "", true},
                 {"drag, finger of the gallery", "bending_finger", NULL, "", false},
                 {"drag, knuckle_finger", "knuckle_finger", NULL, "", false},
                 {"drag, segment", "segment", NULL, "", false},
                 {"drag, planar_arm", "planar_arm", NULL, "", false}};
    char command[2 * PATH_MAX], robot[100];
    printf("\n%-28s %8s %8s %8s %8s %9s %9s %9s %8s %10s %8s\n", "", "tet10", "fine", "coarse", "other",
           "tangents", "hint s", "first s", "lag %", "release s", "CPU s");
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        drag_result r;
        if (!strstr(table[i].name, only)) {
            continue;
        }
        snprintf(robot, sizeof robot, "%s/drag%zu", folder, i);
        snprintf(command, sizeof command, "'%s' new %s %s %s >/dev/null", program, table[i].design, robot,
                 table[i].parameters);
        if (system(command) != 0 || !drag_case(program, robot, table[i].size, table[i].at_once, pace, &r)) {
            printf("%-28s failed\n", table[i].name);
            return false;
        }
        printf("%-28s %8.0f %8d %8d %8d %9d %9.2f %9.2f %8.0f %10.2f %8.1f\n", table[i].name, r.elements,
               r.solved, r.coarse, r.other, r.tangents, r.hint, r.first, 100 * r.lag, r.release, r.cpu);
        fflush(stdout);
    }

    printf(
        "%g s at %d events a second from rest to %g of the range; fine, coarse: solved shapes seen while the "
        "hand moved, of the mesh with so many elements and of the coarse one that leads; other: not solved; "
        "hint: from the first move to a derivative to predict from (0: there before); "
        "first: "
        "to the first solved shape; lag: of the drag, largest distance between the hand and the solved shape "
        "seen; release: from letting go to the solved shape asked for; CPU: of the server\n",
        DRAG, DRAG_EVENTS, DRAG_SHARE);
    if (pace > 0) {
        printf("the clock of these rows is the CPU time of the server over %g while it works\n", pace);
    }

    return true;
}

int main(int argc, char **argv)
{
    char here[PATH_MAX], program[PATH_MAX + 20], folder[] = "/tmp/pliant-bench-XXXXXX", command[2 * PATH_MAX],
                                                 robot[100];
    snprintf(here, sizeof here, "%s", argv[0]);
    snprintf(program, sizeof program, "%s/pliant", dirname(here));
    if (argc > 1) {
        snprintf(program, sizeof program, "%s", argv[1]);
    }
    if (access(program, X_OK) != 0 || !mkdtemp(folder)) {
        printf("%s is no program\n", program);
        return 1;
    }

    bench_title("serve: from a moved slider to the new shape, bending finger, 2 % moves");
    static const struct {
        const char *name, *size, *parameters;
        int viewers, rest; // ms
    } table[] = {{"half a finger, no rest", "7", "--param modules=4 --param length=50", 1, 0},
                 {"half a finger", "7", "--param modules=4 --param length=50", 1, REST},
                 {"finger, no rest", "3.8", "", 1, 0},
                 {"finger", "3.8", "", 1, REST},
                 {"finger, 20 viewers", "3.8", "", VIEWERS, REST}};
    bool good = true;
    printf("%-28s %8s %10s %10s %10s %10s %8s %11s %11s\n", "", "tet10", "coarse ms", "fine ms", "CPU ms",
           "solve ms", "solves", "bytes fine", "coarse");
    for (size_t i = 0; good && i < sizeof table / sizeof *table; ++i) {
        serve_result r;
        if (argc > 2 && !strstr(table[i].name, argv[2])) {
            continue;
        }
        snprintf(robot, sizeof robot, "%s/finger%zu", folder, i);
        snprintf(command, sizeof command, "'%s' new bending_finger %s %s >/dev/null", program, robot,
                 table[i].parameters);
        good = system(command) == 0 &&
               serve_case(program, robot, table[i].size, table[i].viewers, table[i].rest, &r);
        if (good) {
            printf("%-28s %8.0f %10.0f %10.0f %10.0f %10.0f %8.0f %11zu %11zu\n", table[i].name, r.elements,
                   median(r.coarse, r.coarse_count), median(r.fine, r.count), median(r.cpu, r.count),
                   median(r.solve, r.count), median(r.solves, r.count), r.bytes, r.coarse_bytes);
        }
        fflush(stdout);
    }

    printf("medians of %d moves, %d ms after the shape before unless said otherwise; coarse and fine: until "
           "the shape has arrived; CPU: of the server until then\n",
           MOVES, REST);
    good = good && drag_table(program, folder, argc > 2 ? argv[2] : "", argc > 3 ? atof(argv[3]) : 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);

    return system(command) == 0 && good ? 0 : 1;
}
