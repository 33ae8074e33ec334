// A mesh in which marked tetrahedra are split: every edge of a marked tet is halved, in all tets around it,
// the longest edges first. New corners are the mid nodes of the old mesh, so curved edges keep their shape;
// new mid nodes lie where the old element's map puts them. Vertices keep their numbers, new ones follow.
#include <stdlib.h>
#include "mesh/mesh_impl.h"

// Edges are halved one after the other, in all elements in the same order: both elements of a face then
// divide it alike, and the mesh stays conforming.
// A tet of the new mesh by the local nodes (0 .. 9) of the old element it lies in.
typedef struct refine_tet {
    int8_t node[4];
} refine_tet;

typedef struct refine_edge {
    int32_t a, b, mid; // corners with a < b, and the mid node
    double length;     // mm, between the corners
} refine_edge;

#define REFINE_MOST 64 // tets in one old element; six halved edges give 8

// Everything needed while a mesh is refined; freed by refine_clear.
typedef struct refine_work {
    const pl_mesh_view *old;
    pl_table edge; // of the old mesh, that are halved
    refine_edge *list;
    int32_t *order;  // edges by length: rank per edge
    int64_t *start;  // element_count + 1: new tets per old element
    refine_tet *tet; // all new tets
    int64_t tet_count;
    pl_table mids; // new edges -> new mid nodes
    int32_t *mid;  // per entry: vertex
    double *position;
    int32_t vertex_count;
    int64_t *node_start, *surface_start; // arrays of the new mesh's description
    int32_t *node, *region, *corner;
    uint8_t *kind;
} refine_work;

static void refine_clear(refine_work *w)
{
    void *const block[] = {w->list,       w->order,         w->start, w->tet,    w->mid,    w->position,
                           w->node_start, w->surface_start, w->node,  w->region, w->corner, w->kind};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_table_clear(&w->edge);
    pl_table_clear(&w->mids);
}

// Longest first; equal lengths by their mid node, so that the order is unique.
static int refine_by_length(const void *p, const void *q)
{
    const refine_edge *a = p, *b = q;
    if (a->length != b->length) {
        return a->length < b->length ? 1 : -1;
    }
    return a->mid < b->mid ? -1 : a->mid > b->mid;
}

// The edges of marked elements, longest first; `order` tells the rank of an entry of the table.
static bool refine_edges(refine_work *w, const uint8_t *marked)
{
    const pl_mesh_view *v = w->old;

    // upper bound of the number of edges: each once per marked element
    int64_t limit = 0;

    for (int32_t e = 0; e < v->element_count; ++e) {
        limit += marked[e] ? 6 : 0;
    }
    w->list = PL_NEW_ARRAY(refine_edge, limit);
    w->order = PL_NEW_ARRAY(int32_t, limit);
    if (!w->list || !w->order || !pl_table_init(&w->edge, 2, limit)) {
        return false;
    }

    // each edge once, with its mid node and length
    for (int32_t e = 0; e < v->element_count; ++e) {
        const int32_t *node = v->node + v->node_start[e];
        for (int i = 0; marked[e] && i < 6; ++i) {
            int local[3];
            pl_element_edge_nodes(PL_TET10, i, local);
            int32_t key[2] = {node[local[0]], node[local[1]]};
            pl_sort_small(key, 2);
            const int32_t before = w->edge.count, at = pl_table_add(&w->edge, key);

            if (at == before) {
                w->list[at] = (refine_edge){
                    key[0], key[1], node[local[2]],
                    pl_distance3(v->position + 3 * (int64_t)key[0], v->position + 3 * (int64_t)key[1])};
            }
        }
    }

    // the rank of every edge, so that elements need no search by length
    qsort(w->list, (size_t)w->edge.count, sizeof *w->list, refine_by_length);
    for (int32_t i = 0; i < w->edge.count; ++i) {
        const int32_t key[2] = {w->list[i].a, w->list[i].b};
        w->order[pl_table_find(&w->edge, key)] = i;
    }

    return true;
}

// The pieces of one element: its halved edges in the common order, each halved in all pieces that have it.
static int refine_element(const refine_work *w, int32_t e, refine_tet piece[REFINE_MOST])
{
    const pl_mesh_view *v = w->old;
    const int32_t *node = v->node + v->node_start[e];
    int rank[6], edge[6], halved = 0, count = 1;

    piece[0] = (refine_tet){{0, 1, 2, 3}};

    // halved edges of this element, sorted by rank (insertion sort of at most six)
    for (int i = 0; i < 6; ++i) {
        int local[3];
        pl_element_edge_nodes(PL_TET10, i, local);
        int32_t key[2] = {node[local[0]], node[local[1]]};
        pl_sort_small(key, 2);
        const int32_t at = pl_table_find(&w->edge, key);

        if (at >= 0) {
            int k = halved++;
            for (; k > 0 && rank[k - 1] > w->order[at]; --k) {
                rank[k] = rank[k - 1];
                edge[k] = edge[k - 1];
            }

            rank[k] = w->order[at];
            edge[k] = i;
        }
    }

    // bisect all pieces that have the edge: one keeps end a, the other end b
    for (int k = 0; k < halved; ++k) {
        int local[3];
        pl_element_edge_nodes(PL_TET10, edge[k], local);

        for (int t = 0, end = count; t < end; ++t) {
            int a = -1, b = -1;
            for (int i = 0; i < 4; ++i) {
                a = piece[t].node[i] == local[0] ? i : a;
                b = piece[t].node[i] == local[1] ? i : b;
            }

            if (a >= 0 && b >= 0) {
                piece[count] = piece[t];
                piece[t].node[b] = (int8_t)local[2];
                piece[count++].node[a] = (int8_t)local[2];
            }
        }
    }

    return count;
}

// Counts the pieces of every element, then stores them: the sizes are known before memory is allocated.
static bool refine_pieces(refine_work *w)
{
    const int32_t elements = w->old->element_count;
    refine_tet piece[REFINE_MOST];

    w->start = PL_NEW_ARRAY(int64_t, (int64_t)elements + 1);
    if (!w->start) {
        return false;
    }
    for (int32_t e = 0; e < elements; ++e) {
        w->start[e + 1] = w->start[e] + refine_element(w, e, piece);
    }
    w->tet_count = w->start[elements];
    w->tet = PL_NEW_ARRAY(refine_tet, w->tet_count);
    for (int32_t e = 0; w->tet && e < elements; ++e) {
        const int count = refine_element(w, e, piece);
        memcpy(w->tet + w->start[e], piece, (size_t)count * sizeof *piece);
    }

    return w->tet != NULL;
}

// The old mid node of an old edge, or a new one; `e` is the old element both corners belong to.
static int32_t refine_mid(refine_work *w, int32_t e, int a, int b)
{
    const pl_mesh_view *v = w->old;
    const int32_t *node = v->node + v->node_start[e];

    // an old edge that was not halved keeps its mid node
    for (int i = 0; a < 4 && b < 4 && i < 6; ++i) {
        int local[3];
        pl_element_edge_nodes(PL_TET10, i, local);
        if ((local[0] == a && local[1] == b) || (local[0] == b && local[1] == a)) {
            return node[local[2]];
        }
    }

    // otherwise one mid node per new edge, shared by all pieces around it
    int32_t key[2] = {node[a], node[b]};
    pl_sort_small(key, 2);
    const int32_t before = w->mids.count, at = pl_table_add(&w->mids, key);

    if (at == before) {
        double p[3], q[3], N[PL_ELEMENT_NODES_MAX];
        const int32_t n = w->vertex_count++;
        w->mid[at] = n;

        // at the image of the middle between its ends' reference coordinates
        pl_shape_node(PL_TET10, a, p);
        pl_shape_node(PL_TET10, b, q);
        for (int i = 0; i < 3; ++i) {
            p[i] = 0.5 * (p[i] + q[i]);
        }
        pl_shape_eval(PL_TET10, p, N, NULL);

        for (int c = 0; c < 10; ++c) {
            for (int i = 0; i < 3; ++i) {
                w->position[3 * (int64_t)n + i] += N[c] * v->position[3 * (int64_t)node[c] + i];
            }
        }
    }

    return w->mid[at];
}

// Nodes of all new tets; false when out of memory.
static bool refine_nodes(refine_work *w)
{
    const pl_mesh_view *v = w->old;

    // every piece could have six edges of its own: upper bound of the new vertices
    const int64_t most = v->vertex_count + 6 * w->tet_count;

    w->mid = PL_NEW_ARRAY(int32_t, 6 * w->tet_count);
    w->position = PL_NEW_ARRAY(double, 3 * most);
    w->node = PL_NEW_ARRAY(int32_t, 10 * w->tet_count);
    w->region = PL_NEW_ARRAY(int32_t, w->tet_count);
    w->kind = PL_NEW_ARRAY(uint8_t, w->tet_count);
    w->node_start = PL_NEW_ARRAY(int64_t, w->tet_count + 1);
    if (!w->mid || !w->position || !w->node || !w->region || !w->kind || !w->node_start ||
        !pl_table_init(&w->mids, 2, 6 * w->tet_count)) {
        return false;
    }

    // old vertices keep their numbers
    memcpy(w->position, v->position, 3 * (size_t)v->vertex_count * sizeof *w->position);
    w->vertex_count = v->vertex_count;
    for (int32_t e = 0; e < v->element_count; ++e) {
        for (int64_t t = w->start[e]; t < w->start[e + 1]; ++t) {
            int32_t *out = w->node + 10 * t;
            for (int c = 0; c < 4; ++c) {
                out[c] = v->node[v->node_start[e] + w->tet[t].node[c]];
            }
            for (int i = 0; i < 6; ++i) {
                int local[3];
                pl_element_edge_nodes(PL_TET10, i, local);
                out[local[2]] = refine_mid(w, e, w->tet[t].node[local[0]], w->tet[t].node[local[1]]);
            }

            w->kind[t] = PL_TET10;
            w->region[t] = v->region[e];
            w->node_start[t + 1] = 10 * (t + 1);
        }
    }

    return true;
}

// Which sides of an old element its local node lies on, as bits.
static unsigned refine_sides(int node)
{
    unsigned sides = 0;
    for (int f = 0; f < 4; ++f) {
        int on[PL_FACE_NODES_MAX];
        const int count = pl_element_face_nodes(PL_TET10, f, on);
        for (int i = 0; i < count; ++i) {
            sides |= on[i] == node ? 1u << f : 0;
        }
    }

    return sides;
}

// The pieces of the named faces: faces of pieces all of whose corners lie on that side of the old element.
static bool refine_surfaces(refine_work *w)
{
    const pl_mesh_view *v = w->old;
    const int64_t faces = v->surface_start[v->surface_count];
    unsigned sides[10];
    int64_t count = 0;

    w->surface_start = PL_NEW_ARRAY(int64_t, (int64_t)v->surface_count + 1);

    // an old face falls into four pieces at most
    w->corner = PL_NEW_ARRAY(int32_t, 4 * 8 * faces + 4);
    if (!w->surface_start || !w->corner) {
        return false;
    }
    for (int n = 0; n < 10; ++n) {
        sides[n] = refine_sides(n);
    }

    for (int32_t s = 0; s < v->surface_count; ++s) {
        for (int64_t k = v->surface_start[s]; k < v->surface_start[s + 1]; ++k) {
            const int32_t e = (int32_t)(v->surface_face[k] / 8);
            const unsigned side = 1u << v->surface_face[k] % 8;

            for (int64_t t = w->start[e]; t < w->start[e + 1]; ++t) {
                for (int f = 0; f < 4; ++f) {
                    int local[PL_FACE_NODES_MAX];
                    pl_element_face_nodes(PL_TET10, f, local);
                    const int8_t *n = w->tet[t].node;

                    if (sides[n[local[0]]] & sides[n[local[1]]] & sides[n[local[2]]] & side) {
                        int32_t *out = w->corner + 4 * count++;
                        for (int i = 0; i < 3; ++i) {
                            out[i] = w->node[10 * t + local[i]];
                        }
                        out[3] = -1;
                    }
                }
            }
        }

        w->surface_start[s + 1] = count;
    }

    return true;
}

pl_status pl_mesh_refine(const pl_mesh *mesh, const uint8_t *marked, pl_mesh **out, pl_error *err)
{
    const pl_mesh_view *v = &mesh->view;
    *out = NULL;
    for (int32_t e = 0; e < v->element_count; ++e) {
        if (v->kind[e] != PL_TET10) {
            return pl_fail(err, PL_BAD_INPUT, "only meshes of quadratic tetrahedra can be refined");
        }
    }

    refine_work w = {.old = v};
    pl_status status;
    if (!refine_edges(&w, marked) || !refine_pieces(&w) || !refine_nodes(&w) || !refine_surfaces(&w)) {
        status = pl_fail_memory(err, "a refined mesh");
    } else {
        const pl_mesh_def def = {.vertex_count = w.vertex_count,
                                 .position = w.position,
                                 .element_count = (int32_t)w.tet_count,
                                 .kind = w.kind,
                                 .node_start = w.node_start,
                                 .node = w.node,
                                 .region = w.region,
                                 .region_count = v->region_count,
                                 .region_name = v->region_name,
                                 .surface_count = v->surface_count,
                                 .surface_name = v->surface_name,
                                 .surface_start = w.surface_start,
                                 .surface_corner = w.corner};
        status = pl_mesh_create(&def, out, NULL, err);
    }

    if (status == PL_OK) {
        (*out)->fit = mesh->fit;
    }
    refine_clear(&w);

    return status;
}
