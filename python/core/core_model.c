// Model: a pl_model. It belongs to one thread at a time, releases the GIL while the library works, and asks
// Python ten times per second whether to go on (signals, the progress function of the caller).
#include <stdio.h>
#include <time.h>
#include "core.h"

#define MODEL_ASK 0.05 // s between two questions to Python

PyObject *core_model_type;

static double model_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- progress and interruption
static bool model_step(void *user, double fraction, const char *what)
{
    core_model *m = user;
    if (atomic_load(&m->stop) || m->teller.pending) {
        return false;
    }

    const double now = model_now();
    if (now - m->last < MODEL_ASK) {
        return true;
    }
    m->last = now;

    return core_tell(&m->teller, fraction, what);
}

bool core_enter(core_model *m, PyObject *callback)
{
    if (m->busy || !m->model) {
        PyErr_SetString(PyExc_RuntimeError, "a model belongs to one thread at a time");
        return false;
    }

    m->busy = true;
    m->teller.callback = callback;
    m->last = model_now();
    atomic_store(&m->stop, false);
    Py_CLEAR(m->teller.pending);

    return true;
}

void core_leave(core_model *m)
{
    m->busy = false;
    m->teller.callback = NULL;
}

bool core_pending(core_model *m)
{
    return core_tell_raise(&m->teller);
}

static PyObject *model_take_pending(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    PyObject *pending = m->teller.pending;
    m->teller.pending = NULL;
    return pending ? pending : Py_NewRef(Py_None);
}

static PyObject *model_stop(PyObject *self, PyObject *unused)
{
    (void)unused;
    atomic_store(&((core_model *)self)->stop, true);
    return Py_NewRef(Py_None);
}

// ---- making one
// load(text, path, method, size, order, displacement, cache, time_limit, stop_at_limit, probe, share,
// callback)
static PyObject *model_load(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text, *path, *method, *probe;
    Py_ssize_t length;
    double size, time_limit;
    int order, displacement, cache, stop_at_limit;
    PyObject *share, *callback;
    if (!PyArg_ParseTuple(args, "s#zzdippdpzOO:load", &text, &length, &path, &method, &size, &order,
                          &displacement, &cache, &time_limit, &stop_at_limit, &probe, &share, &callback)) {
        return NULL;
    }

    if (share != Py_None && !PyObject_TypeCheck(share, (PyTypeObject *)core_model_type)) {
        PyErr_SetString(PyExc_TypeError, "share: expected a Model");
        return NULL;
    }

    core_model *m = PyObject_New(core_model, (PyTypeObject *)core_model_type);
    pl_findings *findings = m ? pl_findings_create() : NULL;
    if (!m) {
        return NULL;
    }
    m->model = NULL;
    m->owner = NULL;
    m->teller.callback = callback;
    m->teller.pending = NULL;
    m->last = model_now();
    m->spent = 0;
    m->busy = false;
    m->progress = (pl_progress){.step = model_step, .user = m};
    atomic_init(&m->stop, false);
    const pl_model_load_options options = {
        .load = {.mesher = pl_meshing_mesher(),
                 .progress = &m->progress,
                 .size = size,
                 .order = order,
                 .no_cache = !cache,
                 .probe = probe},
        .method = method,
        .displacement = displacement,
        .time_limit = time_limit,
        .stop_at_limit = stop_at_limit,
        .progress = m->progress,
        .robot = share != Py_None ? pl_model_robot(((core_model *)share)->model) : NULL};
    pl_error err = {0};
    pl_status status = PL_NO_MEMORY;
    if (findings) {
        CORE_RUN(m, status =
                        pl_model_load_text(text, (size_t)length, path, &options, &m->model, findings, &err));
    }

    m->teller.callback = NULL;
    PyObject *out = NULL;
    if (status == PL_OK) {
        m->owner = options.robot ? Py_NewRef(share) : NULL;
        PyObject *list = core_findings(findings);
        out = list ? Py_BuildValue("(ON)", (PyObject *)m, list) : NULL;
    } else if (!core_pending(m)) {
        core_raise(status, &err, findings);
    }

    pl_findings_destroy(findings);
    Py_DECREF((PyObject *)m);

    return out;
}

static void model_dealloc(PyObject *self)
{
    core_model *m = (core_model *)self;
    PyTypeObject *type = Py_TYPE(self);

    pl_model_destroy(m->model);
    Py_XDECREF(m->owner);
    Py_XDECREF(m->teller.pending);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

// ---- what it consists of
static PyObject *model_command_info(const pl_command_info *c)
{
    const double scale = pl_drive_scale(c->drive);
    return Py_BuildValue("{s:s,s:s,s:s,s:d,s:O,s:d,s:d,s:d,s:d,s:d}", "name", c->name, "drive",
                         pl_drive_name(c->drive), "unit", pl_drive_unit(c->drive), "scale", scale,
                         "has_range", c->has_range ? Py_True : Py_False, "low", c->span[0] / scale, "high",
                         c->span[1] / scale, "rest", c->rest / scale, "rate", c->rate / scale, "dimension",
                         (double)pl_drive_dimension(c->drive));
}

static PyObject *model_actuator_info(const pl_actuator_info *a)
{
    const pl_actuator_kind_info *kind = pl_actuator_kind_get(a->kind);
    return Py_BuildValue("{s:s,s:s,s:s,s:i,s:d,s:d,s:O,s:s,s:d,s:s,s:s,s:d,s:s}", "name", a->name, "kind",
                         kind->name, "drive", pl_drive_name(a->drive), "command", a->command, "factor",
                         a->factor, "rest", a->rest / kind->measure_scale, "growth",
                         a->growth ? Py_True : Py_False, "effort_unit", kind->effort_unit, "effort_scale",
                         kind->effort_scale, "measure", kind->measure, "measure_unit", kind->measure_unit,
                         "measure_scale", kind->measure_scale, "displacement",
                         kind->sign > 0 ? "shortening" : kind->measure);
}

static PyObject *model_list(int count, PyObject *(*one)(const pl_model_info *, int),
                            const pl_model_info *info)
{
    PyObject *all = PyList_New(count);
    for (int i = 0; all && i < count; ++i) {
        PyObject *item = one(info, i);
        if (!item) {
            Py_DECREF(all);
            return NULL;
        }

        PyList_SetItem(all, i, item);
    }

    return all;
}

static PyObject *info_command(const pl_model_info *info, int i)
{
    return model_command_info(&info->command[i]);
}
static PyObject *info_actuator(const pl_model_info *info, int i)
{
    return model_actuator_info(&info->actuator[i]);
}
static PyObject *info_marker(const pl_model_info *info, int i)
{
    const double *p = info->marker_at + 3 * i;
    return Py_BuildValue("{s:s,s:(ddd)}", "name", info->marker_name[i], "rest", p[0], p[1], p[2]);
}
static PyObject *info_sensor(const pl_model_info *info, int i)
{
    const pl_sensor_kind kind = info->sensor_kind[i];
    // internal units are mm, mm^3 and MPa; pressures are shown in kPa
    return Py_BuildValue("{s:s,s:s,s:s,s:d}", "name", info->sensor_name[i], "kind", pl_sensor_kind_name(kind),
                         "unit", pl_sensor_unit(kind), "scale", pl_sensor_scale(kind));
}
static PyObject *info_support(const pl_model_info *info, int i)
{
    return PyUnicode_FromString(info->support_name[i]);
}
static PyObject *info_reading(const pl_model_info *info, int i)
{
    const pl_reading_info *r = &info->reading[i];
    return Py_BuildValue("(ssss)", r->group, r->name, r->quantity, r->unit);
}

static PyObject *model_materials(const pl_robot *robot)
{
    const int count = robot ? pl_robot_material_count(robot) : 0;
    PyObject *all = PyList_New(count);

    for (int i = 0; all && i < count; ++i) {
        pl_material material = pl_robot_material(robot, i);
        PyObject *one = Py_BuildValue("{s:s,s:s}", "name", pl_robot_material_name(robot, i), "model",
                                      pl_material_model_name(material.model));
        for (int c = 0; one && c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
            const pl_material_constant constant = (pl_material_constant)c;

            if (pl_material_has(material.model, constant)) {
                PyObject *value = PyFloat_FromDouble(*pl_material_at(&material, constant));
                PyDict_SetItemString(one, pl_material_constant_name(constant), value);
                Py_XDECREF(value);
            }
        }

        if (!one) {
            Py_DECREF(all);
            return NULL;
        }

        PyList_SetItem(all, i, one);
    }

    return all;
}

static PyObject *model_info(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_model *model = ((core_model *)self)->model;
    const pl_model_info i = pl_model_get_info(model);
    return Py_BuildValue(
        "{s:s,s:s,s:s,s:K,s:K,s:i,s:i,s:I,s:O,s:d,s:i,s:n,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "name", i.name,
        "kind", i.kind, "method", i.method, "hash", (unsigned long long)i.hash, "robot_hash",
        (unsigned long long)i.robot_hash, "vertices", i.vertex_count, "elements", i.element_count, "fields",
        i.fields, "approximate_derivative", i.approximate_derivative ? Py_True : Py_False, "size", i.size,
        "points", i.point_count, "state_size", (Py_ssize_t)pl_model_state_size(model), "commands",
        model_list(i.command_count, info_command, &i), "actuators",
        model_list(i.actuator_count, info_actuator, &i), "markers",
        model_list(i.marker_count, info_marker, &i), "sensors", model_list(i.sensor_count, info_sensor, &i),
        "supports", model_list(i.support_count, info_support, &i), "readings",
        model_list(i.reading_count, info_reading, &i), "materials", model_materials(pl_model_robot(model)));
}

// ---- commands by name, with units or in the unit of the command
static bool command_unknown(const pl_model_info *info, const char *name)
{
    char list[600] = "";
    const char *known[64];
    int kept = 0;

    for (int i = 0; i < info->command_count; ++i) {
        const size_t at = strlen(list);
        snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "its commands are ", info->command[i].name);
        if (kept < 64) {
            known[kept++] = info->command[i].name;
        }
    }

    if (info->command_count == 0) {
        snprintf(list, sizeof list, "it has no commands: give it actuators");
    }

    const char *near = pl_nearest_word(name, known, kept);
    core_wrong(list, "the robot has no command '%s'%s%s%s", name, near ? "; did you mean '" : "",
               near ? near : "", near ? "'?" : "");

    return false;
}

static bool command_value(const pl_command_info *c, PyObject *given, double *out)
{
    if (given == Py_None) {
        *out = NAN;
        return true;
    }

    if (PyUnicode_Check(given)) {
        const char *text = PyUnicode_AsUTF8AndSize(given, NULL);
        pl_error err = {0};
        if (!text) {
            return false;
        }
        if (pl_quantity_parse(text, pl_drive_dimension(c->drive), out, &err) != PL_OK) {
            core_wrong("", "%s=%s: %s", c->name, text, err.text);
            return false;
        }

        return true;
    }

    const double value = PyFloat_AsDouble(given);
    if (value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(given), "__name__");
        const char *word = type ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
        core_wrong("", "%s: expected a number in %s or a text with a unit, found %s", c->name,
                   pl_drive_unit(c->drive), word ? word : "something else");
        Py_XDECREF(type);
        return false;
    }

    if (!isfinite(value)) {
        core_wrong("", "%s is %g: expected a finite number, or None to leave it idle", c->name, value);
        return false;
    }

    *out = value * pl_drive_scale(c->drive);

    return true;
}

static bool command_range(const pl_command_info *c, double value)
{
    const double slack = 1e-12 * (fabs(c->range[0]) + fabs(c->range[1]));
    if (!c->has_range || isnan(value) || (value >= c->range[0] - slack && value <= c->range[1] + slack)) {
        return true;
    }

    const double scale = pl_drive_scale(c->drive);
    const char *unit = pl_drive_unit(c->drive);
    core_wrong("add beyond_range=True to try it anyway", "%s is %g %s, outside its range of %g to %g %s",
               c->name, value / scale, unit, c->range[0] / scale, c->range[1] / scale, unit);

    return false;
}

// commands(dict, base, beyond_range): the values in internal units as a list; `base` (a list or None) has the
// values of the commands that are not named, NAN: idle.
static PyObject *model_commands(PyObject *self, PyObject *args)
{
    PyObject *named, *base;
    int beyond;

    if (!PyArg_ParseTuple(args, "OOp:commands", &named, &base, &beyond)) {
        return NULL;
    }
    if (!PyDict_Check(named) || (base != Py_None && !PyList_Check(base))) {
        PyErr_SetString(PyExc_TypeError, "commands: expected a dictionary and a list or None");
        return NULL;
    }

    const pl_model *model = ((core_model *)self)->model;
    const pl_model_info info = pl_model_get_info(model);
    if (base != Py_None && PyList_Size(base) != info.command_count) {
        PyErr_SetString(PyExc_ValueError, "commands: the base has another number of values");
        return NULL;
    }

    PyObject *list = PyList_New(info.command_count);
    for (int i = 0; list && i < info.command_count; ++i) {
        PyObject *value = base != Py_None ? Py_NewRef(PyList_GetItem(base, i)) : PyFloat_FromDouble(NAN);
        PyList_SetItem(list, i, value);
    }

    PyObject *key, *given;
    Py_ssize_t at = 0;
    while (list && PyDict_Next(named, &at, &key, &given)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
        const int i = name ? pl_model_find_command(model, name) : -1;
        double value = NAN;
        bool good = name != NULL;
        if (!name && !PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "commands are named by texts");
        }
        good = good && (i >= 0 || command_unknown(&info, name)) &&
               command_value(&info.command[i], given, &value) &&
               (beyond || command_range(&info.command[i], value));
        if (!good) {
            Py_DECREF(list);
            return NULL;
        }

        PyList_SetItem(list, i, PyFloat_FromDouble(value));
    }

    return list;
}

bool core_commands(core_model *m, PyObject *list, double **out)
{
    *out = NULL;
    if (!list || list == Py_None) {
        return true;
    }

    const int count = pl_model_get_info(m->model).command_count;
    if (!PyList_Check(list) || PyList_Size(list) != count) {
        PyErr_Format(PyExc_TypeError, "expected a list of %d commands", count);
        return false;
    }

    *out = malloc(((size_t)count + 1) * sizeof **out);
    if (!*out) {
        PyErr_NoMemory();
        return false;
    }

    for (int i = 0; i < count; ++i) {
        (*out)[i] = PyFloat_AsDouble(PyList_GetItem(list, i));
        if ((*out)[i] == -1 && PyErr_Occurred()) {
            free(*out);
            *out = NULL;
            return false;
        }
    }

    return true;
}

// ---- where it stands
static PyObject *model_report(const pl_solve_report *r)
{
    return Py_BuildValue("(isiiiidddddddddidd)", (int)r->outcome, r->message, r->iterations,
                         r->factorizations, r->solves, r->increments, r->residual, r->residual_relative,
                         r->step, r->seconds, r->energy, r->load_reached, r->constraint_error, r->min_J,
                         r->max_stretch, r->negative_count, r->buckling_load, r->limit_load);
}

static double *answer_put(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
    return to + count;
}

// All numbers of an answer in one row: commands, markers, rotations, sensors, efforts, measures, readings, 7
// per actuator (ratio, asked, reached, local low, local high, slack, growth), energy, forces at the markers,
// the error of the model: source, confidence, one per marker.
static PyObject *model_answer(const pl_model *model)
{
    const pl_model_info i = pl_model_get_info(model);
    const pl_model_answer a = pl_model_get_answer(model);
    const Py_ssize_t count = i.command_count + 16 * (Py_ssize_t)i.marker_count + i.sensor_count +
                             9 * (Py_ssize_t)i.actuator_count + i.reading_count + 3;
    void *data;
    PyObject *out = core_array_new('d', count, 0, &data);

    if (!out) {
        return NULL;
    }

    double *to = answer_put(data, a.command, i.command_count);
    to = answer_put(to, a.marker, 3 * i.marker_count);
    to = answer_put(to, a.rotation, 9 * i.marker_count);
    to = answer_put(to, a.sensor, i.sensor_count);
    to = answer_put(to, a.effort, i.actuator_count);
    to = answer_put(to, a.measure, i.actuator_count);
    to = answer_put(to, a.reading, i.reading_count);

    for (int k = 0; k < i.actuator_count; ++k) {
        const pl_actuator_state *s = &a.actuator[k];
        const double row[7] = {s->ratio,      s->asked, s->reached, s->local_low,
                               s->local_high, s->slack, s->growth};
        to = answer_put(to, row, 7);
    }

    to = answer_put(to, &a.energy, 1);
    to = answer_put(to, a.force, 3 * i.marker_count);
    const double error[2] = {(double)a.error.source, a.error.confidence};
    to = answer_put(to, error, 2);
    answer_put(to, a.error.marker, i.marker_count);

    return out;
}

PyObject *core_standing(core_model *m, const pl_solve_report *report)
{
    const pl_solve_report own = report ? *report : pl_model_get_report(m->model);
    const size_t size = pl_model_state_size(m->model);
    void *data;
    PyObject *block = core_array_new('d', (Py_ssize_t)size, 0, &data);
    PyObject *answer = block ? model_answer(m->model) : NULL;
    PyObject *said = answer ? model_report(&own) : NULL;

    if (!said) {
        Py_XDECREF(block);
        Py_XDECREF(answer);
        return NULL;
    }

    pl_model_pack(m->model, data);

    return Py_BuildValue("(NNN)", said, answer, block);
}

// fk(commands, callback[, seconds]): relaxed, or held that long
static PyObject *model_fk(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    core_model *m = (core_model *)self;
    double *command;

    if (count != 2 && count != 3) {
        PyErr_SetString(PyExc_TypeError, "fk takes commands, a callback and a time");
        return NULL;
    }

    const double held = count == 3 ? PyFloat_AsDouble(args[2]) : 0;
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (!core_commands(m, args[0], &command)) {
        return NULL;
    }
    if (!command) {
        PyErr_SetString(PyExc_TypeError, "fk: expected a list of commands");
        return NULL;
    }

    if (!core_enter(m, args[1])) {
        free(command);
        return NULL;
    }

    pl_solve_report report;
    pl_error err = {0};
    pl_status status;
    const double begin = model_now();
    pl_creep_report creep;
    CORE_RUN(m, status = count == 3 ? pl_model_hold(m->model, command, held, &creep, &report, &err)
                                    : pl_model_fk(m->model, command, &report, &err));
    m->spent = model_now() - begin;
    core_leave(m);
    free(command);
    if (status != PL_OK && status != PL_INTERRUPTED) {
        return core_raise(status, &err, NULL);
    }

    return core_standing(m, &report);
}

// set_forces(forces): 3 per marker, N, or None
static PyObject *model_set_forces(PyObject *self, PyObject *given)
{
    core_model *m = (core_model *)self;
    core_numbers force;

    if (!core_numbers_get(given, 'd', 3 * pl_model_get_info(m->model).marker_count, "forces", &force)) {
        return NULL;
    }

    pl_error err = {0};
    const pl_status status = pl_model_set_forces(m->model, force.data, &err);
    core_numbers_release(&force);

    return status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
}

static PyObject *model_at(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    if (!core_enter(m, NULL)) {
        return NULL;
    }

    PyObject *out = core_standing(m, NULL);
    core_leave(m);

    return out;
}

static PyObject *model_reset(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    if (!core_enter(m, NULL)) {
        return NULL;
    }
    CORE_RUN(m, pl_model_reset(m->model));
    core_leave(m);

    return Py_NewRef(Py_None);
}

static PyObject *model_move(PyObject *self, PyObject *given)
{
    core_model *m = (core_model *)self;
    core_numbers block;

    if (!core_numbers_get(given, 'd', -1, "state", &block)) {
        return NULL;
    }
    if (!core_enter(m, NULL)) {
        core_numbers_release(&block);
        return NULL;
    }

    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_model_unpack(m->model, block.data, (size_t)block.count, &err));
    core_leave(m);
    core_numbers_release(&block);

    return status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
}

static PyObject *model_costs(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_model_costs c = pl_model_get_costs(((core_model *)self)->model);
    return Py_BuildValue("(LLLLL)", (long long)c.fk_calls, (long long)c.derivative_calls,
                         (long long)c.iterations, (long long)c.factorizations, (long long)c.solves);
}

static PyMethodDef model_methods[] = {
    {"info", model_info, METH_NOARGS, "What the model consists of."},
    {"commands", model_commands, METH_VARARGS, "Named commands as a list in internal units."},
    {"fk", (PyCFunction)(void (*)(void))model_fk, METH_FASTCALL, "Solves; returns (report, answer, state)."},
    {"set_forces", model_set_forces, METH_O, "Forces at the markers of the solves that follow, N."},
    {"at", model_at, METH_NOARGS, "Where the model stands: (report, answer, state)."},
    {"reset", model_reset, METH_NOARGS,
     "Back to the undeformed configuration, without anything kept of earlier solves."},
    {"move", model_move, METH_O, "Takes a state as its own, without a solve."},
    {"pending", model_take_pending, METH_NOARGS, "The exception that stopped the last call, or None."},
    {"stop", model_stop, METH_NOARGS, "Stops the call in progress in another thread."},
    {"differentiate", core_model_differentiate, METH_VARARGS, "Derivatives with respect to the commands."},
    {"sensitivity", core_model_sensitivity, METH_O, "Derivatives with respect to parameters."},
    {"adjoint", core_model_adjoint, METH_VARARGS, "Gradient of a function of the results."},
    {"body", core_model_body, METH_NOARGS, "The mesh for drawing, or None."},
    {"shape", core_model_shape, METH_NOARGS, "Positions of its vertices, mm."},
    {"points", core_model_points, METH_NOARGS, "Positions of the body points, mm."},
    {"line", core_model_line, METH_O, "The polyline of an actuator, mm."},
    {"field", core_model_field, METH_O, "A field on vertices or elements."},
    {"reactions", core_model_reactions, METH_NOARGS, "Force (N) and moment (N mm) of every support."},
    {"mesh_error", core_model_mesh_error, METH_NOARGS,
     "Error of the motion because of the mesh, and its factor."},
    {"judge", core_model_judge, METH_NOARGS, "Independent check: residual N, largest force N, inverted."},
    {"examine", core_model_examine, METH_NOARGS, "What looks wrong with the robot."},
    {"actuator_faces", core_model_actuator_faces, METH_O, "Faces a chamber or film acts on."},
    {"region_materials", core_model_region_materials, METH_NOARGS, "The material of every region."},
    {"body_points", core_model_body_points, METH_VARARGS, "Body points of a surface, region or line."},
    {"record", core_model_record, METH_NOARGS,
     "The record of the result: JSON, CSV head, CSV row, crossing."},
    {"write", core_model_write, METH_VARARGS, "Writes the shape or the state to a file."},
    {"write_chain", core_model_write_chain, METH_VARARGS, "Writes a chain of rigid links."},
    {"write_series", core_model_write_series, METH_VARARGS, "Writes a series of shapes or a film."},
    {"read_state", core_model_read_state, METH_O, "Reads a state file."},
    {"picture", core_model_picture, METH_VARARGS, "Draws the shape to a PNG or SVG file."},
    {"costs", model_costs, METH_NOARGS, "Costs since the model was made."},
    {"ik", core_model_ik, METH_VARARGS, "Inverse kinematics."},
    {"follow", core_model_follow, METH_VARARGS, "Inverse kinematics along a path."},
    {"plan", core_model_plan, METH_VARARGS, "Commands of a workspace."},
    {"run", core_model_run, METH_VARARGS, "Solves at many commands."},
    {"simulate", core_model_simulate, METH_VARARGS, "A motion in time."},
    {"gravity", core_model_gravity, METH_NOARGS, "Gravity, mm/s^2."},
    {"task", core_model_task, METH_VARARGS, "Runs a task file."},
    {"compare", core_model_compare, METH_VARARGS, "Compares methods."},
    {"reduce", core_model_reduce, METH_VARARGS, "Fits a reduced model."},
    {"sample", core_model_sample, METH_VARARGS, "Samples into a data set."},
    {"compliance", core_model_compliance, METH_NOARGS, "How efforts and forces move the robot."},
    {"estimate", core_model_estimate, METH_VARARGS, "The state that fits measured numbers."},
    {0}};
static PyObject *model_spent(PyObject *self, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble(((core_model *)self)->spent);
}

static PyGetSetDef model_members[] = {
    {"spent", model_spent, NULL, "Seconds in the library of the last forward solve.", NULL}, {0}};
static PyType_Slot model_slots[] = {{Py_tp_doc, "A model of the library; one thread at a time."},
                                    {Py_tp_getset, model_members},
                                    {Py_tp_dealloc, model_dealloc},
                                    {Py_tp_methods, model_methods},
                                    {0, NULL}};
static PyType_Spec model_spec = {.name = "pliant._core.Model",
                                 .basicsize = sizeof(core_model),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = model_slots};
static PyMethodDef model_functions[] = {{"load", model_load, METH_VARARGS, "Loads a robot from text."}, {0}};

int core_model_init(PyObject *module)
{
    core_model_type = PyType_FromSpec(&model_spec);
    if (!core_model_type || PyModule_AddObjectRef(module, "Model", core_model_type) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(module, model_functions);
}
