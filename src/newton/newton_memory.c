// The preconditioner of a descent: the factor at hand, co-rotated with the body, corrected by the pairs of
// L-BFGS since it was made (Nocedal's two-loop recursion). They rotate with the factor.
#include <float.h>
#include "base/threads.h"
#include "newton/newton_impl.h"

#define MEMORY_CHUNK 8192 // entries of a vector, some 2 us; sums depend on it, not on the threads
#define MEMORY_CHUNKS 512 // most; longer vectors have longer chunks

typedef struct vector_loop {
    const double *a, *b;
    double *y, factor;
    int64_t n, chunk;
    double part[MEMORY_CHUNKS];
} vector_loop;

static void vector_dot(void *context, int64_t from, int64_t to)
{
    vector_loop *w = context;
    for (int64_t c = from; c < to; ++c) {
        const int64_t end = (c + 1) * w->chunk < w->n ? (c + 1) * w->chunk : w->n;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = c * w->chunk; i < end; ++i) {
            sum += w->a[i] * w->b[i];
        }
        w->part[c] = sum;
    }
}

static void vector_add(void *context, int64_t from, int64_t to)
{
    const vector_loop *w = context;
    const int64_t end = to * w->chunk < w->n ? to * w->chunk : w->n;
#pragma omp simd
    for (int64_t i = from * w->chunk; i < end; ++i) {
        w->y[i] += w->factor * w->a[i];
    }
}

static int64_t vector_chunks(vector_loop *w)
{
    w->chunk = MEMORY_CHUNK > w->n / MEMORY_CHUNKS + 1 ? MEMORY_CHUNK : w->n / MEMORY_CHUNKS + 1;
    return (w->n + w->chunk - 1) / w->chunk;
}

double pl_newton_dot(const double *a, const double *b, int64_t n)
{
    vector_loop w = {.a = a, .b = b, .n = n};
    const int64_t chunks = vector_chunks(&w);

    pl_loop(chunks, 1, vector_dot, &w);
    double sum = 0;
    for (int64_t c = 0; c < chunks; ++c) {
        sum += w.part[c];
    }

    return sum;
}

// y += factor a
static void add(double factor, const double *a, int32_t n, double *y)
{
    vector_loop w = {.a = a, .y = y, .factor = factor, .n = n};
    pl_loop(vector_chunks(&w), 1, vector_add, &w);
}

void pl_newton_forget(pl_newton_solver *N)
{
    N->memory.count = N->memory.first = 0;
    N->memory.version = N->problem->linear.version;
}

void pl_newton_check_pairs(pl_newton_solver *N)
{
    if (N->memory.version != N->problem->linear.version) {
        pl_newton_forget(N);
    }
}

static void memory_rotate(pl_newton_solver *N, bool transpose)
{
    for (int k = 0; k < N->memory.count; ++k) {
        const int at = (N->memory.first + k) % NEWTON_PAIRS;
        pl_problem_rotate(N->problem, N->memory.s[at], transpose);
        pl_problem_rotate(N->problem, N->memory.y[at], transpose);
    }
}

void pl_newton_turn(pl_newton_solver *N, const double *x)
{
    pl_newton_check_pairs(N);
    if (N->problem->linear.turned) {
        memory_rotate(N, true);
    }
    pl_problem_turn(N->problem, x);
    memory_rotate(N, false);
}

void pl_newton_add_pair(pl_newton_solver *N, const double *step, double scale, const double *r_new,
                        const double *r_old)
{
    int at = (N->memory.first + N->memory.count) % NEWTON_PAIRS;
    if (N->memory.count == NEWTON_PAIRS) {
        at = N->memory.first;
    }

    double *sk = N->memory.s[at], *yk = N->memory.y[at];
    for (int32_t i = 0; i < N->problem->unknowns.n; ++i) {
        sk[i] = scale * step[i];
        yk[i] = r_new[i] - r_old[i];
    }

    const double sy = pl_newton_dot(sk, yk, N->problem->unknowns.n),
                 yy = pl_newton_dot(yk, yk, N->problem->unknowns.n),
                 ss = pl_newton_dot(sk, sk, N->problem->unknowns.n);
    if (!(sy > DBL_EPSILON * sqrt(ss * yy))) {
        return;
    }
    N->memory.rho[at] = 1 / sy;
    if (N->memory.count == NEWTON_PAIRS) {
        N->memory.first = (N->memory.first + 1) % NEWTON_PAIRS;
    } else {
        N->memory.count++;
    }
}

// d = -H r by the two-loop recursion around the bordered solve, then tangential to the constraints up to the
// gaps.
void pl_newton_direction(pl_newton_solver *N, const double *r, const double *gap, double *d)
{
    double alpha[NEWTON_PAIRS];
    pl_newton_check_pairs(N);
    for (int32_t i = 0; i < N->problem->unknowns.n; ++i) {
        N->work.y[i] = -r[i];
    }

    for (int k = N->memory.count - 1; k >= 0; --k) {
        const int at = (N->memory.first + k) % NEWTON_PAIRS;
        alpha[at] = N->memory.rho[at] * pl_newton_dot(N->memory.s[at], N->work.y, N->problem->unknowns.n);
        add(-alpha[at], N->memory.y[at], N->problem->unknowns.n, N->work.y);
    }

    pl_problem_precondition(N->problem, N->work.y, gap, d, N->work.mu);
    for (int k = 0; k < N->memory.count; ++k) {
        const int at = (N->memory.first + k) % NEWTON_PAIRS;
        const double beta = N->memory.rho[at] * pl_newton_dot(N->memory.y[at], d, N->problem->unknowns.n);
        add(alpha[at] - beta, N->memory.s[at], N->problem->unknowns.n, d);
    }
}
