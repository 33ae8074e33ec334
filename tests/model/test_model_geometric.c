// The geometric method behind pl_model: where it minimises the same energy it finds the exact method's
// equilibrium, its derivatives by differences are those of the exact method, and a kept state comes back with
// all the method said of it.
#include "bar_robot.h"
#include "model/model_record.h"

#define PARTS (PL_PART_MARKER | PL_PART_ROTATION | PL_PART_SENSOR | PL_PART_EFFORT | PL_PART_MEASURE)

static double apart(const double *a, const double *b, int count)
{
    double largest = 0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

// Both methods on plain linear elements of one corotated law.
static pl_model *exact_twin(const bar *b)
{
    pl_statics_options options = tight_options();
    options.displacement = true;
    pl_model *model = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_from_robot(b->robot, &options, &model, &err));
    return model;
}

static void test_same_as_exact(void **state)
{
    (void)state;
    bar b = bar_geometric();
    bar e = b;
    e.model = exact_twin(&b);
    assert_string_equal(pl_model_get_info(b.model).kind, "full");
    assert_string_equal(pl_model_get_info(b.model).method, "local_global");
    assert_false(pl_model_get_info(b.model).approximate_derivative);
    assert_false(pl_model_get_info(e.model).approximate_derivative);
    assert_true(pl_model_get_info(b.model).hash != pl_model_get_info(e.model).hash);
    assert_true(pl_model_get_info(b.model).robot_hash == pl_model_get_info(e.model).robot_hash);
    bar_go(&b, 2, 1);
    bar_go(&e, 2, 1);
    const pl_model_answer x = pl_model_get_answer(b.model), y = pl_model_get_answer(e.model);
    const double tip = apart(x.marker, y.marker, 3), effort = apart(x.effort, y.effort, 2);
    print_message("tip apart by %.2g mm, tensions by %.2g of %.3g N\n", tip, effort, y.effort[0]);
    PL_CHECK_BELOW(tip, 1e-5);
    PL_CHECK_BELOW(effort, 1e-5);
    PL_CHECK_NEAR(x.actuator[0].asked, 1 - 2 / 38.0, 1e-12);
    PL_CHECK_NEAR(x.actuator[0].reached, x.actuator[0].asked, 1e-6);

    // derivatives of the fixed point against those of the exact method
    pl_model_derivative d, f;
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_differentiate(b.model, PARTS, 0, &d, &report, &err));
    assert_false(report.one_sided);
    const double marker[3] = {x.marker[0], x.marker[1], x.marker[2]};
    PL_CHECK_OK(pl_model_differentiate(e.model, PARTS, 0, &f, &report, &err));
    const double errors[] = {apart(d.marker, f.marker, 6), apart(d.rotation, f.rotation, 6),
                             apart(d.sensor, f.sensor, 2), apart(d.effort, f.effort, 4),
                             apart(d.measure, f.measure, 4)};
    for (int i = 0; i < 5; ++i) {
        print_message("derivative %d: off by %.2g\n", i, errors[i]);
        PL_CHECK_BELOW(errors[i], 1e-5);
    }

    assert_true(apart(f.marker, (double[6]){0}, 6) > 0.5); // there was something to get right

    // the model stands where it stood
    PL_CHECK_BELOW(apart(marker, pl_model_get_answer(b.model).marker, 3), 0);
    pl_model_destroy(e.model);
    bar_clear(&b);
}

// At a bound of its command a derivative is as good as elsewhere.
static void test_derivative_at_a_bound(void **state)
{
    (void)state;
    bar b = bar_geometric(), e = b;
    e.model = exact_twin(&b);
    bar_go(&b, 4, 1);
    bar_go(&e, 4, 1);
    pl_model_derivative d, f;
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_differentiate(e.model, PL_PART_MARKER, 0, &f, &report, &err));
    PL_CHECK_OK(pl_model_differentiate(b.model, PL_PART_MARKER, 0, &d, &report, &err));
    assert_false(report.one_sided);
    const double off = apart(d.marker, f.marker, 6);
    print_message("at the bound: off by %.2g\n", off);
    PL_CHECK_BELOW(off, 1e-5);
    pl_model_destroy(e.model);
    bar_clear(&b);
}

// A slot keeps efforts and ratios too, which a pl_state has no place for; states move between the methods.
static void test_states(void **state)
{
    (void)state;
    bar b = bar_geometric(), e = b;
    e.model = exact_twin(&b);
    pl_error err = {0};
    bar_go(&b, 2, 1);
    pl_model_answer x = pl_model_get_answer(b.model);
    const double kept[6] = {x.marker[0], x.marker[1], x.marker[2],
                            x.effort[0], x.effort[1], x.actuator[0].asked};
    PL_CHECK_OK(pl_model_keep(b.model, 0, &err));
    bar_go(&b, 0.5, 3);
    const int64_t solves = pl_model_get_costs(b.model).solves;
    PL_CHECK_OK(pl_model_recall(b.model, 0, &err));
    x = pl_model_get_answer(b.model);
    const double now[6] = {x.marker[0], x.marker[1], x.marker[2],
                           x.effort[0], x.effort[1], x.actuator[0].asked};
    assert_memory_equal(kept, now, sizeof kept);
    assert_int_equal(pl_model_get_costs(b.model).solves, solves);

    // to the exact method and back
    static double block[4000];
    assert_true(pl_model_state_size(b.model) < 4000);
    pl_model_pack(b.model, block);
    PL_CHECK_OK(pl_model_unpack(e.model, block, pl_model_state_size(b.model), &err));
    PL_CHECK_BELOW(apart(pl_model_get_answer(e.model).marker, kept, 3), 0);
    pl_model_pack(e.model, block);
    PL_CHECK_OK(pl_model_unpack(b.model, block, pl_model_state_size(e.model), &err));
    PL_CHECK_BELOW(apart(pl_model_get_answer(b.model).marker, kept, 3), 0);

    // a block of no length that fits, and a slot never kept
    assert_int_equal(pl_model_unpack(b.model, block, 17, &err), PL_BAD_INPUT);
    assert_int_equal(pl_model_recall(b.model, 3, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "saved"));
    pl_model_destroy(e.model);
    bar_clear(&b);
}

// What only the exact method knows is refused in words, not answered by another method.
static void test_refused(void **state)
{
    (void)state;
    bar b = bar_geometric();
    pl_error err = {0};
    pl_reaction reaction[2];
    pl_jacobian_report report;
    const pl_parameter by = {.kind = PL_PARAMETER_GRAVITY};
    assert_int_equal(pl_model_reactions(b.model, reaction, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "local_global"));
    assert_int_equal(pl_model_sensitivity(b.model, &by, 1, &(pl_jacobian){0}, &report, &err), PL_BAD_INPUT);
    const pl_record *record;
    bar_go(&b, 1, 1);
    PL_CHECK_OK(pl_model_record(b.model, NULL, &record, &err));
    assert_int_equal(record->reaction_count, 0);
    assert_string_equal(record->method, "local_global");
    bar_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_exact),
        cmocka_unit_test(test_derivative_at_a_bound),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
