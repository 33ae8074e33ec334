// A slide holds the centre c of a free body along a direction u, and leaves its other five motions free: the
// body is moved along u, and the force that this takes is an unknown. With the place s along u
//   E = k / 2 (s - u . c)^2,   F = k (s - u . c),
// k the stiffness of the hand. The slide of a state is at s; load paths lead to the one that was asked for:
// from s where the state has one in the same direction, otherwise from where the body is, without a force.
#include "problem/term_contact.h"

#define SLIDE_ROUNDING 1e-6 // of the limit of friction: what rounding leaves of a traction that was cut to it

static double slide_centre(const contact_term *t, int o, const double *x)
{
    double along = 0;
    for (int j = 0; j < 12; ++j) {
        along +=
            0.25 * t->grip[o].slide[j % 3] * x[3 * (size_t)t->c->obstacle[o].frame[j / 3] + (size_t)(j % 3)];
    }
    return along;
}

static bool slide_acts(const contact_grip *g)
{
    return g->slide[0] != 0 || g->slide[1] != 0 || g->slide[2] != 0;
}

void contact_slide_begin(contact_term *t, int o, const double *x, const double *wanted)
{
    contact_grip *g = &t->grip[o];
    const double *had = t->now.slide + 4 * o;

    memcpy(g->slide, wanted, sizeof g->slide);
    g->slide_to = wanted[3];
    g->slide_from = memcmp(had, wanted, sizeof g->slide) == 0 ? had[3] : slide_centre(t, o, x);
    g->slide_at = g->slide_from;
}

// The force F on the body along u, and as a vector.
double contact_slide_force(const contact_term *t, int o, const double *x, double force[3])
{
    const contact_grip *g = &t->grip[o];
    const double along = slide_acts(g) ? g->firm * (g->slide_at - slide_centre(t, o, x)) : 0;
    for (int i = 0; i < 3; ++i) {
        force[i] = along * g->slide[i];
    }
    return along;
}

void contact_slide_tangent(const contact_term *t, pl_problem *p, int o, const double *x)
{
    const contact_grip *g = &t->grip[o];
    double B[9];

    if (!t->c->obstacle[o].free || !slide_acts(g)) {
        return;
    }
    for (int i = 0; i < 9; ++i) {
        B[i] = g->firm / 16 * g->slide[i / 3] * g->slide[i % 3];
    }
    for (int j = 0; j < 16; ++j) {
        pl_problem_add_block(p, t->c->obstacle[o].frame[j / 4], t->c->obstacle[o].frame[j % 4], B, 3, x);
    }
}

// ---- for the rooms that solve
void pl_problem_slide(pl_problem *p, int obstacle, const double direction[3], double place)
{
    contact_term *t = p->contact;
    double *wanted = t->slide_wanted + 4 * obstacle;
    for (int i = 0; i < 3; ++i) {
        wanted[i] = direction ? direction[i] : 0;
    }
    wanted[3] = direction ? place : 0;
}

double pl_problem_slide_force(pl_problem *p, const pl_state *state, int obstacle)
{
    double force[3];
    pl_problem_recall(p, state);
    const double along = contact_slide_force(p->contact, obstacle, state->x, force);
    pl_problem_resume(p);
    return along;
}

// Which fingers hold the body? Per body of the robot the normal force, and that of the points that slip.
void pl_problem_hold_of(pl_problem *p, const pl_state *state, int obstacle, double *out)
{
    contact_term *t = p->contact;

    pl_problem_recall(p, state);
    contact_find_feet(t, state->x, t->offset);
    memset(out, 0, 2 * (size_t)t->c->body_count * sizeof *out);
    CONTACT_EACH(t, obstacle, k)
    {
        contact_touch touch;
        double traction[3];
        bool stick;
        if (!contact_touch_at(t, obstacle, k, state->x, false, &touch)) {
            continue;
        }
        const int32_t face = k < t->points ? t->s->home[k] : t->foot[k - t->points].face;
        const double force = t->area[k] * touch.pressure;
        contact_friction(t, obstacle, k, state->x, traction, &stick, NULL);
        double *hold = out + 2 * t->s->group[face];
        hold[0] += force;
        // a point at its limit slips, also where rounding leaves it just below
        const double limit = contact_limit(t, obstacle, k);
        hold[1] += pl_norm3(traction) >= (1 - SLIDE_ROUNDING) * limit ? force : 0;
    }
    pl_problem_resume(p);
}
