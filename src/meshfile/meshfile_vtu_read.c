// Reading VTU: expat walks the XML and notes the arrays that matter; then points, cells, regions and surfaces
// are built piece by piece. Appended raw bytes are no XML, so the parser only sees the text before them.
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include "meshfile/meshfile_vtu.h"
#include "meshfile/meshfile.h"

#define VTU_DEPTH_MAX 32     // of XML elements
#define VTU_ARRAYS_MAX 10000 // that matter

// One part of the grid with points and cells of its own.
typedef struct vtu_piece {
    int64_t point_count, cell_count;
} vtu_piece;

// What the XML said; owns pieces and arrays.
typedef struct vtu_reader {
    pl_vtu_coding coding;
    XML_Parser parser;
    int depth;
    pl_vtu_section section;
    bool seen_file, in_array;
    vtu_piece *piece;
    int32_t piece_count, piece_room;
    pl_vtu_array *array;
    int32_t array_count, array_room;
    pl_status status;
    pl_error *err;
} vtu_reader;

// ---- the XML

// Of the element being read, for messages.
static int vtu_line(const vtu_reader *r)
{
    return (int)XML_GetCurrentLineNumber(r->parser);
}

// Ends parsing; expat returns an error, whose cause is then `status`.
static void vtu_stop(vtu_reader *r, pl_status status)
{
    r->status = status;
    XML_StopParser(r->parser, XML_FALSE);
}

// NULL: not given.
static const char *vtu_attribute(const char **attribute, const char *name)
{
    for (int i = 0; attribute[i]; i += 2) {
        if (strcmp(attribute[i], name) == 0) {
            return attribute[i + 1];
        }
    }

    return NULL;
}

// A whole number in an attribute; `missing` when it is not there; -1 (and a stop) when it is no count.
static int64_t vtu_count(vtu_reader *r, const char **attribute, const char *name, int64_t missing)
{
    const char *text = vtu_attribute(attribute, name);
    if (!text) {
        return missing;
    }

    const char *p = text, *end = text + strlen(text);
    int64_t value;
    if (!pl_scan_whole(&p, end, &value) || p != end || value < 0) {
        vtu_stop(r, pl_fail(r->err, PL_BAD_INPUT, "%s:%d: %s is \"%.60s\", expected a count", r->coding.path,
                            vtu_line(r), name, text));
        return -1;
    }

    return value;
}

// Type, byte order, width of the heads and compression.
static void vtu_start_file(vtu_reader *r, const char **attribute)
{
    const char *type = vtu_attribute(attribute, "type"), *order = vtu_attribute(attribute, "byte_order");
    const char *header = vtu_attribute(attribute, "header_type"),
               *packer = vtu_attribute(attribute, "compressor");
    const uint16_t probe = 1;
    const char *ours = *(const uint8_t *)&probe ? "LittleEndian" : "BigEndian";

    r->seen_file = true;
    r->coding.swap = order && strcmp(order, ours) != 0;
    r->coding.header_bytes = header && strcmp(header, "UInt64") == 0 ? 8 : 4;
    r->coding.compressed = packer && *packer;
    const char *path = r->coding.path;

    if (!type || strcmp(type, "UnstructuredGrid") != 0) {
        vtu_stop(r, pl_fail(r->err, PL_BAD_INPUT,
                            "%s:%d: the VTK file is of type %.60s, expected UnstructuredGrid", path,
                            vtu_line(r), type ? type : "(none)"));
    } else if (order && strcmp(order, "LittleEndian") != 0 && strcmp(order, "BigEndian") != 0) {
        vtu_stop(r, pl_fail(r->err, PL_BAD_INPUT,
                            "%s:%d: byte_order is \"%.60s\", expected LittleEndian or BigEndian", path,
                            vtu_line(r), order));
    } else if (header && strcmp(header, "UInt64") != 0 && strcmp(header, "UInt32") != 0) {
        vtu_stop(r,
                 pl_fail(r->err, PL_BAD_INPUT, "%s:%d: header_type is \"%.60s\", expected UInt32 or UInt64",
                         path, vtu_line(r), header));
    } else if (packer && *packer && strcmp(packer, "vtkZLibDataCompressor") != 0) {
        vtu_stop(r, pl_fail(r->err, PL_BAD_INPUT,
                            "%s:%d: compressor is \"%.60s\", expected vtkZLibDataCompressor", path,
                            vtu_line(r), packer));
    }
}

// Counts of a piece; its arrays follow.
static void vtu_start_piece(vtu_reader *r, const char **attribute)
{
    const vtu_piece piece = {vtu_count(r, attribute, "NumberOfPoints", 0),
                             vtu_count(r, attribute, "NumberOfCells", 0)};
    if (piece.point_count < 0 || piece.cell_count < 0) {
        return;
    }

    if (r->piece_count >= 1000 ||
        !pl_grow((void **)&r->piece, &r->piece_room, (int64_t)r->piece_count + 1, sizeof piece)) {
        vtu_stop(r, r->piece_count >= 1000
                        ? pl_fail(r->err, PL_BAD_INPUT, "%s: has more than 1000 pieces", r->coding.path)
                        : pl_fail_memory(r->err, r->coding.path));
        return;
    }

    r->piece[r->piece_count++] = piece;
}

// Arrays that a mesh needs; all others are skipped without reading them.
static bool vtu_wanted(pl_vtu_section section, const char *name)
{
    static const char *const cells[] = {"connectivity", "offsets", "types"};
    static const char *const data[] = {"region", "surface", "material", "gmsh:physical", "CellEntityIds"};
    static const char *const field[] = {"region_names", "surface_names"};
    const char *const *known = section == PL_VTU_CELLS ? cells : section == PL_VTU_CELL_DATA ? data : field;
    const int count = section == PL_VTU_CELLS       ? PL_COUNT(cells)
                      : section == PL_VTU_CELL_DATA ? PL_COUNT(data)
                                                    : PL_COUNT(field);

    for (int i = 0; section != PL_VTU_NOWHERE && section != PL_VTU_POINTS && i < count; ++i) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }

    return section == PL_VTU_POINTS;
}

// Notes an array; its numbers are decoded when all sizes are known.
static void vtu_start_array(vtu_reader *r, const char **attribute)
{
    const char *name = vtu_attribute(attribute, "Name"), *type = vtu_attribute(attribute, "type");
    const char *format = vtu_attribute(attribute, "format");

    if (!vtu_wanted(r->section, name ? name : "")) {
        return;
    }

    pl_vtu_array a = {.section = r->section,
                      .piece = r->section == PL_VTU_FIELD_DATA ? -1 : r->piece_count - 1};
    a.line = vtu_line(r);
    snprintf(a.name, sizeof a.name, "%s", name ? name : "Points");

    // type and format
    while (a.type < PL_VTU_TYPE_COUNT && (!type || strcmp(type, pl_vtu_type_name(a.type)) != 0)) {
        ++a.type;
    }

    if (a.type == PL_VTU_TYPE_COUNT) {
        vtu_stop(r, pl_fail(r->err, PL_BAD_INPUT, "%s:%d: the array %s has type %.60s, which is unknown",
                            r->coding.path, a.line, a.name, type ? type : "(none)"));
        return;
    }

    const bool ascii = !format || strcmp(format, "ascii") == 0,
               binary = format && strcmp(format, "binary") == 0;
    if (!ascii && !binary && strcmp(format, "appended") != 0) {
        vtu_stop(r, pl_fail(r->err, PL_BAD_INPUT,
                            "%s:%d: the array %s has format %.60s, expected ascii, binary or appended",
                            r->coding.path, a.line, a.name, format));
        return;
    }

    a.format = ascii ? PL_VTU_IN_ASCII : binary ? PL_VTU_IN_BINARY : PL_VTU_IN_APPENDED;
    a.components = vtu_count(r, attribute, "NumberOfComponents", 1);
    a.offset = vtu_count(r, attribute, "offset", 0);
    if (r->status != PL_OK) {
        return;
    }

    if (r->array_count >= VTU_ARRAYS_MAX ||
        !pl_grow((void **)&r->array, &r->array_room, (int64_t)r->array_count + 1, sizeof a)) {
        vtu_stop(r, pl_fail_memory(r->err, r->coding.path));
        return;
    }

    r->array[r->array_count++] = a;
    r->in_array = true;
}

// Sections are opened by their names; unknown elements are passed through.
static void XMLCALL vtu_start(void *user, const char *name, const char **attribute)
{
    vtu_reader *r = user;
    if (r->status != PL_OK) {
        return;
    }

    if (++r->depth > VTU_DEPTH_MAX) {
        vtu_stop(r, pl_fail(r->err, PL_BAD_INPUT, "%s:%d: XML elements are nested more than %d deep",
                            r->coding.path, vtu_line(r), VTU_DEPTH_MAX));
    } else if (strcmp(name, "VTKFile") == 0) {
        vtu_start_file(r, attribute);
    } else if (!r->seen_file) {
        vtu_stop(r, pl_fail(r->err, PL_BAD_INPUT, "%s:%d: begins with <%.60s>, expected <VTKFile>",
                            r->coding.path, vtu_line(r), name));
    } else if (strcmp(name, "Piece") == 0) {
        vtu_start_piece(r, attribute);
    } else if (strcmp(name, "FieldData") == 0) {
        r->section = PL_VTU_FIELD_DATA;
    } else if (strcmp(name, "DataArray") == 0 || strcmp(name, "Array") == 0) {
        vtu_start_array(r, attribute);
    } else if (r->piece_count > 0) {
        r->section = strcmp(name, "Points") == 0      ? PL_VTU_POINTS
                     : strcmp(name, "Cells") == 0     ? PL_VTU_CELLS
                     : strcmp(name, "CellData") == 0  ? PL_VTU_CELL_DATA
                     : strcmp(name, "PointData") == 0 ? PL_VTU_NOWHERE
                                                      : r->section;
    }

    if (strcmp(name, "AppendedData") == 0) {
        const char *encoding = vtu_attribute(attribute, "encoding");
        r->coding.appended_base64 = encoding && strcmp(encoding, "base64") == 0;
    }
}

static void XMLCALL vtu_end(void *user, const char *name)
{
    vtu_reader *r = user;
    --r->depth;
    if (strcmp(name, "DataArray") == 0 || strcmp(name, "Array") == 0) {
        r->in_array = false;
    } else if (strcmp(name, "Points") == 0 || strcmp(name, "Cells") == 0 || strcmp(name, "CellData") == 0 ||
               strcmp(name, "FieldData") == 0) {
        r->section = PL_VTU_NOWHERE;
    }
}

// Text comes in pieces.
static void XMLCALL vtu_characters(void *user, const char *text, int length)
{
    vtu_reader *r = user;
    if (r->in_array && r->status == PL_OK) {
        pl_text *to = &r->array[r->array_count - 1].text;
        pl_text_add_bytes(to, text, (size_t)length);
        if (to->failed) {
            vtu_stop(r, pl_fail_memory(r->err, r->coding.path));
        }
    }
}

// Entities can swell a file without bound, and no VTU file needs them.
static void XMLCALL vtu_doctype(void *user, const char *name, const char *system, const char *public,
                                int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    vtu_reader *r = user;
    vtu_stop(r, pl_fail(r->err, PL_BAD_INPUT, "%s:%d: has a DOCTYPE, which is not allowed in a VTU file",
                        r->coding.path, vtu_line(r)));
}

// expat uses our allocator, so that tests can count and fail it.
static void *vtu_xml_alloc(size_t bytes)
{
    return pl_alloc(bytes);
}

static void *vtu_xml_resize(void *block, size_t bytes)
{
    return pl_resize_array(block, bytes, 1);
}

// The first occurrence of a word in bytes, NULL: none.
static const char *vtu_find(const char *data, size_t bytes, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = data, *end = data + bytes; (p = memchr(p, word[0], (size_t)(end - p))); ++p) {
        if ((size_t)(end - p) < length) {
            return NULL;
        }
        if (memcmp(p, word, length) == 0) {
            return p;
        }
    }

    return NULL;
}

// Splits the appended bytes off and returns the length of the XML before them.
static size_t vtu_split(vtu_reader *r, const char *data, size_t bytes)
{
    // the tag may be empty, and an underscore precedes the bytes
    const char *end = data + bytes, *tag = vtu_find(data, bytes, "<AppendedData");
    const char *close = tag ? memchr(tag, '>', (size_t)(end - tag)) : NULL;

    if (!close || close[-1] == '/') {
        return bytes;
    }

    const char *mark = memchr(close, '_', (size_t)(end - close));
    if (mark) {
        r->coding.appended = mark + 1;
        r->coding.appended_bytes = (size_t)(end - mark - 1);
    }

    return (size_t)(close + 1 - data);
}

// Feeds the XML before the appended data, then closes its elements.
static pl_status vtu_parse(vtu_reader *r, const char *data, size_t bytes)
{
    static const char tail[] = "</AppendedData></VTKFile>";
    const XML_Memory_Handling_Suite memory = {vtu_xml_alloc, vtu_xml_resize, pl_free};
    const size_t head = vtu_split(r, data, bytes);

    r->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    if (!r->parser) {
        return pl_fail_memory(r->err, r->coding.path);
    }

    // expat would read random numbers otherwise: the same file is read alike every time
    XML_SetHashSalt(r->parser, 0x706c6961);
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, vtu_start, vtu_end);
    XML_SetCharacterDataHandler(r->parser, vtu_characters);
    XML_SetStartDoctypeDeclHandler(r->parser, vtu_doctype);

    // expat counts in int: feed it in pieces
    enum XML_Status good = XML_STATUS_OK;
    const size_t most = 1 << 24;
    for (size_t at = 0; good == XML_STATUS_OK && at < head; at += most) {
        const size_t n = head - at < most ? head - at : most;
        good = XML_Parse(r->parser, data + at, (int)n, head == bytes && at + n == head);
    }

    if (good == XML_STATUS_OK && head < bytes) {
        good = XML_Parse(r->parser, tail, (int)sizeof tail - 1, 1);
    }

    if (good != XML_STATUS_OK && r->status == PL_OK) {
        const enum XML_Error code = XML_GetErrorCode(r->parser);
        r->status = code == XML_ERROR_NO_MEMORY
                        ? pl_fail_memory(r->err, r->coding.path)
                        : pl_fail(r->err, PL_BAD_INPUT, "%s:%d: not well-formed XML: %s", r->coding.path,
                                  vtu_line(r), XML_ErrorString(code));
    }

    XML_ParserFree(r->parser);

    return r->status;
}

// ---- from arrays to a mesh

// The array of that name in a piece; NULL: none. Without a name any of the section.
static const pl_vtu_array *vtu_array(const vtu_reader *r, pl_vtu_section section, int piece, const char *name)
{
    for (int32_t i = 0; i < r->array_count; ++i) {
        const pl_vtu_array *a = r->array + i;
        if (a->section == section && a->piece == piece && (!name || strcmp(a->name, name) == 0)) {
            return a;
        }
    }

    return NULL;
}

// The same; a missing one is an error.
static pl_status vtu_need_array(const vtu_reader *r, pl_vtu_section section, int piece, const char *name,
                                const pl_vtu_array **out)
{
    *out = vtu_array(r, section, piece, name);
    return *out ? PL_OK
                : pl_fail(r->err, PL_BAD_INPUT, "%s: piece %d has no array %s", r->coding.path, piece + 1,
                          name ? name : "of points");
}

// Numbers in the file to indices of regions or surfaces, in the order they are met; names of the field data
// rule.
typedef struct vtu_ids {
    const char *stem;
    bool named;
    double *id;
    int32_t *index;
    int32_t count, id_room, index_room;
} vtu_ids;

// The index of a number, whose name is added when it is new.
static pl_status vtu_id_index(const vtu_reader *r, vtu_ids *ids, pl_names *names, double id, int64_t cell,
                              int32_t *index)
{
    if (!(fabs(id) < 1e15) || id != floor(id) || (ids->named && (id < 0 || id >= names->count))) {
        return pl_fail(r->err, PL_BAD_INPUT, "%s: cell %lld has the %s number %g, %s", r->coding.path,
                       (long long)cell, ids->stem, id,
                       ids->named ? "for which there is no name" : "expected a whole number");
    }

    if (ids->named) {
        *index = (int32_t)id;
        return PL_OK;
    }

    // backwards: neighbours have the same number mostly
    for (int32_t i = ids->count - 1; i >= 0; --i) {
        if (ids->id[i] == id) {
            *index = ids->index[i];
            return PL_OK;
        }
    }

    if (ids->count >= 1000) {
        return pl_fail(r->err, PL_BAD_INPUT, "%s: more than 1000 different %s numbers", r->coding.path,
                       ids->stem);
    }

    const int32_t added = pl_names_add_numbered(names, ids->stem, (long long)id);
    const int64_t need = (int64_t)ids->count + 1;
    if (added < 0 || !pl_grow((void **)&ids->id, &ids->id_room, need, sizeof(double)) ||
        !pl_grow((void **)&ids->index, &ids->index_room, need, sizeof(int32_t))) {
        return pl_fail_memory(r->err, r->coding.path);
    }

    ids->id[ids->count] = id;
    ids->index[ids->count++] = *index = added;

    return PL_OK;
}

// Everything of one piece, decoded.
typedef struct vtu_cells {
    int64_t *node, *end, *type;
    double *region, *surface; // NULL when the file has none
} vtu_cells;

static void vtu_cells_clear(vtu_cells *c)
{
    pl_free(c->node);
    pl_free(c->end);
    pl_free(c->type);
    pl_free(c->region);
    pl_free(c->surface);
}

// Cells of one piece. Offsets first: they tell how long the connectivity is.
static pl_status vtu_decode_cells(const vtu_reader *r, int piece, vtu_cells *c)
{
    static const char *const words[] = {"region", "material", "gmsh:physical", "CellEntityIds"};
    const int64_t count = r->piece[piece].cell_count;
    const pl_vtu_array *node, *end, *type, *region = NULL;
    const pl_vtu_array *surface = vtu_array(r, PL_VTU_CELL_DATA, piece, "surface");

    for (int i = 0; !region && i < PL_COUNT(words); ++i) {
        region = vtu_array(r, PL_VTU_CELL_DATA, piece, words[i]);
    }

    pl_status status = vtu_need_array(r, PL_VTU_CELLS, piece, "offsets", &end);
    if (status == PL_OK) {
        status = pl_vtu_decode_wholes(&r->coding, end, count, &c->end, r->err);
    }

    // offsets must not fall
    for (int64_t i = 0; status == PL_OK && i < count; ++i) {
        if (c->end[i] < (i ? c->end[i - 1] : 0) || c->end[i] - (i ? c->end[i - 1] : 0) > INT32_MAX) {
            status = pl_fail(r->err, PL_BAD_INPUT,
                             "%s:%d: the offset of cell %lld is %lld, less than the previous one",
                             r->coding.path, end->line, (long long)i, (long long)c->end[i]);
        }
    }

    if (status == PL_OK) {
        status = vtu_need_array(r, PL_VTU_CELLS, piece, "connectivity", &node);
    }
    if (status == PL_OK) {
        status = pl_vtu_decode_wholes(&r->coding, node, count ? c->end[count - 1] : 0, &c->node, r->err);
    }
    if (status == PL_OK) {
        status = vtu_need_array(r, PL_VTU_CELLS, piece, "types", &type);
    }
    if (status == PL_OK) {
        status = pl_vtu_decode_wholes(&r->coding, type, count, &c->type, r->err);
    }
    if (status == PL_OK && region) {
        status = pl_vtu_decode_reals(&r->coding, region, count, &c->region, r->err);
    }
    if (status == PL_OK && surface) {
        status = pl_vtu_decode_reals(&r->coding, surface, count, &c->surface, r->err);
    }

    return status;
}

// What a VTK cell type becomes: an element, a face, or nothing.
typedef struct vtu_cell_kind {
    int type, nodes;
    int kind;    // pl_element_kind, or -1
    int corners; // of a face, or 0
} vtu_cell_kind;

// False for types that are not supported.
static bool vtu_kind_of(int64_t type, vtu_cell_kind *out)
{
    static const vtu_cell_kind flat[] = {
        {5, 3, -1, 3},  {22, 6, -1, 3}, {9, 4, -1, 4},  {23, 8, -1, 4},  {1, -1, -1, 0},
        {2, -1, -1, 0}, {3, -1, -1, 0}, {4, -1, -1, 0}, {21, -1, -1, 0},
    };

    const int kind = pl_element_find_vtk(type);
    if (kind >= 0) {
        *out = (vtu_cell_kind){(int)type, pl_element_get(kind)->nodes, kind, 0};
        return true;
    }

    for (int i = 0; i < PL_COUNT(flat); ++i) {
        if (flat[i].type == type) {
            *out = flat[i];
            return true;
        }
    }

    return false;
}

// Numbers of regions and of surfaces met so far.
typedef struct vtu_names {
    vtu_ids region, surface;
} vtu_names;

static pl_status vtu_add_face(vtu_reader *r, pl_build *build, vtu_names *names, const vtu_cells *c,
                              int64_t cell, const int32_t *corner, int corner_count)
{
    // without a surface array, group numbers name faces as well; a negative number or none: on no surface
    const double *id = c->surface ? c->surface : c->region;
    int32_t surface;

    if (!id) {
        surface = pl_names_add(&build->surfaces, "surface");
        if (surface < 0) {
            return pl_fail_memory(r->err, r->coding.path);
        }
    } else if (!(id[cell] >= 0)) {
        return PL_OK;
    } else {
        const pl_status status = vtu_id_index(r, &names->surface, &build->surfaces, id[cell], cell, &surface);
        if (status != PL_OK) {
            return status;
        }
    }

    pl_build_face(build, surface, corner, corner_count);
    return PL_OK;
}

// An element, a face, or nothing.
static pl_status vtu_add_cell(vtu_reader *r, pl_build *build, vtu_names *names, const vtu_cells *c, int piece,
                              int64_t cell, int32_t first_vertex)
{
    const char *path = r->coding.path;
    const int64_t start = cell ? c->end[cell - 1] : 0, count = c->end[cell] - start;
    vtu_cell_kind kind;

    if (!vtu_kind_of(c->type[cell], &kind)) {
        return pl_fail(
            r->err, PL_BAD_INPUT,
            "%s: cell %lld has VTK type %lld; expected tetrahedra (10, 24), wedges (13, 26), triangles "
            "(5, 22) and quadrilaterals (9, 23)",
            path, (long long)cell, (long long)c->type[cell]);
    }

    if (kind.nodes < 0) {
        return PL_OK; // points and lines carry no volume
    }
    if (count != kind.nodes) {
        return pl_fail(r->err, PL_BAD_INPUT, "%s: cell %lld of VTK type %d has %lld nodes, expected %d", path,
                       (long long)cell, kind.type, (long long)count, kind.nodes);
    }

    // points of the piece become vertices of the mesh
    int32_t node[PL_ELEMENT_NODES_MAX];
    for (int a = 0; a < kind.nodes; ++a) {
        const int64_t v = c->node[start + a];
        if (v < 0 || v >= r->piece[piece].point_count) {
            return pl_fail(r->err, PL_BAD_INPUT, "%s: cell %lld refers to point %lld of %lld", path,
                           (long long)cell, (long long)v, (long long)r->piece[piece].point_count);
        }

        node[a] = first_vertex + (int32_t)v;
    }

    // a face of a surface, or an element of a region
    if (kind.corners) {
        return vtu_add_face(r, build, names, c, cell, node, kind.corners);
    }

    int32_t region;
    if (c->region) {
        const pl_status status =
            vtu_id_index(r, &names->region, &build->regions, c->region[cell], cell, &region);
        if (status != PL_OK) {
            return status;
        }
    } else {
        region = build->regions.count ? 0 : pl_names_add(&build->regions, "body");
        if (region < 0) {
            return pl_fail_memory(r->err, path);
        }
    }

    pl_build_element(build, (pl_element_kind)kind.kind, node, region);

    return PL_OK;
}

// Points, then cells, whose numbers count within the piece.
static pl_status vtu_add_piece(vtu_reader *r, pl_build *build, vtu_names *names, int piece)
{
    const vtu_piece *p = r->piece + piece;
    const int32_t first_vertex = build->vertex_count;

    if (p->cell_count == 0 || p->point_count == 0) {
        return PL_OK;
    }

    if (p->point_count > INT32_MAX / 3 - first_vertex || p->cell_count > INT32_MAX / 2) {
        return pl_fail(r->err, PL_BAD_INPUT,
                       "%s: piece %d declares %lld points and %lld cells, which is too many", r->coding.path,
                       piece + 1, (long long)p->point_count, (long long)p->cell_count);
    }

    const pl_vtu_array *points;
    pl_status status = vtu_need_array(r, PL_VTU_POINTS, piece, NULL, &points);
    if (status == PL_OK && points->components != 3) {
        status = pl_fail(r->err, PL_BAD_INPUT, "%s:%d: points have %lld components, expected 3",
                         r->coding.path, points->line, (long long)points->components);
    }

    double *x = NULL;
    if (status == PL_OK) {
        status = pl_vtu_decode_reals(&r->coding, points, 3 * p->point_count, &x, r->err);
    }
    for (int64_t v = 0; status == PL_OK && v < p->point_count; ++v) {
        pl_build_vertex(build, x + 3 * v);
    }
    pl_free(x);

    vtu_cells cells = {0};
    if (status == PL_OK) {
        status = vtu_decode_cells(r, piece, &cells);
    }
    for (int64_t c = 0; status == PL_OK && c < p->cell_count; ++c) {
        status = vtu_add_cell(r, build, names, &cells, piece, c, first_vertex);
    }
    vtu_cells_clear(&cells);

    return status;
}

// Names of field data first: numbers refer to them.
static pl_status vtu_build(vtu_reader *r, pl_build *build)
{
    vtu_names names = {.region = {.stem = "region"}, .surface = {.stem = "surface"}};
    const pl_vtu_array *region = vtu_array(r, PL_VTU_FIELD_DATA, -1, "region_names");
    const pl_vtu_array *surface = vtu_array(r, PL_VTU_FIELD_DATA, -1, "surface_names");
    pl_status status = PL_OK;

    if (region) {
        names.region.named = true;
        status = pl_vtu_decode_names(&r->coding, region, &build->regions, r->err);
    }

    if (status == PL_OK && surface) {
        names.surface.named = true;
        status = pl_vtu_decode_names(&r->coding, surface, &build->surfaces, r->err);
    }

    for (int piece = 0; status == PL_OK && piece < r->piece_count; ++piece) {
        status = vtu_add_piece(r, build, &names, piece);
    }
    pl_free(names.region.id);
    pl_free(names.region.index);
    pl_free(names.surface.id);
    pl_free(names.surface.index);

    return status;
}

pl_status pl_mesh_read_vtu(const char *path, double unit, pl_mesh **out, pl_findings *findings, pl_error *err)
{
    *out = NULL;
    char *data;
    size_t bytes;
    pl_status status = pl_file_read(path, &data, &bytes, err);
    if (status != PL_OK) {
        return status;
    }

    vtu_reader r = {.coding = {.path = path}, .err = err};
    pl_build build = {0};
    status = vtu_parse(&r, data, bytes);
    if (status == PL_OK) {
        status = vtu_build(&r, &build);
    }
    if (status == PL_OK) {
        status = pl_build_finish(&build, path, unit, out, findings, err);
    }
    for (int32_t i = 0; i < r.array_count; ++i) {
        pl_text_clear(&r.array[i].text);
    }
    pl_free(r.array);
    pl_free(r.piece);
    pl_build_clear(&build);
    pl_file_free(data);

    return status;
}
