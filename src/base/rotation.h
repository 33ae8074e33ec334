// Rotations and rotation vectors, for differences of frames.
#ifndef PL_BASE_ROTATION_H
#define PL_BASE_ROTATION_H

#include <string.h>
#include "base/base.h"
#include "base/vec.h"

// C = A B^T
static inline void pl_rotation_mul_transposed(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            C[3 * i + j] = pl_dot3(A + 3 * i, B + 3 * j);
        }
    }
}

// The vector w with exp(w) = R and |w| <= pi: through the quaternion with the largest component, so it is
// good to rounding at every angle.
static inline void pl_rotation_log(const double R[9], double w[3])
{
    const double four[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8],
                            1 - R[0] - R[4] + R[8]};

    // the largest of w, x, y, z of the quaternion: dividing by it loses no digits
    int k = 0;

    for (int i = 1; i < 4; ++i) {
        k = four[i] > four[k] ? i : k;
    }

    const double odd[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    const double even[3] = {R[5] + R[7], R[2] + R[6], R[1] + R[3]}; // yz, zx, xy
    const double q = sqrt(fmax(four[k], 0));                        // twice the largest component
    double s, v[3];
    if (k == 0) {
        s = q / 2;
        for (int i = 0; i < 3; ++i) {
            v[i] = odd[i] / (2 * q);
        }
    } else {
        const int a = k - 1, b = (a + 1) % 3, c = (a + 2) % 3;
        s = odd[a] / (2 * q);
        v[a] = q / 2;
        v[b] = even[c] / (2 * q);
        v[c] = even[b] / (2 * q);
    }

    // angle from sine and cosine of its half; w >= 0 gives the shorter rotation
    const double sine = pl_norm3(v), sign = s < 0 ? -1 : 1;
    const double angle = 2 * atan2(sine, fabs(s));
    const double scale = sine > 1e-8 ? sign * angle / sine : 2 * sign;
    for (int i = 0; i < 3; ++i) {
        w[i] = scale * v[i];
    }
}

// d log(exp(dw) R) = M dw at w = log R: M = I - [w]/2 + k [w]^2, k = 1/t^2 - (1 + cos t) / (2 t sin t).
static inline void pl_rotation_log_derivative(const double w[3], double M[9])
{
    const double t2 = pl_dot3(w, w), t = sqrt(t2);

    // series near 0, where the closed form cancels
    const double k = t < 1e-3 ? 1.0 / 12 + t2 / 720 : 1 / t2 - (1 + cos(t)) / (2 * t * fmax(sin(t), 1e-12));
    const double W[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const double square = w[i] * w[j] - (i == j ? t2 : 0);
            M[3 * i + j] = (i == j) - 0.5 * W[3 * i + j] + k * square;
        }
    }
}

#endif
