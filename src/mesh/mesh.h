// What other rooms may call beside include/pliant/mesh.h: shape functions and their derivatives, the proven
// lower bound of the Jacobian, rims of open surfaces, bounding-volume trees, hashed tuples of indices.
#ifndef PL_MESH_ROOM_H
#define PL_MESH_ROOM_H

#include "base/base.h"
#include "base/vec.h"
#include "pliant/mesh.h"

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
