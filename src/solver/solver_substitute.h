// Solving with the multifrontal factor: forward up the tree, D, backward down the tree. What a front passes
// on to its ancestors travels from child to parent as the update matrices did, so sums have a fixed order for
// any number of threads. A body of solver_double_kernel.c and solver_single_kernel.c.
#ifndef PL_SOLVER_SUBSTITUTE_H
#define PL_SOLVER_SUBSTITUTE_H

#include "solver/solver_tile.h"

#define SUBSTITUTE_COLUMNS 8 // of a panel at a time: it is read once, y eight times less often

typedef struct substitution {
    multifrontal *f;
    int sides;
} substitution;

// y_i -= sum_c L_ic y_c for the rows below a block of columns c = 0 .. width, which are solved first.
TILE_INLINE void substitute_down_block(const front_real *restrict L, int64_t lda, int width, int rows,
                                       front_real *restrict y)
{
    front_real v[SUBSTITUTE_COLUMNS];
#pragma GCC unroll 8
    for (int c = 0; c < width; ++c) {
        front_real sum = y[c];
#pragma GCC unroll 8
        for (int d = 0; d < c; ++d) {
            sum -= L[d * lda + c] * v[d];
        }
        y[c] = v[c] = sum / L[c * lda + c];
    }
#pragma omp simd
    for (int i = width; i < rows; ++i) {
        front_real sum = 0;
#pragma GCC unroll 8
        for (int c = 0; c < width; ++c) {
            sum += L[c * lda + i] * v[c];
        }
        y[i] -= sum;
    }
}

// The transposed: y_c = (y_c - sum_i L_ic y_i) / L_cc over the rows below, last column first.
TILE_INLINE void substitute_up_block(const front_real *restrict L, int64_t lda, int width, int rows,
                                     front_real *restrict y)
{
    front_real v[SUBSTITUTE_COLUMNS] = {0};
    int i = width;
    tile_vector sum[SUBSTITUTE_COLUMNS] = {0};
    for (; i + TILE_LANES <= rows; i += TILE_LANES) {
        const tile_vector yi = *(const tile_loose *)(y + i);
#pragma GCC unroll 8
        for (int c = 0; c < width; ++c) {
            sum[c] += yi * *(const tile_loose *)(L + c * lda + i);
        }
    }
#pragma GCC unroll 8
    for (int c = 0; c < width; ++c) {
        for (int lane = 0; lane < TILE_LANES; ++lane) {
            v[c] += sum[c][lane];
        }
    }
    for (; i < rows; ++i) {
#pragma GCC unroll 8
        for (int c = 0; c < width; ++c) {
            v[c] += L[c * lda + i] * y[i];
        }
    }
    for (int c = width - 1; c >= 0; --c) {
        front_real value = y[c] - v[c];
        for (int d = c + 1; d < width; ++d) {
            value -= L[c * lda + d] * y[d];
        }
        y[c] = value / L[c * lda + c];
    }
}

// [y1; y2] <- [L11^-1 y1; y2 - L21 L11^-1 y1] for right sides of f rows, one after another
static void substitute_panel_down(const front_real *L, int64_t f, int k, front_real *y, int sides)
{
    int c = 0;
    for (; c + SUBSTITUTE_COLUMNS <= k; c += SUBSTITUTE_COLUMNS) {
        for (int side = 0; side < sides; ++side) {
            substitute_down_block(L + c * (f + 1), f, SUBSTITUTE_COLUMNS, (int)f - c, y + side * f + c);
        }
    }
    for (; c + 2 <= k; c += 2) {
        for (int side = 0; side < sides; ++side) {
            substitute_down_block(L + c * (f + 1), f, 2, (int)f - c, y + side * f + c);
        }
    }
    for (; c < k; ++c) {
        for (int side = 0; side < sides; ++side) {
            substitute_down_block(L + c * (f + 1), f, 1, (int)f - c, y + side * f + c);
        }
    }
}

// y1 <- L11^-T (y1 - L21^T y2), in the same blocks
static void substitute_panel_up(const front_real *L, int64_t f, int k, front_real *y, int sides)
{
    const int whole = k / SUBSTITUTE_COLUMNS * SUBSTITUTE_COLUMNS, pairs = whole + (k - whole) / 2 * 2;
    for (int c = k - 1; c >= pairs; --c) {
        for (int side = 0; side < sides; ++side) {
            substitute_up_block(L + c * (f + 1), f, 1, (int)f - c, y + side * f + c);
        }
    }
    for (int c = pairs - 2; c >= whole; c -= 2) {
        for (int side = 0; side < sides; ++side) {
            substitute_up_block(L + c * (f + 1), f, 2, (int)f - c, y + side * f + c);
        }
    }
    for (int c = whole - SUBSTITUTE_COLUMNS; c >= 0; c -= SUBSTITUTE_COLUMNS) {
        for (int side = 0; side < sides; ++side) {
            substitute_up_block(L + c * (f + 1), f, SUBSTITUTE_COLUMNS, (int)f - c, y + side * f + c);
        }
    }
}

static void substitute_swap(front_real *x, int a, int b)
{
    const front_real swap = x[a];
    x[a] = x[b];
    x[b] = swap;
}

static void substitute_swaps(const int *swaps, int k, front_real *x)
{
    for (int j = 0; j < k; ++j) {
        if (swaps[j] > 0) {
            substitute_swap(x, j, swaps[j] - 1);
        } else {
            ++j;
            substitute_swap(x, j, -swaps[j] - 1);
        }
    }
}

static void substitute_swaps_back(const int *swaps, int k, front_real *x)
{
    for (int j = k - 1; j >= 0; --j) {
        if (swaps[j] > 0) {
            substitute_swap(x, j, swaps[j] - 1);
        } else {
            substitute_swap(x, j, -swaps[j] - 1);
            --j;
        }
    }
}

static void substitute_diagonal(const double *d, const double *e, int k, front_real *x)
{
    for (int j = 0; j < k; ++j) {
        if (e[j] != 0) {
            const double det = d[j] * d[j + 1] - e[j] * e[j], a = x[j], b = x[j + 1];
            x[j] = (front_real)((d[j + 1] * a - e[j] * b) / det);
            x[j + 1] = (front_real)((d[j] * b - e[j] * a) / det);
            ++j;
        } else {
            x[j] /= (front_real)d[j];
        }
    }
}

// [y1; y2] gathers x and the children's parts; then y1 <- L11^-1 y1, y2 <- y2 - L21 y1, x <- D^-1 y1, and y2
// is passed on.
static void substitute_forward(const substitution *u, int32_t s, front_real *y)
{
    multifrontal *f = u->f;
    const front_tree *t = &f->tree;
    const int32_t first = t->first[s], k = front_pivots(t, s), m = front_rows_below(t, s);
    const int64_t n = t->n, rows = k + m;
    const int sides = u->sides;
    front_real *x = (front_real *)f->x + first, *arena = f->arena;
    for (int side = 0; side < sides; ++side) {
        memcpy(y + side * rows, x + side * n, (size_t)k * sizeof *y);
        memset(y + side * rows + k, 0, (size_t)m * sizeof *y);
    }
    for (int32_t c = t->child_start[s]; c < t->child_start[s + 1]; ++c) {
        const int32_t child = t->child[c], count = front_rows_below(t, child);
        const int32_t *relative = t->relative + t->row_start[child];
        const front_real *from = arena + t->row_start[child] * sides;
        for (int side = 0; side < sides; ++side, from += count) {
            front_real *to = y + side * rows;
            for (int32_t i = 0; i < count; ++i) {
                to[relative[i]] += from[i];
            }
        }
    }
    for (int side = 0; f->note[s].pivoted && side < sides; ++side) {
        substitute_swaps(f->swaps + first, k, y + side * rows);
    }
    substitute_panel_down((const front_real *)f->factor + t->panel[s], rows, k, y, sides);
    for (int side = 0; side < sides; ++side) {
        substitute_diagonal(f->d + first, f->e + first, k, y + side * rows);
        memcpy(x + side * n, y + side * rows, (size_t)k * sizeof *y);
        memcpy(arena + t->row_start[s] * sides + (int64_t)side * m, y + side * rows + k,
               (size_t)m * sizeof *y);
    }
}

// x1 <- L11^-T (x1 - L21^T x2)
static void substitute_backward(const substitution *u, int32_t s, front_real *y)
{
    multifrontal *f = u->f;
    const front_tree *t = &f->tree;
    const int32_t first = t->first[s], k = front_pivots(t, s), m = front_rows_below(t, s);
    const int32_t *row = t->row + t->row_start[s];
    const int64_t n = t->n, rows = k + m;
    const int sides = u->sides;
    front_real *x = f->x;
    for (int side = 0; side < sides; ++side) {
        memcpy(y + side * rows, x + side * n + first, (size_t)k * sizeof *y);
        for (int32_t i = 0; i < m; ++i) {
            y[side * rows + k + i] = x[side * n + row[i]];
        }
    }
    substitute_panel_up((const front_real *)f->factor + t->panel[s], rows, k, y, sides);
    for (int side = 0; side < sides; ++side) {
        if (f->note[s].pivoted) {
            substitute_swaps_back(f->swaps + first, k, y + side * rows);
        }
        memcpy(x + side * n + first, y + side * rows, (size_t)k * sizeof *y);
    }
}

static bool substitute_is_branch(const front_tree *t, int32_t s)
{
    return t->low[s] >= 0 && t->low[s] <= s;
}

static void substitute_up(void *context, int32_t s, int32_t part, int worker)
{
    const substitution *u = context;
    const front_tree *t = &u->f->tree;
    front_real *y = u->f->worker[worker].pack;
    (void)part;
    for (int32_t i = substitute_is_branch(t, s) ? t->low[s] : s; i <= s; ++i) {
        substitute_forward(u, i, y);
    }
    // whoever finishes the last child goes on with the parent
    for (s = t->parent[s]; s >= 0 && atomic_fetch_sub(&u->f->note[s].waiting, 1) == 1; s = t->parent[s]) {
        substitute_forward(u, s, y);
    }
}

static void substitute_down(void *context, int32_t s, int32_t part, int worker)
{
    const substitution *u = context;
    const front_tree *t = &u->f->tree;
    front_real *y = u->f->worker[worker].pack;
    (void)part;
    if (substitute_is_branch(t, s)) {
        for (int32_t i = s; i >= t->low[s]; --i) {
            substitute_backward(u, i, y);
        }
        return;
    }
    substitute_backward(u, s, y);
    for (int32_t c = t->child_start[s]; c < t->child_start[s + 1]; ++c) {
        pl_tasks_add(&u->f->tasks, t->child[c], 1);
    }
}

static void substitute_parallel(substitution *u, int threads)
{
    const front_tree *t = &u->f->tree;
    for (int32_t s = t->count - 1; s >= 0; --s) {
        atomic_store(&u->f->note[s].waiting, t->child_start[s + 1] - t->child_start[s]);
        if (substitute_is_branch(t, s)) {
            pl_tasks_add(&u->f->tasks, s, 1);
        }
    }
    pl_tasks_run(&u->f->tasks, threads, substitute_up, u);
    for (int32_t s = 0; s < t->count; ++s) {
        if (t->parent[s] < 0) {
            pl_tasks_add(&u->f->tasks, s, 1);
        }
    }
    pl_tasks_run(&u->f->tasks, threads, substitute_down, u);
}

static void substitute_serial(const substitution *u)
{
    const int32_t count = u->f->tree.count;
    front_real *y = u->f->worker[0].pack;
    for (int32_t s = 0; s < count; ++s) {
        substitute_forward(u, s, y);
    }
    for (int32_t s = count - 1; s >= 0; --s) {
        substitute_backward(u, s, y);
    }
}

static void substitute_block(multifrontal *f, double *b, int sides, int threads)
{
    const int32_t n = f->tree.n;
    substitution u = {.f = f, .sides = sides};
    front_real *x = f->x;
    for (int side = 0; side < sides; ++side) {
        for (int32_t p = 0; p < n; ++p) {
            x[(int64_t)side * n + p] = (front_real)b[(int64_t)side * n + f->tree.order[p]];
        }
    }
    if (threads > 1) {
        substitute_parallel(&u, threads);
    } else {
        substitute_serial(&u);
    }
    for (int side = 0; side < sides; ++side) {
        for (int32_t p = 0; p < n; ++p) {
            b[(int64_t)side * n + f->tree.order[p]] = (double)x[(int64_t)side * n + p];
        }
    }
}

// One right side with refinement: x <- x + A^-1 (b - A x) while the residual falls.
static void substitute_refined(multifrontal *f, double *b, int threads)
{
    const int32_t n = f->tree.n;
    double *x = f->residual, *r = x + n, *next = r + n, before = INFINITY;
    memcpy(x, b, (size_t)n * sizeof *x);
    substitute_block(f, x, 1, threads);
    for (int step = 0; step < 5; ++step) {
        double size = 0;
        pl_sparse_multiply(&f->copy, x, r);
        for (int32_t i = 0; i < n; ++i) {
            r[i] = b[i] - r[i];
            size = fmax(size, fabs(r[i]));
        }
        // the step before did not help: take it back
        if (!(size < 0.5 * before)) {
            for (int32_t i = 0; size > before && i < n; ++i) {
                x[i] -= next[i];
            }
            break;
        }
        before = size;
        memcpy(next, r, (size_t)n * sizeof *next);
        substitute_block(f, next, 1, threads);
        for (int32_t i = 0; i < n; ++i) {
            x[i] += next[i];
        }
    }
    memcpy(b, x, (size_t)n * sizeof *b);
}

static void front_solve(multifrontal *f, double *b, int count, int threads)
{
    const int32_t n = f->tree.n;
    for (int done = 0; done < count;) {
        double *sides = b + (int64_t)done * n;
        if (f->refine) {
            substitute_refined(f, sides, threads);
            ++done;
            continue;
        }
        const int rest = count - done, block = rest < MULTIFRONTAL_SIDES ? rest : MULTIFRONTAL_SIDES;
        substitute_block(f, sides, block, threads);
        done += block;
    }
}

#endif
