// Volume meshes by the extension of their file.
#include <strings.h>
#include "meshfile/meshfile_build.h"
#include "mesh/mesh.h"
#include "meshfile/meshfile.h"

// With the dot, "" if there is none.
static const char *mesh_extension(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : "";
}

static bool mesh_one_of(const char *extension, const char *const *known, int count)
{
    for (int i = 0; i < count; ++i) {
        if (strcasecmp(extension, known[i]) == 0) {
            return true;
        }
    }

    return false;
}

// Formats with readers of our own, then those that need the mesher; surfaces are the usual mistake.
pl_status pl_mesh_load(const char *path, double unit, const pl_mesher *mesher, pl_mesh **out,
                       pl_findings *findings, pl_error *err)
{
    static const char *const foreign[] = {".msh", ".vtk", ".unv"};
    static const char *const closed[] = {".stl", ".obj", ".step", ".stp"};
    static const char *const tetgen[] = {".node", ".ele"};
    const char *extension = mesh_extension(path);

    *out = NULL;
    if (strcasecmp(extension, ".vtu") == 0) {
        return pl_mesh_read_vtu(path, unit, out, findings, err);
    }
    if (strcasecmp(extension, ".inp") == 0) {
        return pl_mesh_read_inp(path, unit, out, findings, err);
    }
    if (mesh_one_of(extension, tetgen, PL_COUNT(tetgen))) {
        return pl_mesh_read_tetgen(path, unit, out, findings, err);
    }

    if (mesh_one_of(extension, foreign, PL_COUNT(foreign))) {
        if (!mesher || !mesher->build) {
            return pl_fail(err, PL_BAD_INPUT,
                           "%s: %s files are read by pliant::meshing, which is not available; without it "
                           "only .vtu, .inp and .node/.ele are supported",
                           path, extension);
        }

        const pl_mesh_source source = {.kind = PL_SOURCE_FILE, .path = path, .unit = unit, .order = 1};
        return mesher->build(mesher->user, &source, NULL, out, findings, err);
    }

    if (mesh_one_of(extension, closed, PL_COUNT(closed))) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "%s: %s files contain surfaces, expected a volume mesh; give them under mesh: parts or step",
            path, extension);
    }

    return pl_fail(
        err, PL_BAD_INPUT,
        "%s: the extension \"%s\" is unknown; volume meshes are .vtu, .inp, .node/.ele, .msh, .vtk, .unv, "
        "surfaces .stl and .obj, CAD .step",
        path, extension);
}
