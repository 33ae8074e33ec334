// Inverse kinematics by the method that the robot is solved with: a target made by a local_global forward
// solve is reached by local_global, with derivatives by differences; and a method that never converges is not
// answered by another one.
#include "bar_robot.h"
#include "pliant/motion.h"

static pl_ik *tip_ik(pl_model *model, const double target[3])
{
    pl_error err = {0};
    pl_ik *ik = NULL;
    const pl_ik_options options = pl_ik_options_default();
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);

    memcpy(o.target, target, sizeof o.target);
    o.axes[1] = o.axes[2] = true; // two tendons, two coordinates
    PL_CHECK_OK(pl_ik_create(model, &o, 1, &options, &ik, &err));

    return ik;
}

static void test_local_global(void **state)
{
    (void)state;
    bar b = bar_geometric();
    pl_error err = {0};
    double target[3];
    bar_go(&b, 2.2, 2.0); // both tendons taut
    memcpy(target, pl_model_get_answer(b.model).marker, sizeof target);
    pl_model_reset(b.model);
    pl_ik *ik = tip_ik(b.model, target);
    pl_ik_report report;
    PL_CHECK_OK(pl_ik_solve(ik, NULL, &report, &err));
    print_message("%s; commands %.5f %.5f, %d forward solves, %d derivatives\n", report.message,
                  report.command[0], report.command[1], (int)report.costs.fk_calls,
                  (int)report.costs.derivative_calls);
    assert_int_equal(report.outcome, PL_IK_REACHED);
    PL_CHECK_NEAR(report.command[0], 2.2, 5e-3);
    PL_CHECK_NEAR(report.command[1], 2.0, 5e-3);

    // its own forward solve from rest confirms it
    const double command[2] = {report.command[0], report.command[1]};
    pl_model_reset(b.model);
    bar_go(&b, command[0], command[1]);
    const double *tip = pl_model_get_answer(b.model).marker;
    PL_CHECK_BELOW(hypot(tip[1] - target[1], tip[2] - target[2]), 0.006);

    // out of reach: the nearest point, certified by differences
    target[2] += 30;
    PL_CHECK_OK(pl_ik_set_target(ik, 0, target, &err));
    PL_CHECK_OK(pl_ik_solve(ik, NULL, &report, &err));
    assert_int_equal(report.outcome, PL_IK_NEAREST);
    pl_ik_destroy(ik);
    bar_clear(&b);
}

static void test_as_published(void **state)
{
    (void)state;
    bar b = bar_robot(1);
    pl_error err = {0};
    pl_geometric_options options = pl_geometric_options_default();
    PL_CHECK_OK(pl_geometric_preset("fang2020", &options, &err));
    PL_CHECK_OK(pl_model_from_robot_geometric(b.robot, &options, &b.model, &err));
    const double target[3] = {36, 6, 10};
    pl_ik *ik = tip_ik(b.model, target);
    pl_ik_report report;
    const double start[2] = {1, 1};
    const pl_status status = pl_ik_solve(ik, start, &report, &err);
    print_message("as published: %s\n", err.text);
    assert_int_equal(status, PL_FAILED);
    assert_non_null(strstr(err.text, "not convergence"));
    pl_ik_destroy(ik);
    bar_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_local_global),
                                       cmocka_unit_test(test_as_published)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
