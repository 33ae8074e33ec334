// Writing meshes and shapes by extension: VTU, MSH, INP, STL, TetGen, and shaded pictures.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"

const char *const cli_mesh_extensions[] = {".vtu", ".msh", ".stl", ".inp", ".node", ".png", ".svg", NULL};
const char *const cli_shape_extensions[] = {".vtu", ".pvd", ".stl", ".csv", ".png", ".svg", NULL};

static bool shape_is(const char *path, const char *extension)
{
    return strcasecmp(cli_extension(path), extension) == 0;
}

pl_status cli_mesh_read(const char *path, double unit, pl_mesh **mesh, pl_findings *findings, pl_error *err)
{
    static const char *const foreign[] = {".msh", ".vtk", ".unv"};
    for (int i = 0; i < 3; ++i) {
        if (shape_is(path, foreign[i])) {
            return pl_meshing_read(path, unit, mesh, findings, err);
        }
    }
    return pl_mesh_load(path, unit, pl_meshing_mesher(), mesh, findings, err);
}

static pl_status shape_wrong(pl_error *err, const char *text)
{
    *err = (pl_error){.status = PL_BAD_INPUT};
    snprintf(err->text, sizeof err->text, "%s", text);
    return PL_BAD_INPUT;
}

// The surface --surface names must exist; NULL (the whole boundary) when the option is absent.
static pl_status shape_surface(const cli_args *args, const pl_mesh *mesh, const char **name, pl_error *err)
{
    *name = cli_value(args, "surface");
    if (!*name || pl_mesh_find_surface(mesh, *name) >= 0) {
        return PL_OK;
    }
    const pl_mesh_view view = pl_mesh_get(mesh);
    char text[600];
    snprintf(text, sizeof text, "--surface %s: the mesh has no such surface; it has", *name);
    for (int32_t s = 0; s < view.surface_count; ++s) {
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s %s", s ? "," : "", view.surface_name[s]);
    }
    return shape_wrong(err, text);
}

// View, cut and edges from the options.
static pl_status shape_look(const cli_args *args, const pl_mesh *mesh, pl_picture *picture, pl_error *err)
{
    const char *view = cli_value(args, "view"), *cut = cli_value(args, "cut");
    if (view && pl_picture_view(view, picture->view, err) != PL_OK) {
        return err->status;
    }
    picture->wireframe = cli_flag(args, "edges");
    if (!cut) {
        return PL_OK;
    }
    if (strlen(cut) != 1 || cut[0] < 'x' || cut[0] > 'z') {
        return shape_wrong(err, "--cut takes an axis: x, y or z");
    }
    double low[3], high[3];
    pl_mesh_bounds(mesh, low, high);
    picture->clip = true;
    for (int i = 0; i < 3; ++i) {
        picture->clip_point[i] = 0.5 * (low[i] + high[i]);
        picture->clip_normal[i] = cut[0] - 'x' == i;
    }
    // keep the half behind the cut, so that the eye looks into it
    static const double usual[3] = {1, -1, 1};
    const bool given = picture->view[0] != 0 || picture->view[1] != 0 || picture->view[2] != 0;
    const double *eye = given ? picture->view : usual;
    const int axis = cut[0] - 'x';
    picture->clip_normal[axis] = eye[axis] < 0 ? -1 : 1;
    return PL_OK;
}

pl_status cli_mesh_write(const cli_args *args, const pl_mesh *mesh, const char *path, pl_error *err)
{
    const char *surface = NULL;
    *err = (pl_error){0};
    if (shape_surface(args, mesh, &surface, err) != PL_OK) {
        return err->status;
    }
    if (shape_is(path, ".vtu")) {
        return pl_mesh_write_vtu(mesh, path, PL_VTU_RAW, err);
    }
    if (shape_is(path, ".msh")) {
        return pl_meshing_write_msh(mesh, path, false, err);
    }
    if (shape_is(path, ".stl")) {
        return pl_mesh_write_stl(mesh, surface, NULL, path, err);
    }
    if (shape_is(path, ".inp")) {
        return pl_mesh_write_inp(mesh, path, err);
    }
    if (shape_is(path, ".node")) {
        return pl_mesh_write_tetgen(mesh, path, err);
    }
    pl_picture picture = pl_picture_default();
    picture.mesh = mesh;
    const pl_status status = shape_look(args, mesh, &picture, err);
    return status == PL_OK ? pl_picture_write(&picture, path, err) : status;
}

// ---- a solved shape
static const struct {
    const char *name, *legend;
    pl_field field;
    double scale;
} shape_colours[] = {
    {"displacement", "displacement (mm)", PL_FIELD_DISPLACEMENT, 1},
    {"von_mises", "von Mises stress (kPa)", PL_FIELD_VON_MISES, 1000},
    {"stretch", "largest stretch", PL_FIELD_STRETCH, 1},
};
#define SHAPE_COLOURS ((int)(sizeof shape_colours / sizeof shape_colours[0]))

// Which colour --color asks for: SHAPE_COLOURS for regions, -1 when there is none of that name.
static int shape_colour_asked(const cli_args *args)
{
    const char *colour = cli_value(args, "color");
    int k = 0;
    while (colour && k < SHAPE_COLOURS && strcmp(colour, shape_colours[k].name) != 0) {
        ++k;
    }
    return k < SHAPE_COLOURS || strcmp(colour, "region") == 0 ? k : -1;
}

// The vertex values --color asks for: *value stays NULL for regions.
static pl_status shape_colour(const cli_args *args, cli_run *run, double **value, pl_picture *picture,
                              pl_error *err)
{
    const int k = shape_colour_asked(args);
    if (k < 0) {
        return shape_wrong(err, "--color takes displacement, von_mises, stretch or region");
    }
    if (k == SHAPE_COLOURS) {
        return PL_OK;
    }
    const double scale = shape_colours[k].scale;
    const int32_t n = pl_state_vertex_count(run->state);
    const int components = pl_field_components(shape_colours[k].field);
    double *field = calloc((size_t)n * (size_t)components + 1, sizeof *field);
    if (!field) {
        *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the picture"};
        return PL_NO_MEMORY;
    }
    *value = field;
    picture->value_name = shape_colours[k].legend;
    const pl_status status = pl_statics_field(run->statics, run->state, shape_colours[k].field, field, err);
    // vectors by their length, in place
    for (int32_t v = 0; v < n; ++v) {
        const double *f = field + (size_t)v * (size_t)components;
        field[v] = scale * (components == 3 ? sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) : f[0]);
    }
    return status;
}

int cli_shape_check(const cli_args *args, const pl_mesh *mesh)
{
    pl_error err = {0};
    pl_picture picture = pl_picture_default();
    const char *surface;
    pl_status status = shape_surface(args, mesh, &surface, &err);
    if (status == PL_OK) {
        status = shape_look(args, mesh, &picture, &err);
    }
    if (status == PL_OK && shape_colour_asked(args) < 0) {
        status = shape_wrong(&err, "--color takes displacement, von_mises, stretch or region");
    }
    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// All cables of the current shape as polylines; both arrays on the heap.
static bool shape_cables(cli_run *run, double **line, int32_t **start, int *count)
{
    const int actuators = pl_robot_actuator_count(run->r.robot);
    int32_t points = 0;
    *count = 0;
    for (int i = 0; i < actuators; ++i) {
        if (pl_robot_actuator(run->r.robot, i).kind == PL_CABLE) {
            points += pl_statics_cable_points(run->statics, run->state, i, NULL, 0);
        }
    }
    *line = calloc(3 * (size_t)points + 1, sizeof **line);
    *start = calloc((size_t)actuators + 1, sizeof **start);
    if (!*line || !*start) {
        return false;
    }
    int32_t at = 0;
    for (int i = 0; i < actuators; ++i) {
        if (pl_robot_actuator(run->r.robot, i).kind == PL_CABLE) {
            at += pl_statics_cable_points(run->statics, run->state, i, *line + 3 * at, points - at);
            (*start)[++*count] = at;
        }
    }
    return true;
}

static pl_status shape_picture(const cli_args *args, cli_run *run, const char *path, pl_error *err)
{
    const pl_mesh *mesh = pl_robot_mesh(run->r.robot);
    pl_picture picture = pl_picture_default();
    char title[400];
    cli_commands_text(run->r.robot, run->command, title, sizeof title);
    picture.mesh = mesh;
    picture.position = pl_state_positions(run->state);
    picture.ghost = pl_mesh_get(mesh).position;
    picture.title = title;
    double *value = NULL, *line = NULL;
    int32_t *start = NULL;
    pl_status status = shape_look(args, mesh, &picture, err);
    if (status == PL_OK) {
        status = shape_colour(args, run, &value, &picture, err);
    }
    if (status == PL_OK && !shape_cables(run, &line, &start, &picture.line_count)) {
        *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the picture"};
        status = PL_NO_MEMORY;
    }
    if (status == PL_OK) {
        picture.vertex_value = value;
        picture.line = line;
        picture.line_start = start;
        status = pl_picture_write(&picture, path, err);
    }
    free(value);
    free(line);
    free(start);
    return status;
}

static pl_status shape_csv(cli_run *run, const char *path, pl_error *err)
{
    char *head = cli_result_csv_head(run), *row = cli_result_csv_row(run);
    char *text = head && row ? realloc(head, strlen(head) + strlen(row) + 1) : NULL;
    pl_status status = PL_NO_MEMORY;
    *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the table"};
    if (text) {
        head = text;
        strcat(text, row);
        status = pl_file_write(path, text, strlen(text), err);
    }
    free(head);
    free(row);
    return status;
}

// A series of one: the shape under the same name with .vtu, at time 1.
static pl_status shape_series(cli_run *run, const char *path, pl_error *err)
{
    char *vtu = malloc(strlen(path) + 8);
    if (!vtu) {
        *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for a file name"};
        return PL_NO_MEMORY;
    }
    sprintf(vtu, "%.*s.vtu", (int)(cli_extension(path) - path), path);
    pl_status status = pl_state_write_vtu(run->statics, run->r.robot, run->state, vtu, err);
    if (status == PL_OK) {
        const char *slash = strrchr(vtu, '/');
        const char *name = slash ? slash + 1 : vtu;
        status = pl_series_write_pvd(path, &name, &(double){1}, 1, err);
    }
    free(vtu);
    return status;
}

pl_status cli_shape_write(const cli_args *args, cli_run *run, const char *path, pl_error *err)
{
    const pl_mesh *mesh = pl_robot_mesh(run->r.robot);
    const char *surface = NULL;
    *err = (pl_error){0};
    if (shape_surface(args, mesh, &surface, err) != PL_OK) {
        return err->status;
    }
    if (shape_is(path, ".vtu")) {
        return pl_state_write_vtu(run->statics, run->r.robot, run->state, path, err);
    }
    if (shape_is(path, ".pvd")) {
        return shape_series(run, path, err);
    }
    if (shape_is(path, ".stl")) {
        return pl_mesh_write_stl(mesh, surface, pl_state_positions(run->state), path, err);
    }
    if (shape_is(path, ".csv")) {
        return shape_csv(run, path, err);
    }
    return shape_picture(args, run, path, err);
}
