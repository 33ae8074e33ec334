// The full body by the method of the geometric papers: local_global, with the options of a preset or with
// others. Statics only evaluates here: markers, sensors, energy and fields of the shape that the method
// found. Derivatives come from the fixed point by the implicit function theorem; where it has none in closed
// form (growth, contact, loose rigid regions, the published preset) pl_model takes differences of forward
// solves.
#include "geometric/geometric.h"
#include "actuator/actuator.h"
#include "model/model_body.h"
#include "robot/robot.h"
#include "robot/robot_kind.h"
#include "statics/statics.h"

typedef struct geometric_model {
    model_body body; // first: see model_body.h
    pl_geometric *geometric;
    pl_parameter *parameter; // the commands
    pl_functional *measure;  // per actuator, on the robot's mesh
    double *block;           // all derivatives of the commands
    pl_jacobian by_command;  // into it
    double *position, *row;  // 3 vertex_count x columns of the last question; 3 vertex_count
    int64_t position_size;
} geometric_model;

#define GEOMETRIC_EXACT 1e-10 // relative residual of derivatives that are to be exact

// Solves end within 1e-6 mm of the fixed point (length_tolerance), so a step of a five-hundredth of the span
// leaves about six digits to differences, and its square is what they lose to curvature.
#define GEOMETRIC_DIFFERENCE_STEP 2e-3

static void geometric_destroy(void *self)
{
    geometric_model *m = self;
    for (int i = 0; m->measure && i < m->body.info.actuator_count; ++i) {
        pl_functional_clear(&m->measure[i]);
    }

    void *const block[] = {m->parameter, m->measure, m->block, m->position, m->row};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    model_body_clear(&m->body);
    pl_geometric_destroy(m->geometric);
    pl_free(m);
}

static pl_status geometric_fk(void *self, const double *command, pl_solve_report *report, pl_error *err)
{
    geometric_model *m = self;
    return pl_geometric_solve(m->geometric, m->body.state, command, report, err);
}

// What the actuators reached is reported by the method: on the corner mesh, efforts only where it knows them.
static void geometric_answer(void *self, pl_model_answer *out)
{
    geometric_model *m = self;
    model_body_answer(&m->body, out);
    for (int i = 0; i < m->body.info.actuator_count; ++i) {
        const pl_geometric_actuator_result a = pl_geometric_actuator(m->geometric, i);
        pl_actuator_state *s = &m->body.state_of[i];
        m->body.effort[i] = a.effort;
        s->asked = a.asked;
        s->reached = a.ratio;
        s->growth = a.growth;
        s->local_low = a.local_low;
        s->local_high = a.local_high;
        s->slack = s->slack && !a.growth;
    }
}

// ---- the state: that of the robot, then what the solver remembers beyond it
static size_t geometric_pack(void *self, double *block, size_t room)
{
    geometric_model *m = self;
    const size_t own = pl_state_pack(m->body.state, NULL, 0);
    const size_t need = own + pl_geometric_pack(m->geometric, NULL, 0);

    if (block && room >= need) {
        pl_state_pack(m->body.state, block, own);
        pl_geometric_pack(m->geometric, block + own, need - own);
    }

    return need;
}

// A state of the exact method ends before the second part: the chambers' insides then start undeformed. A
// state of a motion is taken at rest.
static pl_status geometric_unpack(void *self, const double *block, size_t count, pl_error *err)
{
    geometric_model *m = self;
    const pl_status status = pl_state_unpack(m->body.state, block, count, err);

    if (status == PL_OK) {
        const size_t own = pl_state_pack(m->body.state, NULL, 0);
        const bool whole = count == own + pl_geometric_pack(m->geometric, NULL, 0);
        pl_geometric_unpack(m->geometric, whole ? block + own : NULL);
        pl_state_rest(m->body.state);
    }

    return status;
}

static void geometric_reset(void *self)
{
    geometric_model *m = self;
    pl_state_reset(m->body.state, m->body.robot);
    pl_geometric_unpack(m->geometric, NULL);
}

// ---- derivatives
// Room for dx of `count` parameters.
static bool geometric_position_room(geometric_model *m, int count)
{
    const int64_t size = 3 * (int64_t)m->body.info.point_count * count;
    if (size > m->position_size) {
        pl_free(m->position);
        m->position = PL_NEW_ARRAY(double, size);
        m->position_size = m->position ? size : 0;
    }

    return m->position;
}

// Outputs of column j from the motion `dx` and from the change of the efforts.
static void geometric_column(geometric_model *m, const double *dx, const double *effort, int j, int count,
                             const pl_jacobian *out)
{
    const pl_robot *robot = m->body.robot;
    const int64_t n = 3 * (int64_t)m->body.info.point_count;

    pl_statics_motion(m->body.statics, m->body.state, dx, j, count, out);
    for (int i = 0; i < m->body.info.actuator_count; ++i) {
        double change = 0;

        if (out->measure || out->sensor) {
            memset(m->row, 0, (size_t)n * sizeof *m->row);
            pl_functional_gradient(&m->measure[i], pl_state_positions(m->body.state), 1, m->row);
            for (int64_t k = 0; k < n; ++k) {
                change += m->row[k] * dx[k];
            }
        }

        if (out->measure) {
            out->measure[i * count + j] = change;
        }
        if (out->effort) {
            out->effort[i * count + j] = effort[i * count + j];
        }
        for (int k = 0; out->sensor && k < robot->sensor_count; ++k) {
            const pl_sensor *sensor = &robot->sensor[k];
            if (!pl_sensor_is_line(sensor->kind) && sensor->actuator == i) {
                out->sensor[k * count + j] = pl_sensor_traits_get(sensor->kind)->reads == PL_READS_MEASURE
                                                 ? change
                                                 : effort[i * count + j];
            }
        }
    }
}

static pl_status geometric_slopes(geometric_model *m, const pl_parameter *parameter, int count,
                                  double tolerance, const pl_jacobian *out, pl_jacobian_report *report,
                                  pl_error *err)
{
    const int64_t n = 3 * (int64_t)m->body.info.point_count;
    double *effort = PL_NEW_ARRAY(double, m->body.info.actuator_count *count), *dx = PL_NEW_ARRAY(double, n);
    pl_geometric_slopes found = {0};
    pl_status status = effort && dx && geometric_position_room(m, count)
                           ? pl_geometric_sensitivity(m->geometric, m->body.state, parameter, count,
                                                      tolerance > 0 ? tolerance : GEOMETRIC_EXACT,
                                                      m->position, effort, &found, err)
                           : pl_fail_memory(err, "derivatives");

    *report = (pl_jacobian_report){.solves = found.solves, .residual = found.residual, .negative_count = -1};
    for (int j = 0; status == PL_OK && j < count; ++j) {
        for (int64_t k = 0; k < n; ++k) {
            dx[k] = m->position[k * count + j];
        }
        geometric_column(m, dx, effort, j, count, out);
    }

    pl_free(effort);
    pl_free(dx);

    return status;
}

static pl_status geometric_derivative(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                                      pl_jacobian_report *report, pl_error *err)
{
    geometric_model *m = self;
    const int commands = m->body.info.command_count;
    const pl_jacobian *all = &m->by_command;
    const bool energy = parts & PL_PART_ENERGY;
    const pl_jacobian wanted = {.marker = parts & PL_PART_MARKER ? all->marker : NULL,
                                .rotation = parts & PL_PART_ROTATION ? all->rotation : NULL,
                                .sensor = parts & PL_PART_SENSOR ? all->sensor : NULL,
                                .effort = parts & PL_PART_EFFORT ? all->effort : NULL,
                                .measure = parts & PL_PART_MEASURE ? all->measure : NULL};
    const pl_status status = geometric_slopes(m, m->parameter, commands, tolerance, &wanted, report, err);

    // dE/dc = (dE/dx) . (dx/dc), E the elastic energy of the exact law at the shape
    double *d_energy = all->reading;

    if (status == PL_OK && energy) {
        pl_statics_elastic(m->body.statics, m->body.state, m->row);
        for (int j = 0; j < commands; ++j) {
            d_energy[j] = pl_statics_elastic_rate(m->body.statics, m->body.state, j);
            for (int64_t k = 0; k < 3 * (int64_t)m->body.info.point_count; ++k) {
                d_energy[j] += m->row[k] * m->position[k * commands + j];
            }
        }
    }

    *out = (pl_model_derivative){.marker = wanted.marker,
                                 .rotation = wanted.rotation,
                                 .sensor = wanted.sensor,
                                 .effort = wanted.effort,
                                 .measure = wanted.measure,
                                 .point = parts & PL_PART_POINT ? m->position : NULL,
                                 .energy = energy ? d_energy : NULL};

    return status;
}

static pl_status geometric_sensitivity(void *self, const pl_parameter *parameter, int count,
                                       const pl_jacobian *out, pl_jacobian_report *report, pl_error *err)
{
    return geometric_slopes(self, parameter, count, 0, out, report, err);
}

// Room for the derivatives by the commands; the place of the readings, of which there are none, is that of
// the energy's row.
static pl_status geometric_derivative_room(geometric_model *m, pl_error *err)
{
    const pl_model_info *i = &m->body.info;
    const int64_t c = i->command_count;

    m->parameter = PL_NEW_ARRAY(pl_parameter, c);
    m->measure = PL_NEW_ARRAY(pl_functional, i->actuator_count);
    m->row = PL_NEW_ARRAY(double, 3 * (int64_t)i->point_count);
    double *at = m->block =
        PL_NEW_ARRAY(double, c *(6 * i->marker_count + i->sensor_count + 2 * i->actuator_count + 1));
    bool enough = m->parameter && m->measure && m->row && at;
    for (int j = 0; enough && j < c; ++j) {
        m->parameter[j] = (pl_parameter){.kind = PL_PARAMETER_COMMAND, .index = j};
    }
    for (int k = 0; enough && k < i->actuator_count; ++k) {
        enough =
            pl_actuator_functional(m->body.robot->mesh, &m->body.robot->actuator[k], &m->measure[k]) == PL_OK;
    }

    if (!enough) {
        return pl_fail_memory(err, "the derivatives of the model");
    }
    m->by_command.marker = at;
    m->by_command.rotation = at += 3 * i->marker_count * c;
    m->by_command.sensor = at += 3 * i->marker_count * c;
    m->by_command.effort = at += i->sensor_count * c;
    m->by_command.measure = at += i->actuator_count * c;
    m->by_command.reading = at += i->actuator_count * c;

    return PL_OK;
}

static const pl_model_extras geometric_extras = {.field = model_body_field};

static const pl_model_type geometric_type = {.info = model_body_info,
                                             .fk = geometric_fk,
                                             .answer = geometric_answer,
                                             .destroy = geometric_destroy,
                                             .pack = geometric_pack,
                                             .unpack = geometric_unpack,
                                             .reset = geometric_reset,
                                             .body = model_body_mesh,
                                             .shape = model_body_shape,
                                             .line = model_body_line,
                                             .extras = &geometric_extras};

// The same with derivatives of its own.
static const pl_model_extras geometric_smooth_extras = {.sensitivity = geometric_sensitivity,
                                                        .field = model_body_field};

static const pl_model_type geometric_smooth_type = {.info = model_body_info,
                                                    .fk = geometric_fk,
                                                    .answer = geometric_answer,
                                                    .destroy = geometric_destroy,
                                                    .derivative = geometric_derivative,
                                                    .pack = geometric_pack,
                                                    .unpack = geometric_unpack,
                                                    .reset = geometric_reset,
                                                    .body = model_body_mesh,
                                                    .shape = model_body_shape,
                                                    .line = model_body_line,
                                                    .extras = &geometric_smooth_extras};

// Everything that decides the answers, as numbers.
static uint64_t geometric_hash(uint64_t hash, const pl_geometric_options *o)
{
    const double number[] = {o->metric,
                             o->form,
                             o->stop,
                             o->length_tolerance,
                             o->stop == PL_STOP_TIP_MOTION ? o->tip_tolerance : 0,
                             o->actuation_weight,
                             o->body_weight,
                             o->unit_weights,
                             o->even_weights,
                             o->actuation,
                             o->distribution,
                             o->strain_high,
                             o->contact_spring,
                             o->contact_offset,
                             o->remesh,
                             o->remesh ? o->remesh_volume : 0,
                             o->remesh ? o->remesh_stretch : 0};
    return pl_hash_bytes(pl_hash_bytes(hash, "local_global", sizeof "local_global"), number, sizeof number);
}

// The robot must outlive the model. Statics evaluates with its default options, it never solves.
pl_status pl_model_from_robot_geometric(const pl_robot *robot, const pl_geometric_options *options,
                                        pl_model **out, pl_error *err)
{
    *out = NULL;
    geometric_model *m = PL_NEW(geometric_model);
    if (!m) {
        return pl_fail_memory(err, "the model");
    }

    const pl_statics_options evaluation = pl_statics_options_default();
    pl_status status = model_body_init(&m->body, robot, &evaluation, err);
    if (status == PL_OK) {
        status = pl_geometric_create(robot, options, &m->geometric, err);
    }
    if (status != PL_OK) {
        geometric_destroy(m);
        return status;
    }

    pl_model_info *info = &m->body.info;
    info->method = "local_global";
    info->hash = geometric_hash(info->hash, options);
    info->difference_step = GEOMETRIC_DIFFERENCE_STEP;

    // no reactions and no readings of contact
    info->support_count = 0; // the forces of this method are not those of the exact law,
    info->reading_count = 0; // nor those of its springs forces of contact
    info->fields &= ~(1u << PL_FIELD_PRESSURE | 1u << PL_FIELD_GAP);
    pl_geometric_unpack(m->geometric, NULL);
    if (!pl_geometric_differentiable(m->geometric)) {
        return pl_model_create(&geometric_type, m, out, err);
    }
    status = geometric_derivative_room(m, err);
    if (status != PL_OK) {
        geometric_destroy(m);
        return status;
    }

    return pl_model_create(&geometric_smooth_type, m, out, err);
}

pl_geometric *pl_model_geometric(const pl_model *model)
{
    const geometric_model *m = pl_model_self(model, &geometric_type);
    m = m ? m : pl_model_self(model, &geometric_smooth_type);
    return m ? m->geometric : NULL;
}
