// Our own multifrontal L D L^T: memory and the interface. solver_symbolic.c and solver_plan.c look at the
// pattern, solver_eliminate.h factors, solver_pivot.h and solver_tile.h do the dense work,
// solver_substitute.h solves.
#include "solver/solver_front.h"

extern const front_kernels front_kernels_single_generic, front_kernels_double_generic;
#ifdef PL_KERNELS_X86
extern const front_kernels front_kernels_single_avx2, front_kernels_double_avx2;
extern const front_kernels front_kernels_single_avx512, front_kernels_double_avx512;
#endif

static const front_kernels *const kernels_table[][2] = {
    [PL_ISA_GENERIC] = {&front_kernels_double_generic, &front_kernels_single_generic},
#ifdef PL_KERNELS_X86
    [PL_ISA_AVX2] = {&front_kernels_double_avx2, &front_kernels_single_avx2},
    [PL_ISA_AVX512] = {&front_kernels_double_avx512, &front_kernels_single_avx512},
#endif
};
static atomic_int kernels_most = PL_ISA_AVX512;

const front_kernels *front_kernels_choose(bool single)
{
    const int best = pl_isa_best(), most = atomic_load(&kernels_most), known = PL_COUNT(kernels_table) - 1;
    const int isa = best < most ? best : most;
    return kernels_table[isa < known ? isa : known][single];
}

void front_kernels_limit(pl_isa most)
{
    atomic_store(&kernels_most, (int)most);
}

static void multifrontal_destroy(void *object)
{
    multifrontal *f = object;
    for (int i = 0; i < f->worker_count; ++i) {
        pl_free(f->worker[i].stack);
        pl_free(f->worker[i].pack);
    }

    pl_tasks_clear(&f->tasks);
    front_tree_clear(&f->tree);
    pl_sparse_clear(&f->copy);
    pl_free(f->factor);
    pl_free(f->packed_memory);
    pl_free(f->packed_start);
    pl_free(f->d);
    pl_free(f->e);
    pl_free(f->swaps);
    pl_free(f->note);
    pl_free(f->arena);
    pl_free(f->worker);
    pl_free(f->x);
    pl_free(f->residual);
    pl_free(f);
    pl_threads_release();
}

static size_t multifrontal_pack_size(const front_tree *t)
{
    return FRONT_PACK + (size_t)t->front_limit * FRONT_SLAB;
}

// Each thread has a stack and scratch of its own. When memory for more is short, fewer threads work.
static int multifrontal_workers(multifrontal *f, int wanted)
{
    if (wanted <= f->worker_count) {
        return wanted;
    }

    front_worker *larger = pl_resize_array(f->worker, (size_t)wanted, sizeof *larger);
    if (!larger) {
        return f->worker_count;
    }
    f->worker = larger;

    while (f->worker_count < wanted) {
        front_worker *w = &f->worker[f->worker_count];
        w->stack = pl_resize_array(NULL, (size_t)f->tree.stack_size, sizeof(double));
        w->pack = pl_resize_array(NULL, multifrontal_pack_size(&f->tree), sizeof(double));

        if (!w->stack || !w->pack) {
            pl_free(w->stack);
            pl_free(w->pack);
            break;
        }

        ++f->worker_count;
    }

    return f->worker_count;
}

// Memory of the copy in 16 bits: nothing is allocated while solving. It is not touched before the copy is
// made.
static bool multifrontal_allocate_packed(multifrontal *f)
{
    const front_tree *t = &f->tree;
    f->packed_start = PL_NEW_ARRAY(int64_t, t->count + 1);
    if (!f->packed_start) {
        return false;
    }

    for (int32_t s = 0; s < t->count; ++s) {
        const int k = front_pivots(t, s), rows = k + front_rows_below(t, s);
        int64_t bytes = 0;
        for (int c = 0; c < k; c += PACKED_COLUMNS) {
            const int width = k - c < PACKED_COLUMNS ? k - c : PACKED_COLUMNS;
            bytes += packed_block_size(width, (rows - c - width + PACKED_ROWS - 1) / PACKED_ROWS);
        }

        f->packed_start[s + 1] = f->packed_start[s] + bytes;
    }

    f->packed_memory = pl_resize_array(NULL, (size_t)f->packed_start[t->count] + FRONT_ALIGN, 1);
    if (!f->packed_memory) {
        return false;
    }

    const uintptr_t at = (uintptr_t)f->packed_memory;
    f->packed = (char *)((at + FRONT_ALIGN - 1) & ~(uintptr_t)(FRONT_ALIGN - 1));

    return true;
}

static bool multifrontal_allocate(multifrontal *f, const pl_sparse *matrix)
{
    const front_tree *t = &f->tree;
    const size_t n = (size_t)t->n;
    const int64_t passed_on = MULTIFRONTAL_SIDES * t->row_start[t->count];

    f->arena_size = t->arena_size > passed_on ? t->arena_size : passed_on;
    f->factor = pl_resize_array(NULL, (size_t)t->panel[t->count], sizeof(double));
    f->arena = pl_resize_array(NULL, (size_t)f->arena_size, sizeof(double));
    f->d = PL_NEW_ARRAY(double, n);
    f->e = PL_NEW_ARRAY(double, n);
    f->swaps = PL_NEW_ARRAY(int, n);
    f->note = PL_NEW_ARRAY(front_note, t->count);
    f->x = PL_NEW_ARRAY(double, n *MULTIFRONTAL_SIDES);
    f->residual = PL_NEW_ARRAY(double, 3 * n);
    if (!f->factor || !f->arena || !f->d || !f->e || !f->swaps || !f->note || !f->x || !f->residual ||
        !multifrontal_allocate_packed(f) || !pl_tasks_init(&f->tasks, t->count) ||
        pl_sparse_create(matrix->n, matrix->start[n], &f->copy, NULL) != PL_OK) {
        return false;
    }

    const int threads = pl_threads_get();

    return multifrontal_workers(f, threads) == threads;
}

static pl_status multifrontal_create(const pl_sparse *matrix, const solver_groups *groups,
                                     const int32_t *order, void **out, pl_error *err)
{
    multifrontal *f = PL_NEW(multifrontal);
    if (!f) {
        return pl_fail_memory(err, "solver: multifrontal factor");
    }
    pl_threads_hold();
    pl_status status = front_tree_create(matrix, groups, order, &f->tree, err);
    if (status == PL_OK && !multifrontal_allocate(f, matrix)) {
        status = pl_fail_memory(err, "solver: multifrontal factor");
    }
    if (status != PL_OK) {
        multifrontal_destroy(f);
        return status;
    }

    *out = f;

    return PL_OK;
}

static void multifrontal_report(multifrontal *f, pl_factor_report *report)
{
    f->refine = false;
    report->smallest_pivot = INFINITY;
    for (int32_t s = 0; s < f->tree.count; ++s) {
        const front_note *note = &f->note[s];
        report->negative_count += note->negative_count;
        report->perturbed_count += note->perturbed_count;
        report->largest_pivot =
            note->largest <= report->largest_pivot ? report->largest_pivot : note->largest;
        report->smallest_pivot =
            note->smallest >= report->smallest_pivot ? report->smallest_pivot : note->smallest;
        f->refine = f->refine || note->pivoted || atomic_load(&note->rough);
    }

    report->singular = !isfinite(report->largest_pivot) || !(report->smallest_pivot > 0);
}

// In single precision only what needed no care is trusted: no tiny pivot, little growth of entries.
static bool multifrontal_trusted(const multifrontal *f)
{
    for (int32_t s = 0; s < f->tree.count; ++s) {
        if (atomic_load(&f->note[s].suspicious) || atomic_load(&f->note[s].rough) ||
            !isfinite(f->note[s].largest)) {
            return false;
        }
    }

    return true;
}

static pl_status multifrontal_update(void *object, const pl_sparse *matrix, bool single, pl_watch *watch,
                                     pl_factor_report *report, pl_error *err)
{
    multifrontal *f = object;
    const size_t entries = (size_t)matrix->start[matrix->n];
    f->value = matrix->value;
    double largest = 0;
#pragma omp simd reduction(max : largest)
    for (size_t p = 0; p < entries; ++p) {
        const double size = fabs(matrix->value[p]);
        largest = size > largest ? size : largest;
    }

    f->largest = largest;
    if (f->largest == 0) {
        report->singular = true;
        report->perturbed_count = matrix->n;
        return PL_OK;
    }

    const int workers = multifrontal_workers(f, pl_threads_get());
    f->single = single;
    f->has_packed = false;
    f->watch = watch;
    if (single) {
        front_kernels_choose(true)->factor(f, workers);
        f->single = report->single = multifrontal_trusted(f);
    }

    if (!f->single && !(single && atomic_load(&f->ended))) {
        front_kernels_choose(false)->factor(f, workers);
    }
    f->value = NULL;
    f->watch = NULL;
    if (atomic_load(&f->ended)) {
        report->singular = true;
        return pl_fail(err, PL_INTERRUPTED, "solver: stopped during the factorisation");
    }

    multifrontal_report(f, report);
    if (f->refine) { // rare: its memory is not touched before
        memcpy(f->copy.start, matrix->start, ((size_t)matrix->n + 1) * sizeof *f->copy.start);
        memcpy(f->copy.row, matrix->row, entries * sizeof *f->copy.row);
        memcpy(f->copy.value, matrix->value, entries * sizeof *f->copy.value);
    }

    return PL_OK;
}

static void multifrontal_solve_for(void *object, double *b, int count)
{
    multifrontal *f = object;
    const int threads = pl_threads_get();
    front_kernels_choose(f->single)->solve(f, b, count,
                                           threads < f->worker_count ? threads : f->worker_count);
}

static bool multifrontal_pack(void *object)
{
    multifrontal *f = object;
    if (!f->has_packed && f->single && !f->refine) {
        front_kernels_choose(true)->pack(f);
        f->has_packed = true;
    }

    return f->has_packed;
}

static void multifrontal_solve_packed(void *object, double *b)
{
    multifrontal *f = object;
    const int threads = pl_threads_get();
    front_kernels_choose(true)->solve_packed(f, b, threads < f->worker_count ? threads : f->worker_count);
}

static size_t multifrontal_bytes(const void *object)
{
    const multifrontal *f = object;
    return (size_t)f->tree.panel[f->tree.count] * (f->single ? sizeof(float) : sizeof(double));
}

static double multifrontal_flops(const void *object)
{
    const multifrontal *f = object;
    return f->tree.flops;
}

const solver_kind solver_multifrontal = {.name = "multifrontal",
                                         .create = multifrontal_create,
                                         .destroy = multifrontal_destroy,
                                         .update = multifrontal_update,
                                         .solve = multifrontal_solve_for,
                                         .pack = multifrontal_pack,
                                         .solve_packed = multifrontal_solve_packed,
                                         .bytes = multifrontal_bytes,
                                         .flops = multifrontal_flops};
