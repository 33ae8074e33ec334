// Minimum of a function of a few variables without derivatives, for the constants in which a stress is not
// linear.
#ifndef PL_CALIB_SEARCH_H
#define PL_CALIB_SEARCH_H

#define CALIB_SEARCH_MAX 3
typedef double (*calib_function)(void *user, const double *x);

// Nelder and Mead's simplex from `x` with edges `step` until its values agree to `tolerance` (relative); x
// gets the best point. Returns its value. At most CALIB_SEARCH_MAX variables.
double calib_search(calib_function f, void *user, int n, double *x, double step, double tolerance);

#endif
