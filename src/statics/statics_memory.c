// The preconditioner of a descent: the factor at hand, co-rotated with the body, corrected by the pairs of
// L-BFGS since it was made (Nocedal's two-loop recursion). They rotate with the factor.
#include "base/threads.h"
#include "statics/statics_impl.h"

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

double statics_dot(const double *a, const double *b, int32_t n)
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

void statics_forget(pl_statics *s)
{
    s->memory.count = s->memory.first = 0;
    s->memory.version = s->problem->linear.version;
}

void statics_memory_check(pl_statics *s)
{
    if (s->memory.version != s->problem->linear.version) {
        statics_forget(s);
    }
}

static void memory_rotate(pl_statics *s, bool transpose)
{
    for (int k = 0; k < s->memory.count; ++k) {
        const int at = (s->memory.first + k) % STATICS_MEMORY;
        pl_problem_rotate(s->problem, s->memory.s[at], transpose);
        pl_problem_rotate(s->problem, s->memory.y[at], transpose);
    }
}

void statics_turn(pl_statics *s, const double *x)
{
    statics_memory_check(s);
    if (s->problem->linear.turned) {
        memory_rotate(s, true);
    }
    pl_problem_turn(s->problem, x);
    memory_rotate(s, false);
}

void statics_memory_add(pl_statics *s, const double *step, double scale, const double *r_new,
                        const double *r_old)
{
    int at = (s->memory.first + s->memory.count) % STATICS_MEMORY;
    if (s->memory.count == STATICS_MEMORY) {
        at = s->memory.first;
    }
    double *sk = s->memory.s[at], *yk = s->memory.y[at];
    for (int32_t i = 0; i < s->problem->unknowns.n; ++i) {
        sk[i] = scale * step[i];
        yk[i] = r_new[i] - r_old[i];
    }
    const double sy = statics_dot(sk, yk, s->problem->unknowns.n),
                 yy = statics_dot(yk, yk, s->problem->unknowns.n),
                 ss = statics_dot(sk, sk, s->problem->unknowns.n);
    if (!(sy > TUNE_CURVATURE * sqrt(ss * yy))) {
        return;
    }
    s->memory.rho[at] = 1 / sy;
    if (s->memory.count == STATICS_MEMORY) {
        s->memory.first = (s->memory.first + 1) % STATICS_MEMORY;
    } else {
        s->memory.count++;
    }
}

// d = -H r by the two-loop recursion around the bordered solve, then tangential to the constraints up to the
// gaps.
void statics_direction(pl_statics *s, const double *r, const double *gap, double *d)
{
    double alpha[STATICS_MEMORY];
    statics_memory_check(s);
    for (int32_t i = 0; i < s->problem->unknowns.n; ++i) {
        s->work.y[i] = -r[i];
    }
    for (int k = s->memory.count - 1; k >= 0; --k) {
        const int at = (s->memory.first + k) % STATICS_MEMORY;
        alpha[at] = s->memory.rho[at] * statics_dot(s->memory.s[at], s->work.y, s->problem->unknowns.n);
        add(-alpha[at], s->memory.y[at], s->problem->unknowns.n, s->work.y);
    }
    pl_problem_solve_bordered(s->problem, s->work.y, gap, d, s->work.mu);
    for (int k = 0; k < s->memory.count; ++k) {
        const int at = (s->memory.first + k) % STATICS_MEMORY;
        const double beta = s->memory.rho[at] * statics_dot(s->memory.y[at], d, s->problem->unknowns.n);
        add(alpha[at] - beta, s->memory.s[at], s->problem->unknowns.n, d);
    }
}
