// What the tests of the meshing room share.
#ifndef PL_MESHING_TOOLS_H
#define PL_MESHING_TOOLS_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "mesh/mesh.h"
#include "pliant/meshing.h"

// Gmsh and the libraries under it keep what they took until the program ends; that is not ours to mend.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libgmsh\nleak:libTK\nleak:libfltk\nleak:libfontconfig\nleak:libX11\n";
}

static inline pl_status tools_build(const pl_mesh_source *source, pl_mesh **mesh, pl_findings *findings,
                                    pl_error *err)
{
    const pl_mesher *mesher = pl_meshing_mesher();
    return mesher->build(mesher->user, source, NULL, mesh, findings, err);
}

// Volume enclosed by a named surface; fails the test when there is none.
static inline double tools_enclosed(const pl_mesh *mesh, const char *surface)
{
    const int32_t s = pl_mesh_find_surface(mesh, surface);
    if (s < 0) {
        print_error("no surface %s\n", surface);
        fail();
    }

    const pl_mesh_view v = pl_mesh_get(mesh);
    return pl_mesh_faces_enclosed(mesh, v.surface_face + v.surface_start[s],
                                  v.surface_start[s + 1] - v.surface_start[s]);
}

static inline double tools_area(const pl_mesh *mesh, const char *surface)
{
    const int32_t s = pl_mesh_find_surface(mesh, surface);
    if (s < 0) {
        print_error("no surface %s\n", surface);
        fail();
    }

    const pl_mesh_view v = pl_mesh_get(mesh);
    return pl_mesh_faces_area(mesh, v.surface_face + v.surface_start[s],
                              v.surface_start[s + 1] - v.surface_start[s]);
}

static char tools_folder[64];

static inline void tools_clean(void)
{
    DIR *folder = opendir(tools_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", tools_folder, entry->d_name);
        unlink(path);
    }

    if (folder) {
        closedir(folder);
    }
    rmdir(tools_folder);
}

// A file in a folder of its own, which goes when the program ends; valid until the next call.
static inline const char *tools_path(const char *name)
{
    static char path[256];
    if (!tools_folder[0]) {
        snprintf(tools_folder, sizeof tools_folder, "/tmp/pliant_meshing_XXXXXX");
        if (!mkdtemp(tools_folder) || atexit(tools_clean) != 0) {
            fail();
        }
    }

    snprintf(path, sizeof path, "%s/%s", tools_folder, name);
    return path;
}

static inline void tools_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

#endif
