// Training: scales, split into training and held-out samples, what the three trainers share, Adam and L-BFGS.
#include <stdio.h>
#include "learn/learn_impl.h"

int openblas_get_num_threads(void);
void openblas_set_num_threads(int count);

#define TRAIN_CHUNK 128 // samples at a time: the layers of a chunk stay in the cache

static const char *const trainer_names[PL_TRAINER_COUNT] = {"lm", "adam", "lbfgs"};
const char *pl_trainer_name(pl_trainer trainer)
{
    return trainer >= 0 && trainer < PL_TRAINER_COUNT ? trainer_names[trainer] : "";
}

pl_trainer pl_trainer_find(const char *name)
{
    pl_trainer t = 0;
    while (t < PL_TRAINER_COUNT && strcmp(name, trainer_names[t]) != 0) {
        ++t;
    }
    return t;
}

const char *pl_train_outcome_name(pl_train_outcome outcome)
{
    static const char *const names[] = {"epoch limit", "early stopping", "goal", "converged", "interrupted"};
    return outcome >= 0 && outcome <= PL_TRAIN_STOPPED ? names[outcome] : "";
}

pl_train_options pl_train_options_default(void)
{
    return (pl_train_options){.trainer = PL_LEVENBERG,
                              .epoch_limit = 100,
                              .batch = 200,
                              .rate = 0.005,
                              .jacobian_weight = 0.5,
                              .held_share = 0.3,
                              .patience = 20,
                              .seed = 1};
}

// ---- scales
// Refuses samples with numbers that are not finite.
static pl_status data_check(const pl_learn_data *d, int in, int o, pl_error *err)
{
    for (int64_t s = 0; s < d->count; ++s) {
        bool good = true;
        for (int i = 0; i < in; ++i) {
            good = good && isfinite(d->x[s * in + i]);
        }
        for (int k = 0; k < o; ++k) {
            good = good && isfinite(d->y[s * o + k]);
        }
        for (int64_t k = 0; d->jacobian && k < (int64_t)o * in; ++k) {
            good = good && isfinite(d->jacobian[s * o * in + k]);
        }
        if (!good) {
            return pl_fail(err, PL_BAD_INPUT, "learn: sample %lld has a number that is not finite",
                           (long long)s + 1);
        }
    }

    return PL_OK;
}

// Mean and standard deviation of output k; the deviation is 0 where it is rounding only.
static void output_spread(const pl_learn_data *d, int o, int k, double *mean, double *deviation)
{
    double sum = 0, square = 0, largest = 0;
    for (int64_t s = 0; s < d->count; ++s) {
        sum += d->y[s * o + k];
        largest = fmax(largest, fabs(d->y[s * o + k]));
    }

    *mean = sum / d->count;
    for (int64_t s = 0; s < d->count; ++s) {
        square += (d->y[s * o + k] - *mean) * (d->y[s * o + k] - *mean);
    }
    *deviation = sqrt(square / d->count);
    *deviation = *deviation > 1e-12 * largest ? *deviation : 0; // rounding only
}

// Outputs that never change: nothing can be learned of them.
int pl_learn_constant_outputs(const pl_learn_data *data, int output_count)
{
    int count = 0;
    for (int k = 0; k < output_count; ++k) {
        double mean, deviation;
        output_spread(data, output_count, k, &mean, &deviation);
        count += deviation == 0;
    }

    return count;
}

// Inputs to [-1, 1] by their range, outputs by mean and deviation; outputs of one group share the largest
// deviation, so that their errors stay comparable.
pl_status pl_network_fit_scale(pl_network *n, const pl_learn_data *d, pl_error *err)
{
    const int in = n->def.input_count, o = n->def.output_count;
    if (d->count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "learn: there are no samples");
    }

    const pl_status status = data_check(d, in, o, err);
    if (status != PL_OK) {
        return status;
    }

    // inputs
    for (int i = 0; i < in; ++i) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t s = 0; s < d->count; ++s) {
            low = fmin(low, d->x[s * in + i]);
            high = fmax(high, d->x[s * in + i]);
        }

        n->scale.in_mid[i] = 0.5 * (low + high);
        n->scale.in_width[i] = high > low ? 0.5 * (high - low) : 1;
    }

    // outputs
    for (int k = 0; k < o; ++k) {
        output_spread(d, o, k, &n->scale.out_mid[k], &n->scale.out_width[k]);
    }

    for (int k = 0; d->group && k < o; ++k) {
        for (int j = 0; j < o; ++j) {
            if (d->group[j] == d->group[k]) {
                n->scale.out_width[k] = fmax(n->scale.out_width[k], n->scale.out_width[j]);
            }
        }
    }

    for (int k = 0; k < o; ++k) {
        n->scale.out_width[k] = n->scale.out_width[k] > 0 ? n->scale.out_width[k] : 1;
    }

    return PL_OK;
}

// ---- what the trainers share
// RMS error of the values, scaled units.
static double run_error(learn_run *run, const learn_set *set)
{
    const double none[2] = {0, 0};
    const bool slopes = run->batch.slopes;
    double sum[2] = {0, 0};

    run->batch.slopes = false; // values only
    learn_accumulate(run->network, &run->batch, set, NULL, 0, set->count, none, sum, NULL);
    run->batch.slopes = slopes;

    return sqrt(sum[0] / ((double)set->count * set->outputs));
}

bool learn_epoch(learn_run *run, double train_sum)
{
    const pl_train_options *o = run->options;
    const bool held = run->held.count > 0;
    const double train = train_sum >= 0 ? sqrt(train_sum / ((double)run->train.count * run->train.outputs))
                                        : run_error(run, &run->train);

    // held-out error decides, where samples are held out
    const double error = held ? run_error(run, &run->held) : train;

    ++run->epoch;
    ++run->waited;
    if (error < run->best_error) {
        // a gain below a thousandth does not extend the patience
        run->waited = error < 0.999 * run->best_error ? 0 : run->waited;
        run->best_error = error;
        run->best_epoch = run->epoch;
        memcpy(run->best, run->network->theta, (size_t)run->network->count * sizeof *run->best);
    }

    if (o->record) {
        o->record(o->user, run->epoch, train, held ? error : NAN);
    }

    char text[80];
    snprintf(text, sizeof text, "training: epoch %d, error %.3g", run->epoch, run->best_error);
    run->outcome = !pl_progress_step(&o->progress, (double)run->epoch / o->epoch_limit, text)
                       ? PL_TRAIN_STOPPED
                   : o->goal > 0 && error <= o->goal                       ? PL_TRAIN_GOAL
                   : held && o->patience > 0 && run->waited >= o->patience ? PL_TRAIN_PATIENCE
                                                                           : PL_TRAIN_LIMIT;

    return run->outcome == PL_TRAIN_LIMIT && run->epoch < o->epoch_limit;
}

// ---- Adam
// Fisher and Yates.
static void train_shuffle(int *order, int count, pl_random *random)
{
    for (int i = count - 1; i > 0; --i) {
        const int j = (int)(pl_random_next(random) % (uint64_t)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

// Adam (Kingma and Ba 2015) on batches of shuffled samples.
void learn_adam(learn_run *run)
{
    pl_network *n = run->network;
    const pl_train_options *o = run->options;
    const int P = n->count;
    double *g = PL_NEW_ARRAY(double, 3 * (int64_t)P), *m = g + P, *v = m + P;
    int *order = PL_NEW_ARRAY(int, run->train.count);
    pl_random random;

    pl_random_seed(&random, o->seed + 17);
    int64_t step = 0;
    run->no_memory = !g || !order;
    for (int k = 0; !run->no_memory && k < run->train.count; ++k) {
        order[k] = k;
    }

    for (bool go = !run->no_memory; go;) {
        // half a cosine from the given rate to a hundredth of it
        const double rate =
            o->rate * (0.01 + 0.99 * 0.5 * (1 + cos(PL_PI * run->epoch / (double)o->epoch_limit)));
        train_shuffle(order, run->train.count, &random);

        for (int at = 0; at < run->train.count; at += o->batch) {
            const int end = at + o->batch < run->train.count ? at + o->batch : run->train.count;
            const double w = o->jacobian_weight,
                         scale[2] = {1.0 / (end - at), w * w / (end - at) / run->train.inputs};
            double sum[2] = {0, 0};
            memset(g, 0, (size_t)P * sizeof *g);
            learn_accumulate(n, &run->batch, &run->train, order, at, end, scale, sum, g);
            ++step;
            const double c1 = 1 - pow(0.9, (double)step), c2 = 1 - pow(0.999, (double)step);

            for (int k = 0; k < P; ++k) {
                g[k] += o->decay * n->theta[k];
                m[k] = 0.9 * m[k] + 0.1 * g[k];
                v[k] = 0.999 * v[k] + 0.001 * g[k] * g[k];
                n->theta[k] -= rate * (m[k] / c1) / (sqrt(v[k] / c2) + 1e-9);
            }
        }

        go = learn_epoch(run, -1);
    }

    pl_free(g);
    pl_free(order);
}

// ---- L-BFGS on all samples
// Loss and gradient at x over all training samples.
static double quasi_evaluate(void *user, const double *x, double *gradient)
{
    learn_run *run = user;
    pl_network *n = run->network;
    const pl_train_options *o = run->options;
    const double w = o->jacobian_weight, N = run->train.count,
                 scale[2] = {1 / N, w * w / N / run->train.inputs};
    double sum[2] = {0, 0}, value = 0;

    if (x != n->theta) {
        memcpy(n->theta, x, (size_t)n->count * sizeof *x);
    }
    memset(gradient, 0, (size_t)n->count * sizeof *gradient);
    learn_accumulate(n, &run->batch, &run->train, NULL, 0, run->train.count, scale, sum, gradient);
    for (int k = 0; k < n->count; ++k) {
        gradient[k] += o->decay * x[k];
        value += 0.5 * o->decay * x[k] * x[k];
    }

    run->last_sum = sum[0];

    return value + 0.5 * (scale[0] * sum[0] + scale[1] * sum[1]);
}

// After each accepted iteration: an epoch of the bookkeeping.
static bool quasi_step(void *user, int iteration, const double *x, double value)
{
    learn_run *run = user;
    (void)iteration;
    (void)value;
    memcpy(run->network->theta, x, (size_t)run->network->count * sizeof *x);
    return learn_epoch(run, run->last_sum); // the step was the last point evaluated
}

void learn_quasi_newton(learn_run *run)
{
    double *x = PL_NEW_ARRAY(double, run->network->count);
    run->no_memory = !x;
    if (!x) {
        return;
    }
    memcpy(x, run->network->theta, (size_t)run->network->count * sizeof *x);
    run->outcome = PL_TRAIN_CONVERGED;
    const pl_lbfgs_options options = {.iteration_limit = run->options->epoch_limit,
                                      .memory = 30,
                                      .gradient_tolerance = 1e-12,
                                      .step = quasi_step};
    run->no_memory = pl_lbfgs(run->network->count, x, quasi_evaluate, run, &options) < 0;
    pl_free(x);
}

// ---- entry points
// Ranges of the options, and whether trainer and data fit each other.
static pl_status train_check(const pl_network *n, const pl_learn_data *d, const pl_train_options *o,
                             pl_error *err)
{
    const struct {
        const char *what;
        double value, low, high;
    } list[] = {{"epoch_limit", o->epoch_limit, 1, 1e9},
                {"batch", o->batch, 1, 1e9},
                {"rate", o->rate, 1e-12, 1e3},
                {"jacobian_weight", o->jacobian_weight, 0, 1e6},
                {"decay", o->decay, 0, 1e6},
                {"held_share", o->held_share, 0, 0.9},
                {"patience", o->patience, 0, 1e9}};
    for (int k = 0; k < PL_COUNT(list); ++k) {
        if (!(list[k].value >= list[k].low && list[k].value <= list[k].high)) {
            return pl_fail(err, PL_BAD_INPUT, "learn: %s is %g, must lie between %g and %g", list[k].what,
                           list[k].value, list[k].low, list[k].high);
        }
    }

    if (o->trainer < 0 || o->trainer >= PL_TRAINER_COUNT) {
        return pl_fail(err, PL_BAD_INPUT, "learn: trainer %d is unknown", (int)o->trainer);
    }
    if (d->count < 4) {
        return pl_fail(err, PL_BAD_INPUT, "learn: %d samples, at least 4 are needed", d->count);
    }

    if (o->trainer == PL_LEVENBERG && n->count > 20000) {
        return pl_fail(err, PL_BAD_INPUT,
                       "learn: a network of %d weights is too large for Levenberg-Marquardt (at most 20000)",
                       n->count);
    }

    return PL_OK;
}

// Splits at random by the seed; `held` (may be NULL) tells which samples are held out.
static pl_status train_split(learn_run *run, const pl_learn_data *d, bool *held, pl_error *err)
{
    const pl_train_options *o = run->options;
    int *order = PL_NEW_ARRAY(int, d->count);

    if (!order) {
        return pl_fail_memory(err, "the training");
    }

    pl_random random;
    pl_random_seed(&random, o->seed);
    for (int i = 0; i < d->count; ++i) {
        order[i] = i;
    }
    train_shuffle(order, d->count, &random);
    const int out = (int)(o->held_share * d->count + 0.5);
    for (int i = 0; held && i < d->count; ++i) {
        held[order[i]] = i < out;
    }

    const bool slopes = d->jacobian && o->jacobian_weight > 0;
    pl_status status = learn_set_init(&run->held, run->network, d, order, out, false, err);
    if (status == PL_OK) {
        status = learn_set_init(&run->train, run->network, d, order + out, d->count - out, slopes, err);
    }
    pl_free(order);

    return status;
}

// Leaves the weights of the best epoch in the network; `held` (may be NULL) gets which samples were held out.
pl_status pl_network_train(pl_network *network, const pl_learn_data *data, const pl_train_options *options,
                           bool *held, pl_train_report *report, pl_error *err)
{
    *report = (pl_train_report){.held_rms = NAN};
    const double start = pl_seconds();
    learn_run run = {.network = network, .options = options, .best_error = INFINITY};
    pl_status status = train_check(network, data, options, err);
    status = status == PL_OK ? pl_network_fit_scale(network, data, err) : status;
    status = status == PL_OK ? train_split(&run, data, held, err) : status;
    if (status == PL_OK) {
        status = learn_batch_init(&run.batch, network, TRAIN_CHUNK, run.train.jacobian != NULL, err);
    }
    run.best = status == PL_OK ? PL_NEW_ARRAY(double, network->count) : NULL;
    if (status == PL_OK && run.best) {
        memcpy(run.best, network->theta, (size_t)network->count * sizeof *run.best);
        const int threads = openblas_get_num_threads();
        openblas_set_num_threads(1); // the matrices are small: threads would wait for each other
        (options->trainer == PL_ADAM    ? learn_adam
         : options->trainer == PL_LBFGS ? learn_quasi_newton
                                        : learn_levenberg)(&run);
        memcpy(network->theta, run.best, (size_t)network->count * sizeof *run.best);
        *report = (pl_train_report){.outcome = run.outcome,
                                    .epochs = run.epoch,
                                    .best_epoch = run.best_epoch,
                                    .train_count = run.train.count,
                                    .held_count = run.held.count,
                                    .train_rms = run_error(&run, &run.train),
                                    .held_rms = run.held.count ? run_error(&run, &run.held) : NAN};
        openblas_set_num_threads(threads);
    }

    if (status == PL_OK && (!run.best || run.no_memory)) {
        status = pl_fail_memory(err, "the training");
    }
    learn_batch_clear(&run.batch);
    learn_set_clear(&run.train);
    learn_set_clear(&run.held);
    pl_free(run.best);
    report->seconds = pl_seconds() - start;

    return status;
}

// loss = 1/2 (mean squares of values and of derivatives, weighted, + decay |theta|^2); gradient may be NULL.
pl_status pl_network_loss(pl_network *network, const pl_learn_data *data, double jacobian_weight,
                          double decay, double *loss, double *gradient, pl_error *err)
{
    const bool slopes = data->jacobian && jacobian_weight > 0;
    learn_set set = {0};
    learn_batch batch = {0};
    pl_status status = learn_set_init(&set, network, data, NULL, data->count, slopes, err);

    status = status == PL_OK ? learn_batch_init(&batch, network, TRAIN_CHUNK, slopes, err) : status;
    if (status == PL_OK) {
        const double N = data->count,
                     scale[2] = {1 / N, jacobian_weight * jacobian_weight / N / network->def.input_count};
        double sum[2] = {0, 0}, square = 0;
        if (gradient) {
            memset(gradient, 0, (size_t)network->count * sizeof *gradient);
        }
        learn_accumulate(network, &batch, &set, NULL, 0, data->count, scale, sum, gradient);

        for (int k = 0; k < network->count; ++k) {
            square += network->theta[k] * network->theta[k];
            if (gradient) {
                gradient[k] += decay * network->theta[k];
            }
        }

        *loss = 0.5 * (scale[0] * sum[0] + scale[1] * sum[1] + decay * square);
    }

    learn_batch_clear(&batch);
    learn_set_clear(&set);

    return status;
}
