// Volume and its gradient for eight faces side by side; compiled once per instruction set (PL_ISA names it).
//   dV/dx_a = sum_{b<c} weight_bc,a x_b x x_c,   V = 1/3 sum_a x_a . dV/dx_a   (V is cubic in x)
#include "actuator/actuator_volume.h"
#include "base/isa.h"

typedef double face_vector __attribute__((vector_size(8 * VOLUME_LANES)));

static double kernel_faces(const volume_table *table, int nodes, const int32_t *const node[VOLUME_LANES],
                           int lanes, const double *x, double scale, double *g)
{
    face_vector X[VOLUME_NODES][3], sum[VOLUME_NODES][3] = {0}, V = {0};

    // positions of eight faces, transposed: one vector per coordinate
    for (int a = 0; a < nodes; ++a) {
        for (int l = 0; l < VOLUME_LANES; ++l) {
            const double *from = x + 3 * (int64_t)node[l][a];
            X[a][0][l] = from[0];
            X[a][1][l] = from[1];
            X[a][2][l] = from[2];
        }
    }

    // cross products of pairs, shared by all nodes
    for (int p = 0; p < table->pair_count; ++p) {
        const face_vector *u = X[table->pair[p][0]], *v = X[table->pair[p][1]];
        const face_vector n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                                  u[0] * v[1] - u[1] * v[0]};
        for (int a = 0; a < nodes; ++a) {
            const double weight = table->weight[p][a];

            if (weight != 0) {
                sum[a][0] += weight * n[0];
                sum[a][1] += weight * n[1];
                sum[a][2] += weight * n[2];
            }
        }
    }

    // V = 1/3 x . dV/dx, and the gradient scattered to the nodes
    for (int a = 0; a < nodes; ++a) {
        V += X[a][0] * sum[a][0] + X[a][1] * sum[a][1] + X[a][2] * sum[a][2];
        for (int l = 0; g && l < lanes; ++l) {
            double *to = g + 3 * (int64_t)node[l][a];
            to[0] += scale * sum[a][0][l];
            to[1] += scale * sum[a][1][l];
            to[2] += scale * sum[a][2][l];
        }
    }

    double whole = 0;
    for (int l = 0; l < lanes; ++l) {
        whole += V[l] / 3;
    }

    return whole;
}

#define VOLUME_TABLE PL_CAT(volume_kernel_, PL_ISA)
extern const volume_kernel VOLUME_TABLE;
const volume_kernel VOLUME_TABLE = {PL_TEXT(PL_ISA), kernel_faces};
