// The learned model behind pl_model: answers and derivatives of the networks, the estimate of their error,
// and the full model where it is needed.
#include <stdio.h>
#include "learned/learned.h"
#include "base/vec.h"
#include "model/model.h"
#include "robot/robot_def.h"

// ---- markers with adaptation
// layer: q = N(p), dq = N' dp. process: q = p + g(c, extra), dq = dp + dg/dc.
void pl_learned_markers(pl_learned *l, const double *command, double *marker, double *jacobian)
{
    const pl_model_info *info = &l->about.info;
    const int C = info->command_count;

    // positions of the network, or of the recurrent one at its stored state
    if (l->history) {
        pl_lstm_set_state(l->history, l->past);
        pl_lstm_step(l->history, command, marker, jacobian);
    } else {
        pl_network_evaluate(l->network[PL_LEARN_POSITION], command, marker, jacobian);
    }

    const pl_adaptation *a = l->adaptation;
    if (!a) {
        return;
    }

    // correction of the measured markers
    const int n = 3 * a->marker_count, E = a->extra_count, in = C + E;
    double *value = l->scratch, *from = value + n, *slope = from + n + in, *dp = slope + n * (n + in);
    for (int k = 0; k < a->marker_count; ++k) {
        memcpy(from + 3 * k, marker + 3 * a->marker[k], 3 * sizeof *from);
    }

    if (a->kind == PL_ADAPT_LAYER) {
        pl_network_evaluate(a->network, from, value, jacobian ? slope : NULL);
        for (int i = 0; jacobian && i < n; ++i) {
            for (int c = 0; c < C; ++c) {
                double sum = 0;
                for (int j = 0; j < n; ++j) {
                    sum += slope[i * n + j] * jacobian[(3 * a->marker[j / 3] + j % 3) * C + c];
                }
                dp[i * C + c] = sum;
            }
        }
    } else {
        double *x = from + n;
        memcpy(x, command, (size_t)C * sizeof *x);
        memcpy(x + C, a->extra, (size_t)E * sizeof *x);
        pl_gp_evaluate(a->gp, x, value, jacobian ? slope : NULL, NULL);

        for (int i = 0; i < n; ++i) {
            value[i] += from[i];
            for (int c = 0; jacobian && c < C; ++c) {
                dp[i * C + c] = slope[i * in + c] + jacobian[(3 * a->marker[i / 3] + i % 3) * C + c];
            }
        }
    }

    // back into the arrays of all markers
    for (int i = 0; i < n; ++i) {
        const int to = 3 * a->marker[i / 3] + i % 3;
        marker[to] = value[i];
        for (int c = 0; jacobian && c < C; ++c) {
            jacobian[to * C + c] = dp[i * C + c];
        }
    }
}

// ---- the model
// The model behind pl_model; owns the learned model and, once opened, the full one.
typedef struct learned_model {
    pl_learned *l;
    pl_learned_use use;
    pl_model *full;
    bool by_full;    // the last answer came from the full model
    double *command; // as given, NAN: idle
    double *at;      // without NAN
    double *marker, *rotation, *sensor, *effort, *measure, *energy, *actuator, *columns, *coefficient;
    double *d_marker, *d_rotation, *d_sensor, *d_effort, *d_measure, *d_energy, *d_actuator, *d_columns,
        *d_coefficient;
    double *point, *d_point; // mm; made when first asked for
    double reading[1], *bound;
    char unknown[160]; // why the error is not known; empty: it is, or was not measured
    pl_actuator_state *state;
    pl_learned_estimate estimate;
} learned_model;

static const pl_reading_info readings[1] = {{"learned", "estimate", "outside", "%"}};

// Names and ranges are those of the robot, kind and hash its own.
static void learned_info(void *self, pl_model_info *out)
{
    const learned_model *m = self;
    const pl_learned *l = m->l;

    *out = l->about.info;
    out->kind = "learned";
    out->method = l->history ? "history" : "learned";
    out->reading_count = 1;
    out->reading = readings;
    out->point_count = l->network[PL_LEARN_SHAPE] ? l->point_count : 0;
    out->rest = l->point_rest;
    out->vertex_count = out->point_count;
    out->element_count = 0;
    out->fields = 0;

    // another model of the robot: results are not interchangeable
    out->hash = pl_hash_bytes(l->about.info.hash, &l->sample_count, sizeof l->sample_count);
    for (int p = 0; p < PL_LEARN_PART_COUNT; ++p) {
        if (l->network[p]) {
            out->hash = pl_hash_bytes(out->hash, pl_network_weights(l->network[p]),
                                      sizeof(double) * (size_t)pl_network_weight_count(l->network[p]));
        }
    }

    if (l->history) {
        out->hash = pl_hash_bytes(out->hash, pl_lstm_weights(l->history),
                                  sizeof(double) * (size_t)pl_lstm_weight_count(l->history));
    }

    out->robot_hash = out->hash;
}

// The full model is opened only when it is needed: it has to be meshed.
static pl_status learned_open(learned_model *m, pl_error *err)
{
    if (m->full) {
        return PL_OK;
    }
    if (!m->use.open) {
        return pl_fail(err, PL_BAD_INPUT, "the full model behind this learned one is not available");
    }
    return m->use.open(m->use.user, &m->full, err);
}

// Columns made orthonormal again: a, b from the network; x = a/|a|, y = (b - x (x.b)) / |..|, z = x x y.
static void rotation_from(const double *v, double *R)
{
    double x[3], y[3], z[3];
    const double n = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);

    for (int i = 0; i < 3; ++i) {
        x[i] = v[i] / n;
    }

    const double dot = x[0] * v[3] + x[1] * v[4] + x[2] * v[5];
    for (int i = 0; i < 3; ++i) {
        y[i] = v[3 + i] - dot * x[i];
    }

    const double k = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    for (int i = 0; i < 3; ++i) {
        y[i] /= k;
    }
    z[0] = x[1] * y[2] - x[2] * y[1];
    z[1] = x[2] * y[0] - x[0] * y[2];
    z[2] = x[0] * y[1] - x[1] * y[0];

    for (int i = 0; i < 3; ++i) {
        R[3 * i] = x[i];
        R[3 * i + 1] = y[i];
        R[3 * i + 2] = z[i];
    }
}

// The spatial rotation w of a change (da, db) of the columns: dx = (da - x (x.da)) / |a| and so on, then
// w = 1/2 sum of column x dcolumn.
static void rotation_rate(const double *v, const double *d, double w[3])
{
    double R[9], x[3], y[3], z[3], dx[3], db[3], dy[3], dz[3];
    rotation_from(v, R);
    for (int i = 0; i < 3; ++i) {
        x[i] = R[3 * i];
        y[i] = R[3 * i + 1];
        z[i] = R[3 * i + 2];
    }

    // first column: x = a / |a|
    const double n = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double along = x[0] * d[0] + x[1] * d[1] + x[2] * d[2];
    for (int i = 0; i < 3; ++i) {
        dx[i] = (d[i] - along * x[i]) / n;
    }

    // second column: what is left of b across x, y = c / |c| with c = b - (x.b) x
    const double dot = x[0] * v[3] + x[1] * v[4] + x[2] * v[5];
    const double change =
        dx[0] * v[3] + dx[1] * v[4] + dx[2] * v[5] + x[0] * d[3] + x[1] * d[4] + x[2] * d[5];
    double k = 0, turn = 0;

    for (int i = 0; i < 3; ++i) {
        const double c = v[3 + i] - dot * x[i];
        k += c * c;
        db[i] = d[3 + i] - change * x[i] - dot * dx[i];
    }

    k = sqrt(k);
    turn = y[0] * db[0] + y[1] * db[1] + y[2] * db[2];
    for (int i = 0; i < 3; ++i) {
        dy[i] = (db[i] - turn * y[i]) / k;
    }

    // third column: z = x cross y
    dz[0] = dx[1] * y[2] - dx[2] * y[1] + x[1] * dy[2] - x[2] * dy[1];
    dz[1] = dx[2] * y[0] - dx[0] * y[2] + x[2] * dy[0] - x[0] * dy[2];
    dz[2] = dx[0] * y[1] - dx[1] * y[0] + x[0] * dy[1] - x[1] * dy[0];
    const double *const col[3] = {x, y, z}, *const dcol[3] = {dx, dy, dz};
    w[0] = w[1] = w[2] = 0;

    for (int j = 0; j < 3; ++j) {
        w[0] += 0.5 * (col[j][1] * dcol[j][2] - col[j][2] * dcol[j][1]);
        w[1] += 0.5 * (col[j][2] * dcol[j][0] - col[j][0] * dcol[j][2]);
        w[2] += 0.5 * (col[j][0] * dcol[j][1] - col[j][1] * dcol[j][0]);
    }
}

// Value of an actuator from the commands; NAN without a command.
static double actuator_value(const pl_actuator_info *a, const double *command)
{
    return a->command >= 0 ? pl_command_apply(a->factor, a->one_sided, command[a->command]) : NAN;
}

// What the drive prescribes is known without a network.
// measure, effort: prescribed by the drive; otherwise the network's, if it was known in all samples.
static void learned_actuators(learned_model *m, bool slopes)
{
    const pl_model_info *info = &m->l->about.info;
    const int A = info->actuator_count, C = info->command_count;

    for (int i = 0; i < A; ++i) {
        const pl_actuator_info *a = &info->actuator[i];
        const pl_actuator_kind_info *kind = pl_actuator_kind_get(a->kind);
        const bool cable = kind->pulls_only;
        const double value = actuator_value(a, m->at);
        const double slope =
            a->command >= 0 ? pl_command_slope(a->factor, a->one_sided, m->at[a->command]) : 0;
        const bool commanded = a->command >= 0 && !a->growth && !isnan(m->command[a->command]);

        // what is prescribed is known exactly, unless a table or a gas stands between; a cable may be slack
        const bool measure = commanded && pl_drive_is_geometric(a->drive) && a->drive != PL_DRIVE_SYRINGE &&
                             a->table_count == 0 && !cable;
        const bool effort = commanded && a->drive == kind->effort_drive &&
                            pl_drive_dimension(a->drive) == kind->effort_dimension && a->table_count == 0;
        m->measure[i] = measure              ? pl_drive_target(a->drive, a->rest, value)
                        : m->l->known[i] & 1 ? m->actuator[i]
                                             : NAN;
        m->effort[i] = effort ? value : m->l->known[i] & 2 ? m->actuator[A + i] : NAN;

        // a network may give a small negative tension: there is none
        const bool slack = cable && m->effort[i] < 0;
        m->effort[i] = slack ? 0 : m->effort[i];
        m->state[i] = (pl_actuator_state){.ratio = m->measure[i] / a->rest,
                                          .asked = commanded && pl_drive_is_geometric(a->drive)
                                                       ? pl_drive_target(a->drive, a->rest, value) / a->rest
                                                       : NAN,
                                          .reached = m->measure[i] / a->rest,
                                          .local_low = NAN,
                                          .local_high = NAN,
                                          .slack = slack,
                                          .growth = a->growth};
        for (int c = 0; slopes && c < C; ++c) {
            const double own = c == a->command ? slope : 0;
            m->d_measure[i * C + c] =
                measure ? own * pl_drive_slope(a->drive, a->rest) : m->d_actuator[i * C + c];
            m->d_effort[i * C + c] = effort ? own : slack ? 0 : m->d_actuator[(A + i) * C + c];
        }
    }
}

// All networks at m->at; with slopes their derivatives instead of the shape.
static void learned_evaluate(learned_model *m, bool slopes)
{
    pl_learned *l = m->l;
    const pl_model_info *info = &l->about.info;
    const int C = info->command_count, M = info->marker_count;
    pl_network *const *n = l->network;

    if (n[PL_LEARN_POSITION]) {
        pl_learned_markers(l, m->at, m->marker, slopes ? m->d_marker : NULL);
    }
    if (n[PL_LEARN_ROTATION]) {
        pl_network_evaluate(n[PL_LEARN_ROTATION], m->at, m->columns, slopes ? m->d_columns : NULL);
    }

    // rotations, and spatial rotation vectors as their derivatives
    for (int i = 0; i < M; ++i) {
        if (!n[PL_LEARN_ROTATION] || !l->framed[i]) {
            for (int k = 0; k < 9; ++k) {
                m->rotation[9 * i + k] = NAN;
            }
            continue;
        }

        rotation_from(m->columns + 6 * i, m->rotation + 9 * i);
        for (int c = 0; slopes && c < C; ++c) {
            double d[6], w[3];
            for (int k = 0; k < 6; ++k) {
                d[k] = m->d_columns[(6 * i + k) * C + c];
            }
            rotation_rate(m->columns + 6 * i, d, w);
            for (int k = 0; k < 3; ++k) {
                m->d_rotation[(3 * i + k) * C + c] = w[k];
            }
        }
    }

    if (n[PL_LEARN_SENSOR]) {
        pl_network_evaluate(n[PL_LEARN_SENSOR], m->at, m->sensor, slopes ? m->d_sensor : NULL);
    }
    if (n[PL_LEARN_ACTUATOR]) {
        pl_network_evaluate(n[PL_LEARN_ACTUATOR], m->at, m->actuator, slopes ? m->d_actuator : NULL);
    }
    learned_actuators(m, slopes);
    if (n[PL_LEARN_ENERGY]) {
        pl_network_evaluate(n[PL_LEARN_ENERGY], m->at, m->energy, slopes ? m->d_energy : NULL);
    }

    // shape: rest + mean + sum of modes
    if (n[PL_LEARN_SHAPE]) {
        pl_network_evaluate(n[PL_LEARN_SHAPE], m->at, m->coefficient, slopes ? m->d_coefficient : NULL);
        const int64_t size = 3 * (int64_t)l->point_count;
        for (int64_t i = 0; !slopes && i < size; ++i) {
            m->point[i] = l->point_rest[i] + l->point_mean[i];
        }
        for (int k = 0; !slopes && k < l->mode_count; ++k) {
            const double *mode = l->mode + k * size, q = m->coefficient[k];
            for (int64_t i = 0; i < size; ++i) {
                m->point[i] += q * mode[i];
            }
        }
    }
}

// Falls back to the full model.
static pl_status learned_by_full(learned_model *m, const double *command, pl_solve_report *report,
                                 pl_error *err)
{
    pl_status status = learned_open(m, err);
    if (status == PL_OK) {
        status = pl_model_fk(m->full, command, report, err);
    }
    m->by_full = status == PL_OK;
    return status;
}

// The reading, and why the error is not known where it is not.
static void learned_doubts(learned_model *m)
{
    const pl_learned_estimate *e = &m->estimate;
    memcpy(m->bound, m->l->bound, (size_t)pl_learned_columns(m->l) * sizeof *m->bound);
    m->reading[0] = 100 * e->outside;
    m->unknown[0] = 0;
    if (m->l->distrust) {
        snprintf(m->unknown, sizeof m->unknown, "%s", m->l->distrust);
    } else if (e->outside > 0) {
        snprintf(m->unknown, sizeof m->unknown,
                 "outside of its samples: '%.60s' by %.3g %% of the sampled range",
                 m->l->about.info.command[e->command].name, 100 * e->outside);
    } else if (isnan(pl_learned_confidence(m->l))) {
        snprintf(m->unknown, sizeof m->unknown, "no sample was held out");
    }
}

static pl_status learned_fk(void *self, const double *command, pl_solve_report *report, pl_error *err)
{
    learned_model *m = self;
    const pl_model_info *info = &m->l->about.info;
    const double start = pl_seconds();

    for (int i = 0; i < info->command_count; ++i) {
        if (isinf(command[i])) {
            return pl_fail(err, PL_BAD_INPUT, "command '%s' is not finite", info->command[i].name);
        }
        m->command[i] = command[i];
        m->at[i] = isnan(command[i]) ? info->command[i].rest : command[i];
    }

    *report = (pl_solve_report){
        .load_reached = 1, .min_J = NAN, .max_stretch = NAN, .negative_count = -1, .residual = NAN};

    // how far from the samples; outside the full model may answer
    const pl_learned_estimate e = m->estimate = pl_learned_judge(m->l, m->at);
    const bool outside = e.outside > 0 || e.distance > 3;
    m->by_full = false;
    if (outside && m->use.outside == PL_OUTSIDE_FALLBACK) {
        return learned_by_full(m, command, report, err);
    }
    learned_evaluate(m, false);
    learned_doubts(m);
    report->energy = *m->energy;
    report->seconds = pl_seconds() - start;
    if (m->unknown[0]) {
        snprintf(report->message, sizeof report->message, "%s", m->unknown);
    } else if (outside) {
        snprintf(
            report->message, sizeof report->message,
            "learned model in a gap of its samples (%.2g times the usual distance): the error may be larger",
            e.distance);
    }

    return PL_OK;
}

static void learned_answer(void *self, pl_model_answer *out)
{
    learned_model *m = self;
    if (m->by_full) {
        *out = pl_model_get_answer(m->full);
        m->reading[0] = 100 * m->estimate.outside;
        out->reading = m->reading;
        out->point = m->point; // of the learned shape; markers and efforts are those of the full model
        return;
    }

    *out = (pl_model_answer){.command = m->command,
                             .marker = m->marker,
                             .rotation = m->rotation,
                             .sensor = m->sensor,
                             .effort = m->effort,
                             .measure = m->measure,
                             .actuator = m->state,
                             .reading = m->reading,
                             .point = m->point,
                             .energy = *m->energy};
    const pl_learned *l = m->l;
    const double *bound = m->bound;
    out->error = (pl_answer_error){.source = pl_learned_error_source(l),
                                   .confidence = pl_learned_confidence(l),
                                   .marker = bound + pl_learned_column(l, LEARNED_ERROR_MARKER),
                                   .rotation = bound + pl_learned_column(l, LEARNED_ERROR_ROTATION),
                                   .sensor = bound + pl_learned_column(l, LEARNED_ERROR_SENSOR),
                                   .shape = bound[pl_learned_column(l, LEARNED_ERROR_SHAPE)],
                                   .unknown = m->unknown[0] ? m->unknown : NULL};
}

// Exact derivatives of the networks; idle commands have columns of 0.
static pl_status learned_derivative(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                                    pl_jacobian_report *report, pl_error *err)
{
    learned_model *m = self;
    pl_learned *l = m->l;
    const pl_model_info *info = &l->about.info;
    const int64_t C = info->command_count;

    if (m->by_full) {
        return pl_model_differentiate(m->full, parts & ~(unsigned)(PL_PART_READING | PL_PART_POINT),
                                      tolerance, out, report, err);
    }

    *report = (pl_jacobian_report){.negative_count = -1};
    learned_evaluate(m, true);

    // columns of idle commands are 0
    struct {
        double *d;
        int64_t rows;
    } all[] = {{m->d_marker, 3 * (int64_t)info->marker_count},
               {m->d_rotation, 3 * (int64_t)info->marker_count},
               {m->d_sensor, info->sensor_count},
               {m->d_effort, info->actuator_count},
               {m->d_measure, info->actuator_count},
               {m->d_energy, 1},
               {m->d_coefficient, l->mode_count}};
    for (int64_t c = 0; c < C; ++c) {
        for (int k = 0; isnan(m->command[c]) && k < PL_COUNT(all); ++k) {
            for (int64_t r = 0; r < all[k].rows; ++r) {
                all[k].d[r * C + c] = 0;
            }
        }
    }

    if (parts & PL_PART_POINT && l->network[PL_LEARN_SHAPE]) {
        const int64_t size = 3 * (int64_t)l->point_count;
        if (!m->d_point && !(m->d_point = PL_NEW_ARRAY(double, size *C))) {
            return pl_fail_memory(err, "the derivatives of the shape");
        }
        memset(m->d_point, 0, (size_t)(size * C) * sizeof *m->d_point);

        for (int k = 0; k < l->mode_count; ++k) {
            for (int64_t i = 0; i < size; ++i) {
                for (int64_t c = 0; c < C; ++c) {
                    m->d_point[i * C + c] += l->mode[k * size + i] * m->d_coefficient[k * C + c];
                }
            }
        }
    }

    *out = (pl_model_derivative){
        .marker = parts & PL_PART_MARKER ? m->d_marker : NULL,
        .rotation = parts & PL_PART_ROTATION ? m->d_rotation : NULL,
        .sensor = parts & PL_PART_SENSOR ? m->d_sensor : NULL,
        .effort = parts & PL_PART_EFFORT ? m->d_effort : NULL,
        .measure = parts & PL_PART_MEASURE ? m->d_measure : NULL,
        .energy = parts & PL_PART_ENERGY ? m->d_energy : NULL,
        .point = parts & PL_PART_POINT ? m->d_point : NULL,
        .reading = parts & PL_PART_READING ? m->d_columns + 6 * info->marker_count * C : NULL};

    return PL_OK;
}

// Rest commands, and an empty memory.
static void learned_reset(void *self)
{
    learned_model *m = self;
    const pl_model_info *info = &m->l->about.info;

    for (int i = 0; i < info->command_count; ++i) {
        m->command[i] = NAN;
        m->at[i] = info->command[i].rest;
    }

    m->by_full = false;
    if (m->l->history) {
        memset(m->l->past, 0, 2 * (size_t)pl_lstm_get_def(m->l->history).cell_count * sizeof(double));
    }
    m->estimate = pl_learned_judge(m->l, m->at);
    learned_evaluate(m, false);
    learned_doubts(m);
}

// The mesh of the full model, for drawing; its vertices must be those of the samples.
static pl_status learned_body(void *self, const pl_mesh **out, pl_error *err)
{
    learned_model *m = self;
    *out = NULL;
    if (!m->l->network[PL_LEARN_SHAPE]) {
        return PL_OK; // shapes were not sampled: nothing to draw
    }

    pl_status status = learned_open(m, err);
    if (status == PL_OK) {
        status = pl_model_body(m->full, out, err);
    }
    if (status == PL_OK && *out && pl_mesh_get(*out).vertex_count != m->l->point_count) {
        *out = NULL;
        return pl_fail(err, PL_BAD_INPUT, "the mesh of the robot has changed since the samples were taken");
    }

    return status;
}

static void learned_shape(void *self, double *position)
{
    const learned_model *m = self;
    if (m->by_full) {
        pl_model_shape(m->full, position);
        return;
    }

    memcpy(position, m->point, 3 * (size_t)m->l->point_count * sizeof *position);
}

static void learned_destroy(void *self)
{
    learned_model *m = self;
    pl_learned_destroy(m->l);
    pl_model_destroy(m->full);
    if (m->use.release) {
        m->use.release(m->use.user);
    }
    pl_free(m->command);
    pl_free(m->point);
    pl_free(m->d_point);
    pl_free(m->state);
    pl_free(m);
}

static const pl_model_type learned_type = {.info = learned_info,
                                           .fk = learned_fk,
                                           .answer = learned_answer,
                                           .destroy = learned_destroy,
                                           .derivative = learned_derivative,
                                           .reset = learned_reset,
                                           .body = learned_body,
                                           .shape = learned_shape};

// ---- with memory: the state is the commands and what is remembered of the steps before them
// The step at the present commands becomes part of the memory.
static void history_settle(void *self)
{
    learned_model *m = self;
    pl_learned_markers(m->l, m->at, m->marker, NULL); // the step at the commands of this pose
    pl_lstm_get_state(m->l->history, m->l->past);
}

static size_t history_pack(void *self, double *block, size_t room)
{
    const learned_model *m = self;
    const size_t C = (size_t)m->l->about.info.command_count;
    const size_t P = 2 * (size_t)pl_lstm_get_def(m->l->history).cell_count;

    if (room >= C + P) {
        memcpy(block, m->command, C * sizeof *block);
        memcpy(block + C, m->l->past, P * sizeof *block);
    }

    return C + P;
}

static pl_status history_unpack(void *self, const double *block, size_t count, pl_error *err)
{
    learned_model *m = self;
    const size_t C = (size_t)m->l->about.info.command_count, need = history_pack(m, NULL, 0);

    if (count != need) {
        return pl_fail(err, PL_BAD_INPUT, "state: %zu numbers given, expected %zu", count, need);
    }

    for (size_t i = 0; i < need; ++i) {
        if (isinf(block[i]) || (i >= C && isnan(block[i]))) {
            return pl_fail(err, PL_BAD_INPUT, "state: number %zu is not finite", i + 1);
        }
    }

    memcpy(m->l->past, block + C, (need - C) * sizeof *block);
    pl_solve_report report;

    return learned_fk(m, block, &report, err);
}

static const pl_model_extras history_extras = {.settle = history_settle};

static const pl_model_type history_type = {.info = learned_info,
                                           .fk = learned_fk,
                                           .answer = learned_answer,
                                           .destroy = learned_destroy,
                                           .derivative = learned_derivative,
                                           .reset = learned_reset,
                                           .pack = history_pack,
                                           .unpack = history_unpack,
                                           .body = learned_body,
                                           .shape = learned_shape,
                                           .extras = &history_extras};

// One block for all values and derivatives; the order is that of the list.
static bool learned_room(learned_model *m)
{
    const pl_model_info *i = &m->l->about.info;
    const int64_t C = i->command_count, M = i->marker_count, S = i->sensor_count, A = i->actuator_count,
                  K = m->l->mode_count, Q = pl_learned_columns(m->l);
    const int64_t values = 2 * C + 3 * M + 9 * M + S + 2 * A + 1 + 2 * A + 6 * M + K + Q;
    const int64_t slopes = C * (3 * M + 3 * M + S + 2 * A + 1 + 2 * A + 6 * M + 1 + K);
    double *at = m->command = PL_NEW_ARRAY(double, values + slopes);

    m->state = PL_NEW_ARRAY(pl_actuator_state, A);
    m->point = PL_NEW_ARRAY(double, 3 * (int64_t)m->l->point_count);
    if (!at || !m->state || !m->point) {
        return false;
    }
    struct {
        double **to;
        int64_t count;
    } list[] = {{&m->command, C},
                {&m->at, C},
                {&m->marker, 3 * M},
                {&m->rotation, 9 * M},
                {&m->sensor, S},
                {&m->effort, A},
                {&m->measure, A},
                {&m->energy, 1},
                {&m->actuator, 2 * A},
                {&m->columns, 6 * M},
                {&m->coefficient, K},
                {&m->bound, Q},
                {&m->d_marker, 3 * M * C},
                {&m->d_rotation, 3 * M * C},
                {&m->d_sensor, S * C},
                {&m->d_effort, A * C},
                {&m->d_measure, A * C},
                {&m->d_energy, C},
                {&m->d_actuator, 2 * A * C},
                {&m->d_columns, (6 * M + 1) * C},
                {&m->d_coefficient, K * C}};
    for (int k = 0; k < PL_COUNT(list); ++k) {
        *list[k].to = at;
        at += list[k].count;
    }

    *m->energy = NAN;

    return true;
}

// Owns `learned` from here on, also when this fails.
pl_status pl_learned_model(pl_learned *learned, const pl_learned_use *use, pl_model **out, pl_error *err)
{
    *out = NULL;
    learned_model *m = PL_NEW(learned_model);
    if (!m) {
        pl_learned_destroy(learned);
        return pl_fail_memory(err, "the learned model");
    }

    m->l = learned;
    m->use = use ? *use : (pl_learned_use){0};
    if (!learned->network[PL_LEARN_POSITION]) {
        learned_destroy(m);
        return pl_fail(err, PL_BAD_INPUT, "learned model: it has no network of the marker positions");
    }

    if (!learned_room(m)) {
        learned_destroy(m);
        return pl_fail_memory(err, "the learned model");
    }

    learned_reset(m);

    return pl_model_create(learned->history ? &history_type : &learned_type, m, out, err);
}

static learned_model *learned_self(const pl_model *model)
{
    learned_model *m = pl_model_self(model, &learned_type);
    return m ? m : pl_model_self(model, &history_type);
}

bool pl_model_is_learned(const pl_model *model)
{
    return learned_self(model) != NULL;
}

pl_learned *pl_model_learned(const pl_model *model)
{
    learned_model *m = learned_self(model);
    return m ? m->l : NULL;
}

#define CHECK_ENOUGH 0.1 // of the error found: where the steps end
#define CHECK_STEPS 6

// Marker positions of the full model at the learned commands by steps from the learned shape; false where
// that is not possible.
static bool check_step(learned_model *m, const double *learned, double *marker, pl_learned_check *out)
{
    pl_statics *statics = pl_model_statics(m->full);
    pl_error refused = {0};
    pl_newton how;

    if (!statics || !m->l->network[PL_LEARN_SHAPE] || pl_model_geometric(m->full) ||
        pl_statics_get_sizes(statics).vertices != m->l->point_count) {
        return false;
    }

    const pl_status status = pl_statics_newton(statics, m->command, m->point, learned, CHECK_ENOUGH,
                                               CHECK_STEPS, marker, &how, &refused);
    out->steps = status == PL_OK && how.ended ? how.steps : 0;
    out->residual = how.residual;

    return out->steps > 0;
}

// The error of the learned markers against the full model at the same commands: by a few Newton steps from
// the learned shape (step), or by a full solve.
pl_status pl_learned_check_full(pl_model *model, bool step, pl_learned_check *out, pl_error *err)
{
    learned_model *m = learned_self(model);
    *out = (pl_learned_check){.marker = -1, .residual = NAN};
    if (!m) {
        return pl_fail(err, PL_BAD_INPUT, "this is not a learned model");
    }
    if (m->l->history) {
        return pl_fail(err, PL_BAD_INPUT,
                       "a model learned from measured histories has no full model to be checked by");
    }

    pl_status status = learned_open(m, err);
    if (status != PL_OK) {
        return status;
    }

    // the file of the full robot may have changed since
    const int count = m->l->about.info.marker_count;
    if (pl_model_get_info(m->full).marker_count != count) {
        return pl_fail(err, PL_BAD_INPUT, "the robot has changed since the samples were taken");
    }

    double *learned = PL_NEW_ARRAY(double, 6 * (int64_t)count), *full = learned + 3 * count;
    if (!learned) {
        return pl_fail_memory(err, "the check");
    }

    // the network alone: an adaptation is no error of the model
    const double start = pl_seconds();
    pl_network_evaluate(m->l->network[PL_LEARN_POSITION], m->at, learned, NULL);
    if (!step || m->by_full || !check_step(m, learned, full, out)) {
        status = pl_model_fk(m->full, m->command, &out->full, err);
        if (status == PL_OK && out->full.outcome == PL_SOLVED) {
            memcpy(full, pl_model_get_answer(m->full).marker, 3 * (size_t)count * sizeof *full);
        }
    }

    // the largest distance, where there is a full answer
    out->seconds = pl_seconds() - start;
    for (int i = 0; status == PL_OK && out->full.outcome == PL_SOLVED && i < count; ++i) {
        const double gap = pl_distance3(full + 3 * i, learned + 3 * i);
        if (gap >= out->largest) {
            out->largest = gap;
            out->marker = i;
        }
    }

    pl_free(learned);

    return status;
}
