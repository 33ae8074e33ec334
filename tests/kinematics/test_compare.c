// Comparisons: the methods agree where they minimise the same energy, and the distances say whose error is
// whose.
#include "bar_robot.h"
#include "kinematics/kinematics.h"

static pl_comparison run(const bar *b, const pl_robot *linear, const double *command,
                         const char *const *method, int count)
{
    pl_comparison c;
    pl_error err = {0};
    pl_compare_def def = {.linear = linear,
                          .method = method,
                          .method_count = count,
                          .command = command};
    const pl_statics_options statics = tight_options();
    pl_geometric_options geometric = pl_geometric_options_default();

    geometric.form = PL_FORM_MU_LAMBDA;
    PL_CHECK_OK(pl_compare_solve(b->robot, &def, &statics, &geometric, &c, &err));

    return c;
}

static void test_methods(void **state)
{
    (void)state;
    static const char *const method[] = {"exact", "local_global"};
    bar b = bar_robot(2), l = bar_robot(1);
    const double command[2] = {2, 1};
    pl_comparison c = run(&b, l.robot, command, method, 2);
    assert_true(c.quadratic && c.alike);
    assert_int_equal(c.row_count, 3);
    assert_string_equal(c.row[0].name, "exact, quadratic");
    assert_string_equal(c.row[1].name, "exact, corners");
    print_message("mesh %.4g mm, method %.2g mm\n", c.row[1].from_quadratic, c.row[2].from_corners);
    PL_CHECK_NEAR(c.row[0].from_quadratic, 0, 0);
    assert_true(c.row[1].from_quadratic > 0.5); // linear elements bend too little

    // guides that lie on mid nodes are shared out to the corners: the rest of the difference
    PL_CHECK_BELOW(c.row[2].from_corners, 0.2);
    PL_CHECK_NEAR(c.row[2].asked[0], 36 / 38.0, 1e-9);

    // strains: all of the volume is somewhere, and the same methods have the same histogram
    enum { BINS = 10 };
    double middle[BINS], share[3 * BINS];
    pl_error err = {0};
    PL_CHECK_OK(pl_comparison_strains(&c, BINS, middle, share, &err));
    for (int i = 0; i < 3; ++i) {
        double sum = 0;
        for (int k = 0; k < BINS; ++k) {
            sum += share[i * BINS + k];
        }
        PL_CHECK_NEAR(sum, 100, 1e-9);
    }

    assert_true(middle[0] > 0 && middle[BINS - 1] > middle[0]);
    pl_comparison_clear(&c);

    // a linear robot needs no twin and has one exact row; there the method itself is not to blame for
    // anything
    c = run(&l, NULL, command, method, 2);
    assert_int_equal(c.row_count, 2);
    assert_true(c.row[0].corners && !c.quadratic);
    PL_CHECK_BELOW(c.row[1].from_corners, 5e-4);
    pl_comparison_clear(&c);
    const char *const wrong = "guess";
    const pl_compare_def def = {.method = &wrong, .method_count = 1, .command = command};
    const pl_statics_options statics = tight_options();
    const pl_geometric_options geometric = pl_geometric_options_default();
    assert_int_equal(pl_compare_solve(l.robot, &def, &statics, &geometric, &c, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "guess"));
    pl_comparison_clear(&c);
    bar_clear(&b);
    bar_clear(&l);
}

static void test_markers(void **state)
{
    (void)state;
    bar a = bar_exact(), b = bar_exact();
    bar_go(&a, 2, 1);
    const double off = pl_compare_marker(a.model, 0, b.model);
    const double *p = pl_model_get_answer(a.model).marker, *q = pl_model_get_answer(b.model).marker;
    PL_CHECK_NEAR(off, sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2)), 1e-12);
    assert_true(off > 1);
    bar_clear(&a);
    bar_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_methods), cmocka_unit_test(test_markers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
