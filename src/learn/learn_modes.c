// Principal modes of many numbers per sample, where numbers are far more than samples: with X the samples
// less their mean and X X^T v = w v, the modes are X^T v / sqrt(w), orthonormal and sorted by w.
#include <cblas.h>
#include "learn/learn_impl.h"

// LAPACK: symmetric eigenvalues
void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info);

// Modes until their share of the variance is reached, at most mode_limit. *left: RMS
// of what they leave, per number.
pl_status pl_principal_modes(const double *x, int count, int64_t size, int mode_limit, double share,
                             double *mean, double *mode, int *mode_count, double *left, pl_error *err)
{
    *mode_count = 0;
    const int n = count, lwork = 3 * count + 64;
    int info = 0;
    double *block = PL_NEW_ARRAY(double, (int64_t)n *n + n + lwork),
           *c = PL_NEW_ARRAY(double, (int64_t)n *size);
    if (!block || !c) {
        pl_free(block);
        pl_free(c);
        return pl_fail_memory(err, "the modes");
    }

    double *G = block, *w = G + (int64_t)n * n, *work = w + n;

    // mean, and samples less the mean
    memset(mean, 0, (size_t)size * sizeof *mean);
    for (int64_t s = 0; s < n; ++s) {
        for (int64_t i = 0; i < size; ++i) {
            mean[i] += x[s * size + i] / n;
        }
    }

    for (int64_t s = 0; s < n; ++s) {
        for (int64_t i = 0; i < size; ++i) {
            c[s * size + i] = x[s * size + i] - mean[i];
        }
    }

    // eigenvectors of the n x n matrix
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, n, (int)size, 1, c, (int)size, 0, G, n);

    // row-major upper is column-major lower; eigenvalues ascend, eigenvectors are columns: rows here
    dsyev_("V", "L", &n, G, &n, w, work, &lwork, &info);
    double total = 0, kept = 0;
    for (int k = 0; info == 0 && k < n; ++k) {
        total += fmax(w[k], 0);
    }

    // modes from the largest eigenvalue on
    for (int k = 0; info == 0 && k < mode_limit && k < n; ++k) {
        const double value = w[n - 1 - k];
        if (!(value > 1e-14 * total) || kept >= share * total) {
            break;
        }
        const double *v = G + (int64_t)(n - 1 - k) * n, scale = 1 / sqrt(value);
        cblas_dgemv(CblasRowMajor, CblasTrans, n, (int)size, scale, c, (int)size, v, 1, 0,
                    mode + (int64_t)k * size, 1);
        kept += value;
        ++*mode_count;
    }

    *left = sqrt(fmax(total - kept, 0) / ((double)n * (double)size));
    pl_free(block);
    pl_free(c);

    return info == 0 ? PL_OK : pl_fail(err, PL_FAILED, "learn: the modes could not be computed");
}
