// Loads Gmsh at its first use.
#include <dlfcn.h>
#include <stddef.h>
#include "meshing/meshing_impl.h"

// NULL pointers until meshing_gmsh_load.
gmsh_calls meshing_gmsh;

// The library of the version that this was built with, or any. Fails when one is missing or lacks a function.
pl_status meshing_gmsh_load(pl_error *err)
{
    static const struct {
        const char *name;
        size_t place;
    } call[] = {
#define X(name) {#name, offsetof(gmsh_calls, name##_)},
        GMSH_CALLS(X)
#undef X
    };

    // RTLD_LOCAL: the symbols of Gmsh and its 80 libraries stay out of the program
    void *library = dlopen(PL_GMSH_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        library = dlopen("libgmsh.so", RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        return pl_fail(err, PL_FAILED, "meshing: Gmsh cannot be loaded: %s", dlerror());
    }

    for (int i = 0; i < PL_COUNT(call); ++i) {
        void *found = dlsym(library, call[i].name);
        if (!found) {
            return pl_fail(err, PL_FAILED, "meshing: %s has no function %s", PL_GMSH_LIBRARY, call[i].name);
        }
        memcpy((char *)&meshing_gmsh + call[i].place, &found, sizeof found);
    }

    return PL_OK;
}
