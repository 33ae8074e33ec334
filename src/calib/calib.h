// For tests: the parts of fits.
#ifndef PL_CALIB_ROOM_H
#define PL_CALIB_ROOM_H

#include "pliant/calib.h"

double pl_ratio_elasticity(double length, double interface, double pull, double moved);

// Least-squares non-decreasing values (pool adjacent violators), in place; `weight` and `block` (count
// entries) are overwritten.
void pl_isotonic(int count, double *y, double *weight, int *block);

#endif
