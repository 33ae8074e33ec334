// Collision response of the local/global method: no vertex stays inside, nothing is held that is free, the
// shape is that of the exact core's contact, and the body meets itself with forces that balance.
#include "geometric_robot.h"

static const pl_material soft = {.model = PL_LINEAR, .young = 1.3, .poisson = 0.3};

// A cantilever of 30 x 4 x 4 mm and an obstacle that comes down on its free end.
static rig beam_rig(plan *p, const pl_mesh *mesh, pl_obstacle_def *obstacle)
{
    plan_init(p, mesh, soft);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 30);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
    obstacle->moves = true;
    obstacle->move[2] = -1;
    p->def.contact = (pl_contact_def){.given = true, .obstacle = obstacle, .obstacle_count = 1};
    pl_statics_options options = tight_options();
    options.displacement = true;
    options.contact_tolerance = 1e-3;

    return plan_build(p, &options);
}

static double deepest(const rig *r, const pl_state *state, const double *command)
{
    double depth = 0;
    for (int32_t v = 0; v < pl_state_vertex_count(state); ++v) {
        depth = fmax(depth, -pl_robot_obstacle_distance(r->robot, 0, command,
                                                        pl_state_positions(state) + 3 * (size_t)v));
    }
    return depth;
}

static void check_obstacle(pl_obstacle_def obstacle, const char *what)
{
    static plan p;
    pl_error err = {0};
    pl_mesh *mesh = tet_box(12, 2, 2, 30, 4, 4, 1, NULL);
    rig r = beam_rig(&p, mesh, &obstacle);

    pl_mesh_destroy(mesh);
    pl_geometric_options o = pl_geometric_options_default();
    o.form = PL_FORM_MU_LAMBDA;
    pl_geometric *g = geo_make(r.robot, &o);
    pl_state *state = NULL;
    PL_CHECK_OK(pl_state_create(r.robot, &state, &err));
    const double down = 5, away = -1;
    const pl_solve_report report = geo_run(g, state, &down);
    const pl_geometric_info info = pl_geometric_get_info(g);
    rig_solve(&r, &down);
    const double apart = state_distance(r.state, state), depth = deepest(&r, state, &down);
    print_message("%s: %d springs, %d updates, %d iterations, deepest %.1e mm; %.3f mm from the exact core\n",
                  what, info.springs, info.contact_rounds, report.iterations, depth, apart);
    assert_true(info.springs > 0);
    assert_int_equal(info.inside, 0);
    PL_CHECK_BELOW(depth, 1e-12);

    // the offset of the springs, and points of faces that only the exact core judges
    PL_CHECK_BELOW(apart, 0.15);

    // withdrawn, it leaves nothing behind
    geo_run(g, state, &away);
    assert_int_equal(pl_geometric_get_info(g).springs, 0);
    double largest = 0;
    for (int32_t i = 0; i < 3 * pl_state_vertex_count(state); ++i) {
        largest = fmax(largest, fabs(pl_state_positions(state)[i] - rig_rest(&r)[i]));
    }
    PL_CHECK_BELOW(largest, 1e-3);
    pl_geometric_destroy(g);
    pl_state_destroy(state);
    rig_clear(&r);
}

static void test_plane(void **state)
{
    (void)state;
    check_obstacle((pl_obstacle_def){.name = "plate",
                                     .kind = PL_OBSTACLE_PLANE,
                                     .point = {30, 0, 4.2},
                                     .direction = {-0.2, 0, -1},
                                     .friction = 0},
                   "plane");
}

static void test_roller(void **state)
{
    (void)state;
    check_obstacle((pl_obstacle_def){.name = "roller",
                                     .kind = PL_OBSTACLE_CYLINDER,
                                     .point = {25, 2, 12.2},
                                     .direction = {0, 1, 0},
                                     .radius = 8,
                                     .friction = 0},
                   "roller");
}

// Two cantilevers, one above the other and shorter; the upper one's clamp comes down by more than the gap.
static void test_bodies(void **state)
{
    (void)state;
    static plan p;
    pl_error err = {0};
    pl_mesh *lower = tet_box(12, 2, 2, 30, 4, 4, 1, NULL), *upper = tet_box(11, 2, 2, 29, 3.4, 4, 1, NULL);
    plan_init(&p, lower, soft);
    p.mesh[1] = upper;
    p.body[0].name = "lower";
    p.body[1] =
        (pl_body_def){.name = "upper", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {0, 0.3, 4.3}};
    p.def.body_count = 2;
    p.region[0].region = "lower.body";
    p.region[1] = (pl_region_def){.region = "upper.body", .material = "rubber"};
    p.def.region_count = 2;
    for (int i = 0; i < 2; ++i) {
        p.surface[i] = (pl_surface_def){.name = i ? "upper.base" : "lower.base",
                                        .body = i,
                                        .pick = {.kind = PL_PICK_PLANE, .normal = {1, 0, 0}}};
    }

    p.def.surface_count = 2;
    plan_hold(&p, "lower.base", "xyz");
    pl_fixed_def *clamp = plan_hold(&p, "upper.base", "xyz");
    clamp->move[2] = -0.2;
    clamp->rotate[1] = 0.1;
    p.def.contact = (pl_contact_def){.given = true};
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(lower);
    pl_mesh_destroy(upper);
    pl_geometric_options o = pl_geometric_options_default();
    o.form = PL_FORM_MU_LAMBDA;
    pl_geometric *g = geo_make(r.robot, &o);
    pl_state *shape = NULL;
    PL_CHECK_OK(pl_state_create(r.robot, &shape, &err));
    const double none = 0;
    const pl_solve_report report = geo_run(g, shape, &none);
    const pl_geometric_info info = pl_geometric_get_info(g);
    const pl_mesh *mesh = pl_robot_mesh(r.robot);
    pl_crossings crossings;
    PL_CHECK_OK(pl_mesh_crossings(mesh, pl_state_positions(shape), &crossings, &err));
    rig_solve(&r, &none);
    const double apart = state_distance(r.state, shape);
    print_message(
        "two beams: %d springs, %d updates, %d iterations; %d crossings, %.3f mm from the exact core\n",
        info.springs, info.contact_rounds, report.iterations, (int)crossings.count, apart);
    assert_true(info.springs > 0);
    assert_int_equal(info.inside, 0);
    assert_int_equal(crossings.count, 0);

    // forces that did not balance would leave them elsewhere
    PL_CHECK_BELOW(apart, 0.15);
    pl_geometric_destroy(g);
    pl_state_destroy(shape);
    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane),
        cmocka_unit_test(test_roller),
        cmocka_unit_test(test_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
