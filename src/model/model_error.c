// By how much the mesh lets a result be wrong: the estimate of
// pl_statics_mesh_error, stored with the solution.
#include "model/model_body.h"

#define ERROR_STILL 1e-9 // of the body's size: it has not moved

// The exact solver and its state; NULL for other models.
static pl_statics *error_statics(const pl_model *model, pl_state **state)
{
    if (strcmp(model->info.kind, "full") != 0 || strcmp(model->info.method, "exact") != 0 ||
        !pl_model_statics(model)) {
        return NULL;
    }

    *state = ((model_body *)model->self)->state;
    return pl_model_statics(model);
}

// Whether a point has left its place by more than round-off: without motion no share of it can be wrong, and
// the jumps are those of noise.
static bool error_moved(const pl_model *model)
{
    const double *x = model->answer.point, *rest = model->info.rest;
    const int64_t n = 3 * (int64_t)model->info.point_count;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, most = 0;

    for (int64_t i = 0; i < n; ++i) {
        low[i % 3] = fmin(low[i % 3], rest[i]);
        high[i % 3] = fmax(high[i % 3], rest[i]);
        most = fmax(most, fabs(x[i] - rest[i]));
    }

    return n == 0 || most > ERROR_STILL * pl_distance3(low, high);
}

// NAN where there is no estimate: other models, nothing moved, no markers. Computed once per solution.
pl_status pl_model_mesh_error(pl_model *model, pl_mesh_error *out, pl_error *err)
{
    pl_state *state = NULL;
    pl_statics *statics = error_statics(model, &state);

    *out = model->mesh_error;
    if (!statics || isfinite(out->relative) || model->info.marker_count == 0 || !error_moved(model)) {
        return PL_OK;
    }

    const pl_status status = pl_statics_mesh_error(statics, state, &out->relative, &out->factor, err);
    model->mesh_error = *out;

    return status;
}
