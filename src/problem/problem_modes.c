// Modes of negative curvature. Where the tangent K is not positive on the null space of the constraints A,
// Newton's step leads to a saddle. The few eigenvectors v with negative eigenvalues are found by Lanczos'
// method on the factor at hand, S = [K A^T; A -c]^-1 restricted to displacements, S v = theta v with theta =
// 1 / lambda, and the factor is used with their eigenvalues made positive:
//   d = S b + sum over modes 2 |theta| v (v . b).
// The step then decreases the energy, along the modes too (a saddle-free Newton step).
#include "problem/problem_impl.h"

#define MODES_STEPS 48      // Lanczos vectors at most
#define MODES_RESIDUAL 0.05 // of |theta|: an eigenvector this good has its sign

typedef struct lanczos {
    double *basis;                                       // MODES_STEPS + 1 vectors
    double diagonal[MODES_STEPS], beta[MODES_STEPS + 1]; // of the tridiagonal matrix
    double value[MODES_STEPS], vector[MODES_STEPS * MODES_STEPS];
    int count;
} lanczos;

// Eigenvalues, ascending, and eigenvectors (columns) of the tridiagonal matrix of the first `count` vectors.
static void lanczos_eigen(lanczos *z)
{
    const int m = z->count;
    double T[MODES_STEPS * MODES_STEPS] = {0};

    for (int i = 0; i < m; ++i) {
        T[i * m + i] = z->diagonal[i];
        if (i + 1 < m) {
            T[i * m + i + 1] = T[(i + 1) * m + i] = z->beta[i + 1];
        }
    }

    pl_dense_eigen(m, T, z->value, z->vector);
}

// Negative eigenvalues whose eigenvectors are good enough.
static int lanczos_found(const lanczos *z)
{
    int found = 0;
    for (int k = 0; k < z->count && z->value[k] < 0; ++k) {
        const double residual = fabs(z->beta[z->count] * z->vector[(z->count - 1) * z->count + k]);
        found += residual < MODES_RESIDUAL * fabs(z->value[k]);
    }
    return found;
}

// Expands the basis until `negative` negative eigenvalues have their vectors; full orthogonalisation.
static bool lanczos_run(pl_problem *p, lanczos *z, int negative, double *w)
{
    const int32_t n = p->unknowns.n;
    double mu[PL_ROWS_MAX];

    pl_problem_draw(p, NULL, w);
    if (!pl_problem_solve_bordered(p, w, NULL, z->basis, mu)) { // soft modes come first
        return false;
    }

    double norm = sqrt(problem_dot(z->basis, z->basis, n));
    const int most = 8 + 3 * negative < MODES_STEPS ? 8 + 3 * negative : MODES_STEPS;
    for (int m = 0; m < most && norm > 0; ++m) {
        double *v = z->basis + (int64_t)m * n;
        for (int32_t i = 0; i < n; ++i) {
            v[i] /= norm;
        }
        if (!pl_problem_solve_bordered(p, v, NULL, w, mu)) {
            return false;
        }
        z->diagonal[m] = problem_dot(v, w, n);
        for (int twice = 0; twice < 2; ++twice) {
            for (int k = 0; k <= m; ++k) {
                const double *u = z->basis + (int64_t)k * n, h = problem_dot(u, w, n);
#pragma omp simd
                for (int32_t i = 0; i < n; ++i) {
                    w[i] -= h * u[i];
                }
            }
        }
        norm = sqrt(problem_dot(w, w, n));
        z->beta[m + 1] = norm;
        z->count = m + 1;
        if (m % 4 == 3 || m + 1 == most || !(norm > 0)) {
            lanczos_eigen(z);
            if (lanczos_found(z) >= negative) {
                return true;
            }
        }
        memcpy(v + n, w, (size_t)n * sizeof *w);
    }

    return false;
}

bool pl_problem_modes(pl_problem *p)
{
    pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n, pressures = p->elements->pressure_count;
    const int negative = l->has_factor ? pl_problem_unstable(p) : 0;

    l->mode_count = 0;
    if (negative < 1 || negative > PL_MODES_MOST) {
        return false;
    }
    if (!l->mode) {
        l->mode = PL_NEW_ARRAY(double, PL_MODES_MOST *(int64_t)n);
        l->mode_pressure = PL_NEW_ARRAY(double, PL_MODES_MOST *(int64_t)pressures);
    }

    lanczos *z = pl_alloc(sizeof *z);
    double *basis = PL_NEW_ARRAY(double, (MODES_STEPS + 1) * (int64_t)n);
    bool found = l->mode && l->mode_pressure && z && basis;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *w = pl_problem_take_unknown(p), mu[PL_ROWS_MAX];
    if (found) {
        *z = (lanczos){.basis = basis};
        found = lanczos_run(p, z, negative, w);
    }

    // most negative eigenvalue of the tangent first: lambda = 1 / theta
    for (int k = 0; found && k < negative; ++k) {
        const int from = negative - 1 - k;
        double *v = l->mode + (int64_t)k * n;
        memset(v, 0, (size_t)n * sizeof *v);
        for (int i = 0; i < z->count; ++i) {
            const double c = z->vector[i * z->count + from], *u = z->basis + (int64_t)i * n;
#pragma omp simd
            for (int32_t q = 0; q < n; ++q) {
                v[q] += c * u[q];
            }
        }
        pl_problem_solve_bordered(p, v, NULL, w, mu); // the pressures that go with it
        l->mode_theta[k] = problem_dot(v, w, n);
        for (int32_t q = 0; q < pressures; ++q) {
            l->mode_pressure[(int64_t)k * pressures + q] = l->pressure_step[q] / l->mode_theta[k];
        }
        found = l->mode_theta[k] < 0;
    }

    pl_log(1, "    %d of %d modes of negative curvature, %d Lanczos vectors", found ? negative : 0, negative,
           z ? z->count : 0);
    l->mode_count = found ? negative : 0;
    pl_arena_end(&p->scratch, mark);
    pl_free(basis);
    pl_free(z);

    return found;
}

void problem_modes_add(pl_problem *p, const double *b, double *d)
{
    pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n, pressures = p->elements->pressure_count;

    if (l->mode_count == 0) {
        return;
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *v = pl_problem_take_unknown(p);
    for (int k = 0; k < l->mode_count; ++k) {
        memcpy(v, l->mode + (int64_t)k * n, (size_t)n * sizeof *v);
        if (l->turned) {
            pl_problem_rotate(p, v, false);
        }
        const double gain = 2 * fabs(l->mode_theta[k]) * problem_dot(v, b, n);
#pragma omp simd
        for (int32_t i = 0; i < n; ++i) {
            d[i] += gain * v[i];
        }
        for (int32_t q = 0; q < pressures; ++q) {
            l->pressure_step[q] += gain * l->mode_pressure[(int64_t)k * pressures + q];
        }
    }

    pl_arena_end(&p->scratch, mark);
}
