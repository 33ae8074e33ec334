// The adjoint gradient is the transpose of the derivatives: for any weights of markers, rotations, efforts
// and body points it equals the weighted sum of the rows of the Jacobian, for commands and materials, with
// one linear solve; the geometric method, which has no adjoint, gives the same through its derivatives.
#include "bar_robot.h"

#define PARTS (PL_PART_MARKER | PL_PART_ROTATION | PL_PART_EFFORT | PL_PART_POINT)

static double weighted(const double *by, const double *J, int64_t rows, int columns, int j)
{
    double sum = 0;
    for (int64_t i = 0; i < rows; ++i) {
        sum += by[i] * J[i * columns + j];
    }
    return sum;
}

static void fill(double *by, int64_t count, double seed)
{
    for (int64_t i = 0; i < count; ++i) {
        by[i] = sin(seed + 1.7 * (double)i);
    }
}

static void check_model(const bar *b, double tolerance)
{
    static double point[3000];
    double marker[3], rotation[3], effort[2], gradient[2];
    const pl_model_info info = pl_model_get_info(b->model);

    assert_true(3 * info.point_count <= 3000);
    fill(marker, 3, 1);
    fill(rotation, 3, 2);
    fill(effort, 2, 3);
    fill(point, 3 * (int64_t)info.point_count, 4);
    const pl_model_weights by = {.marker = marker, .rotation = rotation, .effort = effort, .point = point};
    const pl_parameter parameter[2] = {{.kind = PL_PARAMETER_COMMAND, .index = 0},
                                       {.kind = PL_PARAMETER_COMMAND, .index = 1}};
    pl_jacobian_report report;
    pl_error err = {0};
    pl_model_derivative d;
    PL_CHECK_OK(pl_model_adjoint(b->model, &by, parameter, 2, gradient, &report, &err));
    PL_CHECK_OK(pl_model_differentiate(b->model, PARTS, 0, &d, &report, &err));
    for (int j = 0; j < 2; ++j) {
        const double want = weighted(marker, d.marker, 3, 2, j) + weighted(rotation, d.rotation, 3, 2, j) +
                            weighted(effort, d.effort, 2, 2, j) +
                            weighted(point, d.point, 3 * (int64_t)info.point_count, 2, j);
        print_message("gradient %d: %.12g, from the Jacobian %.12g\n", j, gradient[j], want);
        PL_CHECK_NEAR(gradient[j], want, tolerance * (1 + fabs(want)));
    }
}

static void test_transpose(void **state)
{
    (void)state;
    bar b = bar_exact();
    bar_go(&b, 2, 2);
    check_model(&b, 1e-7);

    // materials: one adjoint solve against one column
    const pl_parameter young = {.kind = PL_PARAMETER_MATERIAL, .index = 0, .part = PL_YOUNG};
    const double by[3] = {0.3, -1, 2};
    double gradient, column[3];
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(
        pl_model_adjoint(b.model, &(pl_model_weights){.marker = by}, &young, 1, &gradient, &report, &err));
    PL_CHECK_OK(pl_model_sensitivity(b.model, &young, 1, &(pl_jacobian){.marker = column}, &report, &err));
    PL_CHECK_NEAR(gradient, weighted(by, column, 3, 1, 0), 1e-9);

    // an idle command has no say, an unknown one is refused
    const double one[2] = {2, NAN};
    pl_solve_report fk;
    PL_CHECK_OK(pl_model_fk(b.model, one, &fk, &err));
    const pl_parameter side = {.kind = PL_PARAMETER_COMMAND, .index = 1};
    const pl_parameter none = {.kind = PL_PARAMETER_COMMAND, .index = 2};
    PL_CHECK_OK(
        pl_model_adjoint(b.model, &(pl_model_weights){.marker = by}, &side, 1, &gradient, &report, &err));
    assert_true(gradient == 0);
    assert_int_equal(
        pl_model_adjoint(b.model, &(pl_model_weights){.marker = by}, &none, 1, &gradient, &report, &err),
        PL_BAD_INPUT);
    bar_clear(&b);
}

static void test_without_adjoint(void **state)
{
    (void)state;
    bar b = bar_geometric();
    bar_go(&b, 2, 2);
    check_model(&b, 1e-12);
    const pl_parameter young = {.kind = PL_PARAMETER_MATERIAL, .part = PL_YOUNG};
    const double by[3] = {1, 0, 0};
    double gradient;
    pl_jacobian_report report;
    pl_error err = {0};
    assert_int_equal(
        pl_model_adjoint(b.model, &(pl_model_weights){.marker = by}, &young, 1, &gradient, &report, &err),
        PL_BAD_INPUT);
    bar_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_transpose),
                                       cmocka_unit_test(test_without_adjoint)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
