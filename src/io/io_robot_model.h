// Inside io: a reduced robot being read.
#ifndef PL_IO_ROBOT_MODEL_H
#define PL_IO_ROBOT_MODEL_H

#include "io/io_robot.h"
#include "pliant/reduced.h"

typedef struct io_model {
    io_array section, actuator, marker, sensor, force, load;
    double length; // mm, of the sections so far
    pl_reduced_def def;
    bool broken; // something could not be read: not judged as a whole
} io_model;

// Reads `model:` and what goes with it at the top of the file into f->model.
void io_read_model(io_robot_file *f, const io_node *root, const io_node *node);
void io_model_clear(io_model *m);

#endif
