// Choosing a surface on the boundary by a box, a plane or a point in a cavity; neighbours on the boundary.
#include "mesh/mesh_impl.h"

// ---- which boundary faces share an edge

// One side of an edge of the boundary: the edge as part of one face.
typedef struct half_edge {
    int32_t face;  // index into the boundary
    int32_t local; // edge of that face
    int32_t next;  // next half edge of the same edge, -1 at the end
} half_edge;

// Number of corners of a boundary face; 3 or 4, also where it is curved.
int pl_boundary_corner_count(const pl_mesh *mesh, int64_t index)
{
    int32_t node[PL_FACE_NODES_MAX];
    const int count = pl_mesh_face_nodes(mesh, mesh->boundary[index], node);
    return count == 3 || count == 6 ? 3 : 4;
}

// The direction in the face away from its edge a -> b, orthogonal to d, and the side on which the void lies.
static void pick_wing(const pl_mesh *mesh, const half_edge *h, const double d[3], double u[3],
                      bool *void_ahead)
{
    double x[3 * PL_FACE_NODES_MAX], normal[3], side[3], p[3], q[3];

    // normal of the face, from the two sides at the edge's start
    pl_mesh_gather_face(mesh, mesh->boundary[h->face], x);
    const int corners = pl_boundary_corner_count(mesh, h->face);
    const double *a = x + 3 * h->local, *b = x + 3 * ((h->local + 1) % corners),
                 *c = x + 3 * ((h->local + 2) % corners);
    pl_sub3(b, a, p);
    pl_sub3(c, a, q);
    pl_cross3(p, q, normal);

    // component of the face orthogonal to the edge
    const double along = pl_dot3(q, d) / pl_dot3(d, d);
    for (int i = 0; i < 3; ++i) {
        u[i] = q[i] - along * d[i];
    }
    pl_cross3(d, u, side);
    *void_ahead = pl_dot3(normal, side) > 0;
}

#define PICK_FAN_MAX 32 // faces around one edge; more are ignored

// More than two faces meet in an edge: sorted by angle, a face with the void ahead pairs with the next one.
static void pick_pair_fan(const pl_mesh *mesh, const half_edge *half, int32_t head, int32_t *neighbour)
{
    int32_t fan[PICK_FAN_MAX];
    double angle[PICK_FAN_MAX], d[3], e1[3], e2[3];
    bool ahead[PICK_FAN_MAX];
    int n = 0;

    // direction of the edge, along which the fan is looked at
    double x[3 * PL_FACE_NODES_MAX];
    const int corners = pl_boundary_corner_count(mesh, half[head].face);

    pl_mesh_gather_face(mesh, mesh->boundary[half[head].face], x);
    pl_sub3(x + 3 * ((half[head].local + 1) % corners), x + 3 * half[head].local, d);

    // angle of each face around the edge, counted from the first face
    for (int32_t h = head; h >= 0 && n < PICK_FAN_MAX; h = half[h].next, ++n) {
        double u[3];
        pick_wing(mesh, &half[h], d, u, &ahead[n]);
        if (n == 0) {
            memcpy(e1, u, sizeof e1);
            pl_cross3(d, e1, e2);
        }

        // e2 is |d| times longer than e1
        angle[n] = n == 0 ? 0 : atan2(pl_dot3(u, e2) / pl_norm3(d), pl_dot3(u, e1));
        angle[n] += angle[n] < 0 ? 2 * PL_PI : 0;
        fan[n] = h;
    }

    // each face with the void ahead: the nearest face with the void behind it bounds the same wedge
    for (int i = 0; i < n; ++i) {
        int best = -1;
        double least = INFINITY;

        for (int j = 0; j < n && ahead[i]; ++j) {
            const double gap = angle[j] - angle[i] + (angle[j] <= angle[i] ? 2 * PL_PI : 0);
            if (j != i && !ahead[j] && gap < least) {
                least = gap;
                best = j;
            }
        }

        if (best >= 0) {
            const half_edge *a = &half[fan[i]], *b = &half[fan[best]];
            neighbour[4 * (size_t)a->face + (size_t)a->local] = b->face;
            neighbour[4 * (size_t)b->face + (size_t)b->local] = a->face;
        }
    }
}

// Neighbours across one edge: the usual pair of faces, or a fan. A single face has none.
static void pick_pair(const pl_mesh *mesh, const half_edge *half, int32_t head, int32_t *neighbour)
{
    const half_edge *a = &half[head];
    if (a->next >= 0 && half[a->next].next < 0) {
        const half_edge *b = &half[a->next];
        neighbour[4 * (size_t)a->face + (size_t)a->local] = b->face;
        neighbour[4 * (size_t)b->face + (size_t)b->local] = a->face;
    } else if (a->next >= 0) {
        pick_pair_fan(mesh, half, head, neighbour);
    }
}

int32_t *pl_boundary_neighbours(const pl_mesh *mesh)
{
    const int64_t count = mesh->boundary_count;

    // half edges, chained per edge
    pl_table edge = {0};
    int32_t *neighbour = PL_NEW_ARRAY(int32_t, 4 * count), *head = PL_NEW_ARRAY(int32_t, 4 * count);
    half_edge *half = PL_NEW_ARRAY(half_edge, 4 * count);
    const bool ok = neighbour && head && half && pl_table_init(&edge, 2, 4 * count);
    int32_t n = 0;

    for (int64_t f = 0; f < count && ok; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        pl_mesh_face_nodes(mesh, mesh->boundary[f], node);
        const int corners = pl_boundary_corner_count(mesh, f);

        for (int a = 0; a < corners; ++a, ++n) {
            int32_t key[2] = {node[a], node[(a + 1) % corners]};
            pl_sort_small(key, 2);
            const int32_t before = edge.count, at = pl_table_add(&edge, key);
            half[n] = (half_edge){(int32_t)f, a, at == before ? -1 : head[at]};
            head[at] = n;
        }
    }

    // pairs per edge
    if (ok) {
        memset(neighbour, -1, 4 * (size_t)count * sizeof *neighbour);
        for (int32_t e = 0; e < edge.count; ++e) {
            pick_pair(mesh, half, head[e], neighbour);
        }
    } else {
        pl_free(neighbour);
        neighbour = NULL;
    }

    pl_table_clear(&edge);
    pl_free(head);
    pl_free(half);

    return neighbour;
}

// ---- box and plane

// What a corner is tested against: a box, or a plane with unit normal and a tolerance in mm.
typedef struct pick_test {
    const pl_pick *pick;
    double normal[3], tolerance;
} pick_test;

// Whether a point lies in the box, or within the tolerance of the plane.
static bool pick_accepts(const pick_test *test, const double x[3])
{
    const pl_pick *pick = test->pick;
    if (pick->kind == PL_PICK_PLANE) {
        double r[3];
        pl_sub3(x, pick->point, r);
        return fabs(pl_dot3(r, test->normal)) <= test->tolerance;
    }

    bool inside = true;
    for (int i = 0; i < 3; ++i) {
        inside = inside && x[i] >= pick->low[i] && x[i] <= pick->high[i];
    }

    return inside;
}

// Boundary faces all of whose corners are accepted; an empty list is not an error here.
static pl_status pick_by_corners(const pl_mesh *mesh, const pick_test *test, int64_t **face,
                                 int64_t *face_count, pl_error *err)
{
    int64_t *found = PL_NEW_ARRAY(int64_t, mesh->boundary_count), n = 0;
    if (!found) {
        return pl_fail_memory(err, "mesh: picking faces");
    }

    for (int64_t f = 0; f < mesh->boundary_count; ++f) {
        double x[3 * PL_FACE_NODES_MAX];
        pl_mesh_gather_face(mesh, mesh->boundary[f], x);
        bool all = true;
        for (int a = 0; a < pl_boundary_corner_count(mesh, f) && all; ++a) {
            all = pick_accepts(test, x + 3 * a);
        }
        if (all) {
            found[n++] = mesh->boundary[f];
        }
    }

    *face = found;
    *face_count = n;

    return PL_OK;
}

// Also false for not-a-number.
static bool pick_finite(const double v[3])
{
    return fabs(v[0]) <= 1e12 && fabs(v[1]) <= 1e12 && fabs(v[2]) <= 1e12;
}

static pl_status pick_box(const pl_mesh *mesh, const pl_pick *pick, int64_t **face, int64_t *face_count,
                          pl_error *err)
{
    for (int i = 0; i < 3; ++i) {
        if (!(pick->low[i] <= pick->high[i])) {
            return pl_fail(err, PL_BAD_INPUT, "the box runs from %g to %g along %c, expected low <= high",
                           pick->low[i], pick->high[i], "xyz"[i]);
        }
    }

    const pick_test test = {.pick = pick};
    return pick_by_corners(mesh, &test, face, face_count, err);
}

static pl_status pick_plane(const pl_mesh *mesh, const pl_pick *pick, int64_t **face, int64_t *face_count,
                            pl_error *err)
{
    const double length = pl_norm3(pick->normal);
    if (!(length > 0) || !isfinite(length) || !pick_finite(pick->point)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "the plane's normal is (%g, %g, %g), expected a finite, non-zero one", pick->normal[0],
                       pick->normal[1], pick->normal[2]);
    }

    if (!(pick->tolerance >= 0)) {
        return pl_fail(err, PL_BAD_INPUT, "the plane's tolerance is %g, expected 0 or more (mm)",
                       pick->tolerance);
    }

    // a tolerance of 0 means: as exact as the coordinates are, 1e-6 of the size
    pick_test test = {.pick = pick,
                      .tolerance = pick->tolerance > 0 ? pick->tolerance : 1e-6 * pl_mesh_size(mesh)};
    for (int i = 0; i < 3; ++i) {
        test.normal[i] = pick->normal[i] / length;
    }

    return pick_by_corners(mesh, &test, face, face_count, err);
}

// The faces are owned by the caller (pl_mesh_free_faces).
pl_status pl_mesh_pick(const pl_mesh *mesh, const pl_pick *pick, int64_t **face, int64_t *face_count,
                       pl_error *err)
{
    *face = NULL;
    *face_count = 0;
    switch (pick->kind) {
    case PL_PICK_BOX:
        return pick_box(mesh, pick, face, face_count, err);
    case PL_PICK_PLANE:
        return pick_plane(mesh, pick, face, face_count, err);
    case PL_PICK_SEEN_FROM:
        if (!pick_finite(pick->point)) {
            return pl_fail(err, PL_BAD_INPUT, "seen_from is (%g, %g, %g), expected finite coordinates (mm)",
                           pick->point[0], pick->point[1], pick->point[2]);
        }

        return pl_mesh_pick_cavity(mesh, pick, face, face_count, err);
    }

    return pl_fail(err, PL_BAD_INPUT, "kind is %d, expected 0 .. 2", (int)pick->kind);
}
