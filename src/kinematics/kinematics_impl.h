// The inside of kinematics, for this folder.
#ifndef PL_KINEMATICS_IMPL_H
#define PL_KINEMATICS_IMPL_H

#include "base/base.h"
#include "base/vec.h"
#include "kinematics/model.h"

struct pl_model {
    const pl_model_type *type;
    void *self;
    pl_model_info info;
    pl_model_costs costs;
    void *owned;
    void (*release)(void *owned);
};

#endif
