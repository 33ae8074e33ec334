// The elements of a robot with functions of the next order added, for the error of the discretisation:
// quadratic elements get the cubic functions of their edges and faces, linear ones the quadratic functions of
// their edges. All of them vanish at the nodes, so that a displacement is the sum of the nodal one and an
// added one,
//   u = sum_a u_a N_a + sum_f c_f W_f;   the pressures stay linear.
//
// With L the barycentric coordinates, z along a prism and a < b by the numbers of the vertices:
//   tet10    edge L_a L_b (L_a - L_b), face L_a L_b L_c
//   prism15  the same times (1 -+ z) / 2, vertical edge L_a z (1 - z^2), quadrilateral L_a L_b (1 - z^2)
//   tet4     edge L_a L_b;   prism6  the same times (1 -+ z) / 2, vertical edge L_a (1 - z^2)
#ifndef PL_ENRICH_H
#define PL_ENRICH_H

#include "element/element.h"

#define PL_ADDED_MAX 14 // functions added to an element
#define PL_ENRICH_POINTS_MAX 21
#define PL_SHAPES_MAX (PL_ELEMENT_NODES_MAX + PL_ADDED_MAX)
#define PL_ENRICH_TANGENT 54 // numbers per point: the upper triangle of the tangent, and dd/dF

// Reference functions and quadrature of one kind of element; nodal functions come first.
typedef struct pl_enrich_rule {
    int nodes, corners, added, points;
    double weight[PL_ENRICH_POINTS_MAX];
    double corner[PL_ENRICH_POINTS_MAX][PL_CORNERS_MAX];
    double value[PL_ENRICH_POINTS_MAX][PL_ADDED_MAX];
    double gradient[PL_ENRICH_POINTS_MAX][PL_SHAPES_MAX][3]; // d/dxi
} pl_enrich_rule;

// Forces of a block of elements, [function][3][lane], and the integrals of the dilatation, [corner][lane].
typedef struct pl_enrich_forces {
    double force[PL_SHAPES_MAX * 3 * PL_LANES], moment[PL_CORNERS_MAX * PL_LANES];
} pl_enrich_forces;

// Which functions take part: those of the nodes, those added.
typedef struct pl_enrich_part {
    bool nodal, added;
} pl_enrich_part;

typedef struct pl_enrichment {
    const pl_elements *elements;
    int32_t count;     // functions added
    int32_t *function; // PL_ADDED_MAX per element of the mesh: 2 * number + reversed; -1: none
    uint8_t *held;     // per function added: bits of the axes that cannot move
    pl_enrich_rule rule[PL_ELEMENT_KIND_COUNT];
    int64_t *start; // per block, into `tangent`
    float *tangent; // [point][PL_ENRICH_TANGENT][lane] per block
} pl_enrichment;

// Whether an edge or face whose vertices are given can move along each axis: bits of those that cannot.
typedef uint8_t (*pl_enrich_held)(void *user, const int32_t *node, int count);
pl_status pl_enrichment_create(const pl_elements *elements, const pl_mesh_view *mesh, pl_enrich_held held,
                               void *user, pl_enrichment **out, pl_error *err);
void pl_enrichment_destroy(pl_enrichment *r);

// Values of the added functions of an element at a point of its reference, in the order of `function`; their
// number.
int pl_enrich_values(pl_element_kind kind, const double xi[3], double *value);

// Stress and tangent at positions x and pressures p. `nodal` (3 per vertex) and `added` (3 per function) get
// the derivatives of the elastic energy, `moment` (per pressure number) the integrals of N_c d; `body` is a
// force per mass.
void pl_enrichment_linearize(pl_enrichment *r, const pl_mesh_view *mesh, const double *x,
                             const double *pressure, const double body[3], double *nodal, double *added,
                             double *moment);

// Products with the tangent: displacements (u nodal, c added; NULL: none) and pressures (NULL: none) to
// forces and moments, set, not added to; NULL: not wanted.
void pl_enrichment_apply(const pl_enrichment *r, const double *u, const double *c, const double *pressure,
                         double *nodal, double *added, double *moment);

// The diagonal blocks (9 per function) of the added functions.
void pl_enrichment_diagonal(const pl_enrichment *r, double *block);

// ---- kernels, one table per instruction set
typedef struct pl_enrich_kernels {
    void (*linearize)(const pl_block *block, const pl_enrich_rule *rule, const pl_law *law,
                      const pl_growth *growth, const double *rest, const double *x, const double *pressure,
                      const double load[3], float *tangent, pl_enrich_forces *out);
    // `u` as pl_enrich_forces.force, `pressure` [corner][lane] or NULL
    void (*apply)(const pl_enrich_rule *rule, const float *tangent, pl_enrich_part in, const double *u,
                  const double *pressure, pl_enrich_part to, pl_enrich_forces *out);
    void (*diagonal)(const pl_enrich_rule *rule, const float *tangent, double *block);
} pl_enrich_kernels;

#endif
