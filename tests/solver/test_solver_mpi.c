// MUMPS over MPI: two processes have the solutions and the inertia of one, and of the sequential MUMPS; a
// launcher that is not there is named. Skipped where pliant-mumps was not built or there is no mpirun.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "solver_cases.h"

#define SIDES 3

// The program beside this one, and a launcher in the PATH.
static bool can_run(void)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);

    path[n > 0 ? n : 0] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) {
        return false;
    }
    strcpy(slash, "/pliant-mumps");

    return access(path, X_OK) == 0 && system("command -v mpirun >/dev/null 2>&1") == 0;
}

static double *solutions(pl_factor_kind kind, const char *launcher, const solver_case *c, int32_t *negative)
{
    pl_error err = {0};
    pl_factor *factor;
    pl_factor_report report;

    setenv("PLIANT_MPIRUN", launcher, 1);
    PL_CHECK_OK(pl_factor_create(kind, &c->matrix, c->group, c->group_count, &factor, &err));

    // values may change, the pattern stays: the second factor is the one that counts
    PL_CHECK_OK(pl_factor_update(factor, &c->matrix, &report, &err));
    PL_CHECK_OK(pl_factor_update(factor, &c->matrix, &report, &err));
    assert_false(report.singular);
    assert_true(pl_factor_bytes(factor) > 0);
    *negative = report.negative_count;
    double *x = case_right_sides(c->matrix.n, SIDES), *b = case_right_sides(c->matrix.n, SIDES);
    pl_factor_solve(factor, x, SIDES);
    PL_CHECK_BELOW(case_residual(&c->matrix, x, b, SIDES), 1e-12);
    free(b);
    pl_factor_destroy(factor);

    return x;
}

static double apart(const double *a, const double *b, size_t count)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < count; ++i) {
        most = fmax(most, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return most / size;
}

static void test_two_processes_as_one(void **state)
{
    (void)state;
    if (!can_run()) {
        printf("skipped: pliant-mumps or mpirun is not there (tools/install-deps mpi)\n");
        skip();
    }

    solver_case c = case_grid((grid_spec){.nx = 9, .ny = 8, .nz = 7, .pressure = true, .C = 1e-2, .seed = 5});
    const size_t count = SIDES * (size_t)c.matrix.n;
    int32_t negative[3];
    double *two = solutions(PL_FACTOR_MPI, "mpirun --oversubscribe -n 2", &c, &negative[0]),
           *one = solutions(PL_FACTOR_MPI, "mpirun -n 1", &c, &negative[1]),
           *plain = solutions(PL_FACTOR_INDEFINITE, "", &c, &negative[2]);
    printf("%d unknowns, %d negative: two processes and one differ by %.1e, one and sequential by %.1e\n",
           (int)c.matrix.n, (int)negative[0], apart(two, one, count), apart(one, plain, count));
    PL_CHECK_BELOW(apart(two, one, count), 1e-12);
    PL_CHECK_BELOW(apart(one, plain, count), 1e-12);
    assert_int_equal(negative[0], negative[2]);
    assert_int_equal(negative[1], negative[2]);
    free(two);
    free(one);
    free(plain);
    case_clear(&c);
}

static void test_missing_launcher_is_named(void **state)
{
    (void)state;
    solver_case c = case_grid((grid_spec){.nx = 2, .ny = 2, .nz = 2});
    pl_error err = {0};
    pl_factor *factor = NULL;
    setenv("PLIANT_MPIRUN", "no-such-launcher -n 2", 1);
    assert_int_equal(pl_factor_create(PL_FACTOR_MPI, &c.matrix, c.group, c.group_count, &factor, &err),
                     PL_FAILED);
    assert_null(factor);
    assert_non_null(strstr(err.text, "'no-such-launcher' cannot be started"));

    // one that ends at once
    setenv("PLIANT_MPIRUN", "true", 1);
    assert_int_equal(pl_factor_create(PL_FACTOR_MPI, &c.matrix, c.group, c.group_count, &factor, &err),
                     PL_FAILED);
    assert_non_null(strstr(err.text, "could not start pliant-mumps"));
    case_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_processes_as_one),
                                       cmocka_unit_test(test_missing_launcher_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
