// `pliant new --from`: a first robot file for the user's own part.
#ifndef PL_CLI_GUESS_H
#define PL_CLI_GUESS_H

#include "cli.h"

// Copies `part` into `folder`, meshes it once, guesses cavities, base and tip, and writes the robot file
// `path`. Returns an exit status.
int cli_guess_write(const cli_args *args, const char *part, const char *folder, const char *path);

// `pliant new` without arguments: asks on the terminal, then calls `run` with the answers as a command line.
bool cli_ask_possible(void);
int cli_ask_new(const cli_args *args, int (*run)(cli_args *));

#endif
