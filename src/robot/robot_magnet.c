// Hard-magnetic regions in a uniform field (Zhao, Kim, Cheong, Sharma and Zhao 2019). A region with the
// remanent flux density B_r in the undeformed configuration has, in a field B, the energy
//   -(1 / mu0) B . F B_r   per undeformed volume.
// With B = b d, d the direction of the field, the functional of the actuator is the magnetic moment along d,
//   h(x) = (1 / mu0) int d . F B_r dV = sum_a w_a d . x_a,   w_a = (1 / mu0) int grad N_a . B_r dV,
// linear in the positions, and its energy is -b h: the effort is b. Its rest measure is the moment |B_r| V /
// mu0 of the whole region, so that the ratio reported is the cosine between moment and field.
#include "element/element.h"
#include "robot/robot_impl.h"

#define MAGNET_MU0 1.25663706212e-12 // N mm^4 / (V s)^2 and so on: 4 pi 1e-7 T m/A in internal units

// Region, direction and moment of the undeformed region.
pl_status robot_magnet(robot_build *b, const pl_actuator_def *def, int index, pl_actuator *a)
{
    (void)index;
    const int32_t region = robot_find_region(b, def->region, "magnet", def->line);
    if (region < 0) {
        return PL_OK;
    }

    const double length = pl_norm3(def->direction), remanence = pl_norm3(def->remanence);
    a->magnet = region;
    for (int i = 0; i < 3; ++i) {
        a->direction[i] = def->direction[i] / length;
        a->remanence[i] = def->remanence[i];
    }

    a->rest = remanence * pl_mesh_region_volume(b->robot->mesh, region) / MAGNET_MU0;

    return PL_OK;
}

// w_a of the nodes of one element, added to `weight`
static void magnet_element(const pl_mesh_view *v, int32_t e, const double remanence[3], double *weight)
{
    double xi[PL_POINTS_MAX][3], w[PL_POINTS_MAX];
    const pl_element_kind kind = (pl_element_kind)v->kind[e];
    const int32_t *node = v->node + v->node_start[e];
    const int n = (int)(v->node_start[e + 1] - v->node_start[e]), count = pl_element_rule(kind, xi, w);

    for (int q = 0; q < count; ++q) {
        double N[PL_ELEMENT_NODES_MAX], dN[3 * PL_ELEMENT_NODES_MAX], M[9] = {0}, C[9];
        pl_shape_eval(kind, xi[q], N, dN);

        for (int a = 0; a < n; ++a) {
            for (int i = 0; i < 9; ++i) {
                M[i] += v->position[3 * (int64_t)node[a] + i / 3] * dN[3 * a + i % 3];
            }
        }

        // grad N = dN/dxi M^-1 = dN/dxi C^T / det, and the weight of the point is w det
        pl_cofactor3(M, C);
        for (int a = 0; a < n; ++a) {
            for (int j = 0; j < 3; ++j) {
                weight[node[a]] += w[q] * remanence[j] / MAGNET_MU0 * pl_dot3(dN + 3 * a, C + 3 * j);
            }
        }
    }
}

// h = sum_a w_a d . x_a; only nodes of the region take part.
pl_status pl_magnet_functional(const pl_mesh *mesh, const pl_actuator *a, pl_functional *h)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    double *weight = PL_NEW_ARRAY(double, v.vertex_count);
    pl_status status = weight ? PL_OK : PL_NO_MEMORY;

    for (int32_t e = 0; status == PL_OK && e < v.element_count; ++e) {
        if (v.region[e] == a->magnet) {
            magnet_element(&v, e, a->remanence, weight);
        }
    }

    for (int32_t i = 0; status == PL_OK && i < v.vertex_count; ++i) {
        if (weight[i] != 0) {
            const double c[3] = {weight[i] * a->direction[0], weight[i] * a->direction[1],
                                 weight[i] * a->direction[2]};
            status = pl_functional_add_linear(h, i, c);
        }
    }

    pl_free(weight);

    return status;
}
