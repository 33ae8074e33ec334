// Universal Scene Description as text (USDA): the skin in parts as meshes, cables and fibres as curves, with
// their points and colours sampled in time. Millimetres, z up, as in the robot file; the head of the file
// says so.
#include <ctype.h>
#include "result/result_animation.h"
#include "result/result_draw.h"

#define USD_RATE 24 // time codes per second: viewers step through them one by one

// Names of prims are letters, digits and '_'.
static void usd_name(pl_text *t, const char *name)
{
    if (isdigit((unsigned char)name[0])) {
        pl_text_add(t, "_");
    }
    for (; *name; ++name) {
        pl_text_add_bytes(t, isalnum((unsigned char)*name) ? name : "_", 1);
    }
}

// A name of a part or line, with its number where another of them has it already.
static void usd_prim(pl_text *t, const char *type, const char *name, int number)
{
    pl_text_add(t, "    def %s \"", type);
    usd_name(t, name);
    pl_text_add(t, number ? "_%d\"\n    {\n" : "\"\n    {\n", number);
}

static void usd_points(pl_text *t, const float *x, int32_t count)
{
    pl_text_add(t, "[");
    for (int32_t i = 0; i < count; ++i) {
        const float *p = x + 3 * (int64_t)i;
        pl_text_add(t, "%s(%.7g, %.7g, %.7g)", i ? ", " : "", (double)p[0], (double)p[1], (double)p[2]);
    }

    pl_text_add(t, "]");
}

static void usd_extent(pl_text *t, const float *x, int32_t count)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * (int64_t)count; ++i) {
        low[i % 3] = fminf(low[i % 3], x[i]);
        high[i % 3] = fmaxf(high[i % 3], x[i]);
    }

    pl_text_add(t, "[(%.7g, %.7g, %.7g), (%.7g, %.7g, %.7g)]", (double)low[0], (double)low[1], (double)low[2],
                (double)high[0], (double)high[1], (double)high[2]);
}

// One number per time: `put` writes the value at a shape.
typedef void usd_put(pl_text *t, const float *x, int32_t count);
static void usd_samples(pl_text *t, const char *what, const double *code, int shapes, float *const *shape,
                        int64_t first, int32_t count, usd_put *put)
{
    pl_text_add(t, "        %s.timeSamples = {\n", what);
    for (int k = 0; k < shapes; ++k) {
        pl_text_add(t, "            %.9g: ", code[k]);
        put(t, shape[k] + 3 * first, count);
        pl_text_add(t, ",\n");
    }

    pl_text_add(t, "        }\n");
}

static void usd_colour_list(pl_text *t, const result_animation *a, const result_skin_part *part,
                            const uint8_t *region, int shape, double low, double high)
{
    pl_text_add(t, "[");
    for (int32_t v = part->vertex_start; v < part->vertex_end; ++v) {
        double rgb[3];
        result_animation_rgb(a, shape, v, region[v - part->vertex_start], low, high, rgb);
        pl_text_add(t, "%s(%.3g, %.3g, %.3g)", v > part->vertex_start ? ", " : "", rgb[0], rgb[1], rgb[2]);
    }

    pl_text_add(t, "]");
}

// Colours of the first shape, and of all where they are by value: those by region do not change.
static bool usd_colours(pl_text *t, const result_animation *a, const result_skin_part *part,
                        const double *code, int shapes, double low, double high)
{
    uint8_t *region = result_animation_regions(a, part);
    if (!region) {
        return false;
    }
    pl_text_add(t, "        color3f[] primvars:displayColor = ");
    usd_colour_list(t, a, part, region, 0, low, high);
    pl_text_add(t, " (\n            interpolation = \"vertex\"\n        )\n");

    if (a->color != PL_FIELD_COUNT && shapes > 1) {
        pl_text_add(t, "        color3f[] primvars:displayColor.timeSamples = {\n");
        for (int k = 0; k < shapes; ++k) {
            pl_text_add(t, "            %.9g: ", code[k]);
            usd_colour_list(t, a, part, region, k, low, high);
            pl_text_add(t, ",\n");
        }

        pl_text_add(t, "        }\n");
    }

    pl_free(region);

    return true;
}

static bool usd_mesh(pl_text *t, const result_animation *a, const result_skin_part *part, const double *code,
                     int shapes, double low, double high)
{
    const int32_t count = part->vertex_end - part->vertex_start;
    usd_prim(t, "Mesh", part->name, 0);
    pl_text_add(t, "        uniform token subdivisionScheme = \"none\"\n        bool doubleSided = 1\n"
                   "        int[] faceVertexCounts = [");
    for (int32_t k = part->triangle_start; k < part->triangle_end; ++k) {
        pl_text_add(t, k > part->triangle_start ? ", 3" : "3");
    }
    pl_text_add(t, "]\n        int[] faceVertexIndices = [");
    for (int64_t i = 3 * (int64_t)part->triangle_start; i < 3 * (int64_t)part->triangle_end; ++i) {
        pl_text_add(t, "%s%d", i > 3 * (int64_t)part->triangle_start ? ", " : "",
                    (int)(a->skin.triangle[i] - part->vertex_start));
    }

    pl_text_add(t, "]\n");
    usd_samples(t, "point3f[] points", code, shapes, a->position, part->vertex_start, count, usd_points);
    usd_samples(t, "float3[] extent", code, shapes, a->position, part->vertex_start, count, usd_extent);
    const bool good = usd_colours(t, a, part, code, shapes, low, high);
    pl_text_add(t, "    }\n");

    return good;
}

static void usd_curve(pl_text *t, const result_animation *a, int line, const double *code, int shapes)
{
    const result_line *l = &a->part[line];
    int number = 0;

    for (int i = 0; i < line; ++i) {
        number += strcmp(a->part[i].name, l->name) == 0;
    }
    for (int p = 0; p < a->skin.part_count; ++p) {
        number += strcmp(a->skin.part[p].name, l->name) == 0;
    }
    usd_prim(t, "BasisCurves", l->name, number);
    pl_text_add(t, "        uniform token type = \"linear\"\n        int[] curveVertexCounts = [%d]\n",
                (int)l->count);
    usd_samples(t, "point3f[] points", code, shapes, a->line, l->start, l->count, usd_points);
    pl_text_add(t,
                "        float[] widths = [%.4g] (\n            interpolation = \"constant\"\n        )\n"
                "        color3f[] primvars:displayColor = [(0.03, 0.03, 0.03)]\n    }\n",
                2 * a->tube);
}

static pl_status usd_finish(pl_series *s, const double *time, pl_error *err)
{
    const result_animation *a = s->animation;
    const int shapes = s->count;
    pl_text t = {0};
    double low, high;
    double *code = PL_NEW_ARRAY(double, shapes);
    bool good = code != NULL;

    result_animation_range(a, shapes, &low, &high);

    // time codes increase strictly, whatever the times
    for (int k = 0; good && k < shapes; ++k) {
        const double c = USD_RATE * (result_series_time(time, k) - result_series_time(time, 0));
        code[k] = k > 0 && !(c > code[k - 1]) ? code[k - 1] + 1e-3 : c;
    }

    if (good) {
        pl_text_add(
            &t,
            "#usda 1.0\n(\n    defaultPrim = \"robot\"\n    doc = \"pliant %s\"\n    startTimeCode = 0\n"
            "    endTimeCode = %.9g\n    timeCodesPerSecond = %d\n    metersPerUnit = 0.001\n"
            "    upAxis = \"Z\"\n)\n\ndef Xform \"robot\" (\n    kind = \"component\"\n",
            pl_version(), code[shapes - 1], USD_RATE);
        if (a->color != PL_FIELD_COUNT) {
            pl_text_add(&t,
                        "    customData = {\n        string color = \"%s\"\n        double low = %.6g\n"
                        "        double high = %.6g\n    }\n",
                        pl_field_label(a->color), low, high);
        }

        pl_text_add(&t, ")\n{\n");
    }

    for (int p = 0; good && p < a->skin.part_count; ++p) {
        good = usd_mesh(&t, a, &a->skin.part[p], code, shapes, low, high);
    }

    for (int i = 0; good && i < a->line_count; ++i) {
        if (a->part[i].count >= 2) {
            usd_curve(&t, a, i, code, shapes);
        }
    }

    pl_text_add(&t, "}\n");

    const pl_status status =
        !good || t.failed ? pl_fail_memory(err, s->path) : pl_file_write(s->path, t.data, t.length, err);
    pl_text_clear(&t);
    pl_free(code);

    return status;
}

pl_status result_usd_begin(pl_series *s, pl_field color, pl_error *err)
{
    s->add = result_animation_add;
    s->finish = usd_finish;
    return result_animation_begin(s, color, err);
}
