// Inside io: writing HDF5 files of plain arrays in one group, without a library: superblock version 0,
// contiguous data as it comes, and at the end object headers, names and the index of the group.
#ifndef PL_IO_HDF5_H
#define PL_IO_HDF5_H

#include "io/io_file.h"

typedef enum io_hdf5_type { IO_HDF5_INT32, IO_HDF5_FLOAT32, IO_HDF5_FLOAT64 } io_hdf5_type;
typedef struct io_hdf5_set {
    char name[56];
    io_hdf5_type type;
    int64_t rows, columns; // columns 0: one dimension
    uint64_t address, header, name_at;
} io_hdf5_set;
typedef struct io_hdf5 {
    io_stream stream;
    io_hdf5_set *set;
    int32_t count, capacity;
} io_hdf5;

pl_status io_hdf5_open(io_hdf5 *file, const char *path, pl_error *err);
// Writes an array at once. Names differ from each other.
pl_status io_hdf5_put(io_hdf5 *file, const char *name, io_hdf5_type type, int64_t rows, int64_t columns,
                      const void *data, pl_error *err);
// Writes the index and renames the file. Clear it afterwards; without closing nothing stays.
pl_status io_hdf5_close(io_hdf5 *file, pl_error *err);
void io_hdf5_clear(io_hdf5 *file);

#endif
