// Triangle surfaces: the first byte chooses STL or OBJ; a surface that can be read is checked, too.
#include "fuzz.h"
#include "mesh/mesh.h"
#include "pliant/meshing.h"

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }

    pl_error err = {0};
    pl_trisurf surface = {0};
    const char *name = data[0] % 2 ? "part.stl" : "part.obj";
    if (pl_meshing_read_surface(fuzz_write(name, data + 1, size - 1), 1, &surface, &err) == PL_OK) {
        (void)pl_trisurf_check(&surface, "part", NULL, &err);
        pl_trisurf_clear(&surface);
    }

    return 0;
}
