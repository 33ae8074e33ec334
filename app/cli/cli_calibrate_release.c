// pliant calibrate release: constants of a robot from the motion of its markers after it was let go, on the
// full body: stiffness from the frequency, viscous weights (prony) from ring-down and creep.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "pliant/calib.h"
#include "pliant/dataset.h"
#include "pliant/simulation.h"

#define RELEASE_HELD_ROWS 3 // at the start of a run: the body is held
#define RELEASE_CHANNELS 48
#define RELEASE_UNCERTAIN 0.5   // of the value: a constant that the runs hardly determine
#define RELEASE_INSEPARABLE 0.9 // correlation of two constants

// What the verb holds; cli_calibrate_release releases all of it.
typedef struct releasing {
    const cli_args *args;
    char *path;
    pl_robot_document *document;
    pl_findings *findings;
    pl_model_load_options options;
    char key[PL_RELEASE_PARAMETERS][120], name[PL_RELEASE_PARAMETERS][80], unit[PL_RELEASE_PARAMETERS][16];
    double value[PL_RELEASE_PARAMETERS];
    int count;
    // coordinates of markers that the first run has: marker and axis
    int marker[RELEASE_CHANNELS], axis[RELEASE_CHANNELS], channels;
    char channel[RELEASE_CHANNELS][80];
    pl_release_run run[PL_RELEASE_RUNS];
    double *table[PL_RELEASE_RUNS]; // times, then displacements
    int runs;
    double step;
    pl_release_def def;
    pl_release_report report;
    double *response;
} releasing;

// ---- reading
// --free: MATERIAL.CONSTANT, MATERIAL.prony.0.g, or the path of any positive number in the robot file.
static int release_parameters(releasing *r)
{
    const cli_args *args = r->args;
    const char *text = cli_value(args, "free");

    if (!text) {
        cli_error(args, "release: --free is missing: which constants (silicone.young,silicone.prony.0.g)?");
        return CLI_EXIT_USAGE;
    }
    while (*text) {
        const size_t length = strcspn(text, ",");
        pl_error err = {0};
        if (r->count == PL_RELEASE_PARAMETERS) {
            cli_error(args, "--free: more than %d parameters", PL_RELEASE_PARAMETERS);
            return CLI_EXIT_USAGE;
        }

        const int k = r->count++;
        snprintf(r->name[k], sizeof r->name[k], "%.*s", (int)fmin((double)length, 79), text);
        snprintf(r->key[k], sizeof r->key[k], "materials.%.*s", (int)fmin((double)length, 79), text);

        if (pl_robot_document_number(r->document, r->key[k], &r->value[k], r->unit[k], &err) != PL_OK) {
            memcpy(r->key[k], r->name[k], sizeof r->name[k]);
            if (pl_robot_document_number(r->document, r->key[k], &r->value[k], r->unit[k], &err) != PL_OK) {
                return cli_fail(args, &err);
            }
        }

        if (!(r->value[k] > 0)) {
            cli_error(args, "--free %s: it begins at %g, must be positive", r->name[k], r->value[k]);
            return CLI_EXIT_USAGE;
        }

        text += length + (text[length] == ',');
    }

    return CLI_DONE;
}

// Columns NAME.x, NAME.y, NAME.z of markers.
static int release_channels(releasing *r, const pl_recording *series, const pl_model_info *info)
{
    for (int k = 0; k < 3 * info->marker_count && r->channels < RELEASE_CHANNELS; ++k) {
        char name[80];
        const char *const one = name;
        snprintf(name, sizeof name, "%.70s.%c", info->marker_name[k / 3], "xyz"[k % 3]);

        if (pl_recording_find(series, &one, 1) >= 0) {
            r->marker[r->channels] = k / 3;
            r->axis[r->channels] = k % 3;
            memcpy(r->channel[r->channels++], name, sizeof name);
        }
    }

    if (r->channels == 0) {
        cli_error(r->args, "%s: no column is a coordinate of a marker of the robot (tip.x [mm])",
                  r->args->plain[2]);
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Times and displacements of a run, from the mean of its first rows.
static int release_take(releasing *r, const pl_recording *series, const char *path)
{
    static const char *const time[] = {"t", "time", "t_s", "time_s"};
    const int t = pl_recording_find(series, time, 4), C = r->channels, n = pl_recording_count(series);
    int column[RELEASE_CHANNELS];
    pl_error err = {0};

    for (int c = 0; c < C; ++c) {
        const char *const one = r->channel[c];
        column[c] = pl_recording_find(series, &one, 1);
        if (t < 0 || column[c] < 0) {
            cli_error(r->args, "%s: there is no column %s", path, t < 0 ? "t [s]" : r->channel[c]);
            return CLI_EXIT_USAGE;
        }
    }

    double *table = calloc((size_t)n * (size_t)(1 + C) + 1, sizeof *table);
    if (!table) {
        return cli_no_memory(r->args);
    }
    double *moved = table + n;
    pl_status status = pl_recording_column(series, t, PL_DIM_TIME, table, 1, &err);

    for (int c = 0; c < C && status == PL_OK; ++c) {
        status = pl_recording_column(series, column[c], PL_DIM_LENGTH, moved + c, C, &err);
        double held = 0;
        const int rows = n < RELEASE_HELD_ROWS ? n : RELEASE_HELD_ROWS;
        for (int k = 0; k < rows; ++k) {
            held += moved[k * C + c] / rows;
        }
        for (int k = 0; k < n; ++k) {
            moved[k * C + c] -= held;
        }
    }

    if (status != PL_OK) {
        free(table);
        return cli_fail(r->args, &err);
    }

    r->table[r->runs] = table;
    r->run[r->runs++] = (pl_release_run){.count = n, .time = table, .moved = moved};

    return CLI_DONE;
}

static int release_runs(releasing *r, const pl_model_info *info)
{
    const cli_args *args = r->args;
    int status = CLI_DONE;

    for (int k = 2; !status && k < args->plain_count; ++k) {
        pl_recording *series = NULL;
        pl_error err = {0};
        if (r->runs == PL_RELEASE_RUNS) {
            cli_error(args, "release: more than %d runs", PL_RELEASE_RUNS);
            return CLI_EXIT_USAGE;
        }

        status = pl_recording_read(args->plain[k], &series, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
        status = status || r->channels > 0 ? status : release_channels(r, series, info);
        status = status ? status : release_take(r, series, args->plain[k]);
        pl_recording_destroy(series);
    }

    return status;
}

// ---- the body
static pl_status release_edit(const releasing *r, const double *value, pl_robot_document **out, pl_error *err)
{
    pl_status status = pl_robot_document_copy(r->document, out, err);
    for (int k = 0; status == PL_OK && k < r->count; ++k) {
        status = pl_robot_document_set_number(*out, r->key[k], value[k], err);
    }
    return status;
}

typedef struct release_recorder {
    const releasing *r;
    double *moved, *rest;
    int count;
} release_recorder;

static bool release_row(void *user, const pl_motion_row *row)
{
    release_recorder *w = user;
    const int C = w->r->channels;
    const int most = (int)(w->r->def.until / w->r->def.every + 1.5);

    if (w->count == most) {
        return false;
    }
    for (int c = 0; c < C; ++c) {
        const double at = row->answer->marker[3 * w->r->marker[c] + w->r->axis[c]];
        w->rest[c] = w->count == 0 ? at : w->rest[c];
        w->moved[w->count * C + c] = at - w->rest[c];
    }

    w->count++;

    return true;
}

// The motion of the undeformed body from the moment on at which its loads act in full.
static pl_status release_respond(void *user, const double *value, double until, double *moved, pl_error *err)
{
    const releasing *r = user;
    double rest[RELEASE_CHANNELS];
    release_recorder w = {.r = r, .moved = moved, .rest = rest};
    pl_robot_document *document = NULL;
    pl_model *model = NULL;
    pl_simulation *simulation = NULL;
    pl_schedule *schedule = NULL;
    pl_motion_report report = {0};
    pl_dynamics_options options = pl_dynamics_options_default();

    options.step = r->step;
    options.progress = cli_progress_search;
    pl_status status = release_edit(r, value, &document, err);
    status = status == PL_OK ? pl_model_from_document(document, &r->options, &model, NULL, err) : status;
    status = status == PL_OK ? pl_simulation_create(model, &options, &simulation, err) : status;
    if (status == PL_OK) {
        const pl_model_info info = pl_model_get_info(model);
        pl_simulation_from_rest(simulation);
        status = pl_schedule_create(info.command, info.command_count, 0,
                                    pl_state_commands(pl_simulation_state(simulation)), &schedule, err);
    }

    if (status == PL_OK) {
        status = pl_simulation_run(simulation, schedule, NULL, until + r->def.every, r->def.every,
                                   release_row, &w, &report, err);

        // the outcome does not tell Ctrl-C from release_row, which ends every motion
        if (status == PL_OK && (cli_interrupted() || (w.count == 0 && report.outcome != PL_MOTION_STALLED))) {
            snprintf(err->text, sizeof err->text, "interrupted");
            err->status = status = PL_INTERRUPTED;
        }
    }

    if (status == PL_OK && report.outcome == PL_MOTION_STALLED) {
        snprintf(err->text, sizeof err->text, "the motion does not go on: %.150s", report.message);
        err->status = status = PL_FAILED;
    }

    // beyond the motion: the last row
    const int C = r->channels, most = (int)(r->def.until / r->def.every + 1.5);
    for (int k = w.count * C; status == PL_OK && w.count > 0 && k < most * C; ++k) {
        moved[k] = moved[k - C];
    }
    pl_schedule_destroy(schedule);
    pl_simulation_destroy(simulation);
    pl_model_destroy(model);
    pl_robot_document_destroy(document);

    return status;
}

// ---- results
static void release_print(const releasing *r)
{
    const cli_args *args = r->args;
    const pl_release_report *p = &r->report;
    cli_table table = {0};

    cli_say(args,
            "%d runs, %d coordinates; %d iterations, %d motions; rms %.4g mm, %.2f %% of the largest "
            "displacement%s\n",
            r->runs, r->channels, p->iterations, p->responses, p->rms, 100 * p->rms / p->largest,
            p->converged ? "" : "; not converged");
    cli_row(&table, "constant\tvalue\tunit\tfrom\tto (95 %%)");

    for (int k = 0; k < r->count; ++k) {
        const double wide = exp(fmin(50, 1.96 * p->deviation[k]));
        cli_row(&table, "%s\t%.5g\t%s\t%.4g\t%.4g", r->name[k], p->value[k], r->unit[k], p->value[k] / wide,
                p->value[k] * wide);
    }

    cli_table_print(args, &table);
    for (int k = 0; k < r->runs; ++k) {
        cli_say(args, "  run %d: the hand lets go at %.4f s over %.1f ms; rms %.4g mm\n", k + 1,
                r->run[k].start, 1e3 * r->run[k].duration, r->run[k].rms);
    }

    // what the runs cannot tell
    for (int k = 0; k < r->count; ++k) {
        if (!(p->deviation[k] < RELEASE_UNCERTAIN)) {
            cli_say(args, "%s is hardly determined by these runs\n", r->name[k]);
        }
        for (int j = 0; j < k; ++j) {
            if (fabs(p->correlation[k][j]) > RELEASE_INSEPARABLE) {
                cli_say(args,
                        "%s and %s cannot be separated (correlation %.3f): runs with another frequency, or a "
                        "relaxation test, would\n",
                        r->name[j], r->name[k], p->correlation[k][j]);
            }
        }
    }

    if (p->residual_correlation > 0.5) {
        cli_say(args,
                "residuals of neighbouring rows are correlated (%.2f): the model does not follow the runs "
                "to their noise; the intervals account for it\n",
                p->residual_correlation);
    }
}

static json_t *release_json(const releasing *r)
{
    const pl_release_report *p = &r->report;
    json_t *root = cli_json_head(0, NULL), *list = json_array(), *runs = json_array();

    for (int k = 0; k < r->count; ++k) {
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(r->name[k]));
        json_object_set_new(one, "value", cli_json_number(p->value[k]));
        json_object_set_new(one, "unit", json_string(r->unit[k]));
        json_object_set_new(one, "log_deviation", cli_json_number(p->deviation[k]));
        json_object_set_new(one, "correlation", cli_json_numbers(p->correlation[k], r->count));
        json_array_append_new(list, one);
    }

    for (int k = 0; k < r->runs; ++k) {
        json_t *one = json_object();
        json_object_set_new(one, "start_s", cli_json_number(r->run[k].start));
        json_object_set_new(one, "duration_s", cli_json_number(r->run[k].duration));
        json_object_set_new(one, "rms_mm", cli_json_number(r->run[k].rms));
        json_array_append_new(runs, one);
    }

    json_object_set_new(root, "parameters", list);
    json_object_set_new(root, "runs", runs);
    json_object_set_new(root, "rms_mm", cli_json_number(p->rms));
    json_object_set_new(root, "largest_mm", cli_json_number(p->largest));
    json_object_set_new(root, "converged", json_boolean(p->converged));

    return root;
}

// The coordinate that moves most in the first run, measured and computed.
static int release_plot(const releasing *r, const char *path)
{
    const pl_release_run *run = &r->run[0];
    const int n = run->count, C = r->channels;
    int most = 0;
    double *y = calloc(2 * (size_t)n + 1, sizeof *y);
    pl_error err = {0};

    if (!y) {
        return cli_no_memory(r->args);
    }
    for (int c = 1; c < C; ++c) {
        most = fabs(run->moved[(n - 1) * C + c]) > fabs(run->moved[(n - 1) * C + most]) ? c : most;
    }
    for (int k = 0; k < n; ++k) {
        y[k] = run->moved[k * C + most];
        y[n + k] = pl_release_at(&r->def, r->response, most, run->time[k] - run->start, run->duration);
    }

    const pl_curve curve[2] = {{"measured", run->time, y, n, true}, {"body", run->time, y + n, n, false}};
    const pl_plot plot = {.title = r->channel[most],
                          .x_label = "time (s)",
                          .y_label = "displacement (mm)",
                          .curve = curve,
                          .curve_count = 2};
    const pl_status status = pl_plot_write(&plot, path, &err);
    free(y);
    if (status != PL_OK) {
        return cli_fail(r->args, &err);
    }
    cli_say(r->args, "  wrote %s\n", path);

    return CLI_DONE;
}

static int release_robot(const releasing *r, const char *path)
{
    pl_error err = {0};
    pl_robot_document *document = NULL;
    char *text = NULL;
    size_t length = 0;
    const bool good = release_edit(r, r->report.value, &document, &err) == PL_OK &&
                      pl_robot_document_text(document, &text, &length, &err) == PL_OK &&
                      pl_file_write(path, text, length, &err) == PL_OK;

    pl_file_free(text);
    pl_robot_document_destroy(document);
    if (!good) {
        return cli_fail(r->args, &err);
    }
    cli_say(r->args, "  wrote %s\n", path);

    return CLI_DONE;
}

static int release_write(const releasing *r)
{
    int status = CLI_DONE, cursor = 0;
    for (const char *out; status == CLI_DONE && (out = cli_next(r->args, "out", &cursor));) {
        const char *dot = strrchr(out, '.');
        status = dot && strcmp(dot, ".yaml") == 0 ? release_robot(r, out) : release_plot(r, out);
    }

    return status ? status : cli_json_write(r->args, cli_value(r->args, "json") ? release_json(r) : NULL);
}

static int release_work(releasing *r)
{
    const cli_args *args = r->args;
    pl_error err = {0};
    double until = 3, step = 0.005;
    int status = cli_document_open(args, args->plain[1], &r->path, &r->document, &r->findings);

    if (status) {
        return status;
    }
    if (!cli_number(args, "until", &until) || !cli_number(args, "step", &step)) {
        return CLI_EXIT_USAGE;
    }

    // the robot, for its markers; every motion builds one with other numbers
    r->options = (pl_model_load_options){.load = {.mesher = pl_meshing_mesher(), .progress = &cli_progress},
                                         .progress = cli_progress_search};
    pl_model *model = NULL;
    const pl_status built = pl_model_from_document(r->document, &r->options, &model, r->findings, &err);
    cli_findings(r->findings);
    if (built != PL_OK) {
        return cli_robot_refused(args, built, r->findings, &err);
    }
    const pl_model_info info = pl_model_get_info(model);
    status = release_parameters(r);
    status = status ? status : release_runs(r, &info);
    pl_model_destroy(model);
    if (status) {
        return status;
    }

    r->step = step;
    r->def = (pl_release_def){.parameter_count = r->count,
                              .value = r->value,
                              .run_count = r->runs,
                              .channel_count = r->channels,
                              .run = r->run,
                              .every = 0.5 * step,
                              .until = until,
                              .respond = release_respond,
                              .user = r,
                              .progress = cli_progress_search};
    r->response = calloc((size_t)(until / r->def.every + 3) * (size_t)r->channels, sizeof *r->response);
    if (!r->response) {
        return cli_no_memory(args);
    }
    if (pl_release_calibrate(&r->def, r->response, &r->report, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    release_print(r);
    status = release_write(r);
    if (!status && !r->report.converged) {
        cli_error(args, "%s: the fit has not converged after %d iterations", r->path, r->report.iterations);
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

int cli_calibrate_release(const cli_args *args)
{
    releasing r = {.args = args};
    const int status = release_work(&r);
    for (int k = 0; k < r.runs; ++k) {
        free(r.table[k]);
    }
    free(r.response);
    pl_robot_document_destroy(r.document);
    pl_findings_destroy(r.findings);
    free(r.path);
    return status;
}
