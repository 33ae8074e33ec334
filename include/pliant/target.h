// Geometric targets of inverse kinematics: body points selected by name or position, and surfaces to fit.
#ifndef PLIANT_TARGET_H
#define PLIANT_TARGET_H

#include "pliant/inverse.h"

#ifdef __cplusplus
extern "C" {
#endif

// Body points of the surface or region `name` of a full body (NULL: of its whole boundary; for a model
// without a mesh: all points), or those nearest to a straight line in the undeformed configuration, in order
// along the line, each once. Freed with pl_mesh_free_indices.
PL_API_CHECKED pl_status pl_model_points(const pl_model *model, const char *name, int32_t **point,
                                         int32_t *count, pl_error *err);
PL_API_CHECKED pl_status pl_model_points_on_line(const pl_model *model, const double from[3],
                                                 const double to[3], int32_t **point, int32_t *count,
                                                 pl_error *err);

// Solves with objective `objective` (a shape) fitted to a surface without given correspondences, by iterated
// closest points: first to the surface points nearest to the undeformed body, then to those nearest to the
// shape reached, until the RMS distance no longer decreases.
PL_API_CHECKED pl_status pl_ik_fit_surface(pl_ik *ik, int objective, const pl_trisurf *surface,
                                           pl_ik_report *report, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
