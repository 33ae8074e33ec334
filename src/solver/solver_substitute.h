// Solving with the multifrontal factor: forward up the tree, D, backward down the tree. What a front passes
// on to its ancestors travels from child to parent as the update matrices did, so sums have a fixed order for
// any number of threads. A body of solver_double_kernel.c and solver_single_kernel.c.
#ifndef PL_SOLVER_SUBSTITUTE_H
#define PL_SOLVER_SUBSTITUTE_H

#include "solver/solver_tile.h"
#ifdef FRONT_SINGLE
#include "solver/solver_packed.h"
#endif

// Columns of a panel times right sides that are handled together: the panel is read once for them.
#define SUBSTITUTE_COLUMNS 8 // with one right side
#define SUBSTITUTE_SIDES 4   // with four columns

typedef struct substitution {
    multifrontal *f;
    int sides;
    bool packed; // with the factor in 16 bits: one side
} substitution;

// A block of columns of L, `rows` long from its diagonal on, and the same rows of right sides f numbers
// apart.
typedef struct substitute_block_of {
    const front_real *L;
    int64_t f;
    int rows;
    front_real *y;
} substitute_block_of;

// y_i -= sum_c L_ic y_c for the rows i below columns c = 0 .. width, which are solved first.
TILE_INLINE void substitute_down(const substitute_block_of *o, int width, int sides)
{
    front_real v[SUBSTITUTE_SIDES][SUBSTITUTE_COLUMNS];
#pragma GCC unroll 4
    for (int s = 0; s < sides; ++s) {
#pragma GCC unroll 8
        for (int c = 0; c < width; ++c) {
            front_real sum = o->y[s * o->f + c];
#pragma GCC unroll 8
            for (int d = 0; d < c; ++d) {
                sum -= o->L[d * o->f + c] * v[s][d];
            }
            o->y[s * o->f + c] = v[s][c] = sum / o->L[c * o->f + c];
        }
    }
    int i = width;
#define SUBSTITUTE_DOWN(type, lanes)                                                                         \
    for (; i + lanes <= o->rows; i += lanes) {                                                               \
        type sum[SUBSTITUTE_SIDES];                                                                          \
        _Pragma("GCC unroll 4") for (int s = 0; s < sides; ++s)                                              \
        {                                                                                                    \
            sum[s] = *(const type *)(o->y + s * o->f + i);                                                   \
        }                                                                                                    \
        _Pragma("GCC unroll 8") for (int c = 0; c < width; ++c)                                              \
        {                                                                                                    \
            const type l = *(const type *)(o->L + c * o->f + i);                                             \
            _Pragma("GCC unroll 4") for (int s = 0; s < sides; ++s)                                          \
            {                                                                                                \
                sum[s] -= l * v[s][c];                                                                       \
            }                                                                                                \
        }                                                                                                    \
        _Pragma("GCC unroll 4") for (int s = 0; s < sides; ++s)                                              \
        {                                                                                                    \
            *(type *)(o->y + s * o->f + i) = sum[s];                                                         \
        }                                                                                                    \
    }
    SUBSTITUTE_DOWN(tile_loose, TILE_LANES)
    SUBSTITUTE_DOWN(tile_short, TILE_SHORT)
    SUBSTITUTE_DOWN(front_real, 1)
#undef SUBSTITUTE_DOWN
}

// The transposed: y_c = (y_c - sum_i L_ic y_i) / L_cc over the rows below, last column first.
TILE_INLINE void substitute_up(const substitute_block_of *o, int width, int sides)
{
    front_real v[SUBSTITUTE_SIDES][SUBSTITUTE_COLUMNS] = {0};
    int i = width;
#define SUBSTITUTE_UP(type, lanes)                                                                           \
    if (i + lanes <= o->rows) {                                                                              \
        type sum[SUBSTITUTE_SIDES][SUBSTITUTE_COLUMNS] = {0};                                                \
        for (; i + lanes <= o->rows; i += lanes) {                                                           \
            _Pragma("GCC unroll 8") for (int c = 0; c < width; ++c)                                          \
            {                                                                                                \
                const type l = *(const type *)(o->L + c * o->f + i);                                         \
                _Pragma("GCC unroll 4") for (int s = 0; s < sides; ++s)                                      \
                {                                                                                            \
                    sum[s][c] += l * *(const type *)(o->y + s * o->f + i);                                   \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
        _Pragma("GCC unroll 4") for (int s = 0; s < sides; ++s)                                              \
        {                                                                                                    \
            _Pragma("GCC unroll 8") for (int c = 0; c < width; ++c)                                          \
            {                                                                                                \
                _Pragma("GCC unroll 16") for (int lane = 0; lane < lanes; ++lane)                            \
                {                                                                                            \
                    v[s][c] += ((const front_real *)&sum[s][c])[lane];                                       \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }
    SUBSTITUTE_UP(tile_loose, TILE_LANES)
    SUBSTITUTE_UP(tile_short, TILE_SHORT)
    SUBSTITUTE_UP(front_real, 1)
#undef SUBSTITUTE_UP
#pragma GCC unroll 4
    for (int s = 0; s < sides; ++s) {
        front_real *y = o->y + s * o->f;
        for (int c = width - 1; c >= 0; --c) {
            front_real value = y[c] - v[s][c];
            for (int d = c + 1; d < width; ++d) {
                value -= o->L[c * o->f + d] * y[d];
            }
            y[c] = value / o->L[c * o->f + c];
        }
    }
}

// One block of columns, for each group of right sides.
TILE_INLINE void substitute_columns(bool down, substitute_block_of block, int width, int sides)
{
    for (; sides > 0; sides -= SUBSTITUTE_SIDES, block.y += SUBSTITUTE_SIDES * block.f) {
        switch (tile_least(sides, SUBSTITUTE_SIDES)) {
        case 1:
            (down ? substitute_down : substitute_up)(&block, width, 1);
            break;
        case 2:
            (down ? substitute_down : substitute_up)(&block, width, 2);
            break;
        case 3:
            (down ? substitute_down : substitute_up)(&block, width, 3);
            break;
        default:
            (down ? substitute_down : substitute_up)(&block, width, SUBSTITUTE_SIDES);
            break;
        }
    }
}

// Columns are cut into blocks of `width`, then of two, then single: where the first of each kind begins.
static void substitute_cuts(int k, int width, int cut[3])
{
    cut[0] = 0;
    cut[1] = k / width * width;
    cut[2] = cut[1] + (k - cut[1]) / 2 * 2;
}

// [y1; y2] <- [L11^-1 y1; y2 - L21 L11^-1 y1] for right sides of f rows, one after another
static void substitute_panel_down(const front_real *L, int64_t f, int k, front_real *y, int sides)
{
    int cut[3], c = 0;
    substitute_cuts(k, sides == 1 ? 8 : 4, cut);
#define SUBSTITUTE_BLOCK                                                                                     \
    (substitute_block_of)                                                                                    \
    {                                                                                                        \
        L + c *(f + 1), f, (int)f - c, y + c                                                                 \
    }
    for (; sides == 1 && c < cut[1]; c += 8) {
        substitute_down(&SUBSTITUTE_BLOCK, 8, 1);
    }
    for (; c < cut[1]; c += 4) {
        substitute_columns(true, SUBSTITUTE_BLOCK, 4, sides);
    }
    for (; c < cut[2]; c += 2) {
        substitute_columns(true, SUBSTITUTE_BLOCK, 2, sides);
    }
    for (; c < k; ++c) {
        substitute_columns(true, SUBSTITUTE_BLOCK, 1, sides);
    }
}

// y1 <- L11^-T (y1 - L21^T y2), in the same blocks
static void substitute_panel_up(const front_real *L, int64_t f, int k, front_real *y, int sides)
{
    int cut[3], c = k;
    substitute_cuts(k, sides == 1 ? 8 : 4, cut);
    while (--c >= cut[2]) {
        substitute_columns(false, SUBSTITUTE_BLOCK, 1, sides);
    }
    for (c = cut[2] - 2; c >= cut[1]; c -= 2) {
        substitute_columns(false, SUBSTITUTE_BLOCK, 2, sides);
    }
    for (c = cut[1] - 4; sides > 1 && c >= 0; c -= 4) {
        substitute_columns(false, SUBSTITUTE_BLOCK, 4, sides);
    }
    for (c = cut[1] - 8; sides == 1 && c >= 0; c -= 8) {
        substitute_up(&SUBSTITUTE_BLOCK, 8, 1);
    }
#undef SUBSTITUTE_BLOCK
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

static void substitute_front_down(const substitution *u, int32_t s, int64_t rows, int k, front_real *y)
{
#ifdef FRONT_SINGLE
    if (u->packed) {
        memset(y + rows, 0, PACKED_ROWS * sizeof *y);
        packed_panel_down(u->f, s, rows, k, y);
        return;
    }
#endif
    substitute_panel_down((const front_real *)u->f->factor + u->f->tree.panel[s], rows, k, y, u->sides);
}

static void substitute_front_up(const substitution *u, int32_t s, int64_t rows, int k, front_real *y)
{
#ifdef FRONT_SINGLE
    if (u->packed) {
        memset(y + rows, 0, PACKED_ROWS * sizeof *y);
        packed_panel_up(u->f, s, rows, k, y);
        return;
    }
#endif
    substitute_panel_up((const front_real *)u->f->factor + u->f->tree.panel[s], rows, k, y, u->sides);
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
    substitute_front_down(u, s, rows, k, y);
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

    substitute_front_up(u, s, rows, k, y);
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

static void substitute_task_up(void *context, int32_t s, int32_t part, int worker)
{
    const substitution *u = context;
    const front_tree *t = &u->f->tree;
    front_real *y = u->f->worker[worker].pack;
    const unsigned mode = tile_flush_begin();

    (void)part;
    for (int32_t i = substitute_is_branch(t, s) ? t->low[s] : s; i <= s; ++i) {
        substitute_forward(u, i, y);
    }

    // whoever finishes the last child goes on with the parent
    for (s = t->parent[s]; s >= 0 && atomic_fetch_sub(&u->f->note[s].waiting, 1) == 1; s = t->parent[s]) {
        substitute_forward(u, s, y);
    }
    tile_flush_end(mode);
}

static void substitute_task_down(void *context, int32_t s, int32_t part, int worker)
{
    const substitution *u = context;
    const front_tree *t = &u->f->tree;
    front_real *y = u->f->worker[worker].pack;
    const unsigned mode = tile_flush_begin();
    const bool branch = substitute_is_branch(t, s);

    (void)part;
    for (int32_t i = s; i >= (branch ? t->low[s] : s); --i) {
        substitute_backward(u, i, y);
    }
    tile_flush_end(mode);
    for (int32_t c = t->child_start[s]; !branch && c < t->child_start[s + 1]; ++c) {
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

    pl_tasks_run(&u->f->tasks, threads, substitute_task_up, u);
    for (int32_t s = 0; s < t->count; ++s) {
        if (t->parent[s] < 0) {
            pl_tasks_add(&u->f->tasks, s, 1);
        }
    }

    pl_tasks_run(&u->f->tasks, threads, substitute_task_down, u);
}

static void substitute_serial(const substitution *u)
{
    const int32_t count = u->f->tree.count;
    front_real *y = u->f->worker[0].pack;
    const unsigned mode = tile_flush_begin();

    for (int32_t s = 0; s < count; ++s) {
        substitute_forward(u, s, y);
    }
    for (int32_t s = count - 1; s >= 0; --s) {
        substitute_backward(u, s, y);
    }
    tile_flush_end(mode);
}

static void substitute_run(substitution u, double *b, int threads)
{
    multifrontal *f = u.f;
    const int32_t n = f->tree.n;
    const int sides = u.sides;
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

static void substitute_block(multifrontal *f, double *b, int sides, int threads)
{
    substitute_run((substitution){.f = f, .sides = sides}, b, threads);
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

#ifdef FRONT_SINGLE
static void front_solve_packed(multifrontal *f, double *b, int threads)
{
    substitute_run((substitution){.f = f, .sides = 1, .packed = true}, b, threads);
}
#endif

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
