// Inside meshing: the parts of the repair of surfaces.
#ifndef PL_MESHING_REPAIR_H
#define PL_MESHING_REPAIR_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "pliant/meshing.h"

// Fewer triangles, by collapsing edges in the order of the squared distances to the planes that they replace
// (Garland and Heckbert 1997); the surface stays a manifold and no triangle turns over. Sets `deviation`.
pl_status repair_decimate(pl_trisurf *surface, int32_t most, pl_repair *report, pl_error *err);

#endif
