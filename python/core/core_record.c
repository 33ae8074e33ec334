// The record of a result, and the files and pictures written of it.
#include <stdio.h>
#include "core.h"

PyObject *core_model_record(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    const pl_record *record = NULL;
    pl_error err = {0};
    pl_status status;
    if (!core_enter(m, NULL)) {
        return NULL;
    }

    char *json = NULL, *head = NULL, *row = NULL, crossing[400] = "";
    CORE_RUN(m, status = pl_model_record(m->model, NULL, &record, &err));
    if (status == PL_OK) {
        json = pl_record_json(record, NULL);
        head = pl_record_csv_head(record);
        row = pl_record_csv_row(record);
        pl_record_crossing_text(record, crossing, sizeof crossing);
    }

    core_leave(m);
    PyObject *out = status != PL_OK       ? core_raise(status, &err, NULL)
                    : json && head && row ? Py_BuildValue("(ssss)", json, head, row, crossing)
                                          : PyErr_NoMemory();
    pl_file_free(json);
    pl_file_free(head);
    pl_file_free(row);

    return out;
}

// A series of one shape.
static pl_status core_write_series(pl_model *model, const char *path, pl_field color, pl_error *err)
{
    pl_series *series;
    pl_status status = pl_series_create(model, path, color, &series, err);

    if (status == PL_OK) {
        status = pl_series_add(series, err);
    }
    if (status == PL_OK) {
        status = pl_series_finish(series, NULL, err);
    }
    pl_series_destroy(series);

    return status;
}

static pl_field core_color(int color)
{
    return color >= 0 && color < PL_FIELD_COUNT ? (pl_field)color : PL_FIELD_COUNT;
}

// write_chain(path, marker, links): the error of the chain, as a dictionary.
PyObject *core_model_write_chain(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    const char *path;
    pl_chain_options options = pl_chain_options_default();

    if (!PyArg_ParseTuple(args, "sii:write_chain", &path, &options.marker, &options.link_count) ||
        !core_enter(m, NULL)) {
        return NULL;
    }

    pl_chain_report r;
    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_model_write_chain(m->model, &options, path, &r, &err));
    core_leave(m);

    return status != PL_OK
               ? core_raise(status, &err, NULL)
               : Py_BuildValue("{s:i,s:d,s:d,s:d,s:d,s:d,s:O}", "links", r.link_count, "position_error",
                               r.position_error, "rotation_error", r.rotation_error, "motion", r.motion,
                               "compliance_error", r.compliance_error, "half_error", r.half_error,
                               "density_assumed", r.density_assumed ? Py_True : Py_False);
}

// write_series(path, states, color): the shapes of a list of states, as a series or film.
PyObject *core_model_write_series(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    const char *path;
    PyObject *states;
    int color;

    if (!PyArg_ParseTuple(args, "sO!i:write_series", &path, &PyList_Type, &states, &color) ||
        !core_enter(m, NULL)) {
        return NULL;
    }

    pl_series *series = NULL;
    pl_error err = {0};
    pl_status status = pl_series_create(m->model, path, core_color(color), &series, &err);
    bool wrong = false;

    for (Py_ssize_t i = 0; status == PL_OK && !wrong && i < PyList_Size(states); ++i) {
        core_numbers block;
        wrong = !core_numbers_get(PyList_GetItem(states, i), 'd', -1, "state", &block);
        if (!wrong) {
            CORE_RUN(m, status = pl_model_unpack(m->model, block.data, (size_t)block.count, &err));
            core_numbers_release(&block);
        }

        if (!wrong && status == PL_OK) {
            CORE_RUN(m, status = pl_series_add(series, &err));
        }
    }

    if (status == PL_OK && !wrong) {
        CORE_RUN(m, status = pl_series_finish(series, NULL, &err));
    }
    pl_series_destroy(series);
    core_leave(m);

    return wrong ? NULL : status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
}

// write(path, kind, surface, color): kind is vtu, vtm, xdmf, usda, obj, ply, glb, stl, inp, py or state;
// `color` is the number of a field for surfaces, past the last: by region.
PyObject *core_model_write(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    const char *path, *kind, *surface;
    int color;

    if (!PyArg_ParseTuple(args, "sszi:write", &path, &kind, &surface, &color) || !core_enter(m, NULL)) {
        return NULL;
    }

    pl_error err = {0};
    pl_status status = PL_OK;
    const pl_mesh *mesh = NULL;
    double *place = NULL;
    if (strcmp(kind, "vtu") == 0) {
        CORE_RUN(m, status = pl_model_write_vtu(m->model, path, &err));
    } else if (strcmp(kind, "vtm") == 0) {
        CORE_RUN(m, status = pl_model_write_vtm(m->model, path, &err));
    } else if (strcmp(kind, "xdmf") == 0 || strcmp(kind, "usda") == 0) {
        CORE_RUN(m, status = core_write_series(m->model, path, core_color(color), &err));
    } else if (strcmp(kind, "inp") == 0) {
        CORE_RUN(m, status = pl_model_write_deck(m->model, path, NULL, &err));
    } else if (strcmp(kind, "py") == 0) {
        CORE_RUN(m, status = pl_model_write_sofa(m->model, path, NULL, &err));
    } else if (strcmp(kind, "stl") != 0 && strcmp(kind, "state") != 0) {
        CORE_RUN(m, status = pl_model_write_surface(m->model, core_color(color), path, &err));
    } else if (strcmp(kind, "state") == 0) {
        status = pl_model_state_save(m->model, path, &err);
    } else {
        status = pl_model_body(m->model, &mesh, &err);
        place = mesh ? malloc(3 * (size_t)pl_mesh_get(mesh).vertex_count * sizeof *place + 1) : NULL;
        if (status == PL_OK && !place) {
            status = PL_BAD_INPUT;
            snprintf(err.text, sizeof err.text, "the model has no body to write");
        } else if (status == PL_OK) {
            pl_model_shape(m->model, place);
            CORE_RUN(m, status = pl_mesh_write(mesh, surface, place, NULL, path, &err));
        }

        free(place);
    }

    core_leave(m);

    return status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
}

PyObject *core_model_read_state(PyObject *self, PyObject *arg)
{
    core_model *m = (core_model *)self;
    const char *path = PyUnicode_AsUTF8AndSize(arg, NULL);
    pl_error err = {0};

    if (!path || !core_enter(m, NULL)) {
        return NULL;
    }

    const pl_status status = pl_model_state_load(m->model, path, &err);
    core_leave(m);

    return status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
}

// The polylines of all actuators; both arrays malloc'ed.
static bool picture_lines(const pl_model *model, double **line, int32_t **start, int *count)
{
    const int actuators = pl_model_get_info(model).actuator_count;
    int32_t points = 0, at = 0;

    for (int i = 0; i < actuators; ++i) {
        points += pl_model_line(model, i, NULL, 0);
    }
    *line = calloc(3 * (size_t)points + 1, sizeof **line);
    *start = calloc((size_t)actuators + 1, sizeof **start);
    *count = 0;

    for (int i = 0; *line && *start && i < actuators; ++i) {
        const int n = pl_model_line(model, i, *line + 3 * at, points - at);
        if (n > 0) {
            at += n;
            (*start)[++*count] = at;
        }
    }

    return *line && *start;
}

// picture(path, values, legend, title, view, width, height, edges, ghost, cut, cut_point)
PyObject *core_model_picture(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    const char *path, *legend, *title, *view;
    PyObject *values;
    int width, height, edges, ghost;
    double n[3], p[3];

    if (!PyArg_ParseTuple(args, "sOzzziipp(ddd)(ddd):picture", &path, &values, &legend, &title, &view, &width,
                          &height, &edges, &ghost, &n[0], &n[1], &n[2], &p[0], &p[1], &p[2])) {
        return NULL;
    }

    pl_picture picture = pl_picture_default();
    pl_error err = {0};
    if (view && pl_picture_view(view, picture.view, &err) != PL_OK) {
        return core_raise(PL_BAD_INPUT, &err, NULL);
    }
    if (!core_enter(m, NULL)) {
        return NULL;
    }

    core_numbers value = {0};
    double *place = NULL, *line = NULL;
    int32_t *start = NULL;
    PyObject *out = NULL;
    pl_status status = pl_model_body(m->model, &picture.mesh, &err);
    if (status != PL_OK || !picture.mesh) {
        core_leave(m);
        return status != PL_OK ? core_raise(status, &err, NULL)
                               : core_wrong("", "the model has no body to draw");
    }

    const pl_mesh_view v = pl_mesh_get(picture.mesh);
    place = malloc(3 * (size_t)v.vertex_count * sizeof *place);
    if (core_numbers_get(values, 'd', v.vertex_count, "values", &value)) {
        if (!place || !picture_lines(m->model, &line, &start, &picture.line_count)) {
            PyErr_NoMemory();
        } else {
            pl_model_shape(m->model, place);
            picture.position = place;
            picture.ghost = ghost ? v.position : NULL;
            picture.vertex_value = value.data;
            picture.value_name = legend;
            picture.title = title;
            picture.width = width;
            picture.height = height;
            picture.wireframe = edges;
            picture.clip = n[0] != 0 || n[1] != 0 || n[2] != 0;
            memcpy(picture.clip_normal, n, sizeof n);
            memcpy(picture.clip_point, p, sizeof p);
            picture.line = line;
            picture.line_start = start;
            CORE_RUN(m, status = pl_picture_write(&picture, path, &err));
            out = status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
        }
    }

    core_leave(m);
    core_numbers_release(&value);
    free(place);
    free(line);
    free(start);

    return out;
}
