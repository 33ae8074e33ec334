// Inside text: tables of numbers as people keep them in text files.
#ifndef PL_TEXT_TABLE_H
#define PL_TEXT_TABLE_H

#include "base/base.h"
#include "pliant/text.h"

// more are refused: a table of that size is a mistake
#define TEXT_TABLE_COLUMNS 64
#define TEXT_TABLE_ROWS 1000000

// A cell that is no number.
typedef struct text_table_wrong {
    int line; // 0: none
    char text[32];
} text_table_wrong;

// Owns value, line and run; `path` is borrowed.
typedef struct text_table {
    const char *path;
    bool heading;
    int column_count, row_count;
    char name[TEXT_TABLE_COLUMNS][32];          // lower case, without the unit; "" without a heading
    char unit[TEXT_TABLE_COLUMNS][16];          // "" when none is given
    double *value;                              // column_count per row; NAN where the cell is empty or "nan"
    int *line;                                  // of each row
    text_table_wrong wrong[TEXT_TABLE_COLUMNS]; // the first cell of each column that is neither
    int nan_line[TEXT_TABLE_COLUMNS];           // the first line with "nan" in each column; 0: none
    int heading_line;                           // 1 without a heading
    int run_column;                             // the column "run"; -1: none
    char (*run)[32];                            // its text in each row, NULL without it
} text_table;

// Columns are separated by commas, semicolons, tabs or blanks (the first of these found in the file's first
// row, outside double quotes); `#` begins a comment; a first row with a word in it is the heading: "x",
// "x [mm]" or "x (mm)". Numbers are decimal with a point. Cells of columns that are never asked for may hold
// anything.
// Messages name the file `path`; the text itself is not kept.
pl_status text_table_read(const char *path, text_table *out, pl_error *err);
pl_status text_table_parse(const char *text, size_t length, const char *path, text_table *out, pl_error *err);
void text_table_clear(text_table *table);
int text_table_find(const text_table *table, const char *name); // -1 when there is none

// One column into every `stride`-th number of `out`, in internal units. A cell that is no number is refused
// with file, line and column; so is an empty one, unless `gaps` are allowed: NAN.
typedef enum text_table_cells { TEXT_TABLE_WHOLE, TEXT_TABLE_GAPS } text_table_cells;
pl_status text_table_column(const text_table *table, int column, pl_dimension dimension,
                            text_table_cells cells, double *out, int stride, pl_error *err);

// The same without regard to the unit: the numbers times `factor`.
pl_status text_table_numbers(const text_table *table, int column, double factor, text_table_cells cells,
                             double *out, int stride, pl_error *err);

#endif
