// Abaqus and CalculiX meshes (.inp).
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
    if (pl_mesh_read_inp(fuzz_write("mesh.inp", data, size), 1, &mesh, NULL, &err) == PL_OK) {
        pl_mesh_destroy(mesh);
    }
    return 0;
}
