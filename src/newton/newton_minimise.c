// Equilibrium at fixed loads: Newton's method with co-rotated steps, on the manifold of the constraints
// (docs/explanation/solver.md).
//
//   residual    r = dE/dx + A^T mu, multipliers mu, which cables hold
//   direction   K d + A^T dmu = -r,  A d = gap, with the factor at hand
//   end         |r| and |d| below their tolerances, targets met; or near enough for a path to go on
//   factor      a new one where the direction shows that it gets there sooner; otherwise the one at hand,
//               co-rotated, with pairs of L-BFGS                                         (newton_factor.c)
//   step        bounded in rotation and strain, full where the energy falls             (newton_step.c)
//
// A factor has the modes of negative curvature of its tangent flipped; such a factor is used once.
#include "newton/newton_impl.h"

double pl_newton_distance(const pl_newton_solver *N, const double *a, const double *b)
{
    double most = 0;
    for (int64_t v = 0; v < N->problem->mesh.vertex_count; ++v) {
        double d[3];
        pl_sub3(a + 3 * v, b + 3 * v, d);
        most = fmax(most, pl_dot3(d, d));
    }

    return sqrt(most);
}

void pl_newton_watch(pl_newton_solver *N, const pl_progress *progress, const char *what, double limit)
{
    N->watch = (pl_watch){.progress = *progress,
                          .what = what,
                          .fraction = -1,
                          .deadline = limit > 0 ? pl_seconds() + limit : 0};
    N->problem->watch = &N->watch;
}

bool pl_newton_continue(pl_newton_solver *N)
{
    pl_watch *w = &N->watch;
    const double now = pl_seconds();
    w->asked = now;
    w->late = w->late || (w->deadline > 0 && now > w->deadline);
    w->stopped = w->stopped || (!w->late && !pl_progress_step(&w->progress, w->fraction, w->what));
    return !w->stopped && !w->late;
}

// ---- residual and direction
// Multipliers, active set and residual at x, evaluated last. False: the set keeps changing.
static bool newton_residual(pl_newton_solver *N, newton_run *run)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;

    for (;;) {
        report->residual = pl_problem_residual(p, N->work.g, N->work.r);
        if (!pl_problem_activate(p, report->residual < NEWTON_RELEASE * pl_problem_force_scale(p))) {
            break;
        }
        pl_newton_forget(N);
        if (++run->set_changes > PL_ROWS_MAX) {
            return false;
        }
    }

    report->relative = report->residual / pl_problem_force_scale(p);

    // the gaps of all borders, and the largest relative one of an active constraint
    run->opening = 0;
    pl_problem_gaps(p, run->gap);
    for (int k = 0; k < p->linear.border_count; ++k) {
        const pl_row *row = &p->row[p->linear.border[k]];
        if (row->wanted && row->constraint && row->active) {
            run->opening = fmax(run->opening, fabs(run->gap[k]) / row->unit);
        }
    }

    return true;
}

// Along a mode of negative curvature the quadratic model has no least value: a Newton step with flipped modes
// goes as far along each of them as a linear step may, and in full along all others.
static void newton_bound_modes(pl_newton_solver *N, double *d)
{
    const pl_problem *p = N->problem;
    const int32_t n = p->unknowns.n;
    double *along = N->work.y, strain;

    for (int k = 0; k < p->linear.mode_count; ++k) {
        const double *v = p->linear.mode + (int64_t)k * n, part = pl_newton_dot(v, d, n);
        for (int32_t i = 0; i < n; ++i) {
            along[i] = part * v[i];
        }
        const double turn = pl_newton_step_rotation(N, p->linear.x, along, &strain),
                     excess = fmax(0, 1 - NEWTON_LEAVE_STEP / fmax(turn, strain));
        for (int32_t i = 0; i < n; ++i) {
            d[i] -= excess * along[i];
        }
    }
}

// d, its length, its slope and its norm: K d + A^T mu = -r, A d = gap, so d . K d = -r . d - mu . gap.
static void newton_find_direction(pl_newton_solver *N, newton_run *run)
{
    pl_problem *p = N->problem;
    newton_work *w = &N->work;

    memcpy(w->pressure_before, p->elements->pressure, (size_t)p->elements->pressure_count * sizeof(double));
    for (int i = 0; i < p->row_count; ++i) {
        w->multiplier_before[i] = p->row[i].multiplier;
    }

    const bool known = run->goal->start == NEWTON_DIRECTED && run->iteration == 0 && run->set_changes == 0;
    if (!known) {
        pl_newton_direction(N, w->r, run->gap, w->d);
    }
    if (run->factor == FACTOR_FRESH && !pl_problem_touches(p)) {
        newton_bound_modes(N, w->d);
    }
    run->report->step = pl_problem_largest(p, w->d, false);
    run->slope = pl_newton_dot(w->r, w->d, p->unknowns.n);
    double square = -run->slope;
    for (int k = 0; k < p->linear.border_count; ++k) {
        square -= w->mu[k] * run->gap[k];
    }
    run->norm = sqrt(fmax(square, 0));
    newton_chord_note(&run->chord, run->norm, run->report->step);
}

// ---- the end
static bool newton_balanced(const newton_run *run)
{
    return run->report->relative < run->goal->force_tolerance && run->opening <= NEWTON_GAP &&
           run->gradient == GRADIENT_TRUE;
}

// The last direction is at hand: takes it as well where it leads closer to balance.
static void newton_polish(pl_newton_solver *N, double *x, newton_run *run)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;
    double limit;

    run->turn = 0;
    const double energy = newton_trial(N, x, 1, run, PL_CONTACT_ACTS, &limit);
    const double residual = isinf(energy) ? INFINITY : pl_problem_residual(p, N->work.g_new, N->work.r);
    if (residual < report->residual) {
        memcpy(x, N->work.x_best, pl_problem_full_bytes(p));
        memcpy(N->work.g, N->work.g_new, (size_t)p->unknowns.n * sizeof *N->work.g);
        report->energy = energy;
        report->residual = residual;
        report->relative = residual / pl_problem_force_scale(p);
        return;
    }

    pl_problem_evaluate(p, x, N->work.g);
    pl_problem_residual(p, N->work.g, N->work.r);
}

// Near enough to an equilibrium of a path: Newton's step is short against the predicted motion, and the next
// increment takes it along. A step with an old factor does not tell how far the equilibrium is, and
// neither does one with a tangent that is not positive.
static bool newton_enough(const pl_newton_solver *N, const newton_run *run)
{
    return run->iteration > 0 && run->factor == FACTOR_FRESH &&
           run->report->step < run->goal->enough * run->report->predicted && run->gradient == GRADIENT_TRUE &&
           run->opening <= NEWTON_GAP && N->problem->linear.blend == 0 &&
           pl_problem_unstable(N->problem) <= 0;
}

// Past an indefinite tangent and farther from the prediction than that went: on another branch.
static bool newton_strays(const pl_newton_solver *N, const double *x, const newton_run *run)
{
    return newton_predicts(run) && run->iteration > 1 && run->report->indefinite > 0 &&
           run->factor == FACTOR_FRESH && !pl_problem_touches(N->problem) &&
           pl_newton_distance(N, x, N->work.x_predicted) >
               fmax(run->report->predicted, NEWTON_NEAR * N->problem->size);
}

// The contraction tells that the end is reached, without another solve.
static bool newton_contracted(const pl_newton_solver *N, const double *x, newton_run *run)
{
    const pl_newton_goal *goal = run->goal;
    const newton_chord *chord = &run->chord;
    pl_newton_report *report = run->report;

    if (!newton_whole(run) || chord->count == 0) {
        return false;
    }

    if (!goal->accepts) {
        const double left = newton_chord_left(chord, report->step);
        const bool done = newton_balanced(run) && left < goal->length_tolerance;
        report->step = done ? left : report->step;
        return done;
    }

    report->contraction = chord->count > 1 ? chord->norm[0] / chord->norm[1] : report->contraction;
    const double theta = chord->count > 1 ? report->contraction : goal->contraction;
    const double left = report->step * (theta < 1 ? fmin(1, theta / (1 - theta)) : INFINITY);

    return left < goal->length_tolerance && run->opening <= NEWTON_GAP && run->gradient == GRADIENT_TRUE &&
           goal->accepts(goal->user, x, left, N->work.r);
}

// Near balance, the tangent is indefinite, and with it as it is, its modes not flipped, Newton's step is
// short against the predicted motion: the path goes on as a saddle next to x. d = S b + sum 2 |theta| v (v .
// b) has them flipped.
static bool newton_beside_saddle(pl_newton_solver *N, const newton_run *run)
{
    const pl_problem *p = N->problem;
    if (run->iteration == 0 || run->factor != FACTOR_FRESH || run->goal->saddle <= 0 ||
        p->linear.mode_count == 0 || run->report->relative > run->goal->saddle ||
        run->gradient != GRADIENT_TRUE || pl_problem_touches(p)) {
        return false;
    }

    double *step = N->work.y;
    const int32_t n = p->unknowns.n;
    memcpy(step, N->work.d, (size_t)n * sizeof *step);
    for (int k = 0; k < p->linear.mode_count; ++k) {
        const double *v = p->linear.mode + (int64_t)k * n;
        const double gain = 2 * fabs(p->linear.mode_theta[k]) * pl_newton_dot(v, N->work.r, n);
        for (int32_t i = 0; i < n; ++i) {
            step[i] += gain * v[i];
        }
    }

    return pl_problem_largest(p, step, false) < run->report->predicted;
}

// DONE, SADDLE, BRANCH, or NO_DESCENT: not yet.
static pl_newton_end newton_ended(pl_newton_solver *N, double *x, newton_run *run)
{
    if (newton_balanced(run) && run->report->step < run->goal->length_tolerance) {
        newton_polish(N, x, run);
        return NEWTON_DONE;
    }
    const bool strays = newton_strays(N, x, run) || (run->goal->bounded && pl_problem_strays(N->problem, x));
    return newton_enough(N, run)          ? NEWTON_DONE
           : newton_beside_saddle(N, run) ? NEWTON_SADDLE
           : strays                       ? NEWTON_BRANCH
                                          : NEWTON_NO_DESCENT;
}

// ---- contacts
// Obstacles that press have moved: the body follows them first as the factor at hand says, because points
// that end up deep inside tell little about where to go. Leaves the gradient of that step in work.g.
static bool newton_follows(pl_newton_solver *N, const double *x)
{
    pl_problem *p = N->problem;
    p->contact_moved = false;
    pl_problem_evaluate_as(p, PL_CONTACT_LINEAR, x, N->work.g_new);
    if (p->contact_moved) {
        memcpy(N->work.g, N->work.g_new, (size_t)p->unknowns.n * sizeof *N->work.g);
    }

    return p->contact_moved;
}

// A full step would meet contacts that its factor does not have, and they cost more energy than it gains: the
// next one has them from the start, as if they were closed already.
static bool newton_meet(pl_newton_solver *N, double *x, newton_run *run, pl_error *err)
{
    run->hits++;
    if (!newton_factor(N, x, run, (pl_linearization){.contacts = PL_CONTACT_HIT}, err)) {
        return false;
    }
    pl_problem_evaluate_as(N->problem, PL_CONTACT_HIT, x, N->work.g);
    run->gradient = GRADIENT_CONTACTS;
    return true;
}

// ---- steps
// Takes the step found: x, gradient, the factor co-rotated or corrected by a pair of L-BFGS.
static void newton_take(pl_newton_solver *N, double *x, double energy, newton_run *run)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;
    const bool predicted = newton_predicts(run) && run->iteration == 0;
    const size_t bytes = (size_t)p->unknowns.n * sizeof(double);

    run->factor = predicted || run->factor == FACTOR_FRESH ? FACTOR_STEPPED : FACTOR_OLD;
    if (run->factor == FACTOR_STEPPED) {
        newton_note_prediction(N, x, run->scale);
    }
    memcpy(x, N->work.x_best, pl_problem_full_bytes(p));
    memcpy(N->work.y, N->work.r, bytes);
    memcpy(N->work.g, N->work.g_new, bytes);
    report->energy = energy;
    pl_problem_residual(p, N->work.g, N->work.r);
    run->raised = run->raised != 0 && energy < run->reference ? 0 : run->raised;
    run->gradient = GRADIENT_TRUE;
    run->hits = 0;
    if (!predicted && run->turn <= NEWTON_STRAIGHT) {
        pl_newton_add_pair(N, N->work.d, run->scale, N->work.r, N->work.y);
    } else {
        pl_newton_turn(N, x);
    }
}

// No step along this direction: what was assumed is taken back, one thing at a time. False: nothing is left.
static bool newton_recover(pl_newton_solver *N, double *x, newton_run *run, pl_error *err)
{
    pl_problem *p = N->problem;
    const bool fresh = run->factor == FACTOR_FRESH;

    if (run->gradient != GRADIENT_TRUE) {
        run->gradient = GRADIENT_TRUE;
        run->hits = NEWTON_HITS;
        run->report->energy = pl_problem_evaluate(p, x, N->work.g);
        return true;
    }

    run->factor = FACTOR_OLD; // stresses of a step that led nowhere are not taken
    if (run->raised > 0) {    // back to where the energy was lowest, and from there only downwards
        pl_log(2, "    back to the energy %.8e", run->reference);
        memcpy(x, N->work.x_reference, pl_problem_full_bytes(p));
        run->raised = -1;
        return newton_factor(N, x, run, (pl_linearization){0}, err);
    }

    if (fresh && (p->linear.blend >= 1 || run->opening > NEWTON_GAP)) {
        return false;
    }

    // perhaps contacts that stand at their surface do not press yet: the next factor has them
    if (fresh && run->contacts != PL_CONTACT_TOUCHING && pl_problem_touches(p)) {
        run->contacts = PL_CONTACT_TOUCHING;
        return newton_factor(N, x, run, (pl_linearization){.contacts = PL_CONTACT_TOUCHING}, err);
    }

    return newton_factor(N, x, run, (pl_linearization){.positive_part = fresh ? 1 : 0}, err);
}

// The pairs of L-BFGS made the direction longer than the one before: without them. True: they are forgotten.
static bool newton_misled(pl_newton_solver *N, newton_run *run)
{
    const newton_chord *chord = &run->chord;
    if (run->factor != FACTOR_OLD || N->memory.count == 0 || chord->count < 2 ||
        chord->norm[0] < chord->norm[1] || pl_problem_touches(N->problem)) {
        return false;
    }

    pl_newton_forget(N);
    newton_chord_drop(&run->chord);
    return true;
}

// The factor at hand is of no use where its tangent was indefinite (it leads back to the saddle), where
// contacts have closed that it does not have, or where a new one gets there sooner.
static bool newton_obsolete(const pl_newton_solver *N, const double *x, const newton_run *run)
{
    return run->factor != FACTOR_FRESH && run->gradient == GRADIENT_TRUE &&
           (N->problem->linear.mode_count > 0 || pl_problem_obsolete(N->problem, x) || newton_slow(N, run));
}

// ---- the iteration
// A factor, its energy and gradient at x. False: there is none.
static bool newton_begin(pl_newton_solver *N, double *x, newton_run *run, pl_error *err)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;
    const pl_newton_goal *goal = run->goal;
    const bool directed = goal->start == NEWTON_DIRECTED;

    pl_newton_check_pairs(N);
    if (!p->linear.has_factor) {
        if (!newton_factor(N, x, run, (pl_linearization){0}, err)) {
            return false;
        }
    } else if (memcmp(p->linear.x, x, pl_problem_full_bytes(p)) == 0) {
        run->factor = FACTOR_FRESH;
    } else if (!directed) {
        pl_newton_turn(N, x);
    }

    report->energy = directed ? goal->energy : pl_problem_evaluate(p, x, N->work.g);
    if (!isfinite(report->energy)) {
        report->end = NEWTON_INVERTED;
        return false;
    }

    // driven clamps have carried the body along: its stresses are still those of the last equilibrium
    if (goal->start == NEWTON_CARRIED) {
        newton_note_equilibrium(N);
        run->factor = FACTOR_STEPPED;
        if (!newton_factor(N, x, run, (pl_linearization){0}, err)) {
            return false;
        }
    }

    if (newton_predicts(run) && newton_follows(N, x)) {
        // contact forces are far larger than those of the body: where their shares have changed since the
        // factor was made, the difference would move it anywhere
        if (p->contact_shared && run->factor != FACTOR_FRESH) {
            run->factor = FACTOR_OLD;
            if (!newton_factor(N, x, run, (pl_linearization){.contacts = PL_CONTACT_LINEAR}, err)) {
                return false;
            }
            newton_follows(N, x);
        }
        run->gradient = GRADIENT_FOLLOWS;
    }

    run->chord.known = run->factor == FACTOR_FRESH || newton_predicts(run);

    // contacts that the factor does not have are far stiffer than anything it has there
    return run->gradient == GRADIENT_FOLLOWS || !pl_problem_obsolete(p, x) ||
           newton_factor(N, x, run, (pl_linearization){0}, err);
}

static pl_newton_end newton_iterate(pl_newton_solver *N, double *x, newton_run *run, pl_error *err)
{
    pl_newton_report *report = run->report;
    for (run->iteration = 0; run->iteration < run->goal->limit; ++run->iteration) {
        if (!pl_newton_continue(N)) {
            return NEWTON_STOPPED;
        }
        if (!newton_residual(N, run)) {
            return NEWTON_NO_DESCENT;
        }
        if (newton_contracted(N, x, run)) {
            return NEWTON_DONE;
        }
        newton_find_direction(N, run);
        pl_log(2, "    %3d  residual %.2e  step %.2e mm  energy %.8e  gap %.1e%s", run->iteration,
               report->relative, report->step, report->energy, run->opening,
               run->factor == FACTOR_FRESH ? "  newton" : "");
        const pl_newton_end end = newton_ended(N, x, run);
        if (end != NEWTON_NO_DESCENT) {
            return end;
        }
        if (newton_misled(N, run)) {
            continue;
        }
        if (newton_obsolete(N, x, run)) {
            if (!newton_factor(N, x, run, (pl_linearization){.evaluated = true}, err)) {
                return NEWTON_NO_DESCENT;
            }
            continue;
        }

        // the step, or what else can be done
        N->iterations++;
        double energy = INFINITY;
        report->end = NEWTON_NO_DESCENT;
        const bool uphill = run->slope > 0 && run->opening <= NEWTON_GAP;
        const newton_search_end found = uphill ? SEARCH_NOWHERE : newton_search(N, x, run, &energy);
        if (found == SEARCH_FOUND) {
            newton_take(N, x, energy, run);
        } else if (!(found == SEARCH_HIT ? newton_meet(N, x, run, err) : newton_recover(N, x, run, err))) {
            return report->end;
        }
    }

    return NEWTON_LIMIT;
}

pl_newton_end pl_newton_minimise(pl_newton_solver *N, double *x, const pl_newton_goal *goal,
                                 pl_newton_report *report, pl_error *err)
{
    *report = (pl_newton_report){.end = NEWTON_NO_DESCENT};
    newton_run run = {.goal = goal, .report = report, .contacts = PL_CONTACT_ACTS};
    if (newton_begin(N, x, &run, err)) {
        report->end = newton_iterate(N, x, &run, err);
    }
    report->error = report->predicted > 0 ? pl_newton_distance(N, x, N->work.x_predicted) : 0;
    return report->end;
}
