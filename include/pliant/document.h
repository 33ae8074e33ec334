// Robot documents: a robot file, read and parsed once, kept with its comments and the place of every entry.
// A document is asked what kind of robot it describes, edited, and built from as often as needed. Building
// does not change it, so any number of threads may build from one document while nobody edits it.
#ifndef PLIANT_DOCUMENT_H
#define PLIANT_DOCUMENT_H

#include "pliant/control.h"
#include "pliant/learned.h"
#include "pliant/reduced.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pl_robot_document pl_robot_document;

// ---- reading
// Reads a file. Fails only if the file cannot be read (a finding then says why, with advice) or memory is
// lacking: a document with defects is kept, so that all of them are reported when it is checked or built.
PL_API_CHECKED pl_status pl_robot_document_read(const char *path, pl_robot_document **out,
                                                pl_findings *findings, pl_error *err);

// The same from text in memory, which is copied. `path` (may be NULL) is used in messages; relative paths are
// relative to its folder.
PL_API_CHECKED pl_status pl_robot_document_parse(const char *text, size_t length, const char *path,
                                                 pl_robot_document **out, pl_error *err);

// A copy to edit, without parsing again.
PL_API_CHECKED pl_status pl_robot_document_copy(const pl_robot_document *document, pl_robot_document **out,
                                                pl_error *err);
PL_API void pl_robot_document_destroy(pl_robot_document *document); // NULL is fine

// ---- queries
typedef enum pl_robot_kind {
    PL_ROBOT_FULL,    // a body with a mesh
    PL_ROBOT_REDUCED, // `model:`
    PL_ROBOT_LEARNED  // `learned:`
} pl_robot_kind;

PL_API pl_robot_kind pl_robot_document_kind(const pl_robot_document *document);
PL_API const char *pl_robot_document_path(const pl_robot_document *document); // "robot file" if it has none

// The names of the robot's commands, separated by blanks, as the file says them without a mesh. Free with
// pl_file_free; NULL: the file has defects, or memory is lacking.
PL_API char *pl_robot_document_commands(const pl_robot_document *document);

// ---- values and edits. A key is a path such as "materials.silicone.c10"; entries of lists are found by
// their `name`, or by their number from 0: "actuators.t1.radius", "loads.gravity.2". "design.wall" stands for
// "mesh.design.wall", and the name of an entry of `parameters` for the entry. Entries may be written in any
// style of YAML: blocks, {flow: style}, "JSON".
// The word or number at `key`, as it is written; borrowed until the next edit. NULL: there is none.
PL_API const char *pl_robot_document_value(const pl_robot_document *document, const char *key);

// A number, and its unit ("" if it has none). An expression is refused: its parameters are the numbers.
PL_API_CHECKED pl_status pl_robot_document_number(const pl_robot_document *document, const char *key,
                                                  double *value, char unit[16], pl_error *err);

// A number or expression, in internal units of that dimension.
PL_API_CHECKED pl_status pl_robot_document_evaluate(const pl_robot_document *document, const char *key,
                                                    pl_dimension dimension, double *value, pl_error *err);

// Replaces a number; the unit is kept.
PL_API_CHECKED pl_status pl_robot_document_set_number(pl_robot_document *document, const char *key,
                                                      double value, pl_error *err);

// Replaces or adds a value, written in YAML: "20 kPa", "[0, 0, 1]", "{use: dragon_skin_30}". The entry it is
// added to must exist. A word in place of a whole material ("materials.silicone") is the name of one in the
// library. A key that ends in + ("springs+") adds the items of a list to a list, which is made if needed.
PL_API_CHECKED pl_status pl_robot_document_set(pl_robot_document *document, const char *key,
                                               const char *value, pl_error *err);

// The text with all edits, otherwise byte by byte as it was read; comments keep their columns where they can.
// Free with pl_file_free.
PL_API_CHECKED pl_status pl_robot_document_text(const pl_robot_document *document, char **text,
                                                size_t *length, pl_error *err);

// ---- building
PL_API bool pl_method_exists(const char *name); // a method of solution of full bodies: "exact" ...

typedef struct pl_load_options {
    const pl_mesher *mesher;     // NULL: only mesh formats the core reads itself
    const pl_progress *progress; // may be NULL
    double size;                 // overrides mesh.size when > 0
    int order;                   // overrides mesh.order when > 0
    bool no_cache;               // do not read or write the mesh cache
    const char *probe;           // a marker that gets the loads needed by pl_reduce, or NULL
    bool fill;                   // mesh the cavities of designs too, regardless of mesh.fill
} pl_load_options;

// Checks and builds a robot with a mesh. All defects of the file are reported as findings. If there are any,
// the status is PL_BAD_INPUT (PL_BAD_FILE if a file cannot be opened) and `err` repeats the first one.
PL_API_CHECKED pl_status pl_robot_from_document(const pl_robot_document *document,
                                                const pl_load_options *options, pl_robot **out,
                                                pl_findings *findings, pl_error *err);

typedef struct pl_model_load_options {
    pl_load_options load; // of the mesh; `fill` is set as the method needs it
    const char *method;   // "exact", "local_global", "fang2020"; NULL: as in the file. Full bodies only
    bool displacement; // exact method: plain displacement elements, also where the file does not ask for them
    double time_limit; // s per solve; 0: as in the file
    pl_progress progress; // of solves
    bool stop_at_limit;   // a load path ends at a limit point; otherwise the body snaps and lands beyond it
    bool spare_factor;    // for exact derivatives taken ahead of time, in the background
    // A full body: the robot of a model built before from the same document with the same options, which is
    // shared instead of being built again and must outlive the new model (pl_model_robot); NULL: built and
    // owned. For one model per thread.
    const pl_robot *robot;
    // NULL, or called for a full body that is built, before its solver is prepared (which takes longer);
    // other than PL_OK ends the load with that status
    pl_status (*built)(void *user, const pl_robot *robot, pl_error *err);
    void *built_user;
    bool fallback; // learned models: answer by the full model outside of their samples
} pl_model_load_options;

// A model of any kind that owns everything it needs: a full body with the given method, a reduced or a
// learned model. `options` may be NULL. Findings as above.
PL_API_CHECKED pl_status pl_model_from_document(const pl_robot_document *document,
                                                const pl_model_load_options *options, pl_model **out,
                                                pl_findings *findings, pl_error *err);

// ---- estimation and control: what the blocks `controller`, `estimator` and `plant` of a robot file and the
// noise of its sensors say, as options for a model of that robot; defaults where they say nothing. The arrays
// belong to the setup. Those of a learned model are in the file of the robot it was learned from.
typedef struct pl_control_setup {
    pl_controller_options controller;
    int marker; // whose position is controlled; -1: the sensors
    pl_estimator_options estimator;
    double delay, lag;                        // s, of the actuators
    double *noise, *resolution, *sensor_rate; // per sensor; readings per s; 0: not given
    double *command_sigma;                    // per command, as in `estimator`
    pl_measurement *measured;                 // the sensors
    struct pl_control_memory *memory;         // limits, and what the simulated robot adds
} pl_control_setup;

PL_API_CHECKED pl_status pl_control_from_document(const pl_robot_document *document, const pl_model *model,
                                                  pl_control_setup *out, pl_findings *findings,
                                                  pl_error *err);
PL_API void pl_control_clear(pl_control_setup *setup);

// The simulated robot of the `plant` block, a step every `period` s. `seed` of its noise; -1: as in the file.
// `motion`: its body moves in time, whatever the file says. Keeps a reference to `model` and to the setup.
PL_API_CHECKED pl_status pl_plant_from_setup(pl_model *model, const pl_control_setup *setup, double period,
                                             int seed, bool motion, pl_plant **out, pl_error *err);

// The loop of the `controller` and `estimator` blocks. `marker`: of the goals; -1: that of the file, or the
// first. `control_marker`: its position is controlled even where the file controls the sensors. Without
// `estimate`, or sensors, the Jacobian is taken at the commands sent. `bound` (may be NULL) is copied; a
// period other than that of the file goes into setup->controller first. Keeps a reference to `model` and to
// the setup.
typedef struct pl_loop_setup {
    int marker;
    bool control_marker, estimate;
    const pl_effort_bound *bound;
    int bound_count;
} pl_loop_setup;

PL_API_CHECKED pl_status pl_loop_from_setup(pl_model *model, const pl_control_setup *setup,
                                            const pl_loop_setup *asked, pl_loop **out, pl_error *err);

// ---- in one call
PL_API_CHECKED pl_status pl_model_load(const char *path, const pl_model_load_options *options, pl_model **out,
                                       pl_findings *findings, pl_error *err);
PL_API_CHECKED pl_status pl_model_load_text(const char *text, size_t length, const char *path,
                                            const pl_model_load_options *options, pl_model **out,
                                            pl_findings *findings, pl_error *err);

// Writes a definition as a robot file, preceded by `comment` (lines that begin with #; may be NULL).
PL_API_CHECKED pl_status pl_reduced_write(const pl_reduced_def *def, const char *comment, const char *path,
                                          pl_error *err);

// ---- learned models: described in docs/howto/learn.md
PL_API_CHECKED pl_status pl_learned_write(const pl_learned *learned, const char *comment, const char *path,
                                          pl_error *err);
PL_API_CHECKED pl_status pl_learned_read_text(const char *text, size_t length, const char *path,
                                              pl_learned **out, pl_findings *findings, pl_error *err);
PL_API const char *pl_learned_robot_file(const pl_learned *learned); // NULL: none

#ifdef __cplusplus
}
#endif
#endif
