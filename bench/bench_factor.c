// Factorisation of matrices of quadratic tetrahedra: a hollow finger, a block, a large slab; `mixed` adds
// a pressure at the corners of the elements, [A B; B^T -C]. Entries are random, with a heavy diagonal. For
// each kind of factor, ours in single precision as well: seconds to analyse, milliseconds to factor and to
// solve one right side with one and two threads and four at once with one, MB, Gflop, Gflop/s with one
// thread, and the factor time of CHOLMOD (positive definite) or MUMPS (mixed) divided by its own. Best of
// `repeats` runs; `cases` stops after the first one, two or three bodies.
//
//   bench_factor [repeats] [cases]
#include <stdio.h>
#include <stdlib.h>
#include "solver/solver.h"

extern void openblas_set_num_threads(int count);

// A box of nx x ny x nz cubes, each cut into six quadratic tetrahedra; `wall` > 0 hollows it out along x. The
// nodes of the elements are the points of the grid with half the spacing.
typedef struct bench_case {
    const char *name;
    int nx, ny, nz, wall;
    bool mixed;
    int64_t *start; // node to node, both directions, the node itself among them, ascending
    int32_t *neighbour;
    int32_t *first; // first unknown of each node; nodes outside the body have none
    pl_sparse matrix;
    int32_t *group;
} bench_case;

typedef struct bench_times {
    double analyse, factor[2], solve[2], four;
    size_t bytes;
    double flops, residual;
} bench_times;

static int case_nodes(const bench_case *c)
{
    return (2 * c->nx + 1) * (2 * c->ny + 1) * (2 * c->nz + 1);
}

static bool case_solid(const bench_case *c, int y, int z)
{
    return c->wall == 0 || y < c->wall || z < c->wall || y >= c->ny - c->wall || z >= c->nz - c->wall;
}

// The ten nodes of tetrahedron `t` of a cube: Kuhn's path from one corner to the opposite one, one axis after
// another.
static void case_tet(const bench_case *c, const int cell[3], int t, int32_t node[10])
{
    static const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int32_t step[3] = {1, 2 * c->nx + 1, (2 * c->nx + 1) * (2 * c->ny + 1)};

    node[0] = 2 * (cell[0] * step[0] + cell[1] * step[1] + cell[2] * step[2]);
    for (int a = 0; a < 3; ++a) {
        node[a + 1] = node[a] + 2 * step[axes[t][a]];
    }

    // on this grid the number of a midpoint is the mean of its ends
    for (int a = 0, k = 4; a < 4; ++a) {
        for (int b = a + 1; b < 4; ++b) {
            node[k++] = (node[a] + node[b]) / 2;
        }
    }
}

// Counts the node pairs into start[v + 1], or writes them when `fill` is given.
static void case_pairs(bench_case *c, int64_t *fill)
{
    for (int i = 0; i < c->nx * c->ny * c->nz * 6; ++i) {
        const int cell[3] = {i / 6 % c->nx, i / 6 / c->nx % c->ny, i / 6 / c->nx / c->ny};
        if (!case_solid(c, cell[1], cell[2])) {
            continue;
        }
        int32_t node[10];
        case_tet(c, cell, i % 6, node);
        for (int k = 0; k < 100; ++k) {
            if (fill) {
                c->neighbour[fill[node[k / 10]]++] = node[k % 10];
            } else {
                ++c->start[node[k / 10] + 1];
            }
        }
    }
}

static int case_compare(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static bool case_graph(bench_case *c)
{
    const int nodes = case_nodes(c);
    int64_t *fill = PL_NEW_ARRAY(int64_t, nodes);

    c->start = PL_NEW_ARRAY(int64_t, nodes + 1);
    if (!fill || !c->start) {
        pl_free(fill);
        return false;
    }

    case_pairs(c, NULL);
    for (int v = 0; v < nodes; ++v) {
        c->start[v + 1] += c->start[v];
        fill[v] = c->start[v];
    }

    c->neighbour = PL_NEW_ARRAY(int32_t, c->start[nodes]);
    int64_t write = 0, begin = 0;
    if (c->neighbour) {
        case_pairs(c, fill);
    }

    for (int v = 0; c->neighbour && v < nodes; ++v) {
        const int64_t end = c->start[v + 1], here = write;
        qsort(c->neighbour + begin, (size_t)(end - begin), sizeof *c->neighbour, case_compare);
        for (int64_t p = begin; p < end; ++p) {
            if (write == here || c->neighbour[write - 1] != c->neighbour[p]) {
                c->neighbour[write++] = c->neighbour[p];
            }
        }
        begin = end;
        c->start[v + 1] = write;
    }

    pl_free(fill);

    return c->neighbour != NULL;
}

// Three displacements; a pressure at the corners of the tetrahedra.
static int case_components(const bench_case *c, int v)
{
    const int x = v % (2 * c->nx + 1), y = v / (2 * c->nx + 1) % (2 * c->ny + 1),
              z = v / (2 * c->nx + 1) / (2 * c->ny + 1);
    if (c->start[v] == c->start[v + 1]) {
        return 0;
    }
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

    return diagonal ? 40 + value : 0.5 * value;
}

static int64_t case_fill(bench_case *c, bool write)
{
    pl_random random;
    pl_random_seed(&random, 1);
    int64_t count = 0;
    for (int v = 0; v < case_nodes(c); ++v) {
        for (int32_t j = c->first[v]; j < c->first[v + 1]; ++j) {
            for (int64_t p = c->start[v]; p < c->start[v + 1]; ++p) {
                const int32_t other = c->neighbour[p];
                for (int32_t i = c->first[other]; i < c->first[other + 1] && i <= j; ++i, ++count) {
                    if (write) {
                        c->matrix.row[count] = i;
                        c->matrix.value[count] =
                            case_entry(&random, i == j, (int)(i - c->first[other]), (int)(j - c->first[v]));
                    }
                }
            }
            if (write) {
                c->matrix.start[j + 1] = count;
                c->group[j] = v;
            }
        }
    }

    return count;
}

static bool case_build(bench_case *c)
{
    const int nodes = case_nodes(c);
    c->first = PL_NEW_ARRAY(int32_t, nodes + 1);
    if (!c->first || !case_graph(c)) {
        return false;
    }
    for (int v = 0; v < nodes; ++v) {
        c->first[v + 1] = c->first[v] + case_components(c, v);
    }
    c->group = PL_NEW_ARRAY(int32_t, c->first[nodes]);
    if (!c->group || pl_sparse_create(c->first[nodes], case_fill(c, false), &c->matrix, NULL) != PL_OK) {
        return false;
    }
    case_fill(c, true);

    return true;
}

static void case_clear(bench_case *c)
{
    pl_sparse_clear(&c->matrix);
    pl_free(c->group);
    pl_free(c->first);
    pl_free(c->start);
    pl_free(c->neighbour);
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

#define SIDES 4 // solved at once

static bool bench_run(const bench_case *c, pl_factor *factor, bool single, int repeats, bench_times *out)
{
    const int32_t n = c->matrix.n;
    double *x = PL_NEW_ARRAY(double, (SIDES + 2) * (size_t)n), *sides = x + 2 * (int64_t)n;

    out->four = INFINITY;
    pl_factor_report report = {.singular = !x};
    for (int threads = 1; threads <= 2 && x; ++threads) {
        pl_threads_set(threads);
        openblas_set_num_threads(threads);
        out->factor[threads - 1] = out->solve[threads - 1] = INFINITY;
        // the first run touches memory for the first time and is not counted
        for (int run = 0; run <= repeats && !(run > 0 && report.singular); ++run) {
            const double start = pl_seconds();
            if ((single ? pl_factor_update_single : pl_factor_update)(factor, &c->matrix, &report, NULL) !=
                    PL_OK ||
                report.singular || report.single != single) {
                report.singular = true;
                break;
            }
            const double middle = pl_seconds();
            for (int32_t i = 0; i < n; ++i) {
                x[i] = 1;
            }
            pl_factor_solve(factor, x, 1);
            const double end = pl_seconds();
            for (int32_t i = 0; i < SIDES * n; ++i) {
                sides[i] = 1;
            }
            const double begun = pl_seconds();
            pl_factor_solve(factor, sides, SIDES);
            out->four = threads == 1 && run > 0 ? fmin(out->four, pl_seconds() - begun) : out->four;
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

static bool bench_kind(const bench_case *c, pl_factor_kind kind, bool single, int repeats, bench_times *out)
{
    pl_error err;
    pl_factor *factor;
    const double start = pl_seconds();

    if (pl_factor_create(kind, &c->matrix, c->group, case_nodes(c), &factor, &err) != PL_OK) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }

    *out = (bench_times){.analyse = pl_seconds() - start};
    const bool done = bench_run(c, factor, single, repeats, out);
    out->bytes = pl_factor_bytes(factor);
    out->flops = pl_factor_flops(factor);
    pl_factor_destroy(factor);

    return done;
}

static bool bench_case_table(bench_case c, int repeats)
{
    static const char *const names[] = {"CHOLMOD", "MUMPS", "multifrontal", "single"};
    if (!case_build(&c)) {
        fprintf(stderr, "out of memory\n");
        case_clear(&c);
        return false;
    }

    printf("\n%s, %s: %d unknowns, %.1f M entries\n", c.name, c.mixed ? "mixed" : "positive definite",
           (int)c.matrix.n, 1e-6 * (double)c.matrix.start[c.matrix.n]);
    printf("%-13s %9s %10s %10s %8s %8s %8s %7s %8s %8s %7s %7s %9s\n", "kind", "analyse s", "factor1 ms",
           "factor2 ms", "solve1", "solve2", "four", "MB", "Gflop", "Gflop/s", "ratio1", "ratio2",
           "residual");
    bench_times reference = {0};
    for (int kind = c.mixed ? 1 : 0; kind < 4; ++kind) {
        bench_times t;
        if (!bench_kind(&c, kind < 3 ? (pl_factor_kind)kind : PL_FACTOR_MULTIFRONTAL, kind == 3, repeats,
                        &t)) {
            printf("%-13s no factor\n", names[kind]);
            continue;
        }
        if (reference.analyse == 0) {
            reference = t;
        }
        printf("%-13s %9.2f %10.0f %10.0f %8.1f %8.1f %8.1f %7.0f %8.1f %8.1f %7.2f %7.2f %9.1e\n",
               names[kind], t.analyse, 1e3 * t.factor[0], 1e3 * t.factor[1], 1e3 * t.solve[0],
               1e3 * t.solve[1], 1e3 * t.four, 1e-6 * (double)t.bytes, 1e-9 * t.flops,
               1e-9 * t.flops / t.factor[0], reference.factor[0] / t.factor[0],
               reference.factor[1] / t.factor[1], t.residual);
        fflush(stdout);
    }

    case_clear(&c);

    return true;
}

int main(int argc, char **argv)
{
    const int repeats = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 3;
    const int last = argc > 2 ? atoi(argv[2]) : 3;
    const bench_case cases[] = {{.name = "hollow finger", .nx = 32, .ny = 10, .nz = 10, .wall = 1},
                                {.name = "block", .nx = 20, .ny = 9, .nz = 8},
                                {.name = "large slab", .nx = 54, .ny = 14, .nz = 6}};
    bool done = true;

    for (int i = 0; i < PL_COUNT(cases) && i < last; ++i) {
        bench_case c = cases[i];
        done = bench_case_table(c, repeats) && done;
        c.mixed = true;
        done = bench_case_table(c, repeats) && done;
    }

    return done ? 0 : 1;
}
