// The constants of a law in the form the kernels want, and the law that is its derivative with respect to a
// constant: every stress is linear in all of them but the exponents of ogden and the limit of gent, whose
// derivatives the kernels know.
#include "base/base.h"
#include "material/material_kernel.h"

void pl_law_constants(pl_law *law, const pl_material *m)
{
    law->c10 = m->model == PL_GENT ? 0.5 * m->mu : m->c10;
    law->c01 = m->model == PL_MOONEY_RIVLIN ? m->c01 : 0;
    law->c20 = m->model == PL_YEOH ? m->c20 : 0;
    law->c30 = m->model == PL_YEOH ? m->c30 : 0;
    law->jm = m->model == PL_GENT ? m->jm : 0;
    law->jm_slope = 0;
    for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
        const bool there = m->model == PL_OGDEN && m->ogden_alpha[k] != 0;
        law->alpha[k] = there ? m->ogden_alpha[k] : 0;
        law->ogden[k] = there ? 2 * m->ogden_mu[k] / m->ogden_alpha[k] : 0;
        law->alpha_slope[k] = 0;
    }
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
    const bool solid = m->model == PL_LINEAR || m->model == PL_STVK;
    double mu, kappa;
    pl_material_moduli(m, &mu, &kappa);
    out[0] = out[1] = 0;
    if (solid && constant == PL_YOUNG) {
        out[0] = mu / m->young;
        out[1] = kappa / m->young;
    } else if (solid && constant == PL_POISSON) {
        out[0] = -m->young / (2 * a * a);
        out[1] = m->young * (1 + 2 * nu * nu) / (a * a * b * b);
    } else if (constant == PL_C10 || constant == PL_C01) {
        out[0] = 2;
        out[1] = m->bulk > 0 ? 0 : 4 * a / (3 * b);
    } else if (constant == PL_MU || constant == PL_MU1 || constant == PL_MU2 || constant == PL_MU3) {
        out[0] = 1;
        out[1] = m->bulk > 0 ? 0 : 2 * a / (3 * b);
    } else if (constant == PL_POISSON) {
        out[1] = m->bulk > 0 ? 0 : 2 * mu / (b * b);
    } else if (constant == PL_BULK) {
        out[1] = 1;
    }
}

void pl_law_constant_derivative(pl_law *law, const pl_material *m, pl_material_constant constant)
{
    pl_law_constants(law, m);
    law->jm_slope = constant == PL_JM ? law->c10 : 0;
    law->c10 = constant == PL_C10 ? 1 : constant == PL_MU ? 0.5 : 0;
    law->c01 = constant == PL_C01;
    law->c20 = constant == PL_C20;
    law->c30 = constant == PL_C30;
    ogden_derivative(law, constant);
}
