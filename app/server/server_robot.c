// A robot in the words of the page: commands with units and ranges, actuators, markers, materials; or, when
// the file has defects, the sentences `doctor` says about it.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "server_impl.h"

server_command_view server_command_view_of(const server_model *m, int command)
{
    const pl_command_info *info = &m->info.command[command];
    server_command_view view = {.unit = pl_drive_unit(info->drive), .scale = pl_drive_scale(info->drive)};

    view.assumed = !info->has_range;
    view.low = info->span[0] / view.scale;
    view.high = info->span[1] / view.scale;
    view.rest = fmin(fmax(info->rest, info->span[0]), info->span[1]) / view.scale;

    return view;
}

static json_t *robot_commands(const server_model *m)
{
    json_t *list = json_array();
    for (int i = 0; i < m->info.command_count && i < SERVER_COMMANDS; ++i) {
        const pl_command_info *info = &m->info.command[i];
        const server_command_view view = server_command_view_of(m, i);
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:f,s:f,s:f,s:b}", "name", info->name, "drive",
                                              pl_drive_name(info->drive), "unit",
                                              strcmp(view.unit, "1") ? view.unit : "", "low", view.low,
                                              "high", view.high, "rest", view.rest, "assumed", view.assumed));
    }

    return list;
}

static json_t *robot_actuators(const server_model *m)
{
    json_t *list = json_array();
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const pl_actuator_info *a = &m->info.actuator[i];
        const pl_actuator_kind_info *kind = pl_actuator_kind_get(a->kind);
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:f}", "name", a->name, "kind", kind->name,
                                        "drive", pl_drive_name(a->drive), "effort", kind->effort_key, "unit",
                                        kind->effort_unit, "command", a->command, "rest", a->rest));
    }

    return list;
}

static json_t *robot_regions(const server_model *m)
{
    const pl_mesh_view view = pl_mesh_get(m->body);
    const pl_robot *robot = pl_model_robot(m->model);
    json_t *list = json_array();

    for (int32_t r = 0; r < view.region_count; ++r) {
        const char *material = robot ? pl_robot_region_material(robot, r) : NULL;
        json_array_append_new(list, json_pack("{s:s,s:s,s:f}", "name", view.region_name[r], "material",
                                              material ? material : "", "volume",
                                              pl_mesh_region_volume(m->body, r)));
    }

    return list;
}

static json_t *robot_findings(const pl_findings *findings)
{
    static const char *const word[] = {"note", "warning", "error"};
    json_t *list = json_array();

    for (int i = 0; i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        json_t *one = json_pack("{s:s,s:o,s:o}", "severity", word[f->severity], "text", server_text(f->text),
                                "advice", server_text(f->advice ? f->advice : ""));
        if (one && f->file) {
            json_object_set_new(one, "file", server_text(f->file));
            json_object_set_new(one, "line", json_integer(f->line));
        }
        json_array_append_new(list, one);
    }

    return list;
}

static json_t *robot_sensors(const server_model *m)
{
    json_t *list = json_array();
    for (int k = 0; k < m->info.sensor_count; ++k) {
        json_array_append_new(list, json_pack("{s:s,s:s}", "name", m->info.sensor_name[k], "unit",
                                              pl_sensor_unit(m->info.sensor_kind[k])));
    }
    return list;
}

// What acts on the body besides its actuators: gravity, forces at markers, supports, obstacles.
static void robot_surroundings(const server_model *m, json_t *root)
{
    const pl_robot *robot = pl_model_robot(m->model);
    json_t *loads = json_array(), *supports = json_array(), *obstacles = json_array();
    double gravity[3] = {0}, force[3], moment[3];

    if (robot) {
        pl_robot_gravity(robot, gravity);
    }
    for (int i = 0; i < 3; ++i) {
        gravity[i] /= 1000; // m/s^2
    }

    for (int i = 0; robot && i < pl_robot_force_count(robot); ++i) {
        const int marker = pl_robot_force(robot, i, force, moment);
        json_array_append_new(loads,
                              json_pack("{s:i,s:o,s:o}", "marker", marker, "force", server_numbers(force, 3),
                                        "moment", server_numbers(moment, 3)));
    }

    for (int i = 0; robot && i < pl_robot_fixed_count(robot); ++i) {
        json_array_append_new(supports, server_text(pl_robot_fixed_name(robot, i)));
    }

    for (int i = 0; robot && i < pl_robot_obstacle_count(robot); ++i) {
        json_array_append_new(obstacles, json_pack("{s:o,s:s,s:f}", "name",
                                                   server_text(pl_robot_obstacle_name(robot, i)), "kind",
                                                   pl_robot_obstacle_kind(robot, i), "friction",
                                                   pl_robot_obstacle_friction(robot, i)));
    }

    json_t *fibres = json_array(), *springs = json_array();
    for (int i = 0; robot && i < pl_robot_fibre_count(robot); ++i) {
        const pl_fibre_info f = pl_robot_fibre(robot, i);
        json_array_append_new(fibres, json_pack("{s:o,s:f,s:b}", "name", server_text(f.name), "length",
                                                f.length, "inextensible", f.inextensible));
    }

    for (int i = 0; robot && i < pl_robot_spring_count(robot); ++i) {
        const pl_spring_info s = pl_robot_spring(robot, i);
        json_array_append_new(springs, json_pack("{s:o,s:i,s:i,s:o,s:f}", "name", server_text(s.name), "from",
                                                 s.from, "to", s.to, "point", server_numbers(s.point, 3),
                                                 "stiffness", s.stiffness));
    }

    json_object_set_new(root, "fibres", fibres);
    json_object_set_new(root, "springs", springs);
    json_object_set_new(root, "gravity", server_numbers(gravity, 3));
    json_object_set_new(root, "loads", loads);
    json_object_set_new(root, "supports", supports);
    json_object_set_new(root, "obstacles", obstacles);
    json_object_set_new(root, "pulls", json_boolean(robot && strcmp(m->info.method, "exact") == 0));
}

json_t *server_robot_json(server_model *m, const pl_findings *findings, const pl_robot_document *document,
                          uint32_t number)
{
    json_t *root = json_object(), *markers = json_array();
    double low[3], high[3];
    pl_mesh_bounds(m->body, low, high);
    for (int k = 0; k < m->info.marker_count; ++k) {
        json_array_append_new(markers, json_pack("{s:s,s:o}", "name", m->info.marker_name[k], "rest",
                                                 server_numbers(m->info.marker_at + 3 * k, 3)));
    }

    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)m->info.hash);
    json_object_set_new(root, "type", json_string("robot"));
    json_object_set_new(root, "robot", json_integer(number));
    json_object_set_new(root, "ok", json_true());
    json_object_set_new(root, "name", json_string(m->info.name ? m->info.name : "robot"));
    json_object_set_new(root, "model", json_string(m->info.kind));
    json_object_set_new(root, "method", json_string(m->info.method));
    json_object_set_new(root, "file", server_text(pl_robot_document_path(document)));
    json_object_set_new(root, "hash", json_string(hash));
    json_object_set_new(root, "resolution", server_number(PL_LENGTH_TOLERANCE));
    json_object_set_new(root, "low", server_numbers(low, 3));
    json_object_set_new(root, "high", server_numbers(high, 3));
    json_object_set_new(root, "commands", robot_commands(m));
    json_object_set_new(root, "actuators", robot_actuators(m));
    json_object_set_new(root, "markers", markers);
    json_object_set_new(root, "sensors", robot_sensors(m));
    json_object_set_new(root, "regions", robot_regions(m));
    robot_surroundings(m, root);
    json_object_set_new(root, "parameters", server_parameters_json(document));
    json_object_set_new(root, "findings", robot_findings(findings));

    return root;
}

json_t *server_problem_json(const pl_findings *findings, const pl_error *err, const char *path, bool standing)
{
    json_t *list = robot_findings(findings);
    if (pl_findings_defect_count(findings) == 0) {
        json_array_append_new(list, json_pack("{s:s,s:o,s:s}", "severity", "error", "text",
                                              server_text(err->text), "advice", ""));
    }

    return json_pack("{s:s,s:b,s:o,s:o}", "type", "problem", "standing", standing, "file", server_text(path),
                     "findings", list);
}
