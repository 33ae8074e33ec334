// The process the mesher runs in (see meshing_child.c).
#ifndef PL_MESHING_CHILD_H
#define PL_MESHING_CHILD_H

#include "base/base.h"
#include "pliant/mesh.h"

#define MESHING_ATTEMPTS 6 // most settings that are used one after the other

// Work for the mesher's process.
typedef struct child_job {
    const char *source; // starts the sentences: a file name, "design beam"
    // Runs in the child; may leave *out NULL with PL_OK when there is nothing to hand back.
    pl_status (*work)(void *user, const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                      pl_error *err);
    void *user;
    const char *(*setting)(int attempt); // in words, for the sentences; may be NULL
} child_job;

// Runs the work in a process of its own, or directly when this is one already. What ends or stops that
// process becomes PL_FAILED or PL_NO_MEMORY with a sentence; `progress` is asked ten times a second, and a
// false ends the process with PL_INTERRUPTED. Where the mesher failed, or doubts its mesh, the work is done
// again with other settings, until one is good or the time for all of them is used up; the best mesh is kept,
// and a note says what was tried.
pl_status meshing_isolate(const child_job *job, const pl_progress *progress, pl_mesh **out,
                          pl_findings *findings, pl_error *err);

// ---- for the work: which attempt this is, counted from 0 (settings differ, see meshing_volume.c), how much
// CPU time the stage that is announced next may take, and how bad its result is: above 1 other settings are
// tried, infinite where there is none and the mesher, not the input, is to blame.
int meshing_attempt(void);
void meshing_allow(double seconds);
void meshing_doubt(double badness);

#endif
