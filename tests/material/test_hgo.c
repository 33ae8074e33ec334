// Rubber with fibres: the closed forms are derivatives of the energy of the header, fibres carry tension
// only, special cases, and what cannot be a material is refused by name.
#include <string.h>
#include "check.h"
#include "base/base.h"
#include "material/material.h"
#include "pliant/material.h"

static const pl_material along = {.model = PL_HGO,
                                  .c10 = 0.05,
                                  .k1 = 0.3,
                                  .k2 = 0.8,
                                  .kappa = 0.08,
                                  .fibre = {{3, 0, 0}},
                                  .fibre_count = 1,
                                  .poisson = 0.49};

// W of the header for principal stretches along the axes, incompressible.
static double energy(const pl_material *m, double l1, double l2)
{
    const double l[3] = {l1, l2, 1 / (l1 * l2)};
    const double I1 = l[0] * l[0] + l[1] * l[1] + l[2] * l[2];
    double W = m->c10 * (I1 - 3);

    for (int f = 0; f < m->fibre_count; ++f) {
        double I4 = 0, square = 0;
        for (int i = 0; i < 3; ++i) {
            I4 += m->fibre[f][i] * m->fibre[f][i] * l[i] * l[i];
            square += m->fibre[f][i] * m->fibre[f][i];
        }
        const double E = m->kappa * (I1 - 3) + (1 - 3 * m->kappa) * (I4 / square - 1);
        W += E > 0 ? m->k1 / (2 * m->k2) * (exp(m->k2 * E * E) - 1) : 0;
    }

    return W;
}

static void test_stresses_are_derivatives_of_the_energy(void **state)
{
    (void)state;
    pl_material both = along;
    both.fibre_count = 2;
    both.fibre[1][1] = 2;
    const double h = 1e-5;
    double worst = 0;
    for (double s = 0.613; s < 1.6; s += 0.05) { // not at 1, where fibres begin to pull
        const double bar =
            (energy(&along, s + h, 1 / sqrt(s + h)) - energy(&along, s - h, 1 / sqrt(s - h))) / (2 * h);
        const double biaxial = (energy(&both, s + h, s + h) - energy(&both, s - h, s - h)) / (4 * h);
        const double shear = (energy(&both, s + h, 1) - energy(&both, s - h, 1)) / (2 * h);
        worst = fmax(worst, fabs(bar - pl_material_uniaxial(&along, s)) / (1 + fabs(bar)));
        worst = fmax(worst, fabs(biaxial - pl_material_sheet(&both, s, s)) / (1 + fabs(biaxial)));
        worst = fmax(worst, fabs(shear - pl_material_sheet(&both, s, 1)) / (1 + fabs(shear)));
    }

    print_message("closed forms against differences of the energy: %.2g (allowed 1e-8)\n", worst);
    PL_CHECK_BELOW(worst, 1e-8);
}

// Compressed fibres without dispersion carry nothing; fibres in all directions have no direction.
static void test_special_cases(void **state)
{
    (void)state;
    const pl_material neo = {.model = PL_NEO_HOOKEAN, .c10 = along.c10, .poisson = 0.49};
    pl_material parallel = along, all = along, turned = along;
    parallel.kappa = 0;
    all.kappa = turned.kappa = 1.0 / 3;
    turned.fibre[0][0] = 0;
    turned.fibre[0][1] = 1;
    for (double s = 0.5; s < 1; s += 0.1) {
        PL_CHECK_NEAR(pl_material_uniaxial(&parallel, s), pl_material_uniaxial(&neo, s), 1e-14);
    }
    for (double s = 0.5; s < 2; s += 0.1) {
        PL_CHECK_NEAR(pl_material_sheet(&all, s, 1.1), pl_material_sheet(&turned, s, 1.1), 1e-12);
        assert_true(s <= 1.01 || pl_material_uniaxial(&parallel, s) > pl_material_uniaxial(&neo, s));
    }
}

static void test_check_names_what_is_wrong(void **state)
{
    (void)state;
    pl_material wrong[6];
    const char *says[6] = {"k1 is -1",     "k2 is 0",   "kappa is 0.4",
                           "0 directions", "no length", "takes no fibres"};
    for (int i = 0; i < 6; ++i) {
        wrong[i] = along;
    }
    wrong[0].k1 = -1;
    wrong[1].k2 = 0;
    wrong[2].kappa = 0.4;
    wrong[3].fibre_count = 0;
    wrong[4].fibre[0][0] = 0;
    wrong[5] = (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49, .fibre_count = 1};
    for (int i = 0; i < 6; ++i) {
        pl_error err = {0};
        assert_int_equal(pl_material_check(&wrong[i], "skin", &err), PL_BAD_INPUT);
        if (!strstr(err.text, says[i]) || !strstr(err.text, "'skin'")) {
            print_error("'%s' does not say '%s'\n", err.text, says[i]);
            fail();
        }
    }

    pl_error err = {0};
    PL_CHECK_OK(pl_material_check(&along, "skin", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stresses_are_derivatives_of_the_energy),
        cmocka_unit_test(test_special_cases),
        cmocka_unit_test(test_check_names_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
