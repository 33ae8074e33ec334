// Volume meshes: vertices, elements in named regions, named surfaces. A mesh is checked when it is created
// and is immutable afterwards.
#ifndef PLIANT_MESH_H
#define PLIANT_MESH_H

#include "pliant/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Node order of an element: corners first, as in Gmsh and VTK, then the mid nodes:
//   TET10   mid nodes of edges 01 12 02 03 13 23            (VTK order; Gmsh swaps the last two)
//   PRISM15 mid nodes of edges 01 12 20 34 45 53 03 14 25   (VTK order, corners 0 1 2 bottom, 3 4 5 top)
//   TRI6    mid nodes of edges 01 12 20
// A tet is positive if det(x1-x0, x2-x0, x3-x0) > 0, a prism if its top lies on the side that
// (x1-x0) x (x2-x0) points to (corners in the order of Gmsh or of a VTK wedge are reordered accordingly).
typedef enum pl_element_kind {
    PL_TET4,
    PL_TET10,
    PL_PRISM6,
    PL_PRISM15,
    PL_ELEMENT_KIND_COUNT
} pl_element_kind;

#define PL_ELEMENT_NODES_MAX 15
#define PL_FACE_NODES_MAX 8
PL_API int pl_element_face_count(pl_element_kind kind);

typedef struct pl_mesh pl_mesh;

PL_API void pl_mesh_destroy(pl_mesh *mesh);

// A face is an element and one of its sides: element * 8 + side.
typedef struct pl_mesh_view {
    int32_t vertex_count, element_count, region_count, surface_count;
    const double *position;
    const uint8_t *kind;
    const int64_t *node_start;
    const int32_t *node;
    const int32_t *region;
    const char *const *region_name;
    const char *const *surface_name;
    const int64_t *surface_start; // into surface_face
    const int64_t *surface_face;
} pl_mesh_view;

PL_API pl_mesh_view pl_mesh_get(const pl_mesh *mesh);                       // borrowed from the mesh
PL_API int32_t pl_mesh_find_surface(const pl_mesh *mesh, const char *name); // -1 if there is none

// All faces that belong to exactly one element, in element order. The array belongs to the mesh.
PL_API int64_t pl_mesh_boundary(const pl_mesh *mesh, const int64_t **face);

// Vertex indices of a face, corners first, normal outward; returns their number (3, 6, 4 or 8).
PL_API int pl_mesh_face_nodes(const pl_mesh *mesh, int64_t face, int32_t node[PL_FACE_NODES_MAX]);

// Flat triangles that approximate a face of 3, 6, 4 or 8 nodes, as local node numbers, outward like the face;
// curved faces are split at their mid nodes. Returns their number, at most PL_FACE_TRIANGLES_MAX.
#define PL_FACE_TRIANGLES_MAX 6
PL_API int pl_face_triangles(int face_node_count, const int8_t (**triangle)[3]);

// Flat tetrahedra that fill an element, as local node numbers: a tet10 is split at its mid nodes, a prism at
// its corners. Returns their number, at most PL_ELEMENT_TETS_MAX.
#define PL_ELEMENT_TETS_MAX 8
PL_API int pl_element_tets(pl_element_kind kind, const int8_t (**tet)[4]);

// A new mesh in which every linear element is converted to a quadratic one, with shared mid nodes; quadratic
// elements are copied. Vertices keep their numbers; the mid nodes follow.
PL_API_CHECKED pl_status pl_mesh_raise(const pl_mesh *mesh, pl_mesh **out, pl_error *err);

// A new linear mesh with the corner nodes only. `vertex_of` (may be NULL; freed with pl_mesh_free_indices)
// maps its vertices to those of `mesh`.
PL_API_CHECKED pl_status pl_mesh_corners(const pl_mesh *mesh, pl_mesh **out, int32_t **vertex_of,
                                         pl_error *err);
PL_API void pl_mesh_free_indices(int32_t *indices);

// Measures. Volumes and areas are integrals over the elements and faces, which may be curved.
PL_API double pl_mesh_region_volume(const pl_mesh *mesh, int32_t region); // -1 for the whole mesh
PL_API double pl_mesh_faces_area(const pl_mesh *mesh, const int64_t *face, int64_t count);

// True if every edge of the faces is shared by exactly two of them. `rim_count` (may be NULL) is the number
// of closed loops of edges that belong to one face only.
PL_API bool pl_mesh_faces_closed(const pl_mesh *mesh, const int64_t *face, int64_t count, int *rim_count);
PL_API void pl_mesh_bounds(const pl_mesh *mesh, double low[3], double high[3]);

typedef struct pl_mesh_quality {
    int32_t inverted_count; // elements whose Jacobian determinant has no positive lower bound
    int32_t sliver_count;   // quality below 0.1
    double worst, mean;     // inscribed over circumscribed radius, times 3: 1 is regular
    int32_t worst_element;
    double shortest_edge, longest_edge, mean_edge; // mm
} pl_mesh_quality;

PL_API pl_mesh_quality pl_mesh_measure_quality(const pl_mesh *mesh);

// The element that contains a point of the undeformed body, or the nearest one; -1 if the point is not
// finite or memory is lacking.
PL_API int32_t pl_mesh_find_element(const pl_mesh *mesh, const double point[3]);

// ---- bodies that pass through themselves or through each other
typedef struct pl_crossings {
    int32_t count;   // pairs of boundary triangles that cross (curved faces are split); 0: none
    double at[3];    // mm: a point of the first pair
    int64_t face[2]; // its faces; -1 without any
} pl_crossings;

// Of the mesh with its vertices at `position` (NULL: as drawn). Nearly linear time. Surfaces that only touch
// do not cross.
PL_API_CHECKED pl_status pl_mesh_crossings(const pl_mesh *mesh, const double *position, pl_crossings *out,
                                           pl_error *err);

// ---- closed triangle surfaces, as read from STL or OBJ, before they are meshed
typedef struct pl_trisurf {
    int32_t vertex_count, triangle_count;
    double *position; // 3 per vertex, mm
    int32_t *corner;  // 3 per triangle
} pl_trisurf;

PL_API void pl_trisurf_clear(pl_trisurf *surface);

// ---- what generates meshes from CAD, surfaces and designs: pl_meshing_mesher of pliant/meshing.h, a
// separate library. Without it, only the formats read by the core are available.
typedef struct pl_mesher pl_mesher;

#ifdef __cplusplus
}
#endif
#endif
