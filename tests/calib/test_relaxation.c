// Laws of the relaxation fit: branches come back from the stress they make, at a sudden strain and at a ramp
// of finite time; weights that noise hides lie within their intervals; no weight is negative.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "pliant/calib.h"

#define ROWS 400

static const double tau[3] = {0.1, 1, 10}, g[3] = {0.2, 0.05, 0.12};

// Rows equally spaced in log t from 0.01 to 60 s; ramp: the strain rises to 0.5 within that time.
static void test_make(double ramp, double noise, double *time, double *strain, double *stress)
{
    unsigned seed = 7;
    for (int k = 0; k < ROWS; ++k) {
        const double t = k == 0 ? 0 : 0.005 * pow(12000, (double)k / (ROWS - 1));
        time[k] = t;
        const double e = ramp > 0 ? 0.5 * fmin(1, t / ramp) : 0.5;
        strain[k] = e;
        double sum = e;
        for (int i = 0; i < 3; ++i) {
            // int exp(-(t - s) / tau) e'(s) ds
            const double up = ramp > 0 ? fmin(t, ramp) : 0;
            sum += g[i] * (ramp > 0 ? 0.5 / ramp * tau[i] * (exp(-(t - up) / tau[i]) - exp(-t / tau[i]))
                                    : 0.5 * exp(-t / tau[i]));
        }
        double random = 0;
        for (int i = 0; i < 12; ++i) {
            seed = seed * 1664525u + 1013904223u;
            random += (double)(seed >> 8) / (1 << 24) - 0.5;
        }
        stress[k] = 0.3 * (sum + noise * random);
    }
}

static void test_comes_back(void **state)
{
    (void)state;
    double time[ROWS], strain[ROWS], stress[ROWS];
    for (int c = 0; c < 2; ++c) {
        test_make(c ? 0.35 : 0, 0, time, strain, stress);
        // a corner of the strain between two rows would be cut
        for (int k = 1; c && k < ROWS; ++k) {
            if (time[k] > 0.35 && time[k - 1] < 0.35) {
                time[k] = 0.35;
                double sum = 0.5;
                for (int i = 0; i < 3; ++i) {
                    sum += g[i] * 0.5 / 0.35 * tau[i] * (1 - exp(-0.35 / tau[i]));
                }
                strain[k] = 0.5;
                stress[k] = 0.3 * sum;
            }
        }
        const pl_relaxation test = {.count = ROWS, .time = time, .strain = strain, .stress = stress};
        pl_relaxation_fit fit;
        pl_error err = {0};
        PL_CHECK_OK(pl_relaxation_calibrate(&test, tau, 3, &fit, &err));
        PL_CHECK_NEAR(fit.modulus, 0.3, 1e-6);
        for (int i = 0; i < 3; ++i) {
            PL_CHECK_NEAR(fit.g[i], g[i], 1e-5);
        }
        for (int k = 0; k < ROWS; k += 37) {
            PL_CHECK_NEAR(pl_relaxation_stress(&test, &fit, k), stress[k], 1e-6);
        }
    }
}

// Times that the test chooses itself follow its stress.
static void test_own_times(void **state)
{
    (void)state;
    double time[ROWS], strain[ROWS], stress[ROWS];
    test_make(0, 0, time, strain, stress);
    const pl_relaxation test = {.count = ROWS, .time = time, .stress = stress};
    pl_relaxation_fit fit;
    pl_error err = {0};
    PL_CHECK_OK(pl_relaxation_calibrate(&test, NULL, 0, &fit, &err));
    print_message("%d branches, rms %.2e of the largest stress\n", fit.count, fit.error);
    for (int i = 0; i < fit.count; ++i) {
        assert_true(fit.g[i] >= 0);
    }
    PL_CHECK_BELOW(fit.error, 5e-3);
    PL_CHECK_NEAR(fit.modulus, 0.15, 0.15 * 0.01);
}

// With noise: the true weights lie within the intervals, which shrink with the noise.
static void test_intervals(void **state)
{
    (void)state;
    double time[ROWS], strain[ROWS], stress[ROWS], width[2];
    for (int c = 0; c < 2; ++c) {
        test_make(0, c ? 0.002 : 0.01, time, strain, stress);
        const pl_relaxation test = {.count = ROWS, .time = time, .strain = strain, .stress = stress};
        pl_relaxation_fit fit;
        pl_error err = {0};
        PL_CHECK_OK(pl_relaxation_calibrate(&test, tau, 3, &fit, &err));
        for (int i = 0; i < 3; ++i) {
            print_message("noise %g: g %.4f +- %.4f, true %.4f\n", c ? 0.002 : 0.01, fit.g[i],
                          fit.half_width[i], g[i]);
            PL_CHECK_BELOW(fabs(fit.g[i] - g[i]), 1.5 * fit.half_width[i]);
        }
        width[c] = fit.half_width[2];
    }

    PL_CHECK_NEAR(width[1] / width[0], 0.2, 0.05);
}

static void test_refusals(void **state)
{
    (void)state;
    double time[ROWS], strain[ROWS], stress[ROWS];
    pl_relaxation_fit fit;
    pl_error err = {0};
    test_make(0, 0, time, strain, stress);
    pl_relaxation test = {.count = 3, .time = time, .stress = stress};
    assert_int_equal(pl_relaxation_calibrate(&test, NULL, 0, &fit, &err), PL_BAD_INPUT);
    test.count = ROWS;
    time[5] = time[4];
    assert_int_equal(pl_relaxation_calibrate(&test, NULL, 0, &fit, &err), PL_BAD_INPUT);
    test_make(0, 0, time, strain, stress);
    for (int k = 0; k < ROWS; ++k) {
        stress[k] = -stress[k];
    }
    assert_int_equal(pl_relaxation_calibrate(&test, NULL, 0, &fit, &err), PL_BAD_INPUT);
}

// A stress that rises or stays while the strain is held says nothing of relaxation: no branch is made up.
static void test_a_rising_stress_is_refused(void **state)
{
    (void)state;
    double time[ROWS], strain[ROWS], stress[ROWS];
    for (int kind = 0; kind < 6; ++kind) {
        test_make(kind % 2 ? 0.35 : 0, kind / 2 == 2 ? 0.1 : 0, time, strain, stress);
        for (int k = 0; k < ROWS; ++k) {
            const double rest = 0.3 * strain[k];
            // mirrored about the long-term stress, constant, or mirrored with noise
            stress[k] = kind / 2 == 1 ? rest : 2 * rest - stress[k];
        }
        const pl_relaxation test = {.count = ROWS, .time = time, .strain = strain, .stress = stress};
        pl_relaxation_fit fit;
        pl_error err = {0};
        assert_int_equal(pl_relaxation_calibrate(&test, NULL, 0, &fit, &err), PL_BAD_INPUT);
        assert_non_null(strstr(err.text, "expected a stress that falls"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_comes_back), cmocka_unit_test(test_own_times),
                                       cmocka_unit_test(test_intervals), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_a_rising_stress_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
