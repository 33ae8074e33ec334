// Parts of the search for stable shapes, for this folder: branches, images.
#ifndef PL_STATICS_SHAPES_H
#define PL_STATICS_SHAPES_H

#include "pliant/shapes.h"
#include "statics/statics_impl.h"

// ---- statics_branch.c
#define BRANCH_MEETS 6 // returns to the load 1 that are kept
typedef struct statics_branch {
    // the stable part of the branch ends here
    double load;
    pl_shape_end end;
    // equilibria at the load 1 beyond the start, stable or not: 3 per vertex each
    int meet_count;
    int negative[BRANCH_MEETS];
    double *meet; // room for BRANCH_MEETS shapes, of the caller
} statics_branch;

// Can branches be followed on the family that is set (pl_problem_begin)?
bool statics_branch_possible(pl_statics *s);

// Follows the branch through the stable equilibrium x at the load 1 towards smaller (side -1) or greater (1)
// loads, between the loads 0 and `most`, also around limit points.
pl_status statics_branch_follow(pl_statics *s, const double *x, int side, double most, statics_branch *out,
                                pl_error *err);

// ---- statics_image.c
#define IMAGE_MAPS 47
typedef struct statics_images statics_images;

// The reflections and turns of a cube that map the undeformed body onto itself.
statics_images *statics_images_create(const pl_statics *s, pl_error *err);
void statics_images_destroy(statics_images *images);

// The map that takes shape a to shape b, which are `apart` (mm); NULL: none. The name belongs to `images`.
const char *statics_images_find(const statics_images *images, const double *a, const double *b, double apart);

#endif
