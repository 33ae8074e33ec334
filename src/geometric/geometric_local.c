// The local step: ratios of actuation elements, then the targets of all cells, their forces summed at the
// vertices and their energy; kernels chosen at run time.
#include "base/isa.h"
#include "base/threads.h"
#include "geometric/geometric_impl.h"

extern const geo_kernels geo_kernels_table_generic;
#ifdef PL_KERNELS_X86
extern const geo_kernels geo_kernels_table_avx2, geo_kernels_table_avx512;
#endif

const geo_kernels *geo_kernels_choose(void)
{
#ifdef PL_KERNELS_X86
    switch (pl_isa_best()) {
    case PL_ISA_AVX512:
        return &geo_kernels_table_avx512;
    case PL_ISA_AVX2:
        return &geo_kernels_table_avx2;
    case PL_ISA_GENERIC:
        break;
    }
#endif
    return &geo_kernels_table_generic;
}

// With the singular values s of F those of V are v_i = (s_i + sqrt(s_i^2 - 4 theta)) / 2, from V - F = -theta
// cof V; theta such that their product is 1, by Newton's method between bounds. Where no such theta exists (a
// volume of many times 1) the nearest one possible is taken.
void geo_nearest_volume(const double F[9], double out[9])
{
    // singular values s and right singular vectors N from C = F^T F
    double C[9], value[3], N[9], s[3], v[3];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            C[3 * i + j] = F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j];
        }
    }

    pl_eigen3(C, value, N);
    for (int i = 0; i < 3; ++i) {
        s[i] = sqrt(fmax(value[i], 1e-12));
    }

    // log J(theta) falls; the root lies between -1 and the smallest s^2 / 4
    double high = 0.25 * s[0] * s[0], low = -1, theta = 0; // at theta = -1 every v is at least 1
    for (int i = 0; i < 60; ++i) {
        double log_J = 0, rate = 0;

        for (int k = 0; k < 3; ++k) {
            const double root = sqrt(fmax(0, s[k] * s[k] - 4 * theta));
            v[k] = 0.5 * (s[k] + root);
            log_J += log(v[k]);
            rate -= 1 / (v[k] * fmax(root, 1e-12));
        }

        // bisection where Newton's step leaves the bounds
        if (fabs(log_J) < 1e-14) {
            break;
        }
        if (log_J > 0) {
            low = theta;
        } else {
            high = theta;
        }
        const double next = theta - log_J / rate;
        theta = next > low && next < high ? next : 0.5 * (low + high);
    }

    // out = F N diag(v / s) N^T
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double sum = 0;
            for (int k = 0; k < 3; ++k) {
                sum += N[3 * i + k] * v[k] / s[k] * N[3 * j + k];
            }
            C[3 * i + j] = sum;
        }
    }

    pl_mul33(F, C, out);
}

// U = F V / s for the two largest singular values; the third direction makes U and V turn in the same manner.
void geo_rotation_slow(const double F[9], double R[9])
{
    double C[9], value[3], V[9], v[3][3], u[3][3];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            C[3 * i + j] = F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j];
        }
    }

    pl_eigen3(C, value, V);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            v[k][i] = V[3 * i + 2 - k]; // largest first
        }
    }

    pl_cross3(v[0], v[1], v[2]);
    for (int k = 0; k < 2; ++k) {
        pl_mulv3(F, v[k], u[k]);
    }

    double n = pl_norm3(u[0]);
    for (int i = 0; i < 3; ++i) {
        u[0][i] = n > 1e-150 ? u[0][i] / n : v[0][i];
    }

    const double along = pl_dot3(u[0], u[1]);
    for (int i = 0; i < 3; ++i) {
        u[1][i] -= along * u[0][i];
    }
    n = pl_norm3(u[1]);

    if (!(n > 1e-12 * sqrt(value[2]))) {
        // rank 1: any direction across
        const int least = fabs(u[0][0]) < fabs(u[0][1]) ? (fabs(u[0][0]) < fabs(u[0][2]) ? 0 : 2)
                                                        : (fabs(u[0][1]) < fabs(u[0][2]) ? 1 : 2);
        double axis[3] = {0};
        axis[least] = 1;
        pl_cross3(u[0], axis, u[1]);
        n = pl_norm3(u[1]);
    }

    for (int i = 0; i < 3; ++i) {
        u[1][i] /= n;
    }
    pl_cross3(u[0], u[1], u[2]);
    for (int i = 0; i < 9; ++i) {
        R[i] = u[0][i / 3] * v[0][i % 3] + u[1][i / 3] * v[1][i % 3] + u[2][i / 3] * v[2][i % 3];
    }
}

typedef struct local_loop {
    pl_geometric *g;
    const geo_kernels *kernels;
    const double *x;
    double *f;
} local_loop;

static void local_energies(void *context, int64_t from, int64_t to)
{
    const local_loop *w = context;
    pl_geometric *g = w->g;

    for (int64_t b = from; b < to; ++b) {
        const geo_block *block = &g->cells.block[b];
        double energy[GEO_LANES], min_J[GEO_LANES], sum = 0, smallest = INFINITY;
        w->kernels->local(block, &g->cells.law[block->law], w->x, g->growth.ratio, energy, min_J,
                          w->f ? g->cells.force + block->force_start : NULL);
        for (int l = 0; l < block->lane_count; ++l) {
            sum += energy[l];
            smallest = min_J[l] < smallest ? min_J[l] : smallest;
        }

        g->cells.energy[b] = sum;
        g->cells.min_J[b] = smallest;
    }
}

static void local_gather(void *context, int64_t from, int64_t to)
{
    const local_loop *w = context;
    const pl_geometric *g = w->g;

    for (int64_t v = from; v < to; ++v) {
        double sum[3] = {0};
        for (int64_t i = g->cells.gather_start[v]; i < g->cells.gather_start[v + 1]; ++i) {
            const double *entry = g->cells.force + g->cells.gather_code[i];
            sum[0] += entry[0];
            sum[1] += entry[GEO_LANES];
            sum[2] += entry[2 * GEO_LANES];
        }

        memcpy(w->f + 3 * v, sum, sizeof sum);
    }
}

static void local_blocks(pl_geometric *g, const double *x, double *f)
{
    local_loop w = {.g = g, .kernels = geo_kernels_choose(), .x = x, .f = f};
    pl_loop(g->cells.block_count, GEO_GRAIN, local_energies, &w);
    if (f) {
        pl_loop(g->vertex_count, 512, local_gather, &w);
    }
}

double geo_local(pl_geometric *g, const double *x, double *f)
{
    const double started = pl_seconds();
    geo_growth(g, x);
    local_blocks(g, x, f);
    double energy = 0;
    g->now.min_J = INFINITY;

    for (int b = 0; b < g->cells.block_count; ++b) {
        energy += g->cells.energy[b];
        if (g->cells.block[b].growth_start < 0) {
            g->now.min_J = fmin(g->now.min_J, g->cells.min_J[b]);
        }
    }

    g->now.energy = energy + geo_triangles_force(g, x, f);
    const double loads = geo_loads_force(g, x, f) + geo_drives_force(g, x, f);
    if (f) {
        geo_rigid_project(g, f);
    }
    g->now.local_seconds += pl_seconds() - started;

    return g->now.energy + loads;
}

void geo_count_inverted(pl_geometric *g, const double *x)
{
    g->now.inverted = g->now.inverted_chamber = 0;
    for (int b = 0; b < g->cells.block_count; ++b) {
        const geo_block *block = &g->cells.block[b];

        for (int l = 0; l < block->lane_count; ++l) {
            double X[3 * GEO_NODES];
            for (int a = 0; a < block->node_count; ++a) {
                memcpy(X + 3 * a, x + 3 * (size_t)block->node[a][l], 3 * sizeof *X);
            }
            if (pl_jacobian_bound(block->node_count == 4 ? PL_TET4 : PL_PRISM6, X) <= 0) {
                if (block->cell[l] < 0) {
                    ++g->now.inverted_chamber;
                } else {
                    ++g->now.inverted;
                }
            }
        }
    }
}
