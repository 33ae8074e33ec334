// For the rooms right of geometric: what a solver remembers beyond a pl_state.
#ifndef PL_GEOMETRIC_ROOM_H
#define PL_GEOMETRIC_ROOM_H

#include "pliant/geometric.h"

// The places of the vertices inside filled chambers, from which the next solve goes on, and what the
// actuators reached: written where `room` suffices; returns the number of doubles in any case. And back to
// them (of a block of that size), or with NULL to the undeformed configuration.
size_t pl_geometric_pack(const pl_geometric *geometric, double *block, size_t room);
void pl_geometric_unpack(pl_geometric *geometric, const double *block);

// Whether the fixed point has derivatives in closed form: not in the vertex metric, with growth, contact,
// remeshing, loose rigid regions, or where a solve ends by the motion of its tip.
bool pl_geometric_differentiable(const pl_geometric *geometric);
typedef struct pl_geometric_slopes {
    int solves;      // with the prefactored matrix
    double residual; // largest relative residual of the linear systems
} pl_geometric_slopes;
// Derivatives at the fixed point `state` with respect to commands and efforts (PL_PARAMETER_COMMAND,
// _EFFORT), by the implicit function theorem on the prefactored matrix, to the relative residual `tolerance`:
// `position` has 3 rows per vertex of the robot's mesh, `effort` one per actuator, both `count` columns.
pl_status pl_geometric_sensitivity(pl_geometric *geometric, const pl_state *state,
                                   const pl_parameter *parameter, int count, double tolerance,
                                   double *position, double *effort, pl_geometric_slopes *report,
                                   pl_error *err);

#endif
