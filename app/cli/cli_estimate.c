// pliant estimate: the shape that fits measured sensors and markers, row by row of a table.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static const cli_option options[] = {
    {"read", 0, "FILE",
     "table of readings: commands, sensors, markers by name (`air [kPa]`, `s1 [mm]`, `tip.x`)", NULL},
    {"noise", 0, "NAME=VALUE",
     "standard deviation of a sensor, or of a marker's coordinates; may be repeated", NULL},
    {"command-sigma", 0, "FRACTION",
     "how far the true commands may be from those sent, as a fraction of their range (default 0.02; 0: "
     "exact)",
     NULL, CLI_NUMBER(PL_DIM_NUMBER, 0, 10)},
    {"force-at", 0, "MARKER", "an unknown force acts at this marker; may be repeated", NULL},
    {"force-sigma", 0, "FORCE", "expected size of the unknown forces (default: anything)", NULL,
     CLI_NUMBER(PL_DIM_FORCE, 1e-9, 1e9)},
    {"recursive", 0, NULL, "the rows are a stream: each estimate starts from the one before", NULL},
    {"force-drift", 0, "FORCE", "with --recursive: how much a force may change from row to row", NULL,
     CLI_NUMBER(PL_DIM_FORCE, 0, 1e9)},
    {"command-drift", 0, "FRACTION", "with --recursive: the same for the commands", NULL,
     CLI_NUMBER(PL_DIM_NUMBER, 0, 10)},
    {"outlier", 0, "N", "readings more than N sigmas off count less (default 4; 0: never)", NULL,
     CLI_WHOLE(0, 1000)},
    {"place", 0, "MARKER", "instead: which sensors determine this marker best, at the commands of the rows",
     NULL},
    {"out", 0, "FILE", "write the estimates as .csv", NULL},
    CLI_JSON,
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};
static const char *const extensions[] = {".csv", NULL};

#define ESTIMATE_MARKER_NOISE 0.2 // mm

// One run; `measured` and `value` are parallel.
typedef struct work {
    cli_model m;
    pl_control_setup setup;
    pl_readings readings;
    pl_estimator_options options;
    pl_measurement *measured; // sensors, then coordinates of markers
    double *value;
    pl_estimator *estimator;
    double *marker_noise;
    int bad, outliers, missing; // rows; readings
    int blind;                  // rows without a reading
    int contradicted;           // rows in which no shape agrees with most readings and with the commands
    double worst_fit;           // sigmas; NAN: no reading was used
    bool surrogate;             // its own error is reported beside the error bars
    int unknown;                // rows where it is not known
    double worst_error;         // mm, the largest known, of the first marker
    FILE *csv;
    char *csv_text;
    size_t csv_bytes;
    json_t *json;
} work;

// Of sensors in their units, of markers in mm.
static int estimate_noise(const cli_args *args, work *w)
{
    int cursor = 0;

    for (const char *text; (text = cli_next(args, "noise", &cursor));) {
        const char *equals = strchr(text, '=');
        char name[120];
        if (!equals || equals == text || (size_t)(equals - text) >= sizeof name) {
            cli_error(args, "--noise %s: expected NAME=VALUE, for example s1=0.2mm", text);
            return CLI_EXIT_USAGE;
        }

        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);

        // a name of either; sensors go first
        const int sensor = pl_model_find_sensor(w->m.model, name),
                  marker = pl_model_find_marker(w->m.model, name);
        if (sensor < 0 && marker < 0) {
            const char *near = cli_nearest(name, w->m.info.sensor_name, w->m.info.sensor_count);
            cli_error(args, "--noise: there is no sensor or marker '%s'%s%s%s", name,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
            return CLI_EXIT_USAGE;
        }

        // in the unit of what is measured
        double value;
        pl_error err;
        if (pl_quantity_parse(
                equals + 1, sensor >= 0 ? pl_sensor_dimension(w->m.info.sensor_kind[sensor]) : PL_DIM_LENGTH,
                &value, &err) != PL_OK ||
            !(value > 0)) {
            cli_error(args, "--noise %s: expected a value greater than 0 with its unit", text);
            return CLI_EXIT_USAGE;
        }

        *(sensor >= 0 ? &w->setup.measured[sensor].sigma : &w->marker_noise[marker]) = value;
    }

    return CLI_DONE;
}

static int estimate_read_options(const cli_args *args, work *w)
{
    const pl_model_info *info = &w->m.info;
    w->options = w->setup.estimator;
    double fraction = -1;
    int outlier = -1;
    if (!cli_number(args, "command-sigma", &fraction) ||
        !cli_number(args, "force-sigma", &w->options.force_sigma) ||
        !cli_number(args, "force-drift", &w->options.force_drift) ||
        !cli_number(args, "command-drift", &w->options.command_drift) ||
        !cli_whole(args, "outlier", &outlier)) {
        return CLI_EXIT_USAGE;
    }

    for (int j = 0; fraction >= 0 && j < info->command_count; ++j) {
        w->setup.command_sigma[j] = fraction * (info->command[j].span[1] - info->command[j].span[0]);
    }
    w->options.outlier = outlier >= 0 ? outlier : w->options.outlier;
    w->options.recursive = w->options.recursive || cli_flag(args, "recursive");

    static const char *const drift[] = {"force-drift", "command-drift"};
    for (int k = 0; k < 2; ++k) {
        if (cli_value(args, drift[k]) && !w->options.recursive) {
            cli_error(args, "--%s is for --recursive", drift[k]);
            return CLI_EXIT_USAGE;
        }
    }

    return CLI_DONE;
}

// Markers of --force-at, or those of the file.
static int estimate_forces(const cli_args *args, work *w, int **marker)
{
    int cursor = 0, count = 0;
    *marker = calloc((size_t)w->m.info.marker_count + 1, sizeof **marker);
    if (!*marker) {
        return cli_no_memory(args);
    }

    for (const char *name; (name = cli_next(args, "force-at", &cursor));) {
        const int k = cli_model_marker(args, &w->m, "force-at", name);
        if (k < 0 || count >= w->m.info.marker_count) {
            return CLI_EXIT_USAGE;
        }
        (*marker)[count++] = k;
    }

    if (count > 0) {
        w->options.force_marker = *marker;
        w->options.force_count = count;
    }

    return CLI_DONE;
}

// What the table has columns for.
static int estimate_measured(const cli_args *args, work *w)
{
    const pl_model_info *info = &w->m.info;
    w->measured =
        calloc((size_t)info->sensor_count + 3 * (size_t)info->marker_count + 1, sizeof *w->measured);
    w->value = calloc((size_t)info->sensor_count + 3 * (size_t)info->marker_count + 1, sizeof *w->value);
    if (!w->measured || !w->value) {
        return cli_no_memory(args);
    }

    int count = 0;
    for (int i = 0; i < info->sensor_count; ++i) {
        if (w->readings.has_sensor[i] || cli_value(args, "place")) {
            w->measured[count++] = w->setup.measured[i];
        }
    }

    for (int k = 0; !cli_value(args, "place") && k < 3 * info->marker_count; ++k) {
        if (w->readings.has_marker[k / 3]) {
            w->measured[count++] =
                (pl_measurement){PL_MEASUREMENT_MARKER, k / 3, k % 3, w->marker_noise[k / 3]};
        }
    }

    if (count == 0) {
        cli_error(args, "%s has no column of a sensor or marker, so there is nothing to fit",
                  cli_value(args, "read"));
        return CLI_EXIT_USAGE;
    }

    w->options.measured = w->measured;
    w->options.measured_count = count;

    return CLI_DONE;
}

// ---- one row
static void estimate_csv_head(work *w)
{
    const pl_model_info *info = &w->m.info;
    fprintf(w->csv, "row,t [s]");
    for (int j = 0; j < info->command_count; ++j) {
        const char *unit = pl_drive_unit(info->command[j].drive);
        fprintf(w->csv, ",%s [%s],%s sigma [%s]", info->command[j].name, unit, info->command[j].name, unit);
    }

    for (int k = 0; k < info->marker_count; ++k) {
        for (int i = 0; i < 3; ++i) {
            fprintf(w->csv, ",%s.%c [mm],%s.%c sigma [mm]", info->marker_name[k], 'x' + i,
                    info->marker_name[k], 'x' + i);
        }
    }

    for (int k = 0; k < 3 * w->options.force_count; ++k) {
        const char *name = info->marker_name[w->options.force_marker[k / 3]];
        fprintf(w->csv, ",force at %s.%c [N],force at %s.%c sigma [N]", name, 'x' + k % 3, name, 'x' + k % 3);
    }

    for (int k = 0; w->surrogate && k < info->marker_count; ++k) {
        fprintf(w->csv, ",%s.model_error [mm]", info->marker_name[k]);
    }

    fprintf(w->csv, "%s,fit,used,missing,outliers,converged,contradicted\n",
            w->surrogate ? ",model_confidence [1]" : "");
}

// Whether no shape agrees with most readings and with the commands.
static bool estimate_is_contradicted(const pl_estimate *e)
{
    return e->contradicted || e->outliers > e->used;
}

// Sigmas beside every value.
static void estimate_csv_row(work *w, int row, const pl_estimate *e)
{
    const pl_model_info *info = &w->m.info;
    fprintf(w->csv, "%d,%.9g", row + 1, w->readings.time[row]);
    for (int j = 0; j < info->command_count; ++j) {
        const double scale = pl_drive_scale(info->command[j].drive);
        fprintf(w->csv, ",%.9g,%.4g", e->command[j] / scale, e->command_sigma[j] / scale);
    }

    for (int k = 0; k < 3 * info->marker_count; ++k) {
        fprintf(w->csv, ",%.9g,%.4g", e->marker[k], e->marker_sigma[k]);
    }
    for (int k = 0; k < 3 * w->options.force_count; ++k) {
        fprintf(w->csv, ",%.9g,%.4g", e->force[k], e->force_sigma[k]);
    }
    const pl_answer_error error = pl_model_get_answer(w->m.model).error;
    for (int k = 0; w->surrogate && k < info->marker_count; ++k) {
        fprintf(w->csv, isfinite(error.marker[k]) ? ",%.4g" : ",", error.marker[k]);
    }
    if (w->surrogate) {
        fprintf(w->csv, isfinite(error.confidence) ? ",%g" : ",", error.confidence);
    }
    fprintf(w->csv, isfinite(e->fit) ? ",%.4g" : ",", e->fit);
    fprintf(w->csv, ",%d,%d,%d,%d,%d\n", e->used, e->missing, e->outliers, e->converged,
            estimate_is_contradicted(e));
}

static json_t *estimate_json_row(work *w, int row, const pl_estimate *e)
{
    const pl_model_info *info = &w->m.info;
    json_t *one = json_object(), *commands = json_object(), *markers = json_object(), *forces = json_object();

    for (int j = 0; j < info->command_count; ++j) {
        const double scale = pl_drive_scale(info->command[j].drive);
        json_t *c = json_object();
        json_object_set_new(c, "value", cli_json_number(e->command[j] / scale));
        json_object_set_new(c, "sigma", cli_json_number(e->command_sigma[j] / scale));
        json_object_set_new(c, "unit", json_string(pl_drive_unit(info->command[j].drive)));
        json_object_set_new(commands, info->command[j].name, c);
    }

    for (int k = 0; k < info->marker_count; ++k) {
        json_t *c = json_object();
        json_object_set_new(c, "position", cli_json_numbers(e->marker + 3 * k, 3));
        json_object_set_new(c, "sigma", cli_json_numbers(e->marker_sigma + 3 * k, 3));
        if (w->surrogate) {
            json_object_set_new(c, "model_error",
                                cli_json_number(pl_model_get_answer(w->m.model).error.marker[k]));
        }
        json_object_set_new(markers, info->marker_name[k], c);
    }

    for (int k = 0; k < w->options.force_count; ++k) {
        json_t *c = json_object();
        json_object_set_new(c, "force", cli_json_numbers(e->force + 3 * k, 3));
        json_object_set_new(c, "sigma", cli_json_numbers(e->force_sigma + 3 * k, 3));
        json_object_set_new(forces, info->marker_name[w->options.force_marker[k]], c);
    }

    json_object_set_new(one, "row", json_integer(row + 1));
    json_object_set_new(one, "time", cli_json_number(w->readings.time[row]));
    json_object_set_new(one, "converged", json_boolean(e->converged));
    json_object_set_new(one, "commands", commands);
    json_object_set_new(one, "markers", markers);
    json_object_set_new(one, "forces", forces);
    json_object_set_new(one, "fit", cli_json_number(e->fit));
    json_object_set_new(one, "used", json_integer(e->used));
    json_object_set_new(one, "missing", json_integer(e->missing));
    json_object_set_new(one, "outliers", json_integer(e->outliers));
    json_object_set_new(one, "contradicted", json_boolean(estimate_is_contradicted(e)));
    json_object_set_new(one, "unseen_directions", json_integer(e->unseen_count));
    json_object_set_new(one, "iterations", json_integer(e->iterations));

    return one;
}

// The table for people has the first marker only, and ends before a line gets too long.
static void estimate_print_row(const cli_args *args, const work *w, int row, const pl_estimate *e,
                               cli_table *table)
{
    const pl_model_info *info = &w->m.info;
    (void)args;
    char text[600];

    if (row == 0) {
        snprintf(text, sizeof text, "row");
        for (int j = 0; j < info->command_count && strlen(text) < 300; ++j) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "\t%s %s", info->command[j].name,
                     pl_drive_unit(info->command[j].drive));
        }

        for (int k = 0; k < w->options.force_count && strlen(text) < 400; ++k) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "\tforce at %s N",
                     info->marker_name[w->options.force_marker[k]]);
        }

        if (info->marker_count > 0) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "\t%s mm\t+- mm%s",
                     info->marker_name[0], w->surrogate ? "\tmodel error mm" : "");
        }
        cli_row(table, "%s\tfit\toff", text);
    }

    // the row
    snprintf(text, sizeof text, "%d", row + 1);
    for (int j = 0; j < info->command_count && strlen(text) < 300; ++j) {
        const double scale = pl_drive_scale(info->command[j].drive);
        if (isnan(e->command[j])) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "\tidle");
            continue;
        }

        snprintf(text + strlen(text), sizeof text - strlen(text), "\t%.4g +- %.2g", e->command[j] / scale,
                 e->command_sigma[j] / scale);
    }

    for (int k = 0; k < w->options.force_count && strlen(text) < 400; ++k) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "\t%.3g, %.3g, %.3g", e->force[3 * k],
                 e->force[3 * k + 1], e->force[3 * k + 2]);
    }

    if (info->marker_count > 0) {
        const double *s = e->marker_sigma;
        snprintf(text + strlen(text), sizeof text - strlen(text), "\t%.2f, %.2f, %.2f\t%.2g", e->marker[0],
                 e->marker[1], e->marker[2], sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]));
    }

    if (info->marker_count > 0 && w->surrogate) {
        const double error = pl_model_get_answer(w->m.model).error.marker[0];
        snprintf(text + strlen(text), sizeof text - strlen(text), isfinite(error) ? "\t%.2g" : "\t-", error);
    }

    cli_row(table, "%s\t%.2f\t%d", text, e->fit, e->outliers);
}

// Readings of a row in the order of w->measured.
static void estimate_gather(work *w, int row)
{
    const pl_model_info *info = &w->m.info;
    for (int i = 0; i < w->options.measured_count; ++i) {
        const pl_measurement *m = &w->measured[i];
        w->value[i] = m->kind == PL_MEASUREMENT_SENSOR
                          ? w->readings.sensor[row * info->sensor_count + m->index]
                          : w->readings.marker[(row * info->marker_count + m->index) * 3 + m->axis];
    }
}

// The error of a surrogate at the shape of the row.
static void estimate_count_error(work *w)
{
    if (w->surrogate && w->m.info.marker_count > 0) {
        const double error = pl_model_get_answer(w->m.model).error.marker[0];
        w->unknown += isnan(error);
        w->worst_error = fmax(w->worst_error, error);
    }
}

// A row that cannot be solved ends the run: with --recursive the next ones would start from it.
static int estimate_rows(const cli_args *args, work *w)
{
    cli_table table = {0};
    int status = CLI_DONE;
    const int shown = 40;
    pl_estimate e = {0};

    cli_stage("estimating", false);
    for (int row = 0; !status && row < w->readings.count && !cli_interrupted(); ++row) {
        cli_progress_part(row, w->readings.count, "row %d of %d", row + 1, w->readings.count);
        estimate_gather(w, row);
        pl_error err = {0};
        if (pl_estimator_update(w->estimator, w->readings.command + row * w->m.info.command_count, w->value,
                                &e, &err) != PL_OK) {
            cli_progress_done();
            cli_error(args, "%s:%d: %s", cli_value(args, "read"), w->readings.line[row], err.text);
            status = err.status == PL_NO_MEMORY ? CLI_EXIT_SYSTEM : CLI_EXIT_UNSOLVED;
            break;
        }

        // counts, then outputs
        w->bad += !e.converged;
        w->blind += e.used + e.outliers == 0;
        w->contradicted += estimate_is_contradicted(&e);
        w->outliers += e.outliers;
        w->missing += e.missing;
        w->worst_fit = fmax(w->worst_fit, e.fit);
        estimate_count_error(w);
        if (row < shown) {
            estimate_print_row(args, w, row, &e, &table);
        }
        if (w->csv) {
            estimate_csv_row(w, row, &e);
        }
        if (w->json) {
            json_array_append_new(w->json, estimate_json_row(w, row, &e));
        }
    }

    // summary
    cli_stage(NULL, false);
    cli_say(args, "%s: estimates from %d readings a row\n\n", w->m.info.name, w->options.measured_count);
    cli_table_print(args, &table);
    if (w->readings.count > shown) {
        cli_say(args, "  ... %d more rows (--out FILE.csv writes all)\n", w->readings.count - shown);
    }
    cli_say(args, "\n  %d row%s: %d not converged, %d outlier%s, %d missing reading%s; ", w->readings.count,
            w->readings.count == 1 ? "" : "s", w->bad, w->outliers, w->outliers == 1 ? "" : "s", w->missing,
            w->missing == 1 ? "" : "s");
    if (isnan(w->worst_fit)) {
        cli_say(args, "no reading was used\n");
    } else {
        cli_say(args, "largest fit %.2f sigmas\n", w->worst_fit);
    }
    if (w->surrogate && w->unknown > 0) {
        cli_say(args,
                "  of a %s model whose error is not known in %d rows; the error bars do not include it\n",
                w->m.info.kind, w->unknown);
    } else if (w->surrogate) {
        cli_say(args,
                "  of a %s model, which is itself off by up to %.2g mm; the error bars do not include it\n",
                w->m.info.kind, w->worst_error);
    }

    if (w->blind > 0) {
        cli_error(args, "%d of %d rows have no reading: their shapes are those of the commands sent",
                  w->blind, w->readings.count);
    }
    if (w->contradicted > 0) {
        cli_error(
            args,
            "in %d of %d rows the readings contradict the model and the commands: no shape agrees with them",
            w->contradicted, w->readings.count);
    }

    if (e.unseen_count > 0) {
        cli_say(args,
                "  %d of %d unknown directions are not seen by the readings; the least known has a standard "
                "deviation of %.3g (%s)\n",
                e.unseen_count, e.unknown_count, e.weakest_sigma, "fractions of ranges, N");
    }

    status = status                                                                   ? status
             : cli_interrupted() || w->bad > 0 || w->blind > 0 || w->contradicted > 0 ? CLI_EXIT_UNSOLVED
                                                                                      : CLI_DONE;

    return status;
}

// Which sensor helps most, then which one in addition, and so on.
static int estimate_place(const cli_args *args, work *w)
{
    const int marker = cli_model_marker(args, &w->m, "place", cli_value(args, "place"));
    const int n = w->options.measured_count;
    int *order = calloc((size_t)n + 1, sizeof *order);
    double *sigma = calloc((size_t)n + 1, sizeof *sigma);
    pl_error err = {0};
    int status = marker < 0 ? CLI_EXIT_USAGE : order && sigma ? CLI_DONE : cli_no_memory(args);

    // greedy: each further sensor is the one that lowers the error most
    if (!status && pl_estimator_place(w->estimator, w->readings.command, w->readings.count, marker, order,
                                      sigma, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }

    cli_progress_done();

    // a row holds its sensor and all above it
    if (!status) {
        cli_say(args, "%s: sensors in the order of how well they determine %s, over %d poses\n\n",
                w->m.info.name, cli_value(args, "place"), w->readings.count);
        cli_table table = {0};
        cli_row(&table, "sensor\terror of %s with these, mm", cli_value(args, "place"));

        for (int k = 0; k < n; ++k) {
            cli_row(&table, "%s%s\t%.4g", k ? "and " : "", w->m.info.sensor_name[w->measured[order[k]].index],
                    sigma[k]);
            if (w->json) {
                json_t *one = json_object();
                json_object_set_new(one, "sensor",
                                    json_string(w->m.info.sensor_name[w->measured[order[k]].index]));
                json_object_set_new(one, "error", cli_json_number(sigma[k]));
                json_array_append_new(w->json, one);
            }
        }

        cli_table_print(args, &table);
    }

    free(order);
    free(sigma);

    return status;
}

static int estimate_write(const cli_args *args, work *w)
{
    const char *path = cli_value(args, "out");
    if (!path) {
        return CLI_DONE;
    }

    pl_error err = {.status = PL_NO_MEMORY};
    fflush(w->csv);
    if (ferror(w->csv) || pl_file_write(path, w->csv_text, w->csv_bytes, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    cli_say(args, "  wrote %s\n", path);

    return CLI_DONE;
}

// Options, table and robot first; the estimator last.
static int estimate_work(const cli_args *args, work *w, int **force_marker)
{
    pl_error err = {0};
    int status = cli_setup(args);

    if (!status && !cli_value(args, "read")) {
        cli_error(args, "--read FILE is missing: a table of readings");
        status = CLI_EXIT_USAGE;
    }

    status = status ? status : cli_check_outputs(args, extensions, NULL, cli_value(args, "read"));
    status = status ? status : cli_model_open(args, args->plain[0], &w->m);
    status = status ? status : cli_check_outputs(args, NULL, w->m.path, NULL);
    if (!status && pl_control_from_document(w->m.document, w->m.model, &w->setup, NULL, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }
    if (!status && pl_readings_read(cli_value(args, "read"), w->m.model, &w->readings, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }
    w->marker_noise = status ? NULL : calloc((size_t)w->m.info.marker_count + 1, sizeof *w->marker_noise);
    if (!status && !w->marker_noise) {
        status = cli_no_memory(args);
    }
    for (int k = 0; w->marker_noise && k < w->m.info.marker_count; ++k) {
        w->marker_noise[k] = ESTIMATE_MARKER_NOISE;
    }
    status = status ? status : estimate_noise(args, w);
    status = status ? status : estimate_read_options(args, w);
    status = status ? status : estimate_forces(args, w, force_marker);
    status = status ? status : estimate_measured(args, w);
    if (!status && pl_estimator_create(w->m.model, &w->options, &w->estimator, &err) != PL_OK) {
        status = cli_fail_file(args, w->m.path, &err);
    }
    if (status) {
        return status;
    }

    const pl_model_answer answer = pl_model_get_answer(w->m.model);
    w->surrogate = pl_answer_has_error(&answer);

    // outputs are opened before the rows are solved
    w->json = cli_value(args, "json") ? json_array() : NULL;
    if (cli_value(args, "out")) {
        w->csv = open_memstream(&w->csv_text, &w->csv_bytes);
        if (!w->csv) {
            return cli_no_memory(args);
        }
        estimate_csv_head(w);
    }

    // rows, or placement
    const bool place = cli_value(args, "place") != NULL;
    status = place ? estimate_place(args, w) : estimate_rows(args, w);
    const int written = status <= CLI_EXIT_UNSOLVED && !place ? estimate_write(args, w) : CLI_DONE;

    if (w->json) {
        json_t *root = cli_json_head(w->m.info.robot_hash, w->m.findings);
        json_object_set_new(root, place ? "placement" : "estimates", w->json);
        w->json = NULL;
        const int json = cli_json_write(args, root);
        status = status ? status : json;
    }

    return written ? written : status;
}

static int estimate_run(cli_args *args)
{
    work w = {.worst_fit = NAN};
    int *force_marker = NULL;
    const int status = estimate_work(args, &w, &force_marker);

    if (w.csv) {
        fclose(w.csv);
    }
    free(w.csv_text);
    json_decref(w.json);
    free(w.measured);
    free(w.value);
    free(w.marker_noise);
    free(force_marker);
    pl_estimator_destroy(w.estimator);
    pl_readings_clear(&w.readings);
    pl_control_clear(&w.setup);
    cli_model_close(&w.m);

    return status;
}

const cli_verb cli_verb_estimate = {
    .name = "estimate",
    .summary = "the shape, commands and forces that fit measured sensors and markers",
    .usage = "ROBOT --read FILE [options]",
    .about = "For each row of a table of readings, finds the commands and (with --force-at) the forces that\n"
             "really act, so that the model's sensors and markers agree with the measured ones, weighted by\n"
             "their noise (key `noise` of a sensor, or --noise). Prints error bars, outliers, missing\n"
             "readings and what the readings do not determine. With --place it ranks the sensors instead.",
    .examples = "  pliant estimate trunk --read strings.csv --force-at tip --out shapes.csv\n"
                "  pliant estimate trunk --read poses.csv --place tip\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = estimate_run,
};
