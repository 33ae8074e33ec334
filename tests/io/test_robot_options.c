// The `solver:` block over the defaults of statics.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "pliant/io.h"

static void test_options(void **state)
{
    (void)state;
    char path[] = "/tmp/pliant_options_XXXXXX";
    const int handle = mkstemp(path);
    assert_true(handle >= 0);
    FILE *file = fdopen(handle, "w");
    fputs("pliant: 1\nmesh: {design: {kind: beam}}\nmaterials: {m: {model: neo_hookean, c10: 0.1}}\n"
          "solver: {length_tolerance: 2 um, iteration_limit: 77, linear_solver: mumps, warp: false,\n"
          "  formulation: displacement, time_limit: 1 min}\n",
          file);
    fclose(file);
    pl_error err;
    const pl_statics_options base = pl_statics_options_default();
    const pl_statics_options options = pl_robot_file_options(path, &err);
    assert_int_equal(err.status, PL_OK);
    PL_CHECK_NEAR(options.length_tolerance, 0.002, 1e-15);
    PL_CHECK_NEAR(options.time_limit, 60, 1e-12);
    PL_CHECK_NEAR(options.force_tolerance, base.force_tolerance, 0);
    assert_int_equal(options.iteration_limit, 77);
    assert_int_equal(options.increment_limit, base.increment_limit);
    assert_int_equal(options.linear_solver, PL_SOLVER_MUMPS);
    assert_true(options.displacement);
    assert_false(options.warp);
    unlink(path);
    const pl_statics_options missing = pl_robot_file_options(path, &err);
    assert_int_equal(err.status, PL_BAD_FILE);
    assert_int_equal(missing.iteration_limit, base.iteration_limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
