// Random robots of all designs (random_robot.h): counts of outcomes, every answer checked by an independent
// residual. Two worker processes share the seeds, so that a crash costs one robot and is counted.
//   random_robots [COUNT [SEED]]        as above
//   random_robots show SEED             one robot: its file, commands, outcome
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "random_robot.h"
#include "validate.h"

#define WORKERS 2

typedef struct note {
    int index, worker;
    bool begun; // true when a robot is about to be tried
    uint64_t seed;
    char design[20], commands[120];
    random_result result;
} note;

static void describe_commands(const random_robot *r, char *text, size_t room)
{
    size_t at = 0;
    text[0] = 0;
    for (int c = 0; c < pl_robot_command_count(r->robot) && c < RANDOM_COMMANDS && at < room; ++c) {
        const pl_command_info info = pl_robot_command(r->robot, c);
        const double value = info.range[0] + r->fraction[c] * (info.range[1] - info.range[0]);
        at += (size_t)snprintf(text + at, room - at, "%s%s:%s=%.3g%s", c ? " " : "", info.name,
                               pl_drive_name(info.drive), value / pl_drive_scale(info.drive),
                               pl_drive_unit(info.drive));
    }
}

static void try_one(uint64_t seed, note *n)
{
    pl_error err = {0};
    random_robot robot;

    n->seed = seed;
    if (random_robot_create(seed, &robot, &err) == PL_OK) {
        random_robot_run(&robot, &n->result);
        describe_commands(&robot, n->commands, sizeof n->commands);
        pl_robot_destroy(robot.robot);
    } else {
        n->result = (random_result){.verdict = RANDOM_REFUSED};
        snprintf(n->result.words, sizeof n->result.words, "%.390s", err.text);
    }

    snprintf(n->design, sizeof n->design, "%s", robot.design);
}

// The worker tries robots first, first + WORKERS... and writes what it found into the pipe.
static void work(int pipe_end, int worker, int first, int count, uint64_t seed)
{
    pl_threads_set(1);
    for (int i = first; i < count; i += WORKERS) {
        note n = {.index = i, .worker = worker, .begun = true};
        bool written = write(pipe_end, &n, sizeof n) == sizeof n;
        n.begun = false;
        try_one(seed + (uint64_t)i, &n);
        written = written && write(pipe_end, &n, sizeof n) == sizeof n;
        if (!written) {
            break;
        }
    }
}

typedef struct tally {
    int outcome[PL_STOPPED + 1], good, wrong, refused, crashed, done;
    int64_t elements;
    double seconds, worst_residual;
    struct {
        char name[20];
        int tried, good;
    } design[16];
} tally;

static void tally_design(tally *t, const char *name, bool good)
{
    for (int i = 0; i < 16; ++i) {
        if (!t->design[i].name[0] || strcmp(t->design[i].name, name) == 0) {
            snprintf(t->design[i].name, sizeof t->design[i].name, "%s", name);
            t->design[i].tried++;
            t->design[i].good += good;
            return;
        }
    }
}

static void tally_add(tally *t, const note *n)
{
    const random_result *r = &n->result;
    t->done++;
    t->seconds += r->seconds;
    t->elements += r->elements;
    tally_design(t, n->design, r->verdict == RANDOM_GOOD);
    t->wrong += r->verdict == RANDOM_WRONG;
    t->refused += r->verdict == RANDOM_REFUSED;
    if (r->verdict != RANDOM_REFUSED) {
        t->outcome[r->outcome]++;
    }

    if (r->verdict == RANDOM_GOOD) {
        t->good++;
        t->worst_residual = fmax(t->worst_residual, r->relative);
        return;
    }

    printf("  seed %llu %s (%d elements; %s): %s; %s\n", (unsigned long long)n->seed, n->design,
           (int)r->elements, n->commands,
           r->verdict == RANDOM_WRONG     ? "WRONG"
           : r->verdict == RANDOM_REFUSED ? "refused"
                                          : pl_outcome_name(r->outcome),
           r->words);
    fflush(stdout);
}

// Runs all workers until each has come to its end; those that died go on behind the robot that killed them.
static bool run_all(int count, uint64_t seed, tally *t)
{
    int next[WORKERS], busy[WORKERS];
    for (int w = 0; w < WORKERS; ++w) {
        next[w] = w;
    }

    for (bool more = true; more;) {
        int ends[2];
        if (pipe(ends) != 0) {
            return false;
        }
        fflush(stdout);
        for (int w = 0; w < WORKERS; ++w) {
            busy[w] = -1;
            if (next[w] < count && fork() == 0) {
                close(ends[0]);
                work(ends[1], w, next[w], count, seed);
                _exit(0);
            }
        }
        close(ends[1]);
        note n;
        while (read(ends[0], &n, sizeof n) == sizeof n) {
            busy[n.worker] = n.begun ? n.index : -1;
            next[n.worker] = n.index + WORKERS;
            if (!n.begun) {
                tally_add(t, &n);
            }
        }
        close(ends[0]);
        while (wait(NULL) > 0) {
        }
        more = false;
        for (int w = 0; w < WORKERS; ++w) {
            if (busy[w] >= 0) {
                printf("  seed %llu CRASHED\n", (unsigned long long)(seed + (uint64_t)busy[w]));
                t->crashed++;
            }
            more = more || next[w] < count;
        }
    }

    return true;
}

static int show(uint64_t seed)
{
    pl_error err = {0};
    random_robot robot;

    if (random_robot_create(seed, &robot, &err) != PL_OK) {
        printf("%s\n%s\n", robot.yaml, err.text);
        return 1;
    }

    char commands[200];
    random_result result;
    random_robot_run(&robot, &result);
    describe_commands(&robot, commands, sizeof commands);
    printf("%s\n# %s\n# redrawn %d, %d elements, %.2f s, residual %.2e\n# %s: %s\n", robot.yaml, commands,
           robot.redrawn, (int)result.elements, result.seconds, result.relative,
           pl_outcome_name(result.outcome), result.words);
    pl_robot_destroy(robot.robot);

    return result.verdict == RANDOM_GOOD ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "show") == 0) {
        return show(strtoull(argv[2], NULL, 10));
    }

    const int count = argc > 1 ? atoi(argv[1]) : 1000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261115;
    tally t = {.good = 0};
    printf("%d random robots of all designs, seeds %llu to %llu; failures:\n", count,
           (unsigned long long)seed, (unsigned long long)seed + (unsigned long long)count - 1);
    if (!run_all(count, seed, &t)) {
        printf("FAIL: no pipe\n");
        return 1;
    }

    printf("%-16s %8s %8s\n", "design", "tried", "right");
    for (int i = 0; i < 16 && t.design[i].tried; ++i) {
        printf("%-16s %8d %8d\n", t.design[i].name, t.design[i].tried, t.design[i].good);
    }
    printf("%-16s %8s\n", "outcome", "count");
    for (int o = 0; o <= PL_STOPPED; ++o) {
        printf("%-16s %8d\n", pl_outcome_name((pl_outcome)o), t.outcome[o]);
    }
    printf("%-16s %8d\n%-16s %8d\n%-16s %8d\n", "refused", t.refused, "called solved, but wrong", t.wrong,
           "crashed", t.crashed);
    printf("elements on average %.0f; %.2f s each on one thread; worst relative residual of an answer %.1e\n",
           t.done ? (double)t.elements / t.done : 0, t.done ? t.seconds / t.done : 0, t.worst_residual);
    const bool pass = t.good >= 0.95 * count && !t.wrong && !t.crashed && !t.refused;
    printf("%s: %d of %d solved and right (%.1f %%, wanted 95 %%)\n", pass ? "PASS" : "FAIL", t.good, count,
           100.0 * t.good / count);

    return pass ? 0 : 1;
}
