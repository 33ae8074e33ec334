// The constants of a material law as its kernels want them (material_kernel.h), and their derivatives.
#ifndef PL_MATERIAL_LAW_H
#define PL_MATERIAL_LAW_H

#include <stdbool.h>
#include "pliant/material.h"

// The kernels of stress and tangent, each with its functions NAME_dilatation, NAME_stress and NAME_tangent
// in material_kernel.h.
#define PL_KERNEL_LIST(X)                                                                                    \
    X(PL_KERNEL_LINEAR, linear)                                                                              \
    X(PL_KERNEL_STVK, stvk)                                                                                  \
    X(PL_KERNEL_RUBBER, rubber)                                                                              \
    X(PL_KERNEL_OGDEN, ogden)                                                                                \
    X(PL_KERNEL_HGO, hgo)

typedef enum pl_law_kernel {
#define X(kernel, name) kernel,
    PL_KERNEL_LIST(X)
#undef X
} pl_law_kernel;

// Constants of a law as the kernels want them.
typedef struct pl_law {
    pl_material_model model;
    pl_law_kernel kernel;
    bool mixed;       // a pressure is handed in
    double mu, kappa; // kappa: the plain part, the element's own
    double c10, c01, c20, c30;
    double jm; // gent: the limit of I1bar - 3, c10 being mu / 2; 0: no such limit
    // gent: weight of dg/d(jm), to which derivatives with respect to the constant are reduced
    double jm_slope;
    // ogden: coefficients 2 mu / alpha of the terms, their exponents, and the weights of the derivative with
    // respect to the exponents
    double ogden[PL_OGDEN_TERMS], alpha[PL_OGDEN_TERMS], alpha_slope[PL_OGDEN_TERMS];
    // hgo: structure tensors H of the families and dH/dkappa; which derivative the stress of the fibres is
    double k1, k2;
    int fibre_count;
    double structure[PL_FIBRE_FAMILIES][9], structure_slope[PL_FIBRE_FAMILIES][9];
    enum { PL_FIBRE_STRESS, PL_FIBRE_BY_K1, PL_FIBRE_BY_K2, PL_FIBRE_BY_KAPPA, PL_FIBRE_NONE } fibre_part;
    // softening by the largest energy; r 0: none. The constants above are those of the law times `factor`
    double mullins_r, mullins_m, mullins_beta, factor;
} pl_law;

// Fills the constants of the deviatoric part.
void pl_law_constants(pl_law *law, const pl_material *material);

// d(mu)/d(constant) and d(kappa)/d(constant).
void pl_material_moduli_derivative(const pl_material *material, pl_material_constant constant, double out[2]);

// The law whose stress is the derivative of the stress of the deviatoric part with respect to a constant.
void pl_law_constant_derivative(pl_law *law, const pl_material *material, pl_material_constant constant);

#endif
