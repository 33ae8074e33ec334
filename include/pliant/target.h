// Targets of inverse kinematics that take geometry: body points by name or place, and surfaces to fit.
#ifndef PLIANT_TARGET_H
#define PLIANT_TARGET_H

#include "pliant/inverse.h"

#ifdef __cplusplus
extern "C" {
#endif

// Body points of the surface or region `name` of a full body; NULL: of its whole boundary, of a model without a
// mesh all points. Or those nearest to places along a straight line in the undeformed configuration, in its
// order, each once. Freed with pl_mesh_free_indices.
PL_API pl_status pl_model_points(const pl_model *model, const char *name, int32_t **point, int32_t *count,
                                 pl_error *err);
PL_API pl_status pl_model_points_on_line(const pl_model *model, const double from[3], const double to[3],
                                         int32_t **point, int32_t *count, pl_error *err);

// Solves with objective `objective` (a shape) brought as near as possible to a surface that does not say which
// body point goes where: for the points nearest to the undeformed body, then for those nearest to the shape
// reached, until their RMS distance no longer falls (iterated closest points).
PL_API pl_status pl_ik_fit_surface(pl_ik *ik, int objective, const pl_trisurf *surface, pl_ik_report *report,
                                   pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
