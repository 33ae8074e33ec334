// Factors in single precision: as accurate as floats allow, exact after a few corrections with double
// residuals, the same inertia and the same bits for any number of threads; what single precision cannot do is
// done in double precision and said so.
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "solver_cases.h"
#include "solver/solver_front.h"

typedef struct single_case {
    solver_case c;
    pl_factor *factor;
    pl_factor_report report;
} single_case;

static single_case single_make(grid_spec spec)
{
    single_case s = {.c = case_grid(spec)};
    pl_error err;

    PL_CHECK_OK(
        pl_factor_create(PL_FACTOR_MULTIFRONTAL, &s.c.matrix, s.c.group, s.c.group_count, &s.factor, &err));
    PL_CHECK_OK(pl_factor_update_single(s.factor, &s.c.matrix, &s.report, &err));
    assert_false(s.report.singular);

    return s;
}

static void single_clear(single_case *s)
{
    pl_factor_destroy(s->factor);
    case_clear(&s->c);
}

// Positive and quasi-definite matrices; corrections x <- x + P^-1 (b - A x) lead to the double solution.
static void test_corrections(void **state)
{
    (void)state;
    const grid_spec specs[] = {{.nx = 9, .ny = 8, .nz = 7, .seed = 1},
                               {.nx = 8, .ny = 8, .nz = 8, .pressure = true, .C = 1, .seed = 2}};
    for (int i = 0; i < PL_COUNT(specs); ++i) {
        single_case s = single_make(specs[i]);
        const int32_t n = s.c.matrix.n;
        pl_factor_report twice;
        pl_error err;
        assert_true(s.report.single);
        double *b = case_right_sides(n, 1), *x = case_right_sides(n, 1), *r = malloc((size_t)n * sizeof *r);
        pl_factor_solve(s.factor, x, 1);
        const double rough = case_residual(&s.c.matrix, x, b, 1);
        for (int step = 0; step < 4; ++step) {
            pl_sparse_multiply(&s.c.matrix, x, r);
            for (int32_t k = 0; k < n; ++k) {
                r[k] = b[k] - r[k];
            }
            pl_factor_solve(s.factor, r, 1);
            for (int32_t k = 0; k < n; ++k) {
                x[k] += r[k];
            }
        }
        const double fine = case_residual(&s.c.matrix, x, b, 1);
        print_message("residual %.1e, corrected %.1e\n", rough, fine);
        PL_CHECK_BELOW(rough, 1e-5);
        assert_true(rough > 100 * DBL_EPSILON); // it is single precision
        PL_CHECK_BELOW(fine, 1e-14);
        PL_CHECK_OK(pl_factor_update(s.factor, &s.c.matrix, &twice, &err));
        assert_false(twice.single);
        assert_int_equal(twice.negative_count, s.report.negative_count);
        free(b);
        free(x);
        free(r);
        single_clear(&s);
    }
}

// A matrix whose fronts need pivoting is factored in double precision, and solved as well as ever.
static void test_falls_back(void **state)
{
    (void)state;
    single_case s =
        single_make((grid_spec){.nx = 7, .ny = 7, .nz = 7, .pressure = true, .C = 1e-12, .seed = 3});
    print_message("single %d, pivots %.1e to %.1e\n", s.report.single, s.report.smallest_pivot,
                  s.report.largest_pivot);
    single_case hard = single_make((grid_spec){.nx = 8, .ny = 8, .nz = 8, .shift = 27, .seed = 3});
    assert_false(hard.report.single);
    double *b = case_right_sides(hard.c.matrix.n, 1), *x = case_right_sides(hard.c.matrix.n, 1);
    pl_factor_solve(hard.factor, x, 1);
    PL_CHECK_BELOW(case_residual(&hard.c.matrix, x, b, 1), 1e-12);
    free(b);
    free(x);
    single_clear(&hard);
    single_clear(&s);
}

// In 16 bits: a preconditioner. Corrections with double residuals converge fast on a matrix of moderate
// condition, on every instruction set, at sizes that fill tiles and at sizes that do not; the
// solution has the same bits for any number of threads; a new factor drops the old copy.
static void test_packed(void **state)
{
    (void)state;
    const grid_spec specs[] = {{.nx = 12, .ny = 11, .nz = 10, .seed = 1},
                               {.nx = 8, .ny = 8, .nz = 8, .pressure = true, .C = 1, .seed = 2},
                               {.nx = 3, .ny = 2, .nz = 1, .seed = 5}};
    for (int i = 0; i < PL_COUNT(specs); ++i) {
        for (int isa = PL_ISA_GENERIC; isa <= (int)pl_isa_best(); ++isa) {
            front_kernels_limit((pl_isa)isa);
            single_case s = single_make(specs[i]);
            const int32_t n = s.c.matrix.n;
            const size_t bytes = (size_t)n * sizeof(double);
            double *b = case_right_sides(n, 1), *x = case_right_sides(n, 1), *r = case_right_sides(n, 1);
            pl_threads_set(1);
            assert_true(pl_factor_pack(s.factor));
            pl_factor_solve_packed(s.factor, x);
            pl_threads_set(3);
            pl_factor_solve_packed(s.factor, r);
            assert_memory_equal(x, r, bytes);
            const double first = case_residual(&s.c.matrix, x, b, 1);
            for (int step = 0; step < 3; ++step) {
                pl_sparse_multiply(&s.c.matrix, x, r);
                for (int32_t k = 0; k < n; ++k) {
                    r[k] = b[k] - r[k];
                }
                pl_factor_solve_packed(s.factor, r);
                for (int32_t k = 0; k < n; ++k) {
                    x[k] += r[k];
                }
            }
            const double last = case_residual(&s.c.matrix, x, b, 1);
            print_message("isa %d, %d unknowns: residual %.1e, corrected %.1e\n", isa, (int)n, first, last);
            PL_CHECK_BELOW(first, 1e-4);
            PL_CHECK_BELOW(last, 1e-6 * first + 1e-14);

            // twice the matrix: half the solution, so the copy is the new one
            for (int64_t k = 0; k < s.c.matrix.start[n]; ++k) {
                s.c.matrix.value[k] *= 2;
            }
            pl_error err;
            PL_CHECK_OK(pl_factor_update_single(s.factor, &s.c.matrix, &s.report, &err));
            memcpy(x, b, bytes);
            pl_factor_solve_packed(s.factor, x);
            PL_CHECK_BELOW(case_residual(&s.c.matrix, x, b, 1), 1e-3);
            PL_CHECK_OK(pl_factor_update(s.factor, &s.c.matrix, &s.report, &err));
            assert_false(pl_factor_pack(s.factor)); // in double precision there is none
            free(b);
            free(x);
            free(r);
            single_clear(&s);
        }
    }

    front_kernels_limit(PL_ISA_AVX512);
    pl_threads_set(0);
}

static void test_same_bits(void **state)
{
    (void)state;
    double *first = NULL;
    const int threads[] = {1, 2, 3, 8};
    for (int k = 0; k < PL_COUNT(threads); ++k) {
        pl_threads_set(threads[k]);
        single_case s =
            single_make((grid_spec){.nx = 12, .ny = 12, .nz = 12, .pressure = true, .C = 1, .seed = 2});
        double *x = case_right_sides(s.c.matrix.n, 3);
        pl_factor_solve(s.factor, x, 3);
        if (first) {
            assert_memory_equal(first, x, 3 * (size_t)s.c.matrix.n * sizeof *x);
            free(x);
        } else {
            first = x;
        }
        single_clear(&s);
    }

    free(first);
    pl_threads_set(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corrections),
        cmocka_unit_test(test_falls_back),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
