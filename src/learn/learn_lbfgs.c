// L-BFGS with a line search by bisection and expansion for the weak Wolfe conditions.
#include "learn/learn_impl.h"

// a . b
static double lbfgs_dot(int n, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < n; ++i) {
        s += a[i] * b[i];
    }
    return s;
}

// Pairs s, y in a ring, and vectors of the search.
typedef struct lbfgs {
    int n, memory, stored, newest; // unknowns, ring size, pairs stored, index of the newest
    double *s, *y, *rho, *alpha;   // pairs
    double *g, *d, *trial, *slope; // gradient, direction, trial point, gradient there
} lbfgs;

// d = -H g by the two loops; the first direction is scaled by the largest component of g.
static void lbfgs_direction(lbfgs *q)
{
    const int n = q->n;
    double largest = 0;

    for (int i = 0; i < n; ++i) {
        q->d[i] = -q->g[i];
        largest = fmax(largest, fabs(q->g[i]));
    }

    for (int k = 0; k < q->stored; ++k) {
        const int at = (q->newest - k + q->memory) % q->memory;
        q->alpha[at] = q->rho[at] * lbfgs_dot(n, q->s + (size_t)at * (size_t)n, q->d);
        for (int i = 0; i < n; ++i) {
            q->d[i] -= q->alpha[at] * q->y[(size_t)at * (size_t)n + (size_t)i];
        }
    }

    double scale = largest > 0 ? 0.1 / largest : 1;
    if (q->stored > 0) {
        const double *y = q->y + (size_t)q->newest * (size_t)n;
        scale = 1 / (q->rho[q->newest] * lbfgs_dot(n, y, y));
    }

    for (int i = 0; i < n; ++i) {
        q->d[i] *= scale;
    }

    for (int k = q->stored - 1; k >= 0; --k) {
        const int at = (q->newest - k + q->memory) % q->memory;
        const double beta = q->rho[at] * lbfgs_dot(n, q->y + (size_t)at * (size_t)n, q->d);
        for (int i = 0; i < n; ++i) {
            q->d[i] += (q->alpha[at] - beta) * q->s[(size_t)at * (size_t)n + (size_t)i];
        }
    }
}

// Minimises from x, which gets the result; returns the iterations, -1 when out of memory.
int pl_lbfgs(int count, double *x, double (*evaluate)(void *user, const double *x, double *gradient),
             void *user, const pl_lbfgs_options *options)
{
    const size_t n = (size_t)count, m = (size_t)(options->memory > 0 ? options->memory : 10);
    lbfgs q = {.n = count, .memory = (int)m, .newest = -1};
    double *block = PL_NEW_ARRAY(double, 2 * n * m + 2 * m + 4 * n);

    if (!block) {
        return -1;
    }
    q.s = block;
    q.y = q.s + n * m;
    q.rho = q.y + n * m;
    q.alpha = q.rho + m;
    q.g = q.alpha + m;
    q.d = q.g + n;
    q.trial = q.d + n;
    q.slope = q.trial + n;
    double value = evaluate(user, x, q.g);
    int iteration = 0;

    // stop at a small gradient
    while (iteration < options->iteration_limit && isfinite(value)) {
        double largest = 0;
        for (int i = 0; i < count; ++i) {
            largest = fmax(largest, fabs(q.g[i]));
        }
        if (largest <= options->gradient_tolerance) {
            break;
        }

        // descent direction
        lbfgs_direction(&q);
        double along = lbfgs_dot(count, q.g, q.d);
        if (!(along < 0)) { // forgotten: steepest descent
            q.stored = 0;
            lbfgs_direction(&q);
            along = lbfgs_dot(count, q.g, q.d);
        }

        // weak Wolfe conditions: enough decrease, and a slope that has flattened
        double t = 1, low = 0, high = INFINITY, fresh = value;
        bool found = false;
        for (int attempt = 0; attempt < 30 && !found; ++attempt) {
            for (int i = 0; i < count; ++i) {
                q.trial[i] = x[i] + t * q.d[i];
            }
            fresh = evaluate(user, q.trial, q.slope);
            if (!(fresh <= value + 1e-4 * t * along)) {
                high = t;
                t = 0.5 * (low + high);
            } else if (lbfgs_dot(count, q.slope, q.d) < 0.9 * along) {
                low = t;
                t = isfinite(high) ? 0.5 * (low + high) : 2 * t;
            } else {
                found = true;
            }
        }

        // in the noise of rounding a decrease is enough
        if (!found && !(fresh < value)) {
            break;
        }

        // a pair only where the curvature is positive
        const int at = (q.newest + 1) % q.memory;
        double *s = q.s + (size_t)at * n, *y = q.y + (size_t)at * n;
        for (int i = 0; i < count; ++i) {
            s[i] = q.trial[i] - x[i];
            y[i] = q.slope[i] - q.g[i];
        }

        const double sy = lbfgs_dot(count, s, y);
        if (sy > 1e-16 * lbfgs_dot(count, y, y)) {
            q.rho[at] = 1 / sy;
            q.newest = at;
            q.stored = q.stored < q.memory ? q.stored + 1 : q.memory;
        }

        memcpy(x, q.trial, n * sizeof *x);
        memcpy(q.g, q.slope, n * sizeof *x);
        value = fresh;
        ++iteration;
        if (options->step && !options->step(user, iteration, x, value)) {
            break;
        }
    }

    pl_free(block);

    return iteration;
}
