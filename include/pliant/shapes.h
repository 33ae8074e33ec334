// The stable shapes of a robot at given commands. A body that buckles or snaps has several equilibria at the
// same commands; which one it takes depends on how it came there. Found by
//   - the load path from the undeformed configuration,
//   - paths through other commands and back,
//   - the branches of equilibria through each shape, by arc length: wherever they return to the given
//   commands,
//   - starts along the softest modes of the tangent, to both sides,
//   - Newton's method on the deflated equilibrium equations, which does not converge to what is known.
// A stationary point that is a saddle is left to both sides along its unstable mode. Every shape is a result
// of a solve: in balance, proved stable, nothing inverted, nothing inside anything. That there are
// no others is not proved.
#ifndef PLIANT_SHAPES_H
#define PLIANT_SHAPES_H

#include "pliant/statics.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- shapes
// Loads are fractions l of the given commands, the robot's dead loads being fully applied; where all commands
// are idle, of the dead loads and driven clamps. At l the commands stand at rest + l (given - rest).
typedef enum pl_shape_end {
    PL_SHAPE_CONTINUES,   // stable as far as it was followed
    PL_SHAPE_LIMIT,       // the load has an extremum: the body snaps
    PL_SHAPE_BIFURCATION, // a mode that the load does not excite loses its stiffness: the body buckles
    PL_SHAPE_UNKNOWN      // the branch was not, or could not be followed farther
} pl_shape_end;

PL_API const char *pl_shape_end_name(pl_shape_end end);

typedef enum pl_shape_source {
    PL_SHAPE_PATH,      // the load path from the undeformed configuration
    PL_SHAPE_COMMANDS,  // a path through other commands
    PL_SHAPE_BRANCH,    // a branch of equilibria through another shape
    PL_SHAPE_MODE,      // a start along a mode
    PL_SHAPE_DEFLATION, // Newton's method on deflated equations
    PL_SHAPE_SOURCES
} pl_shape_source;

PL_API const char *pl_shape_source_name(pl_shape_source source);

typedef struct pl_stable_shape {
    const pl_state *state;  // of the pl_shapes
    double energy;          // mJ, elastic
    double potential;       // mJ, with that of loads and pressures; only differences between shapes matter
    double stiffness;       // N/mm: of the softest mode, per mm of the largest displacement
    double load[2];         // the branch is stable between these loads
    pl_shape_end end[2];    // what happens there
    pl_shape_source source; // how it was found first
    int image;              // the shape before it in the list that it is an image of; -1: of none
    char image_of[40];      // "mirrored in y", "turned about z"; "" if of none
    pl_solve_report report;
} pl_stable_shape;

typedef struct pl_shapes_options {
    int modes;        // softest modes of each shape along which searches start, 0 to 12
    bool commands;    // paths through other commands
    bool branches;    // where each shape appears and disappears; needs fixed supports or clamps, no contact
    double load_most; // branches are followed up to this load, more than 1
    pl_progress progress;
} pl_shapes_options;

PL_API pl_shapes_options pl_shapes_options_default(void);

typedef struct pl_shapes_report {
    int starts;         // searches
    int failed;         // of these did not end in a stable shape
    int factorizations; // of all
    int saddles;        // unstable equilibria that were found on the path
    bool branches;      // branches could be followed
    bool stopped;       // by the progress: the list may be incomplete
} pl_shapes_report;

// Found by pl_model_find_shapes (pliant/model.h), lowest potential first.
typedef struct pl_shapes pl_shapes;
PL_API void pl_shapes_destroy(pl_shapes *shapes);
PL_API int pl_shapes_count(const pl_shapes *shapes);
PL_API pl_stable_shape pl_shapes_get(const pl_shapes *shapes, int i);

#ifdef __cplusplus
}
#endif
#endif
