// The constants of Newton's method, each with its unit and meaning. None of them changes an equilibrium, only
// how it is found. Everything else is measured: contraction, cost of a factor, accuracy of a prediction.
#ifndef PL_NEWTON_OPTIONS_H
#define PL_NEWTON_OPTIONS_H

// Targets: violation, over the rest measure, at which a prescribed length or volume is met.
#define NEWTON_GAP 1e-12

// Relative residual below which forces are near enough to an equilibrium to tell which cables are slack.
#define NEWTON_RELEASE 0.05

// rad: a step that rotates the body by more is co-rotated, and is not straight enough for a pair of L-BFGS.
#define NEWTON_STRAIGHT 0.02

// rad, and strain: a linear step says nothing about the shape beyond it.
#define NEWTON_STEP 1.0

// The same where no equilibrium is at the start of the step: in the descent from a saddle or a limit point,
// and along modes of negative curvature.
#define NEWTON_LEAVE_STEP (0.5 * NEWTON_STEP)

// Accuracy of step lengths: they are corrected when they are off by more, and not cut to less at once.
#define NEWTON_COARSE 0.1

// Of the slope: decrease of the energy that a step must bring (Armijo).
#define NEWTON_ARMIJO 1e-4

// Of |E|: differences below it are rounding errors, and the slope decides (approximate Wolfe test).
#define NEWTON_ENERGY_NOISE 1e-10

// Halvings of a step; full steps in a row that may raise the energy before they are taken back.
#define NEWTON_TRIALS 12
#define NEWTON_RAISED 5

// Factors in a row with contacts that a full step would hit, before the step is cut.
#define NEWTON_HITS 4

// Of the size: shapes that near are on one branch.
#define NEWTON_NEAR 0.01

// Flops of a factorisation in the time that an iteration reads a byte of the factor: the balance of the
// machine, so that counts do not depend on the clock (7.4k quadratic tets, one thread: a factor 130 ms, an
// iteration 17 ms).
#define NEWTON_FLOPS_PER_BYTE 50.0

// Pairs of L-BFGS kept.
#define NEWTON_PAIRS 16

#endif
