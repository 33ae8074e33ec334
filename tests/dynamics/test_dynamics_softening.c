// Bodies that soften (Mullins effect) in motion: a bar that is pulled, let back and pulled again follows its
// closed form; the energy balance knows what softening has turned into heat; a state remembers it.
#include <stdlib.h>
#include <string.h>
#include "dynamics_robot.h"

static pl_material soft_material(double density)
{
    return (pl_material){.model = PL_YEOH,
                         .c10 = 0.05,
                         .c20 = 0.004,
                         .poisson = 0.49,
                         .density = density,
                         .mullins_r = 1.5,
                         .mullins_m = 0.004,
                         .mullins_beta = 0.1};
}

// A bar of 20 x 4 x 4 mm, free to contract.
static moving soft_bar(pl_material material, const pl_dynamics_options *options)
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

// N at the tip: up, down to a fifth, further up, down.
static double pull_at(double t)
{
    static const double corner[5] = {0, 1, 0.2, 1.5, 0.1};
    const int k = t < 0 ? 0 : t >= 4 ? 3 : (int)t;
    return corner[k] + (t - k) * (corner[k + 1] - corner[k]);
}

static void pull(void *user, double t, double *force)
{
    (void)user;
    force[0] = pull_at(t);
    force[1] = force[2] = 0;
}

static double pull_corner(void *user, double t)
{
    (void)user;
    return t < 3 - 1e-9 ? floor(t + 1e-9) + 1 : INFINITY;
}

// The stretch under a force, by bisection; `largest` stays.
static double bar_stretch(const pl_material *m, double force, double largest)
{
    double low = 1, high = 4;
    for (int k = 0; k < 60; ++k) {
        const double middle = 0.5 * (low + high);
        double seen = largest;
        const bool above = pl_material_cycled(m, middle, &seen) * 16 > force;
        low = above ? low : middle;
        high = above ? middle : high;
    }
    return 0.5 * (low + high);
}

static void test_bar(void **state)
{
    (void)state;
    const pl_material material = soft_material(1e-13);
    const pl_dynamics_options options = pl_dynamics_options_default();
    const pl_signal signal = {.force = pull, .corner = pull_corner};
    moving m = soft_bar(material, &options);
    pl_error err = {0};
    pl_motion_report report;
    double worst = 0, largest = 0, softest = 1;

    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, &signal, &err));
    for (int i = 1; i <= 40; ++i) {
        const double t = 0.1 * i;
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, t, NULL, NULL, &report, &err));
        PL_CHECK_OK(pl_dynamics_sample(m.dynamics, t, m.rig.state, NULL, &err));
        const double stretch = 1 + pl_statics_marker(m.rig.statics, m.rig.state, 0).displacement[0] / 20;
        const double exact = bar_stretch(&material, pull_at(t), largest);
        pl_material_cycled(&material, exact, &largest);
        worst = fmax(worst, fabs(stretch / exact - 1));
        softest = fmin(softest, bar_stretch(&material, pull_at(t), 0) / stretch);
    }
    print_message("within %.1e of the closed form, softening up to %.3f; %d steps, %d factorisations\n",
                  worst, softest, report.steps, report.factorizations);
    print_message("stored %.5f, heat %.5f, work %.5f, imbalance %.1e mJ\n", report.energy.elastic,
                  report.energy.damped, report.energy.loads, report.energy.imbalance);
    PL_CHECK_BELOW(worst, 2e-3);
    assert_true(softest < 0.95);
    assert_true(report.energy.damped > 0);
    PL_CHECK_NEAR(report.energy.imbalance, 0, 5e-3 * report.energy.damped);
    moving_clear(&m);
}

// A swing of a heavy bar loses the heat of its first extension and nothing later; a state saved in between
// goes on bitwise.
static void test_swing(void **state)
{
    (void)state;
    pl_dynamics_options options = pl_dynamics_options_default();
    options.step = 1e-3;
    moving m = soft_bar(soft_material(2e-7), &options);
    pl_error err = {0};
    pl_motion_report report;
    const double force[3] = {0.6, 0, 0};
    double heat[4];

    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    pl_dynamics_set_forces(m.dynamics, force);
    for (int k = 0; k < 4; ++k) {
        PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.05 * (k + 1), NULL, NULL, &report, &err));
        heat[k] = report.energy.damped;
        print_message("%.2f s: kinetic %.4f, stored %.4f, heat %.6f, imbalance %.1e mJ\n", 0.05 * (k + 1),
                      report.energy.kinetic, report.energy.elastic, heat[k], report.energy.imbalance);
        PL_CHECK_NEAR(report.energy.imbalance, 0,
                      2e-2 * (heat[k] + report.energy.kinetic + report.energy.elastic));
    }
    assert_true(heat[3] > 0);

    // softening only grows
    for (int k = 1; k < 4; ++k) {
        assert_true(heat[k] >= heat[k - 1]);
    }

    PL_CHECK_OK(pl_dynamics_store(m.dynamics, m.rig.state, &err));
    PL_CHECK_OK(pl_dynamics_start(m.dynamics, m.rig.state, NULL, &err));
    pl_dynamics_set_forces(m.dynamics, force);
    PL_CHECK_OK(pl_dynamics_advance(m.dynamics, 0.25, NULL, NULL, &report, &err));
    // the heat of the motion that goes on is counted from its start: none, as it stays below what it has seen
    print_message("after the state: heat %.2e mJ\n", report.energy.damped);
    PL_CHECK_BELOW(report.energy.damped, 0.02 * heat[3]);
    moving_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bar), cmocka_unit_test(test_swing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
