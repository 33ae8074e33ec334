// Long series as XDMF: an index in XML, and the numbers of all shapes in one HDF5 file beside it. The mesh is
// stored once, a shape is its points and its fields; points in full precision, fields in single.
#include <stdio.h>
#include "result/result_series.h"
#include "meshfile/meshfile_vtu.h"

// The kind of all elements, or -1 when there are several.
static int xdmf_one_kind(const pl_mesh_view *v)
{
    for (int32_t e = 1; e < v->element_count; ++e) {
        if (v->kind[e] != v->kind[0]) {
            return -1;
        }
    }

    return v->kind[0];
}

// Symmetric tensors have all nine components here: XDMF has another order of six than VTK.
static int xdmf_components(pl_field field)
{
    const int count = pl_field_components(field);
    return count == 6 ? 9 : count;
}

static pl_status xdmf_put_cells(pl_series *s, const pl_mesh_view *v, pl_error *err)
{
    const int kind = xdmf_one_kind(v);
    if (kind >= 0) {
        return result_hdf5_put(&s->numbers, "cells", RESULT_HDF5_INT32, v->element_count,
                               pl_element_get(kind)->nodes, v->node, err);
    }

    // the number of its kind before every element
    const int64_t count = v->element_count + v->node_start[v->element_count];
    int32_t *list = PL_NEW_ARRAY(int32_t, count);
    if (!list) {
        return pl_fail_memory(err, s->path);
    }

    int64_t at = 0;
    for (int32_t e = 0; e < v->element_count; ++e) {
        list[at++] = pl_element_get(v->kind[e])->xdmf_number;
        for (int64_t i = v->node_start[e]; i < v->node_start[e + 1]; ++i) {
            list[at++] = v->node[i];
        }
    }

    const pl_status status = result_hdf5_put(&s->numbers, "cells", RESULT_HDF5_INT32, count, 0, list, err);
    pl_free(list);

    return status;
}

static pl_status xdmf_put_field(pl_series *s, const pl_mesh_view *v, pl_field field, const double *value,
                                pl_error *err)
{
    static const int8_t nine[9] = {0, 3, 5, 3, 1, 4, 5, 4, 2};
    const int64_t tuples = pl_field_on_elements(field) ? v->element_count : v->vertex_count;
    const int parts = xdmf_components(field), from = pl_field_components(field);
    float *out = PL_NEW_ARRAY(float, tuples *parts);

    if (!out) {
        return pl_fail_memory(err, s->path);
    }
    for (int64_t i = 0; i < tuples * parts; ++i) {
        const int k = (int)(i % parts);
        out[i] = (float)value[i / parts * from + (parts == 9 ? nine[k] : k)];
    }

    char name[56];
    snprintf(name, sizeof name, "%s_%06d", pl_field_label(field), s->count);
    const pl_status status =
        result_hdf5_put(&s->numbers, name, RESULT_HDF5_FLOAT32, tuples, parts > 1 ? parts : 0, out, err);
    pl_free(out);

    return status;
}

static pl_status xdmf_add(pl_series *s, pl_error *err)
{
    result_blocks b;
    pl_status status = result_blocks_take(&b, s->model, RESULT_BLOCKS_FIELDS, "xdmf", err);

    if (status == PL_OK) {
        const pl_mesh_view v = pl_mesh_get(b.body);
        if (s->count == 0) {
            status = xdmf_put_cells(s, &v, err);
            if (status == PL_OK) {
                status = result_hdf5_put(&s->numbers, "region", RESULT_HDF5_INT32, v.element_count, 0,
                                         v.region, err);
            }
        }

        char name[40];
        snprintf(name, sizeof name, "points_mm_%06d", s->count);
        if (status == PL_OK) {
            status =
                result_hdf5_put(&s->numbers, name, RESULT_HDF5_FLOAT64, v.vertex_count, 3, b.position, err);
        }

        for (int f = 0; status == PL_OK && f < PL_FIELD_COUNT; ++f) {
            if (b.field[f]) {
                s->field[f] = true;
                status = xdmf_put_field(s, &v, (pl_field)f, b.field[f], err);
            }
        }
    }

    result_blocks_clear(&b);
    return status;
}

static void xdmf_item(pl_text *t, const char *file, const char *name, int shape, int64_t rows, int columns,
                      const char *type)
{
    pl_text_add(t, "<DataItem Dimensions=\"%lld", (long long)rows);
    if (columns > 1) {
        pl_text_add(t, " %d", columns);
    }
    pl_text_add(t, "\" %s Format=\"HDF\">", type);
    pl_vtu_add_escaped(t, file);
    pl_text_add(t, ":/%s", name);
    if (shape >= 0) {
        pl_text_add(t, "_%06d", shape);
    }
    pl_text_add(t, "</DataItem>\n");
}

static void xdmf_shape(const pl_series *s, const pl_mesh_view *v, const char *file, int k, double time,
                       pl_text *t)
{
    static const char whole[] = "NumberType=\"Int\" Precision=\"4\"",
                      real[] = "NumberType=\"Float\" Precision=\"4\"",
                      full[] = "NumberType=\"Float\" Precision=\"8\"";
    const int kind = xdmf_one_kind(v);

    pl_text_add(t, "<Grid Name=\"body\" GridType=\"Uniform\">\n");
    if (s->count > 1) {
        pl_text_add(t, "<Time Value=\"%.17g\"/>\n", time);
    }
    pl_text_add(t, "<Topology TopologyType=\"%s\" NumberOfElements=\"%d\">\n",
                kind < 0 ? "Mixed" : pl_element_get(kind)->xdmf, (int)v->element_count);
    xdmf_item(t, file, "cells", -1,
              kind < 0 ? v->element_count + v->node_start[v->element_count] : v->element_count,
              kind < 0 ? 0 : pl_element_get(kind)->nodes, whole);
    pl_text_add(t, "</Topology>\n<Geometry GeometryType=\"XYZ\">\n");
    xdmf_item(t, file, "points_mm", k, v->vertex_count, 3, full);
    pl_text_add(t, "</Geometry>\n<Attribute Name=\"region\" AttributeType=\"Scalar\" Center=\"Cell\">\n");
    xdmf_item(t, file, "region", -1, v->element_count, 0, whole);
    pl_text_add(t, "</Attribute>\n");

    for (int f = 0; f < PL_FIELD_COUNT; ++f) {
        const pl_field field = (pl_field)f;
        const int parts = xdmf_components(field);
        const bool cells = pl_field_on_elements(field);
        if (!s->field[f]) {
            continue;
        }
        pl_text_add(t, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"%s\">\n", pl_field_label(field),
                    parts == 9   ? "Tensor"
                    : parts == 3 ? "Vector"
                                 : "Scalar",
                    cells ? "Cell" : "Node");
        xdmf_item(t, file, pl_field_label(field), k, cells ? v->element_count : v->vertex_count, parts, real);
        pl_text_add(t, "</Attribute>\n");
    }

    pl_text_add(t, "</Grid>\n");
}

// The numbers first, then the index that names them.
static pl_status xdmf_finish(pl_series *s, const double *time, pl_error *err)
{
    const pl_mesh *body = NULL;
    pl_status status = pl_model_body(s->model, &body, err);

    if (status == PL_OK) {
        status = result_hdf5_close(&s->numbers, err);
    }
    if (status != PL_OK) {
        return status;
    }

    const pl_mesh_view v = pl_mesh_get(body);
    pl_text t = {0}, file = {0};
    pl_text_add(&file, "%.*s.h5", (int)s->stem, s->path);

    // meshio reads a single shape that has no time and is not in a collection
    const bool several = s->count > 1;
    pl_text_add(&t, "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n%s",
                several ? "<Grid Name=\"shapes\" GridType=\"Collection\" CollectionType=\"Temporal\">\n"
                        : "");
    for (int k = 0; k < s->count && !file.failed; ++k) {
        xdmf_shape(s, &v, result_file_name(file.data), k, result_series_time(time, k), &t);
    }
    pl_text_add(&t, "%s</Domain>\n</Xdmf>\n", several ? "</Grid>\n" : "");
    status = t.failed || file.failed ? pl_fail_memory(err, s->path)
                                     : pl_file_write(s->path, t.data, t.length, err);
    pl_text_clear(&t);
    pl_text_clear(&file);

    return status;
}

pl_status result_xdmf_begin(pl_series *s, pl_error *err)
{
    pl_text file = {0};
    s->add = xdmf_add;
    s->finish = xdmf_finish;
    pl_text_add(&file, "%.*s.h5", (int)s->stem, s->path);
    const pl_status status =
        file.failed ? pl_fail_memory(err, s->path) : result_hdf5_open(&s->numbers, file.data, err);
    pl_text_clear(&file);

    return status;
}
