// The view as a viewer meets it: `pliant serve` in a process of its own, moves of 2 % of the range of the
// bending finger's pressure sent over a WebSocket, each when the shape before has arrived or after a rest, in
// which the server makes the next factor; the time until the new shape has arrived, bytes of a shape, and
// what 20 viewers cost instead of one.
//
//   bench_serve [PLIANT]      (default: pliant in the folder of this program)
#include <libgen.h>
#include <limits.h>
#include "bench.h"
#include "../tests/web/ws_client.h"

#define MOVES 9
#define VIEWERS 20
#define REST 700 // ms between a shape and the next move

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
    printf("%-26s %8s %10s %10s %10s %10s %8s %11s %11s\n", "", "tet10", "coarse ms", "fine ms", "CPU ms",
           "solve ms", "solves", "bytes fine", "coarse");
    for (size_t i = 0; good && i < sizeof table / sizeof *table; ++i) {
        serve_result r;
        snprintf(robot, sizeof robot, "%s/finger%zu", folder, i);
        snprintf(command, sizeof command, "'%s' new bending_finger %s %s >/dev/null", program, robot,
                 table[i].parameters);
        good = system(command) == 0 &&
               serve_case(program, robot, table[i].size, table[i].viewers, table[i].rest, &r);
        if (good) {
            printf("%-26s %8.0f %10.0f %10.0f %10.0f %10.0f %8.0f %11zu %11zu\n", table[i].name, r.elements,
                   median(r.coarse, r.coarse_count), median(r.fine, r.count), median(r.cpu, r.count),
                   median(r.solve, r.count), median(r.solves, r.count), r.bytes, r.coarse_bytes);
        }
        fflush(stdout);
    }
    printf("medians of %d moves, %d ms after the shape before unless said otherwise; coarse and fine: until "
           "the shape has arrived; CPU: of the server until then\n",
           MOVES, REST);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && good ? 0 : 1;
}
