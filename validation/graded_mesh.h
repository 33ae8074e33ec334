// A mesh graded along x: a design meshed with linear tets of one size, then, between two planes, edges split
// in halves until none is longer than requested. Splitting an edge in all tets around it keeps the mesh
// conforming; the designs used have flat faces, so the shape stays the same.
#ifndef PL_GRADED_MESH_H
#define PL_GRADED_MESH_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "mesh/mesh.h"
#include "pliant/result.h"
#include "pliant/meshing.h"
#include "meshfile/meshfile.h"

typedef struct graded_request {
    const char *kind; // design, at its defaults
    double size;      // mm
    double from, to;  // mm along x
    double edge;      // mm, longest edge between them
} graded_request;

typedef struct graded_mesh {
    double *x;
    int32_t *tet, *region;
    int32_t vertices, tets, vertex_room, tet_room;
} graded_mesh;

typedef struct graded_edge {
    int64_t key; // smaller vertex * 2^32 + larger
    int32_t tet;
    double length;
} graded_edge;

static inline int graded_by_key(const void *a, const void *b)
{
    const graded_edge *p = a, *q = b;
    return p->key != q->key ? (p->key > q->key) - (p->key < q->key) : (p->tet > q->tet) - (p->tet < q->tet);
}

static inline int graded_by_length(const void *a, const void *b)
{
    const graded_edge *p = a, *q = b;
    return p->length != q->length ? (p->length < q->length) - (p->length > q->length) : graded_by_key(a, b);
}

static inline bool graded_take(graded_mesh *m, const pl_mesh_view *v)
{
    m->vertex_room = 16 * v->vertex_count;
    m->tet_room = 16 * v->element_count;
    m->x = malloc(3 * (size_t)m->vertex_room * sizeof *m->x);
    m->tet = malloc(4 * (size_t)m->tet_room * sizeof *m->tet);
    m->region = malloc((size_t)m->tet_room * sizeof *m->region);
    if (!m->x || !m->tet || !m->region) {
        return false;
    }
    m->vertices = v->vertex_count;
    m->tets = v->element_count;
    memcpy(m->x, v->position, 3 * (size_t)m->vertices * sizeof *m->x);
    memcpy(m->region, v->region, (size_t)m->tets * sizeof *m->region);
    for (int32_t e = 0; e < m->tets; ++e) {
        memcpy(m->tet + 4 * (size_t)e, v->node + v->node_start[e], 4 * sizeof *m->tet);
    }

    return true;
}

// All edges of all tets by key; returns their number.
static inline size_t graded_edges(const graded_mesh *m, graded_edge *edge)
{
    static const int pair[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    size_t n = 0;

    for (int32_t e = 0; e < m->tets; ++e) {
        for (int k = 0; k < 6; ++k) {
            const int32_t a = m->tet[4 * (size_t)e + pair[k][0]], b = m->tet[4 * (size_t)e + pair[k][1]];
            const double *p = m->x + 3 * (size_t)a, *q = m->x + 3 * (size_t)b;
            edge[n++] = (graded_edge){((int64_t)(a < b ? a : b) << 32) + (a < b ? b : a), e,
                                      sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2))};
        }
    }

    qsort(edge, n, sizeof *edge, graded_by_key);
    return n;
}

// Splits the edge in all tets edge[first .. first + count).
static inline void graded_split(graded_mesh *m, const graded_edge *edge, size_t count)
{
    const int32_t a = (int32_t)(edge->key >> 32), b = (int32_t)(edge->key & 0xffffffff), c = m->vertices++;
    for (int i = 0; i < 3; ++i) {
        m->x[3 * (size_t)c + i] = 0.5 * (m->x[3 * (size_t)a + i] + m->x[3 * (size_t)b + i]);
    }

    for (size_t k = 0; k < count; ++k) {
        int32_t *old = m->tet + 4 * (size_t)edge[k].tet, *new = m->tet + 4 * (size_t)m->tets;
        memcpy(new, old, 4 * sizeof *old);
        m->region[m->tets++] = m->region[edge[k].tet];
        for (int i = 0; i < 4; ++i) {
            old[i] = old[i] == b ? c : old[i];
            new[i] = new[i] == a ? c : new[i];
        }
    }
}

// One round: the longest edges first, each tet touched once. Returns how many were split, negative without
// memory.
static inline int graded_round(graded_mesh *m, const graded_request *request)
{
    const size_t all = 6 * (size_t)m->tets;
    graded_edge *edge = malloc(all * sizeof *edge), *long_one = malloc(all * sizeof *long_one);
    bool *touched = calloc((size_t)m->tets, sizeof *touched);
    size_t longs = 0;
    int split = edge && long_one && touched ? 0 : -1;

    for (size_t i = 0, n = split == 0 ? graded_edges(m, edge) : 0; i < n; ++i) {
        const double *p = m->x + 3 * (size_t)(edge[i].key >> 32),
                     *q = m->x + 3 * (size_t)(edge[i].key & 0xffffffff);
        const double middle = 0.5 * (p[0] + q[0]);
        if ((i == 0 || edge[i].key != edge[i - 1].key) && edge[i].length > request->edge &&
            middle >= request->from && middle <= request->to) {
            long_one[longs] = edge[i];
            long_one[longs++].tet = (int32_t)i; // where its tets begin
        }
    }

    qsort(long_one, longs, sizeof *long_one, graded_by_length);
    for (size_t k = 0; split >= 0 && k < longs; ++k) {
        const size_t first = (size_t)long_one[k].tet;
        size_t count = 0;
        bool free_all = true;
        for (; first + count < all && edge[first + count].key == long_one[k].key; ++count) {
            free_all = free_all && !touched[edge[first + count].tet];
        }
        if (free_all && m->vertices < m->vertex_room && m->tets + (int32_t)count < m->tet_room) {
            for (size_t i = 0; i < count; ++i) {
                touched[edge[first + i].tet] = true;
            }
            graded_split(m, edge + first, count);
            ++split;
        }
    }

    free(edge);
    free(long_one);
    free(touched);

    return split;
}

static inline pl_status graded_save(const graded_mesh *m, const pl_mesh_view *v, const char *path,
                                    pl_error *err)
{
    uint8_t *kind = calloc((size_t)m->tets, sizeof *kind);
    int64_t *start = malloc(((size_t)m->tets + 1) * sizeof *start);
    pl_mesh *mesh = NULL;
    pl_status status = PL_NO_MEMORY;

    if (kind && start) {
        for (int32_t e = 0; e <= m->tets; ++e) {
            start[e] = 4 * (int64_t)e;
        }
        memset(kind, PL_TET4, (size_t)m->tets);
        const pl_mesh_def def = {.vertex_count = m->vertices,
                                 .position = m->x,
                                 .element_count = m->tets,
                                 .kind = kind,
                                 .node_start = start,
                                 .node = m->tet,
                                 .region = m->region,
                                 .region_count = v->region_count,
                                 .region_name = v->region_name};
        status = pl_mesh_create(&def, &mesh, NULL, err);
    }

    if (status == PL_OK) {
        status = pl_mesh_write_vtu(mesh, path, PL_VTU_BASE64, err);
    }
    pl_mesh_destroy(mesh);
    free(kind);
    free(start);

    return status;
}

// Writes the mesh as VTU, regions named as in the design, without surfaces.
static inline pl_status graded_mesh_write(const graded_request *request, const char *path, pl_error *err)
{
    const pl_mesher *mesher = pl_meshing_mesher();
    const pl_mesh_source source = {
        .kind = PL_SOURCE_DESIGN, .design = request->kind, .size = request->size, .order = 1};
    pl_mesh *mesh = NULL;
    graded_mesh m = {0};
    pl_status status = mesher->build(mesher->user, &source, NULL, &mesh, NULL, err);

    if (status == PL_OK) {
        const pl_mesh_view v = pl_mesh_get(mesh);
        int split = graded_take(&m, &v) ? 1 : -1;
        for (int round = 0; round < 60 && split > 0; ++round) {
            split = graded_round(&m, request);
        }
        status = split < 0 ? pl_fail(err, PL_NO_MEMORY, "no memory for the graded mesh")
                           : graded_save(&m, &v, path, err);
    }

    free(m.x);
    free(m.tet);
    free(m.region);
    pl_mesh_destroy(mesh);

    return status;
}

#endif
