// Objectives: every gradient agrees with central differences, deviations mean what the header says, wrong
// input is refused with a sentence.
#include "arm_model.h"
#include "kinematics/kinematics.h"

static const double somewhere[ARM_SECTIONS] = {0.7, -0.4, 0.9, 0.3};

// Compares the exact Jacobian of one objective with central differences at `command`.
static double gradient_error(pl_model *model, pl_objective objective, const double *command)
{
    pl_error err = {0};
    pl_ik *ik = NULL;
    const pl_ik_options options = pl_ik_options_default();

    PL_CHECK_OK(pl_ik_create(model, &objective, 1, &options, &ik, &err));
    const int rows = pl_ik_residual_count(ik), n = pl_model_get_info(model).command_count;
    double *J = calloc((size_t)(rows * n), sizeof *J), *r[3];
    for (int k = 0; k < 3; ++k) {
        r[k] = calloc((size_t)rows, sizeof(double));
    }
    arm_go(model, command);
    PL_CHECK_OK(pl_ik_residual(ik, r[2], J, &err));
    const double h = 1e-5;
    double worst = 0, scale = 0;
    for (int j = 0; j < n; ++j) {
        for (int side = 0; side < 2; ++side) {
            double c[ARM_SECTIONS];
            memcpy(c, command, (size_t)n * sizeof *c);
            c[j] += side ? h : -h;
            arm_go(model, c);
            PL_CHECK_OK(pl_ik_residual(ik, r[side], NULL, &err));
        }
        for (int i = 0; i < rows; ++i) {
            worst = fmax(worst, fabs((r[1][i] - r[0][i]) / (2 * h) - J[i * n + j]));
            scale = fmax(scale, fabs(J[i * n + j]));
        }
    }

    assert_true(scale > 0);
    for (int k = 0; k < 3; ++k) {
        free(r[k]);
    }
    free(J);
    pl_ik_destroy(ik);

    return worst / scale;
}

static void test_gradients(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -2, 2);
    int32_t point[3 * ARM_POINTS];
    double place[9 * ARM_POINTS], share[3 * ARM_POINTS];
    for (int i = 0; i < 3 * ARM_POINTS; ++i) {
        point[i] = i;
        share[i] = 1 + i % 3;
        for (int k = 0; k < 3; ++k) {
            place[3 * i + k] = 5 * sin(3 * i + k);
        }
    }

    for (pl_objective_kind kind = 0; kind < PL_OBJECTIVE_KIND_COUNT; ++kind) {
        pl_objective o = pl_objective_default(kind);
        o.weight = 1.7;
        o.target[0] = 40;
        o.target[1] = 55;
        o.axis[0] = 0.6;
        o.axis[1] = 0.8;
        o.axis[2] = kind == PL_OBJECTIVE_CURVATURE ? 1 : 0.3;
        o.value = kind == PL_OBJECTIVE_DISTANCE ? 12 : 0.02;
        const double R[9] = {0.8, -0.6, 0, 0.6, 0.8, 0, 0, 0, 1};
        memcpy(o.rotation, R, sizeof R);
        const bool points = kind == PL_OBJECTIVE_SHAPE || kind == PL_OBJECTIVE_CURVATURE;
        o.point = points ? point : NULL;
        o.point_count = points ? 3 * ARM_POINTS : 0;
        o.place = place;
        o.share = share;
        const double error = gradient_error(model, o, somewhere);
        print_message("%-12s gradient off by %.1e\n", pl_objective_kind_name(kind), error);
        PL_CHECK_BELOW(error, 1e-6);
        assert_int_equal(pl_objective_kind_find(pl_objective_kind_name(kind)), kind);
    }

    assert_int_equal(pl_objective_kind_find("taste"), PL_OBJECTIVE_KIND_COUNT);
    pl_model_destroy(model);
}

// A distance counts the axes it names: from a line, when one is left out.
static void test_distance_on_axes(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -2, 2);
    pl_objective o = pl_objective_default(PL_OBJECTIVE_DISTANCE);
    const double target[3] = {40, 55, 70};
    memcpy(o.target, target, sizeof target);
    o.value = 12;
    o.axes[0] = o.axes[1] = true;
    PL_CHECK_BELOW(gradient_error(model, o, somewhere), 1e-6);
    arm_go(model, somewhere);
    const pl_ik_options options = pl_ik_options_default();
    pl_error err = {0};
    pl_ik *ik = NULL;
    double r[3];
    PL_CHECK_OK(pl_ik_create(model, &o, 1, &options, &ik, &err));
    PL_CHECK_OK(pl_ik_residual(ik, r, NULL, &err));
    PL_CHECK_NEAR(r[0], hypot(a.marker[0] - 40, a.marker[1] - 55) - 12, 1e-12);
    pl_ik_report report;
    PL_CHECK_OK(pl_ik_solve(ik, NULL, &report, &err));
    assert_int_equal(report.outcome, PL_IK_REACHED);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// The last section alone is an arc: its curvature is angle over length, signed about the axis; the fit
// through all of it is exact.
static void test_curvature_of_arc(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -2, 2);
    const double up[3] = {0, 0, 2};
    for (int i = -4; i <= 4; ++i) {
        const double c[3] = {0.3, -0.5, 0.4 * i};
        arm_go(model, c);
        const double *tail = a.point + 3 * 2 * ARM_POINTS, want = 0.4 * i / (100.0 / 3);
        PL_CHECK_NEAR(pl_fit_curvature(tail, ARM_POINTS, up, NULL), want, 1e-12);
        PL_CHECK_NEAR(pl_fit_curvature(tail, ARM_POINTS, NULL, NULL), fabs(want), 1e-9);
    }

    pl_model_destroy(model);
}

// Points off any plane and off any circle: derivative by every coordinate against central differences.
static void test_curvature_gradient(void **state)
{
    (void)state;
    double p[36], g[36];
    const double axis[3] = {0.2, -0.3, 1};
    for (int i = 0; i < 12; ++i) {
        const double t = 0.25 * i;
        p[3 * i] = 20 * cos(t) + 0.8 * sin(7.3 * i);
        p[3 * i + 1] = 20 * sin(t) + 0.7 * cos(3.1 * i);
        p[3 * i + 2] = 4 * t + 0.9 * sin(5.7 * i);
    }

    for (int signed_one = 0; signed_one < 2; ++signed_one) {
        const double *about = signed_one ? axis : NULL;
        double worst = 0, scale = 0;
        pl_fit_curvature(p, 12, about, g);
        for (int i = 0; i < 36; ++i) {
            const double h = 1e-4, keep = p[i];
            p[i] = keep + h;
            const double high = pl_fit_curvature(p, 12, about, NULL);
            p[i] = keep - h;
            const double low = pl_fit_curvature(p, 12, about, NULL);
            p[i] = keep;
            worst = fmax(worst, fabs((high - low) / (2 * h) - g[i]));
            scale = fmax(scale, fabs(g[i]));
        }
        PL_CHECK_BELOW(worst / scale, 1e-6);
    }

    // more than half a circle, radius 20
    for (int i = 0; i < 12; ++i) {
        p[3 * i] = 20 * cos(0.5 * i);
        p[3 * i + 1] = 3;
        p[3 * i + 2] = 20 * sin(0.5 * i);
    }

    PL_CHECK_NEAR(pl_fit_curvature(p, 12, NULL, NULL), 0.05, 1e-12);
}

// Arcs of any length up to twice around have the sign of their turn; what is no more than a line has none.
static void test_curvature_of_any_direction(void **state)
{
    (void)state;
    double p[60], g[60];
    const double up[3] = {0, 0, 1};
    for (double angle = 0.1; angle < 12.6; angle += 0.1) {
        for (int turn = -1; turn <= 1; turn += 2) {
            for (int i = 0; i < 20; ++i) {
                const double t = 0.3 + turn * angle * i / 19;
                p[3 * i] = 5 + 10 * cos(t);
                p[3 * i + 1] = 10 * sin(t);
                p[3 * i + 2] = 0.1 * i;
            }
            PL_CHECK_NEAR(pl_fit_curvature(p, 20, up, NULL), 0.1 * turn, 1e-8);
        }
    }

    // along the axis; two places, ten times each; one place
    for (int kind = 0; kind < 3; ++kind) {
        for (int i = 0; i < 20; ++i) {
            p[3 * i] = 100 + (kind == 1 ? i % 2 : 0);
            p[3 * i + 1] = 30;
            p[3 * i + 2] = kind == 0 ? i : 7;
            g[3 * i] = g[3 * i + 1] = g[3 * i + 2] = NAN;
        }
        PL_CHECK_NEAR(pl_fit_curvature(p, 20, up, g), 0, 0);
        for (int i = 0; i < 60; ++i) {
            PL_CHECK_NEAR(g[i], 0, 0);
        }
        PL_CHECK_NEAR(pl_fit_curvature(p, 20, NULL, NULL), 0, 1e-9);
    }
}

static void refuse(pl_model *model, const pl_objective *o, const pl_ik_options *options, const char *word)
{
    pl_error err = {0};
    pl_ik *ik = NULL;

    assert_int_equal(pl_ik_create(model, o, 1, options, &ik, &err), PL_BAD_INPUT);
    assert_null(ik);
    if (!strstr(err.text, word)) {
        print_error("`%s` does not say `%s`\n", err.text, word);
        fail();
    }
}

static void test_refusals(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -2, 2);
    pl_ik_options options = pl_ik_options_default();
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    o.index = 2;
    refuse(model, &o, &options, "2 markers");
    o.index = 0;
    o.weight = 0;
    refuse(model, &o, &options, "weight");
    o.weight = 1;
    o.target[1] = NAN;
    refuse(model, &o, &options, "finite");
    o.target[1] = 1e200; // its square is no number
    refuse(model, &o, &options, "1e+200");
    o.target[1] = 0;
    o.weight = 1e300;
    refuse(model, &o, &options, "weight");
    o = pl_objective_default(PL_OBJECTIVE_DIRECTION);
    refuse(model, &o, &options, "axis");
    o = pl_objective_default(PL_OBJECTIVE_ORIENTATION);
    o.rotation[0] = 2;
    refuse(model, &o, &options, "rotation");
    o = pl_objective_default(PL_OBJECTIVE_CURVATURE);
    refuse(model, &o, &options, "at least 3");
    o = pl_objective_default(PL_OBJECTIVE_POSITION);
    options.iteration_limit = 0;
    refuse(model, &o, &options, "iteration_limit");
    options = pl_ik_options_default();
    const pl_effort_bound bound = {.actuator = 7, .low = 0, .high = 1};
    options.effort = &bound;
    options.effort_count = 1;
    refuse(model, &o, &options, "actuator 7");

    // an effort that the model does not know can be neither bounded nor made small
    const pl_effort_bound unknown = {.actuator = 1, .low = 0, .high = 1};
    options.effort = &unknown;
    a.effort[1] = NAN;
    refuse(model, &o, &options, "has no efforts");
    options = pl_ik_options_default();
    pl_objective least = pl_objective_default(PL_OBJECTIVE_EFFORT);
    least.index = 1;
    refuse(model, &least, &options, "not available for a model");
    options = pl_ik_options_default();
    const bool hold[3] = {true, true, true};
    options.hold = hold;
    refuse(model, &o, &options, "no command is free");
    pl_model_destroy(model);

    // a command without a range is refused by name unless bounds are given
    arm b;
    model = arm_create(&b, 3, -2, 2);
    b.info[1].has_range = false;
    options = pl_ik_options_default();
    refuse(model, &o, &options, "`b` has no range");
    const double low[3] = {NAN, -1, NAN}, high[3] = {NAN, 1, NAN};
    options.low = low;
    options.high = high;
    pl_error err = {0};
    pl_ik *ik = NULL;
    PL_CHECK_OK(pl_ik_create(model, &o, 1, &options, &ik, &err));
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_distance_on_axes),
        cmocka_unit_test(test_curvature_of_arc),
        cmocka_unit_test(test_curvature_gradient),
        cmocka_unit_test(test_curvature_of_any_direction),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
