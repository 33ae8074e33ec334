// Supports that move and a fluid that slows down: an accelerated frame is gravity, a shaken tip mass follows
// the closed form of an oscillator, and a body that sinks follows v = w tanh(g t / w).
#include <stdlib.h>
#include "dynamics_robot.h"
#include "robot/robot.h"

// ---- supports
typedef struct shake {
    double amplitude, omega, constant;
} shake;

// From rest: u = A (1 - cos wt), or a constant acceleration, upwards.
static void shake_base(void *user, double t, double acceleration[3])
{
    const shake *s = user;
    acceleration[0] = acceleration[1] = 0;
    acceleration[2] = s->constant + s->amplitude * s->omega * s->omega * cos(s->omega * t);
}

// Supports that accelerate upwards with g: the motion under gravity, with the same energies.
static void test_lift(void **state)
{
    (void)state;
    static const int cells[3] = {6, 2, 2};
    shake lift = {.constant = 9810};
    double z[2];
    pl_motion_energy energy[2];
    for (int k = 0; k < 2; ++k) {
        static plan p;
        pl_mesh *mesh = tet_box(cells[0], cells[1], cells[2], 100, 30, 30, 2, NULL);
        const pl_dynamics_options options = moving_options(0.004);
        plan_beam(&p, mesh, beam_rubber());
        p.def.gravity[2] = k ? 0 : -9810;
        moving m = moving_build(&p, &options);
        pl_mesh_destroy(mesh);
        const pl_signal signal = {.base = k ? shake_base : NULL, .user = &lift};
        pl_error err = {0};
        pl_motion_report report;
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, &signal, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.1, NULL, NULL, &report, &err));
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
        z[k] = rig_x(&m.rig)[3 * moving_vertex(&m, 100, 15, 15) + 2] - 15;
        energy[k] = report.energy;
        moving_clear(&m);
    }

    print_message("tip %.9f and %.9f mm; work %.6f and %.6f mJ, imbalance %.2e and %.2e\n", z[0], z[1],
                  energy[0].loads, energy[1].loads, energy[0].imbalance, energy[1].imbalance);
    PL_CHECK_NEAR(z[1], z[0], 1e-5);
    PL_CHECK_NEAR(energy[1].loads, energy[0].loads, 1e-6 * energy[0].loads);
}

// A mass at the tip of a beam that weighs next to nothing, its support shaken from rest: q'' + w0^2 q = -A
// w^2 cos wt, q = A w^2 / (w^2 - w0^2) (cos wt - cos w0 t).
static void test_shaken_mass(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(6, 1, 1, 60, 14, 10, 2, NULL);
    const double mass = 2e-6;
    pl_dynamics_options options = moving_options(0.0005);
    options.marker_mass = &mass;
    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0.4, .density = 1e-15});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 60);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    moving m = moving_build(&p, &options);
    pl_mesh_destroy(mesh);
    pl_error err = {0};
    pl_mode mode[2];
    int found;
    PL_CHECK_OK(pl_dynamics_modes(m.dynamics, m.rig.state, 2, mode, NULL, &found, &err));
    const double w0 = 2 * acos(-1) * mode[0].frequency;
    shake s = {.amplitude = 0.05, .omega = 0.6 * w0};
    const pl_signal signal = {.base = shake_base, .user = &s};
    pl_motion_report report;
    double worst = 0, largest = 0;

    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, &signal, &err));
    for (int k = 1; k <= 60; ++k) {
        const double t = 0.002 * k, q = s.amplitude * s.omega * s.omega / (s.omega * s.omega - w0 * w0) *
                                        (cos(s.omega * t) - cos(w0 * t));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, t, NULL, NULL, &report, &err));
        PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
        const double z = pl_statics_marker(m.rig.statics, m.rig.state, 0).displacement[2];
        worst = fmax(worst, fabs(z - q));
        largest = fmax(largest, fabs(q));
    }

    print_message("%.3f Hz, shaken with %.3f Hz: largest %.4f mm, off by %.5f mm\n", mode[0].frequency,
                  0.6 * mode[0].frequency, largest, worst);
    PL_CHECK_BELOW(worst, 3e-3 * largest);
    moving_clear(&m);
}

// ---- drag
// A block that nothing holds sinks: m v' = m g - D A v^2 / 2, v = w tanh(g t / w), w^2 = 2 m g / (D A).
static void test_sinks(void **state)
{
    (void)state;
    static plan p;
    const double D = 1e-9, g = 9810, rho = 1.07e-9, m0 = rho * 40 * 30 * 30,
                 A = 2 * (40 * 30 + 40 * 30 + 30 * 30);
    pl_mesh *mesh = tet_box(2, 1, 1, 40, 30, 30, 2, NULL);
    plan_init(&p, mesh, beam_rubber());
    for (int i = 0; i < 3; ++i) {
        static const char *const low[3] = {"x0", "y0", "z0"}, *const high[3] = {"x1", "y1", "z1"};
        static const double size[3] = {40, 30, 30};
        plan_plane(&p, low[i], i, 0);
        plan_plane(&p, high[i], i, size[i]);
    }
    p.def.gravity[2] = -g;
    pl_dynamics_options options = moving_options(0.002);
    const double drag[16] = {D, D, D, D, D, D, D, D, D, D, D, D, D, D, D, D};
    options.surface_drag = drag;
    plan_hold(&p, "x0", "xyz");
    moving m = {.rig = plan_build(&p, NULL)};
    pl_mesh_destroy(mesh);
    const int supports = m.rig.robot->support_count;
    m.rig.robot->support_count = 0; // a robot file must hold its body: the support lets go here
    pl_error err = {0};
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_create(m.rig.robot, &options, &m.dynamics, &err));
    const double w = sqrt(2 * m0 * g / (D * A));

    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    for (int k = 1; k <= 4; ++k) {
        const double t = 0.03 * k, v = w * tanh(g * t / w);
        double linear[3], angular[3];
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, t, NULL, NULL, &report, &err));
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        pl_dynamics_momentum(m.dynamics, linear, angular);
        print_message("%.2f s: %.2f mm/s, closed form %.2f (at last %.1f); imbalance %.1e of %.3f mJ\n", t,
                      -linear[2] / m0, v, w, report.energy.imbalance, report.energy.loads);
        PL_CHECK_NEAR(-linear[2] / m0, v, 3e-3 * v);
        PL_CHECK_NEAR(report.energy.imbalance, 0, 2e-3 * report.energy.loads);
    }
    m.rig.robot->support_count = supports;
    moving_clear(&m);

    // a drag that pushes is refused
    static plan q;
    mesh = tet_box(2, 1, 1, 40, 30, 30, 2, NULL);
    plan_init(&q, mesh, beam_rubber());
    plan_plane(&q, "x0", 0, 0);
    plan_hold(&q, "x0", "xyz");
    rig r = plan_build(&q, NULL);
    pl_mesh_destroy(mesh);
    const double wrong[16] = {-1};
    pl_dynamics *d = NULL;
    options.surface_drag = wrong;
    assert_int_equal(pl_dynamics_create(r.robot, &options, &d, &err), PL_BAD_INPUT);
    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lift), cmocka_unit_test(test_shaken_mass),
                                       cmocka_unit_test(test_sinks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
