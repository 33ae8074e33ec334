// Softening of rubber by the largest energy it has seen (Mullins effect, Ogden and Roxburgh 1999): energy and
// its derivatives, and the bar of a cyclic tensile test.
#include "base/base.h"
#include "material/material.h"

// With s = m + beta W_m and z = (W_m - W) / s:
//   Psi = W + s / r (z erf z + (exp(-z^2) - 1) / sqrt pi),  Psi' = 1 - erf(z) / r,
//   Psi'' = 2 exp(-z^2) / (sqrt pi r s);  Psi = W, Psi' = 1, Psi'' = 0 from W_m on.
double pl_material_softened(const pl_material *m, double largest, double W, double rate[2])
{
    const double s = m->mullins_m + m->mullins_beta * largest, root = sqrt(acos(-1.0));
    const bool below = m->mullins_r > 0 && W < largest;
    const double z = below ? (largest - W) / s : 0, e = exp(-z * z);

    if (rate) {
        rate[0] = below ? 1 - erf(z) / m->mullins_r : 1;
        rate[1] = below ? 2 * e / (root * m->mullins_r * s) : 0;
    }

    return below ? W + s / m->mullins_r * (z * erf(z) + (e - 1) / root) : W;
}

double pl_material_softening_heat(const pl_material *material, double largest)
{
    return pl_material_softened(material, largest, 0, NULL);
}

// ---- the bar
#define BAR_PANELS 4
#define BAR_STEPS 60
#define BAR_TOLERANCE 1e-12

// Change of the energy of an incompressible bar between two stretches, the integral of its engineering
// stress: Gauss-Legendre with five points in each panel.
static double bar_energy(const pl_material *m, double from, double to, int panels)
{
    static const double at[5] = {0, -0.53846931010568309, 0.53846931010568309, -0.90617984593866399,
                                 0.90617984593866399};
    static const double weight[5] = {0.56888888888888889, 0.47862867049936647, 0.47862867049936647,
                                     0.23692688505618909, 0.23692688505618909};
    const double half = 0.5 * (to - from) / panels;
    double sum = 0;

    for (int k = 0; k < panels; ++k) {
        for (int i = 0; i < 5; ++i) {
            sum += weight[i] * half * pl_material_uniaxial(m, from + half * (2 * k + 1 + at[i]));
        }
    }

    return sum;
}

typedef struct bar {
    const pl_material *m;
    double K, stretch, largest;
    double energy_full;    // MPa: at J = 1
    double energy, stress; // of the last J
} bar;

// 3 K J (J - 1) - eta tau: with J the bar is stretched less and softened more, so that it has one zero.
static double bar_balance(bar *b, double J)
{
    const double own = b->stretch / cbrt(J);
    double rate[2];

    b->energy = b->energy_full + bar_energy(b->m, b->stretch, own, 1);
    pl_material_softened(b->m, b->largest, b->energy, rate);
    const double tau = rate[0] * pl_material_uniaxial(b->m, own) * own;
    b->stress = tau / b->stretch;

    return 3 * b->K * J * (J - 1) - tau;
}

// By the rule of false position (Illinois). Where a law has no number (gent beyond its limit), neither has
// the bar.
double pl_material_cycled(const pl_material *m, double stretch, double *largest)
{
    if (!pl_material_is_rubber(m->model)) {
        return pl_material_uniaxial(m, stretch);
    }

    bar b = {.m = m,
             .stretch = stretch,
             .largest = *largest,
             .energy_full = bar_energy(m, 1, stretch, BAR_PANELS)};
    double mu;
    pl_material_moduli(m, &mu, &b.K);

    // in tension J lies between 1 and that of the stress at J = 1, in compression between 1/2 and 1
    const double first = bar_balance(&b, 1), tau = b.stress * stretch;
    double low = tau > 0 ? 1 : 0.5, high = tau > 0 ? pl_material_tensile_volume(b.K, stretch, b.stress) : 1;
    double f_low = tau > 0 ? first : bar_balance(&b, low), f_high = tau > 0 ? bar_balance(&b, high) : first;
    if (!(f_low <= 0 && f_high >= 0)) {
        return NAN;
    }

    for (int step = 0; step < BAR_STEPS && high - low > BAR_TOLERANCE && f_high > f_low; ++step) {
        const double J = low - f_low * (high - low) / (f_high - f_low), f = bar_balance(&b, J);
        const bool above = f >= 0;
        if (f == 0 || !(J > low && J < high)) {
            break;
        }
        *(above ? &high : &low) = J;
        *(above ? &f_high : &f_low) = f;
        *(above ? &f_low : &f_high) *= 0.5;
    }
    *largest = fmax(*largest, b.energy);

    return b.stress;
}
