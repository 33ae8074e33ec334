// The air of a chamber that was meshed: taken out of the robot's mesh, remembered as tets for methods that
// grow it.
#include "robot/robot_impl.h"

// Number of each vertex of `mesh` among those of the elements that stay (in the mesh's order, which is how
// pl_mesh_create numbers them), -1 for those inside the air.
static void fill_number(const pl_mesh_view *v, const bool *gone, int32_t offset, int32_t *number)
{
    for (int32_t k = 0; k < v->vertex_count; ++k) {
        number[k] = -1;
    }

    for (int32_t e = 0; e < v->element_count; ++e) {
        for (int64_t a = v->node_start[e]; !gone[e] && a < v->node_start[e + 1]; ++a) {
            number[v->node[a]] = 0;
        }
    }

    for (int32_t k = 0, n = offset; k < v->vertex_count; ++k) {
        number[k] = number[k] == 0 ? n++ : -1;
    }
}

// y = R x + t, the place of the body in the world.
static void fill_point(const pl_body_def *body, const double *from, double *to)
{
    pl_mulv3(body->rotation, from, to);
    for (int i = 0; i < 3; ++i) {
        to[i] += body->translation[i];
    }
}

// Stores the tets of a chamber's air. Vertices on the wall are numbered as in the robot's mesh, those inside
// get -1, -2, ... because the number of vertices is not known yet.
pl_status robot_fill_take(robot_build *b, int actuator, const pl_mesh *mesh, const bool *air,
                          const bool *gone, int32_t offset, const pl_body_def *body)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    robot_fill *fill = &b->fill[actuator];

    // only an air of tets can be grown
    int64_t tets = 0, others = 0;

    for (int32_t e = 0; e < v.element_count; ++e) {
        const bool tet = pl_element_is_tet(v.kind[e]);
        tets += air[e] && tet;
        others += air[e] && !tet;
    }

    if (tets == 0 || others > 0 || fill->tet) {
        return PL_OK;
    }

    int32_t *number = PL_NEW_ARRAY(int32_t, v.vertex_count), *inner = PL_NEW_ARRAY(int32_t, v.vertex_count);
    fill->tet = PL_NEW_ARRAY(int32_t, 4 * tets);
    fill->position = PL_NEW_ARRAY(double, 12 * tets);

    if (!number || !inner || !fill->tet || !fill->position) {
        pl_free(number);
        pl_free(inner);
        return robot_memory(b);
    }

    // corners suffice: mid nodes of the air carry nothing
    fill_number(&v, gone, offset, number);
    for (int32_t e = 0; e < v.element_count; ++e) {
        for (int a = 0; air[e] && a < 4; ++a) {
            const int32_t k = v.node[v.node_start[e] + a];
            if (number[k] < 0 && inner[k] == 0) {
                fill_point(body, v.position + 3 * (size_t)k, fill->position + 3 * (size_t)fill->vertex_count);
                inner[k] = ++fill->vertex_count;
            }

            fill->tet[4 * (size_t)fill->count + (size_t)a] = number[k] >= 0 ? number[k] : -inner[k];
        }

        fill->count += air[e];
    }

    pl_free(number);
    pl_free(inner);

    return PL_OK;
}

// Inside vertices follow those of the mesh: -1 - k becomes vertices + k. The actuator owns the arrays.
void robot_fill_give(robot_build *b, int actuator)
{
    robot_fill *fill = &b->fill[actuator];
    pl_actuator *a = &b->robot->actuator[actuator];
    const int32_t vertices = pl_mesh_get(b->robot->mesh).vertex_count;

    for (int64_t k = 0; k < 4 * (int64_t)fill->count; ++k) {
        fill->tet[k] = fill->tet[k] >= 0 ? fill->tet[k] : vertices - 1 - fill->tet[k];
    }
    a->fill_tet = fill->tet;
    a->fill_count = fill->count;
    a->fill_position = fill->position;
    a->fill_vertex_count = fill->vertex_count;
    *fill = (robot_fill){0};
}
