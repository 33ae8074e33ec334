// Looking into a robot, and taking it apart.
#include "robot/robot_impl.h"

static void access_points_destroy(pl_point *point, int count)
{
    for (int i = 0; point && i < count; ++i) {
        pl_point_clear(&point[i]);
    }
    pl_free(point);
}

static void access_actuator_clear(pl_actuator *a)
{
    pl_free(a->name);
    pl_free(a->face);
    pl_free(a->film);
    pl_free(a->fill_tet);
    pl_free(a->fill_position);
    pl_free(a->table_block);
    pl_free(a->rim_start);
    pl_free(a->rim_node);
    pl_free(a->cap);
    pl_free(a->cap_node);
    access_points_destroy(a->guide, a->guide_count);
}

// Replaces the store; the folder is owned by the robot from now on.
void pl_robot_set_orders(pl_robot *robot, pl_order_store store)
{
    pl_free(robot->orders.folder);
    robot->orders = store;
}

// Accepts a half-built robot.
void pl_robot_destroy(pl_robot *robot)
{
    if (!robot) {
        return;
    }
    pl_free(robot->orders.folder);
    for (int i = 0; robot->material_name && i < robot->material_count; ++i) {
        pl_free(robot->material_name[i]);
    }

    // items with memory of their own
    for (int i = 0; i < robot->support_count; ++i) {
        pl_free(robot->support[i].name);
        pl_free(robot->support[i].node);
    }

    for (int i = 0; i < robot->rigid_count; ++i) {
        pl_free(robot->rigid[i].name);
        pl_free(robot->rigid[i].node);
    }

    for (int i = 0; i < robot->actuator_count; ++i) {
        access_actuator_clear(&robot->actuator[i]);
    }
    for (int i = 0; i < robot->command_count; ++i) {
        pl_free(robot->command[i].name);
    }

    for (int i = 0; i < robot->marker_count; ++i) {
        pl_free(robot->marker[i].name);
        pl_point_clear(&robot->marker[i].point);
        pl_point_clear(&robot->marker[i].patch);
    }

    for (int i = 0; i < robot->sensor_count; ++i) {
        pl_free(robot->sensor[i].name);
        access_points_destroy(robot->sensor[i].guide, robot->sensor[i].guide_count);
    }

    for (int i = 0; i < robot->pressure_count; ++i) {
        pl_free(robot->pressure[i].face);
    }
    for (int i = 0; i < robot->spring_count; ++i) {
        pl_free(robot->spring[i].name);
    }
    for (int i = 0; i < robot->layer_count; ++i) {
        pl_free(robot->layer[i].name);
        pl_free(robot->layer[i].face);
    }

    for (int i = 0; i < robot->fibre_count; ++i) {
        robot_fibre_clear(&robot->fibre[i]);
    }

    // the lists themselves
    void *const blocks[] = {
        robot->name,  robot->material, robot->material_name, robot->region_material, robot->support,
        robot->rigid, robot->actuator, robot->command,       robot->marker,          robot->sensor,
        robot->force, robot->pressure, robot->region_rest,   robot->region_body,     robot->spring,
        robot->layer, robot->fibre};
    for (int i = 0; i < PL_COUNT(blocks); ++i) {
        pl_free(blocks[i]);
    }
    robot_contact_clear(&robot->contact);
    pl_mesh_destroy(robot->mesh);
    pl_free(robot);
}

const char *pl_robot_name(const pl_robot *robot)
{
    return robot->name;
}

uint64_t pl_robot_hash(const pl_robot *robot)
{
    return robot->hash;
}

const pl_mesh *pl_robot_mesh(const pl_robot *robot)
{
    return robot->mesh;
}

const char *pl_robot_region_material(const pl_robot *robot, int region)
{
    if (region < 0 || region >= pl_mesh_get(robot->mesh).region_count) {
        return NULL;
    }
    return robot->material_name[robot->region_material[region]];
}

int pl_robot_command_count(const pl_robot *robot)
{
    return robot->command_count;
}

// Zeroed for an index that does not exist, as in the functions below.
pl_command_info pl_robot_command(const pl_robot *robot, int i)
{
    if (i < 0 || i >= robot->command_count) {
        return (pl_command_info){0};
    }

    const pl_command *c = &robot->command[i];
    return (pl_command_info){.name = c->name,
                             .range = {c->range[0], c->range[1]},
                             .has_range = c->has_range,
                             .drive = c->actuator_count > 0 ? robot->actuator[c->first_actuator].drive
                                      : c->force            ? PL_DRIVE_TENSION // a free body: N
                                                            : PL_DRIVE_LENGTH,            // an obstacle: mm
                             .actuator_count = c->actuator_count,
                             .rate = c->rate,
                             .fill = c->fill,
                             .vent = c->vent,
                             .rest = c->rest,
                             .span = {c->span[0], c->span[1]}};
}

int pl_robot_find_command(const pl_robot *robot, const char *name)
{
    for (int i = 0; i < robot->command_count; ++i) {
        if (strcmp(robot->command[i].name, name) == 0) {
            return i;
        }
    }

    return -1;
}

int pl_robot_actuator_count(const pl_robot *robot)
{
    return robot->actuator_count;
}

pl_actuator_info pl_robot_actuator(const pl_robot *robot, int i)
{
    if (i < 0 || i >= robot->actuator_count) {
        return (pl_actuator_info){.command = -1};
    }

    const pl_actuator *a = &robot->actuator[i];
    return (pl_actuator_info){.name = a->name,
                              .kind = a->kind,
                              .drive = a->drive,
                              .range = {a->range[0], a->range[1]},
                              .has_range = a->has_range,
                              .idle_hold = a->idle_hold,
                              .rest = a->rest,
                              .command = a->command,
                              .factor = a->factor,
                              .one_sided = a->one_sided,
                              .growth = a->growth,
                              .table_count = a->table.count,
                              .rim_count = a->rim_count,
                              .rate = a->rate,
                              .axis = a->hardware.axis,
                              .hardware = &a->hardware};
}

int64_t pl_robot_actuator_faces(const pl_robot *robot, int i, const int64_t **face)
{
    const bool known = i >= 0 && i < robot->actuator_count;
    *face = known ? robot->actuator[i].face : NULL;
    return known && *face ? robot->actuator[i].face_count : 0;
}

int pl_robot_marker_count(const pl_robot *robot)
{
    return robot->marker_count;
}

const char *pl_robot_marker_name(const pl_robot *robot, int i)
{
    return i < 0 || i >= robot->marker_count ? NULL : robot->marker[i].name;
}

void pl_robot_marker_rest(const pl_robot *robot, int i, double position[3], double *distance)
{
    const bool known = i >= 0 && i < robot->marker_count;
    for (int k = 0; k < 3; ++k) {
        position[k] = known ? robot->marker[i].point.rest[k] + robot->marker[i].offset[k] : NAN;
    }
    if (distance) {
        *distance = known ? robot->marker[i].distance : NAN;
    }
}

int pl_robot_sensor_count(const pl_robot *robot)
{
    return robot->sensor_count;
}

const char *pl_robot_sensor_name(const pl_robot *robot, int i)
{
    return i < 0 || i >= robot->sensor_count ? NULL : robot->sensor[i].name;
}

// Positions of a sensor's guides for vertex positions `position`; returns their number, of
// which at most `room` are written.
int pl_robot_sensor_line(const pl_robot *robot, int i, const double *position, double *point, int room)
{
    if (i < 0 || i >= robot->sensor_count) {
        return 0;
    }

    const pl_sensor *s = &robot->sensor[i];
    for (int k = 0; k < s->guide_count && k < room; ++k) {
        const pl_point *p = &s->guide[k];

        for (int axis = 0; axis < 3; ++axis) {
            double sum = p->count ? 0 : p->rest[axis];
            for (int32_t j = 0; j < p->count; ++j) {
                sum += p->weight[j] * position[3 * (int64_t)p->node[j] + axis];
            }
            point[3 * k + axis] = sum;
        }
    }

    return s->guide_count;
}

int pl_robot_spring_count(const pl_robot *robot)
{
    return robot->spring_count;
}

pl_spring_info pl_robot_spring(const pl_robot *robot, int i)
{
    if (i < 0 || i >= robot->spring_count) {
        return (pl_spring_info){.name = "", .from = -1, .to = -1};
    }

    const pl_spring *s = &robot->spring[i];
    return (pl_spring_info){.name = s->name,
                            .from = s->from,
                            .to = s->to,
                            .point = {s->point[0], s->point[1], s->point[2]},
                            .stiffness = s->stiffness,
                            .rest = s->rest,
                            .tension_only = s->tension_only};
}

pl_sensor_kind pl_robot_sensor_kind(const pl_robot *robot, int i)
{
    return i < 0 || i >= robot->sensor_count ? PL_SENSOR_LENGTH : robot->sensor[i].kind;
}

int pl_robot_fixed_count(const pl_robot *robot)
{
    return robot->support_count;
}

const char *pl_robot_fixed_name(const pl_robot *robot, int i)
{
    return i < 0 || i >= robot->support_count ? NULL : robot->support[i].name;
}

int32_t pl_robot_fixed_vertices(const pl_robot *robot, int i, const int32_t **vertex, bool axis[3])
{
    if (i < 0 || i >= robot->support_count) {
        *vertex = NULL;
        return 0;
    }

    memcpy(axis, robot->support[i].axis, sizeof robot->support[i].axis);
    *vertex = robot->support[i].node;
    return robot->support[i].node_count;
}

void pl_robot_gravity(const pl_robot *robot, double gravity[3])
{
    memcpy(gravity, robot->gravity, sizeof robot->gravity);
}

int pl_robot_force(const pl_robot *robot, int i, double force[3], double moment[3])
{
    const bool there = i >= 0 && i < robot->force_count;
    for (int k = 0; k < 3; ++k) {
        force[k] = there ? robot->force[i].force[k] : 0;
        moment[k] = there ? robot->force[i].moment[k] : 0;
    }

    return there ? robot->force[i].marker : -1;
}

int pl_robot_pressure_count(const pl_robot *robot)
{
    return robot->pressure_count;
}

int64_t pl_robot_pressure_faces(const pl_robot *robot, int i, const int64_t **face, double *pressure)
{
    const bool there = i >= 0 && i < robot->pressure_count;
    *face = there ? robot->pressure[i].face : NULL;
    *pressure = there ? robot->pressure[i].pressure : 0;
    return there ? robot->pressure[i].face_count : 0;
}

int pl_robot_force_count(const pl_robot *robot)
{
    return robot->force_count;
}

int pl_robot_material_count(const pl_robot *robot)
{
    return robot->material_count;
}

const char *pl_robot_material_name(const pl_robot *robot, int i)
{
    return i < 0 || i >= robot->material_count ? NULL : robot->material_name[i];
}

pl_material pl_robot_material(const pl_robot *robot, int i)
{
    return i < 0 || i >= robot->material_count ? (pl_material){0} : robot->material[i];
}
