// Parameters from poses: a bar with two tendons computed with other constants is the measured robot.
#include <math.h>
#include <stdlib.h>
#include "bar_robot.h"
#include "check.h"
#include "pliant/calib.h"

enum { ROWS = 6, C = 2 };
typedef struct made {
    pl_mesh *mesh;
    pl_robot *robot;
} made;

// The bar of bar_robot.h with another modulus; robots live until the end of the test.
static made kept[400];
static int kept_count;

static pl_model *bar_of(double young)
{
    static const pl_guide_def top[3] = {{.point = {0, 4, 7}}, {.point = {20, 4, 7}}, {.point = {38, 4, 7}}};
    static const pl_guide_def side[3] = {{.point = {0, 7, 4}}, {.point = {20, 7, 4}}, {.point = {38, 7, 4}}};
    made b = {.mesh = tet_box(5, 1, 1, 40, 8, 8, 1, NULL)};
    static plan p;

    plan_init(&p, b.mesh, (pl_material){.model = PL_LINEAR, .young = young, .poisson = 0.3});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_hold(&p, "base", "xyz");
    const pl_guide_def *const guide[2] = {top, side};
    const char *const name[2] = {"top", "side"};
    for (int i = 0; i < 2; ++i) {
        pl_actuator_def *a = plan_cable(&p, name[i], guide[i], 3, PL_DRIVE_TENSION);
        a->radius = 3;
        a->has_range = true;
        a->range[1] = 4;
    }

    plan_marker(&p, "tip", "tip");
    b.robot = plan_robot(&p);
    kept[kept_count++] = b;
    pl_model *m = NULL;
    pl_error err = {0};
    const pl_statics_options options = tight_options();
    PL_CHECK_OK(pl_model_from_robot(b.robot, &options, &m, &err));

    return m;
}

static void forget(void)
{
    while (kept_count > 0) {
        --kept_count;
        pl_robot_destroy(kept[kept_count].robot);
        pl_mesh_destroy(kept[kept_count].mesh);
    }
}

static pl_status build(void *user, const double *value, pl_model **out, pl_error *err)
{
    (void)err;
    *out = bar_of(value[*(int *)user]);
    return PL_OK;
}

static const double command[ROWS * C] = {0.05, 0, 0.1, 0, 0, 0.08, 0.08, 0.04, 0.15, 0.05, 0.03, 0.12};

// Measured with modulus 0.62, the first tendon pulling 10 % more, and a frame moved and turned.
static void measure(double *marker, double turn)
{
    pl_model *m = bar_of(0.62);
    for (int r = 0; r < ROWS; ++r) {
        const double c[C] = {1.1 * command[C * r], command[C * r + 1]};
        pl_solve_report report;
        pl_error err = {0};
        PL_CHECK_OK(pl_model_fk(m, c, &report, &err));
        assert_int_equal(report.outcome, PL_SOLVED);
        const double *p = pl_model_get_answer(m).marker;
        marker[3 * r] = p[0] - turn * p[1] + 15 * turn;
        marker[3 * r + 1] = p[1] + turn * p[0];
        marker[3 * r + 2] = p[2] - 25 * turn;
    }

    pl_model_destroy(m);
}

static void test_recovers(void **state)
{
    (void)state;
    for (int exact = 0; exact < 2; ++exact) {
        double marker[3 * ROWS], predicted[3 * ROWS];
        measure(marker, 0.02);
        const pl_pose_parameter list[] = {
            {.name = "young",
             .kind = exact ? PL_POSE_MATERIAL : PL_POSE_NUMBER,
             .part = PL_YOUNG,
             .unit = 1,
             .value = 0.5},
            {.name = "top.factor", .kind = PL_POSE_FACTOR, .index = 0, .unit = 1, .value = 1, .scale = 1},
            {.name = "base.x", .kind = PL_POSE_BASE, .index = 0, .unit = 1, .scale = 1},
            {.name = "base.z", .kind = PL_POSE_BASE, .index = 2, .unit = 1, .scale = 1},
            {.name = "base.rz", .kind = PL_POSE_BASE, .index = 5, .unit = 1, .scale = 0.01}};
        int which = 0;
        bool fit[ROWS] = {true, true, true, true, true, false};
        const pl_poses_def def = {.parameter = list,
                                  .parameter_count = 5,
                                  .row_count = ROWS,
                                  .command_count = C,
                                  .marker_count = 1,
                                  .command = command,
                                  .marker = marker,
                                  .fit = fit,
                                  .build = build,
                                  .user = &which};
        pl_poses_report r;
        pl_error err = {0};
        PL_CHECK_OK(pl_poses_calibrate(&def, predicted, &r, &err));
        print_message(
            "%s: young %.5f +- %.1e, factor %.5f, x %.4f, z %.4f, rz %.5f; %.1e mm fitted, %.1e held, %d "
            "steps, %d solves\n",
            exact ? "exact" : "differences", r.value[0], r.deviation[0], r.value[1], r.value[2], r.value[3],
            r.value[4], r.rms_fit, r.rms_held, r.iterations, r.solves);
        assert_true(r.converged && r.rms_start > 0.5);
        PL_CHECK_NEAR(r.value[0], 0.62, 2e-3);
        PL_CHECK_NEAR(r.value[1], 1.1, 4e-3);
        PL_CHECK_NEAR(r.value[4], 0.02, 1e-4);
        assert_true(r.rms_fit < 0.01 && r.rms_held < 0.02);
        forget();
    }
}

// Modulus and the factors of both tendons together: stiffer and pulled harder is the same shape.
static void test_identifiability(void **state)
{
    (void)state;
    double marker[3 * ROWS], predicted[3 * ROWS];
    measure(marker, 0);
    const pl_pose_parameter list[] = {
        {.name = "young", .kind = PL_POSE_MATERIAL, .part = PL_YOUNG, .unit = 1, .value = 0.6},
        {.name = "top.factor", .kind = PL_POSE_FACTOR, .index = 0, .unit = 1, .value = 1.1, .scale = 1},
        {.name = "side.factor", .kind = PL_POSE_FACTOR, .index = 1, .unit = 1, .value = 1, .scale = 1}};
    int which = 0;
    const pl_poses_def def = {.parameter = list,
                              .parameter_count = 3,
                              .row_count = ROWS,
                              .command_count = C,
                              .marker_count = 1,
                              .command = command,
                              .marker = marker,
                              .build = build,
                              .user = &which,
                              .iteration_limit = 3};
    pl_poses_report r;
    pl_error err = {0};
    PL_CHECK_OK(pl_poses_calibrate(&def, predicted, &r, &err));
    const double *d = r.direction[2];
    print_message("least known direction: %+.2f young %+.2f top %+.2f side, deviation %.2e (best %.2e)\n",
                  d[0], d[1], d[2], r.direction_deviation[2], r.direction_deviation[0]);
    assert_true(r.direction_deviation[2] > 50 * r.direction_deviation[0]);
    assert_true(d[0] * d[1] > 0.2 && d[0] * d[2] > 0.2);
    const pl_poses_def none = {.parameter = list, .parameter_count = 0};
    assert_int_equal(pl_poses_calibrate(&none, predicted, &r, &err), PL_BAD_INPUT);
    forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recovers),
                                       cmocka_unit_test(test_identifiability)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
