// The numeric factorisation and the solve in single precision: half the memory to move and twice the
// operations per instruction, for factors that only precondition. Compiled once per instruction set (PL_ISA
// names it).
#define FRONT_SINGLE
#include "solver/solver_eliminate.h"
#include "solver/solver_substitute.h"

#define FRONT_TABLE PL_CAT(front_kernels_single_, PL_ISA)
extern const front_kernels FRONT_TABLE;
const front_kernels FRONT_TABLE = {PL_TEXT(PL_ISA), front_factor, front_solve, front_pack,
                                   front_solve_packed};
