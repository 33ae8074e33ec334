// pliant info: what is in a robot.
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "cli_reduced.h"

static const cli_option options[] = {CLI_JSON, CLI_MESHING, CLI_WORKING, CLI_FORCE, {0}};

static const char *const element_name[] = {"tet4", "tet10", "prism6", "prism15"};

// Mass in tonnes: densities by region.
static double info_mass(const pl_robot *robot)
{
    const pl_mesh *mesh = pl_robot_mesh(robot);
    double mass = 0;
    for (int32_t r = 0; r < pl_mesh_get(mesh).region_count; ++r) {
        const char *name = pl_robot_region_material(robot, r);
        for (int m = 0; name && m < pl_robot_material_count(robot); ++m) {
            if (strcmp(pl_robot_material_name(robot, m), name) == 0) {
                mass += pl_robot_material(robot, m).density * pl_mesh_region_volume(mesh, r);
            }
        }
    }
    return mass;
}

static void info_counts(const pl_mesh_view *view, int64_t kinds[PL_ELEMENT_KIND_COUNT], int64_t *regions)
{
    for (int32_t e = 0; e < view->element_count; ++e) {
        ++kinds[view->kind[e]];
        ++regions[view->region[e]];
    }
}

// ---- for people
static void info_print_mesh(const cli_args *args, const pl_robot *robot, const int64_t *kinds,
                            const int64_t *regions)
{
    const pl_mesh *mesh = pl_robot_mesh(robot);
    const pl_mesh_view view = pl_mesh_get(mesh);
    double low[3], high[3];
    pl_mesh_bounds(mesh, low, high);
    const double mass = info_mass(robot) * 1e6;
    cli_say(args, "%s: %.4g x %.4g x %.4g mm, %.4g mL", pl_robot_name(robot), high[0] - low[0],
            high[1] - low[1], high[2] - low[2], pl_mesh_region_volume(mesh, -1) / 1000);
    cli_say(args, mass > 0 ? ", %.4g g\n" : ", weightless (no density given)\n", mass);
    cli_say(args, "  %d vertices, %d elements (", view.vertex_count, view.element_count);
    const char *comma = "";
    for (int k = 0; k < PL_ELEMENT_KIND_COUNT; ++k) {
        if (kinds[k]) {
            cli_say(args, "%s%ld %s", comma, (long)kinds[k], element_name[k]);
            comma = ", ";
        }
    }
    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);
    cli_say(args, ")\n  quality: worst %.3f, mean %.3f; edges %.3g to %.3g mm, mean %.3g", q.worst, q.mean,
            q.shortest_edge, q.longest_edge, q.mean_edge);
    cli_say(args, q.sliver_count + q.inverted_count ? "; %d slivers, %d inverted\n\n" : "\n\n",
            q.sliver_count, q.inverted_count);
    cli_table table = {0};
    cli_row(&table, "region\tvolume mm^3\telements\tmaterial");
    for (int32_t r = 0; r < view.region_count; ++r) {
        const char *material = pl_robot_region_material(robot, r);
        cli_row(&table, "%s\t%.1f\t%ld\t%s", view.region_name[r], pl_mesh_region_volume(mesh, r),
                (long)regions[r], material ? material : "none");
    }
    cli_table_print(args, &table);
    if (view.surface_count > 0) {
        cli_row(&table, "surface\tarea mm^2\tfaces\tshape");
    }
    for (int32_t s = 0; s < view.surface_count; ++s) {
        const int64_t *face = view.surface_face + view.surface_start[s];
        const int64_t count = view.surface_start[s + 1] - view.surface_start[s];
        int rims = 0;
        const bool closed = pl_mesh_faces_closed(mesh, face, count, &rims);
        cli_row(&table, "%s\t%.1f\t%ld\t%s%.0d%s", view.surface_name[s],
                pl_mesh_faces_area(mesh, face, count), (long)count, closed ? "closed" : "open, ",
                closed ? 0 : rims,
                closed      ? ""
                : rims == 1 ? " rim"
                            : " rims");
    }
    cli_say(args, view.surface_count ? "\n" : "");
    cli_table_print(args, &table);
}

static void info_print_commands(const cli_args *args, const pl_robot *robot)
{
    cli_table table = {0};
    const int count = pl_robot_command_count(robot);
    if (count > 0) {
        cli_say(args, "\n");
        cli_row(&table, "command\tunit\tfrom\tto\tactuators driven");
    }
    for (int i = 0; i < count; ++i) {
        const pl_command_info info = pl_robot_command(robot, i);
        const double scale = pl_drive_scale(info.drive);
        char low[32] = "", high[32] = "";
        if (info.has_range) {
            snprintf(low, sizeof low, "%g", info.range[0] / scale);
            snprintf(high, sizeof high, "%g", info.range[1] / scale);
        }
        cli_row(&table, "%s\t%s\t%s\t%s\t%d", info.name, pl_drive_unit(info.drive), low, high,
                info.actuator_count);
    }
    cli_table_print(args, &table);
}

static void info_print_actuators(const cli_args *args, const pl_robot *robot)
{
    static const char *const unit[] = {"mm long", "mm^3", "mm^2"};
    cli_table table = {0};
    const int count = pl_robot_actuator_count(robot);
    if (count > 0) {
        cli_say(args, "\n");
        cli_row(&table, "actuator\tkind\tdrive\tidle\tat rest");
    }
    for (int i = 0; i < count; ++i) {
        const pl_actuator_info info = pl_robot_actuator(robot, i);
        char rims[60] = "";
        if (info.rim_count > 0) {
            snprintf(rims, sizeof rims, ", %d opening%s capped", info.rim_count,
                     info.rim_count == 1 ? "" : "s");
        }
        cli_row(&table, "%s\t%s\t%s\t%s\t%.2f\t%s%s", info.name, pl_actuator_kind_name(info.kind),
                pl_drive_name(info.drive), info.idle_hold ? "hold" : "free", info.rest, unit[info.kind],
                rims);
    }
    cli_table_print(args, &table);
}

static void info_print_points(const cli_args *args, const pl_robot *robot)
{
    cli_table table = {0};
    for (int i = 0; i < pl_robot_marker_count(robot); ++i) {
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "marker\tx\ty\tz mm\toff the body mm");
        }
        double x[3], distance = 0;
        pl_robot_marker_rest(robot, i, x, &distance);
        cli_row(&table, "%s\t%.3f\t%.3f\t%.3f\t%.3g", pl_robot_marker_name(robot, i), x[0], x[1], x[2],
                distance);
    }
    cli_table_print(args, &table);
    static const char *const kind[] = {"length", "volume", "pressure"};
    for (int i = 0; i < pl_robot_sensor_count(robot); ++i) {
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "sensor\treads\tin");
        }
        const pl_sensor_kind k = pl_robot_sensor_kind(robot, i);
        cli_row(&table, "%s\t%s\t%s", pl_robot_sensor_name(robot, i), kind[k], cli_sensor_unit(k));
    }
    cli_table_print(args, &table);
    for (int i = 0; i < pl_robot_fixed_count(robot); ++i) {
        cli_say(args, i ? ", %s" : "\n  held at %s", pl_robot_fixed_name(robot, i));
    }
    cli_say(args, pl_robot_fixed_count(robot) ? "\n" : "");
}

// ---- for machines
static json_t *info_json_range(const double range[2], bool has, double scale)
{
    return has ? cli_json_numbers((double[]){range[0] / scale, range[1] / scale}, 2) : json_null();
}

static void info_json_mesh(json_t *root, const pl_robot *robot, const int64_t *kinds, const int64_t *regions)
{
    const pl_mesh *mesh = pl_robot_mesh(robot);
    const pl_mesh_view view = pl_mesh_get(mesh);
    json_t *by_kind = json_object(), *all = json_object(), *surfaces = json_object();
    json_object_set_new(root, "name", json_string(pl_robot_name(robot)));
    json_object_set_new(root, "vertices", json_integer(view.vertex_count));
    json_object_set_new(root, "elements", json_integer(view.element_count));
    for (int k = 0; k < PL_ELEMENT_KIND_COUNT; ++k) {
        if (kinds[k]) {
            json_object_set_new(by_kind, element_name[k], json_integer(kinds[k]));
        }
    }
    json_object_set_new(root, "element_kinds", by_kind);
    for (int32_t r = 0; r < view.region_count; ++r) {
        const char *material = pl_robot_region_material(robot, r);
        json_t *one = json_object();
        json_object_set_new(one, "volume", cli_json_number(pl_mesh_region_volume(mesh, r)));
        json_object_set_new(one, "elements", json_integer(regions[r]));
        json_object_set_new(one, "material", material ? json_string(material) : json_null());
        json_object_set_new(all, view.region_name[r], one);
    }
    json_object_set_new(root, "regions", all);
    for (int32_t s = 0; s < view.surface_count; ++s) {
        const int64_t *face = view.surface_face + view.surface_start[s];
        const int64_t count = view.surface_start[s + 1] - view.surface_start[s];
        int rims = 0;
        json_t *one = json_object();
        const bool closed = pl_mesh_faces_closed(mesh, face, count, &rims);
        json_object_set_new(one, "area", cli_json_number(pl_mesh_faces_area(mesh, face, count)));
        json_object_set_new(one, "closed", json_boolean(closed));
        json_object_set_new(one, "rims", json_integer(rims));
        json_object_set_new(one, "faces", json_integer(count));
        json_object_set_new(surfaces, view.surface_name[s], one);
    }
    json_object_set_new(root, "surfaces", surfaces);
}

static void info_json_actuators(json_t *root, const pl_robot *robot)
{
    static const char *const rest[] = {"length", "volume", "area"};
    json_t *commands = json_object(), *actuators = json_object();
    for (int i = 0; i < pl_robot_command_count(robot); ++i) {
        const pl_command_info info = pl_robot_command(robot, i);
        json_t *one = json_object();
        json_object_set_new(one, "unit", json_string(pl_drive_unit(info.drive)));
        json_object_set_new(one, "range",
                            info_json_range(info.range, info.has_range, pl_drive_scale(info.drive)));
        json_object_set_new(commands, info.name, one);
    }
    for (int i = 0; i < pl_robot_actuator_count(robot); ++i) {
        const pl_actuator_info info = pl_robot_actuator(robot, i);
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_string(pl_actuator_kind_name(info.kind)));
        json_object_set_new(one, "drive", json_string(pl_drive_name(info.drive)));
        json_object_set_new(one, "unit", json_string(pl_drive_unit(info.drive)));
        json_object_set_new(one, "range",
                            info_json_range(info.range, info.has_range, pl_drive_scale(info.drive)));
        json_object_set_new(one, "idle", json_string(info.idle_hold ? "hold" : "free"));
        json_object_set_new(one, rest[info.kind], cli_json_number(info.rest));
        json_object_set_new(one, "rims", json_integer(info.rim_count));
        json_object_set_new(actuators, info.name, one);
    }
    json_object_set_new(root, "commands", commands);
    json_object_set_new(root, "actuators", actuators);
}

static void info_json_points(json_t *root, const pl_robot *robot)
{
    static const char *const kind[] = {"length", "volume", "pressure"};
    json_t *markers = json_object(), *sensors = json_object();
    for (int i = 0; i < pl_robot_marker_count(robot); ++i) {
        double x[3], distance = 0;
        pl_robot_marker_rest(robot, i, x, &distance);
        json_t *one = json_object();
        json_object_set_new(one, "position", cli_json_numbers(x, 3));
        json_object_set_new(one, "distance", cli_json_number(distance));
        json_object_set_new(markers, pl_robot_marker_name(robot, i), one);
    }
    for (int i = 0; i < pl_robot_sensor_count(robot); ++i) {
        const pl_sensor_kind k = pl_robot_sensor_kind(robot, i);
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_string(kind[k]));
        json_object_set_new(one, "unit", json_string(cli_sensor_unit(k)));
        json_object_set_new(sensors, pl_robot_sensor_name(robot, i), one);
    }
    json_object_set_new(root, "markers", markers);
    json_object_set_new(root, "sensors", sensors);
}

static json_t *info_json(const cli_robot *r, const int64_t *kinds, const int64_t *regions)
{
    const pl_mesh *mesh = pl_robot_mesh(r->robot);
    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);
    json_t *root = cli_json_head(r->robot, r->findings), *quality = json_object();
    info_json_mesh(root, r->robot, kinds, regions);
    info_json_actuators(root, r->robot);
    info_json_points(root, r->robot);
    json_object_set_new(quality, "worst", cli_json_number(q.worst));
    json_object_set_new(quality, "mean", cli_json_number(q.mean));
    json_object_set_new(quality, "slivers", json_integer(q.sliver_count));
    json_object_set_new(quality, "inverted", json_integer(q.inverted_count));
    json_object_set_new(quality, "mean_edge", cli_json_number(q.mean_edge));
    json_object_set_new(root, "quality", quality);
    json_object_set_new(root, "volume", cli_json_number(pl_mesh_region_volume(mesh, -1)));
    json_object_set_new(root, "mass_g", cli_json_number(info_mass(r->robot) * 1e6));
    return root;
}

static int info_run(cli_args *args)
{
    if (cli_is_reduced(args->plain[0])) {
        return cli_reduced_info(args);
    }
    cli_robot r = {0};
    int status = cli_setup(args);
    status = status ? status : cli_check_outputs(args, NULL, NULL, NULL);
    status = status ? status : cli_robot_open(args, args->plain[0], &r);
    status = status ? status : cli_check_outputs(args, NULL, r.path, NULL);
    if (status == CLI_DONE) {
        const pl_mesh_view view = pl_mesh_get(pl_robot_mesh(r.robot));
        int64_t kinds[PL_ELEMENT_KIND_COUNT] = {0};
        int64_t *regions = calloc((size_t)view.region_count + 1, sizeof *regions);
        if (regions) {
            info_counts(&view, kinds, regions);
            info_print_mesh(args, r.robot, kinds, regions);
            info_print_commands(args, r.robot);
            info_print_actuators(args, r.robot);
            info_print_points(args, r.robot);
            status = cli_json_write(args, cli_value(args, "json") ? info_json(&r, kinds, regions) : NULL);
        } else {
            status = cli_no_memory(args);
        }
        free(regions);
    }
    cli_robot_close(&r);
    return status;
}

const cli_verb cli_verb_info = {
    .name = "info",
    .summary = "what is in a robot: sizes, regions, surfaces, commands, actuators, markers",
    .usage = "ROBOT [options]",
    .about = "Loads the robot (a robot file, or the folder that holds robot.yaml), building its mesh\n"
             "when it is not cached, and tells what is in it.",
    .examples = "  pliant info finger\n"
                "  pliant info finger/robot.yaml --json - | jq .regions\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = info_run,
};
