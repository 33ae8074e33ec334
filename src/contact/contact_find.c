// Which points of a surface meet which of its faces. Boxes of the deformed faces in a tree that is refitted
// for every shape and rebuilt when it has become loose; pairs of near boxes give pairs of points and faces.
//
// Neighbours are distinguished from parts that fold onto each other: faces with a common vertex never meet;
// the normals must be opposed; a point is inside a face only to a part of the edge length; and where a point
// appears to be inside, the undeformed shape tells whether it looks at the face through the body's own wall:
// then the line between the two points runs through material and is not much longer than the depth found. In
// a body that is bent a lot this is not enough: a point that is deep inside a face of its own body, and was
// so at the last equilibrium already, has never come from outside, and the two do not meet.
//
// A search through the tree also notes which points and faces may meet after small motions; as long as no
// vertex has moved farther than FIND_MOVED of the edges around it since, only those are looked at.
#include "contact/contact_impl.h"

#define FIND_OPPOSED (-0.2) // cosine between the normals of point and face
#define FIND_TURNED 0.3     // the same may change by this much while the list of candidates serves
#define FIND_DEPTH 0.7      // of the edge: a point deeper inside is not seen
#define FIND_SUDDEN 0.1     // of the edge: deeper inside only when it was less deep at the last equilibrium
#define FIND_WALL 6.0       // undeformed distance over depth up to which it is the point's own wall
#define FIND_BESIDE 0.4     // sine of the angle below which a point is beside a face, not above it
#define FIND_NEAR 0.05      // of the edge: nearer points slide off a face smoothly
#define FIND_BEYOND 0.1     // of the reference coordinates: how far a face is continued
#define FIND_LOOSE 1.6      // growth of the boxes' sizes at which the tree is rebuilt
#define FIND_MOVED 0.1      // of the edge: motion that the list of candidates allows for
#define FIND_CLOSE 0.08     // of the edge: largest reach for which the list serves
#define FIND_WIDE (FIND_CLOSE + 2 * FIND_MOVED) // of the longer edge: candidates are nearer than this
#define FIND_CANDIDATES 24                      // per point, on average; more: no list

struct pl_contact_finder {
    const pl_contact_surface *s;
    const double *rest;
    bool self;
    double *before; // full: the last equilibrium
    double *box;    // 6 per face
    pl_bvh tree;
    double built;   // sum of the boxes' sizes when the tree was built
    double *normal; // 3 per face
    double *plane;  // 2 per face: distance of its centre from the origin along the normal; largest of a node
                    // from that plane
    double *point_normal; // 3 per point: mean of the faces around it, computed when asked for
    double *rest_normal;
    double *at;            // 3 per point: its position
    double *rest_at;       // the same, undeformed
    double *rest_face;     // 6 per face: centre and normal, undeformed
    int32_t *candidate;    // pairs (point, face)
    int64_t candidates;    // their number; -1: no list
    double *candidate_x;   // full: where they were found
    int32_t point;         // asked about
    int32_t *kept;         // per point: the face it keeps to; -1
    pl_contact_pair *best; // per point; face -1: none
    pl_contact_pair *list;
    const double *x;
    double reach;
    pl_contact_counts counts;
};

void pl_contact_finder_destroy(pl_contact_finder *f)
{
    if (f) {
        void *const block[] = {f->box,  f->normal,  f->plane,     f->point_normal, f->rest_normal,
                               f->at,   f->rest_at, f->rest_face, f->candidate,    f->candidate_x,
                               f->kept, f->best,    f->list,      f->before};
        for (int i = 0; i < PL_COUNT(block); ++i) {
            pl_free(block[i]);
        }
        pl_bvh_clear(&f->tree);
        pl_free(f);
    }
}

static void find_normals(const pl_contact_surface *s, const double *x, double *normal, double *plane,
                         double *point_normal, double *at)
{
    for (int32_t p = 0; p < s->point_count; ++p) {
        pl_contact_point_at(s, p, x, at + 3 * (size_t)p);
    }
    memset(point_normal, 0, 3 * (size_t)s->point_count * sizeof *point_normal);
    for (int32_t k = 0; k < s->face_count; ++k) {
        double xi[2], y[3], a[6], n[3];
        contact_reference(s->size[k], s->size[k], xi);
        contact_face_at(s, k, x, xi, y, a);
        pl_cross3(a, a + 3, n);
        const double length = pl_norm3(n);
        for (int i = 0; i < 3; ++i) {
            n[i] = length > 0 ? n[i] / length : 0;
            normal[3 * (size_t)k + (size_t)i] = n[i];
        }
        double *flat = plane + 2 * (size_t)k;
        flat[0] = pl_dot3(n, y);
        flat[1] = 0;
        for (int c = 0; c < s->size[k]; ++c) {
            const double *v = x + 3 * (size_t)s->node[PL_FACE_NODES_MAX * (size_t)k + (size_t)c];
            const double off = fabs(pl_dot3(n, v) - flat[0]);
            flat[1] = off > flat[1] ? off : flat[1];
        }
        for (int c = 0; c < s->size[k]; ++c) {
            const int32_t p = s->point_of[s->node[PL_FACE_NODES_MAX * (size_t)k + (size_t)c]];
            for (int i = 0; i < 3; ++i) {
                point_normal[3 * (size_t)p + (size_t)i] += n[i];
            }
        }
    }

    for (int32_t p = 0; p < s->point_count; ++p) {
        double *n = point_normal + 3 * (size_t)p;
        if (s->vertex[p] < 0) {
            memcpy(n, normal + 3 * (size_t)s->home[p], 3 * sizeof *n);
        }
        const double length = pl_norm3(n);
        for (int i = 0; i < 3; ++i) {
            n[i] = length > 0 ? n[i] / length : 0;
        }
    }
}

pl_status pl_contact_finder_create(const pl_contact_surface *surface, const double *rest, bool self,
                                   pl_contact_finder **out, pl_error *err)
{
    const size_t faces = (size_t)surface->face_count, points = (size_t)surface->point_count;
    *out = NULL;
    pl_contact_finder *f = PL_NEW(pl_contact_finder);
    if (f) {
        f->s = surface;
        f->rest = rest;
        f->self = self;
        f->before = PL_NEW_ARRAY(double, 3 * (size_t)surface->vertex_count);
        f->box = PL_NEW_ARRAY(double, 6 * faces);
        f->normal = PL_NEW_ARRAY(double, 3 * faces);
        f->plane = PL_NEW_ARRAY(double, 2 * faces);
        f->point_normal = PL_NEW_ARRAY(double, 3 * points);
        f->rest_normal = PL_NEW_ARRAY(double, 3 * points);
        f->at = PL_NEW_ARRAY(double, 3 * points);
        f->rest_at = PL_NEW_ARRAY(double, 3 * points);
        f->rest_face = PL_NEW_ARRAY(double, 6 * faces);
        f->candidate = PL_NEW_ARRAY(int32_t, 2 * FIND_CANDIDATES * points);
        f->candidate_x = PL_NEW_ARRAY(double, 3 * (size_t)surface->vertex_count);
        f->kept = PL_NEW_ARRAY(int32_t, points);
        f->best = PL_NEW_ARRAY(pl_contact_pair, points);
        f->list = PL_NEW_ARRAY(pl_contact_pair, points);
    }

    if (!f || !f->box || !f->normal || !f->plane || !f->point_normal || !f->rest_normal || !f->at ||
        !f->rest_at || !f->rest_face || !f->candidate || !f->candidate_x || !f->kept || !f->best ||
        !f->list || !f->before) {
        pl_contact_finder_destroy(f);
        return pl_fail_memory(err, "contact: the search for pairs");
    }

    find_normals(surface, rest, f->normal, f->plane, f->rest_normal, f->rest_at);
    for (int32_t k = 0; k < surface->face_count; ++k) {
        double xi[2], a[6];
        contact_reference(surface->size[k], surface->size[k], xi);
        contact_face_at(surface, k, rest, xi, f->rest_face + 6 * (size_t)k, a);
        memcpy(f->rest_face + 6 * (size_t)k + 3, f->normal + 3 * (size_t)k, 3 * sizeof *f->normal);
    }

    f->candidates = -1;
    pl_contact_keep(f, NULL);
    pl_contact_remember(f, rest);
    *out = f;

    return PL_OK;
}

pl_contact_counts pl_contact_finder_counts(const pl_contact_finder *f)
{
    return f->counts;
}

void pl_contact_remember(pl_contact_finder *f, const double *x)
{
    memcpy(f->before, x, 3 * (size_t)f->s->vertex_count * sizeof *x);
}

// Boxes of the deformed faces, grown so that faces and points that may meet have boxes that do.
static void find_boxes(pl_contact_finder *f)
{
    const pl_contact_surface *s = f->s;
    for (int32_t k = 0; k < s->face_count; ++k) {
        const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)k;
        const double grow = fmax(0.5 * f->reach, FIND_WIDE) * s->edge[k];
        double *box = f->box + 6 * (size_t)k;
        for (int i = 0; i < 3; ++i) {
            double low = f->x[3 * (size_t)node[0] + (size_t)i], high = low;
            for (int c = 1; c < s->size[k]; ++c) {
                const double v = f->x[3 * (size_t)node[c] + (size_t)i];
                low = v < low ? v : low;
                high = v > high ? v : high;
            }
            box[i] = low - grow;
            box[3 + i] = high + grow;
        }
    }
}

static double find_looseness(const pl_bvh *tree)
{
    double sum = 0;
    for (int32_t n = 0; n < tree->node_count; ++n) {
        const double *b = tree->box + 6 * (size_t)n;
        sum += b[3] - b[0] + b[4] - b[1] + b[5] - b[2];
    }
    return sum;
}

static bool find_tree(pl_contact_finder *f)
{
    find_boxes(f);
    if (f->tree.node_count > 0) {
        pl_bvh_refit(&f->tree, f->box);
        f->counts.refits++;
        if (find_looseness(&f->tree) <= FIND_LOOSE * f->built) {
            return true;
        }
        pl_bvh_clear(&f->tree);
    }

    if (!pl_bvh_init(&f->tree, f->s->face_count, f->box)) {
        return false;
    }
    f->counts.rebuilds++;
    f->built = find_looseness(&f->tree);

    return true;
}

// Is this the point's own wall, seen from its other side?
static bool find_own_wall(const pl_contact_finder *f, const pl_contact_pair *pair)
{
    double y[3], a[6], v[3], n[3];
    const double *p = f->rest_at + 3 * (size_t)pair->point;

    if (pair->gap >= 0) {
        return false;
    }
    contact_face_at(f->s, pair->face, f->rest, pair->xi, y, a);
    pl_cross3(a, a + 3, n);
    pl_sub3(y, p, v);
    const bool through = pl_dot3(v, f->rest_normal + 3 * (size_t)pair->point) < 0 && pl_dot3(v, n) > 0;

    return through && pl_norm3(v) < FIND_WALL * -pair->gap;
}

// The same from the face's centre, for points behind it by `depth` at least: tells most own walls cheaply.
static bool find_own_wall_nearly(const pl_contact_finder *f, int32_t point, int32_t face, double depth)
{
    const double *c = f->rest_face + 6 * (size_t)face;
    double v[3];
    pl_sub3(c, f->rest_at + 3 * (size_t)point, v);
    return pl_dot3(v, c + 3) > 0 && pl_dot3(v, f->rest_normal + 3 * (size_t)point) < 0 &&
           pl_norm3(v) + f->s->edge[face] < FIND_WALL * depth;
}

// Deep inside its own body: beyond the rim of a face (an edge that is nearest to a place inside the body is a
// concave one), or there at the last equilibrium already?
static bool find_always_inside(const pl_contact_finder *f, const pl_contact_pair *pair, double edge)
{
    const pl_contact_surface *s = f->s;
    pl_contact_pair before = *pair;

    if (pair->gap >= -FIND_SUDDEN * edge || s->group[s->home[pair->point]] != s->group[pair->face]) {
        return false;
    }

    return !pair->inner ||
           (pl_contact_pair_gap(s, &before, f->before) && before.gap < -0.5 * FIND_SUDDEN * edge);
}

static void find_meet(pl_contact_finder *f, int32_t point, int32_t face)
{
    const pl_contact_surface *s = f->s;
    const double *p = f->at + 3 * (size_t)point;
    const double edge = fmin(s->edge[face], s->spacing[point]), far = f->reach * edge,
                 bulge = f->plane[2 * (size_t)face + 1],
                 height = pl_dot3(f->normal + 3 * (size_t)face, p) - f->plane[2 * (size_t)face];

    if (height > far + bulge || height < -FIND_DEPTH * edge - bulge ||
        pl_dot3(f->point_normal + 3 * (size_t)point, f->normal + 3 * (size_t)face) > FIND_OPPOSED ||
        (height < -bulge && find_own_wall_nearly(f, point, face, -height - bulge))) {
        return;
    }

    f->counts.tests++;
    pl_contact_pair pair = {.point = point, .face = face};

    // the flat triangles tell what is too far, beside the face, or the point's own wall
    pair.gap = contact_flat(s, face, f->x, p, pair.xi);
    if (pair.gap > fmax(far, FIND_DEPTH * edge) + bulge ||
        (pair.gap > FIND_NEAR * edge && fabs(height) + bulge < FIND_BESIDE * pair.gap)) {
        return;
    }

    pair.gap = height < -bulge ? -pair.gap : pair.gap;
    if (find_own_wall(f, &pair) || !contact_nearest_from(s, f->x, p, &pair) || pair.gap > far ||
        pair.gap < -FIND_DEPTH * edge || find_own_wall(f, &pair) || find_always_inside(f, &pair, edge)) {
        return;
    }

    pl_contact_pair *best = &f->best[point];
    if (best->face < 0 || fabs(pair.gap) < fabs(best->gap) ||
        (fabs(pair.gap) == fabs(best->gap) && face < best->face)) {
        *best = pair;
    }
}

static bool find_share(const pl_contact_surface *s, int32_t i, int32_t j)
{
    const int32_t *a = s->node + PL_FACE_NODES_MAX * (size_t)i, *b = s->node + PL_FACE_NODES_MAX * (size_t)j;
    for (int k = 0; k < s->size[i]; ++k) {
        for (int l = 0; l < s->size[j]; ++l) {
            if (a[k] == b[l]) {
                return true;
            }
        }
    }

    return false;
}

// Does every face around the point have a vertex in common with `face`?
static bool find_neighbours(const pl_contact_surface *s, int32_t point, int32_t face)
{
    const int32_t v = s->vertex[point];
    if (v < 0) {
        return find_share(s, s->home[point], face);
    }

    for (int32_t i = s->around_start[v]; i < s->around_start[v + 1]; ++i) {
        if (!find_share(s, s->around[i], face)) {
            return false;
        }
    }

    return true;
}

// A face whose box is near the point f->point: notes them when they may meet now or after small motions.
static bool find_visit(void *user, int32_t face)
{
    pl_contact_finder *f = user;
    const pl_contact_surface *s = f->s;
    const int32_t point = f->point;
    const double *p = f->at + 3 * (size_t)point, *n = f->normal + 3 * (size_t)face;
    const double edge = fmax(s->edge[face], s->spacing[point]), bulge = f->plane[2 * (size_t)face + 1],
                 far = fmax(FIND_WIDE, f->reach) * edge, slack = 2 * FIND_MOVED * edge,
                 height = pl_dot3(n, p) - f->plane[2 * (size_t)face];

    f->counts.box_pairs++;
    if (height > far + bulge || height < -(FIND_DEPTH * edge + slack + bulge) ||
        pl_dot3(f->point_normal + 3 * (size_t)point, n) > FIND_OPPOSED + FIND_TURNED ||
        (!f->self && s->group[s->home[point]] == s->group[face]) ||
        (height < -bulge - slack && find_own_wall_nearly(f, point, face, -height - bulge - slack)) ||
        find_neighbours(s, point, face)) {
        return true;
    }

    if (f->candidates >= 0 && f->candidates < (int64_t)FIND_CANDIDATES * s->point_count) {
        f->candidate[2 * f->candidates] = point;
        f->candidate[2 * f->candidates++ + 1] = face;
    } else {
        f->candidates = -1;
    }

    find_meet(f, point, face);

    return true;
}

void pl_contact_keep(pl_contact_finder *f, const pl_contact_pair *pair)
{
    for (int32_t p = 0; !pair && p < f->s->point_count; ++p) {
        f->kept[p] = -1;
    }
    if (pair && f->kept[pair->point] < 0) {
        f->kept[pair->point] = pair->face;
    }
}

// The face a point keeps to instead of its neighbour, the nearest one.
static void find_keep(const pl_contact_finder *f, pl_contact_pair *best)
{
    const pl_contact_surface *s = f->s;
    pl_contact_pair pair = {.point = best->point, .face = f->kept[best->point]};
    const int32_t *a = s->node + PL_FACE_NODES_MAX * (size_t)pair.face,
                  *b = s->node + PL_FACE_NODES_MAX * (size_t)best->face;
    bool neighbours = false;

    for (int k = 0; k < s->size[pair.face]; ++k) {
        for (int l = 0; l < s->size[best->face]; ++l) {
            neighbours = neighbours || a[k] == b[l];
        }
    }

    double p[3];
    pl_contact_point_at(s, best->point, f->x, p);
    if (neighbours && contact_continued(s, f->x, p, FIND_BEYOND, &pair) &&
        fabs(pair.gap - best->gap) < FIND_NEAR * s->spacing[best->point]) {
        *best = pair;
    }
}

// Has no vertex of the surface moved far since the candidates were noted?
static bool find_serves(const pl_contact_finder *f, const double *x)
{
    const pl_contact_surface *s = f->s;
    for (int32_t p = 0; p < s->point_count; ++p) {
        const int32_t v = s->vertex[p];
        const double most = FIND_MOVED * s->spacing[p];
        if (v >= 0 && !(pl_distance3(x + 3 * (size_t)v, f->candidate_x + 3 * (size_t)v) <= most)) {
            return false;
        }
    }

    return true;
}

static bool find_pairs(pl_contact_finder *f, const double *x, double reach, const pl_contact_pair **pair,
                       int32_t *count)
{
    const pl_contact_surface *s = f->s;
    const bool listed = f->candidates >= 0 && reach <= FIND_CLOSE && find_serves(f, x);

    f->counts.listed += listed;
    f->x = x;
    f->reach = reach;
    *count = 0;
    *pair = f->list;
    if (!listed && !find_tree(f)) {
        return false;
    }
    find_normals(s, x, f->normal, f->plane, f->point_normal, f->at);
    for (int32_t p = 0; p < s->point_count; ++p) {
        f->best[p].face = -1;
    }

    if (listed) {
        for (int64_t i = 0; i < f->candidates; ++i) {
            find_meet(f, f->candidate[2 * i], f->candidate[2 * i + 1]);
        }
    } else {
        f->candidates = 0;
        memcpy(f->candidate_x, x, 3 * (size_t)s->vertex_count * sizeof *x);
        for (f->point = 0; f->point < s->point_count; ++f->point) {
            const double *at = f->at + 3 * (size_t)f->point,
                         r = fmax(0.5 * reach, FIND_WIDE) * s->spacing[f->point];
            const double low[3] = {at[0] - r, at[1] - r, at[2] - r},
                         high[3] = {at[0] + r, at[1] + r, at[2] + r};
            pl_bvh_query(&f->tree, low, high, find_visit, f);
        }
    }

    for (int32_t p = 0; p < s->point_count; ++p) {
        if (f->best[p].face >= 0) {
            if (f->kept[p] >= 0 && f->kept[p] != f->best[p].face) {
                find_keep(f, &f->best[p]);
            }
            f->list[(*count)++] = f->best[p];
        }
    }

    return true;
}

bool pl_contact_find(pl_contact_finder *f, const double *x, double reach, const pl_contact_pair **pair,
                     int32_t *count)
{
    const double start = pl_seconds();
    const bool found = find_pairs(f, x, reach, pair, count);
    f->counts.seconds += pl_seconds() - start;
    return found;
}
