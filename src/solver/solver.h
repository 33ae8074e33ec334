// Sparse symmetric systems behind one interface. The solver has never heard of a robot.
//
//   pl_sparse   a symmetric pattern and its values: compressed columns, upper triangle, rows ascending
//   pl_factor   ordering and symbolic analysis once, then factor and solve as often as wanted
#ifndef PL_SOLVER_H
#define PL_SOLVER_H

#include "base/base.h"

typedef struct pl_sparse {
    int32_t n;
    int64_t *start; // n + 1 column starts
    int32_t *row;   // rows <= column, ascending; the diagonal entry is always present and last
    double *value;  // start[n] entries
} pl_sparse;

pl_status pl_sparse_create(int32_t n, int64_t entry_count, pl_sparse *out, pl_error *err); // zeroed arrays
void pl_sparse_clear(pl_sparse *matrix);

// y = A x
void pl_sparse_multiply(const pl_sparse *matrix, const double *x, double *y);
#define PL_SPARSE_COLUMNS 8 // most at once
void pl_sparse_multiply_columns(const pl_sparse *matrix, const double *x, double *y,
                                int count); // x, y: columns one after another

// The slot of (row, column) in `value`, row <= column; -1 when it is not in the pattern. Binary search.
int64_t pl_sparse_slot(const pl_sparse *matrix, int32_t row, int32_t column);

// CHOLESKY: CHOLMOD's supernodal L L^T, positive definite matrices only.
// INDEFINITE: MUMPS, threshold pivoting, inertia.
// MULTIFRONTAL: our own L D L^T with pivoting inside supernodes, parallel over the elimination tree; made for
// quasi-definite matrices [A B; B^T -C]; counts inertia; perturbs pivots that are too small and counts them.
// MPI: as INDEFINITE, spread over processes that mpirun starts (solver_mpi.c).
typedef enum pl_factor_kind {
    PL_FACTOR_CHOLESKY,
    PL_FACTOR_INDEFINITE,
    PL_FACTOR_MULTIFRONTAL,
    PL_FACTOR_MPI
} pl_factor_kind;

// A pivot is too small below 1e-14 of the largest entry. INDEFINITE takes it for a null pivot, counts it and
// calls the matrix singular. MULTIFRONTAL replaces it by 1e-8 of the largest entry, counts it and refines
// solves; inertia is then not certain. Its solves are also refined, one side after another, where pivoting
// was needed or entries grew much.
typedef struct pl_factor_report {
    bool singular;                        // no usable factor (for CHOLESKY: not positive definite)
    int32_t negative_count;               // negative pivots (0 for CHOLESKY)
    int32_t perturbed_count;              // pivots replaced because they were too small
    double largest_pivot, smallest_pivot; // absolute values; 0 for INDEFINITE, which does not tell
    bool single;                          // made in single precision
} pl_factor_report;

typedef struct pl_factor pl_factor;

// Orders and analyses. `group[i]` names the node that unknown i belongs to (0 .. group_count-1): the graph of
// groups is ordered by nested dissection and expanded, unknowns of a group staying together in ascending
// order. Keeps no reference to `matrix` (pattern is copied as needed).
pl_status pl_factor_create(pl_factor_kind kind, const pl_sparse *matrix, const int32_t *group,
                           int32_t group_count, pl_factor **out, pl_error *err);

// The same; takes the order from a store that has one for this graph, and keeps a new one there (NULL: no
// store; small graphs are not worth it).
pl_status pl_factor_create_stored(pl_factor_kind kind, const pl_sparse *matrix, const int32_t *group,
                                  int32_t group_count, const pl_order_store *store, pl_factor **out,
                                  pl_error *err);

// The same with the order of `like`, a factor with the same groups (its matrix may couple them differently
// and leave some of them empty): no nested dissection.
pl_status pl_factor_create_like(pl_factor_kind kind, const pl_sparse *matrix, const int32_t *group,
                                const pl_factor *like, pl_factor **out, pl_error *err);
void pl_factor_destroy(pl_factor *factor);

// Analyses a pattern that gained or lost entries (the same unknowns in the same groups) with the order found
// at creation: no new nested dissection. The factor must be updated before it solves again. After a failure
// the factor cannot be used any more, only destroyed or analysed again.
pl_status pl_factor_reanalyse(pl_factor *factor, const pl_sparse *matrix, pl_error *err);
int pl_factor_order_count(const pl_factor *factor);    // nested dissections so far
int pl_factor_analysis_count(const pl_factor *factor); // symbolic analyses so far

// Factors new values on the same pattern. PL_OK also when singular: the report says so.
pl_status pl_factor_update(pl_factor *factor, const pl_sparse *matrix, pl_factor_report *report,
                           pl_error *err);

// The same in single precision, for a factor that only preconditions: MULTIFRONTAL does it in half the memory
// traffic, unless a pivot was too small or entries grew, in which case it factors again in double precision;
// report->single says which. The other kinds have double precision only. Relative errors of solves are those
// of single precision times the condition number: whoever uses it checks that it serves.
pl_status pl_factor_update_single(pl_factor *factor, const pl_sparse *matrix, pl_factor_report *report,
                                  pl_error *err);

// While a watch is set (NULL: none), a MULTIFRONTAL update asks it on the thread that called and ends with
// PL_INTERRUPTED, without a usable factor, when the answer is no; the other kinds ask before they begin.
void pl_factor_watch(pl_factor *factor, pl_watch *watch);

// Solves A x = b for `count` right sides (column-major, leading dimension n), in place. Needs a usable
// factor. A factor belongs to one thread at a time. For MULTIFRONTAL factor and solution have the same bits
// for any number of threads; the other kinds use as many BLAS threads as OpenBLAS is set to.
void pl_factor_solve(pl_factor *factor, double *b, int count);

// A factor that was made in single precision, once more in 16 bits: tiles of it share a scale. A solve is
// bound by the memory it reads, so it takes about half the time. Errors are those of rounding L to 15 bits,
// far above those of single precision: for preconditioning only, and whoever uses it checks that it serves.
// False: there is none (double precision, other kinds, no memory). Made once per factor, when first asked
// for.
bool pl_factor_pack(pl_factor *factor);

// One right side with it; with the factor itself where there is none.
void pl_factor_solve_packed(pl_factor *factor, double *b);

// Size of the factor in bytes (workspace aside), and floating-point operations of one factorisation.
size_t pl_factor_bytes(const pl_factor *factor);
double pl_factor_flops(const pl_factor *factor);

// ---- small dense systems, n up to a few dozen; row-major
// Solves A x = b (count right sides, b is n x count row-major) by LU with partial pivoting; false when
// singular.
bool pl_dense_solve(int n, double *A, double *b, int count);

// Eigenvalues (ascending) of a symmetric matrix, and eigenvectors in the columns of V if given.
void pl_dense_eigen(int n, double *A, double *value, double *V);

// ---- a few eigenvalues of a large operator
// Lanczos' method with full orthogonalisation: the eigenvalues of largest magnitude of S W, S symmetric
// (`apply`: out = S b) and W diagonal, not negative (`weight`). `start` is any vector with a part of each; it
// is overwritten. Gets at most `wanted` pairs, largest magnitude first, vectors of length 1 in the inner
// product of W, from at most `most` vectors; an eigenvalue counts where its residual is below `accuracy`
// times its size. Returns their number, -1 without memory or where `apply` fails.
typedef bool (*pl_lanczos_apply)(void *user, const double *b, double *out);

typedef struct pl_lanczos_options {
    int wanted, most;
    double accuracy;
} pl_lanczos_options;

int pl_lanczos(int32_t n, const double *weight, pl_lanczos_apply apply, void *user,
               const pl_lanczos_options *options, double *start, double *value, double *vector);

// ---- small convex quadratic problems
//   min 1/2 p.H p + g.p  under  low <= p <= high and a_i . p <= b_i,  H positive definite, p = 0 allowed.
// An active set method: exact up to rounding. Takes its memory in create, none in solve, and ends after a
// bounded number of passes. False: H is not positive definite.
typedef struct pl_quadratic pl_quadratic;
pl_quadratic *pl_quadratic_create(int n, int rows); // NULL: no memory
void pl_quadratic_destroy(pl_quadratic *quadratic);

typedef struct pl_quadratic_problem {
    int n, rows;
    const double *H, *g, *low, *high, *a, *b;
    double *p; // out
    double *box,
        *multiplier; // out: per variable (positive at the upper side, negative at the lower), per row
} pl_quadratic_problem;

bool pl_quadratic_solve(pl_quadratic *quadratic, const pl_quadratic_problem *problem);

#endif
