// Triangle surfaces from files: STL (ASCII, binary) and OBJ (vertices and polygon faces).
#include <ctype.h>

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "meshing/meshing_impl.h"

// ---- a surface that grows
typedef struct growing {
    pl_trisurf surface;
    int32_t position_capacity, corner_capacity;
} growing;

// Adds a vertex; false without memory.
static bool growing_vertex(growing *g, const double x[3])
{
    pl_trisurf *s = &g->surface;
    if (!pl_grow((void **)&s->position, &g->position_capacity, 3 * ((int64_t)s->vertex_count + 1),
                 sizeof(double))) {
        return false;
    }

    memcpy(s->position + 3 * (int64_t)s->vertex_count++, x, 3 * sizeof(double));
    return true;
}

// Adds a triangle; false without memory.
static bool growing_triangle(growing *g, int32_t a, int32_t b, int32_t c)
{
    pl_trisurf *s = &g->surface;
    if (!pl_grow((void **)&s->corner, &g->corner_capacity, 3 * ((int64_t)s->triangle_count + 1),
                 sizeof(int32_t))) {
        return false;
    }

    int32_t *corner = s->corner + 3 * (int64_t)s->triangle_count++;
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;

    return true;
}

// ---- binary STL: 80 bytes, a count, then per triangle a normal, three corners (floats) and two bytes
// The number of triangles, little endian; 0 for a file that is too short.
static uint32_t surface_count_field(const file_bytes *bytes)
{
    const unsigned char *p = (const unsigned char *)bytes->data + 80;
    return bytes->size < 84 ? 0 : p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static pl_status surface_binary_stl(const char *path, const file_bytes *bytes, growing *g, pl_error *err)
{
    const uint32_t count = surface_count_field(bytes);
    if (bytes->size < 84) {
        return pl_fail(
            err, PL_BAD_INPUT,
            "%s: is no STL: a text file begins with the word solid, and a binary one has at least 84 "
            "bytes, this one %zu; export it again",
            path, bytes->size);
    }

    if ((bytes->size - 84) / 50 < count) {
        return pl_fail(err, PL_BAD_INPUT, "%s: the binary STL header says %u triangles, but the file has %zu",
                       path, count, bytes->size < 84 ? 0 : (bytes->size - 84) / 50);
    }

    // corners are welded later: a binary STL repeats them
    for (uint32_t t = 0; t < count; ++t) {
        float value[12];
        memcpy(value, bytes->data + 84 + 50 * (size_t)t, sizeof value);
        const int32_t first = g->surface.vertex_count;

        for (int c = 0; c < 3; ++c) {
            const double x[3] = {value[3 + 3 * c], value[4 + 3 * c], value[5 + 3 * c]};
            if (!isfinite(x[0] + x[1] + x[2])) {
                return pl_fail(err, PL_BAD_INPUT, "%s: triangle %u has a coordinate that is not a number",
                               path, t);
            }

            if (!growing_vertex(g, x)) {
                return pl_fail_memory(err, path);
            }
        }

        if (!growing_triangle(g, first, first + 1, first + 2)) {
            return pl_fail_memory(err, path);
        }
    }

    return PL_OK;
}

// ---- text
// Lines of a text, cut in place.
typedef struct text_lines {
    char *next;
    int number; // of the line last given
} text_lines;

// The next line without leading blanks, NULL at the end.
static char *surface_next_line(text_lines *lines)
{
    char *line = lines->next;
    if (!line || !*line) {
        return NULL;
    }

    char *end = strchr(line, '\n');
    if (end) {
        *end = 0;
        lines->next = end + 1;
    } else {
        lines->next = NULL;
    }

    ++lines->number;

    return line + strspn(line, " \t\r");
}

// Three finite numbers.
static bool surface_numbers(const char *text, double x[3])
{
    for (int i = 0; i < 3; ++i) {
        char *end;
        x[i] = pl_real_read(text, &end);
        if (end == text || !isfinite(x[i])) {
            return false;
        }
        text = end;
    }

    return true;
}

// Only vertex, endfacet and endsolid matter; normals are computed from the corners.
static pl_status surface_ascii_stl(const char *path, const file_bytes *bytes, growing *g, pl_error *err)
{
    text_lines lines = {.next = bytes->data};
    int corners = 0;
    bool ended = false;

    for (char *line; (line = surface_next_line(&lines)) != NULL;) {
        if (strncasecmp(line, "vertex", 6) == 0) {
            double x[3];
            if (!surface_numbers(line + 6, x)) {
                return pl_fail(err, PL_BAD_INPUT, "%s:%d: expected \"vertex\" and three numbers", path,
                               lines.number);
            }

            if (!growing_vertex(g, x)) {
                return pl_fail_memory(err, path);
            }
            ++corners;
        } else if (strncasecmp(line, "endfacet", 8) == 0) {
            if (corners != 3) {
                return pl_fail(err, PL_BAD_INPUT, "%s:%d: facet has %d vertices, expected 3", path,
                               lines.number, corners);
            }

            corners = 0;
            const int32_t last = g->surface.vertex_count - 1;
            if (!growing_triangle(g, last - 2, last - 1, last)) {
                return pl_fail_memory(err, path);
            }
        }

        ended = ended || strncasecmp(line, "endsolid", 8) == 0;
    }

    if (!ended || corners) {
        return pl_fail(err, PL_BAD_INPUT, "%s:%d: ends without \"endsolid\"; the file is truncated", path,
                       lines.number);
    }

    return PL_OK;
}

// OBJ: v x y z; f a b c ... with a, a/t, a/t/n or negative (from the end); polygons become fans.
static pl_status surface_obj(const char *path, const file_bytes *bytes, growing *g, pl_error *err)
{
    text_lines lines = {.next = bytes->data};
    for (char *line; (line = surface_next_line(&lines)) != NULL;) {
        double x[3];

        if (line[0] == 'v' && isspace((unsigned char)line[1])) {
            if (!surface_numbers(line + 1, x)) {
                return pl_fail(err, PL_BAD_INPUT, "%s:%d: expected \"v\" and three numbers", path,
                               lines.number);
            }

            if (!growing_vertex(g, x)) {
                return pl_fail_memory(err, path);
            }
        } else if (line[0] == 'f' && isspace((unsigned char)line[1])) {
            int32_t corner[3] = {0};
            int count = 0;

            for (char *p = line + 1 + strspn(line + 1, " \t\r"); *p; p += strspn(p, " \t\r")) {
                char *end;
                const long v = strtol(p, &end, 10);
                // the index counts from 1, or backwards from the last vertex
                const long index = v < 0 ? g->surface.vertex_count + v : v - 1;
                if (end == p || index < 0 || index >= g->surface.vertex_count) {
                    return pl_fail(err, PL_BAD_INPUT,
                                   "%s:%d: face refers to \"%.20s\", expected vertices 1 to %d", path,
                                   lines.number, p, g->surface.vertex_count);
                }

                // texture and normal after the slash are skipped
                p += strcspn(p, " \t\r");
                corner[count < 2 ? count : 2] = (int32_t)index;
                if (++count >= 3) {
                    if (!growing_triangle(g, corner[0], corner[1], corner[2])) {
                        return pl_fail_memory(err, path);
                    }
                    corner[1] = corner[2];
                }
            }

            if (count < 3) {
                return pl_fail(err, PL_BAD_INPUT, "%s:%d: face has %d vertices, expected at least 3", path,
                               lines.number, count);
            }
        }
    }

    return PL_OK;
}

// By extension; STL by its content, because both kinds share it.
static pl_status surface_parse(const char *path, const file_bytes *bytes, growing *g, pl_error *err)
{
    const char *extension = meshing_extension(path);
    if (strcasecmp(extension, "obj") == 0) {
        return surface_obj(path, bytes, g, err);
    }
    if (strcasecmp(extension, "stl") != 0) {
        return pl_fail(err, PL_BAD_INPUT, "%s: is not a surface file; expected .stl or .obj", path);
    }

    // binary files may begin with "solid" too, but then their size fits the count
    const bool fits = bytes->size >= 84 && bytes->size == 84 + 50 * (size_t)surface_count_field(bytes);
    const char *text = bytes->data + strspn(bytes->data, " \t\r\n");

    return !fits && strncasecmp(text, "solid", 5) == 0 ? surface_ascii_stl(path, bytes, g, err)
                                                       : surface_binary_stl(path, bytes, g, err);
}

// mm from file units of `unit` mm; vertices that coincide are welded. `out` is empty on failure.
pl_status pl_meshing_read_surface(const char *path, double unit, pl_trisurf *out, pl_error *err)
{
    *out = (pl_trisurf){0};
    if (!(unit > 0) || isinf(unit)) {
        return pl_fail(err, PL_BAD_INPUT,
                       "%s: STL and OBJ files do not contain a unit; give `unit: mm` (or cm, m, inch)", path);
    }

    file_bytes bytes;
    pl_status status = meshing_load(path, &bytes, err);
    growing g = {0};
    if (status == PL_OK) {
        status = surface_parse(path, &bytes, &g, err);
        pl_free(bytes.data);
    }

    if (status == PL_OK && g.surface.triangle_count == 0) {
        status = pl_fail(err, PL_BAD_INPUT, "%s: has no triangles", path);
    }
    for (int64_t i = 0; i < 3 * (int64_t)g.surface.vertex_count; ++i) {
        g.surface.position[i] *= unit;
    }
    if (status == PL_OK) {
        status = pl_trisurf_weld(&g.surface, 0, err);
    }
    if (status != PL_OK) {
        pl_trisurf_clear(&g.surface);
        return status;
    }

    *out = g.surface;

    return PL_OK;
}
