// The few functions reduced models are made of: trigonometric quotients without cancellation, and paths
// beside a centre line.
#include "reduced/reduced_impl.h"

// sum over n of (-s)^n / (2 n + k)! for k = 1, 2, 3, 4; below s = 1/4 eight terms leave 1e-18.
static reduced_trig trig_series(double s)
{
    static const double f[8][4] = {
        {1, 1. / 2, 1. / 6, 1. / 24},
        {1. / 6, 1. / 24, 1. / 120, 1. / 720},
        {1. / 120, 1. / 720, 1. / 5040, 1. / 40320},
        {1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800},
        {1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600},
        {1. / 39916800, 1. / 479001600, 1. / 6227020800, 1. / 87178291200},
        {1. / 6227020800, 1. / 87178291200, 1. / 1307674368000, 1. / 20922789888000},
        {1. / 1307674368000, 1. / 20922789888000, 1. / 355687428096000, 1. / 6402373705728000},
    };
    reduced_trig t = {0};

    // Horner's rule in -s
    for (int n = 7; n >= 0; --n) {
        t.S1 = f[n][0] - s * t.S1;
        t.C1 = f[n][1] - s * t.C1;
        t.S2 = f[n][2] - s * t.S2;
        t.C2 = f[n][3] - s * t.C2;
    }

    return t;
}

// Beyond s = 1/4 the closed forms lose at most two digits to cancellation.
reduced_trig reduced_trig_of(double s)
{
    if (s < 0.25) {
        return trig_series(s);
    }

    const double x = sqrt(s);
    reduced_trig t = {.S1 = sin(x) / x, .C1 = (1 - cos(x)) / s};
    t.S2 = (1 - t.S1) / s;
    t.C2 = (0.5 - t.C1) / s;

    return t;
}

// sum over n of (-s)^n / (2 n + k)! for k = 5, 6; ten terms leave 1e-21 below s = 1.
void reduced_trig_next(double s, double *S3, double *C3)
{
    if (s >= 1) {
        const reduced_trig t = reduced_trig_of(s);
        *S3 = (1. / 6 - t.S2) / s;
        *C3 = (1. / 24 - t.C2) / s;
        return;
    }

    double sum = 0, next = 0;
    for (int n = 9; n >= 0; --n) {
        // Horner: 1/k! (1 - s / ((k+1)(k+2)) (1 - ...))
        sum = 1 - s * sum / ((2 * n + 6) * (2 * n + 7));
        next = 1 - s * next / ((2 * n + 7) * (2 * n + 8));
    }

    *S3 = sum / 120;
    *C3 = next / 720;
}

// Linear between points (s, x, y); before the first and after the last the line goes on.
static void path_through(const reduced_path *path, double s, double d[3], double slope[3])
{
    int i = 0;
    while (i + 2 < path->waypoint_count && s > path->waypoint[3 * (i + 1)]) {
        ++i;
    }

    const double *a = path->waypoint + 3 * i, *b = a + 3, h = b[0] - a[0];
    for (int k = 0; k < 2; ++k) {
        slope[k] = (b[1 + k] - a[1 + k]) / h;
        d[k] = a[1 + k] + (s - a[0]) * slope[k];
    }
}

bool reduced_path_at(const reduced_path *path, double s, double d[3], double slope[3])
{
    // 1e-9 of the span: stations at its ends are inside despite rounding
    const double length = path->span[1] - path->span[0];
    if (!(s >= path->span[0] - 1e-9 * length && s <= path->span[1] + 1e-9 * length)) {
        return false;
    }
    d[2] = slope[2] = 0;
    if (path->waypoint_count > 0) {
        path_through(path, s, d, slope);
        return true;
    }

    // a helix on a cone: radius and angle change linearly with s
    const double turn = 2 * PL_PI * path->turns / length, f = (s - path->span[0]) / length;
    const double radius = path->radius[0] + f * (path->radius[1] - path->radius[0]);
    const double grow = (path->radius[1] - path->radius[0]) / length;
    const double angle = path->angle + turn * (s - path->span[0]), c = cos(angle), w = sin(angle);
    d[0] = radius * c;
    d[1] = radius * w;
    slope[0] = grow * c - radius * turn * w;
    slope[1] = grow * w + radius * turn * c;

    return true;
}

// One quadrature point per element is then exact.
bool reduced_path_is_straight(const reduced_path *path)
{
    return path->waypoint_count == 0 && path->turns == 0 && path->radius[0] == path->radius[1];
}
