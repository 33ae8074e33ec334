// Monotone curves through given points: cubic pieces whose slopes keep every piece as monotone as its two
// ends (Fritsch and Carlson; slopes by the weighted harmonic mean of Brodlie). Beyond the ends the curve goes
// on straight.
#include "base/base.h"
#include <math.h>

// The slope at an end from the first two pieces, kept to the sign and to three times the first secant.
// Slope of the parabola through three points; 0 where it would have the wrong sign.
static double curve_end_slope(double h0, double h1, double d0, double d1)
{
    const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (slope * d0 <= 0) {
        return 0;
    }
    return d0 * d1 < 0 && fabs(slope) > 3 * fabs(d0) ? 3 * d0 : slope;
}

void pl_monotone_slopes(int count, const double *x, const double *y, double *slope)
{
    if (count < 2) {
        return;
    }

    // two points: a line
    if (count == 2) {
        slope[0] = slope[1] = (y[1] - y[0]) / (x[1] - x[0]);
        return;
    }

    // inside: 0 at an extremum, else the weighted harmonic mean of the secants
    const int last = count - 1;
    for (int i = 1; i < last; ++i) {
        const double h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i];
        const double d0 = (y[i] - y[i - 1]) / h0, d1 = (y[i + 1] - y[i]) / h1;
        const double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
        slope[i] = d0 * d1 <= 0 ? 0 : (w0 + w1) / (w0 / d0 + w1 / d1);
    }

    // ends
    slope[0] = curve_end_slope(x[1] - x[0], x[2] - x[1], (y[1] - y[0]) / (x[1] - x[0]),
                               (y[2] - y[1]) / (x[2] - x[1]));
    slope[last] = curve_end_slope(x[last] - x[last - 1], x[last - 1] - x[last - 2],
                                  (y[last] - y[last - 1]) / (x[last] - x[last - 1]),
                                  (y[last - 1] - y[last - 2]) / (x[last - 1] - x[last - 2]));
}

// value, and derivative by x
double pl_monotone_value(const pl_monotone *c, double x, double *derivative)
{
    const int last = c->count - 1;
    if (x <= c->x[0] || x >= c->x[last]) {
        const int end = x <= c->x[0] ? 0 : last;
        if (derivative) {
            *derivative = c->slope[end];
        }
        return c->y[end] + c->slope[end] * (x - c->x[end]);
    }

    // the piece that contains x
    int low = 0, high = last;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(c->x[middle] <= x ? &low : &high) = middle;
    }

    // y = y0 + t s0 h + t^2 (3 D - 2 s0 - s1) h + t^3 (s0 + s1 - 2 D) h, D the secant
    const double h = c->x[high] - c->x[low], t = (x - c->x[low]) / h;
    const double D = (c->y[high] - c->y[low]) / h, s0 = c->slope[low], s1 = c->slope[high];
    const double b = 3 * D - 2 * s0 - s1, a = s0 + s1 - 2 * D;
    if (derivative) {
        *derivative = s0 + t * (2 * b + 3 * t * a);
    }

    return c->y[low] + h * t * (s0 + t * (b + t * a));
}

// Bisection to the last bit: the curve is monotone, and its derivative may be 0.
double pl_monotone_inverse(const pl_monotone *c, double y)
{
    const int last = c->count - 1;
    const double sign = c->y[last] >= c->y[0] ? 1 : -1;
    double low = c->x[0], high = c->x[last];

    // beyond the ends along their slopes
    if (sign * (y - c->y[0]) <= 0 || sign * (y - c->y[last]) >= 0) {
        const int end = sign * (y - c->y[0]) <= 0 ? 0 : last;
        return c->slope[end] != 0 ? c->x[end] + (y - c->y[end]) / c->slope[end] : c->x[end];
    }

    for (int i = 0; i < 200 && high - low > 0; ++i) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) {
            break;
        }
        *(sign * (pl_monotone_value(c, middle, NULL) - y) < 0 ? &low : &high) = middle;
    }

    return 0.5 * (low + high);
}
