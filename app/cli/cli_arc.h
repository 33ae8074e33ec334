// `fk --follow-arc`.
#ifndef PL_CLI_ARC_H
#define PL_CLI_ARC_H

#include "cli.h"

// Writes the path by arc length to the commands of the model where the option asks for it.
int cli_arc(const cli_args *args, cli_model *m);

#endif
