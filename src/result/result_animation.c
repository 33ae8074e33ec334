// The shapes of a series, kept in single precision until the file is written.
#include "result/result_animation.h"
#include "result/result_draw.h"
#include "result/result_surface.h"

#define ANIMATION_TUBE 0.004 // radius of tubes, of the size of the robot

void result_animation_destroy(result_animation *a)
{
    if (!a) {
        return;
    }

    for (int k = 0; k < a->capacity; ++k) {
        pl_free(a->position[k]);
        pl_free(a->value[k]);
        pl_free(a->line[k]);
    }

    pl_free(a->position);
    pl_free(a->value);
    pl_free(a->line);
    pl_free(a->part);
    result_skin_clear(&a->skin);
    pl_free(a);
}

// ---- taking shapes
static bool animation_room(result_animation *a, int shape)
{
    if (shape < a->capacity) {
        return true;
    }

    const int capacity = 2 * a->capacity + 4;
    float ***const list[3] = {&a->position, &a->value, &a->line};
    for (int i = 0; i < 3; ++i) {
        float **larger = pl_resize_array(*list[i], (size_t)capacity, sizeof *larger);
        if (!larger) {
            return false;
        }
        *list[i] = larger;
        memset(larger + a->capacity, 0, (size_t)(capacity - a->capacity) * sizeof *larger);
    }

    a->capacity = capacity;

    return true;
}

// The lines of the first shape; later shapes must have the same.
static bool animation_lines(result_animation *a, const result_blocks *b)
{
    a->part = PL_NEW_ARRAY(result_line, b->count + 1);
    for (int i = 0; a->part && i < b->count; ++i) {
        if (!b->block[i].vertex) {
            a->part[a->line_count++] =
                (result_line){b->block[i].name, a->line_points, b->block[i].point_count};
            a->line_points += b->block[i].point_count;
        }
    }

    return a->part != NULL;
}

// Lines whose number of points has changed keep their last shape.
static void animation_fill_lines(const result_animation *a, const result_blocks *b, const float *before,
                                 float *out)
{
    if (before) {
        memcpy(out, before, 3 * (size_t)a->line_points * sizeof *out);
    }
    for (int i = 0, k = 0; i < b->count && k < a->line_count; ++i) {
        const result_block *block = &b->block[i];
        if (block->vertex) {
            continue;
        }
        for (int32_t j = 0; block->point_count == a->part[k].count && j < 3 * block->point_count; ++j) {
            out[3 * (int64_t)a->part[k].start + j] = (float)block->point[j];
        }
        ++k;
    }
}

pl_status result_animation_add(pl_series *s, pl_error *err)
{
    result_animation *a = s->animation;
    const result_skin *skin = &a->skin;
    const int k = s->count;
    double *value = NULL;
    result_blocks b;
    pl_status status = result_blocks_take(&b, s->model, RESULT_BLOCKS_PARTS, "series", err);

    if (status == PL_OK) {
        status = result_skin_values(s->model, b.body, a->color, &value, err);
    }

    bool good = status == PL_OK && animation_room(a, k) && (k > 0 || animation_lines(a, &b));
    if (good) {
        a->position[k] = PL_NEW_ARRAY(float, 3 * (int64_t)skin->vertex_count);
        a->value[k] = PL_NEW_ARRAY(float, skin->vertex_count);
        a->line[k] = PL_NEW_ARRAY(float, 3 * (int64_t)a->line_points);
        good = a->position[k] && a->value[k] && a->line[k];
    }

    for (int32_t i = 0; good && i < skin->vertex_count; ++i) {
        for (int j = 0; j < 3; ++j) {
            a->position[k][3 * (int64_t)i + j] = (float)b.position[3 * (int64_t)skin->vertex[i] + j];
        }
        a->value[k][i] = value ? (float)value[skin->vertex[i]] : 0;
    }

    if (good) {
        animation_fill_lines(a, &b, k > 0 ? a->line[k - 1] : NULL, a->line[k]);
    }
    pl_free(value);
    result_blocks_clear(&b);

    return status != PL_OK ? status : good ? PL_OK : pl_fail_memory(err, s->path);
}

void result_animation_range(const result_animation *a, int shapes, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int k = 0; k < shapes; ++k) {
        for (int32_t v = 0; v < a->skin.vertex_count; ++v) {
            *low = fmin(*low, a->value[k][v]);
            *high = fmax(*high, a->value[k][v]);
        }
    }
}

uint8_t *result_animation_regions(const result_animation *a, const result_skin_part *part)
{
    const result_skin *s = &a->skin;
    uint8_t *region = PL_NEW_ARRAY(uint8_t, part->vertex_end - part->vertex_start);

    for (int32_t t = part->triangle_start; region && t < part->triangle_end; ++t) {
        for (int i = 0; i < 3; ++i) {
            region[s->triangle[3 * (int64_t)t + i] - part->vertex_start] = (uint8_t)s->region[t];
        }
    }

    return region;
}

static double animation_linear(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

void result_animation_rgb(const result_animation *a, int shape, int32_t vertex, int region, double low,
                          double high, double rgb[3])
{
    if (a->color == PL_FIELD_COUNT) {
        pl_palette(region, rgb);
    } else {
        pl_colour_map(result_value_place(a->value[shape][vertex], low, high), rgb);
    }
    for (int i = 0; i < 3; ++i) {
        rgb[i] = animation_linear(rgb[i]);
    }
}

pl_status result_animation_begin(pl_series *s, pl_field color, pl_error *err)
{
    const pl_mesh *body = NULL;
    pl_status status = result_skin_check(s->model, color, s->path, err);

    if (status == PL_OK) {
        status = pl_model_body(s->model, &body, err);
    }
    if (status == PL_OK && !body) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: the model has no body to draw", s->path);
    }
    s->animation = status == PL_OK ? PL_NEW(result_animation) : NULL;
    if (status == PL_OK && !s->animation) {
        status = pl_fail_memory(err, s->path);
    }

    if (status == PL_OK) {
        s->animation->color = color;
        s->animation->tube = ANIMATION_TUBE * pl_model_get_info(s->model).size;
        status = result_skin_build(&s->animation->skin, s->model, body, true, err);
    }

    return status;
}
