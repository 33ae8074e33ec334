// Volume meshes and surfaces in the formats of other programs.
#ifndef PLIANT_MESHFILE_H
#define PLIANT_MESHFILE_H

#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- volume meshes by extension: .vtu, .node/.ele and .inp directly; .msh, .vtk and .unv through the mesher
PL_API_CHECKED pl_status pl_mesh_load(const char *path, double unit, const pl_mesher *mesher, pl_mesh **out,
                                      pl_findings *findings, pl_error *err);

typedef enum pl_vtu_encoding { PL_VTU_ASCII, PL_VTU_BASE64, PL_VTU_RAW } pl_vtu_encoding;

// Regions are cell data `region` with their names in field data. Surfaces are written as triangles and
// quadrilaterals with cell data `surface`, so that they are preserved when the file is read back.
PL_API_CHECKED pl_status pl_mesh_write_vtu(const pl_mesh *mesh, const char *path, pl_vtu_encoding encoding,
                                           pl_error *err);
PL_API_CHECKED pl_status pl_mesh_write_tetgen(const pl_mesh *mesh, const char *path, pl_error *err);
PL_API_CHECKED pl_status pl_mesh_write_inp(const pl_mesh *mesh, const char *path, pl_error *err);

// A surface (NULL: the whole boundary) as binary STL; `position` NULL: undeformed.
PL_API_CHECKED pl_status pl_mesh_write_stl(const pl_mesh *mesh, const char *surface, const double *position,
                                           const char *path, pl_error *err);

#ifdef __cplusplus
}
#endif
#endif
