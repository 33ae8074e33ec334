// Inside result: the boundary of a body as flat triangles in parts (the outside, then the walls of each
// cavity), for the formats of other programs.
#ifndef PL_RESULT_SKIN_H
#define PL_RESULT_SKIN_H

#include "base/base.h"
#include "pliant/result.h"

typedef struct result_skin_part {
    const char *name; // "body", or that of the chamber
    int32_t triangle_start, triangle_end;
    int32_t vertex_start, vertex_end; // its vertices, when the skin is split; otherwise all
} result_skin_part;

typedef struct result_skin {
    const pl_mesh *body;
    int32_t vertex_count, triangle_count;
    int32_t *vertex;   // of the body, per vertex of the skin
    int32_t *triangle; // 3 vertices of the skin each
    int32_t *region;   // per triangle
    result_skin_part *part;
    int part_count;
} result_skin;

// `split`: parts, regions and the two sides of a sharp edge have vertices of their own, so that each vertex
// has one normal and one colour; otherwise the surface is closed.
pl_status result_skin_build(result_skin *skin, pl_model *model, const pl_mesh *body, bool split,
                            pl_error *err);
void result_skin_clear(result_skin *skin);

// A number per vertex of the body to colour by, vectors by their length: a field; NULL for PL_FIELD_COUNT.
pl_status result_skin_values(pl_model *model, const pl_mesh *body, pl_field color, double **out,
                             pl_error *err);

// The field by which surfaces are coloured must have one number or one vector per vertex.
pl_status result_skin_check(pl_model *model, pl_field color, const char *path, pl_error *err);

#endif
