// Inside `compare`.
#ifndef PL_CLI_COMPARE_H
#define PL_CLI_COMPARE_H

#include "cli.h"

int cli_compare_robots(cli_args *args); // several robots, or one that is reduced, marker by marker

#endif
