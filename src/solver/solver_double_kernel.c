// The numeric factorisation and the solve in double precision. Compiled once per instruction set (PL_ISA
// names it).
#include "solver/solver_eliminate.h"
#include "solver/solver_substitute.h"

#define FRONT_TABLE PL_CAT(front_kernels_double_, PL_ISA)
extern const front_kernels FRONT_TABLE;
const front_kernels FRONT_TABLE = {PL_TEXT(PL_ISA), front_factor, front_solve, NULL, NULL};
