// When a tangent is factored, and with which stresses.
//
// Stresses, pressures and multipliers are iterates: the tangent at x takes those that the last linear step
// predicted, S~ = S + dS/dE : sym(F^T dF), p + dp, mu + dmu (pl_ahead), because those of the shape x contain
// second-order strains of rotated stiff parts. The right side stays the gradient at x.
#include "newton/newton_impl.h"

double pl_newton_factor_cost(const pl_newton_solver *N)
{
    const pl_factor *factor = N->problem->linear.factor;
    const double ratio =
        pl_factor_flops(factor) / (0.5 * (double)pl_factor_bytes(factor)) / NEWTON_FLOPS_PER_BYTE;
    return fmin(fmax(ratio, NEWTON_COST_LEAST), NEWTON_COST_MOST);
}

// ---- pace
void newton_pace_note(newton_pace *pace, double decrement, double length)
{
    memmove(pace->decrement + 1, pace->decrement, 3 * sizeof *pace->decrement);
    memmove(pace->length + 1, pace->length, 2 * sizeof *pace->length);
    pace->decrement[0] = decrement;
    pace->length[0] = length;
    pace->since_factor++;
}

// How far the equilibrium still is after the last step (mm), from how steps have shrunk with this factor:
// theta / (1 - theta) of it. The mean of the last two ratios where the last one is better than it.
double newton_pace_left(const newton_pace *pace)
{
    if (!(pace->length[2] > 0)) {
        return INFINITY;
    }
    const double last = pace->length[0] / pace->length[1], before = pace->length[1] / pace->length[2],
                 theta = sqrt(last * fmax(last, before));
    return theta < NEWTON_SHRINKS ? pace->length[0] * theta / (1 - theta) : INFINITY;
}

// Would a new factor get there sooner? Extrapolates the decrease of the last three steps.
bool newton_pace_slow(const pl_newton_solver *N, const newton_run *run)
{
    const newton_pace *pace = &run->pace;
    const int from = run->goal->predict ? NEWTON_PACE_FROM : NEWTON_PACE_FROM_NEAR;
    if (run->fresh || pace->since_factor < from || pace->decrement[3] <= 0) {
        return false;
    }
    const double rate = cbrt(pace->decrement[0] / pace->decrement[3]);
    if (rate >= NEWTON_PACE_STALLED) {
        return true;
    }
    const double wanted = pow(fmin(1, run->goal->length_tolerance / run->report->step), 2);
    const double remaining = log(wanted) / log(rate);
    return remaining > NEWTON_PACE_BIAS * pl_newton_factor_cost(N) + NEWTON_PACE_EXTRA;
}

// ---- predicted stresses
void newton_note_prediction(pl_newton_solver *N, const double *x, double scale, bool taken)
{
    pl_problem *p = N->problem;
    newton_work *w = &N->work;
    memcpy(w->x_before, x, pl_problem_full_bytes(p));
    if (taken) {
        pl_problem_expand(p, x, w->d, w->dx);
    }
    for (int64_t i = 0; i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
        w->dx[i] = taken ? scale * w->dx[i] : 0;
    }
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        w->pressure_step[k] = scale * p->linear.pressure_step[k];
    }
    memcpy(w->multiplier, w->multiplier_before, sizeof w->multiplier);
    for (int k = 0; taken && k < p->linear.border_count; ++k) {
        w->multiplier[p->linear.border[k]] += scale * w->mu[k];
    }
}

int newton_factor_limit(const newton_run *run)
{
    return run->goal->leave ? NEWTON_FACTORS_LEAVING : NEWTON_FACTORS;
}

bool newton_factor(pl_newton_solver *N, double *x, newton_run *run, bool predicted, pl_error *err)
{
    pl_problem *p = N->problem;
    pl_newton_report *report = run->report;
    if (report->factors >= newton_factor_limit(run)) {
        run->fresh = false;
        pl_newton_turn(N, x);
        return report->relative < NEWTON_REUSE; // it converges: without further ones
    }
    report->factors++;

    // the stresses of a step far longer than the prediction are of no use
    predicted = predicted && (report->predicted == 0 || report->step <= NEWTON_FAR * report->predicted);
    const pl_ahead ahead = {N->work.x_before, N->work.dx, N->work.pressure_before, N->work.pressure_step};
    for (int i = 0; predicted && i < p->row_count; ++i) {
        p->row[i].multiplier = p->row[i].constraint ? N->work.multiplier[i] : p->row[i].multiplier;
    }
    // after a step, x and the residual there are known; contacts may be laid out again
    const bool touches = pl_problem_touches(p), evaluated = run->evaluated && !touches;
    const pl_indefinite indefinite = !touches || run->goal->leave ? PL_MODES_FLIPPED
                                     : predicted                  ? PL_AS_IT_IS
                                                                  : PL_POSITIVE_PART;
    p->tangent.evaluated = evaluated;
    const pl_status status =
        pl_problem_refactor(p, x, run->positive_part, indefinite, predicted ? &ahead : NULL, err);
    p->tangent.evaluated = false;
    if (status != PL_OK) {
        return false;
    }
    report->indefinite = report->indefinite || p->linear.blend > 0 || pl_problem_unstable(p) > 0;
    pl_newton_forget(N);
    run->pace = (newton_pace){0};
    run->fresh = true;
    run->ready = false;
    run->relative_factor = report->relative;
    run->gradient = GRADIENT_TRUE;
    if (!evaluated) {
        report->energy = pl_problem_evaluate(p, x, N->work.g);
    }
    return true;
}
