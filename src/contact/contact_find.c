// Which points of a surface meet which of its faces. Boxes of the deformed faces in a tree that is refitted
// for every shape and rebuilt when it has become loose; pairs of near boxes give pairs of points and faces.
//
// Neighbours are told from parts that fold onto each other: faces with a common vertex never meet; the
// normals must be opposed; a point is inside a face only to a part of the edge length; and where a point
// appears to be inside, the undeformed shape tells whether it looks at the face through the body's own wall:
// then the line between the two points runs through material and is not much longer than the depth found.
#include "contact/contact_impl.h"

#define FIND_OPPOSED (-0.2) // cosine between the normals of point and face
#define FIND_FACES 0.5      // cosine between the normals of two faces at which their points are not tested
#define FIND_DEPTH 0.7      // of the edge: a point deeper inside is not seen
#define FIND_WALL 6.0       // undeformed distance over depth up to which it is the point's own wall
#define FIND_BESIDE 0.4     // sine of the angle below which a point is beside a face, not above it
#define FIND_NEAR 0.05      // of the edge: nearer points slide off a face smoothly
#define FIND_BEYOND 0.1     // of the reference coordinates: how far a face is continued
#define FIND_LOOSE 1.6      // growth of the boxes' sizes at which the tree is rebuilt

struct pl_contact_finder {
    const pl_contact_surface *s;
    const double *rest;
    bool self;
    double *box; // 6 per face
    pl_bvh tree;
    double built;   // sum of the boxes' sizes when the tree was built
    double *normal; // 3 per face
    double *plane;  // 2 per face: distance of its centre from the origin along the normal; largest of a node
                    // from that plane
    double *point_normal; // 3 per point: mean of the faces around it, computed when asked for
    double *rest_normal;
    int32_t *stamp;        // per point: the face tested last
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
        void *const block[] = {f->box,   f->normal, f->plane, f->point_normal, f->rest_normal,
                               f->stamp, f->kept,   f->best,  f->list};
        for (int i = 0; i < PL_COUNT(block); ++i) {
            pl_free(block[i]);
        }
        pl_bvh_clear(&f->tree);
        pl_free(f);
    }
}

static void find_normals(const pl_contact_surface *s, const double *x, double *normal, double *plane,
                         double *point_normal)
{
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
        plane[2 * (size_t)k] = pl_dot3(n, y);
        plane[2 * (size_t)k + 1] = 0;
        for (int c = 0; c < s->size[k]; ++c) {
            const double *v = x + 3 * (size_t)s->node[PL_FACE_NODES_MAX * (size_t)k + (size_t)c];
            const double off = fabs(pl_dot3(n, v) - plane[2 * (size_t)k]);
            plane[2 * (size_t)k + 1] = off > plane[2 * (size_t)k + 1] ? off : plane[2 * (size_t)k + 1];
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
        f->box = PL_NEW_ARRAY(double, 6 * faces);
        f->normal = PL_NEW_ARRAY(double, 3 * faces);
        f->plane = PL_NEW_ARRAY(double, 2 * faces);
        f->point_normal = PL_NEW_ARRAY(double, 3 * points);
        f->rest_normal = PL_NEW_ARRAY(double, 3 * points);
        f->stamp = PL_NEW_ARRAY(int32_t, points);
        f->kept = PL_NEW_ARRAY(int32_t, points);
        f->best = PL_NEW_ARRAY(pl_contact_pair, points);
        f->list = PL_NEW_ARRAY(pl_contact_pair, points);
    }
    if (!f || !f->box || !f->normal || !f->plane || !f->point_normal || !f->rest_normal || !f->stamp ||
        !f->kept || !f->best || !f->list) {
        pl_contact_finder_destroy(f);
        return pl_fail_memory(err, "contact: the search for pairs");
    }
    find_normals(surface, rest, f->normal, f->plane, f->rest_normal);
    pl_contact_keep(f, NULL);
    *out = f;
    return PL_OK;
}

pl_contact_counts pl_contact_finder_counts(const pl_contact_finder *f)
{
    return f->counts;
}

// Boxes of the deformed faces, grown by half the reach; returns the sum of their sizes.
static void find_boxes(pl_contact_finder *f)
{
    const pl_contact_surface *s = f->s;
    for (int32_t k = 0; k < s->face_count; ++k) {
        const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)k;
        const double grow = 0.5 * fmax(f->reach, 0.02) * s->edge[k];
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
    double p[3], y[3], a[6], v[3], n[3];
    if (pair->gap >= 0) {
        return false;
    }
    pl_contact_point_at(f->s, pair->point, f->rest, p);
    contact_face_at(f->s, pair->face, f->rest, pair->xi, y, a);
    pl_cross3(a, a + 3, n);
    pl_sub3(y, p, v);
    const bool through = pl_dot3(v, f->rest_normal + 3 * (size_t)pair->point) < 0 && pl_dot3(v, n) > 0;
    return through && pl_norm3(v) < FIND_WALL * -pair->gap;
}

static void find_test(pl_contact_finder *f, int32_t point, int32_t face)
{
    const pl_contact_surface *s = f->s;
    if (f->stamp[point] == face) {
        return;
    }
    f->stamp[point] = face;
    if (pl_dot3(f->point_normal + 3 * (size_t)point, f->normal + 3 * (size_t)face) > FIND_OPPOSED) {
        return;
    }
    double p[3];
    pl_contact_pair pair = {.point = point, .face = face};
    pl_contact_point_at(s, point, f->x, p);
    const double edge = fmin(s->edge[face], s->spacing[point]), far = f->reach * edge,
                 bulge = f->plane[2 * (size_t)face + 1],
                 height = pl_dot3(f->normal + 3 * (size_t)face, p) - f->plane[2 * (size_t)face];
    if (height > far + bulge || height < -FIND_DEPTH * edge - bulge) {
        return;
    }
    const double *box = f->box + 6 * (size_t)face;
    for (int i = 0; i < 3; ++i) {
        if (p[i] < box[i] - far || p[i] > box[3 + i] + far) {
            return;
        }
    }
    f->counts.tests++;
    // the flat triangles tell what is too far, beside the face, or the point's own wall
    pair.gap = contact_flat(s, face, f->x, p, pair.xi);
    if (pair.gap > fmax(far, FIND_DEPTH * edge) + bulge ||
        (pair.gap > FIND_NEAR * edge && fabs(height) + bulge < FIND_BESIDE * pair.gap)) {
        return;
    }
    pair.gap = height < -bulge ? -pair.gap : pair.gap;
    if (find_own_wall(f, &pair) || !contact_nearest_from(s, f->x, p, &pair) || pair.gap > far ||
        pair.gap < -FIND_DEPTH * edge || find_own_wall(f, &pair)) {
        return;
    }
    pl_contact_pair *best = &f->best[point];
    if (best->face < 0 || fabs(pair.gap) < fabs(best->gap) ||
        (fabs(pair.gap) == fabs(best->gap) && face < best->face)) {
        *best = pair;
    }
}

static bool find_visit(void *user, int32_t i, int32_t j)
{
    pl_contact_finder *f = user;
    const pl_contact_surface *s = f->s;
    f->counts.box_pairs++;
    if ((!f->self && s->group[i] == s->group[j]) ||
        pl_dot3(f->normal + 3 * (size_t)i, f->normal + 3 * (size_t)j) > FIND_FACES) {
        return true;
    }
    const int32_t *a = s->node + PL_FACE_NODES_MAX * (size_t)i, *b = s->node + PL_FACE_NODES_MAX * (size_t)j;
    for (int k = 0; k < s->size[i]; ++k) {
        for (int l = 0; l < s->size[j]; ++l) {
            if (a[k] == b[l]) {
                return true;
            }
        }
    }
    for (int side = 0; side < 2; ++side) {
        const int32_t from = side ? j : i, to = side ? i : j;
        for (int k = 0; k < s->size[from]; ++k) {
            find_test(f, s->point_of[(side ? b : a)[k]], to);
        }
        find_test(f, f->list[from].point, to);
    }
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

bool pl_contact_find(pl_contact_finder *f, const double *x, double reach, const pl_contact_pair **pair,
                     int32_t *count)
{
    const pl_contact_surface *s = f->s;
    f->x = x;
    f->reach = reach;
    *count = 0;
    *pair = f->list;
    if (!find_tree(f)) {
        return false;
    }
    find_normals(s, x, f->normal, f->plane, f->point_normal);
    for (int32_t p = 0; p < s->point_count; ++p) {
        f->best[p].face = f->stamp[p] = -1;
        if (s->vertex[p] < 0) {
            f->list[s->home[p]].point = p; // until the list is made: the centre of each face
        }
    }
    pl_bvh_pairs(&f->tree, &f->tree, find_visit, f);
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
