// Laws of monotone curves: through the points, monotone where they are, derivative and inverse true.
#include "base/base.h"
#include "check.h"

static void test_curve_meets_its_points_and_stays_monotone(void **state)
{
    (void)state;
    const double x[] = {0, 1, 1.5, 4, 4.1, 9}, y[] = {1, 1, 1.7, 1.72, 3, 3.5};
    double slope[6];
    pl_monotone_slopes(6, x, y, slope);
    const pl_monotone c = {6, x, y, slope};
    for (int i = 0; i < 6; ++i) {
        PL_CHECK_NEAR(pl_monotone_value(&c, x[i], NULL), y[i], 1e-15);
    }

    double before = 1;
    for (int i = 0; i <= 9000; ++i) {
        const double value = pl_monotone_value(&c, 1e-3 * i, NULL);
        assert_true(value >= before - 1e-14);
        before = value;
    }
}

static void test_curve_derivative_and_inverse(void **state)
{
    (void)state;
    const double x[] = {-2, 0, 1, 3, 10}, up[] = {-1, 0.2, 0.9, 4, 5}, down[] = {5, 4, 0.9, 0.2, -1};
    double slope[5];
    for (int k = 0; k < 2; ++k) {
        const double *y = k ? down : up, h = 1e-6;
        pl_monotone_slopes(5, x, y, slope);
        const pl_monotone c = {5, x, y, slope};
        for (double at = -3; at < 11; at += 0.37) {
            double exact;
            const double value = pl_monotone_value(&c, at, &exact);
            const double difference =
                (pl_monotone_value(&c, at + h, NULL) - pl_monotone_value(&c, at - h, NULL)) / (2 * h);
            PL_CHECK_NEAR(exact, difference, 1e-8);
            if (fabs(exact) > 1e-6) {
                if (fabs(exact) > 1e-6) {
                    PL_CHECK_NEAR(pl_monotone_inverse(&c, value), at, 1e-9);
                }
            }
        }
    }
}

// A straight line is reproduced exactly, whatever the spacing, and two points make one.
static void test_curve_of_a_line_is_the_line(void **state)
{
    (void)state;
    const double x[] = {0, 0.1, 2, 7}, y[] = {1, 1.3, 7, 22};
    double slope[4], derivative;
    for (int count = 2; count <= 4; ++count) {
        pl_monotone_slopes(count, x, y, slope);
        const pl_monotone c = {count, x, y, slope};
        PL_CHECK_NEAR(pl_monotone_value(&c, 1.234, &derivative), 1 + 3 * 1.234, 1e-13);
        PL_CHECK_NEAR(derivative, 3, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve_meets_its_points_and_stays_monotone),
        cmocka_unit_test(test_curve_derivative_and_inverse),
        cmocka_unit_test(test_curve_of_a_line_is_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
