// For tests and fuzzing: recordings from memory.
#ifndef PL_DATASET_ROOM_H
#define PL_DATASET_ROOM_H

#include "pliant/dataset.h"

// As pl_recording_read, of text in memory; `path` names it in messages and must outlive the result.
pl_status pl_recording_parse(const char *text, size_t length, const char *path, pl_recording **out,
                             pl_error *err);

#endif
