// MUMPS with our order: L D L^T with threshold pivoting for any symmetric matrix, and its inertia. The only
// file that includes dmumps_c.h. MUMPS keeps global state, so calls from several threads take turns.
#include <dmumps_c.h>
#include <pthread.h>
#include "base/load.h"
#include "solver/solver_impl.h"

#define MUMPS_COMM_WORLD (-987654)

// MUMPS is opened when it is chosen.
static struct {
    __typeof__(dmumps_c) *call;
} mumps_library;

static pl_status mumps_open(pl_error *err)
{
    static const pl_library_call call[] = {{"dmumps_c", 0}};
    static pl_library library = {
        PL_MUMPS_LIBRARY, "linear_solver mumps needs MUMPS", call, PL_COUNT(call), &mumps_library, false};
    return pl_library_open(&library, err);
}

typedef struct mumps_self {
    DMUMPS_STRUC_C id;
    bool started;
    int32_t n;
    MUMPS_INT *row, *column,
        *rank;     // 1-based triplets of the upper triangle; rank of each unknown in the order
    double *value; // a copy, which MUMPS may scale
} mumps_self;

// MUMPS numbers its controls from 1
static MUMPS_INT *mumps_control(mumps_self *s, int i)
{
    return &s->id.icntl[i - 1];
}

static void mumps_run(mumps_self *s, int job)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&turn);
    s->id.job = job;
    mumps_library.call(&s->id);
    pthread_mutex_unlock(&turn);
}

static void mumps_self_destroy(void *object)
{
    mumps_self *s = object;
    if (s->started) {
        mumps_run(s, -2);
    }
    pl_free(s->row);
    pl_free(s->column);
    pl_free(s->rank);
    pl_free(s->value);
    pl_free(s);
}

static pl_status mumps_fail(const mumps_self *s, const char *step, pl_error *err)
{
    const int code = s->id.infog[0];
    if (code == -5 || code == -7 || code == -13) {
        return pl_fail_memory(err, "solver: MUMPS");
    }
    return pl_fail(err, PL_FAILED, "solver: MUMPS' %s returned the status %d (%d)", step, code,
                   (int)s->id.infog[1]);
}

static pl_status mumps_analyse(mumps_self *s, int64_t entries, pl_error *err)
{
    s->id.par = 1;
    s->id.sym = 2;
    s->id.comm_fortran = MUMPS_COMM_WORLD;
    mumps_run(s, -1);
    if (s->id.infog[0] < 0) {
        return mumps_fail(s, "start", err);
    }
    s->started = true;
    for (int i = 1; i <= 4; ++i) {
        *mumps_control(s, i) = i < 4 ? -1 : 0; // no output streams, no printing
    }
    *mumps_control(s, 7) = 1;   // order given in perm_in
    *mumps_control(s, 6) = 0;   // no column permutation, which would look at values
    *mumps_control(s, 12) = 1;  // ordinary symmetric treatment: no compression that would overrule the order
    *mumps_control(s, 14) = 30; // percent of extra workspace
    *mumps_control(s, 24) = 1;  // null pivots are found and counted
    s->id.n = s->n;
    s->id.nnz = entries;
    s->id.irn = s->row;
    s->id.jcn = s->column;
    s->id.a = s->value;
    s->id.perm_in = s->rank;
    mumps_run(s, 1);

    return s->id.infog[0] < 0 ? mumps_fail(s, "analysis", err) : PL_OK;
}

static bool mumps_allocate(mumps_self *s, int64_t entries)
{
    s->row = PL_NEW_ARRAY(MUMPS_INT, entries);
    s->column = PL_NEW_ARRAY(MUMPS_INT, entries);
    s->rank = PL_NEW_ARRAY(MUMPS_INT, s->n);
    s->value = PL_NEW_ARRAY(double, entries);
    return s->row && s->column && s->rank && s->value;
}

static void mumps_pattern(mumps_self *s, const pl_sparse *matrix, const int32_t *unknowns)
{
    for (int32_t j = 0; j < s->n; ++j) {
        for (int64_t p = matrix->start[j]; p < matrix->start[j + 1]; ++p) {
            s->row[p] = matrix->row[p] + 1;
            s->column[p] = j + 1;
        }
    }

    for (int32_t p = 0; p < s->n; ++p) {
        s->rank[unknowns[p]] = p + 1;
    }
}

static pl_status mumps_create(const pl_sparse *matrix, const solver_groups *groups, const int32_t *order,
                              void **out, pl_error *err)
{
    *out = NULL;
    const pl_status library = mumps_open(err);
    if (library != PL_OK) {
        return library;
    }

    const int64_t entries = matrix->start[matrix->n];
    mumps_self *s = PL_NEW(mumps_self);
    int32_t *unknowns = PL_NEW_ARRAY(int32_t, matrix->n);
    pl_status status = PL_OK;

    if (s) {
        s->n = matrix->n;
    }

    if (!s || !unknowns || !mumps_allocate(s, entries)) {
        status = pl_fail_memory(err, "solver: MUMPS");
    } else {
        solver_groups_expand(groups, order, unknowns);
        mumps_pattern(s, matrix, unknowns);
        status = mumps_analyse(s, entries, err);
    }

    pl_free(unknowns);
    if (status != PL_OK && s) {
        mumps_self_destroy(s);
        s = NULL;
    }

    *out = s;

    return status;
}

// Pivoting can need more workspace than the analysis foresaw: ask again with twice the margin.
static void mumps_factor(mumps_self *s)
{
    for (int attempt = 0; attempt < 8; ++attempt) {
        mumps_run(s, 2);
        const int code = s->id.infog[0];
        if (code != -8 && code != -9 && code != -14 && code != -15 && code != -17 && code != -20) {
            return;
        }
        *mumps_control(s, 14) *= 2;
    }
}

static pl_status mumps_update(void *object, const pl_sparse *matrix, bool single, pl_watch *watch,
                              pl_factor_report *report, pl_error *err)
{
    (void)watch; // the factorisation cannot be interrupted
    (void)single;
    mumps_self *s = object;
    memcpy(s->value, matrix->value, (size_t)matrix->start[s->n] * sizeof *s->value);
    mumps_factor(s);
    if (s->id.infog[0] == -10) {
        report->singular = true;
        return PL_OK;
    }

    if (s->id.infog[0] < 0) {
        return mumps_fail(s, "factorisation", err);
    }
    report->negative_count = s->id.infog[12 - 1];
    report->perturbed_count = s->id.infog[28 - 1];
    report->singular = report->perturbed_count > 0;

    return PL_OK;
}

static void mumps_solve(void *object, double *b, int count)
{
    mumps_self *s = object;
    s->id.rhs = b;
    s->id.nrhs = count;
    s->id.lrhs = s->n;
    mumps_run(s, 3);

    // a failed solve must not be taken for an answer
    for (size_t i = 0; s->id.infog[0] < 0 && i < (size_t)s->n * (size_t)count; ++i) {
        b[i] = NAN;
    }
}

// MUMPS gives large counts in millions, as a negative number.
static double mumps_count(MUMPS_INT value)
{
    return value < 0 ? -1e6 * (double)value : (double)value;
}

static size_t mumps_bytes(const void *object)
{
    const mumps_self *s = object;
    return (size_t)(8 * mumps_count(s->id.infog[3 - 1]));
}

static double mumps_flops(const void *object)
{
    const mumps_self *s = object;
    return s->id.rinfog[0];
}

const solver_kind solver_mumps = {.name = "MUMPS",
                                  .create = mumps_create,
                                  .destroy = mumps_self_destroy,
                                  .update = mumps_update,
                                  .solve = mumps_solve,
                                  .bytes = mumps_bytes,
                                  .flops = mumps_flops};
