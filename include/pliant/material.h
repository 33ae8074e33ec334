// Material laws and their constants, in the conventions of Abaqus and CalculiX.
//
//   linear         corotated: P = 2 mu (F - R) + lambda tr(R^T F - I) R
//   stvk           P = F (2 mu E + lambda tr(E) I), E = (F^T F - I) / 2
//   neo_hookean    W = C10 (I1bar - 3) + K/2 (J - 1)^2
//   mooney_rivlin  W = C10 (I1bar - 3) + C01 (I2bar - 3) + K/2 (J - 1)^2
//   yeoh           W = sum_i Ci0 (I1bar - 3)^i + K/2 (J - 1)^2
//   gent           W = -mu Jm / 2 ln(1 - (I1bar - 3) / Jm) + K/2 (J - 1)^2
//   ogden          W = sum_i 2 mu_i / alpha_i^2 (l1^alpha_i + l2^alpha_i + l3^alpha_i - 3) + K/2 (J - 1)^2
//   hgo            W = C10 (I1bar - 3) + sum_f k1 / (2 k2) (exp(k2 <E_f>^2) - 1) + K/2 (J - 1)^2,
//                  E_f = kappa (I1bar - 3) + (1 - 3 kappa) (I4bar_f - 1): fibres that carry tension only
//
// with I1bar = J^(-2/3) tr(F^T F), I2bar = J^(-4/3) I2, I4bar = J^(-2/3) |F m|^2 for fibres along m, and l
// the principal stretches times J^(-1/3). At small strains the shear modulus of the rubber laws is 2 (C10 +
// C01), mu, or the sum of the mu_i (hgo: that of the matrix). A gent material cannot be stretched beyond
// I1bar = 3 + Jm.
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
    PL_GENT,
    PL_OGDEN,
    PL_HGO,
    PL_MATERIAL_MODEL_COUNT
} pl_material_model;

// The locking-free formulation projects the dilatation on linear functions of the element corners
// (docs/explanation/elements.md); `displacement` is the standard displacement element.
typedef enum pl_formulation { PL_LOCKING_FREE, PL_DISPLACEMENT } pl_formulation;

#define PL_OGDEN_TERMS 3
#define PL_PRONY_TERMS 8
#define PL_FIBRE_FAMILIES 2

// Poisson's ratio of rubber laws in a robot file that gives neither it nor a bulk modulus, and that with
// which constants are fitted to tensile tests: a solved bar with such constants follows the test, while
// constants of an incompressible law give up to a tenth less at three times the length
// (docs/reference/materials.md).
#define PL_POISSON_DEFAULT 0.49

typedef struct pl_material {
    pl_material_model model;
    pl_formulation formulation;
    double young;   // MPa; linear and stvk
    double poisson; // linear and stvk; rubber laws: determines the bulk modulus if `bulk` is 0, so set it
                    // (0 means 0; the default in robot files is PL_POISSON_DEFAULT)
    double c10, c01, c20, c30;                                    // MPa; neo_hookean, mooney_rivlin, yeoh
    double mu, jm;                                                // MPa, 1; gent
    double ogden_mu[PL_OGDEN_TERMS], ogden_alpha[PL_OGDEN_TERMS]; // MPa, 1; a term with mu 0 is absent
    // hgo: stiffness (MPa) and stiffening of the fibres, their dispersion from 0 (parallel) to 1/3, and the
    // direction of each family in the undeformed robot, of any length
    double k1, k2, kappa;
    double fibre[PL_FIBRE_FAMILIES][3];
    int fibre_count;
    double bulk;    // MPa; 0: from poisson
    double density; // t/mm^3; 0: weightless
    // Viscous branches of the deviatoric part, for motions in time (docs/explanation/dynamics.md): the
    // constants above are those of the relaxed, long-term material; a sudden strain meets 1 + sum of prony_g
    // times its deviatoric stress, and branch i relaxes with exp(-t / prony_tau).
    int prony_count;
    double prony_g[PL_PRONY_TERMS], prony_tau[PL_PRONY_TERMS]; // 1, s
    // Softening by the largest deviatoric energy W_m that a point has seen (Mullins effect; Ogden and
    // Roxburgh 1999), of rubber laws: below it the deviatoric stress is multiplied by
    //   eta = 1 - erf((W_m - W) / (m + beta W_m)) / r.
    // mullins_r >= 1; 0: none. The constants above are those of the first loading.
    double mullins_r, mullins_m, mullins_beta; // 1, MPa, 1
} pl_material;

PL_API const char *pl_material_model_name(pl_material_model model);

// The constants of the models, their names in the robot file, and their fields in pl_material.
typedef enum pl_material_constant {
    PL_YOUNG,
    PL_POISSON,
    PL_C10,
    PL_C01,
    PL_C20,
    PL_C30,
    PL_MU,
    PL_JM,
    PL_MU1,
    PL_ALPHA1,
    PL_MU2,
    PL_ALPHA2,
    PL_MU3,
    PL_ALPHA3,
    PL_K1,
    PL_K2,
    PL_KAPPA,
    PL_BULK,
    PL_DENSITY,
    PL_MATERIAL_CONSTANT_COUNT
} pl_material_constant;

PL_API const char *pl_material_constant_name(pl_material_constant constant);
PL_API bool pl_material_has(pl_material_model model, pl_material_constant constant);
PL_API double *pl_material_at(pl_material *material, pl_material_constant constant);

// Lame's mu and the coefficient kappa of the dilatation term (lambda for linear and stvk, K for rubber laws).
PL_API void pl_material_moduli(const pl_material *material, double *mu, double *kappa);

// Engineering stress (MPa) of a bar in tension that is solved with the bulk modulus of the material. With tau
// the Kirchhoff stress along the bar and J its volume ratio, the sides are free of stress where
//   tau(l J^(-1/3)) = 3 K J (J - 1),   and the engineering stress is tau / l.
// NAN where a bar of the material cannot be compressed so far.
PL_API double pl_material_tensile(const pl_material *material, double stretch);

// The same of a bar that softens: `largest` (MPa, 0 at first) is its largest energy so far, and is advanced.
PL_API double pl_material_cycled(const pl_material *material, double stretch, double *largest);

// The material library.
typedef struct pl_material_entry {
    const char *name;  // as in `use: dragon_skin_20`
    const char *title; // product name
    pl_material material;
    double strain_low,
        strain_high;    // engineering strain over which the constants were fitted; high 0: not given
    double fit_error;   // root mean square over largest stress; negative: not given by the source
    const char *source; // paper or data set, with its licence
} pl_material_entry;

PL_API int pl_material_library_count(void);
PL_API const pl_material_entry *pl_material_library_at(int i);
PL_API const pl_material_entry *pl_material_library_find(const char *name); // NULL if unknown

#ifdef __cplusplus
}
#endif
#endif
