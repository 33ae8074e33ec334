// Inside the worker: what its files share.
#ifndef PL_SERVER_WORKER_H
#define PL_SERVER_WORKER_H

#include "server_impl.h"

struct server_worker {
    server_desk *desk;
    const server_options *options;
    pthread_t thread;
    uint32_t robot; // number of robots opened so far, also that of the one shown
    uint32_t mesh;
    char *path;
    bool has_fine, has_coarse;
    server_model fine, coarse;
    // what the work in hand watches, to stop when it is overtaken
    unsigned poses, loads;
    bool in_job, in_load;
    double begun, told; // s
    double serial;      // of the pose in hand
};

// A progress hook that tells the viewers and stops work that was overtaken.
pl_progress worker_progress(server_worker *w);
bool worker_overtaken(const server_worker *w);
void worker_tell(server_worker *w, const char *state, const char *text, double fraction);

// Opens the robot at w->path in place of the one before.
void worker_load(server_worker *w);
void worker_pose(server_worker *w, const server_pose *pose);
void worker_job(server_worker *w, const server_job *job);

#endif
