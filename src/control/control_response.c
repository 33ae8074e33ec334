// The PI loop with delay d (ticks) and lag of the actuators, f = 1 - exp(-1/lag). In z, per tick:
//   L(z) = (kp + ki / (z - 1)) / (z - 1) . f z^(1 - d) / (z - 1 + f)
// and the closed loop has the roots of
//   p(z) = (z - 1)^2 (z - 1 + f) z^max(d - 1, 0) + f (kp (z - 1) + ki) z^max(1 - d, 0),
// without the factor z - 1 if ki = 0. Stability by the recursion of Schur and Cohn, exact in the
// coefficients.
#include <complex.h>
#include "control/control_impl.h"

#define RESPONSE_GRID 4000 // frequencies, logarithmic from 1e-7 pi to pi

// Whether all roots of sum a_k z^k, k = 0 ... n, are inside the unit circle: |a_0| < |a_n|, and so for
// (a_n a - a_0 reversed a) / z. Overwrites a.
static bool response_schur(double *a, int n)
{
    for (; n > 0; --n) {
        const double last = a[n], first = a[0];
        if (!(fabs(first) < fabs(last))) {
            return false;
        }
        const double ratio = first / last;

        for (int i = 0, k = n; i <= k; ++i, --k) {
            const double low = a[i], high = a[k];
            a[i] = low - ratio * high;
            a[k] = high - ratio * low;
        }

        memmove(a, a + 1, (size_t)n * sizeof *a);
    }

    return true;
}

// The coefficients of p(z) from the lowest power, then the test; `a` has delay + 8 numbers.
static bool response_stable(double kp, double ki, int delay, double f, double *a)
{
    const int shift = delay > 1 ? delay - 1 : 0, low = delay == 0 ? 1 : 0;
    const double g = 1 - f;

    memset(a, 0, (size_t)(shift + 4) * sizeof *a);
    if (ki == 0) {
        // (z - 1) (z - g) z^shift + f kp z^low
        a[shift] += g;
        a[shift + 1] -= 1 + g;
        a[shift + 2] += 1;
        a[low] += f * kp;
        return response_schur(a, shift + 2);
    }

    // (z^2 - 2 z + 1) (z - g) z^shift + f (kp z + ki - kp) z^low
    a[shift] -= g;
    a[shift + 1] += 1 + 2 * g;
    a[shift + 2] -= 2 + g;
    a[shift + 3] += 1;
    a[low] += f * (ki - kp);
    a[low + 1] += f * kp;

    return response_schur(a, shift + 3);
}

// Largest sensitivity |1 / (1 + L)| and, as margin, the inverse of the largest |L / (1 + L)| on the unit
// circle.
static void response_frequencies(double kp, double ki, int delay, double f, pl_response *out)
{
    const double pi = 3.141592653589793;
    double most = 0;

    for (int i = 0; i <= RESPONSE_GRID; ++i) {
        const double w = pi * pow(10, -7.0 * (1 - (double)i / RESPONSE_GRID));
        const double complex z = cexp(I * w), d = z - 1;
        const double complex L = (kp + ki / d) / d * f * cexp(I * w * (1 - delay)) / (d + f);
        out->sensitivity = fmax(out->sensitivity, 1 / cabs(1 + L));
        most = fmax(most, cabs(L / (1 + L)));
    }

    out->gamma = most > 0 ? 1 / most : INFINITY;
}

// A step of the set point from 0 to 1; `queue` has delay + 1 numbers, all 0.
static void response_step(double kp, double ki, int delay, double f, double *queue, pl_response *out)
{
    double c = 0, h = 0, a = 0;
    int outside = 0;

    for (int k = 0; k < PL_RESPONSE_TICKS; ++k) {
        // command into the queue, delayed one into the lag
        queue[k % (delay + 1)] = c;
        a += f * (queue[(k + 1) % (delay + 1)] - a);
        const double e = 1 - a;
        // last tick outside of 5 % of the step
        outside = fabs(e) > 0.05 ? k + 1 : outside;
        out->overshoot = fmax(out->overshoot, -e);
        c += kp * e + ki * h;
        h += e;
    }

    out->settled = outside < PL_RESPONSE_TICKS ? outside : -1;
}

// Frequency and step responses are computed only for a stable loop; otherwise they are infinite.
pl_status pl_response_compute(double kp, double ki, int delay, double lag, pl_response *out, pl_error *err)
{
    *out = (pl_response){.settled = -1, .overshoot = INFINITY, .sensitivity = INFINITY};
    if (!isfinite(kp) || !isfinite(ki) || delay < 0 || delay > PL_RESPONSE_DELAY_MAX || !(lag >= 0) ||
        !isfinite(lag)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "control: gains %g and %g, delay of %d ticks, lag of %g: expected finite numbers and a "
            "delay of 0 to %d",
            kp, ki, delay, lag, PL_RESPONSE_DELAY_MAX);
    }

    double *work = PL_NEW_ARRAY(double, delay + 8);
    if (!work) {
        return pl_fail_memory(err, "the response");
    }

    // the actuator goes this share of what is left in a tick
    const double f = lag > 0 ? 1 - exp(-1 / lag) : 1;
    out->stable = response_stable(kp, ki, delay, f, work);
    if (out->stable) {
        out->overshoot = out->sensitivity = 0;
        memset(work, 0, (size_t)(delay + 8) * sizeof *work);
        response_frequencies(kp, ki, delay, f, out);
        response_step(kp, ki, delay, f, work, out);
        out->damped = out->sensitivity <= PL_RESPONSE_SENSITIVITY;
    }

    pl_free(work);

    return PL_OK;
}
