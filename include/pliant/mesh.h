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
PL_API int pl_element_node_count(pl_element_kind kind);
PL_API int pl_element_corner_count(pl_element_kind kind);
PL_API int pl_element_face_count(pl_element_kind kind);
// Local nodes of a face, corners first, then mid nodes, ordered so that the normal points out of the element.
// Returns the number of nodes: 3 or 6 for a triangle, 4 or 8 for a quadrilateral.
PL_API int pl_element_face_nodes(pl_element_kind kind, int face, int node[PL_FACE_NODES_MAX]);

// Definition of a mesh. Arrays are copied. Surfaces are triangles and quadrilaterals given by their corner
// nodes. A face between two elements belongs to the element with the lower region (then the lower number).
typedef struct pl_mesh_def {
    int32_t vertex_count;
    const double *position; // 3 per vertex, mm
    int32_t element_count;
    const uint8_t *kind;       // pl_element_kind per element
    const int64_t *node_start; // element_count + 1
    const int32_t *node;       // vertex indices
    const int32_t *region;     // per element, 0 .. region_count-1
    int32_t region_count;      // at least 1
    const char *const *region_name;
    int32_t surface_count;
    const char *const *surface_name;
    const int64_t *surface_start;  // surface_count + 1, into surface_corner (4 per face)
    const int32_t *surface_corner; // 4 vertex indices per face; the fourth is -1 for triangles
} pl_mesh_def;

typedef struct pl_mesh_report {
    int32_t flipped_elements;   // orientation repaired
    int32_t duplicate_vertices; // coincident vertices (within 1e-9 of the size), not merged
    int32_t unused_vertices;    // removed
    int32_t unmatched_faces;    // surface faces that belong to no element, dropped
    int32_t collapsed_edges;    // of flat elements of a mesher, see pl_tets_collapse
    double longest_collapsed;   // mm
} pl_mesh_report;

typedef struct pl_mesh pl_mesh;

// Checks and copies `def`. Refused: indices out of range, non-finite coordinates, elements of zero volume,
// repeated elements, duplicate names, a mesh without elements. `report` may be NULL. After the repair of
// orientations only curved elements can be inverted; these are refused with their numbers.
PL_API_CHECKED pl_status pl_mesh_create(const pl_mesh_def *def, pl_mesh **out, pl_mesh_report *report,
                                        pl_error *err);
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
PL_API int32_t pl_mesh_find_region(const pl_mesh *mesh, const char *name);  // -1 if there is none
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
// A new mesh of quadratic tetrahedra in which the marked ones (`marked` per element) are split into eight and
// their neighbours as needed; curved edges keep their shape. Vertices keep their numbers, new ones follow;
// regions and surfaces are kept. Refused for meshes with other elements.
PL_API_CHECKED pl_status pl_mesh_refine(const pl_mesh *mesh, const uint8_t *marked, pl_mesh **out,
                                        pl_error *err);
// A new mesh with surfaces added (same arrays as in the def, given as faces); an existing surface of the same
// name is replaced.
PL_API_CHECKED pl_status pl_mesh_with_surfaces(const pl_mesh *mesh, int32_t count, const char *const *name,
                                               const int64_t *start, const int64_t *face, pl_mesh **out,
                                               pl_error *err);

// A plane of symmetry along which a body was cut; the body lies behind it (unit normal).
typedef struct pl_mirror {
    double point[3], normal[3];
} pl_mirror;
// How to select a surface on the boundary of a mesh.
typedef enum pl_pick_kind { PL_PICK_SEEN_FROM, PL_PICK_BOX, PL_PICK_PLANE } pl_pick_kind;
typedef struct pl_pick {
    pl_pick_kind kind;
    double point[3];         // seen_from: the viewpoint; plane: a point on it
    double normal[3];        // plane
    double low[3], high[3];  // box
    double tolerance;        // plane: mm; 0: 1e-6 of the size of the mesh
    const pl_mirror *mirror; // seen_from: the cavity is that of the whole body, cut along these planes
    int mirror_count;
} pl_pick;
// SEEN_FROM: the connected part of the boundary around the viewpoint, which ends at the sharp rim where a
// cavity is open (mesh_cavity.c explains how the opening is found). BOX: boundary faces whose corners all lie
// inside. PLANE: boundary faces whose corners all lie on the plane. *face is freed with pl_mesh_free_faces.
PL_API_CHECKED pl_status pl_mesh_pick(const pl_mesh *mesh, const pl_pick *pick, int64_t **face,
                                      int64_t *face_count, pl_error *err);
PL_API void pl_mesh_free_faces(int64_t *face);

// Measures. Volumes and areas are integrals over the elements and faces, which may be curved.
PL_API double pl_mesh_region_volume(const pl_mesh *mesh, int32_t region); // -1 for the whole mesh
PL_API double pl_mesh_faces_area(const pl_mesh *mesh, const int64_t *face, int64_t count);
// True if every edge of the faces is shared by exactly two of them. `rim_count` (may be NULL) is the number
// of closed loops of edges that belong to one face only.
PL_API bool pl_mesh_faces_closed(const pl_mesh *mesh, const int64_t *face, int64_t count, int *rim_count);
// Volume of a cavity enclosed by faces whose outward normals point into the cavity (positive for a cavity);
// open rims are capped flat.
PL_API double pl_mesh_faces_enclosed(const pl_mesh *mesh, const int64_t *face, int64_t count);
PL_API void pl_mesh_bounds(const pl_mesh *mesh, double low[3], double high[3]);

typedef struct pl_mesh_quality {
    int32_t inverted_count; // elements whose Jacobian determinant has no positive lower bound
    int32_t sliver_count;   // quality below 0.1
    double worst, mean;     // inscribed over circumscribed radius, times 3: 1 is regular
    int32_t worst_element;
    double shortest_edge, longest_edge, mean_edge; // mm
} pl_mesh_quality;
PL_API pl_mesh_quality pl_mesh_measure_quality(const pl_mesh *mesh);
// Quality of one element (tets: 3 r/R; prisms: the worst of their six corner tets, normalised).
PL_API double pl_mesh_element_quality(const pl_mesh *mesh, int32_t element);

// How a mesh compares with the part it was generated from, as measured by the mesher. `distance` is the
// largest distance between the two boundaries, in both directions, over samples of every face.
typedef struct pl_mesh_fit {
    double part_volume, mesh_volume; // mm^3
    double part_area, mesh_area;     // mm^2, of the boundary
    double distance;                 // mm
    double wall;                     // mm, the wall thickness that 2 % of the boundary stay below; 0: none
    int64_t samples;                 // 0: not measured (read from a file, flat sheets)
} pl_mesh_fit;
PL_API pl_mesh_fit pl_mesh_get_fit(const pl_mesh *mesh);

// Connected parts (elements that share a vertex). Returns their number, 0 if out of memory. `of_element` (may
// be NULL; freed with pl_mesh_free_indices) receives the part of every element, numbered from 0 in element
// order.
PL_API int32_t pl_mesh_components(const pl_mesh *mesh, int32_t **of_element);
// Boundary elements in walls with fewer than two elements through the thickness: the straight line inwards
// from the centre of their face leaves the body through a face whose corners are connected to those of the
// first face by edges, so there is no layer of vertices between them. `element` is sorted, freed with
// pl_mesh_free_indices, and NULL if there is none; `thinnest_mm` (may be NULL) is the smallest wall thickness
// found, infinite if no wall was found.
PL_API_CHECKED pl_status pl_mesh_thin_walls(const pl_mesh *mesh, int32_t **element, int32_t *count,
                                            double *thinnest_mm, pl_error *err);
// Reports the defects of a mesh: inverted and flat elements, disconnected parts, walls one element thick,
// overlapping elements. Each kind becomes one finding with its elements and the position of the worst or
// first one.
PL_API_CHECKED pl_status pl_mesh_examine(const pl_mesh *mesh, pl_findings *findings, pl_error *err);

// Position of a point in the undeformed mesh. Inside: the element and its shape-function weights. Outside:
// the nearest boundary point, its weights, and the distance (mm).
typedef struct pl_embedding {
    int32_t element;
    int node_count;
    int32_t node[PL_ELEMENT_NODES_MAX];
    double weight[PL_ELEMENT_NODES_MAX];
    double distance; // 0 inside
} pl_embedding;
PL_API_CHECKED pl_status pl_mesh_embed(const pl_mesh *mesh, const double point[3], pl_embedding *out,
                                       pl_error *err);

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
// Merges vertices closer than `tolerance` (0: 1e-7 of the size) and removes triangles that become degenerate.
PL_API_CHECKED pl_status pl_trisurf_weld(pl_trisurf *surface, double tolerance, pl_error *err);
// Checks that the surface is closed, consistently oriented, and without duplicate, degenerate or intersecting
// triangles. Every defect becomes a finding with triangle numbers (0-based) and coordinates. Nearly linear
// time.
PL_API_CHECKED pl_status pl_trisurf_check(const pl_trisurf *surface, const char *name, pl_findings *findings,
                                          pl_error *err);
// Checks that two surfaces do not intersect (shared triangles are allowed).
PL_API_CHECKED pl_status pl_trisurf_check_crossing(const pl_trisurf *a, const char *name_a,
                                                   const pl_trisurf *b, const char *name_b,
                                                   pl_findings *findings, pl_error *err);
PL_API double pl_trisurf_volume(const pl_trisurf *surface); // signed, mm^3
PL_API bool pl_trisurf_contains(const pl_trisurf *surface, const double point[3]);
// The points of the surface nearest to each of `count` points (3 numbers each); `rms` (may be NULL) is the
// root mean square of the distances, mm.
PL_API_CHECKED pl_status pl_trisurf_nearest(const pl_trisurf *surface, const double *point, int32_t count,
                                            double *nearest, double *rms, pl_error *err);

// A tubular hole through a body, such as a tendon channel: its axis from mouth to mouth.
#define PL_CHANNEL_POINTS 12
typedef struct pl_channel {
    double point[PL_CHANNEL_POINTS][3]; // mm
    int point_count;
    double radius, length; // mm
} pl_channel;
// Finds holes with two sharp-edged mouths in a closed, welded surface that looks outwards; at most `limit` of
// them. Returns their number, -1 when out of memory.
PL_API int pl_trisurf_channels(const pl_trisurf *surface, pl_channel *out, int limit, pl_error *err);

// ---- where meshes come from (the robot file's `mesh:` block)
typedef enum pl_source_kind {
    PL_SOURCE_FILE,
    PL_SOURCE_PARTS,
    PL_SOURCE_STEP,
    PL_SOURCE_DESIGN,
    PL_SOURCE_SHEETS
} pl_source_kind;

typedef struct pl_source_part {
    const char *path;   // STL or OBJ; a path that can be opened
    const char *region; // region name
    bool cavity;        // true: hollow, its surface becomes the surface `region`
    int line;           // in the robot file, for messages
} pl_source_part;

typedef struct pl_source_parameter {
    const char *name;
    double value; // internal units
    int line;
} pl_source_parameter;

// A planar outline between two heights, meshed with prisms. Where sheets overlap, the later one counts.
typedef struct pl_source_sheet {
    const char *region; // NULL: the area it covers is left empty
    const double *xy;   // corners, 2 each, mm
    int corner_count;
    double from, to; // mm, along z
    int line;
} pl_source_sheet;

typedef struct pl_mesh_source {
    pl_source_kind kind;
    const char *path; // FILE and STEP; a path that can be opened
    const pl_source_part *part;
    int part_count;
    const char *design;
    const pl_source_parameter *parameter;
    int parameter_count;
    const pl_source_sheet *sheet;
    int sheet_count;
    double unit;      // mm per unit of the file; 0 if not given
    double size;      // target edge length in mm; 0: chosen from wall thickness
    int order;        // 1 or 2
    bool accept;      // take the mesh even when it differs from its part beyond the limits
    bool fill;        // mesh closed cavities too, as regions with the names of their surfaces
    const char *file; // the robot file and line of the block, for messages
    int line;
} pl_mesh_source;

// Generates a mesh from a source. pliant::meshing provides one for all kinds (pl_meshing_mesher). Without it,
// only the formats read by the core are available.
typedef struct pl_mesher {
    pl_status (*build)(void *user, const pl_mesh_source *source, const pl_progress *progress, pl_mesh **out,
                       pl_findings *findings, pl_error *err);
    void *user;
    // Meshes the closed cavities of a mesh read from a file (`fill` of a source); may be NULL.
    pl_status (*fill)(void *user, pl_mesh **mesh, double size, const pl_progress *progress,
                      pl_findings *findings, pl_error *err);
    // Reads a triangle surface (STL, OBJ), in units of `unit` mm; may be NULL.
    pl_status (*surface)(void *user, const char *path, double unit, pl_trisurf *out, pl_error *err);
    // Whether the parameters of a design are known and possible, without meshing; may be NULL.
    pl_status (*check)(void *user, const pl_mesh_source *source, pl_error *err);
} pl_mesher;

#ifdef __cplusplus
}
#endif
#endif
