// Where a deformed body passes through itself or through another body of the mesh: pairs of boundary
// triangles that cross. Curved faces are split along their mid nodes. Triangles with a common edge never
// count; of those with a common corner only an edge without it can cross the other one.
//
// The flat triangles of two curved faces that touch cut into each other by as much as they differ from
// the faces, the chord error. Pairs that cross as flat triangles are checked on the curved faces: both
// are divided further, to a sixteenth of the error, and count where they overlap by more than what is
// left of it and 1e-3 of the edge.
#include "mesh/mesh_impl.h"

#define CROSSING_LEVELS 2     // divisions into quarters; each divides the chord error by 4
#define CROSSING_SHALLOW 1e-3 // of the edge

typedef struct crossing_search {
    const double *x;
    const int32_t *corner; // 3 per triangle: vertices
    const int64_t *face;   // of the mesh, per triangle
    const double *chord;   // mm, per triangle: largest distance from its curved face; 0: flat
    const int8_t *part;    // per triangle: of its face
    const pl_mesh *mesh;
    double tolerance; // mm: touching is not crossing
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
    // the ends must lie on different sides of the plane
    const double hp = crossing_height(t[0], t[1], t[2], p), hq = crossing_height(t[0], t[1], t[2], q);
    if (!((hp > tolerance && hq < -tolerance) || (hp < -tolerance && hq > tolerance))) {
        return false;
    }

    // where the segment meets the plane: heights divide it as hp : hq
    for (int i = 0; i < 3; ++i) {
        at[i] = p[i] + (q[i] - p[i]) * (hp / (hp - hq));
    }

    // inside of all three edges, by more than the tolerance
    double u[3], v[3], n[3];
    pl_sub3(t[1], t[0], u);
    pl_sub3(t[2], t[0], v);
    pl_cross3(u, v, n);

    for (int e = 0; e < 3; ++e) {
        double edge[3], offset[3], inward[3];
        pl_sub3(t[(e + 1) % 3], t[e], edge);
        pl_sub3(at, t[e], offset);
        pl_cross3(n, edge, inward);
        if (!(pl_dot3(inward, offset) > tolerance * pl_norm3(inward))) {
            return false;
        }
    }

    return true;
}

// Number of common corners of two triangles; marks them in both.
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

// ---- curved faces
// A part of a face of six nodes: a triangle of its reference coordinates.
typedef struct crossing_patch {
    double node[18];           // of the face
    double xi[3][2], at[3][3]; // corners: reference coordinates, and where they are (mm)
    double chord;              // mm
    double low[3], high[3];    // of a box that contains the curved part
} crossing_patch;

// x(xi) = sum N_a(xi) x_a of the six-node face.
static void patch_point(const crossing_patch *p, const double xi[2], double out[3])
{
    double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX];
    pl_face_shape_eval(6, xi, N, dN);
    for (int i = 0; i < 3; ++i) {
        out[i] = 0;
        for (int a = 0; a < 6; ++a) {
            out[i] += N[a] * p->node[3 * a + i];
        }
    }
}

// Corners and box of a part; the box is widened by the chord error because the flat triangle bulges that far.
static void patch_place(crossing_patch *p)
{
    for (int c = 0; c < 3; ++c) {
        patch_point(p, p->xi[c], p->at[c]);
    }
    for (int i = 0; i < 3; ++i) {
        p->low[i] = fmin(p->at[0][i], fmin(p->at[1][i], p->at[2][i])) - p->chord;
        p->high[i] = fmax(p->at[0][i], fmax(p->at[1][i], p->at[2][i])) + p->chord;
    }
}

// The part of a curved face that a triangle of the search stands for.
static void patch_init(const crossing_search *s, int32_t triangle, crossing_patch *p)
{
    // the four triangles of a face split along its mid nodes, as in pl_face_triangles
    static const int8_t corner[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};
    int32_t node[PL_FACE_NODES_MAX];

    pl_mesh_face_nodes(s->mesh, s->face[triangle], node);
    for (int a = 0; a < 6; ++a) {
        memcpy(p->node + 3 * a, s->x + 3 * (size_t)node[a], 3 * sizeof *p->node);
    }
    for (int c = 0; c < 3; ++c) {
        pl_face_shape_node(6, corner[s->part[triangle]][c], p->xi[c]);
    }
    p->chord = s->chord[triangle];
    patch_place(p);
}

// One of the four quarters: k < 3 keeps corner k, k = 3 is the middle one. The chord error of a quadratic
// face falls with the square of the size.
static void patch_quarter(const crossing_patch *p, int k, crossing_patch *out)
{
    *out = *p;
    out->chord = 0.25 * p->chord;
    for (int c = 0; c < 3; ++c) {
        const int from = k < 3 ? k : c, to = k < 3 ? c : (c + 1) % 3;
        for (int i = 0; i < 2; ++i) {
            out->xi[c][i] = 0.5 * (p->xi[from][i] + p->xi[to][i]);
        }
    }

    patch_place(out);
}

// Whether two curved parts cross by more than the tolerance: divided `level` times, then tested as flat
// triangles that must overlap by more than their remaining chord error.
static bool patch_cross(const crossing_patch *a, const crossing_patch *b, double tolerance, int level,
                        double at[3])
{
    static const bool none[3] = {false};

    // bounding boxes first
    for (int i = 0; i < 3; ++i) {
        if (a->low[i] > b->high[i] || b->low[i] > a->high[i]) {
            return false;
        }
    }

    if (level == 0) {
        const double *const p[3] = {a->at[0], a->at[1], a->at[2]}, *const q[3] = {b->at[0], b->at[1],
                                                                                  b->at[2]};
        const double deep = tolerance + a->chord + b->chord;
        return crossing_edges(p, none, q, deep, at) || crossing_edges(q, none, p, deep, at);
    }

    for (int k = 0; k < 4; ++k) {
        crossing_patch u, v;
        patch_quarter(a, k, &u);

        for (int l = 0; l < 4; ++l) {
            patch_quarter(b, l, &v);
            if (patch_cross(&u, &v, tolerance, level - 1, at)) {
                return true;
            }
        }
    }

    return false;
}

// Two triangles without a common corner, at least one of a curved face.
static bool crossing_curved(const crossing_search *s, int32_t i, int32_t j, double at[3])
{
    crossing_patch a, b;
    patch_init(s, i, &a);
    patch_init(s, j, &b);
    // the parts' edges are half of the face's edges
    const double edge = 2 * fmin(pl_distance3(a.at[0], a.at[1]), pl_distance3(b.at[0], b.at[1]));
    return patch_cross(&a, &b, CROSSING_SHALLOW * edge, CROSSING_LEVELS, at);
}

// Tests a pair of boundary triangles whose boxes meet, and counts it if it crosses. Never stops the search.
static bool crossing_visit(void *user, int32_t i, int32_t j)
{
    crossing_search *s = user;
    const int32_t *a = s->corner + 3 * (size_t)i, *b = s->corner + 3 * (size_t)j;
    bool in_a[3] = {false}, in_b[3] = {false};
    const int shared = crossing_shared(a, b, in_a, in_b);

    // neighbours across an edge touch by construction
    if (shared > 1) {
        return true;
    }

    // neighbours at a corner cannot be divided apart: their tolerance includes the chord error
    const double chord = s->chord[i] + s->chord[j];
    const bool curved = chord > s->tolerance && s->part[i] >= 0 && s->part[j] >= 0;
    const double tolerance = s->tolerance + (curved && shared ? chord : 0);
    const double *p[3], *q[3];
    for (int k = 0; k < 3; ++k) {
        p[k] = s->x + 3 * (size_t)a[k];
        q[k] = s->x + 3 * (size_t)b[k];
    }

    double at[3];

    // flat triangles that cross, and the curved faces too
    const bool flat = crossing_edges(p, in_a, q, tolerance, at) || crossing_edges(q, in_b, p, tolerance, at);
    if (flat && (!curved || shared || crossing_curved(s, i, j, at))) {
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

// Largest distance of the curved face from its triangle, at the middles of the edges and of the triangle.
static double crossing_chord(const double *x, const int32_t node[6], const int8_t triangle[3])
{
    double largest = 0, xi[3][2], middle[2];
    crossing_patch p;

    // the face, and the reference coordinates of the triangle's corners
    for (int a = 0; a < 6; ++a) {
        memcpy(p.node + 3 * a, x + 3 * (size_t)node[a], 3 * sizeof *x);
    }
    for (int c = 0; c < 3; ++c) {
        pl_face_shape_node(6, triangle[c], xi[c]);
    }

    // middles of the three edges, then the centroid
    for (int k = 0; k < 4; ++k) {
        double at[3], flat[3];
        for (int i = 0; i < 2; ++i) {
            middle[i] = k < 3 ? 0.5 * (xi[k][i] + xi[(k + 1) % 3][i]) : (xi[0][i] + xi[1][i] + xi[2][i]) / 3;
        }
        for (int i = 0; i < 3; ++i) {
            const double u = p.node[3 * triangle[k % 3] + i], v = p.node[3 * triangle[(k + 1) % 3] + i],
                         w = p.node[3 * triangle[(k + 2) % 3] + i];
            flat[i] = k < 3 ? 0.5 * (u + v) : (u + v + w) / 3;
        }

        patch_point(&p, middle, at);
        largest = fmax(largest, pl_distance3(at, flat));
    }

    return largest;
}

// Triangles of the boundary with their faces, boxes and chord errors; returns their number.
static int32_t crossing_triangles(const pl_mesh *mesh, const double *x, int32_t *corner, int64_t *of,
                                  double *box, double *chord, int8_t *part)
{
    const int64_t *face;
    const int64_t faces = pl_mesh_boundary(mesh, &face);
    int32_t count = 0;

    for (int64_t f = 0; f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int8_t(*triangle)[3];
        const int nodes = pl_mesh_face_nodes(mesh, face[f], node),
                  parts = pl_face_triangles(nodes, &triangle);
        for (int t = 0; t < parts; ++t, ++count) {
            const size_t k = (size_t)count;
            of[k] = face[f];
            chord[k] = nodes == 6 ? crossing_chord(x, node, triangle[t]) : 0;
            part[k] = nodes == 6 ? (int8_t)t : -1;
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

    // arrays for the largest possible number of triangles
    const pl_mesh_view v = pl_mesh_get(mesh);
    const double *x = position ? position : v.position;
    const int64_t *face;
    const size_t most = PL_FACE_TRIANGLES_MAX * (size_t)pl_mesh_boundary(mesh, &face);
    int32_t *corner = PL_NEW_ARRAY(int32_t, 3 * most), count = 0;
    int64_t *of = PL_NEW_ARRAY(int64_t, most);
    double *box = PL_NEW_ARRAY(double, 6 * most), *chord = PL_NEW_ARRAY(double, most);
    int8_t *part = PL_NEW_ARRAY(int8_t, most);
    pl_bvh bvh = {0};
    bool good = corner && of && box && chord && part;
    if (good) {
        count = crossing_triangles(mesh, x, corner, of, box, chord, part);
        good = pl_bvh_init(&bvh, count, box);
    }

    // tolerance relative to the size of the body: the root's box
    if (good && count > 0) {
        double size = 0;
        for (int i = 0; i < 3; ++i) {
            size = fmax(size, bvh.box[3 + i] - bvh.box[i]);
        }
        crossing_search search = {x, corner, of, chord, part, mesh, 1e-9 * size, out};
        pl_bvh_pairs(&bvh, &bvh, crossing_visit, &search);
    }

    pl_bvh_clear(&bvh);
    pl_free(corner);
    pl_free(of);
    pl_free(box);
    pl_free(chord);
    pl_free(part);

    return good ? PL_OK : pl_fail_memory(err, "crossings");
}
