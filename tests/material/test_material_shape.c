// Laws of the shape parameter: both ways to (E, nu), and the uniaxial curve of a rubber law met by the
// element that carries the fitted R(strain).
#include "base/base.h"
#include "check.h"
#include "material/material.h"
#include "pliant/material.h"

// (w, R) -> (E, nu) -> (w, R) is the identity, and the moduli are mu = w R, lambda = 2 w (1 - R) / 3.
static void test_both_ways(void **state)
{
    (void)state;
    for (int i = 1; i <= 10; ++i) {
        const double R = 0.1 * i, w = 0.3 * i;
        pl_material m = {.model = PL_LINEAR};
        double mu, lambda, w2, R2;
        pl_shape_to_elastic(w, R, &m.young, &m.poisson);
        pl_material_moduli(&m, &mu, &lambda);
        PL_CHECK_NEAR(mu, w * R, 1e-14 * w);
        PL_CHECK_NEAR(lambda, 2 * w * (1 - R) / 3, 1e-14 * w);
        pl_shape_from_elastic(m.young, m.poisson, &w2, &R2);
        PL_CHECK_NEAR(w2, w, 1e-13 * w);
        PL_CHECK_NEAR(R2, R, 1e-14);
    }
}

// The nearest to diag(l, t, t) of determinant 1, diag(v, v^(-1/2), v^(-1/2)): the least distance by bisection
// of its slope.
static double nearest(double l, double t)
{
    double low = 0.1, high = 20;
    for (int i = 0; i < 100; ++i) {
        const double v = 0.5 * (low + high), slope = (v - l) - (1 / sqrt(v) - t) * pow(v, -1.5);
        if (slope > 0) {
            high = v;
        } else {
            low = v;
        }
    }

    return 0.5 * (low + high);
}

// The element F = diag(l, t, t) with T = R + (1 - R) V: lateral stress 2 w (t - T_t) = 0 gives t, axial
// stress 2 w (l - T_l) is the law's.
static void check_curve(const pl_material *m, double strain_high)
{
    pl_shape_curve c;
    pl_error err = {0};

    PL_CHECK_OK(pl_shape_curve_fit(m, strain_high, &c, &err));
    double worst = 0;
    for (int i = 1; i <= 40; ++i) {
        const double l = 1 + strain_high * i / 40.0;
        // fixed point for t: R depends on it through I1bar
        double t = 1 / sqrt(l), axial = 0;
        for (int k = 0; k < 200; ++k) {
            const double J = l * t * t;
            const double R = pl_shape_curve_at(&c, (l * l + 2 * t * t) / cbrt(J * J));
            const double v = nearest(l, t);
            axial = 2 * c.weight * (l - R - (1 - R) * v);
            t = R + (1 - R) / sqrt(v);
        }
        worst = fmax(worst, fabs(axial / pl_material_uniaxial(m, l) - 1));
    }

    PL_CHECK_NEAR(worst, 0, 2e-3);
}

static void test_uniaxial_curve(void **state)
{
    (void)state;
    const pl_material mooney = {.model = PL_MOONEY_RIVLIN, .c10 = 0.08, .c01 = 0.03, .poisson = 0.49};
    const pl_material yeoh = {.model = PL_YEOH, .c10 = 0.0083, .c20 = 7.4e-5, .c30 = 4.4e-8, .poisson = 0.49};
    check_curve(&mooney, 1.0);
    check_curve(&yeoh, 3.0);
}

static void test_refusals(void **state)
{
    (void)state;
    pl_shape_curve c;
    pl_error err = {0};
    const pl_material linear = {.model = PL_LINEAR, .young = 1, .poisson = 0.3};
    const pl_material neo = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49};
    assert_int_equal(pl_shape_curve_fit(&linear, 1, &c, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "linear"));
    assert_int_equal(pl_shape_curve_fit(&neo, -1, &c, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "strain_high"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_uniaxial_curve),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
