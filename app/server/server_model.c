// A model with the mesh that shows it, and the message made after every solve: the shape as it stands.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server_impl.h"

pl_status server_model_open(server_model *m, pl_model *model, bool coarse, uint32_t mesh, pl_error *err)
{
    *m = (server_model){.model = model, .coarse = coarse, .mesh = mesh, .ik_marker = -1};
    m->info = pl_model_get_info(model);
    pl_status status = pl_model_body(model, &m->body, err);
    if (status == PL_OK && !m->body) {
        status = server_fail(err, PL_BAD_INPUT,
                             pl_model_is_learned(model)
                                 ? "this model was learned without shapes: sample with --shapes, learn again"
                                 : "the model has no body to draw");
    }

    if (status == PL_OK && m->info.command_count > SERVER_COMMANDS) {
        status = server_fail(err, PL_BAD_INPUT, "the robot has %d commands, the view can set %d",
                             m->info.command_count, SERVER_COMMANDS);
    }

    if (status == PL_OK) {
        const pl_mesh_view view = pl_mesh_get(m->body);
        const size_t n = (size_t)view.vertex_count, e = (size_t)view.element_count;
        m->place = calloc(3 * n, sizeof *m->place);
        m->field = calloc(n > e ? n : e, sizeof *m->field);
        m->weight = calloc(3 * n, sizeof *m->weight);
        m->position = calloc(3 * n, sizeof *m->position);
        m->value = calloc(SERVER_FIELDS * n, sizeof *m->value);
        if (!m->place || !m->field || !m->weight || !m->position || !m->value) {
            status = server_fail(err, PL_NO_MEMORY, "no memory for the view of %zu vertices", n);
        }
    }

    if (status != PL_OK) {
        server_model_close(m);
    }

    return status;
}

void server_model_close(server_model *m)
{
    pl_ik_destroy(m->ik);
    pl_simulation_destroy(m->simulation);
    free(m->pull.response);
    pl_model_destroy(m->model);
    free(m->home);
    free(m->along);
    free(m->column);
    free(m->place);
    free(m->field);
    free(m->weight);
    free(m->position);
    free(m->value);
    *m = (server_model){0};
}

const double *server_model_positions(server_model *m)
{
    pl_model_shape(m->model, m->place);
    return m->place;
}

void server_model_go_home(server_model *m)
{
    if (!m->home || pl_model_unpack(m->model, m->home, pl_model_state_size(m->model), NULL) != PL_OK) {
        pl_model_reset(m->model);
    }
}

void server_model_keep_home(server_model *m)
{
    m->home = m->home ? m->home : malloc(pl_model_state_size(m->model) * sizeof *m->home + 1);
    if (m->home) {
        pl_model_pack(m->model, m->home);
    }
}

// ---- inverse kinematics
pl_status server_model_ik(server_model *m, int marker, const bool *hold, const pl_progress *progress,
                          pl_ik **out, pl_error *err)
{
    *out = m->ik;
    if (m->ik && m->ik_marker == marker && memcmp(hold, m->ik_hold, sizeof m->ik_hold) == 0) {
        pl_ik_set_start_limit(m->ik, pl_ik_options_default().start_limit);
        return PL_OK;
    }

    if (marker < 0 || marker >= m->info.marker_count) {
        return server_fail(err, PL_BAD_INPUT, "the robot has no marker number %d", marker);
    }
    pl_ik_destroy(m->ik);
    *out = m->ik = NULL;
    pl_objective objective = pl_objective_default(PL_OBJECTIVE_POSITION);
    objective.index = marker;
    memcpy(objective.target, m->info.marker_at + 3 * marker, sizeof objective.target);

    // commands without a range get the one their slider has
    double low[SERVER_COMMANDS], high[SERVER_COMMANDS];
    for (int i = 0; i < m->info.command_count; ++i) {
        const server_command_view view = server_command_view_of(m, i);
        low[i] = view.low * view.scale;
        high[i] = view.high * view.scale;
    }

    pl_ik_options options = pl_ik_options_default();
    options.low = low;
    options.high = high;
    options.hold = hold;
    options.progress = *progress;
    const pl_status status = pl_ik_create(m->model, &objective, 1, &options, &m->ik, err);
    *out = m->ik;
    m->ik_marker = marker;
    memcpy(m->ik_hold, hold, sizeof m->ik_hold);

    return status;
}

// ---- the shape message
// J lives on elements: vertices get the mean of the elements around.
static void model_element_to_vertex(server_model *m, const double *element, double *vertex)
{
    const pl_mesh_view view = pl_mesh_get(m->body);
    const size_t n = (size_t)view.vertex_count;
    double *count = m->weight + n;

    memset(m->weight, 0, 2 * n * sizeof *m->weight);
    for (int32_t e = 0; e < view.element_count; ++e) {
        for (int64_t k = view.node_start[e]; k < view.node_start[e + 1]; ++k) {
            m->weight[view.node[k]] += element[e];
            count[view.node[k]] += 1;
        }
    }

    for (size_t v = 0; v < n; ++v) {
        vertex[v] = count[v] > 0 ? m->weight[v] / count[v] : 1;
    }
}

// ---- fields of a tube around a centre line
// The point of the undeformed centre line nearest to each vertex; false when the model is no tube.
static bool model_along(server_model *m)
{
    const pl_mesh_view view = pl_mesh_get(m->body);
    const int32_t n = view.vertex_count, k = m->info.point_count;

    if (strcmp(m->info.kind, "full") == 0 || k < 3 || k >= n || !m->info.rest) {
        return false;
    }
    if (m->along) {
        return true;
    }
    m->along = malloc((size_t)n * sizeof *m->along);
    for (int32_t v = 0; m->along && v < n; ++v) {
        double least = INFINITY;
        for (int32_t p = 0; p < k; ++p) {
            double far = 0;
            for (int i = 0; i < 3; ++i) {
                const double d =
                    view.position[3 * (size_t)v + (size_t)i] - m->info.rest[3 * (size_t)p + (size_t)i];
                far += d * d;
            }
            if (far < least) {
                least = far;
                m->along[v] = p;
            }
        }
    }

    return m->along != NULL;
}

static double model_piece(const double *point, int32_t p, double d[3])
{
    for (int i = 0; i < 3; ++i) {
        d[i] = point[3 * (size_t)(p + 1) + (size_t)i] - point[3 * (size_t)p + (size_t)i];
    }
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

// Curvature (1/m: the angle between two pieces of the centre line over their mean length) or stretch (%) at
// the vertices.
static bool model_line_field(server_model *m, bool bend, double *out)
{
    if (!model_along(m)) {
        return false;
    }

    const int32_t n = pl_mesh_get(m->body).vertex_count, k = m->info.point_count;
    const double *point = pl_model_get_answer(m->model).point;
    for (int32_t v = 0; v < n; ++v) {
        const int32_t p = m->along[v] < 1 ? 1 : m->along[v] > k - 2 ? k - 2 : m->along[v];
        double a[3], b[3], c[3];
        const double la = model_piece(point, p - 1, a), lb = model_piece(point, p, b);
        const double cosine = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / (la * lb);
        const double rest = model_piece(m->info.rest, p - 1, c) + model_piece(m->info.rest, p, c);
        out[v] =
            bend ? 1000 * acos(fmin(1, fmax(-1, cosine))) / (0.5 * (la + lb)) : 100 * ((la + lb) / rest - 1);
    }

    return true;
}

// The fields of the page, spread over 16 bits: largest strain in %, von Mises stress in kPa, J, contact
// pressure in kPa.
// A field that the model does not know has no range and an empty array.
static void model_fields(server_model *m, bool brief, json_t *head, server_array array[SERVER_FIELDS])
{
    static const struct {
        const char *name;
        pl_field field;
        double scale, shift;
    } shown[SERVER_FIELDS] = {{"strain", PL_FIELD_STRETCH, 100, -100},
                              {"stress", PL_FIELD_VON_MISES, 1000, 0},
                              {"J", PL_FIELD_J, 1, 0},
                              {"contact", PL_FIELD_PRESSURE, 1000, 0},
                              {"bend", PL_FIELD_COUNT, 1, 0},
                              {"stretch", PL_FIELD_COUNT, 1, 0}};
    const size_t n = (size_t)pl_mesh_get(m->body).vertex_count;
    json_t *ranges = json_object();
    for (int f = 0; f < SERVER_FIELDS; ++f) {
        double low = 0, high = 0;
        array[f] = (server_array){shown[f].name, SERVER_U16, m->value + (size_t)f * n, 0};
        const bool line = shown[f].field == PL_FIELD_COUNT;
        if (brief) {
            continue;
        }
        if (line ? !model_line_field(m, f == 4, m->field)
                 : !(m->info.fields & (1u << shown[f].field)) ||
                       pl_model_field(m->model, shown[f].field, m->field, NULL) != PL_OK) {
            continue;
        }
        if (!line && pl_field_on_elements(shown[f].field)) {
            model_element_to_vertex(m, m->field, m->weight);
            memcpy(m->field, m->weight, n * sizeof *m->field);
        }
        array[f].count = n;
        for (size_t v = 0; v < n; ++v) {
            m->field[v] = m->field[v] * shown[f].scale + shown[f].shift;
        }
        server_quantize(m->field, n, &low, &high, m->value + (size_t)f * n);
        json_object_set_new(ranges, shown[f].name, server_numbers((double[]){low, high}, 2));
    }

    json_object_set_new(head, "ranges", ranges);
}

// Polylines of all actuators that have one, behind each other.
static float *model_lines(server_model *m, size_t *count, json_t *list)
{
    size_t total = 0;
    for (int a = 0; a < m->info.actuator_count; ++a) {
        total += (size_t)pl_model_line(m->model, a, NULL, 0);
    }

    double *point = malloc(3 * total * sizeof *point + 1);
    float *out = malloc(3 * total * sizeof *out + 1);
    *count = 0;
    for (int a = 0; point && out && a < m->info.actuator_count; ++a) {
        const int k = pl_model_line(m->model, a, point + 3 * *count, (int)(total - *count));
        if (k > 0) {
            json_array_append_new(
                list, json_pack("{s:i,s:I,s:i}", "actuator", a, "start", (json_int_t)*count, "count", k));
            *count += (size_t)k;
        }
    }

    for (size_t i = 0; point && out && i < 3 * *count; ++i) {
        out[i] = (float)point[i];
    }
    free(point);

    return out;
}

// Room for one more polyline behind those there are; NULL when out of memory, which frees all.
static double *model_room(double *point, size_t points, int more)
{
    double *grown = realloc(point, (3 * (points + (size_t)more) + 1) * sizeof *grown);
    if (!grown) {
        free(point);
    }
    return grown;
}

static json_t *model_thread(const char *kind, int index, size_t start, int count)
{
    return json_pack("{s:s,s:i,s:I,s:i}", "kind", kind, "index", index, "start", (json_int_t)start, "count",
                     count);
}

// Polylines of the fibres, piece by piece, and of the length sensors, behind each other.
static float *model_threads(const server_model *m, const double *x, size_t *count, json_t *list)
{
    const pl_robot *robot = pl_model_robot(m->model);
    double *point = malloc(1);

    *count = 0;
    for (int i = 0; robot && point && i < pl_robot_fibre_count(robot); ++i) {
        const int pieces = pl_robot_fibre(robot, i).piece_count;
        for (int p = 0; point && p < pieces; ++p) {
            const int k = pl_robot_fibre_line(robot, i, p, x, NULL, 0);
            point = model_room(point, *count, k);
            if (point) {
                pl_robot_fibre_line(robot, i, p, x, point + 3 * *count, k);
                json_array_append_new(list, model_thread("fibre", i, *count, k));
                *count += (size_t)k;
            }
        }
    }

    for (int i = 0; robot && point && i < pl_robot_sensor_count(robot); ++i) {
        const int k = pl_robot_sensor_line(robot, i, x, NULL, 0);
        point = k > 0 ? model_room(point, *count, k) : point;
        if (point && k > 0) {
            pl_robot_sensor_line(robot, i, x, point + 3 * *count, k);
            json_array_append_new(list, model_thread("sensor", i, *count, k));
            *count += (size_t)k;
        }
    }

    float *out = point ? malloc(3 * *count * sizeof *out + 1) : NULL;
    for (size_t i = 0; out && i < 3 * *count; ++i) {
        out[i] = (float)point[i];
    }
    free(point);

    return out;
}

// What the model answers where it stands, as `pliant fk --json` writes it. The estimate of the mesh's error
// and the search for crossings take as long as several solves: they are left out where it is to be brief.
static json_t *model_record(server_model *m, bool brief)
{
    const pl_record *record = NULL;
    pl_mesh_error ignored;

    // without an estimate of the mesh error the record has none
    pl_status status = m->coarse || brief ? PL_OK : pl_model_mesh_error(m->model, &ignored, NULL);

    status = (brief ? pl_model_record_brief : pl_model_record)(m->model, &m->report, &record, NULL);
    m->record = record;
    char *text = status == PL_OK ? pl_record_json(record, NULL) : NULL;
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    pl_file_free(text);

    return root;
}

// Where the commands have moved the obstacles: translation; of free bodies also their rotation.
static void model_obstacles(server_model *m, json_t *head)
{
    const pl_robot *robot = pl_model_robot(m->model);
    const int count = robot ? pl_robot_obstacle_count(robot) : 0;
    json_t *list = json_array();

    for (int i = 0; i < count; ++i) {
        double pose[12];
        const bool turns = pl_robot_obstacle_is_free(robot, i) && server_model_positions(m);
        pl_robot_obstacle_pose(robot, i, pl_model_get_answer(m->model).command,
                               turns ? server_model_positions(m) : NULL, pose + 3, pose);
        json_array_append_new(list, server_numbers(pose, turns ? 12 : 3));
    }

    json_object_set_new(head, "obstacles", list);
}

server_message *server_model_shape(server_model *m, bool brief, json_t *extra)
{
    const size_t n = (size_t)pl_mesh_get(m->body).vertex_count;
    const double *x = server_model_positions(m);
    json_t *head = json_object(), *lines = json_array(), *threads = json_array();

    json_object_set_new(head, "mesh", json_integer(m->mesh));
    json_object_set_new(head, "level", json_string(m->coarse ? "coarse" : "fine"));
    json_object_set_new(head, "record", model_record(m, brief));
    if (brief) {
        json_object_set_new(head, "brief", json_true());
    }
    json_object_set_new(head, "seconds", server_number(m->seconds));
    server_array array[3 + SERVER_FIELDS];
    model_fields(m, brief, head, array + 1);
    size_t points = 0, knots = 0;
    float *line = model_lines(m, &points, lines), *thread = model_threads(m, x, &knots, threads);
    json_object_set_new(head, "cables", lines);
    json_object_set_new(head, "threads", threads);
    model_obstacles(m, head);
    json_object_update(head, extra);
    for (size_t i = 0; i < 3 * n; ++i) {
        m->position[i] = (float)x[i];
    }

    char *json = json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(head);
    array[0] = (server_array){"x", SERVER_F32, m->position, 3 * n};
    array[1 + SERVER_FIELDS] = (server_array){"cable", SERVER_F32, line, 3 * points};
    array[2 + SERVER_FIELDS] = (server_array){"thread", SERVER_F32, thread, 3 * knots};
    server_message *message = json && line && thread
                                  ? server_pack(SERVER_KIND_SHAPE, json, array, sizeof array / sizeof *array)
                                  : NULL;
    free(json);
    free(line);
    free(thread);

    return message;
}
