// Inside meshfile: a mesh under construction, filled by the readers of all formats.
#ifndef PL_MESHFILE_BUILD_H
#define PL_MESHFILE_BUILD_H

#include "base/base.h"
#include "mesh/mesh.h"
#include "meshfile/meshfile.h"
#include "pliant/text.h"
#include "text/text_scan.h"

// What is written, and one format of files.
typedef struct mesh_output {
    const pl_mesh *mesh;
    const char *surface;    // of it alone; NULL: the whole boundary
    const double *position; // NULL: undeformed
    const pl_mesher *mesher;
} mesh_output;

typedef struct mesh_format {
    const char *extension; // with the dot
    pl_mesh_content content;
    pl_status (*read)(const char *path, double unit, pl_mesh **out, pl_findings *findings, pl_error *err);
    pl_status (*write)(const mesh_output *m, const char *path, pl_error *err); // NULL: only read
} mesh_format;

// Names in the order in which they were added; owns them.
typedef struct pl_names {
    char **name;
    int32_t count, capacity;
} pl_names;

// Growing arrays; a failed growth sets `failed`, and pl_build_finish reports it.
typedef struct pl_build {
    double *position; // 3 per vertex, in units of the file
    uint8_t *kind;    // pl_element_kind of each element
    int32_t *region;
    int32_t *node; // of all elements, one after the other
    int32_t *face; // 5 per face: surface, four corners (the fourth -1 for triangles)
    int32_t vertex_count, element_count, node_count, face_count;
    int32_t position_room, kind_room, region_room, node_room, face_room; // entries taken
    pl_names regions, surfaces;
    bool failed;
} pl_build;

// The index of `name`, which is added when it is new; -1 when out of memory.
int32_t pl_names_find(const pl_names *names, const char *name); // -1 when there is none
int32_t pl_names_add(pl_names *names, const char *name);
int32_t pl_names_add_numbered(pl_names *names, const char *stem, long long number);
void pl_names_clear(pl_names *names);

void pl_build_vertex(pl_build *build, const double x[3]);
void pl_build_element(pl_build *build, pl_element_kind kind, const int32_t *node, int32_t region);
void pl_build_face(pl_build *build, int32_t surface, const int32_t *corner, int corner_count);

// Scales by `unit` (mm per unit of the file; 0 is 1), creates the mesh, and says what was repaired as
// findings about `path`. Clears the build in any case.
pl_status pl_build_finish(pl_build *build, const char *path, double unit, pl_mesh **out,
                          pl_findings *findings, pl_error *err);
void pl_build_clear(pl_build *build);

// Faces of a set of nodes: every boundary face whose nodes are all marked joins the surface. For formats that
// name surfaces by nodes; looks at corners only. `marked` has one entry per vertex.
pl_status pl_build_faces_of_nodes(pl_build *build, int32_t surface, const uint8_t *marked, pl_error *err);

#endif
