// Surfaces for other programs: OBJ (text, parts as groups, actuator lines) and PLY (binary, with the numbers
// that give the colours). Lengths in mm, z up, as in the robot file.
#include <strings.h>
#include "result/result_blocks.h"
#include "result/result_draw.h"
#include "result/result_skin.h"
#include "result/result_surface.h"

void result_put_le(pl_text *t, uint64_t value, int bytes)
{
    unsigned char out[8];
    for (int i = 0; i < bytes; ++i) {
        out[i] = (unsigned char)(value >> (8 * i));
    }
    pl_text_add_bytes(t, out, (size_t)bytes);
}

void result_put_float(pl_text *t, double value)
{
    const float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    result_put_le(t, bits, 4);
}

void result_value_range(const double *value, const result_skin *skin, double *low, double *high)
{
    for (int32_t i = 0; i < skin->vertex_count; ++i) {
        const double x = value[skin->vertex[i]];
        *low = x < *low ? x : *low;
        *high = x > *high ? x : *high;
    }
}

double result_value_place(double value, double low, double high)
{
    return high > low ? (value - low) / (high - low) : 0;
}

// A name without blanks, as groups of OBJ have it.
static void surface_word(pl_text *t, const char *name)
{
    for (; *name; ++name) {
        pl_text_add_bytes(t, (unsigned char)*name <= ' ' ? "_" : name, 1);
    }
}

static void surface_obj(const result_skin *s, const result_blocks *b, const double *value, pl_field color,
                        pl_text *t)
{
    double low = INFINITY, high = -INFINITY;
    pl_text_add(t, "# pliant %s, mm\n", pl_version());
    if (value) {
        result_value_range(value, s, &low, &high);
        pl_text_add(t, "# colours: %s from %.6g to %.6g\n", pl_field_label(color), low, high);
    }

    for (int32_t i = 0; i < s->vertex_count; ++i) {
        const double *x = b->position + 3 * (int64_t)s->vertex[i];
        pl_text_add(t, "v %.9g %.9g %.9g", x[0], x[1], x[2]);

        if (value) {
            double rgb[3];
            pl_colour_map(result_value_place(value[s->vertex[i]], low, high), rgb);
            pl_text_add(t, " %.4f %.4f %.4f", rgb[0], rgb[1], rgb[2]);
        }

        pl_text_add(t, "\n");
    }

    for (int p = 0; p < s->part_count; ++p) {
        pl_text_add(t, "g ");
        surface_word(t, s->part[p].name);
        pl_text_add(t, "\n");
        for (int32_t k = s->part[p].triangle_start; k < s->part[p].triangle_end; ++k) {
            const int32_t *c = s->triangle + 3 * (int64_t)k;
            pl_text_add(t, "f %d %d %d\n", (int)c[0] + 1, (int)c[1] + 1, (int)c[2] + 1);
        }
    }

    // cables and fibres behind the triangles, with points of their own
    int first = s->vertex_count + 1;
    for (int i = 0; i < b->count; ++i) {
        const result_block *k = &b->block[i];
        if (k->vertex) {
            continue;
        }
        for (int32_t a = 0; a < k->point_count; ++a) {
            const double *x = k->point + 3 * (int64_t)a;
            pl_text_add(t, "v %.9g %.9g %.9g%s\n", x[0], x[1], x[2], value ? " 0.2 0.2 0.2" : "");
        }

        pl_text_add(t, "g ");
        surface_word(t, k->name);
        pl_text_add(t, "\nl");
        for (int32_t a = 0; a < k->point_count; ++a) {
            pl_text_add(t, " %d", first++);
        }
        pl_text_add(t, "\n");
    }
}

// Without a field every vertex has the colour of a region it belongs to. Faces have their corners alone: some
// readers fail at more (meshio).
static void surface_ply(const result_skin *s, const result_blocks *b, const double *value, pl_field color,
                        pl_text *t)
{
    double low = INFINITY, high = -INFINITY, rgb[3];
    int32_t *region = PL_NEW_ARRAY(int32_t, s->vertex_count);

    if (!region) {
        t->failed = true;
        return;
    }

    for (int64_t i = 0; i < 3 * (int64_t)s->triangle_count; ++i) {
        region[s->triangle[i]] = s->region[i / 3];
    }
    pl_text_add(t,
                "ply\nformat binary_little_endian 1.0\ncomment pliant %s, mm\nelement vertex %d\n"
                "property float x\nproperty float y\nproperty float z\n"
                "property uchar red\nproperty uchar green\nproperty uchar blue\n",
                pl_version(), (int)s->vertex_count);
    if (value) {
        result_value_range(value, s, &low, &high);
        pl_text_add(t, "property float %s\n", pl_field_label(color));
    }

    pl_text_add(t, "element face %d\nproperty list uchar int vertex_indices\nend_header\n",
                (int)s->triangle_count);
    for (int32_t i = 0; i < s->vertex_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            result_put_float(t, b->position[3 * (int64_t)s->vertex[i] + k]);
        }
        if (value) {
            pl_colour_map(result_value_place(value[s->vertex[i]], low, high), rgb);
        } else {
            pl_palette(region[i], rgb);
        }
        for (int k = 0; k < 3; ++k) {
            result_put_le(t, (uint64_t)(255 * rgb[k] + 0.5), 1);
        }
        if (value) {
            result_put_float(t, value[s->vertex[i]]);
        }
    }

    for (int32_t k = 0; k < s->triangle_count; ++k) {
        result_put_le(t, 3, 1);
        for (int a = 0; a < 3; ++a) {
            result_put_le(t, (uint32_t)s->triangle[3 * (int64_t)k + a], 4);
        }
    }

    pl_free(region);
}

static pl_status surface_glb(pl_model *model, pl_field color, const char *path, pl_error *err)
{
    pl_series *series;
    pl_status status = pl_series_create(model, path, color, &series, err);

    if (status == PL_OK) {
        status = pl_series_add(series, err);
    }
    if (status == PL_OK) {
        status = pl_series_finish(series, NULL, err);
    }
    pl_series_destroy(series);

    return status;
}

pl_status pl_model_write_surface(pl_model *model, pl_field color, const char *path, pl_error *err)
{
    static const struct {
        const char *extension;
        void (*write)(const result_skin *s, const result_blocks *b, const double *value, pl_field color,
                      pl_text *t);
    } formats[] = {{".obj", surface_obj}, {".ply", surface_ply}};
    const char *dot = strrchr(path, '.');
    int format = 0;

    if (dot && strcasecmp(dot, ".glb") == 0) {
        return surface_glb(model, color, path, err);
    }
    while (format < PL_COUNT(formats) && !(dot && strcasecmp(dot, formats[format].extension) == 0)) {
        ++format;
    }
    if (format == PL_COUNT(formats)) {
        return pl_fail(err, PL_BAD_INPUT, "%s: surfaces are written as .obj, .ply or .glb", path);
    }

    result_blocks b;
    result_skin skin = {0};
    double *value = NULL;
    pl_text t = {0};
    pl_status status = result_skin_check(model, color, path, err);
    if (status != PL_OK) {
        return status;
    }
    status = result_blocks_take(&b, model, RESULT_BLOCKS_PARTS, path, err);
    if (status == PL_OK) {
        status = result_skin_build(&skin, model, b.body, false, err);
    }
    if (status == PL_OK) {
        status = result_skin_values(model, b.body, color, &value, err);
    }
    if (status == PL_OK) {
        formats[format].write(&skin, &b, value, color, &t);
        status = t.failed ? pl_fail_memory(err, path) : pl_file_write(path, t.data, t.length, err);
    }

    pl_text_clear(&t);
    pl_free(value);
    result_skin_clear(&skin);
    result_blocks_clear(&b);

    return status;
}
