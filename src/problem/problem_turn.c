// The factor turns with the body: each vertex carries the rotation of the elements around it since the factor
// was made, so that R K^-1 R^T stays a good preconditioner while the body bends.
#include "base/threads.h"
#include "problem/problem_impl.h"

// y <- R y or R^T y, vertex by vertex
void pl_problem_rotate(const pl_problem *p, double *y, bool transpose)
{
    for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
        if (p->unknowns.turns[v]) {
            double *u = y + p->unknowns.dof[3 * v], t[3];
            (transpose ? pl_mulTv3 : pl_mulv3)(p->linear.rotation + 9 * (int64_t)v, u, t);
            memcpy(u, t, sizeof t);
        }
    }
}

// Replaces sums of weighted gradients by their rotations.
static void turn_polar(void *rotation, int64_t from, int64_t to)
{
    for (int64_t v = from; v < to; ++v) {
        double R[9], *slot = (double *)rotation + 9 * v;
        const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        if (pl_det3(slot) > 0) {
            pl_polar3(slot, R);
        }
        memcpy(slot, pl_det3(slot) > 0 ? R : identity, sizeof R);
    }
}

// The rotation of each vertex since the factor: that of sum_e vol F_e F_e(factor)^-1 over its elements.
void pl_problem_turn(pl_problem *p, const double *x)
{
    const int32_t vertices = p->mesh.vertex_count;
    memset(p->linear.rotation, 0, 9 * (size_t)vertices * sizeof *p->linear.rotation);
    for (int b = 0; b < p->elements->block_count; ++b) {
        const pl_block *block = &p->elements->block[b];
        for (int l = 0; l < block->lane_count; ++l) {
            double F[9], F0[9], C[9], G[9] = {0};
            const int q = 0;
            pl_block_gradient(block, l, q, x, F);
            pl_block_gradient(block, l, q, p->linear.x, F0);
            // F F0^-1 = F cof(F0)^T / det F0
            pl_cofactor3(F0, C);
            const double w = block->weight[q * PL_LANES + l] / pl_dot3(F0, C);
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    G[3 * i + j] =
                        w * (F[3 * i] * C[3 * j] + F[3 * i + 1] * C[3 * j + 1] + F[3 * i + 2] * C[3 * j + 2]);
                }
            }
            for (int a = 0; a < block->node_count; ++a) {
                double *R = p->linear.rotation + 9 * (int64_t)block->node[a][l];
                for (int i = 0; i < 9; ++i) {
                    R[i] += G[i];
                }
            }
        }
    }
    pl_loop(vertices, 64, turn_polar, p->linear.rotation);
    // the solutions of the dense rows turn along
    p->linear.turned = true;
    memcpy(p->linear.solution, p->linear.plain,
           (size_t)p->unknowns.n * (size_t)p->linear.border_count * sizeof(double));
    for (int k = 0; k < p->linear.border_count; ++k) {
        pl_problem_rotate(p, p->linear.solution + (int64_t)k * p->unknowns.n, false);
    }
}
