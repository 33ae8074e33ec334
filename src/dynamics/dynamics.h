// For the modules right of dynamics: what drives a motion step by step, and what can be asked of it. Programs
// use pl_simulation (pliant/simulation.h).
#ifndef PL_DYNAMICS_ROOM_H
#define PL_DYNAMICS_ROOM_H

#include "pliant/dynamics.h"
#include "pliant/schedule.h"

// ---- what acts
// Velocity (3 per vertex, mm/s) instead of that of the state; held vertices stay at rest.
pl_status pl_dynamics_set_velocity(pl_dynamics *dynamics, const double *velocity, pl_error *err);

// Forces at the markers (3 per marker, N; NULL: none) that act from now on, besides the loads of the robot.
void pl_dynamics_set_forces(pl_dynamics *dynamics, const double *force);

// A hand that pulls at a point of the undeformed body (mm; NULL: lets go), spread over `radius`, and its
// force (N; NULL: none) from now on.
pl_status pl_dynamics_grip(pl_dynamics *dynamics, const double at[3], double radius, pl_error *err);
void pl_dynamics_pull(pl_dynamics *dynamics, const double force[3]);

// ---- where the motion is
// The state at the end of the last step, with time, velocity and history: for files and to go on from.
pl_status pl_dynamics_store(const pl_dynamics *dynamics, pl_state *state, pl_error *err);

// At the end of the last step.
pl_motion_energy pl_dynamics_energy(pl_dynamics *dynamics);

// Mass (t), momentum (t mm/s) and angular momentum about the origin (t mm^2/s).
double pl_dynamics_momentum(const pl_dynamics *dynamics, double linear[3], double angular[3]);

// ---- schedules
// Computes the responses until the time given. The signal holds as long as the schedule is not changed.
pl_status pl_schedule_prepare(pl_schedule *schedule, double until, pl_error *err);
pl_signal pl_schedule_signal(pl_schedule *schedule);
double pl_schedule_asked(const pl_schedule *schedule, int command, double t);
double pl_schedule_value(const pl_schedule *schedule, int command, double t);

#endif
