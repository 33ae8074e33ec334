// Overstress of viscous branches (element_viscous.c): a symmetric tensor H, constant during a solve,
// with the energy a/2 H : C, where a = J^(-2/3) for rubber laws, whose deviatoric part depends on J^(-1/3) F,
// and 1 for linear and stvk. With Q = H : C and D = cof F
//   P = a F H + a'/2 Q D,
//   A = a d_ik H_JL + a' (F H (x) D + D (x) F H) + a''/2 Q D (x) D + a'/2 Q d2J/dF2.
#ifndef PL_MATERIAL_OVERSTRESS_H
#define PL_MATERIAL_OVERSTRESS_H

#include "material/material_law.h"
#include "material/material_vector.h"

#ifdef PL_VW
typedef struct overstress_parts {
    vd FH[9], D[9], Q;
    vd a, a1, a2; // a and its derivatives with respect to J
} overstress_parts;

static inline bool law_is_isochoric(const pl_law *law)
{
    return law->kernel != PL_KERNEL_LINEAR && law->kernel != PL_KERNEL_STVK;
}

// H in full from xx yy zz xy yz zx.
static inline void overstress_full(const vd H[6], vd full[9])
{
    full[0] = H[0];
    full[4] = H[1];
    full[8] = H[2];
    full[1] = full[3] = H[3];
    full[5] = full[7] = H[4];
    full[2] = full[6] = H[5];
}

static inline void overstress_fill(const pl_law *law, const vd F[9], const vd H[9], overstress_parts *o)
{
    v_mul(F, H, o->FH);
    o->Q = v_dot9(F, o->FH);
    o->a = v_set(1);
    o->a1 = o->a2 = v_set(0);
    v_cofactor(F, o->D);
    if (law_is_isochoric(law)) {
        const vd j = 1 / (F[0] * o->D[0] + F[1] * o->D[1] + F[2] * o->D[2]), r = v_cbrt(j);
        o->a = r * r;
        o->a1 = (-2.0 / 3) * o->a * j;
        o->a2 = (10.0 / 9) * o->a * j * j;
    }
}

static inline void law_add_overstress(const pl_law *law, const vd F[9], const vd H[6], vd *W, vd P[9])
{
    vd full[9];
    overstress_parts o;

    overstress_full(H, full);
    overstress_fill(law, F, full, &o);
    *W += 0.5 * o.a * o.Q;
    for (int i = 0; i < 9; ++i) {
        P[i] += o.a * o.FH[i] + 0.5 * o.a1 * o.Q * o.D[i];
    }
}

static inline void law_add_overstress_tangent(const pl_law *law, const vd F[9], const vd H[6], vd A[81])
{
    vd full[9];
    overstress_parts o;

    overstress_full(H, full);
    overstress_fill(law, F, full, &o);
    for (int i = 0; i < 3; ++i) {
        for (int J = 0; J < 3; ++J) {
            for (int L = 0; L < 3; ++L) {
                A[9 * (3 * i + J) + 3 * i + L] += o.a * full[3 * J + L];
            }
        }
    }

    if (!law_is_isochoric(law)) {
        return;
    }

    for (int r = 0; r < 9; ++r) {
        const vd left = o.a1 * o.D[r], right = o.a1 * o.FH[r] + 0.5 * o.a2 * o.Q * o.D[r];
        for (int c = 0; c < 9; ++c) {
            A[9 * r + c] += left * o.FH[c] + right * o.D[c];
        }
    }

    v_add_hessian_J(A, F, 0.5 * o.a1 * o.Q);
}
#endif // PL_VW

#endif
