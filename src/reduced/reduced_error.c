// The error of a reduced model's answers: bounds from the commands at which it was compared with the full
// robot.
#include "reduced/reduced_impl.h"

// Copies the measured errors into a map from commands to bounds. Errors of another model, or of this one with
// a different file, are kept but not trusted.
pl_status reduced_errors_create(pl_reduced_model *m, const pl_reduced_def *d, pl_error *err)
{
    const pl_reduced_errors *e = &d->errors;
    m->error_marker = -1;
    for (int i = 0; i < m->marker_count; ++i) {
        m->error_marker = e->marker && strcmp(m->info.marker_name[i], e->marker) == 0 ? i : m->error_marker;
    }

    // without samples the error is not known
    if (e->count == 0) {
        return PL_OK;
    }

    // the samples belong to one state of the file: its hash must be the same
    m->distrust = e->command_count != m->command_count || (e->model_hash && e->model_hash != m->hash)
                      ? "the reduced model has changed since its errors were measured"
                      : e->distrust;
    m->error_at = REDUCED_TAKE(m, double, m->command_count);
    m->marker_error = REDUCED_TAKE(m, double, m->marker_count);
    m->rotation_error = REDUCED_TAKE(m, double, m->marker_count);
    double *residual = PL_NEW_ARRAY(double, 2 * (int64_t)e->count);
    if (!m->error_at || !m->marker_error || !m->rotation_error || !residual) {
        pl_free(residual);
        return pl_fail_memory(err, "the errors of the reduced model");
    }

    // two columns per sample: position (mm) and rotation (rad)
    for (int i = 0; i < e->count; ++i) {
        residual[2 * i] = e->position[i];
        residual[2 * i + 1] = e->rotation[i];
    }

    const pl_error_samples samples = {.count = e->count,
                                      .input_count = e->command_count,
                                      .column_count = 2,
                                      .x = e->command,
                                      .residual = residual};
    const pl_status status = pl_error_map_create(&samples, &m->errors, err);
    pl_free(residual);

    return status;
}

// The commands of the present state without NAN; false: one of them is outside of its range, where nothing
// was measured.
static bool errors_place(pl_reduced_model *m)
{
    bool inside = true;
    for (int i = 0; i < m->command_count; ++i) {
        const pl_command_info *c = &m->info.command[i];
        const double x = isnan(m->command[i]) ? c->rest : m->command[i];
        const double slack = 1e-9 * (c->range[1] - c->range[0]);
        m->error_at[i] = x;
        inside = inside && (!c->has_range || (x >= c->range[0] - slack && x <= c->range[1] + slack));
    }

    return inside;
}

// Bounds for the marker that was compared; NAN for the others, and wherever nothing was measured.
void reduced_errors_answer(pl_reduced_model *m, pl_answer_error *out)
{
    *out = (pl_answer_error){.source = PL_ERROR_UNMEASURED, .confidence = NAN, .shape = NAN};
    if (!m->errors) {
        return;
    }

    double bound[2] = {NAN, NAN};
    out->source = PL_ERROR_FULL_BODY;
    out->confidence = pl_error_map_confidence(m->errors);
    if (m->distrust) {
        out->unknown = m->distrust;
    } else if (reduced_is_loaded(m)) {
        out->unknown = "a force acts, and the errors were measured without one";
    } else if (errors_place(m)) {
        pl_error_map_evaluate(m->errors, m->error_at, bound);
    } else {
        out->unknown = "a command is outside of its range";
    }

    for (int i = 0; i < m->marker_count; ++i) {
        m->marker_error[i] = i == m->error_marker ? bound[0] : NAN;
        m->rotation_error[i] = i == m->error_marker ? bound[1] : NAN;
    }

    out->marker = m->marker_error;
    out->rotation = m->rotation_error;
}
