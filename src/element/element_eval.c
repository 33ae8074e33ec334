// Loops over the blocks: energy and forces, tangents, the bound of J; chooses the kernels at run time.
#include "base/isa.h"
#include "base/threads.h"
#include "element/element.h"

extern const pl_kernels pl_kernels_table_generic;
#ifdef PL_KERNELS_X86
extern const pl_kernels pl_kernels_table_avx2, pl_kernels_table_avx512;
#endif

const pl_kernels *pl_kernels_choose(void)
{
#ifdef PL_KERNELS_X86
    switch (pl_isa_best()) {
    case PL_ISA_AVX512:
        return &pl_kernels_table_avx512;
    case PL_ISA_AVX2:
        return &pl_kernels_table_avx2;
    case PL_ISA_GENERIC:
        break;
    }
#endif
    return &pl_kernels_table_generic;
}

#define BLOCK_GRAIN 4    // blocks, some 10 us
#define VERTEX_GRAIN 512 // vertices or corner pressures to sum at, some 5 us

typedef struct eval_loop {
    pl_elements *E;
    const pl_kernels *kernels;
    const double *x;
    const pl_law *law;
    const double *pressure;
    double *out; // forces at the vertices, tangents, or bounds per element
    double blend;
    const pl_ahead *ahead;
    _Atomic double largest; // square of the largest nodal force
} eval_loop;

static void eval_dilatation(void *context, int64_t from, int64_t to)
{
    const eval_loop *w = context;
    pl_elements *E = w->E;

    for (int64_t b = from; b < to; ++b) {
        const pl_block *block = &E->block[b];
        if (E->law[block->law].mixed) {
            w->kernels->dilatation(block, &E->law[block->law], w->x, E->corner + block->corner_start);
        }
    }
}

static void eval_moments(void *context, int64_t from, int64_t to)
{
    pl_elements *E = ((const eval_loop *)context)->E;
    for (int64_t p = from; p < to; ++p) {
        double sum = 0;
        for (int64_t i = E->pressure_start[p]; i < E->pressure_start[p + 1]; ++i) {
            sum += E->corner[E->pressure_code[i]];
        }
        E->moment[p] = sum;
        E->dilatation[p] = sum;
    }
}

// b_c = int N_c d dV, dbar = M^-1 b, p = kappa dbar
static void elements_dilatation(pl_elements *E, const double *x)
{
    if (E->pressure_count == 0) {
        return;
    }

    eval_loop w = {.E = E, .kernels = pl_kernels_choose(), .x = x};
    pl_loop(E->block_count, BLOCK_GRAIN, eval_dilatation, &w);
    pl_loop(E->pressure_count, VERTEX_GRAIN, eval_moments, &w);
    pl_elements_mass_solve(E, E->dilatation);
    for (int32_t p = 0; p < E->pressure_count; ++p) {
        E->pressure[p] = E->pressure_kappa[p] * E->dilatation[p];
    }
}

static void eval_forces(void *context, int64_t from, int64_t to)
{
    const eval_loop *w = context;
    pl_elements *E = w->E;

    for (int64_t b = from; b < to; ++b) {
        const pl_block *block = &E->block[b];
        double energy[PL_LANES], min_J[PL_LANES], sum = 0, smallest = INFINITY;
        w->kernels->force(block, &w->law[block->law], w->x, w->pressure, energy, min_J,
                          w->out ? E->force + block->force_start : NULL);
        for (int l = 0; l < block->lane_count; ++l) {
            sum += energy[l];
            smallest = min_J[l] < smallest ? min_J[l] : smallest;
        }

        E->block_energy[b] = sum;
        E->block_min[b] = smallest;
    }
}

static void eval_gather(void *context, int64_t from, int64_t to)
{
    eval_loop *w = context;
    const pl_elements *E = w->E;
    double largest = 0;

    for (int64_t v = from; v < to; ++v) {
        double f[3] = {0};
        for (int64_t i = E->vertex_start[v]; i < E->vertex_start[v + 1]; ++i) {
            const double *entry = E->force + E->vertex_code[i];
            f[0] += entry[0];
            f[1] += entry[PL_LANES];
            f[2] += entry[2 * PL_LANES];
        }

        memcpy(w->out + 3 * v, f, sizeof f);
        largest = fmax(largest, f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    }

    pl_atomic_max(&w->largest, largest);
}

// Forces of all blocks with the given laws and pressures, summed at the vertices.
static void elements_forces(pl_elements *E, const double *x, const pl_law *law, const double *pressure,
                            double *force)
{
    eval_loop w = {
        .E = E, .kernels = pl_kernels_choose(), .x = x, .law = law, .pressure = pressure, .out = force};
    pl_loop(E->block_count, BLOCK_GRAIN, eval_forces, &w);
    if (force) {
        pl_loop(E->vertex_count, VERTEX_GRAIN, eval_gather, &w);
        E->largest_force = sqrt(w.largest);
    }
}

double pl_elements_energy(pl_elements *E, const double *x, double *force, double *min_J)
{
    elements_dilatation(E, x);
    elements_forces(E, x, E->law, E->pressure, force);
    double energy = 0, smallest = INFINITY;
    for (int b = 0; b < E->block_count; ++b) {
        energy += E->block_energy[b];
        smallest = E->block_min[b] < smallest ? E->block_min[b] : smallest;
    }

    for (int32_t p = 0; p < E->pressure_count; ++p) {
        energy += 0.5 * E->pressure[p] * E->moment[p];
    }
    if (min_J) {
        *min_J = smallest;
    }

    return smallest > 0 && isfinite(energy) ? energy : INFINITY;
}

void pl_elements_force_of(pl_elements *E, const double *x, const pl_law *law, const double *pressure,
                          double *force)
{
    elements_forces(E, x, law, pressure, force);
}

#define TANGENT_MAX                                                                                          \
    (PL_ELEMENT_NODES_MAX * (PL_ELEMENT_NODES_MAX + 1) / 2 * 9 + PL_CORNERS_MAX * PL_ELEMENT_NODES_MAX * 3)

// The kernel has the elements of a block side by side; the buffer has them one after another.
static void eval_tangent(void *context, int64_t from, int64_t to)
{
    const eval_loop *w = context;
    const pl_elements *E = w->E;

    _Alignas(64) double side[TANGENT_MAX * PL_LANES];
    for (int64_t b = from; b < to; ++b) {
        const pl_block *block = &E->block[b];
        const int count = block->tangent_count;
        double *out = w->out + block->tangent_start;
        w->kernels->tangent(block, &E->law[block->law], w->x, E->pressure, w->blend, w->ahead, side);

        for (int l = 0; l < PL_LANES; ++l) {
            for (int i = 0; i < count; ++i) {
                out[(int64_t)l * count + i] = side[i * PL_LANES + l];
            }
        }
    }
}

void pl_elements_tangent(pl_elements *E, const double *x, double blend, const pl_ahead *ahead, double *buffer)
{
    eval_loop w = {
        .E = E, .kernels = pl_kernels_choose(), .x = x, .blend = blend, .ahead = ahead, .out = buffer};
    pl_loop(E->block_count, BLOCK_GRAIN, eval_tangent, &w);
}

// Bound of one lane relative to the rest Jacobian (mean over the element).
static double lane_bound(const pl_block *block, int lane, const double *x, double bound)
{
    double volume = 0;
    for (int q = 0; q < block->point_count; ++q) {
        volume += block->weight[q * PL_LANES + lane];
    }

    const bool prism = !pl_element_is_tet(block->kind);
    if (bound <= 0) {
        // the quick bound is not conclusive: the subdividing one of the mesh room decides
        double X[3 * PL_ELEMENT_NODES_MAX];
        for (int a = 0; a < block->node_count; ++a) {
            memcpy(X + 3 * a, x + 3 * (int64_t)block->node[a][lane], 3 * sizeof *X);
        }
        bound = pl_jacobian_bound(block->kind, X);
    }

    return bound * (prism ? 1.0 : 1.0 / 6) / volume;
}

static void eval_bound(void *context, int64_t from, int64_t to)
{
    const eval_loop *w = context;
    for (int64_t b = from; b < to; ++b) {
        const pl_block *block = &w->E->block[b];
        double bound[PL_LANES], smallest = INFINITY;
        w->kernels->bound(block, w->x, bound);

        for (int l = 0; l < block->lane_count; ++l) {
            const double J = lane_bound(block, l, w->x, bound[l]);
            if (w->out) {
                w->out[block->element[l]] = J;
            }
            smallest = J < smallest ? J : smallest;
        }

        w->E->block_min[b] = smallest;
    }
}

double pl_elements_bound(pl_elements *E, const double *x, double *per_element, int32_t *worst)
{
    eval_loop w = {.E = E, .kernels = pl_kernels_choose(), .x = x, .out = per_element};
    pl_loop(E->block_count, BLOCK_GRAIN, eval_bound, &w);
    double smallest = INFINITY;
    int at = -1;

    for (int b = 0; b < E->block_count; ++b) {
        if (E->block_min[b] < smallest) {
            smallest = E->block_min[b];
            at = b;
        }
    }

    if (worst && at < 0) {
        *worst = -1;
    } else if (worst) {
        const pl_block *block = &E->block[at];
        double bound[PL_LANES];
        w.kernels->bound(block, x, bound);

        for (int l = 0; l < block->lane_count; ++l) {
            if (lane_bound(block, l, x, bound[l]) == smallest) {
                *worst = block->element[l];
                break;
            }
        }
    }

    return smallest;
}

void pl_block_gradient(const pl_block *block, int lane, int q, const double *x, double F[9])
{
    memset(F, 0, 9 * sizeof *F);
    for (int a = 0; a < block->node_count; ++a) {
        const double *xa = x + 3 * (int64_t)block->node[a][lane];
        const double *g = block->gradient + (int64_t)(q * block->node_count + a) * 3 * PL_LANES + lane;

        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                F[3 * i + j] += xa[i] * g[j * PL_LANES];
            }
        }
    }
}
