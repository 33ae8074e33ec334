// Inside meshfile: VTK's XML files of unstructured grids (VTU). Arrays as they stand in a file, and a grid to
// be written.
#ifndef PL_MESHFILE_VTU_H
#define PL_MESHFILE_VTU_H

#include "meshfile/meshfile_build.h"

// ---- reading
typedef enum pl_vtu_section {
    PL_VTU_NOWHERE,
    PL_VTU_POINTS,
    PL_VTU_CELLS,
    PL_VTU_CELL_DATA,
    PL_VTU_FIELD_DATA
} pl_vtu_section;

typedef enum pl_vtu_type {
    PL_VTU_INT8,
    PL_VTU_UINT8,
    PL_VTU_INT16,
    PL_VTU_UINT16,
    PL_VTU_INT32,
    PL_VTU_UINT32,
    PL_VTU_INT64,
    PL_VTU_UINT64,
    PL_VTU_FLOAT32,
    PL_VTU_FLOAT64,
    PL_VTU_STRING,
    PL_VTU_TYPE_COUNT
} pl_vtu_type;

typedef enum pl_vtu_format { PL_VTU_IN_ASCII, PL_VTU_IN_BINARY, PL_VTU_IN_APPENDED } pl_vtu_format;

// One DataArray: where it stands and its text (empty when the data is appended).
typedef struct pl_vtu_array {
    pl_vtu_section section;
    int piece; // -1 for field data
    char name[64];
    pl_vtu_type type;
    pl_vtu_format format;
    int64_t components, offset; // numbers per tuple; bytes into the appended data
    int line;                   // in the file, for messages
    pl_text text;               // of ascii and binary arrays
} pl_vtu_array;

// What the head of the file says about all arrays.
typedef struct pl_vtu_coding {
    const char *path;
    bool swap;        // the other byte order
    int header_bytes; // 4 or 8
    bool compressed;
    const char *appended; // first byte after the underscore, NULL when there is none
    size_t appended_bytes;
    bool appended_base64;
} pl_vtu_coding;

const char *pl_vtu_type_name(pl_vtu_type type);

// `count` numbers of an array, freed with pl_free. The size is checked against the data before memory is
// taken.
pl_status pl_vtu_decode_reals(const pl_vtu_coding *coding, const pl_vtu_array *array, int64_t count,
                              double **out, pl_error *err);
pl_status pl_vtu_decode_wholes(const pl_vtu_coding *coding, const pl_vtu_array *array, int64_t count,
                               int64_t **out, pl_error *err);

// The strings of an array of type String, each closed by a NUL.
pl_status pl_vtu_decode_names(const pl_vtu_coding *coding, const pl_vtu_array *array, pl_names *names,
                              pl_error *err);

// ---- writing
// An array of points or cells.
typedef struct pl_vtu_field {
    const char *name;
    pl_vtu_type type; // UINT8, INT32, INT64 or FLOAT64: what `data` points at
    int components;
    const void *data;
} pl_vtu_field;

// A list of names as field data.
typedef struct pl_vtu_names {
    const char *name;
    const char *const *text;
    int32_t count;
} pl_vtu_names;

// Borrowed arrays of what is written.
typedef struct pl_vtu_grid {
    int64_t point_count, cell_count;
    const double *point;                  // mm, 3 per point
    const int64_t *connectivity, *offset; // offset: the end of each cell
    const uint8_t *type;                  // VTK cell types
    const pl_vtu_field *point_data, *cell_data;
    int point_data_count, cell_data_count;
    const pl_vtu_names *names;
    int names_count;
} pl_vtu_grid;

uint8_t pl_vtu_cell_type(pl_element_kind kind);
void pl_text_add_base64(pl_text *text, const unsigned char *data, size_t bytes);
void pl_vtu_add_escaped(pl_text *text, const char *s); // inside a quoted XML attribute
pl_status pl_vtu_write(const pl_vtu_grid *grid, pl_vtu_encoding encoding, const char *path, pl_error *err);

#endif
