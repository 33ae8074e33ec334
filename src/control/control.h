// For the rooms right of control and for tests: a controller by itself, a simulated robot from its options.
#ifndef PL_CONTROL_ROOM_H
#define PL_CONTROL_ROOM_H

#include "pliant/control.h"

void pl_estimator_reset(pl_estimator *estimator); // forgets what a recursive one has learned

// Further standard deviations of the commands (per command, internal units) in the next update only: of
// actuators that may not have followed yet.
void pl_estimator_widen(pl_estimator *estimator, const double *command_sigma);

// ---- the loop from its options; programs use pl_loop_from_setup
typedef struct pl_loop_options {
    const pl_controller_options *controller; // output_count is set by the loop
    const pl_estimator_options *estimator;   // NULL: none. Must measure all sensors, in their order
    int marker;                              // of the goals
    bool control_marker;                     // the outputs are its position instead of the sensors
    int frozen_limit; // ticks a reading may stay the same while the model says it moves; 0: never judged
    // Per sensor: its noise is larger than its resolution, so that a reading which stays the same for
    // frozen_limit ticks is frozen whether the model moves or not. NULL: none. Copied.
    const bool *varies;
    double delay, lag; // s: of the actuators, as far as known: the estimator is given the commands that act
    // Pressures and tensions are kept within these, in the goals and at every tick (as estimated).
    const pl_effort_bound *effort;
    int effort_count;
} pl_loop_options;

// Keeps a reference to `model`. The commands start where they are at rest.
pl_status pl_loop_create(pl_model *model, const pl_loop_options *options, pl_loop **out, pl_error *err);

typedef struct pl_control_input {
    const double *set_point, *measured; // per output
    const double *jacobian;             // outputs x commands, row-major
    const double *velocity;             // track: of the set point, per s; NULL: 0
    const double *compliance;           // impedance: 3 x 3, mm/N, of the marker at its commands
    const double *force;                // impedance: external force on the marker, N
    const double *posture;       // per command: where commands go that the outputs do not see (slack tendons,
                                 // redundancy), NULL: they stay
    const double *energy_metric; // commands x commands; NULL: none
} pl_control_input;

typedef struct pl_controller pl_controller;
pl_status pl_controller_create(const pl_controller_options *options, pl_controller **out, pl_error *err);
void pl_controller_destroy(pl_controller *controller);

// Moves `command` on by one tick. A tick that cannot be computed (numbers that are not finite) keeps
// `command` as it is and says so in the report.
void pl_controller_tick(pl_controller *controller, const pl_control_input *input, double *command,
                        pl_control_report *report);

typedef enum pl_plant_fault_kind {
    PL_FAULT_FROZEN,  // the reading stays what it was
    PL_FAULT_MISSING, // no reading (NAN)
    PL_FAULT_OFFSET,  // `value` is added to the reading
    PL_FAULT_DRIFT,   // `value` per s is added
    PL_FAULT_VALUE    // the reading is `value` (a broken wire, a full scale)
} pl_plant_fault_kind;

typedef struct pl_plant_fault {
    pl_plant_fault_kind kind;
    int sensor;
    double from, to; // s
    double value;    // in the unit of the sensor; per s
} pl_plant_fault;

typedef struct pl_plant_options {
    double period;               // s between two calls of pl_plant_step
    const double *dead_zone;     // per command: changes up to this do not move the actuator; NULL: none
    const double *backlash;      // per command: width of the hysteresis loop; NULL: none
    double delay;                // s before a command takes effect
    double lag;                  // s: time constant of the valve or motor; 0: none
    const double *noise;         // per sensor: standard deviation; NULL: none
    const double *resolution;    // per sensor: smallest step; NULL: none
    const double *rate;          // per sensor: readings per s, NAN between them; 0 or NULL: at every step
    const pl_plant_fault *fault; // of the sensors
    int fault_count;
    bool motion;                     // the body moves in time; otherwise equilibrium after equilibrium
    int payload_marker;              // -1: none
    double payload[3];               // N
    double payload_from, payload_to; // s
    uint64_t seed;
} pl_plant_options;

pl_plant_options pl_plant_options_default(void);

// Keeps a reference to `model`.
pl_status pl_plant_create(pl_model *model, const pl_plant_options *options, pl_plant **out, pl_error *err);

#endif
