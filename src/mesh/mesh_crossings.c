// Where a deformed body passes through itself or through another body of the mesh: pairs of boundary
// triangles that cross. Curved faces are split along their mid nodes. Triangles with a common edge never
// count; of those with a common corner only an edge without it can cross the other one.
#include "mesh/mesh_impl.h"

typedef struct crossing_search {
    const double *x;
    const int32_t *corner; // 3 per triangle: vertices
    const int64_t *face;   // of the mesh, per triangle
    double tolerance;      // mm: touching is not crossing
    pl_crossings *out;
} crossing_search;

// Six times the signed volume of the tetrahedron a b c d over twice the area of a b c: the height of d.
static double crossing_height(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double u[3], v[3], w[3], n[3];
    pl_sub3(b, a, u);
    pl_sub3(c, a, v);
    pl_sub3(d, a, w);
    pl_cross3(u, v, n);
    const double length = pl_norm3(n);
    return length > 0 ? pl_dot3(n, w) / length : 0;
}

// Does the segment p q pass through the inside of the triangle, from more than the tolerance on one side to
// more than that on the other? `at` gets the point.
static bool crossing_segment(const double p[3], const double q[3], const double *const t[3], double tolerance,
                             double at[3])
{
    const double hp = crossing_height(t[0], t[1], t[2], p), hq = crossing_height(t[0], t[1], t[2], q);
    if (!((hp > tolerance && hq < -tolerance) || (hp < -tolerance && hq > tolerance))) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        at[i] = p[i] + (q[i] - p[i]) * (hp / (hp - hq));
    }
    double u[3], v[3], n[3];
    pl_sub3(t[1], t[0], u);
    pl_sub3(t[2], t[0], v);
    pl_cross3(u, v, n);
    for (int e = 0; e < 3; ++e) {
        double edge[3], way[3], inward[3];
        pl_sub3(t[(e + 1) % 3], t[e], edge);
        pl_sub3(at, t[e], way);
        pl_cross3(n, edge, inward);
        if (!(pl_dot3(inward, way) > tolerance * pl_norm3(inward))) {
            return false;
        }
    }
    return true;
}

static int crossing_shared(const int32_t a[3], const int32_t b[3], bool in_a[3], bool in_b[3])
{
    int count = 0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            if (a[i] == b[j]) {
                in_a[i] = in_b[j] = true;
                ++count;
            }
        }
    }
    return count;
}

// The edges of `p` that hold no shared corner, against the triangle `t`.
static bool crossing_edges(const double *const p[3], const bool shared[3], const double *const t[3],
                           double tolerance, double at[3])
{
    for (int e = 0; e < 3; ++e) {
        const int f = (e + 1) % 3;
        if (!shared[e] && !shared[f] && crossing_segment(p[e], p[f], t, tolerance, at)) {
            return true;
        }
    }
    return false;
}

static bool crossing_visit(void *user, int32_t i, int32_t j)
{
    crossing_search *s = user;
    const int32_t *a = s->corner + 3 * (size_t)i, *b = s->corner + 3 * (size_t)j;
    bool in_a[3] = {false}, in_b[3] = {false};
    if (crossing_shared(a, b, in_a, in_b) > 1) {
        return true;
    }
    const double *p[3], *q[3];
    for (int k = 0; k < 3; ++k) {
        p[k] = s->x + 3 * (size_t)a[k];
        q[k] = s->x + 3 * (size_t)b[k];
    }
    double at[3];
    if (crossing_edges(p, in_a, q, s->tolerance, at) || crossing_edges(q, in_b, p, s->tolerance, at)) {
        pl_crossings *out = s->out;
        // the pair with the lowest numbers comes first, whatever the order of the tree
        const bool first = out->count == 0 || s->face[i] < out->face[0] ||
                           (s->face[i] == out->face[0] && s->face[j] < out->face[1]);
        if (first) {
            out->face[0] = s->face[i];
            out->face[1] = s->face[j];
            memcpy(out->at, at, sizeof out->at);
        }
        ++out->count;
    }
    return true;
}

// Triangles of the boundary with their boxes; returns their number.
static int32_t crossing_triangles(const pl_mesh *mesh, const double *x, int32_t *corner, int64_t *of,
                                  double *box)
{
    const int64_t *face;
    const int64_t faces = pl_mesh_boundary(mesh, &face);
    int32_t count = 0;
    for (int64_t f = 0; f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int8_t(*triangle)[3];
        const int parts = pl_face_triangles(pl_mesh_face_nodes(mesh, face[f], node), &triangle);
        for (int t = 0; t < parts; ++t, ++count) {
            const size_t k = (size_t)count;
            of[k] = face[f];
            for (int c = 0; c < 3; ++c) {
                corner[3 * k + (size_t)c] = node[triangle[t][c]];
            }
            for (int i = 0; i < 3; ++i) {
                const double a = x[3 * (size_t)corner[3 * k] + (size_t)i],
                             b = x[3 * (size_t)corner[3 * k + 1] + (size_t)i],
                             c = x[3 * (size_t)corner[3 * k + 2] + (size_t)i];
                box[6 * k + (size_t)i] = fmin(a, fmin(b, c));
                box[6 * k + 3 + (size_t)i] = fmax(a, fmax(b, c));
            }
        }
    }
    return count;
}

pl_status pl_mesh_crossings(const pl_mesh *mesh, const double *position, pl_crossings *out, pl_error *err)
{
    *out = (pl_crossings){.face = {-1, -1}};
    const pl_mesh_view v = pl_mesh_get(mesh);
    const double *x = position ? position : v.position;
    const int64_t *face;
    const size_t most = PL_FACE_TRIANGLES_MAX * (size_t)pl_mesh_boundary(mesh, &face);
    int32_t *corner = PL_NEW_ARRAY(int32_t, 3 * most), count = 0;
    int64_t *of = PL_NEW_ARRAY(int64_t, most);
    double *box = PL_NEW_ARRAY(double, 6 * most);
    pl_bvh bvh = {0};
    bool good = corner && of && box;
    if (good) {
        count = crossing_triangles(mesh, x, corner, of, box);
        good = pl_bvh_init(&bvh, count, box);
    }
    if (good && count > 0) {
        double size = 0;
        for (int i = 0; i < 3; ++i) {
            size = fmax(size, bvh.box[3 + i] - bvh.box[i]);
        }
        crossing_search search = {x, corner, of, 1e-9 * size, out};
        pl_bvh_pairs(&bvh, &bvh, crossing_visit, &search);
    }
    pl_bvh_clear(&bvh);
    pl_free(corner);
    pl_free(of);
    pl_free(box);
    return good ? PL_OK : pl_fail_memory(err, "crossings");
}
