// In place of the room in a build without learning (-DPLIANT_LEARNING=OFF): no model is a learned one.
#include "pliant/learned.h"
#include "learned/learned.h"

pl_learned *pl_model_learned(const pl_model *model)
{
    (void)model;
    return NULL;
}

bool pl_learned_is_adapted(const pl_learned *learned)
{
    (void)learned;
    return false;
}

void pl_learned_destroy(pl_learned *learned)
{
    (void)learned;
}

pl_status pl_learned_model(pl_learned *learned, const pl_learned_use *use, pl_model **out, pl_error *err)
{
    (void)learned;
    (void)use;
    (void)err;
    *out = NULL;
    return PL_BAD_INPUT;
}
