// Array: numbers with a shape, given out through the buffer protocol, read-only: results are records of what
// was computed. Either owns its memory or borrows that of another object, which it keeps alive.
#include <stdint.h>
#include "core.h"

typedef struct core_array {
    PyObject_HEAD void *data;
    PyObject *base; // NULL: the memory is its own
    Py_ssize_t shape[2], strides[2];
    int ndim;
    char format[2];
    Py_ssize_t itemsize;
} core_array;

static PyObject *array_type;

static Py_ssize_t array_itemsize(char format)
{
    return format == 'd' || format == 'q' ? 8 : format == 'i' || format == 'f' ? 4 : 1;
}

static core_array *array_make(char format, Py_ssize_t rows, Py_ssize_t columns)
{
    core_array *a = PyObject_New(core_array, (PyTypeObject *)array_type);
    if (!a) {
        return NULL;
    }
    a->data = NULL;
    a->base = NULL;
    a->ndim = columns > 0 ? 2 : 1;
    a->itemsize = array_itemsize(format);
    a->format[0] = format;
    a->format[1] = 0;
    a->shape[0] = rows;
    a->shape[1] = columns > 0 ? columns : 1;
    a->strides[1] = a->itemsize;
    a->strides[0] = a->shape[1] * a->itemsize;

    return a;
}

PyObject *core_array_new(char format, Py_ssize_t rows, Py_ssize_t columns, void **data)
{
    core_array *a = array_make(format, rows, columns);
    if (!a) {
        return NULL;
    }
    a->data = calloc((size_t)(a->shape[0] * a->shape[1]) + 1, (size_t)a->itemsize);
    if (!a->data) {
        Py_DECREF((PyObject *)a);
        return PyErr_NoMemory();
    }

    *data = a->data;

    return (PyObject *)a;
}

PyObject *core_array_copy(const double *from, Py_ssize_t rows, Py_ssize_t columns)
{
    void *to;
    PyObject *a = core_array_new('d', rows, columns, &to);
    const Py_ssize_t count = rows * (columns > 0 ? columns : 1);

    if (a && count > 0 && from) {
        memcpy(to, from, (size_t)count * sizeof *from);
    }

    return a;
}

PyObject *core_array_view(char format, Py_ssize_t rows, Py_ssize_t columns, const void *data, PyObject *base)
{
    core_array *a = array_make(format, rows, columns);
    if (!a) {
        return NULL;
    }
    a->data = (void *)(uintptr_t)data; // never written
    a->base = Py_NewRef(base);
    return (PyObject *)a;
}

static void array_dealloc(PyObject *self)
{
    core_array *a = (core_array *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (a->base) {
        Py_DECREF(a->base);
    } else {
        free(a->data);
    }

    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static int array_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    core_array *a = (core_array *)self;
    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "the array is read-only");
        view->obj = NULL;
        return -1;
    }

    view->buf = a->data;
    view->obj = Py_NewRef(self);
    view->itemsize = a->itemsize;
    view->len = a->shape[0] * a->shape[1] * a->itemsize;
    view->readonly = 1;
    view->ndim = a->ndim;
    view->format = flags & PyBUF_FORMAT ? a->format : NULL;
    view->shape = (flags & PyBUF_ND) == PyBUF_ND ? a->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides + (a->ndim == 1 ? 1 : 0) : NULL;
    if (a->ndim == 1 && view->strides) {
        view->strides = &a->strides[1];
    }
    view->suboffsets = NULL;
    view->internal = NULL;

    return 0;
}

static Py_ssize_t array_length(PyObject *self)
{
    return ((core_array *)self)->shape[0];
}

static PyObject *array_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((core_array *)self)->data);
}

static PyGetSetDef array_members[] = {
    {"address", array_address, NULL, "Address of the first number, as an integer.", NULL}, {0}};

static PyType_Slot array_slots[] = {
    {Py_tp_doc, "Numbers with a shape; numpy.asarray views them without a copy."},
    {Py_tp_dealloc, array_dealloc},
    {Py_bf_getbuffer, array_getbuffer},
    {Py_sq_length, array_length},
    {Py_tp_getset, array_members},
    {0, NULL}};
static PyType_Spec array_spec = {.name = "pliant._core.Array",
                                 .basicsize = sizeof(core_array),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = array_slots};

int core_array_init(PyObject *module)
{
    array_type = PyType_FromSpec(&array_spec);
    return array_type ? PyModule_AddObjectRef(module, "Array", array_type) : -1;
}

// ---- numbers handed in
bool core_numbers_get(PyObject *from, char format, Py_ssize_t count, const char *what, core_numbers *out)
{
    *out = (core_numbers){0};
    if (!from || from == Py_None) {
        return true;
    }
    if (PyObject_GetBuffer(from, &out->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        return false;
    }

    const char *found = out->view.format ? out->view.format : "B";
    found += found[0] == '<' || found[0] == '=' || found[0] == '@';

    // numpy calls int64 l, and bool ?
    const bool same =
        (found[0] == format || (format == 'q' && found[0] == 'l') || (format == 'B' && found[0] == '?')) &&
        !found[1];
    out->count = out->view.len / array_itemsize(format);

    if (!same || (count >= 0 && out->count != count)) {
        PyErr_Format(PyExc_TypeError, "%s: expected %zd numbers of type '%c', found %zd of type '%s'", what,
                     count, format, out->count, found);
        PyBuffer_Release(&out->view);
        *out = (core_numbers){0};
        return false;
    }

    out->data = out->view.buf;

    return true;
}

void core_numbers_release(core_numbers *numbers)
{
    if (numbers->data || numbers->view.obj) {
        PyBuffer_Release(&numbers->view);
    }
    *numbers = (core_numbers){0};
}
