// Fits: constants come back from their own curves, an unstable fit is replaced by a stable one that is
// optimal among those with constants >= 0, and what cannot be fitted is refused.
#include <string.h>
#include "check.h"
#include "base/base.h"
#include "pliant/calib.h"

#define SAMPLES 120
static double strain[SAMPLES], stress[SAMPLES];

// The curve of a material, unevenly sampled up to `high`, with a wave of relative height `noise`.
static pl_tensile curve(const pl_material *material, double high, double noise)
{
    for (int i = 0; i < SAMPLES; ++i) {
        const double t = (i + 1.0) / SAMPLES;
        strain[i] = high * t * t;
        stress[i] = pl_material_tensile(material, 1 + strain[i]) * (1 + noise * sin(40 * t));
    }
    return (pl_tensile){.strain = strain, .stress = stress, .count = SAMPLES};
}

// A fit of a law's own curve finds the constants to 1e-8, over small and large ranges.
static void test_fit_recovers_constants(void **state)
{
    (void)state;
    const pl_material laws[] = {
        {.model = PL_LINEAR, .young = 3.5, .poisson = PL_POISSON_DEFAULT},
        {.model = PL_NEO_HOOKEAN, .c10 = 0.05, .poisson = PL_POISSON_DEFAULT},
        {.model = PL_MOONEY_RIVLIN, .c10 = 0.0418, .c01 = 0.0106, .poisson = PL_POISSON_DEFAULT},
        {.model = PL_YEOH, .c10 = 0.0083, .c20 = 7.4e-5, .c30 = 4.4e-8, .poisson = PL_POISSON_DEFAULT},
        {.model = PL_YEOH, .c10 = 0.11, .c20 = 0.02, .poisson = PL_POISSON_DEFAULT},
    };
    const double highs[] = {0.5, 1.5, 8};
    for (int i = 0; i < PL_COUNT(laws); ++i) {
        for (int k = 0; k < PL_COUNT(highs); ++k) {
            const pl_tensile test = curve(&laws[i], highs[k], 0);
            pl_material want = laws[i];
            pl_tensile_fit fit;
            pl_error err = {0};
            PL_CHECK_OK(pl_tensile_fit_model(&test, want.model, 0, &fit, &err));
            const double scale = fmax(want.young, want.c10);
            for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
                PL_CHECK_NEAR(*pl_material_at(&fit.material, (pl_material_constant)c),
                              *pl_material_at(&want, (pl_material_constant)c), 1e-8 * scale);
            }
            assert_true(fit.stable);
            PL_CHECK_BELOW(fit.error, 1e-10);
            PL_CHECK_NEAR(fit.strain_high, highs[k], 1e-12);
            PL_CHECK_NEAR(fit.strain_low, highs[k] / (SAMPLES * SAMPLES), 1e-12);
        }
    }
}

// The constants in which the stress is not linear come back too: the limit of gent, and the curve of an ogden
// law of two terms to a hundred-thousandth (its constants are not unique to that accuracy).
static void test_fit_recovers_gent_and_ogden(void **state)
{
    (void)state;
    const pl_material gent = {.model = PL_GENT, .mu = 0.08, .jm = 35, .poisson = PL_POISSON_DEFAULT};
    const pl_material single = {
        .model = PL_OGDEN, .ogden_mu = {0.05}, .ogden_alpha = {3.2}, .poisson = PL_POISSON_DEFAULT};
    const pl_material twofold = {
        .model = PL_OGDEN, .ogden_mu = {0.05, 0.002}, .ogden_alpha = {1.6, 7}, .poisson = PL_POISSON_DEFAULT};
    pl_tensile_fit fit;
    pl_error err = {0};
    pl_tensile test = curve(&gent, 3, 0);
    PL_CHECK_OK(pl_tensile_fit_model(&test, PL_GENT, 0, &fit, &err));
    PL_CHECK_NEAR(fit.material.mu, 0.08, 1e-7);
    PL_CHECK_NEAR(fit.material.jm, 35, 1e-4);
    test = curve(&single, 3, 0);
    PL_CHECK_OK(pl_tensile_fit_model(&test, PL_OGDEN, 0, &fit, &err));
    PL_CHECK_NEAR(fit.material.ogden_mu[0], 0.05, 1e-6);
    PL_CHECK_NEAR(fit.material.ogden_alpha[0], 3.2, 1e-4);
    PL_CHECK_NEAR(fit.material.ogden_alpha[1], 0, 0);
    test = curve(&twofold, 3, 0);
    PL_CHECK_OK(pl_tensile_fit_model(&test, PL_OGDEN, 0, &fit, &err));
    printf("two terms: error %.2g, mu %g %g, alpha %g %g\n", fit.error, fit.material.ogden_mu[0],
           fit.material.ogden_mu[1], fit.material.ogden_alpha[0], fit.material.ogden_alpha[1]);
    PL_CHECK_BELOW(fit.error, 1e-5);
    assert_true(fit.stable);
}

// Only samples up to strain_high count: a curve that leaves the law beyond it does not disturb the fit.
static void test_range_is_kept(void **state)
{
    (void)state;
    const pl_material neo = {.model = PL_NEO_HOOKEAN, .c10 = 0.05, .poisson = PL_POISSON_DEFAULT};
    const pl_tensile test = curve(&neo, 4, 0);
    for (int i = 0; i < SAMPLES; ++i) {
        stress[i] += strain[i] > 1 ? 5 : 0;
    }

    pl_tensile_fit fit;
    pl_error err = {0};
    PL_CHECK_OK(pl_tensile_fit_model(&test, PL_NEO_HOOKEAN, 1, &fit, &err));
    PL_CHECK_NEAR(fit.material.c10, 0.05, 1e-12);
    PL_CHECK_BELOW(fit.strain_high, 1);
    PL_CHECK_OK(pl_tensile_fit_model(&test, PL_NEO_HOOKEAN, 0, &fit, &err));
    assert_true(fit.material.c10 > 0.1 && fit.error > 0.05);
}

// The weighted sum the fit minimises, written out again.
static double weighted_sum(const pl_tensile *test, const pl_material *material)
{
    double largest = 0, sum = 0;
    for (int i = 0; i < test->count; ++i) {
        largest = fmax(largest, fabs(test->stress[i]));
    }

    for (int i = 0; i < test->count; ++i) {
        const double left = test->strain[i > 0 ? i - 1 : 0];
        const double right = test->strain[i + 1 < test->count ? i + 1 : i];
        const double e = (pl_material_tensile(material, 1 + test->strain[i]) - test->stress[i]) /
                         fmax(fabs(test->stress[i]), 0.1 * largest);
        sum += 0.5 * (right - left) * e * e;
    }

    return sum;
}

// No nearby constants do better; for a curve that softens, none among constants >= 0, and the law stays
// stable.
static void test_fit_is_optimal(void **state)
{
    (void)state;
    const pl_material soft = {
        .model = PL_YEOH, .c10 = 0.05, .c20 = -0.002, .c30 = -1e-4, .poisson = PL_POISSON_DEFAULT};
    const pl_material hard = {
        .model = PL_YEOH, .c10 = 0.05, .c20 = 0.002, .c30 = 1e-4, .poisson = PL_POISSON_DEFAULT};
    const pl_material_model models[] = {PL_NEO_HOOKEAN, PL_MOONEY_RIVLIN, PL_YEOH};
    for (int k = 0; k < 2 * PL_COUNT(models); ++k) {
        const bool softens = k % 2;
        const pl_tensile test = curve(softens ? &soft : &hard, 1.6, 0.03);
        pl_tensile_fit fit;
        pl_error err = {0};
        PL_CHECK_OK(pl_tensile_fit_model(&test, models[k / 2], 0, &fit, &err));
        assert_true(fit.stable);
        const double best = weighted_sum(&test, &fit.material);
        const bool bounded = fit.material.c01 == 0 || fit.material.c30 == 0;
        for (int c = PL_C10; c <= PL_C30; ++c) {
            for (int sign = -1; sign <= 1 && pl_material_has(models[k / 2], (pl_material_constant)c);
                 sign += 2) {
                pl_material other = fit.material;
                double *value = pl_material_at(&other, (pl_material_constant)c);
                *value += sign * 1e-4 * fmax(fabs(*value), 1e-4);
                if (*value >= 0 || !bounded) {
                    assert_true(weighted_sum(&test, &other) >= best);
                }
            }
        }
    }
}

// A curve whose free Yeoh fit softens inside the range must come back with constants >= 0.
static void test_unstable_fit_is_replaced(void **state)
{
    (void)state;
    const pl_material falls = {
        .model = PL_YEOH, .c10 = 0.05, .c20 = 0.0, .c30 = -0.001, .poisson = PL_POISSON_DEFAULT};
    const pl_tensile test = curve(&falls, 1.8, 0);
    pl_tensile_fit fit;
    pl_error err = {0};
    PL_CHECK_OK(pl_tensile_fit_model(&test, PL_YEOH, 0, &fit, &err));
    assert_true(fit.stable && fit.material.c10 > 0 && fit.material.c20 >= 0 && fit.material.c30 >= 0);
    assert_true(fit.error > 0.02);

    // stable in tension alone is not enough: with C01 < 0 a balloon of this Mooney-Rivlin law would collapse
    const pl_material balloon = {
        .model = PL_MOONEY_RIVLIN, .c10 = 0.1, .c01 = -0.03, .poisson = PL_POISSON_DEFAULT};
    const pl_tensile pull = curve(&balloon, 2.5, 0);
    PL_CHECK_OK(pl_tensile_fit_model(&pull, PL_MOONEY_RIVLIN, 0, &fit, &err));
    assert_true(fit.stable && fit.material.c01 >= 0);
}

// What cannot be fitted is refused with a sentence.
static void test_wrong_fits_are_refused(void **state)
{
    (void)state;
    const pl_material neo = {.model = PL_NEO_HOOKEAN, .c10 = 0.05, .poisson = PL_POISSON_DEFAULT};
    pl_tensile test = curve(&neo, 2, 0);
    pl_tensile_fit fit;
    pl_error err = {0};
    assert_int_equal(pl_tensile_fit_model(&test, PL_STVK, 0, &fit, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "stvk"));
    assert_int_equal(pl_tensile_fit_model(&test, (pl_material_model)44, 0, &fit, &err), PL_BAD_INPUT);
    assert_int_equal(pl_tensile_fit_model(&test, PL_YEOH, -1, &fit, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "strain_high is -1"));
    assert_int_equal(pl_tensile_fit_model(&test, PL_YEOH, NAN, &fit, &err), PL_BAD_INPUT);
    assert_int_equal(pl_tensile_fit_model(&test, PL_YEOH, 1e-4, &fit, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "expected at least 3"));

    const double kept = stress[5];
    stress[5] = NAN;
    assert_int_equal(pl_tensile_fit_model(&test, PL_YEOH, 0, &fit, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "sample 5"));
    stress[5] = kept;
    for (int i = 0; i < SAMPLES; ++i) {
        stress[i] = -stress[i];
    }
    assert_int_equal(pl_tensile_fit_model(&test, PL_YEOH, 0, &fit, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "increases with strain"));
    memset(stress, 0, sizeof stress);
    assert_int_equal(pl_tensile_fit_model(&test, PL_YEOH, 0, &fit, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "every stress"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit_recovers_constants),
        cmocka_unit_test(test_fit_recovers_gent_and_ogden),
        cmocka_unit_test(test_range_is_kept),
        cmocka_unit_test(test_fit_is_optimal),
        cmocka_unit_test(test_unstable_fit_is_replaced),
        cmocka_unit_test(test_wrong_fits_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
