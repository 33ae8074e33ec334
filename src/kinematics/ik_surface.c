// Fitting the shape to a surface that does not say which body point belongs where: iterated closest
// points. Targets are the nearest points of the surface, the commands are solved for, and so on
// until the distance stops falling.
#include "kinematics/kinematics_impl.h"
#include "mesh/mesh.h"
#include "pliant/target.h"

#define SURFACE_ROUNDS 30     // of nearest points and a solve
#define SURFACE_NEAR 1e-3     // mm: RMS distance that counts as on the surface
#define SURFACE_PROGRESS 1e-3 // relative fall of the RMS distance below which the points no longer move

// Positions of the objective's body points.
static void surface_gather(const pl_objective *o, const double *point, double *out)
{
    for (int32_t i = 0; i < o->point_count; ++i) {
        memcpy(out + 3 * (int64_t)i, point + 3 * (int64_t)o->point[i], 3 * sizeof *out);
    }
}

// Nearest points of all body points as they are; returns the RMS distance.
static double surface_targets(const pl_trisurf_tree *tree, const double *now, int32_t count, double *target)
{
    double sum = 0;
    for (int32_t i = 0; i < count; ++i) {
        const double d = pl_trisurf_tree_nearest(tree, now + 3 * (int64_t)i, target + 3 * (int64_t)i);
        sum += d * d;
    }

    return sqrt(sum / (count > 0 ? count : 1));
}

// Alternates nearest points and solves; the best commands stay in the model.
static pl_status surface_rounds(pl_ik *ik, int objective, const pl_trisurf_tree *tree, double *now,
                                double *target, pl_ik_report *report, pl_error *err)
{
    const pl_objective *o = &ik->goal.objective[objective];

    // the first targets are those of the undeformed body, so that the answer does not depend on the start
    surface_gather(o, ik->info.rest, now);
    double before = INFINITY;
    for (int round = 0; round <= SURFACE_ROUNDS; ++round) {
        // targets, and whether they still come nearer
        const double off = surface_targets(tree, now, o->point_count, target);
        if (round > 0 && (off > before * (1 - SURFACE_PROGRESS) || off < SURFACE_NEAR)) {
            break;
        }
        pl_status status = pl_ik_set_target(ik, objective, target, err);
        if (status == PL_OK) {
            status = pl_ik_solve(ik, NULL, report, err);
        }
        if (status != PL_OK || report->outcome == PL_IK_STOPPED || report->outcome == PL_IK_FORWARD) {
            return status;
        }
        surface_gather(o, pl_model_get_answer(ik->model).point, now);
        before = round > 0 ? off : INFINITY;
    }

    return PL_OK;
}

pl_status pl_ik_fit_surface(pl_ik *ik, int objective, const pl_trisurf *surface, pl_ik_report *report,
                            pl_error *err)
{
    if (objective < 0 || objective >= ik->goal.objective_count ||
        ik->goal.objective[objective].kind != PL_OBJECTIVE_SHAPE) {
        return pl_fail(err, PL_BAD_INPUT, "ik: objective %d is not a shape", objective);
    }

    if (surface->triangle_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "ik: the surface has no triangles");
    }

    const int64_t n = 3 * (int64_t)ik->goal.objective[objective].point_count;
    double *now = PL_NEW_ARRAY(double, 2 * n);
    pl_trisurf_tree tree = {0};
    pl_status status = now ? pl_trisurf_tree_init(&tree, surface, err)
                           : pl_fail_memory(err, "ik: the nearest points of a surface");
    if (status == PL_OK) {
        status = surface_rounds(ik, objective, &tree, now, now + n, report, err);
    }
    pl_trisurf_tree_clear(&tree);
    pl_free(now);

    return status;
}
