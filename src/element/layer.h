// Thin layers bonded to faces: membrane and bending energy of one face with gradient and second derivatives.
// Knows mesh and material, no global matrix. docs/explanation/layers.md has the derivation.
//
// With x(xi) the face, a_ab = x,a . x,b its metric, n its normal and E_ab = (a_ab - A_ab) / 2 the strain
// relative to the undeformed face (capital letters), a layer of thickness h whose middle lies z0 outside of
// the face has the energy
//   U = int h W(E - z0 K) + h^3/24 K : C : K dA,
// W the plane-stress energy of its material and C its stiffness at small strain. A layer that was stretched
// by p before it was bonded has p^2 E + (p^2 - 1) / 2 I and p^2 K in place of E and K, and dA / p^2.
//
// - E of a quadratic face is interpolated by the linear tensor field with the same tangential strain at the
//   two Gauss points of every edge and the same mean (Regge interpolation). Without it a face that bends
//   without stretching would be strained, and a thin stiff layer could not bend (membrane locking).
// - K = b - B + R: b_ab = n . x,ab inside the face; the kinks between faces count too, spread over both
// faces:
//   int_T R : M = sum over edges 1/2 int (phi - Phi) M_nn, phi the angle by which the normal turns across the
//   edge. With a small penalty of phi - Phi this is a local discontinuous Galerkin method.
#ifndef PL_LAYER_H
#define PL_LAYER_H

#include "element/element.h"

#define PL_LAYER_NODES 15  // a quadratic face and the other nodes of three neighbours
#define PL_LAYER_STRAINS 9 // parameters of the interpolated strain
#define PL_LAYER_POINTS 3

// ---- plane stress
typedef struct pl_sheet {
    pl_law law;        // three-dimensional, without pressure
    double mu, lambda; // MPa; lambda of plane stress
    double moduli[9];  // stiffness at small strain, in the order 11, 22, 12
    bool rubber;
    // Strain at which uniaxial compression folds the sheet into wrinkles; 0: never. Beyond it the compressive
    // stress stays as it is (laws linear and stvk).
    double wrinkle;
} pl_sheet;

void pl_sheet_init(pl_sheet *sheet, const pl_material *material);

// Energy density, stress and tangent (may be NULL) for the Green strain e = (e11, e22, 2 e12) in orthonormal
// axes. False where such a strain cannot be. A wrinkled sheet has the energy of its mean shape, folds
// included:
//   min over w >= 0 (a symmetric matrix) of W(b + w) + E' wrinkle tr w,
// b the strain that the law is linear in, w the length in the folds: no compressive stress exceeds E'
// wrinkle.
bool pl_sheet_stress(const pl_sheet *sheet, const double e[3], double *W, double S[3], double C[9]);

// dS/d(constant) at fixed e, and the derivative of `moduli` with respect to it.
void pl_sheet_derivative(const pl_sheet *sheet, const pl_material *material, pl_material_constant constant,
                         const double e[3], double dS[3], double dmoduli[9]);

// ---- strain of a face with 3 or 6 nodes
// d_i: parameters of E. Quadratic: |x,t|^2 / 2 at the two Gauss points of each edge, then the means of
// a11 / 2, a22 / 2, a12 / 2. Linear: the latter three.
typedef struct pl_face_table {
    int nodes, strains, points;
    double edge[3][2][2][6];                // [edge][Gauss point][along, inwards][node]
    double inner[3][2][6];                  // first derivatives where the means are taken
    double centre[2][6], second[3][6];      // derivatives at the centre; second ones 11, 22, 12
    double point[PL_LAYER_POINTS][2];       // quadrature of the energy
    double share[PL_LAYER_POINTS];          // its weights, sum 1/2
    double field[3 * 3 * PL_LAYER_STRAINS]; // d to E: constant part, xi, eta; [part][11, 22, 12][strain]
} pl_face_table;

void pl_face_table_init(pl_face_table *table, int nodes);

// E at xi from d - d0: 3 x strains.
void pl_face_field(const pl_face_table *table, const double xi[2], double M[3 * PL_LAYER_STRAINS]);
void pl_face_strains(const pl_face_table *table, const double *x, double d[PL_LAYER_STRAINS]);

// g += sum U_i dd_i/dx over the face's own nodes
void pl_face_strains_pull(const pl_face_table *table, const double *x, const double *U, double *g);

// Rows dd_i/dx, `stride` apart.
void pl_face_strains_rows(const pl_face_table *table, const double *x, int stride, double *J);

// H (stride x stride) += sum U_i d2d_i/dx2; with `positive` what is positive semidefinite of it
void pl_face_strains_curve(const pl_face_table *table, const double *U, bool positive, int stride, double *H);

// Covariant (11, 22, 12) to orthonormal (e11, e22, 2 e12) components, first axis along A1; returns |A1 x A2|.
double pl_face_frame(const double A1[3], const double A2[3], double frame[9], double axis[2][3]);

// Gathers tangents at xi: x,1 and x,2.
void pl_face_tangents(const pl_face_table *table, const double *x, const double xi[2], double a[2][3]);

// ---- layers
typedef enum pl_layer_edge_kind { PL_LAYER_FREE, PL_LAYER_JOINED, PL_LAYER_HELD } pl_layer_edge_kind;

typedef struct pl_layer_edge {
    pl_layer_edge_kind kind;
    int other_edge;       // of the neighbour
    bool reversed;        // the neighbour runs along the edge in the other direction, as it should
    int other_node[6];    // its nodes as positions in the face's list
    double lift[2][3];    // per Gauss point: d(K11, K22, K12)/dphi
    double penalty[2];    // times the layer's bending stiffness: second derivative of the energy by phi
    double rest[2];       // Phi
    double outward[2][3]; // held: the direction out of the face that the normal stays at right angles to
} pl_layer_edge;

typedef struct pl_layer_face {
    int node_count;
    int32_t node[PL_LAYER_NODES];
    double area;
    double weight[PL_LAYER_POINTS], frame[PL_LAYER_POINTS][9], centre[9];
    double rest[PL_LAYER_STRAINS], rest_curvature[3];
    pl_layer_edge edge[3];
} pl_layer_face;

typedef struct pl_layer_law {
    pl_sheet sheet;
    double thickness, offset; // mm; offset of its middle from the face, along the normal
    bool bending;             // otherwise a membrane in the face
    // Green strain (p^2 - 1) / 2 of the undeformed face relative to the layer's own rest, where its lengths
    // are those of the face over the prestretch p and its thickness is h; 0: none.
    double prestrain;
} pl_layer_law;

// Fills everything but the list of nodes and kind, neighbour and direction of the edges, at rest positions X
// (3 per node of the list). `across` is the neighbour's area per edge (joined edges).
void pl_layer_face_init(const pl_face_table *table, pl_layer_face *face, const double *X,
                        const double across[3]);

// At gathered positions x (3 per node): energy, INFINITY where the strain cannot be; g (may be NULL) gets
// dU/dx added.
double pl_layer_energy(const pl_face_table *table, const pl_layer_law *law, const pl_layer_face *face,
                       const double *x, double *g);

// The strains that the linear step dx from x leads to. A step that turns a stiff layer strains it to second
// order: the tangent after it is made with the stresses and moduli at these strains, not with those of its
// spurious strain, and the gradient with the law linearised there. That is Newton's method with strains and
// stresses as unknowns of their own.
#define PL_LAYER_AHEAD (PL_LAYER_STRAINS + 3 + 6)
void pl_layer_ahead(const pl_face_table *table, const pl_layer_law *law, const pl_layer_face *face,
                    const double *x, const double *dx, double ahead[PL_LAYER_AHEAD]);

// H = d2U/dx2, (3 node_count)^2, row-major; with `ahead` (may be NULL) at those strains.
void pl_layer_tangent(const pl_face_table *table, const pl_layer_law *law, const pl_layer_face *face,
                      const double *x, bool positive, const double *ahead, double *H);

// The energy at x; g += the gradient with the law linearised at those strains.
double pl_layer_energy_ahead(const pl_face_table *table, const pl_layer_law *law, const pl_layer_face *face,
                             const double *x, const double ahead[PL_LAYER_AHEAD], double *g);

// What U depends on beside x: thickness (the offset follows), prestrain, or a constant of the material. g +=
// d2U/dx dq.
void pl_layer_by_thickness(const pl_face_table *table, const pl_layer_law *law, const pl_layer_face *face,
                           const double *x, double *g);
void pl_layer_by_prestrain(const pl_face_table *table, const pl_layer_law *law, const pl_layer_face *face,
                           const double *x, double *g);
void pl_layer_by_constant(const pl_face_table *table, const pl_layer_law *law, const pl_layer_face *face,
                          const pl_material *material, pl_material_constant constant, const double *x,
                          double *g);

// Strain (e11, e22, 2 e12 in orthonormal axes) and tension (N/mm) of the middle of the layer at the centre of
// the face, and its curvature change (1/mm), all relative to the layer's own rest; any may be NULL.
void pl_layer_state(const pl_face_table *table, const pl_layer_law *law, const pl_layer_face *face,
                    const double *x, double strain[3], double tension[3], double curvature[3]);

// The derivative of that strain with respect to the prestrain.
void pl_layer_strain_by_prestrain(const pl_layer_law *law, const double strain[3], double out[3]);

// g += sum_i weight_i d(strain_i)/dx of that strain.
void pl_layer_strain_pull(const pl_face_table *table, const pl_layer_law *law, const pl_layer_face *face,
                          const double *x, const double weight[3], double *g);

#endif
