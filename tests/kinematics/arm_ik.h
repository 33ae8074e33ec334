// Inverse problems of the arm in closed form, for the tests of the solver.
#ifndef PL_ARM_IK_H
#define PL_ARM_IK_H

#include "arm_model.h"
#include "base/base.h"

static inline pl_ik *make(pl_model *model, const pl_objective *o, int count, const pl_ik_options *options)
{
    pl_error err = {0};
    pl_ik *ik = NULL;
    PL_CHECK_OK(pl_ik_create(model, o, count, options, &ik, &err));
    return ik;
}

static inline pl_objective tip_at(double x, double y)
{
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    o.target[0] = x;
    o.target[1] = y;
    return o;
}

static inline pl_ik_report solve(pl_ik *ik, const double *start)
{
    pl_error err = {0};
    pl_ik_report report;
    PL_CHECK_OK(pl_ik_solve(ik, start, &report, &err));
    return report;
}

// Every command within [low, high].
static inline void check_range(const pl_ik_report *r, int n, double low, double high)
{
    for (int k = 0; k < n; ++k) {
        assert_true(r->command[k] >= low && r->command[k] <= high);
    }
}

#endif
