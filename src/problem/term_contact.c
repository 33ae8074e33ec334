// Contact with obstacles, of a body with itself and between bodies (docs/explanation/contact.md).
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
#define CONTACT_NEAR 0.06   // of the edge: pairs nearer than this may press
#define CONTACT_PATTERN 0.05  // of the edge: these have entries in the tangent, whether they touch or not
#define CONTACT_TOUCHING 1e-3 // of the edge: points this near stand at a surface
#define CONTACT_MET 0.1       // of a step: contacts met this early count as closed in the next factor
#define CONTACT_NOISE 24.0    // roundings of positions that add up in a force
#define CONTACT_BENDING 2.0   // times the multiplier: pressure that acts on the curvature of a gap in steps

static void contact_destroy(void *object)
{
    contact_term *t = object;
    void *const block[] = {t->block,        t->kept_block,
                           t->stiffness,    t->pair_stiffness,
                           t->from,         t->to,
                           t->offset,       t->kept_offset,
                           t->pair,         t->x,
                           t->guard_x,      t->guard_found,
                           t->guard,        t->mu,
                           t->rate,         t->name,
                           t->factored,     t->held,
                           t->reading,      t->pressure,
                           t->open,         t->weight,
                           t->settled_x,    t->settled_offset,
                           t->grip,         t->kept_grip,
                           t->linked,       t->hit,
                           t->met,          t->push,
                           t->area,         t->spacing,
                           t->foot,         t->ball,
                           t->near,         t->foot_x,
                           t->foot_offset,  t->gripped,
                           t->kept_limit,   t->marked,
                           t->marked_x,     t->marked_offset,
                           t->marked_force, t->press,
                           t->marked_rub,   t->slide_wanted};

    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }

    if (t->finder) {
        const pl_contact_counts n = pl_contact_finder_counts(t->finder);
        pl_log(
            1,
            "contact: %lld searches through the tree (%lld rebuilt), %lld in the list, %lld pairs of boxes, "
            "%lld tests, %.3f s",
            (long long)(n.refits + n.rebuilds), (long long)n.rebuilds, (long long)n.listed,
            (long long)n.box_pairs, (long long)n.tests, n.seconds);
    }

    pl_contact_finder_destroy(t->finder);
    pl_table_clear(&t->coupled);
    pl_free(t);
}

// ---- gaps, pressures, tractions
// H <- R H R^T
static void contact_turn_tensor(const pl_pose *pose, double *H)
{
    double A[9];
    for (int i = 0; H && i < 3; ++i) {
        pl_mulv3(pose->R, H + 3 * i, A + 3 * i); // rows of H R^T
    }
    for (int i = 0; H && i < 9; ++i) {
        H[i] = pose->R[3 * (i / 3)] * A[i % 3] + pose->R[3 * (i / 3) + 1] * A[3 + i % 3] +
               pose->R[3 * (i / 3) + 2] * A[6 + i % 3];
    }
}

bool contact_touch_at(const contact_term *t, int o, int32_t k, const double *x, bool second,
                      contact_touch *out)
{
    double at[3], y[3];
    if (k >= t->points) {
        return contact_foot_touch(t, k, out);
    }

    const pl_pose pose = contact_pose(t, o, x, t->offset);
    pl_contact_point_at(t->s, k, x, at);
    contact_local(&pose, at, y);
    out->gap = pl_shape_gap(&t->c->obstacle[o].shape, y, t->reach, out->n, second ? out->H : NULL);
    if (t->c->obstacle[o].free) {
        contact_turn(&pose, out->n);
        contact_turn_tensor(&pose, second ? out->H : NULL);
    }

    out->pressure = t->now.lambda[o * t->points + k] - t->stiffness[k] * out->gap;

    return out->pressure > 0 && (out->n[0] != 0 || out->n[1] != 0 || out->n[2] != 0);
}

double contact_pair_offset(const contact_term *t, const pl_contact_pair *pair)
{
    return CONTACT_OFFSET * t->spacing[pair->point];
}

// l - e g
static double contact_pair_push(const contact_term *t, const pl_contact_pair *pair)
{
    const double g = pair->gap - contact_pair_offset(t, pair);
    return t->now.lambda[t->obstacles * t->points + pair->point] - t->pair_stiffness[pair->point] * g;
}

double contact_pair_pressure(const contact_term *t, const pl_contact_pair *pair)
{
    return fmax(0, contact_pair_push(t, pair));
}

// The normal of the last update, in the frame of the obstacle.
void contact_held_normal(const contact_term *t, int o, int32_t k, double n[3])
{
    if (k < t->points) {
        pl_shape_gap(&t->c->obstacle[o].shape, t->now.place + 3 * contact_rough_at(t, o, k), t->reach, n,
                     NULL);
    } else {
        memcpy(n, t->now.foot + CONTACT_FOOT * (k - t->points) + 3, 3 * sizeof *n);
    }
}

double contact_friction(const contact_term *t, int o, int32_t k, const double *x, double traction[3],
                        bool *stick, double *tangent)
{
    const int64_t at = contact_rough_at(t, o, k);
    const double limit = contact_limit(t, o, k), e = t->stiffness[k] / t->hard;
    const double *old = t->now.traction + 3 * at, *place = t->now.place + 3 * at;
    double n[3], at_x[3], y[3], d[3];

    *stick = true;
    memset(traction, 0, 3 * sizeof *traction);
    if (!(limit > 0)) {
        return 0;
    }
    contact_held_normal(t, o, k, n);
    const pl_pose pose = contact_pose(t, o, x, t->offset);
    contact_position(t, k, true, x, at_x);
    contact_local(&pose, at_x, y);
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
    if (t->c->obstacle[o].free) {
        contact_turn(&pose, traction);
        contact_turn_tensor(&pose, tangent);
    }

    return *stick ? size * size / (2 * e) : limit * (size - 0.5 * limit) / e;
}

// ---- evaluation
static bool contact_is_coupled(const contact_term *t, const pl_contact_pair *pair)
{
    return contact_pair_coupled(t, pair->point, pair->face);
}

void contact_find_pairs(contact_term *t, const double *x)
{
    const pl_contact_pair *found;
    t->pair_count = 0;
    if (t->pairs && pl_contact_find(t->finder, x, CONTACT_NEAR, &found, &t->pair_count)) {
        memcpy(t->pair, found, (size_t)t->pair_count * sizeof *found);
    }
}

// Does a contact act in this evaluation? Notes those that the factor does not have, and how early in the step
// from where it was made they are met.
static bool contact_acts(contact_term *t, pl_problem *p, pl_contact_mode mode, int64_t at, double push)
{
    if (mode == PL_CONTACT_COUNTED && push > 0 && !t->factored[at] && t->push[at] <= 0 &&
        isfinite(t->push[at])) {
        p->contact_hits++;
        t->met[at] = t->push[at] / (t->push[at] - push);
        t->met_first = fmin(t->met_first, t->met[at]);
    }
    return push > 0 || (mode == PL_CONTACT_HIT && t->hit[at]);
}

// Has the point entries with the free body in the tangent?
static bool contact_linked(const contact_term *t, int o, int32_t k)
{
    const int32_t *node = NULL;
    double weight[PL_FACE_NODES_MAX];

    if (k < t->points) {
        return t->linked[o * t->points + k];
    }

    bool all = true;
    for (int held = 0; held < 2; ++held) {
        const int count = contact_foot_nodes(t, k, held, &node, weight);
        for (int j = 0; j < count; ++j) {
            all = all && t->linked[o * t->points + t->s->point_of[node[j]]];
        }
    }

    return all;
}

static void contact_obstacles(contact_term *t, pl_problem *p, pl_contact_mode mode, const double *x,
                              double *energy, double *full)
{
    contact_find_feet(t, x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;

            // augmented Lagrangian: a ([l - e g]+^2 - l^2) / 2 e at a point of area a, l its multiplier, e
            // its stiffness, g its gap
            const int64_t at = contact_at(t, o, k);
            const double a = t->area[k], l = t->now.lambda[at];
            if (l > 0) {
                *energy -= a * l * l / (2 * t->stiffness[k]);
            }
            const bool near = contact_touch_at(t, o, k, x, false, &touch) || pl_norm3(touch.n) > 0;
            if (contact_acts(t, p, mode, at, near ? touch.pressure : -INFINITY)) {
                *energy += a * touch.pressure * touch.pressure / (2 * t->stiffness[k]);
                t->stale = t->stale || (t->c->obstacle[o].free && !contact_linked(t, o, k));
                if (full) {
                    contact_spread(t, o, k, false, x, -a * touch.pressure, touch.n, full);
                }
            }

            // the share that this place has in the force of its face
            if (full && k >= t->points) {
                int32_t node[CONTACT_NODES_MAX];
                double force[3 * CONTACT_NODES_MAX];
                int frame;
                const int count = contact_share_force(t, o, k, x, node, force, &frame);
                for (int j = 0; j < 3 * count; ++j) {
                    full[3 * (int64_t)node[j / 3] + j % 3] -= force[j];
                }
            }

            // friction: its limit follows the pressure where that is asked for
            if (t->follows_pressure) {
                contact_follow_pressure(t, o, k, near ? fmax(0, touch.pressure) : 0);
            }
            if (contact_limit(t, o, k) > 0) {
                double traction[3];
                bool stick;
                const double rough = contact_rough_area(t, k);
                *energy += rough * contact_friction(t, o, k, x, traction, &stick, NULL);
                if (full) {
                    contact_spread(t, o, k, true, x, rough, traction, full);
                }
            }
        }
    }
}

// Gap and normal of a point with an obstacle at another pose; false: none.
static bool contact_linear_touch(const contact_term *t, int o, int32_t k, const double *x,
                                 const pl_pose *pose, contact_touch *out)
{
    double at[3], y[3];
    if (k >= t->points) {
        contact_foot_touch(t, k, out);
        return t->foot[k - t->points].face >= 0;
    }

    pl_contact_point_at(t->s, k, x, at);
    contact_local(pose, at, y);
    out->gap = pl_shape_gap(&t->c->obstacle[o].shape, y, t->reach, out->n, NULL);
    contact_turn(pose, out->n);

    return true;
}

// Points that press in the factor at hand, with gaps linear in the obstacle's motion since the last
// equilibrium; no energy.
static void contact_obstacles_linear(contact_term *t, pl_problem *p, const double *x, double *full)
{
    p->contact_moved = p->contact_shared = false;
    contact_find_feet(t, x, t->settled_offset);
    for (int o = 0; o < t->obstacles; ++o) {
        double travel[3];
        pl_sub3(t->offset + 6 * o, t->settled_offset + 6 * o, travel);
        const pl_pose pose = contact_pose(t, o, x, t->settled_offset);
        const bool moves = travel[0] != 0 || travel[1] != 0 || travel[2] != 0;
        CONTACT_EACH(t, o, k)
        {
            const int64_t at = contact_at(t, o, k);
            contact_touch touch;
            double traction[3];
            bool stick;
            if (!t->factored[at] || !contact_linear_touch(t, o, k, x, &pose, &touch)) {
                continue;
            }
            p->contact_moved = p->contact_moved || moves;
            p->contact_shared = p->contact_shared || (moves && k >= t->points);
            const double gap = touch.gap - pl_dot3(touch.n, travel);
            if (full) {
                contact_spread(t, o, k, false, x, -t->area[k] * (t->now.lambda[at] - t->stiffness[k] * gap),
                               touch.n, full);
                if (contact_limit(t, o, k) > 0) {
                    contact_friction(t, o, k, x, traction, &stick, NULL);
                    contact_spread(t, o, k, true, x, contact_rough_area(t, k), traction, full);
                }
            }
        }
    }
}

static void contact_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                             double *full)
{
    const double *x = here->x;
    const pl_contact_mode mode = here->contacts;
    contact_term *t = self;
    t->stale = false;

    // stiffer contacts, hands that hold free bodies
    if (p->contact_hard != t->hard) {
        contact_make_hard(t, p->contact_hard);
    }
    contact_grip_evaluate(t, x, energy, full);
    if (mode == PL_CONTACT_ABSENT) {
        return;
    }

    // obstacles
    memcpy(t->x, x, pl_problem_full_bytes(p));
    if (mode == PL_CONTACT_LINEAR) {
        contact_obstacles_linear(t, p, x, full);
    } else {
        contact_obstacles(t, p, mode, x, energy, full);
    }

    // faces of the body that meet
    if (!t->pairs) {
        return;
    }
    contact_find_pairs(t, x);
    const double *lambda = t->now.lambda + t->obstacles * t->points;
    for (int32_t k = 0; k < t->points; ++k) {
        *energy -= lambda[k] > 0 ? t->area[k] * lambda[k] * lambda[k] / (2 * t->pair_stiffness[k]) : 0;
    }

    for (int32_t i = 0; i < t->pair_count; ++i) {
        const pl_contact_pair *pair = &t->pair[i];
        const double pressure = contact_pair_push(t, pair), a = t->area[pair->point];
        if (!contact_acts(t, p, mode, t->obstacles * t->points + pair->point, pressure)) {
            continue;
        }

        // a pair that the pattern of the tangent does not have makes it stale
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
    contact_pairs_rub(t, x, energy, full);
}

// ---- tangent
// The pressure that acts on the curvature of a gap. While points are deep inside, far from balance, it would
// make the tangent indefinite: only as much of it is taken as the last update explains (a bar on a roller:
// 159 -> 98 factorisations).
static double contact_bending(const pl_linearization *here, double pressure, double lambda)
{
    return here->positive_part >= 1 ? 0 : here->exact ? pressure : fmin(pressure, CONTACT_BENDING * lambda);
}

static void contact_add_point(const contact_term *t, pl_problem *p, int o, int32_t k, const double B[9],
                              const double *x)
{
    int32_t node[CONTACT_NODES_MAX];
    double weight[CONTACT_NODES_MAX];
    int own;
    const int count = contact_nodes(t, o, k, true, x, node, weight, &own);

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

static void contact_tangent_obstacles(contact_term *t, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const bool positive = here->positive_part >= 1;
    contact_find_feet(t, x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            const int64_t at = contact_at(t, o, k);
            double B[9] = {0}, f[3] = {0}, traction[3], T[9];
            bool stick, any = contact_touch_at(t, o, k, x, !positive, &touch);

            // points that just touch count as acting where the caller asks for it, and points that were hit
            // within the step keep their stiffness
            if (!any && here->contacts == PL_CONTACT_TOUCHING &&
                fabs(touch.gap) < CONTACT_TOUCHING * t->spacing[k]) {
                any = true;
                touch.pressure = 0;
            }

            t->push[at] = pl_norm3(touch.n) > 0 ? touch.pressure : -INFINITY;
            if (!any && t->hit[at]) {
                any = pl_norm3(touch.n) > 0;
                touch.pressure = 0;
            }
            t->factored[at] = any;

            // B = a (e n n^T - bending d2g/dx2), and f the force that turns with a free body
            const double bending = contact_bending(here, touch.pressure, t->now.lambda[at]);
            const bool frees = t->c->obstacle[o].free, linked = !frees || contact_linked(t, o, k);
            for (int i = 0; any && k < t->points && i < 9; ++i) {
                B[i] = t->area[k] * t->stiffness[k] * touch.n[i / 3] * touch.n[i % 3];
                B[i] -= bending > 0 ? t->area[k] * bending * touch.H[i] : 0;
            }
            for (int i = 0; any && k < t->points && i < 3; ++i) {
                f[i] = -t->area[k] * bending * touch.n[i];
            }

            // places on faces spread over their nodes by themselves
            if (any && k >= t->points) {
                if (linked) {
                    contact_add_foot(t, p, o, k, bending, x);
                }
                any = false;
            }

            // friction acts at the same point
            if (contact_limit(t, o, k) > 0) {
                contact_friction(t, o, k, x, traction, &stick, T);
                for (int i = 0; i < 9; ++i) {
                    B[i] += contact_rough_area(t, k) * T[i];
                }
                for (int i = 0; i < 3; ++i) {
                    f[i] += contact_rough_area(t, k) * traction[i];
                }
                any = true;
            }

            // entries that are not in the pattern would be lost: such bodies wait until they are linked
            if (any && linked) {
                contact_add_point(t, p, o, k, B, x);
                if (frees && !positive) {
                    contact_add_bending(t, p, o, k, f, x);
                }
            }
        }
    }
}

static void contact_exchange_offsets(contact_term *t, const pl_linearization *here)
{
    double *const offset = t->offset;
    if (here->contacts == PL_CONTACT_LINEAR) {
        t->offset = t->settled_offset;
        t->settled_offset = offset;
    }
}

// With PL_CONTACT_LINEAR obstacles stand where they stood at the last equilibrium.
static void contact_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    contact_term *t = self;
    t->factored_hard = t->hard;
    contact_exchange_offsets(t, here);

    // of the contacts that a step met only the first ones: they keep it from the others
    for (int64_t i = 0; i < contact_numbers(t); ++i) {
        t->hit[i] = here->contacts == PL_CONTACT_HIT &&
                    (t->hit[i] || t->met[i] <= fmax(CONTACT_MET, 2 * t->met_first));
        t->met[i] = INFINITY;
        t->push[i] = -INFINITY;
    }

    t->met_first = INFINITY;
    contact_grip_tangent(t, p, here);
    contact_tangent_obstacles(t, p, here);
    contact_exchange_offsets(t, here);
    memset(t->factored + t->obstacles * t->points, 0, t->pairs ? (size_t)t->points : 0);
    double gradient[3 * PL_PAIR_NODES_MAX], H[9 * PL_PAIR_NODES_MAX * PL_PAIR_NODES_MAX];
    for (int32_t i = 0; i < t->pair_count; ++i) {
        const pl_contact_pair *pair = &t->pair[i];
        const double pressure = contact_pair_pressure(t, pair), a = t->area[pair->point],
                     e = t->pair_stiffness[pair->point];
        const bool touching =
            here->contacts == PL_CONTACT_TOUCHING &&
            pair->gap - contact_pair_offset(t, pair) < CONTACT_TOUCHING * t->spacing[pair->point];
        t->push[t->obstacles * t->points + pair->point] = contact_pair_push(t, pair);
        if (!(pressure > 0 || touching || t->hit[t->obstacles * t->points + pair->point]) ||
            !contact_is_coupled(t, pair)) {
            continue;
        }
        const double bending =
            contact_bending(here, pressure, t->now.lambda[t->obstacles * t->points + pair->point]);
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
    contact_pairs_rub_tangent(t, p, x);
}

// ---- pattern
// Couples the nodes of all pairs that touch or nearly do; earlier ones stay, so that sliding back and forth
// needs no new analysis.
static void contact_pattern(const void *object, const pl_problem *p, pl_pattern *out)
{
    contact_term *t = (contact_term *)object; // the table of what is coupled is the pattern's own
    contact_link(t, p, out);
    const bool blank = t->forgotten && !t->stale; // as when it was created: nothing touches yet
    t->forgotten = false;
    if (!t->pairs) {
        t->stale = false;
        return;
    }

    if (t->coupled.count + t->pair_count > t->coupled.limit || !t->coupled_ready) {
        const int64_t limit = 16 * t->points;
        pl_table_clear(&t->coupled);
        t->coupled_ready = pl_table_init(&t->coupled, 2, limit);
    }

    for (int32_t i = 0; t->coupled_ready && i < t->pair_count && !blank; ++i) {
        const int32_t key[2] = {t->pair[i].point, t->pair[i].face};
        if (t->pair[i].gap > CONTACT_PATTERN * t->spacing[key[0]]) {
            continue;
        }
        pl_table_add(&t->coupled, key);
    }
    contact_pairs_rub_link(t);

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
    const contact_term *t = self;
    return t->stale || t->forgotten;
}

static void contact_forget(void *self)
{
    contact_term *t = self;
    if (t->pairs) {
        t->forgotten = t->forgotten || (t->coupled_ready && t->coupled.count > 0);
        pl_table_clear(&t->coupled);
        t->coupled_ready = false;
        pl_contact_keep(t->finder, NULL);
    }
}

// ---- states
static void contact_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    double energy = 0;
    contact_evaluate(self, p, &(pl_linearization){.x = state->x}, &energy, full);
}

static uint64_t contact_fingerprint(const void *self, const pl_problem *p, uint64_t hash)
{
    const contact_term *t = self;
    (void)p;
    hash = pl_hash_bytes(hash, t->block, (size_t)t->numbers * sizeof *t->block);
    for (int o = 0; o < t->obstacles; ++o) {
        hash = pl_hash_bytes(hash, &t->grip[o].stage, sizeof t->grip[o].stage);
        hash = pl_hash_bytes(hash, t->grip[o].slide, sizeof t->grip[o].slide);
        hash = pl_hash_bytes(hash, &t->grip[o].slide_at, sizeof t->grip[o].slide_at);
    }

    return pl_hash_bytes(hash, t->offset, 6 * (size_t)t->obstacles * sizeof *t->offset);
}

static const pl_term_steps contact_steps = {.check = contact_check,
                                            .begin = contact_begin,
                                            .set = contact_set,
                                            .recall = contact_recall,
                                            .resume = contact_resume,
                                            .one_sided = contact_one_sided,
                                            .renews = contact_renews,
                                            .accept = contact_accept,
                                            .save = contact_save,
                                            .revert = contact_revert,
                                            .store = contact_store};

static const pl_term_outputs contact_outputs = {.count = contact_output_count,
                                                .about = contact_output,
                                                .value = contact_value,
                                                .change = contact_change,
                                                .pull_back = contact_pull_back};

static const pl_term contact_kind = {.name = "contact",
                                     .destroy = contact_destroy,
                                     .pattern = contact_pattern,
                                     .changed = contact_changed,
                                     .forget = contact_forget,
                                     .evaluate = contact_evaluate,
                                     .tangent = contact_tangent,
                                     .follow = contact_follow,
                                     .fingerprint = contact_fingerprint,
                                     .step_limit = contact_step_limit,
                                     .forces = contact_forces,
                                     .derivative = contact_derivative,
                                     .steps = &contact_steps,
                                     .outputs = &contact_outputs};

// ---- creation
static void contact_layout(const contact_term *t, double *block, contact_memory *out)
{
    const int64_t rough = contact_rough_numbers(t);
    out->lambda = block;
    out->traction = block + contact_numbers(t);
    out->place = out->traction + 3 * rough;
    out->limit = out->place + 3 * rough;
    out->let_go = out->limit + rough;
    out->foot = out->let_go + (t->c->free_count > 0 ? t->obstacles : 0);
    out->origin = out->foot + CONTACT_FOOT * (int64_t)t->slots;
    out->slide = out->origin + (t->c->pair_friction > 0 ? 2 * t->points : 0);
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
            const double h = t->spacing[k];
            softest = fmin(softest, mu);
            widest = fmax(widest, h);
            t->stiffness[k] = CONTACT_STIFFNESS * 3 * mu / h;
            t->pair_stiffness[k] = CONTACT_STIFFNESS * 3 * fmin(mu, softest) / h;
        }
    }

    for (int32_t k = 0; k < t->slots; ++k) {
        t->stiffness[t->points + k] = CONTACT_STIFFNESS * 3 * softest / t->spacing[t->points + k];
    }
    t->reach = 2 * widest;
    t->hard = t->factored_hard = 1;
}

// N: what rounding of positions leaves of the forces of contacts, and of hands that hold free bodies.
static void contact_noises(const contact_term *t, pl_problem *p)
{
    double largest = 0;
    for (int64_t k = 0; k < t->points + t->slots; ++k) {
        largest = fmax(largest, t->area[k] * t->stiffness[k]);
    }
    for (int o = 0; o < t->obstacles; ++o) {
        largest = t->c->obstacle[o].free && !t->inertia ? fmax(largest, 0.25 * t->grip[o].firm) : largest;
    }
    p->noise = fmax(p->noise, CONTACT_NOISE * DBL_EPSILON * p->reach * largest);
}

static pl_status contact_fill(contact_term *t, pl_problem *p, pl_error *err)
{
    const int64_t n = t->points, full = 3 * (int64_t)p->mesh.vertex_count;
    const int bodies = t->c->body_count;

    t->reading_count = t->obstacles + (t->c->self ? 1 : 0) + (t->pairs ? bodies * (bodies - 1) / 2 : 0);
    t->numbers = pl_robot_contact_numbers(p->robot);
    t->block = PL_NEW_ARRAY(double, t->numbers);
    t->kept_block = PL_NEW_ARRAY(double, t->numbers);
    if (!contact_feature_create(t)) {
        return pl_fail_memory(err, "problem: contact");
    }

    const int64_t numbers = contact_numbers(t);
    const int64_t rough = contact_rough_numbers(t) + 1;
    t->gripped = PL_NEW_ARRAY(bool, rough);
    t->kept_limit = PL_NEW_ARRAY(double, rough);
    t->marked = PL_NEW_ARRAY(double, t->c->friction ? t->numbers : 1);
    t->marked_x = PL_NEW_ARRAY(double, t->c->friction ? full : 1);
    t->marked_offset = PL_NEW_ARRAY(double, 6 * t->obstacles + 1);
    t->marked_force = PL_NEW_ARRAY(double, 3 * t->obstacles + 1);
    t->press = PL_NEW_ARRAY(double, t->rubs ? n : 1);
    t->marked_rub = PL_NEW_ARRAY(double, t->rubs ? 3 * n : 1);
    t->stiffness = PL_NEW_ARRAY(double, n + t->slots);
    t->pair_stiffness = PL_NEW_ARRAY(double, n);
    t->from = PL_NEW_ARRAY(double, t->obstacles);
    t->to = PL_NEW_ARRAY(double, t->obstacles);
    t->offset = PL_NEW_ARRAY(double, 6 * t->obstacles);
    t->kept_offset = PL_NEW_ARRAY(double, 6 * t->obstacles);
    t->settled_offset = PL_NEW_ARRAY(double, 6 * t->obstacles);
    t->grip = PL_NEW_ARRAY(contact_grip, t->obstacles);
    t->kept_grip = PL_NEW_ARRAY(contact_grip, t->obstacles);
    t->slide_wanted = PL_NEW_ARRAY(double, 4 * t->obstacles + 1);
    t->linked = PL_NEW_ARRAY(bool, t->obstacles *n);
    t->X = p->mesh.position;
    t->mu = PL_NEW_ARRAY(double, numbers);
    t->rate = PL_NEW_ARRAY(double, numbers);
    t->name = pl_alloc_array((size_t)t->reading_count, sizeof *t->name);
    t->factored = PL_NEW_ARRAY(bool, numbers);
    t->held = PL_NEW_ARRAY(bool, numbers);
    t->hit = PL_NEW_ARRAY(bool, numbers);
    t->met = PL_NEW_ARRAY(double, numbers);
    t->push = PL_NEW_ARRAY(double, numbers);
    t->reading = PL_NEW_ARRAY(contact_reading, t->reading_count);
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
        !t->factored || !t->held || !t->hit || !t->met || !t->push || !t->reading || !t->pressure ||
        !t->open || !t->weight || !t->x || !t->grip || !t->kept_grip || !t->linked || !t->settled_x ||
        !t->guard_x || !t->guard_found || !t->pair || !t->guard || !t->gripped || !t->kept_limit ||
        !t->press || !t->marked_rub || !t->marked || !t->marked_x || !t->marked_offset || !t->marked_force ||
        !t->slide_wanted) {
        return pl_fail_memory(err, "problem: contact");
    }

    memcpy(t->x, p->mesh.position, (size_t)full * sizeof *t->x);
    contact_layout(t, t->block, &t->now);
    contact_stiffnesses(t, p);
    t->inertia = p->options.inertia;
    contact_grip_create(t, p);
    contact_noises(t, p);
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
    p->contact = t;
    t->c = c;
    t->s = c->surface;
    t->points = c->surface->point_count;
    t->obstacles = c->obstacle_count;
    t->pairs = c->pairs;
    t->rubs = c->pairs && c->pair_friction > 0;
    t->channels = t->obstacles + t->pairs;

    return contact_fill(t, p, err);
}
