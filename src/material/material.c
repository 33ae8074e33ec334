// What a material is: the names of its laws and constants, the check at the door, the small-strain moduli and
// the closed form of the tensile test. Energy, stress and tangent for any deformation are in
// material_kernel.h.
#include <math.h>
#include "base/base.h"
#include "pliant/material.h"

static const char *const model_names[PL_MATERIAL_MODEL_COUNT] = {"linear", "stvk", "neo_hookean",
                                                                 "mooney_rivlin", "yeoh"};

static const char *const constant_names[PL_MATERIAL_CONSTANT_COUNT] = {"young", "poisson", "c10",  "c01",
                                                                       "c20",   "c30",     "bulk", "density"};

// The constants each law takes, one bit each.
#define HOOKE (1u << PL_YOUNG | 1u << PL_POISSON | 1u << PL_DENSITY)
#define RUBBER (1u << PL_C10 | 1u << PL_POISSON | 1u << PL_BULK | 1u << PL_DENSITY)
static const unsigned model_takes[PL_MATERIAL_MODEL_COUNT] = {
    [PL_LINEAR] = HOOKE,
    [PL_STVK] = HOOKE,
    [PL_NEO_HOOKEAN] = RUBBER,
    [PL_MOONEY_RIVLIN] = RUBBER | 1u << PL_C01,
    [PL_YEOH] = RUBBER | 1u << PL_C20 | 1u << PL_C30,
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

// Stiffness at rest: young > 0, or mu = 2 (C10 + C01) > 0; the rubber laws need a bulk modulus that is not
// negative.
static pl_status check_stiffness(const pl_material *material, const char *name, pl_error *err)
{
    const double c = material->c10 + material->c01;
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
    default:
        if (!(material->c10 > 0)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "material '%s': c10 is %g MPa, must be > 0 (the shear modulus is twice c10)", name,
                           material->c10);
        }
        break;
    }
    if (material->bulk < 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "material '%s': bulk is %g MPa, must be > 0 (or 0, to take it from poisson)", name,
                       material->bulk);
    }
    return PL_OK;
}

pl_status pl_material_check(const pl_material *material, const char *name, pl_error *err)
{
    if (!model_known(material->model)) {
        return pl_fail(err, PL_BAD_INPUT, "material '%s': model is %d, which is no known law", name,
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
// rubber laws:   mu = 2 (C10 + C01),     K = bulk, or 2 mu (1 + nu) / (3 (1 - 2 nu)) where bulk is 0
void pl_material_moduli(const pl_material *material, double *mu, double *kappa)
{
    const double nu = material->poisson;
    if (material->model == PL_LINEAR || material->model == PL_STVK) {
        *mu = material->young / (2 * (1 + nu));
        *kappa = material->young * nu / ((1 + nu) * (1 - 2 * nu));
        return;
    }
    *mu = 2 * (material->c10 + (material->model == PL_MOONEY_RIVLIN ? material->c01 : 0));
    *kappa = material->bulk > 0 ? material->bulk : 2 * *mu * (1 + nu) / (3 * (1 - 2 * nu));
}

// With J = 1 and stretches (s, s^-1/2, s^-1/2):  I1 = s^2 + 2/s,  I2 = 2 s + 1/s^2, and the engineering
// stress dW/ds is
//   2 (s - s^-2) (W1 + W2 / s),   W1 = C10 + 2 C20 (I1 - 3) + 3 C30 (I1 - 3)^2,   W2 = C01.
double pl_material_uniaxial(const pl_material *material, double stretch)
{
    const double s = stretch;
    if (material->model == PL_LINEAR || material->model == PL_STVK) {
        return material->young * (s - 1);
    }
    double W1 = material->c10, W2 = 0;
    if (material->model == PL_MOONEY_RIVLIN) {
        W2 = material->c01;
    }
    if (material->model == PL_YEOH) {
        const double e = s * s + 2 / s - 3;
        W1 += e * (2 * material->c20 + 3 * material->c30 * e);
    }
    return 2 * (s - 1 / (s * s)) * (W1 + W2 / s);
}
