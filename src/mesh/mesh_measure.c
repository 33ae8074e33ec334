// Volumes, areas, rims: integrals over the possibly curved elements and faces.
#include "mesh/mesh_impl.h"

double pl_mesh_region_volume(const pl_mesh *mesh, int32_t region)
{
    double sum = 0;
    for (int32_t e = 0; e < mesh->view.element_count; ++e) {
        if (region < 0 || mesh->view.region[e] == region) {
            double x[3 * PL_ELEMENT_NODES_MAX];
            pl_mesh_gather(mesh, e, x);
            sum += pl_element_volume((pl_element_kind)mesh->view.kind[e], x);
        }
    }

    return sum;
}

// Position and the vector dx/dxi x dx/deta (length: mm^2 per reference area) at a point of a face.
static void measure_face_at(int count, const double *x, const double xi[2], double at[3], double normal[3])
{
    double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX], u[3] = {0}, v[3] = {0};
    pl_face_shape_eval(count, xi, N, dN);
    at[0] = at[1] = at[2] = 0;

    for (int a = 0; a < count; ++a) {
        for (int i = 0; i < 3; ++i) {
            at[i] += N[a] * x[3 * a + i];
            u[i] += dN[2 * a] * x[3 * a + i];
            v[i] += dN[2 * a + 1] * x[3 * a + i];
        }
    }

    pl_cross3(u, v, normal);
}

// Area in mm^2: sum of w_q |dx/dxi x dx/deta|. Exact for flat faces, by quadrature for curved ones.
double pl_mesh_faces_area(const pl_mesh *mesh, const int64_t *face, int64_t count)
{
    double sum = 0;
    for (int64_t f = 0; f < count; ++f) {
        double x[3 * PL_FACE_NODES_MAX], xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX];
        const int nodes = pl_mesh_gather_face(mesh, face[f], x);
        int points = 0;
        if (nodes > 0) {
            pl_face_quadrature(nodes, &points, xi, weight);
        }
        for (int q = 0; q < points; ++q) {
            double at[3], normal[3];
            measure_face_at(nodes, x, xi[q], at, normal);
            sum += weight[q] * pl_norm3(normal);
        }
    }

    return sum;
}

// The integral of (x - origin) . n over one face, a third of which is its share of an enclosed volume.
static double measure_flux(int nodes, const double *x, const double origin[3])
{
    double xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX], sum = 0;
    int points;

    pl_face_quadrature(nodes, &points, xi, weight);
    for (int q = 0; q < points; ++q) {
        double at[3], normal[3], r[3];
        measure_face_at(nodes, x, xi[q], at, normal);
        pl_sub3(at, origin, r);
        sum += weight[q] * pl_dot3(r, normal);
    }

    return sum;
}

// ---- rims

// An edge of a set of faces, directed as in the face that was added last.
typedef struct rim_edge {
    int32_t from, to, mid;
    int32_t uses;      // faces of the set that have it; 1: on a rim
    int32_t next_from; // next rim edge that starts at the same vertex
} rim_edge;

void pl_rims_clear(pl_rims *rims)
{
    pl_free(rims->start);
    pl_free(rims->corner);
    pl_free(rims->mid);
    *rims = (pl_rims){0};
}

// All edges of the faces with the number of their uses; false when out of memory.
static bool rims_edges(const pl_mesh *mesh, const int64_t *face, int64_t count, pl_table *table,
                       rim_edge **edge)
{
    *edge = NULL;
    if (count > INT32_MAX / 16 || !pl_table_init(table, 2, 4 * count)) {
        return false;
    }
    *edge = PL_NEW_ARRAY(rim_edge, 4 * count);
    if (!*edge) {
        return false;
    }

    for (int64_t f = 0; f < count; ++f) {
        // every corner pair is an edge; its mid node follows the corners in the face's numbering
        int32_t node[PL_FACE_NODES_MAX];
        const int nodes = pl_mesh_face_nodes(mesh, face[f], node);
        const int corners = nodes == 3 || nodes == 6 ? 3 : nodes == 0 ? 0 : 4;

        for (int a = 0; a < corners; ++a) {
            int32_t key[2] = {node[a], node[(a + 1) % corners]};
            pl_sort_small(key, 2);
            rim_edge *e = *edge + pl_table_add(table, key);
            e->from = node[a];
            e->to = node[(a + 1) % corners];
            e->mid = nodes > corners ? node[corners + a] : -1;
            e->uses++;
        }
    }

    return true;
}

// Chains the edges used once into loops. `first` lists the rim edges by their start vertex.
static void rims_chain(int32_t edge_count, rim_edge *edge, int32_t *first, pl_rims *out)
{
    // lists by start vertex, filled from the end so that they have rising order
    for (int32_t i = edge_count - 1; i >= 0; --i) {
        if (edge[i].uses == 1) {
            edge[i].next_from = first[edge[i].from];
            first[edge[i].from] = i;
        }
    }

    // follow the edges from each one not taken yet until its start vertex comes again
    int32_t length = 0;
    for (int32_t i = 0; i < edge_count; ++i) {
        if (edge[i].uses != 1) {
            continue;
        }
        const int32_t begin = edge[i].from;
        out->start[out->count++] = length;

        for (int32_t at = begin; first[at] >= 0;) {
            rim_edge *e = &edge[first[at]];
            first[at] = e->next_from;
            e->uses = -1; // taken
            out->corner[length] = e->from;
            out->mid[length++] = e->mid;
            at = e->to;
            if (at == begin) {
                break;
            }
        }
    }

    out->start[out->count] = length;
}

pl_status pl_mesh_rims(const pl_mesh *mesh, const int64_t *face, int64_t count, pl_rims *out, pl_error *err)
{
    *out = (pl_rims){0};
    pl_table table = {0};
    rim_edge *edge = NULL;
    int32_t *first = PL_NEW_ARRAY(int32_t, mesh->view.vertex_count);
    bool ok = first && rims_edges(mesh, face, count, &table, &edge);

    // the number of rim edges fixes the sizes; there are at most as many loops
    if (ok) {
        int32_t rim = 0;
        for (int32_t i = 0; i < table.count; ++i) {
            rim += edge[i].uses == 1;
        }
        out->start = PL_NEW_ARRAY(int32_t, (size_t)rim + 1);
        out->corner = PL_NEW_ARRAY(int32_t, rim);
        out->mid = PL_NEW_ARRAY(int32_t, rim);
        ok = out->start && out->corner && out->mid;
    }

    if (ok) {
        memset(first, -1, (size_t)mesh->view.vertex_count * sizeof *first);
        rims_chain(table.count, edge, first, out);
    }

    pl_table_clear(&table);
    pl_free(edge);
    pl_free(first);
    if (!ok) {
        pl_rims_clear(out);
        return pl_fail_memory(err, "mesh: rims");
    }

    return PL_OK;
}

// Closed: every edge has exactly two faces. The rims are counted only if asked for.
bool pl_mesh_faces_closed(const pl_mesh *mesh, const int64_t *face, int64_t count, int *rim_count)
{
    pl_table table = {0};
    rim_edge *edge = NULL;
    bool closed = count > 0 && rims_edges(mesh, face, count, &table, &edge);

    for (int32_t i = 0; i < table.count && closed; ++i) {
        closed = edge[i].uses == 2;
    }
    pl_table_clear(&table);
    pl_free(edge);

    if (rim_count) {
        pl_rims rims;
        *rim_count = 0;
        if (pl_mesh_rims(mesh, face, count, &rims, NULL) == PL_OK) {
            *rim_count = rims.count;
            pl_rims_clear(&rims);
        }
    }

    return closed;
}

// The flux of (x - origin) . n through the fan that caps one loop: triangles (centre, next corner, corner),
// six nodes where the
// rim has a mid node, the spokes straight.
static double measure_cap(const pl_mesh *mesh, const pl_rims *rims, int32_t loop, const double origin[3])
{
    const double *position = mesh->view.position;
    const int32_t begin = rims->start[loop], end = rims->start[loop + 1];
    double centre[3] = {0}, sum = 0;

    // centre: mean of the loop's corner and mid nodes, as promised in mesh.h
    int32_t n = 0;

    for (int32_t i = begin; i < end; ++i) {
        for (int k = 0; k < 3; ++k) {
            centre[k] += position[3 * (size_t)rims->corner[i] + k];
            centre[k] += rims->mid[i] >= 0 ? position[3 * (size_t)rims->mid[i] + k] : 0;
        }

        n += rims->mid[i] >= 0 ? 2 : 1;
    }

    for (int k = 0; k < 3; ++k) {
        centre[k] /= n;
    }

    // the fan, each triangle as a six-node face whose outer edge may be curved
    for (int32_t i = begin; i < end; ++i) {
        const double *a = position + 3 * (size_t)rims->corner[i];
        const double *b = position + 3 * (size_t)rims->corner[i + 1 < end ? i + 1 : begin];
        double x[18];

        for (int k = 0; k < 3; ++k) {
            x[k] = centre[k];
            x[3 + k] = b[k];
            x[6 + k] = a[k];
            x[9 + k] = 0.5 * (centre[k] + b[k]);
            x[12 + k] = rims->mid[i] >= 0 ? position[3 * (size_t)rims->mid[i] + k] : 0.5 * (a[k] + b[k]);
            x[15 + k] = 0.5 * (centre[k] + a[k]);
        }

        sum += measure_flux(6, x, origin);
    }

    return sum;
}

// V = -1/3 integral (x - origin) . n over faces and caps; n points into the cavity. NaN when out of memory.
double pl_mesh_faces_enclosed(const pl_mesh *mesh, const int64_t *face, int64_t count)
{
    pl_rims rims;
    if (pl_mesh_rims(mesh, face, count, &rims, NULL) != PL_OK) {
        return NAN;
    }

    // any origin is right for a closed surface; the middle of the box keeps round-off small
    double sum = 0, origin[3];
    for (int i = 0; i < 3; ++i) {
        origin[i] = 0.5 * (mesh->low[i] + mesh->high[i]);
    }

    for (int64_t f = 0; f < count; ++f) {
        double x[3 * PL_FACE_NODES_MAX];
        const int nodes = pl_mesh_gather_face(mesh, face[f], x);
        sum += nodes > 0 ? measure_flux(nodes, x, origin) : 0;
    }

    for (int32_t r = 0; r < rims.count; ++r) {
        sum += measure_cap(mesh, &rims, r, origin);
    }
    pl_rims_clear(&rims);

    return -sum / 3;
}
