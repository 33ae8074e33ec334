// Inside io: tables of numbers as people keep them in text files.
#ifndef PL_IO_TABLE_H
#define PL_IO_TABLE_H

#include "base/base.h"
#include "pliant/io.h"

#define IO_TABLE_COLUMNS 64
#define IO_TABLE_ROWS 1000000

typedef struct io_table {
    const char *path;
    bool heading;
    int column_count, row_count;
    char name[IO_TABLE_COLUMNS][32]; // lower case, without the unit; "" without a heading
    char unit[IO_TABLE_COLUMNS][16]; // "" when none is given
    double *value;                   // column_count per row; NAN where there is no number
    int *line;                       // of each row
    int heading_line;                // 1 without a heading
    int run_column;                  // the column "run"; -1: none
    char (*run)[32];                 // its text in each row, NULL without it
} io_table;

// Columns apart by commas, semicolons, tabs or blanks (the first of these that stands in the file's first
// row); `#` begins a comment; a first row with a word in it is the heading: "x", "x [mm]" or "x (mm)".
pl_status io_table_read(const char *path, io_table *out, pl_error *err);
void io_table_clear(io_table *table);
int io_table_find(const io_table *table, const char *name); // -1 when there is none
// One column into every `stride`-th number of `out`, in internal units; refuses cells without a number.
pl_status io_table_column(const io_table *table, int column, pl_dimension dimension, double *out, int stride,
                          pl_error *err);

#endif
