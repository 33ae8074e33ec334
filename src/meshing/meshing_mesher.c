// The mesher handed to pl_robot_load: sends each kind of source to the file that knows it.
#include <stdio.h>
#include "meshing/meshing_child.h"
#include "meshing/meshing.h"
#include "meshing/meshing_impl.h"

// A mesh file, raised to the order asked for. A file that is quadratic already stays so.
static pl_status mesher_from_file(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                                  pl_findings *findings, pl_error *err)
{
    pl_mesh *mesh = NULL;
    pl_status status = meshing_stage(progress, 0.1, "reading the mesh", err);

    if (status == PL_OK) {
        status = pl_meshing_read(source->path, source->unit > 0 ? source->unit : 1, &mesh, findings, err);
    }

    if (status == PL_OK && source->order == 2) {
        status = pl_mesh_raise(mesh, out, err);
        pl_mesh_destroy(mesh);
    } else {
        *out = mesh;
    }

    return status;
}

// Meshes the cavities of a mesh that exists.
static pl_status mesher_fill(void *user, pl_mesh **mesh, double size, const pl_progress *progress,
                             pl_findings *findings, pl_error *err)
{
    (void)user;
    return pl_meshing_fill(mesh, size, progress, findings, err);
}

// Everything but cavities, which designs fill themselves.
static pl_status mesher_make(const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                             pl_findings *findings, pl_error *err)
{
    *out = NULL;
    if (source->order != 1 && source->order != 2) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: order is %d, expected 1 or 2", source->order);
    }
    if (!(source->size >= 0) || isinf(source->size)) {
        return pl_fail(err, PL_BAD_INPUT, "mesh: size is %g mm, expected a positive length", source->size);
    }

    switch (source->kind) {
    case PL_SOURCE_DESIGN:
        return meshing_from_design(source, progress, out, findings, err);
    case PL_SOURCE_FILE:
        return mesher_from_file(source, progress, out, findings, err);
    case PL_SOURCE_PARTS:
        return meshing_from_part_files(source, progress, out, findings, err);
    case PL_SOURCE_SHEETS:
        return meshing_from_sheets(source, progress, out, err);
    case PL_SOURCE_STEP:
        return meshing_from_step(source, progress, out, findings, err);
    default:
        return pl_fail(err, PL_BAD_INPUT, "mesh: unknown kind of source %d", (int)source->kind);
    }
}

// A design that cannot be meshed is refused with its parameters: a thin wall or a narrow gap is due to them.
static void mesher_name_parameters(const pl_mesh_source *source, pl_error *err)
{
    char text[sizeof err->text];
    for (int i = 0; err && i < source->parameter_count; ++i) {
        if (strstr(err->text, source->parameter[i].name)) {
            return; // the message says it already
        }
    }

    if (!err) {
        return;
    }

    snprintf(text, sizeof text, "design %s: cannot be meshed with", source->design);
    for (int i = 0; i < source->parameter_count; ++i) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s %s %.4g", i > 0 ? "," : "", source->parameter[i].name,
                 source->parameter[i].value);
    }

    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, ": %.*s", (int)(sizeof text - used - 3), err->text);
    memcpy(err->text, text, sizeof text);
}

// In the mesher's process.
static pl_status mesher_work(void *user, const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                             pl_error *err)
{
    const pl_mesh_source *source = user;
    pl_status status = mesher_make(source, progress, out, findings, err);
    if ((status == PL_FAILED || status == PL_BAD_INPUT) && source->kind == PL_SOURCE_DESIGN &&
        source->parameter_count > 0) {
        mesher_name_parameters(source, err);
    }

    // designs draw their cavities as regions, sheets have none
    if (status == PL_OK && source->fill && source->kind != PL_SOURCE_DESIGN &&
        source->kind != PL_SOURCE_SHEETS) {
        status = pl_meshing_fill(out, source->size, progress, findings, err);
        if (status != PL_OK) {
            pl_mesh_destroy(*out);
            *out = NULL;
        }
    }

    return status;
}

// Runs the work in the mesher's process; the source needs to live until it returns.
static pl_status mesher_build(void *user, const pl_mesh_source *source, const pl_progress *progress,
                              pl_mesh **out, pl_findings *findings, pl_error *err)
{
    (void)user;

    // the sentences start with what the user named
    pl_mesh_source work = *source;
    const child_job job = {.source = source->path             ? source->path
                                     : source->part_count > 0 ? source->part[0].path
                                     : source->design         ? source->design
                                                              : "mesh",
                           .work = mesher_work,
                           .user = &work,
                           .setting = source->part_count > 0 ? meshing_parts_setting : meshing_cad_setting};
    return meshing_isolate(&job, progress, out, findings, err);
}

// Surfaces are read here: our own reader needs no process of its own.
static pl_status mesher_surface(void *user, const char *path, double unit, pl_trisurf *out, pl_error *err)
{
    (void)user;
    return pl_meshing_read_surface(path, unit, out, err);
}

static pl_status mesher_check(void *user, const pl_mesh_source *source, pl_error *err)
{
    (void)user;
    return source->kind == PL_SOURCE_DESIGN ? meshing_check_design(source, err) : PL_OK;
}

static pl_status mesher_write(void *user, const pl_mesh *mesh, const char *path, pl_error *err)
{
    (void)user;
    return pl_meshing_write_msh(mesh, path, false, err);
}

// Static, never NULL.
const pl_mesher *pl_meshing_mesher(void)
{
    static const pl_mesher mesher = {.build = mesher_build,
                                     .fill = mesher_fill,
                                     .surface = mesher_surface,
                                     .check = mesher_check,
                                     .write = mesher_write};
    return &mesher;
}

pl_status pl_meshing_from_step(const char *path, double unit, double size, int order,
                               const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                               pl_error *err)
{
    const pl_mesh_source source = {
        .kind = PL_SOURCE_STEP, .path = path, .unit = unit, .size = size, .order = order, .file = path};
    *out = NULL;

    return mesher_build(NULL, &source, progress, out, findings, err);
}

pl_status pl_meshing_from_design(const char *kind, const pl_design_value *value, int count, double size,
                                 int order, const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                                 pl_error *err)
{
    *out = NULL;
    pl_source_parameter *parameter = pl_alloc_array((size_t)count + 1, sizeof *parameter);
    if (!parameter) {
        return pl_fail_memory(err, "design: parameters");
    }
    for (int i = 0; i < count; ++i) {
        parameter[i] = (pl_source_parameter){.name = value[i].name, .value = value[i].value};
    }

    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN,
                                   .design = kind,
                                   .parameter = parameter,
                                   .parameter_count = count,
                                   .size = size,
                                   .order = order};
    const pl_status status = mesher_build(NULL, &source, progress, out, findings, err);
    pl_free(parameter);

    return status;
}
