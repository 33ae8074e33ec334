// The constants of a law in the form the kernels want, and the law that is its derivative with respect to a
// constant: every stress is linear in all of them but the exponents of ogden and the limit of gent, whose
// derivatives the kernels know.
#include "base/base.h"
#include "material/material.h"
#include "material/material_table.h"

void pl_law_constants(pl_law *law, const pl_material *m)
{
    // mu, kappa and how the dilatation is treated are the element's
    *law = (pl_law){.model = m->model, .mixed = law->mixed, .mu = law->mu, .kappa = law->kappa};
    const pl_material_row *row = pl_material_row_of(m->model);
    law->kernel = row->kernel;
    row->constants(m, law);
    law->mullins_r = m->mullins_r;
    law->mullins_m = m->mullins_m;
    law->mullins_beta = m->mullins_beta;
    law->factor = 1;
}

// d/dalpha of c (t_i - S/3), c = 2 mu / alpha:  -c / alpha (t_i - S/3) + c (ln(l_i) t_i - sum ln(l_j) t_j /
// 3).
static void ogden_derivative(pl_law *law, pl_material_constant constant)
{
    for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
        const double c = law->ogden[k], alpha = law->alpha[k];
        const bool by_mu = constant == (pl_material_constant)(PL_MU1 + 2 * k);
        const bool by_alpha = constant == (pl_material_constant)(PL_ALPHA1 + 2 * k);
        law->ogden[k] = alpha == 0 ? 0 : by_mu ? 2 / alpha : by_alpha ? -c / alpha : 0;
        law->alpha_slope[k] = by_alpha ? c : 0;
    }
}

// d(mu)/d(constant) and d(kappa)/d(constant). linear, stvk: mu = E / 2(1+nu), kappa = E nu / (1+nu)(1-2nu);
// rubber: mu = 2 (C10 + C01), kappa = bulk, or 2 mu (1+nu) / 3(1-2nu).
void pl_material_moduli_derivative(const pl_material *m, pl_material_constant constant, double out[2])
{
    const double nu = m->poisson, a = 1 + nu, b = 1 - 2 * nu;
    double mu, kappa;

    pl_material_moduli(m, &mu, &kappa);
    out[0] = out[1] = 0;
    if (!pl_material_is_rubber(m->model)) {
        if (constant == PL_YOUNG) {
            out[0] = mu / m->young;
            out[1] = kappa / m->young;
        } else if (constant == PL_POISSON) {
            out[0] = -m->young / (2 * a * a);
            out[1] = m->young * (1 + 2 * nu * nu) / (a * a * b * b);
        }

        return;
    }

    // a bulk modulus from poisson follows the shear modulus
    out[0] = pl_constant_row_of(constant)->shear;
    out[1] = m->bulk > 0 ? 0 : out[0] * 2 * a / (3 * b);
    if (constant == PL_POISSON) {
        out[1] = m->bulk > 0 ? 0 : 2 * mu / (b * b);
    } else if (constant == PL_BULK) {
        out[1] = 1;
    }
}

void pl_law_constant_derivative(pl_law *law, const pl_material *m, pl_material_constant constant)
{
    pl_law_constants(law, m);
    law->mullins_r = 0;
    if (law->fibre_count > 0) {
        pl_hgo_derivative(law, m, constant);
        return;
    }

    law->jm_slope = constant == PL_JM ? law->c10 : 0;
    law->c10 = constant == PL_C10 ? 1 : constant == PL_MU ? 0.5 : 0;
    law->c01 = constant == PL_C01;
    law->c20 = constant == PL_C20;
    law->c30 = constant == PL_C30;
    ogden_derivative(law, constant);
}
