// The iteration: local step, global step, acceleration with a safeguard, and when it is over.
#include <stdio.h>
#include "geometric/geometric_impl.h"

#define TIP_ITERATIONS 10 // as published: before these, a tip at rest is no reason to stop
#define REFUSALS 3        // accelerated iterates taken back since the memory was begun again
#define CONTACT_EVERY 5   // iterations after which collisions are looked for
#define CONTACT_PUSH 20   // plain steps while an obstacle goes on by a step
#define CONTACT_ROUNDS 200
#define CONTACT_LOOSE 1e-4 // mm: plain step at which places of springs are updated, before the last time
#define AHEAD 100          // how far an accelerated step may go, in tolerances, where a plain one is below it

void geo_clamp(const pl_geometric *g, double load, double *x)
{
    for (int32_t v = 0; v < g->corner_count; ++v) {
        for (int i = 0; i < 3; ++i) {
            const int32_t k = g->support_of[3 * (size_t)v + (size_t)i];
            if (k < 0) {
                continue;
            }
            const pl_support *s = &g->robot->support[k];
            const double w[3] = {load * s->rotate[0], load * s->rotate[1], load * s->rotate[2]};
            double arm[3], turned[3], R[9];
            pl_sub3(g->X + 3 * (size_t)v, s->about, arm);
            pl_rotation_exp(w, R);
            pl_mulv3(R, arm, turned);
            const bool turns = pl_norm3(s->rotate) > 0;
            x[3 * (size_t)v + (size_t)i] =
                (turns ? s->about[i] + turned[i] : g->X[3 * (size_t)v + (size_t)i]) + load * s->move[i];
        }
    }
}

double geo_largest(const pl_geometric *g, const double *v)
{
    double largest = 0;
    for (int32_t k = 0; k < g->vertex_count; ++k) {
        const double n = pl_norm3(v + 3 * (size_t)k);
        if (!(n <= largest)) {
            largest = n; // also when it is not a number
        }
    }

    return largest;
}

// What is watched by `stop: tip_motion`: the first marker, or the vertex that moved farthest from rest.
static void solve_tip(const pl_geometric *g, const double *x, double tip[3])
{
    const pl_robot *robot = g->robot;
    tip[0] = tip[1] = tip[2] = 0;
    if (robot->marker_count > 0) {
        const pl_point *p = &robot->marker[0].point;

        for (int32_t j = 0; j < p->count; ++j) {
            const int32_t c = g->map.corner_of[p->node[j]];
            const int32_t a = c < 0 ? g->map.mid[-1 - c].a : c, b = c < 0 ? g->map.mid[-1 - c].b : c;
            for (int i = 0; i < 3; ++i) {
                tip[i] += 0.5 * p->weight[j] * (x[3 * (size_t)a + (size_t)i] + x[3 * (size_t)b + (size_t)i]);
            }
        }

        return;
    }

    double farthest = -1;
    for (int32_t v = 0; v < g->corner_count; ++v) {
        const double moved = pl_distance3(x + 3 * (size_t)v, g->X + 3 * (size_t)v);
        if (moved > farthest) {
            farthest = moved;
            memcpy(tip, x + 3 * (size_t)v, 3 * sizeof *tip);
        }
    }
}

// Where the iteration stands.
typedef struct solve {
    double *x;
    double merit; // at the last iterate taken
    double best;  // the least since one was taken back
    double step;  // mm, of the plain step there
    double tip[3];
    bool accelerated; // x came from an acceleration
    bool constrained;
    int refused;      // accelerated iterates taken back
    double moved;     // mm, largest motion of the step that led to x
    double tolerance; // mm, of the plain step
} solve;

static double solve_moved(const pl_geometric *g, const double *a, const double *b)
{
    double largest = 0;
    for (int32_t v = 0; v < g->vertex_count; ++v) {
        largest = fmax(largest, pl_distance3(a + 3 * (size_t)v, b + 3 * (size_t)v));
    }
    return largest;
}

static bool solve_constrained(const pl_geometric *g)
{
    for (int i = 0; i < g->drive_count; ++i) {
        if (g->drive[i].mode == GEO_CONSTRAINT) {
            return true;
        }
    }

    return false;
}

// Is the plain step -L^-1 r with L alone?
static bool solve_has_rows(const pl_geometric *g)
{
    for (int i = 0; i < g->drive_count; ++i) {
        if (g->drive[i].mode == GEO_CONSTRAINT || g->drive[i].mode == GEO_GAS) {
            return true;
        }
    }

    return false;
}

static double solve_gap(const pl_geometric *g)
{
    double worst = 0;
    for (int i = 0; i < g->drive_count; ++i) {
        const geo_drive *d = &g->drive[i];
        if (d->mode == GEO_CONSTRAINT && d->active) {
            worst = fmax(worst, fabs(d->target - d->measure) / d->rest);
        }
    }

    return worst;
}

// Forces, energy, plain step at x. Returns what the safeguard compares: the energy where everything derives
// from one, otherwise the size of the step: in the norm of the matrix, d . L d = -d . r, where no constraint
// adds to the step (in the plain norm bending rules, and L-BFGS was taken back without end).
static double solve_evaluate(pl_geometric *g, solve *s)
{
    const double energy = geo_local(g, s->x, g->work.f) + geo_contact_force(g, s->x, g->work.f);
    geo_global(g, g->work.f, g->work.plain, g->work.r);
    s->step = geo_largest(g, g->work.plain);
    if (g->potential && !s->constrained) {
        return energy;
    }

    return sqrt(s->constrained ? geo_dot(g, g->work.plain, g->work.plain)
                               : fmax(0, -geo_dot(g, g->work.plain, g->work.r)));
}

// Is an accelerated iterate as good as it must be? Energies may not rise. Steps may for a while: those of
// L-BFGS go up and down, Anderson's drift away once they are let above the best one seen.
static bool solve_accepts(const pl_geometric *g, const solve *s, double merit)
{
    if (!isfinite(merit)) {
        return false;
    }
    if (g->potential && !s->constrained) {
        return merit <= s->merit + 1e-12 * fabs(s->merit);
    }
    return g->options.acceleration == PL_ACCELERATE_ANDERSON ? merit <= 1.3 * s->best : merit <= 2 * s->merit;
}

static void solve_copy(const pl_geometric *g, double *to, const double *from)
{
    memcpy(to, from, 3 * (size_t)g->vertex_count * sizeof *to);
}

// Differences to the last iterate into the memory: of steps for Anderson, of forces for L-BFGS.
static void solve_remember(pl_geometric *g, const solve *s)
{
    const int64_t n3 = 3 * (int64_t)g->vertex_count;
    const bool anderson = g->options.acceleration == PL_ACCELERATE_ANDERSON;
    double *dx = g->work.d, *dy = g->work.r_old, *dd = g->work.d_old;

    for (int64_t i = 0; i < n3; ++i) {
        dx[i] = s->x[i] - g->work.x_old[i];
        dd[i] = g->work.plain[i] - g->work.d_old[i];
        // with constraints the force is that of the Lagrangian with the newest multipliers at both places
        dy[i] = g->work.r[i] - (g->support_of[i] < 0 ? g->work.f_old[i] : 0);
    }

    for (int k = 0; k < g->drive_count; ++k) {
        const geo_drive *d = &g->drive[k];
        for (int64_t i = 0; d->mode == GEO_CONSTRAINT && d->active && i < n3; ++i) {
            dy[i] -= g->support_of[i] < 0 ? d->sign * d->effort * d->row_old[i] : 0;
        }
    }

    const double sy = anderson ? -geo_dot(g, dd, dy) : geo_dot(g, dx, dy);
    if (sy > 1e-12 * sqrt(geo_dot(g, anderson ? dd : dx, anderson ? dd : dx) * geo_dot(g, dy, dy))) {
        geo_memory_push(g, dx, dd, dy);
    }
}

// The next iterate from the plain step at s->x, into g->work.d... returns whether it is an accelerated one.
static bool solve_next(pl_geometric *g, solve *s, bool first)
{
    const double started = pl_seconds();
    const int64_t n3 = 3 * (int64_t)g->vertex_count;
    const pl_acceleration how = g->options.acceleration;

    if (how != PL_ACCELERATE_NONE && !first) {
        solve_remember(g, s);
    }

    // L-BFGS: a direction that does not descend is replaced by the plain step
    bool accelerated = how != PL_ACCELERATE_NONE && g->memory.count > 0;
    if (how == PL_ACCELERATE_LBFGS && accelerated) {
        geo_lbfgs(g, g->work.r, solve_has_rows(g) ? NULL : g->work.plain, g->work.d);
        geo_restore(g, g->work.d);
        accelerated = geo_dot(g, g->work.d, g->work.r) < 0;
    }

    // the present iterate, for the differences of the next one
    solve_copy(g, g->work.x_old, s->x);
    solve_copy(g, g->work.d_old, g->work.plain);
    solve_copy(g, g->work.f_old, g->work.f);

    for (int k = 0; how != PL_ACCELERATE_NONE && k < g->drive_count; ++k) {
        if (g->drive[k].mode == GEO_CONSTRAINT) {
            solve_copy(g, g->drive[k].row_old, g->drive[k].row);
        }
    }

    // the step; rigid bodies move as bodies
    if (accelerated && how == PL_ACCELERATE_ANDERSON) {
        geo_anderson(g, g->work.x_old, g->work.plain, s->x);
    } else {
        const double *d = accelerated ? g->work.d : g->work.plain;
        for (int64_t i = 0; i < n3; ++i) {
            s->x[i] = g->work.x_old[i] + d[i];
        }
    }

    geo_rigid_set(g, s->x);
    g->now.acceleration_seconds += pl_seconds() - started;

    return accelerated;
}

// Goes back to the last iterate and takes its plain step.
static void solve_take_back(pl_geometric *g, solve *s)
{
    for (int64_t i = 0; i < 3 * (int64_t)g->vertex_count; ++i) {
        s->x[i] = g->work.x_old[i] + g->work.d_old[i];
    }
    geo_rigid_set(g, s->x);
    ++g->now.rejected;

    // what was seen stays in memory: the plain step brings news; only a memory that keeps failing is dropped
    if (++s->refused >= REFUSALS) {
        geo_memory_reset(g);
        s->refused = 0;
    }

    s->accelerated = false;
    s->merit = s->best = INFINITY;
    s->moved = geo_largest(g, g->work.d_old);
}

static bool solve_tip_still(const pl_geometric *g, solve *s)
{
    double tip[3];
    solve_tip(g, s->x, tip);
    const double moved = pl_distance3(tip, s->tip);
    memcpy(s->tip, tip, sizeof tip);
    return g->now.iterations > TIP_ITERATIONS && moved < g->options.tip_tolerance;
}

static bool solve_go_on(const pl_geometric *g, double started, pl_outcome *outcome)
{
    const double fraction = (double)g->now.iterations / g->options.iteration_limit;
    if (g->now.iterations % 16 == 0 &&
        !pl_progress_step(&g->options.progress, fraction, "local/global steps")) {
        *outcome = PL_STOPPED;
        return false;
    }

    return g->now.iterations < g->options.iteration_limit &&
           !(g->options.time_limit > 0 && pl_seconds() - started > g->options.time_limit);
}

// Other forces than before: what was learned of them is forgotten.
static void solve_restart(pl_geometric *g, solve *s)
{
    geo_memory_reset(g);
    s->merit = s->best = INFINITY;
    s->accelerated = false;
}

// Other springs than before.
static bool solve_refresh(pl_geometric *g, solve *s)
{
    solve_restart(g, s);
    return geo_contact_refresh(g, NULL) == PL_OK;
}

// Iterates on s->x; true when the residual is below its tolerance.
static bool solve_iterate(pl_geometric *g, solve *s, double started, pl_outcome *outcome)
{
    bool first = true;
    for (;;) {
        const double merit = solve_evaluate(g, s);
        if (s->accelerated && !solve_accepts(g, s, merit)) {
            solve_take_back(g, s);
            continue;
        }

        s->merit = merit;
        s->best = fmin(s->best, merit);
        // plain steps crawl along soft modes: an accelerated one must have come to rest too
        if (s->step <= s->tolerance && solve_gap(g) < fmin(1e-6, 10 * s->tolerance / g->size) &&
            (!s->accelerated || s->moved <= AHEAD * s->tolerance)) {
            return true;
        }

        if ((g->options.stop == PL_STOP_TIP_MOTION && solve_tip_still(g, s)) ||
            !solve_go_on(g, started, outcome) || !isfinite(s->step)) {
            return false;
        }

        s->accelerated = solve_next(g, s, first);
        s->moved = solve_moved(g, s->x, g->work.x_old);
        g->now.accelerated += s->accelerated;
        first = false;
        ++g->now.iterations;
        // on the path to the first shape; later ones are near, and what a step passes for a moment is not
        // inside
        if (g->contact && g->now.rounds == 0 && g->now.iterations % CONTACT_EVERY == 0 &&
            geo_contact_add(g, s->x) > 0) {
            if (!solve_refresh(g, s)) {
                return false;
            }
            first = true;
        }
    }
}

// An obstacle on its path: the body comes along in a few plain steps.
static void solve_push(pl_geometric *g, solve *s, double at)
{
    geo_contact_place(g, at);
    for (int i = 0; i < CONTACT_PUSH; ++i) {
        bool changed = false;
        if (i % CONTACT_EVERY == 0) {
            geo_contact_update(g, s->x, &changed);
        }
        if (changed && !solve_refresh(g, s)) {
            return;
        }
        solve_evaluate(g, s);
        for (int64_t k = 0; k < 3 * (int64_t)g->vertex_count; ++k) {
            s->x[k] += g->work.plain[k];
        }
        ++g->now.iterations;
    }
}

// Shapes and places of springs in turn until the springs stand and nothing is inside; the last shape to the
// whole tolerance.
static bool solve_contact(pl_geometric *g, solve *s, double started, pl_outcome *outcome)
{
    bool last = false;
    s->tolerance = fmax(g->options.length_tolerance, CONTACT_LOOSE);
    while (solve_iterate(g, s, started, outcome)) {
        bool changed;
        const bool stands = geo_contact_update(g, s->x, &changed);
        if (stands && last) {
            return true;
        }
        last = stands;
        s->tolerance = stands ? g->options.length_tolerance : s->tolerance;
        if (g->now.rounds >= CONTACT_ROUNDS || (changed && !solve_refresh(g, s))) {
            return false;
        }
        solve_restart(g, s);
    }

    return false;
}

// ---- between the robot's vertices and ours
static void solve_begin(pl_geometric *g, const pl_state *state)
{
    for (int32_t v = 0; v < g->corner_count; ++v) {
        memcpy(g->x + 3 * (size_t)v, state->x + 3 * (size_t)g->map.vertex_of[v], 3 * sizeof *g->x);
    }

    // the insides of chambers are not part of a state: they go on from the last solve, or from rest
    const size_t inside = 3 * (size_t)g->corner_count;
    if (g->stale) {
        memcpy(g->x, g->X, inside * sizeof *g->x);
    }
    if (state->load == 0 || g->stale) {
        memcpy(g->x + inside, g->X + inside, (3 * (size_t)g->vertex_count - inside) * sizeof *g->x);
    }
    g->stale = false;
    geo_rigid_set(g, g->x);
}

void geo_element_gradient(const pl_geometric *g, const double *x, int32_t e, double F[9])
{
    const pl_mesh_view *v = &g->mesh;
    const int n = (int)(v->node_start[e + 1] - v->node_start[e]);
    double xi[3] = {0.25, 0.25, 0.25}, dN[3 * GEO_NODES], M[9] = {0}, D[9] = {0}, C[9];

    if (n == 6) {
        xi[0] = xi[1] = 1.0 / 3;
        xi[2] = 0;
    }

    pl_shape_eval(n == 4 ? PL_TET4 : PL_PRISM6, xi, NULL, dN);
    for (int a = 0; a < n; ++a) {
        const size_t k = 3 * (size_t)v->node[v->node_start[e] + a];
        for (int i = 0; i < 9; ++i) {
            M[i] += g->X[k + (size_t)(i / 3)] * dN[3 * a + i % 3];
            D[i] += x[k + (size_t)(i / 3)] * dN[3 * a + i % 3];
        }
    }

    pl_cofactor3(M, C);
    const double det = pl_det3(M);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            F[3 * i + j] = pl_dot3(D + 3 * i, C + 3 * j) / det;
        }
    }
}

static void solve_end(pl_geometric *g, pl_state *state)
{
    for (int32_t v = 0; v < g->corner_count; ++v) {
        memcpy(state->x + 3 * (size_t)g->map.vertex_of[v], g->x + 3 * (size_t)v, 3 * sizeof *g->x);
    }

    for (int32_t k = 0; k < g->map.mid_count; ++k) {
        const geo_mid *m = &g->map.mid[k];
        double F[9], offset[3] = {0};
        if (pl_norm3(m->offset) > 0) {
            geo_element_gradient(g, g->x, m->element, F);
            pl_mulv3(F, m->offset, offset);
        }

        for (int i = 0; i < 3; ++i) {
            state->x[3 * (size_t)m->vertex + (size_t)i] =
                0.5 * (g->x[3 * (size_t)m->a + (size_t)i] + g->x[3 * (size_t)m->b + (size_t)i]) + offset[i];
        }
    }

    for (int i = 0; i < g->drive_count; ++i) {
        state->multiplier[i] = g->drive[i].mode == GEO_GROWTH ? 0 : g->drive[i].effort;
        state->active[i] = g->drive[i].mode >= GEO_CONSTRAINT && g->drive[i].active;
    }

    state->load = 1;
}

// The outcome in the order of what matters: an inverted body is no answer, whatever else holds.
static void solve_report(const pl_geometric *g, const solve *s, bool done, pl_outcome outcome, double started,
                         pl_solve_report *report)
{
    *report = (pl_solve_report){.outcome = outcome, .negative_count = -1, .increments = 1};
    report->iterations = g->now.iterations;
    report->solves = g->now.solves;
    report->residual = geo_largest(g, g->work.r);
    const double scale = geo_largest(g, g->work.f);
    report->residual_relative = scale > 0 ? report->residual / scale : 0;
    report->step = s->step;
    report->seconds = pl_seconds() - started;
    report->energy = g->now.energy;
    report->load_reached = 1;
    report->constraint_error = solve_gap(g);
    report->min_J = g->now.min_J;
    report->max_stretch = geo_largest_stretch(g);
    char *text = report->message;

    if (g->now.inverted > 0) {
        report->outcome = PL_INVERTED;
        snprintf(text, sizeof report->message, "%d element%s inverted (plain step %.2g mm)",
                 (int)g->now.inverted, g->now.inverted == 1 ? " is" : "s are", s->step);
    } else if (done) {
        report->outcome = PL_SOLVED;
        const int n = snprintf(text, sizeof report->message,
                               "solved on the corner mesh; the plain step is %.2g mm", s->step);
        if (g->contact) {
            snprintf(text + n, sizeof report->message - (size_t)n, "; %d springs keep it out, %d updates",
                     g->now.springs, g->now.rounds);
        }
    } else if (outcome == PL_STOPPED) {
        snprintf(text, sizeof report->message, "interrupted");
    } else if (g->now.inside > 0 && isfinite(s->step)) {
        report->outcome = PL_NOT_CONVERGED;
        snprintf(text, sizeof report->message,
                 "%d vertices are still inside an obstacle or the body itself, by up to %.2g mm, after %d "
                 "updates of their springs and %d iterations",
                 g->now.inside, g->now.depth, g->now.rounds, g->now.iterations);
    } else if (!isfinite(s->step)) {
        report->outcome = PL_ITERATION_LIMIT;
        snprintf(text, sizeof report->message, "the iteration diverged (overflow)");
    } else if (g->options.stop == PL_STOP_TIP_MOTION && g->now.iterations < g->options.iteration_limit) {
        report->outcome = PL_NOT_CONVERGED;
        snprintf(
            text, sizeof report->message,
            "stopped because the tip moved less than %.2g mm, which is not convergence: the next plain step "
            "moves a vertex by %.2g mm",
            g->options.tip_tolerance, s->step);
    } else {
        snprintf(text, sizeof report->message,
                 "stopped by the limit of %d iterations or the time limit; the plain step is %.2g mm, the "
                 "tolerance %.2g",
                 g->options.iteration_limit, s->step, g->options.length_tolerance);
    }
}

static pl_status solve_check(const pl_geometric *g, const pl_state *state, const double *command,
                             pl_error *err)
{
    if (state->vertex_count != pl_mesh_get(g->robot->mesh).vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "local_global: the state belongs to another robot");
    }

    for (int c = 0; c < g->robot->command_count; ++c) {
        if (isinf(command[c])) {
            return pl_fail(err, PL_BAD_INPUT, "local_global: command '%s' is infinite",
                           g->robot->command[c].name);
        }
    }

    return PL_OK;
}

// Driven clamps move in plain steps of at most a tenth of a radian or a fiftieth of the size, so that
// the body comes along instead of being torn.
static void solve_carry(pl_geometric *g, double from)
{
    double distance = 0;
    for (int k = 0; k < g->robot->support_count; ++k) {
        const pl_support *s = &g->robot->support[k];
        distance = fmax(distance, fmax(pl_norm3(s->rotate) / 0.1, pl_norm3(s->move) / (0.02 * g->size)));
    }

    const int steps = 1 + (int)fmin(1000, distance * fabs(1 - from));
    for (int k = 1; k <= steps; ++k) {
        geo_clamp(g, k == steps ? 1 : from + (1 - from) * k / steps, g->x);

        if (k < steps) {
            geo_local(g, g->x, g->work.f);
            geo_global(g, g->work.f, g->work.plain, g->work.r);
            for (int64_t i = 0; i < 3 * (int64_t)g->vertex_count; ++i) {
                g->x[i] += g->work.plain[i];
            }
            geo_rigid_set(g, g->x);
            ++g->now.iterations;
        }
    }
}

// A shape that overlaps an obstacle between its vertices is not solved.
static void solve_examine(const pl_geometric *g, const pl_state *state, pl_solve_report *report)
{
    pl_contact_fault fault = {0};
    for (int o = 0; report->outcome == PL_SOLVED && g->contact && o < g->robot->contact.obstacle_count; ++o) {
        double R[9], t[3];
        pl_robot_obstacle_pose(g->robot, o, state->command, state->x, R, t);
        pl_robot_obstacle_overlap(g->robot, o, R, t, state->x, &fault);
    }

    if (fault.obstacle) {
        report->outcome = PL_PENETRATING;
        pl_contact_fault_text(&fault, report->message, sizeof report->message);
    }
}

pl_status pl_geometric_solve(pl_geometric *g, pl_state *state, const double *command, pl_solve_report *report,
                             pl_error *err)
{
    const pl_status status = solve_check(g, state, command, err);
    if (status != PL_OK) {
        return status;
    }
    return geo_remesh_wanted(g) ? geo_remesh_solve(g, state, command, report, err)
                                : geo_solve_stage(g, state, command, report, err);
}

pl_status geo_solve_stage(pl_geometric *g, pl_state *state, const double *command, pl_solve_report *report,
                          pl_error *err)
{
    const double started = pl_seconds();
    const double load = g->stale ? 0 : state->load;
    pl_status status = geo_drives_begin(g, command, err);

    if (status != PL_OK) {
        return status;
    }
    g->now.iterations = g->now.accelerated = g->now.rejected = g->now.solves = 0;
    g->now.local_seconds = g->now.global_seconds = g->now.acceleration_seconds = 0;
    geo_memory_reset(g);
    const int steps = geo_contact_begin(g, load > 0 ? state->command : NULL, command);
    status = g->contact ? geo_contact_refresh(g, err) : PL_OK;
    if (status != PL_OK) {
        return status;
    }
    solve_begin(g, state);
    solve_carry(g, load);
    solve s = {.x = g->x,
               .merit = INFINITY,
               .best = INFINITY,
               .constrained = solve_constrained(g),
               .tolerance = g->options.length_tolerance};
    pl_outcome outcome = PL_ITERATION_LIMIT;
    for (int k = 1; k < steps; ++k) {
        solve_push(g, &s, (double)k / steps);
    }
    geo_contact_place(g, 1);
    const bool done =
        g->contact ? solve_contact(g, &s, started, &outcome) : solve_iterate(g, &s, started, &outcome);
    geo_count_inverted(g, g->x);
    solve_end(g, state);
    for (int c = 0; c < g->robot->command_count; ++c) {
        state->command[c] = command[c];
    }
    solve_report(g, &s, done, outcome, started, report);
    solve_examine(g, state, report);

    return PL_OK;
}

pl_status geo_linearize(pl_geometric *g, const pl_state *state, pl_error *err)
{
    pl_status status = solve_check(g, state, state->command, err);
    if (status == PL_OK) {
        status = geo_drives_begin(g, state->command, err);
    }

    if (status == PL_OK) {
        solve_begin(g, state);
        geo_local(g, g->x, g->work.f);
        geo_global(g, g->work.f, g->work.plain, g->work.r);
    }

    return status;
}

pl_status pl_geometric_residual(pl_geometric *g, const pl_state *state, const double *command, double *energy,
                                double *step, pl_error *err)
{
    pl_status status = solve_check(g, state, command, err);
    if (status == PL_OK) {
        status = geo_drives_begin(g, command, err);
    }

    if (status == PL_OK) {
        solve_begin(g, state);
        *energy = geo_local(g, g->x, g->work.f);
        geo_global(g, g->work.f, g->work.plain, g->work.r);
        *step = geo_largest(g, g->work.plain);
    }

    return status;
}
