// The shape parameter of the geometric papers and what it means as an elastic material; its curve over the
// strain for rubber laws.
#include "base/base.h"
#include "material/material.h"
#include "pliant/material.h"

void pl_shape_to_elastic(double weight, double r_omega, double *young, double *poisson)
{
    *poisson = (1 - r_omega) / (2 + r_omega);
    *young = 6 * weight * r_omega / (2 + r_omega);
}

void pl_shape_from_elastic(double young, double poisson, double *weight, double *r_omega)
{
    *r_omega = (1 - 2 * poisson) / (1 + poisson);
    *weight = young * (2 + *r_omega) / (6 * *r_omega);
}

// R at the stretch l, and s = sqrt(I1bar - 3) of that state: stretches l, a, a with the nearest shape of
// volume 1 at v, v^(-1/2), v^(-1/2). From l - v = theta / v, a - v^(-1/2) = theta v^(1/2) and no force
// across,
//   theta = R (v^(-1/2) - 1 / v),   P / 2w = R (v - 1 + (v^(-1/2) - 1 / v) / v).
static double curve_point(const pl_material *material, double weight, double stretch, double *s)
{
    const double P = pl_material_uniaxial(material, stretch) / (2 * weight);
    double v = stretch - P, R = 1, theta = 0;

    for (int i = 0; i < 60; ++i) {
        const double side = 1 / sqrt(v) - 1 / v;
        R = P / (v - 1 + side / v);
        theta = R * side;
        v = 0.5 * (stretch + sqrt(fmax(0, stretch * stretch - 4 * theta)));
    }

    const double a = 1 / sqrt(v) + theta * sqrt(v), J = stretch * a * a;
    *s = sqrt(fmax(0, (stretch * stretch + 2 * a * a) / cbrt(J * J) - 3));

    return R;
}

// The stretch whose state has sqrt(I1bar - 3) = s, by bisection: s grows with the stretch.
static double curve_stretch(const pl_material *material, double weight, double s, double high)
{
    double low = 1, at;
    for (int i = 0; i < 80; ++i) {
        const double middle = 0.5 * (low + high);
        curve_point(material, weight, middle, &at);
        if (at < s) {
            low = middle;
        } else {
            high = middle;
        }
    }

    return 0.5 * (low + high);
}

pl_status pl_shape_curve_fit(const pl_material *material, double strain_high, pl_shape_curve *out,
                             pl_error *err)
{
    if (!pl_material_is_rubber(material->model)) {
        return pl_fail(err, PL_BAD_INPUT, "shape curve: the law %s has no curve, its r_omega is a number",
                       pl_material_model_name(material->model));
    }

    if (pl_material_has_fibres(material->model)) {
        return pl_fail(err, PL_BAD_INPUT, "shape curve: the law %s has no curve, it depends on a direction",
                       pl_material_model_name(material->model));
    }

    if (!(strain_high > 0 && strain_high <= 20)) {
        return pl_fail(err, PL_BAD_INPUT, "shape curve: strain_high is %g, must be above 0 and at most 20",
                       strain_high);
    }

    double mu, bulk;
    pl_material_moduli(material, &mu, &bulk);
    *out = (pl_shape_curve){.weight = 1.5 * bulk, .strain_high = strain_high};
    curve_point(material, out->weight, 1 + strain_high, &out->reach);
    out->r_omega[0] = mu / out->weight;

    for (int i = 0; i < PL_SHAPE_POINTS; ++i) {
        const double s = out->reach * i / (PL_SHAPE_POINTS - 1);
        double at;
        if (i > 0) {
            const double l = curve_stretch(material, out->weight, s, 1 + strain_high);
            out->r_omega[i] = curve_point(material, out->weight, l, &at);
        }

        if (!(out->r_omega[i] > 0 && out->r_omega[i] <= 1)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "shape curve: r_omega is %g at sqrt(I1bar - 3) = %g, must lie in (0, 1]; lower "
                           "strain_high, or raise poisson so that the law is less compressible",
                           out->r_omega[i], s);
        }
    }

    return PL_OK;
}

double pl_shape_curve_at(const pl_shape_curve *curve, double I1bar)
{
    const double s = sqrt(fmax(0, I1bar - 3)) / curve->reach * (PL_SHAPE_POINTS - 1);
    if (!(s < PL_SHAPE_POINTS - 1)) {
        return curve->r_omega[PL_SHAPE_POINTS - 1];
    }
    const int i = (int)s;
    return curve->r_omega[i] + (s - i) * (curve->r_omega[i + 1] - curve->r_omega[i]);
}
