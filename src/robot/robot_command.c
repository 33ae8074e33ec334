// Commands: the numbers a person or controller sets. Those of the def come first; an actuator that none of
// them drives keeps a command of its own under its name.
#include "robot/robot_impl.h"

static int command_actuator(const pl_robot *robot, const char *name)
{
    for (int a = 0; a < robot->actuator_count; ++a) {
        if (strcmp(robot->actuator[a].name, name) == 0) {
            return a;
        }
    }
    return -1;
}

// Without a range of its own a command may go where all its actuators may; antagonists, whose ranges meet in
// one point at most, share the whole of both.
static void command_range(const pl_robot *robot, int index, pl_command *command)
{
    double meet[2] = {-INFINITY, INFINITY}, whole[2] = {INFINITY, -INFINITY};
    for (int a = 0; a < robot->actuator_count; ++a) {
        const pl_actuator *actuator = &robot->actuator[a];
        if (actuator->command != index) {
            continue;
        }
        if (!actuator->has_range) {
            return;
        }
        const double p = actuator->range[0] / actuator->factor, q = actuator->range[1] / actuator->factor;
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

// The smallest limit of all: rate_a / |factor_a| for each actuator, and the command's own.
static double command_rate(const pl_robot *robot, int index, double own)
{
    double least = own;
    for (int a = 0; a < robot->actuator_count; ++a) {
        const pl_actuator *actuator = &robot->actuator[a];
        const double rate = actuator->rate / fabs(actuator->factor);
        if (actuator->command == index && rate > 0) {
            least = least > 0 ? fmin(least, rate) : rate;
        }
    }
    return least;
}

// A one-sided command goes as far up as the actuators with positive factors may, as far down as the others.
static void command_range_one_sided(const pl_robot *robot, int index, pl_command *command)
{
    double low = -INFINITY, high = INFINITY;
    for (int a = 0; a < robot->actuator_count; ++a) {
        const pl_actuator *actuator = &robot->actuator[a];
        if (actuator->command == index && actuator->has_range) {
            const double end = actuator->range[1] / actuator->factor;
            high = actuator->factor > 0 ? fmin(high, end) : high;
            low = actuator->factor < 0 ? fmax(low, end) : low;
        } else if (actuator->command == index) {
            return;
        }
    }
    command->range[0] = isfinite(low) ? low + 0.0 : 0;
    command->range[1] = isfinite(high) ? high + 0.0 : 0;
    command->has_range = true;
}

static pl_status command_given(robot_build *b, int c)
{
    const pl_command_def *def = &b->def->command[c];
    pl_command *command = &b->robot->command[b->robot->command_count++];
    *command = (pl_command){.name = pl_strdup(def->name), .first_actuator = -1};
    if (!command->name) {
        return robot_memory(b);
    }
    for (int d = 0; d < def->drive_count; ++d) {
        const int a = command_actuator(b->robot, def->drive[d].actuator);
        if (a >= 0) {
            b->robot->actuator[a].command = c;
            b->robot->actuator[a].factor = def->drive[d].factor;
            b->robot->actuator[a].one_sided = def->one_sided;
            command->first_actuator = command->actuator_count == 0 ? a : command->first_actuator;
            ++command->actuator_count;
        }
    }
    command->has_range = def->has_range;
    memcpy(command->range, def->range, sizeof command->range);
    if (!def->has_range && def->one_sided) {
        command_range_one_sided(b->robot, c, command);
    } else if (!def->has_range) {
        command_range(b->robot, c, command);
    }
    command->rate = command_rate(b->robot, c, def->rate);
    return PL_OK;
}

pl_status robot_commands(robot_build *b)
{
    pl_robot *robot = b->robot;
    robot->command = PL_NEW_ARRAY(pl_command, (int64_t)b->def->command_count + robot->actuator_count);
    pl_status status = robot->command ? PL_OK : robot_memory(b);
    for (int c = 0; status == PL_OK && c < b->def->command_count; ++c) {
        status = command_given(b, c);
    }
    for (int a = 0; status == PL_OK && a < robot->actuator_count; ++a) {
        pl_actuator *actuator = &robot->actuator[a];
        if (actuator->command >= 0 || pl_robot_find_command(robot, actuator->name) >= 0) {
            continue;
        }
        actuator->command = robot->command_count;
        actuator->factor = 1;
        pl_command *command = &robot->command[robot->command_count++];
        *command = (pl_command){.name = pl_strdup(actuator->name),
                                .range = {actuator->range[0], actuator->range[1]},
                                .has_range = actuator->has_range,
                                .first_actuator = a,
                                .actuator_count = 1,
                                .rate = actuator->rate};
        status = command->name ? PL_OK : robot_memory(b);
    }
    return status;
}
