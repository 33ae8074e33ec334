// Small dense systems: LU with partial pivoting, symmetric eigenvalues by Jacobi rotations. Row-major.
#include "solver/solver.h"

static void dense_swap_rows(double *A, int width, int a, int b)
{
    for (int j = 0; j < width; ++j) {
        const double swap = A[a * width + j];
        A[a * width + j] = A[b * width + j];
        A[b * width + j] = swap;
    }
}

static int dense_pivot_row(const double *A, int n, int k)
{
    int best = k;
    for (int i = k + 1; i < n; ++i) {
        if (fabs(A[i * n + k]) > fabs(A[best * n + k])) {
            best = i;
        }
    }

    return best;
}

// P A = L U, applied to b from the first row down; then U x = b from the last row up. A pivot below n eps
// max|A| means that A is singular to working precision.
bool pl_dense_solve(int n, double *A, double *b, int count)
{
    double largest = 0;
    for (int i = 0; i < n * n; ++i) {
        largest = fmax(largest, fabs(A[i]));
    }

    const double tiny = n * 2.2e-16 * largest;
    for (int k = 0; k < n; ++k) {
        const int pivot = dense_pivot_row(A, n, k);
        if (!(fabs(A[pivot * n + k]) > tiny)) {
            return false;
        }
        if (pivot != k) {
            dense_swap_rows(A, n, pivot, k);
            dense_swap_rows(b, count, pivot, k);
        }

        for (int i = k + 1; i < n; ++i) {
            const double l = A[i * n + k] / A[k * n + k];
            for (int j = k + 1; j < n; ++j) {
                A[i * n + j] -= l * A[k * n + j];
            }
            for (int j = 0; j < count; ++j) {
                b[i * count + j] -= l * b[k * count + j];
            }
        }
    }

    for (int k = n - 1; k >= 0; --k) {
        for (int j = 0; j < count; ++j) {
            double sum = b[k * count + j];
            for (int i = k + 1; i < n; ++i) {
                sum -= A[k * n + i] * b[i * count + j];
            }
            b[k * count + j] = sum / A[k * n + k];
        }
    }

    return true;
}

// Zeroes A_pq by the rotation of angle theta, tan(theta) = t, the smaller root of t^2 + 2 z t - 1 = 0 with
// z = (A_qq - A_pp) / (2 A_pq).
static void dense_rotate(int n, double *A, double *V, int p, int q)
{
    const double z = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
    const double t = (z >= 0 ? 1 : -1) / (fabs(z) + sqrt(z * z + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;

    for (int k = 0; k < n; ++k) {
        const double a = A[k * n + p], b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }

    for (int k = 0; k < n; ++k) {
        const double a = A[p * n + k], b = A[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
    }

    for (int k = 0; V && k < n; ++k) {
        const double a = V[k * n + p], b = V[k * n + q];
        V[k * n + p] = c * a - s * b;
        V[k * n + q] = s * a + c * b;
    }
}

static void dense_sort_eigen(int n, double *value, double *V)
{
    for (int i = 0; i < n - 1; ++i) {
        int least = i;
        for (int j = i + 1; j < n; ++j) {
            least = value[j] < value[least] ? j : least;
        }
        const double swap = value[i];
        value[i] = value[least];
        value[least] = swap;

        for (int k = 0; V && least != i && k < n; ++k) {
            const double v = V[k * n + i];
            V[k * n + i] = V[k * n + least];
            V[k * n + least] = v;
        }
    }
}

void pl_dense_eigen(int n, double *A, double *value, double *V)
{
    for (int i = 0; V && i < n * n; ++i) {
        V[i] = i % (n + 1) == 0;
    }

    for (int sweep = 0; sweep < 60; ++sweep) {
        double off = 0, diagonal = 0;
        for (int i = 0; i < n; ++i) {
            diagonal += A[i * n + i] * A[i * n + i];
            for (int j = i + 1; j < n; ++j) {
                off += A[i * n + j] * A[i * n + j];
            }
        }

        // squares: off-diagonal part below round-off of the whole
        if (!(off > 1e-32 * diagonal)) {
            break;
        }
        for (int p = 0; p < n - 1; ++p) {
            for (int q = p + 1; q < n; ++q) {
                if (A[p * n + q] != 0) {
                    dense_rotate(n, A, V, p, q);
                }
            }
        }
    }

    for (int i = 0; i < n; ++i) {
        value[i] = A[i * n + i];
    }
    dense_sort_eigen(n, value, V);
}
