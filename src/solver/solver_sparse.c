// Symmetric sparse matrices: compressed columns of the upper triangle.
#include "solver/solver.h"

pl_status pl_sparse_create(int32_t n, int64_t entry_count, pl_sparse *out, pl_error *err)
{
    *out = (pl_sparse){0};
    if (n < 0 || entry_count < 0) {
        return pl_fail(err, PL_BAD_INPUT, "solver: a matrix of %d unknowns and %lld entries cannot be made",
                       (int)n, (long long)entry_count);
    }

    out->n = n;
    out->start = PL_NEW_ARRAY(int64_t, (size_t)n + 1);
    out->row = PL_NEW_ARRAY(int32_t, entry_count);
    out->value = PL_NEW_ARRAY(double, entry_count);
    if (!out->start || !out->row || !out->value) {
        pl_sparse_clear(out);
        return pl_fail_memory(err, "solver: sparse matrix");
    }

    return PL_OK;
}

void pl_sparse_clear(pl_sparse *matrix)
{
    if (!matrix) {
        return;
    }
    pl_free(matrix->start);
    pl_free(matrix->row);
    pl_free(matrix->value);
    *matrix = (pl_sparse){0};
}

// A = U + U^T - diag(U): column j gives its dot product to y_j and spreads x_j over its rows.
void pl_sparse_multiply(const pl_sparse *matrix, const double *x, double *y)
{
    for (int32_t j = 0; j < matrix->n; ++j) {
        const int64_t diagonal = matrix->start[j + 1] - 1;
        double sum = matrix->value[diagonal] * x[j];
        const double xj = x[j];

        for (int64_t p = matrix->start[j]; p < diagonal; ++p) {
            const int32_t i = matrix->row[p];
            sum += matrix->value[p] * x[i];
            y[i] += matrix->value[p] * xj;
        }

        y[j] = sum;
    }
}

// The same for a few columns at once: the matrix is read once.
void pl_sparse_multiply_columns(const pl_sparse *matrix, const double *x, double *y, int count)
{
    const int64_t n = matrix->n;
    double sum[PL_SPARSE_COLUMNS], xj[PL_SPARSE_COLUMNS];

    for (int64_t j = 0; j < n; ++j) {
        const int64_t diagonal = matrix->start[j + 1] - 1;
        for (int c = 0; c < count; ++c) {
            xj[c] = x[c * n + j];
            sum[c] = matrix->value[diagonal] * xj[c];
        }

        for (int64_t p = matrix->start[j]; p < diagonal; ++p) {
            const int64_t i = matrix->row[p];
            const double value = matrix->value[p];
            for (int c = 0; c < count; ++c) {
                sum[c] += value * x[c * n + i];
                y[c * n + i] += value * xj[c];
            }
        }

        for (int c = 0; c < count; ++c) {
            y[c * n + j] = sum[c];
        }
    }
}

int64_t pl_sparse_slot(const pl_sparse *matrix, int32_t row, int32_t column)
{
    if (row < 0 || column < row || column >= matrix->n) {
        return -1;
    }

    int64_t low = matrix->start[column], high = matrix->start[column + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (matrix->row[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low < matrix->start[column + 1] && matrix->row[low] == row ? low : -1;
}
