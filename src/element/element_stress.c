// The material laws one point at a time, for fields and tests; same formulas as the hot kernels, one lane
// wide.
#define PL_VW 1
#include "element/element.h"

void pl_law_stress(const pl_law *law, const double F[9], double p, double *W, double P[9])
{
    vd f[9], s[9], w;
    for (int i = 0; i < 9; ++i) {
        f[i] = v_set(F[i]);
    }
    law_stress(law, f, v_set(p), &w, s);
    *W = w[0];
    for (int i = 0; i < 9; ++i) {
        P[i] = s[i][0];
    }
}

double pl_law_dilatation(const pl_law *law, const double F[9], double D[9])
{
    vd f[9], g[9];
    for (int i = 0; i < 9; ++i) {
        f[i] = v_set(F[i]);
    }

    const vd d = law_dilatation(law, f, g);
    for (int i = 0; i < 9; ++i) {
        D[i] = g[i][0];
    }

    return d[0];
}

void pl_law_tangent(const pl_law *law, const double F[9], double p, double A[81])
{
    vd f[9], a[81], g[9];
    for (int i = 0; i < 9; ++i) {
        f[i] = v_set(F[i]);
    }
    law_tangent(law, f, v_set(p), a, g);
    for (int i = 0; i < 81; ++i) {
        A[i] = a[i][0];
    }
}

void pl_elements_stress(const pl_elements *E, const pl_block *block, int lane, int q, const double *x,
                        double F[9], double P[9])
{
    const pl_law *law = &E->law[block->law];
    double p = 0, W;

    pl_block_gradient(block, lane, q, x, F);
    for (int c = 0; law->mixed && c < block->corner_count; ++c) {
        p += block->corner_weight[q * block->corner_count + c] * E->pressure[block->pressure[c][lane]];
    }
    pl_law_stress(law, F, p, &W, P);
    if (block->largest && law->mullins_r > 0) {
        vd f[9], s[9], w;
        for (int i = 0; i < 9; ++i) {
            f[i] = v_set(F[i]);
        }
        law_stress_softened(law, f, v_set(p), v_set(block->largest[q * PL_LANES + lane]), &w, s);
        for (int i = 0; i < 9; ++i) {
            P[i] = s[i][0];
        }
    }
    if (block->overstress) {
        vd f[9], s[9], H[6], w = v_set(0);
        for (int i = 0; i < 9; ++i) {
            f[i] = v_set(F[i]);
            s[i] = v_set(P[i]);
        }

        for (int k = 0; k < 6; ++k) {
            H[k] = v_set(block->overstress[(6 * q + k) * PL_LANES + lane]);
        }
        law_add_overstress(law, f, H, &w, s);
        for (int i = 0; i < 9; ++i) {
            P[i] = s[i][0];
        }
    }
}
