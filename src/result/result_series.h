// Inside result: what the writers of series share.
#ifndef PL_RESULT_SERIES_H
#define PL_RESULT_SERIES_H

#include "result/result_blocks.h"
#include "result/result_hdf5.h"

typedef struct result_animation result_animation; // shapes of the skin, see result_animation.h
typedef struct result_film result_film;           // shapes to be drawn, see result_film.c

struct pl_series {
    pl_model *model;
    char *path;
    size_t stem; // bytes of the path before its extension
    int count;   // shapes so far
    pl_status (*add)(pl_series *series, pl_error *err);
    pl_status (*finish)(pl_series *series, const double *time, pl_error *err);
    // pvd: the files of every shape
    char **file;
    int file_count, file_capacity;
    int *file_shape;         // the shape a file belongs to
    const char **file_block; // and the name of its block
    // xdmf
    result_hdf5 numbers;
    bool field[PL_FIELD_COUNT];
    // glb, usda
    result_animation *animation;
    // films and numbered pictures
    result_film *film;
};

pl_status result_xdmf_begin(pl_series *series, pl_error *err);
pl_status result_glb_begin(pl_series *series, pl_field color, pl_error *err);
pl_status result_usd_begin(pl_series *series, pl_field color, pl_error *err);

// Films by extension (.gif, .webm, .mp4), and numbered pictures.
bool result_film_is(const char *path);
pl_status result_film_begin(pl_series *series, pl_field color, pl_error *err);
void result_film_look(result_film *film, const pl_picture *picture);
void result_film_destroy(result_film *film);
void result_animation_destroy(result_animation *animation);

// The time of a shape: of the list, or its number.
static inline double result_series_time(const double *time, int shape)
{
    return time ? time[shape] : shape;
}

#endif
