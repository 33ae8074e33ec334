// Files: meshes, results, pictures; robot files are in document.h. The only module of the core that opens
// files. Every file is written under a temporary name next to the target and then renamed.
#ifndef PLIANT_IO_H
#define PLIANT_IO_H

#include "pliant/document.h"

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

// ---- reduced models (robot files of any kind: document.h)
// A reduced robot from text in memory; `path` is used in messages.
PL_API pl_status pl_reduced_load_text(const char *text, size_t length, const char *path, pl_model **out,
                                      pl_findings *findings, pl_error *err);
// Writes a definition as a robot file, preceded by `comment` (lines that begin with #; may be NULL).
PL_API pl_status pl_reduced_write(const pl_reduced_def *def, const char *comment, const char *path,
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
PL_API pl_status pl_readings_read(const char *path, const pl_model *model, pl_readings *out, pl_error *err);
PL_API void pl_readings_clear(pl_readings *readings);

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
