// Base and tip of a part. Straight parts end on their longest axis. A bent one (an L, an elbow, a part drawn
// askew) does not: there the flat faces of the outside are looked at, and an end is one that the body
// reaches far behind, compared with its own width. A plate has no such ends; its largest face is its base.
#include <stdlib.h>
#include "meshing/meshing_guess.h"

#define ENDS_ANGLE (1.5 * PL_PI / 180) // between the triangles of a flat face
#define ENDS_OFF 1e-4                  // of the length: how far its corners may lie off its plane
#define ENDS_NOISE 2e-3                // of the length: the same in a scan, where
#define ENDS_FLAT 0.8                  // of what lies within twice that lies within it (a dome: a half)
#define ENDS_SMALL 2e-3                // of the whole surface: the smallest face looked at
#define ENDS_SHARP (35 * PL_PI / 180)  // at the rim of a face; the facets of a round wall meet more gently
#define ENDS_ROUND 0.3                 // of its rim that may be gentler, unless the face is
#define ENDS_LARGE 0.04                // of the whole surface: then it has fillets
#define ENDS_FACET 0.02                // of the cross-section: a smaller flat end is a facet of a round one
#define ENDS_SAMPLES 24                // of a face, from which rays look out and in
#define ENDS_SLENDER 0.5               // depth behind a face over its width that an end has
#define ENDS_ALIKE 0.6                 // of the best: other ends

// Triangles that lie within `slack` of the end (side -1 low, +1 high) of the axis and face along it: their
// area, and their centroid in point. `*off` is how far their corners lie from the plane through it.
static double guess_end_within(const guess *g, int side, double extreme, double slack, double point[3],
                               double *off)
{
    const pl_trisurf *s = g->surface;
    double area = 0, centre[3] = {0}, lowest = INFINITY, highest = -INFINITY;

    for (int32_t t = 0; t < s->triangle_count; ++t) {
        double n[3], low = INFINITY, high = -INFINITY;
        for (int k = 0; k < 3; ++k) {
            const double at = side * pl_dot3(guess_corner(s, t, k), g->axis);
            low = fmin(low, at);
            high = fmax(high, at);
        }
        guess_normal(s, t, n);
        const double twice = pl_norm3(n);
        if (low > extreme - slack && side * pl_dot3(n, g->axis) > 0.99 * twice) {
            area += twice / 2;
            lowest = fmin(lowest, low);
            highest = fmax(highest, high);
            for (int i = 0; i < 3; ++i) {
                centre[i] += twice / 6 *
                             (guess_corner(s, t, 0)[i] + guess_corner(s, t, 1)[i] + guess_corner(s, t, 2)[i]);
            }
        }
    }

    for (int i = 0; i < 3 && area > 0; ++i) {
        point[i] = centre[i] / area;
    }
    const double plane = side * pl_dot3(point, g->axis);
    *off = area > 0 ? fmax(highest - plane, plane - lowest) : 0;

    return area;
}

// Area and a point of the flat face at one end (side -1 low, +1 high) of the axis, and how far its corners
// lie off its plane: round-off in drawings, noise in scans. A round end has twice the area within twice the
// distance, a flat one no more.
static double guess_end(const guess *g, int side, double point[3], double *off)
{
    const pl_trisurf *s = g->surface;
    double extreme = -INFINITY, outermost[3] = {0};

    for (int32_t v = 0; v < s->vertex_count; ++v) {
        const double at = side * pl_dot3(s->position + 3 * (int64_t)v, g->axis);
        if (at > extreme) {
            extreme = at;
            memcpy(outermost, s->position + 3 * (int64_t)v, sizeof outermost);
        }
    }

    // a small flat spot is a facet of a round end: the outermost vertex stands for it
    double cross = INFINITY;
    for (int i = 0; i < 3; ++i) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        cross = fmin(cross, (g->high[a] - g->low[a]) * (g->high[b] - g->low[b]));
    }

    double area = guess_end_within(g, side, extreme, ENDS_OFF * g->length, point, off);
    if (area >= ENDS_FACET * cross) {
        *off = 0;
        return area;
    }

    double ignored[3], more;
    area = guess_end_within(g, side, extreme, ENDS_NOISE * g->length, point, off);
    const double twice = guess_end_within(g, side, extreme, 2 * ENDS_NOISE * g->length, ignored, &more);
    if (area >= ENDS_FACET * cross && area > ENDS_FLAT * twice) {
        return area;
    }

    memcpy(point, outermost, sizeof outermost);
    *off = 0;
    return 0;
}

// Flat ends on the longest axis: the base is the larger one; of two alike, the lower one.
static void guess_ends_on_axis(guess *g)
{
    g->base_area = guess_end(g, -1, g->base, &g->base_off);
    g->tip_area = guess_end(g, 1, g->tip, &g->tip_off);
    if (g->tip_area > 1.05 * g->base_area) {
        const double area = g->base_area, off = g->base_off;
        g->base_area = g->tip_area;
        g->base_off = g->tip_off;
        g->tip_area = area;
        g->tip_off = off;
        for (int i = 0; i < 3; ++i) {
            const double x = g->base[i];
            g->base[i] = g->tip[i];
            g->tip[i] = x;
            g->axis[i] = -g->axis[i];
        }
    }

    for (int i = 0; i < 3; ++i) {
        g->base_normal[i] = 0 - g->axis[i];
        g->tip_normal[i] = g->axis[i];
    }
}

// ---- flat faces
// A connected flat part of the surface.
typedef struct flat_face {
    // mm^2; mm
    double area, centre[3], normal[3], low[3], high[3], width;
    double depth;       // mm behind it, to where the body ends
    double off;         // mm, of its corners from its plane
    bool outside;       // nothing in front of it
    double rim, gentle; // mm: its rim, and what of it meets the next face gently
} flat_face;

// All flat faces that look outside; owns its arrays.
typedef struct flats {
    const guess *g;
    const pl_trisurf *s;
    pl_table edge;
    int32_t *use;  // 2 triangles per edge; -1
    int32_t *face; // of each triangle; -1
    int32_t *stack;
    double *area;    // twice, of each triangle
    double *normal;  // 3 per triangle, unit
    int32_t *order;  // triangles, largest first
    flat_face *list; // what is kept
    int count;
} flats;
#define FLATS_MAX 256 // more are not compared

static void flats_clear(flats *f)
{
    pl_table_clear(&f->edge);
    pl_free(f->use);
    pl_free(f->face);
    pl_free(f->stack);
    pl_free(f->area);
    pl_free(f->normal);
    pl_free(f->order);
    pl_free(f->list);
}

// For sorting.
typedef struct flat_rank {
    double area;
    int32_t t;
} flat_rank;

// Largest first; equal ones by number, so that the order does not depend on qsort.
static int flat_by_area(const void *p, const void *q)
{
    const flat_rank *a = p, *b = q;
    return a->area != b->area ? (a->area < b->area) - (a->area > b->area) : (a->t > b->t) - (a->t < b->t);
}

// Fills `order`; false without memory.
static bool flats_sort(flats *f)
{
    flat_rank *rank = PL_NEW_ARRAY(flat_rank, f->s->triangle_count);
    for (int32_t t = 0; rank && t < f->s->triangle_count; ++t) {
        rank[t] = (flat_rank){f->area[t], t};
    }
    if (rank) {
        qsort(rank, (size_t)f->s->triangle_count, sizeof *rank, flat_by_area);
    }
    for (int32_t t = 0; rank && t < f->s->triangle_count; ++t) {
        f->order[t] = rank[t].t;
    }
    pl_free(rank);

    return rank != NULL;
}

// Normals, areas and the two triangles of each edge. False without memory; clear it in any case.
static bool flats_init(flats *f, const guess *g)
{
    const pl_trisurf *s = g->surface;
    const int64_t n = s->triangle_count;

    *f = (flats){.g = g, .s = s};
    f->use = PL_NEW_ARRAY(int32_t, 6 * n);
    f->face = PL_NEW_ARRAY(int32_t, n);
    f->stack = PL_NEW_ARRAY(int32_t, n);
    f->order = PL_NEW_ARRAY(int32_t, n);
    f->area = PL_NEW_ARRAY(double, n);
    f->normal = PL_NEW_ARRAY(double, 3 * n);
    f->list = PL_NEW_ARRAY(flat_face, FLATS_MAX);
    if (!f->use || !f->face || !f->stack || !f->order || !f->area || !f->normal || !f->list ||
        !pl_table_init(&f->edge, 2, 3 * n)) {
        return false;
    }

    // degenerate triangles keep a zero normal
    for (int32_t t = 0; t < n; ++t) {
        double *m = f->normal + 3 * (int64_t)t;
        guess_normal(s, t, m);
        f->area[t] = pl_norm3(m);
        f->face[t] = -1;
        for (int i = 0; i < 3; ++i) {
            m[i] /= f->area[t] > 0 ? f->area[t] : 1;
        }
        for (int k = 0; k < 3; ++k) {
            int32_t key[2] = {s->corner[3 * (int64_t)t + k], s->corner[3 * (int64_t)t + (k + 1) % 3]};
            pl_sort_small(key, 2);
            const int32_t before = f->edge.count, at = pl_table_add(&f->edge, key);
            f->use[2 * at + (at < before)] = t;
            if (at == before) {
                f->use[2 * at + 1] = -1;
            }
        }
    }

    return flats_sort(f);
}

// How far the farthest corner of t lies off the plane of triangle `seed`.
static double flat_off(const flats *f, int32_t seed, int32_t t)
{
    double most = 0;
    for (int k = 0; k < 3; ++k) {
        double d[3];
        pl_sub3(guess_corner(f->s, t, k), guess_corner(f->s, seed, 0), d);
        most = fmax(most, fabs(pl_dot3(d, f->normal + 3 * (int64_t)seed)));
    }

    return most;
}

// Adds a triangle to area, centre and box of a face.
static void flat_add(const flats *f, int32_t t, flat_face *face)
{
    face->area += f->area[t] / 2;
    for (int k = 0; k < 3; ++k) {
        const double *x = guess_corner(f->s, t, k);
        for (int i = 0; i < 3; ++i) {
            face->centre[i] += f->area[t] / 6 * x[i];
            face->low[i] = fmin(face->low[i], x[i]);
            face->high[i] = fmax(face->high[i], x[i]);
        }
    }
}

// The face around a triangle: neighbours with the same normal (to ENDS_ANGLE) that lie on its plane.
static flat_face flat_grow(flats *f, int32_t seed, int32_t index)
{
    flat_face face = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    memcpy(face.normal, f->normal + 3 * (int64_t)seed, sizeof face.normal);
    int32_t top = 0;
    f->stack[top++] = seed;
    f->face[seed] = index;
    while (top > 0) {
        const int32_t t = f->stack[--top];
        flat_add(f, t, &face);
        face.off = fmax(face.off, flat_off(f, seed, t));
        for (int k = 0; k < 3; ++k) {
            int32_t key[2] = {f->s->corner[3 * (int64_t)t + k], f->s->corner[3 * (int64_t)t + (k + 1) % 3]};
            pl_sort_small(key, 2);
            const int32_t at = pl_table_find(&f->edge, key), *use = f->use + 2 * (int64_t)at;
            const int32_t other = use[0] == t ? use[1] : use[0];
            if (other < 0 || f->face[other] == index) {
                continue;
            }

            // part of the face, or its rim
            const double cosine = pl_dot3(f->normal + 3 * (int64_t)other, face.normal);
            if (f->face[other] < 0 && flat_off(f, seed, other) < ENDS_OFF * f->g->length &&
                (f->area[other] == 0 || cosine > cos(ENDS_ANGLE))) {
                f->face[other] = index;
                f->stack[top++] = other;
            } else {
                const double edge =
                    pl_distance3(guess_corner(f->s, t, k), guess_corner(f->s, t, (k + 1) % 3));
                face.rim += edge;
                face.gentle += cosine > cos(ENDS_SHARP) ? edge : 0;
            }
        }
    }

    for (int i = 0; i < 3; ++i) {
        face.centre[i] /= face.area;
    }
    face.width = pl_distance3(face.low, face.high);

    return face;
}

// How far the body reaches behind x: to the last wall of the ray inwards.
static double flat_depth(const flats *f, const double x[3], const double inward[3])
{
    double depth = 0, t;
    for (int k = 0;
         k < 64 && pl_trisurf_tree_cast(&f->g->tree, x, inward, depth + 1e-6 * f->g->length, &t) >= 0; ++k) {
        depth = t;
    }
    return depth;
}

// Rising.
static int flat_by_value(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

// Rays from points spread over the face: outwards most must meet nothing; inwards,
// the median of the depths counts.
static void flat_look(const flats *f, int32_t index, flat_face *face)
{
    double depth[4 * ENDS_SAMPLES], t;
    int count = 0, blocked = 0;
    const double inward[3] = {-face->normal[0], -face->normal[1], -face->normal[2]};

    for (int32_t i = 0; i < f->s->triangle_count && count < PL_COUNT(depth); ++i) {
        const int32_t at = f->order[i];
        if (f->face[at] != index || f->area[at] == 0) {
            continue;
        }
        const int points = 1 + (int)(ENDS_SAMPLES * f->area[at] / (2 * face->area));
        for (int k = 0; k < points && count < PL_COUNT(depth); ++k) {
            // an even spread of fractions (the plastic number's), folded into the triangle
            double u = fmod(0.5 + k * 0.7548776662466927, 1), v = fmod(0.5 + k * 0.5698402909980532, 1), x[3];
            u = u + v > 1 ? 1 - u : u;
            v = u + v > 1 ? 1 - v : v;
            for (int a = 0; a < 3; ++a) {
                x[a] = (1 - u - v) * guess_corner(f->s, at, 0)[a] + u * guess_corner(f->s, at, 1)[a] +
                       v * guess_corner(f->s, at, 2)[a];
            }
            blocked += pl_trisurf_tree_cast(&f->g->tree, x, face->normal, 1e-6 * f->g->length, &t) >= 0;
            depth[count++] = flat_depth(f, x, inward);
        }
    }

    // a third may be blocked: lugs and flanges
    qsort(depth, (size_t)count, sizeof *depth, flat_by_value);
    face->outside = count > 0 && 3 * blocked < count;
    face->depth = count > 0 ? depth[count / 2] : 0;
}

// From the largest triangle on, so that seeds have accurate normals.
static void flats_find(flats *f)
{
    double total = 0;
    for (int32_t t = 0; t < f->s->triangle_count; ++t) {
        total += f->area[t] / 2;
    }

    int32_t next = 0;
    for (int32_t i = 0; i < f->s->triangle_count && f->count < FLATS_MAX; ++i) {
        const int32_t t = f->order[i];
        if (f->face[t] >= 0 || f->area[t] == 0) {
            continue;
        }
        // facets of round walls meet their neighbours gently and are no ends, unless they are large
        flat_face face = flat_grow(f, t, next);
        if (face.area > ENDS_SMALL * total &&
            (face.gentle <= ENDS_ROUND * face.rim || face.area > ENDS_LARGE * total)) {
            flat_look(f, next, &face);
            if (face.outside) {
                f->list[f->count++] = face;
            }
        }
        ++next;
    }
}

// How much a face looks down, to the front or to the left; most along an axis.
static double flat_low(const flat_face *face)
{
    static const double up[3] = {1, 1.1, 1.2};
    const double *n = face->normal, axis = fmax(fabs(n[0]), fmax(fabs(n[1]), fabs(n[2])));
    return (axis > 0.9999 ? 10 : 0) - pl_dot3(n, up);
}

// Of two faces the larger; of two alike, the lower.
static bool flat_better(const flat_face *a, const flat_face *b)
{
    return !b || a->area > 1.05 * b->area || (a->area > 0.95 * b->area && flat_low(a) > flat_low(b) + 1e-6);
}

// ---- choice
// A box around the face when others lie on its plane too, as the two feet of a U do.
static void flat_box(const flats *f, const flat_face *face, double box[6])
{
    const double slack = 2e-6 * f->g->length + 2 * face->off;
    for (int k = 0; k < f->count; ++k) {
        const flat_face *other = &f->list[k];
        double d[3];
        pl_sub3(other->centre, face->centre, d);
        if (other != face && fabs(pl_dot3(d, face->normal)) < slack &&
            pl_dot3(other->normal, face->normal) > cos(ENDS_ANGLE)) {
            for (int i = 0; i < 3; ++i) {
                box[i] = face->low[i] - 1e-4 * f->g->length;
                box[3 + i] = face->high[i] + 1e-4 * f->g->length;
            }
        }
    }
}

// Copies a face to one end; round-off of the normal is removed.
static void ends_take(const flats *f, const flat_face *face, double centre[3], double normal[3], double *area,
                      double *off, double box[6])
{
    memcpy(centre, face->centre, sizeof face->centre);
    for (int i = 0; i < 3; ++i) {
        normal[i] = fabs(face->normal[i]) < 1e-9 ? 0 : face->normal[i];
    }
    *area = face->area;
    *off = face->off;
    flat_box(f, face, box);
}

// The vertex of the part farthest from the base.
static void ends_farthest(guess *g)
{
    double most = -1;
    for (int32_t v = 0; v < g->surface->vertex_count; ++v) {
        const double *x = g->surface->position + 3 * (int64_t)v, away = pl_distance3(x, g->base);
        if (away > most) {
            most = away;
            memcpy(g->tip, x, sizeof g->tip);
        }
    }
}

// Base: the largest face with a slender body behind it. Tip: the end farthest from
// it; of a plate the opposite face.
static void ends_choose(guess *g, const flats *f)
{
    // how slender the body is behind its most slender end
    double slender = 0;
    for (int k = 0; k < f->count; ++k) {
        slender = fmax(slender, f->list[k].depth / f->list[k].width);
    }

    const double least = slender > ENDS_SLENDER ? ENDS_ALIKE * slender : 0;
    const flat_face *base = NULL, *tip = NULL;
    for (int k = 0; k < f->count; ++k) {
        if (f->list[k].depth >= least * f->list[k].width && flat_better(&f->list[k], base)) {
            base = &f->list[k];
        }
    }

    // tip
    for (int k = 0; base && k < f->count; ++k) {
        const flat_face *face = &f->list[k];
        const bool end = least > 0 ? face->depth >= least * face->width
                                   : pl_dot3(face->normal, base->normal) < -cos(ENDS_ANGLE);
        if (face != base && end &&
            (!tip || pl_distance3(face->centre, base->centre) > pl_distance3(tip->centre, base->centre))) {
            tip = face;
        }
    }

    // the farthest vertex unless there is a face
    if (!base) {
        return;
    }
    g->across = true;
    ends_take(f, base, g->base, g->base_normal, &g->base_area, &g->base_off, g->base_box);
    ends_farthest(g);
    if (tip) {
        ends_take(f, tip, g->tip, g->tip_normal, &g->tip_area, &g->tip_off, g->tip_box);
    }

    // cables run from the base
    double along[3];
    pl_sub3(g->tip, g->base, along);
    if (pl_norm3(along) > 0) {
        for (int i = 0; i < 3; ++i) {
            g->axis[i] = along[i] / pl_norm3(along);
        }
    }
}

// Ends on the axis if they are flat, otherwise by shape.
pl_status guess_ends(guess *g, pl_error *err)
{
    guess_ends_on_axis(g);
    if (g->base_area > 0) {
        return PL_OK;
    }

    flats f;
    pl_status status = flats_init(&f, g) ? PL_OK : pl_fail_memory(err, "the ends of a part");
    if (status == PL_OK) {
        flats_find(&f);
        ends_choose(g, &f);
    }

    flats_clear(&f);

    return status;
}
