// Numbers and 3 x 3 tensors of PL_VW elements at once, for the kernels of materials and elements.
#ifndef PL_MATERIAL_VECTOR_H
#define PL_MATERIAL_VECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef PL_VW
typedef double vd __attribute__((vector_size(PL_VW * 8)));

static inline vd v_load(const double *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void v_store(double *p, vd v)
{
    memcpy(p, &v, sizeof v);
}

static inline vd v_set(double a)
{
    return (vd){0} + a;
}

static inline vd v_sqrt(vd a)
{
    for (int l = 0; l < PL_VW; ++l) {
        a[l] = __builtin_sqrt(a[l]);
    }
    return a;
}

// y = a^(-1/3), first from a third of the exponent, taken off the bits as a whole (good to 4 %); with
// e = 1 - a y^3,  a^(-1/3) = y (1 - e)^(-1/3) = y (1 + e/3 + 2 e^2/9 + 14 e^3/81 + ...), twice. Then a y^2.
static inline vd v_cbrt(vd a)
{
    uint64_t bits[PL_VW];
    bool usual = true;

    memcpy(bits, &a, sizeof a);
    for (int l = 0; l < PL_VW; ++l) {
        usual &= a[l] > 1e-200 && a[l] < 1e200;
        bits[l] = 0x553ef0ff289dd796u - bits[l] / 3;
    }

    if (!usual) { // inverted or without measure: rare
        for (int l = 0; l < PL_VW; ++l) {
            a[l] = __builtin_cbrt(a[l]);
        }
        return a;
    }

    vd y;
    memcpy(&y, bits, sizeof y);
    for (int k = 0; k < 2; ++k) {
        const vd e = 1 - a * y * y * y;
        y += y * e * (1.0 / 3 + e * (2.0 / 9 + e * (14.0 / 81)));
    }

    return a * y * y;
}

static inline vd v_min(vd a, vd b)
{
    for (int l = 0; l < PL_VW; ++l) {
        a[l] = a[l] < b[l] ? a[l] : b[l];
    }
    return a;
}

static inline vd v_dot9(const vd A[9], const vd B[9])
{
    vd s = A[0] * B[0];
    for (int i = 1; i < 9; ++i) {
        s += A[i] * B[i];
    }
    return s;
}

static inline void v_cofactor(const vd A[9], vd C[9])
{
    C[0] = A[4] * A[8] - A[5] * A[7];
    C[1] = A[5] * A[6] - A[3] * A[8];
    C[2] = A[3] * A[7] - A[4] * A[6];
    C[3] = A[2] * A[7] - A[1] * A[8];
    C[4] = A[0] * A[8] - A[2] * A[6];
    C[5] = A[1] * A[6] - A[0] * A[7];
    C[6] = A[1] * A[5] - A[2] * A[4];
    C[7] = A[2] * A[3] - A[0] * A[5];
    C[8] = A[0] * A[4] - A[1] * A[3];
}

// C = F^T F
static inline void v_right_cauchy(const vd F[9], vd C[9])
{
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            C[3 * i + j] = C[3 * j + i] = F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j];
        }
    }
}

// B = F F^T
static inline void v_left_cauchy(const vd F[9], vd B[9])
{
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            B[3 * i + j] = B[3 * j + i] =
                F[3 * i] * F[3 * j] + F[3 * i + 1] * F[3 * j + 1] + F[3 * i + 2] * F[3 * j + 2];
        }
    }
}

static inline void v_mul(const vd A[9], const vd B[9], vd R[9])
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            R[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

// Rotation of the polar decomposition F = R S: scaled Newton, R <- (z R + R^-T / z) / 2.
static inline void v_polar(const vd F[9], vd R[9])
{
    for (int i = 0; i < 9; ++i) {
        R[i] = F[i];
    }
    for (int iteration = 0; iteration < 16; ++iteration) {
        vd C[9], change = v_set(0);
        v_cofactor(R, C);
        const vd det = R[0] * C[0] + R[1] * C[1] + R[2] * C[2];
        const vd n2 = v_dot9(R, R), c2 = v_dot9(C, C);
        const vd z = v_sqrt(v_sqrt(c2 / (det * det * n2)));
        const vd u = 1 / (z * det);
        for (int i = 0; i < 9; ++i) {
            const vd next = 0.5 * (z * R[i] + u * C[i]);
            change += (next - R[i]) * (next - R[i]);
            R[i] = next;
        }
        double largest = 0;
        for (int l = 0; l < PL_VW; ++l) {
            largest = change[l] > largest ? change[l] : largest;
        }
        if (largest < 1e-26) {
            break;
        }
    }
}

// A += c d2J/dF2: with (iJ),(kL) entries eps_ikm eps_JLn F_mn.
static inline void v_add_hessian_J(vd A[81], const vd F[9], vd c)
{
    for (int i = 0; i < 3; ++i) {
        const int k = (i + 1) % 3, m = (i + 2) % 3;
        for (int J = 0; J < 3; ++J) {
            const int L = (J + 1) % 3, n = (J + 2) % 3;
            const vd f = c * F[3 * m + n];
            A[9 * (3 * i + J) + 3 * k + L] += f;
            A[9 * (3 * k + L) + 3 * i + J] += f;
            A[9 * (3 * i + L) + 3 * k + J] -= f;
            A[9 * (3 * k + J) + 3 * i + L] -= f;
        }
    }
}

// A = a I
static inline void v_set_diagonal(vd A[81], vd a)
{
    for (int i = 0; i < 81; ++i) {
        A[i] = v_set(0);
    }
    for (int i = 0; i < 9; ++i) {
        A[10 * i] = a;
    }
}
#endif // PL_VW

#endif
