// The geometric method (Fang et al. 2020, Fang et al. 2022; docs/explanation/papers.md,
// docs/explanation/geometric.md). Every element has a target shape (local step), and one prefactored sparse
// matrix fits the positions to all targets (global step); both are repeated to a fixed point:
//   minimise over x   sum_e w_e Vol_e |F_e - T_e|^2,   T_e(F_e) the target.
// Works on the corner mesh of a robot: linear tets and prisms, cables as triangles. Mid nodes of a quadratic
// mesh follow their edges. A pl_geometric belongs to one thread at a time; many may share one robot.
#ifndef PLIANT_GEOMETRIC_H
#define PLIANT_GEOMETRIC_H

#include "pliant/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

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
PL_API pl_geometric_options pl_geometric_options_default(void);
// `fang2020`: all settings as published (vertex metric, blended targets, unit weights 5 and 1, least-norm
// growth, no acceleration, stop when the tip moves less than 0.0316 mm). PL_BAD_INPUT for another name.
PL_API_CHECKED pl_status pl_geometric_preset(const char *name, pl_geometric_options *options, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
