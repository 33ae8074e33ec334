// A term for tests: an elastic link E = k/2 |x_a - x_b|^2 between two vertices, from the start or from the
// first accepted increment on, so that the pattern changes between two increments.
#ifndef PL_LINK_TERM_H
#define PL_LINK_TERM_H

#include "problem/problem.h"

typedef struct link_term {
    int32_t a, b;
    double k;
    bool late; // acts only once an increment was accepted
    // state
    bool acts, announced;
    int advances;
} link_term;

static inline void link_destroy(void *self)
{
    (void)self; // the test owns it
}

static inline void link_pattern(const void *self, const pl_problem *p, pl_pattern *out)
{
    link_term *t = (link_term *)self;
    if (t->acts) {
        pl_pattern_couple(out, pl_problem_group(p, t->a), pl_problem_group(p, t->b));
    }
    t->announced = t->acts;
}

static inline bool link_changed(const void *self)
{
    const link_term *t = self;
    return t->acts != t->announced;
}

static inline void link_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                                 double *full)
{
    const double *x = here->x;
    (void)p;
    const link_term *t = self;
    for (int i = 0; t->acts && i < 3; ++i) {
        const double d = x[3 * t->a + i] - x[3 * t->b + i];
        *energy += 0.5 * t->k * d * d;
        if (full) {
            full[3 * t->a + i] += t->k * d;
            full[3 * t->b + i] -= t->k * d;
        }
    }
}

static inline void link_tangent(void *self, pl_problem *p, const pl_linearization *here)
{
    const double *x = here->x;
    const link_term *t = self;
    if (!t->acts) {
        return;
    }

    const double K[9] = {t->k, 0, 0, 0, t->k, 0, 0, 0, t->k}, N[9] = {-t->k, 0, 0, 0, -t->k, 0, 0, 0, -t->k};
    pl_problem_add_block(p, t->a, t->a, K, 3, x);
    pl_problem_add_block(p, t->b, t->b, K, 3, x);
    pl_problem_add_block(p, t->a, t->b, N, 3, x);
    pl_problem_add_block(p, t->b, t->a, N, 3, x);
}

static inline void link_accept(void *self, pl_problem *p, const double *x, pl_accept how)
{
    (void)p;
    (void)how;
    (void)x;
    link_term *t = self;
    t->advances++;
    t->acts = true;
}

static inline void link_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    double energy = 0;
    link_evaluate(self, p, &(pl_linearization){.x = state->x}, &energy, full);
}

static const pl_term_steps link_steps = {.accept = link_accept};

static const pl_term link_kind = {.name = "link",
                                  .destroy = link_destroy,
                                  .pattern = link_pattern,
                                  .changed = link_changed,
                                  .evaluate = link_evaluate,
                                  .tangent = link_tangent,
                                  .steps = &link_steps,
                                  .forces = link_forces};

// The link that the next problem created with link_create gets.
static link_term *link_next;
static inline pl_status link_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    (void)p;
    (void)err;
    link_next->acts = !link_next->late;
    *out = (pl_problem_term){&link_kind, link_next};
    return PL_OK;
}

// The vertex of the mesh nearest to a point.
static inline int32_t link_vertex(const pl_mesh *mesh, double x, double y, double z)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const double at[3] = {x, y, z};
    int32_t best = 0;

    for (int32_t i = 1; i < v.vertex_count; ++i) {
        if (pl_distance3(v.position + 3 * i, at) < pl_distance3(v.position + 3 * best, at)) {
            best = i;
        }
    }

    return best;
}

#endif
