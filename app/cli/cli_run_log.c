// The log of `pliant run`: a row per tick, and the errors over time as a picture.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli_run.h"

#define NAME_SIZE 120

static bool log_is_table(const char *path)
{
    const char *end = cli_extension(path);
    return strcmp(end, ".csv") == 0 || strcmp(end, ".sqlite") == 0 || strcmp(end, ".db") == 0;
}

// Of a row; in the order of log_names.
static int log_columns(const run *r)
{
    const pl_model_info *info = &r->m.info;
    return 1 + info->command_count + info->sensor_count + 2 * pl_loop_output_count(r->loop) + 6 +
           3 * r->setup.estimator.force_count + 6;
}

// The names of the columns, in the order of log_fill.
static void log_names(const run *r, char (*name)[NAME_SIZE])
{
    const pl_model_info *info = &r->m.info;
    const char *marker = info->marker_name[r->marker];
    int at = 0;

    snprintf(name[at++], NAME_SIZE, "t [s]");
    for (int j = 0; j < info->command_count; ++j) {
        snprintf(name[at++], NAME_SIZE, "%.90s [%s]", info->command[j].name,
                 pl_drive_unit(info->command[j].drive));
    }

    for (int i = 0; i < info->sensor_count; ++i) {
        snprintf(name[at++], NAME_SIZE, "%.90s [%s]", info->sensor_name[i],
                 pl_sensor_unit(info->sensor_kind[i]));
    }

    for (int i = 0; i < pl_loop_output_count(r->loop); ++i) {
        snprintf(name[at++], NAME_SIZE, "set point %d", i + 1);
        snprintf(name[at++], NAME_SIZE, "output %d", i + 1);
    }

    for (int k = 0; k < 6; ++k) {
        snprintf(name[at++], NAME_SIZE, "%.80s.%c%s [mm]", marker, "xyz"[k % 3], k < 3 ? " estimated" : "");
    }
    for (int k = 0; k < 3 * r->setup.estimator.force_count; ++k) {
        snprintf(name[at++], NAME_SIZE, "force at %.80s.%c [N]",
                 info->marker_name[r->setup.estimator.force_marker[k / 3]], "xyz"[k % 3]);
    }

    static const char *const last[] = {"error", "held", "saturated", "outliers", "missing", "busy [ms]"};
    for (int k = 0; k < 6; ++k) {
        snprintf(name[at++], NAME_SIZE, "%s", last[k]);
    }
}

// In the units of the headings.
static void log_fill(run *r, double t, const pl_loop_report *p, double busy)
{
    const pl_model_info *info = &r->m.info;
    const double *command = pl_loop_command(r->loop);
    int at = 0;

    r->row[at++] = t;
    for (int j = 0; j < info->command_count; ++j) {
        r->row[at++] = command[j] / pl_drive_scale(info->command[j].drive);
    }
    for (int i = 0; i < info->sensor_count; ++i) {
        r->row[at++] = r->sensor[i] / pl_sensor_scale(info->sensor_kind[i]);
    }
    for (int i = 0; i < pl_loop_output_count(r->loop); ++i) {
        r->row[at++] = p->set_point[i];
        r->row[at++] = p->output[i];
    }

    for (int k = 0; k < 6; ++k) {
        r->row[at++] = (k < 3 ? p->marker : r->true_marker)[3 * r->marker + k % 3];
    }
    for (int k = 0; k < 3 * r->setup.estimator.force_count; ++k) {
        r->row[at++] = p->force ? p->force[k] : NAN;
    }

    const double last[] = {p->error,    p->control.held, p->control.saturated,
                           p->outliers, p->missing,      1e3 * busy};
    for (int k = 0; k < 6; ++k) {
        r->row[at++] = last[k];
    }
}

// Opened before the run, so that a file that cannot be written is found at once.
int run_log_open(const cli_args *args, run *r)
{
    const int count = log_columns(r);
    char(*name)[NAME_SIZE] = calloc((size_t)count, sizeof *name);
    const char **column = calloc((size_t)count, sizeof *column);
    r->row = calloc((size_t)count, sizeof *r->row);
    int status = name && column && r->row ? CLI_DONE : cli_no_memory(args), cursor = 0;
    if (!status) {
        log_names(r, name);
    }
    for (int i = 0; !status && i < count; ++i) {
        column[i] = name[i];
    }

    for (const char *path; !status && (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        if (!log_is_table(path)) {
            continue;
        }
        if (r->log_count == RUN_LOGS) {
            cli_error(args, "--out %s: more than %d logs", path, RUN_LOGS);
            status = CLI_EXIT_USAGE;
        } else if (pl_run_log_open(path, column, count, &r->log[r->log_count], &err) != PL_OK) {
            status = cli_fail(args, &err);
        } else {
            ++r->log_count;
        }
    }

    free(name);
    free(column);

    return status;
}

int run_log_row(const cli_args *args, run *r, double t, const pl_loop_report *p, double busy)
{
    int status = CLI_DONE;
    if (r->log_count > 0) {
        log_fill(r, t, p, busy);
    }

    for (int i = 0; i < r->log_count; ++i) {
        pl_error err = {0};
        if (pl_run_log_add(r->log[i], r->row, &err) != PL_OK) {
            status = cli_fail(args, &err);
        }
    }

    return status;
}

// The distance is drawn only where the marker is measured.
static pl_status log_picture(const run *r, const char *path, pl_error *err)
{
    const pl_curve curve[] = {{.name = "error of the outputs", .x = r->time, .y = r->error, .count = r->done},
                              {.name = "distance of the marker from its goal, mm",
                               .x = r->time,
                               .y = r->distance,
                               .count = r->done}};
    const pl_plot plot = {.title = r->m.info.name,
                          .x_label = "t, s",
                          .y_label = "mm",
                          .curve = curve,
                          .curve_count = isfinite(r->distance[0]) ? 2 : 1};
    return pl_plot_write(&plot, path, err);
}

// Closes the tables and draws the pictures.
int run_log_write(const cli_args *args, run *r)
{
    int status = CLI_DONE, cursor = 0, log = 0;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        pl_status done = PL_OK;
        if (log_is_table(path) && log < r->log_count) {
            done = pl_run_log_close(r->log[log], &err);
            r->log[log++] = NULL;
        } else {
            done = log_picture(r, path, &err);
        }
        if (done != PL_OK) {
            status = cli_fail(args, &err);
        } else {
            cli_say(args, "  wrote %s\n", path);
        }
    }

    return status;
}
