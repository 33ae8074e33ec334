// Load stepping: from the state's commands to the new ones in as few increments as the shape allows.
#include "base/threads.h"
#include "statics/statics_impl.h"

static size_t solve_bytes(const pl_statics *s)
{
    return pl_problem_full_bytes(s->problem);
}

pl_newton_goal statics_tolerance(const pl_statics *s, bool last)
{
    const double size = s->problem->size;
    const double loose = pl_problem_touches(s->problem) || pl_problem_lags(s->problem) ? 1 : s->loose;
    const int limit = STATICS_ROUNDS, left = s->options.iteration_limit - s->newton.iterations;
    return (pl_newton_goal){
        .force_tolerance =
            last ? loose * s->options.force_tolerance : fmax(s->options.force_tolerance, STATICS_FORCE),
        .length_tolerance = last ? loose * s->options.length_tolerance
                                 : fmax(s->options.length_tolerance, STATICS_LENGTH * size),
        .limit = s->finishing || left > limit ? limit : left,
    };
}

void pl_statics_set_tolerance_factor(pl_statics *s, double factor)
{
    s->loose = fmin(fmax(factor, 1), 1000);
}

// The direction from x at the full load, with the factor at hand turned to x or with a new one; its largest
// rotation and strain. False: there is none.
static bool solve_warm_direction(pl_statics *s, const double *x, bool renew, double *energy, double *turn,
                                 double *strain, pl_error *err)
{
    double gap[PL_ROWS_MAX];
    if (renew) {
        if (pl_problem_refactor(s->problem, &(pl_linearization){.x = x}, err) != PL_OK ||
            !pl_problem_factor_serves(s->problem)) {
            return false;
        }
        pl_newton_forget(&s->newton);
    } else if (memcmp(s->problem->linear.x, x, solve_bytes(s)) != 0) {
        pl_newton_turn(&s->newton, x);
    }

    *energy = pl_problem_evaluate(s->problem, x, s->newton.work.g);
    if (isinf(*energy)) {
        return false;
    }
    pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r);
    pl_problem_gaps(s->problem, gap);
    pl_newton_direction(&s->newton, s->newton.work.r, gap, s->newton.work.d);
    *turn = pl_newton_step_rotation(&s->newton, x, s->newton.work.d, strain);
    pl_log(1, "  warm: turns %.3f rad, strains %.3f", *turn, *strain);

    return true;
}

// A small change with a factor at hand: straight at the full load with the old factor turned, no new
// factorisation.
static bool solve_warm(pl_statics *s, const pl_state *state, const double *command, double *x,
                       pl_newton_report *found, pl_error *err)
{
    if (!pl_problem_factor_serves(s->problem)) {
        return false;
    }

    double energy = 0, turn, strain = 0;
    statics_set_load(s, 1, x);
    const double *expected = statics_expected(s, command);
    bool predicted = false;
    if (expected) {
        memcpy(x, expected, solve_bytes(s));
    } else if (s->options.extrapolate && s->history.count > 1 &&
               memcmp(s->history.x[0], state->x, solve_bytes(s)) == 0 &&
               statics_predict(s, command, s->newton.work.x_best)) { // solved states before point to the next
        pl_newton_fit_rigid(&s->newton, s->newton.work.x_best);
        pl_problem_clamp(s->problem, s->problem->load, s->newton.work.x_best);
        memcpy(x, s->newton.work.x_best, solve_bytes(s));
        predicted = true;
    }

    const int64_t version = s->problem->linear.version;
    bool renew = !expected && statics_moves_renew(s, predicted);
    if (predicted && renew && isinf(pl_problem_evaluate(s->problem, x, NULL))) {
        memcpy(x, state->x, solve_bytes(s));
        predicted = false;
        renew = statics_moves_renew(s, predicted);
    }

    // a prediction that inverts elements is none
    bool directed = solve_warm_direction(s, x, renew, &energy, &turn, &strain, err);
    if (!directed && predicted && isinf(energy)) {
        memcpy(x, state->x, solve_bytes(s));
        predicted = false;
        directed = solve_warm_direction(s, x, false, &energy, &turn, &strain, err);
    }
    if (!directed) {
        return false;
    }
    if (fmax(turn, strain) > STATICS_SMALL) {
        return false;
    }

    pl_newton_goal goal = statics_tolerance(s, true);
    goal.start = NEWTON_DIRECTED;
    goal.energy = energy;
    memcpy(s->newton.work.x_start, x, solve_bytes(s));
    const pl_newton_end end = pl_newton_minimise(&s->newton, x, &goal, found, err);
    s->increments++;
    if (!expected) {
        statics_moves_note(s, version, s->problem->linear.solves, renew, predicted);
    }

    return end == NEWTON_DONE && pl_problem_admissible(s->problem, x);
}

typedef struct stretch_loop {
    const pl_elements *elements;
    const double *x;
    _Atomic double largest;
} stretch_loop;

// The largest eigenvalue of a symmetric matrix with mean m of the diagonal and deviator D is at most
// m + 2 sqrt(D : D / 6); with a little more than rounding.
static double solve_eigenvalue_bound(const double C[9])
{
    const double m = (C[0] + C[4] + C[8]) / 3;
    double square = 0;
    for (int i = 0; i < 9; ++i) {
        const double d = C[i] - (i % 4 == 0 ? m : 0);
        square += d * d;
    }

    return (1 + 1e-12) * (m + 2 * sqrt(square / 6));
}

static void solve_stretches(void *context, int64_t from, int64_t to)
{
    stretch_loop *w = context;
    double largest = w->largest; // so far: most points are seen not to exceed it

    for (int64_t b = from; b < to; ++b) {
        const pl_block *block = &w->elements->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                double F[9], C[9], value[3];
                pl_block_gradient(block, l, q, w->x, F);
                for (int i = 0; i < 9; ++i) {
                    C[i] = F[i / 3] * F[i % 3] + F[3 + i / 3] * F[3 + i % 3] + F[6 + i / 3] * F[6 + i % 3];
                }
                if (solve_eigenvalue_bound(C) > largest) {
                    pl_eigen3(C, value, NULL);
                    largest = fmax(largest, value[2]);
                }
            }
        }
    }

    pl_atomic_max(&w->largest, largest);
}

// Largest principal stretch over all quadrature points.
static double solve_max_stretch(pl_statics *s, const double *x)
{
    stretch_loop w = {.elements = s->problem->elements, .x = x};
    pl_loop(w.elements->block_count, 8, solve_stretches, &w);
    return sqrt(w.largest);
}

// y of the fixed point y = G(y) from the last two values: the combination of G(y_k) and G(y_k-1) whose
// residual f = G(y) - y, taken as linear, is smallest (Anderson's of depth 1). It converges where one
// direction of the iteration grows. `before` has y_k-1 and f_k-1 (3 per vertex each) and becomes those of
// y_k.
static void solve_mix(const pl_statics *s, bool first, const double *found, double *y, double *before)
{
    const int64_t n = 3 * (int64_t)s->problem->mesh.vertex_count;
    double *y_last = before, *f_last = before + n, along = 0, square = 0;

    for (int64_t i = 0; i < n && !first; ++i) {
        const double f = found[i] - y[i], change = f - f_last[i];
        along += f * change;
        square += change * change;
    }

    const double share = square > 0 ? along / square : 0;
    for (int64_t i = 0; i < n; ++i) {
        const double f = found[i] - y[i], last = y_last[i] + f_last[i], now = y[i];
        y[i] = found[i] - (share != 0 ? share * (found[i] - last) : 0);
        y_last[i] = now;
        f_last[i] = f;
    }
}

static double solve_distance(const pl_statics *s, const double *a, const double *b)
{
    double most = 0;
    for (int64_t i = 0; i < 3 * (int64_t)s->problem->mesh.vertex_count; ++i) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most;
}

// Friction of cables: equilibrium after equilibrium, each with the forces of a shape y that is corrected by
// the equilibrium found, until what later rounds would move, a geometric series, is below the tolerance. With
// contacts y is the equilibrium itself: they are brought up to date with it.
static pl_newton_end solve_settle(pl_statics *s, double *x, pl_newton_report *found, pl_error *err)
{
    const pl_newton_goal goal = statics_tolerance(s, true);
    const bool plain = pl_problem_touches(s->problem);
    const size_t bytes = solve_bytes(s);
    double *y = PL_NEW_ARRAY(double, 3 * (int64_t)(bytes / sizeof *x)), *before = y + bytes / sizeof *x,
           last = INFINITY;
    pl_newton_end end = NEWTON_LIMIT;

    if (!y) {
        return NEWTON_NO_DESCENT;
    }
    memcpy(y, x, bytes);
    for (int round = 0; round < STATICS_ROUNDS; ++round) {
        if (pl_problem_accept(s->problem, y, PL_ACCEPT_INCREMENT, err) != PL_OK) {
            end = NEWTON_NO_DESCENT;
            break;
        }
        pl_problem_evaluate(s->problem, x, s->newton.work.g);
        found->residual = pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r);
        found->relative = found->residual / pl_problem_force_scale(s->problem);
        const bool balanced = found->relative <= s->options.force_tolerance;
        end = pl_newton_minimise(&s->newton, x, &goal, found, err);
        if (end != NEWTON_DONE) {
            break;
        }
        const double off = solve_distance(s, x, y), rate = off / last,
                     rest = off == 0   ? 0
                            : rate < 1 ? rate / (1 - rate) * off
                                       : INFINITY;
        pl_log(1, "  lagging forces: round %d, %.2e mm apart", round, off);
        if (balanced && rest <= goal.length_tolerance) {
            break;
        }
        last = off;
        end = NEWTON_LIMIT;
        if (plain) {
            memcpy(y, x, bytes);
        } else {
            solve_mix(s, round == 0, x, y, before);
        }
    }

    pl_free(y);

    return end;
}

// Back to the usual stiffness of contacts, with the same pressures: what the shares of feet change is found.
static pl_newton_end solve_soften(pl_statics *s, double *x, pl_newton_report *found, pl_error *err)
{
    const pl_newton_goal goal = statics_tolerance(s, true);

    pl_problem_soften(s->problem, x);
    pl_problem_evaluate(s->problem, x, s->newton.work.g);
    found->residual = pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r);
    found->relative = found->residual / pl_problem_force_scale(s->problem);

    return found->relative > s->options.force_tolerance ? pl_newton_minimise(&s->newton, x, &goal, found, err)
                                                        : NEWTON_DONE;
}

// Forces between bodies are reported one by one: the residuals of all nodes add up in them, so the balance is
// made better than that of a single body, with the factor at hand; where this fails the equilibrium stays as
// it is.
static void solve_balance(pl_statics *s, double *x, pl_newton_report *found, pl_error *err)
{
    pl_newton_goal finer = statics_tolerance(s, true);
    finer.force_tolerance *= PL_CONTACT_LIMIT;
    finer.limit = STATICS_SUPERLINEAR;
    memcpy(s->newton.work.x_start, x, solve_bytes(s));
    pl_newton_report better;
    const pl_newton_end end = pl_newton_minimise(&s->newton, x, &finer, &better, err);
    if ((end == NEWTON_DONE || better.residual < found->residual) && pl_problem_admissible(s->problem, x)) {
        *found = better;
        return;
    }

    memcpy(x, s->newton.work.x_start, solve_bytes(s));
    pl_problem_evaluate(s->problem, x, s->newton.work.g);
    found->residual = pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r);
    found->relative = found->residual / pl_problem_force_scale(s->problem);
}

// Limits of friction follow the pressures, and forces on open rims the shape, from x, an equilibrium with
// both as they are. Far from the equilibrium sought, where points are about to take hold, that iteration has
// no potential to lead it: where it finds nothing the equilibrium with the limits of x, which has one, is its
// next start.
pl_newton_end statics_friction(pl_statics *s, double *x, bool last, pl_newton_report *found, pl_error *err)
{
    const pl_newton_goal goal = statics_tolerance(s, last);
    pl_newton_end end = pl_newton_friction(&s->newton, x, &goal, found, err);

    for (int start = 1; start < STATICS_STARTS && end != NEWTON_DONE && end != NEWTON_STOPPED; ++start) {
        pl_problem_take_limits(s->problem, x);
        end = pl_newton_minimise(&s->newton, x, &goal, found, err);
        if (end != NEWTON_DONE) {
            break;
        }
        end = pl_newton_friction(&s->newton, x, &goal, found, err);
    }

    return end;
}

// One equilibrium with contacts, from newton.work.x_start.
static pl_newton_end solve_contacts(pl_statics *s, double *x, pl_newton_report *found, pl_error *err)
{
    pl_newton_goal goal = statics_tolerance(s, true);

    goal.bounded = true;
    memcpy(x, s->newton.work.x_start, solve_bytes(s));
    const pl_newton_end end = pl_newton_minimise(&s->newton, x, &goal, found, err);
    if (end == NEWTON_STOPPED || end == NEWTON_BRANCH || !pl_problem_follow(s->problem, PL_FOLLOW_KEPT)) {
        return end;
    }
    if (end != NEWTON_DONE) {
        memcpy(x, s->newton.work.x_start, solve_bytes(s));
    }

    return statics_friction(s, x, true, found, err);
}

bool statics_balanced(pl_statics *s, const double *x, bool last, pl_newton_report *found)
{
    if (pl_problem_lags(s->problem) && pl_problem_follow(s->problem, PL_FOLLOW_SHAPE)) {
        pl_problem_evaluate(s->problem, x, NULL);
        pl_problem_follow(s->problem, PL_FOLLOW_KEPT);
    }

    pl_problem_evaluate(s->problem, x, s->newton.work.g);
    found->residual = pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r);
    found->relative = found->residual / pl_problem_force_scale(s->problem);

    return found->relative <= statics_tolerance(s, last).force_tolerance;
}

// Contacts: equilibrium after equilibrium at the same load, each with the pressures of the one before as
// multipliers, until gaps and pressures are complementary.
static pl_newton_end solve_touch(pl_statics *s, double *x, pl_newton_report *found, pl_solve_report *report,
                                 pl_error *err)
{
    double hard_most = STATICS_HARD_MOST;

    for (int round = 0; round < STATICS_ROUNDS; ++round) {
        if (!statics_balanced(s, x, true, found)) {
            memcpy(s->newton.work.x_start, x, solve_bytes(s));
            pl_problem_mark(s->problem, &s->begin);
            pl_newton_end end = solve_contacts(s, x, found, err);
            // too hard: with the usual stiffness the multipliers change much, but a passable one
            while (end != NEWTON_DONE && end != NEWTON_STOPPED && s->problem->contact_hard > 1) {
                hard_most = fmax(1, s->problem->contact_hard / STATICS_HARD_GROWTH);
                s->problem->contact_hard = hard_most;
                pl_log(1, "  contact: too hard, %g times the usual stiffness", hard_most);
                pl_problem_revert(s->problem, &s->begin);
                end = solve_contacts(s, x, found, err);
            }
            // a free body that rolls or slips away is followed in shorter steps
            while ((end == NEWTON_DONE || end == NEWTON_BRANCH ? pl_problem_strays(s->problem, x)
                                                               : end != NEWTON_STOPPED) &&
                   s->newton.iterations < s->options.iteration_limit && pl_problem_tighten(s->problem)) {
                pl_log(1, "  contact: %s, free bodies held tighter",
                       end == NEWTON_DONE || end == NEWTON_BRANCH ? "too far" : "no equilibrium");
                pl_problem_revert(s->problem, &s->begin);
                s->problem->linear.has_factor = false;
                end = solve_contacts(s, x, found, err);
            }
            if (end != NEWTON_DONE) {
                return end;
            }
        }
        double penetration;
        const double complementarity = pl_problem_complementarity_error(s->problem, x, &penetration);
        pl_log(1, "  contact: update %d, penetration %.2e of the edge, complementarity %.2e of the aim",
               round, penetration, complementarity);
        report->contact_updates = round;
        if (round < PL_CONTACT_HISTORY) {
            report->contact_penetration[round] = penetration;
        }
        if (complementarity <= 1) {
            const bool hard = s->problem->contact_hard > 1;
            const pl_newton_end end = solve_soften(s, x, found, err);
            if (end != NEWTON_DONE) {
                return end;
            }
            if (!hard || pl_problem_complementarity_error(s->problem, x, &penetration) <= 1) {
                if (!statics_balanced(s, x, true, found)) {
                    continue;
                }
                solve_balance(s, x, found, err);
                return end;
            }
            hard_most = 1; // the shares of feet have changed: the rest with the usual stiffness
        }
        if (s->problem->loose_lost) {
            return NEWTON_NO_DESCENT;
        }
        if (pl_problem_accept(s->problem, x, PL_ACCEPT_UPDATE, err) != PL_OK) {
            return NEWTON_NO_DESCENT;
        }
        if (!s->problem->releasing && s->problem->gaps_off > 1) {
            s->problem->contact_hard = fmin(hard_most, STATICS_HARD_GROWTH * s->problem->contact_hard);
        }
    }

    return NEWTON_LIMIT;
}

// Forces that lagged behind the shape on the path. Contacts take those that can follow into each of their own
// equilibria.
static bool solve_follow(pl_statics *s, double *x, pl_newton_report *found, pl_error *err)
{
    if (pl_problem_settles(s->problem)) {
        return solve_settle(s, x, found, err) == NEWTON_DONE;
    }
    return !pl_problem_lags(s->problem) || pl_problem_touches(s->problem) ||
           statics_friction(s, x, true, found, err) == NEWTON_DONE;
}

// Leaves a true equilibrium at the load that was reached, whatever ended the path; after a request to stop or
// a time limit only where a moment is enough for it. False: there is none.
static bool solve_finish(pl_statics *s, double *at, double *x, pl_newton_report *found, pl_error *err)
{
    const bool hurried = s->newton.watch.stopped || s->newton.watch.late;

    // a factorisation that takes longer is interrupted by the watch
    if (hurried) {
        s->newton.watch = (pl_watch){.deadline = pl_seconds() + STATICS_FINISH};
    }

    s->finishing = true;
    pl_problem_set(s->problem, *at);
    const pl_newton_goal goal = statics_tolerance(s, true);
    memcpy(s->newton.work.x_start, x, solve_bytes(s));
    bool done = pl_newton_minimise(&s->newton, x, &goal, found, err) == NEWTON_DONE &&
                pl_problem_admissible(s->problem, x);

    // the loosely converged state of the last increment may lie beyond a limit point, where there is no
    // equilibrium: a little less of the load, with a new factor
    for (double part = s->path.least; part < s->path.beyond && !hurried && !done && *at > 0;
         part *= s->path.growth) {
        const double back = *at * (1 - part);
        memcpy(x, s->newton.work.x_start, solve_bytes(s));
        statics_set_load(s, back, x);
        done = pl_problem_refactor(s->problem, &(pl_linearization){.x = x}, err) == PL_OK &&
               pl_newton_minimise(&s->newton, x, &goal, found, err) == NEWTON_DONE &&
               pl_problem_admissible(s->problem, x);
        *at = done ? back : *at;
    }

    s->finishing = false;

    return done;
}

// With the factor of the proof, made at x, the next step tells the error truly, also along soft modes that an
// older factor misjudges: Newton's steps until it is below the tolerance.
static void solve_polish(pl_statics *s, double *x, pl_newton_report *found)
{
    const pl_newton_goal goal = statics_tolerance(s, true);
    pl_problem *p = s->problem;
    double gap[PL_ROWS_MAX];
    double last = INFINITY;

    for (;;) {
        pl_problem_evaluate(p, x, s->newton.work.g);
        const double residual = pl_problem_residual(p, s->newton.work.g, s->newton.work.r);
        pl_problem_gaps(p, gap);
        pl_newton_direction(&s->newton, s->newton.work.r, gap, s->newton.work.d);
        const double step = pl_problem_largest(p, s->newton.work.d, false);
        if (step <= goal.length_tolerance || !(step < last)) {
            found->step = step;
            break;
        }
        last = step;

        // taken where it does not lead out of balance
        pl_problem_move(p, x, s->newton.work.d, 1, s->newton.work.x_best);
        const bool possible = pl_problem_restore(p, s->newton.work.x_best, NEWTON_GAP) &&
                              isfinite(pl_problem_evaluate(p, s->newton.work.x_best, s->newton.work.g_new));
        const double after =
            possible ? pl_problem_residual(p, s->newton.work.g_new, s->newton.work.y) : INFINITY;
        const double allowed = fmax(residual, goal.force_tolerance * pl_problem_force_scale(p));
        if (!(after <= allowed) || !pl_problem_admissible(p, s->newton.work.x_best)) {
            break;
        }
        memcpy(x, s->newton.work.x_best, solve_bytes(s));
        found->step = step;
    }

    pl_problem_evaluate(p, x, s->newton.work.g);
    found->residual = pl_problem_residual(p, s->newton.work.g, s->newton.work.r);
    found->relative = found->residual / pl_problem_force_scale(p);
}

// The saddle x at the full load could not be left: from a little beyond the buckling load along the stable
// branch instead. x stays where that fails.
static pl_status solve_buckled(pl_statics *s, double *x, load_path *path, pl_newton_report *found,
                               int *negative, int *left, pl_error *err)
{
    const size_t mark = pl_arena_begin(&s->problem->scratch);
    double *saddle = pl_problem_take_full(s->problem);

    memcpy(saddle, x, solve_bytes(s));
    int other = -1;
    pl_newton_report there = {0};
    if (statics_branch_off(s, path, saddle, 1, x, err)) {
        statics_continue(s, path, x, &there, err);
        if (path->at >= 1 && statics_prove(s, x, &other, err) == PL_OK && other == 0) {
            *negative = 0;
            *left = 1;
            *found = there;
        }
    }

    if (*negative > 0) {
        path->at = 1;
        memcpy(x, saddle, solve_bytes(s));
        pl_problem_set(s->problem, 1);
        pl_problem_evaluate(s->problem, x, s->newton.work.g);
        pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r);
    }

    pl_arena_end(&s->problem->scratch, mark);

    return PL_OK;
}

// An equilibrium counts as solved where it is stable; `moved`: it was found by a small move. An unstable one
// is left along its mode.
static void solve_stability(pl_statics *s, double *x, bool moved, load_path *path, pl_newton_report *found,
                            pl_solve_report *report, pl_error *err)
{
    int *negative = &report->negative_count, left = 0;
    pl_status status = moved ? statics_prove_move(s, x, negative, err) : statics_prove(s, x, negative, err);

    if (status == PL_OK && *negative > 0 && statics_neutral(s)) {
        *negative = -1;
    }

    if (status == PL_OK && *negative > 0) {
        if (!moved && !pl_problem_touches(s->problem)) {
            statics_note_buckling(s, path, x, 1, err);
            status = statics_prove(s, x, negative, err);
        }
        const pl_newton_goal goal = statics_tolerance(s, true);
        if (status == PL_OK && *negative > 0) {
            status = statics_stabilise(s, x, &goal, found, negative, &left, err);
        }
        if (status == PL_OK && *negative > 0 && !moved && !pl_problem_touches(s->problem) &&
            !pl_problem_lags(s->problem)) {
            status = solve_buckled(s, x, path, found, negative, &left, err);
        }
        // contacts close and open along the mode: they come to rest at the new shape
        if (left > 0 && *negative == 0 && pl_problem_touches(s->problem)) {
            *negative = solve_touch(s, x, found, report, err) == NEWTON_DONE ? 0 : -1;
            status = *negative == 0 ? statics_prove(s, x, negative, err) : PL_FAILED;
        } else if (left > 0 && *negative == 0 && pl_problem_lags(s->problem)) { // forces of the shape left
            *negative = solve_follow(s, x, found, err) ? 0 : -1;
            status = *negative == 0 ? statics_prove(s, x, negative, err) : PL_FAILED;
        }
    }

    if (status == PL_OK && *negative == 0 && !moved && !pl_problem_touches(s->problem) &&
        !pl_problem_lags(s->problem) && !s->newton.watch.stopped && !s->newton.watch.late) {
        solve_polish(s, x, found);
    }

    if (left > 0 || path->snapped > 0 || path->buckled > 0) {
        s->history.count = 0; // shapes before are on another branch and predict none of this one
    }

    if (s->newton.watch.stopped) {
        statics_say(report, PL_STOPPED, "interrupted before the stability of the equilibrium was known");
    } else if (s->newton.watch.late) {
        statics_say(report, PL_ITERATION_LIMIT,
                    "the time limit of %g s was reached before the stability of the equilibrium was known",
                    s->options.time_limit);
    } else if (*negative > 0) {
        statics_say(report, PL_UNSTABLE,
                    "in balance but unstable: the tangent has %d negative eigenvalue%s, and the body leaves "
                    "this shape at the slightest disturbance",
                    *negative, *negative == 1 ? "" : "s");
    } else if (status != PL_OK || (*negative < 0 && s->robot->contact.free_count == 0)) {
        statics_say(
            report, PL_UNCERTAIN,
            "in balance, but the tangent is singular there: the body can move without any force, or is "
            "about to leave this shape");
    } else if (path->snapped > 0) {
        statics_say(
            report, PL_SOLVED,
            "equilibrium found; the body snapped at %.2f %% of the load, a limit point, and landed here",
            100 * path->snapped);
    } else if (left > 0 || path->buckled > 0) {
        statics_say(report, PL_SOLVED,
                    "equilibrium found; the body buckles at %s%.2f %% of the load, where the shape that the "
                    "path leads "
                    "to becomes unstable",
                    path->buckled_known ? "" : "or below ", 100 * (path->buckled > 0 ? path->buckled : 1));
    }
}

// No equilibrium on the path: back to the state it began with, which meets what it met then.
static void solve_return(pl_statics *s, const pl_state *state, const double *command, double *x,
                         pl_newton_report *found, pl_error *err)
{
    memcpy(x, state->x, solve_bytes(s));
    pl_problem_begin_step(s->problem, &(pl_step){.from = state, .command = command, .load = 1}, err);
    pl_problem_set(s->problem, 0);
    pl_problem_evaluate(s->problem, x, s->newton.work.g);
    found->residual = pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r);
    found->relative = found->residual / pl_problem_force_scale(s->problem);
    found->step = 0;
}

// What the report says about the state x at the loads set.
static void solve_measure(pl_statics *s, const double *x, const pl_newton_report *found,
                          pl_solve_report *report)
{
    report->iterations = s->newton.iterations;
    report->factorizations = s->problem->linear.factorizations;
    report->solves = s->problem->linear.solves;
    report->increments = s->increments;
    report->residual = found->residual;
    report->residual_relative = found->relative;
    report->step = found->step;

    // the sign comes from the proven bound, the value from the quadrature points (a curved rest shape has no
    // unit J)
    const double bound = pl_elements_bound(s->problem->elements, x, NULL, NULL);
    report->energy = pl_problem_elastic(s->problem, x, NULL);
    report->min_J = bound > 0 ? s->problem->min_J : bound;
    report->guarded = pl_problem_guarded(s->problem, x);
    report->max_stretch = solve_max_stretch(s, x);
    report->constraint_error = pl_problem_constraint_error(s->problem, x);
    report->seconds = pl_seconds() - s->started;
}

// A path that ended at the equilibrium x before the full load: is there a critical load just beyond? After a
// request to stop only what is known at once.
static void solve_critical(pl_statics *s, double at, bool hurried, double *x, pl_solve_report *report,
                           pl_error *err)
{
    if (report->no_state) {
        return;
    }
    if (hurried) {
        report->negative_count = statics_known_stable(s, x) ? 0 : -1;
    } else if (at > 0 && !pl_problem_touches(s->problem) && !pl_problem_lags(s->problem)) {
        const pl_newton_goal tolerance = statics_tolerance(s, true);
        const statics_critical critical =
            statics_find_critical(s, at, &tolerance, x, &report->negative_count, err);
        statics_explain_critical(s, &critical, report);
        double *load = critical.bifurcation ? &report->buckling_load : &report->limit_load;
        *load = critical.found && !(*load > 0) ? critical.load : *load;
    }
}

// From the state to the given commands: the equilibrium x there, or the last one on the path
// (report->no_state: none). Returns the fraction of the path that x belongs to.
static double solve_path(pl_statics *s, const pl_state *state, const double *command, double *x,
                         pl_newton_report *found, pl_solve_report *report, pl_error *err)
{
    load_path path = {0};
    const bool moved = solve_warm(s, state, command, x, found, err);

    if (moved) {
        path.at = 1;
    } else {
        statics_path(s, state, command, &path, x, found, err);
        pl_newton_forget(&s->newton); // pairs of long steps mislead the first small move
    }

    if (path.at < 1) {
        const bool hurried = s->newton.watch.stopped || s->newton.watch.late;
        statics_explain(s, &path, report);
        report->no_state = !solve_finish(s, &path.at, x, found, err);
        if (report->outcome == PL_STOPPED && !report->no_state) {
            statics_add(report, "the state is the last equilibrium found");
        }

        report->limit_load = path.snapped > 0 ? path.snapped : path.critical.load;
        report->buckling_load = path.buckled_known ? path.buckled : 0;
        if (path.critical.found && !report->no_state) {
            report->negative_count = 0;
            statics_explain_critical(s, &path.critical, report);
        } else {
            solve_critical(s, path.at, hurried, x, report, err);
        }
        return path.at;
    }

    // at the full load: forces that lagged behind the shape, contacts, prescribed values
    if (!solve_follow(s, x, found, err)) {
        statics_say(report, s->newton.watch.stopped ? PL_STOPPED : PL_ITERATION_LIMIT,
                    "the friction of a cable or the pressure on an open surface does not converge");
        report->no_state = true;
    } else if (pl_problem_touches(s->problem) && solve_touch(s, x, found, report, err) != NEWTON_DONE) {
        statics_explain_touch(s, report);
        report->no_state = true;
    } else if (!(pl_problem_constraint_error(s->problem, x) <= NEWTON_GAP)) {
        statics_say(report, PL_INFEASIBLE,
                    "the error of a prescribed length or volume is %.1e of its rest value",
                    pl_problem_constraint_error(s->problem, x));
        report->no_state = true;
    } else {
        statics_say(report, PL_SOLVED, "equilibrium found");
        solve_stability(s, x, moved, &path, found, report, err);
        report->limit_load = path.snapped;
        report->buckling_load = path.buckled_known ? path.buckled : 0;
    }

    return path.at;
}

void pl_statics_hold_history(pl_statics *s, bool hold)
{
    s->tension_held = hold;
    s->tension_known = false;
}

// The tensions of cables with friction where a search began.
static pl_status solve_history(pl_statics *s, pl_state *state, pl_error *err)
{
    pl_state_block *own = &state->history[PL_STATE_TENSION];
    if (!s->tension_held || own->count == 0) {
        return PL_OK;
    }

    if (!s->tension) {
        s->tension = PL_NEW_ARRAY(double, own->count);
        if (!s->tension) {
            return pl_fail_memory(err, "statics: tensions");
        }
    }

    memcpy(s->tension_known ? own->value : s->tension, s->tension_known ? s->tension : own->value,
           (size_t)own->count * sizeof *own->value);
    s->tension_known = true;

    return PL_OK;
}

pl_status pl_statics_solve(pl_statics *s, pl_state *state, const double *command, pl_solve_report *report,
                           pl_error *err)
{
    pl_statics_relax(s);
    return statics_solve(s, state, command, report, err);
}

pl_status statics_solve(pl_statics *s, pl_state *state, const double *command, pl_solve_report *report,
                        pl_error *err)
{
    if (state->robot_hash != s->robot->hash || state->vertex_count != s->problem->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }

    pl_status possible = pl_problem_check(s->problem, command, err);
    possible = possible == PL_OK ? solve_history(s, state, err) : possible;
    if (possible != PL_OK) {
        return possible;
    }

    *report = (pl_solve_report){.negative_count = -1};
    s->started = pl_seconds();
    s->mode.known = false;
    s->newton.iterations = s->increments = s->problem->linear.factorizations = s->problem->linear.solves = 0;
    pl_newton_watch(&s->newton, &s->options.progress, "solving", s->options.time_limit);
    s->newton.watch.fraction = 0;
    double *x = s->x;
    memcpy(x, state->x, solve_bytes(s));
    const pl_status begun =
        pl_problem_begin_step(s->problem, &(pl_step){.from = state, .command = command, .load = 1}, err);
    if (begun != PL_OK) {
        return begun;
    }

    pl_error local = {0};
    pl_newton_report found = {0};
    report->load_reached = solve_path(s, state, command, x, &found, report, &local);
    if (local.status == PL_NO_MEMORY) {
        return pl_fail(err, PL_NO_MEMORY, "%s", local.text);
    }

    // a shape that overlaps an obstacle is no equilibrium of the contact problem
    if (!report->no_state && !s->newton.watch.stopped && statics_examine_contact(s, x, report)) {
        report->no_state = true;
    }
    if (report->no_state) {
        report->load_reached = 0;
        statics_add(report, "no equilibrium is returned, the state is that of the start");
        solve_return(s, state, command, x, &found, &local);
    }

    solve_measure(s, x, &found, report);
    if (!report->no_state) {
        pl_problem_store(s->problem, command, report->load_reached, x, state);
        pl_state_rest(state);
    }
    if (report->outcome == PL_SOLVED) {
        statics_remember(s, state);
    }

    return PL_OK;
}
