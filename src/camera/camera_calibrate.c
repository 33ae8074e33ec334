// Constants and places of cameras from views of a board, and points from pixels.
//
// Start: a homography per view; with the principal point in the middle and square pixels its first columns
// h1, h2 (centred) satisfy h1 . W h2 = 0 and h1 . W h1 = h2 . W h2 with W = diag(w, w, 1), w = 1 / f^2: a
// line of least squares for w. Then the pose of the board in each view. All is then refined together: the
// residuals are pixels, the unknowns the constants of every camera, its place in the rig and the placement of
// every board.
#include "base/base.h"
#include "base/vec.h"
#include "camera/camera.h"

#define ITERATIONS 200
#define INTERVAL 1.959964 // 95 % of a normal distribution
#define UNCERTAIN 0.3     // of the focal length: wider intervals are no calibration

typedef struct bundle {
    const pl_board *board;
    const pl_board_view *view;
    int views, boards, cameras, corners;
    pl_camera *camera;
    pl_camera_pose *rig, *placement;
    double *plane; // 2 per corner
} bundle;

static int bundle_size(const bundle *b)
{
    return PL_CAMERA_CONSTANTS * b->cameras + 6 * (b->cameras - 1) + 6 * b->boards;
}

static int column_rig(const bundle *b, int camera)
{
    return PL_CAMERA_CONSTANTS * b->cameras + 6 * (camera - 1);
}

static int column_placement(const bundle *b, int board)
{
    return PL_CAMERA_CONSTANTS * b->cameras + 6 * (b->cameras - 1) + 6 * board;
}

static void pose_multiply(const pl_camera_pose *a, const pl_camera_pose *b, pl_camera_pose *out)
{
    pl_camera_pose c;
    pl_mul33(a->R, b->R, c.R);
    pl_mulv3(a->R, b->t, c.t);
    for (int i = 0; i < 3; ++i) {
        c.t[i] += a->t[i];
    }
    *out = c;
}

static void pose_invert(const pl_camera_pose *a, pl_camera_pose *out)
{
    pl_camera_pose c;
    for (int i = 0; i < 9; ++i) {
        c.R[i] = a->R[3 * (i % 3) + i / 3];
    }
    pl_mulv3(c.R, a->t, c.t);
    for (int i = 0; i < 3; ++i) {
        c.t[i] = -c.t[i];
    }
    *out = c;
}

// Residuals of all views, and their derivatives if wanted.
static double bundle_evaluate(const bundle *b, camera_normal *m, bool derivatives)
{
    double sum = 0;
    if (derivatives) {
        camera_normal_reset(m);
    }

    for (int v = 0; v < b->views; ++v) {
        const pl_board_view *view = &b->view[v];
        const pl_camera_pose *rig = &b->rig[view->camera], *placed = &b->placement[view->board];

        for (int k = 0; k < b->corners; ++k) {
            const double X[3] = {b->plane[2 * k], b->plane[2 * k + 1], 0};
            double world[3], turned[3], pixel[2], by_camera[18], by_pose[12], by_point[6], J[42];
            pl_mulv3(placed->R, X, turned);
            for (int i = 0; i < 3; ++i) {
                world[i] = turned[i] + placed->t[i];
            }
            if (!pl_camera_project(&b->camera[view->camera], rig, world, pixel, by_camera, by_pose,
                                   by_point)) {
                return INFINITY;
            }

            const double r[2] = {pixel[0] - view->pixel[2 * k], pixel[1] - view->pixel[2 * k + 1]};
            sum += r[0] * r[0] + r[1] * r[1];
            if (!derivatives) {
                continue;
            }
            int column[21], count = 0;
            for (int i = 0; i < PL_CAMERA_CONSTANTS; ++i) {
                column[count++] = PL_CAMERA_CONSTANTS * view->camera + i;
            }
            for (int i = 0; view->camera > 0 && i < 6; ++i) {
                column[count++] = column_rig(b, view->camera) + i;
            }
            for (int i = 0; i < 6; ++i) {
                column[count++] = column_placement(b, view->board) + i;
            }
            for (int row = 0; row < 2; ++row) {
                double *to = J + row * count;
                memcpy(to, by_camera + 9 * row, 9 * sizeof *to);
                int at = 9;
                if (view->camera > 0) {
                    memcpy(to + at, by_pose + 6 * row, 6 * sizeof *to);
                    at += 6;
                }

                pl_cross3(turned, by_point + 3 * row, to + at);
                memcpy(to + at + 3, by_point + 3 * row, 3 * sizeof *to);
            }

            camera_normal_add(m, r, column, J, count);
        }
    }

    return sum;
}

static void bundle_move(const bundle *b, const double *step)
{
    for (int c = 0; c < b->cameras; ++c) {
        double *const constant[] = {&b->camera[c].fx, &b->camera[c].fy, &b->camera[c].cx,
                                    &b->camera[c].cy, &b->camera[c].k1, &b->camera[c].k2,
                                    &b->camera[c].p1, &b->camera[c].p2, &b->camera[c].k3};
        for (int i = 0; i < PL_CAMERA_CONSTANTS; ++i) {
            *constant[i] += step[PL_CAMERA_CONSTANTS * c + i];
        }
        if (c > 0) {
            pl_camera_pose_move(&b->rig[c], step + column_rig(b, c));
        }
    }

    for (int k = 0; k < b->boards; ++k) {
        pl_camera_pose_move(&b->placement[k], step + column_placement(b, k));
    }
}

// ---- the start
// f from the homographies of one camera; 0: none fits.
static double start_focal(const bundle *b, int camera, const double *H)
{
    const double cx = b->camera[camera].cx, cy = b->camera[camera].cy;
    double top = 0, bottom = 0;

    for (int v = 0; v < b->views; ++v) {
        if (b->view[v].camera != camera) {
            continue;
        }
        double c[2][3];

        for (int k = 0; k < 2; ++k) {
            const double h[3] = {H[9 * v + k], H[9 * v + 3 + k], H[9 * v + 6 + k]};
            c[k][0] = h[0] - cx * h[2];
            c[k][1] = h[1] - cy * h[2];
            c[k][2] = h[2];
        }

        const double size = pl_dot3(c[0], c[0]) + pl_dot3(c[1], c[1]);
        const double p[2] = {(c[0][0] * c[1][0] + c[0][1] * c[1][1]) / size,
                             (c[0][0] * c[0][0] + c[0][1] * c[0][1] - c[1][0] * c[1][0] - c[1][1] * c[1][1]) /
                                 size};
        const double q[2] = {c[0][2] * c[1][2] / size, (c[0][2] * c[0][2] - c[1][2] * c[1][2]) / size};

        for (int k = 0; k < 2; ++k) {
            // w p + q = 0, weighted by q, which vanishes for boards that are seen straight on
            top += -q[k] * q[k];
            bottom += p[k] * q[k];
        }
    }

    const double w = bottom != 0 ? top / bottom : 0;
    return w > 0 && isfinite(w) ? sqrt(1 / w) : 0;
}

// The pose of a board from its homography: h1, h2 are f r1, f r2 up to one factor.
static void start_pose(const pl_camera *camera, const double *H, pl_camera_pose *out)
{
    double r[3][3], M[9], R[9];
    for (int k = 0; k < 3; ++k) {
        r[k][0] = (H[k] - camera->cx * H[6 + k]) / camera->fx;
        r[k][1] = (H[3 + k] - camera->cy * H[6 + k]) / camera->fy;
        r[k][2] = H[6 + k];
    }

    double scale = 2 / (pl_norm3(r[0]) + pl_norm3(r[1]));
    scale = r[2][2] * scale > 0 ? scale : -scale; // before the camera
    for (int i = 0; i < 3; ++i) {
        M[3 * i] = scale * r[0][i];
        M[3 * i + 1] = scale * r[1][i];
        out->t[i] = scale * r[2][i];
    }

    const double a[3] = {M[0], M[3], M[6]}, c[3] = {M[1], M[4], M[7]};
    double n[3];
    pl_cross3(a, c, n);
    for (int i = 0; i < 3; ++i) {
        M[3 * i + 2] = n[i];
    }
    pl_nearest_rotation3(M, R);
    memcpy(out->R, R, sizeof R);
}

static pl_status bundle_start(bundle *b, pl_error *err)
{
    double *H = PL_NEW_ARRAY(double, 9 * b->views);
    pl_camera_pose *seen = PL_NEW_ARRAY(pl_camera_pose, b->views);
    pl_status status = H && seen ? PL_OK : pl_fail_memory(err, "cameras");

    for (int v = 0; status == PL_OK && v < b->views; ++v) {
        if (!camera_homography(b->corners, b->plane, b->view[v].pixel, H + 9 * v)) {
            status = pl_fail(err, PL_BAD_INPUT, "cameras: the corners of view %d lie on a line", v + 1);
        }
    }

    for (int c = 0; status == PL_OK && c < b->cameras; ++c) {
        pl_camera *camera = &b->camera[c];
        int count = 0;
        for (int v = 0; v < b->views; ++v) {
            count += b->view[v].camera == c;
        }
        camera->cx = 0.5 * (camera->width - 1);
        camera->cy = 0.5 * (camera->height - 1);
        camera->k1 = camera->k2 = camera->k3 = camera->p1 = camera->p2 = 0;
        // boards that are little inclined leave f to chance: then a usual lens, which the refinement corrects
        const double focal = start_focal(b, c, H);
        const bool usual = focal > 0.3 * camera->width && focal < 10 * camera->width;
        camera->fx = camera->fy = usual ? focal : 1.2 * camera->width;
        if (count < 3) {
            status = pl_fail(err, PL_BAD_INPUT, "cameras: camera %d has %d views, but needs at least 3",
                             c + 1, count);
        }
    }

    for (int v = 0; status == PL_OK && v < b->views; ++v) {
        start_pose(&b->camera[b->view[v].camera], H + 9 * v, &seen[v]);
    }

    // cameras relative to camera 0 by a board both see, then boards by any camera that sees them
    for (int c = 0; status == PL_OK && c < b->cameras; ++c) {
        bool placed = c == 0;
        b->rig[c] = (pl_camera_pose){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

        for (int v = 0; v < b->views && !placed; ++v) {
            for (int w = 0; w < b->views && !placed; ++w) {
                if (b->view[v].camera == c && b->view[w].camera == 0 &&
                    b->view[v].board == b->view[w].board) {
                    pl_camera_pose back;
                    pose_invert(&seen[w], &back);
                    pose_multiply(&seen[v], &back, &b->rig[c]);
                    placed = true;
                }
            }
        }

        if (!placed) {
            status =
                pl_fail(err, PL_BAD_INPUT, "cameras: camera %d and camera 1 have no board in common", c + 1);
        }
    }

    for (int k = 0; status == PL_OK && k < b->boards; ++k) {
        bool placed = false;
        for (int v = 0; v < b->views && !placed; ++v) {
            if (b->view[v].board == k) {
                pl_camera_pose back;
                pose_invert(&b->rig[b->view[v].camera], &back);
                pose_multiply(&back, &seen[v], &b->placement[k]);
                placed = true;
            }
        }

        if (!placed) {
            status = pl_fail(err, PL_BAD_INPUT, "cameras: board %d is in no view", k + 1);
        }
    }

    pl_free(H);
    pl_free(seen);

    return status;
}

// ---- refinement
// Levenberg and Marquardt: damping falls with success.
static pl_status bundle_refine(bundle *b, camera_normal *m, pl_camera_fit *fit, pl_error *err)
{
    double *step = PL_NEW_ARRAY(double, m->n), damping = 1e-3;
    pl_camera *camera = PL_NEW_ARRAY(pl_camera, b->cameras);
    pl_camera_pose *pose = PL_NEW_ARRAY(pl_camera_pose, b->cameras + b->boards);
    pl_status status = step && camera && pose ? PL_OK : pl_fail_memory(err, "cameras");
    double sum = status == PL_OK ? bundle_evaluate(b, m, true) : 0;

    for (fit->iterations = 0; status == PL_OK && fit->iterations < ITERATIONS && !fit->converged;
         ++fit->iterations) {
        memcpy(camera, b->camera, (size_t)b->cameras * sizeof *camera);
        memcpy(pose, b->rig, (size_t)b->cameras * sizeof *pose);
        memcpy(pose + b->cameras, b->placement, (size_t)b->boards * sizeof *pose);
        double now = INFINITY;
        if (camera_normal_solve(m, damping, step)) {
            bundle_move(b, step);
            now = bundle_evaluate(b, m, false);
        }

        if (now <= sum) {
            fit->converged = sum - now <= 1e-12 * sum || sum < 1e-18 * m->rows;
            sum = bundle_evaluate(b, m, true);
            damping = fmax(damping / 10, 1e-15);
        } else {
            memcpy(b->camera, camera, (size_t)b->cameras * sizeof *camera);
            memcpy(b->rig, pose, (size_t)b->cameras * sizeof *pose);
            memcpy(b->placement, pose + b->cameras, (size_t)b->boards * sizeof *pose);
            fit->converged = damping > 1e8;
            damping *= 10;
        }
    }

    bundle_evaluate(b, m, true);
    pl_free(step);
    pl_free(camera);
    pl_free(pose);

    return status;
}

// Distance of the centres of cameras 0 and 1, |t|, and its interval: of t alone, since |R^T t| = |t|.
static pl_status bundle_report(const bundle *b, const camera_normal *m, double *interval, pl_camera_fit *fit,
                               pl_error *err)
{
    double *variance = PL_NEW_ARRAY(double, m->n);
    const bool known = variance && m->rows > m->n && camera_normal_variance(m, variance);
    const double sigma2 = m->rows > m->n ? m->sum / (m->rows - m->n) : NAN;

    for (int i = 0; interval && i < PL_CAMERA_CONSTANTS * b->cameras; ++i) {
        interval[i] = known ? INTERVAL * sqrt(sigma2 * variance[i]) : NAN;
    }
    fit->rms = sqrt(m->sum / m->rows);
    fit->largest = m->largest;
    fit->distance = fit->distance_interval = NAN;

    if (b->cameras > 1) {
        const double *t = b->rig[1].t;
        double sum = 0;
        fit->distance = pl_norm3(t);
        for (int i = 0; known && i < 3; ++i) {
            // the sum of the three deviations bounds that of |t| whatever their correlation
            sum += fabs(t[i]) / fit->distance * sqrt(sigma2 * variance[column_rig(b, 1) + 3 + i]);
        }

        fit->distance_interval = known ? INTERVAL * sum : NAN;
    }

    pl_status status = PL_OK;
    for (int c = 0; status == PL_OK && c < b->cameras; ++c) {
        const double f = b->camera[c].fx,
                     half = known ? INTERVAL * sqrt(sigma2 * variance[PL_CAMERA_CONSTANTS * c]) : INFINITY;
        if (!(f > 0 && half < UNCERTAIN * f)) {
            status = pl_fail(
                err, PL_BAD_INPUT,
                "cameras: the focal length of camera %d cannot be determined from these views (%.4g +- %.2g "
                "pixels); incline the board more",
                c + 1, f, half);
        }
    }

    pl_free(variance);

    return status;
}

pl_status pl_cameras_calibrate(const pl_board *board, const pl_board_view *view, int view_count,
                               int board_count, int camera_count, pl_camera *camera, pl_camera_pose *rig,
                               pl_camera_pose *placement, double *interval, pl_camera_fit *fit, pl_error *err)
{
    *fit = (pl_camera_fit){0};
    if (board->columns < 3 || board->rows < 3 || !(board->square > 0)) {
        return pl_fail(err, PL_BAD_INPUT, "cameras: a board of %d x %d corners, %g mm apart, cannot be used",
                       board->columns, board->rows, board->square);
    }

    bundle b = {.board = board,
                .view = view,
                .views = view_count,
                .boards = board_count,
                .cameras = camera_count,
                .corners = board->columns * board->rows,
                .camera = camera,
                .rig = rig,
                .placement = placement};
    b.plane = PL_NEW_ARRAY(double, 2 * b.corners);
    camera_normal m = {0};
    pl_status status =
        b.plane && camera_normal_create(bundle_size(&b), &m) ? PL_OK : pl_fail_memory(err, "cameras");
    for (int k = 0; status == PL_OK && k < b.corners; ++k) {
        b.plane[2 * k] = board->square * (k % board->columns);
        b.plane[2 * k + 1] = board->square * (k / board->columns);
    }

    if (status == PL_OK) {
        status = bundle_start(&b, err);
    }
    if (status == PL_OK) {
        status = bundle_refine(&b, &m, fit, err);
    }
    if (status == PL_OK) {
        status = bundle_report(&b, &m, interval, fit, err);
    }
    camera_normal_clear(&m);
    pl_free(b.plane);

    return status;
}

// ---- points
// Start: nearest point to the rays, sum (I - d d^T) (X - c) = 0.
static bool triangulate_start(const pl_camera *camera, const pl_camera_pose *rig, int count,
                              const double *pixel, double X[3])
{
    double A[9] = {0}, b[3] = {0};
    int seen = 0;

    for (int c = 0; c < count; ++c) {
        double ray[2], d[3], centre[3];
        if (isnan(pixel[2 * c]) || !pl_camera_ray(&camera[c], pixel + 2 * c, ray)) {
            continue;
        }
        const double *R = rig[c].R, length = sqrt(ray[0] * ray[0] + ray[1] * ray[1] + 1);
        for (int i = 0; i < 3; ++i) {
            d[i] = (R[i] * ray[0] + R[3 + i] * ray[1] + R[6 + i]) / length;
            centre[i] = -(R[i] * rig[c].t[0] + R[3 + i] * rig[c].t[1] + R[6 + i] * rig[c].t[2]);
        }

        for (int i = 0; i < 9; ++i) {
            const double a = (i % 4 == 0) - d[i / 3] * d[i % 3];
            A[i] += a;
            b[i / 3] += a * centre[i % 3];
        }

        ++seen;
    }

    memcpy(X, b, sizeof b);
    double C[9];
    pl_cofactor3(A, C);
    const double det = pl_det3(A);
    for (int i = 0; i < 3; ++i) {
        X[i] = pl_dot3(C + 3 * i, b) / det; // symmetric
    }

    return seen >= 2 && fabs(det) > 1e-12;
}

bool pl_camera_triangulate(const pl_camera *camera, const pl_camera_pose *rig, int count, const double *pixel,
                           double X[3], double *rms, double deviation[3])
{
    camera_normal m = {0};
    const int column[3] = {0, 1, 2};
    bool good = triangulate_start(camera, rig, count, pixel, X) && camera_normal_create(3, &m);

    for (int k = 0; good && k < 20; ++k) {
        double step[3];
        camera_normal_reset(&m);

        for (int c = 0; good && c < count; ++c) {
            double at[2], J[6];
            if (isnan(pixel[2 * c])) {
                continue;
            }
            good = pl_camera_project(&camera[c], &rig[c], X, at, NULL, NULL, J);
            const double r[2] = {at[0] - pixel[2 * c], at[1] - pixel[2 * c + 1]};
            camera_normal_add(&m, r, column, J, 3);
        }

        good = good && camera_normal_solve(&m, 0, step);
        for (int i = 0; good && i < 3; ++i) {
            X[i] += step[i];
        }
        if (good && pl_norm3(step) < 1e-10 * (1 + pl_norm3(X))) {
            break;
        }
    }

    if (good) {
        double variance[3];
        good = camera_normal_variance(&m, variance);
        *rms = sqrt(m.sum / m.rows);
        for (int i = 0; i < 3; ++i) {
            deviation[i] = good ? sqrt(variance[i]) : NAN;
        }
    }

    camera_normal_clear(&m);

    return good;
}
