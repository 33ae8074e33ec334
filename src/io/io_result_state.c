// A state as a VTU file: all fields, the cables as lines with their tension, the cavities with their
// pressure.
#include "io/io_build.h"
#include "robot/robot.h"

// Guide points of a cable in the current shape.
static bool result_cable(pl_statics *statics, const pl_state *state, int actuator, pl_extra_cells *out,
                         double **point)
{
    const int count = pl_statics_cable_points(statics, state, actuator, NULL, 0);
    *point = PL_NEW_ARRAY(double, 3 * (int64_t)count);
    if (!*point) {
        return false;
    }
    pl_statics_cable_points(statics, state, actuator, *point, count);
    *out = (pl_extra_cells){.point = *point, .point_count = count};
    out->tension = pl_statics_actuator(statics, state, actuator).effort;
    return true;
}

// The faces of a cavity as triangles, each face with points of its own.
static bool result_cavity(pl_statics *statics, const pl_robot *robot, const pl_state *state, int actuator,
                          pl_extra_cells *out, double **point, int32_t **node)
{
    const pl_actuator *a = robot->actuator + actuator;
    const double *x = pl_state_positions(state);
    *point = PL_NEW_ARRAY(double, 3 * PL_FACE_NODES_MAX * a->face_count);
    *node = PL_NEW_ARRAY(int32_t, 3 * 6 * a->face_count);
    if (!*point || !*node) {
        return false;
    }
    *out = (pl_extra_cells){.point = *point, .node = *node};
    for (int64_t f = 0; f < a->face_count; ++f) {
        int32_t corner[PL_FACE_NODES_MAX];
        const int count = pl_mesh_face_nodes(robot->mesh, a->face[f], corner);
        const int8_t(*triangle)[3];
        const int parts = pl_face_triangles(count, &triangle);
        for (int t = 0; t < 3 * parts; ++t) {
            (*node)[3 * (int64_t)out->triangle_count + t] = out->point_count + triangle[t / 3][t % 3];
        }
        out->triangle_count += parts;
        for (int b = 0; b < count; ++b) {
            memcpy(*point + 3 * (int64_t)out->point_count++, x + 3 * (int64_t)corner[b], 3 * sizeof(double));
        }
    }
    out->pressure_kpa = 1e3 * pl_statics_actuator(statics, state, actuator).effort;
    return true;
}

typedef struct result_state {
    double *field[PL_FIELD_COUNT];
    pl_data_array array[PL_FIELD_COUNT];
    pl_extra_cells *extra;
    double **point;
    int32_t **node;
    int extra_count;
} result_state;

static pl_status result_fields(pl_statics *statics, const pl_robot *robot, const pl_state *state,
                               result_state *r, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(robot));
    for (int f = 0; f < PL_FIELD_COUNT; ++f) {
        const pl_field field = (pl_field)f;
        const bool on_elements = pl_field_on_elements(field);
        const int64_t count = on_elements ? v.element_count : v.vertex_count;
        r->field[f] = PL_NEW_ARRAY(double, count *pl_field_components(field));
        if (!r->field[f]) {
            return pl_fail_memory(err, "fields");
        }
        const pl_status status = pl_statics_field(statics, state, field, r->field[f], err);
        if (status != PL_OK) {
            return status;
        }
        r->array[f] =
            (pl_data_array){pl_field_name(field), r->field[f], pl_field_components(field), on_elements};
    }
    return PL_OK;
}

static pl_status result_actuators(pl_statics *statics, const pl_robot *robot, const pl_state *state,
                                  result_state *r, pl_error *err)
{
    const int count = robot->actuator_count;
    r->extra = PL_NEW_ARRAY(pl_extra_cells, count);
    r->point = PL_NEW_ARRAY(double *, count);
    r->node = PL_NEW_ARRAY(int32_t *, count);
    bool good = r->extra && r->point && r->node;
    for (int a = 0; good && a < count; ++a) {
        const int n = r->extra_count;
        if (robot->actuator[a].kind == PL_CABLE) {
            good = result_cable(statics, state, a, r->extra + n, r->point + n);
            r->extra_count++;
        } else if (robot->actuator[a].kind == PL_CHAMBER) {
            good = result_cavity(statics, robot, state, a, r->extra + n, r->point + n, r->node + n);
            r->extra_count++;
        }
    }
    return good ? PL_OK : pl_fail_memory(err, "actuators");
}

pl_status pl_state_write_vtu(pl_statics *statics, const pl_robot *robot, const pl_state *state,
                             const char *path, pl_error *err)
{
    result_state r = {0};
    pl_status status = result_fields(statics, robot, state, &r, err);
    if (status == PL_OK) {
        status = result_actuators(statics, robot, state, &r, err);
    }
    if (status == PL_OK) {
        status = pl_shape_write_vtu(pl_robot_mesh(robot), pl_state_positions(state), r.array, PL_FIELD_COUNT,
                                    r.extra, r.extra_count, path, err);
    }
    for (int f = 0; f < PL_FIELD_COUNT; ++f) {
        pl_free(r.field[f]);
    }
    for (int i = 0; r.point && r.node && i < robot->actuator_count; ++i) {
        pl_free(r.point[i]);
        pl_free(r.node[i]);
    }
    pl_free(r.extra);
    pl_free(r.point);
    pl_free(r.node);
    return status;
}
