// The part as it was given, in triangles: what a mesh is sized by, follows and is compared with.
#ifndef PL_MESHING_PART_H
#define PL_MESHING_PART_H

#include "mesh/mesh.h"
#include "meshing/meshing_cells.h"

#define PART_ANGLE (40 * PL_PI / 180) // edges sharper than this are features: they stay edges

// A point of the skin.
typedef struct part_sample {
    double x[3];
    double area;   // mm^2 it stands for
    double wall;   // mm, through the material to the other side; infinite where there is none
    double radius; // mm, of curvature; infinite where flat
} part_sample;

// Owns its arrays; `walls` and `skin` have vertices of their own.
typedef struct part_shape {
    pl_trisurf walls; // all triangles with material on a side, as in the cells
    pl_trisurf skin;  // those with material on one side, looking outwards
    pl_trisurf_tree walls_tree, skin_tree;
    int32_t *patch;  // of each wall: the patch between features it belongs to
    double *feature; // 6 per segment: its ends
    int32_t
        *feature_side; // 2 per segment: the patches beside it, in rising order; -1: more than two triangles
    int32_t feature_count;
    pl_bvh features;
    part_sample *sample; // spread over the skin by area
    int32_t sample_count;
    double length; // mm, largest dimension
} part_shape;

pl_status part_init(part_shape *p, const cells *c, pl_error *err);
void part_clear(part_shape *p);

// The wall thickness that 2 % of the skin stay below; infinite without walls.
double part_thinnest(const part_shape *p);

// The point of the feature edges nearest to x; returns the distance, infinite when there is none. With
// `side`, only features between these two patches (in rising order) count.
double part_nearest_feature(const part_shape *p, const int32_t *side, const double x[3], double nearest[3]);

// How large elements may be: at most `size`, `factor` times a wall, a part of a turn of a round wall.
pl_status part_size_field(const part_shape *p, double size, double factor, size_field *f, pl_error *err);

// Puts the mid-edge nodes of a quadratic mesh's boundary on the part; replaces *mesh.
pl_status part_follow(const part_shape *p, pl_mesh **mesh, pl_error *err);

// Compares mesh and part, and notes the result in the mesh.
pl_status part_measure(const part_shape *p, pl_mesh *mesh, pl_error *err);

// Even triangles of the size asked for, on the part's surface, between its feature edges (see
// meshing_remesh.c). `out` has the cells of c with new triangles. With `exact` the triangles given are only
// split and flipped, so that nothing moves and nothing can cross; thin ones stay thin.
pl_status part_remesh(const part_shape *p, const cells *c, const size_field *f, bool exact, cells *out,
                      pl_error *err);

// The same until no triangles cross: sizes are lowered where they do, at most a few times. *crossing is the
// number of triangles that still cross.
pl_status part_remesh_apart(const part_shape *p, const cells *c, size_field *f, cells *out, int32_t *crossing,
                            pl_error *err);

#endif
