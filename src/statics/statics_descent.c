// Equilibrium at one load: L-BFGS preconditioned by a factored tangent that is turned with the body, on the
// manifold of the constraints; Newton steps, warped when they turn, whenever the factor is new.
#include <float.h>
#include "statics/statics_impl.h"

#define DESCENT_FACTORS 12 // most factorisations in one descent

static double dot(const double *a, const double *b, int32_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int32_t i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void memory_clear(pl_statics *s)
{
    s->memory_count = s->memory_first = 0;
}

// Keeps the pair (step, change of residual) when it has positive curvature.
static void memory_add(pl_statics *s, const double *step, double scale, const double *r_new,
                       const double *r_old)
{
    int at = (s->memory_first + s->memory_count) % STATICS_MEMORY;
    if (s->memory_count == STATICS_MEMORY) {
        at = s->memory_first;
    }
    double *sk = s->memory_s[at], *yk = s->memory_y[at];
    for (int32_t i = 0; i < s->n; ++i) {
        sk[i] = scale * step[i];
        yk[i] = r_new[i] - r_old[i];
    }
    const double sy = dot(sk, yk, s->n), yy = dot(yk, yk, s->n), ss = dot(sk, sk, s->n);
    if (!(sy > 1e-12 * sqrt(ss * yy))) {
        return;
    }
    s->memory_rho[at] = 1 / sy;
    if (s->memory_count == STATICS_MEMORY) {
        s->memory_first = (s->memory_first + 1) % STATICS_MEMORY;
    } else {
        s->memory_count++;
    }
}

// d = -H r by the two-loop recursion around the bordered solve, then tangential to the constraints up to the
// gaps.
static void descent_direction(pl_statics *s, const double *r, const double *gap, double *d)
{
    double alpha[STATICS_MEMORY], mu[STATICS_BORDERS];
    for (int32_t i = 0; i < s->n; ++i) {
        s->y[i] = -r[i];
    }
    for (int k = s->memory_count - 1; k >= 0; --k) {
        const int at = (s->memory_first + k) % STATICS_MEMORY;
        alpha[at] = s->memory_rho[at] * dot(s->memory_s[at], s->y, s->n);
        for (int32_t i = 0; i < s->n; ++i) {
            s->y[i] -= alpha[at] * s->memory_y[at][i];
        }
    }
    statics_solve_bordered(s, s->y, gap, d, mu);
    for (int k = 0; k < s->memory_count; ++k) {
        const int at = (s->memory_first + k) % STATICS_MEMORY;
        const double beta = s->memory_rho[at] * dot(s->memory_y[at], d, s->n);
        for (int32_t i = 0; i < s->n; ++i) {
            d[i] += (alpha[at] - beta) * s->memory_s[at][i];
        }
    }
}

// Cables take hold when stretched beyond their target and let go when they would push. True when the set
// changed.
static bool descent_active_set(pl_statics *s, bool let_go)
{
    bool changed = false;
    for (int i = 0; i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        if (d->mode != MODE_CONSTRAINT || !d->inequality) {
            continue;
        }
        if (!d->active && d->measure > d->value + 1e-10 * s->robot->actuator[i].rest) {
            d->active = changed = true;
        } else if (let_go && d->active && d->effort < 0 &&
                   d->measure < d->value + 1e-8 * s->robot->actuator[i].rest) {
            d->active = false;
            d->effort = 0;
            changed = true;
        }
    }
    return changed;
}

static double descent_gap(pl_statics *s, double *gap)
{
    double largest = 0;
    statics_gaps(s, gap);
    for (int k = 0; k < s->border_count; ++k) {
        const drive *d = &s->drive[s->border[k]];
        if (d->mode == MODE_CONSTRAINT && d->active) {
            largest = fmax(largest, fabs(gap[k]) / s->robot->actuator[s->border[k]].rest);
        }
    }
    return largest;
}

// One trial: x_trial from x along d, back onto the constraints, energy and gradient there. INFINITY when it
// cannot be.
static double descent_trial(pl_statics *s, const double *x, const double *d, double scale, bool warp,
                            descent *D)
{
    if (warp) {
        for (int32_t i = 0; i < s->n; ++i) {
            s->y[i] = scale * d[i];
        }
        statics_warp(s, x, s->y, s->x_best);
    } else {
        statics_move(s, x, d, scale, s->x_best);
    }
    D->inverted = false;
    D->infeasible = !statics_restore(s, s->x_best, 1e-11);
    if (D->infeasible) {
        return INFINITY;
    }
    const double energy = statics_evaluate(s, s->x_best, s->g_new);
    D->inverted = !isfinite(energy);
    return D->inverted ? INFINITY : energy;
}

// Cost of a factorisation in solves, from counts alone so that the path does not depend on the clock.
static double descent_factor_cost(const pl_statics *s)
{
    const double ratio = pl_factor_flops(s->factor) / (0.5 * (double)pl_factor_bytes(s->factor)) / 10;
    return ratio < 5 ? 5 : ratio > 60 ? 60 : ratio;
}

typedef struct descent_pace {
    double decrement[4]; // the last ones, newest first
    int since_factor;
} descent_pace;

// Would a new factor get there sooner? Extrapolates the decrease of the last three steps.
static bool pace_too_slow(const pl_statics *s, const descent_pace *pace, const descent *D)
{
    // a warm start is near its end: L-BFGS gets time to learn the little that changed
    if (pace->since_factor < (D->predict ? 4 : 12) || pace->decrement[3] <= 0) {
        return false;
    }
    const double rate = cbrt(pace->decrement[0] / pace->decrement[3]);
    if (rate >= 0.98) {
        return true;
    }
    const double wanted = pow(fmin(1, D->length_tolerance / D->step), 2);
    const double remaining = log(wanted) / log(rate);
    return remaining > 1.6 * descent_factor_cost(s) + 4;
}

// What rounding leaves of an energy: near rest that of the strains, which are small differences of numbers
// near 1.
static double descent_noise(const pl_statics *s, double energy)
{
    return 1e-10 * fabs(energy) + 4 * DBL_EPSILON * s->modulus * s->elements->volume;
}

static bool descent_accepts(double before, double after, double slope, double slope_after, double scale,
                            double noise)
{
    if (isinf(after)) {
        return false;
    }
    if (fabs(after - before) <= noise || -slope * scale <= noise) {
        // below the noise of the energy: the slope must have shrunk (approximate Wolfe)
        return fabs(slope_after) <= 0.9 * fabs(slope) || -slope * scale <= 1e-6 * noise;
    }
    return after <= before + 1e-4 * scale * slope;
}

static void pace_note(descent_pace *pace, double decrement)
{
    memmove(pace->decrement + 1, pace->decrement, 3 * sizeof *pace->decrement);
    pace->decrement[0] = decrement;
    pace->since_factor++;
}

// Gradient, multipliers, active set and residual at x. Returns false when the set keeps changing.
static bool descent_look(pl_statics *s, descent *D, int *changes)
{
    for (;;) {
        D->residual = statics_residual(s, s->g, s->r);
        if (!descent_active_set(s, D->residual < 0.05 * statics_force_scale(s))) {
            break;
        }
        memory_clear(s);
        if (++*changes > 40) {
            return false;
        }
    }
    D->relative = D->residual / statics_force_scale(s);
    return true;
}

// The pressures after the step d (scaled), as the linear solve saw them.
static void descent_look_ahead(pl_statics *s, double scale)
{
    for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
        s->pressure_ahead[p] += scale * s->pressure_step[p];
    }
}

typedef struct descent_run {
    descent_pace pace;
    bool at_factor; // the factor was made at x
    double gap[STATICS_BORDERS], opening;
    double slope;
    double blend; // of the next factor
    int changes;
    double scale; // of the step taken
    int factors;  // made so far
    bool warped;
} descent_run;

static bool descent_refactor(pl_statics *s, double *x, descent *D, descent_run *run, const double *pressure,
                             pl_error *err)
{
    // an increment that needs so many is too long: shorter ones are cheaper
    if (++run->factors > DESCENT_FACTORS) {
        return false;
    }
    // a tangent that is barely indefinite often still points downhill: the search will tell
    if (statics_refactor(s, x, run->blend, pressure != NULL, pressure, err) != PL_OK) {
        return false;
    }
    memory_clear(s);
    run->pace = (descent_pace){{0}, 0};
    run->at_factor = true;
    D->energy = statics_evaluate(s, x, s->g);
    return true;
}

// Tries the direction s->d: turned first when that helps, then straight and shorter. A new target may cost
// energy: then only inversion counts, and a long step is the caller's business.
static bool descent_search(pl_statics *s, const double *x, descent *D, descent_run *run, bool predict,
                           double *energy)
{
    double strain;
    const bool moves = run->opening > 1e-8;
    const double noise = descent_noise(s, D->energy);
    const bool warp = (run->at_factor || predict) && s->laplace && s->options.warp &&
                      statics_step_rotation(s, x, s->d, &strain) > 0.02;
    run->scale = 1;
    for (int attempt = 0; attempt < (moves ? 2 : 12); ++attempt) {
        run->warped = warp && attempt < 3;
        *energy = descent_trial(s, x, s->d, run->scale, run->warped, D);
        if (!isinf(*energy)) {
            // on the constraints the slope is that of the residual: g also has the part along their rows
            statics_residual(s, s->g_new, s->y);
            const double after = dot(s->y, s->d, s->n);
            if (moves || descent_accepts(D->energy, *energy, run->slope, after, run->scale, noise)) {
                return true;
            }
        }
        run->scale *= attempt == 2 && warp ? 2 : 0.5;
    }
    return false;
}

// Takes the step found: x, gradient, curvature pair or a turned factor. False: the new factor failed.
static bool descent_take(pl_statics *s, double *x, double energy, descent *D, descent_run *run, bool predict,
                         pl_error *err)
{
    memcpy(x, s->x_best, 3 * (size_t)s->mesh.vertex_count * sizeof *x);
    memcpy(s->y, s->r, (size_t)s->n * sizeof *s->r);
    memcpy(s->g, s->g_new, (size_t)s->n * sizeof *s->g);
    D->energy = energy;
    run->blend = 0;
    D->relative = statics_residual(s, s->g, s->r) / statics_force_scale(s);
    if (!predict && !run->warped) {
        memory_add(s, s->d, run->scale, s->r, s->y);
        run->at_factor = false;
        return true;
    }
    if (predict && D->relative > 0.05) {
        descent_look_ahead(s, run->scale);
        return descent_refactor(s, x, D, run, s->pressure_ahead, err);
    }
    memory_clear(s);
    run->pace = (descent_pace){{0}, 0};
    run->at_factor = false;
    statics_turn(s, x);
    return true;
}

descent_end statics_descend(pl_statics *s, double *x, descent *D, pl_error *err)
{
    descent_run run = {.at_factor =
                           s->has_factor &&
                           memcmp(s->x_factor, x, 3 * (size_t)s->mesh.vertex_count * sizeof *x) == 0};
    memory_clear(s);
    D->inverted = D->infeasible = false;
    if (!s->has_factor) {
        if (!descent_refactor(s, x, D, &run, NULL, err)) {
            return DESCENT_STUCK;
        }
    } else if (!run.at_factor) {
        statics_turn(s, x);
    }
    D->energy = statics_evaluate(s, x, s->g);
    if (!isfinite(D->energy)) {
        D->inverted = true;
        return DESCENT_STUCK;
    }
    for (int iteration = 0; iteration < D->limit; ++iteration) {
        if (!statics_go_on(s)) {
            return DESCENT_STOPPED;
        }
        if (!descent_look(s, D, &run.changes)) {
            return DESCENT_STUCK;
        }
        run.opening = descent_gap(s, run.gap);
        memcpy(s->pressure_ahead, s->elements->pressure,
               (size_t)s->elements->pressure_count * sizeof(double));
        descent_direction(s, s->r, run.gap, s->d);
        D->step = statics_largest(s, s->d, false);
        run.slope = dot(s->r, s->d, s->n);
        pl_log(2, "    %3d  residual %.2e  step %.2e mm  energy %.8e  gap %.1e%s", iteration, D->relative,
               D->step, D->energy, run.opening, run.at_factor ? "  newton" : "");
        if (D->relative < D->force_tolerance && D->step < D->length_tolerance && run.opening < 1e-9) {
            return DESCENT_DONE;
        }
        s->iterations++;
        pace_note(&run.pace, -run.slope);
        const bool predict = D->predict && iteration == 0;
        const bool uphill = run.slope > 0 && run.opening < 1e-8;
        double energy = INFINITY;
        if (!uphill && (run.at_factor || !pace_too_slow(s, &run.pace, D)) &&
            descent_search(s, x, D, &run, predict, &energy)) {
            if (!descent_take(s, x, energy, D, &run, predict, err)) {
                return DESCENT_STUCK;
            }
            continue;
        }
        // no way along this direction: a new factor, its positive part when the true one was just tried
        if (run.at_factor && (s->blend >= 1 || run.opening > 1e-8)) {
            return DESCENT_STUCK;
        }
        run.blend = run.at_factor ? 1 : 0;
        descent_look_ahead(s, 1);
        if (!descent_refactor(s, x, D, &run, run.blend > 0 ? NULL : s->pressure_ahead, err)) {
            return DESCENT_STUCK;
        }
    }
    return DESCENT_LIMIT;
}
