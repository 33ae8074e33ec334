// Inside text: files that are too long for memory, written piece by piece beside the target and renamed at
// the end.
#ifndef PL_TEXT_FILE_H
#define PL_TEXT_FILE_H

#include "base/base.h"
#include "pliant/text.h"

// Refuses what is there and is not a file (folders, pipes, devices): opening it could wait for ever.
pl_status text_regular(const char *path, pl_error *err);
pl_status text_database_regular(const char *path, pl_error *err); // and the files SQLite keeps beside it

typedef struct text_stream {
    int fd; // -1: closed
    char *path;
    char name[4096]; // of the temporary file; "" when there is none
    size_t length;   // bytes so far
} text_stream;

// Clear it in any case: what was not closed is removed.
pl_status text_stream_open(text_stream *stream, const char *path, pl_error *err);
pl_status text_stream_put(text_stream *stream, const void *data, size_t bytes, pl_error *err);

// Writes `head` over the first bytes and renames the file.
pl_status text_stream_close(text_stream *stream, const void *head, size_t bytes, pl_error *err);
void text_stream_clear(text_stream *stream);

#endif
