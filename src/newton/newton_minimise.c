// Equilibrium at fixed loads: Newton's method with co-rotated steps, on the manifold of the constraints
// (docs/explanation/solver.md).
//
//   residual    r = dE/dx + A^T mu, multipliers mu, which cables hold
//   direction   K d + A^T dmu = -r,  A d = gap, with the factor at hand
//   end         |r| and |d| below their tolerances, targets met; or near enough for a path to go on
//   step        bounded in rotation and strain, full where the energy falls             (newton_step.c)
//   factor      a new one after long steps far from balance; otherwise the one at hand, co-rotated, with
//               pairs of L-BFGS, until a new one would be there sooner                    (newton_factor.c)
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
        if (++run->set_changes > NEWTON_SET_CHANGES) {
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

// d, its length, its slope and its norm: K d + A^T mu = -r, A d = gap, so d . K d = -r . d - mu . gap.
static void newton_find_direction(pl_newton_solver *N, newton_run *run)
{
    pl_problem *p = N->problem;
    newton_work *w = &N->work;
    memcpy(w->pressure_before, p->elements->pressure, (size_t)p->elements->pressure_count * sizeof(double));
    for (int i = 0; i < p->row_count; ++i) {
        w->multiplier_before[i] = p->row[i].multiplier;
    }
    if (!(run->ready && run->iteration == 0 && run->set_changes == 0)) {
        pl_newton_direction(N, w->r, run->gap, w->d);
    }
    run->report->step = pl_problem_largest(p, w->d, false);
    run->slope = pl_newton_dot(w->r, w->d, p->unknowns.n);
    double square = -run->slope;
    for (int k = 0; k < p->linear.border_count; ++k) {
        square -= w->mu[k] * run->gap[k];
    }
    run->norm = sqrt(fmax(square, 0));
    run->norm_first = run->iteration == 0 ? run->norm : run->norm_first;
}

// ---- the end
static bool newton_balanced(const newton_run *run)
{
    return run->report->relative < run->goal->force_tolerance && run->opening < NEWTON_GAP_DONE &&
           run->gradient == GRADIENT_TRUE;
}

// The last direction is at hand: takes it as well where it leads closer to balance.
static void newton_polish(pl_newton_solver *N, double *x, newton_run *run)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;
    double limit;
    run->corotated = false;
    const double energy = newton_trial(N, x, 1, run, &limit);
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
    return run->iteration > 0 && run->fresh &&
           run->report->step < run->goal->enough * run->report->predicted &&
           run->norm < 0.5 * run->norm_first && run->gradient == GRADIENT_TRUE &&
           run->opening < NEWTON_GAP_DONE && N->problem->linear.blend == 0 &&
           pl_problem_unstable(N->problem) <= 0;
}

// Past an indefinite tangent and farther from the prediction than that went: on another branch.
static bool newton_strays(const pl_newton_solver *N, const double *x, const newton_run *run)
{
    return run->goal->predict && run->iteration > 1 && run->report->indefinite && run->fresh &&
           !pl_problem_touches(N->problem) &&
           pl_newton_distance(N, x, N->work.x_predicted) >
               fmax(run->report->predicted, NEWTON_BRANCH_SIZE * N->problem->size);
}

// DONE, or BRANCH, or NO_DESCENT: not yet.
static pl_newton_end newton_ended(pl_newton_solver *N, double *x, newton_run *run)
{
    pl_newton_report *report = run->report;
    const bool follows = run->follows && run->iteration == 0;
    if (!follows && newton_balanced(run) && report->step < run->goal->length_tolerance) {
        if (run->goal->last) {
            newton_polish(N, x, run);
        }
        return NEWTON_DONE;
    }
    return newton_enough(N, run) ? NEWTON_DONE : newton_strays(N, x, run) ? NEWTON_BRANCH : NEWTON_NO_DESCENT;
}

// ---- contacts
// Obstacles that press have moved: the body follows them first as the factor at hand says, because points
// that end up deep inside tell little about where to go. Leaves the gradient of that step in work.g.
static bool newton_follows(pl_newton_solver *N, const double *x)
{
    pl_problem *p = N->problem;
    p->contact_moved = false;
    p->contact_mode = PL_CONTACT_LINEAR;
    pl_problem_evaluate(p, x, N->work.g_new);
    p->contact_mode = PL_CONTACT_ACTS;
    if (p->contact_moved) {
        memcpy(N->work.g, N->work.g_new, (size_t)p->unknowns.n * sizeof *N->work.g);
    }
    return p->contact_moved;
}

// A full step would meet contacts that its factor does not have, and they cost more energy than it gains: the
// next one has them from the start, as if they were closed already.
static bool newton_meet(pl_newton_solver *N, double *x, newton_run *run, pl_error *err)
{
    pl_problem *p = N->problem;
    run->hit = false;
    run->hits++;
    p->tangent.hit = true;
    newton_note_prediction(N, x, 1, false);
    const bool made = newton_factor(N, x, run, false, err);
    p->tangent.hit = false;
    if (made) {
        p->contact_mode = PL_CONTACT_HIT;
        pl_problem_evaluate(p, x, N->work.g);
        p->contact_mode = PL_CONTACT_ACTS;
        run->gradient = GRADIENT_CONTACTS;
    }
    return made;
}

// Perhaps contacts that stand at their surface do not press yet: the next factor has them.
static bool newton_touch(pl_newton_solver *N, double *x, newton_run *run, pl_error *err)
{
    run->touching = N->problem->tangent.touching = true;
    newton_note_prediction(N, x, 1, false);
    const bool made = newton_factor(N, x, run, false, err);
    N->problem->tangent.touching = false;
    return made;
}

// ---- steps
// Is a new factor made at the end of the step taken? After long steps far from balance; with contacts only
// while that converges: a factor of the wrong contacts is no better than an old one.
static bool newton_renews(const pl_newton_solver *N, newton_run *run, bool fresh, bool predicted)
{
    const pl_problem *p = N->problem;
    const pl_newton_report *report = run->report;
    if (predicted) {
        return report->relative > NEWTON_PREDICTED;
    }
    const bool converges = !pl_problem_touches(p) || report->relative < NEWTON_GAIN * run->relative_factor ||
                           report->step < NEWTON_SHRINK * run->newton_step;
    return fresh && report->relative > NEWTON_REUSE && converges && report->step > NEWTON_LONG * p->size;
}

// Takes the step found: x, gradient, a new factor or a pair of L-BFGS. False: the new factor failed.
static bool newton_take(pl_newton_solver *N, double *x, double energy, newton_run *run, pl_error *err)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;
    const bool predicted = run->goal->predict && run->iteration == 0, fresh = run->fresh && !predicted;
    const size_t bytes = (size_t)p->unknowns.n * sizeof(double);
    if (predicted || run->fresh) {
        newton_note_prediction(N, x, run->scale, true);
    }
    memcpy(x, N->work.x_best, pl_problem_full_bytes(p));
    memcpy(N->work.y, N->work.r, bytes);
    memcpy(N->work.g, N->work.g_new, bytes);
    report->energy = energy;
    report->relative = pl_problem_residual(p, N->work.g, N->work.r) / pl_problem_force_scale(p);
    run->whole = !run->corotated && run->scale > 0.5;
    run->raised = energy < run->reference ? 0 : run->raised;
    run->positive_part = 0;
    run->gradient = GRADIENT_TRUE;
    run->hits = 0;

    const bool renews = newton_renews(N, run, fresh, predicted);
    run->newton_step = fresh ? report->step : report->predicted;
    if (renews) {
        run->evaluated = true;
        const bool made = newton_factor(N, x, run, true, err);
        run->evaluated = false;
        return made;
    }
    run->fresh = false;
    if (!predicted && !run->corotated) {
        pl_newton_add_pair(N, N->work.d, run->scale, N->work.r, N->work.y);
        return true;
    }
    run->pace = (newton_pace){0};
    pl_newton_turn(N, x);
    return true;
}

// No step along this direction: what was assumed is taken back, one thing at a time. False: nothing is left.
static bool newton_recover(pl_newton_solver *N, double *x, newton_run *run, pl_error *err)
{
    pl_problem *p = N->problem;
    if (run->hit) {
        return newton_meet(N, x, run, err);
    }
    if (run->gradient != GRADIENT_TRUE) {
        run->gradient = GRADIENT_TRUE;
        run->hits = NEWTON_HITS;
        run->report->energy = pl_problem_evaluate(p, x, N->work.g);
        return true;
    }
    if (run->raised > 0) { // back to where the energy was lowest, and from there only downwards
        pl_log(2, "    back to the energy %.8e", run->reference);
        memcpy(x, N->work.x_reference, pl_problem_full_bytes(p));
        run->raised = 0;
        run->monotone = true;
        return newton_factor(N, x, run, false, err);
    }
    if (run->fresh && !run->touching && pl_problem_touches(p)) {
        return newton_touch(N, x, run, err);
    }
    if (run->fresh && (p->linear.blend >= 1 || run->opening > NEWTON_GAP_MOVES)) {
        return false;
    }
    run->positive_part = run->fresh ? 1 : 0;
    return newton_factor(N, x, run, false, err);
}

// An old factor is of no use far from balance (where a saddle is left, pairs of L-BFGS follow the valley of
// the energy with fewer factors), where its tangent was indefinite (it leads back to the saddle), or where
// contacts have closed that it does not have.
static bool newton_obsolete(const pl_newton_solver *N, const double *x, const newton_run *run)
{
    const pl_problem *p = N->problem;
    const bool follows = run->follows && run->iteration == 0,
               first = run->iteration == 0 && (run->goal->predict || run->goal->small),
               far = !first && !run->goal->leave && run->report->relative > NEWTON_REUSE &&
                     run->report->step > NEWTON_LONG * p->size && !pl_problem_touches(p);
    return far || p->linear.mode_count > 0 ||
           (!follows && run->gradient == GRADIENT_TRUE && pl_problem_obsolete(p, x));
}

// ---- the iteration
// A factor, its energy and gradient at x. False: there is none.
static bool newton_begin(pl_newton_solver *N, double *x, newton_run *run, pl_error *err)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;
    const pl_newton_goal *goal = run->goal;
    pl_newton_check_pairs(N);
    run->fresh = p->linear.has_factor && memcmp(p->linear.x, x, pl_problem_full_bytes(p)) == 0;
    if (!p->linear.has_factor) {
        if (!newton_factor(N, x, run, false, err)) {
            return false;
        }
    } else if (!run->fresh && !goal->ready) {
        pl_newton_turn(N, x);
    }
    report->energy = goal->ready ? goal->energy : pl_problem_evaluate(p, x, N->work.g);
    if (!isfinite(report->energy)) {
        report->end = NEWTON_INVERTED;
        return false;
    }

    // driven clamps have carried the body along: its stresses are still those of the last equilibrium
    if (goal->predict && goal->carried) {
        memcpy(N->work.pressure_before, N->work.pressure_start,
               (size_t)p->elements->pressure_count * sizeof(double));
        newton_note_prediction(N, N->work.x_start, 0, false);
        if (!newton_factor(N, x, run, true, err)) {
            return false;
        }
    }
    // contacts that the factor does not have are far stiffer than anything it has there
    run->follows = goal->predict && newton_follows(N, x);
    if (run->follows && p->contact_shared && !run->fresh) {
        // their forces are far larger than those of the body: where their shares have changed since the
        // factor was made, the difference would move it anywhere
        p->contact_mode = PL_CONTACT_LINEAR;
        const bool made = newton_factor(N, x, run, false, err);
        p->contact_mode = PL_CONTACT_ACTS;
        if (!made) {
            return false;
        }
        report->energy = pl_problem_evaluate(p, x, N->work.g);
        newton_follows(N, x);
    }
    return run->follows || !pl_problem_obsolete(p, x) || newton_factor(N, x, run, false, err);
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
        // the rate of the last steps may tell that the end is reached without another solve
        const double left = run->whole ? newton_pace_left(&run->pace) : INFINITY;
        if (run->goal->last && newton_balanced(run) && left < run->goal->length_tolerance) {
            report->step = left;
            return NEWTON_DONE;
        }
        newton_find_direction(N, run);
        pl_log(2, "    %3d  residual %.2e  step %.2e mm  energy %.8e  gap %.1e%s", run->iteration,
               report->relative, report->step, report->energy, run->opening, run->fresh ? "  newton" : "");
        const pl_newton_end end = newton_ended(N, x, run);
        if (end != NEWTON_NO_DESCENT) {
            return end;
        }

        // an old factor of no use: of an indefinite tangent, or without contacts that have closed since
        run->whole = false;
        if (!run->fresh && newton_obsolete(N, x, run) && report->factors < newton_factor_limit(run)) {
            if (!newton_factor(N, x, run, false, err)) {
                return NEWTON_NO_DESCENT;
            }
            continue;
        }

        // the step, or what else can be done
        N->iterations++;
        newton_pace_note(&run->pace, -run->slope, report->step);
        double energy = INFINITY;
        const bool uphill = run->slope > 0 && run->opening < NEWTON_GAP_MOVES;
        report->end = NEWTON_NO_DESCENT;
        if (!uphill && !newton_pace_slow(N, run) && newton_search(N, x, run, &energy)) {
            if (!newton_take(N, x, energy, run, err)) {
                return NEWTON_NO_DESCENT;
            }
        } else if (!newton_recover(N, x, run, err)) {
            return report->end;
        }
    }
    return NEWTON_LIMIT;
}

pl_newton_end pl_newton_minimise(pl_newton_solver *N, double *x, const pl_newton_goal *goal,
                                 pl_newton_report *report, pl_error *err)
{
    *report = (pl_newton_report){.end = NEWTON_NO_DESCENT};
    newton_run run = {.goal = goal, .report = report, .ready = goal->ready};
    if (newton_begin(N, x, &run, err)) {
        report->end = newton_iterate(N, x, &run, err);
    }
    report->error = report->predicted > 0 ? pl_newton_distance(N, x, N->work.x_predicted) : 0;
    return report->end;
}
