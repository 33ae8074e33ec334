// Changes of the forces by material constants (term_material.c).
#ifndef PL_TERM_MATERIAL_H
#define PL_TERM_MATERIAL_H

#include "problem/problem_impl.h"

// full = -dG/d(constant) of the elements
pl_status term_material_derivative(pl_problem *p, const pl_state *state, int material, int constant,
                                   double *full, pl_error *err);

// d/d(constant) of dE/dg, g the growth ratio of a region, at fixed x and g, by a constant of its material
// (not its density); after an evaluation at x
double term_material_growth(pl_problem *p, int region, pl_growth_kind kind, const double *x, int constant);

// full += -dG/d(density): the weight per unit of density
void term_density_derivative(const pl_problem *p, const pl_state *state, int material, double *full);

#endif
