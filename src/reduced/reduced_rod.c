// Solving a rod: Newton on the boundary-value problem, all elements at once. A step is taken in the elements'
// own deformations and the nodes are placed again from the base, so that a step turns a slender rod by any
// angle without stretching it. Damped by the natural monotonicity test (the next step, computed with the old
// factor, must be smaller); where that fails the loads are applied in parts. Measures asked for (lengths,
// volumes) are constraints with the force as multiplier; cables cannot push.
#include <stdio.h>
#include "reduced/reduced_rod_solver.h"
#include "robot/robot_kind.h"
#include "solver/solver.h"
#include "robot/robot_def.h"

#define ROD_TOLERANCE 1e-11 // rad, and chord change over element length: size of the last step
#define ROD_ITERATIONS 60   // Newton steps on one load increment
#define ROD_PARTS_MAX 400   // load increments in one solve
#define ROD_TURN_MAX 1.0    // rad an element may turn in one step

// The unknowns are 6 numbers per element and the share of the loads; they live in m->own.
static pl_status rod_create(pl_reduced_model *m, pl_error *err)
{
    rod_data *r = REDUCED_TAKE(m, rod_data, 1);
    m->kind_data = r;
    pl_status status = r ? reduced_line(m, err) : pl_fail_memory(err, "the rod");
    status = status == PL_OK ? rod_build(m, r, err) : status;
    if (status == PL_OK) {
        m->own_count = 6 * (size_t)r->elements + 1;
    }

    return status;
}

// Straight and without stress: chords along z with the length of the elements.
static void rod_reset(pl_reduced_model *m)
{
    rod_data *r = m->kind_data;
    r->x = (rod_state *)m->own;
    r->load = m->own + 6 * r->elements;
    r->warm = false; // nothing of earlier solves
    for (int e = 0; e < r->elements; ++e) {
        r->x[e] = (rod_state){.c = {0, 0, r->element[e].h}};
    }
    for (int a = 0; a < m->actuator_count; ++a) {
        r->drive[a] = (rod_drive){0};
    }
    rod_place(m, r);

    for (int i = 0; i < m->sensor_count; ++i) {
        if (r->sensor_functional[i] >= 0) {
            m->answer.sensor[i] = r->functional[r->sensor_functional[i]].rest;
        }
    }
}

// ---- one linear step
// `fresh`: rows B and columns Y are computed with the new factor, otherwise those of the last one are used.
// [K B^T S; B 0] [dx; df] = [-g; target - measure], S the signs: dx = z - Y df, Y = K^-1 S B^T.
static bool rod_border(pl_reduced_model *m, rod_data *r, bool fresh)
{
    const int n = 6 * r->elements, A = m->actuator_count;

    // constraints that are enforced at present
    int active[REDUCED_ACTUATORS_MAX], count = 0;

    for (int a = 0; a < A; ++a) {
        if (r->drive[a].active) {
            active[count++] = a;
        }
    }

    if (fresh) {
        for (int i = 0; i < count; ++i) {
            double *row = r->row + (size_t)n * (size_t)active[i],
                   *Y = r->column + (size_t)n * (size_t)active[i];
            rod_functional_row(r, &r->functional[active[i]], row);
            for (int k = 0; k < n; ++k) {
                Y[k] = r->functional[active[i]].sign * row[k];
            }
            rod_band_solve(&r->band, Y);
            ++r->solves;
        }
    }

    // without constraints the step is K^-1 (-g) alone
    if (count == 0) {
        return true;
    }

    // Schur complement: (B Y) df = B z + measure - target
    double *S = r->small, *b = r->side;
    for (int i = 0; i < count; ++i) {
        const double *row = r->row + (size_t)n * (size_t)active[i];
        const rod_functional *f = &r->functional[active[i]];
        b[i] = rod_measure_functional(r, f) - r->drive[active[i]].target;
        for (int k = 0; k < n; ++k) {
            b[i] += row[k] * r->trial_step[k];
        }
        for (int j = 0; j < count; ++j) {
            const double *Y = r->column + (size_t)n * (size_t)active[j];
            double sum = 0;
            for (int k = 0; k < n; ++k) {
                sum += row[k] * Y[k];
            }
            S[i * count + j] = sum;
        }
    }

    if (!pl_dense_solve(count, S, b, 1)) {
        return false;
    }

    // correct the step
    for (int i = 0; i < count; ++i) {
        const double *Y = r->column + (size_t)n * (size_t)active[i];
        for (int k = 0; k < n; ++k) {
            r->trial_step[k] -= Y[k] * b[i];
        }
        r->drive[active[i]].from = b[i]; // change of the force, applied with the step
    }

    return true;
}

// The step at the present state into trial_step, with a new factor or the one at hand; its size, or -1.
static double rod_linear(pl_reduced_model *m, rod_data *r, bool fresh)
{
    rod_assemble(m, r, fresh);
    if (fresh) {
        r->warm = false;
        ++r->factorizations;
        if (!rod_band_factor(&r->band)) {
            return -1;
        }
    }

    for (int k = 0; k < 6 * r->elements; ++k) {
        r->trial_step[k] = -r->residual[k];
    }
    rod_band_solve(&r->band, r->trial_step);
    ++r->solves;
    if (!rod_border(m, r, fresh)) {
        return -1;
    }

    const double size = rod_apply(r, r->trial_step, 1, NULL);

    return isfinite(size) ? size : -1;
}

// Adds factor times the step to elements and constraint forces, and places the nodes.
static void rod_move(pl_reduced_model *m, rod_data *r, const double *step, const double *force, double factor)
{
    rod_apply(r, step, factor, r->x);
    for (int a = 0; a < m->actuator_count; ++a) {
        if (r->drive[a].active) {
            r->drive[a].force += factor * force[a];
        }
    }

    rod_place(m, r);
}

// Changes of the constraint forces that belong to the step, and the forces now.
static void rod_keep_forces(const pl_reduced_model *m, const rod_data *r, double *force, double *now)
{
    for (int a = 0; a < m->actuator_count; ++a) {
        force[a] = r->drive[a].from;
        now[a] = r->drive[a].force;
    }
}

// Takes the step with the largest factor whose next simplified step is smaller. Returns the size of that next
// step (which is left in trial_step), -1 when there is none.
static double rod_damped(pl_reduced_model *m, rod_data *r, double size, double *taken)
{
    const int n = 6 * r->elements;
    double force[REDUCED_ACTUATORS_MAX], now[REDUCED_ACTUATORS_MAX];

    memcpy(r->step, r->trial_step, (size_t)n * sizeof *r->step);
    memcpy(r->kept, r->x, (size_t)r->elements * sizeof *r->kept);
    rod_keep_forces(m, r, force, now);

    for (double factor = fmin(1, ROD_TURN_MAX / size); factor > 1e-4; factor *= 0.5) {
        rod_move(m, r, r->step, force, factor);
        const double next = rod_linear(m, r, false);
        // natural monotonicity: the simplified step at the new point must be shorter
        if (next >= 0 && next <= (1 - 0.25 * factor) * size) {
            *taken = factor;
            return next;
        }

        // otherwise back, and half of the step
        memcpy(r->x, r->kept, (size_t)r->elements * sizeof *r->kept);
        for (int a = 0; a < m->actuator_count; ++a) {
            r->drive[a].force = now[a];
        }
        rod_place(m, r);
    }

    return -1;
}

// True: converged, and the last step has been taken.
static bool rod_newton(pl_reduced_model *m, rod_data *r)
{
    double force[REDUCED_ACTUATORS_MAX], now[REDUCED_ACTUATORS_MAX];
    for (int iteration = 0; iteration < ROD_ITERATIONS; ++iteration) {
        // the factor that gave the last derivatives serves for a first step from there
        double size = rod_linear(m, r, !(iteration == 0 && r->warm)), taken = 1;
        ++r->iterations;
        // steps with the same factor go on as long as each is a tenth of the one before
        while (size > ROD_TOLERANCE) {
            const double next = rod_damped(m, r, size, &taken);
            if (next < 0 && r->warm) {
                r->warm = false; // too old after all
                break;
            }

            if (next < 0) {
                return false;
            }
            const double ratio = next / size;
            size = next;
            // slow convergence or a damped step: a new factor pays
            if (taken < 1 || (ratio > 0.1 && size > ROD_TOLERANCE)) {
                break;
            }
        }

        if (size < 0 && !r->warm) {
            return false;
        }
        r->warm = r->warm && size >= 0;

        // converged: the step that is left is below the tolerance and costs nothing
        if (size >= 0 && size <= ROD_TOLERANCE) {
            rod_keep_forces(m, r, force, now);
            rod_move(m, r, r->trial_step, force, 1);
            return true;
        }
    }

    return false;
}

// ---- the load path from one command to the next
static bool rod_is_geometric(const reduced_actuator *a, double value)
{
    return pl_drive_is_geometric(a->drive) && (!isnan(value) || a->idle_hold);
}

// Prescribed measures start from where they are; efforts that act go to those commanded.
static void rod_load_path(const pl_reduced_model *m, rod_data *r)
{
    for (int a = 0; a < m->actuator_count; ++a) {
        const reduced_actuator *act = &m->actuator[a];
        rod_drive *d = &r->drive[a];
        d->geometric = rod_is_geometric(act, m->value[a]);
        d->force = m->answer.effort[a];

        if (d->geometric) {
            d->to = isnan(m->value[a]) ? act->rest : pl_drive_target(act->drive, act->rest, m->value[a]);
            // a cable is enforced if it pulls already, or is to become shorter than it is
            d->active = pl_actuator_encloses(act->kind) || d->force > 0 || d->to < m->answer.measure[a];
            d->target = m->answer.measure[a];
        } else {
            d->active = false;
            d->to = isnan(m->value[a]) || pl_drive_is_geometric(act->drive) ? 0 : m->value[a];
            // a cable cannot push
            d->to = pl_actuator_pulls_only(act->kind) ? fmax(d->to, 0) : d->to;
        }
    }
}

// Sets forces and targets at the share `t` of the load path; `start` holds where it began.
static void rod_at(const pl_reduced_model *m, rod_data *r, const double *start, double load, double t)
{
    for (int a = 0; a < m->actuator_count; ++a) {
        rod_drive *d = &r->drive[a];
        // `from` is scratch of the linear step, so the start of the path is kept apart
        const double at = t >= 1 ? d->to : start[a] + t * (d->to - start[a]);
        if (d->geometric) {
            d->target = at;
            d->force = d->active ? d->force : 0;
        } else {
            d->force = at;
        }
    }

    // loads of the file and forces at markers along the same path
    *r->load = t >= 1 ? 1 : load + t * (1 - load);
    for (int i = 0; i < 3 * m->marker_count; ++i) {
        const double from = m->force_from[i], to = m->wanted_force[i];
        m->acting[i] = t >= 1 ? to : from + t * (to - from);
    }
}

// Equilibrium with cables that cannot push: those in compression go slack, slack ones that grew too long
// pull. Active-set iteration; the bound on rounds ends cycles between two cables.
static bool rod_equilibrium(pl_reduced_model *m, rod_data *r)
{
    for (int round = 0; round < 2 * m->actuator_count + 4; ++round) {
        if (!rod_newton(m, r)) {
            return false;
        }
        bool changed = false;

        for (int a = 0; a < m->actuator_count; ++a) {
            rod_drive *d = &r->drive[a];
            if (!d->geometric || pl_actuator_encloses(m->actuator[a].kind)) {
                continue;
            }
            // tension must not be negative, and a slack cable must not be longer than its target
            const double excess = rod_measure_functional(r, &r->functional[a]) - d->target;
            if (d->active && d->force < 0) {
                d->active = false;
                d->force = 0;
                changed = true;
            } else if (!d->active && excess > 1e-10 * m->actuator[a].rest) {
                d->active = true;
                changed = true;
            }
        }

        if (!changed) {
            return true;
        }
    }

    return false;
}

// Efforts, measures, length sensors and elastic energy of the state.
static void rod_answers(pl_reduced_model *m, rod_data *r)
{
    for (int a = 0; a < m->actuator_count; ++a) {
        m->answer.effort[a] = r->drive[a].force;
        m->answer.measure[a] = rod_measure_functional(r, &r->functional[a]);
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        if (r->sensor_functional[i] >= 0) {
            m->answer.sensor[i] = rod_measure_functional(r, &r->functional[r->sensor_functional[i]]);
        }
    }

    *m->answer.energy = rod_elastic(r, NULL);
}

// Factor at the present state, with the rows of all functionals and K^-1 of the actuators' rows.
static void rod_refactor(pl_reduced_model *m, rod_data *r, pl_jacobian_report *report)
{
    const int A = m->actuator_count, n = 6 * r->elements;
    rod_assemble(m, r, true);
    const bool ok = rod_band_factor(&r->band);
    report->residual = ok ? 0 : NAN;

    for (int a = 0; a < r->functional_count; ++a) {
        double *row = r->row + (size_t)n * (size_t)a;
        rod_functional_row(r, &r->functional[a], row);

        if (a < A) {
            double *Y = r->column + (size_t)n * (size_t)a;
            for (int k = 0; k < n; ++k) {
                Y[k] = r->functional[a].sign * row[k];
            }
            rod_band_solve(&r->band, Y);
        }
    }

    report->factorizations = 1;
    report->solves = A;
    m->prepared = r->warm = ok;
}

// Whether loads have a potential: then the tangent is symmetric and says whether an equilibrium is stable.
static bool rod_is_conservative(const pl_reduced_model *m)
{
    bool yes = true;
    for (int i = 0; i < m->force_count; ++i) {
        const double *M = m->force[i].moment;
        yes = yes && !m->force[i].follower && M[0] == 0 && M[1] == 0 && M[2] == 0;
    }

    return yes;
}

// Negative eigenvalues of the tangent where held measures are constant: those of K less those of
// B K^-1 B^T (its entries are row_a Y_b, with the sign of b). Needs the factor at the present state.
static int rod_negative(const pl_reduced_model *m, rod_data *r)
{
    const size_t n = 6 * (size_t)r->elements;
    int active[REDUCED_ACTUATORS_MAX], count = 0, negative = r->band.negative;

    for (int a = 0; a < m->actuator_count; ++a) {
        active[count] = a;
        count += r->drive[a].active;
    }

    if (negative == 0 || count == 0) {
        return negative;
    }

    double *X = r->small, *value = r->side;

    // X = B K^-1 B^T, symmetric after the sign of chambers is removed
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            const double *row = r->row + n * (size_t)active[i], *Y = r->column + n * (size_t)active[j];
            double sum = 0;
            for (size_t k = 0; k < n; ++k) {
                sum += row[k] * Y[k];
            }
            X[i * count + j] = r->functional[active[j]].sign * sum;
        }
    }

    pl_dense_eigen(count, X, value, NULL);
    for (int i = 0; i < count; ++i) {
        negative -= value[i] < 0;
    }

    return negative;
}

// Every solve ends with a factor at its end, which the derivatives use as well.
static void rod_prove(pl_reduced_model *m, rod_data *r, pl_solve_report *report)
{
    pl_jacobian_report factor = {0};
    rod_refactor(m, r, &factor);
    report->factorizations += factor.factorizations;
    report->solves += factor.solves;
    report->negative_count = rod_is_conservative(m) ? rod_negative(m, r) : -1;

    if (report->outcome == PL_SOLVED && report->negative_count > 0) {
        report->outcome = PL_UNSTABLE;
        snprintf(report->message, sizeof report->message,
                 "the equilibrium is unstable (%d negative eigenvalues): the rod buckles",
                 report->negative_count);
    }
}

// residual: N, largest nodal force that the last evaluation left
static void rod_report(pl_reduced_model *m, rod_data *r, double reached, int parts, pl_solve_report *report)
{
    // what the last step left when it began; it was tiny
    for (int i = 0; i < r->elements; ++i) {
        report->residual = fmax(report->residual, pl_norm3(r->residual + 6 * i));
    }
    report->residual_relative = r->largest > 0 ? report->residual / r->largest : 0;
    report->iterations = r->iterations;
    report->factorizations = r->factorizations;
    report->solves = r->solves;
    report->increments = parts;
    report->load_reached = reached;
    report->outcome = reached >= 1 ? PL_SOLVED : PL_STEP_LIMIT;
    if (reached < 1) {
        snprintf(report->message, sizeof report->message,
                 "the rod reached %.3g %% of the load; no equilibrium was found beyond", 100 * reached);
    }

    // prescribed measures against their targets, relative to rest
    for (int a = 0; a < m->actuator_count; ++a) {
        const rod_drive *d = &r->drive[a];
        const double off = d->active ? fabs(m->answer.measure[a] - d->target) / m->actuator[a].rest : 0;
        report->constraint_error = fmax(report->constraint_error, off);
    }

    for (int e = 0; e < r->elements; ++e) {
        report->max_stretch = fmax(report->max_stretch, r->g[e].V[2] / r->element[e].h);
    }
}

// Short of the goal: the values that were reached. Idle is what pulls no more.
static void rod_values(pl_reduced_model *m, const rod_data *r)
{
    for (int a = 0; a < m->actuator_count; ++a) {
        const reduced_actuator *act = &m->actuator[a];
        const rod_drive *d = &r->drive[a];

        if (!isnan(m->value[a]) || d->geometric || d->force != 0) {
            const double target = d->geometric ? d->target : m->answer.measure[a];
            m->value[a] =
                pl_drive_is_geometric(act->drive) ? pl_drive_value(act->drive, act->rest, target) : d->force;
        }
    }
}

// From the state of the last solve to the commanded values, in one increment if that converges.
static void rod_solve(pl_reduced_model *m, pl_solve_report *report)
{
    rod_data *r = m->kind_data;
    double start[REDUCED_ACTUATORS_MAX], force[REDUCED_ACTUATORS_MAX];
    bool active[REDUCED_ACTUATORS_MAX];

    r->iterations = r->factorizations = r->solves = 0;
    if (!m->placed) {
        rod_place(m, r);
        r->warm = false;
    }

    // start and end of the load path
    rod_load_path(m, r);
    const double load = *r->load;
    memcpy(m->force_from, m->acting, 3 * (size_t)m->marker_count * sizeof *m->acting);
    for (int a = 0; a < m->actuator_count; ++a) {
        start[a] = r->drive[a].geometric ? m->answer.measure[a] : r->drive[a].force;
    }

    // the whole path at once; when that fails, half of what is left, growing again after success
    double reached = 0, stride = 1;
    int parts = 0;

    // start of the increment, to return to
    rod_state *safe = r->safe;
    while (reached < 1 && parts++ < ROD_PARTS_MAX && stride > 1e-5) {
        memcpy(safe, r->x, (size_t)r->elements * sizeof *safe);
        for (int a = 0; a < m->actuator_count; ++a) {
            force[a] = r->drive[a].force;
            active[a] = r->drive[a].active;
        }

        const double next = fmin(1, reached + stride);
        rod_at(m, r, start, load, next);
        if (rod_equilibrium(m, r)) {
            reached = next;
            stride *= 2;
            continue;
        }

        memcpy(r->x, safe, (size_t)r->elements * sizeof *safe);
        for (int a = 0; a < m->actuator_count; ++a) {
            r->drive[a].force = force[a];
            r->drive[a].active = active[a];
        }

        rod_at(m, r, start, load, reached);
        rod_place(m, r);
        stride *= 0.5;
    }

    // answers at what was reached, and whether it is stable
    rod_answers(m, r);
    rod_report(m, r, reached, parts, report);
    rod_prove(m, r, report);
    if (reached < 1) {
        rod_values(m, r);
    }
}

// The points of a rod are its nodes.
static void rod_shape(pl_reduced_model *m)
{
    for (int i = 0; i < m->point_count; ++i) {
        memcpy(m->answer.point + 3 * i, m->frame[i].r, sizeof m->frame[i].r);
        memcpy(m->answer.point_R + 9 * i, m->frame[i].R, sizeof m->frame[i].R);
    }
}

// ---- derivatives
// Forces of all actuators by all values: an actuator driven by force has its own; active measures follow from
// B dx = d target with dx = - Y df.
static void rod_force_slopes(pl_reduced_model *m, rod_data *r)
{
    const int A = m->actuator_count, n = 6 * r->elements;
    int active[REDUCED_ACTUATORS_MAX], count = 0;

    memset(m->by.effort, 0, (size_t)(A * A) * sizeof(double));
    for (int a = 0; a < A; ++a) {
        const rod_drive *d = &r->drive[a];
        const bool pulls = pl_actuator_encloses(m->actuator[a].kind) || m->value[a] >= 0;
        m->by.effort[a * A + a] =
            !d->geometric && !isnan(m->value[a]) && pulls && !pl_drive_is_geometric(m->actuator[a].drive);
        if (d->active) {
            active[count++] = a;
        }
    }

    if (count == 0) {
        return;
    }

    // for every column j: sum over active b of S_ab df_b = - target_a' (a = j) - sum over force-driven S_aj
    double *S = r->small, *b = r->side;
    for (int i = 0; i < count; ++i) {
        const double *row = r->row + (size_t)n * (size_t)active[i];

        for (int j = 0; j < A; ++j) {
            const double *Y = r->column + (size_t)n * (size_t)j;
            double sum = 0;
            for (int k = 0; k < n; ++k) {
                sum += row[k] * Y[k];
            }
            b[i * A + j] = r->drive[j].active ? 0 : -sum * m->by.effort[j * A + j];

            for (int p = 0; p < count; ++p) {
                if (active[p] == j) {
                    S[i * count + p] = sum;
                }
            }
        }

        const int a = active[i];
        b[i * A + a] -= isnan(m->value[a]) ? 0 : pl_drive_slope(m->actuator[a].drive, m->actuator[a].rest);
    }

    if (pl_dense_solve(count, S, b, A)) {
        for (int i = 0; i < count; ++i) {
            memcpy(m->by.effort + A * active[i], b + i * A, (size_t)A * sizeof *b);
        }
    }
}

// Derivatives of a scalar with the gradient `row`, for every column of `twist` (n x A).
static void rod_row_slopes(const rod_data *r, const double *row, const double *twist, int A, double *out)
{
    memset(out, 0, (size_t)A * sizeof *out);
    for (int k = 0; k < 6 * r->elements; ++k) {
        for (int a = 0; row[k] != 0 && a < A; ++a) {
            out[a] += row[k] * twist[k * A + a];
        }
    }
}

// After a recall the scratch belongs to another state: it is derived again from the unknowns and efforts.
static void rod_ready(pl_reduced_model *m, rod_data *r)
{
    rod_place(m, r);
    for (int a = 0; a < m->actuator_count; ++a) {
        rod_drive *d = &r->drive[a];
        d->geometric = rod_is_geometric(&m->actuator[a], m->value[a]);
        d->force = m->answer.effort[a];
        d->active = d->geometric && (pl_actuator_encloses(m->actuator[a].kind) || d->force > 0);

        if (d->geometric) {
            d->to = isnan(m->value[a])
                        ? m->actuator[a].rest
                        : pl_drive_target(m->actuator[a].drive, m->actuator[a].rest, m->value[a]);
        }
    }
}

// The factor at the present state, and which measures are held. A cable that just touches: the derivative
// holds for pulling further.
static void rod_prepare(pl_reduced_model *m, rod_data *r, pl_jacobian_report *report)
{
    if (!m->prepared) {
        rod_ready(m, r);
        rod_refactor(m, r, report);
    }

    for (int a = 0; a < m->actuator_count; ++a) {
        rod_drive *d = &r->drive[a];
        const bool touches = d->geometric && !d->active && pl_actuator_pulls_only(m->actuator[a].kind) &&
                             fabs(m->answer.measure[a] - d->to) < 1e-9 * m->actuator[a].rest;
        d->active = d->active || touches;
        report->one_sided = report->one_sided || touches;
    }
}

// dx = -Y df for every value: efforts first, then the motion of all nodes, then what depends on it.
static void rod_differentiate(pl_reduced_model *m, bool points, pl_jacobian_report *report)
{
    rod_data *r = m->kind_data;
    const int A = m->actuator_count, n = 6 * r->elements;

    rod_prepare(m, r, report);
    rod_force_slopes(m, r);

    // twist of node i by value j: - sum over actuators of Y df
    double *T = m->by.twist;
    memset(T, 0, (size_t)(6 * A + n * A) * sizeof *T);
    for (int a = 0; a < A; ++a) {
        const double *Y = r->column + (size_t)n * (size_t)a, *df = m->by.effort + a * A;

        for (int j = 0; j < A; ++j) {
            for (int k = 0; df[j] != 0 && k < n; ++k) {
                T[(6 + k) * A + j] -= Y[k] * df[j];
            }
        }
    }

    // measures and length sensors by their gradients
    const double *motion = T + 6 * A;
    for (int a = 0; a < A; ++a) {
        rod_row_slopes(r, r->row + (size_t)n * (size_t)a, motion, A, m->by.measure + a * A);
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        if (r->sensor_functional[i] >= 0) {
            rod_row_slopes(r, r->row + (size_t)n * (size_t)r->sensor_functional[i], motion, A,
                           m->by.sensor + i * A);
        }
    }

    // elastic energy, points
    rod_elastic(r, r->step);
    rod_row_slopes(r, r->step, motion, A, m->by.energy);
    for (int i = 0; points && i < m->point_count; ++i) {
        memcpy(m->by.point + 3 * i * A, T + 6 * i * A, 3 * (size_t)A * sizeof *T);
    }
}

// K dx + sum over held measures of S_b row_b df_b = load, row_a dx = change_a for these: with z = K^-1 load,
// (row_a Y_b) df_b = row_a z - change_a and dx = z - Y df.
static void rod_respond(pl_reduced_model *m, const reduced_load *load, reduced_response *out,
                        pl_jacobian_report *report)
{
    rod_data *r = m->kind_data;
    const int A = m->actuator_count, n = 6 * r->elements;

    rod_prepare(m, r, report);

    // the displacements of the unit load, without the held measures
    double *x = r->step;
    memset(x, 0, (size_t)n * sizeof *x);
    if (load->marker >= 0 && m->marker[load->marker].station > 0) {
        const int at = m->marker[load->marker].station;
        double arm[3], axis[3] = {load->axis == 0, load->axis == 1, load->axis == 2};
        pl_mulv3(m->frame[at].R, m->marker[load->marker].offset, arm);
        memcpy(x + 6 * (at - 1), axis, sizeof axis);
        pl_cross3(arm, axis, x + 6 * (at - 1) + 3);
        rod_band_solve(&r->band, x);
        ++report->solves;
    } else if (load->marker < 0 && !r->drive[load->actuator].active) {
        const double *Y = r->column + (size_t)n * (size_t)load->actuator;
        for (int k = 0; k < n; ++k) {
            x[k] = -Y[k];
        }
    }

    // efforts that keep the held measures
    int active[REDUCED_ACTUATORS_MAX], count = 0;
    for (int a = 0; a < A; ++a) {
        out->effort[a] = a == load->actuator && !r->drive[a].active;
        active[count] = a;
        count += r->drive[a].active;
    }

    double *S = r->small, *b = r->side;
    for (int i = 0; i < count; ++i) {
        const double *row = r->row + (size_t)n * (size_t)active[i];
        b[i] = active[i] == load->actuator ? -1 : 0;
        for (int k = 0; k < n; ++k) {
            b[i] += row[k] * x[k];
        }
        for (int j = 0; j < count; ++j) {
            const double *Y = r->column + (size_t)n * (size_t)active[j];
            S[i * count + j] = 0;
            for (int k = 0; k < n; ++k) {
                S[i * count + j] += row[k] * Y[k];
            }
        }
    }

    if (count > 0 && !pl_dense_solve(count, S, b, 1)) {
        report->residual = NAN;
        memset(b, 0, (size_t)count * sizeof *b);
    }

    for (int i = 0; i < count; ++i) {
        const double *Y = r->column + (size_t)n * (size_t)active[i];
        out->effort[active[i]] += b[i];
        for (int k = 0; k < n; ++k) {
            x[k] -= Y[k] * b[i];
        }
    }

    // what follows from the displacements
    memset(out->twist, 0, 6 * sizeof *out->twist);
    memcpy(out->twist + 6, x, (size_t)n * sizeof *x);
    for (int a = 0; a < A; ++a) {
        rod_row_slopes(r, r->row + (size_t)n * (size_t)a, x, 1, out->measure + a);
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        if (r->sensor_functional[i] >= 0) {
            rod_row_slopes(r, r->row + (size_t)n * (size_t)r->sensor_functional[i], x, 1, out->sensor + i);
        }
    }
}

const reduced_ops reduced_rod_ops = {rod_create,        rod_solve, rod_shape,
                                     rod_differentiate, rod_reset, rod_respond};
