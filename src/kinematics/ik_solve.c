// One solve of an inverse problem: where it starts, further starts from samples, and what is reported.
#include <stdio.h>
#include "kinematics/kinematics_impl.h"
#include "kinematics/kinematics.h"

#define START_SAME                                                                                           \
    0.01 // starts ended at the same point when the deviations of the goals differ by less than this

// z of the model's commands as they are; idle ones at their rest value.
static void solve_read_commands(const pl_ik *ik, double *z)
{
    const pl_model_answer a = pl_model_get_answer(ik->model);
    for (int j = 0; j < ik->n; ++j) {
        const int i = ik->variable[j];
        const double rest = fmin(fmax(ik->info.command[i].rest, ik->range.low[j]), ik->range.high[j]);
        const double c = isnan(a.command[i]) ? rest : a.command[i];
        z[j] = (c - ik->range.low[j]) / ik->range.span[j];
    }
}

// The box of this solve: bounds, and rates from where the model stands. False when they exclude each other.
static bool solve_box(pl_ik *ik)
{
    for (int j = 0; j < ik->n; ++j) {
        const double reach = ik->search.free_rate ? INFINITY : ik->range.rate[j] * ik->options.period;
        ik->range.by_rate_low[j] = ik->entry[j] - reach > 0;
        ik->range.by_rate_high[j] = ik->entry[j] + reach < 1;
        ik->range.now_low[j] = ik->range.by_rate_low[j] ? ik->entry[j] - reach : 0;
        ik->range.now_high[j] = ik->range.by_rate_high[j] ? ik->entry[j] + reach : 1;

        if (ik->range.now_low[j] > ik->range.now_high[j]) {
            snprintf(ik->record.message, sizeof ik->record.message,
                     "command `%s` is outside its bounds by more than its rate allows to correct",
                     ik->info.command[ik->variable[j]].name);
            return false;
        }
    }

    return true;
}

// Whether the model is at these commands already: then no forward solve is needed.
static bool solve_stands(const pl_ik *ik, const double *command)
{
    const pl_model_answer a = pl_model_get_answer(ik->model);
    for (int i = 0; i < ik->info.command_count; ++i) {
        if (a.command[i] != command[i] && !(isnan(a.command[i]) && isnan(command[i]))) {
            return false;
        }
    }

    return true;
}

// Puts the model at `start` (per command, NAN or NULL: where it stands), cut off at the box.
static pl_status solve_begin(pl_ik *ik, const double *start, bool *solved, pl_error *err)
{
    double far = 0;

    // the start in z, within the box
    for (int j = 0; j < ik->n; ++j) {
        const double c = start ? start[ik->variable[j]] : NAN;
        const double z = isnan(c) ? ik->entry[j] : (c - ik->range.low[j]) / ik->range.span[j];
        const double cut = fmin(fmax(z, ik->range.now_low[j]), ik->range.now_high[j]);
        far = fmax(far, fabs(cut - ik->here.z[j]));
        ik->here.z[j] = cut;
    }

    // a Jacobian of a far point is not valid here
    ik->slope.known = ik->slope.known && far < 0.2 && !(ik->kink.on && ik->kink.active);
    ik->slope.bend_scale = ik->slope.known ? ik->slope.bend_scale : 0;
    ik->slope.bent = false;
    ik->slope.fresh = false;
    ik_command(ik, ik->here.z, ik->command);
    pl_status status = PL_OK;

    if (solve_stands(ik, ik->command)) {
        ik_outputs_read(ik, &ik->here);
        ik_evaluate(ik, &ik->here);
        *solved = isfinite(ik->here.value);
    } else {
        status = ik_go(ik, &ik->here, solved, err);
    }

    return status == PL_OK && *solved ? pl_model_keep(ik->model, PL_SLOT_IK_HERE, err) : status;
}

// Coordinates of the Jacobian: with kinks or the commands themselves. A Jacobian in other coordinates is
// dropped.
static void ik_use_kinks(pl_ik *ik, bool use)
{
    const bool on = use && ik->kink.possible;
    if (on != ik->kink.on && ik->kink.active) {
        ik->slope.known = ik->slope.fresh = false;
    }
    ik->kink.on = on;
    ik->kink.active = on && ik->kink.active;
}

// Simultaneous solve first, then Gauss-Newton, then the choice among commands that meet the goals.
static pl_status solve_run(pl_ik *ik, pl_ik_outcome *outcome, pl_error *err)
{
    ik_use_kinks(ik, ik->options.method != PL_IK_GRADIENT);
    if (ik->options.method != PL_IK_NEWTON) {
        return ik_gradient_search(ik, outcome, err);
    }

    // with a kink the coordinates may differ from those of the last Jacobian
    if (ik_kinks_present(ik)) {
        ik->slope.known = ik->slope.fresh = false;
    }

    pl_status status = ik_together_solve(ik, err);
    if (status == PL_OK) {
        status = ik_newton(ik, outcome, err);
    }

    if (status == PL_OK && *outcome == PL_IK_REACHED && ik->goal.choosing) {
        ik->goal.choose = true;
        ik_use_kinks(ik, false);
        status = ik_choose(ik, err);
        ik->goal.choose = false;
        *outcome = ik->search.interrupted ? PL_IK_STOPPED : *outcome;
    }

    return status;
}

// ---- samples

// Sum of squared distances of a sample's markers from the position goals, weighted;
// *known is false without such goals.
static double sample_distance(const pl_ik *ik, int sample, bool *known)
{
    double sum = 0;
    *known = false;
    for (int i = 0; i < ik->goal.objective_count; ++i) {
        const pl_objective *o = &ik->goal.objective[i];
        if (o->kind != PL_OBJECTIVE_POSITION && o->kind != PL_OBJECTIVE_DISTANCE) {
            continue;
        }
        const double *p = ik->samples.marker + ((int64_t)sample * ik->info.marker_count + o->index) * 3;
        const bool all = !(o->axes[0] || o->axes[1] || o->axes[2]);
        double d = 0;
        for (int k = 0; k < 3; ++k) {
            d += all || o->axes[k] ? (p[k] - o->target[k]) * (p[k] - o->target[k]) : 0;
        }
        if (o->kind == PL_OBJECTIVE_DISTANCE) {
            d = (sqrt(d) - o->value) * (sqrt(d) - o->value);
        }
        sum += o->weight * o->weight * d;
        *known = true;
    }

    return sum;
}

// The nearest sample not among `tried`.
static int sample_nearest(const pl_ik *ik, const int *tried, int tried_count)
{
    int best = -1;
    double least = INFINITY;

    for (int s = 0; s < ik->samples.count; ++s) {
        bool known, used = false;
        for (int k = 0; k < tried_count; ++k) {
            used = used || tried[k] == s;
        }
        const double d = used ? INFINITY : sample_distance(ik, s, &known);
        if (!used && known && d < least) {
            least = d;
            best = s;
        }
    }

    return best;
}

// The k-th nearest sample; -1 when there are not so many.
int pl_ik_nearest_sample(pl_ik *ik, int k)
{
    int found = -1;
    for (int i = 0; i <= k && i <= IK_STARTS; ++i) {
        found = sample_nearest(ik, ik->tried, i);
        if (found < 0) {
            return -1;
        }
        ik->tried[i] = found;
    }

    return found;
}

// ---- further starts

// Point k of a sequence spread over the ranges: one command alone, then all together, and so on.
static void start_spread(const pl_ik *ik, int k, double *command)
{
    static const int prime[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    for (int i = 0; i < ik->info.command_count; ++i) {
        command[i] = NAN;
    }

    for (int j = 0; j < ik->n; ++j) {
        const int c = ik->variable[j];
        const double rest = fmin(fmax(ik->info.command[c].rest, ik->range.low[j]), ik->range.high[j]);

        // Halton number k / 2 + 1 in the base of this variable
        double part = 0, unit = 1;
        for (int h = k / 2 + 1, base = prime[j % PL_COUNT(prime)]; h > 0; h /= base) {
            unit /= base;
            part += unit * (h % base);
        }

        // alone: 60 % of the range, away from rest
        const bool alone = k % 2 == 1;
        const bool mine = (k / 2) % ik->n == j;
        const double far =
            ik->range.high[j] - rest > rest - ik->range.low[j] ? ik->range.high[j] : ik->range.low[j];
        command[c] = !alone ? ik->range.low[j] + part * ik->range.span[j]
                     : mine ? rest + 0.6 * (far - rest)
                            : rest;
    }
}

// Residuals where a start ended, and whether that point is stationary.
static void start_ended(pl_ik *ik, int start, pl_ik_outcome outcome)
{
    memcpy(ik->ended + (int64_t)start * ik->goal.rows, ik->here.r, (size_t)ik->goal.rows * sizeof *ik->ended);
    ik->settled[start] = outcome == PL_IK_NEAREST;
}

// How many starts ended where start `best` did, seen from the goals.
static int start_agreed(const pl_ik *ik, int starts, int best)
{
    const int rows = ik->goal.row[ik->goal.objective_count];
    const double *mine = ik->ended + (int64_t)best * ik->goal.rows;
    int agreed = 0;

    for (int s = 0; ik->settled[best] && s < starts; ++s) {
        const double *r = ik->ended + (int64_t)s * ik->goal.rows;
        double apart = 0, size = 0;
        for (int i = 0; i < rows; ++i) {
            apart += (r[i] - mine[i]) * (r[i] - mine[i]);
            size += mine[i] * mine[i];
        }

        agreed += ik->settled[s] && apart <= START_SAME * START_SAME * size;
    }

    return agreed;
}

// Puts the model at start k. Where the load path there ends early, at the last shape reached.
static pl_status start_begin(pl_ik *ik, int k, bool *there, bool *solved, pl_error *err)
{
    const int s = ik->samples.count > 0 ? pl_ik_nearest_sample(ik, k) : -1;
    *there = ik->samples.count == 0 || s >= 0;
    *solved = false;
    if (!*there) {
        return PL_OK;
    }
    if (s < 0) {
        start_spread(ik, k, ik->start);
    }

    pl_status status = solve_begin(
        ik, s < 0 ? ik->start : ik->samples.command + (int64_t)s * ik->info.command_count, solved, err);

    // not reached: start from what was reached
    if (status == PL_OK && !*solved && !ik->search.interrupted) {
        solve_read_commands(ik, ik->here.z);
        ik_outputs_read(ik, &ik->here);
        ik_evaluate(ik, &ik->here);
        *solved = isfinite(ik->here.value);
        status = *solved ? pl_model_keep(ik->model, PL_SLOT_IK_HERE, err) : PL_OK;
    }

    return status;
}

// Solves from further starts; keeps the best of all, at which model and `here` are left.
static pl_status solve_further(pl_ik *ik, pl_ik_outcome *outcome, int *starts, pl_error *err)
{
    // a point that violates a bound is worse than all that do not
    const bool broken = *outcome == PL_IK_FORWARD || *outcome == PL_IK_INFEASIBLE;
    double best = broken || ik->here.excess > IK_HOLDS ? INFINITY : ik->here.value;
    pl_status status = pl_model_keep(ik->model, PL_SLOT_IK_BEST, err);

    memcpy(ik->best_z, ik->here.z, (size_t)ik->n * sizeof *ik->best_z);
    bool moved = false, there = true;
    int which = 0;
    start_ended(ik, 0, *outcome);

    // starts until one reaches the goals
    for (int k = 0; status == PL_OK && k < ik->options.start_limit && *outcome != PL_IK_REACHED; ++k) {
        pl_ik_outcome limit, now = PL_IK_FORWARD;
        ik->search.steps = 0;
        if (!ik_go_on(ik, &limit)) {
            break;
        }
        bool solved;
        status = start_begin(ik, k, &there, &solved, err);
        if (!there) {
            break;
        }
        moved = true;
        if (status == PL_OK && solved) {
            status = solve_run(ik, &now, err);
            start_ended(ik, (*starts)++, now);
        }

        const bool bounded = now != PL_IK_FORWARD && now != PL_IK_INFEASIBLE && ik->here.excess <= IK_HOLDS;
        // the best point so far; least motion is part of the value and breaks ties
        const bool better = now == PL_IK_REACHED || ik->here.value < best; // the value has least motion in it
        if (status == PL_OK && solved && bounded && better) {
            best = ik->here.value;
            which = *starts - 1;
            *outcome = now;
            memcpy(ik->best_z, ik->here.z, (size_t)ik->n * sizeof *ik->best_z);
            status = pl_model_keep(ik->model, PL_SLOT_IK_BEST, err);
            moved = false;
        }
    }

    // return to the best
    ik->record.agreed = start_agreed(ik, *starts, which);
    if (status == PL_OK && moved) {
        status = pl_model_recall(ik->model, PL_SLOT_IK_BEST, err);
        memcpy(ik->here.z, ik->best_z, (size_t)ik->n * sizeof *ik->best_z);
        ik_outputs_read(ik, &ik->here);
        ik_evaluate(ik, &ik->here);
        ik->slope.fresh = ik->slope.known = false;
    }

    return status;
}

// ---- the report

static void active_add(pl_ik *ik, pl_ik_active active)
{
    ik->record.active[ik->record.active_count++] = active;
}

// Commands at the ends of their box and efforts at their bounds, with their multipliers (per
// unit of the bounded quantity).
static void solve_list_active(pl_ik *ik, bool certified)
{
    ik->record.active_count = 0;
    for (int j = 0; j < ik->n; ++j) {
        const bool low = ik->here.z[j] <= ik->range.now_low[j] + 1e-9,
                   high = ik->here.z[j] >= ik->range.now_high[j] - 1e-9;
        if (!low && !high) {
            continue;
        }

        // both ends at once: the sign of the multiplier tells which one holds
        const double multiplier = certified ? ik->local.box_multiplier[j] : 0;
        const bool upper = high && !(low && multiplier < 0);
        active_add(
            ik, (pl_ik_active){.kind = (upper ? ik->range.by_rate_high[j] : ik->range.by_rate_low[j])
                                           ? PL_BOUND_RATE
                                           : PL_BOUND_COMMAND,
                               .index = ik->variable[j],
                               .name = ik->info.command[ik->variable[j]].name,
                               .upper = upper,
                               .value = ik->range.low[j] + ik->range.span[j] * (upper ? ik->range.now_high[j]
                                                                                      : ik->range.now_low[j]),
                               .multiplier = fmax(upper ? multiplier : -multiplier, 0) / ik->range.span[j]});
    }

    for (int i = 0; i < ik->bound_count; ++i) {
        const ik_bound *b = &ik->bound[i];
        const double e = ik->here.y[b->row];
        const bool upper = (b->high - e) / b->scale < 1e-4, lower = (e - b->low) / b->scale < 1e-4;
        if (!upper && !lower) {
            continue;
        }
        active_add(ik, (pl_ik_active){
                           .kind = PL_BOUND_EFFORT,
                           .index = b->actuator,
                           .name = ik->info.actuator[b->actuator].name,
                           .upper = upper,
                           .value = upper ? b->high : b->low,
                           .multiplier = certified ? ik->local.row_multiplier[2 * i + upper] / b->scale : 0});
    }
}

// The message for a goal that only the surrogate reaches.
static void uncertain_message(const char *off, const ik_certainty *c, char *text, size_t room)
{
    if (isfinite(c->worst)) {
        snprintf(text, room, "reached by the model (%s), which is itself %.2g%s uncertain (%.0f %%)", off,
                 c->worst, c->unit, 100 * c->confidence);
    } else {
        snprintf(text, room, "reached by the model (%s), whose error is not known here: %s", off,
                 c->unknown ? c->unknown : "it was not measured for this goal");
    }
}

// One sentence about the outcome, with active bounds and gradient where they explain it.
static void solve_message(pl_ik *ik, const ik_certainty *certain, pl_ik_report *report)
{
    char bounds[120] = "";
    for (int i = 0; i < ik->record.active_count; ++i) {
        static const char *const kind[] = {"command", "rate of", "effort of"};
        const size_t at = strlen(bounds);
        snprintf(bounds + at, sizeof bounds - at, "%s%s `%s` at its %s", i ? ", " : "; ",
                 kind[ik->record.active[i].kind], ik->record.active[i].name,
                 ik->record.active[i].upper ? "upper" : "lower");
    }

    // what is left of the worst goal
    char off[120], *text = report->message;
    const size_t room = sizeof report->message;
    const bool met = report->outcome == PL_IK_REACHED || report->outcome == PL_IK_UNCERTAIN;
    ik_off_text(ik, met ? 2 : 4, off, sizeof off);

    switch (report->outcome) {
    case PL_IK_REACHED:
        if (ik->surrogate && certain->unit) {
            snprintf(text, room,
                     "all goals are met, %s, by a model that is itself %.2g%s uncertain (%.0f %%)", off,
                     certain->worst, certain->unit, 100 * certain->confidence);
        } else {
            snprintf(text, room, "all goals are met, %s", off);
        }
        break;
    case PL_IK_UNCERTAIN:
        uncertain_message(off, certain, text, room);
        break;
    case PL_IK_NEAREST:
        snprintf(
            text, room,
            "out of reach: %s at the nearest reachable point (%d of %d starts end there), projected gradient "
            "%.1e%s",
            off, report->agreed, report->starts, report->gradient, bounds);
        break;
    case PL_IK_BEST:
        snprintf(text, room,
                 "not reached: %s at the best point found from %d start%s, projected gradient %.1e%s", off,
                 report->starts, report->starts == 1 ? "" : "s, which do not agree", report->gradient,
                 bounds);
        break;
    case PL_IK_LIMIT:
        snprintf(text, room, "stopped at the iteration or time limit, %s", off);
        break;
    case PL_IK_STALLED:
        if (isfinite(report->gradient)) {
            snprintf(text, room, "no step improves the result, %s, projected gradient %.1e%s", off,
                     report->gradient, bounds);
        } else {
            snprintf(text, room, "no step improves the result, %s%s", off, bounds);
        }
        break;
    case PL_IK_INFEASIBLE:
        snprintf(text, room, "%s",
                 ik->record.message[0] ? ik->record.message
                                       : "no command was found that keeps the efforts within their bounds");
        break;
    case PL_IK_FORWARD:
        snprintf(text, room, "the shape at the start cannot be computed");
        break;
    case PL_IK_STOPPED:
        snprintf(text, room, "interrupted, %s", off);
        break;
    }
}

// A target is reached when the deviation and the error of the model together are within the tolerance; a
// surrogate that is there by its own account only leaves it open.
static pl_ik_outcome solve_certain(pl_ik_outcome outcome, const ik_certainty *certain)
{
    const bool ended = outcome == PL_IK_REACHED || outcome == PL_IK_NEAREST || outcome == PL_IK_BEST ||
                       outcome == PL_IK_LIMIT || outcome == PL_IK_STALLED;
    return !ended                   ? outcome
           : certain->error <= 1    ? PL_IK_REACHED
           : certain->by_model <= 1 ? PL_IK_UNCERTAIN
                                    : outcome;
}

// Everything of the report from the point where the search ended.
static void solve_report(pl_ik *ik, pl_ik_outcome outcome, int starts, pl_ik_report *report)
{
    const bool certified = isfinite(ik->record.gradient);
    const pl_model_costs now = pl_model_get_costs(ik->model), *old = &ik->record.costs_before;
    const pl_model_answer a = pl_model_get_answer(ik->model);

    memcpy(ik->command, a.command, (size_t)ik->info.command_count * sizeof *ik->command);
    *report = (pl_ik_report){.outcome = outcome,
                             .command = ik->command,
                             .objective = ik->here.value,
                             .gradient = ik->record.gradient,
                             .iterations = ik->record.iterations,
                             .starts = starts,
                             .agreed = ik->record.agreed,
                             .seconds = pl_seconds() - ik->record.started,
                             .costs = {.fk_calls = now.fk_calls - old->fk_calls,
                                       .derivative_calls = now.derivative_calls - old->derivative_calls,
                                       .iterations = now.iterations - old->iterations,
                                       .factorizations = now.factorizations - old->factorizations,
                                       .solves = now.solves - old->solves}};
    ik_error(ik, &ik->here, &report->distance);
    const ik_certainty certain = ik_certain(ik);
    report->outcome = solve_certain(outcome, &certain);
    report->error = certain.error;
    report->model_error = certain.model_error;
    report->confidence = certain.confidence;
    ik->record.active_count = 0;
    if (outcome != PL_IK_FORWARD) {
        solve_list_active(ik, certified);
    }
    report->active = ik->record.active;
    report->active_count = ik->record.active_count;
    solve_message(ik, &certain, report);
}

// A stop inside a derivative: back to the last place that was accepted, or to where the model stood.
static pl_status solve_stop(pl_ik *ik, bool begun, pl_ik_outcome *outcome, pl_error *err)
{
    ik->search.interrupted = true;
    *outcome = PL_IK_STOPPED;
    const pl_status status = pl_model_recall(ik->model, begun ? PL_SLOT_IK_HERE : PL_SLOT_IK_ENTRY, err);
    if (status == PL_OK) {
        ik_use_kinks(ik, false);
        solve_read_commands(ik, ik->here.z);
        ik_outputs_read(ik, &ik->here);
        ik_evaluate(ik, &ik->here);
    }

    return status;
}

// From the state of the model, or from `start` where it can be computed. The report borrows
// from `ik` until the next solve.
pl_status pl_ik_solve(pl_ik *ik, const double *start, pl_ik_report *report, pl_error *err)
{
    // a new solve
    pl_ik_outcome outcome = PL_IK_FORWARD;
    int starts = 1;

    ik->record.started = pl_seconds();
    ik->record.costs_before = pl_model_get_costs(ik->model);
    ik->record.iterations = ik->search.steps = ik->record.agreed = 0;
    ik->search.interrupted = false;
    ik->record.gradient = NAN;
    ik->record.first_error = 0;
    ik->record.message[0] = 0;
    solve_read_commands(ik, ik->entry);

    if (!solve_box(ik)) {
        memcpy(ik->here.z, ik->entry, (size_t)ik->n * sizeof *ik->entry);
        ik_outputs_read(ik, &ik->here);
        ik_evaluate(ik, &ik->here);
        solve_report(ik, PL_IK_INFEASIBLE, 0, report);
        return PL_OK;
    }

    // friction of cables remembers where the search began, not what it tried
    pl_statics *statics = pl_model_statics(ik->model);
    if (statics) {
        pl_statics_hold_history(statics, true);
    }

    // from the start given, else from where the model was
    pl_status status = pl_model_keep(ik->model, PL_SLOT_IK_ENTRY, err);
    bool solved = false;
    if (status == PL_OK) {
        status = solve_begin(ik, start, &solved, err);
    }

    if (status == PL_OK && !solved && start) {
        status = pl_model_recall(ik->model, PL_SLOT_IK_ENTRY,
                                 err); // a start that cannot be computed: from where the model stood
        if (status == PL_OK) {
            status = solve_begin(ik, NULL, &solved, err);
        }
    }

    if (status == PL_OK && solved) {
        status = solve_run(ik, &outcome, err);
    } else if (status == PL_OK) {
        status = pl_model_recall(ik->model, PL_SLOT_IK_ENTRY, err);
        outcome = ik->search.interrupted ? PL_IK_STOPPED : PL_IK_FORWARD;
        memcpy(ik->here.z, ik->entry, (size_t)ik->n * sizeof *ik->entry);
        ik_outputs_read(ik, &ik->here);
        ik_evaluate(ik, &ik->here);
    }

    // further starts, interruptions
    if (status == PL_OK && outcome != PL_IK_REACHED && outcome != PL_IK_STOPPED) {
        status = solve_further(ik, &outcome, &starts, err);
    }
    if (status == PL_INTERRUPTED) {
        status = solve_stop(ik, solved, &outcome, err);
    }

    // a nearest point needs two starts that agree on it
    outcome = outcome == PL_IK_NEAREST && ik->record.agreed < 2 ? PL_IK_BEST : outcome;
    const bool judged = outcome == PL_IK_NEAREST || outcome == PL_IK_BEST || outcome == PL_IK_STALLED ||
                        outcome == PL_IK_LIMIT;
    if (status == PL_OK && judged && ik->options.method == PL_IK_NEWTON) {
        status = ik_certify(ik, err);
    } else {
        ik->record.gradient = NAN;
    }

    if (status == PL_OK) {
        solve_report(ik, outcome, starts, report);
    }
    if (statics) {
        pl_statics_hold_history(statics, false);
    }

    return status;
}

// Residuals of all objectives at the state of the model, weighted, and their Jacobian by all commands (rows x
// commands); for solvers outside of this room.
pl_status pl_ik_residual(pl_ik *ik, double *residual, double *jacobian, pl_error *err)
{
    const int rows = ik->goal.row[ik->goal.objective_count];
    solve_read_commands(ik, ik->here.z);
    ik_outputs_read(ik, &ik->here);
    ik_evaluate(ik, &ik->here);
    memcpy(residual, ik->here.r, (size_t)rows * sizeof *residual);
    if (!jacobian) {
        return PL_OK;
    }
    ik_use_kinks(ik, false);
    const pl_status status = ik_outputs_differentiate(ik, 0, err);
    if (status != PL_OK) {
        return status;
    }
    ik->goal.choose = true;
    ik_jacobian(ik, &ik->here, ik->local.J, ik->local.E);
    ik->goal.choose = false;

    // per unit of the commands; held ones have columns of 0
    memset(jacobian, 0, (size_t)rows * (size_t)ik->info.command_count * sizeof *jacobian);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < ik->n; ++j) {
            jacobian[(int64_t)i * ik->info.command_count + ik->variable[j]] =
                ik->local.J[(int64_t)i * ik->n + j] / ik->range.span[j];
        }
    }

    return PL_OK;
}
