// Writing meshes and shapes by extension: files of other programs, and shaded pictures.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli.h"

// The formats that `--out` writes of a shape: extension, writer. Another format is one more row; what is
// refused, completed and written follows it. docs/reference/files.md describes the formats.
#define SHAPE_FORMATS(F)                                                                                     \
    F(".vtu", shape_vtu)                                                                                     \
    F(".vtm", shape_vtm)                                                                                     \
    F(".pvd", shape_series)                                                                                  \
    F(".xdmf", shape_series)                                                                                 \
    F(".glb", shape_scene)                                                                                   \
    F(".usda", shape_series)                                                                                 \
    F(".obj", shape_scene)                                                                                   \
    F(".ply", shape_scene)                                                                                   \
    F(".stl", shape_stl)                                                                                     \
    F(".csv", shape_csv)                                                                                     \
    F(".png", shape_picture)                                                                                 \
    F(".svg", shape_picture)                                                                                 \
    F(".inp", shape_program)                                                                                 \
    F(".py", shape_program)                                                                                  \
    F(".urdf", shape_chain)                                                                                  \
    F(".sdf", shape_chain)                                                                                   \
    F(".mjcf", shape_chain)                                                                                  \
    F(".xml", shape_chain)
#define SHAPE_EXTENSION(extension, writer) extension,
#define SHAPE_ROW(extension, writer) {extension, writer},
const char *const cli_shape_extensions[] = {SHAPE_FORMATS(SHAPE_EXTENSION) NULL};

// Without regard to case.
static bool shape_is(const char *path, const char *extension)
{
    return strcasecmp(cli_extension(path), extension) == 0;
}

static bool shape_is_picture(const char *path)
{
    return shape_is(path, ".png") || shape_is(path, ".svg");
}

int cli_check_mesh_outputs(const cli_args *args)
{
    const char *known[24] = {".png", ".svg"};
    for (int i = 0, n = 2; n + 1 < 24 && pl_mesh_write_extension(i); ++i) {
        known[n++] = pl_mesh_write_extension(i);
    }
    return cli_check_outputs(args, known, NULL, NULL);
}

pl_status cli_mesh_read(const char *path, double unit, pl_mesh **mesh, pl_findings *findings, pl_error *err)
{
    return pl_mesh_load(path, unit, pl_meshing_mesher(), mesh, findings, err);
}

static pl_status shape_wrong(pl_error *err, const char *text)
{
    *err = (pl_error){.status = PL_BAD_INPUT};
    snprintf(err->text, sizeof err->text, "%s", text);
    return PL_BAD_INPUT;
}

static pl_status shape_no_memory(pl_error *err)
{
    *err = (pl_error){.status = PL_NO_MEMORY, .text = "no memory for the shape"};
    return PL_NO_MEMORY;
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
    if (!shape_is_picture(path)) {
        return pl_mesh_write(mesh, surface, NULL, pl_meshing_mesher(), path, err);
    }

    pl_picture picture = pl_picture_default();
    picture.mesh = mesh;
    const pl_status status = shape_look(args, mesh, &picture, err);

    return status == PL_OK ? pl_picture_write(&picture, path, err) : status;
}

// ---- a solved shape
// fields that pictures can show; in kPa where people expect it
static const struct {
    const char *name, *legend;
    pl_field field;
    double scale;
} shape_colours[] = {
    {"displacement", "displacement (mm)", PL_FIELD_DISPLACEMENT, 1},
    {"von_mises", "von Mises stress (kPa)", PL_FIELD_VON_MISES, 1000},
    {"stretch", "largest stretch", PL_FIELD_STRETCH, 1},
    {"contact_pressure", "contact pressure (kPa)", PL_FIELD_PRESSURE, 1000},
};
#define SHAPE_COLOURS ((int)(sizeof shape_colours / sizeof shape_colours[0]))

// Which colour --color asks for: SHAPE_COLOURS for regions, -1 when there is none of that name.
static int shape_colour_asked(const cli_args *args)
{
    const char *colour = cli_value(args, "color");
    int k = 0;

    while (colour && k < SHAPE_COLOURS && strcmp(colour, shape_colours[k].name) != 0 &&
           strcmp(colour, pl_field_label(shape_colours[k].field)) != 0) {
        ++k;
    }

    return k < SHAPE_COLOURS || strcmp(colour, "region") == 0 ? k : -1;
}

pl_field cli_shape_color(const cli_args *args, const cli_model *m, const char *path)
{
    const int k = shape_colour_asked(args);
    const bool given = cli_value(args, "color") != NULL;

    // readers of OBJ that do not know colours take them for coordinates
    if (k < 0 || k == SHAPE_COLOURS || (!given && shape_is(path, ".obj"))) {
        return PL_FIELD_COUNT;
    }

    const pl_field field = shape_colours[k].field;
    return !given && !(m->info.fields & (1u << field)) ? PL_FIELD_COUNT : field;
}

// The vertex values --color asks for: *value stays NULL for regions.
static pl_status shape_colour(const cli_args *args, cli_model *m, double **value, pl_picture *picture,
                              pl_error *err)
{
    const int k = shape_colour_asked(args);
    if (k < 0) {
        return shape_wrong(err, "--color takes displacement, von_mises, stretch, contact_pressure or region");
    }

    // a model that does not know the usual field is drawn by region
    if (k == SHAPE_COLOURS ||
        (!cli_value(args, "color") && !(m->info.fields & (1u << shape_colours[k].field)))) {
        return PL_OK;
    }

    const double scale = shape_colours[k].scale;
    const int32_t n = pl_mesh_get(picture->mesh).vertex_count;
    const int components = pl_field_components(shape_colours[k].field);
    double *field = calloc((size_t)n * (size_t)components + 1, sizeof *field);
    if (!field) {
        return shape_no_memory(err);
    }
    *value = field;
    picture->value_name = shape_colours[k].legend;
    const pl_status status = pl_model_field(m->model, shape_colours[k].field, field, err);

    // vectors by their length, in place
    for (int32_t v = 0; v < n; ++v) {
        const double *f = field + (size_t)v * (size_t)components;
        field[v] = scale * (components == 3 ? sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) : f[0]);
    }

    return status;
}

pl_status cli_shape_look(const cli_args *args, cli_model *m, pl_picture *picture, pl_error *err)
{
    const pl_mesh *mesh = NULL;
    const int k = shape_colour_asked(args);
    pl_status status = pl_model_body(m->model, &mesh, err);

    if (status == PL_OK && mesh) {
        status = shape_look(args, mesh, picture, err);
    }
    picture->value_name = k >= 0 && k < SHAPE_COLOURS ? shape_colours[k].legend : NULL;

    return status;
}

// Options of pictures are checked before the solve.
int cli_shape_check(const cli_args *args, cli_model *m)
{
    pl_error err = {0};
    pl_picture picture = pl_picture_default();
    const char *surface;
    const pl_mesh *mesh = NULL;

    // the body of a learned model is that of its robot, which is built only to be drawn
    const bool needed = cli_value(args, "out") || !pl_model_is_learned(m->model);
    pl_status status = needed ? pl_model_body(m->model, &mesh, &err) : PL_OK;

    if (status == PL_OK && mesh) {
        status = shape_surface(args, mesh, &surface, &err);
    }
    if (status == PL_OK && mesh) {
        status = shape_look(args, mesh, &picture, &err);
    }
    if (status == PL_OK && shape_colour_asked(args) < 0) {
        status =
            shape_wrong(&err, "--color takes displacement, von_mises, stretch, contact_pressure or region");
    }

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// The lines of all actuators and fibres in the current shape, at `place`; both arrays on the heap.
static bool shape_lines(cli_model *m, const double *place, double **line, int32_t **start, int *count)
{
    const pl_robot *robot = pl_model_robot(m->model);
    const int actuators = m->info.actuator_count, fibres = robot ? pl_robot_fibre_count(robot) : 0;
    int32_t points = 0;
    size_t lines = (size_t)actuators + 1;

    *count = 0;
    for (int i = 0; i < actuators; ++i) {
        points += pl_model_line(m->model, i, NULL, 0);
    }

    for (int i = 0; i < fibres; ++i) {
        for (int k = 0; k < pl_robot_fibre(robot, i).piece_count; ++k, ++lines) {
            points += pl_robot_fibre_line(robot, i, k, place, NULL, 0);
        }
    }

    // one block for all points, then line by line
    *line = calloc(3 * (size_t)points + 1, sizeof **line);
    *start = calloc(lines, sizeof **start);
    if (!*line || !*start) {
        return false;
    }

    int32_t at = 0;
    for (int i = 0; i < actuators; ++i) {
        const int n = pl_model_line(m->model, i, *line + 3 * at, points - at);
        if (n > 0) {
            at += n;
            (*start)[++*count] = at;
        }
    }

    for (int i = 0; i < fibres; ++i) {
        for (int k = 0; k < pl_robot_fibre(robot, i).piece_count; ++k) {
            at += pl_robot_fibre_line(robot, i, k, place, *line + 3 * at, points - at);
            (*start)[++*count] = at;
        }
    }

    return true;
}

pl_status cli_shape_body(cli_model *m, double **place, pl_picture *picture, pl_error *err)
{
    *place = NULL;
    const pl_status status = pl_model_body(m->model, &picture->mesh, err);
    if (status != PL_OK) {
        return status;
    }
    if (!picture->mesh) {
        return shape_wrong(err, "the model has no body to draw");
    }

    const pl_mesh_view view = pl_mesh_get(picture->mesh);
    *place = calloc(3 * (size_t)view.vertex_count + 1, sizeof **place);
    if (!*place) {
        return shape_no_memory(err);
    }
    pl_model_shape(m->model, *place);
    picture->position = *place;
    picture->ghost = view.position;

    return PL_OK;
}

// Triangles of obstacles where they are now.
static bool shape_obstacles(cli_model *m, const pl_picture *picture, double **out, int *count)
{
    *count = pl_model_obstacles(m->model, picture->position, NULL);
    *out = calloc(9 * (size_t)*count + 1, sizeof **out);
    if (*out) {
        pl_model_obstacles(m->model, picture->position, *out);
    }
    return *out != NULL;
}

// Everything that a picture shows: body, colours, cables and fibres, obstacles, a mark.
static pl_status shape_picture(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    pl_picture picture = pl_picture_default();
    char title[400];

    cli_commands_text(cli_model_commands(m), pl_model_get_answer(m->model).command, title, sizeof title);
    picture.title = title;
    double *place = NULL, *value = NULL, *line = NULL, *obstacle = NULL;
    int32_t *start = NULL;
    pl_status status = cli_shape_body(m, &place, &picture, err);
    if (status == PL_OK) {
        status = shape_look(args, picture.mesh, &picture, err);
    }
    if (status == PL_OK) {
        status = shape_colour(args, m, &value, &picture, err);
    }
    if (status == PL_OK && !shape_lines(m, place, &line, &start, &picture.line_count)) {
        status = shape_no_memory(err);
    }
    if (status == PL_OK && !shape_obstacles(m, &picture, &obstacle, &picture.triangle_count)) {
        status = shape_no_memory(err);
    }

    const pl_record *record = NULL;
    double crossing[3];
    if (status == PL_OK) {
        status = pl_model_record(m->model, NULL, &record, err);
    }

    if (status == PL_OK) {
        // the first place where the body penetrates itself
        picture.mark_count = pl_record_crossing(record, crossing);
        picture.mark = crossing;
        picture.triangle = obstacle;
        picture.vertex_value = value;
        picture.line = line;
        picture.line_start = start;
        status = pl_picture_write(&picture, path, err);
    }

    free(place);
    free(value);
    free(line);
    free(obstacle);
    free(start);

    return status;
}

// Head and row of the table of results.
static pl_status shape_csv(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    (void)args;
    char *head = cli_record_csv_head(m), *row = cli_record_csv_row(m);
    char *text = head && row ? malloc(strlen(head) + strlen(row) + 1) : NULL;
    pl_status status = text ? PL_OK : shape_no_memory(err);
    if (text) {
        sprintf(text, "%s%s", head, row);
        status = pl_file_write(path, text, strlen(text), err);
    }

    free(text);
    pl_file_free(head);
    pl_file_free(row);

    return status;
}

static pl_status shape_stl(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    pl_picture body = pl_picture_default();
    double *place = NULL;
    const char *surface = NULL;
    pl_status status = cli_shape_body(m, &place, &body, err);

    if (status == PL_OK) {
        status = shape_surface(args, body.mesh, &surface, err);
    }
    if (status == PL_OK) {
        status = pl_mesh_write(body.mesh, surface, place, NULL, path, err);
    }
    free(place);

    return status;
}

// A series of one shape.
static pl_status shape_series(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    pl_series *series;
    pl_status status = pl_series_create(m->model, path, cli_shape_color(args, m, path), &series, err);

    if (status == PL_OK) {
        status = pl_series_add(series, err);
    }
    if (status == PL_OK) {
        status = pl_series_finish(series, NULL, err);
    }
    pl_series_destroy(series);

    return status;
}

// Jobs and scenes of other programs; what differs there is printed.
static pl_status shape_program(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    (void)args;
    pl_findings *findings = pl_findings_create();
    const pl_status status = shape_is(path, ".inp") ? pl_model_write_deck(m->model, path, findings, err)
                                                    : pl_model_write_sofa(m->model, path, findings, err);
    cli_findings(findings);
    pl_findings_destroy(findings);

    return status;
}

// A chain of rigid links that follows the marker; how well is printed.
static pl_status shape_chain(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    pl_chain_options options = pl_chain_options_default();
    pl_chain_report r;
    const char *marker = cli_value(args, "marker");

    options.marker = marker ? pl_model_find_marker(m->model, marker) : 0;
    if (options.marker < 0) {
        return shape_wrong(err, "--marker: the robot has no marker of that name");
    }
    if (!cli_whole(args, "links", &options.link_count)) {
        return shape_wrong(err, "--links takes a number from 1 to 200");
    }

    const pl_status status = pl_model_write_chain(m->model, &options, path, &r, err);
    if (status == PL_OK) {
        cli_say(args, "  %s: %d links; %s off by %.3g mm of %.4g mm, its compliance by %.2g %%", path,
                r.link_count, m->info.marker_name[options.marker], r.position_error, r.motion,
                100 * r.compliance_error);
        if (!isnan(r.half_error)) {
            cli_say(args, "; at half of the commands by %.3g mm", r.half_error);
        }
        cli_say(args, "%s\n", r.density_assumed ? "; masses of water, weightless in the solve" : "");
    }

    return status;
}

static pl_status shape_vtu(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    (void)args;
    return pl_model_write_vtu(m->model, path, err);
}

static pl_status shape_vtm(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    (void)args;
    return pl_model_write_vtm(m->model, path, err);
}

static pl_status shape_scene(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    return pl_model_write_surface(m->model, cli_shape_color(args, m, path), path, err);
}

pl_status cli_shape_write(const cli_args *args, cli_model *m, const char *path, pl_error *err)
{
    static const struct {
        const char *extension;
        pl_status (*write)(const cli_args *args, cli_model *m, const char *path, pl_error *err);
    } format[] = {SHAPE_FORMATS(SHAPE_ROW)};
    *err = (pl_error){0};

    for (size_t i = 0; i < sizeof format / sizeof format[0]; ++i) {
        if (shape_is(path, format[i].extension)) {
            return format[i].write(args, m, path, err);
        }
    }

    return shape_wrong(err, "the extension of the file is not known"); // refused before: cli_check_outputs
}

int cli_shape_outputs(const cli_args *args, cli_model *m)
{
    int cursor = 0;
    for (const char *path; (path = cli_next(args, "out", &cursor));) {
        pl_error err = {0};
        // what is drawn or written is in balance; a solve that found no equilibrium has nothing to show
        if (m->report.no_state) {
            cli_say(args, "  %s is not written: no equilibrium was found\n", path);
            continue;
        }

        if (cli_critical_is(path)) {
            const int status = cli_critical(args, m, path, NULL);
            if (status) {
                return status;
            }
            continue;
        }

        if (cli_shape_write(args, m, path, &err) != PL_OK) {
            return cli_fail(args, &err);
        }
        cli_say(args, "  wrote %s\n", path);
    }

    return CLI_DONE;
}
