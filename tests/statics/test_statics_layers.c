// Thin stiff layers. A layer meshed as a solid of flat elements converges at rest, loaded and back at rest:
// the tolerance knows what rounding leaves of a balance.
#include "mesh/mesh.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49};

// A bar of 100 x 16 x 4 mm along x on a layer of `second` of thickness t, meshed with one flat row of cells.
static pl_mesh *layered_bar(double t)
{
    pl_error err = {0};
    const double size[3] = {100, 16, 6};
    pl_mesh *linear = NULL, *moved = NULL, *raised = NULL;
    int32_t region[13 * 2 * 3];
    for (int c = 0; c < 13 * 2 * 3; ++c) {
        region[c] = c < 13 * 2;
    }
    PL_CHECK_OK(box_mesh(13, 2, 3, size, NULL, region, &linear, &err));
    const pl_mesh_view v = pl_mesh_get(linear);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        memcpy(x + 3 * i, v.position + 3 * i, 3 * sizeof *x);
        x[3 * i + 2] = x[3 * i + 2] < 1 ? -t : x[3 * i + 2] - 2;
    }
    PL_CHECK_OK(pl_mesh_moved(linear, x, &moved, &err));
    free(x);
    PL_CHECK_OK(pl_mesh_raise(moved, &raised, &err));
    pl_mesh_destroy(linear);
    pl_mesh_destroy(moved);
    return raised;
}

static void test_flat_elements_converge(void **state)
{
    (void)state;
    static plan p;
    const pl_guide_def guide[] = {{.point = {0, 8, 4}}, {.point = {50, 8, 4}}, {.point = {100, 8, 4}}};
    const pl_statics_options options = pl_statics_options_default();
    const struct {
        double t, young;
    } layer[] = {{0.1, 20}, {0.1, 2000}, {0.5, 2000}};
    for (int i = 0; i < 3; ++i) {
        pl_mesh *mesh = layered_bar(layer[i].t);
        plan_init(&p, mesh, rubber);
        p.body[0].translation[0] = 300; // coordinates of a drawing need not start at the part
        p.material[p.def.material_count++] = (pl_material_def){
            .name = "paper", .material = {.model = PL_LINEAR, .young = layer[i].young, .poisson = 0.3}};
        p.region[p.def.region_count++] = (pl_region_def){.region = "second", .material = "paper"};
        plan_plane(&p, "base", 0, 0);
        plan_hold(&p, "base", "xyz");
        pl_guide_def moved[3];
        for (int k = 0; k < 3; ++k) {
            moved[k] = guide[k];
            moved[k].point[0] += 300;
        }
        plan_cable(&p, "tendon", moved, 3, PL_DRIVE_TENSION)->radius = 3;
        rig r = plan_build(&p, &options);
        const double command[] = {0, 0.5, 0};
        for (int k = 0; k < 3; ++k) {
            const pl_statics_report report = rig_try(&r, &command[k]);
            print_message("layer %.1f mm, %4.0f MPa, tension %.1f N: %s, %d iterations, %d factorisations, "
                          "residual %.1e N (relative %.1e), step %.1e mm\n",
                          layer[i].t, layer[i].young, command[k], pl_outcome_name(report.outcome),
                          report.iterations, report.factorizations, report.residual, report.residual_relative,
                          report.step);
            assert_int_equal(report.outcome, PL_SOLVED);
            PL_CHECK_BELOW(report.iterations, k == 0 ? 3 : 400);
        }
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flat_elements_converge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
