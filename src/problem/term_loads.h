// The term of loads, between its two files.
#ifndef PL_TERM_LOADS_H
#define PL_TERM_LOADS_H

#include "problem/problem_impl.h"

// A load that is a functional: a moment, or a pressure on a surface. Energy = -factor * load * h.
typedef struct surface_load {
    pl_functional h;
    pl_slots slots;
    double factor;
    int force, pressure; // which entry of the robot it came from; -1
    bool open;           // a pressure on a surface whose rim can move
} surface_load;

typedef struct loads_term {
    surface_load *load;
    int count;
    int64_t full;  // numbers of a full vector
    double *dead;  // full: gravity and forces at full load, and what open rims lack at the shape advanced to
    bool has_open; // some pressure acts on an open surface:
    double *dead_still; // what does not change of `dead`; NULL without any
    double *dead_kept;  // `dead` before it followed the shape
    bool follows;       // the shape of each evaluation
} loads_term;

// ---- term_follower.c
pl_status follower_create(loads_term *l, const pl_problem *p, surface_load *load, pl_error *err);

// out += scale * (f / p - dh/dx): what the potential of the pressure lacks
void follower_add(const surface_load *load, const double *x, double scale, double *out);
void follower_update(loads_term *l, const pl_problem *p,
                     const double *x); // dead loads to those of the shape x
bool follower_follow(void *self, pl_problem *p, pl_follow_mode how);
bool follower_lag(const void *self, pl_problem *p, const double *x, const double *dx, double *full);

#endif
