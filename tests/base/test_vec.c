// 3x3 algebra: cofactor and determinant, rotations, polar decomposition, symmetric eigenvalues.
#include <string.h>
#include "check.h"
#include "base/base.h"
#include "base/vec.h"

static void random_matrix(pl_random *random, double A[9])
{
    for (int i = 0; i < 9; ++i) {
        A[i] = pl_random_uniform(random, -1, 1);
    }
}

static void check_rotation(const double R[9], double tolerance)
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            PL_CHECK_NEAR(pl_dot3(R + 3 * i, R + 3 * j), i == j, tolerance);
        }
    }
    PL_CHECK_NEAR(pl_det3(R), 1, tolerance);
}

// A cof(A)^T = det(A) I, also for singular A.
static void test_cofactor(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 1);
    for (int trial = 0; trial < 100; ++trial) {
        double A[9], C[9];
        random_matrix(&random, A);
        if (trial % 2) {
            memcpy(A + 6, A, 3 * sizeof *A); // two equal rows
        }
        pl_cofactor3(A, C);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                PL_CHECK_NEAR(pl_dot3(A + 3 * i, C + 3 * j), i == j ? pl_det3(A) : 0, 1e-15);
            }
        }
    }
}

static void test_products(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 2);
    double A[9], B[9], AB[9], v[3] = {1, -2, 0.5}, Bv[3], ABv[3], again[3], w[3];
    random_matrix(&random, A);
    random_matrix(&random, B);
    pl_mul33(A, B, AB);
    pl_mulv3(B, v, Bv);
    pl_mulv3(A, Bv, again);
    pl_mulv3(AB, v, ABv);
    PL_CHECK_NEAR(pl_distance3(again, ABv), 0, 1e-15);
    PL_CHECK_NEAR(pl_det3(AB), pl_det3(A) * pl_det3(B), 1e-15);
    pl_mulTv3(A, v, w); // v . A u = (A^T v) . u
    PL_CHECK_NEAR(pl_dot3(w, Bv), pl_dot3(v, again), 1e-15);
    pl_mul33(A, A, A); // in place
    pl_cross3(v, w, again);
    PL_CHECK_NEAR(fabs(pl_dot3(again, v)) + fabs(pl_dot3(again, w)), 0, 1e-14);
}

// The exponential of a vector turns by its length about its direction, continuously through the small-angle
// series.
static void test_rotation(void **state)
{
    (void)state;
    static const double angle[] = {0, 1e-9, 0.99e-4, 1.01e-4, 0.3, 3.1, 7};
    for (int i = 0; i < PL_COUNT(angle); ++i) {
        const double axis[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3};
        const double w[3] = {angle[i] * axis[0], angle[i] * axis[1], angle[i] * axis[2]};
        double R[9], turned[3];
        pl_rotation_exp(w, R);
        check_rotation(R, 1e-14);
        pl_mulv3(R, axis, turned);
        PL_CHECK_NEAR(pl_distance3(turned, axis), 0, 1e-14);
        PL_CHECK_NEAR(R[0] + R[4] + R[8], 1 + 2 * cos(angle[i]), 1e-14);
        PL_CHECK_NEAR(0.5 * (R[7] - R[5]), axis[0] * sin(angle[i]), 1e-14);
    }
}

// A = R S: R a rotation and S symmetric positive, found again from R and S made at random.
static void test_polar(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 3);
    for (int trial = 0; trial < 200; ++trial) {
        double w[3], R[9], Q[9], S[9], A[9], got[9];
        for (int i = 0; i < 3; ++i) {
            w[i] = pl_random_uniform(&random, -2, 2);
        }
        pl_rotation_exp(w, R);
        random_matrix(&random, Q);
        const double floor = trial % 2 ? 1e-3 : 0.3;
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                S[3 * i + j] = pl_dot3(Q + 3 * i, Q + 3 * j) + (i == j ? floor : 0);
            }
        }
        pl_mul33(R, S, A);
        pl_polar3(A, got);
        check_rotation(got, 1e-12);
        for (int i = 0; i < 9; ++i) {
            PL_CHECK_NEAR(got[i], R[i], 1e-10);
        }
    }
}

// S v_k = lambda_k v_k with orthonormal v_k and ascending lambda_k, also for repeated and zero eigenvalues.
static void test_eigen(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 4);
    static const double special[3][9] = {
        {0, 0, 0, 0, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 2, 0, 0, 0, 2}, {1, 1, 1, 1, 1, 1, 1, 1, 1}};
    for (int trial = 0; trial < 200; ++trial) {
        double A[9], value[3], V[9], alone[3];
        random_matrix(&random, A);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < i; ++j) {
                A[3 * i + j] = A[3 * j + i];
            }
        }
        if (trial < 3) {
            memcpy(A, special[trial], sizeof A);
        }
        pl_eigen3(A, value, V);
        pl_eigen3(A, alone, NULL);
        assert_memory_equal(value, alone, sizeof value);
        assert_true(value[0] <= value[1] && value[1] <= value[2]);
        for (int k = 0; k < 3; ++k) {
            const double v[3] = {V[k], V[3 + k], V[6 + k]};
            double Av[3];
            pl_mulv3(A, v, Av);
            for (int i = 0; i < 3; ++i) {
                PL_CHECK_NEAR(Av[i], value[k] * v[i], 1e-14);
            }
            PL_CHECK_NEAR(pl_norm3(v), 1, 1e-14);
        }
        PL_CHECK_NEAR(value[0] * value[1] * value[2], pl_det3(A), 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cofactor), cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_rotation), cmocka_unit_test(test_polar),
                                       cmocka_unit_test(test_eigen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
