// pliant sweep: a table of commands and results, each point started from its nearest solved neighbour.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static const cli_option options[] = {
    {"set", 0, "NAME=FROM:TO:N", "vary a command in N points, or hold it at NAME=VALUE; may be repeated",
     NULL},
    {"table", 0, "FILE.csv",
     "the commands of a table row by row (columns by name: air [kPa]); a change in the column `run`\n"
     "begins from rest again",
     NULL},
    {"grid", 0, NULL, "all combinations of several varied commands (default: varied together)", NULL},
    {"color", 0, "FIELD", "colours of a .glb, .usda or film: displacement, von_mises, stretch or region",
     "displacement von_mises stretch contact_pressure region"},
    CLI_PICTURE,
    {"beyond-range", 0, NULL, "allow values outside the range in the robot file", NULL},
    {"out", 0, "FILE",
     "write .csv, the shapes as .pvd, .xdmf, .glb or .usda, a film\n"
     "(.gif .webm .mp4), or pictures (frame_%04d.png); without --out the\n"
     "CSV is printed",
     NULL},
    CLI_JSON,
    {"state", 0, "FILE", "start from this state if the file exists, and save the last state there", NULL},
    {"save-state", 0, "FILE", "save the last state here instead", NULL},
    {"method", 0, "NAME", "exact, local_global or fang2020 (default: as in the robot file)",
     "exact local_global fang2020"},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    {"limit-each", 0, "TIME", "time limit of each point", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FALLBACK,
    CLI_FORCE,
    {0},
};

// What --out may end in.
static const char *const extensions[] = {".csv", CLI_SERIES_EXTENSIONS, NULL};

// What the verb holds; sweep_run releases all of it.
typedef struct sweep {
    const cli_args *args;
    cli_model m;
    pl_sweep_axis axis[PL_SWEEP_AXES]; // commands that are varied
    pl_sweep_def def;
    pl_measured table;      // of --table: commands, and markers where they were measured
    char *fresh_text;       // per row of the table: starts from rest; the library's
    bool *fresh;            // the same without the first row
    double square, largest; // deviations from markers measured in the table, mm
    int compared;           // positions compared
    int point_count;
    FILE *csv;
    char *csv_text;
    size_t csv_bytes;
    json_t *json; // array of records
    cli_series series;
    int done, bad;        // points solved or tried, points without a solution
    pl_outcome first_bad; // outcome of the first of these
    int status;           // of recording
} sweep;

// ---- reading FROM:TO:N
// The unit behind a number, or NULL when there is none. Not freed: a part of `text`.
static const char *sweep_unit(const char *text)
{
    char *end = NULL;
    strtod(text, &end);
    while (*end == ' ') {
        ++end;
    }
    return end != text && *end ? end : NULL;
}

// One end of a range; without a unit it has that of the other end, so that 0:40kPa means what it says.
static int sweep_end(const cli_args *args, const char *set, const char *text, const char *other,
                     pl_dimension dimension, double *value)
{
    char full[200];
    const char *unit = sweep_unit(text), *borrowed = sweep_unit(other);

    snprintf(full, sizeof full, "%s%s", text, !unit && borrowed ? borrowed : "");
    pl_error err = {0};
    if (pl_quantity_parse(full, dimension, value, &err) != PL_OK) {
        cli_error(args, "--set %s: %s", set, err.text);
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// NAME=FROM:TO:N, a command that is varied.
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
    if (!part[2] || end == part[2] || *end || count < 1 || count > PL_SWEEP_POINTS) {
        cli_error(args, "--set %s: expected NAME=FROM:TO:N with N between 1 and %d, such as air=0:40kPa:9",
                  set, PL_SWEEP_POINTS);
        return CLI_EXIT_USAGE;
    }

    if (s->def.axis_count == PL_SWEEP_AXES) {
        cli_error(args, "--set %s: at most %d commands can be varied", set, PL_SWEEP_AXES);
        return CLI_EXIT_USAGE;
    }

    pl_sweep_axis *a = &s->axis[s->def.axis_count++];
    const pl_command_info *c = &s->m.info.command[command];
    const pl_dimension dimension = pl_drive_dimension(c->drive);
    *a = (pl_sweep_axis){.command = command, .count = (int)count};
    int status = sweep_end(args, set, part[0], part[1], dimension, &a->from);
    status = status ? status : sweep_end(args, set, part[1], part[0], dimension, &a->to);
    status = status ? status : cli_command_check(args, c, a->from);

    return status ? status : cli_command_check(args, c, a->to);
}

// NAME=VALUE, a command that is held.
static int sweep_value_read(const cli_args *args, sweep *s, const char *set, int command, const char *value)
{
    pl_error err = {0};
    const pl_command_info *c = &s->m.info.command[command];

    if (pl_quantity_parse(value, pl_drive_dimension(c->drive), &s->m.command[command], &err) != PL_OK) {
        cli_error(args, "--set %s: %s", set, err.text);
        return CLI_EXIT_USAGE;
    }

    return cli_command_check(args, c, s->m.command[command]);
}

// Rows of commands; those without a column are held as --set says.
static int sweep_table(const cli_args *args, sweep *s)
{
    const char *path = cli_value(args, "table");
    pl_error err = {0};

    if (s->def.axis_count > 0 || cli_flag(args, "grid")) {
        cli_error(args,
                  "--table %s: the rows say what is varied; --set NAME=VALUE only holds, --grid is not for "
                  "tables",
                  path);
        return CLI_EXIT_USAGE;
    }

    if (pl_commands_read(path, &s->m.info, &s->table, &s->fresh_text, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    const int C = s->m.info.command_count;
    s->fresh = calloc((size_t)s->table.count + 1, sizeof *s->fresh);
    if (!s->fresh) {
        return cli_no_memory(args);
    }

    for (int r = 0; r < s->table.count; ++r) {
        s->fresh[r] = r > 0 && s->fresh_text[r]; // the first row may start from a state
        for (int c = 0; c < C; ++c) {
            double *v = &s->table.command[(size_t)r * (size_t)C + (size_t)c];
            const pl_command_info *k = &s->m.info.command[c];

            // a value from two sources would hide which one holds
            if (!isnan(*v) && !isnan(s->m.command[c])) {
                cli_error(args, "--set %s: the table %s has a column for it", k->name, path);
                return CLI_EXIT_USAGE;
            }

            *v = isnan(*v) ? s->m.command[c] : *v;

            // a bound written with rounding in the table is still the bound
            const double slack = 1e-9 * fabs(k->range[1] - k->range[0]);
            if (k->has_range && !cli_flag(args, "beyond-range") &&
                (*v < k->range[0] - slack || *v > k->range[1] + slack)) {
                cli_error(args, "%s:%d: %s = %.6g %s is outside its range from %.6g to %.6g %s", path,
                          s->table.line[r], k->name, *v / pl_drive_scale(k->drive), pl_drive_unit(k->drive),
                          k->range[0] / pl_drive_scale(k->drive), k->range[1] / pl_drive_scale(k->drive),
                          pl_drive_unit(k->drive));
                cli_advice("--beyond-range allows it");
                return CLI_EXIT_USAGE;
            }
        }
    }

    s->def.table = s->table.command;
    s->def.table_count = s->table.count;
    s->def.fresh = s->fresh;

    return CLI_DONE;
}

// Reads --set and --table: what is varied and what is held.
static int sweep_read(const cli_args *args, sweep *s)
{
    int cursor = 0;
    for (const char *set, *value; (set = cli_next(args, "set", &cursor));) {
        const int command = cli_command_split(args, cli_model_commands(&s->m), "set", set, &value);
        if (command < 0) {
            return CLI_EXIT_USAGE;
        }

        const int status = strchr(value, ':') ? sweep_axis_read(args, s, set, command, value)
                                              : sweep_value_read(args, s, set, command, value);
        if (status) {
            return status;
        }
    }

    if (cli_value(args, "table")) {
        return sweep_table(args, s);
    }
    if (s->def.axis_count == 0) {
        cli_error(args, "nothing is varied: give --set NAME=FROM:TO:N, or --table FILE.csv");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Completes the definition and counts its points.
static int sweep_count(const cli_args *args, sweep *s)
{
    s->def.axis = s->axis;
    s->def.grid = cli_flag(args, "grid");
    s->def.command = s->m.command;

    // varied together: point k takes the k-th value of each, so all need as many
    for (int a = 1; a < s->def.axis_count && !s->def.grid; ++a) {
        if (s->axis[a].count != s->axis[0].count) {
            cli_error(args, "commands varied together need the same number of points, found %d and %d",
                      s->axis[0].count, s->axis[a].count);
            cli_advice("add --grid for all combinations");
            return CLI_EXIT_USAGE;
        }
    }

    pl_error err = {0};

    return pl_sweep_count(s->m.model, &s->def, &s->point_count, &err) == PL_OK ? CLI_DONE
                                                                               : cli_fail(args, &err);
}

// ---- output
// One point into all outputs.
static int sweep_record(const cli_args *args, sweep *s)
{
    char *row = cli_record_csv_row(&s->m);
    if (!row) {
        return cli_no_memory(args);
    }
    fputs(row, s->csv);

    // without a file the table is printed as it grows
    if (!cli_out(args, ".csv")) {
        cli_say(args, "%s", row);
        fflush(stdout);
    }

    pl_file_free(row);
    if (cli_value(args, "json")) {
        json_array_append_new(s->json, cli_record_json(&s->m));
    }

    const int status = cli_series_frame(args, &s->series, &s->m);
    ++s->done;
    if (s->m.report.outcome != PL_SOLVED && s->bad++ == 0) {
        s->first_bad = s->m.report.outcome;
    }

    return status;
}

// Called by the library before each point. False: stop.
static bool sweep_begin(void *user, int index, int count)
{
    (void)user;
    cli_progress_part(index, count, "point %d of %d", index + 1, count);
    return !cli_interrupted();
}

// Called by the library after each point: compares with markers measured in the table, then records it.
static bool sweep_take(void *user, const pl_sample *point)
{
    sweep *s = user;
    s->m.report = *point->fk;
    cli_model_warn(&s->m);

    const int M = s->m.info.marker_count;
    for (int k = 0; s->def.table && point->fk->outcome == PL_SOLVED && k < M; ++k) {
        const double *q = s->table.marker + 3 * ((size_t)point->index * (size_t)M + (size_t)k);
        const double *p = point->answer.marker + 3 * (size_t)k;
        const double square =
            (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]);

        // a marker that was not measured in this row is NaN
        if (isfinite(square)) {
            s->square += square;
            s->largest = fmax(s->largest, sqrt(square));
            ++s->compared;
        }
    }

    s->status = sweep_record(s->args, s);

    return s->status == CLI_DONE;
}

// Solves all points.
static int sweep_points(const cli_args *args, sweep *s)
{
    pl_error err = {0};
    pl_sweep_report report;

    cli_stage("solving", false);
    const pl_status status = pl_sweep_run(s->m.model, &s->def, sweep_begin, sweep_take, s, &report, &err);
    cli_stage(NULL, false);

    // the record that failed says more than the interruption it caused
    if (s->status) {
        return s->status;
    }
    if (status != PL_OK && status != PL_INTERRUPTED) {
        err.status = status;
        return cli_fail(args, &err);
    }

    return CLI_DONE;
}

// Writes what is written at the end: the table, the shapes, the records, the last state.
static int sweep_finish(const cli_args *args, sweep *s)
{
    const char *csv = cli_out(args, ".csv");
    pl_error err = {0};
    const bool failed = fflush(s->csv) != 0 || ferror(s->csv);

    if (failed) {
        return cli_no_memory(args);
    }
    if (csv && pl_file_write(csv, s->csv_text, s->csv_bytes, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    int status = cli_series_finish(args, &s->series, NULL);
    if (status) {
        return status;
    }

    // the array is released by the call that writes it
    json_t *root = s->json;
    s->json = NULL;
    status = cli_json_write(args, root);

    return status ? status : cli_model_save_state(args, &s->m);
}

// Opens the table and writes its head; prints it where rows are printed.
static int sweep_prepare(const cli_args *args, sweep *s)
{
    s->csv = open_memstream(&s->csv_text, &s->csv_bytes);
    s->json = json_array();
    char *head = cli_record_csv_head(&s->m);
    if (!s->csv || !s->json || !head) {
        pl_file_free(head);
        return cli_no_memory(args);
    }

    fputs(head, s->csv);
    if (!cli_out(args, ".csv")) {
        cli_say(args, "%s", head);
    }
    pl_file_free(head);

    return CLI_DONE;
}

// The verb from its options to its exit status.
static int sweep_work(const cli_args *args, sweep *s)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, cli_value(args, "state"));
    status = status ? status : cli_model_open(args, args->plain[0], &s->m);
    status = status ? status : cli_check_outputs(args, NULL, s->m.path, NULL);
    status = status ? status : sweep_read(args, s);
    status = status ? status : sweep_count(args, s);
    status = status ? status : sweep_prepare(args, s);
    status = status ? status : sweep_points(args, s);
    status = status ? status : sweep_finish(args, s);
    if (status) {
        return status;
    }

    // what was done is written already: the exit status only says that it is not all
    if (cli_interrupted()) {
        cli_error(args, "%s after %d of %d points, which are kept", cli_stop_reason(), s->done,
                  s->point_count);
        cli_outcome_advice("interrupted");
        return CLI_EXIT_UNSOLVED;
    }

    if (cli_out(args, ".csv")) {
        cli_say(args, "%d points, %d solved; wrote %s\n", s->done, s->done - s->bad, cli_out(args, ".csv"));
    }
    if (s->compared > 0) {
        cli_say(args, "markers measured in %s: off by %.4g mm rms, %.4g mm at most, over %d positions\n",
                cli_value(args, "table"), sqrt(s->square / s->compared), s->largest, s->compared);
    }

    if (s->bad > 0) {
        cli_error(args, "%d of %d points did not converge; their rows say so", s->bad, s->done);
        cli_outcome_advice(pl_outcome_name(s->first_bad));
    }

    return s->bad ? CLI_EXIT_UNSOLVED : CLI_DONE;
}

static int sweep_run(cli_args *args)
{
    sweep s = {.args = args};
    const int status = sweep_work(args, &s);

    if (s.csv) {
        fclose(s.csv);
    }
    free(s.csv_text);
    pl_measured_clear(&s.table);
    pl_file_free(s.fresh_text);
    free(s.fresh);
    json_decref(s.json);
    cli_series_clear(&s.series);
    cli_model_close(&s.m);

    return status;
}

const cli_verb cli_verb_sweep = {
    .name = "sweep",
    .summary = "a table of commands and results",
    .usage = "ROBOT [--set NAME=FROM:TO:N ... | --table FILE.csv] [options]",
    .about = "Varies commands from one value to another in N points and solves each starting from its\n"
             "nearest neighbour. A unit on either end applies to both. Rows that did not converge say so,\n"
             "and the exit status is then 1. JSON is an array of the records `pliant fk` writes.\n"
             "The rows of a --table are solved in their order; where it has columns of markers too\n"
             "(tip.x [mm]), the deviation from them is printed. Models learned from histories remember\n"
             "the rows before.",
    .examples =
        "  pliant sweep finger --set air=0:40kPa:9\n"
        "  pliant sweep finger --set air=0:40kPa:9 --out finger.csv --out finger.pvd --out finger.glb\n"
        "  pliant sweep finger --set air=0:40kPa:21 --out finger.gif --view front\n"
        "  pliant sweep trunk --set left=0:5mm:6 --set right=0:5mm:6 --grid --out map.csv\n"
        "  pliant sweep trunk-model.yaml --table commands.csv --out predicted.csv\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = sweep_run,
};
