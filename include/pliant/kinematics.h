// Kinematics: one interface to every model of a robot, and the questions asked through it. The full body
// (statics) and the reduced models all answer as a pl_model; inverse kinematics, paths and workspaces see
// nothing else.
#ifndef PLIANT_KINEMATICS_H
#define PLIANT_KINEMATICS_H

#include "pliant/statics.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- what every model answers

typedef struct pl_model_command {
    const char *name;
    pl_drive drive;  // gives the unit
    double range[2]; // internal units
    bool has_range;
} pl_model_command;

// What the model's parts are called; borrowed from the model.
typedef struct pl_model_info {
    const char *name; // the robot's
    const char *kind; // "full", "beam", "rod", "constant_curvature", "vertebrae"
    uint64_t hash;    // of everything that decides its answers
    int command_count, actuator_count, marker_count, sensor_count;
    const pl_model_command *command;
    const char *const *actuator_name;
    const pl_actuator_kind *actuator_kind;
    const char *const *marker_name;
    const char *const *sensor_name;
    const pl_sensor_kind *sensor_kind;
    int32_t point_count;     // of the body: vertices, or points along a centre line
    const double *rest;      // 3 per body point
    const double *marker_at; // 3 per marker, at rest
    double size;             // mm, of the whole robot
} pl_model_info;

// The model at the command last solved; borrowed until the next call that moves it.
typedef struct pl_model_answer {
    const double *command;  // internal units; NAN: idle
    const double *marker;   // 3 per marker, mm
    const double *rotation; // 9 per marker, row-major, from rest; NAN where a marker has no frame
    const double *sensor;   // mm, mm^3, MPa
    const double *effort;   // per actuator: N, MPa
    const double *measure;  // per actuator: mm, mm^3, mm^2
    const double *point;    // 3 per body point, mm
    double energy;          // mJ, elastic
} pl_model_answer;

typedef enum pl_model_part {
    PL_PART_MARKER = 1,   // positions
    PL_PART_ROTATION = 2, // spatial rotation vectors of the markers
    PL_PART_SENSOR = 4,
    PL_PART_EFFORT = 8,
    PL_PART_MEASURE = 16,
    PL_PART_POINT = 32,
    PL_PART_ENERGY = 64
} pl_model_part;

// Derivatives by the commands: row-major, command_count columns; those not asked for are NULL. The columns of
// idle commands are 0. Borrowed until the next call that moves the model or asks for derivatives.
typedef struct pl_model_derivative {
    const double *marker;   // 3 marker_count rows
    const double *rotation; // 3 marker_count rows, rad
    const double *sensor, *effort, *measure;
    const double *point;  // 3 point_count rows
    const double *energy; // one row
} pl_model_derivative;

// A kind of model: what stands behind a pl_model. `self` is the model's own memory.
#define PL_MODEL_SLOTS 4
typedef struct pl_model_type {
    void (*destroy)(void *self);
    void (*info)(void *self, pl_model_info *out);
    // Goes from where the model is to the equilibrium at `command`. Not solving is an outcome in `report`;
    // the model then stands at the best it reached, whose commands the answer gives.
    pl_status (*fk)(void *self, const double *command, pl_statics_report *report, pl_error *err);
    void (*answer)(void *self, pl_model_answer *out);
    // Derivatives of `parts` (pl_model_part, or-ed) at the answer, to the relative residual `tolerance` of
    // the linear systems; 0: exact (1e-8 or better).
    pl_status (*derivative)(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                            pl_jacobian_report *report, pl_error *err);
    // Keeps where the model is in a slot (0 .. PL_MODEL_SLOTS-1), and goes back there without a solve.
    pl_status (*keep)(void *self, int slot);
    pl_status (*recall)(void *self, int slot);
    void (*reset)(void *self); // to rest
} pl_model_type;

typedef struct pl_model pl_model;
// Takes `self` over. On failure `self` is destroyed.
PL_API pl_status pl_model_create(const pl_model_type *type, void *self, pl_model **out, pl_error *err);
PL_API void pl_model_destroy(pl_model *model);

// The full body as a model. Keeps a reference to `robot`, which must outlive it.
PL_API pl_status pl_model_from_robot(const pl_robot *robot, const pl_statics_options *options, pl_model **out,
                                     pl_error *err);
// The solver and the state inside a model of kind "full" (for fields and files); NULL for other kinds.
PL_API pl_statics *pl_model_statics(pl_model *model);
PL_API pl_state *pl_model_state(pl_model *model);
PL_API const pl_robot *pl_model_robot(const pl_model *model);

PL_API pl_model_info pl_model_get_info(const pl_model *model);
PL_API int pl_model_find_command(const pl_model *model, const char *name); // -1 when there is none
PL_API int pl_model_find_marker(const pl_model *model, const char *name);
PL_API int pl_model_find_sensor(const pl_model *model, const char *name);
PL_API int pl_model_find_actuator(const pl_model *model, const char *name);
PL_API pl_status pl_model_fk(pl_model *model, const double *command, pl_statics_report *report,
                             pl_error *err);
PL_API pl_model_answer pl_model_get_answer(const pl_model *model);
PL_API pl_status pl_model_differentiate(pl_model *model, unsigned parts, double tolerance,
                                        pl_model_derivative *out, pl_jacobian_report *report, pl_error *err);
PL_API pl_status pl_model_keep(pl_model *model, int slot);
PL_API pl_status pl_model_recall(pl_model *model, int slot);
PL_API void pl_model_reset(pl_model *model);
// Costs since the model was made.
typedef struct pl_model_costs {
    int64_t fk_calls, derivative_calls, iterations, factorizations, solves;
} pl_model_costs;
PL_API pl_model_costs pl_model_get_costs(const pl_model *model);

#ifdef __cplusplus
}
#endif
#endif
