// The factor turns with the body: each vertex carries the rotation of the elements around it since the factor
// was made, so that R K^-1 R^T stays a good preconditioner while the body bends.
#include "base/threads.h"
#include "problem/problem_impl.h"

typedef struct turn_loop {
    const pl_problem *p;
    const double *x;
    double *y;
    bool transpose;
} turn_loop;

static void turn_rotate(void *context, int64_t from, int64_t to)
{
    const turn_loop *w = context;
    for (int64_t v = from; v < to; ++v) {
        if (w->p->unknowns.turns[v]) {
            double *u = w->y + w->p->unknowns.dof[3 * v], t[3];
            (w->transpose ? pl_mulTv3 : pl_mulv3)(w->p->linear.rotation + 9 * v, u, t);
            memcpy(u, t, sizeof t);
        }
    }
}

void pl_problem_rotate(const pl_problem *p, double *y, bool transpose)
{
    turn_loop w = {.p = p, .y = y, .transpose = transpose};
    pl_loop(p->mesh.vertex_count, 2048, turn_rotate, &w);
}

#define TURN_BLOCKS 16    // of elements, some 10 us
#define TURN_VERTICES 128 // some 10 us

// Sums over the points of the eight elements of a block: w dN_a, and w, the volume.
typedef struct turn_sums {
    double gradient[PL_ELEMENT_NODES_MAX][3][PL_LANES], volume[PL_LANES];
} turn_sums;

static void turn_add_points(const pl_block *block, turn_sums *sums)
{
    memset(sums, 0, sizeof *sums);
    for (int q = 0; q < block->point_count; ++q) {
        const double *weight = block->weight + q * PL_LANES;
        for (int l = 0; l < PL_LANES; ++l) {
            sums->volume[l] += weight[l];
        }
        for (int a = 0; a < block->node_count; ++a) {
            const double *g = block->gradient + (int64_t)(q * block->node_count + a) * 3 * PL_LANES;
            for (int j = 0; j < 3; ++j) {
#pragma omp simd
                for (int l = 0; l < PL_LANES; ++l) {
                    sums->gradient[a][j][l] += weight[l] * g[j * PL_LANES + l];
                }
            }
        }
    }
}

// The means of F over the elements of a block, times their volumes: sum_a x_a (sum_q w dN_a)^T.
static void turn_gradients(const pl_block *block, const turn_sums *sums, const double *x,
                           double F[9][PL_LANES])
{
    memset(F, 0, 9 * sizeof *F);
    for (int a = 0; a < block->node_count; ++a) {
        for (int i = 0; i < 3; ++i) {
            double xa[PL_LANES];
            for (int l = 0; l < PL_LANES; ++l) {
                xa[l] = x[3 * (int64_t)block->node[a][l] + i];
            }
            for (int j = 0; j < 3; ++j) {
#pragma omp simd
                for (int l = 0; l < PL_LANES; ++l) {
                    F[3 * i + j][l] += xa[l] * sums->gradient[a][j][l];
                }
            }
        }
    }
}

// mu vol F F0^-1 of each element, F0 where the factor was made, F now: 9 per element of a block. Vertices
// between a soft skin and a stiff layer turn with the layer: a wrong turn of the layer costs the factor most.
static void turn_elements(void *context, int64_t from, int64_t to)
{
    const turn_loop *w = context;
    const pl_problem *p = w->p;

    for (int64_t b = from; b < to; ++b) {
        const pl_block *block = &p->elements->block[b];
        const double mu = p->elements->law[block->law].mu;
        turn_sums sums;
        double side[9][PL_LANES], side0[9][PL_LANES];
        turn_add_points(block, &sums);
        turn_gradients(block, &sums, w->x, side);
        turn_gradients(block, &sums, p->linear.x, side0);
        for (int l = 0; l < block->lane_count; ++l) {
            double F[9], F0[9], C[9], *G = p->linear.turn + 9 * (b * PL_LANES + l);
            for (int i = 0; i < 9; ++i) {
                F[i] = side[i][l];
                F0[i] = side0[i][l];
            }
            // F F0^-1 = F cof(F0)^T / det F0
            pl_cofactor3(F0, C);
            const double scale = mu * sums.volume[l] / pl_dot3(F0, C);
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    G[3 * i + j] = scale * (F[3 * i] * C[3 * j] + F[3 * i + 1] * C[3 * j + 1] +
                                            F[3 * i + 2] * C[3 * j + 2]);
                }
            }
        }
    }
}

// The rotation of the sum over the elements of each vertex.
static void turn_vertices(void *context, int64_t from, int64_t to)
{
    const pl_problem *p = ((const turn_loop *)context)->p;
    const pl_elements *E = p->elements;

    for (int64_t v = from; v < to; ++v) {
        double sum[9] = {0}, *R = p->linear.rotation + 9 * v;
        for (int64_t k = E->vertex_start[v]; p->unknowns.turns[v] && k < E->vertex_start[v + 1]; ++k) {
            const double *G = p->linear.turn + 9 * (int64_t)p->linear.turn_code[k];
            for (int i = 0; i < 9; ++i) {
                sum[i] += G[i];
            }
        }
        if (pl_det3(sum) > 0) {
            pl_polar3(sum, R);
        } else {
            memset(R, 0, 9 * sizeof *R);
            R[0] = R[4] = R[8] = 1;
        }
    }
}

pl_status problem_turn_create(pl_problem *p, pl_error *err)
{
    const pl_elements *E = p->elements;
    pl_linear *l = &p->linear;
    const int64_t codes = E->vertex_start[p->mesh.vertex_count];

    l->turn = PL_NEW_ARRAY(double, 9 * PL_LANES * (int64_t)E->block_count);
    l->turn_code = PL_NEW_ARRAY(int32_t, codes);
    if (!l->turn || !l->turn_code) {
        return pl_fail_memory(err, "problem: rotations");
    }

    // which element an entry of the force buffer belongs to: blocks lie in it one after another
    for (int64_t k = 0; k < codes; ++k) {
        int low = 0, high = E->block_count - 1;
        while (low < high) {
            const int middle = (low + high + 1) / 2;
            if (E->block[middle].force_start <= E->vertex_code[k]) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        l->turn_code[k] =
            low * PL_LANES + (int32_t)((E->vertex_code[k] - E->block[low].force_start) % PL_LANES);
    }

    return PL_OK;
}

// The rotation of each vertex since the factor: that of sum_e mu vol F_e F_e(factor)^-1 over its elements.
void pl_problem_turn(pl_problem *p, const double *x)
{
    turn_loop w = {.p = p, .x = x};
    pl_loop(p->elements->block_count, TURN_BLOCKS, turn_elements, &w);
    pl_loop(p->mesh.vertex_count, TURN_VERTICES, turn_vertices, &w);

    // the solutions of the dense rows turn along
    p->linear.turned = true;
    memcpy(p->linear.solution, p->linear.plain,
           (size_t)p->unknowns.n * (size_t)p->linear.border_count * sizeof(double));
    for (int k = 0; k < p->linear.border_count; ++k) {
        pl_problem_rotate(p, p->linear.solution + (int64_t)k * p->unknowns.n, false);
    }
}
