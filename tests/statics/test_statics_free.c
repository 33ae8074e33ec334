// Free rigid bodies: a box settles on a soft block where the force is its weight; a box between two blocks
// slips when its load exceeds 2 mu N; a body that nothing holds is named; the pose answers a force as finite
// differences say, is part of the state, and goes on from there.
#include "../../validation/metamorphic_change.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.3};
static const double gravity = 9810;

static double reading(rig *r, const char *group, const char *name, const char *quantity)
{
    for (int i = 0; i < pl_statics_reading_count(r->statics); ++i) {
        const pl_reading_info info = pl_statics_reading_info(r->statics, i);
        if (strcmp(info.group, group) == 0 && strcmp(info.name, name) == 0 &&
            strcmp(info.quantity, quantity) == 0) {
            return pl_statics_reading(r->statics, r->state, i);
        }
    }

    fail_msg("no reading %s.%s.%s", group, name, quantity);
    return 0;
}

// A block of 4 x 4 x 4 mm, clamped at z = 0, with a free body above it.
static rig block_rig(plan *p, pl_mesh *mesh, pl_obstacle_def *body, const pl_statics_options *options)
{
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 2, 0);
    plan_hold(p, "base", "xyz");
    p->def.gravity[2] = -gravity;
    p->def.contact = (pl_contact_def){.given = true, .obstacle = body, .obstacle_count = 1};
    return plan_build(p, options);
}

static void test_box(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, 4, 2, NULL);
    pl_obstacle_def box = {.name = "box",
                           .kind = PL_OBSTACLE_BOX,
                           .point = {2.1, 1.9, 5.02},
                           .size = {2.6, 2.6, 2},
                           .rotate = {0.01, 0.02, 0.3},
                           .friction = 0.4,
                           .free = true,
                           .density = 2e-6};
    rig r = block_rig(&p, mesh, &box, NULL);
    const double none = 0, weight = 2.6 * 2.6 * 2 * 2e-6 * gravity;
    pl_error err = {0};
    pl_reaction reaction[1];
    const pl_solve_report report = rig_solve(&r, &none);
    PL_CHECK_OK(pl_statics_reactions(r.statics, r.state, reaction));
    const double force[3] = {reading(&r, "contacts", "box", "force_x"),
                             reading(&r, "contacts", "box", "force_y"),
                             reading(&r, "contacts", "box", "force_z")};
    double place[3];
    pl_robot_obstacle_pose(r.robot, 0, NULL, pl_state_positions(r.state), (double[9]){0}, place);
    const double c[3] = {reading(&r, "free_bodies", "box", "position_x"),
                         reading(&r, "free_bodies", "box", "position_y"),
                         reading(&r, "free_bodies", "box", "position_z")};

    // moment of the contact forces about the centre of mass
    const double mx = reading(&r, "contacts", "box", "moment_x") - (c[1] * force[2] - c[2] * force[1]),
                 my = reading(&r, "contacts", "box", "moment_y") - (c[2] * force[0] - c[0] * force[2]);
    printf("force %.2e %.2e %.9f N, weight %.9f N; moment about the centre %.1e %.1e N mm; reaction %.9f N; "
           "centre %.4f %.4f %.4f mm; %d updates\n",
           force[0], force[1], force[2], weight, mx, my, reaction[0].force[2], c[0], c[1], c[2],
           report.contact_updates);
    PL_CHECK_NEAR(force[2], -weight, 1e-8);
    PL_CHECK_NEAR(force[0], 0, 1e-8);
    PL_CHECK_NEAR(force[1], 0, 1e-8);
    PL_CHECK_NEAR(mx, 0, 1e-7);
    PL_CHECK_NEAR(my, 0, 1e-7);
    PL_CHECK_NEAR(reaction[0].force[2], weight, 1e-8);

    // it stays where it is when solved again from a copy of the state
    rig_solve(&r, &none);
    PL_CHECK_NEAR(reading(&r, "free_bodies", "box", "position_z"), c[2], 1e-6);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

static void test_fall(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(2, 2, 2, 4, 4, 4, 2, NULL);
    pl_obstacle_def ball = {.name = "ball",
                            .kind = PL_OBSTACLE_SPHERE,
                            .point = {7.5, 2, 5},
                            .radius = 3,
                            .friction = 0.4,
                            .free = true,
                            .mass = 1e-6};
    rig r = block_rig(&p, mesh, &ball, NULL);
    const double none = 0;
    pl_error err = {0};
    pl_solve_report report;
    PL_CHECK_OK(pl_statics_solve(r.statics, r.state, &none, &report, &err));
    printf("beside the block: %s\n", report.message);
    assert_int_equal(report.outcome, PL_INFEASIBLE);
    assert_non_null(strstr(report.message, "the free body 'ball' is not held"));
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// That nothing touches a body is said of an equilibrium only: a solve that is cut short anywhere while the
// body is let go says nothing about it.
static void test_cut(void **state)
{
    (void)state;
    pl_mesh *mesh = tet_box(2, 2, 2, 4, 4, 4, 2, NULL);
    pl_obstacle_def box = {.name = "box",
                           .kind = PL_OBSTACLE_BOX,
                           .point = {2, 2, 5.001},
                           .size = {2.6, 2.6, 2},
                           .friction = 0.4,
                           .free = true,
                           .mass = 2e-6};
    int cut = 0;
    for (int limit = 2; limit <= 24; limit += 2) {
        static plan p;
        pl_statics_options options = pl_statics_options_default();
        options.iteration_limit = limit;
        rig r = block_rig(&p, mesh, &box, &options);
        const double none = 0;
        pl_error err = {0};
        pl_solve_report report;
        PL_CHECK_OK(pl_statics_solve(r.statics, r.state, &none, &report, &err));
        cut += report.outcome != PL_SOLVED;
        printf("%d iterations: %s, %s\n", limit, pl_outcome_name(report.outcome), report.message);
        assert_int_not_equal(report.outcome, PL_INFEASIBLE);
        rig_clear(&r);
    }
    assert_true(cut >= 3);
    pl_mesh_destroy(mesh);
}

// A ball on a box that is inflated under it rolls off the middle of its roof, where it is unstable. Where it
// comes to rest follows from the robot, not from how an equilibrium far away happens to be found: as it is
// drawn, mirrored, and in other units (validation/metamorphic.c).
static void test_ball_in_forms(void **state)
{
    (void)state;
    double gone[3];

    for (int k = 0; k < 3; ++k) {
        meta_robot drawn, m;
        meta_map map = {.Q = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .s = k == 2 ? 0.27 : 1, .f = k == 2 ? 3.1 : 1};
        pl_rotation_exp((double[3]){1.2, -0.4, 0.7 * (k == 1)}, map.Q);
        for (int i = 0; i < 9; i += 3) {
            map.Q[i] *= k == 1 ? -1 : 1;
        }
        meta_draw(20037, false, &drawn);
        meta_mesh_make(&drawn);
        meta_copy(&drawn, &m);
        meta_transform(&m, &map);

        rig r = {0};
        pl_error err = {0};
        pl_solve_report report;
        double command[META_ACTUATORS + 2], R[9], t[3], c[3];
        const pl_statics_options options = pl_statics_options_default();
        PL_CHECK_OK(meta_build(&m, &r.robot, &err));
        PL_CHECK_OK(pl_statics_create(r.robot, &options, &r.statics, &err));
        PL_CHECK_OK(pl_state_create(r.robot, &r.state, &err));
        meta_commands(&m, r.robot, command);
        PL_CHECK_OK(pl_statics_solve(r.statics, r.state, command, &report, &err));
        pl_robot_obstacle_pose(r.robot, 0, command, pl_state_positions(r.state), R, t);
        pl_mulv3(R, m.obstacle[0].point, c);
        for (int i = 0; i < 3; ++i) {
            c[i] += t[i];
        }
        gone[k] = pl_distance3(c, m.obstacle[0].point) / map.s;
        print_message("form %d: %s, the ball has gone %.5f mm, %d factorisations\n", k,
                      pl_outcome_name(report.outcome), gone[k], report.factorizations);
        assert_int_equal(report.outcome, PL_SOLVED);
        PL_CHECK_NEAR(gone[k], gone[0], 1e-3 * gone[0]);
        assert_true(report.factorizations <= 60);
        pl_state_destroy(r.state);
        pl_statics_destroy(r.statics);
        pl_robot_destroy(r.robot);
        meta_mesh_clear(&drawn.mesh);
        meta_mesh_clear(&m.mesh);
    }
}

// Two blocks, 0.2 mm nearer to each other than the box between them is wide, and a pull downwards.
static void test_slip(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *left = tet_box(2, 2, 2, 4, 4, 4, 2, NULL), *right = tet_box(2, 2, 2, 4, 4, 4, 2, NULL);
    plan_init(&p, left, rubber);
    p.mesh[1] = right;
    p.body[0].name = "left";
    p.body[1] =
        (pl_body_def){.name = "right", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {6.8, 0, 0}};
    p.def.body_count = 2;
    p.region[0].region = "left.body";
    p.region[1] = (pl_region_def){.region = "right.body", .material = "rubber"};
    p.def.region_count = 2;
    p.surface[0] = (pl_surface_def){.name = "left.out", .pick = {.kind = PL_PICK_PLANE, .normal = {1, 0, 0}}};
    p.surface[1] = (pl_surface_def){.name = "right.out",
                                    .body = 1,
                                    .pick = {.kind = PL_PICK_PLANE, .normal = {1, 0, 0}, .point = {4, 0, 0}}};
    p.def.surface_count = 2;
    plan_hold(&p, "left.out", "xyz");
    plan_hold(&p, "right.out", "xyz");
    p.def.gravity[2] = -gravity;
    pl_obstacle_def box = {.name = "box",
                           .kind = PL_OBSTACLE_BOX,
                           .point = {5.4, 2, 2},
                           .size = {3, 7, 7},
                           .friction = 0.3,
                           .free = true,
                           .mass = 2e-6,
                           .pulled = true,
                           .pull = {0, 0, -1}};
    p.def.contact = (pl_contact_def){.given = true, .obstacle = &box, .obstacle_count = 1};
    rig r = plan_build(&p, NULL);
    const double weight = 2e-6 * gravity;
    double pull = 0;
    pl_error err = {0};
    pl_solve_report report;
    rig_solve(&r, &pull);
    const double normal = reading(&r, "contacts", "box", "normal_force"), limit = 0.3 * normal - weight;
    printf("normal forces %.5f N, weight %.5f N\n", normal, weight);
    PL_CHECK_NEAR(reading(&r, "contacts", "box", "force_z"), -weight, 1e-8);
    pull = 0.96 * limit;
    PL_CHECK_OK(pl_statics_solve(r.statics, r.state, &pull, &report, &err));
    printf("0.96 of the limit: %s, force %.6f of %.6f N, height %.4f mm, friction / normal %.4f\n",
           report.message, -reading(&r, "contacts", "box", "force_z"), weight + pull,
           reading(&r, "free_bodies", "box", "position_z"),
           (weight + pull) / reading(&r, "contacts", "box", "normal_force"));
    assert_int_equal(report.outcome, PL_SOLVED);
    PL_CHECK_NEAR(-reading(&r, "contacts", "box", "force_z"), weight + pull, 1e-7);
    pull = 1.04 * limit;
    PL_CHECK_OK(pl_statics_solve(r.statics, r.state, &pull, &report, &err));
    printf("1.04 of the limit: %s\n", report.message);

    // that nothing was found proves nothing about the box
    assert_int_equal(report.outcome, PL_UNCERTAIN);
    assert_non_null(strstr(report.message, "no equilibrium was found"));
    assert_non_null(strstr(report.message, "'box'"));
    assert_non_null(strstr(report.message, "slip"));
    rig_clear(&r);
    pl_mesh_destroy(left);
    pl_mesh_destroy(right);
}

// Coulomb's law for a box that rests on a block and is pulled sideways: held below mu m g, not above; without
// friction at no pull. The weight comes to rest before the hand lets go of the pull.
static void test_coulomb(void **state)
{
    (void)state;
    static plan p;
    static const double part[] = {0.6, 0.97, 1.03};
    for (int k = 0; k < 4; ++k) {
        pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, 4, 2, NULL);
        pl_obstacle_def box = {.name = "box",
                               .kind = PL_OBSTACLE_BOX,
                               .point = {2.1, 1.9, 5.001},
                               .size = {2.6, 2.6, 2},
                               .friction = k < 3 ? 0.4 : 0,
                               .free = true,
                               .mass = 2e-6,
                               .pulled = true,
                               .pull = {1, 0, 0}};
        rig r = block_rig(&p, mesh, &box, NULL);
        const double pull = (k < 3 ? part[k] * 0.4 : 0.05) * 2e-6 * gravity;
        pl_error err = {0};
        pl_solve_report report;
        PL_CHECK_OK(pl_statics_solve(r.statics, r.state, &pull, &report, &err));
        printf("friction %.1f, %.2f of the weight: %s, %s\n", box.friction, pull / (2e-6 * gravity),
               pl_outcome_name(report.outcome), report.message);
        assert_int_equal(report.outcome == PL_SOLVED, k < 2);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

static void test_derivative(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, 4, 2, NULL);
    pl_obstacle_def box = {.name = "box",
                           .kind = PL_OBSTACLE_BOX,
                           .point = {2.1, 1.9, 5.02},
                           .size = {8, 8, 2},
                           .friction = 1,
                           .free = true,
                           .mass = 3e-6,
                           .pulled = true,
                           .pull = {0, 0, -1}};
    pl_statics_options options = tight_options();
    options.contact_tolerance = 1e-7;
    rig r = block_rig(&p, mesh, &box, &options);
    const double at = 0.2, h = 1e-3;
    double command = at, d[40], value[2];
    rig_solve(&r, &command);
    const pl_parameter q = {PL_PARAMETER_COMMAND, 0, 0};
    const pl_jacobian out = {.reading = d};
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &q, 1, &out, &report, &err));
    int index = 0;
    while (strcmp(pl_statics_reading_info(r.statics, index).quantity, "position_z") != 0) {
        ++index;
    }

    for (int side = 0; side < 2; ++side) {
        command = at + (side ? h : -h);
        rig_solve(&r, &command);
        value[side] = reading(&r, "free_bodies", "box", "position_z");
    }

    const double slope = (value[1] - value[0]) / (2 * h);
    printf("d(height)/d(pull) %.6f, differences %.6f mm/N\n", d[index], slope);
    PL_CHECK_NEAR(d[index], slope, 0.03 * fabs(slope));
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_box),       cmocka_unit_test(test_fall),
                                       cmocka_unit_test(test_cut),       cmocka_unit_test(test_ball_in_forms),
                                       cmocka_unit_test(test_slip),      cmocka_unit_test(test_coulomb),
                                       cmocka_unit_test(test_derivative)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
