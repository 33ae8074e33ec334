// The load path to an equilibrium: increments before the last are solved only so far that the next one can
// begin, and the final shape is that of a path whose equilibria were solved one by one.
#include "statics/statics_impl.h"
#include "statics_robot.h"

#define LENGTH 30.0

// A slender beam bent by a force at its end.
static rig bent_rig(const pl_mesh *mesh, pl_formulation formulation, double force)
{
    static plan p;
    const pl_material material = {
        .model = PL_NEO_HOOKEAN, .c10 = 0.3, .poisson = 0.47, .formulation = formulation};

    plan_init(&p, mesh, material);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, LENGTH);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {0, 0, force}};

    return plan_build(&p, NULL);
}

static void test_same_end(void **state)
{
    (void)state;
    pl_mesh *mesh = tet_box(16, 1, 1, LENGTH, 2, 1, 2, NULL);
    for (int kind = 0; kind < 2; ++kind) {
        rig tight = bent_rig(mesh, kind ? PL_DISPLACEMENT : PL_LOCKING_FREE, -0.006);
        tight.statics->path.enough = 0;
        tight.statics->path.turn = 0.6; // several increments
        const pl_solve_report slow = rig_solve(&tight, NULL);
        const double drop = -pl_statics_marker(tight.statics, tight.state, 0).displacement[2];
        const double enough[] = {0.05, STATICS_PATH_ERROR};
        assert_true(drop > 0.6 * LENGTH && slow.increments > 2);
        for (int k = 0; k < PL_COUNT(enough); ++k) {
            rig r = bent_rig(mesh, kind ? PL_DISPLACEMENT : PL_LOCKING_FREE, -0.006);
            r.statics->path.enough = enough[k];
            r.statics->path.turn = 0.6;
            const pl_solve_report quick = rig_solve(&r, NULL);
            const double off = shape_distance(&r, rig_x(&r), rig_x(&tight));
            print_message("drop %.2f mm; %g left at intermediate loads: %.1e mm apart, %d iterations and %d "
                          "factorisations "
                          "instead of %d and %d\n",
                          drop, enough[k], off, quick.iterations, quick.factorizations, slow.iterations,
                          slow.factorizations);
            PL_CHECK_BELOW(off, 1e-5 * drop);
            rig_clear(&r);
        }
        rig_clear(&tight);
    }

    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
