// Reachable targets from rest without a stored workspace: random commands give tip positions; inverse
// kinematics, started from the undeformed configuration, must find commands that bring the marker there to
// 0.01 mm. What it does not reach is printed with the certificate that it reported.
//
//   reach_from_rest [ROBOT COUNT SEED [SIZE [AXES [CPU]]]]
//
// ROBOT is a design or a robot file; SIZE the element size of a design (0: its default); AXES the coordinates
// of the tip that are prescribed (xyz; a planar robot has two); CPU the seconds after which no further target
// is begun. Without arguments, a small run.
#include <time.h>
#include "base/base.h"
#include "path_robot.h"

typedef struct tally {
    int tried, skipped, reached, agreed;
    double worst, farthest, forward, factor, cpu, cpu_most;
} tally;

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void random_commands(const path_robot *r, pl_random *random, double *command)
{
    for (int i = 0; i < r->info.command_count; ++i) {
        const double *range = r->info.command[i].range;
        command[i] = pl_random_uniform(random, range[0], range[1]);
    }
}

// One target made by a forward solve, and the path there from rest.
static bool try_one(path_robot *r, pl_ik *ik, const pl_objective *o, pl_random *random, double *command,
                    tally *t)
{
    const int marker = o->index;
    pl_error err = {0};
    pl_solve_report fk;
    pl_ik_report report;

    random_commands(r, random, command);
    pl_model_reset(r->model);
    if (pl_model_fk(r->model, command, &fk, &err) != PL_OK) {
        printf("  %s\n", err.text);
        return false;
    }

    if (fk.outcome != PL_SOLVED) {
        ++t->skipped; // no target where there is no equilibrium
        return true;
    }

    double target[3];
    memcpy(target, pl_model_get_answer(r->model).marker + 3 * marker, sizeof target);
    pl_model_reset(r->model);
    const double begun = cpu_seconds();
    if (pl_ik_set_target(ik, 0, target, &err) != PL_OK || pl_ik_solve(ik, NULL, &report, &err) != PL_OK) {
        printf("  %s\n", err.text);
        return false;
    }

    const double cpu = cpu_seconds() - begun, *tip = pl_model_get_answer(r->model).marker + 3 * marker,
                 *rest = r->info.marker_at + 3 * marker;
    double off = 0, travel = 0;
    for (int k = 0; k < 3; ++k) {
        if (!o->axes[k]) {
            continue;
        }
        off += (tip[k] - target[k]) * (tip[k] - target[k]);
        travel += (rest[k] - target[k]) * (rest[k] - target[k]);
    }

    ++t->tried;
    t->farthest = fmax(t->farthest, sqrt(travel));
    t->forward += (double)report.costs.fk_calls;
    t->factor += (double)report.costs.factorizations;
    t->cpu += cpu;
    t->cpu_most = fmax(t->cpu_most, cpu);
    if (sqrt(off) <= 0.01) {
        ++t->reached;
        t->worst = fmax(t->worst, sqrt(off));
        return true;
    }

    t->agreed += report.outcome == PL_IK_NEAREST;
    printf("    target %.4f %.4f %.4f (commands", target[0], target[1], target[2]);
    for (int i = 0; i < r->info.command_count; ++i) {
        printf(" %.5g", command[i]);
    }
    printf("): %s, %.4f mm off, gradient %.1e, %d of %d starts agree\n", pl_ik_outcome_name(report.outcome),
           sqrt(off), report.gradient, report.agreed, report.starts);
    fflush(stdout);

    return true;
}

static char *text_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = f ? calloc(1, 1 << 16) : NULL;

    if (text && fread(text, 1, (1 << 16) - 1, f) == 0) {
        free(text);
        text = NULL;
    }

    if (f) {
        fclose(f);
    }

    return text;
}

static bool run(const char *name, int count, uint64_t seed, double size, const char *axes, double budget)
{
    path_robot r;
    char *text = strchr(name, '.') ? text_of(name) : NULL;
    const bool made = text ? path_robot_load(text, &r) : path_robot_create(name, size, &r);

    free(text);
    if (!made) {
        return false;
    }

    pl_error err = {0};
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = NULL;
    double *command = calloc((size_t)r.info.command_count, sizeof *command);
    const int marker = pl_model_find_marker(r.model, "tip");
    o.index = marker < 0 ? 0 : marker;
    for (int k = 0; k < 3; ++k) {
        o.axes[k] = strchr(axes, "xyz"[k]) != NULL;
    }
    options.start_limit = 6;
    bool done = command && pl_ik_create(r.model, &o, 1, &options, &ik, &err) == PL_OK;
    tally t = {0};
    pl_random random;
    pl_random_seed(&random, seed);
    for (int i = 0; done && i < count && cpu_seconds() < budget; ++i) {
        done = try_one(&r, ik, &o, &random, command, &t);
    }

    const double each = t.tried > 0 ? t.tried : 1;
    const bool good = done && t.tried > t.skipped && t.reached >= 0.97 * t.tried;
    printf("%-14s %6d elements, seed %llu: %d of %d reached to 0.01 mm (%.1f %%; worst of them %.4f mm), %d "
           "skipped "
           "without equilibrium; of the others %d with a certificate several starts agree on; farthest "
           "target %.1f "
           "mm; per target %.1f forward solves, %.1f factorizations, %.1f CPU s (most %.1f)%s\n",
           name, r.elements, (unsigned long long)seed, t.reached, t.tried, 100 * t.reached / each, t.worst,
           t.skipped, t.agreed, t.farthest, t.forward / each, t.factor / each, t.cpu / each, t.cpu_most,
           good ? "" : "   <-- FAIL");
    fflush(stdout);
    pl_ik_destroy(ik);
    free(command);
    path_robot_clear(&r);

    return good;
}

int main(int argc, char **argv)
{
    pl_threads_set(1); // CPU seconds
    if (argc >= 4) {
        return run(argv[1], atoi(argv[2]), strtoull(argv[3], NULL, 10), argc > 4 ? atof(argv[4]) : 0,
                   argc > 5 ? argv[5] : "xyz", argc > 6 ? atof(argv[6]) : INFINITY)
                   ? 0
                   : 1;
    }

    bool good = run("cable_finger", 20, 1, 9, "xyz", INFINITY);
    return good ? 0 : 1;
}
