// Around the models: tubes, the inverse, and the fit to a full body whose section stiffness is known.
#include "reduced_robot.h"
#include "model/model.h"
#include "statics_robot.h"

static pl_model *trunk(void)
{
    static const char *const name[] = {"l1", "l2", "l3", "l4", "l5", "l6"};
    line_plan p;

    line_init(&p, PL_CONSTANT_CURVATURE);
    for (int k = 0; k < 2; ++k) {
        p.section[p.def.section_count++] =
            (pl_section_def){.name = k ? "upper" : "lower", .length = 103, .diameter = {90, 90}, .pieces = 1};
        for (int i = 0; i < 3; ++i) {
            pl_line_actuator_def *a = line_actuator(&p, name[3 * k + i], PL_CABLE, PL_DRIVE_LENGTH, 103 * k,
                                                    103 * (k + 1), 45, 2 * PL_PI * i / 3);
            a->has_range = true;
            a->range[0] = 85;
            a->range[1] = 135;
        }
    }

    line_marker(&p, "tip", 206);

    return line_build(&p);
}

static void test_reach(void **state)
{
    (void)state;
    pl_model *model = trunk();
    pl_random random;
    pl_random_seed(&random, 5);
    pl_error err = {0};
    for (int i = 0; i < 200; ++i) {
        double command[6], target[3], reached;
        for (int c = 0; c < 6; ++c) {
            command[c] = pl_random_uniform(&random, 90, 130);
        }
        memcpy(target, line_tip(model, command), sizeof target);
        pl_model_reset(model);
        PL_CHECK_OK(pl_reduced_reach(model, 0, target, 1e-6, command, &reached, &err));
        PL_CHECK_BELOW(reached, 1e-6);
        for (int c = 0; c < 6; ++c) {
            assert_true(command[c] >= 85 - 1e-9 && command[c] <= 135 + 1e-9);
        }
    }

    // beyond reach: the bounds hold, and straight up is the best it can do
    double command[6], reached;
    pl_model_reset(model);
    PL_CHECK_OK(pl_reduced_reach(model, 0, (const double[3]){0, 0, 400}, 1e-6, command, &reached, &err));
    PL_CHECK_NEAR(reached, 400 - 270, 0.5);
    pl_model_destroy(model);
}

static void test_tube_follows_the_line(void **state)
{
    (void)state;

    // the volume of a tube at rest is that of its polygon; bent, its end faces stay where the frames are
    pl_model *model = trunk();
    const pl_mesh *tube = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_body(model, &tube, &err));
    const double polygon = 24 * 0.5 * 45 * 45 * sin(2 * PL_PI / 24);
    PL_CHECK_NEAR(pl_mesh_region_volume(tube, -1), polygon * 206, 1e-6 * polygon * 206);
    const pl_mesh_view v = pl_mesh_get(tube);
    double *x = calloc(3 * (size_t)v.vertex_count, sizeof *x);
    const double command[6] = {95, 110, 104, 120, 99, 103};
    line_solve(model, command);
    pl_model_shape(model, x);
    const double *tip = pl_model_get_answer(model).marker, *last = x + 3 * (v.vertex_count - 25);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(last[i], tip[i], 1e-10);
    }

    // an actuator's path starts on the base circle
    double path[300];
    assert_true(pl_model_line(model, 0, path, 100) > 2);
    PL_CHECK_NEAR(path[0], 45, 1e-12);
    free(x);
    pl_model_destroy(model);
}

// Memory that runs out at the n-th request.
static void *failing_realloc(void *user, void *block, size_t bytes)
{
    long *left = user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    return --*left < 0 ? NULL : realloc(block, bytes);
}

static void test_no_memory_is_a_status(void **state)
{
    (void)state;
    static const pl_reduced_kind kinds[] = {PL_BEAM, PL_ROD, PL_CONSTANT_CURVATURE, PL_VERTEBRAE};
    for (int k = 0; k < 5; ++k) {
        line_plan p;
        line_init(&p, kinds[k % 4]);
        p.def.as_published = k == 4; // beam a second time
        line_section(&p, "s", 100, 12, 1, 0.33, 4);
        for (int i = 0; i < 3; ++i) {
            static const char *const name[] = {"a", "b", "c"};
            line_actuator(&p, name[i], k == 4 ? PL_CHAMBER : PL_CABLE,
                          k == 4 ? PL_DRIVE_PRESSURE : PL_DRIVE_LENGTH, 0, 100, 5, 2 * PL_PI * i / 3);
        }
        line_marker(&p, "tip", 100);
        p.def.section = p.section, p.def.actuator = p.actuator, p.def.marker = p.marker;
        pl_status status = PL_NO_MEMORY;
        long n = 0;
        for (; status == PL_NO_MEMORY && n < 1000; ++n) {
            long left = n;
            pl_model *model = NULL;
            pl_memory_set(failing_realloc, &left);
            status = pl_reduced_create(&p.def, &model, NULL, NULL);
            assert_true((status == PL_OK) == (model != NULL));
            pl_model_destroy(model);
            pl_memory_set(NULL, NULL);
        }
        assert_int_equal(status, PL_OK);
        assert_true(n > 10);
    }
}

// A bar along x of `across` squared times ten cells, held at x = 0, with the loads of a probe at its tip and
// `count` cables: above its axis, and beside it.
static pl_model *bar(rig *r, pl_mesh **mesh, int across, int count, double off, pl_drive drive,
                     const double range[2])
{
    static plan p;

    // guides so dense that the cables follow the bent bar
    static pl_guide_def guide[2][21];

    for (int i = 0; i < 21; ++i) {
        guide[0][i] = (pl_guide_def){.point = {2 * i, 2, 2 + off}};
        guide[1][i] = (pl_guide_def){.point = {2 * i, 2 + off, 2}};
    }

    *mesh = tet_box(10, across, across, 40, 4, 4, 2, NULL);
    plan_init(&p, *mesh, (pl_material){.model = PL_LINEAR, .young = 2, .poisson = 0.3});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    for (int k = 0; k < count; ++k) {
        pl_actuator_def *a = plan_cable(&p, k ? "beside" : "above", guide[k], 21, drive);
        a->radius = 1;
        a->has_range = true;
        memcpy(a->range, range, sizeof a->range);
    }

    for (int i = -1; i < 3; ++i) {
        pl_force_def *f = &p.force[p.def.force_count++];
        *f = (pl_force_def){.marker = "tip"};
        if (i >= 0) {
            f->moment[i] = PL_PROBE_MOMENT;
        }
    }

    const pl_statics_options options = tight_options();
    *r = plan_build(&p, &options);
    pl_error err = {0};
    pl_model *model = NULL;
    PL_CHECK_OK(pl_model_from_robot(r->robot, &options, &model, &err));

    return model;
}

static void test_fit_finds_the_section(void **state)
{
    (void)state;
    rig r = {0};
    pl_mesh *mesh = NULL;
    pl_model *full = bar(&r, &mesh, 2, 1, 1, PL_DRIVE_TENSION, (const double[2]){0, 0.5});
    pl_reduce_options options = pl_reduce_options_default();
    options.sample_count = 4;
    pl_reduction *reduction = NULL;
    pl_reduce_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_reduce(full, &options, &reduction, &report, &err));
    const pl_section_def *s = pl_reduction_def(reduction)->section;
    const pl_line_actuator_def *a = pl_reduction_def(reduction)->actuator;
    print_message(
        "EA %.3f (32), EI %.3f %.3f (42.67), GJ %.3f (27.7), radius %.3f (1), off by %.3f of %.3f mm\n",
        s->EA, s->EI[0], s->EI[1], s->GJ, a->path.radius[0], report.position_rms, report.motion);
    PL_CHECK_NEAR(report.length, 40, 1e-9);
    PL_CHECK_NEAR(s->EA, 2 * 16, 0.03 * 32);
    PL_CHECK_NEAR(s->EI[0], 2 * 256 / 12.0, 0.05 * 43);
    PL_CHECK_NEAR(s->EI[1], 2 * 256 / 12.0, 0.05 * 43);
    PL_CHECK_NEAR(s->GJ, 2 / 2.6 * 0.1406 * 256, 0.1 * 28);
    PL_CHECK_NEAR(a->path.radius[0], 1, 0.15);
    PL_CHECK_BELOW(report.position_rms, 0.1 * report.motion);
    pl_reduction_destroy(reduction);
    pl_model_destroy(full);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// A payload on the full bar and on the rod fitted to it: the fit saw no payload, the compliance it is built
// from is that of a force at the tip.
static void test_payload_on_the_bar_and_its_rod(void **state)
{
    (void)state;
    rig r = {0};
    pl_mesh *mesh = NULL;
    pl_model *full = bar(&r, &mesh, 2, 1, 1, PL_DRIVE_TENSION, (const double[2]){0, 0.5}), *rod = NULL;
    pl_reduce_options options = pl_reduce_options_default();
    options.sample_count = 2;
    pl_reduction *reduction = NULL;
    pl_reduce_report fit;
    pl_error err = {0};
    PL_CHECK_OK(pl_reduce(full, &options, &reduction, &fit, &err));
    PL_CHECK_OK(pl_reduced_create(pl_reduction_def(reduction), &rod, NULL, &err));
    static const double load[3][3] = {{0, 0, -0.005}, {0.01, 0.008, 0}, {0, 0.01, 0.01}};
    for (int i = 0; i < 3; ++i) {
        const double tension = 0.1 * i, rest[3] = {40, 2, 2};
        double off = 0, motion = 0;
        pl_model *const both[2] = {full, rod};
        double tip[2][3];
        for (int k = 0; k < 2; ++k) {
            PL_CHECK_OK(pl_model_set_forces(both[k], load[i], &err));
            memcpy(tip[k], line_tip(both[k], &tension), sizeof tip[k]);
        }
        for (int k = 0; k < 3; ++k) {
            off += (tip[0][k] - tip[1][k]) * (tip[0][k] - tip[1][k]);
            motion += (tip[0][k] - rest[k]) * (tip[0][k] - rest[k]);
        }
        print_message("payload %d: the tip moves %.4f mm, the rod is %.4f mm off\n", i, sqrt(motion),
                      sqrt(off));
        PL_CHECK_BELOW(sqrt(off), 0.03 * sqrt(motion));
        // its errors were measured without a payload
        const pl_answer_error error = pl_model_get_answer(rod).error;
        assert_true(isnan(error.marker[0]) && error.unknown);
    }

    pl_model_destroy(rod);
    pl_reduction_destroy(reduction);
    pl_model_destroy(full);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// Where a cable lies does not depend on how it is driven, nor on the other cable: at rest and at a share.
static void test_fit_by_every_drive(void **state)
{
    (void)state;
    static const struct {
        pl_drive drive;
        double range[2], share;
    } by[] = {{PL_DRIVE_TENSION, {0, 0.4}, 0.75},
              {PL_DRIVE_SHORTENING, {0, 1.5}, 0.75},
              {PL_DRIVE_LENGTH_RATIO, {0.96, 1}, 0},
              {PL_DRIVE_LENGTH, {38.5, 41}, 0.75}};
    for (int k = 0; k < PL_COUNT(by); ++k) {
        rig r = {0};
        pl_mesh *mesh = NULL;
        pl_model *full = bar(&r, &mesh, 1, 2, 1.2, by[k].drive, by[k].range);
        pl_reduce_options options = pl_reduce_options_default();
        options.sample_count = 2;
        options.load_share = by[k].share;
        pl_reduction *reduction = NULL;
        pl_reduce_report report;
        pl_error err = {0};
        PL_CHECK_OK(pl_reduce(full, &options, &reduction, &report, &err));
        const pl_reduced_def *def = pl_reduction_def(reduction);
        print_message("%s: off by %.3f of %.3f mm; cables at", pl_drive_name(by[k].drive),
                      report.position_rms, report.motion);
        for (int i = 0; i < 2; ++i) {
            // its place across the bar, in the world
            const pl_line_path_def *path = &def->actuator[i].path;
            const double x = path->radius[0] * cos(path->angle), y = path->radius[0] * sin(path->angle);
            double at[3];
            for (int j = 0; j < 3; ++j) {
                at[j] = x * def->frame[3 * j] + y * def->frame[3 * j + 1];
            }
            print_message(" %.3f %.3f", at[1], at[2]);
            PL_CHECK_NEAR(at[1], i ? 1.2 : 0, 0.06);
            PL_CHECK_NEAR(at[2], i ? 0 : 1.2, 0.06);
        }
        print_message(", %d solves\n", report.solves);
        assert_int_equal(report.sample_count, 2);
        PL_CHECK_BELOW(report.position_rms, 0.05 * report.motion);
        pl_reduction_destroy(reduction);
        pl_model_destroy(full);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_tube_follows_the_line),
        cmocka_unit_test(test_no_memory_is_a_status),
        cmocka_unit_test(test_fit_finds_the_section),
        cmocka_unit_test(test_payload_on_the_bar_and_its_rod),
        cmocka_unit_test(test_fit_by_every_drive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
