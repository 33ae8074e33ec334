// How good a mesh is: shape of its elements, lengths of its edges, connected parts.
#include "mesh/mesh_impl.h"

// ---- shape

// 3 r / R of a tet, signed like its volume: r = 3 V / (sum of face areas), R from the products of opposite
// edges, 6 V R = sqrt(s (s-a)(s-b)(s-c)) with a, b, c the products and s half their sum. 1 is the regular
// tet.
double mesh_quality_tet(const double *x0, const double *x1, const double *x2, const double *x3)
{
    double e[6][3], n[3], product[3], areas = 0;
    const double *at[4] = {x0, x1, x2, x3};
    static const int8_t end[6][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {0, 3}, {1, 2}};
    static const int8_t face[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};

    // volume from three edges at corner 0
    for (int i = 0; i < 6; ++i) {
        pl_sub3(at[end[i][1]], at[end[i][0]], e[i]);
    }
    pl_cross3(e[0], e[2], n);
    const double volume = pl_dot3(n, e[4]) / 6;

    // areas of the four faces
    for (int f = 0; f < 4; ++f) {
        double u[3], v[3];
        pl_sub3(at[face[f][1]], at[face[f][0]], u);
        pl_sub3(at[face[f][2]], at[face[f][0]], v);
        pl_cross3(u, v, n);
        areas += 0.5 * pl_norm3(n);
    }

    // products of opposite edges, which are neighbours in `end`
    for (int i = 0; i < 3; ++i) {
        product[i] = pl_norm3(e[2 * i]) * pl_norm3(e[2 * i + 1]);
    }

    const double a = product[0], b = product[1], c = product[2], s = 0.5 * (a + b + c);
    const double root = sqrt(fmax(s * (s - a) * (s - b) * (s - c), 0));
    if (!(areas > 0) || !(root > 0)) {
        return 0;
    }

    // r / R = (3 V / areas) (6 |V| / root)
    return 54 * volume * fabs(volume) / (areas * root);
}

// A corner tet of a prism spans the corner and its three neighbours. In a right prism over a regular triangle
// with unit edges its quality is this number, by which it is divided.
static double quality_prism(const double *x)
{
    static const int8_t corner[6][4] = {{0, 1, 2, 3}, {1, 2, 0, 4}, {2, 0, 1, 5},
                                        {3, 5, 4, 0}, {4, 3, 5, 1}, {5, 4, 3, 2}};
    static const double ideal[4][3] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0.86602540378443865, 0}, {0, 0, 1}};
    const double unit = mesh_quality_tet(ideal[0], ideal[1], ideal[2], ideal[3]);
    double worst = INFINITY;

    // the worst corner decides
    for (int c = 0; c < 6; ++c) {
        const int8_t *k = corner[c];
        worst = fmin(worst, mesh_quality_tet(x + 3 * k[0], x + 3 * k[1], x + 3 * k[2], x + 3 * k[3]));
    }

    return fmin(worst / unit, 1);
}

double pl_mesh_element_quality(const pl_mesh *mesh, int32_t element)
{
    if (element < 0 || element >= mesh->view.element_count) {
        return 0;
    }

    double x[3 * PL_ELEMENT_NODES_MAX];
    pl_mesh_gather(mesh, element, x);
    const bool tet = pl_element_corner_count((pl_element_kind)mesh->view.kind[element]) == 4;
    return tet ? mesh_quality_tet(x, x + 3, x + 6, x + 9) : quality_prism(x);
}

// Edges are measured between corners, each as often as elements have it.
pl_mesh_quality pl_mesh_measure_quality(const pl_mesh *mesh)
{
    pl_mesh_quality q = {.worst = INFINITY, .shortest_edge = INFINITY};
    int64_t edges = 0;

    // elements: shape and sign
    for (int32_t e = 0; e < mesh->view.element_count; ++e) {
        const pl_element_kind kind = (pl_element_kind)mesh->view.kind[e];
        double x[3 * PL_ELEMENT_NODES_MAX];
        pl_mesh_gather(mesh, e, x);
        const double quality = pl_mesh_element_quality(mesh, e);
        q.inverted_count += !(pl_jacobian_bound(kind, x) > 0);
        q.sliver_count += quality < 0.1;
        q.mean += quality;
        if (quality < q.worst) {
            q.worst = quality;
            q.worst_element = e;
        }

        // their edges
        for (int i = 0; i < pl_element_edge_count(kind); ++i, ++edges) {
            int node[3];
            pl_element_edge_nodes(kind, i, node);
            const double length = pl_distance3(x + 3 * node[0], x + 3 * node[1]);
            q.shortest_edge = fmin(q.shortest_edge, length);
            q.longest_edge = fmax(q.longest_edge, length);
            q.mean_edge += length;
        }
    }

    q.mean /= mesh->view.element_count;
    q.mean_edge /= (double)edges;

    return q;
}

// ---- connected parts

// Union-find with path halving.
static int32_t parts_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }

    return v;
}

int32_t pl_mesh_components(const pl_mesh *mesh, int32_t **of_element)
{
    const pl_mesh_view *v = &mesh->view;
    int32_t *parent = PL_NEW_ARRAY(int32_t, v->vertex_count),
            *number = PL_NEW_ARRAY(int32_t, v->vertex_count);
    int32_t *part = PL_NEW_ARRAY(int32_t, v->element_count), count = 0;

    if (of_element) {
        *of_element = NULL;
    }

    if (parent && number && part) {
        // vertices of one element belong together
        for (int32_t i = 0; i < v->vertex_count; ++i) {
            parent[i] = i;
            number[i] = -1;
        }

        for (int32_t e = 0; e < v->element_count; ++e) {
            for (int64_t i = v->node_start[e] + 1; i < v->node_start[e + 1]; ++i) {
                parent[parts_root(parent, v->node[i])] = parts_root(parent, v->node[v->node_start[e]]);
            }
        }

        // number the parts in the order of their first elements
        for (int32_t e = 0; e < v->element_count; ++e) {
            const int32_t root = parts_root(parent, v->node[v->node_start[e]]);
            number[root] = number[root] < 0 ? count++ : number[root];
            part[e] = number[root];
        }
    }

    pl_free(parent);
    pl_free(number);
    if (of_element && count > 0) {
        *of_element = part;
    } else {
        pl_free(part);
    }

    return count;
}
