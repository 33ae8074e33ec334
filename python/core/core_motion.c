// Inverse kinematics, paths, sweeps, workspaces and tasks of a Model, and Motion, the results along a path.
#include <stdio.h>
#include "core.h"

#define MOTION_GOALS 32

// ---- Motion: a pl_motion
typedef struct core_motion {
    PyObject_HEAD pl_motion motion;
    PyObject *model; // keeps its names alive
} core_motion;

static PyObject *motion_type;

static core_motion *motion_new(core_model *m, int marker)
{
    core_motion *out = PyObject_New(core_motion, (PyTypeObject *)motion_type);
    if (out) {
        out->model = Py_NewRef((PyObject *)m);
        pl_motion_init(&out->motion, m->model, marker);
    }

    return out;
}

static void motion_dealloc(PyObject *self)
{
    core_motion *m = (core_motion *)self;
    PyTypeObject *type = Py_TYPE(self);
    pl_motion_clear(&m->motion);
    Py_DECREF(m->model);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *motion_arrays(PyObject *self, PyObject *unused)
{
    (void)unused;
    const pl_motion *m = &((core_motion *)self)->motion;
    const Py_ssize_t n = m->count;
    void *reached, *outcome, *cost;
    PyObject *reaches = core_array_new('B', n, 0, &reached), *outcomes = core_array_new('i', n, 0, &outcome);
    PyObject *costs = core_array_new('q', n, 2, &cost);

    if (!reaches || !outcomes || !costs) {
        Py_XDECREF(reaches);
        Py_XDECREF(outcomes);
        Py_XDECREF(costs);
        return NULL;
    }

    for (int i = 0; i < m->count; ++i) {
        ((uint8_t *)reached)[i] = m->reached[i];
        ((int32_t *)outcome)[i] = (int32_t)m->outcome[i];
        ((int64_t *)cost)[2 * i] = m->factorizations[i];
        ((int64_t *)cost)[2 * i + 1] = m->solves[i];
    }

    const int commands = m->info.command_count, actuators = m->info.actuator_count;

    return Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "time",
        core_array_view('d', n, 0, m->time, self), "target", core_array_view('d', n, 3, m->target, self),
        "position", core_array_view('d', n, 3, m->position, self), "distance",
        core_array_view('d', n, 0, m->distance, self), "command",
        core_array_view('d', n * commands, 0, m->command, self), "effort",
        core_array_view('d', n * actuators, 0, m->effort, self), "measure",
        core_array_view('d', n * actuators, 0, m->measure, self), "reached", reaches, "outcome", outcomes,
        "costs", costs, "model_error", core_array_view('d', n, 0, m->model_error, self), "confidence",
        core_array_view('d', n, 0, m->confidence, self));
}

// write(path, kind, title): kind is csv, pressures, gcode or html.
static PyObject *motion_write(PyObject *self, PyObject *args)
{
    core_motion *m = (core_motion *)self;
    const char *path, *kind, *title;

    if (!PyArg_ParseTuple(args, "sss:write", &path, &kind, &title)) {
        return NULL;
    }

    const pl_report_def def = {.title = title};
    pl_error err = {0};
    pl_findings *changed = pl_findings_create(); // rows that the machine cannot follow as they are
    const pl_status status =
        strcmp(kind, "html") == 0 ? pl_motion_write_html(&m->motion, &def, path, &err)
        : strcmp(kind, "gcode") == 0
            ? pl_motion_write_gcode(&m->motion, ((core_model *)m->model)->model, path, changed, &err)
        : strcmp(kind, "pressures") == 0 ? pl_motion_write_pressures(&m->motion, path, changed, &err)
                                         : pl_motion_write_csv(&m->motion, path, &err);
    int warned = 0;
    for (int i = 0; changed && status == PL_OK && warned == 0 && i < pl_findings_count(changed); ++i) {
        warned = PyErr_WarnFormat(PyExc_UserWarning, 1, "%s: %s", path, pl_findings_at(changed, i)->text);
    }
    pl_findings_destroy(changed);
    if (warned != 0) {
        return NULL; // warnings are errors to the caller
    }

    return status == PL_OK ? Py_NewRef(Py_None) : core_raise(status, &err, NULL);
}

static PyMethodDef motion_methods[] = {
    {"arrays", motion_arrays, METH_NOARGS, "The results, one row per waypoint, in internal units."},
    {"write", motion_write, METH_VARARGS, "Writes a table, G-code or a report."},
    {0}};
static PyType_Slot motion_slots[] = {{Py_tp_doc, "Results along a path."},
                                     {Py_tp_dealloc, motion_dealloc},
                                     {Py_tp_methods, motion_methods},
                                     {0, NULL}};
static PyType_Spec motion_spec = {.name = "pliant._core.Motion",
                                  .basicsize = sizeof(core_motion),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = motion_slots};

// ---- goals and limits handed in
typedef struct motion_goals {
    pl_objective objective[MOTION_GOALS];
    int count;
    core_numbers point[MOTION_GOALS], place[MOTION_GOALS], share[MOTION_GOALS];
    pl_ik_options options;
    core_numbers low, high, rate, hold, sample_command, sample_marker;
    pl_effort_bound effort[MOTION_GOALS];
    pl_samples samples;
} motion_goals;

static void goals_release(motion_goals *g)
{
    for (int i = 0; i < MOTION_GOALS; ++i) {
        core_numbers_release(&g->point[i]);
        core_numbers_release(&g->place[i]);
        core_numbers_release(&g->share[i]);
    }

    core_numbers *const all[] = {&g->low,  &g->high,           &g->rate,
                                 &g->hold, &g->sample_command, &g->sample_marker};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        core_numbers_release(all[i]);
    }
}

// A goal: (kind, index, weight, tolerance, axes, numbers, point, place, share), with numbers = target 3, axis
// 3, rotation 9, value.
static bool goal_read(const pl_model_info *info, PyObject *item, motion_goals *g)
{
    int kind, index, axes;
    double weight, tolerance;
    PyObject *numbers, *point, *place, *share;

    if (g->count == MOTION_GOALS) {
        core_wrong("", "at most %d goals can be given", MOTION_GOALS);
        return false;
    }

    if (!CORE_ITEM(item, "iiddiOOOO", &kind, &index, &weight, &tolerance, &axes, &numbers, &point, &place,
                   &share)) {
        return false;
    }

    if (kind < 0 || kind >= PL_OBJECTIVE_KIND_COUNT) {
        core_wrong("", "goal %d does not exist", kind);
        return false;
    }

    const int i = g->count++;
    core_numbers number;
    if (!core_numbers_get(numbers, 'd', 16, "goal", &number)) {
        return false;
    }

    pl_objective *o = &g->objective[i];
    *o = pl_objective_default((pl_objective_kind)kind);
    const double *n = number.data;
    o->index = index;
    o->weight = weight;
    o->tolerance = tolerance;

    for (int k = 0; k < 3; ++k) {
        o->axes[k] = axes >> k & 1;
        o->target[k] = n[k];
        o->axis[k] = n[3 + k];
    }

    memcpy(o->rotation, n + 6, sizeof o->rotation);
    o->value = n[15];
    core_numbers_release(&number);
    const Py_ssize_t commands = kind == PL_OBJECTIVE_COMMAND ? info->command_count : -1;
    if (!core_numbers_get(point, 'i', -1, "points of a goal", &g->point[i]) ||
        !core_numbers_get(place, 'd', commands >= 0 ? commands : 3 * g->point[i].count, "places of a goal",
                          &g->place[i]) ||
        !core_numbers_get(share, 'd', g->point[i].count, "weights of a goal", &g->share[i])) {
        return false;
    }

    for (Py_ssize_t k = 0; k < g->point[i].count; ++k) {
        const int32_t at = ((const int32_t *)g->point[i].data)[k];
        if (at < 0 || at >= info->point_count) {
            core_wrong("", "body point %d does not exist", (int)at);
            return false;
        }
    }

    if (kind == PL_OBJECTIVE_SHAPE && !g->place[i].data) {
        core_wrong("", "a shape needs places");
        return false;
    }

    o->point = g->point[i].data;
    o->point_count = (int32_t)g->point[i].count;
    o->place = g->place[i].data;
    o->share = g->share[i].data;

    return true;
}

static double option_number(PyObject *dict, const char *name, double otherwise)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    return value && value != Py_None ? PyFloat_AsDouble(value) : otherwise;
}

static bool goals_options(core_model *m, const pl_model_info *info, PyObject *dict, motion_goals *g)
{
    pl_ik_options *o = &g->options;
    *o = pl_ik_options_default();
    o->progress = m->progress;
    const int method = (int)option_number(dict, "method", o->method);
    o->least_motion = option_number(dict, "least_motion", o->least_motion);
    o->iteration_limit = (int)option_number(dict, "iterations", o->iteration_limit);
    o->time_limit = option_number(dict, "time_limit", o->time_limit);
    o->start_limit = (int)option_number(dict, "starts", o->start_limit);
    o->period = option_number(dict, "period", o->period);
    if (PyErr_Occurred()) {
        return false;
    }
    if (method < 0 || method >= PL_IK_METHOD_COUNT) {
        core_wrong("", "expected newton, gradient or descent");
        return false;
    }

    o->method = (pl_ik_method)method;
    const Py_ssize_t n = info->command_count;
    if (!core_numbers_get(PyDict_GetItemString(dict, "low"), 'd', n, "low", &g->low) ||
        !core_numbers_get(PyDict_GetItemString(dict, "high"), 'd', n, "high", &g->high) ||
        !core_numbers_get(PyDict_GetItemString(dict, "rate"), 'd', n, "rate", &g->rate) ||
        !core_numbers_get(PyDict_GetItemString(dict, "hold"), 'B', n, "hold", &g->hold)) {
        return false;
    }

    o->low = g->low.data;
    o->high = g->high.data;
    o->rate = g->rate.data;
    _Static_assert(sizeof(bool) == 1, "a bool is a byte");
    o->hold = g->hold.data;
    PyObject *efforts = PyDict_GetItemString(dict, "efforts");
    const Py_ssize_t count = efforts && efforts != Py_None ? PySequence_Size(efforts) : 0;

    for (Py_ssize_t i = 0; i < count && i < MOTION_GOALS; ++i) {
        PyObject *item = PySequence_GetItem(efforts, i);
        pl_effort_bound *b = &g->effort[i];
        const bool good = CORE_ITEM(item, "idd", &b->actuator, &b->low, &b->high);
        Py_XDECREF(item);
        if (!good) {
            return false;
        }
    }

    o->effort = g->effort;
    o->effort_count = (int)(count < MOTION_GOALS ? count : MOTION_GOALS);
    if (!core_numbers_get(PyDict_GetItemString(dict, "sample_command"), 'd', -1, "samples",
                          &g->sample_command) ||
        !core_numbers_get(PyDict_GetItemString(dict, "sample_marker"), 'd', -1, "samples",
                          &g->sample_marker)) {
        return false;
    }

    if (g->sample_command.data && g->sample_marker.data && n > 0) {
        g->samples =
            (pl_samples){(int)(g->sample_command.count / n), g->sample_command.data, g->sample_marker.data};
        if (g->sample_command.count != g->samples.count * n ||
            g->sample_marker.count != (Py_ssize_t)g->samples.count * 3 * info->marker_count) {
            core_wrong("", "the samples belong to another robot");
            return false;
        }
    }

    return true;
}

static bool goals_read(core_model *m, PyObject *list, PyObject *dict, motion_goals *g)
{
    memset(g, 0, sizeof *g);
    const pl_model_info info = pl_model_get_info(m->model);
    if (!PyList_Check(list) || !PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "expected a list of goals and a dictionary of options");
        return false;
    }

    bool good = true;
    for (Py_ssize_t i = 0; good && i < PyList_Size(list); ++i) {
        good = goal_read(&info, PyList_GetItem(list, i), g);
    }
    good = good && goals_options(m, &info, dict, g);
    if (!good) {
        goals_release(g);
    }

    return good;
}

// ---- inverse kinematics
static PyObject *ik_report(const pl_ik_report *r)
{
    PyObject *active = PyList_New(r->active_count);
    for (int i = 0; active && i < r->active_count; ++i) {
        const pl_ik_active *a = &r->active[i];
        PyList_SetItem(active, i,
                       Py_BuildValue("(iisOdd)", (int)a->kind, a->index, a->name,
                                     a->upper ? Py_True : Py_False, a->value, a->multiplier));
    }

    return Py_BuildValue("(isddddNiidLLLidd)", (int)r->outcome, r->message, r->distance, r->error,
                         r->objective, r->gradient, active, r->iterations, r->starts, r->seconds,
                         (long long)r->costs.fk_calls, (long long)r->costs.factorizations,
                         (long long)r->costs.solves, r->agreed, r->model_error, r->confidence);
}

// ik(goals, options, start, callback): (report, deviations, standing)
PyObject *core_model_ik(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    PyObject *list, *dict, *start_list, *callback, *out = NULL;
    motion_goals g;
    double *start;

    if (!PyArg_ParseTuple(args, "OOOO:ik", &list, &dict, &start_list, &callback) ||
        !core_commands(m, start_list, &start)) {
        return NULL;
    }

    if (!goals_read(m, list, dict, &g) || !core_enter(m, callback)) {
        free(start);
        return NULL;
    }

    pl_ik *ik = NULL;
    pl_ik_report report;
    pl_error err = {0};
    pl_status status = pl_ik_create(m->model, g.objective, g.count, &g.options, &ik, &err);
    if (status == PL_OK) {
        pl_ik_set_samples(ik, g.samples.count > 0 ? &g.samples : NULL);
        CORE_RUN(m, status = pl_ik_solve(ik, start, &report, &err));
    }

    core_leave(m);
    if (status != PL_OK && status != PL_INTERRUPTED) {
        if (!core_pending(m)) {
            core_raise(status, &err, NULL);
        }
    } else {
        PyObject *away = PyList_New(g.count);
        for (int i = 0; away && i < g.count; ++i) {
            PyList_SetItem(away, i, PyFloat_FromDouble(pl_ik_deviation(ik, i)));
        }
        PyObject *standing = away ? core_standing(m, NULL) : NULL;
        out = standing ? Py_BuildValue("(NNN)", ik_report(&report), away, standing) : NULL;
    }

    pl_ik_destroy(ik);
    goals_release(&g);
    free(start);

    return out;
}

// ---- paths
typedef struct follow_run {
    core_model *m;
    motion_goals g;
    core_numbers target[MOTION_GOALS];
    int objective[MOTION_GOALS], width[MOTION_GOALS], target_count;
    pl_motion *motion;
    pl_status status;
    pl_error err;
    int count;
} follow_run;

static pl_status follow_set(void *user, pl_ik *ik, int i, pl_error *err)
{
    follow_run *f = user;
    pl_status status = PL_OK;

    for (int k = 0; status == PL_OK && k < f->target_count; ++k) {
        status = pl_ik_set_target(ik, f->objective[k],
                                  (const double *)f->target[k].data + (Py_ssize_t)f->width[k] * i, err);
    }

    return status;
}

static bool follow_record(void *user, const pl_waypoint *w)
{
    follow_run *f = user;
    if (w->ik->outcome == PL_IK_STOPPED) {
        return false;
    }

    const double *target = f->width[0] == 3 ? (const double *)f->target[0].data + 3 * w->index : NULL;
    f->status = pl_motion_add(f->motion, w->time, target, &w->answer, w->ik, &f->err);
    return f->status == PL_OK &&
           f->m->progress.step(f->m->progress.user, (double)(w->index + 1) / f->count, "path");
}

static bool follow_targets(follow_run *f, PyObject *list)
{
    const Py_ssize_t n = PySequence_Size(list);
    f->count = -1;
    for (Py_ssize_t k = 0; k < n && k < MOTION_GOALS; ++k) {
        PyObject *item = PySequence_GetItem(list, k), *numbers;
        const int at = f->target_count;
        const bool good = CORE_ITEM(item, "iiO", &f->objective[at], &f->width[at], &numbers) &&
                          core_numbers_get(numbers, 'd', -1, "path", &f->target[at]);
        Py_XDECREF(item);
        if (!good) {
            return false;
        }
        ++f->target_count;
        const int want = f->objective[at] < 0 || f->objective[at] >= f->g.count              ? 0
                         : f->g.objective[f->objective[at]].kind == PL_OBJECTIVE_ORIENTATION ? 9
                                                                                             : 3;
        const int rows = f->width[at] > 0 ? (int)(f->target[at].count / f->width[at]) : 0;

        if (want == 0 || f->width[at] != want || (f->count >= 0 && rows != f->count) || rows == 0) {
            core_wrong("", "path: expected the same number of rows of %d numbers for every goal",
                       want ? want : 3);
            return false;
        }

        f->count = rows;
    }

    if (f->target_count == 0) {
        core_wrong("", "path: there are no points");
        return false;
    }

    return true;
}

// follow(goals, options, targets, marker, extrapolate, free_start, period, start, callback):
// (Motion, report, standing)
PyObject *core_model_follow(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    PyObject *list, *dict, *targets, *start, *callback, *out = NULL;
    int marker, extrapolate, free_start;
    double period;

    if (!PyArg_ParseTuple(args, "OOOippdOO:follow", &list, &dict, &targets, &marker, &extrapolate,
                          &free_start, &period, &start, &callback)) {
        return NULL;
    }

    const pl_model_info info = pl_model_get_info(m->model);
    if (marker < 0 || marker >= info.marker_count) {
        return core_wrong("", "marker %d does not exist", marker);
    }

    follow_run *f = calloc(1, sizeof *f);
    if (!f) {
        return PyErr_NoMemory();
    }
    f->m = m;
    core_motion *motion = NULL;
    if (!goals_read(m, list, dict, &f->g)) {
        free(f);
        return NULL;
    }

    double *command = NULL;
    if (follow_targets(f, targets) && core_commands(m, start, &command) && (motion = motion_new(m, marker)) &&
        core_enter(m, callback)) {
        f->motion = &motion->motion;
        pl_ik *ik = NULL;
        pl_follow_report report = {0};
        pl_follow_options options = pl_follow_options_default();
        options.set = follow_set;
        options.record = follow_record;
        options.user = f;
        options.extrapolate = extrapolate;
        options.free_start = free_start;
        options.period = period;
        options.samples = f->g.samples.count > 0 ? &f->g.samples : NULL;
        pl_error err = {0};
        pl_status status = PL_OK;
        pl_solve_report fk;
        if (command) {
            CORE_RUN(m, status = pl_model_fk(m->model, command, &fk, &err));
        }
        if (status == PL_OK) {
            status = pl_ik_create(m->model, f->g.objective, f->g.count, &f->g.options, &ik, &err);
        }
        if (status == PL_OK) {
            CORE_RUN(m, status = pl_follow(ik, NULL, f->count, &options, &report, &err));
        }
        pl_ik_destroy(ik);
        core_leave(m);
        if (f->status != PL_OK || (status != PL_OK && status != PL_INTERRUPTED)) {
            core_raise(f->status != PL_OK ? f->status : status, f->status != PL_OK ? &f->err : &err, NULL);
        } else {
            PyObject *standing = core_standing(m, NULL);
            out = standing
                      ? Py_BuildValue("(O(iiOdddiiLLLd)N)", (PyObject *)motion, report.count, report.reached,
                                      report.stopped ? Py_True : Py_False, report.largest_distance,
                                      report.largest_reached, report.largest_step, report.largest_step_at,
                                      report.largest_step_command, (long long)report.costs.fk_calls,
                                      (long long)report.costs.factorizations, (long long)report.costs.solves,
                                      report.seconds, standing)
                      : NULL;
        }
    }

    for (int k = 0; k < MOTION_GOALS; ++k) {
        core_numbers_release(&f->target[k]);
    }
    goals_release(&f->g);
    free(command);
    free(f);
    Py_XDECREF((PyObject *)motion);

    return out;
}

// ---- many commands
// plan(order, count, steps, low, high): commands of a workspace, one row per sample, internal units
PyObject *core_model_plan(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    int order, count;
    PyObject *steps, *low, *high;
    core_numbers s = {0}, l = {0}, h = {0};

    if (!PyArg_ParseTuple(args, "iiOOO:plan", &order, &count, &steps, &low, &high)) {
        return NULL;
    }

    const int n = pl_model_get_info(m->model).command_count;
    PyObject *out = NULL;
    if (core_numbers_get(steps, 'i', n, "steps", &s) && core_numbers_get(low, 'd', n, "low", &l) &&
        core_numbers_get(high, 'd', n, "high", &h)) {
        const pl_workspace_def def = {.order = order ? PL_WORKSPACE_HALTON : PL_WORKSPACE_GRID,
                                      .count = count,
                                      .ends = true,
                                      .steps = s.data,
                                      .low = l.data,
                                      .high = h.data};
        pl_workspace_plan plan = {0};
        pl_error err = {0};
        const pl_status status = pl_workspace_plan_init(m->model, &def, &plan, &err);
        out = status == PL_OK ? core_array_copy(plan.command, plan.count, plan.command_count)
                              : core_raise(status, &err, NULL);
        pl_workspace_plan_clear(&plan);
    }

    core_numbers_release(&s);
    core_numbers_release(&l);
    core_numbers_release(&h);

    return out;
}

typedef struct many_run {
    core_model *m;
    int count, done;
    double *block; // per sample: an answer as in model_answer without actuator states, and the energy
    int32_t *outcome;
    Py_ssize_t width;
    double *jacobian; // per sample: markers by commands; NULL: not wanted
    double *state;    // per sample: the packed state; NULL: not wanted
    pl_status status; // of the derivatives
    pl_error err;
} many_run;

// Derivatives of the marker positions at the sample; NAN where it is not solved.
static bool many_differentiate(many_run *r, const pl_sample *s, const pl_model_info *i)
{
    const Py_ssize_t count = 3 * (Py_ssize_t)i->marker_count * i->command_count;
    double *to = r->jacobian + count * s->index;
    pl_model_derivative d = {0};
    pl_jacobian_report report;

    if (s->fk->outcome == PL_SOLVED) {
        r->status = pl_model_differentiate(r->m->model, PL_PART_MARKER, 0, &d, &report, &r->err);
    }
    for (Py_ssize_t k = 0; k < count; ++k) {
        to[k] = d.marker ? d.marker[k] : NAN;
    }

    return r->status == PL_OK;
}

static bool many_record(void *user, const pl_sample *s)
{
    many_run *r = user;
    if (s->fk->outcome == PL_STOPPED) {
        return false;
    }

    const pl_model_info i = pl_model_get_info(r->m->model);
    double *to = r->block + r->width * s->index;
    const struct {
        const double *from;
        int count;
    } part[] = {{s->answer.command, i.command_count},     {s->answer.marker, 3 * i.marker_count},
                {s->answer.rotation, 9 * i.marker_count}, {s->answer.sensor, i.sensor_count},
                {s->answer.effort, i.actuator_count},     {s->answer.measure, i.actuator_count},
                {s->answer.reading, i.reading_count}};
    for (size_t k = 0; k < sizeof part / sizeof *part; ++k) {
        memcpy(to, part[k].from, (size_t)part[k].count * sizeof *to);
        to += part[k].count;
    }

    *to++ = s->answer.energy;
    memcpy(to, s->answer.error.marker, (size_t)i.marker_count * sizeof *to);
    r->outcome[s->index] = (int32_t)s->fk->outcome;
    if (r->state) {
        pl_model_pack(r->m->model, r->state + pl_model_state_size(r->m->model) * (size_t)s->index);
    }
    if (r->jacobian && !many_differentiate(r, s, &i)) {
        return false;
    }
    r->done = s->index + 1;

    return r->m->progress.step(r->m->progress.user, (double)r->done / r->count, "samples");
}

// run(commands, jacobian, states, callback): (number done, values, outcomes, Jacobians or None, packed states
// or None); values have one row per sample: commands reached, markers, rotations, sensors, efforts, measures,
// readings, energy, errors of the model (per marker)
PyObject *core_model_run(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    PyObject *given, *callback;
    int wanted, kept;
    core_numbers command;

    if (!PyArg_ParseTuple(args, "OppO:run", &given, &wanted, &kept, &callback) ||
        !core_numbers_get(given, 'd', -1, "commands", &command)) {
        return NULL;
    }

    const pl_model_info i = pl_model_get_info(m->model);
    many_run r = {.m = m};
    r.width = i.command_count + 13 * (Py_ssize_t)i.marker_count + i.sensor_count +
              2 * (Py_ssize_t)i.actuator_count + i.reading_count + 1;
    r.count = i.command_count > 0 ? (int)(command.count / i.command_count) : 0;
    if (!command.data || (Py_ssize_t)r.count * i.command_count != command.count) {
        core_numbers_release(&command);
        return core_wrong("", "commands: expected rows of %d numbers", i.command_count);
    }

    void *block, *outcome, *slopes = NULL, *state = NULL;
    const Py_ssize_t columns = 3 * (Py_ssize_t)i.marker_count * i.command_count;
    PyObject *blocks = core_array_new('d', r.count, r.width, &block);
    PyObject *outcomes = blocks ? core_array_new('i', r.count, 0, &outcome) : NULL;
    PyObject *jacobians =
        wanted && columns > 0 ? core_array_new('d', r.count, columns, &slopes) : Py_NewRef(Py_None);
    const Py_ssize_t size = (Py_ssize_t)pl_model_state_size(m->model);
    PyObject *states = kept ? core_array_new('d', r.count, size, &state) : Py_NewRef(Py_None);

    if (!outcomes || !jacobians || !states || !core_enter(m, callback)) {
        Py_XDECREF(blocks);
        Py_XDECREF(outcomes);
        Py_XDECREF(jacobians);
        Py_XDECREF(states);
        core_numbers_release(&command);
        return NULL;
    }

    r.block = block;
    r.outcome = outcome;
    r.jacobian = slopes;
    r.state = state;
    const pl_workspace_plan plan = {
        .count = r.count, .command_count = i.command_count, .command = (double *)(uintptr_t)command.data};
    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_workspace_run(m->model, &plan, 0, many_record, &r, &err));
    core_leave(m);
    core_numbers_release(&command);
    const bool failed = status != PL_OK && status != PL_INTERRUPTED;

    if (failed || r.status != PL_OK) {
        Py_DECREF(blocks);
        Py_DECREF(outcomes);
        Py_DECREF(jacobians);
        Py_DECREF(states);
        return core_pending(m) ? NULL : core_raise(failed ? status : r.status, failed ? &err : &r.err, NULL);
    }

    return Py_BuildValue("(iNNNN)", r.done, blocks, outcomes, jacobians, states);
}

// ---- tasks
typedef struct task_run {
    core_model *m;
    motion_goals g;
    pl_task_file *file;
    pl_task_job *job;
    pl_motion *motion;
    int *stage_of;
    int stage;
    pl_status status;
    pl_error err;
} task_run;

static bool task_record(void *user, const pl_waypoint *step)
{
    task_run *t = user;
    if (step->ik->outcome == PL_IK_STOPPED) {
        return false;
    }
    t->stage_of[t->motion->count] = t->stage;
    t->status = pl_motion_add(t->motion, t->motion->count, NULL, &step->answer, step->ik, &t->err);
    return t->status == PL_OK &&
           t->m->progress.step(t->m->progress.user, -1, pl_task_file_stage_name(t->file, t->stage));
}

static PyObject *task_result(task_run *t, core_motion *motion)
{
    PyObject *stages = PyList_New(t->motion->count);
    for (int i = 0; stages && i < t->motion->count; ++i) {
        PyList_SetItem(stages, i, PyUnicode_FromString(pl_task_file_stage_name(t->file, t->stage_of[i])));
    }
    PyObject *standing = stages ? core_standing(t->m, NULL) : NULL;
    return standing
               ? Py_BuildValue("(ONzN)", (PyObject *)motion, stages, pl_task_file_name(t->file), standing)
               : NULL;
}

// task(path, options, marker, callback): (Motion, stage of every step, name, standing)
PyObject *core_model_task(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    const char *path;
    PyObject *dict, *callback, *out = NULL;
    int marker;

    if (!PyArg_ParseTuple(args, "sOiO:task", &path, &dict, &marker, &callback)) {
        return NULL;
    }

    const pl_model_info info = pl_model_get_info(m->model);
    if (marker < 0 || marker >= info.marker_count) {
        return core_wrong("", "marker %d does not exist", marker);
    }

    task_run *t = calloc(1, sizeof *t);
    PyObject *no_goals = PyList_New(0);
    pl_findings *findings = pl_findings_create();

    if (!t || !no_goals || !findings) {
        free(t);
        Py_XDECREF(no_goals);
        pl_findings_destroy(findings);
        return PyErr_NoMemory();
    }

    t->m = m;
    core_motion *motion = NULL;
    pl_status status = pl_task_read(path, &t->file, findings, &t->err);
    if (status == PL_OK) {
        status = pl_task_job_create(m->model, t->file, path, marker, &t->job, &t->err);
    }

    if (status != PL_OK) {
        core_raise(status, &t->err, findings);
    } else if (!(t->stage_of = calloc((size_t)pl_task_job_steps(t->job) + 1, sizeof *t->stage_of))) {
        PyErr_NoMemory();
    } else if (goals_read(m, no_goals, dict, &t->g)) {
        const int gripper = pl_task_job_gripper(t->job);

        if ((motion = motion_new(m, gripper >= 0 ? gripper : marker)) && core_enter(m, callback)) {
            t->motion = &motion->motion;
            for (int i = 0; status == PL_OK && i < pl_task_file_stage_count(t->file); ++i) {
                t->stage = i;
                CORE_RUN(m, status = pl_task_job_run(t->job, i, &t->g.options, task_record, t, &t->err));
                status = status == PL_OK ? t->status : status;
                if (m->teller.pending || atomic_load(&m->stop)) {
                    break;
                }
            }

            core_leave(m);
            if (status != PL_OK && status != PL_INTERRUPTED) {
                core_raise(status, &t->err, NULL);
            } else {
                out = task_result(t, motion);
            }
        }

        goals_release(&t->g);
    }

    Py_XDECREF((PyObject *)motion);
    pl_task_job_destroy(t->job);
    pl_task_file_destroy(t->file);
    free(t->stage_of);
    free(t);
    Py_DECREF(no_goals);
    pl_findings_destroy(findings);

    return out;
}

int core_motion_init(PyObject *module)
{
    motion_type = PyType_FromSpec(&motion_spec);
    return motion_type ? PyModule_AddObjectRef(module, "Motion", motion_type) : -1;
}
