// Energies of a motion: kinetic, elastic, and the work of loads and actuators. The work of a potential
// Phi(x; c) along a stage from (x0, c0) to (x1, c1) is
//   -1/2 [Phi(x1; c0) - Phi(x0; c0) + Phi(x1; c1) - Phi(x0; c1)],
// exact for constant loads, of second order otherwise; that of a constraint -(p0 + p1) / 2 (h1 - h0).
#include "dynamics/dynamics_impl.h"

typedef enum energy_part { PART_NONE, PART_ACTUATORS, PART_LOADS, PART_STORED } energy_part;

static energy_part energy_part_of(const pl_term *kind)
{
    if (kind->elastic || !kind->evaluate || strcmp(kind->name, "inertia") == 0) {
        return PART_NONE;
    }
    if (strcmp(kind->name, "springs") == 0) {
        return PART_STORED;
    }
    return strcmp(kind->name, "actuators") == 0 ? PART_ACTUATORS : PART_LOADS;
}

static double energy_of(pl_problem *p, energy_part part, const double *x)
{
    double energy = 0;
    for (int i = 0; i < p->term_count; ++i) {
        const pl_problem_term *t = &p->term[i];
        if (energy_part_of(t->kind) == part) {
            t->kind->evaluate(t->self, p, x, &energy, NULL);
        }
    }
    return energy;
}

// Loads and commands at the fraction `at` of the path; stress-free shapes stay.
static void energy_set(pl_problem *p, double at)
{
    const pl_marker_forces *f = &p->forces;
    p->load = p->load_from + at * (p->load_to - p->load_from);
    for (int i = 0; i < 3 * (p->robot->marker_count + 1); ++i) {
        f->now[i] = f->from[i] + at * (f->to[i] - f->from[i]);
    }
    for (int i = 0; i < p->term_count; ++i) {
        const pl_problem_term *t = &p->term[i];
        if (!t->kind->elastic && t->kind->set) {
            t->kind->set(t->self, p, at);
        }
    }
}

static bool energy_loads_change(const pl_dynamics *d, const dynamics_point *from)
{
    const pl_problem *p = d->problem;
    bool change = p->load_from != p->load_to;
    for (int i = 0; i < 3 * (p->robot->marker_count + 1); ++i) {
        change = change || p->forces.from[i] != p->forces.to[i];
    }
    for (int c = 0; c < from->state->command_count; ++c) {
        const double a = from->state->command[c], b = d->command[c];
        change = change || (a != b && !(isnan(a) && isnan(b)));
    }
    return change;
}

void dynamics_rows(const pl_problem *p, dynamics_point *point)
{
    for (int i = 0; i < p->row_count; ++i) {
        const pl_row *row = &p->row[i];
        point->measure[i] = row->measure;
        point->force[i] = row->wanted && row->constraint && row->active ? row->multiplier : 0;
    }
}

void dynamics_work(pl_dynamics *d, const dynamics_point *from, dynamics_point *to, pl_motion_energy *energy)
{
    pl_problem *p = d->problem;
    dynamics_rows(p, to);
    const bool changes = energy_loads_change(d, from);
    double work[2] = {0};
    for (int part = 0; part < 2; ++part) {
        const energy_part which = part == 0 ? PART_ACTUATORS : PART_LOADS;
        if (changes) {
            energy_set(p, 0);
            work[part] -= 0.5 * (energy_of(p, which, to->x) - energy_of(p, which, from->x));
            energy_set(p, 1);
        }
        const double at_start = energy_of(p, which, from->x), at_end = energy_of(p, which, to->x);
        work[part] -= (changes ? 0.5 : 1) * (at_end - at_start);
    }
    for (int i = 0; i < p->row_count; ++i) {
        if (p->row[i].constraint) {
            work[0] -= 0.5 * (from->force[i] + to->force[i]) * (to->measure[i] - from->measure[i]);
        }
    }
    energy->actuators += work[0];
    energy->loads += work[1];
}

double dynamics_kinetic(const pl_dynamics *d, const double *v)
{
    dynamics_mass_multiply(d->inertia, v, d->inertia->product);
    return 0.5 * dynamics_dot(v, d->inertia->product, dynamics_full(d));
}

double dynamics_stored(pl_dynamics *d, const double *x)
{
    pl_viscous_off(d->viscous);
    return pl_problem_elastic(d->problem, x, NULL) + energy_of(d->problem, PART_STORED, x);
}

pl_motion_energy pl_dynamics_energy(pl_dynamics *d)
{
    pl_motion_energy e = d->energy;
    if (!d->started) {
        return e;
    }
    e.kinetic = dynamics_kinetic(d, d->now.v);
    e.elastic = dynamics_stored(d, d->now.x);
    e.imbalance = d->energy_known
                      ? e.kinetic + e.elastic + e.viscous + e.damped - d->energy_start - e.actuators - e.loads
                      : NAN;
    return e;
}

double pl_dynamics_momentum(const pl_dynamics *d, double linear[3], double angular[3])
{
    memset(linear, 0, 3 * sizeof *linear);
    memset(angular, 0, 3 * sizeof *angular);
    dynamics_mass_multiply(d->inertia, d->now.v, d->inertia->product);
    for (int64_t v = 0; v < dynamics_full(d); v += 3) {
        double moment[3];
        pl_cross3(d->now.x + v, d->inertia->product + v, moment);
        for (int i = 0; i < 3; ++i) {
            linear[i] += d->inertia->product[v + i];
            angular[i] += moment[i];
        }
    }
    double mass = 0;
    for (int64_t k = 0; k < d->inertia->M.start[d->inertia->M.n]; ++k) {
        mass += d->inertia->M.value[k];
    }
    for (int k = 0; k < d->inertia->marker_count; ++k) {
        mass += d->inertia->marker_mass[k];
    }
    return mass;
}
