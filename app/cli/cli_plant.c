// pliant plant: a simulated robot behind a socket, which speaks the protocol of docs/control.md.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli_wire.h"

static const cli_option options[] = {
    {"listen", 0, "PORT", "wait for one connection on this port of the loopback interface (0: any free port)",
     NULL},
    {"stdio", 0, NULL, "speak on standard input and output instead", NULL},
    {"period", 0, "TIME", "time between two commands (default: that of the controller in the robot file)",
     NULL},
    {"seed", 0, "N", "of the noise", NULL},
    CLI_MESHING,
    CLI_WORKING,
    {0},
};

static json_t *plant_hello(const pl_model_info *info, double period)
{
    json_t *hello = json_object(), *commands = json_object(), *sensors = json_object(),
           *markers = json_array();
    for (int j = 0; j < info->command_count; ++j) {
        json_object_set_new(commands, info->command[j].name,
                            json_string(pl_drive_unit(info->command[j].drive)));
    }
    for (int i = 0; i < info->sensor_count; ++i) {
        json_object_set_new(sensors, info->sensor_name[i], json_string(pl_sensor_unit(info->sensor_kind[i])));
    }
    for (int k = 0; k < info->marker_count; ++k) {
        json_array_append_new(markers, json_string(info->marker_name[k]));
    }
    json_object_set_new(hello, "hello", json_string("pliant plant 1"));
    json_object_set_new(hello, "robot", json_string(info->name));
    json_object_set_new(hello, "period", json_real(period));
    json_object_set_new(hello, "commands", commands);
    json_object_set_new(hello, "sensors", sensors);
    json_object_set_new(hello, "markers", markers);
    return hello;
}

static json_t *plant_answer(const pl_model_info *info, const pl_plant_reading *r)
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
    json_object_set_new(answer, "t", json_real(r->time));
    json_object_set_new(answer, "sensors", sensors);
    json_object_set_new(answer, "markers", markers);
    json_object_set_new(answer, "acts", acts);
    json_object_set_new(answer, "solved", json_boolean(r->solved));
    return answer;
}

static json_t *plant_refuse(const char *why)
{
    json_t *answer = json_object();
    json_object_set_new(answer, "error", json_string(why));
    return answer;
}

// {"set": {NAME: number in its unit, ...}}: NULL, or what is wrong. Commands that are not named stay.
static const char *plant_take(const pl_model_info *info, json_t *message, double *command)
{
    json_t *set = json_object_get(message, "set"), *value;
    const char *name;
    if (!json_is_object(set)) {
        return "expected {\"set\": {NAME: number}}";
    }
    json_object_foreach(set, name, value)
    {
        int j = 0;
        while (j < info->command_count && strcmp(info->command[j].name, name) != 0) {
            ++j;
        }
        if (j == info->command_count) {
            return "there is no such command";
        }
        const double number = json_number_value(value) * pl_drive_scale(info->command[j].drive);
        if (!json_is_number(value) || !isfinite(number)) {
            return "a command is not a number";
        }
        const double *range = info->command[j].range;
        if (info->command[j].has_range && (number < range[0] - 1e-9 || number > range[1] + 1e-9)) {
            return "a command is outside its range";
        }
        command[j] = number;
    }
    return NULL;
}

static int plant_talk(const cli_args *args, const cli_model *m, pl_plant *plant, wire *w, double period)
{
    double *command = calloc((size_t)m->info.command_count + 1, sizeof *command);
    if (!command) {
        return cli_no_memory(args);
    }
    for (int j = 0; j < m->info.command_count; ++j) {
        command[j] = m->info.command[j].rest;
    }
    int status = CLI_DONE;
    wire_end end = wire_send(w, plant_hello(&m->info, period));
    while (end == WIRE_OK && !status && !cli_interrupted()) {
        json_t *message;
        end = wire_receive(w, -1, &message);
        if (end != WIRE_OK) {
            json_decref(message);
            if (end == WIRE_WRONG) {
                end = wire_send(w, plant_refuse("expected one JSON object per line"));
                continue;
            }
            break;
        }
        const char *why = plant_take(&m->info, message, command);
        json_decref(message);
        if (why) {
            end = wire_send(w, plant_refuse(why));
            continue;
        }
        pl_plant_reading reading;
        pl_error err = {0};
        if (pl_plant_step(plant, command, &reading, &err) != PL_OK) {
            status = cli_fail(args, &err);
        } else {
            end = wire_send(w, plant_answer(&m->info, &reading));
        }
    }
    free(command);
    return status;
}

static int plant_work(const cli_args *args, cli_model *m, pl_control_setup *setup, pl_plant **plant)
{
    pl_error err = {0};
    int port = -1, seed = -1, status = cli_setup(args);
    if (!status && (cli_flag(args, "stdio") == (cli_value(args, "listen") != NULL))) {
        cli_error(args, "expected one of --listen PORT and --stdio");
        status = CLI_WRONG;
    }
    if (!status &&
        (!cli_whole(args, "listen", 0, 65535, &port) || !cli_whole(args, "seed", 0, 1 << 30, &seed))) {
        status = CLI_WRONG;
    }
    status = status ? status : cli_model_open(args, args->plain[0], m);
    if (!status && pl_control_load(m->path, m->model, setup, NULL, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }
    if (!status && !cli_number(args, "period", PL_DIM_TIME, 1e-6, 1e6, &setup->plant.period)) {
        status = CLI_WRONG;
    }
    if (status) {
        return status;
    }
    setup->plant.seed = seed >= 0 ? (uint64_t)seed : setup->plant.seed;
    if (pl_plant_create(m->model, &setup->plant, plant, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    signal(SIGPIPE, SIG_IGN);
    const int client = port >= 0 ? wire_listen(args, port) : -1;
    if (port >= 0 && client < 0) {
        return cli_interrupted() ? CLI_BADLY : CLI_MACHINE;
    }
    wire w;
    wire_open(&w, port >= 0 ? client : STDIN_FILENO, port >= 0 ? client : STDOUT_FILENO);
    status = plant_talk(args, m, *plant, &w, setup->plant.period);
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
        "sends a greeting, takes {\"set\": {NAME: number}} and answers with the readings one period later.",
    .examples = "  pliant plant trunk --listen 5555\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = plant_run,
    .stopping = "stopping",
};
