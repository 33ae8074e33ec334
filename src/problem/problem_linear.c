// The factored tangent, its few dense rows (constraints, gases), and its rotation with the body.
//
// With rows A and compliances c (0 for a constraint, 1/Phi'' for a curved potential) the system is
//   [K A^T; A -c][d; mu] = [b; rho],  d = y - Y mu,  (A Y + c) mu = A y - rho,  y = K^-1 b, Y = K^-1 A^T.
#include "statics/statics_impl.h"

static pl_factor_kind linear_kind(const pl_statics *s)
{
    switch (s->options.linear_solver) {
    case PL_SOLVER_CHOLMOD:
        return PL_FACTOR_CHOLESKY;
    case PL_SOLVER_MUMPS:
        return PL_FACTOR_INDEFINITE;
    default:
        return PL_FACTOR_MULTIFRONTAL;
    }
}

pl_status statics_linear_create(pl_statics *s, pl_error *err)
{
    const int32_t vertices = s->mesh.vertex_count;
    s->factor_kind = linear_kind(s);
    if (s->factor_kind == PL_FACTOR_CHOLESKY && s->elements->pressure_count > 0) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "solver.linear_solver: cholmod needs formulation: displacement (the locking-free tangent is "
            "indefinite); use multifrontal, mumps or auto");
    }
    int32_t *group = PL_NEW_ARRAY(int32_t, s->n);
    s->x_factor = PL_NEW_ARRAY(double, 3 * (int64_t)vertices);
    s->rotation = PL_NEW_ARRAY(double, 9 * (int64_t)vertices);
    s->border_row = PL_NEW_ARRAY(double, (int64_t)s->n * s->drive_count);
    s->border_plain = PL_NEW_ARRAY(double, (int64_t)s->n * s->drive_count);
    s->border_pressure = PL_NEW_ARRAY(double, (int64_t)s->elements->pressure_count * s->drive_count);
    s->pressure_step = PL_NEW_ARRAY(double, s->elements->pressure_count);
    s->pressure_ahead = PL_NEW_ARRAY(double, s->elements->pressure_count);
    s->border_solution = PL_NEW_ARRAY(double, (int64_t)s->n * s->drive_count);
    if (!group || !s->x_factor || !s->rotation || !s->pressure_step || !s->border_pressure ||
        !s->pressure_ahead || !s->border_row || !s->border_plain || !s->border_solution) {
        pl_free(group);
        return pl_fail_memory(err, "statics: factor");
    }
    for (int32_t i = 0; i < 3 * vertices; ++i) {
        if (s->dof[i] >= 0) {
            group[s->dof[i]] = i / 3;
        }
    }
    for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
        group[s->pressure_dof[p]] = s->elements->pressure_vertex[p];
    }
    for (int b = 0; b < s->rigid_count; ++b) {
        for (int k = 0; k < 6; ++k) {
            group[s->rigid[b].unknown + k] = vertices + b;
        }
    }
    const pl_status status =
        pl_factor_create(s->factor_kind, &s->K, group, vertices + s->rigid_count, &s->factor, err);
    pl_free(group);
    return status;
}

static double linear_dot(const double *a, const double *b, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

static bool linear_is_zero(const double *b, int32_t n)
{
    for (int32_t i = 0; i < n; ++i) {
        if (b[i] != 0) {
            return false;
        }
    }
    return true;
}

// S q' = q for a few rows of very different size: scaled by the diagonal first. False when they depend on
// each other.
static bool linear_small_solve(int m, double *S, double *q)
{
    double scale[STATICS_BORDERS];
    for (int a = 0; a < m; ++a) {
        scale[a] = S[a * m + a] != 0 ? 1 / sqrt(fabs(S[a * m + a])) : 1;
    }
    for (int a = 0; a < m; ++a) {
        q[a] *= scale[a];
        for (int c = 0; c < m; ++c) {
            S[a * m + c] *= scale[a] * scale[c];
        }
    }
    if (m > 0 && !pl_dense_solve(m, S, q, 1)) {
        return false;
    }
    for (int a = 0; a < m; ++a) {
        q[a] *= scale[a];
    }
    return true;
}

// y <- R y or R^T y, vertex by vertex
static void linear_rotate(const pl_statics *s, double *y, bool transpose)
{
    for (int32_t v = 0; v < s->mesh.vertex_count; ++v) {
        if (s->turns[v]) {
            double *u = y + s->dof[3 * v], t[3];
            (transpose ? pl_mulTv3 : pl_mulv3)(s->rotation + 9 * (int64_t)v, u, t);
            memcpy(u, t, sizeof t);
        }
    }
}

static void linear_clear_pressures(const pl_statics *s, double *y)
{
    for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
        s->pressure_step[p] = y[s->pressure_dof[p]];
        y[s->pressure_dof[p]] = 0;
    }
}

void statics_solve_plain(pl_statics *s, const double *b, double *y)
{
    if (y != b) {
        memcpy(y, b, (size_t)s->n * sizeof *y);
    }
    if (s->rotated) {
        linear_rotate(s, y, true);
    }
    pl_factor_solve(s->factor, y, 1);
    linear_clear_pressures(s, y);
    if (s->rotated) {
        linear_rotate(s, y, false);
    }
    s->solves++;
}

static double border_compliance(const drive *d)
{
    return d->mode == MODE_CONSTRAINT ? 0 : 1 / d->curvature;
}

static bool border_in_use(const drive *d)
{
    return d->mode == MODE_CONSTRAINT ? d->active : d->curvature != 0;
}

bool statics_solve_bordered(pl_statics *s, const double *b, const double *rho, double *d, double *mu)
{
    if (linear_is_zero(b, s->n)) {
        memset(d, 0, (size_t)s->n * sizeof *d); // only targets change
        memset(s->pressure_step, 0, (size_t)s->elements->pressure_count * sizeof *s->pressure_step);
    } else {
        statics_solve_plain(s, b, d);
    }
    int use[STATICS_BORDERS], m = 0;
    for (int k = 0; k < s->border_count; ++k) {
        mu[k] = 0;
        if (border_in_use(&s->drive[s->border[k]])) {
            use[m++] = k;
        }
    }
    double S[STATICS_BORDERS * STATICS_BORDERS], q[STATICS_BORDERS];
    for (int a = 0; a < m; ++a) {
        const drive *da = &s->drive[s->border[use[a]]];
        q[a] = linear_dot(da->row, d, s->n) - (rho ? rho[use[a]] : 0);
        for (int c = 0; c < m; ++c) {
            S[a * m + c] = linear_dot(da->row, s->border_solution + (int64_t)use[c] * s->n, s->n) +
                           (a == c ? border_compliance(da) : 0);
        }
    }
    if (!linear_small_solve(m, S, q)) {
        return false;
    }
    for (int a = 0; a < m; ++a) {
        const double *Y = s->border_solution + (int64_t)use[a] * s->n;
        mu[use[a]] = q[a];
        for (int32_t i = 0; i < s->n; ++i) {
            d[i] -= q[a] * Y[i];
        }
        const double *Yp = s->border_pressure + (int64_t)use[a] * s->elements->pressure_count;
        for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
            s->pressure_step[p] -= q[a] * Yp[p];
        }
    }
    return true;
}

static bool linear_has_row(const drive *d)
{
    return d->mode == MODE_CONSTRAINT || d->curvature != 0;
}

// Rows of constraints and gases at the factor's shape, and their solutions.
static void linear_borders(pl_statics *s)
{
    s->border_count = 0;
    for (int i = 0; i < s->drive_count; ++i) {
        const drive *d = &s->drive[i];
        if (linear_has_row(d)) {
            const int64_t at = (int64_t)s->border_count * s->n;
            memcpy(s->border_row + at, d->row, (size_t)s->n * sizeof *d->row);
            memcpy(s->border_plain + at, d->row, (size_t)s->n * sizeof *d->row);
            s->border[s->border_count++] = i;
        }
    }
    if (s->border_count > 0) {
        pl_factor_solve(s->factor, s->border_plain, s->border_count);
        s->solves += s->border_count;
        for (int k = 0; k < s->border_count; ++k) {
            linear_clear_pressures(s, s->border_plain + (int64_t)k * s->n);
            memcpy(s->border_pressure + (int64_t)k * s->elements->pressure_count, s->pressure_step,
                   (size_t)s->elements->pressure_count * sizeof(double));
        }
        memcpy(s->border_solution, s->border_plain, (size_t)s->n * (size_t)s->border_count * sizeof(double));
    }
}

// Inertia of the whole: the negative pivots of [K A^T; A -c] beyond those that pressures, constraints and
// positive compliances bring by themselves. neg(K) + neg(-(c + A K^-1 A^T)).
int statics_unstable(pl_statics *s)
{
    int use[STATICS_BORDERS], m = 0, expected = s->elements->pressure_count;
    for (int k = 0; k < s->border_count; ++k) {
        const drive *d = &s->drive[s->border[k]];
        if (border_in_use(d)) {
            use[m++] = k;
            expected += border_compliance(d) >= 0;
        }
    }
    double S[STATICS_BORDERS * STATICS_BORDERS], value[STATICS_BORDERS];
    for (int a = 0; a < m; ++a) {
        for (int c = 0; c < m; ++c) {
            const double *row = s->border_row + (int64_t)use[a] * s->n;
            S[a * m + c] = linear_dot(row, s->border_plain + (int64_t)use[c] * s->n, s->n) +
                           (a == c ? border_compliance(&s->drive[s->border[use[a]]]) : 0);
        }
    }
    for (int a = 0; a < m; ++a) {
        for (int c = 0; c < a; ++c) {
            S[a * m + c] = S[c * m + a] = 0.5 * (S[a * m + c] + S[c * m + a]);
        }
    }
    int negative = s->factor_report.negative_count;
    if (m > 0) {
        pl_dense_eigen(m, S, value, NULL);
        for (int a = 0; a < m; ++a) {
            negative += value[a] > 0;
        }
    }
    return negative - expected;
}

static pl_status linear_factor_once(pl_statics *s, const double *x, double blend, pl_error *err)
{
    const double start = pl_seconds();
    statics_assemble(s, x, blend);
    const pl_status status = pl_factor_update(s->factor, &s->K, &s->factor_report, err);
    s->factorizations++;
    pl_log(2, "    factor: %.0f ms, blend %.0f", 1e3 * (pl_seconds() - start), blend);
    s->blend = blend;
    s->rotated = s->exact_factor = false;
    s->has_factor = status == PL_OK && !s->factor_report.singular;
    if (s->has_factor) {
        memcpy(s->x_factor, x, 3 * (size_t)s->mesh.vertex_count * sizeof *x);
        linear_borders(s);
    }
    return status;
}

pl_status statics_refactor(pl_statics *s, const double *x, double blend, bool exact, const double *pressure,
                           pl_error *err)
{
    statics_evaluate(s, x, s->work); // pressures and rows at x
    if (s->has_factor && s->border_count > 0) {
        statics_residual(s, s->work, s->y); // multipliers for the second derivatives of constraints
    }
    if (pressure) {
        memcpy(s->elements->pressure, pressure, (size_t)s->elements->pressure_count * sizeof *pressure);
    }
    pl_status status = linear_factor_once(s, x, blend, err);
    if (status == PL_OK && blend < 1 && (!s->has_factor || (!exact && statics_unstable(s) > 0))) {
        pl_log(2, "    tangent not positive (%d negative): positive part instead",
               s->has_factor ? statics_unstable(s) : -1);
        status = linear_factor_once(s, x, 1, err);
    }
    if (status == PL_OK && !s->has_factor) {
        return pl_fail(err, PL_FAILED, "statics: the tangent is singular: is some part not held?");
    }
    return status;
}

pl_status statics_factor_exact(pl_statics *s, const double *x, pl_error *err)
{
    const pl_status status = linear_factor_once(s, x, 0, err);
    if (status == PL_OK && !s->has_factor) {
        return pl_fail(err, PL_FAILED, "statics: the tangent at the solution is singular");
    }
    s->exact_factor = status == PL_OK;
    s->exact_load = s->load;
    for (int i = 0; i < s->drive_count; ++i) {
        s->drive[i].exact_effort = s->drive[i].effort;
        s->drive[i].exact_row = linear_has_row(&s->drive[i]);
    }
    return status;
}

bool statics_is_exact(const pl_statics *s, const double *x)
{
    bool same = s->has_factor && s->exact_factor && s->blend == 0 && s->exact_load == s->load &&
                memcmp(s->x_factor, x, 3 * (size_t)s->mesh.vertex_count * sizeof *x) == 0;
    for (int i = 0; same && i < s->drive_count; ++i) {
        const drive *d = &s->drive[i];
        same = d->exact_effort == d->effort && d->exact_row == linear_has_row(d);
    }
    return same;
}

void statics_unturn(pl_statics *s)
{
    s->rotated = false;
    memcpy(s->border_solution, s->border_plain, (size_t)s->n * (size_t)s->border_count * sizeof(double));
}

// The rotation of each vertex since the factor: that of sum_e vol F_e F_e(factor)^-1 over its elements.
void statics_turn(pl_statics *s, const double *x)
{
    const int32_t vertices = s->mesh.vertex_count;
    memset(s->rotation, 0, 9 * (size_t)vertices * sizeof *s->rotation);
    for (int b = 0; b < s->elements->block_count; ++b) {
        const pl_block *block = &s->elements->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            double F[9], F0[9], C[9], G[9] = {0};
            const int q = 0;
            pl_block_gradient(block, l, q, x, F);
            pl_block_gradient(block, l, q, s->x_factor, F0);
            // F F0^-1 = F cof(F0)^T / det F0
            pl_cofactor3(F0, C);
            const double w = block->weight[q * PL_LANES + l] / pl_dot3(F0, C);
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    G[3 * i + j] =
                        w * (F[3 * i] * C[3 * j] + F[3 * i + 1] * C[3 * j + 1] + F[3 * i + 2] * C[3 * j + 2]);
                }
            }
            for (int a = 0; a < block->node_count; ++a) {
                double *R = s->rotation + 9 * (int64_t)block->node[a][l];
                for (int i = 0; i < 9; ++i) {
                    R[i] += G[i];
                }
            }
        }
    }
#pragma omp parallel for schedule(static) num_threads(pl_threads_get())
    for (int32_t v = 0; v < vertices; ++v) {
        double R[9], *slot = s->rotation + 9 * (int64_t)v;
        const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        if (pl_det3(slot) > 0) {
            pl_polar3(slot, R);
        }
        memcpy(slot, pl_det3(slot) > 0 ? R : identity, sizeof R);
    }
    // the solutions of the dense rows turn along
    s->rotated = true;
    memcpy(s->border_solution, s->border_plain, (size_t)s->n * (size_t)s->border_count * sizeof(double));
    for (int k = 0; k < s->border_count; ++k) {
        linear_rotate(s, s->border_solution + (int64_t)k * s->n, false);
    }
}

// x <- x + Y (A Y)^-1 (target - h(x)) until the targets are met, with rows A of the present x
bool statics_restore(pl_statics *s, double *x, double tolerance)
{
    int use[STATICS_BORDERS], m = 0;
    for (int k = 0; k < s->border_count; ++k) {
        const drive *d = &s->drive[s->border[k]];
        if (d->mode == MODE_CONSTRAINT && d->active) {
            use[m++] = k;
        }
    }
    if (m == 0) {
        return true;
    }
    double least = INFINITY;
    for (int pass = 0; pass < 12; ++pass) {
        double S[STATICS_BORDERS * STATICS_BORDERS], q[STATICS_BORDERS], largest = 0;
        for (int a = 0; a < m; ++a) {
            drive *d = &s->drive[s->border[use[a]]];
            const double rest = s->robot->actuator[s->border[use[a]]].rest;
            d->measure = pl_functional_value(&d->h, x);
            memset(s->g_trial, 0, 3 * (size_t)s->mesh.vertex_count * sizeof *s->g_trial);
            pl_functional_gradient(&d->h, x, 1, s->g_trial);
            statics_gather(s, s->g_trial, x, d->row);
            q[a] = d->value - d->measure;
            if (!isfinite(q[a])) {
                return false;
            }
            largest = fmax(largest, fabs(q[a]) / rest);
            for (int c = 0; c < m; ++c) {
                S[a * m + c] = linear_dot(d->row, s->border_solution + (int64_t)use[c] * s->n, s->n);
            }
        }
        if (largest <= tolerance) {
            return true;
        }
        if (!isfinite(largest) || largest > 10 * least) {
            return false;
        }
        least = fmin(least, largest);
        if (!pl_dense_solve(m, S, q, 1)) {
            return false;
        }
        memset(s->work, 0, (size_t)s->n * sizeof *s->work);
        for (int a = 0; a < m; ++a) {
            const double *Y = s->border_solution + (int64_t)use[a] * s->n;
            for (int32_t i = 0; i < s->n; ++i) {
                s->work[i] += q[a] * Y[i];
            }
        }
        statics_move(s, x, s->work, 1, x);
    }
    return false;
}
