// Kinematics: one interface to every model of a robot, and the questions asked through it. The full body
// (statics) and the reduced models all answer as a pl_model; inverse kinematics, paths and workspaces see
// nothing else.
#ifndef PLIANT_KINEMATICS_H
#define PLIANT_KINEMATICS_H

#include "pliant/statics.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- what every model answers

typedef pl_command_info pl_model_command;

// What the model's parts are called; borrowed from the model.
typedef struct pl_model_info {
    const char *name; // the robot's
    const char *kind; // "full", "beam", "rod", "constant_curvature", "vertebrae"
    uint64_t hash;    // of everything that decides its answers
    int command_count, actuator_count, marker_count, sensor_count;
    const pl_model_command *command;
    const char *const *actuator_name;
    const pl_actuator_kind *actuator_kind;
    const char *const *marker_name;
    const char *const *sensor_name;
    const pl_sensor_kind *sensor_kind;
    int32_t point_count;     // of the body: vertices, or points along a centre line
    const double *rest;      // 3 per body point
    const double *marker_at; // 3 per marker, at rest
    double size;             // mm, of the whole robot
} pl_model_info;

// The model at the command last solved; borrowed until the next call that moves it.
typedef struct pl_model_answer {
    const double *command;  // internal units; NAN: idle
    const double *marker;   // 3 per marker, mm
    const double *rotation; // 9 per marker, row-major, from rest; NAN where a marker has no frame
    const double *sensor;   // mm, mm^3, MPa
    const double *effort;   // per actuator: N, MPa
    const double *measure;  // per actuator: mm, mm^3, mm^2
    const double *point;    // 3 per body point, mm
    double energy;          // mJ, elastic
} pl_model_answer;

typedef enum pl_model_part {
    PL_PART_MARKER = 1,   // positions
    PL_PART_ROTATION = 2, // spatial rotation vectors of the markers
    PL_PART_SENSOR = 4,
    PL_PART_EFFORT = 8,
    PL_PART_MEASURE = 16,
    PL_PART_POINT = 32,
    PL_PART_ENERGY = 64
} pl_model_part;

// Derivatives by the commands: row-major, command_count columns; those not asked for are NULL. The columns of
// idle commands are 0. Borrowed until the next call that moves the model or asks for derivatives.
typedef struct pl_model_derivative {
    const double *marker;   // 3 marker_count rows
    const double *rotation; // 3 marker_count rows, rad
    const double *sensor, *effort, *measure;
    const double *point;  // 3 point_count rows
    const double *energy; // one row
} pl_model_derivative;

// A kind of model: what stands behind a pl_model. `self` is the model's own memory.
#define PL_MODEL_SLOTS 4
typedef struct pl_model_type {
    void (*destroy)(void *self);
    void (*info)(void *self, pl_model_info *out);
    // How actuator i is driven; may be NULL (see pl_model_actuator).
    pl_actuator_info (*actuator)(void *self, int i);
    // Goes from where the model is to the equilibrium at `command`. Not solving is an outcome in `report`;
    // the model then stands at the best it reached, whose commands the answer gives.
    pl_status (*fk)(void *self, const double *command, pl_statics_report *report, pl_error *err);
    void (*answer)(void *self, pl_model_answer *out);
    // Derivatives of `parts` (pl_model_part, or-ed) at the answer, to the relative residual `tolerance` of
    // the linear systems; 0: exact (1e-8 or better).
    pl_status (*derivative)(void *self, unsigned parts, double tolerance, pl_model_derivative *out,
                            pl_jacobian_report *report, pl_error *err);
    // Keeps where the model is in a slot (0 .. PL_MODEL_SLOTS-1), and goes back there without a solve.
    pl_status (*keep)(void *self, int slot);
    pl_status (*recall)(void *self, int slot);
    void (*reset)(void *self); // to rest
} pl_model_type;

typedef struct pl_model pl_model;
// Takes `self` over. On failure `self` is destroyed.
PL_API pl_status pl_model_create(const pl_model_type *type, void *self, pl_model **out, pl_error *err);
PL_API void pl_model_destroy(pl_model *model);

// The full body as a model. Keeps a reference to `robot`, which must outlive it.
PL_API pl_status pl_model_from_robot(const pl_robot *robot, const pl_statics_options *options, pl_model **out,
                                     pl_error *err);
// The solver and the state inside a model of kind "full" (for fields and files); NULL for other kinds.
PL_API pl_statics *pl_model_statics(pl_model *model);
PL_API pl_state *pl_model_state(pl_model *model);
PL_API const pl_robot *pl_model_robot(const pl_model *model);

PL_API pl_model_info pl_model_get_info(const pl_model *model);
// How actuator i is driven: by which command, how fast, by which axis of a machine. Of a model that does not
// tell, or of an actuator that is not there, no more than the name and the kind is known: command is -1.
PL_API pl_actuator_info pl_model_actuator(const pl_model *model, int i);
PL_API int pl_model_find_command(const pl_model *model, const char *name); // -1 when there is none
PL_API int pl_model_find_marker(const pl_model *model, const char *name);
PL_API int pl_model_find_sensor(const pl_model *model, const char *name);
PL_API int pl_model_find_actuator(const pl_model *model, const char *name);
PL_API pl_status pl_model_fk(pl_model *model, const double *command, pl_statics_report *report,
                             pl_error *err);
PL_API pl_model_answer pl_model_get_answer(const pl_model *model);
PL_API pl_status pl_model_differentiate(pl_model *model, unsigned parts, double tolerance,
                                        pl_model_derivative *out, pl_jacobian_report *report, pl_error *err);
PL_API pl_status pl_model_keep(pl_model *model, int slot);
PL_API pl_status pl_model_recall(pl_model *model, int slot);
PL_API void pl_model_reset(pl_model *model);
// Costs since the model was made.
typedef struct pl_model_costs {
    int64_t fk_calls, derivative_calls, iterations, factorizations, solves;
} pl_model_costs;
PL_API pl_model_costs pl_model_get_costs(const pl_model *model);

// ---- objectives: what inverse kinematics asks for
// An objective is a vector of deviations d(c) in its own unit; inverse kinematics makes 1/2 sum |weight d|^2
// of the goals least. Goals are to be met to their tolerance. The others (effort, energy, command) choose
// among the commands that meet the goals: then their own 1/2 sum |weight d|^2 is made least, with the goals
// kept.
typedef enum pl_objective_kind {
    PL_OBJECTIVE_POSITION,    // marker at `target`, mm, on the axes of `axes`
    PL_OBJECTIVE_DIRECTION,   // the marker's `axis` (as it was at rest) points along `target`; |d| about rad
    PL_OBJECTIVE_ORIENTATION, // the marker's rotation from rest is `rotation`; rad, components by `axes`
    PL_OBJECTIVE_DISTANCE,    // |marker - target| is `value`, mm; 0 is the same as a position
    PL_OBJECTIVE_ORTHOGONAL,  // the marker's `axis` is orthogonal to the line from marker to target: the
                              // cosine
    PL_OBJECTIVE_SHAPE,       // body points `point` at `place`, mm, root mean square over the weights
    PL_OBJECTIVE_CURVATURE,   // least-squares circle of body points `point` has curvature `value`, 1/mm
    PL_OBJECTIVE_SENSOR,      // sensor `index` reads `value`: mm, mm^3, MPa
    PL_OBJECTIVE_EFFORT,      // effort of actuator `index` near `value`: N, MPa; no goal
    PL_OBJECTIVE_ENERGY,      // elastic energy E small, d = sqrt(2 E), E in mJ; no goal
    PL_OBJECTIVE_COMMAND,     // commands near `place` (command_count values; NULL: where a solve starts),
                              // in parts of their ranges; no goal
    PL_OBJECTIVE_KIND_COUNT
} pl_objective_kind;
PL_API const char *pl_objective_kind_name(pl_objective_kind kind); // "position", "direction", ...
PL_API pl_objective_kind pl_objective_kind_find(const char *name); // PL_OBJECTIVE_KIND_COUNT: none
PL_API bool pl_objective_is_goal(pl_objective_kind kind);

typedef struct pl_objective {
    pl_objective_kind kind;
    int index;     // marker, sensor or actuator
    double weight; // per unit of the deviation, > 0
    double
        tolerance; // a goal is met when |d| (not weighted) is below it; 0: 0.005 mm for lengths, 1e-3 rad or
                   // cosine, 1e-3 of `value` (or of 1/size) for curvatures, 1e-3 of the value for sensors
    bool axes[3];  // position, distance, orientation: world axes that count; all false means all
    double target[3];     // position; direction (any length); centre of a distance; point of an orthogonality
    double axis[3];       // direction, orthogonality: the marker's axis at rest (any length); curvature: the
                          // axis of pl_fit_curvature, 0 0 0 for none
    double rotation[9];   // orientation, row-major
    double value;         // distance, curvature, sensor, effort
    const int32_t *point; // shape, curvature: body points
    int32_t point_count;  //   curvature: at least 3
    const double *place;  // shape: 3 per point; command: one per command
    const double *share;  // shape: weight per point; NULL: all 1
} pl_objective;
// weight 1, no tolerance of its own, all axes, rotation = identity.
PL_API pl_objective pl_objective_default(pl_objective_kind kind);

// Curvature (1/mm) of the least-squares circle (Pratt's) through points (3 each). With `axis`: in the plane
// orthogonal to it, positive when the line from the first to the last point turns left seen against the axis;
// smooth through 0. Without: in the best plane of the points, never negative, with a kink where they lie on a
// line. `gradient`, if given, is its derivative by each coordinate. At least 3 points; where no three of
// them differ the curvature is 0.
PL_API double pl_fit_curvature(const double *point, int32_t count, const double *axis, double *gradient);

// ---- inverse kinematics
typedef enum pl_ik_method {
    PL_IK_NEWTON,   // damped Gauss-Newton with exact Jacobians, Broyden updates between, exact bounds
    PL_IK_GRADIENT, // Fang et al. 2020 as published: central differences, shrinking and expanding search;
                    // commands are cut off at their ranges; bounds on efforts and objectives that are no
                    // goals are refused
    PL_IK_DESCENT,  // the same search along exact gradients
    PL_IK_METHOD_COUNT
} pl_ik_method;
PL_API const char *pl_ik_method_name(pl_ik_method method); // "newton", "gradient", "descent"
PL_API pl_ik_method pl_ik_method_find(const char *name);   // PL_IK_METHOD_COUNT: none

#define PL_IK_OUTCOME_LIST(X)                                                                                \
    X(PL_IK_REACHED, "reached")                                                                              \
    X(PL_IK_NEAREST, "nearest")        /* stationary: no nearer point within the bounds, to first order */   \
    X(PL_IK_LIMIT, "limit")            /* of iterations or time */                                           \
    X(PL_IK_STALLED, "stalled")        /* no step makes it better, yet not stationary */                     \
    X(PL_IK_INFEASIBLE, "infeasible")  /* no command found that keeps the efforts within their bounds, or    \
                                          the limit came before */                                           \
    X(PL_IK_FORWARD, "forward failed") /* the start cannot be computed */                                    \
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
    const bool *hold;   // true: not a variable, stays where it is (idle ones idle)
    const double *rate; // largest change per second; NAN or 0: none. Holds between calls of pl_ik_solve
    double period;      // s between two calls of pl_ik_solve; used with `rate`
    const pl_effort_bound *effort;
    int effort_count;
    double least_motion; // mm (goal's unit) per range: resolves redundancy by staying near the start; >= 0.
                         // Not used beside objectives that are no goals
    int iteration_limit;
    double time_limit;         // s; 0: none
    double stationary;         // relative projected gradient below which a point counts as nearest
    double jacobian_tolerance; // relative residual of the linear systems of a Jacobian used for steps
    int start_limit;           // further starts from samples or seeds when a solve does not reach; 0: none
    double shrink;             // gradient, descent: tau of the papers
    double difference;         // gradient: step of the central differences, in parts of the range
    pl_progress progress;      // may ask to stop
} pl_ik_options;
PL_API pl_ik_options pl_ik_options_default(void);

typedef enum pl_ik_bound_kind { PL_BOUND_COMMAND, PL_BOUND_RATE, PL_BOUND_EFFORT } pl_ik_bound_kind;
typedef struct pl_ik_active {
    pl_ik_bound_kind kind;
    int index;         // command or actuator
    const char *name;  // its name
    bool upper;        // side
    double value;      // of the bound, internal units
    double multiplier; // >= 0: how much 1/2 sum |weight d|^2 would fall per unit the bound gives way
} pl_ik_active;

// Borrowed until the next solve.
typedef struct pl_ik_report {
    pl_ik_outcome outcome;
    char message[240];
    const double *command; // one per command, internal units; NAN: idle
    double distance;       // mm: largest deviation of the goals that are lengths (position, distance, shape)
    double error;          // largest deviation of a goal over its tolerance; <= 1: all met
    double objective;      // 1/2 sum |weight d|^2, least motion included
    double gradient;       // certificate: |projected gradient| / (|J| |r|), of the exact Jacobian; NAN when
                           // no exact Jacobian was made (reached before one was needed)
    const pl_ik_active *active; // bounds at which the point stands
    int active_count;
    int iterations; // accepted steps
    int starts;     // solves, 1 + further starts
    double seconds;
    pl_model_costs costs; // of this solve
} pl_ik_report;

// A reusable problem: all memory is taken here. Keeps references to `model` and to the arrays of `objective`
// (point, share); targets and places are copied. A command that is neither held nor has a range or bounds is
// refused. Uses the model's slots 0 to 2.
typedef struct pl_ik pl_ik;
PL_API pl_status pl_ik_create(pl_model *model, const pl_objective *objective, int objective_count,
                              const pl_ik_options *options, pl_ik **out, pl_error *err);
PL_API void pl_ik_destroy(pl_ik *ik);
PL_API pl_model *pl_ik_model(const pl_ik *ik);

// New targets for objective i: `target` has 3 values (position, direction, distance, orthogonality), 9
// (orientation), 3 per point (shape), 1 (curvature, sensor, effort) or one per command (command).
PL_API pl_status pl_ik_set_target(pl_ik *ik, int i, const double *target, pl_error *err);
// Radius of a distance; curvature, sensor, effort.
PL_API pl_status pl_ik_set_value(pl_ik *ik, int i, double value, pl_error *err);
PL_API pl_status pl_ik_set_weight(pl_ik *ik, int i, double weight, pl_error *err); // > 0
PL_API void pl_ik_set_period(pl_ik *ik, double period); // s, for the rates; not > 0: no change
PL_API void pl_ik_set_start_limit(pl_ik *ik, int starts);

// Commands and where they brought the markers: a stored workspace. Borrowed.
typedef struct pl_samples {
    int count;
    const double *command; // command_count per sample, internal units
    const double *marker;  // 3 marker_count per sample, mm
} pl_samples;
// Further starts of a solve that did not reach come from the samples whose markers are nearest to the goals.
PL_API void pl_ik_set_samples(pl_ik *ik, const pl_samples *samples); // NULL: none; must outlive the solves
// The k-th nearest sample to the goals as they are (k = 0 nearest); -1 when there is none, or no goal is a
// position or distance.
PL_API int pl_ik_nearest_sample(pl_ik *ik, int k);

// Solves from where the model stands (idle commands start at their rest value), or from `start` (one per
// command) when given. Rates count from where the model stands. The model is left at the command reported,
// which keeps all bounds: every outcome but PL_IK_INFEASIBLE, PL_IK_FORWARD and PL_IK_STOPPED promises it.
// Not reaching is an outcome.
PL_API pl_status pl_ik_solve(pl_ik *ik, const double *start, pl_ik_report *report, pl_error *err);
// Deviation |d| of objective i at the solution, in its own unit; NAN when there is no such objective.
PL_API double pl_ik_deviation(const pl_ik *ik, int i);
// Number of weighted deviations and, where the model stands, their values and exact Jacobian (row-major, one
// column per command; held and idle ones 0), for tests and other solvers. Least motion is not among them.
PL_API int pl_ik_residual_count(const pl_ik *ik);
PL_API pl_status pl_ik_residual(pl_ik *ik, double *residual, double *jacobian, pl_error *err);

// ---- paths
typedef enum pl_path_kind {
    PL_PATH_CIRCLE, // diameter size[0]
    PL_PATH_EIGHT,  // lemniscate, width size[0], height size[1]
    PL_PATH_FLOWER, // five petals, outer diameter size[0]
    PL_PATH_SQUARE, // rectangle size[0] by size[1]
    PL_PATH_ELL,    // the letter L: down size[1], right size[0]; open
    PL_PATH_FLAME,  // a flame: width size[0], height size[1]; closed
    PL_PATH_LINE,   // along the first axis, length size[0]; open
    PL_PATH_BOX,    // edges of a box size[0] x size[1] x size[2]: bottom, up, top, down; closed
    PL_PATH_KIND_COUNT
} pl_path_kind;
PL_API const char *pl_path_name(pl_path_kind kind);
PL_API pl_path_kind pl_path_find(const char *name); // PL_PATH_KIND_COUNT: none

typedef struct pl_path_def {
    pl_path_kind kind;
    double centre[3];  // mm, of the bounding box in the path's axes; of a flower its own
    double size[3];    // mm; 0 in size[1], size[2]: as size[0]
    double x[3], y[3]; // the path's first two axes; made orthonormal
    int count;         // points, equally far apart along the path; closed paths do not repeat the first
} pl_path_def;
PL_API pl_path_def pl_path_default(pl_path_kind kind); // in the xy plane about the origin, size 20, 60 points
PL_API bool pl_path_is_closed(pl_path_kind kind);
// 3 count numbers.
PL_API pl_status pl_path_points(const pl_path_def *def, double *point, pl_error *err);
// `out_count` points equally far apart along the polyline, ends kept (closed: from the first point around).
PL_API pl_status pl_path_resample(const double *point, int count, bool closed, int out_count, double *out,
                                  pl_error *err);

// One waypoint of a motion; borrowed during the callback.
typedef struct pl_waypoint {
    int index;
    double time;          // s
    const double *target; // 3, when the path is made of points; else NULL
    const double *command;
    double command_step;    // largest change of a command since the waypoint before, in parts of its range
    pl_model_answer answer; // the model at the waypoint
    const pl_ik_report *ik;
} pl_waypoint;

typedef struct pl_follow_options {
    int objective; // gets the points as targets (position or distance)
    // Sets the targets of waypoint i instead; NULL: the points.
    pl_status (*set)(void *user, pl_ik *ik, int i, pl_error *err);
    bool (*record)(void *user, const pl_waypoint *waypoint); // false: stop; NULL: none
    void *user;
    bool extrapolate; // start from the line through the two commands before
    bool free_start;  // rates do not bind the way to the first waypoint
    const pl_samples
        *samples;  // the first waypoint starts from the nearest; NULL: from where the model stands
    double period; // s between waypoints
} pl_follow_options;
PL_API pl_follow_options pl_follow_options_default(void);

typedef struct pl_follow_report {
    int count, reached; // waypoints computed, those with all goals met
    bool stopped;
    double largest_distance; // mm, over all waypoints
    double largest_reached;  // mm, over those reached
    double largest_step;     // largest change of a command between waypoints, in parts of its range
    int largest_step_at, largest_step_command;
    pl_model_costs costs;
    double seconds;
} pl_follow_report;
// Goes through `count` waypoints, each from the one before, keeping all bounds and rates. A waypoint that
// cannot be reached gives the nearest point. `point`: 3 per waypoint; NULL with `set`.
PL_API pl_status pl_follow(pl_ik *ik, const double *point, int count, const pl_follow_options *options,
                           pl_follow_report *report, pl_error *err);

// ---- workspace
typedef enum pl_workspace_order { PL_WORKSPACE_GRID, PL_WORKSPACE_HALTON } pl_workspace_order;
typedef struct pl_workspace_def {
    pl_workspace_order order;
    int count;        // halton: samples
    const int *steps; // grid: values per command, at least 1 (1: the middle); NULL: `count` to the power
                      // 1/commands, at least 2
    const double *low, *high; // per command; NULL or NAN: the robot's range
} pl_workspace_def;
// The commands to visit, in an order that keeps steps small: grids back and forth, low-discrepancy points
// along a short walk. The same def gives the same plan, so a run can go on at any sample.
typedef struct pl_workspace_plan {
    int count, command_count;
    double *command;
} pl_workspace_plan;
PL_API pl_status pl_workspace_plan_init(const pl_model *model, const pl_workspace_def *def,
                                        pl_workspace_plan *plan, pl_error *err);
PL_API void pl_workspace_plan_clear(pl_workspace_plan *plan);
typedef struct pl_workspace_sample {
    int index;
    const double *command;
    pl_model_answer answer;
    const pl_statics_report *fk; // outcome PL_SOLVED: the sample counts
} pl_workspace_sample;
// Visits samples first .. count-1; `record` gets each and may end the run by returning false. A sample whose
// equilibrium is not found from its neighbour is tried from rest.
PL_API pl_status pl_workspace_run(pl_model *model, const pl_workspace_plan *plan, int first,
                                  bool (*record)(void *user, const pl_workspace_sample *sample), void *user,
                                  pl_error *err);

// Convex hull of points (3 each). dimension 3: volume and area of its surface; 2: all points in a plane, area
// of the polygon; 1: on a line, length; 0: one point.
typedef struct pl_hull {
    int dimension;
    double volume, area, length; // mm^3, mm^2, mm
    int facet_count, vertex_count;
} pl_hull;
PL_API pl_status pl_hull_measure(const double *point, int count, pl_hull *hull, pl_error *err);
// Index of the point nearest to `at`; -1 without points. `stride` doubles from point to point.
PL_API int pl_nearest_point(const double *point, int count, int stride, const double at[3]);

// ---- tasks: stages, each an inverse kinematics problem that continues the one before
typedef struct pl_task_stage {
    const char *name;
    const pl_objective *objective;
    int objective_count;
    const bool *hold; // per command: not moved in this stage; NULL: all move
    int steps;        // on the way from the stage before, at least 1
    // When `moves`, the target of objective 0 goes from `from` to its target in `steps` equal parts.
    bool moves;
    double from[3];
} pl_task_stage;
typedef struct pl_task_step {
    int stage, step;
    const char *name;
    const double *command;
    pl_model_answer answer;
    const pl_ik_report *ik;
} pl_task_step;
// Runs all stages. `record` sees every step and may end the task by returning false. `report`, one per stage,
// may be NULL: its pointers are not kept (NULL).
PL_API pl_status pl_task_run(pl_model *model, const pl_task_stage *stage, int stage_count,
                             const pl_ik_options *options,
                             bool (*record)(void *user, const pl_task_step *step), void *user,
                             pl_ik_report *report, pl_error *err);

// Pick, grasp and place of a round object by a planar arm (thesis of Fang, section 4.4): reach the circle of
// radius R + d about the object with the marker's normal orthogonal to the line to its centre (4.5), bend the
// end segment to the object's curvature 1/R (4.7), take it along to the new place.
typedef struct pl_grasp_def {
    int marker;             // P0, at the root of the end segment
    double normal[3];       // the marker's normal at rest
    double object[3];       // P1, mm
    double radius;          // R, mm
    double clearance;       // d, mm: half the width of the segment
    double orthogonality;   // weight of the cosine beside mm
    const int32_t *segment; // body points along the end segment
    int32_t segment_count;
    double curl_axis[3];     // signed curvature about this axis, see pl_fit_curvature; 0 0 0: unsigned
    double curl;             // 1: bend to +1/R about the axis, -1: the other way
    const bool *end_command; // per command: bends the end segment
    double place[3];         // where the object goes
    int steps;               // on the way there
} pl_grasp_def;
#define PL_GRASP_STAGES 3
#define PL_GRASP_OBJECTIVES 4
// Fills three stages that refer to `objective` and `hold` (2 command_count entries), which the caller keeps.
PL_API pl_status pl_task_grasp(const pl_model *model, const pl_grasp_def *def,
                               pl_objective objective[PL_GRASP_OBJECTIVES], bool *hold,
                               pl_task_stage stage[PL_GRASP_STAGES], pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
