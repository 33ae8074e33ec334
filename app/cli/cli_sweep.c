// pliant sweep: a table of commands and results, each point started from its nearest solved neighbour.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"
#include "cli_reduced.h"

static const cli_option options[] = {
    {"set", 0, "NAME=FROM:TO:N", "vary a command in N points, or hold it at NAME=VALUE; may be repeated",
     NULL},
    {"grid", 0, NULL, "all combinations of several varied commands (default: varied together)", NULL},
    {"beyond-range", 0, NULL, "allow values outside the range the robot file gives", NULL},
    {"out", 0, "FILE", "write .csv, or .pvd with one .vtu per point; without --out the CSV is printed", NULL},
    CLI_JSON,
    {"state", 0, "FILE", "go on from this state if the file exists, and leave the last one there", NULL},
    {"save-state", 0, "FILE", "leave the last state here instead", NULL},
    {"method", 0, "NAME", "exact, local_global or fang2020 (default: what the robot file says)",
     "exact local_global fang2020"},
    {"displacement", 0, NULL, "plain displacement elements, as other codes have", NULL},
    {"time-limit", 0, "TIME", "at most so many seconds per point", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".csv", ".pvd", NULL};

#define SWEEP_AXES 8
#define SWEEP_POINTS 1000000

typedef struct sweep_axis {
    int command;
    double from, to; // internal units
    int count;
} sweep_axis;

typedef struct sweep {
    cli_run run;
    sweep_axis axis[SWEEP_AXES];
    int axis_count;
    bool grid;
    int point_count;
    // start[d]: the solved state at the beginning of the current line of axis d; the last one is where the
    // run is
    pl_state *start[SWEEP_AXES];
    FILE *csv;
    char *csv_text;
    size_t csv_bytes;
    json_t *json;
    char **vtu; // names of the files of the series, without folder
    double *time;
    int done, bad;
} sweep;

// ---- reading FROM:TO:N
// The unit behind a number, or NULL when there is none.
static const char *sweep_unit(const char *text)
{
    char *end = NULL;
    strtod(text, &end);
    while (*end == ' ') {
        ++end;
    }
    return end != text && *end ? end : NULL;
}

static int sweep_end(const cli_args *args, const char *set, const char *text, const char *other,
                     pl_dimension dimension, double *value)
{
    char full[200];
    const char *unit = sweep_unit(text), *borrowed = sweep_unit(other);
    snprintf(full, sizeof full, "%s%s", text, !unit && borrowed ? borrowed : "");
    pl_error err = {0};
    if (pl_quantity_parse(full, dimension, value, &err) != PL_OK) {
        cli_error(args, "--set %s: %s", set, err.text);
        return CLI_WRONG;
    }
    return CLI_DONE;
}

static int sweep_axis_read(const cli_args *args, sweep *s, const char *set, int command, const char *value)
{
    char text[200], *part[3] = {text, NULL, NULL};
    snprintf(text, sizeof text, "%s", value);
    for (int k = 1; k < 3 && part[k - 1]; ++k) {
        part[k] = strchr(part[k - 1], ':');
        if (part[k]) {
            *part[k]++ = 0;
        }
    }
    char *end = NULL;
    const long count = part[2] ? strtol(part[2], &end, 10) : 0;
    if (!part[2] || end == part[2] || *end || count < 1 || count > SWEEP_POINTS) {
        cli_error(args, "--set %s: expected NAME=FROM:TO:N with N between 1 and %d, such as air=0:40kPa:9",
                  set, SWEEP_POINTS);
        return CLI_WRONG;
    }
    if (s->axis_count == SWEEP_AXES) {
        cli_error(args, "--set %s: at most %d commands can be varied", set, SWEEP_AXES);
        return CLI_WRONG;
    }
    sweep_axis *a = &s->axis[s->axis_count++];
    const pl_robot *robot = s->run.r.robot;
    const pl_dimension dimension = pl_drive_dimension(pl_robot_command(robot, command).drive);
    *a = (sweep_axis){.command = command, .count = (int)count};
    int status = sweep_end(args, set, part[0], part[1], dimension, &a->from);
    status = status ? status : sweep_end(args, set, part[1], part[0], dimension, &a->to);
    status = status ? status : cli_command_check(args, robot, command, a->from);
    return status ? status : cli_command_check(args, robot, command, a->to);
}

static int sweep_value_read(const cli_args *args, sweep *s, const char *set, int command, const char *value)
{
    pl_error err = {0};
    const pl_robot *robot = s->run.r.robot;
    const pl_dimension dimension = pl_drive_dimension(pl_robot_command(robot, command).drive);
    if (pl_quantity_parse(value, dimension, &s->run.command[command], &err) != PL_OK) {
        cli_error(args, "--set %s: %s", set, err.text);
        return CLI_WRONG;
    }
    return cli_command_check(args, robot, command, s->run.command[command]);
}

static int sweep_read(const cli_args *args, sweep *s)
{
    const pl_robot *robot = s->run.r.robot;
    for (int i = 0; i < pl_robot_command_count(robot); ++i) {
        s->run.command[i] = NAN;
    }
    int cursor = 0;
    for (const char *set; (set = cli_next(args, "set", &cursor));) {
        const size_t length = strcspn(set, "=");
        if (!set[length] || length == 0 || !set[length + 1]) {
            cli_error(args, "--set %s: expected NAME=FROM:TO:N, such as air=0:40kPa:9", set);
            return CLI_WRONG;
        }
        const int command = cli_command_find(args, robot, set, length);
        if (command < 0) {
            return CLI_WRONG;
        }
        bool twice = !isnan(s->run.command[command]);
        for (int a = 0; a < s->axis_count; ++a) {
            twice = twice || s->axis[a].command == command;
        }
        if (twice) {
            cli_error(args, "--set %s: the command is set twice", set);
            return CLI_WRONG;
        }
        const char *value = set + length + 1;
        const int status = strchr(value, ':') ? sweep_axis_read(args, s, set, command, value)
                                              : sweep_value_read(args, s, set, command, value);
        if (status) {
            return status;
        }
    }
    if (s->axis_count == 0) {
        cli_error(args, "nothing is varied: give --set NAME=FROM:TO:N");
        return CLI_WRONG;
    }
    return CLI_DONE;
}

static int sweep_count(const cli_args *args, sweep *s)
{
    s->grid = cli_flag(args, "grid");
    double points = 1;
    for (int a = 0; a < s->axis_count; ++a) {
        points = s->grid ? points * s->axis[a].count : s->axis[a].count;
        if (!s->grid && s->axis[a].count != s->axis[0].count) {
            cli_error(args, "commands varied together need the same number of points, found %d and %d",
                      s->axis[0].count, s->axis[a].count);
            cli_advice("add --grid for all combinations");
            return CLI_WRONG;
        }
    }
    if (points > SWEEP_POINTS) {
        cli_error(args, "%.0f points are too many, expected at most %d", points, SWEEP_POINTS);
        return CLI_WRONG;
    }
    s->point_count = (int)points;
    return CLI_DONE;
}

// ---- the points. In a grid the last command varies fastest.
static int sweep_levels(const sweep *s)
{
    return s->grid ? s->axis_count : 1;
}

// The index of point p along level d.
static int sweep_index(const sweep *s, int p, int d)
{
    if (!s->grid) {
        return p;
    }
    for (int a = s->axis_count - 1; a > d; --a) {
        p /= s->axis[a].count;
    }
    return p % s->axis[d].count;
}

static void sweep_commands(sweep *s, int p)
{
    for (int a = 0; a < s->axis_count; ++a) {
        const sweep_axis *x = &s->axis[a];
        const int i = sweep_index(s, p, a);
        const double t = x->count > 1 ? (double)i / (x->count - 1) : 0;
        s->run.command[x->command] = i == x->count - 1 && i > 0 ? x->to : x->from + t * (x->to - x->from);
    }
}

// Goes back to the neighbour of point p: when level d advances and the deeper ones begin anew, that is the
// first point of the line before.
static void sweep_go_back(sweep *s, int p)
{
    const int levels = sweep_levels(s);
    int d = levels - 1;
    while (d > 0 && sweep_index(s, p, d) == 0) {
        --d;
    }
    if (p > 0 && d < levels - 1) {
        pl_state_copy(s->run.state, s->start[d]);
    }
}

static void sweep_remember(sweep *s, int p)
{
    const int levels = sweep_levels(s);
    for (int d = levels - 2; d >= 0 && sweep_index(s, p, d + 1) == 0; --d) {
        pl_state_copy(s->start[d], s->run.state);
    }
}

// ---- output
// The file of point p: the series' name with a number behind.
static char *sweep_vtu_path(const char *pvd, int p)
{
    const size_t room = strlen(pvd) + 24;
    char *path = malloc(room);
    if (path) {
        snprintf(path, room, "%.*s_%04d.vtu", (int)(cli_extension(pvd) - pvd), pvd, p);
    }
    return path;
}

static const char *sweep_out(const cli_args *args, const char *extension)
{
    int cursor = 0;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        if (strcasecmp(cli_extension(path), extension) == 0) {
            return path;
        }
    }
    return NULL;
}

static int sweep_record_vtu(const cli_args *args, sweep *s, int p)
{
    const char *pvd = sweep_out(args, ".pvd");
    if (!pvd) {
        return CLI_DONE;
    }
    char *path = sweep_vtu_path(pvd, p);
    if (!path) {
        return cli_no_memory(args);
    }
    pl_error err = {0};
    if (pl_state_write_vtu(s->run.statics, s->run.r.robot, s->run.state, path, &err) != PL_OK) {
        free(path);
        return cli_fail_writing(args, &err);
    }
    s->vtu[s->done] = path;
    s->time[s->done] = p;
    return cli_series_add(args, pvd, path, p, s->done == 0);
}

static int sweep_record(const cli_args *args, sweep *s, int p)
{
    char *row = cli_result_csv_row(&s->run);
    if (!row) {
        return cli_no_memory(args);
    }
    fputs(row, s->csv);
    // without a file the table is printed as it grows
    if (!sweep_out(args, ".csv")) {
        cli_say(args, "%s", row);
        fflush(stdout);
    }
    free(row);
    if (cli_value(args, "json")) {
        json_array_append_new(s->json, cli_result_json(&s->run));
    }
    const int status = sweep_record_vtu(args, s, p);
    ++s->done;
    s->bad += s->run.report.outcome != PL_SOLVED;
    return status;
}

static int sweep_points(const cli_args *args, sweep *s)
{
    for (int p = 0; p < s->point_count && !cli_interrupted(); ++p) {
        char text[80];
        snprintf(text, sizeof text, "point %d of %d", p + 1, s->point_count);
        cli_progress_prefix(text);
        sweep_commands(s, p);
        sweep_go_back(s, p);
        int status = cli_run_solve(args, &s->run);
        cli_progress_prefix(NULL);
        if (status) {
            return status;
        }
        sweep_remember(s, p);
        // an interrupted point is no result
        if (s->run.report.outcome == PL_STOPPED && cli_interrupted()) {
            break;
        }
        status = sweep_record(args, s, p);
        if (status) {
            return status;
        }
    }
    return CLI_DONE;
}

static int sweep_finish(const cli_args *args, sweep *s)
{
    const char *csv = sweep_out(args, ".csv"), *pvd = sweep_out(args, ".pvd");
    pl_error err = {0};
    const bool failed = fflush(s->csv) != 0 || ferror(s->csv);
    if (failed) {
        return cli_no_memory(args);
    }
    if (csv && pl_file_write(csv, s->csv_text, s->csv_bytes, &err) != PL_OK) {
        return cli_fail_writing(args, &err);
    }
    if (pvd && pl_series_write_pvd(pvd, (const char *const *)s->vtu, s->time, s->done, &err) != PL_OK) {
        return cli_fail_writing(args, &err);
    }
    json_t *root = s->json;
    s->json = NULL;
    const int status = cli_json_write(args, root);
    return status ? status : cli_run_save_state(args, &s->run);
}

static int sweep_prepare(const cli_args *args, sweep *s)
{
    pl_error err = {0};
    for (int d = 0; d + 1 < sweep_levels(s); ++d) {
        if (pl_state_create(s->run.r.robot, &s->start[d], &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        pl_state_copy(s->start[d], s->run.state);
    }
    s->csv = open_memstream(&s->csv_text, &s->csv_bytes);
    s->vtu = calloc((size_t)s->point_count, sizeof *s->vtu);
    s->time = calloc((size_t)s->point_count, sizeof *s->time);
    s->json = json_array();
    char *head = cli_result_csv_head(&s->run);
    if (!s->csv || !s->vtu || !s->time || !s->json || !head) {
        free(head);
        return cli_no_memory(args);
    }
    fputs(head, s->csv);
    if (!sweep_out(args, ".csv")) {
        cli_say(args, "%s", head);
    }
    free(head);
    return CLI_DONE;
}

static int sweep_work(const cli_args *args, sweep *s)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, cli_value(args, "state"));
    status = status ? status : cli_run_open(args, args->plain[0], &s->run);
    status = status ? status : cli_check_outputs(args, NULL, s->run.r.path, NULL);
    status = status ? status : sweep_read(args, s);
    status = status ? status : sweep_count(args, s);
    status = status ? status : sweep_prepare(args, s);
    status = status ? status : sweep_points(args, s);
    status = status ? status : sweep_finish(args, s);
    if (status) {
        return status;
    }
    if (cli_interrupted()) {
        cli_error(args, "interrupted after %d of %d points; those are kept", s->done, s->point_count);
        return CLI_BADLY;
    }
    if (sweep_out(args, ".csv")) {
        cli_say(args, "%d points, %d solved; wrote %s\n", s->done, s->done - s->bad, sweep_out(args, ".csv"));
    }
    if (s->bad > 0) {
        cli_error(args, "%d of %d points did not converge; their rows say so", s->bad, s->done);
    }
    return s->bad ? CLI_BADLY : CLI_DONE;
}

static int sweep_run(cli_args *args)
{
    if (cli_is_reduced(args->plain[0])) {
        return cli_reduced_sweep(args);
    }
    sweep s = {0};
    const int status = sweep_work(args, &s);
    if (s.csv) {
        fclose(s.csv);
    }
    free(s.csv_text);
    json_decref(s.json);
    for (int i = 0; s.vtu && i < s.point_count; ++i) {
        free(s.vtu[i]);
    }
    free(s.vtu);
    free(s.time);
    for (int d = 0; d < SWEEP_AXES; ++d) {
        pl_state_destroy(s.start[d]);
    }
    cli_run_close(&s.run);
    return status;
}

const cli_verb cli_verb_sweep = {
    .name = "sweep",
    .summary = "a table of commands and results, warm-started",
    .usage = "ROBOT --set NAME=FROM:TO:N ... [options]",
    .about =
        "Varies commands from one value to another in N points and solves each from its nearest neighbour.\n"
        "A unit on either end counts for both. Rows that did not converge say so, and the exit status is\n"
        "then 1. JSON is an array of the records `pliant fk` writes.",
    .examples = "  pliant sweep finger --set air=0:40kPa:9\n"
                "  pliant sweep finger --set air=0:40kPa:9 --out finger.csv --out finger.pvd\n"
                "  pliant sweep trunk --set left=0:5mm:6 --set right=0:5mm:6 --grid --out map.csv\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = sweep_run,
};
