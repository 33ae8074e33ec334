// Dense work on one front: updates by A D B^T, the factorisation of a pivot block without pivoting, and the
// careful one with it. A body of solver_double_kernel.c and solver_single_kernel.c.
#ifndef PL_SOLVER_PIVOT_H
#define PL_SOLVER_PIVOT_H

#include "solver/solver_tile.h"

#ifndef FRONT_SINGLE
#include <cblas.h>

extern void dsytrf_(const char *uplo, const int *n, double *A, const int *lda, int *swaps, double *work,
                    const int *size, int *info, size_t length);
extern void dsyconv_(const char *uplo, const char *mode, const int *n, double *A, const int *lda,
                     const int *swaps, double *e, int *info, size_t length, size_t mode_length);

// W = A D for columns from .. to of A; a block of 2 is never cut
static void pivot_scale(const double *A, int64_t lda, int m, int from, int to, const front_diagonal *D,
                        double *W)
{
    for (int j = from; j < to; ++j) {
        const double *a = A + j * lda;
        double *w = W + (int64_t)(j - from) * m;
        if (D->e[j] != 0) {
            const double *b = a + lda;
            for (int i = 0; i < m; ++i) {
                w[i] = D->d[j] * a[i] + D->e[j] * b[i];
                w[m + i] = D->e[j] * a[i] + D->d[j + 1] * b[i];
            }
            ++j;
        } else {
            for (int i = 0; i < m; ++i) {
                w[i] = D->d[j] * a[i];
            }
        }
    }
}

// D has blocks of 2: slabs of A D, which lie behind the tiles' own part of `pack`
static void pivot_update_general(const tile_task *task, const front_diagonal *D, double *pack)
{
    tile_task slab = *task;
    slab.sign = NULL;
    for (int from = 0; from < task->k;) {
        int to = from + FRONT_SLAB < task->k ? from + FRONT_SLAB : task->k;
        if (to < task->k && D->e[to - 1] != 0) {
            --to;
        }
        pivot_scale(task->A, task->lda, task->m, from, to, D, pack + FRONT_PACK);
        slab.A = pack + FRONT_PACK;
        slab.lda = task->m;
        slab.B = task->B + from * task->ldb;
        slab.k = to - from;
        tile_update(&slab, pack);
        slab.add = true;
        from = to;
    }
}
#endif

// The product of `task` with the D of its columns in place of S.
static void front_update(tile_task task, const front_diagonal *D, front_real *pack)
{
#ifndef FRONT_SINGLE
    if (D->pivoted) {
        pivot_update_general(&task, D, pack);
        return;
    }
#endif
    task.sign = D->d;
    tile_update(&task, pack);
}

// Column by column: l = sqrt(|a_jj|), column / (s l), then the rank-one update of the rest.
static int pivot_small(front_real *A, int64_t lda, int n, double tiny, double replacement, double *sign)
{
    int replaced = 0;
    for (int j = 0; j < n; ++j) {
        front_real *a = A + j * lda;
        double pivot = a[j];
        if (!(fabs(pivot) >= tiny)) {
            pivot = pivot < 0 ? -replacement : replacement;
            ++replaced;
        }
        const double s = pivot < 0 ? -1 : 1, l = sqrt(fabs(pivot));
        const front_real inverse = (front_real)(s / l);
        sign[j] = s;
        a[j] = (front_real)l;
        for (int i = j + 1; i < n; ++i) {
            a[i] *= inverse;
        }
        for (int c = j + 1; c < n; ++c) {
            front_real *target = A + c * lda;
            const front_real factor = (front_real)s * a[c];
#pragma omp simd
            for (int i = c; i < n; ++i) {
                target[i] -= factor * a[i];
            }
        }
    }

    return replaced;
}

// Halves the block until it is small; n is at most FRONT_BLOCK:
// A = L S L^T without pivoting, S = diag(sign) with entries +-1, in place of the lower triangle. A pivot
// smaller than `tiny` is replaced by one of size `replacement`; returns how many were.
static int front_signed_cholesky(front_real *A, int64_t lda, int n, double tiny, double replacement,
                                 double *sign, front_real *pack)
{
    if (n <= 24) {
        return pivot_small(A, lda, n, tiny, replacement, sign);
    }

    const int half = (n / 2 + 7) / 8 * 8, rest = n - half;
    int replaced = front_signed_cholesky(A, lda, half, tiny, replacement, sign, pack);
    front_real *below = A + half, *corner = below + half * lda;
    tile_solve_rows(below, rest, A, lda, half, sign);
    const tile_task update = {.T = corner,
                              .ldt = lda,
                              .m = rest,
                              .n = rest,
                              .A = below,
                              .B = below,
                              .lda = lda,
                              .ldb = lda,
                              .k = half,
                              .sign = sign,
                              .add = true,
                              .lower = true};
    tile_update(&update, pack);

    return replaced + front_signed_cholesky(corner, lda, rest, tiny, replacement, sign + half, pack);
}

static double front_largest(const front_real *A, int64_t lda, int m, int n)
{
    front_real largest = 0;
    for (int j = 0; j < n; ++j) {
        const front_real *a = A + j * lda;
#pragma omp simd reduction(max : largest)
        for (int i = 0; i < m; ++i) {
            const front_real size = a[i] < 0 ? -a[i] : a[i];
            largest = size > largest ? size : largest;
        }
    }

    return largest;
}

#ifndef FRONT_SINGLE
// Both pivots of a block of 2 count as too small when its determinant is; they are then taken as two of
// size 1.
static int pivot_guard(int k, double tiny, double replacement, double *d, double *e)
{
    int replaced = 0;
    for (int j = 0; j < k; ++j) {
        if (e[j] != 0) {
            const double det = d[j] * d[j + 1] - e[j] * e[j];
            if (fabs(det) >= tiny * fmax(fabs(e[j]), tiny)) {
                ++j;
                continue;
            }
            e[j] = 0;
            d[j] = d[j] < 0 ? -replacement : replacement;
            d[j + 1] = d[j + 1] < 0 ? -replacement : replacement;
            replaced += 2;
            ++j;
        } else if (!(fabs(d[j]) >= tiny)) {
            d[j] = d[j] < 0 ? -replacement : replacement;
            ++replaced;
        }
    }

    return replaced;
}

static void pivot_swap_columns(double *A, int lda, int m, int a, int b)
{
    if (a != b) {
        cblas_dswap(m, A + (size_t)a * (size_t)lda, 1, A + (size_t)b * (size_t)lda, 1);
    }
}

// L21 = X D^-1 in place
static void pivot_divide(double *X, int lda, int m, int k, const double *d, const double *e)
{
    for (int j = 0; j < k; ++j) {
        double *a = X + (size_t)j * (size_t)lda, *b = a + lda;
        if (e[j] != 0) {
            const double det = d[j] * d[j + 1] - e[j] * e[j];
            const double p = d[j + 1] / det, q = -e[j] / det, r = d[j] / det;
            for (int i = 0; i < m; ++i) {
                const double x = a[i], y = b[i];
                a[i] = p * x + q * y;
                b[i] = q * x + r * y;
            }
            ++j;
        } else {
            for (int i = 0; i < m; ++i) {
                a[i] /= d[j];
            }
        }
    }
}

// Bunch-Kaufman on the k pivots of a panel with m rows below: swaps[] in LAPACK's convention, D in d and e,
// unit L11. Pivots smaller than `tiny` are replaced and counted.
static int front_pivoted(double *panel, int k, int m, double tiny, double replacement, int *swaps, double *d,
                         double *e, double *pack)
{
    const int lda = k + m, size = k * FRONT_SLAB;
    int info;

    solver_blas_begin();
    dsytrf_("L", &k, panel, &lda, swaps, pack, &size, &info, 1);
    dsyconv_("L", "C", &k, panel, &lda, swaps, e, &info, 1, 1);
    for (int j = 0; j < k; ++j) {
        d[j] = panel[(size_t)j * (size_t)lda + (size_t)j];
        panel[(size_t)j * (size_t)lda + (size_t)j] = 1;
    }

    const int replaced = pivot_guard(k, tiny, replacement, d, e);
    if (m == 0) {
        solver_blas_end();
        return replaced;
    }

    double *below = panel + k;
    for (int j = 0; j < k; ++j) {
        if (swaps[j] > 0) {
            pivot_swap_columns(below, lda, m, j, swaps[j] - 1);
        } else {
            ++j;
            pivot_swap_columns(below, lda, m, j, -swaps[j] - 1);
        }
    }

    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasUnit, m, k, 1, panel, lda, below,
                lda);
    solver_blas_end();
    pivot_divide(below, lda, m, k, d, e);

    return replaced;
}
#endif

#endif
