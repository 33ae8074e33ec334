// What a view does between two moves costs the next one nothing: a derivative that is interrupted leaves the
// factor of the solves as it was, and a shape found loosely is completed by another solve. Derivatives by
// several parameters are solved together and are those of each alone.
#include "statics_robot.h"

// Stops whatever is in progress once it is reported to.
static bool go_on(void *user, double fraction, const char *what)
{
    (void)fraction;
    (void)what;
    return !*(const bool *)user;
}

static rig build(const pl_statics_options *options)
{
    static plan p;
    static const pl_guide_def guide[3] = {{.point = {0, 4, 9}}, {.point = {20, 4, 9}}, {.point = {40, 4, 9}}};
    pl_mesh *mesh = tet_box(8, 2, 2, 40, 8, 10, 2, NULL);

    plan_init(&p, mesh, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_hold(&p, "base", "xyz");
    plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING);
    plan_marker(&p, "tip", "tip");
    const rig r = plan_build(&p, options);
    pl_mesh_destroy(mesh);

    return r;
}

// Factorisations of a small move after a derivative was stopped, or without one.
static int move_after_stop(bool spare, bool derivative)
{
    bool stop = false;
    pl_statics_options options = pl_statics_options_default();

    options.spare_factor = spare;
    options.progress = (pl_progress){go_on, &stop};
    rig r = build(&options);
    rig_solve(&r, (double[]){3});
    rig_solve(&r, (double[]){3.1});
    rig_solve(&r, (double[]){3.15}); // the moves have a factor of their own now
    const pl_parameter command = {.kind = PL_PARAMETER_COMMAND};
    double marker[3], again[3];
    const pl_jacobian out = {.marker = marker};
    pl_jacobian_report report;
    pl_error err = {0};
    stop = true;
    if (derivative) {
        assert_int_equal(pl_statics_jacobian(r.statics, r.state, &command, 1, &out, &report, &err),
                         PL_INTERRUPTED);
    }

    stop = false;
    const pl_solve_report moved = rig_solve(&r, (double[]){3.2});

    // a derivative that is not stopped is the same with and without the spare factor, and serves the next
    // move
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &command, 1, &out, &report, &err));
    assert_int_equal(report.factorizations, 1);
    PL_CHECK_OK(
        pl_statics_jacobian(r.statics, r.state, &command, 1, &(pl_jacobian){.marker = again}, &report, &err));
    assert_int_equal(report.factorizations, 0);
    const double h = 1e-3;
    const pl_marker_result here = pl_statics_marker(r.statics, r.state, 0);
    assert_int_equal(rig_solve(&r, (double[]){3.2 + h}).factorizations, 0);
    const pl_marker_result there = pl_statics_marker(r.statics, r.state, 0);
    for (int k = 0; k < 3; ++k) {
        PL_CHECK_NEAR(marker[k], again[k], 0);
        PL_CHECK_NEAR((there.position[k] - here.position[k]) / h, marker[k], 0.01);
    }

    rig_clear(&r);

    return moved.factorizations;
}

static void test_stopped_derivative_costs_nothing(void **state)
{
    (void)state;
    const int none = move_after_stop(true, false), with = move_after_stop(true, true),
              without = move_after_stop(false, true);
    printf("factorisations of a move: %d, after a stopped derivative %d, without a spare factor %d\n", none,
           with, without);
    assert_int_equal(with, none);
    assert_true(without > none);
}

static void test_loose_solve_is_completed(void **state)
{
    (void)state;
    const pl_statics_options options = pl_statics_options_default();
    rig loose = build(&options), straight = build(&options);
    rig_solve(&loose, (double[]){3});
    rig_solve(&straight, (double[]){3});
    pl_statics_set_tolerance_factor(loose.statics, 20);
    const pl_solve_report first = rig_try(&loose, (double[]){3.3});
    assert_int_equal(first.outcome, PL_SOLVED);
    const pl_solve_report whole = rig_solve(&straight, (double[]){3.3});
    double *x = shape_copy(&straight);
    const double off = shape_distance(&loose, rig_x(&loose), x);
    pl_statics_set_tolerance_factor(loose.statics, 1);
    const pl_solve_report second = rig_solve(&loose, (double[]){3.3});
    const double left = shape_distance(&loose, rig_x(&loose), x);
    printf("solves: loosely %d (%.1e mm off), completed %d (%.1e mm), straight %d\n", first.solves, off,
           second.solves, left, whole.solves);
    assert_true(first.solves < whole.solves);
    PL_CHECK_BELOW(off, 1e-3);
    PL_CHECK_BELOW(left, 1e-5);
    PL_CHECK_BELOW(second.residual_relative, options.force_tolerance);
    free(x);
    rig_clear(&loose);
    rig_clear(&straight);
}

static void test_columns_together_as_alone(void **state)
{
    (void)state;
    enum { COUNT = 10 }; // more than one block; that of gravity has no right side without a density
    const pl_parameter q[COUNT] = {
        {PL_PARAMETER_MARKER_FORCE, 0, 0},      {PL_PARAMETER_GRAVITY, 0, 2},
        {PL_PARAMETER_COMMAND, 0, 0},           {PL_PARAMETER_MARKER_FORCE, 0, 1},
        {PL_PARAMETER_MARKER_FORCE, 0, 2},      {PL_PARAMETER_MATERIAL, 0, PL_POISSON},
        {PL_PARAMETER_COMMAND, 0, 0},           {PL_PARAMETER_MARKER_FORCE, 0, 1},
        {PL_PARAMETER_MATERIAL, 0, PL_POISSON}, {PL_PARAMETER_COMMAND, 0, 0}};
    const pl_statics_options options = tight_options();
    rig r = build(&options);
    rig_solve(&r, (double[]){3});
    const size_t n = 3 * (size_t)pl_state_vertex_count(r.state);
    double *all = malloc(COUNT * n * sizeof *all), *one = malloc(n * sizeof *one), worst = 0;
    double effort[COUNT], alone[1];
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, q, COUNT,
                                    &(pl_jacobian){.position = all, .effort = effort}, &report, &err));
    PL_CHECK_BELOW(report.residual, 1e-8);
    for (int j = 0; j < COUNT; ++j) {
        double apart = 0, size = 1e-300;
        PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &q[j], 1,
                                        &(pl_jacobian){.position = one, .effort = alone}, &report, &err));
        for (size_t i = 0; i < n; ++i) {
            apart = fmax(apart, fabs(all[i * COUNT + (size_t)j] - one[i]));
            size = fmax(size, fabs(one[i]));
        }
        worst = fmax(worst, apart / size);
        PL_CHECK_NEAR(effort[j], alone[0], 1e-10 * (1 + fabs(alone[0])));
    }

    printf("columns together and alone differ by %.1e\n", worst);
    PL_CHECK_BELOW(worst, 1e-10);
    free(all);
    free(one);
    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stopped_derivative_costs_nothing),
                                       cmocka_unit_test(test_loose_solve_is_completed),
                                       cmocka_unit_test(test_columns_together_as_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
