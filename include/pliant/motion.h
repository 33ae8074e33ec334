// Motions of any model: paths and path following, workspaces, tasks, sweeps and comparisons.
#ifndef PLIANT_MOTION_H
#define PLIANT_MOTION_H

#include "pliant/inverse.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- paths
typedef enum pl_path_kind {
    PL_PATH_CIRCLE, // diameter size[0]
    PL_PATH_EIGHT,  // lemniscate, width size[0], height size[1]
    PL_PATH_FLOWER, // five petals, outer diameter size[0]
    PL_PATH_SQUARE, // rectangle size[0] by size[1]
    PL_PATH_ELL,    // the shape of an L: down size[1], right size[0]; open
    PL_PATH_FLAME,  // a flame: width size[0], height size[1]; closed
    PL_PATH_LINE,   // along the first axis, length size[0]; open
    PL_PATH_BOX,    // edges of a box size[0] x size[1] x size[2]: bottom, up, top, down; closed
    PL_PATH_KIND_COUNT
} pl_path_kind;

PL_API const char *pl_path_name(pl_path_kind kind);
PL_API pl_path_kind pl_path_find(const char *name); // PL_PATH_KIND_COUNT: none

typedef struct pl_path_def {
    pl_path_kind kind;
    double centre[3];  // mm, centre of the bounding box in the axes of the path; of a flower its own centre
    double size[3];    // mm; 0 in size[1], size[2]: same as size[0]
    double x[3], y[3]; // first two axes of the path; orthonormalised
    int count;         // equally spaced points along the path; closed paths do not repeat the first
} pl_path_def;

PL_API pl_path_def pl_path_default(pl_path_kind kind); // in the xy plane about the origin, size 20, 60 points
PL_API bool pl_path_is_closed(pl_path_kind kind);

// 3 count numbers.
PL_API_CHECKED pl_status pl_path_points(const pl_path_def *def, double *point, pl_error *err);

// `out_count` equally spaced points along the polyline, including its ends (closed: starting at the first
// point).
PL_API_CHECKED pl_status pl_path_resample(const double *point, int count, bool closed, int out_count,
                                          double *out, pl_error *err);

// One waypoint of a motion, or one step of a task; borrowed during the callback.
typedef struct pl_waypoint {
    int index;            // a task: of the step within its stage
    int stage;            // a task: of the stage
    const char *name;     // a task: of the stage; otherwise NULL
    double time;          // s; a task: 0
    const double *target; // 3, if the path is given by points; otherwise NULL
    const double *command;
    pl_model_answer answer; // the model at the waypoint
    const pl_ik_report *ik;
} pl_waypoint;

typedef struct pl_follow_options {
    int objective; // gets the points as targets (position or distance)
    // Sets the targets of waypoint i instead; NULL: the points.
    pl_status (*set)(void *user, pl_ik *ik, int i, pl_error *err);
    bool (*record)(void *user, const pl_waypoint *waypoint); // false: stop; NULL: none
    void *user;
    bool extrapolate; // start by linear extrapolation of the two previous commands
    bool free_start;  // rates do not limit the motion to the first waypoint
    const pl_samples
        *samples;  // the first waypoint starts from the nearest sample; NULL: from the current state
    double period; // s between waypoints
} pl_follow_options;

PL_API pl_follow_options pl_follow_options_default(void);

typedef struct pl_follow_report {
    int count, reached;         // waypoints computed, those with all goals met
    int uncertain;              // those met by a surrogate only (PL_IK_UNCERTAIN)
    double largest_model_error; // mm, as pl_ik_report; NAN: not known at one of them
    bool stopped;
    double largest_distance; // mm, over all waypoints
    double largest_reached;  // mm, over those reached
    double largest_step;     // largest change of a command between waypoints, relative to its range
    int largest_step_at, largest_step_command;
    pl_model_costs costs;
    double seconds;
} pl_follow_report;

// Solves `count` waypoints, each starting from the previous one, within all bounds and rates. For a waypoint
// that cannot be reached, the nearest reachable point is used. `point`: 3 per waypoint; NULL with `set`.
PL_API_CHECKED pl_status pl_follow(pl_ik *ik, const double *point, int count,
                                   const pl_follow_options *options, pl_follow_report *report, pl_error *err);

// One solution of a workspace, a data set or a sweep; borrowed during the callback.
typedef struct pl_sample {
    int index;
    const double *command; // as given
    pl_model_answer answer;
    const pl_solve_report *fk;             // the sample counts if the outcome is PL_SOLVED
    bool cold;                             // a workspace: solved from the undeformed configuration because
                                           // starts from the sample before were dearer
    const pl_model_derivative *derivative; // a data set: NULL: not computed
    const double *shape;                   // a data set: positions of the vertices that are drawn, or NULL
    int32_t shape_count;
} pl_sample;

// ---- workspace
typedef enum pl_workspace_order { PL_WORKSPACE_GRID, PL_WORKSPACE_HALTON } pl_workspace_order;

typedef struct pl_workspace_def {
    pl_workspace_order order;
    int count;        // halton: samples
    const int *steps; // grid: values per command, at least 1 (1: the middle); NULL: `count` to the power
                      // 1/commands, at least 2
    const double *low, *high; // per command; NULL or NAN: the robot's range
    bool ends; // halton: begin with the ends of the ranges: all low and all high, each alone, all corners, as
               // far as they are no more than half of the samples (the first two always)
} pl_workspace_def;

// The commands of all samples, in an order with small steps: grids back and forth, low-discrepancy points
// along a short walk. The same def gives the same plan, so a run can be resumed at any sample.
typedef struct pl_workspace_plan {
    int count, command_count;
    double *command;
} pl_workspace_plan;

PL_API_CHECKED pl_status pl_workspace_plan_init(const pl_model *model, const pl_workspace_def *def,
                                                pl_workspace_plan *plan, pl_error *err);
PL_API void pl_workspace_plan_clear(pl_workspace_plan *plan);

// Solves samples first .. count-1; `record` is called for each and may end the run by returning false. A
// sample starts from the one before; from the undeformed configuration where that failed, or where starts
// from the sample before have cost more factorisations and solves on average.
PL_API_CHECKED pl_status pl_workspace_run(pl_model *model, const pl_workspace_plan *plan, int first,
                                          bool (*record)(void *user, const pl_sample *sample), void *user,
                                          pl_error *err);

// ---- data sets: samples with derivatives and shapes, in chains
typedef struct pl_sample_options {
    bool jacobians, shapes;
    const char *done;    // one per sample of the plan: not 0: stored already; NULL: none is
    const double *fresh; // state of the model when it was created (pl_model_pack): chains then agree to the
                         // last bit in any order; NULL: reset
    // Iterations that a solve of one sample may take, so that those without a solution do not take most of
    // the time. 0: PL_SAMPLE_LIMIT times the median of the samples of the chain solved before, at least
    // PL_SAMPLE_LIMIT_LEAST; negative: as many as the solver allows. Counts, not seconds: the result does not
    // depend on the machine.
    int limit_each;
    bool (*record)(void *user, const pl_sample *sample); // false: stop
    void *user;
} pl_sample_options;
#define PL_SAMPLE_LIMIT 8
#define PL_SAMPLE_LIMIT_LEAST 60

// Solves the samples from .. to-1 of a plan, beginning at the undeformed configuration, each from the one
// before: the result does not depend on what was solved earlier. Samples that are done are solved again only
// if one behind them is missing, and are not recorded. A sample that cannot be solved from its neighbour is
// tried from the undeformed configuration; failures are recorded with their outcome.
PL_API_CHECKED pl_status pl_sample_chain(pl_model *model, const double *command, int from, int to,
                                         const pl_sample_options *options, pl_error *err);

// Convex hull of points (3 each). dimension 3: volume and area of its surface; 2: all points in a plane, area
// of the polygon; 1: on a line, length; 0: one point.
typedef struct pl_hull {
    int dimension;
    double volume, area, length; // mm^3, mm^2, mm
    int facet_count, vertex_count;
} pl_hull;

PL_API_CHECKED pl_status pl_hull_measure(const double *point, int count, pl_hull *hull, pl_error *err);

// ---- sweeps: commands varied from one value to another
#define PL_SWEEP_AXES 8
#define PL_SWEEP_POINTS 1000000
typedef struct pl_sweep_axis {
    int command;
    double from, to; // internal units
    int count;       // points, at least 1
} pl_sweep_axis;

typedef struct pl_sweep_def {
    const pl_sweep_axis *axis;
    int axis_count;
    bool grid; // all combinations, the last axis varying fastest; false: all axes together
    const double
        *command; // values of the commands that are not varied, one per command (NAN: idle); NULL: idle
    // Instead of axes: rows of command_count values each (NAN: idle), solved in their order. `fresh` (one per
    // row, may be NULL): a row before which the model is reset.
    const double *table;
    const bool *fresh;
    int table_count;
} pl_sweep_def;

typedef struct pl_sweep_report {
    int count, solved; // points recorded, those solved
    bool stopped;      // before the last point
} pl_sweep_report;

// Checks the axes and counts the points.
PL_API_CHECKED pl_status pl_sweep_count(const pl_model *model, const pl_sweep_def *def, int *count,
                                        pl_error *err);

// Solves every point starting from its nearest solved neighbour: the previous point, or in a grid the
// beginning of the previous line. `begin` (may be NULL) is called before a point, `record` after it; either
// ends the sweep by returning false. A point interrupted by the progress callback of the model gives no
// result and ends the sweep.
PL_API_CHECKED pl_status pl_sweep_run(pl_model *model, const pl_sweep_def *def,
                                      bool (*begin)(void *user, int index, int count),
                                      bool (*record)(void *user, const pl_sample *point), void *user,
                                      pl_sweep_report *report, pl_error *err);

// ---- comparisons: several methods for a full body at the same commands
#define PL_COMPARE_ROWS 8
typedef struct pl_compare_def {
    const pl_robot *linear; // the same robot with linear elements, for the exact method on the corner mesh;
                            // NULL: none (not needed if the robot has linear elements)
    const char *const *method; // of "exact" (two rows where `linear` is given), "local_global", "fang2020"
    int method_count;
    const double *command;                         // one per command; NAN: idle
    double time_limit;                             // s per method; 0: as in the robot file
    pl_progress progress;                          // of solves; may stop them
    void (*begin)(void *user, const char *method); // called before each; may be NULL
    void *user;
} pl_compare_def;

typedef struct pl_compare_row {
    const char *name;   // "exact, quadratic", "exact, corners", "local_global", "fang2020"
    const char *method; // as given
    bool corners;       // solved on the corner mesh
    pl_solve_report report;
    double tip[3];         // mm, of the first marker; NAN: there is none
    double *ratio, *asked; // per actuator: reached, and prescribed (NAN: idle, or driven by an effort)
    double *x;             // 3 per vertex of the corner mesh
    double from_corners;   // mm, largest vertex distance from the exact shape on the corner mesh; NAN: none
    double mean_corners;   // mm, mean distance from it
    double from_quadratic; // mm, largest vertex distance from the exact shape on the quadratic mesh
} pl_compare_row;

typedef struct pl_comparison {
    pl_mesh *corner; // the mesh of the robot without mid nodes
    bool quadratic;  // the robot has mid nodes
    bool alike; // `linear` has the vertices of the corner mesh; otherwise only markers could be compared, and
                // it is omitted
    pl_compare_row row[PL_COMPARE_ROWS];
    int row_count;
} pl_comparison;

PL_API void pl_comparison_clear(pl_comparison *comparison); // also after a failure

// Histogram of the largest principal strain of the elements, in % of the volume of the body: `bins` of equal
// width up to the strain that 99.5 % of the volume do not exceed in any row; the last bin contains the rest.
// `middle`: bins numbers; `share`: bins per row.
PL_API_CHECKED pl_status pl_comparison_strains(const pl_comparison *comparison, int bins, double *middle,
                                               double *share, pl_error *err);

// Distance (mm) between a marker of one model and the marker of the same name of another, at their current
// states; NAN if the other has none.
PL_API double pl_compare_marker(const pl_model *model, int marker, const pl_model *other);

#ifdef __cplusplus
}
#endif
#endif
