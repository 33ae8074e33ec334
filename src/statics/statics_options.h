// Options and tolerances of load paths, each with its unit and meaning. None of them changes an equilibrium,
// only how it is found; those of an equilibrium are in pl_statics_options.
#ifndef PL_STATICS_OPTIONS_H
#define PL_STATICS_OPTIONS_H

// Of the motion: an increment that the tangents of both its ends miss by more has left its branch. On
// fingers, arms and trunks the error is 0.01 to 0.25, between branches 0.8 and more.
#define STATICS_PATH_ERROR 0.4

// Of the predicted motion: a Newton step so short may be left to the next increment. Steps that fall to a
// quarter show that Newton's method converges quadratically (Deuflhard, Newton Methods, 5.1).
#define STATICS_ENOUGH 0.25

// Largest strain of the tangent step in one increment; its largest rotation is NEWTON_STEP.
#define STATICS_STRAIN 0.25

// The length of an increment over that of the last one, at most, and the inverse after a failure.
#define STATICS_GROWTH 3.0

// Of the path: the shortest increment. Shorter ones only sharpen the number in the message.
#define STATICS_LEAST 2e-4

// Of a critical load: how far beyond it a body that snaps lands, and how far apart the equilibria are whose
// eigenvalues tell where it is.
#define STATICS_BEYOND 0.01

// Of the size: the motion of difference quotients of the residual along a mode.
#define STATICS_PROBE 1e-6

// Of the load: accuracy of critical loads, and of where a branch meets a given load.
#define STATICS_LOAD 5e-4

// The same of the points between which it is interpolated, and of curvatures there: their errors add up.
#define STATICS_LOAD_POINT (0.1 * STATICS_LOAD)

// rad: steps of arc length; rad, and of the load: those of a path that is to be shown.
#define STATICS_ARC_TURN 0.15
#define STATICS_ARC_SHOWN 0.04

// Equilibria before the end of a path only have to lead on: relative residual, and step over the size.
#define STATICS_FORCE 3e-3
#define STATICS_LENGTH 1e-4

// Iterations at one load before a shorter increment is better, and rounds of an outer iteration (contacts,
// limits of friction, arc length, inverse iteration, bisection); iterations of a method that converges
// superlinearly or not at all (stationary points, arc length, critical loads, the balance of bodies in
// contact).
#define STATICS_ROUNDS 80
#define STATICS_SUPERLINEAR 8

// Of the force of friction: what the length of increments may change it by, along the whole path; the share
// of it that a pair of increments has at least, because points that meet an obstacle are single events; and
// the shortest increments that are chosen by it.
#define STATICS_FRICTION 0.01
#define STATICS_FRICTION_SHARE 0.125
#define STATICS_FRICTION_LEAST 1e-2

// Equilibria with given limits of friction from which limits that follow the pressures are tried.
#define STATICS_STARTS 6

// rad, and strain: a change of shape so small is a move, found at once with the factor at hand.
#define STATICS_SMALL 0.1

// Prediction from solved states: cosine between two changes of command that count as one line; in moves,
// states on the line that are farther away are left out; of the move, states closer to each other would
// amplify their errors; correction of the next order over that of the last one, and of the move, what a
// combination of earlier ones may leave unexplained; sum of its coefficients.
#define STATICS_ALONG 0.95
#define STATICS_LINE_REACH 12.0
#define STATICS_LINE_APART 0.1
#define STATICS_ORDER_GAIN 0.4
#define STATICS_AFFINE_REACH 4.0

// Solves of a move with a new factor, and how many more each further move takes with the same one.
#define STATICS_MOVE_FRESH 2.0
#define STATICS_MOVE_AGING 1.5

// Iterations of Newton's method without a potential: shape and commands together, deflated searches.
#define STATICS_TOGETHER 25

// s: after a request to stop or a time limit, what may go into the last equilibrium.
#define STATICS_FINISH 0.25

// Stiffness of contacts while their multipliers are found, over the usual one: growth per update, and most.
// Powers of two: curved faces at a curved surface are determined twice (at their nodes and at their centre),
// and with the usual stiffness the pressures that decide which of these points are open change by little in
// each update.
#define STATICS_HARD_GROWTH 32.0
#define STATICS_HARD_MOST 32768.0

#endif
