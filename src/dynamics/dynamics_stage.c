// One stage of a step: the minimum of inertia, elastic energy and loads at fixed loads and commands. The
// factor of an earlier shape, co-rotated with the body, preconditions a quasi-Newton iteration (L-BFGS, pairs
// of this stage only: those of another stage belong to another rotation of the factor).
#include "dynamics/dynamics_impl.h"

#define STAGE_ITERATIONS 60
#define STAGE_PER_FACTOR 14 // iterations with one factor before the next one is made
#define STAGE_TRIED 3       // iterations from which its contraction is known
#define STAGE_STIFF 0.5     // contraction of the steps of bodies with stiff parts, at most
#define STAGE_FACTORS 8     // in one stage
#define STAGE_GROWTH 5      // a step so many times the smallest one: the factor is of no use
#define STAGE_HALVINGS 6    // of a step that inverts an element
#define STAGE_SET_CHANGES 8 // of taut and slack cables in one stage
#define STAGE_DAMPING 0.2   // Powell's damping: curvature of a pair, at least this share of the factor's
#define STAGE_WORK_SHARE 5  // work of what is left unbalanced: this part of the tolerance
#define STAGE_WORK_LEAST 1e-3
#define STAGE_ROUNDS 25    // updates of contact in one stage
#define STAGE_FORCE 1e-5   // residual over the largest nodal force, with contact
#define STAGE_RESOLVED 0.1 // of the tolerance
#define STAGE_GAP 1e-3     // of the edge: gaps of contacts that press, at most
#define STAGE_HARD 1.0
#define STAGE_HARD_MOST 1048576.0
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
pl_status dynamics_stage_factor(pl_dynamics *d, const double *x, const pl_ahead *predicted,
                                stage_outcome *outcome, pl_error *err)
{
    pl_problem *p = d->problem;
    pl_error why = {0};
    const pl_status status = pl_problem_refactor(
        p, &(pl_linearization){.x = x, .indefinite = PL_MODES_FLIPPED, .predicted = predicted}, &why);

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

    // fibres and layers that ring are compressed for a moment: modes that the error of the step controls
    const bool indefinite = (p->linear.blend > 0 || p->linear.mode_count > 0) && !pl_problem_stiff(p);
    *outcome = indefinite && d->level < d->options.halvings ? STAGE_INDEFINITE : STAGE_SOLVED;

    return PL_OK;
}

// ---- iteration
typedef struct stage {
    double tolerance;                   // mm
    const double *from;                 // full: where it began
    double change, change_before, best; // mm: steps
    int iteration, base;                // and that at which the factor was made
    int factors, set_changes;
    bool pair;    // the last step can become a pair
    bool stepped; // a step has been taken
    bool stiff;   // parts of the body resist strain far more than others
    bool failed;  // the factor is of no use
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

// Work of the force r that the iteration leaves unbalanced, along the motion of the stage; `exchange`: what
// inertia exchanges, vertex by vertex. Rigid bodies take part with the mean motion of their vertices.
static double stage_work(const pl_dynamics *d, const double *from, const double *x, double *exchange)
{
    const pl_problem *p = d->problem;
    const pl_unknowns *u = &p->unknowns;
    double work = 0;

    *exchange = 0;
    for (int64_t v = 0; v < dynamics_full(d); v += 3) {
        double moved = 0;
        for (int i = 0; i < 3; ++i) {
            const double step = x[v + i] - from[v + i];
            const int32_t k = u->dof[v + i];
            moved += d->inertia->product[v + i] * step;
            work += k >= 0 ? d->r[k] * step : 0;
        }
        *exchange += fabs(d->inertia->coefficient * moved);
    }

    for (int b = 0; b < u->rigid_count; ++b) {
        const pl_rigid_motion *body = &u->rigid[b];
        double mean[3] = {0};
        for (int32_t k = 0; k < body->node_count; ++k) {
            for (int i = 0; i < 3; ++i) {
                const int64_t at = 3 * (int64_t)body->node[k] + i;
                mean[i] += (x[at] - from[at]) / body->node_count;
            }
        }
        work += pl_dot3(d->r + body->unknown, mean);
    }

    return work;
}

// Positions are good to the tolerance, and the force left unbalanced does no more than a small part of the
// work that is exchanged: an error of positions is one of velocities, larger by 1 / s, and would create
// energy. Far below the tolerance of the positions that is rounding.
static bool stage_converged(pl_dynamics *d, stage *run, const double *x)
{
    const double left = stage_left(d, run);
    if (!(left < run->tolerance)) {
        return false;
    }

    double exchange;
    const double work = stage_work(d, run->from, x, &exchange);
    return fabs(work) <= d->options.tolerance / STAGE_WORK_SHARE * (exchange + d->exchanged) ||
           left < STAGE_WORK_LEAST * run->tolerance;
}

// The iterations that the present contraction still needs cost more than another factor, or it diverges.
static bool stage_factor_spent(const pl_dynamics *d, const stage *run)
{
    const int since = run->iteration - run->base;
    if (run->failed || since >= STAGE_PER_FACTOR || (since > 2 && run->change > STAGE_GROWTH * run->best)) {
        return true;
    }
    const double left = log(fmin(1, run->tolerance / run->change)) / log(d->contraction);
    return since > STAGE_TRIED && left > d->cost + STAGE_TRIED;
}

// A factor at x, out of balance: with the stresses that the last step predicted. Where parts are stiff the
// residual too is that of their law linearised there: a step that turns fibres strains them to second order,
// and the stress of that strain is not one that the body will have.
static pl_status stage_refactor(pl_dynamics *d, stage *run, const double *x, stage_outcome *outcome,
                                pl_error *err)
{
    pl_problem *p = d->problem;
    const bool predicts = run->stepped && run->scale == 1;
    const pl_ahead ahead = {d->x_before, d->dx, d->pressure_before, d->pressure_step};
    const pl_status status = dynamics_stage_factor(d, x, predicts ? &ahead : NULL, outcome, err);

    if (status == PL_OK && *outcome == STAGE_SOLVED) {
        p->tangent.ahead = predicts && pl_problem_stiff(p) ? &ahead : NULL;
        stage_evaluate(d, run, x);
        p->tangent.ahead = NULL;
    }

    run->base = run->iteration;
    run->best = INFINITY;
    run->change_before = 0;
    run->pair = run->failed = false;

    return status;
}

// Where the next step begins, and what it predicts.
static void stage_remember(pl_dynamics *d, stage *run, const double *x)
{
    pl_problem *p = d->problem;
    const size_t pressures = (size_t)p->elements->pressure_count * sizeof *d->pressure_step;

    memcpy(d->x_before, x, pl_problem_full_bytes(p));
    memcpy(d->pressure_before, p->elements->pressure, pressures);
    memcpy(d->pressure_step, p->linear.pressure_step, pressures);
    pl_problem_expand(p, x, d->d, d->dx);
    run->stepped = true;
}

// A stiff part is strained to second order by the steps: they do not contract, and would leave the region
// where they do.
static bool stage_stiff_fails(const stage *run)
{
    return run->stiff && run->change_before > 0 && run->change > STAGE_STIFF * run->change_before;
}

static pl_status stage_iterate(pl_dynamics *d, stage *run, double *x, stage_outcome *outcome, pl_error *err)
{
    pl_problem *p = d->problem;
    double gap[PL_ROWS_MAX];

    for (run->iteration = 0; run->iteration < STAGE_ITERATIONS; ++run->iteration) {
        // another factor where this one is of no use
        if (run->iteration > 0 && stage_factor_spent(d, run)) {
            if (run->factors++ == STAGE_FACTORS) {
                break;
            }
            const pl_status status = stage_refactor(d, run, x, outcome, err);
            if (status != PL_OK || *outcome != STAGE_SOLVED) {
                return status;
            }
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
        pl_log(2, "      stage: iteration %d, change %.3e mm of %.1e", run->iteration, run->change,
               run->tolerance);
        run->failed = stage_stiff_fails(run);
        if (run->failed) {
            continue;
        }
        stage_remember(d, run, x);
        const int sets = run->set_changes;
        if (!stage_move(d, run, x)) {
            *outcome = STAGE_INVERTED;
            return PL_OK;
        }
        if (run->set_changes == sets && run->scale == 1 && stage_converged(d, run, x)) {
            *outcome = STAGE_SOLVED;
            return PL_OK;
        }
        run->best = fmin(run->best, run->change);
        run->change_before = run->set_changes == sets ? run->change : 0;
    }

    *outcome = STAGE_DIVERGED;
    return PL_OK;
}

static double stage_edge(const pl_dynamics *d)
{
    const pl_elements *E = d->problem->elements;
    return cbrt(E->volume / fmax(1, E->element_count));
}

// Contacts are harder than the inertia that hits them, over the usual stiffness, some mu / h of a face: with
// M / s^2 about rho h^3 / s^2 the ratio is rho h^2 / (mu s^2), as a power of two.
static double stage_hard(const pl_dynamics *d, double s)
{
    const pl_elements *E = d->problem->elements;
    double mu = INFINITY, density = 0;

    for (int r = 0; r < E->law_count; ++r) {
        mu = E->law[r].mu > 0 ? fmin(mu, E->law[r].mu) : mu;
        density = fmax(density, E->density[r]);
    }

    const double h = stage_edge(d), ratio = STAGE_HARD * (1 + density * h * h / (mu * s * s));
    return fmin(STAGE_HARD_MOST, exp2(ceil(log2(ratio))));
}

// Newton's method with a line search and factors that follow the set of contacts.
static pl_status stage_newton(pl_dynamics *d, const stage *run, double *x, stage_outcome *outcome,
                              pl_error *err)
{
    const pl_newton_goal goal = {
        .force_tolerance = STAGE_FORCE, .length_tolerance = run->tolerance, .limit = STAGE_ITERATIONS};
    pl_newton_report found;
    pl_error why = {0};

    memcpy(d->newton.work.x_start, x, pl_problem_full_bytes(d->problem));
    pl_newton_forget(&d->newton);
    const int before = d->newton.iterations;
    const pl_newton_end end = pl_newton_minimise(&d->newton, x, &goal, &found, &why);
    d->report.evaluations += d->newton.iterations - before;

    // with hard contacts the energy does not resolve steps far below the tolerance
    const bool solved = end == NEWTON_DONE || found.step < STAGE_RESOLVED * run->tolerance;
    *outcome = solved ? STAGE_SOLVED : end == NEWTON_INVERTED ? STAGE_INVERTED : STAGE_DIVERGED;
    if (end == NEWTON_STOPPED) {
        return pl_fail(err, PL_INTERRUPTED, "interrupted");
    }

    return why.status == PL_NO_MEMORY ? pl_fail(err, PL_NO_MEMORY, "%s", why.text) : PL_OK;
}

// Equilibria of the stage one after another, each with the pressures of the one before as multipliers, until
// gaps and pressures are complementary; otherwise the step is too long.
static pl_status stage_touch(pl_dynamics *d, stage *run, double *x, stage_outcome *outcome, pl_error *err)
{
    pl_problem *p = d->problem;
    pl_status status =
        d->touches ? stage_newton(d, run, x, outcome, err) : stage_iterate(d, run, x, outcome, err);

    for (int round = 0; d->touches && status == PL_OK && *outcome == STAGE_SOLVED; ++round) {
        double penetration = 0;
        const double unsettled = pl_problem_unsettled(p, x, &penetration);
        pl_log(2, "      contact: update %d, penetration %.2e of the edge, %.2e of the aim", round,
               penetration, unsettled);
        if (unsettled <= 1) {
            break;
        }
        if (round == STAGE_ROUNDS) {
            *outcome = STAGE_DIVERGED;
            break;
        }
        p->limits_only = p->limits_off > PL_CONTACT_LIMIT;
        status = pl_problem_advance(p, x, err);
        p->limits_only = false;
        if (status != PL_OK) {
            break;
        }
        status = stage_newton(d, run, x, outcome, err);
    }

    return status;
}

// A prediction that goes through an obstacle ends before it.
static void stage_stop_before(const pl_dynamics *d, const double *from, double *x)
{
    const double limit = pl_problem_step_limit(d->problem, from, x);
    for (int64_t i = 0; limit < 1 && i < dynamics_full(d); ++i) {
        x[i] = d->problem->unknowns.rigid_count > 0 ? from[i] : from[i] + limit * (x[i] - from[i]);
    }
}

pl_status dynamics_stage_solve(pl_dynamics *d, double s, double tolerance, const double *from, double *x,
                               stage_outcome *outcome, pl_error *err)
{
    pl_problem *p = d->problem;
    stage run = {
        .tolerance = tolerance, .from = from, .best = INFINITY, .scale = 1, .stiff = pl_problem_stiff(p)};
    pl_status status = dynamics_levels_use(d, s, err);

    if (status != PL_OK) {
        return status;
    }

    if (d->touches) {
        // an error of a gap is one of velocities, larger by 1 / s
        p->options.contact_tolerance = fmin(STAGE_GAP, tolerance / stage_edge(d));
        p->contact_hard = stage_hard(d, s);
        pl_problem_evaluate(p, from, NULL); // contacts take their stiffness
        stage_stop_before(d, from, x);
    }

    // a prediction strains stiff parts to second order: they begin at a shape in balance
    if (run.stiff) {
        memcpy(x, from, pl_problem_full_bytes(p));
    }

    // the factor at hand, co-rotated; otherwise one at the last accepted shape, or at the predicted one
    *outcome = STAGE_SOLVED;
    if (!pl_problem_factor_serves(p)) {
        run.factors = 1;
        status = dynamics_stage_factor(d, d->now.x, NULL, outcome, err);
        if (status == PL_OK && *outcome != STAGE_SOLVED) {
            status = dynamics_stage_factor(d, x, NULL, outcome, err);
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

    status = stage_touch(d, &run, x, outcome, err);
    dynamics_stage_count(d);

    return status;
}
