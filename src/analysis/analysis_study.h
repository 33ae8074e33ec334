// Inside analysis: a study at work.
#ifndef PL_ANALYSIS_STUDY_H
#define PL_ANALYSIS_STUDY_H

#include <pthread.h>
#include <stdatomic.h>
#include "base/base.h"
#include "pliant/analysis.h"
#include "pliant/text.h"

// Shared by the workers; `lock` guards `out`, `running`, `status` and `err`.
typedef struct study_work {
    const pl_study_def *def;
    pl_study *out;
    bool is_command[PL_STUDY_AXES];
    int command[PL_STUDY_AXES]; // indices, of axes that are commands
    int marker;                 // of stiffness and blocked force
    bool surrogate;             // the model has measured errors, which get columns
    int variant_count, inner;   // inner: points per variant
    int order[PL_STUDY_AXES];   // axes, those of the file first
    uint64_t key;               // of this study in the store
    int store;                  // descriptor, or -1
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_int next; // variant to take next
    atomic_bool stop;
    int running;      // workers
    pl_status status; // the first failure that is not a point's own
    pl_error err;
} study_work;

// Adds the line of a point to the store, if there is one; a failure stops the study.
void analysis_study_keep(study_work *work, int point);

// Opens the store and takes the points of this study from it; lines of other studies and cut lines are passed
// over.
pl_status analysis_study_recall(study_work *work, pl_error *err);

#endif
