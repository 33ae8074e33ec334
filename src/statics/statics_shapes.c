// The search for the stable shapes at given commands (pliant/shapes.h).
//
// A list of shapes grows: the load path gives the first; then, for each shape in turn, branches of equilibria
// through it, starts along its softest modes and deflated Newton searches beside it. Whatever they find is
// completed by an ordinary solve at the given commands, which proves it, and joins the list if no shape there
// is as near.
//
// Deflation: with the shapes x_i known, Newton's method on m(x) G(x) = 0, m = prod (1 / eta_i^2 + 1), eta_i =
// |x - x_i| over a length, does not return to them. Its step is that of G, scaled,
//   d = tau K^-1 (-G),   tau = 1 / (1 - grad m . d_N / m),   grad m . d_N / m = - sum 2 / (1 + eta_i^2) (x -
//   x_i) . d_N / |x - x_i|^2.
#include <stdio.h>
#include <stdlib.h>
#include "statics/statics_shapes.h"

#define SHAPES_DEFLATIONS 2 // searches with deflation about each shape
#define SHAPES_MERGE 1e-3   // of the robot's size: shapes whose vertices are all that near are one
#define SHAPES_MOST 16      // shapes in the list

#define SHAPES_NUDGE 0.05                        // rad: how far beside a shape it begins
#define SHAPES_LENGTH 0.1                        // of the size, root mean square: the length of eta
static const double shapes_turn[] = {0.35, 1.0}; // rad: starts along modes

struct pl_shapes {
    pl_stable_shape *shape;
    pl_state **state;
    int count, capacity;
};

typedef struct search {
    pl_statics *s;
    const double *command;
    pl_shapes_options options;
    pl_shapes *out;
    pl_shapes_report *report;
    pl_state *rest, *trial;
    double *x, *modes, *meet;
    double stiffness[12];
    int first,
        of_first;    // searches done and known before the neighbourhoods of shapes: paths through commands
    int shape, done; // the shape whose neighbourhood is searched, and how many searches of it are done
} search;

pl_shapes_options pl_shapes_options_default(void)
{
    return (pl_shapes_options){.modes = 3, .commands = true, .branches = true, .load_most = 2};
}

const char *pl_shape_end_name(pl_shape_end end)
{
    static const char *const name[] = {"continues", "limit", "bifurcation", "unknown"};
    return (int)end >= 0 && end <= PL_SHAPE_UNKNOWN ? name[end] : "?";
}

const char *pl_shape_source_name(pl_shape_source source)
{
    static const char *const name[PL_SHAPE_SOURCES] = {"load path", "other commands", "branch", "mode",
                                                       "deflation"};
    return (int)source >= 0 && source < PL_SHAPE_SOURCES ? name[source] : "?";
}

// Searches beside one shape: both directions of its branch, starts along its modes, deflated searches.
static int search_beside(const search *f)
{
    return 2 * f->options.branches + 2 * PL_COUNT(shapes_turn) * f->options.modes + SHAPES_DEFLATIONS;
}

// The share of the searches that the shapes found so far ask for. It falls where another shape is found.
static bool search_on(search *f)
{
    char text[60];
    const int beside = search_beside(f);
    const int done = f->first + f->shape * beside + (f->done < beside ? f->done : beside),
              all = f->of_first + f->out->count * beside;

    snprintf(text, sizeof text, "%d shapes, %d searches", f->out->count, f->report->starts);
    f->report->stopped = f->report->stopped ||
                         !pl_progress_step(&f->options.progress, all > 0 ? (double)done / all : -1, text);
    return !f->report->stopped && f->out->count < SHAPES_MOST;
}

// ---- the list
// Adds the trial state, solved, unless the list has it; memory for all shapes was taken before.
static pl_status search_add(search *f, pl_shape_source source, const pl_solve_report *solved, pl_error *err)
{
    pl_shapes *out = f->out;
    const double merge = SHAPES_MERGE * f->s->problem->size;

    for (int i = 0; i < out->count; ++i) {
        if (pl_newton_distance(&f->s->newton, out->state[i]->x, f->trial->x) < merge) {
            return PL_OK;
        }
    }

    if (out->count == out->capacity) {
        return PL_OK;
    }

    pl_status status = pl_state_create(f->s->robot, &out->state[out->count], err);
    status = status == PL_OK ? pl_state_copy(out->state[out->count], f->trial) : status;
    if (status != PL_OK) {
        return pl_fail_memory(err, "shapes");
    }
    out->shape[out->count] = (pl_stable_shape){.state = out->state[out->count],
                                               .energy = solved->energy,
                                               .load = {1, 1},
                                               .end = {PL_SHAPE_UNKNOWN, PL_SHAPE_UNKNOWN},
                                               .source = source,
                                               .image = -1,
                                               .report = *solved};
    pl_log(1, "shape %d, by %s: energy %.6g mJ", out->count + 1, pl_shape_source_name(source),
           solved->energy);
    ++out->count;

    return PL_OK;
}

// A solve of the trial state at the commands given; a stable shape joins the list.
static pl_status search_solve(search *f, const double *command, pl_solve_report *solved, pl_error *err)
{
    pl_statics_forget(f->s);
    const pl_status status = pl_statics_solve(f->s, f->trial, command, solved, err);
    f->report->factorizations += solved->factorizations;
    f->report->stopped = f->report->stopped || (status == PL_OK && solved->outcome == PL_STOPPED);
    return status;
}

// From the shape x at the given commands.
static pl_status search_from(search *f, const double *x, pl_shape_source source, pl_error *err)
{
    pl_solve_report solved = {0};
    pl_status status = pl_state_copy(f->trial, f->out->state[0]);

    if (status == PL_OK) {
        pl_state_set_positions(f->trial, x);
        status = search_solve(f, f->command, &solved, err);
    }

    f->report->starts++;
    f->report->failed += status == PL_OK && solved.outcome != PL_SOLVED;

    return status == PL_OK && solved.outcome == PL_SOLVED ? search_add(f, source, &solved, err) : status;
}

// ---- starts along modes
// The shape x moved along the mode (3 per vertex) until something turns by `turn`, or strains by as much as a
// deflated step: in f->x.
static void search_move(search *f, const double *x, const double *mode, double turn)
{
    pl_problem *p = f->s->problem;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *d = pl_problem_take_unknown(p), strain = 0;

    memset(d, 0, (size_t)p->unknowns.n * sizeof *d);
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        if (p->unknowns.dof[i] >= 0) {
            d[p->unknowns.dof[i]] = mode[i];
        }
    }

    const double rotation = pl_newton_step_rotation(&f->s->newton, x, d, &strain);
    const double scale = turn / fmax(fmax(rotation, strain * fabs(turn) / STATICS_STRAIN), 1e-12);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        d[i] *= scale;
    }

    if (f->s->options.warp && pl_newton_can_corotate(&f->s->newton)) {
        pl_newton_corotate(&f->s->newton, x, d, f->x);
    } else {
        pl_problem_move(p, x, d, 1, f->x);
    }

    pl_arena_end(&p->scratch, mark);
}

static pl_status search_modes(search *f, const pl_state *at, int count, int *found, pl_error *err)
{
    pl_error local = {0};
    const pl_status status = pl_statics_modes(f->s, at, count, f->stiffness, f->modes, found, &local);
    f->report->factorizations++;
    return status == PL_NO_MEMORY ? pl_fail(err, status, "%s", local.text) : PL_OK;
}

// From the saddle x at the given commands to both sides along its modes of negative stiffness.
static pl_status search_leave(search *f, const double *x, pl_shape_source source, pl_error *err)
{
    const int64_t n = 3 * (int64_t)f->s->problem->mesh.vertex_count;
    int found = 0;

    f->report->saddles++;
    pl_status status = pl_state_copy(f->trial, f->out->state[0]);
    if (status != PL_OK) {
        return status;
    }
    pl_state_set_positions(f->trial, x);
    double *saddle = PL_NEW_ARRAY(double, n);
    if (!saddle) {
        return pl_fail_memory(err, "shapes");
    }
    memcpy(saddle, x, (size_t)n * sizeof *saddle);
    status = search_modes(f, f->trial, 3, &found, err);
    for (int k = 0; k < found && status == PL_OK; ++k) {
        for (int side = 1; side >= -1 && f->stiffness[k] < 0 && status == PL_OK && search_on(f); side -= 2) {
            search_move(f, saddle, f->modes + k * n, side * STATICS_SMALL);
            status = search_from(f, f->x, source, err);
        }
    }

    pl_free(saddle);

    return status;
}

static pl_status search_along_modes(search *f, int shape, pl_error *err)
{
    const int64_t n = 3 * (int64_t)f->s->problem->mesh.vertex_count;
    int found = 0;
    const int wanted = f->options.modes > 0 ? f->options.modes : 1;
    pl_status status = search_modes(f, f->out->state[shape], wanted, &found, err);

    f->out->shape[shape].stiffness = found > 0 ? f->stiffness[0] : NAN;
    for (int k = 0; k < found && k < f->options.modes; ++k) {
        for (int a = 0; a < PL_COUNT(shapes_turn); ++a) {
            for (int side = 1; side >= -1 && status == PL_OK && search_on(f); side -= 2) {
                search_move(f, f->out->state[shape]->x, f->modes + k * n, side * shapes_turn[a]);
                status = search_from(f, f->x, PL_SHAPE_MODE, err);
                f->done++;
            }
        }
    }

    return status;
}

// ---- paths through other commands
// Each command in turn to the ends of its span, the others as given, and back.
static pl_status search_commands(search *f, pl_error *err)
{
    const int count = pl_robot_command_count(f->s->robot);
    double *other = PL_NEW_ARRAY(double, count + 1);

    if (!other) {
        return pl_fail_memory(err, "shapes");
    }

    pl_status status = PL_OK;
    f->of_first = 2 * count;
    for (int c = 0; c < count; ++c) {
        const pl_command_info info = pl_robot_command(f->s->robot, c);
        for (int end = 0; end < 2 && status == PL_OK && search_on(f); ++end) {
            pl_solve_report there = {0}, back = {0};
            f->first++;
            memcpy(other, f->command, (size_t)count * sizeof *other);
            other[c] = info.span[end];
            if (other[c] == f->command[c]) {
                continue;
            }
            f->report->starts++;
            status = pl_state_copy(f->trial, f->out->state[0]);
            status = status == PL_OK ? search_solve(f, other, &there, err) : status;
            if (status == PL_OK && !there.no_state) { // also from where the path there ended
                status = search_solve(f, f->command, &back, err);
            }
            const bool solved = status == PL_OK && !there.no_state && back.outcome == PL_SOLVED;
            f->report->failed += !solved;
            status = solved ? search_add(f, PL_SHAPE_COMMANDS, &back, err) : status;
        }
    }

    pl_free(other);

    return status;
}

// ---- branches
// The family of loads that branches are followed on: see pliant/shapes.h.
static pl_status search_family(search *f, pl_error *err)
{
    bool idle = true;
    for (int c = 0; c < pl_robot_command_count(f->s->robot); ++c) {
        idle = idle && isnan(f->command[c]);
    }
    pl_state_reset(f->rest, f->s->robot);
    if (!idle) {
        f->rest->load = 1;
        memcpy(f->rest->force, f->s->problem->forces.asked,
               3 * ((size_t)f->s->robot->marker_count + 1) * sizeof *f->rest->force);
    }

    return pl_problem_begin_step(f->s->problem, &(pl_step){.from = f->rest, .command = f->command, .load = 1},
                                 err);
}

// Both directions of the branch through a shape: where it ends, and what it meets.
static pl_status search_branch(search *f, int shape, pl_error *err)
{
    pl_problem *p = f->s->problem;
    const int64_t n = 3 * (int64_t)p->mesh.vertex_count;

    for (int side = -1; side <= 1; side += 2) {
        pl_status status = search_family(f, err);
        if (status != PL_OK || !statics_branch_possible(f->s)) {
            return status;
        }
        f->report->branches = true;
        statics_branch branch = {.meet = f->meet};
        pl_newton_watch(&f->s->newton, &f->s->options.progress, "following a branch", 0);
        f->s->newton.iterations = f->s->increments = p->linear.factorizations = p->linear.solves = 0;
        status =
            statics_branch_follow(f->s, f->out->state[shape]->x, side, f->options.load_most, &branch, err);
        f->report->factorizations += p->linear.factorizations;
        f->out->shape[shape].load[side > 0] = branch.load;
        f->out->shape[shape].end[side > 0] = branch.end;
        for (int k = 0; k < branch.meet_count && status == PL_OK && search_on(f); ++k) {
            memcpy(f->x, branch.meet + k * n, (size_t)n * sizeof *f->x);
            status = branch.negative[k] > 0 ? search_leave(f, f->x, PL_SHAPE_BRANCH, err)
                                            : search_from(f, f->x, PL_SHAPE_BRANCH, err);
        }
        f->done++;
        if (status != PL_OK) {
            return status;
        }
    }

    return PL_OK;
}

// ---- deflation
// grad m . d / m at x for the motion d (unknowns)
static double deflation_slope(const search *f, const double *x, const double *d)
{
    const pl_problem *p = f->s->problem;
    const int64_t n = 3 * (int64_t)p->mesh.vertex_count;
    const double length = SHAPES_LENGTH * p->size, unit = length * length * p->mesh.vertex_count;
    double slope = 0;

    for (int i = 0; i < f->out->count; ++i) {
        const double *known = f->out->state[i]->x;
        double square = 0, along = 0;
        for (int64_t k = 0; k < n; ++k) {
            const double apart = x[k] - known[k];
            square += apart * apart;
            along += p->unknowns.dof[k] >= 0 ? apart * d[p->unknowns.dof[k]] : 0;
        }
        slope -= square > 0 ? 2 / (1 + square / unit) * along / square : 0;
    }

    return slope;
}

// Newton's method on the deflated equations from x (3 per vertex, also the result). True: it converged;
// *negative eigenvalues there.
static bool search_newton(search *f, double *x, int *negative, pl_error *err)
{
    pl_statics *s = f->s;
    pl_problem *p = s->problem;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *d = pl_problem_take_unknown(p), *to = pl_problem_take_full(p), gap[PL_ROWS_MAX];
    bool converged = false, possible = true;

    for (int k = 0; k < STATICS_TOGETHER && possible && !converged && pl_newton_continue(&s->newton); ++k) {
        possible =
            isfinite(pl_problem_evaluate(p, x, s->newton.work.g)) &&
            pl_problem_refactor(p, &(pl_linearization){.x = x, .indefinite = PL_AS_IT_IS}, err) == PL_OK &&
            p->linear.has_factor && isfinite(pl_problem_evaluate(p, x, s->newton.work.g));
        if (!possible) {
            break;
        }
        pl_newton_forget(&s->newton);
        const double relative =
            pl_problem_residual(p, s->newton.work.g, s->newton.work.r) / pl_problem_force_scale(p);
        *negative = pl_problem_unstable(p);
        pl_problem_gaps(p, gap);
        pl_newton_direction(&s->newton, s->newton.work.r, gap, d);
        converged = relative < STATICS_FORCE;

        // the step of the deflated equations, within what a linear step can predict
        double strain;
        const double tau = 1 / (1 - deflation_slope(f, x, d)),
                     turn = pl_newton_step_rotation(&s->newton, x, d, &strain),
                     most = fmin(NEWTON_LEAVE_STEP / fmax(turn, 1e-12), STATICS_STRAIN / fmax(strain, 1e-12)),
                     scale = fmin(fmax(tau, -most), most);
        pl_log(2, "    deflation %d: residual %.2e, tau %.3g, step turns %.2g rad, %d negative", k, relative,
               tau, turn, *negative);
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            d[i] *= scale;
        }
        if (s->options.warp && pl_newton_can_corotate(&s->newton)) {
            pl_newton_corotate(&s->newton, x, d, to);
        } else {
            pl_problem_move(p, x, d, 1, to);
        }
        possible = isfinite(scale);
        if (possible && !converged) {
            memcpy(x, to, pl_problem_full_bytes(p));
        }
    }

    pl_arena_end(&p->scratch, mark);
    pl_newton_forget(&s->newton);

    return converged;
}

static pl_status search_deflate(search *f, int shape, pl_error *err)
{
    pl_problem *p = f->s->problem;
    const int64_t n = 3 * (int64_t)p->mesh.vertex_count;
    pl_status status = PL_OK;

    for (int k = 0; k < SHAPES_DEFLATIONS && status == PL_OK && search_on(f); ++k) {
        int found = 0, negative = -1;
        status = search_modes(f, f->out->state[shape], 1 + k / 2, &found, err);
        if (status != PL_OK || found < 1 + k / 2) {
            return status;
        }
        search_move(f, f->out->state[shape]->x, f->modes + k / 2 * n, k % 2 ? -SHAPES_NUDGE : SHAPES_NUDGE);
        status = pl_problem_begin_step(
            p, &(pl_step){.from = f->out->state[shape], .command = f->command, .load = 1}, err);
        if (status != PL_OK || pl_problem_touches(p) || pl_problem_lags(p)) {
            return status;
        }
        pl_error local = {0};
        pl_problem_set(p, 1);
        pl_newton_watch(&f->s->newton, &f->s->options.progress, "deflated search", 0);
        p->linear.factorizations = 0;
        f->report->starts++;
        memcpy(f->meet, f->x, (size_t)n * sizeof *f->x);
        const bool converged = search_newton(f, f->meet, &negative, &local);
        f->done++;
        f->report->factorizations += p->linear.factorizations;
        f->report->failed += !converged;
        pl_log(1, "  deflated search beside shape %d: %s, %d negative", shape + 1,
               converged ? "converged" : "did not converge", negative);
        if (converged) {
            memcpy(f->x, f->meet, (size_t)n * sizeof *f->x);
            status = negative > 0 ? search_leave(f, f->x, PL_SHAPE_DEFLATION, err)
                                  : search_from(f, f->x, PL_SHAPE_DEFLATION, err);
        }
    }

    return status;
}

// ---- the list is complete
static pl_status search_potentials(search *f, pl_error *err)
{
    for (int i = 0; i < f->out->count; ++i) {
        const pl_status status = pl_problem_begin_step(
            f->s->problem, &(pl_step){.from = f->out->state[i], .command = f->command, .load = 1}, err);
        if (status != PL_OK) {
            return status;
        }
        pl_problem_set(f->s->problem, 1);
        f->out->shape[i].potential = pl_problem_evaluate(f->s->problem, f->out->state[i]->x, NULL);
    }
    return PL_OK;
}

static int shapes_order(const void *a, const void *b)
{
    const pl_stable_shape *p = a, *q = b;
    return (p->potential > q->potential) - (p->potential < q->potential);
}

static pl_status search_images(search *f, pl_error *err)
{
    pl_shapes *out = f->out;
    qsort(out->shape, (size_t)out->count, sizeof *out->shape, shapes_order);
    statics_images *images = out->count > 1 ? statics_images_create(f->s, err) : NULL;
    if (out->count > 1 && !images) {
        return PL_NO_MEMORY;
    }

    for (int i = 1; i < out->count; ++i) {
        for (int k = 0; k < i && out->shape[i].image < 0; ++k) {
            const double *a = out->shape[k].state->x, *b = out->shape[i].state->x;
            const char *name = statics_images_find(images, a, b, pl_newton_distance(&f->s->newton, a, b));
            if (name) {
                out->shape[i].image = k;
                snprintf(out->shape[i].image_of, sizeof out->shape[i].image_of, "%s", name);
            }
        }
    }

    statics_images_destroy(images);

    return PL_OK;
}

// The first shape, then the neighbourhood of each in the list.
static pl_status search_run(search *f, pl_error *err)
{
    pl_solve_report solved = {0};
    f->report->starts = 1;
    pl_status status = search_solve(f, f->command, &solved, err);
    if (status != PL_OK) {
        return status;
    }

    if (solved.outcome != PL_SOLVED) {
        f->report->failed = 1;
        return solved.outcome == PL_STOPPED
                   ? pl_fail(err, PL_INTERRUPTED, "interrupted before a first shape was found")
                   : pl_fail(err, PL_FAILED, "no shape was found at these commands: %s", solved.message);
    }

    status = search_add(f, PL_SHAPE_PATH, &solved, err);
    if (status == PL_OK && f->options.commands) {
        status = search_commands(f, err);
    }

    const int branches = 2 * f->options.branches, modes = 2 * PL_COUNT(shapes_turn) * f->options.modes;
    for (int i = 0; i < f->out->count && status == PL_OK && search_on(f); ++i) {
        f->shape = i;
        f->done = 0;
        status = f->options.branches ? search_branch(f, i, err) : PL_OK;
        f->done = branches; // also where it cannot be followed
        status = status == PL_OK ? search_along_modes(f, i, err) : status;
        f->done = branches + modes;
        status = status == PL_OK ? search_deflate(f, i, err) : status;
    }

    status = status == PL_OK ? search_potentials(f, err) : status;

    return status == PL_OK ? search_images(f, err) : status;
}

static pl_status shapes_check(const pl_shapes_options *options, pl_error *err)
{
    if (options->modes < 0 || options->modes > PL_COUNT(((search *)0)->stiffness)) {
        return pl_fail(err, PL_BAD_INPUT, "shapes: modes is %d, must be 0 to 12", options->modes);
    }
    if (!(options->load_most > 1)) {
        return pl_fail(err, PL_BAD_INPUT, "shapes: load_most is %g, must be more than 1", options->load_most);
    }

    return PL_OK;
}

pl_status pl_shapes_find(pl_statics *statics, const double *command, const pl_shapes_options *options,
                         pl_shapes **out, pl_shapes_report *report, pl_error *err)
{
    *out = NULL;
    *report = (pl_shapes_report){0};
    pl_status status = shapes_check(options, err);
    if (status != PL_OK) {
        return status;
    }

    const int64_t n = 3 * (int64_t)statics->problem->mesh.vertex_count;
    const int limit = SHAPES_MOST, modes = options->modes > 3 ? options->modes : 3;
    search f = {.s = statics, .command = command, .options = *options, .report = report};
    f.out = pl_alloc(sizeof *f.out);
    f.x = PL_NEW_ARRAY(double, n);
    f.modes = PL_NEW_ARRAY(double, modes *n);
    f.meet = PL_NEW_ARRAY(double, BRANCH_MEETS *n);
    if (f.out) {
        *f.out = (pl_shapes){.capacity = limit,
                             .shape = PL_NEW_ARRAY(pl_stable_shape, limit),
                             .state = PL_NEW_ARRAY(pl_state *, limit)};
    }

    if (!f.out || !f.x || !f.modes || !f.meet || !f.out->shape || !f.out->state) {
        status = pl_fail_memory(err, "shapes");
    } else {
        memset(f.out->state, 0, (size_t)limit * sizeof *f.out->state);
        status = pl_state_create(statics->robot, &f.rest, err);
        status = status == PL_OK ? pl_state_create(statics->robot, &f.trial, err) : status;
        status = status == PL_OK ? search_run(&f, err) : status;
        pl_statics_forget(statics);
    }

    pl_state_destroy(f.rest);
    pl_state_destroy(f.trial);
    pl_free(f.x);
    pl_free(f.modes);
    pl_free(f.meet);
    if (status != PL_OK) {
        pl_shapes_destroy(f.out);
        return status;
    }

    *out = f.out;

    return PL_OK;
}

void pl_shapes_destroy(pl_shapes *shapes)
{
    if (shapes) {
        for (int i = 0; i < shapes->count && shapes->state; ++i) {
            pl_state_destroy(shapes->state[i]);
        }
        pl_free(shapes->state);
        pl_free(shapes->shape);
        pl_free(shapes);
    }
}

int pl_shapes_count(const pl_shapes *shapes)
{
    return shapes->count;
}

pl_stable_shape pl_shapes_get(const pl_shapes *shapes, int i)
{
    return shapes->shape[i];
}
