// Exact derivatives of a solution with respect to parameters, forward and adjoint.
//
// At equilibrium G(x, q) = g(x, q) + sum_k p_k a_k = 0 and h_k(x) = t_k(q). A change of the parameter q gives
//   [K A^T; A -c][dx; mu] = [-dG/dq; dt/dq],
// K the true tangent with the multipliers' second derivatives, mu the change of the multipliers p_k (for
// curved potentials with compliance c = 1/Phi'' it is the change of Phi' caused by dx). The matrix is
// symmetric, so the adjoint uses it too.
#include "problem/problem_impl.h"
#include "problem/term_contact.h"

#define SENSITIVITY_ROUNDS 200   // of the fixed point for forces that lag behind the shape
#define SENSITIVITY_CHANGE 1e-10 // relative: its end, and what is left of the change of gaps that hold
#define TOUCHES 1e-9 // of the unit: a slack inequality this near its target holds when pulled further
#define SENSITIVITY_DEPENDENT "jacobian: the prescribed values of two actuators are not independent"

static bool sensitivity_one_sided(pl_problem *p, const pl_state *state, bool slack_free)
{
    bool one_sided = false;
    PROBLEM_STEPS(p, t, one_sided)
    {
        one_sided = one_sided || t->kind->steps->one_sided(t->self, p, state);
    }
    for (int i = 0; i < p->row_count; ++i) {
        pl_row *row = &p->row[i];
        if (!row->wanted || !row->constraint) {
            continue;
        }
        if (row->inequality && slack_free) {
            row->active = row->was_active && row->multiplier > 0;
            one_sided = one_sided || !row->active;
            continue;
        }
        // a cable without tension that stands at its target takes hold when it is pulled further
        const bool touches = row->inequality && row->measure >= row->target - TOUCHES * row->unit;
        row->active = row->was_active || touches;
        one_sided = one_sided || (row->inequality && row->active && row->multiplier <= 0);
    }

    return one_sided;
}

pl_status pl_sensitivity_begin(pl_problem *p, const pl_state *state, bool slack_free,
                               pl_sensitivity_report *report, pl_error *err)
{
    *report = (pl_sensitivity_report){.negative_count = -1};
    const pl_step stand = pl_step_at(state);
    pl_status status = pl_problem_begin_step(p, &stand, err);
    if (status != PL_OK) {
        return status;
    }
    pl_problem_set(p, 1);
    const size_t mark = pl_arena_begin(&p->scratch);
    pl_problem_evaluate(p, state->x, pl_problem_take_unknown(p));
    pl_arena_end(&p->scratch, mark);
    report->one_sided = sensitivity_one_sided(p, state, slack_free);
    status = pl_problem_factor_exact(p, state->x, err);
    if (status == PL_OK) {
        report->negative_count = pl_problem_unstable(p);
    }

    return status;
}

pl_status pl_parameter_check(const pl_problem *p, const pl_parameter *q, pl_error *err)
{
    const pl_robot *robot = p->robot;
    const int limit[] = {
        [PL_PARAMETER_COMMAND] = robot->command_count,     [PL_PARAMETER_FORCE] = robot->force_count,
        [PL_PARAMETER_MOMENT] = robot->force_count,        [PL_PARAMETER_GRAVITY] = 1,
        [PL_PARAMETER_PRESSURE] = robot->pressure_count,   [PL_PARAMETER_MATERIAL] = robot->material_count,
        [PL_PARAMETER_MARKER_FORCE] = robot->marker_count, [PL_PARAMETER_ACTUATOR] = robot->actuator_count,
        [PL_PARAMETER_EFFORT] = robot->actuator_count,     [PL_PARAMETER_LAYER] = robot->layer_count,
        [PL_PARAMETER_FIBRE] = robot->fibre_count,         [PL_PARAMETER_GRIP] = 1};

    if ((int)q->kind < 0 || (int)q->kind >= PL_COUNT(limit)) {
        return pl_fail(err, PL_BAD_INPUT, "jacobian: parameter kind %d does not exist", (int)q->kind);
    }
    if (q->index < 0 || q->index >= limit[q->kind]) {
        return pl_fail(err, PL_BAD_INPUT, "jacobian: a parameter has the index %d, expected one below %d",
                       q->index, limit[q->kind]);
    }

    const bool axis = q->kind == PL_PARAMETER_FORCE || q->kind == PL_PARAMETER_GRAVITY ||
                      q->kind == PL_PARAMETER_MARKER_FORCE || q->kind == PL_PARAMETER_GRIP;
    if (axis && (q->part < 0 || q->part > 2)) {
        return pl_fail(err, PL_BAD_INPUT, "jacobian: axis %d, expected 0, 1 or 2", q->part);
    }
    if ((q->kind == PL_PARAMETER_LAYER || q->kind == PL_PARAMETER_FIBRE) && (q->part < 0 || q->part > 1)) {
        return pl_fail(err, PL_BAD_INPUT, "jacobian: part %d of a layer or fibre, expected 0 or 1", q->part);
    }

    if (q->kind == PL_PARAMETER_MATERIAL &&
        (q->part < 0 || q->part >= PL_MATERIAL_CONSTANT_COUNT ||
         !(q->part == PL_DENSITY ||
           pl_material_has(robot->material[q->index].model, (pl_material_constant)q->part)))) {
        return pl_fail(err, PL_BAD_INPUT, "jacobian: material '%s' has no constant number %d",
                       robot->material_name[q->index], q->part);
    }

    return PL_OK;
}

// -dG/dq into b (unknowns) and dt/dq into target (per row).
pl_status sensitivity_side(pl_problem *p, const pl_state *state, const pl_parameter *q, double *b,
                           double *target, pl_error *err)
{
    const size_t mark = pl_arena_begin(&p->scratch);
    double *full = pl_problem_take_full(p);

    memset(full, 0, pl_problem_full_bytes(p));
    memset(target, 0, PL_ROWS_MAX * sizeof *target);
    pl_status status = PL_OK;
    PROBLEM_EACH (p, t, derivative) {
        status = status == PL_OK ? t->kind->derivative(t->self, p, state, q, full, target, err) : status;
    }
    pl_problem_gather(p, full, state->x, b);
    pl_arena_end(&p->scratch, mark);

    return status;
}

// Solves with right sides and multipliers per row instead of per border; `plain` may be K^-1 b, or NULL.
static bool sensitivity_solve(pl_problem *p, const double *b, const double *plain, const double *target,
                              double *d, double *mu)
{
    const pl_linear *l = &p->linear;
    double rho[PL_ROWS_MAX], border[PL_ROWS_MAX];

    for (int k = 0; k < l->border_count; ++k) {
        rho[k] = target[l->border[k]];
    }
    if (!(plain ? pl_problem_solve_rows(p, plain, rho, d, border)
                : pl_problem_solve_bordered(p, b, rho, d, border))) {
        return false;
    }

    memset(mu, 0, PL_ROWS_MAX * sizeof *mu);
    for (int k = 0; k < l->border_count; ++k) {
        mu[l->border[k]] = border[k];
    }

    return true;
}

// Relative residual of the plain part of the linear system: |K d + A^T mu - b| / |b|. The pressures that
// belong to d were eliminated: they are computed again from B^T d - M/kappa dp = 0.
static double sensitivity_residual(pl_problem *p, const double *b, const double *d, const double *mu)
{
    const int32_t n = p->unknowns.n, *pressure = p->unknowns.pressure_dof;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *v = pl_problem_take_unknown(p), *Kv = pl_problem_take_unknown(p), *step = p->linear.pressure_step,
           error = 0, scale = 0;

    memcpy(v, d, (size_t)n * sizeof *v);
    pl_sparse_multiply(&p->tangent.K, v, Kv);
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        step[k] = Kv[pressure[k]] / p->elements->pressure_unit[k];
    }
    pl_elements_mass_solve(p->elements, step);
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        v[pressure[k]] = p->elements->pressure_kappa[k] * step[k] / p->elements->pressure_unit[k];
    }
    pl_sparse_multiply(&p->tangent.K, v, Kv);
    for (int32_t i = 0; i < n; ++i) {
        double r = Kv[i] - b[i];
        scale = fmax(scale, fabs(b[i]));
        for (int k = 0; k < p->row_count; ++k) {
            if (mu[k] != 0) {
                r += mu[k] * p->row[k].a[i];
                scale = fmax(scale, fabs(mu[k] * p->row[k].a[i]));
            }
        }
        error = fmax(error, fabs(r));
    }

    pl_arena_end(&p->scratch, mark);

    return scale > 0 ? error / scale : 0;
}

// b = side + what lags behind for the motion dx
static void sensitivity_lag(pl_problem *p, const double *x, const double *dx, const double *side, double *b)
{
    const size_t mark = pl_arena_begin(&p->scratch);
    double *full = pl_problem_take_full(p);

    memset(full, 0, pl_problem_full_bytes(p));
    PROBLEM_EACH (p, t, lag) {
        t->kind->lag(t->self, p, x, dx, full);
    }
    pl_problem_gather(p, full, x, b);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        b[i] += side[i];
    }
    pl_arena_end(&p->scratch, mark);
}

// Inequalities that hold are constraints g(x, q) = 0 of the derivative. The tangent already has their
// stiffness e (augmented Lagrangian), so with B = dg/dx, W = diag(w), w = e times the weight, and dx0 the
// motion without multipliers,
//   dx = dx0 + K^-1 B^T W y,   B dx + dg/dq = 0:   (B K^-1 B^T W) y = -(B dx0 + dg/dq),
// an operator that is symmetric in the inner product of W, with eigenvalues between 0 and 1: conjugate
// gradients.
static pl_status sensitivity_hold(pl_problem *p, const double *x, double *d, double *dx, double *mu,
                                  pl_error *err)
{
    const int64_t m = contact_hold.count(p->contact, p, x), n = p->unknowns.n;

    // solution, residual, direction and its image, in one block
    double *w = PL_NEW_ARRAY(double, 5 * m), *y = w + m, *r = w + 2 * m, *v = w + 3 * m, *Sv = w + 4 * m;

    if (!w) {
        return pl_fail_memory(err, "jacobian: contacts");
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *full = pl_problem_take_full(p), *b = pl_problem_take_unknown(p), *z = pl_problem_take_unknown(p),
           rr = 0, first = 0, none[PL_ROWS_MAX] = {0}, more[PL_ROWS_MAX];
    pl_status status = PL_OK;

    // r = -(B dx0 + dg/dq), the first direction v = r
    contact_hold.weight(p->contact, p, w);
    contact_hold.gap(p->contact, p, x, dx, true, r);
    for (int64_t k = 0; k < m; ++k) {
        v[k] = r[k] = -r[k];
        rr += w[k] * r[k] * r[k];
    }

    first = rr;
    for (int round = 0; status == PL_OK && rr > SENSITIVITY_CHANGE * SENSITIVITY_CHANGE * first; ++round) {
        if (round == SENSITIVITY_ROUNDS) {
            break; // what is left are combinations that hardly press on the body
        }

        // z = K^-1 B^T W v, and Sv = B z
        memset(full, 0, pl_problem_full_bytes(p));
        contact_hold.force(p->contact, p, x, v, full);
        pl_problem_gather(p, full, x, b);
        if (!sensitivity_solve(p, b, NULL, none, z, more)) {
            status = pl_fail(err, PL_FAILED, SENSITIVITY_DEPENDENT);
            break;
        }
        pl_problem_expand(p, x, z, full);
        contact_hold.gap(p->contact, p, x, full, false, Sv);

        double vSv = 0, next = 0;
        for (int64_t k = 0; k < m; ++k) {
            vSv += w[k] * v[k] * Sv[k];
        }
        if (!(vSv > 0)) {
            break;
        }

        // y, the motion d and the multipliers of the drives move along v
        const double step = rr / vSv;
        for (int64_t k = 0; k < m; ++k) {
            y[k] += step * v[k];
            r[k] -= step * Sv[k];
            next += w[k] * r[k] * r[k];
        }
        for (int64_t i = 0; i < n; ++i) {
            d[i] += step * z[i];
        }
        for (int k = 0; k < PL_ROWS_MAX; ++k) {
            mu[k] += step * more[k];
        }

        // conjugate to the directions before
        for (int64_t k = 0; k < m; ++k) {
            v[k] = r[k] + next / rr * v[k];
        }
        rr = next;
    }

    pl_problem_expand(p, x, d, dx);
    contact_hold.end(p->contact, y);
    pl_arena_end(&p->scratch, mark);
    pl_free(w);

    return status;
}

// One solve for the right side b, then the inequalities that hold.
static pl_status sensitivity_solve_held(pl_problem *p, const double *x, const double *b, const double *plain,
                                        const double *target, double *d, double *dx, double *mu,
                                        double *residual, pl_error *err)
{
    if (!sensitivity_solve(p, b, plain, target, d, mu)) {
        return pl_fail(err, PL_FAILED, SENSITIVITY_DEPENDENT);
    }
    pl_problem_expand(p, x, d, dx);
    *residual = sensitivity_residual(p, b, d, mu);
    pl_status status = PL_OK;
    if (pl_problem_holds(p, x)) {
        status = sensitivity_hold(p, x, d, dx, mu, err);
    }

    return status;
}

// The change of the unknowns d. Forces that lag behind the shape add their change for d to the right side,
// again and again until that no longer changes.
static pl_status sensitivity_solve_lagging(pl_problem *p, const double *x, const double *side,
                                           const double *plain, const double *target, double *d, double *dx,
                                           double *mu, double *residual, pl_error *err)
{
    const int32_t n = p->unknowns.n;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *b = pl_problem_take_unknown(p), *before = pl_problem_take_unknown(p),
           change = pl_problem_lags(p) ? 1 : 0;
    pl_status status = sensitivity_solve_held(p, x, side, plain, target, d, dx, mu, residual, err);

    for (int round = 0; status == PL_OK && change > SENSITIVITY_CHANGE; ++round) {
        if (round == SENSITIVITY_ROUNDS) {
            status =
                pl_fail(err, PL_FAILED,
                        "jacobian: the derivative with the pressure on an open surface does not converge");
            break;
        }
        sensitivity_lag(p, x, dx, side, b);
        memcpy(before, d, (size_t)n * sizeof *before);
        status = sensitivity_solve_held(p, x, b, NULL, target, d, dx, mu, residual, err);
        double largest = 0;
        change = 0;
        for (int32_t i = 0; i < n; ++i) {
            largest = fmax(largest, fabs(d[i]));
            change = fmax(change, fabs(d[i] - before[i]));
        }
        change = largest > 0 ? change / largest : 0;
    }

    pl_arena_end(&p->scratch, mark);

    return status;
}

// Room for the sides, kept.
static bool sensitivity_room(pl_problem *p)
{
    pl_linear *l = &p->linear;
    const int64_t n = PL_SIDES * (int64_t)p->unknowns.n;
    l->side = l->side ? l->side : PL_NEW_ARRAY(double, n);
    l->sided = l->sided ? l->sided : PL_NEW_ARRAY(double, n);
    l->target = l->target ? l->target : pl_resize_array(NULL, PL_SIDES, sizeof *l->target);
    return l->side && l->sided && l->target;
}

bool pl_sensitivity_together(pl_problem *p, const pl_state *state, const pl_parameter *q, int count)
{
    pl_linear *l = &p->linear;
    const size_t n = (size_t)p->unknowns.n;
    pl_error ignored = {0};
    int solved = 0, column[PL_SIDES];

    if (p->contact) {
        return false; // contacts keep what a parameter changes in them from its side to its column
    }
    if (count < 2 || count > PL_SIDES || !sensitivity_room(p)) {
        return false;
    }

    for (int j = 0; j < count; ++j) {
        double *side = l->side + (size_t)j * n, largest = 0;
        if (sensitivity_side(p, state, &q[j], side, l->target[j], &ignored) != PL_OK) {
            return false;
        }
        for (size_t i = 0; i < n; ++i) {
            largest = fmax(largest, fabs(side[i]));
        }
        // where only targets change there is nothing to solve
        if (largest > 0) {
            memcpy(l->sided + (size_t)solved * n, side, n * sizeof *side);
            column[solved++] = j;
        }
    }

    pl_factor_solve(l->factor, l->sided, solved);
    l->solves += solved;

    // from the end: each to its place
    for (int j = count - 1; j >= 0; --j) {
        double *to = l->sided + (size_t)j * n;
        if (solved > 0 && column[solved - 1] == j) {
            --solved;
            memmove(to, l->sided + (size_t)solved * n, n * sizeof *to);
        } else {
            memset(to, 0, n * sizeof *to);
        }
    }

    return true;
}

pl_status pl_sensitivity_column(pl_problem *p, const pl_state *state, const pl_parameter *q, int together,
                                double *dx, double *mu, pl_sensitivity_report *report, pl_error *err)
{
    double own[PL_ROWS_MAX];
    const size_t mark = pl_arena_begin(&p->scratch), at = (size_t)(together > 0 ? together : 0);
    const bool known = together >= 0;
    double *side = pl_problem_take_unknown(p), *d = pl_problem_take_unknown(p), residual = 0;
    const double *plain = known ? p->linear.sided + at * (size_t)p->unknowns.n : NULL;
    const double *target = known ? p->linear.target[at] : own;
    pl_status status = PL_OK;

    if (known) {
        memcpy(side, p->linear.side + at * (size_t)p->unknowns.n, (size_t)p->unknowns.n * sizeof *side);
    } else {
        status = sensitivity_side(p, state, q, side, own, err);
    }

    if (status == PL_OK) {
        status = sensitivity_solve_lagging(p, state->x, side, plain, target, d, dx, mu, &residual, err);
        report->residual = fmax(report->residual, residual);
    }

    pl_arena_end(&p->scratch, mark);

    return status;
}

// The gradient parameter by parameter, where the system is not symmetric.
static pl_status adjoint_forward(pl_problem *p, const pl_state *state, const double *by_position,
                                 const double *by_output, const pl_parameter *parameter, int count,
                                 double *gradient, pl_sensitivity_report *report, pl_error *err)
{
    pl_status status = PL_OK;
    const size_t mark = pl_arena_begin(&p->scratch);
    double *dx = pl_problem_take_full(p), mu[PL_ROWS_MAX];

    for (int j = 0; status == PL_OK && j < count; ++j) {
        status = pl_sensitivity_column(p, state, &parameter[j], -1, dx, mu, report, err);
        gradient[j] = 0;
        for (int64_t i = 0; by_position && i < 3 * (int64_t)p->mesh.vertex_count; ++i) {
            gradient[j] += by_position[i] * dx[i];
        }
        for (int k = 0; by_output && k < pl_problem_output_count(p); ++k) {
            if (by_output[k] != 0) {
                gradient[j] += by_output[k] * pl_problem_change(p, state, k, dx, mu, &parameter[j]);
            }
        }
    }

    pl_arena_end(&p->scratch, mark);

    return status;
}

// dJ/dq = dJ/dx . dx/dq + dJ/do . do/dq over outputs o. With [z; nu] solving the symmetric system for the
// right side [dJ/dx + dJ/do do/dx; dJ/do do/dp], dJ/dq = z . (-dG/dq) + nu . dt/dq + dJ/do . (do/dq
// directly).
static pl_status adjoint_symmetric(pl_problem *p, const pl_state *state, const double *by_position,
                                   const double *by_output, const pl_parameter *parameter, int count,
                                   double *gradient, pl_sensitivity_report *report, pl_error *err)
{
    const int outputs = by_output ? pl_problem_output_count(p) : 0;
    double *full = pl_problem_take_full(p), *b = pl_problem_take_unknown(p), *z = pl_problem_take_unknown(p),
           *side = pl_problem_take_unknown(p), rho[PL_ROWS_MAX] = {0}, nu[PL_ROWS_MAX];

    memset(full, 0, pl_problem_full_bytes(p));
    if (by_position) {
        memcpy(full, by_position, pl_problem_full_bytes(p));
    }

    for (int k = 0; k < outputs; ++k) {
        if (by_output[k] != 0) {
            problem_pull_back(p, state, k, by_output[k], full, rho);
        }
    }

    pl_problem_gather(p, full, state->x, b);
    if (!sensitivity_solve(p, b, NULL, rho, z, nu)) {
        return pl_fail(err, PL_FAILED, SENSITIVITY_DEPENDENT);
    }
    report->residual = sensitivity_residual(p, b, z, nu);
    pl_status status = PL_OK;
    for (int j = 0; status == PL_OK && j < count; ++j) {
        double target[PL_ROWS_MAX];
        status = sensitivity_side(p, state, &parameter[j], side, target, err);
        gradient[j] = 0;
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            gradient[j] += z[i] * side[i];
        }
        for (int k = 0; k < p->row_count; ++k) {
            gradient[j] += nu[k] * target[k];
        }
        for (int k = 0; k < outputs; ++k) {
            if (by_output[k] != 0) {
                gradient[j] += by_output[k] * pl_problem_change(p, state, k, NULL, NULL, &parameter[j]);
            }
        }
    }

    return status;
}

pl_status pl_sensitivity_adjoint(pl_problem *p, const pl_state *state, const double *by_position,
                                 const double *by_output, const pl_parameter *parameter, int count,
                                 double *gradient, pl_sensitivity_report *report, pl_error *err)
{
    const size_t mark = pl_arena_begin(&p->scratch);
    const pl_status status =
        (pl_problem_lags(p) || pl_problem_holds(p, state->x) ? adjoint_forward : adjoint_symmetric)(
            p, state, by_position, by_output, parameter, count, gradient, report, err);
    pl_arena_end(&p->scratch, mark);
    return status;
}
