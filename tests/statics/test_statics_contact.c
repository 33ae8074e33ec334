// Contact with obstacles and between bodies: uniform pressure under a flat wall, forces balance with the
// reactions, gaps and pressures are complementary, friction holds up to its limit, derivatives are those of
// finite differences, a state with contacts is saved and continued, and two bodies press on each other.
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.3};

// A block of 4 x 4 x 4 mm on z = 0, free to slide there except for its corner.
static void block_plan(plan *p, const pl_mesh *mesh)
{
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 2, 0);
    plan_plane(p, "top", 2, 4);
    plan_marker(p, "top", "top");
}

static double reading(rig *r, const char *name, const char *quantity)
{
    for (int i = 0; i < pl_statics_reading_count(r->statics); ++i) {
        const pl_reading_info info = pl_statics_reading_info(r->statics, i);
        if (strcmp(info.name, name) == 0 && strcmp(info.quantity, quantity) == 0) {
            return pl_statics_reading(r->statics, r->state, i);
        }
    }

    fail_msg("no reading %s.%s", name, quantity);
    return 0;
}

static void hold_point(plan *p, const char *name, double x, double y, const char *axes)
{
    pl_fixed_def *f = &p->fixed[p->def.fixed_count++];
    *f = (pl_fixed_def){.name = name,
                        .has_box = true,
                        .body = -1,
                        .low = {x - 0.1, y - 0.1, -0.1},
                        .high = {x + 0.1, y + 0.1, 0.1}};
    for (int i = 0; i < 3; ++i) {
        f->axis[i] = strchr(axes, "xyz"[i]) != NULL;
    }
}

// The wall moves down by d: uniaxial compression, p (per deformed area) the same everywhere.
static void test_patch(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, 4, 2, NULL);
    block_plan(&p, mesh);
    plan_hold(&p, "base", "z");
    hold_point(&p, "corner", 0, 0, "xy");
    hold_point(&p, "side", 4, 0, "y");
    pl_obstacle_def wall = {.name = "wall",
                            .kind = PL_OBSTACLE_PLANE,
                            .point = {0, 0, 4},
                            .direction = {0, 0, -1},
                            .moves = true,
                            .move = {0, 0, -1},
                            .friction = -1};
    p.def.contact = (pl_contact_def){.given = true, .obstacle = &wall, .obstacle_count = 1};
    rig r = plan_build(&p, NULL);
    const double command = 0.4;
    pl_solve_report report = rig_solve(&r, &command);

    // 2 C10 (l - l^-2 ...) is not needed: force and area tell the pressure
    pl_reaction reaction[3];
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_reactions(r.statics, r.state, reaction));
    const double force = reading(&r, "wall", "force_z"), area = reading(&r, "wall", "area");
    printf("force %.6f N, area %.6f mm^2, pressure %.6f kPa, penetration %.1e mm, %d updates\n", force, area,
           reading(&r, "wall", "max_pressure_kpa"), reading(&r, "wall", "penetration"),
           report.contact_updates);
    PL_CHECK_NEAR(force, -reaction[0].force[2], 1e-8);
    PL_CHECK_NEAR(reading(&r, "wall", "max_pressure_kpa"), -1e3 * force / area, 0.02);
    PL_CHECK_BELOW(reading(&r, "wall", "penetration"), 1e-3 * 4.0 / 3);
    PL_CHECK_NEAR(pl_statics_marker(r.statics, r.state, 0).displacement[2], -0.4, 1e-3);
    for (int i = 1; i < report.contact_updates + 1; ++i) {
        PL_CHECK_BELOW(report.contact_penetration[i], 0.1 * report.contact_penetration[i - 1] + 1e-6);
    }
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// A ball pressed into the top of a clamped block; commands: the ball's motion.
static rig ball_rig(plan *p, pl_mesh *mesh, pl_obstacle_def *ball, double tolerance)
{
    block_plan(p, mesh);
    plan_hold(p, "base", "xyz");
    *ball = (pl_obstacle_def){.name = "ball",
                              .kind = PL_OBSTACLE_SPHERE,
                              .point = {2, 2, 7},
                              .radius = 3,
                              .moves = true,
                              .move = {0.1, 0.05, -1},
                              .friction = 0};
    p->def.contact = (pl_contact_def){.given = true, .obstacle = ball, .obstacle_count = 1};
    pl_statics_options options = tight_options();
    options.contact_tolerance = tolerance;

    return plan_build(p, &options);
}

// A wall, slightly tilted, pressed onto the top: the updates end at 1e-7 of the edge.
static void test_jacobian(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, 4, 2, NULL);
    block_plan(&p, mesh);
    plan_hold(&p, "base", "xyz");
    pl_obstacle_def wall = {.name = "wall",
                            .kind = PL_OBSTACLE_PLANE,
                            .point = {2, 2, 4.2},
                            .direction = {0.02, 0.01, -1},
                            .moves = true,
                            .move = {0.1, 0.05, -1}};
    p.def.contact = (pl_contact_def){.given = true, .obstacle = &wall, .obstacle_count = 1};
    pl_statics_options options = tight_options();
    options.contact_tolerance = 1e-7;
    rig r = plan_build(&p, &options);
    const double at = 0.5, h = 1e-3;
    double command = at, marker[3], up[3], down[3], d_reading[20], force[2];
    const pl_solve_report solved = rig_solve(&r, &command);
    for (int i = 0; i <= solved.contact_updates && i < PL_CONTACT_HISTORY; ++i) {
        printf("update %d: penetration %.1e of the edge\n", i, solved.contact_penetration[i]);
        if (i > 0) {
            PL_CHECK_BELOW(solved.contact_penetration[i], 0.1 * solved.contact_penetration[i - 1] + 1e-9);
        }
    }

    const pl_parameter q = {PL_PARAMETER_COMMAND, 0, 0};
    const pl_jacobian out = {.marker = marker, .reading = d_reading};
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &q, 1, &out, &report, &err));
    for (int side = 0; side < 2; ++side) {
        command = at + (side ? h : -h);
        rig_solve(&r, &command);
        const pl_marker_result m = pl_statics_marker(r.statics, r.state, 0);
        memcpy(side ? up : down, m.position, sizeof up);
        force[side] = reading(&r, "wall", "force_z");
    }

    for (int i = 0; i < 3; ++i) {
        printf("d(top)/d(wall) %d: %.6f, differences %.6f\n", i, marker[i], (up[i] - down[i]) / (2 * h));
        PL_CHECK_NEAR(marker[i], (up[i] - down[i]) / (2 * h), 1e-5);
    }

    const double slope = (force[1] - force[0]) / (2 * h);
    printf("d(force)/d(wall): %.5f, differences %.5f\n", d_reading[2], slope);
    PL_CHECK_NEAR(d_reading[2] / slope, 1, 1e-5);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// Balance with the base, no penetration, and the same answer when a state is packed, unpacked and continued.
static void test_ball(void **state)
{
    (void)state;
    static plan p;
    pl_obstacle_def ball;
    pl_error err = {0};
    pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, 4, 2, NULL);
    rig r = ball_rig(&p, mesh, &ball, 3e-4);
    const double first = 0.3, second = 0.5;
    rig_solve(&r, &first);
    const size_t size = pl_state_pack(r.state, NULL, 0);
    double *block = malloc(size * sizeof *block);
    pl_state_pack(r.state, block, size);
    rig other = plan_build(&p, NULL);
    PL_CHECK_OK(pl_state_unpack(other.state, block, size, &err));
    rig_solve(&r, &second);
    rig_solve(&other, &second);
    pl_reaction base;
    PL_CHECK_OK(pl_statics_reactions(r.statics, r.state, &base));
    for (int i = 0; i < 3; ++i) {
        static const char *const name[3] = {"force_x", "force_y", "force_z"};
        static const char *const moment[3] = {"moment_x", "moment_y", "moment_z"};
        PL_CHECK_NEAR(reading(&r, "ball", name[i]), -base.force[i], 1e-8);
        PL_CHECK_NEAR(reading(&r, "ball", moment[i]), -base.moment[i], 1e-7);
        PL_CHECK_NEAR(reading(&r, "ball", name[i]), reading(&other, "ball", name[i]),
                      2e-3 * fabs(base.force[2]));
    }

    double residual, largest;
    bool inverted;
    PL_CHECK_OK(pl_statics_check(r.statics, r.state, &residual, &largest, &inverted, &err));
    PL_CHECK_BELOW(residual, 1e-8);
    assert_false(inverted);

    // independently: every vertex is outside of the ball
    const double *x = pl_state_positions(r.state);
    double deepest = 0;
    for (int32_t v = 0; v < pl_state_vertex_count(r.state); ++v) {
        deepest = fmax(deepest, -pl_robot_obstacle_distance(r.robot, 0, &second, x + 3 * v));
    }
    printf("force %.5f N, deepest vertex %.1e mm\n", reading(&r, "ball", "force_z"), deepest);
    PL_CHECK_BELOW(deepest, 1e-3 * 4.0 / 3);
    free(block);
    rig_clear(&other);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// Each update takes away nine tenths of the penetration at least, also where faces that are determined twice
// (at their nodes and their centre) lie on a curved surface. Derivatives by the
// ball's motion, at frozen status, agree with differences over which points close and open.
static void test_updates(void **state)
{
    (void)state;
    static plan p;
    pl_obstacle_def ball;
    pl_error err = {0};
    pl_mesh *mesh = tet_box(5, 5, 3, 4, 4, 4, 2, NULL);
    rig r = ball_rig(&p, mesh, &ball, 1e-5);
    const double at = 0.6, h = 5e-3;
    double command = at, marker[3], up[3], down[3];
    const pl_solve_report solved = rig_solve(&r, &command);
    for (int i = 0; i <= solved.contact_updates && i < PL_CONTACT_HISTORY; ++i) {
        printf("update %d: penetration %.1e of the edge\n", i, solved.contact_penetration[i]);
        if (i > 0) {
            PL_CHECK_BELOW(solved.contact_penetration[i], 0.1 * solved.contact_penetration[i - 1] + 1e-9);
        }
    }

    assert_true(solved.contact_updates >= 2);
    const pl_parameter q = {PL_PARAMETER_COMMAND, 0, 0};
    const pl_jacobian out = {.marker = marker};
    pl_jacobian_report report;
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &q, 1, &out, &report, &err));
    for (int side = 0; side < 2; ++side) {
        command = at + (side ? h : -h);
        rig_solve(&r, &command);
        memcpy(side ? up : down, pl_statics_marker(r.statics, r.state, 0).position, sizeof up);
    }

    for (int i = 0; i < 3; ++i) {
        printf("d(top)/d(ball) %d: %.6f, differences %.6f\n", i, marker[i], (up[i] - down[i]) / (2 * h));
        PL_CHECK_NEAR(marker[i], (up[i] - down[i]) / (2 * h), 0.02);
    }

    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// A plate presses on the block and moves sideways: the tangential force is what sticks, at most mu times the
// normal force.
static void test_friction(void **state)
{
    (void)state;
    const double mu = 0.3;
    static plan p;
    pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, 4, 2, NULL);
    block_plan(&p, mesh);
    plan_hold(&p, "base", "xyz");
    pl_obstacle_def plate = {.name = "plate",
                             .kind = PL_OBSTACLE_PLANE,
                             .point = {0, 0, 3.8},
                             .direction = {0, 0, -1},
                             .moves = true,
                             .move = {1, 0, 0},
                             .friction = mu};
    p.def.contact = (pl_contact_def){.given = true, .obstacle = &plate, .obstacle_count = 1};
    rig r = plan_build(&p, NULL);
    const double command[] = {0, 0.02, 0.5, 0.6, 0.7, 1.5};
    double before = 0;
    for (int i = 0; i < 6; ++i) {
        rig_solve(&r, &command[i]);
        const double normal = reading(&r, "plate", "normal_force"), drag = reading(&r, "plate", "force_x");
        printf("plate at %.2f mm: normal %.5f N, tangential %.5f N, ratio %.5f\n", command[i], normal, drag,
               drag / normal);
        PL_CHECK_BELOW(drag, mu * normal * (1 + 1e-6));
        if (i == 5) {
            PL_CHECK_NEAR(drag / normal, mu, 1e-3 * mu);
        } else if (i == 1) {
            assert_true(drag > before && drag < 0.8 * mu * normal);
        }
        before = drag;
    }

    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// Two blocks with different meshes, one above the other; the upper one is pushed down by its own top. Either
// it is narrower, or its edges lie exactly above those of the lower one.
static void check_bodies(double width, const double at[3])
{
    static plan p;
    pl_error err = {0};
    pl_mesh *lower = tet_box(3, 3, 3, 4, 4, 4, 2, NULL), *upper = tet_box(2, 2, 2, width, width, 4, 2, NULL);

    plan_init(&p, lower, rubber);
    p.mesh[1] = upper;
    p.body[0].name = "lower";
    p.body[1] = (pl_body_def){
        .name = "upper", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {at[0], at[1], at[2]}};
    p.def.body_count = 2;
    p.region[0].region = "lower.body";
    p.region[1] = (pl_region_def){.region = "upper.body", .material = "rubber"};
    p.def.region_count = 2;
    p.surface[0] =
        (pl_surface_def){.name = "lower.base", .pick = {.kind = PL_PICK_PLANE, .normal = {0, 0, 1}}};
    p.surface[1] = (pl_surface_def){.name = "upper.top",
                                    .body = 1,
                                    .pick = {.kind = PL_PICK_PLANE, .normal = {0, 0, 1}, .point = {0, 0, 4}}};
    p.def.surface_count = 2;
    plan_hold(&p, "lower.base", "xyz");
    plan_hold(&p, "upper.top", "xyz")->move[2] = -0.45;
    p.def.contact = (pl_contact_def){.given = true};
    rig r = plan_build(&p, NULL);
    const double none = 0;
    pl_solve_report report = rig_solve(&r, &none);
    pl_reaction reaction[2];
    PL_CHECK_OK(pl_statics_reactions(r.statics, r.state, reaction));
    const double force = reading(&r, "lower/upper", "force_z");
    printf("force %.6f N, reactions %.6f and %.6f N, %d updates, penetration %.1e\n", force,
           reaction[0].force[2], reaction[1].force[2], report.contact_updates,
           reading(&r, "lower/upper", "penetration"));
    assert_true(force < -0.1);
    PL_CHECK_NEAR(reaction[0].force[2], -force, 1e-8);
    PL_CHECK_NEAR(reaction[1].force[2], force, 1e-8);
    pl_crossings crossings;
    PL_CHECK_OK(pl_mesh_crossings(pl_robot_mesh(r.robot), pl_state_positions(r.state), &crossings, &err));
    assert_int_equal(crossings.count, 0);
    rig_clear(&r);
    pl_mesh_destroy(lower);
    pl_mesh_destroy(upper);
}

static void test_bodies(void **state)
{
    (void)state;
    check_bodies(2.6, (const double[3]){0.7, 0.6, 4.05});
}

static void test_bodies_aligned(void **state)
{
    (void)state;
    check_bodies(4, (const double[3]){0, 0, 4.05});
}

// However early a solve is interrupted: the state is an equilibrium at the load it names, or to the last bit
// that of the start, and the message says which.
static bool stop_after(void *user, double fraction, const char *what)
{
    (void)fraction;
    (void)what;
    return --*(int *)user > 0;
}

static void test_interrupted(void **state)
{
    (void)state;
    static plan p;
    int kept = 0, none = 0;
    pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, 4, 1, NULL);
    pl_obstacle_def ball;
    for (int calls = 1;; ++calls) {
        int left = 1 << 30;
        block_plan(&p, mesh);
        rig r = ball_rig(&p, mesh, &ball, 1e-4);
        pl_statics_destroy(r.statics);
        pl_statics_options options = tight_options();
        options.contact_tolerance = 1e-4;
        options.progress = (pl_progress){stop_after, &left};
        pl_error err = {0};
        PL_CHECK_OK(pl_statics_create(r.robot, &options, &r.statics, &err));

        // from an equilibrium in contact, farther
        const double near = 0.3, far = 1.2;
        rig_solve(&r, &near);
        double *start = shape_copy(&r);
        left = calls;
        const pl_solve_report report = rig_try(&r, &far);
        const bool solved = report.outcome == PL_SOLVED;
        const bool said =
            strstr(report.message, "no equilibrium is returned, the state is that of the start");
        if (!solved) {
            assert_int_equal(report.outcome, PL_STOPPED);
            assert_int_equal(said, report.no_state);
        }

        double residual, largest;
        bool inverted;
        PL_CHECK_OK(pl_statics_check(r.statics, r.state, &residual, &largest, &inverted, &err));
        assert_false(inverted);
        PL_CHECK_BELOW(residual, 1e-5 * largest + 1e-9);
        if (report.no_state) {
            PL_CHECK_NEAR(report.load_reached, 0, 0);
            assert_memory_equal(rig_x(&r), start, 3 * (size_t)pl_state_vertex_count(r.state) * sizeof *start);
        }
        none += report.no_state;
        kept += !solved && !report.no_state;
        free(start);
        rig_clear(&r);
        if (solved) {
            break;
        }
    }

    print_message("interrupted %d times: %d times an equilibrium between, %d times the start\n", kept + none,
                  kept, none);
    assert_true(none > 0);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patch),          cmocka_unit_test(test_ball),
        cmocka_unit_test(test_jacobian),       cmocka_unit_test(test_updates),
        cmocka_unit_test(test_friction),       cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_bodies_aligned), cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
