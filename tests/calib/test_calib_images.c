// Bundle adjustment: from the pixels of its markers in two cameras the modulus of a bar and its place before
// them are found together, exactly from exact pixels, and within their intervals from noisy ones; a marker
// that one camera does not see, and a robot seen by one camera only, are no obstacle.
#include <math.h>
#include <stdlib.h>
#include "bar_robot.h"
#include "base/rotation.h"
#include "base/vec.h"
#include "camera/camera.h"
#include "check.h"
#include "pliant/calib.h"

enum { ROWS = 4, C = 2, M = 3, CAMERAS = 2 };
#define YOUNG 0.62

static pl_mesh *mesh[300];
static pl_robot *robot[300];
static int made;

static pl_status build(void *user, const double *value, pl_model **out, pl_error *err)
{
    (void)user;
    static const pl_guide_def top[3] = {{.point = {0, 4, 7}}, {.point = {20, 4, 7}}, {.point = {38, 4, 7}}};
    static const pl_guide_def side[3] = {{.point = {0, 7, 4}}, {.point = {20, 7, 4}}, {.point = {38, 7, 4}}};
    static plan p;
    mesh[made] = tet_box(5, 1, 1, 40, 8, 8, 1, NULL);
    plan_init(&p, mesh[made], (pl_material){.model = PL_LINEAR, .young = value[0], .poisson = 0.3});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_hold(&p, "base", "xyz");
    plan_cable(&p, "top", top, 3, PL_DRIVE_TENSION)->radius = 3;
    plan_cable(&p, "side", side, 3, PL_DRIVE_TENSION)->radius = 3;
    plan_marker(&p, "tip", "tip");
    p.marker[p.def.marker_count++] = (pl_marker_def){.name = "middle", .at = {20, 0, 8}};
    p.marker[p.def.marker_count++] = (pl_marker_def){.name = "foot", .at = {2, 8, 8}};
    robot[made] = plan_robot(&p);
    const pl_statics_options options = tight_options();

    return pl_model_from_robot(robot[made++], &options, out, err);
}

static void forget(void)
{
    while (made > 0) {
        --made;
        pl_robot_destroy(robot[made]);
        pl_mesh_destroy(mesh[made]);
    }
}

static const pl_camera camera[CAMERAS] = {{.fx = 700,
                                           .fy = 690,
                                           .cx = 320,
                                           .cy = 235,
                                           .k1 = -0.2,
                                           .k2 = 0.06,
                                           .p1 = 5e-4,
                                           .width = 640,
                                           .height = 480},
                                          {.fx = 710,
                                           .fy = 705,
                                           .cx = 315,
                                           .cy = 240,
                                           .k1 = -0.18,
                                           .k2 = 0.05,
                                           .p2 = 4e-4,
                                           .width = 640,
                                           .height = 480}};
static const double command[ROWS * C] = {0.4, 0, 0, 0.5, 0.7, 0.3, 0.2, 0.6};
static const double place[6] = {-15, 5, 150, 0.4, -0.3, 0.5};

static void rig_make(pl_camera_pose seen_from[CAMERAS])
{
    seen_from[0] = (pl_camera_pose){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    seen_from[1] = (pl_camera_pose){.t = {-60, 1, 12}};
    pl_rotation_exp((double[3]){0.02, -0.35, 0}, seen_from[1].R);
}

// Positions of the markers in the first camera's frame, and their pixels.
static void measure(const pl_camera_pose *seen_from, double *own, double *position, double *pixel)
{
    pl_model *m = NULL;
    pl_error err = {0};
    double R[9];

    pl_rotation_exp(place + 3, R);
    PL_CHECK_OK(build(NULL, (double[]){YOUNG}, &m, &err));
    for (int r = 0; r < ROWS; ++r) {
        pl_solve_report report;
        PL_CHECK_OK(pl_model_fk(m, command + C * r, &report, &err));
        assert_int_equal(report.outcome, PL_SOLVED);
        for (int k = 0; k < M; ++k) {
            const double *p = pl_model_get_answer(m).marker + 3 * k;
            double *q = position + 3 * (r * M + k);
            memcpy(own + 3 * (r * M + k), p, 3 * sizeof *p);
            pl_mulv3(R, p, q);
            for (int i = 0; i < 3; ++i) {
                q[i] += place[i];
            }
            for (int c = 0; c < CAMERAS; ++c) {
                assert_true(pl_camera_project(&camera[c], &seen_from[c], q,
                                              pixel + 2 * ((r * M + k) * CAMERAS + c), NULL, NULL, NULL));
            }
        }
    }

    pl_model_destroy(m);
}

static pl_poses_report calibrate(const pl_camera_pose *seen_from, int cameras, const double *pixel,
                                 const double *start)
{
    pl_pose_parameter list[7] = {
        {.name = "young", .kind = PL_POSE_MATERIAL, .part = PL_YOUNG, .unit = 1, .value = 0.8}};
    static const char *const name[6] = {"base.x", "base.y", "base.z", "base.rx", "base.ry", "base.rz"};

    for (int k = 0; k < 6; ++k) {
        list[1 + k] = (pl_pose_parameter){.name = name[k],
                                          .kind = PL_POSE_BASE,
                                          .index = k,
                                          .unit = 1,
                                          .value = start[k],
                                          .scale = k < 3 ? 1 : 0.02};
    }

    const pl_poses_def def = {.parameter = list,
                              .parameter_count = 7,
                              .row_count = ROWS,
                              .command_count = C,
                              .marker_count = M,
                              .command = command,
                              .camera = camera,
                              .rig = seen_from,
                              .camera_count = cameras,
                              .pixel = pixel,
                              .build = build,
                              .iteration_limit = 40};
    double predicted[3 * ROWS * M];
    pl_poses_report r;
    pl_error err = {0};
    PL_CHECK_OK(pl_poses_calibrate(&def, predicted, &r, &err));
    assert_true(r.converged);

    return r;
}

static void test_exact_pixels(void **state)
{
    (void)state;
    pl_camera_pose seen_from[CAMERAS];
    double own[3 * ROWS * M], position[3 * ROWS * M], pixel[2 * ROWS * M * CAMERAS], base[6];
    rig_make(seen_from);
    measure(seen_from, own, position, pixel);

    // the start: positions fitted to positions
    assert_true(pl_poses_place(own, position, ROWS * M, base));
    for (int i = 0; i < 6; ++i) {
        PL_CHECK_NEAR(base[i], place[i], 1e-8);
    }
    assert_false(pl_poses_place(own, position, 2, base));
    const double start[6] = {-13, 3, 156, 0.45, -0.25, 0.46};
    pixel[2 * (1 * M * CAMERAS) + 2] = NAN; // the second camera misses the tip once
    pl_poses_report r = calibrate(seen_from, CAMERAS, pixel, start);
    print_message("two cameras: young %.6f, %.1e -> %.1e pixels, %d steps\n", r.value[0], r.rms_start,
                  r.rms_fit, r.iterations);
    PL_CHECK_NEAR(r.value[0], YOUNG, 1e-4);
    PL_CHECK_NEAR(r.value[3], place[2], 0.01);
    PL_CHECK_BELOW(r.rms_fit, 0.01);

    double one[2 * ROWS * M];
    for (int k = 0; k < ROWS * M; ++k) {
        memcpy(one + 2 * k, pixel + 2 * k * CAMERAS, 2 * sizeof *one);
    }
    r = calibrate(seen_from, 1, one, start);
    print_message("one camera: young %.6f, %.1e pixels\n", r.value[0], r.rms_fit);
    PL_CHECK_NEAR(r.value[0], YOUNG, 1e-3);
    forget();
}

// 10 seeds of 0.2 pixels: of 70 intervals about 66 contain the truth (validation/cameras has 100 seeds of
// pictures).
static void test_noisy_pixels(void **state)
{
    (void)state;
    pl_camera_pose seen_from[CAMERAS];
    double own[3 * ROWS * M], position[3 * ROWS * M], exact[2 * ROWS * M * CAMERAS],
        pixel[2 * ROWS * M * CAMERAS];
    int covered = 0;
    double worst = 0;
    rig_make(seen_from);
    measure(seen_from, own, position, exact);
    for (int seed = 1; seed <= 10; ++seed) {
        pl_random random;
        pl_random_seed(&random, (uint64_t)seed);
        for (int i = 0; i < PL_COUNT(pixel); ++i) {
            const double u = pl_random_uniform(&random, 1e-300, 1), v = pl_random_uniform(&random, 0, 1);
            pixel[i] = exact[i] + 0.2 * sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
        }
        const pl_poses_report r = calibrate(seen_from, CAMERAS, pixel, place);
        worst = fmax(worst, fabs(r.value[0] / YOUNG - 1));
        for (int k = 0; k < 7; ++k) {
            const double truth = k == 0 ? YOUNG : place[k - 1];
            covered += fabs(r.value[k] - truth) <= r.quantile * r.deviation[k];
        }
        forget();
    }

    print_message("young within %.2f %%; %d of 70 intervals cover the truth\n", 100 * worst, covered);
    PL_CHECK_BELOW(worst, 0.05);
    assert_true(covered >= 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact_pixels),
                                       cmocka_unit_test(test_noisy_pixels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
