// Arc length: equilibria (x, l) along a path on which the load l may rise and fall.
//
// A point A of the path has the tangent t = dx/ds of length 1, with dl/ds. The next point B, ds farther,
// solves
//   G(x, l) = 0,   t . (x - x_A) = ds
// by Newton's method: with d_r = -K^-1 G and d_l = -K^-1 dG/dl (both with the rows of constraints),
//   dl = (ds - t . (x - x_A) - t . d_r) / (t . d_l),   dx = d_r + dl d_l.
// At a limit point K is singular but this system is not. The new tangent is d_l / |d_l|, in the direction of
// the old one, with dl/ds = +- 1 / |d_l|; a change of the sign of dl/ds between A and B is a limit point,
// whose load is the extremum of the cubic through both ends.
#include "statics/statics_impl.h"

#define ARC_CUT_MOST 0.01 // of the length asked for

static double arc_dot(const pl_problem *p, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        const int32_t dof = p->unknowns.dof[i];
        sum += dof >= 0 ? a[dof] * b[dof] : 0;
    }
    return sum;
}

// t . (x - x_A), over the vertices that move freely
static double arc_progress(const pl_problem *p, const double *t, const double *x, const double *x_A)
{
    double sum = 0;
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        const int32_t dof = p->unknowns.dof[i];
        sum += dof >= 0 ? t[dof] * (x[i] - x_A[i]) : 0;
    }
    return sum;
}

bool statics_arc_possible(pl_statics *s)
{
    bool possible = !pl_problem_touches(s->problem) && !pl_problem_lags(s->problem);
    for (int k = 0; k < s->robot->support_count; ++k) {
        const pl_support *support = &s->robot->support[k];
        possible = possible && pl_norm3(support->rotate) == 0 && pl_norm3(support->move) == 0;
    }

    for (int i = 0; i < s->problem->row_count; ++i) { // cables may become slack or taut
        possible = possible && !(s->problem->row[i].wanted && s->problem->row[i].inequality);
    }

    return possible;
}

// Sets the load l and moves driven clamps there.
static void arc_place(pl_problem *p, double l, double *x)
{
    pl_problem_set(p, l);
    pl_problem_clamp(p, p->load, x);
}

// Factor at (x, l), d_r and d_l; the relative residual. INFINITY: not possible.
static double arc_directions(pl_statics *s, double *x, double l, double *d_r, double *d_l, pl_error *err)
{
    pl_problem *p = s->problem;
    double gap[PL_ROWS_MAX], there[PL_ROWS_MAX];

    arc_place(p, l, x);
    if (pl_problem_refactor(p, &(pl_linearization){.x = x, .indefinite = PL_AS_IT_IS}, err) != PL_OK ||
        !isfinite(pl_problem_evaluate(p, x, s->newton.work.g))) {
        return INFINITY;
    }

    pl_newton_forget(&s->newton);
    const double relative =
        pl_problem_residual(p, s->newton.work.g, s->newton.work.r) / pl_problem_force_scale(p);
    pl_problem_gaps(p, gap);
    pl_newton_direction(&s->newton, s->newton.work.r, gap, d_r);

    // the change of loads, targets and clamps at the same shape: loads are linear in l
    const size_t mark = pl_arena_begin(&p->scratch);
    double *moved = pl_problem_take_full(p);
    memcpy(moved, x, pl_problem_full_bytes(p));
    arc_place(p, l + STATICS_LOAD, moved);
    pl_problem_evaluate(p, moved, s->newton.work.g_new);
    pl_problem_gaps(p, there);
    pl_arena_end(&p->scratch, mark);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        s->newton.work.y[i] = (s->newton.work.g_new[i] - s->newton.work.g[i]) / STATICS_LOAD;
    }
    memcpy(s->newton.work.r, s->newton.work.y, (size_t)p->unknowns.n * sizeof *s->newton.work.r);
    for (int k = 0; k < p->linear.border_count; ++k) {
        there[k] = (there[k] - gap[k]) / STATICS_LOAD;
    }
    pl_newton_direction(&s->newton, s->newton.work.r, there, d_l);
    pl_problem_set(p, l);
    pl_problem_evaluate(p, x, s->newton.work.g);
    pl_problem_residual(p, s->newton.work.g, s->newton.work.r);

    return relative;
}

// The tangent from d_l, towards growing loads, or in the direction of the tangent before.
static void arc_tangent(const pl_problem *p, const double *d_l, bool first, statics_arc *arc)
{
    const double length = sqrt(arc_dot(p, d_l, d_l));
    const double sign = first || arc_dot(p, d_l, arc->t) > 0 ? 1 : -1;
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        arc->t[i] = sign * d_l[i] / length;
    }
    arc->rate = sign / length;
}

bool statics_arc_begin(pl_statics *s, const double *x, double l, statics_arc *arc, pl_error *err)
{
    pl_problem *p = s->problem;
    double strain;

    *arc = (statics_arc){.x = pl_problem_take_full(p), .t = pl_problem_take_unknown(p), .l = l};
    memcpy(arc->x, x, pl_problem_full_bytes(p));
    double *d_r = pl_problem_take_unknown(p), *d_l = pl_problem_take_unknown(p);
    if (!isfinite(arc_directions(s, arc->x, l, d_r, d_l, err))) {
        return false;
    }
    arc_tangent(p, d_l, true, arc);
    arc->negative = pl_problem_unstable(p);
    arc->turn = pl_newton_step_rotation(&s->newton, x, arc->t, &strain);
    arc->ds = STATICS_ARC_TURN / fmax(arc->turn, strain);

    return arc->turn > 0;
}

// Newton's method from the prediction: x, l. False: it does not converge.
static bool arc_correct(pl_statics *s, const statics_arc *arc, double ds, double *x, double *l, double *d_l,
                        int *iterations, pl_error *err)
{
    pl_problem *p = s->problem;
    const pl_newton_goal tolerance = statics_tolerance(s, false);
    const size_t mark = pl_arena_begin(&p->scratch);
    double *d_r = pl_problem_take_unknown(p), *to = pl_problem_take_full(p), last = INFINITY;
    bool done = false, possible = true;

    for (*iterations = 0; *iterations < STATICS_SUPERLINEAR && possible && !done; ++*iterations) {
        const double relative = arc_directions(s, x, *l, d_r, d_l, err);
        const double rest = ds - arc_progress(p, arc->t, x, arc->x) - arc_dot(p, arc->t, d_r),
                     dl = rest / arc_dot(p, arc->t, d_l);
        if (!isfinite(relative) || !isfinite(dl)) {
            break;
        }
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            d_r[i] += dl * d_l[i];
        }
        const double step = pl_problem_largest(p, d_r, false);
        pl_log(2, "    arc %d: load %.6f, residual %.2e, step %.2e mm", *iterations, *l, relative, step);
        // close to a critical point a small step may change the load by much
        done = relative < tolerance.force_tolerance && step < tolerance.length_tolerance &&
               fabs(dl) < STATICS_LOAD_POINT;
        pl_problem_move(p, x, d_r, 1, to);
        possible = step < 4 * last && isfinite(pl_problem_evaluate(p, to, NULL));
        last = step;
        if (possible) {
            memcpy(x, to, pl_problem_full_bytes(p));
            *l += dl;
        }
    }

    pl_arena_end(&p->scratch, mark);

    return done;
}

bool statics_arc_step(pl_statics *s, statics_arc *arc, double ds_most, pl_error *err)
{
    pl_problem *p = s->problem;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *x = pl_problem_take_full(p), *d_l = pl_problem_take_unknown(p),
           *step = pl_problem_take_unknown(p);
    double strain;
    bool done = false;

    arc->turn = pl_newton_step_rotation(&s->newton, arc->x, arc->t, &strain);
    const double scale = fmax(arc->turn, strain);
    double ds = fmin(fmin(arc->ds, ds_most), NEWTON_LEAVE_STEP / scale);
    const double least = ARC_CUT_MOST * ds; // short steps may be asked for
    while (!done && ds > least && pl_newton_continue(&s->newton)) {
        double l = arc->l + ds * arc->rate;
        int iterations = 0;
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            step[i] = ds * arc->t[i];
        }
        pl_newton_move(&s->newton, arc->x, step, x);
        done = arc_correct(s, arc, ds, x, &l, d_l, &iterations, err) && pl_problem_admissible(p, x) &&
               pl_problem_step_limit(p, arc->x, x) >= 1; // nothing that a term forbids is passed
        if (done) {
            arc->l_before = arc->l;
            arc->rate_before = arc->rate;
            arc->taken = ds;
            arc_place(p, l, x);
            memcpy(arc->x, x, pl_problem_full_bytes(p));
            arc->l = l;
            arc->negative = pl_problem_unstable(p);
            arc_tangent(p, d_l, false, arc);
            arc->ds = ds * (iterations <= 4 ? 1.6 : iterations <= 6 ? 1 : 0.6);
            pl_log(1, "  arc: %.3g mm farther, load %.5f, %d negative, %d iterations", ds, l, arc->negative,
                   iterations);
        } else {
            ds *= 0.4;
        }
    }

    s->increments++;
    pl_arena_end(&p->scratch, mark);

    return done;
}

double statics_arc_extreme(const statics_arc *arc, double *load)
{
    // l(u) = l0 + h l0' u + (3 D - 2 h l0' - h l1') u^2 + (h l0' + h l1' - 2 D) u^3, D = l1 - l0, u = s / h
    const double h = arc->taken, a = h * arc->rate_before, b = h * arc->rate, D = arc->l - arc->l_before,
                 c2 = 3 * D - 2 * a - b, c3 = a + b - 2 * D;
    double low = 0, high = 1;

    for (int k = 0; k < STATICS_ROUNDS; ++k) { // the derivative has one sign change between the ends
        const double u = 0.5 * (low + high), slope = a + 2 * c2 * u + 3 * c3 * u * u;
        if ((slope > 0) == (a > 0)) {
            low = u;
        } else {
            high = u;
        }
    }

    const double u = 0.5 * (low + high);
    *load = arc->l_before + a * u + c2 * u * u + c3 * u * u * u;

    return u * h;
}

arc_end statics_arc_limit(pl_statics *s, double *x, double *at, double target, double *top, double *limit,
                          pl_error *err)
{
    pl_problem *p = s->problem;
    const size_t mark = pl_arena_begin(&p->scratch);
    statics_arc arc;
    arc_end end = ARC_FAILED;
    double *before = pl_problem_take_full(p), *t_before = pl_problem_take_unknown(p);
    bool possible = statics_arc_begin(s, x, *at, &arc, err) && arc.negative == 0;

    for (int k = 0; k < STATICS_ROUNDS && possible && end == ARC_FAILED; ++k) {
        memcpy(before, arc.x, pl_problem_full_bytes(p));
        memcpy(t_before, arc.t, (size_t)p->unknowns.n * sizeof *t_before);
        const double l = arc.l;
        possible = statics_arc_step(s, &arc, INFINITY, err);
        if (possible && arc.rate <= 0) {
            // once more to where the cubic is highest: the load there is exact to second order
            double load;
            const double ds = statics_arc_extreme(&arc, &load);
            statics_arc again = arc;
            again.x = before;
            again.t = t_before;
            again.l = l;
            again.rate = arc.rate_before;
            again.ds = ds;
            memcpy(top, before, pl_problem_full_bytes(p));
            *limit = load;
            if (statics_arc_step(s, &again, ds, err) && again.taken == ds) {
                memcpy(top, again.x, pl_problem_full_bytes(p));
                *limit = fmax(again.l, l);
            }
            memcpy(s->stability.mode, again.t, (size_t)p->unknowns.n * sizeof *again.t);
            statics_keep_mode(s, top, again.t, *limit, true, false);
            end = ARC_LIMIT;
        } else if (possible && arc.negative > 0) {
            end = ARC_UNSTABLE; // a bifurcation was passed
        } else if (possible && arc.l >= target) {
            memcpy(x, arc.x, pl_problem_full_bytes(p));
            *at = arc.l;
            end = ARC_TARGET;
        } else if (possible) {
            memcpy(x, arc.x, pl_problem_full_bytes(p));
            *at = arc.l;
        }
    }

    pl_log(1, "  arc ends at %.5f: %s", *at,
           end == ARC_LIMIT      ? "limit point"
           : end == ARC_UNSTABLE ? "bifurcation"
           : end == ARC_TARGET   ? "target"
                                 : "no further");
    pl_arena_end(&p->scratch, mark);

    return end;
}

pl_status pl_statics_follow_arc(pl_statics *s, pl_state *state, const double *command, int steps,
                                pl_arc_visit visit, void *user, bool *complete, pl_error *err)
{
    pl_problem *p = s->problem;
    *complete = false;
    if (state->robot_hash != s->robot->hash || state->vertex_count != p->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }

    pl_status status = pl_problem_check(p, command, err);
    status = status == PL_OK
                 ? pl_problem_begin_step(p, &(pl_step){.from = state, .command = command, .load = 1}, err)
                 : status;
    if (status != PL_OK) {
        return status;
    }

    if (!statics_arc_possible(s) || pl_problem_stiff(p)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "a path by arc length needs fixed supports and loads, pressures, volumes or tensions: "
                       "no contact, "
                       "layers, fibres, pressures on open surfaces or cables of prescribed length");
    }

    pl_newton_watch(&s->newton, &s->options.progress, "following the path", s->options.time_limit);
    s->newton.iterations = s->increments = p->linear.factorizations = p->linear.solves = 0;
    const size_t mark = pl_arena_begin(&p->scratch);
    statics_arc arc;
    pl_error local = {0};
    double distance = 0, start = 0;
    bool on = statics_arc_begin(s, state->x, 0, &arc, &local);
    for (int k = 0; on; ++k) {
        pl_problem_set(p, arc.l);
        pl_problem_evaluate(p, arc.x, s->newton.work.g);
        pl_problem_residual(p, s->newton.work.g, s->newton.work.r);
        pl_problem_store(p, command, arc.l, arc.x, state);
        const pl_arc_point point = {.load = arc.l, .distance = distance, .negative_count = arc.negative};
        *complete = !visit(user, &point, state) || arc.l >= 1;
        const double most =
            fmin(STATICS_ARC_SHOWN / fmax(arc.turn, 1e-12), STATICS_ARC_SHOWN / fabs(arc.rate));
        on = !*complete && k < steps && arc.l >= start && statics_arc_step(s, &arc, most, &local);
        distance += on ? arc.taken : 0;
    }

    pl_arena_end(&p->scratch, mark);
    pl_newton_forget(&s->newton);
    if (s->newton.watch.stopped) {
        return pl_fail(err, PL_INTERRUPTED, "interrupted while the path was followed");
    }

    return local.status == PL_NO_MEMORY ? pl_fail(err, PL_NO_MEMORY, "%s", local.text) : PL_OK;
}
