// Names for closed voids of a mesh that came without names (CAD): each connected piece of boundary that
// encloses space rather than material becomes a surface, cavity, cavity2... by falling volume.
#include <stdio.h>
#include <stdlib.h>
#include "mesh/mesh.h"
#include "meshing/meshing_impl.h"

// The root of i's piece, with path halving.
static int32_t voids_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }

    return i;
}

bool meshing_join_faces(const pl_mesh *mesh, const int64_t *face, int64_t count, int32_t *parent)
{
    pl_table edges = {0};
    int32_t *first = PL_NEW_ARRAY(int32_t, 4 * count);
    bool room = first && pl_table_init(&edges, 2, 4 * count);

    for (int32_t f = 0; room && f < count; ++f) {
        parent[f] = f;
    }

    // the first face at an edge is joined by all later ones
    for (int32_t f = 0; room && f < count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int nodes = pl_mesh_face_nodes(mesh, face[f], node), corners = nodes % 4 == 0 ? 4 : 3;

        for (int k = 0; room && k < corners; ++k) {
            int32_t key[2] = {node[k], node[(k + 1) % corners]};
            pl_sort_small(key, 2);
            const int32_t before = edges.count, e = pl_table_add(&edges, key);
            room = e >= 0;
            if (room && e == before) {
                first[e] = f;
            } else if (room) {
                const int32_t a = voids_root(parent, first[e]), b = voids_root(parent, f);
                parent[a > b ? a : b] = a > b ? b : a;
            }
        }
    }

    pl_table_clear(&edges);
    pl_free(first);

    return room;
}

// A connected piece of the boundary.
typedef struct void_piece {
    int64_t start, count; // in the list of faces grouped by piece
    double volume;        // mm^3 of space enclosed; negative around material
} void_piece;

// Largest first.
static int voids_compare(const void *a, const void *b)
{
    const double p = ((const void_piece *)a)->volume, q = ((const void_piece *)b)->volume;
    return (p < q) - (p > q);
}

// Groups faces by piece and keeps the pieces that enclose space. Returns their number, -1 without memory.
static int32_t voids_find(const pl_mesh *mesh, const int64_t *face, int64_t count, int64_t *grouped,
                          void_piece **out)
{
    int32_t *parent = PL_NEW_ARRAY(int32_t, count), pieces = 0, capacity = 0, kept = 0;
    bool room = parent && meshing_join_faces(mesh, face, count, parent);
    int64_t at = 0;

    // one piece per root
    for (int32_t root = 0; room && root < count; ++root) {
        if (parent[root] != root) {
            continue;
        }
        room = pl_grow((void **)out, &capacity, pieces + 1, sizeof **out);
        if (room) {
            (*out)[pieces++] = (void_piece){.start = root};
        }
    }

    // its faces together, and the volume they enclose
    for (int32_t p = 0; room && p < pieces; ++p) {
        void_piece piece = {.start = at};
        for (int32_t f = (int32_t)(*out)[p].start; f < count; ++f) {
            if (voids_root(parent, f) == (*out)[p].start) {
                grouped[at++] = face[f];
            }
        }

        piece.count = at - piece.start;
        piece.volume = pl_mesh_faces_enclosed(mesh, grouped + piece.start, piece.count);
        (*out)[p] = piece;
    }

    // pieces around material are outsides
    for (int32_t p = 0; room && p < pieces; ++p) {
        if ((*out)[p].volume > 0) {
            (*out)[kept++] = (*out)[p];
        }
    }

    pl_free(parent);

    return room ? kept : -1;
}

pl_status meshing_name_voids(pl_mesh **mesh, pl_error *err)
{
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(*mesh, &face);
    int64_t *grouped = PL_NEW_ARRAY(int64_t, count), *list = PL_NEW_ARRAY(int64_t, count);
    void_piece *piece = NULL;
    const int32_t voids = grouped && list ? voids_find(*mesh, face, count, grouped, &piece) : -1;
    int64_t *start = voids > 0 ? PL_NEW_ARRAY(int64_t, voids + 1) : NULL;

    char(*text)[24] = voids > 0 ? pl_alloc_array((size_t)voids, sizeof *text) : NULL;
    const char **name = voids > 0 ? pl_alloc_array((size_t)voids, sizeof *name) : NULL;
    pl_status status = PL_OK;
    if (voids < 0 || (voids > 0 && !(start && text && name))) {
        status = pl_fail_memory(err, "the voids of a mesh");
    } else if (voids > 0) {
        // names by falling volume
        qsort(piece, (size_t)voids, sizeof *piece, voids_compare);
        for (int32_t v = 0; v < voids; ++v) {
            snprintf(text[v], sizeof text[v], v ? "cavity%d" : "cavity", v + 1);
            name[v] = text[v];
            memcpy(list + start[v], grouped + piece[v].start, (size_t)piece[v].count * sizeof *list);
            start[v + 1] = start[v] + piece[v].count;
        }

        pl_mesh *named = NULL;
        status = pl_mesh_with_surfaces(*mesh, voids, name, start, list, &named, err);
        if (status == PL_OK) {
            pl_mesh_destroy(*mesh);
            *mesh = named;
        }
    }

    void *block[] = {grouped, list, piece, start, text};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_free(name);

    return status;
}
