// Commands with kinks: the derivative with respect to the tension of a slack cable and on both sides of a
// one-sided command agree with differences, and inverse kinematics from rest finds targets that need cables
// which are slack at rest.
#include "base/base.h"
#include "model/model.h"
#include "statics_robot.h"
#include "pliant/motion.h"

// A bar of 60 x 8 x 8 mm, clamped at x = 0, with three tendons below that end at a third, two thirds and the
// tip.
typedef struct bar {
    pl_mesh *mesh;
    pl_robot *robot;
    pl_model *model;
} bar;

static bar bar_create(bool antagonists)
{
    static const pl_guide_def guide[4] = {{.point = {0, 4, 1}},
                                          {.point = {20, 4, 1}},
                                          {.point = {40, 4, 1}},
                                          {.point = {59, 4, 1}}},
                              above[2] = {{.point = {0, 4, 7}}, {.point = {59, 4, 7}}};
    static const pl_command_drive both[2] = {{.actuator = "a", .factor = 1}, {.actuator = "b", .factor = -1}};
    bar b = {.mesh = tet_box(6, 1, 1, 60, 8, 8, 2, NULL)};
    static plan p;

    plan_init(&p, b.mesh, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.2, .poisson = 0.45});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 60);
    plan_hold(&p, "base", "xyz");
    const char *const name[3] = {"a", "b", "c"};
    const double far[3] = {2.5, 5, 7};
    for (int i = 0; i < (antagonists ? 2 : 3); ++i) {
        const bool up = antagonists && i == 1;
        pl_actuator_def *a = plan_cable(&p, name[i], up ? above : guide,
                                        up            ? 2
                                        : antagonists ? 4
                                                      : i + 2,
                                        antagonists ? PL_DRIVE_TENSION : PL_DRIVE_SHORTENING);
        a->radius = 3;
        a->has_range = true;
        a->range[1] = antagonists ? 1 : far[i];
    }

    if (antagonists) {
        p.command[p.def.command_count++] =
            (pl_command_def){.name = "bend", .drive = both, .drive_count = 2, .one_sided = true};
    }

    plan_marker(&p, "tip", "tip");
    b.robot = plan_robot(&p);
    pl_error err = {0};
    const pl_statics_options options = tight_options();
    PL_CHECK_OK(pl_model_from_robot(b.robot, &options, &b.model, &err));

    return b;
}

static void bar_clear(bar *b)
{
    pl_model_destroy(b->model);
    pl_robot_destroy(b->robot);
    pl_mesh_destroy(b->mesh);
}

static void bar_go(bar *b, const double *command)
{
    pl_solve_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_fk(b->model, command, &report, &err));
    assert_int_equal(report.outcome, PL_SOLVED);
}

// Beyond the point where it becomes taut, the tip moves with the tension of the cable as the derivative at
// the slack state says; the other slack cable stays free.
static void test_slack_derivative(void **state)
{
    (void)state;
    bar b = bar_create(false);
    double command[3] = {0, 0, 4}, tip[3], length[3];
    bar_go(&b, command);
    const pl_model_answer a = pl_model_get_answer(b.model);
    assert_true(a.actuator[0].slack && a.actuator[1].slack && !a.actuator[2].slack);
    memcpy(tip, a.marker, sizeof tip);
    memcpy(length, a.measure, sizeof length);
    const pl_parameter parameter[2] = {{.kind = PL_PARAMETER_EFFORT, .index = 0},
                                       {.kind = PL_PARAMETER_COMMAND, .index = 2}};
    double marker[6], measure[6], effort[6];
    const pl_jacobian out = {.marker = marker, .measure = measure, .effort = effort};
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_sensitivity(b.model, parameter, 2, &out, &report, &err));
    PL_CHECK_NEAR(effort[0], 1, 1e-12); // its own tension
    PL_CHECK_NEAR(measure[4], 0, 1e-9); // the taut cable keeps its length
    const double rest = pl_model_get_info(b.model).actuator[0].rest, h = 1e-3;
    command[0] = rest - length[0] + h;
    bar_go(&b, command);
    const pl_model_answer now = pl_model_get_answer(b.model);
    const double T = now.effort[0];
    print_message("taut by %g mm: tension %.3e N\n", h, T);
    assert_true(T > 0);
    for (int k = 0; k < 3; ++k) {
        PL_CHECK_NEAR((now.marker[k] - tip[k]) / T, marker[2 * k], 2e-3 * fabs(marker[4]));
        PL_CHECK_NEAR((now.measure[k] - length[k]) / T, measure[2 * k], 2e-3 * fabs(measure[0]));
    }

    bar_clear(&b);
}

// At 0 a one-sided command has a derivative for each side.
static void test_two_sides(void **state)
{
    (void)state;
    bar b = bar_create(true);
    const double zero = 0, h = 1e-3;
    double marker[6], tip[3];
    bar_go(&b, &zero);
    memcpy(tip, pl_model_get_answer(b.model).marker, sizeof tip);
    const pl_parameter parameter[2] = {{.kind = PL_PARAMETER_COMMAND, .part = 1},
                                       {.kind = PL_PARAMETER_COMMAND, .part = -1}};
    const pl_jacobian out = {.marker = marker};
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_sensitivity(b.model, parameter, 2, &out, &report, &err));
    for (int side = 0; side < 2; ++side) {
        const double c = side == 0 ? h : -h;
        bar_go(&b, &c);
        const double *now = pl_model_get_answer(b.model).marker;
        for (int k = 0; k < 3; ++k) {
            PL_CHECK_NEAR((now[k] - tip[k]) / c, marker[2 * k + side], 1e-2 * fabs(marker[4 + side]));
        }
    }

    // both pull: the tip comes nearer on both sides, so that the two derivatives differ
    assert_true(marker[0] < 0 && marker[1] > 0);
    bar_clear(&b);
}

static pl_ik *bar_problem(const bar *b, int starts)
{
    const pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    pl_ik_options options = pl_ik_options_default();

    options.start_limit = starts;
    pl_error err = {0};
    pl_ik *ik = NULL;
    PL_CHECK_OK(pl_ik_create(b->model, &o, 1, &options, &ik, &err));

    return ik;
}

// Random commands give targets; from rest, where all cables are slack, all are reached.
static void test_targets_from_rest(void **state)
{
    (void)state;
    bar b = bar_create(false);
    pl_ik *ik = bar_problem(&b, 6);
    const double far[3] = {2.5, 5, 7};
    pl_error err = {0};
    pl_random random;
    pl_random_seed(&random, 7);
    int reached = 0, alone = 0;
    double worst = 0;
    enum { COUNT = 15 };
    for (int i = 0; i < COUNT; ++i) {
        double command[3], target[3];
        for (int k = 0; k < 3; ++k) {
            command[k] = pl_random_uniform(&random, 0, far[k]);
        }
        pl_model_reset(b.model);
        bar_go(&b, command);
        memcpy(target, pl_model_get_answer(b.model).marker, sizeof target);
        pl_model_reset(b.model);
        PL_CHECK_OK(pl_ik_set_target(ik, 0, target, &err));
        pl_ik_report r;
        PL_CHECK_OK(pl_ik_solve(ik, NULL, &r, &err));
        reached += r.outcome == PL_IK_REACHED;
        alone += r.outcome == PL_IK_REACHED && r.starts == 1;
        worst = fmax(worst, r.distance);
    }

    print_message("from rest: %d of %d reached, %d of them from the first start, worst %.4f mm\n", reached,
                  COUNT, alone, worst);
    assert_int_equal(reached, COUNT);
    assert_true(alone >= COUNT - 3);
    pl_ik_destroy(ik);
    bar_clear(&b);
}

// Out of reach: "nearest" when several starts agree, "best found" from one start alone.
static void test_agreement(void **state)
{
    (void)state;
    bar b = bar_create(false);
    const double target[3] = {75, 4, 4};
    pl_error err = {0};
    pl_ik_report r;
    for (int starts = 0; starts <= 3; starts += 3) {
        pl_ik *ik = bar_problem(&b, starts);
        pl_model_reset(b.model);
        PL_CHECK_OK(pl_ik_set_target(ik, 0, target, &err));
        PL_CHECK_OK(pl_ik_solve(ik, NULL, &r, &err));
        print_message("%d further starts: %s\n", starts, r.message);
        assert_int_equal(r.outcome, starts == 0 ? PL_IK_BEST : PL_IK_NEAREST);
        assert_true(starts == 0 || r.agreed >= 2);
        PL_CHECK_BELOW(r.gradient, 1e-3);
        PL_CHECK_NEAR(r.distance, 15, 0.01); // straight: no cable pushes
        pl_ik_destroy(ik);
    }

    bar_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slack_derivative),
        cmocka_unit_test(test_two_sides),
        cmocka_unit_test(test_targets_from_rest),
        cmocka_unit_test(test_agreement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
