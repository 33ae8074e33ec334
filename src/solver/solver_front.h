// Inside the multifrontal factor: the tree of fronts (made once from the pattern) and the dense work on one
// front.
//
// The matrix, permuted, is cut into supernodes s of k pivot columns that share one structure. Front s is the
// dense symmetric matrix of its f = k + m rows: the pivot rows and m rows further down,
//
//       | A11      |  k            A11 = L11 D L11^T,   L21 = A21 L11^-T D^-1,   U = A22 - L21 D L21^T.
//       | A21  A22 |  m
//
// The panel [A11; A21] is turned into [L11; L21] where it will stay; U, the update matrix, is added to the
// parent's front. All matrices are column-major and only lower triangles are read. Where no pivoting was
// needed D = diag(+-1) and L11 carries the square roots of the pivots; in a pivoted front L11 has a unit
// diagonal and D has blocks of 1 and 2.
#ifndef PL_SOLVER_FRONT_H
#define PL_SOLVER_FRONT_H

#include "base/isa.h"
#include "base/threads.h"
#include "solver/solver_impl.h"

// The numbers of a factor are doubles, or floats where it only preconditions. The numeric work
// (solver_tile.h, solver_pivot.h, solver_eliminate.h, solver_substitute.h) is compiled for both and for
// every instruction set, by solver_double_kernel.c and solver_single_kernel.c. Both work in the same memory.
// In single precision nothing is pivoted: a front that met trouble makes the whole factor untrustworthy, and
// it is made again in double precision.
#ifdef FRONT_SINGLE
typedef float front_real;
#else
typedef double front_real;
#endif

// ---- dense work
#define FRONT_BLOCK 128 // pivot columns handled together
#define FRONT_CHUNK 288 // rows or columns that make one piece of work for a thread
#define FRONT_SLAB 64   // columns of A D at a time, in pivoted fronts
#define FRONT_DEPTH 256 // columns of a product packed together
#define FRONT_ALIGN 64  // bytes

// numbers of scratch that packed strips of A and of B take, the last ones padded
#define FRONT_PACK (FRONT_DEPTH * (2 * FRONT_CHUNK + 64) + FRONT_ALIGN)

typedef struct front_tree {
    int32_t n, count;     // unknowns; fronts, children before parents
    int32_t *order;       // order[p] is the unknown eliminated p-th
    int32_t *first;       // count + 1: first pivot of each front
    int32_t *parent;      // -1 for a root
    int32_t *child_start; // count + 1
    int32_t *child;       // ascending
    int64_t *row_start;   // count + 1
    int32_t *row;         // the m rows of each front, ascending, in eliminated order
    int32_t *relative;    // place of the same rows in the parent's front
    int32_t *run;         // how many of them, from each one on, lie side by side in the parent
    int64_t *panel;       // count + 1: start of each panel in the factor, f k entries

    int64_t *entry_start; // count + 1: the matrix entries that land in each panel
    int32_t *entry_from;  // place in the matrix values
    uint32_t *entry_to;   // place in the panel

    // a front is the root of a branch (low..s handled in one go by one thread), inside a branch, or above all
    // branches
    int32_t *low;                   // branch root: first front of the branch; -1 inside a branch; s + 1 above
    int64_t *update;                // place of U in the arena, or inside a branch in the thread's stack
    int64_t arena_size, stack_size; // doubles
    int32_t front_limit;            // largest f
    double flops;
} front_tree;

static inline int32_t front_pivots(const front_tree *t, int32_t s)
{
    return t->first[s + 1] - t->first[s];
}

static inline int32_t front_rows_below(const front_tree *t, int32_t s)
{
    return (int32_t)(t->row_start[s + 1] - t->row_start[s]);
}

// Update matrices are kept in slabs of FRONT_CHUNK columns, each from its first diagonal entry downwards:
// half of the square for large ones. Entry (i, j), i >= j, lies at front_update_column(m, j) + i.
static inline int64_t front_update_column(int64_t m, int64_t j)
{
    const int64_t slab = j / FRONT_CHUNK, from = slab * FRONT_CHUNK;
    const int64_t before = from * m - (int64_t)FRONT_CHUNK * FRONT_CHUNK * slab * (slab - 1) / 2;
    return before + (j - from) * (m - from) - from;
}

static inline int64_t front_update_size(int64_t m)
{
    const int64_t slab = m / FRONT_CHUNK, from = slab * FRONT_CHUNK;
    return from * m - (int64_t)FRONT_CHUNK * FRONT_CHUNK * slab * (slab - 1) / 2 + (m - from) * (m - from);
}

pl_status front_tree_create(const pl_sparse *matrix, const solver_groups *groups, const int32_t *group_order,
                            front_tree *out, pl_error *err);
void front_tree_clear(front_tree *tree);

// The second half of create: relative rows, places of entries, branches, memory.
pl_status front_tree_plan(const pl_sparse *matrix, front_tree *tree, pl_error *err);

// D of some columns of L: the signs; or, in a pivoted front, blocks of 1 and 2 with diagonal d and e below
// it.
typedef struct front_diagonal {
    bool pivoted;
    const double *d, *e;
} front_diagonal;

// ---- the factor in 16 bits (solver_packed.h)
#define PACKED_COLUMNS 8 // of a block
#define PACKED_ROWS 16   // of a tile

// Bytes of a block of columns before its tiles, and with them: both whole cache lines.
static inline int64_t packed_head_size(int width, int tiles)
{
    const int64_t bytes = ((int64_t)width * width + tiles) * (int64_t)sizeof(float);
    return (bytes + FRONT_ALIGN - 1) / FRONT_ALIGN * FRONT_ALIGN;
}

static inline int64_t packed_block_size(int width, int tiles)
{
    const int64_t bytes = (int64_t)tiles * PACKED_ROWS * width * (int64_t)sizeof(int16_t);
    return packed_head_size(width, tiles) + (bytes + FRONT_ALIGN - 1) / FRONT_ALIGN * FRONT_ALIGN;
}

// ---- the factor
#define MULTIFRONTAL_SIDES 16 // right sides solved together

// What is known about a front besides its numbers.
typedef struct front_note {
    bool pivoted;
    int32_t negative_seen; // unpivoted: columns of negative sign so far
    int32_t negative_count, perturbed_count;
    double largest, smallest; // pivots
    atomic_bool rough;        // entries grew: refine solves
    atomic_bool suspicious;   // met a tiny pivot or entries grew too much: factor it again with pivoting
    int32_t phase;            // in progress
    atomic_int pieces;        // of it, not yet done
    atomic_int waiting;       // children not yet done
} front_note;

typedef struct front_worker {
    void *stack, *pack; // front_real
} front_worker;

typedef struct multifrontal {
    front_tree tree;
    void *factor;          // the panels: front_real
    bool single;           // made in single precision
    void *packed_memory;   // NULL: never asked for
    char *packed;          // the panels in 16 bits, aligned
    int64_t *packed_start; // count + 1: bytes
    bool has_packed;       // of the last factorisation
    double *d, *e;         // D
    int *swaps;            // of pivoted fronts
    front_note *note;
    void *arena; // front_real: update matrices; in a solve, what fronts pass up the tree
    int64_t arena_size;
    front_worker *worker;
    int worker_count;
    pl_tasks tasks;      // items are fronts
    void *x;             // front_real: right sides in eliminated order
    double largest;      // largest entry of the matrix
    const double *value; // the matrix being factored
    bool refine;         // entries grew or pivots were perturbed: solves are refined against `copy`
    pl_sparse copy;
    double *residual;
    pl_watch *watch;   // of the factorisation in progress, asked by worker 0; or NULL
    atomic_bool ended; // the answer was no: what is left of the work is skipped
    atomic_llong done; // thousands of operations so far, in about
} multifrontal;

static inline front_diagonal front_diagonal_of(const multifrontal *f, int32_t s)
{
    const int32_t first = f->tree.first[s];
    return (front_diagonal){.pivoted = f->note[s].pivoted, .d = f->d + first, .e = f->e + first};
}

// The numeric work for one kind of number and one instruction set.
typedef struct front_kernels {
    const char *isa;
    void (*factor)(multifrontal *f, int threads);
    void (*solve)(multifrontal *f, double *b, int count, int threads);
    // in single precision only: the second copy, and a solve with it for one right side
    void (*pack)(multifrontal *f);
    void (*solve_packed)(multifrontal *f, double *b, int threads);
} front_kernels;

const front_kernels *front_kernels_choose(bool single); // the best this processor has
void front_kernels_limit(pl_isa most);                  // no better ones from now on: how tests see them all

#endif
