// How far along a direction: co-rotated where it rotates, bounded in rotation and strain, full where the
// energy falls. Along a mode of negative curvature farther, while it falls. A full step that raises the
// energy may be taken all the same, for a few in a row: the energy of stiff parts falls again when
// their stresses follow.
#include <float.h>
#include "newton/newton_impl.h"

double newton_trial(pl_newton_solver *N, const double *x, double scale, newton_run *run,
                    pl_contact_mode contacts, double *limit)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;

    if (run->turn > NEWTON_STRAIGHT) {
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            N->work.y[i] = scale * N->work.d[i];
        }
        pl_newton_corotate(N, x, N->work.y, N->work.x_best);
    } else {
        pl_problem_move(p, x, N->work.d, scale, N->work.x_best);
    }

    if (newton_predicts(run) && report->predicted == 0) {
        memcpy(N->work.x_predicted, N->work.x_best, pl_problem_full_bytes(p));
        report->predicted = pl_newton_distance(N, N->work.x_best, N->work.x_start);
    }

    // as far as terms allow, back onto the constraints
    report->end = NEWTON_NO_DESCENT;
    *limit = pl_problem_step_limit(p, x, N->work.x_best);
    if (*limit < 1) {
        return INFINITY;
    }
    if (!pl_problem_restore(p, N->work.x_best, NEWTON_GAP)) {
        report->end = NEWTON_INFEASIBLE;
        return INFINITY;
    }

    const double energy = pl_problem_evaluate_as(p, contacts, N->work.x_best, N->work.g_new);
    if (!isfinite(energy)) {
        report->end = NEWTON_INVERTED;
        return INFINITY;
    }

    return energy;
}

// What rounding leaves of an energy: near rest that of the strains, which are small differences of numbers
// near 1.
static double step_noise(const pl_newton_solver *N, double energy)
{
    return NEWTON_ENERGY_NOISE * fabs(energy) +
           4 * DBL_EPSILON * N->problem->modulus * N->problem->elements->volume;
}

// Armijo's test; below the noise of the energy the slope must not have grown (approximate Wolfe).
static bool step_accepts(double before, double after, double slope, double slope_after, double scale,
                         double noise)
{
    if (fabs(after - before) <= noise || -slope * scale <= noise) {
        return fabs(slope_after) <= fabs(slope) || -slope * scale <= DBL_EPSILON * fabs(before);
    }
    return after <= before + NEWTON_ARMIJO * scale * slope;
}

// After an accepted straight step: the secant of the slopes says how much farther or shorter the least energy
// along the direction is. With it the pairs of L-BFGS are those of conjugate gradients, and an evaluation
// costs a fifth of the solve it saves.
static void step_secant(pl_newton_solver *N, const double *x, newton_run *run, double after, double noise,
                        double *energy)
{
    const double factor = run->slope / (run->slope - after);
    if (!(fabs(factor - 1) > NEWTON_COARSE && factor > NEWTON_COARSE && factor < 1 / NEWTON_COARSE)) {
        return;
    }

    double limit;
    const double there = newton_trial(N, x, run->scale * factor, run, PL_CONTACT_ACTS, &limit);
    if (there <= *energy + noise) {
        *energy = there;
        run->scale *= factor;
        return;
    }

    *energy = newton_trial(N, x, run->scale, run, PL_CONTACT_ACTS, &limit);
}

// Along a direction of negative curvature the energy falls farther than the step goes: doubled while it does.
static void step_extend(pl_newton_solver *N, const double *x, newton_run *run, double *energy)
{
    double limit;
    for (int k = 0; k < NEWTON_TRIALS; ++k) {
        const double there = newton_trial(N, x, 2 * run->scale, run, PL_CONTACT_ACTS, &limit);
        if (!(there < *energy)) {
            break;
        }
        run->scale *= 2;
        *energy = there;
    }

    *energy = newton_trial(N, x, run->scale, run, PL_CONTACT_ACTS, &limit);
}

// A full step that raises the energy may be taken all the same: true, the shape before the first of them is
// kept.
static bool step_raises(pl_newton_solver *N, const double *x, newton_run *run)
{
    if (run->factor != FACTOR_FRESH || run->raised < 0 || N->problem->linear.blend > 0 ||
        pl_problem_touches(N->problem)) {
        return false;
    }

    if (run->raised++ == 0) {
        memcpy(N->work.x_reference, x, pl_problem_full_bytes(N->problem));
        run->reference = run->report->energy;
    }

    return true;
}

newton_search_end newton_search(pl_newton_solver *N, const double *x, newton_run *run, double *energy)
{
    pl_problem *p = N->problem;
    const bool fresh = run->factor == FACTOR_FRESH;
    double strain = 0, limit = 1;

    // bounded in rotation and strain; steps with an old factor are short, but for the first one
    const bool rotates = (fresh || run->iteration == 0) && N->corotate && pl_newton_can_corotate(N);

    run->turn = rotates ? pl_newton_step_rotation(N, x, N->work.d, &strain) : 0;
    const double most = run->goal->start == NEWTON_LEAVE ? NEWTON_LEAVE_STEP : NEWTON_STEP;
    run->scale = fmin(1, most / fmax(run->turn, strain));

    // a new target may cost energy: then only inversion counts, and a long step is the caller's business
    const bool moves = run->opening > NEWTON_GAP;
    const double noise = step_noise(N, run->report->energy);
    for (int attempt = 0; attempt < (moves ? 2 : NEWTON_TRIALS); ++attempt) {
        *energy = newton_trial(N, x, run->scale, run,
                               attempt == 0 && fresh ? PL_CONTACT_COUNTED : PL_CONTACT_ACTS, &limit);
        if (isinf(*energy)) {
            run->scale *= limit < 1 ? fmax(NEWTON_COARSE, (1 - NEWTON_COARSE) * limit) : 0.5;
            continue;
        }
        if (moves) {
            return SEARCH_FOUND;
        }
        const int hits = p->contact_hits;

        // on the constraints the slope is that of the residual: g also has the part along their rows
        pl_problem_residual(p, N->work.g_new, N->work.y);
        const double after = pl_newton_dot(N->work.y, N->work.d, p->unknowns.n);
        if (step_accepts(run->report->energy, *energy, run->slope, after, run->scale, noise)) {
            if (p->linear.mode_count > 0 && fresh) {
                step_extend(N, x, run, energy);
            } else if (run->turn <= NEWTON_STRAIGHT) {
                step_secant(N, x, run, after, noise, energy);
            }
            return SEARCH_FOUND;
        }
        if (attempt == 0 && hits > 0 && run->hits < NEWTON_HITS && p->contact_hard > 1) {
            return SEARCH_HIT;
        }
        if (attempt == 0 && run->raised >= NEWTON_RAISED) {
            return SEARCH_NOWHERE; // back to where they began
        }
        if (attempt == 0 && step_raises(N, x, run)) {
            return SEARCH_FOUND;
        }
        run->scale *= 0.5;
    }

    return SEARCH_NOWHERE;
}
