// The numeric work of the multifrontal factor, for every instruction set this processor has: factors and
// solves agree with their matrix to rounding, at sizes that fill tiles and at sizes that do not, in double
// and in single precision, and count the same inertia.
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "solver_cases.h"
#include "solver/solver_front.h"

static const char *const isa_name[] = {"generic", "avx2", "avx512"};

// A factor of a matrix with wide fronts, positive or quasi-definite, and what it leaves of a residual.
static double kernels_residual(const solver_case *c, bool single, int sides, pl_factor_report *report)
{
    const int32_t n = c->matrix.n;
    pl_factor *factor;
    pl_error err;

    PL_CHECK_OK(
        pl_factor_create(PL_FACTOR_MULTIFRONTAL, &c->matrix, c->group, c->group_count, &factor, &err));
    PL_CHECK_OK((single ? pl_factor_update_single : pl_factor_update)(factor, &c->matrix, report, &err));
    double *b = case_right_sides(n, sides), *x = case_right_sides(n, sides);
    pl_factor_solve(factor, x, sides);
    const double residual = case_residual(&c->matrix, x, b, sides);
    free(b);
    free(x);
    pl_factor_destroy(factor);

    return residual;
}

static void test_every_instruction_set(void **state)
{
    (void)state;
    const grid_spec specs[] = {{.nx = 14, .ny = 13, .nz = 12, .seed = 3},
                               {.nx = 9, .ny = 9, .nz = 9, .pressure = true, .C = 1, .seed = 4},
                               {.nx = 3, .ny = 2, .nz = 2, .pressure = true, .C = 1, .seed = 5},
                               {.nx = 1, .ny = 1, .nz = 1, .seed = 6}};
    for (int i = 0; i < PL_COUNT(specs); ++i) {
        solver_case c = case_grid(specs[i]);
        int32_t negative = -1;
        for (int isa = PL_ISA_GENERIC; isa <= (int)pl_isa_best(); ++isa) {
            front_kernels_limit((pl_isa)isa);
            assert_string_equal(front_kernels_choose(false)->isa, isa_name[isa]);
            for (int single = 0; single < 2; ++single) {
                for (int sides = 1; sides <= 17; sides += 8) {
                    pl_factor_report report = {0};
                    const double residual = kernels_residual(&c, single, sides, &report);
                    print_message("%-8s %s, %5d unknowns, %2d sides: residual %.1e\n", isa_name[isa],
                                  single ? "single" : "double", (int)c.matrix.n, sides, residual);
                    PL_CHECK_BELOW(residual, single ? 1e-5 : 1e-13);
                    assert_int_equal(report.single, single);
                    // the same inertia from all of them
                    assert_true(negative < 0 || negative == report.negative_count);
                    negative = report.negative_count;
                }
            }
        }
        case_clear(&c);
    }

    front_kernels_limit(PL_ISA_AVX512);
}

// Pivots of the wrong sign anywhere, and fronts that are factored again with pivoting.
static void test_indefinite(void **state)
{
    (void)state;
    for (int isa = PL_ISA_GENERIC; isa <= (int)pl_isa_best(); ++isa) {
        solver_case c = case_grid((grid_spec){.nx = 8, .ny = 8, .nz = 8, .shift = 27, .seed = 7});
        pl_factor_report report = {0};
        front_kernels_limit((pl_isa)isa);
        const double residual = kernels_residual(&c, false, 3, &report);
        print_message("%-8s residual %.1e, %d negative of %d\n", isa_name[isa], residual,
                      (int)report.negative_count, (int)c.matrix.n);
        PL_CHECK_BELOW(residual, 1e-9);
        assert_true(report.negative_count > c.matrix.n / 4);
        case_clear(&c);
    }

    front_kernels_limit(PL_ISA_AVX512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_instruction_set),
                                       cmocka_unit_test(test_indefinite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
