// Tables: paths of waypoints and target shapes.
#include "fuzz.h"
#include "pliant/dataset.h"
#include "pliant/result.h"

int LLVMFuzzerInitialize(int *argument_count, char ***argument)
{
    (void)argument_count, (void)argument;
    fuzz_enter();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double rest[6] = {0, 0, 0, 10, 0, 0};
    pl_error err = {0};
    const char *path = fuzz_write("table.csv", data, size);
    pl_path_file file = {0};

    if (pl_path_read(path, &file, &err) == PL_OK) {
        pl_path_clear(&file);
    }

    pl_shape_target target = {0};
    if (pl_shape_target_read(path, rest, 2, 1.0, &target, &err) == PL_OK) {
        pl_shape_target_clear(&target);
    }

    return 0;
}
