// Features of obstacles against the curved faces of a body. A feature is a ball (p, r) inside the obstacle
// that touches its surface: the whole of a ball, points of the axis of a cylinder, and with r = 0 points of
// rims, of edges and vertices. Each meets every face that has a foot of p inside of it (several in a dent),
// with the gap
//   g = n(xi) . (p - y(xi)) - r.
// Faces are continued a little beyond their edges. Where the body is so convex that there is no foot, a ball
// meets the edge of a face, with what the feet leave of the weight 1.
//
// Where p is below the plane of a face it need not be inside the body: above the top of a block it is below
// the planes of all sides. Of the faces that p is below only the nearest counts, and its neighbours where
// they share its foot. A foot has a weight that goes to 1/2 at the edges of a face and, continued, to 0
// beyond, so that a feature passes from face to face without a step. A ball that is wider than the faces
// would meet conforming ones at no definite foot: points of the body feel it better.
#include "contact/contact_impl.h"

#define FEATURE_ALONG 64    // intervals along an edge, at most
#define FEATURE_AXIS 128    // along an axis, at most
#define FEATURE_RIM 16      // points of a rim, at least: between two it stands out by 0.02 of the radius
#define FEATURE_SHARP 0.9   // cosine of the angle between two triangles: their common edge is a feature
#define FEATURE_BEYOND 0.05 // of the reference coordinates: how far a face is continued, and shared
#define FEATURE_SAME 0.15   // of the edge: feet nearer than this are the same
#define FEATURE_KINK 0.5    // cosine between normals of faces that share a foot
#define FEATURE_TIE 1e-9    // of the edge: points of edges nearer to each other are the same
#define FEATURE_DEPTH 0.7   // of the edge: deeper features are not seen by a face

typedef struct feature_list {
    const pl_shape *shape;
    pl_feature *out; // NULL: count only
    int count;
    double widest;
} feature_list;

// `local`: in the axes of the obstacle, or of the world for meshes.
static void feature_add(feature_list *l, const double local[3], double radius)
{
    if (radius > l->widest) {
        return;
    }

    if (l->out) {
        pl_feature *f = &l->out[l->count];
        f->radius = radius;
        if (l->shape->kind == PL_SHAPE_MESH) {
            memcpy(f->at, local, sizeof f->at);
        } else {
            pl_mulTv3(l->shape->frame, local, f->at);
            for (int i = 0; i < 3; ++i) {
                f->at[i] += l->shape->centre[i];
            }
        }
    }

    ++l->count;
}

// Intervals are lengths of the obstacle divided by powers of two: features stay where they are when the
// spacing asked for, a mean over the body's faces, changes a little, and one is in the middle, where planes
// of symmetry are.
static int feature_intervals(double length, double spacing, int most)
{
    int n = 1;
    while (n < most && n * spacing < length * (1 - 1e-9)) {
        n *= 2;
    }
    return n;
}

// Points between a and b, without the ends.
static void feature_between(feature_list *l, const double a[3], const double b[3], double spacing)
{
    const int n = feature_intervals(pl_distance3(a, b), spacing, FEATURE_ALONG);
    for (int k = 1; k < n; ++k) {
        double at[3];
        for (int i = 0; i < 3; ++i) {
            at[i] = a[i] + (b[i] - a[i]) * k / n;
        }
        feature_add(l, at, 0);
    }
}

static void feature_box(feature_list *l, double spacing)
{
    const double *h = l->shape->half;
    double corner[8][3];

    for (int k = 0; k < 8; ++k) {
        for (int i = 0; i < 3; ++i) {
            corner[k][i] = k >> i & 1 ? h[i] : -h[i];
        }
        feature_add(l, corner[k], 0);
    }

    for (int k = 0; k < 8; ++k) {
        for (int i = 0; i < 3; ++i) {
            if (!(k >> i & 1)) {
                feature_between(l, corner[k], corner[k | 1 << i], spacing);
            }
        }
    }
}

// Points of an endless axis beside the ball (centre, radius) around the body, a power of two of the radius
// apart, from the centre of the obstacle on.
static void feature_endless(feature_list *l, double spacing, const double ball[4])
{
    const pl_shape *s = l->shape;
    double d[3], step = s->radius;

    pl_sub3(ball, s->centre, d);
    const double at = pl_dot3(s->frame + 6, d);
    while (step > spacing) {
        step *= 0.5;
    }
    while (2 * step <= spacing || 2 * ball[3] > FEATURE_AXIS * step) {
        step *= 2;
    }
    for (double k = ceil((at - ball[3]) / step); k * step <= at + ball[3]; ++k) {
        feature_add(l, (const double[3]){0, 0, k * step}, s->radius);
    }
}

// Points of both rims, the first towards the body's centre: the obstacle itself has no direction there.
static void feature_rims(feature_list *l, double spacing, const double ball[4])
{
    const pl_shape *s = l->shape;
    const int n = feature_intervals(2 * PL_PI * s->radius, spacing, FEATURE_ALONG),
              points = n > FEATURE_RIM ? n : FEATURE_RIM;
    double d[3], local[3];

    pl_sub3(ball, s->centre, d);
    pl_mulv3(s->frame, d, local);
    const bool beside = hypot(local[0], local[1]) > FEATURE_TIE * s->radius;
    const double first = beside ? atan2(local[1], local[0]) : 0;
    for (int end = -1; end <= 1; end += 2) {
        for (int k = 0; k < points; ++k) {
            const double turn = first + 2 * PL_PI * k / points,
                         at[3] = {s->radius * cos(turn), s->radius * sin(turn), end * s->half[2]};
            feature_add(l, at, 0);
        }
    }
}

static void feature_cylinder(feature_list *l, double spacing, const double ball[4])
{
    const pl_shape *s = l->shape;
    if (isinf(s->half[2])) {
        feature_endless(l, spacing, ball);
        return;
    }

    // balls on the axis that do not stand out at the ends
    const double to = s->half[2] - s->radius;
    if (to >= 0) {
        const int n = to > 0 ? feature_intervals(2 * to, spacing, FEATURE_AXIS) : 0;
        for (int k = 0; k <= n; ++k) {
            const double at[3] = {0, 0, n > 0 ? to * (2.0 * k / n - 1) : 0};
            feature_add(l, at, s->radius);
        }
    }

    feature_rims(l, spacing, ball);
}

// Sharp edges of a mesh and their ends. Each edge is seen from both of its triangles: the one in which it
// runs from the lower to the higher vertex adds it. edge_normal is the sum of both unit normals, 2 cos(angle
// / 2) long.
static void feature_mesh(feature_list *l, double spacing)
{
    const pl_shape *s = l->shape;
    const pl_trisurf *t = &s->surface;
    bool *used = PL_NEW_ARRAY(bool, t->vertex_count);

    for (int32_t k = 0; used && k < t->triangle_count; ++k) {
        for (int e = 0; e < 3; ++e) {
            const int32_t a = t->corner[3 * (size_t)k + (size_t)e],
                          b = t->corner[3 * (size_t)k + (size_t)(e + 1) % 3],
                          c = t->corner[3 * (size_t)k + (size_t)(e + 2) % 3];
            const double *n = s->edge_normal + 9 * (size_t)k + 3 * (size_t)e,
                         *pa = t->position + 3 * (size_t)a, *pb = t->position + 3 * (size_t)b;
            double inwards[3];
            pl_sub3(t->position + 3 * (size_t)c, pa, inwards);
            // cos(angle) = |n|^2 / 2 - 1; convex: the third corner is below the plane across the mean normal
            const double cosine = 0.5 * pl_dot3(n, n) - 1;
            if (cosine > FEATURE_SHARP || pl_dot3(n, inwards) >= 0) {
                continue;
            }
            for (int end = 0; end < 2; ++end) {
                const int32_t v = end ? b : a;
                if (!used[v]) {
                    used[v] = true;
                    feature_add(l, t->position + 3 * (size_t)v, 0);
                }
            }
            if (a < b) {
                feature_between(l, pa, pb, spacing);
            }
        }
    }

    pl_free(used);
}

int pl_shape_features(const pl_shape *shape, double spacing, double widest, const double ball[4],
                      pl_feature *out)
{
    feature_list l = {.shape = shape, .out = out, .widest = widest};
    if (shape->hollow) {
        return 0;
    }

    if (shape->kind == PL_SHAPE_SPHERE) {
        feature_add(&l, (const double[3]){0, 0, 0}, shape->radius);
    } else if (shape->kind == PL_SHAPE_CYLINDER) {
        feature_cylinder(&l, spacing, ball);
    } else if (shape->kind == PL_SHAPE_BOX) {
        feature_box(&l, spacing);
    } else if (shape->kind == PL_SHAPE_MESH) {
        feature_mesh(&l, spacing);
    }

    return l.count;
}

// ---- feet on the faces
void pl_contact_face_ball(const pl_contact_surface *s, int32_t face, const double *x, double ball[4])
{
    const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)face;
    const int size = s->size[face];

    memset(ball, 0, 4 * sizeof *ball);
    for (int k = 0; k < size; ++k) {
        for (int i = 0; i < 3; ++i) {
            ball[i] += x[3 * (size_t)node[k] + (size_t)i] / size;
        }
    }

    // control points of a quadratic face lie within twice the distance of its nodes
    for (int k = 0; k < size; ++k) {
        ball[3] = fmax(ball[3], pl_distance3(ball, x + 3 * (size_t)node[k]));
    }
    ball[3] *= size > 4 ? 1.25 : 1;
}

// Weight of a foot: 1 inside the face, 1/2 at its edges, 0 where the face is no more continued. Neighbours
// share a foot near their common edge.
static double foot_weight(int size, const double xi[2])
{
    const bool triangle = size == 3 || size == 6;
    const double inside[4] = {triangle ? xi[0] : 0.5 * (1 + xi[0]), triangle ? xi[1] : 0.5 * (1 + xi[1]),
                              triangle ? 1 - xi[0] - xi[1] : 0.5 * (1 - xi[0]),
                              triangle ? 1 : 0.5 * (1 - xi[1])};
    double weight = 1;

    for (int e = 0; e < 4; ++e) {
        const double b = fmax(-1, fmin(1, inside[e] / FEATURE_BEYOND));
        weight *= 0.5 + 0.75 * b - 0.25 * b * b * b;
    }

    return weight;
}

void pl_contact_foot_weight_gradient(const pl_contact_surface *s, const pl_contact_pair *pair, double out[2])
{
    // a product of cubics with a continuous slope: central differences are good to 1e-8
    const double h = 1e-4 * FEATURE_BEYOND;
    for (int a = 0; a < 2; ++a) {
        double up[2] = {pair->xi[0], pair->xi[1]}, down[2] = {pair->xi[0], pair->xi[1]};
        up[a] += h;
        down[a] -= h;
        out[a] =
            pair->inner
                ? (foot_weight(s->size[pair->face], up) - foot_weight(s->size[pair->face], down)) / (2 * h)
                : 0;
    }
}

bool pl_contact_foot(const pl_contact_surface *s, const double *x, const double p[3], double radius,
                     double reach, pl_contact_pair *pair, double *weight)
{
    pair->point = -1;
    const double flat = contact_flat(s, pair->face, x, p, pair->xi);
    if (flat > radius + reach + 0.25 * s->edge[pair->face]) {
        return false;
    }
    if (!contact_continued(s, x, p, FEATURE_BEYOND, pair)) {
        return false;
    }
    *weight = foot_weight(s->size[pair->face], pair->xi);

    return *weight > 0 && pair->gap - radius < reach &&
           pair->gap - radius > -FEATURE_DEPTH * s->edge[pair->face];
}

// The nearest point of the edges of faces to a ball outside; of faces with the same edge the first. False:
// none.
static bool feet_rim(const pl_contact_surface *s, const double *x, const int32_t *face, int32_t face_count,
                     const double p[3], double radius, double reach, pl_contact_pair *out)
{
    out->gap = radius + reach;
    out->face = -1;
    for (int32_t i = 0; i < face_count; ++i) {
        pl_contact_pair pair = {.point = -1, .face = face[i]};
        if (contact_flat(s, face[i], x, p, pair.xi) < out->gap + 0.25 * s->edge[face[i]] &&
            contact_nearest_beyond(s, x, p, 0, &pair) && !pair.inner && pair.gap > 0 &&
            pair.gap < out->gap - FEATURE_TIE * s->edge[face[i]]) {
            *out = pair;
        }
    }

    return out->face >= 0;
}

// Does a face that p is below count beside the nearest one? Where they share a foot and there is no sharp
// convex edge between them: the normals are near, or the centre of the face is above the tangent plane at the
// nearest foot.
static bool feet_together(const pl_contact_surface *s, const double *x, const pl_contact_pair *other,
                          const pl_contact_pair *near)
{
    double y[2][3], centre[3], t[6], d[3], xi[2];
    contact_face_at(s, other->face, x, other->xi, y[0], t);
    contact_face_at(s, near->face, x, near->xi, y[1], t);
    contact_reference(s->size[other->face], s->size[other->face], xi);
    contact_face_at(s, other->face, x, xi, centre, t);
    pl_sub3(centre, y[1], d);

    return pl_distance3(y[0], y[1]) < FEATURE_SAME * s->edge[near->face] &&
           (pl_dot3(other->n, near->n) > FEATURE_KINK || pl_dot3(d, near->n) > 0);
}

// Distance of p from the face itself, where its foot may be on the continued face.
static double foot_distance(const pl_contact_surface *s, const double *x, const pl_contact_pair *pair)
{
    const bool triangle = s->size[pair->face] == 3 || s->size[pair->face] == 6;
    double xi[2], y[2][3], t[6];

    for (int i = 0; i < 2; ++i) {
        xi[i] = triangle ? fmax(0, pair->xi[i]) : fmax(-1, fmin(1, pair->xi[i]));
    }

    const double over = triangle ? fmax(1, xi[0] + xi[1]) : 1;
    xi[0] /= over;
    xi[1] /= over;
    contact_face_at(s, pair->face, x, pair->xi, y[0], t);
    contact_face_at(s, pair->face, x, xi, y[1], t);

    return hypot(pair->gap, pl_distance3(y[0], y[1]));
}

int pl_contact_feet(const pl_contact_surface *s, const double *x, const int32_t *face, int32_t face_count,
                    const double p[3], double radius, double reach, pl_contact_pair *out, double *weight,
                    int limit)
{
    int count = 0, nearest = -1, kept = 0;
    for (int32_t i = 0; i < face_count; ++i) {
        pl_contact_pair pair = {.face = face[i]};
        double share;
        if (!pl_contact_foot(s, x, p, radius, reach, &pair, &share)) {
            continue;
        }
        // in the order of their gaps; of more than fit the nearest ones
        if (count == limit && pair.gap >= out[limit - 1].gap) {
            continue;
        }
        int at = count < limit ? count++ : limit - 1;
        while (at > 0 && out[at - 1].gap > pair.gap) {
            out[at] = out[at - 1];
            weight[at] = weight[at - 1];
            --at;
        }
        out[at] = pair;
        weight[at] = share;
    }

    double least = INFINITY;
    for (int k = 0; k < count; ++k) {
        const double distance = foot_distance(s, x, &out[k]);
        nearest = distance < least ? k : nearest;
        least = fmin(least, distance);
    }

    // of the faces that p is below: the nearest, and those with the same foot
    const pl_contact_pair near = count > 0 ? out[nearest] : (pl_contact_pair){.face = -1};
    for (int k = 0; k < count; ++k) {
        if (out[k].gap >= 0 || out[k].face == near.face || feet_together(s, x, &out[k], &near)) {
            weight[kept] = weight[k];
            out[kept++] = out[k];
        }
    }

    // what the feet leave of the weight is that of an edge
    double sum = 0;
    for (int k = 0; k < kept; ++k) {
        sum += weight[k];
    }
    if (radius > 0 && sum < 1 && kept < limit &&
        feet_rim(s, x, face, face_count, p, radius, reach, &out[kept])) {
        weight[kept++] = 1 - sum;
    }

    return kept;
}
