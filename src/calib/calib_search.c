// Nelder and Mead's simplex search with the usual coefficients (reflection 1, expansion 2, contraction 1/2).
#include "calib/calib_search.h"
#include "base/base.h"

#define SEARCH_STEPS 600

typedef struct simplex {
    calib_function f;
    void *user;
    int n;
    double x[CALIB_SEARCH_MAX + 1][CALIB_SEARCH_MAX], value[CALIB_SEARCH_MAX + 1];
} simplex;

// Corners in the order of their values, the best first.
static void simplex_sort(simplex *s)
{
    for (int i = 1; i <= s->n; ++i) {
        for (int j = i; j > 0 && s->value[j] < s->value[j - 1]; --j) {
            double x[CALIB_SEARCH_MAX];
            const double value = s->value[j];
            memcpy(x, s->x[j], sizeof x);
            memcpy(s->x[j], s->x[j - 1], sizeof x);
            memcpy(s->x[j - 1], x, sizeof x);
            s->value[j] = s->value[j - 1];
            s->value[j - 1] = value;
        }
    }
}

// The worst corner moved through the centre of the others: centre + t (centre - worst).
static double simplex_try(simplex *s, double t, double x[CALIB_SEARCH_MAX])
{
    for (int k = 0; k < s->n; ++k) {
        double centre = 0;
        for (int i = 0; i < s->n; ++i) {
            centre += s->x[i][k] / s->n;
        }
        x[k] = centre + t * (centre - s->x[s->n][k]);
    }

    return s->f(s->user, x);
}

static void simplex_take(simplex *s, const double x[CALIB_SEARCH_MAX], double value)
{
    memcpy(s->x[s->n], x, sizeof s->x[s->n]);
    s->value[s->n] = value;
}

static void simplex_shrink(simplex *s)
{
    for (int i = 1; i <= s->n; ++i) {
        for (int k = 0; k < s->n; ++k) {
            s->x[i][k] = 0.5 * (s->x[i][k] + s->x[0][k]);
        }
        s->value[i] = s->f(s->user, s->x[i]);
    }
}

static void simplex_step(simplex *s)
{
    double x[CALIB_SEARCH_MAX] = {0}, y[CALIB_SEARCH_MAX] = {0};
    const double reflected = simplex_try(s, 1, x);

    if (reflected < s->value[0]) {
        const double expanded = simplex_try(s, 2, y);
        simplex_take(s, expanded < reflected ? y : x, fmin(expanded, reflected));
    } else if (reflected < s->value[s->n - 1]) {
        simplex_take(s, x, reflected);
    } else {
        const double contracted = simplex_try(s, reflected < s->value[s->n] ? 0.5 : -0.5, y);
        if (contracted < fmin(reflected, s->value[s->n])) {
            simplex_take(s, y, contracted);
        } else {
            simplex_shrink(s);
        }
    }
}

double calib_search(calib_function f, void *user, int n, double *x, double step, double tolerance)
{
    PL_ASSERT(n >= 1 && n <= CALIB_SEARCH_MAX);
    simplex s = {.f = f, .user = user, .n = n};
    for (int i = 0; i <= n; ++i) {
        memcpy(s.x[i], x, (size_t)n * sizeof *x);
        s.x[i][i > 0 ? i - 1 : 0] += i > 0 ? step : 0;
        s.value[i] = f(user, s.x[i]);
    }

    simplex_sort(&s);
    for (int k = 0; k < SEARCH_STEPS && !(s.value[n] - s.value[0] <= tolerance * fabs(s.value[0])); ++k) {
        simplex_step(&s);
        simplex_sort(&s);
    }

    memcpy(x, s.x[0], (size_t)n * sizeof *x);

    return s.value[0];
}
