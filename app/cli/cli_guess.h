// `pliant new --from`: a first robot file for the user's own part.
#ifndef PL_CLI_GUESS_H
#define PL_CLI_GUESS_H

#include "cli.h"

// Copies `part` into `folder`, meshes it once, guesses cavities, base and tip, and writes the robot file
// `path`. Returns an exit status.
int cli_guess_write(const cli_args *args, const char *part, const char *folder, const char *path);

#endif
