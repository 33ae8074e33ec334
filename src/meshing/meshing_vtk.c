// Legacy VTK files, read here: Gmsh's reader follows only its own dialect of cell data. Unstructured grids,
// ASCII and binary (big-endian), file versions 1 to 5. Cells of tetrahedra and wedges become elements;
// regions come from cell data named region, material or CellEntityIds, without any there is one region
// `body`.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "meshing/meshing_impl.h"

// Position in the file, and the arrays read from it.
typedef struct vtk_reader {
    const char *path;
    const char *start, *at, *end;
    bool binary;
    // arrays of the file
    double *point; // 3 per point
    int64_t point_count;
    int64_t *cell; // per cell: its count and its points, in a row
    int64_t cell_size, cell_count;
    int64_t *type;  // VTK type of each cell
    double *region; // per cell; NULL: none given
} vtk_reader;

// Names the line.
static pl_status vtk_fail(const vtk_reader *r, const char *what, pl_error *err)
{
    int line = 1;
    for (const char *p = r->start; p < r->at; ++p) {
        line += *p == '\n';
    }
    return pl_fail(err, PL_BAD_INPUT, "%s:%d: expected %s", r->path, line, what);
}

// The next word of text; false at the end.
static bool vtk_word(vtk_reader *r, char word[64])
{
    while (r->at < r->end && isspace((unsigned char)*r->at)) {
        ++r->at;
    }

    size_t n = 0;
    while (r->at < r->end && !isspace((unsigned char)*r->at)) {
        if (n < 63) {
            word[n++] = *r->at;
        }
        ++r->at;
    }

    word[n] = 0;
    return n > 0;
}

// The rest of the line without its end, at most 63 characters; false without a line end.
static bool vtk_line(vtk_reader *r, char line[64])
{
    const char *stop = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
    if (!stop) {
        return false;
    }

    size_t n = (size_t)(stop - r->at) < 63 ? (size_t)(stop - r->at) : 63;
    memcpy(line, r->at, n);
    while (n > 0 && isspace((unsigned char)line[n - 1])) {
        --n;
    }
    line[n] = 0;
    r->at = stop + 1;

    return true;
}

// A count, which cannot exceed the size of the file.
static bool vtk_count(vtk_reader *r, int64_t *value)
{
    char word[64], *end;
    if (!vtk_word(r, word)) {
        return false;
    }
    *value = strtoll(word, &end, 10);
    return *end == 0 && *value >= 0 && *value <= r->end - r->start;
}

// Bytes of a number type, negative for reals; 0 for unknown words.
static int vtk_type(const char *name)
{
    static const struct {
        const char *name;
        int bytes;
    } type[] = {{"float", -4},    {"double", -8},       {"int", 4},          {"unsigned_int", 4},
                {"long", 8},      {"unsigned_long", 8}, {"short", 2},        {"unsigned_short", 2},
                {"char", 1},      {"unsigned_char", 1}, {"vtktypeint64", 8}, {"vtktypeint32", 4},
                {"vtkIdType", 8}, {"vtktypeuint8", 1}};
    for (int i = 0; i < PL_COUNT(type); ++i) {
        if (strcasecmp(type[i].name, name) == 0) {
            return type[i].bytes;
        }
    }

    return 0;
}

// A word of text, or big-endian bytes. False for NAN and infinity, too.
static bool vtk_number(vtk_reader *r, int type, double *value)
{
    if (!r->binary) {
        char word[64], *end;
        if (!vtk_word(r, word)) {
            return false;
        }
        *value = pl_real_read(word, &end);
        return *end == 0 && isfinite(*value);
    }

    const int bytes = abs(type);

    // assemble the bytes, then interpret them by type
    if (r->end - r->at < bytes) {
        return false;
    }

    uint64_t bits = 0;
    for (int i = 0; i < bytes; ++i) {
        bits = bits << 8 | (unsigned char)r->at[i];
    }
    r->at += bytes;

    if (type < 0) {
        const uint32_t low = (uint32_t)bits;
        float single = 0;
        memcpy(bytes == 4 ? (void *)&single : (void *)value, bytes == 4 ? (void *)&low : (void *)&bits,
               (size_t)bytes);
        *value = bytes == 4 ? single : *value;
    } else {
        *value = bytes == 8 ? (double)(int64_t)bits : bytes == 4 ? (int32_t)bits : (double)bits;
    }

    return isfinite(*value);
}

// An array of numbers; in binary files it starts after the end of the line. *out may be NULL to skip them.
static pl_status vtk_reals(vtk_reader *r, int64_t count, int type, double **out, const char *what,
                           pl_error *err)
{
    // a number takes a byte at least, so the file bounds the count
    if (type == 0 || count < 0 || count > r->end - r->at) {
        return vtk_fail(r, what, err);
    }

    double *list = out ? PL_NEW_ARRAY(double, count) : NULL, value;
    if (out && !list) {
        return pl_fail_memory(err, r->path);
    }
    if (r->binary) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        r->at = stop ? stop + 1 : r->end;
    }

    for (int64_t i = 0; i < count; ++i) {
        if (!vtk_number(r, type, &value)) {
            pl_free(list);
            return vtk_fail(r, what, err);
        }

        if (list) {
            list[i] = value;
        }
    }

    if (out) {
        pl_free(*out);
        *out = list;
    }

    return PL_OK;
}

// Whole numbers through doubles, exact below 2^53; what no index can be becomes -1.
static pl_status vtk_ints(vtk_reader *r, int64_t count, int type, int64_t **out, const char *what,
                          pl_error *err)
{
    double *real = NULL;
    const pl_status status = vtk_reals(r, count, type, &real, what, err);

    if (status != PL_OK) {
        return status;
    }

    int64_t *list = PL_NEW_ARRAY(int64_t, count);
    for (int64_t i = 0; list && i < count; ++i) {
        list[i] = fabs(real[i]) < 1e15 ? (int64_t)real[i] : -1;
    }
    pl_free(real);
    pl_free(*out);
    *out = list;

    return list ? PL_OK : pl_fail_memory(err, r->path);
}

// CELLS of version 5: offsets, then connectivity; brought into the old form.
static pl_status vtk_cells5(vtk_reader *r, int64_t offsets, int64_t size, pl_error *err)
{
    char word[64], type[64];
    int64_t *offset = NULL, *node = NULL;
    pl_status status = PL_OK;

    if (!vtk_word(r, word) || strcasecmp(word, "OFFSETS") != 0 || !vtk_word(r, type)) {
        status = vtk_fail(r, "OFFSETS and a type", err);
    }
    if (status == PL_OK) {
        status = vtk_ints(r, offsets, vtk_type(type), &offset, "the offsets of the cells", err);
    }
    if (status == PL_OK &&
        (!vtk_word(r, word) || strcasecmp(word, "CONNECTIVITY") != 0 || !vtk_word(r, type))) {
        status = vtk_fail(r, "CONNECTIVITY and a type", err);
    }

    if (status == PL_OK) {
        status = vtk_ints(r, size, vtk_type(type), &node, "the points of the cells", err);
    }
    r->cell_count = offsets > 0 ? offsets - 1 : 0;
    r->cell_size = size + r->cell_count;
    r->cell = status == PL_OK ? PL_NEW_ARRAY(int64_t, r->cell_size) : NULL;
    if (status == PL_OK && !r->cell) {
        status = pl_fail_memory(err, r->path);
    }

    // count and points of each cell
    int64_t at = 0;
    for (int64_t c = 0; status == PL_OK && c < r->cell_count; ++c) {
        const int64_t n = offset[c + 1] - offset[c];
        if (offset[c] != at - c || n < 1 || n > size - offset[c]) {
            status = vtk_fail(r, "offsets that increase and end with the connectivity", err);
            break;
        }

        r->cell[at++] = n;
        memcpy(r->cell + at, node + offset[c], (size_t)n * sizeof *node);
        at += n;
    }

    pl_free(offset);
    pl_free(node);

    return status;
}

// Versions before 5: count and points of each cell in one list.
static pl_status vtk_cells(vtk_reader *r, pl_error *err)
{
    int64_t count, size;
    if (r->cell || !vtk_count(r, &count) || !vtk_count(r, &size)) {
        return vtk_fail(r, "CELLS, their number and the size of their list, once", err);
    }

    const char *p = r->at + strspn(r->at, " \t\r\n");
    if (strncasecmp(p, "OFFSETS", 7) == 0) {
        return vtk_cells5(r, count, size, err);
    }
    r->cell_count = count;
    r->cell_size = size;

    return vtk_ints(r, size, 4, &r->cell, "the points of the cells", err);
}

// Names of cell data that hold region numbers.
static bool vtk_is_region(const char *name)
{
    return strcasecmp(name, "region") == 0 || strcasecmp(name, "material") == 0 ||
           strcasecmp(name, "CellEntityIds") == 0;
}

// SCALARS name type [components], LOOKUP_TABLE name, values.
static pl_status vtk_scalars(vtk_reader *r, int64_t count, bool of_cells, pl_error *err)
{
    char name[64], line[64], type[64];
    int components = 1;

    if (!vtk_word(r, name) || !vtk_line(r, line) || sscanf(line, "%63s %d", type, &components) < 1 ||
        components < 1 || components > 16) {
        return vtk_fail(r, "SCALARS, a name and a type", err);
    }

    // LOOKUP_TABLE may be missing
    const char *p = r->at + strspn(r->at, " \t\r\n");
    if (strncasecmp(p, "LOOKUP_TABLE", 12) == 0 && (!vtk_line(r, line))) {
        return vtk_fail(r, "the values after LOOKUP_TABLE", err);
    }

    // the values start right here: step back onto the line end that binary arrays look for
    r->at -= r->binary ? 1 : 0;
    const bool wanted = of_cells && components == 1 && vtk_is_region(name);

    return vtk_reals(r, count * components, vtk_type(type), wanted ? &r->region : NULL, "numbers of SCALARS",
                     err);
}

// FIELD name k, then k times: name, components, tuples, type, values.
static pl_status vtk_field(vtk_reader *r, bool of_cells, pl_error *err)
{
    char name[64], type[64];
    int64_t arrays, components, tuples;

    if (!vtk_word(r, name) || !vtk_count(r, &arrays)) {
        return vtk_fail(r, "FIELD, a name and a count", err);
    }

    for (int64_t i = 0; i < arrays; ++i) {
        if (!vtk_word(r, name) || !vtk_count(r, &components) || !vtk_count(r, &tuples) ||
            !vtk_word(r, type) || (components > 0 && tuples > (r->end - r->start) / components)) {
            return vtk_fail(r, "an array: name, components, tuples, type", err);
        }

        const bool wanted = of_cells && components == 1 && tuples == r->cell_count && vtk_is_region(name);
        const pl_status status = vtk_reals(r, components * tuples, vtk_type(type), wanted ? &r->region : NULL,
                                           "the numbers of an array", err);
        if (status != PL_OK) {
            return status;
        }
    }

    return PL_OK;
}

// One section. *data becomes the number of values per array: of cells or points.
static pl_status vtk_section(vtk_reader *r, const char *word, int64_t *data, bool *of_cells, bool *more,
                             pl_error *err)
{
    char type[64];
    int64_t count;

    if (strcasecmp(word, "POINTS") == 0) {
        if (r->point || !vtk_count(r, &r->point_count) || !vtk_word(r, type)) {
            return vtk_fail(r, "POINTS, their number and a type, once", err);
        }
        return vtk_reals(r, 3 * r->point_count, vtk_type(type), &r->point, "three coordinates of each point",
                         err);
    }

    if (strcasecmp(word, "CELLS") == 0) {
        return vtk_cells(r, err);
    }

    if (strcasecmp(word, "CELL_TYPES") == 0) {
        // the number of cells is known once CELLS was read
        if (!r->cell || r->type || !vtk_count(r, &count) || count != r->cell_count) {
            return vtk_fail(r, "as many cell types as cells, once, after CELLS", err);
        }
        return vtk_ints(r, count, 4, &r->type, "a type of each cell", err);
    }

    if (strcasecmp(word, "CELL_DATA") == 0 || strcasecmp(word, "POINT_DATA") == 0) {
        *of_cells = strcasecmp(word, "CELL_DATA") == 0;
        return vtk_count(r, data) && (!*of_cells || (r->cell && *data == r->cell_count))
                   ? PL_OK
                   : vtk_fail(r, "as many data as cells, after CELLS", err);
    }

    if (strcasecmp(word, "SCALARS") == 0) {
        return vtk_scalars(r, *data, *of_cells, err);
    }
    if (strcasecmp(word, "FIELD") == 0) {
        return vtk_field(r, *of_cells, err);
    }

    if (strcasecmp(word, "METADATA") == 0) {
        // ends with an empty line
        char line[64] = "x";
        while (line[0] && vtk_line(r, line)) {
        }
        return PL_OK;
    }

    // vectors, normals, tensors come after what is needed here
    *more = !r->type;

    return *more ? vtk_fail(r, "POINTS, CELLS or CELL_TYPES", err) : PL_OK;
}

// Header, then sections until all that is needed is read. Arrays are freed by
// the caller, also after a failure.
static pl_status vtk_parse(vtk_reader *r, pl_error *err)
{
    char line[64], word[64];
    if (!vtk_line(r, line) || strncmp(line, "# vtk DataFile", 14) != 0) {
        r->at = r->start;
        return vtk_fail(r, "\"# vtk DataFile Version ...\"", err);
    }

    if (!vtk_line(r, line) || !vtk_line(r, line) ||
        (strcasecmp(line, "ASCII") && strcasecmp(line, "BINARY"))) {
        return vtk_fail(r, "a title, then ASCII or BINARY", err);
    }

    r->binary = strcasecmp(line, "BINARY") == 0;
    if (!vtk_line(r, line) || strncasecmp(line, "DATASET UNSTRUCTURED_GRID", 25) != 0) {
        return vtk_fail(r, "DATASET UNSTRUCTURED_GRID", err);
    }

    int64_t data = 0;
    bool of_cells = false, more = true;
    pl_status status = PL_OK;
    while (status == PL_OK && more && vtk_word(r, word)) {
        status = vtk_section(r, word, &data, &of_cells, &more, err);
    }
    if (status == PL_OK && (!r->point || !r->cell || !r->type)) {
        return vtk_fail(r, "POINTS, CELLS and CELL_TYPES before the end", err);
    }

    return status;
}

// ---- to a mesh
// The mesh while it is collected.
typedef struct vtk_mesh {
    uint8_t *kind;
    int64_t *start;
    int32_t *node, *region;
    int32_t element_count;
    int32_t *value; // of each region
    char (*name)[24];
    const char **names;
    int32_t region_count, region_capacity;
} vtk_mesh;

// Index of a region by its number, -1 without memory.
static int32_t vtk_region(vtk_mesh *m, int32_t value)
{
    int32_t i = 0;
    while (i < m->region_count && m->value[i] != value) {
        ++i;
    }

    if (i == m->region_count) {
        if (!pl_grow((void **)&m->value, &m->region_capacity, i + 1, sizeof *m->value)) {
            return -1;
        }
        m->value[m->region_count++] = value;
    }

    return i;
}

static pl_status vtk_collect(const vtk_reader *r, vtk_mesh *m, pl_error *err)
{
    int64_t at = 0, total = 0;
    for (int64_t c = 0; c < r->cell_count; ++c, at += 1 + r->cell[at]) {
        if (at >= r->cell_size || r->cell[at] < 0 || r->cell[at] > r->cell_size - at - 1) {
            return pl_fail(err, PL_BAD_INPUT, "%s: cell %lld runs past the end of CELLS", r->path,
                           (long long)c);
        }

        const int kind = pl_element_find_vtk(r->type[c]);
        // below 10, and 21 to 23: vertices, lines and faces, which are skipped
        if (kind < 0 && r->type[c] >= 10 && r->type[c] != 21 && r->type[c] != 22 && r->type[c] != 23) {
            return pl_fail(
                err, PL_BAD_INPUT,
                "%s: cell %lld has VTK type %lld; expected tetrahedra (10, 24) and wedges (13, 26)", r->path,
                (long long)c, (long long)r->type[c]);
        }

        if (kind < 0) {
            continue;
        }
        const int n = pl_element_node_count(kind);
        if (r->cell[at] != n) {
            return pl_fail(err, PL_BAD_INPUT, "%s: cell %lld has %lld points, expected %d for VTK type %lld",
                           r->path, (long long)c, (long long)r->cell[at], n, (long long)r->type[c]);
        }

        // points
        for (int a = 0; a < n; ++a) {
            const int64_t v = r->cell[at + 1 + a];
            if (v < 0 || v >= r->point_count) {
                return pl_fail(err, PL_BAD_INPUT, "%s: cell %lld refers to point %lld, expected 0 to %lld",
                               r->path, (long long)c, (long long)v, (long long)r->point_count - 1);
            }

            m->node[total + a] = (int32_t)v;
        }

        // region and kind
        const int32_t value = r->region && fabs(r->region[c]) < 1e9 ? (int32_t)r->region[c] : 0;
        m->region[m->element_count] = vtk_region(m, value);
        if (m->region[m->element_count] < 0) {
            return pl_fail_memory(err, r->path);
        }
        m->kind[m->element_count] = (uint8_t)kind;
        total += n;
        m->start[++m->element_count] = total;
    }

    return m->element_count
               ? PL_OK
               : pl_fail(err, PL_BAD_INPUT, "%s: has no volume elements (tetrahedron or prism)", r->path);
}

// Names regions by their numbers and scales the points.
static pl_status vtk_create(const vtk_reader *r, vtk_mesh *m, double unit, pl_mesh **out,
                            pl_mesh_report *report, pl_error *err)
{
    m->name = pl_alloc_array((size_t)m->region_count, sizeof *m->name);
    m->names = pl_alloc_array((size_t)m->region_count, sizeof *m->names);
    if (!m->name || !m->names) {
        return pl_fail_memory(err, r->path);
    }

    for (int32_t i = 0; i < m->region_count; ++i) {
        if (r->region) {
            snprintf(m->name[i], sizeof m->name[i], "region%d", m->value[i]);
        } else {
            snprintf(m->name[i], sizeof m->name[i], "body");
        }
        m->names[i] = m->name[i];
    }

    for (int64_t i = 0; i < 3 * r->point_count; ++i) {
        r->point[i] *= unit;
    }

    const pl_mesh_def def = {.vertex_count = (int32_t)r->point_count,
                             .position = r->point,
                             .element_count = m->element_count,
                             .kind = m->kind,
                             .node_start = m->start,
                             .node = m->node,
                             .region = m->region,
                             .region_count = m->region_count,
                             .region_name = m->names};

    return pl_mesh_create(&def, out, report, err);
}

// mm from file units of `unit` mm.
pl_status meshing_read_vtk(const char *path, double unit, pl_mesh **out, pl_mesh_report *report,
                           pl_error *err)
{
    file_bytes bytes;
    pl_status status = meshing_load(path, &bytes, err);

    if (status != PL_OK) {
        return status;
    }

    vtk_reader r = {.path = path, .start = bytes.data, .at = bytes.data, .end = bytes.data + bytes.size};
    vtk_mesh m = {0};
    status = vtk_parse(&r, err);
    if (status == PL_OK) {
        m.kind = PL_NEW_ARRAY(uint8_t, r.cell_count);
        m.start = PL_NEW_ARRAY(int64_t, r.cell_count + 1);
        m.node = PL_NEW_ARRAY(int32_t, r.cell_size);
        m.region = PL_NEW_ARRAY(int32_t, r.cell_count);
        const bool room = m.kind && m.start && m.node && m.region && r.point_count < INT32_MAX / 3;
        status = room ? vtk_collect(&r, &m, err) : pl_fail_memory(err, path);
    }

    if (status == PL_OK) {
        status = vtk_create(&r, &m, unit, out, report, err);
    }

    void *block[] = {bytes.data, r.point, r.cell,   r.type,  r.region, m.kind,
                     m.start,    m.node,  m.region, m.value, m.name};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        pl_free(block[i]);
    }
    pl_free(m.names);

    return status;
}
