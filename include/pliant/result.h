// Results as files: shapes and fields, series, states, pictures and plots, records, motions (tables, reports,
// G-code, pressures), logs of runs, stored workspaces. Every file is written under a temporary name next to
// the target and then renamed.
#ifndef PLIANT_RESULT_H
#define PLIANT_RESULT_H

#include "pliant/analysis.h"
#include "pliant/document.h"
#include "pliant/meshfile.h"
#include "pliant/motion.h"
#include "pliant/text.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- results
// Whether this machine can write a file of this extension: pictures, films and reports need cairo, tables of
// samples SQLite, videos the program ffmpeg. Ask before a long computation. PL_BAD_FILE: a library is not
// there.
PL_API_CHECKED pl_status pl_result_check(const char *path, pl_error *err);

typedef struct pl_data_array {
    const char *name;
    const double *value; // components per vertex or per element
    int components;
    bool on_elements;
} pl_data_array;

PL_API_CHECKED pl_status pl_shape_write_vtu(const pl_mesh *mesh, const double *position,
                                            const pl_data_array *array, int array_count, const char *path,
                                            pl_error *err);

// The body of a model in its current state, with its regions and every available field under the name
// pl_field_label, which ends in the unit: displacement_mm, von_mises_kpa, cauchy_stress_kpa ...
PL_API_CHECKED pl_status pl_model_write_vtu(pl_model *model, const char *path, pl_error *err);

// The same in blocks: an index (.vtm), and beside it a VTU file for the body and for each cavity (with
// pressure_kpa), cable (tension_n), film, layer and fibre.
PL_API_CHECKED pl_status pl_model_write_vtm(pl_model *model, const char *path, pl_error *err);

// The deformed boundary for other programs, by extension: .obj and .ply (mm), .glb (glTF 2.0: metres, y up).
// Coloured by a field of one number or one vector per vertex, or by region: PL_FIELD_COUNT. Parts are the
// outside and the walls of each cavity; OBJ and GLB have cables and fibres too.
PL_API_CHECKED pl_status pl_model_write_surface(pl_model *model, pl_field color, const char *path,
                                                pl_error *err);

// The solved robot as a job for CalculiX and Abaqus (.inp): mesh, materials, supports, pressures that follow
// the surface; cables, springs, weights and contacts as the nodal forces they exert at the solution.
// `findings` (may be NULL) gets what differs there. Refused: reduced models, layers, fibres, rigid regions,
// growth, films, magnets, and laws that CalculiX does not have.
PL_API_CHECKED pl_status pl_model_write_deck(pl_model *model, const char *path, pl_findings *findings,
                                             pl_error *err);

// A solved body as a chain of rigid links with springs, for simulators of rigid robots, by extension: .urdf,
// .sdf (Gazebo, Drake), .mjcf or .xml (MuJoCo). The chain runs from the support to a marker; joints have a
// slide and three hinges, with stiffnesses from the derivatives of the solution with respect to forces at its
// end. Its error is in the file and in the report. For full bodies with the exact method; solves at half of
// the commands and returns to the state.
typedef struct pl_chain_options {
    int link_count; // 1 to 200
    int marker;     // at the end of the chain
} pl_chain_options;

PL_API pl_chain_options pl_chain_options_default(void); // 8 links, the first marker

typedef struct pl_chain_report {
    int link_count;
    double position_error, rotation_error; // mm, rad: of the marker, at the solved commands
    double motion;                         // mm: of the marker, for comparison
    double compliance_error;               // of the marker's displacement per N, relative (Frobenius norm)
    double half_error;    // mm: of the marker at half of the commands, by the derivatives; NAN: not solved
    bool density_assumed; // the robot has materials without a density: that of water
} pl_chain_report;

PL_API_CHECKED pl_status pl_model_write_chain(pl_model *model, const pl_chain_options *options,
                                              const char *path, pl_chain_report *report, pl_error *err);

// A scene for SOFA with the plugin SoftRobots (.py): linear tetrahedra, material, supports, cables and
// pressures with the solved values. `findings` (may be NULL) gets what differs there. Refused where
// pl_model_write_deck refuses, and for prisms.
PL_API_CHECKED pl_status pl_model_write_sofa(pl_model *model, const char *path, pl_findings *findings,
                                             pl_error *err);

// State files: version, robot hash, block of doubles. The state of another robot is refused.
PL_API_CHECKED pl_status pl_state_save(const pl_state *state, const pl_robot *robot, const char *path,
                                       pl_error *err);
PL_API_CHECKED pl_status pl_state_load(pl_state *state, const pl_robot *robot, const char *path,
                                       pl_error *err);

// The same for the current state of any model.
PL_API_CHECKED pl_status pl_model_state_save(const pl_model *model, const char *path, pl_error *err);
PL_API_CHECKED pl_status pl_model_state_load(pl_model *model, const char *path, pl_error *err);

// ---- pictures (by extension: PNG, or SVG with the shaded image embedded and text as vectors)
typedef struct pl_picture {
    const pl_mesh *mesh;
    const double *position;       // NULL: undeformed
    const double *ghost;          // a second shape drawn in grey behind the first, or NULL
    const double *vertex_value;   // colour by value instead of by region, or NULL
    double value_low, value_high; // both 0: from the data
    const char *value_name;       // legend
    const char *title;            // or NULL
    double view[3];               // direction from the body to the viewer; 0: a default
    int width, height;            // pixels; 0: 1200 x 800
    bool wireframe;               // draw element edges
    bool clip;                    // cut by the plane through `clip_point` with `clip_normal`
    double clip_point[3], clip_normal[3];
    const double *line;        // polylines (cables, paths): 3 per point
    const int32_t *line_start; // line_count + 1
    int line_count;
    const double *triangle; // obstacles: 9 per triangle, drawn in grey
    int triangle_count;
    const double *mark; // places marked by a red dot, 3 each
    int mark_count;
    const double *within; // points that the picture has room for, 3 each: one camera for several pictures
    int within_count;
} pl_picture;

PL_API pl_picture pl_picture_default(void);

// The obstacles of the robot as triangles (9 numbers each) where its commands or the body in the shape
// `position` have moved them; of what has no end, a part a little larger than the body. Returns their number;
// `out` NULL: only that. 0 for models other than full bodies.
PL_API int pl_model_obstacles(const pl_model *model, const double *position, double *out);
PL_API_CHECKED pl_status pl_picture_write(const pl_picture *picture, const char *path, pl_error *err);

// Names: iso, front, back, left, right, top, bottom; or "x,y,z".
PL_API_CHECKED pl_status pl_picture_view(const char *text, double view[3], pl_error *err);

// Series of shapes, by extension: .pvd (for ParaView: an index of VTU files beside it, one per shape and
// block; valid after every shape), .xdmf (long series: an index, and all numbers in one HDF5 file beside it),
// .glb and .usda (an animation, coloured as by pl_model_write_surface), .gif, .webm and .mp4 (a film; the
// last two need the program ffmpeg), and numbered pictures where the name has a place for the number:
// frame_%04d.png. Borrows the model. Without pl_series_finish nothing is left but a .pvd.
typedef struct pl_series pl_series;
PL_API_CHECKED pl_status pl_series_create(pl_model *model, const char *path, pl_field color, pl_series **out,
                                          pl_error *err);

// How films and numbered pictures look: view, size, edges, cut and name of the values of `picture`; the rest
// of it is not read. Before the first shape; nothing for other files.
PL_API void pl_series_set_picture(pl_series *series, const pl_picture *picture);
PL_API_CHECKED pl_status pl_series_add(pl_series *series, pl_error *err); // the current state of the model

// `time` has an entry per shape, in s; NULL: 0, 1, 2 ...
PL_API_CHECKED pl_status pl_series_finish(pl_series *series, const double *time, pl_error *err);
PL_API void pl_series_destroy(pl_series *series); // NULL is fine

// A plot of curves, for reports.
typedef struct pl_curve {
    const char *name;
    const double *x, *y;
    int count;
    bool points; // dots instead of a line
} pl_curve;

typedef struct pl_plot {
    const char *title, *x_label, *y_label;
    const pl_curve *curve;
    int curve_count;
    int width, height; // pixels; 0: 900 x 600
} pl_plot;

PL_API_CHECKED pl_status pl_plot_write(const pl_plot *plot, const char *path, pl_error *err);

// ---- the record of a result as text; NULL: no memory. Free with pl_file_free
// For people: what to know about the result, then tables whose cells are separated by tabs, then the solve.
PL_API char *pl_record_text(const pl_record *record);

// JSON object with the keys of `pliant fk --json`; numbers that do not exist are null. Readings come by
// group: "springs": {"s1": {"tension": 1.2, "length": 20}}. `findings` (may be NULL) become "warnings".
PL_API char *pl_record_json(const pl_record *record, const pl_findings *findings);

// Columns with units, and one row; both end with a newline. Empty cells: no number. Forces at the markers
// (pl_model_set_forces) have columns where some act.
PL_API char *pl_record_csv_head(const pl_record *record);
PL_API char *pl_record_csv_row(const pl_record *record);

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
PL_API_CHECKED pl_status pl_motion_add(pl_motion *motion, double time, const double *target,
                                       const pl_model_answer *answer, const pl_ik_report *ik, pl_error *err);
PL_API void pl_motion_clear(pl_motion *motion);

// Assigns times such that no command exceeds its rate (per command, internal units per second; NAN or 0: no
// limit): each waypoint follows the previous one after `least` seconds, or later if a command needs longer.
// The first is at 0.
PL_API void pl_motion_schedule(pl_motion *motion, const double *rate, double least);
PL_API_CHECKED pl_status pl_motion_write_csv(const pl_motion *motion, const char *path, pl_error *err);

// Time (s) and gauge pressure (kPa) of every chamber, for a valve terminal. Rows with a pressure below 0 are
// treated as `hardware: below_zero` of the chamber says: refused with their numbers (also if it says
// nothing), written as 0, or kept. `changed` (may be NULL) receives a warning per chamber that names the rows
// changed. Row 0 is the first after the head. Between 0 and -1 Pa is taken as the solver's tolerance, and
// written as 0.
PL_API_CHECKED pl_status pl_motion_write_pressures(const pl_motion *motion, const char *path,
                                                   pl_findings *changed, pl_error *err);

// G-code for Marlin: one synchronised move per waypoint, one axis per actuator as given in the robot's
// `hardware` block, with a feed rate that respects the feed limit of every axis, the rate of every actuator
// and the times of the motion. A syringe may pull its chamber below 0 unless `below_zero` of its hardware
// says otherwise: `refuse` refuses the motion, `clip` stops the axis at its rest position; `changed` (may be
// NULL) and the head of the file name the waypoints changed.
PL_API_CHECKED pl_status pl_motion_write_gcode(const pl_motion *motion, const pl_model *model,
                                               const char *path, pl_findings *changed, pl_error *err);

// The same moves one by one, for a machine that is driven while the commands are computed. The axes are taken
// to stand at their rest positions at first. *line (with its end of line) holds until the next call; `answer`
// gives the lengths, volumes and pressures that go with `command`.
typedef struct pl_gcode pl_gcode;
PL_API_CHECKED pl_status pl_gcode_create(const pl_model *model, pl_gcode **out, pl_error *err);
PL_API void pl_gcode_destroy(pl_gcode *gcode);
PL_API const char *pl_gcode_setup(const pl_gcode *gcode); // lines to send first: units, absolute positions
PL_API_CHECKED pl_status pl_gcode_move(pl_gcode *gcode, const double *command, const pl_model_answer *answer,
                                       double seconds, const char **line, pl_error *err);

// ---- the log of a run, row by row, by the extension of its name: .csv, written whole when it is closed, or
// .sqlite (.db), a table `ticks` with these columns that is committed at least once a second.
typedef struct pl_run_log pl_run_log;
PL_API_CHECKED pl_status pl_run_log_open(const char *path, const char *const *column, int column_count,
                                         pl_run_log **out, pl_error *err);
PL_API_CHECKED pl_status pl_run_log_add(pl_run_log *log, const double *value,
                                        pl_error *err);                    // NAN: an empty cell
PL_API_CHECKED pl_status pl_run_log_close(pl_run_log *log, pl_error *err); // also after an error

// Reads a .sqlite log, also while it grows: at most `limit` rows from row `from` (counted from 0) on, as CSV
// with the line of names first (release with pl_file_free); *rows gets their number, *total that of all rows.
// PL_BAD_FILE if there is no such log yet. May be called from any thread.
PL_API_CHECKED pl_status pl_run_log_read(const char *path, int64_t from, int64_t limit, char **csv,
                                         int64_t *rows, int64_t *total, pl_error *err);

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

PL_API_CHECKED pl_status pl_motion_write_html(const pl_motion *motion, const pl_report_def *def,
                                              const char *path, pl_error *err);

// ---- stored workspaces (SQLite): commands and the resulting marker positions, saved sample by sample, so
// that an aborted run loses nothing. A file belongs to one robot and one kind of model; it may contain
// several samplings.
typedef struct pl_store pl_store;

// Opens or creates the file. `settings` identifies a sampling (the same text continues the same samples);
// NULL opens an existing file for reading. The file of another robot is refused.
PL_API_CHECKED pl_status pl_store_open(const char *path, const pl_model *model, const char *settings,
                                       pl_store **out, pl_error *err);
PL_API void pl_store_close(pl_store *store);
PL_API int pl_store_next(const pl_store *store); // index of the first missing sample of this sampling
PL_API_CHECKED pl_status pl_store_put(pl_store *store, const pl_sample *sample, pl_error *err);

typedef struct pl_store_samples {
    int count; // all solved samples, of every sampling (if opened with settings: of this one)
    double *command, *marker, *effort;
    double
        *model_error;  // of a surrogate: per sample and marker, mm, as pl_answer_error; NULL: not a surrogate
    double confidence; // of model_error
} pl_store_samples;

PL_API_CHECKED pl_status pl_store_read(pl_store *store, pl_store_samples *out, pl_error *err);
PL_API void pl_store_samples_clear(pl_store_samples *samples);

// Fills in model_error of a surrogate by solving it at the commands of the samples: its errors are not
// stored, because they change when they are measured again. Nothing for other models.
PL_API_CHECKED pl_status pl_samples_model_error(pl_store_samples *samples, pl_model *model, pl_error *err);

// The samples as a table, or for ParaView as points with the commands as data.
PL_API_CHECKED pl_status pl_samples_write_csv(const pl_store_samples *samples, const pl_model *model,
                                              const char *path, pl_error *err);
PL_API_CHECKED pl_status pl_samples_write_vtu(const pl_store_samples *samples, const pl_model *model,
                                              int marker, const char *path, pl_error *err);

// ---- studies
PL_API_CHECKED pl_status pl_study_write_csv(const pl_study *study, const char *path, pl_error *err);

// A quantity ("tip.x", with or without its unit) over the last axis, a curve for every combination of the
// others.
PL_API int pl_study_find(const pl_study *study, const char *quantity); // -1 if there is none
PL_API_CHECKED pl_status pl_study_plot(const pl_study *study, int quantity, const char *path, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
