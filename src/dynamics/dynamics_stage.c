// One stage of a step: the minimum of inertia, elastic energy and loads at fixed loads and commands. The
// factor of an earlier shape, co-rotated with the body, preconditions a quasi-Newton iteration (L-BFGS, pairs
// of this stage only: those of another stage belong to another rotation of the factor).
#include "dynamics/dynamics_impl.h"

#define STAGE_ITERATIONS 60
#define STAGE_PER_FACTOR 14 // iterations with one factor before the next one is made
#define STAGE_FACTORS 4     // in one stage
#define STAGE_GROWTH 5      // a step so many times the smallest one: the factor is of no use
#define STAGE_HALVINGS 6    // of a step that inverts an element
#define STAGE_SET_CHANGES 8 // of taut and slack cables in one stage
#define STAGE_DAMPING 0.2   // Powell's damping: curvature of a pair, at least this share of the factor's
#define STAGE_CONTRACTION_LOW 0.05
#define STAGE_CONTRACTION_HIGH 0.9

// ---- pairs
static void pairs_clear(dynamics_pairs *pairs)
{
    pairs->first = pairs->count = 0;
}

// A step and the change of the residual along it. With B s = -scale r_old the curvature that the factor
// expects, s . y is kept at STAGE_DAMPING of s . B s at least: y <- t y + (1 - t) B s.
static void pairs_add(pl_dynamics *d, double scale)
{
    dynamics_pairs *pairs = &d->pairs;
    const int32_t n = d->problem->unknowns.n;
    const bool full = pairs->count == DYNAMICS_PAIRS;
    const int at = full ? pairs->first : (pairs->first + pairs->count) % DYNAMICS_PAIRS;
    double *s = pairs->s[at], *y = pairs->y[at];
    for (int32_t i = 0; i < n; ++i) {
        s[i] = scale * d->d[i];
        y[i] = d->r[i] - d->r_old[i];
    }
    const double expected = -scale * dynamics_dot(s, d->r_old, n);
    double sy = dynamics_dot(s, y, n);
    if (!(expected > 0) || !isfinite(sy)) {
        return;
    }
    if (sy < STAGE_DAMPING * expected) {
        const double t = (1 - STAGE_DAMPING) * expected / (expected - sy);
        for (int32_t i = 0; i < n; ++i) {
            y[i] = t * y[i] - (1 - t) * scale * d->r_old[i];
        }
        sy = STAGE_DAMPING * expected;
    }
    pairs->rho[at] = 1 / sy;
    pairs->first = full ? (pairs->first + 1) % DYNAMICS_PAIRS : pairs->first;
    pairs->count += !full;
}

static void vector_add(double factor, const double *a, int32_t n, double *y)
{
#pragma omp simd
    for (int32_t i = 0; i < n; ++i) {
        y[i] += factor * a[i];
    }
}

// d = -H r by the two-loop recursion around the bordered solve. False: constraints depend on each other.
static bool stage_direction(pl_dynamics *d, const double *gap)
{
    const dynamics_pairs *pairs = &d->pairs;
    const int32_t n = d->problem->unknowns.n;
    double alpha[DYNAMICS_PAIRS], mu[PL_ROWS_MAX];
    for (int32_t i = 0; i < n; ++i) {
        d->y[i] = -d->r[i];
    }
    for (int k = pairs->count - 1; k >= 0; --k) {
        const int at = (pairs->first + k) % DYNAMICS_PAIRS;
        alpha[at] = pairs->rho[at] * dynamics_dot(pairs->s[at], d->y, n);
        vector_add(-alpha[at], pairs->y[at], n, d->y);
    }
    if (!pl_problem_solve_bordered(d->problem, d->y, gap, d->d, mu)) {
        return false;
    }
    for (int k = 0; k < pairs->count; ++k) {
        const int at = (pairs->first + k) % DYNAMICS_PAIRS;
        const double beta = pairs->rho[at] * dynamics_dot(pairs->y[at], d->d, n);
        vector_add(alpha[at] - beta, pairs->s[at], n, d->d);
    }
    return true;
}

// ---- the factor
void dynamics_stage_count(pl_dynamics *d)
{
    pl_linear *l = &d->problem->linear;
    d->report.factorizations += l->factorizations;
    d->report.solves += l->solves;
    l->factorizations = l->solves = 0;
}

// Factors at x; indefinite: where K + M / s^2 is not positive the step is too long, unless it is the shortest
// allowed, where modes of negative curvature are made positive.
pl_status dynamics_stage_factor(pl_dynamics *d, const double *x, stage_outcome *outcome, pl_error *err)
{
    pl_problem *p = d->problem;
    pl_error why = {0};
    const pl_status status = pl_problem_refactor(p, x, 0, PL_MODES_FLIPPED, NULL, &why);
    pairs_clear(&d->pairs);
    d->levels.level[d->levels.now].best = -1;
    d->levels.level[d->levels.now].extra = 0;
    dynamics_stage_count(d);
    if (status == PL_FAILED) {
        *outcome = STAGE_INDEFINITE;
        return PL_OK;
    }
    if (status != PL_OK) {
        return pl_fail(err, status, "%s", why.text);
    }
    const bool indefinite = p->linear.blend > 0 || p->linear.mode_count > 0;
    *outcome = indefinite && d->level < d->options.halvings ? STAGE_INDEFINITE : STAGE_SOLVED;
    return PL_OK;
}

// ---- iteration
typedef struct stage {
    double tolerance;
    double change, change_before, best; // mm: steps
    int iteration, base;                // and that at which the factor was made
    int factors, set_changes;
    bool pair; // the last step can become a pair
    double scale;
} stage;

// Residual at x, taut and slack cables; INFINITY: an element is inverted.
static double stage_evaluate(pl_dynamics *d, stage *run, const double *x)
{
    pl_problem *p = d->problem;
    d->report.evaluations++;
    if (pl_problem_lags(p)) {
        pl_error ignored;
        pl_problem_advance(p, x, &ignored);
    }
    if (isinf(pl_problem_evaluate(p, x, d->g))) {
        return INFINITY;
    }
    double largest = pl_problem_residual(p, d->g, d->r);
    if (p->row_count > 0 && run->set_changes < STAGE_SET_CHANGES && pl_problem_activate(p, true)) {
        run->set_changes++;
        run->pair = false;
        run->change_before = 0;
        pairs_clear(&d->pairs);
        largest = pl_problem_residual(p, d->g, d->r);
    }
    return largest;
}

// The step d from x, halved while it inverts an element; x is left there, evaluated. False: it always does.
static bool stage_move(pl_dynamics *d, stage *run, double *x)
{
    pl_problem *p = d->problem;
    const size_t bytes = pl_problem_full_bytes(p);
    memcpy(d->r_old, d->r, (size_t)p->unknowns.n * sizeof *d->r);
    run->scale = 1;
    for (int k = 0; k <= STAGE_HALVINGS; ++k, run->scale *= 0.5) {
        run->pair = true;
        pl_problem_move(p, x, d->d, run->scale, d->trial);
        if (isfinite(stage_evaluate(d, run, d->trial))) {
            memcpy(x, d->trial, bytes);
            return true;
        }
    }
    return false;
}

// The error left after a step: change * theta / (1 - theta) with the contraction theta of the iteration.
static double stage_left(pl_dynamics *d, stage *run)
{
    double theta = d->contraction;
    if (run->change_before > 0 && run->scale == 1) {
        theta = run->change / run->change_before;
        d->contraction = fmin(STAGE_CONTRACTION_HIGH, fmax(STAGE_CONTRACTION_LOW, theta));
    }
    return run->change * (theta < 1 ? fmin(1, theta / (1 - theta)) : INFINITY);
}

static bool stage_factor_spent(const stage *run)
{
    return run->iteration - run->base >= STAGE_PER_FACTOR ||
           (run->iteration - run->base > 2 && run->change > STAGE_GROWTH * run->best);
}

static pl_status stage_iterate(pl_dynamics *d, stage *run, double *x, stage_outcome *outcome, pl_error *err)
{
    pl_problem *p = d->problem;
    double gap[PL_ROWS_MAX];
    for (run->iteration = 0; run->iteration < STAGE_ITERATIONS; ++run->iteration) {
        // another factor where this one is of no use
        if (run->iteration > 0 && stage_factor_spent(run)) {
            if (run->factors++ == STAGE_FACTORS) {
                break;
            }
            const pl_status status = dynamics_stage_factor(d, x, outcome, err);
            if (status != PL_OK || *outcome != STAGE_SOLVED) {
                return status;
            }
            stage_evaluate(d, run, x);
            run->base = run->iteration;
            run->best = INFINITY;
            run->change_before = 0;
            run->pair = false;
        }

        // direction and step
        if (run->pair) {
            pairs_add(d, run->scale);
        }
        pl_problem_gaps(p, gap);
        if (!stage_direction(d, gap)) {
            break;
        }
        run->change = pl_problem_largest(p, d->d, false);
        if (!isfinite(run->change) || run->change > 10 * p->size) {
            break;
        }
        const int sets = run->set_changes;
        if (!stage_move(d, run, x)) {
            *outcome = STAGE_INVERTED;
            return PL_OK;
        }
        if (run->set_changes == sets && run->scale == 1 && stage_left(d, run) < run->tolerance) {
            *outcome = STAGE_SOLVED;
            return PL_OK;
        }
        run->best = fmin(run->best, run->change);
        run->change_before = run->set_changes == sets ? run->change : 0;
    }
    *outcome = STAGE_DIVERGED;
    return PL_OK;
}

pl_status dynamics_stage_solve(pl_dynamics *d, double s, double tolerance, double *x, stage_outcome *outcome,
                               pl_error *err)
{
    pl_problem *p = d->problem;
    stage run = {.tolerance = tolerance, .best = INFINITY, .scale = 1};
    pl_status status = dynamics_levels_use(d, s, err);
    if (status != PL_OK) {
        return status;
    }

    // the factor at hand, co-rotated; otherwise one at the last accepted shape, or at the predicted one
    *outcome = STAGE_SOLVED;
    if (!pl_problem_factor_serves(p)) {
        run.factors = 1;
        status = dynamics_stage_factor(d, d->now.x, outcome, err);
        if (status == PL_OK && *outcome != STAGE_SOLVED) {
            status = dynamics_stage_factor(d, x, outcome, err);
        }
        if (status != PL_OK || *outcome != STAGE_SOLVED) {
            return status;
        }
    }
    pl_problem_turn(p, x);
    pairs_clear(&d->pairs);

    // a prediction that inverts an element is replaced by the last shape
    if (!isfinite(stage_evaluate(d, &run, x))) {
        memcpy(x, d->now.x, pl_problem_full_bytes(p));
        if (!isfinite(stage_evaluate(d, &run, x))) {
            *outcome = STAGE_INVERTED;
            return PL_OK;
        }
    }
    status = stage_iterate(d, &run, x, outcome, err);
    dynamics_stage_count(d);
    return status;
}
