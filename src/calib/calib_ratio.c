// The shape parameters of two materials from an elongation test of a bar made of both (Fang et al. 2020,
// section IV-B): A from the clamped end to the interface at L1, B from there to L. Pulled by dL, the
// interface moves by dL1, and
//   R_m = L1 (dL - dL1) / ((L - L1) dL1)
// is the strain of B over that of A: the ratio of Young's moduli E_A / E_B. The stiffer material keeps its
// R_omega. That of the softer one is found by bisection, so that the computed interface lies where the test
// found it. By default the bar is solved by the exact core with the (E, nu) that correspond to (w, R_omega),
// with the same w for both materials.
#include "base/base.h"
#include "base/vec.h"
#include "calib/calib.h"
#include "material/material.h"
#include "pliant/calib.h"
#include "geometric/geometric.h"
#include "statics/statics.h"
#include "robot/robot_def.h"

#define RATIO_SMALLEST 1e-3 // R_omega: Poisson's ratio is 0.4993 there
#define RATIO_ROUNDS 60
#define RATIO_CLOSE 1e-7 // of R_omega: the bisection ends

double pl_ratio_elasticity(double length, double interface, double pull, double moved)
{
    return interface * (pull - moved) / ((length - interface) * moved);
}

static pl_status ratio_check(const pl_ratio_test *t, pl_error *err)
{
    if (!(t->length > 0) || !(t->interface > 0 && t->interface < t->length)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "elongation test: the interface is at %g mm, must be inside the bar of %g mm",
                       t->interface, t->length);
    }

    if (!(t->pull > 0 && t->pull <= t->length)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "elongation test: the elongation is %g mm, must be > 0 and at most the length %g",
                       t->pull, t->length);
    }

    if (!(t->moved > 0 && t->moved < t->pull)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "elongation test: the interface moved by %g mm, must be between 0 and the elongation of %g",
            t->moved, t->pull);
    }

    if (!(t->r_omega > 2 * RATIO_SMALLEST && t->r_omega <= 1)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "elongation test: R_omega of the stiffer material is %g, must be in (%g, 1]",
                       t->r_omega, 2 * RATIO_SMALLEST);
    }

    return PL_OK;
}

static pl_material ratio_material(double r_omega)
{
    pl_material m = {.model = PL_LINEAR};
    pl_shape_to_elastic(1, r_omega, &m.young, &m.poisson);
    return m;
}

// The papers' method, to its own fixed point or as far as published. A twisted bar always goes to the fixed
// point of its targets: the point that the published stop watches lies on the axis and never moves.
static pl_status ratio_geometric(const pl_robot *robot, pl_ratio_method method, bool twisted, pl_state *state,
                                 pl_solve_report *report, pl_error *err)
{
    pl_geometric_options options = pl_geometric_options_default();
    pl_geometric *geometric = NULL;
    pl_status status = method == PL_RATIO_FANG2020 ? pl_geometric_preset("fang2020", &options, err) : PL_OK;

    if (twisted) {
        options.stop = PL_STOP_RESIDUAL;
        options.acceleration = PL_ACCELERATE_LBFGS;
    }

    status = status == PL_OK ? pl_geometric_create(robot, &options, &geometric, err) : status;
    status = status == PL_OK ? pl_geometric_solve(geometric, state, NULL, report, err) : status;
    pl_geometric_destroy(geometric);
    if (status == PL_OK && method == PL_RATIO_FANG2020 && !twisted) {
        report->outcome =
            PL_SOLVED; // the published test for the end is no convergence, and is taken as it is
    }

    return status;
}

// The bar of two parameters, pulled or twisted by its tip; where the interface is then.
static pl_status ratio_solve(const pl_mesh *specimen, pl_ratio_method method, const double r_omega[2],
                             double pull, double twist, pl_marker_result *interface, pl_error *err)
{
    // both ends are clamped; the tip is moved or turned
    const pl_body_def body = {.name = "bar", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const pl_material_def material[2] = {{.name = "A", .material = ratio_material(r_omega[0])},
                                         {.name = "B", .material = ratio_material(r_omega[1])}};
    const pl_region_def region[2] = {{.region = "soft", .material = "A"},
                                     {.region = "stiff", .material = "B"}};
    const pl_fixed_def fixed[2] = {{.name = "base", .surface = "base", .axis = {true, true, true}},
                                   {.name = "tip",
                                    .surface = "tip",
                                    .axis = {true, true, true},
                                    .move = {pull, 0, 0},
                                    .rotate = {twist, 0, 0}}};
    const pl_marker_def marker = {.name = "interface", .surface = "interface"};
    const pl_robot_def def = {.name = "elongation test",
                              .body = &body,
                              .body_count = 1,
                              .material = material,
                              .material_count = 2,
                              .region = region,
                              .region_count = 2,
                              .fixed = fixed,
                              .fixed_count = 2,
                              .marker = &marker,
                              .marker_count = 1};

    // the solver also holds the state in which the geometric method answers
    const pl_statics_options options = pl_statics_options_default();
    pl_robot *robot = NULL;
    pl_statics *statics = NULL;
    pl_state *state = NULL;
    pl_solve_report report;
    pl_status status = pl_robot_create(&def, &specimen, &robot, NULL, err);

    status = status == PL_OK ? pl_statics_create(robot, &options, &statics, err) : status;
    status = status == PL_OK ? pl_state_create(robot, &state, err) : status;
    if (status == PL_OK) {
        status = method == PL_RATIO_EXACT ? pl_statics_solve(statics, state, NULL, &report, err)
                                          : ratio_geometric(robot, method, twist != 0, state, &report, err);
    }

    if (status == PL_OK && report.outcome != PL_SOLVED) {
        status = pl_fail(err, PL_FAILED, "elongation test: the bar is not solved: %s", report.message);
    }
    if (status == PL_OK) {
        *interface = pl_statics_marker(statics, state, 0);
    }
    pl_state_destroy(state);
    pl_statics_destroy(statics);
    pl_robot_destroy(robot);

    return status;
}

pl_status pl_ratio_calibrate(const pl_mesh *specimen, const pl_ratio_test *test, pl_ratio_fit *out,
                             pl_error *err)
{
    *out = (pl_ratio_fit){0};
    pl_status status = ratio_check(test, err);
    if (status != PL_OK) {
        return status;
    }
    out->elasticity = pl_ratio_elasticity(test->length, test->interface, test->pull, test->moved);

    // the stiffer one moves less: A when R_m > 1. The softer R_omega lies between nothing and the stiffer
    // one.
    const int soft = out->elasticity >= 1;
    double r[2] = {test->r_omega, test->r_omega}, low = RATIO_SMALLEST, high = test->r_omega;
    pl_marker_result at;

    for (int round = 0; round < RATIO_ROUNDS && high - low > RATIO_CLOSE * high; ++round) {
        const double share = log(log(test->r_omega / RATIO_SMALLEST) / log(high / low)) /
                             log(log(test->r_omega / RATIO_SMALLEST) / RATIO_CLOSE);
        if (test->progress.step && !test->progress.step(test->progress.user, share, "elongation test")) {
            return pl_fail(err, PL_INTERRUPTED, "interrupted");
        }

        r[soft] = sqrt(low * high); // ratios are what counts
        status = ratio_solve(specimen, test->method, r, test->pull, 0, &at, err);
        if (status != PL_OK) {
            return status;
        }
        ++out->solves;
        out->moved = at.displacement[0];
        // a softer B draws less of the interface along, a softer A more
        const bool too_soft = soft == 1 ? out->moved < test->moved : out->moved > test->moved;
        *(too_soft ? &low : &high) = r[soft];
        if (fabs(out->moved - test->moved) < 1e-6 * test->length) {
            break;
        }
    }

    if (fabs(out->moved - test->moved) > 1e-3 * test->length) {
        return pl_fail(
            err, PL_FAILED,
            "elongation test: R_m = %.4g is out of reach: with R_omega = %g for the stiffer material the "
            "interface moves by %.4g mm at most near %.4g mm",
            out->elasticity, test->r_omega, out->moved, test->moved);
    }

    out->r_omega[0] = r[0];
    out->r_omega[1] = r[1];
    out->ratio = r[0] / r[1];
    for (int k = 0; k < 2; ++k) {
        pl_shape_to_elastic(1, r[k], &out->young[k], &out->poisson[k]);
    }

    // the check: half a right angle of twist, shared by the halves as L / G, G = w R_omega
    out->twist = PL_PI / 4;
    status = ratio_solve(specimen, test->method, r, 0, out->twist, &at, err);
    if (status == PL_OK) {
        ++out->solves;
        out->twisted = atan2(at.rotation[7] - at.rotation[5], at.rotation[4] + at.rotation[8]);
        const double a = test->interface / r[0], b = (test->length - test->interface) / r[1];
        out->twisted_thin = out->twist * a / (a + b);
    }

    return status;
}
