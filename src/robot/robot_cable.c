// The triangles between a cable and the body that growth actuation shortens: on every piece that crosses a
// gap of the body, the apex at the bottom of the gap; where a cable crosses no gap, on every piece that has
// the body beside it.
#include "base/vec.h"
#include "mesh/mesh.h"
#include "robot/robot.h"

// The vertex at the bottom of the gap under a piece of cable: the nearest to its middle among those beside
// its middle third, off the cable. -1 when there is none.
// t: place along the piece; off2: squared distance from it, at least a fifth of its length.
static int32_t cable_apex(const pl_mesh_view *mesh, const bool *corner, const double a[3], const double b[3])
{
    double along[3];
    pl_sub3(b, a, along);
    const double length2 = pl_dot3(along, along);
    int32_t best = -1;
    double nearest = INFINITY;

    for (int32_t v = 0; v < mesh->vertex_count; ++v) {
        double p[3];
        pl_sub3(mesh->position + 3 * (size_t)v, a, p);
        const double t = pl_dot3(p, along) / length2;
        const double off2 = pl_dot3(p, p) - t * t * length2;
        if (corner[v] && t > 1.0 / 3 && t < 2.0 / 3 && off2 > 0.04 * length2 && off2 < nearest) {
            nearest = off2;
            best = v;
        }
    }

    return best;
}

// Whether the middle of a piece lies outside of the body, by more than 5 % of its length.
static bool cable_in_gap(const pl_mesh *mesh, const double a[3], const double b[3])
{
    const double middle[3] = {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2};
    pl_embedding at;
    return pl_mesh_embed(mesh, middle, &at, NULL) == PL_OK && at.distance > 0.05 * pl_distance3(a, b);
}

pl_status pl_cable_triangles(const pl_robot *robot, const pl_actuator *a, pl_cable_triangle *out, int *count,
                             pl_error *err)
{
    const pl_mesh_view mesh = pl_mesh_get(robot->mesh);
    bool *corner = PL_NEW_ARRAY(bool, mesh.vertex_count);

    if (!corner) {
        return pl_fail_memory(err, "robot: cables");
    }

    // corners only: mid nodes are not vertices of the triangles' mesh
    for (int32_t e = 0; e < mesh.element_count; ++e) {
        for (int k = 0; k < pl_element_corner_count(mesh.kind[e]); ++k) {
            corner[mesh.node[mesh.node_start[e] + k]] = true;
        }
    }

    // where some pieces cross gaps, only these have triangles
    bool gaps = false;
    for (int k = 0; k + 1 < a->guide_count; ++k) {
        gaps = gaps || cable_in_gap(robot->mesh, a->guide[k].rest, a->guide[k + 1].rest);
    }
    *count = 0;

    for (int k = 0; k + 1 < a->guide_count; ++k) {
        const double *p = a->guide[k].rest, *q = a->guide[k + 1].rest;
        const int32_t apex = !gaps || cable_in_gap(robot->mesh, p, q) ? cable_apex(&mesh, corner, p, q) : -1;
        if (apex >= 0) {
            out[(*count)++] = (pl_cable_triangle){k, apex};
        }
    }

    pl_free(corner);

    return *count > 0 ? PL_OK
                      : pl_fail(err, PL_BAD_INPUT,
                                "cable '%s' has no vertex of the body beside it, so there is no triangle to "
                                "shrink; use actuation: constraint",
                                a->name);
}

// The length: a sum of straight segments between weighted points.
pl_status pl_cable_functional(const pl_mesh *mesh, const pl_actuator *cable, pl_functional *h)
{
    pl_status status = PL_OK;
    (void)mesh;
    for (int k = 0; status == PL_OK && k + 1 < cable->guide_count; ++k) {
        const pl_point *a = &cable->guide[k], *b = &cable->guide[k + 1];
        status = pl_functional_add_segment(h, a->count, a->node, a->weight, a->rest, b->count, b->node,
                                           b->weight, b->rest);
    }

    return status;
}

int64_t pl_robot_tension_first(const pl_robot *robot, int actuator)
{
    int64_t first = 0;
    for (int i = 0; i < actuator; ++i) {
        const pl_actuator *a = &robot->actuator[i];
        first += a->friction > 0 ? a->guide_count - 1 : 0;
    }

    return first;
}

int64_t pl_robot_tension_count(const pl_robot *robot)
{
    return pl_robot_tension_first(robot, robot->actuator_count);
}
