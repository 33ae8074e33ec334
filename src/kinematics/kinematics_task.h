// Tasks as stages, for the rooms right of kinematics: programs run task files (pliant/analysis.h).
#ifndef PL_KINEMATICS_TASK_H
#define PL_KINEMATICS_TASK_H

#include "pliant/motion.h"

#define PL_GRASP_STAGES 3
#define PL_GRASP_OBJECTIVES 4

// Index of the point nearest to `at`; -1 without points. `stride` doubles from point to point.
int pl_nearest_point(const double *point, int count, int stride, const double at[3]);

// ---- tasks: stages, each an inverse kinematics problem that starts where the previous one ended
typedef struct pl_task_stage {
    const char *name;
    const pl_objective *objective;
    int objective_count;
    const bool *hold; // per command: constant in this stage; NULL: none
    int steps;        // from the previous stage, at least 1
    // If `moves`, the target of objective 0 moves from `from` to its target in `steps` equal parts.
    bool moves;
    double from[3];
} pl_task_stage;

// Runs all stages. `record` is called for every step and may end the task by returning false. `report` (one
// per stage) may be NULL; its pointers are set to NULL.
pl_status pl_task_run(pl_model *model, const pl_task_stage *stage, int stage_count,
                      const pl_ik_options *options, bool (*record)(void *user, const pl_waypoint *step),
                      void *user, pl_ik_report *report, pl_error *err);

// Pick, grasp and place of a round object by a planar arm (Fang 2022, thesis, section 4.4): reach the circle
// of radius R + d around the object with the normal of the marker orthogonal to the line to the centre (4.5),
// bend the end segment to the curvature 1/R of the object (4.7), carry it to the new position.
typedef struct pl_grasp_def {
    int marker;             // P0, at the root of the end segment
    double normal[3];       // normal of the marker, undeformed
    double object[3];       // P1, mm
    double radius;          // R, mm
    double clearance;       // d, mm: half the width of the segment
    double orthogonality;   // weight of the cosine, mm
    const int32_t *segment; // body points along the end segment
    int32_t segment_count;
    double curl_axis[3];     // signed curvature about this axis, see pl_fit_curvature; 0 0 0: unsigned
    double curl;             // 1: bend to +1/R about the axis, -1: to -1/R
    const bool *end_command; // per command: bends the end segment
    double place[3];         // new centre of the object
    int steps;               // from the old to the new centre
} pl_grasp_def;

// Fills three stages that refer to `objective` and `hold` (2 command_count entries), which the caller owns.
pl_status pl_task_grasp(const pl_model *model, const pl_grasp_def *def,
                        pl_objective objective[PL_GRASP_OBJECTIVES], bool *hold,
                        pl_task_stage stage[PL_GRASP_STAGES], pl_error *err);

#endif
