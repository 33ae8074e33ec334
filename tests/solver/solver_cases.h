// Matrices for the solver tests: mesh-like, with three displacement unknowns per grid node and, if wanted,
// one pressure unknown at every other node, [A B; B^T -C].
#ifndef SOLVER_CASES_H
#define SOLVER_CASES_H

#include <stdlib.h>
#include "solver/solver.h"

typedef struct solver_case {
    pl_sparse matrix;
    int32_t *group;
    int32_t group_count;
} solver_case;

typedef struct grid_spec {
    int nx, ny, nz;
    bool pressure; // adds the unknowns of -C and B
    double shift;  // subtracted from the diagonal of A: makes it indefinite
    double C;      // C = C I; 1e-3 when left 0
    uint64_t seed;
} grid_spec;

static inline double case_random(pl_random *r)
{
    return pl_random_uniform(r, -1, 1);
}

static inline bool grid_has_pressure(const grid_spec *s, int node)
{
    return s->pressure && (node % s->nx + node / s->nx % s->ny + node / (s->nx * s->ny)) % 2 == 0;
}

static inline bool grid_adjacent(const grid_spec *s, int a, int b)
{
    const int dx = a % s->nx - b % s->nx, dy = a / s->nx % s->ny - b / s->nx % s->ny,
              dz = a / (s->nx * s->ny) - b / (s->nx * s->ny);
    return abs(dx) <= 1 && abs(dy) <= 1 && abs(dz) <= 1;
}

// The entry between two unknowns (node, component 0..2 or 3 for pressure), rows before columns.
static inline double grid_entry(const grid_spec *s, pl_random *r, int a, int ca, int b, int cb)
{
    const bool diagonal = a == b && ca == cb;
    if (ca == 3 && cb == 3) {
        return diagonal ? -(s->C > 0 ? s->C : 1e-3) : 0;
    }
    if (ca == 3 || cb == 3) {
        return case_random(r);
    }

    return diagonal ? 27.0 + case_random(r) - s->shift : 0.9 * case_random(r);
}

static inline solver_case case_grid(grid_spec spec)
{
    const int nodes = spec.nx * spec.ny * spec.nz;
    int *first = malloc(((size_t)nodes + 1) * sizeof *first);

    first[0] = 0;
    for (int v = 0; v < nodes; ++v) {
        first[v + 1] = first[v] + 3 + grid_has_pressure(&spec, v);
    }

    const int n = first[nodes];
    solver_case c = {.group_count = nodes};
    pl_error err;
    pl_sparse_create(n, 54 * (int64_t)n, &c.matrix, &err);
    c.group = malloc((size_t)n * sizeof *c.group);
    pl_random random;
    pl_random_seed(&random, spec.seed);
    int64_t p = 0;
    for (int b = 0; b < nodes; ++b) {
        for (int cb = 0; cb < first[b + 1] - first[b]; ++cb) {
            const int j = first[b] + cb;
            c.group[j] = b;
            for (int a = 0; a <= b; ++a) {
                if (!grid_adjacent(&spec, a, b)) {
                    continue;
                }
                for (int ca = 0; ca < first[a + 1] - first[a] && first[a] + ca <= j; ++ca) {
                    c.matrix.row[p] = first[a] + ca;
                    c.matrix.value[p++] = grid_entry(&spec, &random, a, ca, b, cb);
                }
            }
            c.matrix.start[j + 1] = p;
        }
    }

    free(first);

    return c;
}

static inline void case_clear(solver_case *c)
{
    pl_sparse_clear(&c->matrix);
    free(c->group);
}

// Row-major dense copy; the caller frees it.
static inline double *case_dense(const pl_sparse *A)
{
    const size_t n = (size_t)A->n;
    double *dense = calloc(n * n, sizeof *dense);

    for (int32_t j = 0; j < A->n; ++j) {
        for (int64_t p = A->start[j]; p < A->start[j + 1]; ++p) {
            const size_t i = (size_t)A->row[p];
            dense[i * n + (size_t)j] = dense[(size_t)j * n + i] = A->value[p];
        }
    }

    return dense;
}

static inline int case_negative_eigenvalues(const pl_sparse *A)
{
    double *dense = case_dense(A), *value = malloc((size_t)A->n * sizeof *value);
    pl_dense_eigen(A->n, dense, value, NULL);
    int negative = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        negative += value[i] < 0;
    }
    free(dense);
    free(value);

    return negative;
}

static inline double *case_right_sides(int32_t n, int count)
{
    double *b = malloc((size_t)n * (size_t)count * sizeof *b);
    pl_random random;

    pl_random_seed(&random, 7);
    for (size_t i = 0; i < (size_t)n * (size_t)count; ++i) {
        b[i] = case_random(&random);
    }

    return b;
}

// max |A x - b| / (max |A| max |x| + max |b|) over `count` right sides
static inline double case_residual(const pl_sparse *A, const double *x, const double *b, int count)
{
    double *y = malloc((size_t)A->n * sizeof *y), worst = 0, largest = 0;
    for (int64_t p = 0; p < A->start[A->n]; ++p) {
        largest = fmax(largest, fabs(A->value[p]));
    }

    for (int k = 0; k < count; ++k) {
        const double *xk = x + (size_t)k * (size_t)A->n, *bk = b + (size_t)k * (size_t)A->n;
        double off = 0, size = 0, load = 0;
        pl_sparse_multiply(A, xk, y);
        for (int i = 0; i < A->n; ++i) {
            off = fabs(y[i] - bk[i]) > off || isnan(y[i]) ? fabs(y[i] - bk[i]) : off;
            size = fmax(size, fabs(xk[i]));
            load = fmax(load, fabs(bk[i]));
        }
        const double relative = off / (largest * size + load);
        worst = relative <= worst ? worst : relative;
    }

    free(y);
    return worst;
}

#endif
