// What a material is: the names of its laws and constants, the check at the door, the small-strain moduli and
// the closed form of the tensile test. Energy, stress and tangent for any deformation are in
// material_kernel.h.
#include <math.h>
#include "base/base.h"
#include "pliant/material.h"

static const char *const model_names[PL_MATERIAL_MODEL_COUNT] = {
    "linear", "stvk", "neo_hookean", "mooney_rivlin", "yeoh", "gent", "ogden"};

static const char *const constant_names[PL_MATERIAL_CONSTANT_COUNT] = {
    "young", "poisson", "c10", "c01",    "c20", "c30",    "mu",   "jm",
    "mu1",   "alpha1",  "mu2", "alpha2", "mu3", "alpha3", "bulk", "density"};

// The constants each law takes, one bit each.
#define HOOKE (1u << PL_YOUNG | 1u << PL_POISSON | 1u << PL_DENSITY)
#define BULKY (1u << PL_POISSON | 1u << PL_BULK | 1u << PL_DENSITY)
#define RUBBER (1u << PL_C10 | BULKY)
#define OGDEN                                                                                                \
    (1u << PL_MU1 | 1u << PL_ALPHA1 | 1u << PL_MU2 | 1u << PL_ALPHA2 | 1u << PL_MU3 | 1u << PL_ALPHA3 | BULKY)
static const unsigned model_takes[PL_MATERIAL_MODEL_COUNT] = {
    [PL_LINEAR] = HOOKE,
    [PL_STVK] = HOOKE,
    [PL_NEO_HOOKEAN] = RUBBER,
    [PL_MOONEY_RIVLIN] = RUBBER | 1u << PL_C01,
    [PL_YEOH] = RUBBER | 1u << PL_C20 | 1u << PL_C30,
    [PL_GENT] = 1u << PL_MU | 1u << PL_JM | BULKY,
    [PL_OGDEN] = OGDEN,
};

static bool model_known(pl_material_model model)
{
    return (unsigned)model < PL_MATERIAL_MODEL_COUNT;
}

const char *pl_material_model_name(pl_material_model model)
{
    return model_known(model) ? model_names[model] : "unknown";
}

const char *pl_material_constant_name(pl_material_constant constant)
{
    return (unsigned)constant < PL_MATERIAL_CONSTANT_COUNT ? constant_names[constant] : "unknown";
}

bool pl_material_has(pl_material_model model, pl_material_constant constant)
{
    return model_known(model) && (unsigned)constant < PL_MATERIAL_CONSTANT_COUNT &&
           (model_takes[model] >> constant & 1u);
}

bool pl_material_is_rubber(pl_material_model model)
{
    return pl_material_has(model, PL_BULK);
}

double *pl_material_at(pl_material *material, pl_material_constant constant)
{
    switch (constant) {
    case PL_YOUNG:
        return &material->young;
    case PL_POISSON:
        return &material->poisson;
    case PL_C10:
        return &material->c10;
    case PL_C01:
        return &material->c01;
    case PL_C20:
        return &material->c20;
    case PL_C30:
        return &material->c30;
    case PL_MU:
        return &material->mu;
    case PL_JM:
        return &material->jm;
    case PL_MU1:
    case PL_MU2:
    case PL_MU3:
        return &material->ogden_mu[(constant - PL_MU1) / 2];
    case PL_ALPHA1:
    case PL_ALPHA2:
    case PL_ALPHA3:
        return &material->ogden_alpha[(constant - PL_ALPHA1) / 2];
    case PL_BULK:
        return &material->bulk;
    case PL_DENSITY:
        return &material->density;
    case PL_MATERIAL_CONSTANT_COUNT:
        break;
    }
    return NULL;
}

// Every constant is finite, and those the law does not take are 0: a forgotten c01 in a yeoh material would
// otherwise go unnoticed.
static pl_status check_constants(const pl_material *material, const char *name, pl_error *err)
{
    pl_material copy = *material;
    for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
        const double value = *pl_material_at(&copy, (pl_material_constant)c);
        if (!isfinite(value)) {
            return pl_fail(err, PL_BAD_INPUT, "material '%s': %s is %g, must be a finite number", name,
                           constant_names[c], value);
        }
        if (value != 0 && !pl_material_has(material->model, (pl_material_constant)c)) {
            return pl_fail(err, PL_BAD_INPUT, "material '%s': %s is %g, but the law %s takes no %s", name,
                           constant_names[c], value, model_names[material->model], constant_names[c]);
        }
    }
    if (material->density < 0) {
        return pl_fail(err, PL_BAD_INPUT, "material '%s': density is %g t/mm^3, must be >= 0", name,
                       material->density);
    }
    return PL_OK;
}

static pl_status check_prony(const pl_material *material, const char *name, pl_error *err)
{
    if (material->prony_count < 0 || material->prony_count > PL_PRONY_TERMS) {
        return pl_fail(err, PL_BAD_INPUT, "material '%s': %d viscous branches, at most %d are possible", name,
                       material->prony_count, PL_PRONY_TERMS);
    }
    for (int i = 0; i < material->prony_count; ++i) {
        const double g = material->prony_g[i], tau = material->prony_tau[i];
        if (!(g >= 0) || isinf(g)) {
            return pl_fail(err, PL_BAD_INPUT, "material '%s': g of viscous branch %d is %g, must be >= 0",
                           name, i + 1, g);
        }
        if (!(tau > 0) || isinf(tau)) {
            return pl_fail(err, PL_BAD_INPUT, "material '%s': tau of viscous branch %d is %g s, must be > 0",
                           name, i + 1, tau);
        }
    }
    return PL_OK;
}

static double ogden_shear_modulus(const pl_material *material)
{
    double mu = 0;
    for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
        mu += material->ogden_mu[k];
    }
    return mu;
}

static pl_status check_gent(const pl_material *material, const char *name, pl_error *err)
{
    if (!(material->mu > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "material '%s': mu is %g MPa, must be > 0", name, material->mu);
    }
    if (!(material->jm > 0)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "material '%s': jm is %g, must be > 0 (the limit of I1 - 3, about 30 to 100 for "
                       "rubber)",
                       name, material->jm);
    }
    return PL_OK;
}

static pl_status check_ogden(const pl_material *material, const char *name, pl_error *err)
{
    for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
        const double mu = material->ogden_mu[k], alpha = material->ogden_alpha[k];
        if ((mu != 0) != (alpha != 0)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "material '%s': mu%d is %g and alpha%d is %g, expected both or neither", name,
                           k + 1, mu, k + 1, alpha);
        }
    }
    const double mu = ogden_shear_modulus(material);
    if (!(mu > 0)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "material '%s': mu1 + mu2 + mu3 is %g MPa, must be > 0 (it is the shear modulus)",
                       name, mu);
    }
    return PL_OK;
}

// Stiffness at rest: young > 0, or a shear modulus > 0; the rubber laws need a bulk modulus that is not
// negative.
static pl_status check_stiffness(const pl_material *material, const char *name, pl_error *err)
{
    const double c = material->c10 + material->c01;
    pl_status status = PL_OK;
    switch (material->model) {
    case PL_LINEAR:
    case PL_STVK:
        if (!(material->young > 0)) {
            return pl_fail(err, PL_BAD_INPUT, "material '%s': young is %g MPa, must be > 0", name,
                           material->young);
        }
        return PL_OK;
    case PL_MOONEY_RIVLIN:
        if (!(c > 0)) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "material '%s': c10 + c01 is %g MPa, must be > 0 (the shear modulus is twice this sum)", name,
                c);
        }
        break;
    case PL_GENT:
        status = check_gent(material, name, err);
        break;
    case PL_OGDEN:
        status = check_ogden(material, name, err);
        break;
    default:
        if (!(material->c10 > 0)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "material '%s': c10 is %g MPa, must be > 0 (the shear modulus is twice c10)", name,
                           material->c10);
        }
        break;
    }
    if (status == PL_OK && material->bulk < 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "material '%s': bulk is %g MPa, must be > 0 (or 0, to take it from poisson)", name,
                       material->bulk);
    }
    return status;
}

pl_status pl_material_check(const pl_material *material, const char *name, pl_error *err)
{
    if (!model_known(material->model)) {
        return pl_fail(err, PL_BAD_INPUT, "material '%s': model is %d, which is not a known law", name,
                       (int)material->model);
    }
    if (material->formulation != PL_LOCKING_FREE && material->formulation != PL_DISPLACEMENT) {
        return pl_fail(err, PL_BAD_INPUT,
                       "material '%s': formulation is %d, must be locking_free or displacement", name,
                       (int)material->formulation);
    }
    pl_status status = check_constants(material, name, err);
    if (status == PL_OK) {
        status = check_stiffness(material, name, err);
    }
    if (status == PL_OK) {
        status = check_prony(material, name, err);
    }
    if (status != PL_OK) {
        return status;
    }

    // a given bulk modulus makes poisson idle
    if (material->bulk == 0 && !(material->poisson > -1 && material->poisson < 0.5)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "material '%s': poisson is %g, must lie between -1 and 0.5, both excluded", name,
                       material->poisson);
    }

    // constants may be in range one by one and still leave the numbers of a computer
    double mu, kappa;
    pl_material_moduli(material, &mu, &kappa);
    if (!isfinite(mu) || !isfinite(kappa) || !(mu > 0)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "material '%s': the moduli are mu = %g MPa, kappa = %g MPa; both must be "
                       "finite and mu > 0",
                       name, mu, kappa);
    }
    return PL_OK;
}

// linear, stvk:  mu = E / (2 (1 + nu)),  lambda = E nu / ((1 + nu) (1 - 2 nu))
// rubber laws:   mu = 2 (C10 + C01), mu or the sum of the mu_i;  K = bulk, or 2 mu (1 + nu) / (3 (1 - 2 nu))
// where bulk is 0
void pl_material_moduli(const pl_material *material, double *mu, double *kappa)
{
    const double nu = material->poisson;
    if (material->model == PL_LINEAR || material->model == PL_STVK) {
        *mu = material->young / (2 * (1 + nu));
        *kappa = material->young * nu / ((1 + nu) * (1 - 2 * nu));
        return;
    }
    *mu = material->model == PL_GENT ? material->mu
          : material->model == PL_OGDEN
              ? ogden_shear_modulus(material)
              : 2 * (material->c10 + (material->model == PL_MOONEY_RIVLIN ? material->c01 : 0));
    *kappa = material->bulk > 0 ? material->bulk : 2 * *mu * (1 + nu) / (3 * (1 - 2 * nu));
}

// dW/dI1 at J = 1, of the laws that depend on the first invariant: g'(I1 - 3).
static double first_invariant_slope(const pl_material *material, double e)
{
    if (material->model == PL_GENT) {
        return e < material->jm ? 0.5 * material->mu * material->jm / (material->jm - e) : INFINITY;
    }
    return material->c10 + (material->model == PL_YEOH ? e * (2 * material->c20 + 3 * material->c30 * e) : 0);
}

// The stress across is 0: P1 = W_1 - (l3 / l1) W_3 with W_i = dW/dl_i and l3 = 1 / (l1 l2).
//   invariants:  W_i = 2 W1 l_i + 2 W2 (I1 - l_i^2) l_i,  so  P1 = 2 (l1 - l3^2 / l1) (W1 + W2 l2^2)
//   ogden:       l_i W_i = sum_k (2 mu_k / alpha_k) l_i^alpha_k
double pl_material_sheet(const pl_material *material, double l1, double l2)
{
    const double l3 = 1 / (l1 * l2);
    if (material->model == PL_OGDEN) {
        double stress = 0;
        for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
            const double alpha = material->ogden_alpha[k];
            if (alpha != 0) {
                stress += 2 * material->ogden_mu[k] / alpha * (pow(l1, alpha) - pow(l3, alpha)) / l1;
            }
        }
        return stress;
    }
    const double W1 = first_invariant_slope(material, l1 * l1 + l2 * l2 + l3 * l3 - 3);
    const double W2 = material->model == PL_MOONEY_RIVLIN ? material->c01 : 0;
    return 2 * (l1 - l3 * l3 / l1) * (W1 + W2 * l2 * l2);
}

// Uniaxial: the two stretches across are s^-1/2. For the laws in invariants that is
//   2 (s - s^-2) (W1 + W2 / s),   I1 = s^2 + 2/s,   I2 = 2 s + 1/s^2.
double pl_material_uniaxial(const pl_material *material, double stretch)
{
    const double s = stretch;
    if (material->model == PL_LINEAR || material->model == PL_STVK) {
        return material->young * (s - 1);
    }
    if (material->model == PL_OGDEN) {
        return pl_material_sheet(material, s, 1 / sqrt(s));
    }
    const double W1 = first_invariant_slope(material, s * s + 2 / s - 3);
    const double W2 = material->model == PL_MOONEY_RIVLIN ? material->c01 : 0;
    return 2 * (s - 1 / (s * s)) * (W1 + W2 / s);
}

double pl_material_tensile_volume(double bulk, double stretch, double stress)
{
    return 0.5 * (1 + sqrt(fmax(0, 1 + 4 * stress * stretch / (3 * bulk))));
}

// tau falls with J and 3 K J (J - 1) rises with it from J = 1/2 on, so their difference has one zero.
double pl_material_tensile(const pl_material *material, double stretch)
{
    if (!pl_material_is_rubber(material->model)) {
        return pl_material_uniaxial(material, stretch);
    }
    double mu, K, low = 0.5, high = 1, stress = NAN;
    pl_material_moduli(material, &mu, &K);
    for (int step = 0, bracketed = 0; step < 200 && high - low > 1e-15 * high; ++step) {
        const double J = bracketed ? 0.5 * (low + high) : high, own = stretch / cbrt(J);
        const double tau = pl_material_uniaxial(material, own) * own;
        stress = tau / stretch;
        const bool above = 3 * K * J * (J - 1) >= tau;
        bracketed = bracketed || above;
        if (above) {
            high = J;
        } else {
            low = J;
            high = bracketed ? high : 2 * high;
        }
    }
    return low > 0.5 ? stress : NAN;
}
