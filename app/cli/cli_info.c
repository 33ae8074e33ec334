// pliant info: what a robot consists of. Sizes come from the mesh or the centre line; commands, actuators,
// markers and sensors are listed alike for every kind.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static const cli_option options[] = {CLI_JSON, CLI_MESHING, CLI_WORKING, CLI_FORCE, {0}};

// By the kinds of pl_element_kind.
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

// The box around the elements of a region, mm; zeros for one without elements.
static void info_region_box(const pl_mesh_view *view, int32_t region, double low[3], double high[3])
{
    for (int i = 0; i < 3; ++i) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
    }

    for (int32_t e = 0; e < view->element_count; ++e) {
        for (int64_t k = view->node_start[e]; view->region[e] == region && k < view->node_start[e + 1]; ++k) {
            for (int i = 0; i < 3; ++i) {
                const double x = view->position[3 * (int64_t)view->node[k] + i];
                low[i] = fmin(low[i], x);
                high[i] = fmax(high[i], x);
            }
        }
    }

    for (int i = 0; i < 3; ++i) {
        low[i] = isfinite(low[i]) ? low[i] : 0;
        high[i] = isfinite(high[i]) ? high[i] : 0;
    }
}

// Counts elements by kind and by region; both arrays begin at zero.
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

    // tonnes to grams
    const double mass = info_mass(robot) * 1e6;
    cli_say(args, "%s: %.4g x %.4g x %.4g mm, %.4g mL", pl_robot_name(robot), high[0] - low[0],
            high[1] - low[1], high[2] - low[2], pl_mesh_region_volume(mesh, -1) / 1000);
    cli_say(args, mass > 0 ? ", %.4g g\n" : ", no mass (no density given)\n", mass);

    // elements by kind, only the kinds that occur
    cli_say(args, "  %d vertices, %d elements (", view.vertex_count, view.element_count);
    const char *comma = "";
    for (int k = 0; k < PL_ELEMENT_KIND_COUNT; ++k) {
        if (kinds[k]) {
            cli_say(args, "%s%ld %s", comma, (long)kinds[k], element_name[k]);
            comma = ", ";
        }
    }

    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);

    // slivers are named only where there are some
    cli_say(args, ")\n  quality: worst %.3f, mean %.3f; edges %.3g to %.3g mm, mean %.3g", q.worst, q.mean,
            q.shortest_edge, q.longest_edge, q.mean_edge);
    cli_say(args, q.sliver_count + q.inverted_count ? "; %d slivers, %d inverted\n\n" : "\n\n",
            q.sliver_count, q.inverted_count);

    // regions, with centre and size: enough to tell parts of a STEP file apart
    cli_table table = {0};
    cli_row(&table, "region\tvolume mm^3\telements\tmaterial\tcentre x\ty\tz mm\tsize x\ty\tz mm");
    for (int32_t r = 0; r < view.region_count; ++r) {
        const char *material = pl_robot_region_material(robot, r);
        double from[3], to[3];
        info_region_box(&view, r, from, to);
        cli_row(&table, "%s\t%.1f\t%ld\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f", view.region_name[r],
                pl_mesh_region_volume(mesh, r), (long)regions[r], material ? material : "none",
                cli_tidy(0.5 * (from[0] + to[0]), 2), cli_tidy(0.5 * (from[1] + to[1]), 2),
                cli_tidy(0.5 * (from[2] + to[2]), 2), to[0] - from[0], to[1] - from[1], to[2] - from[2]);
    }

    cli_table_print(args, &table);

    // surfaces, with openings: a cavity that should be closed and has a rim is seen here
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

// Commands with the unit and range in which they are given; the columns stay empty without a range.
static void info_print_commands(const cli_args *args, const pl_model_info *info)
{
    cli_table table = {0};
    for (int i = 0; i < info->command_count; ++i) {
        const pl_command_info *c = &info->command[i];
        const double scale = pl_drive_scale(c->drive);

        char low[32] = "", high[32] = "";
        if (c->has_range) {
            snprintf(low, sizeof low, "%g", c->range[0] / scale);
            snprintf(high, sizeof high, "%g", c->range[1] / scale);
        }

        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "command\tunit\tfrom\tto\tactuators driven");
        }

        cli_row(&table, "%s\t%s\t%s\t%s\t%d", c->name, pl_drive_unit(c->drive), low, high, c->actuator_count);
    }

    cli_table_print(args, &table);
}

// Actuators with their drive, what they do when idle, and their measure at rest: length, volume, area,
// moment.
static void info_print_actuators(const cli_args *args, const pl_model_info *info)
{
    cli_table table = {0};
    for (int i = 0; i < info->actuator_count; ++i) {
        const pl_actuator_info *a = &info->actuator[i];
        const pl_actuator_kind_info *kind = pl_actuator_kind_get(a->kind);
        char rims[60] = "";
        if (a->rim_count > 0) {
            snprintf(rims, sizeof rims, ", %d opening%s capped", a->rim_count, a->rim_count == 1 ? "" : "s");
        }
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "actuator\tkind\tdrive\tidle\tat rest");
        }

        cli_row(&table, "%s\t%s\t%s\t%s\t%.2f\t%s%s", a->name, pl_actuator_kind_name(a->kind),
                pl_drive_name(a->drive), a->idle_hold ? "hold" : "free", a->rest / kind->measure_scale,
                kind->measure_unit, rims);
    }

    cli_table_print(args, &table);
}

// Layers and fibres that are bonded to the body; `robot` may be NULL.
static void info_print_bonded(const cli_args *args, const pl_robot *robot)
{
    cli_table table = {0};
    for (int i = 0; robot && i < pl_robot_layer_count(robot); ++i) {
        const pl_layer_info l = pl_robot_layer(robot, i);

        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table,
                    "layer\tmaterial\tthickness mm\tarea mm^2\tfaces\tkind\twrinkles at %%\tprestretch");
        }

        char wrinkles[20] = "-";
        if (l.wrinkle > 0) {
            snprintf(wrinkles, sizeof wrinkles, "%.2g", 100 * l.wrinkle);
        }
        cli_row(&table, "%s\t%s\t%g\t%.2f\t%lld\t%s\t%s\t%g", l.name,
                pl_robot_material_name(robot, l.material), l.thickness, l.area, (long long)l.face_count,
                l.bending ? "shell" : "membrane", wrinkles, l.prestretch);
    }

    cli_table_print(args, &table);

    table = (cli_table){0};
    for (int i = 0; robot && i < pl_robot_fibre_count(robot); ++i) {
        const pl_fibre_info f = pl_robot_fibre(robot, i);
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "fibre\tlength mm\tpieces\tstiffness N\tacts\tprestretch");
        }

        cli_row(&table, "%s\t%.2f\t%d\t%.4g\t%s%s\t%g", f.name, f.length, f.piece_count, f.stiffness,
                f.inextensible ? "inextensible" : "elastic", f.tension_only ? ", pulls only" : "",
                f.prestretch);
    }

    cli_table_print(args, &table);
}

// Markers, sensors and supports. off: distance of each marker from the body, mm.
static void info_print_points(const cli_args *args, const pl_model_info *info, const double *off)
{
    cli_table table = {0};
    for (int i = 0; i < info->marker_count; ++i) {
        const double *x = info->marker_at + 3 * i;
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "marker\tx\ty\tz mm\toutside the body mm");
        }

        cli_row(&table, "%s\t%.3f\t%.3f\t%.3f\t%.3g", info->marker_name[i], cli_tidy(x[0], 3),
                cli_tidy(x[1], 3), cli_tidy(x[2], 3), off[i]);
    }

    cli_table_print(args, &table);

    for (int i = 0; i < info->sensor_count; ++i) {
        if (i == 0) {
            cli_say(args, "\n");
            cli_row(&table, "sensor\treads\tin");
        }

        cli_row(&table, "%s\t%s\t%s", info->sensor_name[i], pl_sensor_kind_name(info->sensor_kind[i]),
                pl_sensor_unit(info->sensor_kind[i]));
    }

    cli_table_print(args, &table);

    for (int i = 0; i < info->support_count; ++i) {
        cli_say(args, i ? ", %s" : "\n  held at %s", info->support_name[i]);
    }
    cli_say(args, info->support_count ? "\n" : "");
}

// ---- for machines
// A range in units of the drive, or null.
static json_t *info_json_range(const double range[2], bool has, double scale)
{
    return has ? cli_json_numbers((double[]){range[0] / scale, range[1] / scale}, 2) : json_null();
}

// Regions, surfaces and elements by kind, as info_print_mesh shows them.
static void info_json_mesh(json_t *root, const pl_robot *robot, const int64_t *kinds, const int64_t *regions)
{
    const pl_mesh *mesh = pl_robot_mesh(robot);
    const pl_mesh_view view = pl_mesh_get(mesh);
    json_t *by_kind = json_object(), *all = json_object(), *surfaces = json_object();

    json_object_set_new(root, "name", json_string(pl_robot_name(robot)));
    json_object_set_new(root, "vertices", json_integer(view.vertex_count));
    json_object_set_new(root, "elements", json_integer(view.element_count));

    // only kinds that there are
    for (int k = 0; k < PL_ELEMENT_KIND_COUNT; ++k) {
        if (kinds[k]) {
            json_object_set_new(by_kind, element_name[k], json_integer(kinds[k]));
        }
    }

    json_object_set_new(root, "element_kinds", by_kind);

    // per region what it weighs and where it lies
    for (int32_t r = 0; r < view.region_count; ++r) {
        const char *material = pl_robot_region_material(robot, r);
        json_t *one = json_object();
        json_object_set_new(one, "volume", cli_json_number(pl_mesh_region_volume(mesh, r)));
        json_object_set_new(one, "elements", json_integer(regions[r]));
        double low[3], high[3];
        info_region_box(&view, r, low, high);
        const double centre[3] = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]),
                                  0.5 * (low[2] + high[2])},
                     size[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
        json_object_set_new(one, "centre", cli_json_numbers(centre, 3));
        json_object_set_new(one, "size", cli_json_numbers(size, 3));
        json_object_set_new(one, "material", material ? json_string(material) : json_null());
        json_object_set_new(all, view.region_name[r], one);
    }

    json_object_set_new(root, "regions", all);

    // per surface whether it can bound a cavity
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

// Commands and actuators; the size at rest has the name of what the kind measures (length, volume, area).
static void info_json_actuators(json_t *root, const pl_model_info *info)
{
    json_t *commands = json_object(), *actuators = json_object();
    for (int i = 0; i < info->command_count; ++i) {
        const pl_command_info *c = &info->command[i];
        json_t *one = json_object();
        json_object_set_new(one, "unit", json_string(pl_drive_unit(c->drive)));
        json_object_set_new(one, "range", info_json_range(c->range, c->has_range, pl_drive_scale(c->drive)));
        json_object_set_new(commands, c->name, one);
    }

    for (int i = 0; i < info->actuator_count; ++i) {
        const pl_actuator_info *a = &info->actuator[i];
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_string(pl_actuator_kind_name(a->kind)));
        json_object_set_new(one, "drive", json_string(pl_drive_name(a->drive)));
        json_object_set_new(one, "unit", json_string(pl_drive_unit(a->drive)));
        json_object_set_new(one, "range", info_json_range(a->range, a->has_range, pl_drive_scale(a->drive)));
        json_object_set_new(one, "idle", json_string(a->idle_hold ? "hold" : "free"));
        json_object_set_new(one, pl_measure_name(a->kind),
                            cli_json_number(a->rest / pl_actuator_kind_get(a->kind)->measure_scale));
        json_object_set_new(one, "rims", json_integer(a->rim_count));
        json_object_set_new(actuators, a->name, one);
    }

    json_object_set_new(root, "commands", commands);
    json_object_set_new(root, "actuators", actuators);
}

// Markers and sensors by name.
static void info_json_points(json_t *root, const pl_model_info *info, const double *off)
{
    json_t *markers = json_object(), *sensors = json_object();
    for (int i = 0; i < info->marker_count; ++i) {
        json_t *one = json_object();
        json_object_set_new(one, "position", cli_json_numbers(info->marker_at + 3 * i, 3));
        json_object_set_new(one, "distance", cli_json_number(off[i]));
        json_object_set_new(markers, info->marker_name[i], one);
    }

    for (int i = 0; i < info->sensor_count; ++i) {
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_string(pl_sensor_kind_name(info->sensor_kind[i])));
        json_object_set_new(one, "unit", json_string(pl_sensor_unit(info->sensor_kind[i])));
        json_object_set_new(sensors, info->sensor_name[i], one);
    }

    json_object_set_new(root, "markers", markers);
    json_object_set_new(root, "sensors", sensors);
}

// Quality, volume in mm^3 and mass in g.
static void info_json_quality(json_t *root, const pl_robot *robot)
{
    const pl_mesh *mesh = pl_robot_mesh(robot);
    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);
    const double mass = info_mass(robot) * 1e6;
    json_object_set_new(root, "quality", cli_json_quality(&q));
    json_object_set_new(root, "volume", cli_json_number(pl_mesh_region_volume(mesh, -1)));
    json_object_set_new(root, "mass_g", cli_json_number(mass > 0 ? mass : NAN)); // no density: unknown
}

// What a model says of itself, taken from a robot without making its solver. Arrays on the heap.
typedef struct info_parts {
    pl_model_info info;
    pl_command_info *command;
    pl_actuator_info *actuator;
    const char **name; // of markers, sensors, supports
    pl_sensor_kind *sensor_kind;
    double *marker_at, *off; // off: of the body, mm
} info_parts;

static void info_parts_clear(info_parts *p)
{
    free(p->command);
    free(p->actuator);
    free(p->name);
    free(p->sensor_kind);
    free(p->marker_at);
    free(p->off);
}

// False when memory is out; info_parts_clear releases also what is half made.
static bool info_parts_of_robot(const pl_robot *robot, info_parts *p)
{
    pl_model_info *i = &p->info;
    i->command_count = pl_robot_command_count(robot);
    i->actuator_count = pl_robot_actuator_count(robot);
    i->marker_count = pl_robot_marker_count(robot);
    i->sensor_count = pl_robot_sensor_count(robot);
    i->support_count = pl_robot_fixed_count(robot);

    // one more than needed: an empty list shall not look like missing memory
    p->command = calloc((size_t)i->command_count + 1, sizeof *p->command);
    p->actuator = calloc((size_t)i->actuator_count + 1, sizeof *p->actuator);
    p->name = calloc((size_t)(i->marker_count + i->sensor_count + i->support_count) + 1, sizeof *p->name);
    p->sensor_kind = calloc((size_t)i->sensor_count + 1, sizeof *p->sensor_kind);
    p->marker_at = calloc(3 * (size_t)i->marker_count + 1, sizeof *p->marker_at);
    p->off = calloc((size_t)i->marker_count + 1, sizeof *p->off);
    if (!p->command || !p->actuator || !p->name || !p->sensor_kind || !p->marker_at || !p->off) {
        return false;
    }

    for (int k = 0; k < i->command_count; ++k) {
        p->command[k] = pl_robot_command(robot, k);
    }
    for (int k = 0; k < i->actuator_count; ++k) {
        p->actuator[k] = pl_robot_actuator(robot, k);
    }

    // one array of names for three lists: markers, sensors, supports
    const char **sensor = p->name + i->marker_count, **support = sensor + i->sensor_count;
    for (int k = 0; k < i->marker_count; ++k) {
        p->name[k] = pl_robot_marker_name(robot, k);
        pl_robot_marker_rest(robot, k, p->marker_at + 3 * k, &p->off[k]);
    }

    for (int k = 0; k < i->sensor_count; ++k) {
        sensor[k] = pl_robot_sensor_name(robot, k);
        p->sensor_kind[k] = pl_robot_sensor_kind(robot, k);
    }

    for (int k = 0; k < i->support_count; ++k) {
        support[k] = pl_robot_fixed_name(robot, k);
    }

    i->command = p->command;
    i->actuator = p->actuator;
    i->marker_name = p->name;
    i->marker_at = p->marker_at;
    i->sensor_name = sensor;
    i->sensor_kind = p->sensor_kind;
    i->support_name = support;

    return true;
}

// Layers and fibres, as info_print_bonded shows them.
static void info_json_bonded(json_t *root, const pl_robot *robot)
{
    json_t *layers = json_array(), *fibres = json_array();
    for (int i = 0; i < pl_robot_layer_count(robot); ++i) {
        const pl_layer_info l = pl_robot_layer(robot, i);
        json_array_append_new(
            layers, json_pack("{s:s,s:s,s:o,s:o,s:I,s:b,s:o,s:o}", "name", l.name, "material",
                              pl_robot_material_name(robot, l.material), "thickness_mm",
                              cli_json_number(l.thickness), "area_mm2", cli_json_number(l.area), "faces",
                              (json_int_t)l.face_count, "bending", (int)l.bending, "wrinkling_strain",
                              cli_json_number(l.wrinkle), "prestretch", cli_json_number(l.prestretch)));
    }

    for (int i = 0; i < pl_robot_fibre_count(robot); ++i) {
        const pl_fibre_info f = pl_robot_fibre(robot, i);
        json_array_append_new(fibres, json_pack("{s:s,s:o,s:i,s:o,s:b,s:b,s:o}", "name", f.name, "length_mm",
                                                cli_json_number(f.length), "pieces", f.piece_count,
                                                "stiffness_n", cli_json_number(f.stiffness), "inextensible",
                                                (int)f.inextensible, "tension_only", (int)f.tension_only,
                                                "prestretch", cli_json_number(f.prestretch)));
    }

    json_object_set_new(root, "layers", layers);
    json_object_set_new(root, "fibres", fibres);
}

// Lists the parts, after what is particular to the kind was printed and put into `root`.
static int info_report(const cli_args *args, const pl_model_info *info, const double *off, json_t *root)
{
    info_print_commands(args, info);
    info_print_actuators(args, info);
    info_print_points(args, info, off);
    info_json_actuators(root, info);
    info_json_points(root, info, off);
    return cli_json_write(args, root);
}

// Info of a robot with a mesh: loads it, makes the mesh if it is not cached, but no solver.
static int info_full(const cli_args *args, cli_robot *r)
{
    int status = cli_robot_open(args, args->plain[0], false, r);
    status = status ? status : cli_check_outputs(args, NULL, r->path, NULL);
    if (status) {
        return status;
    }

    const pl_mesh_view view = pl_mesh_get(pl_robot_mesh(r->robot));
    int64_t kinds[PL_ELEMENT_KIND_COUNT] = {0};
    int64_t *regions = calloc((size_t)view.region_count + 1, sizeof *regions);
    info_parts parts = {0};

    if (regions && info_parts_of_robot(r->robot, &parts)) {
        json_t *root = cli_json_head(pl_robot_hash(r->robot), r->findings);
        info_counts(&view, kinds, regions);
        info_print_mesh(args, r->robot, kinds, regions);
        info_json_mesh(root, r->robot, kinds, regions);
        info_json_quality(root, r->robot);
        info_print_bonded(args, r->robot);
        info_json_bonded(root, r->robot);
        status = info_report(args, &parts.info, parts.off, root);
    } else {
        status = cli_no_memory(args);
    }

    info_parts_clear(&parts);
    free(regions);

    return status;
}

// Info of a reduced or learned model. They have no body that a marker could be
// off, so all distances are zero.
static int info_reduced(const cli_args *args, cli_model *m)
{
    int status = cli_model_open(args, args->plain[0], m);
    status = status ? status : cli_check_outputs(args, NULL, m->path, NULL);
    double *off = status ? NULL : calloc((size_t)m->info.marker_count + 1, sizeof *off);
    if (status || !off) {
        return status ? status : cli_no_memory(args);
    }

    const double length = pl_reduced_length(m->model);
    if (pl_model_is_learned(m->model)) {
        const char *from = pl_learned_robot_file(pl_model_learned(m->model));
        cli_say(args, "%s: a learned model%s%s\n", m->info.name, from ? " of " : "", from ? from : "");
    } else {
        cli_say(args, "%s: a reduced model of kind %s, %.4g mm long, %d points along it\n", m->info.name,
                m->info.kind, length, (int)m->info.point_count);
    }

    json_t *root = cli_json_head(m->info.robot_hash, m->findings);
    json_object_set_new(root, "name", json_string(m->info.name));
    json_object_set_new(root, "model", json_string(m->info.kind));
    json_object_set_new(root, "length", cli_json_number(length));
    json_object_set_new(root, "vertices", json_integer(m->info.vertex_count));
    json_object_set_new(root, "elements", json_integer(m->info.element_count));
    status = info_report(args, &m->info, off, root);
    free(off);

    return status;
}

// The document says which kind it is before anything large is made.
static int info_run(cli_args *args)
{
    cli_robot r = {0};
    cli_model m = {0};
    int status = cli_setup(args);

    status = status ? status : cli_check_outputs(args, NULL, NULL, NULL);
    status = status ? status : cli_document_open(args, args->plain[0], &m.path, &m.document, &m.findings);
    if (!status && pl_robot_document_kind(m.document) == PL_ROBOT_FULL) {
        // the robot takes over what the model opened, so that it is released once
        r = (cli_robot){.path = m.path, .document = m.document, .findings = m.findings};
        m = (cli_model){0};
        status = info_full(args, &r);
    } else if (!status) {
        status = info_reduced(args, &m);
    }

    cli_model_close(&m);
    cli_robot_close(&r);

    return status;
}

const cli_verb cli_verb_info = {
    .name = "info",
    .summary = "show the contents of a robot: sizes, regions, surfaces, commands, actuators, markers",
    .usage = "ROBOT [options]",
    .about = "Loads the robot (a robot file, or a folder with robot.yaml), generating its mesh\nif it is not "
             "cached, and shows its contents.",
    .examples = "  pliant info finger\n"
                "  pliant info finger/robot.yaml --json - | jq .regions\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = info_run,
    .stopping = "stopping",
};
