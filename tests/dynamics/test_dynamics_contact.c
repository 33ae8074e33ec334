// Contact in time: a bar that hits a wall rebounds after the wave has run to its end and back, nothing passes
// through a pin at any speed, no impact creates energy, and a beam that falls on a ball comes to rest at the
// equilibrium of statics; damping, drag and the memory of cables are those without contact.
#include <stdlib.h>
#include "dynamics_robot.h"
#include "robot/robot.h"

// ---- a bar against a wall
typedef struct bounce {
    moving *m;
    double momentum, turned; // t mm/s of the last step; s: when it was 0
    double time;
} bounce;

static bool bounce_each(void *user)
{
    bounce *b = user;
    double P[3], L[3];

    pl_dynamics_momentum(b->m->dynamics, P, L);
    const double t = pl_dynamics_time(b->m->dynamics);
    if (b->momentum < 0 && P[0] >= 0) {
        b->turned = b->time + (t - b->time) * b->momentum / (b->momentum - P[0]);
    }
    b->momentum = P[0];
    b->time = t;

    return true;
}

// Linear waves: the wall presses with rho c V from the impact on for 2 L / c, the momentum turns at L / c,
// and the bar leaves with the speed it came with.
static void test_bar_rebounds(void **state)
{
    (void)state;
    static plan p;
    const double L = 40, gap = 0.05, V = 100, E = 0.3, rho = 1.07e-9, c = sqrt(E / rho);
    pl_mesh *mesh = tet_box(12, 1, 1, L, 5, 5, 2, NULL);
    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = E, .poisson = 0, .density = rho});
    plan_plane(&p, "side", 1, 0);
    plan_plane(&p, "bottom", 2, 0);
    plan_plane(&p, "tip", 0, L);
    plan_hold(&p, "side", "y");
    plan_hold(&p, "bottom", "z");
    plan_hold(&p, "tip", "x");
    plan_marker(&p, "tip", "tip");
    const pl_obstacle_def wall = {
        .name = "wall", .kind = PL_OBSTACLE_PLANE, .point = {-gap, 0, 0}, .direction = {1, 0, 0}};
    p.def.contact = (pl_contact_def){.given = true, .obstacle = &wall, .obstacle_count = 1};
    pl_dynamics_options options = pl_dynamics_options_default();
    options.largest_step = 0.001;
    moving m = {.rig = plan_build(&p, NULL)};
    m.n = 3 * pl_state_vertex_count(m.rig.state);

    // a robot file must hold its body: the support of its tip lets go here, it slides along x
    m.rig.robot->support_count = 2;
    pl_error err = {0};
    PL_CHECK_OK(pl_dynamics_create(m.rig.robot, &options, &m.dynamics, &err));
    pl_motion_report report;
    double *v = calloc((size_t)m.n, sizeof *v), P[3], A[3];
    for (int i = 0; i < m.n; i += 3) {
        v[i] = -V;
    }
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, v, &err));
    const double mass = pl_dynamics_momentum(m.dynamics, P, A),
                 kinetic = pl_dynamics_energy(m.dynamics).kinetic;
    bounce b = {.m = &m, .momentum = P[0]};
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, gap / V + 2.6 * L / c, bounce_each, &b, &report, &err));
    assert_int_equal(report.outcome, PL_MOTION_DONE);
    pl_dynamics_momentum(m.dynamics, P, A);
    print_message(
        "turns after %.4f ms (%.4f), leaves with %.3f of its speed, energy %+.2f %%; %d steps, %d rejected, "
        "%d factorisations\n",
        1e3 * b.turned, 1e3 * (gap / V + L / c), P[0] / (mass * V), 100 * report.energy.imbalance / kinetic,
        report.steps, report.rejected, report.factorizations);
    PL_CHECK_NEAR(b.turned / (gap / V + L / c), 1, 0.03);
    PL_CHECK_NEAR(P[0] / (mass * V), 1, 0.06);
    PL_CHECK_BELOW(report.energy.imbalance, 1e-3 * kinetic);
    PL_CHECK_BELOW(-report.energy.imbalance, 0.1 * kinetic);
    free(v);
    m.rig.robot->support_count = 3; // so that all of them are freed
    moving_clear(&m);
    pl_mesh_destroy(mesh);
}

// ---- a beam against a pin
static moving pin_beam(const pl_obstacle_def *pin, const pl_dynamics_options *options, double gravity)
{
    static plan p;
    pl_mesh *mesh = tet_box(6, 1, 1, 60, 10, 10, 2, NULL);

    plan_init(&p, mesh,
              (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.05, .poisson = 0.45, .density = 1.07e-9});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 60);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.def.gravity[2] = -gravity;
    p.def.contact = (pl_contact_def){.given = true, .obstacle = pin, .obstacle_count = 1};
    moving m = moving_build(&p, options);
    pl_mesh_destroy(mesh);

    return m;
}

// The beam is thrown at the pin with up to 2 m/s; whatever the speed, the part
// above stays above.
static void test_no_tunnelling(void **state)
{
    (void)state;
    const pl_obstacle_def pin = {.name = "pin",
                                 .kind = PL_OBSTACLE_CYLINDER,
                                 .point = {50, 5, -4},
                                 .direction = {0, 1, 0},
                                 .radius = 3};
    static const double speed[3] = {300, 1000, 2000};
    for (int k = 0; k < 3; ++k) {
        const double V = speed[k];
        pl_dynamics_options options = pl_dynamics_options_default();
        options.tolerance = 1e-2;
        moving m = pin_beam(&pin, &options, 0);
        const int above = moving_vertex(&m, 50, 5, 0);
        pl_error err = {0};
        pl_motion_report report;
        double *v = calloc((size_t)m.n, sizeof *v);
        for (int i = 0; i < m.n / 3; ++i) {
            const double x = rig_rest(&m.rig)[3 * i] / 60;
            v[3 * i + 2] = -V * x * x;
        }
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, v, &err));
        const double kinetic = pl_dynamics_energy(m.dynamics).kinetic;
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 8 / V, NULL, NULL, &report, &err));
        PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
        const double z = rig_x(&m.rig)[3 * above + 2];
        print_message("%g m/s: %s at %.4f ms, vertex above the pin at %.3f mm, energy %+.2f %%; %d steps, %d "
                      "factorisations\n",
                      1e-3 * V, pl_motion_outcome_name(report.outcome), 1e3 * report.time, z,
                      100 * report.energy.imbalance / kinetic, report.steps, report.factorizations);
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        assert_true(z > -1.5);
        PL_CHECK_BELOW(report.energy.imbalance, 2e-3 * kinetic);
        free(v);
        moving_clear(&m);
    }
}

// With damping the motion ends where statics finds the beam on the ball.
static void test_comes_to_rest(void **state)
{
    (void)state;
    const pl_obstacle_def ball = {
        .name = "ball", .kind = PL_OBSTACLE_SPHERE, .point = {50, 5, -11}, .radius = 10};
    pl_dynamics_options options = pl_dynamics_options_default();
    options.mass_damping = 40;
    options.tolerance = 3e-3;
    moving m = pin_beam(&ball, &options, 9810);
    pl_error err = {0};
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.2, NULL, NULL, &report, &err));
    PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
    double *x = shape_copy(&m.rig);
    pl_state_reset(m.rig.state, m.rig.robot);
    rig_solve(&m.rig, NULL);
    const double apart = shape_distance(&m.rig, x, rig_x(&m.rig)),
                 moved = shape_distance(&m.rig, rig_rest(&m.rig), rig_x(&m.rig));
    print_message(
        "%s: %.4f mm from the equilibrium of statics, which moved %.3f mm; imbalance %.1e of %.3f mJ; %d "
        "steps, %d factorisations\n",
        pl_motion_outcome_name(report.outcome), apart, moved, report.energy.imbalance, report.energy.loads,
        report.steps, report.factorizations);
    assert_int_equal(report.outcome, PL_MOTION_DONE);
    PL_CHECK_BELOW(apart, 0.02 * moved);
    PL_CHECK_BELOW(report.energy.imbalance, 2e-3 * report.energy.loads);
    free(x);
    moving_clear(&m);
}

// A block pressed on a plane by its weight slides along it: contact takes nothing of the momentum, damping b
// leaves P exp(-b t) of it and drag on all faces P / (1 + D A V t / (2 m)).
static void block_slides(double b, double D)
{
    static plan p;
    const double V = 100, until = 0.05, side = 20;
    pl_mesh *mesh = tet_box(2, 1, 1, 2 * side, side, side, 2, NULL);
    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 0.3, .poisson = 0, .density = 1.07e-9});
    for (int i = 0; i < 3; ++i) {
        static const char *const low[3] = {"x0", "y0", "z0"}, *const high[3] = {"x1", "y1", "z1"};
        plan_plane(&p, low[i], i, 0);
        plan_plane(&p, high[i], i, i == 0 ? 2 * side : side);
    }
    plan_hold(&p, "y0", "y");
    plan_hold(&p, "x0", "x");
    plan_hold(&p, "z0", "z");
    plan_marker(&p, "end", "x1");
    p.def.gravity[2] = -9810;
    const pl_obstacle_def table = {.name = "table", .kind = PL_OBSTACLE_PLANE, .direction = {0, 0, 1}};
    p.def.contact = (pl_contact_def){.given = true, .obstacle = &table, .obstacle_count = 1};
    const double drag[16] = {D, D, D, D, D, D, D, D, D, D, D, D, D, D, D, D};
    pl_dynamics_options options = pl_dynamics_options_default();
    options.largest_step = 0.002;
    options.mass_damping = b;
    options.surface_drag = D > 0 ? drag : NULL;
    moving m = {.rig = plan_build(&p, NULL)};
    m.n = 3 * pl_state_vertex_count(m.rig.state);
    rig_solve(&m.rig, NULL);
    const int supports = m.rig.robot->support_count;
    m.rig.robot->support_count = 1; // a robot file must hold its body: all supports but that along y let go

    pl_error err = {0};
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_create(m.rig.robot, &options, &m.dynamics, &err));
    double *v = calloc((size_t)m.n, sizeof *v), P[3], L[3];
    for (int i = 0; i < m.n; i += 3) {
        v[i] = V;
    }
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, v, &err));
    const double mass = pl_dynamics_momentum(m.dynamics, P, L), area = 10 * side * side,
                 kinetic = pl_dynamics_energy(m.dynamics).kinetic;
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, until, NULL, NULL, &report, &err));
    assert_int_equal(report.outcome, PL_MOTION_DONE);
    const double time = pl_dynamics_time(m.dynamics),
                 left = D > 0 ? 1 / (1 + D * area * V * time / (2 * mass)) : exp(-b * time);
    pl_dynamics_momentum(m.dynamics, P, L);
    print_message(
        "slides with damping %g 1/s and drag %g t/mm^3: %.5f of its momentum is left (%.5f), damped "
        "%.5f of its energy (%.5f), energy %+.3f %%; %d steps, %d rejected\n",
        b, D, P[0] / (mass * V), left, report.energy.damped / kinetic, 1 - left * left,
        100 * report.energy.imbalance / kinetic, report.steps, report.rejected);
    PL_CHECK_NEAR(P[0] / (mass * V), left, 5e-4);
    PL_CHECK_NEAR(report.energy.damped / kinetic, 1 - left * left, 1e-3);
    PL_CHECK_NEAR(report.energy.imbalance, 0, 1e-3 * kinetic);
    free(v);
    m.rig.robot->support_count = supports; // all are freed
    moving_clear(&m);
    pl_mesh_destroy(mesh);
}

static void test_slides(void **state)
{
    (void)state;
    block_slides(0, 0);
    block_slides(20, 0);
    block_slides(0, 4e-9);
}

// ---- a cable that rubs, beside an obstacle
// Pulled to 2 N and suddenly released to 0.5 N: its pieces remember their tensions.
static void rub_command(void *user, double t, double *command)
{
    (void)user;
    command[0] = t < 0.03 ? 2 * t / 0.03 : t < 0.05 ? 2 : 0.5;
}

static double rub_corner(void *user, double t)
{
    (void)user;
    return t < 0.03 * (1 - 1e-12) ? 0.03 : t < 0.05 * (1 - 1e-12) ? 0.05 : INFINITY;
}

// The shape at rest, and how far from the undeformed one.
static double *rub_shape(const pl_obstacle_def *obstacle, const char *name, double *moved, int *vertices)
{
    static plan p;
    static const pl_guide_def guide[4] = {
        {.point = {0, 5, 8}}, {.point = {20, 5, 8}}, {.point = {40, 5, 8}}, {.point = {60, 5, 8}}};
    pl_mesh *mesh = tet_box(6, 1, 1, 60, 10, 10, 2, NULL);
    plan_init(&p, mesh,
              (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.05, .poisson = 0.45, .density = 1.07e-9});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 60);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    pl_actuator_def *cable = plan_cable(&p, "pull", guide, 4, PL_DRIVE_TENSION);
    cable->radius = 3;
    cable->friction = 0.3;
    if (obstacle) {
        p.def.contact = (pl_contact_def){.given = true, .obstacle = obstacle, .obstacle_count = 1};
    }
    pl_dynamics_options options = pl_dynamics_options_default();
    options.mass_damping = 60;
    moving m = moving_build(&p, &options);
    const pl_signal signal = {.command = rub_command, .corner = rub_corner};
    pl_error err = {0};
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, &signal, &err));
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.2, NULL, NULL, &report, &err));
    PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
    const int tip = moving_vertex(&m, 60, 5, 5);
    const double *x = rig_x(&m.rig) + 3 * tip;
    print_message("%s: %s, tip at %.5f, %.5f mm; %d steps, %d rejected, %d factorisations\n", name,
                  pl_motion_outcome_name(report.outcome), x[0], x[2], report.steps, report.rejected,
                  report.factorizations);
    assert_int_equal(report.outcome, PL_MOTION_DONE);
    double *shape = shape_copy(&m.rig);
    *moved = shape_distance(&m.rig, rig_rest(&m.rig), shape);
    *vertices = m.n / 3;
    moving_clear(&m);
    pl_mesh_destroy(mesh);

    return shape;
}

// An obstacle that nothing reaches changes nothing, the memory of the cable included.
static void test_rubbing_cable(void **state)
{
    (void)state;
    const pl_obstacle_def away = {
        .name = "away", .kind = PL_OBSTACLE_PLANE, .point = {0, 0, -200}, .direction = {0, 0, 1}};
    double moved, apart = 0;
    int vertices;
    double *alone = rub_shape(NULL, "alone", &moved, &vertices),
           *beside = rub_shape(&away, "beside an obstacle", &moved, &vertices);
    for (int i = 0; i < 3 * vertices; ++i) {
        apart = fmax(apart, fabs(alone[i] - beside[i]));
    }
    print_message("%.1e of %.3f mm apart\n", apart, moved);
    PL_CHECK_BELOW(apart, 1e-3 * moved);
    free(alone);
    free(beside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bar_rebounds),
                                       cmocka_unit_test(test_no_tunnelling),
                                       cmocka_unit_test(test_comes_to_rest), cmocka_unit_test(test_slides),
                                       cmocka_unit_test(test_rubbing_cable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
