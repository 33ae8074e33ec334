// Closed triangle surfaces: welding, signed volume, inside or outside, and the checks on edges and triangles.
#include <stdio.h>
#include "mesh/mesh_impl.h"

void pl_trisurf_clear(pl_trisurf *surface)
{
    if (surface) {
        pl_free(surface->position);
        pl_free(surface->corner);
        *surface = (pl_trisurf){0};
    }
}

pl_status pl_trisurf_valid(const pl_trisurf *s, const char *name, pl_error *err)
{
    if (s->vertex_count < 0 || s->triangle_count < 0 || (s->vertex_count > 0 && !s->position) ||
        (s->triangle_count > 0 && !s->corner) || s->triangle_count > INT32_MAX / 16) {
        return pl_fail(err, PL_BAD_INPUT,
                       "surface %s: %d vertices and %d triangles, expected arrays for them", name,
                       (int)s->vertex_count, (int)s->triangle_count);
    }

    for (int64_t i = 0; i < 3 * (int64_t)s->vertex_count; ++i) {
        if (!(fabs(s->position[i]) <= 1e12)) {
            return pl_fail(err, PL_BAD_INPUT,
                           "surface %s: vertex %d: coordinate %c is %g, expected a finite number", name,
                           (int)(i / 3), "xyz"[i % 3], s -> position[i]);
        }
    }

    for (int64_t i = 0; i < 3 * (int64_t)s->triangle_count; ++i) {
        if (s->corner[i] < 0 || s->corner[i] >= s->vertex_count) {
            return pl_fail(err, PL_BAD_INPUT,
                           "surface %s: triangle %d: corner %d is vertex %d, expected 0 .. %d", name,
                           (int)(i / 3), (int)(i % 3), (int)s->corner[i], (int)s->vertex_count - 1);
        }
    }

    return PL_OK;
}

// Diagonal of the bounding box, mm.
double pl_trisurf_size(const pl_trisurf *s)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * (int64_t)s->vertex_count; ++i) {
        low[i % 3] = fmin(low[i % 3], s->position[i]);
        high[i % 3] = fmax(high[i % 3], s->position[i]);
    }

    return s->vertex_count > 0 ? pl_distance3(low, high) : 0;
}

// ---- welding

// Joins vertices within the tolerance (mm; 0: 1e-7 of the size) and drops triangles that lose a side.
pl_status pl_trisurf_weld(pl_trisurf *s, double tolerance, pl_error *err)
{
    pl_status status = pl_trisurf_valid(s, "to weld", err);
    if (status != PL_OK) {
        return status;
    }
    if (!(tolerance >= 0)) {
        return pl_fail(err, PL_BAD_INPUT, "surface to weld: tolerance is %g, expected 0 or more (mm)",
                       tolerance);
    }

    // the lowest-numbered vertex of each cluster represents it
    int32_t *same = PL_NEW_ARRAY(int32_t, s->vertex_count), *number = PL_NEW_ARRAY(int32_t, s->vertex_count);
    const double radius = tolerance > 0 ? tolerance : 1e-7 * pl_trisurf_size(s);
    if (!same || !number || pl_points_weld(s->vertex_count, s->position, radius, same) < 0) {
        pl_free(same);
        pl_free(number);
        return pl_fail_memory(err, "surface to weld");
    }

    // close the gaps: representatives move to the front, the others take their number
    int32_t vertices = 0, triangles = 0;
    for (int32_t v = 0; v < s->vertex_count; ++v) {
        if (same[v] == v) {
            memmove(s->position + 3 * (size_t)vertices, s->position + 3 * (size_t)v, 3 * sizeof *s->position);
            number[v] = vertices++;
        } else {
            number[v] = number[same[v]];
        }
    }

    // triangles with two equal corners have no area
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        int32_t c[3];
        for (int a = 0; a < 3; ++a) {
            c[a] = number[s->corner[3 * (size_t)t + (size_t)a]];
        }
        if (c[0] != c[1] && c[1] != c[2] && c[2] != c[0]) {
            memcpy(s->corner + 3 * (size_t)triangles++, c, sizeof c);
        }
    }

    s->vertex_count = vertices;
    s->triangle_count = triangles;
    pl_free(same);
    pl_free(number);

    return PL_OK;
}

// ---- volume and inside

// Sum of the tets between the triangles and the first vertex.
double pl_trisurf_volume(const pl_trisurf *s)
{
    double sum = 0;
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        double r[3][3], n[3];
        for (int a = 0; a < 3; ++a) {
            pl_sub3(s->position + 3 * (size_t)s->corner[3 * (size_t)t + (size_t)a], s->position, r[a]);
        }
        pl_cross3(r[0], r[1], n);
        sum += pl_dot3(n, r[2]);
    }

    return sum / 6;
}

// Crossings of a ray with the surface, or -1 when it grazes a triangle or runs too close to an edge to be
// counted. With u, v the sides of a triangle and r from its first corner to o: the ray meets its plane in the
// barycentric coordinates beta = r . (d x v) / det, gamma = d . (r x u) / det, at t = v . (r x u) / det, det
// = u . (d x v).
static int32_t contains_count(const pl_trisurf *s, const double o[3], const double d[3])
{
    int32_t count = 0;

    // every triangle is tested: a surface is asked about a few points only, not worth a tree
    for (int32_t i = 0; i < s->triangle_count; ++i) {
        const int32_t *c = s->corner + 3 * (size_t)i;
        const double *x = s->position + 3 * (size_t)c[0];
        double u[3], v[3], r[3], n[3], p[3], q[3];
        pl_sub3(s->position + 3 * (size_t)c[1], x, u);
        pl_sub3(s->position + 3 * (size_t)c[2], x, v);
        pl_sub3(o, x, r);
        pl_cross3(u, v, n);
        const double area = pl_norm3(n), det = -pl_dot3(n, d);
        if (!(area > 1e-14 * pl_norm3(u) * pl_norm3(v))) {
            continue; // no triangle
        }
        // the ray runs in the triangle's plane
        if (fabs(det) < 1e-9 * area) {
            return -1;
        }
        pl_cross3(d, v, p);
        pl_cross3(r, u, q);
        const double beta = pl_dot3(r, p) / det, gamma = pl_dot3(d, q) / det, t = pl_dot3(v, q) / det;
        const double inside = fmin(fmin(beta, gamma), 1 - beta - gamma);
        // on an edge: neighbours could count it twice or not at all
        if (t > 0 && inside > -1e-9 && inside < 1e-9) {
            return -1;
        }
        count += t > 0 && inside > 0;
    }

    return count;
}

// Parity of the crossings along a ray; directions that graze an edge are given up for another.
bool pl_trisurf_contains(const pl_trisurf *s, const double point[3])
{
    pl_random random;
    pl_random_seed(&random, 20);
    for (int attempt = 0; attempt < 32; ++attempt) {
        double d[3];
        for (int i = 0; i < 3; ++i) {
            d[i] = pl_random_uniform(&random, -1, 1);
        }
        const double length = pl_norm3(d);
        for (int i = 0; i < 3; ++i) {
            d[i] /= length > 0 ? length : 1;
        }
        const int32_t count = contains_count(s, point, d);
        if (count >= 0) {
            return count % 2 == 1;
        }
    }

    return false; // on the surface itself: every ray grazes it
}

// ---- checks on triangles and edges

// `sentence` without the numbers; the place is the centroid of the first triangle.
void pl_trisurf_report(const pl_trisurf *s, pl_findings *findings, const int32_t *triangle, int32_t count,
                       const char *sentence, const char *advice)
{
    char list[160] = "";
    size_t length = 0;

    for (int32_t i = 0; i < count && i < 8; ++i) {
        length += (size_t)snprintf(list + length, sizeof list - length, " %d", (int)triangle[i]);
    }

    // centroid of the first triangle
    double place[3] = {0};
    for (int a = 0; a < 9; ++a) {
        place[a % 3] +=
            s->position[3 * (size_t)s->corner[3 * (size_t)triangle[0] + (size_t)a / 3] + (size_t)a % 3] / 3;
    }

    pl_findings_add(findings, PL_DEFECT, NULL, 0, "%s: triangle%s%s%s, near (%.6g, %.6g, %.6g)", sentence,
                    count > 1 ? "s" : "", list, count > 8 ? " ..." : "", place[0], place[1], place[2]);
    pl_findings_advise(findings, "%s", advice);
    pl_findings_place(findings, place, triangle, count);
}

// Uses of an edge by direction: a closed, oriented surface has one of each.
typedef struct surface_edge {
    int32_t forward, backward; // uses from the lower to the higher vertex and back
    int32_t last;              // a triangle that uses it
} surface_edge;

// What the checks of one surface share.
typedef struct surface_work {
    const pl_trisurf *surface;
    const char *name;
    pl_findings *findings;
    int32_t *list; // triangles of one defect
    pl_table table;
    surface_edge *edge;
} surface_work;

// `one` for a single triangle or edge, `many` for more.
static void surface_note(const surface_work *w, int32_t count, const char *one, const char *many,
                         const char *advice)
{
    if (count > 0) {
        char sentence[300];
        snprintf(sentence, sizeof sentence, "surface %s: %d %s", w->name, (int)count,
                 count == 1 ? one : many);
        pl_trisurf_report(w->surface, w->findings, w->list, count, sentence, advice);
    }
}

// Twice the area against the longest side: a height below 1e-9 of the side is no triangle.
static bool surface_is_flat(const pl_trisurf *s, int32_t t)
{
    const int32_t *c = s->corner + 3 * (size_t)t;
    double u[3], v[3], e[3], n[3];

    pl_sub3(s->position + 3 * (size_t)c[1], s->position + 3 * (size_t)c[0], u);
    pl_sub3(s->position + 3 * (size_t)c[2], s->position + 3 * (size_t)c[0], v);
    pl_sub3(v, u, e);
    pl_cross3(u, v, n);
    const double longest = fmax(pl_dot3(u, u), fmax(pl_dot3(v, v), pl_dot3(e, e)));

    return c[0] == c[1] || c[1] == c[2] || c[2] == c[0] || !(pl_norm3(n) > 1e-9 * longest);
}

// Triangles without area and triangles given twice.
static void surface_check_triangles(surface_work *w)
{
    const pl_trisurf *s = w->surface;
    int32_t n = 0;

    for (int32_t t = 0; t < s->triangle_count; ++t) {
        if (surface_is_flat(s, t)) {
            w->list[n++] = t;
        }
    }

    surface_note(w, n, "triangle has no area (degenerate)", "triangles have no area (degenerate)",
                 "remove needles and slivers in the CAD program");

    // sorted corners that are in the table already
    n = 0;
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        int32_t key[3];
        memcpy(key, s->corner + 3 * (size_t)t, sizeof key);
        pl_sort_small(key, 3);
        const int32_t before = w->table.count;
        if (pl_table_add(&w->table, key) < before) {
            w->list[n++] = t;
        }
    }

    surface_note(w, n, "triangle is given twice (duplicate)", "triangles are given twice (duplicate)",
                 "keep one copy of each triangle; two shells may coincide");
}

// All edges with their uses.
static void surface_collect_edges(surface_work *w)
{
    const pl_trisurf *s = w->surface;
    for (int32_t t = 0; t < s->triangle_count; ++t) {
        for (int a = 0; a < 3; ++a) {
            const int32_t from = s->corner[3 * (size_t)t + (size_t)a];
            const int32_t to = s->corner[3 * (size_t)t + (size_t)(a + 1) % 3];
            int32_t key[2] = {from, to};
            if (from == to) {
                continue;
            }
            pl_sort_small(key, 2);
            surface_edge *e = w->edge + pl_table_add(&w->table, key);
            e->forward += from < to;
            e->backward += from > to;
            e->last = t;
        }
    }
}

// Open, crowded and wrongly oriented edges, each as one finding.
static void surface_check_edges(surface_work *w)
{
    surface_collect_edges(w);

    // one triangle: a hole
    int32_t open = 0, crowded = 0, turned = 0;
    for (int32_t i = 0; i < w->table.count; ++i) {
        if (w->edge[i].forward + w->edge[i].backward == 1) {
            w->list[open++] = w->edge[i].last;
        }
    }

    surface_note(w, open, "edge belongs to one triangle only (the surface is open)",
                 "edges belong to one triangle only (the surface is open)",
                 "close the holes in the CAD program; weld vertices that should be one");

    // three or more: no inside and outside there
    for (int32_t i = 0; i < w->table.count; ++i) {
        if (w->edge[i].forward + w->edge[i].backward > 2) {
            w->list[crowded++] = w->edge[i].last;
        }
    }

    surface_note(w, crowded, "edge belongs to more than two triangles",
                 "edges belong to more than two triangles",
                 "separate the shells that meet there, or remove internal walls");

    // two triangles that run along the edge in the same direction
    for (int32_t i = 0; i < w->table.count; ++i) {
        const surface_edge *e = &w->edge[i];
        if (e->forward + e->backward == 2 && e->forward != 1) {
            w->list[turned++] = e->last;
        }
    }

    surface_note(w, turned, "edge connects triangles of opposite orientation",
                 "edges connect triangles of opposite orientation", "make all normals point outwards");
}

pl_status pl_trisurf_check(const pl_trisurf *surface, const char *name, pl_findings *findings, pl_error *err)
{
    pl_status status = pl_trisurf_valid(surface, name, err);
    if (status != PL_OK) {
        return status;
    }
    if (surface->triangle_count == 0) {
        pl_findings_add(findings, PL_DEFECT, NULL, 0, "surface %s: it has no triangles", name);
        return PL_OK;
    }

    // one table serves twice, first for triangles and then for edges
    surface_work w = {.surface = surface, .name = name, .findings = findings};
    const int64_t edges = 3 * (int64_t)surface->triangle_count;
    w.list = PL_NEW_ARRAY(int32_t, edges);
    w.edge = PL_NEW_ARRAY(surface_edge, edges);
    if (!w.list || !w.edge || !pl_table_init(&w.table, 3, surface->triangle_count)) {
        status = pl_fail_memory(err, "surface check");
    } else {
        surface_check_triangles(&w);
        pl_table_clear(&w.table);
        if (!pl_table_init(&w.table, 2, edges)) {
            status = pl_fail_memory(err, "surface check");
        } else {
            surface_check_edges(&w);
        }
    }

    pl_free(w.list);
    pl_free(w.edge);
    pl_table_clear(&w.table);

    return status == PL_OK ? pl_trisurf_check_self(surface, name, findings, err) : status;
}
