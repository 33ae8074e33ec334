// The inside of pl_statics, for this folder: load paths by Newton's method (newton/newton.h) on a problem.
//
// - statics_solve: from the state's commands to the new ones: a small move, or a load path
// - statics_path: load increments; statics_arc: by arc length; statics_critical: buckling and limit loads
// - statics_explain: what to say when they end before
// - statics_aim: shape and commands together
// - statics_predict: where the next solution will be, from those before
// - statics_moves: when small moves want a new factor
// - statics_error: the error of the discretisation; statics_steps: Newton steps from a given shape
// - statics_stability: is an equilibrium stable?
// - statics_result, statics_field, statics_sensitivity: what a state means, and its derivatives
#ifndef PL_STATICS_IMPL_H
#define PL_STATICS_IMPL_H

#include "statics/statics.h"
#include "newton/newton.h"
#include "statics/statics.h"
#include "statics/statics_options.h"

#define STATICS_HISTORY 5 // solved states remembered

// The last states solved, newest first, for extrapolation.
typedef struct statics_history {
    double *x[STATICS_HISTORY], *command[STATICS_HISTORY];
    int count;
    double *difference; // commands less the newest, and the change wanted: scratch of statics_predict
} statics_history;

// Small moves since the factor was made: what they cost tells when a new one pays.
typedef struct statics_moves {
    int64_t version; // the factor they were made with: pl_linear.version
    int count;
    double last, fresh; // solves of the last one, and of the last one that began with a new factor
    bool predicted;     // the last one began where states before it let expect the next
} statics_moves;

// Shape and commands that were found together.
typedef struct statics_aim {
    pl_state *state; // the iterate, for outputs; taken with the rest when first needed
    double *x, *command;
    bool expected; // x is the shape expected at these commands
    pl_columns columns;
} statics_aim;

// What the last factor with a known inertia says about stability: statics_stability.c.
typedef struct statics_stability {
    int64_t version;  // pl_linear.version of that factor, without negative eigenvalues; 0: none
    double *mode;     // unknowns: its softest mode, in the frame of the factor
    double curvature; // N/mm: of the energy along the mode where the factor was made; 0: not looked for yet
} statics_stability;

// The mode that loses its stiffness at a critical load, for pl_statics_critical.
typedef struct statics_mode {
    bool known, limit;
    double load;
    double *x, *motion; // full: where, and the mode, largest displacement 1
} statics_mode;

// Viscous branches of the materials, for shapes held a given time: statics_creep.c.
typedef struct statics_creep {
    pl_viscous *viscous; // made when first needed; NULL: no material has any
    pl_state *before;    // where the step in progress began
    bool on;             // the laws of the elements are those at the end of such a solve
} statics_creep;

// How load paths are followed: pl_statics_path_default, statics_options.h.
typedef struct statics_path_options {
    double error;  // of the motion: an increment that misses by more is taken back
    double enough; // of the predicted motion: what may be left of an increment before the last
    double turn;   // rad, in one increment
    double strain; // in one increment
    double growth; // of the length, from one increment to the next, and its cut
    double least;  // of the path: the shortest increment
    double beyond; // of a limit load: where a body that snaps lands
} statics_path_options;

struct pl_statics {
    const pl_robot *robot;
    pl_statics_options options;
    pl_problem *problem;
    pl_newton_solver newton;
    double *x;        // full: the iterate of pl_statics_solve
    double *x_stable; // full: the last stable equilibrium of the path
    // full: where the increment begins, and ends, with the Newton step that was left to the next one
    double *x_begin, *x_end;
    pl_mark begin; // of the increment in progress
    statics_history history;
    statics_moves moves;
    statics_aim aim;
    statics_stability stability;
    double loose; // factor of the last increment's tolerances: pl_statics_set_tolerance_factor
    statics_path_options path;
    statics_mode mode; // of the first critical load of the last solve
    statics_creep creep;
    // pl_statics_hold_history: tensions of cables with friction where it began
    double *tension;
    bool tension_held, tension_known;
    // of the solve in progress
    int increments;
    double started;
    bool finishing; // the load path has ended: the limits of iterations no longer count
};

// Where the load path that ended at the equilibrium x becomes unstable beyond it.
typedef struct statics_critical {
    bool found;
    double load;      // fraction of the path
    bool bifurcation; // the mode does not answer the load: the body buckles; otherwise the load has a maximum
} statics_critical;

// What became of an increment.
typedef enum path_verdict {
    STEP_ACCEPTED,
    STEP_INVERTED,
    STEP_INFEASIBLE,
    STEP_BRANCH, // it left its branch
    STEP_NO_DESCENT,
    STEP_LIMIT, // of iterations
    STEP_STOPPED
} path_verdict;

const char *path_verdict_name(path_verdict verdict);

// The load path of a solve, from the state's commands to the new ones: statics_path.c.
typedef struct load_path {
    double at;         // fraction reached, an equilibrium
    double length;     // of the next increment
    path_verdict last; // of the last increment
    double error;      // of the last increment, 0: not known
    int failures;      // increments taken back: from the first on equilibria are found to their tolerances
    double failed_error, failed_length; // of the last one taken back at `at`; 0: none
    double left;                        // mm: the Newton step left over at `at`; 0: none
    double arc_at;                      // from where it was to be followed by its arc length last
    double left_at;                     // where an unstable equilibrium was to be left last
    double stable_at;                   // load of the last equilibrium known to be stable: work.x_stable
    double buckled;                     // load at which the path became unstable, first; 0: nowhere
    bool buckled_known;                 // that load was found; otherwise it lies below
    double snapped;                     // the first limit load passed by a snap; 0: none
    statics_critical critical;          // the limit point that ended the path
    // friction: where a pair of increments began, with the rows that held, and how many of it are done; how
    // long the next may be
    double pair_at, pair_length;
    bool pair_active[PL_ROWS_MAX];
    int pair_count;
    double friction; // N: its force where the path begins
} load_path;

// ---- statics_create.c
// As pl_statics_create, with further terms (pl_problem_create): how terms are tested.
pl_status statics_create(const pl_robot *robot, const pl_statics_options *options,
                         const pl_term_create *extra, pl_statics **out, pl_error *err);

// ---- statics_solve.c
// pl_statics_solve with the laws that the elements have.
pl_status statics_solve(pl_statics *s, pl_state *state, const double *command, pl_solve_report *report,
                        pl_error *err);

// ---- statics_creep.c
void statics_creep_clear(pl_statics *s);

// ---- statics_predict.c
// The shape at `command` as the last solutions let expect it, held vertices included; false: nothing to go
// by.
bool statics_predict(pl_statics *s, const double *command, double *out);
void statics_remember(pl_statics *s, const pl_state *state);

// ---- statics_moves.c
// A new factor at the beginning of the next small move pays.
bool statics_moves_renew(const pl_statics *s, bool predicted);
double statics_moves_limit(const pl_statics *s); // solves of a move from which on it pays

// A small move took `solves`, the factor at hand being that of `version` before it; `renewed`: it began with
// a new one; `predicted`: at a predicted shape.
void statics_moves_note(pl_statics *s, int64_t version, int solves, bool renewed, bool predicted);

// ---- statics_aim.c
// The shape expected at these commands, once; NULL: none.
const double *statics_expected(pl_statics *s, const double *command);
void statics_aim_clear(pl_statics *s);

// ---- statics_stability.c
// Negative eigenvalues of the tangent at the equilibrium x, at the loads set, on the null space of the
// constraints: with a new factor there. -1: the tangent is singular.
pl_status statics_prove(pl_statics *s, const double *x, int *negative, pl_error *err);

// The softest mode and its curvature with the factor at hand (s->stability), by inverse iteration: v' = K^-1
// v, curvature v' . v / v' . v'; kept in the frame of the factor, of length 1.
bool statics_softest(pl_statics *s, int rounds);

// The curvature (N/mm) of the energy at x along that mode, with the multipliers found there and the loads
// set; 0: not defined.
double statics_curvature(pl_statics *s, const double *x);

// The factor at hand has no negative eigenvalue and the curvature along its softest mode is still there at x.
bool statics_known_stable(pl_statics *s, const double *x);

// The negative eigenvalues that the factor of the last proof counts are zero up to rounding.
bool statics_neutral(pl_statics *s);

// From an unstable equilibrium x, proved so by the factor at hand, down to a stable one: along the mode of
// the most negative eigenvalue, then with the tolerances of `goal`, proved again. `left` gets the
// number of equilibria left; where no stable one is found x stays at the last one.
pl_status statics_stabilise(pl_statics *s, double *x, const pl_newton_goal *goal, pl_newton_report *found,
                            int *negative, int *left, pl_error *err);

// The same after a small move with an older factor: a new one only where the softest mode asks for it.
pl_status statics_prove_move(pl_statics *s, const double *x, int *negative, pl_error *err);

// ---- statics_sensitivity.c
// Column j of `count` of the outputs for the motion dx and the changes mu of multipliers (per row) caused by
// q (NULL: by no parameter).
void statics_jacobian_column(pl_statics *s, const pl_state *state, const pl_parameter *q, int j, int count,
                             const double *dx, const double *mu, const pl_jacobian *out);

// ---- statics_result.c
void statics_point(const pl_point *point, const double *x, double out[3]);
void statics_marker_moment(const pl_statics *s, const pl_marker *marker, const double *x, double A[9]);
double statics_string(const pl_point *guide, int count, const double *x);

// ---- statics_path.c
// Moves driven clamps to the loads set, and the body along.
void statics_carry(pl_statics *s, double *x);

// Sets loads to `at` and moves driven clamps there.
void statics_set_load(pl_statics *s, double at, double *x);

// From the state to `command`: x is the equilibrium at path->at, with the tolerances of the last increment in
// D.
void statics_path(pl_statics *s, const pl_state *state, const double *command, load_path *path, double *x,
                  pl_newton_report *found, pl_error *err);

// The path from x, a stable equilibrium at path->at, to its end.
void statics_continue(pl_statics *s, load_path *path, double *x, pl_newton_report *found, pl_error *err);

// From a saddle at the load `above` back to the buckling load: x becomes a stable equilibrium a little beyond
// it, at path->at. False: none was found.
bool statics_branch_off(pl_statics *s, load_path *path, const double *saddle, double above, double *x,
                        pl_error *err);

// Finds the stationary point next to x at the load set, stable or not. True: it converged within `reach` (mm)
// of the start; its factor, with its inertia, is at hand. `mode` (unknowns; NULL: none): the amplitude along
// it stays as it is, and the force that this takes does not count. Next to a bifurcation, where the tangent
// is nearly singular along its mode, this is the path of the body without imperfections. `force`: relative
// residual.
bool statics_stationary(pl_statics *s, double *x, double reach, const double *mode, double force,
                        pl_error *err);

// The first time that a saddle x of the path is to be left: finds where the path became unstable.
void statics_note_buckling(pl_statics *s, load_path *path, const double *x, double at, pl_error *err);

// Tolerances: of the options for the last load, looser ones before.
pl_newton_goal statics_tolerance(const pl_statics *s, bool last);

// Where friction or pressure on open surfaces acts: the equilibrium near x, with limits that follow the
// pressures and forces on open rims that follow the shape; is x in balance with the forces that it has on
// open rims itself?
pl_newton_end statics_friction(pl_statics *s, double *x, bool last, pl_newton_report *found, pl_error *err);
bool statics_balanced(pl_statics *s, const double *x, bool last, pl_newton_report *found);

// ---- statics_arc.c
// A point of a path on which the load may rise and fall: vectors are from the scratch arena of the problem.
typedef struct statics_arc {
    double *x;                           // full
    double *t;                           // unknowns: dx/ds, of length 1 over the free vertices
    double l, rate;                      // load (fraction of the path), dl/ds
    int negative;                        // eigenvalues of the tangent there
    double ds, turn;                     // mm: the next step; rad: rotation of t
    double l_before, rate_before, taken; // the point before, and the step from it
} statics_arc;

bool statics_arc_possible(pl_statics *s); // smooth loads on bodies with fixed supports
bool statics_arc_begin(pl_statics *s, const double *x, double l, statics_arc *arc, pl_error *err);
bool statics_arc_step(pl_statics *s, statics_arc *arc, double ds_most, pl_error *err);

// Where the load is extreme on the cubic through both ends of the last step: its distance from the start of
// the step, and the load there.
double statics_arc_extreme(const statics_arc *arc, double *load);

// Follows the path from the stable equilibrium x at `at` to a limit point (the shape `top` at the load
// `limit`; the direction of motion is in s->stability.mode), to the load `target`, to a bifurcation, or until
// it cannot go on: x and `at` are then the last stable equilibrium on it.
typedef enum arc_end { ARC_LIMIT, ARC_TARGET, ARC_UNSTABLE, ARC_FAILED } arc_end;
arc_end statics_arc_limit(pl_statics *s, double *x, double *at, double target, double *top, double *limit,
                          pl_error *err);

// ---- statics_critical.c
// From the softest eigenvalue at x, an equilibrium at `at`, and at a slightly smaller load. Leaves x, loads
// and the negative eigenvalues there.
statics_critical statics_find_critical(pl_statics *s, double at, const pl_newton_goal *tolerance, double *x,
                                       int *negative, pl_error *err);

// Where the path between a stable equilibrium and a saddle of it, at the loads `below` and `above`, becomes
// unstable; NAN: not found. Leaves another factor and load.
double statics_bifurcation(pl_statics *s, const double *stable, double below, const double *saddle,
                           double above, pl_error *err);

// ---- statics_modes.c
// Keeps the mode v (unknowns) at x and the load, unless one was kept before in this solve; `limit`: of a
// limit point. `better`: of the same critical load, found more precisely.
void statics_keep_mode(pl_statics *s, const double *x, const double *v, double load, bool limit, bool better);

// ---- statics_explain.c
void statics_say(pl_solve_report *report, pl_outcome outcome, const char *format, ...) PL_PRINTF(3, 4);
// Adds a clause to the message.
void statics_add(pl_solve_report *report, const char *clause);
void statics_explain(pl_statics *s, const load_path *path, pl_solve_report *report);

// Replaces what was said by the critical load, where one was found.
void statics_explain_critical(pl_statics *s, const statics_critical *critical, pl_solve_report *report);
void statics_explain_touch(pl_statics *s, pl_solve_report *report); // contacts do not come to rest

// Looks at the contacts of x once more: reports an obstacle that overlaps the body by more than is accepted
// (true), or a free body that is not held as Coulomb's law says.
bool statics_examine_contact(pl_statics *s, const double *x, pl_solve_report *report);

#endif
