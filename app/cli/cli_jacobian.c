// pliant jacobian: exact derivatives of markers, rotations, sensors and efforts at a solved state, in the
// units that people use.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static const cli_option options[] = {
    {"set", 0, "NAME=VALUE", "a command and its value, with a unit (air=20kPa); may be repeated", NULL},
    {"compliance", 0, NULL, "instead: how efforts and forces at markers move actuators, markers and sensors",
     NULL},
    {"by", 0, "WHAT", "differentiate with respect to commands (default), material or loads; may be repeated",
     "commands material loads"},
    {"beyond-range", 0, NULL, "allow values outside the range in the robot file", NULL},
    CLI_JSON,
    {"out", 0, "FILE", "write the matrix as .csv", NULL},
    {"state", 0, "FILE", "start from this state if the file exists, and save the new state there", NULL},
    {"save-state", 0, "FILE", "save the new state here instead", NULL},
    {"method", 0, "NAME", "exact, local_global or fang2020 (default: as in the robot file)",
     "exact local_global fang2020"},
    {"displacement", 0, NULL, "standard displacement elements instead of locking-free ones", NULL},
    CLI_MESHING,
    CLI_WORKING,
    CLI_FALLBACK,
    CLI_FORCE,
    {0},
};

// What --out may end in.
static const char *const extensions[] = {".csv", NULL};

// One parameter: what the library calls it, what people call it, and the size of their unit.
typedef struct column {
    pl_parameter parameter;
    char name[100], unit[24];
    double scale; // internal value of one unit
} column;

// The matrix: its columns, and the rows of `j` with `count` numbers each.
typedef struct derivatives {
    column *column;
    int count, capacity;
    bool no_memory;
    double *block; // all arrays of `j` in a row
    pl_jacobian j;
    pl_jacobian_report report;
} derivatives;

// ---- columns
// A further column without its name, or NULL when there is no memory.
static column *jacobian_add(derivatives *d, pl_parameter_kind kind, int index, int part, const char *unit,
                            double scale)
{
    if (d->count == d->capacity) {
        const int capacity = d->capacity ? 2 * d->capacity : 64;
        column *larger = realloc(d->column, (size_t)capacity * sizeof *larger);
        if (!larger) {
            d->no_memory = true;
            return NULL;
        }

        d->column = larger;
        d->capacity = capacity;
    }

    column *c = &d->column[d->count++];
    *c = (column){.parameter = {kind, index, part}, .scale = scale};
    snprintf(c->unit, sizeof c->unit, "%s", unit);
    return c;
}

// One column per command that is set: an idle one (NaN) has no value at which to differentiate.
static void jacobian_commands(derivatives *d, const cli_model *m)
{
    for (int i = 0; i < m->info.command_count; ++i) {
        const pl_command_info *info = &m->info.command[i];
        column *c = isnan(m->command[i])
                        ? NULL
                        : jacobian_add(d, PL_PARAMETER_COMMAND, i, 0, pl_drive_unit(info->drive),
                                       pl_drive_scale(info->drive));
        if (c) {
            snprintf(c->name, sizeof c->name, "%s", info->name);
        }
    }
}

// One column per elastic constant of every material.
static void jacobian_materials(derivatives *d, const pl_robot *robot)
{
    for (int m = 0; m < pl_robot_material_count(robot); ++m) {
        const pl_material material = pl_robot_material(robot, m);

        for (int k = 0; k < PL_DENSITY; ++k) {
            // bulk modulus and Poisson's ratio say the same: only the one that
            // the material gives is a parameter
            const bool ratio = k == PL_POISSON;
            pl_material copy = material;
            const bool from_poisson = k == PL_BULK && *pl_material_at(&copy, PL_BULK) == 0;
            const bool from_bulk = ratio && material.bulk > 0;
            column *c = !pl_material_has(material.model, (pl_material_constant)k) || from_poisson || from_bulk
                            ? NULL
                            : jacobian_add(d, PL_PARAMETER_MATERIAL, m, k, ratio ? "1" : "MPa", 1);
            if (c) {
                snprintf(c->name, sizeof c->name, "%s.%s", pl_robot_material_name(robot, m),
                         pl_material_constant_name((pl_material_constant)k));
            }
        }
    }
}

// The components of every point force and of gravity.
static void jacobian_loads(derivatives *d, const pl_robot *robot)
{
    for (int f = 0; f < pl_robot_force_count(robot); ++f) {
        for (int axis = 0; axis < 3; ++axis) {
            column *c = jacobian_add(d, PL_PARAMETER_FORCE, f, axis, "N", 1);
            if (c) {
                snprintf(c->name, sizeof c->name, "force%d.%c", f + 1, 'x' + axis);
            }
        }
    }

    for (int axis = 0; axis < 3; ++axis) {
        column *c = jacobian_add(d, PL_PARAMETER_GRAVITY, 0, axis, "m/s^2", 1000);
        if (c) {
            snprintf(c->name, sizeof c->name, "gravity.%c", 'x' + axis);
        }
    }
}

// The columns that --by asks for; commands without it.
static int jacobian_columns(const cli_args *args, const cli_model *m, derivatives *d)
{
    int cursor = 0;
    if (!cli_flag(args, "by")) {
        jacobian_commands(d, m);
    }

    for (const char *by; (by = cli_next(args, "by", &cursor));) {
        const bool material = strcmp(by, "material") == 0 || strcmp(by, "materials") == 0;
        if (strcmp(by, "commands") == 0) {
            jacobian_commands(d, m);
        } else if (!material && strcmp(by, "loads") != 0) {
            cli_error(args, "--by %s: expected commands, material or loads", by);
            return CLI_EXIT_USAGE;

            // other methods and models differentiate by commands only
        } else if (!pl_model_robot(m->model) || strcmp(m->info.method, "exact") != 0) {
            cli_error(args, "--by %s: only the exact method on a robot with a mesh has these derivatives",
                      by);
            return CLI_EXIT_USAGE;
        } else if (material) {
            jacobian_materials(d, pl_model_robot(m->model));
        } else {
            jacobian_loads(d, pl_model_robot(m->model));
        }
    }

    if (d->no_memory) {
        return cli_no_memory(args);
    }
    if (d->count == 0) {
        cli_error(args, "there is nothing to differentiate with respect to: set at least one command with "
                        "--set NAME=VALUE");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// All arrays of the matrix in one block, which jacobian_run frees.
static bool jacobian_memory(derivatives *d, const pl_model_info *info)
{
    const size_t markers = 3 * (size_t)info->marker_count, sensors = (size_t)info->sensor_count,
                 actuators = (size_t)info->actuator_count, n = (size_t)d->count;
    d->block = calloc((2 * markers + sensors + 2 * actuators) * n + 1, sizeof *d->block);
    if (!d->block) {
        return false;
    }
    d->j.marker = d->block;
    d->j.rotation = d->j.marker + markers * n;
    d->j.sensor = d->j.rotation + markers * n;
    d->j.effort = d->j.sensor + sensors * n;
    d->j.measure = d->j.effort + actuators * n;

    return true;
}

// ---- rows: what is derived, in terminal units. `visit` is called for each.
typedef void (*jacobian_visit)(void *user, const char *group, const char *name, const char *part,
                               const char *unit, const double *row, double scale);

static void jacobian_rows(const derivatives *d, const pl_model_info *info, jacobian_visit visit, void *user)
{
    static const char *const axis[] = {"x", "y", "z"}, *const turn[] = {"rx", "ry", "rz"};

    const int n = d->count;

    for (int m = 0; m < info->marker_count; ++m) {
        for (int i = 0; i < 3; ++i) {
            visit(user, "markers", info->marker_name[m], axis[i], "mm", d->j.marker + (3 * m + i) * n, 1);
        }
        for (int i = 0; i < 3; ++i) {
            visit(user, "rotations", info->marker_name[m], turn[i], "rad", d->j.rotation + (3 * m + i) * n,
                  1);
        }
    }

    for (int s = 0; s < info->sensor_count; ++s) {
        const pl_sensor_kind kind = info->sensor_kind[s];
        visit(user, "sensors", info->sensor_name[s], "", pl_sensor_unit(kind), d->j.sensor + s * n,
              pl_sensor_scale(kind));
    }

    for (int a = 0; a < info->actuator_count; ++a) {
        const pl_actuator_info *actuator = &info->actuator[a];
        visit(user, "efforts", actuator->name, "effort", pl_effort_unit(actuator->kind), d->j.effort + a * n,
              pl_effort_scale(actuator->kind));
        visit(user, "measures", actuator->name, pl_measure_name(actuator->kind),
              pl_measure_unit(actuator->kind), d->j.measure + a * n, 1);
    }
}

// Derivative of column c in terminal units: (row / scale of the row) per unit of the column.
static double jacobian_value(const derivatives *d, const double *row, double scale, int c)
{
    return row[c] * d->column[c].scale / scale + 0.0; // no -0
}

// Where a row goes: one of the three is set, by the function that visits.
typedef struct jacobian_writer {
    const derivatives *d;
    const cli_model *m; // csv of a surrogate: its errors get a column
    cli_table *table;
    FILE *csv;
    json_t *json;
} jacobian_writer;

// A row of the table on the terminal; columns that do not fit the line are left out, files have them all.
static void jacobian_visit_table(void *user, const char *group, const char *name, const char *part,
                                 const char *unit, const double *row, double scale)
{
    const jacobian_writer *w = user;
    char *text = NULL;
    size_t bytes;
    FILE *cells = open_memstream(&text, &bytes);

    (void)group;
    if (!cells) {
        return; // a row for which there is no memory is left out
    }
    fprintf(cells, "%s%s%s\t%s", name, part[0] ? "." : "", part, unit);
    for (int c = 0; c < w->d->count; ++c) {
        fprintf(cells, "\t%.6g", jacobian_value(w->d, row, scale, c));
    }
    if (fclose(cells) == 0) {
        cli_row(w->table, "%s", text);
    }
    free(text);
}

// The head of the table: one column per parameter.
static void jacobian_head(const derivatives *d, cli_table *table)
{
    char *text = NULL;
    size_t bytes;
    FILE *cells = open_memstream(&text, &bytes);

    if (!cells) {
        return;
    }
    fprintf(cells, "of\tin");
    for (int c = 0; c < d->count; ++c) {
        fprintf(cells, "\tper %s of %s", d->column[c].unit, d->column[c].name);
    }
    if (fclose(cells) == 0) {
        cli_row(table, "%s", text);
    }
    free(text);
}

// The error of a surrogate in a row's quantity (mm, rad, display unit of a sensor), not of its derivative;
// NAN: not known.
static double jacobian_error(const cli_model *m, const char *group, const char *name)
{
    const pl_answer_error error = pl_model_get_answer(m->model).error;
    const int marker = pl_model_find_marker(m->model, name), sensor = pl_model_find_sensor(m->model, name);

    if (strcmp(group, "markers") == 0 && error.marker) {
        return error.marker[marker];
    }
    if (strcmp(group, "rotations") == 0 && error.rotation) {
        return error.rotation[marker];
    }

    return strcmp(group, "sensors") == 0 && error.sensor
               ? error.sensor[sensor] / pl_sensor_scale(m->info.sensor_kind[sensor])
               : NAN;
}

// A row of the .csv, with all digits.
static void jacobian_visit_csv(void *user, const char *group, const char *name, const char *part,
                               const char *unit, const double *row, double scale)
{
    const jacobian_writer *w = user;
    fprintf(w->csv, "%s%s%s [%s]", name, part[0] ? "." : "", part, unit);
    for (int c = 0; c < w->d->count; ++c) {
        fprintf(w->csv, ",%.15g", jacobian_value(w->d, row, scale, c));
    }

    const double error = w->m ? jacobian_error(w->m, group, name) : NAN;
    fprintf(w->csv, isfinite(error) ? ",%.6g\n" : w->m ? ",\n" : "\n", error);
}

// {"markers": {"tip": {"x": {"unit": "mm/kPa" ...}}}} would be deep: rows are lists in the order of "by".
static void jacobian_visit_json(void *user, const char *group, const char *name, const char *part,
                                const char *unit, const double *row, double scale)
{
    const jacobian_writer *w = user;
    json_t *all = json_object_get(w->json, group);

    if (!all) {
        all = json_object();
        json_object_set_new(w->json, group, all);
    }

    json_t *one = json_object_get(all, name);
    if (!one) {
        one = json_object();
        json_object_set_new(all, name, one);
        json_object_set_new(one, "unit", json_string(unit));
        json_object_set_new(one, "d", json_array());
    }

    json_t *values = json_array();
    for (int c = 0; c < w->d->count; ++c) {
        json_array_append_new(values, cli_json_number(jacobian_value(w->d, row, scale, c)));
    }
    (void)part;
    json_array_append_new(json_object_get(one, "d"), values);
}

// The matrix as a table, how good it is, and what to know before using it.
static void jacobian_print(const cli_args *args, const cli_model *m, const derivatives *d)
{
    const pl_record *record = NULL;
    pl_error err = {0};
    char text[900];

    cli_commands_text(cli_model_commands(m), m->command, text, sizeof text);
    cli_say(args, "%s at %s: derivatives\n\n", m->info.name, text);

    cli_table table = {0};
    jacobian_head(d, &table);
    jacobian_rows(d, &m->info, jacobian_visit_table, &(jacobian_writer){.d = d, .table = &table});
    cli_table_print(args, &table);

    // where it is not exact, say why
    if (m->info.approximate_derivative) {
        cli_say(args,
                "\n  approximate: central differences of forward solves; %d factorizations, %d solves\n",
                d->report.factorizations, d->report.solves);
    } else if (d->report.friction) {
        cli_say(args,
                "\n  approximate: friction acts at a contact or on a cable (sticking points yield a little, "
                "slipping ones keep "
                "their limit); %d factorizations, %d solves\n",
                d->report.factorizations, d->report.solves);
    } else {
        cli_say(args, "\n  exact: linear systems solved to %.1e; %d factorizations, %d solves\n",
                d->report.residual, d->report.factorizations, d->report.solves);
    }

    // at such a point the derivative is different in both directions: say which one is shown
    if (d->report.one_sided) {
        cli_say(args, "  one-sided: a cable has tension 0 or a one-sided command is 0; the derivative is for "
                      "an increasing command\n");
    }

    if (pl_model_record_brief(m->model, &m->report, &record, &err) == PL_OK &&
        pl_record_model_error_text(record, text, sizeof text)) {
        cli_say(args, "  %s\n  derivatives are those of the model: their own error was not measured\n", text);
    }

    if (d->report.negative_count > 0) {
        cli_say(args, "  unstable: the tangent has %d negative eigenvalues\n", d->report.negative_count);
    }
}

// The record of `pliant fk` with the matrix added. The caller owns it.
static json_t *jacobian_json(cli_model *m, const derivatives *d)
{
    json_t *root = cli_record_json(m), *by = json_array(), *jacobian = json_object();
    for (int c = 0; c < d->count; ++c) {
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(d->column[c].name));
        json_object_set_new(one, "unit", json_string(d->column[c].unit));
        json_array_append_new(by, one);
    }

    json_object_set_new(jacobian, "by", by);
    jacobian_rows(d, &m->info, jacobian_visit_json, &(jacobian_writer){.d = d, .json = jacobian});
    json_object_set_new(jacobian, "residual", cli_json_number(d->report.residual));
    json_object_set_new(jacobian, "factorizations", json_integer(d->report.factorizations));
    json_object_set_new(jacobian, "solves", json_integer(d->report.solves));
    json_object_set_new(jacobian, "approximate", json_boolean(m->info.approximate_derivative));
    json_object_set_new(jacobian, "one_sided", json_boolean(d->report.one_sided));
    json_object_set_new(jacobian, "friction", json_boolean(d->report.friction));
    json_object_set_new(root, "jacobian", jacobian);

    return root;
}

// Writes the matrix as .csv; made in memory, so that the file is never half of it.
static int jacobian_csv(const cli_args *args, const cli_model *m, const derivatives *d, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *csv = open_memstream(&text, &bytes);

    if (!csv) {
        return cli_no_memory(args);
    }

    fprintf(csv, "of");
    for (int c = 0; c < d->count; ++c) {
        fprintf(csv, ",per %s of %s", d->column[c].unit, d->column[c].name);
    }

    // for a model that is not the full one, the error of each row's quantity
    const pl_model_answer answer = pl_model_get_answer(m->model);
    const bool surrogate = pl_answer_has_error(&answer);
    fprintf(csv, surrogate ? ",model_error (of the quantity)\n" : "\n");
    jacobian_rows(d, &m->info, jacobian_visit_csv,
                  &(jacobian_writer){.d = d, .csv = csv, .m = surrogate ? m : NULL});

    return cli_file_finish(args, path, csv, &text, &bytes);
}

// The columns of the commands asked for, out of the derivatives with respect to all commands.
static void jacobian_pick(const derivatives *d, int commands, const double *from, int rows, double *to)
{
    for (int r = 0; from && r < rows; ++r) {
        for (int c = 0; c < d->count; ++c) {
            to[r * d->count + c] = from[r * commands + d->column[c].parameter.index];
        }
    }
}

// Derivatives by commands, which every kind of model has; those of all commands, then the ones asked for.
static pl_status jacobian_commands_only(cli_model *m, derivatives *d, pl_error *err)
{
    const pl_model_info *info = &m->info;
    const unsigned parts =
        PL_PART_MARKER | PL_PART_ROTATION | PL_PART_SENSOR | PL_PART_EFFORT | PL_PART_MEASURE;
    pl_model_derivative all;
    const pl_status status = pl_model_differentiate(m->model, parts, 0, &all, &d->report, err);

    if (status == PL_OK) {
        jacobian_pick(d, info->command_count, all.marker, 3 * info->marker_count, d->j.marker);
        jacobian_pick(d, info->command_count, all.rotation, 3 * info->marker_count, d->j.rotation);
        jacobian_pick(d, info->command_count, all.sensor, info->sensor_count, d->j.sensor);
        jacobian_pick(d, info->command_count, all.effort, info->actuator_count, d->j.effort);
        jacobian_pick(d, info->command_count, all.measure, info->actuator_count, d->j.measure);
    }

    return status;
}

// Differentiates at the solved state, prints and writes.
static int jacobian_derive(const cli_args *args, cli_model *m, derivatives *d)
{
    pl_parameter *parameter = calloc((size_t)d->count, sizeof *parameter);
    bool commands = true;

    for (int c = 0; parameter && c < d->count; ++c) {
        parameter[c] = d->column[c].parameter;
        commands = commands && parameter[c].kind == PL_PARAMETER_COMMAND;
    }

    pl_error err = {0};
    if (!parameter || !jacobian_memory(d, &m->info)) {
        free(parameter);
        return cli_no_memory(args);
    }

    // models of every kind differentiate by commands; only a full one by the rest
    cli_stage("derivatives", false);
    const pl_status derived =
        commands ? jacobian_commands_only(m, d, &err)
                 : pl_model_sensitivity(m->model, parameter, d->count, &d->j, &d->report, &err);
    cli_stage(NULL, false);
    free(parameter);
    if (derived != PL_OK) {
        err.status = derived;
        return cli_fail(args, &err);
    }

    jacobian_print(args, m, d);
    int status = CLI_DONE, cursor = 0;
    for (const char *path; status == CLI_DONE && (path = cli_next(args, "out", &cursor));) {
        status = jacobian_csv(args, m, d, path);
    }

    return status ? status : cli_json_write(args, cli_value(args, "json") ? jacobian_json(m, d) : NULL);
}

// The verb from its options to its exit status. Columns are found before the solve: a wrong --by shall not
// cost one.
static int jacobian_work(const cli_args *args, cli_model *m, derivatives *d)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, cli_value(args, "state"));
    status = status ? status : cli_model_open(args, args->plain[0], m);
    status = status ? status : cli_check_outputs(args, NULL, m->path, NULL);
    status = status ? status : cli_commands_read(args, cli_model_commands(m), m->command);
    status = status || cli_flag(args, "compliance") ? status : jacobian_columns(args, m, d);
    status = status ? status : cli_model_solve(args, m);
    status = status ? status : cli_model_save_state(args, m);
    if (status) {
        return status;
    }
    if (m->report.outcome != PL_SOLVED) {
        cli_error(args, "not converged, so there is nothing to differentiate: %s", m->report.message);
        cli_outcome_advice(pl_outcome_name(m->report.outcome));
        return CLI_EXIT_UNSOLVED;
    }

    return cli_flag(args, "compliance") ? cli_compliance(args, m) : jacobian_derive(args, m, d);
}

static int jacobian_run(cli_args *args)
{
    cli_model m = {0};
    derivatives *d = calloc(1, sizeof *d);
    const int status = d ? jacobian_work(args, &m, d) : cli_no_memory(args);

    if (d) {
        free(d->column);
        free(d->block);
    }

    free(d);
    cli_model_close(&m);

    return status;
}

const cli_verb cli_verb_jacobian = {
    .name = "jacobian",
    .summary = "exact derivatives of markers, sensors and efforts with respect to the commands",
    .usage = "ROBOT --set NAME=VALUE ... [options]",
    .about = "Solves at the given commands, then differentiates marker positions (mm), rotation vectors\n"
             "(rad), sensors, efforts and measures with respect to these commands, in display units (per\n"
             "kPa, per mm...), with the exact tangent (method local_global: by central differences). JSON\n"
             "is the record of `pliant fk` with a `jacobian` added.",
    .examples = "  pliant jacobian finger --set air=20kPa\n"
                "  pliant jacobian finger --set air=20kPa --by commands --by material --json -\n"
                "  pliant jacobian finger --set air=20kPa --compliance\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = jacobian_run,
};
