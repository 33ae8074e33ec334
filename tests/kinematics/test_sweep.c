// Sweeps: which points, in which order, from which neighbour; and what ends them.
#include <string.h>
#include "arm_model.h"
#include "pliant/motion.h"

typedef struct seen {
    int count, stop_at;
    double command[64][ARM_SECTIONS];
    pl_outcome outcome[64];
} seen;

static bool see(void *user, const pl_sample *point)
{
    seen *s = user;
    assert_int_equal(point->index, s->count);
    memcpy(s->command[s->count], point->command, 2 * sizeof(double));
    PL_CHECK_NEAR(point->answer.command[0], point->command[0],
                  point->fk->outcome == PL_SOLVED ? 0 : INFINITY);
    s->outcome[s->count++] = point->fk->outcome;

    return s->count != s->stop_at;
}

static void test_grid(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -1, 1);
    const pl_sweep_axis axis[2] = {{.command = 0, .from = -1, .to = 1, .count = 3},
                                   {.command = 1, .from = 0, .to = 0.5, .count = 2}};
    pl_sweep_def def = {.axis = axis, .axis_count = 2, .grid = true};
    pl_sweep_report report;
    pl_error err = {0};
    seen s = {0};
    int count;
    PL_CHECK_OK(pl_sweep_count(model, &def, &count, &err));
    assert_int_equal(count, 6);
    PL_CHECK_OK(pl_sweep_run(model, &def, NULL, see, &s, &report, &err));
    assert_int_equal(s.count, 6);
    assert_int_equal(report.solved, 6);
    assert_false(report.stopped);
    static const double want[6][2] = {{-1, 0}, {-1, 0.5}, {0, 0}, {0, 0.5}, {1, 0}, {1, 0.5}};
    for (int p = 0; p < 6; ++p) {
        PL_CHECK_NEAR(s.command[p][0], want[p][0], 1e-15);
        PL_CHECK_NEAR(s.command[p][1], want[p][1], 1e-15);
    }

    // together: the counts must agree, and what is not varied is held
    def.grid = false;
    assert_int_equal(pl_sweep_count(model, &def, &count, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "same number of points"));
    const double held[2] = {NAN, 0.25};
    def = (pl_sweep_def){.axis = axis, .axis_count = 1, .command = held};
    s = (seen){0};
    PL_CHECK_OK(pl_sweep_run(model, &def, NULL, see, &s, &report, &err));
    assert_int_equal(s.count, 3);
    PL_CHECK_NEAR(s.command[2][1], 0.25, 0);
    pl_model_destroy(model);
}

// A point without an equilibrium is recorded as such; the callback may end the sweep.
static void test_ends(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -1, 1);
    a.refuse_beyond = 0.6;
    const pl_sweep_axis axis = {.command = 0, .from = -1, .to = 1, .count = 5};
    const pl_sweep_def def = {.axis = &axis, .axis_count = 1};
    pl_sweep_report report;
    pl_error err = {0};
    seen s = {0};
    PL_CHECK_OK(pl_sweep_run(model, &def, NULL, see, &s, &report, &err));
    assert_int_equal(report.count, 5);
    assert_int_equal(report.solved, 3);
    assert_int_equal(s.outcome[0], PL_STEP_LIMIT);
    s = (seen){.stop_at = 2};
    PL_CHECK_OK(pl_sweep_run(model, &def, NULL, see, &s, &report, &err));
    assert_int_equal(report.count, 2);
    assert_true(report.stopped);

    // wrong axes
    const pl_sweep_axis wrong[3] = {
        {.command = 5, .count = 2}, {.command = 0, .count = 0}, {.count = 2, .to = NAN}};
    for (int i = 0; i < 3; ++i) {
        const pl_sweep_def bad = {.axis = &wrong[i], .axis_count = 1};
        assert_int_equal(pl_sweep_run(model, &bad, NULL, see, &s, &report, &err), PL_BAD_INPUT);
    }

    assert_int_equal(pl_sweep_run(model, &(pl_sweep_def){0}, NULL, see, &s, &report, &err), PL_BAD_INPUT);
    pl_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
