// Lanczos' method for the eigenvalues of largest magnitude of S W, S symmetric and W diagonal:
//   beta_(m+1) q_(m+1) = S W q_m - sum over k <= m of (q_k, S W q_m) q_k,   (a, b) = a . W b.
// In the inner product of W the operator is symmetric, and its projection on the vectors q is the tridiagonal
// matrix of the coefficients, whose eigenvalues converge from both ends of the spectrum.
#include "solver/solver.h"

typedef struct lanczos {
    int32_t n;
    const double *weight;
    double *basis;                // `most` + 1 vectors
    double *image;                // W q_m
    double *diagonal, *beta;      // of the tridiagonal matrix; beta[m] couples m - 1 and m
    double *matrix, *value, *vec; // its dense form, eigenvalues ascending, eigenvectors in columns
    int count;
} lanczos;

static double lanczos_dot(const lanczos *z, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t i = 0; i < z->n; ++i) {
        sum += a[i] * z->weight[i] * b[i];
    }
    return sum;
}

static void lanczos_eigen(lanczos *z)
{
    const int m = z->count;
    memset(z->matrix, 0, (size_t)(m * m) * sizeof *z->matrix);
    for (int i = 0; i < m; ++i) {
        z->matrix[i * m + i] = z->diagonal[i];
        if (i + 1 < m) {
            z->matrix[i * m + i + 1] = z->matrix[(i + 1) * m + i] = z->beta[i + 1];
        }
    }

    pl_dense_eigen(m, z->matrix, z->value, z->vec);
}

// The k-th in magnitude: from one end of the ascending values or the other.
static int lanczos_pick(const lanczos *z, int k)
{
    int low = 0, high = z->count - 1, at = 0;
    for (int i = 0; i <= k; ++i) {
        at = fabs(z->value[low]) > fabs(z->value[high]) ? low++ : high--;
    }
    return at;
}

static int lanczos_converged(const lanczos *z, int wanted, double accuracy)
{
    int good = 0;
    while (good < wanted && good < z->count) {
        const int at = lanczos_pick(z, good);
        const double residual = fabs(z->beta[z->count] * z->vec[(z->count - 1) * z->count + at]);
        if (residual > accuracy * fabs(z->value[at])) {
            break;
        }
        ++good;
    }

    return good;
}

// One more vector; false: `apply` failed. Ends with beta 0 where the space is exhausted.
static bool lanczos_step(lanczos *z, int m, pl_lanczos_apply apply, void *user)
{
    double *q = z->basis + (int64_t)m * z->n, *next = q + z->n;
    for (int32_t i = 0; i < z->n; ++i) {
        z->image[i] = z->weight[i] * q[i];
    }
    if (!apply(user, z->image, next)) {
        return false;
    }
    z->diagonal[m] = lanczos_dot(z, q, next);

    for (int twice = 0; twice < 2; ++twice) {
        for (int k = 0; k <= m; ++k) {
            const double *u = z->basis + (int64_t)k * z->n, h = lanczos_dot(z, u, next);
            for (int32_t i = 0; i < z->n; ++i) {
                next[i] -= h * u[i];
            }
        }
    }

    const double norm = sqrt(lanczos_dot(z, next, next));
    z->beta[m + 1] = norm > 1e-14 * fabs(z->diagonal[0]) ? norm : 0;
    for (int32_t i = 0; i < z->n && z->beta[m + 1] > 0; ++i) {
        next[i] /= norm;
    }
    z->count = m + 1;

    return true;
}

// The eigenvector with the number `at`, from the basis.
static void lanczos_vector(const lanczos *z, int at, double *v)
{
    memset(v, 0, (size_t)z->n * sizeof *v);
    for (int k = 0; k < z->count; ++k) {
        const double c = z->vec[k * z->count + at], *u = z->basis + (int64_t)k * z->n;
        for (int32_t i = 0; i < z->n; ++i) {
            v[i] += c * u[i];
        }
    }
}

int pl_lanczos(int32_t n, const double *weight, pl_lanczos_apply apply, void *user,
               const pl_lanczos_options *options, double *start, double *value, double *vector)
{
    const int most = options->most;
    lanczos z = {.n = n, .weight = weight};

    z.basis = PL_NEW_ARRAY(double, (most + 1) * (int64_t)n);
    z.image = PL_NEW_ARRAY(double, n);
    double *small = PL_NEW_ARRAY(double, 2 * most * most + 4 * most + 1);
    int found = -1;

    if (z.basis && z.image && small) {
        z.matrix = small;
        z.vec = z.matrix + most * most;
        z.diagonal = z.vec + most * most;
        z.value = z.diagonal + most;
        z.beta = z.value + most;

        // the softest directions come first where the operator was applied once
        bool possible = apply(user, start, z.basis);
        const double norm = possible ? sqrt(lanczos_dot(&z, z.basis, z.basis)) : 0;
        for (int32_t i = 0; i < n && norm > 0; ++i) {
            z.basis[i] /= norm;
        }
        possible = possible && norm > 0;
        found = possible ? 0 : -1;

        for (int m = 0; m < most && possible && found < options->wanted; ++m) {
            possible = lanczos_step(&z, m, apply, user);
            const bool last = m + 1 == most || !possible || z.beta[m + 1] == 0;
            if (possible && (last || m % 4 == 3)) {
                lanczos_eigen(&z);
                found = lanczos_converged(&z, options->wanted, options->accuracy);
            }

            if (last) {
                break;
            }
        }

        for (int k = 0; k < found; ++k) {
            const int at = lanczos_pick(&z, k);
            value[k] = z.value[at];
            lanczos_vector(&z, at, vector + (int64_t)k * n);
        }
    }

    pl_free(z.basis);
    pl_free(z.image);
    pl_free(small);

    return found;
}
