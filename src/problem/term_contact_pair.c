// Friction within and between bodies. A point k that presses on a face takes hold of a place y(xi) of it.
// With s = x_k - y(xi) and the frame of that place (e_1, e_2 along the face), which turns with it,
//   t = t_old + e (E s - s_0),   E s = (e_1 . s, e_2 . s),   cut to mu p,   e the usual stiffness of the
//   pair,
// is carried by the nodes of both; s_0 is 0 but in a state, which goes on from what slipped in its last
// increment. Where it slips s is along t and where it sticks s is small, so the moment
// s x t of the two forces vanishes, and what the turning frame would add to the derivative of the potential
// too.
#include "problem/term_contact.h"

#define PAIR_LAYER 30.0 // over e: compliance of a layer of the body as thick as the edge, h / E
#define PAIR_SHIFT 1.0  // of reference coordinates: farthest place that is taken hold of beside the foot

// ---- one point
static int pair_nodes(const contact_term *t, int32_t k, int32_t node[PL_PAIR_NODES_MAX],
                      double weight[PL_PAIR_NODES_MAX], int *own)
{
    const double *place = t->now.place + 3 * contact_rough_at(t, t->obstacles, k);
    const int32_t face = (int32_t)place[0] - 1, *from;
    double N[PL_FACE_NODES_MAX];

    *own = pl_contact_point_nodes(t->s, k, &from, weight);
    memcpy(node, from, (size_t)*own * sizeof *node);
    const int size = pl_face_shape_eval(t->s->size[face], place + 1, N, NULL);
    memcpy(node + *own, t->s->node + PL_FACE_NODES_MAX * (size_t)face, (size_t)size * sizeof *node);
    for (int j = 0; j < size; ++j) {
        weight[*own + j] = -N[j];
    }

    return *own + size;
}

static double pair_modulus(const contact_term *t, int32_t k)
{
    return t->pair_stiffness[k] / t->hard;
}

// The frame of the place that the point holds, and its motion s from there along the face.
static void pair_slip(const contact_term *t, int32_t k, const double *x, double frame[9], double slip[2])
{
    const double *place = t->now.place + 3 * contact_rough_at(t, t->obstacles, k);
    double at[3], y[3], s[3];

    pl_contact_face_frame(t->s, (int32_t)place[0] - 1, x, place + 1, y, frame);
    pl_contact_point_at(t->s, k, x, at);
    pl_sub3(at, y, s);
    slip[0] = pl_dot3(frame, s) - t->now.origin[2 * k];
    slip[1] = pl_dot3(frame + 3, s) - t->now.origin[2 * k + 1];
}

double contact_pair_friction(const contact_term *t, int32_t k, const double *x, double traction[3],
                             bool *stick, double *tangent)
{
    const double limit = contact_limit(t, t->obstacles, k), e = pair_modulus(t, k),
                 *old = t->now.traction + 3 * contact_rough_at(t, t->obstacles, k);
    double frame[9], slip[2];

    *stick = true;
    memset(traction, 0, 3 * sizeof *traction);
    if (!(limit > 0)) {
        return 0;
    }
    pair_slip(t, k, x, frame, slip);
    const double u = old[0] + e * slip[0], v = old[1] + e * slip[1], size = hypot(u, v);
    *stick = size <= limit;
    const double cut = *stick ? 1 : limit / size;
    for (int i = 0; i < 3; ++i) {
        traction[i] = cut * (u * frame[i] + v * frame[3 + i]);
    }
    for (int i = 0; tangent && i < 9; ++i) {
        const double P = frame[i / 3] * frame[i % 3] + frame[3 + i / 3] * frame[3 + i % 3];
        tangent[i] = e * cut * (*stick ? P : P - traction[i / 3] * traction[i % 3] / (limit * limit));
    }

    return *stick ? size * size / (2 * e) : limit * (size - 0.5 * limit) / e;
}

// Where a point takes hold of a face: at its foot, or, when it has come into contact since the last update,
// where it met the face. From there, where its gap was g_a > 0, that was after the part g_a / (g_a + p h / E)
// of the increment: held back by the pressure p a layer as thick as the edge yields by p h / E.
static void pair_anchor(const contact_term *t, const pl_contact_pair *pair, const double *x, double pressure,
                        double place[3])
{
    double y[3], frame[9], now[9], at[3], s[3], shift[2];

    place[0] = pair->face + 1;
    memcpy(place + 1, pair->xi, sizeof pair->xi);
    pl_contact_face_frame(t->s, pair->face, t->settled_x, pair->xi, y, frame);
    pl_contact_point_at(t->s, pair->point, t->settled_x, at);
    pl_sub3(at, y, s);
    const double before = fmax(0, pl_dot3(frame + 6, s) - contact_pair_offset(t, pair)),
                 yields = PAIR_LAYER * pressure / pair_modulus(t, pair->point),
                 left = before > 0 ? yields / (before + yields) : 1;

    pl_contact_face_frame(t->s, pair->face, x, pair->xi, y, now);
    for (int i = 0; i < 3; ++i) {
        at[i] = left * (pl_dot3(frame, s) * now[i] + pl_dot3(frame + 3, s) * now[3 + i]);
    }
    pl_contact_face_shift(t->s, pair->face, x, pair->xi, at, shift);
    const double far = fmax(fabs(shift[0]), fabs(shift[1])), scale = far > PAIR_SHIFT ? PAIR_SHIFT / far : 1;
    place[1] += scale * shift[0];
    place[2] += scale * shift[1];
}

// A traction in the frame of a place.
static void pair_local(const contact_term *t, const double place[3], const double *x,
                       const double traction[3], double out[3])
{
    double y[3], frame[9];
    pl_contact_face_frame(t->s, (int32_t)place[0] - 1, x, place + 1, y, frame);
    out[0] = pl_dot3(frame, traction);
    out[1] = pl_dot3(frame + 3, traction);
    out[2] = 0;
}

// ---- evaluation
bool contact_pair_coupled(const contact_term *t, int32_t point, int32_t face)
{
    const int32_t key[2] = {point, face};
    return t->coupled_ready && pl_table_find(&t->coupled, key) >= 0;
}

static int32_t pair_held_face(const contact_term *t, int32_t k)
{
    return (int32_t)t->now.place[3 * contact_rough_at(t, t->obstacles, k)] - 1;
}

static void pair_spread(const contact_term *t, int32_t k, double scale, const double v[3], double *full)
{
    int32_t node[PL_PAIR_NODES_MAX];
    double weight[PL_PAIR_NODES_MAX];
    int own;
    const int count = pair_nodes(t, k, node, weight, &own);

    for (int j = 0; j < 3 * count; ++j) {
        full[3 * (int64_t)node[j / 3] + j % 3] += scale * weight[j / 3] * v[j % 3];
    }
}

// The pressure of each point among the pairs found last: 0 where there is none.
static void pair_pressures(contact_term *t)
{
    memset(t->press, 0, (size_t)t->points * sizeof *t->press);
    for (int32_t i = 0; i < t->pair_count; ++i) {
        t->press[t->pair[i].point] = contact_pair_pressure(t, &t->pair[i]);
    }
}

void contact_pairs_rub(contact_term *t, const double *x, double *energy, double *full)
{
    if (t->rubs && t->follows_pressure) {
        pair_pressures(t);
    }
    for (int32_t k = 0; t->rubs && k < t->points; ++k) {
        const int64_t at = contact_rough_at(t, t->obstacles, k);
        double traction[3];
        bool stick;
        if (t->follows_pressure && t->gripped[at]) {
            t->now.limit[at] = t->press[k];
        }
        if (!(t->now.limit[at] > 0)) {
            continue;
        }
        t->stale = t->stale || !contact_pair_coupled(t, k, pair_held_face(t, k));
        *energy += t->area[k] * contact_pair_friction(t, k, x, traction, &stick, NULL);
        if (full) {
            pair_spread(t, k, t->area[k], traction, full);
        }
    }
}

void contact_pairs_rub_tangent(contact_term *t, pl_problem *p, const double *x)
{
    for (int32_t k = 0; t->rubs && k < t->points; ++k) {
        int32_t node[PL_PAIR_NODES_MAX];
        double weight[PL_PAIR_NODES_MAX], traction[3], T[9], W[9];
        bool stick;
        int own;
        if (!(contact_limit(t, t->obstacles, k) > 0) || !contact_pair_coupled(t, k, pair_held_face(t, k))) {
            continue;
        }
        contact_pair_friction(t, k, x, traction, &stick, T);
        const int count = pair_nodes(t, k, node, weight, &own);
        for (int r = 0; r < count; ++r) {
            for (int c = 0; c < count; ++c) {
                for (int i = 0; i < 9; ++i) {
                    W[i] = t->area[k] * weight[r] * weight[c] * T[i];
                }
                pl_problem_add_block(p, node[r], node[c], W, 3, x);
            }
        }
    }
}

// Places that are held have entries in the tangent.
void contact_pairs_rub_link(contact_term *t)
{
    for (int32_t k = 0; t->rubs && t->coupled_ready && k < t->points; ++k) {
        const int32_t key[2] = {k, pair_held_face(t, k)};
        if (contact_limit(t, t->obstacles, k) > 0) {
            pl_table_add(&t->coupled, key);
        }
    }
}

void contact_pairs_nonsymmetric(contact_term *t, const double *x, const double *dx, double *full)
{
    for (int32_t i = 0; t->rubs && i < t->pair_count; ++i) {
        const int32_t k = t->pair[i].point;
        int32_t node[PL_PAIR_NODES_MAX];
        double gradient[3 * PL_PAIR_NODES_MAX], traction[3], change = 0;
        bool stick;
        if (!(contact_limit(t, t->obstacles, k) > 0) || !(contact_pair_pressure(t, &t->pair[i]) > 0)) {
            continue;
        }
        contact_pair_friction(t, k, x, traction, &stick, NULL);
        const double size = pl_norm3(traction);
        if (stick || !(size > 0)) {
            continue;
        }
        const int count = pl_contact_pair_nodes(t->s, &t->pair[i], node);
        pl_contact_pair_derivatives(t->s, &t->pair[i], x, gradient, NULL);
        for (int j = 0; j < 3 * count; ++j) {
            change += gradient[j] * dx[3 * (int64_t)node[j / 3] + j % 3];
        }
        pair_spread(t, k, t->c->pair_friction * t->area[k] * t->pair_stiffness[k] * change / size, traction,
                    full);
    }
}

// ---- points that take hold, updates
bool contact_pairs_take_hold(contact_term *t, const double *x)
{
    bool any = false;

    if (!t->rubs) {
        return false;
    }
    contact_find_pairs(t, x);
    for (int32_t i = 0; i < t->pair_count; ++i) {
        const int64_t at = contact_rough_at(t, t->obstacles, t->pair[i].point);
        const double pressure = contact_pair_pressure(t, &t->pair[i]);
        if (pressure > 0 && !t->gripped[at]) {
            pair_anchor(t, &t->pair[i], x, pressure, t->now.place + 3 * at);
            memset(t->now.origin + 2 * t->pair[i].point, 0, 2 * sizeof *t->now.origin);
            memset(t->now.traction + 3 * at, 0, 3 * sizeof *t->now.traction);
            t->now.limit[at] = pressure;
            t->gripped[at] = any = true;
        }
    }

    return any;
}

// Before the multipliers change: as contact_advance_friction.
void contact_pairs_advance_friction(contact_term *t, const double *x, bool same_load)
{
    int32_t next = 0;

    for (int32_t k = 0; t->rubs && k < t->points; ++k) {
        const int64_t at = contact_rough_at(t, t->obstacles, k);
        const bool held = t->now.limit[at] > 0;
        double *place = t->now.place + 3 * at, *own = t->now.traction + 3 * at, traction[3];
        bool stick;

        // pairs are sorted by point
        while (next < t->pair_count && t->pair[next].point < k) {
            ++next;
        }
        const pl_contact_pair *pair =
            next < t->pair_count && t->pair[next].point == k ? &t->pair[next] : NULL;
        const double pressure = pair ? contact_pair_pressure(t, pair) : 0;
        contact_pair_friction(t, k, x, traction, &stick, NULL);
        const double size = pl_norm3(traction), limit = t->c->pair_friction * pressure,
                     scale = size > 0 && (size > limit || !stick) ? limit / size : 1;
        t->now.limit[at] = pressure;
        if (!(pressure > 0)) {
            memset(own, 0, 3 * sizeof *own);
            continue;
        }
        if (!held) {
            pair_anchor(t, pair, x, pressure, place);
        } else if (!same_load) {
            place[0] = pair->face + 1;
            memcpy(place + 1, pair->xi, sizeof pair->xi);
        }
        if (!held || !same_load) {
            memset(t->now.origin + 2 * k, 0, 2 * sizeof *t->now.origin);
        }
        pair_local(t, place, x, traction, own);
        own[0] *= scale;
        own[1] *= scale;
    }
}

// In a state every point stands where it is, with the traction that it has there.
void contact_pairs_rebase(contact_term *t, const double *x, double *block)
{
    for (int32_t k = 0; t->rubs && k < t->points; ++k) {
        const int64_t at = 3 * contact_rough_at(t, t->obstacles, k);
        double traction[3], frame[9], slip[2];
        bool stick;
        if (contact_limit(t, t->obstacles, k) > 0) {
            contact_pair_friction(t, k, x, traction, &stick, NULL);
            pair_slip(t, k, x, frame, slip);
            block[t->now.origin - t->block + 2 * k] += slip[0];
            block[t->now.origin - t->block + 2 * k + 1] += slip[1];
            pair_local(t, t->now.place + at, x, traction, block + (t->now.traction - t->block) + at);
        }
    }
}

// How far limits are from the pressures, and sticking points from their places, of the edge.
void contact_pairs_rub_error(contact_term *t, const double *x, contact_rub_error *out)
{
    *out = (contact_rub_error){0};
    if (!t->rubs) {
        return;
    }
    pair_pressures(t);
    for (int32_t k = 0; k < t->points; ++k) {
        const double limit = t->now.limit[contact_rough_at(t, t->obstacles, k)],
                     off = t->area[k] * (t->press[k] - limit);
        double traction[3], frame[9], slip[2];
        bool stick;
        out->total += t->area[k] * t->press[k];
        out->change += off;
        out->moved += fabs(off);
        if (limit > 0) {
            contact_pair_friction(t, k, x, traction, &stick, NULL);
            pair_slip(t, k, x, frame, slip);
            out->slip = stick ? fmax(out->slip, hypot(slip[0], slip[1]) / t->spacing[k]) : out->slip;
        }
    }
}

// ---- forces
// What friction carries at the points of each body, N; between bodies the sum on either side, within one,
// where both sides are the body's own and cancel, point by point. `marked` NULL: the size itself.
double contact_pairs_rub_force(contact_term *t, const double *x, double *marked, bool compare)
{
    double largest = 0;

    for (int32_t k = 0; t->rubs && !compare && k < t->points; ++k) {
        bool stick;
        contact_pair_friction(t, k, x, marked + 3 * (size_t)k, &stick, NULL);
    }
    for (int body = 0; t->rubs && body < t->c->body_count; ++body) {
        double between[3] = {0}, within = 0, size = 0;
        for (int32_t k = 0; k < t->points; ++k) {
            double now[3];
            bool stick;
            if (t->s->group[t->s->home[k]] != body) {
                continue;
            }
            contact_pair_friction(t, k, x, now, &stick, NULL);
            size += t->area[k] * pl_norm3(now);
            if (compare) {
                pl_sub3(now, marked + 3 * (size_t)k, now);
            }
            const int32_t face = pair_held_face(t, k);
            const bool own = face >= 0 && t->s->group[face] == body;
            within += own ? t->area[k] * pl_norm3(now) : 0;
            for (int i = 0; !own && i < 3; ++i) {
                between[i] += t->area[k] * now[i];
            }
        }
        largest = fmax(largest, compare ? fmax(within, pl_norm3(between)) : size);
    }

    return largest;
}

void contact_pairs_each_force(const contact_term *t, const double *x, contact_pair_visit *visit,
                              void *context)
{
    for (int32_t k = 0; t->rubs && k < t->points; ++k) {
        int32_t node[PL_PAIR_NODES_MAX];
        double weight[PL_PAIR_NODES_MAX], traction[3], force[3 * PL_PAIR_NODES_MAX];
        bool stick;
        int own;
        if (!(contact_limit(t, t->obstacles, k) > 0)) {
            continue;
        }
        contact_pair_friction(t, k, x, traction, &stick, NULL);
        const int count = pair_nodes(t, k, node, weight, &own);
        for (int j = 0; j < 3 * count; ++j) {
            force[j] = -t->area[k] * weight[j / 3] * traction[j % 3];
        }
        visit(context, k, pair_held_face(t, k), node, force, own, count);
    }
}
