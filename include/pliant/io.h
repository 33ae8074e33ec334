// Files: robot files, meshes, results, pictures. The only module of the core that opens files. Every file is
// written under a temporary name next to the target and then renamed.
#ifndef PLIANT_IO_H
#define PLIANT_IO_H

#include "pliant/control.h"
#include "pliant/geometric.h"
#include "pliant/reduced.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- numbers with units
// Reads "30 kPa", "2.5bar", "1070 kg/m^3", "12 cm", "5 mL", "90 deg" into internal units (mm, N, MPa, t, s,
// K, V, rad). A plain number is in mm, N, MPa, rad, s, V; PRESSURE (a pressure command), DENSITY and
// ACCELERATION need a unit (STRESS does not: a modulus without a unit is in MPa). The error message says what
// was found and which units are allowed.
PL_API pl_status pl_quantity_parse(const char *text, pl_dimension dimension, double *value, pl_error *err);
// The same per second: "5 mm/s", "20 kPa/s", "0.5 /s"; a plain number is per second.
PL_API pl_status pl_rate_parse(const char *text, pl_dimension dimension, double *value, pl_error *err);

// ---- robot files
typedef struct pl_load_options {
    const pl_mesher *mesher;     // NULL: only mesh formats the core reads itself
    const pl_progress *progress; // may be NULL
    double size;                 // overrides mesh.size when > 0
    int order;                   // overrides mesh.order when > 0
    bool no_cache;               // do not read or write the mesh cache
    const char *probe;           // a marker that gets the loads needed by pl_reduce, or NULL
    bool fill;                   // mesh the cavities of designs too, regardless of mesh.fill
    // NULL, or called with the mesh of the only body, which it may replace; refused for robots of several
    // bodies
    pl_status (*adapt)(void *user, pl_mesh **mesh, pl_error *err);
    void *adapt_user;
} pl_load_options;
// Reads, checks and builds a robot. All defects of the file are reported as findings. If there are any, the
// status is PL_BAD_INPUT (PL_BAD_FILE if a file cannot be opened) and `err` repeats the first one.
PL_API pl_status pl_robot_load(const char *path, const pl_load_options *options, pl_robot **out,
                               pl_findings *findings, pl_error *err);
// The same from text in memory. `path` is used in messages; relative paths are relative to its folder.
PL_API pl_status pl_robot_load_text(const char *text, size_t length, const char *path,
                                    const pl_load_options *options, pl_robot **out, pl_findings *findings,
                                    pl_error *err);
// Checks only the syntax and what needs no mesh; for editors and fuzzing.
PL_API pl_status pl_robot_check_text(const char *text, size_t length, const char *path, pl_findings *findings,
                                     pl_error *err);
// The `solver:` block of the file, applied to the defaults.
PL_API pl_statics_options pl_robot_file_options(const char *path, pl_error *err);
// The method given in the file, and its options of local_global applied to the defaults.
typedef enum pl_method { PL_METHOD_EXACT, PL_METHOD_LOCAL_GLOBAL } pl_method;
PL_API pl_method pl_robot_file_method(const char *path, pl_geometric_options *options, pl_error *err);
// Both from text in memory; `path` is used in messages.
PL_API pl_status pl_robot_text_options(const char *text, size_t length, const char *path,
                                       pl_statics_options *statics, pl_method *method,
                                       pl_geometric_options *geometric, pl_error *err);

// ---- models: robot files of either kind, a mesh (`mesh:`) or a reduced model (`model:`)
PL_API bool pl_robot_file_is_reduced(const char *path); // false also if it cannot be read
// A fingerprint (not 0) of what determines the results of a robot file: its entries without
// comments, hardware and control blocks, and the contents of the files it names.
PL_API pl_status pl_robot_file_print(const char *path, uint64_t *print, pl_error *err);
typedef struct pl_model_load_options {
    pl_load_options load; // of the mesh; `fill` is set as the method needs it
    const char *method;   // "exact", "local_global", "fang2020"; NULL: as in the file. Full bodies only
    bool displacement; // exact method: plain displacement elements, also where the file does not ask for them
    double time_limit; // s per solve; 0: as in the file
    pl_progress progress; // of solves
    bool spare_factor;    // as in pl_statics_options: for derivatives taken ahead of time, in the background
    // A full body: the robot of a model loaded before from the same file with the same options, which is
    // shared instead of being built again and must outlive the new model (pl_model_robot); NULL: built and
    // owned. For one model per thread.
    const pl_robot *robot;
    // NULL, or called for a full body that is built, before its solver is prepared (which takes longer);
    // other than PL_OK ends the load with that status
    pl_status (*built)(void *user, const pl_robot *robot, pl_error *err);
    void *built_user;
    bool fallback; // learned models: answer by the full model outside of their samples
} pl_model_load_options;
// Opens a robot file of any kind as a model that owns everything it needs: a full body with the given method,
// or a reduced model. `options` may be NULL. Findings as for pl_robot_load.
PL_API pl_status pl_model_load(const char *path, const pl_model_load_options *options, pl_model **out,
                               pl_findings *findings, pl_error *err);
// The same from text in memory. `path` is used in messages; relative paths are relative to its folder.
PL_API pl_status pl_model_load_text(const char *text, size_t length, const char *path,
                                    const pl_model_load_options *options, pl_model **out,
                                    pl_findings *findings, pl_error *err);
// A model of the same robot on a coarser mesh of the same elements, for previews: twice the edge length
// (shells: up to four times) if that has less than half the vertices. *out is NULL if there is no benefit:
// small meshes, meshes determined by thin walls, models without a mesh.
PL_API pl_status pl_model_load_coarse(const char *path, const pl_model_load_options *options,
                                      const pl_model *fine, pl_model **out, pl_error *err);
// A reduced robot from text in memory; `path` is used in messages.
PL_API pl_status pl_reduced_load_text(const char *text, size_t length, const char *path, pl_model **out,
                                      pl_findings *findings, pl_error *err);
// Writes a definition as a robot file, preceded by `comment` (lines that begin with #; may be NULL).
PL_API pl_status pl_reduced_write(const pl_reduced_def *def, const char *comment, const char *path,
                                  pl_error *err);

// ---- estimation and control: what the blocks `controller`, `estimator` and `plant` of a robot file and the
// noise of its sensors say, as options for a model of that robot; defaults where they say nothing. The arrays
// belong to the setup.
typedef struct pl_control_setup {
    pl_controller_options controller;
    int marker; // whose position is controlled; -1: the sensors
    pl_estimator_options estimator;
    pl_plant_options plant;
    double *noise, *resolution;                                       // per sensor; 0: not given
    double *dead_zone, *backlash, *low, *high, *rate, *command_sigma; // per command
    pl_measurement *measured;                                         // the sensors
    int *force_marker;
    double *sensor_rate; // per sensor: readings per s; 0: not given
    pl_plant_fault *fault;
} pl_control_setup;
PL_API pl_status pl_control_load(const char *path, const pl_model *model, pl_control_setup *out,
                                 pl_findings *findings, pl_error *err);
PL_API void pl_control_clear(pl_control_setup *setup);
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
PL_API pl_status pl_readings_read(const char *path, const pl_model *model, pl_readings *out, pl_error *err);
PL_API void pl_readings_clear(pl_readings *readings);

// ---- numbers of a robot file, for calibration. A key is a path such as "materials.silicone.c10"; entries of
// lists are found by their `name`, or by their number from 0: "actuators.t1.radius".
// The number and its unit ("" if it has none).
PL_API pl_status pl_robot_text_number(const char *text, size_t length, const char *path, const char *key,
                                      double *value, char unit[16], pl_error *err);
// The text with other numbers in their places, units kept. Free with pl_file_free.
PL_API pl_status pl_robot_text_set(const char *text, size_t length, const char *path, const char *const *key,
                                   const double *value, int count, char **out, pl_error *err);

// ---- volume meshes by extension: .vtu, .node/.ele and .inp directly; .msh, .vtk and .unv through the mesher
PL_API pl_status pl_mesh_load(const char *path, double unit, const pl_mesher *mesher, pl_mesh **out,
                              pl_findings *findings, pl_error *err);
PL_API pl_status pl_mesh_read_vtu(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                                  pl_error *err);
PL_API pl_status pl_mesh_read_tetgen(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                                     pl_error *err);
PL_API pl_status pl_mesh_read_inp(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                                  pl_error *err);
typedef enum pl_vtu_encoding { PL_VTU_ASCII, PL_VTU_BASE64, PL_VTU_RAW } pl_vtu_encoding;
// Regions are cell data `region` with their names in field data. Surfaces are written as triangles and
// quadrilaterals with cell data `surface`, so that they are preserved when the file is read back.
PL_API pl_status pl_mesh_write_vtu(const pl_mesh *mesh, const char *path, pl_vtu_encoding encoding,
                                   pl_error *err);
PL_API pl_status pl_mesh_write_tetgen(const pl_mesh *mesh, const char *path, pl_error *err);
PL_API pl_status pl_mesh_write_inp(const pl_mesh *mesh, const char *path, pl_error *err);
// A surface (NULL: the whole boundary) as binary STL; `position` NULL: undeformed.
PL_API pl_status pl_mesh_write_stl(const pl_mesh *mesh, const char *surface, const double *position,
                                   const char *path, pl_error *err);

// ---- results
typedef struct pl_data_array {
    const char *name;
    const double *value; // components per vertex or per element
    int components;
    bool on_elements;
} pl_data_array;
PL_API pl_status pl_shape_write_vtu(const pl_mesh *mesh, const double *position, const pl_data_array *array,
                                    int array_count, const char *path, pl_error *err);
// The body of a model in its current state, with its regions and every available field under the name
// pl_field_label, which ends in the unit: displacement_mm, von_mises_kpa, cauchy_stress_kpa ...
PL_API pl_status pl_model_write_vtu(pl_model *model, const char *path, pl_error *err);
// The same in blocks: an index (.vtm), and beside it a VTU file for the body and for each cavity (with
// pressure_kpa), cable (tension_n), film, layer and fibre.
PL_API pl_status pl_model_write_vtm(pl_model *model, const char *path, pl_error *err);
// The deformed boundary for other programs, by extension: .obj and .ply (mm), .glb (glTF 2.0: metres, y up).
// Coloured by a field of one number or one vector per vertex, or by region: PL_FIELD_COUNT. Parts are the
// outside and the walls of each cavity; OBJ and GLB have cables and fibres too.
PL_API pl_status pl_model_write_surface(pl_model *model, pl_field color, const char *path, pl_error *err);

// Series of shapes, by extension: .pvd (for ParaView: an index of VTU files beside it, one per shape and
// block; valid after every shape), .xdmf (long series: an index, and all numbers in one HDF5 file beside it),
// .glb (an animation, coloured as by pl_model_write_surface). Borrows the model. Without pl_series_finish
// nothing is left but a .pvd.
typedef struct pl_series pl_series;
PL_API pl_status pl_series_create(pl_model *model, const char *path, pl_field color, pl_series **out,
                                  pl_error *err);
PL_API pl_status pl_series_add(pl_series *series, pl_error *err); // the current state of the model
// `time` has an entry per shape, in s; NULL: 0, 1, 2 ...
PL_API pl_status pl_series_finish(pl_series *series, const double *time, pl_error *err);
PL_API void pl_series_destroy(pl_series *series); // NULL is fine
// State files: version, robot hash, block of doubles. The state of another robot is refused.
PL_API pl_status pl_state_save(const pl_state *state, const pl_robot *robot, const char *path, pl_error *err);
PL_API pl_status pl_state_load(pl_state *state, const pl_robot *robot, const char *path, pl_error *err);
// The same for the current state of any model.
PL_API pl_status pl_model_state_save(const pl_model *model, const char *path, pl_error *err);
PL_API pl_status pl_model_state_load(pl_model *model, const char *path, pl_error *err);
// Writes text or bytes to a temporary file next to `path`, then renames it.
PL_API pl_status pl_file_write(const char *path, const void *data, size_t bytes, pl_error *err);
PL_API pl_status pl_file_read(const char *path, char **data, size_t *bytes,
                              pl_error *err); // free with pl_file_free
PL_API void pl_file_free(char *data);

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
} pl_picture;
PL_API pl_picture pl_picture_default(void);
PL_API pl_status pl_picture_write(const pl_picture *picture, const char *path, pl_error *err);
// Names: iso, front, back, left, right, top, bottom; or "x,y,z".
PL_API pl_status pl_picture_view(const char *text, double view[3], pl_error *err);

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
PL_API pl_status pl_plot_write(const pl_plot *plot, const char *path, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
