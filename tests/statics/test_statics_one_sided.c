// One signed command for two antagonists: each side is what it would be alone, the path across 0 ends where
// the path from rest does, the derivative is that of the side the command is on, and at 0 it says that it has
// a side.
#include "mirror_mesh.h"
#include "statics_robot.h"

static const pl_material soft = {.model = PL_NEO_HOOKEAN, .c10 = 0.2, .poisson = 0.45};
static const pl_guide_def upper[2] = {{.point = {0, 0.5, 0.9}}, {.point = {5.9, 0.5, 0.9}}};
static const pl_guide_def lower[2] = {{.point = {0, 0.5, 0.1}}, {.point = {5.9, 0.5, 0.1}}};
static const pl_command_drive both[2] = {{"up", 1}, {"down", -2}};

static pl_mesh *beam(void)
{
    return tet_box(6, 1, 1, 6, 1, 1, 2, NULL);
}

// A beam with a cable along its upper and one along its lower side.
static void beam_plan(plan *p, const pl_mesh *mesh, pl_drive drive, bool one_sided)
{
    plan_init(p, mesh, soft);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 6);
    plan_hold(p, "base", "xyz");
    plan_cable(p, "up", upper, 2, drive)->radius = 0.3;
    plan_cable(p, "down", lower, 2, drive)->radius = 0.3;
    for (int a = 0; a < 2; ++a) {
        p->actuator[a].has_range = true;
        p->actuator[a].range[1] = 0.4;
    }

    if (one_sided) {
        p->command[p->def.command_count++] =
            (pl_command_def){.name = "bend", .drive = both, .drive_count = 2, .one_sided = true};
    }

    plan_marker(p, "tip", "tip");
}

static double tip(const rig *r)
{
    return pl_statics_marker(r->statics, r->state, 0).position[2];
}

static void check_drive(pl_drive drive, double reach)
{
    pl_mesh *mesh = beam();
    plan p;

    beam_plan(&p, mesh, drive, true);
    rig r = plan_build(&p, NULL);
    const pl_command_info info = pl_robot_command(r.robot, 0);
    PL_CHECK_NEAR(info.range[0], -0.2, 1e-15); // 0.4 over the factor of 2
    PL_CHECK_NEAR(info.range[1], 0.4, 1e-15);
    beam_plan(&p, mesh, drive, false);
    rig single = plan_build(&p, NULL);
    for (int side = 0; side < 2; ++side) {
        const double command = side ? -reach / 2 : reach, alone[2] = {side ? 0 : reach, side ? reach : 0};
        pl_state_reset(single.state, single.robot);
        rig_solve(&single, alone);
        rig_solve(&r, &command); // the second time across 0
        const double off = shape_distance(&r, rig_x(&r), rig_x(&single));
        print_message("%s %+g: off by %.1e mm\n", pl_drive_name(drive), command, off);
        PL_CHECK_BELOW(off, 1e-7);
        assert_true(side ? tip(&r) < 0.5 : tip(&r) > 0.5);
        if (drive == PL_DRIVE_TENSION) {
            PL_CHECK_NEAR(pl_statics_actuator(r.statics, r.state, side ? 0 : 1).effort, 0, 1e-12);
        }
    }

    rig_clear(&single);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

static void test_one_sided_is_each_side_alone(void **state)
{
    (void)state;
    check_drive(PL_DRIVE_TENSION, 0.02);
    check_drive(PL_DRIVE_SHORTENING, 0.3);
}

// Differences to the right (h > 0) or on both sides.
static double slope(rig *r, double at, double h, bool right)
{
    double z[2];
    for (int k = 0; k < 2; ++k) {
        const double command = at + (k ? h : right ? 0 : -h);
        rig_solve(r, &command);
        z[k] = tip(r);
    }

    return (z[1] - z[0]) / (right ? h : 2 * h);
}

static void test_one_sided_jacobian(void **state)
{
    (void)state;
    pl_mesh *mesh = beam();
    plan p;
    beam_plan(&p, mesh, PL_DRIVE_TENSION, true);
    rig r = plan_build(&p, NULL);
    const double at[3] = {0.02, -0.01, 0};
    for (int k = 0; k < 3; ++k) {
        const double want = slope(&r, at[k], 1e-6, at[k] == 0);
        rig_solve(&r, &at[k]);
        pl_error err = {0};
        pl_jacobian_report report;
        double marker[3];
        const pl_parameter parameter = {.kind = PL_PARAMETER_COMMAND};
        const pl_jacobian out = {.marker = marker};
        PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
        print_message("at %g N: %.8g mm/N, difference %.8g%s\n", at[k], marker[2], want,
                      report.one_sided ? ", one-sided" : "");
        PL_CHECK_NEAR(marker[2], want, (at[k] == 0 ? 1e-4 : 1e-6) * fabs(want));
        assert_true(report.one_sided == (at[k] == 0));
    }

    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// A drive whose 0 is not rest cannot be left at 0.
static void test_one_sided_refuses_ratios(void **state)
{
    (void)state;
    pl_mesh *mesh = beam();
    plan p;
    beam_plan(&p, mesh, PL_DRIVE_LENGTH_RATIO, true);
    p.actuator[0].range[0] = p.actuator[1].range[0] = 0.1;
    p.def.body = p.body;
    p.def.surface = p.surface;
    p.def.material = p.material;
    p.def.region = p.region;
    p.def.fixed = p.fixed;
    p.def.actuator = p.actuator;
    p.def.command = p.command;
    p.def.marker = p.marker;
    pl_robot *robot = NULL;
    pl_error err = {0};
    assert_int_equal(pl_robot_create(&p.def, p.mesh, &robot, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "one_sided"));
    assert_non_null(strstr(err.text, "length_ratio"));
    pl_mesh_destroy(mesh);
}

// A ball without friction that hardly presses on a block with the plane of symmetry x = 0. On the edge of two
// faces, x = 0, both press: next to nothing takes it out of the flat crease between them, and the Jacobian
// says that it has sides.
static void test_crease(void **state)
{
    (void)state;
    static plan p;
    const double at[3] = {0, 0.3, 0.45}, press = 0.001;
    for (int k = 0; k < PL_COUNT(at); ++k) {
        pl_mesh *mesh = mirror_mesh(tet_box(1, 2, 2, 2, 4, 4, 2, NULL), 0);
        pl_obstacle_def ball = {.name = "ball",
                                .kind = PL_OBSTACLE_SPHERE,
                                .radius = 0.5,
                                .point = {at[k], 2.9, 4.5},
                                .moves = true,
                                .move = {0, 0, -1}};
        plan_init(&p, mesh, soft);
        plan_plane(&p, "base", 2, 0);
        plan_hold(&p, "base", "xyz");
        p.def.contact = (pl_contact_def){.given = true, .obstacle = &ball, .obstacle_count = 1};
        pl_statics_options options = pl_statics_options_default();
        options.contact_tolerance = 1e-8;
        rig r = plan_build(&p, &options);
        rig_solve(&r, &press);
        pl_error err = {0};
        pl_jacobian_report report;
        const pl_parameter parameter = {.kind = PL_PARAMETER_COMMAND};
        double *position = malloc(3 * (size_t)pl_state_vertex_count(r.state) * sizeof *position);
        const pl_jacobian out = {.position = position};
        PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
        print_message("ball at x = %g%s\n", at[k], report.one_sided ? ": one-sided" : "");
        assert_true(report.one_sided == (k == 0));
        free(position);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_sided_is_each_side_alone),
        cmocka_unit_test(test_one_sided_jacobian),
        cmocka_unit_test(test_crease),
        cmocka_unit_test(test_one_sided_refuses_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
