// How far and how fast a command may go when its actuators say it, and which values no body could follow: the
// rules of full and reduced robots, of both methods.
#include "mesh/mesh.h"
#include "robot/robot.h"

// Nothing limits yet but the command's own rate.
pl_command_reach pl_reach_begin(double own_rate)
{
    static const pl_reach_limits none = {
        .meet = {-INFINITY, INFINITY}, .whole = {INFINITY, -INFINITY}, .low = -INFINITY, .high = INFINITY};
    return (pl_command_reach){.range = none, .span = none, .rate = own_rate};
}

// Range of the actuator in units of the command: the intersection, the union, and for one-sided commands
// the end that each sign can reach.
static void reach_limit(pl_reach_limits *r, const double range[2], double factor)
{
    const double p = range[0] / factor, q = range[1] / factor;
    r->meet[0] = fmax(r->meet[0], fmin(p, q));
    r->meet[1] = fmin(r->meet[1], fmax(p, q));
    r->whole[0] = fmin(r->whole[0], fmin(p, q));
    r->whole[1] = fmax(r->whole[1], fmax(p, q));
    r->high = factor > 0 ? fmin(r->high, q) : r->high;
    r->low = factor < 0 ? fmax(r->low, q) : r->low;
}

void pl_reach_add(pl_command_reach *r, const double range[2], bool has_range, double factor, double rate)
{
    // the smallest limit of all: rate_a / |factor_a| for each actuator, and the command's own
    const double limit = rate / fabs(factor);
    if (limit > 0) {
        r->rate = r->rate > 0 ? fmin(r->rate, limit) : limit;
    }

    // actuators without a range leave the command open, but their span is shown
    r->open = r->open || !has_range;
    if (has_range) {
        reach_limit(&r->range, range, factor);
    }
    reach_limit(&r->span, range, factor);
}

// Two-sided: where all can follow, or where the ranges do not meet, the union. False: not bounded.
static bool reach_read(const pl_reach_limits *r, bool one_sided, double range[2])
{
    // + 0.0: no -0
    if (one_sided) {
        range[0] = isfinite(r->low) ? r->low + 0.0 : 0;
        range[1] = isfinite(r->high) ? r->high + 0.0 : 0;
        return true;
    }

    const double *from = r->meet[0] < r->meet[1] ? r->meet : r->whole;
    range[0] = from[0] + 0.0;
    range[1] = from[1] + 0.0;
    return isfinite(range[0]) && isfinite(range[1]);
}

// The command's range; false where an actuator has none.
bool pl_reach_range(const pl_command_reach *r, bool one_sided, double range[2])
{
    return !r->open && reach_read(&r->range, one_sided, range);
}

// What a slider offers: never empty.
void pl_reach_span(const pl_command_reach *r, bool one_sided, double span[2])
{
    if (!reach_read(&r->span, one_sided, span)) {
        span[0] = 0;
        span[1] = 1;
    }
}

// Refuses values that no body could follow, whatever its shape; ranges are checked elsewhere.
pl_status pl_actuator_check(const pl_actuator *a, double value, pl_error *err)
{
    const pl_monotone *t = &a->table;
    const pl_drive_law law = pl_actuator_law(a);

    // the ends of a table to round-off
    const double beyond = t->count > 0 ? 1e-9 * (t->x[t->count - 1] - t->x[0]) : 0;

    if (t->count > 0 && !(value >= t->x[0] - beyond && value <= t->x[t->count - 1] + beyond)) {
        const double unit = pl_drive_scale(a->drive);
        return pl_fail(err, PL_BAD_INPUT, "actuator '%s': %g %s is outside its table, %g to %g", a->name,
                       value / unit, pl_drive_unit(a->drive), t->x[0] / unit, t->x[t->count - 1] / unit);
    }

    if (!isfinite(value)) {
        return pl_fail(err, PL_BAD_INPUT, "actuator '%s': the command is infinite", a->name);
    }
    if (pl_actuator_kind_get(a->kind)->pulls_only && law == PL_LAW_EFFORT && value < 0) {
        return pl_fail(err, PL_BAD_INPUT, "actuator '%s': tension is %g N, a cable cannot push", a->name,
                       value);
    }

    // a body keeps a positive length, area and volume
    const double goal = pl_actuator_goal(a, value);
    if (!isfinite(goal)) {
        return pl_fail(err, PL_BAD_INPUT, "actuator '%s': the command is infinite", a->name);
    }
    if ((law == PL_LAW_MEASURE || law == PL_LAW_GROWTH) && goal <= 0) {
        const pl_actuator_kind_info *kind = pl_actuator_kind_get(a->kind);
        return law == PL_LAW_GROWTH
                   ? pl_fail(
                         err, PL_BAD_INPUT,
                         "actuator '%s': the command prescribes %g of its %s at rest, expected more than 0",
                         a->name, goal, kind->measure)
                   : pl_fail(
                         err, PL_BAD_INPUT,
                         "actuator '%s': the command prescribes a %s of %g %s, expected more than 0 (%g %s "
                         "at rest)",
                         a->name, kind->measure, goal / kind->measure_scale, kind->measure_unit,
                         a->rest / kind->measure_scale, kind->measure_unit);
    }

    if (law == PL_LAW_GAS && a->rest + a->line_volume + value <= 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "actuator '%s': %g mm^3 withdrawn, but chamber and line contain only %g", a->name,
                       -value, a->rest + a->line_volume);
    }

    return PL_OK;
}
