// For other modules: which formats there are, and the readers and writers of single formats; programs use
// pl_mesh_load and pl_mesh_write.
#ifndef PL_MESHFILE_ROOM_H
#define PL_MESHFILE_ROOM_H

#include "pliant/meshfile.h"

// Whether the core reads this format itself; the mesher reads the others.
bool pl_mesh_is_read_here(const char *path);

// The extensions of a kind of file, for messages: ".stl or .obj". `here`: only those the core reads itself.
void pl_mesh_extensions(pl_mesh_content content, bool here, char *buffer, size_t size);

pl_status pl_mesh_read_vtu(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                           pl_error *err);
pl_status pl_mesh_read_tetgen(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                              pl_error *err);
pl_status pl_mesh_read_inp(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                           pl_error *err);

typedef enum pl_vtu_encoding { PL_VTU_ASCII, PL_VTU_BASE64, PL_VTU_RAW } pl_vtu_encoding;

// Regions are cell data `region` with their names in field data. Surfaces are written as triangles and
// quadrilaterals with cell data `surface`, so that they are preserved when the file is read back.
pl_status pl_mesh_write_vtu(const pl_mesh *mesh, const char *path, pl_vtu_encoding encoding, pl_error *err);
pl_status pl_mesh_write_tetgen(const pl_mesh *mesh, const char *path, pl_error *err);
pl_status pl_mesh_write_inp(const pl_mesh *mesh, const char *path, pl_error *err);

// A surface (NULL: the whole boundary) as binary STL; `position` NULL: undeformed.
pl_status pl_mesh_write_stl(const pl_mesh *mesh, const char *surface, const double *position,
                            const char *path, pl_error *err);

#endif
