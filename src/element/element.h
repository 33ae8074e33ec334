// All elements of a robot: energy, nodal forces and tangents for given positions. Knows mesh and material, no
// global matrix. Elements are gathered into blocks of eight of one kind and one material, worked on by
// kernels compiled for several instruction sets; results do not depend on the thread count.
//
// Locking-free formulation (docs/explanation/elements.md): the dilatation d of each material is projected on
// the linear functions N_c of the corners,
//   dbar = M^-1 b,  b_c = int N_c d dV,  M_cd = int N_c N_d dV,   E = sum_e int Wdev dV + kappa / 2 b^T M^-1
//   b,
// corners being split between materials. These are Taylor-Hood elements with the pressure p = kappa dbar
// eliminated.
#ifndef PL_ELEMENT_H
#define PL_ELEMENT_H

#include "material/material_kernel.h"
#include "mesh/mesh.h"
#include "pliant/mesh.h"
#include "solver/solver.h"

#define PL_LANES 8
#define PL_POINTS_MAX 9
#define PL_CORNERS_MAX 6
#define PL_PLAIN_SHARE                                                                                       \
    0.1 // k0 / mu; chosen on the bellows finger and the sphere, docs/explanation/elements.md

// Eight elements side by side; every array of a block has the lane as its last index. Unused lanes repeat the
// first element with weight 0.
typedef struct pl_block {
    pl_element_kind kind;
    int node_count, corner_count, point_count, lane_count;
    int law; // index into laws
    int32_t element[PL_LANES];
    int32_t node[PL_ELEMENT_NODES_MAX][PL_LANES];
    int32_t pressure[PL_CORNERS_MAX][PL_LANES]; // pressure numbers; unused when the law is not mixed
    const double *corner_weight;                // N_c at the points: [point][corner]
    double *gradient;                           // dN_a/dX_J at the points: [point][node][3][lane]
    double *weight;                             // quadrature weight times rest Jacobian: [point][lane]
    const double *overstress;                   // of viscous branches: [point][6][lane]; NULL: none
    const double *largest;                      // MPa: energy that softens, [point][lane]; NULL: none
    int64_t force_start;                        // into the force buffer: [node][3][lane]
    int64_t tangent_start;                      // into the tangent buffer, [lane][tangent_count]
    int tangent_count;                          // entries of one element: [pair][9] then [corner][node][3]
    int64_t corner_start;                       // into the dilatation buffer: [corner][lane]
} pl_block;

// How the stress-free shape of a region differs from the mesh: F_g = cbrt(volume) (sqrt(area) (I - n n^T) +
// n n^T / area), n the normal of a prism's triangles. Energy is det(F_g) W(F F_g^-1) per rest volume; what
// the rest of the code calls F is F F_g^-1, gradients and weights being those of the grown shape.
typedef struct pl_growth {
    double volume, area; // ratios, 1: as drawn; area for prisms only
} pl_growth;

typedef enum pl_growth_kind { PL_GROW_VOLUME, PL_GROW_AREA } pl_growth_kind;

// The quadrature points of a kind of element: their number, natural coordinates and weights.
int pl_element_rule(pl_element_kind kind, double xi[PL_POINTS_MAX][3], double weight[PL_POINTS_MAX]);

typedef struct pl_elements {
    int32_t vertex_count, element_count;
    int block_count;
    pl_block *block;
    int law_count; // one per region of the mesh
    pl_law *law;
    double *law_kappa; // per law: the share of the corners, kappa - k0
    double *density;   // per law
    pl_growth *growth; // per law
    int32_t pressure_count;
    pl_sparse mass; // M, by pressure numbers
    pl_factor *mass_factor;
    double *pressure_kappa;
    // MPa: what a pressure is counted in inside the tangent, sqrt(kappa mu) / cbrt(M_kk), so that its pivot
    // -M_kk unit^2 / kappa = -mu cbrt(M_kk) is as large as those of displacements
    double *pressure_unit;
    int32_t *pressure_vertex;
    int64_t force_size, tangent_size, corner_size;
    double *force, *corner; // buffers of element results
    double largest_force;   // N: largest nodal force of the last evaluation with forces
    double *moment;         // b per pressure number, at the positions last evaluated
    double *dilatation;     // dbar
    double *pressure;       // p per pressure number
    double *pressure_rate;  // dp by a growth ratio, scratch
    double *block_energy, *block_min;
    int64_t *vertex_start, *vertex_code; // which entries of the force buffer add up at a vertex
    int64_t *pressure_start,
        *pressure_code; // which entries of the dilatation buffer add up at a pressure number
    double *storage;    // gradients and weights
    double corner_table[PL_ELEMENT_KIND_COUNT][PL_POINTS_MAX * PL_CORNERS_MAX];
    double *vertex_mass; // t, consistent row sums of density
    double volume;
} pl_elements;

// `material` per region of the mesh; regions of which `skip[region]` is true (rigid ones) get no elements.
pl_status pl_elements_create(const pl_mesh *mesh, const pl_material *const *material, const bool *skip,
                             bool displacement, pl_elements **out, pl_error *err);
void pl_elements_destroy(pl_elements *elements);

// Gradients and weights of one lane from its rest positions X (3 per node); a lane not used weighs 0.
void pl_block_integrate(pl_block *block, int lane, const double *X, bool used, const pl_growth *growth);
void pl_block_point(const pl_block *block, int q, double xi[3]); // reference coordinates of a point

// The normal of a prism as drawn at a point, across zeta = const.
void pl_block_normal(const pl_block *block, int lane, int q, const pl_mesh_view *mesh, double n[3]);

// Changes the stress-free shapes to `growth` (per law). The mesh must be that of pl_elements_create.
pl_status pl_elements_grow(pl_elements *elements, const pl_mesh_view *mesh, const pl_growth *growth,
                           pl_error *err);

// Derivatives by one growth ratio of one law at fixed x, pressures following; after pl_elements_energy at x.
// rate[0] = dE/dratio, rate[1] = its second derivative; `force` (3 per vertex, may be NULL) gets
// scale * d(dE/dx)/dratio added.
void pl_elements_growth_rate(pl_elements *elements, const pl_mesh_view *mesh, int law, pl_growth_kind kind,
                             const double *x, double rate[2], double scale, double *force);

// The pressure mass and its factor; `update` after the elements' weights have changed.
pl_status pl_elements_mass_create(pl_elements *elements, pl_error *err);
pl_status pl_elements_mass_update(pl_elements *elements, pl_error *err);
void pl_elements_mass_solve(pl_elements *elements, double *b); // b becomes M^-1 b

// Elastic energy at positions x (3 per vertex); when `force` is given also dE/dx. Infinite when J <= 0 at
// some quadrature point. Fills dilatation and pressure. `min_J` (may be NULL): smallest J over the quadrature
// points.
double pl_elements_energy(pl_elements *elements, const double *x, double *force, double *min_J);

// dE/dx for other law constants and given pressures (per pressure number): for derivatives by material
// constants.
void pl_elements_force_of(pl_elements *elements, const double *x, const pl_law *law, const double *pressure,
                          double *force);

// A linear step taken from x by dx, which changed the pressures (per pressure number) by given amounts: what
// a tangent after the step takes its stresses from. The stress that a linear step predicts,
//   S~ = S(x) + dS/dE : sym(F^T dF),
// is far smoother than that of the shape it leads to, where stiff directions are still out of balance; the
// geometric part of the tangent uses S~ (mixed integration points: Magisano, Leonetti, Garcea 2017).
typedef struct pl_ahead {
    const double *x, *dx;
    const double *pressure, *pressure_step;
} pl_ahead;

// Element tangents at x into `buffer` (tangent_size doubles) at the pressures of the last energy evaluation.
// Per element: nodal pairs a <= b in row order, 9 entries each (row-major, rows of a), then couplings of
// pressures [corner][node][3]; the elements of a block one after another, because whoever adds them up takes
// them pair by pair. `blend` in [0, 1]: 0 the true tangent, 1 its positive semidefinite part. With
// `ahead` (may be NULL) the stresses are those predicted by a step.
void pl_elements_tangent(pl_elements *elements, const double *x, double blend, const pl_ahead *ahead,
                         double *buffer);
static inline int pl_pair_index(int node_count, int a, int b)
{
    return a * node_count - a * (a - 1) / 2 + (b - a);
}

// The smallest proven lower bound of J = det F over all elements (relative to the element's mean rest
// Jacobian), and the element where it is. `per_element` may be NULL.
double pl_elements_bound(pl_elements *elements, const double *x, double *per_element, int32_t *worst);

// Deformation gradient of an element (lane of a block) at quadrature point q.
void pl_block_gradient(const pl_block *block, int lane, int q, const double *x, double F[9]);

// int N_a dV over the nodes of any element of the mesh, rigid ones included.
void pl_element_shares(const pl_mesh_view *mesh, int32_t e, double *share);

// The consistent mass int rho N_a N_b dV of all elements of a mesh, rigid ones included (element_inertia.c):
// symmetric, both triangles, rows of vertices with ascending columns; t.
typedef struct pl_consistent_mass {
    int32_t n;
    int64_t *start; // n + 1
    int32_t *column;
    double *value;
} pl_consistent_mass;

// `density` (t/mm^3) per region.
pl_status pl_consistent_mass_create(const pl_mesh_view *mesh, const double *density, pl_consistent_mass *out,
                                    pl_error *err);
void pl_consistent_mass_clear(pl_consistent_mass *mass);

// Viscous branches of the deviatoric stress (element_viscous.c), for one step at a time of TR-BDF2. Between
// `begin` and the next call the laws and overstresses of the elements are those of a stage: energy, forces
// and tangents of pl_elements are then those of its minimisation.
typedef struct pl_viscous pl_viscous;

// `material` per region; *out stays NULL where no material has branches. `elements` must outlive it.
pl_status pl_viscous_create(pl_elements *elements, const pl_material *const *material, pl_viscous **out,
                            pl_error *err);
void pl_viscous_destroy(pl_viscous *viscous);                // the elements get their long-term laws back
void pl_viscous_relax(pl_viscous *viscous, const double *x); // all branches relaxed at the shape x

// A stage of length s: the trapezoidal rule from the start of the step, or with `second` the backward
// difference. `end` advances the branches to the shape x found and returns the work that went into them, mJ.
void pl_viscous_begin(pl_viscous *viscous, double s, bool second);
double pl_viscous_end(pl_viscous *viscous, double s, bool second, const double *x);
void pl_viscous_accept(pl_viscous *viscous); // the end of the second stage is the start of the next step
void pl_viscous_hold(
    pl_viscous *viscous); // the stress at the start of the step, at constant strain of branches

// The body went to the shape x at once: the branches keep their strain.
void pl_viscous_jump(pl_viscous *viscous, const double *x);

// Before `accept`: the error of the stresses of branches in a step of length h, over the stress of the body.
double pl_viscous_error(const pl_viscous *viscous, double h);
double pl_viscous_shortest(const pl_viscous *viscous); // s: of the relaxation times
void pl_viscous_off(pl_viscous *viscous);              // the long-term laws alone

// Of a small vibration along u (3 per vertex) about the relaxed shape x, the deviatoric stiffness of each
// law: share = 1/2 int dS_d : d(a C) dV, N/mm. A motion with exp(s t) meets their stiffness sum share g s tau
// / (1 + s tau) besides the long-term one: `s` and `out` are real and imaginary parts.
void pl_viscous_shares(pl_viscous *viscous, const double *x, const double *u, double *share);
void pl_viscous_stiffness(const pl_viscous *viscous, const double *share, const double s[2], double out[2]);
int64_t pl_viscous_count(const pl_viscous *viscous); // numbers of all branches; NULL: 0
void pl_viscous_write(const pl_viscous *viscous, double *out);
void pl_viscous_read(pl_viscous *viscous, const double *in, const double *x);

// Softening by the largest deviatoric energy of every point (mullins of the materials, element_softening.c).
// From `create` on the elements have it: energy, forces and tangents of pl_elements are those of the softened
// laws at the energies of the last `start` or `advance`, and their energy is what is stored and `heat`.
typedef struct pl_softening pl_softening;

// `material` per region; *out stays NULL where no material softens. `elements` must outlive it.
pl_status pl_softening_create(pl_elements *elements, const pl_material *const *material, pl_softening **out,
                              pl_error *err);
void pl_softening_destroy(pl_softening *softening); // the elements soften no more

// The body was brought to the shape x by its first loading.
void pl_softening_start(pl_softening *softening, const double *x);

// A stage has led to the shape x: the largest energies follow. `accept`: the step is taken; `revert`: the
// energies are those of the last step accepted.
void pl_softening_advance(pl_softening *softening, const double *x);
void pl_softening_accept(pl_softening *softening);
void pl_softening_revert(pl_softening *softening);
double pl_softening_heat(const pl_softening *softening); // mJ, that softening has turned into heat

// The energies accepted: for states.
int64_t pl_softening_count(const pl_softening *softening); // NULL: 0
void pl_softening_write(const pl_softening *softening, double *out);
void pl_softening_read(pl_softening *softening, const double *in);

// Energy density and first Piola-Kirchhoff stress of one deformation gradient, one lane at a time: for fields
// and tests.
void pl_law_stress(const pl_law *law, const double F[9], double p, double *W, double P[9]);

// dd/dF in D, the dilatation, and the tangent A = dP/dF at fixed p, row-major 9 x 9.
double pl_law_dilatation(const pl_law *law, const double F[9], double D[9]);
void pl_law_tangent(const pl_law *law, const double F[9], double p, double A[81]);

// The stress at quadrature point q of a lane at the pressures of the last energy evaluation.
void pl_elements_stress(const pl_elements *elements, const pl_block *block, int lane, int q, const double *x,
                        double F[9], double P[9]);

// ---- kernels, one table per instruction set
typedef struct pl_kernels {
    const char *name;
    void (*dilatation)(const pl_block *block, const pl_law *law, const double *x, double *out);
    void (*force)(const pl_block *block, const pl_law *law, const double *x, const double *pressure,
                  double *energy, double *min_J, double *force);
    void (*tangent)(const pl_block *block, const pl_law *law, const double *x, const double *pressure,
                    double blend, const pl_ahead *ahead, double *out);
    void (*bound)(const pl_block *block, const double *x, double *out);
    void (*deviator)(const pl_block *block, const pl_law *law, const double *x, double *out);
    void (*spent)(const pl_block *block, const pl_law *law, const double *x, double *out);
} pl_kernels;

const pl_kernels *pl_kernels_choose(void);

#endif
