// The trees of a mesh, over the triangles of its boundary and over its elements, built when first needed;
// rays.
#include "mesh/mesh_impl.h"

void pl_mesh_trees_destroy(pl_mesh_trees *trees)
{
    if (!trees) {
        return;
    }
    pl_free(trees->triangle_face);
    pl_free(trees->triangle_node);
    pl_free(trees->triangle);
    pl_bvh_clear(&trees->boundary);
    pl_bvh_clear(&trees->elements);
    pl_free(trees);
}

// An empty box: anything added to it becomes the box.
static void box_empty(double box[6])
{
    for (int i = 0; i < 3; ++i) {
        box[i] = INFINITY;
        box[3 + i] = -INFINITY;
    }
}

static void box_add(double box[6], const double p[3])
{
    for (int i = 0; i < 3; ++i) {
        box[i] = fmin(box[i], p[i]);
        box[3 + i] = fmax(box[3 + i], p[i]);
    }
}

// A box around the element. A quadratic edge lies in the hull of its ends and of the control point
// 2 x_mid - (x_a + x_b) / 2, and a tet10 in the hull of all of them; a prism15 (serendipity sides) gets a
// margin.
static void trees_element_box(const pl_mesh *mesh, int32_t e, double box[6])
{
    double x[3 * PL_ELEMENT_NODES_MAX];
    const pl_element_kind kind = (pl_element_kind)mesh->view.kind[e];
    const int corners = pl_element_corner_count(kind);

    pl_mesh_gather(mesh, e, x);
    box_empty(box);

    // corners, then control points of curved edges
    for (int a = 0; a < corners; ++a) {
        box_add(box, x + 3 * a);
    }

    for (int i = 0; i < pl_element_edge_count(kind); ++i) {
        int node[3];
        pl_element_edge_nodes(kind, i, node);
        double control[3];
        for (int k = 0; k < 3 && node[2] >= 0; ++k) {
            control[k] = 2 * x[3 * node[2] + k] - 0.5 * (x[3 * node[0] + k] + x[3 * node[1] + k]);
        }
        if (node[2] >= 0) {
            box_add(box, control);
        }
    }

    const double diagonal = pl_distance3(box, box + 3);
    const double margin = (kind == PL_PRISM15 ? 0.1 : 1e-9) * diagonal;
    for (int i = 0; i < 3; ++i) {
        box[i] -= margin;
        box[3 + i] += margin;
    }
}

// The tree over elements; false when out of memory.
static bool trees_build_elements(const pl_mesh *mesh, pl_mesh_trees *trees)
{
    double *box = PL_NEW_ARRAY(double, 6 * (size_t)mesh->view.element_count);
    if (!box) {
        return false;
    }
    for (int32_t e = 0; e < mesh->view.element_count; ++e) {
        trees_element_box(mesh, e, box + 6 * (size_t)e);
    }

    const bool ok = pl_bvh_init(&trees->elements, mesh->view.element_count, box);
    pl_free(box);

    return ok;
}

// Corners, local nodes and boxes of the boundary's triangles.
static void trees_fill_triangles(const pl_mesh *mesh, pl_mesh_trees *trees, double *box)
{
    int32_t n = 0;
    for (int64_t f = 0; f < mesh->boundary_count; ++f) {
        double x[3 * PL_FACE_NODES_MAX];
        const int8_t(*split)[3];
        const int parts = pl_face_triangles(pl_mesh_gather_face(mesh, mesh->boundary[f], x), &split);

        for (int p = 0; p < parts; ++p, ++n) {
            trees->triangle_face[n] = (int32_t)f;
            box_empty(box + 6 * (size_t)n);

            for (int a = 0; a < 3; ++a) {
                double *corner = trees->triangle + 9 * (size_t)n + 3 * (size_t)a;
                trees->triangle_node[3 * (size_t)n + (size_t)a] = split[p][a];
                memcpy(corner, x + 3 * split[p][a], 3 * sizeof *corner);
                box_add(box + 6 * (size_t)n, corner);
            }
        }
    }
}

// The tree over the boundary's triangles; false when out of memory or with more than 2^29 triangles.
static bool trees_build_boundary(const pl_mesh *mesh, pl_mesh_trees *trees)
{
    int64_t count = 0;
    for (int64_t f = 0; f < mesh->boundary_count; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int8_t(*split)[3];
        count += pl_face_triangles(pl_mesh_face_nodes(mesh, mesh->boundary[f], node), &split);
    }

    if (count > INT32_MAX / 4) {
        return false;
    }
    trees->triangle_count = (int32_t)count;
    trees->triangle_face = PL_NEW_ARRAY(int32_t, count);
    trees->triangle_node = PL_NEW_ARRAY(int8_t, 3 * count);
    trees->triangle = PL_NEW_ARRAY(double, 9 * count);
    double *box = PL_NEW_ARRAY(double, 6 * count);
    bool ok = trees->triangle_face && trees->triangle_node && trees->triangle && box;
    if (ok) {
        trees_fill_triangles(mesh, trees, box);
        ok = pl_bvh_init(&trees->boundary, trees->triangle_count, box);
    }

    pl_free(box);

    return ok;
}

// Several threads may find the trees missing; each builds them and the first to finish wins.
const pl_mesh_trees *pl_mesh_trees_get(const pl_mesh *mesh)
{
    // building trees does not change what the mesh is, hence const and the cast
    _Atomic(pl_mesh_trees *) *place = &((pl_mesh *)mesh)->trees;
    pl_mesh_trees *trees = atomic_load(place);
    if (trees) {
        return trees;
    }
    trees = PL_NEW(pl_mesh_trees);
    if (!trees || !trees_build_boundary(mesh, trees) || !trees_build_elements(mesh, trees)) {
        pl_mesh_trees_destroy(trees);
        return NULL;
    }

    pl_mesh_trees *other = NULL;
    if (!atomic_compare_exchange_strong(place, &other, trees)) {
        pl_mesh_trees_destroy(trees);
        return other;
    }

    return trees;
}

pl_status pl_mesh_prepare_trees(const pl_mesh *mesh, pl_error *err)
{
    return pl_mesh_trees_get(mesh) ? PL_OK : pl_fail_memory(err, "mesh: bounding-volume trees");
}

// ---- triangles

// Solves o + t d = a + beta u + gamma v by Cramer's rule; u, v the sides of the triangle.
double pl_triangle_ray(const double o[3], const double d[3], const double a[3], const double b[3],
                       const double c[3])
{
    double u[3], v[3], p[3], q[3], s[3];
    pl_sub3(b, a, u);
    pl_sub3(c, a, v);
    pl_cross3(d, v, p);

    // parallel to the plane
    const double det = pl_dot3(u, p);
    if (det == 0) {
        return -1;
    }
    pl_sub3(o, a, s);
    const double beta = pl_dot3(s, p) / det;
    pl_cross3(s, u, q);
    const double gamma = pl_dot3(d, q) / det;

    // a hair of overlap closes the seams between triangles
    if (beta < -1e-12 || gamma < -1e-12 || beta + gamma > 1 + 1e-12) {
        return -1;
    }

    return pl_dot3(v, q) / det;
}

// After Ericson, Real-Time Collision Detection, 5.1.5: the Voronoi region of p decides.
double pl_triangle_nearest(const double p[3], const double a[3], const double b[3], const double c[3],
                           double weight[3])
{
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    pl_sub3(b, a, ab);
    pl_sub3(c, a, ac);
    pl_sub3(p, a, ap);
    pl_sub3(p, b, bp);
    pl_sub3(p, c, cp);

    // projections on the sides, and areas of the sub-triangles opposite to a, b, c
    const double d1 = pl_dot3(ab, ap), d2 = pl_dot3(ac, ap), d3 = pl_dot3(ab, bp), d4 = pl_dot3(ac, bp);
    const double d5 = pl_dot3(ab, cp), d6 = pl_dot3(ac, cp);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;

    // corners a, b, c; then the sides ab, ac, bc; then the inside
    double v = 0, w = 0;
    if (d1 <= 0 && d2 <= 0) {
        v = w = 0;
    } else if (d3 >= 0 && d4 <= d3) {
        v = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        w = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        v = d1 / (d1 - d3);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w = d2 / (d2 - d6);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        v = 1 - w;
    } else {
        v = vb / (va + vb + vc);
        w = vc / (va + vb + vc);
    }

    weight[0] = 1 - v - w;
    weight[1] = v;
    weight[2] = w;

    // squared distance from a + v ab + w ac
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        const double d = ap[i] - v * ab[i] - w * ac[i];
        sum += d * d;
    }

    return sum;
}

// ---- rays

typedef struct cast_search {
    const pl_mesh_trees *trees;
    const double *origin, *direction;
    double start;
    int32_t best; // triangle met first; -1: none
} cast_search;

// Ties between triangles go to the lower number.
static double cast_visit(void *user, int32_t item, double limit)
{
    cast_search *s = user;
    const double *x = s->trees->triangle + 9 * (size_t)item;
    const double t = pl_triangle_ray(s->origin, s->direction, x, x + 3, x + 6);

    if (t > s->start && (t < limit || (t == limit && s->best >= 0 && item < s->best))) {
        s->best = item;
        return t;
    }

    return limit;
}

bool pl_mesh_cast(const pl_mesh *mesh, const double origin[3], const double direction[3], double start,
                  pl_hit *hit)
{
    const pl_mesh_trees *trees = pl_mesh_trees_get(mesh);
    if (!trees) {
        return false;
    }

    cast_search search = {trees, origin, direction, start, -1};
    pl_bvh_ray(&trees->boundary, origin, direction, INFINITY, cast_visit, &search);
    if (search.best < 0) {
        return false;
    }

    // which side of the face: normals point out of the material
    const double *x = trees->triangle + 9 * (size_t)search.best;
    double u[3], v[3], normal[3];
    pl_sub3(x + 3, x, u);
    pl_sub3(x + 6, x, v);
    pl_cross3(u, v, normal);
    hit->t = pl_triangle_ray(origin, direction, x, x + 3, x + 6);
    hit->index = trees->triangle_face[search.best];
    hit->face = mesh->boundary[hit->index];
    hit->from_void = pl_dot3(normal, direction) < 0;

    return true;
}

// Any hit answers the question: a negative limit ends the search.
static double blocks_visit(void *user, int32_t item, double limit)
{
    cast_search *s = user;
    const double *x = s->trees->triangle + 9 * (size_t)item;

    if (pl_triangle_ray(s->origin, s->direction, x, x + 3, x + 6) > s->start) {
        s->best = item;
        return -1;
    }

    return limit;
}

// Without memory for the trees the answer is no.
bool pl_mesh_blocks(const pl_mesh *mesh, const double origin[3], const double direction[3], double start)
{
    const pl_mesh_trees *trees = pl_mesh_trees_get(mesh);
    cast_search search = {trees, origin, direction, start, -1};
    if (trees) {
        pl_bvh_ray(&trees->boundary, origin, direction, INFINITY, blocks_visit, &search);
    }
    return search.best >= 0;
}
