// Targets that take geometry: body points along a line, shapes fitted to a surface.
#include "arm_ik.h"
#include "mesh/mesh.h"
#include "pliant/target.h"

#define LINE (ARM_POINTS * 2 + 1) // points of the arm of two sections, and its base

// A ribbon of triangles, 10 mm wide, along the arm as it stands.
static void ribbon(const arm *a, double position[6 * LINE], int32_t corner[6 * (LINE - 1)], pl_trisurf *out)
{
    for (int k = 0; k < LINE; ++k) {
        for (int side = 0; side < 2; ++side) {
            double *x = position + 3 * (2 * k + side);
            x[0] = k ? a->point[3 * (k - 1)] : 0;
            x[1] = k ? a->point[3 * (k - 1) + 1] : 0;
            x[2] = side ? 5 : -5;
        }
        const int32_t v = 2 * k, piece[6] = {v, v + 2, v + 1, v + 1, v + 2, v + 3};
        if (k + 1 < LINE) {
            memcpy(corner + 6 * k, piece, sizeof piece);
        }
    }
    *out = (pl_trisurf){2 * LINE, 2 * (LINE - 1), position, corner};
}

// The arm is fitted to its own bent shape, which only the surface tells: it ends on it with the same
// commands.
static void test_fit_surface(void **state)
{
    (void)state;
    static arm bent, straight;
    const double goal[2] = {0.5, 0.9};
    pl_model *model = arm_create(&bent, 2, -2, 2);
    arm_go(model, goal);
    double position[6 * LINE], near[6 * ARM_POINTS], rms = 0;
    int32_t corner[6 * (LINE - 1)];
    pl_trisurf surface;
    ribbon(&bent, position, corner, &surface);
    pl_model_destroy(model);

    pl_error err = {0};
    model = arm_create(&straight, 2, -2, 2);
    int32_t *point = NULL, count = 0;
    PL_CHECK_OK(pl_model_points(model, NULL, &point, &count, &err));
    assert_int_equal(count, 2 * ARM_POINTS);
    pl_objective o = pl_objective_default(PL_OBJECTIVE_SHAPE);
    o.point = point;
    o.point_count = count;
    o.place = pl_model_get_info(model).rest;
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = make(model, &o, 1, &options);
    pl_ik_report report;
    PL_CHECK_OK(pl_ik_fit_surface(ik, 0, &surface, &report, &err));
    PL_CHECK_OK(pl_trisurf_nearest(&surface, pl_model_get_answer(model).point, count, near, &rms, &err));
    print_message("commands %.4f %.4f, %.4f mm off\n", report.command[0], report.command[1], rms);
    PL_CHECK_BELOW(rms, 0.01 * straight.length);
    for (int i = 0; i < 2; ++i) {
        PL_CHECK_NEAR(report.command[i], goal[i], 0.1);
    }
    surface.triangle_count = 0;
    assert_int_equal(pl_ik_fit_surface(ik, 0, &surface, &report, &err), PL_BAD_INPUT);
    pl_ik_destroy(ik);
    pl_mesh_free_indices(point);
    pl_model_destroy(model);
}

// Points along the first half of the straight arm are those of its first section, in order; names are unknown
// to a model without a mesh.
static void test_body_points(void **state)
{
    (void)state;
    static arm a;
    pl_error err = {0};
    pl_model *model = arm_create(&a, 2, -2, 2);
    int32_t *point = NULL, count = 0;
    const double from[3] = {0}, to[3] = {0.5 * a.length, 0, 0};
    PL_CHECK_OK(pl_model_points_on_line(model, from, to, &point, &count, &err));
    assert_int_equal(count, ARM_POINTS);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(point[i], i);
    }
    pl_mesh_free_indices(point);
    assert_int_equal(pl_model_points(model, "skin", &point, &count, &err), PL_BAD_INPUT);
    assert_null(point);
    pl_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fit_surface),
                                       cmocka_unit_test(test_body_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
