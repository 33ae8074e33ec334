// What both methods of a full body share: names and sizes from the robot, answers from a state. Statics
// evaluates them; whether it also solves depends on the method.
#ifndef PL_MODEL_BODY_H
#define PL_MODEL_BODY_H

#include "model/model_impl.h"

typedef struct model_body { // its functions are below
    const pl_robot *robot;
    pl_statics *statics;
    pl_state *state;
    pl_model_info info; // borrows the arrays below
    pl_command_info *command;
    pl_actuator_info *actuator;
    const char **marker_name, **sensor_name, **support_name;
    pl_sensor_kind *sensor_kind;
    pl_reading_info *reading_info;
    double *marker_at;
    // the answer, written by model_body_answer
    double *now, *marker, *rotation, *sensor, *effort, *measure, *reading;
    pl_actuator_state *state_of; // per actuator
} model_body;

pl_status model_body_init(model_body *b, const pl_robot *robot, const pl_statics_options *options,
                          pl_error *err);
void model_body_clear(model_body *b); // also half-made

// All but readings and energy, at another state of the same robot, into the arrays of the answer.
void model_body_outputs(model_body *b, const pl_state *state, pl_model_answer *out);
void model_body_answer(model_body *b, pl_model_answer *out);

// Functions of a pl_model_type whose `self` begins with a model_body.
void model_body_info(void *self, pl_model_info *out);
pl_status model_body_mesh(void *self, const pl_mesh **out, pl_error *err);
void model_body_shape(void *self, double *position);
int model_body_line(void *self, int actuator, double *point, int room);
pl_status model_body_field(void *self, pl_field field, double *out, pl_error *err);

#endif
