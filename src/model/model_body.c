// The full body as models of either method see it: names and sizes from the robot, answers from a state.
#include "model/model_body.h"
#include "robot/robot.h"

void model_body_clear(model_body *b)
{
    pl_state_destroy(b->state);
    pl_statics_destroy(b->statics);
    void *const block[] = {b->command,      b->actuator,    b->marker_name,  b->sensor_name,
                           b->support_name, b->sensor_kind, b->reading_info, b->marker_at,
                           b->now,          b->marker,      b->rotation,     b->sensor,
                           b->effort,       b->measure,     b->reading,      b->state_of};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
}

// Sizes are in b->info; false when out of memory.
static bool body_room(model_body *b)
{
    const pl_model_info *i = &b->info;
    b->command = PL_NEW_ARRAY(pl_command_info, i->command_count);
    b->actuator = PL_NEW_ARRAY(pl_actuator_info, i->actuator_count);
    b->marker_name = PL_NEW_ARRAY(const char *, i->marker_count);
    b->sensor_name = PL_NEW_ARRAY(const char *, i->sensor_count);
    b->support_name = PL_NEW_ARRAY(const char *, i->support_count);
    b->sensor_kind = PL_NEW_ARRAY(pl_sensor_kind, i->sensor_count);
    b->reading_info = PL_NEW_ARRAY(pl_reading_info, i->reading_count);
    b->marker_at = PL_NEW_ARRAY(double, 3 * i->marker_count);
    b->now = PL_NEW_ARRAY(double, i->command_count);
    b->marker = PL_NEW_ARRAY(double, 3 * i->marker_count);
    b->rotation = PL_NEW_ARRAY(double, 9 * i->marker_count);
    b->sensor = PL_NEW_ARRAY(double, i->sensor_count);
    b->effort = PL_NEW_ARRAY(double, i->actuator_count);
    b->measure = PL_NEW_ARRAY(double, i->actuator_count);
    b->reading = PL_NEW_ARRAY(double, i->reading_count);
    b->state_of = PL_NEW_ARRAY(pl_actuator_state, i->actuator_count);

    return b->command && b->actuator && b->marker_name && b->sensor_name && b->support_name &&
           b->sensor_kind && b->reading_info && b->marker_at && b->now && b->marker && b->rotation &&
           b->sensor && b->effort && b->measure && b->reading && b->state_of;
}

// Copies of the robot's names and of what is constant.
static void body_names(model_body *b)
{
    const pl_robot *robot = b->robot;
    for (int i = 0; i < b->info.command_count; ++i) {
        b->command[i] = pl_robot_command(robot, i);
    }
    for (int i = 0; i < b->info.actuator_count; ++i) {
        b->actuator[i] = pl_robot_actuator(robot, i);
    }

    for (int i = 0; i < b->info.marker_count; ++i) {
        double off;
        b->marker_name[i] = pl_robot_marker_name(robot, i);
        pl_robot_marker_rest(robot, i, b->marker_at + 3 * i, &off);
    }

    for (int i = 0; i < b->info.sensor_count; ++i) {
        b->sensor_name[i] = pl_robot_sensor_name(robot, i);
        b->sensor_kind[i] = pl_robot_sensor_kind(robot, i);
    }

    for (int i = 0; i < b->info.support_count; ++i) {
        b->support_name[i] = pl_robot_fixed_name(robot, i);
    }
    for (int i = 0; i < b->info.reading_count; ++i) {
        b->reading_info[i] = pl_statics_reading_info(b->statics, i);
    }
}

// The diagonal of the box around the undeformed body.
static double body_size(const pl_mesh_view *mesh)
{
    double low[3], high[3];
    for (int k = 0; k < 3; ++k) {
        low[k] = INFINITY, high[k] = -INFINITY;
        for (int32_t v = 0; v < mesh->vertex_count; ++v) {
            low[k] = fmin(low[k], mesh->position[3 * (int64_t)v + k]);
            high[k] = fmax(high[k], mesh->position[3 * (int64_t)v + k]);
        }
    }

    return pl_distance3(low, high);
}

// The description: names, sizes, and the fields that can be asked for.
static void body_describe(model_body *b)
{
    const pl_mesh_view mesh = pl_mesh_get(pl_robot_mesh(b->robot));
    const pl_statics_sizes sizes = pl_statics_get_sizes(b->statics);
    pl_model_info *i = &b->info;

    i->name = pl_robot_name(b->robot);
    i->kind = "full";
    i->hash = i->robot_hash = pl_robot_hash(b->robot);
    i->command = b->command;
    i->actuator = b->actuator;
    i->marker_name = b->marker_name;
    i->marker_at = b->marker_at;
    i->sensor_name = b->sensor_name;
    i->sensor_kind = b->sensor_kind;
    i->support_name = b->support_name;
    i->reading = b->reading_info;
    i->point_count = mesh.vertex_count;
    i->rest = mesh.position;
    i->vertex_count = sizes.vertices;
    i->element_count = sizes.elements;
    i->fields = (1u << PL_FIELD_COUNT) - 1;

    // without contact there is neither pressure nor gap
    if (!pl_robot_has_contact(b->robot)) {
        i->fields &= ~(1u << PL_FIELD_PRESSURE | 1u << PL_FIELD_GAP);
    }
    i->size = body_size(&mesh);
}

// On failure the body is half-made and must be cleared.
pl_status model_body_init(model_body *b, const pl_robot *robot, const pl_statics_options *options,
                          pl_error *err)
{
    *b = (model_body){.robot = robot};
    pl_status status = pl_statics_create(robot, options, &b->statics, err);
    if (status == PL_OK) {
        status = pl_state_create(robot, &b->state, err);
    }
    if (status != PL_OK) {
        return status;
    }

    // counts fix the sizes
    b->info.command_count = pl_robot_command_count(robot);
    b->info.actuator_count = pl_robot_actuator_count(robot);
    b->info.marker_count = pl_robot_marker_count(robot);
    b->info.sensor_count = pl_robot_sensor_count(robot);
    b->info.support_count = pl_robot_fixed_count(robot);
    b->info.reading_count = pl_statics_reading_count(b->statics);
    if (!body_room(b)) {
        return pl_fail_memory(err, "the model");
    }
    body_names(b);
    body_describe(b);

    return PL_OK;
}

// NAN for markers without a frame.
static void body_read_markers(model_body *b, const pl_state *state)
{
    for (int i = 0; i < b->info.marker_count; ++i) {
        const pl_marker_result marker = pl_statics_marker(b->statics, state, i);
        memcpy(b->marker + 3 * i, marker.position, sizeof marker.position);
        for (int k = 0; k < 9; ++k) {
            b->rotation[9 * i + k] = marker.has_rotation ? marker.rotation[k] : NAN;
        }
    }
}

void model_body_outputs(model_body *b, const pl_state *state, pl_model_answer *out)
{
    memcpy(b->now, state->command, (size_t)b->info.command_count * sizeof *b->now);
    body_read_markers(b, state);
    for (int i = 0; i < b->info.sensor_count; ++i) {
        b->sensor[i] = pl_statics_sensor(b->statics, state, i);
    }

    // efforts, measures and states of the actuators
    for (int i = 0; i < b->info.actuator_count; ++i) {
        const pl_actuator_result a = pl_statics_actuator(b->statics, state, i);
        b->effort[i] = a.effort;
        b->measure[i] = a.measure;
        b->state_of[i] = (pl_actuator_state){.ratio = a.ratio,
                                             .asked = pl_robot_actuator_asked(b->robot, i, b->now),
                                             .reached = a.ratio,
                                             .local_low = NAN,
                                             .local_high = NAN,
                                             .slack = a.slack,
                                             .growth = b->actuator[i].growth};
    }

    *out = (pl_model_answer){.command = b->now,
                             .marker = b->marker,
                             .rotation = b->rotation,
                             .sensor = b->sensor,
                             .effort = b->effort,
                             .measure = b->measure,
                             .actuator = b->state_of,
                             .point = pl_state_positions(state),
                             .force = pl_state_forces(state),
                             .energy = NAN};
}

void model_body_answer(model_body *b, pl_model_answer *out)
{
    model_body_outputs(b, b->state, out);
    for (int i = 0; i < b->info.reading_count; ++i) {
        b->reading[i] = pl_statics_reading(b->statics, b->state, i);
    }
    out->reading = b->reading;
    out->energy = pl_statics_elastic(b->statics, b->state, NULL);
}

// ---- functions of the type
void model_body_info(void *self, pl_model_info *out)
{
    *out = ((model_body *)self)->info;
}

pl_status model_body_mesh(void *self, const pl_mesh **out, pl_error *err)
{
    (void)err;
    *out = pl_robot_mesh(((model_body *)self)->robot);
    return PL_OK;
}

void model_body_shape(void *self, double *position)
{
    const pl_state *state = ((model_body *)self)->state;
    memcpy(position, pl_state_positions(state), 3 * (size_t)pl_state_vertex_count(state) * sizeof *position);
}

int model_body_line(void *self, int actuator, double *point, int room)
{
    const model_body *b = self;
    return pl_actuator_kind_get(b->actuator[actuator].kind)->place == PL_PLACE_POINTS
               ? pl_statics_cable_points(b->statics, b->state, actuator, point, room)
               : 0;
}

pl_status model_body_field(void *self, pl_field field, double *out, pl_error *err)
{
    const model_body *b = self;
    return pl_statics_field(b->statics, b->state, field, out, err);
}
