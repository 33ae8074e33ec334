// The solver of the geometric method, for the rooms right of geometric. Its options are in
// pliant/geometric.h; programs reach it through a pl_model.
#ifndef PL_GEOMETRIC_ROOM_H
#define PL_GEOMETRIC_ROOM_H

#include "pliant/geometric.h"

typedef struct pl_geometric pl_geometric;

// Builds the element blocks and orders, analyses and factors the matrix. Keeps a reference to `robot`, which
// must outlive the result. Loads are those of the robot: weight, forces, moments, pressures on surfaces.
// Rigid regions that are not clamped have six unknowns each. Refused: growth of films and chambers without
// actuation elements, loads in the vertex metric, more than eight unclamped rigid regions.
pl_status pl_geometric_create(const pl_robot *robot, const pl_geometric_options *options, pl_geometric **out,
                              pl_error *err);
void pl_geometric_destroy(pl_geometric *geometric);

// From `state` to the fixed point at `command` (as pl_statics_solve). The report has the same meaning:
// solved only if the residual is below its tolerance and no body element is inverted. `step` is the residual
// (mm), `residual` the largest nodal residual force (N; in the vertex metric in its own unit).
pl_status pl_geometric_solve(pl_geometric *geometric, pl_state *state, const double *command,
                             pl_solve_report *report, pl_error *err);

// Prescribes the ratio of an actuator's measure to its rest value from now on, regardless of its drive and
// command (NAN: use its command again), for example to give a pressure-driven chamber its volume.
void pl_geometric_ask(pl_geometric *geometric, int actuator, double ratio);

// Results of an actuator at the last solve.
typedef struct pl_geometric_actuator_result {
    double asked;                 // prescribed ratio to the rest measure; NAN: idle or driven by effort
    double ratio;                 // reached, on the corner mesh
    double measure;               // mm, mm^3 or mm^2, on the corner mesh
    double effort;                // N or MPa; NAN for growth, which has none
    bool growth;                  // acts by actuation elements
    double local_low, local_high; // range of the local ratios (growth)
} pl_geometric_actuator_result;
pl_geometric_actuator_result pl_geometric_actuator(const pl_geometric *geometric, int actuator);

typedef struct pl_geometric_info {
    int32_t vertices, elements, chamber_elements, film_elements, cable_triangles;
    int64_t matrix_entries;
    size_t factor_bytes;
    int factors;    // 1, or up to 3 if supports fix single axes
    double prepare; // s, of create
    // of the last solve
    int iterations, accelerated, rejected; // total; accelerated; accelerated but rejected
    double local_seconds, global_seconds, acceleration_seconds;
    int32_t inverted, inverted_chamber; // elements
    int springs, contact_rounds;        // contact: springs that bear, updates of their places
    int inside;                         // vertices inside an obstacle or another part
    double depth;                       // mm, of the deepest of them
    int remeshes;                       // of chambers that grow
    int32_t remeshed_elements;          // in the chambers after the last of them
    double remesh_seconds;
    const char *instruction_set;
} pl_geometric_info;
pl_geometric_info pl_geometric_get_info(const pl_geometric *geometric);

// Energy, and the largest displacement of a vertex (mm) in an unaccelerated step, at a state that is not
// changed. For tests and comparisons.
pl_status pl_geometric_residual(pl_geometric *geometric, const pl_state *state, const double *command,
                                double *energy, double *step, pl_error *err);

// The largest principal engineering strain of every element of `mesh` (from its corners, at its centre) at
// `position`, and the rest volumes of the elements: the data for a histogram of strains.
void pl_mesh_strain(const pl_mesh *mesh, const double *position, double *strain, double *volume);

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
