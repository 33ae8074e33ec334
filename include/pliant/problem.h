// The mechanical problem, shared by all methods that compute an equilibrium or a motion: options of the
// formulation, the parameters that a solution can be differentiated with respect to, the readings that the
// terms report, and the report of a solve. The functions that use them belong to the methods
// (pliant/statics.h).
#ifndef PLIANT_PROBLEM_H
#define PLIANT_PROBLEM_H

#include "pliant/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pl_linear_solver {
    PL_SOLVER_AUTO,
    PL_SOLVER_CHOLMOD,
    PL_SOLVER_MUMPS,
    PL_SOLVER_MULTIFRONTAL,
    PL_SOLVER_MUMPS_MPI // MUMPS in several processes, started with mpirun
} pl_linear_solver;

// How the growth ratio of an actuator is distributed over its elements: the smallest change of the current
// local ratios (as published; only for the method local_global, it does not derive from an energy), the local
// ratios of least energy, or the same ratio for all.
typedef enum pl_distribution { PL_RATIOS_LEAST_NORM, PL_RATIOS_JOINT, PL_RATIOS_UNIFORM } pl_distribution;

// Readings: values that the terms of the problem report in addition to actuators, markers and sensors, each
// with a name and a unit, in internal units (the tension of a spring in N, its length in mm). The texts are
// valid as long as the solver that returned them.
typedef struct pl_reading_info {
    const char *group;    // what reports it: "springs"
    const char *name;     // which one: "s1"
    const char *quantity; // "tension"
    const char *unit;     // "N"
} pl_reading_info;

// What a solution can be differentiated with respect to.
typedef enum pl_parameter_kind {
    PL_PARAMETER_COMMAND,      // index: command; part -1: for a decreasing command (differs where a one-sided
                               // command is 0), otherwise for an increasing one
    PL_PARAMETER_FORCE,        // index: force, part: axis; per N
    PL_PARAMETER_MOMENT,       // index: force; per unit of the moment's factor
    PL_PARAMETER_GRAVITY,      // part: axis; per mm/s^2
    PL_PARAMETER_PRESSURE,     // index: surface pressure; per MPa
    PL_PARAMETER_MATERIAL,     // index: material, part: pl_material_constant
    PL_PARAMETER_MARKER_FORCE, // index: marker, part: axis; per N, a further force at any marker
    PL_PARAMETER_ACTUATOR, // index: actuator by itself: per unit of its measure while a length or volume is
                           // held, otherwise per N or MPa of further effort
    PL_PARAMETER_EFFORT, // index: actuator; an effort added to its own while all commands are constant, per N
                         // or MPa: what a slack cable does the moment it becomes taut. Asked together with
                         // others, cables without tension are free in all of them
    PL_PARAMETER_LAYER,  // index: layer; part 0: its thickness, per mm (a layer outside or inside moves with
                         // it), 1: its prestretch
    PL_PARAMETER_FIBRE,  // index: fibre; part 0: its stiffness, per N, 1: its prestretch
    PL_PARAMETER_GRIP    // index 0, part: axis; per N, at the point where a hand pulls (pl_model_grip)
} pl_parameter_kind;

typedef struct pl_parameter {
    pl_parameter_kind kind;
    int index, part;
} pl_parameter;

// ---- what became of a solve, by any method
// Only `solved` is an answer: in balance, stable, no element inverted, nothing inside
// anything, at the commands given. `unstable`: in balance, but the slightest disturbance makes the body leave
// it. `penetrating`: an obstacle or the body itself is inside the body. `uncertain`: a result that may be
// wrong, for the reason in the message.
#define PL_OUTCOME_LIST(X)                                                                                   \
    X(PL_SOLVED, "solved")                                                                                   \
    X(PL_UNSTABLE, "unstable")                                                                               \
    X(PL_PENETRATING, "penetrating")                                                                         \
    X(PL_UNCERTAIN, "uncertain")                                                                             \
    X(PL_ITERATION_LIMIT, "iteration limit")                                                                 \
    X(PL_STEP_LIMIT, "step limit")                                                                           \
    X(PL_INVERTED, "inverted")                                                                               \
    X(PL_LIMIT_POINT, "limit point")                                                                         \
    X(PL_INFEASIBLE, "infeasible")                                                                           \
    X(PL_STOPPED, "interrupted")                                                                             \
    X(PL_NOT_CONVERGED, "not converged")

typedef enum pl_outcome {
#define X(code, text) code,
    PL_OUTCOME_LIST(X)
#undef X
        PL_OUTCOME_COUNT
} pl_outcome;

PL_API const char *pl_outcome_name(pl_outcome outcome);

// What `solved` means unless the robot file says otherwise: the largest nodal residual force over the largest
// nodal load or internal force, and the largest displacement of the next step, mm.
#define PL_FORCE_TOLERANCE 1e-6
#define PL_LENGTH_TOLERANCE 1e-5

#define PL_CONTACT_HISTORY 8

typedef struct pl_solve_report {
    pl_outcome outcome;
    char message[240]; // for people
    int iterations, factorizations, solves, increments;
    double residual;          // N, largest nodal residual force at the returned state
    double residual_relative; // over the largest nodal force
    double step;              // mm, largest displacement of the next step
    double seconds;
    double energy;       // mJ (N mm), elastic
    double load_reached; // fraction of the load path; 1: the given commands are fully applied
    // fractions of the load path at which it becomes unstable by bifurcation (the body buckles), and at which
    // the load has its first maximum (it snaps); 0: nowhere on the path, or not found
    double buckling_load, limit_load;
    bool no_state;           // no equilibrium on the path is returned: the state is as it was given
    double constraint_error; // largest relative violation of a geometric drive
    double min_J; // smallest volume ratio at a quadrature point; where an element is not proven to be free of
                  // inversion, its lower bound (PL_FIELD_J_BOUND), which is then <= 0
    int guarded;  // elements kept from folding by an energy of their own: the mesh is too coarse there
    double max_stretch;
    // where a solve that did not end well got stuck, in the undeformed configuration
    bool has_place;
    double place[3]; // mm
    int32_t place_element;
    char place_region[48];
    int negative_count; // negative eigenvalues of the tangent at the state on the null space of the
                        // constraints; 0: stable, -1: not computed
    // contact: updates of the multipliers at the last load, and the deepest penetration after each descent,
    // over the local edge length; the first is before any update
    int contact_updates;
    double contact_penetration[PL_CONTACT_HISTORY];
    // an obstacle that is too small, or touches too narrowly, for the faces it presses on; NULL: none.
    // The name is the robot's. Mean edge of these faces; half width of the obstacle or its footprint, mm
    const char *coarse_contact;
    double coarse_edge, coarse_width;
} pl_solve_report;

#ifdef __cplusplus
}
#endif
#endif
