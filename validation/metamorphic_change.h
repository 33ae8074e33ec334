// Changes of a random robot (metamorphic_robot.h) that must not change its answer: x -> s Q x + t with forces
// scaled by f, another numbering of vertices and elements, the half on one side of a plane of symmetry.
#ifndef PL_METAMORPHIC_CHANGE_H
#define PL_METAMORPHIC_CHANGE_H

#include "metamorphic_robot.h"
#include "material/material.h"

typedef struct meta_map {
    double Q[9], t[3]; // orthogonal, a rotation or a reflection; mm
    double s, f;       // lengths and forces over those of the robot
} meta_map;

static inline void meta_apply(const meta_map *map, const double x[3], double out[3])
{
    double y[3];
    pl_mulv3(map->Q, x, y);
    for (int i = 0; i < 3; ++i) {
        out[i] = map->s * y[i] + map->t[i];
    }
}

static inline void meta_unapply(const meta_map *map, const double x[3], double out[3])
{
    const double y[3] = {(x[0] - map->t[0]) / map->s, (x[1] - map->t[1]) / map->s,
                         (x[2] - map->t[2]) / map->s};
    pl_mulTv3(map->Q, y, out);
}

// A vector scaled by `factor`.
static inline void meta_turn(const meta_map *map, double factor, double v[3])
{
    double y[3];
    pl_mulv3(map->Q, v, y);
    for (int i = 0; i < 3; ++i) {
        v[i] = factor * y[i];
    }
}

static inline void *meta_duplicate(const void *data, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    memcpy(copy, data, bytes);
    return copy;
}

// A copy with a mesh of its own.
static inline void meta_copy(const meta_robot *from, meta_robot *to)
{
    *to = *from;
    const meta_mesh *a = &from->mesh;
    meta_mesh *b = &to->mesh;
    const size_t v = 3 * (size_t)a->vertex_count, e = (size_t)a->element_count;
    b->x = meta_duplicate(a->x, v * sizeof *a->x);
    b->grid = meta_duplicate(a->grid, v * sizeof *a->grid);
    b->node = meta_duplicate(a->node, 6 * e * sizeof *a->node);
    b->kind = meta_duplicate(a->kind, e);
    b->region = meta_duplicate(a->region, e * sizeof *a->region);
    for (int s = 0; s < META_SURFACES; ++s) {
        b->face[s] = meta_duplicate(a->face[s], 4 * (size_t)a->face_count[s] * sizeof *a->face[s]);
    }
}

// ---- x -> s Q x + t
static inline double meta_command_scale(pl_drive drive, const meta_map *map)
{
    switch (pl_drive_dimension(drive)) {
    case PL_DIM_LENGTH:
        return map->s;
    case PL_DIM_VOLUME:
        return map->s * map->s * map->s;
    case PL_DIM_FORCE:
        return map->f;
    case PL_DIM_PRESSURE:
    case PL_DIM_STRESS:
        return map->f / (map->s * map->s);
    case PL_DIM_VOLTAGE: // energy: U^2 times a length
        return sqrt(map->f);
    case PL_DIM_FLUX_DENSITY: // energy per volume: field times remanence
        return sqrt(map->f) / map->s;
    default:
        return 1;
    }
}

// The effort's own unit: N for cables, a flux density for magnets, MPa for the others.
static inline double meta_effort_scale(pl_actuator_kind kind, const meta_map *map)
{
    return kind == PL_CABLE ? map->f : kind == PL_MAGNET ? sqrt(map->f) / map->s : map->f / (map->s * map->s);
}

// An axial vector (a moment, a rotation vector) scaled by `factor`.
static inline void meta_turn_axial(const meta_map *map, double factor, double v[3])
{
    double y[3];
    pl_mulv3(map->Q, v, y);
    for (int i = 0; i < 3; ++i) {
        v[i] = pl_det3(map->Q) < 0 ? -factor * y[i] : factor * y[i];
    }
}

static inline void meta_transform_material(pl_material *m, const meta_map *map)
{
    const double volume = map->s * map->s * map->s;
    for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
        const pl_dimension dimension = pl_material_constant_dimension((pl_material_constant)c);
        double *value = pl_material_at(m, (pl_material_constant)c);
        *value *= dimension == PL_DIM_NUMBER    ? 1
                  : dimension == PL_DIM_DENSITY ? map->f / volume
                                                : map->f / (map->s * map->s);
    }
    for (int i = 0; i < m->fibre_count; ++i) {
        meta_turn(map, 1, m->fibre[i]);
    }
}

static inline void meta_transform_obstacle(pl_obstacle_def *o, const meta_map *map)
{
    meta_apply(map, o->point, o->point);
    meta_turn(map, 1, o->direction);
    meta_turn(map, 1, o->move);
    meta_turn(map, 1, o->pull);
    o->radius *= map->s;
    o->length *= map->s;
    o->mass *= map->f;
    o->density *= map->f / (map->s * map->s * map->s);
    double R[9], turned[9];
    pl_rotation_exp(o->rotate, R);
    pl_mul33(map->Q, R, turned);
    if (pl_det3(turned) < 0) { // a box is its own mirror image
        for (int i = 0; i < 3; ++i) {
            turned[3 * i + 2] = -turned[3 * i + 2];
        }
    }

    for (int i = 0; i < 3; ++i) {
        o->size[i] *= map->s;
    }
    if (o->kind == PL_OBSTACLE_BOX) {
        pl_rotation_log(turned, o->rotate);
    }
}

static inline void meta_transform_mesh(meta_mesh *g, const meta_map *map)
{
    for (int32_t v = 0; v < g->vertex_count; ++v) {
        meta_apply(map, g->x + 3 * (size_t)v, g->x + 3 * (size_t)v);
    }
    for (int32_t e = 0; e < g->element_count && pl_det3(map->Q) < 0; ++e) {
        int32_t *n = g->node + 6 * (size_t)e, swap = n[1];
        n[1] = n[2];
        n[2] = swap;
        if (g->kind[e] == PL_PRISM6) {
            swap = n[4];
            n[4] = n[5];
            n[5] = swap;
        }
    }
}

static inline void meta_transform(meta_robot *m, const meta_map *map)
{
    const double s = map->s, f = map->f, volume = s * s * s, stress = f / (s * s);
    meta_transform_mesh(&m->mesh, map);
    for (int i = 0; i < 3; ++i) {
        meta_transform_material(&m->material[i].material, map);
    }
    for (int i = 0; i < m->def.fixed_count; ++i) {
        meta_turn(map, s, m->fixed[i].move);
        meta_turn_axial(map, 1, m->fixed[i].rotate);
        meta_apply(map, m->fixed[i].about, m->fixed[i].about);
    }
    for (int i = 0; i < m->def.marker_count; ++i) {
        meta_apply(map, m->marker[i].at, m->marker[i].at);
    }
    meta_turn(map, 1, m->def.gravity);
    for (int i = 0; i < m->def.actuator_count; ++i) {
        pl_actuator_def *a = &m->actuator[i];
        m->command[i] *= meta_command_scale(a->drive, map);
        a->radius *= s;
        a->thickness *= s;
        a->line_volume *= volume;
        a->ambient *= stress;
        a->modulus *= stress;
        meta_turn(map, sqrt(stress), a->remanence);
        meta_turn(map, 1, a->direction);
        for (int g = 0; g < a->guide_count; ++g) {
            meta_apply(map, m->guide[i][g].point, m->guide[i][g].point);
        }
    }

    for (int i = 0; i < m->def.force_count; ++i) {
        meta_turn(map, f, m->force[i].force);
        meta_turn_axial(map, f * s, m->force[i].moment);
    }
    for (int i = 0; i < m->def.pressure_count; ++i) {
        m->pressure[i].pressure *= stress;
    }

    for (int i = 0; i < m->def.spring_count; ++i) {
        meta_apply(map, m->spring[i].point, m->spring[i].point);
        m->spring[i].stiffness *= f / s;
        m->spring[i].rest *= s;
    }

    for (int i = 0; i < m->def.layer_count; ++i) {
        m->layer[i].thickness *= s;
    }
    for (int i = 0; i < m->def.fibre_count; ++i) {
        meta_apply(map, m->fibre_point, m->fibre_point);
        meta_apply(map, m->fibre_point + 3, m->fibre_point + 3);
        m->fibre[i].stiffness *= f;
    }
    for (int i = 0; i < m->def.contact.obstacle_count; ++i) {
        meta_transform_obstacle(&m->obstacle[i], map);
        m->command[META_ACTUATORS + i] *= s;
    }
}

// ---- another numbering
static inline int32_t *meta_permutation(pl_random *r, int32_t count)
{
    int32_t *p = malloc((size_t)count * sizeof *p);
    for (int32_t i = 0; i < count; ++i) {
        const int32_t j = meta_pick(r, i + 1);
        p[i] = p[j];
        p[j] = i;
    }

    return p;
}

// Vertices, elements and the corners within each element (an even permutation) in another order.
static inline void meta_renumber(meta_robot *m, pl_random *r)
{
    meta_robot old;
    meta_copy(m, &old);
    meta_mesh *g = &m->mesh;
    int32_t *vertex = meta_permutation(r, g->vertex_count), *element = meta_permutation(r, g->element_count);
    for (int32_t v = 0; v < g->vertex_count; ++v) {
        memcpy(g->x + 3 * (size_t)vertex[v], old.mesh.x + 3 * (size_t)v, 3 * sizeof *g->x);
    }

    for (int32_t e = 0; e < g->element_count; ++e) {
        const int32_t to = element[e], *from = old.mesh.node + 6 * (size_t)e;
        const int turn = meta_pick(r, 3);
        g->kind[to] = old.mesh.kind[e];
        g->region[to] = old.mesh.region[e];
        for (int a = 0; a < 6; ++a) {
            const int at = a < 3 ? (a + turn) % 3 : g->kind[to] == PL_PRISM6 ? 3 + (a + turn) % 3 : a;
            const bool used = a < (g->kind[to] == PL_PRISM6 ? 6 : 4);
            g->node[6 * (size_t)to + (size_t)a] = used ? vertex[from[at]] : -1;
        }
    }

    for (int s = 0; s < META_SURFACES; ++s) {
        for (int c = 0; c < 4 * g->face_count[s]; ++c) {
            g->face[s][c] = g->face[s][c] < 0 ? -1 : vertex[g->face[s][c]];
        }
    }

    free(vertex);
    free(element);
    meta_mesh_clear(&old.mesh);
}

// ---- the half with y >= 0 of a symmetric robot
static inline void meta_halve(meta_robot *m)
{
    m->half = true;
    meta_mesh_make(m);
    const double far = 1e3 * m->size[0], thin = 1e-6 * m->size[1];
    m->fixed[m->def.fixed_count++] = (pl_fixed_def){.name = "symmetry",
                                                    .has_box = true,
                                                    .low = {-far, -thin, -far},
                                                    .high = {far, thin, far},
                                                    .body = -1,
                                                    .axis = {false, true, false}};
    int kept = 0;
    for (int i = 0; i < m->def.actuator_count; ++i) {
        if (m->actuator[i].kind == PL_CABLE && m->guide[i][0].point[1] < 0) {
            continue;
        }
        m->actuator[kept] = m->actuator[i];
        memcpy(m->guide[kept], m->guide[i], sizeof m->guide[i]);
        pl_actuator_def *a = &m->actuator[kept];
        m->command[kept++] =
            m->command[i] * (a->drive == PL_DRIVE_VOLUME || a->drive == PL_DRIVE_SYRINGE ? 0.5 : 1);
        a->line_volume *= 0.5;
    }

    m->def.actuator_count = kept;
    for (int i = 0; i < m->def.force_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            m->force[i].force[k] *= 0.5;
        }
    }
}

#endif
