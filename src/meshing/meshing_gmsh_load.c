// Opens Gmsh, with its CAD kernel and some 80 libraries, at its first use.
#include "base/load.h"
#include "meshing/meshing_impl.h"

// NULL pointers until meshing_gmsh_load.
gmsh_calls meshing_gmsh;

// The library of the version that this was built with, or any.
pl_status meshing_gmsh_load(pl_error *err)
{
    static const pl_library_call call[] = {
#define X(name) {#name, offsetof(gmsh_calls, name##_)},
        GMSH_CALLS(X)
#undef X
    };
    static pl_library library = {PL_GMSH_LIBRARY, "meshing needs Gmsh", call,
                                 PL_COUNT(call),  &meshing_gmsh,        false},
                      other = {"libgmsh.so",   "meshing needs Gmsh", call,
                               PL_COUNT(call), &meshing_gmsh,        false};

    return pl_library_open(&library, err) == PL_OK ? PL_OK : pl_library_open(&other, err);
}
