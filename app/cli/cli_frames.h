// Image files of several cameras, one pattern per camera; frames of the same moment have the same text in
// place of the `*`.
#ifndef CLI_FRAMES_H
#define CLI_FRAMES_H

#include "cli.h"

#define CLI_CAMERAS 8

typedef struct cli_frames {
    int cameras, count;
    char **key;               // per frame: what stands for the `*`
    char **path[CLI_CAMERAS]; // per camera and frame; NULL: none
} cli_frames;

// From the plain arguments `first` on. CLI_DONE, or what the program exits with.
int cli_frames_find(const cli_args *args, int first, cli_frames *out);
void cli_frames_clear(cli_frames *frames);

#endif
