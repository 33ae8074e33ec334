// A model where it stands as a VTU file: all fields it knows, cables and paths as lines with their tension,
// the cavities with their pressure.
#include "io/io_build.h"

typedef struct result_model {
    pl_model *model;
    pl_model_info info;
    pl_model_answer answer;
    const pl_mesh *body;
    double *position;
    double *field[PL_FIELD_COUNT];
    pl_data_array array[PL_FIELD_COUNT];
    int array_count;
    pl_extra_cells *extra; // per actuator at most one
    double **point;
    int32_t **node;
    int extra_count;
} result_model;

static pl_status result_fields(result_model *r, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(r->body);
    for (int f = 0; f < PL_FIELD_COUNT; ++f) {
        const pl_field field = (pl_field)f;
        const bool on_elements = pl_field_on_elements(field);
        if (!(r->info.fields & (1u << f))) {
            continue;
        }
        const int64_t count = on_elements ? v.element_count : v.vertex_count;
        r->field[f] = PL_NEW_ARRAY(double, count *pl_field_components(field));
        if (!r->field[f]) {
            return pl_fail_memory(err, "fields");
        }
        const pl_status status = pl_model_field(r->model, field, r->field[f], err);
        if (status != PL_OK) {
            return status;
        }
        r->array[r->array_count++] =
            (pl_data_array){pl_field_name(field), r->field[f], pl_field_components(field), on_elements};
    }
    return PL_OK;
}

// The polyline of an actuator; nothing where it has none.
static bool result_line(result_model *r, int actuator)
{
    const int count = pl_model_line(r->model, actuator, NULL, 0);
    if (count == 0) {
        return true;
    }
    double *point = PL_NEW_ARRAY(double, 3 * (int64_t)count);
    r->point[r->extra_count] = point;
    if (!point) {
        return false;
    }
    pl_model_line(r->model, actuator, point, count);
    const bool cable = r->info.actuator[actuator].kind == PL_CABLE;
    const double effort = isfinite(r->answer.effort[actuator]) ? r->answer.effort[actuator] : 0;
    r->extra[r->extra_count++] = (pl_extra_cells){.point = point,
                                                  .point_count = count,
                                                  .tension = cable ? effort : 0,
                                                  .pressure_kpa = cable ? 0 : 1e3 * effort};
    return true;
}

// The faces of a cavity as triangles, each face with points of its own.
static bool result_cavity(result_model *r, int actuator, const int64_t *face, int64_t faces)
{
    double *point = PL_NEW_ARRAY(double, 3 * PL_FACE_NODES_MAX * faces);
    int32_t *node = PL_NEW_ARRAY(int32_t, 3 * PL_FACE_TRIANGLES_MAX * faces);
    r->point[r->extra_count] = point;
    r->node[r->extra_count] = node;
    if (!point || !node) {
        return false;
    }
    pl_extra_cells *out = &r->extra[r->extra_count++];
    const double effort = isfinite(r->answer.effort[actuator]) ? r->answer.effort[actuator] : 0;
    *out = (pl_extra_cells){.point = point, .node = node, .pressure_kpa = 1e3 * effort};
    for (int64_t f = 0; f < faces; ++f) {
        int32_t corner[PL_FACE_NODES_MAX];
        const int count = pl_mesh_face_nodes(r->body, face[f], corner);
        const int8_t(*triangle)[3];
        const int parts = pl_face_triangles(count, &triangle);
        for (int t = 0; t < 3 * parts; ++t) {
            node[3 * (int64_t)out->triangle_count + t] = out->point_count + triangle[t / 3][t % 3];
        }
        out->triangle_count += parts;
        for (int b = 0; b < count; ++b) {
            memcpy(point + 3 * (int64_t)out->point_count++, r->position + 3 * (int64_t)corner[b],
                   3 * sizeof(double));
        }
    }
    return true;
}

static pl_status result_actuators(result_model *r, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(r->model);
    const int count = r->info.actuator_count;
    r->extra = PL_NEW_ARRAY(pl_extra_cells, count);
    r->point = PL_NEW_ARRAY(double *, count);
    r->node = PL_NEW_ARRAY(int32_t *, count);
    bool good = r->extra && r->point && r->node;
    for (int a = 0; good && a < count; ++a) {
        const int64_t *face = NULL;
        const bool chamber = robot && r->info.actuator[a].kind == PL_CHAMBER;
        const int64_t faces = chamber ? pl_robot_actuator_faces(robot, a, &face) : 0;
        good = faces > 0 ? result_cavity(r, a, face, faces) : result_line(r, a);
    }
    return good ? PL_OK : pl_fail_memory(err, "actuators");
}

static void result_clear(result_model *r)
{
    for (int f = 0; f < PL_FIELD_COUNT; ++f) {
        pl_free(r->field[f]);
    }
    for (int i = 0; r->point && r->node && i < r->info.actuator_count; ++i) {
        pl_free(r->point[i]);
        pl_free(r->node[i]);
    }
    pl_free(r->extra);
    pl_free(r->point);
    pl_free(r->node);
    pl_free(r->position);
}

pl_status pl_model_write_vtu(pl_model *model, const char *path, pl_error *err)
{
    result_model r = {.model = model, .info = pl_model_get_info(model), .answer = pl_model_get_answer(model)};
    pl_status status = pl_model_body(model, &r.body, err);
    if (status == PL_OK && !r.body) {
        return pl_fail(err, PL_BAD_INPUT, "vtu: the model has no body");
    }
    if (status == PL_OK) {
        r.position = PL_NEW_ARRAY(double, 3 * (int64_t)pl_mesh_get(r.body).vertex_count);
        status = r.position ? result_fields(&r, err) : pl_fail_memory(err, "positions");
    }
    if (status == PL_OK) {
        pl_model_shape(model, r.position);
        status = result_actuators(&r, err);
    }
    if (status == PL_OK) {
        status =
            pl_shape_write_vtu(r.body, r.position, r.array, r.array_count, r.extra, r.extra_count, path, err);
    }
    result_clear(&r);
    return status;
}
