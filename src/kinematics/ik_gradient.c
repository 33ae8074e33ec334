// Gradient descent with the soft line search of Fang et al. 2020 (algorithm 2; algorithm 3 of the thesis).
// O = sum |w d|^2 as there; commands count in parts of their ranges and are cut off at their bounds.
//
// - `gradient`, as published: central differences; the step shrinks by tau from 1 until O falls and is then
//   enlarged by the same amount as long as it keeps falling
// - `descent`: exact gradients, in the coordinates of ik_kink.c (of a slack cable its tension, so that one
// that
//   should pull is first taken up to where it is taut); conjugate directions (Polak and Ribiere), begun again
//   where a coordinate changes or meets a bound; the search begins at the minimum of |r + h J s|^2 and ends
//   at the first step that makes O fall
#include "kinematics/kinematics_impl.h"

#define SHRINKS 12    // a step of tau^12 is none
#define EXPANSIONS 50 // enough to cross the range from tau = 0.1

// What conjugate directions remember.
typedef struct search_memory {
    double *g; // gradient before
    uint64_t signature;
    bool known;
} search_memory;

// z = clamp(from + h s), s the direction; tensions of slack cables do not become negative
static void search_point(const pl_ik *ik, const double *from, double h, double *z)
{
    const double *s = ik->local.step;
    if (!ik->kink.on) {
        for (int j = 0; j < ik->n; ++j) {
            z[j] = fmin(fmax(from[j] + h * s[j], ik->range.now_low[j]), ik->range.now_high[j]);
        }
        return;
    }

    ik_kinks_box(ik, INFINITY, ik->local.step_low, ik->local.step_high);
    for (int j = 0; j < ik->n; ++j) {
        ik->local.p[j] = fmin(fmax(h * s[j], ik->local.step_low[j]), ik->local.step_high[j]);
    }
    ik_kinks_apply(ik, ik->local.p, z);
}

// O at from + h s; INFINITY when the shape cannot be computed there.
static pl_status search_value(pl_ik *ik, double h, double *value, pl_error *err)
{
    bool solved;
    search_point(ik, ik->here.z, h, ik->trial.z);
    const pl_status status = ik_go(ik, &ik->trial, &solved, err);
    *value = solved ? 2 * ik->trial.value : INFINITY;
    return status == PL_OK && !solved ? pl_model_recall(ik->model, PL_SLOT_IK_HERE, err) : status;
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
            const double z = ik->here.z[j] + (side ? 1 : -1) * IK_DIFFERENCE;
            at[side] = ik->trial.z[j] = fmin(fmax(z, ik->range.now_low[j]), ik->range.now_high[j]);
            status = ik_go(ik, &ik->trial, &solved, err);
            value[side] = solved ? 2 * ik->trial.value : 2 * ik->here.value;
            at[side] = solved ? at[side] : ik->here.z[j];
            if (status == PL_OK && !solved) {
                status = pl_model_recall(ik->model, PL_SLOT_IK_HERE, err);
            }
        }

        ik->local.g[j] = at[1] > at[0] ? (value[1] - value[0]) / (at[1] - at[0]) : 0;
    }

    return status;
}

// g = 2 J^T r.
static pl_status search_exact(pl_ik *ik, pl_error *err)
{
    const pl_status status = ik_outputs_differentiate(ik, IK_JACOBIAN, err);
    if (status != PL_OK) {
        return status;
    }
    ik_kinks_choose_sides(ik);
    ik_jacobian(ik, &ik->here, ik->local.J, ik->local.E);

    for (int j = 0; j < ik->n; ++j) {
        ik->local.g[j] = 0;
        for (int i = 0; i < ik->goal.rows; ++i) {
            ik->local.g[j] += 2 * ik->local.J[(int64_t)i * ik->n + j] * ik->here.r[i];
        }
    }

    return PL_OK;
}

// s = -g + beta s, beta = max(0, g . (g - g_old) / |g_old|^2); without the components that a bound stops.
static void search_direct(pl_ik *ik, search_memory *memory)
{
    ik_local *l = &ik->local;
    const uint64_t signature = ik_kinks_signature(ik);
    double change = 0, square = 0, slope = 0;

    for (int j = 0; j < ik->n; ++j) {
        change += l->g[j] * (l->g[j] - memory->g[j]);
        square += memory->g[j] * memory->g[j];
    }

    // conjugate only within the same coordinates: at a kink they change
    const bool go_on = memory->known && signature == memory->signature && square > 0;
    const double beta = go_on ? fmax(0, change / square) : 0;

    // a direction that does not descend is replaced by the gradient itself
    ik_kinks_box(ik, INFINITY, l->step_low, l->step_high);
    bool stopped = false;
    for (int pass = 0; pass < 2; ++pass) {
        slope = 0;

        for (int j = 0; j < ik->n; ++j) {
            const double s = -l->g[j] + (pass == 0 && beta > 0 ? beta * l->step[j] : 0);
            const bool free = s > 0 ? l->step_high[j] > 0 : l->step_low[j] < 0;
            stopped = stopped || !free;
            l->step[j] = free ? s : 0;
            slope += l->step[j] * l->g[j];
        }

        if (slope < 0) {
            break;
        }
    }

    memcpy(memory->g, l->g, (size_t)ik->n * sizeof *l->g);
    memory->signature = signature;
    memory->known = !stopped;
}

// The minimum of |r + h J s|^2, -(g . s / 2) / |J s|^2 with g = 2 J^T r; 1 where there is none.
static double search_first(const pl_ik *ik)
{
    const ik_local *l = &ik->local;
    double slope = 0, square = 0;

    for (int j = 0; j < ik->n; ++j) {
        slope += l->g[j] * l->step[j];
    }

    for (int i = 0; i < ik->goal.rows; ++i) {
        double sum = 0;
        for (int j = 0; j < ik->n; ++j) {
            sum += l->J[(int64_t)i * ik->n + j] * l->step[j];
        }
        square += sum * sum;
    }

    return square > 0 && slope < 0 ? -0.5 * slope / square : 1;
}

// Leaves in *h the best step found, 0 when none makes O fall, and the model at the last trial.
static pl_status search_line(pl_ik *ik, bool published, double *h, pl_error *err)
{
    const double start = 2 * ik->here.value, shrink = published ? IK_SHRINK : 0.3;
    double step = published ? 1 : search_first(ik), value, best;

    *h = 0;
    pl_status status = search_value(ik, step, &value, err);

    // shrink until O falls
    for (int k = 0; status == PL_OK && !(value < start); ++k) {
        if (k == SHRINKS || ik->search.interrupted) {
            return PL_OK;
        }
        step *= shrink;
        status = search_value(ik, step, &value, err);
    }

    // as published: then enlarge by the same amount as long as O falls
    best = value;
    *h = step;
    for (int k = 0; published && status == PL_OK && k < EXPANSIONS && !ik->search.interrupted; ++k) {
        status = search_value(ik, *h + step, &value, err);
        if (!(value < best)) { // `<=` as published would walk on forever once all commands are cut off
            break;
        }

        best = value;
        *h += step;
    }

    return status;
}

// One gradient and its line search; *found: a better place, now in `here`.
static pl_status search_step(pl_ik *ik, search_memory *memory, bool *found, pl_error *err)
{
    const bool published = ik->options.method == PL_IK_GRADIENT;
    double h = 0;
    pl_status status = published ? search_difference(ik, err) : search_exact(ik, err);

    if (status == PL_OK && published) {
        for (int j = 0; j < ik->n; ++j) {
            ik->local.step[j] = -ik->local.g[j];
        }
    } else if (status == PL_OK) {
        search_direct(ik, memory);
    }

    if (status == PL_OK) {
        status = search_line(ik, published, &h, err);
    }
    *found = h > 0;
    if (status == PL_OK && *found && published) {
        // the search has gone past the best: back there
        search_point(ik, ik->here.z, h, ik->trial.z);
        status = ik_go(ik, &ik->trial, found, err);
    }

    if (status != PL_OK || !*found) {
        return status;
    }
    ik_swap(&ik->here, &ik->trial);
    ik->slope.fresh = ik->slope.known = false;
    ++ik->record.iterations;

    return pl_model_keep(ik->model, PL_SLOT_IK_HERE, err);
}

// Ends when the goals are met, no step makes O fall, or a limit is reached.
pl_status ik_gradient_search(pl_ik *ik, pl_ik_outcome *outcome, pl_error *err)
{
    search_memory memory = {.g = PL_NEW_ARRAY(double, ik->n)};
    pl_status status = memory.g ? PL_OK : pl_fail_memory(err, "ik: gradient");

    for (bool found = true; status == PL_OK;) {
        double distance;
        if (ik_error(ik, &ik->here, &distance) <= 1) {
            *outcome = PL_IK_REACHED;
            break;
        }

        if (!found && !memory.known) {
            *outcome = PL_IK_STALLED;
            status = pl_model_recall(ik->model, PL_SLOT_IK_HERE, err);
            break;
        }

        if (!ik_go_on(ik, outcome)) {
            break;
        }
        ++ik->search.steps;
        // along the gradient itself before giving up
        memory.known = memory.known && found;
        const bool conjugate = memory.known;
        status = search_step(ik, &memory, &found, err);
        memory.known = found ? memory.known : conjugate;
        if (status == PL_OK && !found) {
            status = pl_model_recall(ik->model, PL_SLOT_IK_HERE, err);
        }
    }

    pl_free(memory.g);
    return status;
}
