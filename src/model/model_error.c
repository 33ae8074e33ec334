// How far the mesh lets a result be wrong. The jumps of strain between elements are cheap (some milliseconds)
// and good where the mesh resolves the body. Where they raise suspicion the answer comes from a second level:
// the elements with the largest jumps are split, and the linear response of the markers on that mesh is
// compared with the one on this mesh.
#include <stdlib.h>
#include "model/model_body.h"

// Part of the jumps that is an error of the motion; docs/elements.md has the measurements. The rest stays
// near edges and guides and does not move the markers.
#define ERROR_OF_JUMPS 0.4
// What lies beyond a refinement, as a share of what it found: between order 1 in the edge length (1) and
// order 2 (1/3); less after further ones.
#define ERROR_BEYOND 0.5
#define ERROR_BEYOND_NEXT 0.4
#define ERROR_SHARE_LEAST 0.25 // of the jumps in the elements split; below it nothing is extrapolated
#define ERROR_STILL 1e-9       // of the body's size: it has not moved

static pl_statics *error_statics(const pl_model *model, pl_state **state)
{
    if (strcmp(model->info.kind, "full") != 0 || strcmp(model->info.method, "exact") != 0 ||
        !pl_model_statics(model)) {
        return NULL;
    }
    *state = ((model_body *)model->self)->state;
    return pl_model_statics(model);
}

typedef struct error_rank {
    double value;
    int32_t element;
} error_rank;

static int error_by_value(const void *p, const void *q)
{
    const error_rank *a = p, *b = q;
    return a->value != b->value ? (a->value < b->value) - (a->value > b->value)
                                : (a->element > b->element) - (a->element < b->element);
}

pl_status pl_model_mesh_marks(pl_model *model, int32_t element_limit, uint8_t *marked, double *share,
                              pl_error *err)
{
    pl_state *state = NULL;
    pl_statics *statics = error_statics(model, &state);
    const int32_t n = model->info.element_count;
    *share = 0;
    if (!statics) {
        return pl_fail(err, PL_BAD_INPUT, "only full bodies solved by the exact method have a mesh error");
    }
    double *value = PL_NEW_ARRAY(double, n), jumps, total = 0, sum = 0;
    error_rank *rank = PL_NEW_ARRAY(error_rank, n);
    pl_status status = value && rank ? pl_statics_strain_jumps(statics, state, &jumps, value, err)
                                     : pl_fail_memory(err, "the mesh error");
    if (status == PL_OK) {
        memset(marked, 0, (size_t)n);
        for (int32_t e = 0; e < n; ++e) {
            rank[e] = (error_rank){value[e], e};
            total += value[e];
        }
        qsort(rank, (size_t)n, sizeof *rank, error_by_value);
        // an element becomes eight and drags some neighbours along; all of them become 8 n
        double room = element_limit - n;
        for (int32_t i = 0; i < n && (room > 0 || 8.0 * n <= element_limit) && sum < total; ++i) {
            marked[rank[i].element] = 1;
            sum += rank[i].value;
            room -= 9;
        }
        *share = total > 0 ? sum / total : 0;
    }
    pl_free(value);
    pl_free(rank);
    return status;
}

// The largest motion of a marker on the refined mesh and the largest difference between both meshes.
static pl_status error_compare(pl_model *model, pl_statics *coarse, pl_statics *fine, double *motion,
                               double *difference, pl_error *err)
{
    const int n = model->info.marker_count;
    double *a = PL_NEW_ARRAY(double, 3 * n), *b = PL_NEW_ARRAY(double, 3 * n);
    pl_status status = a && b ? PL_OK : pl_fail_memory(err, "the mesh error");
    *motion = *difference = 0;
    if (status == PL_OK) {
        status = pl_statics_response(coarse, model->answer.command, a, err);
    }
    if (status == PL_OK) {
        status = pl_statics_response(fine, model->answer.command, b, err);
    }
    for (int m = 0; status == PL_OK && m < n; ++m) {
        *motion = fmax(*motion, pl_norm3(a + 3 * m));
        *difference = fmax(*difference, pl_distance3(a + 3 * m, b + 3 * m));
    }
    pl_free(a);
    pl_free(b);
    return status;
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

pl_status pl_model_mesh_error(pl_model *model, const pl_refinement *refined, pl_mesh_error *out,
                              pl_error *err)
{
    pl_state *state = NULL, *other = NULL;
    pl_statics *statics = error_statics(model, &state);
    *out = (pl_mesh_error){.relative = NAN, .jumps = NAN};
    if (!statics) {
        return PL_OK;
    }
    if (!refined && isfinite(model->mesh_error.jumps)) {
        *out = model->mesh_error; // asked before at this solution
        return PL_OK;
    }
    if (!error_moved(model)) {
        model->mesh_error = *out;
        return PL_OK;
    }
    pl_status status = pl_statics_strain_jumps(statics, state, &out->jumps, NULL, err);
    if (status != PL_OK) {
        return status;
    }
    const pl_mesh_view mesh = pl_mesh_get(pl_robot_mesh(pl_model_robot(model)));
    const bool linear = mesh.kind[0] == PL_TET4 || mesh.kind[0] == PL_PRISM6;
    out->relative = (linear ? 1 : ERROR_OF_JUMPS) * out->jumps;
    pl_statics *fine = refined ? error_statics(refined->model, &other) : NULL;
    if (fine && model->info.marker_count > 0 &&
        refined->model->info.marker_count == model->info.marker_count) {
        double motion, difference;
        status = error_compare(model, statics, fine, &motion, &difference, err);
        if (status == PL_OK && motion > 0) {
            const double rest = ERROR_BEYOND * pow(ERROR_BEYOND_NEXT, refined->levels - 1);
            const double off = (1 + rest) * difference / fmax(refined->share, ERROR_SHARE_LEAST);
            out->relative = off / (motion + off);
            out->second_level = true;
        }
    }
    model->mesh_error = *out;
    return status;
}
