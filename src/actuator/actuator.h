// Scalar functionals h(x) of a shape: the length of a cable, the volume of a cavity, the area of a film, the
// angle of a patch; with gradient and second derivative. A functional is a sum of pieces, each on a handful
// of vertices.
//
//   face of a cavity or film, rim of a cavity (its cap), segment of a cable, angle about an axis, element of
//   a film, a vertex of a linear functional
//
// The energy of actuation elements that grow is a functional too (actuator_grown.c).
#ifndef PL_ACTUATOR_H
#define PL_ACTUATOR_H

#include "base/base.h"
#include "mesh/mesh.h"

typedef enum pl_piece_kind {
    PL_PIECE_VOLUME,
    PL_PIECE_RIM,
    PL_PIECE_AREA,
    PL_PIECE_SEGMENT,
    PL_PIECE_ANGLE,
    PL_PIECE_GROWN,
    PL_PIECE_FILM,
    PL_PIECE_LINEAR,
    PL_PIECE_KIND_COUNT
} pl_piece_kind;

// What growing does to an element: scales it; stretches it normal to `normal` and thins it; shortens a
// triangle along its first axis.
typedef enum pl_grown_kind { PL_GROWN_SCALED, PL_GROWN_FILM, PL_GROWN_TRIANGLE } pl_grown_kind;

// What is integrated over a film, with t1 and t2 the images of two orthonormal axes in its plane, t3 that of
// its normal, n = t1 x t2 and J = n . t3: its area |n|, or what its electrostatic energy is proportional to,
// J N . C^-1 N = |n|^2 / J in elements and |n|^2 on faces, where the film keeps its volume.
typedef enum pl_film_kind { PL_FILM_AREA, PL_FILM_CHARGE, PL_FILM_CHARGE_FACE } pl_film_kind;

typedef struct pl_piece {
    pl_piece_kind kind;
    int32_t node_count;
    int64_t node_start;   // into node
    int64_t data_start;   // into data: SEGMENT 1 weight per node, ANGLE 6 per node (a_j, b_j), GROWN
                          // see actuator_grown.c, FILM per point its weight and 3 per node, LINEAR 3
    double constant[3];   // SEGMENT: constant part of the difference; RIM: the apex where it is fixed
    double origin[3];     // RIM
    bool follows[3];      // RIM: along which axes the apex is the mean of the curve
    bool open, quadratic; // RIM
    pl_grown_kind grown;  // GROWN
    pl_film_kind film;    // FILM
    int point_count;      // GROWN, FILM
} pl_piece;

typedef struct pl_functional {
    int piece_count, piece_capacity;
    pl_piece *piece;
    int32_t *node; // vertices of all pieces, one after the other
    int32_t node_count, node_capacity;
    double *data; // numbers of all pieces, see data_start
    int32_t data_count, data_capacity;
    double near; // ANGLE: the value is chosen within half a turn of this
    // GROWN: ratios of least energy, and the multiplier that goes with them; second derivatives without the
    // part that has no sign
    bool joint, positive;
    double pull; // multiplier of sum share ratio = target
} pl_functional;

void pl_functional_clear(pl_functional *h);

// Building. All return PL_NO_MEMORY or PL_OK.
// Faces that see a cavity (outward normals point into it) contribute to its volume.
pl_status pl_functional_add_volume_faces(pl_functional *h, const pl_mesh *mesh, const int64_t *face,
                                         int64_t count);

// A cap over a closed loop of vertices (corner, mid, corner, ... when quadratic), oriented like the faces it
// completes; a fan from `apex` (fixed in space) or, without it, from the loop's mean.
pl_status pl_functional_add_rim(pl_functional *h, const int32_t *node, int32_t count, bool quadratic,
                                const double *apex);

// The volume between `origin` and a fan over an open chain of vertices (corner, ..., corner). Along the axes
// that it `follows` the fan's apex is the mean of the chain, along the others it is that of `apex`.
pl_status pl_functional_add_arc(pl_functional *h, const int32_t *node, int32_t count, bool quadratic,
                                const double origin[3], const double apex[3], const bool follows[3]);
pl_status pl_functional_add_area_faces(pl_functional *h, const pl_mesh *mesh, const int64_t *face,
                                       int64_t count);

// Length of the straight piece between two weighted points; a point without vertices stands at `rest`.
pl_status pl_functional_add_segment(pl_functional *h, int32_t count_a, const int32_t *node_a,
                                    const double *weight_a, const double rest_a[3], int32_t count_b,
                                    const int32_t *node_b, const double *weight_b, const double rest_b[3]);

// Angle (rad) by which the weighted vertices have turned about `axis` (unit) since rest: with offsets r_j
// from the weighted mean and r'_j their part normal to the axis, s = sum w_j axis . (r_j x d_j), c = sum w_j
// r'_j . d_j, angle = atan2(s, c): the best planar rotation.
pl_status pl_functional_add_angle(pl_functional *h, int32_t count, const int32_t *node, const double *weight,
                                  const double *rest, const double axis[3]);

// A part of a film on the nodes of an element or face: per point its weight and the derivatives of the nodes'
// shape functions along both axes in the plane and along the normal (3 each).
pl_status pl_functional_add_film(pl_functional *h, pl_film_kind kind, int32_t nodes, const int32_t *node,
                                 int points, const double *weight, const double *gradient);

// coefficient . x of a vertex
pl_status pl_functional_add_linear(pl_functional *h, int32_t node, const double coefficient[3]);

// An element that grows: per point its weight (MPa mm^3), share of the measure, gradients of the nodes (3
// each) and, where `normal` and `fixed` are given, 3 for the normal of a film and 9 for the part of F that no
// node brings.
pl_status pl_functional_add_grown(pl_functional *h, pl_grown_kind kind, int32_t nodes, const int32_t *node,
                                  int points, const double *weight, const double *share, const double *normal,
                                  const double *fixed, const double *gradient);
double pl_grown_whole(const pl_functional *h);     // sum of all shares
void pl_grown_set(pl_functional *h, double ratio); // the same ratio for all

// The ratios of least energy at x with sum share ratio = target. False when there are none.
bool pl_grown_meet(pl_functional *h, const double *x, double target);

// After that: g += scale d(sum share ratio)/dx at fixed pull; returns its derivative by the pull.
double pl_grown_row(const pl_functional *h, const double *x, double scale, double *g);

// With one ratio for all: first and second derivative of the energy by it, g (may be NULL) += scale d2/dx dr.
void pl_grown_rate(const pl_functional *h, const double *x, double rate[2], double scale, double *g);

// A triangle in its own plane, first axis from corner 0 to corner 1: gradients of its corners; returns the
// length of that edge.
double pl_triangle_gradient(const double p[3][3], double gradient[3][2], double *area);

double pl_functional_value(const pl_functional *h, const double *x);

// The value and, where g is given, g += scale dh/dx in one pass.
double pl_functional_evaluate(const pl_functional *h, const double *x, double scale, double *g);

// g += scale dh/dx
void pl_functional_gradient(const pl_functional *h, const double *x, double scale, double *g);

// out += scale int N_a n dA over the faces of a volume, n out of the body: the force of a pressure -scale on
// them, which is not dh/dx where the surface is open
void pl_functional_press(const pl_functional *h, const double *x, double scale, double *out);

// H (3m x 3m, row-major, m = node_count of the piece) = scale d2h/dx2 of one piece
void pl_functional_hessian(const pl_functional *h, int piece, const double *x, double scale, double *H);

#endif
