// What looks wrong with a reduced robot although it can be built, and whether it has an equilibrium at the
// middle of its ranges.
#include "reduced/reduced_impl.h"

// Findings about markers and ranges, then one solve with every command in the middle of its range (NAN
// without a range).
pl_status pl_reduced_examine(pl_model *model, pl_findings *findings, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    if (!pl_model_is_reduced(model)) {
        return pl_fail(err, PL_BAD_INPUT, "a model of kind %s is not a reduced one", info.kind);
    }
    if (info.marker_count == 0) {
        pl_findings_add(findings, PL_WARNING, NULL, 0, "the robot has no markers");
        pl_findings_advise(findings, "add markers: {tip: {at: %g}}", pl_reduced_length(model));
    }

    double *command = PL_NEW_ARRAY(double, info.command_count);
    if (!command) {
        return pl_fail_memory(err, "commands");
    }

    for (int i = 0; i < info.command_count; ++i) {
        const pl_command_info *c = &info.command[i];
        if (!c->has_range) {
            pl_findings_add(findings, PL_NOTE, NULL, 0, "command '%s' has no range", c->name);
        }
        command[i] = c->has_range ? 0.5 * (c->range[0] + c->range[1]) : NAN;
    }

    pl_solve_report report;
    const pl_status status = pl_model_fk(model, command, &report, err);
    if (status == PL_OK && report.outcome != PL_SOLVED) {
        pl_findings_add(findings, PL_WARNING, NULL, 0, "no equilibrium at the middle of the ranges: %s",
                        report.message);
    }

    pl_free(command);

    return status;
}
