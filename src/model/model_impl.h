// Inside model, for this folder.
#ifndef PL_MODEL_IMPL_H
#define PL_MODEL_IMPL_H

#include "base/base.h"
#include "base/vec.h"
#include "model/model.h"
#include "model/model_record.h"

// A stored state with its report.
typedef struct model_slot {
    double *state; // state_size doubles
    pl_solve_report report;
    bool used;
} model_slot;

// Derivatives by differences (model_difference.c); sizes are fixed when made.
typedef struct model_differences model_differences;

// Arrays of a record (model_record.c).
typedef struct model_record model_record;

// Paths from the supports to the markers (model_bend.c): a node and the nodes of its elements, in pairs, from
// the marker back.
typedef struct bend_ring {
    int32_t *ring;
    int64_t count; // 0: no path
} bend_ring;

typedef struct model_bend {
    bend_ring *path; // per marker
    int count;       // 0: the model is a centre line
} model_bend;

model_bend *model_bend_create(const pl_model *model); // NULL: out of memory
void model_bend_destroy(model_bend *bend);

// Sets `bend` and `bend_axis` of a marker with rotation R.
void model_bend_angle(const pl_model *model, const model_bend *bend, int marker, const double R[9],
                      pl_record_marker *out);

struct pl_model {
    const pl_model_type *type;     // functions of the kind
    const pl_model_extras *extras; // never NULL
    void *self;                    // its memory
    void *owned;                   // released after `self`
    void (*release)(void *owned);
    pl_model_info info;
    pl_model_costs costs;

    // where it stands: written by model_refresh after every move
    pl_model_answer answer;
    pl_solve_report report;
    pl_crossings crossings;      // at the current state; count -1: not examined
    pl_mesh_error mesh_error;    // of this solution, when somebody has asked
    double *asked;               // commands of the last forward solve
    double *nothing;             // NAN, as many as the longest array of an answer but points
    double *no_force;            // 0, 3 per marker
    pl_actuator_state *actuator; // where the kind gives none

    size_t state_size;
    model_slot slot[PL_MODEL_SLOTS];
    model_slot base; // of derivatives by differences: where the model stood before
    model_differences *differences;
    model_record *record;
};

// Reads the answer again and completes it; `moved_to` (may be NULL) are the commands now in force.
void model_refresh(pl_model *model, const double *moved_to);
pl_status model_keep(pl_model *model, model_slot *slot, pl_error *err);
pl_status model_recall(pl_model *model, const model_slot *slot, pl_error *err);

// ---- model_difference.c
// In parts of the span: for functions smooth to rounding, the error of central differences, h^2 + 1e-16 / h,
// is smallest near 1e-5; ten times that leaves room for solves to 1e-10.
#define MODEL_DIFFERENCE_STEP 1e-4
pl_status model_differences_create(pl_model *model, pl_error *err);
void model_differences_destroy(model_differences *differences);
pl_status model_differentiate(pl_model *model, unsigned parts, pl_model_derivative *out,
                              pl_jacobian_report *report, pl_error *err);

// ---- model_record.c
void model_record_destroy(model_record *record);

#endif
