// Reduced robots on the command line: fk, info and doctor through pl_model, and their shapes as tubes.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"
#include "cli_reduced.h"

bool cli_is_reduced(const char *given)
{
    char *path = cli_robot_path(given);
    const bool reduced = path && pl_robot_file_is_reduced(path);
    free(path);
    return reduced;
}

int cli_reduced_open(const cli_args *args, const char *given, cli_model *m)
{
    m->run.r = (cli_robot){.path = cli_robot_path(given), .findings = pl_findings_create()};
    if (!m->run.r.path || !m->run.r.findings) {
        return cli_no_memory(args);
    }
    pl_error err = {0};
    const pl_status status = pl_model_load(m->run.r.path, NULL, &m->model, m->run.r.findings, &err);
    cli_findings(m->run.r.findings);
    if (status == PL_OK) {
        return CLI_DONE;
    }
    if (pl_findings_defect_count(m->run.r.findings) > 0) {
        return CLI_WRONG; // printed above
    }
    err.status = status;
    return cli_fail(args, &err);
}

// ---- shapes
static pl_status reduced_no_memory(pl_error *err)
{
    *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the shape"};
    return PL_NO_MEMORY;
}

// The paths of all actuators as polylines; both arrays on the heap.
static bool reduced_lines(const cli_model *m, double **line, int32_t **start)
{
    const int n = m->info.actuator_count;
    const size_t room = (size_t)m->info.point_count;
    *line = calloc(3 * room * (size_t)n + 1, sizeof **line);
    *start = calloc((size_t)n + 1, sizeof **start);
    for (int a = 0; *line && *start && a < n; ++a) {
        const int32_t at = (*start)[a];
        (*start)[a + 1] = at + pl_reduced_path_points(m->model, a, *line + 3 * at, (int)room);
    }
    return *line && *start;
}

static pl_status reduced_vtu(const cli_model *m, const pl_mesh *tube, const double *position,
                             const double *line, const int32_t *start, const char *path, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(tube);
    const pl_model_answer a = pl_model_get_answer(m->model);
    double *moved = calloc(3 * (size_t)v.vertex_count + 1, sizeof *moved);
    pl_extra_cells *extra = calloc((size_t)m->info.actuator_count + 1, sizeof *extra);
    pl_status status = PL_NO_MEMORY;
    if (moved && extra) {
        for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
            moved[i] = position[i] - v.position[i];
        }
        for (int i = 0; i < m->info.actuator_count; ++i) {
            const bool cable = m->info.actuator_kind[i] == PL_CABLE;
            const double effort = isfinite(a.effort[i]) ? a.effort[i] : 0;
            extra[i] = (pl_extra_cells){.point = line + 3 * start[i],
                                        .point_count = start[i + 1] - start[i],
                                        .tension = cable ? effort : 0,
                                        .pressure_kpa = cable ? 0 : 1000 * effort};
        }
        const pl_data_array array = {.name = "displacement", .value = moved, .components = 3};
        status = pl_shape_write_vtu(tube, position, &array, 1, extra, m->info.actuator_count, path, err);
    } else {
        reduced_no_memory(err);
    }
    free(moved);
    free(extra);
    return status;
}

static pl_status reduced_picture(const cli_args *args, const cli_model *m, const pl_mesh *tube,
                                 const double *position, const double *line, const int32_t *start,
                                 const char *path, pl_error *err)
{
    char title[400];
    pl_picture picture = pl_picture_default();
    const char *view = cli_value(args, "view");
    cli_model_commands_text(m, m->command, title, sizeof title);
    picture.mesh = tube;
    picture.position = position;
    picture.ghost = pl_mesh_get(tube).position;
    picture.title = title;
    picture.line = line;
    picture.line_start = start;
    picture.line_count = m->info.actuator_count;
    picture.wireframe = cli_flag(args, "edges");
    const pl_status status = view ? pl_picture_view(view, picture.view, err) : PL_OK;
    return status == PL_OK ? pl_picture_write(&picture, path, err) : status;
}

static pl_status reduced_pvd(const cli_model *m, const pl_mesh *tube, const double *position,
                             const double *line, const int32_t *start, const char *path, pl_error *err)
{
    char *vtu = malloc(strlen(path) + 8);
    if (!vtu) {
        return reduced_no_memory(err);
    }
    sprintf(vtu, "%.*s.vtu", (int)(cli_extension(path) - path), path);
    pl_status status = reduced_vtu(m, tube, position, line, start, vtu, err);
    if (status == PL_OK) {
        const char *slash = strrchr(vtu, '/'), *name = slash ? slash + 1 : vtu;
        status = pl_series_write_pvd(path, &name, &(double){1}, 1, err);
    }
    free(vtu);
    return status;
}

pl_status cli_reduced_write(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    pl_mesh *tube = NULL;
    double *line = NULL, *position = NULL;
    int32_t *start = NULL;
    const char *extension = cli_extension(path);
    *err = (pl_error){0};
    pl_status status = pl_reduced_tube(m->model, &tube, err);
    if (status == PL_OK) {
        position = calloc(3 * (size_t)pl_mesh_get(tube).vertex_count + 1, sizeof *position);
        status = position && reduced_lines(m, &line, &start) ? PL_OK : reduced_no_memory(err);
    }
    if (status == PL_OK) {
        status = pl_reduced_tube_place(m->model, tube, position, err);
    }
    if (status == PL_OK && strcasecmp(extension, ".vtu") == 0) {
        status = reduced_vtu(m, tube, position, line, start, path, err);
    } else if (status == PL_OK && strcasecmp(extension, ".pvd") == 0) {
        status = reduced_pvd(m, tube, position, line, start, path, err);
    } else if (status == PL_OK && strcasecmp(extension, ".stl") == 0) {
        status = pl_mesh_write_stl(tube, NULL, position, path, err);
    } else if (status == PL_OK) {
        status = reduced_picture(args, m, tube, position, line, start, path, err);
    }
    free(line);
    free(start);
    free(position);
    pl_mesh_destroy(tube);
    return status;
}

// ---- fk
int cli_reduced_solve(const cli_args *args, cli_model *m)
{
    pl_error err = {0};
    const pl_status status = pl_model_fk(m->model, m->command, &m->run.report, &err);
    if (status == PL_OK) {
        return CLI_DONE;
    }
    err.status = status;
    return cli_fail(args, &err);
}

// The record of `fk`: what every model tells, with what a reduced one knows besides.
json_t *cli_reduced_json(cli_model *m)
{
    json_t *root = cli_model_json(m), *actuators = json_object_get(root, "actuators"), *units = json_object();
    const pl_statics_report *p = &m->run.report;
    const pl_model_answer a = pl_model_get_answer(m->model);
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const pl_actuator_info info = pl_reduced_actuator(m->model, i);
        json_t *one = json_object_get(actuators, info.name);
        json_object_set_new(one, "drive", json_string(pl_drive_name(info.drive)));
        json_object_set_new(one, "ratio", cli_json_number(a.measure[i] / info.rest));
        if (info.kind == PL_CABLE) {
            json_object_set_new(one, "slack", json_boolean(pl_reduced_slack(m->model, i)));
        }
    }
    for (int i = 0; i < m->info.sensor_count; ++i) {
        json_object_set_new(units, m->info.sensor_name[i],
                            json_string(cli_sensor_unit(m->info.sensor_kind[i])));
    }
    json_object_set_new(root, "message", json_string(p->message));
    json_object_set_new(root, "iterations", json_integer(p->iterations));
    json_object_set_new(root, "increments", json_integer(p->increments));
    json_object_set_new(root, "factorizations", json_integer(p->factorizations));
    json_object_set_new(root, "solves", json_integer(p->solves));
    json_object_set_new(root, "residual", cli_json_number(p->residual));
    json_object_set_new(root, "step", cli_json_number(p->step));
    json_object_set_new(root, "seconds", cli_json_number(p->seconds));
    json_object_set_new(root, "load_reached", cli_json_number(p->load_reached));
    json_object_set_new(root, "vertices", json_integer(m->info.point_count));
    json_object_set_new(root, "elements", json_integer(m->info.point_count - 1));
    json_object_set_new(root, "sensor_units", units);
    json_object_set_new(root, "reactions", json_object());
    json_object_set_new(root, "contacts", json_object());
    json_object_set_new(root, "min_J", json_null());
    json_object_set_new(root, "max_stretch", cli_json_number(p->max_stretch));
    json_object_set_new(root, "negative_count", json_null());
    return root;
}

// Options that speak of a mesh or of its solver say nothing here: refused, not ignored.
static int reduced_strangers(const cli_args *args)
{
    static const char *const mesh_only[] = {"state", "save-state", "method",  "displacement", "time-limit",
                                            "size",  "order",      "surface", "color",        "cut"};
    for (size_t i = 0; i < sizeof mesh_only / sizeof mesh_only[0]; ++i) {
        if (cli_value(args, mesh_only[i]) || cli_flag(args, mesh_only[i])) {
            cli_error(args, "--%s belongs to a robot with a mesh; this one is a reduced model", mesh_only[i]);
            return CLI_WRONG;
        }
    }
    return CLI_DONE;
}

int cli_reduced_begin(const cli_args *args, const char *const *extensions, cli_model *m)
{
    int status = cli_setup(args);
    status = status ? status : reduced_strangers(args);
    status = status ? status : cli_check_outputs(args, extensions, NULL, NULL);
    status = status ? status : cli_model_open(args, args->plain[0], m);
    return status ? status : cli_check_outputs(args, NULL, m->run.r.path, NULL);
}

static int reduced_fk_write(const cli_args *args, cli_model *m)
{
    int cursor = 0;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        if (cli_model_write(args, m, path, &err) != PL_OK) {
            return cli_fail_writing(args, &err);
        }
        cli_say(args, "  wrote %s\n", path);
    }
    return cli_json_write(args, cli_value(args, "json") ? cli_reduced_json(m) : NULL);
}

int cli_reduced_fk(cli_args *args)
{
    cli_model m = {0};
    int status = cli_reduced_begin(args, cli_shape_extensions, &m);
    status = status ? status : cli_model_commands_read(args, &m);
    status = status ? status : cli_reduced_solve(args, &m);
    if (status == CLI_DONE) {
        const pl_statics_report *p = &m.run.report;
        cli_model_print(args, &m);
        if (isfinite(p->energy)) {
            cli_say(args, "\n  elastic energy %.4g mJ; %d iterations, out of balance by %.2g N\n", p->energy,
                    p->iterations, p->residual);
        }
        status = reduced_fk_write(args, &m);
        if (status == CLI_DONE && p->outcome != PL_SOLVED) {
            cli_error(args, "not converged: %s", p->message[0] ? p->message : pl_outcome_name(p->outcome));
            status = CLI_BADLY;
        }
    }
    cli_model_close(&m);
    return status;
}

// ---- info
static json_t *reduced_range(const double range[2], bool has_range, double scale)
{
    if (!has_range) {
        return json_null();
    }
    const double r[2] = {range[0] / scale, range[1] / scale};
    return cli_json_numbers(r, 2);
}

static json_t *reduced_info_json(cli_model *m)
{
    static const char *const rest[] = {"length", "volume", "area"}, *const kind[] = {"length", "volume",
                                                                                     "pressure"};
    json_t *root = cli_json_head(NULL, m->run.r.findings), *commands = json_object(),
           *actuators = json_object(), *markers = json_object(), *sensors = json_object();
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)m->info.hash);
    json_object_set_new(root, "robot", json_string(hash));
    json_object_set_new(root, "model", json_string(m->info.kind));
    json_object_set_new(root, "length", cli_json_number(pl_reduced_length(m->model)));
    json_object_set_new(root, "vertices", json_integer(m->info.point_count));
    json_object_set_new(root, "elements", json_integer(m->info.point_count - 1));
    for (int i = 0; i < m->info.command_count; ++i) {
        const pl_model_command *c = &m->info.command[i];
        json_t *one = json_object();
        json_object_set_new(one, "unit", json_string(pl_drive_unit(c->drive)));
        json_object_set_new(one, "range", reduced_range(c->range, c->has_range, pl_drive_scale(c->drive)));
        json_object_set_new(commands, c->name, one);
    }
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const pl_actuator_info a = pl_reduced_actuator(m->model, i);
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_string(pl_actuator_kind_name(a.kind)));
        json_object_set_new(one, "drive", json_string(pl_drive_name(a.drive)));
        json_object_set_new(one, "unit", json_string(pl_drive_unit(a.drive)));
        json_object_set_new(one, "range", reduced_range(a.range, a.has_range, pl_drive_scale(a.drive)));
        json_object_set_new(one, "idle", json_string(a.idle_hold ? "hold" : "free"));
        json_object_set_new(one, rest[a.kind], cli_json_number(a.rest));
        json_object_set_new(actuators, a.name, one);
    }
    for (int i = 0; i < m->info.marker_count; ++i) {
        json_t *one = json_object();
        json_object_set_new(one, "position", cli_json_numbers(m->info.marker_at + 3 * i, 3));
        json_object_set_new(markers, m->info.marker_name[i], one);
    }
    for (int i = 0; i < m->info.sensor_count; ++i) {
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_string(kind[m->info.sensor_kind[i]]));
        json_object_set_new(one, "unit", json_string(cli_sensor_unit(m->info.sensor_kind[i])));
        json_object_set_new(sensors, m->info.sensor_name[i], one);
    }
    json_object_set_new(root, "commands", commands);
    json_object_set_new(root, "actuators", actuators);
    json_object_set_new(root, "markers", markers);
    json_object_set_new(root, "sensors", sensors);
    return root;
}

static void reduced_info_print(const cli_args *args, cli_model *m)
{
    cli_table table = {0};
    cli_say(args, "%s: a reduced model of kind %s, %.4g mm long, %d points along it\n\n", m->info.name,
            m->info.kind, pl_reduced_length(m->model), (int)m->info.point_count);
    cli_row(&table, "command\tfrom\tto\tunit");
    for (int i = 0; i < m->info.command_count; ++i) {
        const pl_model_command *c = &m->info.command[i];
        const double scale = pl_drive_scale(c->drive);
        if (c->has_range) {
            cli_row(&table, "%s\t%g\t%g\t%s", c->name, c->range[0] / scale, c->range[1] / scale,
                    pl_drive_unit(c->drive));
        } else {
            cli_row(&table, "%s\t-\t-\t%s", c->name, pl_drive_unit(c->drive));
        }
    }
    cli_table_print(args, &table);
    cli_say(args, "\n");
    cli_row(&table, "actuator\tkind\tdrive\tat rest");
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const pl_actuator_info a = pl_reduced_actuator(m->model, i);
        cli_row(&table, "%s\t%s\t%s\t%.4g\t%s", a.name, pl_actuator_kind_name(a.kind), pl_drive_name(a.drive),
                a.rest, a.kind == PL_CABLE ? "mm" : "mm^3");
    }
    cli_table_print(args, &table);
    cli_say(args, "\n");
    cli_row(&table, "marker\tx\ty\tz mm");
    for (int i = 0; i < m->info.marker_count; ++i) {
        const double *p = m->info.marker_at + 3 * i;
        cli_row(&table, "%s\t%.3f\t%.3f\t%.3f", m->info.marker_name[i], cli_tidy(p[0], 3), cli_tidy(p[1], 3),
                cli_tidy(p[2], 3));
    }
    cli_table_print(args, &table);
}

int cli_reduced_info(cli_args *args)
{
    cli_model m = {0};
    int status = cli_reduced_begin(args, NULL, &m);
    if (status == CLI_DONE) {
        reduced_info_print(args, &m);
        status = cli_json_write(args, cli_value(args, "json") ? reduced_info_json(&m) : NULL);
    }
    cli_model_close(&m);
    return status;
}

// ---- doctor: what reading finds, and whether the model stands at rest and at the middle of its ranges
int cli_reduced_doctor(cli_args *args)
{
    cli_model m = {0};
    int status = cli_reduced_begin(args, NULL, &m);
    if (status == CLI_DONE && m.info.marker_count == 0) {
        pl_findings_add(m.run.r.findings, PL_WARNING, m.run.r.path, 0, "the robot has no markers");
        pl_findings_advise(m.run.r.findings, "add markers: {tip: {at: %g}}", pl_reduced_length(m.model));
    }
    for (int i = 0; status == CLI_DONE && i < m.info.command_count; ++i) {
        const pl_model_command *c = &m.info.command[i];
        if (!c->has_range) {
            pl_findings_add(m.run.r.findings, PL_NOTE, m.run.r.path, 0, "command '%s' has no range", c->name);
        }
        m.command[i] = c->has_range ? 0.5 * (c->range[0] + c->range[1]) : NAN;
    }
    status = status ? status : cli_reduced_solve(args, &m);
    if (status == CLI_DONE && m.run.report.outcome != PL_SOLVED) {
        pl_findings_add(m.run.r.findings, PL_WARNING, m.run.r.path, 0,
                        "no equilibrium at the middle of the ranges: %s", m.run.report.message);
    }
    if (status == CLI_DONE) {
        int worse = 0;
        cli_findings(m.run.r.findings);
        for (int i = 0; i < pl_findings_count(m.run.r.findings); ++i) {
            worse += pl_findings_at(m.run.r.findings, i)->severity != PL_NOTE;
        }
        json_t *root = cli_json_head(NULL, m.run.r.findings);
        json_object_set_new(root, "findings", cli_json_findings(m.run.r.findings));
        status = cli_json_write(args, root);
        cli_say(args, worse ? "warnings: %d\n" : "nothing wrong\n", worse);
        status = status ? status : worse ? CLI_BADLY : CLI_DONE;
    }
    cli_model_close(&m);
    return status;
}
