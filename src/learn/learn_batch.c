// Loss and gradient over batches. With derivatives by the inputs in the loss, each sample has 1 + m rows: its
// values a and, for each of the m inputs, the derivatives a'_i = da/dx_i,
//   z = W a + b,  z'_i = W a'_i,  a = f(z),  a'_i = f'(z) z'_i,
// and their adjoints run back by
//   z^ = f'(z) a^ + f''(z) sum_i z'_i a'^_i,  z'^_i = f'(z) a'^_i,
//   W^ = z^ a^T + sum_i z'^_i a'_i^T,  b^ = z^,  a^ = W^T z^,  a'^_i = W^T z'^_i.
#include <cblas.h>
#include "learn/learn_impl.h"

// Memory for `room` samples; with slopes every layer has 1 + m blocks of rows.
pl_status learn_batch_init(learn_batch *b, const pl_network *n, int room, bool slopes, pl_error *err)
{
    *b = (learn_batch){.room = room, .slopes = slopes};
    const int64_t rows = (int64_t)room * (slopes ? 1 + n->def.input_count : 1);
    bool enough = true;

    for (int l = 0; l <= n->last; ++l) {
        b->a[l] = PL_NEW_ARRAY(double, rows * n->size[l]);
        b->z[l] = l > 0 ? PL_NEW_ARRAY(double, rows * n->size[l]) : NULL;
        enough = enough && b->a[l] && (l == 0 || b->z[l]);
    }

    for (int k = 0; k < 2; ++k) {
        b->bar[k] = PL_NEW_ARRAY(double, rows * n->widest);
        enough = enough && b->bar[k];
    }

    if (!enough) {
        learn_batch_clear(b);
        return pl_fail_memory(err, "the training");
    }

    return PL_OK;
}

void learn_batch_clear(learn_batch *b)
{
    for (int l = 0; l < PL_NETWORK_LAYERS + 2; ++l) {
        pl_free(b->a[l]);
        pl_free(b->z[l]);
    }

    pl_free(b->bar[0]);
    pl_free(b->bar[1]);
    *b = (learn_batch){0};
}

// Scaled copies of the picked samples (all without `pick`): the loss is then about 1 for every output.
pl_status learn_set_init(learn_set *set, const pl_network *n, const pl_learn_data *data, const int *pick,
                         int count, bool slopes, pl_error *err)
{
    const int in = n->def.input_count, o = n->def.output_count, wide = n->size[0];
    *set = (learn_set){.count = count, .inputs = in, .outputs = o, .wide = wide};
    set->x = PL_NEW_ARRAY(double, (int64_t)count *wide);
    set->y = PL_NEW_ARRAY(double, (int64_t)count *o);
    set->jacobian = slopes ? PL_NEW_ARRAY(double, (int64_t)count *in *o) : NULL;
    if (!set->x || !set->y || (slopes && !set->jacobian)) {
        learn_set_clear(set);
        return pl_fail_memory(err, "the training");
    }

    const pl_network_scale *c = &n->scale;
    for (int64_t s = 0; s < count; ++s) {
        const int64_t from = pick ? pick[s] : s;
        learn_inputs(n, data->x + from * in, set->x + s * wide, NULL);

        for (int k = 0; k < o; ++k) {
            set->y[s * o + k] = (data->y[from * o + k] - c->out_mid[k]) / c->out_width[k];
            for (int i = 0; slopes && i < in; ++i) {
                set->jacobian[(s * o + k) * in + i] =
                    data->jacobian[(from * o + k) * in + i] * c->in_width[i] / c->out_width[k];
            }
        }
    }

    return PL_OK;
}

void learn_set_clear(learn_set *set)
{
    pl_free(set->x);
    pl_free(set->y);
    pl_free(set->jacobian);
    *set = (learn_set){0};
}

// ---- forward
// Inputs of `count` samples; the derivative blocks start with the unit vectors, and with +-1 at kinks.
static void batch_load(const pl_network *n, learn_batch *b, const learn_set *set, const int *order, int from,
                       int count)
{
    const int in = n->def.input_count;
    const size_t wide = (size_t)n->size[0];

    for (int s = 0; s < count; ++s) {
        const int64_t k = order ? order[from + s] : from + s;
        memcpy(b->a[0] + (size_t)s * wide, set->x + (size_t)k * wide, wide * sizeof(double));
    }

    if (b->slopes) {
        double *unit = b->a[0] + (size_t)count * wide;
        memset(unit, 0, (size_t)count * (size_t)in * wide * sizeof *unit);

        for (int i = 0; i < in; ++i) {
            for (int s = 0; s < count; ++s) {
                unit[((size_t)i * (size_t)count + (size_t)s) * wide + (size_t)i] = 1;
            }
        }

        for (int k = 0; k < n->kink_count; ++k) {
            for (int s = 0; s < count; ++s) {
                unit[((size_t)n->kink[k] * (size_t)count + (size_t)s) * wide + (size_t)(in + k)] =
                    learn_turn(n, b->a[0] + (size_t)s * wide, k);
            }
        }
    }
}

// All layers for the whole batch, by matrix products.
static void batch_forward(const pl_network *n, learn_batch *b, int count)
{
    const int in = n->def.input_count, first = n->size[0], rows = count * (b->slopes ? 1 + in : 1);
    for (int l = 1; l <= n->last; ++l) {
        const int w = n->size[l], v = n->size[l - 1];
        const double *W = n->theta + n->first[l], *bias = W + w * v;
        double *z = b->z[l], *a = b->a[l];

        // z = W a for all rows; the bias belongs to the values only
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, w, v, 1, b->a[l - 1], v, W, v, 0, z, w);
        for (int s = 0; s < count; ++s) {
            for (int i = 0; i < w; ++i) {
                z[s * w + i] += bias[i];
            }
        }

        if (l == n->last) {
            memcpy(a, z, (size_t)rows * (size_t)w * sizeof *a);
            break;
        }

        // activation, and its slope for the derivatives
        for (int k = 0; k < count * w; ++k) {
            double d1, d2;
            learn_activate(n->def.activation, z[k], &a[k], &d1, &d2);
            for (int r = 1; b->slopes && r <= in; ++r) {
                a[r * count * w + k] = d1 * z[r * count * w + k];
            }
        }
    }

    // direct part
    if (n->def.skip) {
        const int w = n->size[n->last];
        const double *S = n->theta + n->count - w * first;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, w, first, 1, b->a[0], first, S, first, 1,
                    b->a[n->last], w);
    }
}

// ---- backward: bar[0] holds the adjoints of the outputs
// Adds to `gradient`; the two arrays of adjoints are used in turn.
static void batch_backward(const pl_network *n, learn_batch *b, int count, double *gradient)
{
    const int in = n->def.input_count, first = n->size[0], rows = count * (b->slopes ? 1 + in : 1);
    double *bar = b->bar[0], *next = b->bar[1];

    // direct part
    if (n->def.skip) {
        const int w = n->size[n->last];
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, w, first, rows, 1, bar, w, b->a[0], first, 1,
                    gradient + n->count - w * first, first);
    }

    for (int l = n->last; l >= 1; --l) {
        const int w = n->size[l], v = n->size[l - 1];
        const double *W = n->theta + n->first[l];

        // through the activation: f'' couples values and derivatives
        for (int k = 0; l < n->last && k < count * w; ++k) {
            double f, d1, d2, turn = 0;
            learn_activate(n->def.activation, b->z[l][k], &f, &d1, &d2);
            for (int r = 1; b->slopes && r <= in; ++r) {
                turn += b->z[l][r * count * w + k] * bar[r * count * w + k];
                bar[r * count * w + k] *= d1;
            }

            bar[k] = d1 * bar[k] + d2 * turn;
        }

        // weights and biases, then the layer below
        double *gW = gradient + n->first[l], *gb = gW + w * v;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, w, v, rows, 1, bar, w, b->a[l - 1], v, 1, gW, v);
        for (int s = 0; s < count; ++s) {
            for (int i = 0; i < w; ++i) {
                gb[i] += bar[s * w + i];
            }
        }

        if (l > 1) {
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, v, w, 1, bar, w, W, v, 0, next, v);
            double *swap = bar;
            bar = next;
            next = swap;
        }
    }
}

// In chunks that fit the batch; `order` shuffles the samples.
void learn_accumulate(const pl_network *n, learn_batch *b, const learn_set *set, const int *order, int from,
                      int to, const double scale[2], double sum[2], double *gradient)
{
    const int in = n->def.input_count, o = n->size[n->last];
    for (int at = from; at < to; at += b->room) {
        const int count = to - at < b->room ? to - at : b->room;
        batch_load(n, b, set, order, at, count);
        batch_forward(n, b, count);

        // residuals, and their adjoints as start of the backward pass
        const double *out = b->a[n->last];
        for (int s = 0; s < count; ++s) {
            const int64_t k = order ? order[at + s] : at + s;

            for (int i = 0; i < o; ++i) {
                const double r = out[s * o + i] - set->y[k * o + i];
                sum[0] += r * r;
                b->bar[0][s * o + i] = scale[0] * r;

                for (int j = 0; b->slopes && j < in; ++j) {
                    const int64_t at_slope = ((int64_t)(1 + j) * count + s) * o + i;
                    const double d = set->jacobian ? out[at_slope] - set->jacobian[(k * o + i) * in + j] : 0;
                    sum[1] += d * d;
                    b->bar[0][at_slope] = scale[1] * d;
                }
            }
        }

        if (gradient) {
            batch_backward(n, b, count, gradient);
        }
    }
}
