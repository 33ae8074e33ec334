// Progress reported to a Python function, from a call that has released the interpreter.
#include "core.h"

void core_keep_error(PyObject **pending)
{
    if (!PyErr_Occurred()) {
        return;
    }

    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    *pending = value ? value : Py_NewRef(type);
    Py_XDECREF(type);
    Py_XDECREF(trace);
}

bool core_tell(core_teller *t, double fraction, const char *what)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    bool go = !t->pending && PyErr_CheckSignals() == 0;

    if (go && t->callback && t->callback != Py_None) {
        PyObject *answer = PyObject_CallFunction(t->callback, "ds", fraction, what ? what : "");
        go = answer && answer != Py_False;
        Py_XDECREF(answer);
    }

    core_keep_error(&t->pending);
    PyGILState_Release(gil);

    return go;
}

bool core_tell_step(void *teller, double fraction, const char *what)
{
    return core_tell(teller, fraction, what);
}

bool core_tell_raise(core_teller *t)
{
    if (!t->pending) {
        return false;
    }
    PyErr_SetObject((PyObject *)Py_TYPE(t->pending), t->pending);
    Py_CLEAR(t->pending);
    return true;
}
