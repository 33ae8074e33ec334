// Data sets: samples for learning (SQLite), networks for other programs (ONNX), tables of measurements,
// readings, waypoints and target shapes (CSV).
#ifndef PLIANT_DATASET_H
#define PLIANT_DATASET_H

#include "pliant/calib.h"
#include "pliant/camera.h"
#include "pliant/document.h"
#include "pliant/learned.h"
#include "pliant/motion.h"
#include "pliant/text.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- data sets: one row per sample, committed before the next is computed, so that a killed run loses at
// most the sample it was at. Several processes may write to one file.
//   about(key, value)      format, robot (hash), description (YAML), file, settings
//   plan(number, command)  what is to be sampled
//   sample(number, outcome, solved, seconds, command, marker, rotation, sensor, effort, measure, energy,
//          jacobian, point, checksum) with arrays as blobs: doubles, little-endian; points as floats. The
//          checksum covers the row: a damaged sample counts as missing, and is solved again by the next run
typedef struct pl_dataset_file pl_dataset_file;

typedef struct pl_dataset_def {
    const char *settings;   // how the samples were chosen; the same text continues a run
    const char *robot_file; // stored for later use; may be NULL
    bool jacobians, shapes; // stored per sample
    double mesh_size;       // of the mesh, where it is not that of the robot file; 0: it is
    int mesh_order;
} pl_dataset_def;

// Opens or creates the file for writing; the file of another robot or of other settings is refused.
PL_API_CHECKED pl_status pl_dataset_create(const char *path, pl_model *model, const pl_dataset_def *def,
                                           pl_dataset_file **out, pl_error *err);
PL_API void pl_dataset_close(pl_dataset_file *file);

// The plan: appended as a whole (in one transaction) when it has fewer rows than `from`+`count`.
PL_API_CHECKED pl_status pl_dataset_plan(pl_dataset_file *file, int from, const double *command, int count,
                                         pl_error *err);

// Reads the plan (commands on the heap, freed with pl_file_free) and which of it is done (one byte each).
PL_API_CHECKED pl_status pl_dataset_read_plan(pl_dataset_file *file, double **command, char **done,
                                              int *count, pl_error *err);

// Stores one sample of the model at its current state.
PL_API_CHECKED pl_status pl_dataset_put(pl_dataset_file *file, const pl_sample *sample, pl_error *err);

// Copies the rows of another file of the same robot and settings that are missing here; returns their number.
PL_API_CHECKED pl_status pl_dataset_merge(const char *path, const char *const *shard, int shard_count,
                                          int *copied, pl_error *err);

// Reads a whole data set.
PL_API_CHECKED pl_status pl_dataset_read(const char *path, pl_dataset **out, pl_error *err);

// A network as an ONNX file (opset 13): input `x`, output `y`, scales included.
PL_API_CHECKED pl_status pl_network_write_onnx(const pl_network *network, const char *name, const char *path,
                                               pl_error *err);

// ---- measurements: a CSV with one column per command (by its name, unit in brackets) and three per marker
// ("tip.x [mm]", "tip.y", "tip.z"); the columns named in `extra` are further inputs. Commands without a
// column are idle. Wrong columns and cells are named with file, line and column.
PL_API_CHECKED pl_status pl_measured_read(const char *path, const pl_model_info *info,
                                          const char *const *extra, int extra_count, pl_measured *out,
                                          pl_error *err);

// ---- measured sequences: the same columns without a robot. Columns NAME.x, NAME.y, NAME.z are a marker
// (mm), every other one is a command (unit N, kPa, mm, mL or none), except `t`, `time` and `run`; a change of
// the text in `run` begins a new run.
PL_API_CHECKED pl_status pl_sequences_read(const char *path, pl_sequences **out, pl_error *err);

// A table of commands for a model, row after row; markers, where there are columns for them, are measured
// positions to compare with. `fresh` (on the heap, freed with pl_file_free): rows that begin a run.
PL_API_CHECKED pl_status pl_commands_read(const char *path, const pl_model_info *info, pl_measured *out,
                                          char **fresh, pl_error *err);

// The same with a column `t` (with a unit: "t [ms]"; without one, s), which must not decrease: `extra` of the
// rows is their time in s.
PL_API_CHECKED pl_status pl_timed_commands_read(const char *path, const pl_model_info *info, pl_measured *out,
                                                pl_error *err);

// A recurrent network as an ONNX file (opset 13): input `x` (steps in rows, from the beginning of a
// sequence), output `y`.
PL_API_CHECKED pl_status pl_lstm_write_onnx(const pl_lstm *lstm, const char *name, const char *path,
                                            pl_error *err);

// ---- measured readings
// A table of readings: one row per moment; columns by name: time (`t` or `time`), commands, sensors,
// positions of markers (`tip.x`), each with its unit: `air [kPa]`. Empty cells are missing readings (NAN).
typedef struct pl_readings {
    int count;
    double *time;                  // s; NAN: no such column
    double *command;               // per row and command; NAN: idle
    double *sensor, *marker;       // per row
    bool *has_sensor, *has_marker; // per sensor, per marker: the table has its column (marker: any axis)
    int *line;
} pl_readings;

PL_API_CHECKED pl_status pl_readings_read(const char *path, const pl_model *model, pl_readings *out,
                                          pl_error *err);
PL_API void pl_readings_clear(pl_readings *readings);

// ---- recordings: measurements over time, without a robot. Columns by name, without regard to case, each
// with its unit: "t [ms]", "tip.x [mm]", "stress [kPa]"
typedef struct pl_recording pl_recording;

// Two columns of one name, rows of another length and fewer than two rows are refused. `path` names the file
// in messages and must outlive the result.
PL_API_CHECKED pl_status pl_recording_read(const char *path, pl_recording **out, pl_error *err);
PL_API void pl_recording_destroy(pl_recording *recording);
PL_API int pl_recording_count(const pl_recording *recording); // rows

// The column with the first of the names that there is; -1: none.
PL_API int pl_recording_find(const pl_recording *recording, const char *const *name, int count);

// The unit of a column in the table, "" without one.
PL_API const char *pl_recording_unit(const pl_recording *recording, int column);

// One column into every `stride`-th number of `out`, in internal units (mm, N, MPa, s, rad); a cell without a
// number is refused with file, line and column, and so is a unit of something else.
PL_API_CHECKED pl_status pl_recording_column(const pl_recording *recording, int column,
                                             pl_dimension dimension, double *out, int stride, pl_error *err);

// A syringe test: columns P (or pressure), with its unit, and dV (or pushed, volume; mL without a unit).
PL_API_CHECKED pl_status pl_syringe_parse(const char *text, size_t length, const char *path, pl_syringe *out,
                                          pl_error *err);

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

PL_API_CHECKED pl_status pl_path_read(const char *path, pl_path_file *out, pl_error *err);
PL_API void pl_path_clear(pl_path_file *file);

// ---- target shapes: target positions of body points
typedef struct pl_shape_target {
    int32_t count;
    int32_t *point; // body points
    double *place;  // 3 each, mm
} pl_shape_target;

// A table with columns x, y, z and either `point` (index of a body point) or x0, y0, z0 (its undeformed
// position; the nearest body point within `reach` mm is taken).
PL_API_CHECKED pl_status pl_shape_target_read(const char *path, const double *rest, int32_t point_count,
                                              double reach, pl_shape_target *out, pl_error *err);
PL_API void pl_shape_target_clear(pl_shape_target *target);

// ---- images and cameras
// PNG (8 bit) or JPEG, by its first bytes; pl_image_clear frees it.
PL_API_CHECKED pl_status pl_image_read(const char *path, pl_image *out, pl_error *err);

// Cameras and their places as JSON; `interval` as in pl_cameras_calibrate, may be NULL.
PL_API_CHECKED pl_status pl_cameras_write(const char *path, const pl_camera *camera,
                                          const pl_camera_pose *rig, const double *interval, int count,
                                          pl_error *err);
PL_API_CHECKED pl_status pl_cameras_read(const char *path, pl_camera *camera, pl_camera_pose *rig, int room,
                                         int *count, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
