// Meshes that Gmsh reads: the checks of MSH and UNV files that come before it. The first byte chooses the
// format.
#include "fuzz.h"
#include "meshing/meshing_impl.h"

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }

    pl_error err = {0};
    char *text = fuzz_text(data + 1, size - 1);
    const file_bytes bytes = {.data = text, .size = size - 1};
    if (data[0] % 8 >= 4) {
        (void)meshing_check_unv("mesh.unv", &bytes, &err);
    } else {
        (void)meshing_check_msh("mesh.msh", &bytes, data[0] % 2, data[0] % 4 >= 2, &err);
    }

    free(text);

    return 0;
}
