// A run: steps of the lengths that the error asks for, one after another.
//
// Steps are the largest one halved `level` times; a step is twice as long as the last only where the times of
// the longer steps lie (counted from the anchor, the start or the last corner of a command), so that few
// lengths occur and their factors can be kept. A step ends at every corner of a command.
#include <stdio.h>
#include "dynamics/dynamics_impl.h"

#define RUN_ERROR_SHARE 8       // stages are solved to this part of the error accepted
#define RUN_SAFETY 0.25         // of the tolerance, for one step: errors of steps add up over some swings
#define RUN_GROW 0.1            // of the error accepted: below it the next step is twice as long
#define RUN_SCALE_LEAST 1e-2    // of the size of the body: motion that errors are compared with, at least
#define RUN_ROUNDING 1e-12      // of the size: stages are not solved further
#define RUN_EXCHANGE_LEAST 1e-2 // of the largest kinetic energy: exchanged in a step, at least
#define RUN_ALIGNED 1e-6        // of a step

static double run_largest_step(const pl_dynamics *d)
{
    return d->options.step > 0 ? d->options.step : d->options.largest_step;
}

static double run_step(const pl_dynamics *d)
{
    return ldexp(run_largest_step(d), -d->level);
}

// What errors are compared with: the largest displacement since the start, or that in a step from the
// present velocity and acceleration: `scale` and, per step length, `speed` and `push`.
static void run_scale(pl_dynamics *d)
{
    double moved = RUN_SCALE_LEAST * d->problem->size;
    d->speed = d->push = 0;
    for (int64_t v = 0; v < dynamics_full(d); v += 3) {
        moved = fmax(moved, pl_distance3(d->now.x + v, d->start + v));
        d->speed = fmax(d->speed, pl_norm3(d->now.v + v));
        d->push = fmax(d->push, pl_norm3(d->now.a + v));
    }

    d->scale = fmax(d->scale, moved);
}

// Whether the acceleration of `now` is not that after it: commands or forces differ from those of its state,
// or a drive changes its rate.
static bool run_jump(pl_dynamics *d)
{
    const double load = d->signal.load ? d->signal.load(d->signal.user, d->now.time) : 1;
    const bool goes_over = dynamics_spread_jumps(d);
    bool jump = goes_over || d->forces_changed || d->corner || fabs(load - d->now.state->load) > 1e-12;

    d->forces_changed = d->corner = false;
    if (d->signal.command) {
        d->signal.command(d->signal.user, d->now.time, d->command);
    }
    if (d->signal.force) {
        d->signal.force(d->signal.user, d->now.time, d->force);
    }
    if (d->signal.base) {
        d->signal.base(d->signal.user, d->now.time, d->base);
    }
    for (int i = 0; d->signal.base && i < 3; ++i) {
        jump = jump || fabs(d->base[i] - d->now.base[i]) > 1e-6 * pl_norm3(d->base);
    }
    for (int k = 0; d->signal.force && k < 3 * d->robot->marker_count; ++k) {
        jump = jump || fabs(d->force[k] - d->now.state->force[k]) > 1e-12 * fabs(d->force[k]);
    }
    for (int c = 0; d->signal.command && c < d->now.state->command_count; ++c) {
        const double a = d->command[c], b = d->now.state->command[c];
        jump = jump || (isnan(a) != isnan(b)) || (!isnan(a) && fabs(a - b) > 1e-12 * fmax(fabs(a), fabs(b)));
    }

    return jump;
}

pl_status dynamics_prepare(pl_dynamics *d, bool rest, pl_error *err)
{
    return run_jump(d) || rest ? dynamics_acceleration(d, dynamics_stage_length(run_step(d)), err)
                               : dynamics_recall(d, err);
}

// The length of the next step: never beyond the next corner, and not much short of it either.
static double run_length(const pl_dynamics *d)
{
    const double h = run_step(d);
    const double corner = d->signal.corner ? d->signal.corner(d->signal.user, d->now.time) : INFINITY;
    const double left = corner - d->now.time;

    if (left <= h * (1 + 1e-9)) {
        return left;
    }

    return left < 2 * h * (1 - 1e-9) && left > h * (1 + 1e-9) ? 0.5 * left : h;
}

// `next` becomes `now`.
static pl_status run_accept(pl_dynamics *d, double h, double error, int iterations, pl_error *err)
{
    const dynamics_point before = d->before;
    d->before = d->now;
    d->now = d->next;
    d->next = before;
    d->kinetic_most = fmax(d->kinetic_most, dynamics_kinetic(d, d->now.v));
    d->exchanged = fabs(d->energy_next.actuators - d->energy.actuators) +
                   fabs(d->energy_next.loads - d->energy.loads) + RUN_EXCHANGE_LEAST * d->kinetic_most;
    d->energy = d->energy_next;
    if (d->touches) {
        const pl_state_block *own = &d->middle.state->history[PL_STATE_CONTACT];
        memcpy(d->contact_first, own->value, (size_t)own->count * sizeof *own->value);
        d->contact_known = true;
    }

    pl_viscous_accept(d->viscous);
    pl_softening_accept(d->softening);
    d->report.steps++;
    d->report.time = d->now.time;
    d->report.step = h;
    d->report.smallest_step = fmin(d->report.smallest_step, h);
    d->report.error = fmax(d->report.error, error);

    // the factor is made again once the iterations beyond the fewest it needed cost more than another one
    dynamics_level *level = &d->levels.level[d->levels.now];
    if (level->best < 0 || iterations < level->best) {
        level->best = iterations;
    }
    level->extra += iterations - level->best;
    if (level->extra > d->cost) {
        d->problem->linear.has_factor = false;
    }

    return pl_problem_accept(d->problem, d->now.x, PL_ACCEPT_INCREMENT, err);
}

// Shorter steps after a failure; false: there is none.
static bool run_shorten(pl_dynamics *d, double h)
{
    d->report.rejected++;
    const double largest = run_largest_step(d);
    do {
        d->level++;
    } while (ldexp(largest, -d->level) > 0.75 * h);
    return d->level <= d->options.halvings;
}

// A step twice as long, where the error allows it and the longer steps lie.
static void run_lengthen(pl_dynamics *d, double h, double error, double accepted)
{
    const bool small = d->options.step > 0 || error < RUN_GROW * accepted;
    if (d->level == 0 || !small || h < 0.999 * run_step(d)) {
        return;
    }

    const double since = (d->now.time - d->anchor) / (2 * run_step(d));
    if (fabs(since - round(since)) < RUN_ALIGNED) {
        d->level--;
    }
}

static const char *run_failure(stage_outcome outcome, double error)
{
    switch (outcome) {
    case STAGE_INVERTED:
        return "an element is inverted";
    case STAGE_INDEFINITE:
        return "the tangent is not positive";
    case STAGE_DIVERGED:
        return "a stage does not converge";
    default:
        return isfinite(error) ? "the error is larger than accepted" : "a stage does not converge";
    }
}

// The error that a step may have, mm, and how far its stages are solved.
static double run_accepted(const pl_dynamics *d, double h)
{
    return RUN_SAFETY * d->options.tolerance * fmax(d->scale, h * d->speed + 0.5 * h * h * d->push);
}

static double run_tolerance(const pl_dynamics *d, double h)
{
    const double given = d->options.solve_tolerance;
    return fmax(RUN_ROUNDING * d->problem->size, given > 0 ? given : run_accepted(d, h) / RUN_ERROR_SHARE);
}

// A step of length h; *accepted: it is the last one now.
static pl_status run_try(pl_dynamics *d, double h, bool *accepted, stage_outcome *outcome, double *error,
                         pl_error *err)
{
    const double limit = run_accepted(d, h);
    const bool automatic = d->options.step == 0;
    const int before = d->report.evaluations;

    *accepted = false;
    const pl_status status = dynamics_step(d, h, run_tolerance(d, h), error, outcome, err);
    if (status != PL_OK) {
        return status;
    }

    // what the step does not resolve does not count, but for the momentum of impacts: a step longer than an
    // impact would take a rebound for none
    if (*outcome == STAGE_SOLVED && automatic && *error > limit) {
        const double struck = d->touches ? dynamics_struck(d, h) : 0;
        *error = fmax(struck, dynamics_filtered_error(d, h));
    }
    *accepted = *outcome == STAGE_SOLVED && (!automatic || *error <= limit);
    if (!*accepted) {
        dynamics_step_undo(d);
        pl_log(1, "  step %.3g ms at %.6g s rejected: %s, error %.2e of %.2e mm", 1e3 * h, d->now.time,
               run_failure(*outcome, *error), *error, limit);
        d->problem->linear.has_factor = d->problem->linear.has_factor && *outcome == STAGE_SOLVED;
        return PL_OK;
    }

    pl_log(2, "  step %.3g ms at %.6g s: error %.2e of %.2e mm", 1e3 * h, d->now.time, *error, limit);
    const double corner = d->signal.corner ? d->signal.corner(d->signal.user, d->now.time) : INFINITY;
    const bool at_corner = d->next.time >= corner - 1e-9 * h;
    const pl_status advanced = run_accept(d, h, *error, d->report.evaluations - before, err);
    d->anchor = at_corner ? d->now.time : d->anchor;
    d->corner = at_corner && d->problem->row_count > 0;
    run_lengthen(d, h, *error, limit);

    return advanced;
}

// One accepted step; `go_on` false: none could be taken.
static pl_status run_one(pl_dynamics *d, bool *go_on, pl_error *err)
{
    *go_on = false;
    if (run_jump(d)) {
        const pl_status status = dynamics_acceleration(d, dynamics_stage_length(run_step(d)), err);
        if (status != PL_OK) {
            return status;
        }
    }

    run_scale(d);
    for (;;) {
        const double h = run_length(d);
        const bool known = d->touches && d->contact_known;
        stage_outcome outcome = STAGE_SOLVED;
        double error = INFINITY;
        const pl_status status = run_try(d, h, go_on, &outcome, &error, err);
        if (status != PL_OK || *go_on) {
            return status;
        }

        // it may have been the pressures of the last step: once more without them
        if (known && outcome != STAGE_SOLVED) {
            d->report.rejected++;
            continue;
        }
        if (!run_shorten(d, h)) {
            snprintf(d->report.message, sizeof d->report.message,
                     "at %.6g s no step converges: %s with steps of %.3g ms", d->now.time,
                     run_failure(outcome, error), 1e3 * h);
            d->report.outcome = PL_MOTION_STALLED;
            d->level = d->options.halvings;
            return PL_OK;
        }
    }
}

pl_status pl_dynamics_advance(pl_dynamics *d, double time, bool (*each)(void *user), void *user,
                              pl_motion_report *report, pl_error *err)
{
    if (!d->started) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: the motion has not been started");
    }
    if (!isfinite(time)) {
        return pl_fail(err, PL_BAD_INPUT, "dynamics: the time to advance to is not finite");
    }

    const double clock = pl_seconds(), first = d->now.time;
    pl_status status = PL_OK;
    d->report.outcome = PL_MOTION_DONE;
    d->report.message[0] = 0;
    d->watch = (pl_watch){.progress = d->options.progress, .fraction = -1};
    while (status == PL_OK && d->now.time < time - 1e-9 * run_step(d)) {
        bool go_on = pl_progress_step(&d->options.progress, (d->now.time - first) / (time - first), "motion");
        if (go_on) {
            status = run_one(d, &go_on, err);
        } else {
            d->report.outcome = PL_MOTION_STOPPED;
        }
        if (status == PL_INTERRUPTED) { // inside a factorisation
            d->report.outcome = PL_MOTION_STOPPED;
            status = PL_OK;
            go_on = false;
        }
        if (status == PL_OK && go_on && each && !each(user)) {
            d->report.outcome = PL_MOTION_STOPPED;
            go_on = false;
        }
        if (!go_on) {
            break;
        }
    }

    d->report.seconds += pl_seconds() - clock;
    if (status == PL_OK) {
        d->report.energy = pl_dynamics_energy(d);
        *report = d->report;
    }

    return status;
}
