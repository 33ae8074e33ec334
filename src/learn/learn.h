// Learning on plain arrays, for the rooms that may call `learn`: networks, recurrent networks, Gaussian
// processes, maps of errors. What programs set and read of it (size of a network, options and report of a
// training) is in pliant/learn.h.
#ifndef PL_LEARN_ROOM_H
#define PL_LEARN_ROOM_H

#include "pliant/learn.h"

const char *pl_activation_name(pl_activation activation); // "tansig", "logistic", ...

// Initial weights are uniform with the variance that preserves the size of signals (Glorot); S is 0, widths
// are 1. All memory is allocated here.
pl_status pl_network_create(const pl_network_def *def, pl_network **out, pl_error *err);
void pl_network_destroy(pl_network *network);
pl_network_def pl_network_get_def(const pl_network *network);

// The weights, to be read or written: for each layer W_l (rows: neurons), then b_l; at the end S.
int pl_network_weight_count(const pl_network *network);
double *pl_network_weights(pl_network *network);

typedef struct pl_network_scale {
    double *in_mid, *in_width;   // input_count each
    double *out_mid, *out_width; // output_count each; widths are not 0
} pl_network_scale;

pl_network_scale pl_network_get_scale(pl_network *network);

// Value and derivative (output_count rows, input_count columns) at x; each may be NULL. No memory is
// allocated, the time does not depend on the values.
void pl_network_evaluate(pl_network *network, const double *x, double *y, double *jacobian);

// ---- data
typedef struct pl_learn_data {
    int count;
    const double *x;        // inputs
    const double *y;        // outputs
    const double *jacobian; // dy/dx per sample, output_count x input_count; NULL: not known
    const int *group;       // per output: outputs with the same number share one scale; NULL: each its own
} pl_learn_data;

// Sets the scales of the network from data: inputs to [-1, 1], outputs to mean 0 and unit standard deviation
// (of a group: that of its widest output). A constant output keeps a width of 1. Data that is not finite is
// refused with the number of the sample.
pl_status pl_network_fit_scale(pl_network *network, const pl_learn_data *data, pl_error *err);

// Number of outputs that are constant over the data.
int pl_learn_constant_outputs(const pl_learn_data *data, int output_count);
const char *pl_trainer_name(pl_trainer trainer); // "lm", "adam", "lbfgs"

// Sets the scales, splits the data and trains from the present weights. Leaves the weights with the smallest
// held-out error in the network. `held` (one per sample, may be NULL) receives which samples were held out.
pl_status pl_network_train(pl_network *network, const pl_learn_data *data, const pl_train_options *options,
                           bool *held, pl_train_report *report, pl_error *err);

// The loss above over all samples and its gradient (weight_count numbers, may be NULL), for tests and other
// minimisers.
pl_status pl_network_loss(pl_network *network, const pl_learn_data *data, double jacobian_weight,
                          double decay, double *loss, double *gradient, pl_error *err);

// ---- a general minimiser (L-BFGS with a line search for the weak Wolfe conditions)
typedef struct pl_lbfgs_options {
    int iteration_limit;
    int memory;                                                             // pairs kept
    double gradient_tolerance;                                              // largest component
    bool (*step)(void *user, int iteration, const double *x, double value); // false: stop; may be NULL
} pl_lbfgs_options;

// `x` (count numbers) is the start and receives the result. Returns the number of iterations, or -1: no
// memory. `evaluate` returns the value and fills in the gradient; a value that is not finite is a point to
// avoid.
int pl_lbfgs(int count, double *x, double (*evaluate)(void *user, const double *x, double *gradient),
             void *user, const pl_lbfgs_options *options);

// ---- principal modes: the directions in which samples of `size` numbers vary most
// `mean` (size numbers) and `mode` (mode_limit times size) are filled; modes are orthonormal, so many that
// the fraction `share` of the variance is covered, at most mode_limit. `left`: RMS per number of what they
// leave.
pl_status pl_principal_modes(const double *x, int count, int64_t size, int mode_limit, double share,
                             double *mean, double *mode, int *mode_count, double *left, pl_error *err);

typedef struct pl_lstm_def {
    int input_count, output_count, cell_count;
    uint64_t seed;
} pl_lstm_def;

pl_status pl_lstm_create(const pl_lstm_def *def, pl_lstm **out, pl_error *err);
void pl_lstm_destroy(pl_lstm *lstm);
pl_lstm_def pl_lstm_get_def(const pl_lstm *lstm);

// Weights: for each gate (i, f, o, g) and cell a row (inputs, cells, bias); then V, S (outputs in rows), d.
int pl_lstm_weight_count(const pl_lstm *lstm);
double *pl_lstm_weights(pl_lstm *lstm);
pl_network_scale pl_lstm_get_scale(pl_lstm *lstm);

// One step from the present state; `jacobian` (may be NULL): dy/dx of this step.
void pl_lstm_reset(pl_lstm *lstm);
void pl_lstm_step(pl_lstm *lstm, const double *x, double *y, double *jacobian);

// The state, 2 cell_count numbers (h, then c).
void pl_lstm_get_state(const pl_lstm *lstm, double *state);
void pl_lstm_set_state(pl_lstm *lstm, const double *state);

// Sequences: `start` has sequence_count + 1 entries, indices of samples. `burn`: the first steps of each
// sequence do not count.
typedef struct pl_history {
    int sequence_count;
    const int *start;
    const double *x, *y;
    int burn;
} pl_history;

// Loss 1/2 mean |y - t|^2 (scaled) + 1/2 decay |weights|^2 and its gradient, through time.
pl_status pl_lstm_loss(pl_lstm *lstm, const pl_history *data, double decay, double *loss, double *gradient,
                       pl_error *err);

// Trains by Adam, one sequence per step (options: epoch_limit, rate, decay, held_share of the sequences,
// patience, seed, progress, record).
pl_status pl_lstm_train(pl_lstm *lstm, const pl_history *data, const pl_train_options *options, bool *held,
                        pl_train_report *report, pl_error *err);

// ---- Gaussian processes: a smooth function with error bars from few samples
// Kernel v exp(-1/2 sum ((x_i - x'_i) / l_i)^2) + noise; lengths and noise are common to all outputs and
// maximise the marginal likelihood; the variance v of each output follows in closed form.
typedef struct pl_gp pl_gp;

typedef struct pl_gp_options {
    int iteration_limit;
    double least_noise; // smallest noise, as a fraction of the standard deviation of the function
    double trend;       // prior variance of a linear part, relative to that of the function; 0: none
} pl_gp_options;

pl_gp_options pl_gp_options_default(void);

// Prior mean 0: subtract what is known. At least 2 samples.
pl_status pl_gp_fit(const double *x, const double *y, int count, int input_count, int output_count,
                    const pl_gp_options *options, pl_gp **out, pl_error *err);
void pl_gp_destroy(pl_gp *gp);

// Mean, its derivative (output_count x input_count) and standard deviations (of the function, without noise);
// each may be NULL. No memory is allocated.
void pl_gp_evaluate(pl_gp *gp, const double *x, double *mean, double *jacobian, double *deviation);

// Everything needed to store one; arrays are borrowed.
typedef struct pl_gp_view {
    int count, input_count, output_count;
    const double *x, *y;
    const double *length; // input_count
    double noise;         // variance of the noise over that of the function
    double trend;
    const double *variance; // output_count
} pl_gp_view;

pl_gp_view pl_gp_get_view(const pl_gp *gp);

// From stored samples and hyperparameters.
pl_status pl_gp_restore(const pl_gp_view *view, pl_gp **out, pl_error *err);

// The profiled negative log marginal likelihood at log lengths and log noise (input_count + 1 numbers) and
// its gradient, for tests.
pl_status pl_gp_likelihood(const double *x, const double *y, int count, int input_count, int output_count,
                           double trend, const double *parameter, double *value, double *gradient,
                           pl_error *err);

// Greedy choice of new samples: of `candidate_count` inputs, the `pick_count` (indices in `pick`) each of
// which reduces the largest remaining variance, given the samples of the process and the earlier picks.
pl_status pl_gp_propose(const pl_gp *gp, const double *candidate, int candidate_count, int pick_count,
                        int *pick, pl_error *err);

// ---- bounds on the error of a model, from errors measured at samples that it was not fitted to
// `residual`: column_count errors (>= 0) per point, each column with its own unit; NAN in a column: not
// measured, its bound is NAN everywhere.
typedef struct pl_error_samples {
    int count, input_count, column_count;
    const double *x, *residual;
} pl_error_samples;

typedef struct pl_error_map pl_error_map;
pl_status pl_error_map_create(const pl_error_samples *samples, pl_error_map **out, pl_error *err);
void pl_error_map_destroy(pl_error_map *map);

// Of the bounds: PL_ERROR_CONFIDENCE, or n / (n + 1) where n points are too few for it.
double pl_error_map_confidence(const pl_error_map *map);

// The bound of each column at x, from the errors at the nearest points. No memory is allocated.
void pl_error_map_evaluate(const pl_error_map *map, const double *x, double *error);

pl_train_options pl_train_options_default(void);

#endif
