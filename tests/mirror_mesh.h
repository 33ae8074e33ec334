// Parts cut along planes of symmetry, for tests: a mesh and its mirror image as one mesh.
#ifndef PL_MIRROR_MESH_H
#define PL_MIRROR_MESH_H

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "box_mesh.h"

static inline pl_mesh *mesh_of_def(const pl_mesh_def *def)
{
    pl_mesh *out = NULL;
    pl_error err = {0};

    if (pl_mesh_create(def, &out, NULL, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }

    return out;
}

// The same mesh with its vertices at x. The mesh is destroyed. One region.
static inline pl_mesh *moved_mesh(pl_mesh *mesh, const double *x)
{
    static const char *const name[1] = {"body"};
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_mesh *out = mesh_of_def(&(pl_mesh_def){.vertex_count = v.vertex_count,
                                              .position = x,
                                              .element_count = v.element_count,
                                              .kind = v.kind,
                                              .node_start = v.node_start,
                                              .node = v.node,
                                              .region = v.region,
                                              .region_count = 1,
                                              .region_name = name});

    pl_mesh_destroy(mesh);
    return out;
}

// The mesh together with its image in the plane x[axis] = 0, in which they share their vertices. The mesh is
// destroyed. Tetrahedra only, one region.
static inline pl_mesh *mirror_mesh(pl_mesh *mesh, int axis)
{
    // positions of nodes of a tetrahedron whose corners 1 and 2 are exchanged; edges 01 12 02 03 13 23
    static const int order[10] = {0, 2, 1, 3, 6, 5, 4, 7, 9, 8};
    static const char *const name[1] = {"body"};
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int64_t nodes = v.node_start[v.element_count];
    double *x = malloc(6 * (size_t)v.vertex_count * sizeof *x);
    int32_t *image = malloc((size_t)v.vertex_count * sizeof *image), count = v.vertex_count;

    memcpy(x, v.position, 3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        image[i] = fabs(v.position[3 * i + axis]) < 1e-9 ? i : count++;
        memcpy(x + 3 * (size_t)image[i], v.position + 3 * (size_t)i, 3 * sizeof *x);
        x[3 * image[i] + axis] *= -1;
    }

    uint8_t *kind = malloc(2 * (size_t)v.element_count);
    int64_t *start = malloc((2 * (size_t)v.element_count + 1) * sizeof *start);
    int32_t *node = malloc(2 * (size_t)nodes * sizeof *node);
    int32_t *region = calloc(2 * (size_t)v.element_count, sizeof *region);
    start[0] = 0;
    for (int32_t e = 0; e < 2 * v.element_count; ++e) {
        const int32_t from = e % v.element_count;
        const int64_t first = v.node_start[from], n = v.node_start[from + 1] - first;
        kind[e] = v.kind[from];
        for (int a = 0; a < n; ++a) {
            node[start[e] + a] = e == from ? v.node[first + a] : image[v.node[first + order[a]]];
        }
        start[e + 1] = start[e] + n;
    }

    const pl_mesh_def def = {.vertex_count = count,
                             .position = x,
                             .element_count = 2 * v.element_count,
                             .kind = kind,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = 1,
                             .region_name = name};
    pl_mesh *out = mesh_of_def(&def);
    free(x);
    free(image);
    free(kind);
    free(start);
    free(node);
    free(region);
    pl_mesh_destroy(mesh);

    return out;
}

#endif
