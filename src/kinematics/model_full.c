// The full body as a pl_model: statics answers, its sensitivities are the derivatives.
#include "kinematics/kinematics_impl.h"
#include "robot/robot.h"

typedef struct full_model {
    const pl_robot *robot;
    pl_statics *statics;
    pl_state *state, *kept[PL_MODEL_SLOTS];
    pl_model_info info;
    // names and rest
    pl_model_command *command;
    const char **actuator_name, **marker_name, **sensor_name;
    pl_actuator_kind *actuator_kind;
    pl_sensor_kind *sensor_kind;
    double *marker_at;
    // the answer, read on demand
    bool read, shared; // shared: others hold the state and may move it
    double *now, *marker, *rotation, *sensor, *effort, *measure, energy;
    // derivatives
    pl_parameter *parameter;
    double *d_marker, *d_rotation, *d_sensor, *d_effort, *d_measure, *d_energy;
    double *d_point, *force; // taken when first asked for; 3 per vertex
} full_model;

static void full_destroy(void *self)
{
    full_model *m = self;
    if (!m) {
        return;
    }
    for (int i = 0; i < PL_MODEL_SLOTS; ++i) {
        pl_state_destroy(m->kept[i]);
    }
    pl_state_destroy(m->state);
    pl_statics_destroy(m->statics);
    void *const block[] = {m->command,     m->actuator_name, m->marker_name, m->sensor_name, m->actuator_kind,
                           m->sensor_kind, m->marker_at,     m->now,         m->marker,      m->rotation,
                           m->sensor,      m->effort,        m->measure,     m->parameter,   m->d_marker,
                           m->d_rotation,  m->d_sensor,      m->d_effort,    m->d_measure,   m->d_energy,
                           m->d_point,     m->force};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_free(m);
}

static void full_info(void *self, pl_model_info *out)
{
    *out = ((full_model *)self)->info;
}

static pl_actuator_info full_actuator(void *self, int i)
{
    return pl_robot_actuator(((full_model *)self)->robot, i);
}

static pl_status full_fk(void *self, const double *command, pl_statics_report *report, pl_error *err)
{
    full_model *m = self;
    m->read = false;
    return pl_statics_solve(m->statics, m->state, command, report, err);
}

static void full_answer(void *self, pl_model_answer *out)
{
    full_model *m = self;
    if (!m->read) {
        memcpy(m->now, m->state->command, (size_t)m->info.command_count * sizeof *m->now);
        for (int i = 0; i < m->info.marker_count; ++i) {
            const pl_marker_result marker = pl_statics_marker(m->statics, m->state, i);
            memcpy(m->marker + 3 * i, marker.position, sizeof marker.position);
            for (int k = 0; k < 9; ++k) {
                m->rotation[9 * i + k] = marker.has_rotation ? marker.rotation[k] : NAN;
            }
        }
        for (int i = 0; i < m->info.sensor_count; ++i) {
            m->sensor[i] = pl_statics_sensor(m->statics, m->state, i);
        }
        for (int i = 0; i < m->info.actuator_count; ++i) {
            const pl_actuator_result a = pl_statics_actuator(m->statics, m->state, i);
            m->effort[i] = a.effort;
            m->measure[i] = a.measure;
        }
        m->energy = pl_statics_elastic(m->statics, m->state, NULL);
        m->read = !m->shared;
    }
    *out = (pl_model_answer){.command = m->now,
                             .marker = m->marker,
                             .rotation = m->rotation,
                             .sensor = m->sensor,
                             .effort = m->effort,
                             .measure = m->measure,
                             .point = pl_state_positions(m->state),
                             .energy = m->energy};
}

// Room for the derivatives of all body points, which most questions do not need.
static bool full_point_room(full_model *m)
{
    const int64_t rows = 3 * (int64_t)m->info.point_count;
    if (!m->d_point) {
        m->d_point = PL_NEW_ARRAY(double, rows * m->info.command_count);
    }
    if (!m->force) {
        m->force = PL_NEW_ARRAY(double, rows);
    }
    return m->d_point && m->force;
}

// dE/dc = (dE/dx) . (dx/dc) + dE/dc at held x, E the elastic energy.
static void full_energy_row(full_model *m)
{
    const int columns = m->info.command_count;
    pl_statics_elastic(m->statics, m->state, m->force);
    for (int j = 0; j < columns; ++j) {
        m->d_energy[j] = pl_statics_elastic_rate(m->statics, m->state, j);
    }
    for (int64_t i = 0; i < 3 * (int64_t)m->info.point_count; ++i) {
        for (int j = 0; j < columns; ++j) {
            m->d_energy[j] += m->force[i] * m->d_point[i * columns + j];
        }
    }
}

static pl_status full_derivative(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                                 pl_jacobian_report *report, pl_error *err)
{
    full_model *m = self;
    const bool points = (parts & (PL_PART_POINT | PL_PART_ENERGY)) != 0;
    (void)tolerance; // a factor at the solution costs less than an iteration per command, and serves the next
                     // fk
    if (points && !full_point_room(m)) {
        return pl_fail_memory(err, "model: derivatives of the body points");
    }
    const pl_jacobian wanted = {.position = points ? m->d_point : NULL,
                                .marker = parts & PL_PART_MARKER ? m->d_marker : NULL,
                                .rotation = parts & PL_PART_ROTATION ? m->d_rotation : NULL,
                                .sensor = parts & PL_PART_SENSOR ? m->d_sensor : NULL,
                                .effort = parts & PL_PART_EFFORT ? m->d_effort : NULL,
                                .measure = parts & PL_PART_MEASURE ? m->d_measure : NULL};
    const pl_status status =
        pl_statics_jacobian(m->statics, m->state, m->parameter, m->info.command_count, &wanted, report, err);
    if (status == PL_OK && (parts & PL_PART_ENERGY)) {
        full_energy_row(m);
    }
    *out = (pl_model_derivative){.marker = wanted.marker,
                                 .rotation = wanted.rotation,
                                 .sensor = wanted.sensor,
                                 .effort = wanted.effort,
                                 .measure = wanted.measure,
                                 .point = parts & PL_PART_POINT ? m->d_point : NULL,
                                 .energy = parts & PL_PART_ENERGY ? m->d_energy : NULL};
    return status;
}

static pl_status full_keep(void *self, int slot)
{
    full_model *m = self;
    if (!m->kept[slot]) {
        const pl_status status = pl_state_create(m->robot, &m->kept[slot], NULL);
        if (status != PL_OK) {
            return status;
        }
    }
    return pl_state_copy(m->kept[slot], m->state);
}

static pl_status full_recall(void *self, int slot)
{
    full_model *m = self;
    m->read = false;
    return m->kept[slot] ? pl_state_copy(m->state, m->kept[slot]) : PL_BAD_INPUT;
}

static void full_reset(void *self)
{
    full_model *m = self;
    m->read = false;
    pl_state_reset(m->state, m->robot);
}

static const pl_model_type full_type = {.destroy = full_destroy,
                                        .info = full_info,
                                        .actuator = full_actuator,
                                        .fk = full_fk,
                                        .answer = full_answer,
                                        .derivative = full_derivative,
                                        .keep = full_keep,
                                        .recall = full_recall,
                                        .reset = full_reset};

// Memory for names, answers and derivatives; false when there is none.
static bool full_room(full_model *m)
{
    const int commands = m->info.command_count, actuators = m->info.actuator_count,
              markers = m->info.marker_count, sensors = m->info.sensor_count;
    m->command = PL_NEW_ARRAY(pl_model_command, commands);
    m->actuator_name = PL_NEW_ARRAY(const char *, actuators);
    m->marker_name = PL_NEW_ARRAY(const char *, markers);
    m->sensor_name = PL_NEW_ARRAY(const char *, sensors);
    m->actuator_kind = PL_NEW_ARRAY(pl_actuator_kind, actuators);
    m->sensor_kind = PL_NEW_ARRAY(pl_sensor_kind, sensors);
    m->marker_at = PL_NEW_ARRAY(double, 3 * markers);
    m->now = PL_NEW_ARRAY(double, commands);
    m->marker = PL_NEW_ARRAY(double, 3 * markers);
    m->rotation = PL_NEW_ARRAY(double, 9 * markers);
    m->sensor = PL_NEW_ARRAY(double, sensors);
    m->effort = PL_NEW_ARRAY(double, actuators);
    m->measure = PL_NEW_ARRAY(double, actuators);
    m->parameter = PL_NEW_ARRAY(pl_parameter, commands);
    m->d_marker = PL_NEW_ARRAY(double, 3 * markers * commands);
    m->d_rotation = PL_NEW_ARRAY(double, 3 * markers * commands);
    m->d_sensor = PL_NEW_ARRAY(double, sensors *commands);
    m->d_effort = PL_NEW_ARRAY(double, actuators *commands);
    m->d_measure = PL_NEW_ARRAY(double, actuators *commands);
    m->d_energy = PL_NEW_ARRAY(double, commands);
    return m->command && m->actuator_name && m->marker_name && m->sensor_name && m->actuator_kind &&
           m->sensor_kind && m->marker_at && m->now && m->marker && m->rotation && m->sensor && m->effort &&
           m->measure && m->parameter && m->d_marker && m->d_rotation && m->d_sensor && m->d_effort &&
           m->d_measure && m->d_energy;
}

// Other elements give other answers, so a stored workspace of the one is none of the other.
static uint64_t full_hash(const pl_robot *robot, const pl_statics_options *options)
{
    const uint64_t hash = pl_robot_hash(robot);
    return options->displacement ? pl_hash_bytes(hash, "displacement", sizeof "displacement") : hash;
}

static void full_name(full_model *m, const pl_statics_options *options)
{
    const pl_mesh_view mesh = pl_mesh_get(pl_robot_mesh(m->robot));
    double low[3], high[3];
    for (int i = 0; i < m->info.command_count; ++i) {
        m->command[i] = pl_robot_command(m->robot, i);
        m->parameter[i] = (pl_parameter){.kind = PL_PARAMETER_COMMAND, .index = i};
    }
    for (int i = 0; i < m->info.actuator_count; ++i) {
        const pl_actuator_info a = pl_robot_actuator(m->robot, i);
        m->actuator_name[i] = a.name;
        m->actuator_kind[i] = a.kind;
    }
    for (int i = 0; i < m->info.marker_count; ++i) {
        double off;
        m->marker_name[i] = pl_robot_marker_name(m->robot, i);
        pl_robot_marker_rest(m->robot, i, m->marker_at + 3 * i, &off);
    }
    for (int i = 0; i < m->info.sensor_count; ++i) {
        m->sensor_name[i] = pl_robot_sensor_name(m->robot, i);
        m->sensor_kind[i] = pl_robot_sensor_kind(m->robot, i);
    }
    for (int k = 0; k < 3; ++k) {
        low[k] = INFINITY, high[k] = -INFINITY;
        for (int32_t v = 0; v < mesh.vertex_count; ++v) {
            low[k] = fmin(low[k], mesh.position[3 * (int64_t)v + k]);
            high[k] = fmax(high[k], mesh.position[3 * (int64_t)v + k]);
        }
    }
    m->info.name = pl_robot_name(m->robot);
    m->info.kind = "full";
    m->info.hash = full_hash(m->robot, options);
    m->info.command = m->command;
    m->info.actuator_name = m->actuator_name;
    m->info.actuator_kind = m->actuator_kind;
    m->info.marker_name = m->marker_name;
    m->info.sensor_name = m->sensor_name;
    m->info.sensor_kind = m->sensor_kind;
    m->info.point_count = mesh.vertex_count;
    m->info.rest = mesh.position;
    m->info.marker_at = m->marker_at;
    m->info.size = pl_distance3(low, high);
}

pl_status pl_model_from_robot(const pl_robot *robot, const pl_statics_options *options, pl_model **out,
                              pl_error *err)
{
    *out = NULL;
    full_model *m = PL_NEW(full_model);
    if (!m) {
        return pl_fail_memory(err, "model");
    }
    m->robot = robot;
    m->info.command_count = pl_robot_command_count(robot);
    m->info.actuator_count = pl_robot_actuator_count(robot);
    m->info.marker_count = pl_robot_marker_count(robot);
    m->info.sensor_count = pl_robot_sensor_count(robot);
    pl_status status = full_room(m) ? PL_OK : pl_fail_memory(err, "model: answers and derivatives");
    if (status == PL_OK) {
        full_name(m, options);
        status = pl_statics_create(robot, options, &m->statics, err);
    }
    if (status == PL_OK) {
        status = pl_state_create(robot, &m->state, err);
    }
    if (status != PL_OK) {
        full_destroy(m);
        return status;
    }
    return pl_model_create(&full_type, m, out, err);
}

static full_model *full_of(const pl_model *model)
{
    return model->type == &full_type ? model->self : NULL;
}

pl_statics *pl_model_statics(pl_model *model)
{
    full_model *m = full_of(model);
    return m ? m->statics : NULL;
}

pl_state *pl_model_state(pl_model *model)
{
    full_model *m = full_of(model);
    if (m) {
        m->read = false;
        m->shared = true;
    }
    return m ? m->state : NULL;
}

const pl_robot *pl_model_robot(const pl_model *model)
{
    const full_model *m = full_of(model);
    return m ? m->robot : NULL;
}
