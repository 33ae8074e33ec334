// How far and how fast a command may go when its actuators say it, and which values no body could follow: the
// rules of full and reduced robots, of both methods.
#include "mesh/mesh.h"
#include "robot/robot.h"

pl_command_reach pl_reach_begin(double own_rate)
{
    return (pl_command_reach){.meet = {-INFINITY, INFINITY},
                              .whole = {INFINITY, -INFINITY},
                              .low = -INFINITY,
                              .high = INFINITY,
                              .rate = own_rate};
}

void pl_reach_add(pl_command_reach *r, const double range[2], bool has_range, double factor, double rate)
{
    // the smallest limit of all: rate_a / |factor_a| for each actuator, and the command's own
    const double limit = rate / fabs(factor);
    if (limit > 0) {
        r->rate = r->rate > 0 ? fmin(r->rate, limit) : limit;
    }
    if (!has_range) {
        r->open = true;
        return;
    }
    const double p = range[0] / factor, q = range[1] / factor;
    r->meet[0] = fmax(r->meet[0], fmin(p, q));
    r->meet[1] = fmin(r->meet[1], fmax(p, q));
    r->whole[0] = fmin(r->whole[0], fmin(p, q));
    r->whole[1] = fmax(r->whole[1], fmax(p, q));
    r->high = factor > 0 ? fmin(r->high, q) : r->high;
    r->low = factor < 0 ? fmax(r->low, q) : r->low;
}

bool pl_reach_range(const pl_command_reach *r, bool one_sided, double range[2])
{
    if (r->open) {
        return false;
    }
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

pl_status pl_actuator_check(const pl_actuator *a, double value, pl_error *err)
{
    const pl_monotone *t = &a->table;
    const double beyond = t->count > 0 ? 1e-9 * (t->x[t->count - 1] - t->x[0]) : 0;
    if (t->count > 0 && !(value >= t->x[0] - beyond && value <= t->x[t->count - 1] + beyond)) {
        const double unit = pl_drive_scale(a->drive);
        return pl_fail(err, PL_BAD_INPUT, "actuator '%s': %g %s is outside of its table, %g to %g", a->name,
                       value / unit, pl_drive_unit(a->drive), t->x[0] / unit, t->x[t->count - 1] / unit);
    }
    if (!isfinite(value)) {
        return pl_fail(err, PL_BAD_INPUT, "actuator '%s': the command is infinite", a->name);
    }
    if (a->drive == PL_DRIVE_TENSION && value < 0) {
        return pl_fail(err, PL_BAD_INPUT, "actuator '%s': tension is %g N, a cable cannot push", a->name,
                       value);
    }
    const bool gas = a->drive == PL_DRIVE_SYRINGE && !a->liquid && !a->growth && t->count == 0;
    if (gas && a->rest + a->line_volume + value <= 0) {
        return pl_fail(err, PL_BAD_INPUT, "actuator '%s': %g mm^3 drawn out, chamber and line hold only %g",
                       a->name, -value, a->rest + a->line_volume);
    }
    return PL_OK;
}
