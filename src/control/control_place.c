// Sensor placement: which of the measured numbers tell most about a marker. Greedy choice of the next number
// that leaves the smallest mean variance of the marker's position over a set of poses,
//   mean over poses of trace(D (L + sum J_i^T J_i)^-1 D^T).
#include "control/control_estimate.h"

// Arrays per pose, and scratch.
typedef struct place_work {
    double *J, *D, *information, *try, *solution; // per pose; scratch n x n and n x 3
    bool *taken;                                  // per number: chosen already
} place_work;

static void place_clear(place_work *w)
{
    pl_free(w->J);
    pl_free(w->D);
    pl_free(w->information);
    pl_free(w->try);
    pl_free(w->solution);
    pl_free(w->taken);
}

// Variance of the position with the information in `information` and, if i >= 0, number i besides.
static double place_variance(const pl_estimator *s, place_work *w, int pose, int i)
{
    const int n = s->n, m = s->options.measured_count;
    const double *D = w->D + (size_t)pose * 3 * (size_t)n, *J = w->J + ((size_t)pose * (size_t)m) * (size_t)n;

    // information with the candidate
    memcpy(w->try, w->information + (size_t)pose * (size_t)(n * n), (size_t)(n * n) * sizeof *w->try);
    double largest = 0, sum = 0;
    for (int a = 0; a < n; ++a) {
        for (int b = 0; i >= 0 && b < n; ++b) {
            w->try[a * n + b] += J[i * n + a] * J[i * n + b];
        }
        largest = fmax(largest, w->try[a * n + a]);
        for (int k = 0; k < 3; ++k) {
            w->solution[a * 3 + k] = D[k * n + a];
        }
    }

    for (int a = 0; a < n; ++a) {
        w->try[a * n + a] += 1e-12 * largest + 1e-12; // nothing known yet: a large, finite variance
    }

    // trace(D information^-1 D^T)
    if (!pl_dense_solve(n, w->try, w->solution, 3)) {
        return INFINITY;
    }

    for (int a = 0; a < n; ++a) {
        for (int k = 0; k < 3; ++k) {
            sum += D[k * n + a] * w->solution[a * 3 + k];
        }
    }

    return sum;
}

// Derivatives of readings and marker at every pose, without forces and errors.
static pl_status place_gather(pl_estimator *s, const double *command, int poses, int marker, place_work *w,
                              pl_error *err)
{
    const size_t n = (size_t)s->n, m = (size_t)s->options.measured_count;
    pl_status status = PL_OK;

    memset(s->x, 0, n * sizeof *s->x);
    for (int p = 0; status == PL_OK && p < poses; ++p) {
        bool solved;
        status = estimate_go(s, command + p * s->info.command_count, s->x, &solved, err);
        if (status == PL_OK && !solved) {
            return pl_fail(err, PL_FAILED, "pose %d of the placement has no equilibrium", p + 1);
        }
        if (status == PL_OK) {
            status = estimate_derive(s, err);
        }
        if (status == PL_OK) {
            memcpy(w->J + (size_t)p * m * n, s->J, m * n * sizeof *w->J);
            memcpy(w->D + (size_t)p * 3 * n, s->D + 3 * (size_t)marker * n, 3 * n * sizeof *w->D);
            memcpy(w->information + (size_t)p * n * n, s->information, n * n * sizeof *w->information);
        }
    }

    return status;
}

// order: numbers from the most useful on; sigma[k]: standard deviation of the position (mm) with the first k
// + 1 of them, averaged over the poses.
pl_status pl_estimator_place(pl_estimator *s, const double *command, int poses, int marker, int *order,
                             double *sigma, pl_error *err)
{
    const int n = s->n, m = s->options.measured_count;
    if (n == 0 || poses < 1 || marker < 0 || marker >= s->info.marker_count) {
        return pl_fail(err, PL_BAD_INPUT,
                       "placement: %d unknowns, %d poses, marker %d: expected at least one of "
                       "each",
                       n, poses, marker);
    }

    place_work w = {.J = PL_NEW_ARRAY(double, (size_t)poses *(size_t)(m * n)),
                    .D = PL_NEW_ARRAY(double, (size_t)poses * 3 * (size_t)n),
                    .information = PL_NEW_ARRAY(double, (size_t)poses *(size_t)(n * n)),
                    .try = PL_NEW_ARRAY(double, n *n),
                    .solution = PL_NEW_ARRAY(double, 3 * n),
                    .taken = PL_NEW_ARRAY(bool, m)};
    pl_status status = w.J && w.D && w.information && w.try && w.solution && w.taken
                           ? place_gather(s, command, poses, marker, &w, err)
                           : pl_fail_memory(err, "the placement");

    // the number that leaves the smallest variance joins; m rounds of at most m candidates
    for (int k = 0; status == PL_OK && k < m; ++k) {
        int best = -1;
        double least = INFINITY;

        for (int i = 0; i < m; ++i) {
            double mean = 0;
            for (int p = 0; !w.taken[i] && p < poses; ++p) {
                mean += place_variance(s, &w, p, i) / poses;
            }
            if (!w.taken[i] && (best < 0 || mean < least)) {
                best = i;
                least = mean;
            }
        }

        w.taken[best] = true;
        order[k] = best;
        sigma[k] = sqrt(least);

        // its information counts from now on
        for (int p = 0; p < poses; ++p) {
            const double *J = w.J + ((size_t)p * (size_t)m + (size_t)best) * (size_t)n;
            for (int a = 0; a < n * n; ++a) {
                w.information[(size_t)p * (size_t)(n * n) + (size_t)a] += J[a / n] * J[a % n];
            }
        }
    }

    place_clear(&w);

    return status;
}
