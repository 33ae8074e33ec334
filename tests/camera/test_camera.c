// Laws of cameras: derivatives of the projection, a ray is its inverse, corners of rendered boards are found
// to a small part of a pixel, calibration of noisy views covers the truth as often as its intervals say, and
// points come back from their pixels.
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/vec.h"
#include "camera/camera.h"
#include "check.h"
#include "pliant/camera.h"

// Of mean 0 and deviation 1 (Box and Muller).
static double normal_draw(pl_random *random)
{
    const double u = pl_random_uniform(random, 1e-300, 1), v = pl_random_uniform(random, 0, 1);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static const pl_camera wide = {.fx = 910,
                               .fy = 905,
                               .cx = 331,
                               .cy = 236,
                               .k1 = -0.21,
                               .k2 = 0.09,
                               .p1 = 8e-4,
                               .p2 = -6e-4,
                               .k3 = -0.02,
                               .width = 660,
                               .height = 480};

static pl_camera_pose pose_of(double rx, double ry, double rz, double x, double y, double z)
{
    pl_camera_pose p = {.t = {x, y, z}};
    pl_rotation_exp((double[3]){rx, ry, rz}, p.R);
    return p;
}

static void test_projection(void **state)
{
    (void)state;
    const pl_camera_pose pose = pose_of(0.3, -0.2, 0.5, 10, -5, 200);
    const double X[3] = {22, -31, 14}, h = 1e-5;
    double at[2], by_camera[18], by_pose[12], by_point[6], up[2], down[2], worst = 0;
    assert_true(pl_camera_project(&wide, &pose, X, at, by_camera, by_pose, by_point));
    for (int k = 0; k < PL_CAMERA_CONSTANTS; ++k) {
        for (int side = 0; side < 2; ++side) {
            pl_camera c = wide;
            double *const constant[] = {&c.fx, &c.fy, &c.cx, &c.cy, &c.k1, &c.k2, &c.p1, &c.p2, &c.k3};
            *constant[k] += side ? h : -h;
            pl_camera_project(&c, &pose, X, side ? up : down, NULL, NULL, NULL);
        }
        for (int i = 0; i < 2; ++i) {
            worst = fmax(worst, fabs(by_camera[9 * i + k] - (up[i] - down[i]) / (2 * h)));
        }
    }

    for (int k = 0; k < 6; ++k) {
        for (int side = 0; side < 2; ++side) {
            pl_camera_pose p = pose;
            double step[6] = {0};
            step[k] = side ? h : -h;
            pl_camera_pose_move(&p, step);
            pl_camera_project(&wide, &p, X, side ? up : down, NULL, NULL, NULL);
        }
        for (int i = 0; i < 2; ++i) {
            worst = fmax(worst, fabs(by_pose[6 * i + k] - (up[i] - down[i]) / (2 * h)));
        }
    }

    for (int k = 0; k < 3; ++k) {
        for (int side = 0; side < 2; ++side) {
            double Y[3] = {X[0], X[1], X[2]};
            Y[k] += side ? h : -h;
            pl_camera_project(&wide, &pose, Y, side ? up : down, NULL, NULL, NULL);
        }
        for (int i = 0; i < 2; ++i) {
            worst = fmax(worst, fabs(by_point[3 * i + k] - (up[i] - down[i]) / (2 * h)));
        }
    }

    print_message("derivatives off by %.1e\n", worst);
    PL_CHECK_BELOW(worst, 1e-6);

    // a point on the ray of a pixel is seen there
    double ray[2], back[2];
    assert_true(pl_camera_ray(&wide, at, ray));
    const pl_camera_pose none = pose_of(0, 0, 0, 0, 0, 0);
    pl_camera_project(&wide, &none, (double[3]){70 * ray[0], 70 * ray[1], 70}, back, NULL, NULL, NULL);
    PL_CHECK_NEAR(back[0], at[0], 1e-9);
    PL_CHECK_NEAR(back[1], at[1], 1e-9);
    assert_false(pl_camera_project(&wide, &none, (double[3]){0, 0, -1}, back, NULL, NULL, NULL));
}

// ---- views of a board
static const pl_board board = {.columns = 7, .rows = 4, .square = 8};

// Placements before the first camera, inclined in all directions.
static pl_camera_pose placement_of(int k)
{
    return pose_of(0.45 * sin(2.1 * k), 0.5 * cos(1.7 * k), 0.3 * sin(0.9 * k), -24 + 9 * sin(3.3 * k),
                   -16 + 7 * cos(2.7 * k), 150 + 25 * sin(1.3 * k));
}

#define BOARDS 9
#define CORNERS 28

static void views_make(const pl_camera camera[2], const pl_camera_pose rig[2], pl_random *random,
                       double noise, double pixel[2][BOARDS][2 * CORNERS], pl_board_view view[2 * BOARDS])
{
    for (int c = 0; c < 2; ++c) {
        for (int k = 0; k < BOARDS; ++k) {
            const pl_camera_pose placed = placement_of(k);
            for (int i = 0; i < CORNERS; ++i) {
                const double X[3] = {board.square * (i % 7), board.square * (i / 7), 0};
                double world[3];
                pl_mulv3(placed.R, X, world);
                for (int a = 0; a < 3; ++a) {
                    world[a] += placed.t[a];
                }
                assert_true(
                    pl_camera_project(&camera[c], &rig[c], world, &pixel[c][k][2 * i], NULL, NULL, NULL));
                for (int a = 0; a < 2; ++a) {
                    pixel[c][k][2 * i + a] += noise * normal_draw(random);
                }
            }
            view[c * BOARDS + k] = (pl_board_view){.camera = c, .board = k, .pixel = pixel[c][k]};
        }
    }
}

// Exact pixels give the truth; of noisy ones 95 % of the intervals contain it, and the base line is found.
static void test_calibration(void **state)
{
    (void)state;
    pl_camera truth[2] = {wide, wide};
    truth[1].fx = 880;
    truth[1].k1 = -0.17;
    truth[1].cx = 320;
    const pl_camera_pose rig[2] = {pose_of(0, 0, 0, 0, 0, 0), pose_of(0.02, -0.25, 0.01, -70, 2, 9)};
    const double base = pl_norm3(rig[1].t);
    static double pixel[2][BOARDS][2 * CORNERS];
    pl_board_view view[2 * BOARDS];
    pl_error err = {0};
    int covered = 0, intervals = 0;
    const int seeds = 12;
    for (int seed = 0; seed <= seeds; ++seed) {
        pl_random random;
        pl_random_seed(&random, (uint64_t)seed + 1);
        pl_camera camera[2] = {{.width = 660, .height = 480}, {.width = 660, .height = 480}};
        pl_camera_pose found[2], placed[BOARDS];
        double interval[18];
        pl_camera_fit fit;
        const double noise = seed == 0 ? 0 : 0.15;
        views_make(truth, rig, &random, noise, pixel, view);
        PL_CHECK_OK(pl_cameras_calibrate(&board, view, 2 * BOARDS, BOARDS, 2, camera, found, placed, interval,
                                         &fit, &err));
        assert_true(fit.converged);
        if (seed == 0) {
            print_message("exact pixels: rms %.1e, base line off by %.1e mm, %d iterations\n", fit.rms,
                          fabs(fit.distance - base), fit.iterations);
            PL_CHECK_NEAR(camera[0].fx, truth[0].fx, 1e-5);
            PL_CHECK_NEAR(camera[1].k1, truth[1].k1, 1e-7);
            PL_CHECK_NEAR(fit.distance, base, 1e-6);
            continue;
        }
        PL_CHECK_NEAR(fit.rms / noise, sqrt(1 - 84.0 / (4 * BOARDS * CORNERS)), 0.08);
        PL_CHECK_NEAR(fit.distance / base, 1, 0.01);
        for (int c = 0; c < 2; ++c) {
            const double *a = &camera[c].fx, *b = &truth[c].fx; // nine constants one after another
            for (int k = 0; k < PL_CAMERA_CONSTANTS; ++k, ++intervals) {
                covered += fabs(a[k] - b[k]) <= interval[9 * c + k];
            }
        }
    }

    print_message("%d of %d intervals cover the truth\n", covered, intervals);
    PL_CHECK_NEAR((double)covered / intervals, 0.95, 0.06);

    // a camera that sees the board straight on only, or twice
    pl_camera camera[2] = {{.width = 660, .height = 480}, {.width = 660, .height = 480}};
    pl_camera_pose found[2], placed[BOARDS];
    pl_camera_fit fit;
    assert_int_equal(pl_cameras_calibrate(&board, view, 2, 2, 1, camera, found, placed, NULL, &fit, &err),
                     PL_BAD_INPUT);
}

// A board drawn by casting the rays of all pixels (4 x 4 each) through the distortion.
static void render(const pl_camera *camera, const pl_camera_pose *pose, double noise, pl_image *image)
{
    pl_random random;
    pl_random_seed(&random, 5);
    for (int v = 0; v < image->height; ++v) {
        for (int u = 0; u < image->width; ++u) {
            double sum = 0;
            for (int s = 0; s < 16; ++s) {
                const double at[2] = {u + (s % 4 - 1.5) / 4, v + (s / 4 - 1.5) / 4};
                double ray[2];
                pl_camera_ray(camera, at, ray);
                // R^T (z d - t) has no third coordinate
                const double d[3] = {ray[0], ray[1], 1}, *R = pose->R, *t = pose->t;
                const double n[3] = {R[2], R[5], R[8]}, z = pl_dot3(n, t) / pl_dot3(n, d);
                double X[2];
                for (int i = 0; i < 2; ++i) {
                    X[i] = (R[i] * (z * d[0] - t[0]) + R[3 + i] * (z * d[1] - t[1]) +
                            R[6 + i] * (z * d[2] - t[2])) /
                           board.square;
                }
                const bool inside = X[0] > -1 && X[0] < board.columns && X[1] > -1 && X[1] < board.rows;
                const bool dark = inside && ((int)floor(X[0]) + (int)floor(X[1])) % 2 == 0;
                sum += (dark ? 0.1 : 0.85) / 16;
            }
            image->gray[v * image->width + u] = (float)(sum + noise * normal_draw(&random));
        }
    }
}

static void test_rendered_board(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_image image;
    PL_CHECK_OK(pl_image_create(wide.width, wide.height, false, &image, &err));
    for (int k = 0; k < 3; ++k) {
        const pl_camera_pose pose = placement_of(k + 1);
        double pixel[2 * CORNERS], mean = 0, worst = 0;
        render(&wide, &pose, 0.01, &image);
        PL_CHECK_OK(pl_board_find(&image, &board, pixel, &err));
        for (int i = 0; i < CORNERS; ++i) {
            const double X[3] = {board.square * (i % 7), board.square * (i / 7), 0};
            double at[2];
            pl_camera_project(&wide, &pose, X, at, NULL, NULL, NULL);
            const double off = hypot(at[0] - pixel[2 * i], at[1] - pixel[2 * i + 1]);
            mean += off / CORNERS;
            worst = fmax(worst, off);
        }
        print_message("rendered board %d: corners off by %.3f pixels on average, %.3f at most\n", k, mean,
                      worst);
        PL_CHECK_BELOW(mean, 0.06);
        PL_CHECK_BELOW(worst, 0.2);
    }

    for (int i = 0; i < image.width * image.height; ++i) {
        image.gray[i] = (float)(i % 7) / 7;
    }

    double pixel[2 * CORNERS];
    assert_int_equal(pl_board_find(&image, &board, pixel, &err), PL_FAILED);
    pl_image_clear(&image);
}

static void test_points(void **state)
{
    (void)state;
    pl_error err = {0};
    const pl_camera camera[3] = {wide, wide, wide};
    const pl_camera_pose rig[3] = {pose_of(0, 0, 0, 0, 0, 0), pose_of(0, -0.3, 0, -60, 0, 10),
                                   pose_of(0.2, 0, 0, 0, -40, 5)};
    const double X[3] = {5, -8, 180};
    double pixel[6], found[3], rms, deviation[3];
    for (int c = 0; c < 3; ++c) {
        assert_true(pl_camera_project(&camera[c], &rig[c], X, pixel + 2 * c, NULL, NULL, NULL));
    }
    assert_true(pl_camera_triangulate(camera, rig, 3, pixel, found, &rms, deviation));
    PL_CHECK_BELOW(pl_distance3(found, X), 1e-8);
    assert_true(deviation[2] > deviation[0]); // depth is what two views know least
    pixel[4] = NAN;
    assert_true(pl_camera_triangulate(camera, rig, 3, pixel, found, &rms, deviation));
    PL_CHECK_BELOW(pl_distance3(found, X), 1e-8);
    pixel[2] = NAN;
    assert_false(pl_camera_triangulate(camera, rig, 3, pixel, found, &rms, deviation));

    // two red discs with soft rims on grey, and a blue one
    pl_image image;
    PL_CHECK_OK(pl_image_create(120, 90, true, &image, &err));
    const double centre[3][3] = {{30.3, 40.8, 6}, {80.6, 21.25, 4}, {70, 70, 9}};
    for (int v = 0; v < 90; ++v) {
        for (int u = 0; u < 120; ++u) {
            double rgb[3] = {0.4, 0.4, 0.4};
            for (int d = 0; d < 3; ++d) {
                const double far = hypot(u - centre[d][0], v - centre[d][1]),
                             share = fmin(fmax(centre[d][2] - far + 0.5, 0), 1);
                const double tint[3] = {d < 2 ? 0.9 : 0.1, 0.1, d < 2 ? 0.1 : 0.9};
                for (int i = 0; i < 3; ++i) {
                    rgb[i] += share * (tint[i] - rgb[i]);
                }
            }
            for (int i = 0; i < 3; ++i) {
                image.color[3 * (v * 120 + u) + i] = (float)rgb[i];
            }
        }
    }

    pl_dot dot[4];
    assert_int_equal(pl_dots_find(&image, (double[3]){0.9, 0.1, 0.1}, 0.5, 10, dot, 4), 2);
    for (int d = 0; d < 2; ++d) {
        const double off = hypot(dot[d].pixel[0] - centre[d][0], dot[d].pixel[1] - centre[d][1]);
        print_message("dot of %.0f pixels: off by %.3f\n", dot[d].area, off);
        PL_CHECK_BELOW(off, 0.05);
    }

    pl_image_clear(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_rendered_board),
        cmocka_unit_test(test_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
