// What other rooms may call beside include/pliant/mesh.h: shape functions and their derivatives, the proven
// lower bound of the Jacobian, rims of open surfaces, bounding-volume trees, hashed tuples of indices.
#ifndef PL_MESH_ROOM_H
#define PL_MESH_ROOM_H

#include "base/base.h"
#include "base/vec.h"
#include "pliant/mesh.h"

// ---- kinds of elements. What other programs call them and how they order their nodes stands here too, so
// that readers and writers of files know no kind by name.
typedef struct pl_element_traits {
    const char *name;
    int nodes, corners, faces, edges; // of one element
    bool tet;                         // a tetrahedron; otherwise a prism
    bool quadratic;                   // has mid nodes
    pl_element_kind lowered, raised;  // the linear and the quadratic kind with these corners
    double
        lumped[3]; // share of its mass: of a corner, a mid node of a triangle, a mid node of a vertical edge
    int vtk;       // its cell type in VTK files, with our order of nodes
    const char *abaqus;
    const char *xdmf; // its name, and its number in mixed meshes
    int xdmf_number;
    int gmsh; // its type in Gmsh, and where each of our nodes stands in Gmsh's list
    int8_t gmsh_node[PL_ELEMENT_NODES_MAX];
} pl_element_traits;

// `kind` is that of a mesh.
const pl_element_traits *pl_element_get(int kind);

static inline bool pl_element_is_tet(int kind)
{
    return pl_element_get(kind)->tet;
}

static inline bool pl_element_is_quadratic(int kind)
{
    return pl_element_get(kind)->quadratic;
}

int pl_element_find_vtk(int64_t type); // -1: no kind of element has this type
int pl_element_find_gmsh(int type);    // -1
int pl_element_find_nodes(int nodes);  // -1
int pl_element_node_count(pl_element_kind kind);
int pl_element_corner_count(pl_element_kind kind);

// Local nodes of a face, corners first, then mid nodes, ordered so that the normal points out of the element.
// Returns the number of nodes: 3 or 6 for a triangle, 4 or 8 for a quadrilateral.
int pl_element_face_nodes(pl_element_kind kind, int face, int node[PL_FACE_NODES_MAX]);

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

// What was repaired, one finding each; `source` is the file that they are about.
void pl_mesh_report_findings(const pl_mesh_report *report, const char *source, pl_findings *findings);

// Checks and copies `def`. Refused: indices out of range, non-finite coordinates, elements of zero volume,
// repeated elements, duplicate names, a mesh without elements. `report` may be NULL. After the repair of
// orientations only curved elements can be inverted; these are refused with their numbers.
pl_status pl_mesh_create(const pl_mesh_def *def, pl_mesh **out, pl_mesh_report *report, pl_error *err);
int32_t pl_mesh_find_region(const pl_mesh *mesh, const char *name); // -1 if there is none

// A new mesh of quadratic tetrahedra in which the marked ones (`marked` per element) are split into eight and
// their neighbours as needed; curved edges keep their shape. Vertices keep their numbers, new ones follow;
// regions and surfaces are kept. Refused for meshes with other elements.
pl_status pl_mesh_refine(const pl_mesh *mesh, const uint8_t *marked, pl_mesh **out, pl_error *err);

// A new mesh with surfaces added (same arrays as in the def, given as faces); an existing surface of the same
// name is replaced.
pl_status pl_mesh_with_surfaces(const pl_mesh *mesh, int32_t count, const char *const *name,
                                const int64_t *start, const int64_t *face, pl_mesh **out, pl_error *err);

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
pl_status pl_mesh_pick(const pl_mesh *mesh, const pl_pick *pick, int64_t **face, int64_t *face_count,
                       pl_error *err);
void pl_mesh_free_faces(int64_t *face);

// Volume of a cavity enclosed by faces whose outward normals point into the cavity (positive for a cavity);
// open rims are capped flat.
double pl_mesh_faces_enclosed(const pl_mesh *mesh, const int64_t *face, int64_t count);

// Quality of one element (tets: 3 r/R; prisms: the worst of their six corner tets, normalised).
double pl_mesh_element_quality(const pl_mesh *mesh, int32_t element);

// How a mesh compares with the part it was generated from, as measured by the mesher. `distance` is the
// largest distance between the two boundaries, in both directions, over samples of every face.
typedef struct pl_mesh_fit {
    double part_volume, mesh_volume; // mm^3
    double part_area, mesh_area;     // mm^2, of the boundary
    double distance;                 // mm
    double wall;                     // mm, the wall thickness that 2 % of the boundary stay below; 0: none
    int64_t samples;                 // 0: not measured (read from a file, flat sheets)
} pl_mesh_fit;

pl_mesh_fit pl_mesh_get_fit(const pl_mesh *mesh);

// Connected parts (elements that share a vertex). Returns their number, 0 if out of memory. `of_element` (may
// be NULL; freed with pl_mesh_free_indices) receives the part of every element, numbered from 0 in element
// order.
int32_t pl_mesh_components(const pl_mesh *mesh, int32_t **of_element);

// Boundary elements in walls with fewer than two elements through the thickness: the straight line inwards
// from the centre of their face leaves the body through a face whose corners are connected to those of the
// first face by edges, so there is no layer of vertices between them. `element` is sorted, freed with
// pl_mesh_free_indices, and NULL if there is none; `thinnest_mm` (may be NULL) is the smallest wall thickness
// found, infinite if no wall was found.
pl_status pl_mesh_thin_walls(const pl_mesh *mesh, int32_t **element, int32_t *count, double *thinnest_mm,
                             pl_error *err);

// Reports the defects of a mesh: inverted and flat elements, disconnected parts, walls one element thick,
// overlapping elements. Each kind becomes one finding with its elements and the position of the worst or
// first one.
pl_status pl_mesh_examine(const pl_mesh *mesh, pl_findings *findings, pl_error *err);

// Position of a point in the undeformed mesh. Inside: the element and its shape-function weights. Outside:
// the nearest boundary point, its weights, and the distance (mm).
typedef struct pl_embedding {
    int32_t element;
    int node_count;
    int32_t node[PL_ELEMENT_NODES_MAX];
    double weight[PL_ELEMENT_NODES_MAX];
    double distance; // 0 inside
} pl_embedding;

pl_status pl_mesh_embed(const pl_mesh *mesh, const double point[3], pl_embedding *out, pl_error *err);

// Merges vertices closer than `tolerance` (0: 1e-7 of the size) and removes triangles that become degenerate.
pl_status pl_trisurf_weld(pl_trisurf *surface, double tolerance, pl_error *err);

// Checks that the surface is closed, consistently oriented, and without duplicate, degenerate or intersecting
// triangles. Every defect becomes a finding with triangle numbers (0-based) and coordinates. Nearly linear
// time.
pl_status pl_trisurf_check(const pl_trisurf *surface, const char *name, pl_findings *findings, pl_error *err);

// Checks that two surfaces do not intersect (shared triangles are allowed).
pl_status pl_trisurf_check_crossing(const pl_trisurf *a, const char *name_a, const pl_trisurf *b,
                                    const char *name_b, pl_findings *findings, pl_error *err);
double pl_trisurf_volume(const pl_trisurf *surface); // signed, mm^3
bool pl_trisurf_contains(const pl_trisurf *surface, const double point[3]);

// The points of the surface nearest to each of `count` points (3 numbers each); `rms` (may be NULL) is the
// root mean square of the distances, mm.
pl_status pl_trisurf_nearest(const pl_trisurf *surface, const double *point, int32_t count, double *nearest,
                             double *rms, pl_error *err);

// A tubular hole through a body, such as a tendon channel: its axis from mouth to mouth.
#define PL_CHANNEL_POINTS 12
typedef struct pl_channel {
    double point[PL_CHANNEL_POINTS][3]; // mm
    int point_count;
    double radius, length; // mm
} pl_channel;

// Finds holes with two sharp-edged mouths in a closed, welded surface that looks outwards; at most `limit` of
// them. Returns their number, -1 when out of memory.
int pl_trisurf_channels(const pl_trisurf *surface, pl_channel *out, int limit, pl_error *err);

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
struct pl_mesher {
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
    // Writes a mesh as MSH; may be NULL.
    pl_status (*write)(void *user, const pl_mesh *mesh, const char *path, pl_error *err);
};

// ---- shape functions
// Reference tet: corners 0, e1, e2, e3. Reference prism: (xi, eta) in the unit triangle, zeta in [-1, 1].
// Reference triangle: corners (0,0), (1,0), (0,1). Reference quadrilateral: [-1, 1]^2.
// N gets one value per node, dN three (faces: two) derivatives per node; either may be NULL. Returns the node
// count.
int pl_shape_eval(pl_element_kind kind, const double xi[3], double *N, double *dN);
int pl_face_shape_eval(int face_node_count, const double xi[2], double *N, double *dN);

// Reference coordinates of a node.
void pl_shape_node(pl_element_kind kind, int node, double xi[3]);

// The point of the element's reference that belongs to a point of the reference of one of its faces.
void pl_shape_from_face(pl_element_kind kind, int face, const double face_xi[2], double xi[3]);

// Quadrature on a face: exact for the volume integral of x . n on every face kind. Weights sum to the area of
// the reference face (1/2 or 4).
#define PL_FACE_POINTS_MAX 9
void pl_face_quadrature(int face_node_count, int *count, double (*xi)[2], double *weight);

// ---- Jacobian of the map from the reference element to x (3 per node)
// A lower bound of det(dx/dxi) over the whole element, from its Bernstein coefficients.
double pl_jacobian_bound(pl_element_kind kind, const double *x);
double pl_jacobian_at(pl_element_kind kind, const double *x, const double xi[3]);

// The exact integral of the determinant: the signed volume.
double pl_element_volume(pl_element_kind kind, const double *x);
double pl_prism_area(const double x[18]); // mean of its two triangles, by their corners

// Nodes of an element gathered into x; returns their number.
int pl_mesh_gather(const pl_mesh *mesh, int32_t element, double x[3 * PL_ELEMENT_NODES_MAX]);

// Nodes of a face gathered into x; returns their number, 0 when there is no such face.
int pl_mesh_gather_face(const pl_mesh *mesh, int64_t face, double x[3 * PL_FACE_NODES_MAX]);

// Corners (then mid nodes, or -1) of the edges of an element; returns the edge count.
int pl_element_edge_count(pl_element_kind kind);
void pl_element_edge_nodes(pl_element_kind kind, int edge, int node[3]);

// ---- rims: the loops of edges that belong to exactly one face of a set
// Loop r has the edges corner[i] -> (mid[i]) -> corner[i + 1], i in start[r] .. start[r+1]-1, the last one
// returning to corner[start[r]]; they run as in the faces. mid is -1 on linear edges. A cap is the fan of
// triangles (centre, corner[i + 1], corner[i]) with the mid node on the far side and straight spokes, where
// the centre is the mean of the loop's corner and mid nodes.
typedef struct pl_rims {
    int32_t count;  // loops
    int32_t *start; // count + 1
    int32_t *corner;
    int32_t *mid;
} pl_rims;

pl_status pl_mesh_rims(const pl_mesh *mesh, const int64_t *face, int64_t count, pl_rims *out, pl_error *err);
void pl_rims_clear(pl_rims *rims);

// ---- a mesh as bytes, with a checksum (see mesh_pack.c). `key` says what the mesh belongs to: a block
// packed under another key is refused. Packing appends; false when out of memory.
bool pl_mesh_pack(const pl_mesh *mesh, uint64_t key, pl_text *out);
pl_status pl_mesh_unpack(const void *data, size_t bytes, uint64_t key, pl_mesh **out, pl_error *err);

// Tetrahedra as a mesher delivers them, before they become a mesh; arrays as in pl_mesh_def, changed in
// place.
typedef struct pl_tets {
    int32_t element_count; // of a surface given by corners: 4 per face, the last -1 for triangles
    uint8_t *kind;
    int64_t *node_start;
    int32_t *node, *region;
    int32_t surface_count;
    int64_t *surface_start;
    int32_t *surface_corner;
} pl_tets;

// Collapses short edges of flat tets (mesh_collapse.c): their number, and the longest of them in mm. Other
// meshes than those of tets of one order are left as they are.
pl_status pl_tets_collapse(pl_tets *tets, int32_t vertex_count, const double *position, int *collapsed,
                           double *longest, pl_error *err);

// The same mesh with its vertices elsewhere; refused when an element would be inverted.
pl_status pl_mesh_moved(const pl_mesh *mesh, const double *position, pl_mesh **out, pl_error *err);

// Notes how the mesh compares with its part, before anyone else sees it.
void pl_mesh_set_fit(pl_mesh *mesh, const pl_mesh_fit *fit);

// ---- hashed tuples of indices: the n-th different key gets the index n
typedef struct pl_table {
    int width;            // indices per key
    int32_t count, limit; // keys stored; most that fit
    uint32_t mask;        // number of slots - 1, slots being a power of two
    int32_t *slot;        // index of a key, or -1; open addressing
    int32_t *key;         // width per entry
} pl_table;

bool pl_table_init(pl_table *table, int width, int64_t limit); // limit: most keys that will be added
int32_t pl_table_add(pl_table *table, const int32_t *key);     // a new key gets the old `count`
int32_t pl_table_find(const pl_table *table, const int32_t *key);
void pl_table_clear(pl_table *table);
void pl_sort_small(int32_t *value, int count);

// For each of n points the lowest-numbered point that represents all points within `tolerance` of it (itself
// when it is alone); returns the number of points that are represented by another, or -1 when out of memory.
int32_t pl_points_weld(int32_t n, const double *x, double tolerance, int32_t *representative);

// ---- bounding-volume tree over boxes
typedef struct pl_bvh {
    int32_t item_count, node_count;
    int32_t *item;  // items in leaf order
    double *box;    // per node: low[3], high[3]
    int32_t *child; // per node: >= 0 left child (right follows), else leaf with items first[node] .. +size
    int32_t *first, *size;
} pl_bvh;

// `box` holds low[3], high[3] per item.
bool pl_bvh_init(pl_bvh *bvh, int32_t count, const double *box);
void pl_bvh_clear(pl_bvh *bvh);

// The same tree around items that have moved.
void pl_bvh_refit(pl_bvh *bvh, const double *box);

// Calls visit for every item whose box meets the given one; visit returns false to stop.
typedef bool (*pl_bvh_visit)(void *user, int32_t item);
void pl_bvh_query(const pl_bvh *bvh, const double low[3], const double high[3], pl_bvh_visit visit,
                  void *user);

// Along origin + t direction, 0 <= t <= limit: visit returns the new limit (its own hit, or the old limit; a
// negative one stops).
typedef double (*pl_bvh_ray_visit)(void *user, int32_t item, double limit);
void pl_bvh_ray(const pl_bvh *bvh, const double origin[3], const double direction[3], double limit,
                pl_bvh_ray_visit visit, void *user);

// Items in the order of their boxes' squared distance until none can be nearer: visit returns the squared
// distance of the best item so far.
typedef double (*pl_bvh_near_visit)(void *user, int32_t item, double best);
void pl_bvh_nearest(const pl_bvh *bvh, const double point[3], double best, pl_bvh_near_visit visit,
                    void *user);

// All pairs of items of a and b whose boxes meet; with a == b each pair once, i < j.
typedef bool (*pl_bvh_pair_visit)(void *user, int32_t i, int32_t j);
void pl_bvh_pairs(const pl_bvh *a, const pl_bvh *b, pl_bvh_pair_visit visit, void *user);

// ---- the steps of pl_mesh_examine: elements that are inverted (with that severity) or flat; parts that
// share no vertex, where parts of different bodies are meant to be apart (region_body: per region, may be
// NULL); thin walls and overlaps
pl_status pl_mesh_examine_shapes(const pl_mesh *mesh, pl_severity inverted, pl_findings *findings,
                                 pl_error *err);
pl_status pl_mesh_examine_parts(const pl_mesh *mesh, const int32_t *region_body, pl_findings *findings,
                                pl_error *err);
pl_status pl_mesh_examine_walls(const pl_mesh *mesh, pl_findings *findings, pl_error *err);

// ---- the boundary as triangles (curved faces are split along their mid nodes), for rays
typedef struct pl_hit {
    double t;       // along the direction as given
    int64_t face;   // element * 8 + side
    int32_t index;  // into pl_mesh_boundary
    bool from_void; // the ray came from outside of the material
} pl_hit;

// The first boundary point met after t > start; false when there is none or the trees could not be built.
bool pl_mesh_cast(const pl_mesh *mesh, const double origin[3], const double direction[3], double start,
                  pl_hit *hit);

// Whether any boundary point is met after t > start.
bool pl_mesh_blocks(const pl_mesh *mesh, const double origin[3], const double direction[3], double start);

// The trees are built at the first call that needs them; this builds them now and reports a lack of memory.
pl_status pl_mesh_prepare_trees(const pl_mesh *mesh, pl_error *err);

// Triangles of a surface that intersect or touch others, in rising order; freed with pl_free. Returns their
// number, -1 without memory. A crowd of them (20000 pairs) is not listed to its end.
int32_t pl_trisurf_crossings(const pl_trisurf *surface, int32_t **triangle);

// ---- nearest points and rays on a triangle surface, which must outlive the tree
typedef struct pl_trisurf_tree {
    const pl_trisurf *surface;
    pl_bvh bvh;
} pl_trisurf_tree;

pl_status pl_trisurf_tree_init(pl_trisurf_tree *tree, const pl_trisurf *surface, pl_error *err);
void pl_trisurf_tree_clear(pl_trisurf_tree *tree);

// The point of the surface nearest to `point`; returns the distance.
double pl_trisurf_tree_nearest(const pl_trisurf_tree *tree, const double point[3], double nearest[3]);

// The same among the triangles whose label (one per triangle) is the wanted one; infinite without any.
double pl_trisurf_tree_nearest_of(const pl_trisurf_tree *tree, const int32_t *label, int32_t wanted,
                                  const double point[3], double nearest[3]);

// The first triangle met after t > start, and its t; -1 when there is none.
int32_t pl_trisurf_tree_cast(const pl_trisurf_tree *tree, const double origin[3], const double direction[3],
                             double start, double *t);

// Point and squared distance on a triangle nearest to p; b holds barycentric weights.
double pl_triangle_nearest(const double p[3], const double a[3], const double b[3], const double c[3],
                           double weight[3]);

// Where a ray meets a triangle (Moeller and Trumbore): t, or a negative number.
double pl_triangle_ray(const double o[3], const double d[3], const double a[3], const double b[3],
                       const double c[3]);

#endif
