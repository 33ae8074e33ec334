// Loads of a reduced model: forces at its markers (payloads, estimated forces) and derivatives with respect
// to forces and efforts, through pl_model.
#include "reduced/reduced_impl.h"
#include "robot/robot_kind.h"

// Sizes are at least 1, so that a robot without markers or actuators has memory to point to.
bool reduced_create_loads(pl_reduced_model *m)
{
    m->wanted_force = REDUCED_TAKE(m, double, 3 * m->marker_count + 1);
    m->force_from = REDUCED_TAKE(m, double, 3 * m->marker_count + 1);
    m->response = (reduced_response){.twist = REDUCED_TAKE(m, double, 6 * m->station_count),
                                     .effort = REDUCED_TAKE(m, double, m->actuator_count + 1),
                                     .measure = REDUCED_TAKE(m, double, m->actuator_count + 1),
                                     .sensor = REDUCED_TAKE(m, double, m->sensor_count + 1)};
    return m->wanted_force && m->force_from && m->response.twist && m->response.effort &&
           m->response.measure && m->response.sensor;
}

bool reduced_is_loaded(const pl_reduced_model *m)
{
    bool any = false;
    for (int i = 0; i < 3 * m->marker_count; ++i) {
        any = any || m->acting[i] != 0;
    }
    return any;
}

// The forces act in the next solve, N, 3 per marker; NULL: none. Refused by models without a stiffness.
pl_status reduced_set_forces(void *self, const double *force, pl_error *err)
{
    pl_reduced_model *m = self;
    for (int i = 0; i < 3 * m->marker_count; ++i) {
        if (m->rigid && force && force[i] != 0) {
            return pl_fail(err, PL_BAD_INPUT, "a force at marker '%s': %s", m->info.marker_name[i / 3],
                           m->rigid);
        }
    }

    for (int i = 0; i < 3 * m->marker_count; ++i) {
        m->wanted_force[i] = force ? force[i] : 0;
    }

    return PL_OK;
}

// ---- derivatives
static bool load_is_command(const pl_parameter *p)
{
    return p->kind == PL_PARAMETER_COMMAND;
}

// Kind, index and part of a parameter; loads need a model that responds to them.
static pl_status load_check(const pl_reduced_model *m, const pl_parameter *p, pl_error *err)
{
    const int limit = load_is_command(p)                     ? m->command_count
                      : p->kind == PL_PARAMETER_MARKER_FORCE ? m->marker_count
                      : p->kind == PL_PARAMETER_ACTUATOR     ? m->actuator_count
                                                             : -1;

    // a kind that is not listed has no derivative here
    if (limit < 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "a model of kind %s has derivatives with respect to commands, actuators and forces at "
                       "markers only",
                       pl_reduced_kind_name(m->kind));
    }

    if (p->index < 0 || p->index >= limit ||
        (p->kind == PL_PARAMETER_MARKER_FORCE && (p->part < 0 || p->part > 2))) {
        return pl_fail(err, PL_BAD_INPUT,
                       "a parameter has the index %d and part %d, expected an index below %d", p->index,
                       p->part, limit);
    }

    if (!load_is_command(p) && (m->rigid || !m->ops->respond)) {
        return pl_fail(err, PL_BAD_INPUT, "derivatives with respect to loads: %s", m->rigid);
    }

    return PL_OK;
}

// One column from a response: dp = dr + w x (R o).
static void load_column(pl_reduced_model *m, const pl_jacobian *out, int count, int j)
{
    const reduced_response *x = &m->response;

    // markers and their rotation from the station's twist
    for (int i = 0; i < m->marker_count; ++i) {
        const double *T = x->twist + 6 * m->marker[i].station;
        double o[3], lever[3];
        pl_mulv3(m->frame[m->marker[i].station].R, m->marker[i].offset, o);
        pl_cross3(T + 3, o, lever);

        for (int k = 0; k < 3; ++k) {
            const int at = (3 * i + k) * count + j;
            if (out->marker) {
                out->marker[at] = T[k] + lever[k];
            }
            if (out->rotation) {
                out->rotation[at] = T[3 + k];
            }
        }
    }

    // a sensor by length has its own row; the others read a volume or an effort
    for (int i = 0; out->sensor && i < m->sensor_count; ++i) {
        const reduced_sensor *s = &m->sensor[i];
        const bool measure = pl_sensor_traits_get(s->kind)->reads == PL_READS_MEASURE;
        out->sensor[i * count + j] = s->actuator < 0 ? x->sensor[i]
                                     : measure       ? x->measure[s->actuator]
                                                     : x->effort[s->actuator];
    }

    for (int a = 0; a < m->actuator_count; ++a) {
        if (out->effort) {
            out->effort[a * count + j] = x->effort[a];
        }
        if (out->measure) {
            out->measure[a * count + j] = x->measure[a];
        }
    }
}

// Adds the derivatives with respect to the value of actuator `a`, times `factor`.
static void load_add_value(pl_reduced_model *m, int a, double factor)
{
    const int A = m->actuator_count;
    const reduced_response *x = &m->response;

    for (int i = 0; i < 6 * m->station_count; ++i) {
        x->twist[i] += factor * m->by.twist[i * A + a];
    }
    for (int i = 0; i < A; ++i) {
        x->effort[i] += factor * m->by.effort[i * A + a];
        x->measure[i] += factor * m->by.measure[i * A + a];
    }

    for (int i = 0; i < m->sensor_count; ++i) {
        x->sensor[i] += m->sensor[i].actuator < 0 ? factor * m->by.sensor[i * A + a] : 0;
    }
}

// The chain rule: each actuator of the command, with the slope of its value.
static void load_by_command(pl_reduced_model *m, int command)
{
    for (int a = 0; a < m->actuator_count; ++a) {
        const reduced_actuator *actuator = &m->actuator[a];
        const double slope = actuator->command == command ? reduced_actuator_slope(actuator, m->command) : 0;
        if (slope != 0) {
            load_add_value(m, a, slope);
        }
    }
}

static void load_clear(pl_reduced_model *m)
{
    memset(m->response.twist, 0, 6 * (size_t)m->station_count * sizeof(double));
    memset(m->response.effort, 0, (size_t)m->actuator_count * sizeof(double));
    memset(m->response.measure, 0, (size_t)m->actuator_count * sizeof(double));
    memset(m->response.sensor, 0, (size_t)m->sensor_count * sizeof(double));
}

// One column per parameter. Derivatives with respect to commands come from the kind's own, in one evaluation
// for all columns.
pl_status reduced_sensitivity(void *self, const pl_parameter *parameter, int count, const pl_jacobian *out,
                              pl_jacobian_report *report, pl_error *err)
{
    // check all parameters before anything is computed
    pl_reduced_model *m = self;
    bool by_command = false;

    for (int j = 0; j < count; ++j) {
        const pl_status status = load_check(m, &parameter[j], err);
        if (status != PL_OK) {
            return status;
        }
        by_command = by_command || load_is_command(&parameter[j]);
    }

    if (out->position) {
        return pl_fail(err, PL_BAD_INPUT,
                       "a model of kind %s has no derivatives of its points with respect to loads",
                       pl_reduced_kind_name(m->kind));
    }

    // columns
    if (by_command) {
        m->ops->differentiate(m, false, report);
    }

    for (int j = 0; j < count; ++j) {
        const pl_parameter *p = &parameter[j];
        const bool force = p->kind == PL_PARAMETER_MARKER_FORCE;
        const reduced_load load = {
            .marker = force ? p->index : -1, .axis = p->part, .actuator = force ? -1 : p->index};
        load_clear(m);
        if (load_is_command(p)) {
            load_by_command(m, p->index);
        } else {
            m->ops->respond(m, &load, &m->response, report);
        }
        load_column(m, out, count, j);
    }

    return PL_OK;
}
