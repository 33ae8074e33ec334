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
#include "meshing/meshing_remesh.h"

#define REMESH_POLISH 6 // rounds after the last one that split much
// beyond it the size does not fit the part; the caller sees the number of triangles
#define REMESH_TRIANGLES_MAX 4000000
#define REMESH_OFF 0.2   // how far a triangle may be from the part, of the size
#define REMESH_WALL 0.15 // the same, of the thinnest wall
#define REMESH_FLIPS 8   // passes

const double *remesh_at(const remesh *r, int32_t v)
{
    return r->x + 3 * (int64_t)v;
}

void remesh_normal(const double *a, const double *b, const double *c, double n[3])
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

bool remesh_round(remesh *r)
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

bool remesh_off(const remesh *r, const double *const x[3], int32_t patch)
{
    double middle[3], nearest[3];
    for (int i = 0; i < 3; ++i) {
        middle[i] = (x[0][i] + x[1][i] + x[2][i]) / 3;
    }
    return pl_trisurf_tree_nearest_of(&r->part->walls_tree, r->part->patch, patch, middle, nearest) >
           fmin(REMESH_OFF * size_field_at(r->field, middle), r->near);
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
