// The numeric factorisation: the work on one front cut into phases and pieces, and the threads that walk the
// tree. Pieces depend on sizes alone, each entry is written by one piece, and sums have a fixed order: the
// factor has the same bits for any number of threads. A body of solver_double_kernel.c and
// solver_single_kernel.c.
#ifndef PL_SOLVER_ELIMINATE_H
#define PL_SOLVER_ELIMINATE_H

#include "solver/solver_pivot.h"

// Pivots below this share of the largest entry are too small; they are replaced by the second share.
#ifdef FRONT_SINGLE
#define PIVOT_TINY 1e-9
#define PIVOT_REPLACEMENT 1e-5
#else
#define PIVOT_TINY 1e-14
#define PIVOT_REPLACEMENT 1e-8
#endif

// Growth of entries, relative to the largest one, from which solves are refined, and from which the front is
// factored again with pivoting.
#define GROWTH_ROUGH 1e4
#define GROWTH_SUSPICIOUS 1e7

static front_real *front_update_matrix(const multifrontal *f, int32_t s, const front_worker *w)
{
    return (front_real *)(f->tree.low[s] < 0 ? w->stack : f->arena) + f->tree.update[s];
}

static front_real *front_panel(const multifrontal *f, int32_t s)
{
    return (front_real *)f->factor + f->tree.panel[s];
}

// first of the ascending places that is not below `place`
static int32_t front_lower_bound(const int32_t *list, int32_t count, int32_t place)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (list[middle] < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}

// Adds the columns of a child's update matrix that fall on columns from .. to of the front. `target` is where
// entry (0, from) of the front would lie, with leading dimension ld.
static void front_extend_add(const multifrontal *f, int32_t child, const front_real *U, int32_t from,
                             int32_t to, front_real *target, int64_t ld)
{
    const front_tree *t = &f->tree;
    const int32_t *relative = t->relative + t->row_start[child], *run = t->run + t->row_start[child];
    const int32_t m = front_rows_below(t, child);

    for (int32_t j = front_lower_bound(relative, m, from); j < m && relative[j] < to; ++j) {
        front_real *column = target + (relative[j] - from) * ld;
        const front_real *u = U + front_update_column(m, j);
        for (int32_t i = j; i < m;) {
            const int32_t length = run[i];
            front_real *restrict a = column + relative[i];
            const front_real *restrict b = u + i;
            for (int32_t c = 0; c < length; ++c) {
                a[c] += b[c];
            }
            i += length;
        }
    }
}

static void front_add_children(const multifrontal *f, int32_t s, int32_t from, int32_t to, front_real *target,
                               int64_t ld, const front_worker *w)
{
    const front_tree *t = &f->tree;
    for (int32_t c = t->child_start[s]; c < t->child_start[s + 1]; ++c) {
        const int32_t child = t->child[c];
        front_extend_add(f, child, front_update_matrix(f, child, w), from, to, target, ld);
    }
}

// ---- pieces

static void front_assemble(multifrontal *f, int32_t s, int32_t from, int32_t to, const front_worker *w)
{
    const int64_t rows = front_pivots(&f->tree, s) + front_rows_below(&f->tree, s);
    front_real *columns = front_panel(f, s) + from * rows;
    memset(columns, 0, (size_t)((to - from) * rows) * sizeof *columns);
    front_add_children(f, s, from, to, columns, rows, w);
}

static void front_entries(multifrontal *f, int32_t s)
{
    const front_tree *t = &f->tree;
    front_real *panel = front_panel(f, s);
    for (int64_t e = t->entry_start[s]; e < t->entry_start[s + 1]; ++e) {
        panel[t->entry_to[e]] += (front_real)f->value[t->entry_from[e]];
    }
}

// rows from .. to of the block of pivots that starts at column j: subtract what earlier columns contribute
static void front_catch_up(multifrontal *f, int32_t s, int32_t j, int32_t from, int32_t to,
                           const front_worker *w)
{
    const int32_t k = front_pivots(&f->tree, s), rows = k + front_rows_below(&f->tree, s);
    const int32_t width = k - j < FRONT_BLOCK ? k - j : FRONT_BLOCK;
    front_real *panel = front_panel(f, s);
    const front_diagonal D = front_diagonal_of(f, s);
    const tile_task update = {.T = panel + (int64_t)j * rows + from,
                              .ldt = rows,
                              .m = to - from,
                              .n = width,
                              .A = panel + from,
                              .B = panel + j,
                              .lda = rows,
                              .ldb = rows,
                              .k = j,
                              .add = true};

    front_update(update, &D, w->pack);
}

// L carries the square roots of the pivots, so its squares are what elimination adds to entries. Without
// negative pivots there is no growth.
static void front_judge(multifrontal *f, int32_t s, double largest_l)
{
    const double growth = largest_l * largest_l / f->largest;
    if (!(growth <= GROWTH_ROUGH)) {
        atomic_store(&f->note[s].rough, true);
    }
    if (!(growth <= GROWTH_SUSPICIOUS)) {
        atomic_store(&f->note[s].suspicious, true);
    }
}

static void front_pivot_block(multifrontal *f, int32_t s, int32_t j, const front_worker *w)
{
    const int32_t first = f->tree.first[s], k = front_pivots(&f->tree, s),
                  rows = k + front_rows_below(&f->tree, s);
    const int32_t width = k - j < FRONT_BLOCK ? k - j : FRONT_BLOCK;
    front_note *note = &f->note[s];
    front_real *block = front_panel(f, s) + (int64_t)j * rows + j;
    const int replaced = front_signed_cholesky(block, rows, width, PIVOT_TINY * f->largest,
                                               PIVOT_REPLACEMENT * f->largest, f->d + first + j, w->pack);

    for (int32_t i = j; i < j + width; ++i) {
        f->e[first + i] = 0;
        note->negative_seen += f->d[first + i] < 0;
    }

    double largest = 0;
    for (int32_t c = 0; note->negative_seen > 0 && c < width; ++c) {
        largest = fmax(largest, front_largest(block + (int64_t)c * rows + c, rows, width - c, 1));
    }
    front_judge(f, s, largest);
    if (replaced > 0) {
        atomic_store(&note->suspicious, true);
    }
}

static void front_rows(multifrontal *f, int32_t s, int32_t j, int32_t from, int32_t to)
{
    const int32_t k = front_pivots(&f->tree, s), rows = k + front_rows_below(&f->tree, s);
    const int32_t width = k - j < FRONT_BLOCK ? k - j : FRONT_BLOCK;
    front_real *columns = front_panel(f, s) + (int64_t)j * rows;

    tile_solve_rows(columns + from, to - from, columns + j, rows, width, f->d + f->tree.first[s] + j);
    if (f->note[s].negative_seen > 0) {
        front_judge(f, s, front_largest(columns + from, rows, to - from, width));
    }
}

// Counts inertia and the range of pivots. Eigenvalues of a block of 2 multiply to its determinant.
static void front_count(multifrontal *f, int32_t s)
{
    const int32_t first = f->tree.first[s], k = front_pivots(&f->tree, s);
    const int64_t rows = k + front_rows_below(&f->tree, s);
    const front_real *panel = front_panel(f, s);
    const double *d = f->d + first, *e = f->e + first;
    front_note *note = &f->note[s];

    note->largest = 0;
    note->smallest = INFINITY;
    for (int32_t j = 0; j < k; ++j) {
        double size = fabs(d[j]), other;
        if (e[j] != 0) {
            const double half = 0.5 * (d[j] + d[j + 1]), det = d[j] * d[j + 1] - e[j] * e[j];
            const double root = fabs(half) + sqrt(fmax(half * half - det, 0));
            note->negative_count += det < 0 ? 1 : half < 0 ? 2 : 0;
            size = root;
            other = fabs(det) / root;
            ++j;
        } else {
            const double l = panel[j * (rows + 1)];
            note->negative_count += d[j] < 0;
            size = other = note->pivoted ? size : l * l;
        }
        note->largest = size <= note->largest ? note->largest : size;
        note->smallest = other >= note->smallest ? note->smallest : other;
    }
}

// A front that met trouble is assembled again and factored with pivoting; rare, so one thread does it.
static void front_finish_panel(multifrontal *f, int32_t s, const front_worker *w)
{
#ifndef FRONT_SINGLE
    const front_tree *t = &f->tree;
    const int32_t first = t->first[s], k = front_pivots(t, s), m = front_rows_below(t, s);
    front_note *note = &f->note[s];
    if (atomic_load(&note->suspicious)) {
        front_assemble(f, s, 0, k, w);
        front_entries(f, s);
        note->pivoted = true;
        note->perturbed_count =
            front_pivoted(front_panel(f, s), k, m, PIVOT_TINY * f->largest, PIVOT_REPLACEMENT * f->largest,
                          f->swaps + first, f->d + first, f->e + first, w->pack);
    }
#else
    (void)w;
#endif
    front_count(f, s);
}

static void front_pass_on(multifrontal *f, int32_t s, int32_t from, int32_t to, const front_worker *w)
{
    const front_tree *t = &f->tree;
    const int32_t k = front_pivots(t, s), m = front_rows_below(t, s), rows = k + m;
    const front_real *below = front_panel(f, s) + k;

    // a piece is a slab: its columns begin at row `from`
    front_real *slab = front_update_matrix(f, s, w) + front_update_column(m, from) + from;
    const front_diagonal D = front_diagonal_of(f, s);
    const tile_task update = {.T = slab,
                              .ldt = m - from,
                              .m = m - from,
                              .n = to - from,
                              .A = below + from,
                              .B = below + from,
                              .lda = rows,
                              .ldb = rows,
                              .k = k,
                              .lower = true};

    front_update(update, &D, w->pack);
    front_add_children(f, s, k + from, k + to, slab - k - from, m - from, w);
}

// ---- phases of a front, each of independent pieces: assemble; per block of pivots catch up, pivot, rows;
// finish; pass on.

static int32_t front_blocks(const front_tree *t, int32_t s)
{
    return (front_pivots(t, s) + FRONT_BLOCK - 1) / FRONT_BLOCK;
}

static int32_t front_phases(const front_tree *t, int32_t s)
{
    return 3 + 3 * front_blocks(t, s);
}

// the extent that a phase cuts into pieces of FRONT_CHUNK: from .. to
static void front_extent(const front_tree *t, int32_t s, int32_t phase, int32_t *from, int32_t *to)
{
    const int32_t k = front_pivots(t, s), m = front_rows_below(t, s), blocks = front_blocks(t, s);
    const int32_t block = (phase - 1) / 3, j = block * FRONT_BLOCK, step = (phase - 1) % 3;

    *from = 0;
    *to = 1;
    if (phase == 0) {
        *to = k;
    } else if (phase == 2 + 3 * blocks) {
        *to = m;
    } else if (block < blocks && step != 1) {
        *from = step == 2 ? (k - j < FRONT_BLOCK ? k : j + FRONT_BLOCK) : j;
        *to = block == 0 && step == 0 ? 1 : k + m;
    }
}

static int32_t front_pieces(const front_tree *t, int32_t s, int32_t phase)
{
    int32_t from, to;
    front_extent(t, s, phase, &from, &to);
    return (to - from + FRONT_CHUNK - 1) / FRONT_CHUNK;
}

// False when the watch has ended the factorisation: the pieces left do nothing, the tree is walked to its
// end.
static bool front_go_on(multifrontal *f, const front_worker *w)
{
    if (f->watch && w == &f->worker[0] &&
        !pl_watch_go_on(f->watch,
                        1e3 * (double)atomic_load_explicit(&f->done, memory_order_relaxed) / f->tree.flops,
                        "factorisation")) {
        atomic_store(&f->ended, true);
    }
    return !atomic_load_explicit(&f->ended, memory_order_relaxed);
}

static void front_note_work(multifrontal *f, double operations)
{
    if (f->watch) {
        atomic_fetch_add_explicit(&f->done, (long long)(1e-3 * operations), memory_order_relaxed);
    }
}

static void front_run(multifrontal *f, int32_t s, int32_t phase, int32_t piece, const front_worker *w)
{
    const int32_t blocks = front_blocks(&f->tree, s), j = (phase - 1) / 3 * FRONT_BLOCK;
    const double k = front_pivots(&f->tree, s), m = front_rows_below(&f->tree, s);
    int32_t from, to;

    if (!front_go_on(f, w)) {
        return;
    }
    front_extent(&f->tree, s, phase, &from, &to);
    from += piece * FRONT_CHUNK;
    to = to - from < FRONT_CHUNK ? to : from + FRONT_CHUNK;
    if (phase == 0) {
        front_assemble(f, s, from, to, w);
    } else if (phase == 1) {
        front_entries(f, s);
    } else if (phase == 1 + 3 * blocks) {
        front_finish_panel(f, s, w);
        front_note_work(f, k * k * (k / 3 + m));
    } else if (phase == 2 + 3 * blocks) {
        front_pass_on(f, s, from, to, w);
        front_note_work(f, k * m * (to - from));
    } else if ((phase - 1) % 3 == 0) {
        front_catch_up(f, s, j, from, to, w);
    } else if ((phase - 1) % 3 == 1) {
        front_pivot_block(f, s, j, w);
    } else {
        front_rows(f, s, j, from, to);
    }
}

static void front_whole(multifrontal *f, int32_t s, const front_worker *w)
{
    for (int32_t phase = 0; phase < front_phases(&f->tree, s); ++phase) {
        for (int32_t piece = 0; piece < front_pieces(&f->tree, s, phase); ++piece) {
            front_run(f, s, phase, piece, w);
        }
    }
}

// ---- threads. No task ever waits: whoever finishes the last piece of a phase starts the next, and whoever
// finishes the last child starts the parent, so idle threads always find the work there is. The item of a
// task is a front: a whole branch below its root, or the pieces of the phase in progress.

static bool front_is_branch(const front_tree *t, int32_t s)
{
    return t->low[s] >= 0 && t->low[s] <= s;
}

static void front_advance(multifrontal *f, int32_t s, int32_t phase, const front_worker *w);

static void front_done(multifrontal *f, int32_t s, const front_worker *w)
{
    const int32_t parent = f->tree.parent[s];
    if (parent >= 0 && atomic_fetch_sub(&f->note[parent].waiting, 1) == 1) {
        front_advance(f, parent, 0, w);
    }
}

static void front_advance(multifrontal *f, int32_t s, int32_t phase, const front_worker *w)
{
    for (; phase < front_phases(&f->tree, s); ++phase) {
        const int32_t pieces = front_pieces(&f->tree, s, phase);
        if (pieces > 1) {
            f->note[s].phase = phase;
            atomic_store(&f->note[s].pieces, pieces);
            pl_tasks_add(&f->tasks, s, pieces);
            return;
        }
        if (pieces == 1) {
            front_run(f, s, phase, 0, w);
        }
    }
    front_done(f, s, w);
}

static void front_task(void *context, int32_t s, int32_t piece, int worker)
{
    multifrontal *f = context;
    const front_worker *w = &f->worker[worker];
    const unsigned mode = tile_flush_begin();

    if (front_is_branch(&f->tree, s)) {
        for (int32_t i = f->tree.low[s]; i <= s; ++i) {
            front_whole(f, i, w);
        }
        front_done(f, s, w);
    } else {
        const int32_t phase = f->note[s].phase;
        front_run(f, s, phase, piece, w);
        if (atomic_fetch_sub(&f->note[s].pieces, 1) == 1) {
            front_advance(f, s, phase + 1, w);
        }
    }

    tile_flush_end(mode);
}

static void front_factor(multifrontal *f, int threads)
{
    const front_tree *t = &f->tree;
    atomic_store(&f->ended, false);
    atomic_store(&f->done, 0);
    front_go_on(f, &f->worker[0]); // at least once, even if other threads do all the work
    for (int32_t s = 0; s < t->count; ++s) {
        front_note *note = &f->note[s];
        note->pivoted = false;
        note->negative_seen = note->negative_count = note->perturbed_count = 0;
        atomic_store(&note->suspicious, false);
        atomic_store(&note->rough, false);
        atomic_store(&note->waiting, t->child_start[s + 1] - t->child_start[s]);
    }

    if (threads == 1) {
        const unsigned mode = tile_flush_begin();
        for (int32_t s = 0; s < t->count; ++s) {
            front_whole(f, s, &f->worker[0]);
        }
        tile_flush_end(mode);
        return;
    }

    // the newest item comes first: begin with the first branch
    for (int32_t s = t->count - 1; s >= 0; --s) {
        if (front_is_branch(t, s)) {
            pl_tasks_add(&f->tasks, s, 1);
        }
    }

    pl_tasks_run(&f->tasks, threads, front_task, f);
}

#endif
