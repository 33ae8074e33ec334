// Materials: what a region is made of. Constants follow the conventions of Abaqus and CalculiX.
//
//   linear         corotated: P = 2 mu (F - R) + lambda tr(R^T F - I) R
//   stvk           P = F (2 mu E + lambda tr(E) I), E = (F^T F - I) / 2
//   neo_hookean    W = C10 (I1bar - 3) + K/2 (J - 1)^2
//   mooney_rivlin  W = C10 (I1bar - 3) + C01 (I2bar - 3) + K/2 (J - 1)^2
//   yeoh           W = sum_i Ci0 (I1bar - 3)^i + K/2 (J - 1)^2
//
// with I1bar = J^(-2/3) tr(F^T F) and I2bar = J^(-4/3) I2. Small strains: mu = 2 (C10 + C01) for the rubber
// laws.
#ifndef PLIANT_MATERIAL_H
#define PLIANT_MATERIAL_H

#include "pliant/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pl_material_model {
    PL_LINEAR,
    PL_STVK,
    PL_NEO_HOOKEAN,
    PL_MOONEY_RIVLIN,
    PL_YEOH,
    PL_MATERIAL_MODEL_COUNT
} pl_material_model;

// The locking-free formulation averages the dilatation on the corners of the elements (docs/elements.md);
// `displacement` is the plain element other codes have.
typedef enum pl_formulation { PL_LOCKING_FREE, PL_DISPLACEMENT } pl_formulation;

typedef struct pl_material {
    pl_material_model model;
    pl_formulation formulation;
    double young;   // MPa; linear and stvk
    double poisson; // linear and stvk; rubber laws: gives the bulk modulus when `bulk` is 0, so set it (0
                    // means 0; robot files put in 0.49)
    double c10, c01, c20, c30; // MPa; rubber laws
    double bulk;               // MPa; 0: from poisson
    double density;            // t/mm^3; 0: weightless
} pl_material;

PL_API const char *pl_material_model_name(pl_material_model model);
// Names of the constants a model takes, in the spelling of the robot file, and where they live in
// pl_material.
typedef enum pl_material_constant {
    PL_YOUNG,
    PL_POISSON,
    PL_C10,
    PL_C01,
    PL_C20,
    PL_C30,
    PL_BULK,
    PL_DENSITY,
    PL_MATERIAL_CONSTANT_COUNT
} pl_material_constant;
PL_API const char *pl_material_constant_name(pl_material_constant constant);
PL_API bool pl_material_has(pl_material_model model, pl_material_constant constant);
PL_API double *pl_material_at(pl_material *material, pl_material_constant constant);

// Refuses what cannot be a material (poisson outside (-1, 0.5), no stiffness...), naming the constant.
PL_API pl_status pl_material_check(const pl_material *material, const char *name, pl_error *err);
// Lame's mu and the coefficient kappa of the dilatation term (lambda for linear and stvk, K for rubber laws).
PL_API void pl_material_moduli(const pl_material *material, double *mu, double *kappa);
// Engineering stress (MPa) of an incompressible uniaxial test at a stretch; rubber laws. Linear laws: young *
// strain.
PL_API double pl_material_uniaxial(const pl_material *material, double stretch);

// The library of measured materials.
typedef struct pl_material_entry {
    const char *name;  // as in `use: dragon_skin_20`
    const char *title; // as sold
    pl_material material;
    double strain_low,
        strain_high;    // engineering strain over which the constants were fitted; high 0: not stated
    double fit_error;   // root mean square over largest stress; negative: not stated by the source
    const char *source; // paper or data set, with its licence
} pl_material_entry;
PL_API int pl_material_library_count(void);
PL_API const pl_material_entry *pl_material_library_at(int i);
PL_API const pl_material_entry *pl_material_library_find(const char *name); // NULL when unknown

#ifdef __cplusplus
}
#endif
#endif
