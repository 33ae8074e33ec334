// Arcs of constant curvature under forces at their markers. The unknowns q (elongation and rotation vector of
// every section) make
//   1/2 q K q - sum F . p(q) + sum sign_a f_a R_a q
// stationary under R_a q = given for held lengths. p(q) is not linear, so this is Newton's method with the
// exact second derivatives of the markers' positions.
#include <stdio.h>
#include "reduced/reduced_cc.h"
#include "solver/solver.h"

#define CC_ITERATIONS 40   // Newton steps at one share of the forces
#define CC_TOLERANCE 1e-12 // rad, and elongation over length: size of the last step
#define CC_TURN_MAX 0.5    // rad an arc may turn in one step
#define CC_STRIDE_MIN 1e-4 // share of the forces below which the path ends

bool cc_load_memory(pl_reduced_model *m, cc_data *c)
{
    const size_t U = (size_t)c->unknowns, A = (size_t)m->actuator_count, n = U + A;
    c->slope = REDUCED_TAKE(m, double, n *(A + 1));
    c->hessian = REDUCED_TAKE(m, double, U *U);
    c->pull = REDUCED_TAKE(m, double, U);
    c->spin = REDUCED_TAKE(m, double, 3 * U);
    c->tangent = REDUCED_TAKE(m, double, n *n);
    c->step = REDUCED_TAKE(m, double, n);
    c->state = REDUCED_TAKE(m, double, n);
    c->eigen = REDUCED_TAKE(m, double, n);

    return c->slope && c->hessian && c->pull && c->spin && c->tangent && c->step && c->state && c->eigen;
}

// Second derivatives of an arc's end by (length, T1, T2): ddp of the position, dw[a][b] of the spatial
// rotation w_a by b. With c_n = sum of (-s)^k / (2k + n)!, s = |T|^2: dc_n/ds = (n c_{n+2} - c_{n+1}) / 2.
static void cc_arc_second(double length, double T1, double T2, double ddp[3][3][3], double dw[3][3][3])
{
    const double s = T1 * T1 + T2 * T2, theta[3] = {T1, T2, 0};
    const reduced_trig t = reduced_trig_of(s);
    double S3, C3;

    reduced_trig_next(s, &S3, &C3);

    // c_n of the comment: S1, C1, S2, C2, S3, C3 are c_1 .. c_6
    const double dS = 0.5 * (t.S2 - t.C1), dC = t.C2 - 0.5 * t.S2, dS2 = 0.5 * (3 * S3 - t.C2);
    const double ddS = 0.5 * (dS2 - dC), ddC = 0.5 * (4 * C3 - S3) - 0.5 * dS2;
    const double l = length;
    const double second[3][3][3] = {
        {{0, 0, 0},
         {2 * dC * T1 * T2, -(t.C1 + 2 * dC * T1 * T1), 2 * dS * T1},
         {t.C1 + 2 * dC * T2 * T2, -2 * dC * T1 * T2, 2 * dS * T2}},
        {{2 * dC * T1 * T2, -(t.C1 + 2 * dC * T1 * T1), 2 * dS * T1},
         {l * 2 * T2 * (dC + 2 * ddC * T1 * T1), -l * T1 * (6 * dC + 4 * ddC * T1 * T1),
          l * (2 * dS + 4 * ddS * T1 * T1)},
         {l * 2 * T1 * (dC + 2 * ddC * T2 * T2), -l * 2 * T2 * (dC + 2 * ddC * T1 * T1),
          l * 4 * ddS * T1 * T2}},
        {{t.C1 + 2 * dC * T2 * T2, -2 * dC * T1 * T2, 2 * dS * T2},
         {l * 2 * T1 * (dC + 2 * ddC * T2 * T2), -l * 2 * T2 * (dC + 2 * ddC * T1 * T1),
          l * 4 * ddS * T1 * T2},
         {l * T2 * (6 * dC + 4 * ddC * T2 * T2), -l * 2 * T1 * (dC + 2 * ddC * T2 * T2),
          l * (2 * dS + 4 * ddS * T2 * T2)}}};
    memcpy(ddp, second, sizeof second);

    // the length does not turn the end, so its rows stay 0
    memset(dw, 0, sizeof(double[3][3][3]));

    // w_a = e_a + C1 theta x e_a + S2 theta x (theta x e_a)
    for (int a = 1; a < 3; ++a) {
        const double e[3] = {a == 1, a == 2, 0};
        double x[3], xx[3];
        pl_cross3(theta, e, x);
        pl_cross3(theta, x, xx);

        for (int b = 1; b < 3; ++b) {
            const double f[3] = {b == 1, b == 2, 0};
            double y[3], xy[3], yx[3];
            pl_cross3(f, e, y);
            pl_cross3(f, x, xy);
            pl_cross3(theta, y, yx);
            for (int k = 0; k < 3; ++k) {
                dw[a][b][k] =
                    2 * theta[b - 1] * (dC * x[k] + dS2 * xx[k]) + t.C1 * y[k] + t.S2 * (xy[k] + yx[k]);
            }
        }
    }
}

// Adds F . dp/dq to pull and F . d2p/dq2 to hessian for a point p carried by station `at`. Between pieces
// i < j the second derivative is w_i x (dp/dj), because i carries all that lies above it.
static void cc_add_force(const pl_reduced_model *m, cc_data *c, int at, const double p[3], const double F[3])
{
    const int U = c->unknowns;
    memset(c->spin, 0, 3 * (size_t)U * sizeof *c->spin);
    for (int i = 0; i < at; ++i) {
        const cc_piece *e = &c->piece[i];
        const double *q = m->own + 3 * e->section, *R = m->frame[i].R;
        const double length = e->h + e->share * q[0], T1 = e->weight * q[1], T2 = e->weight * q[2];
        const double scale[3] = {e->share, e->weight, e->weight};
        double dp[3][3], w[3][3], ddp[3][3][3], dw[3][3][3], arm[3], W[3][3], v[3][3], lever[3][3];
        cc_arc_derivative(length, T1, T2, dp, w);
        cc_arc_second(length, T1, T2, ddp, dw);

        // first derivatives in the world, and the lever from the piece's end
        pl_sub3(p, m->frame[i + 1].r, arm);
        for (int a = 0; a < 3; ++a) {
            pl_mulv3(R, dp[a], v[a]);
            pl_mulv3(R, w[a], W[a]);
            pl_cross3(W[a], arm, lever[a]);
            reduced_axpy3(1, lever[a], v[a]);
            c->pull[3 * e->section + a] += scale[a] * pl_dot3(F, v[a]);
        }

        // second derivatives
        for (int b = 0; b < 3; ++b) {
            const int ub = 3 * e->section + b;
            // with all pieces below
            for (int u = 0; u < U; ++u) {
                double turned[3];
                pl_cross3(c->spin + 3 * u, v[b], turned);
                const double value = scale[b] * pl_dot3(F, turned);
                c->hessian[u * U + ub] += value;
                c->hessian[ub * U + u] += value;
            }

            // within the piece: R ddp + R dw x arm + w_a x (w_b x arm)
            for (int a = 0; a < 3; ++a) {
                double x[3], y[3], z[3], turned[3];
                pl_mulv3(R, ddp[a][b], x);
                pl_mulv3(R, dw[a][b], y);
                pl_cross3(y, arm, z);
                pl_cross3(W[a], lever[b], turned);
                c->hessian[(3 * e->section + a) * U + ub] +=
                    scale[a] * scale[b] * (pl_dot3(F, x) + pl_dot3(F, z) + pl_dot3(F, turned));
            }
        }

        // this piece carries all that follow
        for (int a = 0; a < 3; ++a) {
            reduced_axpy3(scale[a], W[a], c->spin + 3 * (3 * e->section + a));
        }
    }
}

// A force at a marker: `share` of it, in the world.
static void cc_add_load(const pl_reduced_model *m, cc_data *c, int at, const double offset[3],
                        const double force[3], double share)
{
    const reduced_frame *f = &m->frame[at];
    const double F[3] = {share * force[0], share * force[1], share * force[2]};
    double p[3];

    if (F[0] != 0 || F[1] != 0 || F[2] != 0) {
        pl_mulv3(f->R, offset, p);
        reduced_axpy3(1, f->r, p);
        cc_add_force(m, c, at, p, F);
    }
}

// First and second derivatives of the work of the forces at the present frames.
static void cc_load_derive(const pl_reduced_model *m, cc_data *c)
{
    const size_t U = (size_t)c->unknowns;
    memset(c->pull, 0, U * sizeof *c->pull);
    memset(c->hessian, 0, U * U * sizeof *c->hessian);
    for (int i = 0; i < m->marker_count; ++i) {
        cc_add_load(m, c, m->marker[i].station, m->marker[i].offset, m->acting + 3 * i, 1);
    }
    for (int i = 0; i < m->force_count; ++i) {
        cc_add_load(m, c, m->force[i].station, m->force[i].offset, m->force[i].force, *c->load);
    }
}

// One Newton step for unknowns and efforts; its size, -1 if there is none.
static double cc_step(pl_reduced_model *m, cc_data *c)
{
    const int U = c->unknowns, A = m->actuator_count;
    cc_load_derive(m, c);

    // right side: minus the gradient of the energy; unknown changes of unknowns and efforts
    cc_matrix(m, c, c->hessian, c->work);
    for (int i = 0; i < U; ++i) {
        c->step[i] = c->pull[i] - c->K[i] * m->own[i];
        for (int a = 0; a < A; ++a) {
            c->step[i] -= cc_sign(m, a) * c->row[a * U + i] * m->answer.effort[a];
        }
    }

    // held measures are linear in q and met by the start of the path
    memset(c->step + U, 0, (size_t)A * sizeof *c->step);
    if (!pl_dense_solve(U + A, c->work, c->step, 1)) {
        return -1;
    }

    // elongations relative to the section's length, so that they compare with radians
    double size = 0;
    for (int i = 0; i < U; ++i) {
        size = fmax(size, fabs(c->step[i]) / (i % 3 ? 1 : m->section[i / 3].length));
    }

    return isfinite(size) ? size : -1;
}

// Newton's method at the present forces from the present state; false: no convergence, or an arc lost its
// length. A step turns no arc by more than CC_TURN_MAX, because beyond it the second-order model fails.
static bool cc_newton(pl_reduced_model *m, cc_data *c, int *iterations)
{
    double last = INFINITY;
    for (int iteration = 0; iteration < CC_ITERATIONS; ++iteration) {
        const double size = cc_step(m, c), factor = size > CC_TURN_MAX ? CC_TURN_MAX / size : 1;
        if (size < 0) {
            return false;
        }
        ++*iterations;
        for (int i = 0; i < c->unknowns; ++i) {
            m->own[i] += factor * c->step[i];
        }
        for (int a = 0; a < m->actuator_count; ++a) {
            m->answer.effort[a] += factor * c->step[c->unknowns + a];
        }
        if (!cc_place(m, c)) {
            return false;
        }
        // converged, or stalled at rounding level
        if (size < CC_TOLERANCE || (size < 1e-9 && size >= last)) {
            return true;
        }
        last = size;
    }

    return false;
}

// Negative eigenvalues of K - H where the held measures are constant: those of [K - H R^T; R 0] less one for
// every held measure.
static int cc_negative(pl_reduced_model *m, cc_data *c)
{
    const int U = c->unknowns, A = m->actuator_count, n = U + A;
    int negative = 0;

    cc_load_derive(m, c);

    // symmetric form: with the sign of chambers reversed rows and columns would differ in sign
    cc_matrix(m, c, c->hessian, c->tangent);
    for (int a = 0; a < A; ++a) {
        const bool held = cc_is_held(m, c, a);
        for (int i = 0; held && i < U; ++i) {
            c->tangent[i * n + U + a] = c->row[a * U + i];
        }
        negative -= held;
    }

    pl_dense_eigen(n, c->tangent, c->eigen, NULL);
    for (int i = 0; i < n; ++i) {
        negative += c->eigen[i] < 0;
    }

    return negative;
}

// Sets the share of all forces that acts.
static void cc_load_share(pl_reduced_model *m, const cc_data *c, double share)
{
    *c->load = share;
    for (int i = 0; i < 3 * m->marker_count; ++i) {
        m->acting[i] = share * m->wanted_force[i];
    }
}

// Stores the unknowns and efforts (keep), or returns to the stored ones.
static void cc_load_keep(pl_reduced_model *m, cc_data *c, bool keep)
{
    const size_t U = (size_t)c->unknowns, A = (size_t)m->actuator_count;
    double *to = keep ? c->state : m->own, *effort = keep ? c->state + U : m->answer.effort;
    memcpy(to, keep ? m->own : c->state, U * sizeof *to);
    memcpy(effort, keep ? m->answer.effort : c->state + U, A * sizeof *effort);
}

void cc_load_solve(pl_reduced_model *m, cc_data *c, pl_solve_report *report)
{
    cc_load_share(m, c, 1);
    if (!cc_is_loaded(m, c)) {
        return;
    }

    // all forces at once; where that fails, half of what is left, growing again after success
    double reached = 0, stride = 1;
    while (reached < 1 && stride > CC_STRIDE_MIN) {
        const double next = fmin(1, reached + stride);
        cc_load_keep(m, c, true);
        cc_load_share(m, c, next);

        if (cc_newton(m, c, &report->iterations)) {
            reached = next;
            stride *= 2;
            continue;
        }

        cc_load_keep(m, c, false);
        cc_place(m, c);
        stride *= 0.5;
    }

    // what was reached, and whether it is stable
    cc_load_share(m, c, reached);
    report->load_reached = reached;
    report->negative_count = cc_negative(m, c);

    if (reached < 1) {
        report->outcome = PL_STEP_LIMIT;
        snprintf(report->message, sizeof report->message,
                 "the arcs bear %.3g %% of the forces; no equilibrium was found beyond", 100 * reached);
    } else if (report->negative_count > 0) {
        report->outcome = PL_UNSTABLE;
        snprintf(report->message, sizeof report->message,
                 "the equilibrium under the forces is unstable (%d negative eigenvalues): the arcs buckle",
                 report->negative_count);
    }
}

bool cc_is_loaded(const pl_reduced_model *m, const cc_data *c)
{
    return reduced_is_loaded(m) || (m->force_count > 0 && *c->load > 0);
}

bool cc_load_slope(pl_reduced_model *m, cc_data *c)
{
    cc_load_derive(m, c);
    return cc_map(m, c, c->hessian, c->slope);
}

// [K - H R^T; R 0] [dq; df] = [dp/dq of the marker; 0], or the column of an actuator.
void cc_respond(pl_reduced_model *m, const reduced_load *load, reduced_response *out,
                pl_jacobian_report *report)
{
    cc_data *c = m->kind_data;
    const int U = c->unknowns, A = m->actuator_count;

    cc_ready(m, c);

    // the right side
    double *x = c->step, *twist = c->work;
    memset(x, 0, (size_t)(U + A) * sizeof *x);
    if (load->marker >= 0) {
        const reduced_marker *marker = &m->marker[load->marker];
        double p[3];
        pl_mulv3(m->frame[marker->station].R, marker->offset, p);
        reduced_axpy3(1, m->frame[marker->station].r, p);
        memset(twist, 0, 6 * (size_t)U * sizeof *twist);
        for (int i = 0; i < marker->station; ++i) {
            cc_piece_twist(m, c, i, 1, m->frame[i + 1].r, p, twist);
        }
        memcpy(x, twist + load->axis * U, (size_t)U * sizeof *x);
    } else if (cc_is_held(m, c, load->actuator)) {
        x[U + load->actuator] = 1;
    } else {
        for (int i = 0; i < U; ++i) {
            x[i] = -cc_sign(m, load->actuator) * c->row[load->actuator * U + i];
        }
    }

    cc_load_derive(m, c);
    cc_matrix(m, c, c->hessian, c->tangent);
    if (!pl_dense_solve(U + A, c->tangent, x, 1)) {
        report->residual = NAN;
        memset(x, 0, (size_t)(U + A) * sizeof *x);
    }

    // what follows from the unknowns
    for (int k = 0; k < m->station_count; ++k) {
        double *T = out->twist + 6 * k;
        memset(T, 0, 6 * sizeof *T);
        if (!m->station_used[k]) {
            continue;
        }
        memset(twist, 0, 6 * (size_t)U * sizeof *twist);
        for (int i = 0; i < k; ++i) {
            cc_piece_twist(m, c, i, 1, m->frame[i + 1].r, m->frame[k].r, twist);
        }
        for (int r = 0; r < 6; ++r) {
            for (int i = 0; i < U; ++i) {
                T[r] += twist[r * U + i] * x[i];
            }
        }
    }

    for (int a = 0; a < A + m->sensor_count; ++a) {
        double sum = 0;
        for (int i = 0; i < U; ++i) {
            sum += c->row[a * U + i] * x[i];
        }
        if (a < A) {
            out->measure[a] = sum;
            out->effort[a] = x[U + a] + (a == load->actuator && !cc_is_held(m, c, a));
        } else {
            out->sensor[a - A] = sum;
        }
    }
}
