// Laws of the local/global method: rigid motions and patches are exact, it finds the exact core's shape where
// both minimise the same energy, every acceleration ends at the plain fixed point, energies fall, bases hold.
#include "geometric_robot.h"

static const pl_material steel = {.model = PL_LINEAR, .young = 1.3, .poisson = 0.3};

// Local/global on the exact core's own energy (gradient metric, mu and lambda, the volume as a constraint)
// ends at the exact core's shape and pressure.
static void test_agrees_with_exact(void **state)
{
    (void)state;
    rig r = geo_hollow(steel, PL_DRIVE_VOLUME_RATIO, 1);
    const double ratio = 1.6;
    rig_solve(&r, &ratio);
    const pl_actuator_result exact = pl_statics_actuator(r.statics, r.state, 0);
    pl_error err = {0};
    pl_geometric_options o = geo_tight();
    o.form = PL_FORM_MU_LAMBDA;
    for (int k = 0; k < 3; ++k) {
        pl_state *other = NULL;
        PL_CHECK_OK(pl_state_create(r.robot, &other, &err));
        o.acceleration = (pl_acceleration)k;
        pl_geometric *g = geo_make(r.robot, &o);
        const pl_statics_report report = geo_run(g, other, &ratio);
        const pl_geometric_actuator_result air = pl_geometric_actuator(g, 0);
        const double apart = state_distance(r.state, other);
        print_message("acceleration %d: %d iterations, %.1e mm apart, pressure off by %.1e, energy by %.1e\n",
                      k, report.iterations, apart, air.effort / exact.effort - 1,
                      report.energy / pl_geometric_get_info(g).iterations);
        PL_CHECK_BELOW(apart, 1e-6 * 26);
        PL_CHECK_NEAR(air.effort / exact.effort, 1, 1e-6);
        PL_CHECK_NEAR(air.ratio, ratio, 1e-8);
        pl_geometric_destroy(g);
        pl_state_destroy(other);
    }
    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_with_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
