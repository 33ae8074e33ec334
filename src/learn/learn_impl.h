// The inside of learn, for this folder.
#ifndef PL_LEARN_IMPL_H
#define PL_LEARN_IMPL_H

#include "base/base.h"
#include "learn/learn.h"

struct pl_network {
    pl_network_def def;
    int size[PL_NETWORK_LAYERS + 2];  // neurons of each layer: inputs with their kinks, hidden, outputs
    int kink[64], kink_count;         // inputs that have one
    int last;                         // index of the output layer: layer_count + 1
    int first[PL_NETWORK_LAYERS + 2]; // of a layer's weights in theta
    int widest;                       // of the widest layer
    int count;                        // weights
    double *theta;                    // all weights
    pl_network_scale scale;
    double *scratch; // of evaluate: (1 + inputs) widest, twice
};

// The scaled inputs a_0 with the kinks; `turn` (may be NULL): -1 or 1 per kink, its derivative.
void learn_inputs(const pl_network *n, const double *x, double *a, double *turn);

// The derivative of kink k by its input, from a_0.
static inline double learn_turn(const pl_network *n, const double *a, int k)
{
    const int i = n->kink[k];
    return a[i] * n->scale.in_width[i] + n->scale.in_mid[i] < 0 ? -1 : 1;
}

// f, f' and f'' from z.
void learn_activate(pl_activation activation, double z, double *f, double *d1, double *d2);

// Values and derivatives of a layer of a batch; see learn_batch.c.
typedef struct learn_batch {
    int room;    // samples at a time
    bool slopes; // derivatives by the inputs are carried along
    double *z[PL_NETWORK_LAYERS + 2], *a[PL_NETWORK_LAYERS + 2]; // rows: values, then one block per input
    double *bar[2];                                              // adjoints
} learn_batch;

pl_status learn_batch_init(learn_batch *b, const pl_network *n, int room, bool slopes, pl_error *err);
void learn_batch_clear(learn_batch *b);

// Scaled data of a training.
typedef struct learn_set {
    int count, inputs, outputs;
    int wide;                 // numbers per row of x: inputs and kinks
    double *x, *y, *jacobian; // jacobian: outputs x inputs per sample, or NULL
} learn_set;

pl_status learn_set_init(learn_set *set, const pl_network *n, const pl_learn_data *data, const int *pick,
                         int count, bool slopes, pl_error *err);
void learn_set_clear(learn_set *set);

// Adds the sums of squares over samples from .. to-1 to sum[0] (values) and sum[1] (derivatives), and the
// gradient of 1/2 (scale[0] sum[0] + scale[1] sum[1]) to `gradient` (may be NULL).
void learn_accumulate(const pl_network *n, learn_batch *b, const learn_set *set, const int *order, int from,
                      int to, const double scale[2], double sum[2], double *gradient);

// One run of a trainer; keeps the best weights by held-out error.
typedef struct learn_run {
    pl_network *network;
    const pl_train_options *options;
    learn_set train, held;
    learn_batch batch;
    double *best; // weights of the best epoch
    double best_error;
    double last_sum;               // of squares of the values, at the last evaluation
    int epoch, best_epoch, waited; // since the last better epoch
    pl_train_outcome outcome;
    bool no_memory;
} learn_run;

// Errors at the present weights after an epoch; `train_sum` < 0: computed here. False: training ends.
bool learn_epoch(learn_run *run, double train_sum);
void learn_levenberg(learn_run *run);
void learn_adam(learn_run *run);
void learn_quasi_newton(learn_run *run);

#endif
