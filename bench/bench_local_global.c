// The method local_global on the bellows finger, its chamber filled with tets.
//
//   bench_local_global                    all of the below except `exact`
//   bench_local_global counts [size] [quick]
//       iterations: plain (left out when quick), Anderson, L-BFGS, to a plain step of 1e-6 mm
//   bench_local_global speed [size]       iterations a second and the time of each part; rotations a second
//   bench_local_global table [size] [exact]
//       Table III of Fang et al. (2020) redone: the volumes that bend the finger to 90, 180 and 240 degrees,
//       by local_global (volume as a constraint, accelerated; the energy of the exact core), as published
//       (fang2020, asked for the same volume), by fang2020's targets accelerated to their fixed point, and
//       with `exact` by the exact core on the same mesh
#include "bench.h"
#include "geometric/geometric_block.h"

#define FINGER                                                                                               \
    "pliant: 1\n"                                                                                            \
    "mesh:\n"                                                                                                \
    "  design: {kind: bending_finger, length: 160, modules: 16}\n"                                           \
    "  size: %g\n"                                                                                           \
    "  order: 1\n"                                                                                           \
    "  fill: true\n"                                                                                         \
    "materials:\n"                                                                                           \
    "  skin: {model: linear, young: 1 MPa, poisson: 0.4}\n"                                                  \
    "  layer: {model: linear, young: %g MPa, poisson: 0.4}\n"                                                \
    "regions: {skin: skin, layer: layer}\n"                                                                  \
    "fixed: [{surface: base}]\n"                                                                             \
    "actuators: [{name: air, kind: chamber, surface: cavity, drive: volume_ratio}]\n"                        \
    "markers: {tip: {surface: tip}}\n"

typedef struct run {
    pl_geometric *solver;
    pl_statics_report report;
    pl_geometric_info info;
    bench_clock clock;
} run;

static bool run_open(run *r, const bench_robot *b, const pl_geometric_options *options)
{
    pl_error err = {0};
    *r = (run){0};
    return pl_geometric_create(b->robot, options, &r->solver, &err) == PL_OK ||
           bench_failed("no solver", &err);
}

// Solves from where the state is; not converging is a result here.
static bool run_solve(run *r, bench_robot *b, double ratio)
{
    pl_error err = {0};
    const bench_clock start = bench_now();
    if (pl_geometric_solve(r->solver, b->state, &ratio, &r->report, &err) != PL_OK) {
        return bench_failed("no solve", &err);
    }
    r->clock = bench_since(start);
    r->info = pl_geometric_get_info(r->solver);
    return true;
}

// Degrees the tip has turned about y since rest, 0 .. 360: the finger bends down.
static double tip_turn(const bench_robot *b, double tip[3])
{
    const pl_marker_result m = pl_statics_marker(b->statics, b->state, 0);
    memcpy(tip, m.position, sizeof m.position);
    const double angle = atan2(m.rotation[2] - m.rotation[6], m.rotation[0] + m.rotation[8]) * 180 / PL_PI;
    return angle < -20 ? angle + 360 : angle;
}

// `layer` MPa is the modulus of the layer under a skin of 1 MPa.
static bool finger(bench_robot *b, double size, double layer)
{
    if (!bench_load(b, FINGER, size, layer)) {
        return false;
    }
    const pl_statics_options options = pl_statics_options_default();
    return bench_start(b, &options);
}

// ---- iteration counts
static bool counts(double size, double layer, bool quick)
{
    static const char *const name[3] = {"plain", "Anderson", "L-BFGS"};
    static const struct {
        const char *title;
        pl_shape_form form;
        pl_actuation actuation;
        pl_distribution distribution;
    } kind[3] = {
        {"(mu, lambda), volume as a constraint", PL_FORM_MU_LAMBDA, PL_ACTUATE_CONSTRAINT, PL_RATIOS_JOINT},
        {"(mu, lambda), growth minimised jointly", PL_FORM_MU_LAMBDA, PL_ACTUATE_GROWTH, PL_RATIOS_JOINT},
        {"blended, least-norm growth", PL_FORM_BLENDED, PL_ACTUATE_GROWTH, PL_RATIOS_LEAST_NORM}};
    bench_robot b;
    if (!finger(&b, size, layer)) {
        return false;
    }
    printf("\nlayer %g times as stiff as the skin: iterations from rest to V / V0 = 1.3, plain step below "
           "1e-6 mm\n",
           layer);
    for (int k = 0; k < 3; ++k) {
        for (int a = quick ? 1 : 0; a < 3; ++a) {
            pl_geometric_options o = pl_geometric_options_default();
            o.form = kind[k].form;
            o.actuation = kind[k].actuation;
            o.distribution = kind[k].distribution;
            o.acceleration = (pl_acceleration)a;
            o.iteration_limit = 20000;
            run r;
            pl_state_reset(b.state, b.robot);
            if (!run_open(&r, &b, &o) || !run_solve(&r, &b, 1.3)) {
                return false;
            }
            double tip[3];
            const double turn = tip_turn(&b, tip);
            const double reached = pl_geometric_actuator(r.solver, 0).ratio;
            if (a == (quick ? 1 : 0)) {
                printf("\n%s: %d body and %d chamber tets, %d vertices\n", kind[k].title,
                       (int)(r.info.elements - r.info.chamber_elements), (int)r.info.chamber_elements,
                       (int)r.info.vertices);
                printf("%-9s %10s %9s %8s %8s %8s %8s %10s %8s %8s %s\n", "", "iterations", "rejected",
                       "wall s", "local s", "global s", "accel s", "tip z mm", "turn deg", "V / V0",
                       "outcome");
            }
            printf("%-9s %10d %9d %8.2f %8.2f %8.2f %8.2f %10.4f %8.2f %8.4f %s\n", name[a],
                   r.info.iterations, r.info.rejected, r.clock.wall, r.info.local_seconds,
                   r.info.global_seconds, r.info.acceleration_seconds, tip[2], turn, reached,
                   pl_outcome_name(r.report.outcome));
            fflush(stdout);
            pl_geometric_destroy(r.solver);
        }
    }
    bench_close(&b);
    return true;
}

// ---- speed
static bool speed(double size)
{
    bench_robot b;
    if (!finger(&b, size, 10)) {
        return false;
    }
    printf("\nSpeed: 100 iterations with a window of 10 from rest\n");
    for (int threads = 1; threads <= 2; ++threads) {
        for (int growth = 1; growth >= 0; --growth) {
            pl_threads_set(threads);
            pl_geometric_options o = pl_geometric_options_default();
            o.iteration_limit = 100;
            o.length_tolerance = 1e-14;
            o.actuation = growth ? PL_ACTUATE_GROWTH : PL_ACTUATE_CONSTRAINT;
            run r;
            pl_state_reset(b.state, b.robot);
            if (!run_open(&r, &b, &o) || !run_solve(&r, &b, 1.3)) {
                return false;
            }
            const double n = r.info.iterations;
            printf("%s, %d tets, %d threads, %s: %.1f iterations a second (local %.2f, global %.2f, "
                   "acceleration %.2f ms each), %.2f CPU ms each; prepared in %.2f s, factor of %.1f MB\n",
                   growth ? "growth" : "constraint", (int)r.info.elements, threads, r.info.instruction_set,
                   n / r.clock.wall, 1e3 * r.info.local_seconds / n, 1e3 * r.info.global_seconds / n,
                   1e3 * r.info.acceleration_seconds / n, 1e3 * r.clock.cpu / n, r.info.prepare,
                   (double)r.info.factor_bytes / 1e6);
            fflush(stdout);
            pl_geometric_destroy(r.solver);
        }
    }
    pl_threads_set(0);
    bench_close(&b);

    enum { BLOCKS = 1000 };
    static double F[BLOCKS * 9 * GEO_LANES], R[BLOCKS * 9 * GEO_LANES];
    pl_random random;
    pl_random_seed(&random, 5);
    for (int i = 0; i < BLOCKS * 9 * GEO_LANES; ++i) {
        F[i] = pl_random_uniform(&random, -0.3, 0.3) + (i / GEO_LANES % 9 % 4 == 0);
    }
    const bench_clock start = bench_now();
    for (int k = 0; k < 200; ++k) {
        geo_kernels_choose()->rotations(F, R, BLOCKS);
    }
    printf("rotations without reflection, one thread: %.1f million a second\n",
           200.0 * BLOCKS * GEO_LANES / bench_since(start).cpu / 1e6);
    return true;
}

// ---- Table III
static void table_row(const char *name, const run *r, const bench_robot *b, double reached)
{
    double tip[3];
    const double turn = tip_turn(b, tip);
    printf("%-34s %8.2f %6d %7d %8.2f %8.2f %8.4f %9.3f %9.3f %9.1e %7.4f %s\n", name, turn,
           r->report.iterations, r->report.solves, r->clock.wall, r->clock.cpu, reached, tip[0], tip[2],
           r->report.step, r->report.min_J, pl_outcome_name(r->report.outcome));
    fflush(stdout);
}

// The volume ratio that turns the tip by `degrees`: upwards in steps of 8 %, then by regula falsi.
static bool table_ratio(run *r, bench_robot *b, double degrees, double *ratio)
{
    double low = *ratio, high = *ratio, tip[3], at = tip_turn(b, tip), at_low = at, at_high = at;
    for (int k = 0; k < 30 && at_high < degrees; ++k) {
        low = high;
        at_low = at_high;
        high *= 1.08;
        if (!run_solve(r, b, high)) {
            return false;
        }
        at = at_high = tip_turn(b, tip);
        *ratio = high;
    }
    for (int k = 0; k < 6 && fabs(at - degrees) > 0.3; ++k) {
        *ratio = low + (high - low) * (degrees - at_low) / (at_high - at_low);
        if (!run_solve(r, b, *ratio)) {
            return false;
        }
        at = tip_turn(b, tip);
        *(at > degrees ? &high : &low) = *ratio;
        *(at > degrees ? &at_high : &at_low) = at;
    }
    return true;
}

static bool table_method(const char *name, const pl_geometric_options *options, bench_robot *b, double ratio)
{
    run r;
    pl_state_reset(b->state, b->robot);
    if (!run_open(&r, b, options) || !run_solve(&r, b, ratio)) {
        return false;
    }
    table_row(name, &r, b, pl_geometric_actuator(r.solver, 0).ratio);
    pl_geometric_destroy(r.solver);
    return true;
}

static bool table_exact(bench_robot *b, double ratio)
{
    pl_statics_options options = pl_statics_options_default();
    options.displacement = true;
    options.time_limit = 1200;
    run r = {0};
    pl_error err = {0};
    if (!bench_start(b, &options)) {
        return false;
    }
    const bench_clock start = bench_now();
    if (pl_statics_solve(b->statics, b->state, &ratio, &r.report, &err) != PL_OK) {
        return bench_failed("exact", &err);
    }
    r.clock = bench_since(start);
    table_row("exact, the same mesh", &r, b, pl_statics_actuator(b->statics, b->state, 0).ratio);
    return true;
}

static bool table(double size, bool exact)
{
    static const double degrees[3] = {90, 180, 240};
    bench_robot b;
    if (!finger(&b, size, 10)) {
        return false;
    }
    pl_geometric_options constraint = pl_geometric_options_default(), published = constraint, fixed;
    constraint.form = PL_FORM_MU_LAMBDA;
    constraint.actuation = PL_ACTUATE_CONSTRAINT;
    constraint.length_tolerance = 1e-5;
    pl_geometric_preset("fang2020", &published, NULL);
    fixed = published;
    fixed.acceleration = PL_ACCELERATE_LBFGS;
    fixed.stop = PL_STOP_RESIDUAL;
    fixed.length_tolerance = 1e-5;
    run warm;
    pl_state *at = NULL;
    pl_error err = {0};
    if (!run_open(&warm, &b, &constraint) || pl_state_create(b.robot, &at, &err) != PL_OK) {
        return false;
    }
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(b.robot));
    printf("\nTable III redone: %d body tets, %d vertices\n", (int)v.element_count, (int)v.vertex_count);
    double ratio = 1;
    bool done = true;
    for (int k = 0; done && k < 3; ++k) {
        done = table_ratio(&warm, &b, degrees[k], &ratio);
        pl_state_copy(at, b.state);
        printf("\n%g degrees: V / V0 = %.4f\n%-34s %8s %6s %7s %8s %8s %8s %9s %9s %9s %7s %s\n", degrees[k],
               ratio, "", "deg", "iter", "solves", "wall s", "CPU s", "V / V0", "tip x", "tip z", "step mm",
               "min J", "outcome");
        done = done && table_method("local_global, constraint, L-BFGS", &constraint, &b, ratio) &&
               table_method("fang2020", &published, &b, ratio) &&
               table_method("fang2020's targets, L-BFGS", &fixed, &b, ratio) &&
               (!exact || table_exact(&b, ratio));
        pl_state_copy(b.state, at); // go on warm
    }
    pl_state_destroy(at);
    pl_geometric_destroy(warm.solver);
    bench_close(&b);
    return done;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    const double size = argc > 2 ? atof(argv[2]) : 0;
    const bool all = strcmp(what, "all") == 0;
    if (!all && strcmp(what, "counts") != 0 && strcmp(what, "speed") != 0 && strcmp(what, "table") != 0) {
        fprintf(stderr, "usage: bench_local_global [counts|speed|table] [size] [quick|exact]\n");
        return 2;
    }
    bench_title("local_global on the bellows finger");
    bool done = true;
    if (all || strcmp(what, "counts") == 0) {
        const bool quick = argc > 3 && strcmp(argv[3], "quick") == 0;
        done = counts(size > 0 ? size : 6, 1, quick) && counts(size > 0 ? size : 6, 10, quick) && done;
    }
    if (all || strcmp(what, "speed") == 0) {
        done = speed(size > 0 ? size : 2.2) && done;
    }
    if (all || strcmp(what, "table") == 0) {
        done = table(size > 0 ? size : 2.3, argc > 3 && strcmp(argv[3], "exact") == 0) && done;
    }
    return done ? 0 : 1;
}
