// Features of obstacles (contact_feature.c) in the contact term: which faces they meet, and with which
// multipliers.
//
// Each feature has PL_FEATURE_FACES slots, one per face that it meets, with a multiplier, a traction and the
// place of the last update each. At positions x the faces that were met at the last update keep their slots;
// a face that the feature has slid onto since takes over the slot of one that it has left, so that the
// pressure goes on.
//
// The gap is that of a pair of point and face, g = n . (p - y) - r, with the point p of the obstacle: fixed
// for a given command, or p = sum_a b_a x_a of the frame of a free body, linear in its vertices:
//   b_a = 1/4 + 3 / (4 R^2) (X_a - c_0) . (p_0 - c_0).
#include "problem/term_contact.h"

#define FEATURE_REACH 0.5 // of the edge: faces nearer than this are met
#define FEATURE_FOUND 24  // feet looked at per feature
#define FEATURE_AREA 0.25 // of the square of the edge: weight of a foot
#define FEATURE_EDGE 0.5  // added to the face that is remembered: the foot is on its edge

bool contact_feature_create(contact_term *t)
{
    const pl_robot_contact *c = t->c;
    const double edge = c->edge;

    t->feature_reach = FEATURE_REACH * edge;
    t->whole_area = FEATURE_AREA * edge * edge;
    t->slots = PL_FEATURE_FACES * c->feature_first[c->obstacle_count];
    t->area = PL_NEW_ARRAY(double, t->points + t->slots);
    t->spacing = PL_NEW_ARRAY(double, t->points + t->slots);
    t->foot = PL_NEW_ARRAY(pl_contact_pair, t->slots);
    t->ball = PL_NEW_ARRAY(double, 4 * (int64_t)t->s->face_count);
    t->near = PL_NEW_ARRAY(int32_t, t->s->face_count);
    t->foot_x = PL_NEW_ARRAY(double, 3 * (int64_t)t->s->vertex_count);
    t->foot_offset = PL_NEW_ARRAY(double, 6 * t->obstacles);
    if (!t->area || !t->spacing || !t->foot || !t->ball || !t->near || !t->foot_x || !t->foot_offset) {
        return false;
    }
    memcpy(t->area, t->s->area, (size_t)t->points * sizeof *t->area);
    memcpy(t->spacing, t->s->spacing, (size_t)t->points * sizeof *t->spacing);
    for (int o = 0; o < t->obstacles; ++o) {
        const double size = fmin(edge, pl_shape_thickness(&c->obstacle[o].shape));
        for (int32_t i = PL_FEATURE_FACES * c->feature_first[o];
             i < PL_FEATURE_FACES * c->feature_first[o + 1]; ++i) {
            t->area[t->points + i] = t->whole_area;
            t->spacing[t->points + i] = size;
        }
    }

    return true;
}

// ---- which faces
// Faces near the obstacle, by balls around both.
static int32_t feature_near(contact_term *t, int o, const pl_pose *pose)
{
    const pl_feature *feature = t->c->feature;
    const int32_t from = t->c->feature_first[o], to = t->c->feature_first[o + 1];
    double centre[3] = {0}, radius = 0, at[3];

    for (int32_t f = from; f < to; ++f) {
        for (int i = 0; i < 3; ++i) {
            centre[i] += feature[f].at[i] / (to - from);
        }
    }

    for (int32_t f = from; f < to; ++f) {
        radius = fmax(radius, pl_distance3(centre, feature[f].at) + feature[f].radius);
    }
    contact_global(pose, centre, at);
    int32_t count = 0;
    for (int32_t k = 0; from < to && k < t->s->face_count; ++k) {
        const double *ball = t->ball + 4 * (size_t)k;
        if (!t->c->held[k] && pl_distance3(at, ball) < radius + ball[3] + t->feature_reach) {
            t->near[count++] = k;
        }
    }

    return count;
}

static int32_t feature_remembered(const contact_term *t, int32_t slot)
{
    return (int32_t)t->now.foot[CONTACT_FOOT * (int64_t)slot] - 1;
}

// Is a foot the one of the last update? A feature may meet a face and an edge of the same face.
static bool feature_same(const contact_term *t, int32_t slot, const pl_contact_pair *foot)
{
    return t->now.foot[CONTACT_FOOT * (int64_t)slot] == foot->face + 1 + (foot->inner ? 0 : FEATURE_EDGE);
}

// Puts the feet found into the slots of a feature.
static void feature_assign(contact_term *t, int32_t feature, const pl_contact_pair *found,
                           const double *weight, int count)
{
    const int32_t first = PL_FEATURE_FACES * feature;
    const double *lambda = t->now.lambda + t->channels * t->points;
    bool placed[FEATURE_FOUND] = {false};

    for (int i = 0; i < PL_FEATURE_FACES; ++i) {
        t->foot[first + i].face = -1;
        t->area[t->points + first + i] = 0;
        for (int k = 0; t->foot[first + i].face < 0 && k < count; ++k) {
            if (!placed[k] && feature_same(t, first + i, &found[k])) {
                t->foot[first + i] = found[k];
                t->area[t->points + first + i] = weight[k] * t->whole_area;
                placed[k] = true;
            }
        }
    }

    // the deepest of the others first: slots of the largest multipliers
    for (int k = 0; k < count; ++k) {
        int32_t best = -1;
        for (int32_t i = first; !placed[k] && i < first + PL_FEATURE_FACES; ++i) {
            best = t->foot[i].face < 0 && (best < 0 || lambda[i] > lambda[best]) ? i : best;
        }
        if (best >= 0) {
            t->foot[best] = found[k];
            t->area[t->points + best] = weight[k] * t->whole_area;
        }
    }
}

void contact_find_feet(contact_term *t, const double *x, const double *offset)
{
    const size_t bytes = 3 * (size_t)t->s->vertex_count * sizeof *x,
                 moved = 6 * (size_t)t->obstacles * sizeof *x;
    if (t->slots == 0 ||
        (t->feet_found && memcmp(t->foot_x, x, bytes) == 0 && memcmp(t->foot_offset, offset, moved) == 0)) {
        return;
    }

    memcpy(t->foot_x, x, bytes);
    memcpy(t->foot_offset, offset, moved);
    t->feet_found = true;
    for (int32_t f = 0; f < t->s->face_count; ++f) {
        pl_contact_face_ball(t->s, f, x, t->ball + 4 * (size_t)f);
    }

    for (int o = 0; o < t->obstacles; ++o) {
        const pl_pose pose = contact_pose(t, o, x, offset);
        const int32_t near = feature_near(t, o, &pose);
        for (int32_t f = t->c->feature_first[o]; f < t->c->feature_first[o + 1]; ++f) {
            pl_contact_pair found[FEATURE_FOUND];
            double p[3], weight[FEATURE_FOUND];
            contact_global(&pose, t->c->feature[f].at, p);
            const int count = pl_contact_feet(t->s, x, t->near, near, p, t->c->feature[f].radius,
                                              t->feature_reach, found, weight, FEATURE_FOUND);
            feature_assign(t, f, found, weight, count);
        }
    }
}

// ---- one slot
const pl_feature *contact_feature(const contact_term *t, int32_t k)
{
    return &t->c->feature[(k - t->points) / PL_FEATURE_FACES];
}

bool contact_foot_touch(const contact_term *t, int32_t k, contact_touch *out)
{
    const pl_contact_pair *foot = &t->foot[k - t->points];
    const double lambda = t->now.lambda[t->channels * t->points + k - t->points];

    memset(out, 0, sizeof *out);
    out->gap = foot->face >= 0 ? foot->gap - contact_feature(t, k)->radius : t->reach;
    out->pressure = lambda - t->stiffness[k] * out->gap;
    for (int i = 0; foot->face >= 0 && i < 3; ++i) {
        out->n[i] = -foot->n[i];
    }

    return foot->face >= 0 && out->pressure > 0;
}

int contact_foot_nodes(const contact_term *t, int32_t k, bool held, const int32_t **node, double *weight)
{
    const int32_t slot = (int32_t)(k - t->points),
                  face = held ? feature_remembered(t, slot) : t->foot[slot].face;
    const double *xi = held ? t->now.foot + CONTACT_FOOT * (int64_t)slot + 1 : t->foot[slot].xi;

    if (face < 0) {
        return 0;
    }
    *node = t->s->node + PL_FACE_NODES_MAX * (size_t)face;
    return pl_face_shape_eval(t->s->size[face], xi, weight, NULL);
}

int contact_feature_frame(const contact_term *t, int o, int32_t k, int32_t node[4], double weight[4])
{
    const pl_obstacle *body = &t->c->obstacle[o];
    double c[3], arm[4][3], d[3];

    if (!body->free) {
        return 0;
    }

    const double square = contact_arms(body, t->X, c, arm);
    pl_sub3(contact_feature(t, k)->at, c, d);
    for (int a = 0; a < 4; ++a) {
        node[a] = body->frame[a];
        weight[a] = 0.25 + 0.75 * pl_dot3(arm[a], d) / square;
    }

    return 4;
}

void contact_add_foot(const contact_term *t, pl_problem *p, int o, int32_t k, double bending, const double *x)
{
    enum { NODES = PL_FACE_NODES_MAX + 4 };
    const pl_contact_pair *foot = &t->foot[k - t->points];
    const int32_t *own;
    int32_t node[NODES];
    double weight[NODES], gradient[3 * NODES], H[9 * NODES * NODES];
    const int frame = contact_feature_frame(t, o, k, node, weight),
              size = contact_foot_nodes(t, k, false, &own, weight + frame);
    memcpy(node + frame, own, (size_t)size * sizeof *node);
    const int count = pl_contact_foot_derivatives(t->s, foot, x, weight, frame, gradient, H), m = 3 * count;
    for (int i = 0; i < m * m; ++i) {
        H[i] = t->area[k] * (t->stiffness[k] * gradient[i / m] * gradient[i % m] - bending * H[i]);
    }

    for (int r = 0; r < count; ++r) {
        for (int c = 0; c < count; ++c) {
            pl_problem_add_block(p, node[r], node[c], H + 3 * r * m + 3 * c, m, x);
        }
    }
}

// A (p^2 - l^2) / (2 e): the potential of a slot over its share.
static double feature_potential(const contact_term *t, int o, int32_t k)
{
    contact_touch touch;
    contact_foot_touch(t, k, &touch);
    const double lambda = fmax(0, t->now.lambda[contact_at(t, o, k)]), p = fmax(0, touch.pressure);
    return t->whole_area * (p * p - lambda * lambda) / (2 * t->stiffness[k]);
}

// dw/dx of the share of a foot, on the nodes of the frame, whose number is returned in `frame`, and then of
// the face. Returns their number; 0: it does not change.
static int feature_share_gradient(const contact_term *t, int o, int32_t k, const double *x,
                                  int32_t node[CONTACT_NODES_MAX], double gradient[3 * CONTACT_NODES_MAX],
                                  int *frame)
{
    const pl_contact_pair *foot = &t->foot[k - t->points];
    const int32_t *own;
    double weight[CONTACT_NODES_MAX], slope[2];

    if (k < t->points || foot->face < 0) {
        return 0;
    }
    pl_contact_foot_weight_gradient(t->s, foot, slope);
    if (slope[0] == 0 && slope[1] == 0) {
        return 0;
    }
    *frame = contact_feature_frame(t, o, k, node, weight);
    const int size = contact_foot_nodes(t, k, false, &own, weight + *frame);
    memcpy(node + *frame, own, (size_t)size * sizeof *node);

    return pl_contact_foot_shift(t->s, foot, x, weight, *frame, slope, gradient);
}

// The slot of the edge that a feature meets beside its feet; -1: none.
static int32_t feature_rim(const contact_term *t, int32_t k)
{
    const int32_t first = (int32_t)(k - (k - t->points) % PL_FEATURE_FACES);
    for (int32_t i = first; i < first + PL_FEATURE_FACES; ++i) {
        const pl_contact_pair *foot = &t->foot[i - t->points];
        if (foot->face >= 0 && !foot->inner) {
            return i;
        }
    }

    return -1;
}

// The force that the shares w of feet among neighbouring faces cause while gaps are open or pressed,
//   -A (p^2 - l^2) / (2 e) dw/dx,   an edge has the share 1 - sum w,
// on the nodes of the frame, whose number is returned in `frame`, and then of the face. Returns their number.
int contact_share_force(const contact_term *t, int o, int32_t k, const double *x,
                        int32_t node[CONTACT_NODES_MAX], double force[3 * CONTACT_NODES_MAX], int *frame)
{
    const int count = feature_share_gradient(t, o, k, x, node, force, frame);
    const int32_t rim = count > 0 ? feature_rim(t, k) : -1;
    const double scale =
        count > 0 ? feature_potential(t, o, k) - (rim >= 0 ? feature_potential(t, o, rim) : 0) : 0;

    for (int j = 0; j < 3 * count; ++j) {
        force[j] *= -scale;
    }

    return count;
}

// dw of a slot for the motion dx of all nodes.
double contact_share_change(const contact_term *t, int o, int32_t k, const double *x, const double *dx)
{
    const pl_contact_pair *foot = &t->foot[k - t->points];
    const int32_t first = (int32_t)(k - (k - t->points) % PL_FEATURE_FACES);
    double change = 0;

    for (int32_t i = first; i < first + PL_FEATURE_FACES; ++i) {
        int32_t node[CONTACT_NODES_MAX];
        double gradient[3 * CONTACT_NODES_MAX];
        int frame;
        const bool rim = foot->face >= 0 && !foot->inner;
        const int count = rim || i == k ? feature_share_gradient(t, o, i, x, node, gradient, &frame) : 0;
        for (int j = 0; j < 3 * count; ++j) {
            change += (rim ? -1 : 1) * gradient[j] * dx[3 * (int64_t)node[j / 3] + j % 3];
        }
    }

    return change;
}

// full += scale dg/dx of a slot; returns dg for the motion dx.
static double feature_gap(const contact_term *t, int o, int32_t k, const double *x, const double *dx,
                          double scale, double *full)
{
    contact_touch touch;
    double motion[3];
    contact_foot_touch(t, k, &touch);
    contact_relative(t, o, k, false, x, dx, motion);
    contact_spread(t, o, k, false, x, scale, touch.n, full);
    return pl_dot3(touch.n, motion);
}

// What the shares add to the second derivative of the energy A w (p^2 - l^2) / (2 e) where gaps are closed,
//   -A p (dw dg^T + dg dw^T),   less the same with p and g of the edge that has the rest of the share,
// for the motion dx, taken from `full`.
void contact_share_nonsymmetric(const contact_term *t, int o, int32_t k, const double *x, const double *dx,
                                double *full)
{
    int32_t node[CONTACT_NODES_MAX];
    double gradient[3 * CONTACT_NODES_MAX], change = 0, pull = 0;
    int frame;
    const int count = feature_share_gradient(t, o, k, x, node, gradient, &frame);

    if (count == 0) {
        return;
    }
    for (int j = 0; j < 3 * count; ++j) {
        change += gradient[j] * dx[3 * (int64_t)node[j / 3] + j % 3];
    }

    const int32_t slot[2] = {k, feature_rim(t, k)};
    for (int i = 0; i < 2 && slot[i] >= 0; ++i) {
        contact_touch touch;
        const double p = contact_foot_touch(t, slot[i], &touch) ? t->whole_area * touch.pressure : 0,
                     scale = i == 0 ? p : -p;
        pull += scale * feature_gap(t, o, slot[i], x, dx, scale * change, full);
    }

    for (int j = 0; j < 3 * count; ++j) {
        full[3 * (int64_t)node[j / 3] + j % 3] += pull * gradient[j];
    }
}

// The change of the gap's gradient on the face's nodes (at the positions of `own` in `change`) and of the
// normal n on the body, for a motion v of the feature and dx (may be NULL) of all nodes.
void contact_foot_change(const contact_term *t, int32_t k, const double *x, const double v[3],
                         const double *dx, double *change, double dn[3])
{
    enum { NODES = PL_FACE_NODES_MAX + 1 };
    const pl_contact_pair *foot = &t->foot[k - t->points];
    const int32_t *node = t->s->node + PL_FACE_NODES_MAX * (size_t)foot->face;
    double gradient[3 * NODES], H[9 * NODES * NODES], motion[3 * NODES];
    const double one = 1;
    const int m = 3 * pl_contact_foot_derivatives(t->s, foot, x, &one, 1, gradient, H);
    for (int j = 0; j < m; ++j) {
        motion[j] = j < 3 ? v[j] : dx ? dx[3 * (int64_t)node[j / 3 - 1] + j % 3] : 0;
    }

    for (int r = 0; r < m; ++r) {
        double sum = 0;
        for (int c = 0; c < m; ++c) {
            sum += H[r * m + c] * motion[c];
        }
        if (r < 3) {
            dn[r] = -sum;
        } else if (change) {
            change[r - 3] = sum;
        }
    }
}

void contact_remember_foot(contact_term *t, int o, int32_t k, const double *x)
{
    const pl_pose pose = contact_pose(t, o, x, t->offset);
    const pl_contact_pair *foot = &t->foot[k - t->points];
    double *kept = t->now.foot + CONTACT_FOOT * (int64_t)(k - t->points);

    kept[0] = foot->face + 1 + (foot->inner ? 0 : FEATURE_EDGE);
    memcpy(kept + 1, foot->xi, sizeof foot->xi);
    kept[6] = t->area[k];
    for (int j = 0; j < 3; ++j) {
        kept[3 + j] = -(pose.R[j] * foot->n[0] + pose.R[3 + j] * foot->n[1] + pose.R[6 + j] * foot->n[2]);
    }
}

// `places`: where friction holds a foot that goes on pressing stays as it was.
static void feature_remember(contact_term *t, int o, const double *x, bool places)
{
    for (int32_t i = PL_FEATURE_FACES * t->c->feature_first[o];
         i < PL_FEATURE_FACES * t->c->feature_first[o + 1]; ++i) {
        const pl_contact_pair *foot = &t->foot[i];
        double *kept = t->now.foot + CONTACT_FOOT * (int64_t)i;
        const bool presses = foot->face >= 0 && t->now.lambda[t->channels * t->points + i] > 0;
        if (presses && places && kept[0] > 0) {
            continue;
        }
        memset(kept, 0, CONTACT_FOOT * sizeof *kept);
        if (presses) {
            contact_remember_foot(t, o, (int32_t)(t->points + i), x);
        }
    }
}

void contact_remember_feet(contact_term *t, const double *x, bool same_load)
{
    for (int o = 0; o < t->obstacles; ++o) {
        feature_remember(t, o, x, same_load && t->c->obstacle[o].friction > 0);
    }
    t->feet_found = false;
}

// ---- steps
// How far the feature has come towards the face of its foot, along the normal there: the motion of the
// feature from p to q less that of the foot.
static double feature_approach(const contact_term *t, const pl_contact_pair *foot, const double p[3],
                               const double q[3], const double *x, const double *to)
{
    const int32_t *node = t->s->node + PL_FACE_NODES_MAX * (size_t)foot->face;
    double N[PL_FACE_NODES_MAX], sum = 0;
    const int size = pl_face_shape_eval(t->s->size[foot->face], foot->xi, N, NULL);

    for (int i = 0; i < 3; ++i) {
        double motion = q[i] - p[i];
        for (int k = 0; k < size; ++k) {
            const size_t at = 3 * (size_t)node[k] + (size_t)i;
            motion -= N[k] * (to[at] - x[at]);
        }
        sum -= foot->n[i] * motion;
    }

    return sum;
}

// With no face near: how far, of a straight relative motion, until the feature that goes from p to q meets
// the ball around a face, mm; `length`: that of the motion. What is not near yet is farther than the reach.
static double feature_meets(const contact_term *t, const double p[3], const double q[3], double radius,
                            const double *x, const double *to, int32_t k, double *length)
{
    const int32_t *node = t->s->node + PL_FACE_NODES_MAX * (size_t)k;
    const double *ball = t->ball + 4 * (size_t)k;
    double from[3], motion[3];

    for (int i = 0; i < 3; ++i) {
        from[i] = p[i] - ball[i];
        motion[i] = q[i] - p[i];
        for (int j = 0; j < t->s->size[k]; ++j) {
            const size_t at = 3 * (size_t)node[j] + (size_t)i;
            motion[i] -= (to[at] - x[at]) / t->s->size[k];
        }
    }

    // |from + s motion| = R
    const double R = ball[3] + radius, square = pl_dot3(motion, motion), along = pl_dot3(from, motion),
                 under = along * along - square * (pl_dot3(from, from) - R * R);
    *length = sqrt(square);
    if (along >= 0 || under <= 0) {
        return INFINITY;
    }
    const double s = (-along - sqrt(under)) / square;

    return fmax(fmax(0, s) * *length, t->feature_reach);
}

// The part of a step from x to `to` (obstacles from `from` to `until`) after which no feature is deeper than
// `depth` of its size, or of how deep it is already. Faces that are not near yet are reached after a distance
// of their own.
double contact_feature_limit(contact_term *t, const double *x, const double *to, const double *from,
                             const double *until, double depth)
{
    double limit = 1;
    contact_find_feet(t, x, from);
    for (int o = 0; o < t->obstacles; ++o) {
        const pl_pose here = contact_pose(t, o, x, from), there = contact_pose(t, o, to, until);
        for (int32_t f = t->c->feature_first[o]; f < t->c->feature_first[o + 1]; ++f) {
            double p[3], q[3];
            contact_global(&here, t->c->feature[f].at, p);
            contact_global(&there, t->c->feature[f].at, q);
            bool near = false;
            for (int32_t i = PL_FEATURE_FACES * f; i < PL_FEATURE_FACES * (f + 1); ++i) {
                const pl_contact_pair *foot = &t->foot[i];
                if (foot->face < 0) {
                    continue;
                }
                near = true;
                const double allowed =
                    fmax(0, foot->gap - t->c->feature[f].radius) + depth * t->spacing[t->points + i];
                const double approach = feature_approach(t, foot, p, q, x, to);
                limit = approach > allowed ? fmin(limit, allowed / approach) : limit;
            }
            const double accepted = depth * t->spacing[t->points + PL_FEATURE_FACES * f];
            for (int32_t k = 0; !near && k < t->s->face_count; ++k) {
                double length;
                if (t->c->held[k]) {
                    continue;
                }
                const double free = feature_meets(t, p, q, t->c->feature[f].radius, x, to, k, &length);
                limit = free < length ? fmin(limit, (free + accepted) / length) : limit;
            }
        }
    }

    return limit;
}

// The same for an obstacle that moves while the body stays: the distance after which a feature may meet a
// face.
double contact_feature_stride(contact_term *t, int o, const double *x, const double *offset,
                              const double travel[3], double depth)
{
    const double length = pl_norm3(travel);
    double limit = 1;

    contact_find_feet(t, x, offset);
    const pl_pose pose = contact_pose(t, o, x, offset);
    for (int32_t f = t->c->feature_first[o]; length > 0 && f < t->c->feature_first[o + 1]; ++f) {
        double p[3], nearest = INFINITY;
        const int32_t first = PL_FEATURE_FACES * f;
        const double accepted = depth * t->spacing[t->points + first];
        contact_global(&pose, t->c->feature[f].at, p);
        for (int32_t k = 0; k < t->s->face_count; ++k) {
            const double *ball = t->ball + 4 * (size_t)k;
            nearest = fmin(nearest, pl_distance3(p, ball) - ball[3]);
        }
        // with no face near it may go until one is
        double free_travel = fmax(nearest - t->c->feature[f].radius, 0);
        for (int32_t i = first; i < first + PL_FEATURE_FACES; ++i) {
            const pl_contact_pair *foot = &t->foot[i];
            const double closing = foot->face >= 0 ? -pl_dot3(foot->n, travel) / length : 0;
            const double gap = foot->gap - t->c->feature[f].radius;
            if (closing > 1e-3) {
                limit = fmin(limit, (fmax(0, gap) + accepted) / closing / length);
            }
        }
        free_travel = fmax(free_travel, t->feature_reach) + accepted;
        limit = fmin(limit, free_travel / length);
    }

    return limit;
}
