// TetGen meshes: a .node and an .ele file, in the input one behind the other, divided by a NUL.
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
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    const size_t first = end ? (size_t)(end - data) : size;

    fuzz_write("mesh.ele", end ? end + 1 : data, end ? size - first - 1 : 0);
    if (pl_mesh_read_tetgen(fuzz_write("mesh.node", data, first), 1, &mesh, NULL, &err) == PL_OK) {
        pl_mesh_destroy(mesh);
    }

    return 0;
}
