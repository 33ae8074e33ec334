// Inside the worker: what its files share.
#ifndef PL_SERVER_WORKER_H
#define PL_SERVER_WORKER_H

#include "server_impl.h"

#define WORKER_LOG 1024 // fine shapes remembered for files of commands

// What a fine shape said: commands, efforts, measures and markers behind each other.
typedef struct worker_entry {
    uint32_t shape;
    double *value;
} worker_entry;

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
    double fraction;    // of the solve in hand, as far as it has told
    double serial;      // of the pose in hand
    uint32_t shape;     // number of the last shape published
    worker_entry log[WORKER_LOG];
};

// A progress hook that tells the viewers and stops work that was overtaken.
pl_progress worker_progress(server_worker *w);
bool worker_overtaken(const server_worker *w);
void worker_tell(server_worker *w, const char *state, const char *text, double fraction);

// Gives the shape of a model to the viewers; `extra` goes into its header. Fine ones are remembered.
void worker_publish_shape(server_worker *w, server_model *m, json_t *extra);
// The fine shape of that number as a model's answer; false when it is not remembered.
bool worker_remember(const server_worker *w, uint32_t shape, pl_model_answer *answer);
// After inverse kinematics: a report made from an independent check of the shape.
void worker_check(server_model *m, const pl_ik_report *ik);

// Opens the robot at w->path in place of the one before.
void worker_load(server_worker *w);
void worker_pose(server_worker *w, const server_pose *pose);
void worker_job(server_worker *w, const server_job *job);

#endif
