// Open cavities are closed by caps over their rims: fans from the mean of a rim, or, where the rim slides in
// planes through one common point (a part cut along its symmetry planes), from that point, which leaves the
// cap in the planes.
#include "robot/robot_impl.h"

// Which support holds each axis of each vertex (the last one), 3 per vertex; -1: none.
static int32_t *rim_supports(const pl_robot *robot)
{
    const int64_t n = 3 * (int64_t)pl_mesh_get(robot->mesh).vertex_count;
    int32_t *of = PL_NEW_ARRAY(int32_t, n);
    for (int64_t i = 0; of && i < n; ++i) {
        of[i] = -1;
    }
    for (int k = 0; of && k < robot->support_count; ++k) {
        const pl_support *s = &robot->support[k];
        for (int32_t j = 0; j < s->node_count; ++j) {
            for (int i = 0; i < 3; ++i) {
                int32_t *slot = &of[3 * (int64_t)s->node[j] + i];
                *slot = s->axis[i] ? k : *slot;
            }
        }
    }
    return of;
}

// False when the rim is not of this kind.
static bool rim_apex(const robot_build *b, const int32_t *support_of, const int32_t *node, int32_t count,
                     double apex[3])
{
    const double *X = pl_mesh_get(b->robot->mesh).position;
    bool plane[3] = {false, false, false};
    double mean[3] = {0};
    for (int32_t j = 0; j < count; ++j) {
        bool held = false;
        for (int i = 0; i < 3; ++i) {
            const int64_t at = 3 * (int64_t)node[j] + i;
            const pl_support *s = support_of[at] >= 0 ? &b->robot->support[support_of[at]] : NULL;
            mean[i] += X[at] / count;
            if (!s || s->move[i] != 0 || pl_norm3(s->rotate) > 0) {
                continue;
            }
            if (plane[i] && fabs(apex[i] - X[at]) > 1e-9 * b->size) {
                return false;
            }
            plane[i] = held = true;
            apex[i] = X[at];
        }
        if (!held) {
            return false;
        }
    }
    // along an axis without a plane any point will do: the cap's sides stay in the planes
    for (int i = 0; i < 3; ++i) {
        apex[i] = plane[i] ? apex[i] : mean[i];
    }
    return true;
}

pl_status robot_rim_apexes(robot_build *b, pl_actuator *a)
{
    int32_t *support_of = rim_supports(b->robot);
    a->rim_apex = PL_NEW_ARRAY(double, 3 * (int64_t)a->rim_count);
    if (!support_of || !a->rim_apex) {
        pl_free(support_of);
        return robot_memory(b);
    }
    for (int r = 0; r < a->rim_count; ++r) {
        double *apex = a->rim_apex + 3 * (int64_t)r;
        if (!rim_apex(b, support_of, a->rim_node + a->rim_start[r], a->rim_start[r + 1] - a->rim_start[r],
                      apex)) {
            apex[0] = NAN;
        }
    }
    pl_free(support_of);
    return PL_OK;
}

const double *pl_rim_apex(const pl_actuator *chamber, int rim)
{
    const double *apex = chamber->rim_apex + 3 * (int64_t)rim;
    return isnan(apex[0]) ? NULL : apex;
}

pl_status pl_chamber_functional(const pl_mesh *mesh, const pl_actuator *a, pl_functional *h)
{
    pl_status status = pl_functional_add_volume_faces(h, mesh, a->face, a->face_count);
    for (int r = 0; status == PL_OK && r < a->rim_count; ++r) {
        status =
            pl_functional_add_rim(h, a->rim_node + a->rim_start[r], a->rim_start[r + 1] - a->rim_start[r],
                                  a->rim_quadratic, pl_rim_apex(a, r));
    }
    return status;
}
