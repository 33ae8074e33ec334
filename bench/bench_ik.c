// Inverse kinematics on the three-chamber trunk: what a waypoint 2 mm further on costs, in factorisations and
// solves of the full body. The tip follows a circle in space; then, on a few waypoints of it, the papers'
// descent with numerical differences and the same descent with exact gradients.
//
//   bench_ik [WAYPOINTS [SIZE [FEW]]]     40 waypoints, 5.2 mm elements (about 7k), 3 waypoints for the
//   descents
#include "model/model.h"
#include "../validation/path_robot.h"
#include "bench.h"

#define MOST 400

typedef struct tally {
    int count;
    double factor[MOST], solves[MOST], forward[MOST], jacobian[MOST], wall[MOST], error[MOST];
} tally;

static int compare(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static double median(const double *v, int count)
{
    double sorted[MOST];
    memcpy(sorted, v, (size_t)count * sizeof *v);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    return 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

static double largest(const double *v, int count)
{
    double most = 0;
    for (int i = 0; i < count; ++i) {
        most = fmax(most, v[i]);
    }
    return most;
}

static double mean(const double *v, int count)
{
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += v[i] / count;
    }
    return sum;
}

static bool tally_add(void *user, const pl_waypoint *w)
{
    tally *t = user;
    if (w->index == 0) {
        return true; // the path to the first waypoint is no step of 2 mm
    }
    t->factor[t->count] = (double)w->ik->costs.factorizations;
    t->solves[t->count] = (double)w->ik->costs.solves;
    t->forward[t->count] = (double)w->ik->costs.fk_calls;
    t->jacobian[t->count] = (double)w->ik->costs.derivative_calls;
    t->wall[t->count] = w->ik->seconds;
    t->error[t->count] = w->ik->distance;
    ++t->count;

    return true;
}

static void tally_print(const char *name, const tally *t)
{
    const int n = t->count;
    printf("%-34s %5d %7.1f %6.2f %5.0f %7.1f %7.1f %6.0f %7.1f %6.2f %8.2f %9.1e\n", name, n,
           median(t->factor, n), mean(t->factor, n), largest(t->factor, n), median(t->solves, n),
           mean(t->solves, n), largest(t->solves, n), mean(t->forward, n), mean(t->jacobian, n),
           median(t->wall, n), largest(t->error, n));
    fflush(stdout);
}

// The design's chambers go to twice their volume; three times gives the tip room for a path.
static const double widest[3] = {3, 3, 3};

// A circle about where the tip is with all chambers at twice their volume, spaced 2 mm.
static bool circle(path_robot *r, int count, double *point)
{
    double *command = calloc((size_t)r->info.command_count, sizeof *command);
    pl_solve_report report;
    pl_error err = {0};

    for (int i = 0; command && i < r->info.command_count; ++i) {
        command[i] = 2;
    }

    if (!command || pl_model_fk(r->model, command, &report, &err) != PL_OK || report.outcome != PL_SOLVED) {
        printf("no start: %s\n", err.text);
        free(command);
        return false;
    }

    free(command);
    const pl_model_answer a = pl_model_get_answer(r->model);
    const double radius = 5;
    for (int i = 0; i < count; ++i) {
        const double t = 2 * PL_PI * i * 2 / (2 * PL_PI * radius);
        point[3 * i] = a.marker[0] + radius * cos(t);
        point[3 * i + 1] = a.marker[1] + radius * sin(t);
        point[3 * i + 2] = a.marker[2] + 0.1 * radius * sin(2 * t);
    }

    return true;
}

static bool run(path_robot *r, pl_ik_method method, double tolerance, int limit, const double *point,
                int count, const char *name)
{
    pl_ik_options options = pl_ik_options_default();
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    pl_follow_options follow = pl_follow_options_default();
    pl_follow_report report;
    static tally t;

    t = (tally){0};
    follow.record = tally_add;
    follow.user = &t;
    follow.extrapolate = method == PL_IK_NEWTON;
    options.method = method;
    options.high = widest;
    options.iteration_limit = limit;
    o.tolerance = tolerance;
    pl_error err = {0};
    pl_ik *ik = NULL;
    const bool done = pl_ik_create(r->model, &o, 1, &options, &ik, &err) == PL_OK &&
                      pl_follow(ik, point, count, &follow, &report, &err) == PL_OK;
    if (done) {
        tally_print(name, &t);
    } else {
        printf("%s: %s\n", name, err.text);
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

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 40;
    const double size = argc > 2 ? atof(argv[2]) : 14;
    const int few = argc > 3 ? atoi(argv[3]) : 3;

    if (count < 2 || count > MOST || !(size > 0)) {
        printf("bench_ik [WAYPOINTS 2 to %d [SIZE [FEW]]]\n", MOST);
        return 2;
    }

    bench_title("inverse kinematics, waypoints 2 mm apart on three_chamber");
    path_robot r;
    static double point[3 * MOST];
    if (!path_robot_create("three_chamber", size, &r) || !circle(&r, count, point)) {
        return 1;
    }

    const pl_statics_sizes sizes = pl_statics_get_sizes(pl_model_statics(r.model));
    printf("%d tet10, %d unknowns\n%-34s %5s %20s %22s %7s %6s %8s %9s\n%-34s %5s %7s %6s %5s %7s %7s %6s "
           "%7s %6s %8s "
           "%9s\n",
           r.elements, (int)sizes.unknowns, "", "path", "factorisations", "solves", "forward", "jacob.",
           "wall s", "error mm", "", "points", "median", "mean", "max", "median", "mean", "max", "mean",
           "mean", "median", "max");
    if (getenv("PLIANT_BENCH_LOG")) {
        pl_log_set(show, NULL, atoi(getenv("PLIANT_BENCH_LOG")));
    }

    bool done = run(&r, PL_IK_NEWTON, 0, 60, point, count, "newton, to 0.005 mm");
    if (few > 0) {
        done = run(&r, PL_IK_NEWTON, 0.2, 60, point, few + 1, "newton, to 0.2 mm") && done;
        done = run(&r, PL_IK_DESCENT, 0.2, 30, point, few + 1, "exact gradients, to 0.2 mm") && done;
        done = run(&r, PL_IK_GRADIENT, 0.2, 30, point, few + 1, "papers' differences, to 0.2 mm") && done;
    }

    path_robot_clear(&r);

    return done ? 0 : 1;
}
