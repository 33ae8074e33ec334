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

#include "base/threads.h"
#include "solver/solver_impl.h"

// The numbers of a factor are doubles, or floats where it only preconditions: solver_eliminate.c,
// solver_pivot.c and solver_substitute.c are compiled once more with FRONT_SINGLE by solver_single.c. Both
// work in the same memory. In single precision nothing is pivoted: a front that met trouble makes the whole
// factor untrustworthy, and it is made again in double precision.
#ifdef FRONT_SINGLE
typedef float front_real;
#define FRONT_NAME(name) name##_single
#define FRONT_BLAS(name) cblas_s##name
#else
typedef double front_real;
#define FRONT_NAME(name) name
#define FRONT_BLAS(name) cblas_d##name
#endif
#define front_update FRONT_NAME(front_update)
#define front_update_lower FRONT_NAME(front_update_lower)
#define front_signed_cholesky FRONT_NAME(front_signed_cholesky)
#define front_signed_rows FRONT_NAME(front_signed_rows)
#define front_largest FRONT_NAME(front_largest)

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

pl_status front_tree_create(const pl_sparse *matrix, const solver_groups *groups, const int32_t *group_order,
                            front_tree *out, pl_error *err);
void front_tree_clear(front_tree *tree);
// The second half of create: relative rows, places of entries, branches, memory.
pl_status front_tree_plan(const pl_sparse *matrix, front_tree *tree, pl_error *err);

// ---- dense work. `pack` is scratch for FRONT_SLAB columns.
#define FRONT_BLOCK 128 // pivot columns handled together
#define FRONT_CHUNK 256 // rows or columns that make one piece of work for a thread
#define FRONT_SLAB 64

// D of some columns of L: the signs, with the columns of negative sign listed; or, in a pivoted front, blocks
// of 1 and 2 with diagonal d and e below it.
typedef struct front_diagonal {
    bool pivoted;
    int32_t negative_count;
    const int32_t *negative;
    const double *d, *e;
} front_diagonal;

// T = beta T - A D B^T with A m x k and B n x k inside one panel of leading dimension `lda`
void front_update(front_real *T, int ldt, int m, int n, const front_real *A, const front_real *B, int lda,
                  int k, const front_diagonal *D, front_real beta, front_real *pack);
// the same with B = A, lower triangle
void front_update_lower(front_real *T, int ldt, int n, const front_real *A, int lda, int k,
                        const front_diagonal *D, front_real beta, front_real *pack);

// A = L S L^T without pivoting, S = diag(sign) with entries +-1, in place of the lower triangle. A pivot
// smaller than `tiny` is replaced by one of size `replacement`; returns how many were.
int front_signed_cholesky(front_real *A, int lda, int n, double tiny, double replacement, double *sign,
                          front_real *pack);
// X = A L^-T S for the m rows below
void front_signed_rows(front_real *A, int m, const front_real *L, int lda, int n, const double *sign);
double front_largest(const front_real *A, int lda, int m, int n);

// Bunch-Kaufman on the k pivots of a panel with m rows below: swaps[] in LAPACK's convention, D in d and e,
// unit L11. Pivots smaller than `tiny` are replaced and counted. `pack` as above.
int front_pivoted(double *panel, int k, int m, double tiny, double replacement, int *swaps, double *d,
                  double *e, double *pack);

// ---- the factor
#define MULTIFRONTAL_SIDES 16 // right sides solved together

// What is known about a front besides its numbers.
typedef struct front_note {
    bool pivoted;
    int32_t
        negative_listed; // unpivoted: columns of negative sign, listed in multifrontal.negative from first[s]
    int32_t negative_count, perturbed_count;
    double largest, smallest; // pivots
    atomic_bool rough;        // entries grew: refine solves
    atomic_bool suspicious;   // met a tiny pivot or entries grew too much: factor it again with pivoting
    int32_t phase;            // under way
    atomic_int pieces;        // of it, not yet done
    atomic_int waiting;       // children not yet done
} front_note;

typedef struct front_worker {
    void *stack, *pack; // front_real
} front_worker;

typedef struct multifrontal {
    front_tree tree;
    void *factor;      // the panels: front_real
    bool single;       // made in single precision
    double *d, *e;     // D
    int *swaps;        // of pivoted fronts
    int32_t *negative; // of unpivoted fronts
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
    pl_watch *watch;   // of the factorisation under way, asked by worker 0; or NULL
    atomic_bool ended; // the answer was no: what is left of the work is skipped
    atomic_llong done; // thousands of operations so far, in about
} multifrontal;

static inline front_diagonal front_diagonal_of(const multifrontal *f, int32_t s)
{
    const int32_t first = f->tree.first[s];
    return (front_diagonal){.pivoted = f->note[s].pivoted,
                            .negative_count = f->note[s].negative_listed,
                            .negative = f->negative + first,
                            .d = f->d + first,
                            .e = f->e + first};
}

void multifrontal_factor(multifrontal *f, int threads);
void multifrontal_solve(multifrontal *f, double *b, int count, int threads);
void multifrontal_factor_single(multifrontal *f, int threads);
void multifrontal_solve_single(multifrontal *f, double *b, int count, int threads);

#endif
