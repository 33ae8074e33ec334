// The options of `pliant simulate`, read and checked into what the verb holds.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli_simulate.h"

// The options that are numbers, checked and brought into a consistent whole.
int cli_simulate_numbers(const cli_args *args, simulate *d)
{
    d->options = pl_dynamics_options_default();
    d->until = -1;
    const char *step = cli_value(args, "step");
    bool good = cli_number(args, "until", &d->until) && cli_number(args, "ramp", &d->ramp) &&
                cli_number(args, "load-ramp", &d->load_ramp) &&
                cli_number(args, "tolerance", &d->options.tolerance) &&
                cli_number(args, "damping", &d->options.mass_damping) &&
                cli_number(args, "stiffness-damping", &d->options.stiffness_damping);

    // a model that is convenient and wrong for silicone is allowed, but not silently
    if (good && d->options.stiffness_damping > 0) {
        cli_finding(&(pl_finding){
            .severity = PL_WARNING,
            .text = "stiffness-proportional damping grows with the frequency, that of silicone hardly does: "
                    "prefer viscous branches (prony, `pliant calibrate relaxation`)"});
    }

    if (good && d->until < 0) {
        cli_error(args, "--until is missing: how long does the motion last (--until 2s)?");
        return CLI_EXIT_USAGE;
    }

    // without --every: 200 rows
    d->every = d->until / 200;

    // steps are the largest one halved: one that the first step is a part of
    good = good && cli_number(args, "first-step", &d->options.first_step);
    if (d->options.first_step > 0) {
        const double halvings = round(log2(d->options.largest_step / d->options.first_step));
        d->options.largest_step = ldexp(d->options.first_step, (int)fmax(0, halvings));
    }

    good = good && cli_number(args, "every", &d->every);
    if (good && step && strcmp(step, "auto") != 0) {
        good = cli_number(args, "step", &d->options.step);
    }

    if (good && d->until / d->every > 1e6) {
        cli_error(args, "--every gives %.3g rows, expected at most 1e6", d->until / d->every);
        good = false;
    }

    return good ? CLI_DONE : CLI_EXIT_USAGE;
}

// --set or --before: commands by name into `command`; those not given keep their value.
int cli_simulate_read_set(const cli_args *args, simulate *d, const char *option, double *command)
{
    int cursor = 0;
    for (const char *set, *value; (set = cli_next(args, option, &cursor));) {
        const int c = cli_command_split(args, cli_model_commands(&d->s.m), option, set, &value);
        pl_error err = {0};
        if (c < 0) {
            return CLI_EXIT_USAGE;
        }

        const pl_command_info *info = &d->s.m.info.command[c];
        if (pl_quantity_parse(value, pl_drive_dimension(info->drive), &command[c], &err) != PL_OK) {
            cli_error(args, "--%s %s: %s", option, set, err.text);
            return CLI_EXIT_USAGE;
        }

        const int status = cli_command_check(args, info, command[c]);
        if (status) {
            return status;
        }
    }

    return CLI_DONE;
}

// --table: commands over time, each value checked against its range.
int cli_simulate_read_table(const cli_args *args, simulate *d)
{
    const char *path = cli_value(args, "table");
    pl_error err = {0};

    if (!path) {
        return CLI_DONE;
    }
    if (cli_value(args, "set") || cli_value(args, "ramp")) {
        cli_error(args, "--table %s: the rows give the commands; --set and --ramp are not for tables", path);
        return CLI_EXIT_USAGE;
    }

    if (pl_timed_commands_read(path, &d->s.m.info, &d->table, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    d->has_table = true;
    for (int i = 0; i < d->table.count * d->table.command_count; ++i) {
        const pl_command_info *info = &d->s.m.info.command[i % d->table.command_count];
        const int status =
            isnan(d->table.command[i]) ? CLI_DONE : cli_command_check(args, info, d->table.command[i]);
        if (status) {
            return status;
        }
    }

    return CLI_DONE;
}

// Takes "Hz" off the end of a frequency; false: it does not end so.
static bool simulate_hertz(char *text)
{
    char *hertz = strstr(text, "Hz");
    const bool ends = hertz && !hertz[2];
    if (ends) {
        *hertz = 0;
    }
    return ends;
}

// --sine NAME=MEAN,AMPLITUDE,FREQUENCY: into the schedule, or before there is one its values at the start.
int cli_simulate_read_sines(const cli_args *args, simulate *d, bool schedule)
{
    int cursor = 0;
    for (const char *set, *value; (set = cli_next(args, "sine", &cursor));) {
        const int c = cli_command_split(args, cli_model_commands(&d->s.m), "sine", set, &value);
        char part[3][64];
        double number[3];
        pl_error err = {0};
        if (c < 0) {
            return CLI_EXIT_USAGE;
        }

        const pl_command_info *info = &d->s.m.info.command[c];
        int end = 0;
        if (sscanf(value, "%63[^,],%63[^,],%63[^,]%n", part[0], part[1], part[2], &end) != 3 || value[end]) {
            cli_error(args, "--sine %s: expected NAME=MEAN,AMPLITUDE,FREQUENCY, such as air=20kPa,5kPa,2Hz",
                      set);
            return CLI_EXIT_USAGE;
        }

        // MEAN and AMPLITUDE in the unit of the command, FREQUENCY in Hz with or without the word
        for (int k = 0; k < 3; ++k) {
            const pl_dimension dimension = k < 2 ? pl_drive_dimension(info->drive) : PL_DIM_NUMBER;
            if (k == 2) {
                simulate_hertz(part[k]);
            }
            if (pl_quantity_parse(part[k], dimension, &number[k], &err) != PL_OK) {
                cli_error(args, "--sine %s: %s", set, err.text);
                return CLI_EXIT_USAGE;
            }
        }

        // both extremes shall be within the range
        int status = cli_command_check(args, info, number[0] - fabs(number[1]));
        status = status ? status : cli_command_check(args, info, number[0] + fabs(number[1]));
        if (status) {
            return status;
        }

        // a command is asked for by one option
        bool tabled = false;
        for (int k = 0; !schedule && d->has_table && k < d->table.count; ++k) {
            tabled = tabled || !isnan(d->table.command[k * d->table.command_count + c]);
        }
        if (!schedule && (tabled || !isnan(d->last[c]))) {
            cli_error(args, "--sine %s: '%s' is in --%s too", set, info->name,
                      tabled ? "table" : "set or --sine");
            return CLI_EXIT_USAGE;
        }

        // a command that swings starts at its mean unless --before says otherwise
        d->last[c] = number[0];
        d->first[c] = isnan(d->first[c]) ? number[0] : d->first[c];
        if (schedule &&
            pl_schedule_sine(d->schedule, c, d->begin, number[0], number[1], number[2], &err) != PL_OK) {
            return cli_fail(args, &err);
        }
    }

    return CLI_DONE;
}

// --fill and --vent NAME=TIME instead of those of the robot file.
int cli_simulate_read_lines(const cli_args *args, simulate *d)
{
    static const char *const option[2] = {"fill", "vent"};
    const int C = d->s.m.info.command_count;

    for (int k = 0; k < 2; ++k) {
        int cursor = 0;
        for (const char *set, *value; (set = cli_next(args, option[k], &cursor));) {
            const int c = cli_command_split(args, cli_model_commands(&d->s.m), option[k], set, &value);
            pl_error err = {0};
            double time;
            if (c < 0) {
                return CLI_EXIT_USAGE;
            }
            if (pl_quantity_parse(value, PL_DIM_TIME, &time, &err) != PL_OK || !(time >= 0)) {
                cli_error(args, "--%s %s: %s", option[k], set,
                          err.text[0] ? err.text : "a time is not negative");
                return CLI_EXIT_USAGE;
            }

            d->line[k * C + c] = time;
        }
    }

    return CLI_DONE;
}

#define SIMULATE_CONDUCTANCE 1e7  // mm^3/(s MPa) in 1 L/(s bar)
#define SIMULATE_AMBIENT 0.101325 // MPa
// --line NAME=CONDUCTANCE,VOLUME[,RATIO]
int cli_simulate_read_air(const cli_args *args, simulate *d)
{
    int cursor = 0;
    for (const char *set, *value; (set = cli_next(args, "line", &cursor));) {
        const int c = cli_command_split(args, cli_model_commands(&d->s.m), "line", set, &value);
        char part[3][40] = {"", "", "0.3"};
        double number[3];
        pl_error err = {0};
        if (c < 0) {
            return CLI_EXIT_USAGE;
        }

        // a line carries air: the command must be a pressure
        if (pl_drive_dimension(d->s.m.info.command[c].drive) != PL_DIM_PRESSURE) {
            cli_error(args, "--line %s: the command is not a pressure", set);
            return CLI_EXIT_USAGE;
        }

        if (sscanf(value, "%39[^,],%39[^,],%39s", part[0], part[1], part[2]) < 2 ||
            pl_quantity_parse(part[0], PL_DIM_NUMBER, &number[0], &err) != PL_OK ||
            pl_quantity_parse(part[1], PL_DIM_VOLUME, &number[1], &err) != PL_OK ||
            pl_quantity_parse(part[2], PL_DIM_NUMBER, &number[2], &err) != PL_OK) {
            cli_error(args, "--line %s: %s", set,
                      err.text[0] ? err.text
                                  : "expected NAME=CONDUCTANCE,VOLUME[,RATIO], such as air=0.05,20mL,0.3");
            return CLI_EXIT_USAGE;
        }

        // at sea level; the ratio is that of a tube unless given
        const pl_air_line line = {.conductance = SIMULATE_CONDUCTANCE * number[0],
                                  .volume = number[1],
                                  .critical = number[2],
                                  .ambient = SIMULATE_AMBIENT};
        if (pl_schedule_line(d->schedule, c, &line, &err) != PL_OK) {
            cli_error(args, "--line %s: %s", set, err.text);
            return CLI_EXIT_USAGE;
        }
    }

    return CLI_DONE;
}

// --push MARKER=FX,FY,FZ@FROM,TO, besides the weight of masses at markers.
int cli_simulate_read_pushes(const cli_args *args, simulate *d)
{
    const int M = d->s.m.info.marker_count;
    int cursor = 0;

    for (const char *text; (text = cli_next(args, "push", &cursor));) {
        char name[64], from[32], to[32];
        double force[3], time[2];
        pl_error err = {0};
        if (sscanf(text, "%63[^=]=%lf,%lf,%lf@%31[^,],%31s", name, &force[0], &force[1], &force[2], from,
                   to) != 6) {
            cli_error(args, "--push %s: expected MARKER=FX,FY,FZ@FROM,TO, such as tip=0,0,-2@50ms,80ms",
                      text);
            return CLI_EXIT_USAGE;
        }

        const int k = cli_model_marker(args, &d->s.m, "push", name);
        if (k < 0) {
            return CLI_EXIT_USAGE;
        }
        if (pl_quantity_parse(from, PL_DIM_TIME, &time[0], &err) != PL_OK ||
            pl_quantity_parse(to, PL_DIM_TIME, &time[1], &err) != PL_OK ||
            pl_schedule_push(d->schedule, k, M, force, time[0], time[1], &err) != PL_OK) {
            cli_error(args, "--push %s: %s", text, err.text);
            return CLI_EXIT_USAGE;
        }
    }

    // they replace forces at markers: the weight of masses is one that stays
    for (int k = 0; cli_value(args, "push") && cli_value(args, "mass") && k < M; ++k) {
        pl_error err = {0};
        const double *weight = d->s.force + 3 * k;
        if ((weight[0] != 0 || weight[1] != 0 || weight[2] != 0) &&
            pl_schedule_push(d->schedule, k, M, weight, d->begin, INFINITY, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
    }

    return CLI_DONE;
}

// AXIS=... of --shake and --carry; the rest in `value`. -1: not an axis.
static int simulate_axis(const cli_args *args, const char *option, const char *text, const char **value)
{
    const char *axis = text[0] ? strchr("xyz", text[0]) : NULL;
    if (!axis || text[1] != '=') {
        cli_error(args, "--%s %s: expected an axis first, such as z=2mm", option, text);
        return -1;
    }

    *value = text + 2;
    return (int)(axis - "xyz");
}

// --shake AXIS=AMPLITUDE,FREQUENCY and --carry AXIS=DISTANCE@FROM,TO.
int cli_simulate_read_base(const cli_args *args, simulate *d)
{
    char part[3][64];
    double number[3];
    const char *value;
    int cursor = 0;

    for (const char *text; (text = cli_next(args, "shake", &cursor));) {
        pl_error err = {0};
        const int axis = simulate_axis(args, "shake", text, &value);
        if (axis < 0) {
            return CLI_EXIT_USAGE;
        }
        int end = 0;
        if (sscanf(value, "%63[^,],%63[^,]%n", part[0], part[1], &end) != 2 || value[end] ||
            !simulate_hertz(part[1]) ||
            pl_quantity_parse(part[0], PL_DIM_LENGTH, &number[0], &err) != PL_OK ||
            pl_quantity_parse(part[1], PL_DIM_NUMBER, &number[1], &err) != PL_OK ||
            pl_schedule_base(d->schedule, axis, number[0], number[1], d->begin, INFINITY, &err) != PL_OK) {
            cli_error(args, "--shake %s: %s", text,
                      err.text[0] ? err.text : "expected AXIS=AMPLITUDE,FREQUENCY, such as z=2mm,5Hz");
            return CLI_EXIT_USAGE;
        }
    }

    cursor = 0;
    for (const char *text; (text = cli_next(args, "carry", &cursor));) {
        pl_error err = {0};
        const int axis = simulate_axis(args, "carry", text, &value);
        if (axis < 0) {
            return CLI_EXIT_USAGE;
        }
        int end = 0;
        if (sscanf(value, "%63[^@]@%63[^,],%63[^,]%n", part[0], part[1], part[2], &end) != 3 || value[end] ||
            pl_quantity_parse(part[0], PL_DIM_LENGTH, &number[0], &err) != PL_OK ||
            pl_quantity_parse(part[1], PL_DIM_TIME, &number[1], &err) != PL_OK ||
            pl_quantity_parse(part[2], PL_DIM_TIME, &number[2], &err) != PL_OK ||
            pl_schedule_base(d->schedule, axis, 0.5 * number[0], 0.5 / (number[2] - number[1]), number[1],
                             number[2], &err) != PL_OK) {
            cli_error(args, "--carry %s: %s", text,
                      err.text[0] ? err.text : "expected AXIS=DISTANCE@FROM,TO, such as x=80mm@0s,0.5s");
            return CLI_EXIT_USAGE;
        }
    }

    return CLI_DONE;
}

// --drag SURFACE=DENSITY
int cli_simulate_read_drag(const cli_args *args, simulate *d)
{
    const pl_mesh *mesh = pl_robot_mesh(d->s.robot);
    int cursor = 0;

    for (const char *text; (text = cli_next(args, "drag", &cursor));) {
        char name[64];
        pl_error err = {0};
        const char *equals = strchr(text, '=');
        snprintf(name, sizeof name, "%.*s", equals ? (int)fmin((double)(equals - text), 63) : 0, text);
        const int32_t s = pl_mesh_find_surface(mesh, name);
        if (!d->drag) {
            d->drag = calloc((size_t)pl_mesh_get(mesh).surface_count + 1, sizeof *d->drag);
        }
        if (!d->drag) {
            return cli_no_memory(args);
        }
        if (s < 0) {
            cli_error(args, "--drag %s: the robot has no surface '%s'", text, name);
            return CLI_EXIT_USAGE;
        }

        if (pl_quantity_parse(equals + 1, PL_DIM_DENSITY, &d->drag[s], &err) != PL_OK || !(d->drag[s] >= 0)) {
            cli_error(args, "--drag %s: %s", text, err.text[0] ? err.text : "must not be negative");
            return CLI_EXIT_USAGE;
        }
    }

    d->options.surface_drag = d->drag;

    return CLI_DONE;
}
