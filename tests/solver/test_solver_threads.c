// The multifrontal factor gives the same bits for any number of threads, and memory that runs out is an
// answer, not a crash or a leak.
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "solver_cases.h"

static double *solve_with(const solver_case *c, int threads, int sides)
{
    pl_error err;
    pl_factor *factor;
    pl_factor_report report;

    pl_threads_set(threads);
    PL_CHECK_OK(
        pl_factor_create(PL_FACTOR_MULTIFRONTAL, &c->matrix, c->group, c->group_count, &factor, &err));
    PL_CHECK_OK(pl_factor_update(factor, &c->matrix, &report, &err));
    double *x = case_right_sides(c->matrix.n, sides);
    pl_factor_solve(factor, x, sides);
    pl_factor_destroy(factor);

    return x;
}

static void test_same_bits(void **state)
{
    (void)state;

    // positive definite, quasi-definite, and so indefinite that fronts are pivoted; the largest fronts are
    // cut into several pieces in every phase
    const grid_spec specs[] = {{.nx = 15, .ny = 14, .nz = 13, .seed = 1},
                               {.nx = 13, .ny = 13, .nz = 13, .pressure = true, .seed = 2},
                               {.nx = 10, .ny = 10, .nz = 10, .shift = 27, .seed = 3}};
    for (int i = 0; i < PL_COUNT(specs); ++i) {
        solver_case c = case_grid(specs[i]);
        for (int sides = 1; sides <= 3; sides += 2) {
            double *one = solve_with(&c, 1, sides);
            const int threads[] = {2, 3, 8};
            for (int k = 0; k < PL_COUNT(threads); ++k) {
                double *more = solve_with(&c, threads[k], sides);
                assert_memory_equal(one, more, (size_t)c.matrix.n * (size_t)sides * sizeof *one);
                free(more);
            }
            free(one);
        }
        case_clear(&c);
    }

    pl_threads_set(0);
}

// The thread count may grow and shrink during the life of a factor.
static void test_threads_change(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 9, .ny = 9, .nz = 9, .seed = 1});
    pl_error err;
    pl_factor *factor;
    pl_threads_set(1);
    PL_CHECK_OK(pl_factor_create(PL_FACTOR_MULTIFRONTAL, &c.matrix, c.group, c.group_count, &factor, &err));
    const int threads[] = {1, 3, 2, 1};
    double *first = NULL;
    for (int i = 0; i < PL_COUNT(threads); ++i) {
        pl_threads_set(threads[i]);
        PL_CHECK_OK(pl_factor_update(factor, &c.matrix, NULL, &err));
        double *x = case_right_sides(c.matrix.n, 1);
        pl_factor_solve(factor, x, 1);
        if (first) {
            assert_memory_equal(first, x, (size_t)c.matrix.n * sizeof *x);
            free(x);
        } else {
            first = x;
        }
    }

    free(first);
    pl_factor_destroy(factor);
    pl_threads_set(0);
    case_clear(&c);
}

typedef struct counting {
    int calls, fail_at, live;
} counting;

static void *counting_hook(void *user, void *block, size_t bytes)
{
    counting *count = user;
    if (bytes == 0) {
        count->live -= block != NULL;
        free(block);
        return NULL;
    }

    if (++count->calls == count->fail_at) {
        return NULL;
    }

    void *result = realloc(block, bytes);
    count->live += result && !block;

    return result;
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 4, .ny = 4, .nz = 4, .pressure = true, .seed = 1});
    const pl_factor_kind kinds[] = {PL_FACTOR_CHOLESKY, PL_FACTOR_INDEFINITE, PL_FACTOR_MULTIFRONTAL};
    for (int k = 0; k < PL_COUNT(kinds); ++k) {
        int failures = 0;
        for (int n = 1;; ++n) {
            counting count = {.fail_at = n};
            pl_memory_set(counting_hook, &count);
            pl_error err;
            pl_factor *factor;
            const pl_status status =
                pl_factor_create(kinds[k], &c.matrix, c.group, c.group_count, &factor, &err);
            pl_factor_destroy(factor);
            pl_memory_set(NULL, NULL);
            assert_int_equal(count.live, 0);
            if (status == PL_OK) {
                assert_true(count.calls < n);
                break;
            }
            assert_int_equal(status, PL_NO_MEMORY);
            assert_null(factor);
            ++failures;
        }
        assert_true(failures > 8);
    }

    case_clear(&c);
}

// After create, factoring and solving ask for no memory.
static void test_no_memory_asked(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 8, .ny = 8, .nz = 8, .pressure = true, .seed = 1});
    counting count = {0};
    pl_memory_set(counting_hook, &count);
    pl_error err;
    pl_factor *factor;
    PL_CHECK_OK(pl_factor_create(PL_FACTOR_MULTIFRONTAL, &c.matrix, c.group, c.group_count, &factor, &err));
    const int calls = count.calls;
    double *x = case_right_sides(c.matrix.n, 2);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_OK(pl_factor_update(factor, &c.matrix, NULL, &err));
        pl_factor_solve(factor, x, 2);
    }

    assert_int_equal(count.calls, calls);
    free(x);
    pl_factor_destroy(factor);
    pl_memory_set(NULL, NULL);
    assert_int_equal(count.live, 0);
    case_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_threads_change),
        cmocka_unit_test(test_memory_runs_out), cmocka_unit_test(test_no_memory_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
