// By how much the mesh lets a result be wrong: a second level where the elements' own jumps raise suspicion.
#include "base/base.h"
#include "pliant/io.h"

#define ESTIMATE_ELEMENTS 9000 // of the refined mesh: a factorization takes a second or less
#define ESTIMATE_AGAIN 3000    // elements up to which all of a very coarse mesh is split once more
#define ESTIMATE_RAISED 5000   // linear elements that are raised to quadratic ones
#define ESTIMATE_SMALL 600     // a mesh of so few elements may be too coarse for its own jumps to tell
#define ESTIMATE_GROWTH 1.3    // larger meshes may grow by this
// Jumps measure the whole body; a marker that moves little (a chamber that swells, an L that straightens) can
// be far worse off. Where the second level is cheap, less suspicion is enough for it.
#define ESTIMATE_CHEAP 5000
#define ESTIMATE_DOUBT (PL_MESH_ERROR_LIMIT / 3)

typedef struct estimate_plan {
    uint8_t *marked; // per element of the model's mesh
    int32_t count;   // its elements
    double share;    // of the jumps in the marked ones
    int32_t limit;   // elements of the refined mesh
    int levels;      // refinements made
    bool linear;     // elements: raised to quadratic ones instead of split
} estimate_plan;

static pl_status estimate_split(pl_mesh **mesh, const uint8_t *marked, pl_error *err)
{
    pl_mesh *fine = NULL;
    const pl_status status = pl_mesh_refine(*mesh, marked, &fine, err);
    if (status == PL_OK) {
        pl_mesh_destroy(*mesh);
        *mesh = fine;
    }
    return status;
}

// Linear elements become quadratic ones of the same edges.
static pl_status estimate_raise(pl_mesh **mesh, pl_error *err)
{
    pl_mesh *raised = NULL;
    const pl_status status = pl_mesh_raise(*mesh, &raised, err);
    if (status == PL_OK) {
        pl_mesh_destroy(*mesh);
        *mesh = raised;
    }
    return status;
}

// Splits what is marked, and all of a very coarse mesh once or twice more.
static pl_status estimate_refine(void *user, pl_mesh **mesh, pl_error *err)
{
    estimate_plan *plan = user;
    if (pl_mesh_get(*mesh).element_count != plan->count) {
        return pl_fail(err, PL_BAD_INPUT, "the mesh is no longer the one that was solved");
    }
    if (plan->linear) {
        plan->levels = 1;
        return estimate_raise(mesh, err);
    }
    pl_status status = estimate_split(mesh, plan->marked, err);
    for (plan->levels = 1; status == PL_OK && plan->share > 0.999; ++plan->levels) {
        const int32_t n = pl_mesh_get(*mesh).element_count;
        uint8_t *all = (int64_t)8 * n <= ESTIMATE_AGAIN ? PL_NEW_ARRAY(uint8_t, n) : NULL;
        if (!all) {
            break;
        }
        memset(all, 1, (size_t)n);
        status = estimate_split(mesh, all, err);
        pl_free(all);
    }
    return status;
}

pl_status pl_model_estimate(pl_model *model, const char *path, const pl_model_load_options *options,
                            pl_mesh_error *out, pl_error *err)
{
    static const pl_model_load_options none;
    pl_status status = pl_model_mesh_error(model, NULL, out, err);
    const pl_robot *robot = pl_model_robot(model);
    if (status != PL_OK || isnan(out->relative) || !robot || !path) {
        return status;
    }
    const pl_mesh_view mesh = pl_mesh_get(pl_robot_mesh(robot));
    const int32_t elements = mesh.element_count;
    const bool linear = mesh.kind[0] == PL_TET4,
               suspect = out->relative >
                         (elements <= ESTIMATE_CHEAP && !linear ? ESTIMATE_DOUBT : PL_MESH_ERROR_LIMIT);
    if (!(suspect || elements <= ESTIMATE_SMALL) || (linear && elements > ESTIMATE_RAISED)) {
        return PL_OK;
    }
    const double limit = fmin(fmax(ESTIMATE_GROWTH * elements, ESTIMATE_ELEMENTS), INT32_MAX / 2);
    estimate_plan plan = {.marked = PL_NEW_ARRAY(uint8_t, elements),
                          .count = elements,
                          .linear = linear,
                          .limit = (int32_t)limit};
    if (!plan.marked) {
        return pl_fail_memory(err, "the mesh error");
    }
    status = pl_model_mesh_marks(model, plan.limit, plan.marked, &plan.share, err);
    pl_model_load_options fine = options ? *options : none;
    pl_model *refined = NULL;
    pl_error ignored = {0};
    fine.load.adapt = estimate_refine;
    fine.load.adapt_user = &plan;
    // a mesh that cannot be refined (other elements, curved ones that would fold) keeps the first estimate
    if (status == PL_OK && pl_model_load(path, &fine, &refined, NULL, &ignored) == PL_OK) {
        const pl_refinement level = {
            .model = refined, .share = linear ? 1 : plan.share, .levels = plan.levels};
        pl_mesh_error second;
        if (pl_model_mesh_error(model, &level, &second, &ignored) == PL_OK) {
            *out = second;
        }
    }
    pl_model_destroy(refined);
    pl_free(plan.marked);
    return status;
}
