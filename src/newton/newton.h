// Newton's method on a problem at fixed loads: the nearest minimum of the energy, or equilibrium under
// constraints. Statics follows a load path with it; with inertia as a term of the problem it is a stage of a
// time step. It knows nothing of commands, paths or time.
//
//   pl_newton_minimise   the iteration: docs/explanation/solver.md, newton_minimise.c
//   pl_newton_direction  the factor at hand, co-rotated with the body, corrected by pairs of L-BFGS
//   pl_newton_corotate   steps whose rotations are carried out in full
#ifndef PL_NEWTON_ROOM_H
#define PL_NEWTON_ROOM_H

#include "newton/newton_options.h"
#include "problem/problem.h"

// The Laplacian that stitches the pieces of a co-rotated step.
typedef struct newton_laplacian {
    pl_sparse L;       // of the free vertices
    pl_factor *factor; // NULL: it has a null space, steps are straight
    int shapes;        // the elements' shapes it belongs to: pl_problem.shapes
    bool failed;       // it could not be factored for these
    int32_t *dof;      // per vertex; -1: held
    int32_t n;
    double *rhs;    // 3 columns: scratch of each co-rotated step
    double *weight; // per law of the elements, as it was when the matrix was made: laws may be scaled since
    pl_sparse edge; // rows: free vertices, columns: held ones (by vertex number), rectangular
} newton_laplacian;

// Vectors of an iteration. Each is computed by one function and holds until that is called again.
typedef struct newton_work {
    // full
    double *x_start;     // where a predicted motion begins, an equilibrium: set by the caller
    double *x_best;      // the last trial
    double *x_trial;     // scratch of co-rotated steps
    double *x_reference; // before steps that raise the energy
    double *x_predicted; // after the first step of a predicted motion
    // unknowns
    double *g;     // gradient at the iterate
    double *r;     // residual at the iterate
    double *d;     // direction
    double *y;     // right side of the direction; the old residual
    double *g_new; // gradient at the last trial
    // the step that a new tangent takes its stresses from (pl_ahead): where it began, its motion; per
    // pressure: before it, its change
    double *x_before, *dx, *pressure_ahead, *pressure_step;
    double *pressure_before; // per pressure: at the iterate
    double *pressure_start;  // per pressure: where a predicted motion begins
    double mu[PL_ROWS_MAX];  // per border: change of the multipliers in the last direction
    double multiplier_before[PL_ROWS_MAX],
        multiplier[PL_ROWS_MAX]; // per row: before a step, as it predicts them
} newton_work;

// Pairs of L-BFGS since the last factor, a ring. They rotate with the factor and serve the next solves too:
// what an old factor has wrong is a few soft modes, and these change little from move to move.
typedef struct newton_memory {
    double *s[NEWTON_PAIRS], *y[NEWTON_PAIRS]; // steps, changes of the residual
    double rho[NEWTON_PAIRS];
    int count, first;
    int64_t version; // the factor they belong to: pl_linear.version
} newton_memory;

typedef struct pl_newton_solver {
    pl_problem *problem; // borrowed
    bool corotate;       // steps may be co-rotated
    newton_laplacian laplacian;
    newton_work work;
    newton_memory memory;
    int iterations; // counted; whoever solves resets them
    pl_watch watch; // who may stop it, and when; the problem's factorisations ask it too
} pl_newton_solver;

// Takes all memory; the problem must outlive it. pl_newton_clear accepts a half-built one.
pl_status pl_newton_init(pl_newton_solver *N, pl_problem *problem, bool corotate, pl_error *err);
void pl_newton_clear(pl_newton_solver *N);

// From now on `progress` may stop what is computed; `limit` in s, 0: none.
void pl_newton_watch(pl_newton_solver *N, const pl_progress *progress, const char *what, double limit);
bool pl_newton_continue(pl_newton_solver *N);

// ---- the iteration (newton_minimise.c)
// Where an iteration begins.
typedef enum pl_newton_start {
    NEWTON_ANYWHERE,
    NEWTON_EQUILIBRIUM, // x_start, at other loads: the first step predicts a motion, and the iteration ends
                        // where it leaves its neighbourhood
    NEWTON_CARRIED,     // the same, and driven clamps have moved the body since
    NEWTON_DIRECTED,    // evaluated at x (`energy`), the factor rotated to it, the direction in work.d
    NEWTON_LEAVE        // beside a saddle: modes of negative curvature are used with contacts too
} pl_newton_start;

typedef struct pl_newton_goal {
    double force_tolerance;  // of the largest nodal force
    double length_tolerance; // mm
    int limit;               // iterations; a factor made for a better direction counts as one
    pl_newton_start start;
    double energy; // mJ: at x, where it is known
    double enough; // of the predicted motion: a Newton step so short ends it; 0: the tolerances do
    double saddle; // relative residual below which an indefinite tangent is that of a saddle: NEWTON_SADDLE;
                   // 0: not looked for
    bool bounded;  // a free body that goes too far ends it: NEWTON_BRANCH
    // Ends it instead of the force tolerance: at x, `left` mm from the equilibrium as the contraction says,
    // with the residual r. NULL: the tolerances do.
    bool (*accepts)(void *user, const double *x, double left, const double *r);
    void *user;
    double contraction; // with `accepts`: expected of the first step, as measured in earlier solves
} pl_newton_goal;

typedef enum pl_newton_end {
    NEWTON_DONE,
    NEWTON_LIMIT,      // of iterations
    NEWTON_INVERTED,   // no step without inverted elements
    NEWTON_INFEASIBLE, // constraints cannot be met along the step
    NEWTON_NO_DESCENT, // no step that lowers the energy
    NEWTON_BRANCH,     // it has left the branch that the first step predicted
    NEWTON_SADDLE,     // close to a stationary point of the energy where the tangent is indefinite
    NEWTON_STOPPED
} pl_newton_end;

typedef struct pl_newton_report {
    pl_newton_end end;
    double residual, relative; // N: largest nodal residual; over the largest nodal force
    double step, energy;       // mm: the next step; mJ
    int factors;               // made
    double predicted;          // mm: how far the first step went
    double error;              // mm: how far from its end the equilibrium is
    int indefinite;            // tangents that were
    double contraction;        // of the last step; 0: unknown
} pl_newton_report;

// From x (left at the last iterate) to the equilibrium at the loads set.
pl_newton_end pl_newton_minimise(pl_newton_solver *N, double *x, const pl_newton_goal *goal,
                                 pl_newton_report *report, pl_error *err);

// The same where friction acts, with limits that follow the pressures (newton_friction.c): other than
// NEWTON_DONE leaves x as it was; NEWTON_NO_DESCENT also where nothing has friction.
pl_newton_end pl_newton_friction(pl_newton_solver *N, double *x, const pl_newton_goal *goal,
                                 pl_newton_report *report, pl_error *err);

// ---- the factor at hand (newton_memory.c)
double pl_newton_dot(const double *a, const double *b, int64_t n); // the same for any number of threads
void pl_newton_check_pairs(pl_newton_solver *N);                   // forgets pairs of another factor
void pl_newton_forget(pl_newton_solver *N);                        // the pairs of L-BFGS

// The factor and the pairs of L-BFGS that belong to it rotate with the body to x.
void pl_newton_turn(pl_newton_solver *N, const double *x);

// Keeps the pair (scale step, r_new - r_old) when it has positive curvature.
void pl_newton_add_pair(pl_newton_solver *N, const double *step, double scale, const double *r_new,
                        const double *r_old);

// d = -H r: the bordered solve with the factor, corrected by the pairs of L-BFGS.
void pl_newton_direction(pl_newton_solver *N, const double *r, const double *gap, double *d);

// Cost of a factorisation in solves, from counts alone so that results do not depend on the clock.
double pl_newton_factor_cost(const pl_newton_solver *N);

// Does a new factor get there sooner (newton_factor.c)? `theta`: contraction per iteration with the one at
// hand, `gain`: that by which the error has fallen since it was made, `left`: factor by which it is to fall.
bool pl_newton_renewal_pays(double theta, double gain, double left, double cost);

// ---- co-rotated steps (newton_corotate.c)
bool pl_newton_can_corotate(pl_newton_solver *N); // brings the Laplacian to the elements' present shapes

// The step d from x, its rotations carried out in full: out.
void pl_newton_corotate(pl_newton_solver *N, const double *x, const double *d, double *out);

// The same, or straight where steps cannot be co-rotated.
void pl_newton_move(pl_newton_solver *N, const double *x, const double *d, double *out);

// The motion from x_old to x once more, `ratio` times as far; needs pl_newton_can_corotate.
void pl_newton_extrapolate(pl_newton_solver *N, const double *x, const double *x_old, double ratio,
                           double *out);

// Largest rotation (rad) and strain of the step d from x.
double pl_newton_step_rotation(pl_newton_solver *N, const double *x, const double *d, double *strain);

// Moves held vertices to their places in `held` (full) and the others along smoothly.
void pl_newton_carry(pl_newton_solver *N, double *held, double *x);

// Rigid bodies rigid again, where vertices were moved singly.
void pl_newton_fit_rigid(pl_newton_solver *N, double *x);

// Largest distance (mm) between the places of a vertex in two shapes.
double pl_newton_distance(const pl_newton_solver *N, const double *a, const double *b);

#endif
