// Inside reduced: one element of a rod or a chain, and the block tridiagonal systems they make.
#ifndef PL_REDUCED_ROD_H
#define PL_REDUCED_ROD_H

#include "reduced/reduced_impl.h"

// An element is measured by theta, the rotation vector from its first frame to its second, and by c, the
// chord in the frame midway between. These are its unknowns; nodes follow by multiplication.
typedef struct rod_state {
    double c[3], theta[3];
} rod_state;

// What of an element depends on its state alone. A(theta) = a I + k theta theta^T stretches what is normal to
// theta by a = (|theta|/2) / sin(|theta|/2): V = A c is the arc that belongs to the chord, (V, theta) the
// logarithm of the relative pose, and V/h, theta/h the strains of the rod, constant in the element.
typedef struct rod_measure {
    double a, da, dda, k, dk, ddk, t, dt; // functions of |theta|^2 and their derivatives
    double A[9], B[9];                    // B = d(A c)/dtheta
    double V[3];
} rod_measure;

// Forces (n, m) conjugate to (V, theta) and their tangent; C is symmetric, stored as 3 x 3 blocks.
// Units: N and N mm.
typedef struct rod_stress {
    double n[3], m[3];
    double Cvv[9], Cvt[9], Ctv[9], Ctt[9];
} rod_stress;

// Nodal forces in the frame midway: +force at the second node, -force at the first, and two moments.
typedef struct rod_nodal {
    double force[3], moment[2][3];
} rod_nodal;

void rod_measure_of(const rod_state *x, rod_measure *g);

// B(theta, y) = d(A y)/dtheta
void rod_measure_slope(const rod_measure *g, const double theta[3], const double y[3], double B[9]);
void rod_forces(const rod_state *x, const rod_measure *g, const double n[3], const double m[3], rod_nodal *f);

// Derivatives of rod_forces in the frame midway, by the chord and by the spins of both nodes:
// T[row][column] with rows force, moment 1, moment 2 and columns d (second minus first), spin 1, spin 2.
void rod_tangent(const rod_state *x, const rod_measure *g, const rod_stress *s, double T[3][3][9]);

// Change of the state for a motion of the nodes, given in the frame midway.
void rod_change(const rod_state *x, const rod_measure *g, const double d[3], const double spin1[3],
                const double spin2[3], double dc[3], double dtheta[3]);

// Block tridiagonal, 6 x 6 blocks, eliminated from the last block to the first: the tip's elements are
// stiffness of their own, so that no pivot block loses digits.
typedef struct rod_band {
    int n;             // blocks
    double *D, *U, *L; // diagonal; row i column i+1; row i+1 column i
    double *X;         // D'^-1 L
    int *pivot;        // 6 per block
    int negative;      // eigenvalues below 0, of the symmetric part
} rod_band;

bool rod_band_factor(rod_band *b); // false when a pivot is 0
void rod_band_solve(const rod_band *b, double *x);

#endif
