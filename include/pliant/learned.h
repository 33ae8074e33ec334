// Learned models: networks fitted to samples of a robot that answer its questions in microseconds. A learned
// model is a pl_model like any other; its derivatives are those of its networks, and each answer carries an
// estimate of its error.
//
//   pl_dataset          samples: commands, markers, sensors, efforts, their derivatives, shapes
//   pl_learned_fit      networks from samples
//   pl_learned_adapt    a layer that corrects the markers by measurements of a real robot
//   pl_learned_model    the model
#ifndef PLIANT_LEARNED_H
#define PLIANT_LEARNED_H

#include "pliant/learn.h"
#include "pliant/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- samples of a model, read by pl_dataset_read (dataset.h): commands, markers, sensors, efforts, their
// derivatives, shapes
typedef struct pl_dataset pl_dataset;

typedef struct pl_dataset_info {
    const pl_model_info *robot; // names, commands, actuators, markers, sensors; without its body
    int planned, count, failed; // count: solved samples
    int damaged, first_damaged; // samples whose checksum does not match are left out; the number of the first
    bool unchecked;             // of an older version: without checksums
    bool derivatives;           // by the commands were sampled
} pl_dataset_info;

PL_API pl_dataset_info pl_dataset_get_info(const pl_dataset *data); // borrowed
PL_API void pl_dataset_thin(pl_dataset *data, int count);           // keeps so many, evenly spread
PL_API void pl_dataset_destroy(pl_dataset *data);                   // NULL is fine

// ---- fitting
typedef enum pl_learned_part {
    PL_LEARN_POSITION, // of the markers
    PL_LEARN_ROTATION, // two columns of each marker's rotation, made orthonormal again: no singularity
    PL_LEARN_SENSOR,
    PL_LEARN_ACTUATOR, // efforts and measures that do not follow from the commands alone
    PL_LEARN_ENERGY,
    PL_LEARN_SHAPE,    // coefficients of principal modes of the displacement
    PL_LEARN_JACOBIAN, // the derivatives of the marker positions, as a network of its own (as published)
    PL_LEARN_INVERSE,  // from the position of the first marker to the commands: the direct inverse
    PL_LEARN_PART_COUNT
} pl_learned_part;

PL_API const char *pl_learned_part_name(pl_learned_part part); // "position", "rotation", ...

typedef struct pl_learned_options {
    pl_network_def network; // hidden layers, activation, skip, seed; inputs and outputs are set by the part
    pl_train_options train; // `record` is called with `part` set below
    unsigned parts;         // bits 1u << pl_learned_part; those the samples lack are left out
    int mode_count;         // largest number of modes of the shape
    // Called before the training of a part; may be NULL.
    void (*begin)(void *user, pl_learned_part part);
} pl_learned_options;

PL_API pl_learned_options pl_learned_options_default(void);

typedef struct pl_learned_fit_report {
    bool fitted;
    int output_count, weight_count;
    pl_train_report train;
    // over the samples held out, in the unit of the part (mm, rad, ...): of the markers the distance, of
    // rotations the angle, of shapes the distance of vertices
    double rms, largest;
} pl_learned_fit_report;

typedef struct pl_learned_report {
    pl_learned_fit_report part[PL_LEARN_PART_COUNT];
    double width; // mm, largest extent of the first marker's positions
    int mode_count;
    double mode_error; // mm, RMS of what the modes leave of the sampled shapes
    bool stopped;
} pl_learned_report;

typedef struct pl_learned pl_learned;
PL_API_CHECKED pl_status pl_learned_fit(const pl_dataset *data, const pl_learned_options *options,
                                        pl_learned **out, pl_learned_report *report, pl_error *err);
PL_API void pl_learned_destroy(pl_learned *learned);
PL_API const pl_model_info *pl_learned_robot(const pl_learned *learned); // that it was fitted to
PL_API const pl_network *pl_learned_network(const pl_learned *learned, pl_learned_part part); // NULL: none

// Commands for `count` further samples where two networks of different seeds fitted to the samples disagree
// most, apart from each other and from the samples. `command` has count * command_count numbers.
PL_API_CHECKED pl_status pl_learned_propose(const pl_dataset *data, int count, uint64_t seed, double *command,
                                            pl_error *err);

// ---- the model
typedef enum pl_outside { PL_OUTSIDE_WARN, PL_OUTSIDE_FALLBACK } pl_outside;
PL_API bool pl_model_is_learned(const pl_model *model);
PL_API pl_learned *pl_model_learned(const pl_model *model); // NULL: it is not learned

// The full model at the commands of the learned one: errors of its markers, without the adaptation. `step`:
// where the learned model has a shape and the full one is a body without contact, by Newton steps from the
// learned shape (one residual and one back-solve each) until the last is below a tenth of the error found;
// otherwise, and where that does not end, the full model is solved.
typedef struct pl_learned_check {
    int steps;            // 0: it was solved
    pl_solve_report full; // of the full model, where it was solved
    double residual;      // N, with steps: largest nodal residual force at the learned shape
    double seconds;
    double largest; // mm, largest distance of a marker
    int marker;     // which one
} pl_learned_check;

PL_API_CHECKED pl_status pl_learned_check_full(pl_model *model, bool step, pl_learned_check *out,
                                               pl_error *err);

// ---- measurements of a real robot: rows of commands and marker positions
typedef struct pl_measured {
    int count, command_count, marker_count, extra_count;
    double *command; // internal units; NAN: idle
    double *marker;  // 3 per marker; NAN: not measured
    double *extra;   // further columns, for example load and speed
    char (*extra_name)[32];
    int *line; // of each row in the file
} pl_measured;

PL_API void pl_measured_clear(pl_measured *measured);

typedef enum pl_adapt_kind {
    PL_ADAPT_LAYER,   // as published: one hidden layer from simulated to real positions, a quarter as many
                      // neurons as samples
    PL_ADAPT_PROCESS, // p + affine(p) + Gaussian process of commands and extra inputs, with error bars
    PL_ADAPT_KIND_COUNT
} pl_adapt_kind;

PL_API const char *pl_adapt_kind_name(pl_adapt_kind kind); // "layer", "process"
PL_API pl_adapt_kind pl_adapt_kind_find(const char *name);

typedef struct pl_adapt_options {
    pl_adapt_kind kind;
    double held_share; // of the measurements, to measure the error; all are used in the end
    double neurons;    // layer: hidden neurons per sample
    uint64_t seed;
    pl_progress progress;
} pl_adapt_options;

PL_API pl_adapt_options pl_adapt_options_default(void);

typedef struct pl_adapt_report {
    int count, held_count, marker_count;
    double before_rms, before_largest; // mm, of the markers without adaptation
    double held_rms, held_largest;     // mm, on the measurements held out, by a model fitted to the others
    double noise;                      // mm, standard deviation of the noise found; NAN: not known
} pl_adapt_report;

// Fits and attaches the correction; an earlier one is replaced. Markers that were not measured keep their
// positions.
PL_API_CHECKED pl_status pl_learned_adapt(pl_learned *learned, const pl_measured *measured,
                                          const pl_adapt_options *options, pl_adapt_report *report,
                                          pl_error *err);

// The commands (within the sampled region) whose measurement would lower the largest uncertainty most, one
// after the other; for an adaptation by a process. `command` has count * command_count numbers.
PL_API_CHECKED pl_status pl_learned_next_poses(pl_learned *learned, int count, double *command,
                                               pl_error *err);

// ---- models with memory: a recurrent network fitted to measured sequences, read by pl_sequences_read
typedef struct pl_sequences pl_sequences;
PL_API int pl_sequences_row_count(const pl_sequences *sequences);
PL_API void pl_sequences_destroy(pl_sequences *sequences); // NULL is fine

#define PL_HISTORY_MARKERS 64
typedef enum pl_history_kind {
    PL_HISTORY_PRESENT, // a network of the present commands
    PL_HISTORY_THREE,   // a network of the last three commands
    PL_HISTORY_MEMORY,  // the recurrent network
    PL_HISTORY_KIND_COUNT
} pl_history_kind;

typedef struct pl_history_options {
    int cell_count;
    int piece, burn; // training sequences are cut into pieces of so many steps, whose first do not count
    double held_share;
    const char *const *held; // names of runs held out; NULL: by held_share. Whole runs where there are at
    int held_count;          // least 3, otherwise the end of each run
    pl_train_options train;  // epoch_limit, rate, decay, patience, seed, progress, record
} pl_history_options;

PL_API pl_history_options pl_history_options_default(void);

typedef struct pl_history_report {
    int run_count, held_run_count, train_count, held_count; // runs, rows
    bool by_time;                                           // the end of each run was held out
    int piece_count, weight_count;
    // over the rows held out, per kind: of each marker the distance, mm, and of all; rows before `burn` of a
    // run do not count
    double rms[PL_HISTORY_KIND_COUNT][PL_HISTORY_MARKERS], all[PL_HISTORY_KIND_COUNT],
        largest[PL_HISTORY_KIND_COUNT];
    double spread[PL_HISTORY_MARKERS]; // mm, of the rows held out about their mean
    double width;                      // mm, of the first marker
    pl_train_report train;
    bool stopped;
} pl_history_report;

// Rows held out are neither trained on nor used to end the training.
PL_API_CHECKED pl_status pl_learned_fit_history(const pl_sequences *sequences,
                                                const pl_history_options *options, pl_learned **out,
                                                pl_history_report *report, pl_error *err);
PL_API const pl_lstm *pl_learned_history(const pl_learned *learned); // NULL: the model has no memory

#ifdef __cplusplus
}
#endif
#endif
