// Bounds on the error of a model from errors measured at samples that it was not fitted to: normalised
// conformal prediction. With residuals r_i at points x_i and the local scale
//   s(x)^2 = (sum of r_k^2 over the NEAR nearest points + PRIOR m) / (NEAR + PRIOR),  m = mean of r^2,
// the bound at x is q s(x), where q is an order statistic of r_i / s_i(x_i); s_i leaves point i out, of the
// nearest points and of the mean (with it there the ratios of the largest errors would be too small). Points
// and queries drawn from the same distribution are exchangeable, so the k-th of n ratios covers a new one
// with the probability k / (n + 1), whatever the model and the distribution.
#include "learn/learn_impl.h"

enum { NEAR = 8 };     // neighbours that give the local scale
#define PRIOR 2.0      // weight of the mean among them: keeps a lucky neighbourhood from promising too much
#define MAP_LEAST 1e-9 // of the mean square: where all other points have no error

struct pl_error_map {
    int count, input_count, column_count; // points; inputs; errors per point
    double confidence;                    // of the bounds
    double *x;                            // inputs of the points
    double *residual;                     // column_count per point
    double *width;                        // per input
    double *mean;                         // per column: mean square; NAN: not measured
    double *ratio;                        // per column
};

// P(Binomial(n, p) >= k): the probability that the k-th of n samples lies below the quantile p.
static double map_binomial_tail(int n, int k, double p)
{
    double sum = 0;
    for (int i = k; i <= n; ++i) {
        sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) + (n - i) * log1p(-p));
    }
    return sum;
}

// The order statistic that covers PL_ERROR_CONFIDENCE on average and, with 95 % probability over the choice
// of the points, at least PL_ERROR_COVERAGE; the largest where n points are too few for that.
static int map_order(int n)
{
    int k = (int)ceil(PL_ERROR_CONFIDENCE * (n + 1) - 1e-9);
    while (k < n && map_binomial_tail(n, k, PL_ERROR_COVERAGE) > 0.05) {
        ++k;
    }
    return k < n ? k : n;
}

// s(x)^2 of every column; `without` is a point left out, or -1.
static void map_scale(const pl_error_map *m, const double *x, int without, double *scale)
{
    double near[NEAR];
    int point[NEAR], found = 0;

    // the nearest points, by insertion into a short sorted list
    for (int i = 0; i < m->count; ++i) {
        double sum = 0;
        for (int c = 0; c < m->input_count; ++c) {
            const double gap = (x[c] - m->x[(int64_t)i * m->input_count + c]) / m->width[c];
            sum += gap * gap;
        }

        if (i == without || (found == NEAR && sum >= near[NEAR - 1])) {
            continue;
        }
        int at = found < NEAR ? found++ : NEAR - 1;
        for (; at > 0 && near[at - 1] > sum; --at) {
            near[at] = near[at - 1];
            point[at] = point[at - 1];
        }

        near[at] = sum;
        point[at] = i;
    }

    // mean square of their residuals and of the prior
    for (int k = 0; k < m->column_count; ++k) {
        double sum = PRIOR * m->mean[k];
        if (without >= 0 && m->count > 1) {
            const double r = m->residual[(int64_t)without * m->column_count + k];
            sum = PRIOR * fmax(0, m->count * m->mean[k] - r * r) / (m->count - 1);
        }

        for (int i = 0; i < found; ++i) {
            const double r = m->residual[(int64_t)point[i] * m->column_count + k];
            sum += r * r;
        }

        scale[k] = fmax(sum / (found + PRIOR), MAP_LEAST * m->mean[k]);
    }
}

// Shell sort: base has no sort, and the list is short.
static void map_sort(double *x, int n)
{
    for (int gap = n / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < n; ++i) {
            const double v = x[i];
            int j = i;
            for (; j >= gap && x[j - gap] > v; j -= gap) {
                x[j] = x[j - gap];
            }
            x[j] = v;
        }
    }
}

// Ratios of all points with themselves left out, and their order statistic.
static pl_status map_calibrate(pl_error_map *m, pl_error *err)
{
    const int n = m->count, columns = m->column_count;
    double *ratio = PL_NEW_ARRAY(double, (int64_t)n *columns), *scale = PL_NEW_ARRAY(double, columns);

    if (!ratio || !scale) {
        pl_free(ratio);
        pl_free(scale);
        return pl_fail_memory(err, "the errors of a model");
    }

    // mean squares
    for (int k = 0; k < columns; ++k) {
        m->mean[k] = 0;
        for (int64_t i = 0; i < n; ++i) {
            m->mean[k] += m->residual[i * columns + k] * m->residual[i * columns + k] / n;
        }
    }

    // ratios r_i / s_i
    for (int i = 0; i < n; ++i) {
        map_scale(m, m->x + (int64_t)i * m->input_count, i, scale);
        for (int k = 0; k < columns; ++k) {
            const double r = m->residual[(int64_t)i * columns + k];
            ratio[(int64_t)k * n + i] = r > 0 ? r / sqrt(scale[k]) : 0;
        }
    }

    const int order = map_order(n);
    for (int k = 0; k < columns; ++k) {
        map_sort(ratio + (int64_t)k * n, n);
        m->ratio[k] = ratio[(int64_t)k * n + order - 1];
    }

    m->confidence = fmin(PL_ERROR_CONFIDENCE, order / (n + 1.0));
    pl_free(ratio);
    pl_free(scale);

    return PL_OK;
}

// Copies the samples; distances are scaled by the range of each input.
pl_status pl_error_map_create(const pl_error_samples *s, pl_error_map **out, pl_error *err)
{
    *out = NULL;
    if (s->count < 1 || s->input_count < 0 || s->column_count < 0) {
        return pl_fail(err, PL_BAD_INPUT, "errors of a model: %d points, at least 1 is needed", s->count);
    }

    const int64_t n = s->count, d = s->input_count, columns = s->column_count;
    pl_error_map *m = PL_NEW(pl_error_map);
    if (!m) {
        return pl_fail_memory(err, "the errors of a model");
    }
    *m = (pl_error_map){.count = s->count, .input_count = s->input_count, .column_count = s->column_count};
    m->x = PL_NEW_ARRAY(double, n *d);
    m->residual = PL_NEW_ARRAY(double, n *columns);
    m->width = PL_NEW_ARRAY(double, d);
    m->mean = PL_NEW_ARRAY(double, columns);
    m->ratio = PL_NEW_ARRAY(double, columns);
    pl_status status =
        m->x && m->residual && m->width && m->mean && m->ratio ? PL_OK : pl_fail_memory(err, "the errors");
    for (int64_t c = 0; status == PL_OK && c < d; ++c) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; ++i) {
            low = fmin(low, s->x[i * d + c]);
            high = fmax(high, s->x[i * d + c]);
        }

        m->width[c] = high > low ? high - low : 1;
    }

    if (status == PL_OK) {
        memcpy(m->x, s->x, (size_t)(n * d) * sizeof *m->x);
        memcpy(m->residual, s->residual, (size_t)(n * columns) * sizeof *m->residual);
        status = map_calibrate(m, err);
    }

    if (status != PL_OK) {
        pl_error_map_destroy(m);
        return status;
    }

    *out = m;

    return PL_OK;
}

void pl_error_map_destroy(pl_error_map *map)
{
    if (map) {
        pl_free(map->x);
        pl_free(map->residual);
        pl_free(map->width);
        pl_free(map->mean);
        pl_free(map->ratio);
        pl_free(map);
    }
}

double pl_error_map_confidence(const pl_error_map *map)
{
    return map->confidence;
}

// `error` has one bound per column, in the unit of its residual.
void pl_error_map_evaluate(const pl_error_map *map, const double *x, double *error)
{
    map_scale(map, x, -1, error);
    for (int k = 0; k < map->column_count; ++k) {
        error[k] = map->ratio[k] * sqrt(error[k]);
    }
}
