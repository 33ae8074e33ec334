// Laws of the calibrations: equation 19 undoes the gas law, pooling is the nearest monotone sequence, a
// measured cycle comes back as two monotone tables, and equation 16 is a ratio of moduli.
#include <string.h>
#include "check.h"
#include "calib/calib.h"
#include "pliant/calib.h"

static const pl_syringe_line line = {.chamber = 12e3, .tube = 3e3, .syringe = 50e3, .ambient = 0.1};

// What the syringe pushes so that the chamber stands at `ratio` under absolute pressure p: Boyle's law.
static double pushed_for(double p, double ratio)
{
    const double amount = line.ambient * (line.chamber + line.syringe + line.tube);
    return ratio * line.chamber + line.syringe + line.tube - amount / p;
}

static void test_equation_19_undoes_the_gas_law(void **state)
{
    (void)state;
    for (double p = 0.05; p < 0.3; p += 0.013) {
        for (double ratio = 0.5; ratio < 3; ratio += 0.21) {
            PL_CHECK_NEAR(pl_syringe_ratio(&line, p, pushed_for(p, ratio)), ratio, 1e-12);
        }
    }
}

// The result rises, keeps the weighted mean of every block, and no shift of one block brings it nearer.
static void test_pooling_is_least_squares(void **state)
{
    (void)state;
    const double y[] = {1, 3, 2, 2.5, 2, 5, 4.9, 4.8, 7}, w[] = {1, 1, 2, 1, 1, 1, 3, 1, 1};
    const double want[] = {1, 2.3, 2.3, 2.3, 2.3, 4.9, 4.9, 4.9, 7};
    double fit[9], weight[9];
    int block[9];
    memcpy(fit, y, sizeof y);
    memcpy(weight, w, sizeof w);
    pl_isotonic(9, fit, weight, block);
    for (int i = 0; i < 9; ++i) {
        PL_CHECK_NEAR(fit[i], want[i], 1e-14);
    }

    // a monotone sequence is its own fit, a falling one its mean
    double up[] = {1, 2, 4}, down[] = {3, 2, 1}, one[] = {1, 1, 1}, two[] = {1, 1, 1};
    pl_isotonic(3, up, one, block);
    pl_isotonic(3, down, two, block);
    PL_CHECK_NEAR(up[0] + 10 * up[1] + 100 * up[2], 421, 1e-12);
    PL_CHECK_NEAR(down[0] + 10 * down[1] + 100 * down[2], 222, 1e-12);
}

static void check_branch(const pl_syringe_branch *b, double scale, double tolerance)
{
    assert_true(b->count > 10);
    for (int i = 0; i < b->count; ++i) {
        const double want = 1 + scale * b->pressure[i] / 0.14 * (1 + b->pressure[i] / 0.14);
        if (b->pressure[i] < 0.13) { // the branches meet at the top
            PL_CHECK_NEAR(b->ratio[i], want, tolerance);
        }
        assert_true(i == 0 || (b->pressure[i] > b->pressure[i - 1] && b->ratio[i] >= b->ratio[i - 1]));
    }

    PL_CHECK_NEAR(b->pressure[b->count - 1], 0.14, 1e-9);
}

// A cycle with a little noise: up along one curve, down along another.
static void test_a_cycle_becomes_two_tables(void **state)
{
    (void)state;
    double pressure[81], pushed[81];
    for (int i = 0; i <= 80; ++i) {
        const double g = i <= 40 ? 3.5e-3 * i : 3.5e-3 * (80 - i), scale = i <= 40 ? 0.4 : 0.45;
        const double ratio = 1 + scale * g / 0.14 * (1 + g / 0.14) + 2e-3 * sin(37.0 * i);
        pressure[i] = g + line.ambient;
        pushed[i] = pushed_for(pressure[i], ratio);
    }

    const pl_syringe test = {.count = 81, .pressure = pressure, .pushed = pushed};
    pl_syringe_result result;
    pl_error err = {0};
    PL_CHECK_OK(pl_syringe_fit(&test, &line, &result, &err));
    check_branch(&result.loading, 0.4, 0.01);
    check_branch(&result.unloading, 0.45, 0.01);
    PL_CHECK_BELOW(result.loading.error, 4e-3);
}

// Rows that fall below the rest volume are pooled with it: the table starts at 1 and never falls.
static void test_a_table_never_falls_below_rest(void **state)
{
    (void)state;
    static const double ratio[] = {0.985, 0.99, 1.01, 1.05};
    double pressure[4], pushed[4];
    for (int i = 0; i < 4; ++i) {
        pressure[i] = line.ambient + 1e-3 * (i + 1);
        pushed[i] = pushed_for(pressure[i], ratio[i]);
    }

    const pl_syringe test = {.count = 4, .pressure = pressure, .pushed = pushed};
    pl_syringe_result result;
    pl_error err = {0};
    PL_CHECK_OK(pl_syringe_fit(&test, &line, &result, &err));
    const pl_syringe_branch *b = &result.loading;
    assert_int_equal(b->count, 5);
    PL_CHECK_NEAR(b->pressure[0], 0, 0);
    PL_CHECK_NEAR(b->ratio[0], 1, 1e-12);
    for (int i = 1; i < b->count; ++i) {
        assert_true(b->ratio[i] >= b->ratio[i - 1]);
    }
    PL_CHECK_NEAR(b->ratio[4], 1.05, 1e-9);
}

// Springs in series: the strains of two bars under one force are as their compliances.
static void test_equation_16_is_a_ratio_of_moduli(void **state)
{
    (void)state;
    const double Ea = 7, Eb = 2, L = 90, L1 = 35, pull = 3;
    const double a = L1 / Ea, b = (L - L1) / Eb, moved = pull * a / (a + b);
    PL_CHECK_NEAR(pl_ratio_elasticity(L, L1, pull, moved), Ea / Eb, 1e-12);
    const pl_ratio_test wrong[] = {{80, 90, 4, 1, 1, 0, {0}},
                                   {80, 40, 4, 5, 1, 0, {0}},
                                   {80, 40, -4, 1, 1, 0, {0}},
                                   {80, 40, 4, 1, 1.5, 0, {0}}};
    for (int i = 0; i < 4; ++i) {
        pl_ratio_fit fit;
        pl_error err = {0};
        assert_int_equal(pl_ratio_calibrate(NULL, &wrong[i], &fit, &err), PL_BAD_INPUT);
        assert_non_null(strstr(err.text, "elongation test"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equation_19_undoes_the_gas_law),
        cmocka_unit_test(test_pooling_is_least_squares),
        cmocka_unit_test(test_a_cycle_becomes_two_tables),
        cmocka_unit_test(test_a_table_never_falls_below_rest),
        cmocka_unit_test(test_equation_16_is_a_ratio_of_moduli),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
