// For the rooms right of model: what stands behind a pl_model.
#ifndef PL_MODEL_ROOM_H
#define PL_MODEL_ROOM_H

#include "pliant/model.h"
#include "statics/statics.h"
#include "geometric/geometric.h"

// The model's own memory when it is of this type, NULL otherwise.
void *pl_model_self(const pl_model *model, const pl_model_type *type);
// Hands over something the model needs: `release` is called with it after the model itself is destroyed.
void pl_model_own(pl_model *model, void *owned, void (*release)(void *owned));

// The solver behind a full body, whichever method answers (sizes, for benches); NULL for other models.
pl_statics *pl_model_statics(const pl_model *model);
// The solver of a full body that answers by the geometric method; NULL for other models.
pl_geometric *pl_model_geometric(const pl_model *model);

// Simultaneous solve for commands and shape, as pl_statics_aim, from the state of a full body with the exact
// method; `choose` is shown the outputs of the iterate (no readings, no energy), borrowed until it returns.
// Met: the next forward solve at aim->command starts from the shape found. Never met by other models.
typedef struct pl_model_aim {
    double *command; // per command: room; left where they ended
    int count, variable[PL_AIM_MOST];
    pl_jacobian out;
    pl_aim_answer (*choose)(void *user, const pl_model_answer *now, bool fresh, double *value);
    void *user;
} pl_model_aim;
pl_status pl_model_find_together(pl_model *model, const pl_model_aim *aim, bool *met, pl_error *err);
bool pl_model_can_find_together(const pl_model *model);

#endif
