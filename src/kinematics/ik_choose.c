// Choosing among commands that meet the goals: least effort, least energy, nearest to a given command. The
// goals are kept as constraints, so the weights of what chooses need not be small: a step along the commands
// that keep the goals to first order,
//   min 1/2 |r2 + J2 p|^2 + 1/2 W^2 |r1 + J1 p|^2,  W large, within the bounds,
// then steps back onto the goals, and a decision by r2.
#include "kinematics/kinematics_impl.h"

#define CORRECTIONS 4 // steps back onto the goals after one step along them
#define SETTLED 1e-4  // steps below this part of the ranges are not worth a forward solve

// Whether a row of the residual belongs to a goal.
static bool row_is_goal(const pl_ik *ik, int row)
{
    for (int i = 0; i < ik->goal.objective_count; ++i) {
        if (row < ik->goal.row[i + 1]) {
            return pl_objective_is_goal(ik->goal.objective[i].kind);
        }
    }

    return false; // least motion is not in use here
}

// H and g of the rows that are goals or of those that are not, times `weight`, added.
static void choose_add(pl_ik *ik, bool goals, double weight, const double *r)
{
    const int n = ik->n;
    for (int i = 0; i < ik->goal.row[ik->goal.objective_count]; ++i) {
        if (row_is_goal(ik, i) != goals) {
            continue;
        }
        const double *row = ik->local.J + (int64_t)i * n;

        for (int a = 0; a < n; ++a) {
            ik->local.g[a] += weight * row[a] * r[i];
            for (int b = 0; b < n; ++b) {
                ik->local.H[a * n + b] += weight * row[a] * row[b];
            }
        }
    }
}

// Sum of squares of the rows of one class, to weigh the classes against each other.
static double choose_trace(const pl_ik *ik, bool goals)
{
    double sum = 0;
    for (int i = 0; i < ik->goal.row[ik->goal.objective_count]; ++i) {
        for (int j = 0; row_is_goal(ik, i) == goals && j < ik->n; ++j) {
            sum += ik->local.J[(int64_t)i * ik->n + j] * ik->local.J[(int64_t)i * ik->n + j];
        }
    }

    return sum;
}

// Solves for p from `from` within the box and `radius`; its largest part.
static double choose_solve(pl_ik *ik, const ik_place *from, double radius, int rows)
{
    const int n = ik->n;

    // a small ridge keeps H definite; bounds of the step are those of the commands and the radius
    double trace = 0, largest = 0;

    for (int a = 0; a < n; ++a) {
        trace += ik->local.H[a * n + a];
    }

    for (int a = 0; a < n; ++a) {
        ik->local.H[a * n + a] += 1e-13 * trace + 1e-300;
        ik->local.step_low[a] = fmin(fmax(ik->range.now_low[a] - from->z[a], -radius), 0);
        ik->local.step_high[a] = fmax(fmin(ik->range.now_high[a] - from->z[a], radius), 0);
    }

    if (!ik_quadratic_step(ik, ik->local.H, ik->local.g, rows)) {
        return 0;
    }
    for (int a = 0; a < n; ++a) {
        largest = fmax(largest, fabs(ik->local.p[a]));
    }

    return largest;
}

static void choose_clear(pl_ik *ik)
{
    memset(ik->local.H, 0, (size_t)(ik->n * ik->n) * sizeof *ik->local.H);
    memset(ik->local.g, 0, (size_t)ik->n * sizeof *ik->local.g);
}

// The step and the decrease of the choice it promises.
static double choose_step(pl_ik *ik, double radius, double *length)
{
    const int n = ik->n;

    // goals weigh 1e6 times more than the choice, relative to their sizes: constraints to first order
    const double goals = choose_trace(ik, true), others = choose_trace(ik, false);

    choose_clear(ik);
    choose_add(ik, true, goals > 0 ? 1e6 * others / goals : 0, ik->here.r);
    choose_add(ik, false, 1, ik->here.r);
    const int rows = ik_effort_rows(ik, ik->local.row_a, ik->local.row_b, true);
    *length = choose_solve(ik, &ik->here, radius, rows);

    // decrease of the choice only
    double promised = 0;
    for (int i = 0; i < ik->goal.row[ik->goal.objective_count]; ++i) {
        double Jp = 0;
        for (int j = 0; j < n; ++j) {
            Jp += ik->local.J[(int64_t)i * n + j] * ik->local.p[j];
        }
        promised -= row_is_goal(ik, i) ? 0 : Jp * (ik->here.r[i] + 0.5 * Jp);
    }

    return promised;
}

// From the trial back onto the goals by least-motion steps with the Jacobian at hand.
static pl_status choose_correct(pl_ik *ik, bool *solved, pl_error *err)
{
    double distance, before = INFINITY;
    for (int k = 0; k < CORRECTIONS; ++k) {
        const double error = ik_error(ik, &ik->trial, &distance);
        // met, or no longer converging
        if (error <= 1 || error > 0.7 * before) {
            return PL_OK;
        }
        before = error;
        choose_clear(ik);
        choose_add(ik, true, 1, ik->trial.r);
        choose_solve(ik, &ik->trial, 0.25, 0);
        for (int j = 0; j < ik->n; ++j) {
            const double z = ik->trial.z[j] + ik->local.p[j];
            ik->trial.z[j] = fmin(fmax(z, ik->range.now_low[j]), ik->range.now_high[j]);
        }

        ++ik->search.steps;
        const pl_status status = ik_go(ik, &ik->trial, solved, err);
        if (status != PL_OK || !*solved) {
            return status;
        }
    }

    return PL_OK;
}

// Trust region on the choice; every accepted point meets the goals.
pl_status ik_choose(pl_ik *ik, pl_error *err)
{
    double radius = 0.25;
    pl_status status = PL_OK;
    pl_ik_outcome limit;

    while (status == PL_OK && radius > SETTLED && ik_go_on(ik, &limit)) {
        double length, distance;
        bool solved;
        status = ik_linearise(ik, true, err);
        if (status != PL_OK) {
            break;
        }
        const double promised = choose_step(ik, radius, &length);
        if (length < SETTLED || !(promised > 1e-4 * ik->here.choice)) {
            break;
        }

        // step along the goals, then back onto them
        for (int j = 0; j < ik->n; ++j) {
            const double z = ik->here.z[j] + ik->local.p[j];
            ik->trial.z[j] = fmin(fmax(z, ik->range.now_low[j]), ik->range.now_high[j]);
        }

        ++ik->search.steps;
        status = ik_go(ik, &ik->trial, &solved, err);
        if (status == PL_OK && solved) {
            status = choose_correct(ik, &solved, err);
        }

        // accepted: bounds hold, goals are met, and the choice has improved
        const double gained = ik->here.choice - ik->trial.choice;
        const bool good = status == PL_OK && solved && ik->trial.excess <= IK_HOLDS &&
                          ik_error(ik, &ik->trial, &distance) <= 1 && gained > 1e-4 * promised;
        pl_log(2, "  ik: choice %.6e -> %.6e, promised %.2e, step %.2e, radius %.2e%s", ik->here.choice,
               ik->trial.choice, promised, length, radius, good ? "" : ", not taken");
        if (status == PL_OK && good) {
            radius = gained > 0.75 * promised ? fmin(fmax(radius, 2 * length), 1) : radius;
            ik_swap(&ik->here, &ik->trial);
            ik->slope.fresh = false;
            ++ik->record.iterations;
            status = pl_model_keep(ik->model, PL_SLOT_IK_HERE, err);
        } else if (status == PL_OK) {
            radius = 0.25 * fmin(radius, length);
            status = pl_model_recall(ik->model, PL_SLOT_IK_HERE, err);
        }
    }

    return status;
}
