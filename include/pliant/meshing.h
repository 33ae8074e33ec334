// pliant::meshing: volume meshes from CAD, closed surfaces, parametric designs or mesh files of other
// programs, using Gmsh. A separate library. Gmsh runs in a child process, so that a failed assertion or an
// invalid memory access in Gmsh or in its CAD kernel becomes an error message, and returning false from the
// progress callback ends any stage within a fraction of a second. Calls may come from several threads.
#ifndef PLIANT_MESHING_H
#define PLIANT_MESHING_H

#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// The mesher to pass to pl_model_load. Its memory is static.
PL_API const pl_mesher *pl_meshing_mesher(void);

// Reads a triangle surface: STL (ASCII, binary) or OBJ, welded. `unit` is mm per unit of the file and must be
// given.
PL_API_CHECKED pl_status pl_meshing_read_surface(const char *path, double unit, pl_trisurf *out,
                                                 pl_error *err);

// What the repair of a surface found and changed.
typedef struct pl_repair {
    int32_t triangles, result;      // before and after
    int32_t joined;                 // vertices that lay together
    int32_t degenerate, duplicates; // triangles removed
    int32_t turned;                 // triangles that looked in the other direction than their neighbours
    int32_t holes, holes_left;      // closed; left because they are large
    double largest_left;            // mm, across
    bool decimated;                 // fewer triangles than read
    double deviation;               // mm, largest distance of old vertices from the decimated surface
} pl_repair;

// Repairs a surface in place: vertices within 1e-6 of its size are joined, degenerate and duplicate triangles
// removed, triangles turned so that neighbours agree, holes closed that are at most `largest_hole` mm across
// (0: 5 % of its size), and edges collapsed while there are more than `most_triangles` (0: any number). What
// remains is for the checks of meshing.
PL_API_CHECKED pl_status pl_meshing_repair(pl_trisurf *surface, double largest_hole, int32_t most_triangles,
                                           pl_repair *report, pl_error *err);

// Meshes the solids of a STEP file. `unit`: mm per unit of the file, 0: as the file says; `size`: target edge
// length in mm, 0: chosen from the wall thickness; `order`: 1 or 2. `progress` and `findings` may be NULL.
PL_API_CHECKED pl_status pl_meshing_from_step(const char *path, double unit, double size, int order,
                                              const pl_progress *progress, pl_mesh **out,
                                              pl_findings *findings, pl_error *err);

// A first robot file for the user's own part, a surface (STL, OBJ) or a volume mesh that was read or
// generated from it. Base and tip are the flat ends along the longest axis; cavities are found by nesting, or
// as points from which nearly every ray hits a wall; the mesh size follows from the walls. Comments in the
// file say what was guessed. Freed with pl_meshing_free_text.
typedef struct pl_guess_source {
    const char *path;
    const pl_mesh *mesh;   // of the part; NULL: `path` is a surface, which is read here
    double unit;           // mm per unit of the file; 0: unknown (mm is then assumed, and the file says so)
    const char *reference; // the path to write into the robot file; NULL: the name of the file
} pl_guess_source;
#define PL_GUESS_CAVITIES 12
typedef struct pl_guess {
    double low[3], high[3]; // mm
    double axis[3];         // from base to tip
    double base[3];         // a point of the base
    bool across;            // base and tip do not lie on the longest axis: a bent part, or a plate
    double base_area;       // mm^2, of a flat end; 0: it is not flat
    int cavity_count;
    double volume[PL_GUESS_CAVITIES]; // mm^3; NAN: not known
    bool open[PL_GUESS_CAVITIES];     // to the outside
    int channel_count;                // holes through the body, which become cables
    int crossing_count;               // holes across the part, which do not
} pl_guess;

PL_API_CHECKED pl_status pl_meshing_guess(const pl_guess_source *source, char **robot_yaml, pl_guess *summary,
                                          pl_findings *findings, pl_error *err);
PL_API void pl_meshing_free_text(char *text);

// ---- parametric designs
typedef struct pl_design_parameter {
    const char *name, *unit, *help;
    double value, low, high; // default and limits
    bool whole;              // a count
} pl_design_parameter;

typedef struct pl_design {
    const char *kind, *summary;
    const pl_design_parameter *parameter;
    int parameter_count;
    const char *robot_yaml; // the commented robot file that `pliant new` writes
    bool test_body;         // a beam, tube, sphere or specimen instead of a robot; these are listed last
} pl_design;

// A parameter of a design and its value in internal units.
typedef struct pl_design_value {
    const char *name;
    double value;
} pl_design_value;

PL_API int pl_design_count(void);
PL_API const pl_design *pl_design_at(int i);
PL_API const pl_design *pl_design_find(const char *kind); // NULL if unknown

// Meshes a design with these parameters, the others at their defaults; `size`, `order` as above.
PL_API_CHECKED pl_status pl_meshing_from_design(const char *kind, const pl_design_value *value, int count,
                                                double size, int order, const pl_progress *progress,
                                                pl_mesh **out, pl_findings *findings, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
