// Inside result: how a chain of rigid links is fitted to a body.
#ifndef PL_RESULT_CHAIN_FIT_H
#define PL_RESULT_CHAIN_FIT_H
#include "result/result_chain.h"

// A slice of the body across the line of the chain.
typedef struct chain_section {
    int32_t *vertex;
    int32_t count;
    double rest[3], now[3]; // means
    double R[9];
    double place[3]; // where the section takes the point of the line
    double point[3]; // that point, undeformed
} chain_section;

// What a fit works on.
typedef struct chain_fit {
    pl_model *model;
    const pl_mesh *mesh;
    pl_mesh_view view;
    const double *x;        // solved positions
    chain_section *section; // link_count + 1; the first is the support, which does not move
    chain *chain;
    double length;
    int marker;
} chain_fit;

// The section whose plane is nearest to an undeformed point.
int result_chain_nearest(const chain_fit *f, const double *X);
// Allocates the sections and sorts the vertices into them; false without memory.
bool result_chain_sections(chain_fit *f);
// Frame of a section: the rotation that takes its rest shape nearest to its shape now.
void result_chain_section_fit(chain_section *s, const double *X, const double *x);
// Spin w and velocity of the place for a field of velocities dx (3 per vertex, `stride` apart): from
// sum r x x = 0, r = R (X - mean):  [sum (r . x) I - r x^T] w = sum r x dx.
bool result_chain_section_rate(const chain_section *s, const double *X, const double *x, const double *dx,
                               int stride, double w[3], double v[3]);
// Axes of a link whose section has turned by R: columns of R B, here as rows.
void result_chain_axes(const chain *c, const double R[9], double axes[9]);
// The axes of the hinges in the world: x of the link before, then turned by a, then by b.
void result_chain_hinges(const double before[9], const double angle[3], double axis[3][3]);
// Values, centre and axes of joint i from the sections before and behind it.
void result_chain_joint_fit(const chain_fit *f, int i);
// Derivatives of the joint's values, from the spins and velocities of the two sections.
bool result_chain_joint_rate(const chain_fit *f, int i, double w[2][3], double v[2][3],
                             double rate[CHAIN_DOFS]);
// Moment of a force at `point` in each direction of a joint.
void result_chain_moment(const chain_joint *joint, const double point[3], const double force[3],
                         double M[CHAIN_DOFS]);

#endif
