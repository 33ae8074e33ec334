// Cameras on real and on rendered pictures.
//
//   cameras [SEEDS]       100 seeds
//
// 1. The published pictures of a stereo pair ($PLIANT_DATA/helical_tendon, where they are): calibrated from
// the chessboard,
//    then the measured pixels of two markers triangulated. Residuals are pixels.
// 2. A bar with three coloured dots, pulled by two tendons, rendered by two cameras with distortion and
// noise; the dots are
//    found in the pictures, and modulus and place before the cameras are fitted to their pixels together.
//    Allowed: the modulus within 2 %, 95 % intervals that cover the truth (beta-binomial bounds are wide for
//    100 seeds: 0.88 to 0.995).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/rotation.h"
#include "base/vec.h"
#include "camera/camera.h"
#include "path_robot.h"
#include "pliant/calib.h"
#include "pliant/dataset.h"

#define BASELINE 72.99 // mm, as published; the square is given as 5.5 mm

// ---- 1: real pictures
enum { PAIRS = 11, CORNERS = 54 };

static bool real_calibrate(const char *folder, pl_camera camera[2], pl_camera_pose rig[2])
{
    static double pixel[2 * PAIRS][2 * CORNERS];
    const pl_board board = {.columns = 9, .rows = 6, .square = 5.5};
    pl_board_view view[2 * PAIRS];
    pl_camera_pose placement[PAIRS];
    pl_camera_fit fit;
    pl_error err = {0};
    int views = 0;

    for (int k = 0; k < PAIRS; ++k) {
        for (int c = 0; c < 2; ++c) {
            char path[1024];
            pl_image image = {0};
            snprintf(path, sizeof path, "%s/calibration/%s_%02d.png", folder, c ? "right" : "left", 4 * k);
            if (pl_image_read(path, &image, &err) != PL_OK) {
                printf("%s\n", err.text);
                return false;
            }
            camera[c].width = image.width;
            camera[c].height = image.height;
            if (pl_board_find(&image, &board, pixel[views], &err) == PL_OK) {
                view[views] = (pl_board_view){.camera = c, .board = k, .pixel = pixel[views]};
                ++views;
            }
            pl_image_clear(&image);
        }
    }

    if (pl_cameras_calibrate(&board, view, views, PAIRS, 2, camera, rig, placement, NULL, &fit, &err) !=
        PL_OK) {
        printf("%s\n", err.text);
        return false;
    }

    printf(
        "real pictures: %d of %d boards, residual %.3f pixels root mean square, %.2f at most (0.5 allowed)\n",
        views, 2 * PAIRS, fit.rms, fit.largest);
    printf(
        "  base line %.3f +- %.3f mm with squares of 5.5 mm, published %.2f: ratio %.4f (5.5 / 5.4 = %.4f)\n",
        fit.distance, fit.distance_interval, BASELINE, fit.distance / BASELINE, 5.5 / 5.4);

    return views == 2 * PAIRS && fit.rms < 0.5;
}

// Rows of Lx1,Ly1,Lx2,Ly2,Rx1,Ry1,Rx2,Ry2.
static bool real_track(const char *folder, const char *name, const pl_camera camera[2],
                       const pl_camera_pose rig[2])
{
    char path[1024], line[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        printf("%s: cannot be opened\n", path);
        return false;
    }

    double sum = 0, worst = 0, apart_low = INFINITY, apart_high = 0, first[3] = {0}, far = 0;
    int count = 0;
    while (fgets(line, sizeof line, file)) {
        double v[8], X[2][3], rms, deviation[3];
        if (sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
                   &v[7]) != 8) {
            continue;
        }
        for (int m = 0; m < 2; ++m) {
            const double pixel[4] = {v[2 * m], v[2 * m + 1], v[4 + 2 * m], v[5 + 2 * m]};
            if (pl_camera_triangulate(camera, rig, 2, pixel, X[m], &rms, deviation)) {
                sum += rms * rms;
                worst = fmax(worst, rms);
                ++count;
            }
        }
        const double apart = pl_distance3(X[0], X[1]);
        apart_low = fmin(apart_low, apart);
        apart_high = fmax(apart_high, apart);
        if (count == 2) {
            memcpy(first, X[0], sizeof first);
        }
        far = fmax(far, pl_distance3(X[0], first));
    }

    fclose(file);
    printf("  %s: %d positions, residual %.3f pixels root mean square, %.2f at most; the markers of the "
           "rigid disc stay %.2f to "
           "%.2f mm apart while they move by %.1f mm\n",
           name, count, sqrt(sum / count), worst, apart_low, apart_high, far);

    return count > 10 && sqrt(sum / count) < 0.5;
}

// ---- 2: rendered pictures of a bar
enum { ROWS = 6, C = 2, M = 3 };
#define C10 0.1
static const double command[ROWS * C] = {2, 0, 0, 3, 4, 2, 1, 4, 5, 0, 2, 5};
static const double place[6] = {-25, 5, 190, 0.4, -0.3, 0.5};
static const double color[M][3] = {{0.9, 0.1, 0.1}, {0.1, 0.75, 0.15}, {0.1, 0.2, 0.9}};
static const pl_camera lens[2] = {{.fx = 700,
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

typedef struct bars {
    pl_robot *r[64];
    int count;
} bars;

static pl_status bar_build(void *user, const double *value, pl_model **out, pl_error *err)
{
    bars *b = user;
    char text[1600];

    snprintf(text, sizeof text,
             "pliant: 1\nname: bar\nmesh:\n  design: {kind: beam, length: 60, width: 10, height: 10}\n  "
             "size: 10\n  order: 2\n"
             "materials: {silicone: {model: neo_hookean, c10: %.15g MPa, poisson: 0.45}}\nregions: {body: "
             "silicone}\n"
             "fixed: [{surface: base}]\nactuators:\n"
             "  - {name: up, kind: cable, through: [[0, 0, 4], [30, 0, 4], [58, 0, 4]], radius: 3, drive: "
             "tension, range: [0, 9]}\n"
             "  - {name: side, kind: cable, through: [[0, 4, 0], [30, 4, 0], [58, 4, 0]], radius: 3, drive: "
             "tension, range: [0, 9]}\n"
             "markers: {tip: {at: [60, 0, 5]}, middle: {at: [35, 5, 5]}, foot: {at: [8, -5, 5]}}\n",
             value[0]);

    // the mesh is the same every time, so it comes from the cache
    const pl_load_options load = {.mesher = pl_meshing_mesher()};
    const pl_statics_options options = pl_statics_options_default();
    if (b->count == PL_COUNT(b->r)) {
        return pl_fail(err, PL_FAILED, "too many bars");
    }

    const pl_status status =
        pl_robot_load_text(text, strlen(text), "bar.yaml", &load, &b->r[b->count], NULL, err);

    return status == PL_OK ? pl_model_from_robot(b->r[b->count++], &options, out, err) : status;
}

static void bars_clear(bars *b)
{
    while (b->count > 0) {
        pl_robot_destroy(b->r[--b->count]);
    }
}

// Discs of radius 6 pixels around the pixels of the markers, with a rim one pixel soft; noise of 3 % of full
// white.
static void draw(const double *pixel, pl_random *random, pl_image *image)
{
    for (int v = 0; v < image->height; ++v) {
        for (int u = 0; u < image->width; ++u) {
            float *p = image->color + 3 * ((int64_t)v * image->width + u);
            double rgb[3] = {0.45, 0.45, 0.45}, nearest = INFINITY;
            for (int m = 0; m < M; ++m) {
                const double far = hypot(u - pixel[4 * m], v - pixel[4 * m + 1]);
                const double share = fmin(fmax(6.5 - far, 0), 1);
                nearest = fmin(nearest, far);
                for (int i = 0; i < 3; ++i) {
                    rgb[i] += share * (color[m][i] - rgb[i]);
                }
            }
            for (int i = 0; i < 3; ++i) {
                const double noise = nearest < 20 ? 0.03 * pl_random_uniform(random, -1.732, 1.732) : 0;
                p[i] = (float)(rgb[i] + noise);
            }
        }
    }
}

static bool truth_pixels(const pl_camera_pose rig[2], double *pixel)
{
    bars b = {.count = 0};
    pl_model *model = NULL;
    pl_error err = {0};
    pl_solve_report report = {0};
    double R[9];

    pl_rotation_exp(place + 3, R);
    bool good = bar_build(&b, (double[]){C10}, &model, &err) == PL_OK;
    for (int r = 0; good && r < ROWS; ++r) {
        double mm[C] = {0.05 * command[C * r], 0.05 * command[C * r + 1]};
        good = pl_model_fk(model, mm, &report, &err) == PL_OK && report.outcome == PL_SOLVED;
        for (int m = 0; good && m < M; ++m) {
            double X[3];
            pl_mulv3(R, pl_model_get_answer(model).marker + 3 * m, X);
            for (int i = 0; i < 3; ++i) {
                X[i] += place[i];
            }
            for (int c = 0; good && c < 2; ++c) {
                good = pl_camera_project(&lens[c], &rig[c], X, pixel + 2 * ((r * M + m) * 2 + c), NULL, NULL,
                                         NULL);
            }
        }
    }

    pl_model_destroy(model);
    bars_clear(&b);

    return good;
}

static bool rendered(int seeds)
{
    pl_camera_pose rig[2] = {{.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {.t = {-70, 1, 14}}};
    pl_rotation_exp((double[3]){0.02, -0.35, 0}, rig[1].R);
    double exact[2 * ROWS * M * 2], pull[ROWS * C];
    pl_error err = {0};
    pl_image image;
    if (!truth_pixels(rig, exact) || pl_image_create(640, 480, true, &image, &err) != PL_OK) {
        printf("the bar cannot be drawn\n");
        return false;
    }

    for (int i = 0; i < ROWS * C; ++i) {
        pull[i] = 0.05 * command[i];
    }

    double worst = 0, square = 0, off = 0;
    int covered = 0, intervals = 0, modulus = 0, dots = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        pl_random random;
        pl_random_seed(&random, (uint64_t)seed);
        double pixel[2 * ROWS * M * 2];
        for (int r = 0; r < ROWS; ++r) {
            for (int c = 0; c < 2; ++c) {
                draw(exact + 2 * (r * M * 2 + c), &random, &image);
                for (int m = 0; m < M; ++m) {
                    double *p = pixel + 2 * ((r * M + m) * 2 + c);
                    const double *q = exact + 2 * ((r * M + m) * 2 + c);
                    pl_dot dot;
                    p[0] = p[1] = NAN;
                    if (pl_dots_find(&image, color[m], 0.35, 20, &dot, 1) > 0) {
                        memcpy(p, dot.pixel, sizeof dot.pixel);
                        off += pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2);
                        ++dots;
                    }
                }
            }
        }
        pl_pose_parameter list[7] = {{.name = "silicone.c10",
                                      .kind = PL_POSE_MATERIAL,
                                      .part = PL_C10,
                                      .unit = 1,
                                      .value = C10 * (seed % 2 ? 1.3 : 0.8)}};
        for (int k = 0; k < 6; ++k) {
            list[1 + k] = (pl_pose_parameter){.name = "base",
                                              .kind = PL_POSE_BASE,
                                              .index = k,
                                              .unit = 1,
                                              .value = place[k] + (k < 3 ? 3 : 0.05) * sin(seed + 2.0 * k),
                                              .scale = k < 3 ? 1 : 0.02};
        }
        bars b = {.count = 0};
        double predicted[3 * ROWS * M];
        pl_poses_report report;
        const pl_poses_def def = {.parameter = list,
                                  .parameter_count = 7,
                                  .row_count = ROWS,
                                  .command_count = C,
                                  .marker_count = M,
                                  .command = pull,
                                  .camera = lens,
                                  .rig = rig,
                                  .camera_count = 2,
                                  .pixel = pixel,
                                  .build = bar_build,
                                  .user = &b,
                                  .iteration_limit = 20};
        if (pl_poses_calibrate(&def, predicted, &report, &err) != PL_OK) {
            printf("seed %d: %s\n", seed, err.text);
            pl_image_clear(&image);
            return false;
        }
        bars_clear(&b);
        const double relative = fabs(report.value[0] / C10 - 1);
        worst = fmax(worst, relative);
        square += relative * relative;
        modulus += relative <= report.quantile * report.deviation[0] / C10;
        for (int k = 0; k < 7; ++k, ++intervals) {
            covered += fabs(report.value[k] - (k == 0 ? C10 : place[k - 1])) <=
                       report.quantile * report.deviation[k];
        }
    }

    pl_image_clear(&image);
    const double share = (double)covered / intervals;
    printf("rendered pictures: %d seeds, dots off by %.3f pixels; c10 off by %.2f %% root mean square, %.2f "
           "%% at most (2 allowed); "
           "its interval covers the truth %d times, all intervals %.1f %%\n",
           seeds, sqrt(off / dots), 100 * sqrt(square / seeds), 100 * worst, modulus, 100 * share);

    return worst < 0.02 && (seeds < 50 || (share > 0.9 && share < 0.99));
}

int main(int argc, char **argv)
{
    const int seeds = argc > 1 ? atoi(argv[1]) : 100;
    const char *data = getenv("PLIANT_DATA");
    bool good = true;

    if (data) {
        char folder[900];
        pl_camera camera[2] = {{.width = 0}, {.width = 0}};
        pl_camera_pose rig[2];
        snprintf(folder, sizeof folder, "%s/helical_tendon", data);
        good = real_calibrate(folder, camera, rig);
        good = good && real_track(folder, "T1_median_pixels.csv", camera, rig);
        good = good && real_track(folder, "T2_median_pixels.csv", camera, rig);
    } else {
        printf("PLIANT_DATA is not set: no real pictures\n");
    }

    good = rendered(seeds) && good;
    printf("%s\n", good ? "ok" : "FAIL");

    return good ? 0 : 1;
}
