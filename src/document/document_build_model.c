// Models from robot files: a mesh gives the full body by the method that the file or the caller names, a
// `model:` block a reduced one; and a reduced robot written as a file.
#include <ctype.h>
#include <stdio.h>
#include "document/document_tree.h"
#include "document/document_learned.h"
#include "document/document_model.h"
#include "learned/learned.h"
#include "model/model.h"
#include "pliant/document.h"
#include "pliant/meshfile.h"
#include "pliant/text.h"
#include "robot/robot_kind.h"

// Whether the full robot is still the one that the errors were measured against.
static void reduced_check_robot(doc_robot_file *f)
{
    pl_reduced_errors *e = &f->model->def.errors;
    const char *const folder = e->robot_file && e->robot_file[0] != '/' ? f->folder : "";
    const char *path = e->robot_file ? doc_arena_format(&f->arena, "%s%s", folder, e->robot_file) : NULL;
    uint64_t print = 0;
    pl_error err = {0};

    // nothing measured, or nothing to compare with
    if (e->count == 0 || !path || e->robot_print == 0) {
        return;
    }

    if (doc_fingerprint_file(path, &print, &err) != PL_OK) {
        doc_warning(f, f->model->def.line,
                    "%s: whether the full robot has changed since it was reduced cannot be checked",
                    err.text);
    } else if (print != e->robot_print) {
        e->distrust = "the full robot has changed since it was reduced";
        doc_warning(f, f->model->def.line, "%s: %s; reduce it again", path, e->distrust);
    }
}

// A reduced model; *out is NULL unless it could be created without defects.
static pl_status model_reduced(const pl_robot_document *document, pl_model **out, pl_findings *findings,
                               pl_error *err)
{
    doc_robot_file f;
    doc_robot_file_read(&f, document);
    pl_status status = PL_OK;
    if (!f.no_memory && pl_findings_defect_count(f.findings) == 0 && !f.model) {
        doc_defect(&f, 0, "the robot has a mesh, not a model");
    } else if (!f.no_memory && pl_findings_defect_count(f.findings) == 0) {
        pl_error own = {0};
        reduced_check_robot(&f);
        status = pl_reduced_create(&f.model->def, out, NULL, &own);
        if (status == PL_BAD_INPUT) {
            doc_defect(&f, f.model->def.line, "%s", own.text);
        }
    }

    status = status == PL_NO_MEMORY ? pl_fail_memory(err, "the reduced model")
                                    : doc_robot_file_report(&f, status, findings, err);
    doc_robot_file_clear(&f);
    if (status != PL_OK) {
        pl_model_destroy(*out);
        *out = NULL;
    }

    return status;
}

pl_status pl_reduced_load_text(const char *text, size_t length, const char *path, pl_model **out,
                               pl_findings *findings, pl_error *err)
{
    pl_robot_document *document = NULL;
    if (!out) {
        return pl_fail(err, PL_BAD_INPUT, "robot file: text and the result pointer must not be NULL");
    }
    *out = NULL;
    pl_status status = pl_robot_document_parse(text, length, path, &document, err);
    if (status == PL_OK) {
        status = model_reduced(document, out, findings, err);
    }
    pl_robot_document_destroy(document);

    return status;
}

// Owner callback of a model that built its robot itself.
static void model_release(void *robot)
{
    pl_robot_destroy(robot);
}

// How a full body is solved: by the file's `solver:` block, with what the caller sets over it.
typedef struct model_method {
    bool exact; // else geometric (local_global)
    pl_statics_options statics;
    pl_geometric_options geometric;
} model_method;

// Methods and options. Precedence: the caller, the file, defaults.
static pl_status model_method_read(const doc_robot_file *f, const pl_model_load_options *o, model_method *m,
                                   pl_error *err)
{
    // a file with defects is reported when the robot is built
    const bool good = !f->no_memory && pl_findings_defect_count(f->findings) == 0;
    m->statics = pl_statics_options_default();
    m->geometric = pl_geometric_options_default();
    m->exact = !good || f->solver.method == PL_METHOD_EXACT;
    if (good) {
        doc_solver_options(&f->solver, &m->statics);
        m->geometric = m->exact ? m->geometric : f->solver.geometric;
    }

    // the caller's method
    if (o->method && strcmp(o->method, "exact") == 0) {
        m->exact = true;
    } else if (o->method) {
        m->exact = false; // local_global with the file's own options, when it has any
        if (strcmp(o->method, "local_global") != 0 &&
            pl_geometric_preset(o->method, &m->geometric, NULL) != PL_OK) {
            return pl_fail(err, PL_BAD_INPUT, "method '%s': expected exact, local_global or fang2020",
                           o->method);
        }
    }

    // settings of the caller for both methods
    if (!m->exact && o->displacement) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "displacement elements belong to the method exact; this robot is solved by local_global");
    }

    m->statics.displacement = m->statics.displacement || o->displacement;
    m->statics.stop_at_limit = o->stop_at_limit;
    m->statics.spare_factor = o->spare_factor;
    m->statics.time_limit = o->time_limit > 0 ? o->time_limit : m->statics.time_limit;
    m->geometric.time_limit = o->time_limit > 0 ? o->time_limit : m->geometric.time_limit;
    m->statics.progress = m->geometric.progress = o->progress;
    m->geometric.mesher = o->load.mesher;

    return PL_OK;
}

// The robot of a file, and its model.
// With options->robot the mesh is not read again: the caller has built the robot already.
static pl_status model_full_build(doc_robot_file *f, const pl_model_load_options *options, pl_model **out,
                                  pl_findings *findings, pl_error *err)
{
    pl_robot *robot = NULL;
    model_method method;
    pl_status status = model_method_read(f, options, &method, err);

    if (status != PL_OK) {
        return status;
    }
    if (options->robot) {
        return method.exact ? pl_model_from_robot(options->robot, &method.statics, out, err)
                            : pl_model_from_robot_geometric(options->robot, &method.geometric, out, err);
    }

    // only growth needs the air meshed: other meshes stay those of the exact method
    pl_load_options load = options->load;
    load.fill = load.fill || (!method.exact && method.geometric.actuation != PL_ACTUATE_CONSTRAINT);
    status = doc_robot_file_build(f, &load, &robot, findings, err);
    if (status == PL_OK && options->built) {
        status = options->built(options->built_user, robot, err);
    }
    if (status == PL_OK) {
        status = method.exact ? pl_model_from_robot(robot, &method.statics, out, err)
                              : pl_model_from_robot_geometric(robot, &method.geometric, out, err);
    }

    if (status == PL_OK) {
        pl_model_own(*out, robot, model_release);
    } else {
        pl_robot_destroy(robot);
    }

    return status;
}

// The parsed file lives as long as the robot is built.
static pl_status model_full(const pl_robot_document *document, const pl_model_load_options *options,
                            pl_model **out, pl_findings *findings, pl_error *err)
{
    doc_robot_file f;
    doc_robot_file_read(&f, document);
    const pl_status status = model_full_build(&f, options, out, findings, err);
    doc_robot_file_clear(&f);
    return status;
}

// ---- learned models
// What is needed to open the full robot when the learned model has to ask it.
typedef struct learned_source {
    char *path; // of the robot the samples were taken from
    pl_model_load_options options;
    uint64_t hash; // of the robot as sampled
} learned_source;

static void learned_release(void *user)
{
    learned_source *s = user;
    if (s) {
        pl_free(s->path);
        pl_free(s);
    }
}

// Opens the robot that was sampled, with the mesh it was sampled with; fails if it has changed.
static pl_status learned_open(void *user, pl_model **full, pl_error *err)
{
    const learned_source *s = user;
    if (!s->path) {
        return pl_fail(err, PL_BAD_INPUT, "the learned model does not name the robot it was learned from");
    }

    pl_status status = pl_model_load(s->path, &s->options, full, NULL, err);
    if (status == PL_OK && pl_model_get_info(*full).hash != s->hash) {
        pl_model_destroy(*full);
        *full = NULL;
        status = pl_fail(err, PL_BAD_INPUT, "%s: the robot has changed since the model was learned", s->path);
    }

    return status;
}

// Whether the robot is still the one that was sampled: by the fingerprint of its file, and where that differs
// by building it. The errors of a model of another robot do not hold.
static void model_check_robot(pl_learned *l, learned_source *s, const char *path, pl_findings *findings)
{
    uint64_t print = 0;
    pl_error err = {0};

    if (!s->path) {
        return;
    }

    if (doc_fingerprint_file(s->path, &print, &err) != PL_OK) {
        pl_findings_add(findings, PL_WARNING, path, 0,
                        "%s: whether the robot has changed since it was sampled cannot be checked", err.text);
        return;
    }

    if (print == l->robot_print) {
        return;
    }

    // the file differs: perhaps in a comment only, so the robot decides
    pl_model *full = NULL;
    if (learned_open(s, &full, &err) != PL_OK) {
        l->distrust = "the robot has changed since it was sampled";
        pl_findings_add(findings, PL_WARNING, path, 0,
                        "%s: the answers are those of the robot as it was sampled; sample and learn it again",
                        err.text);
    }

    pl_model_destroy(full);
}

// The learned model owns the source; the full robot is opened only when it is needed.
static pl_status model_learned(const pl_robot_document *document, const pl_model_load_options *options,
                               pl_model **out, pl_findings *findings, pl_error *err)
{
    pl_learned *l = NULL;
    const char *path = document->source.path;
    pl_status status = doc_learned_read(document, &l, findings, err);

    if (status != PL_OK) {
        return status;
    }

    learned_source *s = PL_NEW(learned_source);
    char *file = l->robot_file ? pl_strdup(l->robot_file) : NULL;
    if (!s || (l->robot_file && !file)) {
        pl_free(s);
        pl_learned_destroy(l);
        return pl_fail_memory(err, path);
    }

    // the mesh of the samples, whatever the caller's size
    *s = (learned_source){.path = file, .options = *options, .hash = l->about.info.hash};
    s->options.load.size = l->mesh_size;
    s->options.robot = NULL; // of another file
    s->options.load.order = l->mesh_order;
    const pl_learned_use use = {.outside = options->fallback ? PL_OUTSIDE_FALLBACK : PL_OUTSIDE_WARN,
                                .open = learned_open,
                                .user = s,
                                .release = learned_release};
    model_check_robot(l, s, path, findings);

    return pl_learned_model(l, &use, out, err);
}

// ---- any kind
pl_status pl_model_from_document(const pl_robot_document *document, const pl_model_load_options *options,
                                 pl_model **out, pl_findings *findings, pl_error *err)
{
    static const pl_model_load_options none = {0};
    if (!document || !out) {
        return pl_fail(err, PL_BAD_INPUT, "robot file: document and the result pointer must not be NULL");
    }
    *out = NULL;
    options = options ? options : &none;
    if (document->kind == PL_ROBOT_FULL) {
        return model_full(document, options, out, findings, err);
    }

    const bool learned = document->kind == PL_ROBOT_LEARNED;
    if (options->method || options->displacement) {
        return pl_fail(err, PL_BAD_INPUT, "%s: a %s model has no choice of method or elements",
                       document->source.path, learned ? "learned" : "reduced");
    }

    return learned ? model_learned(document, options, out, findings, err)
                   : model_reduced(document, out, findings, err);
}

// From text, or from the file at `path` where `text` is NULL.
static pl_status model_load_document(const char *text, size_t length, const char *path,
                                     const pl_model_load_options *options, pl_model **out,
                                     pl_findings *findings, pl_error *err)
{
    pl_robot_document *document = NULL;
    if (!out) {
        return pl_fail(err, PL_BAD_INPUT, "robot file: the result pointer must not be NULL");
    }

    *out = NULL;
    pl_status status = text ? pl_robot_document_parse(text, length, path, &document, err)
                            : pl_robot_document_read(path, &document, findings, err);
    if (status == PL_OK) {
        status = pl_model_from_document(document, options, out, findings, err);
    }
    pl_robot_document_destroy(document);

    return status;
}

pl_status pl_model_load_text(const char *text, size_t length, const char *path,
                             const pl_model_load_options *options, pl_model **out, pl_findings *findings,
                             pl_error *err)
{
    return model_load_document(text ? text : "", text ? length : 0, path, options, out, findings, err);
}

pl_status pl_model_load(const char *path, const pl_model_load_options *options, pl_model **out,
                        pl_findings *findings, pl_error *err)
{
    return model_load_document(NULL, 0, path, options, out, findings, err);
}

// ---- writing
// A name as it is where YAML takes it for a word, otherwise in quotes.
static void write_name(pl_text *t, const char *name)
{
    bool plain = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *c = name; *c; ++c) {
        plain = plain && (isalnum((unsigned char)*c) || *c == '_' || *c == '-' || *c == '.');
    }
    if (plain) {
        pl_text_add(t, "%s", name);
        return;
    }

    doc_write_quoted(t, name);
}

// "" for numbers without a unit.
static const char *write_unit(pl_drive drive)
{
    return strcmp(pl_drive_unit(drive), "1") == 0 ? "" : pl_drive_unit(drive);
}

// In the units that people use for the drive.
static void write_limits(pl_text *t, pl_drive drive, bool has_range, const double range[2], double rate)
{
    const double scale = pl_drive_scale(drive);
    const char *unit = write_unit(drive);

    if (has_range) {
        pl_text_add(t, ", range: [%.10g %s, %.10g %s]", range[0] / scale, unit, range[1] / scale, unit);
    }
    if (rate > 0) {
        pl_text_add(t, ", rate: %.10g %s/s", rate / scale, unit);
    }
}

// Only what differs from the defaults is written.
static void write_span(pl_text *t, const pl_line_path_def *p, double length)
{
    if (p->span[0] != 0 || fabs(p->span[1] - length) > 1e-9 * length) {
        pl_text_add(t, ", from: %.10g, to: %.10g", p->span[0], p->span[1]);
    }

    if (p->waypoint_count > 0) {
        pl_text_add(t, ", through: [");
        for (int i = 0; i < p->waypoint_count; ++i) {
            pl_text_add(t, "%s[%.10g, %.10g, %.10g]", i ? ", " : "", p->waypoint[3 * i],
                        p->waypoint[3 * i + 1], p->waypoint[3 * i + 2]);
        }

        pl_text_add(t, "]");
        return;
    }

    pl_text_add(t, p->radius[0] == p->radius[1] ? ", radius: %.10g" : ", radius: [%.10g, %.10g]",
                p->radius[0], p->radius[1]);
    pl_text_add(t, ", angle: %.10g deg", p->angle * 180 / PL_PI);
    if (p->turns != 0) {
        pl_text_add(t, ", turns: %.10g", p->turns);
    }
}

// Tendons or chambers, under a heading of their own.
static void write_actuators(pl_text *t, const pl_reduced_def *d, bool chambers, double length)
{
    bool any = false;
    for (int i = 0; i < d->actuator_count; ++i) {
        const pl_line_actuator_def *a = &d->actuator[i];
        if (pl_actuator_encloses(a->kind) != chambers) {
            continue;
        }
        if (!any) {
            pl_text_add(t, chambers ? "  chambers:\n" : "  tendons:\n");
            any = true;
        }

        pl_text_add(t, "    - {name: ");
        write_name(t, a->name);
        pl_text_add(t, ", drive: %s", pl_drive_name(a->drive));
        write_span(t, &a->path, length);
        if (chambers) {
            pl_text_add(t, ", area: %.10g, effectiveness: [%.10g, %.10g]", a->area, a->effectiveness[0],
                        a->effectiveness[1]);
        }

        write_limits(t, a->drive, a->has_range, a->range, a->rate);
        pl_text_add(t, "%s}\n", a->idle_hold ? ", idle: hold" : "");
    }
}

// Returns the length of all sections, mm.
static double write_sections(pl_text *t, const pl_reduced_def *d)
{
    double length = 0;
    pl_text_add(t, "  sections:                       # EA, GA in N; EI, GJ in N mm^2\n");
    for (int i = 0; i < d->section_count; ++i) {
        const pl_section_def *s = &d->section[i];
        length += s->length;
        pl_text_add(t, "    - {name: ");
        write_name(t, s->name);
        pl_text_add(t, ", length: %.10g, diameter: [%.10g, %.10g]", s->length, s->diameter[0],
                    s->diameter[1]);
        if (s->EA > 0) {
            pl_text_add(t, ", EA: %.10g, EI: [%.10g, %.10g]", s->EA, s->EI[0], s->EI[1]);
        }
        if (s->GJ > 0) {
            pl_text_add(t, ", GJ: %.10g, GA: [%.10g, %.10g]", s->GJ, s->GA[0], s->GA[1]);
        }
        // the density that gives the mass per length
        if (s->mass > 0) {
            const double D = 0.5 * (s->diameter[0] + s->diameter[1]), area = PL_PI * D * D / 4;
            pl_text_add(t, ", area: %.10g, density: %.10g kg/m^3", area, s->mass / area * 1e12);
        }

        if (s->pieces > 0) {
            pl_text_add(t, ", %s: %d",
                        d->kind == PL_CONSTANT_CURVATURE ? "arcs"
                        : d->kind == PL_VERTEBRAE        ? "gaps"
                                                         : "elements",
                        s->pieces);
        }

        pl_text_add(t, "}\n");
    }

    return length;
}

// Range and rate in the unit of the first actuator.
static void write_commands(pl_text *t, const pl_reduced_def *d)
{
    pl_text_add(t, d->command_count ? "commands:\n" : "");
    for (int i = 0; i < d->command_count; ++i) {
        const pl_command_def *c = &d->command[i];
        pl_drive drive = PL_DRIVE_LENGTH_RATIO;
        pl_text_add(t, "  ");
        write_name(t, c->name);
        pl_text_add(t, ": {drives: {");

        for (int k = 0; k < c->drive_count; ++k) {
            pl_text_add(t, k ? ", " : "");
            write_name(t, c->drive[k].actuator);
            pl_text_add(t, ": %.10g", c->drive[k].factor);
        }

        for (int a = 0; c->drive_count > 0 && a < d->actuator_count; ++a) {
            drive = strcmp(d->actuator[a].name, c->drive[0].actuator) == 0 ? d->actuator[a].drive : drive;
        }
        pl_text_add(t, "}%s", c->one_sided ? ", one_sided: true" : "");
        write_limits(t, drive, c->has_range, c->range, c->rate);
        pl_text_add(t, "}\n");
    }
}

// Axes of motors; mL for chambers.
static void write_hardware(pl_text *t, const pl_reduced_def *d)
{
    static const char *const below[] = {"", "refuse", "clip", "pull"};
    bool any = false;

    for (int i = 0; i < d->actuator_count; ++i) {
        const pl_hardware *h = &d->actuator[i].hardware;
        const bool cable = pl_actuator_pulls_only(d->actuator[i].kind);
        if (!h->axis && !h->below_zero) {
            continue;
        }
        pl_text_add(t, any ? "  " : "hardware:\n  ");
        any = true;
        write_name(t, d->actuator[i].name);
        pl_text_add(t, ": {%s%s", h->below_zero ? "below_zero: " : "", below[h->below_zero]);
        if (!h->axis) {
            pl_text_add(t, "}\n");
            continue;
        }

        pl_text_add(t, h->below_zero ? ", " : "");
        pl_text_add(t, "axis: %c, per_unit: %.10g %s%s, offset: %.10g", h->axis,
                    cable ? h->per_unit : h->per_unit / 1000, cable ? "mm" : "mL",
                    h->reverse ? ", reverse: true" : "", h->offset);
        if (h->feed > 0) {
            pl_text_add(t, ", feed: %.10g", h->feed);
        }
        if (h->has_range) {
            pl_text_add(t, ", range: [%.10g, %.10g]", h->range[0], h->range[1]);
        }
        pl_text_add(t, "}\n");
    }
}

// The errors, with the hash of the model as it is read from the text so far: rounding to 10 digits changes
// the model a little, and the errors belong to the model in the file.
static pl_status write_errors(pl_text *t, const pl_reduced_def *d, const char *path, pl_error *err)
{
    const pl_reduced_errors *e = &d->errors;
    pl_model *model = NULL;
    uint64_t print = 0;

    if (e->count == 0 || t->failed) {
        return PL_OK;
    }

    pl_status status = pl_reduced_load_text(t->data, t->length, path, &model, NULL, err);
    if (status != PL_OK) {
        return status;
    }

    if (e->robot_file) {
        const char *slash = e->robot_file[0] == '/' ? NULL : strrchr(path, '/');
        pl_text file = {0};
        pl_text_add(&file, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, e->robot_file);
        if (!file.failed) {
            doc_fingerprint_file(file.data, &print,
                                 NULL); // 0: cannot be read, then it is not checked
        }

        pl_text_clear(&file);
    }

    pl_text_add(t,
                "errors:                           # against the full robot at random commands; mm, rad\n"
                "  model: \"%016llx\"\n  robot_print: \"%016llx\"\n",
                (unsigned long long)pl_model_get_info(model).hash, (unsigned long long)print);
    if (e->robot_file) {
        pl_text_add(t, "  robot_file: ");
        write_name(t, e->robot_file);
        pl_text_add(t, "\n");
    }

    pl_text_add(t, "  marker: ");
    write_name(t, e->marker);
    pl_text_add(t, "\n  samples: %d\n  commands: %d\n  at: ", e->count, e->command_count);
    doc_numbers_write(t, e->command, (int64_t)e->count * e->command_count, true);
    pl_text_add(t, "\n  position: ");
    doc_numbers_write(t, e->position, e->count, true);
    pl_text_add(t, "\n  rotation: ");
    doc_numbers_write(t, e->rotation, e->count, true);
    pl_text_add(t, "\n");
    pl_model_destroy(model);

    return PL_OK;
}

// Commands, hardware, markers, gravity.
static void write_rest(pl_text *t, const pl_reduced_def *d)
{
    write_commands(t, d);
    write_hardware(t, d);
    pl_text_add(t, d->marker_count ? "markers:\n" : "");

    for (int i = 0; i < d->marker_count; ++i) {
        const pl_line_marker_def *m = &d->marker[i];
        pl_text_add(t, "  ");
        write_name(t, m->name);
        pl_text_add(t, ": {at: %.10g, offset: [%.10g, %.10g, %.10g]}\n", m->at, m->offset[0], m->offset[1],
                    m->offset[2]);
    }

    const double *g = d->gravity;
    if (g[0] != 0 || g[1] != 0 || g[2] != 0) {
        pl_text_add(t, "loads:\n  gravity: [%.10g m/s^2, %.10g m/s^2, %.10g m/s^2]\n", g[0] / 1000,
                    g[1] / 1000, g[2] / 1000);
    }
}

pl_status pl_reduced_write(const pl_reduced_def *def, const char *comment, const char *path, pl_error *err)
{
    pl_text t = {0};
    const double *Q = def->frame;

    if (def->sensor_count > 0 || def->force_count > 0 || def->load_count > 0) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s: models with sensors, forces or distributed loads cannot be written", path);
    }

    pl_text_add(&t, "%spliant: 1\nname: ", comment ? comment : "");
    write_name(&t, def->name);
    pl_text_add(&t, "\nmodel:\n  kind: %s\n", pl_reduced_kind_name(def->kind));
    if (def->as_published) {
        pl_text_add(&t, "  as_published: true\n");
    }

    if (Q[8] != 0 || Q[2] != 0 || Q[5] != 0) {
        pl_text_add(
            &t,
            "  base: {at: [%.10g, %.10g, %.10g], axis: [%.10g, %.10g, %.10g], x: [%.10g, %.10g, %.10g]}\n",
            def->base[0], def->base[1], def->base[2], Q[2], Q[5], Q[8], Q[0], Q[3], Q[6]);
    }

    // spans of actuators refer to the whole length
    const double length = write_sections(&t, def);
    write_actuators(&t, def, false, length);
    write_actuators(&t, def, true, length);
    write_rest(&t, def);
    pl_status status = write_errors(&t, def, path, err);
    if (status == PL_OK) {
        status =
            t.failed ? pl_fail_memory(err, "the robot file") : pl_file_write(path, t.data, t.length, err);
    }

    pl_text_clear(&t);

    return status;
}
