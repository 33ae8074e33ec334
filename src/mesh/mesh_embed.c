// Where a point lies: Newton's method on the reference coordinates of the elements around it; outside, the
// nearest point of the boundary.
#include "mesh/mesh_impl.h"

#define EMBED_INSIDE 1e-9 // reference coordinates may lie outside by this much

// Prisms use half the distance to an end, so that it is 0.5 in the middle, like a share.
// How far inside the reference element xi lies: the smallest barycentric coordinate (or distance to an end).
static double embed_depth(pl_element_kind kind, const double xi[3])
{
    if (pl_element_is_tet(kind)) {
        return fmin(fmin(xi[0], xi[1]), fmin(xi[2], 1 - xi[0] - xi[1] - xi[2]));
    }
    return fmin(fmin(fmin(xi[0], xi[1]), 1 - xi[0] - xi[1]), 0.5 * fmin(1 - xi[2], 1 + xi[2]));
}

// Newton on x(xi) = p from the centre: A step = p - x(xi) with A = dx/dxi. True when it converged.
static bool embed_newton(pl_element_kind kind, const double *x, const double p[3], double xi[3])
{
    const bool tet = pl_element_is_tet(kind);
    xi[0] = xi[1] = tet ? 0.25 : 1.0 / 3;
    xi[2] = tet ? 0.25 : 0;

    for (int iteration = 0; iteration < 30; ++iteration) {
        // residual r = p - x(xi) and Jacobian A
        double N[PL_ELEMENT_NODES_MAX], dN[3 * PL_ELEMENT_NODES_MAX], A[9] = {0}, r[3], C[9], step[3];
        const int n = pl_shape_eval(kind, xi, N, dN);
        memcpy(r, p, sizeof r);

        for (int a = 0; a < n; ++a) {
            for (int i = 0; i < 3; ++i) {
                r[i] -= N[a] * x[3 * a + i];
                for (int j = 0; j < 3; ++j) {
                    A[3 * i + j] += x[3 * a + i] * dN[3 * a + j];
                }
            }
        }

        // solve by cofactors
        pl_cofactor3(A, C);
        const double det = A[0] * C[0] + A[1] * C[1] + A[2] * C[2];
        if (det == 0) {
            return false;
        }
        pl_mulTv3(C, r, step); // A^-1 = cof(A)^T / det
        double change = 0;
        for (int i = 0; i < 3; ++i) {
            step[i] /= det;
            change = fmax(change, fabs(step[i]));
        }

        // a long step from a far point must not run away from a curved element
        const double damp = change > 1 ? 1 / change : 1;
        for (int i = 0; i < 3; ++i) {
            xi[i] += damp * step[i];
        }
        // a linear tet is solved by one full step
        if (change < 1e-13 || (kind == PL_TET4 && damp == 1)) {
            return true;
        }
        // the point is far outside of this element
        if (fabs(xi[0]) + fabs(xi[1]) + fabs(xi[2]) > 20) {
            return false;
        }
        // curved elements can stall at rounding level
        if (change < 1e-10 && iteration > 15) {
            return true;
        }
    }

    return false;
}

// The best element so far; depth starts at the tolerance below 0.
typedef struct embed_search {
    const pl_mesh *mesh;
    const double *point;
    int32_t element;
    double depth, xi[3];
} embed_search;

// Among the elements that contain the point, the one that holds it deepest; then the lowest number.
static bool embed_visit(void *user, int32_t e)
{
    embed_search *s = user;
    const pl_element_kind kind = (pl_element_kind)s->mesh->view.kind[e];
    double x[3 * PL_ELEMENT_NODES_MAX], xi[3];

    pl_mesh_gather(s->mesh, e, x);
    if (embed_newton(kind, x, s->point, xi)) {
        const double depth = embed_depth(kind, xi);

        if (depth > s->depth || (depth == s->depth && e < s->element)) {
            s->element = e;
            s->depth = depth;
            memcpy(s->xi, xi, sizeof xi);
        }
    }

    return true;
}

// The nearest boundary triangle so far, with barycentric weights of its nearest point.
typedef struct near_search {
    const pl_mesh_trees *trees;
    const double *point;
    int32_t triangle;
    double weight[3];
} near_search;

// Ties go to the lower triangle, so that the answer does not depend on the order of the tree.
static double near_visit(void *user, int32_t item, double best)
{
    near_search *s = user;
    const double *x = s->trees->triangle + 9 * (size_t)item;
    double weight[3];
    const double d2 = pl_triangle_nearest(s->point, x, x + 3, x + 6, weight);

    if (d2 < best || (d2 == best && item < s->triangle)) {
        s->triangle = item;
        memcpy(s->weight, weight, sizeof weight);
        return d2;
    }

    return best;
}

// Reference coordinates of a face, moved back into the reference triangle or square.
static void near_clamp(bool tri, double xi[2])
{
    if (!tri) {
        xi[0] = fmax(-1, fmin(1, xi[0]));
        xi[1] = fmax(-1, fmin(1, xi[1]));
        return;
    }

    const double excess = xi[0] + xi[1] - 1;
    if (excess > 0) { // onto the long side
        xi[0] -= 0.5 * excess;
        xi[1] -= 0.5 * excess;
    }

    xi[0] = fmax(0, fmin(1, xi[0]));
    xi[1] = fmax(0, fmin(1, xi[1]));
}

// Residual r = p - x(xi), tangents u and v at xi; returns |r|.
static double near_face_point(int count, const double *x, const double xi[2], const double p[3], double r[3],
                              double u[3], double v[3])
{
    double N[PL_FACE_NODES_MAX], dN[2 * PL_FACE_NODES_MAX];
    pl_face_shape_eval(count, xi, N, dN);
    for (int i = 0; i < 3; ++i) {
        r[i] = p[i];
        u[i] = v[i] = 0;

        for (int a = 0; a < count; ++a) {
            r[i] -= N[a] * x[3 * a + i];
            u[i] += dN[2 * a] * x[3 * a + i];
            v[i] += dN[2 * a + 1] * x[3 * a + i];
        }
    }

    return pl_norm3(r);
}

// From the nearest point of the straight triangles to that of the curved face: Gauss-Newton on |p - x(xi)|^2
// kept inside the face, every step an improvement.
static double near_refine(int count, const double *x, const double p[3], double xi[2])
{
    const bool tri = count == 3 || count == 6;
    double r[3], u[3], v[3];
    double best = near_face_point(count, x, xi, p, r, u, v);

    for (int iteration = 0; iteration < 40; ++iteration) {
        // normal equations of min |r - a u - b v|^2
        const double uu = pl_dot3(u, u), uv = pl_dot3(u, v), vv = pl_dot3(v, v), ru = pl_dot3(r, u),
                     rv = pl_dot3(r, v), det = uu * vv - uv * uv;
        double scale = 1, trial[2], distance = INFINITY;
        if (det <= 0) {
            break;
        }

        // halve the step until the clamped point is nearer
        const double step[2] = {(vv * ru - uv * rv) / det, (uu * rv - uv * ru) / det};
        for (int half = 0; half < 8 && !(distance < best); ++half, scale *= 0.5) {
            trial[0] = xi[0] + scale * step[0];
            trial[1] = xi[1] + scale * step[1];
            near_clamp(tri, trial);
            distance = near_face_point(count, x, trial, p, r, u, v);
        }

        if (!(distance < best)) {
            break;
        }
        best = distance;
        xi[0] = trial[0];
        xi[1] = trial[1];
    }

    return best;
}

// The nearest boundary point as reference coordinates of its element; returns the distance.
static double embed_outside(const pl_mesh *mesh, const pl_mesh_trees *trees, const double point[3],
                            int32_t *element, double xi[3])
{
    // nearest point of the flat triangles
    near_search search = {.trees = trees, .point = point, .triangle = INT32_MAX};
    pl_bvh_nearest(&trees->boundary, point, INFINITY, near_visit, &search);
    const int64_t face = mesh->boundary[trees->triangle_face[search.triangle]];

    // its reference coordinates on the face are the weighted ones of the triangle's nodes
    double x[3 * PL_FACE_NODES_MAX], at[2] = {0, 0};
    const int count = pl_mesh_gather_face(mesh, face, x);
    for (int a = 0; a < 3; ++a) {
        double node[2];
        pl_face_shape_node(count, trees->triangle_node[3 * (size_t)search.triangle + (size_t)a], node);
        at[0] += search.weight[a] * node[0];
        at[1] += search.weight[a] * node[1];
    }

    // corrected on the curved face, then as a point of the element
    const double distance = near_refine(count, x, point, at);
    *element = (int32_t)(face / 8);
    pl_shape_from_face((pl_element_kind)mesh->view.kind[*element], (int)(face % 8), at, xi);

    return distance;
}

pl_status pl_mesh_embed(const pl_mesh *mesh, const double point[3], pl_embedding *out, pl_error *err)
{
    *out = (pl_embedding){0};
    if (!(fabs(point[0]) <= 1e12 && fabs(point[1]) <= 1e12 && fabs(point[2]) <= 1e12)) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: the point (%g, %g, %g) is not finite, expected mm", point[0],
                       point[1], point[2]);
    }

    // inside: the element that holds the point deepest
    const pl_mesh_trees *trees = pl_mesh_trees_get(mesh);
    if (!trees) {
        return pl_fail_memory(err, "mesh: embedding a point");
    }

    embed_search search = {.mesh = mesh, .point = point, .element = -1, .depth = -EMBED_INSIDE};
    pl_bvh_query(&trees->elements, point, point, embed_visit, &search);

    // outside: the nearest boundary point. Distances of rounding size count as on the boundary
    if (search.element < 0) {
        out->distance = embed_outside(mesh, trees, point, &search.element, search.xi);
        out->distance = out->distance > 1e-9 * pl_mesh_size(mesh) ? out->distance : 0;
    }

    // weights of the nodes there
    out->element = search.element;
    out->node_count =
        pl_shape_eval((pl_element_kind)mesh->view.kind[search.element], search.xi, out->weight, NULL);
    memcpy(out->node, mesh->view.node + mesh->view.node_start[search.element],
           (size_t)out->node_count * sizeof *out->node);

    return PL_OK;
}

int32_t pl_mesh_find_element(const pl_mesh *mesh, const double point[3])
{
    pl_embedding e;
    return pl_mesh_embed(mesh, point, &e, NULL) == PL_OK ? e.element : -1;
}
