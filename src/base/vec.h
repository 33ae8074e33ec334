// 3-vectors and 3x3 matrices (row-major), by value in small arrays, all inline.
#ifndef PL_VEC_H
#define PL_VEC_H

#include <math.h>

static inline void pl_sub3(const double a[3], const double b[3], double r[3])
{
    r[0] = a[0] - b[0];
    r[1] = a[1] - b[1];
    r[2] = a[2] - b[2];
}

static inline double pl_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// r may be a or b.
static inline void pl_cross3(const double a[3], const double b[3], double r[3])
{
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    r[0] = x;
    r[1] = y;
    r[2] = z;
}

static inline double pl_norm3(const double a[3])
{
    return sqrt(pl_dot3(a, a));
}

static inline double pl_distance3(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return pl_norm3(d);
}

static inline double pl_det3(const double A[9])
{
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
           A[2] * (A[3] * A[7] - A[4] * A[6]);
}

// The cofactor matrix: cof A = det(A) A^-T, defined for singular A too.
static inline void pl_cofactor3(const double A[9], double C[9])
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

// R may be A or B.
static inline void pl_mul33(const double A[9], const double B[9], double R[9])
{
    double T[9];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            T[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }

    for (int i = 0; i < 9; ++i) {
        R[i] = T[i];
    }
}

static inline void pl_mulv3(const double A[9], const double v[3], double r[3])
{
    const double x = pl_dot3(A, v), y = pl_dot3(A + 3, v), z = pl_dot3(A + 6, v);
    r[0] = x;
    r[1] = y;
    r[2] = z;
}

// r = A^T v
static inline void pl_mulTv3(const double A[9], const double v[3], double r[3])
{
    const double x = A[0] * v[0] + A[3] * v[1] + A[6] * v[2], y = A[1] * v[0] + A[4] * v[1] + A[7] * v[2],
                 z = A[2] * v[0] + A[5] * v[1] + A[8] * v[2];
    r[0] = x;
    r[1] = y;
    r[2] = z;
}

// Rotation by the vector w (axis times angle): Rodrigues' formula, exact at w = 0.
static inline void pl_rotation_exp(const double w[3], double R[9])
{
    const double t2 = pl_dot3(w, w), t = sqrt(t2);

    // series near 0: sin t / t and (1 - cos t) / t^2
    const double a = t < 1e-4 ? 1 - t2 / 6 + t2 * t2 / 120 : sin(t) / t;
    const double b = t < 1e-4 ? 0.5 - t2 / 24 + t2 * t2 / 720 : (1 - cos(t)) / t2;

    R[0] = 1 - b * (w[1] * w[1] + w[2] * w[2]);
    R[4] = 1 - b * (w[0] * w[0] + w[2] * w[2]);
    R[8] = 1 - b * (w[0] * w[0] + w[1] * w[1]);
    R[1] = b * w[0] * w[1] - a * w[2];
    R[3] = b * w[0] * w[1] + a * w[2];
    R[2] = b * w[0] * w[2] + a * w[1];
    R[6] = b * w[0] * w[2] - a * w[1];
    R[5] = b * w[1] * w[2] - a * w[0];
    R[7] = b * w[1] * w[2] + a * w[0];
}

// Polar decomposition A = R S by scaled Newton iterations; R is the nearest rotation when det A > 0.
void pl_polar3(const double A[9], double R[9]);

// The rotation R that maximises tr(R^T A) = the orthogonal factor of A with det +1, also when A has rank 2.
void pl_nearest_rotation3(const double A[9], double R[9]);

// Eigenvalues (ascending) and, if V is given, orthonormal eigenvectors in the columns of V, of symmetric A.
void pl_eigen3(const double A[9], double value[3], double V[9]);

#endif
