// Inside result: films by the program ffmpeg, which is started for the purpose and gets raw frames.
#ifndef PL_RESULT_VIDEO_H
#define PL_RESULT_VIDEO_H

#include <sys/types.h>
#include "text/text_file.h"

typedef struct result_video {
    text_stream file; // ffmpeg writes into its temporary file
    pid_t process;    // 0: none
    int socket;
    char *path;
} result_video;

// Whether ffmpeg can be started: asked before the work begins.
pl_status result_video_check(const char *path, pl_error *err);

// Frames are BGRX, 4 bytes per pixel; even numbers of pixels. End or clear it in any case.
pl_status result_video_begin(result_video *video, const char *path, int width, int height, int rate,
                             pl_error *err);
pl_status result_video_put(result_video *video, const unsigned char *bgrx, size_t bytes, pl_error *err);
pl_status result_video_end(result_video *video, pl_error *err);
void result_video_clear(result_video *video); // gives up; nothing where it was ended

#endif
