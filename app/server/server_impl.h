// What the files of the server share: messages, the queue between sockets and worker, the models.
#ifndef PL_SERVER_IMPL_H
#define PL_SERVER_IMPL_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include "server.h"
#include "server_pack.h"

#define SERVER_FIELDS 6                       // that a shape is coloured by
#define SERVER_COMMANDS 64                    // of one robot that the view can set
#define SERVER_POINTS 4000                    // of one path
#define SERVER_RECEIVE 262144                 // bytes of one message from a viewer
#define SERVER_REPLIES 32                     // that may wait for one viewer
#define SERVER_REPLY_BYTES ((size_t)64 << 20) // of them together; more than one is not kept beyond it
#define SERVER_ALL_BYTES ((size_t)128 << 20)  // of all viewers; beyond it who fetches least is hung up on
#define SERVER_VIEWERS 64                     // at a time
#define SERVER_DRAGS 0.3                      // s between two requests of a hand that drags, at most

pl_status server_fail(pl_error *err, pl_status status, const char *format, ...) PL_PRINTF(3, 4);
double server_now(void); // s, monotonic

// JSON of a number; null when it is not finite.
json_t *server_number(double value);
json_t *server_numbers(const double *value, int count);

// JSON of a text that may come from anywhere: what is not UTF-8 is shown as question marks.
json_t *server_text(const char *text);

// ---- the queue
// What is sent to every viewer; each channel holds the newest message only, so a slow viewer skips what was
// replaced while it was busy.
typedef enum server_channel {
    SERVER_CONTROL,
    SERVER_ROBOT,
    SERVER_PROBLEM,
    SERVER_DRAWN,
    SERVER_MESH_FINE,
    SERVER_MESH_COARSE,
    SERVER_STATUS,
    SERVER_SHAPE,
    SERVER_TANGENT,
    SERVER_PATH,
    SERVER_CLOUD,
    SERVER_TICK,
    SERVER_CHANNEL_COUNT
} server_channel;

// What the owner of the controls requests for. The newest replaces one that waits.
typedef enum server_pose_kind { SERVER_POSE_COMMANDS, SERVER_POSE_TARGET, SERVER_POSE_PULL } server_pose_kind;

typedef struct server_pose {
    server_pose_kind kind;
    uint32_t viewer, robot; // who asks; which robot, as numbered in the robot message
    double serial;          // the viewer's own number, repeated in the shapes that answer
    uint64_t order;         // in which requests came: another page, or one loaded again, has other serials
    int command_count;
    double command[SERVER_COMMANDS]; // in the units of the page; NAN: idle
    bool hold[SERVER_COMMANDS];      // target: commands that stay
    int marker;
    double target[3];        // mm
    double grip[3], hand[3]; // pull: the point gripped (undeformed) and where the hand is, mm
    bool live;               // in time: the body swings there
} server_pose;

typedef enum server_job_kind {
    SERVER_JOB_NONE,
    SERVER_JOB_FOLLOW,
    SERVER_JOB_CLOUD,
    SERVER_JOB_SUGGEST,
    SERVER_JOB_EXPORT
} server_job_kind;

// Work of the one who has the controls in the first slot, files in the others, one for each viewer at a time:
// nobody takes the place of another. Files are made in the order they were asked for.
#define SERVER_SLOTS (1 + SERVER_VIEWERS)
typedef struct server_job {
    server_job_kind kind;
    uint32_t viewer, robot;
    int marker, count; // follow: points; cloud: samples; suggest: 1 for a curve that was tried
    double *point;     // follow: 3 per point, on the heap
    bool hold[SERVER_COMMANDS];
    char format[16]; // export
    uint32_t *shape; // export: `count` numbers of shapes, on the heap
    int slot;        // of the queue, and when it came there
    uint64_t turn;
} server_job;

// A message for one viewer only.
typedef struct server_reply {
    uint32_t viewer;
    server_message *message;
    struct server_reply *next;
} server_reply;

typedef struct server_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    // for the worker; the counters are read without the lock by work that may have to stop
    server_pose pose;
    uint64_t order; // of the newest pose
    server_job job[SERVER_SLOTS];
    char *load; // the robot file to open, on the heap
    bool has_pose, has_load, has_job[SERVER_SLOTS];
    uint64_t turns; // jobs so far
    atomic_uint poses, loads;
    _Atomic double posed,
        interval; // s, when the newest pose was requested, and how long after the one before
    atomic_bool cancel, stop;
    // of the worker: whether it works, and when it gave its last sign of life (s)
    atomic_bool busy;
    _Atomic double alive;
    // for the viewers
    server_message *channel[SERVER_CHANNEL_COUNT];
    uint64_t version[SERVER_CHANNEL_COUNT];
    server_reply *reply, **reply_end;
    void (*wake)(void *user); // called without the lock when something was put down for the viewers
    void *wake_user;
} server_queue;

bool server_queue_init(server_queue *queue);
void server_queue_clear(server_queue *queue);

// Takes the message over (NULL empties the channel).
void server_publish(server_queue *queue, server_channel channel, server_message *message);
void server_publish_json(server_queue *queue, server_channel channel, json_t *root);
void server_write_reply(server_queue *queue, uint32_t viewer, server_message *message);

// A sentence for one viewer: its request was refused.
void server_refuse(server_queue *queue, uint32_t viewer, const char *format, ...) PL_PRINTF(3, 4);
void server_request_pose(server_queue *queue, const server_pose *pose);
bool server_request_load(server_queue *queue, const char *path);

// Takes the points of the job over; false when a job of this kind (a file: of this viewer) waits or runs.
bool server_request_job(server_queue *queue, server_job *job);

// A hand that pulls at the body (server_pull.c).
typedef struct server_pull {
    bool gripped, known;      // known: the derivatives are
    double at[3];             // the point, undeformed
    double from[3], place[3]; // where it was before the hand pulled, and is; mm
    double force[3];          // N, of the shape as it stands
    double C[9];              // mm / N
    double *response;         // 3 columns: of body points, markers, efforts, measures
} server_pull;

// ---- a model of any kind, with what the view keeps of it
typedef struct server_model {
    pl_model *model;
    pl_model_info info;
    const pl_mesh *body; // what is drawn
    uint32_t mesh;       // number of the mesh message
    bool coarse;
    double *home;   // the state without commands, once its equilibrium was found
    double seconds; // of the last solve that finished
    bool loose;     // which ended at looser tolerances than the model's
    uint32_t shape; // number of the shape published last, while the model still stands there; 0: it moved
    pl_solve_report report;
    const pl_record *record; // of the shape message just made: the model's
    bool at_home;            // it stands where it was brought by server_model_go_home, unpublished
    // of the last derivative: columns by command (3 per vertex, mm per unit of the page), which of them are
    // known, and of which shape
    float *column;
    bool known[SERVER_COMMANDS];
    uint32_t column_shape;
    double stride;    // rad of the next step while a hand drags
    bool last_failed; // the last solve found no equilibrium
    int moves;        // since the last derivative
    // inverse kinematics, made when first asked for
    pl_ik *ik;
    int ik_marker;
    bool ik_hold[SERVER_COMMANDS];
    server_pull pull;
    pl_simulation *simulation; // made when a motion is first asked for
    // scratch for the snapshots
    double *place, *field, *weight;
    int32_t *along; // a tube's vertices: the nearest point of its centre line
    float *position;
    uint16_t *value;
} server_model;

// Takes the model over, also on failure.
pl_status server_model_open(server_model *m, pl_model *model, bool coarse, uint32_t mesh, pl_error *err);
void server_model_close(server_model *m);

// The unchanging part: rest shape, surface, cells, chambers.
server_message *server_model_mesh(const server_model *m);

// The body of a robot as it is drawn, while its solver is being prepared.
server_message *server_drawn(const pl_robot *robot);

// The shape as it stands; brief: without fields, crossings and the error of the mesh. `extra` is merged into
// the header.
server_message *server_model_shape(server_model *m, bool brief, json_t *extra);

// The derivative of the shape with respect to the commands, in the units of the page, and that of markers,
// efforts, ratios and sensors in the header; NULL when out of memory. The model keeps its columns.
server_message *server_model_tangent(server_model *m, const pl_model_derivative *d, uint32_t robot);

// To where loads and stress-free shapes bring it without commands: at once when that was solved before,
// otherwise to the shape as drawn. What was solved there is kept by the second.
void server_model_go_home(server_model *m);
void server_model_keep_home(server_model *m);

// Positions of the vertices drawn, 3 each; borrowed until the next call.
const double *server_model_positions(server_model *m);

// Inverse kinematics for a marker, with the commands in `hold` kept; the model's until the next call.
pl_status server_model_ik(server_model *m, int marker, const bool *hold, const pl_progress *progress,
                          pl_ik **out, pl_error *err);

// To the equilibrium at the commands; `loosely`: to looser tolerances, for a shape that is shown at once.
// False when it was stopped.
bool server_model_forward(server_model *m, const double *command, bool loosely);

// Lets the point go; the model must stand without a force.
void server_pull_end(server_model *m);

// The model goes back to where it stands without a hand.
void server_model_let_go(server_model *m);

// The page's view of a command: unit, range, what stands for rest.
typedef struct server_command_view {
    const char *unit;
    double scale;     // internal value of one unit
    double low, high; // in units
    bool assumed;     // the robot gives no range
    double rest;      // in units: the value at which an idle actuator stands
} server_command_view;

server_command_view server_command_view_of(const server_model *m, int command);
json_t *server_robot_json(server_model *m, const pl_findings *findings, const pl_robot_document *document,
                          uint32_t number);

// Why a robot cannot be opened; `standing`: another one still stands.
json_t *server_problem_json(const pl_findings *findings, const pl_error *err, const char *path,
                            bool standing);

// ---- the worker
typedef struct server_worker server_worker;
pl_status server_worker_start(server_queue *queue, const server_options *options, server_worker **out,
                              pl_error *err);
void server_worker_stop(server_worker *worker); // asks, waits, frees

// ---- meshes of the gallery, made ready in the background; NULL where there is none
typedef struct server_warmer server_warmer;
server_warmer *server_warmer_start(server_queue *queue, const server_options *options);
void server_warmer_stop(server_warmer *warmer);

// ---- parameters of designs
// Those of the robot file, with values and limits; empty when it is not made from a design.
json_t *server_parameters_json(const pl_robot_document *document);

// Writes the file with other values ({name: number}) beside it; its path, on the heap.
pl_status server_edit(const char *path, const json_t *values, char **edited, pl_error *err);

// ---- files on disk
// A new folder for a file that is written and read back at once; the caller removes it.
pl_status server_temporary(char *folder, size_t room, pl_error *err);

// Reads a path as `pliant follow --path` does; messages name it `name`.
pl_status server_path_read(const char *text, const char *name, pl_path_file *out, pl_error *err);

// What a robot is made from, so that a change can be seen: names, sizes and times of the robot file and of
// the files beside it that it mentions.
uint64_t server_files_stamp(const char *robot_path);

// Writes the robots of all designs into folders of `gallery`; their JSON for the page.
pl_status server_gallery_write(const char *gallery, pl_error *err);
json_t *server_gallery_json(const char *gallery);

// The robot file of a design in the gallery, on the heap; NULL when there is none.
char *server_gallery_path(const char *gallery, const char *kind);

// A step whose failure shows in what follows: the model refuses it because it has no such part.
static inline void server_tried(pl_status status)
{
    (void)status;
}

#endif
