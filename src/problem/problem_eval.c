// Everything at positions x: the terms' energy and gradient, multipliers of constraints and the residual.
#include <float.h>
#include "problem/problem_impl.h"

#define TAKE_HOLD 1e-10 // of the unit: a slack inequality is active when stretched beyond its target by more
#define LET_GO 1e-8     // of the unit: an active one that pushes is let go only where it meets its target
#define RESIDUAL_FLOOR 1e-7 // strain whose force is the scale of a body without any load

// ---- load path
pl_status pl_problem_check(const pl_problem *p, const double *command, pl_error *err)
{
    PROBLEM_STEPS(p, t, check)
    {
        const pl_status status = t->kind->steps->check(t->self, p, command, err);
        if (status != PL_OK) {
            return status;
        }
    }
    return PL_OK;
}

// Lays out the pattern again where a term's has changed; the order of the unknowns stays.
pl_status problem_refresh(pl_problem *p, pl_error *err)
{
    bool changed = false;
    PROBLEM_EACH (p, t, changed) {
        changed = changed || t->kind->changed(t->self);
    }
    if (!changed) {
        return PL_OK;
    }
    p->linear.has_factor = false;
    p->linear.border_count = 0;
    pl_factor_destroy(p->linear.spare); // of another pattern
    p->linear.spare = NULL;
    const pl_status status = pl_problem_layout(p, err);
    p->layouts++;

    return status == PL_OK ? pl_factor_reanalyse(p->linear.factor, &p->tangent.K, err) : status;
}

void pl_problem_set_forces(pl_problem *p, const double *force)
{
    for (int i = 0; i < 3 * p->robot->marker_count; ++i) {
        p->forces.asked[i] = force ? force[i] : 0;
    }
}

pl_status pl_problem_grip(pl_problem *p, const double at[3], double radius, pl_error *err)
{
    pl_point point = {0};
    const pl_status status = at ? pl_point_create(p->robot->mesh, at, radius, &point, NULL, err) : PL_OK;

    if (status == PL_OK) {
        pl_point_clear(&p->forces.grip);
        p->forces.grip = point;
    }

    return status;
}

void pl_problem_pull(pl_problem *p, const double force[3])
{
    for (int i = 0; i < 3; ++i) {
        p->forces.asked[3 * p->robot->marker_count + i] = force ? force[i] : 0;
    }
}

static size_t problem_forces_bytes(const pl_problem *p)
{
    return 3 * ((size_t)p->robot->marker_count + 1) * sizeof(double);
}

pl_status pl_problem_begin_step(pl_problem *p, const pl_step *step, pl_error *err)
{
    PROBLEM_STEPS(p, t, begin)
    {
        t->kind->steps->begin(t->self, p, step);
    }
    p->load_from = step->from->load;
    p->load_to = step->load;
    memcpy(p->forces.from, step->from->force, problem_forces_bytes(p));
    memcpy(p->forces.to, step->force ? step->force : p->forces.asked, problem_forces_bytes(p));

    return problem_refresh(p, err);
}

void pl_problem_set(pl_problem *p, double at)
{
    p->load = at == 1 ? p->load_to : p->load_from + at * (p->load_to - p->load_from);
    const pl_marker_forces *f = &p->forces;
    for (int i = 0; i < 3 * (p->robot->marker_count + 1); ++i) {
        f->now[i] = at == 1 ? f->to[i] : f->from[i] + at * (f->to[i] - f->from[i]);
    }
    PROBLEM_STEPS(p, t, set)
    {
        t->kind->steps->set(t->self, p, at);
    }
}

void pl_problem_recall(pl_problem *p, const pl_state *state)
{
    p->load_kept = p->load;
    p->load = state->load;
    memcpy(p->forces.kept, p->forces.now, problem_forces_bytes(p));
    memcpy(p->forces.now, state->force, problem_forces_bytes(p));
    PROBLEM_STEPS(p, t, recall)
    {
        t->kind->steps->recall(t->self, p, state);
    }
}

void pl_problem_resume(pl_problem *p)
{
    p->load = p->load_kept;
    memcpy(p->forces.now, p->forces.kept, problem_forces_bytes(p));
    PROBLEM_STEPS(p, t, resume)
    {
        t->kind->steps->resume(t->self, p);
    }
}

// ---- energy, gradient, residual
double problem_evaluate_at(pl_problem *p, pl_contact_mode contacts, const double *x, double *g)
{
    const pl_linearization here = {.x = x, .contacts = contacts};
    double energy = 0;

    PROBLEM_EACH (p, t, evaluate) {
        t->kind->evaluate(t->self, p, &here, &energy, g ? p->gradient : NULL);
        if (isinf(energy)) {
            return INFINITY;
        }
    }
    if (g) {
        pl_problem_gather(p, p->gradient, x, g);
    }

    return energy;
}

double pl_problem_evaluate(pl_problem *p, const double *x, double *g)
{
    return problem_evaluate_at(p, PL_CONTACT_ACTS, x, g);
}

double pl_problem_evaluate_as(pl_problem *p, pl_contact_mode contacts, const double *x, double *g)
{
    p->contact_hits = 0;
    return problem_evaluate_at(p, contacts, x, g);
}

double pl_problem_elastic(pl_problem *p, const double *x, double *full)
{
    double energy = 0;
    for (int i = 0; i < p->term_count && !isinf(energy); ++i) {
        const pl_problem_term *t = &p->term[i];
        if (t->kind->elastic) {
            t->kind->evaluate(t->self, p, &(pl_linearization){.x = x}, &energy, full);
        }
    }

    return energy;
}

// The multipliers p solve Y^T A^T p = Y^T g in the metric of the factor (a stale basis Y is fine, it only has
// to be the same on both sides); the residual r = g - A^T p is what remains.
double pl_problem_residual(pl_problem *p, const double *g, double *r)
{
    const pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n;

    memcpy(r, g, (size_t)n * sizeof *r);
    int active[PL_ROWS_MAX], m = 0;
    for (int k = 0; k < l->border_count; ++k) {
        const pl_row *row = &p->row[l->border[k]];
        if (row->wanted && row->constraint && row->active) {
            active[m++] = k;
        }
    }

    if (m > 0) {
        double S[PL_ROWS_MAX * PL_ROWS_MAX], q[PL_ROWS_MAX];
        for (int a = 0; a < m; ++a) {
            const double *Y = l->solution + (int64_t)active[a] * n;
            q[a] = problem_dot(Y, g, n);
            for (int b = 0; b < m; ++b) {
                S[a * m + b] = problem_dot(Y, p->row[l->border[active[b]]].a, n);
            }
        }
        if (pl_dense_solve(m, S, q, 1)) {
            for (int a = 0; a < m; ++a) {
                pl_row *row = &p->row[l->border[active[a]]];
                row->multiplier = -q[a];
#pragma omp simd
                for (int32_t i = 0; i < n; ++i) {
                    r[i] -= q[a] * row->a[i];
                }
            }
        }
    }

    for (int i = 0; i < p->row_count; ++i) {
        if (p->row[i].constraint && !p->row[i].active) {
            p->row[i].multiplier = 0;
        }
    }

    return pl_problem_largest(p, r, true);
}

// What the residual is measured against: the largest nodal force of the elements at the last evaluation with
// gradient, held vertices included; at equilibrium it is that of loads and reactions.
double pl_problem_force_scale(const pl_problem *p)
{
    const double h = p->size / cbrt((double)p->mesh.element_count);
    const double floor = RESIDUAL_FLOOR * p->stiffness * h * h;
    return fmax(fmax(p->elements->largest_force, floor), p->noise / p->options.force_tolerance);
}

// ---- constraints
void pl_problem_gaps(const pl_problem *p, double *rho)
{
    for (int k = 0; k < p->linear.border_count; ++k) {
        const pl_row *row = &p->row[p->linear.border[k]];
        rho[k] = row->wanted && row->constraint ? row->target - row->measure : 0;
    }
}

bool pl_problem_activate(pl_problem *p, bool let_go)
{
    bool changed = false;
    for (int i = 0; i < p->row_count; ++i) {
        pl_row *row = &p->row[i];
        if (!row->wanted || !row->constraint || !row->inequality) {
            continue;
        }
        if (!row->active && row->measure > row->target + TAKE_HOLD * row->unit) {
            row->active = changed = true;
        } else if (let_go && row->active && row->multiplier < 0 &&
                   row->measure < row->target + LET_GO * row->unit) {
            row->active = false;
            row->multiplier = 0;
            changed = true;
        }
    }

    return changed;
}

void pl_problem_row_at(pl_problem *p, const double *x, int i)
{
    pl_row *row = &p->row[i];
    const size_t mark = pl_arena_begin(&p->scratch);
    double *gradient = pl_problem_take_full(p);

    row->measure = pl_functional_value(row->h, x);
    memset(gradient, 0, pl_problem_full_bytes(p));
    pl_functional_gradient(row->h, x, 1, gradient);
    pl_problem_gather(p, gradient, x, row->a);
    pl_arena_end(&p->scratch, mark);
}

double pl_problem_constraint_error(pl_problem *p, const double *x)
{
    double largest = 0;
    for (int i = 0; i < p->row_count; ++i) {
        const pl_row *row = &p->row[i];
        if (row->wanted && row->constraint && row->active) {
            pl_problem_row_at(p, x, i);
            largest = fmax(largest, fabs(row->measure - row->target) / row->unit);
        }
    }

    return largest;
}

// ---- steps and increments
double pl_problem_step_limit(const pl_problem *p, const double *x, const double *to)
{
    double limit = 1;
    PROBLEM_EACH (p, t, step_limit) {
        limit = fmin(limit, t->kind->step_limit(t->self, p, x, to));
    }
    return limit;
}

bool pl_problem_admissible(pl_problem *p, const double *x)
{
    PROBLEM_EACH (p, t, admissible) {
        if (!t->kind->admissible(t->self, p, x)) {
            return false;
        }
    }
    return true;
}

pl_status pl_problem_accept(pl_problem *p, const double *x, pl_accept how, pl_error *err)
{
    PROBLEM_STEPS(p, t, accept)
    {
        t->kind->steps->accept(t->self, p, x, how);
    }
    return problem_refresh(p, err);
}

bool pl_problem_lags(pl_problem *p)
{
    bool lags = false;
    PROBLEM_EACH (p, t, lag) {
        lags = lags || t->kind->lag(t->self, p, NULL, NULL, NULL);
    }
    return lags;
}

bool pl_problem_settles(pl_problem *p)
{
    bool settles = false;
    PROBLEM_EACH (p, t, lag) {
        settles = settles || (!t->kind->follow && t->kind->lag(t->self, p, NULL, NULL, NULL));
    }
    return settles;
}

bool pl_problem_follow(pl_problem *p, pl_follow_mode how)
{
    bool any = false;
    PROBLEM_EACH (p, t, follow) {
        any = t->kind->follow(t->self, p, how) || any;
    }
    return any;
}

// ---- states
void pl_problem_store(const pl_problem *p, const double *command, double at, const double *x, pl_state *state)
{
    memcpy(state->x, x, pl_problem_full_bytes(p));
    state->load = p->load;
    memcpy(state->force, p->forces.now, problem_forces_bytes(p));
    for (int c = 0; at >= 1 && c < state->command_count; ++c) {
        state->command[c] = command[c];
    }
    PROBLEM_STEPS(p, t, store)
    {
        t->kind->steps->store(t->self, p, command, at, state);
    }
}

void pl_problem_forces(pl_problem *p, const pl_state *state, bool reference, double *full,
                       double *largest_elastic)
{
    memset(full, 0, pl_problem_full_bytes(p));
    for (int elastic = 1; elastic >= 0; --elastic) {
        PROBLEM_EACH (p, t, forces) {
            if (t->kind->elastic == elastic && t == p->term && reference) {
                problem_elements_reference(p, state, full);
            } else if (t->kind->elastic == elastic) {
                t->kind->forces(t->self, p, state, full);
            }
        }
        for (int32_t v = 0; elastic && largest_elastic && v < p->mesh.vertex_count; ++v) {
            const double force = pl_norm3(full + 3 * (int64_t)v);
            *largest_elastic = v == 0 ? force : fmax(*largest_elastic, force);
        }
    }
}
