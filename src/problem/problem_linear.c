// The factored tangent and its few dense rows: constraints, and potentials with a rank-one curvature.
//
// With rows A and compliances c (0 for a constraint, 1/Phi'' for a curved potential) the system is
//   [K A^T; A -c][d; mu] = [b; rho],  d = y - Y mu,  (A Y + c) mu = A y - rho,  y = K^-1 b, Y = K^-1 A^T.
#include "problem/problem_impl.h"

#define SPARE_MOST ((size_t)512 << 20) // bytes: larger factors have no second one beside them
#define RESTORE_PASSES 12 // Newton steps back onto the constraints; they converge quadratically or not at all

static pl_factor_kind linear_kind(pl_linear_solver solver)
{
    switch (solver) {
    case PL_SOLVER_CHOLMOD:
        return PL_FACTOR_CHOLESKY;
    case PL_SOLVER_MUMPS:
        return PL_FACTOR_INDEFINITE;
    case PL_SOLVER_MUMPS_MPI:
        return PL_FACTOR_MPI;
    default:
        return PL_FACTOR_MULTIFRONTAL;
    }
}

// The node each unknown is ordered with: its vertex, or its rigid body.
static void linear_groups(const pl_problem *p, int32_t *group)
{
    const pl_unknowns *u = &p->unknowns;
    for (int32_t i = 0; i < 3 * p->mesh.vertex_count; ++i) {
        if (u->dof[i] >= 0) {
            group[u->dof[i]] = i / 3;
        }
    }

    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        group[u->pressure_dof[k]] = p->elements->pressure_vertex[k];
    }

    for (int b = 0; b < u->rigid_count; ++b) {
        for (int k = 0; k < 6; ++k) {
            group[u->rigid[b].unknown + k] = p->mesh.vertex_count + b;
        }
    }
}

pl_status pl_problem_linear_create(pl_problem *p, pl_error *err)
{
    pl_linear *l = &p->linear;
    const int32_t vertices = p->mesh.vertex_count, pressures = p->elements->pressure_count;
    const int64_t n = p->unknowns.n, rows = p->row_count;

    l->kind = linear_kind(p->options.linear_solver);
    if (l->kind == PL_FACTOR_CHOLESKY && pressures > 0) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "solver.linear_solver: cholmod needs formulation: displacement (the locking-free tangent is "
            "indefinite); use multifrontal, mumps or auto");
    }

    int32_t *group = PL_NEW_ARRAY(int32_t, n);
    l->x = PL_NEW_ARRAY(double, 3 * (int64_t)vertices);
    l->rotation = PL_NEW_ARRAY(double, 9 * (int64_t)vertices);
    l->row = PL_NEW_ARRAY(double, n *rows);
    l->plain = PL_NEW_ARRAY(double, n *rows);
    l->solution = PL_NEW_ARRAY(double, n *rows);
    l->pressure = PL_NEW_ARRAY(double, pressures *rows);
    l->pressure_step = PL_NEW_ARRAY(double, pressures);
    l->soft = PL_NEW_ARRAY(double, PROBLEM_SOFT *n);
    l->soft_force = PL_NEW_ARRAY(double, PROBLEM_SOFT *n);
    pl_status status = PL_OK;
    if (!group || !l->x || !l->rotation || !l->row || !l->plain || !l->solution || !l->pressure ||
        !l->pressure_step || !l->soft || !l->soft_force) {
        status = pl_fail_memory(err, "problem: factor");
    }

    if (status == PL_OK) {
        status = problem_turn_create(p, err);
    }

    if (status == PL_OK) {
        linear_groups(p, group);
        status = pl_factor_create_stored(l->kind, &p->tangent.K, group, vertices + p->unknowns.rigid_count,
                                         &p->robot->orders, &l->factor, err);
    }

    pl_free(group);

    return status;
}

void pl_problem_linear_destroy(pl_problem *p)
{
    pl_linear *l = &p->linear;
    pl_factor_destroy(l->factor);
    pl_factor_destroy(l->spare);
    void *owned[] = {l->x,        l->rotation,      l->row,  l->plain,        l->solution, l->side,
                     l->pressure, l->pressure_step, l->turn, l->turn_code,    l->sided,    l->target,
                     l->soft,     l->soft_force,    l->mode, l->mode_pressure};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        pl_free(owned[i]);
    }
}

double problem_dot(const double *a, const double *b, int32_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
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
    double scale[PL_ROWS_MAX];
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

// Pressures leave the vector of unknowns: their change is kept aside.
static void linear_clear_pressures(pl_problem *p, double *y)
{
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        p->linear.pressure_step[k] = p->elements->pressure_unit[k] * y[p->unknowns.pressure_dof[k]];
        y[p->unknowns.pressure_dof[k]] = 0;
    }
}

// y = P^-1 b, P the turned factor; `step`: of an iteration
static void linear_solve_plain(pl_problem *p, const double *b, double *y, bool step)
{
    pl_linear *l = &p->linear;
    if (y != b) {
        memcpy(y, b, (size_t)p->unknowns.n * sizeof *y);
    }
    if (l->turned) {
        pl_problem_rotate(p, y, true);
    }

    if (step) {
        problem_precondition(p, y);
    } else {
        problem_solve_columns(p, y, 1);
    }

    linear_clear_pressures(p, y);
    if (l->turned) {
        pl_problem_rotate(p, y, false);
    }
    l->solves++;
}

static double row_compliance(const pl_row *row)
{
    return row->constraint ? 0 : 1 / row->curvature;
}

static bool row_in_use(const pl_row *row)
{
    return row->wanted && (row->constraint ? row->active : row->curvature != 0);
}

static bool row_borders(const pl_row *row)
{
    return row->wanted && (row->constraint || row->curvature != 0);
}

// The borders that take part now, or only the active constraints among them.
static int linear_use(const pl_problem *p, bool constraints, int *use)
{
    int m = 0;
    for (int k = 0; k < p->linear.border_count; ++k) {
        const pl_row *row = &p->row[p->linear.border[k]];
        if (row_in_use(row) && (row->constraint || !constraints)) {
            use[m++] = k;
        }
    }

    return m;
}

// From d = K^-1 b to the solution with the rows.
static bool linear_add_rows(pl_problem *p, const double *rho, double *d, double *mu)
{
    pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n, pressures = p->elements->pressure_count;
    int use[PL_ROWS_MAX];
    const int m = linear_use(p, false, use);

    memset(mu, 0, (size_t)l->border_count * sizeof *mu);
    double S[PL_ROWS_MAX * PL_ROWS_MAX], q[PL_ROWS_MAX];
    for (int a = 0; a < m; ++a) {
        const pl_row *row = &p->row[l->border[use[a]]];
        q[a] = problem_dot(row->a, d, n) - (rho ? rho[use[a]] : 0);
        for (int c = 0; c < m; ++c) {
            S[a * m + c] = problem_dot(row->a, l->solution + (int64_t)use[c] * n, n) +
                           (a == c ? row_compliance(row) : 0);
        }
    }

    if (!linear_small_solve(m, S, q)) {
        return false;
    }

    for (int a = 0; a < m; ++a) {
        const double *Y = l->solution + (int64_t)use[a] * n;
        mu[use[a]] = q[a];
#pragma omp simd
        for (int32_t i = 0; i < n; ++i) {
            d[i] -= q[a] * Y[i];
        }
        const double *Yp = l->pressure + (int64_t)use[a] * pressures;
        for (int32_t k = 0; k < pressures; ++k) {
            l->pressure_step[k] -= q[a] * Yp[k];
        }
    }

    return true;
}

static bool linear_solve_bordered(pl_problem *p, const double *b, const double *rho, double *d, double *mu,
                                  bool step)
{
    pl_linear *l = &p->linear;
    if (linear_is_zero(b, p->unknowns.n)) {
        memset(d, 0, (size_t)p->unknowns.n * sizeof *d); // only targets change
        memset(l->pressure_step, 0, (size_t)p->elements->pressure_count * sizeof *l->pressure_step);
    } else {
        linear_solve_plain(p, b, d, step);
    }

    if (!linear_add_rows(p, rho, d, mu)) {
        return false;
    }
    problem_modes_add(p, b, d);
    return true;
}

bool pl_problem_solve_bordered(pl_problem *p, const double *b, const double *rho, double *d, double *mu)
{
    return linear_solve_bordered(p, b, rho, d, mu, false);
}

bool pl_problem_precondition(pl_problem *p, const double *b, const double *rho, double *d, double *mu)
{
    return linear_solve_bordered(p, b, rho, d, mu, true);
}

bool pl_problem_solve_rows(pl_problem *p, const double *plain, const double *rho, double *d, double *mu)
{
    memcpy(d, plain, (size_t)p->unknowns.n * sizeof *d);
    linear_clear_pressures(p, d);
    return linear_add_rows(p, rho, d, mu);
}

// Rows at the factor's shape, and their solutions.
static void linear_borders(pl_problem *p)
{
    pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n, pressures = p->elements->pressure_count;

    l->border_count = 0;
    for (int i = 0; i < p->row_count; ++i) {
        if (row_borders(&p->row[i])) {
            const int64_t at = (int64_t)l->border_count * n;
            memcpy(l->row + at, p->row[i].a, (size_t)n * sizeof *l->row);
            memcpy(l->plain + at, p->row[i].a, (size_t)n * sizeof *l->plain);
            l->border[l->border_count++] = i;
        }
    }

    if (l->border_count == 0) {
        return;
    }
    problem_solve_columns(p, l->plain, l->border_count);
    l->solves += l->border_count;
    for (int k = 0; k < l->border_count; ++k) {
        linear_clear_pressures(p, l->plain + (int64_t)k * n);
        memcpy(l->pressure + (int64_t)k * pressures, l->pressure_step, (size_t)pressures * sizeof(double));
    }

    memcpy(l->solution, l->plain, (size_t)n * (size_t)l->border_count * sizeof(double));
}

// Inertia of the whole: the negative pivots of [K A^T; A -c] beyond those that pressures, constraints and
// positive compliances bring by themselves. neg(K) + neg(-(c + A K^-1 A^T)).
int pl_problem_unstable(const pl_problem *p)
{
    const pl_linear *l = &p->linear;
    const int32_t n = p->unknowns.n;
    int use[PL_ROWS_MAX], expected = p->elements->pressure_count;
    const int m = linear_use(p, false, use);
    double S[PL_ROWS_MAX * PL_ROWS_MAX], value[PL_ROWS_MAX];

    for (int a = 0; a < m; ++a) {
        const double compliance = row_compliance(&p->row[l->border[use[a]]]);
        expected += compliance >= 0;
        for (int c = 0; c < m; ++c) {
            S[a * m + c] = problem_dot(l->row + (int64_t)use[a] * n, l->plain + (int64_t)use[c] * n, n) +
                           (a == c ? compliance : 0);
        }
    }

    for (int a = 0; a < m; ++a) {
        for (int c = 0; c < a; ++c) {
            S[a * m + c] = S[c * m + a] = 0.5 * (S[a * m + c] + S[c * m + a]);
        }
    }

    int negative = l->report.negative_count;
    if (m > 0) {
        pl_dense_eigen(m, S, value, NULL);
        for (int a = 0; a < m; ++a) {
            negative += value[a] > 0;
        }
    }

    return negative - expected;
}

// Factors p->tangent.K; `single`: single precision will do.
static pl_status linear_update(pl_problem *p, bool single, pl_error *err)
{
    pl_linear *l = &p->linear;
    l->factorizations++;
    pl_factor_watch(l->factor, p->watch);
    if (single && !l->single_refused && l->kind == PL_FACTOR_MULTIFRONTAL) {
        l->single_count++;
        const pl_status status = pl_factor_update_single(l->factor, &p->tangent.K, &l->report, err);
        if (status != PL_OK || (!l->report.singular && l->report.single && problem_single_serves(p))) {
            return status;
        }
        l->single_refused = true;
        l->single_refusals++;
        pl_log(2, "    single precision does not serve");
        if (!l->report.single) {
            return status; // in double precision already
        }
    }

    return pl_factor_update(l->factor, &p->tangent.K, &l->report, err);
}

// `single`: single precision will do.
static pl_status linear_factor_once(pl_problem *p, const pl_linearization *at, bool single, pl_error *err)
{
    pl_linear *l = &p->linear;
    const double start = pl_seconds();

    pl_problem_assemble(p, at);
    const pl_status status = linear_update(p, single, err);
    l->version++;
    l->soft_count = l->report.single ? l->soft_count : 0;
    pl_log(2, "    factor: %.0f ms, blend %.0f", 1e3 * (pl_seconds() - start), at->positive_part);
    l->blend = at->positive_part;
    l->mode_count = 0;
    l->turned = false;
    l->use = PL_FACTOR_STEPS;
    l->has_factor = status == PL_OK && !l->report.singular;
    if (l->has_factor) {
        memcpy(l->x, at->x, pl_problem_full_bytes(p));
        linear_borders(p);
    }

    return status;
}

// Assembles and factors what `at` says, evaluated there; a tangent that is not positive as it asks for.
static pl_status linear_factor_at(pl_problem *p, const pl_linearization *at, pl_error *err)
{
    pl_linear *l = &p->linear;
    pl_status status = linear_factor_once(p, at, true, err);

    // inertia is found in double precision where single precision leaves a doubt, unless modes are looked
    // for: those of a wrong sign in single precision are soft, and Lanczos' method finds them first
    const bool exact = at->indefinite == PL_AS_IT_IS, flip = at->indefinite == PL_MODES_FLIPPED;
    bool positive = l->has_factor && (exact || pl_problem_unstable(p) <= 0 || (flip && pl_problem_modes(p)));

    if (status == PL_OK && !positive && l->report.single && !l->single_certain &&
        !(flip && l->has_factor && pl_problem_unstable(p) <= PL_MODES_MOST)) {
        status = linear_factor_once(p, at, false, err);
        positive = l->has_factor && (pl_problem_unstable(p) <= 0 || (flip && pl_problem_modes(p)));
    }

    if (status == PL_OK && at->positive_part < 1 && !positive) {
        pl_log(2, "    tangent not positive (%d negative): positive part instead",
               l->has_factor ? pl_problem_unstable(p) : -1);
        pl_linearization part = *at;
        part.positive_part = 1;
        status = linear_factor_once(p, &part, true, err);
    }

    return status;
}

pl_status pl_problem_refactor(pl_problem *p, const pl_linearization *at, pl_error *err)
{
    pl_linear *l = &p->linear;
    const pl_ahead *ahead = at->predicted;

    if (!at->evaluated) {
        const bool linear = at->contacts == PL_CONTACT_LINEAR;
        const size_t mark = pl_arena_begin(&p->scratch);
        double *g = pl_problem_take_unknown(p), *r = pl_problem_take_unknown(p);
        problem_evaluate_at(p, linear ? PL_CONTACT_LINEAR : PL_CONTACT_ACTS, at->x, g); // pressures, rows
        if (l->has_factor && l->border_count > 0) {
            pl_problem_residual(p, g, r); // multipliers for the second derivatives of constraints
        }
        pl_arena_end(&p->scratch, mark);
    }

    pl_status status = problem_refresh(p, err);
    for (int32_t k = 0; ahead && k < p->elements->pressure_count; ++k) {
        p->elements->pressure[k] = ahead->pressure[k] + ahead->pressure_step[k];
    }
    status = status == PL_OK ? linear_factor_at(p, at, err) : status;
    for (int32_t k = 0; ahead && k < p->elements->pressure_count; ++k) {
        p->elements->pressure[k] = p->elements->pressure_kappa[k] * p->elements->dilatation[k]; // at x again
    }
    if (status == PL_OK && !l->has_factor) {
        return pl_fail(err, PL_FAILED, "statics: the tangent is singular: a part may have no support");
    }

    return status;
}

// Of everything besides x that the tangent and its border depend on. Adding 0 turns -0 into 0.
static uint64_t linear_fingerprint(const pl_problem *p)
{
    uint64_t hash = PL_HASH_SEED;
    PROBLEM_EACH (p, t, fingerprint) {
        hash = t->kind->fingerprint(t->self, p, hash);
    }
    for (int i = 0; i < p->row_count; ++i) {
        const pl_row *row = &p->row[i];
        const double number[2] = {row_borders(row), row->constraint ? row->multiplier + 0.0 : 0};
        hash = pl_hash_bytes(hash, number, sizeof number);
    }

    return hash;
}

static void linear_unturn(pl_problem *p)
{
    pl_linear *l = &p->linear;
    l->turned = false;
    memcpy(l->solution, l->plain, (size_t)p->unknowns.n * (size_t)l->border_count * sizeof(double));
}

// The spare factor with the order of the one at hand; false: there is none, because it would not fit.
static bool linear_spare(pl_problem *p)
{
    pl_linear *l = &p->linear;
    if (!l->spare && pl_factor_bytes(l->factor) < SPARE_MOST) {
        int32_t *group = PL_NEW_ARRAY(int32_t, p->unknowns.n);
        if (group) {
            pl_error ignored;
            linear_groups(p, group);
            pl_factor_create_like(l->kind, &p->tangent.K, group, l->factor, &l->spare, &ignored);
        }
        pl_free(group);
    }

    return l->spare != NULL;
}

// The exact factor at x, in the spare one where that is wanted: interrupted or singular, it leaves the factor
// at hand as it was.
static pl_status linear_factor_aside(pl_problem *p, const double *x, pl_error *err)
{
    pl_linear *l = &p->linear;
    const bool aside = l->aside && l->has_factor && linear_spare(p);
    const pl_linear before = *l;

    if (aside) {
        l->factor = before.spare;
        l->spare = before.factor;
    }

    const pl_linearization at = {.x = x, .exact = true};
    const pl_status status = linear_factor_once(p, &at, false, err);
    if (aside && !l->has_factor) {
        const int made = l->factorizations;
        *l = before;
        l->factorizations = made;
        return status == PL_OK ? pl_fail(err, PL_FAILED, "statics: the tangent at the solution is singular")
                               : status;
    }

    return status;
}

// Does the factor at hand, made at x, serve that use? Then it is used as it was made.
static bool linear_reuse(pl_problem *p, const double *x, pl_factor_use use, uint64_t print)
{
    pl_linear *l = &p->linear;
    const bool usable = l->has_factor && l->use >= use && l->blend == 0 && l->print == print &&
                        memcmp(l->x, x, pl_problem_full_bytes(p)) == 0;
    if (usable) {
        l->mode_count = 0;
        linear_unturn(p);
    }
    return usable;
}

pl_status pl_problem_factor_exact(pl_problem *p, const double *x, pl_error *err)
{
    pl_linear *l = &p->linear;
    const uint64_t print = linear_fingerprint(p);

    if (linear_reuse(p, x, PL_FACTOR_EXACT, print)) {
        return PL_OK;
    }

    pl_status status = problem_refresh(p, err);
    if (status == PL_OK) {
        status = linear_factor_aside(p, x, err);
    }

    if (status == PL_OK && !l->has_factor) {
        return pl_fail(err, PL_FAILED, "statics: the tangent at the solution is singular");
    }
    if (status == PL_OK) {
        l->use = PL_FACTOR_EXACT;
        l->print = print;
    }

    return status;
}

pl_status pl_problem_factor_proof(pl_problem *p, const double *x, pl_error *err)
{
    pl_linear *l = &p->linear;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *g = pl_problem_take_unknown(p), *r = pl_problem_take_unknown(p);

    pl_problem_evaluate(p, x, g); // pressures and rows at x
    if (l->has_factor && l->border_count > 0) {
        pl_problem_residual(p, g, r); // multipliers for the second derivatives of constraints
    }
    pl_arena_end(&p->scratch, mark);
    const uint64_t print = linear_fingerprint(p);
    if (linear_reuse(p, x, PL_FACTOR_PROOF, print)) {
        return PL_OK;
    }

    pl_status status = problem_refresh(p, err);
    if (status != PL_OK) {
        return status;
    }
    const pl_linearization at = {.x = x, .exact = true};
    problem_single_look(p);

    // whoever keeps a spare factor asks for derivatives at solutions: a factor for them proves as well
    status = linear_factor_once(p, &at, !l->aside, err);
    if (status == PL_OK && l->report.single && (!l->has_factor || !l->single_certain)) {
        status = linear_factor_once(p, &at, false, err);
    }
    if (status == PL_OK && l->has_factor) {
        l->use = l->report.single ? PL_FACTOR_PROOF : PL_FACTOR_EXACT;
        l->print = print;
    }

    return status;
}

bool pl_problem_stiff(const pl_problem *p)
{
    for (int i = 0; i < p->term_count; ++i) {
        if (p->term[i].kind->stiff) {
            return true;
        }
    }
    return false;
}

void pl_problem_forget(pl_problem *p)
{
    pl_linear *l = &p->linear;
    l->has_factor = l->turned = false;
    l->border_count = 0; // multipliers found with rows of that factor would be where the next path begins
    l->use = PL_FACTOR_STEPS;
    l->blend = 0;
    l->soft_count = l->single_unseen = 0;
    l->single_certain = l->single_refused = false;
    l->single_error = 0;
    PROBLEM_EACH (p, t, forget) {
        t->kind->forget(t->self);
    }
}

bool pl_problem_factor_serves(const pl_problem *p)
{
    if (!p->linear.has_factor || p->linear.blend > 0 || p->linear.mode_count > 0) {
        return false;
    }
    PROBLEM_STEPS(p, t, renews)
    {
        if (t->kind->steps->renews(t->self, p)) {
            return false;
        }
    }

    // a factor made for other drives would leave the rows out that it has not
    for (int i = 0; i < p->row_count; ++i) {
        bool found = !p->row[i].wanted;
        for (int k = 0; k < p->linear.border_count; ++k) {
            found = found || p->linear.border[k] == i;
        }
        if (!found) {
            return false;
        }
    }

    return true;
}

// x <- x + Y (A Y)^-1 (target - h(x)) until the targets are met, with rows A of the present x
static bool restore_passes(pl_problem *p, double *x, double tolerance, const int *use, int m, double *step)
{
    const int32_t n = p->unknowns.n;
    double least = INFINITY;

    for (int pass = 0; pass < RESTORE_PASSES; ++pass) {
        double S[PL_ROWS_MAX * PL_ROWS_MAX], q[PL_ROWS_MAX], largest = 0;
        for (int a = 0; a < m; ++a) {
            const int i = p->linear.border[use[a]];
            const pl_row *row = &p->row[i];
            pl_problem_row_at(p, x, i);
            q[a] = row->target - row->measure;
            if (!isfinite(q[a])) {
                return false;
            }
            largest = fmax(largest, fabs(q[a]) / row->unit);
            for (int c = 0; c < m; ++c) {
                S[a * m + c] = problem_dot(row->a, p->linear.solution + (int64_t)use[c] * n, n);
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
        memset(step, 0, (size_t)n * sizeof *step);
        for (int a = 0; a < m; ++a) {
            const double *Y = p->linear.solution + (int64_t)use[a] * n;
#pragma omp simd
            for (int32_t i = 0; i < n; ++i) {
                step[i] += q[a] * Y[i];
            }
        }
        pl_problem_move(p, x, step, 1, x);
    }

    return false;
}

bool pl_problem_restore(pl_problem *p, double *x, double tolerance)
{
    int use[PL_ROWS_MAX];
    const int m = linear_use(p, true, use);

    if (m == 0) {
        return true;
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    const bool met = restore_passes(p, x, tolerance, use, m, pl_problem_take_unknown(p));
    pl_arena_end(&p->scratch, mark);

    return met;
}
