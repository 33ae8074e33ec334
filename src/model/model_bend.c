// How far a marker has bent, also beyond half a turn. Its rotation R alone is known up to whole turns: 204
// degrees look like 156 in the other sense. So the rotation is followed through the body in its present
// shape, from what is held (not from a plane of symmetry, which lets it turn) to the marker, along the
// shortest path over element edges of the undeformed mesh: the sum w of the small rotation vectors from node
// to node says how many turns R is of, and about which axis,
//   bend = the vector nearest to w among (theta + 2 pi k) n,   exp(theta n) = R.
// That needs no history: a solve from rest in one increment gives the same angle as a sweep. Along a centre
// line the rotations of its tangent take the place of those of the nodes.
#include "base/rotation.h"
#include "model/model_impl.h"
#include "robot/robot.h"

// ---- paths from the supports, found once per model by Dijkstra's algorithm
// Vertices, the elements around each, and the heap of the search.
typedef struct bend_graph {
    pl_mesh_view mesh;
    int64_t *start;   // vertex_count + 1, into element
    int32_t *element; // elements around each vertex
    double *far;      // mm, from the supports
    int32_t *from;    // the vertex before
    int32_t *heap;    // vertices by distance
    int32_t *slot;    // of a vertex in the heap; -1: none
    int32_t count;    // of vertices in the heap
} bend_graph;

static void bend_graph_clear(bend_graph *g)
{
    void *const block[] = {g->start, g->element, g->far, g->from, g->heap, g->slot};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
}

// Counting sort of the elements by their vertices; false when out of memory.
static bool bend_graph_create(bend_graph *g, const pl_mesh *mesh)
{
    g->mesh = pl_mesh_get(mesh);
    const int32_t n = g->mesh.vertex_count;
    const int64_t nodes = g->mesh.node_start[g->mesh.element_count];
    g->start = PL_NEW_ARRAY(int64_t, n + 1);
    g->element = PL_NEW_ARRAY(int32_t, nodes);
    g->far = PL_NEW_ARRAY(double, n);
    g->from = PL_NEW_ARRAY(int32_t, n);
    g->heap = PL_NEW_ARRAY(int32_t, n);
    g->slot = PL_NEW_ARRAY(int32_t, n);
    if (!g->start || !g->element || !g->far || !g->from || !g->heap || !g->slot) {
        return false;
    }

    // counts, then starts
    for (int64_t k = 0; k < nodes; ++k) {
        ++g->start[g->mesh.node[k] + 1];
    }

    for (int32_t v = 0; v < n; ++v) {
        g->start[v + 1] += g->start[v];
        g->far[v] = INFINITY;
        g->from[v] = g->slot[v] = -1;
    }

    // filled from behind: start is moved and moved back
    for (int32_t e = g->mesh.element_count - 1; e >= 0; --e) {
        for (int64_t k = g->mesh.node_start[e]; k < g->mesh.node_start[e + 1]; ++k) {
            g->element[--g->start[g->mesh.node[k] + 1]] = e;
        }
    }

    memmove(g->start, g->start + 1, (size_t)n * sizeof *g->start);
    g->start[n] = nodes;

    return true;
}

// Exchanges two entries of the heap and their slots.
static void bend_swap(bend_graph *g, int32_t a, int32_t b)
{
    const int32_t v = g->heap[a];
    g->heap[a] = g->heap[b];
    g->heap[b] = v;
    g->slot[g->heap[a]] = a;
    g->slot[g->heap[b]] = b;
}

// A shorter distance to v, over `from`: inserted or moved up in the heap.
static void bend_reach(bend_graph *g, int32_t v, double far, int32_t from)
{
    if (!(far < g->far[v])) {
        return;
    }
    g->far[v] = far;
    g->from[v] = from;
    if (g->slot[v] < 0) {
        g->heap[g->count] = v;
        g->slot[v] = g->count++;
    }

    for (int32_t i = g->slot[v]; i > 0 && g->far[g->heap[(i - 1) / 2]] > g->far[g->heap[i]];
         i = (i - 1) / 2) {
        bend_swap(g, i, (i - 1) / 2);
    }
}

// Removes the nearest vertex from the heap.
static int32_t bend_nearest(bend_graph *g)
{
    const int32_t v = g->heap[0];
    bend_swap(g, 0, g->count - 1);
    --g->count;

    // restore the heap from the root down
    for (int32_t i = 0;;) {
        int32_t least = i;
        for (int32_t c = 2 * i + 1; c <= 2 * i + 2 && c < g->count; ++c) {
            least = g->far[g->heap[c]] < g->far[g->heap[least]] ? c : least;
        }
        if (least == i) {
            return v;
        }
        bend_swap(g, i, least);
        i = least;
    }
}

// Distances from the supports to all vertices; nodes of one element are neighbours.
static void bend_spread(bend_graph *g)
{
    while (g->count > 0) {
        const int32_t v = bend_nearest(g);
        for (int64_t a = g->start[v]; a < g->start[v + 1]; ++a) {
            const int32_t e = g->element[a];

            for (int64_t k = g->mesh.node_start[e]; k < g->mesh.node_start[e + 1]; ++k) {
                const int32_t u = g->mesh.node[k];
                double edge[3];
                pl_sub3(g->mesh.position + 3 * u, g->mesh.position + 3 * v, edge);
                bend_reach(g, u, g->far[v] + sqrt(pl_dot3(edge, edge)), v);
            }
        }
    }
}

// The vertex nearest to a point of the undeformed body; -1 without vertices.
static int32_t bend_vertex_at(const pl_mesh_view *m, const double at[3])
{
    int32_t nearest = -1;
    double best = INFINITY;

    for (int32_t v = 0; v < m->vertex_count; ++v) {
        double d[3];
        pl_sub3(m->position + 3 * v, at, d);
        if (pl_dot3(d, d) < best) {
            best = pl_dot3(d, d);
            nearest = v;
        }
    }

    return nearest;
}

// Where the paths begin: vertices that supports hold along all axes together; else along two, else along one.
static bool bend_begin(bend_graph *g, const pl_robot *robot)
{
    uint8_t *held = PL_NEW_ARRAY(uint8_t, g->mesh.vertex_count);
    if (!held) {
        return false;
    }

    // axes held at each vertex, as bits
    for (int i = 0; i < robot->support_count; ++i) {
        const pl_support *s = &robot->support[i];
        for (int32_t k = 0; k < s->node_count; ++k) {
            held[s->node[k]] |= (uint8_t)(s->axis[0] | s->axis[1] << 1 | s->axis[2] << 2);
        }
    }

    // the strictest kind of support that exists
    for (int axes = 3; axes > 0 && g->count == 0; --axes) {
        for (int32_t v = 0; v < g->mesh.vertex_count; ++v) {
            if ((held[v] & 1) + (held[v] >> 1 & 1) + (held[v] >> 2 & 1) == axes) {
                bend_reach(g, v, 0, -1);
            }
        }
    }

    pl_free(held);

    return true;
}

void model_bend_destroy(model_bend *b)
{
    if (b) {
        for (int i = 0; b->path && i < b->count; ++i) {
            pl_free(b->path[i].ring);
        }
        pl_free(b->path);
        pl_free(b);
    }
}

// Each node of the path with the nodes of its elements: pairs (node, other), node by node.
static bool bend_path(const bend_graph *g, int32_t end, bend_ring *path)
{
    // upper bound of the number of pairs
    int64_t room = 0, n = 0;
    for (int32_t v = end; v >= 0; v = g->from[v]) {
        for (int64_t a = g->start[v]; a < g->start[v + 1]; ++a) {
            const int32_t e = g->element[a];
            room += g->mesh.node_start[e + 1] - g->mesh.node_start[e];
        }
    }

    path->ring = PL_NEW_ARRAY(int32_t, 2 * room + 1);
    if (!path->ring) {
        return false;
    }

    // pairs, from the marker back to the support
    for (int32_t v = end; v >= 0; v = g->from[v]) {
        for (int64_t a = g->start[v]; a < g->start[v + 1]; ++a) {
            const int32_t e = g->element[a];

            for (int64_t k = g->mesh.node_start[e]; k < g->mesh.node_start[e + 1]; ++k) {
                if (g->mesh.node[k] != v) {
                    path->ring[2 * n] = v;
                    path->ring[2 * n++ + 1] = g->mesh.node[k];
                }
            }
        }
    }

    path->count = n;

    return true;
}

// Paths of all markers; none for a centre line. NULL when out of memory.
model_bend *model_bend_create(const pl_model *m)
{
    const pl_robot *robot = pl_model_robot(m);
    model_bend *b = PL_NEW(model_bend);
    bend_graph g = {0};
    bool good = b && (b->path = PL_NEW_ARRAY(bend_ring, m->info.marker_count));

    if (good && robot) {
        b->count = m->info.marker_count;
        good = bend_graph_create(&g, pl_robot_mesh(robot)) && bend_begin(&g, robot);
        if (good) {
            bend_spread(&g);
        }
        for (int i = 0; good && i < b->count; ++i) {
            const int32_t end = bend_vertex_at(&g.mesh, m->info.marker_at + 3 * i);
            // what no support holds has no start to count from
            good = end < 0 || !isfinite(g.far[end]) || bend_path(&g, end, &b->path[i]);
        }
    }

    bend_graph_clear(&g);
    if (!good) {
        model_bend_destroy(b);
        return NULL;
    }

    return b;
}

// ---- the angle
// Adds the rotation vector from frame A to frame B.
static void bend_add(const double A[9], const double B[9], double w[3])
{
    double D[9], step[3];
    pl_rotation_mul_transposed(B, A, D);
    pl_rotation_log(D, step);
    for (int i = 0; i < 3; ++i) {
        w[i] += step[i];
    }
}

// From the marker to the support: frames of the nodes, each the rotation Q nearest to the motion of its ring,
// A = sum d D^T (polar decomposition).
static void bend_along_body(const pl_model *m, const bend_ring *path, const double R[9], double w[3])
{
    const double *X = m->info.rest, *x = m->answer.point;
    double later[9], back[3] = {0};

    memcpy(later, R, sizeof later);
    for (int64_t k = 0; k < path->count;) {
        const int32_t v = path->ring[2 * k];
        double A[9] = {0}, Q[9];

        for (; k < path->count && path->ring[2 * k] == v; ++k) {
            const int32_t u = path->ring[2 * k + 1];
            double D[3], d[3];
            pl_sub3(X + 3 * u, X + 3 * v, D);
            pl_sub3(x + 3 * u, x + 3 * v, d);
            for (int i = 0; i < 9; ++i) {
                A[i] += d[i / 3] * D[i % 3];
            }
        }

        // a flat ring has no rotation: it is skipped
        pl_polar3(A, Q);
        if (isfinite(Q[0]) && isfinite(Q[4]) && isfinite(Q[8])) {
            bend_add(Q, later, back);
            memcpy(later, Q, sizeof later);
        }
    }

    // the support has not turned
    const double still[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    bend_add(still, later, back);
    memcpy(w, back, sizeof back);
}

// Unit tangent of segment k of a line; false: it has no length.
static bool bend_tangent(const double *p, int32_t k, double t[3])
{
    pl_sub3(p + 3 * (k + 1), p + 3 * k, t);
    const double length = sqrt(pl_dot3(t, t));
    for (int i = 0; i < 3; ++i) {
        t[i] /= length;
    }
    return length > 0;
}

// Adds the smallest rotation from direction a to direction b, times `sign`.
static void bend_turn(const double a[3], const double b[3], double sign, double w[3])
{
    double c[3];
    pl_cross3(a, b, c);
    const double s = sqrt(pl_dot3(c, c)), angle = atan2(s, pl_dot3(a, b));
    for (int i = 0; s > 0 && i < 3; ++i) {
        w[i] += sign * angle * c[i] / s;
    }
}

// Sum of the rotations of the tangent from the base to the marker, less those of the undeformed line.
static bool bend_along_line(const pl_model *m, int marker, double w[3])
{
    const double *X = m->info.rest, *x = m->answer.point;
    int32_t end = 0;
    double best = INFINITY, before[3], t[3];

    // the point of the line nearest to the marker
    for (int32_t k = 0; k < m->info.point_count; ++k) {
        double d[3];
        pl_sub3(X + 3 * k, m->info.marker_at + 3 * marker, d);
        if (pl_dot3(d, d) < best) {
            best = pl_dot3(d, d);
            end = k;
        }
    }

    w[0] = w[1] = w[2] = 0;
    if (m->info.point_count < 2 || !bend_tangent(X, 0, before)) {
        return false;
    }

    // bending of the present shape
    for (int32_t k = 0; k + 1 < m->info.point_count && k < end; ++k) {
        if (!bend_tangent(x, k, t)) {
            return false;
        }
        bend_turn(before, t, 1, w);
        memcpy(before, t, sizeof t);
    }

    // curvature of the undeformed line is not bending
    bend_tangent(X, 0, before);
    for (int32_t k = 0; k + 1 < m->info.point_count && k < end; ++k) {
        bend_tangent(X, k, t);
        bend_turn(before, t, -1, w);
        memcpy(before, t, sizeof t);
    }

    return true;
}

// Degrees; NAN where the rotation or the path to a support is not known.
void model_bend_angle(const pl_model *m, const model_bend *b, int marker, const double R[9],
                      pl_record_marker *out)
{
    double w[3], n[3];
    out->bend = NAN;
    memset(out->bend_axis, 0, sizeof out->bend_axis);
    if (isnan(R[0])) {
        return;
    }

    if (marker < b->count) {
        if (b->path[marker].count == 0) {
            return;
        }
        bend_along_body(m, &b->path[marker], R, w);
    } else if (strcmp(m->info.kind, "beam") != 0 && strcmp(m->info.kind, "rod") != 0 &&
               strcmp(m->info.kind, "constant_curvature") != 0 && strcmp(m->info.kind, "vertebrae") != 0) {
        return;
    } else if (!bend_along_line(m, marker, w)) {
        return;
    }

    // axis and angle of R, and the sum w along the path
    pl_rotation_log(R, n);
    const double theta = sqrt(pl_dot3(n, n)), along = sqrt(pl_dot3(w, w));
    if (!isfinite(along)) {
        return;
    }

    // at whole turns R has no axis of its own
    const double *axis = theta > 1e-6 ? n : w;
    const double length = theta > 1e-6 ? theta : along;
    double value = 0;
    for (int i = 0; length > 0 && i < 3; ++i) {
        out->bend_axis[i] = axis[i] / length;
    }

    // the number of whole turns that brings (theta + 2 pi k) nearest to w
    if (length > 0) {
        const double turns = round((pl_dot3(w, out->bend_axis) - theta) / (2 * PL_PI));
        value = theta + 2 * PL_PI * turns;
    }

    // the axis is given so that its largest component is positive: the sign of the angle is the sense in
    // which it bends
    int k = 0;
    for (int i = 1; i < 3; ++i) {
        k = fabs(out->bend_axis[i]) > 1.001 * fabs(out->bend_axis[k]) ? i : k;
    }

    if (out->bend_axis[k] < 0) {
        value = -value;
        for (int i = 0; i < 3; ++i) {
            out->bend_axis[i] = -out->bend_axis[i];
        }
    }

    out->bend = value * 180 / PL_PI;
}
