// What programs set and read of the training of learned models (learned.h): the size of a network, options
// and report of a training.
#ifndef PLIANT_LEARN_H
#define PLIANT_LEARN_H

#include "pliant/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- feed-forward networks
// a_0 = (x - in_mid) / in_width,  a_l = f(W_l a_(l-1) + b_l) for the hidden layers,
// y = out_mid + out_width (W_L a_(L-1) + b_L + S a_0), with S only if `skip`. Inputs whose function has a
// kink at 0 (one-sided drives) appear in a_0 a second time, at its end, as |x| / in_width.
typedef enum pl_activation {
    PL_TANSIG,   // 2 / (1 + e^-2x) - 1, which is tanh x
    PL_LOGISTIC, // 1 / (1 + e^-x)
    PL_SOFTPLUS, // ln(1 + e^x)
    PL_SILU,     // x / (1 + e^-x)
    PL_SINE,     // sin x
    PL_IDENTITY, // x
    PL_ACTIVATION_COUNT
} pl_activation;

PL_API pl_activation pl_activation_find(const char *name); // PL_ACTIVATION_COUNT: none

#define PL_NETWORK_LAYERS 8
#define PL_NETWORK_WIDTH 4096
typedef struct pl_network_def {
    int input_count, output_count;
    int layer_count; // hidden layers
    int width[PL_NETWORK_LAYERS];
    pl_activation activation;
    bool skip;      // a linear part from the inputs directly to the outputs
    uint64_t kinks; // bit i: the function has a kink at input i = 0; for the first 64 inputs
    uint64_t seed;  // of the initial weights
} pl_network_def;

typedef struct pl_network pl_network;

// ---- training: minimises over the samples, in scaled units,
//   1/2 mean |y - t|^2 + 1/2 w^2 mean |dy/dx - T|^2 + 1/2 decay |weights|^2
typedef enum pl_trainer {
    PL_LEVENBERG, // Levenberg-Marquardt on all samples
    PL_ADAM,      // batches, with a decreasing rate
    PL_LBFGS,     // all samples, limited-memory quasi-Newton
    PL_TRAINER_COUNT
} pl_trainer;

PL_API pl_trainer pl_trainer_find(const char *name); // PL_TRAINER_COUNT: none

typedef struct pl_train_options {
    pl_trainer trainer;
    int epoch_limit;        // passes over the data
    int batch;              // samples per step of Adam
    double rate;            // of Adam, at the beginning
    double jacobian_weight; // w above; 0: derivatives are not fitted
    double decay;           // of the weights
    double held_share;      // fraction of the samples held out: errors are measured on them; [0, 0.9]
    int patience;           // stop after so many epochs without a smaller held-out error; 0: never
    double goal;            // stop at this held-out error (RMS, scaled); 0: none
    uint64_t seed;          // of the split and the batches
    pl_progress progress;   // may stop the training: the best weights so far are kept
    // Called after each epoch with the errors (RMS, scaled, of values): NULL: none.
    void (*record)(void *user, int epoch, double train, double held);
    void *user;
} pl_train_options;

typedef enum pl_train_outcome {
    PL_TRAIN_LIMIT,    // epochs
    PL_TRAIN_PATIENCE, // held-out error no longer decreases
    PL_TRAIN_GOAL,
    PL_TRAIN_CONVERGED, // no step decreases the error
    PL_TRAIN_STOPPED    // by the progress callback
} pl_train_outcome;

PL_API const char *pl_train_outcome_name(pl_train_outcome outcome);

typedef struct pl_train_report {
    pl_train_outcome outcome;
    int epochs, best_epoch;
    int train_count, held_count;
    double train_rms, held_rms; // of the values at the weights returned, scaled; held_rms is NAN without
                                // samples held out
    double seconds;
} pl_train_report;

// ---- recurrent networks for histories: one layer of long short-term memory cells, then a linear layer
//   i, f, o = logistic(W (x_t, h_(t-1)) + b),  g = tanh(...),  c_t = f c_(t-1) + i g,  h_t = o tanh c_t
//   y_t = V h_t + S x_t + d
typedef struct pl_lstm pl_lstm;
#define PL_ERROR_CONFIDENCE 0.95 // share of the errors below the bound, on average over the choice of points
#define PL_ERROR_COVERAGE 0.90   // and at least, for 95 % of these choices

#ifdef __cplusplus
}
#endif
#endif
