// Derivatives of a solution as a program asks for them: markers, sensors, efforts, readings with respect to
// parameters. The linear systems are the problem's (problem/problem_sensitivity.c).
#include "statics/statics_impl.h"
#include "robot/robot_kind.h"

// Spatial rotation vector of R = polar(A) for a change dA: R^T dR = [w']x where (tr(S) I - S) w' =
// axial(R^T dA - dA^T R), S = R^T A, w = R w'.
static void spin_of(const double A[9], const double R[9], const double dA[9], double w[3])
{
    double S[9], M[9], Y[9], C[9], r[3], body[3];
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

// Of a marker's frame for the motion dx: A's change is dA = sum w dd r^T.
static void marker_spin(const pl_statics *s, const pl_marker *marker, const double *x, const double *dx,
                        double w[3])
{
    double A[9], dA[9], R[9];
    statics_marker_moment(s, marker, x, A);
    pl_nearest_rotation3(A, R);
    statics_marker_moment(s, marker, dx, dA);
    spin_of(A, R, dA, w);
}

static void marker_change(const pl_statics *s, const pl_marker *marker, const double *x, const double *dx,
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
    pl_nearest_rotation3(A, R);
    pl_mulv3(R, marker->offset, arm);
    pl_cross3(spin, arm, turn);
    for (int i = 0; i < 3; ++i) {
        out[i] += turn[i];
    }
}

// The transpose of marker_change. The marker moves by sum w_j dx_j + spin x arm, and spin is linear in dA =
// sum w_j dx_j r_j^T, so its part is w_j G r_j with G_ab the change of by_marker . (spin x arm) + by_rotation
// . spin per dA_ab.
void pl_statics_pull_marker(const pl_statics *s, const pl_state *state, int m, const double *by_marker,
                            const double *by_rotation, double *by_position)
{
    const pl_marker *marker = &s->robot->marker[m];
    const pl_point *point = &marker->point, *patch = &marker->patch;

    for (int32_t j = 0; by_marker && j < point->count; ++j) {
        for (int i = 0; i < 3; ++i) {
            by_position[3 * (int64_t)point->node[j] + i] += point->weight[j] * by_marker[i];
        }
    }

    if (!marker->frame) {
        return;
    }

    double A[9], R[9], arm[3], torque[3] = {0}, G[9];
    statics_marker_moment(s, marker, state->x, A);
    pl_nearest_rotation3(A, R);
    pl_mulv3(R, marker->offset, arm);
    if (by_marker) {
        pl_cross3(arm, by_marker, torque); // by . (spin x arm) = spin . (arm x by)
    }
    for (int i = 0; by_rotation && i < 3; ++i) {
        torque[i] += by_rotation[i];
    }
    if (pl_norm3(torque) == 0) {
        return;
    }

    for (int k = 0; k < 9; ++k) {
        double dA[9] = {0}, spin[3];
        dA[k] = 1;
        spin_of(A, R, dA, spin);
        G[k] = pl_dot3(torque, spin);
    }

    const double *X = s->problem->mesh.position;
    double total = 0, c0[3] = {0};
    for (int32_t j = 0; j < patch->count; ++j) {
        total += patch->weight[j];
        for (int i = 0; i < 3; ++i) {
            c0[i] += patch->weight[j] * X[3 * (int64_t)patch->node[j] + i];
        }
    }

    for (int32_t j = 0; j < patch->count; ++j) {
        const int64_t v = 3 * (int64_t)patch->node[j];
        for (int k = 0; k < 9; ++k) {
            by_position[v + k / 3] += patch->weight[j] * G[k] * (X[v + k % 3] - c0[k % 3] / total);
        }
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

// Outputs of the terms: efforts and measures of actuators, and of sensors that read them; readings.
static void jacobian_outputs(pl_statics *s, const pl_state *state, const pl_parameter *q, int j, int count,
                             const double *dx, const double *mu, const pl_jacobian *out)
{
    const pl_robot *robot = s->robot;
    const int outputs = pl_problem_output_count(s->problem);
    int reading = 0;

    for (int k = 0; k < outputs; ++k) {
        const pl_output output = pl_problem_output(s->problem, k);
        double *row = output.kind == PL_OUTPUT_EFFORT    ? out->effort
                      : output.kind == PL_OUTPUT_MEASURE ? out->measure
                                                         : out->reading;
        const int at = output.kind == PL_OUTPUT_READING ? reading++ : output.actuator;
        if (!row && (!out->sensor || output.kind == PL_OUTPUT_READING)) {
            continue;
        }
        const double change = pl_problem_change(s->problem, state, k, dx, mu, q);
        if (row) {
            row[at * count + j] = change;
        }
        for (int i = 0; out->sensor && i < robot->sensor_count; ++i) {
            const pl_sensor *sensor = &robot->sensor[i];
            const pl_sensor_reads reads = pl_sensor_traits_get(sensor->kind)->reads;
            const bool same = (reads == PL_READS_MEASURE && output.kind == PL_OUTPUT_MEASURE) ||
                              (reads == PL_READS_EFFORT && output.kind == PL_OUTPUT_EFFORT);
            if (same && sensor->actuator == at) {
                out->sensor[i * count + j] = change;
            }
        }
    }
}

void pl_statics_motion(const pl_statics *s, const pl_state *state, const double *dx, int j, int count,
                       const pl_jacobian *out)
{
    const pl_robot *robot = s->robot;
    for (int64_t i = 0; out->position && i < 3 * (int64_t)s->problem->mesh.vertex_count; ++i) {
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

    for (int k = 0; out->sensor && k < robot->sensor_count; ++k) {
        const pl_sensor *sensor = &robot->sensor[k];
        if (pl_sensor_is_line(sensor->kind)) {
            out->sensor[k * count + j] = string_change(sensor->guide, sensor->guide_count, state->x, dx);
        }
    }
}

void statics_jacobian_column(pl_statics *s, const pl_state *state, const pl_parameter *q, int j, int count,
                             const double *dx, const double *mu, const pl_jacobian *out)
{
    pl_statics_motion(s, state, dx, j, count, out);
    jacobian_outputs(s, state, q, j, count, dx, mu, out);
}

// At a held shape derivatives are those of a sudden further change, at constant strain of the viscous
// branches. A constant of a material, a layer or a fibre has no such derivative: with another value the
// branches would have relaxed differently.
static pl_status sensitivity_check_held(const pl_statics *s, const pl_parameter *q, pl_error *err)
{
    const bool construction =
        q->kind == PL_PARAMETER_MATERIAL || q->kind == PL_PARAMETER_LAYER || q->kind == PL_PARAMETER_FIBRE;

    if (!s->creep.on || !construction) {
        return PL_OK;
    }

    return pl_fail(err, PL_BAD_INPUT,
                   "jacobian: derivatives with respect to constants of %s are not known at a shape held for "
                   "a time, which depends on them through its history too: use the relaxed shape, or "
                   "differences of shapes held with two values",
                   q->kind == PL_PARAMETER_MATERIAL ? "materials"
                   : q->kind == PL_PARAMETER_LAYER  ? "layers"
                                                    : "fibres");
}

// Checks the question and stands at the state with the true tangent.
static pl_status sensitivity_begin(pl_statics *s, const pl_state *state, const pl_parameter *parameter,
                                   int count, pl_sensitivity_report *report, pl_error *err)
{
    pl_problem *p = s->problem;
    *report = (pl_sensitivity_report){.negative_count = -1};
    if (state->robot_hash != s->robot->hash || state->vertex_count != p->mesh.vertex_count) {
        return pl_fail(err, PL_BAD_INPUT, "statics: the state belongs to another robot");
    }

    pl_status status = PL_OK;
    bool slack_free = false;
    for (int j = 0; status == PL_OK && j < count; ++j) {
        status = pl_parameter_check(p, &parameter[j], err);
        status = status == PL_OK ? sensitivity_check_held(s, &parameter[j], err) : status;
        slack_free = slack_free || parameter[j].kind == PL_PARAMETER_EFFORT;
    }

    p->linear.factorizations = p->linear.solves = 0;
    pl_newton_watch(&s->newton, &s->options.progress, "derivatives", 0);

    return status == PL_OK ? pl_sensitivity_begin(p, state, slack_free, report, err) : status;
}

static pl_jacobian_report sensitivity_report(const pl_statics *s, const pl_sensitivity_report *report)
{
    return (pl_jacobian_report){.factorizations = s->problem->linear.factorizations,
                                .solves = s->problem->linear.solves,
                                .residual = report->residual,
                                .one_sided = report->one_sided,
                                .friction = s->problem->friction_acts,
                                .negative_count = report->negative_count};
}

pl_status pl_statics_jacobian(pl_statics *s, const pl_state *state, const pl_parameter *parameter, int count,
                              const pl_jacobian *out, pl_jacobian_report *report, pl_error *err)
{
    pl_sensitivity_report found;
    pl_status status = sensitivity_begin(s, state, parameter, count, &found, err);
    const size_t mark = pl_arena_begin(&s->problem->scratch);
    double *dx = pl_problem_take_full(s->problem), mu[PL_ROWS_MAX];
    bool together = false;

    for (int j = 0; status == PL_OK && j < count; ++j) {
        const int rest = count - j;
        s->newton.watch.fraction = (double)j / count;
        if (j % PL_SIDES == 0) {
            together =
                pl_sensitivity_together(s->problem, state, parameter + j, rest < PL_SIDES ? rest : PL_SIDES);
        }
        status = pl_newton_continue(&s->newton)
                     ? pl_sensitivity_column(s->problem, state, &parameter[j], together ? j % PL_SIDES : -1,
                                             dx, mu, &found, err)
                     : pl_fail(err, PL_INTERRUPTED, "interrupted while taking derivatives");
        if (status == PL_OK) {
            statics_jacobian_column(s, state, &parameter[j], j, count, dx, mu, out);
        }
    }

    pl_arena_end(&s->problem->scratch, mark);
    *report = sensitivity_report(s, &found);

    return status;
}

pl_status pl_statics_adjoint(pl_statics *s, const pl_state *state, const double *by_position,
                             const double *by_effort, const pl_parameter *parameter, int count,
                             double *gradient, pl_jacobian_report *report, pl_error *err)
{
    pl_sensitivity_report found;
    const int outputs = pl_problem_output_count(s->problem);
    double *by_output = PL_NEW_ARRAY(double, outputs);
    pl_status status = by_output ? sensitivity_begin(s, state, parameter, count, &found, err)
                                 : pl_fail_memory(err, "statics: adjoint");

    for (int k = 0; status == PL_OK && by_effort && k < outputs; ++k) {
        const pl_output output = pl_problem_output(s->problem, k);
        by_output[k] = output.kind == PL_OUTPUT_EFFORT ? by_effort[output.actuator] : 0;
    }

    if (status == PL_OK) {
        status = pl_sensitivity_adjoint(s->problem, state, by_position, by_output, parameter, count, gradient,
                                        &found, err);
    }

    *report = by_output ? sensitivity_report(s, &found) : (pl_jacobian_report){.negative_count = -1};
    pl_free(by_output);

    return status;
}
