// Laws of the local step's rotation: orthogonal, never a reflection, nearest to its matrix, and equal to the
// polar decomposition where that has a positive determinant.
#include "base/base.h"
#include "base/vec.h"
#include "check.h"
#include "geometric/geometric_block.h"

#define BLOCKS 2000

static double orthogonality(const double R[9])
{
    double worst = 0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            worst = fmax(worst, fabs(pl_dot3(R + 3 * i, R + 3 * j) - (i == j)));
        }
    }

    return worst;
}

static void lane(const double *block, int l, double out[9])
{
    for (int i = 0; i < 9; ++i) {
        out[i] = block[i * GEO_LANES + l];
    }
}

static double trace_of(const double R[9], const double F[9])
{
    double t = 0;
    for (int i = 0; i < 9; ++i) {
        t += R[i] * F[i];
    }
    return t;
}

// Random matrices, a third of them inverted; some flat, some of rank one, some zero.
static void fill(double *F)
{
    pl_random random;
    pl_random_seed(&random, 11);
    for (int b = 0; b < BLOCKS * GEO_LANES; ++b) {
        double A[9];
        for (int i = 0; i < 9; ++i) {
            A[i] = pl_random_uniform(&random, -2, 2) + (b % 3 == 0 ? 2.5 * (i % 4 == 0) : 0);
        }
        for (int j = 0; j < 3 && b % 97 == 0; ++j) {
            A[6 + j] = A[j]; // flat
        }
        for (int i = 0; i < 9 && b % 193 == 0; ++i) {
            A[i] = A[i / 3] * A[i % 3 * 3]; // nearly rank one
        }
        for (int i = 0; i < 9 && b % 389 == 0; ++i) {
            A[i] = 0;
        }
        for (int i = 0; i < 9; ++i) {
            F[(b / GEO_LANES * 9 + i) * GEO_LANES + b % GEO_LANES] = A[i];
        }
    }
}

static void test_rotations(void **state)
{
    (void)state;
    static double F[BLOCKS * 9 * GEO_LANES], R[BLOCKS * 9 * GEO_LANES];
    fill(F);
    geo_kernels_choose()->rotations(F, R, BLOCKS);
    double worst = 0, apart = 0, short_by = 0;
    int inverted = 0;
    for (int b = 0; b < BLOCKS; ++b) {
        for (int l = 0; l < GEO_LANES; ++l) {
            double A[9], Q[9], P[9], S[9];
            lane(F + b * 9 * GEO_LANES, l, A);
            lane(R + b * 9 * GEO_LANES, l, Q);
            worst = fmax(worst, orthogonality(Q));
            assert_true(pl_det3(Q) > 0.99);
            // no rotation has a larger trace with A: the rotation by eigenvectors finds the same
            geo_rotation_slow(A, S);
            short_by = fmax(short_by, trace_of(S, A) - trace_of(Q, A));
            inverted += pl_det3(A) < 0;
            if (pl_det3(A) > 0.1) {
                pl_polar3(A, P);
                for (int i = 0; i < 9; ++i) {
                    apart = fmax(apart, fabs(P[i] - Q[i]));
                }
            }
        }
    }

    print_message("%d matrices, %d inverted: orthogonal to %.1e, polar to %.1e, trace short by %.1e\n",
                  BLOCKS * GEO_LANES, inverted, worst, apart, short_by);
    assert_true(inverted > 1000);
    PL_CHECK_BELOW(worst, 1e-8);
    PL_CHECK_BELOW(apart, 1e-10);
    PL_CHECK_BELOW(short_by, 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rotations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
