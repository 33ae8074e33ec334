// Commands that prescribe a length or a volume and jump. Nothing that has mass follows in no time: the force
// would grow without bound as steps become shorter. Such a command goes over to its new value u1 in the time
// T of the first step, whatever the steps are later,
//   u(t) = u0 + (u1(t) - u0) (t - t0) / T,   t0 <= t < t0 + T,   u0 the value before the jump.
// Efforts and loads jump.
#include "dynamics/dynamics_impl.h"

// What a command prescribes where it is idle: the measure at rest, of actuators that keep it.
static double spread_value(const pl_dynamics *d, int c, double value)
{
    return isnan(value) && d->spread.holds[c] ? d->robot->command[c].rest : value;
}

static void spread_command(void *user, double t, double *command)
{
    const pl_dynamics *d = user;
    const dynamics_spread *s = &d->spread;

    s->given.command(s->given.user, t, command);
    for (int c = 0; c < d->now.state->command_count; ++c) {
        const double part = (t - s->begin[c]) / s->length;
        const double to = spread_value(d, c, command[c]);
        if (part >= 0 && part < 1 && !isnan(to)) {
            command[c] = s->from[c] + part * (to - s->from[c]);
        }
    }
}

static double spread_corner(void *user, double t)
{
    const pl_dynamics *d = user;
    const dynamics_spread *s = &d->spread;
    double corner = s->given.corner ? s->given.corner(s->given.user, t) : INFINITY;

    for (int c = 0; c < d->now.state->command_count; ++c) {
        const double end = s->begin[c] + s->length;
        corner = end > t + 1e-9 * s->length ? fmin(corner, end) : corner;
    }

    return corner;
}

static double spread_load(void *user, double t)
{
    const pl_signal *given = &((pl_dynamics *)user)->spread.given;
    return given->load(given->user, t);
}

static void spread_force(void *user, double t, double *force)
{
    const pl_signal *given = &((pl_dynamics *)user)->spread.given;
    given->force(given->user, t, force);
}

static void spread_base(void *user, double t, double acceleration[3])
{
    const pl_signal *given = &((pl_dynamics *)user)->spread.given;
    given->base(given->user, t, acceleration);
}

pl_status dynamics_spread_create(pl_dynamics *d, pl_error *err)
{
    dynamics_spread *s = &d->spread;
    const int count = d->robot->command_count;

    s->from = PL_NEW_ARRAY(double, count);
    s->begin = PL_NEW_ARRAY(double, count);
    s->prescribes = PL_NEW_ARRAY(bool, count);
    s->holds = PL_NEW_ARRAY(bool, count);
    if (!s->from || !s->begin || !s->prescribes || !s->holds) {
        return pl_fail_memory(err, "dynamics: commands");
    }
    for (int i = 0; i < d->robot->actuator_count; ++i) {
        const pl_actuator *a = &d->robot->actuator[i];
        if (a->command >= 0 && pl_actuator_law(a) == PL_LAW_MEASURE) {
            s->holds[a->command] = a->idle_hold && (s->holds[a->command] || !s->prescribes[a->command]);
            s->prescribes[a->command] = true;
        }
    }

    return PL_OK;
}

void dynamics_spread_destroy(pl_dynamics *d)
{
    pl_free(d->spread.from);
    pl_free(d->spread.begin);
    pl_free(d->spread.prescribes);
    pl_free(d->spread.holds);
}

void dynamics_spread_start(pl_dynamics *d, const pl_signal *signal, double length)
{
    dynamics_spread *s = &d->spread;

    d->signal = s->given = signal ? *signal : (pl_signal){0};
    s->length = length;
    for (int c = 0; c < d->robot->command_count; ++c) {
        s->begin[c] = -INFINITY;
    }

    if (d->signal.command) {
        d->signal = (pl_signal){.command = spread_command,
                                .corner = spread_corner,
                                .load = s->given.load ? spread_load : NULL,
                                .force = s->given.force ? spread_force : NULL,
                                .base = s->given.base ? spread_base : NULL,
                                .user = d};
    }
}

bool dynamics_spread_jumps(pl_dynamics *d)
{
    dynamics_spread *s = &d->spread;
    bool any = false;

    if (!d->signal.command) {
        return false;
    }
    d->signal.command(d->signal.user, d->now.time, d->command);
    for (int c = 0; c < d->now.state->command_count; ++c) {
        const double now = spread_value(d, c, d->command[c]), held = d->now.state->command[c],
                     before = isnan(held) ? d->robot->command[c].rest : held;

        // where something else jumps a step ends a little before it (step_end): what moves on is no jump
        const double start = d->report.steps > 0 ? d->before.state->command[c] : held,
                     moved = fabs(held - start), step = isnan(moved) ? 0 : STEP_JUMP * moved;
        if (s->prescribes[c] && fabs(now - before) > step + 1e-12 * fmax(fabs(now), fabs(before))) {
            s->from[c] = before;
            s->begin[c] = d->now.time;
            any = true;
        }
    }

    return any;
}
