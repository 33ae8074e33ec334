// Friction of cables in their guides: see term_capstan.h.
#include <stdio.h>
#include "problem/term_capstan.h"

#define CAPSTAN_STEP 1e-6  // of the robot's size: step of the differences of angles
#define CAPSTAN_BOUND 1e-6 // of the tension: a piece this near to a bound is at it

void capstan_destroy(capstan *c)
{
    if (!c) {
        return;
    }

    for (int k = 0; k < c->pieces; ++k) {
        if (c->piece) {
            pl_functional_clear(&c->piece[k]);
        }
        if (c->slots) {
            pl_slots_clear(&c->slots[k]);
        }
    }

    pl_free(c->piece);
    pl_free(c->slots);
    pl_free(c->angle);
    pl_free(c->quantity);
    pl_free(c);
}

pl_status capstan_create(const pl_robot *robot, int actuator, capstan **out)
{
    const pl_actuator *a = &robot->actuator[actuator];
    *out = NULL;
    if (!(a->friction > 0)) {
        return PL_OK;
    }

    capstan *c = PL_NEW(capstan);
    if (!c) {
        return PL_NO_MEMORY;
    }
    *out = c;
    c->a = a;
    c->pieces = a->guide_count - 1;
    c->first = pl_robot_tension_first(robot, actuator);
    c->piece = PL_NEW_ARRAY(pl_functional, c->pieces);
    c->slots = PL_NEW_ARRAY(pl_slots, c->pieces);
    c->angle = PL_NEW_ARRAY(double, 6 * c->pieces);
    c->quantity = pl_alloc_array((size_t)c->pieces, sizeof *c->quantity);
    if (!c->piece || !c->slots || !c->angle || !c->quantity) {
        return PL_NO_MEMORY;
    }
    c->before = c->angle + c->pieces;
    c->tension = c->before + c->pieces;
    c->scratch = c->tension + c->pieces;
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < c->pieces; ++k) {
        const pl_point *p = &a->guide[k], *q = &a->guide[k + 1];
        snprintf(c->quantity[k], sizeof c->quantity[k], "tension_%d", k + 1);
        status = pl_functional_add_segment(&c->piece[k], p->count, p->node, p->weight, p->rest, q->count,
                                           q->node, q->weight, q->rest);
    }

    return status;
}

pl_status capstan_bind(pl_problem *p, capstan *c, pl_error *err)
{
    pl_status status = PL_OK;
    for (int k = 0; status == PL_OK && k < c->pieces; ++k) {
        status = pl_slots_bind(p, &c->piece[k], &c->slots[k], err);
    }
    return status;
}

// ---- angles and tensions
static void capstan_guide(const capstan *c, int k, const double *x, double out[3])
{
    const pl_point *g = &c->a->guide[k];
    memcpy(out, g->rest, 3 * sizeof *out);
    if (g->count > 0) {
        memset(out, 0, 3 * sizeof *out);
    }
    for (int32_t j = 0; j < 3 * g->count; ++j) {
        out[j % 3] += g->weight[j / 3] * x[3 * (size_t)g->node[j / 3] + (size_t)(j % 3)];
    }
}

// By how much the cable turns where each piece begins; the first begins at the drive.
static void capstan_angles(const capstan *c, const double *x, double *angle)
{
    double at[3][3], d[2][3], n[3];
    capstan_guide(c, 0, x, at[0]);
    capstan_guide(c, 1, x, at[1]);
    angle[0] = 0;
    for (int k = 1; k < c->pieces; ++k) {
        capstan_guide(c, k + 1, x, at[2]);
        pl_sub3(at[1], at[0], d[0]);
        pl_sub3(at[2], at[1], d[1]);
        pl_cross3(d[0], d[1], n);
        angle[k] = atan2(pl_norm3(n), pl_dot3(d[0], d[1]));
        memmove(at, at + 1, 2 * sizeof at[0]);
    }
}

// The tensions with the drive at `pull`.
static void capstan_tensions(const capstan *c, double pull, double *tension)
{
    double T = fmax(0, pull);
    for (int k = 0; k < c->pieces; ++k) {
        const double low = exp(-c->a->friction * c->angle[k]);
        T = k == 0 ? T : fmin(fmax(c->before[k], T * low), T / low);
        tension[k] = T;
    }
}

void capstan_advance(capstan *c, const double *x, double pull)
{
    capstan_angles(c, x, c->angle);
    c->pull = pull;
}

int64_t capstan_save(const capstan *c, double *out)
{
    if (out) {
        memcpy(out, c->angle, (size_t)c->pieces * sizeof *out);
        out[c->pieces] = c->pull;
    }
    return c->pieces + 1;
}

void capstan_revert(capstan *c, const double *saved)
{
    memcpy(c->angle, saved, (size_t)c->pieces * sizeof *saved);
    c->pull = saved[c->pieces];
}

void capstan_begin(capstan *c, const pl_state *state, double pull)
{
    memcpy(c->before, state->history[PL_STATE_TENSION].value + c->first,
           (size_t)c->pieces * sizeof *c->before);
    capstan_advance(c, state->x, pull);
}

// ---- forces
double capstan_evaluate(capstan *c, const double *x, double pull, double *full)
{
    double energy = 0;
    capstan_tensions(c, pull, c->tension);
    for (int k = 1; k < c->pieces; ++k) {
        const double beside = c->tension[k] - pull;
        energy += beside * pl_functional_evaluate(&c->piece[k], x, beside, full);
    }

    return energy;
}

void capstan_tangent(const capstan *c, pl_problem *p, const double *x, double pull)
{
    for (int k = 1; k < c->pieces; ++k) {
        const double beside = c->tension[k] - pull;
        if (beside != 0) {
            pl_problem_add_functional(p, &c->piece[k], &c->slots[k], x, beside);
        }
    }
}

// ---- derivatives
// A piece that is at a bound goes on with it, as in a further motion of the same direction; another one keeps
// its tension. -1, 1: the lower and the upper bound.
static int capstan_direction(const capstan *c, int k)
{
    const double low = exp(-c->a->friction * c->angle[k]), last = k > 0 ? c->tension[k - 1] : 0;
    if (k == 0 || !(fabs(c->tension[k] - last * low) > CAPSTAN_BOUND * last)) {
        return -1;
    }
    return fabs(c->tension[k] - last / low) <= CAPSTAN_BOUND * last ? 1 : 0;
}

// Tensions with these directions and other angles; with `rate` their derivatives by that of the drive.
static void capstan_along(const capstan *c, const double *angle, double pull, double *tension, double *rate)
{
    double T = fmax(0, pull), dT = 1;
    for (int k = 0; k < c->pieces; ++k) {
        const int direction = capstan_direction(c, k);
        const double factor = exp(direction * c->a->friction * angle[k]);
        T = direction ? T * factor : c->tension[k];
        dT *= direction ? factor : 0;
        tension[k] = T;
        if (rate) {
            rate[k] = dT;
        }
    }
}

// Changes of the tensions by the angles, for a motion dx, by central differences.
static void capstan_changes(const capstan *c, pl_problem *p, const double *x, const double *dx, double pull,
                            double *change)
{
    const int64_t n = 3 * (int64_t)p->mesh.vertex_count;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *moved = pl_problem_take_full(p), largest = 0;

    for (int64_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(dx[i]));
    }

    const double h = largest > 0 ? CAPSTAN_STEP * p->size / largest : 0;
    memset(change, 0, (size_t)c->pieces * sizeof *change);
    for (int side = -1; h > 0 && side <= 1; side += 2) {
        for (int64_t i = 0; i < n; ++i) {
            moved[i] = x[i] + side * h * dx[i];
        }
        capstan_angles(c, moved, c->scratch);
        capstan_along(c, c->scratch, pull, c->scratch + c->pieces, NULL);
        for (int k = 0; k < c->pieces; ++k) {
            change[k] += side * c->scratch[c->pieces + k] / (2 * h);
        }
    }

    pl_arena_end(&p->scratch, mark);
}

void capstan_lag(const capstan *c, pl_problem *p, const double *x, const double *dx, double pull,
                 double *full)
{
    double *change = c->scratch + 2 * c->pieces;
    capstan_changes(c, p, x, dx, pull, change);
    for (int k = 1; k < c->pieces; ++k) {
        pl_functional_gradient(&c->piece[k], x, -change[k], full);
    }
}

void capstan_rate(const capstan *c, const double *x, double pull, double scale, double *full)
{
    double *rate = c->scratch + c->pieces;
    capstan_along(c, c->angle, pull, c->scratch, rate);
    for (int k = 0; k < c->pieces; ++k) {
        pl_functional_gradient(&c->piece[k], x, scale * rate[k], full);
    }
}

double capstan_change(const capstan *c, pl_problem *p, const double *x, int piece, double pull,
                      const double *dx, double pull_change)
{
    double *change = c->scratch + 2 * c->pieces, sum = 0;
    if (dx) {
        capstan_changes(c, p, x, dx, pull, change);
        sum = change[piece];
    }

    capstan_along(c, c->angle, pull, c->scratch, c->scratch + c->pieces);
    return sum + c->scratch[c->pieces + piece] * pull_change;
}

// ---- states
void capstan_store(const capstan *c, pl_state *state)
{
    memcpy(state->history[PL_STATE_TENSION].value + c->first, c->tension,
           (size_t)c->pieces * sizeof *c->tension);
}

void capstan_forces(const capstan *c, const pl_state *state, double *full)
{
    for (int k = 0; k < c->pieces; ++k) {
        pl_functional_gradient(&c->piece[k], state->x, state->history[PL_STATE_TENSION].value[c->first + k],
                               full);
    }
}
