// Paths: shapes and spacing, following them with rates, along the boundary when they leave the workspace, and
// tasks.
#include "arm_model.h"
#include "base/base.h"
#include "base/vec.h"
#include "kinematics/kinematics_task.h"

// Points lie equally far apart along the path, in its plane and box.
static void test_shapes(void **state)
{
    (void)state;
    for (pl_path_kind kind = 0; kind < PL_PATH_KIND_COUNT; ++kind) {
        pl_path_def def = pl_path_default(kind);
        def.count = 200;
        def.centre[0] = 10;
        def.size[0] = 30;
        def.size[1] = 20;
        def.size[2] = 10;
        const double x[3] = {0, 2, 0}, y[3] = {0, 1, 3};
        memcpy(def.x, x, sizeof x);
        memcpy(def.y, y, sizeof y);
        double point[600], low[3] = {INFINITY, INFINITY, INFINITY},
                           high[3] = {-INFINITY, -INFINITY, -INFINITY};
        pl_error err = {0};
        PL_CHECK_OK(pl_path_points(&def, point, &err));
        double longest = 0, total = 0;
        const int edges = pl_path_is_closed(kind) ? 200 : 199;
        for (int i = 0; i < edges; ++i) {
            const double d = pl_distance3(point + 3 * i, point + 3 * ((i + 1) % 200));
            longest = fmax(longest, d);
            total += d;
        }
        for (int i = 0; i < 600; ++i) {
            low[i % 3] = fmin(low[i % 3], point[i]);
            high[i % 3] = fmax(high[i % 3], point[i]);
        }
        // chords cut corners, so no edge is longer than the spacing along the path
        PL_CHECK_BELOW(longest, 1.03 * total / edges);
        // a flower has its outer diameter about its centre; the others fill their box
        if (kind != PL_PATH_FLOWER) {
            PL_CHECK_NEAR(low[1], -15, 0.15);
            PL_CHECK_NEAR(high[1], 15, 0.15);
        }
        if (kind == PL_PATH_EIGHT || kind == PL_PATH_FLAME || kind == PL_PATH_SQUARE || kind == PL_PATH_ELL) {
            PL_CHECK_NEAR(low[2], -10, 0.15);
            PL_CHECK_NEAR(high[2], 10, 0.15);
        }
        for (int i = 0; kind == PL_PATH_FLOWER && i < 200; ++i) {
            const double r = hypot(point[3 * i + 1], point[3 * i + 2]);
            assert_true(r > 7.5 - 0.1 && r < 15 + 1e-9);
        }
        if (kind != PL_PATH_BOX) {
            PL_CHECK_NEAR(low[0], 10, 1e-12);
            PL_CHECK_NEAR(high[0], 10, 1e-12);
        } else {
            PL_CHECK_NEAR(high[0] - low[0], 10, 0.2);
        }
        assert_int_equal(pl_path_find(pl_path_name(kind)), kind);
    }

    pl_path_def def = pl_path_default(PL_PATH_CIRCLE);
    double point[180];
    pl_error err = {0};
    PL_CHECK_OK(pl_path_points(&def, point, &err));
    for (int i = 0; i < 60; ++i) {
        PL_CHECK_NEAR(pl_norm3(point + 3 * i), 10, 1e-3);
    }
    def.count = 1;
    assert_int_equal(pl_path_points(&def, point, &err), PL_BAD_INPUT);
    def = pl_path_default(PL_PATH_LINE);
    def.y[0] = 1;
    def.y[1] = 0;
    assert_int_equal(pl_path_points(&def, point, &err), PL_BAD_INPUT);
    assert_int_equal(pl_path_find("spiral"), PL_PATH_KIND_COUNT);
}

static void test_resample(void **state)
{
    (void)state;
    const double ell[9] = {0, 4, 0, 0, 0, 0, 2, 0, 0};
    double out[21];
    pl_error err = {0};
    PL_CHECK_OK(pl_path_resample(ell, 3, false, 7, out, &err));
    for (int i = 0; i < 7; ++i) {
        PL_CHECK_NEAR(out[3 * i], i > 4 ? i - 4 : 0, 1e-14);
        PL_CHECK_NEAR(out[3 * i + 1], i < 4 ? 4 - i : 0, 1e-14);
    }

    // one point, or all in one place
    PL_CHECK_OK(pl_path_resample(ell, 1, true, 3, out, &err));
    PL_CHECK_NEAR(out[7], 4, 0);
}

typedef struct trace {
    int count;
    double before[ARM_SECTIONS], largest, rate;
    double tip[2], jump;
    int nearest;
    double worst_gradient;
} trace;

static bool trace_record(void *user, const pl_waypoint *w)
{
    trace *t = user;
    for (int k = 0; t->count > 0 && k < 3; ++k) {
        t->largest = fmax(t->largest, fabs(w->command[k] - t->before[k]));
    }
    if (t->count > 0) {
        t->jump = fmax(t->jump, hypot(w->answer.marker[0] - t->tip[0], w->answer.marker[1] - t->tip[1]));
    }
    if (w->ik->outcome == PL_IK_NEAREST || w->ik->outcome == PL_IK_BEST) {
        ++t->nearest;
        t->worst_gradient = fmax(t->worst_gradient, w->ik->gradient);
    }

    memcpy(t->before, w->command, 3 * sizeof(double));
    memcpy(t->tip, w->answer.marker, sizeof t->tip);
    assert_int_equal(w->index, t->count);
    ++t->count;

    return true;
}

static pl_ik *tip_problem(pl_model *model, const pl_ik_options *options)
{
    pl_error err = {0};
    pl_ik *ik = NULL;
    const pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    PL_CHECK_OK(pl_ik_create(model, &o, 1, options, &ik, &err));
    return ik;
}

// A circle within reach: every waypoint is met, and the commands of the last are next to those of the first.
static void test_circle(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -2, 2);
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = tip_problem(model, &options);
    pl_path_def def = pl_path_default(PL_PATH_CIRCLE);
    def.centre[0] = 70;
    def.centre[1] = 40;
    def.count = 80;
    double point[240];
    pl_error err = {0};
    PL_CHECK_OK(pl_path_points(&def, point, &err));
    trace t = {0};
    pl_follow_options follow = pl_follow_options_default();
    follow.record = trace_record;
    follow.user = &t;
    pl_follow_report report;
    PL_CHECK_OK(pl_follow(ik, point, 80, &follow, &report, &err));
    print_message("circle: %d of %d reached, largest step %.4f of the range, %.1f forward solves each\n",
                  report.reached, report.count, report.largest_step, report.costs.fk_calls / 80.0);
    assert_int_equal(report.reached, 80);
    PL_CHECK_BELOW(report.largest_distance, 0.005);
    PL_CHECK_BELOW(report.largest_step, 0.05);
    PL_CHECK_NEAR(report.largest_step * 4, t.largest, 1e-12);
    PL_CHECK_BELOW((double)report.costs.fk_calls / 80, 4);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// A circle half out of reach: all waypoints are met or nearest, tip and commands move on without a jump.
static void test_boundary(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -0.9, 0.9);
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = tip_problem(model, &options);
    pl_path_def def = pl_path_default(PL_PATH_CIRCLE);
    def.centre[0] = 92;
    def.centre[1] = 20;
    def.size[0] = 30;
    def.count = 120;
    double point[360];
    pl_error err = {0};
    PL_CHECK_OK(pl_path_points(&def, point, &err));
    trace t = {0};
    pl_follow_options follow = pl_follow_options_default();
    follow.record = trace_record;
    follow.user = &t;
    pl_follow_report report;
    PL_CHECK_OK(pl_follow(ik, point, 120, &follow, &report, &err));
    print_message(
        "boundary: %d reached, %d nearest, largest step %.3f of the range, tip %.2f mm (path %.2f)\n",
        report.reached, t.nearest, report.largest_step, t.jump, 30 * PL_PI / 120);
    assert_int_equal(report.reached + t.nearest, 120);
    assert_true(t.nearest > 30 && report.reached > 30);
    PL_CHECK_BELOW(t.worst_gradient, 1e-3);
    PL_CHECK_BELOW(t.jump, 2 * 30 * PL_PI / 120); // the nearest point moves no faster than the target, nearly
    PL_CHECK_BELOW(report.largest_step, 0.15);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// With rates, no command changes faster than given, even where the path asks for more.
static void test_rates(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -2, 2);
    pl_ik_options options = pl_ik_options_default();
    const double rate[3] = {0.2, 0.2, 0.2};
    options.rate = rate;
    pl_ik *ik = tip_problem(model, &options);
    const double point[12] = {80, 40, 0, 80, 41, 0, 60, 60, 0, 60, 60, 0};
    trace t = {0};
    pl_follow_options follow = pl_follow_options_default();
    follow.record = trace_record;
    follow.user = &t;
    follow.period = 0.5;
    pl_follow_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_follow(ik, point, 4, &follow, &report, &err));
    PL_CHECK_BELOW(t.largest, 0.1 * (1 + 1e-12));
    assert_true(report.reached < 4);
    follow.objective = 3;
    assert_int_equal(pl_follow(ik, point, 4, &follow, &report, &err), PL_BAD_INPUT);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

static bool count_steps(void *user, const pl_waypoint *step)
{
    (void)step;
    ++*(int *)user;
    return true;
}

// Pick and place with the three-section arm: the distance to the object, the right angle, the curvature and
// the new place are all met, and each stage moves only its own commands.
static void test_grasp(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -3, 3);
    int32_t segment[ARM_POINTS];
    for (int i = 0; i < ARM_POINTS; ++i) {
        segment[i] = 2 * ARM_POINTS + i;
    }

    const bool end[3] = {false, false, true};
    const pl_grasp_def def = {.marker = 1,
                              .normal = {1, 0, 0},
                              .object = {55, 45, 0},
                              .radius = 12,
                              .clearance = 3,
                              .orthogonality = 20,
                              .segment = segment,
                              .segment_count = ARM_POINTS,
                              .curl_axis = {0, 0, 1},
                              .curl = 1,
                              .end_command = end,
                              .place = {60, 20, 0},
                              .steps = 6};
    pl_objective objective[PL_GRASP_OBJECTIVES];
    pl_task_stage stage[PL_GRASP_STAGES];
    pl_ik_report report[PL_GRASP_STAGES];
    bool hold[6];
    int steps = 0;
    pl_error err = {0};
    PL_CHECK_OK(pl_task_grasp(model, &def, objective, hold, stage, &err));
    const pl_ik_options options = pl_ik_options_default();
    PL_CHECK_OK(pl_task_run(model, stage, 1, &options, count_steps, &steps, report, &err));
    assert_int_equal(report[0].outcome, PL_IK_REACHED);
    const double *p = a.marker + 3;
    PL_CHECK_NEAR(hypot(p[0] - 55, p[1] - 45), 15, 0.005);
    const double along = (a.rotation[9] * (55 - p[0]) + a.rotation[12] * (45 - p[1])) / 15;
    PL_CHECK_NEAR(along, 0, 1e-3);
    PL_CHECK_NEAR(a.command[2], 0, 0); // the end segment has not moved
    PL_CHECK_OK(pl_task_run(model, stage + 1, 1, &options, count_steps, &steps, report + 1, &err));
    PL_CHECK_NEAR(a.command[2] / (100.0 / 3), 1.0 / 12, 1e-3 / 12);
    const double curl = a.command[2];
    PL_CHECK_OK(pl_task_run(model, stage + 2, 1, &options, count_steps, &steps, report + 2, &err));
    assert_int_equal(report[2].outcome, PL_IK_REACHED);
    PL_CHECK_NEAR(hypot(p[0] - 60, p[1] - 20), 15, 0.005);
    PL_CHECK_NEAR(a.command[2], curl, 0);
    assert_int_equal(steps, 1 + 1 + 6);

    pl_grasp_def bad = def;
    bad.radius = 0;
    assert_int_equal(pl_task_grasp(model, &bad, objective, hold, stage, &err), PL_BAD_INPUT);
    pl_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),   cmocka_unit_test(test_resample), cmocka_unit_test(test_circle),
        cmocka_unit_test(test_boundary), cmocka_unit_test(test_rates),    cmocka_unit_test(test_grasp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
