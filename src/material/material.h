// For the rooms right of material: properties of the laws, checks, closed forms, shape parameters.
#ifndef PL_MATERIAL_ROOM_H
#define PL_MATERIAL_ROOM_H

#include "pliant/material.h"

// Psi(W), the deviatoric energy density that has been spent at the largest one W_m so far and the present one
// W (of the law without softening): what is stored and what softening has turned into heat, W itself on the
// first loading. rate[0] = dPsi/dW = eta, rate[1] = d2Psi/dW2; `rate` may be NULL. MPa.
double pl_material_softened(const pl_material *material, double largest, double W, double rate[2]);

// Of it: what softening has turned into heat, which depends on the largest energy alone.
double pl_material_softening_heat(const pl_material *material, double largest);

pl_dimension pl_material_constant_dimension(pl_material_constant constant);
bool pl_material_is_rubber(pl_material_model model);  // a law with a bulk modulus of its own
bool pl_material_has_fibres(pl_material_model model); // a law with directions

// Refuses inadmissible constants (poisson outside (-1, 0.5), no stiffness...) and names the constant.
pl_status pl_material_check(const pl_material *material, const char *name, pl_error *err);

// Engineering stress (MPa) of an incompressible uniaxial test at a stretch, for rubber laws; young * strain
// for linear and stvk. hgo: along its only family of fibres; NAN for two.
double pl_material_uniaxial(const pl_material *material, double stretch);

// J of a bar under the engineering stress (MPa) at a stretch, for a bulk modulus K (MPa); at least 1/2, where
// the pressure of the law ends.
double pl_material_tensile_volume(double bulk, double stretch, double stress);

// Engineering stress (MPa) along the first axis of an incompressible sheet with the stretches l1 and l2 in
// its plane, free of stress across. Rubber laws; infinite where a gent material cannot be stretched so far.
// hgo: the families lie along the first two axes, NAN where they do not.
double pl_material_sheet(const pl_material *material, double l1, double l2);

// ---- the shape parameter of Fang et al. 2020 (docs/explanation/papers.md)
// An element of weight w (MPa) and shape parameter 0 < R <= 1 has the energy w Vol |F - T|^2 with the target
// T = R Rot + (1 - R) J^(-1/3) F: its rotated rest shape, blended with its current shape at the rest volume.
// At small strains this is an elastic solid with mu = w R and lambda = 2 w (1 - R) / 3, so
//   nu = (1 - R) / (2 + R),   E = 6 w R / (2 + R),   and back   R = mu / w,   w = mu + 3 lambda / 2.
void pl_shape_to_elastic(double weight, double r_omega, double *young, double *poisson);
void pl_shape_from_elastic(double young, double poisson, double *weight, double *r_omega);

// For rubber laws the target is T = R Rot + (1 - R) V(F), V(F) the matrix with determinant 1 nearest to F and
// R a function of the strain that gives a bar the law's stress P(l). At small strains mu = w R, bulk = 2 w
// / 3. R is tabulated over I1bar = J^(-2/3) tr(F^T F): a general strain is assigned the R of the uniaxial
// strain with the same I1bar. (Fang et al. 2022 scale to the volume instead; docs/explanation/geometric.md
// says why that diverges.)
#define PL_SHAPE_POINTS 129
typedef struct pl_shape_curve {
    double weight;      // MPa, w
    double strain_high; // engineering strain up to which the curve is fitted
    double reach;       // sqrt(I1bar - 3) there: entries are evenly spaced in sqrt(I1bar - 3) up to it
    double r_omega[PL_SHAPE_POINTS];
} pl_shape_curve;

// Refused if the law has no such curve: R must be between 0 and 1 over the strains.
pl_status pl_shape_curve_fit(const pl_material *material, double strain_high, pl_shape_curve *out,
                             pl_error *err);
double pl_shape_curve_at(const pl_shape_curve *curve,
                         double I1bar); // beyond the reach: its last entry

#endif
