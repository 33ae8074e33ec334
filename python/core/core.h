// The C extension pliant._core: a thin layer over include/pliant, on the stable ABI of Python 3.11. Arrays go
// out through the buffer protocol, so numpy sees them without a copy and no header of numpy is needed. Names,
// units and shapes of results are the business of the Python layer above.
#ifndef PL_PYTHON_CORE_H
#define PL_PYTHON_CORE_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <pliant/meshing.h>
#include <pliant/pliant.h>

// ---- exceptions (core_error.c)
// Raises the exception class of `status`. Its text is that of the defects among `findings` (may be NULL), as
// the command prints them, otherwise err->text. Always returns NULL.
PyObject *core_raise(pl_status status, const pl_error *err, const pl_findings *findings);

// Raises pliant.InputError with a text and, on a line of its own, advice (may be "").
PyObject *core_wrong(const char *advice, const char *format, ...) PL_PRINTF(2, 3);
PyObject *core_findings(const pl_findings *findings); // list of tuples
int core_error_init(PyObject *module);

// PyArg_ParseTuple for an item of a list, which may be anything.
#define CORE_ITEM(item, ...) (core_is_tuple(item) && PyArg_ParseTuple(item, __VA_ARGS__))
bool core_is_tuple(PyObject *item); // raises TypeError otherwise

// ---- arrays (core_array.c)
// A new array of zeroed numbers; `format` is d, f, i, q or B; columns 0: one dimension. *data is its memory.
PyObject *core_array_new(char format, Py_ssize_t rows, Py_ssize_t columns, void **data);

// A copy of doubles.
PyObject *core_array_copy(const double *from, Py_ssize_t rows, Py_ssize_t columns);

// A read-only view of memory that lives as long as `base`.
PyObject *core_array_view(char format, Py_ssize_t rows, Py_ssize_t columns, const void *data, PyObject *base);
int core_array_init(PyObject *module);

// Numbers handed in: a contiguous buffer of `format` with `count` items (-1: any). None gives data NULL.
typedef struct core_numbers {
    Py_buffer view;
    const void *data;
    Py_ssize_t count;
} core_numbers;

bool core_numbers_get(PyObject *from, char format, Py_ssize_t count, const char *what, core_numbers *out);
void core_numbers_release(core_numbers *numbers);

// ---- progress reported to a Python function (core_teller.c)
typedef struct core_teller {
    PyObject *callback; // borrowed; NULL or None: nobody listens
    PyObject *pending;  // an exception that stopped the call in progress
} core_teller;

// From a call that has released the GIL; false: the call must stop.
bool core_tell(core_teller *teller, double fraction, const char *what);
bool core_tell_step(void *teller, double fraction, const char *what); // as pl_progress.step
bool core_tell_raise(core_teller *teller); // what is pending, raised; false when there is nothing
void core_keep_error(PyObject **pending);  // takes over the exception that is set, if there is one

// ---- models (core_model.c)
typedef struct core_model {
    PyObject_HEAD pl_model *model;
    PyObject *owner; // the Model whose robot this one shares, or NULL
    pl_progress progress;
    core_teller teller; // of the call in progress
    double last;        // s, when Python was asked last
    double spent;       // s, of the library in the last forward solve
    bool busy;
    atomic_bool stop; // set by another thread
} core_model;

// Brackets a call of the library without the GIL; `enter` refuses a second thread.
bool core_enter(core_model *m, PyObject *callback);
void core_leave(core_model *m);
#define CORE_RUN(m, expression)                                                                              \
    do {                                                                                                     \
        PyThreadState *core_save = PyEval_SaveThread();                                                      \
        expression;                                                                                          \
        PyEval_RestoreThread(core_save);                                                                     \
    } while (0)
// The exception that a callback or a signal left behind, raised again; false when there is none.
bool core_pending(core_model *m);

// Where the model stands: (report, answer, state), or NULL.
PyObject *core_standing(core_model *m, const pl_solve_report *report);
bool core_commands(core_model *m, PyObject *list, double **out); // malloc'ed; NULL list gives NULL
extern PyObject *core_model_type;
int core_model_init(PyObject *module);

// ---- meshes (core_mesh.c)
PyObject *core_mesh_new(const pl_mesh *mesh, PyObject *base);
int core_mesh_init(PyObject *module);

// ---- inverse kinematics and motions (core_motion.c), whole files and tables (core_tables.c)
PyObject *core_model_ik(PyObject *self, PyObject *args);
PyObject *core_model_follow(PyObject *self, PyObject *args);
PyObject *core_model_plan(PyObject *self, PyObject *args);
PyObject *core_model_run(PyObject *self, PyObject *args);
PyObject *core_model_task(PyObject *self, PyObject *args);
PyObject *core_model_compare(PyObject *self, PyObject *args);
PyObject *core_model_reduce(PyObject *self, PyObject *args);
PyObject *core_model_simulate(PyObject *self, PyObject *args); // core_simulate.c
PyObject *core_model_gravity(PyObject *self, PyObject *unused);

// ---- methods of models (core_derive.c)
PyObject *core_model_differentiate(PyObject *self, PyObject *args);
PyObject *core_model_sensitivity(PyObject *self, PyObject *list);
PyObject *core_model_adjoint(PyObject *self, PyObject *args);

// ---- methods of models (core_shape.c)
PyObject *core_model_body(PyObject *self, PyObject *unused);
PyObject *core_model_shape(PyObject *self, PyObject *unused);
PyObject *core_model_points(PyObject *self, PyObject *unused);
PyObject *core_model_line(PyObject *self, PyObject *arg);
PyObject *core_model_field(PyObject *self, PyObject *arg);
PyObject *core_model_reactions(PyObject *self, PyObject *unused);
PyObject *core_model_mesh_error(PyObject *self, PyObject *unused);
PyObject *core_model_judge(PyObject *self, PyObject *unused);
PyObject *core_model_examine(PyObject *self, PyObject *unused);
PyObject *core_model_actuator_faces(PyObject *self, PyObject *arg);
PyObject *core_model_region_materials(PyObject *self, PyObject *unused);
PyObject *core_model_body_points(PyObject *self, PyObject *args);

// ---- methods of models (core_record.c)
PyObject *core_model_record(PyObject *self, PyObject *unused);
PyObject *core_model_write(PyObject *self, PyObject *args);
PyObject *core_model_write_chain(PyObject *self, PyObject *args);
PyObject *core_model_write_series(PyObject *self, PyObject *args);
PyObject *core_model_read_state(PyObject *self, PyObject *arg);
PyObject *core_model_picture(PyObject *self, PyObject *args);

// ---- compliance and estimation (core_control.c)
PyObject *core_model_compliance(PyObject *self, PyObject *unused);
PyObject *core_model_estimate(PyObject *self, PyObject *args);
int core_motion_init(PyObject *module);

// ---- closed loops (core_loop.c), studies (core_study.c)
int core_loop_init(PyObject *module);
PyObject *core_study(PyObject *module, PyObject *args);

// ---- learned models (core_learn.c)
PyObject *core_model_sample(PyObject *self, PyObject *args);
PyObject *core_learn(PyObject *module, PyObject *args);
PyObject *core_adapt(PyObject *module, PyObject *args);

// ---- parameters from measured poses (core_poses.c)
PyObject *core_poses(PyObject *module, PyObject *args);
PyObject *core_text_number(PyObject *module, PyObject *args);
PyObject *core_text_set(PyObject *module, PyObject *args);
PyObject *core_measured(PyObject *module, PyObject *args);
extern PyMethodDef core_table_functions[];

#endif
