// For the rooms right of model: what stands behind a pl_model.
#ifndef PL_MODEL_ROOM_H
#define PL_MODEL_ROOM_H

#include "pliant/model.h"

// The model's own memory when it is of this type, NULL otherwise.
void *pl_model_self(const pl_model *model, const pl_model_type *type);
// Hands over something the model needs: `release` is called with it after the model itself is destroyed.
void pl_model_own(pl_model *model, void *owned, void (*release)(void *owned));

// The solver behind a full body, whichever method answers (sizes, for benches); NULL for other models.
pl_statics *pl_model_statics(const pl_model *model);
// The solver of a full body that answers by the geometric method; NULL for other models.
pl_geometric *pl_model_geometric(const pl_model *model);

#endif
