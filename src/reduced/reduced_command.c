// Commands of a reduced model, by the rules of every robot: those of the def come first, an actuator that
// none of them drives keeps one of its own under its name. An actuator's value is factor * command, of a
// one-sided command max(0, factor * command).
#include "reduced/reduced_impl.h"

double reduced_actuator_value(const reduced_actuator *a, const double *command)
{
    const double value = a->command >= 0 ? a->factor * command[a->command] : NAN;
    return a->one_sided && value < 0 ? 0 : value; // NAN, idle, stays
}

double reduced_actuator_slope(const reduced_actuator *a, const double *command)
{
    if (a->command < 0 || isnan(command[a->command])) {
        return 0;
    }
    // at 0 of a one-sided command: for a rising one
    const double value = a->factor * command[a->command];
    return a->one_sided && (value < 0 || (value == 0 && a->factor < 0)) ? 0 : a->factor;
}

// Without a range of its own a command may go where all its actuators may; antagonists, whose ranges meet in
// one point at most, share the whole of both.
static void command_range(const pl_reduced_model *m, int index, pl_model_command *command)
{
    double meet[2] = {-INFINITY, INFINITY}, whole[2] = {INFINITY, -INFINITY};
    for (int i = 0; i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        if (a->command != index) {
            continue;
        }
        if (!a->has_range) {
            return;
        }
        const double p = a->range[0] / a->factor, q = a->range[1] / a->factor;
        meet[0] = fmax(meet[0], fmin(p, q));
        meet[1] = fmin(meet[1], fmax(p, q));
        whole[0] = fmin(whole[0], fmin(p, q));
        whole[1] = fmax(whole[1], fmax(p, q));
    }
    const bool narrow = !(meet[0] < meet[1]);
    command->range[0] = (narrow ? whole[0] : meet[0]) + 0.0; // no -0
    command->range[1] = (narrow ? whole[1] : meet[1]) + 0.0;
    command->has_range = isfinite(command->range[0]) && isfinite(command->range[1]);
}

// A one-sided command goes as far up as the actuators with positive factors may, as far down as the others.
static void command_range_one_sided(const pl_reduced_model *m, int index, pl_model_command *command)
{
    double low = -INFINITY, high = INFINITY;
    for (int i = 0; i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        if (a->command != index) {
            continue;
        }
        if (!a->has_range) {
            return;
        }
        const double end = a->range[1] / a->factor;
        high = a->factor > 0 ? fmin(high, end) : high;
        low = a->factor < 0 ? fmax(low, end) : low;
    }
    command->range[0] = isfinite(low) ? low + 0.0 : 0;
    command->range[1] = isfinite(high) ? high + 0.0 : 0;
    command->has_range = true;
}

// The smallest limit of all: rate_a / |factor_a| for each actuator, and the command's own.
static double command_rate(const pl_reduced_model *m, int index, double own)
{
    double least = own;
    for (int i = 0; i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        const double rate = a->rate / fabs(a->factor);
        if (a->command == index && rate > 0) {
            least = least > 0 ? fmin(least, rate) : rate;
        }
    }
    return least;
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

static void command_given(pl_reduced_model *m, int index, const pl_command_def *d, pl_model_command *c)
{
    for (int k = 0; k < d->drive_count; ++k) {
        reduced_actuator *a = &m->actuator[command_actuator(m, d->drive[k].actuator)];
        a->command = index;
        a->factor = d->drive[k].factor;
        a->one_sided = d->one_sided;
        c->drive = k == 0 ? a->drive : c->drive;
    }
    c->has_range = d->has_range;
    memcpy(c->range, d->range, sizeof c->range);
    if (!d->has_range && d->one_sided) {
        command_range_one_sided(m, index, c);
    } else if (!d->has_range) {
        command_range(m, index, c);
    }
    c->rate = command_rate(m, index, d->rate);
}

bool reduced_create_commands(pl_reduced_model *m, const pl_reduced_def *d)
{
    m->command_info = REDUCED_TAKE(m, pl_model_command, d->command_count + m->actuator_count);
    if (!m->command_info) {
        return false;
    }
    for (int i = 0; i < d->command_count; ++i) {
        pl_model_command *c = &m->command_info[m->command_count++];
        *c = (pl_model_command){.name = reduced_text(m, d->command[i].name)};
        if (!c->name) {
            return false;
        }
        command_given(m, i, &d->command[i], c);
    }
    for (int i = 0; i < m->actuator_count; ++i) {
        reduced_actuator *a = &m->actuator[i];
        if (a->command < 0) {
            a->command = m->command_count;
            m->command_info[m->command_count++] = (pl_model_command){.name = a->name,
                                                                     .drive = a->drive,
                                                                     .has_range = a->has_range,
                                                                     .range = {a->range[0], a->range[1]},
                                                                     .rate = a->rate};
        }
    }
    return true;
}
