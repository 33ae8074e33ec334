// Prony weights from a relaxation test: stress over time at a strain that is applied and then held. With the
// strain e(t) of the test, linear between rows,
//   sigma(t) = a_0 e(t) + sum_i a_i q_i(t),   q_i' = e' - q_i / tau_i,   a >= 0,
// where tau_i are given: equally spaced in log t over what the test resolves. Least squares under a >= 0,
// with rows weighted by the part of log t they stand for: the test then says as much about each decade. Then
// g_i = a_i / a_0: the constants of the law are the long-term ones. At a constant strain this holds for any
// law whose relaxation is the same at all strains (quasi-linear viscoelasticity).
//
// Intervals: covariance N^-1 S N^-1 with N = A^T W A and S = sum w^2 r^2 a a^T, of the weights that are not
// 0, times (1 + rho) / (1 - rho), rho the correlation of neighbouring residuals: what a model leaves over is
// not noise from row to row.
#include "base/base.h"
#include "calib/calib.h"
#include "pliant/calib.h"

#define RELAX_MOST (PL_PRONY_TERMS + 1)
#define RELAX_LEAST_ROWS 8
#define RELAX_ROUNDS 200
#define RELAX_DECADES 1.5 // times per decade, unless given
#define RELAX_QUANTILE 1.96
#define RELAX_HELD 0.99 // of the largest strain: it is held

typedef struct relax {
    int n; // unknowns: a_0 and one per branch
    double tau[RELAX_MOST];
    double N[RELAX_MOST][RELAX_MOST], b[RELAX_MOST]; // normal equations
    double S[RELAX_MOST][RELAX_MOST];
    double a[RELAX_MOST];
    bool used[RELAX_MOST];
} relax;

// The columns of row k: e and q_i, from those of the row before.
static void relax_columns(const pl_relaxation *test, const relax *x, int k, double *column)
{
    const double e = test->strain ? test->strain[k] : 1;
    column[0] = e;
    for (int i = 1; i < x->n; ++i) {
        if (k == 0) {
            column[i] = e; // at once
            continue;
        }

        const double h = test->time[k] - test->time[k - 1], r = h / x->tau[i],
                     change = test->strain ? e - test->strain[k - 1] : 0;
        column[i] = exp(-r) * column[i] + (h > 0 ? change * -expm1(-r) / r : change);
    }
}

// Part of log t that a row stands for.
static double relax_weight(const pl_relaxation *test, int k)
{
    const int last = test->count - 1;
    const double left = k > 0 ? test->time[k] - test->time[k - 1] : 0,
                 right = k < last ? test->time[k + 1] - test->time[k] : 0, h = 0.5 * (left + right);
    return h / (test->time[k] - test->time[0] + h);
}

// Cholesky's method on the unknowns that are used. False: they depend on each other.
static bool relax_solve(const relax *x, const double *b, double *out)
{
    double L[RELAX_MOST][RELAX_MOST], y[RELAX_MOST];
    int at[RELAX_MOST], n = 0;

    for (int i = 0; i < x->n; ++i) {
        if (x->used[i]) {
            at[n++] = i;
        }
        out[i] = 0;
    }

    for (int i = 0; i < n; ++i) {
        y[i] = b[at[i]];
        for (int j = 0; j <= i; ++j) {
            double sum = x->N[at[i]][at[j]];
            for (int k = 0; k < j; ++k) {
                sum -= L[i][k] * L[j][k];
            }
            if (i == j && !(sum > 1e-13 * x->N[at[i]][at[i]])) {
                return false;
            }
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }

        for (int k = 0; k < i; ++k) {
            y[i] -= L[i][k] * y[k];
        }
        y[i] /= L[i][i];
    }

    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            y[i] -= L[k][i] * y[k];
        }
        y[i] /= L[i][i];
        out[at[i]] = y[i];
    }

    return true;
}

// Lawson and Hanson's active set method: min |A a - s|^2_W under a >= 0.
static bool relax_positive(relax *x)
{
    memset(x->a, 0, sizeof x->a);
    memset(x->used, 0, sizeof x->used);
    for (int round = 0; round < RELAX_ROUNDS; ++round) {
        // the unknown at 0 whose growth lessens the error most
        int best = -1;
        double most = 1e-12;
        for (int i = 0; i < x->n; ++i) {
            double gain = x->b[i];
            for (int j = 0; j < x->n; ++j) {
                gain -= x->N[i][j] * x->a[j];
            }
            gain /= sqrt(x->N[i][i] * x->N[0][0]) * (fabs(x->a[0]) + x->b[0] / x->N[0][0]);
            if (!x->used[i] && gain > most) {
                most = gain;
                best = i;
            }
        }

        if (best < 0) {
            return x->a[0] > 0;
        }
        x->used[best] = true;

        for (;;) {
            double z[RELAX_MOST];
            if (!relax_solve(x, x->b, z)) {
                x->used[best] = false;
                return x->a[0] > 0;
            }

            double step = 1;
            int blocking = -1;
            for (int i = 0; i < x->n; ++i) {
                if (x->used[i] && z[i] <= 0 && x->a[i] / (x->a[i] - z[i]) < step) {
                    step = x->a[i] / (x->a[i] - z[i]);
                    blocking = i;
                }
            }

            for (int i = 0; i < x->n; ++i) {
                x->a[i] += x->used[i] ? step * (z[i] - x->a[i]) : 0;
            }
            if (blocking < 0) {
                break;
            }
            x->used[blocking] = false;
            x->a[blocking] = 0;
        }
    }

    return x->a[0] > 0;
}

static pl_status relax_check(const pl_relaxation *test, pl_error *err)
{
    if (test->count < RELAX_LEAST_ROWS) {
        return pl_fail(err, PL_BAD_INPUT, "relaxation: %d rows, at least %d are needed", test->count,
                       RELAX_LEAST_ROWS);
    }

    for (int k = 0; k < test->count; ++k) {
        if (!isfinite(test->time[k]) || !isfinite(test->stress[k]) ||
            (test->strain && !isfinite(test->strain[k]))) {
            return pl_fail(err, PL_BAD_INPUT, "relaxation: row %d is not complete", k + 1);
        }

        if (k > 0 && !(test->time[k] > test->time[k - 1])) {
            return pl_fail(err, PL_BAD_INPUT, "relaxation: row %d: times must increase", k + 1);
        }
    }

    return PL_OK;
}

// Times that the test resolves: from the shortest distance of rows, or the end of the rise, to half of its
// length.
static pl_status relax_times(const pl_relaxation *test, const double *tau, int count, relax *x, pl_error *err)
{
    if (count > PL_PRONY_TERMS) {
        return pl_fail(err, PL_BAD_INPUT, "relaxation: %d times, at most %d are possible", count,
                       PL_PRONY_TERMS);
    }

    // column 0 is the long-term modulus, the others are branches with the times given
    x->n = count + 1;
    for (int i = 0; i < count; ++i) {
        x->tau[i + 1] = tau[i];
        if (!(tau[i] > 0) || isinf(tau[i])) {
            return pl_fail(err, PL_BAD_INPUT, "relaxation: a time of %g s, must be positive", tau[i]);
        }
    }

    if (count > 0) {
        return PL_OK;
    }

    // the longest time that is resolved is half of the test, the shortest one that of the first rows, or of
    // the rise
    const double whole = test->time[test->count - 1] - test->time[0];
    double shortest = test->time[1] - test->time[0], most = 0;
    for (int k = 0; test->strain && k < test->count; ++k) {
        most = fmax(most, fabs(test->strain[k]));
    }

    for (int k = 0; test->strain && k < test->count; ++k) {
        if (fabs(test->strain[k]) >= RELAX_HELD * most) {
            shortest = fmax(shortest, test->time[k] - test->time[0]);
            break;
        }
    }

    const double longest = 0.5 * whole;
    if (!(longest > 2 * shortest)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "relaxation: the test lasts %g s and begins to resolve at %g s: nothing can relax in "
                       "between",
                       whole, shortest);
    }

    // evenly spaced in log t
    const int branches =
        (int)fmin(PL_PRONY_TERMS, fmax(1, round(RELAX_DECADES * log10(longest / shortest))) + 1);
    x->n = branches + 1;
    for (int i = 0; i < branches; ++i) {
        x->tau[i + 1] = shortest * pow(longest / shortest, branches > 1 ? (double)i / (branches - 1) : 0.5);
    }

    return PL_OK;
}

// Whether the stress per strain rises more than it falls while the strain is held: over the rows from the
// first with the whole strain to the last beside it, a rising sequence is nearer to it than a falling one
// (both by pooling adjacent violators). Branches with g >= 0 only fall.
static pl_status relax_rises(const pl_relaxation *test, bool *rises, pl_error *err)
{
    double most = 0;
    for (int k = 0; test->strain && k < test->count; ++k) {
        most = fmax(most, fabs(test->strain[k]));
    }

    int from = 0, rows = 0;
    while (test->strain && fabs(test->strain[from]) < RELAX_HELD * most) {
        ++from;
    }
    while (from + rows < test->count &&
           (!test->strain || fabs(test->strain[from + rows]) >= RELAX_HELD * most)) {
        ++rows;
    }

    double *y = PL_NEW_ARRAY(double, 2 * (int64_t)rows), *weight = PL_NEW_ARRAY(double, rows);
    int *block = PL_NEW_ARRAY(int, rows);
    const bool whole = y && weight && block;
    double off[2] = {0, 0}; // of the rising and of the falling sequence

    for (int falls = 0; whole && falls < 2; ++falls) {
        for (int k = 0; k < rows; ++k) {
            const double e = test->strain ? test->strain[from + k] : 1;
            y[k] = y[rows + k] = (falls ? -1 : 1) * test->stress[from + k] / e;
            weight[k] = relax_weight(test, from + k);
        }
        pl_isotonic(rows, y, weight, block);
        for (int k = 0; k < rows; ++k) {
            off[falls] += relax_weight(test, from + k) * (y[k] - y[rows + k]) * (y[k] - y[rows + k]);
        }
    }

    *rises = off[0] < off[1];
    pl_free(y);
    pl_free(weight);
    pl_free(block);

    return whole ? PL_OK : pl_fail_memory(err, "the relaxation test");
}

// Residuals, their correlation from row to row, and S.
static void relax_rest(const pl_relaxation *test, relax *x, pl_relaxation_fit *fit, double *correlation)
{
    double column[RELAX_MOST] = {0}, square = 0, total = 0, peak = 0, before = 0, along = 0, plain = 0;
    for (int k = 0; k < test->count; ++k) {
        const double w = relax_weight(test, k);
        relax_columns(test, x, k, column);
        double rest = test->stress[k];
        for (int i = 0; i < x->n; ++i) {
            rest -= x->a[i] * column[i];
        }
        for (int i = 0; i < x->n; ++i) {
            for (int j = 0; j < x->n; ++j) {
                x->S[i][j] += w * w * rest * rest * column[i] * column[j];
            }
        }

        square += w * rest * rest;
        total += w;
        plain += rest * rest;
        along += k > 0 ? rest * before : 0;
        before = rest;
        peak = fmax(peak, fabs(test->stress[k]));
    }

    fit->error = sqrt(square / total) / peak;
    *correlation = plain > 0 ? fmin(0.99, fmax(0, along / plain)) : 0;
}

// Variance of g_i = a_i / a_0: with the row v of d(g_i)/da, v C v^T.
static void relax_intervals(const relax *x, double correlation, pl_relaxation_fit *fit)
{
    const double inflate = (1 + correlation) / (1 - correlation);
    for (int i = 1; i < x->n; ++i) {
        double v[RELAX_MOST] = {0}, u[RELAX_MOST], variance = 0;
        fit->half_width[i - 1] = NAN;
        if (!x->used[i]) {
            continue;
        }
        v[0] = -x->a[i] / (x->a[0] * x->a[0]);
        v[i] = 1 / x->a[0];
        if (!relax_solve(x, v, u)) {
            continue;
        }
        for (int j = 0; j < x->n; ++j) {
            for (int k = 0; k < x->n; ++k) {
                variance += u[j] * x->S[j][k] * u[k];
            }
        }

        fit->half_width[i - 1] = RELAX_QUANTILE * sqrt(inflate * variance);
    }
}

// Linear least squares with weights g >= 0: the stress is modulus * (strain + sum of g_i times the strain
// filtered by branch i).
pl_status pl_relaxation_calibrate(const pl_relaxation *test, const double *tau, int count,
                                  pl_relaxation_fit *fit, pl_error *err)
{
    relax x = {0};
    double column[RELAX_MOST] = {0}, correlation;

    *fit = (pl_relaxation_fit){0};
    pl_status status = relax_check(test, err);
    status = status == PL_OK ? relax_times(test, tau, count, &x, err) : status;
    if (status != PL_OK) {
        return status;
    }

    // normal equations, rows weighted so that every decade of time counts alike
    for (int k = 0; k < test->count; ++k) {
        const double w = relax_weight(test, k);
        relax_columns(test, &x, k, column);

        for (int i = 0; i < x.n; ++i) {
            for (int j = 0; j < x.n; ++j) {
                x.N[i][j] += w * column[i] * column[j];
            }
            x.b[i] += w * column[i] * test->stress[k];
        }
    }

    if (!(x.b[0] > 0) || !relax_positive(&x)) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "relaxation: no stress remains in the long term: it must have the sign of the strain and "
            "fall to a positive value");
    }

    // without a branch the test says nothing of relaxation
    bool rises = false, relaxes = false;
    status = relax_rises(test, &rises, err);
    if (status != PL_OK) {
        return status;
    }
    for (int i = 1; i < x.n; ++i) {
        relaxes = relaxes || x.a[i] > 0;
    }

    if (rises || !relaxes) {
        return pl_fail(err, PL_BAD_INPUT,
                       "relaxation: the stress %s while the strain is held: expected a stress that falls",
                       relaxes ? "rises" : "does not fall");
    }

    // what is left over, and from it the intervals
    relax_rest(test, &x, fit, &correlation);
    fit->modulus = x.a[0];
    fit->count = x.n - 1;
    for (int i = 1; i < x.n; ++i) {
        fit->tau[i - 1] = x.tau[i];
        fit->g[i - 1] = x.a[i] / x.a[0];
    }

    relax_intervals(&x, correlation, fit);
    fit->correlation = correlation;

    return PL_OK;
}

double pl_relaxation_stress(const pl_relaxation *test, const pl_relaxation_fit *fit, int row)
{
    relax x = {.n = fit->count + 1};
    double column[RELAX_MOST] = {0};

    memcpy(x.tau + 1, fit->tau, (size_t)fit->count * sizeof *fit->tau);
    for (int k = 0; k <= row; ++k) {
        relax_columns(test, &x, k, column);
    }

    double sum = column[0];
    for (int i = 1; i < x.n; ++i) {
        sum += fit->g[i - 1] * column[i];
    }

    return fit->modulus * sum;
}
