// One element of a rod or a chain. Its deformation (V, theta) is the logarithm of the pose of its second node
// seen from the first, so rigid motion stores no energy and a circular arc is met exactly; its stiffness is
// that of a straight Timoshenko element. All formulas live in the frame midway, R_m = R_1 exp(theta/2).
//
// With node spins b1, b2 in that frame, D = b2 - b1 and mean b:
//   dtheta = A D,  w_m = b - t theta x D,  dc = d + c x w_m,  A = a I + k theta theta^T,
//   a = x / sin x at x = |theta|/2,  k = (1 - a)/|theta|^2,  t = tan(|theta|/4) / (2 |theta|).
#include "reduced/reduced_rod.h"

// Up to |theta| = 1 by series in s = |theta|^2 (to 1e-17), beyond in closed form.
static void element_functions(double s, rod_measure *g)
{
    static const double ck[] = {-4.16666666666666644e-02, -1.21527777777777780e-03, -3.20353835978835948e-05,
                                -8.20260830026455070e-07, -2.08359820718761682e-08, -5.28160996772133702e-10,
                                -1.33809029202683348e-11, -3.38957685148932100e-13, -8.58599654982294738e-15,
                                -2.17486455032522302e-16, -5.50900020146297623e-18};
    static const double ct[] = {1.25000000000000000e-01, 2.60416666666666652e-03, 6.51041666666666658e-05,
                                1.64698040674603182e-06, 4.17127390597442684e-08, 1.05658001064088313e-09,
                                2.67634394509530153e-11, 6.77925714781190423e-13, 1.71720586061007910e-14,
                                4.34973324888328494e-16, 1.10180030298232065e-17};

    // Horner's rule for the series and its derivatives, from the highest term
    if (s <= 1) {
        double k = 0, dk = 0, ddk = 0, t = 0, dt = 0;
        // fewer terms do for smaller angles
        for (int n = s < 0.04 ? 6 : 10; n >= 0; --n) {
            ddk = s * ddk + 2 * dk;
            dk = s * dk + k;
            k = s * k + ck[n];
            dt = s * dt + t;
            t = s * t + ct[n];
        }

        g->k = k, g->dk = dk, g->ddk = ddk, g->t = t, g->dt = dt;
        g->a = 1 - s * k;
        g->da = -k - s * dk;
        g->dda = -2 * dk - s * ddk;
        return;
    }

    // closed forms in x = |theta| / 2 and y = |theta| / 4; derivatives are with respect to s = |theta|^2
    const double x = 0.5 * sqrt(s), csc = 1 / sin(x), cot = cos(x) * csc, y = 0.5 * x, tn = tan(y);
    const double ax = csc - x * csc * cot, axx = -2 * csc * cot + x * csc * (cot * cot + csc * csc);
    g->a = x * csc;
    g->da = ax / (8 * x);
    g->dda = (axx - ax / x) / (64 * x * x);
    g->k = (1 - g->a) / s;
    g->dk = (-g->da - g->k) / s;
    g->ddk = (-g->dda - 2 * g->dk) / s;
    g->t = tn / (8 * y);
    g->dt = ((1 + tn * tn) / y - tn / (y * y)) / (256 * y);
}

// B = d(A(theta) y)/dtheta = (2 da y + 2 dk (theta . y) theta) theta^T + k (theta y^T + (theta . y) I)
void rod_measure_slope(const rod_measure *g, const double theta[3], const double y[3], double B[9])
{
    const double ty = pl_dot3(theta, y), f = 2 * g->dk * ty;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            B[3 * i + j] = (2 * g->da * y[i] + f * theta[i]) * theta[j] + g->k * theta[i] * y[j];
        }
        B[4 * i] += g->k * ty;
    }
}

// V = A c and its derivative B by theta; A is symmetric.
void rod_measure_of(const rod_state *x, rod_measure *g)
{
    const double *theta = x->theta;
    element_functions(pl_dot3(theta, theta), g);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            g->A[3 * i + j] = g->k * theta[i] * theta[j];
        }
        g->A[4 * i] += g->a;
    }

    pl_mulv3(g->A, x->c, g->V);
    rod_measure_slope(g, theta, x->c, g->B);
}

// virtual work n . dV + m . dtheta = (A n) . dc + (m + B^T n) . dtheta gives
//   force = A n,  q = force x c,  moments q/2 -+ mu,  mu = A (m + B^T n) - t q x theta
void rod_forces(const rod_state *x, const rod_measure *g, const double n[3], const double m[3], rod_nodal *f)
{
    double w[3], q[3], mu[3], qt[3];
    pl_mulv3(g->A, n, f->force);

    // force and q, in the midway frame
    pl_cross3(f->force, x->c, q);

    // moments: w = m + B^T n, then mu
    pl_mulTv3(g->B, n, w);
    reduced_axpy3(1, m, w);
    pl_mulv3(g->A, w, mu);
    pl_cross3(q, x->theta, qt);
    reduced_axpy3(-g->t, qt, mu);
    for (int i = 0; i < 3; ++i) {
        f->moment[0][i] = 0.5 * q[i] - mu[i];
        f->moment[1][i] = 0.5 * q[i] + mu[i];
    }
}

// Change of (c, theta) when the second node moves by d against the first and the nodes turn by spin1, spin2.
void rod_change(const rod_state *x, const rod_measure *g, const double d[3], const double spin1[3],
                const double spin2[3], double dc[3], double dtheta[3])
{
    double D[3], w[3], turn[3];
    pl_sub3(spin2, spin1, D);
    pl_mulv3(g->A, D, dtheta);
    pl_cross3(x->theta, D, w);
    for (int i = 0; i < 3; ++i) {
        w[i] = 0.5 * (spin1[i] + spin2[i]) - g->t * w[i];
    }
    pl_cross3(x->c, w, turn);
    for (int i = 0; i < 3; ++i) {
        dc[i] = d[i] + turn[i];
    }
}

// ---- tangent
// R += A B, and below R += A^T B.
static inline void add_mul33(const double A[9], const double B[9], double R[9])
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            R[3 * i + j] += A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

static inline void add_mulT33(const double A[9], const double B[9], double R[9])
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            R[3 * i + j] += A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
        }
    }
}

// R += f v^ M, with v^ y = v x y
static inline void add_skew_left(double f, const double v[3], const double M[9], double R[9])
{
    for (int j = 0; j < 3; ++j) {
        R[j] += f * (v[1] * M[6 + j] - v[2] * M[3 + j]);
        R[3 + j] += f * (v[2] * M[j] - v[0] * M[6 + j]);
        R[6 + j] += f * (v[0] * M[3 + j] - v[1] * M[j]);
    }
}

// R += f M v^
static inline void add_skew_right(double f, const double M[9], const double v[3], double R[9])
{
    for (int i = 0; i < 3; ++i) {
        const double *row = M + 3 * i;
        R[3 * i] += f * (row[1] * v[2] - row[2] * v[1]);
        R[3 * i + 1] += f * (row[2] * v[0] - row[0] * v[2]);
        R[3 * i + 2] += f * (row[0] * v[1] - row[1] * v[0]);
    }
}

// R += f v^
static inline void add_skew(double f, const double v[3], double R[9])
{
    R[1] -= f * v[2];
    R[2] += f * v[1];
    R[3] += f * v[2];
    R[5] -= f * v[0];
    R[6] -= f * v[1];
    R[7] += f * v[0];
}

// Second derivative of n . A(theta) c by theta.
// H += second derivative; A depends on theta through a(s), k(s) and theta theta^T, s = |theta|^2
static void add_curvature(const rod_measure *g, const double theta[3], const double c[3], const double n[3],
                          double H[9])
{
    const double cn = pl_dot3(c, n), tc = pl_dot3(theta, c), tn = pl_dot3(theta, n), p = tc * tn;
    const double diagonal = 2 * (g->da * cn + g->dk * p), square = 4 * (g->dda * cn + g->ddk * p);
    double y[3];

    for (int i = 0; i < 3; ++i) {
        y[i] = 2 * g->dk * (tn * c[i] + tc * n[i]);
    }

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            H[3 * i + j] += square * theta[i] * theta[j] + theta[i] * y[j] + y[i] * theta[j] +
                            g->k * (c[i] * n[j] + n[i] * c[j]);
        }

        H[4 * i] += diagonal;
    }
}

// Columns of a vector f of the midway frame, from its derivatives Fc by c and Ft by theta:
//   by d: Fc;  by the mean spin: E = Fc c^ - f^;  by the difference of spins: X = Ft A - t E theta^
static void element_columns(const rod_state *x, const rod_measure *g, const double f[3], const double Fc[9],
                            const double Ft[9], double E[9], double X[9])
{
    memset(E, 0, 9 * sizeof *E);
    memset(X, 0, 9 * sizeof *X);
    add_skew_right(1, Fc, x->c, E);
    add_skew(-1, f, E);
    add_mul33(Ft, g->A, X);
    add_skew_right(-g->t, E, x->theta, X);
}

// Derivatives of force n~ = A n, q = n~ x c and mu = A w - t q x theta, w = m + B^T n, by c and theta.
typedef struct element_slopes {
    double n[3], q[3], mu[3];
    double nc[9], nt[9], qc[9], qt[9], mc[9], mt[9];
} element_slopes;

// The chain rule from strains (V, theta) to state (c, theta): dV = A dc + B dtheta.
static void element_slopes_of(const rod_state *x, const rod_measure *g, const rod_stress *s,
                              element_slopes *d)
{
    double Nc[9] = {0}, Nt[9], Wc[9] = {0}, Wt[9], Bn[9], Bw[9], w[3], qt[3];
    *d = (element_slopes){0};

    // stress by state
    add_mul33(s->Cvv, g->A, Nc);
    memcpy(Nt, s->Cvt, sizeof Nt);
    add_mul33(s->Cvv, g->B, Nt);

    // force
    rod_measure_slope(g, x->theta, s->n, Bn);
    pl_mulv3(g->A, s->n, d->n);
    add_mul33(g->A, Nc, d->nc);
    memcpy(d->nt, Bn, sizeof Bn);
    add_mul33(g->A, Nt, d->nt);

    // q
    pl_cross3(d->n, x->c, d->q);
    add_skew_left(-1, x->c, d->nc, d->qc);
    add_skew(1, d->n, d->qc);
    add_skew_left(-1, x->c, d->nt, d->qt);

    // w
    pl_mulTv3(g->B, s->n, w);
    reduced_axpy3(1, s->m, w);
    add_mul33(s->Ctv, g->A, Wc);
    add_mulT33(g->B, Nc, Wc);

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            Wc[3 * i + j] += Bn[3 * j + i];
        }
    }

    memcpy(Wt, s->Ctt, sizeof Wt);
    add_mul33(s->Ctv, g->B, Wt);
    add_mulT33(g->B, Nt, Wt);
    add_curvature(g, x->theta, x->c, s->n, Wt);

    // mu
    pl_mulv3(g->A, w, d->mu);
    pl_cross3(d->q, x->theta, qt);
    reduced_axpy3(-g->t, qt, d->mu);
    add_mul33(g->A, Wc, d->mc);
    add_skew_left(g->t, x->theta, d->qc, d->mc);
    rod_measure_slope(g, x->theta, w, Bw);
    memcpy(d->mt, Bw, sizeof Bw);
    add_mul33(g->A, Wt, d->mt);
    add_skew_left(g->t, x->theta, d->qt, d->mt);
    add_skew(-g->t, d->q, d->mt);

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            d->mt[3 * i + j] -= 2 * g->dt * qt[i] * x->theta[j];
        }
    }
}

// Blocks T[row][column]: rows force, moment at node 1, moment at node 2; columns d, spin 1, spin 2.
void rod_tangent(const rod_state *x, const rod_measure *g, const rod_stress *s, double T[3][3][9])
{
    element_slopes d;
    double En[9], Xn[9], Eq[9], Xq[9], Em[9], Xm[9];

    element_slopes_of(x, g, s, &d);

    // columns by d, by the mean spin and by the difference of spins
    element_columns(x, g, d.n, d.nc, d.nt, En, Xn);
    element_columns(x, g, d.q, d.qc, d.qt, Eq, Xq);
    element_columns(x, g, d.mu, d.mc, d.mt, Em, Xm);

    // moments are q/2 -+ mu; spins are mean -+ half of the difference
    for (int i = 0; i < 9; ++i) {
        T[0][0][i] = d.nc[i];
        T[0][1][i] = 0.5 * En[i] - Xn[i];
        T[0][2][i] = 0.5 * En[i] + Xn[i];

        for (int k = 0; k < 2; ++k) {
            const double sign = k ? 1 : -1, E = 0.5 * Eq[i] + sign * Em[i], X = 0.5 * Xq[i] + sign * Xm[i];
            T[1 + k][0][i] = 0.5 * d.qc[i] + sign * d.mc[i];
            T[1 + k][1][i] = 0.5 * E - X;
            T[1 + k][2][i] = 0.5 * E + X;
        }
    }
}

// ---- block tridiagonal systems
// LU factors of a 6 x 6 block with partial pivoting, in place; false: singular.
static bool band_factor_block(double *A, int *pivot)
{
    for (int k = 0; k < 6; ++k) {
        // pivot: the largest entry of the column
        int best = k;
        for (int i = k + 1; i < 6; ++i) {
            best = fabs(A[6 * i + k]) > fabs(A[6 * best + k]) ? i : best;
        }
        pivot[k] = best;

        if (best != k) {
            for (int j = 0; j < 6; ++j) {
                const double swap = A[6 * k + j];
                A[6 * k + j] = A[6 * best + j];
                A[6 * best + j] = swap;
            }
        }

        if (!(fabs(A[7 * k]) > 0)) {
            return false;
        }

        // eliminate
        const double inverse = 1 / A[7 * k];
        for (int i = k + 1; i < 6; ++i) {
            const double f = A[6 * i + k] *= inverse;
            for (int j = k + 1; j < 6; ++j) {
                A[6 * i + j] -= f * A[6 * k + j];
            }
        }
    }

    return true;
}

// Solves for `count` columns of a row-major 6 x count block, in place.
static void band_solve_block(const double *A, const int *pivot, double *b, int count)
{
    // exchanges, then forward and backward substitution
    for (int k = 0; k < 6; ++k) {
        if (pivot[k] != k) {
            for (int j = 0; j < count; ++j) {
                const double swap = b[k * count + j];
                b[k * count + j] = b[pivot[k] * count + j];
                b[pivot[k] * count + j] = swap;
            }
        }
    }

    for (int i = 1; i < 6; ++i) {
        for (int k = 0; k < i; ++k) {
            const double f = A[6 * i + k];
            for (int j = 0; j < count; ++j) {
                b[i * count + j] -= f * b[k * count + j];
            }
        }
    }

    for (int i = 5; i >= 0; --i) {
        for (int k = i + 1; k < 6; ++k) {
            const double f = A[6 * i + k];
            for (int j = 0; j < count; ++j) {
                b[i * count + j] -= f * b[k * count + j];
            }
        }

        const double inverse = 1 / A[7 * i];
        for (int j = 0; j < count; ++j) {
            b[i * count + j] *= inverse;
        }
    }
}

// Negative pivots of the symmetric part of a 6 x 6 block, L D L^T without exchanges: the count of negative
// eigenvalues (Sylvester) where no pivot is 0.
static int band_negative(const double *D)
{
    double A[36];
    int count = 0;

    for (int i = 0; i < 36; ++i) {
        A[i] = 0.5 * (D[i] + D[6 * (i % 6) + i / 6]);
    }

    for (int k = 0; k < 6; ++k) {
        count += A[7 * k] < 0;
        for (int i = k + 1; i < 6; ++i) {
            const double f = A[6 * i + k] / A[7 * k];
            for (int j = k + 1; j < 6; ++j) {
                A[6 * i + j] -= f * A[6 * k + j];
            }
        }
    }

    return count;
}

// Elimination from the tip to the base: D_i <- D_i - U_i D_{i+1}^-1 L_i. The blocks left on the diagonal have
// together the inertia of the whole (Haynsworth).
bool rod_band_factor(rod_band *b)
{
    b->negative = 0;
    for (int i = b->n - 1; i >= 0; --i) {
        double *D = b->D + 36 * i;

        if (i + 1 < b->n) {
            // D_i - U_i D_{i+1}^-1 L_i
            const double *U = b->U + 36 * i, *X = b->X + 36 * i;
            for (int r = 0; r < 6; ++r) {
                for (int k = 0; k < 6; ++k) {
                    const double f = U[6 * r + k];
                    for (int c = 0; c < 6; ++c) {
                        D[6 * r + c] -= f * X[6 * k + c];
                    }
                }
            }
        }

        b->negative += band_negative(D);
        if (!band_factor_block(D, b->pivot + 6 * i)) {
            return false;
        }

        // X_{i-1} = D_i^-1 L_{i-1}, needed by the next block and by the solution
        if (i > 0) {
            double *X = b->X + 36 * (i - 1);
            memcpy(X, b->L + 36 * (i - 1), 36 * sizeof *X);
            band_solve_block(D, b->pivot + 6 * i, X, 6);
        }
    }

    return true;
}

// Solves in place for one right side: down to the base, then back to the tip.
void rod_band_solve(const rod_band *b, double *x)
{
    for (int i = b->n - 1; i >= 0; --i) {
        double *y = x + 6 * i;
        if (i + 1 < b->n) {
            const double *U = b->U + 36 * i, *after = y + 6;

            for (int r = 0; r < 6; ++r) {
                for (int k = 0; k < 6; ++k) {
                    y[r] -= U[6 * r + k] * after[k];
                }
            }
        }

        band_solve_block(b->D + 36 * i, b->pivot + 6 * i, y, 1);
    }

    for (int i = 1; i < b->n; ++i) {
        const double *X = b->X + 36 * (i - 1), *before = x + 6 * (i - 1);
        for (int r = 0; r < 6; ++r) {
            for (int k = 0; k < 6; ++k) {
                x[6 * i + r] -= X[6 * r + k] * before[k];
            }
        }
    }
}
