// Five robots that nobody tuned to (bench/robots: drawn with OpenSCAD, one from a design): from rest, then
// ten moves of 2 % of the commands, default elements, one thread; beside CalculiX on the same mesh and law
// where it has the drive. Reports every robot and the worst.
//
//   bench_untuned FOLDER [ours|cold|all] [NAME ...]     FOLDER: a copy of bench/robots, meshes are kept
//   there; `cold`: no moves; `all`: CalculiX too
#include "bench_ccx.h"

#define MOVES 10

static const struct {
    const char *name;
    double command[2];      // MPa, mm
    const char *surface[3]; // of the chambers, for CalculiX; none: not compared
} robots[] = {{"hook", {0.06}, {"cavity"}},
              {"bellows", {0.03}, {"cavity"}},
              {"trunk", {30, 8}, {0}},
              {"twin", {0.04, 0.016}, {"long", "short"}},
              {"stub", {0.013}, {"cavity"}}};

typedef struct sums {
    double factor, factor_most, solves, solves_most, cpu;
} sums;

static bool untuned_move(bench_robot *b, const double *command, sums *s)
{
    for (int i = 1; i <= MOVES; ++i) {
        const double next[2] = {command[0] * (1 + 0.02 * i), command[1] * (1 + 0.02 * i)};
        if (!bench_solve(b, next)) {
            return false;
        }
        s->factor += b->report.factorizations;
        s->factor_most = fmax(s->factor_most, b->report.factorizations);
        s->solves += b->report.solves;
        s->solves_most = fmax(s->solves_most, b->report.solves);
        s->cpu += b->solve.cpu;
    }
    return true;
}

static bool untuned_run(int i, const char *folder, const char *mode, double *worst)
{
    char path[1000];
    bench_robot b = {0};
    bench_ccx c;
    sums s = {0};
    pl_error err = {0};
    const pl_load_options load = {.mesher = pl_meshing_mesher()};
    const pl_statics_options options = pl_statics_options_default();

    snprintf(path, sizeof path, "%s/%s.yaml", folder, robots[i].name);
    if (pl_robot_load(path, &load, &b.robot, NULL, &err) != PL_OK) {
        return bench_failed(path, &err);
    }

    const bool solved = bench_start(&b, &options) && bench_solve(&b, robots[i].command);
    const double cold = b.create.cpu + b.solve.cpu;
    if (!solved) {
        printf("%-9s NOT SOLVED\n", robots[i].name);
        bench_close(&b);
        return false;
    }

    printf("%-9s %6d %7.1f %5d %6d %6d %8.2f %8.2f", robots[i].name,
           (int)pl_mesh_get(pl_robot_mesh(b.robot)).element_count, bench_turn(&b), b.report.increments,
           b.report.factorizations, b.report.solves, b.create.cpu, b.solve.cpu);
    fflush(stdout);
    bool done = true;
    if (strcmp(mode, "cold") != 0) {
        done = untuned_move(&b, robots[i].command, &s);
        printf(done ? " | %5.2f %3.0f %6.1f %3.0f %7.0f" : " | NOT SOLVED", s.factor / MOVES, s.factor_most,
               s.solves / MOVES, s.solves_most, 1e3 * s.cpu / MOVES);
        fflush(stdout);
    }

    if (strcmp(mode, "all") == 0 && robots[i].surface[0] &&
        bench_ccx_run_loads(b.robot, robots[i].surface, robots[i].command, 0.1, &c)) {
        printf(" | %8.1f %5d %8.1f", c.cpu, c.factorizations, c.cpu / cold);
        *worst = fmin(*worst, c.cpu / cold);
    }

    printf("\n");
    fflush(stdout);
    bench_close(&b);

    return done;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        printf("bench_untuned FOLDER [ours|cold|all] [NAME ...]\n");
        return 1;
    }

    const char *mode = argc > 2 ? argv[2] : "ours";
    double worst = INFINITY;
    bool all = true;
    pl_threads_set(1);
    bench_title("robots nobody tuned to, default elements, one thread");
    printf("%-9s %6s %7s %5s %6s %6s %8s %8s | %9s %10s %7s | %8s %5s %8s\n", "", "tet10", "degrees", "incr",
           "factor", "solves", "create s", "solve s", "factor", "solves", "CPU ms", "ccx s", "fact", "ratio");
    for (int i = 0; i < PL_COUNT(robots); ++i) {
        bool wanted = argc <= 3;
        for (int k = 3; k < argc; ++k) {
            wanted = wanted || strcmp(argv[k], robots[i].name) == 0;
        }
        all = (!wanted || untuned_run(i, argv[1], mode, &worst)) && all;
    }

    if (isfinite(worst)) {
        printf("CPU seconds of CalculiX over ours, worst: %.1f\n", worst);
    }

    return all ? 0 : 1;
}
