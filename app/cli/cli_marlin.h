// A machine that runs Marlin on a serial line (docs/howto/control.md): numbered lines with a checksum, each
// answered by `ok`.
#ifndef PL_CLI_MARLIN_H
#define PL_CLI_MARLIN_H

#include "cli.h"

// The line and what was read from it but not used yet.
typedef struct marlin {
    int fd;    // -1: none
    long line; // number of the last one taken
    char buffer[1024];
    size_t used;
    char reason[200];       // why the last line was not taken
    int resent;             // lines that were sent again
    bool ignore_interrupts; // while the machine is brought to a safe state
} marlin;

// "DEVICE" or "DEVICE@BAUD". Waits for the board to start, then begins to count lines. Returns an exit
// status.
int marlin_open(const cli_args *args, const char *device, double timeout, marlin *m);

// Sends one or more lines of G-code (comments are left out) and waits for each `ok`. NULL, or why not.
const char *marlin_send(marlin *m, const char *gcode, double timeout);
void marlin_close(marlin *m);

#endif
