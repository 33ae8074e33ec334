// A coarser model of the same robot, for previews and workspaces.
#include "pliant/io.h"

#define COARSE_SMALL 600     // vertices below which the fine mesh answers fast enough
#define COARSE_SHELL_TRIES 3 // the mean edge of a shell is short, for many edges run across

static bool coarse_is_shell(pl_mesh_view view)
{
    for (int32_t e = 0; e < view.element_count; ++e) {
        if (view.kind[e] == PL_PRISM6 || view.kind[e] == PL_PRISM15) {
            return true;
        }
    }
    return false;
}

pl_status pl_model_load_coarse(const char *path, const pl_model_load_options *options, const pl_model *fine,
                               pl_model **out, pl_error *err)
{
    const pl_robot *robot = pl_model_robot(fine);
    *out = NULL;
    if (!robot || pl_mesh_get(pl_robot_mesh(robot)).vertex_count < COARSE_SMALL) {
        return PL_OK;
    }
    const pl_mesh *mesh = pl_robot_mesh(robot);
    const pl_mesh_view view = pl_mesh_get(mesh);
    const double edge = pl_mesh_measure_quality(mesh).mean_edge;
    const int tries = coarse_is_shell(view) ? COARSE_SHELL_TRIES : 1;
    pl_model_load_options coarse = *options;
    pl_status status = PL_OK;
    for (int i = 0; i < tries && status == PL_OK; ++i) {
        pl_model *model = NULL;
        coarse.load.size = (2 + i) * edge;
        status = pl_model_load(path, &coarse, &model, NULL, err);
        if (status == PL_OK && pl_model_get_info(model).vertex_count < 0.5 * view.vertex_count) {
            *out = model;
            return PL_OK;
        }
        pl_model_destroy(model);
    }
    return status;
}
