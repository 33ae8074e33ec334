// Contact along a load path: where obstacles stand, what the state keeps, updates of multipliers and of
// friction's places, how far they are from settled, and how far steps and increments may go.
#include "problem/term_contact.h"

#define CONTACT_REACH 0.6         // of the edge: pairs nearer than this limit steps
#define CONTACT_GUARD 0.1         // of the edge: motion after which they are looked for again
#define CONTACT_DEPTH 0.35        // of the edge: a step goes no deeper
#define CONTACT_STRIDE 0.5        // of the edge: depth to which an obstacle moves in one increment
#define CONTACT_SLIPS 0.85        // of the friction possible on a free body: near slipping
#define CONTACT_TOTAL 10.0        // times the change of all pressures together
#define CONTACT_MOVED 0.1         // times what moved between points: redundant ones share it in many ways
#define CONTACT_STRIDE_LEAST 1e-3 // of the path

// ---- stiffness
// Both stiffnesses become `hard` times the usual ones, a power of two, so that the usual ones come back
// exactly.
void contact_make_hard(contact_term *t, double hard)
{
    for (int64_t k = 0; k < t->points + t->slots; ++k) {
        t->stiffness[k] *= hard / t->hard;
    }
    for (int32_t k = 0; k < t->points; ++k) {
        t->pair_stiffness[k] *= hard / t->hard;
    }
    t->hard = hard;
}

// R^T v
static void contact_unturn(const pl_pose *pose, const double v[3], double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = pose->R[i] * v[0] + pose->R[3 + i] * v[1] + pose->R[6 + i] * v[2];
    }
}

// Multipliers that give the same pressures at positions x with the usual stiffness e: p + e g where p > 0.
// One that does not press has a potential, which the shares of feet are drawn by.
static void contact_soft_multipliers(contact_term *t, const double *x, double *lambda)
{
    contact_find_feet(t, x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            const int64_t at = contact_at(t, o, k);
            const double e = t->stiffness[k] / t->hard, l = t->now.lambda[at];
            lambda[at] = contact_touch_at(t, o, k, x, false, &touch) ? touch.pressure + e * touch.gap
                                                                     : fmin(l / sqrt(t->hard), e * touch.gap);
        }
    }

    if (t->pairs) {
        double *own = lambda + t->obstacles * t->points;
        contact_find_pairs(t, x);
        for (int32_t i = 0; i < t->pair_count; ++i) {
            const double g = t->pair[i].gap - contact_pair_offset(t, &t->pair[i]),
                         pressure = contact_pair_pressure(t, &t->pair[i]);
            t->mu[i] = pressure > 0 ? pressure + t->pair_stiffness[t->pair[i].point] / t->hard * g : 0;
        }
        memset(own, 0, (size_t)t->points * sizeof *own);
        for (int32_t i = 0; i < t->pair_count; ++i) {
            own[t->pair[i].point] = t->mu[i];
        }
    }
}

void contact_soften(void *self, pl_problem *p, const double *x)
{
    contact_term *t = self;
    if (t->hard > 1) {
        contact_soft_multipliers(t, x, t->now.lambda);
        p->contact_hard = 1;
        contact_make_hard(t, 1);
    }
}

// In a state friction holds every point where it is, with the traction that it has there.
static void contact_rebase(contact_term *t, const double *x, double *block)
{
    contact_find_feet(t, x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        const pl_pose pose = contact_pose(t, o, x, t->offset);
        CONTACT_EACH(t, o, k)
        {
            const int64_t rough = 3 * contact_rough_at(t, o, k);
            double traction[3], at[3];
            bool stick;
            if (contact_limit(t, o, k) > 0) {
                contact_friction(t, o, k, x, traction, &stick, NULL);
                contact_position(t, k, true, x, at);
                contact_unturn(&pose, traction, block + (t->now.traction - t->block) + rough);
                contact_local(&pose, at, block + (t->now.place - t->block) + rough);
            }
        }
    }
    contact_pairs_rebase(t, x, block);
}

// The tangent at hand has another stiffness.
bool contact_renews(const void *self, const pl_problem *p)
{
    const contact_term *t = self;
    (void)p;
    return t->factored_hard != t->hard;
}

// ---- load path
static void contact_place_obstacles(contact_term *t, double at)
{
    for (int o = 0; o < t->obstacles; ++o) {
        const double value = at == 1 ? t->to[o] : t->from[o] + at * (t->to[o] - t->from[o]);
        for (int i = 0; i < 3; ++i) {
            t->offset[6 * o + i] = value * t->c->obstacle[o].move[i];
            t->offset[6 * o + 3 + i] = value * t->c->obstacle[o].pull[i];
        }
        contact_grip *g = &t->grip[o];
        g->slide_at = at == 1 ? g->slide_to : g->slide_from + at * (g->slide_to - g->slide_from);
    }
}

static double contact_command(const contact_term *t, int o, const double *command)
{
    const int c = t->c->obstacle[o].command;
    return c >= 0 && !isnan(command[c]) ? command[c] : 0;
}

pl_status contact_check(const void *self, const pl_problem *p, const double *command, pl_error *err)
{
    const contact_term *t = self;
    (void)p;
    for (int o = 0; o < t->obstacles; ++o) {
        if (!isfinite(contact_command(t, o, command))) {
            return pl_fail(err, PL_BAD_INPUT, "obstacle '%s': its command is not finite",
                           t->c->obstacle[o].name);
        }
    }

    return PL_OK;
}

void contact_begin(void *self, pl_problem *p, const pl_step *step)
{
    const pl_state *state = step->from;
    contact_term *t = self;
    const double *numbers = step->contact ? step->contact : state->history[PL_STATE_CONTACT].value;
    memcpy(t->block, numbers, (size_t)t->numbers * sizeof *t->block);
    for (int o = 0; o < t->obstacles; ++o) {
        t->from[o] = contact_command(t, o, state->command);
        t->to[o] = contact_command(t, o, step->command);
    }

    p->contact_hard = 1;
    contact_make_hard(t, 1);
    t->feet_found = false;
    contact_grip_begin(t, p, state->x, t->slide_wanted);
    contact_place_obstacles(t, 0);
    t->at = 0;
    t->settled = false;
    memcpy(t->settled_offset, t->offset, 6 * (size_t)t->obstacles * sizeof *t->offset);
    memcpy(t->settled_x, state->x, pl_problem_full_bytes(p));
    if (t->pairs) {
        pl_contact_remember(t->finder, state->x);
    }
}

void contact_set(void *self, pl_problem *p, double at)
{
    contact_term *t = self;
    (void)p;
    t->at = at;
    t->settled = false;
    contact_place_obstacles(t, at);
}

void contact_recall(void *self, pl_problem *p, const pl_state *state)
{
    contact_term *t = self;
    (void)p;
    memcpy(t->kept_block, t->block, (size_t)t->numbers * sizeof *t->block);
    memcpy(t->kept_offset, t->offset, 6 * (size_t)t->obstacles * sizeof *t->offset);
    memcpy(t->kept_grip, t->grip, (size_t)t->obstacles * sizeof *t->grip);
    memcpy(t->block, state->history[PL_STATE_CONTACT].value, (size_t)t->numbers * sizeof *t->block);
    t->feet_found = false;
    t->kept_hard = t->hard;
    p->contact_hard = 1;
    contact_make_hard(t, 1);
    for (int o = 0; o < t->obstacles; ++o) {
        const double value = contact_command(t, o, state->command);
        for (int i = 0; i < 3; ++i) {
            t->offset[6 * o + i] = value * t->c->obstacle[o].move[i];
            t->offset[6 * o + 3 + i] = value * t->c->obstacle[o].pull[i];
        }
    }

    contact_grip_begin(t, p, state->x, t->now.slide);
}

void contact_resume(void *self, pl_problem *p)
{
    contact_term *t = self;
    (void)p;
    p->contact_hard = t->kept_hard;
    contact_make_hard(t, t->kept_hard);
    memcpy(t->block, t->kept_block, (size_t)t->numbers * sizeof *t->block);
    t->feet_found = false;
    memcpy(t->offset, t->kept_offset, 6 * (size_t)t->obstacles * sizeof *t->offset);
    memcpy(t->grip, t->kept_grip, (size_t)t->obstacles * sizeof *t->grip);
}

void contact_store(const void *self, const pl_problem *p, const double *command, double at, pl_state *state)
{
    contact_term *t = (contact_term *)self; // scratch
    (void)p;
    memcpy(state->history[PL_STATE_CONTACT].value, t->block, (size_t)t->numbers * sizeof *t->block);
    if (t->hard > 1) {
        contact_soft_multipliers(t, state->x, state->history[PL_STATE_CONTACT].value);
    }
    if (t->c->friction) {
        contact_rebase(t, state->x, state->history[PL_STATE_CONTACT].value);
    }

    // slides are where they stand
    for (int o = 0; t->c->free_count > 0 && o < t->obstacles; ++o) {
        double *slide = state->history[PL_STATE_CONTACT].value + (t->now.slide - t->block) + 4 * o;
        memcpy(slide, t->grip[o].slide, sizeof t->grip[o].slide);
        slide[3] = t->grip[o].slide_at;
    }

    // an obstacle that is moving stays where it is
    for (int o = 0; at < 1 && o < t->obstacles; ++o) {
        const int c = t->c->obstacle[o].command;
        if (c >= 0 && !isnan(command[c])) {
            state->command[c] = t->from[o] + at * (t->to[o] - t->from[o]);
        }
    }
}

// Where friction takes hold of a point, relative to the obstacle: where it is, or, when it has come into
// contact since the last update, where it met the surface. On the path from a, where its gap was g_a > 0, to
// its place y now that was after the part g_a / (g_a - g_free) of the increment, g_free < 0 the gap that it
// would have had it not been held up: that of the place of the last update, with the obstacle where it is
// now.
void contact_anchor(const contact_term *t, int o, int32_t k, const double *x, double gap, double place[3])
{
    double at[3], a[3], b[3], n[3];
    const pl_shape *shape = &t->c->obstacle[o].shape;
    const pl_pose now = contact_pose(t, o, x, t->offset),
                  then = contact_pose(t, o, t->settled_x, t->settled_offset);

    contact_position(t, k, false, x, at);
    contact_local(&now, at, place);
    if (contact_limit(t, o, k) > 0 || k >= t->points) {
        return;
    }
    pl_contact_point_at(t->s, k, t->settled_x, at);
    contact_local(&then, at, a);
    contact_local(&now, at, b);
    const double before = pl_shape_gap(shape, a, t->reach, n, NULL),
                 free = fmin(gap, pl_shape_gap(shape, b, t->reach, n, NULL));
    const double f = free >= 0 ? 1 : before > 0 ? before / (before - free) : 0;
    for (int i = 0; i < 3; ++i) {
        place[i] = a[i] + f * (place[i] - a[i]);
    }
}

// The traction of friction becomes that of x. At the same load its place stays where the
// increment began: like a pressure the traction is a multiplier, of the condition that what sticks has not
// moved. Otherwise the increment ends, and the next one begins here.
static void contact_advance_friction(contact_term *t, int o, int32_t k, const double *x,
                                     const contact_touch *touch, bool touches, bool same_load)
{
    const int64_t at = contact_rough_at(t, o, k);
    const pl_pose pose = contact_pose(t, o, x, t->offset);
    const double held = same_load ? contact_rough_area(t, k) : 0, wide = held > 0 ? t->area[k] / held : 1,
                 limit = touches ? t->c->obstacle[o].friction * touch->pressure * wide : 0;
    double traction[3], n[3];
    bool stick;

    contact_friction(t, o, k, x, traction, &stick, NULL);
    // the same force on the area of now
    const double share = same_load ? 1 : t->area[k] > 0 ? contact_rough_area(t, k) / t->area[k] : 0;
    for (int i = 0; i < 3; ++i) {
        traction[i] *= share;
    }
    const double size = pl_norm3(traction);
    // a point that slips stays at its limit when that grows
    const double scale = size > 0 && (size > limit || !stick) ? limit / size : 1;
    if (!same_load || !(contact_limit(t, o, k) > 0)) {
        contact_anchor(t, o, k, x, touch->gap, t->now.place + 3 * at);
    }
    contact_unturn(&pose, traction, t->now.traction + 3 * at);
    contact_unturn(&pose, touch->n, n);
    if (same_load && contact_limit(t, o, k) > 0) {
        contact_held_normal(t, o, k, n);
    }
    const double along = pl_dot3(t->now.traction + 3 * at, n);
    for (int i = 0; i < 3; ++i) {
        t->now.traction[3 * at + i] = (t->now.traction[3 * at + i] - along * n[i]) * scale;
    }
}

// l <- p, and with friction the traction and the place.
void contact_accept(void *self, pl_problem *p, const double *x, pl_accept how)
{
    contact_term *t = self;
    const bool same_load = how == PL_ACCEPT_UPDATE && !contact_grip_releases(t);
    contact_find_feet(t, x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        const double mu = t->c->obstacle[o].friction;
        CONTACT_EACH(t, o, k)
        {
            const int64_t at = contact_rough_at(t, o, k);
            double *lambda = &t->now.lambda[contact_at(t, o, k)];
            contact_touch touch;
            const bool touches = contact_touch_at(t, o, k, x, false, &touch);
            if (mu > 0) {
                contact_advance_friction(t, o, k, x, &touch, touches, same_load);
            }
            *lambda = touches ? touch.pressure : 0;
            if (mu > 0) {
                // friction keeps its place and area
                const double held = same_load ? contact_rough_area(t, k) : 0;
                t->now.limit[at] = held > 0 ? *lambda * t->area[k] / held : *lambda;
            }
        }
    }

    contact_remember_feet(t, x, same_load);
    contact_grip_advance(t, p, x, t->settled && t->at >= 1);
    if (!same_load) {
        memcpy(t->settled_offset, t->offset, 6 * (size_t)t->obstacles * sizeof *t->offset);
        memcpy(t->settled_x, x, pl_problem_full_bytes(p));
        if (t->pairs) {
            pl_contact_remember(t->finder, x);
        }
    }

    if (t->pairs) {
        double *lambda = t->now.lambda + t->obstacles * t->points;
        // hard contacts stay on their faces: on another one the gap differs a little, and the pressure much
        if (t->hard == 1) {
            pl_contact_keep(t->finder, NULL);
        }
        contact_find_pairs(t, x);
        contact_pairs_advance_friction(t, x, same_load);
        // pressures with the old multipliers first
        for (int32_t i = 0; i < t->pair_count; ++i) {
            t->mu[i] = contact_pair_pressure(t, &t->pair[i]);
        }
        memset(lambda, 0, (size_t)t->points * sizeof *lambda);
        for (int32_t i = 0; i < t->pair_count; ++i) {
            lambda[t->pair[i].point] = t->mu[i];
        }
    }
}

// The limit of friction follows the pressure: what it is in all, and, less sharply, where it acts.
static double contact_limits_error(pl_problem *p, double total, double change, double moved)
{
    const double off = total > 0 ? fmax(CONTACT_TOTAL * fabs(change), CONTACT_MOVED * moved) / total : 0;
    p->limits_off = fmax(p->limits_off, off);
    return contact_tolerance(p) * off / PL_CONTACT_LIMIT;
}

// The largest |min(g, l / e)| over the edge, over what is aimed at; friction: the largest change of the limit
// and of a sticking place. `penetration`: the deepest point, over the edge.
double contact_complementarity_error(void *self, pl_problem *p, const double *x, double *penetration)
{
    contact_term *t = self;
    double worst = 0, gaps = 0;

    p->slips = NULL;
    contact_find_feet(t, x, t->offset);
    const double tolerance = contact_tolerance(p);
    for (int o = 0; o < t->obstacles; ++o) {
        const bool rough = t->c->obstacle[o].friction > 0;
        double total = 0, change = 0, moved = 0, used = 0, limit = 0;
        const pl_pose pose = contact_pose(t, o, x, t->offset);
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            const int64_t rough_at = contact_rough_at(t, o, k);
            const double l = t->now.lambda[contact_at(t, o, k)], h = t->spacing[k], e = t->stiffness[k];
            const double pressure = contact_touch_at(t, o, k, x, false, &touch) ? touch.pressure : 0;
            if (rough) {
                const double off = t->area[k] * pressure - contact_rough_area(t, k) * t->now.limit[rough_at];
                total += t->area[k] * pressure;
                change += off;
                moved += fabs(off);
            }
            // a foot on a continued face counts by its share
            const double share = k < t->points ? 1 : t->area[k] / t->whole_area;
            gaps = fmax(gaps, share * fabs(fmin(touch.gap, l / e)) / h);
            *penetration = fmax(*penetration, -share * touch.gap / h);
            if (contact_limit(t, o, k) > 0) {
                double traction[3], at[3], y[3], d[3], n[3];
                bool stick;
                contact_friction(t, o, k, x, traction, &stick, NULL);
                used += contact_rough_area(t, k) * pl_norm3(traction);
                limit += contact_rough_area(t, k) * contact_limit(t, o, k);
                contact_position(t, k, true, x, at);
                contact_local(&pose, at, y);
                contact_held_normal(t, o, k, n);
                pl_sub3(y, t->now.place + 3 * rough_at, d);
                const double along = pl_dot3(d, n);
                worst = stick ? fmax(worst, sqrt(fmax(0, pl_dot3(d, d) - along * along)) / h) : worst;
            }
        }
        if (t->c->obstacle[o].free && limit > 0 && used > CONTACT_SLIPS * limit) {
            p->slips = t->c->obstacle[o].name;
        }
        worst = fmax(worst, contact_limits_error(p, total, change, moved));
    }

    if (t->pairs) {
        const double *lambda = t->now.lambda + t->obstacles * t->points;
        contact_find_pairs(t, x);
        for (int32_t i = 0; i < t->pair_count; ++i) {
            const pl_contact_pair *pair = &t->pair[i];
            const double h = t->spacing[pair->point], g = pair->gap - contact_pair_offset(t, pair);
            gaps = fmax(gaps, fabs(fmin(g, lambda[pair->point] / t->pair_stiffness[pair->point])) / h);
            *penetration = fmax(*penetration, -g / h);
        }
        contact_rub_error rub;
        contact_pairs_rub_error(t, x, &rub);
        worst = fmax(worst, fmax(rub.slip, contact_limits_error(p, rub.total, rub.change, rub.moved)));
    }

    worst = fmax(worst, gaps);
    p->gaps_off = gaps / tolerance;
    t->settled = worst <= tolerance;

    return fmax(worst / tolerance, contact_grip_error(t, p, x));
}

// ---- steps
// Along the straight line from a to b: where the point would be deeper in the obstacle than `depth`.
static double contact_travel(const pl_shape *shape, const double a[3], const double b[3], double depth,
                             double reach)
{
    double d[3], n[3], at = 0;
    pl_sub3(b, a, d);
    const double length = pl_norm3(d);
    const double start = fmin(0, pl_shape_gap(shape, a, reach + length, n, NULL));
    for (int step = 0; step < 100 && at < length; ++step) {
        const double y[3] = {a[0] + at / length * d[0], a[1] + at / length * d[1], a[2] + at / length * d[2]};
        const double g = pl_shape_gap(shape, y, reach + length, n, NULL);
        if (g < start - depth) {
            return at / length;
        }
        // the distance changes by no more than the distance travelled
        at += fmax(g - start + depth, 0.1 * depth);
    }

    return 1;
}

// Has the surface moved less than CONTACT_GUARD of the edge since the pairs that limit steps were found?
static bool contact_guard_serves(const contact_term *t, const double *x)
{
    for (int32_t k = 0; k < t->points; ++k) {
        const int32_t v = t->s->vertex[k];
        if (v >= 0 && !(pl_distance3(x + 3 * (int64_t)v, t->guard_found + 3 * (int64_t)v) <=
                        CONTACT_GUARD * t->spacing[k])) {
            return false;
        }
    }
    return true;
}

// The pairs that limit steps from x: found again when the body has moved since, else their gaps alone.
static void contact_guard(contact_term *t, const pl_problem *p, const double *x)
{
    const pl_contact_pair *found;
    if (memcmp(t->guard_x, x, pl_problem_full_bytes(p)) == 0) {
        return;
    }

    if (!contact_guard_serves(t, x)) {
        t->guard_count = 0;
        if (pl_contact_find(t->finder, x, CONTACT_REACH, &found, &t->guard_count)) {
            memcpy(t->guard, found, (size_t)t->guard_count * sizeof *found);
        }
        memcpy(t->guard_found, x, pl_problem_full_bytes(p));
    } else {
        for (int32_t i = 0; i < t->guard_count; ++i) {
            pl_contact_pair_gap(t->s, &t->guard[i], x);
        }
    }

    memcpy(t->guard_x, x, pl_problem_full_bytes(p));
}

double contact_step_limit(const void *object, const pl_problem *p, const double *x, const double *to)
{
    contact_term *t = (contact_term *)object; // keeps the list of near pairs
    double limit = 1;

    for (int o = 0; o < t->obstacles; ++o) {
        const pl_pose here = contact_pose(t, o, x, t->offset), there = contact_pose(t, o, to, t->offset);
        for (int32_t k = 0; k < t->points; ++k) {
            double at[3], a[3], b[3];
            pl_contact_point_at(t->s, k, x, at);
            contact_local(&here, at, a);
            pl_contact_point_at(t->s, k, to, at);
            contact_local(&there, at, b);
            if (t->c->obstacle[o].shape.kind != PL_SHAPE_PLANE) {
                limit = fmin(limit, contact_travel(&t->c->obstacle[o].shape, a, b,
                                                   CONTACT_DEPTH * t->spacing[k], t->reach));
            }
        }
    }

    if (t->slots > 0) {
        limit = fmin(limit, contact_feature_limit(t, x, to, t->offset, t->offset, CONTACT_DEPTH));
    }
    if (!t->pairs) {
        return limit;
    }
    contact_guard(t, p, x);
    for (int32_t i = 0; i < t->guard_count; ++i) {
        const pl_contact_pair *pair = &t->guard[i];
        int32_t node[PL_PAIR_NODES_MAX];
        double gradient[3 * PL_PAIR_NODES_MAX], change = 0;
        const int count = pl_contact_pair_nodes(t->s, pair, node);
        pl_contact_pair_derivatives(t->s, pair, x, gradient, NULL);
        for (int j = 0; j < 3 * count; ++j) {
            const int64_t at = 3 * (int64_t)node[j / 3] + j % 3;
            change += gradient[j] * (to[at] - x[at]);
        }
        const double depth = CONTACT_DEPTH * t->spacing[pair->point], from = fmax(0, pair->gap) + depth;
        // a body that turns changes the normal: only what approaches in the old frame and the new one counts
        pl_contact_pair there = *pair;
        if (-change > from && pl_contact_pair_gap(t->s, &there, to) && pair->gap - there.gap > from) {
            limit = fmin(limit, from / (pair->gap - there.gap));
        }
    }

    return limit;
}

// How far moving obstacles may go until a point is deeper inside than CONTACT_STRIDE of its edge.
double contact_stride(void *self, pl_problem *p, const double *x, double at)
{
    contact_term *t = self;
    double rest = 1 - at;

    (void)p;
    contact_place_obstacles(t, at);
    for (int o = 0; o < t->obstacles; ++o) {
        if (t->from[o] == t->to[o] || t->c->obstacle[o].free) {
            continue;
        }
        const pl_obstacle *obstacle = &t->c->obstacle[o];
        for (int32_t k = 0; k < t->points; ++k) {
            double y[3], a[3], b[3];
            pl_contact_point_at(t->s, k, x, y);
            for (int i = 0; i < 3; ++i) {
                const double travel = (t->to[o] - t->from[o]) * obstacle->move[i];
                a[i] = y[i] - t->from[o] * obstacle->move[i] - at * travel;
                b[i] = a[i] - rest * travel;
            }
            rest *= contact_travel(&obstacle->shape, a, b, CONTACT_STRIDE * t->spacing[k], t->reach);
        }
        double travel[3];
        for (int i = 0; i < 3; ++i) {
            travel[i] = rest * (t->to[o] - t->from[o]) * obstacle->move[i];
        }
        rest *= contact_feature_stride(t, o, x, t->offset, travel, CONTACT_STRIDE);
    }

    contact_place_obstacles(t, t->at);

    return fmax(rest, CONTACT_STRIDE_LEAST);
}

// The factor misses contacts that act now, or has others with another stiffness; hard ones that have opened
// since would hold their points back.
bool contact_obsolete(const void *self, const pl_problem *p, const double *x)
{
    contact_term *t = (contact_term *)self; // keeps the feet
    (void)p;
    contact_find_feet(t, x, t->offset);
    const bool other = t->factored_hard != t->hard, hard = t->hard > 1;
    for (int o = 0; o < t->obstacles; ++o) {
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            const int64_t at = contact_at(t, o, k);
            const bool factored = t->factored[at] && !other;
            if (contact_touch_at(t, o, k, x, false, &touch) ? !factored : hard && factored && !t->hit[at]) {
                return true;
            }
        }
    }

    const bool *factored = t->factored + t->obstacles * t->points, *hit = t->hit + t->obstacles * t->points;
    int64_t kept = 0, all = 0;
    for (int32_t i = 0; i < t->pair_count; ++i) {
        const bool had = factored[t->pair[i].point] && !other,
                   acts = contact_pair_pressure(t, &t->pair[i]) > 0;
        if (acts && !had) {
            return true;
        }
        kept += acts && !hit[t->pair[i].point];
    }

    for (int32_t k = 0; t->pairs && hard && k < t->points; ++k) {
        all += factored[k] && !hit[k];
    }

    return hard && !other && all > kept;
}
