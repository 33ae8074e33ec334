// Statuses of the library as exceptions, with the sentences of the command.
#include <stdarg.h>
#include <stdio.h>
#include "core.h"

static PyObject *error_base, *error_input, *error_file, *error_memory, *error_failed, *error_interrupted;

PyObject *core_findings(const pl_findings *findings)
{
    const int count = findings ? pl_findings_count(findings) : 0;
    PyObject *list = PyList_New(count);

    for (int i = 0; list && i < count; ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        PyObject *place =
            f->has_place ? Py_BuildValue("(ddd)", f->place[0], f->place[1], f->place[2]) : Py_NewRef(Py_None);
        PyObject *elements = place ? PyTuple_New(f->element_count) : NULL;
        for (int32_t e = 0; elements && e < f->element_count; ++e) {
            PyTuple_SetItem(elements, e, PyLong_FromLong(f->elements[e]));
        }
        PyObject *one = elements ? Py_BuildValue("(iziss)", (int)f->severity, f->file, f->line, f->text,
                                                 f->advice ? f->advice : "")
                                 : NULL;
        PyObject *both = one ? Py_BuildValue("(NNN)", one, place, elements) : NULL;
        if (!both) {
            Py_DECREF(list);
            return NULL;
        }

        PyList_SetItem(list, i, both);
    }

    return list;
}

static PyObject *error_class(pl_status status)
{
    switch (status) {
    case PL_BAD_FILE:
        return error_file;
    case PL_NO_MEMORY:
        return error_memory;
    case PL_INTERRUPTED:
        return error_interrupted;
    case PL_FAILED:
        return error_failed;
    default:
        return error_input;
    }
}

// The defects, as the command prints them.
static PyObject *error_text(const pl_findings *findings)
{
    PyObject *text = PyUnicode_FromString("");
    for (int i = 0; text && i < pl_findings_count(findings); ++i) {
        const pl_finding *f = pl_findings_at(findings, i);
        if (f->severity != PL_DEFECT) {
            continue;
        }
        char line[32] = "";
        if (f->file && f->line > 0) {
            snprintf(line, sizeof line, "%d:", f->line);
        }
        PyObject *more = PyUnicode_FromFormat(
            "%U%s%s%s%s%serror: %s%s%s", text, PyUnicode_GetLength(text) ? "\n" : "", f->file ? f->file : "",
            f->file ? ":" : "", line, f->file ? " " : "", f->text, f->advice && f->advice[0] ? "\n    " : "",
            f->advice ? f->advice : "");
        Py_DECREF(text);
        text = more;
    }

    return text;
}

PyObject *core_raise(pl_status status, const pl_error *err, const pl_findings *findings)
{
    const bool defects = findings && pl_findings_defect_count(findings) > 0;
    PyObject *text = defects ? error_text(findings)
                             : PyUnicode_FromString(err && err->text[0] ? err->text : pl_status_text(status));
    PyObject *list = text ? core_findings(findings) : NULL;
    PyObject *error = list ? PyObject_CallFunctionObjArgs(error_class(status), text, NULL) : NULL;

    if (error && PyObject_SetAttrString(error, "findings", list) == 0) {
        PyErr_SetObject(error_class(status), error);
    }
    Py_XDECREF(text);
    Py_XDECREF(list);
    Py_XDECREF(error);

    return NULL;
}

PyObject *core_wrong(const char *advice, const char *format, ...)
{
    char text[1400];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (advice && advice[0]) {
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "\n    %s", advice);
    }

    pl_error err = {.status = PL_BAD_INPUT};
    snprintf(err.text, sizeof err.text, "%s", text);

    return core_raise(PL_BAD_INPUT, &err, NULL);
}

bool core_is_tuple(PyObject *item)
{
    if (item && PyTuple_Check(item)) {
        return true;
    }
    if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple");
    }
    return false;
}

static PyObject *error_make(PyObject *module, const char *name, const char *doc, PyObject *base,
                            PyObject *other)
{
    char full[80];
    snprintf(full, sizeof full, "pliant.%s", name);
    PyObject *bases = other ? Py_BuildValue("(OO)", base, other) : Py_BuildValue("(O)", base);
    PyObject *made = bases ? PyErr_NewExceptionWithDoc(full, doc, bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (made && PyModule_AddObjectRef(module, name, made) < 0) {
        Py_CLEAR(made);
    }

    return made;
}

int core_error_init(PyObject *module)
{
    error_base = error_make(module, "Error",
                            "Base of the errors of Pliant. `findings` lists the defects of a robot file.",
                            PyExc_Exception, NULL);
    if (!error_base || PyObject_SetAttrString(error_base, "findings", Py_None) < 0) {
        return -1;
    }
    error_input = error_make(module, "InputError", "Wrong input: the text says which and what was expected.",
                             error_base, PyExc_ValueError);
    error_file =
        error_make(module, "FileError", "A file cannot be read or written.", error_base, PyExc_OSError);
    error_memory = error_make(module, "NoMemoryError", "Out of memory.", error_base, PyExc_MemoryError);
    error_failed =
        error_make(module, "SolverError", "An internal step failed.", error_base, PyExc_RuntimeError);
    error_interrupted = error_make(module, "StoppedError",
                                   "A computation that has no partial result was stopped by its progress "
                                   "function.",
                                   error_base, PyExc_RuntimeError);

    return error_input && error_file && error_memory && error_failed && error_interrupted ? 0 : -1;
}
