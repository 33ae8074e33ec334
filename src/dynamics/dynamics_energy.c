// Energies of a motion: kinetic, elastic, and the work of loads and actuators. The work of a potential
// Phi(x; c) along a step is
//   Phi(x0; c0) - Phi(x1; c1) + int dPhi/dc dc,
// exact for constant loads; the integral by the parabolas through the three points of the step, of third
// order, so that the imbalance is the error of the motion and not that of its balance. The work of a
// constraint is -int p dh, likewise.
#include "dynamics/dynamics_impl.h"

typedef enum energy_part { PART_NONE, PART_ACTUATORS, PART_LOADS, PART_STORED } energy_part;

static energy_part energy_part_of(const pl_term *kind)
{
    // contacts store nothing: their potential is a means of finding pressures at closed gaps
    if (kind->elastic || !kind->evaluate || strcmp(kind->name, "inertia") == 0 ||
        strcmp(kind->name, "contact") == 0) {
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
            t->kind->evaluate(t->self, p, &(pl_linearization){.x = x}, &energy, NULL);
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
        if (!t->kind->elastic && t->kind->steps && t->kind->steps->set) {
            t->kind->steps->set(t->self, p, at);
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

// ---- work of a step, from its three points
static const energy_part energy_parts[2] = {PART_ACTUATORS, PART_LOADS};

// Potentials of a part at x with the commands of both ends of the stage in progress.
static void energy_ends(pl_dynamics *d, bool changes, const double *x, double (*end)[2])
{
    pl_problem *p = d->problem;
    for (int at = changes ? 0 : 1; at < 2; ++at) {
        if (changes) {
            energy_set(p, at);
        }
        for (int part = 0; part < 2; ++part) {
            end[part][at] = energy_of(p, energy_parts[part], x);
        }
    }

    for (int part = 0; !changes && part < 2; ++part) {
        end[part][0] = end[part][1];
    }
}

void dynamics_work_first(pl_dynamics *d)
{
    dynamics_work *w = &d->work_step;
    double end[2][2];

    dynamics_rows(d->problem, &d->middle);
    w->changes = energy_loads_change(d, &d->now);
    energy_ends(d, w->changes, d->now.x, end);
    for (int part = 0; part < 2; ++part) {
        w->start[part] = end[part][0];
        w->rate_start[part] = (end[part][1] - end[part][0]) / TR_GAMMA;
    }

    energy_ends(d, w->changes, d->middle.x, end); // last: efforts are those of the end of the stage
    for (int part = 0; part < 2; ++part) {
        w->rate_middle[part] = (end[part][1] - end[part][0]) / TR_GAMMA;
    }
}

// int dPhi/dt over the step: the rates l L(x) of the potential at the points 0, gamma, 1 with the slope l of
// the commands, a parabola through the three commands: l(t) = d1 + (2 t - gamma) (d2 - d1) with the
// differences d1, d2 of the stages. The quadrature is exact for parabolas. (d2 - d1) L at the last point is
// extrapolated.
static double energy_rates(const dynamics_work *w, int part, const double *d2)
{
    const double g = TR_GAMMA, first = w->rate_start[part], middle = w->rate_middle[part];
    const double bend0 = d2[0] - first, bend_g = d2[1] - middle,
                 bend1 = bend_g + (1 - g) / g * (bend_g - bend0);
    const double rate[3] = {first - g * bend0, middle + g * bend_g, d2[2] + (1 - g) * bend1};
    return TR_W0 * rate[0] + TR_WG * rate[1] + TR_W1 * rate[2];
}

// int p dh over a step for parabolas through three values each.
static double energy_row(const double p[3], const double h[3])
{
    const double g = TR_GAMMA;
    double slope[2][2]; // of p and h: value at 0 and change of the slope
    const double *v[2] = {p, h};

    for (int i = 0; i < 2; ++i) {
        const double d1 = (v[i][1] - v[i][0]) / g, d2 = (v[i][2] - v[i][1]) / (1 - g);
        slope[i][0] = d1 - g * (d2 - d1);
        slope[i][1] = 2 * (d2 - d1);
    }

    // (p0 + p' t + p'' t^2 / 2) (h' + h'' t), integrated from 0 to 1
    const double p0 = p[0], p1 = slope[0][0], p2 = 0.5 * slope[0][1], h1 = slope[1][0], h2 = slope[1][1];

    return p0 * (h1 + h2 / 2) + p1 * (h1 / 2 + h2 / 3) + p2 * (h1 / 3 + h2 / 4);
}

void dynamics_work_second(pl_dynamics *d, pl_motion_energy *energy)
{
    const dynamics_work *w = &d->work_step;
    pl_problem *p = d->problem;
    const double *x[3] = {d->now.x, d->middle.x, d->next.x};
    double d2[2][3] = {{0}}, end[2][2], work[2];

    dynamics_rows(p, &d->next);
    const bool changes = w->changes || energy_loads_change(d, &d->middle);
    for (int k = changes ? 0 : 2; k < 3; ++k) {
        energy_ends(d, changes, x[k], end);
        for (int part = 0; part < 2; ++part) {
            d2[part][k] = (end[part][1] - end[part][0]) / (1 - TR_GAMMA);
        }
    }

    for (int part = 0; part < 2; ++part) {
        work[part] = w->start[part] - end[part][1] + (changes ? energy_rates(w, part, d2[part]) : 0);
    }

    for (int i = 0; i < p->row_count; ++i) {
        const dynamics_point *at[3] = {&d->now, &d->middle, &d->next};
        double force[3], measure[3];
        for (int k = 0; k < 3; ++k) {
            force[k] = at[k]->force[i];
            measure[k] = at[k]->measure[i];
        }
        work[0] -= p->row[i].constraint ? energy_row(force, measure) : 0;
    }

    energy->actuators += work[0];
    energy->loads += work[1];
}

// Work of the inertia in the frame of the supports: -int a . dS with S = sum M (x - start).
void dynamics_work_base(pl_dynamics *d, pl_motion_energy *energy)
{
    const dynamics_point *at[3] = {&d->now, &d->middle, &d->next};
    double a[3][3], S[3][3] = {{0}};

    for (int k = 0; k < 3; ++k) {
        double *moved = d->newton.work.x_trial;
        for (int64_t i = 0; i < dynamics_full(d); ++i) {
            moved[i] = at[k]->x[i] - d->start[i];
        }
        dynamics_mass_multiply(d->inertia, moved, d->inertia->product);
        for (int64_t i = 0; i < dynamics_full(d); ++i) {
            S[i % 3][k] += d->inertia->product[i];
        }
        for (int i = 0; i < 3; ++i) {
            a[i][k] = at[k]->base[i];
        }
    }

    for (int i = 0; i < 3; ++i) {
        energy->loads -= energy_row(a[i], S[i]);
    }
}

double dynamics_kinetic(const pl_dynamics *d, const double *v)
{
    dynamics_mass_multiply(d->inertia, v, d->inertia->product);
    return 0.5 * pl_newton_dot(v, d->inertia->product, dynamics_full(d));
}

double dynamics_stored(pl_dynamics *d, const double *x)
{
    pl_viscous_off(d->viscous);
    return pl_problem_elastic(d->problem, x, NULL) - pl_softening_heat(d->softening) +
           energy_of(d->problem, PART_STORED, x);
}

pl_motion_energy pl_dynamics_energy(pl_dynamics *d)
{
    pl_motion_energy e = d->energy;
    if (!d->started) {
        return e;
    }
    e.kinetic = dynamics_kinetic(d, d->now.v);
    e.elastic = dynamics_stored(d, d->now.x);
    e.damped += pl_softening_heat(d->softening) - d->softened_start;
    e.imbalance = d->energy_known
                      ? e.kinetic + e.elastic + e.viscous + e.damped - d->energy_start - e.actuators - e.loads
                      : NAN;

    // the tensions of a cable that rubs have no potential
    for (int i = 0; i < d->robot->actuator_count; ++i) {
        e.actuators = d->robot->actuator[i].friction > 0 ? NAN : e.actuators;
    }

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
