// Results for ParaView: a shape with its fields, cables and cavities in one VTU file; series of them as PVD.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "io/io_build.h"
#include "io/io_vtu.h"

#define RESULT_ARRAYS_MAX 64

// Everything that goes into the file, the body first, then the extra cells.
typedef struct result_grid {
    int64_t point_count, cell_count, node_count;
    double *point;
    int64_t *connectivity, *offset;
    uint8_t *type;
    int32_t *region;
    double *tension, *pressure;
    double *field[RESULT_ARRAYS_MAX]; // arrays with NAN where they do not apply
} result_grid;

static void result_clear(result_grid *g)
{
    pl_free(g->point);
    pl_free(g->connectivity);
    pl_free(g->offset);
    pl_free(g->type);
    pl_free(g->region);
    pl_free(g->tension);
    pl_free(g->pressure);
    for (int i = 0; i < RESULT_ARRAYS_MAX; ++i) {
        pl_free(g->field[i]);
    }
}

static bool result_sizes(const pl_mesh_view *v, const pl_extra_cells *extra, int extra_count, result_grid *g)
{
    g->point_count = v->vertex_count;
    g->cell_count = v->element_count;
    g->node_count = v->node_start[v->element_count];
    for (int i = 0; i < extra_count; ++i) {
        g->point_count += extra[i].point_count;
        g->cell_count += extra[i].node ? extra[i].triangle_count : 1;
        g->node_count += extra[i].node ? 3 * (int64_t)extra[i].triangle_count : extra[i].point_count;
    }
    g->point = PL_NEW_ARRAY(double, 3 * g->point_count);
    g->connectivity = PL_NEW_ARRAY(int64_t, g->node_count);
    g->offset = PL_NEW_ARRAY(int64_t, g->cell_count);
    g->type = PL_NEW_ARRAY(uint8_t, g->cell_count);
    g->region = PL_NEW_ARRAY(int32_t, g->cell_count);
    g->tension = PL_NEW_ARRAY(double, g->cell_count);
    g->pressure = PL_NEW_ARRAY(double, g->cell_count);
    return g->point && g->connectivity && g->offset && g->type && g->region && g->tension && g->pressure;
}

static void result_fill_body(const pl_mesh_view *v, const double *x, result_grid *g)
{
    memcpy(g->point, x, 3 * (size_t)v->vertex_count * sizeof(double));
    for (int64_t i = 0; i < v->node_start[v->element_count]; ++i) {
        g->connectivity[i] = v->node[i];
    }
    for (int32_t e = 0; e < v->element_count; ++e) {
        g->offset[e] = v->node_start[e + 1];
        g->type[e] = pl_vtu_cell_type((pl_element_kind)v->kind[e]);
        g->region[e] = v->region[e];
        g->tension[e] = g->pressure[e] = NAN;
    }
}

static void result_fill_extra(const pl_mesh_view *v, const pl_extra_cells *extra, int extra_count,
                              result_grid *g)
{
    int64_t point = v->vertex_count, cell = v->element_count, at = v->node_start[v->element_count];
    for (int i = 0; i < extra_count; ++i) {
        const pl_extra_cells *x = extra + i;
        const int64_t cells = x->node ? x->triangle_count : 1, nodes = x->node ? 3 : x->point_count;
        memcpy(g->point + 3 * point, x->point, 3 * (size_t)x->point_count * sizeof(double));
        for (int64_t c = 0; c < cells; ++c, ++cell) {
            for (int64_t a = 0; a < nodes; ++a) {
                g->connectivity[at++] = point + (x->node ? x->node[3 * c + a] : a);
            }
            g->offset[cell] = at;
            g->type[cell] = x->node ? 5 : 4; // triangle, polyline
            g->region[cell] = -1;
            g->tension[cell] = x->node ? NAN : x->tension;
            g->pressure[cell] = x->node ? x->pressure_kpa : NAN;
        }
        point += x->point_count;
    }
}

// An array over all points or cells: the body's numbers, then NAN.
static double *result_stretch(const pl_data_array *array, int64_t body, int64_t all)
{
    double *out = PL_NEW_ARRAY(double, all * array->components);
    if (out) {
        memcpy(out, array->value, (size_t)(body * array->components) * sizeof(double));
        for (int64_t i = body * array->components; i < all * array->components; ++i) {
            out[i] = NAN;
        }
    }
    return out;
}

static pl_status result_check(const pl_data_array *array, int array_count, const pl_extra_cells *extra,
                              int extra_count, const char *path, pl_error *err)
{
    if (array_count < 0 || array_count > RESULT_ARRAYS_MAX) {
        return pl_fail(err, PL_BAD_INPUT, "%s: %d arrays, the limit is %d", path, array_count,
                       RESULT_ARRAYS_MAX);
    }
    for (int i = 0; i < array_count; ++i) {
        if (!array[i].name || !array[i].value || array[i].components < 1 || array[i].components > 9) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s: array %d needs a name, values and 1 to 9 components, has %d", path, i,
                           array[i].components);
        }
    }
    for (int i = 0; i < extra_count; ++i) {
        if (extra[i].point_count < (extra[i].node ? 0 : 2) || extra[i].triangle_count < 0 ||
            !extra[i].point) {
            return pl_fail(err, PL_BAD_INPUT, "%s: extra cells %d need points: two for a line", path, i);
        }
        for (int64_t a = 0; extra[i].node && a < 3 * (int64_t)extra[i].triangle_count; ++a) {
            if (extra[i].node[a] < 0 || extra[i].node[a] >= extra[i].point_count) {
                return pl_fail(err, PL_BAD_INPUT, "%s: extra cells %d refer to point %d of %d", path, i,
                               (int)extra[i].node[a], (int)extra[i].point_count);
            }
        }
    }
    return PL_OK;
}

static pl_status result_write(const pl_mesh_view *v, const pl_data_array *array, int array_count,
                              bool has_extra, result_grid *g, const char *path, pl_error *err)
{
    pl_vtu_field on_points[RESULT_ARRAYS_MAX], on_cells[RESULT_ARRAYS_MAX + 3];
    int points = 0, cells = 0;
    on_cells[cells++] = (pl_vtu_field){"region", PL_VTU_INT32, 1, g->region};
    if (has_extra) {
        on_cells[cells++] = (pl_vtu_field){"tension", PL_VTU_FLOAT64, 1, g->tension};
        on_cells[cells++] = (pl_vtu_field){"pressure_kpa", PL_VTU_FLOAT64, 1, g->pressure};
    }
    for (int i = 0; i < array_count; ++i) {
        const pl_data_array *a = array + i;
        g->field[i] = a->on_elements ? result_stretch(a, v->element_count, g->cell_count)
                                     : result_stretch(a, v->vertex_count, g->point_count);
        if (!g->field[i]) {
            return pl_fail_memory(err, path);
        }
        const pl_vtu_field field = {a->name, PL_VTU_FLOAT64, a->components, g->field[i]};
        if (a->on_elements) {
            on_cells[cells++] = field;
        } else {
            on_points[points++] = field;
        }
    }
    const pl_vtu_names names = {"region_names", v->region_name, v->region_count};
    const pl_vtu_grid grid = {
        .point_count = g->point_count,
        .cell_count = g->cell_count,
        .point = g->point,
        .connectivity = g->connectivity,
        .offset = g->offset,
        .type = g->type,
        .point_data = on_points,
        .point_data_count = points,
        .cell_data = on_cells,
        .cell_data_count = cells,
        .names = &names,
        .names_count = 1,
    };
    return pl_vtu_write(&grid, PL_VTU_RAW, path, err);
}

pl_status pl_shape_write_vtu(const pl_mesh *mesh, const double *position, const pl_data_array *array,
                             int array_count, const pl_extra_cells *extra, int extra_count, const char *path,
                             pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_status status = result_check(array, array_count, extra, extra_count, path, err);
    if (status != PL_OK) {
        return status;
    }
    result_grid g = {0};
    if (!result_sizes(&v, extra, extra_count, &g)) {
        status = pl_fail_memory(err, path);
    } else {
        result_fill_body(&v, position ? position : v.position, &g);
        result_fill_extra(&v, extra, extra_count, &g);
        status = result_write(&v, array, array_count, extra_count > 0, &g, path, err);
    }
    result_clear(&g);
    return status;
}

// ---- series

#define SERIES_TAIL "</Collection>\n</VTKFile>\n"

static void series_entry(pl_text *text, const char *file, double time)
{
    pl_text_add(text, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"", time);
    pl_vtu_add_escaped(text, file);
    pl_text_add(text, "\"/>\n");
}

pl_status pl_series_write_pvd(const char *path, const char *const *file, const double *time, int count,
                              pl_error *err)
{
    pl_text text = {0};
    pl_text_add(&text,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n");
    for (int i = 0; i < count; ++i) {
        series_entry(&text, file[i], time[i]);
    }
    pl_text_add(&text, SERIES_TAIL);
    const pl_status status =
        text.failed ? pl_fail_memory(err, path) : pl_file_write(path, text.data, text.length, err);
    pl_text_clear(&text);
    return status;
}

// The tail is overwritten by the entry and a new tail in one call, so the file is whole at any time.
pl_status pl_series_add_pvd(const char *path, const char *file, double time, pl_error *err)
{
    static const char tail[] = SERIES_TAIL;
    char found[sizeof tail] = "";
    pl_text text = {0};
    series_entry(&text, file, time);
    pl_text_add(&text, SERIES_TAIL);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const off_t at = fd < 0 ? -1 : lseek(fd, 0, SEEK_END) - (off_t)(sizeof tail - 1);
    pl_status status = PL_OK;
    if (text.failed) {
        status = pl_fail_memory(err, path);
    } else if (fd < 0) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
    } else if (at < 0 || pread(fd, found, sizeof tail - 1, at) != (ssize_t)(sizeof tail - 1) ||
               strcmp(found, tail) != 0) {
        status = pl_fail(err, PL_BAD_FILE, "%s: is not the series that was begun", path);
    } else if (pwrite(fd, text.data, text.length, at) != (ssize_t)text.length) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
        if (ftruncate(fd, at) == 0) {
            (void)!pwrite(fd, tail, sizeof tail - 1, at); // as it was
        }
    }
    if (fd >= 0 && close(fd) != 0 && status == PL_OK) {
        status = pl_fail(err, PL_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
    }
    pl_text_clear(&text);
    return status;
}
