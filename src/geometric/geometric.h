// For the rooms right of geometric: what a solver remembers beyond a pl_state.
#ifndef PL_GEOMETRIC_ROOM_H
#define PL_GEOMETRIC_ROOM_H

#include "pliant/geometric.h"

// The places of the vertices inside filled chambers, from which the next solve goes on, and what the
// actuators reached: written where `room` suffices; returns the number of doubles in any case. And back to
// them (of a block of that size), or with NULL to the undeformed configuration.
size_t pl_geometric_pack(const pl_geometric *geometric, double *block, size_t room);
void pl_geometric_unpack(pl_geometric *geometric, const double *block);

#endif
