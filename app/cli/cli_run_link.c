// The machine side of `pliant run`: a simulated plant in a process of its own, anything that speaks the
// protocol on a socket, and a machine on a serial line.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli_run.h"

// A process of its own: this program again, on a pair of sockets.
static int run_spawn(const cli_args *args, run *r, const char *robot)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        cli_error(args, "no socket for the plant");
        return CLI_EXIT_SYSTEM;
    }

    // its mesh is that of the controller's options
    char period[40];
    snprintf(period, sizeof period, "%.9gs", r->period);
    const char *argv[16] = {"pliant", "plant", robot, "--stdio", "--period", period};
    int count = 6;
    static const char *const passed[] = {"size", "order"};
    char text[2][60];

    for (int i = 0; i < 2; ++i) {
        if (cli_value(args, passed[i])) {
            snprintf(text[i], sizeof text[i], "--%s=%.40s", passed[i], cli_value(args, passed[i]));
            argv[count++] = text[i];
        }
    }

    // the child keeps only its end of the pair
    FILE *copy = cli_input_copy(robot);
    if (!copy && strcmp(robot, "-") == 0) { // it would take its socket for the robot
        cli_error(args, "the plant cannot be given the robot from standard input");
        close(pair[0]);
        close(pair[1]);
        return CLI_EXIT_SYSTEM;
    }

    r->child = fork();
    if (r->child == 0) {
        setpgid(0, 0); // Ctrl-C is for the controller, which stops the plant
        dup2(pair[1], STDIN_FILENO);
        dup2(pair[1], STDOUT_FILENO);
        close(pair[0]);
        close(pair[1]);
        cli_input_hand(copy);
        execv("/proc/self/exe", (char *const *)argv);
        _exit(CLI_EXIT_SYSTEM);
    }

    if (copy) {
        fclose(copy);
    }
    close(pair[1]);
    wire_open(&r->w, pair[0], pair[0]);
    if (r->child < 0) {
        cli_error(args, "the plant cannot be started");
        return CLI_EXIT_SYSTEM;
    }

    return CLI_DONE;
}

// Axes are set up before the first move.
static int run_connect_machine(const cli_args *args, run *r)
{
    pl_error err = {0};
    if (pl_gcode_create(r->m.model, &r->gcode, &err) != PL_OK) {
        return cli_fail_file(args, r->m.path, &err);
    }

    const double timeout = r->timeout > 0 ? r->timeout : 30;
    const int status = marlin_open(args, cli_value(args, "marlin"), timeout, &r->machine);
    const char *why = status ? NULL : marlin_send(&r->machine, pl_gcode_setup(r->gcode), timeout);
    if (why) {
        cli_error(args, "--marlin: %s", why);
    }

    return why ? CLI_EXIT_UNSOLVED : status;
}

// ---- the greeting: what the plant says must be what the model says
static int run_refuse(const cli_args *args, const char *what, const char *name, const char *found,
                      const char *expected)
{
    cli_error(args, "the plant does not fit the robot: %s%s%s%s is %s, expected %s", what, name ? " '" : "",
              name ? name : "", name ? "'" : "", found ? found : "missing", expected);
    return CLI_EXIT_USAGE;
}

// Units agree, the plant's range covers the robot's, and its rate is not slower than
// what the controller plans with.
static int run_check_command(const cli_args *args, const pl_command_info *c, json_t *found)
{
    const char *unit = json_string_value(json_object_get(found, "unit"));
    if (!unit || strcmp(unit, pl_drive_unit(c->drive)) != 0) {
        return run_refuse(args, "the unit of command", c->name, unit, pl_drive_unit(c->drive));
    }

    const double scale = pl_drive_scale(c->drive), low = c->range[0] / scale, high = c->range[1] / scale,
                 slack = 1e-6 * (high - low);
    json_t *range = json_object_get(found, "range"), *rate = json_object_get(found, "rate");
    const double at[2] = {json_number_value(json_array_get(range, 0)),
                          json_number_value(json_array_get(range, 1))};
    char have[80], want[80];

    if (c->has_range && !(json_array_size(range) == 2 && at[0] <= low + slack && at[1] >= high - slack)) {
        snprintf(have, sizeof have, "%g to %g %s", at[0], at[1], unit);
        snprintf(want, sizeof want, "at least %g to %g %s", low, high, unit);
        return run_refuse(args, "the range of command", c->name, json_array_size(range) == 2 ? have : NULL,
                          want);
    }

    if (json_is_number(rate) && !(c->rate > 0 && c->rate / scale <= json_number_value(rate) * (1 + 1e-6))) {
        snprintf(have, sizeof have, "at most %g %s/s", json_number_value(rate), unit);
        snprintf(want, sizeof want,
                 c->rate > 0 ? "%g %s/s as in the robot file" : "no limit as in the robot file",
                 c->rate / scale, unit);
        return run_refuse(args, "the rate of command", c->name, have, want);
    }

    return CLI_DONE;
}

// Protocol and period, then every command and sensor; commands that only the plant has are refused, too,
// because they would stay unset.
static int run_check_greeting(const cli_args *args, const run *r, json_t *hello)
{
    const pl_model_info *info = &r->m.info;
    json_t *commands = json_object_get(hello, "commands"), *sensors = json_object_get(hello, "sensors"),
           *value;
    const char *protocol = json_string_value(json_object_get(hello, "hello")), *name;

    if (!protocol || strcmp(protocol, WIRE_PROTOCOL) != 0) {
        return run_refuse(args, "the protocol", NULL, protocol, WIRE_PROTOCOL);
    }

    const double period = json_number_value(json_object_get(hello, "period"));
    if (!(fabs(period - r->period) <= 1e-6 * r->period)) {
        char have[40], want[40];
        snprintf(have, sizeof have, "%g s", period);
        snprintf(want, sizeof want, "%g s", r->period);
        return run_refuse(args, "the period", NULL, period > 0 ? have : NULL, want);
    }

    int status = CLI_DONE;
    for (int j = 0; !status && j < info->command_count; ++j) {
        json_t *found = json_object_get(commands, info->command[j].name);
        status = found ? run_check_command(args, &info->command[j], found)
                       : run_refuse(args, "command", info->command[j].name, NULL, "as in the robot file");
    }

    json_object_foreach(commands, name, value)
    {
        if (!status && pl_model_find_command(r->m.model, name) < 0) {
            status = run_refuse(args, "command", name, "unknown to the robot file", "none such");
        }
    }

    for (int i = 0; !status && i < info->sensor_count; ++i) {
        const char *unit = json_string_value(json_object_get(sensors, info->sensor_name[i]));
        if (!unit || strcmp(unit, pl_sensor_unit(info->sensor_kind[i])) != 0) {
            status = run_refuse(args, "the unit of sensor", info->sensor_name[i], unit,
                                pl_sensor_unit(info->sensor_kind[i]));
        }
    }

    return status;
}

// ---- messages
// One message with all commands, in their units, under the next number.
static json_t *run_message(run *r, double t, const char *what, const double *command)
{
    const pl_model_info *info = &r->m.info;
    json_t *message = json_object(), *set = json_object();

    for (int j = 0; j < info->command_count; ++j) {
        json_object_set_new(set, info->command[j].name,
                            cli_json_number(command[j] / pl_drive_scale(info->command[j].drive)));
    }

    json_object_set_new(message, "seq", json_integer(++r->sequence));
    json_object_set_new(message, "t", json_real(t));
    json_object_set_new(message, what, set);

    return message;
}

// The reply to the last message: older ones are dropped. NULL, or why there is none.
static const char *run_reply(run *r, json_t **answer)
{
    const double until = run_now() + r->timeout;
    for (;;) {
        const wire_end end = wire_receive(&r->w, fmax(until - run_now(), 0), answer);
        if (end != WIRE_OK) {
            json_decref(*answer);
            *answer = NULL;
        }

        switch (end) {
        case WIRE_CLOSED:
            return "the plant is gone";
        case WIRE_LATE:
            return !r->w.ignore_interrupts && cli_interrupted() ? "interrupted" : "the plant does not answer";
        case WIRE_WRONG:
            return "the plant sent something that is no JSON object";
        case WIRE_LONG:
            return "the plant sent a line that is too long";
        default:
            break;
        }

        // a refusal, a wrong number, the answer, or an old one
        json_t *sequence = json_object_get(*answer, "seq");
        const char *refused = json_string_value(json_object_get(*answer, "error"));
        if (refused) {
            snprintf(r->why, sizeof r->why, "the plant refused the command: %.200s", refused);
            return r->why;
        }

        if (!json_is_integer(sequence) || json_integer_value(sequence) > r->sequence) {
            return "a reply of the plant has no sequence number, or one that was not sent";
        }
        if (json_integer_value(sequence) == r->sequence) {
            return NULL;
        }
        ++r->stale;
        json_decref(*answer);
        *answer = NULL;
    }
}

// The state of --on-stop: where each command ends, within its range.
static void run_stop_command(const run *r, double *command)
{
    for (int j = 0; j < r->m.info.command_count; ++j) {
        const pl_command_info *c = &r->m.info.command[j];
        const pl_dimension what = pl_drive_dimension(c->drive);
        const bool effort = what == PL_DIM_PRESSURE || what == PL_DIM_FORCE;
        command[j] = r->on_stop == RUN_HOLD ? r->sent[j] : r->on_stop == RUN_VENT && effort ? 0 : c->rest;
        if (c->has_range) {
            command[j] = fmin(fmax(command[j], c->range[0]), c->range[1]);
        }
    }
}

// Tells the plant what the commands shall be if the connection is lost.
static const char *run_accept(run *r)
{
    double *stop = calloc((size_t)r->m.info.command_count + 1, sizeof *stop);
    if (!stop) {
        return "no memory";
    }
    run_stop_command(r, stop);
    json_t *message = run_message(r, 0, "on_stop", stop), *answer = NULL;
    free(stop);
    if (r->on_stop == RUN_HOLD) {
        json_object_clear(json_object_get(message, "on_stop")); // every command stays
    }
    if (r->real_time) {
        json_object_set_new(message, "timeout", json_real(r->timeout));
    }

    const char *why = wire_send(&r->w, message) == WIRE_OK ? run_reply(r, &answer) : "the plant is gone";
    why = !why && !json_is_true(json_object_get(answer, "ready")) ? "the plant is not ready" : why;
    json_decref(answer);

    return why;
}

// Waits for the greeting, checks it, and agrees about the end of the run.
static int run_greet(const cli_args *args, run *r)
{
    json_t *hello = NULL;

    // the first answer may have to wait for a mesh
    const double wait = r->child > 0 ? 600 : r->timeout > 0 ? r->timeout : 30;
    if (wire_receive(&r->w, wait, &hello) != WIRE_OK || !json_object_get(hello, "hello")) {
        json_decref(hello);
        cli_error(args, "the plant did not greet");
        return CLI_EXIT_UNSOLVED;
    }

    const char *clock = json_string_value(json_object_get(hello, "clock"));
    const bool simulated = clock && strcmp(clock, "simulated") == 0 && !r->real_time;
    r->timeout = r->timeout > 0 ? r->timeout : simulated ? 30 : fmax(5 * r->period, 0.1);
    r->w.patience = r->timeout;
    int status = run_check_greeting(args, r, hello);
    json_decref(hello);
    const char *why = status ? NULL : run_accept(r);
    if (why) {
        cli_error(args, "%s", why);
        status = CLI_EXIT_UNSOLVED;
    }

    r->connected = !status;

    return status;
}

// A terminal that is closed ends the run as a signal does.
static void run_catch_hangup(void)
{
    struct sigaction terminate, hangup;
    if (sigaction(SIGTERM, NULL, &terminate) == 0 && sigaction(SIGHUP, NULL, &hangup) == 0 &&
        hangup.sa_handler != SIG_IGN) {
        sigaction(SIGHUP, &terminate, NULL);
    }
}

int run_connect(const cli_args *args, run *r)
{
    const char *plant = cli_value(args, "plant");
    signal(SIGPIPE, SIG_IGN);
    run_catch_hangup();
    int status = cli_value(args, "marlin") ? run_connect_machine(args, r) : CLI_DONE;
    if (status || (cli_value(args, "marlin") && !plant)) {
        return status; // a machine alone has no sensors
    }

    if (plant && strchr(plant, ':')) {
        const int fd = wire_connect(args, plant);
        wire_open(&r->w, fd, fd);
        status = fd >= 0 ? CLI_DONE : CLI_EXIT_USAGE;
    } else {
        status = run_spawn(args, r, plant ? plant : r->m.path);
    }

    return status ? status : run_greet(args, r);
}

// NAN: nothing was read in this tick.
static void run_no_readings(run *r)
{
    for (int i = 0; i < r->m.info.sensor_count; ++i) {
        r->sensor[i] = NAN;
    }
    for (int k = 0; k < 3 * r->m.info.marker_count; ++k) {
        r->true_marker[k] = NAN;
    }
}

// Readings of a reply that is newer than the last. NULL, or what is wrong with it.
static const char *run_read(run *r, json_t *answer)
{
    const pl_model_info *info = &r->m.info;
    json_t *time = json_object_get(answer, "t");

    if (!json_is_number(time) || !isfinite(json_number_value(time))) {
        return "a reply of the plant has no time";
    }
    if (!(json_number_value(time) > r->heard)) {
        ++r->stale; // the same readings again: none
        return NULL;
    }

    r->heard = json_number_value(time);

    // a simulated robot without an equilibrium reads as it stood before
    if (json_is_false(json_object_get(answer, "solved"))) {
        ++r->unsolved;
        return NULL;
    }

    // sensors must be numbers or null, markers may be missing
    for (int i = 0; i < info->sensor_count; ++i) {
        json_t *value = json_object_get(json_object_get(answer, "sensors"), info->sensor_name[i]);
        if (!json_is_number(value) && !json_is_null(value)) {
            snprintf(r->why, sizeof r->why, "the plant sent for sensor '%.100s' neither a number nor null",
                     info->sensor_name[i]);
            return r->why;
        }

        r->sensor[i] =
            json_is_number(value) ? json_number_value(value) * pl_sensor_scale(info->sensor_kind[i]) : NAN;
    }

    for (int k = 0; k < 3 * info->marker_count; ++k) {
        json_t *at = json_object_get(json_object_get(answer, "markers"), info->marker_name[k / 3]);
        json_t *value = json_array_get(at, (size_t)(k % 3));
        if (at && !json_is_null(at) && !(json_array_size(at) == 3 && json_is_number(value))) {
            snprintf(r->why, sizeof r->why, "the plant sent for marker '%.100s' neither [x, y, z] nor null",
                     info->marker_name[k / 3]);
            return r->why;
        }

        r->true_marker[k] = json_is_number(value) ? json_number_value(value) : NAN;
    }

    return NULL;
}

// A command and the readings that follow it.
static const char *run_ask_plant(run *r, double t, const double *command)
{
    json_t *answer = NULL;
    const wire_end end = wire_send(&r->w, run_message(r, t, "set", command));
    const char *why = end == WIRE_OK ? run_reply(r, &answer) : "the plant is gone";

    if (!why) {
        memcpy(r->sent, command, (size_t)r->m.info.command_count * sizeof *command);
        why = run_read(r, answer);
    }

    json_decref(answer);

    return why;
}

// One move of the machine to the axes of the command.
static const char *run_move_machine(run *r, const double *command)
{
    const pl_model_answer answer = pl_model_get_answer(r->m.model);
    const char *line;
    static pl_error err;
    const char *why = pl_gcode_move(r->gcode, command, &answer, r->period, &line, &err) == PL_OK
                          ? marlin_send(&r->machine, line, r->timeout > 0 ? r->timeout : 30)
                          : err.text;

    if (!why && r->w.in < 0) {
        memcpy(r->sent, command, (size_t)r->m.info.command_count * sizeof *command);
    }

    return why;
}

const char *run_exchange(run *r, double t)
{
    run_no_readings(r);
    const char *why = r->gcode ? run_move_machine(r, pl_loop_command(r->loop)) : NULL;
    return why || r->w.in < 0 ? why : run_ask_plant(r, t, pl_loop_command(r->loop));
}

// ---- the end
// Moves the commands from what was taken last to the state of --on-stop: at their rates, or at once (vent).
// Works on after a signal; a plant that does not answer is sent the same messages without waiting for
// replies.
static const char *run_stop(run *r)
{
    const int n = r->m.info.command_count;
    double *command = calloc(2 * (size_t)n + 1, sizeof *command), *end = command ? command + n : NULL;
    const char *why = command ? NULL : "no memory";
    bool there = !command || r->on_stop == RUN_HOLD, lost = false;

    if (command) {
        memcpy(command, r->sent, (size_t)n * sizeof *command);
        run_stop_command(r, end);
    }

    // a step per period, no faster than the rates
    for (double t = r->done * r->period; !there && !lost; t += r->period) {
        there = true;
        for (int j = 0; j < n; ++j) {
            const double rate = r->on_stop == RUN_REST ? r->m.info.command[j].rate : 0,
                         most = rate > 0 ? rate * r->period : INFINITY;
            command[j] += fmin(fmax(end[j] - command[j], -most), most);
            there = there && command[j] == end[j];
        }

        // the machine first: it moves even if the plant is gone
        if (r->gcode) {
            why = run_move_machine(r, command);
            lost = why != NULL;
        }

        if (r->connected && why) {
            lost = wire_send(&r->w, run_message(r, t, "set", command)) != WIRE_OK;
        } else if (r->connected) {
            why = run_ask_plant(r, t, command);
            there = there && !why;
        }

        if (!there && (r->real_time || r->gcode || why)) {
            const struct timespec nap = {(time_t)r->period, (long)(1e9 * (r->period - floor(r->period)))};
            nanosleep(&nap, NULL);
        }
    }

    free(command);

    return why;
}

// Also after errors and signals: nothing in here may be interrupted.
void run_disconnect(const cli_args *args, run *r)
{
    static const char *const words[] = {"hold: the last commands", "rest", "vent: no pressure or tension"};
    const bool machine = r->gcode && r->machine.fd >= 0;

    if ((r->connected || machine) && r->sent) {
        cli_stage(NULL, false);
        r->w.ignore_interrupts = r->machine.ignore_interrupts = true;
        const char *why = run_stop(r);
        if (machine) {
            marlin_send(&r->machine, "M400", r->timeout > 0 ? r->timeout : 30); // the last move ends first
        }
        if (why) {
            cli_error(args, "the state of --on-stop was sent, but %s", why);
        } else {
            cli_say(args, "  left at %s\n", words[r->on_stop]);
        }
    }

    marlin_close(&r->machine);
    pl_gcode_destroy(r->gcode);
    wire_close(&r->w); // the child ends when its input does
    if (r->child > 0) {
        waitpid(r->child, NULL, 0);
    }
}
