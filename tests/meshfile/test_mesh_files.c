// Meshes in files: what is written comes back the same, in every format and encoding; files of other programs
// mean what they say.
#include <zlib.h>
#include "mesh_samples.h"
#include "meshfile/meshfile.h"

static void round_trip_vtu(pl_mesh *mesh)
{
    pl_error err = {0};
    for (int encoding = PL_VTU_ASCII; encoding <= PL_VTU_RAW; ++encoding) {
        pl_mesh *back;
        const char *path = sample_path("round.vtu");
        PL_CHECK_OK(pl_mesh_write_vtu(mesh, path, (pl_vtu_encoding)encoding, &err));
        PL_CHECK_OK(pl_mesh_load(path, 1, NULL, &back, NULL, &err));
        sample_check_same(mesh, back, 0);
        pl_mesh_destroy(back);
    }
}

static void round_trip_inp(pl_mesh *mesh)
{
    pl_error err = {0};
    pl_mesh *back;
    const char *path = sample_path("round.inp");

    PL_CHECK_OK(pl_mesh_write_inp(mesh, path, &err));
    PL_CHECK_OK(pl_mesh_load(path, 1, NULL, &back, NULL, &err));
    sample_check_same(mesh, back, 1e-15); // numbers of 20 characters
    pl_mesh_destroy(back);
}

// Prisms and tets, linear and quadratic, two regions, overlapping surfaces.
static void test_round_trip_mixed(void **state)
{
    (void)state;
    pl_mesh *linear = sample_mesh(false), *quadratic = sample_mesh_quadratic(false);
    round_trip_vtu(linear);
    round_trip_vtu(quadratic);
    round_trip_inp(linear);
    round_trip_inp(quadratic);
    pl_mesh_destroy(linear);
    pl_mesh_destroy(quadratic);
}

// TetGen knows tets only; both orders come back, names by comments.
static void test_round_trip_tetgen(void **state)
{
    (void)state;
    pl_error err = {0};
    for (int order = 1; order <= 2; ++order) {
        pl_mesh *mesh = order == 1 ? sample_mesh(true) : sample_mesh_quadratic(true), *back;
        const char *path = sample_path("round.ele");
        PL_CHECK_OK(pl_mesh_write_tetgen(mesh, path, &err));
        PL_CHECK_OK(pl_mesh_load(path, 1, NULL, &back, NULL, &err));
        sample_check_same(mesh, back, 0);
        pl_mesh_destroy(back);
        pl_mesh_destroy(mesh);
    }

    pl_mesh *mixed = sample_mesh(false);
    assert_int_equal(pl_mesh_write_tetgen(mixed, sample_path("mixed.ele"), &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "tetrahedra"));
    pl_mesh_destroy(mixed);
}

// The unit scales positions and nothing else.
static void test_unit_scales(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = sample_mesh(false), *back;
    const char *path = sample_path("unit.vtu");
    PL_CHECK_OK(pl_mesh_write_vtu(mesh, path, PL_VTU_RAW, &err));
    PL_CHECK_OK(pl_mesh_load(path, 1000, NULL, &back, NULL, &err));
    PL_CHECK_NEAR(pl_mesh_region_volume(back, -1), 1e9 * pl_mesh_region_volume(mesh, -1), 1e-2);
    pl_mesh_destroy(back);
    assert_int_equal(pl_mesh_load(path, -1, NULL, &back, NULL, &err), PL_BAD_INPUT);
    pl_mesh_destroy(mesh);
}

// ---- VTU as other programs write it: one tet of volume 1/6, region number 7

static const double tet_point[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};

typedef struct bytes {
    unsigned char data[4096];
    size_t length;
} bytes;

static void put(bytes *b, const void *data, size_t n, bool swap)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; ++i) {
        b->data[b->length++] = swap ? p[n - 1 - i] : p[i];
    }
}

static size_t put_base64(char *to, const bytes *b)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;

    for (size_t i = 0; i < b->length; i += 3) {
        const unsigned one = b->data[i], two = i + 1 < b->length ? b->data[i + 1] : 0;
        const unsigned three = i + 2 < b->length ? b->data[i + 2] : 0, bits = one << 16 | two << 8 | three;
        to[n++] = digit[bits >> 18];
        to[n++] = digit[bits >> 12 & 63];
        to[n++] = i + 1 < b->length ? digit[bits >> 6 & 63] : '=';
        to[n++] = i + 2 < b->length ? digit[bits & 63] : '=';
    }

    to[n] = '\0';
    return n;
}

typedef struct coding {
    bool wide, compressed, swap, appended, base64;
} coding;

static void put_word(bytes *b, const coding *c, uint64_t word)
{
    const uint32_t narrow = (uint32_t)word;
    if (c->wide) {
        put(b, &word, 8, c->swap);
    } else {
        put(b, &narrow, 4, c->swap);
    }
}

// Head and data of one array in the given coding, as text (base64) or bytes. Compressed data goes in two
// blocks.
static size_t put_array(char *to, const coding *c, const bytes *raw)
{
    bytes head = {.length = 0}, body = {.length = 0};
    if (c->compressed) {
        const size_t block = (raw->length + 1) / 2, last = raw->length - block;
        unsigned char packed[2][1000];
        uLongf size[2] = {sizeof packed[0], sizeof packed[1]};
        compress(packed[0], &size[0], raw->data, block);
        compress(packed[1], &size[1], raw->data + block, last);
        const uint64_t words[5] = {last ? 2 : 1, block, last == block ? 0 : last, size[0], size[1]};
        for (int i = 0; i < (last ? 5 : 4); ++i) {
            put_word(&head, c, words[i]);
        }
        put(&body, packed[0], size[0], false);
        put(&body, packed[1], last ? size[1] : 0, false);
    } else {
        put_word(&head, c, raw->length);
        put(&head, raw->data, raw->length, false);
    }

    if (c->appended && !c->base64) {
        memcpy(to, head.data, head.length);
        memcpy(to + head.length, body.data, body.length);
        return head.length + body.length;
    }

    const size_t n = put_base64(to, &head);
    return n + put_base64(to + n, &body);
}

static size_t tet_file(char *file, const coding *c)
{
    static const char *const name[] = {"points", "connectivity", "offsets", "types", "gmsh:physical"};
    static const char *const type[] = {"Float32", "Int32", "Int64", "UInt8", "Int16"};
    bytes raw[5] = {{.length = 0}};

    for (int i = 0; i < 12; ++i) {
        const float x = (float)tet_point[i];
        put(&raw[0], &x, 4, c->swap);
    }

    for (int32_t i = 0; i < 4; ++i) {
        put(&raw[1], &i, 4, c->swap);
    }

    const int64_t end = 4;
    const uint8_t tet = 10;
    const int16_t group = 7;
    put(&raw[2], &end, 8, c->swap);
    put(&raw[3], &tet, 1, false);
    put(&raw[4], &group, 2, c->swap);

    char appended[8000], array[5][1000];
    size_t at = 0, n = 0;
    for (int i = 0; i < 5; ++i) {
        char data[4000];
        const size_t length = put_array(data, c, raw + i);
        if (c->appended) {
            memcpy(appended + at, data, length);
            snprintf(array[i], sizeof array[i],
                     "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
                     "offset=\"%zu\"/>",
                     type[i], name[i], i == 0 ? 3 : 1, at);
            at += length;
        } else {
            snprintf(array[i], sizeof array[i],
                     "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n  "
                     "%.*s\n</DataArray>",
                     type[i], name[i], i == 0 ? 3 : 1, (int)length, data);
        }
    }

    n = (size_t)sprintf(
        file,
        "<?xml version=\"1.0\"?>\n<!-- by another program -->\n<VTKFile type=\"UnstructuredGrid\" "
        "version=\"0.1\" byte_order=\"%s\"%s%s>\n<UnstructuredGrid>\n"
        "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">\n"
        "<PointData Scalars=\"u\"></PointData>\n<CellData>%s</CellData>\n<Points>%s</Points>\n"
        "<Cells>%s%s%s</Cells>\n</Piece></UnstructuredGrid>\n",
        c->swap ? "BigEndian" : "LittleEndian", c->wide ? " header_type=\"UInt64\"" : "",
        c->compressed ? " compressor=\"vtkZLibDataCompressor\"" : "", array[4], array[0], array[1], array[2],
        array[3]);
    if (c->appended) {
        n += (size_t)sprintf(file + n, "<AppendedData encoding=\"%s\">\n  _", c->base64 ? "base64" : "raw");
        memcpy(file + n, appended, at);
        n += at;
        n += (size_t)sprintf(file + n, "\n</AppendedData>\n");
    }

    return n + (size_t)sprintf(file + n, "</VTKFile>\n");
}

// All 24 ways to encode the numbers give the same tet.
static void test_vtu_encodings(void **state)
{
    (void)state;
    pl_error err = {0};
    for (int k = 0; k < 24; ++k) {
        const coding c = {
            .wide = k & 1, .compressed = k & 2, .swap = k & 4, .appended = k >= 8, .base64 = k >= 16};
        char file[16000];
        pl_mesh *mesh;
        sample_write("coded.vtu", file, tet_file(file, &c));
        PL_CHECK_OK(pl_mesh_load(sample_path("coded.vtu"), 1, NULL, &mesh, NULL, &err));
        PL_CHECK_NEAR(pl_mesh_region_volume(mesh, -1), 1.0 / 6, 1e-15);
        assert_int_equal(pl_mesh_find_region(mesh, "region7"), 0);
        pl_mesh_destroy(mesh);
    }
}

// Two pieces, a wedge in VTK's corner order, triangles without numbers, lines that are passed over.
static void test_vtu_pieces(void **state)
{
    (void)state;
    static const char text[] =
        "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid>"
        "<Piece NumberOfPoints=\"4\" NumberOfCells=\"3\"><Points><DataArray type=\"Float64\" "
        "NumberOfComponents=\"3\">"
        "0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points><Cells><DataArray type=\"Int32\" Name=\"connectivity\">"
        "0 1 2 3  0 2 1  0 3</DataArray><DataArray type=\"Int32\" Name=\"offsets\">4 7 9</DataArray>"
        "<DataArray type=\"UInt8\" Name=\"types\">10 5 3</DataArray></Cells></Piece>"
        "<Piece NumberOfPoints=\"6\" NumberOfCells=\"1\"><Points><DataArray type=\"Float64\" "
        "NumberOfComponents=\"3\">"
        "5 0 0 5 1 0 6 0 0 5 0 1 5 1 1 6 0 1</DataArray></Points><Cells><DataArray type=\"Int32\" "
        "Name=\"connectivity\">"
        "0 1 2 3 4 5</DataArray><DataArray type=\"Int32\" Name=\"offsets\">6</DataArray>"
        "<DataArray type=\"UInt8\" Name=\"types\">13</DataArray></Cells></Piece>"
        "</UnstructuredGrid></VTKFile>";
    pl_error err = {0};
    pl_mesh *mesh;
    pl_findings *findings = pl_findings_create();
    sample_write_text("pieces.vtu", text);
    PL_CHECK_OK(pl_mesh_load(sample_path("pieces.vtu"), 1, NULL, &mesh, findings, &err));
    const pl_mesh_view v = pl_mesh_get(mesh);
    assert_int_equal(v.element_count, 2);
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, -1), 1.0 / 6 + 0.5, 1e-14);
    assert_string_equal(v.region_name[0], "body");
    assert_string_equal(v.surface_name[0], "surface");
    assert_int_equal(v.surface_start[1], 1);
    assert_non_null(strstr(pl_findings_at(findings, 0)->text, "reoriented"));
    pl_findings_destroy(findings);
    pl_mesh_destroy(mesh);
}

// ---- TetGen: numbers from 1, comments, attributes, markers, mid nodes in TetGen's own order

static void test_tetgen_by_hand(void **state)
{
    (void)state;
    sample_write_text("hand.node", "# a tet\n10 3 0 0\n 1 0 0 0 # corner\n 2 2 0 0\n 3 0 2 0\n 4 0 0 2\n"
                                   " 5 0 1 1\n 6 0 0 1\n 7 1 0 0\n 8 1 1 0\n 9 1 0 1\n 10 0 1 0\n");
    sample_write_text("hand.ele", "1 10 1\n 1  1 2 3 4  5 6 7 8 9 10  3\n");
    sample_write_text("hand.face", "2 1\n1  1 3 2  8 7 10  5\n2  1 2 4  9 6 7  0\n");
    pl_error err = {0};
    pl_mesh *mesh;
    PL_CHECK_OK(pl_mesh_load(sample_path("hand.node"), 1, NULL, &mesh, NULL, &err));
    const pl_mesh_view v = pl_mesh_get(mesh);
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, 0), 8.0 / 6, 1e-14);
    assert_string_equal(v.region_name[0], "region3");
    assert_int_equal(v.surface_count, 1);
    assert_string_equal(v.surface_name[0], "marker5");

    // every mid node lies midway between the corners of its edge
    static const int edge[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
    for (int m = 0; m < 6; ++m) {
        for (int i = 0; i < 3; ++i) {
            const double a = v.position[3 * v.node[edge[m][0]] + i],
                         b = v.position[3 * v.node[edge[m][1]] + i];
            PL_CHECK_NEAR(v.position[3 * v.node[4 + m] + i], 0.5 * (a + b), 1e-15);
        }
    }

    pl_mesh_destroy(mesh);
}

// ---- Abaqus: sparse labels, continuation, sets, sides, sections, whatever the case of letters

static const char inp_hand[] =
    "*Heading\n two tets and a wedge\n** comment\n*NODE, NSET=all\n"
    "10, 0, 0, 0\n20, 1.0D0, 0, 0\n30, 0, 1, 0\n40, 0, 0, 1\n5000000000, 0, 0, -1\n"
    "61, 5, 0, 0\n62, 6, 0, 0\n63, 5, 1, 0\n64, 5, 0, 1\n65, 6, 0, 1\n66, 5, 1, 1\n"
    "*Element, type=c3d4, elset=Tets\n7, 10, 20, 30, 40\n9, 10, 30, 20,\n 5000000000\n"
    "*ELEMENT, TYPE=C3D6,\n ELSET=Wedge\n100, 61,62,63,64,65,66\n"
    "*ELEMENT, TYPE=S3, ELSET=Lid\n200, 64, 65, 66\n"
    "*ELSET, ELSET=Upper, GENERATE\n 1, 8, 1\n"
    "*NSET, NSET=floor\n10, 20\n30, 61, 62\n63,\n"
    "*SURFACE, NAME=Flank, TYPE=ELEMENT\nwedge, S3\n7, s4\n"
    "*MATERIAL, NAME=m\n*ELASTIC\n1., 0.3\n*STEP\n*STATIC\n0.1, 1.\n*END STEP\n";

static void test_inp_by_hand(void **state)
{
    (void)state;
    sample_write_text("hand.inp", inp_hand);
    pl_error err = {0};
    pl_mesh *mesh;
    PL_CHECK_OK(pl_mesh_load(sample_path("hand.inp"), 1, NULL, &mesh, NULL, &err));
    const pl_mesh_view v = pl_mesh_get(mesh);
    assert_int_equal(v.element_count, 3);
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, pl_mesh_find_region(mesh, "Upper")), 1.0 / 6, 1e-15);
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, pl_mesh_find_region(mesh, "Tets")), 1.0 / 6, 1e-15);
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, pl_mesh_find_region(mesh, "Wedge")), 0.5, 1e-15);

    // the side x = 0 of the first tet and y = 0 of the wedge; the lid z = 1; the floor without the inner face
    const char *name[] = {"Flank", "Lid", "floor"};
    const double area[] = {1.5, 0.5, 0.5};
    for (int i = 0; i < 3; ++i) {
        const int32_t s = pl_mesh_find_surface(mesh, name[i]);
        assert_true(s >= 0);
        const int64_t count = v.surface_start[s + 1] - v.surface_start[s];
        PL_CHECK_NEAR(pl_mesh_faces_area(mesh, v.surface_face + v.surface_start[s], count), area[i], 1e-14);
    }

    assert_int_equal(pl_mesh_find_surface(mesh, "all"), -1);
    pl_mesh_destroy(mesh);
}

// A set that only serves a surface is no region, whether it stands before or after the surface.
static void test_inp_order(void **state)
{
    (void)state;
    static const char set[] = "*ELSET, ELSET=Side\n100\n",
                      surface[] = "*SURFACE, NAME=Wall, TYPE=ELEMENT\nside, S3\n";
    for (int k = 0; k < 2; ++k) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s%s", inp_hand, k ? surface : set, k ? set : surface);
        sample_write_text("order.inp", text);
        pl_error err = {0};
        pl_mesh *mesh;
        PL_CHECK_OK(pl_mesh_load(sample_path("order.inp"), 1, NULL, &mesh, NULL, &err));
        assert_int_equal(pl_mesh_find_region(mesh, "Side"), -1);
        PL_CHECK_NEAR(pl_mesh_region_volume(mesh, pl_mesh_find_region(mesh, "Wedge")), 0.5, 1e-15);
        assert_true(pl_mesh_find_surface(mesh, "Wall") >= 0);
        pl_mesh_destroy(mesh);
    }
}

// *SOLID SECTION decides over sets.
static void test_inp_sections(void **state)
{
    (void)state;
    char text[2000];
    snprintf(text, sizeof text,
             "%s*SOLID SECTION, ELSET=Tets, MATERIAL=m\n*SOLID SECTION, ELSET=Wedge, MATERIAL=m\n", inp_hand);
    sample_write_text("sections.inp", text);
    pl_error err = {0};
    pl_mesh *mesh;
    PL_CHECK_OK(pl_mesh_load(sample_path("sections.inp"), 1, NULL, &mesh, NULL, &err));
    assert_int_equal(pl_mesh_get(mesh).region_count, 2);
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, pl_mesh_find_region(mesh, "Tets")), 2.0 / 6, 1e-15);
    pl_mesh_destroy(mesh);
}

// ---- STL: the boundary encloses the volume of the mesh

static void test_stl_volume(void **state)
{
    (void)state;
    pl_error err = {0};
    for (int order = 1; order <= 2; ++order) {
        pl_mesh *mesh = order == 1 ? sample_mesh(true) : sample_mesh_quadratic(true);
        char *data;
        size_t length;
        PL_CHECK_OK(pl_mesh_write_stl(mesh, NULL, NULL, sample_path("all.stl"), &err));
        PL_CHECK_OK(pl_file_read(sample_path("all.stl"), &data, &length, &err));
        uint32_t count;
        memcpy(&count, data + 80, 4);
        assert_int_equal(length, 84 + 50 * (size_t)count);
        double volume = 0;
        for (uint32_t t = 0; t < count; ++t) {
            float x[9];
            memcpy(x, data + 84 + 50 * t + 12, sizeof x);
            volume += (x[0] * (x[4] * x[8] - x[5] * x[7]) - x[1] * (x[3] * x[8] - x[5] * x[6]) +
                       x[2] * (x[3] * x[7] - x[4] * x[6])) /
                      6;
        }
        PL_CHECK_NEAR(volume, pl_mesh_region_volume(mesh, -1), 1e-5);
        pl_file_free(data);
        pl_mesh_destroy(mesh);
    }

    pl_mesh *mesh = sample_mesh(true);
    assert_int_equal(pl_mesh_write_stl(mesh, "bass", NULL, sample_path("x.stl"), &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "\"base\""));
    pl_mesh_destroy(mesh);
}

// ---- files

// A target that cannot be replaced stays as it is, and nothing is left beside it.
static void test_write_is_whole(void **state)
{
    (void)state;
    pl_error err = {0};
    char *data;
    size_t length;
    sample_write_text("keep.txt", "first");
    sample_write_text("keep.txt", "second");
    PL_CHECK_OK(pl_file_read(sample_path("keep.txt"), &data, &length, &err));
    assert_string_equal(data, "second");
    pl_file_free(data);
    assert_int_equal(pl_file_write(sample_path("no/such/folder.txt"), "x", 1, &err), PL_BAD_FILE);
    assert_int_equal(pl_file_write(sample_folder, "x", 1, &err), PL_BAD_FILE);
    assert_int_equal(pl_file_read(sample_folder, &data, &length, &err), PL_BAD_INPUT);
    assert_int_equal(pl_file_read(sample_path("none"), &data, &length, &err), PL_BAD_FILE);
    assert_null(data);
    char command[200];
    snprintf(command, sizeof command, "test -z \"$(ls %s | grep tmp)\"", sample_folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_mixed), cmocka_unit_test(test_round_trip_tetgen),
        cmocka_unit_test(test_unit_scales),      cmocka_unit_test(test_vtu_encodings),
        cmocka_unit_test(test_vtu_pieces),       cmocka_unit_test(test_tetgen_by_hand),
        cmocka_unit_test(test_inp_by_hand),      cmocka_unit_test(test_inp_order),
        cmocka_unit_test(test_inp_sections),     cmocka_unit_test(test_stl_volume),
        cmocka_unit_test(test_write_is_whole),
    };
    return cmocka_run_group_tests(tests, sample_begin, sample_end);
}
