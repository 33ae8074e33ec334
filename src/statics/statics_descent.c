// Equilibrium at one load: Newton's method with co-rotated steps, on the manifold of the constraints
// (docs/solver.md).
//
//   look        residual r, multipliers mu, which cables hold
//   factor      tangent at x with the stresses, pressures and multipliers that the last step predicted; modes
//   of
//               negative curvature are flipped. Near the end the factor at hand, co-rotated, with L-BFGS
//   direction   K d + A^T dmu = -r,  A d = gap
//   step        bounded in rotation and strain; full where the energy falls, or for a few steps in a row all
//   the
//               same (stiff parts), shorter otherwise
//   end         |r| and |d| below their tolerances, targets met; within a path as soon as the next increment
//   can begin
#include <float.h>
#include "statics/statics_impl.h"

// The largest relative violation of an active constraint; the gaps of all borders.
static double descent_gap(const pl_problem *p, double *gap)
{
    double largest = 0;
    pl_problem_gaps(p, gap);
    for (int k = 0; k < p->linear.border_count; ++k) {
        const pl_row *row = &p->row[p->linear.border[k]];
        if (row->wanted && row->constraint && row->active) {
            largest = fmax(largest, fabs(gap[k]) / row->unit);
        }
    }
    return largest;
}

double statics_apart(const pl_statics *s, const double *a, const double *b)
{
    double most = 0;
    for (int64_t v = 0; v < s->problem->mesh.vertex_count; ++v) {
        double d[3];
        pl_sub3(a + 3 * v, b + 3 * v, d);
        most = fmax(most, pl_dot3(d, d));
    }
    return sqrt(most);
}

// One trial: x_trial from x along d, back onto the constraints, energy and gradient there. INFINITY when it
// cannot be; `limit` is the part of the way that may be gone.
static double descent_trial(pl_statics *s, const double *x, const double *d, double scale, bool warp,
                            descent *D, double *limit)
{
    if (warp) {
        for (int32_t i = 0; i < s->problem->unknowns.n; ++i) {
            s->work.y[i] = scale * d[i];
        }
        statics_warp(s, x, s->work.y, s->work.x_best);
    } else {
        pl_problem_move(s->problem, x, d, scale, s->work.x_best);
    }
    if (D->predict && D->predicted == 0) {
        memcpy(s->work.x_predicted, s->work.x_best, pl_problem_full_bytes(s->problem));
        D->predicted = statics_apart(s, s->work.x_best, s->work.x_start);
    }
    D->inverted = false;
    *limit = pl_problem_step_limit(s->problem, x, s->work.x_best);
    if (*limit < 1) {
        return INFINITY;
    }
    D->infeasible = !pl_problem_restore(s->problem, s->work.x_best, TUNE_GAP_RESTORED);
    if (D->infeasible) {
        return INFINITY;
    }
    const double energy = pl_problem_evaluate(s->problem, s->work.x_best, s->work.g_new);
    D->inverted = !isfinite(energy);
    return D->inverted ? INFINITY : energy;
}

typedef struct descent_pace {
    double decrement[4]; // the last ones, newest first
    double length[3];    // mm: of the steps, newest first
    int since_factor;
} descent_pace;

// Would a new factor get there sooner? Extrapolates the decrease of the last three steps.
static bool pace_too_slow(const pl_statics *s, const descent_pace *pace, const descent *D)
{
    if (pace->since_factor < (D->predict ? TUNE_PACE_FROM : TUNE_PACE_FROM_WARM) || pace->decrement[3] <= 0) {
        return false;
    }
    const double rate = cbrt(pace->decrement[0] / pace->decrement[3]);
    if (rate >= TUNE_PACE_STALLED) {
        return true;
    }
    const double wanted = pow(fmin(1, D->length_tolerance / D->step), 2);
    const double remaining = log(wanted) / log(rate);
    return remaining > TUNE_PACE_BIAS * statics_factor_cost(s) + TUNE_PACE_EXTRA;
}

// What rounding leaves of an energy: near rest that of the strains, which are small differences of numbers
// near 1.
static double descent_noise(const pl_statics *s, double energy)
{
    return TUNE_ENERGY_NOISE * fabs(energy) +
           4 * DBL_EPSILON * s->problem->modulus * s->problem->elements->volume;
}

static bool descent_accepts(double before, double after, double slope, double slope_after, double scale,
                            double noise)
{
    if (isinf(after)) {
        return false;
    }
    if (fabs(after - before) <= noise || -slope * scale <= noise) {
        // below the noise of the energy: the slope must have shrunk (approximate Wolfe)
        return fabs(slope_after) <= TUNE_WOLFE * fabs(slope) || -slope * scale <= TUNE_SLOPE_NOISE * noise;
    }
    return after <= before + TUNE_ARMIJO * scale * slope;
}

static void pace_note(descent_pace *pace, double decrement, double length)
{
    memmove(pace->decrement + 1, pace->decrement, 3 * sizeof *pace->decrement);
    memmove(pace->length + 1, pace->length, 2 * sizeof *pace->length);
    pace->decrement[0] = decrement;
    pace->length[0] = length;
    pace->since_factor++;
}

// How far the equilibrium still is after the last step (mm), from how steps have shrunk with this factor:
// theta / (1 - theta) of it. The mean of the last two ratios where the last one is better than it.
static double pace_left(const descent_pace *pace)
{
    if (!(pace->length[2] > 0)) {
        return INFINITY;
    }
    const double last = pace->length[0] / pace->length[1], before = pace->length[1] / pace->length[2],
                 theta = sqrt(last * fmax(last, before));
    return theta < TUNE_SHRINKS ? pace->length[0] * theta / (1 - theta) : INFINITY;
}

// Gradient, multipliers, active set and residual at x. Returns false when the set keeps changing.
static bool descent_look(pl_statics *s, descent *D, int *changes)
{
    for (;;) {
        D->residual = pl_problem_residual(s->problem, s->work.g, s->work.r);
        if (!pl_problem_activate(s->problem,
                                 D->residual < TUNE_LET_GO * pl_problem_force_scale(s->problem))) {
            break;
        }
        statics_forget(s);
        if (++*changes > TUNE_ACTIVE_CHANGES) {
            return false;
        }
    }
    D->relative = D->residual / pl_problem_force_scale(s->problem);
    return true;
}

// The step d (scaled) from x as the linear solve saw it: motion and change of pressures. Of a step that was
// not taken only the pressures are of use: its direction was a bad one.
static void descent_look_ahead(pl_statics *s, const double *x, double scale, bool taken)
{
    memcpy(s->work.x_before, x, pl_problem_full_bytes(s->problem));
    if (taken) {
        pl_problem_expand(s->problem, x, s->work.d, s->work.dx);
    }
    for (int64_t i = 0; i < 3 * (int64_t)s->problem->mesh.vertex_count; ++i) {
        s->work.dx[i] = taken ? scale * s->work.dx[i] : 0;
    }
    for (int32_t p = 0; p < s->problem->elements->pressure_count; ++p) {
        s->work.pressure_step[p] = scale * s->problem->linear.pressure_step[p];
    }
    for (int i = 0; i < s->problem->row_count; ++i) {
        s->work.multiplier[i] = s->work.multiplier_before[i];
    }
    for (int k = 0; taken && k < s->problem->linear.border_count; ++k) {
        s->work.multiplier[s->problem->linear.border[k]] += scale * s->work.mu[k];
    }
}

typedef struct descent_run {
    descent_pace pace;
    bool at_factor; // the factor was made at x
    double gap[PL_ROWS_MAX], opening;
    double slope;
    double norm, norm_first; // sqrt(mJ): of the direction in the norm of the tangent, and of the first one
    double blend;            // of the next factor
    int changes;
    int risky;        // full steps taken in a row although the energy rose above that of x_reference
    bool careful;     // such steps led nowhere: the energy decides
    double reference; // energy at x_reference
    double scale;     // of the step taken
    double relative;  // residual where the last factor was made
    double newton;    // mm: the last step with a new factor, or the prediction
    int factors;      // made so far
    bool warped;
    bool taken;      // the last evaluation was at x, at the end of a step
    bool whole;      // the last step was straight and hardly shortened: its length tells the error before it
    bool stiff;      // full steps of stiff parts are under way
    bool linear;     // the gradient has their law linearised at predicted strains
    int stiff_steps; // taken so far
    double stiff_last; // mm: the last one
    bool hit;          // the last full step met contacts that its factor did not have
    bool modelled;     // the gradient is that of the contacts in the factor, pressing or not
    int hits;          // factors made with such contacts
} descent_run;

static bool descent_refactor(pl_statics *s, double *x, descent *D, descent_run *run, bool look_ahead,
                             pl_error *err)
{
    if (run->factors >= TUNE_FACTORS) {
        run->at_factor = false;
        statics_turn(s, x);
        return D->relative < TUNE_REUSE; // it converges: without further ones
    }
    ++run->factors;
    D->factors = run->factors;
    look_ahead = look_ahead && (run->stiff || D->predicted == 0 || D->step <= TUNE_AHEAD * D->predicted);
    const pl_ahead ahead = {s->work.x_before, s->work.dx, s->work.pressure_before, s->work.pressure_step};
    for (int i = 0; look_ahead && i < s->problem->row_count; ++i) {
        if (s->problem->row[i].constraint) {
            s->problem->row[i].multiplier = s->work.multiplier[i];
        }
    }
    // after a step, x and the residual there are known; contacts may be laid out anew
    const bool evaluated = run->taken && !pl_problem_touches(s->problem);
    s->problem->tangent.evaluated = evaluated;
    const pl_status status =
        pl_problem_refactor(s->problem, x, run->blend,
                            !pl_problem_touches(s->problem) || D->saddle ? PL_MODES_FLIPPED
                            : look_ahead                                 ? PL_AS_IT_IS
                                                                         : PL_POSITIVE_PART,
                            look_ahead ? &ahead : NULL, err);
    s->problem->tangent.evaluated = false;
    if (status != PL_OK) {
        return false;
    }
    D->indefinite = D->indefinite || s->problem->linear.blend > 0 || pl_problem_unstable(s->problem) > 0;
    statics_forget(s);
    run->pace = (descent_pace){0};
    run->at_factor = true;
    run->relative = D->relative;
    // stiff parts: the gradient too with their law linearised at the strains predicted
    run->linear = look_ahead && run->stiff;
    if (evaluated && !run->linear) {
        return true;
    }
    s->problem->tangent.ahead = run->linear ? &ahead : NULL;
    D->energy = pl_problem_evaluate(s->problem, x, s->work.g);
    s->problem->tangent.ahead = NULL;
    return true;
}

// After an accepted straight step: the secant of the slopes says how much farther or shorter the least energy
// along the direction is. With it the pairs of L-BFGS are those of conjugate gradients, and an evaluation
// costs a fifth of the solve it saves.
static void descent_secant(pl_statics *s, const double *x, descent *D, descent_run *run, double after,
                           double noise, double *energy)
{
    const double factor = run->slope / (run->slope - after);
    if (!(fabs(factor - 1) > TUNE_SECANT && factor > TUNE_SECANT_LEAST && factor < TUNE_SECANT_MOST)) {
        return;
    }
    double limit;
    const double there = descent_trial(s, x, s->work.d, run->scale * factor, false, D, &limit);
    if (there <= *energy + noise) {
        *energy = there;
        run->scale *= factor;
        return;
    }
    *energy = descent_trial(s, x, s->work.d, run->scale, false, D, &limit);
}

// Along a direction of negative curvature the energy falls farther than the step goes: doubled while it does.
static void descent_extend(pl_statics *s, const double *x, descent *D, descent_run *run, double *energy)
{
    double limit;
    for (int k = 0; k < TUNE_TRIALS; ++k) {
        const double there = descent_trial(s, x, s->work.d, 2 * run->scale, run->warped, D, &limit);
        if (!(there < *energy)) {
            break;
        }
        run->scale *= 2;
        *energy = there;
    }
    *energy = descent_trial(s, x, s->work.d, run->scale, run->warped, D, &limit);
}

// A full step that raises the energy may be taken all the same, for a few in a row (see `risky`).
static bool descent_may_risk(const pl_statics *s, const descent_run *run)
{
    return run->at_factor && !run->careful && run->risky < TUNE_RISKY && s->problem->linear.blend == 0 &&
           !pl_problem_touches(s->problem);
}

// Tries the direction s->work.d: co-rotated where it rotates, shorter until the energy falls. A new target
// may cost energy: then only inversion counts, and a long step is the caller's business.
static bool descent_search(pl_statics *s, const double *x, descent *D, descent_run *run, bool turns,
                           double *energy)
{
    double strain = 0;
    const bool moves = run->opening > TUNE_GAP_MOVES;
    const double noise = descent_noise(s, D->energy);
    const bool co_rotates = (run->at_factor || turns) && s->options.warp && statics_can_warp(s);
    const double turn = co_rotates ? statics_step_rotation(s, x, s->work.d, &strain) : 0;
    double limit = 1;
    run->warped = turn > TUNE_WARP_TURN;
    run->scale = fmin(1, fmin(TUNE_STEP_TURN / turn, TUNE_STEP_STRAIN / strain));
    for (int attempt = 0; attempt < (moves ? TUNE_TRIALS_MOVING : TUNE_TRIALS); ++attempt) {
        s->problem->contact_note = attempt == 0 && run->at_factor;
        s->problem->contact_hits = 0;
        *energy = descent_trial(s, x, s->work.d, run->scale, run->warped, D, &limit);
        s->problem->contact_note = false;
        if (!isinf(*energy)) {
            // on the constraints the slope is that of the residual: g also has the part along their rows
            pl_problem_residual(s->problem, s->work.g_new, s->work.y);
            const double after = statics_dot(s->work.y, s->work.d, s->problem->unknowns.n);
            if (moves) {
                return true;
            }
            if (descent_accepts(D->energy, *energy, run->slope, after, run->scale, noise)) {
                if (s->problem->linear.mode_count > 0 && run->at_factor) {
                    descent_extend(s, x, D, run, energy);
                } else if (!run->warped) {
                    descent_secant(s, x, D, run, after, noise, energy);
                }
                return true;
            }
            if (s->problem->contact_hits > 0 && run->hits < TUNE_HITS && s->problem->contact_hard > 1) {
                run->hit = true;
                return false;
            }
            if (attempt == 0 && descent_may_risk(s, run)) {
                if (run->risky++ == 0) {
                    memcpy(s->work.x_reference, x, pl_problem_full_bytes(s->problem));
                    run->reference = D->energy;
                }
                return true;
            }
        }
        run->scale *= limit < 1 ? fmax(TUNE_LIMIT_LEAST, TUNE_LIMIT_KEPT * limit) : 0.5;
    }
    return false;
}

// With stiff layers or fibres: the full step with the factor made here, though the energy may rise by the
// strain of their turning (Newton's method with the stresses as unknowns of their own).
static bool descent_stiff(pl_statics *s, const double *x, descent *D, descent_run *run, double *energy)
{
    double strain, limit = 1;
    if (!run->stiff || !run->at_factor || run->stiff_steps >= TUNE_STIFF_STEPS ||
        (run->stiff_steps >= TUNE_STIFF_FREE && D->step > TUNE_STIFF_GROWTH * run->stiff_last)) {
        run->stiff = false;
        return false;
    }
    run->scale = 1;
    run->warped = s->options.warp && statics_can_warp(s) &&
                  statics_step_rotation(s, x, s->work.d, &strain) > TUNE_WARP_TURN;
    *energy = descent_trial(s, x, s->work.d, 1, run->warped, D, &limit);
    run->stiff = isfinite(*energy);
    run->stiff_steps++;
    run->stiff_last = D->step;
    return run->stiff;
}

// Beside a saddle an old factor leads back to it: Newton's steps until the minimum is near.
static bool descent_far(const descent *D)
{
    return D->saddle && D->relative > (D->indefinite ? TUNE_SADDLE_LEFT : TUNE_STIFF_DONE);
}

// Takes the step found: x, gradient, curvature pair or a turned factor. False: the new factor failed.
static bool descent_take(pl_statics *s, double *x, double energy, descent *D, descent_run *run, bool predict,
                         pl_error *err)
{
    if (predict || run->at_factor) {
        descent_look_ahead(s, x, run->scale, true);
    }
    memcpy(x, s->work.x_best, pl_problem_full_bytes(s->problem));
    memcpy(s->work.y, s->work.r, (size_t)s->problem->unknowns.n * sizeof *s->work.r);
    memcpy(s->work.g, s->work.g_new, (size_t)s->problem->unknowns.n * sizeof *s->work.g);
    D->energy = energy;
    run->blend = 0;
    run->risky = energy < run->reference ? 0 : run->risky;
    D->relative = pl_problem_residual(s->problem, s->work.g, s->work.r) / pl_problem_force_scale(s->problem);
    const bool fresh = run->at_factor && !predict;
    if (run->stiff) {
        run->stiff = D->relative > TUNE_STIFF_DONE;
        if (run->stiff) {
            return descent_refactor(s, x, D, run, true, err);
        }
    }
    // with contacts only while that converges: a factor of the wrong contacts is no better than an old one
    const bool converges = !pl_problem_touches(s->problem) ||
                           D->relative < TUNE_NEWTON_GAIN * run->relative ||
                           D->step < TUNE_NEWTON_SHRINK * run->newton;
    run->newton = fresh ? D->step : D->predicted;
    if (fresh && (descent_far(D) ||
                  (D->relative > TUNE_REUSE && converges && D->step > TUNE_NEWTON_STEP * s->problem->size))) {
        return descent_refactor(s, x, D, run, true, err);
    }
    if (!predict && !run->warped) {
        statics_memory_add(s, s->work.d, run->scale, s->work.r, s->work.y);
        run->at_factor = false;
        return true;
    }
    if (predict && D->relative > TUNE_PREDICTED) {
        return descent_refactor(s, x, D, run, true, err);
    }
    run->pace = (descent_pace){0};
    run->at_factor = false;
    statics_turn(s, x);
    return true;
}

// The last direction is at hand: takes it as well where it leads closer to balance.
static void descent_polish(pl_statics *s, double *x, descent *D)
{
    double limit;
    const double energy = descent_trial(s, x, s->work.d, 1, false, D, &limit);
    const double residual =
        isinf(energy) ? INFINITY : pl_problem_residual(s->problem, s->work.g_new, s->work.r);
    if (residual < D->residual) {
        memcpy(x, s->work.x_best, pl_problem_full_bytes(s->problem));
        memcpy(s->work.g, s->work.g_new, (size_t)s->problem->unknowns.n * sizeof *s->work.g);
        D->energy = energy;
        D->residual = residual;
        D->relative = residual / pl_problem_force_scale(s->problem);
        return;
    }
    D->inverted = D->infeasible = false;
    pl_problem_evaluate(s->problem, x, s->work.g);
    pl_problem_residual(s->problem, s->work.g, s->work.r);
}

static void descent_stray(const pl_statics *s, const double *x, descent *D)
{
    D->stray = D->predicted > 0 ? statics_apart(s, x, s->work.x_predicted) : 0;
}

// Obstacles that press have moved: the body follows them first as the factor at hand says, because points
// that end up deep inside tell little about where to go. Leaves the gradient of that step in s->work.g.
static bool descent_follows(pl_statics *s, const double *x)
{
    s->problem->contact_moved = false;
    s->problem->contact_mode = PL_CONTACT_LINEAR;
    pl_problem_evaluate(s->problem, x, s->work.g_new);
    s->problem->contact_mode = PL_CONTACT_ACTS;
    if (s->problem->contact_moved) {
        memcpy(s->work.g, s->work.g_new, (size_t)s->problem->unknowns.n * sizeof *s->work.g);
    }
    return s->problem->contact_moved;
}

// A full step would meet contacts that its factor does not have, and they cost more energy than it gains: the
// next one knows them from the start, as if they were closed already.
static bool descent_meet(pl_statics *s, double *x, descent *D, descent_run *run, pl_error *err)
{
    run->hit = false;
    run->hits++;
    s->problem->tangent.hit = true;
    descent_look_ahead(s, x, 1, false);
    const bool made = descent_refactor(s, x, D, run, false, err);
    s->problem->tangent.hit = false;
    if (made) {
        s->problem->contact_mode = PL_CONTACT_HIT;
        pl_problem_evaluate(s->problem, x, s->work.g);
        s->problem->contact_mode = PL_CONTACT_ACTS;
        run->modelled = true;
    }
    return made;
}

// Near enough to an equilibrium on the way: Newton's step is short against the motion that was predicted, and
// the next increment takes it along. A step with an old factor does not tell how far the equilibrium is, and
// where the tangent is not positive nobody knows where it leads.
static bool descent_enough(const pl_statics *s, const descent *D, const descent_run *run)
{
    return run->at_factor && D->step < D->enough * D->predicted &&
           run->norm < TUNE_ENOUGH_NORM * run->norm_first && !run->stiff && !run->linear && !run->modelled &&
           run->opening < TUNE_GAP_DONE && s->problem->linear.blend == 0 &&
           pl_problem_unstable(s->problem) <= 0;
}

// |d| in the norm of the tangent: K d + A^T mu = -r, A d = gap, so d . K d = -r . d - mu . gap.
static double descent_norm(const pl_statics *s, const descent_run *run)
{
    double square = -run->slope;
    for (int k = 0; k < s->problem->linear.border_count; ++k) {
        square -= s->work.mu[k] * run->gap[k];
    }
    return sqrt(fmax(square, 0));
}

descent_end statics_descend(pl_statics *s, double *x, descent *D, pl_error *err)
{
    descent_run run = {.at_factor = s->problem->linear.has_factor &&
                                    memcmp(s->problem->linear.x, x, pl_problem_full_bytes(s->problem)) == 0};
    bool touching = false;
    D->predicted = D->stray = 0;
    D->factors = 0;
    D->indefinite = false;
    run.stiff = pl_problem_stiff(s->problem);
    statics_memory_check(s);
    D->inverted = D->infeasible = false;
    if (!s->problem->linear.has_factor) {
        if (!descent_refactor(s, x, D, &run, false, err)) {
            return DESCENT_STUCK;
        }
    } else if (!run.at_factor && !D->ready) {
        statics_turn(s, x);
    }
    if (!D->ready) {
        D->energy = pl_problem_evaluate(s->problem, x, s->work.g);
    }
    if (!isfinite(D->energy)) {
        D->inverted = true;
        return DESCENT_STUCK;
    }
    // driven clamps have carried the body along: its stresses are still those of the last equilibrium
    if (D->predict && D->carried) {
        memcpy(s->work.pressure_before, s->work.pressure_start,
               (size_t)s->problem->elements->pressure_count * sizeof(double));
        descent_look_ahead(s, s->work.x_start, 0, false);
        if (!descent_refactor(s, x, D, &run, true, err)) {
            return DESCENT_STUCK;
        }
    }
    // contacts that the factor does not know are far stiffer than anything it has there
    const bool follows = D->predict && descent_follows(s, x);
    if (follows && s->problem->contact_shared && !run.at_factor) {
        // forces of contacts are far larger than those of the body: where their shares have changed since the
        // factor was made, the difference would move it anywhere
        s->problem->contact_mode = PL_CONTACT_LINEAR;
        const bool made = descent_refactor(s, x, D, &run, false, err);
        s->problem->contact_mode = PL_CONTACT_ACTS;
        if (!made) {
            return DESCENT_STUCK;
        }
        D->energy = pl_problem_evaluate(s->problem, x, s->work.g);
        D->ready = false;
        descent_follows(s, x);
    }
    if (!follows && pl_problem_obsolete(s->problem, x)) {
        if (!descent_refactor(s, x, D, &run, false, err)) {
            return DESCENT_STUCK;
        }
        D->ready = false;
    }
    for (int iteration = 0; iteration < D->limit; ++iteration) {
        if (!statics_go_on(s)) {
            return DESCENT_STOPPED;
        }
        if (!descent_look(s, D, &run.changes)) {
            return DESCENT_STUCK;
        }
        run.opening = descent_gap(s->problem, run.gap);
        const double left = run.whole ? pace_left(&run.pace) : INFINITY;
        if (D->polish && !run.linear && !run.modelled && left < D->length_tolerance &&
            D->relative < D->force_tolerance && run.opening < TUNE_GAP_DONE) {
            D->step = left;
            descent_stray(s, x, D);
            return DESCENT_DONE;
        }
        memcpy(s->work.pressure_before, s->problem->elements->pressure,
               (size_t)s->problem->elements->pressure_count * sizeof(double));
        for (int i = 0; i < s->problem->row_count; ++i) {
            s->work.multiplier_before[i] = s->problem->row[i].multiplier;
        }
        if (!(D->ready && iteration == 0 && run.changes == 0)) {
            statics_direction(s, s->work.r, run.gap, s->work.d);
        }
        D->step = pl_problem_largest(s->problem, s->work.d, false);
        run.slope = statics_dot(s->work.r, s->work.d, s->problem->unknowns.n);
        run.norm = descent_norm(s, &run);
        run.norm_first = iteration == 0 ? run.norm : run.norm_first;
        pl_log(2, "    %3d  residual %.2e  step %.2e mm  energy %.8e  gap %.1e%s", iteration, D->relative,
               D->step, D->energy, run.opening, run.at_factor ? "  newton" : "");
        if (!(follows && iteration == 0) && !run.linear && !run.modelled &&
            D->relative < D->force_tolerance && D->step < D->length_tolerance &&
            run.opening < TUNE_GAP_DONE) {
            if (D->polish) {
                descent_polish(s, x, D);
            }
            descent_stray(s, x, D);
            return DESCENT_DONE;
        }
        if (iteration > 0 && descent_enough(s, D, &run)) {
            descent_stray(s, x, D);
            return DESCENT_DONE;
        }
        if (D->predict && iteration > 1 && D->indefinite && !D->saddle && run.at_factor &&
            !pl_problem_touches(s->problem) &&
            statics_apart(s, x, s->work.x_predicted) >
                fmax(D->predicted, TUNE_STRAY_SIZE * s->problem->size)) {
            descent_stray(s, x, D);
            return DESCENT_BRANCH;
        }
        // an old factor strains stiff parts that have turned since: below, its directions only polish
        const bool blunt = run.stiff && !run.at_factor && D->relative > TUNE_STIFF_DONE;
        run.whole = false;
        const bool obsolete =
            !(follows && iteration == 0) && !run.modelled && pl_problem_obsolete(s->problem, x);
        if (!run.at_factor && (blunt || obsolete || descent_far(D)) && run.factors < TUNE_FACTORS) {
            if (!descent_refactor(s, x, D, &run, false, err)) {
                return DESCENT_STUCK;
            }
            continue;
        }
        s->iterations++;
        pace_note(&run.pace, -run.slope, D->step);
        const bool predict = D->predict && iteration == 0, turns = predict || (D->warm && iteration == 0);
        const bool uphill = run.slope > 0 && run.opening < TUNE_GAP_MOVES;
        double energy = INFINITY;
        const bool full = descent_stiff(s, x, D, &run, &energy);
        if (!full && run.linear) {
            run.linear = false; // as usual, with the true gradient
            D->energy = pl_problem_evaluate(s->problem, x, s->work.g);
            continue;
        }
        run.linear = false;
        if (full || (!uphill && (run.at_factor || !pace_too_slow(s, &run.pace, D)) &&
                     descent_search(s, x, D, &run, turns, &energy))) {
            run.modelled = false;
            run.hits = 0;
            run.whole = !run.warped && run.scale > 0.5;
            run.taken = true;
            const bool taken = descent_take(s, x, energy, D, &run, predict, err);
            run.taken = false;
            if (!taken) {
                return DESCENT_STUCK;
            }
            continue;
        }
        if (run.hit) {
            if (!descent_meet(s, x, D, &run, err)) {
                return DESCENT_STUCK;
            }
            continue;
        }
        if (run.modelled) { // as usual, with the true gradient
            run.modelled = false;
            run.hits = TUNE_HITS;
            D->energy = pl_problem_evaluate(s->problem, x, s->work.g);
            continue;
        }
        if (run.risky > 0) { // back to where the energy was lowest
            pl_log(2, "    back to the energy %.8e", run.reference);
            memcpy(x, s->work.x_reference, pl_problem_full_bytes(s->problem));
            run.risky = 0;
            run.careful = true;
            if (!descent_refactor(s, x, D, &run, false, err)) {
                return DESCENT_STUCK;
            }
            continue;
        }
        // no way along this direction: a new factor, its positive part when the true one was just tried
        if (run.at_factor && !touching && pl_problem_touches(s->problem)) {
            // perhaps contacts that stand at their surface and do not press yet: the next factor has them
            s->problem->tangent.touching = touching = true;
            descent_look_ahead(s, x, 1, false);
            const bool made = descent_refactor(s, x, D, &run, false, err);
            s->problem->tangent.touching = false;
            if (!made) {
                return DESCENT_STUCK;
            }
            continue;
        }
        if (run.at_factor && (s->problem->linear.blend >= 1 || run.opening > TUNE_GAP_MOVES)) {
            return DESCENT_STUCK;
        }
        run.blend = run.at_factor ? 1 : 0;
        if (!descent_refactor(s, x, D, &run, false, err)) {
            return DESCENT_STUCK;
        }
    }
    return DESCENT_LIMIT;
}

void statics_watch(pl_statics *s, const char *what, double limit)
{
    s->watch = (pl_watch){.progress = s->options.progress,
                          .what = what,
                          .fraction = -1,
                          .deadline = limit > 0 ? pl_seconds() + limit : 0};
    s->problem->watch = &s->watch;
}

bool statics_go_on(pl_statics *s)
{
    pl_watch *w = &s->watch;
    const double now = pl_seconds();
    w->asked = now;
    w->late = w->late || (w->deadline > 0 && now > w->deadline);
    w->stopped = w->stopped || (!w->late && !pl_progress_step(&w->progress, w->fraction, w->what));
    return !w->stopped && !w->late;
}
