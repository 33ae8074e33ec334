// Tables of reduced robots: sweep and jacobian through pl_model.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"
#include "cli_reduced.h"

static const double degree = 3.14159265358979323846 / 180;

// ---- one row of results
static void table_head(FILE *t, const cli_model *m)
{
    static const char *const measure[] = {"length [mm]", "volume [mm^3]", "area [mm^2]"};
    for (int i = 0; i < m->info.command_count; ++i) {
        fprintf(t, "%s [%s],", m->info.command[i].name, pl_drive_unit(m->info.command[i].drive));
    }
    fprintf(t, "converged,outcome");
    for (int i = 0; i < m->info.marker_count; ++i) {
        const char *name = m->info.marker_name[i];
        fprintf(t, ",%s.x [mm],%s.y [mm],%s.z [mm],%s.turned [deg]", name, name, name, name);
    }
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const pl_actuator_kind kind = m->info.actuator_kind[i];
        fprintf(t, ",%s.%s,%s.effort [%s]", m->info.actuator_name[i], measure[kind], m->info.actuator_name[i],
                cli_effort_unit(kind));
    }
    for (int i = 0; i < m->info.sensor_count; ++i) {
        fprintf(t, ",%s [%s]", m->info.sensor_name[i], cli_sensor_unit(m->info.sensor_kind[i]));
    }
    fprintf(t, ",energy [mJ],residual [N]\n");
}

static void table_number(FILE *t, const char *before, double value)
{
    fprintf(t, "%s", before);
    if (isfinite(value)) {
        fprintf(t, "%.10g", value);
    }
}

static void table_row(FILE *t, const cli_model *m)
{
    const pl_model_answer a = pl_model_get_answer(m->model);
    for (int i = 0; i < m->info.command_count; ++i) {
        table_number(t, "", m->command[i] / pl_drive_scale(m->info.command[i].drive));
        fprintf(t, ",");
    }
    fprintf(t, "%d,%s", m->run.report.outcome == PL_SOLVED, pl_outcome_name(m->run.report.outcome));
    for (int i = 0; i < m->info.marker_count; ++i) {
        const double *R = a.rotation + 9 * i, s[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
        for (int k = 0; k < 3; ++k) {
            table_number(t, ",", a.marker[3 * i + k]);
        }
        table_number(t, ",",
                     atan2(sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]), R[0] + R[4] + R[8] - 1) / degree);
    }
    for (int i = 0; i < m->info.actuator_count; ++i) {
        table_number(t, ",", a.measure[i]);
        table_number(t, ",", a.effort[i] / cli_effort_scale(m->info.actuator_kind[i]));
    }
    for (int i = 0; i < m->info.sensor_count; ++i) {
        table_number(t, ",", a.sensor[i] / cli_sensor_scale(m->info.sensor_kind[i]));
    }
    table_number(t, ",", a.energy);
    table_number(t, ",", m->run.report.residual);
    fprintf(t, "\n");
}

// ---- sweep
#define SWEEP_AXES 8
#define SWEEP_POINTS 1000000

typedef struct sweep {
    cli_model m;
    int command[SWEEP_AXES], count[SWEEP_AXES], axes, points;
    double from[SWEEP_AXES], to[SWEEP_AXES];
    bool grid;
    FILE *csv;
    char *text;
    size_t bytes;
    json_t *json;
    char **vtu;
    double *time;
    int done, bad;
} sweep;

static bool sweep_parse(const cli_args *args, const char *set, const char *text, pl_dimension dimension,
                        double *value)
{
    pl_error err = {0};
    if (pl_quantity_parse(text, dimension, value, &err) != PL_OK) {
        cli_error(args, "--set %s: %s", set, err.text);
        return false;
    }
    return true;
}

static bool sweep_in_range(const cli_args *args, const pl_model_command *c, double value)
{
    const double slack = 1e-12 * (fabs(c->range[0]) + fabs(c->range[1])), scale = pl_drive_scale(c->drive);
    if (!c->has_range || cli_flag(args, "beyond-range") ||
        (value >= c->range[0] - slack && value <= c->range[1] + slack)) {
        return true;
    }
    cli_error(args, "%s is %g %s, outside its range of %g to %g", c->name, value / scale,
              pl_drive_unit(c->drive), c->range[0] / scale, c->range[1] / scale);
    cli_advice("add --beyond-range to try it all the same");
    return false;
}

// FROM:TO:N; a unit on one end counts for both.
static bool sweep_axis(const cli_args *args, sweep *s, const char *set, int command, const char *value)
{
    char text[200], both[2][260], *end = NULL;
    snprintf(text, sizeof text, "%s", value);
    char *to = strchr(text, ':'), *count = to ? strchr(to + 1, ':') : NULL;
    const long n = count ? strtol(count + 1, &end, 10) : 0;
    if (!count || end == count + 1 || *end || n < 1 || n > SWEEP_POINTS || s->axes == SWEEP_AXES) {
        cli_error(args, "--set %s: expected NAME=FROM:TO:N with N between 1 and %d, at most %d of them", set,
                  SWEEP_POINTS, SWEEP_AXES);
        return false;
    }
    *to++ = *count = 0;
    const char *const part[2] = {text, to};
    const char *unit[2];
    for (int k = 0; k < 2; ++k) {
        strtod(part[k], &end);
        unit[k] = *end ? end : NULL;
    }
    const pl_model_command *c = &s->m.info.command[command];
    for (int k = 0; k < 2; ++k) {
        snprintf(both[k], sizeof both[k], "%s%s", part[k], !unit[k] && unit[1 - k] ? unit[1 - k] : "");
    }
    s->command[s->axes] = command;
    s->count[s->axes] = (int)n;
    const pl_dimension dimension = pl_drive_dimension(c->drive);
    const bool good = sweep_parse(args, set, both[0], dimension, &s->from[s->axes]) &&
                      sweep_parse(args, set, both[1], dimension, &s->to[s->axes]) &&
                      sweep_in_range(args, c, s->from[s->axes]) && sweep_in_range(args, c, s->to[s->axes]);
    ++s->axes;
    return good;
}

static bool sweep_set(const cli_args *args, sweep *s, const char *set)
{
    char name[200];
    const size_t length = strcspn(set, "=");
    if (!set[length] || length == 0 || !set[length + 1] || length >= sizeof name) {
        cli_error(args, "--set %s: expected NAME=FROM:TO:N, such as air=0:40kPa:9", set);
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, set);
    const int command = cli_model_command(args, &s->m, "set", name);
    if (command < 0) {
        return false;
    }
    bool twice = !isnan(s->m.command[command]);
    for (int a = 0; a < s->axes; ++a) {
        twice = twice || s->command[a] == command;
    }
    if (twice) {
        cli_error(args, "--set %s: the command is set twice", set);
        return false;
    }
    if (strchr(set + length + 1, ':')) {
        return sweep_axis(args, s, set, command, set + length + 1);
    }
    const pl_model_command *c = &s->m.info.command[command];
    return sweep_parse(args, set, set + length + 1, pl_drive_dimension(c->drive), &s->m.command[command]) &&
           sweep_in_range(args, c, s->m.command[command]);
}

static int sweep_read(const cli_args *args, sweep *s)
{
    int cursor = 0;
    for (const char *set; (set = cli_next(args, "set", &cursor));) {
        if (!sweep_set(args, s, set)) {
            return CLI_WRONG;
        }
    }
    if (s->axes == 0) {
        cli_error(args, "nothing is varied: give --set NAME=FROM:TO:N");
        return CLI_WRONG;
    }
    double points = 1;
    s->grid = cli_flag(args, "grid");
    for (int a = 0; a < s->axes; ++a) {
        points = s->grid ? points * s->count[a] : s->count[a];
        if (!s->grid && s->count[a] != s->count[0]) {
            cli_error(args, "commands varied together need the same number of points, found %d and %d",
                      s->count[0], s->count[a]);
            cli_advice("add --grid for all combinations");
            return CLI_WRONG;
        }
    }
    if (points > SWEEP_POINTS) {
        cli_error(args, "%.0f points are too many, expected at most %d", points, SWEEP_POINTS);
        return CLI_WRONG;
    }
    s->points = (int)points;
    return CLI_DONE;
}

// In a grid the last command varies fastest.
static void sweep_commands(sweep *s, int p)
{
    for (int a = s->axes - 1; a >= 0; --a) {
        const int i = s->grid ? p % s->count[a] : p;
        p = s->grid ? p / s->count[a] : p;
        const double t = s->count[a] > 1 ? (double)i / (s->count[a] - 1) : 0;
        s->m.command[s->command[a]] = s->from[a] + t * (s->to[a] - s->from[a]);
    }
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

static int sweep_vtu(const cli_args *args, sweep *s, int p)
{
    const char *pvd = sweep_out(args, ".pvd");
    if (!pvd) {
        return CLI_DONE;
    }
    const size_t room = strlen(pvd) + 24;
    char *path = malloc(room);
    if (!path) {
        return cli_no_memory(args);
    }
    snprintf(path, room, "%.*s_%04d.vtu", (int)(cli_extension(pvd) - pvd), pvd, p);
    pl_error err = {0};
    const pl_status status = cli_reduced_write(args, &s->m, path, &err);
    s->vtu[s->done] = path;
    s->time[s->done] = p;
    return status == PL_OK ? cli_series_add(args, pvd, path, p, s->done == 0) : cli_fail_writing(args, &err);
}

static int sweep_points(const cli_args *args, sweep *s)
{
    s->csv = open_memstream(&s->text, &s->bytes);
    s->vtu = calloc((size_t)s->points, sizeof *s->vtu);
    s->time = calloc((size_t)s->points, sizeof *s->time);
    s->json = json_array();
    if (!s->csv || !s->vtu || !s->time || !s->json) {
        return cli_no_memory(args);
    }
    table_head(s->csv, &s->m);
    for (int p = 0; p < s->points && !cli_interrupted(); ++p) {
        sweep_commands(s, p);
        int status = cli_reduced_solve(args, &s->m);
        if (status) {
            return status;
        }
        table_row(s->csv, &s->m);
        if (cli_value(args, "json")) {
            json_array_append_new(s->json, cli_reduced_json(&s->m));
        }
        status = sweep_vtu(args, s, p);
        if (status) {
            return status;
        }
        ++s->done;
        s->bad += s->m.run.report.outcome != PL_SOLVED;
    }
    return CLI_DONE;
}

static int sweep_finish(const cli_args *args, sweep *s)
{
    const char *csv = sweep_out(args, ".csv"), *pvd = sweep_out(args, ".pvd");
    pl_error err = {0};
    if (fflush(s->csv) != 0 || ferror(s->csv)) {
        return cli_no_memory(args);
    }
    if (csv && pl_file_write(csv, s->text, s->bytes, &err) != PL_OK) {
        return cli_fail_writing(args, &err);
    }
    if (pvd && pl_series_write_pvd(pvd, (const char *const *)s->vtu, s->time, s->done, &err) != PL_OK) {
        return cli_fail_writing(args, &err);
    }
    if (csv) {
        cli_say(args, "%d points, %d solved; wrote %s\n", s->done, s->done - s->bad, csv);
    } else {
        cli_say(args, "%s", s->text);
    }
    json_t *root = s->json;
    s->json = NULL;
    const int status = cli_json_write(args, root);
    if (status == CLI_DONE && s->bad > 0) {
        cli_error(args, "%d of %d points did not converge; their rows say so", s->bad, s->done);
    }
    return status ? status : s->bad > 0 || s->done < s->points ? CLI_BADLY : CLI_DONE;
}

int cli_reduced_sweep(cli_args *args)
{
    static const char *const extensions[] = {".csv", ".pvd", NULL};
    sweep s = {0};
    int status = cli_reduced_begin(args, extensions, &s.m);
    status = status ? status : sweep_read(args, &s);
    status = status ? status : sweep_points(args, &s);
    status = status ? status : sweep_finish(args, &s);
    if (s.csv) {
        fclose(s.csv);
    }
    free(s.text);
    json_decref(s.json);
    for (int i = 0; s.vtu && i < s.points; ++i) {
        free(s.vtu[i]);
    }
    free(s.vtu);
    free(s.time);
    cli_model_close(&s.m);
    return status;
}

// ---- jacobian
typedef struct slopes {
    const cli_model *m;
    pl_model_derivative d;
    pl_jacobian_report report;
    FILE *csv;
    cli_table *table;
    json_t *json;
} slopes;

// One row in terminal units: (row / scale of the row) per unit of the command.
static void slopes_row(const slopes *s, const char *group, const char *name, const char *part,
                       const char *unit, const double *row, double scale)
{
    char text[900];
    json_t *values = json_array();
    snprintf(text, sizeof text, "%s%s%s\t%s", name, part[0] ? "." : "", part, unit);
    fprintf(s->csv, "%s%s%s [%s]", name, part[0] ? "." : "", part, unit);
    for (int c = 0; c < s->m->info.command_count; ++c) {
        if (isnan(s->m->command[c])) {
            continue;
        }
        const double value = row[c] * pl_drive_scale(s->m->info.command[c].drive) / scale + 0.0;
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "\t%.6g", value);
        table_number(s->csv, ",", value);
        json_array_append_new(values, cli_json_number(value));
    }
    fprintf(s->csv, "\n");
    cli_row(s->table, "%s", text);
    json_t *all = json_object_get(s->json, group);
    if (!all) {
        json_object_set_new(s->json, group, all = json_object());
    }
    json_t *one = json_object_get(all, name);
    if (!one) {
        json_object_set_new(all, name, one = json_object());
        json_object_set_new(one, "unit", json_string(unit));
        json_object_set_new(one, "d", json_array());
    }
    json_array_append_new(json_object_get(one, "d"), values);
}

static void slopes_rows(const slopes *s)
{
    static const char *const axis[] = {"x", "y", "z"}, *const turn[] = {"rx", "ry", "rz"};
    static const char *const measure[] = {"length", "volume", "area"}, *const unit[] = {"mm", "mm^3", "mm^2"};
    const pl_model_info *info = &s->m->info;
    const int n = info->command_count;
    for (int i = 0; i < info->marker_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            slopes_row(s, "markers", info->marker_name[i], axis[k], "mm", s->d.marker + (3 * i + k) * n, 1);
        }
        for (int k = 0; k < 3; ++k) {
            slopes_row(s, "rotations", info->marker_name[i], turn[k], "rad", s->d.rotation + (3 * i + k) * n,
                       1);
        }
    }
    for (int i = 0; i < info->sensor_count; ++i) {
        const pl_sensor_kind kind = info->sensor_kind[i];
        slopes_row(s, "sensors", info->sensor_name[i], "", cli_sensor_unit(kind), s->d.sensor + i * n,
                   cli_sensor_scale(kind));
    }
    for (int i = 0; i < info->actuator_count; ++i) {
        const pl_actuator_kind kind = info->actuator_kind[i];
        slopes_row(s, "efforts", info->actuator_name[i], "effort", cli_effort_unit(kind), s->d.effort + i * n,
                   cli_effort_scale(kind));
        slopes_row(s, "measures", info->actuator_name[i], measure[kind], unit[kind], s->d.measure + i * n, 1);
    }
}

static void slopes_head(const slopes *s, json_t *by)
{
    char text[900] = "of\tin";
    fprintf(s->csv, "of");
    for (int c = 0; c < s->m->info.command_count; ++c) {
        if (isnan(s->m->command[c])) {
            continue;
        }
        const char *name = s->m->info.command[c].name, *unit = pl_drive_unit(s->m->info.command[c].drive);
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "\tper %s of %s", unit, name);
        fprintf(s->csv, ",per %s of %s", unit, name);
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(name));
        json_object_set_new(one, "unit", json_string(unit));
        json_array_append_new(by, one);
    }
    fprintf(s->csv, "\n");
    cli_row(s->table, "%s", text);
}

static int slopes_write(const cli_args *args, cli_model *m, slopes *s, char **text, size_t *bytes)
{
    json_t *by = json_array();
    cli_table table = {0};
    s->table = &table;
    slopes_head(s, by);
    slopes_rows(s);
    json_object_set_new(s->json, "by", by);
    json_object_set_new(s->json, "residual", cli_json_number(s->report.residual));
    json_object_set_new(s->json, "one_sided", json_boolean(s->report.one_sided));
    cli_table_print(args, &table);
    if (s->report.one_sided) {
        cli_say(args,
                "\n  one-sided: a cable stands at tension 0, the derivative holds for pulling further\n");
    }
    if (fflush(s->csv) != 0 || ferror(s->csv)) {
        return cli_no_memory(args);
    }
    int cursor = 0;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        if (pl_file_write(path, *text, *bytes, &err) != PL_OK) {
            return cli_fail_writing(args, &err);
        }
    }
    if (!cli_value(args, "json")) {
        return CLI_DONE;
    }
    json_t *root = cli_reduced_json(m);
    json_object_set(root, "jacobian", s->json);
    return cli_json_write(args, root);
}

static int slopes_derive(const cli_args *args, cli_model *m)
{
    pl_error err = {0};
    slopes s = {.m = m, .json = json_object()};
    char *text = NULL;
    size_t bytes = 0;
    int set = 0;
    for (int i = 0; i < m->info.command_count; ++i) {
        set += !isnan(m->command[i]);
    }
    int status = CLI_DONE;
    if (set == 0) {
        cli_error(args, "there is nothing to derive by: set at least one command with --set NAME=VALUE");
        status = CLI_WRONG;
    } else if (pl_model_differentiate(m->model,
                                      PL_PART_MARKER | PL_PART_ROTATION | PL_PART_SENSOR | PL_PART_EFFORT |
                                          PL_PART_MEASURE,
                                      0, &s.d, &s.report, &err) != PL_OK) {
        status = cli_fail(args, &err);
    } else if (!(s.csv = open_memstream(&text, &bytes))) {
        status = cli_no_memory(args);
    } else {
        status = slopes_write(args, m, &s, &text, &bytes);
        fclose(s.csv);
    }
    free(text);
    json_decref(s.json);
    return status;
}

int cli_reduced_jacobian(cli_args *args)
{
    static const char *const extensions[] = {".csv", NULL};
    cli_model m = {0};
    int cursor = 0;
    for (const char *by; (by = cli_next(args, "by", &cursor));) {
        if (strcmp(by, "commands") != 0) {
            cli_error(args, "--by %s: a reduced model is derived by commands", by);
            return CLI_WRONG;
        }
    }
    int status = cli_reduced_begin(args, extensions, &m);
    status = status ? status : cli_model_commands_read(args, &m);
    status = status ? status : cli_reduced_solve(args, &m);
    if (status == CLI_DONE && m.run.report.outcome != PL_SOLVED) {
        cli_error(args, "not converged, so there is nothing to derive: %s", m.run.report.message);
        status = CLI_BADLY;
    }
    status = status ? status : slopes_derive(args, &m);
    cli_model_close(&m);
    return status;
}
