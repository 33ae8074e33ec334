// pliant mesh: builds a robot's mesh (or reads a mesh file), judges it, and writes it in other formats.
#include <string.h>
#include <strings.h>
#include "cli.h"

static const cli_option options[] = {
    {"out", 0, "FILE", "write the mesh: .vtu .msh .stl .inp .node .png .svg; may be repeated", NULL},
    CLI_JSON,
    {"surface", 0, "NAME", "for .stl: this surface only", NULL},
    {"unit", 0, "UNIT", "for a mesh file: its unit: mm (default), cm, m, in", "mm cm m in"},
    CLI_PICTURE,
    CLI_MESHING,
    CLI_WORKING,
    CLI_FORCE,
    {0},
};

// mm per unit of the file; 1 without the option.
bool cli_unit(const cli_args *args, double *unit)
{
    static const struct {
        const char *name;
        double mm;
    } known[] = {{"mm", 1}, {"cm", 10}, {"m", 1000}, {"in", 25.4}};
    const char *text = cli_value(args, "unit");
    *unit = 1;

    for (int i = 0; text && i < 4; ++i) {
        if (strcmp(text, known[i].name) == 0) {
            *unit = known[i].mm;
            return true;
        }
    }

    if (text) {
        cli_error(args, "--unit %s: expected mm, cm, m or in", text);
    }

    return !text;
}

json_t *cli_json_quality(const pl_mesh_quality *q)
{
    json_t *quality = json_object();
    json_object_set_new(quality, "worst", cli_json_number(q->worst));
    json_object_set_new(quality, "mean", cli_json_number(q->mean));
    json_object_set_new(quality, "slivers", json_integer(q->sliver_count));
    json_object_set_new(quality, "inverted", json_integer(q->inverted_count));
    json_object_set_new(quality, "shortest_edge", cli_json_number(q->shortest_edge));
    json_object_set_new(quality, "mean_edge", cli_json_number(q->mean_edge));
    json_object_set_new(quality, "longest_edge", cli_json_number(q->longest_edge));

    return quality;
}

// Counts, volumes and areas in mm.
static json_t *mesh_json(const pl_mesh *mesh, const pl_mesh_quality *q, const pl_findings *findings)
{
    const pl_mesh_view view = pl_mesh_get(mesh);
    json_t *root = cli_json_head(0, findings), *regions = json_object(), *surfaces = json_object();

    json_object_set_new(root, "vertices", json_integer(view.vertex_count));
    json_object_set_new(root, "elements", json_integer(view.element_count));
    for (int32_t r = 0; r < view.region_count; ++r) {
        json_t *one = json_object();
        json_object_set_new(one, "volume", cli_json_number(pl_mesh_region_volume(mesh, r)));
        json_object_set_new(regions, view.region_name[r], one);
    }

    for (int32_t s = 0; s < view.surface_count; ++s) {
        const int64_t *face = view.surface_face + view.surface_start[s];
        const int64_t count = view.surface_start[s + 1] - view.surface_start[s];
        json_t *one = json_object();
        json_object_set_new(one, "area", cli_json_number(pl_mesh_faces_area(mesh, face, count)));
        json_object_set_new(one, "faces", json_integer(count));
        json_object_set_new(surfaces, view.surface_name[s], one);
    }

    json_object_set_new(root, "regions", regions);
    json_object_set_new(root, "surfaces", surfaces);
    json_object_set_new(root, "quality", cli_json_quality(q));

    return root;
}

static void mesh_print(const cli_args *args, const pl_mesh *mesh, const pl_mesh_quality *q)
{
    const pl_mesh_view view = pl_mesh_get(mesh);
    cli_say(args, "%d vertices, %d elements, %d region%s, %d surface%s, %.4g mL\n", view.vertex_count,
            view.element_count, view.region_count, view.region_count == 1 ? "" : "s", view.surface_count,
            view.surface_count == 1 ? "" : "s", pl_mesh_region_volume(mesh, -1) / 1000);
    cli_say(args, "  quality: worst %.3f (element %d), mean %.3f; %d sliver%s below 0.1, %d inverted\n",
            q->worst, q->worst_element, q->mean, q->sliver_count, q->sliver_count == 1 ? "" : "s",
            q->inverted_count);
    cli_say(args, "  edges: %.3g to %.3g mm, mean %.3g\n", q->shortest_edge, q->longest_edge, q->mean_edge);
}

// Quality, files, record.
static int mesh_finish(const cli_args *args, const pl_mesh *mesh, const pl_findings *findings)
{
    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);
    mesh_print(args, mesh, &q);
    int cursor = 0;

    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        if (cli_mesh_write(args, mesh, path, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        cli_say(args, "  wrote %s\n", path);
    }

    return cli_json_write(args, cli_value(args, "json") ? mesh_json(mesh, &q, findings) : NULL);
}

// A linear mesh becomes quadratic with --order 2, a quadratic one linear with --order 1.
static pl_status mesh_order(const cli_args *args, pl_mesh **mesh, pl_error *err)
{
    int order = 0;
    if (!cli_whole(args, "order", &order)) {
        *err = (pl_error){.status = PL_BAD_INPUT};
        return PL_BAD_INPUT;
    }

    if (order == 0) {
        return PL_OK;
    }

    pl_mesh *other = NULL;
    const pl_status status =
        order == 2 ? pl_mesh_raise(*mesh, &other, err) : pl_mesh_corners(*mesh, &other, NULL, err);
    if (status == PL_OK) {
        pl_mesh_destroy(*mesh);
        *mesh = other;
    }

    return status;
}

// A mesh file: nothing of a robot applies to it.
static int mesh_from_file(const cli_args *args, const char *path)
{
    double unit = 1;
    if (!cli_unit(args, &unit)) {
        return CLI_EXIT_USAGE;
    }

    // options that only generating a mesh understands
    if (cli_flag(args, "size")) {
        cli_error(args, "--size: %s is already a mesh; give a robot file with a surface, CAD or a design",
                  path);
        return CLI_EXIT_USAGE;
    }

    int status = cli_check_outputs(args, NULL, NULL, path);
    if (status) {
        return status;
    }

    // defects of the file are listed, even where it can be read
    pl_findings *findings = pl_findings_create();
    pl_mesh *mesh = NULL;
    pl_error err = {0};
    pl_status loaded = cli_mesh_read(path, unit, &mesh, findings, &err);
    cli_findings(findings);
    if (loaded == PL_OK) {
        loaded = mesh_order(args, &mesh, &err);
    }

    if (loaded == PL_OK) {
        status = mesh_finish(args, mesh, findings);
    } else {
        err.status = loaded;
        status =
            err.text[0] && pl_findings_defect_count(findings) == 0 ? cli_fail(args, &err) : CLI_EXIT_USAGE;
    }

    pl_mesh_destroy(mesh);
    pl_findings_destroy(findings);

    return status;
}

static int mesh_run(cli_args *args)
{
    int status = cli_setup(args);
    status = status ? status : cli_check_mesh_outputs(args);
    if (status) {
        return status;
    }
    if (pl_mesh_content_of(args->plain[0]) == PL_MESH_VOLUME) {
        return mesh_from_file(args, args->plain[0]);
    }

    cli_robot r = {0};
    status = cli_robot_open(args, args->plain[0], false, &r);
    status = status ? status : cli_check_outputs(args, NULL, r.path, NULL);
    if (status == CLI_DONE) {
        status = mesh_finish(args, pl_robot_mesh(r.robot), r.findings);
    }
    cli_robot_close(&r);

    return status;
}

const cli_verb cli_verb_mesh = {
    .name = "mesh",
    .summary = "generate the mesh, report its quality, write it; or convert a mesh file",
    .usage = "ROBOT|MESHFILE [options]",
    .about =
        "Generates the mesh of the robot (or takes it from the cache) and reports its quality.\n"
        "A mesh file (.msh .vtk .vtu .unv .inp .node) in place of the robot is read, repaired and converted.",
    .examples = "  pliant mesh finger --size 4 --out finger.vtu\n"
                "  pliant mesh finger --out inside.png --cut y --edges\n"
                "  pliant mesh finger --out cavity.stl --surface cavity\n"
                "  pliant mesh part.vtk --order 2 --out part.vtu\n",
    .option = options,
    .least = 1,
    .most = 1,
    .run = mesh_run,
    .stopping = "stopping",
};
