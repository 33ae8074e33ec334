// Volume meshes and surfaces in the formats of other programs, by the extension of the file.
#ifndef PLIANT_MESHFILE_H
#define PLIANT_MESHFILE_H

#include "pliant/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pl_mesh_content {
    PL_MESH_NO_CONTENT, // not a format of meshes
    PL_MESH_VOLUME,     // .vtu .inp .node .ele; through the mesher .msh .vtk .unv
    PL_MESH_SURFACE,    // .stl .obj
    PL_MESH_CAD         // .step .stp
} pl_mesh_content;

PL_API pl_mesh_content pl_mesh_content_of(const char *path);

// ---- volume meshes; lengths in the file are in units of `unit` mm
PL_API_CHECKED pl_status pl_mesh_load(const char *path, double unit, const pl_mesher *mesher, pl_mesh **out,
                                      pl_findings *findings, pl_error *err);

// As .vtu, .inp (Abaqus, CalculiX), .node with .ele (TetGen), .msh (through the mesher), or its boundary as
// binary .stl: of a named surface, NULL for the whole boundary, and with the vertices at `position`, NULL for
// the undeformed mesh.
PL_API_CHECKED pl_status pl_mesh_write(const pl_mesh *mesh, const char *surface, const double *position,
                                       const pl_mesher *mesher, const char *path, pl_error *err);
PL_API const char *pl_mesh_write_extension(int i); // ".vtu" ...; NULL behind the last

#ifdef __cplusplus
}
#endif
#endif
