// The record of a result says what the model answers, in display units, and borrows nothing that moves.
#include "bar_robot.h"
#include "model/model_record.h"

static void test_record(void **state)
{
    (void)state;
    bar b = bar_exact();
    pl_error err = {0};
    const pl_record *r;
    bar_go(&b, 2, 1);
    PL_CHECK_OK(pl_model_record(b.model, NULL, &r, &err));
    const pl_model_answer a = pl_model_get_answer(b.model);
    assert_string_equal(r->robot, "test");
    assert_string_equal(r->kind, "full");
    assert_string_equal(r->method, "exact");
    assert_true(r->hash == pl_robot_hash(b.robot));
    assert_int_equal(r->report.outcome, PL_SOLVED);
    assert_int_equal(r->command_count, 2);
    assert_string_equal(r->command[1].name, "side");
    assert_string_equal(r->command[1].unit, "mm");
    PL_CHECK_NEAR(r->command[1].value, 1, 0);
    const pl_record_actuator *top = &r->actuator[0];
    assert_string_equal(top->measure_name, "length");
    assert_string_equal(top->effort_name, "tension");
    assert_true(top->cable && !top->slack && !top->idle && !top->growth);
    PL_CHECK_NEAR(top->measure, 36, 1e-6);
    PL_CHECK_NEAR(top->asked, 36 / 38.0, 1e-12);
    PL_CHECK_NEAR(top->reached, top->asked, 1e-8);
    PL_CHECK_NEAR(top->effort, a.effort[0], 0);
    const pl_record_marker *tip = &r->marker[0];
    const double rest[3] = {40, 4, 4};
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(tip->position[i] - tip->displacement[i], rest[i], 1e-12);
    }
    assert_true(tip->has_rotation && tip->turned > 1 && tip->turned < 60);
    assert_string_equal(r->sensor[0].unit, "mm");

    // what the base pulls with is what the tendons push: guides end in the body, so nothing is left over
    assert_int_equal(r->reaction_count, 1);
    assert_string_equal(r->reaction[0].name, "base");
    PL_CHECK_BELOW(fabs(r->reaction[0].force[1]), 1e-4);
    PL_CHECK_NEAR(r->report.energy, a.energy, 1e-9);

    // a report of the caller's own
    const pl_solve_report own = {.outcome = PL_STEP_LIMIT};
    PL_CHECK_OK(pl_model_record(b.model, &own, &r, &err));
    assert_int_equal(r->report.outcome, PL_STEP_LIMIT);

    // the report comes back with a kept state
    PL_CHECK_OK(pl_model_keep(b.model, 0, &err));
    bar_go(&b, 0, 0);
    PL_CHECK_OK(pl_model_record(b.model, NULL, &r, &err));
    PL_CHECK_BELOW(r->marker[0].turned, 1e-6);
    PL_CHECK_OK(pl_model_recall(b.model, 0, &err));
    assert_true(pl_model_get_report(b.model).energy > 0);
    pl_model_reset(b.model);
    PL_CHECK_OK(pl_model_record(b.model, NULL, &r, &err));
    assert_true(r->actuator[0].idle && isnan(r->command[0].value));
    bar_clear(&b);
}

// What is drawn and its lines.
static void test_shape(void **state)
{
    (void)state;
    bar b = bar_exact();
    pl_error err = {0};
    const pl_mesh *body;
    static double x[3000], line[30], j[1000];
    PL_CHECK_OK(pl_model_body(b.model, &body, &err));
    assert_ptr_equal(body, pl_robot_mesh(b.robot));
    bar_go(&b, 2, 1);
    pl_model_shape(b.model, x);
    assert_memory_equal(x, pl_model_get_answer(b.model).point,
                        3 * (size_t)pl_mesh_get(body).vertex_count * sizeof *x);
    const int count = pl_model_line(b.model, 0, line, 10);
    assert_int_equal(count, 3);
    double length = 0;
    for (int i = 0; i < 2; ++i) {
        length += sqrt(pow(line[3 * i] - line[3 * i + 3], 2) + pow(line[3 * i + 1] - line[3 * i + 4], 2) +
                       pow(line[3 * i + 2] - line[3 * i + 5], 2));
    }

    PL_CHECK_NEAR(length, pl_model_get_answer(b.model).measure[0], 1e-9);
    assert_int_equal(pl_model_line(b.model, 7, line, 10), 0);
    PL_CHECK_OK(pl_model_field(b.model, PL_FIELD_J, j, &err));
    assert_true(j[0] > 0.5 && j[0] < 1.5);
    pl_model_check check;
    PL_CHECK_OK(pl_model_verify(b.model, &check, &err));
    PL_CHECK_BELOW(check.residual, 1e-6 * check.largest_force);
    assert_false(check.inverted);
    bar_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_record), cmocka_unit_test(test_shape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
