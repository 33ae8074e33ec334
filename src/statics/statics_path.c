// The load path: from the state's commands to the new ones along equilibria x(l), l from 0 to 1.
//
//   predictor  x^ = x + h dx/dl, dx/dl = -K^-1 dr/dl, co-rotated (newton_corotate.c)
//   corrector  equilibrium at l + h (newton_minimise.c)
//   error      e = |(x_B - x^_B) - (x_A - x^_A)| / 2 |x_B - x_A|, with the tangents of both ends; accepted
//   below
//              path_error
//   length     h (path_error / e)^(1/3), within what a linear step can predict, and the rest of the path in
//   equal
//              parts
//
// An increment is taken back with all that it changed. Where its error does not fall with its length a
// critical point is near. Between a stable equilibrium and such a jump the path either has a bifurcation,
// when it goes on beyond as a saddle close to the prediction: the saddle is left along its mode and the path
// goes on along the stable branch (buckling); or it ends in a limit point: it is followed to within a small
// part of the load, the limit load is proved by the lowest eigenvalue (statics_critical.c), and the body
// lands at the stable equilibrium that its energy falls to from there (a snap).
#include <float.h>
#include "statics/statics_impl.h"

static size_t path_bytes(const pl_statics *s)
{
    return pl_problem_full_bytes(s->problem);
}

void statics_set_load(pl_statics *s, double at, double *x)
{
    pl_problem_set(s->problem, at);
    statics_carry(s, x);
}

void statics_carry(pl_statics *s, double *x)
{
    bool driven = false;
    for (int k = 0; k < s->robot->support_count; ++k) {
        const pl_support *support = &s->robot->support[k];
        driven = driven || pl_norm3(support->move) > 0 || pl_norm3(support->rotate) > 0;
    }

    if (driven) {
        double *held = s->newton.work.x_trial;
        memcpy(held, x, path_bytes(s));
        pl_problem_clamp(s->problem, s->problem->load, held);
        pl_newton_carry(&s->newton, held, x);
    }
}

static double path_end(const load_path *path)
{
    return path->at + path->length >= 1 - 1e-12 ? 1 : path->at + path->length;
}

// ---- length of an increment
static double path_clamp_turn(const pl_statics *s)
{
    double turn = 0;
    for (int k = 0; k < s->robot->support_count; ++k) {
        turn = fmax(turn, pl_norm3(s->robot->support[k].rotate));
    }
    return turn * fabs(s->problem->load_to - s->problem->load_from);
}

// Do supports move along the path?
static bool path_clamped(const pl_statics *s)
{
    bool moves = false;
    for (int k = 0; k < s->robot->support_count; ++k) {
        const pl_support *support = &s->robot->support[k];
        moves = moves || pl_norm3(support->rotate) > 0 || pl_norm3(support->move) > 0;
    }
    return moves && s->problem->load_to != s->problem->load_from;
}

// Are increments chosen by the error of friction (path_retrace)? Of free bodies, which are let go of only at
// the end, the forces in between say little.
static bool path_pairs(const pl_statics *s)
{
    return s->robot->contact.friction && s->robot->contact.free_count == 0;
}

// The part of `length` after which the prediction would be too deep in an obstacle, work.d predicting the
// rest of the path. A corrector shortens its steps there, but not where prescribed lengths or volumes put the
// body through: then the increment has to.
static double path_meets(pl_statics *s, const double *x, const double *gap, double part)
{
    pl_problem *p = s->problem;
    double asked = 0, limit = 1;

    for (int k = 0; k < p->linear.border_count; ++k) {
        asked = fmax(asked, fabs(gap[k]));
    }
    if (asked > 0 && pl_problem_touches(p)) {
        const size_t mark = pl_arena_begin(&p->scratch);
        double *d = pl_problem_take_unknown(p), *to = pl_problem_take_full(p);
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            d[i] = part * s->newton.work.d[i];
        }
        pl_newton_move(&s->newton, x, d, to);
        limit = pl_problem_step_limit(p, x, to);
        pl_arena_end(&p->scratch, mark);
    }

    return limit;
}

// The length of the next increment: at most path->length (0: any), and such that the tangent step keeps to
// rotations and strains that a linear step predicts; the rest of the path is divided into equal parts.
static void path_choose(pl_statics *s, load_path *path, const double *x)
{
    double gap[PL_ROWS_MAX], here[PL_ROWS_MAX], strain = 0;
    const double rest = 1 - path->at;

    // the change of loads and targets alone: the residual here is left to the corrector, and contacts are
    // found by it
    pl_problem_evaluate_as(s->problem, PL_CONTACT_ABSENT, x, s->newton.work.g);
    pl_problem_gaps(s->problem, here);
    pl_problem_set(s->problem, 1);
    pl_problem_evaluate_as(s->problem, PL_CONTACT_ABSENT, x, s->newton.work.g_new);
    pl_problem_gaps(s->problem, gap);
    for (int32_t i = 0; i < s->problem->unknowns.n; ++i) {
        s->newton.work.r[i] = s->newton.work.g_new[i] - s->newton.work.g[i];
    }
    for (int k = 0; k < s->problem->linear.border_count; ++k) {
        gap[k] -= here[k];
    }
    pl_newton_direction(&s->newton, s->newton.work.r, gap, s->newton.work.d);
    const double turn =
        pl_newton_step_rotation(&s->newton, x, s->newton.work.d, &strain) + path_clamp_turn(s) * rest;

    double length = rest * fmin(1, fmin(s->path.turn / turn, s->path.strain / strain));
    length = fmin(length, pl_problem_stride(s->problem, x, path->at));
    length = path->length > 0 ? fmin(path->length, length) : length;
    pl_problem_set(s->problem, path->at);
    length *= path_meets(s, x, gap, length / rest);
    if (path_pairs(s)) {
        length = fmin(length, path->pair_length > 0 ? path->pair_length : 0.5 * rest);
        // every pair has two: the last increment alone would be compared with itself
        length = path->pair_count == 0 ? fmin(length, 0.5 * rest) : length;
    }
    path->length = rest / ceil(rest / length);
    pl_log(1, "  at %.4f: tangent turns %.2f rad, strains %.2f to the end; increment %.4f", path->at, turn,
           strain, path->length);
}

// ---- one increment
// In a minimisation friction takes its limits from the pressures of the last update, and open rims their
// forces from its shape; from its equilibrium both follow, with the places of friction that the increment
// began with.
static bool path_friction(pl_statics *s, double *x, bool last, pl_error *err)
{
    double penetration;
    pl_newton_report found;

    pl_problem_complementarity_error(s->problem, x, &penetration);
    const bool lags = pl_problem_lags(s->problem) && !pl_problem_settles(s->problem);
    if ((s->problem->limits_off <= PL_CONTACT_LIMIT && (!lags || statics_balanced(s, x, last, &found))) ||
        statics_friction(s, x, true, &found, err) == NEWTON_DONE) {
        return true;
    }

    // before the end limits may lag a little, for the next increment begins with those of this one; a shape
    // that is not in balance with them is none to begin with
    pl_problem_complementarity_error(s->problem, x, &penetration);
    if (last || lags || !(s->problem->limits_off <= NEWTON_RELEASE) ||
        !isfinite(pl_problem_evaluate(s->problem, x, s->newton.work.g))) {
        return false;
    }
    const double residual = pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r);

    return residual <= statics_tolerance(s, false).force_tolerance * pl_problem_force_scale(s->problem);
}

// The error of an increment from A (x_start) to B (x) of the path: by how much the tangents of both ends
// together miss the motion,
//   e = |(x_B - x^_B) - (x_A - x^_A)| / (2 |x_B - x_A|),
// x^_B predicted from A and x^_A from B. On a smooth path the curvature cancels and e falls as h^2; between
// two branches it is about 1. x_A has the Newton step that the increment before left over. Where the
// prediction from A alone is good the tangent at B is not made.
static double path_error(pl_statics *s, const load_path *path, double *x, const pl_newton_report *found,
                         pl_error *err)
{
    pl_problem *p = s->problem;
    double gap[PL_ROWS_MAX];
    const double moved =
                     fmax(pl_newton_distance(&s->newton, x, s->newton.work.x_start), NEWTON_NEAR * p->size),
                 one_sided = pl_newton_distance(&s->newton, s->x_end, s->newton.work.x_predicted) / moved;

    // contacts, and cables that become slack or taut, give the path a kink: nothing follows from its tangents
    bool kink = pl_problem_touches(p) || pl_problem_lags(p);

    for (int i = 0; i < p->row_count; ++i) {
        kink = kink || (p->row[i].wanted && p->row[i].active != s->begin.active[i] && found->indefinite == 0);
    }

    // a free body that has gone much farther than predicted has slipped: it may be caught elsewhere
    if (s->robot->contact.free_count > 0 && found->error > fmax(found->predicted, NEWTON_NEAR * p->size)) {
        return found->error / fmax(found->predicted, DBL_EPSILON * p->size);
    }

    // past an indefinite tangent B may lie on another branch, and beside a limit point the nearly singular
    // tangent at A predicts any motion: the prediction has to hold by itself, and with the tangent at B too
    const bool doubtful = found->indefinite > 0 && !kink;
    const double predicted =
        doubtful ? found->error / fmax(found->predicted, NEWTON_NEAR / s->path.error * p->size) : 0;
    // clamps that move carry the body along, which the tangent at B does not know
    if (predicted > s->path.error || (doubtful && path_clamped(s))) {
        return predicted;
    }
    if (!doubtful && (!(one_sided > s->path.error) || kink)) {
        return kink ? 0 : one_sided;
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *back = pl_problem_take_full(p), *there = pl_problem_take_full(p), error = INFINITY;
    memcpy(there, x, path_bytes(s));

    // the last factor of the corrector was made close to B
    pl_newton_forget(&s->newton);
    pl_newton_turn(&s->newton, x);
    if (found->factors > 0 ||
        pl_problem_refactor(p, &(pl_linearization){.x = x, .indefinite = PL_AS_IT_IS}, err) == PL_OK) {
        statics_set_load(s, path->at, there);
        if (isfinite(pl_problem_evaluate(p, there, s->newton.work.g))) {
            pl_problem_residual(p, s->newton.work.g, s->newton.work.r);
            pl_problem_gaps(p, gap);
            pl_newton_direction(&s->newton, s->newton.work.r, gap, s->newton.work.d);
            pl_newton_move(&s->newton, there, s->newton.work.d, back);
            error = 0;
            for (int64_t i = 0; i < p->mesh.vertex_count; ++i) {
                double e[3];
                for (int k = 0; k < 3; ++k) {
                    e[k] = (x[3 * i + k] - s->newton.work.x_predicted[3 * i + k]) -
                           (s->x_begin[3 * i + k] - back[3 * i + k]);
                }
                error = fmax(error, pl_norm3(e) / (2 * moved));
            }
        }
    }

    pl_log(1, "  error of the increment: %.2f with the tangent of its start, %.2f with those of both ends",
           one_sided, error);
    statics_set_load(s, path_end(path), there);
    pl_arena_end(&p->scratch, mark);
    pl_problem_evaluate(p, x, s->newton.work.g);
    pl_problem_residual(p, s->newton.work.g, s->newton.work.r);

    return fmax(predicted, error);
}

// What may be left of an increment: the last one, and those after a failure, are solved to the tolerances.
static double path_enough(pl_statics *s, const load_path *path)
{
    const bool exact = path->failures > 0 || pl_problem_touches(s->problem) || pl_problem_lags(s->problem);
    return path_end(path) >= 1 || exact ? 0 : s->path.enough;
}

// ---- critical points
// Takes the part along the mode v out of the step d = -K^-1 r: K d + m v = -r, v . d = 0. The force m v that
// holds the amplitude is added to r.
static void stationary_hold(pl_statics *s, const double *v, double *r, double *d)
{
    pl_problem *p = s->problem;
    const int32_t n = p->unknowns.n;
    double mu[PL_ROWS_MAX], *w = s->newton.work.y;

    if (!pl_problem_solve_bordered(p, v, NULL, w, mu)) {
        return;
    }
    const double vw = pl_newton_dot(v, w, n), m = pl_newton_dot(v, d, n) / vw;
    for (int32_t i = 0; vw != 0 && i < n; ++i) {
        d[i] -= m * w[i];
        r[i] += m * v[i];
    }
}

// Newton's method with the tangent as it is, in double precision: the sign of its lowest eigenvalue matters.
// With `mode` the factor at hand, turned with the body, serves while steps with it halve.
bool statics_stationary(pl_statics *s, double *x, double reach, const double *mode, double force,
                        pl_error *err)
{
    pl_problem *p = s->problem;
    double gap[PL_ROWS_MAX], *r = s->newton.work.r, *d = s->newton.work.d, last = INFINITY;
    const pl_newton_goal tolerance = statics_tolerance(s, false);
    const size_t mark = pl_arena_begin(&p->scratch);
    double *start = pl_problem_take_full(p), *to = pl_problem_take_full(p);

    memcpy(start, x, path_bytes(s));
    pl_newton_forget(&s->newton);
    bool found = false, possible = true, chord = mode && p->linear.has_factor;
    for (int k = 0; k < (mode ? 2 : 1) * STATICS_SUPERLINEAR && possible && !found; ++k) {
        possible = isfinite(pl_problem_evaluate(p, x, s->newton.work.g));
        if (possible && p->linear.has_factor) {
            pl_problem_residual(p, s->newton.work.g, r); // multipliers
        }
        if (chord) {
            pl_newton_turn(&s->newton, x);
        }
        possible = possible && (chord || pl_problem_factor_exact(p, x, err) == PL_OK);
        if (!possible) {
            break;
        }

        pl_newton_forget(&s->newton);
        pl_problem_residual(p, s->newton.work.g, r);
        pl_problem_gaps(p, gap);
        pl_newton_direction(&s->newton, r, gap, d);
        if (mode) {
            stationary_hold(s, mode, r, d);
        }

        const double relative = pl_problem_largest(p, r, true) / pl_problem_force_scale(p),
                     step = pl_problem_largest(p, d, false);
        pl_log(2, "    stationary %d: residual %.2e, step %.2e mm%s", k, relative, step,
               chord ? ", old factor" : "");
        if (chord && !(step < 0.5 * last)) {
            chord = false; // from here, with a factor of its own
            last = INFINITY;
            continue;
        }
        found = relative < force && step < fmin(reach, tolerance.length_tolerance);
        pl_problem_move(p, x, d, 1, to);
        possible = step < 2 * last && pl_problem_restore(p, to, NEWTON_GAP) &&
                   isfinite(pl_problem_evaluate(p, to, NULL)) &&
                   pl_newton_distance(&s->newton, to, start) < reach;
        last = step;
        if (possible && !found) {
            memcpy(x, to, path_bytes(s));
        }
    }

    pl_arena_end(&p->scratch, mark);

    return found;
}

// The first time that a saddle x of the path, at the load `at`, is to be left: where the path became
// unstable.
static void path_note_buckling(pl_statics *s, load_path *path, const double *x, double at, pl_error *err)
{
    if (path->buckled == 0) {
        const double load = statics_bifurcation(s, s->x_stable, path->stable_at, x, at, err);
        path->buckled = isfinite(load) ? load : at;
        path->buckled_known = isfinite(load);
    }
}

void statics_note_buckling(pl_statics *s, load_path *path, const double *x, double at, pl_error *err)
{
    path_note_buckling(s, path, x, at, err);
    pl_problem_set(s->problem, at);
}

// Does the path go on next to x, at the end of the increment? As a saddle it is left along its mode. True: x
// is a stable equilibrium there, on the path or on the branch that leaves it.
static bool path_passes(pl_statics *s, load_path *path, double *x, pl_newton_report *found, pl_error *err)
{
    const double to = path_end(path), reach = fmax(found->predicted, NEWTON_NEAR * s->problem->size);
    const pl_newton_goal goal = statics_tolerance(s, to >= 1);
    int negative = -1, left = 0;

    statics_set_load(s, to, x);
    if (!statics_stationary(s, x, reach, NULL, STATICS_FORCE, err)) {
        return false;
    }

    negative = pl_problem_unstable(s->problem);
    if (negative == 0) {
        const pl_newton_report before = *found;
        const bool done = pl_newton_minimise(&s->newton, x, &goal, found, err) == NEWTON_DONE &&
                          pl_problem_admissible(s->problem, x);
        found->predicted = before.predicted;
        found->error = pl_newton_distance(&s->newton, x, s->newton.work.x_predicted);
        found->indefinite += before.indefinite;
        memcpy(s->x_end, x, path_bytes(s));
        return done && path_error(s, path, x, found, err) <= s->path.error;
    }

    path_note_buckling(s, path, x, to, err);
    statics_set_load(s, to, x);
    if (statics_prove(s, x, &negative, err) == PL_OK && negative > 0) {
        statics_stabilise(s, x, &goal, found, &negative, &left, err);
    }
    pl_log(1, "  the path goes on as a saddle at %.4f, %s", to, negative == 0 ? "left" : "not left");

    return negative == 0;
}

// The increment left its branch: is the path's own end close to the prediction?
static bool path_buckles(pl_statics *s, load_path *path, double *x, pl_newton_report *found, pl_error *err)
{
    memcpy(x, s->newton.work.x_predicted, path_bytes(s));
    return path_passes(s, path, x, found, err);
}

// The corrector once more, from x on and without looking for saddles.
static pl_newton_end path_resume(pl_statics *s, double *x, pl_newton_goal goal, pl_newton_report *found,
                                 pl_error *err)
{
    const pl_newton_report before = *found;
    goal.start = NEWTON_ANYWHERE;
    goal.saddle = 0;
    const pl_newton_end end = pl_newton_minimise(&s->newton, x, &goal, found, err);
    found->predicted = before.predicted;
    found->error = pl_newton_distance(&s->newton, x, s->newton.work.x_predicted);
    found->indefinite += before.indefinite;
    return end;
}

// From x to the equilibrium at the end of the increment.
static path_verdict path_correct(pl_statics *s, load_path *path, double *x, pl_newton_report *found,
                                 pl_error *err)
{
    const double to = path_end(path);
    path->error = path->left = 0;
    pl_newton_goal goal = statics_tolerance(s, to >= 1);
    goal.start = path_clamped(s) ? NEWTON_CARRIED : NEWTON_EQUILIBRIUM;
    goal.enough = path_enough(s, path);
    pl_problem_evaluate(s->problem, x, NULL);
    memcpy(s->newton.work.pressure_start, s->problem->elements->pressure,
           (size_t)s->problem->elements->pressure_count * sizeof(double));
    statics_set_load(s, to, x);
    goal.saddle = pl_problem_touches(s->problem) ? 0 : STATICS_FORCE;
    pl_newton_end end = pl_newton_minimise(&s->newton, x, &goal, found, err);
    s->increments++;
    if (end == NEWTON_SADDLE) {
        memcpy(s->x_end, x, path_bytes(s));
        if (path_passes(s, path, x, found, err)) {
            return STEP_ACCEPTED;
        }

        // the tangent is indefinite for another reason: down from where it was
        memcpy(x, s->x_end, path_bytes(s));
        statics_set_load(s, to, x);
        end = path_resume(s, x, goal, found, err);
    }

    pl_log(1, "  increment to %.4f: error %.2f of the %.3g mm predicted%s", to,
           found->predicted > 0 ? found->error / found->predicted : 0, found->predicted,
           found->indefinite ? ", indefinite" : "");

    static const path_verdict failed[] = {
        [NEWTON_LIMIT] = STEP_LIMIT,           [NEWTON_INVERTED] = STEP_INVERTED,
        [NEWTON_INFEASIBLE] = STEP_INFEASIBLE, [NEWTON_NO_DESCENT] = STEP_NO_DESCENT,
        [NEWTON_BRANCH] = STEP_BRANCH,         [NEWTON_STOPPED] = STEP_STOPPED,
    };
    if (end != NEWTON_DONE) {
        path->error = end == NEWTON_BRANCH ? found->error / found->predicted : 0;
        return failed[end];
    }

    if (!pl_problem_admissible(s->problem, x)) {
        return STEP_INVERTED;
    }

    path->left = goal.enough > 0 ? found->step : 0;
    if (goal.enough > 0) {
        pl_newton_move(&s->newton, x, s->newton.work.d, s->x_end);
    } else {
        memcpy(s->x_end, x, path_bytes(s));
    }

    path->error = path_error(s, path, x, found, err);
    if (path->error > s->path.error) {
        return STEP_BRANCH;
    }

    return path_friction(s, x, to >= 1, err) ? STEP_ACCEPTED : STEP_NO_DESCENT;
}

// A little beyond the buckling load l_c the buckled shape is close to the saddle, its amplitude of the order
// sqrt(l - l_c): tried at several parts of the distance to a saddle that could not be left.
bool statics_branch_off(pl_statics *s, load_path *path, const double *saddle, double above, double *x,
                        pl_error *err)
{
    static const double part[] = {0.05, 0.2};
    pl_problem *p = s->problem;
    const double reach = fmax(pl_newton_distance(&s->newton, s->x_stable, saddle), NEWTON_NEAR * p->size);
    bool found = false;

    for (int k = 0; k < PL_COUNT(part) && path->buckled_known && path->buckled < above && !found; ++k) {
        const double to = path->buckled + part[k] * (above - path->buckled),
                     share = (to - path->stable_at) / (above - path->stable_at);
        for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
            x[i] = s->x_stable[i] + share * (saddle[i] - s->x_stable[i]);
        }
        statics_set_load(s, to, x);
        const pl_newton_goal goal = statics_tolerance(s, false);
        pl_newton_report report;
        int negative = -1, left = 0;
        found = statics_stationary(s, x, reach, NULL, STATICS_FORCE, err) &&
                statics_prove(s, x, &negative, err) == PL_OK && negative > 0 &&
                statics_stabilise(s, x, &goal, &report, &negative, &left, err) == PL_OK && negative == 0;
        path->at = found ? to : path->at;
    }

    path->length = found ? 0 : path->length;
    pl_log(1, "  beyond the buckling load %.4f: %s", path->buckled,
           found ? "on the stable branch" : "no stable shape found");

    return found;
}

// The tangent where an increment begins is not positive. States on the path are only found so well that they
// lead on, and far from balance the tangent says little: finds the equilibrium first. One that is unstable is
// left along its mode. True: x is a stable equilibrium at path->at, its factor at hand.
static bool path_leave(pl_statics *s, load_path *path, double *x, pl_error *err)
{
    int negative = -1, left = 0;
    const pl_newton_goal goal = statics_tolerance(s, false);
    pl_newton_report found;

    pl_problem_set(s->problem, path->at);
    if (pl_newton_minimise(&s->newton, x, &goal, &found, err) == NEWTON_DONE &&
        statics_prove(s, x, &negative, err) == PL_OK && negative > 0) {
        statics_note_buckling(s, path, x, path->at, err);
        if (statics_prove(s, x, &negative, err) == PL_OK && negative > 0) {
            statics_stabilise(s, x, &goal, &found, &negative, &left, err);
        }
    }

    if (negative != 0) {
        memcpy(x, s->newton.work.x_start, path_bytes(s));
        return false;
    }

    memcpy(s->newton.work.x_start, x, path_bytes(s));

    return true;
}

// From the limit point x at the load `limit`, down to where the energy leads a little beyond. True: x is a
// stable equilibrium there.
static bool path_land(pl_statics *s, load_path *path, double limit, double *x, pl_error *err)
{
    int negative = -1, left = 0;
    const double to = fmin(1, limit * (1 + s->path.beyond));

    statics_set_load(s, to, x);
    pl_newton_goal goal = statics_tolerance(s, to >= 1);
    pl_newton_report found;
    goal.start = NEWTON_LEAVE;
    // a landing cannot be divided into shorter increments, and takes longer than one
    goal.limit = goal.limit < s->options.iteration_limit - s->newton.iterations ? 2 * goal.limit : goal.limit;
    bool landed = pl_newton_minimise(&s->newton, x, &goal, &found, err) == NEWTON_DONE &&
                  pl_problem_admissible(s->problem, x) && statics_prove(s, x, &negative, err) == PL_OK;
    if (landed && negative > 0) {
        goal = statics_tolerance(s, to >= 1);
        landed = statics_stabilise(s, x, &goal, &found, &negative, &left, err) == PL_OK;
    }

    landed = landed && negative == 0;
    pl_log(1, "  limit point at %.5f: %s", limit, landed ? "landed" : "no equilibrium found beyond");
    if (landed) {
        path->at = to;
        path->length = 0;
        path->snapped = path->snapped > 0 ? path->snapped : limit;
    }

    return landed;
}

// An increment left its branch: the path is followed by its arc length from x, the stable equilibrium at
// path->at. False: it ends here, at a limit point (path->critical) without a landing, or for another reason.
static bool path_follow_arc(pl_statics *s, load_path *path, double *x, pl_error *err)
{
    if (!statics_arc_possible(s) || pl_problem_stiff(s->problem) || path->arc_at == path->at) {
        return false;
    }

    const size_t mark = pl_arena_begin(&s->problem->scratch);
    double *top = pl_problem_take_full(s->problem), at = path->at, limit = 0;
    const arc_end end = statics_arc_limit(s, x, &at, path_end(path), top, &limit, err);
    bool on = at > path->at;
    path->length = on ? 0 : path->length;
    path->arc_at = path->at;
    path->at = fmin(at, 1);
    if (at > 1) { // back to the full load
        const pl_newton_goal goal = statics_tolerance(s, true);
        pl_newton_report found;
        statics_set_load(s, 1, x);
        on = pl_newton_minimise(&s->newton, x, &goal, &found, err) == NEWTON_DONE;
    } else if (end == ARC_LIMIT && limit <= 1) {
        path->critical = (statics_critical){.found = true, .load = limit};
        on = !s->options.stop_at_limit && path_land(s, path, limit, top, err);
        if (on) {
            path->critical = (statics_critical){0};
            memcpy(x, top, path_bytes(s));
        }
    }

    pl_arena_end(&s->problem->scratch, mark);
    pl_problem_set(s->problem, path->at);

    return on;
}

// ---- steps of friction
// Where friction acts the end depends on the increments: points take hold where they are estimated to have
// met an obstacle, and slip along straight lines. At the end x of each pair of increments the equilibrium of
// one increment in their place is found from x; the force of friction differs by the error of the pair,
// about. False: more than its share, x is back at the start of the pair.
static bool path_retrace(pl_statics *s, load_path *path, double *x, pl_error *err)
{
    pl_problem *p = s->problem;
    const double to = path_end(path), span = to - path->pair_at, length = 0.5 * span;

    if (!path_pairs(s) || (++path->pair_count < 2 && to < 1)) {
        return true;
    }

    path->pair_count = 0;
    const double size = pl_problem_retrace(p, PL_RETRACE_FORCES, x);
    if (!(size > 0)) {
        path->pair_length = STATICS_GROWTH * length;
        return true;
    }
    const size_t mark = pl_arena_begin(&p->scratch);
    double *other = pl_problem_take_full(p);
    pl_newton_report found;
    memcpy(other, x, path_bytes(s));
    pl_problem_retrace(p, PL_RETRACE_EXCHANGE, NULL);
    pl_problem_mark(p, &s->begin);
    const bool known = statics_friction(s, other, true, &found, err) == NEWTON_DONE;
    const double change = known ? pl_problem_retrace(p, PL_RETRACE_COMPARE, other) : INFINITY;
    pl_problem_revert(p, &s->begin); // the other mark stays as it was made
    pl_problem_retrace(p, PL_RETRACE_EXCHANGE, NULL);
    pl_arena_end(&p->scratch, mark);

    // over the force at the end of the path, if it grows in proportion from what it began with
    const double begun = path->friction, end = fmax(size, begun + (size - begun) / to), error = change / end,
                 allowed = STATICS_FRICTION * fmax(span, STATICS_FRICTION_SHARE);
    pl_log(1, "  friction: one increment from %.4f to %.4f instead of two changes its force by %.2e (%.2e)",
           path->pair_at, to, error, allowed);
    path->pair_length = length * (known ? fmin(1.5, fmax(1 / STATICS_GROWTH, 0.8 * allowed / error)) : 0.5);
    if (error <= allowed || length < STATICS_FRICTION_LEAST) {
        return true;
    }
    pl_problem_retrace(p, PL_RETRACE_BACK, x);
    path->at = path->pair_at;
    path->length = path->left = 0;
    path->failures++; // the factor at hand belongs to a shape farther on
    for (int i = 0; i < p->row_count; ++i) {
        p->row[i].active = path->pair_active[i];
    }
    if (path->stable_at > path->at) {
        memcpy(s->x_stable, x, path_bytes(s));
        path->stable_at = path->at;
    }
    pl_problem_set(p, path->at);

    return false;
}

// ---- the whole path
// Back to the equilibrium at the start of a failed increment: shape, which cables hold, and what terms had
// accepted. One that was found only so well that it leads on is found to its tolerances now.
static void path_revert(pl_statics *s, load_path *path, double *x, pl_error *err)
{
    pl_problem_revert(s->problem, &s->begin);
    memcpy(x, s->newton.work.x_start, path_bytes(s));
    if (path->left == 0) {
        return;
    }

    const pl_newton_goal goal = statics_tolerance(s, false);
    pl_newton_report found;
    path->left = 0;
    pl_problem_set(s->problem, path->at);
    if (pl_newton_minimise(&s->newton, x, &goal, &found, err) != NEWTON_DONE ||
        !pl_problem_admissible(s->problem, x)) {
        memcpy(x, s->newton.work.x_start, path_bytes(s));
    }
}

// A factor for the next increment, at its start; its length. The factor of the last increment, co-rotated,
// will do for the rest of the path where it points to its end, except with stiff parts: their tensions there
// balance the last load, not the next one.
static bool path_prepare(pl_statics *s, load_path *path, double *x, pl_error *err)
{
    pl_problem *p = s->problem;
    const bool accepted = path->last == STEP_ACCEPTED, stiff = pl_problem_stiff(p),
               usable = accepted && path->failures == 0 && pl_problem_factor_serves(p) &&
                        !(path->at > 0 && stiff && memcmp(p->linear.x, x, path_bytes(s)) != 0);

    pl_problem_set(p, path->at);
    if (usable) {
        const double length = path->length;
        pl_newton_turn(&s->newton, x);
        path_choose(s, path, x);
        if (path->at == 0 || path_end(path) >= 1) {
            return true;
        }
        path->length = length;
        pl_problem_set(p, path->at);
    }

    // a stiff layer that is about to wrinkle is passed on its smooth shape: the true tangent leads on
    const bool near = path->at > 0 && accepted && path->failures == 0 && !stiff &&
                      pl_problem_factor_serves(p) &&
                      pl_newton_distance(&s->newton, p->linear.x, x) < NEWTON_NEAR * p->size;
    const pl_indefinite indefinite = stiff ? PL_AS_IT_IS : PL_POSITIVE_PART;
    if (!near &&
        pl_problem_refactor(p, &(pl_linearization){.x = x, .indefinite = indefinite}, err) != PL_OK) {
        return false;
    }

    pl_newton_forget(&s->newton);
    const bool unstable = p->linear.blend > 0 || pl_problem_unstable(p) > 0;
    if (unstable && path->at > 0 && !stiff && path->left_at != path->at) {
        path->left_at = path->at; // once at each load
        path_leave(s, path, x, err);
        pl_problem_set(p, path->at);
    }

    if (!unstable) {
        memcpy(s->x_stable, x, path_bytes(s));
        path->stable_at = path->at;
    }

    path_choose(s, path, x);

    return true;
}

// Factor from the length of an increment of error e to that of the next one; where e is not known it failed.
static double path_factor(const pl_statics *s, double e)
{
    const double most = s->path.growth;
    return e > 0 ? fmin(most, fmax(1 / most, cbrt(s->path.error / e))) : 1 / most;
}

// After a failed increment: a shorter one. False: it would be too short to lead on, or its error has not
// fallen with its length, as it does on a smooth path.
static bool path_shorten(const pl_statics *s, load_path *path)
{
    const bool falls = !(path->error > 0 && path->failed_error > 0) ||
                       path->error / path->failed_error < path->length / path->failed_length;
    path->failures++;
    path->failed_error = path->error;
    path->failed_length = path->length;
    path->length *= path_factor(s, path->error);
    pl_log(1, "  increment failed (%s), next %.4f", path_verdict_name(path->last), path->length);

    return falls && path->length >= s->path.least;
}

const char *path_verdict_name(path_verdict verdict)
{
    static const char *const name[] = {"accepted",   "inverted",        "infeasible", "another branch",
                                       "no descent", "iteration limit", "stopped"};
    return name[verdict];
}

// A path begins at an equilibrium. A body with stresses of its own (a film stretched before it was bonded) is
// not in one where it is undeformed: it is found first, at the loads of the start.
static void path_relax(pl_statics *s, double *x, pl_error *err)
{
    pl_newton_goal goal = statics_tolerance(s, false);
    pl_newton_report report;

    pl_problem_set(s->problem, 0);
    pl_problem_evaluate(s->problem, x, s->newton.work.g);
    const double scale =
        fmax(pl_problem_force_scale(s->problem), s->problem->noise / s->options.force_tolerance);
    if (pl_problem_touches(s->problem) ||
        pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r) < goal.force_tolerance * scale) {
        return;
    }

    memcpy(s->newton.work.x_start, x, path_bytes(s));
    goal.start = NEWTON_LEAVE;
    const bool found = pl_newton_minimise(&s->newton, x, &goal, &report, err) == NEWTON_DONE &&
                       pl_problem_admissible(s->problem, x);
    pl_log(1, "  relaxed at the start of the path: %s", found ? "equilibrium found" : "no equilibrium found");
    if (!found) {
        memcpy(x, s->newton.work.x_start, path_bytes(s));
    }
}

void statics_path(pl_statics *s, const pl_state *state, const double *command, load_path *path, double *x,
                  pl_newton_report *found, pl_error *err)
{
    *path = (load_path){.left_at = -1, .arc_at = -1};
    memcpy(x, state->x, path_bytes(s));
    pl_problem_begin_step(s->problem, &(pl_step){.from = state, .command = command, .load = 1}, err);
    path_relax(s, x, err);
    memcpy(s->x_stable, x, path_bytes(s));
    path->friction = path_pairs(s) ? pl_problem_retrace(s->problem, PL_RETRACE_FORCES, x) : 0;
    statics_continue(s, path, x, found, err);
}

// The increment is accepted: x is an equilibrium at its end. False: terms cannot follow.
static bool path_accept(pl_statics *s, load_path *path, const double *x, pl_error *err)
{
    memcpy(s->x_begin, path->left > 0 ? s->x_end : x, path_bytes(s));
    path->at = path_end(path);
    path->length *= path_factor(s, fmax(path->error, DBL_EPSILON));
    path->failed_error = 0;

    // at the end contacts are updated with a look at how far they are off: solve_touch
    if ((path->at < 1 || !pl_problem_touches(s->problem)) &&
        pl_problem_accept(s->problem, x, PL_ACCEPT_INCREMENT, err) != PL_OK) {
        return false;
    }

    s->newton.watch.fraction = path->at;
    pl_progress_step(&s->newton.watch.progress, path->at, s->newton.watch.what);

    return true;
}

void statics_continue(pl_statics *s, load_path *path, double *x, pl_newton_report *found, pl_error *err)
{
    while (path->at < 1) {
        // where the increment begins
        memcpy(s->newton.work.x_start, x, path_bytes(s));
        if (path->left == 0) {
            memcpy(s->x_begin, x, path_bytes(s));
        }
        if (path->pair_count == 0) {
            pl_problem_retrace(s->problem, PL_RETRACE_MARK, x);
            path->pair_at = path->at;
            for (int i = 0; i < s->problem->row_count; ++i) {
                path->pair_active[i] = s->problem->row[i].active;
            }
        }
        pl_problem_mark(s->problem, &s->begin);
        if (s->newton.iterations >= s->options.iteration_limit ||
            s->increments >= s->options.increment_limit || !pl_newton_continue(&s->newton) ||
            !path_prepare(s, path, x, err)) {
            break;
        }

        // predictor and corrector; a path that goes on as a saddle is left along its mode
        path->last = path_correct(s, path, x, found, err);
        if (path->last == STEP_BRANCH && path_buckles(s, path, x, found, err)) {
            path->last = STEP_ACCEPTED;
        }
        if (path->last == STEP_ACCEPTED) {
            if (!path_retrace(s, path, x, err)) {
                continue;
            }
            if (!path_accept(s, path, x, err)) {
                break;
            }
            continue;
        }

        // back, and a shorter one; where that is of no use a critical point is near
        path_revert(s, path, x, err);
        if (path->last == STEP_STOPPED) {
            break;
        }
        if (!path_shorten(s, path)) {
            if (path_follow_arc(s, path, x, err)) {
                path->last = STEP_ACCEPTED;
                path->failed_error = 0;
            } else if (path->critical.found || path->length < s->path.least) {
                break;
            }
        }
    }
}
