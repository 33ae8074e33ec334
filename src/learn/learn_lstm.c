// Long short-term memory: one layer of cells and a linear output. Gates are ordered i, f, o, g. Weights: for
// each gate and cell a row (inputs, then cells) and a bias; then V (outputs x cells), S (outputs x inputs)
// and d (outputs). Gradients run back through time over a whole sequence.
#include <stdio.h>
#include "learn/learn_impl.h"

struct pl_lstm {
    pl_lstm_def def;
    int count, V, S, d; // weights; where the output's begin
    double *theta;
    pl_network_scale scale;
    double *state; // h, c
    double *work;  // of a step
};

// 1 / (1 + e^-z)
static double lstm_logistic(double z)
{
    return 1 / (1 + exp(-z));
}

// Weights are uniform in +-1/sqrt(fan-in); biases are 0 except those of the forget gates.
pl_status pl_lstm_create(const pl_lstm_def *def, pl_lstm **out, pl_error *err)
{
    *out = NULL;
    const int in = def->input_count, o = def->output_count, H = def->cell_count;
    if (in < 1 || o < 1 || H < 1 || in > 1000 || o > 1000 || H > 1000) {
        return pl_fail(err, PL_BAD_INPUT,
                       "lstm: %d inputs, %d cells, %d outputs: each must lie between 1 and 1000", in, H, o);
    }

    pl_lstm *m = PL_NEW(pl_lstm);
    if (!m) {
        return pl_fail_memory(err, "the recurrent network");
    }

    // layout of the weights
    m->def = *def;
    m->V = 4 * H * (in + H + 1);
    m->S = m->V + o * H;
    m->d = m->S + o * in;
    m->count = m->d + o;
    m->theta = PL_NEW_ARRAY(double, m->count);
    m->scale.in_mid = PL_NEW_ARRAY(double, 2 * (in + o));
    m->state = PL_NEW_ARRAY(double, 2 * H);
    m->work = PL_NEW_ARRAY(double, 4 * H + in + H * in);
    if (!m->theta || !m->scale.in_mid || !m->state || !m->work) {
        pl_lstm_destroy(m);
        return pl_fail_memory(err, "the recurrent network");
    }

    m->scale.in_width = m->scale.in_mid + in;
    m->scale.out_mid = m->scale.in_width + in;
    m->scale.out_width = m->scale.out_mid + o;
    for (int i = 0; i < in; ++i) {
        m->scale.in_width[i] = 1;
    }
    for (int i = 0; i < o; ++i) {
        m->scale.out_width[i] = 1;
    }

    pl_random random;
    pl_random_seed(&random, def->seed);
    for (int k = 0; k < m->S; ++k) {
        const double bound = k < m->V ? 1 / sqrt(H + in) : 1 / sqrt(H);
        m->theta[k] = pl_random_uniform(&random, -bound, bound);
    }

    for (int h = 0; h < H; ++h) { // remember at first
        m->theta[(H + h) * (in + H + 1) + in + H] = 1;
    }

    *out = m;

    return PL_OK;
}

void pl_lstm_destroy(pl_lstm *m)
{
    if (m) {
        pl_free(m->theta);
        pl_free(m->scale.in_mid);
        pl_free(m->state);
        pl_free(m->work);
        pl_free(m);
    }
}

pl_lstm_def pl_lstm_get_def(const pl_lstm *m)
{
    return m->def;
}

// h and c of all cells: what the network remembers.
void pl_lstm_get_state(const pl_lstm *m, double *state)
{
    memcpy(state, m->state, 2 * (size_t)m->def.cell_count * sizeof *state);
}

void pl_lstm_set_state(pl_lstm *m, const double *state)
{
    memcpy(m->state, state, 2 * (size_t)m->def.cell_count * sizeof *state);
}

int pl_lstm_weight_count(const pl_lstm *m)
{
    return m->count;
}

double *pl_lstm_weights(pl_lstm *m)
{
    return m->theta;
}

pl_network_scale pl_lstm_get_scale(pl_lstm *m)
{
    return m->scale;
}

void pl_lstm_reset(pl_lstm *m)
{
    memset(m->state, 0, 2 * (size_t)m->def.cell_count * sizeof *m->state);
}

// Gates at scaled input x and state h: values after their activation, 4 H.
static void lstm_gates(const pl_lstm *m, const double *x, const double *h, double *gate)
{
    const int in = m->def.input_count, H = m->def.cell_count, width = in + H + 1;
    for (int r = 0; r < 4 * H; ++r) {
        const double *w = m->theta + (size_t)r * (size_t)width;
        double z = w[in + H];
        for (int i = 0; i < in; ++i) {
            z += w[i] * x[i];
        }
        for (int k = 0; k < H; ++k) {
            z += w[in + k] * h[k];
        }
        gate[r] = r < 3 * H ? lstm_logistic(z) : tanh(z);
    }
}

// One step from the stored state: y, and dy/dx (may be NULL) with the state before the step held.
void pl_lstm_step(pl_lstm *m, const double *x, double *y, double *jacobian)
{
    const int in = m->def.input_count, o = m->def.output_count, H = m->def.cell_count, width = in + H + 1;
    double *h = m->state, *c = h + H, *gate = m->work, *u = gate + 4 * H, *dh = u + in;

    // scaled input and gates
    for (int i = 0; i < in; ++i) {
        u[i] = (x[i] - m->scale.in_mid[i]) / m->scale.in_width[i];
    }
    lstm_gates(m, u, h, gate);

    // c = f c + i g, h = o tanh(c)
    for (int k = 0; k < H; ++k) {
        const double I = gate[k], F = gate[H + k], O = gate[2 * H + k], G = gate[3 * H + k], old = c[k];
        c[k] = F * old + I * G;
        const double t = tanh(c[k]);

        for (int i = 0; jacobian && i < in; ++i) {
            const double dI = I * (1 - I) * m->theta[k * width + i];
            const double dF = F * (1 - F) * m->theta[(H + k) * width + i];
            const double dO = O * (1 - O) * m->theta[(2 * H + k) * width + i];
            const double dG = (1 - G * G) * m->theta[(3 * H + k) * width + i];
            dh[k * in + i] = dO * t + O * (1 - t * t) * (dF * old + dI * G + I * dG);
        }

        h[k] = O * t;
    }

    // y = V h + S u + d, in the unit of the data
    for (int r = 0; r < o; ++r) {
        double v = m->theta[m->d + r];
        for (int k = 0; k < H; ++k) {
            v += m->theta[m->V + r * H + k] * h[k];
        }
        for (int i = 0; i < in; ++i) {
            v += m->theta[m->S + r * in + i] * u[i];
        }
        y[r] = m->scale.out_mid[r] + m->scale.out_width[r] * v;

        for (int i = 0; jacobian && i < in; ++i) {
            double s = m->theta[m->S + r * in + i];
            for (int k = 0; k < H; ++k) {
                s += m->theta[m->V + r * H + k] * dh[k * in + i];
            }
            jacobian[r * in + i] = s * m->scale.out_width[r] / m->scale.in_width[i];
        }
    }
}

// ---- through time
// Everything of a forward pass that the backward pass needs.
typedef struct lstm_tape {
    int room;                 // steps
    double *u, *gate, *h, *c; // per step
    double *y;                // deviations
    double *bar;              // 6 H
} lstm_tape;

static void tape_clear(lstm_tape *t)
{
    pl_free(t->u);
    *t = (lstm_tape){0};
}

static bool tape_init(lstm_tape *t, const pl_lstm *m, int room)
{
    const int64_t in = m->def.input_count, o = m->def.output_count, H = m->def.cell_count, T = room;
    *t = (lstm_tape){.room = room};
    t->u = PL_NEW_ARRAY(double, T *in + 4 * T * H + 2 * (T + 1) * H + T * o + 6 * H);
    if (!t->u) {
        return false;
    }
    t->gate = t->u + T * in;
    t->h = t->gate + 4 * T * H;
    t->c = t->h + (T + 1) * H;
    t->y = t->c + (T + 1) * H;
    t->bar = t->y + T * o;

    return true;
}

// Sum of squares (scaled) over the steps from..to-1 after `burn`; adds the gradient of scale/2 times it.
static double lstm_sequence(const pl_lstm *m, lstm_tape *t, const pl_history *data, int from, int to,
                            double scale, double *gradient)
{
    const int in = m->def.input_count, o = m->def.output_count, H = m->def.cell_count, width = in + H + 1;
    const int T = to - from;
    double sum = 0;

    // forward from an empty memory
    memset(t->h, 0, (size_t)H * sizeof *t->h);
    memset(t->c, 0, (size_t)H * sizeof *t->c);
    for (int s = 0; s < T; ++s) {
        double *u = t->u + s * in, *gate = t->gate + 4 * s * H, *h = t->h + s * H, *c = t->c + s * H;
        for (int i = 0; i < in; ++i) {
            u[i] = (data->x[(int64_t)(from + s) * in + i] - m->scale.in_mid[i]) / m->scale.in_width[i];
        }
        lstm_gates(m, u, h, gate);
        for (int k = 0; k < H; ++k) {
            c[H + k] = gate[H + k] * c[k] + gate[k] * gate[3 * H + k];
            h[H + k] = gate[2 * H + k] * tanh(c[H + k]);
        }

        // output, and its deviation where it counts
        for (int r = 0; r < o; ++r) {
            double v = m->theta[m->d + r];
            for (int k = 0; k < H; ++k) {
                v += m->theta[m->V + r * H + k] * h[H + k];
            }
            for (int i = 0; i < in; ++i) {
                v += m->theta[m->S + r * in + i] * u[i];
            }
            v -= (data->y[(int64_t)(from + s) * o + r] - m->scale.out_mid[r]) / m->scale.out_width[r];
            t->y[s * o + r] = s >= data->burn ? v : 0;
            sum += t->y[s * o + r] * t->y[s * o + r];
        }
    }

    if (!gradient) {
        return sum;
    }

    // backward through time: adjoints of h and c from the last step to the first
    double *hb = t->bar, *cb = hb + H, *zb = cb + H;
    memset(hb, 0, 2 * (size_t)H * sizeof *hb);
    for (int s = T - 1; s >= 0; --s) {
        const double *u = t->u + s * in, *gate = t->gate + 4 * s * H, *h = t->h + s * H, *c = t->c + s * H;
        // by the output
        for (int r = 0; r < o; ++r) {
            const double e = scale * t->y[s * o + r];
            gradient[m->d + r] += e;
            for (int k = 0; k < H; ++k) {
                gradient[m->V + r * H + k] += e * h[H + k];
                hb[k] += e * m->theta[m->V + r * H + k];
            }

            for (int i = 0; i < in; ++i) {
                gradient[m->S + r * in + i] += e * u[i];
            }
        }

        // through the cells to the gates
        for (int k = 0; k < H; ++k) {
            const double I = gate[k], F = gate[H + k], O = gate[2 * H + k], G = gate[3 * H + k];
            const double th = tanh(c[H + k]);
            cb[k] += hb[k] * O * (1 - th * th);
            zb[k] = cb[k] * G * I * (1 - I);
            zb[H + k] = cb[k] * c[k] * F * (1 - F);
            zb[2 * H + k] = hb[k] * th * O * (1 - O);
            zb[3 * H + k] = cb[k] * I * (1 - G * G);
            cb[k] *= F;
            hb[k] = 0;
        }

        // to the weights, and to h of the step before
        for (int r = 0; r < 4 * H; ++r) {
            double *g = gradient + (size_t)r * (size_t)width;
            const double *w = m->theta + (size_t)r * (size_t)width;
            for (int i = 0; i < in; ++i) {
                g[i] += zb[r] * u[i];
            }
            for (int k = 0; k < H; ++k) {
                g[in + k] += zb[r] * h[k];
                hb[k] += zb[r] * w[in + k];
            }

            g[in + H] += zb[r];
        }
    }

    return sum;
}

// Steps of the longest sequence.
static int history_longest(const pl_history *d)
{
    int longest = 1;
    for (int q = 0; q < d->sequence_count; ++q) {
        const int n = d->start[q + 1] - d->start[q];
        longest = n > longest ? n : longest;
    }

    return longest;
}

// Steps of sequence q that count.
static int history_counted(const pl_history *d, int q)
{
    const int n = d->start[q + 1] - d->start[q] - d->burn;
    return n > 0 ? n : 0;
}

// loss = 1/2 (mean of squares + decay |theta|^2), scaled units.
pl_status pl_lstm_loss(pl_lstm *m, const pl_history *data, double decay, double *loss, double *gradient,
                       pl_error *err)
{
    lstm_tape tape;
    if (!tape_init(&tape, m, history_longest(data))) {
        return pl_fail_memory(err, "the recurrent network");
    }

    int total = 0;
    for (int q = 0; q < data->sequence_count; ++q) {
        total += history_counted(data, q);
    }

    const double scale = 1.0 / (total > 0 ? total : 1);
    double sum = 0, square = 0;
    if (gradient) {
        memset(gradient, 0, (size_t)m->count * sizeof *gradient);
    }
    for (int q = 0; q < data->sequence_count; ++q) {
        sum += lstm_sequence(m, &tape, data, data->start[q], data->start[q + 1], scale, gradient);
    }

    for (int k = 0; k < m->count; ++k) {
        square += m->theta[k] * m->theta[k];
        if (gradient) {
            gradient[k] += decay * m->theta[k];
        }
    }

    *loss = 0.5 * (scale * sum + decay * square);
    tape_clear(&tape);

    return PL_OK;
}

// Inputs by mean and standard deviation; outputs by their means and one common width.
static pl_status lstm_scale(pl_lstm *m, const pl_history *d, pl_error *err)
{
    const int in = m->def.input_count, o = m->def.output_count;
    const int64_t first = d->start[0], last = d->start[d->sequence_count], n = last - first;

    // everything must be finite
    for (int64_t s = first; s < last; ++s) {
        for (int i = 0; i < in + o; ++i) {
            if (!isfinite(i < in ? d->x[s * in + i] : d->y[s * o + i - in])) {
                return pl_fail(err, PL_BAD_INPUT, "lstm: sample %lld has a number that is not finite",
                               (long long)s + 1);
            }
        }
    }

    double widest = 0;
    for (int i = 0; i < in + o; ++i) {
        const double *v = i < in ? d->x + i : d->y + i - in;
        const int stride = i < in ? in : o;
        double sum = 0, square = 0;
        for (int64_t s = first; s < last; ++s) {
            sum += v[s * stride];
            square += v[s * stride] * v[s * stride];
        }

        const double mean = sum / (double)n, spread = sqrt(fmax(square / (double)n - mean * mean, 0));
        (i < in ? m->scale.in_mid + i : m->scale.out_mid + i - in)[0] = mean;
        (i < in ? m->scale.in_width + i : m->scale.out_width + i - in)[0] = spread > 0 ? spread : 1;
        widest = i >= in ? fmax(widest, spread) : widest;
    }

    for (int i = 0; i < o; ++i) { // one scale for all outputs: they are lengths
        m->scale.out_width[i] = widest > 0 ? widest : 1;
    }

    return PL_OK;
}

// RMS error over the sequences that are held out, or over the others; scaled units. NAN without any.
static double lstm_error(pl_lstm *m, lstm_tape *tape, const pl_history *d, const bool *held, bool want)
{
    double sum = 0;
    int total = 0;

    for (int q = 0; q < d->sequence_count; ++q) {
        if (held[q] == want) {
            sum += lstm_sequence(m, tape, d, d->start[q], d->start[q + 1], 0, NULL);
            total += history_counted(d, q);
        }
    }

    return total > 0 ? sqrt(sum / ((double)total * m->def.output_count)) : NAN;
}

// Adam on whole sequences, one per step, with a cosine schedule; keeps the weights of least held-out error.
// What a training needs from epoch to epoch; `best` are the weights with the least error so far.
typedef struct lstm_training {
    const pl_history *data;
    const pl_train_options *options;
    lstm_tape tape;
    double *g, *mean, *var, *best; // one block
    int *order;
    bool *out; // per sequence: held out
    pl_random random;
    int away; // sequences held out
    int64_t step;
} lstm_training;

static void lstm_exchange(lstm_training *t, int from, int to)
{
    const int swap = t->order[from];
    t->order[from] = t->order[to];
    t->order[to] = swap;
}

// Chooses the sequences that are held out, at random.
static void lstm_hold_out(lstm_training *t)
{
    const int Q = t->data->sequence_count;
    pl_random_seed(&t->random, t->options->seed);
    for (int q = 0; q < Q; ++q) {
        t->order[q] = q;
    }
    for (int q = Q - 1; q > 0; --q) {
        lstm_exchange(t, q, (int)(pl_random_next(&t->random) % (uint64_t)(q + 1)));
    }

    t->away = (int)(t->options->held_share * Q + 0.5);
    for (int q = 0; q < Q; ++q) {
        t->out[t->order[q]] = q < t->away;
    }
}

// One step of Adam along the gradient of a sequence, clipped to length 1: products through time can be long.
static void lstm_step(pl_lstm *m, lstm_training *t, int sequence, int counted, double rate)
{
    const int P = m->count;
    const pl_history *data = t->data;
    double *g = t->g, square = 0;

    memset(g, 0, (size_t)P * sizeof *g);
    lstm_sequence(m, &t->tape, data, data->start[sequence], data->start[sequence + 1], 1.0 / counted, g);
    for (int k = 0; k < P; ++k) {
        g[k] += t->options->decay * m->theta[k];
        square += g[k] * g[k];
    }

    // means of the gradient and of its square, corrected for their start at 0
    ++t->step;
    const double clip = square > 1 ? 1 / sqrt(square) : 1;
    const double c1 = 1 - pow(0.9, (double)t->step), c2 = 1 - pow(0.999, (double)t->step);
    for (int k = 0; k < P; ++k) {
        t->mean[k] = 0.9 * t->mean[k] + 0.1 * clip * g[k];
        t->var[k] = 0.999 * t->var[k] + 0.001 * clip * clip * g[k] * g[k];
        m->theta[k] -= rate * (t->mean[k] / c1) / (sqrt(t->var[k] / c2) + 1e-9);
    }
}

// All sequences that are not held out once, in random order.
static void lstm_epoch(pl_lstm *m, lstm_training *t, double rate)
{
    const int Q = t->data->sequence_count;
    for (int q = 0; q < Q; ++q) {
        lstm_exchange(t, q, q + (int)(pl_random_next(&t->random) % (uint64_t)(Q - q)));
        const int at = t->order[q], counted = history_counted(t->data, at);
        if (!t->out[at] && counted > 0) {
            lstm_step(m, t, at, counted, rate);
        }
    }
}

// Epochs until their limit, until the held-out error has not fallen for `patience` of them, or until stopped;
// the weights are then the best ones.
static void lstm_epochs(pl_lstm *m, lstm_training *t, pl_train_report *report)
{
    const pl_train_options *o = t->options;
    const size_t bytes = (size_t)m->count * sizeof *t->best;
    double least = INFINITY;
    int waited = 0, epoch = 0;

    report->outcome = PL_TRAIN_LIMIT;
    while (epoch < o->epoch_limit && report->outcome == PL_TRAIN_LIMIT) {
        // half a cosine from the given rate to a hundredth of it
        lstm_epoch(m, t, o->rate * (0.01 + 0.99 * 0.5 * (1 + cos(PL_PI * epoch / o->epoch_limit))));
        ++epoch;
        ++waited;
        const double train = lstm_error(m, &t->tape, t->data, t->out, false);
        const double error = t->away > 0 ? lstm_error(m, &t->tape, t->data, t->out, true) : train;

        if (error < least) {
            waited = 0;
            least = error;
            report->best_epoch = epoch;
            memcpy(t->best, m->theta, bytes);
        }

        if (o->record) {
            o->record(o->user, epoch, train, t->away > 0 ? error : NAN);
        }
        char text[80];
        snprintf(text, sizeof text, "training: epoch %d, error %.3g", epoch, least);
        if (!pl_progress_step(&o->progress, (double)epoch / o->epoch_limit, text)) {
            report->outcome = PL_TRAIN_STOPPED;
        } else if (t->away > 0 && o->patience > 0 && waited >= o->patience) {
            report->outcome = PL_TRAIN_PATIENCE;
        }
    }

    if (isfinite(least)) {
        memcpy(m->theta, t->best, bytes);
    }
    report->epochs = epoch;
}

pl_status pl_lstm_train(pl_lstm *m, const pl_history *data, const pl_train_options *o, bool *held,
                        pl_train_report *report, pl_error *err)
{
    *report = (pl_train_report){.held_rms = NAN};
    const double start = pl_seconds();
    const int Q = data->sequence_count, P = m->count;
    if (Q < 2) {
        return pl_fail(err, PL_BAD_INPUT, "lstm: %d sequences, at least 2 are needed", Q);
    }

    pl_status status = lstm_scale(m, data, err);
    lstm_training t = {.data = data, .options = o};
    t.g = PL_NEW_ARRAY(double, 4 * (int64_t)P);
    t.order = PL_NEW_ARRAY(int, Q);
    t.out = PL_NEW_ARRAY(bool, Q);
    if (status == PL_OK && (!t.g || !t.order || !t.out || !tape_init(&t.tape, m, history_longest(data)))) {
        status = pl_fail_memory(err, "the recurrent network");
    }

    if (status == PL_OK) {
        t.mean = t.g + P;
        t.var = t.mean + P;
        t.best = t.var + P;
        lstm_hold_out(&t);
        lstm_epochs(m, &t, report);

        // what the best weights do on both parts
        for (int q = 0; q < Q; ++q) {
            *(t.out[q] ? &report->held_count : &report->train_count) += history_counted(data, q);
            if (held) {
                held[q] = t.out[q];
            }
        }
        report->train_rms = lstm_error(m, &t.tape, data, t.out, false);
        report->held_rms = t.away > 0 ? lstm_error(m, &t.tape, data, t.out, true) : NAN;
    }

    tape_clear(&t.tape);
    pl_free(t.g);
    pl_free(t.order);
    pl_free(t.out);
    report->seconds = pl_seconds() - start;

    return status;
}
