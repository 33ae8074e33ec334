// A model on the command line: opened from a robot file, its commands set, its answer as people, machines and
// spreadsheets read it. A full body is shown with everything its solver knows; every model by what all of
// them answer.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "cli_reduced.h"

static int model_full(const cli_args *args, cli_model *m)
{
    pl_error err = {0};
    pl_statics_options options = pl_robot_file_options(m->run.r.path, &err);
    if (err.status != PL_OK) {
        return cli_fail(args, &err);
    }
    pl_geometric_options geometric;
    if (pl_robot_file_method(m->run.r.path, &geometric, &err) == PL_METHOD_LOCAL_GLOBAL) {
        pl_findings_add(m->run.r.findings, PL_WARNING, m->run.r.path, 0,
                        "solver: the file asks for local_global, which has no derivatives: the exact method "
                        "answers here");
        cli_say(args,
                "note: the file asks for local_global, which has no derivatives: the exact method answers "
                "here\n");
    }
    options.displacement = options.displacement || cli_flag(args, "displacement");
    options.progress = cli_progress;
    if (pl_model_from_robot(m->run.r.robot, &options, &m->model, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    return CLI_DONE;
}

// Options about a mesh or its state files say nothing to a reduced model: refused, not ignored.
static int model_strangers(const cli_args *args)
{
    static const char *const mesh_only[] = {"save-state", "displacement", "size", "order", "cut"};
    for (size_t i = 0; i < sizeof mesh_only / sizeof mesh_only[0]; ++i) {
        if (cli_value(args, mesh_only[i]) || cli_flag(args, mesh_only[i])) {
            cli_error(args, "--%s belongs to a robot with a mesh; this one is a reduced model", mesh_only[i]);
            return CLI_WRONG;
        }
    }
    return CLI_DONE;
}

int cli_model_open(const cli_args *args, const char *given, cli_model *m)
{
    int status;
    if (cli_is_reduced(given)) {
        status = model_strangers(args);
        status = status ? status : cli_reduced_open(args, given, m);
    } else {
        status = cli_robot_open(args, given, &m->run.r);
        status = status ? status : model_full(args, m);
    }
    if (status) {
        return status;
    }
    m->info = pl_model_get_info(m->model);
    m->command = calloc((size_t)m->info.command_count + 1, sizeof *m->command);
    if (!m->command) {
        return cli_no_memory(args);
    }
    for (int i = 0; i < m->info.command_count; ++i) {
        m->command[i] = NAN;
    }
    return CLI_DONE;
}

void cli_model_close(cli_model *m)
{
    pl_model_destroy(m->model);
    free(m->command);
    cli_robot_close(&m->run.r);
    *m = (cli_model){0};
}

// A reduced model is drawn as a tube.
pl_status cli_model_body(cli_model *m, pl_mesh **own, double **place, pl_picture *picture, pl_error *err)
{
    *own = NULL;
    *place = NULL;
    picture->mesh = m->run.r.robot ? pl_robot_mesh(m->run.r.robot) : NULL;
    if (picture->mesh) {
        picture->position = pl_model_get_answer(m->model).point;
    } else {
        pl_status status = pl_reduced_tube(m->model, own, err);
        if (status != PL_OK) {
            return status;
        }
        *place = calloc(3 * (size_t)pl_mesh_get(*own).vertex_count + 1, sizeof **place);
        if (!*place) {
            *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the picture"};
        }
        status = *place ? pl_reduced_tube_place(m->model, *own, *place, err) : PL_NO_MEMORY;
        if (status != PL_OK) {
            pl_mesh_destroy(*own);
            free(*place);
            *own = NULL;
            *place = NULL;
            return status;
        }
        picture->mesh = *own;
        picture->position = *place;
    }
    picture->ghost = pl_mesh_get(picture->mesh).position;
    return PL_OK;
}

// ---- names
// Complains that the model has no `what` of that name; says which there are.
static void model_unknown(const cli_args *args, const char *option, const char *what, const char *name,
                          const char *const *known, int count)
{
    char list[600] = "";
    for (int i = 0; i < count; ++i) {
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", known[i]);
    }
    const char *near = cli_nearest(name, known, count);
    cli_error(args, "--%s: the robot has no %s '%s'%s%s%s", option, what, name,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    if (count > 0) {
        cli_advice("it has %s", list);
    } else {
        cli_advice("it has none at all");
    }
}

int cli_model_marker(const cli_args *args, const cli_model *m, const char *option, const char *name)
{
    const int found = pl_model_find_marker(m->model, name);
    if (found < 0) {
        model_unknown(args, option, "marker", name, m->info.marker_name, m->info.marker_count);
    }
    return found;
}

int cli_model_sensor(const cli_args *args, const cli_model *m, const char *option, const char *name)
{
    const int found = pl_model_find_sensor(m->model, name);
    if (found < 0) {
        model_unknown(args, option, "sensor", name, m->info.sensor_name, m->info.sensor_count);
    }
    return found;
}

int cli_model_actuator(const cli_args *args, const cli_model *m, const char *option, const char *name)
{
    const int found = pl_model_find_actuator(m->model, name);
    if (found < 0) {
        model_unknown(args, option, "actuator", name, m->info.actuator_name, m->info.actuator_count);
    }
    return found;
}

int cli_model_command(const cli_args *args, const cli_model *m, const char *option, const char *name)
{
    const int found = pl_model_find_command(m->model, name);
    const char *known[64];
    int count = 0;
    while (found < 0 && count < m->info.command_count && count < 64) {
        known[count] = m->info.command[count].name;
        ++count;
    }
    if (found < 0) {
        model_unknown(args, option, "command", name, known, count);
    }
    return found;
}

// ---- commands
int cli_model_commands_read(const cli_args *args, cli_model *m)
{
    int cursor = 0;
    for (const char *text; (text = cli_next(args, "set", &cursor));) {
        char name[200];
        const size_t length = strcspn(text, "=");
        if (!text[length] || length == 0 || !text[length + 1] || length >= sizeof name) {
            cli_error(args, "--set %s: expected NAME=VALUE, such as air=20kPa", text);
            return CLI_WRONG;
        }
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        const int i = cli_model_command(args, m, "set", name);
        if (i < 0) {
            return CLI_WRONG;
        }
        const pl_model_command *c = &m->info.command[i];
        pl_error err = {0};
        if (!isnan(m->command[i])) {
            cli_error(args, "--set %s: the command is set twice", text);
            return CLI_WRONG;
        }
        if (pl_quantity_parse(text + length + 1, pl_drive_dimension(c->drive), &m->command[i], &err) !=
            PL_OK) {
            cli_error(args, "--set %s: %s", text, err.text);
            return CLI_WRONG;
        }
        const double slack = 1e-12 * (fabs(c->range[0]) + fabs(c->range[1]));
        if (c->has_range && !cli_flag(args, "beyond-range") &&
            !(m->command[i] >= c->range[0] - slack && m->command[i] <= c->range[1] + slack)) {
            cli_error(args, "%s is %g %s, outside its range of %g to %g %s", name,
                      m->command[i] / pl_drive_scale(c->drive), pl_drive_unit(c->drive),
                      c->range[0] / pl_drive_scale(c->drive), c->range[1] / pl_drive_scale(c->drive),
                      pl_drive_unit(c->drive));
            return CLI_WRONG;
        }
    }
    return CLI_DONE;
}

void cli_model_commands_text(const cli_model *m, const double *command, char *buffer, size_t size)
{
    buffer[0] = 0;
    for (int i = 0; i < m->info.command_count; ++i) {
        if (isnan(command[i])) {
            continue;
        }
        const pl_drive drive = m->info.command[i].drive;
        const char *unit = pl_drive_unit(drive);
        const size_t at = strlen(buffer);
        snprintf(buffer + at, size - at, "%s%s = %.6g%s%s", at ? ", " : "", m->info.command[i].name,
                 command[i] / pl_drive_scale(drive), strcmp(unit, "1") ? " " : "",
                 strcmp(unit, "1") ? unit : "");
    }
    if (!buffer[0]) {
        snprintf(buffer, size, "no command set");
    }
}

// Takes over where the model stands, so that the run shows it: of a full body with its solver and state,
// which belong to the model. They are asked for only here, because a model reads its answer anew whenever
// others hold its state.
static void model_sync(cli_model *m)
{
    const pl_model_answer answer = pl_model_get_answer(m->model);
    memcpy(m->command, answer.command, (size_t)m->info.command_count * sizeof *m->command);
    m->run.statics = pl_model_statics(m->model);
    m->run.state = pl_model_state(m->model);
    m->run.command = m->command;
}

// ---- for people
static void model_print_rows(const cli_args *args, const cli_model *m, const pl_model_answer *a)
{
    cli_table table = {0};
    cli_row(&table, "marker\tx\ty\tz mm\tmoved mm");
    for (int i = 0; i < m->info.marker_count; ++i) {
        const double *p = a->marker + 3 * i, *r = m->info.marker_at + 3 * i;
        const double d[3] = {p[0] - r[0], p[1] - r[1], p[2] - r[2]};
        cli_row(&table, "%s\t%.3f\t%.3f\t%.3f\t%.3f", m->info.marker_name[i], cli_tidy(p[0], 3),
                cli_tidy(p[1], 3), cli_tidy(p[2], 3), sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    cli_say(args, "\n");
    cli_table_print(args, &table);
    cli_row(&table, "actuator\tkind\tnow\teffort");
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const pl_actuator_kind kind = m->info.actuator_kind[i];
        if (isfinite(a->effort[i])) {
            cli_row(&table, "%s\t%s\t%.2f\t%.4g\t%s", m->info.actuator_name[i], pl_actuator_kind_name(kind),
                    a->measure[i], a->effort[i] / cli_effort_scale(kind), cli_effort_unit(kind));
        } else {
            cli_row(&table, "%s\t%s\t%.2f\t-\t%s", m->info.actuator_name[i], pl_actuator_kind_name(kind),
                    a->measure[i], cli_effort_unit(kind));
        }
    }
    cli_say(args, "\n");
    cli_table_print(args, &table);
}

void cli_model_print(const cli_args *args, cli_model *m)
{
    model_sync(m);
    if (m->run.statics) {
        cli_result_print(args, &m->run);
        return;
    }
    char text[400];
    const pl_model_answer answer = pl_model_get_answer(m->model);
    cli_model_commands_text(m, m->command, text, sizeof text);
    cli_say(args, "%s (%s) at %s\n", m->info.name, m->info.kind, text);
    model_print_rows(args, m, &answer);
}

// ---- for machines
static json_t *model_json_head(const cli_model *m)
{
    if (m->run.r.robot) {
        return cli_json_head(m->run.r.robot, m->run.r.findings);
    }
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, m->info.hash);
    json_t *root = json_object();
    json_object_set_new(root, "format", json_integer(1));
    json_object_set_new(root, "pliant", json_string(pl_version()));
    json_object_set_new(root, "robot", json_string(hash));
    json_object_set_new(root, "warnings", cli_json_findings(m->run.r.findings));
    return root;
}

static json_t *model_json_markers(const cli_model *m, const pl_model_answer *a)
{
    json_t *all = json_object();
    for (int i = 0; i < m->info.marker_count; ++i) {
        const double *p = a->marker + 3 * i, *r = m->info.marker_at + 3 * i;
        const double d[3] = {p[0] - r[0], p[1] - r[1], p[2] - r[2]};
        json_t *one = json_object();
        json_object_set_new(one, "position", cli_json_numbers(p, 3));
        json_object_set_new(one, "displacement", cli_json_numbers(d, 3));
        json_object_set_new(one, "rotation",
                            isnan(a->rotation[9 * i]) ? json_null()
                                                      : cli_json_numbers(a->rotation + 9 * i, 9));
        json_object_set_new(all, m->info.marker_name[i], one);
    }
    return all;
}

static json_t *model_json_actuators(const cli_model *m, const pl_model_answer *a)
{
    static const char *const measure[] = {"length", "volume", "area"};
    static const char *const effort[] = {"tension", "pressure_kpa", "maxwell_stress_kpa"};
    json_t *all = json_object();
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const pl_actuator_kind kind = m->info.actuator_kind[i];
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_string(pl_actuator_kind_name(kind)));
        json_object_set_new(one, measure[kind], cli_json_number(a->measure[i]));
        json_object_set_new(one, effort[kind], cli_json_number(a->effort[i] / cli_effort_scale(kind)));
        json_object_set_new(all, m->info.actuator_name[i], one);
    }
    return all;
}

json_t *cli_model_json(cli_model *m)
{
    model_sync(m);
    if (m->run.statics) {
        return cli_result_json(&m->run);
    }
    const pl_model_answer a = pl_model_get_answer(m->model);
    json_t *root = model_json_head(m), *commands = json_object(), *sensors = json_object();
    for (int i = 0; i < m->info.command_count; ++i) {
        const pl_drive drive = m->info.command[i].drive;
        json_t *one = json_object();
        json_object_set_new(one, "value", cli_json_number(m->command[i] / pl_drive_scale(drive)));
        json_object_set_new(one, "unit", json_string(pl_drive_unit(drive)));
        json_object_set_new(commands, m->info.command[i].name, one);
    }
    for (int i = 0; i < m->info.sensor_count; ++i) {
        json_object_set_new(sensors, m->info.sensor_name[i],
                            cli_json_number(a.sensor[i] / cli_sensor_scale(m->info.sensor_kind[i])));
    }
    json_object_set_new(root, "model", json_string(m->info.kind));
    json_object_set_new(root, "converged", json_boolean(m->run.report.outcome == PL_SOLVED));
    json_object_set_new(root, "outcome", json_string(pl_outcome_name(m->run.report.outcome)));
    json_object_set_new(root, "energy", cli_json_number(a.energy));
    json_object_set_new(root, "commands", commands);
    json_object_set_new(root, "actuators", model_json_actuators(m, &a));
    json_object_set_new(root, "markers", model_json_markers(m, &a));
    json_object_set_new(root, "sensors", sensors);
    return root;
}

// ---- files
// Body points as they are, one row each: the shape of a model without a mesh.
static pl_status model_write_points(const cli_model *m, const char *path, pl_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *t = open_memstream(&text, &bytes);
    if (!t) {
        *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the table"};
        return PL_NO_MEMORY;
    }
    const pl_model_answer a = pl_model_get_answer(m->model);
    fprintf(t, "point,x0 [mm],y0 [mm],z0 [mm],x [mm],y [mm],z [mm]\n");
    for (int32_t i = 0; i < m->info.point_count; ++i) {
        const double *r = m->info.rest + 3 * i, *p = a.point + 3 * i;
        fprintf(t, "%d,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g\n", (int)i, r[0], r[1], r[2], p[0], p[1], p[2]);
    }
    const bool failed = ferror(t);
    pl_status status = PL_NO_MEMORY;
    *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the table"};
    if (fclose(t) == 0 && !failed) {
        status = pl_file_write(path, text, bytes, err);
    }
    free(text);
    return status;
}

pl_status cli_model_write(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    model_sync(m);
    if (m->run.statics) {
        return cli_shape_write(args, &m->run, path, err);
    }
    if (strcmp(cli_extension(path), ".csv") == 0) {
        return model_write_points(m, path, err);
    }
    if (pl_model_is_reduced(m->model)) {
        return cli_reduced_write(args, m, path, err);
    }
    *err = (pl_error){.status = PL_BAD_INPUT};
    snprintf(err->text, sizeof err->text,
             "%s: a model of kind %s has no mesh: its points can be written as .csv", path, m->info.kind);
    return PL_BAD_INPUT;
}
