// pliant calibrate poses: material constants, densities, command factors and offsets, the placement of the
// base and other numbers of a robot file from measured marker positions.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"
#include "pliant/dataset.h"

// What the verb holds; cli_calibrate_poses releases all of it.
typedef struct posing {
    const cli_args *args;
    char *path;
    pl_robot_document *document;
    pl_findings *findings;
    pl_model *model; // as the file describes it, for names
    pl_model_info info;
    pl_model_load_options options;
    pl_measured measured;
    pl_pose_parameter parameter[PL_POSE_PARAMETERS];
    char name[PL_POSE_PARAMETERS][80], key[PL_POSE_PARAMETERS][100], unit[PL_POSE_PARAMETERS][16];
    int count;
    bool *fit;         // per row: fitted, or held
    double *predicted; // marker positions with the fitted values, like those measured
    pl_poses_report report;
    double cross; // mm, cross-validation; NAN: none
    int folds;
    // --images: pixels instead of positions
    pl_camera camera[8];
    pl_camera_pose rig[8];
    int cameras;
    double *pixel; // 2 per row, marker and camera; NAN: not seen
} posing;

// ---- parameters
// The placement of the robot in the frame of the camera: shifts, then a rotation vector.
static const char *const base_names[6] = {"base.x", "base.y", "base.z", "base.rx", "base.ry", "base.rz"};

// What a material constant is measured in.
static pl_dimension constant_dimension(const char *name)
{
    if (strcmp(name, "density") == 0) {
        return PL_DIM_DENSITY;
    }
    return strcmp(name, "poisson") == 0 || strncmp(name, "alpha", 5) == 0 || strcmp(name, "jm") == 0
               ? PL_DIM_NUMBER
               : PL_DIM_STRESS;
}

// Whether `name` is MATERIAL.CONSTANT; fills parameter k then. Values stay in the unit that the file uses, so
// that the fitted file reads like the one given.
static bool pose_material(posing *p, int k, const char *name)
{
    const pl_robot *robot = pl_model_robot(p->model);
    const char *dot = strrchr(name, '.');

    for (int m = 0; robot && dot && m < pl_robot_material_count(robot); ++m) {
        const char *material = pl_robot_material_name(robot, m);
        for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
            char full[160];
            snprintf(full, sizeof full, "%s.%s", material, pl_material_constant_name(c));
            if (strcmp(full, name) != 0) {
                continue;
            }

            snprintf(p->key[k], sizeof p->key[k], "materials.%.80s", full);
            char one[40];
            double factor = 1;
            pl_error ignored;
            // a constant that the file does not give keeps its value in MPa or without a unit
            if (pl_robot_document_number(p->document, p->key[k], &p->parameter[k].value, p->unit[k],
                                         &ignored) == PL_OK) {
                snprintf(one, sizeof one, "1 %s", p->unit[k]);
                if (pl_quantity_parse(one, constant_dimension(pl_material_constant_name(c)), &factor,
                                      &ignored) != PL_OK) {
                    factor = 1;
                }
            }

            p->parameter[k].unit = factor;
            p->parameter[k].kind = PL_POSE_MATERIAL;
            p->parameter[k].index = m;
            p->parameter[k].part = c;
            return true;
        }
    }

    return false;
}

// One parameter of --free, by what its name says: base.*, COMMAND.factor or
// .offset, MATERIAL.CONSTANT, or the
// path of any number in the robot file. The scale is a change that matters, so that all are fitted alike.
static int pose_parameter(posing *p, const char *name)
{
    const cli_args *args = p->args;
    if (p->count == PL_POSE_PARAMETERS) {
        cli_error(args, "--free: more than %d parameters", PL_POSE_PARAMETERS);
        return CLI_EXIT_USAGE;
    }

    const int k = p->count++;
    pl_pose_parameter *q = &p->parameter[k];
    snprintf(p->name[k], sizeof p->name[k], "%.79s", name);
    *q = (pl_pose_parameter){.name = p->name[k], .unit = 1};

    for (int i = 0; i < 6; ++i) {
        if (strcmp(name, base_names[i]) == 0) {
            q->kind = PL_POSE_BASE;
            q->index = i;
            q->scale = i < 3 ? 0.05 * p->info.size : 0.1; // a shift that would matter
            snprintf(p->unit[k], sizeof p->unit[k], "%s", i < 3 ? "mm" : "rad");
            return CLI_DONE;
        }
    }

    const char *dot = strrchr(name, '.');
    for (int c = 0; dot && c < p->info.command_count; ++c) {
        const size_t length = strlen(p->info.command[c].name);
        if (length != (size_t)(dot - name) || strncmp(p->info.command[c].name, name, length) != 0) {
            continue;
        }

        const bool factor = strcmp(dot, ".factor") == 0;
        if (factor || strcmp(dot, ".offset") == 0) {
            q->kind = factor ? PL_POSE_FACTOR : PL_POSE_OFFSET;
            q->index = c;
            q->value = factor ? 1 : 0;
            q->unit = factor ? 1 : pl_drive_scale(p->info.command[c].drive);
            q->scale =
                factor ? 1 : 0.05 * (p->info.command[c].span[1] - p->info.command[c].span[0]) / q->unit;
            snprintf(p->unit[k], sizeof p->unit[k], "%.15s",
                     factor ? "" : pl_drive_unit(p->info.command[c].drive));
            return CLI_DONE;
        }
    }

    pl_error err = {0};
    if (pose_material(p, k, name)) {
        double value;
        if (pl_robot_document_number(p->document, p->key[k], &value, p->unit[k], &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        return CLI_DONE;
    }

    // what remains is taken for a path; the message names all that it could have been
    snprintf(p->key[k], sizeof p->key[k], "%.99s", name);
    q->kind = PL_POSE_NUMBER;
    if (pl_robot_document_number(p->document, p->key[k], &q->value, p->unit[k], &err) != PL_OK) {
        cli_error(
            args,
            "--free %s: expected MATERIAL.CONSTANT, COMMAND.factor, COMMAND.offset, base.x to base.rz, or "
            "the path of a number in the robot file",
            name);
        return cli_fail(args, &err);
    }

    return CLI_DONE;
}

// All parameters of --free, which may be repeated and may list several.
static int pose_parameters(posing *p)
{
    int cursor = 0, status = CLI_DONE;
    for (const char *text; !status && (text = cli_next(p->args, "free", &cursor));) {
        while (!status && *text) {
            char one[100];
            const size_t length = strcspn(text, ",");
            snprintf(one, sizeof one, "%.*s", (int)(length < 99 ? length : 99), text);
            status = pose_parameter(p, one);
            text += length + (text[length] == ',');
        }
    }

    if (!status && p->count == 0) {
        cli_error(p->args, "expected --free NAME,NAME: what is to be fitted, such as silicone.c10");
        return CLI_EXIT_USAGE;
    }

    return status;
}

// predictions.
static int pose_hold(posing *p)
{
    const char *text = cli_value(p->args, "held-rows");
    p->fit = malloc((size_t)p->measured.count * sizeof *p->fit);
    p->predicted = calloc(3 * (size_t)p->measured.count * (size_t)p->info.marker_count + 1, sizeof(double));
    if (!p->fit || !p->predicted) {
        return cli_no_memory(p->args);
    }

    for (int i = 0; i < p->measured.count; ++i) {
        p->fit[i] = true;
    }

    while (text && *text) {
        char *end;
        const long from = strtol(text, &end, 10), to = *end == '-' ? strtol(end + 1, &end, 10) : from;

        if (end == text || from < 1 || to < from || to > p->measured.count || (*end && *end != ',')) {
            cli_error(p->args, "--held-rows %s: expected rows from 1 to %d, such as 5-8",
                      cli_value(p->args, "held-rows"), p->measured.count);
            return CLI_EXIT_USAGE;
        }

        for (long i = from; i <= to; ++i) {
            p->fit[i - 1] = false;
        }
        text = *end ? end + 1 : end;
    }

    return CLI_DONE;
}

// ---- models with other numbers
// A copy of the robot file with other numbers; the caller destroys it. Parameters without a path (the base,
// factors and offsets of commands) are not in the file.
static pl_status pose_edit(const posing *p, const double *value, pl_robot_document **out, pl_error *err)
{
    pl_status status = pl_robot_document_copy(p->document, out, err);
    for (int k = 0; status == PL_OK && k < p->count; ++k) {
        if (p->key[k][0]) {
            status = pl_robot_document_set_number(*out, p->key[k], value[k], err);
        }
    }

    return status;
}

// Called by the library for values that need another model, such as lengths of a design.
static pl_status pose_build(void *user, const double *value, pl_model **out, pl_error *err)
{
    posing *p = user;
    pl_robot_document *document = NULL;
    pl_status status = pose_edit(p, value, &document, err);

    if (status == PL_OK) {
        status = pl_model_from_document(document, &p->options, out, NULL, err);
    }
    pl_robot_document_destroy(document);

    return status;
}

// Pixels of the markers that the table has, NAME.u1 and NAME.v1 for the first camera, beside their positions.
static int pose_images(posing *p)
{
    const cli_args *args = p->args;
    const int M = p->info.marker_count;
    pl_error err = {0};
    char(*name)[96] = NULL;
    const char **extra = NULL;

    int(*to)[2] = NULL, count = 0;
    pl_recording *series = NULL;
    pl_status status = pl_cameras_read(cli_value(args, "images"), p->camera, p->rig, 8, &p->cameras, &err);
    status = status == PL_OK ? pl_recording_read(args->plain[2], &series, &err) : status;
    const size_t most = 2 * (size_t)M * (size_t)p->cameras + 1;
    if (status == PL_OK && (!(name = calloc(most, sizeof *name)) || !(extra = calloc(most, sizeof *extra)) ||
                            !(to = calloc(most, sizeof *to)))) {
        cli_error(args, "no memory for the pixels");
        status = err.status = PL_NO_MEMORY;
    }

    // which of all possible columns the table has; `to` says where its numbers go
    for (int k = 0; status == PL_OK && k < 2 * M * p->cameras; ++k) {
        const int m = k / (2 * p->cameras), c = k / 2 % p->cameras;
        snprintf(name[count], sizeof name[count], "%.80s.%c%d", p->info.marker_name[m], "uv"[k % 2], c + 1);
        extra[count] = name[count];
        if (pl_recording_find(series, &extra[count], 1) >= 0) {
            to[count][0] = m;
            to[count++][1] = 2 * c + k % 2;
        }
    }

    if (status == PL_OK && count == 0) {
        status = err.status = PL_BAD_INPUT;
        snprintf(err.text, sizeof err.text,
                 "no column of pixels; expected for example '%s.u1 [px]', '%s.v1 [px]'",
                 M ? p->info.marker_name[0] : "tip", M ? p->info.marker_name[0] : "tip");
    }

    // commands and pixels in one table; what is not seen stays NAN
    status = status == PL_OK ? pl_measured_read(args->plain[2], &p->info, extra, count, &p->measured, &err)
                             : status;
    const size_t size = 2 * (size_t)p->measured.count * (size_t)M * (size_t)p->cameras;
    p->pixel = status == PL_OK ? malloc(size * sizeof *p->pixel + 1) : NULL;
    for (size_t i = 0; p->pixel && i < size; ++i) {
        p->pixel[i] = NAN;
    }

    for (int r = 0; p->pixel && r < p->measured.count; ++r) {
        for (int e = 0; e < count; ++e) {
            p->pixel[(r * M + to[e][0]) * 2 * p->cameras + to[e][1]] = p->measured.extra[r * count + e];
        }
    }

    pl_recording_destroy(series);
    free(name);
    free(extra);
    free(to);

    return status == PL_OK && p->pixel ? CLI_DONE : cli_fail_file(args, args->plain[2], &err);
}

// Where the base is free and the table has positions too: a start that brings the markers there.
static int pose_start(posing *p)
{
    const int M = p->info.marker_count, rows = p->measured.count;
    double *own = malloc(3 * (size_t)rows * (size_t)M * sizeof *own + 1), base[6];
    pl_error err = {0};
    bool known = own != NULL;

    for (int r = 0; known && r < rows; ++r) {
        pl_solve_report report;
        known = pl_model_fk(p->model, p->measured.command + (size_t)r * (size_t)p->info.command_count,
                            &report, &err) == PL_OK &&
                report.outcome == PL_SOLVED;
        if (known) {
            memcpy(own + 3 * r * M, pl_model_get_answer(p->model).marker, 3 * (size_t)M * sizeof *own);
        }
    }

    known = known && pl_poses_place(own, p->measured.marker, rows * M, base);
    for (int k = 0; known && k < p->count; ++k) {
        if (p->parameter[k].kind == PL_POSE_BASE) {
            p->parameter[k].value = base[p->parameter[k].index];
        }
    }

    free(own);

    return CLI_DONE;
}

// Opens the robot and reads the measured poses.
static int pose_open(posing *p)
{
    const cli_args *args = p->args;
    pl_error err = {0};
    const int opened = cli_document_open(args, args->plain[1], &p->path, &p->document, &p->findings);

    if (opened) {
        return opened;
    }
    p->options = (pl_model_load_options){.load = {.mesher = pl_meshing_mesher(), .progress = &cli_progress},
                                         .progress = cli_progress_search};
    if (!cli_number(args, "size", &p->options.load.size)) {
        return CLI_EXIT_USAGE;
    }

    const pl_status status = pl_model_from_document(p->document, &p->options, &p->model, p->findings, &err);
    cli_findings(p->findings);
    if (status != PL_OK) {
        return cli_robot_refused(args, status, p->findings, &err);
    }

    p->info = pl_model_get_info(p->model);
    if (cli_value(args, "images")) {
        return pose_images(p);
    }
    if (pl_measured_read(args->plain[2], &p->info, NULL, 0, &p->measured, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    return CLI_DONE;
}

// ---- results
// Root mean square distance of a marker over the fitted poses, or over those held; NAN and count 0 for none.
static void pose_marker_rms(const posing *p, int marker, bool fit, double *rms, int *count)
{
    double sum = 0;
    *count = 0;
    for (int r = 0; r < p->measured.count; ++r) {
        const size_t at = 3 * ((size_t)r * (size_t)p->info.marker_count + (size_t)marker);
        const double *a = p->predicted + at, *b = p->measured.marker + at;

        // a pose without equilibrium has no prediction; a marker that was not seen has no measurement
        if (p->fit[r] == fit && isfinite(a[0] + b[0] + b[1] + b[2])) {
            sum += pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2);
            ++*count;
        }
    }

    *rms = *count ? sqrt(sum / *count) : NAN;
}

// The fitted values with their uncertainty, then errors by marker on fitted and held poses.
static void pose_print(const posing *p)
{
    const cli_args *args = p->args;
    const pl_poses_report *r = &p->report;
    cli_table table = {0};

    cli_say(args, "%s: %d poses, %d parameters; %s after %d steps (%d solves)\n\n", p->info.name,
            p->measured.count, p->count, r->converged ? "converged" : "not converged", r->iterations,
            r->solves);

    cli_row(&table, "parameter\tstart\tfitted\t+- (95 %%)\tunit");
    for (int k = 0; k < p->count; ++k) {
        cli_row(&table, "%s\t%.5g\t%.5g\t%.2g\t%s", p->name[k], p->parameter[k].value, r->value[k],
                r->quantile * r->deviation[k], p->unit[k][0] ? p->unit[k] : "1");
    }

    cli_table_print(args, &table);
    cli_say(args, "\n");
    cli_row(&table, "marker\tfitted poses mm rms\theld poses mm rms");

    for (int m = 0; m < p->info.marker_count; ++m) {
        double in, out;
        int n_in, n_out;
        pose_marker_rms(p, m, true, &in, &n_in);
        pose_marker_rms(p, m, false, &out, &n_out);
        if (n_in || n_out) {
            cli_row(&table, n_out ? "%s\t%.2f\t%.2f" : "%s\t%.2f\t-", p->info.marker_name[m], in, out);
        }
    }

    cli_table_print(args, &table);

    const char *unit = p->pixel ? "pixels" : "mm";
    cli_say(args, "\n  all markers: %.3g %s rms at the start, %.3g %s fitted", r->rms_start, unit, r->rms_fit,
            unit);
    if (isfinite(r->rms_held)) {
        cli_say(args, ", %.3g %s on the poses held", r->rms_held, unit);
    }
    if (isfinite(p->cross)) {
        cli_say(args, "; cross-validation over %d folds: %.3g mm", p->folds, p->cross);
    }
    cli_say(args, "\n");

    for (int row = 0; row < p->measured.count; ++row) {
        if (!p->fit[row] && !isfinite(p->predicted[3 * row * p->info.marker_count])) {
            cli_say(args,
                    "  held pose of line %d: no equilibrium with the fitted values; it is not counted\n",
                    p->measured.line[row]);
        }
    }

    // directions in the space of parameters that the poses leave open by more than 20 %
    for (int j = 0; j < p->count; ++j) {
        if (r->direction_deviation[j] > 0.2) {
            cli_say(args, "  not determined by these poses (+- %.0f %%):", 100 * r->direction_deviation[j]);

            for (int k = 0; k < p->count; ++k) {
                if (fabs(r->direction[j][k]) > 0.2) {
                    cli_say(args, " %+.2f %s", r->direction[j][k], p->name[k]);
                }
            }

            cli_say(args, "\n");
        }
    }
}

// The result for programs. The caller owns it.
static json_t *pose_json(const posing *p)
{
    const pl_poses_report *r = &p->report;
    json_t *root = cli_json_head(p->info.hash, p->findings), *list = json_object();

    json_object_set_new(root, "converged", json_boolean(r->converged));
    json_object_set_new(root, "iterations", json_integer(r->iterations));
    json_object_set_new(root, "rms_start", cli_json_number(r->rms_start));
    json_object_set_new(root, "rms_fit", cli_json_number(r->rms_fit));
    json_object_set_new(root, "rms_held", cli_json_number(r->rms_held));
    json_object_set_new(root, "rms_cross", cli_json_number(p->cross));

    for (int k = 0; k < p->count; ++k) {
        json_t *one = json_object();
        json_object_set_new(one, "value", cli_json_number(r->value[k]));
        json_object_set_new(one, "unit", json_string(p->unit[k]));
        json_object_set_new(one, "start", cli_json_number(p->parameter[k].value));
        json_object_set_new(one, "interval", cli_json_number(r->quantile * r->deviation[k]));
        json_object_set_new(list, p->name[k], one);
    }

    json_object_set_new(root, "parameters", list);
    json_object_set_new(root, "predicted",
                        cli_json_numbers(p->predicted, 3 * p->measured.count * p->info.marker_count));

    return root;
}

// Measured and predicted in the plane of the two widest coordinates.
static int pose_plot(posing *p, const char *path)
{
    const int n = p->measured.count * p->info.marker_count;
    double width[3] = {0, 0, 0};

    for (int i = 0; i < 3; ++i) {
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < n; ++k) {
            const double v = p->measured.marker[3 * k + i];
            low = isfinite(v) ? fmin(low, v) : low;
            high = isfinite(v) ? fmax(high, v) : high;
        }

        width[i] = high - low;
    }

    const int drop = width[0] <= width[1] && width[0] <= width[2] ? 0 : width[1] <= width[2] ? 1 : 2;
    const int a = drop == 0 ? 1 : 0, b = drop == 2 ? 1 : 2;
    double *block = calloc(6 * (size_t)n + 6, sizeof *block);
    if (!block) {
        return cli_no_memory(p->args);
    }

    // in one block: measured, predicted of fitted poses, predicted of poses held
    double *x[3] = {block, block + n, block + 2 * n}, *y[3] = {block + 3 * n, block + 4 * n, block + 5 * n};
    int count[3] = {0, 0, 0};
    for (int k = 0; k < n; ++k) {
        const double *m = p->measured.marker + 3 * k, *q = p->predicted + 3 * k;

        if (isfinite(q[0] + m[0] + m[1] + m[2])) {
            const int which = p->fit[k / p->info.marker_count] ? 1 : 2;
            x[0][count[0]] = m[a];
            y[0][count[0]++] = m[b];
            x[which][count[which]] = q[a];
            y[which][count[which]++] = q[b];
        }
    }

    const pl_curve curve[3] = {{"measured", x[0], y[0], count[0], true},
                               {"predicted, fitted poses", x[1], y[1], count[1], true},
                               {"predicted, poses held", x[2], y[2], count[2], true}};
    const char *const axes[3] = {"x mm", "y mm", "z mm"};
    const pl_plot plot = {.title = p->info.name,
                          .x_label = axes[a],
                          .y_label = axes[b],
                          .curve = curve,
                          .curve_count = count[2] ? 3 : 2};
    pl_error err = {0};
    const pl_status status = pl_plot_write(&plot, path, &err);
    free(block);

    return status == PL_OK ? CLI_DONE : cli_fail(p->args, &err);
}

// Measured and predicted positions as .csv.
static int pose_table(posing *p, const char *path)
{
    const int M = p->info.marker_count;

    // 240 bytes hold any line: a name of 60 and nine numbers
    char *text = malloc((size_t)p->measured.count * (size_t)M * 240 + 200), *at = text;

    if (!text) {
        return cli_no_memory(p->args);
    }
    at += sprintf(at, "line,fitted,marker,measured.x [mm],measured.y [mm],measured.z [mm],predicted.x "
                      "[mm],predicted.y [mm],predicted.z [mm],distance [mm]\n");
    for (int k = 0; k < p->measured.count * M; ++k) {
        const double *m = p->measured.marker + 3 * k, *q = p->predicted + 3 * k;

        if (isfinite(m[0] + m[1] + m[2])) {
            at += sprintf(at, "%d,%d,%.60s,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.4g\n", p->measured.line[k / M],
                          p->fit[k / M], p->info.marker_name[k % M], m[0], m[1], m[2], q[0], q[1], q[2],
                          sqrt(pow(m[0] - q[0], 2) + pow(m[1] - q[1], 2) + pow(m[2] - q[2], 2)));
        }
    }

    pl_error err = {0};
    const pl_status status = pl_file_write(path, text, (size_t)(at - text), &err);
    free(text);

    return status == PL_OK ? CLI_DONE : cli_fail(p->args, &err);
}

// The robot file with the fitted values in place of its own.
static int pose_write_robot(const posing *p, const char *path)
{
    pl_error err = {0};
    pl_robot_document *document = NULL;
    char *text = NULL;
    size_t length = 0;
    const bool good = pose_edit(p, p->report.value, &document, &err) == PL_OK &&
                      pl_robot_document_text(document, &text, &length, &err) == PL_OK &&
                      pl_file_write(path, text, length, &err) == PL_OK;

    pl_file_free(text);
    pl_robot_document_destroy(document);

    return good ? CLI_DONE : cli_fail(p->args, &err);
}

// The files of --out, by their extension.
static int pose_write(posing *p)
{
    int cursor = 0, status = CLI_DONE;
    for (const char *path; !status && (path = cli_next(p->args, "out", &cursor));) {
        const char *extension = cli_extension(path);
        if (strcasecmp(extension, ".csv") == 0) {
            status = pose_table(p, path);
        } else if (extension[1] == 'y') {
            status = pose_write_robot(p, path);
        } else {
            status = pose_plot(p, path);
        }
        if (!status) {
            cli_say(p->args, "  wrote %s\n", path);
        }
    }

    return status;
}

// What the library needs to know.
static pl_poses_def pose_def(posing *p)
{
    return (pl_poses_def){.parameter = p->parameter,
                          .parameter_count = p->count,
                          .row_count = p->measured.count,
                          .command_count = p->info.command_count,
                          .marker_count = p->info.marker_count,
                          .command = p->measured.command,
                          .marker = p->measured.marker,
                          .fit = p->fit,
                          .camera = p->camera,
                          .rig = p->rig,
                          .camera_count = p->pixel ? p->cameras : 0,
                          .pixel = p->pixel,
                          .build = pose_build,
                          .iteration_limit = p->pixel ? 30 : 0,
                          .user = p,
                          .progress = cli_progress};
}

// are near: a few iterations are enough.
static pl_status pose_cross(posing *p, pl_error *err)
{
    pl_poses_def def = pose_def(p);
    const int n = p->measured.count, M = p->info.marker_count;
    bool *fit = malloc((size_t)n * sizeof *fit);
    double *predicted = calloc(3 * (size_t)n * (size_t)M + 1, sizeof *predicted), sum = 0;
    pl_pose_parameter from[PL_POSE_PARAMETERS];
    int count = 0;
    pl_status status = fit && predicted ? PL_OK : PL_NO_MEMORY;

    for (int f = 0; status == PL_OK && f < p->folds; ++f) {
        // every folds-th pose is left out, so that a fold is spread over the test
        for (int i = 0; i < n; ++i) {
            fit[i] = p->fit[i] && i % p->folds != f;
        }
        for (int k = 0; k < p->count; ++k) {
            from[k] = p->parameter[k];
            from[k].value = p->report.value[k];
        }

        def.fit = fit;
        def.parameter = from;
        def.iteration_limit = 4;
        pl_poses_report report;
        status = pl_poses_calibrate(&def, predicted, &report, err);

        // only the poses left out of this fit count
        for (int k = 0; status == PL_OK && k < n * M; ++k) {
            const double *m = p->measured.marker + 3 * k, *q = predicted + 3 * k;
            if (p->fit[k / M] && k / M % p->folds == f && isfinite(q[0] + m[0] + m[1] + m[2])) {
                sum += pow(m[0] - q[0], 2) + pow(m[1] - q[1], 2) + pow(m[2] - q[2], 2);
                ++count;
            }
        }
    }

    p->cross = count ? sqrt(sum / count) : NAN;
    free(fit);
    free(predicted);

    return status;
}

// The verb from its options to its exit status.
static int pose_work(posing *p)
{
    const cli_args *args = p->args;
    p->cross = NAN;
    if (!cli_whole(args, "folds", &p->folds)) {
        return CLI_EXIT_USAGE;
    }

    // robot, parameters, where the base stands, which rows are held out
    int status = pose_open(p);
    status = status ? status : pose_parameters(p);
    status = status ? status : p->pixel ? pose_start(p) : CLI_DONE;
    status = status ? status : pose_hold(p);
    if (status) {
        return status;
    }

    pl_error err = {0};
    const pl_poses_def def = pose_def(p);
    cli_stage("fitting", false);
    pl_status fitted = pl_poses_calibrate(&def, p->predicted, &p->report, &err);
    if (fitted == PL_OK && p->folds) {
        fitted = pose_cross(p, &err);
    }

    // a fit that failed has nothing to print; one that was stopped neither
    cli_stage(NULL, false);
    if (fitted == PL_FAILED || fitted == PL_INTERRUPTED) {
        cli_error(args, "%s", fitted == PL_INTERRUPTED ? cli_stop_reason() : err.text);
        return CLI_EXIT_UNSOLVED;
    }

    if (fitted != PL_OK) {
        err.status = fitted;
        return cli_fail_file(args, args->plain[2], &err);
    }

    // a fit that has not converged is printed and written, and its exit status says so
    pose_print(p);
    status = pose_write(p);
    status = status ? status : cli_json_write(args, cli_value(args, "json") ? pose_json(p) : NULL);

    if (!status && !p->report.converged) {
        cli_error(
            args,
            "%s: the fit has not converged after %d iterations: the poses may not distinguish the parameters",
            p->path, p->report.iterations);
        return CLI_EXIT_UNSOLVED;
    }

    return status;
}

int cli_calibrate_poses(const cli_args *args)
{
    posing p = {.args = args};
    const int status = pose_work(&p);

    pl_model_destroy(p.model);
    pl_measured_clear(&p.measured);
    pl_findings_destroy(p.findings);
    pl_robot_document_destroy(p.document);
    free(p.path);
    free(p.fit);
    free(p.predicted);
    free(p.pixel);

    return status;
}
