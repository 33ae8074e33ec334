// Forces at markers, and of a hand that pulls at any point, set at run time: E = - sum f . (y(x) - Y) with y
// the point, a weighted mean of vertices, and Y its place in the undeformed configuration.
// Linear in x: no tangent. The load path is the problem's (pl_marker_forces).
#include "problem/problem_impl.h"

static void forces_destroy(void *object)
{
    (void)object; // nothing of its own
}

// full -= weights of the points times their forces
static void forces_add(const pl_problem *p, const double *force, double *full)
{
    for (int k = 0; k <= p->robot->marker_count; ++k) {
        const pl_point *point = pl_force_point(p->robot, &p->forces, k);
        const double *f = force + 3 * k;
        if (f[0] == 0 && f[1] == 0 && f[2] == 0) {
            continue;
        }
        for (int32_t j = 0; j < point->count; ++j) {
            for (int i = 0; i < 3; ++i) {
                full[3 * (int64_t)point->node[j] + i] -= point->weight[j] * f[i];
            }
        }
    }
}

static void forces_evaluate(void *self, pl_problem *p, const pl_linearization *here, double *energy,
                            double *full)
{
    const double *x = here->x;
    (void)self;
    for (int k = 0; k <= p->robot->marker_count; ++k) {
        const pl_point *point = pl_force_point(p->robot, &p->forces, k);
        const double *f = p->forces.now + 3 * k;
        for (int32_t j = 0; j < point->count; ++j) {
            const int64_t v = 3 * (int64_t)point->node[j];
            for (int i = 0; i < 3; ++i) {
                *energy -= point->weight[j] * f[i] * (x[v + i] - p->mesh.position[v + i]);
            }
        }
    }

    if (full) {
        forces_add(p, p->forces.now, full);
    }
}

static void forces_forces(void *self, pl_problem *p, const pl_state *state, double *full)
{
    (void)self;
    forces_add(p, state->force, full);
}

static pl_status forces_derivative(void *self, pl_problem *p, const pl_state *state, const pl_parameter *q,
                                   double *full, double *target, pl_error *err)
{
    (void)self;
    (void)state;
    (void)target;
    (void)err;
    const pl_point *point = q->kind == PL_PARAMETER_MARKER_FORCE ? &p->robot->marker[q->index].point
                            : q->kind == PL_PARAMETER_GRIP       ? &p->forces.grip
                                                                 : NULL;
    for (int32_t j = 0; point && j < point->count; ++j) {
        full[3 * (int64_t)point->node[j] + q->part] += point->weight[j];
    }

    return PL_OK;
}

static const pl_term forces_kind = {.name = "forces",
                                    .destroy = forces_destroy,
                                    .evaluate = forces_evaluate,
                                    .forces = forces_forces,
                                    .derivative = forces_derivative};

pl_status term_forces_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    (void)err;
    *out = (pl_problem_term){&forces_kind, p};
    return PL_OK;
}
