// Derivatives of contact: what a command of an obstacle changes, and contacts that stay at their status. With
// B = dg/dx of the closed ones, y per channel and point (docs/explanation/contact.md).
#include "problem/term_contact.h"

#define CONTACT_WEAK 1e-7 // of the edge: gap and l / e both below it: the derivative is one-sided

// Two faces that share a foot and both press hold the feature in the crease between them, by a force across
// it that is the pressures' times the angle. Where the gaps that it opens within the share, 0.05 of the face,
// are below what gaps are computed to, 3e-4 of the edge, next to any motion takes the feature out of it.
// Faces that are parallel to rounding hold nothing.
#define CONTACT_CREASE 6e-3
#define CONTACT_PARALLEL 1e-10

static bool hold_crease(const contact_term *t, int32_t k)
{
    const int32_t end = (int32_t)(k + PL_FEATURE_FACES - (k - t->points) % PL_FEATURE_FACES);
    contact_touch here, other;

    if (k < t->points || !t->foot[k - t->points].inner || !contact_foot_touch(t, k, &here)) {
        return false;
    }
    for (int32_t i = k + 1; i < end; ++i) {
        const bool shared = fmax(t->area[k], t->area[i]) < t->whole_area && t->foot[i - t->points].inner;
        if (shared && contact_foot_touch(t, i, &other)) {
            const double angle = pl_distance3(here.n, other.n);
            if (angle > CONTACT_PARALLEL && angle < CONTACT_CREASE) {
                return true;
            }
        }
    }

    return false;
}

bool contact_one_sided(const void *self, const pl_problem *p, const pl_state *state)
{
    contact_term *t = (contact_term *)self; // keeps the feet
    (void)p;
    contact_find_feet(t, state->x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            const double weak = CONTACT_WEAK * t->spacing[k];
            contact_touch_at(t, o, k, state->x, false, &touch);
            const bool touches =
                fabs(touch.gap) < weak && t->now.lambda[contact_at(t, o, k)] < weak * t->stiffness[k];
            if (touches || hold_crease(t, k)) {
                return true;
            }
        }
    }

    return false;
}

// ---- derivatives
// full += a p d(dg/dz) of the face's nodes z, for a motion v of a feature.
static void hold_foot(const contact_term *t, int32_t k, const double *x, const double v[3], double pressure,
                      double *full)
{
    double change[3 * PL_FACE_NODES_MAX], dn[3], weight[PL_FACE_NODES_MAX];
    const int32_t *node = NULL;

    if (k < t->points) {
        return;
    }
    contact_foot_change(t, k, x, v, NULL, change, dn);
    const int count = contact_foot_nodes(t, k, false, &node, weight);
    for (int j = 0; j < 3 * count; ++j) {
        full[3 * (int64_t)node[j / 3] + j % 3] += t->area[k] * pressure * change[j];
    }
}

pl_status contact_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                             double *full, double *target, pl_error *err)
{
    contact_term *t = self;
    (void)p;
    (void)target;
    (void)err;
    memset(t->rate, 0, (size_t)contact_numbers(t) * sizeof *t->rate);
    contact_find_feet(t, state->x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        const double *v = t->c->obstacle[o].move;
        if (q->kind != PL_PARAMETER_COMMAND || t->c->obstacle[o].command != q->index) {
            continue;
        }
        for (int j = 0; t->c->obstacle[o].free && j < 12; ++j) {
            full[3 * (int64_t)t->c->obstacle[o].frame[j / 3] + j % 3] += 0.25 * t->c->obstacle[o].pull[j % 3];
        }
        if (t->c->obstacle[o].free) {
            continue;
        }
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            double change[3] = {0}, traction[3], T[9];
            bool stick;
            if (contact_touch_at(t, o, k, state->x, true, &touch)) {
                const double closing = pl_dot3(touch.n, v);
                t->rate[contact_at(t, o, k)] = -closing;
                pl_mulv3(touch.H, v, change);
                for (int i = 0; i < 3; ++i) {
                    change[i] = t->stiffness[k] * closing * touch.n[i] - touch.pressure * change[i];
                }
                contact_spread(t, o, k, false, state->x, t->area[k], change, full);
                hold_foot(t, k, state->x, v, touch.pressure, full);
            }
            if (contact_limit(t, o, k) > 0) {
                contact_friction(t, o, k, state->x, traction, &stick, T);
                pl_mulv3(T, v, change);
                contact_spread(t, o, k, true, state->x, contact_rough_area(t, k), change, full);
            }
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
    memset(t->mu, 0, (size_t)contact_numbers(t) * sizeof *t->mu);
    contact_find_feet(t, x, t->offset);
    for (int o = 0; o < t->obstacles; ++o) {
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            bool *held = &t->held[contact_at(t, o, k)];
            *held = contact_touch_at(t, o, k, x, false, &touch);
            any = any || *held;
            p->friction_acts = p->friction_acts || (*held && t->c->obstacle[o].friction > 0);
        }
    }

    memset(t->held + t->obstacles * t->points, 0, t->pairs ? (size_t)t->points : 0);
    for (int32_t i = 0; i < t->pair_count; ++i) {
        if (contact_pair_pressure(t, &t->pair[i]) > 0) {
            t->held[t->obstacles * t->points + t->pair[i].point] = any = true;
            p->friction_acts = p->friction_acts || t->rubs;
        }
    }

    return any ? contact_numbers(t) : 0;
}

// The point or slot of a number, and its stiffness.
static int32_t hold_point(const contact_term *t, int64_t i)
{
    const int64_t first = t->channels * t->points;
    return (int32_t)(i < first ? i % t->points : t->points + i - first);
}

static double hold_stiffness(const contact_term *t, int64_t i)
{
    const bool pair = t->pairs && i >= t->obstacles * t->points && i < t->channels * t->points;
    return (pair ? t->pair_stiffness : t->stiffness)[hold_point(t, i)];
}

static void contact_hold_weight(const void *self, const pl_problem *p, double *w)
{
    const contact_term *t = self;
    (void)p;
    for (int64_t i = 0; i < contact_numbers(t); ++i) {
        w[i] = t->area[hold_point(t, i)] * hold_stiffness(t, i);
    }
}

static void contact_hold_gap(const void *self, const pl_problem *p, const double *x, const double *dx,
                             bool rate, double *y)
{
    const contact_term *t = self;
    (void)p;
    memset(y, 0, (size_t)contact_numbers(t) * sizeof *y);
    for (int o = 0; o < t->obstacles; ++o) {
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            double motion[3];
            const int64_t i = contact_at(t, o, k);
            if (t->held[i]) {
                contact_touch_at(t, o, k, x, false, &touch);
                contact_relative(t, o, k, false, x, dx, motion);
                y[i] = pl_dot3(touch.n, motion) + (rate ? t->rate[i] : 0);
            }
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
    for (int o = 0; o < t->obstacles; ++o) {
        CONTACT_EACH(t, o, k)
        {
            contact_touch touch;
            const int64_t i = contact_at(t, o, k);
            if (t->held[i]) {
                contact_touch_at(t, o, k, x, false, &touch);
                contact_spread(t, o, k, false, x, t->area[k] * t->stiffness[k] * y[i], touch.n, full);
            }
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
                    t->area[k] * t->pair_stiffness[k] * y[at] * gradient[j];
            }
        }
    }
}

static void contact_hold_end(void *self, const double *y)
{
    contact_term *t = self;
    for (int64_t i = 0; i < contact_numbers(t); ++i) {
        t->mu[i] = hold_stiffness(t, i) * y[i];
    }
}

const pl_term_hold contact_hold = {.count = contact_hold_count,
                                   .weight = contact_hold_weight,
                                   .gap = contact_hold_gap,
                                   .force = contact_hold_force,
                                   .end = contact_hold_end};
