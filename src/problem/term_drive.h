// What the terms of actuators share: the path of a drive's value between two commands, the functional that an
// actuator measures, and the scale of the effort that a film reports.
#ifndef PL_TERM_DRIVE_H
#define PL_TERM_DRIVE_H

#include "problem/problem_impl.h"

// Where a drive stands between the commands of a state and new ones. Goals are targets, efforts, volumes
// pushed, voltages or ratios (pl_actuator_goal).
typedef struct drive_path {
    double from, to;   // goals at both ends
    bool idle;         // not commanded at the end
    bool one_sided;    // the path goes on beyond rest, the value stays there
    double input;      // the actuator's own value at the end
    double slope;      // d(actuator value)/d(command): its factor, or 0 while a one-sided command points away
    double slope_down; // the same for a decreasing command
    double value_now;  // at the present load: between from and to
    double value;      // the same, kept at rest where a one-sided command points away
} drive_path;

// The actuator's values at both ends, not yet clamped: in between, all actuators of one command stand where
// the command stands. NAN: idle.
typedef struct drive_ends {
    double old, value;
} drive_ends;

drive_ends drive_path_begin(drive_path *path, const pl_actuator *a, const pl_state *state,
                            const double *command);
void drive_path_set(drive_path *path, const pl_actuator *a, double at);

// The command that belongs to where the drive is now.
double drive_path_command(const drive_path *path, const pl_actuator *a);

// d(actuator value)/dq of a command.
double drive_path_slope(const drive_path *path, const pl_parameter *q);
bool drive_path_one_sided(const drive_path *path, const pl_actuator *a, const pl_state *state);

// The actuator's own value at a state; NAN: idle.
double drive_state_value(const pl_actuator *a, const pl_state *state);

// Length, volume or area: what the actuator measures. PL_OK or PL_NO_MEMORY.
pl_status drive_functional(const pl_problem *p, const pl_actuator *a, pl_functional *h);

// dh/dx . dx
double drive_measure_change(pl_problem *p, const pl_functional *h, const double *x, const double *dx);

// The effort reported for a film of known thickness is a stress, e A / (A0 t); elsewhere it is e itself.
bool drive_reports_stress(const pl_actuator *a);
double drive_reported(const pl_actuator *a, double effort, double measure);
double drive_reported_change(const pl_actuator *a, double effort, double measure, double effort_change,
                             double measure_change);

#endif
