// Energy, stress and tangent of every material law, for PL_VW elements at once. Included by the hot kernels
// only, which are compiled once per instruction set.
//
// Every law is split as W(F) = Wdev(F) + kappa/2 d(F)^2 with a dilatation d:
//   linear   Wdev = mu |F - R|^2              d = tr(R^T F) - 3    dd/dF = R
//   stvk     Wdev = mu E : E                  d = tr E             dd/dF = F
//   rubber   Wdev = g(I1bar) + C01 (I2bar-3)  d = J - 1            dd/dF = cof F
//   ogden    Wdev = sum 2 mu / alpha^2 (...)  d = J - 1            dd/dF = cof F
//   hgo      Wdev = g(I1bar) + fibres         d = J - 1            dd/dF = cof F
// so that the element may use its own kappa d (plain) and a pressure p handed in (locking-free):
//   P = dWdev/dF + (p + kappa d) dd/dF,   A = d2Wdev/dF2 + (p + kappa d) d2d/dF2 + kappa dd/dF (x) dd/dF.
#ifndef PL_MATERIAL_KERNEL_H
#define PL_MATERIAL_KERNEL_H

#include "material/material_law.h"
#include "material/material_ogden.h"
#include "material/material_overstress.h"
#include "material/material_vector.h"

#ifdef PL_VW
// The rubber laws' partial derivatives by the invariants I1, I2 and J:
//   W = g(a I1 - 3) + C01 (b I2 - 3),  a = J^(-2/3),  b = J^(-4/3),
//   g(s) = C10 s + C20 s^2 + C30 s^3,  or  g(s) = -C10 Jm ln(1 - s / Jm)  (gent, no number beyond Jm).
typedef struct rubber_parts {
    vd W, w1, w2, wJ;
    vd w11, w1J, w2J, wJJ;
} rubber_parts;

// Gent: g = -C10 Jm ln(1 - s / Jm),  g' = C10 Jm / (Jm - s),  g'' = C10 Jm / (Jm - s)^2, and with the weight
// w of the derivative with respect to Jm:  w dg'/dJm = -w s / (Jm - s)^2  (C10 = 1).
static inline void gent_potential(const pl_law *law, vd s, vd *g, vd *g1, vd *g2)
{
    const double jm = law->jm;
    for (int l = 0; l < PL_VW; ++l) {
        const double left = jm - s[l];
        const double r = left > 0 ? 1 / left : __builtin_nan("");
        (*g)[l] = -law->c10 * jm * __builtin_log(left / jm);
        (*g1)[l] = r * (law->c10 * jm - law->jm_slope * s[l] * r);
        (*g2)[l] = r * r * (law->c10 * jm - law->jm_slope * (jm + s[l]) * r);
    }
}

static inline rubber_parts rubber_invariants(const pl_law *law, vd I1, vd I2, vd J)
{
    const vd j = 1 / J, r = v_cbrt(j), a = r * r, b = a * a;
    const vd s = a * I1 - 3;
    vd g, g1, g2;

    if (law->jm > 0) {
        gent_potential(law, s, &g, &g1, &g2);
    } else {
        g = s * (law->c10 + s * (law->c20 + s * law->c30));
        g1 = law->c10 + s * (2 * law->c20 + s * (3 * law->c30));
        g2 = 2 * law->c20 + s * (6 * law->c30);
    }

    const vd aJ = (-2.0 / 3) * a * j, aJJ = (10.0 / 9) * a * j * j;
    const vd bJ = (-4.0 / 3) * b * j, bJJ = (28.0 / 9) * b * j * j;
    rubber_parts p;
    p.W = g + law->c01 * (b * I2 - 3);
    p.w1 = g1 * a;
    p.w2 = law->c01 * b;
    p.wJ = g1 * aJ * I1 + law->c01 * bJ * I2;
    p.w11 = g2 * a * a;
    p.w1J = g2 * a * aJ * I1 + g1 * aJ;
    p.w2J = law->c01 * bJ;
    p.wJJ = g2 * aJ * aJ * I1 * I1 + g1 * aJJ * I1 + law->c01 * bJJ * I2;

    return p;
}

// ---- d and dd/dF; for the linear law dd/dF is the rotation
static inline vd linear_dilatation(const vd F[9], vd D[9])
{
    v_polar(F, D);
    return v_dot9(D, F) - 3;
}

static inline vd stvk_dilatation(const vd F[9], vd D[9])
{
    for (int i = 0; i < 9; ++i) {
        D[i] = F[i];
    }
    return 0.5 * (v_dot9(F, F) - 3);
}

static inline vd rubber_dilatation(const vd F[9], vd D[9])
{
    v_cofactor(F, D);
    return F[0] * D[0] + F[1] * D[1] + F[2] * D[2] - 1;
}

static inline vd ogden_dilatation(const vd F[9], vd D[9])
{
    return rubber_dilatation(F, D);
}

static inline vd hgo_dilatation(const vd F[9], vd D[9])
{
    return rubber_dilatation(F, D);
}

static inline vd law_dilatation(const pl_law *law, const vd F[9], vd D[9])
{
    switch (law->kernel) {
#define X(kernel, name)                                                                                      \
    case kernel:                                                                                             \
        return name##_dilatation(F, D);
        PL_KERNEL_LIST(X)
#undef X
    default:
        __builtin_unreachable();
    }
}

// ---- deviatoric energy (returned) and first Piola-Kirchhoff stress, with p dd/dF added
static inline vd linear_stress(const pl_law *law, const vd F[9], const vd D[9], vd d, vd p, vd P[9])
{
    vd energy = v_set(0);
    (void)d;
    for (int i = 0; i < 9; ++i) {
        const vd e = F[i] - D[i];
        energy += law->mu * e * e;
        P[i] = 2 * law->mu * e + p * D[i];
    }

    return energy;
}

static inline vd stvk_stress(const pl_law *law, const vd F[9], const vd D[9], vd d, vd p, vd P[9])
{
    vd E[9], FE[9];
    (void)D;
    (void)d;
    v_right_cauchy(F, E);
    for (int i = 0; i < 9; ++i) {
        E[i] = 0.5 * (E[i] - (i % 4 == 0));
    }
    v_mul(F, E, FE);
    for (int i = 0; i < 9; ++i) {
        P[i] = 2 * law->mu * FE[i] + p * F[i];
    }

    return law->mu * v_dot9(E, E);
}

static inline vd rubber_stress(const pl_law *law, const vd F[9], const vd D[9], vd d, vd p, vd P[9])
{
    vd C[9], FC[9];
    v_right_cauchy(F, C);
    const vd I1 = C[0] + C[4] + C[8], I2 = 0.5 * (I1 * I1 - v_dot9(C, C));
    const rubber_parts part = rubber_invariants(law, I1, I2, d + 1);
    v_mul(F, C, FC);
    const vd f = 2 * (part.w1 + part.w2 * I1), fc = 2 * part.w2, fd = part.wJ + p;
    for (int i = 0; i < 9; ++i) {
        P[i] = f * F[i] - fc * FC[i] + fd * D[i];
    }

    return part.W;
}

// Corotated: A = 2 mu I + (p - 2 mu) G Y^-1 G^T with Y = tr(S) I - S and G[iJ][q] = -sum_m eps_mJq R_im,
// which is dR/dF (from R^T dF - dF^T R = [Y w]x, dR = R [w]x).
static inline void linear_tangent(const pl_law *law, const vd F[9], const vd R[9], vd d, vd p, vd A[81])
{
    vd S[9], Y[9], C[9], G[27];
    (void)d;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            S[3 * i + j] = R[i] * F[j] + R[3 + i] * F[3 + j] + R[6 + i] * F[6 + j];
        }
    }

    const vd trace = S[0] + S[4] + S[8];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            Y[3 * i + j] = (i == j ? trace : v_set(0)) - 0.5 * (S[3 * i + j] + S[3 * j + i]);
        }
    }

    v_cofactor(Y, C);
    const vd scale = (p - 2 * law->mu) / (Y[0] * C[0] + Y[1] * C[1] + Y[2] * C[2]);
    for (int i = 0; i < 3; ++i) {
        for (int J = 0; J < 3; ++J) {
            // eps_mJq: for q = J+1, m = J+2: eps_(J+2)J(J+1) = 1; for q = J+2, m = J+1: -1
            const int n = (J + 1) % 3, m = (J + 2) % 3;
            G[3 * (3 * i + J) + J] = v_set(0);
            G[3 * (3 * i + J) + n] = -R[3 * i + m];
            G[3 * (3 * i + J) + m] = R[3 * i + n];
        }
    }

    v_set_diagonal(A, v_set(2 * law->mu));
    for (int r = 0; r < 9; ++r) {
        vd GY[3];
        for (int q = 0; q < 3; ++q) {
            GY[q] = scale * (G[3 * r] * C[q] + G[3 * r + 1] * C[3 + q] + G[3 * r + 2] * C[6 + q]);
        }
        for (int c = 0; c < 9; ++c) {
            A[9 * r + c] += GY[0] * G[3 * c] + GY[1] * G[3 * c + 1] + GY[2] * G[3 * c + 2];
        }
    }
}

// StVK: A_iJ,kL = d_ik (2 mu E + p I)_JL + mu (F_iL F_kJ + B_ik d_JL).
static inline void stvk_tangent(const pl_law *law, const vd F[9], const vd D[9], vd d, vd p, vd A[81])
{
    vd C[9], B[9];
    (void)D;
    (void)d;
    v_right_cauchy(F, C);
    v_left_cauchy(F, B);
    for (int i = 0; i < 3; ++i) {
        for (int J = 0; J < 3; ++J) {
            for (int k = 0; k < 3; ++k) {
                for (int L = 0; L < 3; ++L) {
                    vd a = law->mu * F[3 * i + L] * F[3 * k + J];
                    if (J == L) {
                        a += law->mu * B[3 * i + k];
                    }
                    if (i == k) {
                        a += law->mu * C[3 * J + L];
                        if (J == L) {
                            a += p - law->mu;
                        }
                    }
                    A[9 * (3 * i + J) + 3 * k + L] = a;
                }
            }
        }
    }
}

// Rubber: A = sum w_i H_i + sum w_ij g_i (x) g_j with g1 = 2 F, g2 = 2 (I1 F - F C), gJ = cof F and
//   H1 = 2 I,  H2 = 2 (2 F (x) F + I1 I - d_ik C_JL - F_iL F_kJ - B_ik d_JL),  HJ as above.
static inline void rubber_tangent(const pl_law *law, const vd F[9], const vd D[9], vd d, vd p, vd A[81])
{
    vd C[9], B[9], FC[9], G2[9];
    v_right_cauchy(F, C);
    const vd I1 = C[0] + C[4] + C[8], I2 = 0.5 * (I1 * I1 - v_dot9(C, C));
    const rubber_parts part = rubber_invariants(law, I1, I2, d + 1);
    v_set_diagonal(A, 2 * part.w1);
    const vd f11 = 4 * part.w11, f1J = 2 * part.w1J;
    if (law->c01 != 0) {
        v_left_cauchy(F, B);
        v_mul(F, C, FC);
        const vd w2 = 2 * part.w2;
        for (int i = 0; i < 9; ++i) {
            G2[i] = 2 * (I1 * F[i] - FC[i]);
        }
        for (int i = 0; i < 3; ++i) {
            for (int J = 0; J < 3; ++J) {
                for (int k = 0; k < 3; ++k) {
                    for (int L = 0; L < 3; ++L) {
                        vd a = 2 * F[3 * i + J] * F[3 * k + L] - F[3 * i + L] * F[3 * k + J];
                        if (i == k) {
                            a -= C[3 * J + L];
                        }
                        if (J == L) {
                            a -= B[3 * i + k];
                            if (i == k) {
                                a += I1;
                            }
                        }
                        const int r = 3 * i + J, c = 3 * k + L;
                        A[9 * r + c] += w2 * a + part.w2J * (G2[r] * D[c] + D[r] * G2[c]);
                    }
                }
            }
        }
    }

    for (int r = 0; r < 9; ++r) {
        const vd left = f11 * F[r] + f1J * D[r], right = f1J * F[r] + part.wJJ * D[r];
        for (int c = 0; c < 9; ++c) {
            A[9 * r + c] += left * F[c] + right * D[c];
        }
    }

    v_add_hessian_J(A, F, part.wJ + p);
}

// ---- hgo: rubber and families of fibres (material_hgo.c). With Q = F : F H, a = J^(-2/3) and the parts of
// an overstress H, dE/dF = 2 (a F H + a'/2 Q D) = 2 G:
//   P = W_E 2 G,   A = W_EE 4 G (x) G + W_E 2 (a d_ik H_JL + a' (F H (x) D + D (x) F H) + a''/2 Q D (x) D
//                                               + a'/2 Q d2J/dF2).
typedef struct hgo_family {
    overstress_parts o;
    vd H[9], G[9];
    vd W, W1, W2, W3; // energy of the family; dW/dE, d2W/dE2, d(dW/dE)/dk2 (0 where the fibres are slack)
} hgo_family;

static inline void hgo_fill(const pl_law *law, int f, const vd F[9], hgo_family *x)
{
    for (int i = 0; i < 9; ++i) {
        x->H[i] = v_set(law->structure[f][i]);
    }
    overstress_fill(law, F, x->H, &x->o);
    for (int i = 0; i < 9; ++i) {
        x->G[i] = x->o.a * x->o.FH[i] + 0.5 * x->o.a1 * x->o.Q * x->o.D[i];
    }

    vd W = v_set(0), W1 = v_set(0), W2 = v_set(0), W3 = v_set(0);
    for (int l = 0; l < PL_VW; ++l) {
        const double E = x->o.a[l] * x->o.Q[l] - 1, e = E > 0 ? __builtin_exp(law->k2 * E * E) : 0;
        W[l] = E > 0 ? law->k1 / (2 * law->k2) * (e - 1) : 0;
        W1[l] = law->k1 * E * e;
        W2[l] = law->k1 * (1 + 2 * law->k2 * E * E) * e;
        W3[l] = law->k1 * E * E * E * e;
    }

    x->W = W;
    x->W1 = W1;
    x->W2 = W2;
    x->W3 = W3;
}

// The derivative of the stress of one family with respect to kappa, whose structure tensor changes by H':
//   W_EE E' 2 G + W_E 2 G',   E' = a F : F H',   G' = a F H' + a'/2 (F : F H') D.
static inline void hgo_add_kappa(const pl_law *law, int f, const vd F[9], const hgo_family *x, vd P[9])
{
    vd H[9];
    overstress_parts o;

    for (int i = 0; i < 9; ++i) {
        H[i] = v_set(law->structure_slope[f][i]);
    }
    overstress_fill(law, F, H, &o);
    for (int i = 0; i < 9; ++i) {
        P[i] += 2 * x->W2 * o.a * o.Q * x->G[i] + 2 * x->W1 * (o.a * o.FH[i] + 0.5 * o.a1 * o.Q * o.D[i]);
    }
}

static inline vd hgo_stress(const pl_law *law, const vd F[9], const vd D[9], vd d, vd p, vd P[9])
{
    vd W = rubber_stress(law, F, D, d, p, P);
    for (int f = 0; f < law->fibre_count && law->fibre_part != PL_FIBRE_NONE; ++f) {
        hgo_family x;
        hgo_fill(law, f, F, &x);
        if (law->fibre_part == PL_FIBRE_BY_KAPPA) {
            hgo_add_kappa(law, f, F, &x, P);
            continue;
        }
        const vd w = law->fibre_part == PL_FIBRE_BY_K1   ? x.W1 / law->k1
                     : law->fibre_part == PL_FIBRE_BY_K2 ? x.W3
                                                         : x.W1;
        W += x.W;
        for (int i = 0; i < 9; ++i) {
            P[i] += 2 * w * x.G[i];
        }
    }

    return W;
}

static inline void hgo_tangent(const pl_law *law, const vd F[9], const vd D[9], vd d, vd p, vd A[81])
{
    rubber_tangent(law, F, D, d, p, A);
    for (int f = 0; f < law->fibre_count; ++f) {
        hgo_family x;
        hgo_fill(law, f, F, &x);
        const overstress_parts *o = &x.o;
        const vd w = 2 * x.W1;
        for (int r = 0; r < 9; ++r) {
            const vd g = 4 * x.W2 * x.G[r], left = w * o->a1 * D[r],
                     right = w * (o->a1 * o->FH[r] + 0.5 * o->a2 * o->Q * D[r]);
            for (int c = 0; c < 9; ++c) {
                A[9 * r + c] += g * x.G[c] + left * o->FH[c] + right * D[c];
            }
        }
        for (int i = 0; i < 3; ++i) {
            for (int J = 0; J < 3; ++J) {
                for (int L = 0; L < 3; ++L) {
                    A[9 * (3 * i + J) + 3 * i + L] += w * o->a * x.H[3 * J + L];
                }
            }
        }
        v_add_hessian_J(A, F, 0.5 * w * o->a1 * o->Q);
    }
}

// ---- any law. Energy density and first Piola-Kirchhoff stress; `p` is the pressure handed in (0 when the
// law is not mixed), whose energy is not part of W.
static inline void law_stress(const pl_law *law, const vd F[9], vd p, vd *W, vd P[9])
{
    vd D[9];
    const vd d = law_dilatation(law, F, D);
    vd energy = 0.5 * law->kappa * d * d;
    p += law->kappa * d;
    switch (law->kernel) {
#define X(kernel, name)                                                                                      \
    case kernel:                                                                                             \
        energy += name##_stress(law, F, D, d, p, P);                                                         \
        break;
        PL_KERNEL_LIST(X)
#undef X
    default:
        __builtin_unreachable();
    }
    *W = energy;
}

// The 9 x 9 tangent A (row iJ, column kL) and dd/dF.
static inline void law_tangent(const pl_law *law, const vd F[9], vd p, vd A[81], vd D[9])
{
    const vd d = law_dilatation(law, F, D);
    p += law->kappa * d;
    switch (law->kernel) {
#define X(kernel, name)                                                                                      \
    case kernel:                                                                                             \
        name##_tangent(law, F, D, d, p, A);                                                                  \
        break;
        PL_KERNEL_LIST(X)
#undef X
    default:
        __builtin_unreachable();
    }
    for (int r = 0; r < 9; ++r) {
        const vd k = law->kappa * D[r];
        for (int c = 0; c < 9; ++c) {
            A[9 * r + c] += k * D[c];
        }
    }
}

// ---- softening by the largest deviatoric energy W_m that the point has seen (Ogden and Roxburgh 1999): W is
// replaced by Psi(W) of pl_material_softened, so that with P_d = dW/dF and q = p + kappa d
//   P = Psi' P_d + q dd/dF,   A = Psi' A_d + Psi'' P_d (x) P_d + kappa dd/dF (x) dd/dF + q d2d/dF2.
// W and P_d are `factor` times those of the law, W_m is of the law itself.
static inline void law_softened(const pl_law *law, vd W, vd largest, vd *psi, vd *first, vd *second)
{
    static const double root = 1.7724538509055160; // of pi
    *psi = W;
    *first = (vd){0} + 1;
    *second = (vd){0};
    for (int l = 0; l < PL_VW; ++l) {
        const double c = law->factor, gap = largest[l] - W[l] / c;
        if (gap > 0) {
            const double s = law->mullins_m + law->mullins_beta * largest[l], z = gap / s,
                         e = __builtin_exp(-z * z), part = __builtin_erf(z);
            (*psi)[l] += c * s / law->mullins_r * (z * part + (e - 1) / root);
            (*first)[l] -= part / law->mullins_r;
            (*second)[l] = 2 * e / (root * law->mullins_r * s * c);
        }
    }
}

// The law without its volumetric part: its energy, P_d, the dilatation and dd/dF.
static inline vd law_deviatoric(const pl_law *law, const vd F[9], vd P[9], vd *d, vd D[9])
{
    vd W;
    *d = law_dilatation(law, F, D);
    law_stress(law, F, -law->kappa * *d, &W, P);
    return W - 0.5 * law->kappa * *d * *d;
}

static inline void law_stress_softened(const pl_law *law, const vd F[9], vd p, vd largest, vd *W, vd P[9])
{
    vd D[9], d, first, second;
    const vd own = law_deviatoric(law, F, P, &d, D);
    law_softened(law, own, largest, W, &first, &second);

    const vd q = p + law->kappa * d;
    *W += 0.5 * law->kappa * d * d;
    for (int i = 0; i < 9; ++i) {
        P[i] = first * P[i] + q * D[i];
    }
}

static inline void law_tangent_softened(const pl_law *law, const vd F[9], vd p, vd largest, vd A[81], vd D[9])
{
    vd P[9], d, psi, first, second;
    const vd own = law_deviatoric(law, F, P, &d, D), q = p + law->kappa * d;
    law_softened(law, own, largest, &psi, &first, &second);

    // at q = 0 the tangent is A_d and kappa dd/dF (x) dd/dF
    law_tangent(law, F, -law->kappa * d, A, D);
    for (int r = 0; r < 9; ++r) {
        const vd k = law->kappa * (1 - first) * D[r], s = second * P[r];
        for (int c = 0; c < 9; ++c) {
            A[9 * r + c] = first * A[9 * r + c] + k * D[c] + s * P[c];
        }
    }
    v_add_hessian_J(A, F, q);
}

// The deviatoric second Piola-Kirchhoff stress over a, S_d = F^-1 P / a, of a law without its volumetric
// part, and a C: what the branches follow, and what their work is counted on. `largest`: the energy that
// softens; NULL: none.
static inline void law_deviator(const pl_law *law, const vd F[9], const vd *largest, vd S[6], vd aC[6])
{
    static const int row[6] = {0, 1, 2, 0, 1, 2}, column[6] = {0, 1, 2, 1, 2, 0};
    vd P[9], D[9], C[9], W;

    if (largest) {
        law_stress_softened(law, F, v_set(0), *largest, &W, P);
    } else {
        law_stress(law, F, v_set(0), &W, P);
    }
    v_cofactor(F, D);
    v_right_cauchy(F, C);
    const vd j = 1 / (F[0] * D[0] + F[1] * D[1] + F[2] * D[2]);
    vd a = v_set(1);
    if (law_is_isochoric(law)) {
        const vd r = v_cbrt(j);
        a = r * r;
    }

    for (int k = 0; k < 6; ++k) {
        const int i = row[k], m = column[k];
        S[k] = j / a * (D[i] * P[m] + D[3 + i] * P[3 + m] + D[6 + i] * P[6 + m]);
        aC[k] = a * C[3 * i + m];
    }
}
#endif // PL_VW

#endif
