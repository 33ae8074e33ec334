// glTF 2.0 in one binary file (GLB): the skin in parts with normals and colours, cables and fibres as thin
// tubes; further shapes as morph targets of the first, played by an animation. glTF counts in metres and has
// y up: the root node scales and turns, so the numbers inside are mm as in the robot file.
#include "result/result_animation.h"
#include "result/result_draw.h"
#include "result/result_surface.h"

#define GLB_SIDES 6          // of a tube
#define GLB_LIMIT 4000000000 // bytes; lengths in the file have 32 bits
enum { GLB_FLOAT = 5126, GLB_UINT = 5125, GLB_BYTE = 5120, GLB_UBYTE = 5121 };
enum { GLB_ARRAY = 34962, GLB_INDEX = 34963 };

// ---- the file
typedef struct glb {
    pl_text bin, views, accessors, meshes, nodes, channels;
    int view_count, accessor_count, mesh_count;
    float *scratch[4]; // positions and normals of a part: of the first shape, and of another minus these
    const result_animation *a;
    int shapes, sampler;
    double low, high; // of the values
} glb;

// A view on what was appended to `bin` since `from`, and an accessor for it. `limits` has the smallest and
// the largest of each component, or is NULL.
static int glb_accessor(glb *g, size_t from, int type, int components, bool normalized, int64_t count,
                        int target, const float *limits)
{
    static const char *const shape[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    pl_text_add(&g->views, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", g->view_count ? "," : "",
                from, g->bin.length - from);
    if (target) {
        pl_text_add(&g->views, ",\"target\":%d", target);
    }
    pl_text_add(&g->views, "}");
    pl_text_add(&g->accessors, "%s{\"bufferView\":%d,\"componentType\":%d,\"count\":%lld,\"type\":\"%s\"%s",
                g->accessor_count ? "," : "", g->view_count++, type, (long long)count, shape[components],
                normalized ? ",\"normalized\":true" : "");
    for (int side = 0; limits && side < 2; ++side) {
        pl_text_add(&g->accessors, ",\"%s\":[", side ? "max" : "min");
        for (int i = 0; i < components; ++i) {
            pl_text_add(&g->accessors, "%s%.9g", i ? "," : "", (double)limits[side * components + i]);
        }
        pl_text_add(&g->accessors, "]");
    }

    pl_text_add(&g->accessors, "}");

    return g->accessor_count++;
}

static int glb_floats(glb *g, const float *data, int64_t count, int components, int target, bool limited)
{
    const size_t from = g->bin.length;
    float limits[8];

    for (int i = 0; i < components; ++i) {
        limits[i] = INFINITY;
        limits[components + i] = -INFINITY;
    }

    for (int64_t k = 0; k < count * components; ++k) {
        const int i = (int)(k % components);
        limits[i] = data[k] < limits[i] ? data[k] : limits[i];
        limits[components + i] = data[k] > limits[components + i] ? data[k] : limits[components + i];
        result_put_float(&g->bin, data[k]);
    }

    return glb_accessor(g, from, GLB_FLOAT, components, false, count, target, limited ? limits : NULL);
}

// Normals at the vertices from `first` on: those of the triangles around, weighted by area.
static void glb_normals(const int32_t *triangle, int64_t triangles, int32_t first, int32_t count,
                        const float *x, float *n)
{
    memset(n, 0, 3 * (size_t)count * sizeof *n);
    for (int64_t t = 0; t < triangles; ++t) {
        const float *c[3];
        for (int a = 0; a < 3; ++a) {
            c[a] = x + 3 * (int64_t)(triangle[3 * t + a] - first);
        }
        const float u[3] = {c[1][0] - c[0][0], c[1][1] - c[0][1], c[1][2] - c[0][2]},
                    w[3] = {c[2][0] - c[0][0], c[2][1] - c[0][1], c[2][2] - c[0][2]},
                    f[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
        for (int i = 0; i < 9; ++i) {
            n[3 * (int64_t)(triangle[3 * t + i / 3] - first) + i % 3] += f[i % 3];
        }
    }

    for (int32_t v = 0; v < count; ++v) {
        float *m = n + 3 * (int64_t)v;
        const double length = sqrt((double)m[0] * m[0] + (double)m[1] * m[1] + (double)m[2] * m[2]);
        for (int i = 0; i < 3; ++i) {
            m[i] = length > 0 ? (float)(m[i] / length) : i == 2;
        }
    }
}

// A mesh with positions and normals from `place`, which fills them for a shape, and the differences to the
// first shape as morph targets. `colour` adds an accessor of colours, or returns -1.
typedef struct glb_thing {
    const char *name;
    int32_t vertices;
    const int32_t *triangle; // 3 each
    int64_t triangles;
    int32_t first; // number of the first vertex in `triangle`
    int material;
    void (*place)(const glb *g, const void *user, int shape, float *x);
    int (*colour)(glb *g, const void *user, int shape);
    const void *user;
} glb_thing;

static void glb_quoted(pl_text *t, const char *s)
{
    for (; *s; ++s) {
        if ((unsigned char)*s < ' ') {
            pl_text_add(t, "\\u%04x", *s);
        } else {
            pl_text_add(t, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
        }
    }
}

static void glb_attributes(pl_text *t, int position, int normal, int colour)
{
    pl_text_add(t, "{\"POSITION\":%d,\"NORMAL\":%d", position, normal);
    if (colour >= 0) {
        pl_text_add(t, ",\"COLOR_0\":%d", colour);
    }
    pl_text_add(t, "}");
}

static void glb_add_thing(glb *g, const glb_thing *o)
{
    float *x0 = g->scratch[0], *n0 = g->scratch[1], *x = g->scratch[2], *n = g->scratch[3];
    pl_text *t = &g->meshes;
    const int64_t numbers = 3 * (int64_t)o->vertices;
    o->place(g, o->user, 0, x0);
    glb_normals(o->triangle, o->triangles, o->first, o->vertices, x0, n0);
    const size_t from = g->bin.length;
    for (int64_t i = 0; i < 3 * o->triangles; ++i) {
        result_put_le(&g->bin, (uint32_t)(o->triangle[i] - o->first), 4);
    }
    const int index = glb_accessor(g, from, GLB_UINT, 1, false, 3 * o->triangles, GLB_INDEX, NULL);
    const int position = glb_floats(g, x0, o->vertices, 3, GLB_ARRAY, true);
    const int normal = glb_floats(g, n0, o->vertices, 3, GLB_ARRAY, false);
    const int colour = o->colour ? o->colour(g, o->user, 0) : -1;
    pl_text_add(t, "%s{\"name\":\"", g->mesh_count ? "," : "");
    glb_quoted(t, o->name);
    pl_text_add(t, "\",\"primitives\":[{\"attributes\":");
    glb_attributes(t, position, normal, colour);
    pl_text_add(t, ",\"indices\":%d,\"material\":%d", index, o->material);

    for (int k = 1; k < g->shapes && !g->bin.failed && g->bin.length < GLB_LIMIT; ++k) {
        o->place(g, o->user, k, x);
        glb_normals(o->triangle, o->triangles, o->first, o->vertices, x, n);
        for (int64_t i = 0; i < numbers; ++i) {
            x[i] -= x0[i];
            n[i] -= n0[i];
        }

        const int by_position = glb_floats(g, x, o->vertices, 3, GLB_ARRAY, true);
        const int by_normal = glb_floats(g, n, o->vertices, 3, GLB_ARRAY, false);
        pl_text_add(t, k == 1 ? ",\"targets\":[" : ",");
        glb_attributes(t, by_position, by_normal, o->colour ? o->colour(g, o->user, k) : -1);
    }

    pl_text_add(t, "%s}]", g->shapes > 1 ? "]" : "");
    if (g->shapes > 1) {
        pl_text_add(t, ",\"weights\":[0");
        for (int k = 2; k < g->shapes; ++k) {
            pl_text_add(t, ",0");
        }
        pl_text_add(t, "]");
    }

    pl_text_add(t, "}");
    // node 0 is the root
    pl_text_add(&g->nodes, ",{\"mesh\":%d,\"name\":\"", g->mesh_count);
    glb_quoted(&g->nodes, o->name);
    pl_text_add(&g->nodes, "\"}");
    pl_text_add(&g->channels, "%s{\"sampler\":0,\"target\":{\"node\":%d,\"path\":\"weights\"}}",
                g->mesh_count ? "," : "", g->mesh_count + 1);
    ++g->mesh_count;
}

// ---- the skin
static void glb_place_skin(const glb *g, const void *user, int shape, float *x)
{
    const result_skin_part *part = user;
    memcpy(x, g->a->position[shape] + 3 * (int64_t)part->vertex_start,
           3 * (size_t)(part->vertex_end - part->vertex_start) * sizeof *x);
}

// Colours of the first shape in bytes; of another shape the differences, in signed bytes.
static int glb_colour_skin(glb *g, const void *user, int shape)
{
    const result_skin_part *part = user;
    const size_t from = g->bin.length;
    const int32_t count = part->vertex_end - part->vertex_start;
    uint8_t *region = result_animation_regions(g->a, part);

    if (!region || (shape > 0 && g->a->color == PL_FIELD_COUNT)) {
        g->bin.failed = g->bin.failed || !region;
        pl_free(region);
        return -1;
    }

    for (int32_t v = 0; v < count; ++v) {
        double rgb[3], first[3] = {0, 0, 0};
        result_animation_rgb(g->a, shape, part->vertex_start + v, region[v], g->low, g->high, rgb);
        if (shape > 0) {
            result_animation_rgb(g->a, 0, part->vertex_start + v, region[v], g->low, g->high, first);
        }
        for (int i = 0; i < 3; ++i) {
            const double c = shape > 0 ? 127 * (rgb[i] - first[i]) : 255 * rgb[i];
            result_put_le(&g->bin, (uint64_t)(int64_t)floor(c + 0.5), 1);
        }

        result_put_le(&g->bin, shape > 0 ? 0 : 255, 1);
    }

    pl_free(region);

    return glb_accessor(g, from, shape > 0 ? GLB_BYTE : GLB_UBYTE, 4, true, count, GLB_ARRAY, NULL);
}

// ---- tubes around lines
static void glb_unit(double v[3])
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3 && length > 0; ++i) {
        v[i] /= length;
    }
}

// Rings around the points; each ring is turned as little as possible against the one before.
static void glb_place_tube(const glb *g, const void *user, int shape, float *x)
{
    const result_line *line = user;
    const float *p = g->a->line[shape] + 3 * (int64_t)line->start;
    double side[3] = {0, 0, 0};

    for (int32_t k = 0; k < line->count; ++k) {
        const float *a = p + 3 * (int64_t)(k > 0 ? k - 1 : k),
                    *b = p + 3 * (int64_t)(k + 1 < line->count ? k + 1 : k);
        double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        glb_unit(along);
        double dot = side[0] * along[0] + side[1] * along[1] + side[2] * along[2];

        if (k == 0 || fabs(dot) > 0.99) {
            // any direction across
            const int least = fabs(along[0]) < fabs(along[1])   ? (fabs(along[0]) < fabs(along[2]) ? 0 : 2)
                              : fabs(along[1]) < fabs(along[2]) ? 1
                                                                : 2;
            for (int i = 0; i < 3; ++i) {
                side[i] = i == least;
            }
            dot = along[least];
        }

        for (int i = 0; i < 3; ++i) {
            side[i] -= dot * along[i];
        }
        glb_unit(side);
        const double up[3] = {along[1] * side[2] - along[2] * side[1],
                              along[2] * side[0] - along[0] * side[2],
                              along[0] * side[1] - along[1] * side[0]};
        for (int s = 0; s < GLB_SIDES; ++s) {
            const double c = g->a->tube * cos(2 * PL_PI * s / GLB_SIDES),
                         d = g->a->tube * sin(2 * PL_PI * s / GLB_SIDES);
            for (int i = 0; i < 3; ++i) {
                x[3 * (GLB_SIDES * (int64_t)k + s) + i] =
                    (float)(p[3 * (int64_t)k + i] + c * side[i] + d * up[i]);
            }
        }
    }
}

static bool glb_add_tube(glb *g, const result_line *line)
{
    const int64_t triangles = 2 * GLB_SIDES * (int64_t)(line->count - 1);
    int32_t *corner = PL_NEW_ARRAY(int32_t, 3 * triangles);

    if (!corner) {
        return false;
    }

    for (int64_t i = 0; i < triangles / 2; ++i) {
        const int32_t s = (int32_t)(i % GLB_SIDES), next = (s + 1) % GLB_SIDES,
                      ring = (int32_t)(i / GLB_SIDES) * GLB_SIDES;
        const int32_t two[6] = {ring + s,
                                ring + next,
                                ring + GLB_SIDES + next,
                                ring + s,
                                ring + GLB_SIDES + next,
                                ring + GLB_SIDES + s};
        memcpy(corner + 6 * i, two, sizeof two);
    }

    glb_add_thing(g, &(glb_thing){.name = line->name,
                                  .vertices = GLB_SIDES * line->count,
                                  .triangle = corner,
                                  .triangles = triangles,
                                  .material = 1,
                                  .place = glb_place_tube,
                                  .user = line});
    pl_free(corner);

    return true;
}

// Times, and for each of them the weights of all targets: one, the others none. Times increase strictly.
static bool glb_add_times(glb *g, const double *time)
{
    const int64_t n = g->shapes;
    float *input = PL_NEW_ARRAY(float, n), *weight = PL_NEW_ARRAY(float, n *(n - 1));
    const bool good = input && weight;

    for (int k = 0; good && k < n; ++k) {
        const float t = (float)(result_series_time(time, k) - result_series_time(time, 0));
        input[k] = k == 0 ? 0 : t > input[k - 1] ? t : input[k - 1] * 1.0001f + 1e-3f;
        if (k > 0) {
            weight[k * (n - 1) + k - 1] = 1;
        }
    }

    if (good) {
        g->sampler = glb_floats(g, input, n, 1, 0, true);
        glb_floats(g, weight, n * (n - 1), 1, 0, false);
    }

    pl_free(input);
    pl_free(weight);

    return good;
}

static bool glb_fill(glb *g, const double *time)
{
    const result_animation *a = g->a;
    int64_t most = a->skin.vertex_count;

    for (int i = 0; i < a->line_count; ++i) {
        most = GLB_SIDES * (int64_t)a->part[i].count > most ? GLB_SIDES * (int64_t)a->part[i].count : most;
    }

    bool good = true;
    for (int i = 0; i < 4; ++i) {
        g->scratch[i] = PL_NEW_ARRAY(float, 3 * most);
        good = good && g->scratch[i];
    }

    result_animation_range(a, g->shapes, &g->low, &g->high);
    for (int p = 0; good && p < a->skin.part_count; ++p) {
        const result_skin_part *part = &a->skin.part[p];
        glb_add_thing(g, &(glb_thing){.name = part->name,
                                      .vertices = part->vertex_end - part->vertex_start,
                                      .triangle = a->skin.triangle + 3 * (int64_t)part->triangle_start,
                                      .triangles = part->triangle_end - part->triangle_start,
                                      .first = part->vertex_start,
                                      .place = glb_place_skin,
                                      .colour = glb_colour_skin,
                                      .user = part});
    }

    for (int i = 0; good && i < a->line_count; ++i) {
        good = a->part[i].count < 2 || glb_add_tube(g, &a->part[i]);
    }

    return good && (g->shapes == 1 || glb_add_times(g, time));
}

static void glb_document(const glb *g, const char *name, pl_text *t)
{
    pl_text_add(t,
                "{\"asset\":{\"version\":\"2.0\",\"generator\":\"pliant "
                "%s\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],",
                pl_version());
    pl_text_add(t, "\"nodes\":[{\"name\":\"");
    glb_quoted(t, name);
    pl_text_add(t,
                "\",\"rotation\":[-0.70710678,0,0,0.70710678],\"scale\":[0.001,0.001,0.001],\"children\":[");
    for (int i = 0; i < g->mesh_count; ++i) {
        pl_text_add(t, "%s%d", i ? "," : "", i + 1);
    }
    pl_text_add(t, "]");
    if (g->a->color != PL_FIELD_COUNT) {
        pl_text_add(t, ",\"extras\":{\"color\":\"%s\",\"low\":%.6g,\"high\":%.6g}",
                    pl_field_label(g->a->color), g->low, g->high);
    }

    pl_text_add(t, "}");
    pl_text_add_bytes(t, g->nodes.data, g->nodes.length);
    pl_text_add(t, "],\"materials\":[{\"name\":\"body\",\"doubleSided\":true,\"pbrMetallicRoughness\":"
                   "{\"metallicFactor\":0,\"roughnessFactor\":0.6}}");
    if (g->a->line_count > 0) {
        pl_text_add(t,
                    ",{\"name\":\"lines\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.03,0.03,0.03,1],"
                    "\"metallicFactor\":0,\"roughnessFactor\":0.5}}");
    }

    pl_text_add(t, "],\"meshes\":[");
    pl_text_add_bytes(t, g->meshes.data, g->meshes.length);
    if (g->shapes > 1) {
        pl_text_add(t,
                    "],\"animations\":[{\"name\":\"motion\",\"samplers\":[{\"input\":%d,\"output\":%d,"
                    "\"interpolation\":\"LINEAR\"}],\"channels\":[",
                    g->sampler, g->sampler + 1);
        pl_text_add_bytes(t, g->channels.data, g->channels.length);
        pl_text_add(t, "]}");
    }

    pl_text_add(t, "],\"accessors\":[");
    pl_text_add_bytes(t, g->accessors.data, g->accessors.length);
    pl_text_add(t, "],\"bufferViews\":[");
    pl_text_add_bytes(t, g->views.data, g->views.length);
    pl_text_add(t, "],\"buffers\":[{\"byteLength\":%zu}]}", g->bin.length);
    while (!t->failed && t->length % 4) {
        pl_text_add(t, " ");
    }
}

static pl_status glb_write(const glb *g, const char *name, const char *path, pl_error *err)
{
    pl_text json = {0}, head = {0};
    glb_document(g, name, &json);
    const pl_text *const part[] = {&g->bin,   &g->views,    &g->accessors, &g->meshes,
                                   &g->nodes, &g->channels, &json};
    bool failed = false;
    for (int i = 0; i < PL_COUNT(part); ++i) {
        failed = failed || part[i]->failed;
    }

    const size_t total = 12 + 8 + json.length + 8 + g->bin.length;
    pl_status status = PL_OK;
    if (failed) {
        status = pl_fail_memory(err, path);
    } else if (total >= GLB_LIMIT) {
        status = pl_fail(err, PL_BAD_INPUT,
                         "%s: the animation has more than 4 GB; take fewer shapes, or .xdmf", path);
    } else {
        pl_text_add_bytes(&head, "glTF", 4);
        result_put_le(&head, 2, 4);
        result_put_le(&head, total, 4);
        result_put_le(&head, json.length, 4);
        pl_text_add_bytes(&head, "JSON", 4);
        pl_text_add_bytes(&head, json.data, json.length);
        result_put_le(&head, g->bin.length, 4);
        pl_text_add_bytes(&head, "BIN\0", 4);
        pl_text_add_bytes(&head, g->bin.data, g->bin.length);
        status = head.failed ? pl_fail_memory(err, path) : pl_file_write(path, head.data, head.length, err);
    }

    pl_text_clear(&json);
    pl_text_clear(&head);

    return status;
}

static pl_status glb_finish(pl_series *s, const double *time, pl_error *err)
{
    glb g = {.a = s->animation, .shapes = s->count};
    const pl_status status = glb_fill(&g, time)
                                 ? glb_write(&g, pl_model_get_info(s->model).name, s->path, err)
                                 : pl_fail_memory(err, s->path);
    pl_text *const part[] = {&g.bin, &g.views, &g.accessors, &g.meshes, &g.nodes, &g.channels};

    for (int i = 0; i < PL_COUNT(part); ++i) {
        pl_text_clear(part[i]);
    }
    for (int i = 0; i < 4; ++i) {
        pl_free(g.scratch[i]);
    }

    return status;
}

pl_status result_glb_begin(pl_series *s, pl_field color, pl_error *err)
{
    s->add = result_animation_add;
    s->finish = glb_finish;
    return result_animation_begin(s, color, err);
}
