// For the rooms right of learned: what a learned model consists of, for files; evaluation and inverse of a
// learned model without a pl_model around it.
#ifndef PL_LEARNED_ROOM_H
#define PL_LEARNED_ROOM_H

#include "base/base.h"
#include "pliant/learned.h"
#include "learn/learn.h"

// ---- what is known of a robot without its mesh: the names, commands, actuators, markers and sensors of
// `info`, copied; body points, supports and readings are left out
typedef struct pl_about {
    pl_model_info info;
    void *memory;
} pl_about;

struct pl_dataset {
    pl_about about;
    char *robot_file;     // absolute; NULL: none
    uint64_t robot_print; // of it when the samples were taken (pl_robot_file_print); 0: not known
    double mesh_size; // of the mesh the samples were taken on, where it was not that of the file; 0: it was
    int mesh_order;   // likewise
    int planned, count, failed;
    int damaged, first_damaged; // samples whose checksum does not match are left out; the number of the first
    bool unchecked;             // of an older version: without checksums
    double *command;            // per sample: command_count
    double *marker;             // 3 marker_count
    double *rotation;           // 9 marker_count
    double *sensor, *effort, *measure;
    double *energy; // 1
    // derivatives by the commands, rows as in pl_model_derivative; NULL: not sampled
    double *d_marker, *d_rotation, *d_sensor, *d_effort, *d_measure, *d_energy;
    // vertices of the body that is drawn; 0: shapes were not sampled
    int32_t point_count;
    double *point_rest; // 3 point_count
    float *point;       // 3 point_count per sample
};
void pl_dataset_clear(pl_dataset *data);

struct pl_sequences {
    pl_dataset data; // all rows; commands and markers, the others NAN
    int count;       // runs: rows of a run are in the order in which they were measured
    int *start;      // count + 1: the first row of each
    char (*name)[32];
    int *line; // of each row in the file
};
void pl_sequences_clear(pl_sequences *sequences);

const pl_about *pl_learned_about(const pl_learned *learned);
pl_status pl_about_copy(const pl_model_info *info, pl_about *out, pl_error *err);
void pl_about_clear(pl_about *about);

// Numbers per sample of all derivatives together.
int pl_dataset_slopes(const pl_model_info *info);

// ---- the error of an answer
typedef struct pl_learned_estimate {
    double outside;  // largest distance of a command from the sampled range, as a fraction of it; 0: inside
    int command;     // which one
    double distance; // to the nearest sample over the usual distance of neighbours; above 2: a hole
    double error;    // mm, bound on the error of all markers (pl_answer_error); NAN: not known
} pl_learned_estimate;

pl_learned_estimate pl_learned_judge(pl_learned *learned, const double *command);

typedef struct pl_learned_use {
    pl_outside outside; // of the sampled region: answer with a warning, or by the full model
    // Opens the full model (once, when it is needed: for drawing, checks and fallback). NULL: not available.
    pl_status (*open)(void *user, pl_model **full, pl_error *err);
    void *user;
    void (*release)(void *user); // may be NULL
} pl_learned_use;

// Takes ownership of `learned`, also on failure. Idle commands are at their rest value. The estimate is part
// of the answer as readings (group "learned").
pl_status pl_learned_model(pl_learned *learned, const pl_learned_use *use, pl_model **out, pl_error *err);
bool pl_learned_is_adapted(const pl_learned *learned);

// Values of the extra inputs at which the model answers from now on; default: the mean of the measured ones.
int pl_learned_extra_count(const pl_learned *learned);
pl_status pl_learned_set_extra(pl_learned *learned, const double *extra, pl_error *err);

// The correction of marker positions by measurements.
//   layer:    p_real = network(p), of the measured markers
//   process:  p_real = p + gp(commands, extra)
typedef struct pl_adaptation {
    pl_adapt_kind kind;
    int marker_count; // measured ones
    int *marker;      // their indices
    int extra_count;
    char (*extra_name)[32];
    double *extra; // values in use
    pl_network *network;
    pl_gp *gp;
    double error_rms, error_largest; // mm, held out
    int sample_count;
    // of every measurement, predicted from the others: per measured marker the distance in mm, for a process
    // over its standard deviation there
    double *sample;   // commands and extra inputs; extra_count is 0 for a layer
    double *residual; // marker_count per measurement
    pl_error_map *errors;
} pl_adaptation;

// One standard deviation per measured marker of a process at commands and extra inputs x, noise included, mm;
// 1 for a layer. `deviation`: scratch, 3 per marker.
void pl_adaptation_spread(const pl_adaptation *adaptation, const double *x, double *deviation,
                          double *spread);

// The bounds from the residuals, once these are complete.
pl_status pl_adaptation_finish(pl_adaptation *adaptation, int command_count, pl_error *err);
void pl_adaptation_destroy(pl_adaptation *adaptation);

struct pl_learned {
    pl_about about;
    char *robot_file;
    double mesh_size; // as in pl_dataset
    int mesh_order;
    pl_network *network[PL_LEARN_PART_COUNT];
    double error_rms[PL_LEARN_PART_COUNT], error_largest[PL_LEARN_PART_COUNT]; // held out
    // outputs of the actuator part: bit 1: its measure, bit 2: its effort was finite in the samples
    uint8_t *known;
    uint8_t *framed; // per marker: has a rotation
    int mode_count;
    int32_t point_count;
    double *point_rest, *point_mean, *mode; // mode k: 3 point_count numbers
    uint64_t robot_print;                   // of the robot file (pl_robot_file_print), 0: not known
    const char *distrust; // why the errors below do not hold for the robot as it is; NULL: they do
    // the samples, for estimates
    int sample_count;
    int missing;      // of the samples planned when it was fitted: not stored, or damaged
    double *sample;   // commands
    double *residual; // learned_columns per sample: errors of those held out; first column NAN: trained on
    pl_error_map *errors; // from them; NULL: none was held out
    double *bound;        // learned_columns: scratch
    double *low, *high;   // per command
    double spacing;       // usual distance of neighbours in scaled commands
    double width;         // mm, of the first marker's positions
    pl_adaptation *adaptation;
    // memory: in place of the position network, which stays for comparison
    pl_lstm *history;
    double *past;        // its state before the present step; 0: the beginning of a sequence
    int history_burn;    // first steps of a sequence that were not counted
    double compared_rms; // mm, held out, of the network without memory
    // scratch of an evaluation
    double *scratch;
};

// The region of the samples: box, spacing, width; errors are NAN. Replaces an earlier one.
pl_status pl_learned_region(pl_learned *learned, const pl_dataset *data, pl_error *err);

// Takes the scratch memory once everything else is in place.
pl_status pl_learned_finish(pl_learned *learned, pl_error *err);

// Columns of the errors: distance of each marker (mm), angle of each marker (rad), sensors, and the RMS
// distance of the vertices (mm).
int pl_learned_columns(const pl_learned *learned);
enum { LEARNED_ERROR_MARKER, LEARNED_ERROR_ROTATION, LEARNED_ERROR_SENSOR, LEARNED_ERROR_SHAPE };
int pl_learned_column(const pl_learned *learned, int part); // the first of a part

// Marker positions (3 per marker) with the adaptation, and their derivatives (may be NULL), at commands
// without NAN.
void pl_learned_markers(pl_learned *learned, const double *command, double *marker, double *jacobian);

// Bounds on the errors at commands without NAN: learned_columns numbers, NAN: not known.
void pl_learned_bounds(pl_learned *learned, const double *command, const pl_learned_estimate *at,
                       double *bound);
pl_error_source pl_learned_error_source(const pl_learned *learned);
double pl_learned_confidence(const pl_learned *learned); // of the bounds; NAN: none

// ---- inverse kinematics of one marker at a fixed rate: no allocation, a bounded number of evaluations
typedef enum pl_reach_method {
    PL_REACH_NEWTON,    // damped Gauss-Newton within the ranges, with least motion
    PL_REACH_PUBLISHED, // gradient with the Jacobian network (or the derivative) and the soft line search
    PL_REACH_DIRECT,    // the direct-inverse network, clipped to the ranges
    PL_REACH_METHOD_COUNT
} pl_reach_method;

typedef struct pl_reach_options {
    pl_reach_method method;
    int marker;
    bool axes[3];         // world axes that count; all false: all
    double tolerance;     // mm; 0: 0.1 % of the width of the workspace, as published (newton: a tenth of it)
    int evaluation_limit; // of the networks; 0: 25 (newton), 20000 (published: it ends where it no longer
                          // improves)
    double least_motion;  // mm per range: keeps redundant commands near the start
    double shrink;        // published: factor of the line search
} pl_reach_options;

pl_reach_options pl_reach_options_default(void);

typedef struct pl_reach_result {
    bool converged;  // the learned model is within the tolerance
    bool reached;    // and so is the robot: distance + error <= tolerance
    double distance; // mm, of the learned model
    double error;    // mm, of the marker, as pl_answer_error; NAN: not known
    int evaluations;
} pl_reach_result;

typedef struct pl_reach pl_reach;
pl_status pl_reach_create(pl_learned *learned, const pl_reach_options *options, pl_reach **out,
                          pl_error *err);
void pl_reach_destroy(pl_reach *reach);

// `command` is the start (the last commands) and receives the result, within the ranges of the samples.
pl_reach_result pl_reach_solve(pl_reach *reach, const double target[3], double *command);

// The marker's position and its derivative (3 x command_count; may be NULL) by the networks, adaptation
// included.
void pl_reach_forward(pl_reach *reach, const double *command, double position[3], double *jacobian);

#endif
