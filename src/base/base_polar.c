// Polar decomposition and symmetric eigenvalues of 3x3 matrices.
#include <stdbool.h>
#include <string.h>
#include "base/vec.h"

// Newton's iteration R <- (z R + R^-T / z) / 2 with Higham's scaling z = sqrt(|R^-1| / |R|).
void pl_polar3(const double A[9], double R[9])
{
    memcpy(R, A, 9 * sizeof *R);

    // R^-T = cof R / det
    for (int iteration = 0; iteration < 40; ++iteration) {
        double C[9], change = 0, n2 = 0, c2 = 0;
        pl_cofactor3(R, C);
        const double det = pl_dot3(R, C);
        if (det == 0) {
            return;
        }

        // scaling brings all singular values near 1 at once, so that few iterations are enough
        for (int i = 0; i < 9; ++i) {
            n2 += R[i] * R[i];
            c2 += C[i] * C[i];
        }

        const double z = sqrt(sqrt(c2 / (det * det) / n2));
        for (int i = 0; i < 9; ++i) {
            const double next = 0.5 * (z * R[i] + C[i] / (z * det));
            change += fabs(next - R[i]);
            R[i] = next;
        }

        // R is orthogonal to rounding, entries are at most 1
        if (change < 1e-15) {
            return;
        }
    }
}

// Cyclic Jacobi rotations; a handful of sweeps reach round-off for 3x3.
void pl_eigen3(const double A[9], double value[3], double V[9])
{
    double S[9], Q[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(S, A, sizeof S);

    // stop when what is off the diagonal is rounding
    for (int sweep = 0; sweep < 30; ++sweep) {
        const double off = fabs(S[1]) + fabs(S[2]) + fabs(S[5]);
        if (off < 1e-300 || off < 1e-16 * (fabs(S[0]) + fabs(S[4]) + fabs(S[8]))) {
            break;
        }
        for (int p = 0; p < 2; ++p) {
            for (int q = p + 1; q < 3; ++q) {
                if (S[3 * p + q] == 0) {
                    continue;
                }

                // rotation in the plane p q that makes S_pq = 0; the smaller of both angles
                const double theta = (S[4 * q] - S[4 * p]) / (2 * S[3 * p + q]);
                const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                // S <- J^T S J, Q <- Q J
                for (int k = 0; k < 3; ++k) {
                    const double a = S[3 * k + p], b = S[3 * k + q];
                    S[3 * k + p] = c * a - s * b;
                    S[3 * k + q] = s * a + c * b;
                }

                for (int k = 0; k < 3; ++k) {
                    const double a = S[3 * p + k], b = S[3 * q + k];
                    S[3 * p + k] = c * a - s * b;
                    S[3 * q + k] = s * a + c * b;
                }

                for (int k = 0; k < 3; ++k) {
                    const double a = Q[3 * k + p], b = Q[3 * k + q];
                    Q[3 * k + p] = c * a - s * b;
                    Q[3 * k + q] = s * a + c * b;
                }
            }
        }
    }

    // ascending eigenvalues
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; ++i) {
        for (int j = i + 1; j < 3; ++j) {
            if (S[4 * order[j]] < S[4 * order[i]]) {
                const int swap = order[i];
                order[i] = order[j];
                order[j] = swap;
            }
        }
    }

    for (int k = 0; k < 3; ++k) {
        value[k] = S[4 * order[k]];
        for (int i = 0; V && i < 3; ++i) {
            V[3 * i + k] = Q[3 * i + order[k]];
        }
    }
}

// A rank-2 matrix, the motion of a flat patch, has one missing direction: that of cof A.
void pl_nearest_rotation3(const double A[9], double R[9])
{
    double C[9], norm = 0, scale = 0;
    pl_cofactor3(A, C);
    for (int i = 0; i < 9; ++i) {
        norm += C[i] * C[i];
        scale += A[i] * A[i];
    }

    // cof A fills the missing direction of a flat patch
    double M[9];
    const bool flat = norm > 0 && !(fabs(pl_det3(A)) > 1e-9 * scale * sqrt(scale));
    const double k = flat ? sqrt(scale / norm) : 0;
    for (int i = 0; i < 9; ++i) {
        M[i] = A[i] + k * C[i];
    }
    pl_polar3(M, R);
}
