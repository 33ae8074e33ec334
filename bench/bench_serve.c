// The view as a viewer meets it: `pliant serve` in a process of its own, moves of 2 % of the range of the
// bending finger's pressure sent over a WebSocket, each when the shape before has arrived or after a rest, in
// which the server makes the next factor; the time until the new shape has arrived, bytes of a shape, and
// what 20 viewers cost instead of one. Then long drags of several robots: 3 s at 60 events a second from rest
// to 60 % of the range of the first command, by its slider or by the marker along the same path, and what is
// seen meanwhile and after letting go; and targets out of reach.
//
//   bench_serve [PLIANT [NAME [PACE]]]
//     PLIANT: default in the folder of this program; NAME: only rows with it; PACE: on a machine that has
//     other work, the clock of hands that drag is the CPU time of the server over this number (its threads
//     kept busy in the mean, 1.7 on two quiet cores) while it works, and so are the times of their rows
#include <dirent.h>
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
#define DRAG_PLACES 8 // solved along the path, between which a marker is dragged

typedef enum drag_kind { DRAG_SLIDER, DRAG_AT_ONCE, DRAG_MARKER, DRAG_FAR } drag_kind;

typedef struct drag_result {
    double elements;
    double last;               // number of the last shape seen
    int solved, coarse, other; // shapes seen while the hand moved: solved on the fine mesh, solved on the
                               // coarse one, and those that say they are not
    int tangents;              // derivatives to predict from
    double first;              // s from the first move to the first solved shape
    double shown, lag; // of the drag: the solved shape seen last; the largest distance of the hand from it
    double release;    // s from letting go to the solved shape asked for
    double cpu;        // s of the server from the first move to that shape
} drag_result;

// Whether a thread of the server works, or waits for a processor.
static bool serve_works(pid_t pid)
{
    char path[64], line[1024];
    bool works = false;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && !works && (task = readdir(tasks));) {
        char name[400];
        snprintf(name, sizeof name, "/proc/%d/task/%.200s/stat", (int)pid, task->d_name);
        FILE *file = task->d_name[0] == '.' ? NULL : fopen(name, "r");
        const char *at = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        works = at && at[2] == 'R';
        if (file) {
            fclose(file);
        }
    }
    if (tasks) {
        closedir(tasks);
    }

    return works;
}

// The clock of the hand: s, by the wall, or by the CPU time of the server while that works.
typedef struct drag_clock {
    pid_t server;
    double pace; // 0: the wall
    double time, wall, cpu;
} drag_clock;

static double drag_now(drag_clock *c)
{
    const double wall = ws_now(), cpu = c->pace > 0 ? serve_cpu(c->server) : 0;
    const bool works = c->pace > 0 && (cpu > c->cpu || serve_works(c->server));
    c->time += works ? (cpu - c->cpu) / c->pace : wall - c->wall;
    c->wall = wall;
    c->cpu = cpu;

    return c->time;
}

static drag_clock drag_start(pid_t server, double pace)
{
    drag_clock c = {.server = server, .pace = pace, .wall = ws_now(), .cpu = serve_cpu(server)};
    return c;
}

// What a hand drags: the first command over a part of its range, or the first marker along the places that
// belong to it.
typedef struct drag_path {
    bool marker;
    int commands, last;                       // last: serial of the request it ends with
    double rest, span;                        // in units of the command
    double place[DRAG_PLACES + 1][3], length; // mm
} drag_path;

// Range and rest of the first command, in the robot message.
static bool drag_range(const unsigned char *robot, drag_path *path)
{
    const char *list = strstr((const char *)robot, "\"commands\":["), *end = list ? strchr(list, ']') : NULL;
    if (!list || !end) {
        return false;
    }
    path->commands = 0;
    for (const char *at = list; (at = strstr(at, "\"low\":")) && at < end; ++at) {
        ++path->commands;
    }
    if (path->commands == 0) {
        return false;
    }

    const double low = strtod(strstr(list, "\"low\":") + 6, NULL),
                 high = strtod(strstr(list, "\"high\":") + 7, NULL);
    path->rest = strtod(strstr(list, "\"rest\":") + 7, NULL);
    path->span = DRAG_SHARE * ((fabs(high - path->rest) >= fabs(low - path->rest) ? high : low) - path->rest);

    return true;
}

// Where the marker belongs at a share of the path.
static void drag_place(const drag_path *path, double share, double place[3])
{
    const double at = fmin(fmax(share, 0), 1) * DRAG_PLACES;
    const int k = (int)fmin(at, DRAG_PLACES - 1);

    for (int i = 0; i < 3; ++i) {
        place[i] = path->place[k][i] + (at - k) * (path->place[k + 1][i] - path->place[k][i]);
    }
}

static bool drag_target(int fd, int serial, const double target[3])
{
    char text[300];
    snprintf(text, sizeof text,
             "{\"type\":\"target\",\"robot\":1,\"serial\":%d,\"marker\":0,\"target\":[%.9g,%.9g,%.9g]}",
             serial, target[0], target[1], target[2]);
    return ws_say(fd, text);
}

static bool drag_commands(int fd, int serial, const drag_path *path, double share)
{
    char text[1000];
    int n = snprintf(text, sizeof text, "{\"type\":\"set\",\"robot\":1,\"serial\":%d,\"commands\":[%.9g",
                     serial, path->rest + share * path->span);

    for (int i = 1; i < path->commands; ++i) {
        n += snprintf(text + n, sizeof text - (size_t)n, ",null");
    }
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    return ws_say(fd, text);
}

static bool drag_send(int fd, int serial, const drag_path *path, double share)
{
    double target[3];
    drag_place(path, share, target);
    return path->marker ? drag_target(fd, serial, target) : drag_commands(fd, serial, path, share);
}

static const char *drag_head(const unsigned char *message)
{
    uint32_t arrays;
    memcpy(&arrays, message + 12, sizeof arrays);
    return (const char *)message + 16 + 16 * (size_t)arrays;
}

// The position of the first marker.
static void drag_marker(const unsigned char *message, double place[3])
{
    const char *at = strstr(drag_head(message), "\"markers\":{");
    at = at ? strstr(at, "\"position\":[") : NULL;
    for (int i = 0; i < 3; ++i) {
        char *end = NULL;
        place[i] = at ? strtod(at + (i == 0 ? 12 : 1), &end) : NAN;
        at = end;
    }
}

// How far the shape is from where the hand is, as a share of the path.
static double drag_behind(const unsigned char *message, const drag_path *path, double hand)
{
    double place[3], target[3], sum = 0;

    if (!path->marker) {
        const char *at = strstr(drag_head(message), "\"commands\":{");
        at = at ? strstr(at, "\"value\":") : NULL;
        const double value = at && at[8] != 'n' ? strtod(at + 8, NULL) : path->rest; // n: idle
        return fabs(hand - (value - path->rest) / path->span);
    }

    drag_marker(message, place);
    drag_place(path, hand, target);
    for (int i = 0; i < 3; ++i) {
        sum += (place[i] - target[i]) * (place[i] - target[i]);
    }

    return sqrt(sum) / path->length;
}

// Hears one message; `hand`: where the hand is, of the drag. True when it is the solved shape of the last
// request: for a target the first one that names it.
static bool drag_hear(int fd, drag_clock *clock, double hand, const drag_path *path, drag_result *r)
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
    } else if (binary && message[4] == 2 && number_of(message, "\"shape\":") > r->last &&
               (number_of(message, "\"serial\":") > 0 || says(message, "\"towards\":"))) {
        const bool fine = says(message, "\"level\":\"fine\""), solved = says(message, "\"converged\":true");
        snprintf(wanted, sizeof wanted, "\"serial\":%d.0", path->last);
        last = fine && says(message, wanted);
        r->last = number_of(message, "\"shape\":");
        r->solved += moves && solved && fine;
        r->coarse += moves && solved && !fine;
        r->other += moves && !solved;
        r->first = isnan(r->first) && solved ? now : r->first;
        // the shape before was seen until now
        r->lag = moves ? fmax(r->lag, hand - r->shown) : r->lag;
        r->shown = solved ? hand - drag_behind(message, path, hand) : r->shown;
    }

    free(message);

    return last;
}

// Solves along the path for the places of the marker, and goes back to its beginning.
static bool drag_survey(int fd, drag_path *path)
{
    path->length = 0;
    for (int k = 0; k <= DRAG_PLACES + 1; ++k) {
        char wanted[60];
        size_t bytes;
        if (!drag_commands(fd, k + 1, path, k <= DRAG_PLACES ? (double)k / DRAG_PLACES : 0)) {
            return false;
        }
        snprintf(wanted, sizeof wanted, "\"serial\":%d.0", k + 1);
        for (bool fine = false; !fine;) {
            unsigned char *message = ws_await(fd, wanted, &bytes, 300);
            if (!message) {
                return false;
            }
            fine = memcmp(message, "PLV1", 4) == 0 && message[4] == 2 && says(message, "\"level\":\"fine\"");
            if (fine && k <= DRAG_PLACES) {
                drag_marker(message, path->place[k]);
            }
            free(message);
        }
        for (int i = 0; k > 0 && k <= DRAG_PLACES && i < 3; ++i) {
            path->length = hypot(path->length, path->place[k][i] - path->place[0][i]);
        }
    }

    return path->length > 0;
}

static bool drag_open(int fd, drag_kind kind, drag_path *path, drag_result *r)
{
    size_t bytes;
    unsigned char *message = fd >= 0 ? ws_await(fd, "\"type\":\"robot\"", &bytes, 600) : NULL;
    bool good = message && drag_range(message, path);

    free(message);
    message = good ? ws_await(fd, "\"level\":\"fine\",\"vertices\"", &bytes, 600) : NULL;
    r->elements = message ? number_of(message, "\"elements\":") : NAN;
    free(message);
    message = good ? ws_await(fd, "\"state\":\"ready\"", &bytes, 600) : NULL;
    good = message != NULL;
    free(message);
    path->marker = kind == DRAG_MARKER || kind == DRAG_FAR;
    good = good && (!path->marker || drag_survey(fd, path));

    // until the first move: the first shape, its details, a derivative
    for (const double end = ws_now() + (kind == DRAG_AT_ONCE ? 0 : DRAG_BEFORE); good && ws_now() < end;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, 100) > 0) {
            const int opcode = ws_hear(fd, &message, &bytes, 60);
            good = opcode >= 0;
            if (opcode == 9) {
                ws_frame(fd, 0x8a, message, bytes);
            }
            const bool shape =
                opcode == 2 && bytes > 16 && memcmp(message, "PLV1", 4) == 0 && message[4] == 2;
            r->last = shape ? number_of(message, "\"shape\":") : r->last;
            free(message);
        }
    }

    return good;
}

static bool drag_case(const char *program, const char *robot, const char *size, drag_kind kind, double pace,
                      drag_result *r)
{
    const char *const arguments[] = {robot, size ? "--size" : NULL, size, NULL};
    drag_path path = {0};
    ws_server server;

    *r = (drag_result){.first = NAN, .release = NAN};
    if (!ws_start(&server, program, arguments)) {
        return false;
    }

    const int fd = ws_connect(server.port, NULL, "pliant"),
              events = kind == DRAG_FAR ? 1 : (int)(DRAG * DRAG_EVENTS),
              before = DRAG_PLACES + 2; // serials of the survey
    bool good = drag_open(fd, kind, &path, r);
    const double cpu = serve_cpu(server.pid);
    drag_clock clock = drag_start(server.pid, pace);
    path.last = before + events;
    for (int k = 1; good && k <= events; ++k) {
        double far[3];
        for (int i = 0; i < 3; ++i) {
            far[i] = path.place[0][i] + 3 * (path.place[DRAG_PLACES][i] - path.place[0][i]);
        }
        good = kind == DRAG_FAR ? drag_target(fd, before + k, far)
                                : drag_send(fd, before + k, &path, (double)k / events);
        while (good && k < events && drag_now(&clock) < (double)k / DRAG_EVENTS) {
            struct pollfd wait = {.fd = fd, .events = POLLIN};
            if (poll(&wait, 1, 2) > 0) {
                drag_hear(fd, &clock, (double)k / events, &path, r);
            }
        }
    }

    const double released = drag_now(&clock);
    while (good && !drag_hear(fd, &clock, 1, &path, r)) {
        good = clock.time - released < 120;
    }
    r->release = drag_now(&clock) - released;
    r->cpu = serve_cpu(server.pid) - cpu;
    close(fd);
    ws_stop(&server, SIGTERM);

    return good;
}

// A finger of the size the solver was measured on, smaller and larger ones, designs with and without a
// coarse mesh.
static bool drag_table(const char *program, const char *folder, const char *only, double pace)
{
    static const struct {
        const char *name, *design, *size, *parameters;
        drag_kind kind;
    } table[] = {
        {"drag, half a finger", "bending_finger", "7", "--param modules=4 --param length=50", DRAG_SLIDER},
        {"drag, finger", "bending_finger", "3.8", "", DRAG_SLIDER},
        {"drag at once, finger", "bending_finger", "3.8", "", DRAG_AT_ONCE},
        {"drag, finger of the gallery", "bending_finger", NULL, "", DRAG_SLIDER},
        {"drag, knuckle_finger", "knuckle_finger", NULL, "", DRAG_SLIDER},
        {"drag, three_chamber", "three_chamber", NULL, "", DRAG_SLIDER},
        {"drag, segment", "segment", NULL, "", DRAG_SLIDER},
        {"drag, tentacle", "tentacle", NULL, "", DRAG_SLIDER},
        {"drag, planar_arm", "planar_arm", NULL, "", DRAG_SLIDER},
        {"marker, finger", "bending_finger", "3.8", "", DRAG_MARKER},
        {"marker, three_chamber", "three_chamber", NULL, "", DRAG_MARKER},
        {"marker, segment", "segment", NULL, "", DRAG_MARKER},
        {"marker, tentacle", "tentacle", NULL, "", DRAG_MARKER},
        {"far, finger", "bending_finger", "3.8", "", DRAG_FAR},
        {"far, tentacle", "tentacle", NULL, "", DRAG_FAR},
    };
    char command[2 * PATH_MAX], robot[100];
    bool good = true;
    printf("\n%-28s %8s %8s %8s %8s %8s %9s %9s %8s %10s %8s\n", "", "tet10", "a second", "fine", "coarse",
           "other", "tangents", "first s", "lag %", "release s", "CPU s");
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        drag_result r;
        if (!strstr(table[i].name, only)) {
            continue;
        }
        snprintf(robot, sizeof robot, "%s/drag%zu", folder, i);
        snprintf(command, sizeof command, "'%s' new %s %s %s >/dev/null", program, table[i].design, robot,
                 table[i].parameters);
        if (system(command) != 0 || !drag_case(program, robot, table[i].size, table[i].kind, pace, &r)) {
            printf("%-28s failed\n", table[i].name);
            good = false;
            continue;
        }
        printf("%-28s %8.0f %8.1f %8d %8d %8d %9d %9.2f %8.0f %10.2f %8.1f\n", table[i].name, r.elements,
               (r.solved + r.coarse) / DRAG, r.solved, r.coarse, r.other, r.tangents, r.first, 100 * r.lag,
               r.release, r.cpu);
        fflush(stdout);
    }

    printf(
        "%g s at %d events a second from rest to %g of the range, by the first command or by the marker "
        "along "
        "the places this leads it to; a second: solved shapes seen while the hand moved; fine, coarse: of "
        "the "
        "mesh with so many elements and of the coarse one that leads; other: not solved; first: to the first "
        "solved shape; lag: of the drag, largest distance between the hand and the solved shape seen; "
        "release: from letting go to the solved shape asked for, or an answer to the target; CPU: of the "
        "server. far: one target three times as far away, out of reach; first: the nearest place so far\n",
        DRAG, DRAG_EVENTS, DRAG_SHARE);
    if (pace > 0) {
        printf("the clock of these rows is the CPU time of the server over %g while it works\n", pace);
    }

    return good;
}

// A page that stands in for the real one, which needs npm and is of no use here.
static bool serve_page(const char *folder)
{
    char command[600], page[100];
    snprintf(page, sizeof page, "%s/page", folder);
    snprintf(command, sizeof command,
             "mkdir -p %s/three/build && touch %s/index.html %s/three/build/three.module.js", page, page,
             page);
    return setenv("PLIANT_WEB", page, 1) == 0 && system(command) == 0;
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

    if (!serve_page(folder)) {
        printf("%s cannot be written\n", folder);
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
    good = drag_table(program, folder, argc > 2 ? argv[2] : "", argc > 3 ? atof(argv[3]) : 0) && good;
    snprintf(command, sizeof command, "rm -rf %s", folder);

    return system(command) == 0 && good ? 0 : 1;
}
