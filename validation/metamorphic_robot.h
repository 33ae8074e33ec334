// Random robots as definitions on structured meshes, small enough for a solve of a second: boxes of
// tetrahedra, with a cavity, a film of prisms, a layer, springs, obstacles, a free body. Unlike a robot file,
// a definition can be rotated, mirrored, scaled, renumbered and halved exactly. Everything follows from one
// seed.
#ifndef PL_METAMORPHIC_ROBOT_H
#define PL_METAMORPHIC_ROBOT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/rotation.h"
#include "statics/statics.h"
#include "robot/robot_def.h"

#define META_SURFACES 6
#define META_ACTUATORS 4
#define META_GUIDES 6

// ---- the mesh: linear tets and prisms, faces of named surfaces
typedef struct meta_mesh {
    int32_t vertex_count, element_count;
    double *x;                    // 3 per vertex
    int32_t *grid;                // 3 per vertex: its place in the grid of cells
    int32_t *node;                // 6 per element; tets use 4
    uint8_t *kind;                // pl_element_kind
    int32_t *region;              // 0 body, 1 second (stiffer end, or film)
    int32_t *face[META_SURFACES]; // 4 corners each, the last is -1
    int face_count[META_SURFACES];
} meta_mesh;

enum meta_surface { META_BASE, META_TIP, META_TOP, META_BOTTOM, META_CUT, META_CAVITY };
static const char *const meta_surface_name[META_SURFACES] = {"base", "tip", "top", "bottom", "cut", "cavity"};

typedef struct meta_robot {
    uint64_t seed;
    // the grid of cells: cells[1] is even where the robot has a plane of symmetry y = 0
    int cells[3];
    double size[3];
    bool cavity, film, stiff_end, symmetric, half, second_order, on_block;
    bool core; // where a cavity would be, elements of the second region
    double jitter, film_thickness;
    meta_mesh mesh;
    // the definition; pointers into this structure are set by meta_build
    pl_robot_def def;
    pl_body_def body;
    pl_material_def material[3];
    pl_region_def region[2];
    pl_fixed_def fixed[3];
    pl_actuator_def actuator[META_ACTUATORS];
    pl_guide_def guide[META_ACTUATORS][META_GUIDES];
    pl_marker_def marker[2];
    pl_force_def force[1];
    pl_surface_pressure_def pressure[1];
    pl_spring_def spring[2];
    pl_obstacle_def obstacle[2];
    pl_layer_def layer[1];
    pl_rigid_def rigid[1];
    pl_fibre_def fibre[1];
    double fibre_point[6];
    double command[META_ACTUATORS + 2]; // of the actuators, then of the obstacles
    double mu;                          // MPa, of the body
    int32_t vertices;                   // of the built mesh, without the frames of free bodies
    char words[200];
} meta_robot;

// ---- drawing
static inline double meta_uniform(pl_random *r, double low, double high)
{
    return pl_random_uniform(r, low, high);
}

static inline bool meta_chance(pl_random *r, double probability)
{
    return pl_random_uniform(r, 0, 1) < probability;
}

static inline int meta_pick(pl_random *r, int count)
{
    return (int)(pl_random_next(r) % (uint64_t)count);
}

static inline void meta_say(meta_robot *m, const char *word)
{
    const size_t at = strlen(m->words);
    snprintf(m->words + at, sizeof m->words - at, "%s%s", at ? " " : "", word);
}

// ---- the mesh of a robot
static inline bool meta_cell_inside(const meta_robot *m, int i, int j, int k)
{
    const int *n = m->cells;
    return i > 0 && i < n[0] - 1 && j > 0 && j < n[1] - 1 && k > 0 && k < n[2] - 1;
}

static inline bool meta_cell_exists(const meta_robot *m, int i, int j, int k)
{
    return !(m->half && j < m->cells[1] / 2) && !(m->cavity && meta_cell_inside(m, i, j, k));
}

// Displacement of a grid vertex that lies inside the body, from a hash of its place; mirrored at y = 0 where
// the robot is symmetric.
static inline void meta_vertex(const meta_robot *m, int i, int j, int k, double x[3])
{
    const int at[3] = {i, j, k};
    const bool below = m->symmetric && 2 * j < m->cells[1];
    const int32_t key[4] = {i, below ? m->cells[1] - j : j, k, (int32_t)m->seed};
    pl_random r;

    pl_random_seed(&r, pl_hash_bytes(PL_HASH_SEED, key, sizeof key));
    for (int a = 0; a < 3; ++a) {
        const double h = m->size[a] / m->cells[a], shift = m->jitter * h * pl_random_uniform(&r, -1, 1);
        const bool inside = at[a] > 0 && at[a] < m->cells[a];
        const bool middle = a == 1 && m->symmetric && 2 * j == m->cells[1];
        x[a] = h * at[a] - (a == 1 ? 0.5 * m->size[1] : 0);
        if (inside && !middle && !m->cavity) {
            x[a] += a == 1 && below ? -shift : shift;
        }
    }
}

static inline void meta_mesh_clear(meta_mesh *g)
{
    free(g->x);
    free(g->grid);
    free(g->node);
    free(g->kind);
    free(g->region);
    for (int s = 0; s < META_SURFACES; ++s) {
        free(g->face[s]);
    }
    *g = (meta_mesh){0};
}

static inline void meta_add_face(meta_mesh *g, int surface, const int32_t corner[3])
{
    int32_t *f = g->face[surface] + 4 * g->face_count[surface]++;
    memcpy(f, corner, 3 * sizeof *f);
    f[3] = -1;
}

// True when all corners have `value` in grid coordinate `axis`.
static inline bool meta_on(const meta_mesh *g, const int32_t corner[3], int axis, int value)
{
    return g->grid[3 * corner[0] + axis] == value && g->grid[3 * corner[1] + axis] == value &&
           g->grid[3 * corner[2] + axis] == value;
}

static inline bool meta_in_cavity(const meta_robot *m, const int32_t corner[3])
{
    for (int c = 0; c < 3; ++c) {
        for (int a = 0; a < 3; ++a) {
            const int at = m->mesh.grid[3 * corner[c] + a];
            if (at < 1 || at > m->cells[a] - 1) {
                return false;
            }
        }
    }
    return m->cavity;
}

static inline int meta_compare_faces(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(int32_t));
}

// Faces of tets that belong to one of them only, sorted into the named surfaces.
static inline void meta_surfaces(meta_robot *m)
{
    static const int side[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    meta_mesh *g = &m->mesh;

    typedef struct face {
        int32_t key[3], corner[3];
    } face;
    const int count = 4 * g->element_count;
    face *all = malloc((size_t)count * sizeof *all);
    for (int s = 0; s < META_SURFACES; ++s) {
        g->face[s] = malloc((size_t)count * 4 * sizeof *g->face[s]);
    }

    for (int f = 0; f < count; ++f) {
        int32_t key[3];
        for (int a = 0; a < 3; ++a) {
            key[a] = all[f].corner[a] = g->node[6 * (f / 4) + side[f % 4][a]];
        }
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 2; ++b) {
                if (key[b] > key[b + 1]) {
                    const int32_t swap = key[b];
                    key[b] = key[b + 1];
                    key[b + 1] = swap;
                }
            }
        }
        memcpy(all[f].key, key, sizeof key);
    }

    qsort(all, (size_t)count, sizeof *all, meta_compare_faces);
    for (int f = 0; f < count; ++f) {
        const bool shared = (f > 0 && !meta_compare_faces(&all[f], &all[f - 1])) ||
                            (f + 1 < count && !meta_compare_faces(&all[f], &all[f + 1]));
        const int32_t *c = all[f].corner;
        if (shared) {
            continue;
        }
        const int at = meta_on(g, c, 0, 0)                            ? META_BASE
                       : meta_on(g, c, 0, m->cells[0])                ? META_TIP
                       : meta_on(g, c, 2, m->cells[2])                ? META_TOP
                       : meta_on(g, c, 2, 0)                          ? META_BOTTOM
                       : m->half && meta_on(g, c, 1, m->cells[1] / 2) ? META_CUT
                       : meta_in_cavity(m, c)                         ? META_CAVITY
                                                                      : -1;
        if (at >= 0) {
            meta_add_face(g, at, c);
        }
    }

    free(all);
}

// A layer of prisms on the top faces; afterwards these are the faces of the film's upper side.
static inline void meta_film(meta_robot *m)
{
    meta_mesh *g = &m->mesh;
    int32_t *above = malloc((size_t)g->vertex_count * sizeof *above);

    memset(above, -1, (size_t)g->vertex_count * sizeof *above);
    const int32_t old = g->vertex_count;
    for (int32_t v = 0; v < old; ++v) {
        if (g->grid[3 * v + 2] == m->cells[2]) {
            const int32_t w = above[v] = g->vertex_count++;
            memcpy(g->x + 3 * w, g->x + 3 * v, 3 * sizeof *g->x);
            memcpy(g->grid + 3 * w, g->grid + 3 * v, 3 * sizeof *g->grid);
            g->x[3 * w + 2] += m->film_thickness;
        }
    }

    for (int f = 0; f < g->face_count[META_TOP]; ++f) {
        int32_t *c = g->face[META_TOP] + 4 * f, e = g->element_count++;
        for (int a = 0; a < 3; ++a) {
            g->node[6 * e + a] = c[a];
            g->node[6 * e + 3 + a] = above[c[a]];
            c[a] = above[c[a]];
        }
        g->kind[e] = PL_PRISM6;
        g->region[e] = 1;
    }

    free(above);
}

static inline void meta_mesh_make(meta_robot *m)
{
    // the six ways from corner 000 to corner 111 of a cell; odd ones are mirrored tets
    static const int axis[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const int *n = m->cells, cells = n[0] * n[1] * n[2], spots = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    const size_t top = 2 * (size_t)n[0] * (size_t)n[1], elements = 6 * (size_t)cells + top;
    meta_mesh *g = &m->mesh;

    *g = (meta_mesh){.x = malloc(6 * (size_t)spots * sizeof *g->x),
                     .grid = malloc(6 * (size_t)spots * sizeof *g->grid),
                     .node = malloc(6 * elements * sizeof *g->node),
                     .kind = malloc(elements),
                     .region = malloc(elements * sizeof *g->region)};
    int32_t *number = malloc((size_t)spots * sizeof *number);
    memset(number, -1, (size_t)spots * sizeof *number);
    for (int c = 0; c < cells; ++c) {
        const int i = c % n[0], j = c / n[0] % n[1], k = c / (n[0] * n[1]);
        const bool mirrored = m->symmetric && 2 * j < n[1];
        for (int t = 0; t < 6 && meta_cell_exists(m, i, j, k); ++t) {
            int at[3] = {i, mirrored ? j + 1 : j, k};
            int32_t *v = g->node + 6 * g->element_count;
            for (int s = 0; s < 4; ++s) {
                if (s > 0) {
                    at[axis[t][s - 1]] += mirrored && axis[t][s - 1] == 1 ? -1 : 1;
                }
                int32_t *spot = number + at[0] + (n[0] + 1) * (at[1] + (n[1] + 1) * at[2]);
                if (*spot < 0) {
                    *spot = g->vertex_count++;
                    meta_vertex(m, at[0], at[1], at[2], g->x + 3 * *spot);
                    memcpy(g->grid + 3 * *spot, at, sizeof at);
                }
                v[s] = *spot;
            }
            if ((t >= 3) != mirrored) {
                const int32_t swap = v[1];
                v[1] = v[2];
                v[2] = swap;
            }
            g->kind[g->element_count] = PL_TET4;
            g->region[g->element_count++] =
                (m->stiff_end && i == n[0] - 1) || (m->core && meta_cell_inside(m, i, j, k));
        }
    }

    free(number);
    meta_surfaces(m);
    if (m->film) {
        meta_film(m);
    }
}

// ---- the definition
static inline pl_material meta_material(pl_random *r, double mu)
{
    const double poisson = meta_uniform(r, 0.3, 0.495), density = 1.1e-9;
    switch (meta_pick(r, 6)) {
    case 0:
        return (pl_material){
            .model = PL_LINEAR, .young = 2 * mu * (1 + poisson), .poisson = poisson, .density = density};
    case 1:
        return (pl_material){.model = PL_MOONEY_RIVLIN,
                             .c10 = 0.4 * mu,
                             .c01 = 0.1 * mu,
                             .poisson = poisson,
                             .density = density};
    case 2:
        return (pl_material){
            .model = PL_YEOH, .c10 = 0.5 * mu, .c20 = 0.02 * mu, .poisson = poisson, .density = density};
    case 3:
        return (pl_material){.model = PL_GENT, .mu = mu, .jm = 20, .poisson = poisson, .density = density};
    case 4:
        return (pl_material){.model = PL_OGDEN,
                             .ogden_mu = {0.8 * mu, 0.2 * mu},
                             .ogden_alpha = {2, 3},
                             .poisson = poisson,
                             .density = density};
    default:
        return (pl_material){
            .model = PL_NEO_HOOKEAN, .c10 = 0.5 * mu, .poisson = poisson, .density = density};
    }
}

static inline pl_actuator_def *meta_actuator(meta_robot *m, const char *name, pl_actuator_kind kind,
                                             pl_drive drive, double command)
{
    const int i = m->def.actuator_count++;
    m->actuator[i] = (pl_actuator_def){.name = name, .kind = kind, .drive = drive};
    m->command[i] = command;
    meta_say(m, pl_drive_name(drive));
    return &m->actuator[i];
}

// A straight cable along x at (y, z); commands by the seed, the same for the two cables of a pair.
static inline void meta_cable(meta_robot *m, pl_random *r, const char *name, double y, double z)
{
    const double from = 0.02 * m->size[0], to = 0.95 * m->size[0], length = to - from;
    const double pull = meta_uniform(r, 0.02, 0.1) * length;
    const double tension = meta_uniform(r, 0.02, 0.1) * m->mu * m->size[1] * m->size[2];
    static const pl_drive drives[] = {PL_DRIVE_SHORTENING, PL_DRIVE_LENGTH_RATIO, PL_DRIVE_LENGTH,
                                      PL_DRIVE_TENSION};
    const pl_drive drive = drives[meta_pick(r, 4)];
    const double value = drive == PL_DRIVE_SHORTENING     ? pull
                         : drive == PL_DRIVE_LENGTH_RATIO ? 1 - pull / length
                         : drive == PL_DRIVE_LENGTH       ? length - pull
                                                          : tension;
    const int i = m->def.actuator_count;
    pl_actuator_def *a = meta_actuator(m, name, PL_CABLE, drive, value);

    a->guide_count = 3 + meta_pick(r, META_GUIDES - 3);
    a->radius = meta_chance(r, 0.5) ? 0.2 * fmin(m->size[1], m->size[2]) : 0;
    a->idle_hold = meta_chance(r, 0.3);
    for (int g = 0; g < a->guide_count; ++g) {
        m->guide[i][g] = (pl_guide_def){.point = {from + length * g / (a->guide_count - 1), y, z}};
    }
}

static inline void meta_chamber(meta_robot *m, pl_random *r)
{
    double volume = 1;
    for (int a = 0; a < 3; ++a) {
        volume *= m->size[a] * (m->cells[a] - 2) / m->cells[a];
    }

    static const pl_drive drives[] = {PL_DRIVE_PRESSURE, PL_DRIVE_VOLUME_RATIO, PL_DRIVE_VOLUME,
                                      PL_DRIVE_SYRINGE};
    const pl_drive drive = drives[meta_pick(r, 4)];
    const double more = meta_uniform(r, 0.05, 0.4);
    const double value = drive == PL_DRIVE_PRESSURE       ? meta_uniform(r, -0.1, 0.3) * m->mu
                         : drive == PL_DRIVE_VOLUME_RATIO ? 1 + more
                         : drive == PL_DRIVE_VOLUME       ? volume * (1 + more)
                                                          : volume * more;
    pl_actuator_def *a = meta_actuator(m, "air", PL_CHAMBER, drive, value);
    a->surface = meta_surface_name[META_CAVITY];
    a->idle_hold = meta_chance(r, 0.3);
    if (drive == PL_DRIVE_SYRINGE) {
        a->line_volume = 0.1 * volume;
        a->liquid = meta_chance(r, 0.5);
        a->ambient = 0.101325;
    }
}

static inline void meta_dielectric(meta_robot *m, pl_random *r)
{
    const double permittivity = 3, eps = permittivity * 8.8541878e-12; // N/V^2
    const bool voltage = meta_chance(r, 0.6);

    // of the voltage at which the Maxwell stress is the film's shear modulus
    const double u = meta_uniform(r, 0.1, 0.5) * m->film_thickness * sqrt(m->mu / eps);
    pl_actuator_def *a = meta_actuator(m, "film", PL_FILM, voltage ? PL_DRIVE_VOLTAGE : PL_DRIVE_AREA_RATIO,
                                       voltage ? u : meta_uniform(r, 1.01, 1.08));

    a->region = "second";
    a->thickness = m->film_thickness;
    a->permittivity = permittivity;
}

static inline void meta_obstacle(meta_robot *m, pl_random *r)
{
    const double *L = m->size, side = meta_chance(r, 0.5) ? 1 : -1; // above or below the tip
    const double gap = meta_uniform(r, 0.01, 0.1) * L[2],
                 face = side > 0 ? L[2] + (m->film ? m->film_thickness : 0) : 0;
    const double radius = meta_uniform(r, 0.4, 1.2) * L[2];
    const double x = meta_uniform(r, 0.6, 0.95) * L[0],
                 y = m->symmetric ? 0 : meta_uniform(r, -0.2, 0.2) * L[1];
    pl_obstacle_def *o = &m->obstacle[0];

    *o = (pl_obstacle_def){
        .name = "stop", .friction = -1, .moves = meta_chance(r, 0.6), .move = {0, 0, -side}};
    switch (meta_pick(r, 4)) {
    case 0:
        o->kind = PL_OBSTACLE_PLANE;
        o->direction[0] = -0.1; // away from the base
        o->direction[2] = -side;
        memcpy(o->point, (double[3]){L[0], 0, face + side * (gap + 0.02 * L[0])}, sizeof o->point);
        break;
    case 1:
        o->kind = PL_OBSTACLE_SPHERE;
        o->radius = radius;
        memcpy(o->point, (double[3]){x, y, face + side * (gap + radius)}, sizeof o->point);
        break;
    case 2:
        o->kind = PL_OBSTACLE_CYLINDER;
        o->radius = radius;
        o->direction[1] = 1;
        memcpy(o->point, (double[3]){x, 0, face + side * (gap + radius)}, sizeof o->point);
        break;
    default:
        o->kind = PL_OBSTACLE_BOX;
        memcpy(o->size, (double[3]){radius, 3 * L[1], radius}, sizeof o->size);
        o->rotate[1] = meta_uniform(r, -0.3, 0.3);
        memcpy(o->point, (double[3]){x, 0, face + side * (gap + 0.7 * radius)}, sizeof o->point);
        break;
    }

    m->command[META_ACTUATORS] = meta_uniform(r, 0.5, 1) * gap + meta_uniform(r, 0, 0.15) * L[2];
    m->def.contact = (pl_contact_def){.given = true, .obstacle_count = 1};
    m->def.contact.friction = meta_chance(r, 0.25) ? 0.3 : 0;
    meta_say(m, m->def.contact.friction > 0 ? "friction" : "contact");
    static const char *const kind[] = {[PL_OBSTACLE_PLANE] = "(plane)",
                                       [PL_OBSTACLE_SPHERE] = "(ball)",
                                       [PL_OBSTACLE_CYLINDER] = "(cylinder)",
                                       [PL_OBSTACLE_BOX] = "(box)"};
    meta_say(m, kind[o->kind]);
}

// The block stands on its bottom and carries a body that contact and friction alone hold.
static inline void meta_free_body(meta_robot *m, pl_random *r)
{
    const double *L = m->size, edge = 0.5 * fmin(L[0], L[1]);
    const bool ball = meta_chance(r, 0.5);

    m->obstacle[0] = (pl_obstacle_def){.name = "load",
                                       .kind = ball ? PL_OBSTACLE_SPHERE : PL_OBSTACLE_BOX,
                                       .radius = 0.5 * edge,
                                       .size = {edge, edge, edge},
                                       .rotate = {0, 0, ball ? 0 : meta_uniform(r, 0, 0.7)},
                                       .point = {0.5 * L[0], 0, L[2] + 0.5 * edge + 0.005 * L[2]},
                                       .friction = 0.5,
                                       .free = true};
    m->obstacle[0].mass = 0.02 * m->mu * edge * edge / 9810;
    if (ball) {
        memset(m->obstacle[0].size, 0, sizeof m->obstacle[0].size);
    } else {
        m->obstacle[0].radius = 0;
    }

    m->def.gravity[2] = -9810;
    m->def.contact = (pl_contact_def){.given = true, .obstacle_count = 1, .friction = 0.5};
    meta_say(m, ball ? "free ball" : "free box");
}

static inline void meta_loads(meta_robot *m, pl_random *r)
{
    const double area = m->size[1] * m->size[2], f = 0.02 * m->mu * area;
    if (meta_chance(r, 0.4)) {
        m->def.gravity[meta_pick(r, 2) * 2] = meta_chance(r, 0.5) ? 9810 : -9810;
        meta_say(m, "gravity");
    }

    if (meta_chance(r, 0.4)) {
        m->force[m->def.force_count++] =
            (pl_force_def){.marker = "tip",
                           .force = {meta_uniform(r, -f, f), m->symmetric ? 0 : meta_uniform(r, -f, f),
                                     meta_uniform(r, -f, f)}};
        meta_say(m, "force");
    }

    if (meta_chance(r, 0.15)) {
        m->pressure[m->def.pressure_count++] =
            (pl_surface_pressure_def){.surface = "bottom", .pressure = 0.02 * m->mu};
        meta_say(m, "pressure");
    }

    if (!m->symmetric && meta_chance(r, 0.3)) {
        m->spring[m->def.spring_count++] =
            (pl_spring_def){.name = "spring",
                            .from = "tip",
                            .point = {1.2 * m->size[0], 0.6 * m->size[1], 1.5 * m->size[2]},
                            .stiffness = 0.1 * m->mu * m->size[1],
                            .rest = 0.2 * m->size[0],
                            .has_rest = true,
                            .tension_only = meta_chance(r, 0.5)};
        meta_say(m, "spring");
    }

    if (!m->film && !m->on_block && meta_chance(r, 0.25)) {
        m->material[2] = (pl_material_def){
            .name = "fabric", .material = {.model = PL_LINEAR, .young = 40 * m->mu, .poisson = 0.3}};
        m->def.material_count = 3;
        m->layer[m->def.layer_count++] = (pl_layer_def){.name = "cloth",
                                                        .surface = "bottom",
                                                        .material = "fabric",
                                                        .thickness = 0.02 * m->size[2],
                                                        .membrane = meta_chance(r, 0.5),
                                                        .side = (pl_layer_side)meta_pick(r, 3),
                                                        .wrinkle = -1};
        meta_say(m, "layer");
    }
}

static inline void meta_actuators(meta_robot *m, pl_random *r)
{
    const double *L = m->size, z = (m->cavity ? 0.5 / m->cells[2] : 0.2) * L[2];
    if (m->cavity) {
        meta_chamber(m, r);
    }
    if (m->film) {
        meta_dielectric(m, r);
    }
    if (m->on_block || (m->def.actuator_count && meta_chance(r, 0.5))) {
        return;
    }

    if (m->symmetric) {
        pl_random same = *r;
        meta_cable(m, r, "left", 0.3 * L[1], z);
        meta_cable(m, &same, "right", -0.3 * L[1], z);
        // the kernel that spreads a guide's force must not reach across the plane of symmetry
        m->actuator[m->def.actuator_count - 1].radius = m->actuator[m->def.actuator_count - 2].radius = 0;
    } else {
        meta_cable(m, r, "flexor", meta_uniform(r, -0.3, 0.3) * L[1], z);
        if (meta_chance(r, 0.5)) {
            meta_cable(m, r, "side", 0.4 * L[1], meta_uniform(r, 0.4, 0.6) * L[2]);
        }
    }
}

// The robot of a seed, without its mesh (meta_mesh_make); `fine` is the number of cells added per axis.
static inline void meta_draw(uint64_t seed, int fine, meta_robot *m)
{
    pl_random random, *r = &random;
    pl_random_seed(r, seed);
    *m = (meta_robot){.seed = seed};
    const double scale = exp(meta_uniform(r, log(0.5), log(2)));
    m->on_block = meta_chance(r, 0.1);
    m->symmetric = !m->on_block && meta_chance(r, 0.35);
    m->cavity = meta_chance(r, 0.45);
    m->film = !m->cavity && !m->on_block && meta_chance(r, 0.3);
    m->stiff_end = !m->film && meta_chance(r, 0.2);
    m->second_order = meta_chance(r, 0.85);
    m->jitter = 0.12;
    m->film_thickness = 0.4 * scale;
    m->cells[0] = (m->on_block ? 3 : 4) + meta_pick(r, 2) + fine;
    m->cells[1] = (m->cavity ? 3 : 2) + (m->on_block && !m->cavity) + fine;
    m->cells[2] = (m->cavity ? 3 : 2) + fine;
    m->cells[1] += m->symmetric && m->cells[1] % 2;
    m->size[1] = scale * meta_uniform(r, 8, 16);
    m->size[2] = scale * meta_uniform(r, 8, 16);
    m->size[0] = m->on_block ? m->size[1] : m->size[1] * meta_uniform(r, 1.8, 4);
    m->mu = exp(meta_uniform(r, log(0.05), log(0.5)));
    m->body = (pl_body_def){.name = "body", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    m->material[0] = (pl_material_def){.name = "soft", .material = meta_material(r, m->mu)};
    m->material[1] =
        (pl_material_def){.name = "other", .material = meta_material(r, m->stiff_end ? 8 * m->mu : m->mu)};
    m->def = (pl_robot_def){
        .name = "random", .body_count = 1, .material_count = 2, .fixed_count = 1, .marker_count = 1};
    m->region[0] = (pl_region_def){.region = "body", .material = "soft"};
    m->region[1] = (pl_region_def){.region = "second", .material = "other"};
    m->def.region_count = m->film || m->stiff_end ? 2 : 1;
    const char *held = meta_surface_name[m->on_block ? META_BOTTOM : META_BASE];
    m->fixed[0] = (pl_fixed_def){.name = held, .surface = held, .body = -1, .axis = {true, true, true}};
    m->marker[0] = (pl_marker_def){.name = "tip", .surface = "tip"};
    snprintf(m->words, sizeof m->words, "%s%s%s%s", m->second_order ? "tet10" : "tet4",
             m->symmetric ? " symmetric" : "", m->cavity ? " cavity" : "",
             m->stiff_end ? " two regions" : "");
    meta_actuators(m, r);
    if (m->on_block) {
        meta_free_body(m, r);
    } else {
        meta_loads(m, r);
        if (meta_chance(r, 0.4)) {
            meta_obstacle(m, r);
        }
    }

    for (int c = 0; c < m->def.actuator_count; ++c) {
        const bool pair = m->symmetric && m->actuator[c].kind == PL_CABLE;
        m->command[c] = !pair && meta_chance(r, 0.1) ? NAN : m->command[c];
    }
}

// ---- the robot
static inline pl_status meta_mesh_build(const meta_robot *m, pl_mesh **out, pl_error *err)
{
    static const char *const region[] = {"body", "second"};
    const meta_mesh *g = &m->mesh;
    int64_t start[META_SURFACES + 1] = {0}, at = 0;
    int32_t *node = malloc(6 * (size_t)g->element_count * sizeof *node), surfaces = 0, faces = 0;
    int64_t *first = malloc(((size_t)g->element_count + 1) * sizeof *first);
    const char *name[META_SURFACES];

    for (int32_t e = 0; e < g->element_count; ++e) {
        const int n = pl_element_node_count((pl_element_kind)g->kind[e]);
        first[e] = at;
        memcpy(node + at, g->node + 6 * (size_t)e, (size_t)n * sizeof *node);
        at += n;
    }

    first[g->element_count] = at;
    for (int s = 0; s < META_SURFACES; ++s) {
        faces += g->face_count[s];
    }

    int32_t *corner = malloc(4 * (size_t)faces * sizeof *corner);
    for (int s = 0; s < META_SURFACES; ++s) {
        if (g->face_count[s]) {
            memcpy(corner + 4 * start[surfaces], g->face[s], 4 * (size_t)g->face_count[s] * sizeof *corner);
            name[surfaces] = meta_surface_name[s];
            start[surfaces + 1] = start[surfaces] + g->face_count[s];
            surfaces++;
        }
    }

    const pl_mesh_def def = {.vertex_count = g->vertex_count,
                             .position = g->x,
                             .element_count = g->element_count,
                             .kind = g->kind,
                             .node_start = first,
                             .node = node,
                             .region = g->region,
                             .region_count = m->film || m->stiff_end || m->core ? 2 : 1,
                             .region_name = region,
                             .surface_count = surfaces,
                             .surface_name = name,
                             .surface_start = start,
                             .surface_corner = corner};
    pl_mesh *linear = NULL;
    pl_status status = pl_mesh_create(&def, &linear, NULL, err);
    if (status == PL_OK && m->second_order) {
        status = pl_mesh_raise(linear, out, err);
        pl_mesh_destroy(linear);
    } else {
        *out = linear;
    }

    free(node);
    free(first);
    free(corner);

    return status;
}

static inline pl_status meta_build(meta_robot *m, pl_robot **out, pl_error *err)
{
    pl_robot_def def = m->def;
    pl_mesh *mesh = NULL;

    def.body = &m->body;
    def.material = m->material;
    def.region = m->region;
    def.fixed = m->fixed;
    def.actuator = m->actuator;
    def.marker = m->marker;
    def.force = m->force;
    def.pressure = m->pressure;
    def.spring = m->spring;
    def.layer = m->layer;
    def.rigid = m->rigid;
    def.fibre = m->fibre;
    m->fibre[0].point = m->fibre_point;
    def.contact.obstacle = m->obstacle;
    for (int a = 0; a < def.actuator_count; ++a) {
        m->actuator[a].guide = m->actuator[a].kind == PL_CABLE ? m->guide[a] : NULL;
    }

    pl_status status = meta_mesh_build(m, &mesh, err);
    if (status == PL_OK) {
        const pl_mesh *const meshes[] = {mesh};
        m->vertices = pl_mesh_get(mesh).vertex_count;
        pl_findings *findings = pl_findings_create();
        status = pl_robot_create(&def, meshes, out, findings, err);
        pl_findings_destroy(findings);
    }

    pl_mesh_destroy(mesh);

    return status;
}

// The commands in the robot's order.
static inline void meta_commands(const meta_robot *m, const pl_robot *robot, double *command)
{
    for (int c = 0; c < pl_robot_command_count(robot); ++c) {
        const char *name = pl_robot_command(robot, c).name;
        command[c] = NAN;
        for (int a = 0; a < m->def.actuator_count; ++a) {
            command[c] = strcmp(name, m->actuator[a].name) == 0 ? m->command[a] : command[c];
        }
        for (int o = 0; o < m->def.contact.obstacle_count; ++o) {
            command[c] = strcmp(name, m->obstacle[o].name) == 0 ? m->command[META_ACTUATORS + o] : command[c];
        }
    }
}

#endif
