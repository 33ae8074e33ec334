// When a tangent is factored, and with which stresses.
//
// One rule for old factors (modified Newton). With a factor made at x_f the iteration contracts by theta,
// measured in the energy norm of its directions, n = |d_k| / |d_k-1|; theta grows with the distance from x_f,
// so a factor made here would contract by theta |d_k| / |d_0|, d_0 the first direction with the old one. It
// is made where
//   log(tol / |d|) / log(theta)  >  cost + log(tol / |d|) / log(theta |d_k| / |d_0|),
// the iterations left with either, `cost` that of a factor in solves. Where the next increment of a path
// needs a factor here anyway its cost is 0.
//
// Stresses, pressures and multipliers are iterates: the tangent at x takes those that the last linear step
// predicted, S~ = S + dS/dE : sym(F^T dF), p + dp, mu + dmu (pl_ahead), because those of the shape x contain
// second-order strains of rotated stiff parts. The right side stays the gradient at x.
#include "newton/newton_impl.h"

double pl_newton_factor_cost(const pl_newton_solver *N)
{
    const pl_factor *factor = N->problem->linear.factor;
    // four solves: assembling it, its check, and the direction that led to it
    return 4 + pl_factor_flops(factor) / (0.5 * (double)pl_factor_bytes(factor)) / NEWTON_FLOPS_PER_BYTE;
}

// ---- contraction
void newton_chord_note(newton_chord *chord, double norm, double length)
{
    memmove(chord->norm + 1, chord->norm, (NEWTON_CHORD - 1) * sizeof *chord->norm);
    chord->norm[0] = norm;
    if (chord->count++ == 0) {
        chord->first = norm;
        chord->first_length = length;
    }
}

void newton_chord_drop(newton_chord *chord)
{
    memmove(chord->norm, chord->norm + 1, (NEWTON_CHORD - 1) * sizeof *chord->norm);
    chord->count = chord->count < NEWTON_CHORD ? chord->count - 1 : NEWTON_CHORD - 1;
}

// Contraction per iteration over the last three at most.
static double chord_rate(const newton_chord *chord)
{
    const int steps = chord->count < NEWTON_CHORD ? chord->count - 1 : NEWTON_CHORD - 1;
    return pow(chord->norm[0] / chord->norm[steps], 1.0 / steps);
}

double newton_chord_left(const newton_chord *chord, double length)
{
    if (chord->count < 3) {
        return INFINITY;
    }
    const double last = chord->norm[0] / chord->norm[1], before = chord->norm[1] / chord->norm[2],
                 theta = sqrt(last * fmax(last, before));
    return theta < 0.5 ? length * theta / (1 - theta) : INFINITY; // steps that halve
}

bool pl_newton_renewal_pays(double theta, double gain, double left, double cost)
{
    return left < 1 &&
           (theta >= 1 || log(left) / log(theta) > cost + log(left) / log(fmin(theta * gain, theta)));
}

bool newton_slow(const pl_newton_solver *N, const newton_run *run)
{
    const newton_chord *chord = &run->chord;
    const pl_newton_goal *goal = run->goal;

    // pairs of L-BFGS have to learn first what has changed since a factor from before this iteration was
    // made, and which contacts press: these, not the distance, decide how a factor contracts, and a new one
    // is taken to contract by theta^2
    const bool touches = pl_problem_touches(N->problem);
    const int least = touches && run->report->relative < NEWTON_RELEASE ? NEWTON_PAIRS
                      : chord->known                                    ? 2
                                                                        : NEWTON_CHORD;

    if (run->factor == FACTOR_FRESH || chord->count < least) {
        return false;
    }

    // the energy norm counts stiff parts: while their forces fall, soft ones may go far astray
    if (chord->known && run->report->step > chord->first_length) {
        return true;
    }

    const double force = goal->accepts ? INFINITY : goal->force_tolerance / run->report->relative;
    const double left = fmin(goal->length_tolerance / run->report->step, force);
    const double theta = chord_rate(chord);

    return pl_newton_renewal_pays(theta, touches ? theta : chord->norm[0] / chord->first, fmin(left, 1),
                                  goal->enough > 0 ? 0 : pl_newton_factor_cost(N));
}

// ---- predicted stresses
void newton_note_prediction(pl_newton_solver *N, const double *x, double scale)
{
    pl_problem *p = N->problem;
    newton_work *w = &N->work;

    memcpy(w->x_before, x, pl_problem_full_bytes(p));
    pl_problem_expand(p, x, w->d, w->dx);
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        w->dx[i] *= scale;
    }
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        w->pressure_ahead[k] = w->pressure_before[k];
        w->pressure_step[k] = scale * p->linear.pressure_step[k];
    }

    memcpy(w->multiplier, w->multiplier_before, sizeof w->multiplier);
    for (int k = 0; k < p->linear.border_count; ++k) {
        w->multiplier[p->linear.border[k]] += scale * w->mu[k];
    }
}

void newton_note_equilibrium(pl_newton_solver *N)
{
    pl_problem *p = N->problem;
    newton_work *w = &N->work;

    memcpy(w->x_before, w->x_start, pl_problem_full_bytes(p));
    memset(w->dx, 0, pl_problem_full_bytes(p));
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        w->pressure_ahead[k] = w->pressure_start[k];
        w->pressure_step[k] = 0;
    }

    for (int i = 0; i < p->row_count; ++i) {
        w->multiplier[i] = p->row[i].multiplier;
    }
}

// ---- the factor
bool newton_factor(pl_newton_solver *N, double *x, newton_run *run, pl_linearization at, pl_error *err)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;

    report->factors++;
    const pl_ahead ahead = {N->work.x_before, N->work.dx, N->work.pressure_ahead, N->work.pressure_step};
    const bool predicted = run->factor == FACTOR_STEPPED;
    for (int i = 0; predicted && i < p->row_count; ++i) {
        p->row[i].multiplier = p->row[i].constraint ? N->work.multiplier[i] : p->row[i].multiplier;
    }

    // contacts may be laid out again: they are evaluated at x, and their modes are not flipped
    const bool touches = pl_problem_touches(p);
    at.x = x;
    at.predicted = predicted ? &ahead : NULL;
    at.evaluated = at.evaluated && !touches;
    at.indefinite = !touches || run->goal->start == NEWTON_LEAVE ? PL_MODES_FLIPPED
                    : predicted                                  ? PL_AS_IT_IS
                                                                 : PL_POSITIVE_PART;
    if (pl_problem_refactor(p, &at, err) != PL_OK) {
        return false;
    }
    report->indefinite += p->linear.blend > 0 || pl_problem_unstable(p) > 0;
    pl_newton_forget(N);
    run->chord = (newton_chord){.known = true};
    run->factor = FACTOR_FRESH;
    run->gradient = GRADIENT_TRUE;
    if (!at.evaluated) {
        report->energy = pl_problem_evaluate(p, x, N->work.g);
    }

    return true;
}
