// Curvature of the least-squares circle through body points, with its exact derivative. Where an axis is
// given the fit is in the plane across it, else in the plane of largest scatter.
//
// Pratt's fit: the circle A (x^2 + y^2) + B x + C y + D = 0 with B^2 + C^2 - 4 A D = 1 that makes
// sum_i (a . z_i)^2 least, a = (A, B, C, D), z = (x^2 + y^2, x, y, 1). It has curvature 2 A, contains the
// line (A = 0), and does not depend on where the axes lie. With M = sum z z^T and N the form of the
// constraint,
//   M a = eta N a,  eta the smallest eigenvalue that is not negative.
#include "kinematics/kinematics_impl.h"
#include "kinematics/kinematics.h"
#include "solver/solver.h"

#define SAME_PLACE 1e-9 // of the points' spread: nearer is the same place

static const double form[16] = {0, 0, 0, -2, 0, 1, 0, 0, 0, 0, 1, 0, -2, 0, 0, 0};

typedef struct circle_fit {
    double centre[3], scale;             // points are taken from their centroid, over their spread
    double u[3], v[3], n[3];             // in-plane axes and normal
    double spread_u, spread_v, spread_n; // eigenvalues of the scatter, best plane only
    double a[4], eta, M[16];             // circle, multiplier and moments, in scaled coordinates
} circle_fit;

// Determinant by elimination with partial pivoting.
static double det4(const double A[16])
{
    double B[16], det = 1;
    memcpy(B, A, sizeof B);
    for (int k = 0; k < 4; ++k) {
        int best = k;
        for (int i = k + 1; i < 4; ++i) {
            best = fabs(B[4 * i + k]) > fabs(B[4 * best + k]) ? i : best;
        }
        if (B[4 * best + k] == 0) {
            return 0;
        }
        for (int j = 0; best != k && j < 4; ++j) {
            const double t = B[4 * k + j];
            B[4 * k + j] = B[4 * best + j];
            B[4 * best + j] = t;
        }

        det *= best == k ? B[4 * k + k] : -B[4 * k + k];
        for (int i = k + 1; i < 4; ++i) {
            const double f = B[4 * i + k] / B[4 * k + k];
            for (int j = k; j < 4; ++j) {
                B[4 * i + j] -= f * B[4 * k + j];
            }
        }
    }

    return det;
}

// A = M - eta N.
static void fit_shifted(const circle_fit *fit, double eta, double A[16])
{
    for (int i = 0; i < 16; ++i) {
        A[i] = fit->M[i] - eta * form[i];
    }
}

// The smallest root of det(M - eta N) from 0 upwards. M is positive semidefinite and N has one negative
// eigenvalue, so the determinant is a quartic with one root below or at 0 and three above; Newton's steps
// from 0 stay below the smallest of these.
static double fit_root(const circle_fit *fit)
{
    double A[16], c[5];

    // the quartic through its values at -2 .. 2, in units in which the points have size 1
    double value[5];

    for (int k = 0; k < 5; ++k) {
        fit_shifted(fit, k - 2, A);
        value[k] = det4(A);
    }

    // coefficients from even and odd parts of the five values
    const double odd1 = (value[3] - value[1]) / 2, odd2 = (value[4] - value[0]) / 2;
    const double even1 = (value[3] + value[1]) / 2 - value[2], even2 = (value[4] + value[0]) / 2 - value[2];
    c[0] = value[2];
    c[3] = (odd2 - 2 * odd1) / 6;
    c[1] = odd1 - c[3];
    c[4] = (even2 - 4 * even1) / 12;
    c[2] = even1 - c[4];

    // Newton from 0, where the quartic is monotone up to its first root
    double eta = 0;
    for (int pass = 0; pass < 60; ++pass) {
        const double f = c[0] + eta * (c[1] + eta * (c[2] + eta * (c[3] + eta * c[4])));
        const double d = c[1] + eta * (2 * c[2] + eta * (3 * c[3] + eta * 4 * c[4]));
        if (d == 0 || !(fabs(f) > 0)) {
            break;
        }
        const double step = f / d;
        eta -= step;
        if (fabs(step) <= 1e-16 * (1 + fabs(eta))) {
            break;
        }
    }

    return isfinite(eta) ? eta : 0;
}

// Directions of the plane: orthogonal to `axis`, or the two widest of the points.
static void fit_plane(circle_fit *fit, const double *point, int32_t count, const double *axis)
{
    // centroid and scatter matrix
    double S[9] = {0};
    memset(fit->centre, 0, sizeof fit->centre);
    for (int32_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            fit->centre[k] += point[3 * i + k] / count;
        }
    }

    for (int32_t i = 0; i < count; ++i) {
        double q[3];
        pl_sub3(point + 3 * i, fit->centre, q);
        for (int k = 0; k < 9; ++k) {
            S[k] += q[k / 3] * q[k % 3];
        }
    }

    fit->scale = sqrt((S[0] + S[4] + S[8]) / count);

    // given axis: any two directions across it
    if (axis) {
        const double length = pl_norm3(axis);
        const int least = fabs(axis[0]) <= fabs(axis[1]) && fabs(axis[0]) <= fabs(axis[2]) ? 0
                          : fabs(axis[1]) <= fabs(axis[2])                                 ? 1
                                                                                           : 2;
        double e[3] = {least == 0, least == 1, least == 2};
        for (int k = 0; k < 3; ++k) {
            fit->n[k] = axis[k] / length;
        }
        pl_cross3(fit->n, e, fit->u);
        const double across = pl_norm3(fit->u);
        for (int k = 0; k < 3; ++k) {
            fit->u[k] /= across;
        }
        pl_cross3(fit->n, fit->u, fit->v);
        return;
    }

    // otherwise the eigenvectors: the normal has the smallest scatter
    double value[3], V[9];
    pl_eigen3(S, value, V);
    fit->spread_n = value[0], fit->spread_v = value[1], fit->spread_u = value[2];
    for (int k = 0; k < 3; ++k) {
        fit->u[k] = V[3 * k + 2];
        fit->v[k] = V[3 * k + 1];
    }

    pl_cross3(fit->u, fit->v, fit->n);
}

// In-plane coordinates x and y over the scale, and the height h above the plane in mm.
static void fit_coordinates(const circle_fit *fit, const double *p, double *x, double *y, double *h)
{
    double q[3];
    pl_sub3(p, fit->centre, q);
    *x = pl_dot3(fit->u, q) / fit->scale;
    *y = pl_dot3(fit->v, q) / fit->scale;
    *h = pl_dot3(fit->n, q);
}

// The points' spread in the plane becomes their scale; false when they are no more than two places there.
static bool fit_scale(circle_fit *fit, const double *point, int32_t count)
{
    double place[2][2] = {{0}}, sum = 0;
    int places = 0;

    for (int32_t i = 0; i < count; ++i) {
        double x, y, h;
        fit_coordinates(fit, point + 3 * i, &x, &y, &h);
        sum += x * x + y * y;
        bool other = true;
        for (int k = 0; k < places && k < 2; ++k) {
            other = other && hypot(x - place[k][0], y - place[k][1]) > SAME_PLACE;
        }
        if (other && places < 2) {
            place[places][0] = x;
            place[places][1] = y;
        }

        places += other;
    }

    fit->scale *= sqrt(sum / count);
    return places > 2;
}

// Does the gradient (2 A x + B, 2 A y + C) lie to the left of the path through the points? Along all of it:
// the chord alone tells nothing of a curve that nearly closes.
static bool fit_lies_left(const circle_fit *fit, const double *point, int32_t count)
{
    double x0, y0, x1, y1, h, across = 0;
    fit_coordinates(fit, point, &x0, &y0, &h);
    for (int32_t i = 1; i < count; ++i) {
        fit_coordinates(fit, point + 3 * i, &x1, &y1, &h);
        across +=
            (x1 - x0) * (fit->a[0] * (y0 + y1) + fit->a[2]) - (y1 - y0) * (fit->a[0] * (x0 + x1) + fit->a[1]);
        x0 = x1;
        y0 = y1;
    }

    return across > 0;
}

// The coefficients a of the circle, with the sign that makes the curvature positive when the path turns left.
static void fit_solve(circle_fit *fit, const double *point, int32_t count)
{
    // M = mean of z z^T
    memset(fit->M, 0, sizeof fit->M);
    for (int32_t i = 0; i < count; ++i) {
        double x, y, h;
        fit_coordinates(fit, point + 3 * i, &x, &y, &h);
        const double z[4] = {x * x + y * y, x, y, 1};
        for (int k = 0; k < 16; ++k) {
            fit->M[k] += z[k / 4] * z[k % 4] / count;
        }
    }

    // eigenvector of the smallest eigenvalue
    fit->eta = fit_root(fit);
    double A[16], value[4], V[16];
    fit_shifted(fit, fit->eta, A);
    pl_dense_eigen(4, A, value, V);
    int null = 0;
    for (int k = 1; k < 4; ++k) {
        null = fabs(value[k]) < fabs(value[null]) ? k : null;
    }
    for (int k = 0; k < 4; ++k) {
        fit->a[k] = V[4 * k + null];
    }

    // normalised to B^2 + C^2 - 4 A D = 1
    const double norm = fit->a[1] * fit->a[1] + fit->a[2] * fit->a[2] - 4 * fit->a[0] * fit->a[3];
    for (int k = 0; k < 4; ++k) {
        fit->a[k] /= sqrt(fmax(norm, 1e-300));
    }

    if (fit_lies_left(fit, point, count)) {
        for (int k = 0; k < 4; ++k) {
            fit->a[k] = -fit->a[k];
        }
    }
}

// d(2 A)/d(in-plane coordinates) of each point. Differentiating M a = eta N a and a.N a = 1 gives
// [M - eta N, -N a; -(N a)^T, 0][da; deta] = [-dM a; 0]; with w the first four of the solution for the right
// side (1, 0, 0, 0; 0), dA = -w . dM a, and a point's share of dM a is z (dz . a) + dz (z . a).
static bool fit_adjoint(const circle_fit *fit, double w[5])
{
    double A[16], B[25] = {0};
    fit_shifted(fit, fit->eta, A);
    for (int i = 0; i < 4; ++i) {
        double Na = 0;
        for (int j = 0; j < 4; ++j) {
            B[5 * i + j] = A[4 * i + j];
            Na += form[4 * i + j] * fit->a[j];
        }

        B[5 * i + 4] = B[20 + i] = -Na;
    }

    memset(w, 0, 5 * sizeof *w);
    w[0] = 1;

    return pl_dense_solve(5, B, w, 1);
}

// d(curvature)/d(point), 3 per point, in 1/mm^2.
static void fit_gradient(const circle_fit *fit, const double *point, int32_t count, bool best, double sign,
                         double *gradient)
{
    double w[5], turn[2] = {0};
    memset(gradient, 0, 3 * (size_t)count * sizeof *gradient);
    if (!fit_adjoint(fit, w)) {
        return;
    }

    const double *a = fit->a, factor = -2 * sign / (count * fit->scale * fit->scale);

    // points move within the plane
    for (int32_t i = 0; i < count; ++i) {
        double x, y, h;
        fit_coordinates(fit, point + 3 * i, &x, &y, &h);
        const double z[4] = {x * x + y * y, x, y, 1};
        const double za = z[0] * a[0] + z[1] * a[1] + z[2] * a[2] + a[3];
        const double zw = z[0] * w[0] + z[1] * w[1] + z[2] * w[2] + w[3];
        const double gx = factor * (zw * (2 * x * a[0] + a[1]) + za * (2 * x * w[0] + w[1]));
        const double gy = factor * (zw * (2 * y * a[0] + a[2]) + za * (2 * y * w[0] + w[2]));
        for (int k = 0; k < 3; ++k) {
            gradient[3 * i + k] = gx * fit->u[k] + gy * fit->v[k];
        }
        turn[0] -= gx * h;
        turn[1] -= gy * h;
    }

    // the best plane turns with the points: dn = sum_k e_k (e_k . dS n) / (s_n - s_k)
    const double *e[2] = {fit->u, fit->v}, spread[2] = {fit->spread_u, fit->spread_v};
    for (int d = 0; best && d < 2; ++d) {
        const double gap = fit->spread_n - spread[d];
        if (!(fabs(gap) > 1e-13 * fit->spread_u)) {
            continue; // on a line: no plane is better than another
        }
        for (int32_t i = 0; i < count; ++i) {
            double q[3];
            pl_sub3(point + 3 * i, fit->centre, q);
            for (int k = 0; k < 3; ++k) {
                gradient[3 * i + k] +=
                    turn[d] / gap * (e[d][k] * pl_dot3(fit->n, q) + pl_dot3(e[d], q) * fit->n[k]);
            }
        }
    }
}

// 1/mm; signed with an axis, else its absolute value. `gradient` (may be NULL) has 3 numbers per point.
double pl_fit_curvature(const double *point, int32_t count, const double *axis, double *gradient)
{
    circle_fit fit = {0};
    fit_plane(&fit, point, count, axis);
    if (!(fit.scale > 0) || !fit_scale(&fit, point, count)) {
        if (gradient) {
            memset(gradient, 0, 3 * (size_t)count * sizeof *gradient);
        }
        return 0; // one place or two: no more than a line
    }

    fit_solve(&fit, point, count);
    const double signed_curvature = 2 * fit.a[0] / fit.scale;
    const double sign = axis || signed_curvature >= 0 ? 1 : -1;
    if (gradient) {
        fit_gradient(&fit, point, count, !axis, sign, gradient);
    }

    return sign * signed_curvature;
}
