// Estimation: a full body with strings, whose true command differs from the one sent and which carries an
// unknown force. Without noise both are found; with noise the error bars cover the truth; outliers and
// missing readings are reported; a recursive estimator learns; placement prefers the strings that tell more.
#include <stdlib.h>
#include "pliant/control.h"
#include "model/model.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.45};
static const pl_guide_def top[] = {{.point = {0, 3, 6}}, {.point = {20, 3, 6}}, {.point = {40, 3, 6}}};
static const pl_guide_def string[][2] = {{{.point = {0, 0, 0}}, {.point = {40, 0, 0}}},
                                         {{.point = {0, 6, 0}}, {.point = {40, 6, 0}}},
                                         {{.point = {0, 0, 6}}, {.point = {40, 0, 6}}},
                                         {{.point = {0, 3, 3}}, {.point = {4, 3, 3}}}}; // the last is short
#define STRINGS 4

typedef struct bench {
    pl_mesh *mesh;
    pl_robot *robot;
    pl_model *truth, *model;
} bench;

static bench bench_make(void)
{
    static plan p;
    static const char *const name[] = {"a", "b", "c", "short"};
    bench b = {.mesh = tet_box(5, 1, 1, 40, 6, 6, 2, NULL)};

    plan_init(&p, b.mesh, rubber);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    plan_cable(&p, "up", top, 3, PL_DRIVE_TENSION)->radius = 2;
    for (int i = 0; i < STRINGS; ++i) {
        p.sensor[p.def.sensor_count++] = (pl_sensor_def){
            .name = name[i], .kind = PL_SENSOR_LENGTH, .guide = string[i], .guide_count = 2, .radius = 3};
    }

    const pl_statics_options options = tight_options();
    pl_error err = {0};
    b.robot = plan_robot(&p);
    PL_CHECK_OK(pl_model_from_robot(b.robot, &options, &b.truth, &err));
    PL_CHECK_OK(pl_model_from_robot(b.robot, &options, &b.model, &err));

    return b;
}

static void bench_clear(bench *b)
{
    pl_model_destroy(b->truth);
    pl_model_destroy(b->model);
    pl_robot_destroy(b->robot);
    pl_mesh_destroy(b->mesh);
}

static void bench_solve(bench *b, double tension, const double force[3])
{
    pl_error err = {0};
    pl_solve_report report;
    PL_CHECK_OK(pl_model_set_forces(b->truth, force, &err));
    PL_CHECK_OK(pl_model_fk(b->truth, &tension, &report, &err));
    assert_int_equal(report.outcome, PL_SOLVED);
}

static pl_estimator *bench_estimator(bench *b, double sigma, double command_sigma, bool recursive)
{
    static const int marker[] = {0};
    pl_measurement measured[STRINGS];

    for (int i = 0; i < STRINGS; ++i) {
        measured[i] = (pl_measurement){PL_MEASUREMENT_SENSOR, i, 0, sigma};
    }

    pl_estimator_options o = pl_estimator_options_default();
    o.measured = measured;
    o.measured_count = STRINGS;
    o.command_sigma = &command_sigma;
    o.force_marker = marker;
    o.force_count = 1;
    o.force_sigma = 0.05;
    o.recursive = recursive;
    pl_estimator *estimator = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_estimator_create(b->model, &o, &estimator, &err));

    return estimator;
}

static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        sum += rand() / (double)RAND_MAX;
    }
    return sum;
}

static const double force[3] = {0, 0.008, -0.006};

// Four strings against three components of force, the command exactly known.
static void test_finds_force(void **state)
{
    (void)state;
    bench b = bench_make();
    const double sent = 0.15;
    bench_solve(&b, sent, force);
    double value[STRINGS];
    memcpy(value, pl_model_get_answer(b.truth).sensor, sizeof value);
    pl_estimator *s = bench_estimator(&b, 1e-4, 0, false);
    pl_estimate e;
    pl_error err = {0};
    PL_CHECK_OK(pl_estimator_update(s, &sent, value, &e, &err));
    const double *tip = pl_model_get_answer(b.truth).marker;
    const double off =
        sqrt(pow(e.marker[0] - tip[0], 2) + pow(e.marker[1] - tip[1], 2) + pow(e.marker[2] - tip[2], 2));
    print_message("force %.5f %.5f %.5f N, tip %.1e mm off, %d iterations, sigma of fz %.1e N\n", e.force[0],
                  e.force[1], e.force[2], off, e.iterations, e.force_sigma[2]);
    assert_true(e.converged);
    PL_CHECK_NEAR(off, 0, 0.01);
    PL_CHECK_NEAR(e.force[1], force[1], 0.02 * force[1]);
    PL_CHECK_NEAR(e.force[2], force[2], -0.02 * force[2]);
    assert_int_equal(e.outliers + e.missing, 0);

    // one reading missing, then one wrong by 5 mm: reported, and the tip hardly worse
    value[3] = NAN;
    PL_CHECK_OK(pl_estimator_update(s, &sent, value, &e, &err));
    assert_int_equal(e.missing, 1);
    assert_true(isnan(e.residual[3]));
    pl_estimator_destroy(s);
    bench_clear(&b);
}

// The tension that acts is not the one sent; no force.
static void test_finds_command(void **state)
{
    (void)state;
    bench b = bench_make();
    const double none[3] = {0}, sent = 0.15, really = 0.19;
    bench_solve(&b, really, none);
    double value[STRINGS];
    memcpy(value, pl_model_get_answer(b.truth).sensor, sizeof value);
    pl_measurement measured[STRINGS];
    for (int i = 0; i < STRINGS; ++i) {
        measured[i] = (pl_measurement){PL_MEASUREMENT_SENSOR, i, 0, 0.02};
    }

    const double sigma = INFINITY;
    pl_estimator_options o = pl_estimator_options_default();
    o.measured = measured;
    o.measured_count = STRINGS;
    o.command_sigma = &sigma;
    pl_estimator *s = NULL;
    pl_estimate e;
    pl_error err = {0};
    PL_CHECK_OK(pl_estimator_create(b.model, &o, &s, &err));
    PL_CHECK_OK(pl_estimator_update(s, &sent, value, &e, &err));
    print_message("tension %.6f N (sent %.2f, acts %.2f), %d iterations\n", e.command[0], sent, really,
                  e.iterations);
    assert_true(e.converged);
    PL_CHECK_NEAR(e.command[0], really, 1e-4);
    assert_int_equal(e.unseen_count, 0);

    // a string that slipped by 5 mm
    value[1] += 5;
    PL_CHECK_OK(pl_estimator_update(s, &sent, value, &e, &err));
    print_message("with one wrong string %.4f N, %d outlier\n", e.command[0], e.outliers);
    assert_int_equal(e.outliers, 1);
    PL_CHECK_NEAR(e.command[0], really, 0.01);
    pl_estimator_destroy(s);
    bench_clear(&b);
}

// 95 % bars of the tip cover the truth in 95 % of noisy readings; the fit is about 1.
static void test_error_bars(void **state)
{
    (void)state;
    bench b = bench_make();
    const double sent = 0.15, sigma = 0.02;
    pl_estimator *s = bench_estimator(&b, sigma, 0, false);
    pl_error err = {0};
    int inside = 0, total = 0;
    srand(11);
    for (int k = 0; k < 120; ++k) {
        // forces are drawn from what the estimator is reported about them
        const double f[3] = {0.05 * normal() * 0.2, 0.01 * normal(), 0.01 * normal()};
        double value[STRINGS], tip[3];
        bench_solve(&b, sent, f);
        memcpy(tip, pl_model_get_answer(b.truth).marker, sizeof tip);
        for (int i = 0; i < STRINGS; ++i) {
            value[i] = pl_model_get_answer(b.truth).sensor[i] + sigma * normal();
        }
        pl_estimate e;
        PL_CHECK_OK(pl_estimator_update(s, &sent, value, &e, &err));
        for (int i = 0; i < 3; ++i) {
            inside += fabs(e.marker[i] - tip[i]) < 1.96 * e.marker_sigma[i];
            ++total;
        }
    }

    const double share = (double)inside / total;
    print_message("95 %% bars cover %.1f %% of %d coordinates\n", 100 * share, total);
    assert_true(share > 0.90 && share < 0.99);
    pl_estimator_destroy(s);
    bench_clear(&b);
}

// Repeated readings of the same pose: the error bars shrink, and the force stays right.
static void test_recursive(void **state)
{
    (void)state;
    bench b = bench_make();
    const double sent = 0.15, sigma = 0.05;
    bench_solve(&b, sent, force);
    pl_estimator *s = bench_estimator(&b, sigma, 0, true);
    pl_estimate e = {0};
    pl_error err = {0};
    double first = 0;
    srand(5);
    for (int k = 0; k < 16; ++k) {
        double value[STRINGS];
        for (int i = 0; i < STRINGS; ++i) {
            value[i] = pl_model_get_answer(b.truth).sensor[i] + sigma * normal();
        }
        PL_CHECK_OK(pl_estimator_update(s, &sent, value, &e, &err));
        first = k == 0 ? e.force_sigma[2] : first;
    }

    print_message("sigma of fz %.2e N at first, %.2e after 16; force %.5f\n", first, e.force_sigma[2],
                  e.force[2]);
    assert_true(e.force_sigma[2] < 0.35 * first);
    assert_true(fabs(e.force[2] - force[2]) < 4 * e.force_sigma[2]);
    pl_estimator_destroy(s);
    bench_clear(&b);
}

// The short string near the base tells least about the tip.
static void test_place(void **state)
{
    (void)state;
    bench b = bench_make();
    pl_estimator *s = bench_estimator(&b, 0.02, 0, false);
    const double pose[3] = {0.05, 0.1, 0.2};
    int order[STRINGS];
    double sigma[STRINGS];
    pl_error err = {0};
    PL_CHECK_OK(pl_estimator_place(s, pose, 3, 0, order, sigma, &err));
    print_message("order %d %d %d %d; error of the tip %.3f %.3f %.3f %.3f mm\n", order[0], order[1],
                  order[2], order[3], sigma[0], sigma[1], sigma[2], sigma[3]);
    assert_int_equal(order[3], 3);
    for (int k = 1; k < STRINGS; ++k) {
        assert_true(sigma[k] <= sigma[k - 1] * (1 + 1e-9));
    }
    assert_true(sigma[2] < 0.3 * sigma[0]);
    pl_estimator_destroy(s);
    bench_clear(&b);
}

// A body stiffer by 1 + x has the shape of the model at 1 / (1 + x) of its tensions and fields, and at
// (1 + x)^(-1/2) of its voltages: strings tell the stiffness, and from it the tip, for each of them.
static void test_finds_stiffness(void **state)
{
    (void)state;
    static const struct {
        pl_drive drive;
        double sent;
    } kind[] = {{PL_DRIVE_TENSION, 0.15}, {PL_DRIVE_VOLTAGE, 40000}, {PL_DRIVE_FIELD, 8e-9}};
    const double truth[] = {0.15, -0.12};
    for (int k = 0; k < 6; ++k) {
        static plan p[2];
        pl_mesh *mesh = tet_box(5, 1, 1, 40, 6, 6, 2, NULL);
        pl_robot *robot[2];
        pl_model *model[2];
        pl_error err = {0};
        const pl_statics_options options = tight_options();
        for (int i = 0; i < 2; ++i) {
            pl_material material = rubber;
            material.c10 *= i ? 1 + truth[k / 3] : 1;
            plan_init(&p[i], mesh, material);
            plan_plane(&p[i], "base", 0, 0);
            plan_plane(&p[i], "tip", 0, 40);
            plan_plane(&p[i], "side", 2, 6);
            plan_hold(&p[i], "base", "xyz");
            plan_marker(&p[i], "tip", "tip");
            if (kind[k % 3].drive == PL_DRIVE_TENSION) {
                plan_cable(&p[i], "a", top, 3, PL_DRIVE_TENSION)->radius = 2;
            } else if (kind[k % 3].drive == PL_DRIVE_VOLTAGE) {
                plan_film(&p[i], "a", "side", PL_DRIVE_VOLTAGE);
            } else {
                p[i].actuator[p[i].def.actuator_count++] = (pl_actuator_def){.name = "a",
                                                                             .kind = PL_MAGNET,
                                                                             .drive = PL_DRIVE_FIELD,
                                                                             .region = "body",
                                                                             .remanence = {1e-7, 0, 0},
                                                                             .direction = {0, 0, 1}};
            }
            for (int j = 0; j < STRINGS; ++j) {
                p[i].sensor[p[i].def.sensor_count++] = (pl_sensor_def){.name = "abcd" + j,
                                                                       .kind = PL_SENSOR_LENGTH,
                                                                       .guide = string[j],
                                                                       .guide_count = 2,
                                                                       .radius = 3};
            }
            robot[i] = plan_robot(&p[i]);
            PL_CHECK_OK(pl_model_from_robot(robot[i], &options, &model[i], &err));
        }

        pl_solve_report report;
        PL_CHECK_OK(pl_model_fk(model[1], &kind[k % 3].sent, &report, &err));
        assert_int_equal(report.outcome, PL_SOLVED);
        double value[STRINGS];
        memcpy(value, pl_model_get_answer(model[1]).sensor, sizeof value);
        pl_measurement measured[STRINGS];
        for (int j = 0; j < STRINGS; ++j) {
            measured[j] = (pl_measurement){PL_MEASUREMENT_SENSOR, j, 0, 1e-5};
        }
        pl_estimator_options o = pl_estimator_options_default();
        o.measured = measured;
        o.measured_count = STRINGS;
        o.stiffness_sigma = 0.2;
        pl_estimator *s = NULL;
        pl_estimate e;
        PL_CHECK_OK(pl_estimator_create(model[0], &o, &s, &err));
        PL_CHECK_OK(pl_estimator_update(s, &kind[k % 3].sent, value, &e, &err));
        assert_true(e.converged);
        const double *tip = pl_model_get_answer(model[1]).marker;
        const double off =
            sqrt(pow(e.marker[0] - tip[0], 2) + pow(e.marker[1] - tip[1], 2) + pow(e.marker[2] - tip[2], 2));
        print_message("%s: stiffness %+.6f of %+.2f +- %.1e, tip %.1e mm off (moved %.3f mm)\n",
                      pl_drive_name(kind[k % 3].drive), e.stiffness, truth[k / 3], e.stiffness_error, off,
                      sqrt(pow(tip[0] - 40, 2) + pow(tip[1] - 3, 2) + pow(tip[2] - 3, 2)));
        PL_CHECK_NEAR(e.stiffness, truth[k / 3], 1e-3);
        PL_CHECK_NEAR(off, 0, 1e-3);
        pl_estimator_destroy(s);
        for (int i = 0; i < 2; ++i) {
            pl_model_destroy(model[i]);
            pl_robot_destroy(robot[i]);
        }
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_force), cmocka_unit_test(test_finds_command),
        cmocka_unit_test(test_error_bars),  cmocka_unit_test(test_recursive),
        cmocka_unit_test(test_place),       cmocka_unit_test(test_finds_stiffness)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
