// Body points by name or place, for shapes and curvatures.
#include "kinematics/kinematics_impl.h"
#include "mesh/mesh.h"
#include "pliant/target.h"
#include "kinematics/kinematics_task.h"

#define POINTS_ON_LINE 41 // places looked at along a line

// Marks all nodes of a face.
static void points_mark_face(const pl_mesh *mesh, int64_t face, bool *mark)
{
    int32_t node[PL_FACE_NODES_MAX];
    const int count = pl_mesh_face_nodes(mesh, face, node);
    for (int a = 0; a < count; ++a) {
        mark[node[a]] = true;
    }
}

static void points_mark_boundary(const pl_mesh *mesh, bool *mark)
{
    const int64_t *face = NULL;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    for (int64_t f = 0; f < count; ++f) {
        points_mark_face(mesh, face[f], mark);
    }
}

// Marks the points of a surface or region. False when there is none of that name.
static bool points_mark_named(const pl_mesh *mesh, const char *name, bool *mark)
{
    const int32_t surface = pl_mesh_find_surface(mesh, name), region = pl_mesh_find_region(mesh, name);
    const pl_mesh_view v = pl_mesh_get(mesh);

    for (int64_t f = surface < 0 ? 0 : v.surface_start[surface];
         surface >= 0 && f < v.surface_start[surface + 1]; ++f) {
        points_mark_face(mesh, v.surface_face[f], mark);
    }

    for (int32_t e = 0; surface < 0 && region >= 0 && e < v.element_count; ++e) {
        for (int64_t i = v.node_start[e]; v.region[e] == region && i < v.node_start[e + 1]; ++i) {
            mark[v.node[i]] = true;
        }
    }

    return surface >= 0 || region >= 0;
}

// The list is owned by the caller (pl_mesh_free_indices). Without a name: the points of the boundary,
// or all points of a centre line.
pl_status pl_model_points(const pl_model *model, const char *name, int32_t **point, int32_t *count,
                          pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    const pl_robot *robot = pl_model_robot(model);

    *count = 0;
    *point = PL_NEW_ARRAY(int32_t, info.point_count);
    bool *mark = PL_NEW_ARRAY(bool, info.point_count);
    pl_status status = *point && mark ? PL_OK : pl_fail_memory(err, "body points");
    if (status == PL_OK && name && (!robot || !points_mark_named(pl_robot_mesh(robot), name, mark))) {
        status = pl_fail(err, PL_BAD_INPUT, "the body has no surface or region '%s'", name);
    } else if (status == PL_OK && !name && robot) {
        points_mark_boundary(pl_robot_mesh(robot), mark);
    }

    // marked points in rising order
    for (int32_t i = 0; status == PL_OK && i < info.point_count; ++i) {
        if (mark[i] || (!name && !robot)) {
            (*point)[(*count)++] = i;
        }
    }

    pl_free(mark);
    if (status != PL_OK) {
        pl_free(*point);
        *point = NULL;
    }

    return status;
}

// Body points nearest to a line in the undeformed configuration, in the order of the line, each once.
pl_status pl_model_points_on_line(const pl_model *model, const double from[3], const double to[3],
                                  int32_t **point, int32_t *count, pl_error *err)
{
    const pl_model_info info = pl_model_get_info(model);
    *count = 0;
    *point = PL_NEW_ARRAY(int32_t, POINTS_ON_LINE);
    if (!*point) {
        return pl_fail_memory(err, "body points");
    }

    for (int k = 0; k < POINTS_ON_LINE; ++k) {
        double at[3];
        for (int i = 0; i < 3; ++i) {
            at[i] = from[i] + (to[i] - from[i]) * k / (POINTS_ON_LINE - 1);
        }
        const int near = pl_nearest_point(info.rest, info.point_count, 3, at);
        bool seen = near < 0;
        for (int32_t j = 0; j < *count; ++j) {
            seen = seen || (*point)[j] == near;
        }
        if (!seen) {
            (*point)[(*count)++] = near;
        }
    }

    return PL_OK;
}
