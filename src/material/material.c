// What every law has, from the tables (material_table.h): names, validation, small-strain moduli, the tensile
// test. Energy, stress and tangent for any deformation are in material_kernel.h.
#include <math.h>
#include "base/base.h"
#include "material/material.h"
#include "material/material_table.h"

static bool model_known(pl_material_model model)
{
    return pl_material_row_of(model) != NULL;
}

const char *pl_material_model_name(pl_material_model model)
{
    const pl_material_row *row = pl_material_row_of(model);
    return row ? row->name : "unknown";
}

const char *pl_material_constant_name(pl_material_constant constant)
{
    const pl_constant_row *row = pl_constant_row_of(constant);
    return row ? row->name : "unknown";
}

pl_dimension pl_material_constant_dimension(pl_material_constant constant)
{
    const pl_constant_row *row = pl_constant_row_of(constant);
    return row ? row->dimension : PL_DIM_NUMBER;
}

bool pl_material_has(pl_material_model model, pl_material_constant constant)
{
    const pl_material_row *row = pl_material_row_of(model);
    return row && (unsigned)constant < PL_MATERIAL_CONSTANT_COUNT && (row->takes >> constant & 1u);
}

bool pl_material_is_rubber(pl_material_model model)
{
    return pl_material_has(model, PL_BULK);
}

bool pl_material_has_fibres(pl_material_model model)
{
    const pl_material_row *row = pl_material_row_of(model);
    return row && row->directions;
}

double *pl_material_at(pl_material *material, pl_material_constant constant)
{
    const pl_constant_row *row = pl_constant_row_of(constant);
    return row ? (double *)((char *)material + row->offset) : NULL;
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
                           pl_material_constant_name((pl_material_constant)c), value);
        }

        if (value != 0 && !pl_material_has(material->model, (pl_material_constant)c)) {
            return pl_fail(err, PL_BAD_INPUT, "material '%s': %s is %g, but the law %s takes no %s", name,
                           pl_material_constant_name((pl_material_constant)c), value,
                           pl_material_model_name(material->model),
                           pl_material_constant_name((pl_material_constant)c));
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

// Softening is of the deviatoric energy of rubber laws.
static pl_status check_mullins(const pl_material *m, const char *name, pl_error *err)
{
    if (m->mullins_r == 0 && m->mullins_m == 0 && m->mullins_beta == 0) {
        return PL_OK;
    }
    if (!pl_material_is_rubber(m->model)) {
        return pl_fail(err, PL_BAD_INPUT, "material '%s': the law %s takes no mullins, only rubber laws do",
                       name, pl_material_model_name(m->model));
    }
    if (!(m->mullins_r >= 1) || isinf(m->mullins_r)) {
        return pl_fail(err, PL_BAD_INPUT, "material '%s': r of mullins is %g, must be at least 1", name,
                       m->mullins_r);
    }
    if (!(m->mullins_m >= 0) || isinf(m->mullins_m) || !(m->mullins_beta >= 0) || isinf(m->mullins_beta) ||
        !(m->mullins_m + m->mullins_beta > 0)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "material '%s': m and beta of mullins are %g MPa and %g, must not be negative, and one "
            "of them must be positive",
            name, m->mullins_m, m->mullins_beta);
    }

    return PL_OK;
}

// Directions have a length, and only laws with fibres have any.
static pl_status check_fibres(const pl_material *material, const char *name, pl_error *err)
{
    const bool wanted = pl_material_has_fibres(material->model);
    if (material->fibre_count < wanted || material->fibre_count > wanted * PL_FIBRE_FAMILIES) {
        return wanted
                   ? pl_fail(err, PL_BAD_INPUT,
                             "material '%s': %d directions of fibres, expected 1 or %d (fibres: [[1, 0, 0]])",
                             name, material->fibre_count, PL_FIBRE_FAMILIES)
                   : pl_fail(err, PL_BAD_INPUT, "material '%s': the law %s takes no fibres", name,
                             pl_material_model_name(material->model));
    }

    for (int f = 0; f < material->fibre_count; ++f) {
        const double *m = material->fibre[f], square = m[0] * m[0] + m[1] * m[1] + m[2] * m[2];
        if (!(square > 1e-24) || isinf(square)) {
            return pl_fail(err, PL_BAD_INPUT, "material '%s': direction %d of its fibres has no length", name,
                           f + 1);
        }
    }

    return PL_OK;
}

// Stiffness at rest; the rubber laws need a bulk modulus that is not negative.
static pl_status check_stiffness(const pl_material *material, const char *name, pl_error *err)
{
    const pl_status status = pl_material_row_of(material->model)->check(material, name, err);
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
        status = check_fibres(material, name, err);
    }
    if (status == PL_OK) {
        status = check_prony(material, name, err);
    }
    if (status == PL_OK) {
        status = check_mullins(material, name, err);
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
    *mu = pl_material_row_of(material->model)->shear(material);
    if (!pl_material_is_rubber(material->model)) {
        *kappa = material->young * nu / ((1 + nu) * (1 - 2 * nu));
        return;
    }

    *kappa = material->bulk > 0 ? material->bulk : 2 * *mu * (1 + nu) / (3 * (1 - 2 * nu));
}

double pl_material_sheet(const pl_material *material, double l1, double l2)
{
    return pl_material_row_of(material->model)->sheet(material, l1, l2);
}

double pl_material_uniaxial(const pl_material *material, double stretch)
{
    return pl_material_row_of(material->model)->uniaxial(material, stretch);
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
