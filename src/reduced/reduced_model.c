// What every reduced model answers through pl_model: actuator values from commands, markers from stations,
// derivatives by commands from those by actuators.
#include <stdio.h>
#include "reduced/reduced_impl.h"
#include "robot/robot_def.h"
#include "robot/robot_kind.h"

static void model_info(void *self, pl_model_info *out)
{
    const pl_reduced_model *m = self;
    *out = (pl_model_info){.name = m->name,
                           .kind = pl_reduced_kind_name(m->kind),
                           .method = pl_reduced_kind_name(m->kind),
                           .hash = m->hash,
                           .robot_hash = m->hash,
                           .command_count = m->command_count,
                           .actuator_count = m->actuator_count,
                           .marker_count = m->marker_count,
                           .sensor_count = m->sensor_count,
                           .command = m->info.command,
                           .actuator = m->info.actuator,
                           .marker_name = m->info.marker_name,
                           .sensor_name = m->info.sensor_name,
                           .sensor_kind = m->info.sensor_kind,
                           .point_count = m->point_count,
                           .rest = m->info.rest,
                           .marker_at = m->info.marker_rest,
                           .vertex_count = m->point_count,
                           .element_count = m->point_count - 1,
                           .fields = 1u << PL_FIELD_DISPLACEMENT,
                           .size = m->length};
}

// Markers and sensors at the stations' frames: p = r + R o, rotation from rest R R0^T.
static void model_markers(pl_reduced_model *m)
{
    for (int i = 0; i < m->marker_count; ++i) {
        const reduced_frame *f = &m->frame[m->marker[i].station];
        double *p = m->answer.marker + 3 * i, *Q = m->answer.rotation + 9 * i;
        pl_mulv3(f->R, m->marker[i].offset, p);
        reduced_axpy3(1, f->r, p);

        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 3; ++k) {
                Q[3 * j + k] = pl_dot3(f->R + 3 * j, m->base.R + 3 * k);
            }
        }
    }

    // sensors of an actuator repeat its measure or effort
    for (int i = 0; i < m->sensor_count; ++i) {
        const reduced_sensor *s = &m->sensor[i];
        if (s->actuator >= 0) {
            m->answer.sensor[i] = pl_sensor_traits_get(s->kind)->reads == PL_READS_MEASURE
                                      ? m->answer.measure[s->actuator]
                                      : m->answer.effort[s->actuator];
        }
    }
}

// A solve that fell short left the values it reached: the commands that belong to them. A one-sided command
// at rest does not tell which command it was.
static void model_fall_back(pl_reduced_model *m)
{
    for (int i = 0; i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        if (a->command >= 0 && !(a->one_sided && m->value[i] <= 0)) {
            m->command[a->command] = m->value[i] / a->factor;
        }
    }
}

// Loads beyond all numbers leave no shape: back to rest.
static void model_shapeless(pl_reduced_model *m, pl_solve_report *report)
{
    bool finite = true;
    for (int i = 0; i < m->station_count; ++i) {
        finite = finite && isfinite(m->frame[i].r[0] + m->frame[i].r[1] + m->frame[i].r[2]);
    }

    if (!finite) {
        reduced_type.reset(m);
        report->outcome = PL_INFEASIBLE;
        report->load_reached = 0;
        snprintf(report->message, sizeof report->message, "the shape at these commands is not finite");
    }
}

// Commands are checked before anything changes; a failed solve is an outcome with the state it reached.
static pl_status model_fk(void *self, const double *command, pl_solve_report *report, pl_error *err)
{
    pl_reduced_model *m = self;
    for (int i = 0; i < m->command_count; ++i) {
        if (isinf(command[i])) {
            return pl_fail(err, PL_BAD_INPUT, "command '%s' is not finite", m->info.command[i].name);
        }
    }

    // geometric drives ask for a measure above 0 that squares to a number
    for (int i = 0; i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        const double value = reduced_actuator_value(a, command);
        const double target =
            pl_drive_is_geometric(a->drive) ? pl_drive_target(a->drive, a->rest, value) : a->rest;
        if (target <= 0 || target > 1e6 * a->rest) {
            return pl_fail(err, PL_BAD_INPUT, "actuator '%s' is set to %s %g, must be above 0%s", a->name,
                           pl_actuator_pulls_only(a->kind) ? "length" : "volume", target,
                           target > 0 ? " and below a million times its rest value" : "");
        }
    }

    // values from commands, then the kind solves
    for (int i = 0; i < m->actuator_count; ++i) {
        m->value[i] = reduced_actuator_value(&m->actuator[i], command);
    }
    for (int i = 0; i < m->command_count; ++i) {
        m->command[i] = command[i];
    }
    *report = (pl_solve_report){.load_reached = 1, .min_J = NAN, .max_stretch = 1, .negative_count = -1};
    m->ops->solve(m, report);
    if (report->outcome != PL_SOLVED) {
        model_fall_back(m);
    }
    report->energy = *m->answer.energy;
    model_markers(m);
    model_shapeless(m, report);

    return PL_OK;
}

// Only a rod knows the forces that tell whether a cable pulls.
static bool reduced_is_slack(const pl_reduced_model *m, int i)
{
    return m->ops == &reduced_rod_ops && pl_actuator_pulls_only(m->actuator[i].kind) &&
           !(m->answer.effort[i] > 0);
}

// The ratio a geometric drive asks for; NAN: idle, or driven by an effort.
static double reduced_asked(const reduced_actuator *a, const double *command)
{
    const double value = reduced_actuator_value(a, command);
    return pl_drive_is_geometric(a->drive) ? pl_drive_target(a->drive, a->rest, value) / a->rest : NAN;
}

// Points and actuator states are derived only here, when they are asked for.
static void model_answer(void *self, pl_model_answer *out)
{
    pl_reduced_model *m = self;
    m->ops->shape(m);
    for (int i = 0; i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        const double ratio = m->answer.measure[i] / a->rest;
        m->info.state[i] = (pl_actuator_state){.ratio = ratio,
                                               .asked = reduced_asked(a, m->command),
                                               .reached = ratio,
                                               .local_low = NAN,
                                               .local_high = NAN,
                                               .slack = reduced_is_slack(m, i)};
    }

    *out = (pl_model_answer){.command = m->command,
                             .marker = m->answer.marker,
                             .rotation = m->answer.rotation,
                             .sensor = m->answer.sensor,
                             .effort = m->answer.effort,
                             .measure = m->answer.measure,
                             .actuator = m->info.state,
                             .point = m->answer.point,
                             .force = m->acting,
                             .energy = *m->answer.energy};
    reduced_errors_answer(m, &out->error);
}

// Columns by actuators into columns by commands.
static void model_columns(const pl_reduced_model *m, const double *by, int rows, double *out)
{
    const int A = m->actuator_count, C = m->command_count;
    memset(out, 0, (size_t)rows * (size_t)C * sizeof *out);
    for (int a = 0; a < A; ++a) {
        const int c = m->actuator[a].command;
        const double slope = reduced_actuator_slope(&m->actuator[a], m->command);
        for (int i = 0; slope != 0 && i < rows; ++i) {
            out[i * C + c] += slope * by[i * A + a];
        }
    }
}

// dp = dr + w x (R o), dw = w
static void model_marker_columns(pl_reduced_model *m)
{
    const int A = m->actuator_count, C = m->command_count;
    const size_t bytes = 3 * (size_t)m->marker_count * (size_t)C * sizeof(double);

    memset(m->d.marker, 0, bytes);
    memset(m->d.rotation, 0, bytes);
    for (int i = 0; i < m->marker_count; ++i) {
        const int at = m->marker[i].station;
        const double *T = m->by.twist + (size_t)6 * (size_t)at * (size_t)A;
        double o[3];
        pl_mulv3(m->frame[at].R, m->marker[i].offset, o);

        for (int a = 0; a < A; ++a) {
            const int c = m->actuator[a].command;
            const double w[3] = {T[3 * A + a], T[4 * A + a], T[5 * A + a]};
            const double f = reduced_actuator_slope(&m->actuator[a], m->command);
            if (f == 0) {
                continue;
            }
            double lever[3];
            pl_cross3(w, o, lever);
            for (int k = 0; k < 3; ++k) {
                m->d.marker[(3 * i + k) * C + c] += f * (T[k * A + a] + lever[k]);
                m->d.rotation[(3 * i + k) * C + c] += f * w[k];
            }
        }
    }
}

// Rows of sensors that repeat an actuator; the kind has filled those by length.
static void model_sensor_rows(pl_reduced_model *m)
{
    const size_t A = (size_t)m->actuator_count;
    for (int i = 0; i < m->sensor_count; ++i) {
        const reduced_sensor *s = &m->sensor[i];

        if (s->actuator >= 0) {
            const double *row =
                (pl_sensor_traits_get(s->kind)->reads == PL_READS_MEASURE ? m->by.measure : m->by.effort) +
                A * (size_t)s->actuator;
            memcpy(m->by.sensor + A * (size_t)i, row, A * sizeof *row);
        }
    }
}

// The kind differentiates by actuator values once; the parts asked for follow by the chain rule.
static pl_status model_derivative(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                                  pl_jacobian_report *report, pl_error *err)
{
    (void)tolerance; // direct solves are exact
    (void)err;
    pl_reduced_model *m = self;
    m->ops->differentiate(m, (parts & PL_PART_POINT) != 0, report);

    // a one-sided command at 0 has a kink: the derivative holds for one direction
    for (int i = 0; i < m->actuator_count; ++i) {
        const reduced_actuator *a = &m->actuator[i];
        report->one_sided = report->one_sided || (a->one_sided && m->command[a->command] == 0);
    }

    *out = (pl_model_derivative){0};
    if (parts & (PL_PART_MARKER | PL_PART_ROTATION)) {
        model_marker_columns(m);
        out->marker = parts & PL_PART_MARKER ? m->d.marker : NULL;
        out->rotation = parts & PL_PART_ROTATION ? m->d.rotation : NULL;
    }

    if (parts & PL_PART_SENSOR) {
        model_sensor_rows(m);
        model_columns(m, m->by.sensor, m->sensor_count, m->d.sensor);
        out->sensor = m->d.sensor;
    }

    if (parts & PL_PART_EFFORT) {
        model_columns(m, m->by.effort, m->actuator_count, m->d.effort);
        out->effort = m->d.effort;
    }

    if (parts & PL_PART_MEASURE) {
        model_columns(m, m->by.measure, m->actuator_count, m->d.measure);
        out->measure = m->d.measure;
    }

    if (parts & PL_PART_POINT) {
        model_columns(m, m->by.point, 3 * m->point_count, m->d.point);
        out->point = m->d.point;
    }

    if (parts & PL_PART_ENERGY) {
        model_columns(m, m->by.energy, 1, m->d.energy);
        out->energy = m->d.energy;
    }

    return PL_OK;
}

// ---- the state: everything that changes is in one block
// The number of numbers; written only when they fit.
static size_t model_pack(void *self, double *block, size_t room)
{
    const pl_reduced_model *m = self;
    if (block && room >= m->now_count) {
        memcpy(block, m->now, m->now_count * sizeof *m->now);
    }
    return m->now_count;
}

// Frames must be finite; idle commands and unknown efforts may be NAN.
static pl_status model_unpack(void *self, const double *block, size_t count, pl_error *err)
{
    pl_reduced_model *m = self;
    if (count != m->now_count) {
        return pl_fail(err, PL_BAD_INPUT, "state: %zu numbers given, expected %zu", count, m->now_count);
    }

    const size_t frames = (size_t)m->station_count * sizeof(reduced_frame) / sizeof *block;
    for (size_t i = 0; i < frames; ++i) {
        if (!isfinite(block[i])) {
            return pl_fail(err, PL_BAD_INPUT, "state: number %zu is not finite", i);
        }
    }

    memcpy(m->now, block, m->now_count * sizeof *m->now);
    m->prepared = m->placed = false;

    return PL_OK;
}

// Straight, all commands idle.
static void model_reset(void *self)
{
    pl_reduced_model *m = self;
    memset(m->now, 0, m->now_count * sizeof *m->now);
    for (int i = 0; i < m->command_count; ++i) {
        m->command[i] = NAN;
    }
    for (int i = 0; i < m->actuator_count; ++i) {
        m->value[i] = NAN;
        m->answer.measure[i] = m->actuator[i].rest;
    }

    for (int i = 0; i < m->station_count; ++i) {
        const double local[3] = {0, 0, m->station_s[i]};
        m->frame[i] = m->base;
        pl_mulv3(m->base.R, local, m->frame[i].r);
        reduced_axpy3(1, m->base.r, m->frame[i].r);
    }

    m->ops->reset(m);
    model_markers(m);
}

// The tube is made at the first call and belongs to the model.
static pl_status model_body(void *self, const pl_mesh **out, pl_error *err)
{
    pl_reduced_model *m = self;
    const pl_status status = m->tube ? PL_OK : reduced_tube_create(m, &m->tube, err);
    *out = m->tube;
    return status;
}

static void model_shape(void *self, double *position)
{
    reduced_tube_place(self, position);
}

static int model_line(void *self, int actuator, double *point, int room)
{
    return reduced_path_points(self, actuator, point, room);
}

// Displacements, the one field a tube has.
static pl_status model_field(void *self, pl_field field, double *out, pl_error *err)
{
    const pl_mesh *tube;
    (void)field;
    const pl_status status = model_body(self, &tube, err);
    if (status != PL_OK) {
        return status;
    }

    const pl_mesh_view v = pl_mesh_get(tube);
    reduced_tube_place(self, out);
    for (int64_t i = 0; i < 3 * (int64_t)v.vertex_count; ++i) {
        out[i] -= v.position[i];
    }

    return PL_OK;
}

static const pl_model_extras reduced_extras = {
    .field = model_field, .sensitivity = reduced_sensitivity, .set_forces = reduced_set_forces};

const pl_model_type reduced_type = {.info = model_info,
                                    .fk = model_fk,
                                    .answer = model_answer,
                                    .destroy = reduced_destroy,
                                    .derivative = model_derivative,
                                    .pack = model_pack,
                                    .unpack = model_unpack,
                                    .reset = model_reset,
                                    .body = model_body,
                                    .shape = model_shape,
                                    .line = model_line,
                                    .extras = &reduced_extras};

// ---- beyond pl_model
bool pl_model_is_reduced(const pl_model *model)
{
    return pl_model_self(model, &reduced_type) != NULL;
}

double pl_reduced_length(const pl_model *model)
{
    const pl_reduced_model *m = pl_model_self(model, &reduced_type);
    return m ? m->length : NAN;
}
