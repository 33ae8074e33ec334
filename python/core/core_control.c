// Compliance and state estimation of a Model.
#include "core.h"

// compliance(): rows and columns as pl_compliance orders them
PyObject *core_model_compliance(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    const int rows = pl_compliance_rows(m->model), columns = pl_compliance_columns(m->model);
    void *data;
    PyObject *out = core_array_new('d', rows, columns > 0 ? columns : 1, &data);
    if (!out || !core_enter(m, NULL)) {
        Py_XDECREF(out);
        return NULL;
    }

    pl_jacobian_report report;
    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_compliance(m->model, data, &report, &err));
    core_leave(m);
    if (status != PL_OK) {
        Py_DECREF(out);
        return core_raise(status, &err, NULL);
    }

    return out;
}

static pl_measurement *control_measured(PyObject *list, int *count)
{
    const Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
    pl_measurement *out = n >= 0 ? calloc((size_t)n + 1, sizeof *out) : NULL;

    if (n < 0) {
        PyErr_SetString(PyExc_TypeError, "expected a list of measured numbers");
    } else if (!out) {
        PyErr_NoMemory();
    }

    for (Py_ssize_t k = 0; out && k < n; ++k) {
        int kind;
        if (!CORE_ITEM(PyList_GetItem(list, k), "iiid", &kind, &out[k].index, &out[k].axis, &out[k].sigma)) {
            free(out);
            return NULL;
        }

        out[k].kind = (pl_measurement_kind)kind;
    }

    *count = (int)n;

    return out;
}

// The indices of the measured numbers that were not used.
static PyObject *control_flags(const pl_estimate *e, const pl_estimator_options *o)
{
    PyObject *out = PyList_New(0);
    for (int i = 0; out && i < o->measured_count; ++i) {
        PyObject *index = e->rejected[i] ? PyLong_FromLong(i) : NULL;
        if (e->rejected[i] && (!index || PyList_Append(out, index) < 0)) {
            Py_CLEAR(out);
        }
        Py_XDECREF(index);
    }

    return out;
}

static PyObject *control_estimate(core_model *m, const pl_estimate *e, const pl_estimator_options *o)
{
    const pl_model_info i = pl_model_get_info(m->model);
    return Py_BuildValue(
        "{s:O,s:i,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:i,s:i,s:i,s:d,s:i,s:i,s:d,s:d,s:d,s:O,s:N,s:N}", "converged",
        e->converged ? Py_True : Py_False, "iterations", e->iterations, "command",
        core_array_copy(e->command, i.command_count, 0), "command_sigma",
        core_array_copy(e->command_sigma, i.command_count, 0), "force",
        core_array_copy(e->force, o->force_count, 3), "force_sigma",
        core_array_copy(e->force_sigma, o->force_count, 3), "marker",
        core_array_copy(e->marker, i.marker_count, 3), "marker_sigma",
        core_array_copy(e->marker_sigma, i.marker_count, 3), "residual",
        core_array_copy(e->residual, o->measured_count, 0), "used", e->used, "missing", e->missing,
        "outliers", e->outliers, "fit", e->fit, "unknowns", e->unknown_count, "unseen", e->unseen_count,
        "weakest_sigma", e->weakest_sigma, "stiffness", e->stiffness, "stiffness_error", e->stiffness_error,
        "contradicted", e->contradicted ? Py_True : Py_False, "rejected", control_flags(e, o), "standing",
        core_standing(m, NULL));
}

// estimate(measured, sent, values, command_sigma, force_markers, force_sigma, stiffness_sigma, model_error,
// outlier, callback); NAN: the defaults of the command
PyObject *core_model_estimate(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    PyObject *list, *sent_list, *given, *command_sigma, *markers, *callback, *out = NULL;
    pl_estimator_options options = pl_estimator_options_default();

    if (!PyArg_ParseTuple(args, "OOOOOddddO:estimate", &list, &sent_list, &given, &command_sigma, &markers,
                          &options.force_sigma, &options.stiffness_sigma, &options.model_error,
                          &options.outlier, &callback)) {
        return NULL;
    }

    options.stiffness_sigma =
        isnan(options.stiffness_sigma) ? PL_ESTIMATOR_STIFFNESS : options.stiffness_sigma;
    options.model_error = isnan(options.model_error) ? PL_ESTIMATOR_MODEL_ERROR : options.model_error;
    const pl_model_info i = pl_model_get_info(m->model);
    core_numbers value = {0}, sigma = {0}, marker = {0};
    double *sent = NULL;
    pl_measurement *measured = control_measured(list, &options.measured_count);
    if (measured && core_commands(m, sent_list, &sent) && sent &&
        core_numbers_get(given, 'd', options.measured_count, "values", &value) && value.data &&
        core_numbers_get(command_sigma, 'd', i.command_count, "command_sigma", &sigma) &&
        core_numbers_get(markers, 'i', -1, "force_markers", &marker) && core_enter(m, callback)) {
        options.measured = measured;
        options.command_sigma = sigma.data;
        options.force_marker = marker.data;
        options.force_count = (int)marker.count;
        pl_estimator *estimator = NULL;
        pl_estimate estimate;
        pl_error err = {0};
        pl_status status = pl_estimator_create(m->model, &options, &estimator, &err);
        if (status == PL_OK) {
            CORE_RUN(m, status = pl_estimator_update(estimator, sent, value.data, &estimate, &err));
        }
        core_leave(m);
        if (status == PL_OK) {
            out = control_estimate(m, &estimate, &options);
        } else if (!core_pending(m)) {
            core_raise(status, &err, NULL);
        }
        pl_estimator_destroy(estimator);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "estimate: expected commands and values");
    }

    core_numbers_release(&value);
    core_numbers_release(&sigma);
    core_numbers_release(&marker);
    free(sent);
    free(measured);

    return out;
}
