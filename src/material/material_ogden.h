// The ogden law in the principal axes F = U diag(l) V^T
// With t_i = (J^(-1/3) l_i)^alpha, S = sum t_i and c = 2 mu / alpha per term,
//   W = sum c / alpha (S - 3),   W_i = dW/dl_i = sum c (t_i - S/3) / l_i,
//   W_ij = sum c alpha (d_ij t_i - t_i/3 - t_j/3 + S/9) / (l_i l_j) - d_ij W_i / l_i,
// and with the weight w of the derivative with respect to alpha at c = 2 mu / alpha:
//   w (ln(lbar_i) t_i - sum_j ln(lbar_j) t_j / 3) / l_i.
#ifndef PL_MATERIAL_OGDEN_H
#define PL_MATERIAL_OGDEN_H

#include "material/material_law.h"
#include "material/material_vector.h"

#ifdef PL_VW
typedef struct ogden_axes {
    double l[3], U[9], V[9]; // columns of U and V are the axes
    double W, W1[3], W2[9];
} ogden_axes;

// Eigenvectors of the symmetric C by Jacobi rotations: C = V diag(e) V^T.
static inline void ogden_eigen(double C[9], double V[9])
{
    for (int i = 0; i < 9; ++i) {
        V[i] = i % 4 == 0;
    }

    const double scale = C[0] + C[4] + C[8];
    for (int sweep = 0; sweep < 12; ++sweep) {
        const double off = fabs(C[1]) + fabs(C[2]) + fabs(C[5]);
        if (!(off > 1e-17 * scale)) {
            break;
        }
        for (int p = 0; p < 2; ++p) {
            for (int q = p + 1; q < 3; ++q) {
                const double a = C[3 * p + q];
                if (a == 0) {
                    continue;
                }
                const double theta = (C[4 * q] - C[4 * p]) / (2 * a);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + __builtin_sqrt(theta * theta + 1));
                const double c = 1 / __builtin_sqrt(t * t + 1), s = t * c;
                const int r = 3 - p - q;
                const double rp = C[3 * r + p], rq = C[3 * r + q];
                C[4 * p] -= t * a;
                C[4 * q] += t * a;
                C[3 * p + q] = C[3 * q + p] = 0;
                C[3 * r + p] = C[3 * p + r] = c * rp - s * rq;
                C[3 * r + q] = C[3 * q + r] = s * rp + c * rq;
                for (int k = 0; k < 3; ++k) {
                    const double vp = V[3 * k + p], vq = V[3 * k + q];
                    V[3 * k + p] = c * vp - s * vq;
                    V[3 * k + q] = s * vp + c * vq;
                }
            }
        }
    }
}

static inline void ogden_potential(const pl_law *law, double J, ogden_axes *a)
{
    const double r = 1 / __builtin_cbrt(J);
    a->W = 0;
    for (int i = 0; i < 9; ++i) {
        a->W2[i] = 0;
    }
    a->W1[0] = a->W1[1] = a->W1[2] = 0;
    for (int k = 0; k < PL_OGDEN_TERMS; ++k) {
        const double alpha = law->alpha[k], c = law->ogden[k], w = law->alpha_slope[k];
        if (alpha == 0) {
            continue;
        }
        double t[3], n[3], S = 0, N = 0;
        for (int i = 0; i < 3; ++i) {
            n[i] = __builtin_log(r * a->l[i]);
            t[i] = __builtin_exp(alpha * n[i]);
            S += t[i];
            N += n[i] * t[i];
        }
        a->W += c / alpha * (S - 3);
        for (int i = 0; i < 3; ++i) {
            a->W1[i] += (c * (t[i] - S / 3) + w * (n[i] * t[i] - N / 3)) / a->l[i];
            for (int j = 0; j < 3; ++j) {
                a->W2[3 * i + j] +=
                    c * alpha * ((i == j ? t[i] : 0) - (t[i] + t[j]) / 3 + S / 9) / (a->l[i] * a->l[j]);
            }
        }
    }

    for (int i = 0; i < 3; ++i) {
        a->W2[4 * i] -= a->W1[i] / a->l[i];
    }
}

static inline void ogden_decompose(const pl_law *law, const vd F[9], vd J, int lane, ogden_axes *a)
{
    double f[9], C[9];
    for (int i = 0; i < 9; ++i) {
        f[i] = F[i][lane];
    }

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            C[3 * i + j] = f[i] * f[j] + f[3 + i] * f[3 + j] + f[6 + i] * f[6 + j];
        }
    }

    ogden_eigen(C, a->V);
    for (int i = 0; i < 3; ++i) {
        a->l[i] = __builtin_sqrt(C[4 * i]);
        for (int k = 0; k < 3; ++k) {
            a->U[3 * k + i] =
                (f[3 * k] * a->V[i] + f[3 * k + 1] * a->V[3 + i] + f[3 * k + 2] * a->V[6 + i]) / a->l[i];
        }
    }

    ogden_potential(law, J[lane], a);
}

// P = U diag(W_i) V^T + p cof F
static inline vd ogden_stress(const pl_law *law, const vd F[9], const vd D[9], vd d, vd p, vd P[9])
{
    const vd J = d + 1;
    vd W;

    for (int i = 0; i < 9; ++i) {
        P[i] = p * D[i];
    }

    for (int lane = 0; lane < PL_VW; ++lane) {
        ogden_axes a;
        ogden_decompose(law, F, J, lane, &a);
        W[lane] = a.W;
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                for (int m = 0; m < 3; ++m) {
                    P[3 * i + j][lane] += a.U[3 * i + m] * a.W1[m] * a.V[3 * j + m];
                }
            }
        }
    }

    return W;
}

// A = sum_mn W_mn N_mm (x) N_nn + sum_m<n [a/2 S_mn (x) S_mn + b/2 T_mn (x) T_mn] with N_mn = u_m v_n^T,
// S = N_mn + N_nm, T = N_mn - N_nm, a = (W_m - W_n) / (l_m - l_n), b = (W_m + W_n) / (l_m + l_n). Where two
// stretches meet a is the mean of W_mm and W_nn less W_mn, off by the square of their distance.
static inline void ogden_tangent_lane(const ogden_axes *x, double A[81])
{
    double N[9][9];
    for (int m = 0; m < 3; ++m) {
        for (int n = 0; n < 3; ++n) {
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    N[3 * m + n][3 * i + j] = x->U[3 * i + m] * x->V[3 * j + n];
                }
            }
        }
    }

    for (int r = 0; r < 9; ++r) {
        double row[3] = {0, 0, 0};
        for (int m = 0; m < 3; ++m) {
            for (int n = 0; n < 3; ++n) {
                row[n] += x->W2[3 * m + n] * N[4 * m][r];
            }
        }
        for (int c = 0; c < 9; ++c) {
            A[9 * r + c] = row[0] * N[0][c] + row[1] * N[4][c] + row[2] * N[8][c];
        }
    }

    for (int m = 0; m < 2; ++m) {
        for (int n = m + 1; n < 3; ++n) {
            const double apart = x->l[m] - x->l[n], sum = x->l[m] + x->l[n];
            const double a = fabs(apart) > 1e-5 * sum
                                 ? (x->W1[m] - x->W1[n]) / apart
                                 : 0.5 * (x->W2[4 * m] + x->W2[4 * n]) - x->W2[3 * m + n];
            const double b = (x->W1[m] + x->W1[n]) / sum;
            const double *f = N[3 * m + n], *g = N[3 * n + m];
            for (int r = 0; r < 9; ++r) {
                const double s = 0.5 * a * (f[r] + g[r]), t = 0.5 * b * (f[r] - g[r]);
                for (int c = 0; c < 9; ++c) {
                    A[9 * r + c] += s * (f[c] + g[c]) + t * (f[c] - g[c]);
                }
            }
        }
    }
}

static inline void ogden_tangent(const pl_law *law, const vd F[9], const vd D[9], vd d, vd p, vd A[81])
{
    const vd J = d + 1;
    (void)D;
    for (int lane = 0; lane < PL_VW; ++lane) {
        ogden_axes x;
        double a[81];
        ogden_decompose(law, F, J, lane, &x);
        ogden_tangent_lane(&x, a);
        for (int i = 0; i < 81; ++i) {
            A[i][lane] = a[i];
        }
    }

    v_add_hessian_J(A, F, p);
}
#endif // PL_VW

#endif
