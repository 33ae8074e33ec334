// Strains of a shape by the corners of its elements.
#include "geometric/geometric_impl.h"

// The largest principal stretch of one element at its middle, and its rest volume.
static double element_stretch(const pl_mesh_view *v, int32_t e, const double *position, double *volume)
{
    const int n = pl_element_corner_count((pl_element_kind)v->kind[e]);
    const double middle[2][3] = {{0.25, 0.25, 0.25}, {1.0 / 3, 1.0 / 3, 0}};
    double dN[3 * GEO_NODES], M[9] = {0}, D[9] = {0}, F[9], C[9], value[3], X[3 * GEO_NODES];

    pl_shape_eval(n == 4 ? PL_TET4 : PL_PRISM6, middle[n == 6], NULL, dN);
    for (int a = 0; a < n; ++a) {
        const size_t k = 3 * (size_t)v->node[v->node_start[e] + a];
        memcpy(X + 3 * a, v->position + k, 3 * sizeof *X);
        for (int i = 0; i < 9; ++i) {
            M[i] += v->position[k + (size_t)(i / 3)] * dN[3 * a + i % 3];
            D[i] += position[k + (size_t)(i / 3)] * dN[3 * a + i % 3];
        }
    }

    pl_cofactor3(M, C);
    const double det = pl_det3(M);
    for (int i = 0; i < 9; ++i) {
        F[i] = pl_dot3(D + 3 * (i / 3), C + 3 * (i % 3)) / det;
    }
    for (int i = 0; i < 9; ++i) {
        C[i] = F[i / 3] * F[i % 3] + F[3 + i / 3] * F[3 + i % 3] + F[6 + i / 3] * F[6 + i % 3];
    }
    pl_eigen3(C, value, NULL);
    *volume = pl_element_volume(n == 4 ? PL_TET4 : PL_PRISM6, X);

    return sqrt(fmax(0, value[2]));
}

void pl_mesh_strain(const pl_mesh *mesh, const double *position, double *strain, double *volume)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    for (int32_t e = 0; e < v.element_count; ++e) {
        strain[e] = element_stretch(&v, e, position, &volume[e]) - 1;
    }
}

double geo_largest_stretch(const pl_geometric *g)
{
    double largest = 0, volume;
    for (int32_t e = 0; e < g->mesh.element_count; ++e) {
        largest = fmax(largest, element_stretch(&g->mesh, e, g->x, &volume));
    }
    return largest;
}
