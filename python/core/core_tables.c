// Comparisons, reduced models, the libraries of materials and designs, paths, calibration, and numbers with
// units.
#include <stdio.h>
#include "core.h"

// ---- comparisons
// compare(linear, text, path, methods, commands, time_limit, callback): a list of dictionaries
PyObject *core_model_compare(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    PyObject *linear, *methods, *list, *callback, *out = NULL;
    const char *text, *path;
    Py_ssize_t length;
    double time_limit, *command;

    if (!PyArg_ParseTuple(args, "Os#zOOdO:compare", &linear, &text, &length, &path, &methods, &list,
                          &time_limit, &callback)) {
        return NULL;
    }

    const pl_robot *robot = pl_model_robot(m->model);
    if (!robot) {
        return core_wrong("", "methods are compared for robots with a mesh");
    }
    if (linear != Py_None && !PyObject_TypeCheck(linear, (PyTypeObject *)core_model_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a Model or None");
        return NULL;
    }

    const char *method[PL_COMPARE_ROWS];
    const Py_ssize_t count = PyTuple_Check(methods) ? PyTuple_Size(methods) : 0;
    if (count < 1 || count > 6) {
        return core_wrong("", "expected exact, local_global or fang2020");
    }

    for (Py_ssize_t i = 0; i < count; ++i) {
        method[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(methods, i), NULL);
        if (!method[i]) {
            return NULL;
        }
    }

    if (!core_commands(m, list, &command) || !command || !core_enter(m, callback)) {
        return NULL;
    }

    pl_compare_def def = {.linear = linear != Py_None ? pl_model_robot(((core_model *)linear)->model) : NULL,
                          .method = method,
                          .method_count = (int)count,
                          .command = command,
                          .time_limit = time_limit};
    pl_error err = {0};
    pl_comparison result = {0};
    pl_robot_document *document = NULL;
    pl_status status = pl_robot_document_parse(text, (size_t)length, path, &document, &err);
    def.progress = m->progress;
    if (status == PL_OK) {
        CORE_RUN(m, status = pl_compare_methods(document, robot, &def, &result, &err));
    }
    pl_robot_document_destroy(document);
    core_leave(m);
    free(command);
    if (status != PL_OK) {
        if (!core_pending(m)) {
            core_raise(status, &err, NULL);
        }
        pl_comparison_clear(&result);
        return NULL;
    }

    out = PyList_New(result.row_count);
    const int actuators = pl_robot_actuator_count(robot);
    for (int i = 0; out && i < result.row_count; ++i) {
        const pl_compare_row *r = &result.row[i];
        PyObject *row = Py_BuildValue(
            "{s:s,s:s,s:O,s:s,s:s,s:i,s:i,s:i,s:d,s:d,s:(ddd),s:d,s:d,s:d,s:N,s:N}", "name", r->name,
            "method", r->method, "corners", r->corners ? Py_True : Py_False, "outcome",
            pl_outcome_name(r->report.outcome), "message", r->report.message, "iterations",
            r->report.iterations, "solves", r->report.solves, "factorizations", r->report.factorizations,
            "seconds", r->report.seconds, "energy", r->report.energy, "tip", r->tip[0], r->tip[1], r->tip[2],
            "from_corners", r->from_corners, "mean_from_corners", r->mean_corners, "from_quadratic",
            r->from_quadratic, "ratio", core_array_copy(r->ratio, actuators, 0), "asked",
            core_array_copy(r->asked, actuators, 0));
        if (!row) {
            Py_CLEAR(out);
            break;
        }

        PyList_SetItem(out, i, row);
    }

    pl_comparison_clear(&result);

    return out;
}

// ---- reduced models
// reduce(kind, marker, samples, seed, path, comment, callback): writes the robot file, returns a report
PyObject *core_model_reduce(PyObject *self, PyObject *args)
{
    core_model *m = (core_model *)self;
    const char *kind, *marker, *path, *comment;
    int samples;

    unsigned long long seed;
    PyObject *callback;
    if (!PyArg_ParseTuple(args, "ssiKszO:reduce", &kind, &marker, &samples, &seed, &path, &comment,
                          &callback)) {
        return NULL;
    }

    pl_reduce_options options = pl_reduce_options_default();
    options.kind = PL_REDUCED_KIND_COUNT;
    for (int k = 0; k < PL_REDUCED_KIND_COUNT; ++k) {
        if (strcmp(kind, pl_reduced_kind_name((pl_reduced_kind)k)) == 0) {
            options.kind = (pl_reduced_kind)k;
        }
    }

    if (options.kind == PL_REDUCED_KIND_COUNT) {
        return core_wrong("", "there is no reduced model '%s'; expected rod, beam or constant_curvature",
                          kind);
    }

    options.marker = marker;
    options.sample_count = samples;
    options.seed = seed;
    options.progress = m->progress;
    if (!core_enter(m, callback)) {
        return NULL;
    }

    pl_reduction *reduction = NULL;
    pl_reduce_report r = {0};
    pl_error err = {0};
    pl_status status;
    CORE_RUN(m, status = pl_reduce(m->model, &options, &reduction, &r, &err));
    if (status == PL_OK) {
        status = pl_reduced_write(pl_reduction_def(reduction), comment, path, &err);
    }
    core_leave(m);
    pl_reduction_destroy(reduction);
    if (status != PL_OK) {
        return core_pending(m) ? NULL : core_raise(status, &err, NULL);
    }

    return Py_BuildValue("{s:i,s:i,s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "solves", r.solves, "samples",
                         r.sample_count, "length", r.length, "diameter", r.diameter, "motion_rms", r.motion,
                         "position_rms", r.position_rms, "position_max", r.position_max, "direction_rms",
                         r.direction_rms, "direction_max", r.direction_max);
}

// ---- libraries
static PyObject *table_material(const pl_material *given)
{
    pl_material material = *given;
    PyObject *out = Py_BuildValue("{s:s}", "model", pl_material_model_name(material.model));

    for (int c = 0; out && c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
        const pl_material_constant constant = (pl_material_constant)c;
        const double value = *pl_material_at(&material, constant);

        if (pl_material_has(material.model, constant) && value != 0) {
            PyObject *number = PyFloat_FromDouble(value);
            PyDict_SetItemString(out, pl_material_constant_name(constant), number);
            Py_XDECREF(number);
        }
    }

    return out;
}

static PyObject *table_materials(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    const int count = pl_material_library_count();
    PyObject *all = PyList_New(count);

    for (int i = 0; all && i < count; ++i) {
        const pl_material_entry *e = pl_material_library_at(i);
        PyObject *one = Py_BuildValue("(ssNddds)", e->name, e->title, table_material(&e->material),
                                      e->strain_low, e->strain_high, e->fit_error, e->source);
        if (!one) {
            Py_DECREF(all);
            return NULL;
        }

        PyList_SetItem(all, i, one);
    }

    return all;
}

static PyObject *table_design_parameters(const pl_design *d)
{
    PyObject *all = PyList_New(d->parameter_count);
    for (int i = 0; all && i < d->parameter_count; ++i) {
        const pl_design_parameter *p = &d->parameter[i];
        PyList_SetItem(all, i,
                       Py_BuildValue("(sssddd)", p->name, p->unit, p->help, p->value, p->low, p->high));
    }

    return all;
}

// designs(): (kind, summary, robot file, parameters)
static PyObject *table_designs(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    const int full = pl_design_count(), reduced = pl_reduced_design_count();
    PyObject *all = PyList_New(full + reduced);

    for (int i = 0; all && i < full; ++i) {
        const pl_design *d = pl_design_at(i);
        PyList_SetItem(
            all, i, Py_BuildValue("(sssN)", d->kind, d->summary, d->robot_yaml, table_design_parameters(d)));
    }

    for (int i = 0; all && i < reduced; ++i) {
        const pl_reduced_design *d = pl_reduced_design_at(i);
        PyList_SetItem(all, full + i, Py_BuildValue("(sss[])", d->kind, d->summary, d->robot_yaml));
    }

    return all;
}

// design_set(yaml, parameter, value)
static PyObject *table_design_set(PyObject *module, PyObject *args)
{
    (void)module;
    const char *yaml, *parameter;
    double value;
    if (!PyArg_ParseTuple(args, "ssd:design_set", &yaml, &parameter, &value)) {
        return NULL;
    }

    char key[100], *text = NULL;
    pl_error err = {0};
    pl_robot_document *document = NULL;
    snprintf(key, sizeof key, "design.%.60s", parameter);
    char *number = PyOS_double_to_string(value, 'g', 10, 0, NULL); // with a point in every locale
    if (!number) {
        return NULL;
    }
    pl_status status = pl_robot_document_parse(yaml, strlen(yaml), "design", &document, &err);
    if (status == PL_OK) {
        status = pl_robot_document_set(document, key, number, &err);
    }
    PyMem_Free(number);
    if (status == PL_OK) {
        status = pl_robot_document_text(document, &text, NULL, &err);
    }

    PyObject *out = status == PL_OK ? PyUnicode_FromString(text) : core_raise(status, &err, NULL);
    pl_file_free(text);
    pl_robot_document_destroy(document);

    return out;
}

// guess(path, unit): the robot file for a part
static PyObject *table_guess(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path, *reference;
    double unit;
    if (!PyArg_ParseTuple(args, "ssd:guess", &path, &reference, &unit)) {
        return NULL;
    }

    pl_findings *findings = pl_findings_create();
    if (!findings) {
        return PyErr_NoMemory();
    }

    const pl_guess_source source = {.path = path, .unit = unit, .reference = reference};
    char *yaml = NULL;
    pl_guess guess;
    pl_error err = {0};
    pl_status status;
    CORE_RUN(NULL, status = pl_meshing_guess(&source, &yaml, &guess, findings, &err));
    PyObject *out = status == PL_OK ? PyUnicode_FromString(yaml) : core_raise(status, &err, findings);
    pl_meshing_free_text(yaml);
    pl_findings_destroy(findings);

    return out;
}

// quantity(text, dimension): internal units
static PyObject *table_quantity(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text;
    int dimension;
    double value;
    pl_error err = {0};
    if (!PyArg_ParseTuple(args, "si:quantity", &text, &dimension)) {
        return NULL;
    }
    if (dimension < 0 || dimension >= PL_DIM_COUNT) {
        return core_wrong("", "dimension %d does not exist", dimension);
    }

    const pl_status status = pl_quantity_parse(text, (pl_dimension)dimension, &value, &err);

    return status == PL_OK ? PyFloat_FromDouble(value) : core_raise(status, &err, NULL);
}

// nearest(word, known): the nearest known word, or None
static PyObject *table_nearest(PyObject *module, PyObject *args)
{
    (void)module;
    const char *word, *known[128];
    PyObject *list;
    if (!PyArg_ParseTuple(args, "sO:nearest", &word, &list)) {
        return NULL;
    }

    int count = 0;
    for (Py_ssize_t i = 0; PyList_Check(list) && i < PyList_Size(list) && count < 128; ++i) {
        const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (!text) {
            return NULL;
        }
        known[count++] = text;
    }

    const char *near = pl_nearest_word(word, known, count);

    return near ? PyUnicode_FromString(near) : Py_NewRef(Py_None);
}

// path(kind, centre, size, x, y, count): points of a named path
static PyObject *table_path(PyObject *module, PyObject *args)
{
    (void)module;
    const char *kind;
    pl_path_def d;
    double c[3], s[3], x[3], y[3];
    int count;
    if (!PyArg_ParseTuple(args, "s(ddd)(ddd)(ddd)(ddd)i:path", &kind, &c[0], &c[1], &c[2], &s[0], &s[1],
                          &s[2], &x[0], &x[1], &x[2], &y[0], &y[1], &y[2], &count)) {
        return NULL;
    }

    const pl_path_kind found = pl_path_find(kind);
    if (found == PL_PATH_KIND_COUNT) {
        const char *known[PL_PATH_KIND_COUNT];
        char list[200] = "expected ";
        for (int i = 0; i < PL_PATH_KIND_COUNT; ++i) {
            known[i] = pl_path_name((pl_path_kind)i);
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", known[i]);
        }

        return core_wrong(list, "there is no path '%s'", kind);
    }

    if (count < 1 || count > 1000000) {
        return core_wrong("", "a path has 1 to 1000000 points, not %d", count);
    }
    d = pl_path_default(found);
    memcpy(d.centre, c, sizeof c);
    memcpy(d.size, s, sizeof s);
    memcpy(d.x, x, sizeof x);
    memcpy(d.y, y, sizeof y);
    d.count = count;
    void *data;
    PyObject *out = core_array_new('d', count, 3, &data);
    pl_error err = {0};
    const pl_status status = out ? pl_path_points(&d, data, &err) : PL_OK;
    if (status != PL_OK) {
        Py_DECREF(out);
        return core_raise(status, &err, NULL);
    }

    return out;
}

// path_file(path): (points, directions, rotations, times)
static PyObject *table_path_file(PyObject *module, PyObject *arg)
{
    (void)module;
    const char *path = PyUnicode_AsUTF8AndSize(arg, NULL);
    if (!path) {
        return NULL;
    }

    pl_path_file f = {0};
    pl_error err = {0};
    const pl_status status = pl_path_read(path, &f, &err);
    if (status != PL_OK) {
        return core_raise(status, &err, NULL);
    }

    PyObject *out = Py_BuildValue("(NNNN)", core_array_copy(f.point, f.count, 3),
                                  f.direction ? core_array_copy(f.direction, f.count, 3) : Py_NewRef(Py_None),
                                  f.rotation ? core_array_copy(f.rotation, f.count, 3) : Py_NewRef(Py_None),
                                  f.time ? core_array_copy(f.time, f.count, 0) : Py_NewRef(Py_None));
    pl_path_clear(&f);

    return out;
}

// hull(points): (dimension, volume, area, length, facets, vertices)
static PyObject *table_hull(PyObject *module, PyObject *arg)
{
    (void)module;
    core_numbers points;
    if (!core_numbers_get(arg, 'd', -1, "points", &points)) {
        return NULL;
    }

    pl_hull h = {0};
    pl_error err = {0};
    pl_status status;
    CORE_RUN(NULL, status = pl_hull_measure(points.data, (int)(points.count / 3), &h, &err));
    core_numbers_release(&points);

    return status == PL_OK ? Py_BuildValue("(idddii)", h.dimension, h.volume, h.area, h.length, h.facet_count,
                                           h.vertex_count)
                           : core_raise(status, &err, NULL);
}

// ---- calibration
// tensile(text, name, model, strain): a fit of a tensile test
static PyObject *table_tensile(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text, *name, *model;
    Py_ssize_t length;
    double strain;
    if (!PyArg_ParseTuple(args, "s#ssd:tensile", &text, &length, &name, &model, &strain)) {
        return NULL;
    }

    int found = 0;
    while (found < PL_MATERIAL_MODEL_COUNT &&
           strcmp(model, pl_material_model_name((pl_material_model)found)) != 0) {
        ++found;
    }

    if (found == PL_MATERIAL_MODEL_COUNT) {
        return core_wrong("", "there is no model '%s'", model);
    }

    pl_tensile test = {0};
    pl_tensile_fit fit = {0};
    pl_error err = {0};
    pl_status status;
    CORE_RUN(NULL, status = pl_tensile_parse(text, (size_t)length, name, &test, &err);
             status = status == PL_OK
                          ? pl_tensile_fit_model(&test, (pl_material_model)found, strain, &fit, &err)
                          : status);
    PyObject *out =
        status != PL_OK
            ? core_raise(status, &err, NULL)
            : Py_BuildValue("{s:s,s:N,s:d,s:d,s:d,s:O,s:N,s:N}", "title", test.title, "material",
                            table_material(&fit.material), "error", fit.error, "strain_low", fit.strain_low,
                            "strain_high", fit.strain_high, "stable", fit.stable ? Py_True : Py_False,
                            "strain", core_array_copy(test.strain, test.count, 0), "stress",
                            core_array_copy(test.stress, test.count, 0));
    pl_tensile_clear(&test);

    return out;
}

static PyObject *table_branch(const pl_syringe_branch *b)
{
    return Py_BuildValue("{s:N,s:N,s:i,s:d}", "pressure", core_array_copy(b->pressure, b->count, 0), "ratio",
                         core_array_copy(b->ratio, b->count, 0), "measured", b->measured, "error", b->error);
}

// syringe(text, name, chamber, tube, syringe, ambient, gauge): volumes in mm^3, pressures in MPa
static PyObject *table_syringe(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text, *name;
    Py_ssize_t length;
    pl_syringe_line line;
    int gauge;
    if (!PyArg_ParseTuple(args, "s#sddddp:syringe", &text, &length, &name, &line.chamber, &line.tube,
                          &line.syringe, &line.ambient, &gauge)) {
        return NULL;
    }

    line.gauge = gauge;
    pl_syringe test = {0};
    pl_syringe_result result = {0};
    pl_error err = {0};
    pl_status status = pl_syringe_parse(text, (size_t)length, name, &test, &err);
    status = status == PL_OK ? pl_syringe_fit(&test, &line, &result, &err) : status;
    pl_syringe_clear(&test);

    return status == PL_OK
               ? Py_BuildValue("(NN)", table_branch(&result.loading), table_branch(&result.unloading))
               : core_raise(status, &err, NULL);
}

// ---- the rest
static PyObject *table_threads(PyObject *module, PyObject *arg)
{
    (void)module;
    if (arg != Py_None) {
        const long count = PyLong_AsLong(arg);
        if (count == -1 && PyErr_Occurred()) {
            return NULL;
        }
        if (count < 0 || count > 128) {
            return core_wrong("", "threads: expected 0 (all) to 128, found %ld", count);
        }
        pl_threads_set((int)count);
    }

    return PyLong_FromLong(pl_threads_get());
}

static PyObject *table_names(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *outcomes = PyList_New(0), *ik = PyList_New(0), *fields = PyList_New(0),
             *constants = PyList_New(0), *sources = PyList_New(0);
    for (int i = 0; outcomes && i < PL_OUTCOME_COUNT; ++i) {
        PyObject *s = PyUnicode_FromString(pl_outcome_name((pl_outcome)i));
        PyList_Append(outcomes, s);
        Py_XDECREF(s);
    }

    for (int i = 0; ik && i <= PL_IK_STOPPED; ++i) {
        PyObject *s = PyUnicode_FromString(pl_ik_outcome_name((pl_ik_outcome)i));
        PyList_Append(ik, s);
        Py_XDECREF(s);
    }

    for (int i = 0; sources && i <= PL_ERROR_MEASUREMENTS; ++i) {
        PyObject *s = PyUnicode_FromString(pl_error_source_name((pl_error_source)i));
        PyList_Append(sources, s);
        Py_XDECREF(s);
    }

    for (int i = 0; fields && i < PL_FIELD_COUNT; ++i) {
        const pl_field f = (pl_field)i;
        PyObject *s = Py_BuildValue("(ssd)", pl_field_name(f), pl_field_label(f), pl_field_scale(f));
        PyList_Append(fields, s);
        Py_XDECREF(s);
    }

    for (int i = 0; constants && i < PL_MATERIAL_CONSTANT_COUNT; ++i) {
        PyObject *s = PyUnicode_FromString(pl_material_constant_name((pl_material_constant)i));
        PyList_Append(constants, s);
        Py_XDECREF(s);
    }

    return Py_BuildValue("{s:N,s:i,s:N,s:i,s:N,s:N,s:N}", "outcomes", outcomes, "solved", (int)PL_SOLVED,
                         "ik_outcomes", ik, "reached", (int)PL_IK_REACHED, "fields", fields, "constants",
                         constants, "error_sources", sources);
}

PyMethodDef core_table_functions[] = {
    {"materials", table_materials, METH_NOARGS, "The material library."},
    {"designs", table_designs, METH_NOARGS, "The designs, with and without a mesh."},
    {"design_set", table_design_set, METH_VARARGS, "A design's robot file with a parameter set."},
    {"guess", table_guess, METH_VARARGS, "A first robot file for a part."},
    {"quantity", table_quantity, METH_VARARGS, "A number with a unit in internal units."},
    {"nearest", table_nearest, METH_VARARGS, "The nearest known word."},
    {"path", table_path, METH_VARARGS, "Points of a named path."},
    {"path_file", table_path_file, METH_O, "Reads a path from a table."},
    {"hull", table_hull, METH_O, "Convex hull of points."},
    {"tensile", table_tensile, METH_VARARGS, "Fits a material to a tensile test."},
    {"syringe", table_syringe, METH_VARARGS, "Volume over pressure from a syringe test."},
    {"learn", core_learn, METH_VARARGS, "Fits networks to a data set and writes the model."},
    {"adapt", core_adapt, METH_VARARGS, "Corrects a learned model by measurements."},
    {"poses", core_poses, METH_VARARGS, "Parameters of a robot from measured poses."},
    {"text_number", core_text_number, METH_VARARGS, "A number of a robot file and its unit."},
    {"text_set", core_text_set, METH_VARARGS, "A robot file with one value replaced or added."},
    {"measured", core_measured, METH_VARARGS, "Commands and marker positions of a table."},
    {"threads", table_threads, METH_O, "Sets (None: only tells) the number of threads of the library."},
    {"names", table_names, METH_NOARGS, "Names of outcomes, fields and material constants."},
    {0}};
