// Inside io: what the writers of motions share.
#ifndef PL_IO_MOTION_H
#define PL_IO_MOTION_H

#include "base/base.h"
#include "pliant/report.h"

// The separator and a number, or the separator alone when it is not finite.
void io_text_number(pl_text *text, const char *before, double value);
// Writes the text beside `path` and renames it; clears it in any case.
pl_status io_text_write(pl_text *text, const char *path, pl_error *err);
double io_effort_scale(pl_actuator_kind kind); // internal value of one unit on the terminal
const char *io_effort_unit(pl_actuator_kind kind);

#endif
