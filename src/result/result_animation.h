// Inside result: the shapes of a series kept for files that are written at the end: the skin of the body, a
// number per vertex to colour by, and the lines of cables and fibres.
#ifndef PL_RESULT_ANIMATION_H
#define PL_RESULT_ANIMATION_H

#include "result/result_series.h"
#include "result/result_skin.h"

typedef struct result_line {
    const char *name;
    int32_t start, count; // points
} result_line;

struct result_animation {
    pl_field color;
    result_skin skin;
    double tube;
    float **position, **value, **line; // per shape; value NULL: colours by region
    int capacity;
    result_line *part;
    int line_count;
    int32_t line_points;
};

// Fills series->animation; refused where the model has no body or not that field.
pl_status result_animation_begin(pl_series *series, pl_field color, pl_error *err);
pl_status result_animation_add(pl_series *series, pl_error *err);

// The range of the values over all shapes; `low` above `high` where there are none.
void result_animation_range(const result_animation *animation, int shapes, double *low, double *high);

// The region of every vertex of a part, on the heap (pl_free); NULL: no memory.
uint8_t *result_animation_regions(const result_animation *animation, const result_skin_part *part);

// The colour of a vertex of the skin in linear RGB, as glTF and USD have it: by value, or of `region`.
void result_animation_rgb(const result_animation *animation, int shape, int32_t vertex, int region,
                          double low, double high, double rgb[3]);

#endif
