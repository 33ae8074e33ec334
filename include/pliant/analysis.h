// Computations over many solves: studies of variants of a robot file, task files run on a robot, comparisons
// of methods, models on coarser meshes.
#ifndef PLIANT_ANALYSIS_H
#define PLIANT_ANALYSIS_H

#include "pliant/document.h"
#include "pliant/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- coarse models
// A model of the same robot on a coarser mesh of the same elements, for previews: twice the edge length
// (shells: up to four times) if that has less than half the vertices. *out is NULL if there is no benefit:
// small meshes, meshes determined by thin walls, models without a mesh.
PL_API_CHECKED pl_status pl_model_coarse_from_document(const pl_robot_document *document,
                                                       const pl_model_load_options *options,
                                                       const pl_model *fine, pl_model **out, pl_error *err);

// ---- comparisons
// Solves with each method, with the options that the document has for it. Methods that accept volumes but not
// pressures are given the volume reached by the exact method, if it comes before them.
PL_API_CHECKED pl_status pl_compare_methods(const pl_robot_document *document, const pl_robot *robot,
                                            const pl_compare_def *def, pl_comparison *out, pl_error *err);

// ---- studies over variants of a robot file
// A value of a robot file by its key, written in YAML (pl_robot_document_set), or a command of the robot.
typedef struct pl_variation {
    const char *path, *value;
} pl_variation;

// One thing that is varied: a command of the robot, or a value of its file.
typedef struct pl_study_axis {
    char *name;
    char **value; // with units
    int count;
} pl_study_axis;

// Reads "NAME=FROM:TO:COUNT" (ends included) or "NAME=A,B,C".
PL_API_CHECKED pl_status pl_study_axis_parse(const char *text, pl_study_axis *axis, pl_error *err);
PL_API void pl_study_axis_clear(pl_study_axis *axis);

typedef struct pl_study_def {
    const pl_robot_document *document; // the robot file, as it is
    pl_model_load_options load;        // `load.progress` and `progress` are the study's
    const pl_study_axis *axis;         // all combinations are solved, the last axis varying fastest
    int axis_count;
    const pl_variation *set; // commands and values that stay the same
    int set_count;
    const char *marker; // of stiffness and blocked force; NULL: the first
    bool stiffness;     // of the marker under a force on it, from the exact compliance
    bool blocked;       // the force the marker exerts where it is held at its undeformed position
    int blocked_axis;   // 1, 2, 3: held along x, y or z alone, as by a load cell it slides on; 0: along all
    int worker_count;   // variants solved at the same time; 0: one per processor
    bool beyond_range;  // commands may be outside of their ranges; otherwise such points are not solved
    const char *store; // a table that every row is added to at once, and read from at the next start; or NULL
    pl_progress progress; // called from the caller's thread
} pl_study_def;
#define PL_STUDY_AXES 8
#define PL_STUDY_POINTS 100000

typedef struct pl_study {
    int axis_count, count, quantity_count;
    char **axis;      // names
    char **setting;   // axis_count per point: the values, with units
    char **quantity;  // "tip.x [mm]"
    double *value;    // quantity_count per point; NAN: none
    char **outcome;   // per point: "solved", why not, or NULL: not reached
    int done, solved; // points with an outcome, those solved
    int kept;         // points that were in the store
} pl_study;

// Solves all points that are not in the store. Points that cannot be solved, and variants that cannot be
// built, have their reason in `outcome`. The status is PL_INTERRUPTED if the progress callback stopped it;
// the study then holds what was solved so far.
PL_API_CHECKED pl_status pl_study_run(const pl_study_def *def, pl_study *out, pl_findings *findings,
                                      pl_error *err);
PL_API void pl_study_clear(pl_study *study);

// ---- task files (YAML)
typedef struct pl_task_file pl_task_file;

// All defects are reported as findings with their lines; `err` repeats the first one.
PL_API_CHECKED pl_status pl_task_read(const char *path, pl_task_file **out, pl_findings *findings,
                                      pl_error *err);
PL_API void pl_task_file_destroy(pl_task_file *file);           // NULL is fine
PL_API const char *pl_task_file_name(const pl_task_file *file); // NULL if it has none
PL_API int pl_task_file_stage_count(const pl_task_file *file);
PL_API const char *pl_task_file_stage_name(const pl_task_file *file, int stage); // default: of its action

// A task file on a robot. The model, the file and its path must outlive the job. `marker`: of moves that name
// none, -1: they are refused. Messages begin with the path and the line.
#define PL_TASK_STEPS 1000000 // of all stages
typedef struct pl_task_job pl_task_job;
PL_API_CHECKED pl_status pl_task_job_create(pl_model *model, const pl_task_file *file, const char *path,
                                            int marker, pl_task_job **out, pl_error *err);
PL_API void pl_task_job_destroy(pl_task_job *job);
PL_API int pl_task_job_steps(const pl_task_job *job);   // of all stages
PL_API int pl_task_job_gripper(const pl_task_job *job); // marker of the gripper, -1: none

// Runs one stage of the file from where the model stands; `record` as in pl_task_run.
PL_API_CHECKED pl_status pl_task_job_run(pl_task_job *job, int item, const pl_ik_options *options,
                                         bool (*record)(void *user, const pl_waypoint *step), void *user,
                                         pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
