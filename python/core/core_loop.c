// Closed loops: the controller and estimator of a robot file, the simulated robot of its `plant` block, and
// the margin of a loop. Commands and readings are in internal units here.
#include "core.h"

static PyObject *plant_type, *loop_type;

// What the blocks `controller`, `estimator` and `plant` of a robot file say, for a model of that robot.
static bool loop_setup(const pl_model *model, const char *text, Py_ssize_t length, const char *path,
                       pl_control_setup *out)
{
    pl_robot_document *document = NULL;
    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    pl_status status =
        findings ? pl_robot_document_parse(text, (size_t)length, path, &document, &err) : PL_NO_MEMORY;
    if (status == PL_OK) {
        status = pl_control_from_document(document, model, out, findings, &err);
    }
    if (status != PL_OK) {
        core_raise(status, &err, findings);
    }
    pl_robot_document_destroy(document);
    pl_findings_destroy(findings);

    return status == PL_OK;
}

static core_model *loop_model(PyObject *given)
{
    if (!PyObject_TypeCheck(given, (PyTypeObject *)core_model_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a Model");
        return NULL;
    }
    return (core_model *)given;
}

// ---- the simulated robot
typedef struct core_plant {
    PyObject_HEAD pl_plant *plant;
    pl_control_setup setup; // which the plant reads
    PyObject *model;        // whose model it moves
    double period;          // s
} core_plant;

// plant(model, text, path, period, seed, motion); a period of 0 and a seed of -1: as in the file
static PyObject *plant_make(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *given;
    const char *text, *path;
    Py_ssize_t length;
    double period;
    int seed, motion;
    if (!PyArg_ParseTuple(args, "Os#zdip:plant", &given, &text, &length, &path, &period, &seed, &motion)) {
        return NULL;
    }

    core_model *m = loop_model(given);
    core_plant *p = m ? PyObject_New(core_plant, (PyTypeObject *)plant_type) : NULL;
    if (!p) {
        return NULL;
    }
    p->plant = NULL;
    p->setup = (pl_control_setup){0};
    p->model = Py_NewRef(given);
    if (!loop_setup(m->model, text, length, path, &p->setup)) {
        Py_DECREF((PyObject *)p);
        return NULL;
    }

    // a file without the blocks has the period of the default controller
    const double usual =
        p->setup.controller.period > 0 ? p->setup.controller.period : pl_controller_options_default().period;
    p->period = period > 0 ? period : usual;
    pl_error err = {0};
    const pl_status status =
        pl_plant_from_setup(m->model, &p->setup, p->period, seed, motion, &p->plant, &err);
    if (status != PL_OK) {
        core_raise(status, &err, NULL);
        Py_DECREF((PyObject *)p);
        return NULL;
    }

    return (PyObject *)p;
}

// step(commands, callback): time, sensors, markers, commands that act, solved
static PyObject *plant_step(PyObject *self, PyObject *args)
{
    core_plant *p = (core_plant *)self;
    core_model *m = (core_model *)p->model;
    PyObject *list, *callback;
    double *command;
    if (!PyArg_ParseTuple(args, "OO:step", &list, &callback) || !core_commands(m, list, &command)) {
        return NULL;
    }
    if (!command) {
        PyErr_SetString(PyExc_TypeError, "step: expected a list of commands");
        return NULL;
    }
    if (!core_enter(m, callback)) {
        free(command);
        return NULL;
    }

    pl_plant_reading r;
    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_plant_step(p->plant, command, &r, &err));
    core_leave(m);
    free(command);
    if (core_pending(m)) {
        return NULL;
    }
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }

    const pl_model_info i = pl_model_get_info(m->model);
    return Py_BuildValue("(dNNNO)", r.time, core_array_copy(r.sensor, i.sensor_count, 0),
                         core_array_copy(r.marker, i.marker_count, 3),
                         core_array_copy(r.command, i.command_count, 0), r.solved ? Py_True : Py_False);
}

static PyObject *plant_period(PyObject *self, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble(((core_plant *)self)->period);
}

static void plant_dealloc(PyObject *self)
{
    core_plant *p = (core_plant *)self;
    PyTypeObject *type = Py_TYPE(self);

    pl_plant_destroy(p->plant);
    pl_control_clear(&p->setup);
    Py_XDECREF(p->model);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

// ---- the loop
typedef struct core_loop {
    PyObject_HEAD pl_loop *loop;
    pl_control_setup setup;
    PyObject *model;
    bool controls_marker;
} core_loop;

// Keys that a robot file does not have.
typedef struct loop_asked {
    const char *controller; // NULL: as in the file
    double period;          // s; 0: as in the file
    int marker;             // -1: as in the file, or the first
    int control_marker, estimator;
} loop_asked;

static pl_status loop_open(core_loop *s, const loop_asked *asked, const pl_effort_bound *bound, int bounds,
                           pl_error *err)
{
    pl_controller_options *c = &s->setup.controller;

    if (asked->controller) {
        c->kind = pl_control_kind_find(asked->controller);
        if (c->kind >= PL_CONTROL_KIND_COUNT) {
            core_wrong("", "controller %s: expected open, pi, track or impedance", asked->controller);
            return PL_BAD_INPUT;
        }
    }

    c->period = asked->period > 0 ? asked->period : c->period;
    const pl_loop_setup setup = {.marker = asked->marker,
                                 .control_marker = asked->control_marker,
                                 .estimate = asked->estimator,
                                 .bound = bound,
                                 .bound_count = bounds};

    s->controls_marker = asked->control_marker || s->setup.marker >= 0 || c->kind == PL_CONTROL_IMPEDANCE;

    return pl_loop_from_setup(((core_model *)s->model)->model, &s->setup, &setup, &s->loop, err);
}

static pl_effort_bound *loop_bounds(PyObject *list, int *count)
{
    const Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
    pl_effort_bound *out = n >= 0 ? calloc((size_t)n + 1, sizeof *out) : NULL;
    if (!out) {
        PyErr_SetString(PyExc_TypeError, "loop: expected a list of bounds");
        return NULL;
    }

    for (Py_ssize_t k = 0; k < n; ++k) {
        if (!CORE_ITEM(PyList_GetItem(list, k), "idd", &out[k].actuator, &out[k].low, &out[k].high)) {
            free(out);
            return NULL;
        }
    }

    *count = (int)n;

    return out;
}

// loop(model, text, path, controller, period, marker, control_marker, estimator, bounds)
static PyObject *loop_make(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *given, *list;
    const char *text, *path;
    Py_ssize_t length;
    loop_asked asked;
    if (!PyArg_ParseTuple(args, "Os#zzdippO:loop", &given, &text, &length, &path, &asked.controller,
                          &asked.period, &asked.marker, &asked.control_marker, &asked.estimator, &list)) {
        return NULL;
    }

    int bounds = 0;
    core_model *m = loop_model(given);
    pl_effort_bound *bound = m ? loop_bounds(list, &bounds) : NULL;
    core_loop *s = bound ? PyObject_New(core_loop, (PyTypeObject *)loop_type) : NULL;
    if (s) {
        s->loop = NULL;
        s->setup = (pl_control_setup){0};
        s->model = Py_NewRef(given);
        pl_error err = {0};
        pl_status status = loop_setup(m->model, text, length, path, &s->setup) ? PL_OK : PL_BAD_INPUT;
        status = status == PL_OK ? loop_open(s, &asked, bound, bounds, &err) : status;
        if (status != PL_OK) {
            if (!PyErr_Occurred()) {
                core_raise(status, &err, NULL);
            }
            Py_DECREF((PyObject *)s);
            s = NULL;
        }
    }
    free(bound);

    return (PyObject *)s;
}

// goal(target, callback): the distance of the nearest point that the model reaches, mm
static PyObject *loop_goal(PyObject *self, PyObject *args)
{
    core_loop *s = (core_loop *)self;
    core_model *m = (core_model *)s->model;
    double target[3], distance = NAN;
    PyObject *callback;
    if (!PyArg_ParseTuple(args, "(ddd)O:goal", &target[0], &target[1], &target[2], &callback) ||
        !core_enter(m, callback)) {
        return NULL;
    }

    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_loop_goal(s->loop, target, &distance, &err));
    core_leave(m);
    if (core_pending(m)) {
        return NULL;
    }

    return status == PL_OK ? PyFloat_FromDouble(distance) : core_raise(status, &err, NULL);
}

static PyObject *loop_report(const core_loop *s, const pl_loop_report *r)
{
    const pl_model_info i = pl_model_get_info(((core_model *)s->model)->model);
    const int outputs = pl_loop_output_count(s->loop);
    PyObject *rejected = PyList_New(i.sensor_count);
    for (int k = 0; rejected && k < i.sensor_count; ++k) {
        PyList_SetItem(rejected, k, PyBool_FromLong(r->rejected[k]));
    }

    return Py_BuildValue(
        "{s:O,s:z,s:i,s:d,s:O,s:O,s:O,s:i,s:i,s:i,s:N,s:N,s:N,s:N,s:N,s:N,s:d,s:i,s:N}", "held",
        r->control.held ? Py_True : Py_False, "why", r->control.held ? r->control.why : NULL, "saturated",
        r->control.saturated, "shortfall", r->control.shortfall, "estimated",
        r->estimated ? Py_True : Py_False, "measured", r->measured ? Py_True : Py_False, "contradicted",
        r->contradicted ? Py_True : Py_False, "outliers", r->outliers, "missing", r->missing, "frozen",
        r->frozen, "rejected", rejected, "marker", core_array_copy(r->marker, i.marker_count, 3), "aim",
        core_array_copy(r->aim, 3, 0), "set_point", core_array_copy(r->set_point, outputs, 0), "output",
        core_array_copy(r->output, outputs, 0), "force",
        r->force ? core_array_copy(r->force, s->setup.estimator.force_count, 3) : Py_NewRef(Py_None), "error",
        r->error, "bounded", r->bounded, "command",
        core_array_copy(pl_loop_command(s->loop), i.command_count, 0));
}

// tick(sensors, callback): the report, with the next command
static PyObject *loop_tick(PyObject *self, PyObject *args)
{
    core_loop *s = (core_loop *)self;
    core_model *m = (core_model *)s->model;
    PyObject *given, *callback;
    core_numbers sensor;
    if (!PyArg_ParseTuple(args, "OO:tick", &given, &callback) ||
        !core_numbers_get(given, 'd', pl_model_get_info(m->model).sensor_count, "sensors", &sensor)) {
        return NULL;
    }
    if (!core_enter(m, callback)) {
        core_numbers_release(&sensor);
        return NULL;
    }

    pl_loop_report report;
    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_loop_tick(s->loop, sensor.data, &report, &err));
    core_leave(m);
    core_numbers_release(&sensor);
    if (core_pending(m)) {
        return NULL;
    }

    return status == PL_OK ? loop_report(s, &report) : core_raise(status, &err, NULL);
}

static PyObject *loop_command(PyObject *self, void *unused)
{
    (void)unused;
    const core_loop *s = (core_loop *)self;
    const pl_model_info i = pl_model_get_info(((core_model *)s->model)->model);
    return core_array_copy(pl_loop_command(s->loop), i.command_count, 0);
}

static PyObject *loop_period(PyObject *self, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble(((core_loop *)self)->setup.controller.period);
}

static PyObject *loop_kind(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(pl_control_kind_name(((core_loop *)self)->setup.controller.kind));
}

// Indices of the markers whose forces are estimated.
static PyObject *loop_force_markers(PyObject *self, void *unused)
{
    (void)unused;
    const core_loop *s = (core_loop *)self;
    const int count = s->setup.estimator.force_count;
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; ++i) {
        PyList_SetItem(list, i, PyLong_FromLong(s->setup.estimator.force_marker[i]));
    }

    return list;
}

static PyObject *loop_controls_marker(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_loop *)self)->controls_marker);
}

static void loop_dealloc(PyObject *self)
{
    core_loop *s = (core_loop *)self;
    PyTypeObject *type = Py_TYPE(self);

    pl_loop_destroy(s->loop);
    pl_control_clear(&s->setup);
    Py_XDECREF(s->model);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

// ---- the margin
// margin(model, text, path, kp, ki, delay, lag, period): NAN: as in the file
static PyObject *loop_margin(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *given;
    const char *text, *path;
    Py_ssize_t length;
    double kp, ki, delay, lag, period;
    if (!PyArg_ParseTuple(args, "Os#zddddd:margin", &given, &text, &length, &path, &kp, &ki, &delay, &lag,
                          &period)) {
        return NULL;
    }

    core_model *m = loop_model(given);
    pl_control_setup setup = {0};
    if (!m || !loop_setup(m->model, text, length, path, &setup)) {
        return NULL;
    }

    // track and impedance are proportional
    const pl_controller_options *c = &setup.controller;
    const bool pi = c->kind == PL_CONTROL_PI || c->kind == PL_CONTROL_OPEN;
    kp = isnan(kp) ? (pi ? c->kp : c->gain) : kp;
    ki = isnan(ki) ? (pi ? c->ki : 0) : ki;
    delay = isnan(delay) ? setup.delay : delay;
    lag = isnan(lag) ? setup.lag : lag;
    period = isnan(period) ? c->period : period;
    pl_control_clear(&setup);
    if (!(delay >= 0) || !(lag >= 0) || !(period > 0)) {
        return core_wrong("",
                          "control: delay %g s and lag %g s must not be negative, period %g s must be "
                          "positive",
                          delay, lag, period);
    }

    pl_response r;
    pl_error err = {0};
    const int ticks = (int)fmin(delay / period + 0.5, 1e9);
    const pl_status status = pl_response_compute(kp, ki, ticks, lag / period, &r, &err);
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }

    return Py_BuildValue("{s:O,s:O,s:d,s:i,s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "stable",
                         r.stable ? Py_True : Py_False, "damped", r.damped ? Py_True : Py_False, "overshoot",
                         r.overshoot, "settled", r.settled, "sensitivity", r.sensitivity, "gamma", r.gamma,
                         "kp", kp, "ki", ki, "delay", delay, "lag", lag, "period", period);
}

static PyMethodDef plant_methods[] = {{"step", plant_step, METH_VARARGS, "One period."}, {0}};
static PyGetSetDef plant_members[] = {{"period", plant_period, NULL, "s between two steps.", NULL}, {0}};
static PyType_Slot plant_slots[] = {{Py_tp_doc, "A simulated robot; one thread at a time."},
                                    {Py_tp_methods, plant_methods},
                                    {Py_tp_getset, plant_members},
                                    {Py_tp_dealloc, plant_dealloc},
                                    {0, NULL}};
static PyType_Spec plant_spec = {.name = "pliant._core.Plant",
                                 .basicsize = sizeof(core_plant),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = plant_slots};

static PyMethodDef loop_methods[] = {{"goal", loop_goal, METH_VARARGS, "A new goal for the marker."},
                                     {"tick", loop_tick, METH_VARARGS, "Readings to the next command."},
                                     {0}};
static PyGetSetDef loop_members[] = {
    {"period", loop_period, NULL, "s between two ticks.", NULL},
    {"kind", loop_kind, NULL, "Of the controller.", NULL},
    {"command", loop_command, NULL, "The last command.", NULL},
    {"force_markers", loop_force_markers, NULL, "Markers whose forces are estimated.", NULL},
    {"controls_marker", loop_controls_marker, NULL, "Whether a marker is controlled instead of the sensors.",
     NULL},
    {0}};
static PyType_Slot loop_slots[] = {{Py_tp_doc, "A closed loop; one thread at a time."},
                                   {Py_tp_methods, loop_methods},
                                   {Py_tp_getset, loop_members},
                                   {Py_tp_dealloc, loop_dealloc},
                                   {0, NULL}};
static PyType_Spec loop_spec = {.name = "pliant._core.Loop",
                                .basicsize = sizeof(core_loop),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = loop_slots};
static PyMethodDef loop_functions[] = {{"plant", plant_make, METH_VARARGS, "A simulated robot."},
                                       {"loop", loop_make, METH_VARARGS, "A closed loop."},
                                       {"margin", loop_margin, METH_VARARGS, "The stability of a PI loop."},
                                       {"study", core_study, METH_VARARGS, "Results over variants."},
                                       {0}};

int core_loop_init(PyObject *module)
{
    plant_type = PyType_FromSpec(&plant_spec);
    loop_type = PyType_FromSpec(&loop_spec);
    return plant_type && loop_type && PyModule_AddObjectRef(module, "Plant", plant_type) == 0 &&
                   PyModule_AddObjectRef(module, "Loop", loop_type) == 0
               ? PyModule_AddFunctions(module, loop_functions)
               : -1;
}
