// The numeric factorisation and the solve once more in single precision: half the memory to move and twice
// the operations per instruction. For factors that only precondition.
#define FRONT_SINGLE
#include "solver/solver_pivot.c"
#include "solver/solver_eliminate.c"
#include "solver/solver_substitute.c"
