// pliant calibrate relaxation: the viscous branches (prony) of a material from a relaxation test.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "pliant/calib.h"
#include "pliant/dataset.h"

// What the verb holds; cli_calibrate_relaxation releases all of it.
typedef struct relaxation {
    pl_recording *series;
    double *column; // time, strain, stress: one after another
    pl_relaxation test;
    pl_relaxation_fit fit;
    double tau[PL_PRONY_TERMS];
    int tau_count;    // times given by --times; none: the library chooses them
    const char *unit; // of the stress
} relaxation;

// The stress in MPa, or a force in N, or numbers without a unit.
static pl_status relaxation_stress(relaxation *r, int column, double *out, pl_error *err)
{
    const char *unit = pl_recording_unit(r->series, column);
    pl_error other;
    if (!unit[0]) {
        return pl_recording_column(r->series, column, PL_DIM_NUMBER, out, 1, err);
    }
    if (pl_recording_column(r->series, column, PL_DIM_FORCE, out, 1, &other) == PL_OK) {
        r->unit = "N";
        return PL_OK;
    }
    r->unit = "MPa";

    return pl_recording_column(r->series, column, PL_DIM_STRESS, out, 1, err);
}

// Takes time, strain and stress from a table whose columns may have one of several usual names. Without a
// strain it is constant, as in an ideal test.
static int relaxation_columns(const cli_args *args, const char *path, relaxation *r)
{
    static const char *const time[] = {"t", "time", "t_s", "time_s"}, *const strain[] = {"strain", "stretch"},
                             *const stress[] = {"stress", "force", "load", "modulus"};
    const int t = pl_recording_find(r->series, time, 4), e = pl_recording_find(r->series, strain, 2),
              s = pl_recording_find(r->series, stress, 4), n = pl_recording_count(r->series);
    pl_error err = {0};

    if (t < 0 || s < 0) {
        cli_error(args,
                  "%s: expected columns named t [s] and stress [MPa] (or force [N]), and optionally strain",
                  path);
        return CLI_EXIT_USAGE;
    }

    r->column = calloc(3 * (size_t)n, sizeof *r->column);
    if (!r->column) {
        return cli_no_memory(args);
    }

    pl_status status = pl_recording_column(r->series, t, PL_DIM_TIME, r->column, 1, &err);
    if (status == PL_OK && e >= 0) {
        status = pl_recording_column(r->series, e, PL_DIM_NUMBER, r->column + n, 1, &err);
    }
    status = status == PL_OK ? relaxation_stress(r, s, r->column + 2 * n, &err) : status;
    if (status != PL_OK) {
        return cli_fail(args, &err);
    }

    // a stretch is 1 at rest, a strain 0
    const bool stretch = e >= 0 && pl_recording_find(r->series, strain, 1) != e;
    for (int k = 0; stretch && k < n; ++k) {
        r->column[n + k] -= 1;
    }

    r->test = (pl_relaxation){
        .count = n, .time = r->column, .strain = e >= 0 ? r->column + n : NULL, .stress = r->column + 2 * n};

    return CLI_DONE;
}

// --times 0.1s,1s,10s: relaxation times that are prescribed.
static int relaxation_times(const cli_args *args, relaxation *r)
{
    const char *text = cli_value(args, "times");
    while (text && *text) {
        char one[40];
        const size_t length = strcspn(text, ",");
        pl_error err = {0};
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        if (r->tau_count == PL_PRONY_TERMS ||
            pl_quantity_parse(one, PL_DIM_TIME, &r->tau[r->tau_count], &err) != PL_OK) {
            cli_error(args, "--times: '%s': %s", one,
                      err.text[0] ? err.text : "at most 8 times are possible");
            return CLI_EXIT_USAGE;
        }

        r->tau_count++;
        text += length + (text[length] == ',');
    }

    return CLI_DONE;
}

// The result for people: the branches with their uncertainty, and the line for a robot file.
static void relaxation_print(const cli_args *args, const relaxation *r)
{
    const pl_relaxation_fit *f = &r->fit;
    cli_say(args, "%d rows over %.4g s; long-term modulus %.5g%s%s; rms %.2f %% of the largest stress\n",
            r->test.count, r->test.time[r->test.count - 1] - r->test.time[0], f->modulus,
            r->unit[0] ? " " : "", r->unit, 100 * f->error);

    cli_table table = {0};
    cli_row(&table, "tau s\tg\t+- (95 %%)");
    for (int i = 0; i < f->count; ++i) {
        if (f->g[i] > 0) {
            cli_row(&table, "%.4g\t%.5f\t%.5f", f->tau[i], f->g[i], f->half_width[i]);
        } else {
            cli_row(&table, "%.4g\t0\t-", f->tau[i]);
        }
    }

    cli_table_print(args, &table);

    if (f->correlation > 0.5) {
        cli_say(args,
                "residuals of neighbouring rows are correlated (%.2f): the branches do not follow the test "
                "to its "
                "noise; the intervals account for it\n",
                f->correlation);
    }

    bool evident = false;
    for (int i = 0; i < f->count; ++i) {
        evident = evident || f->g[i] > f->half_width[i];
    }
    if (!evident) {
        cli_say(args,
                "no branch differs from 0 by more than its interval: the test hardly shows relaxation\n");
    }

    cli_say(args, "\nin a robot file (the other constants being the long-term ones):\n  prony: [");
    bool first = true;
    for (int i = 0; i < f->count; ++i) {
        if (f->g[i] > 0) {
            cli_say(args, "%s{g: %.4g, tau: %.4g s}", first ? "" : ", ", f->g[i], f->tau[i]);
            first = false;
        }
    }

    cli_say(args, "]\n");
}

// The result for programs. The caller owns it.
static json_t *relaxation_json(const relaxation *r)
{
    json_t *root = cli_json_head(0, NULL);
    json_object_set_new(root, "modulus", cli_json_number(r->fit.modulus));
    json_object_set_new(root, "unit", json_string(r->unit));
    json_object_set_new(root, "tau_s", cli_json_numbers(r->fit.tau, r->fit.count));
    json_object_set_new(root, "g", cli_json_numbers(r->fit.g, r->fit.count));
    json_object_set_new(root, "half_width", cli_json_numbers(r->fit.half_width, r->fit.count));
    json_object_set_new(root, "error", cli_json_number(r->fit.error));
    json_object_set_new(root, "correlation", cli_json_number(r->fit.correlation));

    return root;
}

// The test and the fitted branches over time.
static int relaxation_plot(const cli_args *args, const relaxation *r, const char *path)
{
    const int n = r->test.count;
    double *y = calloc((size_t)n, sizeof *y);

    if (!y) {
        return cli_no_memory(args);
    }
    for (int k = 0; k < n; ++k) {
        y[k] = pl_relaxation_stress(&r->test, &r->fit, k);
    }

    const pl_curve curve[2] = {{"test", r->test.time, r->test.stress, n, true},
                               {"branches", r->test.time, y, n, false}};
    const pl_plot plot = {
        .title = "relaxation", .x_label = "time (s)", .y_label = "stress", .curve = curve, .curve_count = 2};
    pl_error err = {0};
    const pl_status status = pl_plot_write(&plot, path, &err);
    free(y);
    if (status != PL_OK) {
        return cli_fail(args, &err);
    }
    cli_say(args, "  wrote %s\n", path);

    return CLI_DONE;
}

// Reads, fits, prints and writes.
static int relaxation_work(const cli_args *args, const char *path, relaxation *r)
{
    pl_error err = {0};
    if (pl_recording_read(path, &r->series, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    int status = relaxation_columns(args, path, r);
    status = status ? status : relaxation_times(args, r);
    if (status) {
        return status;
    }
    if (pl_relaxation_calibrate(&r->test, r->tau, r->tau_count, &r->fit, &err) != PL_OK) {
        return cli_fail_file(args, path, &err);
    }

    relaxation_print(args, r);
    int cursor = 0;
    for (const char *out; status == CLI_DONE && (out = cli_next(args, "out", &cursor));) {
        status = relaxation_plot(args, r, out);
    }

    return status ? status : cli_json_write(args, cli_value(args, "json") ? relaxation_json(r) : NULL);
}

int cli_calibrate_relaxation(const cli_args *args, const char *path)
{
    relaxation r = {.unit = ""};
    const int status = relaxation_work(args, path, &r);
    pl_recording_destroy(r.series);
    free(r.column);
    return status;
}
