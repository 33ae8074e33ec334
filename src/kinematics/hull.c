// The convex hull of a cloud of points: volume, area or length, depending on the number of its dimensions.
// Incremental: a point outside removes the facets it sees and is joined to their rim. Whether a point sees a
// facet is decided without rounding, on points moved to a fine grid: only then are the facets seen one piece
// with one rim, however many points are nearly in a plane or nearly the same.
#include <stdlib.h>
#include "kinematics/kinematics_impl.h"
#include "kinematics/kinematics_task.h"

#define HULL_FLAT 1e-6    // of the cloud's length: thinner counts as flat
#define HULL_FAR 1e40     // mm: squares of products of three lengths are still numbers
#define HULL_GRID 0x1p+40 // steps of the grid along the cloud's length

// Four points as far apart as a few passes find; returns how many dimensions they span.
static int hull_simplex(const double *point, int count, int32_t v[4], double *length)
{
    // two passes: the farthest point from the first, then the farthest from that one
    double far = 0;
    v[0] = 0;
    for (int pass = 0; pass < 2; ++pass) {
        far = 0;
        const int32_t from = v[0];
        v[1] = from;

        for (int i = 0; i < count; ++i) {
            const double d = pl_distance3(point + 3 * (int64_t)i, point + 3 * (int64_t)from);
            if (d > far) {
                far = d;
                v[1] = i;
            }
        }

        if (pass == 0) {
            v[0] = v[1];
        }
    }

    *length = far;
    double size = 0;
    for (int i = 0; i < count; ++i) {
        size = fmax(size, pl_norm3(point + 3 * (int64_t)i));
    }
    if (far <= 1e-12 * size) {
        return 0;
    }

    // third point: farthest from the line
    const double *a = point + 3 * (int64_t)v[0];
    double e[3], n[3] = {0}, best = 0;
    pl_sub3(point + 3 * (int64_t)v[1], a, e);

    for (int i = 0; i < count; ++i) {
        double d[3], c[3];
        pl_sub3(point + 3 * (int64_t)i, a, d);
        pl_cross3(e, d, c);

        if (pl_norm3(c) / far > best) {
            best = pl_norm3(c) / far;
            v[2] = i;
            memcpy(n, c, sizeof n);
        }
    }

    if (best <= HULL_FLAT * far) {
        return 1;
    }

    // fourth point: farthest from the plane
    const double scale = pl_norm3(n);
    best = 0;
    for (int i = 0; i < count; ++i) {
        double d[3];
        pl_sub3(point + 3 * (int64_t)i, a, d);
        if (fabs(pl_dot3(n, d)) / scale > best) {
            best = fabs(pl_dot3(n, d)) / scale;
            v[3] = i;
        }
    }

    return best <= HULL_FLAT * far ? 2 : 3;
}

// ---- flat clouds

typedef struct flat_point {
    double x, y;
} flat_point;

// By x, then by y.
static int flat_compare(const void *a, const void *b)
{
    const flat_point *p = a, *q = b;
    return p->x != q->x ? (p->x < q->x ? -1 : 1) : (p->y > q->y) - (p->y < q->y);
}

// Twice the signed area of a b c: positive for a left turn.
static double flat_turn(const flat_point *a, const flat_point *b, const flat_point *c)
{
    return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

// Area of the convex polygon, by Andrew's chains.
static pl_status hull_flat(const double *point, int count, const int32_t v[3], pl_hull *hull, pl_error *err)
{
    flat_point *p = PL_NEW_ARRAY(flat_point, count), *chain = PL_NEW_ARRAY(flat_point, 2 * (int64_t)count);
    if (!p || !chain) {
        pl_free(p);
        pl_free(chain);
        return pl_fail_memory(err, "hull");
    }

    // coordinates in the plane
    const double *a = point + 3 * (int64_t)v[0];
    double u[3], w[3], n[3];
    pl_sub3(point + 3 * (int64_t)v[1], a, u);
    pl_sub3(point + 3 * (int64_t)v[2], a, w);
    pl_cross3(u, w, n);
    pl_cross3(n, u, w);
    const double lu = pl_norm3(u), lw = pl_norm3(w);

    for (int i = 0; i < count; ++i) {
        double d[3];
        pl_sub3(point + 3 * (int64_t)i, a, d);
        p[i] = (flat_point){pl_dot3(u, d) / lu, pl_dot3(w, d) / lw};
    }

    // lower chain, then upper chain back
    qsort(p, (size_t)count, sizeof *p, flat_compare);
    int m = 0;
    for (int i = 0; i < count; ++i) {
        while (m >= 2 && flat_turn(&chain[m - 2], &chain[m - 1], &p[i]) <= 0) {
            --m;
        }
        chain[m++] = p[i];
    }

    const int lower = m + 1;
    for (int i = count - 2; i >= 0; --i) {
        while (m >= lower && flat_turn(&chain[m - 2], &chain[m - 1], &p[i]) <= 0) {
            --m;
        }
        chain[m++] = p[i];
    }

    // area by the shoelace formula; the last point repeats the first
    hull->vertex_count = m - 1;
    for (int i = 0; i + 1 < m; ++i) {
        hull->area += 0.5 * (chain[i].x * chain[i + 1].y - chain[i].y * chain[i + 1].x);
    }
    pl_free(p);
    pl_free(chain);

    return PL_OK;
}

// ---- bodies

__extension__ typedef __int128 wide;

// A triangle of the hull; coordinates are steps of the grid.
typedef struct facet {
    int32_t v[3];           // turns left seen from outside
    int32_t near[3];        // the facet beyond the edge from v[k] to v[k + 1]
    wide normal[3];         // exact, steps^2
    double slope[3], doubt; // the normal rounded; a height below `doubt` may have the other sign
    bool seen, alive;       // from the point being added; part of the hull
} facet;

typedef struct rim_edge {
    int32_t from, to, beyond; // vertices, and the facet that stays
    int side;                 // its edge from `to` to `from`
    int32_t facet;            // the new one
} rim_edge;

typedef struct hull_build {
    const double *point;
    int64_t *grid; // 3 per point: its place in steps
    facet *facet;  // a hull of n points has at most 2 n - 4
    int32_t facet_count;
    int32_t *spare, spare_count; // places of facets that went
    rim_edge *rim;
    int32_t rim_count;
    int32_t *leaving, *arriving; // per vertex of the rim: its edge there and its edge back
    bool *used;                  // per point: on the hull
} hull_build;

// The edge is at most twice the cloud's length: 2^41 steps.
// Coordinates lie within 2^40 steps of v[0], so differences are exact.
static void grid_edge(const hull_build *h, int32_t from, int32_t to, int64_t e[3])
{
    for (int k = 0; k < 3; ++k) {
        e[k] = h->grid[3 * (int64_t)to + k] - h->grid[3 * (int64_t)from + k];
    }
}

// normal = e x d, below 2^82 steps^2; a height normal . t is below 2^123 and fits.
static int32_t facet_add(hull_build *h, int32_t a, int32_t b, int32_t c)
{
    facet f = {.v = {a, b, c}, .alive = true};
    int64_t e[3], d[3];

    grid_edge(h, a, b, e);
    grid_edge(h, a, c, d);
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        f.normal[k] = (wide)e[i] * d[j] - (wide)e[j] * d[i];
        // rounding of the double product: 1e-15 of its largest terms
        f.slope[k] = (double)f.normal[k];
        f.doubt += 1e-15 * 2 * HULL_GRID * fabs(f.slope[k]);
    }

    const int32_t place = h->spare_count > 0 ? h->spare[--h->spare_count] : h->facet_count++;
    h->facet[place] = f;

    return place;
}

// Is p strictly outside: normal . (p - a) > 0?
static bool facet_sees(const hull_build *h, const facet *f, int32_t p)
{
    int64_t t[3];
    grid_edge(h, f->v[0], p, t);

    // first in double precision; exactly only where rounding could decide
    const double height =
        f->slope[0] * (double)t[0] + f->slope[1] * (double)t[1] + f->slope[2] * (double)t[2];
    if (fabs(height) > f->doubt) {
        return height > 0;
    }

    return f->normal[0] * t[0] + f->normal[1] * t[1] + f->normal[2] * t[2] > 0;
}

// The edge of a facet that starts at `from`.
static int facet_side(const facet *f, int32_t from)
{
    return f->v[0] == from ? 0 : f->v[1] == from ? 1 : 2;
}

// Marks the facets p sees; false when there are none.
static bool hull_look(hull_build *h, int32_t p)
{
    bool any = false;
    for (int32_t f = 0; f < h->facet_count; ++f) {
        h->facet[f].seen = h->facet[f].alive && facet_sees(h, &h->facet[f], p);
        any = any || h->facet[f].seen;
    }

    return any;
}

// The edges between what is seen and what stays; the seen facets are removed and their places reused.
static void hull_open(hull_build *h)
{
    h->rim_count = 0;
    for (int32_t s = 0; s < h->facet_count; ++s) {
        facet *f = &h->facet[s];

        for (int k = 0; f->seen && k < 3; ++k) {
            const facet *beyond = &h->facet[f->near[k]];
            const int32_t to = f->v[(k + 1) % 3];
            if (!beyond->seen) {
                h->rim[h->rim_count++] = (rim_edge){
                    .from = f->v[k], .to = to, .beyond = f->near[k], .side = facet_side(beyond, to)};
            }
        }

        if (f->seen) {
            f->alive = false;
            h->spare[h->spare_count++] = s;
        }
    }
}

// Adds a point; nothing changes if it lies inside.
static void hull_add(hull_build *h, int32_t p)
{
    if (!hull_look(h, p)) {
        return;
    }
    hull_open(h);

    // new facets from the rim to p
    for (int32_t i = 0; i < h->rim_count; ++i) {
        rim_edge *r = &h->rim[i];
        r->facet = facet_add(h, r->from, r->to, p);
        h->leaving[r->from] = h->arriving[r->to] = r->facet;
    }

    // neighbours: across the rim, and left and right along it
    for (int32_t i = 0; i < h->rim_count; ++i) {
        const rim_edge *r = &h->rim[i];
        facet *f = &h->facet[r->facet];
        f->near[0] = r->beyond;
        f->near[1] = h->leaving[r->to];
        f->near[2] = h->arriving[r->from];
        h->facet[r->beyond].near[r->side] = r->facet;
    }
}

// Volume by tetrahedra from one corner, area, and the vertices in use.
static void hull_sum(const hull_build *h, int count, pl_hull *hull)
{
    const double *origin = h->point + 3 * (int64_t)h->facet[0].v[0];
    for (int32_t s = 0; s < h->facet_count; ++s) {
        const facet *f = &h->facet[s];
        if (!f->alive) {
            continue;
        }
        double a[3], b[3], c[3], n[3];
        pl_sub3(h->point + 3 * (int64_t)f->v[0], origin, a);
        pl_sub3(h->point + 3 * (int64_t)f->v[1], origin, b);
        pl_sub3(h->point + 3 * (int64_t)f->v[2], origin, c);
        pl_cross3(b, c, n);
        hull->volume += pl_dot3(a, n) / 6;
        pl_sub3(b, a, b);
        pl_sub3(c, a, c);
        pl_cross3(b, c, n);
        hull->area += 0.5 * pl_norm3(n);
        ++hull->facet_count;
        for (int k = 0; k < 3; ++k) {
            h->used[f->v[k]] = true;
        }
    }

    for (int i = 0; i < count; ++i) {
        hull->vertex_count += h->used[i];
    }
}

// The tetrahedron of the four points v.
static void hull_begin(hull_build *h, const int32_t v[4])
{
    // opposite[k]: the facet without corner k, and beyond its edges those without its other corners
    static const int opposite[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    int32_t corner[4] = {v[0], v[1], v[2], v[3]};

    facet_add(h, v[1], v[2], v[3]);
    if (facet_sees(h, &h->facet[0], v[0])) {
        corner[1] = v[2];
        corner[2] = v[1];
    }

    // the probe above is overwritten
    h->facet_count = 0;
    for (int k = 0; k < 4; ++k) {
        const int *o = opposite[k];
        const int32_t f = facet_add(h, corner[o[0]], corner[o[1]], corner[o[2]]);
        for (int i = 0; i < 3; ++i) {
            h->facet[f].near[i] = o[(i + 2) % 3];
        }
    }
}

// `length` is the largest distance from v[0].
// Quadratic in the number of hull facets per point; clouds have a few thousand points.
static pl_status hull_body(const double *point, int count, const int32_t v[4], double length, pl_hull *hull,
                           pl_error *err)
{
    hull_build h = {.point = point,
                    .grid = PL_NEW_ARRAY(int64_t, 3 * (int64_t)count),
                    .facet = PL_NEW_ARRAY(facet, 2 * (int64_t)count),
                    .spare = PL_NEW_ARRAY(int32_t, 2 * (int64_t)count),
                    .rim = PL_NEW_ARRAY(rim_edge, count),
                    .leaving = PL_NEW_ARRAY(int32_t, count),
                    .arriving = PL_NEW_ARRAY(int32_t, count),
                    .used = PL_NEW_ARRAY(bool, count)};
    const bool ok = h.grid && h.facet && h.spare && h.rim && h.leaving && h.arriving && h.used;

    if (ok) {
        for (int64_t i = 0; i < 3 * (int64_t)count; ++i) {
            h.grid[i] = llround((point[i] - point[3 * (int64_t)v[0] + i % 3]) / length * HULL_GRID);
        }
        hull_begin(&h, v);
        for (int32_t i = 0; i < count; ++i) {
            hull_add(&h, i);
        }
        hull_sum(&h, count, hull);
    }

    void *const block[] = {h.grid, h.facet, h.spare, h.rim, h.leaving, h.arriving, h.used};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }

    return ok ? PL_OK : pl_fail_memory(err, "hull");
}

// Length, area or volume in mm, mm^2 or mm^3, by dimension.
pl_status pl_hull_measure(const double *point, int count, pl_hull *hull, pl_error *err)
{
    *hull = (pl_hull){0};
    if (count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "hull: no points");
    }

    for (int64_t i = 0; i < 3 * (int64_t)count; ++i) {
        if (!(fabs(point[i]) <= HULL_FAR)) {
            return pl_fail(err, PL_BAD_INPUT, "hull: point %d is at %g mm, must be within %g", (int)(i / 3),
                           point[i], HULL_FAR);
        }
    }

    int32_t v[4] = {0};
    hull->dimension = hull_simplex(point, count, v, &hull->length);
    hull->vertex_count = hull->dimension == 0 ? 1 : 2;
    if (hull->dimension == 2) {
        return hull_flat(point, count, v, hull, err);
    }
    if (hull->dimension == 3) {
        hull->vertex_count = 0;
        return hull_body(point, count, v, hull->length, hull, err);
    }

    return PL_OK;
}

// Index of the nearest of `count` points with `stride` numbers each; -1 without points.
int pl_nearest_point(const double *point, int count, int stride, const double where[3])
{
    int best = -1;
    double least = INFINITY;

    for (int i = 0; i < count; ++i) {
        const double d = pl_distance3(point + (int64_t)stride * i, where);
        if (d < least) {
            least = d;
            best = i;
        }
    }

    return best;
}
