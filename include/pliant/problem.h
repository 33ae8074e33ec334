// The mechanical problem, shared by all methods that compute an equilibrium or a motion: options of the
// formulation, the parameters that a solution can be differentiated with respect to, and the readings that
// the terms report. The functions that use them belong to the methods (pliant/statics.h).
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

#ifdef __cplusplus
}
#endif
#endif
