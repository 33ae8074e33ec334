// Tubular through-holes in a closed surface: tendon channels. A hole is a smooth patch of triangles (bounded
// by sharp edges) with two rims whose normals look at its own axis. The axis is given by the means of
// slices between the rims; the radius is the mean distance from it. Holes with rounded mouths are one patch
// with the outside and are not found.
#include <stdlib.h>
#include "mesh/mesh_impl.h"

#define CHANNEL_ANGLE (50 * PL_PI / 180) // sharper edges bound patches
#define CHANNEL_SLENDER 4.0              // length over radius of the stubbiest channel
#define CHANNEL_SPREAD 0.15              // of the radius: how far the distance from the axis may vary
#define CHANNEL_SLICES 10                // along the chord between the rims

// An edge on the rim of a patch.
typedef struct channel_rim {
    int32_t patch, edge;
} channel_rim;

typedef struct channels {
    const pl_trisurf *s;
    double *normal; // 3 per triangle, unit
    double *area;   // mm^2, per triangle
    pl_table table; // edges, by their sorted vertices
    int32_t *use;   // 2 per edge: triangles; -1
    int32_t *uses;  // triangles per edge
    int32_t *patch; // union-find over triangles
    int32_t *link;  // union-find over vertices, of the rims of one patch
    channel_rim *rim;
    int32_t rim_count;
} channels;

// Union-find: the representative of i, with path halving.
static int32_t channel_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }

    return i;
}

// The lower index becomes the representative, so the result does not depend on the order of joining.
static void channel_join(int32_t *parent, int32_t a, int32_t b)
{
    a = channel_root(parent, a);
    b = channel_root(parent, b);
    parent[a > b ? a : b] = a > b ? b : a;
}

static const double *channel_corner(const pl_trisurf *s, int32_t t, int k)
{
    return s->position + 3 * (int64_t)s->corner[3 * (int64_t)t + k];
}

// Normals, areas, edges and smooth patches; false when out of memory.
static bool channels_init(channels *w)
{
    const pl_trisurf *s = w->s;
    const int64_t n = s->triangle_count;

    w->normal = PL_NEW_ARRAY(double, 3 * n);
    w->area = PL_NEW_ARRAY(double, n);
    w->use = PL_NEW_ARRAY(int32_t, 6 * n);
    w->uses = PL_NEW_ARRAY(int32_t, 3 * n);
    w->patch = PL_NEW_ARRAY(int32_t, n);
    w->link = PL_NEW_ARRAY(int32_t, s->vertex_count);
    if (!w->normal || !w->area || !w->use || !w->uses || !w->patch || !w->link ||
        !pl_table_init(&w->table, 2, 3 * n)) {
        return false;
    }

    // normals and areas, and the triangles of every edge
    for (int32_t t = 0; t < n; ++t) {
        double u[3], v[3], *m = w->normal + 3 * (int64_t)t;
        pl_sub3(channel_corner(s, t, 1), channel_corner(s, t, 0), u);
        pl_sub3(channel_corner(s, t, 2), channel_corner(s, t, 0), v);
        pl_cross3(u, v, m);
        w->area[t] = 0.5 * pl_norm3(m);
        for (int i = 0; i < 3; ++i) {
            m[i] /= w->area[t] > 0 ? 2 * w->area[t] : 1;
        }
        w->patch[t] = t;

        for (int k = 0; k < 3; ++k) {
            int32_t key[2] = {s->corner[3 * (int64_t)t + k], s->corner[3 * (int64_t)t + (k + 1) % 3]};
            pl_sort_small(key, 2);
            const int32_t at = pl_table_add(&w->table, key);
            if (w->uses[at]++ < 2) {
                w->use[2 * (int64_t)at + w->uses[at] - 1] = t;
            }
        }
    }

    // triangles that meet in a blunt edge belong to one patch
    for (int32_t e = 0; e < w->table.count; ++e) {
        const int32_t a = w->use[2 * (int64_t)e], b = w->use[2 * (int64_t)e + 1];
        if (w->uses[e] == 2 &&
            pl_dot3(w->normal + 3 * (int64_t)a, w->normal + 3 * (int64_t)b) > cos(CHANNEL_ANGLE)) {
            channel_join(w->patch, a, b);
        }
    }

    return true;
}

static void channels_clear(channels *w)
{
    void *const block[] = {w->normal, w->area, w->use, w->uses, w->patch, w->link, w->rim};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_table_clear(&w->table);
}

static int channel_compare(const void *a, const void *b)
{
    const channel_rim *p = a, *q = b;
    return p->patch != q->patch ? (p->patch > q->patch) - (p->patch < q->patch)
                                : (p->edge > q->edge) - (p->edge < q->edge);
}

// The edges between patches, sorted by patch; each stands under both.
static bool channels_bound(channels *w)
{
    w->rim = PL_NEW_ARRAY(channel_rim, 2 * (int64_t)w->table.count);
    for (int32_t e = 0; w->rim && e < w->table.count; ++e) {
        const int32_t a = channel_root(w->patch, w->use[2 * (int64_t)e]),
                      b = w->uses[e] > 1 ? channel_root(w->patch, w->use[2 * (int64_t)e + 1]) : a;
        if (a != b) {
            w->rim[w->rim_count++] = (channel_rim){a, e};
            w->rim[w->rim_count++] = (channel_rim){b, e};
        }
    }

    if (w->rim) {
        qsort(w->rim, (size_t)w->rim_count, sizeof *w->rim, channel_compare);
    }

    return w->rim != NULL;
}

// Centres and perimeters of the two rims of the patch whose edges start at `first`; false when it has more or
// fewer. *end is behind its last edge.
static bool channel_rims(channels *w, int32_t first, int32_t *end, double centre[2][3], double perimeter[2])
{
    // connect the rim's edges through their vertices
    const int32_t patch = w->rim[first].patch;
    for (*end = first; *end < w->rim_count && w->rim[*end].patch == patch; ++*end) {
        const int32_t *v = w->table.key + 2 * (int64_t)w->rim[*end].edge;
        w->link[v[0]] = v[0];
        w->link[v[1]] = v[1];
    }

    for (int32_t i = first; i < *end; ++i) {
        const int32_t *v = w->table.key + 2 * (int64_t)w->rim[i].edge;
        channel_join(w->link, v[0], v[1]);
    }

    // sums per rim: centre weighted by the length of the edges
    int32_t root[2] = {-1, -1};
    for (int32_t i = first; i < *end; ++i) {
        const int32_t *v = w->table.key + 2 * (int64_t)w->rim[i].edge, at = channel_root(w->link, v[0]);
        const int k = root[0] < 0 || root[0] == at ? 0 : root[1] < 0 || root[1] == at ? 1 : -1;
        // a third rim: a hole that branches, or no tube at all
        if (k < 0) {
            return false;
        }
        root[k] = at;
        const double *a = w->s->position + 3 * (int64_t)v[0], *b = w->s->position + 3 * (int64_t)v[1];
        const double length = pl_distance3(a, b);
        perimeter[k] += length;
        for (int q = 0; q < 3; ++q) {
            centre[k][q] += 0.5 * length * (a[q] + b[q]);
        }
    }

    for (int k = 0; k < 2 && root[1] >= 0; ++k) {
        for (int i = 0; i < 3; ++i) {
            centre[k][i] /= perimeter[k] > 0 ? perimeter[k] : 1;
        }
    }

    return root[1] >= 0;
}

// Sums over points spread over the patch, each with the area it stands for.
typedef struct channel_sums {
    double from[3], along[3], length;                         // the chord between the rims
    double weight[CHANNEL_SLICES], middle[CHANNEL_SLICES][3]; // per slice: area, and mean position (mm)
    // over the patch: area, and integrals of the distance from the axis and of its square
    double area, radius, square, looking; // looking: mean of normal . outward direction, -1 in a hole
} channel_sums;

// The slice that a point belongs to; beyond the rims the first or the last.
static int channel_slice(const channel_sums *c, const double x[3])
{
    double r[3];
    pl_sub3(x, c->from, r);
    const int k = (int)floor(CHANNEL_SLICES * pl_dot3(r, c->along) / c->length);
    return k < 0 ? 0 : k >= CHANNEL_SLICES ? CHANNEL_SLICES - 1 : k;
}

// First pass: means of the slices. Second pass: distances from them.
static void channel_add(channel_sums *c, bool second, const double x[3], const double n[3], double area)
{
    const int k = channel_slice(c, x);
    if (!second) {
        c->weight[k] += area;
        for (int i = 0; i < 3; ++i) {
            c->middle[k][i] += area * x[i];
        }
        return;
    }

    // distance from the slice's mean, orthogonal to the chord
    double r[3];
    pl_sub3(x, c->middle[k], r);
    const double t = pl_dot3(r, c->along);
    for (int i = 0; i < 3; ++i) {
        r[i] -= t * c->along[i];
    }

    const double d = pl_norm3(r);
    c->area += area;
    c->radius += area * d;
    c->square += area * d * d;
    c->looking += area * (d > 0 ? pl_dot3(n, r) / d : 0);
}

// One pass over the patch. Points are spaced by about a fifth of `spacing`, the radius of the rims.
static void channel_pass(channels *w, int32_t patch, bool second, double spacing, channel_sums *c)
{
    for (int32_t t = 0; t < w->s->triangle_count; ++t) {
        if (channel_root(w->patch, t) != patch) {
            continue;
        }
        // long strips are looked at in many places: the R2 sequence, mirrored into the triangle
        const int count = 3 + (int)fmin(400, 20 * w->area[t] / (spacing * spacing));
        for (int k = 0; k < count; ++k) {
            double u = 0.5 + 0.7548776662466927 * (k + 1), v = 0.5 + 0.5698402909980532 * (k + 1), x[3];
            u -= floor(u);
            v -= floor(v);
            if (u + v > 1) {
                u = 1 - u;
                v = 1 - v;
            }

            for (int i = 0; i < 3; ++i) {
                x[i] = (1 - u - v) * channel_corner(w->s, t, 0)[i] + u * channel_corner(w->s, t, 1)[i] +
                       v * channel_corner(w->s, t, 2)[i];
            }

            channel_add(c, second, x, w->normal + 3 * (int64_t)t, w->area[t] / count);
        }
    }
}

// Whether the patch with rim edges from `first` is a channel; fills *out. *end is behind its last edge.
static bool channel_judge(channels *w, int32_t first, int32_t *end, pl_channel *out)
{
    double centre[2][3] = {{0}}, perimeter[2] = {0};
    const int32_t patch = w->rim[first].patch;

    if (!channel_rims(w, first, end, centre, perimeter)) {
        return false;
    }

    // a first radius from the rims' perimeters; stubby holes are not channels
    channel_sums c = {.length = pl_distance3(centre[0], centre[1])};
    const double rim = (perimeter[0] + perimeter[1]) / (4 * PL_PI);
    if (!(c.length > CHANNEL_SLENDER * rim) || !(rim > 0)) {
        return false;
    }

    // slices along the chord between the rims
    memcpy(c.from, centre[0], sizeof c.from);
    for (int i = 0; i < 3; ++i) {
        c.along[i] = (centre[1][i] - centre[0][i]) / c.length;
    }

    // centre line: the means of the slices, all of which must have points
    channel_pass(w, patch, false, rim, &c);
    for (int k = 0; k < CHANNEL_SLICES; ++k) {
        for (int i = 0; i < 3; ++i) {
            if (!(c.weight[k] > 0)) {
                return false;
            }
            c.middle[k][i] /= c.weight[k];
        }
    }

    // distances from the centre line
    channel_pass(w, patch, true, rim, &c);

    // normals look at the axis, the distance varies little, rims are not much wider, and the tube is slender
    const double radius = c.radius / c.area, spread = sqrt(fmax(0, c.square / c.area - radius * radius));
    if (c.looking > -0.9 * c.area || spread > CHANNEL_SPREAD * radius || perimeter[0] > 4 * PL_PI * radius ||
        perimeter[1] > 4 * PL_PI * radius || c.length < CHANNEL_SLENDER * radius) {
        return false;
    }

    // points of the axis: rim, slices, rim
    *out = (pl_channel){.radius = radius, .point_count = CHANNEL_SLICES + 2};
    memcpy(out->point[0], centre[0], sizeof centre[0]);
    memcpy(out->point[CHANNEL_SLICES + 1], centre[1], sizeof centre[1]);
    memcpy(out->point[1], c.middle, sizeof c.middle);
    for (int k = 0; k <= CHANNEL_SLICES; ++k) {
        out->length += pl_distance3(out->point[k], out->point[k + 1]);
    }

    return true;
}

// Returns the number of channels written to `out`, at most `limit`; -1 when out of memory.
int pl_trisurf_channels(const pl_trisurf *surface, pl_channel *out, int limit, pl_error *err)
{
    channels w = {.s = surface};
    int count = 0;

    if (!channels_init(&w) || !channels_bound(&w)) {
        channels_clear(&w);
        pl_fail_memory(err, "the channels of a surface");
        return -1;
    }

    // each run of rim edges with the same patch is one candidate
    for (int32_t i = 0, end = 0; i < w.rim_count && count < limit; i = end) {
        count += channel_judge(&w, i, &end, &out[count]);
    }
    channels_clear(&w);

    return count;
}
