// Files of learning: data sets (SQLite), learned models (YAML), networks for other programs (ONNX), tables of
// measurements (CSV).
#ifndef PLIANT_DATASET_H
#define PLIANT_DATASET_H

#include "pliant/learned.h"
#include "pliant/motion.h"
#include "pliant/io.h"

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
    double mesh_size;       // as in pl_dataset
    int mesh_order;
} pl_dataset_def;
// Opens or creates the file for writing; the file of another robot or of other settings is refused.
PL_API pl_status pl_dataset_create(const char *path, pl_model *model, const pl_dataset_def *def,
                                   pl_dataset_file **out, pl_error *err);
PL_API void pl_dataset_close(pl_dataset_file *file);
// The plan: appended as a whole (in one transaction) when it has fewer rows than `from`+`count`.
PL_API pl_status pl_dataset_plan(pl_dataset_file *file, int from, const double *command, int count,
                                 pl_error *err);
// Reads the plan (commands on the heap, freed with pl_file_free) and which of it is done (one byte each).
PL_API pl_status pl_dataset_read_plan(pl_dataset_file *file, double **command, char **done, int *count,
                                      pl_error *err);
// Stores one sample of the model at its current state.
PL_API pl_status pl_dataset_put(pl_dataset_file *file, const pl_sample *sample, pl_error *err);
PL_API int pl_dataset_done(pl_dataset_file *file); // rows stored; -1: cannot be read
// Copies the rows of another file of the same robot and settings that are missing here; returns their number.
PL_API pl_status pl_dataset_merge(const char *path, const char *const *shard, int shard_count, int *copied,
                                  pl_error *err);
// Reads a whole data set.
PL_API pl_status pl_dataset_read(const char *path, pl_dataset *out, pl_error *err);

// ---- learned models: described in docs/learn.md
PL_API pl_status pl_learned_write(const pl_learned *learned, const char *comment, const char *path,
                                  pl_error *err);
PL_API pl_status pl_learned_read_text(const char *text, size_t length, const char *path, pl_learned **out,
                                      pl_findings *findings, pl_error *err);
PL_API const char *pl_learned_robot_file(const pl_learned *learned); // NULL: none
// A network as an ONNX file (opset 13): input `x`, output `y`, scales included.
PL_API pl_status pl_network_write_onnx(const pl_network *network, const char *name, const char *path,
                                       pl_error *err);

// ---- measurements: a CSV with one column per command (by its name, unit in brackets) and three per marker
// ("tip.x [mm]", "tip.y", "tip.z"); the columns named in `extra` are further inputs. Commands without a
// column are idle. Wrong columns and cells are named with file, line and column.
PL_API pl_status pl_measured_read(const char *path, const pl_model_info *info, const char *const *extra,
                                  int extra_count, pl_measured *out, pl_error *err);

// ---- measured sequences: the same columns without a robot. Columns NAME.x, NAME.y, NAME.z are a marker
// (mm), every other one is a command (unit N, kPa, mm, mL or none), except `t`, `time` and `run`; a change of
// the text in `run` begins a new run.
PL_API pl_status pl_sequences_read(const char *path, pl_sequences *out, pl_error *err);
// A table of commands for a model, row after row; markers, where there are columns for them, are measured
// positions to compare with. `fresh` (on the heap, freed with pl_file_free): rows that begin a run.
PL_API pl_status pl_commands_read(const char *path, const pl_model_info *info, pl_measured *out, char **fresh,
                                  pl_error *err);
// The same with a column `t` (with a unit: "t [ms]"; without one, s), which must not decrease: `extra` of the
// rows is their time in s.
PL_API pl_status pl_timed_commands_read(const char *path, const pl_model_info *info, pl_measured *out,
                                        pl_error *err);
// A recurrent network as an ONNX file (opset 13): input `x` (steps in rows, from the beginning of a
// sequence), output `y`.
PL_API pl_status pl_lstm_write_onnx(const pl_lstm *lstm, const char *name, const char *path, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
