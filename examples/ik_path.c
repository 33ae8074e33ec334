// Inverse kinematics along a path at a fixed rate: every period a new target for the first marker, solved
// from the last commands, and at the end how the periods were kept. The targets are made by forward solves on
// a circle around the middle of the commands' ranges, so they can be reached.
//   ./ik_path rod/robot.yaml 50 200        50 targets per second, 200 of them
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pliant/meshing.h>
#include <pliant/pliant.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int fail(const pl_error *err)
{
    fprintf(stderr, "ik_path: %s\n", err->text);
    return err->status == PL_BAD_INPUT || err->status == PL_BAD_FILE ? 2 : 3;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_until(double moment)
{
    const struct timespec t = {(time_t)moment, (long)(1e9 * (moment - floor(moment)))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
    }
}

// A fifth of each span about its middle; neighbours are a third of a turn apart, as three tendons would be.
static void circle(const pl_model_info *info, double turn, double *command)
{
    for (int i = 0; i < info->command_count; ++i) {
        const double *span = info->command[i].span;
        command[i] =
            0.5 * (span[0] + span[1]) + 0.1 * (span[1] - span[0]) * cos(6.283185307 * (turn + i / 3.0));
    }
}

// Where the first marker goes on that circle: 3 numbers per target. The model is left at the first.
static int make_targets(pl_model *model, int count, double *target)
{
    const pl_model_info info = pl_model_get_info(model);
    double *command = malloc((size_t)info.command_count * sizeof *command);
    pl_error err = {.status = PL_NO_MEMORY, .text = "no memory"};
    pl_solve_report report;

    for (int k = count; command && k >= 0; --k) {
        circle(&info, (double)(k % count) / count, command);
        if (pl_model_fk(model, command, &report, &err) != PL_OK || report.outcome != PL_SOLVED) {
            fprintf(stderr, "ik_path: target %d cannot be computed: %s\n", k, report.message);
            free(command);
            return 1;
        }
        for (int i = 0; i < 3; ++i) {
            target[3 * (k % count) + i] = pl_model_get_answer(model).marker[i];
        }
    }

    free(command);

    return command ? 0 : fail(&err);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The loop itself: sleeps, takes no memory, never waits for a solve longer than the period.
static int follow(pl_ik *ik, const double *target, int count, double period, double *seconds)
{
    pl_error err;
    pl_ik_report report;
    int reached = 0, late = 0;
    double worst = 0, tick = now();

    for (int k = 0; k < count; ++k, tick += period) {
        sleep_until(tick);
        const double begun = now();
        if (pl_ik_set_target(ik, 0, target + 3 * k, &err) != PL_OK ||
            pl_ik_solve(ik, NULL, &report, &err) != PL_OK) {
            return fail(&err);
        }
        // here report.command would go to the machine: it keeps all bounds whether or not the target is
        // reached
        seconds[k] = now() - begun;
        late += now() > tick + period;
        reached += report.outcome == PL_IK_REACHED;
        worst = fmax(worst, report.distance);
    }

    qsort(seconds, (size_t)count, sizeof *seconds, by_size);
    printf("%d of %d targets reached, at most %.4f mm off\n", reached, count, worst);
    printf(
        "solves: median %.3f ms, 99 %% below %.3f ms, longest %.3f ms; %d of %d periods of %.1f ms missed\n",
        1e3 * seconds[count / 2], 1e3 * seconds[count * 99 / 100], 1e3 * seconds[count - 1], late, count,
        1e3 * period);

    return reached == count ? 0 : 1;
}

static int run(pl_model *model, double period, int count)
{
    double *target = calloc(4 * (size_t)count, sizeof *target);
    pl_error err = {.status = PL_NO_MEMORY, .text = "no memory"};
    pl_ik *ik = NULL;
    int status = target ? make_targets(model, count, target) : fail(&err);

    if (status == 0) {
        // all memory is taken here; a solve stops at the end of its period with the best commands so far
        const pl_objective tip = pl_objective_default(PL_OBJECTIVE_POSITION);
        pl_ik_options options = pl_ik_options_default();
        options.time_limit = period;
        status = pl_ik_create(model, &tip, 1, &options, &ik, &err) == PL_OK
                     ? follow(ik, target, count, period, target + 3 * (size_t)count)
                     : fail(&err);
    }

    pl_ik_destroy(ik);
    free(target);

    return status;
}

int main(int argc, char **argv)
{
    const double rate = argc == 4 ? strtod(argv[2], NULL) : 0;
    const int count = argc == 4 ? atoi(argv[3]) : 0;

    if (!(rate > 0) || count < 1 || count > 1000000) {
        fprintf(stderr, "usage: ik_path ROBOT.yaml RATE COUNT\n");
        return 2;
    }

    const pl_model_load_options options = {.load = {.mesher = pl_meshing_mesher()}};
    pl_error err = {0};
    pl_model *model = NULL;
    if (pl_model_load(argv[1], &options, &model, NULL, &err) != PL_OK) {
        return fail(&err);
    }

    const int status = pl_model_get_info(model).marker_count > 0 ? run(model, 1 / rate, count) : 2;
    pl_model_destroy(model);

    return status;
}
