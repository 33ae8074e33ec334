// Outliers among the measured numbers (Baarda's data snooping). With the leverage h_i = J_i (J^T J + L)^-1
// J_i^T of reading i in the fit, its distance from what the other readings and the prior tell is r_i / (1 -
// h_i), with the variance 1 / (1 - h_i), in sigmas. The reading farthest beyond `outlier` standard deviations
// is rejected, and the rest is fitted again, until all agree. A reading that the fit without it agrees with
// returns. Readings that cannot be distinguished from the farthest are rejected with it. When more than a
// half would have to go, the model is contradicted, not a sensor, and all are used.
#include "control/control_estimate.h"

#define OUTLIER_ALIKE 0.98     // of the farthest: the same reading as far as the fit can tell
#define OUTLIER_RETURNS 0.5    // of its limit: a rejected reading this near is used again
#define OUTLIER_FIXED 1e30     // information of an unknown at its bound
#define OUTLIER_UNCHECKED 1e-6 // 1 - h below it: no other reading tells anything about this one

// The model's answers at rest, without forces; needed only where model errors count.
pl_status outlier_prepare(pl_estimator *s, pl_error *err)
{
    if (!(s->options.outlier > 0) || !(s->options.model_error > 0)) {
        return PL_OK;
    }
    for (int j = 0; j < s->info.command_count; ++j) {
        s->command[j] = s->info.command[j].rest;
    }
    memset(s->x, 0, (size_t)s->n * sizeof *s->x);
    bool solved;
    pl_status status = estimate_go(s, s->command, s->x, &solved, err);
    if (status == PL_OK && !solved) {
        return pl_fail(err, PL_FAILED, "estimator: the model has no equilibrium at rest");
    }
    for (int i = 0; status == PL_OK && i < s->options.measured_count; ++i) {
        s->at_rest[i] = estimate_value(s, s->x, &s->measured[i]);
    }

    return status;
}

// The distance of a reading from what the others and the prior tell, over the allowed one. With h = w J cov
// J^T and Huber's weight w of the fit: r / (1 - h), of variance 1 / (1 - h), or, if it is not in the fit, r
// of variance 1 + J cov J^T; in sigmas. The error of the model adds to the variance.
static double outlier_measure(const pl_estimator *s, int i, bool huber)
{
    const int n = s->n;
    const double *J = s->J + i * n, k = s->options.outlier, r = fabs(s->residual[i]);
    const double model = estimate_model_error(s, i);
    double spread = 0;

    // J cov J^T
    for (int a = 0; a < n; ++a) {
        for (int b = 0; b < n; ++b) {
            spread += J[a] * s->covariance[a * n + b] * J[b];
        }
    }

    if (s->rejected[i]) {
        return r / sqrt(1 + spread + model * model) / k;
    }

    const double rest = 1 - (huber && r > k ? k / r : 1) * spread;

    return rest > OUTLIER_UNCHECKED ? r / rest / sqrt(1 / rest + model * model) / k : 0;
}

// The inverse of s->square.
static void outlier_covariance(pl_estimator *s)
{
    const int n = s->n;
    for (int i = 0; i < n * n; ++i) {
        s->covariance[i] = i % (n + 1) == 0;
    }
    if (n > 0) {
        pl_dense_solve(n, s->square, s->covariance, n);
    }
}

// The largest distance over its limit among the readings in use; above 1: an outlier.
static double outlier_largest(const pl_estimator *s, bool huber)
{
    double largest = 0;
    for (int i = 0; i < s->options.measured_count; ++i) {
        if (!isnan(s->residual[i]) && !s->rejected[i]) {
            largest = fmax(largest, outlier_measure(s, i, huber));
        }
    }

    return largest;
}

// Rejects the farthest reading beyond its limit, and those like it. False: there is none.
// In the same pass those within OUTLIER_ALIKE of the farthest: the fit cannot say which of them is wrong.
static bool outlier_farthest(pl_estimator *s, bool huber)
{
    const int m = s->options.measured_count;
    const double largest = outlier_largest(s, huber);

    if (!(largest > 1)) {
        return false;
    }
    for (int i = 0; i < m; ++i) {
        s->others[i] = !isnan(s->residual[i]) && !s->rejected[i] &&
                       outlier_measure(s, i, huber) >= OUTLIER_ALIKE * largest;
    }

    for (int i = 0; i < m; ++i) {
        s->rejected[i] = s->rejected[i] || s->others[i];
    }

    return true;
}

// More than half of the readings given: then the model is wrong, not they.
static bool outlier_too_many(const pl_estimator *s, const double *value)
{
    int rejected = 0, given = 0;
    for (int i = 0; i < s->options.measured_count; ++i) {
        rejected += s->rejected[i];
        given += !isnan(value[i]);
    }

    return 2 * rejected > given && given > 1;
}

// The fit to first order about what was known before, without the readings rejected: residuals r0 - J p with
// p = (J^T J + L)^-1 J^T r0, and the covariance.
static void outlier_linear(pl_estimator *s, const double *r0)
{
    const int n = s->n, m = s->options.measured_count;
    double largest = 0;

    // normal equations of the readings in use
    memcpy(s->square, s->prior, (size_t)n * (size_t)n * sizeof *s->square);
    memset(s->g, 0, (size_t)n * sizeof *s->g);
    for (int i = 0; i < m; ++i) {
        for (int a = 0; !isnan(r0[i]) && !s->rejected[i] && a < n; ++a) {
            s->g[a] += s->J[i * n + a] * r0[i];
            for (int b = 0; b < n; ++b) {
                s->square[a * n + b] += s->J[i * n + a] * s->J[i * n + b];
            }
        }
    }

    // the same relative ridge as in the fit
    for (int a = 0; a < n; ++a) {
        largest = fmax(largest, s->square[a * n + a]);
    }
    for (int a = 0; a < n; ++a) {
        s->square[a * n + a] += 1e-13 * largest + 1e-300;
    }
    outlier_covariance(s);

    // residuals after the step, of all readings
    for (int i = 0; i < m; ++i) {
        s->residual[i] = r0[i];
        for (int a = 0; a < n; ++a) {
            for (int b = 0; b < n; ++b) {
                s->residual[i] -= s->J[i * n + a] * s->covariance[a * n + b] * s->g[b];
            }
        }
    }
}

// A fit that includes a wrong reading may be far from the truth. Outliers are therefore sought first to first
// order about what was known before the readings; the fits that follow confirm or correct this.
static pl_status outlier_screen(pl_estimator *s, const double *sent, const double *value, pl_error *err)
{
    // the model at what was known before
    bool solved = false;
    memset(s->rejected, 0, (size_t)s->options.measured_count * sizeof *s->rejected);
    memcpy(s->x, s->mean, (size_t)s->n * sizeof *s->x);
    pl_status status = estimate_go(s, sent, s->x, &solved, err);
    if (status == PL_OK && solved) {
        status = estimate_derive(s, err);
    }
    if (status != PL_OK || !solved) {
        return status;
    }

    // residuals there; reject the farthest until all agree
    double *r0 = s->residual_trial;
    for (int i = 0; i < s->options.measured_count; ++i) {
        r0[i] = (value[i] - estimate_value(s, s->x, &s->measured[i])) / s->measured[i].sigma;
    }
    do {
        outlier_linear(s, r0);
    } while (outlier_farthest(s, false) && !outlier_too_many(s, value));
    if (outlier_too_many(s, value)) {
        memset(s->rejected, 0, (size_t)s->options.measured_count * sizeof *s->rejected);
    }

    return PL_OK;
}

// The covariance of the fit. With `bounds`, a command at the end of its range does not follow the readings.
static void outlier_weigh(pl_estimator *s, bool bounds)
{
    memcpy(s->square, s->H, (size_t)s->n * (size_t)s->n * sizeof *s->square);
    for (int k = 0; bounds && k < s->n * s->n; ++k) {
        const int a = k / s->n, b = k % s->n;
        if (s->box[a] != 0 || s->box[b] != 0) {
            s->square[k] = a == b ? OUTLIER_FIXED : 0;
        }
    }

    outlier_covariance(s);
}

// Uses readings again that the fit without them agrees with. False: there are none.
static bool outlier_return(pl_estimator *s)
{
    bool returned = false;
    for (int i = 0; i < s->options.measured_count; ++i) {
        if (s->rejected[i] && !isnan(s->residual[i]) && outlier_measure(s, i, true) <= OUTLIER_RETURNS) {
            s->rejected[i] = false;
            returned = true;
        }
    }

    return returned;
}

// Whether a reading seems to be beyond its limit, or could be used again. A wrong reading can hide by moving
// a command to the end of its range, so the fit is asked with and without bounds.
static bool outlier_suspected(pl_estimator *s)
{
    outlier_weigh(s, false);
    if (outlier_largest(s, true) > 1) {
        return true;
    }
    outlier_weigh(s, true);
    return outlier_largest(s, true) > 1 || outlier_return(s);
}

// Whether the fit as a whole is beyond the limit: with S = sum of r_i^2 over the readings in use, each with
// the error of the model in its variance, and the distance from what was known before, (x - m) . L (x - m),
// the expected value of S is at most the number of readings. Between updates of a recursive estimate more
// changes than L says, so there the readings alone count.
static bool outlier_contradicted(const pl_estimator *s)
{
    const int n = s->n;
    int used = 0;
    double sum = 0;

    for (int i = 0; i < s->options.measured_count; ++i) {
        if (isnan(s->residual[i]) || s->rejected[i]) {
            continue;
        }
        const double model = estimate_model_error(s, i);
        sum += s->residual[i] * s->residual[i] / (1 + model * model);
        ++used;
    }

    for (int a = 0; !s->options.recursive && a < n; ++a) {
        for (int b = 0; b < n; ++b) {
            sum += (s->x[a] - s->mean[a]) * s->prior[a * n + b] * (s->x[b] - s->mean[b]);
        }
    }

    return used > 0 && sum > s->options.outlier * s->options.outlier * used;
}

// Most updates end at the first test; the rounds are bounded, because rejected readings may return only in
// the first m of them.
pl_status outlier_reject(pl_estimator *s, const double *sent, const double *value, pl_estimate *out,
                         pl_error *err)
{
    if (!outlier_suspected(s)) {
        out->contradicted = outlier_contradicted(s);
        return PL_OK;
    }

    const int m = s->options.measured_count;
    pl_status status = outlier_screen(s, sent, value, err);
    for (int round = 0; status == PL_OK && round < 3 * m; ++round) {
        status = estimate_fit(s, sent, value, out, err);
        outlier_weigh(s, true);
        if (status != PL_OK || !(outlier_farthest(s, true) || (round < m && outlier_return(s)))) {
            break;
        }
        if (outlier_too_many(s, value)) {
            out->contradicted = true;
            memset(s->rejected, 0, (size_t)m * sizeof *s->rejected);
            return estimate_fit(s, sent, value, out, err);
        }
    }

    out->contradicted = status == PL_OK && outlier_contradicted(s);

    return status;
}
