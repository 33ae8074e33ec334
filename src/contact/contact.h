// Contact, for the rooms that may call it: signed distances to rigid obstacles, the points of a body's
// surface where contact is judged, and which of them meet other faces of the surface. No forces here: a term
// of the problem (problem/term_contact.c) makes them from gaps and their derivatives.
// docs/explanation/contact.md has the formulas.
#ifndef PL_CONTACT_ROOM_H
#define PL_CONTACT_ROOM_H

#include "base/base.h"
#include "base/vec.h"
#include "mesh/mesh.h"

// ---- rigid obstacles
typedef enum pl_shape_kind {
    PL_SHAPE_PLANE, // everything below it
    PL_SHAPE_SPHERE,
    PL_SHAPE_CYLINDER, // of a finite length with flat ends, or without end
    PL_SHAPE_BOX,
    PL_SHAPE_MESH // a closed triangle surface
} pl_shape_kind;

// A rigid obstacle at rest. `frame` has the local axes as rows; plane: the normal is the third; cylinder: its
// axis is the third. Hollow: the body is inside (spheres and cylinders).
typedef struct pl_shape {
    pl_shape_kind kind;
    double centre[3], frame[9];
    double radius;
    double half[3]; // box: half the edges; cylinder: half its length in half[2], INFINITY without end
    bool hollow;
    // mesh
    pl_trisurf surface;
    pl_bvh tree;
    double *vertex_normal; // 3 per vertex, weighted by angles: tell inside from outside
    double *edge_normal;   // 3 per edge of each triangle (3 edges: corners 0 1, 1 2, 2 0)
} pl_shape;

// The tree and normals of a mesh, whose surface must be closed and oriented outwards; the shape owns it from
// then on, whatever the answer.
pl_status pl_shape_prepare(pl_shape *shape, pl_error *err);
void pl_shape_clear(pl_shape *shape);

// The signed distance of x (negative inside), its gradient n (a unit vector) and, if `H` is given, its second
// derivative (row-major). Beyond `reach` only a lower bound of the distance is returned, and n and H are 0.
double pl_shape_gap(const pl_shape *shape, const double x[3], double reach, double n[3], double *H);

// Triangles for pictures: corners, 9 numbers each, into `out` (NULL: only count), planes as a square of edge
// `size` around the foot of `near`, endless cylinders `size` long around it. Returns their number.
int pl_shape_triangles(const pl_shape *shape, const double near[3], double size, double *out);

// ---- the points of a surface where contact is judged
// Vertices of the boundary and centres of its faces, with weights `area` of the undeformed surface that
// integrate polynomials of degree 3 on triangles (2 on linear ones): uniform pressure gives the consistent
// nodal forces exactly, and every vertex is judged.
typedef struct pl_contact_surface {
    int32_t face_count, point_count, vertex_count;
    int64_t *face;   // of the mesh
    int8_t *size;    // nodes per face
    int32_t *node;   // PL_FACE_NODES_MAX per face
    int32_t *group;  // per face: body (the caller's numbers)
    double *edge;    // per face: mean length of its edges, mm
    int32_t *vertex; // per point: vertex; -1: centre of a face
    int32_t *home;   // per point: a face it belongs to
    double *area;    // per point, mm^2
    double *spacing; // per point: edge length around it
    double *xi;      // 2 per point that is no vertex: reference coordinates in its face
    double *share;   // per such point: weight in the reference face
    int32_t *around; // faces around each vertex: those from around_start[v] on
    int32_t *around_start;
    int32_t *point_of; // per vertex: its point, -1 inside the body
} pl_contact_surface;

// `region_group` gives the body of each region of the mesh (NULL: one body); negative: left out.
pl_status pl_contact_surface_create(const pl_mesh *mesh, const int32_t *region_group,
                                    pl_contact_surface **out, pl_error *err);
void pl_contact_surface_destroy(pl_contact_surface *surface);

// Nodes of a point and their weights; returns their number.
int pl_contact_point_nodes(const pl_contact_surface *s, int32_t point, const int32_t **node, double *weight);
void pl_contact_point_at(const pl_contact_surface *s, int32_t point, const double *x, double out[3]);

// Unit normal of a face at its vertex, outward; at its centre when the face does not have that.
void pl_contact_normal(const pl_contact_surface *s, int32_t face, int32_t vertex, const double *x,
                       double n[3]);

// Deformed area of a point that belongs to the face.
double pl_contact_point_area(const pl_contact_surface *s, int32_t point, int32_t face, const double *x);

// Shares of a face's deformed area: per node, then the centre, which get `share`; returns the area.
double pl_contact_face_area(const pl_contact_surface *s, int32_t face, const double *x, double share[9]);

// ---- features of obstacles: balls inside of them that touch their surface
typedef struct pl_feature {
    double at[3];  // mm: of the obstacle at rest
    double radius; // mm: of a ball or an axis; 0: a point of a rim or an edge, a vertex
} pl_feature;

// Of an obstacle, at most `spacing` apart (but see contact_feature.c: at most 64 intervals along an edge);
// `ball` (centre, radius) holds the body, for axes without end and the first point of rims; balls with a
// radius above `widest` are left out. They move with the obstacle and `ball`: no axis of space is preferred.
// `out` NULL: only count.
int pl_shape_features(const pl_shape *shape, double spacing, double widest, const double ball[4],
                      pl_feature *out);

// A ball (centre, radius) around a face.
void pl_contact_face_ball(const pl_contact_surface *s, int32_t face, const double *x, double ball[4]);

// ---- overlap of an obstacle and the body, between the points too
#define PL_CONTACT_OVERLAP 0.05 // of the edge, or of the obstacle's half width: what is accepted
typedef struct pl_overlap {
    double depth;    // mm: of the deepest point found
    double place[3]; // it
    int32_t face;    // of the surface, there; -1: none
} pl_overlap;

// The smallest half width of an obstacle, mm; INFINITY for planes and hollow ones.
double pl_shape_thickness(const pl_shape *shape);

// What counts as an overlap at a face: `tolerance` times its edge or the obstacle's half width, if that is
// smaller, mm.
double pl_contact_overlap_limit(const pl_contact_surface *s, int32_t face, const pl_shape *shape,
                                double tolerance);

// The deepest overlap of the body at positions x with an obstacle that stands at R y + t (y: at rest),
// relative to what counts; overlaps that do not count may be left out. An obstacle inside the material as a
// whole counts, one in a cavity does not.
pl_overlap pl_contact_overlap(const pl_contact_surface *s, const double *x, const pl_shape *shape,
                              const double R[9], const double t[3], double tolerance);

// ---- points that meet faces
typedef struct pl_contact_pair {
    int32_t point, face;
    double xi[2]; // of the nearest point of the face
    double gap;   // signed distance, mm
    double n[3];  // from the face to the point, outward of the face
    bool inner;   // the nearest point is inside the face, not on its rim
} pl_contact_pair;

// The foot of p on the face pair->face: fills xi, gap (of p itself), n, inner and `weight`, its share
// among faces that meet at an edge. False: none, or farther from the
// ball (p, radius) than `reach`.
bool pl_contact_foot(const pl_contact_surface *s, const double *x, const double p[3], double radius,
                     double reach, pl_contact_pair *pair, double *weight);

// All faces of a list that the feature (p, radius) meets or is nearer to than `reach`, at most `limit`, the
// deepest first; not the far side of a wall.
int pl_contact_feet(const pl_contact_surface *s, const double *x, const int32_t *face, int32_t face_count,
                    const double p[3], double radius, double reach, pl_contact_pair *out, double *weight,
                    int limit);

typedef struct pl_contact_finder pl_contact_finder;

// Finds pairs on the surface, within a body (`self`) and between bodies. `rest` (3 per vertex) tells the two
// sides of a thin wall from parts that fold onto each other; it and `surface` must outlive the finder.
pl_status pl_contact_finder_create(const pl_contact_surface *surface, const double *rest, bool self,
                                   pl_contact_finder **out, pl_error *err);
void pl_contact_finder_destroy(pl_contact_finder *finder);

// All points with a face nearer than reach * spacing at positions x, at most one face per point, by point.
// False: out of memory. The list holds until the next call.
bool pl_contact_find(pl_contact_finder *finder, const double *x, double reach, const pl_contact_pair **pair,
                     int32_t *count);

// Points keep to the face they have met first while that, continued a little beyond its edges, is still below
// them, so that gaps stay smooth where a point slides from face to face. `pair` NULL: all are let go.
void pl_contact_keep(pl_contact_finder *finder, const pl_contact_pair *pair);

// The shape x is an equilibrium: a point deep inside its own body there does not meet it. At first the
// undeformed shape.
void pl_contact_remember(pl_contact_finder *finder, const double *x);

typedef struct pl_contact_counts {
    int64_t refits, rebuilds, listed; // searches through the tree; its rebuilds; searches in the list
    int64_t box_pairs, tests;
    double seconds; // in all of these
} pl_contact_counts;

pl_contact_counts pl_contact_finder_counts(const pl_contact_finder *finder);

// Derivatives of a pair's gap by the positions of its nodes: nodes of the point, then of the face (at most
// 2 * PL_FACE_NODES_MAX); `gradient` 3 per node; `hessian`, if given, (3 count)^2. Returns the number of
// nodes; a node may appear twice only when point and face share it.
#define PL_PAIR_NODES_MAX (2 * PL_FACE_NODES_MAX)
int pl_contact_pair_nodes(const pl_contact_surface *s, const pl_contact_pair *pair,
                          int32_t node[PL_PAIR_NODES_MAX]);
int pl_contact_pair_derivatives(const pl_contact_surface *s, const pl_contact_pair *pair, const double *x,
                                double *gradient, double *hessian);

// The same for a foot: of the distance of a point p = sum_a weight_a z_a (`own` nodes, at most 4; a point
// that no node moves has one with weight 1) from the face; own nodes first, then those of the face.
int pl_contact_foot_derivatives(const pl_contact_surface *s, const pl_contact_pair *pair, const double *x,
                                const double *weight, int own, double *gradient, double *hessian);

// The derivative of slope . xi of a foot, xi its place on the face, by the same nodes; and that of its weight
// by xi.
int pl_contact_foot_shift(const pl_contact_surface *s, const pl_contact_pair *pair, const double *x,
                          const double *weight, int own, const double slope[2], double *gradient);
void pl_contact_foot_weight_gradient(const pl_contact_surface *s, const pl_contact_pair *pair, double out[2]);

// The place xi of a face and an orthonormal frame there (rows: along its first tangent, across, outward
// normal), which turns with the face; and the change of xi that moves the place by v.
void pl_contact_face_frame(const pl_contact_surface *s, int32_t face, const double *x, const double xi[2],
                           double y[3], double frame[9]);
void pl_contact_face_shift(const pl_contact_surface *s, int32_t face, const double *x, const double xi[2],
                           const double v[3], double out[2]);

// The gap of the same point to the same face at other positions.
bool pl_contact_pair_gap(const pl_contact_surface *s, pl_contact_pair *pair, const double *x);

#endif
