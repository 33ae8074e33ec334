// Robustness of the PI loop of Bieze et al. 2018. With the integral h and the error e of one output,
//   e' = e - u - d,  h' = h + e,  u = kp e + ki h,  d = w u:
//   A = [1 - kp, -ki; 1, 1],  B = [-1; 0],  C = [kp, ki],
//   G(z) = C (z I - A)^-1 B = -(kp (z - 1) + ki) / q(z),  q(z) = (z - 1)^2 + kp (z - 1) + ki.
// The loop is stable for every |w| <= gamma exactly when gamma |G|_inf < 1 (small gain; sharp for matrices w,
// since a rotation by any angle is among them).
#include <complex.h>
#include "control/control_impl.h"
#include "solver/solver.h"

// |G| at a frequency in rad per tick.
static double margin_gain(double kp, double ki, double frequency)
{
    const double complex d = cexp(I * frequency) - 1;
    return cabs((kp * d + ki) / (d * d + kp * d + ki));
}

// The larger modulus of the roots of z^2 + b z + c (complex coefficients): below 1 both are inside the unit
// circle.
static double margin_radius(double complex b, double complex c)
{
    const double complex root = csqrt(b * b - 4 * c);
    return fmax(cabs((-b + root) / 2), cabs((-b - root) / 2));
}

// Spectral radius of the loop with a constant error that turns by `angle` and has the size `gamma`.
static double margin_loop(double kp, double ki, double gamma, double angle)
{
    const double complex a = 1 + gamma * cexp(I * angle);
    if (ki == 0) {
        return cabs(1 - a * kp); // the integral has no effect
    }
    return margin_radius(-2 + a * kp, 1 - a * kp + a * ki);
}

// The smallest error in this direction that makes the loop unstable: doubling, then bisection.
static double margin_along(double kp, double ki, double angle)
{
    double low = 0, high = 1e-3;
    while (high < 1e6 && margin_loop(kp, ki, high, angle) < 1) {
        low = high;
        high *= 1.5;
    }

    if (high >= 1e6) {
        return INFINITY;
    }
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        *(margin_loop(kp, ki, middle, angle) < 1 ? &low : &high) = middle;
    }

    return high;
}

// The smallest solution of the Riccati equation of the bounded real lemma, by iteration from 0:
//   P = A^T P A + gamma^2 C^T C + s I + A^T P B (1 - B^T P B)^-1 B^T P A,
// with a small s that makes the matrix inequality strict.
// False: none for this gamma.
static bool margin_riccati(double kp, double ki, double gamma, double P[3])
{
    const double g = gamma * gamma, s = 1e-3 * g * ki * ki;
    double p = 0, q = 0, r = 0; // P = [p q; q r]

    for (int i = 0; i < 200000; ++i) {
        // 1 - B^T P B must stay positive; otherwise gamma is too large
        const double room = 1 - p;
        if (!(room > 0)) {
            return false;
        }
        // columns of P A, A = [1 - kp, -ki; 1, 1]
        const double a = p * (1 - kp) + q, b = -ki * p + q, c = q * (1 - kp) + r, d = -ki * q + r;
        const double next[3] = {(1 - kp) * a + c + g * kp * kp + s + a * a / room,
                                (1 - kp) * b + d + g * kp * ki + a * b / room,
                                -ki * b + d + g * ki * ki + s + b * b / room};
        // the iteration from 0 is monotone, so a small change means convergence
        const double change = fabs(next[0] - p) + fabs(next[1] - q) + fabs(next[2] - r);
        p = next[0];
        q = next[1];
        r = next[2];

        if (change < 1e-15 * (p + r)) {
            P[0] = p;
            P[1] = q;
            P[2] = r;
            return true;
        }
    }

    return false;
}

// A matrix that proves a slightly smaller error: the solution for the larger one leaves room for it.
static void margin_prove(double kp, double ki, pl_margin *out)
{
    for (double below = 1e-4; ki != 0 && below < 0.5 && out->proven == 0; below *= 2) {
        double P[3], M, least;
        const double asked = out->gamma * (1 - 2 * below);
        if (!margin_riccati(kp, ki, out->gamma * (1 - below), P)) {
            continue;
        }
        pl_margin_verify(kp, ki, asked, P, &M, &least);
        if (M < 0 && least > 0) {
            out->proven = asked;
            memcpy(out->P, P, sizeof out->P);
        }
    }
}

// `samples` directions of constant errors confirm gamma from above: out->sampled >= gamma.
pl_status pl_margin_compute(double kp, double ki, int samples, uint64_t seed, pl_margin *out, pl_error *err)
{
    *out = (pl_margin){.sampled = INFINITY};
    if (!isfinite(kp) || !isfinite(ki) || samples < 0) {
        return pl_fail(err, PL_BAD_INPUT, "control: gains %g and %g, %d samples: expected finite gains", kp,
                       ki, samples);
    }

    // without an error
    out->stable = margin_loop(kp, ki, 0, 0) < 1;
    if (!out->stable) {
        out->norm = INFINITY;
        out->gamma = 0;
        return PL_OK;
    }

    // the peak may be narrow when the gains are small: a logarithmic grid, then a golden section
    const double pi = 3.141592653589793;
    const int grid = 4000;
    int best = 0;
    double gain = 0;

    for (int i = 0; i <= grid; ++i) {
        const double g = margin_gain(kp, ki, pi * pow(10, -7.0 * (1 - (double)i / grid)));
        if (g > gain) {
            gain = g;
            best = i;
        }
    }

    // golden section between the neighbours of the best grid point
    double low = -7.0 * (1 - (double)(best - 1) / grid), high = -7.0 * (1 - (double)(best + 1) / grid);
    high = fmin(high, 0);
    for (int i = 0; i < 100; ++i) {
        const double a = low + 0.381966 * (high - low), b = low + 0.618034 * (high - low);
        if (margin_gain(kp, ki, pi * pow(10, a)) > margin_gain(kp, ki, pi * pow(10, b))) {
            high = b;
        } else {
            low = a;
        }
    }

    // norm, margin, proof, samples
    out->frequency = pi * pow(10, 0.5 * (low + high));
    out->norm = fmax(gain, margin_gain(kp, ki, out->frequency));
    out->gamma = 1 / out->norm;
    margin_prove(kp, ki, out);
    for (int i = 0; i < samples; ++i) {
        const double angle = 2 * pi * control_uniform(&seed);
        out->sampled = fmin(out->sampled, margin_along(kp, ki, angle));
    }

    return PL_OK;
}

// The matrix M of the bounded real lemma must be negative and P positive; eigenvalues decide.
void pl_margin_verify(double kp, double ki, double gamma, const double P[3], double *largest_M,
                      double *smallest_P)
{
    const double A[4] = {1 - kp, -ki, 1, 1}, C[2] = {kp, ki}, Q[4] = {P[0], P[1], P[1], P[2]};
    double M[9] = {0}, AtP[4], value[3], copy[4];

    // A^T P
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            AtP[2 * i + j] = A[i] * Q[j] + A[2 + i] * Q[2 + j];
        }
    }

    // M = [A^T P A - P + gamma^2 C^T C, A^T P B; B^T P A, B^T P B - 1]
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            M[3 * i + j] =
                AtP[2 * i] * A[j] + AtP[2 * i + 1] * A[2 + j] - Q[2 * i + j] + gamma * gamma * C[i] * C[j];
        }

        M[3 * i + 2] = M[6 + i] = -AtP[2 * i]; // B = [-1; 0]
    }

    M[8] = P[0] - 1;
    pl_dense_eigen(3, M, value, NULL);
    *largest_M = value[2];
    memcpy(copy, Q, sizeof copy);
    pl_dense_eigen(2, copy, value, NULL);
    *smallest_P = value[0];
}
