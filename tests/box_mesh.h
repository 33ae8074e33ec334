// Structured box meshes for tests: nx x ny x nz cells, each split into six tets around its main diagonal (so
// that neighbours agree), some cells left out as holes.
#ifndef PL_BOX_MESH_H
#define PL_BOX_MESH_H

#include <stdlib.h>
#include "pliant/mesh.h"
#include "mesh/mesh.h"

static inline int32_t box_vertex(int nx, int ny, int i, int j, int k)
{
    return i + (nx + 1) * (j + (ny + 1) * k);
}

// Cells of hole[i + nx * (j + ny * k)] are left out (hole may be NULL). region_of (may be NULL) gives each
// cell's region, 0 or 1; regions are named `body` and, with region_of, `second`. The box starts at the
// origin.
static inline pl_status box_mesh(int nx, int ny, int nz, const double size[3], const bool *hole,
                                 const int32_t *region_of, pl_mesh **out, pl_error *err)
{
    // the six ways from corner 000 to corner 111 along the axes; odd ones are mirrored tets
    static const int axis[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    static const char *const name[2] = {"body", "second"};
    const int cells = nx * ny * nz, vertices = (nx + 1) * (ny + 1) * (nz + 1);
    double *x = malloc((size_t)vertices * 3 * sizeof *x);
    uint8_t *kind = calloc((size_t)cells * 6 + 1, sizeof *kind);
    int64_t *start = malloc(((size_t)cells * 6 + 1) * sizeof *start);
    int32_t *node = malloc((size_t)cells * 24 * sizeof *node + 1);
    int32_t *region = malloc((size_t)cells * 6 * sizeof *region + 1);

    for (int k = 0; k <= nz; ++k) {
        for (int j = 0; j <= ny; ++j) {
            for (int i = 0; i <= nx; ++i) {
                double *at = x + 3 * box_vertex(nx, ny, i, j, k);
                at[0] = size[0] * i / nx;
                at[1] = size[1] * j / ny;
                at[2] = size[2] * k / nz;
            }
        }
    }

    int32_t n = 0;
    for (int c = 0; c < cells; ++c) {
        const int i = c % nx, j = c / nx % ny, k = c / (nx * ny);
        for (int t = 0; t < 6 && !(hole && hole[c]); ++t) {
            int at[3] = {i, j, k};
            int32_t *v = node + 4 * n;
            v[0] = box_vertex(nx, ny, at[0], at[1], at[2]);
            for (int s = 0; s < 3; ++s) {
                at[axis[t][s]]++;
                v[s + 1] = box_vertex(nx, ny, at[0], at[1], at[2]);
            }
            if (t >= 3) {
                const int32_t swap = v[1];
                v[1] = v[2];
                v[2] = swap;
            }
            kind[n] = PL_TET4;
            region[n] = region_of ? region_of[c] : 0;
            ++n;
        }
    }

    for (int32_t e = 0; e <= n; ++e) {
        start[e] = 4 * (int64_t)e;
    }

    const pl_mesh_def def = {.vertex_count = vertices,
                             .position = x,
                             .element_count = n,
                             .kind = kind,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = region_of ? 2 : 1,
                             .region_name = name};
    const pl_status status = pl_mesh_create(&def, out, NULL, err);
    free(x);
    free(kind);
    free(start);
    free(node);
    free(region);

    return status;
}

#endif
