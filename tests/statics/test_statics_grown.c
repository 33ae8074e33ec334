// Actuation elements drawn to their grown shape: free ones take it, held ones pull with the derivative of the
// energy, and every derivative by the command is a central difference's; chambers and films with the ratios
// of least energy, cables by their triangles.
#include "statics_robot.h"

static pl_statics_options joint_options(void)
{
    pl_statics_options options = tight_options();
    options.distribution = PL_RATIOS_JOINT;
    return options;
}

// Solves around `at`, compares the Jacobian with differences, effort with dE/d(ratio) / per_ratio, and the
// adjoint with the Jacobian. Returns the result at `at`.
static pl_actuator_result check_command(plan *p, const pl_statics_options *options, double at,
                                        double per_ratio, double thickness, int axis)
{
    const double h = 1e-5;
    rig r[3];
    double energy[3];
    pl_actuator_result got[3];
    double y[3];

    for (int k = 0; k < 3; ++k) {
        const double command = at + (k - 1) * h;
        r[k] = plan_build(p, options);
        energy[k] = rig_solve(&r[k], &command).energy;
        got[k] = pl_statics_actuator(r[k].statics, r[k].state, 0);
        y[k] = pl_statics_marker(r[k].statics, r[k].state, 0).position[axis];
    }

    pl_error err = {0};
    pl_jacobian_report report;
    double marker[3], effort, measure, gradient, residual, largest;
    bool inverted;
    const double one = 1;
    const pl_parameter parameter = {.kind = PL_PARAMETER_COMMAND};
    const pl_jacobian out = {.marker = marker, .effort = &effort, .measure = &measure};
    PL_CHECK_OK(pl_statics_jacobian(r[1].statics, r[1].state, &parameter, 1, &out, &report, &err));
    const double by = (y[2] - y[0]) / (2 * h);
    double pull = (energy[2] - energy[0]) / (2 * h) / per_ratio;
    pull *= thickness > 0 ? got[1].ratio / thickness : 1; // films: as a stress over the present thickness
    print_message(
        "ratio %.6f of %g, effort %.6g (energy %.6g); marker %.9g, difference %.9g; effort by ratio %.7g, "
        "%.7g\n",
        got[1].ratio, at, got[1].effort, pull, marker[axis], by, effort,
        (got[2].effort - got[0].effort) / (2 * h));
    PL_CHECK_NEAR(got[1].effort, pull, 1e-6 * fabs(pull));
    PL_CHECK_NEAR(marker[axis], by, 1e-6 * fabs(by));
    PL_CHECK_NEAR(effort, (got[2].effort - got[0].effort) / (2 * h), 1e-5 * fabs(effort));
    PL_CHECK_NEAR(measure, (got[2].measure - got[0].measure) / (2 * h), 1e-6 * fabs(measure));
    PL_CHECK_OK(
        pl_statics_adjoint(r[1].statics, r[1].state, NULL, &one, &parameter, 1, &gradient, &report, &err));
    PL_CHECK_NEAR(gradient, effort, 1e-8 * fabs(effort));
    PL_CHECK_OK(pl_statics_check(r[1].statics, r[1].state, &residual, &largest, &inverted, &err));
    PL_CHECK_BELOW(residual, 1e-8 * fmax(largest, 1e-3));
    for (int k = 0; k < 3; ++k) {
        rig_clear(&r[k]);
    }

    return got[1];
}

enum { NB = 3 };

static void chamber_plan(plan *p, const pl_mesh *mesh)
{
    plan_init(p, mesh, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.2, .poisson = 0.49});
    plan_plane(p, "base", 2, 0);
    plan_plane(p, "top", 2, 3);
    plan_hold(p, "base", "xyz");
    pl_actuator_def *a = plan_chamber(p, "air", NULL, PL_DRIVE_VOLUME_RATIO);
    a->region = "second";
    a->growth = true;
    a->modulus = 2;
    plan_marker(p, "top", "top");
}

static void test_chamber(void **state)
{
    (void)state;
    int32_t inside[NB * NB * NB] = {0};
    inside[13] = inside[14] = 1;
    const double size[3] = {3, 3, 3};
    pl_mesh *linear = NULL, *mesh = NULL;
    pl_error err = {0};
    PL_CHECK_OK(box_mesh(NB, NB, NB, size, NULL, inside, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));
    plan p;
    chamber_plan(&p, mesh);
    const pl_statics_options joint = joint_options();
    const pl_actuator_result free = check_command(&p, &joint, 1.4, 2, 0, 2);

    // one ratio for all leaves more energy, so it is pushed harder
    rig same = plan_build(&p, NULL);
    const double command = 1.4;
    rig_solve(&same, &command);
    const pl_actuator_result held = pl_statics_actuator(same.statics, same.state, 0);
    print_message("the same ratio for all: %.6f reached, effort %.6g\n", held.ratio, held.effort);
    assert_true(free.ratio > 1.1 && free.ratio < 1.4);
    assert_true(held.effort > free.effort);
    rig_clear(&same);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(linear);
}

// A free strip of film prisms takes the shape asked for, with the same ratio everywhere and no energy.
static void test_free_film(void **state)
{
    (void)state;
    pl_mesh *mesh = prism_box(3, 2, 1, 6, 4, 0.5, 1);
    plan p;
    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1});

    // two laws, so that none is the obvious one for the film
    p.material[1] = (pl_material_def){.name = "other", .material = p.material[0].material};
    p.def.material_count = 2;
    p.def.region_count = 0;
    plan_plane(&p, "left", 0, 0);
    plan_plane(&p, "right", 0, 6);
    plan_plane(&p, "front", 1, 0);
    plan_plane(&p, "below", 2, 0);
    plan_hold(&p, "left", "x");
    plan_hold(&p, "front", "y");
    plan_hold(&p, "below", "z");
    pl_actuator_def *a = plan_film(&p, "film", NULL, PL_DRIVE_AREA_RATIO);
    a->region = "body";
    a->growth = true;
    a->modulus = 3;
    a->thickness = 0;
    plan_marker(&p, "right", "right");
    const pl_statics_options joint = joint_options();
    rig r = plan_build(&p, &joint);
    const double command = 1.3;
    PL_CHECK_BELOW(fabs(rig_solve(&r, &command).energy), 1e-12);
    PL_CHECK_NEAR(pl_statics_marker(r.statics, r.state, 0).position[0], 6 * sqrt(1.3), 1e-8);
    PL_CHECK_NEAR(pl_statics_actuator(r.statics, r.state, 0).ratio, 1.3, 1e-8);
    rig_clear(&r);

    // held at both ends it pushes
    plan_hold(&p, "right", "x");
    plan_plane(&p, "back", 1, 4);
    plan_marker(&p, "back", "back");
    p.marker[0] = p.marker[1];
    p.def.marker_count = 1;
    check_command(&p, &joint, 1.1, 24, 0.5, 1);
    pl_mesh_destroy(mesh);
}

// A beam with a cable beside it: shortening bends it, by one ratio or by those of least energy.
static void test_cable(void **state)
{
    (void)state;
    pl_mesh *mesh = tet_box(8, 2, 2, 16, 2, 2, 1, NULL);
    plan p;
    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0.3});
    plan_plane(&p, "root", 0, 0);
    plan_plane(&p, "tip", 0, 16);
    plan_hold(&p, "root", "xyz");
    const pl_guide_def guide[] = {{.point = {0, 1, 2}},
                                  {.point = {4, 1, 2}},
                                  {.point = {6, 1, 2}},
                                  {.point = {10, 1, 2}},
                                  {.point = {16, 1, 2}}};
    pl_actuator_def *a = plan_cable(&p, "tendon", guide, 5, PL_DRIVE_LENGTH_RATIO);
    a->growth = true;
    a->modulus = 4;
    a->radius = 1;
    plan_marker(&p, "tip", "tip");
    const pl_statics_options joint = joint_options(), usual = tight_options();
    const pl_actuator_result one = check_command(&p, &usual, 0.9, -16, 0, 2),
                             many = check_command(&p, &joint, 0.9, -16, 0, 2);
    assert_true(one.ratio > 0.9 && one.ratio < 1 && one.effort > 0);
    assert_true(many.ratio > 0.9 && many.ratio < 1 && many.effort > 0);
    rig r = plan_build(&p, &joint);
    pl_error err = {0};
    pl_solve_report report;
    const double command[2] = {-0.1, 1.2}; // nothing left to shorten; a cable that would push
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(pl_statics_solve(r.statics, r.state, &command[k], &report, &err), PL_BAD_INPUT);
    }
    assert_non_null(strstr(err.text, "cannot push"));
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// Jointly, only elements that have nothing but a modulus can grow; least_norm has no energy.
static void test_refused(void **state)
{
    (void)state;
    int32_t inside[NB * NB * NB] = {0};
    inside[13] = 1;
    const double size[3] = {3, 3, 3};
    pl_mesh *mesh = NULL;
    pl_error err = {0};
    PL_CHECK_OK(box_mesh(NB, NB, NB, size, NULL, inside, &mesh, &err));
    plan p;
    chamber_plan(&p, mesh);
    p.actuator[0].modulus = 0;
    p.region[1] = (pl_region_def){.region = "second", .material = "rubber"};
    p.def.region_count = 2;
    pl_robot *robot = plan_robot(&p);
    pl_statics *statics = NULL;
    pl_statics_options options = joint_options();
    assert_int_equal(pl_statics_create(robot, &options, &statics, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "modulus"));
    options.distribution = PL_RATIOS_LEAST_NORM;
    assert_int_equal(pl_statics_create(robot, &options, &statics, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "least_norm"));
    pl_robot_destroy(robot);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chamber),
        cmocka_unit_test(test_free_film),
        cmocka_unit_test(test_cable),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
