// The rows of the tables of laws and constants, and the closed forms of the isotropic laws.
#include <math.h>
#include "base/base.h"
#include "material/material_table.h"

// ---- constants
#define PLACE(field) offsetof(pl_material, field)
static const pl_constant_row constant_table[PL_MATERIAL_CONSTANT_COUNT] = {
    [PL_YOUNG] = {"young", PLACE(young), PL_DIM_STRESS, 0},
    [PL_POISSON] = {"poisson", PLACE(poisson), PL_DIM_NUMBER, 0},
    [PL_C10] = {"c10", PLACE(c10), PL_DIM_STRESS, 2},
    [PL_C01] = {"c01", PLACE(c01), PL_DIM_STRESS, 2},
    [PL_C20] = {"c20", PLACE(c20), PL_DIM_STRESS, 0},
    [PL_C30] = {"c30", PLACE(c30), PL_DIM_STRESS, 0},
    [PL_MU] = {"mu", PLACE(mu), PL_DIM_STRESS, 1},
    [PL_JM] = {"jm", PLACE(jm), PL_DIM_NUMBER, 0},
    [PL_MU1] = {"mu1", PLACE(ogden_mu[0]), PL_DIM_STRESS, 1},
    [PL_ALPHA1] = {"alpha1", PLACE(ogden_alpha[0]), PL_DIM_NUMBER, 0},
    [PL_MU2] = {"mu2", PLACE(ogden_mu[1]), PL_DIM_STRESS, 1},
    [PL_ALPHA2] = {"alpha2", PLACE(ogden_alpha[1]), PL_DIM_NUMBER, 0},
    [PL_MU3] = {"mu3", PLACE(ogden_mu[2]), PL_DIM_STRESS, 1},
    [PL_ALPHA3] = {"alpha3", PLACE(ogden_alpha[2]), PL_DIM_NUMBER, 0},
    [PL_K1] = {"k1", PLACE(k1), PL_DIM_STRESS, 0},
    [PL_K2] = {"k2", PLACE(k2), PL_DIM_NUMBER, 0},
    [PL_KAPPA] = {"kappa", PLACE(kappa), PL_DIM_NUMBER, 0},
    [PL_BULK] = {"bulk", PLACE(bulk), PL_DIM_STRESS, 0},
    [PL_DENSITY] = {"density", PLACE(density), PL_DIM_DENSITY, 0},
};

const pl_constant_row *pl_constant_row_of(pl_material_constant constant)
{
    return (unsigned)constant < PL_MATERIAL_CONSTANT_COUNT ? &constant_table[constant] : NULL;
}

// ---- checks
pl_status pl_material_check_positive(const pl_material *material, pl_material_constant constant,
                                     const char *name, const char *hint, pl_error *err)
{
    pl_material copy = *material;
    const pl_constant_row *row = &constant_table[constant];
    const double value = *pl_material_at(&copy, constant);

    if (value > 0) {
        return PL_OK;
    }

    return pl_fail(err, PL_BAD_INPUT, "material '%s': %s is %g%s, must be > 0%s", name, row->name, value,
                   row->dimension == PL_DIM_STRESS ? " MPa" : "", hint);
}

static pl_status hooke_check(const pl_material *m, const char *name, pl_error *err)
{
    return pl_material_check_positive(m, PL_YOUNG, name, "", err);
}

static pl_status c10_check(const pl_material *m, const char *name, pl_error *err)
{
    return pl_material_check_positive(m, PL_C10, name, " (the shear modulus is twice c10)", err);
}

static pl_status mooney_check(const pl_material *m, const char *name, pl_error *err)
{
    const double c = m->c10 + m->c01;
    return c > 0
               ? PL_OK
               : pl_fail(
                     err, PL_BAD_INPUT,
                     "material '%s': c10 + c01 is %g MPa, must be > 0 (the shear modulus is twice this sum)",
                     name, c);
}

static pl_status gent_check(const pl_material *m, const char *name, pl_error *err)
{
    const pl_status status = pl_material_check_positive(m, PL_MU, name, "", err);
    return status == PL_OK ? pl_material_check_positive(
                                 m, PL_JM, name, " (the limit of I1 - 3, about 30 to 100 for rubber)", err)
                           : status;
}

static double ogden_shear(const pl_material *m)
{
    return m->ogden_mu[0] + m->ogden_mu[1] + m->ogden_mu[2];
}

static pl_status ogden_check(const pl_material *m, const char *name, pl_error *err)
{
    for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
        const double mu = m->ogden_mu[k], alpha = m->ogden_alpha[k];
        if ((mu != 0) != (alpha != 0)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "material '%s': mu%d is %g and alpha%d is %g, expected both or neither", name,
                           k + 1, mu, k + 1, alpha);
        }
    }

    const double mu = ogden_shear(m);
    return mu > 0 ? PL_OK
                  : pl_fail(err, PL_BAD_INPUT,
                            "material '%s': mu1 + mu2 + mu3 is %g MPa, must be > 0 (it is the shear modulus)",
                            name, mu);
}

// ---- small strains
static double hooke_shear(const pl_material *m)
{
    return m->young / (2 * (1 + m->poisson));
}

static double c10_shear(const pl_material *m)
{
    return 2 * m->c10;
}

static double mooney_shear(const pl_material *m)
{
    return 2 * (m->c10 + m->c01);
}

static double gent_shear(const pl_material *m)
{
    return m->mu;
}

// ---- constants of the kernels
static void hooke_constants(const pl_material *m, pl_law *law)
{
    (void)m;
    (void)law;
}

static void c10_constants(const pl_material *m, pl_law *law)
{
    law->c10 = m->c10;
    law->c01 = m->c01;
    law->c20 = m->c20;
    law->c30 = m->c30;
}

static void gent_constants(const pl_material *m, pl_law *law)
{
    law->c10 = 0.5 * m->mu;
    law->jm = m->jm;
}

static void ogden_constants(const pl_material *m, pl_law *law)
{
    for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
        const bool there = m->ogden_alpha[k] != 0;
        law->alpha[k] = there ? m->ogden_alpha[k] : 0;
        law->ogden[k] = there ? 2 * m->ogden_mu[k] / m->ogden_alpha[k] : 0;
    }
}

// ---- closed forms. Laws in invariants, W1 = dW/dI1 and W2 = dW/dI2 at J = 1. In a sheet the stress across
// is 0: P1 = W_1 - (l3 / l1) W_3 with W_i = dW/dl_i = 2 W1 l_i + 2 W2 (I1 - l_i^2) l_i and l3 = 1 / (l1 l2),
// so
//   P1 = 2 (l1 - l3^2 / l1) (W1 + W2 l2^2),
// and in a bar, where the two stretches across are s^-1/2,  P = 2 (s - s^-2) (W1 + W2 / s).
static double c10_slope(const pl_material *m, double e)
{
    return m->c10 + e * (2 * m->c20 + 3 * m->c30 * e);
}

static double gent_slope(const pl_material *m, double e)
{
    return e < m->jm ? 0.5 * m->mu * m->jm / (m->jm - e) : INFINITY;
}

static double invariant_sheet(const pl_material *m, double slope(const pl_material *, double), double l1,
                              double l2)
{
    const double l3 = 1 / (l1 * l2), W1 = slope(m, l1 * l1 + l2 * l2 + l3 * l3 - 3);
    return 2 * (l1 - l3 * l3 / l1) * (W1 + m->c01 * l2 * l2);
}

static double invariant_uniaxial(const pl_material *m, double slope(const pl_material *, double), double s)
{
    return 2 * (s - 1 / (s * s)) * (slope(m, s * s + 2 / s - 3) + m->c01 / s);
}

static double c10_sheet(const pl_material *m, double l1, double l2)
{
    return invariant_sheet(m, c10_slope, l1, l2);
}

static double c10_uniaxial(const pl_material *m, double stretch)
{
    return invariant_uniaxial(m, c10_slope, stretch);
}

static double gent_sheet(const pl_material *m, double l1, double l2)
{
    return invariant_sheet(m, gent_slope, l1, l2);
}

static double gent_uniaxial(const pl_material *m, double stretch)
{
    return invariant_uniaxial(m, gent_slope, stretch);
}

// l_i W_i = sum_k (2 mu_k / alpha_k) l_i^alpha_k
static double ogden_sheet(const pl_material *m, double l1, double l2)
{
    const double l3 = 1 / (l1 * l2);
    double stress = 0;

    for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
        const double alpha = m->ogden_alpha[k];
        if (alpha != 0) {
            stress += 2 * m->ogden_mu[k] / alpha * (pow(l1, alpha) - pow(l3, alpha)) / l1;
        }
    }

    return stress;
}

static double ogden_uniaxial(const pl_material *m, double stretch)
{
    return ogden_sheet(m, stretch, 1 / sqrt(stretch));
}

static double hooke_uniaxial(const pl_material *m, double stretch)
{
    return m->young * (stretch - 1);
}

static double hooke_sheet(const pl_material *m, double l1, double l2)
{
    (void)m;
    (void)l1;
    (void)l2;
    return NAN;
}

// ---- the laws
#define C(constant) PL_TAKES(PL_##constant)
#define HOOKE C(YOUNG) | C(POISSON) | C(DENSITY)

// clang-format off
static const pl_material_row law_table[PL_MATERIAL_MODEL_COUNT] = {
    [PL_LINEAR] = {"linear", HOOKE, PL_KERNEL_LINEAR, false, C(YOUNG),
        hooke_check, hooke_shear, hooke_constants, hooke_uniaxial, hooke_sheet},
    [PL_STVK] = {"stvk", HOOKE, PL_KERNEL_STVK, false, 0,
        hooke_check, hooke_shear, hooke_constants, hooke_uniaxial, hooke_sheet},
    [PL_NEO_HOOKEAN] = {"neo_hookean", C(C10) | PL_TAKES_BULK, PL_KERNEL_RUBBER, false, C(C10),
        c10_check, c10_shear, c10_constants, c10_uniaxial, c10_sheet},
    [PL_MOONEY_RIVLIN] = {"mooney_rivlin", C(C10) | C(C01) | PL_TAKES_BULK, PL_KERNEL_RUBBER, false,
        C(C10) | C(C01), mooney_check, mooney_shear, c10_constants, c10_uniaxial, c10_sheet},
    [PL_YEOH] = {"yeoh", C(C10) | C(C20) | C(C30) | PL_TAKES_BULK, PL_KERNEL_RUBBER, false,
        C(C10) | C(C20) | C(C30), c10_check, c10_shear, c10_constants, c10_uniaxial, c10_sheet},
    [PL_GENT] = {"gent", C(MU) | C(JM) | PL_TAKES_BULK, PL_KERNEL_RUBBER, false, C(MU),
        gent_check, gent_shear, gent_constants, gent_uniaxial, gent_sheet},
    [PL_OGDEN] = {"ogden", C(MU1) | C(ALPHA1) | C(MU2) | C(ALPHA2) | C(MU3) | C(ALPHA3) | PL_TAKES_BULK,
        PL_KERNEL_OGDEN, false, C(MU1) | C(MU2) | C(MU3),
        ogden_check, ogden_shear, ogden_constants, ogden_uniaxial, ogden_sheet},
    [PL_HGO] = {"hgo", C(C10) | C(K1) | C(K2) | C(KAPPA) | PL_TAKES_BULK, PL_KERNEL_HGO, true, 0,
        pl_hgo_check, c10_shear, pl_hgo_constants, pl_hgo_uniaxial, pl_hgo_sheet},
};

// clang-format on

const pl_material_row *pl_material_row_of(pl_material_model model)
{
    return (unsigned)model < PL_MATERIAL_MODEL_COUNT ? &law_table[model] : NULL;
}
