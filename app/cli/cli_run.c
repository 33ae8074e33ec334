// pliant run: closes the loop between a controller and a robot, simulated in a process of its own or behind a
// socket. The loop itself is the library's (pl_loop).
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli_wire.h"

static const cli_option options[] = {
    {"goal", 0, "[TIME:]X,Y,Z", "where the marker should be, mm, from this time on; may be repeated", NULL},
    {"marker", 0, "NAME", "marker of the goals (default: the first)", NULL},
    {"controller", 0, "KIND", "open, pi or track (default: as in the robot file, else pi)", "open pi track"},
    {"control-marker", 0, NULL, "control the estimated position of the marker instead of the sensors", NULL},
    {"no-estimator", 0, NULL,
     "take the Jacobian at the commands sent, not at the shape that fits the sensors", NULL},
    {"plant", 0, "FILE|ADDRESS",
     "robot file simulated in a process of its own (default: the robot), or 127.0.0.1:PORT", NULL},
    {"steps", 0, "N", "number of ticks (default 200)", NULL},
    {"period", 0, "TIME", "between ticks (default: as in the robot file, else 0.1 s)", NULL},
    {"real-time", 0, NULL, "keep the period by the clock", NULL},
    {"timeout", 0, "TIME", "stop when the plant does not answer for this long (default 30 s)", NULL},
    {"out", 0, "FILE", "write the log as .csv, the error over time as .png or .svg", NULL},
    CLI_JSON,
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".csv", ".png", ".svg", NULL};

#define RUN_GOALS 64

typedef struct goal {
    double from, target[3], distance;
    int first;          // tick it began at; -1: not yet
    double overshoot;   // largest output beyond the set point, over the first error
    int settled;        // ticks until the error stayed below 5 % of the first; -1: never
    double first_error; // of the outputs
    double final_error; // mean over the last tenth of its ticks
} goal;

typedef struct run {
    cli_model m;
    pl_control_setup setup;
    pl_loop *loop;
    wire w;
    pid_t child;
    goal goal[RUN_GOALS];
    int goal_count, marker, steps, done;
    double period, timeout;
    bool real_time;
    double *sensor, *true_marker;
    double *time, *error, *distance, *busy; // per tick
    int missed, held, saturated;
    double jitter;
    const char *stop; // why it ended before the last tick
    FILE *csv;
    char *csv_text;
    size_t csv_bytes;
} run;

static double run_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- options
static int run_goals(const cli_args *args, run *r)
{
    int cursor = 0;
    for (const char *text; (text = cli_next(args, "goal", &cursor));) {
        if (r->goal_count == RUN_GOALS) {
            cli_error(args, "--goal: more than %d goals", RUN_GOALS);
            return CLI_WRONG;
        }
        goal *g = &r->goal[r->goal_count++];
        *g = (goal){.first = -1, .settled = -1};
        const char *colon = strchr(text, ':'), *rest = colon ? colon + 1 : text;
        char time[60] = "0 s";
        pl_error err;
        int used = 0;
        if (colon) {
            snprintf(time, sizeof time, "%.*s", (int)(colon - text < 50 ? colon - text : 50), text);
        }
        if (pl_quantity_parse(time, PL_DIM_TIME, &g->from, &err) != PL_OK || !(g->from >= 0) ||
            sscanf(rest, "%lf,%lf,%lf%n", &g->target[0], &g->target[1], &g->target[2], &used) != 3 ||
            rest[used]) {
            cli_error(args, "--goal %s: expected X,Y,Z in mm, or TIME:X,Y,Z, for example 20s:90,0,-30", text);
            return CLI_WRONG;
        }
        if (r->goal_count > 1 && !(g->from > g[-1].from)) {
            cli_error(args, "--goal %s: goals must be given in the order of their times", text);
            return CLI_WRONG;
        }
    }
    if (r->goal_count == 0) {
        cli_error(args, "--goal X,Y,Z is missing");
        return CLI_WRONG;
    }
    return CLI_DONE;
}

static int run_options(const cli_args *args, run *r)
{
    r->steps = 200;
    r->timeout = 30;
    r->period = r->setup.controller.period;
    r->real_time = cli_flag(args, "real-time");
    if (!cli_whole(args, "steps", 1, 10000000, &r->steps) ||
        !cli_number(args, "period", PL_DIM_TIME, 1e-6, 1e4, &r->period) ||
        !cli_number(args, "timeout", PL_DIM_TIME, 1e-3, 1e5, &r->timeout)) {
        return CLI_WRONG;
    }
    const char *kind = cli_value(args, "controller");
    if (kind) {
        r->setup.controller.kind = pl_control_kind_find(kind);
        if (r->setup.controller.kind >= PL_CONTROL_IMPEDANCE) {
            cli_error(args, "--controller %s: expected open, pi or track", kind);
            return CLI_WRONG;
        }
    }
    if (r->setup.controller.kind == PL_CONTROL_IMPEDANCE) {
        cli_error(
            args,
            "impedance needs measured forces: it is for programs (pl_controller), not for `pliant run`");
        return CLI_WRONG;
    }
    r->setup.controller.period = r->period;
    const char *name = cli_value(args, "marker");
    r->marker = name                   ? cli_model_marker(args, &r->m, "marker", name)
                : r->setup.marker >= 0 ? r->setup.marker
                                       : 0;
    if (r->marker < 0 || r->m.info.marker_count == 0) {
        if (r->m.info.marker_count == 0) {
            cli_error(args, "the robot has no marker that could have a goal");
        }
        return CLI_WRONG;
    }
    return run_goals(args, r);
}

static int run_loop_create(const cli_args *args, run *r)
{
    const pl_loop_options o = {.controller = &r->setup.controller,
                               .estimator = cli_flag(args, "no-estimator") || r->m.info.sensor_count == 0
                                                ? NULL
                                                : &r->setup.estimator,
                               .marker = r->marker,
                               .control_marker = cli_flag(args, "control-marker") || r->setup.marker >= 0,
                               .frozen_limit = 20};
    pl_error err = {0};
    return pl_loop_create(r->m.model, &o, &r->loop, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// ---- the plant
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

static int run_connect(const cli_args *args, run *r)
{
    const char *plant = cli_value(args, "plant");
    signal(SIGPIPE, SIG_IGN);
    int status = CLI_DONE;
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

// One exchange: sends the command, fills the readings. NULL, or why the loop must stop.
static const char *run_exchange(run *r)
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

// ---- the log
static void run_csv_head(run *r)
{
    const pl_model_info *info = &r->m.info;
    fprintf(r->csv, "t [s]");
    for (int j = 0; j < info->command_count; ++j) {
        fprintf(r->csv, ",%s [%s]", info->command[j].name, pl_drive_unit(info->command[j].drive));
    }
    for (int i = 0; i < pl_loop_output_count(r->loop); ++i) {
        fprintf(r->csv, ",set point %d,output %d", i + 1, i + 1);
    }
    const char *name = info->marker_name[r->marker];
    fprintf(r->csv, ",%s.x estimated [mm],%s.y estimated [mm],%s.z estimated [mm]", name, name, name);
    fprintf(r->csv, ",%s.x [mm],%s.y [mm],%s.z [mm],error,held,saturated,outliers,busy [ms]\n", name, name,
            name);
}

static void run_csv_row(run *r, double t, const pl_loop_report *p, double busy)
{
    const pl_model_info *info = &r->m.info;
    const double *command = pl_loop_command(r->loop);
    fprintf(r->csv, "%.6g", t);
    for (int j = 0; j < info->command_count; ++j) {
        fprintf(r->csv, ",%.9g", command[j] / pl_drive_scale(info->command[j].drive));
    }
    for (int i = 0; i < pl_loop_output_count(r->loop); ++i) {
        fprintf(r->csv, ",%.9g,%.9g", p->set_point[i], p->output[i]);
    }
    for (int i = 0; i < 3; ++i) {
        fprintf(r->csv, ",%.9g", p->marker[3 * r->marker + i]);
    }
    for (int i = 0; i < 3; ++i) {
        fprintf(r->csv, ",%.9g", r->true_marker[3 * r->marker + i]);
    }
    fprintf(r->csv, ",%.6g,%d,%d,%d,%.3f\n", p->error, p->control.held, p->control.saturated, p->outliers,
            1e3 * busy);
}

static double run_distance(const run *r, const goal *g)
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        const double d = r->true_marker[3 * r->marker + i] - g->target[i];
        sum += d * d;
    }
    return sqrt(sum);
}

static int run_ticks(const cli_args *args, run *r)
{
    int current = -1;
    const double start = run_now();
    for (int tick = 0; tick < r->steps && !r->stop; ++tick) {
        const double t = tick * r->period;
        cli_progress.step(cli_progress.user, (double)tick / r->steps, "running");
        while (current + 1 < r->goal_count && r->goal[current + 1].from <= t + 1e-12) {
            pl_error err = {0};
            goal *g = &r->goal[++current];
            if (pl_loop_goal(r->loop, g->target, &g->distance, &err) != PL_OK) {
                return cli_fail(args, &err);
            }
            g->first = tick;
        }
        const double due = start + t;
        if (r->real_time && run_now() < due) {
            const double left = due - run_now();
            const struct timespec nap = {(time_t)left, (long)(1e9 * (left - floor(left)))};
            nanosleep(&nap, NULL);
        }
        r->jitter = r->real_time ? fmax(r->jitter, fabs(run_now() - due)) : 0;
        r->stop = run_exchange(r);
        if (r->stop || current < 0) {
            continue;
        }
        const double began = run_now();
        pl_loop_report report;
        pl_error err = {0};
        if (pl_loop_tick(r->loop, r->sensor, &report, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        const double busy = run_now() - began;
        r->missed += busy > r->period;
        r->held += report.control.held;
        r->saturated += report.control.saturated > 0;
        r->time[tick] = t;
        r->error[tick] = report.error;
        r->distance[tick] = run_distance(r, &r->goal[current]);
        r->busy[tick] = busy;
        r->done = tick + 1;
        if (r->csv) {
            run_csv_row(r, t, &report, busy);
        }
        if (report.frozen >= 0) {
            fprintf(stderr, "pliant run: sensor '%s' seems frozen; the command is held\n",
                    r->m.info.sensor_name[report.frozen]);
            r->stop = "a sensor seems frozen";
        }
        if (cli_interrupted()) {
            r->stop = "interrupted";
        }
    }
    return CLI_DONE;
}

// ---- what is told
static int run_compare(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

static void run_judge(run *r)
{
    for (int k = 0; k < r->goal_count; ++k) {
        goal *g = &r->goal[k];
        const int end = k + 1 < r->goal_count && r->goal[k + 1].first >= 0 ? r->goal[k + 1].first : r->done;
        if (g->first < 0 || g->first >= end) {
            continue;
        }
        const int last = end - (end - g->first + 9) / 10;
        g->first_error = r->error[g->first];
        for (int i = g->first; i < end; ++i) {
            if (r->error[i] > 0.05 * g->first_error) {
                g->settled = -1;
            } else if (g->settled < 0) {
                g->settled = i - g->first;
            }
        }
        for (int i = last; i < end; ++i) {
            g->final_error += r->error[i] / (end - last);
        }
    }
}

static void run_print(const cli_args *args, run *r)
{
    double sum = 0;
    for (int i = 0; i < r->done; ++i) {
        sum += r->busy[i];
    }
    const double mean = r->done ? sum / r->done : 0;
    qsort(r->busy, (size_t)r->done, sizeof *r->busy, run_compare);
    const char *name = r->m.info.marker_name[r->marker];
    cli_say(args, "%s: %d ticks of %g s, controller %s\n\n", r->m.info.name, r->done, r->period,
            pl_control_kind_name(r->setup.controller.kind));
    cli_table table = {0};
    cli_row(&table,
            "from s\tgoal mm\tmodel misses by mm\tfirst error\tfinal error\tsettled ticks\t%s misses by mm",
            name);
    for (int k = 0; k < r->goal_count; ++k) {
        const goal *g = &r->goal[k];
        const int end = k + 1 < r->goal_count && r->goal[k + 1].first >= 0 ? r->goal[k + 1].first : r->done;
        char settled[30] = "no";
        if (g->settled >= 0) {
            snprintf(settled, sizeof settled, "%d", g->settled);
        }
        if (g->first >= 0 && end > 0) {
            cli_row(&table, "%g\t%.1f, %.1f, %.1f\t%.3g\t%.3g\t%.3g\t%s\t%.3g", g->from, g->target[0],
                    g->target[1], g->target[2], g->distance, g->first_error, g->final_error, settled,
                    r->distance[end - 1]);
        }
    }
    cli_table_print(args, &table);
    cli_say(args, "\n  errors are the largest of the outputs; %d ticks held, %d at a limit\n", r->held,
            r->saturated);
    cli_say(args,
            "  computing a tick: mean %.2f ms, 99 %% below %.2f, worst %.2f; %d of %d longer than the period",
            1e3 * mean, r->done ? 1e3 * r->busy[(int)(0.99 * (r->done - 1))] : 0,
            r->done ? 1e3 * r->busy[r->done - 1] : 0, r->missed, r->done);
    cli_say(args, r->real_time ? "; jitter up to %.2f ms\n" : "\n", 1e3 * r->jitter);
    if (r->stop) {
        cli_say(args, "  stopped at tick %d: %s; the last command was kept\n", r->done, r->stop);
    }
}

static int run_write(const cli_args *args, run *r)
{
    int status = CLI_DONE, cursor = 0;
    for (const char *path; !status && (path = cli_next(args, "out", &cursor));) {
        pl_error err = {.status = PL_NO_MEMORY};
        pl_status done;
        if (strcmp(cli_extension(path), ".csv") == 0) {
            fflush(r->csv);
            done = ferror(r->csv) ? PL_NO_MEMORY : pl_file_write(path, r->csv_text, r->csv_bytes, &err);
        } else {
            const pl_curve curve[] = {
                {.name = "error of the outputs", .x = r->time, .y = r->error, .count = r->done},
                {.name = "distance of the marker from its goal, mm",
                 .x = r->time,
                 .y = r->distance,
                 .count = r->done}};
            const pl_plot plot = {.title = r->m.info.name,
                                  .x_label = "t, s",
                                  .y_label = "mm",
                                  .curve = curve,
                                  .curve_count = 2};
            done = pl_plot_write(&plot, path, &err);
        }
        if (done != PL_OK) {
            status = cli_fail_writing(args, &err);
        } else {
            cli_say(args, "  wrote %s\n", path);
        }
    }
    return status;
}

static json_t *run_json(const run *r)
{
    json_t *root = cli_json_head(r->m.info.robot_hash, r->m.findings), *goals = json_array();
    for (int k = 0; k < r->goal_count; ++k) {
        const goal *g = &r->goal[k];
        json_t *one = json_object();
        json_object_set_new(one, "from", cli_json_number(g->from));
        json_object_set_new(one, "target", cli_json_numbers(g->target, 3));
        json_object_set_new(one, "model_distance", cli_json_number(g->distance));
        json_object_set_new(one, "first_error", cli_json_number(g->first_error));
        json_object_set_new(one, "final_error", cli_json_number(g->final_error));
        json_object_set_new(one, "settled", g->settled >= 0 ? json_integer(g->settled) : json_null());
        json_array_append_new(goals, one);
    }
    json_object_set_new(root, "goals", goals);
    json_object_set_new(root, "ticks", json_integer(r->done));
    json_object_set_new(root, "held", json_integer(r->held));
    json_object_set_new(root, "missed", json_integer(r->missed));
    json_object_set_new(root, "stopped", r->stop ? json_string(r->stop) : json_null());
    return root;
}

static int run_work(const cli_args *args, run *r)
{
    pl_error err = {0};
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, NULL);
    status = status ? status : cli_model_open(args, args->plain[0], &r->m);
    status = status ? status : cli_check_outputs(args, NULL, r->m.path, NULL);
    if (!status && pl_control_load(r->m.path, r->m.model, &r->setup, NULL, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }
    status = status ? status : run_options(args, r);
    status = status ? status : run_loop_create(args, r);
    if (status) {
        return status;
    }
    const size_t n = (size_t)r->steps;
    double **const list[] = {&r->time, &r->error, &r->distance, &r->busy};
    bool whole = true;
    for (int i = 0; i < 4; ++i) {
        *list[i] = calloc(n + 1, sizeof(double));
        whole = whole && *list[i];
    }
    r->sensor = calloc((size_t)r->m.info.sensor_count + 1, sizeof *r->sensor);
    r->true_marker = calloc(3 * (size_t)r->m.info.marker_count + 1, sizeof *r->true_marker);
    r->csv = cli_out(args, ".csv") ? open_memstream(&r->csv_text, &r->csv_bytes) : NULL;
    if (!whole || !r->sensor || !r->true_marker || (cli_out(args, ".csv") && !r->csv)) {
        return cli_no_memory(args);
    }
    if (r->csv) {
        run_csv_head(r);
    }
    status = run_connect(args, r);
    status = status ? status : run_ticks(args, r);
    cli_progress_done();
    if (status) {
        return status;
    }
    run_judge(r);
    run_print(args, r);
    status = run_write(args, r);
    status = status ? status : cli_json_write(args, cli_value(args, "json") ? run_json(r) : NULL);
    return status ? status : r->stop || r->held > 0 ? CLI_BADLY : CLI_DONE;
}

static int run_run(cli_args *args)
{
    run r = {.w = {.in = -1, .out = -1}};
    const int status = run_work(args, &r);
    wire_close(&r.w); // the child ends when its input does
    if (r.child > 0) {
        waitpid(r.child, NULL, 0);
    }
    if (r.csv) {
        fclose(r.csv);
    }
    void *const block[] = {r.csv_text, r.sensor, r.true_marker, r.time, r.error, r.distance, r.busy};
    for (size_t i = 0; i < sizeof block / sizeof block[0]; ++i) {
        free(block[i]);
    }
    pl_loop_destroy(r.loop);
    pl_control_clear(&r.setup);
    cli_model_close(&r.m);
    return status;
}

const cli_verb cli_verb_run = {
    .name = "run",
    .summary = "closed loop: a controller, an estimator and a simulated or real robot",
    .usage = "ROBOT --goal X,Y,Z [options]",
    .about =
        "Computes set points for each goal by inverse kinematics, then at every tick fits the shape to the\n"
        "sensors, takes the exact Jacobian there and moves the commands by the controller, within their\n"
        "ranges and rates. The robot is simulated in a process of its own from --plant (another robot\n"
        "file: another material, a payload), or is anything that speaks the protocol on a socket. When\n"
        "readings are missing, frozen or cannot be fitted, the last command is held.",
    .examples =
        "  pliant run trunk --goal 20,0,130 --goal 10s:0,15,128 --steps 300 --out log.csv --out log.png\n"
        "  pliant run trunk --goal 20,0,130 --plant softer.yaml --controller open\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = run_run,
    .stopping = "stopping",
};
