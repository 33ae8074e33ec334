// Motion in time of the full body: inertia, viscosity, actuators, loads and springs,
//   M a + dE/dx + viscous forces + A^T p = 0,   h_a(x) = target_a(t) for geometric drives.
// TR-BDF2: each step has two stages, each the minimum of
//   |y - y*|^2_M / (2 s^2) + E(y; history) - loads,   s = (1 - 1/sqrt 2) h,
// with one tangent K + M / s^2. Second order, unconditionally stable; motions that a step does not resolve
// are damped. Steps follow from the error of the positions, as powers of two of one step, or are given.
//
// A pl_dynamics belongs to one thread at a time; many may share one robot. Results are bitwise independent of
// the number of threads. Contact with obstacles and of the body with itself acts implicitly: impacts lose
// energy and create none. Free rigid bodies move with the mass and the moments of inertia of their shapes.
#ifndef PLIANT_DYNAMICS_H
#define PLIANT_DYNAMICS_H

#include "pliant/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

// What became of a run. `stalled`: the smallest step did not converge; the state is the last one accepted.
typedef enum pl_motion_outcome { PL_MOTION_DONE, PL_MOTION_STOPPED, PL_MOTION_STALLED } pl_motion_outcome;
PL_API const char *pl_motion_outcome_name(pl_motion_outcome outcome);

typedef struct pl_dynamics_options {
    // Error of the positions over the largest displacement so far, or 1e-2 of the size: one step may have a
    // quarter of it.
    double tolerance;
    double step;            // s; 0: from the tolerance. A step that does not converge is halved
    double first_step;      // s, about, where the step follows from the tolerance; 0: 1/16 of the largest
    double largest_step;    // s, where the step follows from the tolerance
    int halvings;           // smallest step: the largest one halved so often
    double solve_tolerance; // mm, of the positions in each stage; 0: 1/30 of the error accepted in a step
    double mass_damping;    // 1/s: forces -mass_damping M v; 0: none
    // s: a dashpot beside every spring, stress stiffness_damping dS_d/dt of the deviatoric part, damping
    // ratio stiffness_damping omega / 2. Silicone does not behave so (its damping depends little on the
    // frequency): for comparison with other programs. 0: none
    double stiffness_damping;
    const double *marker_mass; // t, per marker: masses attached at markers, copied; NULL: none. Their weight
                               // is a load: forces at markers in the state (pl_statics_set_forces)
    bool masses_hang;          // the masses hang on long strings: they follow their marker along gravity only
    // t/mm^3, per surface of the mesh, copied; NULL: none. A fluid of density rho that slows the surface
    // down: force -D |v| v / 2 per undeformed area, D = rho times the drag coefficient of the wetted area
    const double *surface_drag;
    pl_linear_solver linear_solver;
    bool displacement;            // displacement elements everywhere, regardless of the materials
    pl_distribution distribution; // of growth ratios
    pl_progress progress;         // may stop the run
} pl_dynamics_options;

PL_API pl_dynamics_options pl_dynamics_options_default(void);

// Commands over time.
typedef struct pl_signal {
    // One value per command at time t (s), internal units; NAN: idle. At a jump: the value after it.
    void (*command)(void *user, double t, double *command);
    // The first time after t at which a command jumps or has a corner; INFINITY: none. Steps end there. NULL:
    // there is none.
    double (*corner)(void *user, double t);
    // The share of the loads of the robot (gravity, forces, moments, pressures) that acts, 0 to 1; a hand
    // that lets go. NULL: 1. Jumps and corners as for commands.
    double (*load)(void *user, double t);
    // Forces at the markers (3 each, N) besides the loads of the robot, instead of those of the state and of
    // pl_dynamics_set_forces; NULL: those. Jumps and corners as for commands.
    void (*force)(void *user, double t, double *force);
    // Acceleration of the supports (mm/s^2), which all move as one without turning. Positions and velocities
    // are those in their frame, in which obstacles rest; the inertia of the body acts as a load. NULL: none.
    void (*base)(void *user, double t, double acceleration[3]);
    void *user;
} pl_signal;

// Energies in mJ (N mm). Work is counted from the start. Without numerical errors
//   kinetic + elastic + viscous + damped = their sum at the start + actuators + loads;
// the imbalance is the left side minus the right side: negative where the integration damps.
typedef struct pl_motion_energy {
    double kinetic;
    double elastic;   // of the long-term material, softened as it is, springs included
    double viscous;   // went into viscous branches: what they store and what they turned into heat
    double damped;    // by mass-proportional damping, drag and softening (mullins)
    double actuators; // work of cables, chambers and films on the body; NAN: a cable has friction
    double loads;     // work of gravity, forces, moments, pressures and the acceleration of the supports
    double imbalance; // NAN: work of growth drives, moved obstacles or cables with
                      // friction is not counted
} pl_motion_energy;

typedef struct pl_motion_report {
    pl_motion_outcome outcome;
    char message[240]; // for people
    double time;       // s, of the state
    int steps, rejected;
    double step;          // s, the last one
    double smallest_step; // s, of the steps accepted
    int factorizations, solves, evaluations;
    double seconds;          // wall clock
    double error;            // mm, largest estimated error of a step accepted
    pl_motion_energy energy; // at `time`
} pl_motion_report;

typedef struct pl_dynamics pl_dynamics;

// Builds pattern, mass matrix and all memory needed later. Keeps a reference to `robot`, which must outlive
// the result. Refused: deformable or rigid regions without density.
PL_API_CHECKED pl_status pl_dynamics_create(const pl_robot *robot, const pl_dynamics_options *options,
                                            pl_dynamics **out, pl_error *err);
PL_API void pl_dynamics_destroy(pl_dynamics *dynamics);

// The motion begins at `state`: with its time, velocity and history where it has them (pl_state_has_motion),
// otherwise at time 0, at rest, with relaxed viscous branches. Loads act in full from the start, unless the
// signal says otherwise.
// Forces at markers are those of the state. Counts and energies start from 0.
PL_API_CHECKED pl_status pl_dynamics_start(pl_dynamics *dynamics, const pl_state *state,
                                           const pl_signal *signal, pl_error *err);

// Takes steps until `time` is reached or passed. `each` (may be NULL) is called after every step accepted;
// false stops the run.
PL_API_CHECKED pl_status pl_dynamics_advance(pl_dynamics *dynamics, double time, bool (*each)(void *user),
                                             void *user, pl_motion_report *report, pl_error *err);
PL_API double pl_dynamics_time(const pl_dynamics *dynamics);

// The shape, commands and efforts at a time within the last step, by cubic interpolation; `velocity` (3 per
// vertex, mm/s) may be NULL.
PL_API_CHECKED pl_status pl_dynamics_sample(const pl_dynamics *dynamics, double time, pl_state *state,
                                            double *velocity, pl_error *err);

// ---- free vibrations about an equilibrium: K u = (2 pi f)^2 M u with the commands of the state held
typedef struct pl_mode {
    double
        frequency; // Hz; negative: the equilibrium is unstable along the mode, which grows by exp(2 pi |f| t)
    double mass;   // t, u . M u for a shape scaled to a largest displacement of 1 mm
    // With viscous branches and mass-proportional damping, which keep the shape: the motion decays as
    // exp(-damping |s| t), |s|^2 = rate^2 + (2 pi ringing)^2. NAN: it does not swing
    double ringing; // Hz
    double damping; // ratio: 0 without branches
} pl_mode;

// Ends a motion in progress. The `count` (1 to 32) lowest frequencies, ascending, and their shapes (3 per
// vertex and mode, largest displacement 1 mm; may be NULL). `found` gets their number, which is smaller for
// bodies with fewer unknowns.
PL_API_CHECKED pl_status pl_dynamics_modes(pl_dynamics *dynamics, const pl_state *state, int count,
                                           pl_mode *mode, double *shape, int *found, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
