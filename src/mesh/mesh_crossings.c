// Where a deformed body passes through itself or through another body of the mesh: pairs of boundary
// triangles that cross. Curved faces are split along their mid nodes. Triangles with a common edge never
// count; of those with a common corner only an edge without it can cross the other one. Surfaces that press
// on each other lie closer together than flat triangles lie to their curved faces; so where two curved faces
// have no common corner, their triangles count only when the faces cross in a finer split too (64 pieces:
// they lie 16 times nearer to the faces).
#include "mesh/mesh_impl.h"

#define CROSSING_FINE 8 // pieces per side of a curved face when it is looked at closely

typedef struct crossing_search {
    const pl_mesh *mesh;
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

// ---- curved faces, closely
typedef struct fine_face {
    double x[(CROSSING_FINE + 1) * (CROSSING_FINE + 2) / 2][3];
    int triangle[CROSSING_FINE * CROSSING_FINE][3];
    int count;
} fine_face;

static int fine_index(int i, int j)
{
    return (i + j) * (i + j + 1) / 2 + j;
}

// Splits a triangle of 6 nodes at places on its curved surface; false for other faces.
static bool fine_split(const crossing_search *s, int64_t face, int32_t node[PL_FACE_NODES_MAX], fine_face *f)
{
    const int nodes = pl_mesh_face_nodes(s->mesh, face, node);
    f->count = 0;
    if (nodes != 6) {
        return false;
    }
    for (int i = 0; i <= CROSSING_FINE; ++i) {
        for (int j = 0; i + j <= CROSSING_FINE; ++j) {
            const double xi[2] = {(double)i / CROSSING_FINE, (double)j / CROSSING_FINE};
            double N[PL_FACE_NODES_MAX], *x = f->x[fine_index(i, j)];
            pl_face_shape_eval(nodes, xi, N, NULL);
            x[0] = x[1] = x[2] = 0;
            for (int a = 0; a < nodes; ++a) {
                for (int c = 0; c < 3; ++c) {
                    x[c] += N[a] * s->x[3 * (size_t)node[a] + (size_t)c];
                }
            }
            if (i + j < CROSSING_FINE) {
                int *up = f->triangle[f->count++];
                up[0] = fine_index(i, j);
                up[1] = fine_index(i + 1, j);
                up[2] = fine_index(i, j + 1);
            }
            if (i + j < CROSSING_FINE - 1) {
                int *down = f->triangle[f->count++];
                down[0] = fine_index(i + 1, j);
                down[1] = fine_index(i + 1, j + 1);
                down[2] = fine_index(i, j + 1);
            }
        }
    }
    return true;
}

static void fine_bounds(const fine_face *f, int t, double low[3], double high[3])
{
    for (int i = 0; i < 3; ++i) {
        const double a = f->x[f->triangle[t][0]][i], b = f->x[f->triangle[t][1]][i],
                     c = f->x[f->triangle[t][2]][i];
        low[i] = fmin(a, fmin(b, c));
        high[i] = fmax(a, fmax(b, c));
    }
}

// Whether two curved faces without a common node cross; true as well when they cannot be looked at closely.
static bool crossing_closely(const crossing_search *s, int64_t first, int64_t second)
{
    int32_t a[PL_FACE_NODES_MAX], b[PL_FACE_NODES_MAX];
    fine_face p, q;
    if (!fine_split(s, first, a, &p) || !fine_split(s, second, b, &q)) {
        return true;
    }
    for (int i = 0; i < 36; ++i) {
        if (a[i / 6] == b[i % 6]) {
            return true;
        }
    }
    const bool none[3] = {false};
    for (int i = 0; i < p.count; ++i) {
        double low[3], high[3], at[3];
        fine_bounds(&p, i, low, high);
        const double *const u[3] = {p.x[p.triangle[i][0]], p.x[p.triangle[i][1]], p.x[p.triangle[i][2]]};
        for (int j = 0; j < q.count; ++j) {
            double least[3], most[3];
            fine_bounds(&q, j, least, most);
            const double *const v[3] = {q.x[q.triangle[j][0]], q.x[q.triangle[j][1]], q.x[q.triangle[j][2]]};
            if (low[0] <= most[0] && low[1] <= most[1] && low[2] <= most[2] && least[0] <= high[0] &&
                least[1] <= high[1] && least[2] <= high[2] &&
                (crossing_edges(u, none, v, s->tolerance, at) ||
                 crossing_edges(v, none, u, s->tolerance, at))) {
                return true;
            }
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
    if ((crossing_edges(p, in_a, q, s->tolerance, at) || crossing_edges(q, in_b, p, s->tolerance, at)) &&
        crossing_closely(s, s->face[i], s->face[j])) {
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
        crossing_search search = {mesh, x, corner, of, 1e-9 * size, out};
        pl_bvh_pairs(&bvh, &bvh, crossing_visit, &search);
    }
    pl_bvh_clear(&bvh);
    pl_free(corner);
    pl_free(of);
    pl_free(box);
    return good ? PL_OK : pl_fail_memory(err, "crossings");
}
