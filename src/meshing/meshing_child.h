// The process the mesher runs in (see meshing_child.c).
#ifndef PL_MESHING_CHILD_H
#define PL_MESHING_CHILD_H

#include "base/base.h"
#include "pliant/mesh.h"

#define MESHING_ATTEMPTS 4

typedef struct child_job {
    const char *source; // starts the sentences: a file name, "design beam"
    // Runs in the child; may leave *out NULL with PL_OK when there is nothing to hand back.
    pl_status (*work)(void *user, const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                      pl_error *err);
    void *user;
} child_job;

// Runs the work in a process of its own, or directly when this is one already. What ends or stops that
// process becomes PL_FAILED or PL_NO_MEMORY with a sentence; `progress` is asked ten times a second, and a
// false ends the process with PL_INTERRUPTED.
pl_status meshing_isolate(const child_job *job, const pl_progress *progress, pl_mesh **out,
                          pl_findings *findings, pl_error *err);

// ---- for the work: which attempt this is, counted from 0 (settings differ, see meshing_volume.c), and how
// much CPU time the stage that is announced next may take.
int meshing_attempt(void);
void meshing_allow(double seconds);

#endif
