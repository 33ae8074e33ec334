// Laws of motion: order of accuracy, free vibrations, momentum, spin, energy.
#include <stdlib.h>
#include "dynamics_robot.h"
#include "dynamics/dynamics_impl.h"
#include "robot/robot.h"

// ---- order
// Tip of the beam started along its first mode at 300 mm/s, after 0.2 s, with steps of h.
static double mode_tip(double h, pl_motion_report *report)
{
    static const int cells[3] = {6, 2, 2};
    const pl_dynamics_options options = moving_options(h);
    moving m = moving_beam(cells, beam_rubber(), &options);
    const int tip = moving_vertex(&m, 100, 15, 15);
    pl_error err = {0};
    pl_mode mode;
    int found;
    double *shape = calloc((size_t)m.n, sizeof *shape);

    PL_CHECK_OK(pl_dynamics_modes(m.dynamics, m.rig.state, 1, &mode, shape, &found, &err));
    const double scale = 300 / shape[3 * tip + 2];
    for (int i = 0; i < m.n; ++i) {
        shape[i] *= scale;
    }
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, shape, &err));
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.2, NULL, NULL, report, &err));
    PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
    const double z = rig_x(&m.rig)[3 * tip + 2] - rig_rest(&m.rig)[3 * tip + 2];
    if (h == 0.02) {
        print_message("first frequency %.4f Hz\n", mode.frequency);
    }
    free(shape);
    moving_clear(&m);

    return z;
}

static void test_order(void **state)
{
    (void)state;
    double z[6];
    pl_motion_report report;
    for (int k = 0; k < 6; ++k) {
        z[k] = mode_tip(0.02 / (1 << k), &report);
        print_message("h %.4g ms: tip %.5f mm, %d steps, %d factorisations, %.2f solves a step, imbalance "
                      "%.4f %% of %.4g mJ\n",
                      20.0 / (1 << k), z[k], report.steps, report.factorizations,
                      (double)report.solves / report.steps,
                      100 * report.energy.imbalance / (report.energy.kinetic + report.energy.elastic),
                      report.energy.kinetic + report.energy.elastic);
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        // energy is lost, never created
        PL_CHECK_BELOW(report.energy.imbalance, 1e-5 * (report.energy.kinetic + report.energy.elastic));
    }

    const double order = log2(fabs(z[3] - z[4]) / fabs(z[4] - z[5]));
    print_message("order %.3f\n", order);
    assert_true(order > 1.95);
}

// ---- free bodies
// A block of 40 x 30 x 30 mm that nothing holds.
static moving moving_free(double h)
{
    static plan p;
    pl_mesh *mesh = tet_box(4, 3, 3, 40, 30, 30, 2, NULL);

    plan_init(&p, mesh, beam_rubber());
    plan_plane(&p, "end", 0, 40);
    plan_marker(&p, "end", "end");
    plan_plane(&p, "base", 0, 0);
    plan_hold(&p, "base", "xyz");
    const pl_dynamics_options options = moving_options(h);
    moving m = {.rig = plan_build(&p, NULL)};
    m.n = 3 * pl_state_vertex_count(m.rig.state);
    pl_mesh_destroy(mesh);

    // a robot file must hold its body: the support lets go here
    m.rig.robot->support_count = 0;
    pl_error err = {0};
    PL_CHECK_OK(pl_dynamics_create(m.rig.robot, &options, &m.dynamics, &err));

    return m;
}

// A block spins freely: momentum is conserved to rounding, angular momentum and energy up to the damping of
// the scheme, which falls with the step; one factor, co-rotated, lasts for all turns.
static void test_spin(void **state)
{
    (void)state;
    static const double step[2] = {0.005, 0.002}, allowed_turn[2] = {4e-3, 6e-4},
                        allowed_energy[2] = {1e-2, 3e-3};
    for (int k = 0; k < 2; ++k) {
        moving m = moving_free(step[k]);
        pl_error err = {0};
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        double *v = calloc((size_t)m.n, sizeof *v), P0[3], L0[3], P[3], L[3];
        for (int i = 0; i < m.n / 3; ++i) {
            // 23 rad/s about z through the centre, and 50 mm/s along x
            const double *X = rig_rest(&m.rig) + 3 * i;
            v[3 * i] = -23 * (X[1] - 15) + 50;
            v[3 * i + 1] = 23 * (X[0] - 20);
        }
        PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, v, &err));
        const double mass = pl_dynamics_momentum(m.dynamics, P0, L0);
        PL_CHECK_NEAR(mass, 40 * 30 * 30 * 1.07e-9, 1e-12 * mass);
        PL_CHECK_NEAR(P0[0], 50 * mass, 1e-10 * mass);
        // of a block: rho V (a^2 + b^2) / 12 omega
        PL_CHECK_NEAR(L0[2] - (20 * P0[1] - 15 * P0[0]), 23 * mass * (40 * 40 + 30 * 30) / 12, 1e-9 * L0[2]);
        pl_motion_report report;
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 1.0, NULL, NULL, &report, &err));
        pl_dynamics_momentum(m.dynamics, P, L);
        const double spin0 = L0[2] - (20 * P0[1] - 15 * P0[0]), spin = L[2] - ((20 + 50) * P[1] - 15 * P[0]);
        const double kinetic0 = 0.5 * 23 * spin0 + 0.5 * mass * 2500;
        print_message(
            "h %.0f ms: %d factorisations, %.1f solves a step, momentum %.1e, angular momentum %.2e, "
            "energy %.2e\n",
            1e3 * step[k], report.factorizations, (double)report.solves / report.steps,
            (P[0] - P0[0]) / P0[0], (spin - spin0) / spin0, report.energy.imbalance / kinetic0);
        PL_CHECK_NEAR(P[0], P0[0], 1e-6 * P0[0]);
        PL_CHECK_BELOW(fabs(spin / spin0 - 1), allowed_turn[k]);
        PL_CHECK_BELOW(fabs(report.energy.imbalance) / kinetic0, allowed_energy[k]);
        PL_CHECK_BELOW(report.energy.imbalance, 0);
        PL_CHECK_BELOW(report.factorizations, 3);
        free(v);
        m.rig.robot->support_count = 1; // so that it is freed
        moving_clear(&m);
    }
}

// ---- frequencies
// First bending frequency of the beam: between the limits of two other codes, from above, as the mesh is
// refined (C3D20R 7.382, C3D20 7.415 Hz).
static void test_frequency(void **state)
{
    (void)state;
    static const int cells[3][3] = {{6, 2, 2}, {12, 4, 4}, {16, 6, 6}};
    double last = INFINITY;
    for (int k = 0; k < 3; ++k) {
        const pl_dynamics_options options = moving_options(0.01);
        moving m = moving_beam(cells[k], beam_rubber(), &options);
        pl_mode mode[4];
        int found;
        pl_error err = {0};
        PL_CHECK_OK(pl_dynamics_modes(m.dynamics, m.rig.state, 4, mode, NULL, &found, &err));
        assert_int_equal(found, 4);
        print_message("%d tets: %.4f, %.4f, %.4f, %.4f Hz\n", 6 * cells[k][0] * cells[k][1] * cells[k][2],
                      mode[0].frequency, mode[1].frequency, mode[2].frequency, mode[3].frequency);
        assert_true(mode[0].frequency < last);
        last = mode[0].frequency;
        moving_clear(&m);
    }

    PL_CHECK_NEAR(last, 7.36, 0.03);
}

// A bar that cannot contract or bend (Poisson 0, sides guided): f = (2 n - 1) / (4 L) sqrt(E / rho).
static void test_bar_frequencies(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(12, 1, 1, 60, 5, 5, 2, NULL);
    const pl_material material = {.model = PL_LINEAR, .young = 2, .poisson = 0, .density = 1e-9};
    plan_init(&p, mesh, material);
    static const char *const name[5] = {"x0", "y0", "z0", "y5", "z5"}, *const axis[5] = {"x", "y", "z", "y",
                                                                                         "z"};
    static const int normal[5] = {0, 1, 2, 1, 2};
    for (int i = 0; i < 5; ++i) {
        plan_plane(&p, name[i], normal[i], i < 3 ? 0 : 5);
        plan_hold(&p, name[i], axis[i]);
    }

    const pl_dynamics_options options = moving_options(0.01);
    moving m = moving_build(&p, &options);
    pl_mesh_destroy(mesh);
    pl_mode mode[3];
    int found;
    pl_error err = {0};
    PL_CHECK_OK(pl_dynamics_modes(m.dynamics, m.rig.state, 3, mode, NULL, &found, &err));
    assert_int_equal(found, 3);
    for (int n = 0; n < 3; ++n) {
        const double exact = (2 * n + 1) / (4 * 60.0) * sqrt(2 / 1e-9);
        print_message("mode %d: %.3f Hz, exact %.3f Hz\n", n + 1, mode[n].frequency, exact);
        PL_CHECK_NEAR(mode[n].frequency, exact, 1e-4 * exact);
    }

    moving_clear(&m);
}

// ---- stages that find nothing
// A stage that begins at an inverted shape is not solved: it has taken no step at all.
static void test_inverted_stage(void **state)
{
    (void)state;
    static const int cells[3] = {2, 1, 1};
    const pl_dynamics_options options = moving_options(0.01);
    moving m = moving_beam(cells, beam_rubber(), &options);
    pl_dynamics *d = m.dynamics;
    pl_error err = {0};
    PL_CHECK_OK(pl_dynamics_start(d, m.rig.state, NULL, &err));

    double *from = calloc((size_t)m.n, sizeof *from), *x = calloc((size_t)m.n, sizeof *x);
    for (int i = 0; i < m.n; ++i) {
        from[i] = x[i] = (i % 3 == 2 ? -1 : 1) * rig_rest(&m.rig)[i]; // a mirror image
    }
    const double s = dynamics_stage_length(0.01);
    d->inertia->coefficient = 1 / (s * s);
    d->inertia->target = from;
    stage_outcome outcome = STAGE_SOLVED;
    PL_CHECK_OK(dynamics_stage_solve(d, s, 1e-3, from, x, &outcome, &err));
    assert_int_equal(outcome, STAGE_INVERTED);
    free(from);
    free(x);
    moving_clear(&m);
}

// A factorisation that is refused ends the motion at once, wherever it is needed: no step is taken or
// rejected without it.
typedef struct refusal {
    pl_dynamics *dynamics;
    int after, steps, rejected; // rejected: until it was refused
} refusal;

static bool refusal_each(void *user)
{
    refusal *r = user;
    if (++r->steps == r->after) {
        r->dynamics->watch.stopped = true;
        r->rejected = r->dynamics->report.rejected;
    }
    return true;
}

static void test_refused_factor(void **state)
{
    (void)state;
    static const int cells[3] = {6, 1, 1};
    const pl_dynamics_options options = moving_options(0.02);
    for (int after = 1; after < 6; ++after) {
        moving m = moving_beam(cells, beam_rubber(), &options);
        double *v = calloc((size_t)m.n, sizeof *v);
        for (int i = 0; i < m.n / 3; ++i) {
            v[3 * i + 2] = 1500 * pow(rig_rest(&m.rig)[3 * i] / 100, 2);
        }
        pl_error err = {0};
        pl_motion_report report;
        refusal r = {.dynamics = m.dynamics, .after = after};
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, v, &err));
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 1, refusal_each, &r, &report, &err));
        print_message("refused after step %d: %s, %d steps, %d rejected, %d factorisations\n", after,
                      pl_motion_outcome_name(report.outcome), report.steps, report.rejected,
                      report.factorizations);
        assert_int_equal(report.outcome, PL_MOTION_STOPPED);
        assert_int_equal(report.rejected, r.rejected);
        free(v);
        moving_clear(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),          cmocka_unit_test(test_spin),
        cmocka_unit_test(test_frequency),      cmocka_unit_test(test_bar_frequencies),
        cmocka_unit_test(test_inverted_stage), cmocka_unit_test(test_refused_factor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
