// Contact with obstacles, of a body with itself and between bodies (docs/contact.md).
//
// At each point k of the surface (vertices and centres of faces, areas a_k of the undeformed surface) the gap
// g_k >= 0 is held by an augmented Lagrangian with the multiplier l_k (a pressure) and the stiffness e_k:
//   E = sum_k a_k / (2 e_k) [max(0, l_k - e_k g_k)^2 - l_k^2],   p_k = max(0, l_k - e_k g_k),
//   dE/dx = -sum a_k p_k dg_k/dx,   d2E/dx2 = sum a_k [e_k dg dg^T - p_k d2g/dx2] over p_k > 0.
// After every increment l_k <- p_k; at the last load this is repeated until gap and pressure are
// complementary: |min(g_k, l_k / e_k)| below options.contact_tolerance of the edge length.
//
// Friction with obstacles has a potential too, because it takes pressure and normal of the last update:
//   t = t_old + e P (x - x_old), P = I - n n^T, cut to the length mu l_k.
#include <float.h>
#include "problem/term_contact.h"

#define CONTACT_STIFFNESS 30.0 // times Young's modulus over the edge: e_k
#define CONTACT_OFFSET 2e-3 // of the edge: faces of bodies are kept this far apart, so that they do not cross
#define CONTACT_REACH 0.6   // of the edge: pairs nearer than this limit steps
#define CONTACT_NEAR 0.06   // of the edge: pairs nearer than this may press
#define CONTACT_GUARD 0.1   // of the edge: motion after which they are looked for again
#define CONTACT_PATTERN 0.05      // of the edge: these have entries in the tangent, whether they touch or not
#define CONTACT_DEPTH 0.35        // of the edge: a step goes no deeper
#define CONTACT_STRIDE 0.5        // of the edge: depth to which an obstacle moves in one increment
#define CONTACT_STRIDE_LEAST 1e-3 // of the path
#define CONTACT_TOUCHING 1e-3     // of the edge: points this near stand at a surface
#define CONTACT_BENDING 2.0 // times the multiplier: pressure that acts on the curvature of a gap in steps
#define CONTACT_WEAK 1e-7   // of the edge: gap and l / e both below it: the derivative is one-sided

static void contact_destroy(void *object)
{
    contact_term *t = object;
    void *const block[] = {t->block,    t->kept_block, t->stiffness, t->pair_stiffness,
                           t->from,     t->to,         t->offset,    t->kept_offset,
                           t->pair,     t->x,          t->guard_x,   t->guard_found,
                           t->guard,    t->mu,         t->rate,      t->name,
                           t->factored, t->held,       t->told,      t->pressure,
                           t->open,     t->weight};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    if (t->finder) {
        const pl_contact_counts n = pl_contact_finder_counts(t->finder);
        pl_log(
            1,
            "contact: %lld searches through the tree (%lld rebuilt), %lld in the list, %lld pairs of boxes, "
            "%lld tests",
            (long long)(n.refits + n.rebuilds), (long long)n.rebuilds, (long long)n.listed,
            (long long)n.box_pairs, (long long)n.tests);
    }
    pl_contact_finder_destroy(t->finder);
    pl_table_clear(&t->coupled);
    pl_free(t);
}

// ---- gaps, pressures, tractions
bool contact_touch_at(const contact_term *t, int o, int32_t k, const double *x, bool second,
                      contact_touch *out)
{
    double at[3];
    pl_contact_point_at(t->s, k, x, at);
    pl_sub3(at, t->offset + 3 * o, at);
    out->gap = pl_shape_gap(&t->c->obstacle[o].shape, at, t->reach, out->n, second ? out->H : NULL);
    out->pressure = t->now.lambda[o * t->points + k] - t->stiffness[k] * out->gap;
    return out->pressure > 0 && (out->n[0] != 0 || out->n[1] != 0 || out->n[2] != 0);
}

double contact_pair_offset(const contact_term *t, const pl_contact_pair *pair)
{
    return CONTACT_OFFSET * t->s->spacing[pair->point];
}

double contact_pair_pressure(const contact_term *t, const pl_contact_pair *pair)
{
    const double g = pair->gap - contact_pair_offset(t, pair);
    return fmax(0,
                t->now.lambda[t->obstacles * t->points + pair->point] - t->pair_stiffness[pair->point] * g);
}

double contact_friction(const contact_term *t, int o, int32_t k, const double *x, double traction[3],
                        bool *stick, double *tangent)
{
    const int64_t at = o * t->points + k;
    const double limit = t->c->obstacle[o].friction * t->now.lambda[at], e = t->stiffness[k];
    const double *old = t->now.traction + 3 * at, *place = t->now.place + 3 * at;
    double n[3], y[3], d[3];
    *stick = true;
    memset(traction, 0, 3 * sizeof *traction);
    if (!(limit > 0)) {
        return 0;
    }
    pl_shape_gap(&t->c->obstacle[o].shape, place, t->reach, n, NULL);
    pl_contact_point_at(t->s, k, x, y);
    pl_sub3(y, t->offset + 3 * o, y);
    pl_sub3(y, place, d);
    const double along = pl_dot3(d, n);
    for (int i = 0; i < 3; ++i) {
        traction[i] = old[i] + e * (d[i] - along * n[i]);
    }
    const double size = pl_norm3(traction);
    *stick = size <= limit;
    const double cut = *stick ? 1 : limit / size;
    for (int i = 0; tangent && i < 9; ++i) {
        const double P = (i % 4 == 0) - n[i / 3] * n[i % 3];
        tangent[i] = e * cut * (*stick ? P : P - traction[i / 3] * traction[i % 3] / (size * size));
    }
    for (int i = 0; i < 3; ++i) {
        traction[i] *= cut;
    }
    return *stick ? size * size / (2 * e) : limit * (size - 0.5 * limit) / e;
}

// full += scale v at the nodes of a point
static void contact_spread(const contact_term *t, int32_t k, double scale, const double v[3], double *full)
{
    const int32_t *node;
    double weight[PL_FACE_NODES_MAX];
    const int count = pl_contact_point_nodes(t->s, k, &node, weight);
    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < 3; ++i) {
            full[3 * (int64_t)node[j] + i] += scale * weight[j] * v[i];
        }
    }
}

// ---- evaluation
static bool contact_is_coupled(const contact_term *t, const pl_contact_pair *pair)
{
    const int32_t key[2] = {pair->point, pair->face};
    return t->coupled_ready && pl_table_find(&t->coupled, key) >= 0;
}

static void contact_find_pairs(contact_term *t, const double *x)
{
    const pl_contact_pair *found;
    t->pair_count = 0;
    if (t->pairs && pl_contact_find(t->finder, x, CONTACT_NEAR, &found, &t->pair_count)) {
        memcpy(t->pair, found, (size_t)t->pair_count * sizeof *found);
    }
}

static void contact_obstacles(const contact_term *t, const double *x, double *energy, double *full)
{
    for (int o = 0; o < t->obstacles; ++o) {
        const bool rough = t->c->obstacle[o].friction > 0;
        for (int32_t k = 0; k < t->points; ++k) {
            contact_touch touch;
            const double a = t->s->area[k], l = t->now.lambda[o * t->points + k];
            if (l > 0) {
                *energy -= a * l * l / (2 * t->stiffness[k]);
            }
            if (contact_touch_at(t, o, k, x, false, &touch)) {
                *energy += a * touch.pressure * touch.pressure / (2 * t->stiffness[k]);
                if (full) {
                    contact_spread(t, k, -a * touch.pressure, touch.n, full);
                }
            }
            if (rough && l > 0) {
                double traction[3];
                bool stick;
                *energy += a * contact_friction(t, o, k, x, traction, &stick, NULL);
                if (full) {
                    contact_spread(t, k, a, traction, full);
                }
            }
        }
    }
}

// Points that press in the factor at hand, with gaps linear in the obstacle's motion since the last
// equilibrium; no energy.
static void contact_obstacles_linear(const contact_term *t, pl_problem *p, const double *x, double *full)
{
    p->contact_moved = false;
    for (int o = 0; o < t->obstacles; ++o) {
        double way[3];
        pl_sub3(t->offset + 3 * o, t->settled_offset + 3 * o, way);
        const bool moves = way[0] != 0 || way[1] != 0 || way[2] != 0;
        for (int32_t k = 0; k < t->points; ++k) {
            const int64_t at = o * t->points + k;
            double y[3], n[3], traction[3];
            bool stick;
            if (!t->factored[at]) {
                continue;
            }
            p->contact_moved = p->contact_moved || moves;
            pl_contact_point_at(t->s, k, x, y);
            pl_sub3(y, t->settled_offset + 3 * o, y);
            const double gap = pl_shape_gap(&t->c->obstacle[o].shape, y, t->reach, n, NULL) - pl_dot3(n, way);
            if (full) {
                contact_spread(t, k, -t->s->area[k] * (t->now.lambda[at] - t->stiffness[k] * gap), n, full);
                if (t->c->obstacle[o].friction > 0 && t->now.lambda[at] > 0) {
                    contact_friction(t, o, k, x, traction, &stick, NULL);
                    contact_spread(t, k, t->s->area[k], traction, full);
                }
            }
        }
    }
}

static void contact_evaluate(void *self, pl_problem *p, const double *x, double *energy, double *full)
{
    contact_term *t = self;
    if (p->contact_mode == PL_CONTACT_ABSENT) {
        return;
    }
    if (p->contact_mode == PL_CONTACT_LINEAR) {
        contact_obstacles_linear(t, p, x, full);
    } else {
        contact_obstacles(t, x, energy, full);
    }
    if (!t->pairs) {
        return;
    }
    memcpy(t->x, x, pl_problem_full_bytes(p));
    contact_find_pairs(t, x);
    const double *lambda = t->now.lambda + t->obstacles * t->points;
    for (int32_t k = 0; k < t->points; ++k) {
        *energy -= lambda[k] > 0 ? t->s->area[k] * lambda[k] * lambda[k] / (2 * t->pair_stiffness[k]) : 0;
    }
    t->stale = false;
    for (int32_t i = 0; i < t->pair_count; ++i) {
        const pl_contact_pair *pair = &t->pair[i];
        const double pressure = contact_pair_pressure(t, pair), a = t->s->area[pair->point];
        if (!(pressure > 0)) {
            continue;
        }
        t->stale = t->stale || !contact_is_coupled(t, pair);
        pl_contact_keep(t->finder, pair);
        *energy += a * pressure * pressure / (2 * t->pair_stiffness[pair->point]);
        if (full) {
            int32_t node[PL_PAIR_NODES_MAX];
            double gradient[3 * PL_PAIR_NODES_MAX];
            const int count = pl_contact_pair_nodes(t->s, pair, node);
            pl_contact_pair_derivatives(t->s, pair, x, gradient, NULL);
            for (int j = 0; j < 3 * count; ++j) {
                full[3 * (int64_t)node[j / 3] + j % 3] -= a * pressure * gradient[j];
            }
        }
    }
}

// ---- tangent
// The pressure that acts on the curvature of a gap. While points are deep inside, far from balance, it would
// make the tangent indefinite: only as much of it is taken as the last update explains (a bar on a roller:
// 159 -> 98 factorisations).
static double contact_bending(const pl_problem *p, bool positive, double pressure, double lambda)
{
    return positive ? 0 : p->tangent.exact ? pressure : fmin(pressure, CONTACT_BENDING * lambda);
}

static void contact_add_point(const contact_term *t, pl_problem *p, int32_t k, const double B[9],
                              const double *x)
{
    const int32_t *node;
    double weight[PL_FACE_NODES_MAX];
    const int count = pl_contact_point_nodes(t->s, k, &node, weight);
    for (int j = 0; j < count; ++j) {
        for (int l = 0; l < count; ++l) {
            double W[9];
            for (int i = 0; i < 9; ++i) {
                W[i] = weight[j] * weight[l] * B[i];
            }
            pl_problem_add_block(p, node[j], node[l], W, 3, x);
        }
    }
}

static void contact_tangent_obstacles(contact_term *t, pl_problem *p, const double *x, bool positive)
{
    for (int o = 0; o < t->obstacles; ++o) {
        for (int32_t k = 0; k < t->points; ++k) {
            contact_touch touch;
            double B[9] = {0}, traction[3], T[9];
            bool stick, any = contact_touch_at(t, o, k, x, !positive, &touch);
            if (!any && p->tangent.touching && fabs(touch.gap) < CONTACT_TOUCHING * t->s->spacing[k]) {
                any = true;
                touch.pressure = 0;
            }
            t->factored[o * t->points + k] = any;
            const double bending =
                contact_bending(p, positive, touch.pressure, t->now.lambda[o * t->points + k]);
            for (int i = 0; any && i < 9; ++i) {
                B[i] = t->s->area[k] * t->stiffness[k] * touch.n[i / 3] * touch.n[i % 3];
                B[i] -= bending > 0 ? t->s->area[k] * bending * touch.H[i] : 0;
            }
            if (t->c->obstacle[o].friction > 0 && t->now.lambda[o * t->points + k] > 0) {
                contact_friction(t, o, k, x, traction, &stick, T);
                for (int i = 0; i < 9; ++i) {
                    B[i] += t->s->area[k] * T[i];
                }
                any = true;
            }
            if (any) {
                contact_add_point(t, p, k, B, x);
            }
        }
    }
}

static void contact_tangent(void *self, pl_problem *p, const double *x, bool positive)
{
    contact_term *t = self;
    contact_tangent_obstacles(t, p, x, positive);
    memset(t->factored + t->obstacles * t->points, 0, t->pairs ? (size_t)t->points : 0);
    double gradient[3 * PL_PAIR_NODES_MAX], H[9 * PL_PAIR_NODES_MAX * PL_PAIR_NODES_MAX];
    for (int32_t i = 0; i < t->pair_count; ++i) {
        const pl_contact_pair *pair = &t->pair[i];
        const double pressure = contact_pair_pressure(t, pair), a = t->s->area[pair->point],
                     e = t->pair_stiffness[pair->point];
        const bool touching = p->tangent.touching && pair->gap - contact_pair_offset(t, pair) <
                                                         CONTACT_TOUCHING * t->s->spacing[pair->point];
        if (!(pressure > 0 || touching) || !contact_is_coupled(t, pair)) {
            continue;
        }
        const double bending =
            contact_bending(p, positive, pressure, t->now.lambda[t->obstacles * t->points + pair->point]);
        int32_t node[PL_PAIR_NODES_MAX];
        t->factored[t->obstacles * t->points + pair->point] = true;
        const int count = pl_contact_pair_nodes(t->s, pair, node), m = 3 * count;
        pl_contact_pair_derivatives(t->s, pair, x, gradient, H);
        for (int r = 0; r < m; ++r) {
            for (int c = 0; c < m; ++c) {
                H[r * m + c] = a * (e * gradient[r] * gradient[c] - bending * H[r * m + c]);
            }
        }
        for (int r = 0; r < count; ++r) {
            for (int c = 0; c < count; ++c) {
                pl_problem_add_block(p, node[r], node[c], H + 3 * r * m + 3 * c, m, x);
            }
        }
    }
}

// ---- pattern
// Couples the nodes of all pairs that touch or nearly do; earlier ones stay, so that sliding back and forth
// needs no new analysis.
static void contact_pattern(const void *object, const pl_problem *p, pl_pattern *out)
{
    contact_term *t = (contact_term *)object; // the table of what is coupled is the pattern's own
    if (!t->pairs) {
        return;
    }
    if (t->coupled.count + t->pair_count > t->coupled.limit || !t->coupled_ready) {
        const int64_t limit = 16 * t->points;
        pl_table_clear(&t->coupled);
        t->coupled_ready = pl_table_init(&t->coupled, 2, limit);
    }
    for (int32_t i = 0; t->coupled_ready && i < t->pair_count; ++i) {
        const int32_t key[2] = {t->pair[i].point, t->pair[i].face};
        if (t->pair[i].gap > CONTACT_PATTERN * t->s->spacing[key[0]]) {
            continue;
        }
        pl_table_add(&t->coupled, key);
    }
    for (int32_t i = 0; t->coupled_ready && i < t->coupled.count; ++i) {
        const pl_contact_pair pair = {.point = t->coupled.key[2 * i], .face = t->coupled.key[2 * i + 1]};
        int32_t node[PL_PAIR_NODES_MAX];
        const int nodes = pl_contact_pair_nodes(t->s, &pair, node), own = nodes - t->s->size[pair.face];
        for (int a = 0; a < own; ++a) {
            for (int b = own; b < nodes; ++b) {
                pl_pattern_couple(out, pl_problem_group(p, node[a]), pl_problem_group(p, node[b]));
            }
        }
    }
    t->stale = false;
}

static bool contact_changed(const void *self)
{
    return ((const contact_term *)self)->stale;
}

// ---- load path
static void contact_place_obstacles(contact_term *t, double at)
{
    for (int o = 0; o < t->obstacles; ++o) {
        const double value = at >= 1 ? t->to[o] : t->from[o] + at * (t->to[o] - t->from[o]);
        for (int i = 0; i < 3; ++i) {
            t->offset[3 * o + i] = value * t->c->obstacle[o].move[i];
        }
    }
}

static double contact_command(const contact_term *t, int o, const double *command)
{
    const int c = t->c->obstacle[o].command;
    return c >= 0 && !isnan(command[c]) ? command[c] : 0;
}

static pl_status contact_check(const void *self, const pl_problem *p, const double *command, pl_error *err)
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

static void contact_begin(void *self, pl_problem *p, const pl_state *state, const double *command)
{
    contact_term *t = self;
    memcpy(t->block, state->contact, (size_t)t->numbers * sizeof *t->block);
    for (int o = 0; o < t->obstacles; ++o) {
        t->from[o] = contact_command(t, o, state->command);
        t->to[o] = contact_command(t, o, command);
    }
    contact_place_obstacles(t, 0);
    memcpy(t->settled_offset, t->offset, 3 * (size_t)t->obstacles * sizeof *t->offset);
    memcpy(t->settled_x, state->x, pl_problem_full_bytes(p));
}

static void contact_set(void *self, pl_problem *p, double at)
{
    (void)p;
    contact_place_obstacles(self, at);
}

static void contact_recall(void *self, pl_problem *p, const pl_state *state)
{
    contact_term *t = self;
    (void)p;
    memcpy(t->kept_block, t->block, (size_t)t->numbers * sizeof *t->block);
    memcpy(t->kept_offset, t->offset, 3 * (size_t)t->obstacles * sizeof *t->offset);
    memcpy(t->block, state->contact, (size_t)t->numbers * sizeof *t->block);
    for (int o = 0; o < t->obstacles; ++o) {
        const double value = contact_command(t, o, state->command);
        for (int i = 0; i < 3; ++i) {
            t->offset[3 * o + i] = value * t->c->obstacle[o].move[i];
        }
    }
}

static void contact_resume(void *self, pl_problem *p)
{
    contact_term *t = self;
    (void)p;
    memcpy(t->block, t->kept_block, (size_t)t->numbers * sizeof *t->block);
    memcpy(t->offset, t->kept_offset, 3 * (size_t)t->obstacles * sizeof *t->offset);
}

static void contact_store(const void *self, const pl_problem *p, const double *command, double at,
                          pl_state *state)
{
    const contact_term *t = self;
    (void)p;
    memcpy(state->contact, t->block, (size_t)t->numbers * sizeof *t->block);
    // an obstacle under way stays where it is
    for (int o = 0; at < 1 && o < t->obstacles; ++o) {
        const int c = t->c->obstacle[o].command;
        if (c >= 0 && !isnan(command[c])) {
            state->command[c] = t->from[o] + at * (t->to[o] - t->from[o]);
        }
    }
}

// Where friction takes hold of a point, relative to the obstacle: where it is, or, when it has come into
// contact since the last update, where it met the surface on its way.
static void contact_anchor(const contact_term *t, int o, int32_t k, const double *x, double gap,
                           double place[3])
{
    double a[3], n[3];
    pl_contact_point_at(t->s, k, x, place);
    pl_sub3(place, t->offset + 3 * o, place);
    if (t->now.lambda[o * t->points + k] > 0 || gap >= 0) {
        return;
    }
    pl_contact_point_at(t->s, k, t->settled_x, a);
    pl_sub3(a, t->settled_offset + 3 * o, a);
    const double before = pl_shape_gap(&t->c->obstacle[o].shape, a, t->reach, n, NULL);
    const double f = before > 0 ? before / (before - gap) : 0;
    for (int i = 0; i < 3; ++i) {
        place[i] = a[i] + f * (place[i] - a[i]);
    }
}

// l <- p, and with friction the traction and the place.
static void contact_advance(void *self, pl_problem *p, const double *x)
{
    contact_term *t = self;
    for (int o = 0; o < t->obstacles; ++o) {
        const double mu = t->c->obstacle[o].friction;
        for (int32_t k = 0; k < t->points; ++k) {
            const int64_t at = o * t->points + k;
            contact_touch touch;
            const bool touches = contact_touch_at(t, o, k, x, false, &touch);
            if (mu > 0 && !p->limits_only) {
                double traction[3];
                bool stick;
                contact_friction(t, o, k, x, traction, &stick, NULL);
                const double size = pl_norm3(traction), limit = touches ? mu * touch.pressure : 0,
                             along = pl_dot3(traction, touch.n);
                // a point that slips stays at its limit when that grows
                const double scale = size > 0 && (size > limit || !stick) ? limit / size : 1;
                contact_anchor(t, o, k, x, touch.gap, t->now.place + 3 * at);
                for (int i = 0; i < 3; ++i) {
                    t->now.traction[3 * at + i] = (traction[i] - along * touch.n[i]) * scale;
                }
            }
            if (mu > 0 && p->limits_only && touches && !(t->now.lambda[at] > 0)) {
                contact_anchor(t, o, k, x, touch.gap, t->now.place + 3 * at);
                memset(t->now.traction + 3 * at, 0, 3 * sizeof *t->now.traction);
            }
            t->now.lambda[at] = touches ? touch.pressure : 0;
        }
    }
    if (!p->limits_only) {
        memcpy(t->settled_offset, t->offset, 3 * (size_t)t->obstacles * sizeof *t->offset);
        memcpy(t->settled_x, x, pl_problem_full_bytes(p));
    }
    if (t->pairs) {
        double *lambda = t->now.lambda + t->obstacles * t->points;
        pl_contact_keep(t->finder, NULL);
        contact_find_pairs(t, x);
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

// The largest |min(g, l / e)| over the edge, over what is aimed at; friction: the largest change of the limit
// and of a sticking place. `penetration`: the deepest point, over the edge.
static double contact_unsettled(void *self, pl_problem *p, const double *x, double *penetration)
{
    contact_term *t = self;
    double worst = 0;
    const double tolerance = p->options.contact_tolerance > 0 ? p->options.contact_tolerance : 3e-4;
    for (int o = 0; o < t->obstacles; ++o) {
        double largest = 0, change = 0;
        for (int32_t k = 0; k < t->points; ++k) {
            contact_touch touch;
            const double l = t->now.lambda[o * t->points + k], h = t->s->spacing[k], e = t->stiffness[k];
            const double pressure = contact_touch_at(t, o, k, x, false, &touch) ? touch.pressure : 0;
            largest = fmax(largest, pressure);
            change = fmax(change, fabs(pressure - l));
            worst = fmax(worst, fabs(fmin(touch.gap, l / e)) / h);
            *penetration = fmax(*penetration, -touch.gap / h);
            if (t->c->obstacle[o].friction > 0 && l > 0) {
                double traction[3], y[3], d[3];
                bool stick;
                contact_friction(t, o, k, x, traction, &stick, NULL);
                pl_contact_point_at(t->s, k, x, y);
                pl_sub3(y, t->offset + 3 * o, y);
                pl_sub3(y, t->now.place + 3 * (o * t->points + k), d);
                const double along = pl_dot3(d, touch.n);
                worst = stick ? fmax(worst, sqrt(fmax(0, pl_dot3(d, d) - along * along)) / h) : worst;
            }
        }
        // the limit of friction follows the pressure
        if (t->c->obstacle[o].friction > 0 && largest > 0) {
            p->limits_off = fmax(p->limits_off, change / largest);
            worst = fmax(worst, tolerance * change / (PL_CONTACT_LIMIT * largest));
        }
    }
    if (t->pairs) {
        const double *lambda = t->now.lambda + t->obstacles * t->points;
        contact_find_pairs(t, x);
        for (int32_t i = 0; i < t->pair_count; ++i) {
            const pl_contact_pair *pair = &t->pair[i];
            const double h = t->s->spacing[pair->point], g = pair->gap - contact_pair_offset(t, pair);
            worst = fmax(worst, fabs(fmin(g, lambda[pair->point] / t->pair_stiffness[pair->point])) / h);
            *penetration = fmax(*penetration, -g / h);
        }
    }
    return worst / tolerance;
}

// ---- steps
// Along the straight way from a to b: where the point would be deeper in the obstacle than `depth`.
static double contact_way(const pl_shape *shape, const double a[3], const double b[3], double depth,
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
        // the distance changes by no more than the way gone
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
                        CONTACT_GUARD * t->s->spacing[k])) {
            return false;
        }
    }
    return true;
}

// The pairs that limit steps from x: found anew when the body has moved since, else their gaps alone.
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

static double contact_step_limit(const void *object, const pl_problem *p, const double *x, const double *to)
{
    contact_term *t = (contact_term *)object; // keeps the list of near pairs
    double limit = 1;
    for (int o = 0; o < t->obstacles; ++o) {
        for (int32_t k = 0; k < t->points; ++k) {
            double a[3], b[3];
            pl_contact_point_at(t->s, k, x, a);
            pl_contact_point_at(t->s, k, to, b);
            pl_sub3(a, t->offset + 3 * o, a);
            pl_sub3(b, t->offset + 3 * o, b);
            if (t->c->obstacle[o].shape.kind != PL_SHAPE_PLANE) {
                limit = fmin(limit, contact_way(&t->c->obstacle[o].shape, a, b,
                                                CONTACT_DEPTH * t->s->spacing[k], t->reach));
            }
        }
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
        const double depth = CONTACT_DEPTH * t->s->spacing[pair->point], from = fmax(0, pair->gap) + depth;
        // a body that turns changes the normal: only what approaches in the old frame and the new one counts
        pl_contact_pair there = *pair;
        if (-change > from && pl_contact_pair_gap(t->s, &there, to) && pair->gap - there.gap > from) {
            limit = fmin(limit, from / (pair->gap - there.gap));
        }
    }
    return limit;
}

// How far moving obstacles may go until a point is deeper inside than CONTACT_STRIDE of its edge.
static double contact_stride(void *self, pl_problem *p, const double *x, double at)
{
    contact_term *t = self;
    double rest = 1 - at;
    (void)p;
    for (int o = 0; o < t->obstacles; ++o) {
        if (t->from[o] == t->to[o]) {
            continue;
        }
        const pl_obstacle *obstacle = &t->c->obstacle[o];
        for (int32_t k = 0; k < t->points; ++k) {
            double y[3], a[3], b[3];
            pl_contact_point_at(t->s, k, x, y);
            for (int i = 0; i < 3; ++i) {
                const double way = (t->to[o] - t->from[o]) * obstacle->move[i];
                a[i] = y[i] - t->from[o] * obstacle->move[i] - at * way;
                b[i] = a[i] - rest * way;
            }
            rest *= contact_way(&obstacle->shape, a, b, CONTACT_STRIDE * t->s->spacing[k], t->reach);
        }
    }
    return fmax(rest, CONTACT_STRIDE_LEAST);
}

static bool contact_obsolete(const void *self, const pl_problem *p, const double *x)
{
    const contact_term *t = self;
    (void)p;
    for (int o = 0; o < t->obstacles; ++o) {
        for (int32_t k = 0; k < t->points; ++k) {
            contact_touch touch;
            if (!t->factored[o * t->points + k] && contact_touch_at(t, o, k, x, false, &touch)) {
                return true;
            }
        }
    }
    for (int32_t i = 0; i < t->pair_count; ++i) {
        if (!t->factored[t->obstacles * t->points + t->pair[i].point] &&
            contact_pair_pressure(t, &t->pair[i]) > 0) {
            return true;
        }
    }
    return false;
}

// ---- states
static void contact_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    double energy = 0;
    contact_evaluate(self, p, state->x, &energy, full);
}

static uint64_t contact_fingerprint(const void *self, const pl_problem *p, uint64_t hash)
{
    const contact_term *t = self;
    (void)p;
    hash = pl_hash_bytes(hash, t->block, (size_t)t->numbers * sizeof *t->block);
    return pl_hash_bytes(hash, t->offset, 3 * (size_t)t->obstacles * sizeof *t->offset);
}

static bool contact_one_sided(const void *self, const pl_problem *p, const pl_state *state)
{
    const contact_term *t = self;
    (void)p;
    for (int o = 0; o < t->obstacles; ++o) {
        for (int32_t k = 0; k < t->points; ++k) {
            contact_touch touch;
            const double weak = CONTACT_WEAK * t->s->spacing[k];
            contact_touch_at(t, o, k, state->x, false, &touch);
            if (fabs(touch.gap) < weak && t->now.lambda[o * t->points + k] < weak * t->stiffness[k]) {
                return true;
            }
        }
    }
    return false;
}

// ---- derivatives
static pl_status contact_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                                    double *full, double *target, pl_error *err)
{
    contact_term *t = self;
    (void)p;
    (void)target;
    (void)err;
    memset(t->rate, 0, (size_t)(t->channels * t->points) * sizeof *t->rate);
    for (int o = 0; o < t->obstacles; ++o) {
        const double *v = t->c->obstacle[o].move;
        if (q->kind != PL_PARAMETER_COMMAND || t->c->obstacle[o].command != q->index) {
            continue;
        }
        for (int32_t k = 0; k < t->points; ++k) {
            contact_touch touch;
            double change[3] = {0}, traction[3], T[9];
            bool stick;
            if (contact_touch_at(t, o, k, state->x, true, &touch)) {
                const double closing = pl_dot3(touch.n, v);
                t->rate[o * t->points + k] = -closing;
                pl_mulv3(touch.H, v, change);
                for (int i = 0; i < 3; ++i) {
                    change[i] = t->stiffness[k] * closing * touch.n[i] - touch.pressure * change[i];
                }
            }
            if (t->c->obstacle[o].friction > 0 && t->now.lambda[o * t->points + k] > 0) {
                double drag[3];
                contact_friction(t, o, k, state->x, traction, &stick, T);
                pl_mulv3(T, v, drag);
                for (int i = 0; i < 3; ++i) {
                    change[i] += drag[i];
                }
            }
            contact_spread(t, k, t->s->area[k], change, full);
        }
    }
    return PL_OK;
}

// ---- contacts that stay at their status in a derivative; y per channel and point
static int64_t contact_hold_count(void *self, pl_problem *p, const double *x)
{
    contact_term *t = self;
    bool any = false;
    p->friction_acts = false;
    memset(t->mu, 0, (size_t)(t->channels * t->points) * sizeof *t->mu);
    for (int o = 0; o < t->obstacles; ++o) {
        for (int32_t k = 0; k < t->points; ++k) {
            contact_touch touch;
            t->held[o * t->points + k] = contact_touch_at(t, o, k, x, false, &touch);
            any = any || t->held[o * t->points + k];
            p->friction_acts =
                p->friction_acts || (t->held[o * t->points + k] && t->c->obstacle[o].friction > 0);
        }
    }
    memset(t->held + t->obstacles * t->points, 0, t->pairs ? (size_t)t->points : 0);
    for (int32_t i = 0; i < t->pair_count; ++i) {
        if (contact_pair_pressure(t, &t->pair[i]) > 0) {
            t->held[t->obstacles * t->points + t->pair[i].point] = any = true;
        }
    }
    return any ? t->channels * t->points : 0;
}

static void contact_hold_weight(const void *self, const pl_problem *p, double *w)
{
    const contact_term *t = self;
    (void)p;
    for (int64_t i = 0; i < t->channels * t->points; ++i) {
        const int32_t k = (int32_t)(i % t->points);
        w[i] = t->s->area[k] * (i < t->obstacles * t->points ? t->stiffness : t->pair_stiffness)[k];
    }
}

static void contact_hold_gap(const void *self, const pl_problem *p, const double *x, const double *dx,
                             bool rate, double *y)
{
    const contact_term *t = self;
    (void)p;
    memset(y, 0, (size_t)(t->channels * t->points) * sizeof *y);
    for (int64_t i = 0; i < t->obstacles * t->points; ++i) {
        contact_touch touch;
        double motion[3];
        const int32_t k = (int32_t)(i % t->points);
        if (t->held[i]) {
            contact_touch_at(t, (int)(i / t->points), k, x, false, &touch);
            pl_contact_point_at(t->s, k, dx, motion);
            y[i] = pl_dot3(touch.n, motion) + (rate ? t->rate[i] : 0);
        }
    }
    for (int32_t i = 0; i < t->pair_count; ++i) {
        const int64_t at = t->obstacles * t->points + t->pair[i].point;
        int32_t node[PL_PAIR_NODES_MAX];
        double gradient[3 * PL_PAIR_NODES_MAX];
        if (t->held[at]) {
            const int count = pl_contact_pair_nodes(t->s, &t->pair[i], node);
            pl_contact_pair_derivatives(t->s, &t->pair[i], x, gradient, NULL);
            for (int j = 0; j < 3 * count; ++j) {
                y[at] += gradient[j] * dx[3 * (int64_t)node[j / 3] + j % 3];
            }
        }
    }
}

static void contact_hold_force(const void *self, const pl_problem *p, const double *x, const double *y,
                               double *full)
{
    const contact_term *t = self;
    (void)p;
    for (int64_t i = 0; i < t->obstacles * t->points; ++i) {
        contact_touch touch;
        const int32_t k = (int32_t)(i % t->points);
        if (t->held[i]) {
            contact_touch_at(t, (int)(i / t->points), k, x, false, &touch);
            contact_spread(t, k, t->s->area[k] * t->stiffness[k] * y[i], touch.n, full);
        }
    }
    for (int32_t i = 0; i < t->pair_count; ++i) {
        const int32_t k = t->pair[i].point;
        const int64_t at = t->obstacles * t->points + k;
        int32_t node[PL_PAIR_NODES_MAX];
        double gradient[3 * PL_PAIR_NODES_MAX];
        if (t->held[at]) {
            const int count = pl_contact_pair_nodes(t->s, &t->pair[i], node);
            pl_contact_pair_derivatives(t->s, &t->pair[i], x, gradient, NULL);
            for (int j = 0; j < 3 * count; ++j) {
                full[3 * (int64_t)node[j / 3] + j % 3] +=
                    t->s->area[k] * t->pair_stiffness[k] * y[at] * gradient[j];
            }
        }
    }
}

static void contact_hold_end(void *self, const double *y)
{
    contact_term *t = self;
    for (int64_t i = 0; i < t->channels * t->points; ++i) {
        t->mu[i] = (i < t->obstacles * t->points ? t->stiffness : t->pair_stiffness)[i % t->points] * y[i];
    }
}

static const pl_term contact_kind = {.name = "contact",
                                     .destroy = contact_destroy,
                                     .pattern = contact_pattern,
                                     .changed = contact_changed,
                                     .check = contact_check,
                                     .begin = contact_begin,
                                     .set = contact_set,
                                     .recall = contact_recall,
                                     .resume = contact_resume,
                                     .one_sided = contact_one_sided,
                                     .evaluate = contact_evaluate,
                                     .tangent = contact_tangent,
                                     .fingerprint = contact_fingerprint,
                                     .step_limit = contact_step_limit,
                                     .stride = contact_stride,
                                     .obsolete = contact_obsolete,
                                     .advance = contact_advance,
                                     .unsettled = contact_unsettled,
                                     .store = contact_store,
                                     .forces = contact_forces,
                                     .derivative = contact_derivative,
                                     .hold_count = contact_hold_count,
                                     .hold_weight = contact_hold_weight,
                                     .hold_gap = contact_hold_gap,
                                     .hold_force = contact_hold_force,
                                     .hold_end = contact_hold_end,
                                     .contact_field = contact_field,
                                     .output_count = contact_output_count,
                                     .output = contact_output,
                                     .value = contact_value,
                                     .change = contact_change,
                                     .pull_back = contact_pull_back};

// ---- creation
static void contact_layout(const contact_term *t, double *block, contact_memory *out)
{
    const int64_t n = t->points;
    out->lambda = block;
    out->traction = block + t->channels * n;
    out->place = out->traction + (t->c->friction ? 3 * t->obstacles * n : 0);
}

// e_k = 30 E / h, E = 3 mu of the element behind the face; between bodies the softest counts.
static void contact_stiffnesses(contact_term *t, const pl_problem *p)
{
    double softest = INFINITY, widest = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int32_t k = 0; k < t->points; ++k) {
            double mu, kappa;
            const int32_t region = p->mesh.region[t->s->face[t->s->home[k]] / 8];
            pl_material_moduli(&p->robot->material[p->robot->region_material[region]], &mu, &kappa);
            const double h = t->s->spacing[k];
            softest = fmin(softest, mu);
            widest = fmax(widest, h);
            t->stiffness[k] = CONTACT_STIFFNESS * 3 * mu / h;
            t->pair_stiffness[k] = CONTACT_STIFFNESS * 3 * fmin(mu, softest) / h;
        }
    }
    t->reach = 2 * widest;
}

static pl_status contact_fill(contact_term *t, pl_problem *p, pl_error *err)
{
    const int64_t n = t->points, full = 3 * (int64_t)p->mesh.vertex_count;
    const int bodies = t->c->body_count;
    t->told_count = t->obstacles + (t->c->self ? 1 : 0) + (t->pairs ? bodies * (bodies - 1) / 2 : 0);
    t->numbers = pl_robot_contact_numbers(p->robot);
    t->block = PL_NEW_ARRAY(double, t->numbers);
    t->kept_block = PL_NEW_ARRAY(double, t->numbers);
    t->stiffness = PL_NEW_ARRAY(double, n);
    t->pair_stiffness = PL_NEW_ARRAY(double, n);
    t->from = PL_NEW_ARRAY(double, t->obstacles);
    t->to = PL_NEW_ARRAY(double, t->obstacles);
    t->offset = PL_NEW_ARRAY(double, 3 * t->obstacles);
    t->kept_offset = PL_NEW_ARRAY(double, 3 * t->obstacles);
    t->settled_offset = PL_NEW_ARRAY(double, 3 * t->obstacles);
    t->mu = PL_NEW_ARRAY(double, t->channels *n);
    t->rate = PL_NEW_ARRAY(double, t->channels *n);
    t->name = pl_alloc_array((size_t)t->told_count, sizeof *t->name);
    t->factored = PL_NEW_ARRAY(bool, t->channels *n);
    t->held = PL_NEW_ARRAY(bool, t->channels *n);
    t->told = PL_NEW_ARRAY(contact_told, t->told_count);
    t->pressure = PL_NEW_ARRAY(double, p->mesh.vertex_count);
    t->open = PL_NEW_ARRAY(double, p->mesh.vertex_count);
    t->weight = PL_NEW_ARRAY(double, p->mesh.vertex_count);
    t->x = PL_NEW_ARRAY(double, full);
    t->settled_x = PL_NEW_ARRAY(double, full);
    t->guard_x = PL_NEW_ARRAY(double, full);
    t->guard_found = PL_NEW_ARRAY(double, full);
    t->pair = PL_NEW_ARRAY(pl_contact_pair, n);
    t->guard = PL_NEW_ARRAY(pl_contact_pair, n);
    if (!t->block || !t->kept_block || !t->stiffness || !t->pair_stiffness || !t->from || !t->to ||
        !t->offset || !t->kept_offset || !t->settled_offset || !t->mu || !t->rate || !t->name ||
        !t->factored || !t->held || !t->told || !t->pressure || !t->open || !t->weight || !t->x ||
        !t->settled_x || !t->guard_x || !t->guard_found || !t->pair || !t->guard) {
        return pl_fail_memory(err, "problem: contact");
    }
    memcpy(t->x, p->mesh.position, (size_t)full * sizeof *t->x);
    contact_layout(t, t->block, &t->now);
    contact_stiffnesses(t, p);
    contact_names(t);
    return t->pairs ? pl_contact_finder_create(t->s, p->mesh.position, t->c->self, &t->finder, err) : PL_OK;
}

pl_status term_contact_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    const pl_robot_contact *c = &p->robot->contact;
    if (!c->surface) {
        return PL_OK;
    }
    contact_term *t = PL_NEW(contact_term);
    if (!t) {
        return pl_fail_memory(err, "problem: contact");
    }
    *out = (pl_problem_term){&contact_kind, t};
    t->c = c;
    t->s = c->surface;
    t->points = c->surface->point_count;
    t->obstacles = c->obstacle_count;
    t->pairs = c->pairs;
    t->channels = t->obstacles + t->pairs;
    return contact_fill(t, p, err);
}
