// Legacy VTK meshes, ASCII and binary.
#include "fuzz.h"
#include "meshing/meshing_impl.h"

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
    pl_mesh_report report = {0};

    if (meshing_read_vtk(fuzz_write("mesh.vtk", data, size), 1, &mesh, &report, &err) == PL_OK) {
        pl_mesh_destroy(mesh);
    }

    return 0;
}
