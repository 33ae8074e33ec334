// Taking a model apart into blocks, and each block as a VTU file.
#include "result/result_blocks.h"
#include <ctype.h>
#include "meshfile/meshfile_vtu.h"
#include "robot/robot_kind.h"

pl_status result_field_take(pl_model *model, const pl_mesh *body, pl_field field, double **out, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(body);
    const int64_t tuples = pl_field_on_elements(field) ? v.element_count : v.vertex_count;
    const int64_t count = tuples * pl_field_components(field);

    *out = PL_NEW_ARRAY(double, count);
    if (!*out) {
        return pl_fail_memory(err, pl_field_name(field));
    }

    const pl_status status = pl_model_field(model, field, *out, err);
    const double scale = pl_field_scale(field);
    for (int64_t i = 0; status == PL_OK && i < count; ++i) {
        (*out)[i] *= scale;
    }

    return status;
}

// ---- parts beside the body
static result_block *blocks_add(result_blocks *b, const char *group, const char *name)
{
    if (b->count == b->capacity) {
        const int capacity = 2 * b->capacity + 8;
        result_block *block = pl_resize_array(b->block, (size_t)capacity, sizeof *block);
        if (!block) {
            return NULL;
        }
        b->block = block;
        b->capacity = capacity;
    }

    b->block[b->count] = (result_block){.group = group, .name = name};
    return &b->block[b->count++];
}

// Faces of the body as cells of their own, on the vertices they use.
static bool blocks_add_faces(result_blocks *b, const char *group, const char *name, const int64_t *face,
                             int64_t faces, const char *value_name, double value)
{
    const int32_t vertices = pl_mesh_get(b->body).vertex_count;
    result_block *k = blocks_add(b, group, name);
    int32_t *number = PL_NEW_ARRAY(int32_t, vertices);

    if (!k || !number) {
        pl_free(number);
        return false;
    }

    k->value_name = value_name;
    k->value = value;
    k->connectivity = PL_NEW_ARRAY(int64_t, PL_FACE_NODES_MAX * faces);
    k->offset = PL_NEW_ARRAY(int64_t, faces);
    k->type = PL_NEW_ARRAY(uint8_t, faces);
    k->vertex = PL_NEW_ARRAY(int32_t, PL_FACE_NODES_MAX * faces);
    bool good = k->connectivity && k->offset && k->type && k->vertex;
    int64_t at = 0;

    for (int64_t f = 0; good && f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int count = pl_mesh_face_nodes(b->body, face[f], node);

        for (int a = 0; a < count; ++a) {
            if (number[node[a]] == 0) {
                k->vertex[k->point_count] = node[a];
                number[node[a]] = ++k->point_count;
            }

            k->connectivity[at++] = number[node[a]] - 1;
        }

        k->offset[f] = at;
        k->type[f] = count == 3 ? 5 : count == 6 ? 22 : count == 4 ? 9 : 23;
        k->cell_count = f + 1;
    }

    k->point = good ? PL_NEW_ARRAY(double, 3 * (int64_t)k->point_count) : NULL;
    for (int32_t i = 0; k->point && i < k->point_count; ++i) {
        memcpy(k->point + 3 * (int64_t)i, b->position + 3 * (int64_t)k->vertex[i], 3 * sizeof(double));
    }
    pl_free(number);

    return k->point != NULL;
}

// A polyline; the points are filled in by the caller.
static result_block *blocks_add_line(result_blocks *b, const char *group, const char *name, int count)
{
    result_block *k = blocks_add(b, group, name);
    if (!k) {
        return NULL;
    }
    k->point_count = count;
    k->cell_count = count - 1;
    k->point = PL_NEW_ARRAY(double, 3 * (int64_t)count);
    k->connectivity = PL_NEW_ARRAY(int64_t, 2 * (int64_t)count);
    k->offset = PL_NEW_ARRAY(int64_t, count);
    k->type = PL_NEW_ARRAY(uint8_t, count);
    if (!k->point || !k->connectivity || !k->offset || !k->type) {
        return NULL;
    }

    // lines of two points: meshio does not know polylines
    for (int i = 0; i + 1 < count; ++i) {
        k->connectivity[2 * i] = i;
        k->connectivity[2 * i + 1] = i + 1;
        k->offset[i] = 2 * (i + 1);
        k->type[i] = 3;
    }

    return k;
}

static bool blocks_actuator(result_blocks *b, int i)
{
    const pl_robot *robot = pl_model_robot(b->model);
    const pl_actuator_info *a = &b->info.actuator[i];
    const pl_actuator_traits *traits = pl_actuator_traits_get(a->kind);
    const char *group = traits->group, *value_name = traits->group_value;
    const double value =
        pl_model_get_answer(b->model).effort[i] / pl_actuator_kind_get(a->kind)->effort_scale;
    const int64_t *face = NULL;
    const int64_t faces = robot ? pl_robot_actuator_faces(robot, i, &face) : 0;

    if (faces > 0) {
        return blocks_add_faces(b, group, a->name, face, faces, value_name, value);
    }

    const int points = pl_model_line(b->model, i, NULL, 0);
    if (points < 2) {
        return true;
    }

    result_block *k = blocks_add_line(b, group, a->name, points);
    if (k) {
        pl_model_line(b->model, i, k->point, points);
        k->value_name = value_name;
        k->value = value;
    }

    return k != NULL;
}

static bool blocks_bonded(result_blocks *b)
{
    const pl_robot *robot = pl_model_robot(b->model);
    bool good = true;

    for (int i = 0; robot && good && i < pl_robot_layer_count(robot); ++i) {
        const pl_layer_info layer = pl_robot_layer(robot, i);
        good = blocks_add_faces(b, "layers", layer.name, layer.face, layer.face_count, "thickness_mm",
                                layer.thickness);
    }

    for (int i = 0; robot && good && i < pl_robot_fibre_count(robot); ++i) {
        const pl_fibre_info fibre = pl_robot_fibre(robot, i);
        for (int piece = 0; good && piece < fibre.piece_count; ++piece) {
            const int points = pl_robot_fibre_line(robot, i, piece, b->position, NULL, 0);
            result_block *k = points < 2 ? NULL : blocks_add_line(b, "fibres", fibre.name, points);
            good = points < 2 || k;
            if (k) {
                pl_robot_fibre_line(robot, i, piece, b->position, k->point, points);
                k->piece = piece;
            }
        }
    }

    return good;
}

pl_status result_blocks_take(result_blocks *b, pl_model *model, unsigned wanted, const char *what,
                             pl_error *err)
{
    *b = (result_blocks){.model = model, .info = pl_model_get_info(model)};
    pl_status status = pl_model_body(model, &b->body, err);
    if (status == PL_OK && !b->body) {
        return pl_fail(err, PL_BAD_INPUT, "%s: the model has no body to draw", what);
    }
    if (status != PL_OK) {
        return status;
    }
    b->position = PL_NEW_ARRAY(double, 3 * (int64_t)pl_mesh_get(b->body).vertex_count);
    if (!b->position) {
        return pl_fail_memory(err, what);
    }
    pl_model_shape(model, b->position);

    for (int f = 0; status == PL_OK && wanted & RESULT_BLOCKS_FIELDS && f < PL_FIELD_COUNT; ++f) {
        if (b->info.fields & (1u << f)) {
            status = result_field_take(model, b->body, (pl_field)f, &b->field[f], err);
        }
    }

    // one kind after the other, so that groups stand together
    const int actuators = wanted & RESULT_BLOCKS_PARTS ? b->info.actuator_count : 0;
    bool good = true;
    for (int k = 0; k < PL_ACTUATOR_KIND_COUNT; ++k) {
        for (int i = 0; good && i < actuators; ++i) {
            good = (int)b->info.actuator[i].kind != k || blocks_actuator(b, i);
        }
    }

    good = good && (!(wanted & RESULT_BLOCKS_PARTS) || blocks_bonded(b));

    return status != PL_OK ? status : good ? PL_OK : pl_fail_memory(err, what);
}

void result_blocks_clear(result_blocks *b)
{
    for (int i = 0; i < b->count; ++i) {
        pl_free(b->block[i].point);
        pl_free(b->block[i].vertex);
        pl_free(b->block[i].connectivity);
        pl_free(b->block[i].offset);
        pl_free(b->block[i].type);
    }

    for (int f = 0; f < PL_FIELD_COUNT; ++f) {
        pl_free(b->field[f]);
    }
    pl_free(b->block);
    pl_free(b->position);
    *b = (result_blocks){0};
}

// ---- as files
pl_status result_blocks_write_body(const result_blocks *b, const char *path, pl_error *err)
{
    pl_data_array array[PL_FIELD_COUNT];
    int count = 0;

    for (int f = 0; f < PL_FIELD_COUNT; ++f) {
        const pl_field field = (pl_field)f;
        if (b->field[f]) {
            array[count++] = (pl_data_array){pl_field_label(field), b->field[f], pl_field_components(field),
                                             pl_field_on_elements(field)};
        }
    }

    return pl_shape_write_vtu(b->body, b->position, array, count, path, err);
}

pl_status result_blocks_write_block(const result_blocks *b, const result_block *k, const char *path,
                                    pl_error *err)
{
    double *data[PL_FIELD_COUNT] = {NULL}, *value = PL_NEW_ARRAY(double, k->cell_count);
    pl_vtu_field on_points[PL_FIELD_COUNT];
    int points = 0;
    bool good = value != NULL;

    // the fields of the vertices the block uses
    for (int f = 0; good && k->vertex && f < PL_FIELD_COUNT; ++f) {
        const pl_field field = (pl_field)f;
        const int parts = pl_field_components(field);
        if (!b->field[f] || pl_field_on_elements(field)) {
            continue;
        }
        data[f] = PL_NEW_ARRAY(double, (int64_t)k->point_count *parts);
        good = data[f] != NULL;
        for (int64_t i = 0; good && i < (int64_t)k->point_count * parts; ++i) {
            data[f][i] = b->field[f][(int64_t)k->vertex[i / parts] * parts + i % parts];
        }
        on_points[points++] = (pl_vtu_field){pl_field_label(field), PL_VTU_FLOAT64, parts, data[f]};
    }

    for (int64_t c = 0; good && c < k->cell_count; ++c) {
        value[c] = k->value;
    }

    const pl_vtu_field on_cells = {k->value_name ? k->value_name : "", PL_VTU_FLOAT64, 1, value};
    const pl_vtu_grid grid = {
        .point_count = k->point_count,
        .cell_count = k->cell_count,
        .point = k->point,
        .connectivity = k->connectivity,
        .offset = k->offset,
        .type = k->type,
        .point_data = on_points,
        .point_data_count = points,
        .cell_data = &on_cells,
        .cell_data_count = k->value_name ? 1 : 0,
    };
    const pl_status status = good ? pl_vtu_write(&grid, PL_VTU_RAW, path, err) : pl_fail_memory(err, path);
    for (int f = 0; f < PL_FIELD_COUNT; ++f) {
        pl_free(data[f]);
    }
    pl_free(value);

    return status;
}

char *result_block_path(const char *stem, size_t stem_length, const result_blocks *b, int block)
{
    static const struct {
        const char *group, *one;
    } word[] = {{"cavities", "cavity"},
                {"cables", "cable"},
                {"films", "film"},
                {"layers", "layer"},
                {"fibres", "fibre"}};
    const result_block *k = &b->block[block];
    const char *one = k->group;
    for (int i = 0; i < PL_COUNT(word); ++i) {
        one = strcmp(word[i].group, k->group) == 0 ? word[i].one : one;
    }

    pl_text t = {0};
    pl_text_add(&t, "%.*s_%s_", (int)stem_length, stem, one);
    bool changed = false;

    for (const char *c = k->name; *c; ++c) {
        const bool plain = isalnum((unsigned char)*c) || strchr("-_.", *c);
        pl_text_add_bytes(&t, plain ? c : "_", 1);
        changed = changed || !plain;
    }

    // two names may have become one
    if (changed) {
        pl_text_add(&t, "_%d", block);
    }
    if (k->piece > 0) {
        pl_text_add(&t, "_%d", k->piece);
    }
    pl_text_add(&t, ".vtu");
    if (t.failed) {
        pl_text_clear(&t);
        return NULL;
    }

    return t.data;
}

const char *result_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

pl_status pl_model_write_vtu(pl_model *model, const char *path, pl_error *err)
{
    result_blocks b;
    pl_status status = result_blocks_take(&b, model, RESULT_BLOCKS_FIELDS, "vtu", err);

    if (status == PL_OK) {
        status = result_blocks_write_body(&b, path, err);
    }
    result_blocks_clear(&b);
    return status;
}

// The index names the files of the blocks, which are written first.
pl_status pl_model_write_vtm(pl_model *model, const char *path, pl_error *err)
{
    const char *name = result_file_name(path), *dot = strrchr(name, '.');
    const size_t stem = dot ? (size_t)(dot - path) : strlen(path);
    result_blocks b;
    pl_text t = {0}, body = {0};
    pl_text_add(&body, "%.*s_body.vtu", (int)stem, path);
    pl_status status = result_blocks_take(&b, model, RESULT_BLOCKS_FIELDS | RESULT_BLOCKS_PARTS, "vtm", err);
    if (status == PL_OK) {
        status = body.failed ? pl_fail_memory(err, path) : result_blocks_write_body(&b, body.data, err);
    }
    if (status == PL_OK) {
        pl_text_add(&t, "<?xml version=\"1.0\"?>\n<VTKFile type=\"vtkMultiBlockDataSet\" version=\"1.0\">\n"
                        "<vtkMultiBlockDataSet>\n<DataSet index=\"0\" name=\"body\" file=\"");
        pl_vtu_add_escaped(&t, result_file_name(body.data));
        pl_text_add(&t, "\"/>\n");
    }

    // blocks of a group stand behind each other
    for (int i = 0, groups = 0, inside = 0; status == PL_OK && i < b.count; ++i) {
        if (i == 0 || strcmp(b.block[i].group, b.block[i - 1].group) != 0) {
            pl_text_add(&t, "%s<Block index=\"%d\" name=\"%s\">\n", i ? "</Block>\n" : "", ++groups,
                        b.block[i].group);
            inside = 0;
        }

        char *file = result_block_path(path, stem, &b, i);
        status = file ? result_blocks_write_block(&b, &b.block[i], file, err) : pl_fail_memory(err, path);
        if (status == PL_OK) {
            pl_text_add(&t, "<DataSet index=\"%d\" name=\"", inside++);
            pl_vtu_add_escaped(&t, b.block[i].name);
            pl_text_add(&t, "\" file=\"");
            pl_vtu_add_escaped(&t, result_file_name(file));
            pl_text_add(&t, "\"/>\n%s", i == b.count - 1 ? "</Block>\n" : "");
        }

        pl_free(file);
    }

    pl_text_add(&t, "</vtkMultiBlockDataSet>\n</VTKFile>\n");
    if (status == PL_OK) {
        status = t.failed ? pl_fail_memory(err, path) : pl_file_write(path, t.data, t.length, err);
    }
    pl_text_clear(&t);
    pl_text_clear(&body);
    result_blocks_clear(&b);
    return status;
}
