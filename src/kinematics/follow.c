// Paths: one inverse problem after the other, each from the solution of the one before. Rates bound the step
// between waypoints; costs are counted over the whole path.
#include "kinematics/kinematics_impl.h"
#include "kinematics/kinematics.h"

pl_follow_options pl_follow_options_default(void)
{
    return (pl_follow_options){.extrapolate = true, .free_start = true, .period = 1};
}

// One path.
typedef struct follow {
    const pl_follow_options *options;
    pl_ik *ik;
    double *before[2]; // commands of the last two waypoints, the newer first
    double *start;     // commands the next solve starts from
    int known;         // how many of them
    bool remembers;    // the model has memory: at the same commands it is elsewhere a step later
} follow;

// Waypoints, period, and an objective that takes points.
static pl_status follow_check(const pl_ik *ik, const double *point, int count, const pl_follow_options *o,
                              pl_error *err)
{
    if (count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "follow: %d waypoints, at least one is needed", count);
    }
    if (!(o->period > 0) || !isfinite(o->period)) {
        return pl_fail(err, PL_BAD_INPUT, "follow: period is %g s, must be > 0", o->period);
    }
    if (o->set) {
        return PL_OK;
    }
    if (!point) {
        return pl_fail(err, PL_BAD_INPUT, "follow: neither points nor a function that sets targets");
    }
    if (o->objective < 0 || o->objective >= ik->goal.objective_count) {
        return pl_fail(err, PL_BAD_INPUT, "follow: there is no objective %d, the problem has %d",
                       o->objective, ik->goal.objective_count);
    }

    const pl_objective_kind kind = ik->goal.objective[o->objective].kind;
    if (kind != PL_OBJECTIVE_POSITION && kind != PL_OBJECTIVE_DISTANCE && kind != PL_OBJECTIVE_DIRECTION) {
        return pl_fail(err, PL_BAD_INPUT,
                       "follow: objective %d is a %s, but points need a position, distance or direction",
                       o->objective, pl_objective_kind_name(kind));
    }

    return PL_OK;
}

// Where the solve of waypoint i starts: the nearest sample, or on the line through the last two commands.
static const double *follow_start(follow *f, int i)
{
    const int commands = f->ik->info.command_count;
    if (i == 0) {
        const int s = f->ik->samples.count > 0 ? pl_ik_nearest_sample(f->ik, 0) : -1;
        return s < 0 ? NULL : f->ik->samples.command + (int64_t)s * commands;
    }

    if (!f->options->extrapolate || f->known < 2 || f->ik->slope.known) {
        return NULL; // a Jacobian points to the new target at no cost
    }
    for (int k = 0; k < commands; ++k) {
        f->start[k] = 2 * f->before[0][k] - f->before[1][k]; // NAN where idle: stays
    }

    return f->start;
}

// Largest change of a command since the last waypoint, as a share of its range, and which one.
static double follow_step(const follow *f, const double *command, int *which)
{
    double largest = 0;
    *which = -1;
    for (int j = 0; f->known > 0 && j < f->ik->n; ++j) {
        const int k = f->ik->variable[j];
        const double step = fabs(command[k] - f->before[0][k]) / f->ik->range.span[j];
        if (step > largest) {
            largest = step;
            *which = k;
        }
    }

    return largest;
}

// The commands of a waypoint become the newest of the last two.
static void follow_shift(follow *f, const double *command)
{
    double *old = f->before[1];
    f->before[1] = f->before[0];
    f->before[0] = old;
    memcpy(old, command, (size_t)f->ik->info.command_count * sizeof *old);
    f->known = f->known < 2 ? f->known + 1 : 2;
}

// Sets the target, solves, records. *go_on is false when the path is to end here.
static pl_status follow_waypoint(follow *f, const double *point, int i, pl_follow_report *report, bool *go_on,
                                 pl_error *err)
{
    const pl_follow_options *o = f->options;
    pl_ik *ik = f->ik;
    pl_ik_report solved;

    // target
    pl_status status = o->set ? o->set(o->user, ik, i, err)
                              : pl_ik_set_target(ik, o->objective, point + 3 * (int64_t)i, err);

    if (status != PL_OK) {
        return status;
    }

    // a model with memory relaxes at the same commands: evaluate it again there
    if (f->remembers) {
        pl_solve_report again;
        status = pl_model_fk(ik->model, f->before[0], &again, err);
        if (status != PL_OK) {
            return status;
        }
    }

    // solve; the first waypoint may be approached at any rate
    ik->search.free_rate = i == 0 && o->free_start;
    status = pl_ik_solve(ik, follow_start(f, i), &solved, err);
    ik->search.free_rate = false;
    if (status != PL_OK) {
        return status;
    }

    // record, and the largest step so far
    int which;
    const double step = follow_step(f, solved.command, &which);
    const pl_waypoint waypoint = {.index = i,
                                  .time = i * o->period,
                                  .target = point ? point + 3 * (int64_t)i : NULL,
                                  .command = solved.command,
                                  .answer = pl_model_get_answer(ik->model),
                                  .ik = &solved};
    if (step > report->largest_step) {
        report->largest_step = step;
        report->largest_step_at = i;
        report->largest_step_command = which;
    }

    // the waypoint becomes history
    f->remembers = pl_model_commit(ik->model);
    follow_shift(f, solved.command);
    ++report->count;
    report->reached += solved.outcome == PL_IK_REACHED;
    report->uncertain += solved.outcome == PL_IK_UNCERTAIN;
    report->largest_model_error = isnan(report->largest_model_error) || isnan(solved.model_error)
                                      ? NAN
                                      : fmax(report->largest_model_error, solved.model_error);
    report->largest_distance = fmax(report->largest_distance, solved.distance);
    if (solved.outcome == PL_IK_REACHED) {
        report->largest_reached = fmax(report->largest_reached, solved.distance);
    }

    // along the boundary a point that was least stays so: no probing around it again
    ik->search.escape = solved.outcome == PL_IK_REACHED || solved.outcome == PL_IK_UNCERTAIN;
    *go_on = solved.outcome != PL_IK_STOPPED && (!o->record || o->record(o->user, &waypoint));

    return PL_OK;
}

// The options of `ik` that a path changes are restored at the end, also after a failure.
pl_status pl_follow(pl_ik *ik, const double *point, int count, const pl_follow_options *options,
                    pl_follow_report *report, pl_error *err)
{
    *report = (pl_follow_report){.largest_step_command = -1};
    pl_status status = follow_check(ik, point, count, options, err);
    if (status != PL_OK) {
        return status;
    }

    const double begun = pl_seconds(), period = ik->options.period;
    const pl_model_costs old = pl_model_get_costs(ik->model);
    const pl_samples samples = ik->samples;
    const int starts = ik->options.start_limit, commands = ik->info.command_count;
    follow f = {.options = options, .ik = ik};
    double *room = PL_NEW_ARRAY(double, 3 * (int64_t)commands);
    if (!room) {
        return pl_fail_memory(err, "follow");
    }
    f.before[0] = room;
    f.before[1] = room + commands;
    f.start = room + 2 * commands;
    if (options->samples) {
        ik->samples = *options->samples;
    }
    ik->options.period = options->period;
    ik->search.escape = true;

    // further starts only for the first waypoint: another branch in between would be a jump
    bool go_on = true;
    for (int i = 0; status == PL_OK && go_on && i < count; ++i) {
        status = follow_waypoint(&f, point, i, report, &go_on, err);
        ik->options.start_limit = 0; // another start would be a jump
    }

    // restore, then the costs
    report->stopped = !go_on;
    ik->options.start_limit = starts;
    ik->options.period = period;
    ik->samples = samples;
    ik->search.escape = true;
    pl_free(room);
    const pl_model_costs now = pl_model_get_costs(ik->model);
    report->costs = (pl_model_costs){.fk_calls = now.fk_calls - old.fk_calls,
                                     .derivative_calls = now.derivative_calls - old.derivative_calls,
                                     .iterations = now.iterations - old.iterations,
                                     .factorizations = now.factorizations - old.factorizations,
                                     .solves = now.solves - old.solves};
    report->seconds = pl_seconds() - begun;

    return status;
}
