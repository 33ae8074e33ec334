// Viscous bodies in motion: creep of a bar against its closed form, where creep ends, order of accuracy, and
// the energy that goes into the branches.
#include <stdlib.h>
#include "dynamics_robot.h"

static pl_material bar_material(pl_material_model model, double poisson)
{
    pl_material m = {.model = model, .poisson = poisson, .density = 1e-15};
    m.young = model == PL_NEO_HOOKEAN ? 0 : 0.3;
    m.c10 = model == PL_NEO_HOOKEAN ? 0.3 / (4 * (1 + poisson)) : 0;
    m.prony_count = 1;
    m.prony_g[0] = 0.5;
    m.prony_tau[0] = 0.2;

    return m;
}

// A bar of 20 x 4 x 4 mm, free to contract.
static moving moving_bar(pl_material material, const pl_dynamics_options *options)
{
    static plan p;
    pl_mesh *mesh = tet_box(4, 1, 1, 20, 4, 4, 2, NULL);

    plan_init(&p, mesh, material);
    static const char *const face[3] = {"x0", "y0", "z0"}, *const axis[3] = {"x", "y", "z"};
    for (int i = 0; i < 3; ++i) {
        plan_plane(&p, face[i], i, 0);
        plan_hold(&p, face[i], axis[i]);
    }

    plan_plane(&p, "tip", 0, 20);
    plan_marker(&p, "tip", "tip");
    moving m = moving_build(&p, options);
    pl_mesh_destroy(mesh);

    return m;
}

// Under a constant load sigma, applied suddenly, with E = 9 K G / (3 K + G) at both ends of the relaxation,
//   strain = sigma (1 / E_long - (1 / E_long - 1 / E_short) exp(-t / ((1 + g) tau))).
static void test_creep(void **state)
{
    (void)state;
    static const pl_material_model model[3] = {PL_LINEAR, PL_STVK, PL_NEO_HOOKEAN};
    static const double poisson[2] = {0.3, 0.499};
    for (int k = 0; k < 12; ++k) {
        const bool automatic = k >= 6;
        const double nu = poisson[k % 2];
        const pl_material material = bar_material(model[k / 2 % 3], nu);
        pl_dynamics_options options = pl_dynamics_options_default();
        options.step = automatic ? 0 : 0.001;
        options.halvings = 24;

        moving m = moving_bar(material, &options);
        const double sigma = automatic ? 3e-4 : 3e-5, force[3] = {sigma * 16, 0, 0};
        pl_error err = {0};
        pl_motion_report report;
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        pl_dynamics_set_forces(m.dynamics, force);
        const double G = 0.3 / (2 * (1 + nu)), K = 0.3 / (3 * (1 - 2 * nu)), g = 0.5, tau = 0.2;
        const double E_long = 9 * K * G / (3 * K + G), E_short = 9 * K * G * (1 + g) / (3 * K + G * (1 + g));
        double worst = 0;
        for (int i = 1; i <= 20; ++i) {
            const double t = 0.05 * i;
            PL_CHECK_OK(pl_dynamics_advance(m.dynamics, t, NULL, NULL, &report, &err));
            PL_CHECK_OK(pl_dynamics_sample(m.dynamics, t, m.rig.state, NULL, &err));
            const double strain = pl_statics_marker(m.rig.statics, m.rig.state, 0).displacement[0] / 20;
            const double exact =
                sigma * (1 / E_long - (1 / E_long - 1 / E_short) * exp(-t / ((1 + g) * tau)));
            worst = fmax(worst, fabs(strain / exact - 1));
        }
        print_message("%-12s Poisson %.3f, %s steps: creep within %.1e of the closed form; %d steps, %d "
                      "factorisations, %.1f solves a step\n",
                      pl_material_model_name(model[k / 2 % 3]), nu, automatic ? "automatic" : "1 ms", worst,
                      report.steps, report.factorizations, (double)report.solves / report.steps);
        // a sudden load on a bar without inertia: first order in the first step
        PL_CHECK_BELOW(worst, automatic ? 5e-3 : 1e-3);
        moving_clear(&m);
    }
}

// The same without inertia, held by statics: at once, in between and at the end; then relaxed again.
static void test_hold(void **state)
{
    (void)state;
    static const pl_material_model model[3] = {PL_LINEAR, PL_STVK, PL_NEO_HOOKEAN};
    const double sigma = 3e-5, force[3] = {sigma * 16, 0, 0}, g = 0.5, tau = 0.2;
    for (int k = 0; k < 6; ++k) {
        const double nu = k % 2 ? 0.499 : 0.3;
        const pl_dynamics_options options = pl_dynamics_options_default();
        moving m = moving_bar(bar_material(model[k / 2], nu), &options);
        const double G = 0.3 / (2 * (1 + nu)), K = 0.3 / (3 * (1 - 2 * nu));
        const double E_long = 9 * K * G / (3 * K + G), E_short = 9 * K * G * (1 + g) / (3 * K + G * (1 + g));
        pl_error err = {0};
        pl_solve_report report;
        pl_creep_report creep;
        double worst = 0;
        int steps = 0, factorizations = 0;
        pl_statics_set_forces(m.rig.statics, force);
        for (int i = 0; i < 7; ++i) {
            const double t = (double[]){0, 0.001, 0.05, 0.2, 0.5, 2, 1000}[i];
            pl_state_reset(m.rig.state, m.rig.robot);
            PL_CHECK_OK(pl_statics_hold(m.rig.statics, m.rig.state, NULL, t, &creep, &report, &err));
            assert_int_equal(report.outcome, PL_SOLVED);
            const double strain = pl_statics_marker(m.rig.statics, m.rig.state, 0).displacement[0] / 20;
            const double exact =
                sigma * (1 / E_long - (1 / E_long - 1 / E_short) * exp(-t / ((1 + g) * tau)));
            worst = fmax(worst, fabs(strain / exact - 1));
            steps = creep.steps > steps ? creep.steps : steps;
            factorizations = report.factorizations > factorizations ? report.factorizations : factorizations;
        }
        print_message(
            "%-12s Poisson %.3f, held 0 to 1000 s: within %.1e of the closed form, at most %d steps "
            "and %d factorisations\n",
            pl_material_model_name(model[k / 2]), nu, worst, steps, factorizations);
        PL_CHECK_BELOW(worst, 1e-3);

        // the next solve is that of the relaxed body
        pl_state_reset(m.rig.state, m.rig.robot);
        rig_solve(&m.rig, NULL);
        const double strain = pl_statics_marker(m.rig.statics, m.rig.state, 0).displacement[0] / 20;
        PL_CHECK_NEAR(strain * E_long / sigma, 1, 1e-3);

        // a large load: in balance with the stresses of the branches, and after a long time that shape
        const double large[3] = {0.05 * 16, 0, 0};
        double tip[3];
        pl_statics_set_forces(m.rig.statics, large);
        for (int i = 0; i < 3; ++i) {
            double residual, largest;
            bool inverted;
            pl_state_reset(m.rig.state, m.rig.robot);
            PL_CHECK_OK(pl_statics_hold(m.rig.statics, m.rig.state, NULL, (double[]){0, 0.1, 1000}[i], &creep,
                                        &report, &err));
            assert_int_equal(report.outcome, PL_SOLVED);
            PL_CHECK_OK(pl_statics_check(m.rig.statics, m.rig.state, &residual, &largest, &inverted, &err));
            PL_CHECK_BELOW(residual, 1e-5 * largest);
            tip[i] = pl_statics_marker(m.rig.statics, m.rig.state, 0).displacement[0];
        }
        pl_state_reset(m.rig.state, m.rig.robot);
        rig_solve(&m.rig, NULL);
        const double relaxed = pl_statics_marker(m.rig.statics, m.rig.state, 0).displacement[0];
        print_message("  0.05 MPa: %.4f mm at once, %.4f after 0.1 s, %.4f after 1000 s, %.4f relaxed\n",
                      tip[0], tip[1], tip[2], relaxed);
        assert_true(tip[0] < 0.95 * tip[1] && tip[1] < 0.95 * tip[2]);
        PL_CHECK_NEAR(tip[2] / relaxed, 1, 1e-4);
        moving_clear(&m);
    }
}

// Derivatives at a held shape: by a force those of a sudden further change, so that at the time 0 they are
// those of the instantaneous shape; by the constants of the material none, because the shape depends on them
// through its history too.
static void test_hold_derivative(void **state)
{
    (void)state;
    const double step = 1e-3;
    for (int k = 0; k < 2; ++k) {
        const pl_dynamics_options options = pl_dynamics_options_default();
        moving m = moving_bar(bar_material(k ? PL_NEO_HOOKEAN : PL_LINEAR, 0.45), &options);
        const pl_parameter force = {PL_PARAMETER_MARKER_FORCE, 0, 0},
                           constant[] = {{PL_PARAMETER_MATERIAL, 0, k ? PL_C10 : PL_YOUNG},
                                         {PL_PARAMETER_MATERIAL, 0, PL_POISSON},
                                         {PL_PARAMETER_MATERIAL, 0, PL_DENSITY}};
        double by_force[3], by_constant[9], tip[2];
        pl_error err = {0};
        pl_solve_report report;
        pl_creep_report creep;
        pl_jacobian_report found;
        const pl_jacobian moved = {.marker = by_force}, changed = {.marker = by_constant};
        for (int side = 0; side < 3; ++side) {
            const double pull[3] = {0.3 + (side == 2 ? 0 : side ? step : -step), 0, 0};
            pl_statics_set_forces(m.rig.statics, pull);
            pl_state_reset(m.rig.state, m.rig.robot);
            PL_CHECK_OK(pl_statics_hold(m.rig.statics, m.rig.state, NULL, 0, &creep, &report, &err));
            assert_int_equal(report.outcome, PL_SOLVED);
            if (side < 2) {
                tip[side] = pl_statics_marker(m.rig.statics, m.rig.state, 0).position[0];
            }
        }
        PL_CHECK_OK(pl_statics_jacobian(m.rig.statics, m.rig.state, &force, 1, &moved, &found, &err));
        const double quotient = (tip[1] - tip[0]) / (2 * step);
        print_message("by a force %.6f mm/N, differences %.6f\n", by_force[0], quotient);
        PL_CHECK_NEAR(by_force[0] / quotient, 1, 1e-5);

        for (int c = 0; c < 3; ++c) {
            const pl_status status =
                pl_statics_jacobian(m.rig.statics, m.rig.state, &constant[c], 1, &changed, &found, &err);
            assert_int_equal(status, PL_BAD_INPUT);
            assert_non_null(strstr(err.text, "held for a time"));
            assert_int_equal(pl_statics_adjoint(m.rig.statics, m.rig.state, rig_rest(&m.rig), NULL,
                                                &constant[c], 1, by_constant, &found, &err),
                             PL_BAD_INPUT);
        }

        // relaxed, it has them
        pl_state_reset(m.rig.state, m.rig.robot);
        rig_solve(&m.rig, NULL);
        PL_CHECK_OK(pl_statics_jacobian(m.rig.statics, m.rig.state, constant, 3, &changed, &found, &err));
        moving_clear(&m);
    }
}

// A large load: creep ends at the equilibrium of the long-term material, and the energy adds up.
static void test_creep_end(void **state)
{
    (void)state;
    moving m = moving_bar(
        bar_material(PL_NEO_HOOKEAN, 0.49),
        &(pl_dynamics_options){.tolerance = 1e-3, .largest_step = 0.08, .halvings = 20, .mass_damping = 50});
    const double force[3] = {0.1 * 16, 0, 0};
    pl_error err = {0};
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    pl_dynamics_set_forces(m.dynamics, force);
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 4, NULL, NULL, &report, &err));
    PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
    double *x = shape_copy(&m.rig);
    pl_state_reset(m.rig.state, m.rig.robot);
    pl_statics_set_forces(m.rig.statics, force);
    rig_solve(&m.rig, NULL);
    const double apart = shape_distance(&m.rig, x, rig_x(&m.rig));
    const pl_motion_energy e = report.energy;
    print_message(
        "%d steps, %d rejected, %d factorisations; stretched by %.2f mm, %.1e mm off; work %.4g, elastic "
        "%.4g, viscous %.4g, imbalance %.2e mJ\n",
        report.steps, report.rejected, report.factorizations,
        shape_distance(&m.rig, rig_rest(&m.rig), rig_x(&m.rig)), apart, e.loads, e.elastic, e.viscous,
        e.imbalance);
    assert_int_equal(report.outcome, PL_MOTION_DONE);
    PL_CHECK_BELOW(apart, 1e-3);
    assert_true(e.viscous > 0);
    free(x);
    moving_clear(&m);
}

// Stiffness-proportional damping b: the first mode decays with the damping ratio b omega / 2.
static void test_stiffness_damping(void **state)
{
    (void)state;
    static const int cells[3] = {6, 1, 1};
    pl_error err = {0};
    pl_mode mode;
    double ratio[2];
    for (int k = 0; k < 2; ++k) {
        pl_dynamics_options options = moving_options(0.0005);
        options.stiffness_damping = k ? 0.002 : 0;
        moving m = moving_beam(cells, beam_rubber(), &options);
        int found;
        double *shape = calloc((size_t)m.n, sizeof *shape);
        pl_motion_report report;
        PL_CHECK_OK(pl_dynamics_modes(m.dynamics, m.rig.state, 1, &mode, shape, &found, &err));
        for (int i = 0; i < m.n; ++i) {
            shape[i] *= 20;
        }
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, shape, &err));

        // kinetic energy when the beam is straight: after one and three half periods
        double most[2] = {0};
        for (double t = 0.0005; t < 1.7 / mode.frequency; t += 0.0005) {
            PL_CHECK_OK(pl_dynamics_advance(m.dynamics, t, NULL, NULL, &report, &err));
            const int half = (int)(2 * t * mode.frequency + 0.5);
            const double kinetic = pl_dynamics_energy(m.dynamics).kinetic;
            if (half == 1 || half == 3) {
                most[half / 2] = fmax(most[half / 2], kinetic);
            }
        }
        // energy falls by exp(-4 pi zeta) a period
        ratio[k] = log(most[0] / most[1]) / (4 * 3.14159265358979323846);
        free(shape);
        moving_clear(&m);
    }

    const double expected = 0.002 * 3.14159265358979323846 * mode.frequency;
    print_message("damping ratio %.5f (%.1e without), expected %.5f\n", ratio[1], ratio[0], expected);
    PL_CHECK_NEAR((ratio[1] - ratio[0]) / expected, 1, 0.05);
    // the dashpots act on the deviatoric part alone, which modes know
    PL_CHECK_NEAR(mode.damping / ratio[1], 1, 5e-3);
}

// Maxima of the kinetic energy of a small vibration of the first mode: half a period of ringing apart, and
// smaller by exp(-2 rate t).
static void test_mode_damping(void **state)
{
    (void)state;
    static const int cells[3] = {6, 1, 1};
    for (int k = 0; k < 2; ++k) {
        pl_material material = beam_rubber();
        material.prony_count = 2;
        memcpy(material.prony_g, k ? (double[]){0.8, 0.02} : (double[]){0.1, 0.1}, 2 * sizeof(double));
        memcpy(material.prony_tau, (double[]){0.004, 0.04}, 2 * sizeof(double));
        const pl_dynamics_options options = moving_options(0.001);
        moving m = moving_beam(cells, material, &options);
        pl_error err = {0};
        pl_mode mode;
        int found, count = 0;
        double *shape = calloc((size_t)m.n, sizeof *shape), at[8], most[8], E[3] = {0};
        pl_motion_report report;
        PL_CHECK_OK(pl_dynamics_modes(m.dynamics, m.rig.state, 1, &mode, shape, &found, &err));
        for (int i = 0; i < m.n; ++i) {
            shape[i] *= 10;
        }
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, shape, &err));
        for (int i = 1; count < 5 && i < 600; ++i) {
            PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.001 * i, NULL, NULL, &report, &err));
            E[0] = E[1];
            E[1] = E[2];
            E[2] = pl_dynamics_energy(m.dynamics).kinetic;
            if (i > 2 && E[1] > E[0] && E[1] >= E[2]) {
                // of the parabola through the three
                const double slope = 0.5 * (E[2] - E[0]), bend = E[2] - 2 * E[1] + E[0];
                at[count] = 0.001 * (i - 1 - slope / bend);
                most[count++] = E[1] - 0.5 * slope * slope / bend;
            }
        }
        assert_int_equal(count, 5);
        const double time = at[4] - at[1], rate = log(most[1] / most[4]) / (2 * time),
                     ringing = 3 / (2 * time),
                     expected = mode.damping / sqrt(1 - mode.damping * mode.damping) * 2 *
                                3.14159265358979323846 * mode.ringing;
        print_message(
            "%.4f Hz long-term, rings at %.4f Hz (motion %.4f), ratio %.5f; rate %.4f 1/s (motion %.4f)\n",
            mode.frequency, mode.ringing, ringing, mode.damping, expected, rate);
        PL_CHECK_NEAR(ringing / mode.ringing, 1, 5e-3);
        PL_CHECK_NEAR(rate / expected, 1, 0.02);
        free(shape);
        moving_clear(&m);
    }
}

// The beam along its first mode with four branches: order, and energy that is never created.
static void test_order(void **state)
{
    (void)state;
    static const int cells[3] = {6, 2, 2};
    double z[6];
    for (int k = 0; k < 6; ++k) {
        pl_material material = beam_rubber();
        material.prony_count = 4;
        memcpy(material.prony_g, (double[]){0.3, 0.1, 0.05, 0.03}, 4 * sizeof(double));
        memcpy(material.prony_tau, (double[]){0.003, 0.03, 0.3, 2}, 4 * sizeof(double));
        const pl_dynamics_options options = moving_options(0.02 / (1 << k));
        moving m = moving_beam(cells, material, &options);
        const int tip = moving_vertex(&m, 100, 15, 15);
        pl_error err = {0};
        pl_mode mode;
        pl_motion_report report;
        int found;
        double *shape = calloc((size_t)m.n, sizeof *shape);
        PL_CHECK_OK(pl_dynamics_modes(m.dynamics, m.rig.state, 1, &mode, shape, &found, &err));
        const double scale = 300 / shape[3 * tip + 2];
        for (int i = 0; i < m.n; ++i) {
            shape[i] *= scale;
        }
        PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
        PL_CHECK_OK(pl_dynamics_set_velocity(m.dynamics, shape, &err));
        const double before = pl_dynamics_energy(m.dynamics).kinetic;
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.2, NULL, NULL, &report, &err));
        PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
        z[k] = rig_x(&m.rig)[3 * tip + 2] - rig_rest(&m.rig)[3 * tip + 2];
        const pl_motion_energy e = report.energy;
        print_message(
            "h %.4g ms: tip %.5f mm, %d steps, %d factorisations, %.2f solves a step; of %.4g mJ kinetic "
            "%.4g, elastic %.4g, viscous %.4g, imbalance %.4f %%\n",
            20.0 / (1 << k), z[k], report.steps, report.factorizations, (double)report.solves / report.steps,
            before, e.kinetic, e.elastic, e.viscous, 100 * e.imbalance / before);
        PL_CHECK_BELOW(e.imbalance, 2e-3 * before); // trapezoidal work of the branches
        free(shape);
        moving_clear(&m);
    }

    const double order = log2(fabs(z[3] - z[4]) / fabs(z[4] - z[5]));
    print_message("order %.3f\n", order);
    assert_true(order > 1.95);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creep),           cmocka_unit_test(test_hold),
        cmocka_unit_test(test_hold_derivative), cmocka_unit_test(test_stiffness_damping),
        cmocka_unit_test(test_creep_end),       cmocka_unit_test(test_order),
        cmocka_unit_test(test_mode_damping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
