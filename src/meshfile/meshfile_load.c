// Meshes by the extension of their file: the table of formats, and what reads and writes by it.
#include <strings.h>
#include "meshfile/meshfile_build.h"
#include "meshfile/meshfile.h"

static pl_status format_write_vtu(const mesh_output *m, const char *path, pl_error *err)
{
    return pl_mesh_write_vtu(m->mesh, path, PL_VTU_RAW, err);
}

static pl_status format_write_tetgen(const mesh_output *m, const char *path, pl_error *err)
{
    return pl_mesh_write_tetgen(m->mesh, path, err);
}

static pl_status format_write_inp(const mesh_output *m, const char *path, pl_error *err)
{
    return pl_mesh_write_inp(m->mesh, path, err);
}

static pl_status format_write_stl(const mesh_output *m, const char *path, pl_error *err)
{
    return pl_mesh_write_stl(m->mesh, m->surface, m->position, path, err);
}

static pl_status format_write_msh(const mesh_output *m, const char *path, pl_error *err)
{
    if (!m->mesher || !m->mesher->write) {
        return pl_fail(err, PL_BAD_INPUT, "%s: written by pliant::meshing, which is not available", path);
    }
    return m->mesher->write(m->mesher->user, m->mesh, path, err);
}

// One row per extension: what the robot file takes, what is read and written, messages and the command's
// list of outputs follow it. A volume format without a reader here is read by the mesher.
static const mesh_format formats[] = {
    {".vtu", PL_MESH_VOLUME, pl_mesh_read_vtu, format_write_vtu},
    {".inp", PL_MESH_VOLUME, pl_mesh_read_inp, format_write_inp},
    {".node", PL_MESH_VOLUME, pl_mesh_read_tetgen, format_write_tetgen},
    {".ele", PL_MESH_VOLUME, pl_mesh_read_tetgen, NULL},
    {".msh", PL_MESH_VOLUME, NULL, format_write_msh},
    {".vtk", PL_MESH_VOLUME, NULL, NULL},
    {".unv", PL_MESH_VOLUME, NULL, NULL},
    {".stl", PL_MESH_SURFACE, NULL, format_write_stl},
    {".obj", PL_MESH_SURFACE, NULL, NULL},
    {".step", PL_MESH_CAD, NULL, NULL},
    {".stp", PL_MESH_CAD, NULL, NULL},
};

// With the dot, "" if there is none.
static const char *format_extension(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : "";
}

static const mesh_format *format_find(const char *path)
{
    const char *extension = format_extension(path);
    for (int i = 0; i < PL_COUNT(formats); ++i) {
        if (strcasecmp(extension, formats[i].extension) == 0) {
            return formats + i;
        }
    }

    return NULL;
}

pl_mesh_content pl_mesh_content_of(const char *path)
{
    const mesh_format *format = format_find(path);
    return format ? format->content : PL_MESH_NO_CONTENT;
}

const char *pl_mesh_write_extension(int i)
{
    for (int k = 0; k < PL_COUNT(formats); ++k) {
        if (formats[k].write && i-- == 0) {
            return formats[k].extension;
        }
    }

    return NULL;
}

bool pl_mesh_is_read_here(const char *path)
{
    const mesh_format *format = format_find(path);
    return format && format->read;
}

void pl_mesh_extensions(pl_mesh_content content, bool here, char *buffer, size_t size)
{
    int total = 0, put = 0;
    for (int i = 0; i < PL_COUNT(formats); ++i) {
        total += formats[i].content == content && (!here || formats[i].read);
    }

    buffer[0] = 0;
    for (int i = 0; i < PL_COUNT(formats); ++i) {
        if (formats[i].content == content && (!here || formats[i].read)) {
            const char *before = put == 0 ? "" : put + 1 < total ? ", " : " or ";
            const size_t used = strlen(buffer);
            pl_format(buffer + used, size - used, "%s%s", before, formats[i].extension);
            ++put;
        }
    }
}

pl_status pl_mesh_load(const char *path, double unit, const pl_mesher *mesher, pl_mesh **out,
                       pl_findings *findings, pl_error *err)
{
    const mesh_format *format = format_find(path);
    char volume[80], own[80], surface[80], cad[80];

    *out = NULL;
    if (format && format->read) {
        return format->read(path, unit, out, findings, err);
    }

    if (format && format->content == PL_MESH_VOLUME) {
        if (!mesher || !mesher->build) {
            pl_mesh_extensions(PL_MESH_VOLUME, true, own, sizeof own);
            return pl_fail(err, PL_BAD_INPUT,
                           "%s: %s files are read by pliant::meshing, which is not available; without it "
                           "only %s are supported",
                           path, format->extension, own);
        }

        const pl_mesh_source source = {.kind = PL_SOURCE_FILE, .path = path, .unit = unit, .order = 1};
        return mesher->build(mesher->user, &source, NULL, out, findings, err);
    }

    // surfaces are the usual mistake
    if (format) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "%s: %s files contain surfaces, expected a volume mesh; give them under mesh: parts or step",
            path, format->extension);
    }

    pl_mesh_extensions(PL_MESH_VOLUME, false, volume, sizeof volume);
    pl_mesh_extensions(PL_MESH_SURFACE, false, surface, sizeof surface);
    pl_mesh_extensions(PL_MESH_CAD, false, cad, sizeof cad);
    return pl_fail(err, PL_BAD_INPUT,
                   "%s: the extension \"%s\" is unknown; volume meshes are %s, surfaces %s, CAD %s", path,
                   format_extension(path), volume, surface, cad);
}

pl_status pl_mesh_write(const pl_mesh *mesh, const char *surface, const double *position,
                        const pl_mesher *mesher, const char *path, pl_error *err)
{
    const mesh_format *format = format_find(path);
    const mesh_output m = {mesh, surface, position, mesher};

    if (!format || !format->write) {
        return pl_fail(err, PL_BAD_INPUT, "%s: meshes are not written as \"%s\"", path,
                       format_extension(path));
    }
    if (position && format->content != PL_MESH_SURFACE) {
        return pl_fail(err, PL_BAD_INPUT, "%s: %s files are written of the undeformed mesh", path,
                       format->extension);
    }

    return format->write(&m, path, err);
}
