// Derivatives by a few parameters with the factor at hand, which is that of another shape, turned: as good as
// the factor, and nearly free. Where only targets of constraints change they follow from the solutions of the
// rows; other right sides are solved together, once per factor, and their solutions turn with the body.
#include "problem/problem_impl.h"

void pl_columns_clear(pl_columns *c)
{
    pl_free(c->side);
    pl_free(c->plain);
    pl_free(c->motion);
    pl_free(c->pressure);
    *c = (pl_columns){0};
}

pl_status pl_columns_create(const pl_problem *p, pl_columns *c, int count, pl_error *err)
{
    const int64_t n = p->unknowns.n;
    PL_ASSERT(count <= PL_COLUMNS_MOST);
    *c = (pl_columns){.count = count};
    c->side = PL_NEW_ARRAY(double, n *count);
    c->plain = PL_NEW_ARRAY(double, n *count);
    c->motion = PL_NEW_ARRAY(double, n *count);
    c->pressure = PL_NEW_ARRAY(double, (int64_t)p->elements->pressure_count *count);
    if (!c->side || !c->plain || !c->motion || !c->pressure) {
        pl_columns_clear(c);
        return pl_fail_memory(err, "problem: columns");
    }

    return PL_OK;
}

static bool column_is_zero(const double *b, int32_t n)
{
    for (int32_t i = 0; i < n; ++i) {
        if (b[i] != 0) {
            return false;
        }
    }
    return true;
}

// plain = P^-1 R^T side for the sides that are not 0, R the rotations since the factor P was made
static void columns_solve(pl_problem *p, pl_columns *c)
{
    const size_t n = (size_t)p->unknowns.n;
    int count = 0, column[PL_COLUMNS_MOST];

    for (int j = 0; j < c->count; ++j) {
        const double *side = c->side + (size_t)j * n;
        if (!column_is_zero(side, p->unknowns.n)) {
            double *b = c->plain + (size_t)count * n;
            memcpy(b, side, n * sizeof *b);
            if (p->linear.turned) {
                pl_problem_rotate(p, b, true);
            }
            column[count++] = j;
        }
    }

    if (count > 0) {
        problem_solve_columns(p, c->plain, count);
        p->linear.solves += count;
    }

    // from the end: each to its place
    for (int j = c->count - 1; j >= 0; --j) {
        double *to = c->plain + (size_t)j * n;
        if (count > 0 && column[count - 1] == j) {
            --count;
            memmove(to, c->plain + (size_t)count * n, n * sizeof *to);
        } else {
            memset(to, 0, n * sizeof *to);
        }
    }
}

static bool columns_serve(const pl_problem *p, const pl_parameter *q, const pl_columns *c)
{
    bool same = c->version > 0 && c->version == p->linear.version;
    for (int j = 0; same && j < c->count; ++j) {
        same = c->parameter[j].kind == q[j].kind && c->parameter[j].index == q[j].index &&
               c->parameter[j].part == q[j].part;
    }
    return same;
}

bool pl_columns_make(pl_problem *p, const pl_state *state, const pl_parameter *q, pl_columns *c)
{
    const pl_linear *l = &p->linear;
    const size_t n = (size_t)p->unknowns.n, pressures = (size_t)p->elements->pressure_count;
    double target[PL_COLUMNS_MOST][PL_ROWS_MAX];
    pl_error ignored = {0};

    for (int j = 0; j < c->count; ++j) {
        if (sensitivity_side(p, state, &q[j], c->side + (size_t)j * n, target[j], &ignored) != PL_OK) {
            return false;
        }
    }

    if (!columns_serve(p, q, c)) {
        columns_solve(p, c);
        memcpy(c->parameter, q, (size_t)c->count * sizeof *q);
        c->version = l->version;
    }

    const size_t mark = pl_arena_begin(&p->scratch);
    double *turned = pl_problem_take_unknown(p);
    bool solved = true;
    for (int j = 0; solved && j < c->count; ++j) {
        double rho[PL_ROWS_MAX], border[PL_ROWS_MAX];
        for (int k = 0; k < l->border_count; ++k) {
            rho[k] = target[j][l->border[k]];
        }
        memcpy(turned, c->plain + (size_t)j * n, n * sizeof *turned);
        if (l->turned) {
            pl_problem_rotate(p, turned, false);
        }
        solved = pl_problem_solve_rows(p, turned, rho, c->motion + (size_t)j * n, border);
        memcpy(c->pressure + (size_t)j * pressures, l->pressure_step, pressures * sizeof *c->pressure);
        memset(c->mu[j], 0, sizeof c->mu[j]);
        for (int k = 0; solved && k < l->border_count; ++k) {
            c->mu[j][l->border[k]] = border[k];
        }
    }

    pl_arena_end(&p->scratch, mark);

    return solved;
}
