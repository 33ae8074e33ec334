// The thresholds of the solver in one place, each with its reason or the bench it was tuned against. Counts
// are those of bench_statics and bench_warm (docs/results/bench.md); none of them changes an equilibrium,
// only how it is found.
#ifndef PL_STATICS_TUNING_H
#define PL_STATICS_TUNING_H

// ---- load increments (statics_path.c)
// rad: rotation in the first increment, and the bounds between which it grows and shrinks with success. Two
// long increments to 80 degrees take 5 to 6 factorisations, three or four of half the length 8 to 10.
#define TUNE_TURN_FIRST 1.0
#define TUNE_TURN_MOST 1.2
#define TUNE_TURN_LEAST 0.05
#define TUNE_TURN_GROWTH 1.1
#define TUNE_TURN_CUT 0.6
// The error of an increment (statics_path.c) above which its end is taken for another branch, of a motion of
// at least so much of the size. On fingers, arms and trunks it is 0.01 to 0.25, between branches 0.8 and
// more.
#define TUNE_PATH_ERROR 0.4
#define TUNE_MOTION 0.004
#define TUNE_STATIONARY 6        // Newton steps to a stationary point close by
#define TUNE_SNAP_BEYOND 0.01    // of a limit load: where the body lands
#define TUNE_BRANCH_LENGTH 0.002 // of the path: increments between branches are not cut below this
#define TUNE_STRAIN 0.25         // largest strain in one increment: beyond it warped steps invert elements
#define TUNE_LENGTH_GROWTH 3.0   // an increment may be this much longer than the last one
#define TUNE_LENGTH_CUT 0.4      // and is cut to this after a failure
#define TUNE_LENGTH_LEAST 2e-4   // of the way: shorter ones only sharpen the number in the message
#define TUNE_REST_AT_ONCE 0.8    // an increment that reaches this much of the rest takes all of it

// After a request to stop, and after a time limit (a share of the time spent): what may go into a better
// equilibrium; without a factor only where one costs little.
#define TUNE_FINISH_MOST 0.25  // s
#define TUNE_FINISH_LEAST 0.02 // s
#define TUNE_FINISH_SHARE 0.1
#define TUNE_FINISH_FLOPS 5e8

// Where the last state on the way turns out to be no equilibrium: how far back one is looked for.
#define TUNE_BACK_STEPS 4
#define TUNE_BACK_LENGTH 0.002 // of the load reached, in each

// Tolerances of increments before the last: their equilibria only have to lead on.
#define TUNE_FORCE_ON_THE_WAY 3e-3  // relative residual
#define TUNE_LENGTH_ON_THE_WAY 1e-4 // of the robot's size
// Of the predicted motion: a Newton step so short ends an increment on the way, and the next one, with the
// factor at hand, takes it along. Chosen on bench_robots and bench_untuned, where 0.15 to 0.4 differ little;
// a balloon past its pressure maximum takes more factorisations with it (docs/results/bench.md). Not after an
// increment has failed: a film then took 14 to 57 factorisations, depending on this, instead of 25.
#define TUNE_ENOUGH 0.3
#define TUNE_ITERATIONS_ON_THE_WAY 40
#define TUNE_ITERATIONS_LAST 200
#define TUNE_SETTLE_ROUNDS 60       // of forces that lag behind the shape
#define TUNE_LIMITS_FALL 0.9        // of the round before: limits of friction further off go round in circles
#define TUNE_LIMIT_ROUNDS 6         // of the limits of friction within an increment
#define TUNE_LIMITS_ON_THE_WAY 0.05 // of the largest pressure: their change that ends these
#define TUNE_TOUCH_ROUNDS 20        // of multipliers of contacts: two to four are usual
// Stiffness of contacts in these, over the usual one: curved faces at a curved surface are determined twice
// (at their nodes and at their centre), and with the usual one the pressures that decide which of these
// points are open change by little in each update. Powers of two (build/contact_updates).
#define TUNE_HARD_GROWTH 32.0
#define TUNE_HARD_MOST 32768.0
#define TUNE_BALANCE 3e-3        // of the force tolerance: residual at contacts in the end
#define TUNE_BALANCE_LENGTH 1e-8 // of the size
#define TUNE_BALANCE_ITERATIONS 20
#define TUNE_TOUCH_ROUNDS_FREE 60 // the same with free bodies, which are let go in steps

// ---- warm starts: straight to the full load with the factor at hand, turned (bench_warm: 0.3 to 0.5
// factorisations per 2 % step)
#define TUNE_WARM_TURN 0.15 // rad
#define TUNE_WARM_STRAIN 0.1
#define TUNE_ALONG 0.95        // cosine between two changes of command that count as one line
#define TUNE_ALONG_LENGTH 8.0  // the last change over the next one: longer ones say little
#define TUNE_LINE_REACH 12.0   // states on the line that are farther away than so many moves are left out
#define TUNE_LINE_APART 0.1    // of the move: states closer to each other would amplify their errors
#define TUNE_ORDER_GAIN 0.4    // the next order's correction over the last one's
#define TUNE_AFFINE_MISFIT 0.4 // of the move: what a combination of earlier moves may leave unexplained
#define TUNE_AFFINE_REACH 4.0  // sum of its coefficients

// Solves of a move with a new factor (two on the fingers of bench_robots, moves of 2 %), and how many more
// each further move takes with the same one.
#define TUNE_MOVE_FRESH 2.0
#define TUNE_MOVE_AGING 1.5
#define TUNE_MOVE_TURN 0.01 // rad: the first move after a way may have a new factor if it turns more

#define TUNE_POLISH 4 // Newton steps with the factor of the proof

#define TUNE_GAP_REPORTED 1e-8 // a solution that misses a target by more is not one

// ---- shape and commands together (statics_aim.c; bench_ik)
#define TUNE_AIM_ITERATIONS 25
#define TUNE_AIM_FACTORS 2
#define TUNE_AIM_TURN 0.3 // rad, and strain of a step: longer ways are those of load increments
#define TUNE_AIM_STRAIN 0.3
#define TUNE_AIM_LONG 0.004 // of the size: steps longer than this are looked at for rotations
// Of the first step: an equilibrium expected farther from its end than this takes a factor there; and with
// that, farther than this, is left to load increments.
#define TUNE_AIM_STRAY 0.1
#define TUNE_AIM_FAR 0.5
#define TUNE_AIM_GROWTH 2.0 // a direction this much longer than the one before was misled
#define TUNE_AIM_PAIR 0.5 // of d: steps in which the commands move the shape by more make no pairs of L-BFGS
#define TUNE_AIM_STALLED 0.85 // decrease per iteration that leads nowhere

#endif
