// Solving with the multifrontal factor: forward up the tree, D, backward down the tree. What a front passes
// on to its ancestors travels from child to parent as the update matrices did, so sums have a fixed order for
// any number of threads.
#include <cblas.h>
#include "solver/solver_front.h"

typedef struct substitution {
    multifrontal *f;
    int sides;
} substitution;

static void substitute_lower(const front_real *L, int lda, int k, CBLAS_TRANSPOSE way, front_real *x, int ldx,
                             int sides)
{
    if (sides == 1) {
        FRONT_BLAS(trsv)(CblasColMajor, CblasLower, way, CblasNonUnit, k, L, lda, x, 1);
    } else {
        FRONT_BLAS(trsm)
        (CblasColMajor, CblasLeft, CblasLower, way, CblasNonUnit, k, sides, 1, L, lda, x, ldx);
    }
}

// y -= op(L) x
static void substitute_product(const front_real *L, int lda, int m, int k, CBLAS_TRANSPOSE way,
                               const front_real *x, int ldx, front_real *y, int ldy, int sides)
{
    if (sides == 1) {
        FRONT_BLAS(gemv)(CblasColMajor, way, m, k, -1, L, lda, x, 1, 1, y, 1);
    } else if (way == CblasNoTrans) {
        FRONT_BLAS(gemm)(CblasColMajor, way, CblasNoTrans, m, sides, k, -1, L, lda, x, ldx, 1, y, ldy);
    } else {
        FRONT_BLAS(gemm)(CblasColMajor, way, CblasNoTrans, k, sides, m, -1, L, lda, x, ldx, 1, y, ldy);
    }
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

// [x1; w] gathers the children's parts; then x1 <- L11^-1 x1, w <- w - L21 x1, x1 <- D^-1 x1.
static void substitute_forward(const substitution *u, int32_t s)
{
    multifrontal *f = u->f;
    const front_tree *t = &f->tree;
    const int32_t first = t->first[s], k = front_pivots(t, s), m = front_rows_below(t, s);
    const int n = t->n, sides = u->sides;
    front_real *x = (front_real *)f->x + first, *w = (front_real *)f->arena + t->row_start[s] * sides;
    memset(w, 0, (size_t)m * (size_t)sides * sizeof *w);
    for (int32_t c = t->child_start[s]; c < t->child_start[s + 1]; ++c) {
        const int32_t child = t->child[c], rows = front_rows_below(t, child);
        const int32_t *relative = t->relative + t->row_start[child];
        int32_t split = 0;
        while (split < rows && relative[split] < k) {
            ++split;
        }
        for (int side = 0; side < sides; ++side) {
            const front_real *from =
                (const front_real *)f->arena + t->row_start[child] * sides + (int64_t)side * rows;
            front_real *pivots = x + (int64_t)side * n, *below = w + (int64_t)side * m - k;
            for (int32_t i = 0; i < split; ++i) {
                pivots[relative[i]] += from[i];
            }
            for (int32_t i = split; i < rows; ++i) {
                below[relative[i]] += from[i];
            }
        }
    }
    const front_real *L = (const front_real *)f->factor + t->panel[s];
    for (int side = 0; f->note[s].pivoted && side < sides; ++side) {
        substitute_swaps(f->swaps + first, k, x + (int64_t)side * n);
    }
    substitute_lower(L, k + m, k, CblasNoTrans, x, n, sides);
    if (m > 0) {
        substitute_product(L + k, k + m, m, k, CblasNoTrans, x, n, w, m, sides);
    }
    for (int side = 0; side < sides; ++side) {
        substitute_diagonal(f->d + first, f->e + first, k, x + (int64_t)side * n);
    }
}

// x1 <- L11^-T (x1 - L21^T x2)
static void substitute_backward(const substitution *u, int32_t s)
{
    multifrontal *f = u->f;
    const front_tree *t = &f->tree;
    const int32_t first = t->first[s], k = front_pivots(t, s), m = front_rows_below(t, s);
    const int32_t *row = t->row + t->row_start[s];
    const int n = t->n, sides = u->sides;
    front_real *x = (front_real *)f->x + first, *w = (front_real *)f->arena + t->row_start[s] * sides;
    for (int side = 0; side < sides; ++side) {
        const front_real *from = (const front_real *)f->x + (int64_t)side * n;
        for (int32_t i = 0; i < m; ++i) {
            w[(int64_t)side * m + i] = from[row[i]];
        }
    }
    const front_real *L = (const front_real *)f->factor + t->panel[s];
    if (m > 0) {
        substitute_product(L + k, k + m, m, k, CblasTrans, w, m, x, n, sides);
    }
    substitute_lower(L, k + m, k, CblasTrans, x, n, sides);
    for (int side = 0; f->note[s].pivoted && side < sides; ++side) {
        substitute_swaps_back(f->swaps + first, k, x + (int64_t)side * n);
    }
}

static bool substitute_is_branch(const front_tree *t, int32_t s)
{
    return t->low[s] >= 0 && t->low[s] <= s;
}

static void substitute_up(void *context, int32_t s, int32_t part, int worker)
{
    const substitution *u = context;
    const front_tree *t = &u->f->tree;
    (void)part;
    (void)worker;
    for (int32_t i = substitute_is_branch(t, s) ? t->low[s] : s; i <= s; ++i) {
        substitute_forward(u, i);
    }
    // whoever finishes the last child goes on with the parent
    for (s = t->parent[s]; s >= 0 && atomic_fetch_sub(&u->f->note[s].waiting, 1) == 1; s = t->parent[s]) {
        substitute_forward(u, s);
    }
}

static void substitute_down(void *context, int32_t s, int32_t part, int worker)
{
    const substitution *u = context;
    const front_tree *t = &u->f->tree;
    (void)part;
    (void)worker;
    if (substitute_is_branch(t, s)) {
        for (int32_t i = s; i >= t->low[s]; --i) {
            substitute_backward(u, i);
        }
        return;
    }
    substitute_backward(u, s);
    for (int32_t c = t->child_start[s]; c < t->child_start[s + 1]; ++c) {
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
    pl_tasks_run(&u->f->tasks, threads, substitute_up, u);
    for (int32_t s = 0; s < t->count; ++s) {
        if (t->parent[s] < 0) {
            pl_tasks_add(&u->f->tasks, s, 1);
        }
    }
    pl_tasks_run(&u->f->tasks, threads, substitute_down, u);
}

static void substitute_serial(const substitution *u)
{
    const int32_t count = u->f->tree.count;
    for (int32_t s = 0; s < count; ++s) {
        substitute_forward(u, s);
    }
    for (int32_t s = count - 1; s >= 0; --s) {
        substitute_backward(u, s);
    }
}

static void substitute_block(multifrontal *f, double *b, int sides, int threads)
{
    const int32_t n = f->tree.n;
    substitution u = {.f = f, .sides = sides};
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

void FRONT_NAME(multifrontal_solve)(multifrontal *f, double *b, int count, int threads)
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
