// Inside document: a reduced robot being read.
#ifndef PL_DOCUMENT_MODEL_H
#define PL_DOCUMENT_MODEL_H

#include "document/document_reader.h"
#include "reduced/reduced.h"

// Owns the lists; the def borrows them.
typedef struct doc_model {
    doc_array section, actuator, marker, sensor, force, load;
    double length; // mm, of the sections so far
    pl_reduced_def def;
    bool broken; // something could not be read: not judged as a whole
} doc_model;

// Reads `model:` and what goes with it at the top of the file into f->model.
void doc_read_model(doc_robot_file *f, const doc_node *root, const doc_node *node);
void doc_model_clear(doc_model *m);

#endif
