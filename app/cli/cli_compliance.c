// pliant jacobian --compliance: how efforts and forces move actuators, markers and sensors:
// d(measures, markers, sensors) = W d(efforts, forces at markers), all efforts free.
#include <stdlib.h>
#include <string.h>
#include "cli.h"

// What stands at a row or column.
typedef struct compliance_label {
    char name[120];
    const char *unit;
    double scale; // internal value of one unit
} compliance_label;

// Names and units in the order of the library's matrix: actuators, markers by component, sensors (rows only).
static void compliance_labels(const pl_model_info *info, compliance_label *row, compliance_label *column)
{
    int r = 0, c = 0;
    for (int a = 0; a < info->actuator_count; ++a) {
        const pl_actuator_info *actuator = &info->actuator[a];
        const pl_actuator_kind_info *kind = pl_actuator_kind_get(actuator->kind);
        snprintf(row[r].name, sizeof row[r].name, "%s.%s", actuator->name,
                 kind->sign > 0 ? "shortening" : kind->measure);
        row[r].unit = kind->measure_unit;
        row[r++].scale = kind->measure_scale;
        snprintf(column[c].name, sizeof column[c].name, "%s", actuator->name);
        column[c].unit = kind->effort_unit;
        column[c++].scale = kind->effort_scale;
    }

    for (int k = 0; k < 3 * info->marker_count; ++k) {
        snprintf(row[r].name, sizeof row[r].name, "%s.%c", info->marker_name[k / 3], 'x' + k % 3);
        row[r].unit = "mm";
        row[r++].scale = 1;
        snprintf(column[c].name, sizeof column[c].name, "force at %s.%c", info->marker_name[k / 3],
                 'x' + k % 3);
        column[c].unit = "N";
        column[c++].scale = 1;
    }

    for (int s = 0; s < info->sensor_count; ++s) {
        snprintf(row[r].name, sizeof row[r].name, "%s", info->sensor_name[s]);
        row[r].unit = pl_sensor_unit(info->sensor_kind[s]);
        row[r++].scale = pl_sensor_scale(info->sensor_kind[s]);
    }
}

// Names and units for programs.
static json_t *compliance_names(const compliance_label *label, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; ++i) {
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(label[i].name));
        json_object_set_new(one, "unit", json_string(label[i].unit));
        json_array_append_new(list, one);
    }

    return list;
}

// W as a table; columns that do not fit the line are left out, files have them all.
static void compliance_print(const cli_args *args, const cli_model *m, const double *W,
                             const compliance_label *row, const compliance_label *column, int rows, int n)
{
    char text[2000];
    cli_commands_text(cli_model_commands(m), m->command, text, 900);
    cli_say(args, "%s at %s: compliance, all efforts free\n\n", m->info.name, text);

    cli_table table = {0};
    snprintf(text, sizeof text, "of\tin");
    for (int j = 0; j < n && strlen(text) < 1800; ++j) {
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "\tper %s of %s", column[j].unit, column[j].name);
    }

    cli_row(&table, "%s", text);

    for (int i = 0; i < rows; ++i) {
        snprintf(text, sizeof text, "%s\t%s", row[i].name, row[i].unit);
        for (int j = 0; j < n && strlen(text) < 1950; ++j) {
            const size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "\t%.5g", W[i * n + j] + 0.0);
        }

        cli_row(&table, "%s", text);
    }

    cli_table_print(args, &table);
}

// W as .csv; made in memory, so that the file is never half of it.
static int compliance_csv(const cli_args *args, const char *path, const double *W,
                          const compliance_label *row, const compliance_label *column, int rows, int n)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *csv = open_memstream(&text, &bytes);

    if (!csv) {
        return cli_no_memory(args);
    }

    fprintf(csv, "of");
    for (int j = 0; j < n; ++j) {
        fprintf(csv, ",per %s of %s", column[j].unit, column[j].name);
    }

    for (int i = 0; i < rows; ++i) {
        fprintf(csv, "\n%s [%s]", row[i].name, row[i].unit);
        for (int j = 0; j < n; ++j) {
            fprintf(csv, ",%.15g", W[i * n + j]);
        }
    }

    fputc('\n', csv);
    return cli_file_finish(args, path, csv, &text, &bytes);
}

// The record of `pliant fk` with W added. The caller owns it.
static json_t *compliance_json(cli_model *m, const double *W, const compliance_label *row,
                               const compliance_label *column, int rows, int n,
                               const pl_jacobian_report *report)
{
    json_t *root = cli_record_json(m), *all = json_object(), *matrix = json_array();
    for (int i = 0; i < rows; ++i) {
        json_array_append_new(matrix, cli_json_numbers(W + i * n, n));
    }
    json_object_set_new(all, "outputs", compliance_names(row, rows));
    json_object_set_new(all, "inputs", compliance_names(column, n));
    json_object_set_new(all, "W", matrix);
    json_object_set_new(all, "residual", cli_json_number(report->residual));
    json_object_set_new(all, "factorizations", json_integer(report->factorizations));
    json_object_set_new(all, "solves", json_integer(report->solves));
    json_object_set_new(root, "compliance", all);

    return root;
}

// Computes W at the solved state of the model, prints and writes it.
int cli_compliance(const cli_args *args, cli_model *m)
{
    const int rows = pl_compliance_rows(m->model), n = pl_compliance_columns(m->model);
    double *W = calloc((size_t)rows * (size_t)n + 1, sizeof *W);
    compliance_label *row = calloc((size_t)rows + 1, sizeof *row),
                     *column = calloc((size_t)n + 1, sizeof *column);
    pl_jacobian_report report;
    pl_error err = {0};
    int status = W && row && column ? CLI_DONE : cli_no_memory(args);

    if (!status && pl_compliance(m->model, W, &report, &err) != PL_OK) {
        status = cli_fail(args, &err);
    }

    // to the units people use: per unit of the column, in units of the row
    if (!status) {
        compliance_labels(&m->info, row, column);
        for (int i = 0; i < rows * n; ++i) {
            W[i] *= column[i % n].scale / row[i / n].scale;
        }
        compliance_print(args, m, W, row, column, rows, n);
        cli_say(args, "\n  exact: linear systems solved to %.1e; %d factorizations, %d solves\n",
                report.residual, report.factorizations, report.solves);
        int cursor = 0;
        for (const char *path; !status && (path = cli_next(args, "out", &cursor));) {
            status = compliance_csv(args, path, W, row, column, rows, n);
        }
        json_t *root =
            !status && cli_value(args, "json") ? compliance_json(m, W, row, column, rows, n, &report) : NULL;
        status = status ? status : cli_json_write(args, root);
    }

    free(W);
    free(row);
    free(column);

    return status;
}
