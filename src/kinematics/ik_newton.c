// The solver: Gauss-Newton steps in a box of trust, each an exact quadratic problem with the bounds on
// commands, rates and (to first order) efforts,
//   min 1/2 |r + J p|^2 + 1/2 p.S p,   z + p within its box,   e + E p within the efforts' bounds.
// J is exact where it was made and carried along by Broyden's updates; it is computed again when a step
// gained less than it should. Far from reach, where |r| stays large, J is made at every point, and S gathers
// the second derivatives J^T J leaves out from its differences (SR1). A trial that breaks a bound on an
// effort is not taken: the bound is moved in by what was missed and the step computed again.
#include <stdio.h>
#include "kinematics/kinematics_impl.h"
#include "solver/solver.h"

#define FAILURES 8      // forward solves that may fail in a solve
#define AIM_INSIDE 1e-7 // efforts are steered this far (of their scale) inside their bounds

// Largest component of a step, in parts of the ranges.
static double largest_of(const double *v, int n)
{
    double largest = 0;
    for (int j = 0; j < n; ++j) {
        largest = fmax(largest, fabs(v[j]));
    }
    return largest;
}

// g = J^T r
static void newton_gradient(const pl_ik *ik, const double *J, const double *r, double *g)
{
    memset(g, 0, (size_t)ik->n * sizeof *g);
    for (int i = 0; i < ik->goal.rows; ++i) {
        for (int j = 0; j < ik->n; ++j) {
            g[j] += J[(int64_t)i * ik->n + j] * r[i];
        }
    }
}

// The rows of both sides of every bounded effort, over its scale: a . p <= b. Returns their number.
int ik_effort_rows(pl_ik *ik, double *a, double *b, bool with_margin)
{
    int count = 0;
    for (int i = 0; i < ik->bound_count; ++i) {
        const ik_bound *bound = &ik->bound[i];

        for (int side = 0; side < 2; ++side) {
            const double limit = side ? bound->high : bound->low, sign = side ? 1 : -1;
            const double room = sign * (limit - ik->here.y[bound->row]) / bound->scale;
            const double kept = AIM_INSIDE + (with_margin ? bound->margin[side] : 0);
            b[count] = fmax(room - kept, 0); // INFINITY when there is no such bound
            for (int j = 0; j < ik->n; ++j) {
                a[count * ik->n + j] = sign * ik->local.E[(int64_t)i * ik->n + j] / bound->scale;
            }
            ++count;
        }
    }

    return count;
}

// The quadratic problem with the first `rows` of row_a, row_b; the step is left
// in local.p. False: no solution.
bool ik_quadratic_step(pl_ik *ik, const double *H, const double *g, int rows)
{
    const pl_quadratic_problem problem = {.n = ik->n,
                                          .rows = rows,
                                          .H = H,
                                          .g = g,
                                          .low = ik->local.step_low,
                                          .high = ik->local.step_high,
                                          .a = ik->local.row_a,
                                          .b = ik->local.row_b,
                                          .p = ik->local.p,
                                          .box = ik->local.box_multiplier,
                                          .multiplier = ik->local.row_multiplier};
    return pl_quadratic_solve(ik->quadratic, &problem);
}

// H = J^T J + S, made positive definite by a multiple of the identity.
static void newton_matrix(pl_ik *ik)
{
    const int n = ik->n;
    double *H = ik->local.H, trace = 0;

    // S, if second derivatives are in use, and J^T J
    for (int a = 0; a < n; ++a) {
        for (int b = 0; b < n; ++b) {
            H[a * n + b] = ik->local.second_order ? ik->local.S[a * n + b] : 0;
        }
    }

    for (int i = 0; i < ik->goal.rows; ++i) {
        const double *row = ik->local.J + (int64_t)i * n;
        for (int a = 0; a < n; ++a) {
            for (int b = 0; b < n; ++b) {
                H[a * n + b] += row[a] * row[b];
            }
            trace += row[a] * row[a];
        }
    }

    // without the shift: for the decrease that a step promises
    memcpy(ik->local.model_H, H, (size_t)(n * n) * sizeof *H);
    double shift = 1e-12 * trace + 1e-300;

    // S may be indefinite: shift by its smallest eigenvalue
    if (ik->local.second_order) {
        memcpy(ik->local.work, H, (size_t)(n * n) * sizeof *H);
        pl_dense_eigen(n, ik->local.work, ik->local.eigen, NULL);
        shift = fmax(shift, 1e-6 * trace - ik->local.eigen[0]);
    }

    for (int a = 0; a < n; ++a) {
        H[a * n + a] += shift;
    }
}

// The step p from `here` and the decrease it promises; -1 when there is none.
static double newton_step(pl_ik *ik)
{
    const int n = ik->n;

    // bounds of commands, efforts and coordinates
    ik_kinks_box(ik, ik->search.radius, ik->local.step_low, ik->local.step_high);
    int rows = ik_effort_rows(ik, ik->local.row_a, ik->local.row_b, true);
    rows += ik_kinks_rows(ik, ik->local.row_a + rows * n, ik->local.row_b + rows);
    if (!ik_quadratic_step(ik, ik->local.H, ik->local.g, rows)) {
        return -1;
    }

    // -(g.p + 1/2 p.H p)
    double promised = 0;
    for (int a = 0; a < n; ++a) {
        double Hp = 0;
        for (int b = 0; b < n; ++b) {
            Hp += ik->local.model_H[a * n + b] * ik->local.p[b];
        }
        promised -= ik->local.p[a] * (ik->local.g[a] + 0.5 * Hp);
    }

    return promised;
}

// The projected gradient: with f = g / (|J| |r|), of length 1 at most, q = argmin 1/2 |q|^2 + f.q under the
// bounds linearised at `here` is 0 exactly at points that satisfy the first-order conditions. Returns |q| and
// leaves the multipliers of the bounds, in the units of g.
static double newton_stationarity(pl_ik *ik)
{
    const int n = ik->n;

    // f = g / (|J| |r|)
    double norm_J = 0;

    for (int64_t i = 0; i < (int64_t)ik->goal.rows * n; ++i) {
        norm_J += ik->local.J[i] * ik->local.J[i];
    }

    const double scale = sqrt(norm_J) * sqrt(2 * ik->here.value);

    // identity as the matrix
    memset(ik->local.work, 0, (size_t)(n * n) * sizeof *ik->local.work);
    for (int j = 0; j < n; ++j) {
        ik->local.work[j * n + j] = 1;
        ik->local.step[j] = scale > 0 ? ik->local.g[j] / scale : 0;
    }

    ik_kinks_box(ik, INFINITY, ik->local.step_low, ik->local.step_high);
    int rows = ik_effort_rows(ik, ik->local.row_a, ik->local.row_b, false);
    rows += ik_kinks_rows(ik, ik->local.row_a + rows * n, ik->local.row_b + rows);
    if (!ik_quadratic_step(ik, ik->local.work, ik->local.step, rows)) {
        return NAN;
    }

    double length = 0;
    for (int j = 0; j < n; ++j) {
        length += ik->local.p[j] * ik->local.p[j];
        ik->local.box_multiplier[j] *= scale;
    }

    for (int i = 0; i < rows; ++i) {
        ik->local.row_multiplier[i] *= scale;
    }

    return sqrt(length);
}

// J, E and g at `here` from the Jacobian of the outputs.
static void newton_linear(pl_ik *ik)
{
    const int first = ik->goal.row[ik->goal.objective_count];
    ik_jacobian(ik, &ik->here, ik->local.J, ik->local.E);
    for (int j = 0; ik->kink.on && ik->kink.active && j < ik->n; ++j) {
        if (ik->kink.tension[j]) {
            ik->local.J[(int64_t)(first + j) * ik->n + j] = 0; // least motion is of commands
        }
    }

    newton_gradient(ik, ik->local.J, ik->here.r, ik->local.g);
}

// For callers with their own Jacobian: linear model, matrix and step; the decrease promised.
double ik_newton_step(pl_ik *ik)
{
    newton_linear(ik);
    newton_matrix(ik);
    return newton_step(ik);
}

// J and E at `here`, from an exact Jacobian of the outputs when `exact`.
pl_status ik_linearise(pl_ik *ik, bool exact, pl_error *err)
{
    if (exact && !ik->slope.fresh) {
        const pl_status status = ik_outputs_differentiate(ik, ik->local.second_order ? 0 : IK_JACOBIAN, err);
        if (status != PL_OK) {
            return status;
        }
    }

    ik_kinks_choose_sides(ik);
    newton_linear(ik);
    return PL_OK;
}

// Evaluates the projected gradient at the final point with an exact Jacobian, for the report.
pl_status ik_certify(pl_ik *ik, pl_error *err)
{
    const pl_status status = ik_linearise(ik, true, err);
    ik->record.gradient = status == PL_OK ? newton_stationarity(ik) : NAN;
    return status;
}

// S p = (J - J_old)^T r + (E - E_old)^T mu by a symmetric rank-one change; J_old and r belong to both ends.
static void newton_curvature(pl_ik *ik, const double *s)
{
    const int n = ik->n;

    // v = (change of the gradient by curvature) - S s
    double *v = ik->local.work, along = 0, size = 0, length = 0;

    for (int j = 0; j < n; ++j) {
        v[j] = 0;
        for (int i = 0; i < ik->goal.rows; ++i) {
            v[j] += (ik->local.J[(int64_t)i * n + j] - ik->local.J_old[(int64_t)i * n + j]) * ik->here.r[i];
        }
        for (int i = 0; i < ik->bound_count; ++i) {
            const double mu = (ik->local.mu_old[2 * i + 1] - ik->local.mu_old[2 * i]) / ik->bound[i].scale;
            v[j] += (ik->local.E[(int64_t)i * n + j] - ik->local.E_old[(int64_t)i * n + j]) * mu;
        }

        for (int k = 0; k < n; ++k) {
            v[j] -= ik->local.S[j * n + k] * s[k];
        }
    }

    for (int j = 0; j < n; ++j) {
        along += v[j] * s[j];
        size += v[j] * v[j];
        length += s[j] * s[j];
    }

    // the update is skipped where its denominator is rounding
    if (fabs(along) <= 1e-8 * sqrt(size * length)) {
        return;
    }

    for (int a = 0; a < n; ++a) {
        for (int b = 0; b < n; ++b) {
            ik->local.S[a * n + b] += v[a] * v[b] / along;
        }
    }
}

// ---- efforts outside their bounds at the start

// H and g of the violations v, each a little more than it is so that its effort ends inside:
// 1/2 sum (v + E p)^2 and a little of |p|^2.
static void restore_matrix(pl_ik *ik)
{
    const int n = ik->n;
    memset(ik->local.H, 0, (size_t)(n * n) * sizeof *ik->local.H);
    memset(ik->local.g, 0, (size_t)n * sizeof *ik->local.g);
    for (int j = 0; j < n; ++j) {
        ik->local.H[j * n + j] = 1e-8;
    }

    // only violated bounds count, each with a margin of 1e-3 of its scale
    for (int i = 0; i < ik->bound_count; ++i) {
        const ik_bound *b = &ik->bound[i];
        const double *E = ik->local.E + (int64_t)i * n, e = ik->here.y[b->row];
        const double over = e > b->high ? e - b->high : e < b->low ? e - b->low : 0;
        const double v = over != 0 ? over / b->scale + copysign(1e-3, over) : 0;

        for (int j = 0; v != 0 && j < n; ++j) {
            ik->local.g[j] += E[j] / b->scale * v;
            for (int k = 0; k < n; ++k) {
                ik->local.H[j * n + k] += E[j] * E[k] / (b->scale * b->scale);
            }
        }
    }
}

// A step towards the bounds into `trial`; false when there is none.
static bool restore_step(pl_ik *ik, double radius)
{
    restore_matrix(ik);
    ik_kinks_box(ik, radius, ik->local.step_low, ik->local.step_high);
    const int rows = ik_kinks_rows(ik, ik->local.row_a, ik->local.row_b);
    if (radius < 1e-6 || !ik_quadratic_step(ik, ik->local.H, ik->local.g, rows) ||
        !(largest_of(ik->local.p, ik->n) > 1e-9)) {
        return false;
    }

    ik_kinks_apply(ik, ik->local.p, ik->trial.z);

    return true;
}

// Gauss-Newton on the violations alone, until they are gone. A limit that comes before does not decide about
// the goals: the commands then violate their bounds.
static pl_status newton_restore(pl_ik *ik, pl_ik_outcome *outcome, pl_error *err)
{
    double radius = 0.25;
    pl_status status = PL_OK;

    while (status == PL_OK && ik->here.excess > IK_HOLDS) {
        if (!ik_go_on(ik, outcome)) {
            if (*outcome == PL_IK_LIMIT) {
                *outcome = PL_IK_INFEASIBLE;
                snprintf(
                    ik->record.message, sizeof ik->record.message,
                    "the iteration or time limit was reached before the efforts were within their bounds");
            }

            return PL_OK;
        }

        status = ik_linearise(ik, true, err);
        if (status != PL_OK) {
            return status;
        }
        if (!restore_step(ik, radius)) {
            *outcome = PL_IK_INFEASIBLE;
            return PL_OK;
        }

        // accept what reduces the largest violation
        bool solved;
        ++ik->search.steps;
        status = ik_go(ik, &ik->trial, &solved, err);
        if (status == PL_OK && solved && ik->trial.excess < ik->here.excess) {
            ik_swap(&ik->here, &ik->trial);
            ik->slope.fresh = false;
            status = pl_model_keep(ik->model, PL_SLOT_IK_HERE, err);
        } else if (status == PL_OK) {
            status = pl_model_recall(ik->model, PL_SLOT_IK_HERE, err);
            radius = 0.25 * fmin(radius, largest_of(ik->local.p, ik->n));
        }
    }

    return status;
}

// ---- leaving points that are stationary without being least

// Both senses along eigenvector k of J^T J; `*left` when one leads to a lower point, where model and
// `here` are then.
static pl_status escape_along(pl_ik *ik, int k, int *probes, bool *left, pl_error *err)
{
    const int n = ik->n;
    pl_status status = PL_OK;

    for (int sign = -1; status == PL_OK && !*left && sign <= 1; sign += 2) {
        // a probe of 5 % of the ranges; components at active bounds stay
        double step = 0;
        for (int j = 0; j < n; ++j) {
            ik->local.p[j] =
                ik->local.box_multiplier[j] != 0 ? 0 : 0.05 * sign * ik->local.eigenvector[j * n + k];
        }

        ik_kinks_apply(ik, ik->local.p, ik->trial.z);
        for (int j = 0; j < n; ++j) {
            step = fmax(step, fabs(ik->trial.z[j] - ik->here.z[j]));
        }

        // bounds leave no room
        if (step < 0.005) {
            continue;
        }
        bool solved;
        ++*probes;
        status = ik_go(ik, &ik->trial, &solved, err);
        if (status == PL_OK && solved && ik->trial.excess <= IK_HOLDS &&
            ik->trial.value < ik->here.value * (1 - 1e-6)) {
            *left = true;
            ik_swap(&ik->here, &ik->trial);
            ik->slope.fresh = ik->slope.known = false;
            status = pl_model_keep(ik->model, PL_SLOT_IK_HERE, err);
        } else if (status == PL_OK) {
            status = pl_model_recall(ik->model, PL_SLOT_IK_HERE, err);
        }
    }

    return status;
}

// Is an axis more than a right angle off? Exactly opposite is the farthest it can be, and stationary.
static bool escape_turned_away(const pl_ik *ik)
{
    for (int i = 0; i < ik->goal.objective_count; ++i) {
        if (ik->goal.objective[i].kind == PL_OBJECTIVE_DIRECTION && ik_deviation(ik, &ik->here, i) > 1.41) {
            return true;
        }
    }

    return false;
}

// At a stationary point short of the goal, looks along the directions in which J says little (a straight arm,
// a slack cable) for a lower point, and where an axis points away along those in which it says most. `*left`:
// found, the model and `here` are there.
static pl_status newton_escape(pl_ik *ik, bool *left, pl_error *err)
{
    const int n = ik->n;
    *left = false;

    // J^T J of the goals, without commands at their bounds
    for (int a = 0; a < n; ++a) {
        for (int b = 0; b < n; ++b) {
            double sum = 0;
            for (int i = 0; i < ik->goal.row[ik->goal.objective_count]; ++i) {
                sum += ik->local.J[(int64_t)i * n + a] * ik->local.J[(int64_t)i * n + b];
            }
            const bool pinned = ik->local.box_multiplier[a] != 0 || ik->local.box_multiplier[b] != 0;
            ik->local.H[a * n + b] = pinned ? 0 : sum;
        }
    }

    pl_dense_eigen(n, ik->local.H, ik->local.eigen, ik->local.eigenvector);

    // directions of largest derivative, where an axis points away
    const bool away = escape_turned_away(ik);
    pl_status status = PL_OK;
    int probes = 0;
    for (int k = n - 1; away && status == PL_OK && !*left && k >= 0 && probes < 4; --k) {
        status = escape_along(ik, k, &probes, left, err);
    }

    // directions in which J is nearly singular: derivatives below 3 % of the largest
    probes = 0;
    for (int k = 0; status == PL_OK && !*left && k < n && probes < 6; ++k) {
        if (ik->local.eigen[k] > 1e-3 * ik->local.eigen[n - 1]) {
            break;
        }
        status = escape_along(ik, k, &probes, left, err);
    }

    return status;
}

// ---- one solve

typedef struct newton_state {
    double promised; // by the last step computed
    double before;   // |r| before the last step taken
    int flat;        // steps in a row below the noise of the forward solve
    int escapes;     // attempts to leave a stationary point
} newton_state;

// Efforts of the trial beyond their bounds: their margin grows by 1.5 times that
// much. True when there were any.
static bool newton_hold_back(pl_ik *ik)
{
    bool any = false;
    for (int i = 0; i < ik->bound_count; ++i) {
        ik_bound *b = &ik->bound[i];
        const double e = ik->trial.y[b->row];
        const double over[2] = {(b->low - e) / b->scale, (e - b->high) / b->scale};

        for (int side = 0; side < 2; ++side) {
            if (over[side] > IK_HOLDS) {
                b->margin[side] += 1.5 * over[side] + 1e-7;
                any = true;
            }
        }
    }

    return any;
}

// Margins belong to one point.
static void newton_forget_margins(pl_ik *ik)
{
    for (int i = 0; i < ik->bound_count; ++i) {
        ik->bound[i].margin[0] = ik->bound[i].margin[1] = 0;
    }
}

// J, E and multipliers before they are evaluated again, for the curvature S.
static void newton_remember(pl_ik *ik)
{
    memcpy(ik->local.J_old, ik->local.J, (size_t)ik->goal.rows * (size_t)ik->n * sizeof *ik->local.J);
    memcpy(ik->local.E_old, ik->local.E, (size_t)ik->bound_count * (size_t)ik->n * sizeof *ik->local.E);
    memcpy(ik->local.mu_old, ik->local.row_multiplier,
           2 * (size_t)ik->bound_count * sizeof *ik->local.mu_old);
    ik->local.signature = ik_kinks_signature(ik);
}

// Takes the trial as the new point. In the second-order mode J is made there and S learns from its change.
static pl_status newton_accept(pl_ik *ik, double ratio, pl_error *err)
{
    const double length = largest_of(ik->local.p, ik->n), before = ik->here.value;
    memcpy(ik->local.step, ik->local.p, (size_t)ik->n * sizeof *ik->local.p);
    ik_swap(&ik->here, &ik->trial);
    ++ik->record.iterations;
    newton_forget_margins(ik);

    // trust radius from the decrease
    if (ik->here.value < 0.25 * before) {
        // where |r| falls fast the next step is shorter; a longer one would only move idle commands about
        ik->search.radius = fmin(ik->search.radius, length);
    } else if (ratio > 0.75) {
        ik->search.radius = fmin(fmax(ik->search.radius, 2.5 * length), 1);
    } else if (ratio < 0.25) {
        ik->search.radius = 0.5 * length;
    }

    ik->search.radius = fmin(ik->search.radius, ik->search.reach);

    // the new point is stored; coordinates may have changed there
    pl_status status = pl_model_keep(ik->model, PL_SLOT_IK_HERE, err);
    if (ik_kinks_present(ik)) {
        ik->slope.known = ik->slope.fresh = false;
    }
    if (ik->here.value < 0.02 * before) {
        ik->local.second_order = false; // |r| falls fast: J^T J says enough
    }

    // second-order mode: S is updated by the change of J
    if (status == PL_OK && ik->local.second_order) {
        // S = sum r_i r_i'' shrinks with r
        const double size = fmin(1, sqrt(ik->here.value / before));
        for (int i = 0; i < ik->n * ik->n; ++i) {
            ik->local.S[i] *= size;
        }
        newton_remember(ik);
        status = ik_linearise(ik, true, err);
        if (status == PL_OK && ik->local.signature != ik_kinks_signature(ik)) {
            memset(ik->local.S, 0, (size_t)(ik->n * ik->n) * sizeof *ik->local.S); // of other coordinates
        } else if (status == PL_OK) {
            newton_curvature(ik, ik->local.step);
        }
    }

    return status;
}

// The trial was not accepted: back, and an exact Jacobian or a shorter step.
static pl_status newton_reject(pl_ik *ik, bool bounds_only, pl_error *err)
{
    const double length = largest_of(ik->local.p, ik->n);
    const bool was_fresh = ik->local.was_fresh;
    pl_status status = pl_model_recall(ik->model, PL_SLOT_IK_HERE, err);

    if (status != PL_OK) {
        return status;
    }
    if (!was_fresh) {
        ik->slope.fresh = false;
        return ik_linearise(ik, true, err);
    }

    if (!bounds_only || ++ik->search.held_back > 3) {
        ik->search.radius = 0.25 * fmin(ik->search.radius, length);
        ik->search.held_back = 0;
    }

    return PL_OK;
}

// From now on with S, which starts at 0.
static void newton_go_second_order(pl_ik *ik)
{
    if (!ik->local.second_order) {
        ik->local.second_order = true;
        memset(ik->local.S, 0, (size_t)(ik->n * ik->n) * sizeof *ik->local.S);
    }
}

// At a point whose Jacobian is exact: is it stationary? Sets the outcome when the solve ends here.
// n->flat: steps below the noise.
static pl_status newton_judge(pl_ik *ik, newton_state *n, bool no_step, bool *ended, pl_ik_outcome *outcome,
                              pl_error *err)
{
    double distance;
    const double error = ik_error(ik, &ik->here, &distance);

    if (ik->kink.on && ik->kink.active) {
        ik_kinks_choose_sides(ik);
        newton_linear(ik);
    }

    ik->record.gradient = newton_stationarity(ik);
    *ended = false;

    // below sqrt(noise) values no longer tell steps apart; gradients still do
    const bool stationary = ik->record.gradient <= IK_STATIONARY;
    const bool stuck = no_step || n->flat > 3;
    if (!stationary && !stuck) {
        return PL_OK;
    }

    // stationary and within the tolerance
    if (error <= 1) {
        *outcome = PL_IK_REACHED;
        *ended = true;
        return PL_OK;
    }

    // stationary without meeting the goals: look for a lower point nearby
    bool left = false;
    if (ik->search.escape && n->escapes < 3) {
        ++n->escapes;
        const pl_status status = newton_escape(ik, &left, err);
        if (status != PL_OK || left) {
            n->flat = 0;
            ik->search.radius = fmax(ik->search.radius, 0.1);
            return status;
        }

        // the probes used the work arrays
        const pl_status again = ik_linearise(ik, true, err);
        if (again != PL_OK) {
            return again;
        }
        ik->record.gradient = newton_stationarity(ik);
    }

    // nearest: the gradient is small, to the accuracy of the forward solves
    *ended = true;
    *outcome = ik->record.gradient <= 100 * IK_STATIONARY ? PL_IK_NEAREST : PL_IK_STALLED;

    return PL_OK;
}

// With commands at the kink of one-sided commands: the sides whose step promises most.
static void newton_pick_sides(pl_ik *ik)
{
    // all combinations of sides, at most 16
    const int sides = ik_kinks_side_count(ik);
    double best = -INFINITY;
    unsigned which = 0;

    for (unsigned bits = 0; sides > 0 && bits < 1u << sides; ++bits) {
        ik_kinks_set_sides(ik, bits);
        newton_linear(ik);
        newton_matrix(ik);
        const double promised = newton_step(ik);
        if (promised > best) {
            best = promised;
            which = bits;
        }
    }

    if (sides > 0) {
        ik_kinks_set_sides(ik, which);
        newton_linear(ik);
    }
}

// The step p and what it promises; false when no step is left.
static bool newton_propose(pl_ik *ik, newton_state *n)
{
    newton_pick_sides(ik);
    newton_matrix(ik);
    n->promised = newton_step(ik);

    if (ik->local.second_order && n->promised > ik->here.value) {
        // no sum of squares falls below 0: S is wrong
        memset(ik->local.S, 0, (size_t)(ik->n * ik->n) * sizeof *ik->local.S);
        newton_matrix(ik);
        n->promised = newton_step(ik);
    }

    if (ik->slope.bent) {
        ik_outputs_bend(ik, -1); // for one step only: the updates go on from what was seen
    }

    const bool spent = ik->search.radius < 1e-9 || ik->search.failures > FAILURES;

    return n->promised > 1e-14 * ik->here.value && largest_of(ik->local.p, ik->n) >= 1e-10 && !spent;
}

// A trial whose shape is known: accepted, or rejected with what follows from that.
static pl_status newton_weigh(pl_ik *ik, newton_state *n, bool first, pl_error *err)
{
    const double gained = ik->here.value - ik->trial.value, ratio = gained / n->promised,
                 length = largest_of(ik->local.p, ik->n);
    pl_log(2, "  ik: value %.6e -> %.6e, promised %.2e, ratio %.3f, step %.2e, radius %.2e%s%s",
           ik->here.value, ik->trial.value, n->promised, ratio, length, ik->search.radius,
           ik->local.was_fresh ? ", fresh" : "", ik->local.second_order ? ", second order" : "");

    // a violated bound on an effort rejects the step
    if (newton_hold_back(ik)) {
        return newton_reject(ik, true, err);
    }

    // changes at the level of rounding neither prove nor disprove a step
    const bool noise = n->promised < 1e-6 * ik->here.value && fabs(gained) < 1e-6 * ik->here.value;
    const bool good = ratio > 1e-4 && gained > 0;
    n->flat = noise ? n->flat + 1 : 0;
    if (!good && !(noise && ik->local.second_order)) {
        newton_go_second_order(ik);
        return newton_reject(ik, false, err);
    }

    // updates from what was seen
    if (first && !(ik->kink.on && ik->kink.active)) {
        ik_outputs_note_bend(ik, &ik->here, &ik->trial);
    }
    ik_outputs_update(ik, &ik->here, &ik->trial);

    // a slow decrease: second derivatives count
    const bool slow = ik->trial.value > 0.25 * ik->here.value;
    if (slow && ik->local.was_fresh && length < 0.99 * ik->search.radius) {
        newton_go_second_order(ik); // a full step with an exact Jacobian gained little: |r| will stay large
    }
    ik->search.renew = ik->trial.value > 0.02 * ik->here.value;

    return newton_accept(ik, ratio, err);
}

// One trial: a step, the forward solve, the decision. `*no_step` when no step is left.
static pl_status newton_try(pl_ik *ik, newton_state *n, bool *no_step, pl_error *err)
{
    const bool first = ik->record.iterations == 0 && ik->search.steps == 0;
    *no_step = !newton_propose(ik, n);
    if (*no_step) {
        return PL_OK;
    }
    ik_kinks_apply(ik, ik->local.p, ik->trial.z);
    bool solved;
    ++ik->search.steps;
    ik->local.was_fresh = ik->slope.fresh;
    pl_status status = ik_go(ik, &ik->trial, &solved, err);
    if (status != PL_OK || ik->search.interrupted) {
        return status == PL_OK ? pl_model_recall(ik->model, PL_SLOT_IK_HERE, err) : status;
    }
    if (solved) {
        return newton_weigh(ik, n, first, err);
    }

    // forward solves that fail cost most: no longer steps from now on
    ik->search.failures++;
    ik->search.reach = 0.5 * largest_of(ik->local.p, ik->n);
    status = newton_reject(ik, false, err);
    ik->search.radius = fmin(ik->search.radius, ik->search.reach);

    return status;
}

// From `here`, where the model is solved. Leaves the best point there and in the model.
pl_status ik_newton(pl_ik *ik, pl_ik_outcome *outcome, pl_error *err)
{
    // a new solve
    newton_state n = {0};
    ik->search.radius = 0.5;
    ik->search.reach = 1;
    ik->search.failures = 0;
    ik->local.second_order = ik->search.renew = false;
    ik->search.held_back = 0;
    newton_forget_margins(ik);
    *outcome = PL_IK_STALLED;

    // first into the bounds on efforts
    pl_status status = PL_OK;
    if (ik->here.excess > IK_HOLDS) {
        status = newton_restore(ik, outcome, err);
        if (status != PL_OK || ik->here.excess > IK_HOLDS) {
            return status;
        }
    }

    bool ended = false;
    while (status == PL_OK && !ended) {
        double distance;
        if (ik_error(ik, &ik->here, &distance) <= 1) {
            *outcome = PL_IK_REACHED;
            break;
        }

        if (!ik_go_on(ik, outcome)) {
            break;
        }

        // along a path the Jacobian is extrapolated to the middle of the next step
        if (ik->slope.known && !ik->slope.fresh && !ik->search.renew && ik->search.steps == 0 &&
            ik->slope.bend_scale > 0) {
            ik_outputs_bend(ik, 1);
        }

        // linear model, and whether its point is stationary
        status = ik_linearise(ik, !ik->slope.known || ik->search.renew, err);
        ik->search.renew = false;
        if (status == PL_OK && ik->slope.fresh) {
            status = newton_judge(ik, &n, false, &ended, outcome, err);
        }
        if (status != PL_OK || ended) {
            break;
        }
        if (!ik->slope.known) {
            continue; // left a stationary point
        }

        // one trial; without a step the Jacobian is evaluated again, then the point is final
        bool no_step = false;
        status = newton_try(ik, &n, &no_step, err);
        if (status == PL_OK && no_step && !ik->slope.fresh) {
            ik->search.renew = true;
        } else if (status == PL_OK && no_step) {
            status = newton_judge(ik, &n, true, &ended, outcome, err);
        }
    }

    return status;
}
