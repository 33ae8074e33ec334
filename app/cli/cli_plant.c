// pliant plant: a simulated robot behind a socket, which speaks the protocol of docs/howto/control.md.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli_wire.h"

static const cli_option options[] = {
    {"listen", 0, "PORT", "wait for one connection on this port of the loopback interface (0: any free port)",
     NULL, CLI_WHOLE(0, 65535)},
    {"stdio", 0, NULL, "speak on standard input and output instead", NULL},
    {"period", 0, "TIME", "time between two commands (default: that of the controller in the robot file)",
     NULL, CLI_NUMBER(PL_DIM_TIME, 1e-6, 1e6)},
    {"seed", 0, "N", "of the noise", NULL, CLI_WHOLE(0, 1 << 30)},
    {"motion", 0, NULL,
     "the body moves in time, with inertia and viscosity; without it, or `plant: {motion: true}` in the "
     "robot\n"
     "file: equilibrium after equilibrium",
     NULL},
    {"json", 0, "FILE",
     "write a summary at the end (JSON): steps taken, the commands left; - with --listen only", NULL},
    CLI_MESHING,
    CLI_WORKING,
    {0},
};

// What a controller must know to agree with: units, ranges and rates of the commands, the period.
static json_t *plant_hello(const pl_model_info *info, double period)
{
    json_t *hello = json_object(), *commands = json_object(), *sensors = json_object(),
           *markers = json_array();
    for (int j = 0; j < info->command_count; ++j) {
        const pl_command_info *c = &info->command[j];
        const double scale = pl_drive_scale(c->drive), range[2] = {c->range[0] / scale, c->range[1] / scale};
        json_t *one = json_object();
        json_object_set_new(one, "unit", json_string(pl_drive_unit(c->drive)));
        json_object_set_new(one, "range", c->has_range ? cli_json_numbers(range, 2) : json_null());
        json_object_set_new(one, "rate", c->rate > 0 ? json_real(c->rate / scale) : json_null());
        json_object_set_new(commands, c->name, one);
    }

    for (int i = 0; i < info->sensor_count; ++i) {
        json_object_set_new(sensors, info->sensor_name[i], json_string(pl_sensor_unit(info->sensor_kind[i])));
    }
    for (int k = 0; k < info->marker_count; ++k) {
        json_array_append_new(markers, json_string(info->marker_name[k]));
    }
    json_object_set_new(hello, "hello", json_string(WIRE_PROTOCOL));
    json_object_set_new(hello, "robot", json_string(info->name));
    json_object_set_new(hello, "clock", json_string("simulated"));
    json_object_set_new(hello, "period", json_real(period));
    json_object_set_new(hello, "commands", commands);
    json_object_set_new(hello, "sensors", sensors);
    json_object_set_new(hello, "markers", markers);

    return hello;
}

// The readings one period later, in the units of the greeting.
static json_t *plant_answer(const pl_model_info *info, const pl_plant_reading *r, json_int_t sequence)
{
    json_t *answer = json_object(), *sensors = json_object(), *markers = json_object(), *acts = json_object();
    for (int i = 0; i < info->sensor_count; ++i) {
        json_object_set_new(sensors, info->sensor_name[i],
                            cli_json_number(r->sensor[i] / pl_sensor_scale(info->sensor_kind[i])));
    }

    for (int k = 0; k < info->marker_count; ++k) {
        json_object_set_new(markers, info->marker_name[k], cli_json_numbers(r->marker + 3 * k, 3));
    }
    for (int j = 0; j < info->command_count; ++j) {
        json_object_set_new(acts, info->command[j].name,
                            cli_json_number(r->command[j] / pl_drive_scale(info->command[j].drive)));
    }

    json_object_set_new(answer, "seq", json_integer(sequence));
    json_object_set_new(answer, "t", json_real(r->time));
    json_object_set_new(answer, "sensors", sensors);
    json_object_set_new(answer, "markers", markers);
    json_object_set_new(answer, "acts", acts);
    json_object_set_new(answer, "solved", json_boolean(r->solved));

    return answer;
}

// One session: the commands that act, those for its end, and the last message taken.
typedef struct talk {
    const cli_model *m;
    pl_plant *plant;
    wire *w;
    double *command, *trial, *on_stop; // on_stop: NAN: the command stays
    double timeout;                    // s without a message after which on_stop acts; negative: none
    json_int_t sequence;
    int steps; // taken
} talk;

// A message that was not taken, with its number if it had one.
static json_t *plant_refuse(json_t *sequence, const char *why)
{
    json_t *answer = json_object();
    json_object_set(answer, "seq", json_is_integer(sequence) ? sequence : json_null());
    json_object_set_new(answer, "error", json_string(why));
    return answer;
}

// {NAME: number in its unit, ...} into `command`, where commands that are not named stay. NULL, or what is
// wrong; `command` may then be changed in part.
static const char *plant_take(const pl_model_info *info, json_t *set, double *command)
{
    json_t *value;
    const char *name;

    json_object_foreach(set, name, value)
    {
        int j = 0;
        while (j < info->command_count && strcmp(info->command[j].name, name) != 0) {
            ++j;
        }
        if (j == info->command_count) {
            return "there is no such command";
        }
        // the unit of the drive
        const double number = json_number_value(value) * pl_drive_scale(info->command[j].drive);
        if (!json_is_number(value) || !isfinite(number)) {
            return "a command is not a number";
        }
        const double *range = info->command[j].range, slack = 1e-9 * (range[1] - range[0]);
        if (info->command[j].has_range && (number < range[0] - slack || number > range[1] + slack)) {
            return "a command is outside its range";
        }
        command[j] = number;
    }

    return NULL;
}

// {"seq": N, "t": s, "set": {...}, "on_stop": {...}, "timeout": s}; the last two once, before the first `set`
// or later. All of it is taken, or nothing.
static const char *plant_check(talk *k, json_t *message, bool *step)
{
    const pl_model_info *info = &k->m->info;
    const size_t bytes = (size_t)info->command_count * sizeof(double);
    json_t *sequence = json_object_get(message, "seq"), *set = json_object_get(message, "set"),
           *on_stop = json_object_get(message, "on_stop"), *timeout = json_object_get(message, "timeout");

    *step = set != NULL;
    if ((!set && !on_stop) || (set && !json_is_object(set)) || (on_stop && !json_is_object(on_stop))) {
        return "expected {\"seq\": N, \"t\": s, \"set\": {NAME: number}}";
    }
    if (!json_is_integer(sequence) || json_integer_value(sequence) <= k->sequence) {
        return "the sequence number must be an integer above the last";
    }
    if (timeout && !(json_number_value(timeout) > 0)) {
        return "the timeout must be a number of seconds greater than 0";
    }

    // on trial: nothing changes unless all of it is good
    double *stop = k->trial + info->command_count;
    memcpy(k->trial, k->command, bytes);
    memcpy(stop, k->on_stop, bytes);
    const char *why = set ? plant_take(info, set, k->trial) : NULL;
    why = !why && on_stop ? plant_take(info, on_stop, stop) : why;
    if (why) {
        return why;
    }
    memcpy(k->command, k->trial, bytes);
    memcpy(k->on_stop, stop, bytes);
    k->timeout = timeout ? json_number_value(timeout) : k->timeout;
    k->sequence = json_integer_value(sequence);

    return NULL;
}

// A step, an agreement about the end, or a refusal. *status: a failure of the plant itself.
static wire_end plant_hear(const cli_args *args, talk *k, json_t *message, int *status)
{
    bool step;
    const char *why = plant_check(k, message, &step);

    if (why) {
        return wire_send(k->w, plant_refuse(json_object_get(message, "seq"), why));
    }

    if (!step) {
        json_t *ready = json_object();
        json_object_set_new(ready, "seq", json_integer(k->sequence));
        json_object_set_new(ready, "ready", json_true());
        return wire_send(k->w, ready);
    }

    pl_plant_reading reading;
    pl_error err = {0};
    if (pl_plant_step(k->plant, k->command, &reading, &err) != PL_OK) {
        *status = cli_fail(args, &err);
        return WIRE_OK;
    }

    ++k->steps;

    return wire_send(k->w, plant_answer(&k->m->info, &reading, k->sequence));
}

// The controller is gone or silent: the commands take the values that it named for this.
static void plant_stop(talk *k, const char *why)
{
    const pl_model_info *info = &k->m->info;
    if (k->w->in == STDIN_FILENO) {
        return; // the program that started this one reports
    }
    fprintf(stderr, "pliant plant: %s; the commands are now", why);

    for (int j = 0; j < info->command_count; ++j) {
        k->command[j] = isnan(k->on_stop[j]) ? k->command[j] : k->on_stop[j];
        fprintf(stderr, "%s %s %.9g %s", j ? "," : "", info->command[j].name,
                k->command[j] / pl_drive_scale(info->command[j].drive),
                pl_drive_unit(info->command[j].drive));
    }

    fprintf(stderr, "\n");
}

static json_t *plant_json(const talk *k)
{
    const pl_model_info *info = &k->m->info;
    json_t *root = cli_json_head(info->robot_hash, k->m->findings), *commands = json_object();

    for (int j = 0; j < info->command_count; ++j) {
        json_t *one = json_object();
        json_object_set_new(one, "value",
                            cli_json_number(k->command[j] / pl_drive_scale(info->command[j].drive)));
        json_object_set_new(one, "unit", json_string(pl_drive_unit(info->command[j].drive)));
        json_object_set_new(commands, info->command[j].name, one);
    }

    json_object_set_new(root, "steps", json_integer(k->steps));
    json_object_set_new(root, "commands", commands);

    return root;
}

// Until the connection ends, the controller is silent, or Ctrl-C.
static int plant_talk(const cli_args *args, const cli_model *m, pl_plant *plant, wire *w, double period)
{
    const size_t n = (size_t)m->info.command_count;
    double *block = calloc(4 * n + 1, sizeof *block);

    if (!block) {
        return cli_no_memory(args);
    }

    talk k = {.m = m,
              .plant = plant,
              .w = w,
              .command = block,
              .on_stop = block + n,
              .trial = block + 2 * n,
              .timeout = -1,
              .sequence = -1};
    for (size_t j = 0; j < n; ++j) {
        k.command[j] = m->info.command[j].rest;
        k.on_stop[j] = NAN;
    }

    // hello, then message by message
    int status = CLI_DONE;
    wire_end end = wire_send(w, plant_hello(&m->info, period));
    while (end == WIRE_OK && !status && !cli_interrupted()) {
        json_t *message;
        end = wire_receive(w, k.timeout, &message);
        if (end == WIRE_OK) {
            end = plant_hear(args, &k, message, &status);
        } else if (end == WIRE_WRONG || end == WIRE_LONG) {
            end = wire_send(w, plant_refuse(NULL, end == WIRE_LONG ? "the line is too long"
                                                                   : "expected one JSON object per line"));
        }

        json_decref(message);
    }

    plant_stop(&k, end == WIRE_LATE && !cli_interrupted() ? "the controller is silent"
                   : end == WIRE_CLOSED                   ? "the connection has ended"
                                                          : "stopping");
    status = status || !cli_value(args, "json") ? status : cli_json_write(args, plant_json(&k));
    free(block);

    return status;
}

// Options and model first; the connection is waited for last.
static int plant_work(const cli_args *args, cli_model *m, pl_control_setup *setup, pl_plant **plant)
{
    pl_error err = {0};
    int port = -1, seed = -1, status = cli_setup(args);

    if (!status && (cli_flag(args, "stdio") == (cli_value(args, "listen") != NULL))) {
        cli_error(args, "expected one of --listen PORT and --stdio");
        status = CLI_EXIT_USAGE;
    }

    const char *json = cli_value(args, "json");
    if (!status && json && strcmp(json, "-") == 0 && cli_flag(args, "stdio")) {
        cli_error(args, "--json -: with --stdio standard output belongs to the protocol");
        status = CLI_EXIT_USAGE;
    }

    if (!status && strcmp(args->plain[0], "-") == 0 && cli_flag(args, "stdio") && !cli_input_handed()) {
        cli_error(args,
                  "the robot cannot come from standard input: with --stdio that belongs to the protocol");
        status = CLI_EXIT_USAGE;
    }

    if (!status && (!cli_whole(args, "listen", &port) || !cli_whole(args, "seed", &seed))) {
        status = CLI_EXIT_USAGE;
    }

    status = status ? status : cli_model_open(args, args->plain[0], m);
    if (!status && pl_control_from_document(m->document, m->model, setup, NULL, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }
    double period = setup->controller.period;
    if (!status && !cli_number(args, "period", &period)) {
        status = CLI_EXIT_USAGE;
    }
    if (status) {
        return status;
    }
    if (pl_plant_from_setup(m->model, setup, period, seed, cli_flag(args, "motion"), plant, &err) != PL_OK) {
        return cli_fail_file(args, m->path, &err);
    }

    // a controller that is gone must not end the program
    signal(SIGPIPE, SIG_IGN);
    const int client = port >= 0 ? wire_listen(args, port) : -1;
    if (port >= 0 && client < 0) {
        return cli_interrupted() ? CLI_EXIT_UNSOLVED : CLI_EXIT_SYSTEM;
    }

    wire w;
    wire_open(&w, port >= 0 ? client : STDIN_FILENO, port >= 0 ? client : STDOUT_FILENO);
    status = plant_talk(args, m, *plant, &w, period);
    if (port >= 0) {
        wire_close(&w);
    } else {
        free(w.buffer);
    }

    return status;
}

static int plant_run(cli_args *args)
{
    cli_model m = {0};
    pl_control_setup setup = {0};
    pl_plant *plant = NULL;

    args->silent = true; // standard output may belong to the protocol
    const int status = plant_work(args, &m, &setup, &plant);
    pl_plant_destroy(plant);
    pl_control_clear(&setup);
    cli_model_close(&m);

    return status;
}

const cli_verb cli_verb_plant = {
    .name = "plant",
    .summary = "a simulated robot behind a socket, to test controllers on",
    .usage = "ROBOT --listen PORT | --stdio [options]",
    .about =
        "Simulates the robot with what its file says in `plant:` (delay, lag, payload), the dead zones of\n"
        "its actuators and the noise and resolution of its sensors. Speaks one JSON object per line: it\n"
        "sends a greeting, takes {\"seq\": N, \"t\": s, \"set\": {NAME: number}} and answers with the "
        "readings\n"
        "one period later and the same N. A message is taken whole or refused whole. When the connection\n"
        "ends, the commands take the values that the controller has named for this (`on_stop`).",
    .examples = "  pliant plant trunk --listen 5555\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = plant_run,
    .stopping = "stopping",
};
