// State estimation: the commands and forces that really act, from measured numbers.
//
// Unknowns x: the difference between each uncertain command and the one sent, the forces at markers, and the
// relative error of the model's stiffness.
//   min over x  sum_i rho(r_i) + 1/2 (x - m) . L (x - m),   r_i = (z_i - y_i(x)) / sigma_i,
// with the model's answers y, rho(r) = r^2 / 2 (Huber's beyond `outlier`), and what was known before: mean m
// and information L. Outliers are rejected (control_outlier.c). Gauss-Newton with the exact derivatives of
// the model, commands within their ranges. The inverse of the final information J^T J + L is the covariance
// of the unknowns; with D = d(marker)/dx, D cov D^T that of the markers. Recursive: the next L is (cov +
// drift^2)^-1. Commands are scaled by their span, forces are in N. A body stiffer by q = 1 + x has the shape
// of the model at 1 / q of its pressures, tensions, fields and forces and 1 / q^(1/2) of its voltages (whose
// Maxwell stress goes with their square), and q times the model's efforts.
#include "control/control_estimate.h"
#include "control/control.h"

#define ESTIMATE_HALVINGS 6   // of a step that does not help
#define ESTIMATE_UNSEEN 1e-10 // of the largest information: what rounding leaves

// ---- the model at unknowns x
// 1 + x, kept above 0.05 so that a trial step cannot turn the stiffness around.
static double estimate_stiffness(const pl_estimator *s, const double *x)
{
    return s->stiffness < 0 ? 1 : fmax(1 + x[s->stiffness], 0.05);
}

// The model's answer for one measured number.
static double estimate_answer(const pl_model_answer *a, const pl_measurement *m)
{
    switch (m->kind) {
    case PL_MEASUREMENT_SENSOR:
        return a->sensor[m->index];
    case PL_MEASUREMENT_MARKER:
        return a->marker[3 * m->index + m->axis];
    case PL_MEASUREMENT_EFFORT:
        return a->effort[m->index];
    default:
        return a->measure[m->index];
    }
}

// Efforts of a body stiffer by q are q times those of the model.
double estimate_value(const pl_estimator *s, const double *x, const pl_measurement *m)
{
    const pl_model_answer answer = pl_model_get_answer(s->model);
    return estimate_answer(&answer, m) * (estimate_is_effort(s, m) ? estimate_stiffness(s, x) : 1);
}

double estimate_model_error(const pl_estimator *s, int i)
{
    const pl_measurement *m = &s->measured[i];
    return s->options.outlier > 0 && s->options.model_error > 0
               ? s->options.model_error * fabs(estimate_value(s, s->x, m) - s->at_rest[i]) / m->sigma
               : 0;
}

// Solves at x. False in *solved: no equilibrium there.
pl_status estimate_go(pl_estimator *s, const double *sent, const double *x, bool *solved, pl_error *err)
{
    // commands that act, and those at which the model has the same shape
    const double stiffness = estimate_stiffness(s, x);
    memcpy(s->command, sent, (size_t)s->info.command_count * sizeof *s->command);
    for (int j = 0; j < s->uncertain_count; ++j) {
        s->command[s->uncertain[j]] += x[j] * estimate_scale(s, j); // idle stays idle
    }
    for (int j = 0; j < s->info.command_count; ++j) {
        s->solved_command[j] = s->command[j] / pow(stiffness, s->power[j]);
    }

    // forces likewise
    memset(s->all_force, 0, 3 * (size_t)s->info.marker_count * sizeof *s->all_force);
    for (int k = 0; k < 3 * s->options.force_count; ++k) {
        s->all_force[3 * s->force_marker[k / 3] + k % 3] += x[s->uncertain_count + k];
    }
    for (int k = 0; k < 3 * s->info.marker_count; ++k) {
        s->solved_force[k] = s->all_force[k] / stiffness;
    }

    pl_solve_report report = {0};
    pl_status status = pl_model_set_forces(s->model, s->solved_force, err);
    if (status == PL_OK) {
        status = pl_model_fk(s->model, s->solved_command, &report, err);
    }
    *solved = status == PL_OK && report.outcome == PL_SOLVED;

    return status;
}

// Residuals at the model's present answer, and the cost of x.
static double estimate_cost(pl_estimator *s, const double *value, const double *x, double *residual)
{
    const double k = s->options.outlier;
    double cost = 0;

    // readings: quadratic, linear beyond Huber's bound; missing and rejected ones do not count
    for (int i = 0; i < s->options.measured_count; ++i) {
        const double r = (value[i] - estimate_value(s, x, &s->measured[i])) / s->measured[i].sigma;
        residual[i] = r;
        if (!isnan(r) && !s->rejected[i]) {
            cost += k > 0 && fabs(r) > k ? k * (fabs(r) - 0.5 * k) : 0.5 * r * r;
        }
    }

    // prior
    for (int i = 0; i < s->n; ++i) {
        for (int j = 0; j < s->n; ++j) {
            cost += 0.5 * (x[i] - s->mean[i]) * s->prior[i * s->n + j] * (x[j] - s->mean[j]);
        }
    }

    return cost;
}

// One row, from the derivatives of the model with respect to the commands and forces it is solved at, c' = c
// / q^p and f' = f / q with q = 1 + x:
//   dy/dc = dy/dc' / q^p,   dy/dx = -(sum p dy/dc' c' + sum dy/df' f') / q,   and for efforts q y instead of
//   y.
static void estimate_derive_row(const pl_estimator *s, const pl_measurement *of, const double *by_command,
                                const double *by_force, double *to)
{
    const double q = estimate_stiffness(s, s->x), factor = (estimate_is_effort(s, of) ? q : 1) / of->sigma;
    double by_stiffness = estimate_is_effort(s, of) ? estimate_value(s, s->x, of) / q : 0; // y

    for (int j = 0; j < s->uncertain_count; ++j) {
        const int c = s->uncertain[j];
        to[j] =
            isnan(s->command[c]) ? 0 : factor * by_command[c] * estimate_scale(s, j) / pow(q, s->power[c]);
    }

    for (int k = 0; k < 3 * s->options.force_count; ++k) {
        to[s->uncertain_count + k] = factor * by_force[k] / q;
    }
    if (s->stiffness < 0) {
        return;
    }

    // stiffness: all commands and forces scale with 1 / q
    double sum = 0;
    for (int c = 0; c < s->info.command_count; ++c) {
        sum +=
            s->power[c] > 0 && !isnan(s->command[c]) ? s->power[c] * by_command[c] * s->solved_command[c] : 0;
    }
    for (int k = 0; k < 3 * s->options.force_count; ++k) {
        sum += by_force[k] * s->x[s->uncertain_count + k] / q;
    }
    to[s->stiffness] = by_stiffness / of->sigma - factor * sum / q;
}

// Derivatives of the measured numbers (over their sigmas) and of the markers with respect to the unknowns.
pl_status estimate_derive(pl_estimator *s, pl_error *err)
{
    const int n = s->n, columns = s->info.command_count, F = 3 * s->options.force_count;
    pl_model_derivative by = {0};
    pl_jacobian_report report;
    pl_status status = PL_OK;

    // by commands, then by forces
    if (s->uncertain_count > 0 || s->stiffness >= 0) {
        status = pl_model_differentiate(s->model,
                                        PL_PART_MARKER | PL_PART_SENSOR | PL_PART_EFFORT | PL_PART_MEASURE, 0,
                                        &by, &report, err);
    }

    if (status == PL_OK && F > 0) {
        const pl_jacobian out = {
            .marker = s->f_marker, .sensor = s->f_sensor, .effort = s->f_effort, .measure = s->f_measure};
        status = pl_model_sensitivity(s->model, s->parameter, F, &out, &report, err);
    }

    if (status != PL_OK) {
        return status;
    }

    // rows of the measured numbers, then of all markers (sigma 1: in mm)
    for (int i = 0; i < s->options.measured_count + 3 * s->info.marker_count; ++i) {
        const bool marker = i >= s->options.measured_count;
        const int d = i - s->options.measured_count;
        const pl_measurement of =
            marker ? (pl_measurement){PL_MEASUREMENT_MARKER, d / 3, d % 3, 1} : s->measured[i];
        const double *const command_part[] = {by.sensor, by.marker, by.effort, by.measure};
        const double *const force_part[] = {s->f_sensor, s->f_marker, s->f_effort, s->f_measure};
        const int row = of.kind == PL_MEASUREMENT_MARKER ? 3 * of.index + of.axis : of.index;
        estimate_derive_row(s, &of, command_part[of.kind] ? command_part[of.kind] + row * columns : NULL,
                            force_part[of.kind] ? force_part[of.kind] + row * F : NULL,
                            marker ? s->D + d * n : s->J + i * n);
    }

    return PL_OK;
}

// H = J^T w J + L, g = -J^T w r + L (x - m); Huber's weights w.
static void estimate_normal(pl_estimator *s)
{
    const int n = s->n;
    const double k = s->options.outlier;
    double largest = 0;

    // prior
    memcpy(s->H, s->prior, (size_t)n * (size_t)n * sizeof *s->H);
    for (int i = 0; i < n; ++i) {
        s->g[i] = 0;
        for (int j = 0; j < n; ++j) {
            s->g[i] += s->prior[i * n + j] * (s->x[j] - s->mean[j]);
        }
    }

    // readings
    for (int i = 0; i < s->options.measured_count; ++i) {
        const double r = s->residual[i], w = isnan(r) || s->rejected[i] ? 0
                                             : k > 0 && fabs(r) > k     ? k / fabs(r)
                                                                        : 1;
        for (int a = 0; w > 0 && a < n; ++a) {
            s->g[a] -= w * s->J[i * n + a] * r;
            for (int b = 0; b < n; ++b) {
                s->H[a * n + b] += w * s->J[i * n + a] * s->J[i * n + b];
            }
        }
    }

    // a relative ridge keeps H regular
    for (int i = 0; i < n; ++i) {
        largest = fmax(largest, s->H[i * n + i]);
    }
    for (int i = 0; i < n; ++i) {
        s->H[i * n + i] +=
            1e-13 * largest + 1e-300; // directions that nothing is known about stay where they are
    }
}

// The Gauss-Newton step within the ranges; false: no solution.
static bool estimate_step(pl_estimator *s)
{
    if (s->n == 0) {
        return true; // nothing is unknown: the model at the commands sent
    }

    // bounds of the step; commands at rest or without a range are free
    const pl_model_answer answer = pl_model_get_answer(s->model);
    const bool sampled = pl_answer_has_error(&answer);
    for (int j = 0; j < s->n; ++j) {
        s->low[j] = -1e30;
        s->high[j] = 1e30;

        if (j < s->uncertain_count) {
            const pl_command_info *c = &s->info.command[s->uncertain[j]];
            const double now = s->command[s->uncertain[j]], scale = estimate_scale(s, j);
            // a command at the end of its range may be off as any other; beyond it a surrogate knows nothing
            const double sigma = s->sent_sigma[s->uncertain[j]],
                         beyond = isinf(sigma) || sampled ? 0 : 3 * sigma;
            if (c->has_range && !isnan(now)) {
                s->low[j] = fmin((c->range[0] - beyond - now) / scale, 0);
                s->high[j] = fmax((c->range[1] + beyond - now) / scale, 0);
            }
        }
    }

    const pl_quadratic_problem problem = {
        .n = s->n, .H = s->H, .g = s->g, .low = s->low, .high = s->high, .p = s->step, .box = s->box};
    return pl_quadratic_solve(s->quadratic, &problem);
}

// The step over the error bars: sqrt(p . H p / n)
static double estimate_length(const pl_estimator *s)
{
    double sum = 0;
    for (int i = 0; i < s->n; ++i) {
        for (int j = 0; j < s->n; ++j) {
            sum += s->step[i] * s->H[i * s->n + j] * s->step[j];
        }
    }

    return sqrt(fmax(sum, 0) / (s->n > 0 ? s->n : 1));
}

// From an accepted x: tries the step and its halves. False in *moved: none of them is better.
static pl_status estimate_search(pl_estimator *s, const double *sent, const double *value, double *cost,
                                 bool *moved, pl_error *err)
{
    // the state to return to
    pl_status status = pl_model_keep(s->model, PL_SLOT_CALLER, err);
    double factor = 1;

    *moved = false;
    for (int k = 0; status == PL_OK && !*moved && k < ESTIMATE_HALVINGS; ++k, factor *= 0.5) {
        bool solved;
        for (int j = 0; j < s->n; ++j) {
            s->trial[j] = s->x[j] + factor * s->step[j];
        }
        status = estimate_go(s, sent, s->trial, &solved, err);
        const double found =
            status == PL_OK && solved ? estimate_cost(s, value, s->trial, s->residual_trial) : INFINITY;
        // an equal cost counts: it occurs at convergence
        if (found <= *cost) {
            *moved = true;
            *cost = found;
            memcpy(s->x, s->trial, (size_t)s->n * sizeof *s->x);
            memcpy(s->residual, s->residual_trial, (size_t)s->options.measured_count * sizeof *s->residual);
        } else if (status == PL_OK) {
            status = pl_model_recall(s->model, PL_SLOT_CALLER, err);
        }
    }

    return status;
}

// ---- what is reported
// In s->vector: the covariance of the unknowns with the errors b_i of the model in the readings, which the
// fit does not weigh by: cov + sum over the readings in use of b_i^2 k k^T, k = w cov J_i^T.
static void estimate_spread(pl_estimator *s)
{
    const int n = s->n;
    memcpy(s->vector, s->covariance, (size_t)n * (size_t)n * sizeof *s->vector);
    for (int i = 0; i < s->options.measured_count; ++i) {
        const double r = fabs(s->residual[i]), k = s->options.outlier;
        if (isnan(r) || s->rejected[i]) {
            continue;
        }

        const double w = k > 0 && r > k ? k / r : 1, b = estimate_model_error(s, i);
        for (int a = 0; a < n; ++a) {
            s->value[a] = 0;
            for (int c = 0; c < n; ++c) {
                s->value[a] += w * b * s->covariance[a * n + c] * s->J[i * n + c];
            }
        }
        for (int a = 0; a < n * n; ++a) {
            s->vector[a] += s->value[a / n] * s->value[a % n];
        }
    }
}

static void estimate_errors(pl_estimator *s, pl_estimate *out)
{
    const int n = s->n;
    for (int i = 0; i < n * n; ++i) {
        s->covariance[i] = i % (n + 1) == 0;
    }

    // covariance: the inverse of the information
    memcpy(s->square, s->H, (size_t)n * (size_t)n * sizeof *s->square);
    if (n > 0) {
        pl_dense_solve(n, s->square, s->covariance, n);
    }
    for (int j = 0; j < s->info.command_count; ++j) {
        s->command_sigma[j] = 0;
    }

    // standard deviations of the unknowns, in their units
    estimate_spread(s);
    for (int j = 0; j < n; ++j) {
        const double sigma = sqrt(s->vector[j * n + j]) * estimate_scale(s, j);
        *(j < s->uncertain_count ? &s->command_sigma[s->uncertain[j]]
          : j == s->stiffness    ? &out->stiffness_error
                                 : &s->force_sigma[j - s->uncertain_count]) = sigma;
    }

    // of the markers: D C D^T
    for (int i = 0; i < 3 * s->info.marker_count; ++i) {
        double sum = 0;
        for (int a = 0; a < n; ++a) {
            for (int b = 0; b < n; ++b) {
                sum += s->D[i * n + a] * s->vector[a * n + b] * s->D[i * n + b];
            }
        }

        s->marker_sigma[i] = sqrt(fmax(sum, 0));
    }

    // information of the readings alone, direction by direction, against what was known before
    memcpy(s->square, s->H, (size_t)n * (size_t)n * sizeof *s->square);
    for (int i = 0; i < n * n; ++i) {
        s->square[i] -= s->prior[i];
    }
    pl_dense_eigen(n, s->square, s->value, s->vector);

    for (int k = 0; k < n; ++k) {
        double before = 0;
        for (int a = 0; a < n; ++a) {
            for (int b = 0; b < n; ++b) {
                before += s->vector[a * n + k] * s->prior[a * n + b] * s->vector[b * n + k];
            }
        }

        out->unseen_count += s->value[k] <= before + ESTIMATE_UNSEEN * s->value[n - 1];
    }

    // a command that is idle is no unknown: nothing acts
    for (int j = 0; j < s->uncertain_count; ++j) {
        if (isnan(s->command[s->uncertain[j]])) {
            --out->unseen_count;
            s->command_sigma[s->uncertain[j]] = 0;
            for (int a = 0; a < n; ++a) {
                s->covariance[a * n + j] = s->covariance[j * n + a] = 0;
            }
        }
    }

    // the least certain direction: largest eigenvalue of the covariance
    memcpy(s->square, s->covariance, (size_t)n * (size_t)n * sizeof *s->square);
    pl_dense_eigen(n, s->square, s->value, s->vector);
    for (int a = 0; a < n; ++a) {
        s->weakest[a] = s->vector[a * n + n - 1];
    }
    out->weakest_sigma = n > 0 ? sqrt(fmax(s->value[n - 1], 0)) : 0;
}

// Counts, fit and borrowed arrays; they stay valid until the next update.
static void estimate_tell(pl_estimator *s, pl_estimate *out)
{
    // readings used, missing and rejected; fit: root mean square of the residuals in sigmas
    double sum = 0;
    for (int i = 0; i < s->options.measured_count; ++i) {
        const double r = s->residual[i];
        const bool off = !isnan(r) && (s->rejected[i] || (out->contradicted && fabs(r) > s->options.outlier));
        out->missing += isnan(r);
        out->outliers += off;
        out->used += !isnan(r) && !off;
        sum += isnan(r) || off ? 0 : r * r;
    }

    out->fit = out->used > 0 ? sqrt(sum / out->used) : NAN;
    out->converged = out->converged && (out->used == 0 || isfinite(sum)); // noise too small to be counted in

    for (int k = 0; k < 3 * s->options.force_count; ++k) {
        s->force[k] = s->x[s->uncertain_count + k];
    }
    out->command = s->command;
    out->command_sigma = s->command_sigma;
    out->force = s->force;
    out->force_sigma = s->force_sigma;
    out->marker = pl_model_get_answer(s->model).marker;
    out->marker_sigma = s->marker_sigma;
    out->stiffness = s->stiffness < 0 ? 0 : s->x[s->stiffness];
    out->residual = s->residual;
    out->rejected = s->rejected;
    out->unknown_count = s->n;
    out->weakest = s->weakest;
}

// What is known for the next update: (cov + drift^2)^-1 about the present estimate.
static void estimate_carry(pl_estimator *s)
{
    const int n = s->n;
    memcpy(s->square, s->covariance, (size_t)n * (size_t)n * sizeof *s->square);
    for (int j = 0; j < n; ++j) {
        const double drift = j < s->uncertain_count ? s->options.command_drift
                             : j == s->stiffness    ? 0 // of the body, it stays
                                                    : s->options.force_drift;
        s->square[j * n + j] += drift * drift;
        s->mean[j] = s->x[j];
    }

    // information: the inverse
    for (int i = 0; i < n * n; ++i) {
        s->information[i] = i % (n + 1) == 0;
    }
    if (n > 0) {
        pl_dense_solve(n, s->square, s->information, n);
    }
}

// z with P(|normal| < z) = c, by bisection.
static double estimate_quantile(double c)
{
    double low = 0, high = 10;
    for (int k = 0; k < 60; ++k) {
        const double mid = 0.5 * (low + high);
        *(erf(mid / sqrt(2)) < c ? &low : &high) = mid;
    }

    return high;
}

// A surrogate reads what the robot would within its own error e, which holds with probability c: a further
// standard deviation e / z of the readings, z that of the normal distribution for c. A bound that is not
// known adds nothing here; the answer says that it is not known.
static void estimate_weigh(pl_estimator *s)
{
    const pl_model_answer answer = pl_model_get_answer(s->model);
    if (!pl_answer_has_error(&answer)) {
        return;
    }

    const double z = estimate_quantile(answer.error.confidence);
    for (int i = 0; i < s->options.measured_count; ++i) {
        pl_measurement *m = &s->measured[i];
        const double bound = m->kind == PL_MEASUREMENT_SENSOR   ? answer.error.sensor[m->index]
                             : m->kind == PL_MEASUREMENT_MARKER ? answer.error.marker[m->index]
                                                                : 0;
        const double own = isfinite(bound) ? bound / z : 0;
        m->sigma = hypot(s->sigma[i], own);
    }
}

// Gauss-Newton from s->x, where the model is solved.
static pl_status estimate_iterate(pl_estimator *s, const double *sent, const double *value, pl_estimate *out,
                                  pl_error *err)
{
    pl_status status = PL_OK;
    estimate_weigh(s);
    double cost = estimate_cost(s, value, s->x, s->residual);

    // derivative, normal equations, step, search
    for (int k = 1; status == PL_OK; ++k, ++out->iterations) {
        status = estimate_derive(s, err);
        if (status != PL_OK) {
            break;
        }
        estimate_normal(s);
        if (!estimate_step(s)) {
            return pl_fail(err, PL_FAILED, "the estimate has no unique solution");
        }
        const double length = estimate_length(s);
        out->converged = length <= s->options.tolerance;
        // the derivative at the last point is needed for the covariance, so the check comes after it
        if (out->converged || k >= s->options.iteration_limit) {
            break;
        }
        bool moved;
        status = estimate_search(s, sent, value, &cost, &moved, err);
        if (status == PL_OK && !moved) {
            // no better point along the step: as near as rounding and the solver's tolerance allow
            out->converged = length < 0.1;
            break;
        }
    }

    return status;
}

// Starts at the mean known from earlier readings.
pl_status estimate_fit(pl_estimator *s, const double *sent, const double *value, pl_estimate *out,
                       pl_error *err)
{
    bool solved = false;
    memcpy(s->x, s->mean, (size_t)s->n * sizeof *s->x);
    pl_status status = estimate_go(s, sent, s->x, &solved, err);
    if (status == PL_OK && !solved) {
        // what was learned may not be possible at the new commands: start from the commands as sent
        memset(s->x, 0, (size_t)s->n * sizeof *s->x);
        status = estimate_go(s, sent, s->x, &solved, err);
    }

    if (status != PL_OK) {
        return status;
    }
    if (!solved) {
        return pl_fail(err, PL_FAILED, "the model finds no equilibrium at the commands sent: %s",
                       pl_model_get_report(s->model).message);
    }

    return estimate_iterate(s, sent, value, out, err);
}

// What is known before this update: with a further variance e of unknown j, L - L_j L_j^T e / (1 + e L_jj).
static void estimate_prior(pl_estimator *s)
{
    const int n = s->n;
    memcpy(s->prior, s->information, (size_t)n * (size_t)n * sizeof *s->prior);
    for (int j = 0; j < s->uncertain_count; ++j) {
        const double sigma = s->extra[s->uncertain[j]] / estimate_scale(s, j);
        const double e = sigma * sigma, factor = e / (1 + e * s->prior[j * n + j]);
        memcpy(s->step, s->prior + j * n, (size_t)n * sizeof *s->step);
        for (int i = 0; e > 0 && i < n * n; ++i) {
            s->prior[i] -= factor * s->step[i / n] * s->step[i % n];
        }
    }

    memset(s->extra, 0, (size_t)s->info.command_count * sizeof *s->extra);
}

// The arrays of *out are borrowed until the next update.
pl_status pl_estimator_update(pl_estimator *s, const double *sent, const double *value, pl_estimate *out,
                              pl_error *err)
{
    *out = (pl_estimate){.iterations = 1};

    // a rejected reading stays rejected while it is there, if the options say so
    for (int i = 0; i < s->options.measured_count; ++i) {
        s->rejected[i] = s->rejected[i] && s->options.keep_rejected && !isnan(value[i]);
    }

    // fit, outliers, errors
    estimate_prior(s);
    pl_status status = estimate_fit(s, sent, value, out, err);
    if (status == PL_OK && s->options.outlier > 0) {
        status = outlier_reject(s, sent, value, out, err);
    }
    if (status != PL_OK) {
        return status;
    }
    estimate_errors(s, out);
    estimate_tell(s, out);
    if (s->options.recursive) {
        estimate_carry(s);
    }

    return PL_OK;
}
