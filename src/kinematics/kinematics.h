// For the rooms right of kinematics and for tests: residuals of an inverse problem, curvature of points.
#ifndef PL_KINEMATICS_ROOM_H
#define PL_KINEMATICS_ROOM_H

#include "geometric/geometric.h"
#include "pliant/motion.h"
#include "statics/statics.h"

pl_objective_kind pl_objective_kind_find(const char *name); // PL_OBJECTIVE_KIND_COUNT: none

// Curvature (1/mm) of Pratt's least-squares circle through points (3 each). With `axis`: in the plane
// orthogonal to it, positive if the curve from the first to the last point turns left when seen against the
// axis; smooth through 0. Without: in the best-fit plane of the points, never negative, not differentiable
// where they are collinear. `gradient`, if given, is its derivative with respect to each coordinate. At least
// 3 points; if fewer than three of them are distinct, the curvature is 0.
double pl_fit_curvature(const double *point, int32_t count, const double *axis, double *gradient);

// Radius of a distance; curvature, sensor, effort.
pl_status pl_ik_set_value(pl_ik *ik, int i, double value, pl_error *err);
pl_status pl_ik_set_weight(pl_ik *ik, int i, double weight, pl_error *err); // > 0

// The k-th nearest sample to the current goals (k = 0: nearest); -1 if there is none, or if no goal is a
// position or distance.
int pl_ik_nearest_sample(pl_ik *ik, int k);

// Number of weighted deviations, and their values and exact Jacobian at the current state (row-major, one
// column per command; 0 for held and idle ones), for tests and other solvers. Least motion is not included.
int pl_ik_residual_count(const pl_ik *ik);
pl_status pl_ik_residual(pl_ik *ik, double *residual, double *jacobian, pl_error *err);

// ---- comparisons: pl_compare_methods with these options for the exact and the geometric method
pl_status pl_compare_solve(const pl_robot *robot, const pl_compare_def *def,
                           const pl_statics_options *statics, const pl_geometric_options *geometric,
                           pl_comparison *out, pl_error *err);

#endif
