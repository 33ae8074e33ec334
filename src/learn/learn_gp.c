// Gaussian processes. Inputs are scaled to u in [-1, 1]. With K the kernel matrix over the variance v of the
// function (noise included, trend t (1 + u.u') added), a = K^-1 y and s = y.a / n for each output, the
// variances v = s maximise the likelihood, and what is left to minimise over the q outputs is
//   1/2 sum_o n log s_o + q/2 log |K| + prior,
// with the derivative -1/2 sum_o a.K'a / s_o + q/2 tr(K^-1 K'). The prior keeps log lengths near 0 and log
// noise (a variance) near log 1e-4, with standard deviations 1.5 and 4.
#include "learn/learn_impl.h"

// LAPACK: Cholesky factor, solution, inverse
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b,
             const int *ldb, int *info);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info);

#define GP_LENGTH_WIDTH 1.5 // standard deviations of the priors
#define GP_NOISE_WIDTH 4.0
#define GP_NOISE_MID -9.21 // log 1e-4
#define GP_SAMPLES 5000    // the factor has n^2 numbers

struct pl_gp {
    int n, d, q;             // samples, inputs, outputs
    double noise, trend;     // of the variance v; weight of the trend
    double *x, *y;           // as given
    double *u;               // scaled inputs
    double *mid, *width;     // d
    double *length;          // d, in units of u
    double *variance;        // q
    double *alpha;           // n x q
    double *factor;          // n x n
    double *k, *solved, *dk; // scratch: n, n, n x d
};

pl_gp_options pl_gp_options_default(void)
{
    return (pl_gp_options){.iteration_limit = 60, .least_noise = 1e-4, .trend = 1};
}

// x and factor are the two blocks that hold all arrays.
void pl_gp_destroy(pl_gp *gp)
{
    if (gp) {
        pl_free(gp->x);
        pl_free(gp->factor);
        pl_free(gp);
    }
}

// exp(-|u - v|^2 / 2 l^2) + t (1 + u.v)
static double gp_kernel(const pl_gp *g, const double *u, const double *v)
{
    double square = 0, line = 1;
    for (int i = 0; i < g->d; ++i) {
        const double t = (u[i] - v[i]) / g->length[i];
        square += t * t;
        line += u[i] * v[i];
    }

    return exp(-0.5 * square) + g->trend * line;
}

// Two blocks: what is kept, and what is scratch; NULL when out of memory.
static pl_gp *gp_room(int n, int d, int q)
{
    pl_gp *g = PL_NEW(pl_gp);
    const int64_t N = n, D = d, Q = q;
    double *block = PL_NEW_ARRAY(double, 2 * N * D + 2 * N * Q + 3 * D + Q);
    double *factor = PL_NEW_ARRAY(double, N *N + 2 * N + N * D);

    if (!g || !block || !factor) {
        pl_free(g);
        pl_free(block);
        pl_free(factor);
        return NULL;
    }

    *g = (pl_gp){.n = n, .d = d, .q = q, .x = block, .factor = factor};
    g->y = g->x + N * D;
    g->u = g->y + N * Q;
    g->alpha = g->u + N * D;
    g->mid = g->alpha + N * Q;
    g->width = g->mid + D;
    g->length = g->width + D;
    g->variance = g->length + D;
    g->k = factor + N * N;
    g->solved = g->k + N;
    g->dk = g->solved + N;

    return g;
}

// Checked copies of the samples, scaled to [-1, 1]; lengths start at 1.
static pl_status gp_load(const double *x, const double *y, int n, int d, int q, pl_gp **out, pl_error *err)
{
    *out = NULL;
    if (n < 2 || n > GP_SAMPLES || d < 1 || q < 1) {
        return pl_fail(err, PL_BAD_INPUT,
                       "gp: %d samples of %d inputs and %d outputs; expected 2 to %d samples", n, d, q,
                       GP_SAMPLES);
    }

    for (int64_t i = 0; i < (int64_t)n * (d + q); ++i) {
        const double v = i < (int64_t)n * d ? x[i] : y[i - (int64_t)n * d];
        if (!isfinite(v)) {
            return pl_fail(err, PL_BAD_INPUT, "gp: a number is not finite");
        }
    }

    pl_gp *g = gp_room(n, d, q);
    if (!g) {
        return pl_fail_memory(err, "the Gaussian process");
    }
    memcpy(g->x, x, (size_t)n * (size_t)d * sizeof *x);
    memcpy(g->y, y, (size_t)n * (size_t)q * sizeof *y);

    for (int i = 0; i < d; ++i) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t s = 0; s < n; ++s) {
            low = fmin(low, x[s * d + i]);
            high = fmax(high, x[s * d + i]);
        }

        g->mid[i] = 0.5 * (low + high);
        g->width[i] = high > low ? 0.5 * (high - low) : 1;
        g->length[i] = 1;
        for (int64_t s = 0; s < n; ++s) {
            g->u[s * d + i] = (x[s * d + i] - g->mid[i]) / g->width[i];
        }
    }

    *out = g;

    return PL_OK;
}

// Factor of K and the weights; false where K is not positive definite in rounding.
static bool gp_factor(pl_gp *g)
{
    const int n = g->n;
    int info = 0;

    // lower triangle of K; noise on the diagonal
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
            const double k = gp_kernel(g, g->u + i * g->d, g->u + j * g->d) + (i == j ? g->noise : 0);
            g->factor[i * n + j] = g->factor[j * n + i] = k;
        }
    }

    dpotrf_("L", &n, g->factor, &n, &info);

    // weights a = K^-1 y and variance y.a / n of each output
    for (int o = 0; info == 0 && o < g->q; ++o) {
        const int one = 1;
        for (int64_t s = 0; s < n; ++s) {
            g->alpha[(int64_t)o * n + s] = g->y[s * g->q + o];
        }
        dpotrs_("L", &n, &one, g->factor, &n, g->alpha + (int64_t)o * n, &n, &info);
        double sum = 0;
        for (int64_t s = 0; s < n; ++s) {
            sum += g->y[s * g->q + o] * g->alpha[(int64_t)o * n + s];
        }
        g->variance[o] = fmax(sum / n, 1e-300);
    }

    return info == 0;
}

// The minimisation over log lengths and log noise.
typedef struct gp_search {
    pl_gp *gp;
    double *inverse; // n x n scratch
    double least;    // smallest variance of the noise, over v
} gp_search;

// Value and gradient of the negative logarithm of the posterior; infinite where K has no factor.
static double gp_evaluate(void *user, const double *p, double *gradient)
{
    gp_search *f = user;
    pl_gp *g = f->gp;
    const int n = g->n, d = g->d;
    double value = 0;

    memset(gradient, 0, (size_t)(d + 1) * sizeof *gradient);

    // beyond exp(50) nothing is meaningful
    for (int i = 0; i <= d; ++i) {
        if (!(fabs(p[i]) < 50)) {
            return INFINITY;
        }
    }

    for (int i = 0; i < d; ++i) {
        g->length[i] = exp(p[i]);
    }
    g->noise = exp(p[d]) + f->least;
    if (!gp_factor(g)) {
        return INFINITY;
    }

    // likelihood: log |K| is twice the sum of the logarithms of the factor's diagonal
    for (int o = 0; o < g->q; ++o) {
        value += 0.5 * n * log(g->variance[o]);
    }
    for (int64_t s = 0; s < n; ++s) {
        value += g->q * log(g->factor[s * n + s]);
    }

    // inverse, for the traces of the gradient
    int info = 0;
    memcpy(f->inverse, g->factor, (size_t)n * (size_t)n * sizeof *f->inverse);
    dpotri_("L", &n, f->inverse, &n, &info);
    if (info != 0) {
        return INFINITY;
    }

    // column-major lower: entry (j, i) with j >= i at [i * n + j]
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = i; j < n; ++j) {
            double outer = 0;
            for (int o = 0; o < g->q; ++o) {
                outer += g->alpha[(int64_t)o * n + i] * g->alpha[(int64_t)o * n + j] / g->variance[o];
            }
            const double M = (i == j ? 0.5 : 1) * (g->q * f->inverse[i * n + j] - outer);
            if (i == j) {
                gradient[d] += M * exp(p[d]);
                continue; // the kernel on the diagonal does not depend on lengths
            }

            const double *u = g->u + i * d, *v = g->u + j * d;
            double square = 0;
            for (int k = 0; k < d; ++k) {
                const double t = (u[k] - v[k]) / g->length[k];
                square += t * t;
            }

            const double e = exp(-0.5 * square);
            for (int k = 0; k < d; ++k) {
                const double t = (u[k] - v[k]) / g->length[k];
                gradient[k] += M * e * t * t;
            }
        }
    }

    // priors
    for (int k = 0; k <= d; ++k) {
        const double mid = k < d ? 0 : GP_NOISE_MID, w = k < d ? GP_LENGTH_WIDTH : GP_NOISE_WIDTH;
        value += 0.5 * (p[k] - mid) * (p[k] - mid) / (w * w);
        gradient[k] += (p[k] - mid) / (w * w);
    }

    return value;
}

// For tests of the gradient, and for users with their own search.
pl_status pl_gp_likelihood(const double *x, const double *y, int count, int input_count, int output_count,
                           double trend, const double *parameter, double *value, double *gradient,
                           pl_error *err)
{
    pl_gp *g;
    const pl_status status = gp_load(x, y, count, input_count, output_count, &g, err);

    if (status != PL_OK) {
        return status;
    }
    g->trend = trend;
    gp_search f = {.gp = g, .inverse = PL_NEW_ARRAY(double, (int64_t)count *count)};
    if (f.inverse) {
        *value = gp_evaluate(&f, parameter, gradient);
    }
    pl_free(f.inverse);
    pl_gp_destroy(g);

    return f.inverse ? PL_OK : pl_fail_memory(err, "the Gaussian process");
}

pl_status pl_gp_fit(const double *x, const double *y, int count, int input_count, int output_count,
                    const pl_gp_options *options, pl_gp **out, pl_error *err)
{
    pl_gp *g;
    *out = NULL;
    pl_status status = gp_load(x, y, count, input_count, output_count, &g, err);
    if (status != PL_OK) {
        return status;
    }
    g->trend = options->trend;
    gp_search f = {.gp = g, .least = options->least_noise * options->least_noise};
    f.inverse = PL_NEW_ARRAY(double, (int64_t)count *count);
    double *p = PL_NEW_ARRAY(double, 4 * (input_count + 1));
    if (!f.inverse || !p) {
        status = pl_fail_memory(err, "the Gaussian process");
    } else {
        // from long and from short lengths: the likelihood has several maxima
        double *best = p + input_count + 1, *gradient = best + input_count + 1, least = INFINITY;
        for (int start = 0; start < 2; ++start) {
            for (int i = 0; i <= input_count; ++i) {
                p[i] = i == input_count ? log(1e-3) : start ? log(0.4) : log(2);
            }
            const pl_lbfgs_options how = {
                .iteration_limit = options->iteration_limit, .memory = 8, .gradient_tolerance = 1e-4};
            pl_lbfgs(input_count + 1, p, gp_evaluate, &f, &how);
            const double value = gp_evaluate(&f, p, gradient);
            if (value < least) {
                least = value;
                memcpy(best, p, (size_t)(input_count + 1) * sizeof *p);
            }
        }

        if (!isfinite(least) || !isfinite(gp_evaluate(&f, best, gradient))) {
            status = pl_fail(err, PL_FAILED, "gp: no likelihood could be computed");
        }
    }

    pl_free(f.inverse);
    pl_free(p);
    if (status != PL_OK) {
        pl_gp_destroy(g);
        return status;
    }

    *out = g;

    return PL_OK;
}

// From stored samples and parameters, without a search; the factor is computed again.
pl_status pl_gp_restore(const pl_gp_view *view, pl_gp **out, pl_error *err)
{
    pl_gp *g;
    *out = NULL;
    const pl_status status =
        gp_load(view->x, view->y, view->count, view->input_count, view->output_count, &g, err);
    if (status != PL_OK) {
        return status;
    }
    g->trend = view->trend;
    g->noise = view->noise;
    bool good = view->noise > 0 && isfinite(view->noise) && view->trend >= 0;
    for (int i = 0; i < view->input_count; ++i) {
        g->length[i] = view->length[i];
        good = good && view->length[i] > 0 && isfinite(view->length[i]);
    }

    if (!good || !gp_factor(g)) {
        pl_gp_destroy(g);
        return pl_fail(err, PL_BAD_INPUT, "gp: lengths and noise must be above 0 and fit the samples");
    }

    for (int o = 0; view->variance && o < view->output_count; ++o) {
        g->variance[o] = view->variance[o];
    }
    *out = g;

    return PL_OK;
}

pl_gp_view pl_gp_get_view(const pl_gp *g)
{
    return (pl_gp_view){.count = g->n,
                        .input_count = g->d,
                        .output_count = g->q,
                        .x = g->x,
                        .y = g->y,
                        .length = g->length,
                        .noise = g->noise,
                        .trend = g->trend,
                        .variance = g->variance};
}

static double gp_self(const pl_gp *g, const double *u)
{
    return gp_kernel(g, u, u);
}

// Any of mean, jacobian (outputs x inputs) and deviation may be NULL. Standard deviations are without noise.
void pl_gp_evaluate(pl_gp *g, const double *x, double *mean, double *jacobian, double *deviation)
{
    const int n = g->n, d = g->d, one = 1;
    double u[64];
    const int dims = d < PL_COUNT(u) ? d : PL_COUNT(u);

    for (int i = 0; i < dims; ++i) {
        u[i] = (x[i] - g->mid[i]) / g->width[i];
    }

    // kernels with all samples, and their derivatives by x
    for (int64_t s = 0; s < n; ++s) {
        const double *v = g->u + s * d;
        g->k[s] = gp_kernel(g, u, v);
        double line = 1;
        for (int i = 0; i < d; ++i) {
            line += u[i] * v[i];
        }
        const double e = g->k[s] - g->trend * line;
        for (int i = 0; jacobian && i < d; ++i) {
            g->dk[s * d + i] =
                (-e * (u[i] - v[i]) / (g->length[i] * g->length[i]) + g->trend * v[i]) / g->width[i];
        }
    }

    // mean = k.a
    for (int o = 0; o < g->q; ++o) {
        const double *a = g->alpha + (int64_t)o * n;
        double sum = 0;
        for (int64_t s = 0; s < n; ++s) {
            sum += a[s] * g->k[s];
        }
        if (mean) {
            mean[o] = sum;
        }
        for (int i = 0; jacobian && i < d; ++i) {
            double slope = 0;
            for (int64_t s = 0; s < n; ++s) {
                slope += a[s] * g->dk[s * d + i];
            }
            jacobian[o * d + i] = slope;
        }
    }

    // variance = v (k(x, x) - k K^-1 k)
    if (deviation) {
        int info = 0;
        double reduced = gp_self(g, u);
        memcpy(g->solved, g->k, (size_t)n * sizeof *g->k);
        dpotrs_("L", &n, &one, g->factor, &n, g->solved, &n, &info);
        for (int64_t s = 0; s < n; ++s) {
            reduced -= g->k[s] * g->solved[s];
        }
        for (int o = 0; o < g->q; ++o) {
            deviation[o] = sqrt(g->variance[o] * fmax(reduced, 0));
        }
    }
}

// Conditioning on one more sample at c lowers the variance of every candidate by cov(., c)^2 / (var(c) +
// noise): a Cholesky factor with pivots chosen by the largest remaining variance.
pl_status pl_gp_propose(const pl_gp *g, const double *candidate, int candidate_count, int pick_count,
                        int *pick, pl_error *err)
{
    const int64_t n = g->n, m = candidate_count, d = g->d;
    if (candidate_count < pick_count || pick_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "gp: %d picks of %d candidates", pick_count, candidate_count);
    }

    double *u = PL_NEW_ARRAY(double, m *d + m + m * pick_count + n * m);
    if (!u) {
        return pl_fail_memory(err, "the Gaussian process");
    }

    // scaled candidates and their variance given the samples
    double *left = u + m * d, *row = left + m, *half = row + m * pick_count; // half: L^-1 k(., c), n per c
    for (int64_t c = 0; c < m; ++c) {
        for (int64_t i = 0; i < d; ++i) {
            u[c * d + i] = (candidate[c * d + i] - g->mid[i]) / g->width[i];
        }
        left[c] = gp_self(g, u + c * d);
        double *h = half + c * n;

        for (int64_t s = 0; s < n; ++s) {
            double k = gp_kernel(g, u + c * d, g->u + s * d);
            for (int64_t t = 0; t < s; ++t) {
                k -= g->factor[t * n + s] * h[t];
            }
            h[s] = k / g->factor[s * n + s];
            left[c] -= h[s] * h[s];
        }
    }

    // the candidate with the largest variance, then all variances given it
    for (int p = 0; p < pick_count; ++p) {
        int64_t best = 0;
        for (int64_t c = 1; c < m; ++c) {
            best = left[c] > left[best] ? c : best;
        }
        pick[p] = (int)best;
        const double root = sqrt(fmax(left[best], 0) + g->noise);

        for (int64_t c = 0; c < m; ++c) {
            double cov = gp_kernel(g, u + c * d, u + best * d);
            for (int64_t s = 0; s < n; ++s) {
                cov -= half[c * n + s] * half[best * n + s];
            }
            for (int k = 0; k < p; ++k) {
                cov -= row[(int64_t)k * m + c] * row[(int64_t)k * m + best];
            }
            row[(int64_t)p * m + c] = cov / root;
        }

        for (int64_t c = 0; c < m; ++c) {
            left[c] -= row[(int64_t)p * m + c] * row[(int64_t)p * m + c];
        }
        left[best] = -1; // not twice
    }

    pl_free(u);

    return PL_OK;
}
