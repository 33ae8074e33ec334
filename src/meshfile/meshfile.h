// For tests: the readers of single formats; programs use pl_mesh_load.
#ifndef PL_MESHFILE_ROOM_H
#define PL_MESHFILE_ROOM_H

#include "pliant/meshfile.h"

pl_status pl_mesh_read_vtu(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                           pl_error *err);
pl_status pl_mesh_read_tetgen(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                              pl_error *err);
pl_status pl_mesh_read_inp(const char *path, double unit, pl_mesh **out, pl_findings *findings,
                           pl_error *err);

#endif
