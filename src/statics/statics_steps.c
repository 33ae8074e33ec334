// Newton steps from a shape that is nearly an equilibrium, for those who know a shape from elsewhere.
#include "statics/statics_impl.h"

// The Newton step at x: s->newton.work.d, of all vertices in `full`; `residual` (may be NULL) as it is at x.
static pl_status newton_step(pl_statics *s, const double *x, double *full, double *residual, pl_error *err)
{
    pl_problem *p = s->problem;
    double gap[PL_ROWS_MAX], mu[PL_ROWS_MAX];
    double *g = s->newton.work.g, *r = s->newton.work.r, *d = s->newton.work.d;

    if (!isfinite(pl_problem_evaluate(p, x, g))) {
        return pl_fail(err, PL_BAD_INPUT, "statics: an element is inverted at the start of the step");
    }
    pl_problem_residual(p, g, r);
    for (int change = 0; change < PL_ROWS_MAX && pl_problem_activate(p, false); ++change) {
        pl_problem_residual(p, g, r);
    }

    const pl_status status = pl_problem_refactor(p, &(pl_linearization){.x = x}, err);
    if (status != PL_OK) {
        return status;
    }
    pl_problem_evaluate(p, x, g);
    const double largest = pl_problem_residual(p, g, r);
    if (residual) {
        *residual = largest;
    }
    pl_problem_gaps(p, gap);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        r[i] = -r[i];
    }
    if (!pl_problem_solve_bordered(p, r, gap, d, mu)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "statics: the prescribed values of two actuators are not independent");
    }

    pl_problem_expand(p, x, d, full);

    return PL_OK;
}

// The markers at a state; the largest distance from where they were, and from a reference.
static double newton_markers(pl_statics *s, const pl_state *state, const double *reference, double *marker,
                             double *distance)
{
    double last = 0;
    *distance = 0;
    for (int m = 0; m < s->robot->marker_count; ++m) {
        const pl_marker_result found = pl_statics_marker(s, state, m);
        const double moved = pl_distance3(found.position, marker + 3 * m);
        const double away = pl_distance3(found.position, reference + 3 * m);
        last = moved > last || isnan(moved) ? moved : last;
        *distance = away > *distance ? away : *distance;
        memcpy(marker + 3 * m, found.position, sizeof found.position);
    }

    return last;
}

pl_status pl_statics_newton(pl_statics *s, const double *command, const double *position,
                            const double *reference, double enough, int limit, double *marker, pl_newton *out,
                            pl_error *err)
{
    pl_problem *p = s->problem;
    pl_state *state = NULL;

    *out = (pl_newton){.residual = NAN};
    pl_newton_watch(&s->newton, &s->options.progress, "steps", 0);
    pl_status status = pl_state_create(s->robot, &state, err);
    if (status == PL_OK) {
        status = pl_problem_begin_step(p, &(pl_step){.from = state, .command = command, .load = 1}, err);
    }
    if (status == PL_OK && pl_problem_touches(p)) {
        status = pl_fail(err, PL_BAD_INPUT,
                         "statics: Newton steps from a given shape are not possible with contact");
    }

    if (status == PL_OK) {
        const size_t mark = pl_arena_begin(&p->scratch);
        double *x = pl_problem_take_full(p), *full = pl_problem_take_full(p), distance;
        memcpy(state->x, position, pl_problem_full_bytes(p));
        pl_problem_set(p, 1);
        pl_problem_clamp(p, p->load, state->x);
        newton_markers(s, state, reference, marker, &distance);
        while (status == PL_OK && !out->ended && out->steps < limit) {
            double residual;
            memcpy(x, state->x, pl_problem_full_bytes(p));
            status = newton_step(s, x, full, &residual, err);
            if (status == PL_OK) {
                pl_problem_move(p, x, s->newton.work.d, 1, state->x);
                const double last = newton_markers(s, state, reference, marker, &distance);
                out->residual = out->steps++ == 0 ? residual : out->residual;
                out->ended = last <= enough * distance;
                status = isfinite(last) ? PL_OK : pl_fail(err, PL_BAD_INPUT, "statics: a step is not finite");
            }
        }
        pl_arena_end(&p->scratch, mark);
    }

    p->linear.has_factor = false; // the next solve starts at another shape
    pl_state_destroy(state);

    return status;
}
