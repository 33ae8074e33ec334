// Parameters from measured poses: Gauss-Newton on the marker deviations with exact sensitivities.
//   r = Q(w) (p(theta, c) ) + t - p_measured,   c = factor c_table + offset
// where t and w are the placement of the measured frame. With cameras r = pixel(that) - pixel measured, the
// derivative of the projection times that of the position.
#include "base/base.h"
#include "base/rotation.h"
#include "base/vec.h"
#include "camera/camera.h"
#include "pliant/calib.h"
#include "solver/solver.h"

#define POSE_DIFFERENCE 1e-3 // relative step of numbers without an exact derivative

typedef struct poses {
    const pl_poses_def *d;
    int P, N;          // parameters; residuals, also of rows not fitted
    double *predicted; // 3 markers per row
    double *J;         // N x P
    double *work;
    int solves;
    pl_poses_report *report;
} poses;

static double pose_scale(const pl_pose_parameter *p)
{
    return p->scale > 0 ? p->scale : p->value != 0 ? fabs(p->value) : 1;
}

static void pose_command(const pl_poses_def *d, const double *value, int row, double *command)
{
    const int C = d->command_count;
    memcpy(command, d->command + (int64_t)row * C, (size_t)C * sizeof *command);
    for (int k = 0; k < d->parameter_count; ++k) {
        const pl_pose_parameter *p = &d->parameter[k];
        if (p->kind == PL_POSE_FACTOR) {
            command[p->index] *= value[k];
        }
    }

    for (int k = 0; k < d->parameter_count; ++k) {
        const pl_pose_parameter *p = &d->parameter[k];
        if (p->kind == PL_POSE_OFFSET) {
            command[p->index] += value[k] * p->unit;
        }
    }
}

// Solves one row from where the model stands; a row without a solution is an error of this attempt.
static pl_status pose_solve(poses *s, pl_model *model, const double *value, int row, pl_error *err)
{
    pl_solve_report report;
    double *command = s->work;

    pose_command(s->d, value, row, command);
    pl_status status = pl_model_fk(model, command, &report, err);
    ++s->solves;
    if (status == PL_OK && report.outcome != PL_SOLVED && report.outcome != PL_STOPPED) {
        pl_model_reset(model);
        status = pl_model_fk(model, command, &report, err);
        ++s->solves;
    }

    if (status == PL_OK && report.outcome != PL_SOLVED) {
        return pl_fail(err, report.outcome == PL_STOPPED ? PL_INTERRUPTED : PL_FAILED,
                       "pose %d cannot be solved: %s", row + 1, pl_outcome_name(report.outcome));
    }

    return status;
}

static void pose_base(const pl_poses_def *d, const double *value, double t[3], double Q[9])
{
    double w[3] = {0, 0, 0};
    t[0] = t[1] = t[2] = 0;
    for (int k = 0; k < d->parameter_count; ++k) {
        if (d->parameter[k].kind == PL_POSE_BASE) {
            (d->parameter[k].index < 3 ? t : w)[d->parameter[k].index % 3] = value[k];
        }
    }

    const double a = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    const double s = a > 1e-9 ? sin(a) / a : 1, c = a > 1e-9 ? (1 - cos(a)) / (a * a) : 0.5;
    const double K[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double square = 0;
            for (int k = 0; k < 3; ++k) {
                square += K[3 * i + k] * K[3 * k + j];
            }
            Q[3 * i + j] = (i == j) + s * K[3 * i + j] + c * square;
        }
    }
}

static void pose_place(const double t[3], const double Q[9], const double *p, double *out)
{
    double q[3];
    for (int i = 0; i < 3; ++i) {
        q[i] = Q[3 * i] * p[0] + Q[3 * i + 1] * p[1] + Q[3 * i + 2] * p[2] + t[i];
    }
    memcpy(out, q, sizeof q);
}

// Puts the derivative v of marker m by parameter k, turned into the measured frame, into the columns of a
// row.
static void pose_put(poses *s, int row, int m, int k, const double Q[9], double v[3])
{
    const int M = s->d->marker_count;
    pose_place((double[3]){0, 0, 0}, Q, v, v);
    for (int i = 0; i < 3; ++i) {
        s->J[((int64_t)row * M * 3 + 3 * m + i) * s->P + k] = v[i];
    }
}

// Material constants: exact sensitivities, per unit of the parameter.
static pl_status pose_columns_material(poses *s, pl_model *model, const double Q[9], int row, pl_error *err)
{
    const pl_poses_def *d = s->d;
    pl_parameter list[PL_POSE_PARAMETERS];
    int column[PL_POSE_PARAMETERS], count = 0;
    for (int k = 0; k < s->P; ++k) {
        const pl_pose_parameter *p = &d->parameter[k];
        if (p->kind == PL_POSE_MATERIAL) {
            list[count] = (pl_parameter){PL_PARAMETER_MATERIAL, p->index, p->part};
            column[count++] = k;
        }
    }

    if (count == 0) {
        return PL_OK;
    }

    double *by = s->work + d->command_count;
    const pl_jacobian out = {.marker = by};
    pl_jacobian_report how;
    const pl_status status = pl_model_sensitivity(model, list, count, &out, &how, err);
    for (int m = 0; status == PL_OK && m < d->marker_count; ++m) {
        for (int j = 0; j < count; ++j) {
            const double unit = d->parameter[column[j]].unit;
            pose_put(s, row, m, column[j], Q,
                     (double[3]){by[3 * m * count + j] * unit, by[(3 * m + 1) * count + j] * unit,
                                 by[(3 * m + 2) * count + j] * unit});
        }
    }

    return status;
}

// Factors and offsets of commands: c = factor table + offset, so dx/dfactor = J table and dx/doffset = J
// unit.
static pl_status pose_columns_command(poses *s, pl_model *model, const double Q[9], int row, pl_error *err)
{
    const pl_poses_def *d = s->d;
    const int C = d->command_count;
    bool any = false;
    for (int k = 0; k < s->P; ++k) {
        any = any || d->parameter[k].kind == PL_POSE_FACTOR || d->parameter[k].kind == PL_POSE_OFFSET;
    }

    if (!any) {
        return PL_OK;
    }

    pl_model_derivative by;
    pl_jacobian_report how;
    const pl_status status = pl_model_differentiate(model, PL_PART_MARKER, 0, &by, &how, err);
    for (int k = 0; status == PL_OK && k < s->P; ++k) {
        const pl_pose_parameter *p = &d->parameter[k];
        const double table = p->kind == PL_POSE_FACTOR ? d->command[(int64_t)row * C + p->index] : p->unit;
        if ((p->kind != PL_POSE_FACTOR && p->kind != PL_POSE_OFFSET) || isnan(table)) {
            continue;
        }
        for (int m = 0; m < d->marker_count; ++m) {
            const double *J = by.marker + 3 * m * C + p->index;
            pose_put(s, row, m, k, Q, (double[3]){J[0] * table, J[C] * table, J[2 * C] * table});
        }
    }

    return status;
}

// The frame of measurement x = Q X + t: displacements, and rotations by differences of the closed form.
static void pose_columns_base(poses *s, pl_model *model, const double *value, const double t[3], int row)
{
    const pl_poses_def *d = s->d;
    const int M = d->marker_count, P = s->P;
    const double *marker = pl_model_get_answer(model).marker;

    for (int k = 0; k < P; ++k) {
        const pl_pose_parameter *p = &d->parameter[k];

        for (int m = 0; p->kind == PL_POSE_BASE && m < M; ++m) {
            double v[3] = {p->index == 0, p->index == 1, p->index == 2};
            if (p->index >= 3) {
                double high[PL_POSE_PARAMETERS], th[3], Qh[9], Ql[9], a[3], b[3];
                memcpy(high, value, (size_t)P * sizeof *high);
                high[k] += 1e-6;
                pose_base(d, high, th, Qh);
                high[k] -= 2e-6;
                pose_base(d, high, th, Ql);
                pose_place(t, Qh, marker + 3 * m, a);
                pose_place(t, Ql, marker + 3 * m, b);
                for (int i = 0; i < 3; ++i) {
                    v[i] = (a[i] - b[i]) / 2e-6;
                }
            }

            for (int i = 0; i < 3; ++i) {
                s->J[((int64_t)row * M * 3 + 3 * m + i) * P + k] = v[i];
            }
        }
    }
}

// Columns of one row that come from the solution at hand.
static pl_status pose_columns(poses *s, pl_model *model, const double *value, int row, pl_error *err)
{
    double t[3], Q[9];

    pose_base(s->d, value, t, Q);
    pl_status status = pose_columns_material(s, model, Q, row, err);
    if (status == PL_OK) {
        status = pose_columns_command(s, model, Q, row, err);
    }
    if (status == PL_OK) {
        pose_columns_base(s, model, value, t, row);
    }

    return status;
}

// Predictions of the fitted rows at `value`, with their derivatives if wanted; or of the others. A row that
// is not fitted and cannot be solved is predicted as NAN.
static pl_status pose_predict(poses *s, const double *value, bool slopes, bool others, double *predicted,
                              pl_error *err)
{
    const pl_poses_def *d = s->d;
    const int M = d->marker_count;
    pl_model *model = NULL;
    double t[3], Q[9];

    pose_base(d, value, t, Q);
    pl_status status = d->build(d->user, value, &model, err);
    for (int row = 0; status == PL_OK && row < d->row_count; ++row) {
        if ((d->fit && !d->fit[row]) != others) {
            continue;
        }
        // at most so many steps, most fits need fewer; each visits all poses
        const int limit = d->iteration_limit > 0 ? d->iteration_limit : 12;
        const double fraction = (s->report->iterations + (double)row / d->row_count) / (limit + 1);
        if (!pl_progress_step(&d->progress, fraction, "solving the measured poses")) {
            status = pl_fail(err, PL_INTERRUPTED, "interrupted");
            break;
        }

        status = pose_solve(s, model, value, row, err);
        if (status == PL_FAILED && others) {
            for (int i = 0; i < 3 * M; ++i) {
                predicted[(int64_t)row * M * 3 + i] = NAN;
            }
            pl_model_reset(model);
            status = PL_OK;
            continue;
        }

        if (status == PL_OK && slopes) {
            status = pose_columns(s, model, value, row, err);
        }
        const double *marker = status == PL_OK ? pl_model_get_answer(model).marker : NULL;
        for (int m = 0; marker && m < M; ++m) {
            pose_place(t, Q, marker + 3 * m, predicted + ((int64_t)row * M + m) * 3);
        }
    }

    pl_model_destroy(model);

    return status;
}

// Columns of numbers without an exact derivative: central differences of rebuilt models.
static pl_status pose_differences(poses *s, const double *value, double *low, double *high, pl_error *err)
{
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < s->P; ++k) {
        if (s->d->parameter[k].kind != PL_POSE_NUMBER) {
            continue;
        }
        double v[PL_POSE_PARAMETERS];
        memcpy(v, value, (size_t)s->P * sizeof *v);
        const double h = POSE_DIFFERENCE * pose_scale(&s->d->parameter[k]);
        v[k] = value[k] + h;
        status = pose_predict(s, v, false, false, high, err);
        v[k] = value[k] - h;
        status = status == PL_OK ? pose_predict(s, v, false, false, low, err) : status;
        for (int64_t i = 0; status == PL_OK && i < s->N; ++i) {
            s->J[i * s->P + k] = (high[i] - low[i]) / (2 * h);
        }
    }

    return status;
}

#define POSE_RESIDUALS (3 + 2 * 8) // most residuals of one marker in one row

// Residuals of marker k (row by row) where it is predicted at p, and, where wanted, their derivatives by its
// position (3 each). Returns how many there are; *seen: positions, or cameras that saw it.
static int pose_residuals(const pl_poses_def *d, int64_t k, const double *p, double *r, double *by, int *seen)
{
    int count = 0;
    *seen = 0;
    if (d->camera_count == 0) {
        const double *q = d->marker + 3 * k;

        for (int i = 0; isfinite(q[0] + q[1] + q[2]) && i < 3; ++i) {
            r[count] = p[i] - q[i];
            for (int j = 0; by && j < 3; ++j) {
                by[3 * count + j] = i == j;
            }
            ++count;
        }

        *seen = count > 0;
        return count;
    }

    for (int c = 0; c < d->camera_count; ++c) {
        const double *q = d->pixel + 2 * (k * d->camera_count + c);
        double at[2], J[6];
        if (!isfinite(q[0] + q[1])) {
            continue;
        }
        // behind the camera there is no pixel: far off, so that no step leads there
        const bool before = pl_camera_project(&d->camera[c], &d->rig[c], p, at, NULL, NULL, J);
        for (int i = 0; i < 2; ++i) {
            r[count] = before ? at[i] - q[i] : 1e6;
            for (int j = 0; by && j < 3; ++j) {
                by[3 * count + j] = before ? J[3 * i + j] : 0;
            }
            ++count;
        }

        ++*seen;
    }

    return count;
}

// Mean square of the residuals per measured marker, or per view of one; rows as `fitted` says.
static double pose_mean(const poses *s, const double *predicted, bool fitted, int *count)
{
    const pl_poses_def *d = s->d;
    double sum = 0, r[POSE_RESIDUALS];

    *count = 0;
    for (int64_t k = 0; k < (int64_t)d->row_count * d->marker_count; ++k) {
        const bool in = !d->fit || d->fit[k / d->marker_count];
        const double *p = predicted + 3 * k;
        int seen = 0;
        if (in != fitted || !isfinite(p[0])) {
            continue;
        }
        const int rows = pose_residuals(d, k, p, r, NULL, &seen);
        for (int i = 0; i < rows; ++i) {
            sum += r[i] * r[i];
        }
        *count += seen;
    }

    return *count ? sum / *count : NAN;
}

// A^T A and A^T r in relative parameters over the fitted, measured coordinates.
static int pose_normal(const poses *s, double *H, double *g)
{
    const pl_poses_def *d = s->d;
    const int P = s->P;
    int count = 0;

    memset(H, 0, sizeof(double) * (size_t)(P * P));
    memset(g, 0, sizeof(double) * (size_t)P);
    for (int64_t k = 0; k < (int64_t)d->row_count * d->marker_count; ++k) {
        double r[POSE_RESIDUALS], by[3 * POSE_RESIDUALS], row[PL_POSE_PARAMETERS];
        int seen;
        if (d->fit && !d->fit[k / d->marker_count]) {
            continue;
        }
        const int rows = pose_residuals(d, k, s->predicted + 3 * k, r, by, &seen);

        for (int i = 0; i < rows; ++i, ++count) {
            for (int a = 0; a < P; ++a) {
                row[a] = 0;
                for (int j = 0; j < 3; ++j) {
                    row[a] += by[3 * i + j] * s->J[(3 * k + j) * P + a];
                }
                row[a] *= pose_scale(&d->parameter[a]);
            }

            for (int a = 0; a < P; ++a) {
                g[a] += row[a] * r[i];
                for (int b = 0; b < P; ++b) {
                    H[a * P + b] += row[a] * row[b];
                }
            }
        }
    }

    return count;
}

// 97.5 % point of Student's t, by the expansion about the normal distribution (0.5 % at 3 degrees of
// freedom).
static double pose_quantile(int freedom)
{
    const double z = 1.959964, n = freedom > 0 ? freedom : 1, z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

static void pose_statistics(poses *s, const double *H, int count)
{
    const int P = s->P;
    pl_poses_report *r = s->report;
    double A[PL_POSE_PARAMETERS * PL_POSE_PARAMETERS], w[PL_POSE_PARAMETERS],
        V[PL_POSE_PARAMETERS * PL_POSE_PARAMETERS];
    int markers;
    const double sum = pose_mean(s, s->predicted, true, &markers) * markers;
    const double variance = sum / (count > P ? count - P : 1);

    memcpy(A, H, sizeof(double) * (size_t)(P * P));
    pl_dense_eigen(P, A, w, V);
    r->quantile = pose_quantile(count - P);

    for (int k = 0; k < P; ++k) {
        double v = 0;
        for (int j = 0; j < P; ++j) {
            v += V[k * P + j] * V[k * P + j] / fmax(w[j], 1e-300);
        }
        r->deviation[k] = sqrt(variance * v) * pose_scale(&s->d->parameter[k]);
    }

    for (int j = 0; j < P; ++j) { // eigenvalues ascend: the best known direction is the last
        const int from = P - 1 - j;
        r->direction_deviation[j] = sqrt(variance / fmax(w[from], 1e-300));
        for (int k = 0; k < P; ++k) {
            r->direction[j][k] = V[k * P + from];
        }
    }
}

static pl_status pose_search(poses *s, double *trial_prediction, double *other, pl_error *err)
{
    const pl_poses_def *d = s->d;
    const int P = s->P, limit = d->iteration_limit > 0 ? d->iteration_limit : 12;
    pl_poses_report *r = s->report;
    double H[PL_POSE_PARAMETERS * PL_POSE_PARAMETERS], g[PL_POSE_PARAMETERS], mu = 1e-4;
    int count = 0, markers;

    for (int k = 0; k < P; ++k) {
        r->value[k] = d->parameter[k].value;
    }

    pl_status status = pose_predict(s, r->value, true, false, s->predicted, err);
    if (status != PL_OK) {
        return status;
    }

    double cost = pose_mean(s, s->predicted, true, &markers);
    r->rms_start = sqrt(cost);
    while (status == PL_OK) {
        status = pose_differences(s, r->value, other, trial_prediction, err);
        if (status != PL_OK) {
            break;
        }
        count = pose_normal(s, H, g);
        if (r->iterations >= limit || r->converged) {
            break;
        }
        bool better = false;

        for (int attempt = 0; attempt < 6 && !better && status == PL_OK; ++attempt) {
            double A[PL_POSE_PARAMETERS * PL_POSE_PARAMETERS], step[PL_POSE_PARAMETERS],
                trial[PL_POSE_PARAMETERS], size = 0;
            memcpy(A, H, sizeof(double) * (size_t)(P * P));
            for (int k = 0; k < P; ++k) {
                A[k * P + k] += mu * (H[k * P + k] + 1e-12);
                step[k] = -g[k];
            }

            if (!pl_dense_solve(P, A, step, 1)) {
                mu = fmax(10 * mu, 1e-6);
                continue;
            }

            for (int k = 0; k < P; ++k) {
                const bool positive = d->parameter[k].kind == PL_POSE_MATERIAL ||
                                      d->parameter[k].kind == PL_POSE_FACTOR ||
                                      (d->parameter[k].kind == PL_POSE_NUMBER && r->value[k] > 0);
                double v = r->value[k] + step[k] * pose_scale(&d->parameter[k]);
                v = positive ? fmin(fmax(v, 0.6 * r->value[k]), 1.6 * r->value[k]) : v;
                size = fmax(size, fabs(v - r->value[k]) / pose_scale(&d->parameter[k]));
                trial[k] = v;
            }

            // derivatives come with the same solves; kept if the step is
            const pl_status tried = pose_predict(s, trial, true, false, trial_prediction, err);
            if (tried == PL_INTERRUPTED || tried == PL_NO_MEMORY) {
                return tried;
            }
            const double fresh = tried == PL_OK ? pose_mean(s, trial_prediction, true, &markers) : INFINITY;
            better = fresh < cost;
            if (better || size < 1e-5) {
                r->converged = size < 1e-4 || (better && cost - fresh < 1e-5 * cost);
            }
            if (better) {
                memcpy(r->value, trial, (size_t)P * sizeof *trial);
                memcpy(s->predicted, trial_prediction, (size_t)s->N * sizeof(double));
                cost = fresh;
                mu = fmax(0.2 * mu, 1e-10);
                ++r->iterations;
            } else {
                mu = fmax(10 * mu, 1e-6);
                if (size < 1e-5) {
                    break;
                }
            }
        }

        if (!better) { // no step decreases it: derivatives at the point kept
            r->converged = true;
            status = pose_predict(s, r->value, true, false, s->predicted, err);
        }
    }

    if (status == PL_OK) {
        status = pose_predict(s, r->value, false, true, s->predicted, err);
    }

    if (status == PL_OK) {
        r->rms_fit = sqrt(cost);
        r->rms_held = sqrt(pose_mean(s, s->predicted, false, &markers));
        pose_statistics(s, H, count);
    }

    return status;
}

// Gauss-Newton on the deviations of all rows at once.
pl_status pl_poses_calibrate(const pl_poses_def *d, double *predicted, pl_poses_report *report, pl_error *err)
{
    *report = (pl_poses_report){0};
    if (d->parameter_count < 1 || d->parameter_count > PL_POSE_PARAMETERS) {
        return pl_fail(err, PL_BAD_INPUT, "calibration: %d free parameters, must be 1 to %d",
                       d->parameter_count, PL_POSE_PARAMETERS);
    }

    if (d->camera_count < 0 || d->camera_count > 8) {
        return pl_fail(err, PL_BAD_INPUT, "calibration: %d cameras, must be 0 to 8", d->camera_count);
    }

    // more numbers than parameters, otherwise every value fits
    int numbers = 0;
    for (int64_t k = 0; k < (int64_t)d->row_count * d->marker_count; ++k) {
        double r[POSE_RESIDUALS];
        int seen;
        numbers += !d->fit || d->fit[k / d->marker_count]
                       ? pose_residuals(d, k, (double[3]){0, 0, 1}, r, NULL, &seen)
                       : 0;
    }

    if (numbers <= d->parameter_count) {
        return pl_fail(err, PL_BAD_INPUT,
                       "calibration: %d measured coordinates do not determine %d parameters", numbers,
                       d->parameter_count);
    }

    // columns, residuals and a trial of them in one block
    poses s = {.d = d,
               .P = d->parameter_count,
               .N = 3 * d->row_count * d->marker_count,
               .predicted = predicted,
               .report = report};
    s.J = PL_NEW_ARRAY(double, (int64_t)s.N *s.P + 2 * (int64_t)s.N);
    s.work = PL_NEW_ARRAY(double, d->command_count + 3 * (int64_t)d->marker_count * PL_POSE_PARAMETERS);
    pl_status status = s.J && s.work ? PL_OK : pl_fail_memory(err, "the calibration");
    if (status == PL_OK) {
        double *trial = s.J + (int64_t)s.N * s.P;
        status = pose_search(&s, trial, trial + s.N, err);
    }

    report->solves = s.solves;
    pl_free(s.J);
    pl_free(s.work);

    return status;
}

// Rotation that fits sum (to - mean) (from - mean)^T best, then the displacement of the means.
bool pl_poses_place(const double *from, const double *to, int count, double base[6])
{
    double mean[2][3] = {{0}}, C[9] = {0}, R[9], turned[3], spread = 0;
    int used = 0;

    // means first, then C = sum (to - mean) (from - mean)^T
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < count; ++k) {
            const double *a = from + 3 * k, *b = to + 3 * k;
            if (!isfinite(a[0] + a[1] + a[2] + b[0] + b[1] + b[2])) {
                continue;
            }
            used += pass == 0;

            for (int i = 0; i < 3; ++i) {
                mean[0][i] += pass == 0 ? a[i] : 0;
                mean[1][i] += pass == 0 ? b[i] : 0;
                for (int j = 0; pass == 1 && j < 3; ++j) {
                    C[3 * i + j] += (b[i] - mean[1][i]) * (a[j] - mean[0][j]);
                }
            }
        }

        for (int i = 0; pass == 0 && i < 3; ++i) {
            mean[0][i] /= used > 0 ? used : 1;
            mean[1][i] /= used > 0 ? used : 1;
        }
    }

    // the rotation is determined if C has rank 2: then its cofactors do not vanish
    double cofactor[9];
    pl_cofactor3(C, cofactor);
    for (int i = 0; i < 9; ++i) {
        spread += cofactor[i] * cofactor[i];
    }

    double size = 0;
    for (int i = 0; i < 9; ++i) {
        size += C[i] * C[i];
    }
    if (used < 3 || !(sqrt(spread) > 1e-9 * size)) {
        return false;
    }

    // the rotation of the polar decomposition, and the displacement that brings mean onto mean
    pl_nearest_rotation3(C, R);
    pl_mulv3(R, mean[0], turned);
    pl_rotation_log(R, base + 3);
    for (int i = 0; i < 3; ++i) {
        base[i] = mean[1][i] - turned[i];
    }

    return true;
}
