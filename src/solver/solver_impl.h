// Inside the solver room: what the four kinds of factor share. Each kind fills a table of functions; the
// public functions in solver_factor.c check the input and call through it.
#ifndef PL_SOLVER_IMPL_H
#define PL_SOLVER_IMPL_H

#include "solver/solver.h"

// The graph of groups: for each group its neighbours (itself left out), and its unknowns in ascending order.
typedef struct solver_groups {
    int32_t count;
    int32_t *size;         // unknowns per group
    int64_t *start;        // count + 1
    int32_t *neighbour;    // both directions, ascending
    int32_t *member_start; // count + 1
    int32_t *member;       // unknowns
    // symbolic analysis that is kept: for every column of groups its parent in the elimination tree, then the
    // head of its supernode; 2 count entries, NULL: not kept. It is accepted as far as it makes sense.
    int32_t *fronts;
    bool fronts_known; // from a store; otherwise to be written by the analysis
} solver_groups;

typedef struct solver_kind {
    const char *name;
    // `order[q]` is the group that is eliminated q-th
    pl_status (*create)(const pl_sparse *matrix, const solver_groups *groups, const int32_t *order,
                        void **out, pl_error *err);
    void (*destroy)(void *self);
    // `single`: single precision will do, where the kind has it; `watch` may be NULL
    pl_status (*update)(void *self, const pl_sparse *matrix, bool single, pl_watch *watch,
                        pl_factor_report *report, pl_error *err);
    void (*solve)(void *self, double *b, int count);
    // NULL where the kind has no copy in 16 bits; `pack` false: not of this factor
    bool (*pack)(void *self);
    void (*solve_packed)(void *self, double *b);
    size_t (*bytes)(const void *self);
    double (*flops)(const void *self);
} solver_kind;

extern const solver_kind solver_cholmod, solver_mumps, solver_multifrontal, solver_mpi;

pl_status solver_groups_create(const pl_sparse *matrix, const int32_t *group, int32_t group_count,
                               solver_groups *out, pl_error *err);
void solver_groups_clear(solver_groups *groups);

// Nested dissection of the graph of groups: order[p] is the group eliminated p-th.
pl_status solver_groups_order(const solver_groups *groups, int32_t *order, pl_error *err);

// Expands an order of groups: unknowns[p] is the unknown eliminated p-th, those of a group side by side.
void solver_groups_expand(const solver_groups *groups, const int32_t *order, int32_t *unknowns);

// Makes sure that OpenBLAS has its work memory (see solver_blas.c).
pl_status solver_blas_reserve(pl_error *err);

// Between these calls OpenBLAS works with one thread, so that it neither competes with ours nor changes the
// order of sums. The calls may nest and come from several threads.
void solver_blas_begin(void);
void solver_blas_end(void);

#endif
