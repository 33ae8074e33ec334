// A free film under a voltage: how far it stretches. At the area ratio r its stretches are sqrt(r), sqrt(r),
// 1 / r (constant volume); the charge adds -eps (U / t)^2 r^2 / 2 to the energy W of its law per volume, t
// the thickness at rest, so that at rest
//   eps (U / t)^2 = W'(r) / r,
// the Maxwell stress against the law's own. U(r) in closed form; its inverse by bisection, up to the first
// highest voltage, from which on the film thins without end.
#include "geometric/geometric_impl.h"

#define STEP 0.001
#define REACH 50 // ratio no film survives

// W' by r. Linear: W = mu |G - I|^2 + lambda / 2 (tr G - 3)^2; stvk the same in Green strains; rubber laws by
// I1 = 2 r + 1 / r^2, I2 = r^2 + 2 / r.
static double film_stress(const pl_material *m, double r)
{
    double mu, kappa;
    pl_material_moduli(m, &mu, &kappa);
    const double s = sqrt(r), r2 = r * r, r3 = r2 * r;
    if (m->model == PL_LINEAR) {
        return 2 * mu * (1 - 1 / s - (1 / r - 1) / r2) + kappa * (2 * s + 1 / r - 3) * (1 / s - 1 / r2);
    }
    if (m->model == PL_STVK) {
        const double plane = (r - 1) / 2, across = (1 / r2 - 1) / 2;
        return 2 * mu * (plane - across / r3) + kappa * (2 * plane + across) * (1 - 1 / r3);
    }

    return pl_material_sheet(m, s, s) / s;
}

double geo_film_ratio(const pl_material *material, double thickness, double permittivity, double voltage,
                      double *highest)
{
    const double field = voltage / thickness, goal = permittivity * field * field;
    double low = 1, high = 1, best = 0;

    while (high < REACH && film_stress(material, high) / high < goal) {
        low = high;
        high += STEP * high;
        const double now = film_stress(material, high) / high;
        if (now < best) {
            *highest = thickness * sqrt(best / permittivity);
            return NAN;
        }

        best = now;
    }

    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        *(film_stress(material, middle) / middle < goal ? &low : &high) = middle;
    }

    *highest = INFINITY;

    return 0.5 * (low + high);
}
