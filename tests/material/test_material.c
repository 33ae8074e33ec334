// Laws of the materials: stress is the derivative of the energy, moduli agree with the slope at rest, and
// what cannot be a material is refused with a sentence that names the constant.
#include <string.h>
#include "check.h"
#include "base/base.h"
#include "material/material.h"
#include "pliant/material.h"

static const pl_material steelish = {.model = PL_LINEAR, .young = 200, .poisson = 0.3};
static const pl_material neo = {.model = PL_NEO_HOOKEAN, .c10 = 0.05, .poisson = 0.49};
static const pl_material mooney = {.model = PL_MOONEY_RIVLIN, .c10 = 0.0418, .c01 = 0.0106, .poisson = 0.49};
static const pl_material gent = {.model = PL_GENT, .mu = 0.1, .jm = 40, .poisson = 0.49};
static const pl_material ogden = {
    .model = PL_OGDEN, .ogden_mu = {0.08, 0.002, -0.01}, .ogden_alpha = {1.3, 5, -2}, .poisson = 0.49};
static const pl_material yeoh = {.model = PL_YEOH, .c10 = 0.11, .c20 = 0.02, .c30 = -1e-4, .bulk = 30};

// W of the header along (s, s^-1/2, s^-1/2), with invariants taken from the stretches themselves.
static double energy_uniaxial(const pl_material *m, double s)
{
    const double a = s * s, b = 1 / s, I1 = a + 2 * b, I2 = 2 * a * b + b * b, e = I1 - 3;
    if (m->model == PL_GENT) {
        return -0.5 * m->mu * m->jm * log(1 - e / m->jm);
    }

    if (m->model == PL_OGDEN) {
        double W = 0;
        for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
            const double alpha = m->ogden_alpha[k];
            W += 2 * m->ogden_mu[k] / (alpha * alpha) * (pow(s, alpha) + 2 * pow(s, -alpha / 2) - 3);
        }
        return W;
    }

    return m->c10 * e + m->c01 * (I2 - 3) + m->c20 * e * e + m->c30 * e * e * e;
}

// The engineering stress of a tensile test is dW/ds; the error of a central difference falls with h^2.
static void test_uniaxial_is_the_derivative_of_the_energy(void **state)
{
    (void)state;
    const pl_material *laws[] = {&neo, &mooney, &yeoh, &gent, &ogden};
    for (int i = 0; i < PL_COUNT(laws); ++i) {
        for (double s = 0.5; s < 4; s += 0.1) {
            double error[2];
            for (int k = 0; k < 2; ++k) {
                const double h = k == 0 ? 2e-3 : 1e-3;
                const double slope =
                    (energy_uniaxial(laws[i], s + h) - energy_uniaxial(laws[i], s - h)) / (2 * h);
                error[k] = fabs(slope - pl_material_uniaxial(laws[i], s));
            }
            PL_CHECK_BELOW(error[1], 1e-4);
            PL_CHECK_BELOW(error[1], 0.27 * error[0] + 1e-12);
        }
    }
}

// At rest there is no stress, and an incompressible law has Young's modulus 3 mu.
static void test_slope_at_rest_is_three_mu(void **state)
{
    (void)state;
    const pl_material *laws[] = {&neo, &mooney, &yeoh, &gent, &ogden};
    for (int i = 0; i < PL_COUNT(laws); ++i) {
        double mu, kappa;
        pl_material_moduli(laws[i], &mu, &kappa);
        const double h = 1e-5;
        const double slope =
            (pl_material_uniaxial(laws[i], 1 + h) - pl_material_uniaxial(laws[i], 1 - h)) / (2 * h);
        PL_CHECK_NEAR(pl_material_uniaxial(laws[i], 1), 0, 1e-15);
        PL_CHECK_NEAR(slope, 3 * mu, 1e-8);
    }
}

// ogden with the exponents 2 and -2 is mooney_rivlin, and gent without a limit is neo_hookean: in tension,
// pure shear and equal biaxial stretch. A gent sheet cannot be stretched beyond its limit.
static void test_special_cases_of_gent_and_ogden(void **state)
{
    (void)state;
    const pl_material as_mooney = {
        .model = PL_OGDEN, .ogden_mu = {2 * 0.0418, 2 * 0.0106}, .ogden_alpha = {2, -2}, .poisson = 0.49};
    const pl_material as_neo = {.model = PL_GENT, .mu = 0.1, .jm = 1e9, .poisson = 0.49};
    for (double s = 0.5; s < 4; s += 0.25) {
        const double across[3] = {1 / sqrt(s), 1, s};
        for (int k = 0; k < 3; ++k) {
            PL_CHECK_NEAR(pl_material_sheet(&as_mooney, s, across[k]),
                          pl_material_sheet(&mooney, s, across[k]), 1e-12);
            PL_CHECK_NEAR(pl_material_sheet(&as_neo, s, across[k]), pl_material_sheet(&neo, s, across[k]),
                          1e-6);
        }
        PL_CHECK_NEAR(pl_material_uniaxial(&mooney, s), pl_material_sheet(&mooney, s, across[0]), 1e-14);
    }

    assert_true(isinf(pl_material_sheet(&gent, 7, 1)));
    assert_true(isfinite(pl_material_sheet(&gent, 6, 1)));
}

// Young's modulus and Poisson's ratio come back from the moduli: E = 9 K mu / (3 K + mu), K = lambda + 2 mu
// / 3.
static void test_moduli_agree_with_young_and_poisson(void **state)
{
    (void)state;
    for (double nu = -0.5; nu < 0.4999; nu += 0.0499) {
        pl_material m = steelish;
        m.poisson = nu;
        double mu, lambda;
        pl_material_moduli(&m, &mu, &lambda);
        const double K = lambda + 2 * mu / 3;
        PL_CHECK_NEAR(9 * K * mu / (3 * K + mu), 200, 1e-9);
        PL_CHECK_NEAR((3 * K - 2 * mu) / (2 * (3 * K + mu)), nu, 1e-12);

        pl_material r = mooney;
        r.poisson = nu;
        pl_material_moduli(&r, &mu, &lambda);
        PL_CHECK_NEAR(mu, 2 * (0.0418 + 0.0106), 1e-15);
        PL_CHECK_NEAR((3 * lambda - 2 * mu) / (2 * (3 * lambda + mu)), nu, 1e-12);
    }

    double mu, kappa;
    pl_material_moduli(&yeoh, &mu, &kappa);
    PL_CHECK_NEAR(kappa, 30, 0);
    PL_CHECK_NEAR(pl_material_uniaxial(&steelish, 1.02), 4, 1e-12);
}

// Each constant has its own place and name, and a law takes at least a stiffness, poisson and a density.
static void test_constants_have_names_and_places(void **state)
{
    (void)state;
    pl_material m = {0};
    for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
        *pl_material_at(&m, (pl_material_constant)c) = c + 1;
        for (int d = 0; d < c; ++d) {
            assert_string_not_equal(pl_material_constant_name((pl_material_constant)c),
                                    pl_material_constant_name((pl_material_constant)d));
            PL_CHECK_NEAR(*pl_material_at(&m, (pl_material_constant)d), d + 1, 0);
        }
    }

    assert_null(pl_material_at(&m, PL_MATERIAL_CONSTANT_COUNT));
    for (int k = 0; k < PL_MATERIAL_MODEL_COUNT; ++k) {
        const pl_material_model model = (pl_material_model)k;
        assert_true(pl_material_has(model, PL_YOUNG) != pl_material_is_rubber(model));
        assert_true(pl_material_has(model, PL_POISSON) && pl_material_has(model, PL_DENSITY));
    }

    assert_true(pl_material_has(PL_YEOH, PL_C30) && !pl_material_has(PL_YEOH, PL_C01));
    assert_false(pl_material_has((pl_material_model)99, PL_C10));
    assert_string_equal(pl_material_model_name(PL_MOONEY_RIVLIN), "mooney_rivlin");
    assert_string_equal(pl_material_model_name((pl_material_model)99), "unknown");
}

// A wrong constant is refused with the name of the material and of the constant.
static void test_check_names_what_is_wrong(void **state)
{
    (void)state;
    const struct {
        pl_material material;
        const char *says;
    } wrong[] = {
        {{.model = PL_LINEAR, .poisson = 0.3}, "young is 0 MPa"},
        {{.model = PL_STVK, .young = -2, .poisson = 0.3}, "young is -2 MPa"},
        {{.model = PL_GENT, .jm = 30, .poisson = 0.49}, "mu is 0 MPa"},
        {{.model = PL_GENT, .mu = 1, .jm = -3, .poisson = 0.49}, "jm is -3"},
        {{.model = PL_OGDEN, .ogden_mu = {0.1, 0.2}, .ogden_alpha = {2}, .poisson = 0.49}, "alpha2 is 0"},
        {{.model = PL_OGDEN, .ogden_mu = {0.1, -0.2}, .ogden_alpha = {2, 3}, .poisson = 0.49},
         "mu1 + mu2 + mu3 is -0.1 MPa"},
        {{.model = PL_LINEAR, .young = 1, .poisson = 0.5}, "poisson is 0.5"},
        {{.model = PL_LINEAR, .young = 1, .poisson = -1}, "poisson is -1"},
        {{.model = PL_LINEAR, .young = 1, .poisson = NAN}, "poisson is nan"},
        {{.model = PL_LINEAR, .young = INFINITY, .poisson = 0.3}, "young is inf"},
        {{.model = PL_LINEAR, .young = 1, .poisson = 0.3, .bulk = 3}, "takes no bulk"},
        {{.model = PL_LINEAR, .young = 1, .poisson = 0.3, .density = -1}, "density is -1"},
        {{.model = PL_NEO_HOOKEAN, .poisson = 0.49}, "c10 is 0 MPa"},
        {{.model = PL_NEO_HOOKEAN, .c10 = 1, .poisson = 0.6}, "poisson is 0.6"},
        {{.model = PL_NEO_HOOKEAN, .c10 = 1, .bulk = -1}, "bulk is -1 MPa"},
        {{.model = PL_NEO_HOOKEAN, .c10 = 1e308, .poisson = 0.49}, "finite"},
        {{.model = PL_MOONEY_RIVLIN, .c10 = 0.1, .c01 = -0.1, .poisson = 0.49}, "c10 + c01 is 0"},
        {{.model = PL_YEOH, .c10 = 0.1, .c01 = 0.1, .poisson = 0.49}, "takes no c01"},
        {{.model = (pl_material_model)9, .c10 = 0.1}, "model is 9"},
        {{.model = PL_YEOH, .formulation = (pl_formulation)5, .c10 = 0.1}, "formulation is 5"},
    };
    for (int i = 0; i < PL_COUNT(wrong); ++i) {
        pl_error err = {0};
        assert_int_equal(pl_material_check(&wrong[i].material, "skin", &err), PL_BAD_INPUT);
        if (!strstr(err.text, wrong[i].says) || !strstr(err.text, "'skin'")) {
            print_error("case %d: '%s' does not say '%s'\n", i, err.text, wrong[i].says);
            fail();
        }
        assert_int_equal(pl_material_check(&wrong[i].material, "skin", NULL), PL_BAD_INPUT);
    }

    const pl_material *right[] = {&steelish, &neo, &mooney, &yeoh};
    for (int i = 0; i < PL_COUNT(right); ++i) {
        pl_error err = {0};
        PL_CHECK_OK(pl_material_check(right[i], "skin", &err));
    }
}

// Every entry is a material, has a source, is found by its own name alone, and never softens:
// stress grows with stretch from 0.5 to the end of its range (to 1.0 of strain where the source states none).
static void test_library_entries_are_sound(void **state)
{
    (void)state;
    assert_true(pl_material_library_count() >= 22);
    for (int i = 0; i < pl_material_library_count(); ++i) {
        const pl_material_entry *entry = pl_material_library_at(i);
        pl_error err = {0};
        PL_CHECK_OK(pl_material_check(&entry->material, entry->name, &err));
        assert_ptr_equal(pl_material_library_find(entry->name), entry);
        assert_true(strlen(entry->title) > 0 && strlen(entry->source) > 0);
        assert_true(entry->material.density > 0.5e-9 && entry->material.density < 2e-9);
        assert_true(entry->strain_high >= entry->strain_low && entry->fit_error < 0.04);
        assert_true((entry->fit_error >= 0) == (entry->strain_high > 0));

        const double high = 1 + (entry->strain_high > 0 ? entry->strain_high : 1.0);
        double before = -INFINITY;
        for (int k = 0; k <= 1000; ++k) {
            const double stress = pl_material_uniaxial(&entry->material, 0.5 + (high - 0.5) * k / 1000);
            if (!(stress > before)) {
                print_error("%s softens at stretch %g\n", entry->name, 0.5 + (high - 0.5) * k / 1000);
                fail();
            }
            before = stress;
        }
    }

    assert_null(pl_material_library_find("unobtainium"));
    assert_null(pl_material_library_find(NULL));
    assert_null(pl_material_library_at(-1));
    assert_null(pl_material_library_at(pl_material_library_count()));
}

// The constants the papers print are in the library, digit for digit.
static void test_library_holds_the_published_constants(void **state)
{
    (void)state;
    const pl_material *ecoflex = &pl_material_library_find("ecoflex_00_30_fang")->material;
    const pl_material *dragon = &pl_material_library_find("dragon_skin_20_fang")->material;
    const pl_material *elastosil = &pl_material_library_find("elastosil_m4601")->material;
    PL_CHECK_NEAR(ecoflex->c10, 0.0418, 0);
    PL_CHECK_NEAR(ecoflex->c01, 0.0106, 0);
    PL_CHECK_NEAR(dragon->c10, 0.119, 0);
    PL_CHECK_NEAR(dragon->c01, 0.023, 0);
    PL_CHECK_NEAR(elastosil->c10, 0.11, 0);
    PL_CHECK_NEAR(elastosil->c20, 0.02, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniaxial_is_the_derivative_of_the_energy),
        cmocka_unit_test(test_special_cases_of_gent_and_ogden),
        cmocka_unit_test(test_slope_at_rest_is_three_mu),
        cmocka_unit_test(test_moduli_agree_with_young_and_poisson),
        cmocka_unit_test(test_constants_have_names_and_places),
        cmocka_unit_test(test_check_names_what_is_wrong),
        cmocka_unit_test(test_library_entries_are_sound),
        cmocka_unit_test(test_library_holds_the_published_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
