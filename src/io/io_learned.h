// Inside io: the description of a robot without its mesh as YAML, and arrays of numbers as text.
#ifndef PL_IO_LEARNED_H
#define PL_IO_LEARNED_H

#include "io/io_document.h"
#include "learned/learned.h"

// `  commands:` and so on, each line indented by two blanks.
void io_about_write(pl_text *text, const pl_model_info *info);
// Reads it from a map; defects are reported to `f`.
bool io_about_read(io_robot_file *f, const io_node *map, pl_about *out);
// Numbers separated by blanks, in quotes; %.9g (short) or %.17g.
void io_numbers_write(pl_text *text, const double *value, int64_t count, bool brief);
// `count` numbers from the scalar `key` of a map into `out`; a defect if they are fewer or more, or not
// finite (NAN is allowed as "nan" where `gaps`).
bool io_numbers_read(io_robot_file *f, const io_node *map, const char *key, double *out, int64_t count,
                     bool gaps);
bool io_whole_read(io_robot_file *f, const io_node *map, const char *key, int low, int high, int *out);
bool io_real_read(io_robot_file *f, const io_node *map, const char *key, double *out);

// A learned model from its document; reports as pl_learned_read_text.
pl_status io_learned_read(const pl_robot_document *document, pl_learned **out, pl_findings *findings,
                          pl_error *err);

#endif
