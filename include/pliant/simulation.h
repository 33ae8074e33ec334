// A motion of a model in time, row by row: where it begins, the commands over time, and per row the commands,
// markers with velocities, efforts, sensors, energies and the shape. For the command, Python and plants.
#ifndef PLIANT_SIMULATION_H
#define PLIANT_SIMULATION_H

#include "pliant/model.h"
#include "pliant/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pl_simulation pl_simulation;

// A row; borrowed until the next one.
typedef struct pl_motion_row {
    double time;                   // s
    const pl_model_answer *answer; // commands, markers, efforts, sensors at that time
    const double *velocity;        // 3 per marker, mm/s
    pl_motion_energy energy;       // mJ
} pl_motion_row;

// The model must be a full body with the exact method; it must outlive the simulation, which moves it. The
// weight of masses at markers is set by the caller (pl_model_set_forces).
PL_API_CHECKED pl_status pl_simulation_create(pl_model *model, const pl_dynamics_options *options,
                                              pl_simulation **out, pl_error *err);
PL_API void pl_simulation_destroy(pl_simulation *simulation);

// Where the motion begins: where the model stands, the undeformed body, or a state (with its motion).
PL_API_CHECKED pl_status pl_simulation_from_model(pl_simulation *simulation, pl_error *err);
PL_API void pl_simulation_from_rest(pl_simulation *simulation);
PL_API_CHECKED pl_status pl_simulation_from_state(pl_simulation *simulation, const double *block,
                                                  size_t count, pl_error *err);
PL_API pl_state *pl_simulation_state(pl_simulation *simulation); // that the motion begins with, and ends with
PL_API double pl_simulation_begin(const pl_simulation *simulation); // s

// Runs to `until` with the commands of `schedule` (its responses are prepared) and calls `row` every `every`
// s, the first one at the start; false stops. Forces at markers (3 each, N; NULL: none) act from the start
// on. Leaves the last state, with velocity and history.
PL_API_CHECKED pl_status pl_simulation_run(pl_simulation *simulation, pl_schedule *schedule,
                                           const double *force, double until, double every,
                                           bool (*row)(void *user, const pl_motion_row *row), void *user,
                                           pl_motion_report *report, pl_error *err);

// ---- live: commands as they come, for pages, sockets and controllers
// Begins the motion where pl_simulation_from_* says, with the commands of that state. Steps end with the
// frames of pl_simulation_advance: options.largest_step should be the length of a frame.
PL_API_CHECKED pl_status pl_simulation_start(pl_simulation *simulation, pl_error *err);

// Advances by `duration` (s). The commands (one each, internal units; NAN: idle, at once) go linearly from
// where they are to the values given, as fast as rate, fill and vent of the actuators allow; `force` (3 per
// marker, N; NULL: none) acts during it. The model stands at the end; `row` (may be NULL) describes it.
PL_API_CHECKED pl_status pl_simulation_advance(pl_simulation *simulation, const double *command,
                                               const double *force, double duration, pl_motion_row *row,
                                               pl_motion_report *report, pl_error *err);

// A hand that pulls during the frames that follow, as pl_dynamics_grip and pl_dynamics_pull; its place is
// pl_model_grip_place of the model.
PL_API_CHECKED pl_status pl_simulation_grip(pl_simulation *simulation, const double at[3], double radius,
                                            pl_error *err);
PL_API void pl_simulation_pull(pl_simulation *simulation, const double force[3]);

#ifdef __cplusplus
}
#endif
#endif
