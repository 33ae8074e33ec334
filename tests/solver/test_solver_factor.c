// Laws of the factors: A x = b holds, inertia equals the count of negative eigenvalues, a singular matrix is
// named.
#include <stdlib.h>
#include "check.h"
#include "solver_cases.h"

static const pl_factor_kind all_kinds[] = {PL_FACTOR_CHOLESKY, PL_FACTOR_INDEFINITE, PL_FACTOR_MULTIFRONTAL};

// Factors and solves for three right sides; returns the relative residual.
static double solve_residual(const solver_case *c, pl_factor_kind kind, pl_factor_report *report)
{
    pl_error err;
    pl_factor *factor;
    PL_CHECK_OK(pl_factor_create(kind, &c->matrix, c->group, c->group_count, &factor, &err));
    PL_CHECK_OK(pl_factor_update(factor, &c->matrix, report, &err));
    assert_false(report->singular);
    assert_true(pl_factor_bytes(factor) > 0);
    assert_true(pl_factor_flops(factor) > 0);
    const size_t total = 3 * (size_t)c->matrix.n;
    double *b = malloc(total * sizeof *b), *x = malloc(total * sizeof *x);
    pl_random random;
    pl_random_seed(&random, 7);
    for (size_t i = 0; i < total; ++i) {
        x[i] = b[i] = case_random(&random);
    }
    pl_factor_solve(factor, x, 3);
    double residual = case_residual(&c->matrix, x, b, 3);
    // one right side alone takes another path
    memcpy(x, b, total * sizeof *x);
    pl_factor_solve(factor, x, 1);
    residual = fmax(residual, case_residual(&c->matrix, x, b, 1));
    free(b);
    free(x);
    pl_factor_destroy(factor);
    return residual;
}

static void test_positive_definite(void **state)
{
    (void)state;
    const int sizes[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 3, 3}, {30, 1, 1}, {12, 9, 8}};
    for (int i = 0; i < PL_COUNT(sizes); ++i) {
        solver_case c = case_grid(
            (grid_spec){.nx = sizes[i][0], .ny = sizes[i][1], .nz = sizes[i][2], .seed = (uint64_t)i});
        for (int k = 0; k < PL_COUNT(all_kinds); ++k) {
            pl_factor_report report;
            PL_CHECK_BELOW(solve_residual(&c, all_kinds[k], &report), 1e-12);
            assert_int_equal(report.negative_count, 0);
            assert_int_equal(report.perturbed_count, 0);
        }
        case_clear(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_positive_definite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
