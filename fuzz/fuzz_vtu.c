// VTU meshes: XML, base64, zlib, raw data, then the checks of the mesh.
#include "fuzz.h"
#include "meshfile/meshfile.h"
#include "pliant/result.h"

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    if (pl_mesh_read_vtu(fuzz_write("mesh.vtu", data, size), 1, &mesh, NULL, &err) == PL_OK) {
        pl_mesh_destroy(mesh);
    }
    return 0;
}
