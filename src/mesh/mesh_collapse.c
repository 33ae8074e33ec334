// Flat tetrahedra with an edge far shorter than their others, as details below the size of the elements leave
// them (a step of 2e-6 mm between elements of 3 mm): the edge is collapsed, so that they vanish.
//
// Vertex a goes to b along an edge ab of a flat tet when
//   - the link condition holds (Dey, Edelsbrunner, Guha, Nekhayev 1999): what neighbours both a and b
//     neighbours the edge, so that the body keeps its topology;
//   - b lies in every region that a lies in, and on the boundary, along the edge, if a does: neither boundary
//     nor interfaces move by more than the edge;
// a thin plate, all of whose tets are flat, stays.
#include "base/vec.h"
#include "mesh/mesh_impl.h"

#define COLLAPSE_FLAT 0.1   // quality, as reported by pl_mesh_examine
#define COLLAPSE_SHORT 0.02 // of the longest edge of the tet: details below the resolution of the mesh
#define COLLAPSE_VOLUME 0.1 // of the tets around a vertex: change that is a detail
#define COLLAPSE_STAR 512   // tets around a vertex
#define COLLAPSE_PASSES 8   // a collapse can make its neighbours collapsible

typedef struct collapse_work {
    const double *position;
    pl_tets *tets;       // nodes, kinds and surfaces, rewritten at the end
    int64_t count;       // elements
    int32_t *corner;     // 4 per element; -1: gone
    int32_t *head;       // per vertex: first of its corners 4 e + i; -1: none
    int32_t *next;       // per corner
    int32_t *moved_to;   // per vertex: itself, or the vertex it was moved to
    double *quality;     // per element
    double longest_move; // mm
} collapse_work;

// Tets around a vertex; -1: too many.
static int collapse_star(const collapse_work *w, int32_t v, int32_t star[COLLAPSE_STAR])
{
    int count = 0;
    for (int32_t c = w->head[v]; c >= 0; c = w->next[c]) {
        if (w->corner[c] >= 0) {
            if (count == COLLAPSE_STAR) {
                return -1;
            }
            star[count++] = c / 4;
        }
    }

    return count;
}

static bool collapse_has(const collapse_work *w, int32_t e, int32_t v)
{
    const int32_t *c = w->corner + 4 * (int64_t)e;
    return c[0] == v || c[1] == v || c[2] == v || c[3] == v;
}

// Tets of a star that have both vertices (the second may be -1).
static int collapse_count(const collapse_work *w, const int32_t *star, int count, int32_t c, int32_t d)
{
    int found = 0;
    for (int i = 0; i < count; ++i) {
        found += collapse_has(w, star[i], c) && (d < 0 || collapse_has(w, star[i], d));
    }
    return found;
}

// Whether a face of a tet of the star of v, with v and without `opposite`, is one of the boundary.
static bool collapse_outer(const collapse_work *w, const int32_t *star, int count, int32_t v, int32_t e,
                           int32_t opposite)
{
    // the face has v and the two remaining corners; one tet of the star has them if it is on the boundary
    int32_t other[2], n = 0;
    for (int i = 0; i < 4; ++i) {
        const int32_t c = w->corner[4 * (int64_t)e + i];
        if (c != v && c != opposite) {
            other[n++] = c;
        }
    }

    return collapse_count(w, star, count, other[0], other[1]) == 1;
}

// Whether a vertex (with b < 0), or the edge vb, is on the boundary.
static bool collapse_on_boundary(const collapse_work *w, const int32_t *star, int count, int32_t v, int32_t b)
{
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 4; ++k) {
            const int32_t opposite = w->corner[4 * (int64_t)star[i] + k];
            if (opposite != v && opposite != b && (b < 0 || collapse_has(w, star[i], b)) &&
                collapse_outer(w, star, count, v, star[i], opposite)) {
                return true;
            }
        }
    }

    return false;
}

// A tet of a that has not b: its vertices and edges next to b must be next to the edge ab, its face not at
// all.
static bool collapse_link_tet(const collapse_work *w, int32_t e, int32_t a, const int32_t *star_a,
                              int count_a, int32_t b, const int32_t *star_b, int count_b)
{
    // the face opposite of a
    int32_t other[3], n = 0;
    for (int k = 0; k < 4; ++k) {
        const int32_t c = w->corner[4 * (int64_t)e + k];
        if (c != a) {
            other[n++] = c;
        }
    }

    // link of a and link of b may share only what is in the link of ab
    for (int k = 0; k < 3; ++k) {
        const int32_t c = other[k], d = other[(k + 1) % 3];
        bool joined = false;
        for (int i = 0; i < count_a; ++i) {
            joined = joined || (collapse_has(w, star_a[i], b) && collapse_has(w, star_a[i], c) &&
                                collapse_has(w, star_a[i], d));
        }

        if ((collapse_count(w, star_b, count_b, c, -1) > 0 &&
             collapse_count(w, star_a, count_a, b, c) == 0) ||
            (collapse_count(w, star_b, count_b, c, d) > 0 && !joined)) {
            return false;
        }
    }

    // a face common to both links would become doubly covered
    for (int i = 0; i < count_b; ++i) {
        if (collapse_has(w, star_b[i], other[0]) && collapse_has(w, star_b[i], other[1]) &&
            collapse_has(w, star_b[i], other[2])) {
            return false;
        }
    }

    return true;
}

// A tet of the edge ab with c and d: faces and edges of the boundary that would fall together.
static bool collapse_link_edge(const collapse_work *w, int32_t e, int32_t a, const int32_t *star_a,
                               int count_a, int32_t b, const int32_t *star_b, int count_b)
{
    // both faces of the tet that merge would be boundary faces: the tet would leave a free sheet
    if (collapse_outer(w, star_a, count_a, a, e, b) && collapse_outer(w, star_b, count_b, b, e, a)) {
        return false;
    }

    for (int k = 0; k < 4; ++k) {
        const int32_t c = w->corner[4 * (int64_t)e + k];
        if (c != a && c != b && collapse_count(w, star_a, count_a, b, c) != 1 &&
            collapse_on_boundary(w, star_a, count_a, a, c) &&
            collapse_on_boundary(w, star_b, count_b, b, c)) {
            return false;
        }
    }

    return true;
}

// The link condition for the edge ab: true when collapsing it keeps the topology.
static bool collapse_link(const collapse_work *w, int32_t a, const int32_t *star_a, int count_a, int32_t b,
                          const int32_t *star_b, int count_b)
{
    bool good = true;
    for (int i = 0; good && i < count_a; ++i) {
        good = collapse_has(w, star_a[i], b)
                   ? collapse_link_edge(w, star_a[i], a, star_a, count_a, b, star_b, count_b)
                   : collapse_link_tet(w, star_a[i], a, star_a, count_a, b, star_b, count_b);
    }

    return good;
}

// Whether b lies in every region of a, so that no interface between materials moves.
static bool collapse_regions(const collapse_work *w, const int32_t *star_a, int count_a,
                             const int32_t *star_b, int count_b)
{
    for (int i = 0; i < count_a; ++i) {
        bool found = false;
        for (int k = 0; k < count_b; ++k) {
            found = found || w->tets->region[star_b[k]] == w->tets->region[star_a[i]];
        }
        if (!found) {
            return false;
        }
    }

    return true;
}

// The worst quality around a when it stands at b, without the tets of the edge ab; -1 where the volume
// changes.
static double collapse_worst(const collapse_work *w, const int32_t *star, int count, int32_t a, int32_t b)
{
    double worst = INFINITY, before = 0, after = 0;

    // each tet, as it is and with a moved to b
    for (int i = 0; i < count; ++i) {
        double x[12];
        for (int k = 0; k < 4; ++k) {
            memcpy(x + 3 * k, w->position + 3 * (int64_t)w->corner[4 * (int64_t)star[i] + k], 3 * sizeof *x);
        }
        before += pl_element_volume(PL_TET4, x);

        for (int k = 0; k < 4; ++k) {
            if (w->corner[4 * (int64_t)star[i] + k] == a) {
                memcpy(x + 3 * k, w->position + 3 * (int64_t)b, 3 * sizeof *x);
            }
        }

        // tets of the edge itself vanish and have no quality
        if (!collapse_has(w, star[i], b)) {
            after += pl_element_volume(PL_TET4, x);
            worst = fmin(worst, mesh_quality_tet(x, x + 3, x + 6, x + 9));
        }
    }

    return fabs(after - before) < COLLAPSE_VOLUME * before ? worst : -1;
}

// Collapses a into b if all conditions hold; false otherwise, and nothing has changed.
static bool collapse_try(collapse_work *w, int32_t a, int32_t b)
{
    // tets around both ends
    int32_t star_a[COLLAPSE_STAR], star_b[COLLAPSE_STAR];
    const int count_a = collapse_star(w, a, star_a), count_b = collapse_star(w, b, star_b);

    if (count_a <= 0 || count_b <= 0) {
        return false;
    }

    // quality to beat: the worst tet around a
    double before = INFINITY;
    for (int i = 0; i < count_a; ++i) {
        before = fmin(before, w->quality[star_a[i]]);
    }

    // cheap conditions first
    if ((collapse_on_boundary(w, star_a, count_a, a, -1) &&
         !collapse_on_boundary(w, star_a, count_a, a, b)) ||
        !collapse_regions(w, star_a, count_a, star_b, count_b) ||
        !collapse_link(w, a, star_a, count_a, b, star_b, count_b) ||
        !(collapse_worst(w, star_a, count_a, a, b) > fmax(before, 0))) {
        return false;
    }

    // tets of the edge vanish, the others around a get b
    w->longest_move =
        fmax(w->longest_move, pl_distance3(w->position + 3 * (int64_t)a, w->position + 3 * (int64_t)b));
    w->moved_to[a] = b;

    for (int i = 0; i < count_a; ++i) {
        int32_t *c = w->corner + 4 * (int64_t)star_a[i];
        if (collapse_has(w, star_a[i], b)) {
            c[0] = c[1] = c[2] = c[3] = -1;
            continue;
        }

        const double *x[4];
        for (int k = 0; k < 4; ++k) {
            c[k] = c[k] == a ? b : c[k];
            x[k] = w->position + 3 * (int64_t)c[k];
        }

        w->quality[star_a[i]] = mesh_quality_tet(x[0], x[1], x[2], x[3]);
    }

    // append the list of a's corners to that of b
    int32_t last = w->head[a];
    while (w->next[last] >= 0) {
        last = w->next[last];
    }
    w->next[last] = w->head[b];
    w->head[b] = w->head[a];
    w->head[a] = -1;

    return true;
}

// Collapses the shortest edge of a flat tet that can be.
static bool collapse_tet(collapse_work *w, int32_t e)
{
    static const int8_t end[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

    // edge lengths of the tet
    const int32_t *c = w->corner + 4 * (int64_t)e;
    double length[6], longest = 0;

    for (int k = 0; k < 6; ++k) {
        length[k] =
            pl_distance3(w->position + 3 * (int64_t)c[end[k][0]], w->position + 3 * (int64_t)c[end[k][1]]);
        longest = fmax(longest, length[k]);
    }

    // from the shortest edge on, in either direction
    for (int tried = 0; tried < 6; ++tried) {
        int shortest = 0;
        for (int k = 1; k < 6; ++k) {
            shortest = length[k] < length[shortest] ? k : shortest;
        }
        if (!(length[shortest] < COLLAPSE_SHORT * longest)) {
            return false;
        }
        const int32_t a = c[end[shortest][0]], b = c[end[shortest][1]];
        if (collapse_try(w, a, b) || collapse_try(w, b, a)) {
            return true;
        }
        // exclude it and take the next one
        length[shortest] = INFINITY;
    }

    return false;
}

// Where a vertex ended after all moves: the chain of moved_to followed to its end.
static int32_t collapse_final(const collapse_work *w, int32_t v)
{
    while (w->moved_to[v] != v) {
        v = w->moved_to[v];
    }
    return v;
}

// Mid nodes of the edges that are left: that of an edge neither of whose ends has moved, otherwise any.
static bool collapse_mids(const collapse_work *w, pl_table *edge, int32_t **mid)
{
    const pl_tets *t = w->tets;
    *mid = PL_NEW_ARRAY(int32_t, 6 * w->count);
    if (!*mid || !pl_table_init(edge, 2, 6 * w->count)) {
        return false;
    }

    // first pass: edges that have not moved keep their own mid node; second pass: the others
    for (int moved = 0; moved < 2; ++moved) {
        for (int64_t e = 0; e < w->count; ++e) {
            const int32_t *node = t->node + t->node_start[e];

            for (int k = 0; t->kind[e] == PL_TET10 && k < 6; ++k) {
                int end[3];
                pl_element_edge_nodes(PL_TET10, k, end);
                const int32_t a = node[end[0]], b = node[end[1]], p = collapse_final(w, a),
                              q = collapse_final(w, b), key[2] = {p < q ? p : q, p < q ? q : p};
                if (p != q && (moved || (p == a && q == b))) {
                    const int32_t before = edge->count, n = pl_table_add(edge, key);
                    (*mid)[n] = n == before ? node[end[2]] : (*mid)[n];
                }
            }
        }
    }

    return true;
}

// Writes what is left back into the arrays.
static void collapse_compact(const collapse_work *w, const pl_table *edge, const int32_t *mid)
{
    pl_tets *t = w->tets;
    int64_t at = 0, kept = 0, face = 0;

    for (int64_t e = 0; e < w->count; ++e) {
        const int32_t *c = w->corner + 4 * e;
        const int n = (int)(t->node_start[e + 1] - t->node_start[e]);
        if (c[0] < 0) {
            continue;
        }
        // the entries written lie before those read
        t->kind[kept] = t->kind[e];
        t->region[kept] = t->region[e];
        memcpy(t->node + at, c, 4 * sizeof *c);

        for (int k = 0; n == 10 && k < 6; ++k) {
            int end[3];
            pl_element_edge_nodes(PL_TET10, k, end);
            const int32_t a = c[end[0]], b = c[end[1]], key[2] = {a < b ? a : b, a < b ? b : a};
            t->node[at + end[2]] = mid[pl_table_find(edge, key)];
        }

        at += n;
        t->element_count = (int32_t)++kept;
    }

    // all elements are of one order (see pl_tets_collapse), so the starts are multiples of their node count
    const int step = t->kind[0] == PL_TET10 ? 10 : 4;
    for (int64_t e = 0; e <= kept; ++e) {
        t->node_start[e] = step * e;
    }

    // faces of surfaces: those that collapsed to an edge are dropped
    for (int32_t s = 0; s < t->surface_count; ++s) {
        const int64_t first = face;
        for (int64_t f = t->surface_start[s]; f < t->surface_start[s + 1]; ++f) {
            int32_t *to = t->surface_corner + 4 * face;
            const int32_t *from = t->surface_corner + 4 * f;
            const int32_t c[3] = {collapse_final(w, from[0]), collapse_final(w, from[1]),
                                  collapse_final(w, from[2])};
            if (c[0] != c[1] && c[1] != c[2] && c[0] != c[2]) {
                to[0] = c[0], to[1] = c[1], to[2] = c[2], to[3] = -1;
                ++face;
            }
        }

        t->surface_start[s] = first;
    }

    if (t->surface_count > 0) {
        t->surface_start[t->surface_count] = face;
    }
}

// Corners, their lists per vertex, and qualities; false when out of memory.
static bool collapse_init(collapse_work *w, int32_t vertex_count)
{
    const pl_tets *t = w->tets;
    w->corner = PL_NEW_ARRAY(int32_t, 4 * w->count);
    w->next = PL_NEW_ARRAY(int32_t, 4 * w->count);
    w->head = PL_NEW_ARRAY(int32_t, vertex_count);
    w->moved_to = PL_NEW_ARRAY(int32_t, vertex_count);
    w->quality = PL_NEW_ARRAY(double, w->count);
    if (!w->corner || !w->next || !w->head || !w->moved_to || !w->quality) {
        return false;
    }
    for (int32_t v = 0; v < vertex_count; ++v) {
        w->head[v] = -1;
        w->moved_to[v] = v;
    }

    // insert each corner at the head of its vertex's list
    for (int64_t e = 0; e < w->count; ++e) {
        const double *x[4];
        for (int k = 0; k < 4; ++k) {
            const int64_t c = 4 * e + k;
            const int32_t v = t->node[t->node_start[e] + k];
            w->corner[c] = v;
            w->next[c] = w->head[v];
            w->head[v] = (int32_t)c;
            x[k] = w->position + 3 * (int64_t)v;
        }

        w->quality[e] = mesh_quality_tet(x[0], x[1], x[2], x[3]);
    }

    return true;
}

pl_status pl_tets_collapse(pl_tets *tets, int32_t vertex_count, const double *position, int *collapsed,
                           double *longest, pl_error *err)
{
    collapse_work w = {.position = position, .tets = tets, .count = tets->element_count};
    pl_table edge = {0};
    int32_t *mid = NULL;

    // other meshes, and those with more corners than indices, are left as they are
    *collapsed = 0;
    *longest = 0;
    for (int64_t e = 0; e < w.count; ++e) {
        if (tets->kind[e] != tets->kind[0] || !pl_element_is_tet(tets->kind[e])) {
            return PL_OK;
        }
    }

    if (w.count > INT32_MAX / 4) {
        return PL_OK;
    }

    // passes over the flat tets until none can be collapsed
    bool good = collapse_init(&w, vertex_count);
    for (int pass = 0, before = -1; good && pass < COLLAPSE_PASSES && *collapsed != before; ++pass) {
        before = *collapsed;

        for (int32_t e = 0; e < w.count; ++e) {
            if (w.corner[4 * (int64_t)e] >= 0 && w.quality[e] < COLLAPSE_FLAT) {
                *collapsed += collapse_tet(&w, e);
            }
        }
    }

    // renumber and write back only if something changed
    if (good && *collapsed > 0) {
        good = collapse_mids(&w, &edge, &mid);
        if (good) {
            collapse_compact(&w, &edge, mid);
            *longest = w.longest_move;
        }
    }

    pl_table_clear(&edge);
    pl_free(mid);
    pl_free(w.corner);
    pl_free(w.next);
    pl_free(w.head);
    pl_free(w.moved_to);
    pl_free(w.quality);

    return good ? PL_OK : pl_fail_memory(err, "mesh: flat elements");
}
