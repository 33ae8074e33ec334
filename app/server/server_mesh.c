// The mesh message, sent once per mesh: rest shape, surface with regions, element edges, cells for sections,
// chambers.
#include <stdlib.h>
#include <string.h>
#include "server_impl.h"

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
            continue; // the face on the other side of the edge runs along it in the other direction and draws
                      // it
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
        const int8_t(*piece)[3];
        const int pieces = pl_face_triangles(nodes, &piece);
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
        const int8_t(*piece)[4];
        const int pieces = pl_element_tets((pl_element_kind)view.kind[e], &piece);
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
    for (int a = 0; robot && a < pl_robot_actuator_count(robot); ++a) {
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

// Vertices held by the supports, behind each other.
static bool model_supports(const pl_robot *robot, uint32_t **vertex, size_t *count, json_t *list)
{
    static const char reply[] = "xyz";
    for (int i = 0; robot && i < pl_robot_fixed_count(robot); ++i) {
        const int32_t *node;
        bool axis[3];
        char axes[4] = "";
        const size_t n = (size_t)pl_robot_fixed_vertices(robot, i, &node, axis);
        uint32_t *grown = realloc(*vertex, (*count + n + 1) * sizeof *grown);
        if (!grown) {
            return false;
        }
        *vertex = grown;
        for (size_t k = 0; k < n; ++k) {
            grown[*count + k] = (uint32_t)node[k];
        }
        for (int k = 0, at = 0; k < 3; ++k) {
            if (axis[k]) {
                axes[at++] = reply[k];
            }
        }
        json_array_append_new(list, json_pack("{s:s,s:I,s:I}", "axes", axes, "start", (json_int_t)*count,
                                              "count", (json_int_t)n));
        *count += n;
    }

    return true;
}

// Triangles on which pressures of the robot file act.
static bool model_pressures(const pl_robot *robot, uint32_t **triangle, size_t *count, json_t *list)
{
    for (int i = 0; robot && i < pl_robot_pressure_count(robot); ++i) {
        const int64_t *face;
        double pressure;
        const int64_t faces = pl_robot_pressure_faces(robot, i, &face, &pressure);
        model_surface s = {0};
        uint32_t *grown = NULL;
        if (model_surface_init(pl_robot_mesh(robot), face, faces, &s)) {
            grown = realloc(*triangle, (3 * (*count + s.triangles) + 1) * sizeof **triangle);
        }
        if (grown) {
            *triangle = grown;
            memcpy(grown + 3 * *count, s.triangle, 3 * s.triangles * sizeof *grown);
            json_array_append_new(list, json_pack("{s:f,s:I,s:I}", "kpa", 1000 * pressure, "start",
                                                  (json_int_t)*count, "count", (json_int_t)s.triangles));
            *count += s.triangles;
        }
        model_surface_clear(&s);
        if (!grown) {
            return false;
        }
    }
    return true;
}

// Triangles of the layers bonded to the body, behind each other.
static bool model_layers(const pl_robot *robot, uint32_t **triangle, size_t *count, json_t *list)
{
    for (int i = 0; robot && i < pl_robot_layer_count(robot); ++i) {
        const pl_layer_info layer = pl_robot_layer(robot, i);
        model_surface s = {0};
        uint32_t *grown = NULL;
        if (model_surface_init(pl_robot_mesh(robot), layer.face, layer.face_count, &s)) {
            grown = realloc(*triangle, (3 * (*count + s.triangles) + 1) * sizeof **triangle);
        }
        if (grown) {
            *triangle = grown;
            memcpy(grown + 3 * *count, s.triangle, 3 * s.triangles * sizeof *grown);
            json_array_append_new(list, json_pack("{s:o,s:o,s:f,s:I,s:I}", "name", server_text(layer.name),
                                                  "material",
                                                  server_text(pl_robot_material_name(robot, layer.material)),
                                                  "thickness", layer.thickness, "start", (json_int_t)*count,
                                                  "count", (json_int_t)s.triangles));
            *count += s.triangles;
        }
        model_surface_clear(&s);
        if (!grown) {
            return false;
        }
    }
    return true;
}

// Triangles that show the obstacles at rest; of endless ones the part around the robot.
static bool model_obstacles(const server_model *m, const pl_robot *robot, float **corner, size_t *count,
                            json_t *list)
{
    double low[3], high[3], near[3];
    pl_mesh_bounds(m->body, low, high);
    for (int i = 0; i < 3; ++i) {
        near[i] = 0.5 * (low[i] + high[i]);
    }

    for (int i = 0; robot && i < pl_robot_obstacle_count(robot); ++i) {
        const size_t n = (size_t)pl_robot_obstacle_triangles(robot, i, near, 1.6 * m->info.size, NULL);
        double *place = malloc((9 * n + 1) * sizeof *place);
        float *grown = realloc(*corner, (9 * (*count + n) + 1) * sizeof *grown);
        *corner = grown ? grown : *corner;
        if (!place || !grown) {
            free(place);
            return false;
        }
        pl_robot_obstacle_triangles(robot, i, near, 1.6 * m->info.size, place);
        for (size_t k = 0; k < 9 * n; ++k) {
            grown[9 * *count + k] = (float)place[k];
        }
        free(place);
        json_array_append_new(list,
                              json_pack("{s:I,s:I}", "start", (json_int_t)*count, "count", (json_int_t)n));
        *count += n;
    }

    return true;
}

server_message *server_drawn(const pl_robot *robot)
{
    const pl_mesh *mesh = pl_robot_mesh(robot);
    const pl_mesh_view view = pl_mesh_get(mesh);
    const size_t n = 3 * (size_t)view.vertex_count;
    const char *name = pl_robot_name(robot);
    const int64_t *face;
    const int64_t faces = pl_mesh_boundary(mesh, &face);
    double low[3], high[3];
    model_surface s = {0};

    pl_mesh_bounds(mesh, low, high);
    float *rest = malloc((n + 1) * sizeof *rest);
    const bool good = model_surface_init(mesh, face, faces, &s) && rest;
    for (size_t i = 0; good && i < n; ++i) {
        rest[i] = (float)view.position[i];
    }

    json_t *head =
        json_pack("{s:s,s:o,s:o,s:o}", "level", "drawn", "name", server_text(name ? name : "robot"), "low",
                  server_numbers(low, 3), "high", server_numbers(high, 3));
    char *json = head ? json_dumps(head, JSON_COMPACT) : NULL;
    const server_array array[] = {{"rest", SERVER_F32, rest, n},
                                  {"tri", SERVER_U32, s.triangle, 3 * s.triangles},
                                  {"region", SERVER_U8, s.region, s.triangles}};
    server_message *message =
        good && json ? server_pack(SERVER_KIND_MESH, json, array, sizeof array / sizeof *array) : NULL;
    free(json);
    json_decref(head);
    model_surface_clear(&s);
    free(rest);

    return message;
}

server_message *server_model_mesh(const server_model *m)
{
    const pl_mesh *mesh = m->body;
    const pl_mesh_view view = pl_mesh_get(mesh);
    const size_t n = (size_t)view.vertex_count;
    const int64_t *face;
    const int64_t faces = pl_mesh_boundary(mesh, &face);
    model_surface s = {0};
    uint32_t *cell = NULL, *chamber = NULL;
    uint8_t *cell_region = NULL;
    uint32_t *held = NULL, *pressed = NULL, *bonded = NULL;
    float *obstacle = NULL;
    size_t chambers = 0, holds = 0, presses = 0, bonds = 0, obstacles = 0;
    const pl_robot *robot = pl_model_robot(m->model);
    json_t *list = json_array(), *supports = json_array(), *pressures = json_array(), *things = json_array(),
           *layers = json_array();
    float *rest = malloc(3 * n * sizeof *rest);
    const size_t cells = model_cells(view, &cell, &cell_region);
    bool good = rest && cell && cell_region && model_surface_init(mesh, face, faces, &s) &&
                model_chambers(robot, &chamber, &chambers, list) &&
                model_supports(robot, &held, &holds, supports) &&
                model_pressures(robot, &pressed, &presses, pressures) &&
                model_layers(robot, &bonded, &bonds, layers) &&
                model_obstacles(m, robot, &obstacle, &obstacles, things);

    for (size_t i = 0; rest && i < 3 * n; ++i) {
        rest[i] = (float)view.position[i];
    }

    json_t *head = json_pack("{s:I,s:s,s:I,s:I,s:O,s:o,s:o,s:o,s:o}", "mesh", (json_int_t)m->mesh, "level",
                             m->coarse ? "coarse" : "fine", "vertices", (json_int_t)n, "elements",
                             (json_int_t)view.element_count, "chambers", list, "supports", supports,
                             "pressures", pressures, "layers", layers, "obstacles", things);
    char *json = head ? json_dumps(head, JSON_COMPACT) : NULL;
    const server_array array[] = {{"rest", SERVER_F32, rest, 3 * n},
                                  {"tri", SERVER_U32, s.triangle, 3 * s.triangles},
                                  {"region", SERVER_U8, s.region, s.triangles},
                                  {"edge", SERVER_U32, s.edge, 2 * s.edges},
                                  {"cell", SERVER_U32, cell, 4 * cells},
                                  {"cellreg", SERVER_U8, cell_region, cells},
                                  {"chamber", SERVER_U32, chamber, 3 * chambers},
                                  {"held", SERVER_U32, held, holds},
                                  {"pressed", SERVER_U32, pressed, 3 * presses},
                                  {"layer", SERVER_U32, bonded, 3 * bonds},
                                  {"obstacle", SERVER_F32, obstacle, 9 * obstacles}};
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
    free(held);
    free(pressed);
    free(bonded);
    free(obstacle);

    return message;
}
