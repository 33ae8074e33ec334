// A factor in single precision only preconditions. What it knows least are the softest modes of a slender
// body: their stiffness is a small difference of large numbers. A few of them, W, are found with the factor
// and put right in each solve with it:
//   E = W^T K W,  H = (I - W E^-1 (K W)^T) P^-1 (I - K W E^-1 W^T) + W E^-1 W^T,
// symmetric, with H K W = W; it costs a few sums besides the solve P^-1.
#include "problem/problem_impl.h"

// Errors of P^-1 before it is put right, of a solution with random signs on the right side: beyond the first
// it does not serve. Below the second its inertia is that of K: a mode whose stiffness has another sign in P
// than in K has an error above 1, and it is soft in P, so that the solution is full of it. Below the third
// the energies of the modes are enough to tell; then its inertia is that of K too where K itself is positive
// on the modes (E, in double precision): a mode with a wrong sign in P is among the softest.
#define SINGLE_CORRECTION 1.5
#define SINGLE_CERTAIN 0.1
#define SINGLE_DOUBT 0.5

// Bulky bodies have no soft modes: after an error below this one, so many factors of positive tangents are
// accepted without a look (it costs as much as two solves).
#define SINGLE_SMALL 0.01
#define SINGLE_UNSEEN 3
#define SINGLE_DEPENDENT 1e-6 // eigenvalue of the scaled E below which the modes depend on each other

// A factor that has preconditioned so many steps serves further ones in 16 bits: that copy costs as much as
// two solves and each solve with it half of one. Beyond this error of a step's energy it does not serve.
#define PACKED_AFTER 3
#define PACKED_ERROR 0.3

void pl_problem_draw(const pl_problem *p, uint64_t *seed, double *b)
{
    uint64_t usual = 88172645463325252u, *draw = seed ? seed : &usual;
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        *draw ^= *draw << 13;
        *draw ^= *draw >> 7;
        *draw ^= *draw << 17;
        b[i] = *draw & 1 ? 1 : -1;
    }

    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        b[p->unknowns.pressure_dof[k]] = 0;
    }
}

// E^-1 by its eigenvalues, scaled by its diagonal first. Modes that depend on each other are not used.
// Returns the lowest scaled eigenvalue, 0: not known.
static double single_inverse(pl_problem *p)
{
    pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n;
    const int m = PROBLEM_SOFT;
    double E[PROBLEM_SOFT * PROBLEM_SOFT], scale[PROBLEM_SOFT], value[PROBLEM_SOFT],
        vector[PROBLEM_SOFT * PROBLEM_SOFT];

    for (int a = 0; a < m; ++a) {
        for (int c = 0; c <= a; ++c) {
            const double *w = l->soft + (int64_t)a * n, *f = l->soft_force + (int64_t)c * n;
            E[a * m + c] = E[c * m + a] = problem_dot(w, f, n);
        }
        scale[a] = 1 / sqrt(fabs(E[a * m + a]));
    }

    for (int a = 0; a < m * m; ++a) {
        E[a] *= scale[a / m] * scale[a % m];
        if (!isfinite(E[a])) {
            return 0;
        }
    }

    pl_dense_eigen(m, E, value, vector);
    memset(l->soft_inverse, 0, sizeof l->soft_inverse);
    for (int k = 0; k < m; ++k) {
        if (!(fabs(value[k]) > SINGLE_DEPENDENT)) {
            return 0;
        }
        for (int a = 0; a < m * m; ++a) {
            l->soft_inverse[a] +=
                scale[a / m] * vector[a / m * m + k] * vector[a % m * m + k] * scale[a % m] / value[k];
        }
    }

    l->soft_count = m;

    return value[0];
}

// The error of P^-1 as the energies of the modes see it, W = P^-1 B: |w . (b - K w)| / |w . K w|. For a
// single mode it is that of its stiffness.
static double single_energy_error(const pl_problem *p, const double *product)
{
    const pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n;
    double worst = 0;

    for (int k = 0; k < PROBLEM_SOFT; ++k) {
        const double energy = problem_dot(l->soft + (int64_t)k * n, l->soft_force + (int64_t)k * n, n),
                     error = fabs(product[k] - energy) / fabs(energy);
        worst = error <= worst ? worst : error; // not a number: no
    }

    return worst;
}

// The same where the solution is largest: another solve, P^-1 (b - K w).
static double single_error(pl_problem *p, double *b)
{
    pl_linear *l = &p->linear;
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        b[i] -= l->soft_force[i];
    }
    pl_factor_solve(l->factor, b, 1);
    return pl_problem_largest(p, b, false) / pl_problem_largest(p, l->soft, false);
}

void problem_single_look(pl_problem *p)
{
    p->linear.single_unseen = SINGLE_UNSEEN;
}

bool problem_single_serves(pl_problem *p)
{
    pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n;
    const bool positive = l->report.negative_count == p->elements->pressure_count;

    if (positive && l->single_error > 0 && l->single_error < SINGLE_SMALL &&
        l->single_unseen < SINGLE_UNSEEN) {
        l->single_unseen++;
        l->soft_count = 0;
        return true;
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *b = pl_problem_take_unknown(p), *drawn = l->soft_force, product[PROBLEM_SOFT];
    uint64_t draw = 88172645463325252u;
    l->soft_count = 0;
    for (int k = PROBLEM_SOFT - 1; k >= 0; --k) {
        pl_problem_draw(p, &draw, drawn + (int64_t)k * n);
    }
    memcpy(l->soft, drawn, PROBLEM_SOFT * (size_t)n * sizeof *drawn);
    memcpy(b, drawn, (size_t)n * sizeof *b);
    pl_factor_solve(l->factor, l->soft, PROBLEM_SOFT);
    for (int k = 0; k < PROBLEM_SOFT; ++k) {
        product[k] = problem_dot(l->soft + (int64_t)k * n, drawn + (int64_t)k * n, n);
    }
    pl_sparse_multiply_columns(&p->tangent.K, l->soft, l->soft_force, PROBLEM_SOFT);
    double error = single_energy_error(p, product);

    // modes of either sign may cancel in an energy
    if (!(error < SINGLE_DOUBT) || !positive) {
        error = single_error(p, b);
    }

    const double ritz = single_inverse(p);
    pl_arena_end(&p->scratch, mark);
    l->single_certain = error < SINGLE_CERTAIN || (positive && error < SINGLE_DOUBT && ritz > 0);
    l->single_error = error;
    l->single_unseen = 0;
    pl_log(2, "    single precision: error %.1e, %d soft modes", error, l->soft_count);

    return error < SINGLE_CORRECTION;
}

// t = E^-1 V^T b for the columns of V
static void single_project(const pl_problem *p, const double *V, const double *b, double *t)
{
    const int m = p->linear.soft_count;
    double s[PROBLEM_SOFT];

    for (int k = 0; k < m; ++k) {
        s[k] = problem_dot(V + (int64_t)k * p->unknowns.n, b, p->unknowns.n);
    }

    for (int k = 0; k < m; ++k) {
        t[k] = 0;
        for (int c = 0; c < m; ++c) {
            t[k] += p->linear.soft_inverse[k * m + c] * s[c];
        }
    }
}

static void single_add(const pl_problem *p, const double *V, const double *t, double sign, double *y)
{
    for (int k = 0; k < p->linear.soft_count; ++k) {
        const double *v = V + (int64_t)k * p->unknowns.n, factor = sign * t[k];
#pragma omp simd
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            y[i] += factor * v[i];
        }
    }
}

// `packed`: one column, with the factor in 16 bits
static void single_solve(pl_problem *p, double *b, int count, bool packed)
{
    const pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n;
    double exact[PL_ROWS_MAX][PROBLEM_SOFT], t[PROBLEM_SOFT];

    for (int c = 0; l->soft_count > 0 && c < count; ++c) {
        single_project(p, l->soft, b + (int64_t)c * n, exact[c]);
        single_add(p, l->soft_force, exact[c], -1, b + (int64_t)c * n);
    }

    if (packed) {
        pl_factor_solve_packed(l->factor, b);
    } else {
        pl_factor_solve(l->factor, b, count);
    }

    for (int c = 0; l->soft_count > 0 && c < count; ++c) {
        single_project(p, l->soft_force, b + (int64_t)c * n, t);
        single_add(p, l->soft, t, -1, b + (int64_t)c * n);
        single_add(p, l->soft, exact[c], 1, b + (int64_t)c * n);
    }
}

void problem_solve_columns(pl_problem *p, double *b, int count)
{
    single_solve(p, b, count, false);
}

// Makes the copy of the factor in 16 bits and looks at its solution of b against that of the factor itself:
// |b . (y16 - y)| / |b . y|, the error of the energy of the step y. b becomes y.
static bool single_pack(pl_problem *p, double *b)
{
    if (!pl_factor_pack(p->linear.factor)) {
        single_solve(p, b, 1, false);
        return false;
    }

    const int32_t n = p->unknowns.n;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *side = pl_problem_take_unknown(p), *y = pl_problem_take_unknown(p);
    memcpy(side, b, (size_t)n * sizeof *b);
    memcpy(y, b, (size_t)n * sizeof *b);
    single_solve(p, b, 1, false);
    single_solve(p, y, 1, true);
    const double energy = problem_dot(side, b, n),
                 error = fabs(problem_dot(side, y, n) - energy) / fabs(energy);
    pl_log(2, "    16 bits: error %.1e", error);
    pl_arena_end(&p->scratch, mark);

    return error < PACKED_ERROR; // not a number: no
}

void problem_precondition(pl_problem *p, double *b)
{
    pl_linear *l = &p->linear;
    if (l->served_version != l->version) {
        l->served_version = l->version;
        l->served = 0;
        l->packed = false;
    }

    if (l->served++ == PACKED_AFTER && l->report.single) {
        l->packed = single_pack(p, b);
        return;
    }

    single_solve(p, b, 1, l->packed);
}
