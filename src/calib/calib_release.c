// Constants from releases: the motion of markers after a body was let go, its ring-down and creep.
//
//   min over p, t_k, T_k of sum over runs k and rows of |u(t - t_k; T_k, p) - measured|^2
//
// p are logarithms of constants, t_k the moment at which the hand of run k begins to let go and T_k how long
// that takes. u(t; T) = 1/T int over [t - T, t] of u(s; 0) ds, exact for linear bodies. Responses u(t; 0)
// come from a callback; derivatives by p are differences of responses, those by t_k and T_k of the integral.
//
// Intervals: covariance s^2 (J^T J)^-1 times (1 + rho) / (1 - rho), rho the correlation of neighbouring
// residuals: what a model leaves over is not noise from row to row.
#include "base/base.h"
#include "pliant/calib.h"

#define RELEASE_UNKNOWNS (PL_RELEASE_PARAMETERS + 2 * PL_RELEASE_RUNS)
#define RELEASE_ITERATIONS 12
#define RELEASE_DIFFERENCE 0.02 // of the logarithm
#define RELEASE_STEP 1.0        // of the logarithm, in one iteration
#define RELEASE_SMALL 1e-6      // least value of a constant that begins at 0
#define RELEASE_BEGUN 0.05      // of the last displacement: the body has begun to move
#define RELEASE_BEFORE 0.05     // s: rows before the release that are compared
#define RELEASE_NEAR 0.1        // the same, before the horizon grows
#define RELEASE_CONVERGED 1e-3  // relative decrease of the sum of squares
#define RELEASE_TRIALS 6        // of the damping in one iteration
#define RELEASE_TIME_STEP 1e-4  // s: differences by start and duration

typedef struct release {
    const pl_release_def *def;
    int samples, n, rows;                     // n unknowns; rows: residuals at most
    double *integral;                         // of the response, per channel
    double *moved[PL_RELEASE_PARAMETERS + 1]; // integrals of the changed responses, and scratch last
    double *J, *r, *r_new;
    double horizon; // s after the start: rows beyond are not compared
    // s: start of each run by which its rows are chosen. It stands still while the sum of squares is
    // minimised: else a step that moves the rows out of the comparison would count as a better fit.
    double window[PL_RELEASE_RUNS];
    int responses;
} release;

// ---- the response
static double release_integral(const release *z, const double *U, int channel, double t)
{
    const double at = fmax(0, t / z->def->every);
    const int C = z->def->channel_count, i = at < z->samples - 1 ? (int)at : z->samples - 2;
    const double a = U[i * C + channel], b = U[(i + 1) * C + channel];
    return a + (at - i) * (b - a);
}

static double release_model(const release *z, const double *U, int channel, double t, double T)
{
    const double wide = fmax(T, z->def->every);
    return t <= 0 ? 0
                  : (release_integral(z, U, channel, t) - release_integral(z, U, channel, t - wide)) / wide;
}

static void release_integrate(const release *z, const double *u, double *U)
{
    const int C = z->def->channel_count;
    for (int c = 0; c < C; ++c) {
        U[c] = 0;
        for (int i = 1; i < z->samples; ++i) {
            U[i * C + c] = U[(i - 1) * C + c] + 0.5 * z->def->every * (u[(i - 1) * C + c] + u[i * C + c]);
        }
    }
}

static pl_status release_respond(release *z, const double *p, double *U, pl_error *err)
{
    double value[PL_RELEASE_PARAMETERS];
    for (int k = 0; k < z->def->parameter_count; ++k) {
        value[k] = exp(p[k]);
    }

    double *u = z->moved[PL_RELEASE_PARAMETERS];
    z->responses++;
    const pl_status status = z->def->respond(z->def->user, value, z->horizon, u, err);
    if (status == PL_OK) {
        release_integrate(z, u, U);
    }

    return status;
}

// ---- residuals
// Is the row compared? Those before the hand lets go, but for a short time, and those beyond the horizon are
// not.
static bool release_used(const release *z, const pl_release_run *run, int row, double start)
{
    const double t = run->time[row] - start;
    return t >= -RELEASE_BEFORE && t <= z->horizon;
}

// Sum of squares of a run, over the rows of a release at `window`; `out` (may be NULL) gets the residuals of
// all its rows, 0 where there is none.
static double release_rest(const release *z, const pl_release_run *run, const double *U, double window,
                           double start, double T, double *out, int *count)
{
    const int C = z->def->channel_count;
    double sum = 0;
    int used = 0;

    for (int i = 0; i < run->count; ++i) {
        for (int c = 0; c < C; ++c) {
            const double measured = run->moved[i * C + c];
            const bool compared = isfinite(measured) && release_used(z, run, i, window);
            const double e = compared ? release_model(z, U, c, run->time[i] - start, T) - measured : 0;
            sum += e * e;
            used += compared;
            if (out) {
                out[i * C + c] = e;
            }
        }
    }

    if (count) {
        *count = used;
    }

    return sum;
}

static double release_all(const release *z, const double *U, const double *q, double *out, int *count)
{
    double sum = 0;
    *count = 0;
    for (int k = 0, at = 0; k < z->def->run_count; ++k) {
        int used;
        const double *times = q + z->def->parameter_count + 2 * k;
        sum += release_rest(z, &z->def->run[k], U, z->window[k], times[0], times[1], out ? out + at : NULL,
                            &used);
        *count += used;
        at += z->def->run[k].count * z->def->channel_count;
    }

    return sum;
}

// ---- where the fit begins: moment and duration of each release, by grids that are refined
static double release_distance(const release *z, const pl_release_run *run, int row)
{
    double square = 0;
    for (int c = 0; c < z->def->channel_count; ++c) {
        const double u = run->moved[row * z->def->channel_count + c];
        square += isfinite(u) ? u * u : 0;
    }

    return sqrt(square);
}

static void release_align(const release *z, const pl_release_run *run, const double *U, double times[2])
{
    const double end = release_distance(z, run, run->count - 1);
    int begun = 0;

    while (begun < run->count - 1 && release_distance(z, run, begun) < RELEASE_BEGUN * end) {
        ++begun;
    }

    double best = INFINITY, wide = 0.04, longest = 0.03;
    times[0] = run->time[begun] - 0.02;
    times[1] = 0.03;

    for (int level = 0; level < 6; ++level, wide /= 4, longest /= 4) {
        const double middle = times[0], T = times[1];
        for (int i = -6; i <= 6; ++i) {
            for (int k = -6; k <= 6; ++k) {
                const double start = middle + wide * i / 6, duration = fmax(0, T + longest * k / 6);
                int count;
                const double sum =
                    release_rest(z, run, U, start, start, duration, NULL, &count) / fmax(1, count);
                if (count > 0 && sum < best) {
                    best = sum;
                    times[0] = start;
                    times[1] = duration;
                }
            }
        }
    }
}

// ---- normal equations
// Derivatives of all residuals, columns of `rows` numbers.
static pl_status release_derivatives(release *z, const double *q, pl_error *err)
{
    const int P = z->def->parameter_count;
    int count;

    for (int k = 0; k < P; ++k) {
        double moved[RELEASE_UNKNOWNS];
        memcpy(moved, q, sizeof moved);
        moved[k] += RELEASE_DIFFERENCE;
        const pl_status status = release_respond(z, moved, z->moved[k], err);
        if (status != PL_OK) {
            return status;
        }
        double *column = z->J + (int64_t)k * z->rows;
        release_all(z, z->moved[k], q, column, &count);
        for (int i = 0; i < z->rows; ++i) {
            column[i] = (column[i] - z->r[i]) / RELEASE_DIFFERENCE;
        }
    }

    for (int k = P; k < z->n; ++k) {
        double moved[RELEASE_UNKNOWNS];
        memcpy(moved, q, sizeof moved);
        moved[k] += RELEASE_TIME_STEP;
        double *column = z->J + (int64_t)k * z->rows;
        release_all(z, z->integral, moved, column, &count);
        for (int i = 0; i < z->rows; ++i) {
            column[i] = (column[i] - z->r[i]) / RELEASE_TIME_STEP;
        }
    }

    return PL_OK;
}

// Cholesky's method in place, lower triangle; a pivot without information is left out (row of the identity).
static void release_factor(int n, double A[RELEASE_UNKNOWNS][RELEASE_UNKNOWNS], bool *known)
{
    for (int i = 0; i < n; ++i) {
        const double whole = A[i][i];
        for (int j = 0; j <= i; ++j) {
            double sum = A[i][j];
            for (int k = 0; k < j; ++k) {
                sum -= A[i][k] * A[j][k];
            }
            if (i == j) {
                known[i] = sum > 1e-12 * whole && whole > 0;
                A[i][i] = known[i] ? sqrt(sum) : 1;
            } else {
                A[i][j] = known[j] ? sum / A[j][j] : 0;
            }
        }

        for (int j = 0; !known[i] && j < i; ++j) {
            A[i][j] = 0;
        }
    }
}

static void release_back(int n, double A[RELEASE_UNKNOWNS][RELEASE_UNKNOWNS], const bool *known, double *b)
{
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) {
            b[i] -= A[i][k] * b[k];
        }
        b[i] = known[i] ? b[i] / A[i][i] : 0;
    }

    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            b[i] -= A[k][i] * b[k];
        }
        b[i] = known[i] ? b[i] / A[i][i] : 0;
    }
}

static void release_normal(const release *z, double damping, double A[RELEASE_UNKNOWNS][RELEASE_UNKNOWNS],
                           double *b)
{
    for (int i = 0; i < z->n; ++i) {
        const double *a = z->J + (int64_t)i * z->rows;
        b[i] = 0;
        for (int k = 0; k < z->rows; ++k) {
            b[i] -= a[k] * z->r[k];
        }
        for (int j = 0; j <= i; ++j) {
            const double *c = z->J + (int64_t)j * z->rows;
            double sum = 0;
            for (int k = 0; k < z->rows; ++k) {
                sum += a[k] * c[k];
            }
            A[i][j] = A[j][i] = sum;
        }

        A[i][i] *= 1 + damping;
    }
}

// ---- the fit
// One iteration: a step with more and more damping until the sum falls. False: it does not.
static pl_status release_iterate(release *z, double *q, double *sum, double *damping, bool *fell,
                                 pl_error *err)
{
    const int P = z->def->parameter_count;
    pl_status status = release_derivatives(z, q, err);

    *fell = false;
    for (int trial = 0; status == PL_OK && !*fell && trial < RELEASE_TRIALS; ++trial) {
        double A[RELEASE_UNKNOWNS][RELEASE_UNKNOWNS], step[RELEASE_UNKNOWNS], next[RELEASE_UNKNOWNS];
        bool known[RELEASE_UNKNOWNS];
        int count;

        // (J^T J + damping D) step = -J^T r; unknowns that the runs do not see are left out
        release_normal(z, *damping, A, step);
        release_factor(z->n, A, known);
        release_back(z->n, A, known, step);

        // logarithms move by a limited step, durations stay positive
        for (int k = 0; k < z->n; ++k) {
            next[k] = k < P
                          ? fmax(log(RELEASE_SMALL), q[k] + fmin(RELEASE_STEP, fmax(-RELEASE_STEP, step[k])))
                          : q[k] + step[k];
            next[k] = k >= P && (k - P) % 2 == 1 ? fmax(0, next[k]) : next[k];
        }

        // the residual at the new values decides
        double *U = z->moved[0]; // derivatives are in J
        status = release_respond(z, next, U, err);
        if (status != PL_OK) {
            break;
        }
        const double there = release_all(z, U, next, z->r_new, &count);

        if (there < *sum) {
            *fell = true;
            *sum = there;
            *damping /= 4;
            memcpy(q, next, (size_t)z->n * sizeof *q);
            memcpy(z->r, z->r_new, (size_t)z->rows * sizeof *z->r);
            z->moved[0] = z->integral;
            z->integral = U;
        } else {
            *damping *= 8;
        }
    }

    return status;
}

// Standard deviations of the logarithms and their correlations.
static void release_intervals(release *z, double sum, int count, pl_release_report *report)
{
    const int P = z->def->parameter_count;
    double A[RELEASE_UNKNOWNS][RELEASE_UNKNOWNS], b[RELEASE_UNKNOWNS], C[RELEASE_UNKNOWNS][RELEASE_UNKNOWNS];
    bool known[RELEASE_UNKNOWNS];
    double along = 0;

    for (int k = 0, at = 0; k < z->def->run_count; ++k) {
        const int C_ = z->def->channel_count, n = z->def->run[k].count * C_;
        for (int i = C_; i < n; ++i) {
            along += z->r[at + i] * z->r[at + i - C_];
        }
        at += n;
    }

    const double rho = sum > 0 ? fmin(0.99, fmax(0, along / sum)) : 0,
                 variance = sum / fmax(1, count - z->n) * (1 + rho) / (1 - rho);
    release_normal(z, 0, A, b);
    release_factor(z->n, A, known);

    for (int i = 0; i < z->n; ++i) {
        memset(C[i], 0, sizeof C[i]);
        C[i][i] = 1;
        release_back(z->n, A, known, C[i]);
    }

    report->residual_correlation = rho;
    for (int i = 0; i < P; ++i) {
        report->deviation[i] = known[i] ? sqrt(variance * C[i][i]) : INFINITY;
        for (int j = 0; j < P; ++j) {
            report->correlation[i][j] =
                known[i] && known[j] ? C[i][j] / sqrt(C[i][i] * C[j][j]) : (i == j ? 1 : 0);
        }
    }
}

// What the fit relies on: positive parameters, increasing times, enough rows.
static pl_status release_check(const pl_release_def *def, pl_error *err)
{
    if (def->parameter_count < 1 || def->parameter_count > PL_RELEASE_PARAMETERS) {
        return pl_fail(err, PL_BAD_INPUT, "release: %d parameters, expected 1 to %d", def->parameter_count,
                       PL_RELEASE_PARAMETERS);
    }

    if (def->run_count < 1 || def->run_count > PL_RELEASE_RUNS || def->channel_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "release: %d runs, expected 1 to %d", def->run_count,
                       PL_RELEASE_RUNS);
    }

    if (!(def->every > 0) || !(def->until > 10 * def->every)) {
        return pl_fail(err, PL_BAD_INPUT, "release: samples every %g s until %g s are too few", def->every,
                       def->until);
    }

    for (int k = 0; k < def->parameter_count; ++k) {
        if (!(def->value[k] > 0) || isinf(def->value[k])) {
            return pl_fail(err, PL_BAD_INPUT, "release: parameter %d begins at %g, must be positive", k + 1,
                           def->value[k]);
        }
    }

    for (int k = 0; k < def->run_count; ++k) {
        const pl_release_run *run = &def->run[k];
        for (int i = 1; i < run->count; ++i) {
            if (!(run->time[i] > run->time[i - 1])) {
                return pl_fail(err, PL_BAD_INPUT, "release: run %d, row %d: times must increase", k + 1,
                               i + 1);
            }
        }

        if (run->count < 20) {
            return pl_fail(err, PL_BAD_INPUT, "release: run %d has %d rows, at least 20 are needed", k + 1,
                           run->count);
        }
    }

    return PL_OK;
}

static bool release_create(release *z, const pl_release_def *def)
{
    z->def = def;
    z->samples = (int)(def->until / def->every + 1.5);
    z->n = def->parameter_count + 2 * def->run_count;
    for (int k = 0; k < def->run_count; ++k) {
        z->rows += def->run[k].count * def->channel_count;
    }

    const int64_t numbers = (int64_t)z->samples * def->channel_count;
    bool ok = (z->integral = PL_NEW_ARRAY(double, numbers));
    for (int k = 0; k <= PL_RELEASE_PARAMETERS; ++k) {
        ok = (z->moved[k] = PL_NEW_ARRAY(double, numbers)) && ok;
    }
    z->J = PL_NEW_ARRAY(double, (int64_t)z->n * z->rows);
    z->r = PL_NEW_ARRAY(double, z->rows);
    z->r_new = PL_NEW_ARRAY(double, z->rows);

    return ok && z->J && z->r && z->r_new;
}

static void release_clear(release *z)
{
    pl_free(z->integral);
    for (int k = 0; k <= PL_RELEASE_PARAMETERS; ++k) {
        pl_free(z->moved[k]);
    }
    pl_free(z->J);
    pl_free(z->r);
    pl_free(z->r_new);
}

// Time of the second turning point of the channel that moves most: one swing. 0: it has none.
static double release_swing(const release *z)
{
    const int C = z->def->channel_count, last = z->samples - 1;
    const double *u = z->moved[PL_RELEASE_PARAMETERS];
    int most = 0, turns = 0;

    for (int c = 1; c < C; ++c) {
        most = fabs(u[last * C + c]) > fabs(u[last * C + most]) ? c : most;
    }
    for (int i = 1; i < last; ++i) {
        const double a = u[i * C + most] - u[(i - 1) * C + most], b = u[(i + 1) * C + most] - u[i * C + most];
        turns += a * b < 0;
        if (turns == 2) {
            return i * z->def->every;
        }
    }

    return 0;
}

static void release_choose_rows(release *z, const double *q)
{
    for (int k = 0; k < z->def->run_count; ++k) {
        z->window[k] = q[z->def->parameter_count + 2 * k];
    }
}

// Fits the rows up to the horizon.
static pl_status release_converge(release *z, double *q, double enough, pl_release_report *report,
                                  pl_error *err)
{
    const pl_release_def *def = z->def;
    const int limit = def->iteration_limit > 0 ? def->iteration_limit : RELEASE_ITERATIONS;
    double damping = 1e-3;
    int count;
    release_choose_rows(z, q);
    double sum = release_all(z, z->integral, q, z->r, &count);

    report->converged = false;
    for (int k = 0; k < limit && !report->converged; ++k) {
        if (!pl_progress_step(&def->progress, z->horizon / def->until, "fit")) {
            return pl_fail(err, PL_INTERRUPTED, "interrupted");
        }
        const double before = sum;
        bool fell;
        const pl_status status = release_iterate(z, q, &sum, &damping, &fell, err);
        if (status != PL_OK) {
            return status;
        }
        report->iterations++;
        report->converged = !fell || sum > (1 - enough) * before;
    }

    return PL_OK;
}

// With a wrong frequency a long run has many minima, a swing has one: the horizon is doubled from one swing
// on.
static pl_status release_fit(release *z, double *q, pl_release_report *report, pl_error *err)
{
    const pl_release_def *def = z->def;
    const int P = def->parameter_count;
    const double whole = def->until - def->every;
    int count;
    z->horizon = whole;
    pl_status status = release_respond(z, q, z->integral, err);

    if (status != PL_OK) {
        return status;
    }
    const double swing = release_swing(z);
    z->horizon = swing > 0 ? fmin(whole, swing) : whole;
    for (int k = 0; k < def->run_count; ++k) {
        release_align(z, &def->run[k], z->integral, q + P + 2 * k);
    }

    for (;;) {
        status = release_converge(z, q, z->horizon < whole ? RELEASE_NEAR : RELEASE_CONVERGED, report, err);
        if (status != PL_OK || z->horizon >= whole) {
            break;
        }
        z->horizon = fmin(whole, 2 * z->horizon);
        status = release_respond(z, q, z->integral, err);
        if (status != PL_OK) {
            break;
        }
    }

    // derivatives where the fit ended
    release_choose_rows(z, q);
    const double sum = release_all(z, z->integral, q, z->r, &count);
    status = status == PL_OK ? release_derivatives(z, q, err) : status;
    if (status == PL_OK && count <= z->n) {
        return pl_fail(err, PL_FAILED,
                       "release: the fit moved away from the measurements: %d of them are left", count);
    }

    if (status == PL_OK) {
        release_intervals(z, sum, count, report);
        report->rms = sqrt(sum / fmax(1, count));
    }

    return status;
}

// The unknowns are the logarithms of the parameters, then start and duration of every run.
pl_status pl_release_calibrate(const pl_release_def *def, double *response, pl_release_report *report,
                               pl_error *err)
{
    release z = {0};
    double q[RELEASE_UNKNOWNS] = {0};

    *report = (pl_release_report){0};
    pl_status status = release_check(def, err);
    if (status != PL_OK) {
        return status;
    }
    status = release_create(&z, def) ? PL_OK : pl_fail_memory(err, "release");

    // results: values, and per run when the hand let go and how well the run is met
    for (int k = 0; status == PL_OK && k < def->parameter_count; ++k) {
        q[k] = log(def->value[k]);
    }
    if (status == PL_OK) {
        status = release_fit(&z, q, report, err);
    }

    for (int k = 0; status == PL_OK && k < def->parameter_count; ++k) {
        report->value[k] = exp(q[k]);
    }
    for (int k = 0; status == PL_OK && k < def->run_count; ++k) {
        pl_release_run *run = &def->run[k];
        int count;
        run->start = q[def->parameter_count + 2 * k];
        run->duration = q[def->parameter_count + 2 * k + 1];
        run->rms =
            sqrt(release_rest(&z, run, z.integral, run->start, run->start, run->duration, NULL, &count));
        run->rms /= sqrt(fmax(1, count));
        for (int i = 0; i < run->count; ++i) {
            report->largest = fmax(report->largest, release_distance(&z, run, i));
        }
    }

    if (status == PL_OK && response) {
        status = def->respond(def->user, report->value, def->until, response, err);
    }
    report->responses = z.responses;
    release_clear(&z);

    return status;
}

double pl_release_at(const pl_release_def *def, const double *response, int channel, double time,
                     double duration)
{
    const int C = def->channel_count, samples = (int)(def->until / def->every + 1.5);
    const double wide = fmax(duration, def->every), parts = 32;
    double sum = 0;

    // the mean over the duration, by the midpoint rule
    for (int k = 0; k < (int)parts; ++k) {
        const double at = fmin(samples - 1.001, (time - wide * (k + 0.5) / parts) / def->every);
        if (at > 0) {
            const int i = (int)at;
            const double a = response[i * C + channel], b = response[(i + 1) * C + channel];
            sum += (a + (at - i) * (b - a)) / parts;
        }
    }

    return sum;
}
