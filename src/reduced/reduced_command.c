// Commands of a reduced model, by the rules of every robot: those of the def come first, an actuator that
// none of them drives keeps one of its own under its name. An actuator's value is factor * command, of a
// one-sided command max(0, factor * command).
#include "reduced/reduced_impl.h"
#include "robot/robot.h"

// NAN: idle, the actuator gets no value.
double reduced_actuator_value(const reduced_actuator *a, const double *command)
{
    return a->command >= 0 ? pl_command_apply(a->factor, a->one_sided, command[a->command]) : NAN;
}

// 0 where the actuator is idle or one-sided and at rest.
double reduced_actuator_slope(const reduced_actuator *a, const double *command)
{
    const bool idle = a->command < 0 || isnan(command[a->command]);
    return idle ? 0 : pl_command_slope(a->factor, a->one_sided, command[a->command]);
}

static int command_actuator(const pl_reduced_model *m, const char *name)
{
    for (int i = 0; i < m->actuator_count; ++i) {
        if (strcmp(m->actuator[i].name, name) == 0) {
            return i;
        }
    }

    return -1;
}

// Rate, rest value, span and, where none is given, range of a command from the actuators it drives.
static void command_limits(const pl_reduced_model *m, int index, bool one_sided, double own_rate,
                           const reduced_actuator *first, pl_command_info *c)
{
    pl_command_reach reach = pl_reach_begin(own_rate);

    // the narrowest range and slowest rate among its actuators
    for (int i = 0; i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        if (a->command == index) {
            double usual[2];
            pl_drive_span(a->drive, a->rest, usual);
            pl_reach_add(&reach, a->has_range ? a->range : usual, a->has_range, a->factor, a->rate);
            ++c->actuator_count;
        }
    }

    // rest value: + 0.0 turns a negative zero into zero
    c->drive = first->drive;
    c->rest = pl_drive_rest(first->drive, first->rest) / first->factor + 0.0;
    c->rate = reach.rate;
    c->has_range = c->has_range || pl_reach_range(&reach, one_sided, c->range);
    pl_reach_span(&reach, one_sided, c->span);

    // a given range is also the span that studies use
    if (c->has_range) {
        memcpy(c->span, c->range, sizeof c->span);
    }
}

// A command of the file: its actuators, factors and range.
static void command_given(pl_reduced_model *m, int index, const pl_command_def *d, pl_command_info *c)
{
    for (int k = 0; k < d->drive_count; ++k) {
        reduced_actuator *a = &m->actuator[command_actuator(m, d->drive[k].actuator)];
        a->command = index;
        a->factor = d->drive[k].factor;
        a->one_sided = d->one_sided;
    }

    memcpy(c->range, d->range, sizeof c->range);
    c->has_range = d->has_range;
    command_limits(m, index, d->one_sided, d->rate, &m->actuator[command_actuator(m, d->drive[0].actuator)],
                   c);
}

// Fills m->reported.command; false when out of memory.
bool reduced_create_commands(pl_reduced_model *m, const pl_reduced_def *d)
{
    m->info.command = REDUCED_TAKE(m, pl_command_info, d->command_count + m->actuator_count);
    if (!m->info.command) {
        return false;
    }

    for (int i = 0; i < d->command_count; ++i) {
        pl_command_info *c = &m->info.command[m->command_count++];
        *c = (pl_command_info){.name = reduced_text(m, d->command[i].name)};
        if (!c->name) {
            return false;
        }
        command_given(m, i, &d->command[i], c);
    }

    // actuators without a command get one of their own
    for (int i = 0; i < m->actuator_count; ++i) {
        reduced_actuator *a = &m->actuator[i];
        if (a->command < 0) {
            a->command = m->command_count;
            pl_command_info *c = &m->info.command[m->command_count++];
            *c = (pl_command_info){.name = a->name};
            command_limits(m, a->command, false, 0, a, c);
        }
    }

    return true;
}
