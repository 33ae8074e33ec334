// The shape of a model: vertices, points, lines, fields, reactions, and checks of it.
#include "core.h"

PyObject *core_model_body(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    const pl_mesh *mesh = NULL;
    pl_error err = {0};
    if (!core_enter(m, NULL)) {
        return NULL;
    }

    const pl_status status = pl_model_body(m->model, &mesh, &err);
    core_leave(m);
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }

    return mesh ? core_mesh_new(mesh, self) : Py_NewRef(Py_None);
}

PyObject *core_model_shape(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    const pl_mesh *mesh = NULL;
    pl_error err = {0};
    if (!core_enter(m, NULL)) {
        return NULL;
    }

    pl_status status = pl_model_body(m->model, &mesh, &err);
    PyObject *out = NULL;
    if (status == PL_OK && mesh) {
        void *data;
        out = core_array_new('d', pl_mesh_get(mesh).vertex_count, 3, &data);
        if (out) {
            pl_model_shape(m->model, data);
        }
    }

    core_leave(m);
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }

    return out || mesh ? out : Py_NewRef(Py_None);
}

PyObject *core_model_points(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_model *model = ((core_model *)self)->model;
    return core_array_copy(pl_model_get_answer(model).point, pl_model_get_info(model).point_count, 3);
}

PyObject *core_model_line(PyObject *self, PyObject *arg)
{
    const pl_model *model = ((core_model *)self)->model;
    const long i = PyLong_AsLong(arg);

    if (i == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (i < 0 || i >= pl_model_get_info(model).actuator_count) {
        return core_wrong("", "actuator %ld does not exist", i);
    }

    const int count = pl_model_line(model, (int)i, NULL, 0);
    void *data;
    PyObject *out = core_array_new('d', count, 3, &data);
    if (out) {
        pl_model_line(model, (int)i, data, count);
    }

    return out;
}

PyObject *core_model_field(PyObject *self, PyObject *arg)
{
    core_model *m = (core_model *)self;
    const long f = PyLong_AsLong(arg);

    if (f == -1 && PyErr_Occurred()) {
        return NULL;
    }

    const pl_mesh *mesh = NULL;
    pl_error err = {0};
    if (f < 0 || f >= PL_FIELD_COUNT || !(pl_model_get_info(m->model).fields & (1u << f))) {
        return core_wrong("", "the model has no such field");
    }
    if (!core_enter(m, NULL)) {
        return NULL;
    }

    pl_status status = pl_model_body(m->model, &mesh, &err);
    PyObject *out = NULL;
    if (status == PL_OK) {
        const pl_mesh_view v = pl_mesh_get(mesh);
        const int components = pl_field_components((pl_field)f);
        void *data;
        out = core_array_new('d', pl_field_on_elements((pl_field)f) ? v.element_count : v.vertex_count,
                             components > 1 ? components : 0, &data);
        if (out) {
            CORE_RUN(m, status = pl_model_field(m->model, (pl_field)f, data, &err));
        }
    }

    core_leave(m);
    if (status != PL_OK) {
        Py_XDECREF(out);
        return core_raise(status, &err, NULL);
    }

    return out;
}

PyObject *core_model_reactions(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    const int count = pl_model_get_info(m->model).support_count;
    void *data;
    PyObject *out = core_array_new('d', count, 6, &data);
    if (!out || count == 0 || !core_enter(m, NULL)) {
        return PyErr_Occurred() ? NULL : out;
    }

    pl_error err = {0};
    pl_status status;

    // a pl_reaction is six doubles
    CORE_RUN(m, status = pl_model_reactions(m->model, (pl_reaction *)data, &err));
    core_leave(m);
    if (status != PL_OK) {
        Py_DECREF(out);
        return core_raise(status, &err, NULL);
    }

    return out;
}

PyObject *core_model_mesh_error(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    pl_mesh_error found = {0};
    pl_error err = {0};
    pl_status status;
    if (!core_enter(m, NULL)) {
        return NULL;
    }
    CORE_RUN(m, status = pl_model_mesh_error(m->model, &found, &err));
    core_leave(m);

    return status == PL_OK ? Py_BuildValue("(dd)", found.relative, found.factor)
                           : core_raise(status, &err, NULL);
}

PyObject *core_model_judge(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    pl_model_check check = {0};
    pl_error err = {0};
    pl_status status;
    if (!core_enter(m, NULL)) {
        return NULL;
    }
    CORE_RUN(m, status = pl_model_verify(m->model, &check, &err));
    core_leave(m);

    return status == PL_OK ? Py_BuildValue("(ddO)", check.residual, check.largest_force,
                                           check.inverted ? Py_True : Py_False)
                           : core_raise(status, &err, NULL);
}

PyObject *core_model_examine(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    if (!findings || !core_enter(m, NULL)) {
        pl_findings_destroy(findings);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }

    pl_status status;
    const pl_robot *robot = pl_model_robot(m->model);
    CORE_RUN(m, status = robot ? pl_robot_examine(robot, findings, &err)
                               : pl_reduced_examine(m->model, findings, &err));
    core_leave(m);
    PyObject *out = status == PL_OK ? core_findings(findings) : core_raise(status, &err, NULL);
    pl_findings_destroy(findings);

    return out;
}

PyObject *core_model_actuator_faces(PyObject *self, PyObject *arg)
{
    const pl_robot *robot = pl_model_robot(((core_model *)self)->model);
    const long i = PyLong_AsLong(arg);

    if (i == -1 && PyErr_Occurred()) {
        return NULL;
    }

    const int64_t *face = NULL;
    const int64_t count = robot && i >= 0 && i < pl_robot_actuator_count(robot)
                              ? pl_robot_actuator_faces(robot, (int)i, &face)
                              : 0;

    return core_array_view('q', (Py_ssize_t)count, 0, face, self);
}

PyObject *core_model_region_materials(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_robot *robot = pl_model_robot(((core_model *)self)->model);
    const int count = robot ? pl_mesh_get(pl_robot_mesh(robot)).region_count : 0;
    PyObject *all = PyTuple_New(count);
    for (int i = 0; all && i < count; ++i) {
        const char *name = pl_robot_region_material(robot, i);
        PyTuple_SetItem(all, i, name ? PyUnicode_FromString(name) : Py_NewRef(Py_None));
    }

    return all;
}

// Body points by the name of a surface or region, or nearest to a line: body_points(name, from, to).
PyObject *core_model_body_points(PyObject *self, PyObject *args)
{
    const pl_model *model = ((core_model *)self)->model;
    const char *name;
    double a[3], b[3];
    int32_t *point = NULL, count = 0;
    pl_error err = {0};

    if (!PyArg_ParseTuple(args, "z(ddd)(ddd):body_points", &name, &a[0], &a[1], &a[2], &b[0], &b[1], &b[2])) {
        return NULL;
    }

    const bool line = a[0] != b[0] || a[1] != b[1] || a[2] != b[2];
    const pl_status status = line ? pl_model_points_on_line(model, a, b, &point, &count, &err)
                                  : pl_model_points(model, name, &point, &count, &err);
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }

    void *data;
    PyObject *out = core_array_new('i', count, 0, &data);
    if (out && count > 0) {
        memcpy(data, point, (size_t)count * sizeof *point);
    }
    pl_mesh_free_indices(point);

    return out;
}
