// Dense work on one front: updates by A D B^T, the factorisation of a pivot block without pivoting, and the
// careful one with it. The only file besides solver_substitute.c that calls BLAS.
#include <cblas.h>
#include "solver/solver_front.h"

extern void dsytrf_(const char *uplo, const int *n, double *A, const int *lda, int *swaps, double *work,
                    const int *size, int *info, size_t length);
extern void dsyconv_(const char *uplo, const char *way, const int *n, double *A, const int *lda,
                     const int *swaps, double *e, int *info, size_t length, size_t way_length);

// columns listed in `column`, side by side
static void pivot_gather(const front_real *A, int lda, int m, const int32_t *column, int count,
                         front_real *out)
{
    for (int c = 0; c < count; ++c) {
        memcpy(out + (size_t)c * (size_t)m, A + (size_t)column[c] * (size_t)lda, (size_t)m * sizeof *out);
    }
}

#ifndef FRONT_SINGLE
// W = A D for columns from .. to of A; a block of 2 is never cut
static void pivot_scale(const double *A, int lda, int m, int from, int to, const front_diagonal *D, double *W)
{
    for (int j = from; j < to; ++j) {
        const double *a = A + (size_t)j * (size_t)lda;
        double *w = W + (size_t)(j - from) * (size_t)m;
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

static void pivot_update_general(double *T, int ldt, int m, int n, const double *A, const double *B, int lda,
                                 int k, const front_diagonal *D, double beta, double *pack)
{
    for (int from = 0; from < k;) {
        int to = from + FRONT_SLAB < k ? from + FRONT_SLAB : k;
        if (to < k && D->e[to - 1] != 0) {
            --to;
        }
        pivot_scale(A, lda, m, from, to, D, pack);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, to - from, -1, pack, m,
                    B + (size_t)from * (size_t)lda, lda, beta, T, ldt);
        beta = 1;
        from = to;
    }
}
#endif

// With S = I - 2 N, N the columns of negative sign:  A S B^T = A B^T - 2 A_N B_N^T. One large product without
// copies and a thin correction.
void front_update(front_real *T, int ldt, int m, int n, const front_real *A, const front_real *B, int lda,
                  int k, const front_diagonal *D, front_real beta, front_real *pack)
{
#ifndef FRONT_SINGLE
    if (D->pivoted) {
        pivot_update_general(T, ldt, m, n, A, B, lda, k, D, beta, pack);
        return;
    }
#endif
    FRONT_BLAS(gemm)(CblasColMajor, CblasNoTrans, CblasTrans, m, n, k, -1, A, lda, B, lda, beta, T, ldt);
    for (int from = 0; from < D->negative_count; from += FRONT_SLAB) {
        const int rest = D->negative_count - from, count = rest < FRONT_SLAB ? rest : FRONT_SLAB;
        front_real *left = pack, *right = pack + (size_t)m * (size_t)count;
        pivot_gather(A, lda, m, D->negative + from, count, left);
        pivot_gather(B, lda, n, D->negative + from, count, right);
        FRONT_BLAS(gemm)
        (CblasColMajor, CblasNoTrans, CblasTrans, m, n, count, 2, left, m, right, n, 1, T, ldt);
    }
}

void front_update_lower(front_real *T, int ldt, int n, const front_real *A, int lda, int k,
                        const front_diagonal *D, front_real beta, front_real *pack)
{
#ifndef FRONT_SINGLE
    if (D->pivoted) {
        pivot_update_general(T, ldt, n, n, A, A, lda, k, D, beta, pack);
        return;
    }
#endif
    FRONT_BLAS(syrk)(CblasColMajor, CblasLower, CblasNoTrans, n, k, -1, A, lda, beta, T, ldt);
    for (int from = 0; from < D->negative_count; from += FRONT_SLAB) {
        const int rest = D->negative_count - from, count = rest < FRONT_SLAB ? rest : FRONT_SLAB;
        pivot_gather(A, lda, n, D->negative + from, count, pack);
        FRONT_BLAS(syrk)(CblasColMajor, CblasLower, CblasNoTrans, n, count, 2, pack, n, 1, T, ldt);
    }
}

// Column by column: l = sqrt(|a_jj|), column / (s l), then the rank-one update of the rest.
static int pivot_small(front_real *A, int lda, int n, double tiny, double replacement, double *sign)
{
    int replaced = 0;
    for (int j = 0; j < n; ++j) {
        front_real *a = A + (size_t)j * (size_t)lda;
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
            front_real *target = A + (size_t)c * (size_t)lda;
            const front_real factor = (front_real)s * a[c];
#pragma omp simd
            for (int i = c; i < n; ++i) {
                target[i] -= factor * a[i];
            }
        }
    }
    return replaced;
}

void front_signed_rows(front_real *A, int m, const front_real *L, int lda, int n, const double *sign)
{
    FRONT_BLAS(trsm)
    (CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1, L, lda, A, lda);
    for (int j = 0; j < n; ++j) {
        front_real *a = A + (size_t)j * (size_t)lda;
        for (int i = 0; sign[j] < 0 && i < m; ++i) {
            a[i] = -a[i];
        }
    }
}

// Halves the block until it is small; n is at most FRONT_BLOCK.
int front_signed_cholesky(front_real *A, int lda, int n, double tiny, double replacement, double *sign,
                          front_real *pack)
{
    if (n <= 24) {
        return pivot_small(A, lda, n, tiny, replacement, sign);
    }
    const int half = (n / 2 + 7) / 8 * 8, rest = n - half;
    int replaced = front_signed_cholesky(A, lda, half, tiny, replacement, sign, pack);
    front_real *below = A + half, *corner = below + (size_t)half * (size_t)lda;
    front_signed_rows(below, rest, A, lda, half, sign);
    int32_t negative[FRONT_BLOCK];
    front_diagonal D = {.negative = negative};
    for (int j = 0; j < half; ++j) {
        if (sign[j] < 0) {
            negative[D.negative_count++] = j;
        }
    }
    front_update_lower(corner, lda, rest, below, lda, half, &D, 1, pack);
    return replaced + front_signed_cholesky(corner, lda, rest, tiny, replacement, sign + half, pack);
}

double front_largest(const front_real *A, int lda, int m, int n)
{
    front_real largest = 0;
    for (int j = 0; j < n; ++j) {
        const front_real *a = A + (size_t)j * (size_t)lda;
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

int front_pivoted(double *panel, int k, int m, double tiny, double replacement, int *swaps, double *d,
                  double *e, double *pack)
{
    const int lda = k + m, size = k * FRONT_SLAB;
    int info;
    dsytrf_("L", &k, panel, &lda, swaps, pack, &size, &info, 1);
    dsyconv_("L", "C", &k, panel, &lda, swaps, e, &info, 1, 1);
    for (int j = 0; j < k; ++j) {
        d[j] = panel[(size_t)j * (size_t)lda + (size_t)j];
        panel[(size_t)j * (size_t)lda + (size_t)j] = 1;
    }
    const int replaced = pivot_guard(k, tiny, replacement, d, e);
    if (m == 0) {
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
    pivot_divide(below, lda, m, k, d, e);
    return replaced;
}
#endif
