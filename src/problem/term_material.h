// Changes of the forces by material constants (term_material.c).
#ifndef PL_TERM_MATERIAL_H
#define PL_TERM_MATERIAL_H

#include "problem/problem_impl.h"

// full = -dG/d(constant) of the elements
pl_status term_material_derivative(pl_problem *p, const pl_state *state, int material, int constant,
                                   double *full, pl_error *err);
// full += -dG/d(density): the weight per unit of density
void term_density_derivative(const pl_problem *p, const pl_state *state, int material, double *full);

#endif
