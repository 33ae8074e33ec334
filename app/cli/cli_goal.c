// Goals from the command line: markers and what they shall do, shapes, curvatures, sensors.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cli_goal.h"

// Three quantities "X,Y,Z" of one dimension; false after an error message. A text longer than the copy is
// refused, not cut.
bool cli_triple(const cli_args *args, const char *option, const char *text, pl_dimension dimension,
                double out[3])
{
    char copy[200], *part = copy;
    if (strlen(text) >= sizeof copy) {
        cli_error(args, "--%s: expected X,Y,Z, found a text of %zu letters", option, strlen(text));
        return false;
    }

    strcpy(copy, text);

    for (int i = 0; i < 3; ++i) {
        char *comma = strchr(part, ',');
        pl_error err = {0};

        // two commas, not fewer and not more
        if ((comma != NULL) != (i < 2)) {
            cli_error(args, "--%s %s: expected three numbers X,Y,Z", option, text);
            return false;
        }

        if (comma) {
            *comma = 0;
        }
        if (pl_quantity_parse(part, dimension, &out[i], &err) != PL_OK) {
            cli_error(args, "--%s %s: %s", option, text, err.text);
            return false;
        }

        part = comma ? comma + 1 : part;
    }

    return true;
}

// Empty goals with the defaults of the library, and room for one hold and one rate per command.
int cli_goals_init(const cli_args *args, const cli_model *m, cli_goals *g)
{
    *g = (cli_goals){.marker = -1, .surface_goal = -1, .options = pl_ik_options_default()};
    const size_t n = (size_t)m->info.command_count + 1;
    g->hold = calloc(n, sizeof *g->hold);
    g->rate = calloc(n, sizeof *g->rate);
    if (!g->hold || !g->rate) {
        return cli_no_memory(args);
    }
    g->options.hold = g->hold;
    g->options.progress = cli_progress_search;

    return CLI_DONE;
}

// Releases what the goals own: points and places of shapes, the surface, the stored samples.
void cli_goals_clear(cli_goals *g)
{
    for (int i = 0; i < g->count; ++i) {
        pl_mesh_free_indices(g->point[i]);
        free(g->place[i]);
        pl_shape_target_clear(&g->table[i]);
    }

    free(g->hold);
    free(g->rate);
    pl_trisurf_clear(&g->surface);
    pl_store_samples_clear(&g->stored);
    *g = (cli_goals){0};
}

// A new goal with the defaults of its kind, or NULL after an error message.
pl_objective *cli_goals_add(const cli_args *args, cli_goals *g, pl_objective_kind kind)
{
    if (g->count == CLI_GOALS) {
        cli_error(args, "at most %d goals can be given", CLI_GOALS);
        return NULL;
    }

    g->objective[g->count] = pl_objective_default(kind);
    return &g->objective[g->count++];
}

// The marker of --marker; without it the only marker of the robot, or the one named tip, or -1.
int cli_goals_marker(const cli_args *args, const cli_model *m, cli_goals *g)
{
    const char *name = cli_value(args, "marker");
    if (name) {
        g->marker = cli_model_marker(args, m, "marker", name);
        return g->marker < 0 ? CLI_EXIT_USAGE : CLI_DONE;
    }

    g->marker = m->info.marker_count == 1 ? 0 : pl_model_find_marker(m->model, "tip");
    return CLI_DONE;
}

// A goal of a marker: there must be one, and with `frame` one that turns.
static int goal_needs_marker(const cli_args *args, const cli_model *m, const cli_goals *g, const char *option,
                             bool frame)
{
    if (g->marker < 0) {
        cli_error(args, "--%s: the marker is not given: add --marker before it", option);
        for (int i = 0; i < m->info.marker_count; ++i) {
            cli_advice("the robot has %s", m->info.marker_name[i]);
        }
        return CLI_EXIT_USAGE;
    }

    // the answer at rest already tells: a marker that is a point has no rotation (NaN)
    if (frame && isnan(pl_model_get_answer(m->model).rotation[9 * g->marker])) {
        cli_error(args, "--%s: marker %s has no frame, only a position", option,
                  m->info.marker_name[g->marker]);
        cli_advice("mark a surface, or give the marker a radius");
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// ---- body points
// Points of the body: those of a named surface or region, or those along a straight line X,Y,Z:X,Y,Z of the
// undeformed configuration. The caller frees them with pl_mesh_free_indices.
int cli_body_points(const cli_args *args, const cli_model *m, const char *option, const char *text,
                    int32_t **point, int32_t *count)
{
    const char *colon = strchr(text, ':');
    pl_error err = {0};
    pl_status status;

    if (colon) {
        double from[3], to[3];
        char first[200];
        snprintf(first, sizeof first, "%.*s", (int)(colon - text), text);
        if (!cli_triple(args, option, first, PL_DIM_LENGTH, from) ||
            !cli_triple(args, option, colon + 1, PL_DIM_LENGTH, to)) {
            return CLI_EXIT_USAGE;
        }

        status = pl_model_points_on_line(m->model, from, to, point, count, &err);
    } else {
        status = pl_model_points(m->model, text, point, count, &err);
    }

    // a wrong name or an empty line is the user's: say what would be right
    if (status == PL_BAD_INPUT) {
        cli_error(args, "--%s %s: %s", option, text, err.text);
        cli_advice("or give a line in the undeformed configuration: --%s 0,0,5:100,0,5", option);
        return CLI_EXIT_USAGE;
    }

    return status == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// ---- one reader per option; `value` is its text
// --target: the marker shall be at X,Y,Z.
static int goal_target(const cli_args *args, const cli_model *m, cli_goals *g, const char *value)
{
    const int status = goal_needs_marker(args, m, g, "target", false);
    pl_objective *o = status ? NULL : cli_goals_add(args, g, PL_OBJECTIVE_POSITION);

    if (!o) {
        return CLI_EXIT_USAGE;
    }
    o->index = g->marker;
    return cli_triple(args, "target", value, PL_DIM_LENGTH, o->target) ? CLI_DONE : CLI_EXIT_USAGE;
}

// --direction: an axis of the marker shall point along X,Y,Z; --axis gives the axis afterwards.
static int goal_direction(const cli_args *args, const cli_model *m, cli_goals *g, const char *value)
{
    const int status = goal_needs_marker(args, m, g, "direction", true);
    pl_objective *o = status ? NULL : cli_goals_add(args, g, PL_OBJECTIVE_DIRECTION);

    if (!o || !cli_triple(args, "direction", value, PL_DIM_NUMBER, o->target)) {
        return CLI_EXIT_USAGE;
    }
    o->index = g->marker;
    if (o->target[0] == 0 && o->target[1] == 0 && o->target[2] == 0) {
        cli_error(args, "--direction %s: a vector of length 0 has no direction", value);
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// Rodrigues: R = 1 + sin(t) K + (1 - cos t) K^2 with t = |w| and K the cross product by w / t.
void cli_rotation(const double w[3], double R[9])
{
    const double t = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    const double a[3] = {t > 0 ? w[0] / t : 0, t > 0 ? w[1] / t : 0, t > 0 ? w[2] / t : 0};
    const double K[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const double KK = K[3 * i] * K[j] + K[3 * i + 1] * K[3 + j] + K[3 * i + 2] * K[6 + j];
            R[3 * i + j] = (i == j) + sin(t) * K[3 * i + j] + (1 - cos(t)) * KK;
        }
    }
}

// --orientation: the marker shall be turned by the rotation vector X,Y,Z (axis times angle).
static int goal_orientation(const cli_args *args, const cli_model *m, cli_goals *g, const char *value)
{
    const int status = goal_needs_marker(args, m, g, "orientation", true);
    pl_objective *o = status ? NULL : cli_goals_add(args, g, PL_OBJECTIVE_ORIENTATION);
    double w[3];

    if (!o || !cli_triple(args, "orientation", value, PL_DIM_ANGLE, w)) {
        return CLI_EXIT_USAGE;
    }
    o->index = g->marker;
    cli_rotation(w, o->rotation);

    return CLI_DONE;
}

// `option` can refine.
static pl_objective *goal_last(const cli_args *args, cli_goals *g, const char *option, const char *of,
                               unsigned kinds)
{
    pl_objective *o = g->count > 0 ? &g->objective[g->count - 1] : NULL;
    if (!o || !(kinds >> o->kind & 1)) {
        cli_error(args, "--%s must come after %s", option, of);
        return NULL;
    }

    return o;
}

// --distance turns the target before it into a goal of distance: anywhere on the sphere around it.
static int goal_distance(const cli_args *args, cli_goals *g, const char *value)
{
    pl_objective *o = goal_last(args, g, "distance", "--target", 1u << PL_OBJECTIVE_POSITION);
    pl_error err = {0};

    if (!o) {
        return CLI_EXIT_USAGE;
    }
    if (pl_quantity_parse(value, PL_DIM_LENGTH, &o->value, &err) != PL_OK || !(o->value >= 0)) {
        cli_error(args, "--distance %s: %s", value, err.text[0] ? err.text : "must not be negative");
        return CLI_EXIT_USAGE;
    }

    o->kind = PL_OBJECTIVE_DISTANCE;

    return CLI_DONE;
}

// --axes: the coordinates of the target or orientation before it that count; the others are free.
static int goal_axes(const cli_args *args, cli_goals *g, const char *value)
{
    pl_objective *o = goal_last(args, g, "axes", "--target or --orientation",
                                1u << PL_OBJECTIVE_POSITION | 1u << PL_OBJECTIVE_ORIENTATION);
    bool good = value[0] != 0;

    for (const char *c = value; o && *c; ++c) {
        good = good && *c >= 'x' && *c <= 'z';
        if (*c >= 'x' && *c <= 'z') {
            o->axes[*c - 'x'] = true;
        }
    }

    if (o && !good) {
        cli_error(args, "--axes %s: expected letters of x, y, z such as xy", value);
    }

    return o && good ? CLI_DONE : CLI_EXIT_USAGE;
}

// --axis: the axis of the marker that --direction turns, or the axis that gives a curvature its sign.
static int goal_axis(const cli_args *args, cli_goals *g, const char *value)
{
    pl_objective *o = goal_last(args, g, "axis", "--direction or --curvature",
                                1u << PL_OBJECTIVE_DIRECTION | 1u << PL_OBJECTIVE_CURVATURE);
    return o && cli_triple(args, "axis", value, PL_DIM_NUMBER, o->axis) ? CLI_DONE : CLI_EXIT_USAGE;
}

// --weight and --tolerance of the goal before them.
static int goal_number(const cli_args *args, cli_goals *g, const char *option, const char *value)
{
    pl_objective *o = goal_last(args, g, option, "a goal", ~0u);
    pl_error err = {0};
    double number = 0;

    if (!o) {
        return CLI_EXIT_USAGE;
    }
    if (pl_quantity_parse(value, PL_DIM_NUMBER, &number, &err) != PL_OK || !(number > 0)) {
        cli_error(args, "--%s %s: %s", option, value, err.text[0] ? err.text : "must be greater than 0");
        return CLI_EXIT_USAGE;
    }

    // a tolerance so large would report success for every shape
    if (option[0] == 't' && number > 100) {
        cli_error(args, "--tolerance %s: expected at most 100: beyond it any shape meets the goal", value);
        return CLI_EXIT_USAGE;
    }

    *(option[0] == 'w' ? &o->weight : &o->tolerance) = number;

    return CLI_DONE;
}

// --curvature in 1/mm; --along says afterwards of which points.
static int goal_curvature(const cli_args *args, cli_goals *g, const char *value)
{
    pl_objective *o = cli_goals_add(args, g, PL_OBJECTIVE_CURVATURE);
    pl_error err = {0};

    if (!o) {
        return CLI_EXIT_USAGE;
    }
    if (pl_quantity_parse(value, PL_DIM_NUMBER, &o->value, &err) != PL_OK) {
        cli_error(args, "--curvature %s: expected a number in 1/mm: %s", value, err.text);
        return CLI_EXIT_USAGE;
    }

    o->weight = 1000; // 1e-3 /mm beside 1 mm

    return CLI_DONE;
}

// --along: the points to which the circle of --curvature is fitted.
static int goal_along(const cli_args *args, const cli_model *m, cli_goals *g, const char *value)
{
    pl_objective *o = goal_last(args, g, "along", "--curvature", 1u << PL_OBJECTIVE_CURVATURE);
    int32_t *point = NULL;
    const int status = o ? cli_body_points(args, m, "along", value, &point, &o->point_count) : CLI_EXIT_USAGE;

    if (status) {
        return status;
    }
    pl_mesh_free_indices(g->point[g->count - 1]); // --along given twice
    g->point[g->count - 1] = point;
    o->point = point;

    return CLI_DONE;
}

// --sensor NAME=VALUE: a sensor shall read VALUE, in the unit of its kind.
static int goal_sensor(const cli_args *args, const cli_model *m, cli_goals *g, const char *value)
{
    char name[200];
    const size_t length = strcspn(value, "=");

    if (!value[length] || length == 0 || length >= sizeof name) {
        cli_error(args, "--sensor %s: expected NAME=VALUE", value);
        return CLI_EXIT_USAGE;
    }

    snprintf(name, sizeof name, "%.*s", (int)length, value);
    const int sensor = cli_model_sensor(args, m, "sensor", name);
    pl_objective *o = sensor < 0 ? NULL : cli_goals_add(args, g, PL_OBJECTIVE_SENSOR);
    if (!o) {
        return CLI_EXIT_USAGE;
    }

    // goals of other units are weighted so that a usual error counts like 1 mm: 100 mm^3, 1 kPa, 0.5 N
    static const double weight[PL_DIM_COUNT] = {
        [PL_DIM_LENGTH] = 1, [PL_DIM_VOLUME] = 1e-2, [PL_DIM_PRESSURE] = 1e3, [PL_DIM_FORCE] = 2};
    const pl_dimension dimension = pl_sensor_dimension(m->info.sensor_kind[sensor]);
    pl_error err = {0};
    o->index = sensor;
    o->weight = weight[dimension] > 0 ? weight[dimension] : 1;
    if (pl_quantity_parse(value + length + 1, dimension, &o->value, &err) != PL_OK) {
        cli_error(args, "--sensor %s: %s", value, err.text);
        return CLI_EXIT_USAGE;
    }

    return CLI_DONE;
}

// ---- shapes
// Points of --of, or of the whole boundary.
static int shape_points(const cli_args *args, const cli_model *m, int32_t **point, int32_t *count)
{
    const char *name = cli_value(args, "of");
    pl_error err = {0};
    if (name) {
        return cli_body_points(args, m, "of", name, point, count);
    }
    return pl_model_points(m->model, NULL, point, count, &err) == PL_OK ? CLI_DONE : cli_fail(args, &err);
}

// A shape written by fk: the same mesh, deformed.
static int shape_from_mesh(const cli_args *args, const cli_model *m, const char *path, const int32_t *point,
                           int32_t count, double *place)
{
    pl_error err = {0};
    pl_mesh *mesh = NULL;

    if (cli_mesh_read(path, 1, &mesh, NULL, &err) != PL_OK) {
        return cli_fail(args, &err);
    }

    const pl_mesh_view v = pl_mesh_get(mesh);
    int status = CLI_DONE;
    if (v.vertex_count != m->info.point_count) {
        cli_error(args, "--shape %s: has %d vertices, the robot %d: a shape of the same mesh is needed", path,
                  v.vertex_count, m->info.point_count);
        cli_advice("a surface without such a correspondence can be given as .stl");
        status = CLI_EXIT_USAGE;
    }

    for (int32_t i = 0; !status && i < count; ++i) {
        memcpy(place + 3 * i, v.position + 3 * (size_t)point[i], 3 * sizeof *place);
    }
    pl_mesh_destroy(mesh);

    return status;
}

// A surface (.stl, .obj) has no points that correspond to those of the robot: the fit finds them, so the
// places start at rest and are only room for it.
static int shape_from_surface(const cli_args *args, const cli_model *m, cli_goals *g, const char *path,
                              const int32_t *point, int32_t count, double *place)
{
    pl_error err = {0};
    double unit = 1;

    if (g->surface_goal >= 0) {
        cli_error(args, "--shape %s: only one surface can be given", path);
        return CLI_EXIT_USAGE;
    }

    if (!cli_unit(args, &unit)) {
        return CLI_EXIT_USAGE;
    }
    if (pl_meshing_read_surface(path, unit, &g->surface, &err) != PL_OK) {
        return cli_fail(args, &err);
    }
    for (int32_t i = 0; i < count; ++i) {
        memcpy(place + 3 * (size_t)i, m->info.rest + 3 * (size_t)point[i], 3 * sizeof *place);
    }
    g->surface_goal = g->count - 1;

    return CLI_DONE;
}

// A table of points at rest and their places in the shape. A point at rest stands for the nearest vertex
// within 2 % of the robot's size; the table owns what the goal refers to.
static int shape_from_table(const cli_args *args, const cli_model *m, cli_goals *g, const char *path,
                            pl_objective *o)
{
    pl_error err = {0};
    pl_shape_target *target = &g->table[g->count - 1];

    if (pl_shape_target_read(path, m->info.rest, m->info.point_count, 0.02 * m->info.size, target, &err) !=
        PL_OK) {
        return cli_fail(args, &err);
    }

    o->point_count = target->count;
    o->point = target->point;
    o->place = target->place;

    return CLI_DONE;
}

// --shape: the extension says in which of three forms it is given.
static int goal_shape(const cli_args *args, const cli_model *m, cli_goals *g, const char *path)
{
    pl_objective *o = cli_goals_add(args, g, PL_OBJECTIVE_SHAPE);
    if (!o) {
        return CLI_EXIT_USAGE;
    }

    const char *extension = cli_extension(path);
    if (strcasecmp(extension, ".csv") == 0) {
        return shape_from_table(args, m, g, path, o);
    }

    const bool surface = strcasecmp(extension, ".stl") == 0 || strcasecmp(extension, ".obj") == 0;
    if (!surface && strcasecmp(extension, ".vtu") != 0) {
        cli_error(args, "--shape %s: expected .vtu (a shape of this mesh), .stl, .obj or .csv", path);
        return CLI_EXIT_USAGE;
    }

    // .vtu and surfaces use the points of --of; the goals own both arrays, also when reading fails
    int32_t *point = NULL, count = 0;
    int status = shape_points(args, m, &point, &count);
    double *place = status ? NULL : calloc(3 * (size_t)count + 1, sizeof *place);
    g->point[g->count - 1] = point;
    g->place[g->count - 1] = place;
    if (status || !place) {
        return status ? status : cli_no_memory(args);
    }
    o->point = point;
    o->point_count = count;
    o->place = place;

    return surface ? shape_from_surface(args, m, g, path, point, count, place)
                   : shape_from_mesh(args, m, path, point, count, place);
}

// ---- all of them, in the order they stand
// One option as it was given. The order matters: --marker holds for the goals after it, and --axis, --weight
// and others refine the goal before them.
static int goal_one(const cli_args *args, const cli_model *m, cli_goals *g, const char *name,
                    const char *value)
{
    if (strcmp(name, "marker") == 0) {
        g->marker = cli_model_marker(args, m, "marker", value);
        return g->marker < 0 ? CLI_EXIT_USAGE : CLI_DONE;
    }

    if (strcmp(name, "target") == 0) {
        return goal_target(args, m, g, value);
    }
    if (strcmp(name, "direction") == 0) {
        return goal_direction(args, m, g, value);
    }
    if (strcmp(name, "orientation") == 0) {
        return goal_orientation(args, m, g, value);
    }
    if (strcmp(name, "distance") == 0) {
        return goal_distance(args, g, value);
    }
    if (strcmp(name, "axes") == 0) {
        return goal_axes(args, g, value);
    }
    if (strcmp(name, "axis") == 0) {
        return goal_axis(args, g, value);
    }
    if (strcmp(name, "weight") == 0 || strcmp(name, "tolerance") == 0) {
        return goal_number(args, g, name, value);
    }
    if (strcmp(name, "curvature") == 0) {
        return goal_curvature(args, g, value);
    }
    if (strcmp(name, "along") == 0) {
        return goal_along(args, m, g, value);
    }
    if (strcmp(name, "sensor") == 0) {
        return goal_sensor(args, m, g, value);
    }

    return strcmp(name, "shape") == 0 ? goal_shape(args, m, g, value) : CLI_DONE;
}

static bool goal_is_of_marker(const char *name)
{
    return strcmp(name, "target") == 0 || strcmp(name, "direction") == 0 || strcmp(name, "orientation") == 0;
}

// All goals of the command line.
int cli_goals_read(const cli_args *args, const cli_model *m, cli_goals *g)
{
    g->marker = m->info.marker_count == 1 ? 0 : pl_model_find_marker(m->model, "tip");
    const char *idle = NULL; // the last --marker, as long as no goal of a marker follows it
    for (int i = 0; i < args->given_count; ++i) {
        const char *name = args->given[i].option->name, *value = args->given[i].value;
        const bool marker = strcmp(name, "marker") == 0;
        if (marker && idle) {
            break;
        }

        const int status = goal_one(args, m, g, name, value);
        if (status) {
            return status;
        }
        idle = marker ? value : goal_is_of_marker(name) ? NULL : idle;
    }

    // it would be taken for the marker of a goal before it
    if (idle) {
        cli_error(args, "--marker %s: no goal of a marker comes after it", idle);
        cli_advice("--marker holds for the goals that follow: write it before --target");
        return CLI_EXIT_USAGE;
    }

    // what a goal needs and a later option could have given
    for (int i = 0; i < g->count; ++i) {
        const pl_objective *o = &g->objective[i];
        if (o->kind == PL_OBJECTIVE_DIRECTION && o->axis[0] == 0 && o->axis[1] == 0 && o->axis[2] == 0) {
            cli_error(args, "--direction: give the axis of the marker with --axis X,Y,Z (undeformed)");
            return CLI_EXIT_USAGE;
        }

        if (o->kind == PL_OBJECTIVE_CURVATURE && o->point_count < 3) {
            cli_error(args, "--curvature: add --along SURFACE or --along X,Y,Z:X,Y,Z (a line, undeformed)");
            return CLI_EXIT_USAGE;
        }
    }

    return CLI_DONE;
}
