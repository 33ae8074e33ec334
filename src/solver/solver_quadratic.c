// A small convex quadratic problem with bounds, solved exactly by a primal active set method:
//   min 1/2 p.H p + g.p,  low <= p <= high,  a_i . p <= b_i,  H positive definite, p = 0 allowed.
// Constraint k < n is p_k <= high_k, n <= k < 2n is -p <= -low, the rest are the rows.
#include <math.h>
#include <string.h>
#include "solver/solver.h"

struct pl_quadratic {
    int n, rows;
    double *L;                       // Cholesky factor of H, lower
    double *gradient, *step, *image; // n
    double *Y;                       // H^-1 A_W^T, one row of n per working constraint
    double *schur, *multiplier;
    int *working, working_count;
    bool *in; // per constraint
};

pl_quadratic *pl_quadratic_create(int n, int rows)
{
    pl_quadratic *q = PL_NEW(pl_quadratic);
    if (!q) {
        return NULL;
    }
    q->n = n;
    q->rows = rows;
    q->L = PL_NEW_ARRAY(double, n *n);
    q->gradient = PL_NEW_ARRAY(double, n);
    q->step = PL_NEW_ARRAY(double, n);
    q->image = PL_NEW_ARRAY(double, n);
    q->Y = PL_NEW_ARRAY(double, n *n);
    q->schur = PL_NEW_ARRAY(double, n *n);
    q->multiplier = PL_NEW_ARRAY(double, n);
    q->working = PL_NEW_ARRAY(int, n);
    q->in = PL_NEW_ARRAY(bool, 2 * n + rows);
    if (!q->L || !q->gradient || !q->step || !q->image || !q->Y || !q->schur || !q->multiplier ||
        !q->working || !q->in) {
        pl_quadratic_destroy(q);
        return NULL;
    }

    return q;
}

void pl_quadratic_destroy(pl_quadratic *q)
{
    if (q) {
        pl_free(q->L);
        pl_free(q->gradient);
        pl_free(q->step);
        pl_free(q->image);
        pl_free(q->Y);
        pl_free(q->schur);
        pl_free(q->multiplier);
        pl_free(q->working);
        pl_free(q->in);
        pl_free(q);
    }
}

// normal of constraint k times v
static double constraint_dot(const pl_quadratic_problem *problem, int k, const double *v)
{
    const int n = problem->n;
    if (k < 2 * n) {
        return k < n ? v[k] : -v[k - n];
    }

    double sum = 0;
    for (int j = 0; j < n; ++j) {
        sum += problem->a[(k - 2 * n) * n + j] * v[j];
    }

    return sum;
}

static double constraint_limit(const pl_quadratic_problem *problem, int k)
{
    const int n = problem->n;
    return k < n ? problem->high[k] : k < 2 * n ? -problem->low[k - n] : problem->b[k - 2 * n];
}

// out += factor * normal of k
static void constraint_add(const pl_quadratic_problem *problem, int k, double factor, double *out)
{
    const int n = problem->n;
    if (k < 2 * n) {
        out[k % n] += k < n ? factor : -factor;
        return;
    }

    for (int j = 0; j < n; ++j) {
        out[j] += factor * problem->a[(k - 2 * n) * n + j];
    }
}

static void multiply(int n, const double *A, const double *v, double *out)
{
    for (int i = 0; i < n; ++i) {
        out[i] = 0;
        for (int j = 0; j < n; ++j) {
            out[i] += A[i * n + j] * v[j];
        }
    }
}

// H = L L^T; an inverse would lose what H says about its weak directions.
static bool quadratic_factor(pl_quadratic *q, const double *H)
{
    const int n = q->n;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = H[i * n + j];
            for (int k = 0; k < j; ++k) {
                sum -= q->L[i * n + k] * q->L[j * n + k];
            }
            if (i == j && !(sum > 0)) {
                return false;
            }
            q->L[i * n + j] = i == j ? sqrt(sum) : sum / q->L[j * n + j];
        }
    }

    return true;
}

static void quadratic_apply(const pl_quadratic *q, const double *b, double *x)
{
    const int n = q->n;
    for (int i = 0; i < n; ++i) {
        x[i] = b[i];
        for (int k = 0; k < i; ++k) {
            x[i] -= q->L[i * n + k] * x[k];
        }
        x[i] /= q->L[i * n + i];
    }

    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            x[i] -= q->L[k * n + i] * x[k];
        }
        x[i] /= q->L[i * n + i];
    }
}

// The step to the minimum on the working constraints and their multipliers:
//   S lambda = -A H^-1 grad,  S = A H^-1 A^T,  step = -H^-1 (grad + A^T lambda)
static bool quadratic_step(pl_quadratic *q, const pl_quadratic_problem *problem)
{
    const int n = q->n, w = q->working_count;
    quadratic_apply(q, q->gradient, q->image);
    for (int a = 0; a < w; ++a) {
        memset(q->step, 0, (size_t)n * sizeof *q->step);
        constraint_add(problem, q->working[a], 1, q->step);
        quadratic_apply(q, q->step, q->Y + a * n);
        q->multiplier[a] = -constraint_dot(problem, q->working[a], q->image);
    }

    for (int a = 0; a < w; ++a) {
        for (int b = 0; b < w; ++b) {
            q->schur[a * w + b] = constraint_dot(problem, q->working[a], q->Y + b * n);
        }
    }

    if (w > 0 && !pl_dense_solve(w, q->schur, q->multiplier, 1)) {
        return false;
    }

    for (int j = 0; j < n; ++j) {
        q->step[j] = -q->image[j];
        for (int a = 0; a < w; ++a) {
            q->step[j] -= q->multiplier[a] * q->Y[a * n + j];
        }
    }

    return true;
}

// Takes the constraint with the most negative multiplier out; false when none is negative.
static bool quadratic_drop(pl_quadratic *q, double tolerance)
{
    int worst = -1;
    for (int a = 0; a < q->working_count; ++a) {
        if (q->multiplier[a] < -tolerance && (worst < 0 || q->multiplier[a] < q->multiplier[worst])) {
            worst = a;
        }
    }

    if (worst < 0) {
        return false;
    }
    q->in[q->working[worst]] = false;
    for (int a = worst; a + 1 < q->working_count; ++a) {
        q->working[a] = q->working[a + 1];
        q->multiplier[a] = q->multiplier[a + 1];
    }

    --q->working_count;

    return true;
}

static int quadratic_blocking(const pl_quadratic *q, const pl_quadratic_problem *problem, double *length)
{
    int blocking = -1;
    *length = 1;
    for (int k = 0; k < 2 * q->n + problem->rows; ++k) {
        const double along = q->in[k] ? 0 : constraint_dot(problem, k, q->step);
        if (!(along > 1e-14)) {
            continue;
        }
        const double room = constraint_limit(problem, k) - constraint_dot(problem, k, problem->p);
        const double reach = fmax(room, 0) / along;
        if (reach < *length) {
            *length = reach;
            blocking = k;
        }
    }

    return blocking;
}

bool pl_quadratic_solve(pl_quadratic *q, const pl_quadratic_problem *problem)
{
    const int n = problem->n, limit = 50 + 20 * (n + problem->rows);
    PL_ASSERT(n == q->n && problem->rows <= q->rows);
    double scale = 0;
    memset(problem->p, 0, (size_t)n * sizeof *problem->p);
    memset(problem->box, 0, (size_t)n * sizeof *problem->box);
    memset(q->in, 0, (size_t)(2 * n + q->rows) * sizeof *q->in);
    q->working_count = 0;
    for (int i = 0; i < problem->rows; ++i) {
        problem->multiplier[i] = 0;
    }
    for (int j = 0; j < n; ++j) {
        scale = fmax(scale, fabs(problem->g[j]));
    }

    bool done = false, solvable = quadratic_factor(q, problem->H);
    for (int pass = 0; solvable && !done && pass < limit; ++pass) {
        multiply(n, problem->H, problem->p, q->gradient);
        for (int j = 0; j < n; ++j) {
            q->gradient[j] += problem->g[j];
        }
        solvable = quadratic_step(q, problem);
        double largest = 0, length;
        for (int j = 0; j < n; ++j) {
            largest = fmax(largest, fabs(q->step[j]));
        }
        if (largest <= 1e-14) {
            done = !quadratic_drop(q, 1e-13 * scale);
            continue;
        }

        const int blocking = quadratic_blocking(q, problem, &length);
        for (int j = 0; j < n; ++j) {
            problem->p[j] += length * q->step[j];
        }
        if (blocking >= 0 && q->working_count < n) {
            q->working[q->working_count++] = blocking;
            q->in[blocking] = true;
        } else if (blocking < 0) {
            done = !quadratic_drop(q, 1e-13 * scale);
        }
    }

    for (int j = 0; j < n; ++j) {
        problem->p[j] = fmin(fmax(problem->p[j], problem->low[j]), problem->high[j]);
    }

    for (int a = 0; done && a < q->working_count; ++a) {
        const int k = q->working[a];
        if (k < 2 * n) {
            problem->box[k % n] += k < n ? q->multiplier[a] : -q->multiplier[a];
        } else {
            problem->multiplier[k - 2 * n] = q->multiplier[a];
        }
    }

    return solvable;
}
