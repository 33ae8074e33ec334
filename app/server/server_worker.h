// Inside the worker: what its files share.
#ifndef PL_SERVER_WORKER_H
#define PL_SERVER_WORKER_H

#include "server_impl.h"

#define WORKER_LOG 1024   // shapes remembered for files
#define WORKER_LARGE 1000 // elements from which a shape takes time, and its details more
#define POSE_LOOSE 20.0   // times the tolerances of the first answer: 2e-4 mm, 2e-5 of the forces

// When a newer request stops the solve in hand. A preview always finishes: it is superseded, never cancelled.
typedef enum worker_yield {
    WORKER_AT_ONCE,     // a preview was shown before
    WORKER_WHEN_RESTED, // once the newer request has stood unchanged for a while, unless this solve leads
                        // there
    WORKER_NEVER
} worker_yield;

// What a shape said: commands, efforts, measures, markers and sensors behind each other, and its row of a
// table.
typedef struct worker_entry {
    uint32_t shape;
    bool coarse;
    double *value;
    char *row;
    char pull[120]; // the force of a hand, in words; empty: none
} worker_entry;

// The second thread (server_lead.c).
typedef struct server_lead {
    pthread_t thread;
    bool started;
    unsigned poses, loads; // of the queue, when it took its last request
    int steps;             // of the search in hand
    uint64_t order; // of the last request that a coarse shape was published for; guarded by `publishing`
    atomic_bool open, busy, slow; // the coarse model is given to it; it solves; the fine mesh is slow
} server_lead;

struct server_worker {
    server_queue *queue;
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
    int slot;     // of the job at hand, -1 when it is free again
    bool opening; // a robot is being read; the one before still stands
    bool quiet;   // work nobody asked for: no word about its progress
    worker_yield yield;
    double begun, reported; // s
    double fraction;        // of the solve in hand, as far as it is known
    double slice_end;       // s: when the search in hand shows what it has; 0: at its end
    int slice_steps;        // of the search, asked so far
    // of the pose in hand, and of the last one whose shape was published: who asked (0: nobody), the viewer's
    // number of it, and the order in which they came
    uint32_t viewer, reached_viewer;
    double serial, reached;
    uint64_t order, answered;
    bool intermediate; // the shape in hand is an intermediate one towards that pose
    bool walking;      // the solve in hand leads from one set of commands to another:
    double from[SERVER_COMMANDS], aim[SERVER_COMMANDS];
    // a motion in time: of which model, NULL: none; the force of the hand, N; its largest kinetic energy, mJ;
    // frames in which it rested
    server_model *live;
    double live_force[3], live_most;
    int live_still;
    server_model *brief;           // its last shape was published without its details
    json_t *extra;                 // of that shape's header
    double detailed;               // s: when details were published last
    double detail_seconds;         // they take at most
    uint32_t shape;                // number of the last shape published; guarded by `publishing`
    double spring, spring_grip[3]; // N/mm between a hand and the point it grips; for which point
    worker_entry log[WORKER_LOG];  // guarded by `publishing`
    pthread_mutex_t publishing;
    server_lead lead;
};

// A progress hook that tells the viewers and stops work as `yield` says.
pl_progress worker_progress(server_worker *w);

// The same for inverse kinematics, which it also stops between two steps at the end of a slice
// (w->slice_end).
pl_progress worker_search_progress(server_worker *w);
bool worker_must_stop(server_worker *w);

// Whether a newer request waits.
bool worker_overtaken(const server_worker *w);
bool worker_rested(const server_worker *w); // no request has come for a while
bool worker_drags(const server_worker *w);  // a hand drags: another request waits or will come soon
void worker_report(server_worker *w, const char *state, const char *text, double fraction);

// Gives the shape of a model to the viewers; `extra` goes into its header. What it said is remembered.
void worker_publish_shape(server_worker *w, server_model *m, json_t *extra);

// The same without what takes long on large bodies (fields, crossings, error of the mesh): the shape is seen
// at once, and once more with these by worker_details, when nothing waits or the last ones are old.
void worker_publish_brief(server_worker *w, server_model *m, json_t *extra);
void worker_details(server_worker *w);

// The coarse shape of a request, or an intermediate one towards it, by the leader.
void worker_publish_lead(server_worker *w, const server_pose *pose, bool intermediate, json_t *extra);
void worker_publish_frame(server_worker *w, server_model *m, json_t *extra); // without details, of a motion

// The shape of that number as a model's answer; NULL when it is not remembered.
const worker_entry *worker_remember(const server_worker *w, uint32_t shape, pl_model_answer *answer);

// After inverse kinematics: a report made from an independent check of the shape.
void worker_check(server_model *m, const pl_ik_report *ik);

// Opens the robot at w->path in place of the one before.
void worker_load(server_worker *w);
void worker_pose(server_worker *w, const server_pose *pose);

// Solves for the commands; `loosely`: for a shape that is shown at once and completed later. False when a
// newer request stopped it.
bool worker_forward(server_worker *w, server_model *m, const double *command, bool loosely);

// Whether the commands that the solve in hand leads to are nearer to the newest request than those it comes
// from.
bool worker_approaches(server_worker *w);

// Goes there in steps, which are published; ends before when a newer request waits.
void worker_walk(server_worker *w, server_model *m, const double *command, bool preview);

// Pulls at the body with the commands as they are; `preview`: on the coarse mesh first.
void worker_pull(server_worker *w, const server_pose *pose, const double *command, bool preview);

// Takes hold of a point of the body, which stands at the commands; what this needs is known afterwards: the
// stiffness of the hand in a motion (N/mm), the radius of the grip (mm). False after telling the viewer why
// not.
bool worker_grip(server_worker *w, server_model *m, const server_pose *pose, const double *command);
double worker_live_spring(const server_worker *w);
double worker_grip_radius(const server_model *m);

// Moves on in time towards the commands, with the hand, frame by frame. True: a newer request waits, the
// motion goes on with it; false: it has ended, and the model stands at the equilibrium it began at.
bool worker_live(server_worker *w, const server_pose *pose, const double *command);
void worker_live_end(server_worker *w);

// The model goes back to where it stands without a hand.
void worker_let_go(server_worker *w, server_model *m);

// Commands of a request in internal units. False when one is outside its range; `viewer`, if given, is
// informed.
bool worker_commands(server_worker *w, const server_pose *pose, const uint32_t *viewer, double *command);

// `searching`: this is not the last word about the target.
json_t *worker_ik_json(const server_pose *pose, const pl_ik_report *report, bool searching);

// Gives the derivative of the model's shape to the viewers, who predict the shapes between two solves from
// it. With `all` idle commands are differentiated too, at their rest values.
void worker_tangent(server_worker *w, server_model *m, bool all);
void worker_job(server_worker *w, const server_job *job);

// Frees the slot of the job at hand. Comes before its last word, so that whoever hears that may ask again.
void worker_free_slot(server_worker *w);

// What the robot can do with a marker: a pose that moves it far, a place and directions for curves.
void worker_suggest(server_worker *w, const server_job *job);

// ---- the leader
void lead_start(server_worker *w);
void lead_stop(server_worker *w); // after the queue's `stop`

// The coarse model goes to the leader, or comes back. Taking waits for the solve in hand, which is stopped.
void lead_give(server_worker *w);
void lead_take(server_worker *w);

// For the coarse model and its inverse kinematics, whoever solves with them.
pl_progress lead_progress(server_worker *w);
pl_progress lead_search_progress(server_worker *w);

#endif
