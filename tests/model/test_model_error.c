// The error of a mesh: strains that are the same everywhere do not jump, the linear response is that of a
// small load, and the estimate of a coarse mesh is near to what a finer one shows.
#include "pliant/model.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47};
static const pl_guide_def guide[] = {{.point = {0, 3, 5}}, {.point = {20, 3, 5}}, {.point = {40, 3, 5}}};

static void bar_plan(plan *p, const pl_mesh *mesh, pl_drive drive)
{
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 40);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
    plan_cable(p, "tendon", guide, 3, drive)->radius = 2;
}

// Held so that it stretches evenly: no jumps. The same block twisted by a force: some, fewer on a finer mesh.
static void test_patch(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(4, 2, 2, 40, 6, 6, 2, NULL);
    plan_init(&p, mesh, rubber);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_plane(&p, "side", 1, 0);
    plan_plane(&p, "floor", 2, 0);
    plan_hold(&p, "base", "x");
    plan_hold(&p, "side", "y");
    plan_hold(&p, "floor", "z");
    pl_fixed_def *pulled = plan_hold(&p, "tip", "x");
    pulled->move[0] = 8;
    rig r = plan_build(&p, NULL);
    rig_solve(&r, NULL);
    pl_error err = {0};
    double share, *per_element = calloc((size_t)pl_mesh_get(mesh).element_count, sizeof *per_element);
    PL_CHECK_OK(pl_statics_strain_jumps(r.statics, r.state, &share, per_element, &err));
    PL_CHECK_BELOW(share, 1e-12);
    free(per_element);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

static void test_response(void **state)
{
    (void)state;
    static const pl_drive drive[] = {PL_DRIVE_TENSION, PL_DRIVE_SHORTENING};
    static const double small[] = {1e-5, 1e-4};
    for (int k = 0; k < 2; ++k) {
        static plan p;
        pl_error err = {0};
        double response[3];
        pl_mesh *mesh = tet_box(8, 2, 2, 40, 6, 6, 2, NULL);
        bar_plan(&p, mesh, drive[k]);
        rig r = plan_build(&p, NULL);
        PL_CHECK_OK(pl_statics_response(r.statics, &small[k], response, &err));
        rig_solve(&r, &small[k]);
        const pl_marker_result tip = pl_statics_marker(r.statics, r.state, 0);
        for (int i = 0; i < 3; ++i) {
            PL_CHECK_NEAR(response[i], tip.displacement[i], 2e-3 * fabs(tip.displacement[2]));
        }
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

// A bar of one element through its height: 2 x 1 x 1 cells against 16 x 3 x 3.
static void test_estimate(void **state)
{
    (void)state;
    static plan p;
    pl_error err = {0};
    const double command = 0.02;
    pl_mesh *mesh[3] = {tet_box(2, 1, 1, 40, 6, 6, 2, NULL), NULL, tet_box(16, 3, 3, 40, 6, 6, 2, NULL)};
    uint8_t *all = malloc((size_t)pl_mesh_get(mesh[0]).element_count);
    memset(all, 1, (size_t)pl_mesh_get(mesh[0]).element_count);
    PL_CHECK_OK(pl_mesh_refine(mesh[0], all, &mesh[1], &err));
    double moved[3];
    pl_model *model[3];
    pl_robot *robot[3];
    const pl_statics_options options = tight_options();
    for (int i = 0; i < 3; ++i) {
        bar_plan(&p, mesh[i], PL_DRIVE_TENSION);
        robot[i] = plan_robot(&p);
        PL_CHECK_OK(pl_model_from_robot(robot[i], &options, &model[i], &err));
        pl_statics_report report;
        PL_CHECK_OK(pl_model_fk(model[i], &command, &report, &err));
        moved[i] = pl_model_get_answer(model[i]).marker[2] - 3;
    }
    pl_mesh_error first, second, fine;
    const pl_record *record;
    char text[300];
    PL_CHECK_OK(pl_model_record(model[0], NULL, &record, &err));
    assert_true(isnan(record->mesh_error.relative)); // nobody asked
    assert_false(pl_record_mesh_error_text(record, text, sizeof text));
    PL_CHECK_OK(pl_model_mesh_error(model[0], NULL, &first, &err));
    const pl_refinement refined = {.model = model[1], .share = 1, .levels = 1};
    PL_CHECK_OK(pl_model_mesh_error(model[0], &refined, &second, &err));
    PL_CHECK_OK(pl_model_mesh_error(model[2], NULL, &fine, &err));
    const double truth = 1 - moved[0] / moved[2];
    print_message("true error %.4f, from the jumps %.4f, second level %.4f; fine mesh %.4f\n", truth,
                  first.relative, second.relative, fine.relative);
    assert_true(second.second_level && !first.second_level);
    PL_CHECK_NEAR(second.relative, truth, 0.5 * truth);
    PL_CHECK_BELOW(fine.relative, first.relative / 2);
    PL_CHECK_OK(pl_model_record(model[0], NULL, &record, &err));
    PL_CHECK_NEAR(record->mesh_error.relative, second.relative, 0);
    assert_int_equal(pl_record_mesh_error_text(record, text, sizeof text),
                     second.relative > PL_MESH_ERROR_LIMIT);
    // a result that has moved has no estimate
    pl_model_reset(model[0]);
    PL_CHECK_OK(pl_model_record(model[0], NULL, &record, &err));
    assert_true(isnan(record->mesh_error.relative));
    // and one that has not moved none of its motion, only noise
    const double rest = NAN;
    pl_statics_report report;
    PL_CHECK_OK(pl_model_fk(model[0], &rest, &report, &err));
    PL_CHECK_OK(pl_model_mesh_error(model[0], NULL, &first, &err));
    assert_true(isnan(first.relative));
    for (int i = 0; i < 3; ++i) {
        pl_model_destroy(model[i]);
        pl_robot_destroy(robot[i]);
        pl_mesh_destroy(mesh[i]);
    }
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patch), cmocka_unit_test(test_response),
                                       cmocka_unit_test(test_estimate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
