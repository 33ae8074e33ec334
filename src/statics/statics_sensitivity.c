// Exact derivatives of a solution: d(positions, markers, sensors, efforts)/d(parameters), forward and
// adjoint.
//
// At equilibrium G(x, q) = g(x, q) + sum_k s_k e_k a_k = 0 and h_k(x) = t_k(q). A change of parameter q gives
//   [K A^T; A -c][dx; mu] = [-dG/dq; dt/dq],
// K the true tangent with the multipliers' second derivatives, mu the change of s_k e_k (for curved
// potentials with compliance c = 1/Phi'' it is the change of Phi' caused by dx). The matrix is symmetric, so
// the adjoint uses it too.
#include "statics/statics_impl.h"

#define SENSITIVITY_ROUNDS 200 // of the fixed point for open surfaces
#define SENSITIVITY_DEPENDENT                                                                                \
    "jacobian: two actuators ask for the same thing, their targets depend on each other"

// Loads the drives and the factor with the state: K at x with all multipliers, rows, borders. True factor, no
// turning.
static pl_status sensitivity_begin(pl_statics *s, const pl_state *state, pl_jacobian_report *report,
                                   pl_error *err)
{
    if (state->robot_hash != s->robot->hash || state->vertex_count != s->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }
    *report = (pl_jacobian_report){.negative_count = -1};
    s->factorizations = s->solves = 0;
    s->started = pl_seconds();
    statics_drives_begin(s, state, state->command);
    statics_drives_set(s, 1);
    s->load = state->load;
    statics_grow(s);
    statics_follow(s, state->x);
    statics_evaluate(s, state->x, s->g);
    for (int i = 0; i < s->drive_count; ++i) {
        drive *d = &s->drive[i];
        report->one_sided =
            report->one_sided || (d->one_sided && state->command[s->robot->actuator[i].command] == 0);
        if (d->mode != MODE_CONSTRAINT) {
            continue;
        }
        // a cable without tension that stands at its target takes hold when it is pulled further
        const bool touches = d->inequality && d->measure >= d->value - 1e-9 * s->robot->actuator[i].rest;
        d->effort = state->multiplier[i];
        d->active = state->active[i] != 0 || touches;
        report->one_sided = report->one_sided || (d->inequality && d->active && d->effort <= 0);
    }
    // the factor of an earlier call at the same state is still good
    if (!statics_is_exact(s, state->x)) {
        const pl_status status = statics_factor_exact(s, state->x, err);
        if (status != PL_OK) {
            return status;
        }
    } else {
        statics_unturn(s);
    }
    report->negative_count = statics_unstable(s);
    return PL_OK;
}

// -dG/dq into b (unknowns) and dt/dq into rho (per border).
static pl_status sensitivity_rhs(pl_statics *s, const pl_state *state, const pl_parameter *p, double *b,
                                 double *rho, pl_error *err)
{
    const pl_robot *robot = s->robot;
    const int64_t n = 3 * (int64_t)s->mesh.vertex_count;
    double *full = s->g_trial;
    memset(full, 0, (size_t)n * sizeof *full);
    memset(rho, 0, STATICS_BORDERS * sizeof *rho);
    switch (p->kind) {
    case PL_PARAMETER_COMMAND:
        for (int i = 0; i < s->drive_count; ++i) {
            const pl_actuator *a = &robot->actuator[i];
            double target, force;
            if (a->command != p->index || s->drive[i].idle) {
                continue;
            }
            if (a->growth) {
                const double rate = s->drive[i].slope * pl_actuator_goal_slope(a, s->drive[i].input);
                statics_growth_force(s, i, state->x, state->load, -rate, full);
                continue;
            }
            drive_command_derivative(&s->drive[i], a, &target, &force);
            if (force != 0) {
                pl_functional_gradient(&s->drive[i].h, state->x, -s->drive[i].slope * force, full);
            }
            for (int k = 0; k < s->border_count; ++k) {
                rho[k] += s->border[k] == i ? s->drive[i].slope * target : 0;
            }
        }
        break;
    case PL_PARAMETER_FORCE: {
        const pl_point *point = &robot->marker[robot->force[p->index].marker].point;
        for (int32_t j = 0; j < point->count; ++j) {
            full[3 * (int64_t)point->node[j] + p->part] += state->load * point->weight[j];
        }
        break;
    }
    case PL_PARAMETER_MOMENT:
    case PL_PARAMETER_PRESSURE:
        for (int i = 0; i < s->load_term_count; ++i) {
            const load_term *term = &s->load_term[i];
            if (p->kind == PL_PARAMETER_MOMENT ? term->force == p->index : term->pressure == p->index) {
                // a moment's parameter is its factor, a pressure's parameter its value
                const double scale = p->kind == PL_PARAMETER_MOMENT ? term->factor : 1;
                pl_functional_gradient(&term->h, state->x, state->load * scale, full);
                if (term->open) {
                    statics_follower_add(term, state->x, state->load, full);
                }
            }
        }
        break;
    case PL_PARAMETER_GRAVITY:
        for (int32_t v = 0; v < s->mesh.vertex_count; ++v) {
            full[3 * (int64_t)v + p->part] += state->load * s->elements->vertex_mass[v];
        }
        break;
    case PL_PARAMETER_MATERIAL: {
        const pl_status status = statics_material_derivative(s, state, p->index, p->part, full, err);
        if (status != PL_OK) {
            return status;
        }
        break;
    }
    }
    statics_gather(s, full, state->x, b);
    return PL_OK;
}

// Relative residual of the plain part of the linear system: |K d + A^T mu - b| / |b| (pressures eliminated).
static double sensitivity_residual(pl_statics *s, const double *b, const double *d, const double *mu)
{
    // the pressures that belong to d are those of the last solve, corrected by the borders' share: recompute
    // them
    double *v = s->memory_s[0], *Kv = s->memory_s[1];
    memcpy(v, d, (size_t)s->n * sizeof *v);
    memset(Kv, 0, (size_t)s->n * sizeof *Kv);
    pl_sparse_multiply(&s->K, v, Kv);
    // B^T d - M/kappa dp = 0
    for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
        s->pressure_step[p] = Kv[s->pressure_dof[p]];
    }
    pl_elements_mass_solve(s->elements, s->pressure_step);
    for (int32_t p = 0; p < s->elements->pressure_count; ++p) {
        v[s->pressure_dof[p]] = s->elements->pressure_kappa[p] * s->pressure_step[p];
    }
    pl_sparse_multiply(&s->K, v, Kv);
    double error = 0, scale = 0;
    for (int32_t i = 0; i < s->n; ++i) {
        double r = Kv[i] - b[i];
        scale = fmax(scale, fabs(b[i]));
        for (int k = 0; k < s->border_count; ++k) {
            r += mu[k] * s->drive[s->border[k]].row[i];
            scale = fmax(scale, fabs(mu[k] * s->drive[s->border[k]].row[i]));
        }
        error = fmax(error, fabs(r));
    }
    return scale > 0 ? error / scale : 0;
}

// dx of all vertices from the unknowns' change: rigid bodies and driven clamps included
static void sensitivity_expand(const pl_statics *s, const double *x, const double *d, double *full)
{
    const double small = 1e-7;
    statics_move(s, x, d, small, full);
    for (int64_t i = 0; i < 3 * (int64_t)s->mesh.vertex_count; ++i) {
        full[i] = s->dof[i] >= 0 ? d[s->dof[i]] : (full[i] - x[i]) / small;
    }
    for (int b = 0; b < s->rigid_count; ++b) {
        // rigid bodies exactly: t + w x arm
        const rigid_body *body = &s->rigid[b];
        const double *q = d + body->unknown;
        double c[3] = {0};
        for (int32_t j = 0; j < body->node_count; ++j) {
            for (int i = 0; i < 3; ++i) {
                c[i] += x[3 * (int64_t)body->node[j] + i] / body->node_count;
            }
        }
        for (int32_t j = 0; j < body->node_count; ++j) {
            const int64_t v = 3 * (int64_t)body->node[j];
            double arm[3], turn[3];
            pl_sub3(x + v, c, arm);
            pl_cross3(q + 3, arm, turn);
            for (int i = 0; i < 3; ++i) {
                full[v + i] = q[i] + turn[i];
            }
        }
    }
}

// Spatial rotation vector of a marker's frame for the motion dx: R = polar(A), with A's change dA = sum w dd
// r^T, R^T dR = [w]x where (tr(S) I - S) w' = axial(R^T dA - dA^T R), S = R^T A, w = R w'.
static void marker_spin(const pl_statics *s, const pl_marker *marker, const double *x, const double *dx,
                        double w[3])
{
    double A[9], dA[9], R[9], S[9], M[9], Y[9], C[9], r[3], body[3];
    statics_marker_moment(s, marker, x, A);
    statics_rotation_of(A, R);
    statics_marker_moment(s, marker, dx, dA);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            S[3 * i + j] = R[i] * A[j] + R[3 + i] * A[3 + j] + R[6 + i] * A[6 + j];
            M[3 * i + j] = R[i] * dA[j] + R[3 + i] * dA[3 + j] + R[6 + i] * dA[6 + j];
        }
    }
    const double trace = S[0] + S[4] + S[8];
    for (int i = 0; i < 9; ++i) {
        Y[i] = (i % 4 == 0 ? trace : 0) - S[i];
    }
    r[0] = M[7] - M[5];
    r[1] = M[2] - M[6];
    r[2] = M[3] - M[1];
    pl_cofactor3(Y, C);
    const double det = pl_dot3(Y, C);
    for (int i = 0; i < 3; ++i) {
        body[i] = (C[i] * r[0] + C[3 + i] * r[1] + C[6 + i] * r[2]) / det; // Y^-1 = cof(Y)^T / det
    }
    pl_mulv3(R, body, w);
}

static void marker_change(pl_statics *s, const pl_marker *marker, const double *x, const double *dx,
                          double out[3], double spin[3])
{
    const bool space = marker->point.count == 0;
    statics_point(&marker->point, dx, out);
    if (space) {
        out[0] = out[1] = out[2] = 0;
    }
    spin[0] = spin[1] = spin[2] = 0;
    if (!marker->frame) {
        return;
    }
    marker_spin(s, marker, x, dx, spin);
    double A[9], R[9], arm[3], turn[3];
    statics_marker_moment(s, marker, x, A);
    statics_rotation_of(A, R);
    pl_mulv3(R, marker->offset, arm);
    pl_cross3(spin, arm, turn);
    for (int i = 0; i < 3; ++i) {
        out[i] += turn[i];
    }
}

static double string_change(const pl_point *guide, int count, const double *x, const double *dx)
{
    double sum = 0;
    for (int k = 0; k + 1 < count; ++k) {
        double a[3], b[3], da[3], db[3];
        statics_point(&guide[k], x, a);
        statics_point(&guide[k + 1], x, b);
        statics_point(&guide[k], dx, da);
        statics_point(&guide[k + 1], dx, db);
        const double length = pl_distance3(a, b);
        for (int i = 0; i < 3; ++i) {
            const double change = (guide[k + 1].count > 0 ? db[i] : 0) - (guide[k].count > 0 ? da[i] : 0);
            sum += (b[i] - a[i]) / length * change;
        }
    }
    return sum;
}

// Change of measure and effort of actuator i; `force` is the direct change of dPhi/dh by the parameter.
static void actuator_change(pl_statics *s, const pl_state *state, int i, const double *dx, const double *mu,
                            double force, double *measure, double *effort)
{
    const drive *d = &s->drive[i];
    const pl_actuator *a = &s->robot->actuator[i];
    memset(s->g_trial, 0, 3 * (size_t)s->mesh.vertex_count * sizeof(double));
    pl_functional_gradient(&d->h, state->x, 1, s->g_trial);
    *measure = 0;
    for (int64_t k = 0; k < 3 * (int64_t)s->mesh.vertex_count; ++k) {
        *measure += s->g_trial[k] * dx[k];
    }
    double e = d->sign * (force + d->curvature * *measure);
    if (d->mode == MODE_CONSTRAINT) {
        e = 0;
        for (int k = 0; k < s->border_count; ++k) {
            e += s->border[k] == i ? d->sign * mu[k] : 0;
        }
    }
    double now = d->effort;
    if (a->growth) {
        // `force` is the change of the ratio
        double by_ratio;
        memset(s->g_trial, 0, 3 * (size_t)s->mesh.vertex_count * sizeof(double));
        now = statics_growth_effort(s, i, state->x, state->load, &by_ratio, 1, s->g_trial);
        e = by_ratio * force;
        for (int64_t k = 0; k < 3 * (int64_t)s->mesh.vertex_count; ++k) {
            e += s->g_trial[k] * dx[k];
        }
    }
    *effort = e;
    if (a->kind == PL_FILM && a->thickness > 0) {
        const double scale = 1 / (a->rest * a->thickness);
        *effort = scale * (e * d->measure + now * *measure);
    }
}

static void jacobian_column(pl_statics *s, const pl_state *state, const pl_parameter *p, int j, int count,
                            const double *dx, const double *mu, const pl_jacobian *out)
{
    const pl_robot *robot = s->robot;
    for (int64_t i = 0; out->position && i < 3 * (int64_t)s->mesh.vertex_count; ++i) {
        out->position[i * count + j] = dx[i];
    }
    for (int m = 0; (out->marker || out->rotation) && m < robot->marker_count; ++m) {
        double move[3], spin[3];
        marker_change(s, &robot->marker[m], state->x, dx, move, spin);
        for (int i = 0; i < 3; ++i) {
            if (out->marker) {
                out->marker[(3 * m + i) * count + j] = move[i];
            }
            if (out->rotation) {
                out->rotation[(3 * m + i) * count + j] = spin[i];
            }
        }
    }
    for (int i = 0; (out->effort || out->measure || out->sensor) && i < s->drive_count; ++i) {
        const pl_actuator *a = &robot->actuator[i];
        double target, force = 0, measure, effort;
        if (p->kind == PL_PARAMETER_COMMAND && a->command == p->index && !s->drive[i].idle) {
            drive_command_derivative(&s->drive[i], a, &target, &force);
            force = a->growth ? pl_actuator_goal_slope(a, s->drive[i].input) : force;
            force *= s->drive[i].slope;
        }
        actuator_change(s, state, i, dx, mu, force, &measure, &effort);
        if (out->effort) {
            out->effort[i * count + j] = effort;
        }
        if (out->measure) {
            out->measure[i * count + j] = measure;
        }
        for (int k = 0; out->sensor && k < robot->sensor_count; ++k) {
            const pl_sensor *sensor = &robot->sensor[k];
            if (sensor->kind != PL_SENSOR_LENGTH && sensor->actuator == i) {
                out->sensor[k * count + j] = sensor->kind == PL_SENSOR_VOLUME ? measure : effort;
            }
        }
    }
    for (int k = 0; out->sensor && k < robot->sensor_count; ++k) {
        const pl_sensor *sensor = &robot->sensor[k];
        if (sensor->kind == PL_SENSOR_LENGTH) {
            out->sensor[k * count + j] = string_change(sensor->guide, sensor->guide_count, state->x, dx);
        }
    }
}

static pl_status parameter_check(const pl_statics *s, const pl_parameter *p, pl_error *err)
{
    const pl_robot *robot = s->robot;
    const int limit[] = {
        [PL_PARAMETER_COMMAND] = robot->command_count,   [PL_PARAMETER_FORCE] = robot->force_count,
        [PL_PARAMETER_MOMENT] = robot->force_count,      [PL_PARAMETER_GRAVITY] = 1,
        [PL_PARAMETER_PRESSURE] = robot->pressure_count, [PL_PARAMETER_MATERIAL] = robot->material_count};
    if ((int)p->kind < 0 || (int)p->kind >= PL_COUNT(limit)) {
        return pl_fail(err, PL_BAD_INPUT, "jacobian: parameter kind %d does not exist", (int)p->kind);
    }
    if (p->index < 0 || p->index >= limit[p->kind]) {
        return pl_fail(err, PL_BAD_INPUT, "jacobian: parameter index %d, there are %d", p->index,
                       limit[p->kind]);
    }
    const bool axis = p->kind == PL_PARAMETER_FORCE || p->kind == PL_PARAMETER_GRAVITY;
    if (axis && (p->part < 0 || p->part > 2)) {
        return pl_fail(err, PL_BAD_INPUT, "jacobian: axis %d, expected 0, 1 or 2", p->part);
    }
    return PL_OK;
}

// Solves for one parameter: the change of the unknowns into s->d, of all vertices into s->x_trial, of the
// multipliers into mu. Pressures on open surfaces add C dx to the right side, which is asked for again and
// again until it no longer changes (1e-10).
static pl_status sensitivity_column(pl_statics *s, const pl_state *state, const pl_parameter *p, double *mu,
                                    double *residual, pl_error *err)
{
    double rho[STATICS_BORDERS];
    const pl_status status = sensitivity_rhs(s, state, p, s->r, rho, err);
    if (status != PL_OK) {
        return status;
    }
    if (!statics_solve_bordered(s, s->r, rho, s->d, mu)) {
        return pl_fail(err, PL_FAILED, SENSITIVITY_DEPENDENT);
    }
    sensitivity_expand(s, state->x, s->d, s->x_trial);
    double *b = s->r;
    double change = s->has_open ? 1 : 0;
    for (int round = 0; change > 1e-10; ++round) {
        if (round == SENSITIVITY_ROUNDS) {
            return pl_fail(err, PL_FAILED,
                           "jacobian: the pressure on an open surface leaves no derivative to be found");
        }
        b = s->g_new;
        statics_follow_change(s, state->x, s->x_trial, s->g_trial);
        statics_gather(s, s->g_trial, state->x, b);
        for (int32_t i = 0; i < s->n; ++i) {
            b[i] = s->r[i] + state->load * b[i];
        }
        memcpy(s->y, s->d, (size_t)s->n * sizeof *s->y);
        statics_solve_bordered(s, b, rho, s->d, mu);
        sensitivity_expand(s, state->x, s->d, s->x_trial);
        double largest = 0;
        change = 0;
        for (int32_t i = 0; i < s->n; ++i) {
            largest = fmax(largest, fabs(s->d[i]));
            change = fmax(change, fabs(s->d[i] - s->y[i]));
        }
        change = largest > 0 ? change / largest : 0;
    }
    *residual = fmax(*residual, sensitivity_residual(s, b, s->d, mu));
    return PL_OK;
}

pl_status pl_statics_jacobian(pl_statics *s, const pl_state *state, const pl_parameter *parameter, int count,
                              const pl_jacobian *out, pl_jacobian_report *report, pl_error *err)
{
    pl_status status = PL_OK;
    for (int j = 0; status == PL_OK && j < count; ++j) {
        status = parameter_check(s, &parameter[j], err);
    }
    if (status == PL_OK) {
        status = sensitivity_begin(s, state, report, err);
    }
    for (int j = 0; status == PL_OK && j < count; ++j) {
        double mu[STATICS_BORDERS];
        status = sensitivity_column(s, state, &parameter[j], mu, &report->residual, err);
        if (status == PL_OK) {
            jacobian_column(s, state, &parameter[j], j, count, s->x_trial, mu, out);
        }
    }
    report->factorizations = s->factorizations;
    report->solves = s->solves;
    return status;
}

// The gradient parameter by parameter, where the system is not symmetric.
static pl_status adjoint_forward(pl_statics *s, const pl_state *state, const double *by_position,
                                 const double *by_effort, const pl_parameter *parameter, int count,
                                 double *gradient, pl_jacobian_report *report, pl_error *err)
{
    pl_status status = PL_OK;
    for (int j = 0; status == PL_OK && j < count; ++j) {
        double mu[STATICS_BORDERS], effort[STATICS_BORDERS] = {0};
        status = sensitivity_column(s, state, &parameter[j], mu, &report->residual, err);
        if (status != PL_OK) {
            break;
        }
        gradient[j] = 0;
        for (int64_t i = 0; by_position && i < 3 * (int64_t)s->mesh.vertex_count; ++i) {
            gradient[j] += by_position[i] * s->x_trial[i];
        }
        const pl_jacobian out = {.effort = effort};
        jacobian_column(s, state, &parameter[j], 0, 1, s->x_trial, mu, &out);
        for (int i = 0; by_effort && i < s->drive_count; ++i) {
            gradient[j] += by_effort[i] * effort[i];
        }
    }
    report->factorizations = s->factorizations;
    report->solves = s->solves;
    return status;
}

// What dJ/d(efforts) brings to the right side: per constraint, per effort, per ratio of growth.
typedef struct adjoint_side {
    double rho[STATICS_BORDERS], weight[STATICS_BORDERS], by_ratio[STATICS_BORDERS];
} adjoint_side;

static void adjoint_efforts(pl_statics *s, const pl_state *state, const double *by_effort, double *full,
                            adjoint_side *side)
{
    for (int i = 0; by_effort && i < s->drive_count; ++i) {
        const drive *d = &s->drive[i];
        const pl_actuator *a = &s->robot->actuator[i];
        const bool film = a->kind == PL_FILM && a->thickness > 0;
        // reported effort = scale * e (+ its own change with the measure for films)
        const double scale = film ? d->measure / (a->rest * a->thickness) : 1;
        double effort = d->effort;
        if (a->growth) {
            effort = statics_growth_effort(s, i, state->x, state->load, &side->by_ratio[i],
                                           by_effort[i] * scale, full);
            side->by_ratio[i] *= by_effort[i] * scale;
        }
        side->weight[i] = by_effort[i] * scale * d->sign;
        const double own = film ? by_effort[i] * effort / (a->rest * a->thickness) : 0;
        // growth has a curvature of its own, along another row
        pl_functional_gradient(&d->h, state->x, (a->growth ? 0 : side->weight[i] * d->curvature) + own, full);
        for (int k = 0; k < s->border_count; ++k) {
            if (s->border[k] == i && d->mode == MODE_CONSTRAINT) {
                side->rho[k] = side->weight[i];
            }
        }
    }
}

// dJ/dq = dJ/dx . dx/dq + dJ/de . de/dq. With [z; nu] solving the symmetric system for the right side
// [dJ/dx (+ efforts of potentials); sign dJ/de of constraints], dJ/dq = z . (-dG/dq) + nu . dt/dq (+ direct
// effort terms).
pl_status pl_statics_adjoint(pl_statics *s, const pl_state *state, const double *by_position,
                             const double *by_effort, const pl_parameter *parameter, int count,
                             double *gradient, pl_jacobian_report *report, pl_error *err)
{
    pl_status status = PL_OK;
    for (int j = 0; status == PL_OK && j < count; ++j) {
        status = parameter_check(s, &parameter[j], err);
    }
    if (status == PL_OK) {
        status = sensitivity_begin(s, state, report, err);
    }
    if (status == PL_OK && s->has_open) {
        status = adjoint_forward(s, state, by_position, by_effort, parameter, count, gradient, report, err);
    }
    if (status != PL_OK || s->has_open) {
        return status;
    }
    const int64_t n = 3 * (int64_t)s->mesh.vertex_count;
    double nu[STATICS_BORDERS], *full = s->x_trial;
    adjoint_side side = {0};
    for (int64_t i = 0; i < n; ++i) {
        full[i] = by_position ? by_position[i] : 0;
    }
    adjoint_efforts(s, state, by_effort, full, &side);
    statics_gather(s, full, state->x, s->y);
    if (!statics_solve_bordered(s, s->y, side.rho, s->d, nu)) {
        return pl_fail(err, PL_FAILED, SENSITIVITY_DEPENDENT);
    }
    report->residual = sensitivity_residual(s, s->y, s->d, nu);
    for (int j = 0; status == PL_OK && j < count; ++j) {
        double target[STATICS_BORDERS], force, unused;
        status = sensitivity_rhs(s, state, &parameter[j], s->r, target, err);
        gradient[j] = 0;
        for (int32_t i = 0; i < s->n; ++i) {
            gradient[j] += s->d[i] * s->r[i];
        }
        for (int k = 0; k < s->border_count; ++k) {
            gradient[j] += nu[k] * target[k];
        }
        for (int i = 0; i < s->drive_count; ++i) {
            const pl_actuator *a = &s->robot->actuator[i];
            if (parameter[j].kind == PL_PARAMETER_COMMAND && a->command == parameter[j].index &&
                !s->drive[i].idle) {
                drive_command_derivative(&s->drive[i], a, &unused, &force);
                if (a->growth) {
                    gradient[j] +=
                        side.by_ratio[i] * pl_actuator_goal_slope(a, s->drive[i].input) * s->drive[i].slope;
                }
                gradient[j] += side.weight[i] * s->drive[i].slope * force;
            }
        }
    }
    report->factorizations = s->factorizations;
    report->solves = s->solves;
    return status;
}
