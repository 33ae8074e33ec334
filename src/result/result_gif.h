// Inside result: animated GIF (version 89a). Frames are taken one by one and written at the end, with one
// table of 256 colours for all of them.
#ifndef PL_RESULT_GIF_H
#define PL_RESULT_GIF_H

#include "base/base.h"

typedef struct result_gif {
    int width, height;
    int count, capacity;
    uint32_t **pixel; // per frame: 6 bits each of red, green, blue
    int *delay;       // per frame, hundredths of a second
} result_gif;

// Takes the frame `bgrx`, 4 bytes per pixel, rows `stride` apart. False: no memory.
bool result_gif_add(result_gif *gif, const unsigned char *bgrx, int stride, int delay);

// The file; played for ever.
void result_gif_write(const result_gif *gif, pl_text *out);
void result_gif_clear(result_gif *gif);

#endif
