// Shape and commands together, from near a solution: an inverse problem costs about as many solves as one
// forward solve, because equilibria at commands that are going to change anyway are not computed.
//
//   d = -H r,  H the turned factor with the pairs of L-BFGS, r the residual at (x, c)
//   Y = -K^-1 dg/dc                            (pl_columns)
//   dc as the caller wants it, from y(x) + G d and J = G Y, G = dy/dx
//   x <- x + d + Y dc, back onto the constraints;  c <- c + dc
#include "statics/statics_impl.h"

typedef struct aim_run {
    const pl_aim *aim;
    const pl_state *from;
    pl_parameter parameter[PL_AIM_MOST];
    double value[PL_AIM_MOST], change[PL_AIM_MOST]; // of the variables, as wanted next; dc
    double gap[PL_ROWS_MAX];
    double length[3];    // mm: of d, newest first, since the last factor; 0: none
    double moved, first; // mm: by dc, at most; the first step
    double relative;     // residual
    int since, factors, iteration;
    bool at_factor, fresh; // the factor was made here; the columns are to be made again
    bool near;             // the factor was made here or hardly farther
    bool foretold;         // the shape is that of statics_predict
} aim_run;

void statics_aim_clear(pl_statics *s)
{
    pl_state_destroy(s->aim.state);
    pl_free(s->aim.x);
    pl_free(s->aim.command);
    pl_columns_clear(&s->aim.columns);
    s->aim = (statics_aim){0};
}

static pl_status aim_room(pl_statics *s, int count, pl_error *err)
{
    statics_aim *a = &s->aim;
    pl_status status = PL_OK;

    if (!a->state) {
        status = pl_state_create(s->robot, &a->state, err);
    }
    a->x = a->x ? a->x : PL_NEW_ARRAY(double, 3 * (int64_t)s->problem->mesh.vertex_count);
    a->command = a->command ? a->command : PL_NEW_ARRAY(double, s->robot->command_count);
    if (status == PL_OK && (!a->x || !a->command)) {
        status = pl_fail_memory(err, "statics: shape and commands");
    }
    if (status == PL_OK && a->columns.count != count) {
        pl_columns_clear(&a->columns);
        status = pl_columns_create(s->problem, &a->columns, count, err);
    }

    return status;
}

const double *statics_expected(pl_statics *s, const double *command)
{
    const bool expected = s->aim.expected && memcmp(s->aim.command, command,
                                                    (size_t)s->robot->command_count * sizeof *command) == 0;
    s->aim.expected = false;
    return expected ? s->aim.x : NULL;
}

// Only what is smooth in x and c, at full load with the forces of the state.
static bool aim_possible(pl_statics *s, const pl_state *state)
{
    pl_problem *p = s->problem;
    const size_t forces = 3 * ((size_t)s->robot->marker_count + 1) * sizeof *state->force;
    return p->linear.has_factor && state->load == 1 && !pl_problem_touches(p) && !pl_problem_lags(p) &&
           !pl_problem_stiff(p) && memcmp(p->forces.asked, state->force, forces) == 0;
}

// Loads and targets at the commands.
static bool aim_set(pl_statics *s, const aim_run *run)
{
    pl_error ignored = {0};
    if (pl_problem_check(s->problem, s->aim.command, &ignored) != PL_OK ||
        pl_problem_begin_step(s->problem, &(pl_step){.from = run->from, .command = s->aim.command, .load = 1},
                              &ignored) != PL_OK) {
        return false;
    }

    pl_problem_set(s->problem, 1);
    return pl_problem_factor_serves(s->problem);
}

// Back onto the constraints, and the gradient there.
static bool aim_stand(pl_statics *s, double *x, double *g)
{
    return pl_problem_restore(s->problem, x, NEWTON_GAP) && isfinite(pl_problem_evaluate(s->problem, x, g));
}

static bool aim_begin(pl_statics *s, aim_run *run)
{
    statics_aim *a = &s->aim;
    const size_t bytes = pl_problem_full_bytes(s->problem);

    memcpy(a->command, run->from->command, (size_t)s->robot->command_count * sizeof *a->command);
    if (!aim_set(s, run)) {
        return false;
    }
    memcpy(a->x, run->from->x, bytes);
    run->at_factor = memcmp(s->problem->linear.x, a->x, bytes) == 0;
    run->near = run->at_factor;
    if (!run->at_factor) {
        pl_newton_turn(&s->newton, a->x);
    }

    return aim_stand(s, a->x, s->newton.work.g);
}

static void aim_note(aim_run *run, double length)
{
    memmove(run->length + 1, run->length, 2 * sizeof *run->length);
    run->length[0] = length;
    run->since++;
}

// A factor where the iterate is, evaluated; `look_ahead`: with the stresses that the step to it predicted.
static bool aim_refactor(pl_statics *s, aim_run *run, bool look_ahead, pl_error *err)
{
    const pl_ahead ahead = {s->newton.work.x_before, s->newton.work.dx, s->newton.work.pressure_ahead,
                            s->newton.work.pressure_step};
    run->factors++;
    const pl_linearization at = {
        .x = s->aim.x, .indefinite = PL_AS_IT_IS, .evaluated = true, .predicted = look_ahead ? &ahead : NULL};
    const pl_status status = pl_problem_refactor(s->problem, &at, err);
    pl_newton_forget(&s->newton);
    run->since = 0;
    run->at_factor = run->near = run->fresh = true;
    memset(run->length, 0, sizeof run->length);

    return status == PL_OK && s->problem->linear.has_factor;
}

// Would a new factor get there sooner? From how d has shrunk in the last two iterations.
static bool aim_slow(const pl_statics *s, const aim_run *run)
{
    if (run->at_factor || run->since < 3) {
        return false;
    }

    const double rate = sqrt(run->length[0] / run->length[2]);
    return pl_newton_renewal_pays(rate, run->length[0] / run->first,
                                  s->options.length_tolerance / run->length[0],
                                  pl_newton_factor_cost(&s->newton));
}

// At the start, where a solution stands, there is nothing to do.
static void aim_no_direction(pl_statics *s)
{
    pl_problem *p = s->problem;
    memset(s->newton.work.d, 0, (size_t)p->unknowns.n * sizeof *s->newton.work.d);
    memset(p->linear.pressure_step, 0, (size_t)p->elements->pressure_count * sizeof(double));
    pl_problem_residual(p, s->newton.work.g, s->newton.work.r); // multipliers
}

// What becomes of a direction of this length: taken, looked for again (with a new factor, or without the
// pairs that misled it), or the end.
typedef enum aim_verdict { AIM_TAKE, AIM_AGAIN, AIM_END } aim_verdict;
static aim_verdict aim_judge(pl_statics *s, aim_run *run, double length, pl_error *err)
{
    const double theta = length / run->first;
    if (run->iteration == 1 && run->factors == 0 &&
        pl_newton_renewal_pays(theta, theta, fmin(1, s->options.length_tolerance / length),
                               pl_newton_factor_cost(&s->newton))) {
        return aim_refactor(s, run, true, err) ? AIM_AGAIN : AIM_END;
    }

    if (run->iteration == 1 && !(theta < s->path.error)) {
        return AIM_END; // the first step was no prediction
    }

    if (run->since > 0 && !(length < run->length[0])) {
        if (s->newton.memory.count > 0) {
            pl_newton_forget(&s->newton);
            return AIM_AGAIN;
        }
        return !run->at_factor && aim_refactor(s, run, false, err) ? AIM_AGAIN : AIM_END;
    }

    aim_note(run, length);
    if (aim_slow(s, run)) {
        return aim_refactor(s, run, false, err) ? AIM_AGAIN : AIM_END;
    }

    return isfinite(length) ? AIM_TAKE : AIM_END;
}

// d = -H r. False: none that leads on.
static bool aim_direction(pl_statics *s, aim_run *run, pl_error *err)
{
    aim_verdict verdict = AIM_AGAIN;
    if (run->iteration == 0) {
        aim_no_direction(s);
        return true;
    }

    while (verdict == AIM_AGAIN) {
        run->relative = pl_problem_residual(s->problem, s->newton.work.g, s->newton.work.r) /
                        pl_problem_force_scale(s->problem);
        if (pl_problem_activate(s->problem, run->relative < NEWTON_RELEASE)) {
            return false; // a cable becomes slack or taut
        }
        pl_problem_gaps(s->problem, run->gap);
        pl_newton_direction(&s->newton, s->newton.work.r, run->gap, s->newton.work.d);
        const double length = pl_problem_largest(s->problem, s->newton.work.d, false);
        pl_log(2, "    together %2d  residual %.2e  step %.2e mm%s", run->iteration, run->relative, length,
               run->at_factor ? "  newton" : "");
        verdict = aim_judge(s, run, length, err);
    }

    return verdict == AIM_TAKE;
}

// The first step tells whether the path is short.
static bool aim_near(pl_statics *s, const double *d, bool *warp)
{
    double strain;
    const double turn = pl_newton_step_rotation(&s->newton, s->aim.x, d, &strain);
    *warp = s->options.warp && turn > NEWTON_STRAIGHT && pl_newton_can_corotate(&s->newton);
    return fmax(turn, strain) <= 2 * STATICS_SMALL;
}

// What the caller reads: columns by the commands where they are new, and that of d.
static bool aim_show(pl_statics *s, aim_run *run)
{
    statics_aim *a = &s->aim;
    pl_problem *p = s->problem;
    const int count = run->aim->count;
    const double none[PL_ROWS_MAX] = {0};

    pl_problem_store(p, a->command, 1, a->x, a->state);
    memcpy(s->newton.work.pressure_step, p->linear.pressure_step,
           (size_t)p->elements->pressure_count * sizeof(double));
    if (run->fresh && !pl_columns_make(p, a->state, run->parameter, &a->columns)) {
        return false;
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *dx = pl_problem_take_full(p);
    for (int j = 0; run->fresh && j < count; ++j) {
        pl_problem_expand(p, a->x, a->columns.motion + (int64_t)j * p->unknowns.n, dx);
        statics_jacobian_column(s, a->state, &run->parameter[j], j, count + 1, dx, a->columns.mu[j],
                                &run->aim->out);
    }

    pl_problem_expand(p, a->x, s->newton.work.d, dx);
    statics_jacobian_column(s, a->state, NULL, count, count + 1, dx, none, &run->aim->out);
    pl_arena_end(&p->scratch, mark);

    return true;
}

// What the step is about to change, as the linear solves saw it: motion and pressures, those of d at hand.
static void aim_look_ahead(pl_statics *s, const aim_run *run)
{
    pl_problem *p = s->problem;
    const int32_t pressures = p->elements->pressure_count;

    memcpy(s->newton.work.x_before, s->aim.x, pl_problem_full_bytes(p));
    memcpy(s->newton.work.pressure_ahead, p->elements->pressure, (size_t)pressures * sizeof(double));
    pl_problem_expand(p, s->aim.x, s->newton.work.d, s->newton.work.dx);
    for (int j = 0; j < run->aim->count; ++j) {
        const double *change = s->aim.columns.pressure + (int64_t)j * pressures;
        for (int32_t k = 0; k < pressures; ++k) {
            s->newton.work.pressure_step[k] += change[k] * run->change[j];
        }
    }
}

// x_best stands at the new commands: gradient, residual (work.y) and its relative size; INFINITY: it cannot.
static double aim_try(pl_statics *s)
{
    if (!aim_stand(s, s->newton.work.x_best, s->newton.work.g_new)) {
        return INFINITY;
    }
    return pl_problem_residual(s->problem, s->newton.work.g_new, s->newton.work.y) /
           pl_problem_force_scale(s->problem);
}

// The shape that earlier solutions let expect at the new commands, if its relative residual is at most that.
static bool aim_extrapolate(pl_statics *s, const aim_run *run, double most)
{
    if (!s->options.extrapolate || s->history.count < 2 ||
        memcmp(s->history.x[0], run->from->x, pl_problem_full_bytes(s->problem)) != 0 ||
        !statics_predict(s, s->aim.command, s->newton.work.x_best)) {
        return false;
    }

    pl_newton_fit_rigid(&s->newton, s->newton.work.x_best);
    pl_problem_clamp(s->problem, s->problem->load, s->newton.work.x_best);
    return aim_try(s) <= most;
}

// The first step: as earlier solutions or as the tangent predict. Far from balance a factor is made at its
// end.
static bool aim_step_first(pl_statics *s, aim_run *run, bool warp, pl_error *err)
{
    statics_aim *a = &s->aim;
    pl_problem *p = s->problem;

    aim_look_ahead(s, run);
    double relative = 0;
    run->foretold = aim_extrapolate(s, run, NEWTON_RELEASE);
    if (!run->foretold) {
        if (warp) {
            pl_newton_corotate(&s->newton, a->x, s->newton.work.d, s->newton.work.x_best);
        } else {
            pl_problem_move(p, a->x, s->newton.work.d, 1, s->newton.work.x_best);
        }
        relative = aim_try(s);
    }

    if (!isfinite(relative)) {
        return false;
    }
    memcpy(a->x, s->newton.work.x_best, pl_problem_full_bytes(p));
    memcpy(s->newton.work.g, s->newton.work.g_new, (size_t)p->unknowns.n * sizeof *s->newton.work.g);
    if (relative > NEWTON_RELEASE) {
        return aim_refactor(s, run, true, err);
    }
    pl_newton_turn(&s->newton, a->x);
    run->fresh = true;

    return true;
}

// d <- d + Y dc, r <- r + dg/dc dc: what r changes by dc alone is not the tangent's.
static void aim_add_commands(pl_statics *s, aim_run *run)
{
    const int32_t n = s->problem->unknowns.n;
    run->moved = 0;
    for (int j = 0; j < run->aim->count; ++j) {
        double *command = &s->aim.command[run->aim->variable[j]];
        const double dc = run->value[j] - *command, *Y = s->aim.columns.motion + (int64_t)j * n,
                     *side = s->aim.columns.side + (int64_t)j * n;
        run->change[j] = dc;
        *command = run->value[j];
        run->moved += fabs(dc) * pl_problem_largest(s->problem, Y, false);
        for (int32_t i = 0; dc != 0 && i < n; ++i) {
            s->newton.work.d[i] += Y[i] * dc;
            s->newton.work.r[i] -= side[i] * dc;
        }
    }
}

static bool aim_step(pl_statics *s, aim_run *run, pl_error *err)
{
    pl_problem *p = s->problem;
    bool warp = false;

    aim_add_commands(s, run);
    const double length = pl_problem_largest(p, s->newton.work.d, false);
    if ((run->iteration == 0 || length > NEWTON_NEAR * p->size) && !aim_near(s, s->newton.work.d, &warp)) {
        return false;
    }
    if (!aim_set(s, run)) {
        return false;
    }
    run->at_factor = run->near = run->fresh = false;
    if (run->iteration == 0) {
        run->first = length;
        return aim_step_first(s, run, warp, err);
    }

    // where earlier solutions foretold the shape, they foretell it at other commands too
    run->foretold = run->foretold && run->moved > run->length[0] && aim_extrapolate(s, run, run->relative);
    if (!run->foretold) {
        pl_problem_move(p, s->aim.x, s->newton.work.d, 1, s->newton.work.x_best);
        if (!isfinite(aim_try(s))) {
            return false;
        }
    }

    memcpy(s->aim.x, s->newton.work.x_best, pl_problem_full_bytes(p));
    memcpy(s->newton.work.g, s->newton.work.g_new, (size_t)p->unknowns.n * sizeof *s->newton.work.g);
    if (run->foretold) {
        run->since = 0;
        pl_newton_turn(&s->newton, s->aim.x);
    } else if (run->moved <= run->length[0]) {
        pl_newton_add_pair(&s->newton, s->newton.work.d, 1, s->newton.work.y, s->newton.work.r);
    }

    return true;
}

// The last direction is taken as well: the solve that follows starts from there.
static bool aim_end(pl_statics *s)
{
    statics_aim *a = &s->aim;
    pl_problem_move(s->problem, a->x, s->newton.work.d, 1, s->newton.work.x_best);
    memcpy(a->x, s->newton.work.x_best, pl_problem_full_bytes(s->problem));
    a->expected = pl_problem_restore(s->problem, a->x, NEWTON_GAP);
    return a->expected;
}

static bool aim_run_on(pl_statics *s, aim_run *run, pl_error *err)
{
    for (run->iteration = 0; run->iteration < STATICS_TOGETHER && pl_newton_continue(&s->newton);
         ++run->iteration) {
        if (!aim_direction(s, run, err) || !aim_show(s, run)) {
            return false;
        }
        for (int j = 0; j < run->aim->count; ++j) {
            run->value[j] = s->aim.command[run->aim->variable[j]];
        }
        switch (run->aim->choose(run->aim->user, s->aim.state, run->fresh && run->near, run->value)) {
        case PL_AIM_LEAVE:
            return false;
        case PL_AIM_MET:
            return aim_end(s);
        default:
            break;
        }
        if (!aim_step(s, run, err)) {
            return false;
        }
    }
    return false;
}

pl_status pl_statics_aim(pl_statics *s, const pl_state *state, const pl_aim *aim, pl_aim_report *report,
                         pl_error *err)
{
    *report = (pl_aim_report){0};
    s->aim.expected = false;
    if (aim->count < 1 || aim->count > PL_AIM_MOST || !aim_possible(s, state)) {
        return PL_OK;
    }

    const pl_status status = aim_room(s, aim->count, err);
    if (status != PL_OK) {
        return status;
    }

    pl_error local = {0};
    aim_run run = {.aim = aim, .from = state, .fresh = true};
    for (int j = 0; j < aim->count; ++j) {
        run.parameter[j] = (pl_parameter){.kind = PL_PARAMETER_COMMAND, .index = aim->variable[j], .part = 1};
    }
    s->problem->linear.factorizations = s->problem->linear.solves = 0;
    pl_newton_watch(&s->newton, &s->options.progress, "inverse kinematics", 0);
    report->met = aim_begin(s, &run) && aim_run_on(s, &run, &local);
    if (!report->met) {
        pl_newton_forget(&s->newton); // pairs of a path that led nowhere
    }
    memcpy(aim->command, s->aim.command, (size_t)s->robot->command_count * sizeof *aim->command);
    report->iterations = run.iteration;
    report->factorizations = s->problem->linear.factorizations;
    report->solves = s->problem->linear.solves;
    if (s->newton.watch.stopped) {
        return pl_fail(err, PL_INTERRUPTED, "interrupted while commands and shape were looked for");
    }

    return local.status == PL_NO_MEMORY ? pl_fail(err, PL_NO_MEMORY, "%s", local.text) : PL_OK;
}
