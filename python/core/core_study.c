// Studies over variants of a robot file.
#include "core.h"

// What is given: the axes as "NAME=..." and the pairs that stay the same.
typedef struct study_given {
    pl_study_axis axis[PL_STUDY_AXES];
    pl_variation *set;
    Py_ssize_t axis_count, set_count;
} study_given;

static void study_clear(study_given *g)
{
    for (Py_ssize_t i = 0; i < g->axis_count; ++i) {
        pl_study_axis_clear(&g->axis[i]);
    }
    free(g->set);
}

// The texts of `set` belong to the lists that were handed in.
static bool study_read(PyObject *axes, PyObject *set, study_given *g)
{
    const Py_ssize_t axis_count = PyList_Check(axes) ? PyList_Size(axes) : -1,
                     set_count = PyList_Check(set) ? PyList_Size(set) : -1;
    if (axis_count < 0 || set_count < 0) {
        PyErr_SetString(PyExc_TypeError, "study: expected lists");
        return false;
    }
    if (axis_count < 1 || axis_count > PL_STUDY_AXES) {
        core_wrong("", axis_count < 1 ? "nothing is varied" : "vary: at most %d axes", PL_STUDY_AXES);
        return false;
    }

    for (Py_ssize_t i = 0; i < axis_count; ++i) {
        PyObject *item = PyList_GetItem(axes, i);
        const char *text = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        pl_error err = {0};
        if (!text) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_TypeError, "study: expected texts");
            }
            return false;
        }
        if (pl_study_axis_parse(text, &g->axis[i], &err) != PL_OK) {
            core_raise(PL_BAD_INPUT, &err, NULL);
            return false;
        }
        g->axis_count = i + 1;
    }

    g->set = calloc((size_t)set_count + 1, sizeof *g->set);
    if (!g->set) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < set_count; ++i) {
        if (!CORE_ITEM(PyList_GetItem(set, i), "ss", &g->set[i].path, &g->set[i].value)) {
            return false;
        }
    }
    g->set_count = set_count;

    return true;
}

static PyObject *study_texts(char *const *text, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; ++i) {
        PyObject *one = text[i] ? PyUnicode_DecodeUTF8(text[i], (Py_ssize_t)strlen(text[i]), "replace")
                                : Py_NewRef(Py_None);
        if (!one) {
            Py_CLEAR(list);
            break;
        }
        PyList_SetItem(list, i, one);
    }

    return list;
}

// study(text, path, method, size, order, displacement, cache, time_limit, axes, set, marker, stiffness,
// blocked, blocked_axis, beyond_range, jobs, store, callback): axes, settings (axes per point), outcomes,
// quantities, values, findings, points that were in the store
PyObject *core_study(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text, *path, *method, *marker, *store;
    Py_ssize_t length;
    double size, time_limit;
    int order, displacement, cache, stiffness, blocked, blocked_axis, beyond_range, jobs;
    PyObject *axes, *set, *callback, *out = NULL;
    if (!PyArg_ParseTuple(args, "s#zzdippdOOzppipizO:study", &text, &length, &path, &method, &size, &order,
                          &displacement, &cache, &time_limit, &axes, &set, &marker, &stiffness, &blocked,
                          &blocked_axis, &beyond_range, &jobs, &store, &callback)) {
        return NULL;
    }

    core_teller teller = {.callback = callback};
    study_given given = {0};
    pl_robot_document *document = NULL;
    pl_findings *findings = pl_findings_create();
    pl_study study = {0};
    pl_error err = {0};
    pl_status status = findings ? PL_OK : PL_NO_MEMORY;
    const bool read = study_read(axes, set, &given);
    if (read && status == PL_OK) {
        status = pl_robot_document_parse(text, (size_t)length, path, &document, &err);
    }
    if (read && status == PL_OK) {
        const pl_study_def def = {.document = document,
                                  .load = {.load = {.mesher = pl_meshing_mesher(),
                                                    .size = size,
                                                    .order = order,
                                                    .no_cache = !cache},
                                           .method = method,
                                           .displacement = displacement,
                                           .time_limit = time_limit},
                                  .axis = given.axis,
                                  .axis_count = (int)given.axis_count,
                                  .set = given.set,
                                  .set_count = (int)given.set_count,
                                  .marker = marker,
                                  .stiffness = stiffness,
                                  .blocked = blocked,
                                  .blocked_axis = blocked_axis,
                                  .beyond_range = beyond_range,
                                  .worker_count = jobs,
                                  .store = store,
                                  .progress = {.step = core_tell_step, .user = &teller}};
        CORE_RUN(NULL, status = pl_study_run(&def, &study, findings, &err));
    }

    // what stopped it is raised by the caller, with what was solved so far
    if (read && (status == PL_OK || status == PL_INTERRUPTED)) {
        const Py_ssize_t n = study.count;
        PyObject *pending = teller.pending ? teller.pending : Py_NewRef(Py_None);
        teller.pending = NULL;
        out = Py_BuildValue(
            "{s:N,s:N,s:N,s:N,s:N,s:N,s:i,s:N}", "axes", study_texts(study.axis, study.axis_count),
            "settings", study_texts(study.setting, n * study.axis_count), "outcomes",
            study_texts(study.outcome, n), "quantities", study_texts(study.quantity, study.quantity_count),
            "values", core_array_copy(study.value, n, study.quantity_count > 0 ? study.quantity_count : 1),
            "findings", core_findings(findings), "kept", study.kept, "pending", pending);
    } else if (read && !core_tell_raise(&teller)) {
        core_raise(status, &err, findings);
    }

    Py_CLEAR(teller.pending);
    pl_study_clear(&study);
    pl_robot_document_destroy(document);
    pl_findings_destroy(findings);
    study_clear(&given);

    return out;
}
