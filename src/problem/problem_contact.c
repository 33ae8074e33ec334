// What contact alone offers to the solvers; without contact nothing touches.
#include "problem/problem_impl.h"
#include "problem/term_contact.h"

bool pl_problem_touches(const pl_problem *p)
{
    return p->contact;
}

// ---- steps
double pl_problem_stride(pl_problem *p, const double *x, double at)
{
    return p->contact ? fmin(1, contact_stride(p->contact, p, x, at)) : 1;
}

bool pl_problem_obsolete(const pl_problem *p, const double *x)
{
    return p->contact && contact_obsolete(p->contact, p, x);
}

// ---- multipliers
void pl_problem_soften(pl_problem *p, const double *x)
{
    if (p->contact) {
        contact_soften(p->contact, p, x);
    }
}

bool pl_problem_strays(const pl_problem *p, const double *x)
{
    return p->contact && contact_grip_strays(p->contact, x);
}

bool pl_problem_tighten(pl_problem *p)
{
    return p->contact && contact_grip_tighten(p->contact);
}

double pl_problem_complementarity_error(pl_problem *p, const double *x, double *penetration)
{
    p->limits_off = 0;
    *penetration = 0;
    return p->contact ? fmax(0, contact_complementarity_error(p->contact, p, x, penetration)) : 0;
}

pl_contact_fault pl_problem_examine(pl_problem *p, const double *x)
{
    pl_contact_fault fault = {0};
    if (p->contact) {
        contact_examine(p->contact, p, x, &fault);
    }
    return fault;
}

void pl_problem_contact_field(pl_problem *p, const pl_state *state, bool gap, double *out)
{
    if (p->contact) {
        contact_field(p->contact, p, state, gap, out);
    }
}

// ---- friction
bool pl_problem_take_hold(pl_problem *p, const double *x)
{
    return p->contact && contact_take_hold(p->contact, p, x);
}

void pl_problem_take_limits(pl_problem *p, const double *x)
{
    if (pl_problem_follow(p, PL_FOLLOW_SHAPE)) {
        pl_problem_take_hold(p, x);
        pl_problem_evaluate(p, x, NULL);
    }
    pl_problem_follow(p, PL_FOLLOW_KEPT);
}

double pl_problem_retrace(pl_problem *p, pl_retrace what, double *x)
{
    return p->contact ? contact_retrace(p->contact, p, what, x) : 0;
}

void pl_problem_nonsymmetric(pl_problem *p, const double *x, const double *dx, double *full)
{
    if (p->contact) {
        contact_nonsymmetric(p->contact, p, x, dx, full);
    }
}

// ---- derivatives
bool pl_problem_holds(pl_problem *p, const double *x)
{
    return p->contact && contact_hold.count(p->contact, p, x) > 0;
}
