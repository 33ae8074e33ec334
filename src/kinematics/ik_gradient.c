// Gradient descent with the soft line search of Fang et al. 2020 (algorithm 2; algorithm 3 of the
// thesis): shrink the step by tau from 1 until the objective O falls, then enlarge it by the same amount as
// long as it keeps falling. `gradient` takes the gradient from central differences, as published; `descent`
// takes the exact one. O = sum |w d|^2 as there; commands count in parts of their ranges and are cut off at
// their bounds.
#include "kinematics/kinematics_impl.h"

#define SHRINKS 12    // a step of tau^12 is none
#define EXPANSIONS 50 // enough to cross the range from tau = 0.1

// z = clamp(from - h direction)
static void search_point(const pl_ik *ik, const double *from, double h, double *z)
{
    for (int j = 0; j < ik->n; ++j) {
        z[j] = fmin(fmax(from[j] - h * ik->local.g[j], ik->range.now_low[j]), ik->range.now_high[j]);
    }
}

// O at from - h g; INFINITY when the shape cannot be computed there.
static pl_status search_value(pl_ik *ik, double h, double *value, pl_error *err)
{
    bool solved;
    search_point(ik, ik->here.z, h, ik->trial.z);
    const pl_status status = ik_go(ik, &ik->trial, &solved, err);
    *value = solved ? 2 * ik->trial.value : INFINITY;
    return status == PL_OK && !solved ? pl_model_recall(ik->model, 0, err) : status;
}

// dO/dz_j = (O(z + dz e_j) - O(z - dz e_j)) / (2 dz), one-sided at the ends of the range
static pl_status search_difference(pl_ik *ik, pl_error *err)
{
    pl_status status = PL_OK;
    for (int j = 0; status == PL_OK && j < ik->n; ++j) {
        double value[2], at[2];
        for (int side = 0; status == PL_OK && side < 2; ++side) {
            bool solved;
            memcpy(ik->trial.z, ik->here.z, (size_t)ik->n * sizeof *ik->trial.z);
            const double z = ik->here.z[j] + (side ? 1 : -1) * ik->options.difference;
            at[side] = ik->trial.z[j] = fmin(fmax(z, ik->range.now_low[j]), ik->range.now_high[j]);
            status = ik_go(ik, &ik->trial, &solved, err);
            value[side] = solved ? 2 * ik->trial.value : 2 * ik->here.value;
            at[side] = solved ? at[side] : ik->here.z[j];
            if (status == PL_OK && !solved) {
                status = pl_model_recall(ik->model, 0, err);
            }
        }
        ik->local.g[j] = at[1] > at[0] ? (value[1] - value[0]) / (at[1] - at[0]) : 0;
    }
    return status;
}

static pl_status search_exact(pl_ik *ik, pl_error *err)
{
    const pl_status status = ik_outputs_differentiate(ik, ik->options.jacobian_tolerance, err);
    if (status != PL_OK) {
        return status;
    }
    ik_jacobian(ik, &ik->here, ik->local.J, ik->local.E);
    for (int j = 0; j < ik->n; ++j) {
        ik->local.g[j] = 0;
        for (int i = 0; i < ik->goal.rows; ++i) {
            ik->local.g[j] += 2 * ik->local.J[(int64_t)i * ik->n + j] * ik->here.r[i];
        }
    }
    return PL_OK;
}

// Leaves in *h the best step found, 0 when none makes O fall.
static pl_status search_line(pl_ik *ik, double *h, pl_error *err)
{
    const double start = 2 * ik->here.value;
    double step = 1, value, best;
    *h = 0;
    pl_status status = search_value(ik, step, &value, err);
    for (int k = 0; status == PL_OK && !(value < start); ++k) {
        if (k == SHRINKS || ik->search.interrupted) {
            return PL_OK;
        }
        step *= ik->options.shrink;
        status = search_value(ik, step, &value, err);
    }
    best = value;
    *h = step;
    for (int k = 0; status == PL_OK && k < EXPANSIONS && !ik->search.interrupted; ++k) {
        status = search_value(ik, *h + step, &value, err);
        if (!(value < best)) { // `<=` as published would walk on forever once all commands are cut off
            break;
        }
        best = value;
        *h += step;
    }
    return status;
}

pl_status ik_gradient_search(pl_ik *ik, pl_ik_outcome *outcome, pl_error *err)
{
    pl_status status = PL_OK;
    for (;;) {
        double distance, h;
        if (ik_error(ik, &ik->here, &distance) <= 1) {
            *outcome = PL_IK_REACHED;
            return status;
        }
        if (!ik_go_on(ik, outcome)) {
            return status;
        }
        ++ik->search.steps;
        status = ik->options.method == PL_IK_GRADIENT ? search_difference(ik, err) : search_exact(ik, err);
        if (status == PL_OK) {
            status = search_line(ik, &h, err);
        }
        if (status != PL_OK) {
            return status;
        }
        bool solved = h > 0;
        if (solved) {
            // the search has gone past the best: back there
            search_point(ik, ik->here.z, h, ik->trial.z);
            status = ik_go(ik, &ik->trial, &solved, err);
        }
        if (status == PL_OK && solved) {
            ik_swap(&ik->here, &ik->trial);
            ik->slope.fresh = ik->slope.known = false;
            ++ik->told.iterations;
            status = pl_model_keep(ik->model, 0, err);
        } else if (status == PL_OK) {
            *outcome = PL_IK_STALLED;
            return pl_model_recall(ik->model, 0, err);
        }
        if (status != PL_OK) {
            return status;
        }
    }
}
