// Feed-forward networks: layout, initial weights, value and derivative at a point.
#include "learn/learn_impl.h"

static const char *const activation_names[PL_ACTIVATION_COUNT] = {"tansig", "logistic", "softplus",
                                                                  "silu",   "sine",     "linear"};

const char *pl_activation_name(pl_activation activation)
{
    return activation >= 0 && activation < PL_ACTIVATION_COUNT ? activation_names[activation] : "";
}

pl_activation pl_activation_find(const char *name)
{
    pl_activation a = 0;
    while (a < PL_ACTIVATION_COUNT && strcmp(name, activation_names[a]) != 0) {
        ++a;
    }
    return a;
}

void learn_activate(pl_activation activation, double z, double *f, double *d1, double *d2)
{
    switch (activation) {
    case PL_TANSIG: {
        const double t = tanh(z);
        *f = t;
        *d1 = 1 - t * t;
        *d2 = -2 * t * (1 - t * t);
        break;
    }
    case PL_LOGISTIC: {
        const double s = 1 / (1 + exp(-z));
        *f = s;
        *d1 = s * (1 - s);
        *d2 = s * (1 - s) * (1 - 2 * s);
        break;
    }
    case PL_SOFTPLUS: {
        const double s = 1 / (1 + exp(-z));
        // log(1 + e^z) = z to rounding, and e^z would overflow
        *f = z > 30 ? z : log1p(exp(z));
        *d1 = s;
        *d2 = s * (1 - s);
        break;
    }
    case PL_SILU: {
        const double s = 1 / (1 + exp(-z)), p = s * (1 - s);
        *f = z * s;
        *d1 = s + z * p;
        *d2 = 2 * p + z * p * (1 - 2 * s);
        break;
    }
    case PL_SINE:
        *f = sin(z);
        *d1 = cos(z);
        *d2 = -*f;
        break;
    default:
        *f = z;
        *d1 = 1;
        *d2 = 0;
        break;
    }
}

// Sizes and activation; every failure names the field.
static pl_status network_check(const pl_network_def *d, pl_error *err)
{
    if (d->input_count < 1 || d->input_count > PL_NETWORK_WIDTH || d->output_count < 1 ||
        d->output_count > PL_NETWORK_WIDTH) {
        return pl_fail(err, PL_BAD_INPUT, "network: %d inputs and %d outputs, each must lie between 1 and %d",
                       d->input_count, d->output_count, PL_NETWORK_WIDTH);
    }

    if (d->layer_count < 0 || d->layer_count > PL_NETWORK_LAYERS) {
        return pl_fail(err, PL_BAD_INPUT, "network: %d hidden layers, must lie between 0 and %d",
                       d->layer_count, PL_NETWORK_LAYERS);
    }

    for (int l = 0; l < d->layer_count; ++l) {
        if (d->width[l] < 1 || d->width[l] > PL_NETWORK_WIDTH) {
            return pl_fail(err, PL_BAD_INPUT,
                           "network: hidden layer %d has %d neurons, must lie between 1 and %d", l + 1,
                           d->width[l], PL_NETWORK_WIDTH);
        }
    }

    if (d->activation < 0 || d->activation >= PL_ACTIVATION_COUNT) {
        return pl_fail(err, PL_BAD_INPUT, "network: activation %d is unknown", (int)d->activation);
    }

    return PL_OK;
}

// Sizes of the layers, and where their weights begin: matrix, then bias; the direct part last.
static void network_layout(pl_network *n)
{
    const pl_network_def *d = &n->def;
    n->last = d->layer_count + 1;
    n->kink_count = 0;

    // inputs with a kink get a second neuron, |x|
    for (int i = 0; i < d->input_count && i < 64; ++i) {
        if (d->kinks >> i & 1) {
            n->kink[n->kink_count++] = i;
        }
    }

    n->size[0] = d->input_count + n->kink_count;
    for (int l = 1; l < n->last; ++l) {
        n->size[l] = d->width[l - 1];
    }
    n->size[n->last] = d->output_count;

    // weights
    n->count = 0;
    n->widest = 0;
    for (int l = 0; l <= n->last; ++l) {
        n->first[l] = n->count;
        n->widest = n->size[l] > n->widest ? n->size[l] : n->widest;
        n->count += l > 0 ? n->size[l] * (n->size[l - 1] + 1) : 0;
    }

    n->count += d->skip ? d->output_count * n->size[0] : 0;
}

// Glorot and Bengio 2010: weights uniform within sqrt(6 / (fan-in + fan-out)).
static void network_seed(pl_network *n)
{
    pl_random random;
    pl_random_seed(&random, n->def.seed);
    for (int l = 1; l <= n->last; ++l) {
        const double bound = sqrt(6.0 / (n->size[l] + n->size[l - 1]));
        double *W = n->theta + n->first[l], *b = W + n->size[l] * n->size[l - 1];
        for (double *w = W; w < b; ++w) {
            *w = pl_random_uniform(&random, -bound, bound);
        }
        // biases spread the neurons over the inputs
        for (int i = 0; l < n->last && i < n->size[l]; ++i) {
            b[i] = pl_random_uniform(&random, -0.5, 0.5);
        }
    }
}

// Scales are 0 and 1 until pl_network_fit_scale or a file sets them.
pl_status pl_network_create(const pl_network_def *def, pl_network **out, pl_error *err)
{
    *out = NULL;
    pl_status status = network_check(def, err);
    if (status != PL_OK) {
        return status;
    }

    pl_network *n = PL_NEW(pl_network);
    if (!n) {
        return pl_fail_memory(err, "the network");
    }
    n->def = *def;
    network_layout(n);
    const int in = def->input_count, o = def->output_count;
    n->theta = PL_NEW_ARRAY(double, n->count);
    n->scale.in_mid = PL_NEW_ARRAY(double, 2 * (in + o));
    n->scratch = PL_NEW_ARRAY(double, 2 * (int64_t)(1 + in) * n->widest + n->size[0]);
    if (!n->theta || !n->scale.in_mid || !n->scratch) {
        pl_network_destroy(n);
        return pl_fail_memory(err, "the network");
    }

    n->scale.in_width = n->scale.in_mid + in;
    n->scale.out_mid = n->scale.in_width + in;
    n->scale.out_width = n->scale.out_mid + o;
    for (int i = 0; i < in; ++i) {
        n->scale.in_width[i] = 1;
    }
    for (int i = 0; i < o; ++i) {
        n->scale.out_width[i] = 1;
    }
    network_seed(n);
    *out = n;

    return PL_OK;
}

void pl_network_destroy(pl_network *network)
{
    if (network) {
        pl_free(network->theta);
        pl_free(network->scale.in_mid);
        pl_free(network->scratch);
        pl_free(network);
    }
}

pl_network_def pl_network_get_def(const pl_network *network)
{
    return network->def;
}

int pl_network_weight_count(const pl_network *network)
{
    return network->count;
}

double *pl_network_weights(pl_network *network)
{
    return network->theta;
}

pl_network_scale pl_network_get_scale(pl_network *network)
{
    return network->scale;
}

// One layer for `rows` vectors side by side: to[r] = W from[r] (+ b for r = 0). The vectors are interleaved,
// from[j * rows + r], so that the inner loop runs over them.
static void evaluate_layer(const double *W, const double *b, int n, int m, int rows, const double *from,
                           double *to)
{
    if (rows == 4) { // three inputs and their derivatives: the usual robot
        for (int i = 0; i < n; ++i) {
            double s0 = b[i], s1 = 0, s2 = 0, s3 = 0;
            const double *w = W + (size_t)i * (size_t)m;

            for (int j = 0; j < m; ++j) {
                s0 += w[j] * from[4 * j];
                s1 += w[j] * from[4 * j + 1];
                s2 += w[j] * from[4 * j + 2];
                s3 += w[j] * from[4 * j + 3];
            }

            to[4 * i] = s0;
            to[4 * i + 1] = s1;
            to[4 * i + 2] = s2;
            to[4 * i + 3] = s3;
        }

        return;
    }

    for (int i = 0; i < n; ++i) {
        const double *w = W + (size_t)i * (size_t)m;
        double *t = to + (size_t)i * (size_t)rows;
        for (int r = 0; r < rows; ++r) {
            t[r] = r == 0 ? b[i] : 0;
        }
        for (int j = 0; j < m; ++j) {
            const double *f = from + (size_t)j * (size_t)rows;
#pragma omp simd
            for (int r = 0; r < rows; ++r) {
                t[r] += w[j] * f[r];
            }
        }
    }
}

void learn_inputs(const pl_network *n, const double *x, double *a, double *turn)
{
    const int in = n->def.input_count;
    for (int i = 0; i < in; ++i) {
        a[i] = (x[i] - n->scale.in_mid[i]) / n->scale.in_width[i];
    }

    for (int k = 0; k < n->kink_count; ++k) {
        const double v = x[n->kink[k]];
        a[in + k] = fabs(v) / n->scale.in_width[n->kink[k]];
        if (turn) {
            turn[k] = v < 0 ? -1 : 1;
        }
    }
}

// With derivatives, each neuron carries its value and its derivatives by the scaled inputs: forward mode. y
// and jacobian (outputs x inputs, in the units of the data) may be NULL.
void pl_network_evaluate(pl_network *n, const double *x, double *y, double *jacobian)
{
    const int in = n->def.input_count, first = n->size[0], rows = jacobian ? 1 + in : 1;
    double *from = n->scratch, *to = n->scratch + (size_t)(1 + in) * (size_t)n->widest, turn[64];
    double *a0 = n->scratch + 2 * (size_t)(1 + in) * (size_t)n->widest;

    // inputs, with unit derivatives
    learn_inputs(n, x, a0, turn);
    memset(from, 0, (size_t)first * (size_t)rows * sizeof *from);
    for (int i = 0; i < first; ++i) {
        from[i * rows] = a0[i];
    }
    for (int i = 0; jacobian && i < in; ++i) {
        from[i * rows + 1 + i] = 1;
    }
    for (int k = 0; jacobian && k < n->kink_count; ++k) {
        from[(in + k) * rows + 1 + n->kink[k]] = turn[k];
    }

    // layers
    for (int l = 1; l <= n->last; ++l) {
        const double *W = n->theta + n->first[l], *b = W + n->size[l] * n->size[l - 1];
        evaluate_layer(W, b, n->size[l], n->size[l - 1], rows, from, to);

        for (int i = 0; l < n->last && i < n->size[l]; ++i) {
            double f, d1, d2, *t = to + i * rows;
            learn_activate(n->def.activation, t[0], &f, &d1, &d2);
            t[0] = f;
            for (int r = 1; r < rows; ++r) {
                t[r] *= d1;
            }
        }

        double *swap = from;
        from = to;
        to = swap;
    }

    // direct part, and back to the units of the data
    const double *S = n->def.skip ? n->theta + n->count - n->size[n->last] * first : NULL;
    for (int o = 0; o < n->size[n->last]; ++o) {
        double *v = from + o * rows;
        for (int i = 0; S && i < first; ++i) {
            v[0] += S[o * first + i] * a0[i];
        }
        for (int i = 0; S && jacobian && i < in; ++i) {
            v[1 + i] += S[o * first + i];
        }
        for (int k = 0; S && jacobian && k < n->kink_count; ++k) {
            v[1 + n->kink[k]] += turn[k] * S[o * first + in + k];
        }
        if (y) {
            y[o] = n->scale.out_mid[o] + n->scale.out_width[o] * v[0];
        }
        for (int i = 0; jacobian && i < in; ++i) {
            jacobian[o * in + i] = n->scale.out_width[o] / n->scale.in_width[i] * v[1 + i];
        }
    }
}
