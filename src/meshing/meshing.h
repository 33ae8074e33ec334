// What tests and other rooms may call beside include/pliant/meshing.h: parts that have been read before,
// cavities of a mesh, closed-form volumes of designs.
#ifndef PL_MESHING_ROOM_H
#define PL_MESHING_ROOM_H

#include "mesh/mesh.h"
#include "pliant/meshing.h"

// Reads a volume mesh: MSH 2.2 and 4.1 (ASCII, binary) and UNV through Gmsh, legacy VTK (ASCII, binary).
// Regions and surfaces come from physical groups, in VTK files from cell data named region, material or
// CellEntityIds (`region7`); without any of these there is one region, `body`. `unit` is mm per unit of the
// file.
pl_status pl_meshing_read(const char *path, double unit, pl_mesh **out, pl_findings *findings, pl_error *err);

// Writes MSH 4.1 (ASCII or binary) with physical groups for regions and surfaces. The file is written under a
// temporary name and then renamed.
pl_status pl_meshing_write_msh(const pl_mesh *mesh, const char *path, bool binary, pl_error *err);

// Meshes closed surfaces that have been read before. `size` and `order` as in pl_mesh_source. Regions are
// named by the parts.
typedef struct pl_meshing_part {
    pl_trisurf surface;
    const char *region;
    bool cavity;
} pl_meshing_part;

pl_status pl_meshing_from_parts(const pl_meshing_part *part, int part_count, double size, int order,
                                const pl_progress *progress, pl_mesh **out, pl_findings *findings,
                                pl_error *err);

// Meshes the closed cavities bounded by named surfaces with tetrahedra that share the faces of the surface,
// each cavity as a region with the name of the surface, and replaces *mesh. Other surfaces are not changed.
// `size` as in pl_mesh_source. Fails if a cavity has quadrilateral faces, or if quadratic elements on a
// strongly curved wall would be inverted; *mesh is then unchanged.
pl_status pl_meshing_fill(pl_mesh **mesh, double size, const pl_progress *progress, pl_findings *findings,
                          pl_error *err);

// Closed-form volume (mm^3) of a region, or of the cavity bounded by a surface, for given parameters;
// negative if the design has no such name.
double pl_design_volume(const char *kind, const pl_source_parameter *parameter, int parameter_count,
                        const char *name);

#endif
