// Inside the mesh room: the mesh itself and what its files share.
#ifndef PL_MESH_IMPL_H
#define PL_MESH_IMPL_H

#include <stdatomic.h>
#include "mesh/mesh.h"

// Trees over the boundary's triangles and over the elements. Triangle i belongs to boundary face
// triangle_face[i] and has its corners at nodes triangle_node[3i..] of that face.
typedef struct pl_mesh_trees {
    int32_t triangle_count;
    int32_t *triangle_face; // index into the boundary
    int8_t *triangle_node;  // 3 local nodes of the face
    double *triangle;       // 9 coordinates per triangle
    pl_bvh boundary, elements;
} pl_mesh_trees;

// 5 numbers per boundary face; they depend on the planes of symmetry, whose hash is the key.
typedef struct pl_mesh_sky {
    uint64_t key;  // hash of the planes
    double face[]; // unit normal, area, share of blocked sky
} pl_mesh_sky;

struct pl_mesh {
    pl_mesh_view view; // its arrays are owned
    int64_t *boundary; // faces of one element: element * 8 + side, in element order
    int64_t boundary_count;
    double low[3], high[3];         // bounding box, mm
    pl_mesh_fit fit;                // all zero where the mesh is the part
    _Atomic(pl_mesh_trees *) trees; // built when first needed
    _Atomic(pl_mesh_sky *) sky;     // when first needed (see mesh_cavity.c)
};

// A face's key in a table of width 4: sorted corners, -1 in front for triangles.
void pl_face_key(int corner_count, const int32_t *corner, int32_t key[4]);

// Builds a mesh. With `surface_face` the surfaces are faces and element numbers and orientation must stay:
// elements that would have to be turned round are refused.
pl_status pl_mesh_build(const pl_mesh_def *def, const int64_t *surface_face, pl_mesh **out,
                        pl_mesh_report *report, pl_error *err);

// Checks everything in `def` that can be judged element by element.
pl_status pl_mesh_def_check(const pl_mesh_def *def, bool with_corners, pl_error *err);
const pl_mesh_trees *pl_mesh_trees_get(const pl_mesh *mesh); // NULL when out of memory
void pl_mesh_trees_destroy(pl_mesh_trees *trees);
double pl_mesh_size(const pl_mesh *mesh); // diagonal of the bounding box
const char *pl_element_kind_name(int kind);

// Reference coordinates of a face's node.
void pl_face_shape_node(int face_node_count, int node, double xi[2]);

// The boundary face (index) across each edge of each boundary face, 4 per face, -1 where there is none. Where
// more than two faces meet in an edge, those that bound the same wedge of void are neighbours. NULL when out
// of memory.
int32_t *pl_boundary_neighbours(const pl_mesh *mesh);
int pl_boundary_corner_count(const pl_mesh *mesh, int64_t index);

// ---- bodies cut along planes of symmetry (mesh_mirror.c)
typedef struct pl_mirrors {
    const pl_mirror *mirror;
    int count;
} pl_mirrors;

double pl_mirror_tolerance(const pl_mesh *mesh);

// Whether one of the planes contains all of `count` points.
bool pl_mirrors_contain(const pl_mirrors *mirrors, const double *x, int count, double tolerance);

// Rays in the whole body.
bool pl_mirrors_cast(const pl_mesh *mesh, const pl_mirrors *mirrors, const double origin[3],
                     const double direction[3], pl_hit *hit);
bool pl_mirrors_block(const pl_mesh *mesh, const pl_mirrors *mirrors, const double origin[3],
                      const double direction[3]);

// Volume between the planes and faces whose rims lie in them, positive where the faces look into it; 0 where
// it cannot be decided.
double pl_mirrors_enclosed(const pl_mesh *mesh, const pl_mirrors *mirrors, const int64_t *face,
                           int64_t count);

// The faces of the cavity around pick->point; see mesh_cavity.c.
pl_status pl_mesh_pick_cavity(const pl_mesh *mesh, const pl_pick *pick, int64_t **face, int64_t *face_count,
                              pl_error *err);

// ---- triangle surfaces
// Refused: missing arrays, indices out of range, coordinates that are not finite.
pl_status pl_trisurf_valid(const pl_trisurf *surface, const char *name, pl_error *err);
double pl_trisurf_size(const pl_trisurf *surface);

// One finding for a group of triangles: the sentence, the first few numbers, all of them attached.
void pl_trisurf_report(const pl_trisurf *surface, pl_findings *findings, const int32_t *triangle,
                       int32_t count, const char *sentence, const char *advice);

// Intersections of the triangles of a surface among themselves, as one finding.
pl_status pl_trisurf_check_self(const pl_trisurf *surface, const char *name, pl_findings *findings,
                                pl_error *err);

// The quality of a tet by its corners, see mesh_quality.c.
double mesh_quality_tet(const double *x0, const double *x1, const double *x2, const double *x3);

#endif
