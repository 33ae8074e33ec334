// Pictures of cameras (first byte even: PNG or JPEG, searched for a board) and files of cameras (odd: JSON).
#include "fuzz.h"
#include "pliant/camera.h"
#include "pliant/dataset.h"

enum { ROOM = 3, COLUMNS = 4, ROWS = 3 };

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
    if (data[0] % 2 == 1) {
        pl_camera camera[ROOM];
        pl_camera_pose rig[ROOM];
        int count = 0;
        (void)pl_cameras_read(fuzz_write("cameras.json", data + 1, size - 1), camera, rig, ROOM, &count,
                              &err);
        return 0;
    }

    pl_image image = {0};
    if (pl_image_read(fuzz_write("image", data + 1, size - 1), &image, &err) == PL_OK) {
        // a small file may be a picture of a hundred million pixels, whose search takes minutes
        double pixel[2 * COLUMNS * ROWS];
        const pl_board board = {.columns = COLUMNS, .rows = ROWS, .square = 8};
        if ((int64_t)image.width * image.height < 100000) {
            (void)pl_board_find(&image, &board, pixel, &err);
        }
        pl_image_clear(&image);
    }

    return 0;
}
