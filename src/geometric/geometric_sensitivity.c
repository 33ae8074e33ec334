// Derivatives of the fixed point by the implicit function theorem. At the fixed point
//   f(x, c) + sum_k mu_k a_k = 0,   h_k(x) = target_k(c),   a_k = dh_k/dx,
// so for a change dc of a command or of an effort
//   K dx + sum_k a_k dmu_k = -df/dc dc,   a_k . dx = dtarget_k/dc dc,   K = df/dx + sum_k mu_k h_k''.
// With the prefactored matrix L of the global step and z_k = L^-1 a_k, the projected preconditioner
//   M(r) = L^-1 r - sum_k z_k mu_k,   a_k . M(r) = 0,
// is one global step. dx = d0 + y, where d0 = sum_k z_k mu_k meets the rows and y in their null space solves
// M K y = M(-df/dc dc - K d0) by generalised conjugate residuals: search directions p and q = M K p, the q
// orthonormal. Directions are kept from one parameter to the next, so later ones need few.
#include "geometric/geometric.h"
#include <float.h>
#include "geometric/geometric_impl.h"
#include "robot/robot_kind.h"

#define DIRECTIONS 600 // most search directions of one set of parameters
#define PASSES 4       // with the residual computed again

typedef struct directions {
    double *p[DIRECTIONS], *q[DIRECTIONS];
    int count;
} directions;

typedef struct column {
    double *dx, *r, *Kv, *b; // 3 per work vertex
} column;

// Rows of constraints that hold, their products, and one right side solved with them.
static bool rows_meet(const pl_geometric *g, const double *right, double *mu)
{
    int index[GEO_ROWS], n = 0;
    double A[GEO_ROWS * GEO_ROWS], b[GEO_ROWS];

    for (int i = 0; i < g->drive_count && n < GEO_ROWS; ++i) {
        mu[i] = 0;
        if (g->drive[i].mode == GEO_CONSTRAINT && g->drive[i].active) {
            index[n++] = i;
        }
    }

    for (int i = 0; i < n; ++i) {
        b[i] = right[index[i]];
        for (int j = 0; j < n; ++j) {
            A[i * n + j] = geo_dot(g, g->drive[index[i]].row, g->drive[index[j]].z);
        }
    }

    if (n > 0 && !pl_dense_solve(n, A, b, 1)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        mu[index[i]] = b[i];
    }

    return true;
}

static void add_rows(const pl_geometric *g, const double *mu, double scale, double *y)
{
    for (int k = 0; k < g->drive_count; ++k) {
        for (int64_t i = 0; mu[k] != 0 && i < 3 * (int64_t)g->vertex_count; ++i) {
            y[i] += scale * mu[k] * g->drive[k].z[i];
        }
    }
}

// Takes from y what the rows see of it.
static bool restrict_rows(const pl_geometric *g, double *right, double *mu, double *y)
{
    for (int k = 0; k < g->drive_count; ++k) {
        const geo_drive *d = &g->drive[k];
        right[k] = d->mode == GEO_CONSTRAINT && d->active ? geo_dot(g, d->row, y) : 0;
    }

    const bool met = rows_meet(g, right, mu);
    add_rows(g, mu, -1, y);
    return met;
}

// y = M(r)
static bool project(pl_geometric *g, const double *r, double *right, double *mu, double *y)
{
    geo_solve(g, r, y);
    return restrict_rows(g, right, mu, y);
}

// The change of what an actuator asks for per unit of its command: of its target, effort, gas or charge.
static double command_rate(const pl_geometric *g, int i, const pl_parameter *q, const double *command)
{
    const pl_actuator *a = &g->robot->actuator[i];
    const geo_drive *d = &g->drive[i];

    if (a->command != q->index || !isnan(d->asked) || isnan(command[q->index])) {
        return 0;
    }

    const double c = command[q->index], value = pl_actuator_value(a, c);
    const double beside = c == 0 && q->part < 0 ? -DBL_MIN : c == 0 ? DBL_MIN : c;
    const double slope = pl_command_slope(a->factor, a->one_sided, beside);

    switch (d->mode) {
    case GEO_CONSTRAINT: {
        double by = 0;
        if (a->table.count > 0) {
            pl_monotone_value(&a->table, value, &by);
            return slope * d->rest * by;
        }

        const double own = pl_drive_rest(a->drive, a->rest), there = pl_drive_rest(a->drive, d->rest);
        return slope * pl_drive_slope(a->drive, d->rest) * (own == there ? 1 : there / own);
    }
    case GEO_GAS:
        return slope * a->ambient;
    case GEO_VOLTAGE:
        return slope * 2 * PL_VACUUM_PERMITTIVITY * a->permittivity * value / (a->thickness * a->thickness);
    case GEO_FORCE:
        return slope;
    case GEO_IDLE:
    case GEO_GROWTH:
        break;
    }

    return 0;
}

static double gas_volume(const pl_geometric *g, int i)
{
    const geo_drive *d = &g->drive[i];
    return d->value / (d->effort + g->robot->actuator[i].ambient);
}

// b = -df/dc, target = dtarget/dc, and the part of the efforts' change that the parameter makes by itself.
static void column_begin(pl_geometric *g, const pl_parameter *q, const double *command, const double *x,
                         double *b, double *target, double *effort)
{
    memset(b, 0, 3 * (size_t)g->vertex_count * sizeof *b);
    for (int i = 0; i < g->drive_count; ++i) {
        const geo_drive *d = &g->drive[i];
        target[i] = effort[i] = 0;
        double pushes = q->kind == PL_PARAMETER_EFFORT && q->index == i ? 1 : 0;
        const double rate = q->kind == PL_PARAMETER_COMMAND ? command_rate(g, i, q, command) : 0;
        if (d->mode == GEO_CONSTRAINT) {
            target[i] = d->active ? rate : 0;
            // an effort beside a constraint that holds changes nothing but the share of the constraint
        } else if (d->mode == GEO_FORCE) {
            pushes += rate;
        } else if (d->mode == GEO_GAS && rate != 0) {
            pushes += rate / gas_volume(g, i);
        } else if (d->mode == GEO_VOLTAGE && rate != 0) {
            pl_functional_gradient(&d->charge, x, 0.5 * rate, b);
            effort[i] += rate * pl_functional_value(&d->charge, x) / d->measure;
        }

        if (pushes != 0) {
            pl_functional_gradient(&d->h, x, -d->sign * pushes, b);
            effort[i] += pushes;
        }
    }

    for (int64_t i = 0; i < 3 * (int64_t)g->vertex_count; ++i) {
        b[i] = g->support_of[i] < 0 ? b[i] : 0;
    }
}

// The change of the efforts: of constraints by what their rows bear, of gas and films by their law.
static void column_efforts(pl_geometric *g, const column *c, const double *mu, double *work, double *effort)
{
    for (int i = 0; i < g->drive_count; ++i) {
        const geo_drive *d = &g->drive[i];
        if (d->mode == GEO_CONSTRAINT && d->active) {
            effort[i] = d->sign * mu[i];
        } else if (d->mode == GEO_GAS) {
            effort[i] -= geo_dot(g, d->row, c->dx) / d->yielding;
        } else if (d->mode == GEO_VOLTAGE) {
            memset(work, 0, 3 * (size_t)g->vertex_count * sizeof *work);
            pl_functional_gradient(&d->charge, g->x, d->value / d->measure, work);
            pl_functional_gradient(&d->h, g->x, -d->effort / d->measure, work);
            effort[i] += geo_dot(g, work, c->dx);
        }

        // films: reported as a stress over the present thickness, effort h / (h0 t)
        const pl_actuator *a = &g->robot->actuator[i];
        if (pl_actuator_growth_form(a->kind) == PL_GROWTH_AREA && a->thickness > 0) {
            memset(work, 0, 3 * (size_t)g->vertex_count * sizeof *work);
            pl_functional_gradient(&d->h, g->x, 1, work);
            effort[i] =
                (effort[i] * d->measure + d->effort * geo_dot(g, work, c->dx)) / (d->rest * a->thickness);
        }
    }
}

static void add(const pl_geometric *g, double *y, double scale, const double *x)
{
    for (int64_t i = 0; i < 3 * (int64_t)g->vertex_count; ++i) {
        y[i] += scale * x[i];
    }
}

// Makes q orthonormal to those there are (twice: rounding), p along with it; false: nothing is left of it.
static bool direction_add(const pl_geometric *g, directions *D, double *p, double *q)
{
    const double whole = sqrt(geo_dot(g, q, q));
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < D->count; ++k) {
            const double along = geo_dot(g, D->q[k], q);
            add(g, q, -along, D->q[k]);
            add(g, p, -along, D->p[k]);
        }
    }

    const double size = sqrt(geo_dot(g, q, q));
    if (!(size > 1e-12 * whole) || !isfinite(size)) {
        return false;
    }
    for (int64_t i = 0; i < 3 * (int64_t)g->vertex_count; ++i) {
        q[i] /= size;
        p[i] /= size;
    }

    D->p[D->count] = p;
    D->q[D->count++] = q;

    return true;
}

static void column_take(const pl_geometric *g, const directions *D, int k, column *c)
{
    const double along = geo_dot(g, D->q[k], c->r);
    add(g, c->dx, along, D->p[k]);
    add(g, c->r, -along, D->q[k]);
}

// Brings r = M(b - K dx) below `tolerance`, first with the directions there are.
static void column_solve(pl_geometric *g, const geo_tangent *t, directions *D, double tolerance, column *c,
                         double *right, double *mu)
{
    for (int k = 0; k < D->count; ++k) {
        column_take(g, D, k, c);
    }
    while (sqrt(geo_dot(g, c->r, c->r)) > 0.1 * tolerance && D->count < DIRECTIONS) {
        double *p = PL_NEW_ARRAY(double, 3 * (int64_t)g->vertex_count),
               *q = PL_NEW_ARRAY(double, 3 * (int64_t)g->vertex_count);
        bool found = p && q;

        if (found) {
            memcpy(p, c->r, 3 * (size_t)g->vertex_count * sizeof *p);
            // a small residual is rounded as the large one it comes from: out of the rows with it again
            found = restrict_rows(g, right, mu, p);
            geo_tangent_apply(g, t, p, c->Kv);
            found = found && project(g, c->Kv, right, mu, q) && direction_add(g, D, p, q);
        }

        if (!found) {
            pl_free(p);
            pl_free(q);
            break;
        }

        column_take(g, D, D->count - 1, c);
    }
}

// Corner vertices, and mid nodes along with their edges.
static void column_write(const pl_geometric *g, const double *dx, int j, int count, double *out)
{
    for (int32_t v = 0; v < g->corner_count; ++v) {
        for (int i = 0; i < 3; ++i) {
            out[(3 * (int64_t)g->map.vertex_of[v] + i) * count + j] = dx[3 * (int64_t)v + i];
        }
    }

    for (int32_t k = 0; k < g->map.mid_count; ++k) {
        const geo_mid *m = &g->map.mid[k];
        double dF[9], offset[3] = {0};
        if (pl_norm3(m->offset) > 0) {
            geo_element_gradient(g, dx, m->element, dF);
            pl_mulv3(dF, m->offset, offset);
        }

        for (int i = 0; i < 3; ++i) {
            out[(3 * (int64_t)m->vertex + i) * count + j] =
                0.5 * (dx[3 * (int64_t)m->a + i] + dx[3 * (int64_t)m->b + i]) + offset[i];
        }
    }
}

static pl_status sensitivity_check(const pl_geometric *g, const pl_parameter *q, int count, pl_error *err)
{
    for (int j = 0; j < count; ++j) {
        const bool command =
            q[j].kind == PL_PARAMETER_COMMAND && q[j].index >= 0 && q[j].index < g->robot->command_count;
        const bool effort = q[j].kind == PL_PARAMETER_EFFORT && q[j].index >= 0 &&
                            q[j].index < g->drive_count &&
                            pl_actuator_growth_form(g->robot->actuator[q[j].index].kind) != PL_GROWTH_AREA;
        if (!command && !effort) {
            return pl_fail(err, PL_BAD_INPUT,
                           "local_global: derivatives are with respect to commands and efforts of cables and "
                           "chambers only");
        }
    }

    return geo_differentiable(g) ? PL_OK
                                 : pl_fail(err, PL_BAD_INPUT,
                                           "local_global: no derivatives in the vertex metric, with growth, "
                                           "contact or loose rigid regions");
}

bool pl_geometric_differentiable(const pl_geometric *g)
{
    return geo_differentiable(g);
}

pl_status pl_geometric_sensitivity(pl_geometric *g, const pl_state *state, const pl_parameter *parameter,
                                   int count, double tolerance, double *position, double *effort,
                                   pl_geometric_slopes *report, pl_error *err)
{
    *report = (pl_geometric_slopes){0};
    pl_status status = sensitivity_check(g, parameter, count, err);
    if (status == PL_OK) {
        status = geo_linearize(g, state, err);
    }
    if (status != PL_OK) {
        return status;
    }

    const int64_t n = 3 * (int64_t)g->vertex_count;
    const int solves = g->now.solves;
    directions D = {.count = 0};
    column c = {PL_NEW_ARRAY(double, n), PL_NEW_ARRAY(double, n), PL_NEW_ARRAY(double, n),
                PL_NEW_ARRAY(double, n)};
    double *small = PL_NEW_ARRAY(double, 4 * g->drive_count + 4);
    geo_tangent *t = NULL;
    status = c.dx && c.r && c.Kv && c.b && small ? geo_tangent_create(g, g->x, &t, err)
                                                 : pl_fail_memory(err, "local_global: derivatives");
    double *target = small, *change = small + g->drive_count, *right = change + g->drive_count,
           *mu = right + g->drive_count;

    for (int j = 0; status == PL_OK && j < count; ++j) {
        column_begin(g, &parameter[j], state->command, g->x, c.b, target, change);

        // the part that meets the rows, then the rest in their null space; the residual of the iteration is
        // updated from step to step, so it is computed again until it is what it seems to be
        memset(c.dx, 0, (size_t)n * sizeof *c.dx);
        bool met = rows_meet(g, target, mu);
        add_rows(g, mu, 1, c.dx);
        double first = 0, left = INFINITY;

        for (int pass = 0; met && pass < PASSES; ++pass) {
            geo_tangent_apply(g, t, c.dx, c.Kv);
            for (int64_t i = 0; i < n; ++i) {
                c.Kv[i] = c.b[i] - c.Kv[i];
            }
            met = project(g, c.Kv, right, mu, c.r);
            left = sqrt(geo_dot(g, c.r, c.r));
            first = pass == 0 ? left : first;
            if (!(left > tolerance * first)) {
                break;
            }
            column_solve(g, t, &D, tolerance * first, &c, right, mu);
        }

        report->residual = fmax(report->residual, first > 0 ? left / first : 0);
        if (!met || !isfinite(report->residual)) {
            status =
                pl_fail(err, PL_FAILED,
                        "local_global: the constraints of the actuators depend on each other, so there is "
                        "no derivative");
            break;
        }

        // what the rows bear: z . (b - K dx)
        geo_tangent_apply(g, t, c.dx, c.Kv);
        add(g, c.b, -1, c.Kv);
        for (int k = 0; k < g->drive_count; ++k) {
            const geo_drive *d = &g->drive[k];
            right[k] = d->mode == GEO_CONSTRAINT && d->active ? geo_dot(g, d->z, c.b) : 0;
        }

        rows_meet(g, right, mu);
        column_efforts(g, &c, mu, c.Kv, change);
        column_write(g, c.dx, j, count, position);
        for (int k = 0; k < g->drive_count; ++k) {
            effort[(int64_t)k * count + j] = change[k];
        }
    }

    report->solves = g->now.solves - solves;
    for (int k = 0; k < D.count; ++k) {
        pl_free(D.p[k]);
        pl_free(D.q[k]);
    }

    geo_tangent_destroy(t);
    void *const block[] = {c.dx, c.r, c.Kv, c.b, small};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }

    return status;
}
