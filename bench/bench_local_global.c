// The method local_global on pneumatic fingers, their chambers filled with tets.
//
//   bench_local_global                    all of the below at sizes that take a few minutes
//   bench_local_global counts [size] [quick]
//       iterations: plain (left out when quick), Anderson, L-BFGS, on a finger with thick walls and on the
//       thin finger of 16 modules
//   bench_local_global speed [size]       iterations a second and the time of each part; rotations a second
//   bench_local_global bends [size]       what makes a finger bend by the growth of its chamber
//   bench_local_global table [size] [exact]
//       Table III of Fang et al. (2020) redone on the bellows finger: as published (fang2020) in one go and
//       in steps, by its targets accelerated to their fixed point, by local_global with the volume as a
//       constraint, and with `exact` by the exact core on the same mesh, each bending to 90, 180 and 240
//       degrees
//   bench_local_global modules [size] [exact]
//       the same on the finger of modules, all asked for the volumes that bend it by the constraint
#include "bench.h"
#include "geometric/geometric_block.h"
#include "robot/robot_def.h"
#include "geometric/geometric.h"

// A bending_finger of two linear materials.
typedef struct body {
    const char *title, *design;
    double young[2], poisson; // MPa of skin and layer
} body;

// modules joined by a low channel on a thin layer
static const body of_modules = {"finger of 160 mm, 16 modules on a channel, layer ten times as stiff",
                                "length: 160, modules: 16",
                                {1, 10},
                                0.4};
// one continuous chamber under a folded roof, on a thick floor of the same material (w = 1 MPa, R_omega = 1)
#define BELLOWS                                                                                              \
    "length: 160, modules: 16, width: 16, height: 14, channel_height: 5, channel_width: 10, wall: 1.5, "     \
    "top_wall: 1.5, side_wall: 2, layer: 4"
static const body bellows = {"bellows finger of 160 mm, one material", BELLOWS, {2, 2}, 0};
static const body thick = {
    "finger of 100 mm with walls of 5 mm, layer ten times as stiff",
    "length: 100, width: 24, height: 24, modules: 1, wall: 5, side_wall: 5, top_wall: 5, layer: 5",
    {1, 10},
    0.4};

#define FINGER                                                                                               \
    "pliant: 1\n"                                                                                            \
    "mesh: {design: {kind: bending_finger, %s}, size: %g, order: 1, fill: true}\n"                           \
    "materials:\n"                                                                                           \
    "  skin: {model: linear, young: %g MPa, poisson: %g}\n"                                                  \
    "  layer: {model: linear, young: %g MPa, poisson: %g}\n"                                                 \
    "regions: {skin: skin, layer: layer}\n"                                                                  \
    "fixed: [{surface: base}]\n"                                                                             \
    "actuators: [{name: air, kind: chamber, surface: cavity, drive: volume_ratio}]\n"                        \
    "markers: {tip: {surface: tip}}\n"

typedef struct run {
    pl_geometric *solver;
    pl_solve_report report;
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

static bool finger(bench_robot *b, const body *of, double size)
{
    if (!bench_load(b, FINGER, of->design, size, of->young[0], of->poisson, of->young[1], of->poisson)) {
        return false;
    }
    const pl_statics_options options = pl_statics_options_default();
    return bench_start(b, &options);
}

// ---- iteration counts
static bool counts(const body *of, double size, double ratio, double tolerance, bool quick)
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
    if (!finger(&b, of, size)) {
        return false;
    }
    printf("\n%s: iterations from rest to V / V0 = %g, plain step below %g mm\n", of->title, ratio,
           tolerance);
    for (int k = 0; k < 3; ++k) {
        for (int a = quick ? 1 : 0; a < 3; ++a) {
            pl_geometric_options o = pl_geometric_options_default();
            o.form = kind[k].form;
            o.actuation = kind[k].actuation;
            o.distribution = kind[k].distribution;
            o.acceleration = (pl_acceleration)a;
            o.length_tolerance = tolerance;
            o.iteration_limit = 20000;
            run r;
            pl_state_reset(b.state, b.robot);
            if (!run_open(&r, &b, &o) || !run_solve(&r, &b, ratio)) {
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
                       "CPU s", "local s", "global s", "accel s", "tip z mm", "turn deg", "V / V0",
                       "outcome");
            }
            printf("%-9s %10d %9d %8.2f %8.2f %8.2f %8.2f %10.4f %8.2f %8.4f %s\n", name[a],
                   r.info.iterations, r.info.rejected, r.clock.cpu, r.info.local_seconds,
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
    if (!finger(&b, &of_modules, size)) {
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

// ---- what bends
static void published_options(pl_geometric_options *published, pl_geometric_options *fixed)
{
    *published = pl_geometric_options_default();
    pl_geometric_preset("fang2020", published, NULL);
    *fixed = *published;
    fixed->acceleration = PL_ACCELERATE_LBFGS;
    fixed->stop = PL_STOP_RESIDUAL;
    fixed->length_tolerance = 1e-5;
}

static bool bends_row(const char *name, const body *of, double size, double ratio,
                      const pl_geometric_options *options)
{
    bench_robot b;
    run r;
    double tip[3];

    if (!finger(&b, of, size) || !run_open(&r, &b, options) || !run_solve(&r, &b, ratio)) {
        return false;
    }

    const double turn = tip_turn(&b, tip);
    printf("%-58s %7.1f %6d %9.1e %8.4f %8.3f %4d %4d\n", name, turn, r.info.iterations, r.report.step,
           pl_geometric_actuator(r.solver, 0).ratio, r.report.min_J, (int)r.info.inverted,
           (int)r.info.inverted_chamber);
    fflush(stdout);
    pl_geometric_destroy(r.solver);
    bench_close(&b);

    return true;
}

// The fixed point of fang2020's targets from the finger of modules to the bellows finger, then one setting of
// the method changed at a time.
static bool bends(double size)
{
    static const body modules_one = {"", "length: 160, modules: 16", {2, 2}, 0},
                      thick_floor = {"", "length: 160, modules: 16, height: 20, layer: 4", {2, 2}, 0},
                      flat = {"",
                              "length: 160, modules: 16, width: 16, height: 14, channel_height: 3, "
                              "channel_width: 5, wall: 1.5, top_wall: 1.5, side_wall: 2, layer: 4",
                              {2, 2},
                              0},
                      thin_floor = {"",
                                    "length: 160, modules: 16, width: 16, height: 12, channel_height: 5, "
                                    "channel_width: 10, wall: 1.5, top_wall: 1.5, side_wall: 2, layer: 2",
                                    {2, 2},
                                    0},
                      bellows_ten = {"", BELLOWS, {1, 10}, 0.4};
    const double ratio = 2;
    pl_geometric_options published, fixed;

    published_options(&published, &fixed);
    fixed.length_tolerance = 1e-4;
    fixed.iteration_limit = 3000;
    printf("\nWhat bends by growth, asked for V / V0 = %g at size %g\n%-58s %7s %6s %9s %8s %8s %9s\n", ratio,
           size, "", "deg", "iter", "step mm", "V / V0", "min J", "inverted");
    bool done = bends_row("finger of modules, layer ten times as stiff", &of_modules, size, ratio, &fixed) &&
                bends_row("  one material", &modules_one, size, ratio, &fixed) &&
                bends_row("  one material, floor of 4 instead of 2 mm", &thick_floor, size, ratio, &fixed) &&
                bends_row("  walls of 1.5 mm, 14 mm high, channel 3 x 5 mm", &flat, size, ratio, &fixed) &&
                bends_row("bellows finger (channel 5 x 10 mm)", &bellows, size, ratio, &fixed) &&
                bends_row("  floor ten times as stiff", &bellows_ten, size, ratio, &fixed) &&
                bends_row("  floor of 2 mm", &thin_floor, size, ratio, &fixed);
    const struct {
        const char *name;
        double weight;
        pl_metric metric;
        bool even;
        pl_distribution distribution;
    } one[] = {
        {"  chamber weighs 1", 1, PL_METRIC_VERTEX, false, PL_RATIOS_LEAST_NORM},
        {"  chamber weighs 25 (5 squared)", 25, PL_METRIC_VERTEX, false, PL_RATIOS_LEAST_NORM},
        {"  without volumes", 5, PL_METRIC_VERTEX, true, PL_RATIOS_LEAST_NORM},
        {"  gradient metric", 5, PL_METRIC_GRADIENT, false, PL_RATIOS_LEAST_NORM},
        {"  the same ratio for all", 5, PL_METRIC_VERTEX, false, PL_RATIOS_UNIFORM},
        {"  published code: no volumes, 9, the same for all", 9, PL_METRIC_VERTEX, true, PL_RATIOS_UNIFORM}};
    for (int k = 0; done && k < PL_COUNT(one); ++k) {
        pl_geometric_options o = fixed;
        o.actuation_weight = one[k].weight;
        o.metric = one[k].metric;
        o.even_weights = one[k].even;
        o.distribution = one[k].distribution;
        done = bends_row(one[k].name, &bellows, size, ratio, &o);
    }

    pl_geometric_options plain = published;
    plain.stop = PL_STOP_RESIDUAL;
    plain.iteration_limit = 600;

    return done && bends_row("  plain, 600 iterations", &bellows, size, ratio, &plain) &&
           bends_row("  plain, stop when the tip rests (fang2020)", &bellows, size, ratio, &published);
}

// ---- Table III
static void table_row(const char *name, const run *r, const bench_robot *b, double reached)
{
    double tip[3];
    const double turn = tip_turn(b, tip);

    printf("%-38s %7.1f %7d %7d %8.2f %8.2f %8.4f %8.3f %8.3f %9.1e %7.3f %4d %4d %s\n", name, turn,
           r->report.iterations, r->report.solves, r->clock.wall, r->clock.cpu, reached, tip[0], tip[2],
           r->report.step, r->report.min_J, (int)r->info.inverted, (int)r->info.inverted_chamber,
           pl_outcome_name(r->report.outcome));
    fflush(stdout);
}

static void table_head(double degrees)
{
    printf("\n%g degrees\n%-38s %7s %7s %7s %8s %8s %8s %8s %8s %9s %7s %9s\n", degrees, "", "deg", "iter",
           "solves", "wall s", "CPU s", "V / V0", "tip x", "tip z", "step mm", "min J", "inverted");
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

// As published but driven as a person drives it: on from `from` in steps of at most 0.02, each from where the
// last one ended; counts and times add up.
static bool table_steps(run *r, bench_robot *b, double from, double to, run *sum)
{
    const int steps = (int)ceil((to - from) / 0.02);
    for (int k = 1; k <= steps; ++k) {
        if (!run_solve(r, b, from + (to - from) * k / steps)) {
            return false;
        }
        const int iterations = sum->report.iterations + r->report.iterations;
        const int solves = sum->report.solves + r->report.solves;
        const bench_clock clock = {sum->clock.cpu + r->clock.cpu, sum->clock.wall + r->clock.wall};
        sum->report = r->report;
        sum->info = r->info;
        sum->report.iterations = iterations;
        sum->report.solves = solves;
        sum->clock = clock;
    }

    table_row("fang2020 in steps of 0.02, all together", sum, b, pl_geometric_actuator(r->solver, 0).ratio);
    return true;
}

static pl_geometric_options constraint_options(void)
{
    pl_geometric_options o = pl_geometric_options_default();
    o.form = PL_FORM_MU_LAMBDA;
    o.actuation = PL_ACTUATE_CONSTRAINT;
    o.length_tolerance = 1e-5;
    return o;
}

static const double table_degrees[3] = {90, 180, 240};

static void table_title(const body *of, const bench_robot *b, const run *r)
{
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(b->robot));
    const pl_geometric_info info = pl_geometric_get_info(r->solver);
    printf("\nTable III, %s: %d body and %d chamber tets, %d vertices\n", of->title, (int)v.element_count,
           (int)info.chamber_elements, (int)info.vertices);
}

// The bellows finger: growth and constraint each with the ratios that bend it so far.
static bool table(double size, bool exact)
{
    bench_robot b, driven, held;
    run growth, published, volume, sum = {0};
    pl_geometric_options as_published, fixed, anderson, constraint = constraint_options();

    published_options(&as_published, &fixed);
    as_published.iteration_limit = 20000;
    anderson = fixed;
    anderson.acceleration = PL_ACCELERATE_ANDERSON;
    if (!finger(&b, &bellows, size) || !finger(&driven, &bellows, size) || !finger(&held, &bellows, size) ||
        !run_open(&growth, &b, &anderson) || !run_open(&published, &driven, &as_published) ||
        !run_open(&volume, &held, &constraint)) {
        return false;
    }

    pl_state *at = NULL, *at_held = NULL;
    pl_error err = {0};
    bool done =
        pl_state_create(b.robot, &at, &err) == PL_OK && pl_state_create(held.robot, &at_held, &err) == PL_OK;
    table_title(&bellows, &b, &growth);
    double ratio = 1, before = 1, kept = 1;
    for (int k = 0; done && k < 3; ++k) {
        done = table_ratio(&growth, &b, table_degrees[k], &ratio) &&
               table_ratio(&volume, &held, table_degrees[k], &kept);
        pl_state_copy(at, b.state);
        pl_state_copy(at_held, held.state);
        table_head(table_degrees[k]);
        printf("growth asked for %.4f, constraint for %.4f\n", ratio, kept);
        done = done && table_method("fang2020 in one go", &as_published, &b, ratio) &&
               table_steps(&published, &driven, before, ratio, &sum) &&
               table_method("fang2020's targets, Anderson", &anderson, &b, ratio) &&
               table_method("fang2020's targets, L-BFGS", &fixed, &b, ratio) &&
               table_method("local_global, constraint, L-BFGS", &constraint, &held, kept) &&
               (!exact || table_exact(&held, kept));
        pl_state_copy(b.state, at); // go on warm
        pl_state_copy(held.state, at_held);
        before = ratio;
    }

    pl_state_destroy(at);
    pl_state_destroy(at_held);
    pl_geometric_destroy(growth.solver);
    pl_geometric_destroy(published.solver);
    pl_geometric_destroy(volume.solver);
    bench_close(&b);
    bench_close(&driven);
    bench_close(&held);

    return done;
}

// The finger of modules: the volume that bends it by the constraint, asked of all.
static bool modules(double size, bool exact)
{
    bench_robot b;
    run warm;
    pl_geometric_options published, fixed, constraint = constraint_options();

    published_options(&published, &fixed);
    pl_state *at = NULL;
    pl_error err = {0};
    if (!finger(&b, &of_modules, size) || !run_open(&warm, &b, &constraint) ||
        pl_state_create(b.robot, &at, &err) != PL_OK) {
        return false;
    }

    table_title(&of_modules, &b, &warm);
    double ratio = 1;
    bool done = true;
    for (int k = 0; done && k < 3; ++k) {
        done = table_ratio(&warm, &b, table_degrees[k], &ratio);
        pl_state_copy(at, b.state);
        table_head(table_degrees[k]);
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
    static const char *const modes[] = {"all", "counts", "speed", "bends", "table", "modules"};
    const char *what = argc > 1 ? argv[1] : "all";
    const double size = argc > 2 ? atof(argv[2]) : 0;
    const char *more = argc > 3 ? argv[3] : "";
    const bool quick = strcmp(more, "quick") == 0, exact = strcmp(more, "exact") == 0;
    int mode = -1;

    for (int k = 0; k < PL_COUNT(modes); ++k) {
        mode = strcmp(what, modes[k]) == 0 ? k : mode;
    }

    if (mode < 0) {
        fprintf(stderr,
                "usage: bench_local_global [counts|speed|bends|table|modules] [size] [quick|exact]\n");
        return 2;
    }

    bench_title("local_global on pneumatic fingers");
    bool done = true;
    if (mode == 0 || mode == 1) {
        done = counts(&thick, size > 0 ? size : 4, 1.5, 1e-5, quick) &&
               counts(&of_modules, size > 0 ? 4 * size : 7, 1.3, 1e-6, quick || mode == 0) && done;
    }

    if (mode == 0 || mode == 2) {
        done = speed(size > 0 ? size : 2.2) && done;
    }
    if (mode == 0 || mode == 3) {
        done = bends(size > 0 ? size : 4) && done;
    }
    if (mode == 0 || mode == 4) {
        done = table(size > 0 ? size : 4, exact) && done;
    }
    if (mode == 5) {
        done = modules(size > 0 ? size : 2.3, exact) && done;
    }

    return done ? 0 : 1;
}
