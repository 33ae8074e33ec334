// Derivatives of a model: by its commands, by loads and materials, and adjoint.
#include "core.h"

static PyObject *jacobian_report(const pl_jacobian_report *r)
{
    return Py_BuildValue("(iidOi)", r->factorizations, r->solves, r->residual,
                         r->one_sided ? Py_True : Py_False, r->negative_count);
}

// differentiate(parts, tolerance): a dictionary of the parts asked for, and a report.
PyObject *core_model_differentiate(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    unsigned parts;
    double tolerance;

    if (!PyArg_ParseTuple(args, "Id:differentiate", &parts, &tolerance) || !core_enter(m, NULL)) {
        return NULL;
    }

    const pl_model_info i = pl_model_get_info(m->model);
    pl_model_derivative d;
    pl_jacobian_report report;
    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_model_differentiate(m->model, parts, tolerance, &d, &report, &err));
    core_leave(m);
    if (core_pending(m)) {
        return NULL;
    }
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }
    const struct {
        const char *name;
        const double *data;
        Py_ssize_t rows;
    } part[] = {{"marker", d.marker, 3 * i.marker_count},
                {"rotation", d.rotation, 3 * i.marker_count},
                {"sensor", d.sensor, i.sensor_count},
                {"effort", d.effort, i.actuator_count},
                {"measure", d.measure, i.actuator_count},
                {"point", d.point, 3 * (Py_ssize_t)i.point_count},
                {"energy", d.energy, 1},
                {"reading", d.reading, i.reading_count}};
    PyObject *out = PyDict_New();

    for (size_t k = 0; out && k < sizeof part / sizeof *part; ++k) {
        PyObject *array = part[k].data && i.command_count > 0
                              ? core_array_copy(part[k].data, part[k].rows, i.command_count)
                              : NULL;
        if (array) {
            PyDict_SetItemString(out, part[k].name, array);
            Py_DECREF(array);
        }
    }

    return out ? Py_BuildValue("(NN)", out, jacobian_report(&report)) : NULL;
}

// Parameters as a list of (kind, index, part).
static pl_parameter *model_parameters(PyObject *list, int *count)
{
    const Py_ssize_t n = PySequence_Size(list);
    pl_parameter *out = n >= 0 ? calloc((size_t)n + 1, sizeof *out) : NULL;

    for (Py_ssize_t k = 0; out && k < n; ++k) {
        PyObject *item = PySequence_GetItem(list, k);
        int kind, index, part;

        if (!CORE_ITEM(item, "iii", &kind, &index, &part)) {
            Py_XDECREF(item);
            free(out);
            return NULL;
        }

        out[k] = (pl_parameter){.kind = (pl_parameter_kind)kind, .index = index, .part = part};
        Py_DECREF(item);
    }

    *count = (int)n;
    return out;
}

// sensitivity(parameters): as differentiate, with one column per parameter.
PyObject *core_model_sensitivity(PyObject *self, PyObject *list)
{
    core_model *m = (core_model *)self;
    int count = 0;
    pl_parameter *parameter = model_parameters(list, &count);

    if (!parameter) {
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }

    const pl_model_info i = pl_model_get_info(m->model);
    const struct {
        const char *name;
        Py_ssize_t rows;
    } part[] = {{"marker", 3 * i.marker_count}, {"rotation", 3 * i.marker_count},
                {"sensor", i.sensor_count},     {"effort", i.actuator_count},
                {"measure", i.actuator_count},  {"reading", i.reading_count}};
    void *data[6] = {0};
    PyObject *out = PyDict_New();

    for (int k = 0; out && k < 6; ++k) {
        PyObject *array = core_array_new('d', part[k].rows, count > 0 ? count : 1, &data[k]);
        if (!array || PyDict_SetItemString(out, part[k].name, array) < 0) {
            Py_CLEAR(out);
        }
        Py_XDECREF(array);
    }

    if (!out || !core_enter(m, NULL)) {
        Py_XDECREF(out);
        free(parameter);
        return NULL;
    }

    const pl_jacobian wanted = {.marker = data[0],
                                .rotation = data[1],
                                .sensor = data[2],
                                .effort = data[3],
                                .measure = data[4],
                                .reading = data[5]};
    pl_jacobian_report report;
    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_model_sensitivity(m->model, parameter, count, &wanted, &report, &err));
    core_leave(m);
    free(parameter);
    if (status != PL_OK) {
        Py_DECREF(out);
        return core_raise(status, &err, NULL);
    }

    return Py_BuildValue("(NN)", out, jacobian_report(&report));
}

// adjoint(by_marker, by_rotation, by_effort, by_point, parameters): the gradient and a report.
PyObject *core_model_adjoint(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    PyObject *given[4], *list;

    if (!PyArg_ParseTuple(args, "OOOOO:adjoint", &given[0], &given[1], &given[2], &given[3], &list)) {
        return NULL;
    }

    const pl_model_info i = pl_model_get_info(m->model);
    const Py_ssize_t sizes[4] = {3 * i.marker_count, 3 * i.marker_count, i.actuator_count,
                                 3 * (Py_ssize_t)i.point_count};
    const char *const names[4] = {"by_marker", "by_rotation", "by_effort", "by_point"};
    core_numbers by[4] = {0};
    int count = 0;
    pl_parameter *parameter = model_parameters(list, &count);
    bool good = parameter != NULL;
    for (int k = 0; good && k < 4; ++k) {
        good = core_numbers_get(given[k], 'd', sizes[k], names[k], &by[k]);
    }

    void *gradient = NULL;
    PyObject *out = good ? core_array_new('d', count, 0, &gradient) : NULL;
    pl_jacobian_report report;
    pl_error err = {0};
    pl_status status = PL_OK;

    if (out && core_enter(m, NULL)) {
        const pl_model_weights weights = {by[0].data, by[1].data, by[2].data, by[3].data};
        CORE_RUN(m, status = pl_model_adjoint(m->model, &weights, parameter, count, gradient, &report, &err));
        core_leave(m);
    } else {
        Py_CLEAR(out);
    }

    free(parameter);
    for (int k = 0; k < 4; ++k) {
        core_numbers_release(&by[k]);
    }
    if (!out) {
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    if (status != PL_OK) {
        Py_DECREF(out);
        return core_pending(m) ? NULL : core_raise(status, &err, NULL);
    }

    return Py_BuildValue("(NN)", out, jacobian_report(&report));
}
