// Data sets, learned models and their adaptation to measurements.
#include <stdio.h>
#include "core.h"

// ---- samples
typedef struct learn_sampling {
    core_model *m;
    pl_dataset_file *file;
    pl_status status;
    pl_error err;
    int done, planned, failed;
} learn_sampling;

static bool learn_put(void *user, const pl_sample *sample)
{
    learn_sampling *s = user;
    if (sample->fk->outcome == PL_STOPPED) {
        return false;
    }
    s->status = pl_dataset_put(s->file, sample, &s->err);
    s->failed += sample->fk->outcome != PL_SOLVED;
    ++s->done;

    return s->status == PL_OK &&
           s->m->progress.step(s->m->progress.user, (double)s->done / s->planned, "samples");
}

// sample(path, settings, robot_file, jacobians, shapes, mesh_size, mesh_order, plan, fresh, part, parts,
// callback): solves the chains k with k % parts == part; returns (samples solved, samples failed)
#define LEARN_CHAIN 16
PyObject *core_model_sample(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    const char *path, *settings, *robot_file;
    PyObject *plan, *fresh, *callback;
    int jacobians, shapes, mesh_order, part, parts;
    double mesh_size;

    if (!PyArg_ParseTuple(args, "sszppdiOOiiO:sample", &path, &settings, &robot_file, &jacobians, &shapes,
                          &mesh_size, &mesh_order, &plan, &fresh, &part, &parts, &callback)) {
        return NULL;
    }

    const int columns = pl_model_get_info(m->model).command_count;
    core_numbers commands = {0}, state = {0};
    if (!core_numbers_get(plan, 'd', -1, "plan", &commands) ||
        !core_numbers_get(fresh, 'd', (Py_ssize_t)pl_model_state_size(m->model), "state", &state)) {
        core_numbers_release(&commands);
        return NULL;
    }

    const int rows = columns > 0 ? (int)(commands.count / columns) : 0;
    if (!commands.data || rows * (Py_ssize_t)columns != commands.count || parts < 1 || part < 0 ||
        part >= parts || !core_enter(m, callback)) {
        core_numbers_release(&commands);
        core_numbers_release(&state);
        return PyErr_Occurred() ? NULL : core_wrong("", "plan: expected rows of %d numbers", columns);
    }

    const pl_dataset_def def = {.settings = settings,
                                .robot_file = robot_file,
                                .jacobians = jacobians,
                                .shapes = shapes,
                                .mesh_size = mesh_size,
                                .mesh_order = mesh_order};
    learn_sampling s = {.m = m};
    double *stored = NULL;
    char *done = NULL;
    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_dataset_create(path, m->model, &def, &s.file, &err));
    if (status == PL_OK) {
        CORE_RUN(m, status = pl_dataset_plan(s.file, 0, commands.data, rows, &err));
    }
    if (status == PL_OK) {
        status = pl_dataset_read_plan(s.file, &stored, &done, &s.planned, &err);
    }

    const pl_sample_options options = {.jacobians = jacobians,
                                       .shapes = shapes,
                                       .done = done,
                                       .fresh = state.data,
                                       .record = learn_put,
                                       .user = &s};
    for (int k = part; status == PL_OK && k * LEARN_CHAIN < s.planned; k += parts) {
        const int from = k * LEARN_CHAIN,
                  to = from + LEARN_CHAIN < s.planned ? from + LEARN_CHAIN : s.planned;
        CORE_RUN(m, status = pl_sample_chain(m->model, stored, from, to, &options, &err));
        status = status == PL_OK ? s.status : status;
        if (m->teller.pending || atomic_load(&m->stop)) {
            break;
        }
    }

    pl_dataset_close(s.file);
    core_leave(m);
    pl_file_free((char *)stored);
    pl_file_free(done);
    core_numbers_release(&commands);
    core_numbers_release(&state);
    if (status != PL_OK && status != PL_INTERRUPTED) {
        return core_pending(m) ? NULL : core_raise(status, s.status != PL_OK ? &s.err : &err, NULL);
    }

    return Py_BuildValue("(ii)", s.done, s.failed);
}

// ---- functions without a model
static PyObject *learn_report(const pl_learned_report *r, int samples)
{
    PyObject *parts = PyDict_New();
    for (int p = 0; parts && p < PL_LEARN_PART_COUNT; ++p) {
        const pl_learned_fit_report *f = &r->part[p];

        if (f->fitted) {
            PyObject *one = Py_BuildValue("{s:i,s:i,s:i,s:s,s:d,s:d,s:i}", "outputs", f->output_count,
                                          "weights", f->weight_count, "epochs", f->train.epochs, "ended",
                                          pl_train_outcome_name(f->train.outcome), "rms", f->rms, "largest",
                                          f->largest, "held", f->train.held_count);
            if (one) {
                PyDict_SetItemString(parts, pl_learned_part_name((pl_learned_part)p), one);
            }
            Py_XDECREF(one);
        }
    }

    return Py_BuildValue("{s:i,s:d,s:O,s:N}", "samples", samples, "width", r->width, "stopped",
                         r->stopped ? Py_True : Py_False, "parts", parts);
}

// learn(dataset, out, hidden, epochs, seed, inverse, callback): writes the model, returns a report
PyObject *core_learn(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path, *out_path;
    PyObject *hidden, *callback, *out = NULL;
    int epochs, inverse;
    unsigned long long seed;
    if (!PyArg_ParseTuple(args, "ssOiKpO:learn", &path, &out_path, &hidden, &epochs, &seed, &inverse,
                          &callback)) {
        return NULL;
    }

    core_teller teller = {.callback = callback};
    pl_learned_options o = pl_learned_options_default();
    const Py_ssize_t layers = PyTuple_Check(hidden) ? PyTuple_Size(hidden) : 0;
    if (layers > PL_NETWORK_LAYERS) {
        return core_wrong("", "hidden: at most %d layers", PL_NETWORK_LAYERS);
    }

    for (Py_ssize_t i = 0; i < layers; ++i) {
        const long width = PyLong_AsLong(PyTuple_GetItem(hidden, i));
        if (width == -1 && PyErr_Occurred()) {
            return NULL;
        }
        if (width < 1 || width > PL_NETWORK_WIDTH) {
            return core_wrong("", "hidden: a layer has 1 to %d neurons, found %ld", PL_NETWORK_WIDTH, width);
        }
        o.network.width[i] = (int)width;
        o.network.layer_count = (int)layers;
    }

    o.train.epoch_limit = epochs > 0 ? epochs : o.train.epoch_limit;
    o.train.seed = o.network.seed = seed;
    o.parts |= inverse ? 1u << PL_LEARN_INVERSE : 0;
    o.train.progress = (pl_progress){.step = core_tell_step, .user = &teller};
    pl_dataset *data = NULL;
    pl_learned *learned = NULL;
    pl_learned_report report;
    pl_error err = {0};
    pl_status status;
    CORE_RUN(NULL, status = pl_dataset_read(path, &data, &err));
    if (status == PL_OK) {
        CORE_RUN(NULL, status = pl_learned_fit(data, &o, &learned, &report, &err));
    }
    if (status == PL_OK && !teller.pending) {
        CORE_RUN(NULL, status = pl_learned_write(learned, NULL, out_path, &err));
    }

    if (core_tell_raise(&teller)) {
        // raised
    } else if (status != PL_OK) {
        core_raise(status, &err, NULL);
    } else {
        out = learn_report(&report, pl_dataset_get_info(data).count);
    }

    pl_learned_destroy(learned);
    pl_dataset_destroy(data);

    return out;
}

// adapt(text, path, measured, out, kind, seed, extra, callback): a learned model corrected by measurements
PyObject *core_adapt(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text, *path, *measured_path, *out_path, *kind;
    Py_ssize_t length;
    unsigned long long seed;
    PyObject *callback, *out = NULL;
    if (!PyArg_ParseTuple(args, "s#zsssKO:adapt", &text, &length, &path, &measured_path, &out_path, &kind,
                          &seed, &callback)) {
        return NULL;
    }

    core_teller teller = {.callback = callback};
    pl_adapt_options o = pl_adapt_options_default();
    o.kind = pl_adapt_kind_find(kind);
    o.seed = seed;
    o.progress = (pl_progress){.step = core_tell_step, .user = &teller};
    if (o.kind == PL_ADAPT_KIND_COUNT) {
        return core_wrong("", "kind %s: expected process or layer", kind);
    }

    pl_findings *findings = pl_findings_create();
    pl_learned *learned = NULL;
    pl_measured measured = {0};
    pl_adapt_report r = {0};
    pl_error err = {0};
    pl_status status =
        findings ? pl_learned_read_text(text, (size_t)length, path, &learned, findings, &err) : PL_NO_MEMORY;
    if (status == PL_OK) {
        status = pl_measured_read(measured_path, pl_learned_robot(learned), NULL, 0, &measured, &err);
    }
    if (status == PL_OK) {
        CORE_RUN(NULL, status = pl_learned_adapt(learned, &measured, &o, &r, &err));
    }
    if (status == PL_OK && !teller.pending) {
        status = pl_learned_write(learned, NULL, out_path, &err);
    }

    if (core_tell_raise(&teller)) {
        // raised
    } else if (status != PL_OK) {
        core_raise(status, &err, findings);
    } else {
        out = Py_BuildValue("{s:i,s:i,s:d,s:d,s:d,s:d,s:d}", "measured", r.count, "held", r.held_count,
                            "before_rms", r.before_rms, "before_largest", r.before_largest, "held_rms",
                            r.held_rms, "held_largest", r.held_largest, "noise", r.noise);
    }

    pl_measured_clear(&measured);
    pl_learned_destroy(learned);
    pl_findings_destroy(findings);

    return out;
}
