// Inside document: the description of a robot without its mesh as YAML, and arrays of numbers as text.
#ifndef PL_DOCUMENT_LEARNED_H
#define PL_DOCUMENT_LEARNED_H

#include "document/document_tree.h"
#include "learned/learned.h"

// `  commands:` and so on, each line indented by two blanks.
void doc_about_write(pl_text *text, const pl_model_info *info);

// Reads it from a map; defects are reported to `f`.
bool doc_about_read(doc_robot_file *f, const doc_node *map, pl_about *out);

// Numbers separated by blanks, in quotes; %.9g (short) or %.17g.
void doc_numbers_write(pl_text *text, const double *value, int64_t count, bool brief);

// `count` numbers from the scalar `key` of a map into `out`; a defect if they are fewer or more, or not
// finite (NAN is allowed as "nan" where `gaps`).
bool doc_numbers_read(doc_robot_file *f, const doc_node *map, const char *key, double *out, int64_t count,
                      bool gaps);
bool doc_whole_read(doc_robot_file *f, const doc_node *map, const char *key, int low, int high, int *out);
bool doc_real_read(doc_robot_file *f, const doc_node *map, const char *key, double *out);

// A learned model from its document; reports as pl_learned_read_text.
pl_status doc_learned_read(const pl_robot_document *document, pl_learned **out, pl_findings *findings,
                           pl_error *err);

#endif
