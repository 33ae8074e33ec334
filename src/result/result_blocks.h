// Inside result: a model in its current state, taken apart into blocks for files: the body with its fields,
// then cavities, cables, films, layers and fibres.
#ifndef PL_RESULT_BLOCKS_H
#define PL_RESULT_BLOCKS_H

#include "base/base.h"
#include "pliant/result.h"

typedef struct result_block {
    const char *group; // "cavities", "cables", "films", "layers" or "fibres"
    const char *name;  // of the actuator, layer or fibre
    int piece;         // of a fibre of several pieces, otherwise 0
    int32_t point_count;
    double *point;   // 3 each
    int32_t *vertex; // of the body, per point; NULL: a polyline of all points in order
    int64_t cell_count;
    int64_t *connectivity, *offset;
    uint8_t *type;          // VTK cell types
    const char *value_name; // a number of the whole block: "pressure_kpa", "tension_n"; NULL: none
    double value;
} result_block;

typedef struct result_blocks {
    pl_model *model;
    pl_model_info info;
    const pl_mesh *body;
    double *position;
    double *field[PL_FIELD_COUNT]; // in the units of pl_field_label; NULL: the model does not have it
    result_block *block;
    int count, capacity;
} result_blocks;

// Which parts of a model are wanted.
enum { RESULT_BLOCKS_FIELDS = 1, RESULT_BLOCKS_PARTS = 2 };

// `what` begins the sentence where the model has no body. Clear it in any case.
pl_status result_blocks_take(result_blocks *blocks, pl_model *model, unsigned wanted, const char *what,
                             pl_error *err);
void result_blocks_clear(result_blocks *blocks);

// One field in the unit of its label; on the vertices or elements of the body.
pl_status result_field_take(pl_model *model, const pl_mesh *body, pl_field field, double **out,
                            pl_error *err);

// The body alone.
pl_status result_blocks_write_body(const result_blocks *blocks, const char *path, pl_error *err);
pl_status result_blocks_write_block(const result_blocks *blocks, const result_block *block, const char *path,
                                    pl_error *err);

// "STEM_cavity_air.vtu" for the block, on the heap (pl_free); NULL: no memory. Characters of names that do
// not belong into a file name become '_'.
char *result_block_path(const char *stem, size_t stem_length, const result_blocks *blocks, int block);
const char *result_file_name(const char *path); // without its folders

#endif
