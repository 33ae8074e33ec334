// For the rooms right of model: what stands behind a pl_model.
#ifndef PL_MODEL_ROOM_H
#define PL_MODEL_ROOM_H

#include "pliant/model.h"
#include "statics/statics.h"
#include "geometric/geometric.h"

// Further functions of a kind of model (pl_model_type); each may be NULL.
typedef struct pl_model_extras {
    // Derivatives with respect to other parameters: loads, materials. NULL: refused.
    pl_status (*sensitivity)(void *self, const pl_parameter *parameter, int count, const pl_jacobian *out,
                             pl_jacobian_report *report, pl_error *err);
    // As pl_model_adjoint. NULL: from `derivative`, for commands only.
    pl_status (*adjoint)(void *self, const pl_model_weights *by, const pl_parameter *parameter, int count,
                         double *gradient, pl_jacobian_report *report, pl_error *err);
    // The pose is taken: a model with memory remembers it, and the next forward solves start from there.
    // NULL: no memory.
    void (*settle)(void *self);
    pl_status (*field)(void *self, pl_field field, double *out, pl_error *err);
    pl_status (*reactions)(void *self, pl_reaction *reaction, pl_error *err); // per support
    pl_status (*check)(void *self, pl_model_check *out, pl_error *err);
    // Forces at the markers (3 per marker, N; NULL: none) that the next forward solves lead to. NULL:
    // refused.
    pl_status (*set_forces)(void *self, const double *force, pl_error *err);
    // A hand that pulls, as pl_model_grip and the two after it. All three or none; NULL: refused.
    pl_status (*grip)(void *self, const double at[3], double radius, pl_error *err);
    void (*pull)(void *self, const double force[3]);
    bool (*grip_mean)(void *self, const double *vector, int stride, double mean[3]);
    void (*set_tolerance_factor)(
        void *self, double factor); // as pl_model_set_tolerance_factor. NULL: its tolerances stay
    bool (*critical)(const void *self, pl_critical_mode *out); // as pl_model_critical. NULL: not known
    int (*limit)(void *self, int iterations);                  // as pl_model_limit. NULL: it has none
    // As pl_model_hold. NULL: refused.
    pl_status (*hold)(void *self, const double *command, double seconds, pl_creep_report *creep,
                      pl_solve_report *report, pl_error *err);
} pl_model_extras;

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

// The full body as a model, with the exact method or with the geometric one (whose derivatives are exact too,
// but by differences with growth, contact, loose rigid regions and the published preset). Keeps a reference
// to `robot`, which must outlive it.
pl_status pl_model_from_robot(const pl_robot *robot, const pl_statics_options *options, pl_model **out,
                              pl_error *err);
pl_status pl_model_from_robot_geometric(const pl_robot *robot, const pl_geometric_options *options,
                                        pl_model **out, pl_error *err);

// How actuator i is driven; for an invalid index, an info without a name and with command -1.
pl_actuator_info pl_model_actuator(const pl_model *model, int i);

// The forward solves that follow take at most `iterations`; returns the limit before. 0: the model has none,
// and nothing changes.
int pl_model_limit(pl_model *model, int iterations);

// The current pose is taken, not tried: models with memory (learned from histories) answer from now on as a
// robot that was here. Sweeps and paths call it after every point. The answers of this pose stay until the
// next forward solve. false: the model has no memory.
bool pl_model_commit(pl_model *model);

#endif
