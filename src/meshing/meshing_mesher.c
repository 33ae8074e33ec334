// The mesher handed to pl_robot_load: sends each kind of source to the file that knows it.
#include "meshing/meshing_impl.h"

static pl_status mesher_build(void *user, const pl_mesh_source *source, const pl_progress *progress,
                              pl_mesh **out, pl_findings *findings, pl_error *err)
{
    (void)user;
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
    default:
        return pl_fail(err, PL_BAD_INPUT, "mesh: unknown kind of source %d", (int)source->kind);
    }
}

const pl_mesher *pl_meshing_mesher(void)
{
    static const pl_mesher mesher = {.build = mesher_build};
    return &mesher;
}
