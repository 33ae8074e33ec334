// The structure of MSH and UNV files, checked before Gmsh sees them: counts and contents must fit,
// because Gmsh's readers trust them. The same functions read text and binary files: a cursor reads the
// next number of either kind. kind.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "meshing/meshing_impl.h"

// Where the check is; `end` points behind the last byte, where a NUL stands.
typedef struct cursor {
    const char *path, *start, *at, *end;
    bool binary;
} cursor;

// Counted only when a message needs it.
static int cursor_line(const cursor *c)
{
    int line = 1;
    for (const char *p = c->start; p < c->at; ++p) {
        line += *p == '\n';
    }
    return line;
}

// Names the place: a line of text, or a byte.
static pl_status cursor_fail(const cursor *c, const char *what, pl_error *err)
{
    if (c->binary) {
        return pl_fail(err, PL_BAD_INPUT, "%s: at byte %td: expected %s", c->path, c->at - c->start, what);
    }
    return pl_fail(err, PL_BAD_INPUT, "%s:%d: expected %s", c->path, cursor_line(c), what);
}

// The next whole number: a word of text, or 4 or 8 bytes.
static bool cursor_int(cursor *c, size_t bytes, int64_t *value)
{
    if (c->binary) {
        if ((size_t)(c->end - c->at) < bytes) {
            return false;
        }
        int32_t narrow = 0;
        memcpy(bytes == 4 ? (void *)&narrow : (void *)value, c->at, bytes);
        *value = bytes == 4 ? narrow : *value;
        c->at += bytes;
        return true;
    }

    char *end;
    *value = strtoll(c->at, &end, 10);
    const bool whole = end != c->at && end <= c->end && (!*end || isspace((unsigned char)*end));
    c->at = whole ? end : c->at;

    return whole;
}

// The next number, 8 bytes in binary files; false for NAN and infinity, too.
static bool cursor_real(cursor *c)
{
    double value = 0;
    if (c->binary) {
        if (c->end - c->at < 8) {
            return false;
        }
        memcpy(&value, c->at, 8);
        c->at += 8;
    } else {
        char *end;
        value = pl_real_read(c->at, &end);
        if (end == c->at || end > c->end || (*end && !isspace((unsigned char)*end))) {
            return false;
        }
        c->at = end;
    }

    return isfinite(value);
}

// Numbers that are only counted off.
static bool cursor_skip(cursor *c, int64_t ints, size_t bytes, int64_t reals)
{
    int64_t value;
    bool good = ints >= 0 && reals >= 0;

    for (int64_t i = 0; good && i < ints; ++i) {
        good = cursor_int(c, bytes, &value);
    }
    for (int64_t i = 0; good && i < reals; ++i) {
        good = cursor_real(c);
    }

    return good;
}

// A count of things of which each takes at least two bytes: it cannot exceed what is left of the file.
static bool cursor_count(cursor *c, size_t bytes, int64_t *value)
{
    return cursor_int(c, bytes, value) && *value >= 0 && *value <= (c->end - c->at) / 2 + 1;
}

// Vertices of Gmsh's element types 1 to 19, 0 for others.
static int msh_node_count(int64_t type)
{
    static const int count[] = {0, 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13};
    return type > 0 && type < PL_COUNT(count) ? count[type] : 0;
}

// Numbers that fit our indices.
static bool msh_tag(int64_t tag)
{
    return tag > 0 && tag < INT32_MAX;
}

// The count is text even in binary files.
static pl_status msh2_nodes(cursor *c, pl_error *err)
{
    const bool binary = c->binary;
    int64_t count, tag;

    c->binary = false;
    if (!cursor_count(c, 4, &count)) {
        return cursor_fail(c, "the number of vertices", err);
    }
    c->binary = binary;
    c->at += binary && c->at < c->end ? 1 : 0;

    for (int64_t i = 0; i < count; ++i) {
        if (!cursor_int(c, 4, &tag) || !msh_tag(tag) || !cursor_skip(c, 0, 4, 3)) {
            return cursor_fail(c, "a vertex: its number and three coordinates", err);
        }
    }

    return PL_OK;
}

// Text: one element per line. Binary: blocks of one type with a common count of tags.
static pl_status msh2_elements(cursor *c, pl_error *err)
{
    const bool binary = c->binary;
    int64_t count, tag, type = 0, block = 1, tags = 0;

    c->binary = false;
    if (!cursor_count(c, 4, &count)) {
        return cursor_fail(c, "the number of elements", err);
    }
    c->binary = binary;
    c->at += binary && c->at < c->end ? 1 : 0;

    for (int64_t i = 0; i < count; i += block) {
        if (binary &&
            (!cursor_int(c, 4, &type) || !cursor_count(c, 4, &block) || !cursor_count(c, 4, &tags))) {
            return cursor_fail(c, "the header of elements of one type", err);
        }

        if (!binary && (!cursor_int(c, 4, &tag) || !msh_tag(tag) || !cursor_int(c, 4, &type) ||
                        !cursor_count(c, 4, &tags))) {
            return cursor_fail(c, "an element: number, type, count of tags", err);
        }

        // physical group and entity are the two tags that we need
        const int nodes = msh_node_count(type);
        if (nodes == 0 || block < 1 || block > count - i || tags < 2 || tags > 64) {
            return cursor_fail(c, "an element of a known type with at least two tags", err);
        }
        for (int64_t k = 0; k < block; ++k) {
            bool good = cursor_skip(c, binary ? 1 : 0, 4, 0) && cursor_skip(c, tags, 4, 0);
            for (int a = 0; good && a < nodes; ++a) {
                good = cursor_int(c, 4, &tag) && msh_tag(tag);
            }
            if (!good) {
                return cursor_fail(c, "tags and vertices of an element", err);
            }
        }
    }

    return PL_OK;
}

// Points have three coordinates and no boundary, all others a box and a boundary.
static pl_status msh4_entities(cursor *c, pl_error *err)
{
    int64_t count[4], some;
    for (int d = 0; d < 4; ++d) {
        if (!cursor_count(c, 8, &count[d])) {
            return cursor_fail(c, "the counts of points, curves, surfaces, volumes", err);
        }
    }

    for (int d = 0; d < 4; ++d) {
        for (int64_t i = 0; i < count[d]; ++i) {
            bool good =
                cursor_skip(c, 1, 4, d ? 6 : 3) && cursor_count(c, 8, &some) && cursor_skip(c, some, 4, 0);
            if (good && d > 0) {
                good = cursor_count(c, 8, &some) && cursor_skip(c, some, 4, 0);
            }
            if (!good) {
                return cursor_fail(c, "an entity: tag, bounds, groups, boundary", err);
            }
        }
    }

    return PL_OK;
}

// The four numbers that open Nodes and Elements: blocks, entries, lowest and highest tag.
static bool msh4_header(cursor *c, int64_t header[4])
{
    bool good = true;
    for (int i = 0; i < 4 && good; ++i) {
        good = cursor_int(c, 8, &header[i]) && header[i] >= 0 && header[i] < INT32_MAX;
    }
    return good && header[0] <= c->end - c->at && header[1] <= c->end - c->at;
}

static pl_status msh4_nodes(cursor *c, pl_error *err)
{
    int64_t header[4], dim, parametric, count, tag, total = 0;
    if (!msh4_header(c, header)) {
        return cursor_fail(c, "blocks, vertices, lowest and highest number", err);
    }

    // per block all numbers, then all coordinates
    for (int64_t b = 0; b < header[0]; ++b) {
        if (!cursor_int(c, 4, &dim) || dim < 0 || dim > 3 || !cursor_skip(c, 1, 4, 0) ||
            !cursor_int(c, 4, &parametric) || parametric < 0 || parametric > 1 ||
            !cursor_count(c, 8, &count)) {
            return cursor_fail(c, "a block of vertices: dimension, tag, 0 or 1, count", err);
        }

        for (int64_t i = 0; i < count; ++i) {
            if (!cursor_int(c, 8, &tag) || tag < header[2] || tag > header[3]) {
                return cursor_fail(c, "the number of a vertex, between the lowest and the highest", err);
            }
        }

        if (!cursor_skip(c, 0, 8, count * (3 + (parametric ? dim : 0)))) {
            return cursor_fail(c, "three coordinates of a vertex", err);
        }
        total += count;
    }

    return total == header[1] ? PL_OK : cursor_fail(c, "as many vertices as the header says", err);
}

static pl_status msh4_elements(cursor *c, pl_error *err)
{
    int64_t header[4], dim, type, count, tag, total = 0;
    if (!msh4_header(c, header)) {
        return cursor_fail(c, "blocks, elements, lowest and highest number", err);
    }

    for (int64_t b = 0; b < header[0]; ++b) {
        if (!cursor_int(c, 4, &dim) || dim < 0 || dim > 3 || !cursor_skip(c, 1, 4, 0) ||
            !cursor_int(c, 4, &type) || msh_node_count(type) == 0 || !cursor_count(c, 8, &count)) {
            return cursor_fail(c, "a block of elements: dimension, tag, known type, count", err);
        }

        for (int64_t i = 0; i < count; ++i) {
            bool good = cursor_int(c, 8, &tag) && tag >= header[2] && tag <= header[3];
            for (int a = 0; good && a < msh_node_count(type); ++a) {
                good = cursor_int(c, 8, &tag) && msh_tag(tag);
            }
            if (!good) {
                return cursor_fail(c, "the number and the vertices of an element", err);
            }
        }

        total += count;
    }

    return total == header[1] ? PL_OK : cursor_fail(c, "as many elements as the header says", err);
}

// "$PhysicalNames", a count, and as many lines: dimension, tag, "name".
static pl_status msh_names(cursor *c, pl_error *err)
{
    int64_t count, dim, tag;
    if (!cursor_count(c, 4, &count)) {
        return cursor_fail(c, "the number of names", err);
    }
    for (int64_t i = 0; i < count; ++i) {
        const char *first = NULL, *last = NULL, *line_end;
        bool good = cursor_int(c, 4, &dim) && dim >= 0 && dim <= 3 && cursor_int(c, 4, &tag) &&
                    llabs(tag) < INT32_MAX;
        line_end = good ? memchr(c->at, '\n', (size_t)(c->end - c->at)) : NULL;
        first = line_end ? memchr(c->at, '"', (size_t)(line_end - c->at)) : NULL;
        last = first ? memchr(first + 1, '"', (size_t)(line_end - first - 1)) : NULL;
        if (!last || last - first > 127) {
            return cursor_fail(c, "dimension, tag and a name in quotes of at most 126 letters", err);
        }
        c->at = line_end;
    }

    return PL_OK;
}

// Sections in a row: $Name ... $EndName. Known ones are walked through, others skipped.
pl_status meshing_check_msh(const char *path, const file_bytes *bytes, bool binary, bool version4,
                            pl_error *err)
{
    const struct {
        const char *name;
        pl_status (*walk)(cursor *c, pl_error *err);
        bool text; // even in binary files
    } section[] = {
        {"$PhysicalNames", msh_names, true},
        {"$Entities", version4 ? msh4_entities : NULL, false},
        {"$Nodes", version4 ? msh4_nodes : msh2_nodes, false},
        {"$Elements", version4 ? msh4_elements : msh2_elements, false},
    };

    // section by section
    cursor c = {path, bytes->data, bytes->data, bytes->data + bytes->size, false};
    while (c.at < c.end) {
        c.at += strspn(c.at, " \t\r\n");
        if (c.at >= c.end) {
            break;
        }

        // its name and the line that ends it
        char name[40] = "", close[48];
        if (sscanf(c.at, "%39[$A-Za-z0-9]", name) != 1 || name[0] != '$' || strncmp(name, "$End", 4) == 0) {
            return cursor_fail(&c, "a section such as $Nodes", err);
        }
        snprintf(close, sizeof close, "$End%s", name + 1);
        c.at += strlen(name);
        c.at += strspn(c.at, " \t\r");
        c.at += *c.at == '\n';

        // known sections end where their contents end
        pl_status status = PL_OK;
        bool known = false;
        for (int i = 0; i < PL_COUNT(section) && status == PL_OK; ++i) {
            if (strcmp(section[i].name, name) == 0 && section[i].walk) {
                known = true;
                c.binary = binary && !section[i].text;
                status = section[i].walk(&c, err);
                c.binary = false;
            }
        }

        if (status != PL_OK) {
            return status;
        }

        // others are searched for their end
        c.at += known ? strspn(c.at, " \t\r\n") : 0;
        while (!known && c.at < c.end && strncmp(c.at, close, strlen(close)) != 0) {
            const char *next = memchr(c.at, '\n', (size_t)(c.end - c.at));
            c.at = next ? next + 1 : c.end;
        }

        if (strncmp(c.at, close, strlen(close)) != 0) {
            return cursor_fail(&c, close, err);
        }
        c.at += strlen(close);
    }

    return PL_OK;
}

// ---- UNV: datasets between lines of -1; 2411 holds vertices, 2412 elements, both in records of lines
// The next line; false at the end, or for one that is longer than any of the format.
static bool unv_next(cursor *c, char line[256])
{
    if (c->at >= c->end) {
        return false;
    }

    const char *stop = memchr(c->at, '\n', (size_t)(c->end - c->at));
    const size_t length = (size_t)((stop ? stop : c->end) - c->at);
    if (length > 255) {
        return false;
    }
    memcpy(line, c->at, length);
    line[length] = 0;
    c->at = stop ? stop + 1 : c->end;

    return true;
}

// Whole numbers of a line, between `least` and `most` of them; -1 for anything else.
static int unv_numbers(const char *line, int64_t value[], int least, int most)
{
    int count = 0;
    for (const char *p = line; count < most; ++count) {
        char *end;
        value[count] = strtoll(p, &end, 10);
        if (end == p) {
            p += strspn(p, " \t\r");
            return *p == 0 && count >= least ? count : -1;
        }

        if (*end && !isspace((unsigned char)*end)) {
            return -1;
        }
        p = end;
    }

    return count;
}

// Whether the numbers stand in columns of ten, as the format wants and Gmsh reads them.
static bool unv_in_columns(const char *line, int count)
{
    for (int i = 0; i < count; ++i) {
        const size_t last = 10 * (size_t)i + 9;
        if (strlen(line) <= last || !isdigit((unsigned char)line[last]) ||
            isdigit((unsigned char)line[last + 1])) {
            return false;
        }
    }

    return true;
}

// Three coordinates; FORTRAN writes exponents with D.
static bool unv_reals(const char *line)
{
    char text[256];
    snprintf(text, sizeof text, "%s", line);
    for (char *p = text; *p; ++p) {
        *p = *p == 'D' || *p == 'd' ? 'E' : *p;
    }

    const char *p = text;
    for (int i = 0; i < 3; ++i) {
        char *end;
        if (!isfinite(pl_real_read(p, &end)) || end == p || (*end && !isspace((unsigned char)*end))) {
            return false;
        }
        p = end;
    }

    return p[strspn(p, " \t\r")] == 0;
}

// A line of -1 begins and ends datasets.
static bool unv_is_end(const char *line)
{
    const char *p = line + strspn(line, " \t");
    return strncmp(p, "-1", 2) == 0 && p[2 + strspn(p + 2, " \t\r")] == 0;
}

// Labels of vertices or elements, sorted once they are asked for.
typedef struct unv_labels {
    int64_t *label;
    int32_t count, capacity;
    bool sorted;
} unv_labels;

// Rising.
static int unv_compare(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

static bool unv_knows(unv_labels *known, int64_t label)
{
    if (!known->sorted && known->count) {
        qsort(known->label, (size_t)known->count, sizeof *known->label, unv_compare);
    }
    known->sorted = true;
    return known->count && bsearch(&label, known->label, (size_t)known->count, sizeof label, unv_compare);
}

// Stores a label; false without memory.
static bool unv_learn(unv_labels *known, int64_t label)
{
    if (!pl_grow((void **)&known->label, &known->capacity, known->count + 1, sizeof *known->label)) {
        return false;
    }
    known->label[known->count++] = label;
    known->sorted = false;
    return true;
}

// Two lines per vertex; labels are collected for the elements.
static pl_status unv_vertices(cursor *c, unv_labels *known, pl_error *err)
{
    char line[256];
    int64_t value[4];

    while (unv_next(c, line) && !unv_is_end(line)) {
        if (unv_numbers(line, value, 4, 4) != 4 || !msh_tag(value[0]) || !unv_next(c, line) ||
            !unv_reals(line)) {
            return cursor_fail(c, "a vertex: four whole numbers, then three coordinates on the next line",
                               err);
        }

        if (!unv_learn(known, value[0])) {
            return pl_fail_memory(err, c->path);
        }
    }

    return PL_OK;
}

// Vertices of the element kinds that Gmsh takes; 0 for others.
static int unv_node_count(int64_t kind)
{
    static const int table[][2] = {{11, 2},   {21, 2},  {22, 3},   {24, 3},   {41, 3},  {42, 6},
                                   {44, 4},   {45, 8},  {81, 3},   {82, 6},   {84, 4},  {85, 8},
                                   {91, 3},   {92, 6},  {94, 4},   {95, 8},   {111, 4}, {112, 6},
                                   {113, 15}, {115, 8}, {116, 20}, {118, 10}, {136, 2}, {161, 1}};
    for (int i = 0; i < PL_COUNT(table); ++i) {
        if (table[i][0] == kind) {
            return table[i][1];
        }
    }

    return 0;
}

static pl_status unv_elements(cursor *c, unv_labels *known, unv_labels *element, pl_error *err)
{
    char line[256];
    int64_t value[8];

    while (unv_next(c, line) && !unv_is_end(line)) {
        if (unv_numbers(line, value, 6, 6) != 6 || !msh_tag(value[0]) || unv_node_count(value[1]) == 0 ||
            unv_node_count(value[1]) != value[5]) {
            return cursor_fail(c, "an element: six whole numbers, a known kind, its count of vertices", err);
        }

        // beams have a line of their own before the vertices
        if (!unv_learn(element, value[0])) {
            return pl_fail_memory(err, c->path);
        }
        const bool beam = value[1] == 11 || value[1] == 21 || value[1] == 22 || value[1] == 24;
        bool good = !beam || unv_next(c, line);

        for (int64_t left = value[5]; good && left > 0; left -= 8) {
            const int want = left > 8 ? 8 : (int)left;
            good = unv_next(c, line) && unv_numbers(line, value, want, want) == want &&
                   unv_in_columns(line, want);
            for (int i = 0; good && i < want; ++i) {
                good = unv_knows(known, value[i]);
            }
        }

        if (!good) {
            return cursor_fail(
                c, "the vertices of an element in columns of ten, eight to a line, all defined before", err);
        }
    }

    return PL_OK;
}

// Groups: a line of eight numbers, the last their count of members; a name; then two members to a line, each
// of four numbers: what it is (8 an element), its label, and two more.
static pl_status unv_groups(cursor *c, unv_labels *element, pl_error *err)
{
    char line[256];
    int64_t value[8];

    while (unv_next(c, line) && !unv_is_end(line)) {
        if (unv_numbers(line, value, 8, 8) != 8 || value[7] < 0 || value[7] > c->end - c->at ||
            !unv_next(c, line)) {
            return cursor_fail(c, "a group: eight whole numbers, then its name", err);
        }

        for (int64_t left = value[7]; left > 0; left -= 2) {
            const int want = left > 1 ? 8 : 4;
            bool good = unv_next(c, line) && unv_numbers(line, value, want, want) == want;
            for (int i = 0; good && i < want; i += 4) {
                good = value[i] != 8 || unv_knows(element, value[i + 1]);
            }
            if (!good) {
                return cursor_fail(c, "members of a group, two to a line, elements defined before", err);
            }
        }
    }

    return PL_OK;
}

static bool unv_is_group(int64_t dataset)
{
    static const int group[] = {2429, 2430, 2432, 2435, 2452, 2467, 2477};
    for (int i = 0; i < PL_COUNT(group); ++i) {
        if (group[i] == dataset) {
            return true;
        }
    }

    return false;
}

// Other datasets are skipped.
static pl_status unv_other(cursor *c, pl_error *err)
{
    char line[256];
    bool ended = false;
    while (!ended && unv_next(c, line)) {
        ended = unv_is_end(line);
    }
    return ended ? PL_OK : cursor_fail(c, "-1 at the end of a dataset; the file is truncated", err);
}

// Datasets in any order, but vertices before elements, elements before groups.
static pl_status unv_datasets(cursor *c, unv_labels *known, unv_labels *element, pl_error *err)
{
    char line[256];
    bool vertices = false, elements = false;

    while (unv_next(c, line)) {
        if (line[strspn(line, " \t\r")] == 0) {
            continue;
        }
        int64_t number;
        if (!unv_is_end(line) || !unv_next(c, line) || unv_numbers(line, &number, 1, 1) != 1) {
            return cursor_fail(c, "-1 and a dataset number, as in a universal file", err);
        }
        const pl_status status = number == 2411         ? unv_vertices(c, known, err)
                                 : number == 2412       ? unv_elements(c, known, element, err)
                                 : unv_is_group(number) ? unv_groups(c, element, err)
                                                        : unv_other(c, err);
        if (status != PL_OK) {
            return status;
        }
        vertices = vertices || number == 2411;
        elements = elements || number == 2412;
    }

    return vertices && elements
               ? PL_OK
               : cursor_fail(c, "datasets 2411 (vertices) and 2412 (elements) before the end", err);
}

// Frees the labels, whatever the outcome.
pl_status meshing_check_unv(const char *path, const file_bytes *bytes, pl_error *err)
{
    cursor c = {path, bytes->data, bytes->data, bytes->data + bytes->size, false};
    unv_labels known = {0}, element = {0};
    const pl_status status = unv_datasets(&c, &known, &element, err);
    pl_free(known.label);
    pl_free(element.label);
    return status;
}
