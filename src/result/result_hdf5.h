// Inside result: writing HDF5 files of plain arrays in one group, without a library: superblock version 0,
// contiguous data as it comes, and at the end object headers, names and the index of the group.
#ifndef PL_RESULT_HDF5_H
#define PL_RESULT_HDF5_H

#include "text/text_file.h"

typedef enum result_hdf5_type {
    RESULT_HDF5_INT32,
    RESULT_HDF5_FLOAT32,
    RESULT_HDF5_FLOAT64
} result_hdf5_type;

typedef struct result_hdf5_set {
    char name[56];
    result_hdf5_type type;
    int64_t rows, columns; // columns 0: one dimension
    uint64_t address, header, name_at;
} result_hdf5_set;

typedef struct result_hdf5 {
    text_stream stream;
    result_hdf5_set *set;
    int32_t count, capacity;
} result_hdf5;

pl_status result_hdf5_open(result_hdf5 *file, const char *path, pl_error *err);

// Writes an array at once. Names differ from each other.
pl_status result_hdf5_put(result_hdf5 *file, const char *name, result_hdf5_type type, int64_t rows,
                          int64_t columns, const void *data, pl_error *err);

// Writes the index and renames the file. Clear it afterwards; without closing nothing stays.
pl_status result_hdf5_close(result_hdf5 *file, pl_error *err);
void result_hdf5_clear(result_hdf5 *file);

#endif
