// Moving the model from one command to the next in a solve, and when to stop.
#include "kinematics/kinematics_impl.h"

// c = low + span z, never outside by rounding; held commands stay where they are.
void ik_command(const pl_ik *ik, const double *z, double *command)
{
    const pl_model_answer a = pl_model_get_answer(ik->model);
    for (int i = 0; i < ik->info.command_count; ++i) {
        command[i] = isnan(ik->range.fixed[i]) ? a.command[i] : ik->range.fixed[i];
    }

    for (int j = 0; j < ik->n; ++j) {
        const double c = ik->range.low[j] + ik->range.span[j] * z[j];
        const double low = ik->range.low[j] + ik->range.span[j] * ik->range.now_low[j];
        const double high =
            z[j] >= 1 ? ik->range.high[j] : ik->range.low[j] + ik->range.span[j] * ik->range.now_high[j];
        const bool zero = ik->kink.one_sided[j] && fabs(c) < 1e-12 * ik->range.span[j]; // exactly at its kink
        command[ik->variable[j]] =
            zero ? 0 : fmin(fmax(fmin(fmax(c, low), high), ik->range.low[j]), ik->range.high[j]);
    }
}

pl_status ik_go(pl_ik *ik, ik_place *place, bool *solved, pl_error *err)
{
    ik_command(ik, place->z, ik->command);
    return ik_go_to(ik, ik->command, place, solved, err);
}

// Forward solve and evaluation. *solved is false where there is no equilibrium, which is no error.
pl_status ik_go_to(pl_ik *ik, const double *command, ik_place *place, bool *solved, pl_error *err)
{
    pl_solve_report report;
    const pl_status status = pl_model_fk(ik->model, command, &report, err);

    *solved = status == PL_OK && report.outcome == PL_SOLVED;
    pl_log(2, "  ik: forward solve with %d factorisations, %d solves", report.factorizations, report.solves);
    ik->search.interrupted = ik->search.interrupted || (status == PL_OK && report.outcome == PL_STOPPED);

    if (*solved) {
        ik_outputs_read(ik, place);
        ik_evaluate(ik, place);
        *solved = isfinite(place->value);
    } else {
        pl_log(2, "  ik: forward solve failed: %s", report.message);
    }

    return status == PL_FAILED ? PL_OK : status; // a shape that cannot be computed is a step not to take
}

// How far the error has come down from the first to the tolerance, on a logarithmic scale from 0 to 1.
static double ik_progress(pl_ik *ik)
{
    double distance;
    const double error = ik_error(ik, &ik->here, &distance);

    if (!(error > 1) || !isfinite(error)) {
        return error <= 1 ? 1 : 0;
    }
    ik->record.first_error = fmax(ik->record.first_error, error);
    return ik->record.first_error > 1 ? 1 - log(error) / log(ik->record.first_error) : 0;
}

bool ik_go_on(pl_ik *ik, pl_ik_outcome *outcome)
{
    const double limit = ik->options.time_limit;
    if (ik->search.interrupted ||
        !pl_progress_step(&ik->options.progress, ik_progress(ik), "inverse kinematics")) {
        ik->search.interrupted = true;
        *outcome = PL_IK_STOPPED;
        return false;
    }

    if (ik->search.steps >= ik->options.iteration_limit ||
        (limit > 0 && pl_seconds() - ik->record.started > limit)) {
        *outcome = PL_IK_LIMIT;
        return false;
    }

    return true;
}

void ik_swap(ik_place *a, ik_place *b)
{
    const ik_place c = *a;
    *a = *b;
    *b = c;
}
