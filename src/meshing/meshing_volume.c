// The last stages, common to all sources: sizes, surface mesh, volume mesh, order, extraction.
#include "meshing/meshing_impl.h"

// Quadratic with mid-edge nodes on the curved boundary; *out stays NULL when some element would turn inside
// out.
static pl_status volume_curved(gmsh_session *g, const extract_options *extract, pl_mesh **out,
                               pl_mesh_report *report, pl_error *err)
{
    GMSH(g, gmshModelMeshSetOrder(2, &g->ierr));
    if (g->failed) {
        return meshing_fail(g, extract->source, err);
    }
    return meshing_extract(g, extract, out, report, err);
}

static pl_status volume_straight(gmsh_session *g, const extract_options *extract, int order, pl_mesh **out,
                                 pl_mesh_report *report, pl_error *err)
{
    pl_mesh *linear = NULL;
    pl_status status = meshing_extract(g, extract, &linear, report, err);
    if (status == PL_OK && order == 2) {
        status = pl_mesh_raise(linear, out, err);
        pl_mesh_destroy(linear);
    } else {
        *out = linear;
    }
    return status;
}

static pl_status volume_extract(gmsh_session *g, const volume_options *options, pl_mesh **out,
                                pl_findings *findings, pl_error *err)
{
    const extract_options extract = {.scale = 1, .source = options->source, .body = "body"};
    pl_mesh_report report = {0};
    pl_status status = PL_OK;
    if (options->order == 2 && !options->keep_surface) {
        pl_error curved;
        status = volume_curved(g, &extract, out, &report, &curved);
        if (status == PL_OK || status == PL_NO_MEMORY || g->failed) {
            if (status != PL_OK) {
                return pl_fail(err, status, "%s", curved.text);
            }
            meshing_report_findings(&report, options->source, findings);
            return PL_OK;
        }
        pl_findings_add(findings, PL_NOTE, NULL, 0,
                        "%s: edges are straight, because some quadratic elements would "
                        "turn inside out on the curved boundary",
                        options->source);
        pl_findings_advise(findings, "a smaller mesh size lets the elements follow the boundary");
        GMSH(g, gmshModelMeshSetOrder(1, &g->ierr));
    }
    status = volume_straight(g, &extract, options->order, out, &report, err);
    if (status == PL_OK) {
        meshing_report_findings(&report, options->source, findings);
    }
    return status;
}

pl_status meshing_volume(gmsh_session *g, const volume_options *options, const pl_progress *progress,
                         pl_mesh **out, pl_findings *findings, pl_error *err)
{
    *out = NULL;
    GMSH(g, gmshOptionSetNumber("Mesh.MeshSizeMax", options->size, &g->ierr));
    pl_status status = meshing_stage(progress, 0.2, "meshing the surfaces", err);
    if (status == PL_OK && !options->keep_surface && !GMSH(g, gmshModelMeshGenerate(2, &g->ierr))) {
        status = meshing_fail(g, options->source, err);
    }
    if (status == PL_OK) {
        status = meshing_stage(progress, 0.5, "meshing the volume", err);
    }
    if (status == PL_OK && !GMSH(g, gmshModelMeshGenerate(3, &g->ierr))) {
        status = meshing_fail(g, options->source, err);
    }
    if (status == PL_OK) {
        status = meshing_stage(progress, 0.9, "gathering the mesh", err);
    }
    if (status == PL_OK) {
        status = volume_extract(g, options, out, findings, err);
    }
    return status;
}
