// What the files of the room share: random numbers.
#ifndef PL_CONTROL_IMPL_H
#define PL_CONTROL_IMPL_H

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "pliant/control.h"

// A generator of its own (splitmix64), so that a seed gives the same numbers everywhere.
static inline uint64_t control_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Uniform in (0, 1).
static inline double control_uniform(uint64_t *state)
{
    return ((double)(control_random(state) >> 11) + 0.5) * 0x1p-53;
}

// Standard normal, by Box and Muller.
static inline double control_normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(control_uniform(state)));
    return radius * cos(6.283185307179586 * control_uniform(state));
}

#endif
