// Projection with distortion and its derivatives, from a pixel back to a ray, and small least squares.
#include "base/base.h"
#include "base/vec.h"
#include "camera/camera.h"
#include "solver/solver.h"

const char *pl_camera_constant_name(int constant)
{
    static const char *const name[PL_CAMERA_CONSTANTS] = {"fx", "fy", "cx", "cy", "k1",
                                                          "k2", "p1", "p2", "k3"};
    return constant >= 0 && constant < PL_CAMERA_CONSTANTS ? name[constant] : "";
}

// Distorted (a', b') and its derivative with respect to (a, b).
static void distort(const pl_camera *c, double a, double b, double out[2], double D[4])
{
    const double r2 = a * a + b * b, d = 1 + r2 * (c->k1 + r2 * (c->k2 + r2 * c->k3));
    const double e = c->k1 + r2 * (2 * c->k2 + 3 * r2 * c->k3); // dd / dr2

    out[0] = a * d + 2 * c->p1 * a * b + c->p2 * (r2 + 2 * a * a);
    out[1] = b * d + c->p1 * (r2 + 2 * b * b) + 2 * c->p2 * a * b;
    D[0] = d + 2 * a * a * e + 2 * c->p1 * b + 6 * c->p2 * a;
    D[1] = 2 * a * b * e + 2 * c->p1 * a + 2 * c->p2 * b;
    D[2] = D[1];
    D[3] = d + 2 * b * b * e + 6 * c->p1 * b + 2 * c->p2 * a;
}

bool pl_camera_project(const pl_camera *c, const pl_camera_pose *pose, const double X[3], double pixel[2],
                       double *by_camera, double *by_pose, double *by_point)
{
    double turned[3], x[3], q[2], D[4];
    pl_mulv3(pose->R, X, turned);
    for (int i = 0; i < 3; ++i) {
        x[i] = turned[i] + pose->t[i];
    }

    const bool before = x[2] > 1e-9;
    const double z = before ? x[2] : 1e-9, a = x[0] / z, b = x[1] / z, r2 = a * a + b * b;
    distort(c, a, b, q, D);
    pixel[0] = c->fx * q[0] + c->cx;
    pixel[1] = c->fy * q[1] + c->cy;

    if (by_camera) {
        const double f[2] = {c->fx, c->fy}, at[2] = {a, b};
        const double p1[2] = {2 * a * b, r2 + 2 * b * b}, p2[2] = {r2 + 2 * a * a, 2 * a * b};

        for (int i = 0; i < 2; ++i) {
            const double row[PL_CAMERA_CONSTANTS] = {
                i == 0 ? q[0] : 0,          i == 1 ? q[1] : 0,      i == 0,       i == 1,
                f[i] * at[i] * r2,          f[i] * at[i] * r2 * r2, f[i] * p1[i], f[i] * p2[i],
                f[i] * at[i] * r2 * r2 * r2};
            memcpy(by_camera + PL_CAMERA_CONSTANTS * i, row, sizeof row);
        }
    }

    // d(u, v) / dx of the point in the camera's frame
    double P[6];
    const double da[3] = {1 / z, 0, -a / z}, db[3] = {0, 1 / z, -b / z};
    for (int i = 0; i < 3; ++i) {
        P[i] = c->fx * (D[0] * da[i] + D[1] * db[i]);
        P[3 + i] = c->fy * (D[2] * da[i] + D[3] * db[i]);
    }

    for (int i = 0; by_pose && i < 2; ++i) {
        // a rotation vector w moves R X by w x (R X): p . (w x y) = w . (y x p)
        pl_cross3(turned, P + 3 * i, by_pose + 6 * i);
        memcpy(by_pose + 6 * i + 3, P + 3 * i, 3 * sizeof *P);
    }

    for (int i = 0; by_point && i < 2; ++i) {
        for (int j = 0; j < 3; ++j) {
            by_point[3 * i + j] =
                P[3 * i] * pose->R[j] + P[3 * i + 1] * pose->R[3 + j] + P[3 * i + 2] * pose->R[6 + j];
        }
    }

    return before;
}

bool pl_camera_ray(const pl_camera *c, const double pixel[2], double ray[2])
{
    const double goal[2] = {(pixel[0] - c->cx) / c->fx, (pixel[1] - c->cy) / c->fy};
    double a = goal[0], b = goal[1];

    for (int k = 0; k < 50; ++k) {
        double q[2], D[4];
        distort(c, a, b, q, D);
        const double ra = goal[0] - q[0], rb = goal[1] - q[1], det = D[0] * D[3] - D[1] * D[2];

        if (fabs(ra) + fabs(rb) < 1e-13) {
            ray[0] = a;
            ray[1] = b;
            return true;
        }

        if (!(fabs(det) > 1e-6)) {
            return false; // the distortion folds the image there
        }
        a += (D[3] * ra - D[1] * rb) / det;
        b += (D[0] * rb - D[2] * ra) / det;
    }

    return false;
}

void pl_camera_pose_move(pl_camera_pose *pose, const double step[6])
{
    double turn[9], R[9];
    pl_rotation_exp(step, turn);
    pl_mul33(turn, pose->R, R);
    memcpy(pose->R, R, sizeof R);
    for (int i = 0; i < 3; ++i) {
        pose->t[i] += step[3 + i];
    }
}

// ---- least squares
bool camera_normal_create(int n, camera_normal *out)
{
    *out = (camera_normal){.n = n};
    out->H = PL_NEW_ARRAY(double, (int64_t)n *n);
    out->g = PL_NEW_ARRAY(double, n);
    return out->H && out->g;
}

void camera_normal_clear(camera_normal *m)
{
    pl_free(m->H);
    pl_free(m->g);
}

void camera_normal_reset(camera_normal *m)
{
    memset(m->H, 0, (size_t)m->n * (size_t)m->n * sizeof *m->H);
    memset(m->g, 0, (size_t)m->n * sizeof *m->g);
    m->sum = m->largest = 0;
    m->rows = 0;
}

void camera_normal_add(camera_normal *m, const double r[2], const int *column, const double *J, int count)
{
    const double square = r[0] * r[0] + r[1] * r[1];
    m->sum += square;
    m->largest = fmax(m->largest, sqrt(square));
    m->rows += 2;

    for (int i = 0; i < count; ++i) {
        m->g[column[i]] += J[i] * r[0] + J[count + i] * r[1];
        for (int j = 0; j < count; ++j) {
            m->H[(int64_t)column[i] * m->n + column[j]] += J[i] * J[j] + J[count + i] * J[count + j];
        }
    }
}

// A copy of H, scaled to a unit diagonal (constants of a camera differ by ten orders), and the scales.
static double *normal_scaled(const camera_normal *m, double damping, double **scale)
{
    double *A = PL_NEW_ARRAY(double, (int64_t)m->n * m->n);
    *scale = PL_NEW_ARRAY(double, m->n);
    if (!A || !*scale) {
        pl_free(A);
        return NULL;
    }

    for (int i = 0; i < m->n; ++i) {
        const double d = m->H[(int64_t)i * m->n + i];
        (*scale)[i] = d > 0 ? 1 / sqrt(d) : 1;
    }

    for (int i = 0; i < m->n; ++i) {
        for (int j = 0; j < m->n; ++j) {
            A[(int64_t)i * m->n + j] = m->H[(int64_t)i * m->n + j] * (*scale)[i] * (*scale)[j];
        }
        A[(int64_t)i * m->n + i] += damping;
    }

    return A;
}

bool camera_normal_solve(const camera_normal *m, double damping, double *step)
{
    double *scale = NULL, *A = normal_scaled(m, damping, &scale);
    bool solved = A != NULL;

    for (int i = 0; solved && i < m->n; ++i) {
        step[i] = -m->g[i] * scale[i];
    }
    solved = solved && pl_dense_solve(m->n, A, step, 1);
    for (int i = 0; solved && i < m->n; ++i) {
        step[i] *= scale[i];
        solved = isfinite(step[i]);
    }

    pl_free(A);
    pl_free(scale);

    return solved;
}

bool camera_normal_variance(const camera_normal *m, double *variance)
{
    double *scale = NULL, *A = normal_scaled(m, 0, &scale);
    double *unit = PL_NEW_ARRAY(double, (int64_t)m->n * m->n);
    bool solved = A && unit;

    for (int i = 0; solved && i < m->n; ++i) {
        unit[(int64_t)i * m->n + i] = 1;
    }
    solved = solved && pl_dense_solve(m->n, A, unit, m->n);
    for (int i = 0; solved && i < m->n; ++i) {
        variance[i] = unit[(int64_t)i * m->n + i] * scale[i] * scale[i];
    }
    pl_free(A);
    pl_free(scale);
    pl_free(unit);

    return solved;
}

// ---- homographies
// Shift and scale that bring points to mean 0 and mean distance sqrt(2).
static void points_normalize(int count, const double *p, double shift[2], double *scale)
{
    double far = 0;
    shift[0] = shift[1] = 0;
    for (int k = 0; k < count; ++k) {
        shift[0] += p[2 * k] / count;
        shift[1] += p[2 * k + 1] / count;
    }

    for (int k = 0; k < count; ++k) {
        far += hypot(p[2 * k] - shift[0], p[2 * k + 1] - shift[1]) / count;
    }
    *scale = far > 0 ? sqrt(2) / far : 1;
}

bool camera_homography(int count, const double *plane, const double *pixel, double H[9])
{
    double s[2], t[2], a, b, A[64] = {0}, right[8] = {0};
    if (count < 4) {
        return false;
    }
    points_normalize(count, plane, s, &a);
    points_normalize(count, pixel, t, &b);

    // u (h6 x + h7 y + 1) = h0 x + h1 y + h2, and so for v: least squares in h
    for (int k = 0; k < count; ++k) {
        const double x = a * (plane[2 * k] - s[0]), y = a * (plane[2 * k + 1] - s[1]);
        const double uv[2] = {b * (pixel[2 * k] - t[0]), b * (pixel[2 * k + 1] - t[1])};

        for (int row = 0; row < 2; ++row) {
            double J[8] = {0};
            J[3 * row] = x;
            J[3 * row + 1] = y;
            J[3 * row + 2] = 1;
            J[6] = -uv[row] * x;
            J[7] = -uv[row] * y;

            for (int i = 0; i < 8; ++i) {
                right[i] += J[i] * uv[row];
                for (int j = 0; j < 8; ++j) {
                    A[8 * i + j] += J[i] * J[j];
                }
            }
        }
    }

    if (!pl_dense_solve(8, A, right, 1)) {
        return false;
    }

    // back: T^-1 h S
    const double h[9] = {right[0], right[1], right[2], right[3], right[4], right[5], right[6], right[7], 1};
    const double S[9] = {a, 0, -a * s[0], 0, a, -a * s[1], 0, 0, 1};
    const double T[9] = {1 / b, 0, t[0], 0, 1 / b, t[1], 0, 0, 1};
    double hS[9];
    pl_mul33(h, S, hS);
    pl_mul33(T, hS, H);
    for (int i = 0; i < 8; ++i) {
        H[i] /= H[8];
    }
    H[8] = 1;

    return true;
}
