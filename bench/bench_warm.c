// Warm steps: the bellows finger of about 7k quadratic tetrahedra at about 80 degrees, then ten increments of
// 2 % of the pressure, each from the equilibrium before. What extrapolation from earlier states, warped steps
// and a second thread buy; then what the factorisation of the same tangent costs with each linear solver on
// one and two threads (multifrontal is parallel over the elimination tree, the others inside BLAS).
//
//   bench_warm [quick | profile]     quick: the first two rows of each table only; profile: sweeps up and
//   down on one
//                                    thread, long enough for a profiler to see nothing else
#include "bench.h"
#include "statics/statics_impl.h"

extern void openblas_set_num_threads(int count);

#define INCREMENTS 10
#define REPEATS 3
#define SWEEPS 1 // of a profile

typedef struct variant {
    const char *name;
    bool displacement, extrapolate, warp;
    int threads;
} variant;

typedef struct total {
    double factor, factor_max, solves, solves_max, cpu, wall, wall_max;
} total;

// Ten increments; sums and largest values of what each took.
static bool warm_steps(bench_robot *b, double pressure, total *t)
{
    *t = (total){0};
    for (int i = 1; i <= INCREMENTS; ++i) {
        const double command = pressure * (1 + 0.02 * i);
        if (!bench_solve(b, &command)) {
            return false;
        }
        t->factor += b->report.factorizations;
        t->factor_max = fmax(t->factor_max, b->report.factorizations);
        t->solves += b->report.solves;
        t->solves_max = fmax(t->solves_max, b->report.solves);
        t->cpu += b->solve.cpu;
        t->wall += b->solve.wall;
        t->wall_max = fmax(t->wall_max, b->solve.wall);
    }

    return true;
}

// From the equilibrium `from`, solved once more by the variant itself so that each begins with a factor
// there.
static bool warm_variant(bench_robot *b, const pl_state *from, const variant *v, double pressure)
{
    pl_statics_options options = pl_statics_options_default();
    options.displacement = v->displacement;
    options.extrapolate = v->extrapolate;
    options.warp = v->warp;
    pl_threads_set(v->threads);
    total t;
    if (!bench_start(b, &options) || pl_state_copy(b->state, from) != PL_OK || !bench_solve(b, &pressure)) {
        printf("%-34s no start\n", v->name);
        return false;
    }

    const double before = bench_turn(b);
    if (!warm_steps(b, pressure, &t)) {
        printf("%-34s not solved\n", v->name);
        return false;
    }

    printf("%-34s %7d %7.2f %4.0f %8.1f %4.0f %8.0f %8.0f %8.0f %8.2f\n", v->name, v->threads,
           t.factor / INCREMENTS, t.factor_max, t.solves / INCREMENTS, t.solves_max, 1e3 * t.cpu / INCREMENTS,
           1e3 * t.wall / INCREMENTS, 1e3 * t.wall_max, (bench_turn(b) - before) / INCREMENTS);
    fflush(stdout);

    return true;
}

// Up and down over the increments, one move after another.
static bool warm_profile(bench_robot *b, double pressure)
{
    double factors = 0, solves = 0, iterations = 0, cpu = 0;
    for (int i = 1; i <= 2 * SWEEPS * INCREMENTS; ++i) {
        const int place = i % (2 * INCREMENTS), step = place <= INCREMENTS ? place : 2 * INCREMENTS - place;
        const double command = pressure * (1 + 0.02 * step);
        if (!bench_solve(b, &command)) {
            return false;
        }
        factors += b->report.factorizations;
        solves += b->report.solves;
        iterations += b->report.iterations;
        cpu += b->solve.cpu;
    }

    const double moves = 2.0 * SWEEPS * INCREMENTS;
    printf("%.0f moves up and down: %.3f factorisations, %.2f solves, %.2f iterations, %.1f CPU ms each\n",
           moves, factors / moves, solves / moves, iterations / moves, 1e3 * cpu / moves);
    return true;
}

// Best of some factorisations and solves of the tangent the statics holds.
static void factor_times(pl_statics *s, int threads, double *factor, double *solve)
{
    pl_factor_report report;
    pl_threads_set(threads);
    openblas_set_num_threads(threads);
    *factor = *solve = INFINITY;
    for (int run = 0; run <= REPEATS; ++run) {
        const double start = pl_seconds();
        if (pl_factor_update(s->problem->linear.factor, &s->problem->tangent.K, &report, NULL) != PL_OK ||
            report.singular) {
            return;
        }
        const double middle = pl_seconds();
        for (int32_t i = 0; i < s->problem->unknowns.n; ++i) {
            s->newton.work.g[i] = 1;
        }
        pl_factor_solve(s->problem->linear.factor, s->newton.work.g, 1);
        // the first run touches memory for the first time and is not counted
        *factor = run > 0 ? fmin(*factor, middle - start) : INFINITY;
        *solve = run > 0 ? fmin(*solve, pl_seconds() - middle) : INFINITY;
    }
}

static bool factor_table(bench_robot *b, const pl_state *from, bool displacement, double pressure)
{
    static const struct {
        const char *name;
        pl_linear_solver kind;
    } solver[] = {
        {"cholmod", PL_SOLVER_CHOLMOD}, {"mumps", PL_SOLVER_MUMPS}, {"multifrontal", PL_SOLVER_MULTIFRONTAL}};
    printf("\nfactor and solve of the tangent there, best of %d, ms\n%-34s %9s %9s %8s %9s %9s\n", REPEATS,
           "", "factor 1", "factor 2", "gain", "solve 1", "solve 2");
    for (int k = displacement ? 0 : 1; k < PL_COUNT(solver); ++k) {
        pl_statics_options options = pl_statics_options_default();
        options.displacement = displacement;
        options.linear_solver = solver[k].kind;
        pl_threads_set(1);
        openblas_set_num_threads(1);
        if (!bench_start(b, &options) || pl_state_copy(b->state, from) != PL_OK ||
            !bench_solve(b, &pressure)) {
            return false;
        }
        double factor[2], solve[2];
        for (int threads = 1; threads <= 2; ++threads) {
            factor_times(b->statics, threads, &factor[threads - 1], &solve[threads - 1]);
        }
        openblas_set_num_threads(1);
        printf("%-34s %9.0f %9.0f %8.2f %9.1f %9.1f\n", solver[k].name, 1e3 * factor[0], 1e3 * factor[1],
               factor[0] / factor[1], 1e3 * solve[0], 1e3 * solve[1]);
        fflush(stdout);
    }

    return true;
}

static bool warm_table(const char *law, bool displacement, double pressure, const char *what)
{
    const bool quick = strcmp(what, "quick") == 0;
    const variant variants[] = {{"default", displacement, true, true, 2},
                                {"one thread", displacement, true, true, 1},
                                {"no extrapolation", displacement, false, true, 2},
                                {"no warp", displacement, true, false, 2},
                                {"neither", displacement, false, false, 2}};
    bench_robot b;
    pl_state *at = NULL;
    pl_statics_options options = pl_statics_options_default();

    options.displacement = displacement;
    pl_threads_set(2);
    pl_error err = {0};
    if (!bench_load(&b, BENCH_FINGER, BENCH_FINGER_SIZE, law) || !bench_start(&b, &options) ||
        !bench_solve(&b, &pressure) || pl_state_create(b.robot, &at, &err) != PL_OK ||
        pl_state_copy(at, b.state) != PL_OK) {
        bench_close(&b);
        return false;
    }

    if (strcmp(what, "profile") == 0) {
        pl_threads_set(1);
        const bool done = warm_profile(&b, pressure);
        pl_state_destroy(at);
        bench_close(&b);
        return done;
    }

    printf("\n%s, %s: from %.1f degrees, %d increments of 2 %%\n", law,
           displacement ? "displacement" : "locking-free", bench_turn(&b), INCREMENTS);
    printf("%-34s %7s %12s %13s %8s %8s %8s %8s\n%-34s %7s %7s %4s %8s %4s %8s %8s %8s %8s\n", "", "",
           "factor", "solves", "CPU ms", "wall ms", "", "degrees", "", "threads", "mean", "max", "mean",
           "max", "mean", "mean", "max", "each");
    bool done = true;
    for (int i = 0; i < (quick ? 2 : PL_COUNT(variants)); ++i) {
        done = warm_variant(&b, at, &variants[i], pressure) && done;
    }
    done = (quick || factor_table(&b, at, displacement, pressure)) && done;
    pl_state_destroy(at);
    bench_close(&b);

    return done;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bench_title("warm steps, bellows finger");
    bool done = warm_table(BENCH_NEO_HOOKEAN_45, true, 34e-3, what);
    done = (strcmp(what, "profile") == 0 || warm_table(BENCH_NEO_HOOKEAN_49, false, 34e-3, what)) && done;
    return done ? 0 : 1;
}
