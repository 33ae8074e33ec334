// Levenberg-Marquardt: residuals are the deviations of the values and, weighted, of the derivatives by the
// inputs; each gives one row of the matrix A = dr/dtheta. A step solves (A^T A + mu I) d = -A^T r.
#include <cblas.h>
#include "learn/learn_impl.h"

// LAPACK
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b,
             const int *ldb, int *info);

#define LEVENBERG_ROWS 256 // rows of A collected before they are added to A^T A

typedef struct levenberg {
    pl_network *n;
    const learn_set *set;
    double weight[2];                      // of values and derivatives
    double *A, *r;                         // collected rows
    int rows;                              // so many
    double *H, *L, *g, *d;                 // A^T A, its factor, A^T r, step
    double *f, *d1, *d2;                   // activations of one sample, per layer: widest each
    double *dot;                           // derivatives a'_i: per layer, inputs x widest
    double *zdot;                          // z'_i likewise
    double *bar, *bardot, *next, *nextdot; // adjoints of a layer and of the one below
} levenberg;

// Adds the collected rows to A^T A and A^T r.
static void levenberg_flush(levenberg *v)
{
    const int P = v->n->count;
    if (v->rows > 0) {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, P, v->rows, 1, v->A, P, 1, v->H, P);
        cblas_dgemv(CblasRowMajor, CblasTrans, v->rows, P, 1, v->A, P, v->r, 1, 1, v->g, 1);
    }

    v->rows = 0;
}

// Value and derivatives of all layers at one sample.
static void levenberg_forward(levenberg *v, const double *x, bool slopes)
{
    const pl_network *n = v->n;
    const int in = n->def.input_count, first = n->size[0], wide = n->widest;

    memcpy(v->f, x, (size_t)first * sizeof *x);
    for (int i = 0; slopes && i < in; ++i) {
        for (int j = 0; j < first; ++j) {
            v->dot[i * wide + j] = j < in ? i == j : n->kink[j - in] == i ? learn_turn(n, x, j - in) : 0;
        }
    }

    // layers: values, f', f'' and derivatives by every input
    for (int l = 1; l <= n->last; ++l) {
        const int w = n->size[l], m = n->size[l - 1];
        const double *W = n->theta + n->first[l], *b = W + w * m, *from = v->f + (l - 1) * wide;
        double *f = v->f + l * wide, *d1 = v->d1 + l * wide, *d2 = v->d2 + l * wide;
        const double *dot_from = v->dot + (size_t)(l - 1) * (size_t)in * (size_t)wide;
        double *dot = v->dot + (size_t)l * (size_t)in * (size_t)wide;
        double *zdot = v->zdot + (size_t)l * (size_t)in * (size_t)wide;

        for (int i = 0; i < w; ++i) {
            double z = b[i];
            for (int j = 0; j < m; ++j) {
                z += W[i * m + j] * from[j];
            }
            if (l < n->last) {
                learn_activate(n->def.activation, z, &f[i], &d1[i], &d2[i]);
            } else {
                f[i] = z;
                d1[i] = 1;
                d2[i] = 0;
            }

            for (int k = 0; slopes && k < in; ++k) {
                double s = 0;
                for (int j = 0; j < m; ++j) {
                    s += W[i * m + j] * dot_from[k * wide + j];
                }
                zdot[k * wide + i] = s;
                dot[k * wide + i] = d1[i] * s;
            }
        }
    }

    // direct part
    const double *S = n->def.skip ? n->theta + n->count - n->size[n->last] * first : NULL;
    for (int o = 0; S && o < n->size[n->last]; ++o) {
        for (int j = 0; j < first; ++j) {
            v->f[n->last * wide + o] += S[o * first + j] * x[j];
            for (int i = 0; slopes && i < in; ++i) {
                v->dot[((size_t)n->last * (size_t)in + (size_t)i) * (size_t)wide + (size_t)o] +=
                    S[o * first + j] * v->dot[i * wide + j];
            }
        }
    }
}

// The row of output o (k < 0: its value; otherwise its derivative by input k), scaled by `weight`.
static void levenberg_row(levenberg *v, int o, int k, double weight, double *row)
{
    const pl_network *n = v->n;
    const int in = n->def.input_count, first = n->size[0], wide = n->widest;

    memset(row, 0, (size_t)n->count * sizeof *row);

    // adjoints of the output layer: of its value, or of its derivative
    double *bar = v->bar, *bardot = v->bardot, *next = v->next, *nextdot = v->nextdot;
    memset(bar, 0, (size_t)wide * sizeof *bar);
    memset(bardot, 0, (size_t)wide * sizeof *bardot);
    (k < 0 ? bar : bardot)[o] = weight;

    if (n->def.skip) {
        double *S = row + n->count - n->size[n->last] * first + o * first;
        for (int j = 0; j < first; ++j) {
            S[j] = weight * (k < 0 ? v->f[j] : v->dot[k * wide + j]);
        }
    }

    // backward through the layers
    for (int l = n->last; l >= 1; --l) {
        const int w = n->size[l], m = n->size[l - 1];
        const double *W = n->theta + n->first[l], *from = v->f + (l - 1) * wide;
        const double *d1 = v->d1 + l * wide, *d2 = v->d2 + l * wide;
        const double *zdot = v->zdot + ((size_t)l * (size_t)in + (size_t)(k < 0 ? 0 : k)) * (size_t)wide;
        const double *dot_from =
            v->dot + ((size_t)(l - 1) * (size_t)in + (size_t)(k < 0 ? 0 : k)) * (size_t)wide;
        double *gW = row + n->first[l], *gb = gW + w * m;
        memset(next, 0, (size_t)m * sizeof *next);
        memset(nextdot, 0, (size_t)m * sizeof *nextdot);

        for (int i = l == n->last ? o : 0; i < (l == n->last ? o + 1 : w); ++i) {
            const double z = d1[i] * bar[i] + (k < 0 ? 0 : d2[i] * zdot[i] * bardot[i]);
            const double zd = k < 0 ? 0 : d1[i] * bardot[i];
            const double *Wi = W + (size_t)i * (size_t)m;
            double *g = gW + (size_t)i * (size_t)m;
            gb[i] = z;

            if (k < 0) {
#pragma omp simd
                for (int j = 0; j < m; ++j) {
                    g[j] = z * from[j];
                    next[j] += z * Wi[j];
                }
            } else {
#pragma omp simd
                for (int j = 0; j < m; ++j) {
                    g[j] = z * from[j] + zd * dot_from[j];
                    next[j] += z * Wi[j];
                    nextdot[j] += zd * Wi[j];
                }
            }
        }

        double *swap = bar;
        bar = next;
        next = swap;
        swap = bardot;
        bardot = nextdot;
        nextdot = swap;
    }
}

// A^T A and A^T r at the present weights; returns the sum of squares of the values' deviations.
static double levenberg_assemble(levenberg *v)
{
    const learn_set *set = v->set;
    const int in = set->inputs, o = set->outputs, P = v->n->count, wide = v->n->widest, last = v->n->last;
    const bool slopes = set->jacobian != NULL;
    double sum = 0;

    memset(v->H, 0, (size_t)P * (size_t)P * sizeof *v->H);
    memset(v->g, 0, (size_t)P * sizeof *v->g);
    for (int64_t s = 0; s < set->count; ++s) {
        levenberg_forward(v, set->x + s * set->wide, slopes);
        // one row per value, and per derivative by each input
        for (int i = 0; i < o; ++i) {
            const double r = v->f[last * wide + i] - set->y[s * o + i];
            sum += r * r;

            for (int k = -1; k < (slopes ? in : 0); ++k) {
                const double w = v->weight[k >= 0];
                levenberg_row(v, i, k, w, v->A + (size_t)v->rows * (size_t)P);
                v->r[v->rows++] =
                    k < 0 ? w * r
                          : w * (v->dot[((size_t)last * (size_t)in + (size_t)k) * (size_t)wide + (size_t)i] -
                                 set->jacobian[(s * o + i) * in + k]);
                if (v->rows == LEVENBERG_ROWS) {
                    levenberg_flush(v);
                }
            }
        }
    }

    levenberg_flush(v);

    return sum;
}

// The cost at the present weights: weighted squares and decay. *values: sum of squares of the values alone.
static double levenberg_cost(learn_run *run, const levenberg *v, double *values)
{
    const double scale[2] = {0, 0};
    double sum[2] = {0, 0}, square = 0;

    learn_accumulate(run->network, &run->batch, &run->train, NULL, 0, run->train.count, scale, sum, NULL);
    for (int k = 0; k < run->network->count; ++k) {
        square += run->network->theta[k] * run->network->theta[k];
    }
    *values = sum[0];

    return v->weight[0] * v->weight[0] * sum[0] + v->weight[1] * v->weight[1] * sum[1] +
           run->options->decay * square;
}

// False when out of memory.
static bool levenberg_room(levenberg *v)
{
    const pl_network *n = v->n;
    const int64_t P = n->count, wide = n->widest, layers = n->last + 1, in = n->def.input_count;

    v->A = PL_NEW_ARRAY(double, (LEVENBERG_ROWS + 2) * P);
    v->r = PL_NEW_ARRAY(double, LEVENBERG_ROWS);
    v->H = PL_NEW_ARRAY(double, 2 * P * P);
    v->L = v->H ? v->H + P * P : NULL;
    v->g = v->A ? v->A + LEVENBERG_ROWS * P : NULL;
    v->d = v->A ? v->g + P : NULL;
    v->f = PL_NEW_ARRAY(double, 3 * layers * wide + 4 * wide);
    v->dot = PL_NEW_ARRAY(double, 2 * layers * in * wide);
    if (!v->A || !v->r || !v->H || !v->f || !v->dot) {
        return false;
    }
    v->d1 = v->f + layers * wide;
    v->d2 = v->d1 + layers * wide;
    v->bar = v->d2 + layers * wide;
    v->bardot = v->bar + wide;
    v->next = v->bardot + wide;
    v->nextdot = v->next + wide;
    v->zdot = v->dot + layers * in * wide;

    return true;
}

// (A^T A + (mu + decay) I) d = -(A^T r + decay theta); false where it is not positive definite in rounding.
static bool levenberg_solve(levenberg *v, double mu, double decay)
{
    const int P = v->n->count, one = 1;
    int info = 0;

    memcpy(v->L, v->H, (size_t)P * (size_t)P * sizeof *v->L);
    for (int k = 0; k < P; ++k) {
        v->L[(size_t)k * (size_t)P + (size_t)k] += mu + decay;
        v->d[k] = -(v->g[k] + decay * v->n->theta[k]);
    }

    // row-major lower is column-major upper
    dpotrf_("U", &P, v->L, &P, &info);
    if (info == 0) {
        dpotrs_("U", &P, &one, v->L, &P, v->d, &P, &info);
    }

    return info == 0;
}

// Damping mu falls by five after a better step and grows by four otherwise; no better step in
// 12 attempts means convergence.
void learn_levenberg(learn_run *run)
{
    pl_network *n = run->network;
    levenberg v = {.n = n, .set = &run->train};
    double *old = PL_NEW_ARRAY(double, n->count);

    run->no_memory = !levenberg_room(&v) || !old;

    // means over the samples: damping and decay then do not depend on their number
    const double N = run->train.count;
    v.weight[0] = 1 / sqrt(N);
    v.weight[1] = run->options->jacobian_weight / sqrt(N * run->train.inputs);
    double mu = 1e-3, values = 0;
    double cost = run->no_memory ? 0 : levenberg_cost(run, &v, &values);

    for (bool go = !run->no_memory; go;) {
        levenberg_assemble(&v);

        // smaller and smaller steps until the cost falls
        bool better = false;
        for (int attempt = 0; !better && attempt < 12; ++attempt) {
            memcpy(old, n->theta, (size_t)n->count * sizeof *old);
            double fresh = INFINITY, sum = 0;

            if (levenberg_solve(&v, mu, run->options->decay)) {
                for (int k = 0; k < n->count; ++k) {
                    n->theta[k] += v.d[k];
                }
                fresh = levenberg_cost(run, &v, &sum);
            }

            better = fresh < cost;
            if (better) {
                cost = fresh;
                values = sum;
                mu = fmax(mu / 5, 1e-15);
            } else {
                memcpy(n->theta, old, (size_t)n->count * sizeof *old);
                mu *= 4;
            }
        }

        if (!better) {
            run->outcome = PL_TRAIN_CONVERGED;
            break;
        }

        go = learn_epoch(run, values);
    }

    pl_free(v.A);
    pl_free(v.r);
    pl_free(v.H);
    pl_free(v.f);
    pl_free(v.dot);
    pl_free(old);
}
