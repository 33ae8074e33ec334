// Stress-free shapes that change: pre-stretch, and actuators that grow. With F_g of ratio g the energy is
//   E = sum_q w W(F) (+ the corners' share p . b / 2),   F = F_mesh F_g^-1,   w = w_mesh det F_g,
// and by g, at fixed positions,
//   dF/dg = F L / g,   d(grad N)/dg = L grad N / g,   dw/dg = t w / g,
// with L = -I/3, t = 1 for a volume and L = -I/2 + 3/2 n n^T, t = 0 for an area (n the prism's normal).
#include "element/element.h"

pl_status pl_elements_grow(pl_elements *E, const pl_mesh_view *mesh, const pl_growth *growth, pl_error *err)
{
    bool mass = false;
    for (int b = 0; b < E->block_count; ++b) {
        pl_block *block = &E->block[b];
        const pl_growth *now = &E->growth[block->law], *next = &growth[block->law];
        if (now->volume == next->volume && now->area == next->area) {
            continue;
        }
        mass = mass || now->volume != next->volume;

        for (int l = 0; l < PL_LANES; ++l) {
            double X[3 * PL_ELEMENT_NODES_MAX];
            for (int a = 0; a < block->node_count; ++a) {
                memcpy(X + 3 * a, mesh->position + 3 * (int64_t)block->node[a][l], 3 * sizeof *X);
            }
            pl_block_integrate(block, l, X, l < block->lane_count, next);
        }
    }

    memcpy(E->growth, growth, (size_t)E->law_count * sizeof *growth);
    return mass ? pl_elements_mass_update(E, err) : PL_OK;
}

// One quadrature point of a growing element.
typedef struct growth_point {
    double w, F[9], L[9];
    double p, rate; // pressure and dp/dg
    double dbar;    // projected dilatation
    double pd, rd;  // p dbar and dp/dg dbar, as the mass weighs them
} growth_point;

void pl_block_normal(const pl_block *block, int lane, int q, const pl_mesh_view *mesh, double n[3])
{
    double dN[3 * PL_ELEMENT_NODES_MAX], t1[3] = {0}, t2[3] = {0}, xi[3];
    pl_block_point(block, q, xi);
    pl_shape_eval(block->kind, xi, NULL, dN);

    for (int a = 0; a < block->node_count; ++a) {
        const double *X = mesh->position + 3 * (int64_t)block->node[a][lane];
        for (int i = 0; i < 3; ++i) {
            t1[i] += X[i] * dN[3 * a];
            t2[i] += X[i] * dN[3 * a + 1];
        }
    }

    pl_cross3(t1, t2, n);
    const double length = pl_norm3(n);
    for (int i = 0; i < 3; ++i) {
        n[i] /= length;
    }
}

static void growth_direction(const pl_block *block, int lane, int q, const pl_mesh_view *mesh,
                             pl_growth_kind kind, double L[9])
{
    double n[3] = {0};
    if (kind == PL_GROW_AREA) {
        pl_block_normal(block, lane, q, mesh, n);
    }

    const double own = kind == PL_GROW_AREA ? -0.5 : -1.0 / 3;
    for (int i = 0; i < 9; ++i) {
        L[i] = (i % 4 == 0 ? own : 0) + 1.5 * n[i / 3] * n[i % 3];
    }
}

static growth_point growth_at(const pl_elements *E, const pl_block *block, int lane, int q,
                              const pl_mesh_view *mesh, pl_growth_kind kind, const double *x)
{
    growth_point point = {.w = block->weight[q * PL_LANES + lane]};
    pl_block_gradient(block, lane, q, x, point.F);
    growth_direction(block, lane, q, mesh, kind, point.L);
    const bool lumped = !pl_element_is_quadratic(block->kind);

    for (int c = 0; E->law[block->law].mixed && c < block->corner_count; ++c) {
        const double N = block->corner_weight[q * block->corner_count + c];
        const int32_t k = block->pressure[c][lane];
        point.p += N * E->pressure[k];
        point.rate += N * E->pressure_rate[k];
        point.dbar += N * E->dilatation[k];
        point.pd += N * E->pressure[k] * E->dilatation[k];
        point.rd += N * E->pressure_rate[k] * E->dilatation[k];
    }

    if (!lumped) {
        point.pd = point.p * point.dbar;
        point.rd = point.rate * point.dbar;
    }

    return point;
}

static void growth_times(const double A[9], const double B[9], double scale, double out[9])
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out[3 * i + j] = scale * (A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j]);
        }
    }
}

static double growth_dot(const double A[9], const double B[9])
{
    return pl_dot3(A, B) + pl_dot3(A + 3, B + 3) + pl_dot3(A + 6, B + 6);
}

// dp/dg from M dbar = b: d(dbar) = M^-1 (db - dM dbar), db_c = int N_c (t d + dd/dF : F L) / g.
static void growth_pressures(pl_elements *E, const pl_mesh_view *mesh, int law, pl_growth_kind kind,
                             const double *x, double g)
{
    const double t = kind == PL_GROW_VOLUME;
    memset(E->pressure_rate, 0, (size_t)E->pressure_count * sizeof *E->pressure_rate);
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        const bool lumped = !pl_element_is_quadratic(block->kind);

        for (int l = 0; block->law == law && E->law[law].mixed && l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                const growth_point point = growth_at(E, block, l, q, mesh, kind, x);
                double D[9], dF[9];
                const double d = pl_law_dilatation(&E->law[law], point.F, D);
                growth_times(point.F, point.L, 1 / g, dF);
                const double change = t * d / g + growth_dot(D, dF);

                for (int c = 0; c < block->corner_count; ++c) {
                    const int32_t k = block->pressure[c][l];
                    const double N = block->corner_weight[q * block->corner_count + c];
                    const double own = lumped ? E->dilatation[k] : point.dbar;
                    E->pressure_rate[k] += point.w * N * (change - t / g * own);
                }
            }
        }
    }

    pl_elements_mass_solve(E, E->pressure_rate);
    for (int32_t k = 0; k < E->pressure_count; ++k) {
        E->pressure_rate[k] *= E->pressure_kappa[k];
    }
}

// Adds one point: S = w (t (W + p d - p dbar / 2) + P : F L), its change by g, and
// d(f_a)/dg = w (t P + A : F L + g dp dd/dF + P L) grad N_a / g.
static void growth_add(const pl_law *law, const growth_point *point, double t, double g, double sum[2],
                       double B[9])
{
    double W, P[9], A[81], D[9], dF[9], dP[9], PL[9], FL[9];
    pl_law_stress(law, point->F, point->p, &W, P);
    pl_law_tangent(law, point->F, point->p, A);
    const double d = pl_law_dilatation(law, point->F, D);
    growth_times(point->F, point->L, 1, FL);
    growth_times(point->F, point->L, 1 / g, dF);
    growth_times(P, point->L, 1 / g, PL);

    for (int i = 0; i < 9; ++i) {
        dP[i] = point->rate * D[i];
        for (int j = 0; j < 9; ++j) {
            dP[i] += A[9 * i + j] * dF[j];
        }
        B[i] = point->w * (t / g * P[i] + dP[i] + PL[i]);
    }

    double dFL[9];
    growth_times(dF, point->L, 1, dFL);
    const double S = t * (W + point->p * d - 0.5 * point->pd) + growth_dot(P, FL);
    const double change =
        t * (growth_dot(P, dF) + point->rate * d - point->rd) + growth_dot(dP, FL) + growth_dot(P, dFL);
    sum[0] += point->w * S;
    sum[1] += point->w * (t / g * S + change);
}

void pl_elements_growth_rate(pl_elements *E, const pl_mesh_view *mesh, int law, pl_growth_kind kind,
                             const double *x, double rate[2], double scale, double *force)
{
    const double g = kind == PL_GROW_VOLUME ? E->growth[law].volume : E->growth[law].area;
    double sum[2] = {0};

    growth_pressures(E, mesh, law, kind, x, g);
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];

        for (int l = 0; block->law == law && l < block->lane_count; ++l) {
            for (int q = 0; q < block->point_count; ++q) {
                const growth_point point = growth_at(E, block, l, q, mesh, kind, x);
                double B[9];
                growth_add(&E->law[law], &point, kind == PL_GROW_VOLUME, g, sum, B);

                for (int a = 0; force && a < block->node_count; ++a) {
                    const double *N =
                        block->gradient + (int64_t)(q * block->node_count + a) * 3 * PL_LANES + l;
                    const double grad[3] = {N[0], N[PL_LANES], N[2 * PL_LANES]};
                    for (int i = 0; i < 3; ++i) {
                        force[3 * (int64_t)block->node[a][l] + i] += scale * pl_dot3(B + 3 * i, grad);
                    }
                }
            }
        }
    }

    rate[0] = sum[0] / g;
    rate[1] = (sum[1] - rate[0]) / g;
}
