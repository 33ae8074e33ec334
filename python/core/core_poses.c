// Parameters of a robot from measured poses.
#include <stdio.h>
#include "core.h"

typedef struct poses_run {
    const char *text, *path;
    Py_ssize_t length;
    pl_robot_document *document;
    pl_model_load_options load;
    pl_pose_parameter parameter[PL_POSE_PARAMETERS];
    const char *key[PL_POSE_PARAMETERS]; // NULL: not a number of the file
    int count;
    core_teller teller;
} poses_run;

// The robot file with these values.
static pl_status poses_edit(const poses_run *p, const double *value, pl_robot_document **out, pl_error *err)
{
    pl_status status = pl_robot_document_copy(p->document, out, err);
    for (int k = 0; status == PL_OK && k < p->count; ++k) {
        if (p->key[k]) {
            status = pl_robot_document_set_number(*out, p->key[k], value[k], err);
        }
    }

    return status;
}

static pl_status poses_build(void *user, const double *value, pl_model **out, pl_error *err)
{
    poses_run *p = user;
    pl_robot_document *document = NULL;
    pl_status status = poses_edit(p, value, &document, err);

    if (status == PL_OK) {
        status = pl_model_from_document(document, &p->load, out, NULL, err);
    }
    pl_robot_document_destroy(document);

    return status;
}

static bool poses_parameters(poses_run *p, PyObject *list)
{
    p->count = PyList_Check(list) ? (int)PyList_Size(list) : 0;
    if (p->count < 1 || p->count > PL_POSE_PARAMETERS) {
        core_wrong("", "expected 1 to %d parameters, found %d", PL_POSE_PARAMETERS, p->count);
        return false;
    }

    for (int k = 0; k < p->count; ++k) {
        pl_pose_parameter *q = &p->parameter[k];
        int kind;
        if (!CORE_ITEM(PyList_GetItem(list, k), "sziiiddd", &q->name, &p->key[k], &kind, &q->index, &q->part,
                       &q->unit, &q->value, &q->scale)) {
            return false;
        }

        q->kind = (pl_pose_kind)kind;
    }

    return true;
}

static PyObject *poses_answer(const poses_run *p, const pl_poses_report *r, PyObject *predicted)
{
    char *text = NULL;
    pl_error err = {0};
    pl_robot_document *document = NULL;
    pl_status status = poses_edit(p, r->value, &document, &err);

    if (status == PL_OK) {
        status = pl_robot_document_text(document, &text, NULL, &err);
    }

    PyObject *out =
        status != PL_OK
            ? core_raise(status, &err, NULL)
            : Py_BuildValue("{s:N,s:N,s:d,s:d,s:d,s:d,s:i,s:i,s:O,s:O,s:s}", "value",
                            core_array_copy(r->value, p->count, 0), "deviation",
                            core_array_copy(r->deviation, p->count, 0), "quantile", r->quantile, "rms_start",
                            r->rms_start, "rms_fit", r->rms_fit, "rms_held", r->rms_held, "iterations",
                            r->iterations, "solves", r->solves, "converged",
                            r->converged ? Py_True : Py_False, "predicted", predicted, "text", text);
    pl_file_free(text);
    pl_robot_document_destroy(document);

    return out;
}

// poses(text, path, method, size, order, parameters, command_count, marker_count, commands, markers, fit,
// callback)
PyObject *core_poses(PyObject *module, PyObject *args)
{
    (void)module;
    poses_run p = {0};
    PyObject *list, *given_commands, *given_markers, *given_fit, *out = NULL;
    int order, command_count, marker_count;
    double size;
    const char *method;
    if (!PyArg_ParseTuple(args, "s#zzdiOiiOOOO:poses", &p.text, &p.length, &p.path, &method, &size, &order,
                          &list, &command_count, &marker_count, &given_commands, &given_markers, &given_fit,
                          &p.teller.callback) ||
        !poses_parameters(&p, list)) {
        return NULL;
    }

    const pl_progress progress = {.step = core_tell_step, .user = &p.teller};
    p.load = (pl_model_load_options){
        .load = {.mesher = pl_meshing_mesher(), .progress = &progress, .size = size, .order = order},
        .method = method,
        .progress = progress};
    core_numbers command = {0}, marker = {0}, fit = {0};
    void *predicted = NULL;
    PyObject *places = NULL;
    if (core_numbers_get(given_commands, 'd', -1, "commands", &command) && command.data &&
        command_count > 0 &&
        core_numbers_get(given_markers, 'd', command.count / command_count * 3 * marker_count, "markers",
                         &marker) &&
        core_numbers_get(given_fit, 'B', command.count / command_count, "fit", &fit)) {
        const int rows = (int)(command.count / command_count);
        places = core_array_new('d', rows, 3 * marker_count, &predicted);
        const pl_poses_def def = {.parameter = p.parameter,
                                  .parameter_count = p.count,
                                  .row_count = rows,
                                  .command_count = command_count,
                                  .marker_count = marker_count,
                                  .command = command.data,
                                  .marker = marker.data,
                                  .fit = fit.data,
                                  .build = poses_build,
                                  .user = &p,
                                  .progress = progress};
        pl_poses_report report;
        pl_error err = {0};
        pl_status status = pl_robot_document_parse(p.text, (size_t)p.length, p.path, &p.document, &err);
        if (places && status == PL_OK) {
            CORE_RUN(NULL, status = pl_poses_calibrate(&def, predicted, &report, &err));
        }
        if (core_tell_raise(&p.teller)) {
            // raised
        } else if (status != PL_OK) {
            core_raise(status, &err, NULL);
        } else {
            out = poses_answer(&p, &report, places);
        }
    } else if (!PyErr_Occurred()) {
        core_wrong("", "expected commands and marker positions");
    }

    pl_robot_document_destroy(p.document);
    Py_XDECREF(p.teller.pending);
    Py_XDECREF(places);
    core_numbers_release(&command);
    core_numbers_release(&marker);
    core_numbers_release(&fit);

    return out;
}

// text_number(text, path, key): (value, unit)
PyObject *core_text_number(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text, *path, *key;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(args, "s#zs:text_number", &text, &length, &path, &key)) {
        return NULL;
    }

    double value;
    char unit[16] = "";
    pl_error err = {0};
    pl_robot_document *document = NULL;
    pl_status status = pl_robot_document_parse(text, (size_t)length, path ? path : "robot", &document, &err);
    if (status == PL_OK) {
        status = pl_robot_document_number(document, key, &value, unit, &err);
    }
    pl_robot_document_destroy(document);

    return status == PL_OK ? Py_BuildValue("(ds)", value, unit) : core_raise(status, &err, NULL);
}

// text_set(text, path, key, value): the text with that value, written in YAML
PyObject *core_text_set(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text, *path, *key, *value;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(args, "s#zss:text_set", &text, &length, &path, &key, &value)) {
        return NULL;
    }

    char *edited = NULL;
    size_t size = 0;
    pl_error err = {0};
    pl_robot_document *document = NULL;
    pl_status status = pl_robot_document_parse(text, (size_t)length, path ? path : "robot", &document, &err);
    if (status == PL_OK) {
        status = pl_robot_document_set(document, key, value, &err);
    }
    if (status == PL_OK) {
        status = pl_robot_document_text(document, &edited, &size, &err);
    }
    pl_robot_document_destroy(document);
    PyObject *out = status == PL_OK ? PyUnicode_FromStringAndSize(edited, (Py_ssize_t)size)
                                    : core_raise(status, &err, NULL);
    pl_file_free(edited);

    return out;
}

// measured(path, model): (commands, markers) of a table
PyObject *core_measured(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path;
    PyObject *model;
    if (!PyArg_ParseTuple(args, "sO:measured", &path, &model)) {
        return NULL;
    }
    if (!PyObject_TypeCheck(model, (PyTypeObject *)core_model_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a Model");
        return NULL;
    }

    const pl_model_info info = pl_model_get_info(((core_model *)model)->model);
    pl_measured m = {0};
    pl_error err = {0};
    const pl_status status = pl_measured_read(path, &info, NULL, 0, &m, &err);
    PyObject *out = status == PL_OK
                        ? Py_BuildValue("(NN)", core_array_copy(m.command, m.count, info.command_count),
                                        core_array_copy(m.marker, m.count, 3 * info.marker_count))
                        : core_raise(status, &err, NULL);
    pl_measured_clear(&m);

    return out;
}
