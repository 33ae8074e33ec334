// The public face of the factors: checks the pattern, orders, and hands over to the kind.
#include <pthread.h>
#include "solver/solver_impl.h"

#define STORE_LEAST 2000 // groups: ordering fewer takes some milliseconds

struct pl_factor {
    const solver_kind *kind;
    int32_t n;
    int64_t entry_count;
    bool usable;
    void *self; // NULL: no pattern analysed
    // the nodal order, kept for patterns that change
    int32_t group_count;
    int32_t *group; // n: the group of each unknown
    int32_t *order; // order[q] is the group eliminated q-th
    int order_count, analysis_count;
    pl_watch *watch;
};

// OpenBLAS' own calls; its headers differ between distributions
extern void openblas_set_num_threads(int count);
extern int openblas_get_num_threads(void);

static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;
static int blas_users, blas_threads_before;

void solver_blas_begin(void)
{
    pthread_mutex_lock(&blas_lock);
    if (blas_users++ == 0) {
        blas_threads_before = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }

    pthread_mutex_unlock(&blas_lock);
}

void solver_blas_end(void)
{
    pthread_mutex_lock(&blas_lock);
    if (--blas_users == 0) {
        openblas_set_num_threads(blas_threads_before);
    }
    pthread_mutex_unlock(&blas_lock);
}

static pl_status factor_check_pattern(const pl_sparse *m, pl_error *err)
{
    if (m->n < 1) {
        return pl_fail(err, PL_BAD_INPUT, "solver: the matrix has %d unknowns, must be >= 1", (int)m->n);
    }
    if (m->start[0] != 0) {
        return pl_fail(err, PL_BAD_INPUT, "solver: start[0] is %lld, must be 0", (long long)m->start[0]);
    }

    for (int32_t j = 0; j < m->n; ++j) {
        const int64_t begin = m->start[j], end = m->start[j + 1];
        if (end <= begin || m->row[end - 1] != j) {
            return pl_fail(err, PL_BAD_INPUT, "solver: column %d must end with its diagonal entry", (int)j);
        }
        for (int64_t p = begin; p < end; ++p) {
            if (m->row[p] < 0 || (p > begin && m->row[p] <= m->row[p - 1])) {
                return pl_fail(err, PL_BAD_INPUT,
                               "solver: column %d has row %d at place %lld, rows must ascend from 0", (int)j,
                               (int)m->row[p], (long long)(p - begin));
            }
        }
    }

    return PL_OK;
}

static pl_status factor_check_groups(const int32_t *group, int32_t n, int32_t group_count, pl_error *err)
{
    if (group_count < 1) {
        return pl_fail(err, PL_BAD_INPUT, "solver: group_count is %d, must be >= 1", (int)group_count);
    }

    for (int32_t i = 0; i < n; ++i) {
        if (group[i] < 0 || group[i] >= group_count) {
            return pl_fail(err, PL_BAD_INPUT, "solver: group[%d] is %d, must be in 0 .. %d", (int)i,
                           (int)group[i], (int)group_count - 1);
        }
    }

    return PL_OK;
}

static const solver_kind *factor_kind(pl_factor_kind kind)
{
    switch (kind) {
    case PL_FACTOR_CHOLESKY:
        return &solver_cholmod;
    case PL_FACTOR_INDEFINITE:
        return &solver_mumps;
    case PL_FACTOR_MULTIFRONTAL:
        return &solver_multifrontal;
    case PL_FACTOR_MPI:
        return &solver_mpi;
    }

    return NULL;
}

// Is every number from 0 to count - 1 there once?
static bool factor_is_order(const int32_t *order, int32_t count)
{
    bool *seen = PL_NEW_ARRAY(bool, count);
    bool good = seen != NULL;

    for (int32_t k = 0; good && k < count; ++k) {
        good = order[k] >= 0 && order[k] < count && !seen[order[k]];
        if (good) {
            seen[order[k]] = true;
        }
    }

    pl_free(seen);
    return good;
}

// What is kept of an analysis: the order, the elimination tree and the supernodes of a graph of groups of
// given sizes; of other kinds than MULTIFRONTAL the order only. STORE_RULES changes with the rules for
// supernodes.
#define STORE_RULES "fronts 1"
typedef struct factor_kept {
    const pl_order_store *store; // NULL: nothing is kept
    uint64_t key;
    int32_t count; // numbers
    int32_t *number;
    bool known;
} factor_kept;

static factor_kept factor_find(const pl_factor *f, const solver_groups *groups, const pl_order_store *store)
{
    const size_t count = (size_t)groups->count;
    const bool fronts = f->kind == &solver_multifrontal;
    factor_kept k = {.key = PL_HASH_SEED, .count = (fronts ? 3 : 1) * groups->count};

    if (!store || !store->folder || groups->count < STORE_LEAST || groups->count > INT32_MAX / 3) {
        return k;
    }
    k.number = PL_NEW_ARRAY(int32_t, k.count);
    if (!k.number) {
        return k;
    }
    k.store = store;
    k.key = pl_hash_bytes(k.key, groups->start, (count + 1) * sizeof *groups->start);
    k.key = pl_hash_bytes(k.key, groups->neighbour, (size_t)groups->start[count] * sizeof *groups->neighbour);
    if (fronts) {
        k.key = pl_hash_bytes(k.key, groups->size, count * sizeof *groups->size);
        k.key = pl_hash_bytes(k.key, STORE_RULES, sizeof STORE_RULES);
    }

    k.known =
        store->find(store->folder, k.key, k.count, k.number) && factor_is_order(k.number, groups->count);

    return k;
}

// The order of a graph: as kept, or found.
static pl_status factor_order(pl_factor *f, const solver_groups *groups, const factor_kept *kept,
                              pl_error *err)
{
    const size_t bytes = (size_t)groups->count * sizeof *f->order;
    if (kept->known) {
        memcpy(f->order, kept->number, bytes);
        return PL_OK;
    }

    const pl_status status = solver_groups_order(groups, f->order, err);
    if (status == PL_OK && kept->store) {
        memcpy(kept->number, f->order, bytes);
    }

    return status;
}

// Symbolic analysis of the pattern with the order at hand; orders first when there is none.
static pl_status factor_analyse(pl_factor *f, const pl_sparse *matrix, const pl_order_store *store,
                                pl_error *err)
{
    solver_groups groups;
    pl_status status = solver_groups_create(matrix, f->group, f->group_count, &groups, err);

    if (status != PL_OK) {
        return status;
    }

    factor_kept kept = {0};
    if (f->order_count == 0) {
        kept = factor_find(f, &groups, store);
        status = factor_order(f, &groups, &kept, err);
        f->order_count += status == PL_OK;
    }

    if (kept.store && kept.count > groups.count) {
        groups.fronts = kept.number + groups.count;
        groups.fronts_known = kept.known;
    }

    if (status == PL_OK) {
        status = f->kind->create(matrix, &groups, f->order, &f->self, err);
        f->analysis_count += status == PL_OK;
    }

    if (status == PL_OK && kept.store && !kept.known) {
        kept.store->keep(kept.store->folder, kept.key, kept.count, kept.number);
    }
    pl_free(kept.number);
    solver_groups_clear(&groups);

    return status;
}

static pl_status factor_create(pl_factor_kind kind, const pl_sparse *matrix, const int32_t *group,
                               int32_t group_count, const int32_t *order, const pl_order_store *store,
                               pl_factor **out, pl_error *err)
{
    *out = NULL;
    const solver_kind *table = factor_kind(kind);
    if (!table) {
        return pl_fail(err, PL_BAD_INPUT, "solver: kind is %d, which is none of the kinds of factor",
                       (int)kind);
    }

    pl_status status = factor_check_pattern(matrix, err);
    if (status == PL_OK) {
        status = solver_blas_reserve(err);
    }
    if (status == PL_OK) {
        status = factor_check_groups(group, matrix->n, group_count, err);
    }
    if (status != PL_OK) {
        return status;
    }

    pl_factor *f = PL_NEW(pl_factor);
    if (!f) {
        return pl_fail_memory(err, "solver: factor");
    }
    *f = (pl_factor){.kind = table,
                     .n = matrix->n,
                     .entry_count = matrix->start[matrix->n],
                     .group_count = group_count,
                     .group = PL_NEW_ARRAY(int32_t, matrix->n),
                     .order = PL_NEW_ARRAY(int32_t, group_count)};
    if (f->group && f->order) {
        memcpy(f->group, group, (size_t)matrix->n * sizeof *group);
        if (order) {
            memcpy(f->order, order, (size_t)group_count * sizeof *order);
            f->order_count = 1;
        }

        status = factor_analyse(f, matrix, store, err);
    } else {
        status = pl_fail_memory(err, "solver: ordering");
    }

    if (status != PL_OK) {
        pl_factor_destroy(f);
        return status;
    }

    *out = f;

    return PL_OK;
}

pl_status pl_factor_create(pl_factor_kind kind, const pl_sparse *matrix, const int32_t *group,
                           int32_t group_count, pl_factor **out, pl_error *err)
{
    return factor_create(kind, matrix, group, group_count, NULL, NULL, out, err);
}

pl_status pl_factor_create_stored(pl_factor_kind kind, const pl_sparse *matrix, const int32_t *group,
                                  int32_t group_count, const pl_order_store *store, pl_factor **out,
                                  pl_error *err)
{
    return factor_create(kind, matrix, group, group_count, NULL, store, out, err);
}

pl_status pl_factor_create_like(pl_factor_kind kind, const pl_sparse *matrix, const int32_t *group,
                                const pl_factor *like, pl_factor **out, pl_error *err)
{
    return factor_create(kind, matrix, group, like->group_count, like->order, NULL, out, err);
}

pl_status pl_factor_reanalyse(pl_factor *factor, const pl_sparse *matrix, pl_error *err)
{
    pl_status status = factor_check_pattern(matrix, err);
    if (status == PL_OK && matrix->n != factor->n) {
        status = pl_fail(err, PL_BAD_INPUT,
                         "solver: the matrix has %d unknowns, but the factor was created for %d",
                         (int)matrix->n, (int)factor->n);
    }

    if (status != PL_OK) {
        return status;
    }
    factor->usable = false;
    if (factor->self) {
        factor->kind->destroy(factor->self);
        factor->self = NULL;
    }

    factor->entry_count = matrix->start[matrix->n];

    return factor_analyse(factor, matrix, NULL, err);
}

int pl_factor_order_count(const pl_factor *factor)
{
    return factor->order_count;
}

int pl_factor_analysis_count(const pl_factor *factor)
{
    return factor->analysis_count;
}

void pl_factor_destroy(pl_factor *factor)
{
    if (!factor) {
        return;
    }
    if (factor->self) {
        factor->kind->destroy(factor->self);
    }
    pl_free(factor->group);
    pl_free(factor->order);
    pl_free(factor);
}

static pl_status factor_check_values(const pl_sparse *m, pl_error *err)
{
    // the sum of x - x is zero unless some x is not finite; the place is searched only then
    double defect = 0;
#pragma omp simd reduction(+ : defect)
    for (int64_t p = 0; p < m->start[m->n]; ++p) {
        defect += m->value[p] - m->value[p];
    }
    if (defect == 0) {
        return PL_OK;
    }
    for (int32_t j = 0; j < m->n; ++j) {
        for (int64_t p = m->start[j]; p < m->start[j + 1]; ++p) {
            if (!isfinite(m->value[p])) {
                return pl_fail(err, PL_BAD_INPUT, "solver: entry (%d, %d) is %g, must be finite",
                               (int)m->row[p], (int)j, m->value[p]);
            }
        }
    }

    return PL_OK;
}

static pl_status factor_update(pl_factor *factor, const pl_sparse *matrix, bool single,
                               pl_factor_report *report, pl_error *err)
{
    pl_factor_report unread;
    pl_factor_report *r = report ? report : &unread;

    *r = (pl_factor_report){.singular = true};
    factor->usable = false;
    if (!factor->self) {
        return pl_fail(err, PL_FAILED, "solver: no pattern is analysed: the last analysis failed");
    }

    if (matrix->n != factor->n || matrix->start[matrix->n] != factor->entry_count) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "solver: the matrix has %d unknowns and %lld entries, the analysed pattern has %d and %lld",
            (int)matrix->n, (long long)matrix->start[matrix->n], (int)factor->n,
            (long long)factor->entry_count);
    }

    pl_status status = factor_check_values(matrix, err);
    if (status == PL_OK && factor->watch && (factor->watch->stopped || factor->watch->late)) {
        status = pl_fail(err, PL_INTERRUPTED, "solver: stopped before the factorisation");
    }
    if (status == PL_OK) {
        r->singular = false;
        status = factor->kind->update(factor->self, matrix, single, factor->watch, r, err);
    }

    factor->usable = status == PL_OK && !r->singular;

    return status;
}

pl_status pl_factor_update(pl_factor *factor, const pl_sparse *matrix, pl_factor_report *report,
                           pl_error *err)
{
    return factor_update(factor, matrix, false, report, err);
}

pl_status pl_factor_update_single(pl_factor *factor, const pl_sparse *matrix, pl_factor_report *report,
                                  pl_error *err)
{
    return factor_update(factor, matrix, true, report, err);
}

void pl_factor_watch(pl_factor *factor, pl_watch *watch)
{
    factor->watch = watch;
}

void pl_factor_solve(pl_factor *factor, double *b, int count)
{
    PL_ASSERT(factor->usable);
    if (factor->usable && count > 0) {
        factor->kind->solve(factor->self, b, count);
    }
}

bool pl_factor_pack(pl_factor *factor)
{
    PL_ASSERT(factor->usable);
    return factor->usable && factor->kind->pack && factor->kind->pack(factor->self);
}

void pl_factor_solve_packed(pl_factor *factor, double *b)
{
    if (pl_factor_pack(factor)) {
        factor->kind->solve_packed(factor->self, b);
    } else {
        pl_factor_solve(factor, b, 1);
    }
}

size_t pl_factor_bytes(const pl_factor *factor)
{
    return factor->self ? factor->kind->bytes(factor->self) : 0;
}

double pl_factor_flops(const pl_factor *factor)
{
    return factor->self ? factor->kind->flops(factor->self) : 0;
}
