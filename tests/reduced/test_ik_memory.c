// Out of memory at any moment: an inverse solve either fails with a sentence or gives the answer it gives
// with all memory. Never "reached" at a wrong place, never success without a word.
#include <stdlib.h>
#include "bar_robot.h"
#include "pliant/motion.h"
#include "reduced_robot.h"

static int64_t left; // allocations until one fails; negative: none fails

static void *failing(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }

    if (left == 0) {
        return NULL;
    }
    left -= left > 0;
    return realloc(block, bytes);
}

typedef struct attempt {
    pl_status status;
    pl_error err;
    pl_ik_outcome outcome;
    double command[2], miss;
    bool made; // the failure came after the model was built
} attempt;

static void attempt_solve(pl_model *model, const double target[3], attempt *a)
{
    pl_ik *ik = NULL;
    pl_ik_report report;
    pl_ik_options options = pl_ik_options_default();
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);

    memcpy(o.target, target, sizeof o.target);
    o.axes[0] = o.axes[1] = true;
    a->status = pl_ik_create(model, &o, 1, &options, &ik, &a->err);
    if (a->status == PL_OK) {
        a->status = pl_ik_solve(ik, NULL, &report, &a->err);
    }

    if (a->status == PL_OK) {
        const double *tip = pl_model_get_answer(model).marker;
        a->outcome = report.outcome;
        memcpy(a->command, report.command, sizeof a->command);
        a->miss = hypot(tip[0] - target[0], tip[1] - target[1]);
    }

    pl_ik_destroy(ik);
}

static attempt attempt_rod(line_plan *p, const double target[3], int64_t allowed)
{
    attempt a = {0};
    pl_model *model = NULL;

    left = allowed;
    a.status = pl_reduced_create(&p->def, &model, NULL, &a.err);
    a.made = a.status == PL_OK;
    if (a.made) {
        attempt_solve(model, target, &a);
    }
    pl_model_destroy(model);
    left = -1;

    return a;
}

static void check(const attempt *a, int64_t n)
{
    if (a->status != PL_OK) {
        assert_int_equal(a->status, a->err.status);
        assert_true(a->err.text[0] != 0);
    } else if (a->outcome == PL_IK_REACHED && !(a->miss < 0.006)) {
        print_error("allocation %d failed, and the solve claims to have reached %g mm off\n", (int)n,
                    a->miss);
        fail();
    }
}

static void test_rod(void **state)
{
    (void)state;
    static line_plan p;
    line_init(&p, PL_ROD);
    line_section(&p, "arm", 100, 10, 1, 0.4, 6);
    for (int i = 0; i < 2; ++i) {
        pl_line_actuator_def *t =
            line_actuator(&p, i ? "y" : "x", PL_CABLE, PL_DRIVE_TENSION, 0, 100, 4, i * PL_PI / 2);
        t->has_range = true;
        t->range[1] = 2;
    }

    line_marker(&p, "tip", 100);
    pl_model_destroy(line_build(&p)); // fills the def
    const double target[3] = {3, 2, 0};
    pl_memory_set(failing, NULL);
    const attempt good = attempt_rod(&p, target, -1);
    assert_int_equal(good.status, PL_OK);
    print_message("with all memory: %s, %.2g mm off\n", pl_ik_outcome_name(good.outcome), good.miss);
    int failed = 0;
    int64_t n = 0;
    for (attempt a = {.status = PL_NO_MEMORY}; a.status != PL_OK && n < 5000; ++n) {
        a = attempt_rod(&p, target, n);
        check(&a, n);
        failed += a.status != PL_OK;
    }

    pl_memory_set(NULL, NULL);
    print_message("%d allocations, each failed once\n", failed);
    assert_true(failed > 20 && n < 5000);
}

// The full body: building takes too many allocations to fail each, so those after it.
static void test_full(void **state)
{
    (void)state;
    pl_memory_set(failing, NULL);
    left = -1;
    int failed = 0;
    for (int64_t n = 0; n < 400; ++n) {
        bar b = bar_exact();
        const double target[3] = {39, 5.5, 5};
        attempt a = {.made = true};
        left = n;
        attempt_solve(b.model, target, &a);
        const bool out = left == 0;
        left = -1;
        check(&a, n);
        failed += a.status != PL_OK;
        bar_clear(&b);
        if (!out) {
            break;
        }
    }

    pl_memory_set(NULL, NULL);
    print_message("full body: %d failures reported\n", failed);
    assert_true(failed > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rod), cmocka_unit_test(test_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
