// What the bench programs share: the machine and its load in words, CPU and wall clocks, a robot described in
// YAML text with its solver and state, work done in a process of its own so that peaks of memory do not mix.
#ifndef PL_BENCH_H
#define PL_BENCH_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "document/document.h"
#include "pliant/result.h"
#include "pliant/meshing.h"
#include "statics/statics.h"

// ---- the machine
static inline void bench_model(char *model, size_t room)
{
    snprintf(model, room, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[300];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0) {
            line[strcspn(line, "\n")] = 0;
            snprintf(model, room, "%s", colon + 2);
            break;
        }
    }

    if (file) {
        fclose(file);
    }
}

// Opens a table: what is measured, on what, when, and whether the wall times can be accepted.
static inline void bench_title(const char *title)
{
    char model[200], date[40] = "";
    bench_model(model, sizeof model);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local)) {
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &local);
    }

    double load = 0;
    FILE *file = fopen("/proc/loadavg", "r");
    if (!file || fscanf(file, "%lf", &load) != 1) {
        load = 0;
    }
    if (file) {
        fclose(file);
    }
    printf("%s\n%s, %ld cores, %s; load before the run %.1f%s\n", title, model, cores, date, load,
           load > 0.5 ? ": others are at work, wall times are disturbed" : "");
    fflush(stdout);
}

// ---- clocks
typedef struct bench_clock {
    double cpu, wall; // s
} bench_clock;

static inline bench_clock bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (bench_clock){(double)t.tv_sec + 1e-9 * (double)t.tv_nsec, pl_seconds()};
}

static inline bench_clock bench_since(bench_clock start)
{
    const bench_clock now = bench_now();
    return (bench_clock){now.cpu - start.cpu, now.wall - start.wall};
}

static inline double bench_peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

// The exponent p of cost ~ size^p between two measurements.
static inline double bench_exponent(double cost0, double cost1, double size0, double size1)
{
    return log(cost1 / cost0) / log(size1 / size0);
}

// ---- a robot, its solver and its state
typedef struct bench_robot {
    pl_robot *robot;
    pl_statics *statics;
    pl_state *state;
    pl_solve_report report;
    bench_clock create, solve;
} bench_robot;

static inline bool bench_failed(const char *what, const pl_error *err)
{
    printf("%s: %s\n", what, err->text);
    return false;
}

static inline bool bench_load(bench_robot *b, const char *format, ...) PL_PRINTF(2, 3);
static inline bool bench_load(bench_robot *b, const char *format, ...)
{
    static char text[8000];
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *b = (bench_robot){0};
    pl_error err = {0};
    const pl_load_options load = {.mesher = pl_meshing_mesher(), .no_cache = true};
    if (length < 0 || (size_t)length >= sizeof text ||
        pl_robot_load_text(text, (size_t)length, "bench.yaml", &load, &b->robot, NULL, &err) != PL_OK) {
        return bench_failed("not loaded", &err);
    }

    return true;
}

// A solver and a state at rest, in place of those before.
static inline bool bench_start(bench_robot *b, const pl_statics_options *options)
{
    pl_error err = {0};
    pl_statics_destroy(b->statics);
    pl_state_destroy(b->state);
    b->statics = NULL;
    b->state = NULL;
    const bench_clock start = bench_now();
    if (pl_statics_create(b->robot, options, &b->statics, &err) != PL_OK ||
        pl_state_create(b->robot, &b->state, &err) != PL_OK) {
        return bench_failed("no solver", &err);
    }

    b->create = bench_since(start);

    return true;
}

// Solves; an answer that does not stand an independent check counts as none.
static inline bool bench_solve(bench_robot *b, const double *command)
{
    pl_error err = {0};
    double residual, largest;
    bool inverted;
    const bench_clock start = bench_now();

    if (pl_statics_solve(b->statics, b->state, command, &b->report, &err) != PL_OK) {
        return bench_failed("no solve", &err);
    }
    b->solve = bench_since(start);
    if (b->report.outcome != PL_SOLVED) {
        printf("%s: %s\n", pl_outcome_name(b->report.outcome), b->report.message);
        return false;
    }

    if (pl_statics_check(b->statics, b->state, &residual, &largest, &inverted, &err) != PL_OK) {
        return bench_failed("no check", &err);
    }

    if (inverted || residual > 1e-5 * largest) {
        printf("called solved, but %.2g of %.2g N are out of balance%s\n", residual, largest,
               inverted ? " and elements are inverted" : "");
        return false;
    }

    return true;
}

static inline void bench_close(bench_robot *b)
{
    pl_statics_destroy(b->statics);
    pl_state_destroy(b->state);
    pl_robot_destroy(b->robot);
    *b = (bench_robot){0};
}

// Degrees the first marker has turned since rest.
static inline double bench_turn(const bench_robot *b)
{
    const pl_marker_result m = pl_statics_marker(b->statics, b->state, 0);
    const double *R = m.rotation;
    const double s = hypot(hypot(R[7] - R[5], R[2] - R[6]), R[3] - R[1]), c = R[0] + R[4] + R[8] - 1;
    return atan2(s, c) * 180 / PL_PI;
}

// ---- the bodies measured
// The bellows finger of `pliant new bending_finger`: a soft skin on a stiff layer.
#define BENCH_FINGER                                                                                         \
    "pliant: 1\n"                                                                                            \
    "name: finger\n"                                                                                         \
    "mesh:\n"                                                                                                \
    "  design: {kind: bending_finger}\n"                                                                     \
    "  size: %g\n"                                                                                           \
    "  order: 2\n"                                                                                           \
    "materials:\n"                                                                                           \
    "  silicone: {%s}\n"                                                                                     \
    "  fabric: {model: stvk, young: 30 MPa, poisson: 0.4}\n"                                                 \
    "regions: {skin: silicone, layer: fabric}\n"                                                             \
    "fixed: [{surface: base}]\n"                                                                             \
    "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure, range: [0 kPa, 100 kPa]}]\n"   \
    "markers: {tip: {surface: tip}}\n"

#define BENCH_FINGER_SIZE 3.8 // about 7k tet10
#define BENCH_NEO_HOOKEAN_45 "model: neo_hookean, c10: 0.12 MPa, poisson: 0.45"
#define BENCH_NEO_HOOKEAN_49 "model: neo_hookean, c10: 0.12 MPa, poisson: 0.49"
#define BENCH_STVK_45 "model: stvk, young: 0.7 MPa, poisson: 0.45"

// ---- a process of its own
// Runs `work` there and hands back the doubles it wrote; false when it failed.
typedef bool (*bench_work)(const void *input, double *result);

static inline bool bench_apart(bench_work work, const void *input, double *result, int count)
{
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0) {
        return false;
    }

    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        const bool done = work(input, result);
        fflush(stdout);
        const size_t bytes = (size_t)count * sizeof *result;
        _exit(done && write(ends[1], result, bytes) == (ssize_t)bytes ? 0 : 1);
    }

    close(ends[1]);
    char *to = (char *)result;
    size_t left = (size_t)count * sizeof *result;
    ssize_t got;
    while (child > 0 && left > 0 && (got = read(ends[0], to, left)) > 0) {
        to += got;
        left -= (size_t)got;
    }

    close(ends[0]);
    int status = 1;

    return child > 0 && waitpid(child, &status, 0) == child && status == 0 && left == 0;
}

#endif
