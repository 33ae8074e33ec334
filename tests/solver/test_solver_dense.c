// Small dense systems and sparse helpers against their definitions.
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "solver_cases.h"

static void test_dense_solve(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 1);
    for (int n = 1; n <= 30; ++n) {
        double A[900], LU[900], b[60], x[60];
        for (int i = 0; i < n * n; ++i) {
            LU[i] = A[i] = case_random(&random);
        }
        A[0] = LU[0] = n > 1 ? 0 : 2; // the first pivot must be searched for
        for (int i = 0; i < 2 * n; ++i) {
            x[i] = b[i] = case_random(&random);
        }
        assert_true(pl_dense_solve(n, LU, x, 2));
        for (int i = 0; i < n; ++i) {
            for (int c = 0; c < 2; ++c) {
                double sum = -b[2 * i + c];
                for (int j = 0; j < n; ++j) {
                    sum += A[n * i + j] * x[2 * j + c];
                }
                PL_CHECK_NEAR(sum, 0, 1e-11);
            }
        }
    }
}

static void test_dense_singular(void **state)
{
    (void)state;
    double A[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, zero[4] = {0}, bad[1] = {NAN}, b[3] = {1, 1, 1};
    assert_false(pl_dense_solve(3, A, b, 1));
    assert_false(pl_dense_solve(2, zero, b, 1));
    assert_false(pl_dense_solve(1, bad, b, 1));
}

// A V = V diag(value), V^T V = I, values ascending.
static void test_dense_eigen(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 2);
    for (int n = 1; n <= 30; n += 3) {
        double A[900], S[900], V[900], value[30];
        for (int i = 0; i < n; ++i) {
            for (int j = i; j < n; ++j) {
                A[i * n + j] = A[j * n + i] = case_random(&random);
            }
        }
        memcpy(S, A, sizeof S);
        pl_dense_eigen(n, S, value, V);
        for (int k = 0; k < n; ++k) {
            assert_true(k == 0 || value[k] >= value[k - 1]);
            for (int i = 0; i < n; ++i) {
                double off = -value[k] * V[i * n + k], dot = i == k ? -1 : 0;
                for (int j = 0; j < n; ++j) {
                    off += A[i * n + j] * V[j * n + k];
                    dot += V[j * n + i] * V[j * n + k];
                }
                PL_CHECK_NEAR(off, 0, 1e-13);
                PL_CHECK_NEAR(dot, 0, 1e-13);
            }
        }
    }
}

static void test_sparse_multiply_and_slot(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 3, .ny = 3, .nz = 2, .pressure = true, .seed = 4});
    const int32_t n = c.matrix.n;
    double *dense = case_dense(&c.matrix), *x = case_right_sides(n, 1), *y = calloc((size_t)n, sizeof *y);
    pl_sparse_multiply(&c.matrix, x, y);
    for (int32_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int32_t j = 0; j < n; ++j) {
            const int64_t slot = pl_sparse_slot(&c.matrix, i, j);
            const double entry = slot < 0 ? 0 : c.matrix.value[slot];
            if (i <= j) {
                PL_CHECK_NEAR(entry, dense[i * n + j], 0);
            } else {
                assert_int_equal(slot, -1);
            }
            sum += dense[i * n + j] * x[j];
        }
        PL_CHECK_NEAR(y[i], sum, 1e-13);
    }

    assert_int_equal(pl_sparse_slot(&c.matrix, -1, 0), -1);
    assert_int_equal(pl_sparse_slot(&c.matrix, 0, n), -1);
    free(dense);
    free(x);
    free(y);
    case_clear(&c);
    pl_error err;
    pl_sparse none;
    assert_int_equal(pl_sparse_create(-1, 0, &none, &err), PL_BAD_INPUT);
    PL_CHECK_OK(pl_sparse_create(0, 0, &none, &err));
    pl_sparse_clear(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_solve), cmocka_unit_test(test_dense_singular),
        cmocka_unit_test(test_dense_eigen), cmocka_unit_test(test_sparse_multiply_and_slot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
