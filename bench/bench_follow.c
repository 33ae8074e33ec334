// Waypoints about 2 mm apart on designs of several kinds: tendons, bellows, pressures at their bounds, cables
// that go slack. The path is that of the tip along a closed curve of the commands, so every waypoint can be
// reached; each robot follows it twice, with equilibria one after another for every trial of the commands,
// and with commands and shape found together.
//
//   bench_follow [DESIGN [SIZE [WAYPOINTS]]]     all designs at their own element size, 20 waypoints
#include "../validation/path_robot.h"
#include "bench.h"
#include "kinematics/kinematics_impl.h"

#define MOST 200
#define SPACING 2.0 // mm

static const char *const designs[] = {"knuckle_finger", "bellows_trunk", "planar_arm",    "tentacle",
                                      "cable_finger",   "three_chamber", "bending_finger"};

typedef struct tally {
    int count, reached;
    double error, factorizations, solves, forward, cpu;
    int64_t most_solves, most_factorizations;
} tally;

// Commands on the curve: each its own phase, cut off at the bounds of its range for a part of the path.
static void curve(const pl_model_info *info, double t, double *command)
{
    for (int i = 0; i < info->command_count; ++i) {
        const double phase = 2 * PL_PI * i / info->command_count, share = 0.4 + 0.45 * sin(t + phase);
        const double *range = info->command[i].range;
        command[i] = range[0] + fmax(share, 0) * (range[1] - range[0]);
    }
}

static int points(path_robot *r, int count, double *command, double *point)
{
    pl_solve_report report;
    pl_error err = {0};
    double step = 0.02;
    int made = 0;

    for (double t = 0; made < count; ++made) {
        curve(&r->info, t, command);
        if (pl_model_fk(r->model, command, &report, &err) != PL_OK || report.outcome != PL_SOLVED) {
            printf("the path ends at waypoint %d: %s %s\n", made, err.text, report.message);
            break;
        }
        const double *tip = pl_model_get_answer(r->model).marker;
        double far = 0;
        for (int k = 0; k < 3; ++k) {
            point[3 * made + k] = tip[k];
            far += made > 0 ? pow(tip[k] - point[3 * (made - 1) + k], 2) : 0;
        }
        step = made > 0 ? fmin(fmax(step * SPACING / fmax(sqrt(far), 0.1), 0.3 * step), 3 * step) : step;
        t += fmin(step, 0.5);
    }

    return made;
}

static bool count_waypoint(void *user, const pl_waypoint *w)
{
    tally *t = user;
    if (w->index == 0) {
        return true;
    }

    const pl_model_costs *c = &w->ik->costs;
    ++t->count;
    t->reached += w->ik->outcome == PL_IK_REACHED;
    t->error = w->ik->outcome == PL_IK_REACHED ? fmax(t->error, w->ik->distance) : t->error;
    t->factorizations += (double)c->factorizations;
    t->solves += (double)c->solves;
    t->forward += (double)c->fk_calls;
    t->most_solves = c->solves > t->most_solves ? c->solves : t->most_solves;
    t->most_factorizations =
        c->factorizations > t->most_factorizations ? c->factorizations : t->most_factorizations;

    return true;
}

static double cpu(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

static bool follow(path_robot *r, bool together, const double *point, int count, double *command)
{
    const pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    const pl_ik_options options = pl_ik_options_default();
    pl_follow_options path = pl_follow_options_default();
    pl_follow_report report;
    pl_solve_report fk;
    pl_error err = {0};
    pl_ik *ik = NULL;
    tally t = {0};

    path.record = count_waypoint;
    path.user = &t;
    pl_model_reset(r->model);
    curve(&r->info, 0, command);
    bool done = pl_model_fk(r->model, command, &fk, &err) == PL_OK &&
                pl_ik_create(r->model, &o, 1, &options, &ik, &err) == PL_OK;
    const double begun = cpu();
    if (done) {
        ik->together.possible = ik->together.possible && together;
        done = pl_follow(ik, point, count, &path, &report, &err) == PL_OK;
    }

    if (done) {
        const double n = t.count;
        printf("  %-10s %4d of %-4d %9.1e %8.2f %4d %8.1f %5d %8.2f %9.3f\n",
               together ? "together" : "in turn", t.reached, t.count, t.error, t.factorizations / n,
               (int)t.most_factorizations, t.solves / n, (int)t.most_solves, t.forward / n,
               (cpu() - begun) / n);
        fflush(stdout);
    } else {
        printf("  %s\n", err.text);
    }

    pl_ik_destroy(ik);

    return done;
}

static void show(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    printf("%s\n", text);
}

static bool run(const char *design, double size, int count)
{
    path_robot r;
    static double point[3 * MOST];

    if (!path_robot_create(design, size, &r)) {
        return false;
    }

    double *command = calloc((size_t)r.info.command_count + 1, sizeof *command);
    printf("%s, %d elements, %d commands\n", design, r.elements, r.info.command_count);
    const int made = command ? points(&r, count, command, point) : 0;
    if (getenv("PLIANT_BENCH_LOG")) {
        pl_log_set(show, NULL, atoi(getenv("PLIANT_BENCH_LOG")));
    }

    const bool done =
        made > 1 && follow(&r, false, point, made, command) && follow(&r, true, point, made, command);
    free(command);
    path_robot_clear(&r);

    return done;
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    const double size = argc > 2 ? atof(argv[2]) : 0;
    const int count = argc > 3 ? atoi(argv[3]) : 20;

    if (count < 2 || count > MOST) {
        printf("bench_follow [DESIGN [SIZE [WAYPOINTS 2 to %d]]]\n", MOST);
        return 2;
    }

    bench_title("inverse kinematics, waypoints about 2 mm apart");
    printf("%-12s %12s %9s %13s %14s %8s %9s\n", "", "reached", "error mm", "factorisations", "solves",
           "forward", "CPU s");
    bool done = true;
    for (int i = 0; i < PL_COUNT(designs); ++i) {
        if (!only || strcmp(only, designs[i]) == 0) {
            done = run(designs[i], size, count) && done;
        }
    }

    return done ? 0 : 1;
}
