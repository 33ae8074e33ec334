// CHOLMOD's supernodal L L^T with our order; positive definite matrices only. The only file that includes
// cholmod.h. The number of BLAS threads is the caller's affair.
#include <cholmod.h>
#include "solver/solver_impl.h"

typedef struct cholmod_self {
    cholmod_common common;
    bool started;
    int32_t n;
    SuiteSparse_long *start, *row; // the pattern, in CHOLMOD's width
    cholmod_factor *factor;
    cholmod_dense *x, *y, *e; // kept between solves
} cholmod_self;

static void cholmod_self_destroy(void *object)
{
    cholmod_self *s = object;
    if (s->started) {
        cholmod_l_free_factor(&s->factor, &s->common);
        cholmod_l_free_dense(&s->x, &s->common);
        cholmod_l_free_dense(&s->y, &s->common);
        cholmod_l_free_dense(&s->e, &s->common);
        cholmod_l_finish(&s->common);
    }

    pl_free(s->start);
    pl_free(s->row);
    pl_free(s);
}

static cholmod_sparse cholmod_view(const cholmod_self *s, const double *value)
{
    return (cholmod_sparse){.nrow = (size_t)s->n,
                            .ncol = (size_t)s->n,
                            .nzmax = (size_t)s->start[s->n],
                            .p = s->start,
                            .i = s->row,
                            .x = (void *)value,
                            .stype = 1,
                            .itype = CHOLMOD_LONG,
                            .xtype = value ? CHOLMOD_REAL : CHOLMOD_PATTERN,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

static pl_status cholmod_fail(const cholmod_self *s, const char *step, pl_error *err)
{
    if (s->common.status == CHOLMOD_OUT_OF_MEMORY) {
        return pl_fail_memory(err, "solver: CHOLMOD");
    }
    return pl_fail(err, PL_FAILED, "solver: CHOLMOD's %s returned the status %d", step, s->common.status);
}

static pl_status cholmod_analyse(cholmod_self *s, SuiteSparse_long *order, pl_error *err)
{
    cholmod_l_start(&s->common);
    s->started = true;
    s->common.print = 0;
    s->common.supernodal = CHOLMOD_SUPERNODAL;
    s->common.nmethods = 1;
    s->common.method[0].ordering = CHOLMOD_GIVEN;
    cholmod_sparse view = cholmod_view(s, NULL);
    s->factor = cholmod_l_analyze_p(&view, order, NULL, 0, &s->common);

    return s->factor ? PL_OK : cholmod_fail(s, "analysis", err);
}

static pl_status cholmod_create(const pl_sparse *matrix, const solver_groups *groups, const int32_t *order,
                                void **out, pl_error *err)
{
    const int32_t n = matrix->n;
    const int64_t entries = matrix->start[n];
    cholmod_self *s = PL_NEW(cholmod_self);
    int32_t *unknowns = PL_NEW_ARRAY(int32_t, n);
    SuiteSparse_long *wide = PL_NEW_ARRAY(SuiteSparse_long, n);
    pl_status status = PL_OK;

    if (s) {
        s->n = n;
        s->start = PL_NEW_ARRAY(SuiteSparse_long, (size_t)n + 1);
        s->row = PL_NEW_ARRAY(SuiteSparse_long, entries);
    }

    if (!s || !unknowns || !wide || !s->start || !s->row) {
        status = pl_fail_memory(err, "solver: CHOLMOD");
    } else {
        for (int32_t j = 0; j <= n; ++j) {
            s->start[j] = matrix->start[j];
        }
        for (int64_t p = 0; p < entries; ++p) {
            s->row[p] = matrix->row[p];
        }
        solver_groups_expand(groups, order, unknowns);
        for (int32_t p = 0; p < n; ++p) {
            wide[p] = unknowns[p];
        }
        status = cholmod_analyse(s, wide, err);
    }

    pl_free(unknowns);
    pl_free(wide);
    if (status != PL_OK && s) {
        cholmod_self_destroy(s);
        s = NULL;
    }

    *out = s;

    return status;
}

// The pivots of L L^T are the squares of L's diagonal, found at the head of each supernode's columns.
static void cholmod_pivots(const cholmod_factor *L, pl_factor_report *report)
{
    const SuiteSparse_long *super = L->super, *pi = L->pi, *px = L->px;
    const double *x = L->x;

    report->smallest_pivot = INFINITY;
    for (size_t s = 0; s < L->nsuper; ++s) {
        const SuiteSparse_long rows = pi[s + 1] - pi[s];

        for (SuiteSparse_long j = 0; j < super[s + 1] - super[s]; ++j) {
            const double l = x[px[s] + j * (rows + 1)];
            report->largest_pivot = fmax(report->largest_pivot, l * l);
            report->smallest_pivot = fmin(report->smallest_pivot, l * l);
        }
    }
}

static pl_status cholmod_update(void *object, const pl_sparse *matrix, bool single, pl_watch *watch,
                                pl_factor_report *report, pl_error *err)
{
    (void)watch; // the factorisation cannot be interrupted
    (void)single;
    cholmod_self *s = object;
    cholmod_sparse view = cholmod_view(s, matrix->value);
    cholmod_l_factorize(&view, s->factor, &s->common);
    if (s->common.status == CHOLMOD_NOT_POSDEF ||
        (s->common.status >= 0 && s->factor->minor < s->factor->n)) {
        report->singular = true;
        return PL_OK;
    }

    if (s->common.status < 0) {
        return cholmod_fail(s, "factorisation", err);
    }
    cholmod_pivots(s->factor, report);

    return PL_OK;
}

static void cholmod_solve_for(void *object, double *b, int count)
{
    cholmod_self *s = object;
    const size_t n = (size_t)s->n, total = n * (size_t)count;
    cholmod_dense view = {.nrow = n,
                          .ncol = (size_t)count,
                          .nzmax = total,
                          .d = n,
                          .x = b,
                          .xtype = CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE};

    if (cholmod_l_solve2(CHOLMOD_A, s->factor, &view, NULL, &s->x, NULL, &s->y, &s->e, &s->common)) {
        memcpy(b, s->x->x, total * sizeof *b);
        return;
    }

    // out of memory: an answer that cannot be taken for one
    for (size_t i = 0; i < total; ++i) {
        b[i] = NAN;
    }
}

static size_t cholmod_bytes(const void *object)
{
    const cholmod_self *s = object;
    return s->factor->xsize * sizeof(double) + s->factor->ssize * sizeof(SuiteSparse_long);
}

static double cholmod_flops(const void *object)
{
    const cholmod_self *s = object;
    return s->common.fl;
}

const solver_kind solver_cholmod = {.name = "CHOLMOD",
                                    .create = cholmod_create,
                                    .destroy = cholmod_self_destroy,
                                    .update = cholmod_update,
                                    .solve = cholmod_solve_for,
                                    .bytes = cholmod_bytes,
                                    .flops = cholmod_flops};
