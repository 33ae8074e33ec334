// Even triangles on the part's surface. Gmsh meshes a surface through a parametrisation, which fails on the
// long thin triangles of extruded and turned bodies; here the triangles themselves are changed, step by step,
// and every new point is put back onto the surface as it was given:
//   edges longer than 4/3 of the size are split, those shorter than 4/5 collapsed, edges are flipped towards
//   Delaunay, and vertices move to the middle of their neighbours.
// (Botsch and Kobbelt, A remeshing approach to multiresolution modeling, 2004.) Feature edges (sharp, or
// between different cells) stay: they are split and collapsed along themselves only, and their ends are
// fixed. Each round walks over a list of edges made at its start and leaves alone what the round has touched
// already.
#include <stdlib.h>
#include "meshing/meshing_part.h"

#define REMESH_ROUNDS_MAX 40 // an edge is halved once in a round
#define REMESH_POLISH 6      // rounds after the last one that split much

// beyond it the size does not fit the part; the caller sees the number of triangles
#define REMESH_TRIANGLES_MAX 4000000
#define REMESH_NEEDLE 1e-5 // height of a triangle without a direction, of the part's length
#define REMESH_GAP 0.1     // how far a flip may move the surface, of the size
#define REMESH_OFF 0.2     // how far a triangle may be from the part, of the size
#define REMESH_WALL 0.15   // the same, of the thinnest wall
#define REMESH_SHORT 0.01  // edges of a file that are merged, of the size
#define REMESH_FLIPS 8     // passes
#define REMESH_FLAT 1e-3   // least height of a triangle a flip may make, of the new edge
#define REMESH_TURN 0.7    // least cosine between normals before and after a flip

// free: moves on its patch; feature: along its line; corner: stays
typedef enum vertex_kind { VERTEX_FREE, VERTEX_FEATURE, VERTEX_CORNER } vertex_kind;

typedef struct remesh_tri {
    int32_t v[3];   // v[0] < 0: gone
    bool sharp[3];  // edge k, from v[k] to v[k + 1], is a feature
    int32_t origin; // triangle of the cells that says what lies on its sides
    int32_t patch;  // of the part
} remesh_tri;

typedef struct remesh_edge {
    int32_t a, b;         // vertices, a < b
    int32_t first;        // uses of the edge, 3 t + k, chained by next[]
    double length, ratio; // ratio: of the length and the size
} remesh_edge;

// What the steps share. Arrays grow; those of a round are made again by remesh_round.
typedef struct remesh {
    const part_shape *part;
    const cells *c;
    const size_field *field;
    double near;                             // mm, the part of the thinnest wall a triangle may be away
    bool polish;                             // most edges are of the right length already
    bool exact;                              // splits and flips only, within the triangles given
    double *x;                               // mm, 3 per vertex
    uint8_t *kind;                           // vertex_kind of each
    int32_t vertex_count, x_room, kind_room; // rooms: capacities
    remesh_tri *tri;
    int32_t tri_count, tri_room;
    // of a round
    pl_table table;
    remesh_edge *edge;
    int32_t edge_count;      // at its start; flips add keys to the table
    int32_t *next;           // per use
    int32_t *start, *around; // triangles around each vertex
    uint8_t *touched;        // per triangle
} remesh;

// Position of vertex v, valid until the next vertex is added.
static const double *remesh_at(const remesh *r, int32_t v)
{
    return r->x + 3 * (int64_t)v;
}

// Normal times twice the area.
static void remesh_normal(const double *a, const double *b, const double *c, double n[3])
{
    double u[3], v[3];
    pl_sub3(b, a, u);
    pl_sub3(c, a, v);
    pl_cross3(u, v, n);
}

static void remesh_round_clear(remesh *r)
{
    pl_table_clear(&r->table);
    void **block[] = {(void **)&r->edge, (void **)&r->next, (void **)&r->start, (void **)&r->around,
                      (void **)&r->touched};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(*block[i]);
        *block[i] = NULL;
    }
}

static void remesh_clear(remesh *r)
{
    remesh_round_clear(r);
    pl_free(r->x);
    pl_free(r->kind);
    pl_free(r->tri);
}

// Longest first; equal ones by vertices, so that the order does not depend on qsort.
static int remesh_compare(const void *a, const void *b)
{
    const remesh_edge *p = a, *q = b;
    if (p->length != q->length) {
        return p->length < q->length ? 1 : -1;
    }
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

// The size wanted along an edge: in its middle, or the least of five places where it is much longer.
static double remesh_size(const remesh *r, const remesh_edge *e)
{
    static const double at[] = {0.5, 0.25, 0.75, 0.1, 0.9};
    double least = INFINITY;

    for (int k = 0; k < PL_COUNT(at) && (k == 0 || e->length > 2 * least); ++k) {
        double x[3];
        for (int i = 0; i < 3; ++i) {
            x[i] = remesh_at(r, e->a)[i] * (1 - at[k]) + remesh_at(r, e->b)[i] * at[k];
        }
        least = fmin(least, size_field_at(r->field, x));
    }

    return least;
}

// Takes gone triangles out and lists edges, longest first, and the triangles around vertices.
static bool remesh_round(remesh *r)
{
    remesh_round_clear(r);

    // triangles that remain, in their order
    int32_t kept = 0;
    for (int32_t t = 0; t < r->tri_count; ++t) {
        if (r->tri[t].v[0] >= 0) {
            r->tri[kept++] = r->tri[t];
        }
    }

    r->tri_count = kept;
    const int64_t uses = 3 * (int64_t)kept;
    r->edge = PL_NEW_ARRAY(remesh_edge, uses);
    r->next = PL_NEW_ARRAY(int32_t, uses);
    r->start = PL_NEW_ARRAY(int32_t, r->vertex_count + 2);
    r->around = PL_NEW_ARRAY(int32_t, uses);
    r->touched = PL_NEW_ARRAY(uint8_t, 2 * uses);
    if (!r->edge || !r->next || !r->start || !r->around || !r->touched ||
        !pl_table_init(&r->table, 2, uses)) {
        return false;
    }

    // edges by their sorted vertices, uses chained
    for (int32_t u = 0; u < uses; ++u) {
        const remesh_tri *t = &r->tri[u / 3];
        int32_t key[2] = {t->v[u % 3], t->v[(u + 1) % 3]};
        ++r->start[t->v[u % 3] + 2];
        pl_sort_small(key, 2);
        const int32_t before = r->table.count, at = pl_table_add(&r->table, key);
        r->next[u] = at == before ? -1 : r->edge[at].first;
        r->edge[at].first = u;

        if (at == before) {
            r->edge[at].a = key[0];
            r->edge[at].b = key[1];
            r->edge[at].length = pl_distance3(remesh_at(r, key[0]), remesh_at(r, key[1]));
            r->edge[at].ratio = r->edge[at].length / remesh_size(r, &r->edge[at]);
        }
    }

    // triangles around vertices: counts, shifted by two so that filling turns them into starts
    for (int32_t v = 0; v < r->vertex_count; ++v) {
        r->start[v + 2] += r->start[v + 1];
    }
    for (int32_t u = 0; u < uses; ++u) {
        r->around[r->start[r->tri[u / 3].v[u % 3] + 1]++] = u / 3;
    }
    r->edge_count = r->table.count;
    qsort(r->edge, (size_t)r->edge_count, sizeof *r->edge, remesh_compare);

    return true;
}

// Puts a point onto the features between two patches, or onto one patch; false when that is far away.
static bool remesh_project(const remesh *r, const int32_t side[2], double reach, double x[3])
{
    const part_shape *p = r->part;
    double to[3];
    const double away = side[0] != side[1]
                            ? part_nearest_feature(p, side[0] < 0 ? NULL : side, x, to)
                            : pl_trisurf_tree_nearest_of(&p->walls_tree, p->patch, side[0], x, to);

    if (!(away <= reach)) {
        return false;
    }
    memcpy(x, to, sizeof to);

    return true;
}

// The patches beside a feature edge, in rising order; -1 and another number when they are not two.
static void remesh_sides(const remesh *r, const remesh_edge *e, int32_t side[2])
{
    const int32_t u = e->first, w = r->next[u];
    side[0] = w < 0 || r->next[w] >= 0 ? -1 : r->tri[u / 3].patch;
    side[1] = side[0] < 0 ? 0 : r->tri[w / 3].patch;
    side[0] = side[0] == side[1] ? -1 : side[0];
    pl_sort_small(side, 2);
}

// Whether the middle of a triangle is far from its patch.
static bool remesh_off(const remesh *r, const double *const x[3], int32_t patch)
{
    double middle[3], nearest[3];
    for (int i = 0; i < 3; ++i) {
        middle[i] = (x[0][i] + x[1][i] + x[2][i]) / 3;
    }
    return pl_trisurf_tree_nearest_of(&r->part->walls_tree, r->part->patch, patch, middle, nearest) >
           fmin(REMESH_OFF * size_field_at(r->field, middle), r->near);
}

// ---- flipping
// Angle at `apex`, rad; from both sine and cosine, so that it is accurate near 0 and pi.
static double remesh_angle(const double *apex, const double *a, const double *b)
{
    double u[3], v[3], n[3];
    pl_sub3(a, apex, u);
    pl_sub3(b, apex, v);
    pl_cross3(u, v, n);
    return atan2(pl_norm3(n), pl_dot3(u, v));
}

// The two triangles on an edge, from a to b in the first, with the corners c and d opposite to it.
typedef struct remesh_quad {
    remesh_tri *s, *t;
    int j, k; // the edge in s and t
    int32_t a, b, c, d;
} remesh_quad;

// False when the edge cannot be flipped: it has not two triangles of one orientation, one of them has changed
// already, or c and d are joined.
static bool remesh_quad_of(remesh *r, const remesh_edge *e, remesh_quad *q)
{
    const int32_t u = e->first, w = r->next[u];
    if (w < 0 || r->next[w] >= 0 || r->touched[u / 3] || r->touched[w / 3]) {
        return false;
    }
    *q = (remesh_quad){.s = &r->tri[u / 3], .t = &r->tri[w / 3], .j = u % 3, .k = w % 3};
    q->a = q->s->v[q->j];
    q->b = q->s->v[(q->j + 1) % 3];
    q->c = q->s->v[(q->j + 2) % 3];
    q->d = q->t->v[(q->k + 2) % 3];
    int32_t key[2] = {q->c, q->d};
    pl_sort_small(key, 2);

    return q->c != q->d && q->t->v[q->k] == q->b && pl_table_find(&r->table, key) < 0;
}

// (a b c) + (b a d) become (a d c) + (d b c).
static void remesh_turn(remesh *r, const remesh_quad *q, const remesh_tri *like)
{
    const int32_t origin = like->origin, patch = like->patch;
    const bool bc = q->s->sharp[(q->j + 1) % 3], ca = q->s->sharp[(q->j + 2) % 3],
               ad = q->t->sharp[(q->k + 1) % 3], db = q->t->sharp[(q->k + 2) % 3];
    int32_t key[2] = {q->c, q->d};

    pl_sort_small(key, 2);
    pl_table_add(&r->table, key); // no other flip may make the same edge
    r->touched[q->s - r->tri] = r->touched[q->t - r->tri] = 1;
    *q->s = (remesh_tri){{q->a, q->d, q->c}, {ad, false, ca}, origin, patch};
    *q->t = (remesh_tri){{q->d, q->b, q->c}, {db, bc, false}, origin, patch};
}

// How far apart the edges a b and c d pass: what a flip moves the surface by.
static double remesh_gap(const double *A, const double *B, const double *C, const double *D)
{
    double u[3], v[3], w[3], n[3];
    pl_sub3(B, A, u);
    pl_sub3(D, C, v);
    pl_sub3(C, A, w);
    pl_cross3(u, v, n);
    return fabs(pl_dot3(w, n)) / fmax(pl_norm3(n), 1e-300);
}

// Flips edges whose opposite angles sum to more than pi (not Delaunay), where that neither turns a triangle
// over nor moves the surface by more than the tolerances. Returns how many.
static int32_t remesh_flip(remesh *r)
{
    int32_t flipped = 0;
    for (int32_t i = 0; i < r->edge_count; ++i) {
        remesh_quad q;
        if (r->tri[r->edge[i].first / 3].sharp[r->edge[i].first % 3] || !remesh_quad_of(r, &r->edge[i], &q)) {
            continue;
        }
        const double *A = remesh_at(r, q.a), *B = remesh_at(r, q.b), *C = remesh_at(r, q.c),
                     *D = remesh_at(r, q.d);
        if (remesh_angle(C, A, B) + remesh_angle(D, A, B) < PL_PI + 1e-6) {
            continue; // Delaunay already
        }

        // normals before and after; with `exact` all must be the same
        double n[2][3], m[2][3];
        const double turn = r->exact ? 1 - 1e-12 : 0.9;
        remesh_normal(A, B, C, n[0]);
        remesh_normal(B, A, D, n[1]);
        remesh_normal(A, D, C, m[0]);
        remesh_normal(D, B, C, m[1]);
        bool turned = false;
        for (int p = 0; p < 4; ++p) {
            turned = turned || pl_dot3(n[p / 2], m[p % 2]) < turn * pl_norm3(n[p / 2]) * pl_norm3(m[p % 2]) ||
                     pl_norm3(m[p % 2]) < REMESH_FLAT * pow(pl_distance3(C, D), 2);
        }

        // on a curved surface a flip cuts a corner: compare with the part
        const double gap = remesh_gap(A, B, C, D);
        turned = turned || gap > fmin(REMESH_GAP * size_field_at(r->field, C), r->near);
        if (!turned && gap > 1e-6 * pl_distance3(C, D)) {
            turned = remesh_off(r, (const double *const[]){A, D, C}, q.s->patch) ||
                     remesh_off(r, (const double *const[]){D, B, C}, q.s->patch);
        }

        if (!turned) {
            remesh_turn(r, &q, q.s);
            ++flipped;
        }
    }

    return flipped;
}

// ---- needles: triangles as flat as the digits of a file, whose normals mean nothing. The long side of one
// (a b, with c on it) is flipped, whatever lies behind it: the neighbour becomes two.
static bool remesh_is_needle(const remesh *r, const remesh_tri *t, int k)
{
    const double *a = remesh_at(r, t->v[k]), *b = remesh_at(r, t->v[(k + 1) % 3]),
                 *c = remesh_at(r, t->v[(k + 2) % 3]);
    double n[3];

    remesh_normal(a, b, c, n);
    const double side = pl_distance3(a, b);
    return pl_norm3(n) < REMESH_NEEDLE * r->part->length * side && side >= pl_distance3(b, c) &&
           side >= pl_distance3(c, a);
}

// Until none is left: a flip may make another needle. Both triangles must separate the same cells.
static bool remesh_needles(remesh *r)
{
    const int32_t *shell = r->c->side_shell;
    int32_t turned = 1;

    for (int pass = 0; turned > 0 && pass < REMESH_ROUNDS_MAX; ++pass) {
        turned = 0;
        for (int32_t i = 0; i < r->edge_count; ++i) {
            remesh_quad q;
            if (!remesh_quad_of(r, &r->edge[i], &q)) {
                continue;
            }
            const bool first = remesh_is_needle(r, q.s, q.j), second = remesh_is_needle(r, q.t, q.k);
            if (first != second && shell[2 * q.s->origin] == shell[2 * q.t->origin] &&
                shell[2 * q.s->origin + 1] == shell[2 * q.t->origin + 1]) {
                remesh_turn(r, &q, first ? q.t : q.s);
                ++turned;
            }
        }

        if (turned > 0 && !remesh_round(r)) {
            return false;
        }
    }

    return true;
}

// ---- moving one vertex onto another
// Whether vertex `gone` may move onto `kept`: its triangles keep their sides and none gets an edge much
// longer than the size, or longer than before.
static bool remesh_may_move(const remesh *r, int32_t gone, int32_t kept, const double to[3])
{
    for (int32_t i = r->start[gone]; i < r->start[gone + 1]; ++i) {
        const remesh_tri *t = &r->tri[r->around[i]];
        const double *old[3], *new[3];
        bool dies = false;

        for (int k = 0; k < 3; ++k) {
            dies = dies || t->v[k] == kept;
            old[k] = remesh_at(r, t->v[k]);
            new[k] = t->v[k] == gone ? to : old[k];
        }

        double n[3], m[3];
        remesh_normal(old[0], old[1], old[2], n);
        remesh_normal(new[0], new[1], new[2], m);
        if (dies) {
            continue;
        }
        double longest = 0, before = 0;
        for (int k = 0; k < 3; ++k) {
            longest = fmax(longest, pl_distance3(new[k], new[(k + 1) % 3]));
            before = fmax(before, pl_distance3(old[k], old[(k + 1) % 3]));
        }

        // a triangle that is thin already may stay so, but not become thinner
        const double least = fmin(0.05, 0.9 * pl_norm3(n) / (before * before));
        if (pl_dot3(n, m) < REMESH_TURN * pl_norm3(n) * pl_norm3(m) ||
            pl_norm3(m) < least * longest * longest ||
            (kept >= 0 && longest > fmax(r->polish ? 0 : before, 4.0 / 3 * size_field_at(r->field, to))) ||
            (remesh_off(r, new, t->patch) && (kept >= 0 || !remesh_off(r, old, t->patch)))) {
            return false;
        }
    }

    return true;
}

// Vertices joined to both ends of an edge must be just those of the triangles on it: otherwise a collapse
// would glue two sheets of the surface together. False also for more neighbours than the list holds.
static bool remesh_link(const remesh *r, int32_t a, int32_t b, int32_t uses)
{
    int32_t common = 0, seen[64], seen_count = 0;

    // neighbours of a, then those that are neighbours of b, too
    for (int32_t i = r->start[a]; i < r->start[a + 1]; ++i) {
        for (int k = 0; k < 3; ++k) {
            const int32_t v = r->tri[r->around[i]].v[k];
            bool known = v == a || v == b;
            for (int32_t s = 0; s < seen_count && !known; ++s) {
                known = seen[s] == v;
            }
            if (!known && seen_count < PL_COUNT(seen)) {
                seen[seen_count++] = v;
            }
        }
    }

    for (int32_t s = 0; s < seen_count; ++s) {
        bool joined = false;
        for (int32_t i = r->start[b]; i < r->start[b + 1] && !joined; ++i) {
            const int32_t *v = r->tri[r->around[i]].v;
            joined = v[0] == seen[s] || v[1] == seen[s] || v[2] == seen[s];
        }

        common += joined;
    }

    return common == uses && seen_count < PL_COUNT(seen);
}

// Whether the round has changed nothing around v; what it has changed is not in its lists.
static bool remesh_untouched(const remesh *r, int32_t v)
{
    for (int32_t i = r->start[v]; i < r->start[v + 1]; ++i) {
        if (r->touched[r->around[i]]) {
            return false;
        }
    }

    return true;
}

static void remesh_touch(remesh *r, int32_t v)
{
    for (int32_t i = r->start[v]; i < r->start[v + 1]; ++i) {
        r->touched[r->around[i]] = 1;
    }
}

// Whether one of the triangles that would vanish has a feature beside the edge itself, at the vertex that
// goes.
static bool remesh_feature_beside(const remesh *r, const remesh_edge *e, int32_t gone)
{
    bool beside = false;
    for (int32_t u = e->first; u >= 0; u = r->next[u]) {
        const remesh_tri *t = &r->tri[u / 3];
        for (int k = 0; k < 3; ++k) {
            beside = beside || (k != u % 3 && t->sharp[k] && (t->v[k] == gone || t->v[(k + 1) % 3] == gone));
        }
    }

    return beside;
}

// ---- short edges: two corners of a file closer than the digits or the sizes mean become one, whatever they
// are. Splitting the long sides of the triangle between them would make pairs of points without end.
static bool remesh_may_merge(const remesh *r, int32_t gone, int32_t kept)
{
    const double *to = remesh_at(r, kept), reach = pl_distance3(remesh_at(r, gone), to);
    for (int32_t i = r->start[gone]; i < r->start[gone + 1]; ++i) {
        const remesh_tri *t = &r->tri[r->around[i]];
        const double *old[3], *new[3];
        bool dies = false;

        for (int k = 0; k < 3; ++k) {
            dies = dies || t->v[k] == kept;
            old[k] = remesh_at(r, t->v[k]);
            new[k] = t->v[k] == gone ? to : old[k];
        }

        double n[3], m[3], longest = 0;
        remesh_normal(old[0], old[1], old[2], n);
        remesh_normal(new[0], new[1], new[2], m);
        for (int k = 0; k < 3; ++k) {
            longest = fmax(longest, pl_distance3(new[k], new[(k + 1) % 3]));
        }
        // one as thin as the edge is short has no direction to keep, but must not vanish
        const bool thin = pl_norm3(n) < 2 * reach * longest;
        if (!dies && (pl_norm3(m) < 1e-6 * longest * longest ||
                      (!thin && pl_dot3(n, m) < REMESH_TURN * pl_norm3(n) * pl_norm3(m)))) {
            return false;
        }
    }

    return true;
}

// Triangles with both vertices vanish, the others move along.
static void remesh_merge(remesh *r, int32_t gone, int32_t kept)
{
    remesh_touch(r, gone);
    remesh_touch(r, kept);
    for (int32_t j = r->start[gone]; j < r->start[gone + 1]; ++j) {
        remesh_tri *t = &r->tri[r->around[j]];
        const bool dies = t->v[0] == kept || t->v[1] == kept || t->v[2] == kept;
        for (int k = 0; k < 3 && !dies; ++k) {
            t->v[k] = t->v[k] == gone ? kept : t->v[k];
        }
        t->v[0] = dies ? -1 : t->v[0];
    }
}

// Until none is left, shortest first.
static bool remesh_short_edges(remesh *r)
{
    int32_t merged = 1;
    for (int pass = 0; merged > 0 && pass < REMESH_ROUNDS_MAX; ++pass) {
        merged = 0;

        for (int32_t i = r->edge_count - 1; i >= 0; --i) {
            const remesh_edge *e = &r->edge[i];
            if (e->ratio >= REMESH_SHORT) {
                continue;
            }

            // either end may be the one that goes
            const int32_t end[2] = {e->a, e->b};
            int32_t uses = 0;
            for (int32_t u = e->first; u >= 0; u = r->next[u]) {
                ++uses;
            }
            for (int k = 0; k < 2; ++k) {
                if (remesh_untouched(r, end[0]) && remesh_untouched(r, end[1]) &&
                    remesh_link(r, end[k], end[1 - k], uses) && remesh_may_merge(r, end[k], end[1 - k])) {
                    remesh_merge(r, end[k], end[1 - k]);
                    ++merged;
                }
            }
        }

        if (merged > 0 && !remesh_round(r)) {
            return false;
        }
    }

    return true;
}

// ---- start: the walls, their vertices and features
// Whether there is material on a side.
static bool remesh_filled(const cells *c, int32_t side)
{
    return c->side_cell[side] >= 0 && !c->cell[c->side_cell[side]].hollow;
}

// Whether the triangles on an edge make it a feature: not two, of different orientation or
// cells, or at more than PART_ANGLE.
static bool remesh_is_sharp(const remesh *r, const remesh_edge *e)
{
    const int32_t u = e->first, w = r->next[u];
    if (w < 0 || r->next[w] >= 0) {
        return true;
    }

    const remesh_tri *s = &r->tri[u / 3], *t = &r->tri[w / 3];
    const int32_t *shell = r->c->side_shell;
    double n[3], m[3];
    remesh_normal(remesh_at(r, s->v[0]), remesh_at(r, s->v[1]), remesh_at(r, s->v[2]), n);
    remesh_normal(remesh_at(r, t->v[0]), remesh_at(r, t->v[1]), remesh_at(r, t->v[2]), m);

    return s->v[u % 3] == t->v[w % 3] || shell[2 * s->origin] != shell[2 * t->origin] ||
           shell[2 * s->origin + 1] != shell[2 * t->origin + 1] ||
           pl_dot3(n, m) < cos(PART_ANGLE) * pl_norm3(n) * pl_norm3(m);
}

// The walls of the parts as triangles to work on, cleaned of what files leave
// behind; then features and corners.
static bool remesh_begin(remesh *r)
{
    const cells *c = r->c;
    r->vertex_count = c->vertex_count;
    if (!pl_grow((void **)&r->x, &r->x_room, 3 * (int64_t)c->vertex_count, sizeof *r->x) ||
        !pl_grow((void **)&r->kind, &r->kind_room, c->vertex_count, 1) ||
        !pl_grow((void **)&r->tri, &r->tri_room, c->triangle_count, sizeof *r->tri)) {
        return false;
    }

    memcpy(r->x, c->position, 3 * (size_t)c->vertex_count * sizeof *r->x);
    memset(r->kind, VERTEX_FREE, (size_t)c->vertex_count);

    // triangles with material on a side, in the order of part_shape.walls, whose patches they take
    for (int32_t t = 0; t < c->triangle_count; ++t) {
        if (remesh_filled(c, 2 * t) || remesh_filled(c, 2 * t + 1)) {
            remesh_tri *to = &r->tri[r->tri_count++];
            *to = (remesh_tri){.origin = t, .patch = r->part->patch[r->tri_count - 1]};
            memcpy(to->v, c->corner + 3 * (int64_t)t, sizeof to->v);
        }
    }

    if (!remesh_round(r) || (!r->exact && !(remesh_short_edges(r) && remesh_needles(r)))) {
        return false;
    }

    // features, and how many end at each vertex
    int32_t *features = PL_NEW_ARRAY(int32_t, r->vertex_count);
    for (int32_t i = 0; features && i < r->edge_count; ++i) {
        const remesh_edge *e = &r->edge[i];

        if (remesh_is_sharp(r, e)) {
            ++features[e->a];
            ++features[e->b];
            for (int32_t u = e->first; u >= 0; u = r->next[u]) {
                r->tri[u / 3].sharp[u % 3] = true;
            }
        }
    }

    for (int32_t v = 0; features && v < r->vertex_count; ++v) {
        r->kind[v] = features[v] == 0 ? VERTEX_FREE : features[v] == 2 ? VERTEX_FEATURE : VERTEX_CORNER;
    }

    // a bend in a feature line is a corner
    for (int32_t v = 0; features && v < r->vertex_count; ++v) {
        int32_t end[2] = {-1, -1};
        for (int32_t i = r->start[v]; r->kind[v] == VERTEX_FEATURE && i < r->start[v + 1]; ++i) {
            const remesh_tri *t = &r->tri[r->around[i]];

            for (int k = 0; k < 3; ++k) {
                const int32_t other = t->v[k] == v             ? t->v[(k + 1) % 3]
                                      : t->v[(k + 1) % 3] == v ? t->v[k]
                                                               : -1;
                if (t->sharp[k] && other >= 0 && other != end[0]) {
                    end[end[0] < 0 ? 0 : 1] = other;
                }
            }
        }

        if (end[1] >= 0) {
            double p[3], q[3];
            pl_sub3(remesh_at(r, v), remesh_at(r, end[0]), p);
            pl_sub3(remesh_at(r, end[1]), remesh_at(r, v), q);
            r->kind[v] =
                pl_dot3(p, q) < cos(PART_ANGLE) * pl_norm3(p) * pl_norm3(q) ? VERTEX_CORNER : VERTEX_FEATURE;
        }
    }

    const bool room = features != NULL;
    pl_free(features);

    return room;
}

// ---- splitting
// Puts the middle x of an edge onto the part, unless one of the triangles it splits would turn.
static void remesh_lift(const remesh *r, const remesh_edge *e, bool sharp, double x[3])
{
    int32_t side[2] = {r->tri[e->first / 3].patch, r->tri[e->first / 3].patch};
    double to[3];

    memcpy(to, x, sizeof to);
    if (sharp) {
        remesh_sides(r, e, side);
    }

    bool may = remesh_project(r, side, 0.3 * e->length, to);
    for (int32_t u = e->first; u >= 0 && may; u = r->next[u]) {
        const remesh_tri *t = &r->tri[u / 3];
        const double *a = remesh_at(r, t->v[u % 3]), *b = remesh_at(r, t->v[(u % 3 + 1) % 3]),
                     *c = remesh_at(r, t->v[(u % 3 + 2) % 3]);
        double n[3], p[3], q[3];
        remesh_normal(a, b, c, n);
        remesh_normal(a, to, c, p);
        remesh_normal(to, b, c, q);
        may = pl_dot3(n, p) > REMESH_TURN * pl_norm3(n) * pl_norm3(p) &&
              pl_dot3(n, q) > REMESH_TURN * pl_norm3(n) * pl_norm3(q);
    }

    if (may) {
        memcpy(x, to, sizeof to);
    }
}

// Splits edges longer than 4/3 of their size, longest first; one per triangle
// and round. False without memory.
static bool remesh_split(remesh *r, int64_t *count)
{
    const int32_t edges = r->edge_count;
    *count = 0;
    for (int32_t i = 0; i < edges; ++i) {
        const remesh_edge e = r->edge[i];
        // its triangles must be as the round found them
        bool free_to = e.ratio > 4.0 / 3;
        int32_t uses = 0;
        for (int32_t u = e.first; u >= 0; u = r->next[u], ++uses) {
            free_to = free_to && !r->touched[u / 3];
        }
        if (!free_to) {
            continue;
        }
        if (!pl_grow((void **)&r->x, &r->x_room, 3 * ((int64_t)r->vertex_count + 1), sizeof *r->x) ||
            !pl_grow((void **)&r->kind, &r->kind_room, r->vertex_count + 1, 1) ||
            !pl_grow((void **)&r->tri, &r->tri_room, (int64_t)r->tri_count + uses, sizeof *r->tri)) {
            return false;
        }

        // the new vertex
        const bool sharp = r->tri[e.first / 3].sharp[e.first % 3];
        const int32_t m = r->vertex_count++;
        double *x = r->x + 3 * (int64_t)m;
        for (int k = 0; k < 3; ++k) {
            x[k] = 0.5 * (remesh_at(r, e.a)[k] + remesh_at(r, e.b)[k]);
        }
        if (!r->exact) {
            remesh_lift(r, &e, sharp, x);
        }
        r->kind[m] = sharp ? VERTEX_FEATURE : VERTEX_FREE;

        // each triangle becomes two
        for (int32_t u = e.first; u >= 0; u = r->next[u]) {
            const int k = u % 3;
            remesh_tri *t = &r->tri[u / 3], *n = &r->tri[r->tri_count++];
            // (a b c) becomes (a m c) and (m b c)
            *n = *t;
            n->v[k] = m;
            n->sharp[(k + 2) % 3] = false;
            t->v[(k + 1) % 3] = m;
            t->sharp[(k + 1) % 3] = false;
            r->touched[u / 3] = 1;
        }

        ++*count;
    }

    return true;
}

// ---- collapsing
// Collapses edges with a ratio of length to size below `shorter`, shortest first.
static void remesh_collapse(remesh *r, double shorter)
{
    for (int32_t i = r->edge_count - 1; i >= 0; --i) {
        const remesh_edge *e = &r->edge[i];
        if (e->ratio >= shorter) {
            continue;
        }

        // a vertex goes onto one that is at least as much bound to features
        int32_t gone = e->b, kept = e->a, uses = 0;
        if (r->kind[gone] > r->kind[kept]) {
            gone = e->a;
            kept = e->b;
        }

        for (int32_t u = e->first; u >= 0; u = r->next[u]) {
            ++uses;
        }
        const bool sharp = r->tri[e->first / 3].sharp[e->first % 3];
        if (r->kind[gone] == VERTEX_CORNER || (r->kind[gone] == VERTEX_FEATURE && !sharp) ||
            !remesh_untouched(r, gone) || !remesh_untouched(r, kept) || remesh_feature_beside(r, e, gone) ||
            !remesh_link(r, gone, kept, uses) || !remesh_may_move(r, gone, kept, remesh_at(r, kept))) {
            continue;
        }

        remesh_merge(r, gone, kept);
    }
}

// After collapses: an edge that one of its triangles calls a feature is one for all of them.
static void remesh_agree(remesh *r)
{
    for (int32_t i = 0; i < r->edge_count; ++i) {
        bool sharp = false;
        for (int32_t u = r->edge[i].first; u >= 0; u = r->next[u]) {
            sharp = sharp || r->tri[u / 3].sharp[u % 3];
        }
        for (int32_t u = r->edge[i].first; u >= 0; u = r->next[u]) {
            r->tri[u / 3].sharp[u % 3] = sharp;
        }
    }
}

// ---- smoothing
// Moves each vertex half of the distance to the mean of its neighbours, back on its patch or line.
static void remesh_smooth(remesh *r)
{
    for (int32_t v = 0; v < r->vertex_count; ++v) {
        if (r->kind[v] == VERTEX_CORNER || r->start[v] == r->start[v + 1]) {
            continue;
        }
        // free vertices: the area-weighted mean of the triangles around; feature ones: between their two
        double sum[3] = {0}, weight = 0, reach = 0;
        int32_t side[2] = {INT32_MAX, -1};
        bool two = true;
        // sum and weight, and the patches around v
        for (int32_t i = r->start[v]; i < r->start[v + 1]; ++i) {
            const remesh_tri *t = &r->tri[r->around[i]];
            double n[3];
            remesh_normal(remesh_at(r, t->v[0]), remesh_at(r, t->v[1]), remesh_at(r, t->v[2]), n);
            const double area = pl_norm3(n);
            two = two && (side[1] < 0 || side[0] == side[1] || t->patch == side[0] || t->patch == side[1]);
            side[0] = t->patch < side[0] ? t->patch : side[0];
            side[1] = t->patch > side[1] ? t->patch : side[1];

            for (int k = 0; k < 3; ++k) {
                const int32_t a = t->v[k], b = t->v[(k + 1) % 3];
                const double w = r->kind[v] == VERTEX_FREE ? area : t->sharp[k] && (a == v || b == v) ? 1 : 0;
                for (int q = 0; q < 3 && w > 0; ++q) {
                    sum[q] += r->kind[v] == VERTEX_FREE ? w * remesh_at(r, a)[q]
                                                        : w * remesh_at(r, a == v ? b : a)[q];
                }

                weight += w;
            }

            reach = fmax(reach, sqrt(area));
        }

        // half of the distance: whole steps oscillate
        double x[3];
        for (int i = 0; i < 3; ++i) {
            x[i] = weight > 0 ? 0.5 * (sum[i] / weight + remesh_at(r, v)[i]) : remesh_at(r, v)[i];
        }
        // more than two patches: any feature line
        if (r->kind[v] == VERTEX_FEATURE && (!two || side[0] == side[1])) {
            side[0] = -1;
            side[1] = 0;
        }

        if (remesh_project(r, side, 0.3 * reach, x) && remesh_may_move(r, v, -1, x)) {
            memcpy(r->x + 3 * (int64_t)v, x, sizeof x);
        }
    }
}

// ---- the result as cells
// Cells of the part with the new triangles; vertices are numbered as they are met, so unused ones vanish.
static bool remesh_end(const remesh *r, cells *out)
{
    const cells *c = r->c;
    int32_t *number = PL_NEW_ARRAY(int32_t, r->vertex_count);

    *out = (cells){.shell_count = c->shell_count, .cell_count = c->cell_count};
    out->position = PL_NEW_ARRAY(double, 3 * (int64_t)r->vertex_count);
    out->corner = PL_NEW_ARRAY(int32_t, 3 * (int64_t)r->tri_count);
    out->side_shell = PL_NEW_ARRAY(int32_t, 2 * (int64_t)r->tri_count);
    out->side_cell = PL_NEW_ARRAY(int32_t, 2 * (int64_t)r->tri_count);
    out->cell = PL_NEW_ARRAY(cell, c->cell_count);
    const bool room =
        number && out->position && out->corner && out->side_shell && out->side_cell && out->cell;
    if (room) {
        memcpy(out->cell, c->cell, (size_t)c->cell_count * sizeof *out->cell);
    }

    for (int32_t t = 0; room && t < r->tri_count; ++t) {
        const remesh_tri *from = &r->tri[t];
        for (int k = 0; k < 3; ++k) {
            int32_t *n = &number[from->v[k]];

            if (*n == 0) {
                memcpy(out->position + 3 * (int64_t)out->vertex_count, remesh_at(r, from->v[k]),
                       3 * sizeof(double));
                *n = ++out->vertex_count;
            }

            out->corner[3 * (int64_t)t + k] = *n - 1;
        }

        for (int k = 0; k < 2; ++k) {
            out->side_shell[2 * (int64_t)t + k] = c->side_shell[2 * (int64_t)from->origin + k];
            out->side_cell[2 * (int64_t)t + k] = c->side_cell[2 * (int64_t)from->origin + k];
        }

        ++out->triangle_count;
    }

    pl_free(number);

    return room;
}

// Flips until hardly one is left to flip.
static bool remesh_delaunay(remesh *r)
{
    bool room = true;
    int32_t before = INT32_MAX;

    for (int pass = 0; room && pass < REMESH_FLIPS; ++pass) {
        const int32_t flipped = remesh_flip(r);
        room = remesh_round(r);
        if (flipped * 100 < r->tri_count || flipped >= before) {
            break;
        }
        before = flipped;
    }

    return room;
}

// Rounds of split, collapse, flip and smooth. While many edges are still split only very short ones are
// collapsed; then some rounds of polish, the last without collapses, so that it ends with a Delaunay surface.
pl_status part_remesh(const part_shape *p, const cells *c, const size_field *f, bool exact, cells *out,
                      pl_error *err)
{
    remesh r = {.part = p, .c = c, .field = f, .near = REMESH_WALL * part_thinnest(p), .exact = exact};
    bool room = remesh_begin(&r);
    int polish = 0, rounds = 0;

    for (; room && polish < REMESH_POLISH && rounds < REMESH_ROUNDS_MAX && r.tri_count < REMESH_TRIANGLES_MAX;
         ++rounds) {
        int64_t split = 0;
        // split
        room = remesh_round(&r) && remesh_delaunay(&r) && remesh_split(&r, &split) && remesh_round(&r) &&
               remesh_delaunay(&r);
        polish += polish > 0 || split * 10 < r.tri_count;
        r.polish = polish > 0;
        // collapse and smooth
        if (room && !exact) {
            remesh_collapse(&r, polish == 0 ? 0.4 : polish < REMESH_POLISH ? 0.8 : 0);
            room = remesh_round(&r);
            if (room) {
                remesh_agree(&r);
                room = remesh_delaunay(&r);
            }

            if (room && polish > 0) {
                remesh_smooth(&r);
            }
        }
    }

    *out = (cells){0};
    room = room && remesh_round(&r) && remesh_end(&r, out);
    pl_log(1, "parts: %d triangles remeshed to %d in %d rounds", c->triangle_count, r.tri_count, rounds);
    remesh_clear(&r);
    if (!room) {
        cells_clear(out);
        return pl_fail_memory(err, "the surface of the parts");
    }

    return PL_OK;
}

// after that the number that is left is reported
#define REMESH_APART 4 // times sizes are lowered

// Lowers the sizes around a triangle, at its corners and mid-edges.
static void remesh_lower(const cells *c, int32_t t, double lower, size_field *f)
{
    for (int k = 0; k < 6; ++k) {
        const double *a = c->position + 3 * (int64_t)c->corner[3 * (int64_t)t + k % 3],
                     *b = c->position + 3 * (int64_t)c->corner[3 * (int64_t)t + (k + 1) % 3];
        const double w = k < 3 ? 1 : 0.5;
        const double x[3] = {w * a[0] + (1 - w) * b[0], w * a[1] + (1 - w) * b[1], w * a[2] + (1 - w) * b[2]};
        size_field_lower(f, x, lower);
    }
}

// `f` is changed: sizes are halved around triangles that cross.
pl_status part_remesh_apart(const part_shape *p, const cells *c, size_field *f, cells *out, int32_t *crossing,
                            pl_error *err)
{
    *out = (cells){0};
    for (int pass = 0;; ++pass) {
        cells_clear(out);
        pl_status status = part_remesh(p, c, f, false, out, err);
        if (status != PL_OK) {
            return status;
        }
        const pl_trisurf s = {out->vertex_count, out->triangle_count, out->position, out->corner};
        int32_t *list = NULL;
        *crossing = pl_trisurf_crossings(&s, &list);

        // all are halved once, whatever their neighbours did to the field already
        double *lower = PL_NEW_ARRAY(double, *crossing > 0 ? *crossing : 1);
        for (int32_t i = 0; lower && i < *crossing; ++i) {
            lower[i] = 0.5 * size_field_at(f, out->position + 3 * (int64_t)out->corner[3 * (int64_t)list[i]]);
        }
        for (int32_t i = 0; lower && i < *crossing; ++i) {
            remesh_lower(out, list[i], lower[i], f);
        }
        const bool room = lower && *crossing >= 0;
        pl_free(lower);
        pl_free(list);
        if (!room) {
            cells_clear(out);
            return pl_fail_memory(err, "the surface of the parts");
        }

        if (*crossing == 0 || pass == REMESH_APART) {
            return PL_OK;
        }
        pl_log(1, "parts: %d triangles cross; sizes are lowered there", *crossing);
        size_field_end(f);
    }
}
