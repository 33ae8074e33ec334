// The `solver:` block over the defaults of statics.
#include <string.h>
#include "check.h"
#include "document/document.h"
#include "geometric/geometric.h"
#include "pliant/result.h"
#include "statics/statics.h"

static void test_options(void **state)
{
    (void)state;
    static const char text[] =
        "pliant: 1\nmesh: {design: {kind: beam}}\nmaterials: {m: {model: neo_hookean, c10: 0.1}}\n"
        "solver: {length_tolerance: 2 um, iteration_limit: 77, linear_solver: mumps, warp: false,\n"
        "  formulation: displacement, time_limit: 1 min}\n";
    pl_error err = {0};
    pl_robot_document *document = NULL;
    const pl_statics_options base = pl_statics_options_default();
    pl_statics_options options;
    pl_geometric_options geometric;
    pl_method method;
    PL_CHECK_OK(pl_robot_document_parse(text, strlen(text), "r.yaml", &document, &err));
    PL_CHECK_OK(pl_robot_document_options(document, &options, &method, &geometric, &err));
    pl_robot_document_destroy(document);
    assert_int_equal(method, PL_METHOD_EXACT);
    PL_CHECK_NEAR(options.length_tolerance, 0.002, 1e-15);
    PL_CHECK_NEAR(options.time_limit, 60, 1e-12);
    PL_CHECK_NEAR(options.force_tolerance, base.force_tolerance, 0);
    assert_int_equal(options.iteration_limit, 77);
    assert_int_equal(options.increment_limit, base.increment_limit);
    assert_int_equal(options.linear_solver, PL_SOLVER_MUMPS);
    assert_true(options.displacement);
    assert_false(options.warp);
    assert_int_equal(pl_robot_document_read("/nowhere/robot.yaml", &document, NULL, &err), PL_BAD_FILE);
    assert_null(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
