// Loading a robot, its commands on the command line, and a run: the robot with its solver and a state.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cli.h"

static void robot_log(void *user, int level, const char *text)
{
    (void)user;
    cli_progress_done();
    fprintf(stderr, "%*s%s\n", 2 * level, "", text);
}

int cli_setup(const cli_args *args)
{
    int threads = 0;
    if (!cli_whole(args, "threads", 1, 1024, &threads)) {
        return CLI_WRONG;
    }
    pl_threads_set(threads);
    const int level = cli_flag_count(args, "verbose");
    if (level > 0) {
        pl_log_set(robot_log, NULL, level > 2 ? 2 : level);
    }
    return CLI_DONE;
}

char *cli_robot_path(const char *given)
{
    struct stat s;
    if (stat(given, &s) == 0 && S_ISDIR(s.st_mode)) {
        return cli_join(given, "robot.yaml");
    }
    char *copy = malloc(strlen(given) + 1);
    return copy ? strcpy(copy, given) : NULL;
}

pl_status cli_robot_load(const cli_args *args, const char *path, pl_robot **robot, pl_findings *findings,
                         pl_error *err)
{
    pl_load_options options = {.mesher = pl_meshing_mesher(), .progress = &cli_progress};
    options.no_cache = cli_flag(args, "no-cache");
    options.fill = cli_method_fills(args, path);
    *robot = NULL;
    *err = (pl_error){.status = PL_BAD_INPUT};
    if (!cli_number(args, "size", PL_DIM_LENGTH, 1e-4, 1e6, &options.size) ||
        !cli_whole(args, "order", 1, 2, &options.order)) {
        return PL_BAD_INPUT;
    }
    return pl_robot_load(path, &options, robot, findings, err);
}

int cli_robot_open(const cli_args *args, const char *given, cli_robot *r)
{
    *r = (cli_robot){.path = cli_robot_path(given), .findings = pl_findings_create()};
    if (!r->path || !r->findings) {
        return cli_no_memory(args);
    }
    pl_error err = {0};
    const pl_status status = cli_robot_load(args, r->path, &r->robot, r->findings, &err);
    cli_findings(r->findings);
    if (status == PL_OK) {
        return CLI_DONE;
    }
    // `err` repeats the first defect, which has been printed with its line; an option was judged where it was
    // read
    if (err.text[0] == 0 ||
        ((status == PL_BAD_INPUT || status == PL_BAD_FILE) && pl_findings_defect_count(r->findings) > 0)) {
        return status == PL_NO_MEMORY ? cli_no_memory(args) : CLI_WRONG;
    }
    err.status = status;
    return cli_fail(args, &err);
}

void cli_robot_close(cli_robot *r)
{
    pl_robot_destroy(r->robot);
    pl_findings_destroy(r->findings);
    free(r->path);
    *r = (cli_robot){0};
}

// ---- commands
int cli_command_find(const cli_args *args, const pl_robot *robot, const char *text, size_t length)
{
    const int count = pl_robot_command_count(robot);
    char name[200], list[600] = "";
    snprintf(name, sizeof name, "%.*s", (int)(length < 199 ? length : 199), text);
    const int found = pl_robot_find_command(robot, name);
    if (found >= 0) {
        return found;
    }
    const char *known[64];
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        const char *word = pl_robot_command(robot, i).name;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", word);
        if (kept < 64) {
            known[kept++] = word;
        }
    }
    const char *near = cli_nearest(name, known, kept);
    cli_error(args, "--set: the robot has no command '%s'%s%s%s", name, near ? "; did you mean '" : "",
              near ? near : "", near ? "'?" : "");
    cli_advice(count ? "its commands are %s" : "it has no commands at all: give it actuators%s", list);
    return -1;
}

int cli_command_check(const cli_args *args, const pl_robot *robot, int i, double value)
{
    const pl_command_info info = pl_robot_command(robot, i);
    // a value copied from the range in another unit may differ in the last bit
    const double slack = 1e-12 * (fabs(info.range[0]) + fabs(info.range[1]));
    if (!info.has_range || cli_flag(args, "beyond-range") ||
        (value >= info.range[0] - slack && value <= info.range[1] + slack)) {
        return CLI_DONE;
    }
    const double scale = pl_drive_scale(info.drive);
    const char *unit = pl_drive_unit(info.drive);
    cli_error(args, "%s is %g %s, outside its range of %g to %g %s", info.name, value / scale, unit,
              info.range[0] / scale, info.range[1] / scale, unit);
    cli_advice("add --beyond-range to try it all the same");
    return CLI_WRONG;
}

int cli_commands_read(const cli_args *args, const pl_robot *robot, double *command)
{
    for (int i = 0; i < pl_robot_command_count(robot); ++i) {
        command[i] = NAN;
    }
    int cursor = 0;
    for (const char *text; (text = cli_next(args, "set", &cursor));) {
        const size_t length = strcspn(text, "=");
        if (!text[length] || length == 0 || !text[length + 1]) {
            cli_error(args, "--set %s: expected NAME=VALUE, such as air=20kPa", text);
            return CLI_WRONG;
        }
        const int i = cli_command_find(args, robot, text, length);
        if (i < 0) {
            return CLI_WRONG;
        }
        if (!isnan(command[i])) {
            cli_error(args, "--set %s: the command is set twice", text);
            return CLI_WRONG;
        }
        pl_error err = {0};
        const pl_dimension dimension = pl_drive_dimension(pl_robot_command(robot, i).drive);
        if (pl_quantity_parse(text + length + 1, dimension, &command[i], &err) != PL_OK) {
            cli_error(args, "--set %s: %s", text, err.text);
            return CLI_WRONG;
        }
        const int status = cli_command_check(args, robot, i, command[i]);
        if (status) {
            return status;
        }
    }
    return CLI_DONE;
}

void cli_commands_text(const pl_robot *robot, const double *command, char *buffer, size_t size)
{
    buffer[0] = 0;
    for (int i = 0; i < pl_robot_command_count(robot); ++i) {
        if (isnan(command[i])) {
            continue;
        }
        const pl_command_info info = pl_robot_command(robot, i);
        const char *unit = pl_drive_unit(info.drive);
        const size_t at = strlen(buffer);
        snprintf(buffer + at, size - at, "%s%s = %.6g%s%s", at ? ", " : "", info.name,
                 command[i] / pl_drive_scale(info.drive), strcmp(unit, "1") ? " " : "",
                 strcmp(unit, "1") ? unit : "");
    }
    if (!buffer[0]) {
        snprintf(buffer, size, "no command set");
    }
}

// ---- a run
static int run_options(const cli_args *args, const char *path, pl_statics_options *options)
{
    pl_error err = {0};
    *options = pl_robot_file_options(path, &err);
    if (err.status != PL_OK) {
        return cli_fail(args, &err);
    }
    if (!cli_number(args, "time-limit", PL_DIM_TIME, 0, 1e9, &options->time_limit)) {
        return CLI_WRONG;
    }
    options->displacement = options->displacement || cli_flag(args, "displacement");
    options->progress = cli_progress;
    return CLI_DONE;
}

static int run_read_state(const cli_args *args, cli_run *run)
{
    const char *from = cli_value(args, "state");
    const char *to = cli_value(args, "save-state");
    run->state_path = to ? to : from;
    if (!from) {
        return CLI_DONE;
    }
    if (!cli_exists(from)) {
        fprintf(stderr, "%s: note: there is no such state yet, starting from rest\n", from);
        return CLI_DONE;
    }
    pl_error err = {0};
    return pl_state_load(run->state, run->r.robot, from, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

static int run_geometric(const cli_args *args, const pl_statics_options *statics, cli_run *run)
{
    bool exact;
    pl_geometric_options options;
    const int status = cli_method_read(args, &run->r, &exact, &options);
    if (status || exact) {
        return status;
    }
    options.progress = cli_progress;
    options.time_limit = cli_value(args, "time-limit") ? statics->time_limit : options.time_limit;
    pl_error err = {0};
    return pl_geometric_create(run->r.robot, &options, &run->geometric, &err) == PL_OK ? CLI_DONE
                                                                                       : cli_fail(args, &err);
}

int cli_run_open(const cli_args *args, const char *given, cli_run *run)
{
    int status = cli_robot_open(args, given, &run->r);
    if (status) {
        return status;
    }
    const pl_robot *robot = run->r.robot;
    run->command = calloc((size_t)pl_robot_command_count(robot) + 1, sizeof *run->command);
    if (!run->command) {
        return cli_no_memory(args);
    }
    pl_statics_options options;
    status = run_options(args, run->r.path, &options);
    if (status) {
        return status;
    }
    pl_error err = {0};
    if (pl_state_create(robot, &run->state, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    status = run_read_state(args, run);
    if (status) {
        return status;
    }
    status = run_geometric(args, &options, run);
    if (status) {
        return status;
    }
    pl_status made = pl_statics_create(robot, &options, &run->statics, &err);
    if (made != PL_OK && run->geometric && options.distribution == PL_RATIOS_JOINT) {
        // what joint ratios need for the exact method is no condition for only telling what a state means
        options.distribution = PL_RATIOS_UNIFORM;
        made = pl_statics_create(robot, &options, &run->statics, &err);
    }
    return made == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

void cli_run_close(cli_run *run)
{
    pl_geometric_destroy(run->geometric);
    pl_statics_destroy(run->statics);
    pl_state_destroy(run->state);
    free(run->command);
    cli_robot_close(&run->r);
    *run = (cli_run){0};
}

#define ATMOSPHERE 0.101325 // MPa

// What fills a chamber can pull at its walls down to vacuum, no further: a liquid boils, a gas is gone.
static void run_warn_vacuum(cli_run *run)
{
    for (int i = 0; i < pl_robot_actuator_count(run->r.robot); ++i) {
        const pl_actuator_info a = pl_robot_actuator(run->r.robot, i);
        const double p = pl_statics_actuator(run->statics, run->state, i).effort;
        if (a.kind != PL_CHAMBER || !(p < -ATMOSPHERE)) {
            continue;
        }
        pl_findings_add(
            run->r.findings, PL_WARNING, run->r.path, 0,
            "chamber '%s' pulls at its walls with %.4g kPa; at sea level vacuum is reached at %.4g "
            "kPa",
            a.name, -1e3 * p, 1e3 * ATMOSPHERE);
        cli_finding(pl_findings_at(run->r.findings, pl_findings_count(run->r.findings) - 1));
        run->vacuum_told = true;
    }
}

int cli_run_solve(const cli_args *args, cli_run *run)
{
    pl_error err = {0};
    const pl_status status =
        run->geometric ? pl_geometric_solve(run->geometric, run->state, run->command, &run->report, &err)
                       : pl_statics_solve(run->statics, run->state, run->command, &run->report, &err);
    if (status == PL_OK && run->report.outcome == PL_SOLVED && !run->vacuum_told) {
        run_warn_vacuum(run);
    }
    if (status == PL_OK || status == PL_INTERRUPTED) {
        return CLI_DONE;
    }
    err.status = status;
    return cli_fail(args, &err);
}

int cli_run_save_state(const cli_args *args, const cli_run *run)
{
    pl_error err = {0};
    if (!run->state_path || pl_state_save(run->state, run->r.robot, run->state_path, &err) == PL_OK) {
        return CLI_DONE;
    }
    return cli_fail_writing(args, &err);
}
