// Files for motions. Input: paths, target shapes, task files. Output: tables, reports, G-code and pressure
// tables. Stored workspaces. Every file is written under a temporary name next to the target and then
// renamed.
#ifndef PLIANT_REPORT_H
#define PLIANT_REPORT_H

#include "pliant/io.h"
#include "pliant/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- the record of a result as text; NULL: no memory. Free with pl_file_free
// JSON object with the keys of `pliant fk --json`; numbers that do not exist are null. Readings come by
// group: "springs": {"s1": {"tension": 1.2, "length": 20}}. `findings` (may be NULL) become "warnings".
PL_API char *pl_record_json(const pl_record *record, const pl_findings *findings);
// Columns with units, and one row; both end with a newline. Empty cells: no number. Forces at the markers
// (pl_model_set_forces) have columns where some act.
PL_API char *pl_record_csv_head(const pl_record *record);
PL_API char *pl_record_csv_row(const pl_record *record);

// ---- paths: one waypoint per row
// Columns x, y, z by name (with a unit: "x [mm]", "y [cm]"), or the first three of a file without a header
// line. Optional columns: t (time), nx ny nz (direction of the marker's axis), rx ry rz (rotation vector of
// the marker from the undeformed configuration). Separated by commas, semicolons, tabs or blanks; `#` begins
// a comment.
typedef struct pl_path_file {
    int count;
    double *point;     // 3 per waypoint, mm
    double *direction; // 3 per waypoint, or NULL
    double *rotation;  // 3 per waypoint, rad, or NULL
    double *time;      // s, ascending, or NULL
} pl_path_file;
PL_API pl_status pl_path_read(const char *path, pl_path_file *out, pl_error *err);
PL_API void pl_path_clear(pl_path_file *file);

// ---- target shapes: target positions of body points
typedef struct pl_shape_target {
    int32_t count;
    int32_t *point; // body points
    double *place;  // 3 each, mm
} pl_shape_target;
// A table with columns x, y, z and either `point` (index of a body point) or x0, y0, z0 (its undeformed
// position; the nearest body point within `reach` mm is taken).
PL_API pl_status pl_shape_target_read(const char *path, const double *rest, int32_t point_count, double reach,
                                      pl_shape_target *out, pl_error *err);
PL_API void pl_shape_target_clear(pl_shape_target *target);

// ---- a motion: the results along a path, waypoint by waypoint
typedef struct pl_motion {
    pl_model_info info; // borrowed from the model, which must outlive the motion
    int marker;         // the marker that follows the path
    int count, capacity;
    double *time;        // s
    double *target;      // 3 each, mm; NAN if there is none
    double *position;    // 3 each, of the marker
    double *distance;    // mm, to the target
    double *model_error; // mm, of the marker, as pl_answer_error; NAN: not known
    double *confidence;  // of it
    bool surrogate;      // the model has an error of its own
    double *command, *effort, *measure;
    bool *reached;
    pl_ik_outcome *outcome;
    int64_t *factorizations, *solves;
} pl_motion;
PL_API void pl_motion_init(pl_motion *motion, const pl_model *model, int marker);
// `target` is NULL if there is none; `ik` is NULL if the commands were given instead of computed.
PL_API pl_status pl_motion_add(pl_motion *motion, double time, const double *target,
                               const pl_model_answer *answer, const pl_ik_report *ik, pl_error *err);
PL_API void pl_motion_clear(pl_motion *motion);
// Assigns times such that no command exceeds its rate (per command, internal units per second; NAN or 0: no
// limit): each waypoint follows the previous one after `least` seconds, or later if a command needs longer.
// The first is at 0.
PL_API void pl_motion_schedule(pl_motion *motion, const double *rate, double least);
PL_API pl_status pl_motion_write_csv(const pl_motion *motion, const char *path, pl_error *err);
// Time (s) and gauge pressure (kPa) of every chamber, for a valve terminal. Rows with a pressure below 0 are
// treated as `hardware: below_zero` of the chamber says: refused with their numbers (also if it says
// nothing), written as 0, or kept. `changed` (may be NULL) receives a warning per chamber that names the rows
// changed. Row 0 is the first after the head. Between 0 and -1 Pa is taken as the solver's tolerance, and
// written as 0.
PL_API pl_status pl_motion_write_pressures(const pl_motion *motion, const char *path, pl_findings *changed,
                                           pl_error *err);
// G-code for Marlin: one synchronised move per waypoint, one axis per actuator as given in the robot's
// `hardware` block, with a feed rate that respects the feed limit of every axis, the rate of every actuator
// and the times of the motion. A syringe may pull its chamber below 0 unless `below_zero` of its hardware
// says otherwise: `refuse` refuses the motion, `clip` stops the axis at its rest position; `changed` (may be
// NULL) and the head of the file name the waypoints changed.
PL_API pl_status pl_motion_write_gcode(const pl_motion *motion, const pl_model *model, const char *path,
                                       pl_findings *changed, pl_error *err);
// The same moves one by one, for a machine that is driven while the commands are computed. The axes are taken
// to stand at their rest positions at first. *line (with its end of line) holds until the next call; `answer`
// gives the lengths, volumes and pressures that go with `command`.
typedef struct pl_gcode pl_gcode;
PL_API pl_status pl_gcode_create(const pl_model *model, pl_gcode **out, pl_error *err);
PL_API void pl_gcode_destroy(pl_gcode *gcode);
PL_API const char *pl_gcode_setup(const pl_gcode *gcode); // lines to send first: units, absolute positions
PL_API pl_status pl_gcode_move(pl_gcode *gcode, const double *command, const pl_model_answer *answer,
                               double seconds, const char **line, pl_error *err);

// ---- the log of a run, row by row, by the extension of its name: .csv, written whole when it is closed, or
// .sqlite (.db), a table `ticks` with these columns that is committed at least once a second.
typedef struct pl_run_log pl_run_log;
PL_API pl_status pl_run_log_open(const char *path, const char *const *column, int column_count,
                                 pl_run_log **out, pl_error *err);
PL_API pl_status pl_run_log_add(pl_run_log *log, const double *value, pl_error *err); // NAN: an empty cell
PL_API pl_status pl_run_log_close(pl_run_log *log, pl_error *err);                    // also after an error
// Reads a .sqlite log, also while it grows: at most `limit` rows from row `from` (counted from 0) on, as CSV
// with the line of names first (release with pl_file_free); *rows gets their number, *total that of all rows.
// PL_BAD_FILE if there is no such log yet. May be called from any thread.
PL_API pl_status pl_run_log_read(const char *path, int64_t from, int64_t limit, char **csv, int64_t *rows,
                                 int64_t *total, pl_error *err);

// A report of the motion as one self-contained HTML file: a picture of the robot, the path (in the planes in
// which it extends), errors, commands, efforts that are not the commands themselves, a table. `fact` are
// pairs of a name and a text.
typedef struct pl_report_def {
    const char *title;
    const char *const (*fact)[2];
    int fact_count;
    const pl_picture *picture; // of the robot, or NULL
    bool axes[3];              // coordinates of the target that count; all false: all
} pl_report_def;
PL_API pl_status pl_motion_write_html(const pl_motion *motion, const pl_report_def *def, const char *path,
                                      pl_error *err);

// ---- stored workspaces (SQLite): commands and the resulting marker positions, saved sample by sample, so
// that an aborted run loses nothing. A file belongs to one robot and one kind of model; it may contain
// several samplings.
typedef struct pl_store pl_store;
// Opens or creates the file. `settings` identifies a sampling (the same text continues the same samples);
// NULL opens an existing file for reading. The file of another robot is refused.
PL_API pl_status pl_store_open(const char *path, const pl_model *model, const char *settings, pl_store **out,
                               pl_error *err);
PL_API void pl_store_close(pl_store *store);
PL_API int pl_store_next(const pl_store *store); // index of the first missing sample of this sampling
PL_API pl_status pl_store_put(pl_store *store, const pl_workspace_sample *sample, pl_error *err);
typedef struct pl_store_samples {
    int count; // all solved samples, of every sampling (if opened with settings: of this one)
    double *command, *marker, *effort;
    double
        *model_error;  // of a surrogate: per sample and marker, mm, as pl_answer_error; NULL: not a surrogate
    double confidence; // of model_error
} pl_store_samples;
PL_API pl_status pl_store_read(pl_store *store, pl_store_samples *out, pl_error *err);
PL_API void pl_store_samples_clear(pl_store_samples *samples);
// Fills in model_error of a surrogate by solving it at the commands of the samples: its errors are not
// stored, because they change when they are measured again. Nothing for other models.
PL_API pl_status pl_samples_model_error(pl_store_samples *samples, pl_model *model, pl_error *err);
// The samples as a table, or for ParaView as points with the commands as data.
PL_API pl_status pl_samples_write_csv(const pl_store_samples *samples, const pl_model *model,
                                      const char *path, pl_error *err);
PL_API pl_status pl_samples_write_vtu(const pl_store_samples *samples, const pl_model *model, int marker,
                                      const char *path, pl_error *err);

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
PL_API pl_status pl_study_axis_parse(const char *text, pl_study_axis *axis, pl_error *err);
PL_API void pl_study_axis_clear(pl_study_axis *axis);

typedef struct pl_study_def {
    const char *path;           // of the robot file
    pl_model_load_options load; // `load.progress` and `progress` are the study's
    const pl_study_axis *axis;  // all combinations are solved, the last axis varying fastest
    int axis_count;
    const pl_variation *set; // commands and values that stay the same
    int set_count;
    const char *marker; // of stiffness and blocked force; NULL: the first
    bool stiffness;     // of the marker under a force on it, from the exact compliance
    bool blocked;       // the force the marker exerts where it is held at its undeformed position
    int worker_count;   // variants solved at the same time; 0: one per processor
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
PL_API pl_status pl_study_run(const pl_study_def *def, pl_study *out, pl_findings *findings, pl_error *err);
PL_API void pl_study_clear(pl_study *study);
PL_API pl_status pl_study_write_csv(const pl_study *study, const char *path, pl_error *err);
// A quantity ("tip.x", with or without its unit) over the last axis, a curve for every combination of the
// others.
PL_API int pl_study_find(const pl_study *study, const char *quantity); // -1 if there is none
PL_API pl_status pl_study_plot(const pl_study *study, int quantity, const char *path, pl_error *err);

// ---- task files (YAML)
typedef enum pl_task_do { PL_TASK_MOVE, PL_TASK_REACH, PL_TASK_GRASP, PL_TASK_PLACE } pl_task_do;
typedef struct pl_task_object {
    const char *name;
    double center[3], radius; // mm
    int line;
} pl_task_object;
typedef struct pl_task_item {
    pl_task_do what;
    const char *name;   // used in the table; default: the name of the action
    const char *marker; // move; NULL: that of the file
    int object;         // reach, grasp, place: index
    bool has_to, has_direction, has_axis;
    double to[3];        // move: target of the marker; place: new centre of the object
    double direction[3]; // move: target direction of the marker's axis
    double axis[3];      // axis of the marker, undeformed
    bool axes[3];        // move: coordinates that count; all false: all
    int steps;
    int line;
} pl_task_item;
typedef struct pl_task_file {
    const char *name, *marker; // NULL if not given
    // the gripper: the end segment
    bool has_gripper;
    const char *gripper_marker;
    double normal[3], clearance, weight;
    double curl_axis[3], curl; // the segment bends about this axis, to +1/R or -1/R; 0 0 0: in either sense
    const char *segment;       // a surface or region of the body, or NULL and
    double line_from[3], line_to[3]; // a line in the undeformed configuration
    const char *const *command;
    int command_count;
    int gripper_line;
    const pl_task_object *object;
    int object_count;
    const pl_task_item *item;
    int item_count;
    void *memory;
} pl_task_file;
// All defects are reported as findings with their lines; `err` repeats the first one.
PL_API pl_status pl_task_read(const char *path, pl_task_file *out, pl_findings *findings, pl_error *err);
PL_API void pl_task_file_clear(pl_task_file *file);

// A task file on a robot. The model, the file and its path must outlive the job. `marker`: of moves that name
// none, -1: they are refused. Messages begin with the path and the line.
#define PL_TASK_STEPS 1000000 // of all stages
typedef struct pl_task_job pl_task_job;
PL_API pl_status pl_task_job_create(pl_model *model, const pl_task_file *file, const char *path, int marker,
                                    pl_task_job **out, pl_error *err);
PL_API void pl_task_job_destroy(pl_task_job *job);
PL_API int pl_task_job_steps(const pl_task_job *job);   // of all stages
PL_API int pl_task_job_gripper(const pl_task_job *job); // marker of the gripper, -1: none
// Runs one stage of the file from where the model stands; `record` as in pl_task_run.
PL_API pl_status pl_task_job_run(pl_task_job *job, int item, const pl_ik_options *options,
                                 bool (*record)(void *user, const pl_task_step *step), void *user,
                                 pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
