// For the rooms right of learned: what a learned model consists of, for files.
#ifndef PL_LEARNED_ROOM_H
#define PL_LEARNED_ROOM_H

#include "base/base.h"
#include "pliant/learned.h"

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

#endif
