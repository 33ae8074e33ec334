// pliant::meshing: from CAD, closed surfaces, parametric designs or foreign mesh files to volume meshes,
// through Gmsh. A library of its own. Gmsh runs in a child process (a fork), so that a failing assertion or a
// wild pointer in it or in the CAD kernel becomes an error sentence, and a false from the progress callback
// ends any stage within a fraction of a second. Calls may come from several threads.
#ifndef PLIANT_MESHING_H
#define PLIANT_MESHING_H

#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// The mesher to hand to pl_robot_load. Its memory is static.
PL_API const pl_mesher *pl_meshing_mesher(void);

// Reads a volume mesh: MSH 2.2 and 4.1 (ASCII, binary) and UNV through Gmsh, legacy VTK (ASCII, binary).
// Regions and surfaces come from physical groups, in VTK from cell data named region, material or
// CellEntityIds
// (`region7`); without any, one region `body`. `unit` is mm per unit of the file.
PL_API pl_status pl_meshing_read(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                                 pl_error *err);
// Writes MSH 4.1 (ASCII, or binary) with physical groups for regions and surfaces; beside and renamed.
PL_API pl_status pl_meshing_write_msh(const pl_mesh *mesh, const char *path, bool binary, pl_error *err);

// Reads a triangle surface: STL (ASCII, binary) or OBJ, welded. `unit` is mm per unit of the file and must be
// given.
PL_API pl_status pl_meshing_read_surface(const char *path, double unit, pl_trisurf *out, pl_error *err);

// From closed surfaces already read. `size` and `order` as in pl_mesh_source. Regions are named by the parts.
typedef struct pl_meshing_part {
    pl_trisurf surface;
    const char *region;
    bool cavity;
} pl_meshing_part;
PL_API pl_status pl_meshing_from_parts(const pl_meshing_part *part, int part_count, double size, int order,
                                       const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                                       pl_error *err);

// Meshes the closed cavities that named surfaces bound, each as a region of the surface's name, of tetrahedra
// that share the surface's faces, and replaces *mesh; other surfaces are left alone. `size` as in
// pl_mesh_source. Fails where a cavity has faces with four sides, or quadratic elements on a strongly curved
// wall would turn inside out; *mesh is then what it was.
PL_API pl_status pl_meshing_fill(pl_mesh **mesh, double size, const pl_progress *progress,
                                 pl_findings *findings, pl_error *err);

// A first robot file for a surface of one's own (STL or OBJ): finds voids by nesting, or a cavity open to the
// outside by looking around; base and tip by the flat ends of the longest axis; the size by the walls. What
// was guessed stands in comments. `unit` is mm per unit of the file, 0 when unknown (mm is then assumed, and
// said); `reference` is the file's path as the robot file shall spell it (NULL: its name). Freed with
// pl_meshing_free_text.
PL_API pl_status pl_meshing_guess(const char *path, double unit, const char *reference, char **robot_yaml,
                                  pl_findings *findings, pl_error *err);
PL_API void pl_meshing_free_text(char *text);

// ---- parametric designs
typedef struct pl_design_parameter {
    const char *name, *unit, *help;
    double value, low, high; // default and sane limits
    bool whole;              // a count
} pl_design_parameter;

typedef struct pl_design {
    const char *kind, *summary;
    const pl_design_parameter *parameter;
    int parameter_count;
    const char *robot_yaml; // the commented robot file that `pliant new` writes
} pl_design;

PL_API int pl_design_count(void);
PL_API const pl_design *pl_design_at(int i);
PL_API const pl_design *pl_design_find(const char *kind); // NULL when unknown
// Closed-form volume (mm^3) of a region, or of the cavity bounded by a surface, for given parameters;
// negative when the design has no such name.
PL_API double pl_design_volume(const char *kind, const pl_source_parameter *parameter, int parameter_count,
                               const char *name);

#ifdef __cplusplus
}
#endif
#endif
