// Commands: the numbers a person or controller sets. Those of the def come first; an actuator that none of
// them drives keeps a command of its own under its name.
#include "robot/robot_impl.h"

// Index of an actuator by name, or -1.
static int command_actuator(const pl_robot *robot, const char *name)
{
    for (int a = 0; a < robot->actuator_count; ++a) {
        if (strcmp(robot->actuator[a].name, name) == 0) {
            return a;
        }
    }

    return -1;
}

// The range an actuator offers: its own; or that of its table, beyond which nothing was
// measured; or a usual one of its drive.
static void command_offer(const pl_actuator *a, double range[2])
{
    pl_drive_span(a->drive, a->rest, range);
    if (a->table.count > 0) {
        range[0] = a->table.x[0];
        range[1] = a->table.x[a->table.count - 1];
    }

    if (a->has_range) {
        memcpy(range, a->range, sizeof a->range);
    }
}

// Rate, rest value, span and, where none is given, range of command c from the actuators it drives.
static void command_limits(pl_robot *robot, int c, bool one_sided, double own_rate)
{
    pl_command *command = &robot->command[c];

    // the narrowest of what the actuators offer, in units of the command
    pl_command_reach reach = pl_reach_begin(own_rate);

    for (int i = 0; i < robot->actuator_count; ++i) {
        const pl_actuator *a = &robot->actuator[i];
        if (a->command == c) {
            double range[2];
            command_offer(a, range);
            pl_reach_add(&reach, range, a->has_range, a->factor, a->rate);
            command->fill = fmax(command->fill, a->fill);
            command->vent = fmax(command->vent, a->vent);
        }
    }

    // a range given for the command wins; without any, the span is only what a slider offers
    command->has_range = command->has_range || pl_reach_range(&reach, one_sided, command->range);
    pl_reach_span(&reach, one_sided, command->span);
    if (command->has_range) {
        memcpy(command->span, command->range, sizeof command->span);
    }

    // the command at which nothing acts; + 0.0 turns -0 into 0
    command->rate = reach.rate;
    const pl_actuator *first = command->actuator_count > 0 ? &robot->actuator[command->first_actuator] : NULL;
    command->rest = first ? pl_drive_rest(first->drive, first->rest) / first->factor + 0.0 : 0;
}

// A command of the def and the actuators it drives, each with its factor.
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

    // a range of its own, or one from its actuators
    memcpy(command->range, def->range, sizeof command->range);
    command->has_range = def->has_range;
    command_limits(b->robot, c, def->one_sided, def->rate);

    return PL_OK;
}

// Commands of the def, then of actuators without one, then of obstacles; their order is
// the order of all command vectors.
pl_status robot_commands(robot_build *b)
{
    pl_robot *robot = b->robot;

    // the most there can be: no reallocation, so pointers stay valid
    robot->command = PL_NEW_ARRAY(pl_command, (int64_t)b->def->command_count + robot->actuator_count +
                                                  robot->contact.obstacle_count);
    pl_status status = robot->command ? PL_OK : robot_memory(b);
    for (int c = 0; status == PL_OK && c < b->def->command_count; ++c) {
        status = command_given(b, c);
    }

    // actuators that no command of the def drives
    for (int a = 0; status == PL_OK && a < robot->actuator_count; ++a) {
        pl_actuator *actuator = &robot->actuator[a];
        if (actuator->command >= 0 || pl_robot_find_command(robot, actuator->name) >= 0) {
            continue;
        }
        actuator->command = robot->command_count;
        actuator->factor = 1;
        pl_command *command = &robot->command[robot->command_count++];
        *command = (pl_command){.name = pl_strdup(actuator->name), .first_actuator = a, .actuator_count = 1};
        command_limits(robot, actuator->command, false, 0);
        status = command->name ? PL_OK : robot_memory(b);
    }

    // an obstacle that moves or is pulled has a command of its own
    for (int o = 0; status == PL_OK && o < robot->contact.obstacle_count; ++o) {
        pl_obstacle *obstacle = &robot->contact.obstacle[o];
        if (!obstacle->moves && !obstacle->pulled) {
            continue;
        }
        obstacle->command = robot->command_count;
        pl_command *command = &robot->command[robot->command_count++];
        *command = (pl_command){.name = pl_strdup(obstacle->name),
                                .range = {obstacle->range[0], obstacle->range[1]},
                                .has_range = obstacle->has_range,
                                .first_actuator = -1,
                                .force = obstacle->pulled,
                                .span = {0, obstacle->pulled ? 1 : 0.1 * b->size}};
        if (obstacle->has_range) {
            memcpy(command->span, command->range, sizeof command->span);
        }
        status = command->name ? PL_OK : robot_memory(b);
    }

    return status;
}
