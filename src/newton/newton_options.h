// The constants of Newton's method, each with its meaning. None of them changes an equilibrium, only how it
// is found; `bench_robots`, `bench_untuned` and validation/hard_cases.py count what they do.
#ifndef PL_NEWTON_OPTIONS_H
#define PL_NEWTON_OPTIONS_H

// ---- when a new factor is made
#define NEWTON_FACTORS_LEAVING 60 // the same from a saddle or a limit point
#define NEWTON_FACTORS 20         // most in one iteration
#define NEWTON_REUSE 0.02         // relative residual below which an old factor is used again
#define NEWTON_LONG 0.004         // of the size: above it, only after shorter steps
#define NEWTON_PREDICTED 0.05     // relative residual after a predicted motion above which it is left
// With contacts a new factor only while that converges: residual and step over the last ones.
#define NEWTON_GAIN 0.7
#define NEWTON_SHRINK 0.5
// A step so many times as long as the prediction says nothing about the stresses at its end.
#define NEWTON_FAR 3.0
// From counts alone (7.4k quadratic tets, one thread: factor 90 ms, with its tangent and check 130, an
// iteration 15 to 20 ms): flops of a factor in the time a solve moves a byte; its cost is kept within bounds.
#define NEWTON_FLOPS_PER_BYTE 20.0
#define NEWTON_COST_LEAST 5.0
#define NEWTON_COST_MOST 60.0
#define NEWTON_PACE_FROM 4       // iterations with a factor before its pace is known
#define NEWTON_PACE_FROM_NEAR 12 // near the end already: L-BFGS gets time to learn the little that changed
#define NEWTON_PACE_STALLED 0.98 // decrease per iteration that leads nowhere
#define NEWTON_PACE_BIAS 1.6     // iterations are cheaper than their count says (no new evaluation)
#define NEWTON_PACE_EXTRA 4      // iterations a new factor takes to the end
#define NEWTON_SHRINKS 0.5       // ratio of steps below which it tells how far the equilibrium still is

// ---- steps
#define NEWTON_STEP_TURN 1.5 // rad: rotation of a step beyond which its linear prediction says nothing
#define NEWTON_STEP_STRAIN 0.5
#define NEWTON_COROTATE 0.02   // rad: steps that rotate less are as good straight
#define NEWTON_RAISED 8        // full steps in a row that may raise the energy before they are taken back
#define NEWTON_TRIALS 12       // halvings of a step
#define NEWTON_TRIALS_MOVING 2 // when targets have to be met: shorter increments are cheaper
#define NEWTON_ARMIJO 1e-4
#define NEWTON_WOLFE 0.9
#define NEWTON_ENERGY_NOISE 1e-10 // of |E|: below it the approximate Wolfe test decides
#define NEWTON_SLOPE_NOISE 1e-6   // of the noise: a slope that small is accepted as it is
#define NEWTON_SECANT 0.1 // the least energy along a step is looked for when it is this far from its end
#define NEWTON_SECANT_MOST 10.0 // and within this factor of it
#define NEWTON_LIMIT_KEPT 0.9   // of a term's step limit is taken
#define NEWTON_LIMIT_LEAST 0.1  // and a trial is not cut to less than this at once
#define NEWTON_HITS 4           // factors with contacts that a full step would hit, before the step is cut
#define NEWTON_CURVATURE 1e-12  // of |s| |y|: pairs of L-BFGS with less curvature are noise

// ---- constraints
#define NEWTON_GAP_MOVES 1e-8     // of the rest measure: targets this far off may cost energy to meet
#define NEWTON_GAP_DONE 1e-9      // and this near are met
#define NEWTON_GAP_RESTORED 1e-11 // where a trial is put back on the constraints
#define NEWTON_RELEASE 0.05       // relative residual below which multipliers tell which cables are slack
#define NEWTON_SET_CHANGES 40     // of the active set in one iteration

// ---- branches
#define NEWTON_BRANCH_SIZE 0.015    // of the size: equilibria that near to the prediction are on its branch
#define NEWTON_COROTATE_WEIGHT 0.01 // stiff parts weigh more in stitching, but not without bound

#endif
