// For the rooms right of kinematics: what stands behind a pl_model.
#ifndef PL_KINEMATICS_MODEL_H
#define PL_KINEMATICS_MODEL_H

#include "pliant/kinematics.h"

// The model's own memory when it is of this type, NULL otherwise.
void *pl_model_self(const pl_model *model, const pl_model_type *type);
// Hands over something the model needs: `release` is called with it after the model itself is destroyed.
void pl_model_own(pl_model *model, void *owned, void (*release)(void *owned));

#endif
