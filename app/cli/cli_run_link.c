// The machine side of `pliant run`: a simulated plant in a process of its own, anything that speaks the
// protocol on a socket, and a machine on a serial line.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli_run.h"

// A process of its own: this program again, on a pair of sockets.
static int run_spawn(const cli_args *args, run *r, const char *robot)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        cli_error(args, "no socket for the plant");
        return CLI_MACHINE;
    }
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
    r->child = fork();
    if (r->child == 0) {
        dup2(pair[1], STDIN_FILENO);
        dup2(pair[1], STDOUT_FILENO);
        close(pair[0]);
        close(pair[1]);
        execv("/proc/self/exe", (char *const *)argv);
        _exit(CLI_MACHINE);
    }
    close(pair[1]);
    wire_open(&r->w, pair[0], pair[0]);
    if (r->child < 0) {
        cli_error(args, "the plant cannot be started");
        return CLI_MACHINE;
    }
    return CLI_DONE;
}

static int run_connect_machine(const cli_args *args, run *r)
{
    pl_error err = {0};
    if (pl_gcode_create(r->m.model, &r->gcode, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    const int status = marlin_open(args, cli_value(args, "marlin"), r->timeout, &r->machine);
    const char *why = status ? NULL : marlin_send(&r->machine, pl_gcode_setup(r->gcode), r->timeout);
    if (why) {
        cli_error(args, "--marlin: %s", why);
    }
    return why ? CLI_BADLY : status;
}

int run_connect(const cli_args *args, run *r)
{
    const char *plant = cli_value(args, "plant");
    signal(SIGPIPE, SIG_IGN);
    int status = cli_value(args, "marlin") ? run_connect_machine(args, r) : CLI_DONE;
    if (status || (cli_value(args, "marlin") && !plant)) {
        return status; // a machine alone has no sensors
    }
    if (plant && strchr(plant, ':')) {
        const int fd = wire_connect(args, plant);
        wire_open(&r->w, fd, fd);
        status = fd >= 0 ? CLI_DONE : CLI_WRONG;
    } else {
        status = run_spawn(args, r, plant ? plant : r->m.path);
    }
    json_t *hello = NULL;
    // the first answer may have to wait for a mesh
    if (!status &&
        (wire_receive(&r->w, r->timeout + 570, &hello) != WIRE_OK || !json_object_get(hello, "hello"))) {
        cli_error(args, "the plant did not greet");
        status = CLI_BADLY;
    }
    for (int i = 0; !status && i < r->m.info.sensor_count; ++i) {
        if (!json_object_get(json_object_get(hello, "sensors"), r->m.info.sensor_name[i])) {
            cli_error(args, "the plant has no sensor '%s'", r->m.info.sensor_name[i]);
            status = CLI_WRONG;
        }
    }
    json_decref(hello);
    return status;
}

static const char *run_ask_plant(run *r)
{
    const pl_model_info *info = &r->m.info;
    const double *command = pl_loop_command(r->loop);
    json_t *message = json_object(), *set = json_object(), *answer = NULL;
    for (int j = 0; j < info->command_count; ++j) {
        json_object_set_new(set, info->command[j].name,
                            cli_json_number(command[j] / pl_drive_scale(info->command[j].drive)));
    }
    json_object_set_new(message, "set", set);
    wire_end end = wire_send(&r->w, message);
    end = end == WIRE_OK ? wire_receive(&r->w, r->timeout, &answer) : end;
    const char *why = end == WIRE_CLOSED  ? "the plant is gone"
                      : end == WIRE_LATE  ? (cli_interrupted() ? "interrupted" : "the plant does not answer")
                      : end == WIRE_WRONG ? "the plant sent something that is no JSON object"
                                          : NULL;
    if (!why && json_object_get(answer, "error")) {
        why = "the plant refused the command";
    }
    for (int i = 0; !why && i < info->sensor_count; ++i) {
        json_t *value = json_object_get(json_object_get(answer, "sensors"), info->sensor_name[i]);
        r->sensor[i] =
            json_is_number(value) ? json_number_value(value) * pl_sensor_scale(info->sensor_kind[i]) : NAN;
    }
    for (int k = 0; !why && k < 3 * info->marker_count; ++k) {
        json_t *at = json_object_get(json_object_get(answer, "markers"), info->marker_name[k / 3]);
        json_t *value = json_array_get(at, (size_t)(k % 3));
        r->true_marker[k] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    json_decref(answer);
    return why;
}

const char *run_exchange(run *r)
{
    const char *why = NULL;
    if (r->gcode) {
        const pl_model_answer answer = pl_model_get_answer(r->m.model);
        const char *line;
        static pl_error err;
        why = pl_gcode_move(r->gcode, pl_loop_command(r->loop), &answer, r->period, &line, &err) == PL_OK
                  ? marlin_send(&r->machine, line, r->timeout)
                  : err.text;
    }
    for (int i = 0; !why && r->w.in < 0 && i < r->m.info.sensor_count; ++i) {
        r->sensor[i] = NAN;
    }
    for (int k = 0; !why && r->w.in < 0 && k < 3 * r->m.info.marker_count; ++k) {
        r->true_marker[k] = NAN;
    }
    return why || r->w.in < 0 ? why : run_ask_plant(r);
}

void run_disconnect(run *r)
{
    if (r->gcode && r->machine.fd >= 0 && !r->stop) {
        marlin_send(&r->machine, "M400", r->timeout); // the last move ends before the line closes
    }
    marlin_close(&r->machine);
    pl_gcode_destroy(r->gcode);
    wire_close(&r->w); // the child ends when its input does
    if (r->child > 0) {
        waitpid(r->child, NULL, 0);
    }
}
