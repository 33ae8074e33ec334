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
// load(text, path, method, size, order, displacement, cache, time_limit, probe, share, callback)
static PyObject *model_load(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text, *path, *method, *probe;
    Py_ssize_t length;
    double size, time_limit;
    int order, displacement, cache;
    PyObject *share, *callback;
    if (!PyArg_ParseTuple(args, "s#zzdippdzOO:load", &text, &length, &path, &method, &size, &order,
                          &displacement, &cache, &time_limit, &probe, &share, &callback)) {
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
    return Py_BuildValue("{s:s,s:s,s:s,s:i,s:d,s:d,s:O,s:s,s:d,s:s,s:s}", "name", a->name, "kind",
                         pl_actuator_kind_name(a->kind), "drive", pl_drive_name(a->drive), "command",
                         a->command, "factor", a->factor, "rest", a->rest, "growth",
                         a->growth ? Py_True : Py_False, "effort_unit", pl_effort_unit(a->kind),
                         "effort_scale", pl_effort_scale(a->kind), "measure", pl_measure_name(a->kind),
                         "measure_unit", pl_measure_unit(a->kind));
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
                         "unit", pl_sensor_unit(kind), "scale", kind == PL_SENSOR_PRESSURE ? 1e-3 : 1.0);
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
static PyObject *model_report(const pl_statics_report *r)
{
    return Py_BuildValue("(isiiiidddddddddi)", (int)r->outcome, r->message, r->iterations, r->factorizations,
                         r->solves, r->increments, r->residual, r->residual_relative, r->step, r->seconds,
                         r->energy, r->load_reached, r->constraint_error, r->min_J, r->max_stretch,
                         r->negative_count);
}

static double *answer_put(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
    return to + count;
}

// All numbers of an answer in one row: commands, markers, rotations, sensors, efforts, measures, readings, 7
// per actuator (ratio, asked, reached, local low, local high, slack, growth), energy.
static PyObject *model_answer(const pl_model *model)
{
    const pl_model_info i = pl_model_get_info(model);
    const pl_model_answer a = pl_model_get_answer(model);
    const Py_ssize_t count = i.command_count + 12 * (Py_ssize_t)i.marker_count + i.sensor_count +
                             9 * (Py_ssize_t)i.actuator_count + i.reading_count + 1;
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
    *to = a.energy;
    return out;
}

PyObject *core_standing(core_model *m, const pl_statics_report *report)
{
    const pl_statics_report own = report ? *report : pl_model_get_report(m->model);
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

// fk(commands, callback)
static PyObject *model_fk(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    core_model *m = (core_model *)self;
    double *command;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "fk takes commands and a callback");
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
    pl_statics_report report;
    pl_error err = {0};
    pl_status status;
    const double begin = model_now();
    CORE_RUN(m, status = pl_model_fk(m->model, command, &report, &err));
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

// ---- derivatives
static PyObject *jacobian_report(const pl_jacobian_report *r)
{
    return Py_BuildValue("(iidOi)", r->factorizations, r->solves, r->residual,
                         r->one_sided ? Py_True : Py_False, r->negative_count);
}

// differentiate(parts, tolerance): a dictionary of the parts asked for, and a report.
static PyObject *model_differentiate(PyObject *self, PyObject *args)
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
static PyObject *model_sensitivity(PyObject *self, PyObject *list)
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
static PyObject *model_adjoint(PyObject *self, PyObject *args)
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

// ---- the shape
static PyObject *model_body(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    const pl_mesh *mesh = NULL;
    pl_error err = {0};
    if (!core_enter(m, NULL)) {
        return NULL;
    }
    const pl_status status = pl_model_body(m->model, &mesh, &err);
    core_leave(m);
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }
    return mesh ? core_mesh_new(mesh, self) : Py_NewRef(Py_None);
}

static PyObject *model_shape(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    const pl_mesh *mesh = NULL;
    pl_error err = {0};
    if (!core_enter(m, NULL)) {
        return NULL;
    }
    pl_status status = pl_model_body(m->model, &mesh, &err);
    PyObject *out = NULL;
    if (status == PL_OK && mesh) {
        void *data;
        out = core_array_new('d', pl_mesh_get(mesh).vertex_count, 3, &data);
        if (out) {
            pl_model_shape(m->model, data);
        }
    }
    core_leave(m);
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }
    return out || mesh ? out : Py_NewRef(Py_None);
}

static PyObject *model_points(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_model *model = ((core_model *)self)->model;
    return core_array_copy(pl_model_get_answer(model).point, pl_model_get_info(model).point_count, 3);
}

static PyObject *model_line(PyObject *self, PyObject *arg)
{
    const pl_model *model = ((core_model *)self)->model;
    const long i = PyLong_AsLong(arg);
    if (i == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (i < 0 || i >= pl_model_get_info(model).actuator_count) {
        return core_wrong("", "actuator %ld does not exist", i);
    }
    const int count = pl_model_line(model, (int)i, NULL, 0);
    void *data;
    PyObject *out = core_array_new('d', count, 3, &data);
    if (out) {
        pl_model_line(model, (int)i, data, count);
    }
    return out;
}

static PyObject *model_field(PyObject *self, PyObject *arg)
{
    core_model *m = (core_model *)self;
    const long f = PyLong_AsLong(arg);
    if (f == -1 && PyErr_Occurred()) {
        return NULL;
    }
    const pl_mesh *mesh = NULL;
    pl_error err = {0};
    if (f < 0 || f >= PL_FIELD_COUNT || !(pl_model_get_info(m->model).fields & (1u << f))) {
        return core_wrong("", "the model has no such field");
    }
    if (!core_enter(m, NULL)) {
        return NULL;
    }
    pl_status status = pl_model_body(m->model, &mesh, &err);
    PyObject *out = NULL;
    if (status == PL_OK) {
        const pl_mesh_view v = pl_mesh_get(mesh);
        const int components = pl_field_components((pl_field)f);
        void *data;
        out = core_array_new('d', pl_field_on_elements((pl_field)f) ? v.element_count : v.vertex_count,
                             components > 1 ? components : 0, &data);
        if (out) {
            CORE_RUN(m, status = pl_model_field(m->model, (pl_field)f, data, &err));
        }
    }
    core_leave(m);
    if (status != PL_OK) {
        Py_XDECREF(out);
        return core_raise(status, &err, NULL);
    }
    return out;
}

static PyObject *model_reactions(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    const int count = pl_model_get_info(m->model).support_count;
    void *data;
    PyObject *out = core_array_new('d', count, 6, &data);
    if (!out || count == 0 || !core_enter(m, NULL)) {
        return PyErr_Occurred() ? NULL : out;
    }
    pl_error err = {0};
    pl_status status;
    // a pl_reaction is six doubles
    CORE_RUN(m, status = pl_model_reactions(m->model, (pl_reaction *)data, &err));
    core_leave(m);
    if (status != PL_OK) {
        Py_DECREF(out);
        return core_raise(status, &err, NULL);
    }
    return out;
}

static PyObject *model_judge(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    pl_model_check check = {0};
    pl_error err = {0};
    pl_status status;
    if (!core_enter(m, NULL)) {
        return NULL;
    }
    CORE_RUN(m, status = pl_model_judge(m->model, &check, &err));
    core_leave(m);
    return status == PL_OK ? Py_BuildValue("(ddO)", check.residual, check.largest_force,
                                           check.inverted ? Py_True : Py_False)
                           : core_raise(status, &err, NULL);
}

static PyObject *model_examine(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    pl_findings *findings = pl_findings_create();
    pl_error err = {0};
    if (!findings || !core_enter(m, NULL)) {
        pl_findings_destroy(findings);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    pl_status status;
    const pl_robot *robot = pl_model_robot(m->model);
    CORE_RUN(m, status = robot ? pl_robot_examine(robot, findings, &err)
                               : pl_reduced_examine(m->model, findings, &err));
    core_leave(m);
    PyObject *out = status == PL_OK ? core_findings(findings) : core_raise(status, &err, NULL);
    pl_findings_destroy(findings);
    return out;
}

static PyObject *model_actuator_faces(PyObject *self, PyObject *arg)
{
    const pl_robot *robot = pl_model_robot(((core_model *)self)->model);
    const long i = PyLong_AsLong(arg);
    if (i == -1 && PyErr_Occurred()) {
        return NULL;
    }
    const int64_t *face = NULL;
    const int64_t count = robot && i >= 0 && i < pl_robot_actuator_count(robot)
                              ? pl_robot_actuator_faces(robot, (int)i, &face)
                              : 0;
    return core_array_view('q', (Py_ssize_t)count, 0, face, self);
}

static PyObject *model_region_materials(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_robot *robot = pl_model_robot(((core_model *)self)->model);
    const int count = robot ? pl_mesh_get(pl_robot_mesh(robot)).region_count : 0;
    PyObject *all = PyTuple_New(count);
    for (int i = 0; all && i < count; ++i) {
        const char *name = pl_robot_region_material(robot, i);
        PyTuple_SetItem(all, i, name ? PyUnicode_FromString(name) : Py_NewRef(Py_None));
    }
    return all;
}

// Body points by the name of a surface or region, or nearest to a line: body_points(name, from, to).
static PyObject *model_body_points(PyObject *self, PyObject *args)
{
    const pl_model *model = ((core_model *)self)->model;
    const char *name;
    double a[3], b[3];
    int32_t *point = NULL, count = 0;
    pl_error err = {0};
    if (!PyArg_ParseTuple(args, "z(ddd)(ddd):body_points", &name, &a[0], &a[1], &a[2], &b[0], &b[1], &b[2])) {
        return NULL;
    }
    const bool line = a[0] != b[0] || a[1] != b[1] || a[2] != b[2];
    const pl_status status = line ? pl_model_points_on_line(model, a, b, &point, &count, &err)
                                  : pl_model_points(model, name, &point, &count, &err);
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }
    void *data;
    PyObject *out = core_array_new('i', count, 0, &data);
    if (out && count > 0) {
        memcpy(data, point, (size_t)count * sizeof *point);
    }
    pl_mesh_free_indices(point);
    return out;
}

// ---- the record and files
static PyObject *model_record(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_model *m = (core_model *)self;
    const pl_record *record = NULL;
    pl_error err = {0};
    pl_status status;
    if (!core_enter(m, NULL)) {
        return NULL;
    }
    char *json = NULL, *head = NULL, *row = NULL, crossing[400] = "";
    CORE_RUN(m, status = pl_model_record(m->model, NULL, &record, &err));
    if (status == PL_OK) {
        json = pl_record_json(record, NULL);
        head = pl_record_csv_head(record);
        row = pl_record_csv_row(record);
        pl_record_crossing_text(record, crossing, sizeof crossing);
    }
    core_leave(m);
    PyObject *out = status != PL_OK       ? core_raise(status, &err, NULL)
                    : json && head && row ? Py_BuildValue("(ssss)", json, head, row, crossing)
                                          : PyErr_NoMemory();
    pl_file_free(json);
    pl_file_free(head);
    pl_file_free(row);
    return out;
}

// A series of one shape.
static pl_status core_write_series(pl_model *model, const char *path, pl_error *err)
{
    pl_series *series;
    pl_status status = pl_series_create(model, path, PL_FIELD_COUNT, &series, err);
    if (status == PL_OK) {
        status = pl_series_add(series, err);
    }
    if (status == PL_OK) {
        status = pl_series_finish(series, NULL, err);
    }
    pl_series_destroy(series);
    return status;
}

// write(path, kind, surface, color): kind is vtu, vtm, xdmf, obj, ply, glb, stl or state; `color` is the
// number of a field for surfaces, past the last: by region.
static PyObject *model_write(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    const char *path, *kind, *surface;
    int color;
    if (!PyArg_ParseTuple(args, "sszi:write", &path, &kind, &surface, &color) || !core_enter(m, NULL)) {
        return NULL;
    }
    pl_error err = {0};
    pl_status status = PL_OK;
    const pl_mesh *mesh = NULL;
    double *place = NULL;
    if (strcmp(kind, "vtu") == 0) {
        CORE_RUN(m, status = pl_model_write_vtu(m->model, path, &err));
    } else if (strcmp(kind, "vtm") == 0) {
        CORE_RUN(m, status = pl_model_write_vtm(m->model, path, &err));
    } else if (strcmp(kind, "xdmf") == 0) {
        CORE_RUN(m, status = core_write_series(m->model, path, &err));
    } else if (strcmp(kind, "stl") != 0 && strcmp(kind, "state") != 0) {
        const pl_field field = color >= 0 && color < PL_FIELD_COUNT ? (pl_field)color : PL_FIELD_COUNT;
        CORE_RUN(m, status = pl_model_write_surface(m->model, field, path, &err));
    } else if (strcmp(kind, "state") == 0) {
        status = pl_model_state_save(m->model, path, &err);
    } else {
        status = pl_model_body(m->model, &mesh, &err);
        place = mesh ? malloc(3 * (size_t)pl_mesh_get(mesh).vertex_count * sizeof *place + 1) : NULL;
        if (status == PL_OK && !place) {
            status = PL_BAD_INPUT;
            snprintf(err.text, sizeof err.text, "the model has no body to write");
        } else if (status == PL_OK) {
            pl_model_shape(m->model, place);
            CORE_RUN(m, status = pl_mesh_write_stl(mesh, surface, place, path, &err));
        }
        free(place);
    }
    core_leave(m);
    return status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
}

static PyObject *model_read_state(PyObject *self, PyObject *arg)
{
    core_model *m = (core_model *)self;
    const char *path = PyUnicode_AsUTF8AndSize(arg, NULL);
    pl_error err = {0};
    if (!path || !core_enter(m, NULL)) {
        return NULL;
    }
    const pl_status status = pl_model_state_load(m->model, path, &err);
    core_leave(m);
    return status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
}

// The polylines of all actuators; both arrays malloc'ed.
static bool picture_lines(const pl_model *model, double **line, int32_t **start, int *count)
{
    const int actuators = pl_model_get_info(model).actuator_count;
    int32_t points = 0, at = 0;
    for (int i = 0; i < actuators; ++i) {
        points += pl_model_line(model, i, NULL, 0);
    }
    *line = calloc(3 * (size_t)points + 1, sizeof **line);
    *start = calloc((size_t)actuators + 1, sizeof **start);
    *count = 0;
    for (int i = 0; *line && *start && i < actuators; ++i) {
        const int n = pl_model_line(model, i, *line + 3 * at, points - at);
        if (n > 0) {
            at += n;
            (*start)[++*count] = at;
        }
    }
    return *line && *start;
}

// picture(path, values, legend, title, view, width, height, edges, ghost, cut, cut_point)
static PyObject *model_picture(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    const char *path, *legend, *title, *view;
    PyObject *values;
    int width, height, edges, ghost;
    double n[3], p[3];
    if (!PyArg_ParseTuple(args, "sOzzziipp(ddd)(ddd):picture", &path, &values, &legend, &title, &view, &width,
                          &height, &edges, &ghost, &n[0], &n[1], &n[2], &p[0], &p[1], &p[2])) {
        return NULL;
    }
    pl_picture picture = pl_picture_default();
    pl_error err = {0};
    if (view && pl_picture_view(view, picture.view, &err) != PL_OK) {
        return core_raise(PL_BAD_INPUT, &err, NULL);
    }
    if (!core_enter(m, NULL)) {
        return NULL;
    }
    core_numbers value = {0};
    double *place = NULL, *line = NULL;
    int32_t *start = NULL;
    PyObject *out = NULL;
    pl_status status = pl_model_body(m->model, &picture.mesh, &err);
    if (status != PL_OK || !picture.mesh) {
        core_leave(m);
        return status != PL_OK ? core_raise(status, &err, NULL)
                               : core_wrong("", "the model has no body to draw");
    }
    const pl_mesh_view v = pl_mesh_get(picture.mesh);
    place = malloc(3 * (size_t)v.vertex_count * sizeof *place);
    if (core_numbers_get(values, 'd', v.vertex_count, "values", &value)) {
        if (!place || !picture_lines(m->model, &line, &start, &picture.line_count)) {
            PyErr_NoMemory();
        } else {
            pl_model_shape(m->model, place);
            picture.position = place;
            picture.ghost = ghost ? v.position : NULL;
            picture.vertex_value = value.data;
            picture.value_name = legend;
            picture.title = title;
            picture.width = width;
            picture.height = height;
            picture.wireframe = edges;
            picture.clip = n[0] != 0 || n[1] != 0 || n[2] != 0;
            memcpy(picture.clip_normal, n, sizeof n);
            memcpy(picture.clip_point, p, sizeof p);
            picture.line = line;
            picture.line_start = start;
            CORE_RUN(m, status = pl_picture_write(&picture, path, &err));
            out = status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
        }
    }
    core_leave(m);
    core_numbers_release(&value);
    free(place);
    free(line);
    free(start);
    return out;
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
    {"reset", model_reset, METH_NOARGS, "Back to the undeformed configuration."},
    {"move", model_move, METH_O, "Takes a state as its own, without a solve."},
    {"pending", model_take_pending, METH_NOARGS, "The exception that stopped the last call, or None."},
    {"stop", model_stop, METH_NOARGS, "Stops the call under way in another thread."},
    {"differentiate", model_differentiate, METH_VARARGS, "Derivatives with respect to the commands."},
    {"sensitivity", model_sensitivity, METH_O, "Derivatives with respect to parameters."},
    {"adjoint", model_adjoint, METH_VARARGS, "Gradient of a function of the results."},
    {"body", model_body, METH_NOARGS, "The mesh for drawing, or None."},
    {"shape", model_shape, METH_NOARGS, "Positions of its vertices, mm."},
    {"points", model_points, METH_NOARGS, "Positions of the body points, mm."},
    {"line", model_line, METH_O, "The polyline of an actuator, mm."},
    {"field", model_field, METH_O, "A field on vertices or elements."},
    {"reactions", model_reactions, METH_NOARGS, "Force (N) and moment (N mm) of every support."},
    {"judge", model_judge, METH_NOARGS, "Independent check: residual N, largest force N, inverted."},
    {"examine", model_examine, METH_NOARGS, "What looks wrong with the robot."},
    {"actuator_faces", model_actuator_faces, METH_O, "Faces a chamber or film acts on."},
    {"region_materials", model_region_materials, METH_NOARGS, "The material of every region."},
    {"body_points", model_body_points, METH_VARARGS, "Body points of a surface, region or line."},
    {"record", model_record, METH_NOARGS, "The record of the result: JSON, CSV head, CSV row, crossing."},
    {"write", model_write, METH_VARARGS, "Writes the shape or the state to a file."},
    {"read_state", model_read_state, METH_O, "Reads a state file."},
    {"picture", model_picture, METH_VARARGS, "Draws the shape to a PNG or SVG file."},
    {"costs", model_costs, METH_NOARGS, "Costs since the model was made."},
    {"ik", core_model_ik, METH_VARARGS, "Inverse kinematics."},
    {"follow", core_model_follow, METH_VARARGS, "Inverse kinematics along a path."},
    {"plan", core_model_plan, METH_VARARGS, "Commands of a workspace."},
    {"run", core_model_run, METH_VARARGS, "Solves at many commands."},
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
