// Writing VTU: one grid with its data, in ASCII, base64 or raw appended form; and meshes with regions and
// surfaces.
#include "meshfile/meshfile_vtu.h"

uint8_t pl_vtu_cell_type(pl_element_kind kind)
{
    return (uint8_t)pl_element_get(kind)->vtk;
}

// A file being written: the XML text, and the bytes appended behind it.
typedef struct vtu_writer {
    pl_vtu_encoding encoding;
    pl_text xml, appended;
} vtu_writer;

// Of the types that are written.
static size_t vtu_type_bytes(pl_vtu_type type)
{
    return type == PL_VTU_UINT8 ? 1 : type == PL_VTU_INT32 ? 4 : 8;
}

void pl_text_add_base64(pl_text *text, const unsigned char *data, size_t bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char chunk[4 * 256];
    size_t n = 0;

    for (size_t i = 0; i < bytes; i += 3) {
        const size_t left = bytes - i;
        const unsigned bits = (unsigned)data[i] << 16 | (left > 1 ? (unsigned)data[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)data[i + 2] : 0);
        chunk[n++] = digit[bits >> 18];
        chunk[n++] = digit[bits >> 12 & 63];
        chunk[n++] = left > 1 ? digit[bits >> 6 & 63] : '=';
        chunk[n++] = left > 2 ? digit[bits & 63] : '=';
        if (n == sizeof chunk) {
            pl_text_add_bytes(text, chunk, n);
            n = 0;
        }
    }

    pl_text_add_bytes(text, chunk, n);
}

// Twelve numbers per line; 17 digits restore every bit.
static void vtu_add_ascii(pl_text *text, pl_vtu_type type, const void *data, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        const char *gap = i % 12 == 11 ? "\n" : " ";
        if (type == PL_VTU_FLOAT64) {
            pl_text_add(text, "%.17g%s", ((const double *)data)[i], gap);
        } else if (type == PL_VTU_INT64) {
            pl_text_add(text, "%lld%s", (long long)((const int64_t *)data)[i], gap);
        } else if (type == PL_VTU_INT32) {
            pl_text_add(text, "%d%s", (int)((const int32_t *)data)[i], gap);
        } else {
            pl_text_add(text, "%d%s", ((const uint8_t *)data)[i], gap);
        }
    }
}

// Text inside a quoted attribute.
void pl_vtu_add_escaped(pl_text *text, const char *s)
{
    for (; *s; ++s) {
        const char *entity = *s == '&'   ? "&amp;"
                             : *s == '<' ? "&lt;"
                             : *s == '>' ? "&gt;"
                             : *s == '"' ? "&quot;"
                                         : NULL;
        if (entity) {
            pl_text_add(text, "%s", entity);
        } else {
            pl_text_add_bytes(text, s, 1);
        }
    }
}

// One array; raw data go behind the XML and are found by their offset.
static void vtu_add_array(vtu_writer *w, const pl_vtu_field *field, int64_t tuples)
{
    static const char *const format[] = {"ascii", "binary", "appended"};
    const int64_t count = tuples * field->components;
    const uint64_t bytes = (uint64_t)count * vtu_type_bytes(field->type);
    pl_text_add(&w->xml, "<DataArray type=\"%s\" Name=\"", pl_vtu_type_name(field->type));
    pl_vtu_add_escaped(&w->xml, field->name);

    // scalars without a count: meshio makes columns of them otherwise
    if (field->components > 1) {
        pl_text_add(&w->xml, "\" NumberOfComponents=\"%d", field->components);
    }
    pl_text_add(&w->xml, "\" format=\"%s\"", format[w->encoding]);

    if (w->encoding == PL_VTU_RAW) {
        pl_text_add(&w->xml, " offset=\"%zu\"/>\n", w->appended.length);
        pl_text_add_bytes(&w->appended, &bytes, sizeof bytes);
        pl_text_add_bytes(&w->appended, field->data, bytes);
        return;
    }

    pl_text_add(&w->xml, ">\n");
    if (w->encoding == PL_VTU_ASCII) {
        vtu_add_ascii(&w->xml, field->type, field->data, count);
    } else {
        // the head and the numbers are one base64 stream
        pl_text block = {0};
        pl_text_add_bytes(&block, &bytes, sizeof bytes);
        pl_text_add_bytes(&block, field->data, bytes);
        pl_text_add_base64(&w->xml, (const unsigned char *)block.data, block.length);
        w->xml.failed = w->xml.failed || block.failed;
        pl_text_clear(&block);
    }

    pl_text_add(&w->xml, "\n</DataArray>\n");
}

// Names are character codes, each name closed by a 0. An array of bytes: VTK's own strings are refused by
// other readers (meshio).
static void vtu_add_names(vtu_writer *w, const pl_vtu_names *names)
{
    size_t bytes = 0;
    for (int32_t i = 0; i < names->count; ++i) {
        bytes += strlen(names->text[i]) + 1;
    }
    pl_text_add(&w->xml, "<DataArray type=\"UInt8\" Name=\"%s\" NumberOfTuples=\"%zu\" format=\"ascii\">\n",
                names->name, bytes);
    for (int32_t i = 0; i < names->count; ++i) {
        for (const unsigned char *c = (const unsigned char *)names->text[i]; *c; ++c) {
            pl_text_add(&w->xml, "%d ", *c);
        }
        pl_text_add(&w->xml, "0\n");
    }

    pl_text_add(&w->xml, "</DataArray>\n");
}

// A section with its arrays.
static void vtu_add_section(vtu_writer *w, const char *name, const pl_vtu_field *field, int count,
                            int64_t tuples)
{
    pl_text_add(&w->xml, "<%s>\n", name);
    for (int i = 0; i < count; ++i) {
        vtu_add_array(w, field + i, tuples);
    }
    pl_text_add(&w->xml, "</%s>\n", name);
}

// The XML in the order that ParaView writes: field data, then points and cells of the only piece.
static void vtu_add_grid(vtu_writer *w, const pl_vtu_grid *grid)
{
    const uint16_t probe = 1;
    const char *order = *(const uint8_t *)&probe ? "LittleEndian" : "BigEndian";

    pl_text_add(
        &w->xml,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" "
        "header_type=\"UInt64\">\n<UnstructuredGrid>\n<FieldData>\n",
        order);
    for (int i = 0; i < grid->names_count; ++i) {
        if (grid->names[i].count > 0) {
            vtu_add_names(w, grid->names + i);
        }
    }

    pl_text_add(&w->xml, "</FieldData>\n<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
                (long long)grid->point_count, (long long)grid->cell_count);
    vtu_add_section(w, "PointData", grid->point_data, grid->point_data_count, grid->point_count);
    vtu_add_section(w, "CellData", grid->cell_data, grid->cell_data_count, grid->cell_count);
    const pl_vtu_field points = {"Points", PL_VTU_FLOAT64, 3, grid->point};
    vtu_add_section(w, "Points", &points, 1, grid->point_count);

    const int64_t node_count = grid->cell_count ? grid->offset[grid->cell_count - 1] : 0;
    pl_text_add(&w->xml, "<Cells>\n");
    vtu_add_array(w, &(pl_vtu_field){"connectivity", PL_VTU_INT64, 1, grid->connectivity}, node_count);
    vtu_add_array(w, &(pl_vtu_field){"offsets", PL_VTU_INT64, 1, grid->offset}, grid->cell_count);
    vtu_add_array(w, &(pl_vtu_field){"types", PL_VTU_UINT8, 1, grid->type}, grid->cell_count);
    pl_text_add(&w->xml, "</Cells>\n</Piece>\n</UnstructuredGrid>\n");
}

pl_status pl_vtu_write(const pl_vtu_grid *grid, pl_vtu_encoding encoding, const char *path, pl_error *err)
{
    vtu_writer w = {.encoding = encoding};
    vtu_add_grid(&w, grid);

    // appended bytes begin after an underscore
    if (encoding == PL_VTU_RAW) {
        pl_text_add(&w.xml, "<AppendedData encoding=\"raw\">\n_");
        pl_text_add_bytes(&w.xml, w.appended.data ? w.appended.data : "", w.appended.length);
        pl_text_add(&w.xml, "\n</AppendedData>\n");
    }

    pl_text_add(&w.xml, "</VTKFile>\n");
    const pl_status status = w.xml.failed || w.appended.failed
                                 ? pl_fail_memory(err, path)
                                 : pl_file_write(path, w.xml.data, w.xml.length, err);
    pl_text_clear(&w.xml);
    pl_text_clear(&w.appended);

    return status;
}

// ---- meshes

// Cells of a mesh: its elements, then one face cell per face of every surface.
typedef struct vtu_cells {
    int64_t *connectivity, *offset;
    uint8_t *type;
    int32_t *region, *surface; // -1 where it does not apply
} vtu_cells;

static void vtu_cells_clear(vtu_cells *cells)
{
    pl_free(cells->connectivity);
    pl_free(cells->offset);
    pl_free(cells->type);
    pl_free(cells->region);
    pl_free(cells->surface);
}

// Elements carry their region, faces their surface.
static void vtu_cells_fill(const pl_mesh *mesh, vtu_cells *cells)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    int64_t at = 0, c = 0;

    for (int32_t e = 0; e < v.element_count; ++e, ++c) {
        for (int64_t i = v.node_start[e]; i < v.node_start[e + 1]; ++i) {
            cells->connectivity[at++] = v.node[i];
        }
        cells->offset[c] = at;
        cells->type[c] = pl_vtu_cell_type((pl_element_kind)v.kind[e]);
        cells->region[c] = v.region[e];
        cells->surface[c] = -1;
    }

    for (int32_t s = 0; s < v.surface_count; ++s) {
        for (int64_t f = v.surface_start[s]; f < v.surface_start[s + 1]; ++f, ++c) {
            int32_t node[PL_FACE_NODES_MAX];
            const int count = pl_mesh_face_nodes(mesh, v.surface_face[f], node);
            for (int a = 0; a < count; ++a) {
                cells->connectivity[at++] = node[a];
            }
            cells->offset[c] = at;
            cells->type[c] = count == 3 ? 5 : count == 6 ? 22 : count == 4 ? 9 : 23;
            cells->region[c] = -1;
            cells->surface[c] = s;
        }
    }
}

pl_status pl_mesh_write_vtu(const pl_mesh *mesh, const char *path, pl_vtu_encoding encoding, pl_error *err)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int64_t face_count = v.surface_start ? v.surface_start[v.surface_count] : 0;
    const int64_t cell_count = v.element_count + face_count;
    const int64_t node_count = v.node_start[v.element_count] + PL_FACE_NODES_MAX * face_count;
    vtu_cells cells = {
        .connectivity = PL_NEW_ARRAY(int64_t, node_count),
        .offset = PL_NEW_ARRAY(int64_t, cell_count),
        .type = PL_NEW_ARRAY(uint8_t, cell_count),
        .region = PL_NEW_ARRAY(int32_t, cell_count),
        .surface = PL_NEW_ARRAY(int32_t, cell_count),
    };
    pl_status status;

    if (!cells.connectivity || !cells.offset || !cells.type || !cells.region || !cells.surface) {
        status = pl_fail_memory(err, path);
    } else {
        vtu_cells_fill(mesh, &cells);
        const pl_vtu_field data[] = {{"region", PL_VTU_INT32, 1, cells.region},
                                     {"surface", PL_VTU_INT32, 1, cells.surface}};
        const pl_vtu_names names[] = {{"region_names", v.region_name, v.region_count},
                                      {"surface_names", v.surface_name, v.surface_count}};
        const pl_vtu_grid grid = {
            .point_count = v.vertex_count,
            .cell_count = cell_count,
            .point = v.position,
            .connectivity = cells.connectivity,
            .offset = cells.offset,
            .type = cells.type,
            .cell_data = data,
            .cell_data_count = PL_COUNT(data),
            .names = names,
            .names_count = PL_COUNT(names),
        };
        status = pl_vtu_write(&grid, encoding, path, err);
    }

    vtu_cells_clear(&cells);

    return status;
}
