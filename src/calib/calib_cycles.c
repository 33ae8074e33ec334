// Softening (mullins) from a cyclic tensile test: loading and unloading of a bar, in the order of
// measurement. Rows beyond every strain before them are the first loading, which does not depend on
// softening: the law is fitted to them as to a tensile test. Then r, m and beta by least squares over the
// other rows, whose stress is that of a bar with the largest energy of the rows before (pl_material_cycled),
// in ln(r - 1), ln m, ln beta: at all energies both m and beta may be needed, over one amplitude only m +
// beta W_m is known.
//
// Intervals: covariance N^-1 S N^-1 with N = A^T A and S = sum rest^2 a a^T over the derivatives a of the
// rows, times (1 + rho) / (1 - rho), rho the correlation of neighbouring residuals.
#include "base/base.h"
#include "base/vec.h"
#include "material/material.h"
#include "pliant/calib.h"

#define CYCLES_LEAST 8     // rows of the first loading, and below it
#define CYCLES_ENOUGH 1e-8 // of the sum of squares: what a step gains at least
#define CYCLES_ROUNDS 100
#define CYCLES_DAMPING_MOST 1e8
#define CYCLES_FAR 30 // of a logarithm: what is further away is 0 or infinite
#define CYCLES_STEP 1e-3
#define CYCLES_QUANTILE 1.96

typedef struct cycles {
    const pl_cycles *test;
    bool *first;       // per row: of the first loading
    double *rest;      // per row: model minus test
    double *slope;     // 3 per row: derivatives of the rest
    double scale;      // MPa: largest energy of the test, what m is compared with
    pl_material model; // of the trial
} cycles;

static void cycles_set(cycles *c, const double x[3])
{
    double e[3];
    for (int i = 0; i < 3; ++i) {
        e[i] = exp(fmin(CYCLES_FAR, fmax(-CYCLES_FAR, x[i])));
    }
    c->model.mullins_r = 1 + e[0];
    c->model.mullins_m = c->scale * e[1];
    c->model.mullins_beta = e[2];
}

// Sum of squares over the rows that soften.
static double cycles_sum(cycles *c, const double x[3])
{
    double largest = 0, sum = 0;

    cycles_set(c, x);
    for (int k = 0; k < c->test->count; ++k) {
        c->rest[k] = pl_material_cycled(&c->model, 1 + c->test->strain[k], &largest) - c->test->stress[k];
        sum += c->first[k] ? 0 : c->rest[k] * c->rest[k];
    }

    return isfinite(sum) ? sum : INFINITY;
}

static pl_status cycles_check(const pl_cycles *test, pl_error *err)
{
    for (int k = 0; k < test->count; ++k) {
        if (!isfinite(test->strain[k]) || !isfinite(test->stress[k]) || !(test->strain[k] > -0.5)) {
            return pl_fail(err, PL_BAD_INPUT, "cycles: row %d is not complete, or its strain is below -50 %%",
                           k + 1);
        }
    }

    return PL_OK;
}

// The first loading: rows beyond every strain before them. The law is fitted to these.
static pl_status cycles_first(cycles *c, pl_material_model model, pl_cycles_fit *fit, pl_error *err)
{
    const pl_cycles *t = c->test;
    double most = 0;
    pl_tensile tensile = {.strain = PL_NEW_ARRAY(double, t->count), .stress = PL_NEW_ARRAY(double, t->count)};
    pl_tensile_fit found;

    if (!tensile.strain || !tensile.stress) {
        pl_free(tensile.strain);
        pl_free(tensile.stress);
        return pl_fail_memory(err, "cycles");
    }

    for (int k = 0; k < t->count; ++k) {
        c->first[k] = t->strain[k] > most;
        if (c->first[k]) {
            most = t->strain[k];
            tensile.strain[tensile.count] = t->strain[k];
            tensile.stress[tensile.count++] = t->stress[k];
        }
    }

    pl_status status = PL_OK;
    if (tensile.count < CYCLES_LEAST || t->count - tensile.count < CYCLES_LEAST) {
        status = pl_fail(
            err, PL_BAD_INPUT,
            "cycles: rows that go beyond every strain before them: %d, rows that do not: %d; at least %d of "
            "both are needed: loading and unloading in the order of measurement",
            tensile.count, t->count - tensile.count, CYCLES_LEAST);
    }
    if (status == PL_OK) {
        status = pl_tensile_fit_model(&tensile, model, 0, &found, err);
    }
    if (status == PL_OK) {
        fit->material = found.material;
        fit->first_error = found.error;
        fit->first_rows = tensile.count;
        fit->stable = found.stable;
    }
    pl_tensile_clear(&tensile);

    return status;
}

// The inverse of a symmetric 3 x 3 matrix; false: it has none.
static bool cycles_invert(const double N[9], double inverse[9])
{
    double scaled[9], size[3];
    for (int i = 0; i < 3; ++i) {
        size[i] = sqrt(N[4 * i]);
        if (!(size[i] > 0)) {
            return false;
        }
    }
    for (int i = 0; i < 9; ++i) {
        scaled[i] = N[i] / (size[i / 3] * size[i % 3]);
    }
    const double det = pl_det3(scaled);
    if (!(det > 1e-12)) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, p = (i + 1) % 3, q = (i + 2) % 3;
            inverse[3 * i + j] =
                (scaled[3 * a + p] * scaled[3 * b + q] - scaled[3 * a + q] * scaled[3 * b + p]) /
                (det * size[i] * size[j]);
        }
    }

    return true;
}

// Derivatives of all rows by central differences; then the rests at x again.
static void cycles_slopes(cycles *c, const double x[3])
{
    for (int i = 0; i < 3; ++i) {
        for (int side = 0; side < 2; ++side) {
            double y[3] = {x[0], x[1], x[2]};
            y[i] += side ? CYCLES_STEP : -CYCLES_STEP;
            cycles_sum(c, y);
            for (int k = 0; k < c->test->count; ++k) {
                const double part = (side ? 0.5 : -0.5) / CYCLES_STEP * c->rest[k];
                c->slope[3 * k + i] = side ? c->slope[3 * k + i] + part : part;
            }
        }
    }
    cycles_sum(c, x);
}

// N = A^T A and b = A^T rest over the rows that soften.
static void cycles_normal(const cycles *c, double N[9], double b[3])
{
    memset(N, 0, 9 * sizeof *N);
    memset(b, 0, 3 * sizeof *b);
    for (int k = 0; k < c->test->count; ++k) {
        const double *a = c->slope + 3 * k;
        for (int i = 0; i < 9 && !c->first[k]; ++i) {
            N[i] += a[i / 3] * a[i % 3];
            b[i % 3] += i < 3 ? a[i] * c->rest[k] : 0;
        }
    }
}

// Levenberg and Marquardt's method from x; the sum of squares where it ends.
static double cycles_descend(cycles *c, double x[3])
{
    double sum = cycles_sum(c, x), damping = 1e-3;
    for (int round = 0; round < CYCLES_ROUNDS && isfinite(sum); ++round) {
        double N[9], b[3], inverse[9], next = INFINITY, y[3] = {0};
        cycles_slopes(c, x);
        cycles_normal(c, N, b);
        while (!(next < sum) && damping < CYCLES_DAMPING_MOST) {
            double damped[9];
            memcpy(damped, N, sizeof damped);
            for (int i = 0; i < 3; ++i) {
                damped[4 * i] += damping * N[4 * i] + 1e-12 * (N[0] + N[4] + N[8]);
            }
            if (cycles_invert(damped, inverse)) {
                for (int i = 0; i < 3; ++i) {
                    const double step = -pl_dot3(inverse + 3 * i, b);
                    y[i] = x[i] + fmin(2, fmax(-2, step));
                }
                next = cycles_sum(c, y);
            }
            damping *= next < sum ? 0.2 : 8;
        }
        if (!(next < sum)) {
            break;
        }
        const bool enough = sum - next <= CYCLES_ENOUGH * sum;
        sum = next;
        memcpy(x, y, sizeof y);
        if (enough) {
            break;
        }
    }

    return sum;
}

// The best of several starts.
static void cycles_search(cycles *c, double best[3])
{
    double least = INFINITY;
    for (int start = 0; start < 4; ++start) {
        double x[3] = {start & 1 ? 0.5 : -1, start & 2 ? -1 : -3, -2};
        const double value = cycles_descend(c, x);
        if (value < least || start == 0) {
            least = value;
            memcpy(best, x, 3 * sizeof *best);
        }
    }
}

// Half widths of ln(r - 1), ln m and ln beta as those of r, m and beta.
static void cycles_intervals(cycles *c, const double x[3], pl_cycles_fit *fit)
{
    double N[9], b[3], S[9] = {0}, inverse[9];
    cycles_slopes(c, x);
    cycles_normal(c, N, b);

    double along = 0, plain = 0, before = 0;
    for (int k = 0; k < c->test->count; ++k) {
        const double r = c->first[k] ? 0 : c->rest[k], *a = c->slope + 3 * k;
        for (int i = 0; i < 9; ++i) {
            S[i] += r * r * a[i / 3] * a[i % 3];
        }
        along += r * before;
        plain += r * r;
        before = r;
    }

    const double rho = plain > 0 ? fmin(0.99, fmax(0, along / plain)) : 0;
    const double size[3] = {c->model.mullins_r - 1, c->model.mullins_m, c->model.mullins_beta};
    const bool known = cycles_invert(N, inverse);
    for (int i = 0; i < 3; ++i) {
        double variance = 0;
        for (int j = 0; known && j < 9; ++j) {
            variance += inverse[3 * i + j / 3] * S[j] * inverse[3 * i + j % 3];
        }
        fit->half_width[i] =
            known ? CYCLES_QUANTILE * size[i] * sqrt(variance * (1 + rho) / (1 - rho)) : INFINITY;
    }
    fit->correlation = rho;
}

// Work of the stress that comes back over what went in, trapezoidal rule; the rest is lost.
static double cycles_lost(const pl_cycles *t, const double *rest)
{
    double in = 0, back = 0;
    for (int k = 1; k < t->count; ++k) {
        const double a = t->stress[k - 1] + (rest ? rest[k - 1] : 0), b = t->stress[k] + (rest ? rest[k] : 0),
                     work = 0.5 * (a + b) * (t->strain[k] - t->strain[k - 1]);
        in += fmax(work, 0);
        back -= fmin(work, 0);
    }

    return in > 0 ? 1 - back / in : 0;
}

static pl_status cycles_fit(cycles *c, pl_material_model model, pl_cycles_fit *fit, pl_error *err)
{
    const pl_cycles *t = c->test;
    pl_status status = cycles_first(c, model, fit, err);
    if (status != PL_OK) {
        return status;
    }

    // the largest energy that the bar reaches
    c->model = fit->material;
    for (int k = 0; k < t->count; ++k) {
        pl_material_cycled(&c->model, 1 + t->strain[k], &c->scale);
    }

    double x[3], peak = 0, square = 0;
    cycles_search(c, x);
    cycles_sum(c, x);
    for (int k = 0; k < t->count; ++k) {
        peak = fmax(peak, fabs(t->stress[k]));
        square += c->rest[k] * c->rest[k];
    }
    fit->error = sqrt(square / t->count) / peak;
    if (!isfinite(fit->error)) {
        return pl_fail(err, PL_FAILED, "cycles: no softening was found that has a stress in all rows");
    }
    fit->lost_measured = cycles_lost(t, NULL);
    fit->lost = cycles_lost(t, c->rest);
    cycles_intervals(c, x, fit);
    fit->material.mullins_r = c->model.mullins_r;
    fit->material.mullins_m = c->model.mullins_m;
    fit->material.mullins_beta = c->model.mullins_beta;

    return PL_OK;
}

pl_status pl_cycles_calibrate(const pl_cycles *test, pl_material_model model, pl_cycles_fit *fit,
                              pl_error *err)
{
    *fit = (pl_cycles_fit){0};
    pl_status status = cycles_check(test, err);
    if (status != PL_OK) {
        return status;
    }

    cycles c = {.test = test,
                .first = PL_NEW_ARRAY(bool, test->count),
                .rest = PL_NEW_ARRAY(double, test->count),
                .slope = PL_NEW_ARRAY(double, 3 * (int64_t)test->count)};
    status = c.first && c.rest && c.slope ? cycles_fit(&c, model, fit, err) : pl_fail_memory(err, "cycles");
    pl_free(c.first);
    pl_free(c.rest);
    pl_free(c.slope);

    return status;
}
