// Triangles that meet where they should not: pairs are found by trees, then tested by how many corners they
// share.
//   none    they meet when an edge of one comes within the tolerance of the other
//   one     the edge opposite to the shared corner of one must keep off the other
//   two     they overlap when folded flat onto each other
//   three   the same triangle: a duplicate, not a crossing
#include <stdio.h>
#include <stdlib.h>
#include "mesh/mesh_impl.h"

// Distance between the segments p q and r s (Ericson, 5.1.9).
static double cross_segments(const double p[3], const double q[3], const double r[3], const double s[3])
{
    double d1[3], d2[3], w[3];
    pl_sub3(q, p, d1);
    pl_sub3(s, r, d2);
    pl_sub3(p, r, w);

    // nearest points of the infinite lines, clamped to the first segment (parallel lines: any point)
    const double a = pl_dot3(d1, d1), e = pl_dot3(d2, d2), f = pl_dot3(d2, w), c = pl_dot3(d1, w),
                 b = pl_dot3(d1, d2), denominator = a * e - b * b;
    double u = denominator > 1e-14 * a * e ? fmax(0, fmin(1, (b * f - c * e) / denominator)) : 0;
    double v = e > 0 ? (b * u + f) / e : 0;

    // clamp to the second segment, then correct the first parameter
    if (v < 0 || v > 1) {
        v = fmax(0, fmin(1, v));
        u = a > 0 ? fmax(0, fmin(1, (b * v - c) / a)) : 0;
    }

    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        const double gap = w[i] + u * d1[i] - v * d2[i];
        sum += gap * gap;
    }

    return sqrt(sum);
}

// Distance of a point from a triangle, mm.
static double cross_point_gap(const double p[3], const double *const x[3])
{
    double weight[3];
    return sqrt(pl_triangle_nearest(p, x[0], x[1], x[2], weight));
}

// Whether the segment p q comes within the tolerance of the triangle.
static bool cross_segment_meets(const double p[3], const double q[3], const double *const x[3],
                                double tolerance)
{
    // heights of the ends above the plane
    double u[3], v[3], n[3], rp[3], rq[3];
    pl_sub3(x[1], x[0], u);
    pl_sub3(x[2], x[0], v);
    pl_cross3(u, v, n);
    const double length = pl_norm3(n);
    pl_sub3(p, x[0], rp);
    pl_sub3(q, x[0], rq);
    const double hp = length > 0 ? pl_dot3(rp, n) / length : 0, hq = length > 0 ? pl_dot3(rq, n) / length : 0;

    // both ends on one side
    if ((hp > tolerance && hq > tolerance) || (hp < -tolerance && hq < -tolerance)) {
        return false;
    }

    if (hp * hq < 0) { // through the plane
        double at[3];
        for (int i = 0; i < 3; ++i) {
            at[i] = p[i] + (q[i] - p[i]) * (hp / (hp - hq));
        }
        if (cross_point_gap(at, x) <= tolerance) {
            return true;
        }
    }

    // in or near the plane: ends against the triangle, segment against its sides
    bool meets = cross_point_gap(p, x) <= tolerance || cross_point_gap(q, x) <= tolerance;
    for (int a = 0; a < 3 && !meets; ++a) {
        meets = cross_segments(p, q, x[a], x[(a + 1) % 3]) <= tolerance;
    }

    return meets;
}

// Triangles with a common edge p q and the other corners a, b: flat onto each other when the wings coincide.
static bool cross_folded(const double p[3], const double q[3], const double a[3], const double b[3])
{
    // components of both wings orthogonal to the common edge
    double d[3], u[3], v[3], n[3];
    pl_sub3(q, p, d);
    pl_sub3(a, p, u);
    pl_sub3(b, p, v);
    const double du = pl_dot3(u, d) / pl_dot3(d, d), dv = pl_dot3(v, d) / pl_dot3(d, d);
    for (int i = 0; i < 3; ++i) {
        u[i] -= du * d[i];
        v[i] -= dv * d[i];
    }

    pl_cross3(u, v, n);

    // same direction within 1e-7 rad
    return pl_dot3(u, v) > 0 && pl_norm3(n) <= 1e-7 * pl_norm3(u) * pl_norm3(v);
}

// Brings the shared corners of both triangles to the front; returns their number.
// Corners are compared by position, because different surfaces share no vertex numbers.
static int cross_align(const double *x[3], const double *y[3], double tolerance)
{
    int shared = 0;
    for (int i = 0; i < 3; ++i) {
        for (int j = shared; j < 3; ++j) {
            if (pl_distance3(x[i], y[j]) <= tolerance) {
                const double *swap = x[i];
                x[i] = x[shared];
                x[shared] = swap;
                swap = y[j];
                y[j] = y[shared];
                y[shared++] = swap;
                break;
            }
        }
    }

    return shared;
}

// The rule of the opening comment; both arrays are reordered.
static bool cross_triangles(const double *x[3], const double *y[3], double tolerance)
{
    const int shared = cross_align(x, y, tolerance);
    if (shared == 3) {
        return false;
    }
    if (shared == 2) {
        return cross_folded(x[0], x[1], x[2], y[2]);
    }
    if (shared == 1) {
        return cross_segment_meets(y[1], y[2], x, tolerance) || cross_segment_meets(x[1], x[2], y, tolerance);
    }

    bool meets = false;
    for (int a = 0; a < 3 && !meets; ++a) {
        meets = cross_segment_meets(y[a], y[(a + 1) % 3], x, tolerance) ||
                cross_segment_meets(x[a], x[(a + 1) % 3], y, tolerance);
    }

    return meets;
}

// ---- all pairs

// Pairs found so far, of one surface (a == b) or of two.
typedef struct cross_search {
    const pl_trisurf *a, *b;
    double tolerance; // mm
    int32_t *found;   // pairs: triangle of a, triangle of b
    int32_t count, capacity;
    bool failed;
} cross_search;

static void cross_corners(const pl_trisurf *s, int32_t t, const double *x[3])
{
    for (int a = 0; a < 3; ++a) {
        x[a] = s->position + 3 * (size_t)s->corner[3 * (size_t)t + (size_t)a];
    }
}

// A crowd of crossings says no more than a few of them.
#define CROSS_PAIRS_MAX 20000

// Tests one pair whose boxes meet; false ends the search.
static bool cross_visit(void *user, int32_t i, int32_t j)
{
    cross_search *s = user;
    const double *x[3], *y[3];

    cross_corners(s->a, i, x);
    cross_corners(s->b, j, y);
    if (!cross_triangles(x, y, s->tolerance)) {
        return true;
    }
    if (!pl_grow((void **)&s->found, &s->capacity, 2 * ((int64_t)s->count + 1), sizeof *s->found)) {
        s->failed = true;
        return false;
    }

    s->found[2 * (size_t)s->count] = i;
    s->found[2 * (size_t)s->count++ + 1] = j;

    return s->count < CROSS_PAIRS_MAX;
}

// The tree over the triangles' boxes, widened by `margin` (mm); false when out of memory.
static bool cross_tree(const pl_trisurf *s, double margin, pl_bvh *bvh)
{
    double *box = PL_NEW_ARRAY(double, 6 * (size_t)s->triangle_count);
    if (!box) {
        return false;
    }

    for (int32_t t = 0; t < s->triangle_count; ++t) {
        const double *x[3];
        double *b = box + 6 * (size_t)t;
        cross_corners(s, t, x);
        for (int i = 0; i < 3; ++i) {
            b[i] = fmin(x[0][i], fmin(x[1][i], x[2][i])) - margin;
            b[3 + i] = fmax(x[0][i], fmax(x[1][i], x[2][i])) + margin;
        }
    }

    const bool ok = pl_bvh_init(bvh, s->triangle_count, box);
    pl_free(box);

    return ok;
}

static int cross_compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Sorts and drops repetitions; returns the new count.
static int32_t cross_unique(int32_t *list, int32_t count)
{
    int32_t kept = 0;
    if (count > 1) { // an empty list may have no memory
        qsort(list, (size_t)count, sizeof *list, cross_compare);
    }

    for (int32_t i = 0; i < count; ++i) {
        if (kept == 0 || list[kept - 1] != list[i]) {
            list[kept++] = list[i];
        }
    }

    return kept;
}

// The pairs of one surface's triangles that meet; the caller frees found.
static bool cross_self(const pl_trisurf *surface, cross_search *search)
{
    pl_bvh bvh = {0};
    *search = (cross_search){.a = surface, .b = surface, .tolerance = 1e-9 * pl_trisurf_size(surface)};
    search->failed = !cross_tree(surface, search->tolerance, &bvh);
    if (!search->failed) {
        pl_bvh_pairs(&bvh, &bvh, cross_visit, search);
    }
    pl_bvh_clear(&bvh);

    return !search->failed;
}

int32_t pl_trisurf_crossings(const pl_trisurf *surface, int32_t **triangle)
{
    cross_search search;
    *triangle = NULL;
    if (!cross_self(surface, &search)) {
        pl_free(search.found);
        return -1;
        // the list of pairs becomes the list of triangles
    }

    *triangle = search.found;
    return cross_unique(search.found, 2 * search.count);
}

pl_status pl_trisurf_check_self(const pl_trisurf *surface, const char *name, pl_findings *findings,
                                pl_error *err)
{
    cross_search search;
    if (cross_self(surface, &search) && search.count > 0) {
        const int32_t pairs = search.count, count = cross_unique(search.found, 2 * search.count);
        char sentence[300];
        snprintf(sentence, sizeof sentence, "surface %s: %s%d pair%s of triangles intersect or touch", name,
                 pairs == CROSS_PAIRS_MAX ? "more than " : "", (int)pairs, pairs > 1 ? "s" : "");
        pl_trisurf_report(surface, findings, search.found, count, sentence,
                          "unite overlapping shells into one closed surface (a boolean union) before export");
    }

    pl_free(search.found);
    return search.failed ? pl_fail_memory(err, "surface check") : PL_OK;
}

pl_status pl_trisurf_check_crossing(const pl_trisurf *a, const char *name_a, const pl_trisurf *b,
                                    const char *name_b, pl_findings *findings, pl_error *err)
{
    pl_status status = pl_trisurf_valid(a, name_a, err);
    if (status == PL_OK) {
        status = pl_trisurf_valid(b, name_b, err);
    }
    if (status != PL_OK || a->triangle_count == 0 || b->triangle_count == 0) {
        return status;
    }

    // pairs between the two surfaces
    pl_bvh tree_a = {0}, tree_b = {0};
    cross_search search = {.a = a, .b = b, .tolerance = 1e-9 * fmax(pl_trisurf_size(a), pl_trisurf_size(b))};
    const bool ok = cross_tree(a, search.tolerance, &tree_a) && cross_tree(b, search.tolerance, &tree_b);
    if (ok) {
        pl_bvh_pairs(&tree_a, &tree_b, cross_visit, &search);
    }
    pl_bvh_clear(&tree_a);
    pl_bvh_clear(&tree_b);

    if (search.count > 0 && !search.failed) {
        char sentence[300];
        snprintf(sentence, sizeof sentence, "surfaces %s and %s intersect (triangle %d of %s), in %s", name_a,
                 name_b, (int)search.found[1], name_b, name_a);

        // triangles of surface a only: entry 2 i of the pairs
        for (int32_t i = 0; i < search.count; ++i) {
            search.found[i] = search.found[2 * (size_t)i];
        }
        const int32_t count = cross_unique(search.found, search.count);
        pl_trisurf_report(a, findings, search.found, count, sentence,
                          "leave a gap between the parts, let them share triangles, or merge them");
    }

    pl_free(search.found);

    return !ok || search.failed ? pl_fail_memory(err, "surface check") : PL_OK;
}
