// Rubber reinforced by families of fibres that carry tension only: Holzapfel, Gasser and Ogden 2000, with the
// dispersion of Gasser, Ogden and Holzapfel 2006.
//
//   W = C10 (I1bar - 3) + sum_f k1 / (2 k2) (exp(k2 <E_f>^2) - 1) + K/2 (J - 1)^2,
//   E_f = kappa (I1bar - 3) + (1 - 3 kappa) (I4bar - 1) = J^(-2/3) F : F H_f - 1,
//   H_f = kappa I + (1 - 3 kappa) m_f (x) m_f,
//
// m_f the direction of family f in the undeformed configuration, <E> = max(0, E). kappa is 0 for parallel
// fibres and 1/3 for fibres in all directions. Stress and tangent are in material_kernel.h.
#include <math.h>
#include "base/base.h"
#include "material/material_table.h"

pl_status pl_hgo_check(const pl_material *m, const char *name, pl_error *err)
{
    pl_status status =
        pl_material_check_positive(m, PL_C10, name, " (the shear modulus of the matrix is twice c10)", err);
    if (status == PL_OK) {
        status = pl_material_check_positive(m, PL_K1, name, "", err);
    }
    if (status == PL_OK) {
        status = pl_material_check_positive(m, PL_K2, name, "", err);
    }

    if (status == PL_OK && !(m->kappa >= 0 && m->kappa <= 1.0 / 3)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "material '%s': kappa is %g, must lie between 0 (parallel fibres) and 1/3 (all "
                       "directions)",
                       name, m->kappa);
    }

    return status;
}

static double hgo_length(const double m[3])
{
    return sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
}

void pl_hgo_constants(const pl_material *m, pl_law *law)
{
    law->c10 = m->c10;
    law->k1 = m->k1;
    law->k2 = m->k2;
    law->fibre_count = m->fibre_count;

    for (int f = 0; f < m->fibre_count; ++f) {
        const double *a = m->fibre[f], length = hgo_length(a);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                const double mm = a[i] * a[j] / (length * length);
                law->structure[f][3 * i + j] = m->kappa * (i == j) + (1 - 3 * m->kappa) * mm;
                law->structure_slope[f][3 * i + j] = (i == j) - 3 * mm;
            }
        }
    }
}

void pl_hgo_derivative(pl_law *law, const pl_material *m, pl_material_constant constant)
{
    pl_hgo_constants(m, law);
    law->fibre_part = constant == PL_K1      ? PL_FIBRE_BY_K1
                      : constant == PL_K2    ? PL_FIBRE_BY_K2
                      : constant == PL_KAPPA ? PL_FIBRE_BY_KAPPA
                                             : PL_FIBRE_NONE;
    law->c10 = constant == PL_C10;
}

// dW/dE of the fibres
static double hgo_slope(const pl_material *m, double E)
{
    return E > 0 ? m->k1 * E * exp(m->k2 * E * E) : 0;
}

// Along the only family; the stretches across are s^-1/2. The stress is dW/ds with
//   E = kappa (s^2 + 2/s - 3) + (1 - 3 kappa) (s^2 - 1).
double pl_hgo_uniaxial(const pl_material *m, double s)
{
    double stress = 2 * m->c10 * (s - 1 / (s * s));
    if (m->fibre_count > 1) {
        return NAN; // the stretches across differ
    }

    const double k = m->kappa, E = k * (s * s + 2 / s - 3) + (1 - 3 * k) * (s * s - 1);
    stress += m->fibre_count * hgo_slope(m, E) * (k * (2 * s - 2 / (s * s)) + (1 - 3 * k) * 2 * s);
    return stress;
}

// In a sheet across the third axis, with families in its plane along the first two: the partial derivative of
// W(l1, l2) with l3 = 1 / (l1 l2). NAN where a family lies elsewhere.
double pl_hgo_sheet(const pl_material *m, double l1, double l2)
{
    const double l3 = 1 / (l1 * l2), k = m->kappa, I1 = l1 * l1 + l2 * l2 + l3 * l3;
    const double dI1 = 2 * (l1 - l3 * l3 / l1);
    double stress = m->c10 * dI1;

    for (int f = 0; f < m->fibre_count; ++f) {
        const double length = hgo_length(m->fibre[f]);
        const double c = fabs(m->fibre[f][0]) / length, s = fabs(m->fibre[f][1]) / length;
        if (fabs(c * c + s * s - 1) > 1e-12 || c * s > 1e-12) {
            return NAN;
        }
        const double I4 = c * c * l1 * l1 + s * s * l2 * l2;
        stress +=
            hgo_slope(m, k * (I1 - 3) + (1 - 3 * k) * (I4 - 1)) * (k * dI1 + (1 - 3 * k) * 2 * c * c * l1);
    }

    return stress;
}
