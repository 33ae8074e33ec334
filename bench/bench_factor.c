// Factorisation of matrices like those of quadratic tetrahedra: nodes on a grid, each coupled to its 26
// neighbours, three displacements per node; `mixed` adds a pressure at every eighth node, [A B; B^T -C]. For
// each kind of factor: seconds to analyse, milliseconds to factor and to solve one right side with one and
// two threads, MB, Gflop/s and the time of CHOLMOD (positive definite) or MUMPS (mixed) divided by its own.
// Best of `repeats` runs.
//
//   bench_factor [repeats] [nx ny nz]
#include <stdio.h>
#include <stdlib.h>
#include "solver/solver.h"

extern void openblas_set_num_threads(int count);

typedef struct bench_case {
    int nx, ny, nz;
    bool mixed;
    pl_sparse matrix;
    int32_t *group;
} bench_case;

typedef struct bench_times {
    double analyse, factor[2], solve[2];
    size_t bytes;
    double flops, residual;
} bench_times;

static int case_components(const bench_case *c, int x, int y, int z)
{
    return 3 + (c->mixed && x % 2 == 0 && y % 2 == 0 && z % 2 == 0);
}

static double case_entry(pl_random *random, bool diagonal, int row, int column)
{
    if (row == 3 && column == 3) {
        return diagonal ? -1e-2 : 0;
    }
    const double value = pl_random_uniform(random, -1, 1);
    if (row == 3 || column == 3) {
        return 0.3 * value;
    }
    return diagonal ? 30 + value : 0.5 * value;
}

static void case_column(bench_case *c, pl_random *random, const int32_t *first, int node, int component,
                        int64_t *p)
{
    const int x = node % c->nx, y = node / c->nx % c->ny, z = node / (c->nx * c->ny),
              j = first[node] + component;
    for (int k = 0; k < 27; ++k) {
        const int u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
        if (u < 0 || v < 0 || w < 0 || u >= c->nx || v >= c->ny || w >= c->nz) {
            continue;
        }
        const int other = u + c->nx * (v + c->ny * w);
        for (int i = 0; i < first[other + 1] - first[other] && first[other] + i <= j; ++i) {
            c->matrix.row[*p] = first[other] + i;
            c->matrix.value[(*p)++] = case_entry(random, other == node && i == component, i, component);
        }
    }
    c->matrix.start[j + 1] = *p;
    c->group[j] = node;
}

static bool case_build(bench_case *c)
{
    const int nodes = c->nx * c->ny * c->nz;
    int32_t *first = PL_NEW_ARRAY(int32_t, nodes + 1);
    if (!first) {
        return false;
    }
    for (int v = 0; v < nodes; ++v) {
        first[v + 1] = first[v] + case_components(c, v % c->nx, v / c->nx % c->ny, v / (c->nx * c->ny));
    }
    const int32_t n = first[nodes];
    c->group = PL_NEW_ARRAY(int32_t, n);
    const bool done = c->group && pl_sparse_create(n, (int64_t)n * 48, &c->matrix, NULL) == PL_OK;
    pl_random random;
    pl_random_seed(&random, 1);
    int64_t p = 0;
    for (int v = 0; done && v < nodes; ++v) {
        for (int i = 0; i < first[v + 1] - first[v]; ++i) {
            case_column(c, &random, first, v, i, &p);
        }
    }
    pl_free(first);
    return done;
}

static void case_clear(bench_case *c)
{
    pl_sparse_clear(&c->matrix);
    pl_free(c->group);
}

static double bench_residual(const pl_sparse *matrix, const double *x, double *y)
{
    double worst = 0;
    pl_sparse_multiply(matrix, x, y);
    for (int32_t i = 0; i < matrix->n; ++i) {
        worst = fmax(worst, fabs(y[i] - 1));
    }
    return worst;
}

static bool bench_run(const bench_case *c, pl_factor *factor, int repeats, bench_times *out)
{
    const int32_t n = c->matrix.n;
    double *x = PL_NEW_ARRAY(double, 2 * (size_t)n);
    pl_factor_report report = {.singular = !x};
    for (int threads = 1; threads <= 2 && x; ++threads) {
        pl_threads_set(threads);
        openblas_set_num_threads(threads);
        out->factor[threads - 1] = out->solve[threads - 1] = INFINITY;
        // the first run touches memory for the first time and is not counted
        for (int run = 0; run <= repeats && !(run > 0 && report.singular); ++run) {
            const double start = pl_seconds();
            if (pl_factor_update(factor, &c->matrix, &report, NULL) != PL_OK || report.singular) {
                report.singular = true;
                break;
            }
            const double middle = pl_seconds();
            for (int32_t i = 0; i < n; ++i) {
                x[i] = 1;
            }
            pl_factor_solve(factor, x, 1);
            const double end = pl_seconds();
            if (run > 0) {
                out->factor[threads - 1] = fmin(out->factor[threads - 1], middle - start);
                out->solve[threads - 1] = fmin(out->solve[threads - 1], end - middle);
            }
        }
    }
    out->residual = report.singular ? INFINITY : bench_residual(&c->matrix, x, x + n);
    pl_free(x);
    return !report.singular;
}

static bool bench_kind(const bench_case *c, pl_factor_kind kind, int repeats, bench_times *out)
{
    pl_error err;
    pl_factor *factor;
    const double start = pl_seconds();
    if (pl_factor_create(kind, &c->matrix, c->group, c->nx * c->ny * c->nz, &factor, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    *out = (bench_times){.analyse = pl_seconds() - start};
    const bool done = bench_run(c, factor, repeats, out);
    out->bytes = pl_factor_bytes(factor);
    out->flops = pl_factor_flops(factor);
    pl_factor_destroy(factor);
    return done;
}

static bool bench_case_table(bench_case c, int repeats)
{
    static const char *const names[] = {"CHOLMOD", "MUMPS", "multifrontal"};
    if (!case_build(&c)) {
        fprintf(stderr, "out of memory\n");
        return false;
    }
    printf("\n%s, %d unknowns (grid %d x %d x %d)\n", c.mixed ? "mixed" : "positive definite",
           (int)c.matrix.n, c.nx, c.ny, c.nz);
    printf("%-13s %9s %10s %10s %8s %8s %7s %8s %8s %7s %7s %9s\n", "kind", "analyse s", "factor1 ms",
           "factor2 ms", "solve1", "solve2", "MB", "Gflop", "Gflop/s", "ratio1", "ratio2", "residual");
    bench_times reference = {0};
    for (int kind = c.mixed ? 1 : 0; kind < 3; ++kind) {
        bench_times t;
        if (!bench_kind(&c, (pl_factor_kind)kind, repeats, &t)) {
            printf("%-13s no factor\n", names[kind]);
            continue;
        }
        if (reference.analyse == 0) {
            reference = t;
        }
        printf("%-13s %9.2f %10.0f %10.0f %8.1f %8.1f %7.0f %8.1f %8.1f %7.2f %7.2f %9.1e\n", names[kind],
               t.analyse, 1e3 * t.factor[0], 1e3 * t.factor[1], 1e3 * t.solve[0], 1e3 * t.solve[1],
               1e-6 * (double)t.bytes, 1e-9 * t.flops, 1e-9 * t.flops / t.factor[0],
               reference.factor[0] / t.factor[0], reference.factor[1] / t.factor[1], t.residual);
        fflush(stdout);
    }
    case_clear(&c);
    return true;
}

int main(int argc, char **argv)
{
    const int repeats = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 3;
    int sizes[2][3] = {{40, 18, 18}, {58, 26, 26}}, count = 2;
    if (argc > 4) {
        count = 1;
        for (int i = 0; i < 3; ++i) {
            sizes[0][i] = atoi(argv[2 + i]);
            if (sizes[0][i] < 1 || sizes[0][i] > 200) {
                fprintf(stderr, "bench_factor: grid size is %s, must be 1 .. 200\n", argv[2 + i]);
                return 2;
            }
        }
    }
    bool done = true;
    for (int i = 0; i < 2 * count; ++i) {
        const int *s = sizes[i / 2];
        done = bench_case_table((bench_case){.nx = s[0], .ny = s[1], .nz = s[2], .mixed = i % 2 == 1},
                                repeats) &&
               done;
    }
    return done ? 0 : 1;
}
