// Inverse kinematics: commands that bring a model to given targets. Objectives describe the targets, a pl_ik
// is a reusable problem, and a report describes the result and the active bounds.
#ifndef PLIANT_INVERSE_H
#define PLIANT_INVERSE_H

#include "pliant/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- objectives
// An objective is a vector of deviations d(c) in its own unit. Inverse kinematics minimises 1/2 sum |weight
// d|^2 over the goals, which are to be met within their tolerance. The other objectives (effort, energy,
// command) choose among the commands that meet the goals: their own 1/2 sum |weight d|^2 is minimised with
// the goals as constraints.
typedef enum pl_objective_kind {
    PL_OBJECTIVE_POSITION,    // marker at `target`, mm, on the axes of `axes`
    PL_OBJECTIVE_DIRECTION,   // the marker's `axis` (undeformed) points along `target`; |d| approximately in
                              // rad
    PL_OBJECTIVE_ORIENTATION, // the rotation of the marker from the undeformed configuration is `rotation`;
                              // rad
    PL_OBJECTIVE_DISTANCE,    // |marker - target| is `value`, mm; 0 is the same as a position
    PL_OBJECTIVE_ORTHOGONAL,  // the marker's `axis` is orthogonal to the line from marker to target: the
                              // cosine
    PL_OBJECTIVE_SHAPE,       // body points `point` at `place`, mm, root mean square over the weights
    PL_OBJECTIVE_CURVATURE, // least-squares circle of the body points `point` has the curvature `value`, 1/mm
    PL_OBJECTIVE_SENSOR,    // sensor `index` has the value `value`: mm, mm^3, MPa
    PL_OBJECTIVE_EFFORT,    // effort of actuator `index` close to `value`: N, MPa; not a goal
    PL_OBJECTIVE_ENERGY,    // elastic energy E small, d = sqrt(2 E), E in mJ; not a goal
    PL_OBJECTIVE_COMMAND,   // commands close to `place` (command_count values; NULL: the start of a solve),
                            // relative to their ranges; not a goal
    PL_OBJECTIVE_KIND_COUNT
} pl_objective_kind;

PL_API const char *pl_objective_kind_name(pl_objective_kind kind); // "position", "direction", ...
PL_API bool pl_objective_is_goal(pl_objective_kind kind);

typedef struct pl_objective {
    pl_objective_kind kind;
    int index;        // marker, sensor or actuator
    double weight;    // per unit of the deviation, > 0
    double tolerance; // a goal is met when |d| (not weighted) is below it; 0: 0.005 mm for lengths, 1e-3 rad
                      // or cosine, 1e-3 of `value` (or of 1/size) for curvatures, 1e-3 of the value for
                      // sensors of volume and pressure. Of a surrogate, |d| and its error; the search goes to
                      // these defaults where they are smaller
    bool axes[3];     // position, distance, orientation: world axes used; all false means all
    double target[3]; // position; direction (any length); centre of a distance; point of an orthogonality
    double axis[3];   // direction, orthogonality: axis of the marker, undeformed (any length); curvature: the
                      // axis of pl_fit_curvature, 0 0 0 for none
    double rotation[9];   // orientation, row-major
    double value;         // distance, curvature, sensor, effort
    const int32_t *point; // shape, curvature: body points
    int32_t point_count;  //   curvature: at least 3
    const double *place;  // shape: 3 per point; command: one per command
    const double *share;  // shape: weight per point; NULL: all 1
} pl_objective;

// weight 1, default tolerance, all axes, rotation = identity.
PL_API pl_objective pl_objective_default(pl_objective_kind kind);

// ---- inverse kinematics
typedef enum pl_ik_method {
    PL_IK_NEWTON,   // damped Gauss-Newton with exact Jacobians, Broyden updates in between, exact bounds
    PL_IK_GRADIENT, // Fang et al. 2020 as published: central differences, shrinking and expanding search;
                    // commands are clipped to their ranges; bounds on efforts and objectives that are not
                    // goals are refused
    PL_IK_DESCENT,  // the same search along exact gradients
    PL_IK_METHOD_COUNT
} pl_ik_method;

PL_API const char *pl_ik_method_name(pl_ik_method method); // "newton", "gradient", "descent"
PL_API pl_ik_method pl_ik_method_find(const char *name);   // PL_IK_METHOD_COUNT: none

#define PL_IK_OUTCOME_LIST(X)                                                                                \
    X(PL_IK_REACHED, "reached")                                                                              \
    X(PL_IK_UNCERTAIN, "uncertain")    /* met by a reduced, learned or adapted model, but not within the     \
                                          tolerance when its own error is added */                           \
    X(PL_IK_NEAREST, "nearest")        /* stationary (to first order no nearer point within the bounds), and \
                                          several starts ended there */                                      \
    X(PL_IK_BEST, "best found")        /* stationary, but no other start ended there */                      \
    X(PL_IK_LIMIT, "limit")            /* iterations or time */                                              \
    X(PL_IK_STALLED, "stalled")        /* no step improves it, but not stationary */                         \
    X(PL_IK_INFEASIBLE, "infeasible")  /* no command found that keeps the efforts within their bounds, or    \
                                          the limit came before */                                           \
    X(PL_IK_FORWARD, "forward failed") /* no forward solution at start */                                    \
    X(PL_IK_STOPPED, "interrupted")

typedef enum pl_ik_outcome {
#define X(code, text) code,
    PL_IK_OUTCOME_LIST(X)
#undef X
} pl_ik_outcome;

PL_API const char *pl_ik_outcome_name(pl_ik_outcome outcome);

typedef struct pl_effort_bound {
    int actuator;
    double low, high; // N, MPa; -INFINITY and INFINITY: none
} pl_effort_bound;

typedef struct pl_ik_options {
    pl_ik_method method;
    // Per command, each may be NULL; copied. NAN in `low` or `high`: the robot's range.
    const double *low, *high;
    const bool *hold;   // true: constant (idle commands stay idle)
    const double *rate; // largest change per second between calls of pl_ik_solve; NAN or 0: no limit
    double period;      // s between two calls of pl_ik_solve; used with `rate`
    const pl_effort_bound *effort;
    int effort_count;
    double least_motion; // mm (unit of the goal) per range: resolves redundancy by staying near the start;
                         // >= 0. Not used together with objectives that are not goals
    double length_tolerance; // mm, of goals that are lengths and have no tolerance of their own; 0: 0.005
    int iteration_limit;
    double time_limit; // s; 0: none
    int start_limit;   // further starts if a solve does not reach its goals, from samples or, without them,
                       // from points spread over the ranges; 0: none, and the best outcome short of the goals
                       // is PL_IK_BEST
    pl_progress progress; // may stop the solve
} pl_ik_options;

PL_API pl_ik_options pl_ik_options_default(void);

typedef enum pl_ik_bound_kind { PL_BOUND_COMMAND, PL_BOUND_RATE, PL_BOUND_EFFORT } pl_ik_bound_kind;

typedef struct pl_ik_active {
    pl_ik_bound_kind kind;
    int index;         // command or actuator
    const char *name;  // its name
    bool upper;        // side
    double value;      // of the bound, internal units
    double multiplier; // >= 0: decrease of 1/2 sum |weight d|^2 per unit by which the bound is relaxed
} pl_ik_active;

// Borrowed until the next solve.
typedef struct pl_ik_report {
    pl_ik_outcome outcome;
    char message[240];
    const double *command; // one per command, internal units; NAN: idle
    double distance;       // mm: largest deviation of the goals that are lengths (position, distance, shape)
    double error;       // largest deviation of a goal over its tolerance; <= 1: all met. Of a surrogate the
                        // deviation and the error of the model together; INFINITY: that is not known
    double model_error; // mm: largest error (pl_answer_error) of a surrogate in the goals that are lengths;
                        // 0: no surrogate, or no such goals; NAN: not known
    double confidence;  // of model_error; NAN: no surrogate, or not known
    double objective;   // 1/2 sum |weight d|^2, least motion included
    double gradient;    // certificate: |projected gradient| / (|J| |r|), with the exact Jacobian; NAN if
                        // none was computed (reached before one was needed)
    const pl_ik_active *active; // active bounds
    int active_count;
    int iterations; // accepted steps
    int starts;     // solves, 1 + further starts
    int agreed;     // of them, how many ended at the reported point; 0 if it is not stationary
    double seconds;
    pl_model_costs costs; // of this solve
} pl_ik_report;

// A reusable problem: all memory is allocated here. Keeps references to `model` and to the arrays of
// `objective` (point, share); targets and places are copied. A command that is neither held nor has a range
// or bounds is refused. Uses the slots PL_SLOT_IK_HERE to
// PL_SLOT_IK_BEST of the model.
typedef struct pl_ik pl_ik;
PL_API_CHECKED pl_status pl_ik_create(pl_model *model, const pl_objective *objective, int objective_count,
                                      const pl_ik_options *options, pl_ik **out, pl_error *err);
PL_API void pl_ik_destroy(pl_ik *ik);

// New targets for objective i: `target` has 3 values (position, direction, distance, orthogonality), 9
// (orientation), 3 per point (shape), 1 (curvature, sensor, effort) or one per command (command).
PL_API_CHECKED pl_status pl_ik_set_target(pl_ik *ik, int i, const double *target, pl_error *err);
PL_API void pl_ik_set_period(pl_ik *ik, double period); // s, for the rates; ignored unless > 0
PL_API void pl_ik_set_start_limit(pl_ik *ik, int starts);

// Commands and the resulting marker positions: a stored workspace. Borrowed.
typedef struct pl_samples {
    int count;
    const double *command; // command_count per sample, internal units
    const double *marker;  // 3 marker_count per sample, mm
} pl_samples;

// A solve that did not reach its goals starts again from the samples whose markers are nearest to the goals.
PL_API void pl_ik_set_samples(pl_ik *ik, const pl_samples *samples); // NULL: none; must outlive the solves

// Solves from the current state of the model (idle commands start at their rest value), or from `start` (one
// per command) if given. Rates apply from the current state. The model is left at the reported commands,
// which satisfy all bounds for every outcome except PL_IK_INFEASIBLE, PL_IK_FORWARD and PL_IK_STOPPED. Not
// reaching the goals is an outcome, not an error.
PL_API_CHECKED pl_status pl_ik_solve(pl_ik *ik, const double *start, pl_ik_report *report, pl_error *err);

// Deviation |d| of objective i at the solution, in its own unit; NAN if there is no such objective.
PL_API double pl_ik_deviation(const pl_ik *ik, int i);

#ifdef __cplusplus
}
#endif
#endif
