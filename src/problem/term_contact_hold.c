// Derivatives of contact: what a command of an obstacle changes, and contacts that stay at their status. With
// B = dg/dx of the closed ones, y per channel and point (docs/contact.md).
#include "problem/term_contact.h"

#define CONTACT_WEAK 1e-7 // of the edge: gap and l / e both below it: the derivative is one-sided

bool contact_one_sided(const void *self, const pl_problem *p, const pl_state *state)
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
pl_status contact_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
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
        for (int j = 0; t->c->obstacle[o].free && j < 12; ++j) {
            full[3 * (int64_t)t->c->obstacle[o].frame[j / 3] + j % 3] += 0.25 * t->c->obstacle[o].pull[j % 3];
        }
        for (int32_t k = 0; !t->c->obstacle[o].free && k < t->points; ++k) {
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
            if (contact_limit(t, o, k) > 0) {
                double drag[3];
                contact_friction(t, o, k, state->x, traction, &stick, T);
                pl_mulv3(T, v, drag);
                for (int i = 0; i < 3; ++i) {
                    change[i] += drag[i];
                }
            }
            contact_spread(t, o, k, state->x, t->s->area[k], change, full);
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
            contact_relative(t, (int)(i / t->points), k, x, dx, motion);
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
            contact_spread(t, (int)(i / t->points), k, x, t->s->area[k] * t->stiffness[k] * y[i], touch.n,
                           full);
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

const pl_term_hold contact_hold = {.count = contact_hold_count,
                                   .weight = contact_hold_weight,
                                   .gap = contact_hold_gap,
                                   .force = contact_hold_force,
                                   .end = contact_hold_end};
