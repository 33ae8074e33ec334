// A coarser model of the same robot, for previews and workspaces: elements about twice as long, accepted only
// if the mesh has less than half of the vertices.
#include "base/base.h"
#include "mesh/mesh.h"
#include "pliant/analysis.h"
#include "pliant/text.h"

#define COARSE_SMALL 600     // vertices below which the fine mesh answers fast enough
#define COARSE_SHELL_TRIES 3 // the mean edge of a shell is short, for many edges run across

// Whether the body has prisms: shells, whose mean edge misleads.
static bool coarse_is_shell(pl_mesh_view view)
{
    for (int32_t e = 0; e < view.element_count; ++e) {
        if (!pl_element_is_tet(view.kind[e])) {
            return true;
        }
    }

    return false;
}

// Ends a load whose mesh is not coarse enough, before a solver is prepared for it.
typedef struct coarse_gate {
    double most; // vertices
    bool refused;
} coarse_gate;

// Called when the robot is built, before its solver is: a mesh that is not coarse enough ends the load.
static pl_status coarse_admit(void *user, const pl_robot *robot, pl_error *err)
{
    coarse_gate *gate = user;
    gate->refused = pl_mesh_get(pl_robot_mesh(robot)).vertex_count >= gate->most;
    return gate->refused ? pl_fail(err, PL_INTERRUPTED, "the coarse mesh has no benefit") : PL_OK;
}

// *out stays NULL, with PL_OK, where a coarser mesh has no benefit.
pl_status pl_model_coarse_from_document(const pl_robot_document *document,
                                        const pl_model_load_options *options, const pl_model *fine,
                                        pl_model **out, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(fine);
    *out = NULL;
    if (!robot || pl_mesh_get(pl_robot_mesh(robot)).vertex_count < COARSE_SMALL) {
        return PL_OK;
    }

    // twice the mean edge; shells are given further attempts with larger ones
    const pl_mesh *mesh = pl_robot_mesh(robot);
    const pl_mesh_view view = pl_mesh_get(mesh);
    const double edge = pl_mesh_measure_quality(mesh).mean_edge;
    const int tries = coarse_is_shell(view) ? COARSE_SHELL_TRIES : 1;
    coarse_gate gate = {.most = 0.5 * view.vertex_count};
    pl_model_load_options coarse = *options;
    coarse.built = coarse_admit;
    coarse.built_user = &gate;

    for (int i = 0; i < tries; ++i) {
        coarse.load.size = (2 + i) * edge;
        const pl_status status = pl_model_from_document(document, &coarse, out, NULL, err);
        if (!gate.refused) {
            return status;
        }
    }

    return PL_OK;
}
