// The convex hull of a cloud of points: volume, area or length, depending on how many dimensions it has.
// Incremental: a point outside removes the facets it sees and is joined to their rim.
#include <stdlib.h>
#include "kinematics/kinematics_impl.h"

#define HULL_FLAT 1e-6 // of the cloud's length: thinner counts as flat

typedef struct facet {
    int32_t v[3];
    double normal[3], offset; // outside: normal . x > offset
    bool alive;
} facet;

typedef struct hull_build {
    const double *point;
    facet *facet;
    int32_t facet_count, facet_capacity;
    int32_t *seen; // facets the point sees
    int32_t seen_count, seen_capacity;
    double slack; // closer to a facet than this is on it
    double inside[3];
} hull_build;

static const double *at(const hull_build *h, int32_t v)
{
    return h->point + 3 * (int64_t)v;
}

static bool facet_add(hull_build *h, int32_t a, int32_t b, int32_t c)
{
    if (!pl_grow((void **)&h->facet, &h->facet_capacity, h->facet_count + 1, sizeof *h->facet)) {
        return false;
    }
    facet f = {.v = {a, b, c}, .alive = true};
    double e[3], d[3];
    pl_sub3(at(h, b), at(h, a), e);
    pl_sub3(at(h, c), at(h, a), d);
    pl_cross3(e, d, f.normal);
    const double length = pl_norm3(f.normal);
    for (int k = 0; k < 3; ++k) {
        f.normal[k] = length > 0 ? f.normal[k] / length : 0;
    }
    f.offset = pl_dot3(f.normal, at(h, a));
    h->facet[h->facet_count++] = f;
    return true;
}

// Is the edge from a to b also, reversed, an edge of another facet the point sees?
static bool edge_inside(const hull_build *h, int32_t a, int32_t b)
{
    for (int32_t s = 0; s < h->seen_count; ++s) {
        const int32_t *v = h->facet[h->seen[s]].v;
        for (int k = 0; k < 3; ++k) {
            if (v[k] == b && v[(k + 1) % 3] == a) {
                return true;
            }
        }
    }
    return false;
}

static bool hull_add(hull_build *h, int32_t p)
{
    h->seen_count = 0;
    for (int32_t f = 0; f < h->facet_count; ++f) {
        if (h->facet[f].alive && pl_dot3(h->facet[f].normal, at(h, p)) > h->facet[f].offset + h->slack) {
            if (!pl_grow((void **)&h->seen, &h->seen_capacity, h->seen_count + 1, sizeof *h->seen)) {
                return false;
            }
            h->seen[h->seen_count++] = f;
        }
    }
    for (int32_t s = 0; s < h->seen_count; ++s) {
        const int32_t v[3] = {h->facet[h->seen[s]].v[0], h->facet[h->seen[s]].v[1],
                              h->facet[h->seen[s]].v[2]};
        for (int k = 0; k < 3; ++k) {
            if (!edge_inside(h, v[k], v[(k + 1) % 3]) && !facet_add(h, v[k], v[(k + 1) % 3], p)) {
                return false;
            }
        }
    }
    for (int32_t s = 0; s < h->seen_count; ++s) {
        h->facet[h->seen[s]].alive = false;
    }
    // the dead leave when they are the most
    int32_t alive = 0;
    for (int32_t f = 0; f < h->facet_count; ++f) {
        alive += h->facet[f].alive;
    }
    if (h->facet_count > 2 * alive) {
        int32_t next = 0;
        for (int32_t f = 0; f < h->facet_count; ++f) {
            if (h->facet[f].alive) {
                h->facet[next++] = h->facet[f];
            }
        }
        h->facet_count = next;
    }
    return true;
}

// Four points as far apart as a few passes find; how many dimensions they span.
static int hull_simplex(const double *point, int count, int32_t v[4], double *length)
{
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

static int flat_compare(const void *a, const void *b)
{
    const flat_point *p = a, *q = b;
    return p->x != q->x ? (p->x < q->x ? -1 : 1) : (p->y > q->y) - (p->y < q->y);
}

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
    hull->vertex_count = m - 1;
    for (int i = 0; i + 1 < m; ++i) {
        hull->area += 0.5 * (chain[i].x * chain[i + 1].y - chain[i].y * chain[i + 1].x);
    }
    pl_free(p);
    pl_free(chain);
    return PL_OK;
}

// ---- bodies

static void hull_sum(const hull_build *h, int count, bool *used, pl_hull *hull)
{
    for (int32_t f = 0; f < h->facet_count; ++f) {
        if (!h->facet[f].alive) {
            continue;
        }
        double a[3], b[3], c[3], n[3];
        pl_sub3(at(h, h->facet[f].v[0]), h->inside, a);
        pl_sub3(at(h, h->facet[f].v[1]), h->inside, b);
        pl_sub3(at(h, h->facet[f].v[2]), h->inside, c);
        pl_cross3(b, c, n);
        hull->volume += pl_dot3(a, n) / 6;
        pl_sub3(b, a, b);
        pl_sub3(c, a, c);
        pl_cross3(b, c, n);
        hull->area += 0.5 * pl_norm3(n);
        ++hull->facet_count;
        for (int k = 0; k < 3; ++k) {
            used[h->facet[f].v[k]] = true;
        }
    }
    for (int i = 0; i < count; ++i) {
        hull->vertex_count += used[i];
    }
}

static pl_status hull_body(const double *point, int count, const int32_t v[4], double length, pl_hull *hull,
                           pl_error *err)
{
    hull_build h = {.point = point, .slack = 1e-11 * length};
    bool *used = PL_NEW_ARRAY(bool, count);
    double e[3], d[3], n[3], t[3];
    pl_sub3(at(&h, v[1]), at(&h, v[0]), e);
    pl_sub3(at(&h, v[2]), at(&h, v[0]), d);
    pl_sub3(at(&h, v[3]), at(&h, v[0]), t);
    pl_cross3(e, d, n);
    // facets turn left seen from outside
    const bool above = pl_dot3(n, t) > 0;
    const int32_t a = v[0], b = above ? v[2] : v[1], c = above ? v[1] : v[2], top = v[3];
    for (int k = 0; k < 3; ++k) {
        h.inside[k] = (at(&h, a)[k] + at(&h, b)[k] + at(&h, c)[k] + at(&h, top)[k]) / 4;
    }
    bool ok = used && facet_add(&h, a, b, c) && facet_add(&h, b, a, top) && facet_add(&h, c, b, top) &&
              facet_add(&h, a, c, top);
    for (int32_t i = 0; ok && i < count; ++i) {
        ok = hull_add(&h, i);
    }
    if (ok) {
        hull_sum(&h, count, used, hull);
    }
    pl_free(used);
    pl_free(h.facet);
    pl_free(h.seen);
    return ok ? PL_OK : pl_fail_memory(err, "hull");
}

pl_status pl_hull_measure(const double *point, int count, pl_hull *hull, pl_error *err)
{
    *hull = (pl_hull){0};
    if (count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "hull: no points");
    }
    for (int64_t i = 0; i < 3 * (int64_t)count; ++i) {
        if (!isfinite(point[i])) {
            return pl_fail(err, PL_BAD_INPUT, "hull: point %d is not finite", (int)(i / 3));
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
