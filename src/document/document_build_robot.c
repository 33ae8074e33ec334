// From a robot file to a robot: read, build or fetch the meshes, check everything against them.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "base/vec.h"
#include "document/document_tree.h"
#include "document/document_model.h"
#include "meshfile/meshfile.h"

// Brings a mesh to the order asked for.
// Order 2 adds mid nodes, order 1 drops them; *mesh is replaced.
static pl_status load_order(pl_mesh **mesh, int order, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(*mesh);
    bool linear = false, quadratic = false;

    for (int32_t e = 0; e < v.element_count; ++e) {
        const bool is_linear = !pl_element_is_quadratic(v.kind[e]);
        linear = linear || is_linear;
        quadratic = quadratic || !is_linear;
    }

    if (order == 2 ? !linear : !quadratic) {
        return PL_OK;
    }

    pl_mesh *other = NULL;
    const pl_status status =
        order == 2 ? pl_mesh_raise(*mesh, &other, err) : pl_mesh_corners(*mesh, &other, NULL, err);
    if (status == PL_OK) {
        pl_mesh_destroy(*mesh);
        *mesh = other;
    }

    return status;
}

// Sizes that suggest a wrong unit.
static void load_judge_size(doc_robot_file *f, const pl_body_def *body, const pl_mesh *mesh)
{
    double low[3], high[3];
    pl_mesh_bounds(mesh, low, high);
    const double diagonal = pl_distance3(low, high);
    if (body->source.size > diagonal) {
        doc_warning(f, body->source.line, "mesh: size %g mm is larger than the body (%.4g mm)",
                    body->source.size, diagonal);
    }

    if (diagonal < 0.05 || diagonal > 2e4) {
        doc_warning(f, body->source.line, "the size of body '%s' is %.4g mm, which is implausible",
                    body->name, diagonal);
        doc_advise(f, "check mesh: unit");
    }
}

// Limits of what a mesh may differ from its part: the first draws a warning, the second a refusal.
#define LOAD_VOLUME_WARN 0.01
#define LOAD_VOLUME_LIMIT 0.05
#define LOAD_AREA_WARN 0.03
#define LOAD_DISTANCE_WARN 0.25 // of the thinnest wall
#define LOAD_DISTANCE_LIMIT 0.5
#define LOAD_FIT "mesh: the mesh differs from the part: volume %+.2g %%, area %+.2g %%%s"

// Compares mesh and part, made just now or taken from the cache.
static pl_status load_judge_fit(doc_robot_file *f, const pl_body_def *body, const pl_mesh *mesh)
{
    const pl_mesh_fit fit = pl_mesh_get_fit(mesh);
    if (fit.samples == 0 || !(fit.part_volume > 0) || !(fit.part_area > 0)) {
        return PL_OK;
    }

    // relative errors; distances in thinnest walls
    const double volume = fit.mesh_volume / fit.part_volume - 1, area = fit.mesh_area / fit.part_area - 1;
    const double distance = fit.wall > 0 ? fit.distance / fit.wall : 0;
    const bool refused = fabs(volume) > LOAD_VOLUME_LIMIT || distance > LOAD_DISTANCE_LIMIT;
    if (!refused && fabs(volume) <= LOAD_VOLUME_WARN && fabs(area) <= LOAD_AREA_WARN &&
        distance <= LOAD_DISTANCE_WARN) {
        return PL_OK;
    }

    char away[64] = "";
    if (fit.distance >= 0) {
        snprintf(away, sizeof away, ", surface up to %.3g mm away", fit.distance);
    }

    // the user may accept a mesh that differs
    if (refused && !body->source.accept) {
        doc_defect(f, body->source.line, LOAD_FIT, 100 * volume, 100 * area, away);
        doc_advise(f, "choose a smaller size; mesh: accept: true computes with this mesh all the same");
        return PL_BAD_INPUT;
    }

    doc_warning(f, body->source.line, LOAD_FIT, 100 * volume, 100 * area, away);
    doc_advise(f, "a smaller size follows the part better");

    return PL_OK;
}

// What a text says behind "FILE:" or "FILE:LINE:", for a finding that carries both itself.
static const char *load_sentence(const char *text, const char *file, int *line)
{
    const size_t length = file ? strlen(file) : 0;
    if (length == 0 || strncmp(text, file, length) != 0 || text[length] != ':') {
        return text;
    }

    const char *rest = text + length + 1;
    char *end;
    const long number = strtol(rest, &end, 10);
    if (end > rest && end[0] == ':' && number > 0 && number < INT_MAX) {
        *line = (int)number;
        rest = end + 1;
    }

    return rest + strspn(rest, " ");
}

// Cavities of a mesh that was read here.
static pl_status load_fill(const pl_mesh_source *source, const pl_load_options *options, pl_mesh **mesh,
                           pl_findings *findings, pl_error *err)
{
    const pl_mesher *mesher = options->mesher;
    const pl_status status =
        mesher && mesher->fill
            ? mesher->fill(mesher->user, mesh, source->size, options->progress, findings, err)
            : pl_fail(err, PL_BAD_INPUT, "fill needs meshing, but this program was built without it");

    if (status != PL_OK) {
        pl_mesh_destroy(*mesh);
        *mesh = NULL;
    }

    return status;
}

// The mesh of one body; what goes wrong becomes a finding at the line of its `mesh:` block.
static pl_status load_body(doc_robot_file *f, const pl_body_def *body, const pl_load_options *options,
                           pl_mesh **out)
{
    // the caller's size and order win
    pl_mesh_source source = body->source;
    source.size = options->size > 0 ? options->size : source.size;
    source.order = options->order > 0 ? options->order : source.order;
    source.fill = source.fill || (options->fill && source.kind == PL_SOURCE_DESIGN);
    pl_findings *findings = pl_findings_create();
    if (!findings) {
        f->no_memory = true;
        return PL_NO_MEMORY;
    }

    if (source.kind == PL_SOURCE_FILE && options->size > 0 && !source.fill) {
        doc_warning(f, body->source.line,
                    "the size of %g mm asked for is not used: '%s' is a finished mesh and stays as it is",
                    options->size, source.path);
    }

    // by kind of source: read here, through the mesher, or made and kept
    pl_error err = {0};
    pl_status status;
    if (source.kind == PL_SOURCE_FILE && (!options->mesher || pl_mesh_is_read_here(source.path))) {
        status = pl_mesh_load(source.path, source.unit > 0 ? source.unit : 1, NULL, out, findings, &err);
        if (status == PL_OK && source.fill) {
            status = load_fill(&source, options, out, findings, &err);
        }
    } else if (source.kind == PL_SOURCE_FILE) {
        source.unit = source.unit > 0 ? source.unit : 1;
        status =
            options->mesher->build(options->mesher->user, &source, options->progress, out, findings, &err);
    } else if (!options->mesher) {
        status = pl_fail(&err, PL_BAD_INPUT, "meshing is needed, but this program was built without it");
    } else {
        status = doc_cache_build(f, &source, options, out, findings, &err);
    }

    // findings of the mesh become findings of the robot file
    if (status == PL_OK) {
        status = load_order(out, source.order, &err);
    }
    for (int i = 0; i < pl_findings_count(findings); ++i) {
        doc_adopt_finding(f, pl_findings_at(findings, i), body->source.line);
    }

    if (status != PL_OK && pl_findings_defect_count(findings) == 0) {
        int line = body->source.line;
        const char *text = load_sentence(err.text, f->path, &line);
        doc_defect(f, line, "%s%s", strncmp(text, "mesh: ", 6) == 0 ? "" : "mesh: ", text);
    }

    pl_findings_destroy(findings);

    // what the mesh looks like
    if (status == PL_OK) {
        load_judge_size(f, body, *out);
        status = load_judge_fit(f, body, *out);
    }

    return status;
}

// Meshes of all bodies, obstacles, then the robot. Interruptions are asked for between the steps.
static pl_status load_robot(doc_robot_file *f, const pl_load_options *options, pl_robot **out)
{
    pl_mesh **mesh = PL_NEW_ARRAY(pl_mesh *, f->def.body_count);
    if (!mesh) {
        return PL_NO_MEMORY;
    }

    pl_status status = PL_OK;
    for (int i = 0; status == PL_OK && i < f->def.body_count; ++i) {
        if (!pl_progress_step(options->progress, -1, "mesh")) {
            status = PL_INTERRUPTED;
            doc_defect(f, 0, "interrupted");
        } else {
            status = load_body(f, &f->def.body[i], options, &mesh[i]);
        }
    }

    if (status == PL_OK) {
        status = doc_load_obstacles(f, options);
    }
    if (status == PL_OK && !pl_progress_step(options->progress, -1, "building the robot")) {
        status = PL_INTERRUPTED;
        doc_defect(f, 0, "interrupted");
    }

    // the robot copies the meshes
    if (status == PL_OK) {
        pl_error err = {0};
        status = pl_robot_build(&f->def, (const pl_mesh *const *)mesh, out, f->findings, &err);
        if (status != PL_OK && pl_findings_defect_count(f->findings) == 0) {
            doc_defect(f, 0, "%s", err.text);
        }
    }

    for (int i = 0; i < f->def.body_count; ++i) {
        pl_mesh_destroy(mesh[i]);
    }
    pl_free(mesh);

    return status;
}

// A force of zero and three small moments at a marker, behind the robot's own loads, in the order that
// reduced.h promises: the derivatives with respect to them give the compliance there.
static void load_probe(doc_robot_file *f, const char *marker)
{
    for (int i = -1; i < 3; ++i) {
        pl_force_def *slot = doc_append(f, &f->force, sizeof *slot);
        if (slot) {
            *slot = (pl_force_def){.marker = marker};
            if (i >= 0) {
                slot->moment[i] = PL_PROBE_MOMENT;
            }
        }
    }

    f->def.force = f->force.item;
    f->def.force_count = f->force.count;
}

// Unknown or impossible parameters of designs, reported together with the other defects of the file.
static void load_check_designs(doc_robot_file *f, const pl_load_options *options)
{
    for (int i = 0; options->mesher && options->mesher->check && i < f->def.body_count; ++i) {
        const pl_mesh_source *source = &f->def.body[i].source;
        pl_error err = {0};

        if (options->mesher->check(options->mesher->user, source, &err) != PL_OK) {
            int line = source->line;
            const char *text = load_sentence(err.text, f->path, &line);
            doc_defect(f, line, "mesh: %s", text);
        }
    }
}

// Builds from a file that has been read; its defects are reported first. *out is NULL on failure.
pl_status doc_robot_file_build(doc_robot_file *f, const pl_load_options *options, pl_robot **out,
                               pl_findings *findings, pl_error *err)
{
    static const pl_load_options none;
    *out = NULL;
    options = options ? options : &none;

    if (!(options->size >= 0) || !isfinite(options->size) || options->order < 0 || options->order > 2) {
        return pl_fail(err, PL_BAD_INPUT,
                       "load options: size is %g and order %d; expected a length and 1 or 2", options->size,
                       options->order);
    }

    pl_status status = PL_OK;
    load_check_designs(f, options);
    if (!f->no_memory && pl_findings_defect_count(f->findings) == 0 && f->model) {
        doc_defect(f, f->model->def.line, "the robot is a reduced model; a robot with a mesh is needed here");
    } else if (!f->no_memory && pl_findings_defect_count(f->findings) == 0) {
        // loads that the caller adds
        if (options->probe) {
            load_probe(f, options->probe);
        }
        status = load_robot(f, options, out);
        if (status == PL_OK && *out) {
            doc_cache_orders(f, options, *out);
        }
    }

    status = status == PL_NO_MEMORY ? pl_fail_memory(err, "the robot")
                                    : doc_robot_file_report(f, status, findings, err);
    if (status != PL_OK) {
        pl_robot_destroy(*out);
        *out = NULL;
    }

    return status;
}

pl_status pl_robot_from_document(const pl_robot_document *document, const pl_load_options *options,
                                 pl_robot **out, pl_findings *findings, pl_error *err)
{
    doc_robot_file f;
    doc_robot_file_read(&f, document);
    const pl_status status = doc_robot_file_build(&f, options, out, findings, err);
    doc_robot_file_clear(&f);
    return status;
}

// From text, or from the file at `path` where `text` is NULL.
static pl_status robot_load_document(const char *text, size_t length, const char *path,
                                     const pl_load_options *options, pl_robot **out, pl_findings *findings,
                                     pl_error *err)
{
    pl_robot_document *document = NULL;
    if (!out) {
        return pl_fail(err, PL_BAD_INPUT, "robot file: the result pointer must not be NULL");
    }

    *out = NULL;
    pl_status status = text ? pl_robot_document_parse(text, length, path, &document, err)
                            : pl_robot_document_read(path, &document, findings, err);
    if (status == PL_OK) {
        status = pl_robot_from_document(document, options, out, findings, err);
    }
    pl_robot_document_destroy(document);

    return status;
}

pl_status pl_robot_load_text(const char *text, size_t length, const char *path,
                             const pl_load_options *options, pl_robot **out, pl_findings *findings,
                             pl_error *err)
{
    return robot_load_document(text ? text : "", text ? length : 0, path, options, out, findings, err);
}

pl_status pl_robot_load(const char *path, const pl_load_options *options, pl_robot **out,
                        pl_findings *findings, pl_error *err)
{
    return robot_load_document(NULL, 0, path, options, out, findings, err);
}
