// A robot with its solver, and the two messages made from it: the mesh, sent once, and the shape, sent after
// every solve.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "server_impl.h"

pl_status server_model_open(server_model *m, pl_robot *robot, const pl_statics_options *options, bool coarse,
                            uint32_t mesh, pl_error *err)
{
    *m = (server_model){.robot = robot, .coarse = coarse, .mesh = mesh};
    const pl_mesh_view view = pl_mesh_get(pl_robot_mesh(robot));
    const size_t n = (size_t)view.vertex_count, e = (size_t)view.element_count;
    for (int i = 0; i < SERVER_COMMANDS; ++i) {
        m->command[i] = NAN;
    }
    m->field = calloc(n > e ? n : e, sizeof *m->field);
    m->weight = calloc(2 * n, sizeof *m->weight);
    m->position = calloc(3 * n, sizeof *m->position);
    m->value = calloc(3 * n, sizeof *m->value);
    pl_status status = PL_OK;
    if (!m->field || !m->weight || !m->position || !m->value) {
        status = server_fail(err, PL_NO_MEMORY, "no memory for the view of %zu vertices", n);
    }
    if (status == PL_OK) {
        status = pl_state_create(robot, &m->state, err);
    }
    if (status == PL_OK) {
        status = pl_statics_create(robot, options, &m->statics, err);
    }
    if (status != PL_OK) {
        server_model_close(m);
    }
    return status;
}

void server_model_close(server_model *m)
{
    pl_statics_destroy(m->statics);
    pl_state_destroy(m->state);
    pl_robot_destroy(m->robot);
    free(m->field);
    free(m->weight);
    free(m->position);
    free(m->value);
    *m = (server_model){0};
}

// ---- the mesh message
// Flat pieces of curved faces and elements, by local nodes.
static const int tri3[1][3] = {{0, 1, 2}};
static const int tri6[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};
static const int quad4[2][3] = {{0, 1, 2}, {0, 2, 3}};
static const int quad8[6][3] = {{0, 4, 7}, {4, 1, 5}, {5, 2, 6}, {6, 3, 7}, {4, 5, 6}, {4, 6, 7}};
static const int tet4[1][4] = {{0, 1, 2, 3}};
static const int tet10[8][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3},
                                {4, 9, 5, 6}, {4, 9, 6, 7}, {4, 9, 7, 8}, {4, 9, 8, 5}};
static const int prism6[3][4] = {{0, 1, 2, 5}, {0, 1, 5, 4}, {0, 4, 5, 3}}; // of curved prisms the corners

static int model_face_split(int nodes, const int (**piece)[3])
{
    *piece = nodes == 3 ? tri3 : nodes == 6 ? tri6 : nodes == 4 ? quad4 : quad8;
    return nodes == 3 ? 1 : nodes == 6 ? 4 : nodes == 4 ? 2 : 6;
}

static int model_cell_split(pl_element_kind kind, const int (**piece)[4])
{
    *piece = kind == PL_TET4 ? tet4 : kind == PL_TET10 ? tet10 : prism6;
    return kind == PL_TET4 ? 1 : kind == PL_TET10 ? 8 : 3;
}

typedef struct model_surface {
    uint32_t *triangle, *edge;
    uint8_t *region;
    size_t triangles, edges; // counted in pieces
} model_surface;

// The edges of a face's outline, through its mid nodes.
static void model_outline(const int32_t *node, int nodes, model_surface *s)
{
    const int corners = nodes == 3 || nodes == 6 ? 3 : 4;
    for (int k = 0; k < corners; ++k) {
        const int32_t a = node[k], b = node[(k + 1) % corners], middle = nodes > 4 ? node[corners + k] : -1;
        if (a > b) {
            continue; // the face on the other side of the edge runs along it the other way and draws it
        }
        uint32_t *to = s->edge + 2 * s->edges;
        to[0] = (uint32_t)a;
        to[1] = (uint32_t)(middle >= 0 ? middle : b);
        ++s->edges;
        if (middle >= 0) {
            to[2] = (uint32_t)middle;
            to[3] = (uint32_t)b;
            ++s->edges;
        }
    }
}

static bool model_surface_init(const pl_mesh *mesh, const int64_t *face, int64_t count, model_surface *s)
{
    const pl_mesh_view view = pl_mesh_get(mesh);
    const size_t n = (size_t)count;
    *s = (model_surface){.triangle = malloc(n * 18 * sizeof(uint32_t) + 1),
                         .edge = malloc(n * 16 * sizeof(uint32_t) + 1),
                         .region = malloc(n * 6 + 1)};
    for (int64_t f = 0; s->triangle && s->edge && s->region && f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int nodes = pl_mesh_face_nodes(mesh, face[f], node);
        const int(*piece)[3];
        const int pieces = model_face_split(nodes, &piece);
        for (int p = 0; p < pieces; ++p) {
            for (int k = 0; k < 3; ++k) {
                s->triangle[3 * s->triangles + (size_t)k] = (uint32_t)node[piece[p][k]];
            }
            s->region[s->triangles++] = (uint8_t)view.region[face[f] / 8];
        }
        model_outline(node, nodes, s);
    }
    return s->triangle && s->edge && s->region;
}

static void model_surface_clear(model_surface *s)
{
    free(s->triangle);
    free(s->edge);
    free(s->region);
}

// All elements as flat tetrahedra with their regions, for sections.
static size_t model_cells(pl_mesh_view view, uint32_t **cell, uint8_t **region)
{
    size_t count = 0;
    *cell = malloc((size_t)view.element_count * 32 * sizeof **cell);
    *region = malloc((size_t)view.element_count * 8);
    for (int32_t e = 0; *cell && *region && e < view.element_count; ++e) {
        const int(*piece)[4];
        const int pieces = model_cell_split((pl_element_kind)view.kind[e], &piece);
        for (int p = 0; p < pieces; ++p, ++count) {
            for (int k = 0; k < 4; ++k) {
                (*cell)[4 * count + (size_t)k] = (uint32_t)view.node[view.node_start[e] + piece[p][k]];
            }
            (*region)[count] = (uint8_t)view.region[e];
        }
    }
    return count;
}

// The triangles of all chambers and films behind each other; the header says where each begins.
static bool model_chambers(const pl_robot *robot, uint32_t **triangle, size_t *count, json_t *list)
{
    *triangle = NULL;
    *count = 0;
    for (int a = 0; a < pl_robot_actuator_count(robot); ++a) {
        const int64_t *face;
        const int64_t faces = pl_robot_actuator_faces(robot, a, &face);
        model_surface s = {0};
        if (faces == 0) {
            continue;
        }
        uint32_t *grown = NULL;
        if (model_surface_init(pl_robot_mesh(robot), face, faces, &s)) {
            grown = realloc(*triangle, 3 * (*count + s.triangles) * sizeof **triangle);
        }
        if (!grown) {
            model_surface_clear(&s);
            return false;
        }
        *triangle = grown;
        memcpy(grown + 3 * *count, s.triangle, 3 * s.triangles * sizeof *grown);
        json_array_append_new(list, json_pack("{s:i,s:I,s:I}", "actuator", a, "start", (json_int_t)*count,
                                              "count", (json_int_t)s.triangles));
        *count += s.triangles;
        model_surface_clear(&s);
    }
    return true;
}

server_message *server_model_mesh(const server_model *m)
{
    const pl_mesh *mesh = pl_robot_mesh(m->robot);
    const pl_mesh_view view = pl_mesh_get(mesh);
    const size_t n = (size_t)view.vertex_count;
    const int64_t *face;
    const int64_t faces = pl_mesh_boundary(mesh, &face);
    model_surface s = {0};
    uint32_t *cell = NULL, *chamber = NULL;
    uint8_t *cell_region = NULL;
    size_t chambers = 0;
    json_t *list = json_array();
    float *rest = malloc(3 * n * sizeof *rest);
    const size_t cells = model_cells(view, &cell, &cell_region);
    bool good = rest && cell && cell_region && model_surface_init(mesh, face, faces, &s) &&
                model_chambers(m->robot, &chamber, &chambers, list);
    for (size_t i = 0; rest && i < 3 * n; ++i) {
        rest[i] = (float)view.position[i];
    }
    const pl_statics_sizes sizes = pl_statics_get_sizes(m->statics);
    json_t *head =
        json_pack("{s:I,s:s,s:I,s:I,s:I,s:O}", "mesh", (json_int_t)m->mesh, "level",
                  m->coarse ? "coarse" : "fine", "vertices", (json_int_t)n, "elements",
                  (json_int_t)view.element_count, "unknowns", (json_int_t)sizes.unknowns, "chambers", list);
    char *json = head ? json_dumps(head, JSON_COMPACT) : NULL;
    const server_array array[] = {{"rest", SERVER_F32, rest, 3 * n},
                                  {"tri", SERVER_U32, s.triangle, 3 * s.triangles},
                                  {"region", SERVER_U8, s.region, s.triangles},
                                  {"edge", SERVER_U32, s.edge, 2 * s.edges},
                                  {"cell", SERVER_U32, cell, 4 * cells},
                                  {"cellreg", SERVER_U8, cell_region, cells},
                                  {"chamber", SERVER_U32, chamber, 3 * chambers}};
    server_message *message =
        good && json ? server_pack(SERVER_KIND_MESH, json, array, sizeof array / sizeof *array) : NULL;
    free(json);
    json_decref(head);
    json_decref(list);
    model_surface_clear(&s);
    free(rest);
    free(cell);
    free(cell_region);
    free(chamber);
    return message;
}

// ---- the shape message
// J lives on elements: vertices get the mean of the elements around.
static void model_element_to_vertex(server_model *m, const double *element, double *vertex)
{
    const pl_mesh_view view = pl_mesh_get(pl_robot_mesh(m->robot));
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

// The three fields of the page, spread over 16 bits: largest strain in %, von Mises stress in kPa, J.
static void model_fields(server_model *m, json_t *head)
{
    static const struct {
        const char *name;
        pl_field field;
        double scale, shift;
    } shown[3] = {{"strain", PL_FIELD_STRETCH, 100, -100},
                  {"stress", PL_FIELD_VON_MISES, 1000, 0},
                  {"J", PL_FIELD_J, 1, 0}};
    const size_t n = (size_t)pl_state_vertex_count(m->state);
    json_t *ranges = json_object();
    for (int f = 0; f < 3; ++f) {
        double low = 0, high = 0;
        if (pl_statics_field(m->statics, m->state, shown[f].field, m->field, NULL) != PL_OK) {
            memset(m->field, 0, n * sizeof *m->field);
        } else if (pl_field_on_elements(shown[f].field)) {
            model_element_to_vertex(m, m->field, m->weight);
            memcpy(m->field, m->weight, n * sizeof *m->field);
        }
        for (size_t v = 0; v < n; ++v) {
            m->field[v] = m->field[v] * shown[f].scale + shown[f].shift;
        }
        server_quantize(m->field, n, &low, &high, m->value + (size_t)f * n);
        json_object_set_new(ranges, shown[f].name, server_numbers((double[]){low, high}, 2));
    }
    json_object_set_new(head, "ranges", ranges);
}

static json_t *model_actuators(server_model *m)
{
    json_t *list = json_array();
    for (int a = 0; a < pl_robot_actuator_count(m->robot); ++a) {
        const pl_actuator_info info = pl_robot_actuator(m->robot, a);
        const pl_actuator_result r = pl_statics_actuator(m->statics, m->state, a);
        json_t *one = json_object();
        json_object_set_new(one, "effort", server_number(info.kind == PL_CABLE ? r.effort : 1e3 * r.effort));
        json_object_set_new(one, "ratio", server_number(r.ratio));
        json_object_set_new(one, "measure", server_number(r.measure));
        json_object_set_new(one, "slack", json_boolean(info.kind == PL_CABLE && r.slack));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *model_markers(server_model *m)
{
    json_t *list = json_array();
    for (int k = 0; k < pl_robot_marker_count(m->robot); ++k) {
        const pl_marker_result r = pl_statics_marker(m->statics, m->state, k);
        json_t *one = json_object();
        json_object_set_new(one, "position", server_numbers(r.position, 3));
        json_object_set_new(one, "displacement", server_numbers(r.displacement, 3));
        json_object_set_new(one, "rotation", r.has_rotation ? server_numbers(r.rotation, 9) : json_null());
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *model_sensors(server_model *m)
{
    json_t *list = json_array();
    for (int k = 0; k < pl_robot_sensor_count(m->robot); ++k) {
        const pl_sensor_kind kind = pl_robot_sensor_kind(m->robot, k);
        const double scale = kind == PL_SENSOR_PRESSURE ? 1e3 : kind == PL_SENSOR_VOLUME ? 1e-3 : 1;
        json_array_append_new(list, server_number(scale * pl_statics_sensor(m->statics, m->state, k)));
    }
    return list;
}

// Polylines of all cables behind each other.
static float *model_cables(server_model *m, size_t *count, json_t *list)
{
    size_t total = 0;
    for (int a = 0; a < pl_robot_actuator_count(m->robot); ++a) {
        if (pl_robot_actuator(m->robot, a).kind == PL_CABLE) {
            total += (size_t)pl_statics_cable_points(m->statics, m->state, a, NULL, 0);
        }
    }
    double *point = malloc(3 * total * sizeof *point + 1);
    float *out = malloc(3 * total * sizeof *out + 1);
    *count = 0;
    for (int a = 0; point && out && a < pl_robot_actuator_count(m->robot); ++a) {
        if (pl_robot_actuator(m->robot, a).kind == PL_CABLE) {
            const int k =
                pl_statics_cable_points(m->statics, m->state, a, point + 3 * *count, (int)(total - *count));
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

static void model_report(const server_model *m, json_t *head)
{
    const pl_statics_report *r = &m->report;
    json_object_set_new(head, "outcome", json_string(pl_outcome_name(r->outcome)));
    json_object_set_new(head, "solved", json_boolean(r->outcome == PL_SOLVED));
    json_object_set_new(head, "message", json_string(r->message));
    json_object_set_new(head, "iterations", json_integer(r->iterations));
    json_object_set_new(head, "factorizations", json_integer(r->factorizations));
    json_object_set_new(head, "solves", json_integer(r->solves));
    json_object_set_new(head, "increments", json_integer(r->increments));
    json_object_set_new(head, "residual", server_number(r->residual));
    json_object_set_new(head, "residual_relative", server_number(r->residual_relative));
    json_object_set_new(head, "load_reached", server_number(r->load_reached));
    json_object_set_new(head, "energy", server_number(r->energy));
    json_object_set_new(head, "min_J", server_number(r->min_J));
    json_object_set_new(head, "max_stretch", server_number(r->max_stretch));
    json_object_set_new(head, "unstable", json_boolean(r->negative_count > 0));
    json_object_set_new(head, "seconds", server_number(m->seconds));
}

server_message *server_model_shape(server_model *m, json_t *extra)
{
    const size_t n = (size_t)pl_state_vertex_count(m->state);
    const double *x = pl_state_positions(m->state);
    json_t *head = json_object(), *cables = json_array(), *commands = json_array();
    for (int i = 0; i < pl_robot_command_count(m->robot) && i < SERVER_COMMANDS; ++i) {
        const double scale = server_knob_of(m->robot, i).scale;
        json_array_append_new(commands, server_number(m->command[i] / scale));
    }
    json_object_set_new(head, "mesh", json_integer(m->mesh));
    json_object_set_new(head, "level", json_string(m->coarse ? "coarse" : "fine"));
    json_object_set_new(head, "commands", commands);
    model_report(m, head);
    json_object_set_new(head, "actuators", model_actuators(m));
    json_object_set_new(head, "markers", model_markers(m));
    json_object_set_new(head, "sensors", model_sensors(m));
    model_fields(m, head);
    size_t cable_points = 0;
    float *cable = model_cables(m, &cable_points, cables);
    json_object_set_new(head, "cables", cables);
    json_object_update(head, extra);
    json_decref(extra);
    for (size_t i = 0; i < 3 * n; ++i) {
        m->position[i] = (float)x[i];
    }
    char *json = json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(head);
    const server_array array[] = {{"x", SERVER_F32, m->position, 3 * n},
                                  {"strain", SERVER_U16, m->value, n},
                                  {"stress", SERVER_U16, m->value + n, n},
                                  {"J", SERVER_U16, m->value + 2 * n, n},
                                  {"cable", SERVER_F32, cable, 3 * cable_points}};
    server_message *message =
        json && cable ? server_pack(SERVER_KIND_SHAPE, json, array, sizeof array / sizeof *array) : NULL;
    free(json);
    free(cable);
    return message;
}
