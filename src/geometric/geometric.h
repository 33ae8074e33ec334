// The geometric method (Fang et al. 2020, Fang et al. 2022; docs/explanation/papers.md,
// docs/explanation/geometric.md). Every element has a target shape (local step), and one prefactored sparse
// matrix fits the positions to all targets (global step); both are repeated to a fixed point:
//   minimise over x   sum_e w_e Vol_e |F_e - T_e|^2,   T_e(F_e) the target.
// Works on the corner mesh of a robot: linear tets and prisms, cables as triangles. Mid nodes of a quadratic
// mesh follow their edges. A pl_geometric belongs to one thread at a time; many may share one robot.
// For the rooms right of geometric: programs reach it through a pl_model.
#ifndef PL_GEOMETRIC_ROOM_H
#define PL_GEOMETRIC_ROOM_H

#include "mesh/mesh.h"
#include "pliant/problem.h"

// The distance of a shape from its target: by deformation gradients, Vol |F - T|^2, or as published by the
// vertices of the centred element, Vol |N Vd - N Vt|^2, which weights an element by its size squared.
typedef enum pl_metric { PL_METRIC_GRADIENT, PL_METRIC_VERTEX } pl_metric;

// The target of body elements: as published (see pl_shape_to_elastic; rubber laws: pl_shape_curve), which
// does not derive from an energy at finite strain; or the energy mu |F - R|^2 + lambda / 2 (tr(R^T F) - 3)^2
// of the law `linear` with the same moduli.
typedef enum pl_shape_form { PL_FORM_BLENDED, PL_FORM_MU_LAMBDA } pl_shape_form;

typedef enum pl_acceleration {
    PL_ACCELERATE_NONE,
    PL_ACCELERATE_ANDERSON,
    PL_ACCELERATE_LBFGS
} pl_acceleration;

// Stopping rule: an unaccelerated step would move no vertex by more than a length; or as published, the tip
// moved less than a length in the last iteration (which is not convergence, and is reported as such).
typedef enum pl_geometric_stop { PL_STOP_RESIDUAL, PL_STOP_TIP_MOTION } pl_geometric_stop;

// How a geometric drive acts. Growth: the rest shapes of actuation elements change (chamber tets, the prisms
// under a film, triangles between a cable and the body). Pieces of cable without a triangle keep their rest
// length; a voltage prescribes the ratio that the Maxwell stress gives a free film. Constraint: one
// additional row in every global step prescribes the measure itself. Auto: growth where there are actuation
// elements, otherwise a constraint.
typedef enum pl_actuation { PL_ACTUATE_AUTO, PL_ACTUATE_GROWTH, PL_ACTUATE_CONSTRAINT } pl_actuation;

typedef struct pl_geometric_options {
    pl_metric metric;
    pl_shape_form form;
    pl_acceleration acceleration;
    int window; // of the acceleration: 1 .. 20
    pl_geometric_stop stop;
    double length_tolerance; // mm, residual: largest displacement of a vertex in an unaccelerated step
    double tip_tolerance;    // mm, tip_motion
    int iteration_limit;
    double time_limit;       // s; 0: none
    double actuation_weight; // of actuation elements without a modulus (in the vertex metric or with unit
                             // weights: of all), relative to the mean weight of the body
    double body_weight;      // factor on the weights of body elements
    bool unit_weights; // as published: all body elements have the same weight, their stiffness is given by
                       // R_omega only; R_omega = 1 for the stiffest material
    bool even_weights; // vertex metric: weights without element volumes, as in the published code
    pl_actuation actuation;
    pl_distribution distribution;
    // contact, where the robot has it (Fang et al. 2022): stiffness of a spring relative to that of its
    // vertex in the matrix; distance that vertices are brought to, relative to the edges around them
    double contact_spring, contact_offset;
    double strain_high; // rubber laws: engineering strain up to which the uniaxial curve is fitted
    // progressive remeshing of chambers that grow by tets inside of them (Fang et al. 2022): after a stage in
    // which a tet is larger than so many times its rest volume, or stretched beyond so much, the space inside
    // the deformed wall is remeshed by `mesher` (its `fill`; NULL: never); the body's rest shape stays. A
    // solve then starts from rest and goes on until the volume asked for is reached.
    bool remesh;
    double remesh_volume, remesh_stretch;
    const pl_mesher *mesher;
    pl_progress progress;
} pl_geometric_options;

pl_geometric_options pl_geometric_options_default(void);

// `fang2020`: all settings as published (vertex metric, blended targets, unit weights 5 and 1, least-norm
// growth, no acceleration, stop when the tip moves less than 0.0316 mm). PL_BAD_INPUT for another name.
pl_status pl_geometric_preset(const char *name, pl_geometric_options *options, pl_error *err);

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
