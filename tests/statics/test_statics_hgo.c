// A block of rubber with fibres, pulled along them and in their plane: solved with a nearly incompressible
// material, the stress is that of the closed forms of the incompressible law.
#include "statics_robot.h"
#include "material/material.h"

#define SIZE 10.0

static pl_material fibred(int families)
{
    return (pl_material){.model = PL_HGO,
                         .c10 = 0.05,
                         .k1 = 0.12,
                         .k2 = 0.6,
                         .kappa = 0.06,
                         .fibre = {{1, 0, 0}, {0, 1, 0}},
                         .fibre_count = families,
                         .bulk = 2000};
}

// Faces x = 0, y = 0, z = 0 slide in their planes; those opposite are moved by the stretches of the first
// `axes` axes. Returns the engineering stress on the face x = SIZE, MPa.
static double block_stress(const pl_material *material, int axes, double stretch)
{
    static const char *const low[3] = {"x0", "y0", "z0"}, *const high[2] = {"x1", "y1"};
    static const char *const axis[3] = {"x", "y", "z"};
    static plan p;
    pl_mesh *mesh = tet_box(2, 2, 2, SIZE, SIZE, SIZE, 2, NULL);

    plan_init(&p, mesh, *material);
    for (int i = 0; i < 3; ++i) {
        plan_plane(&p, low[i], i, 0);
        plan_hold(&p, low[i], axis[i]);
    }

    for (int i = 0; i < axes; ++i) {
        plan_plane(&p, high[i], i, SIZE);
        plan_hold(&p, high[i], axis[i])->move[i] = (stretch - 1) * SIZE;
    }

    rig r = plan_build(&p, NULL);
    rig_solve(&r, NULL);
    pl_error err = {0};
    pl_reaction reaction[5];
    PL_CHECK_OK(pl_statics_reactions(r.statics, r.state, reaction));
    const double stress = reaction[3].force[0] / (SIZE * SIZE);
    rig_clear(&r);
    pl_mesh_destroy(mesh);

    return stress;
}

static void test_along_the_fibres_and_biaxial(void **state)
{
    (void)state;
    const pl_material one = fibred(1), two = fibred(2);
    const double stretch[] = {0.8, 1.1, 1.4};
    for (int i = 0; i < 3; ++i) {
        const double s = stretch[i];
        const double bar = block_stress(&one, 1, s), sheet = block_stress(&two, 2, s);
        const double bar_form = pl_material_uniaxial(&one, s), sheet_form = pl_material_sheet(&two, s, s);
        print_message("stretch %.1f: along the fibres %.6f (closed form %.6f), biaxial %.6f (%.6f) MPa\n", s,
                      bar, bar_form, sheet, sheet_form);
        PL_CHECK_NEAR(bar / bar_form, 1, 3e-3);
        PL_CHECK_NEAR(sheet / sheet_form, 1, 3e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_along_the_fibres_and_biaxial)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
