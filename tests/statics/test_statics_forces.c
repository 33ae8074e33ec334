// Forces at markers that are set at run time: the same shape as with the force in the robot's loads, a path
// of their own, part of a state, in balance with the reactions; and the compliance of a marker is exact.
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47};
static const pl_guide_def guide[] = {{.point = {0, 3, 6}}, {.point = {20, 3, 6}}, {.point = {40, 3, 6}}};
static const double pull[6] = {0.004, -0.01, 0.02, 0, 0.006, -0.003}; // N at tip and middle

// A bar of 40 x 6 x 6 mm along x, clamped at x = 0, with a cable on top.
static void bar_plan(plan *p, const pl_mesh *mesh)
{
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 40);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
    p->marker[p->def.marker_count++] = (pl_marker_def){.name = "middle", .at = {20, 3, 0}};
    plan_cable(p, "tendon", guide, 3, PL_DRIVE_SHORTENING)->radius = 2;
}

static double apart(const rig *a, const rig *b)
{
    return shape_distance(a, rig_x(a), rig_x(b));
}

// The force in the loads of one robot, set at run time in the other; taken off again, the shape is that
// without.
static void test_same_as_loads(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(8, 2, 2, 40, 6, 6, 2, NULL);
    const double command = 1.5;
    bar_plan(&p, mesh);
    rig set = plan_build(&p, NULL), never = plan_build(&p, NULL);
    p.force[0] = (pl_force_def){.marker = "tip", .force = {pull[0], pull[1], pull[2]}};
    p.force[1] = (pl_force_def){.marker = "middle", .force = {pull[3], pull[4], pull[5]}};
    p.def.force_count = 2;
    rig loaded = plan_build(&p, NULL);
    rig_solve(&loaded, &command);
    rig_solve(&set, &command);
    rig_solve(&never, &command);
    pl_statics_set_forces(set.statics, pull);
    rig_solve(&set, &command);
    double residual, largest;
    bool inverted;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_check(set.statics, set.state, &residual, &largest, &inverted, &err));
    print_message("as loads: %.2e mm apart; moved %.2f mm; independent residual %.1e of %.3g N\n",
                  apart(&set, &loaded), apart(&set, &never), residual, largest);
    PL_CHECK_NEAR(apart(&set, &loaded), 0, 1e-6);
    assert_true(apart(&set, &never) > 1);
    PL_CHECK_NEAR(residual / largest, 0, 1e-8);
    pl_reaction base;
    PL_CHECK_OK(pl_statics_reactions(set.statics, set.state, &base));
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(base.force[i] + pull[i] + pull[3 + i], 0, 1e-8);
    }
    pl_statics_set_forces(set.statics, NULL);
    rig_solve(&set, &command);
    PL_CHECK_NEAR(apart(&set, &never), 0, 1e-6);
    rig_clear(&set);
    rig_clear(&never);
    rig_clear(&loaded);
    pl_mesh_destroy(mesh);
}

// A state holds its forces: packed and unpacked into another rig, it is in balance there.
static void test_in_state(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(4, 1, 1, 40, 6, 6, 2, NULL);
    const double command = 1;
    bar_plan(&p, mesh);
    rig a = plan_build(&p, NULL), b = plan_build(&p, NULL);
    pl_statics_set_forces(a.statics, pull);
    rig_solve(&a, &command);
    static double block[10000];
    const size_t size = pl_state_pack(a.state, NULL, 0);
    assert_true(size <= sizeof block / sizeof *block);
    pl_state_pack(a.state, block, size);
    pl_error err = {0};
    PL_CHECK_OK(pl_state_unpack(b.state, block, size, &err));
    double residual, largest;
    bool inverted;
    PL_CHECK_OK(pl_statics_check(b.statics, b.state, &residual, &largest, &inverted, &err));
    PL_CHECK_NEAR(residual / largest, 0, 1e-8);
    rig_clear(&a);
    rig_clear(&b);
    pl_mesh_destroy(mesh);
}

// Derivatives with respect to a force at a marker against central differences of solves, and the symmetry of
// compliance: d(tip_i)/d(f_middle_j) = d(middle_j)/d(f_tip_i).
static void test_compliance(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(6, 2, 2, 40, 6, 6, 2, NULL);
    const double command = 1.5, h = 1e-4;
    bar_plan(&p, mesh);
    rig r = plan_build(&p, NULL);
    pl_statics_set_forces(r.statics, pull);
    rig_solve(&r, &command);
    pl_parameter q[6];
    double marker[36], effort[6];
    for (int j = 0; j < 6; ++j) {
        q[j] = (pl_parameter){PL_PARAMETER_MARKER_FORCE, j / 3, j % 3};
    }

    const pl_jacobian out = {.marker = marker, .effort = effort};
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, q, 6, &out, &report, &err));
    double largest = 0, worst = 0, asymmetry = 0;
    for (int j = 0; j < 6; ++j) {
        double force[6], side[2][6], tension[2];
        for (int k = 0; k < 2; ++k) {
            memcpy(force, pull, sizeof force);
            force[j] += k == 0 ? -h : h;
            pl_statics_set_forces(r.statics, force);
            rig_solve(&r, &command);
            for (int m = 0; m < 2; ++m) {
                const pl_marker_result found = pl_statics_marker(r.statics, r.state, m);
                memcpy(side[k] + 3 * m, found.position, 3 * sizeof(double));
            }
            tension[k] = pl_statics_actuator(r.statics, r.state, 0).effort;
        }
        for (int i = 0; i < 6; ++i) {
            const double difference = (side[1][i] - side[0][i]) / (2 * h);
            largest = fmax(largest, fabs(difference));
            worst = fmax(worst, fabs(difference - marker[6 * i + j]));
            asymmetry = fmax(asymmetry, fabs(marker[6 * i + j] - marker[6 * j + i]));
        }
        PL_CHECK_NEAR(effort[j], (tension[1] - tension[0]) / (2 * h), 1e-5);
    }

    print_message("compliance up to %.3g mm/N: %.1e from differences, asymmetry %.1e\n", largest,
                  worst / largest, asymmetry / largest);
    PL_CHECK_NEAR(worst / largest, 0, 1e-6);
    PL_CHECK_NEAR(asymmetry / largest, 0, 1e-9);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// A hand at the point of the marker `middle` does what a force at that marker does; at another point its
// compliance is that of central differences; let go, the body goes back; a packed state has no hand.
static void test_grip(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(6, 2, 2, 40, 6, 6, 2, NULL);
    const double command = 1.5, h = 1e-4, at[3] = {20, 3, 0}, elsewhere[3] = {31, 6, 5};
    const double two[6] = {0, 0, 0, pull[3], pull[4], pull[5]};
    bar_plan(&p, mesh);
    rig hand = plan_build(&p, NULL), marker = plan_build(&p, NULL);
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_grip(hand.statics, at, 0, &err));
    pl_statics_pull(hand.statics, pull + 3);
    pl_statics_set_forces(marker.statics, two);
    rig_solve(&hand, &command);
    rig_solve(&marker, &command);
    print_message("hand and marker: %.1e mm apart\n", apart(&hand, &marker));
    PL_CHECK_NEAR(apart(&hand, &marker), 0, 1e-7);
    double residual, largest_force, place[3], side[2][3], worst = 0, largest = 0;
    bool inverted;
    PL_CHECK_OK(pl_statics_check(hand.statics, hand.state, &residual, &largest_force, &inverted, &err));
    PL_CHECK_NEAR(residual / largest_force, 0, 1e-8);

    // let go, and at another point
    pl_statics_pull(hand.statics, NULL);
    pl_statics_set_forces(marker.statics, NULL);
    rig_solve(&hand, &command);
    rig_solve(&marker, &command);
    PL_CHECK_NEAR(apart(&hand, &marker), 0, 1e-6);
    PL_CHECK_OK(pl_statics_grip(hand.statics, elsewhere, 2, &err));
    pl_statics_pull(hand.statics, pull);
    rig_solve(&hand, &command);
    const int64_t n = 3 * (int64_t)pl_state_vertex_count(hand.state);
    double *position = malloc(3 * (size_t)n * sizeof *position);
    const pl_parameter q[3] = {
        {PL_PARAMETER_GRIP, 0, 0}, {PL_PARAMETER_GRIP, 0, 1}, {PL_PARAMETER_GRIP, 0, 2}};
    const pl_jacobian out = {.position = position};
    pl_jacobian_report report;
    PL_CHECK_OK(pl_statics_jacobian(hand.statics, hand.state, q, 3, &out, &report, &err));
    const double *x = rig_x(&hand);
    double *low = malloc((size_t)n * sizeof *low);
    for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 2; ++k) {
            double f[3] = {pull[0], pull[1], pull[2]};
            f[j] += k == 0 ? -h : h;
            pl_statics_pull(hand.statics, f);
            rig_solve(&hand, &command);
            assert_true(pl_statics_grip_mean(hand.statics, x, 1, side[k]));
            memcpy(low, k == 0 ? x : low, (size_t)n * sizeof *low);
        }
        for (int64_t i = 0; i < n; ++i) {
            const double difference = (x[i] - low[i]) / (2 * h);
            worst = fmax(worst, fabs(difference - position[3 * i + j]));
            largest = fmax(largest, fabs(difference));
        }
        assert_true((side[1][j] - side[0][j]) / (2 * h) > 0); // it yields
    }

    print_message("grip: compliance up to %.3g mm/N, %.1e from differences\n", largest, worst / largest);
    PL_CHECK_NEAR(worst / largest, 0, 1e-6);
    free(position);
    free(low);
    PL_CHECK_OK(pl_statics_grip(hand.statics, NULL, 0, &err));
    assert_false(pl_statics_grip_mean(hand.statics, x, 1, place));
    rig_clear(&hand);
    rig_clear(&marker);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_loads), cmocka_unit_test(test_in_state),
                                       cmocka_unit_test(test_compliance), cmocka_unit_test(test_grip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
