// Mesh files through Gmsh: round trips keep everything, wrong files are refused with a sentence, real meshes
// import.
#include "meshing/meshing.h"
#include "meshing/meshing_impl.h"
#include "meshing_tools.h"

// A block of two regions: tets below, prisms above, with a surface of triangles and one of quadrilaterals.
static pl_mesh *mixed_mesh(int order)
{
    static const double position[] = {0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 2, 0, 1, 0, 2, 1, 0, 0, -1};
    static const uint8_t kind[] = {PL_PRISM6, PL_TET4};
    static const int64_t start[] = {0, 6, 10};
    static const int32_t node[] = {0, 1, 2, 3, 4, 5, 0, 2, 1, 6}, region[] = {0, 1};
    static const char *const region_name[] = {"shell", "core"}, *const surface_name[] = {"top", "side"};
    static const int64_t surface_start[] = {0, 1, 3};
    static const int32_t corner[] = {3, 4, 5, -1, 0, 1, 4, 3, 0, 1, 6, -1};
    const pl_mesh_def def = {.vertex_count = 7,
                             .position = position,
                             .element_count = 2,
                             .kind = kind,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = 2,
                             .region_name = region_name,
                             .surface_count = 2,
                             .surface_name = surface_name,
                             .surface_start = surface_start,
                             .surface_corner = corner};
    pl_error err = {0};
    pl_mesh *mesh = NULL, *raised = NULL;

    PL_CHECK_OK(pl_mesh_create(&def, &mesh, NULL, &err));
    if (order == 2) {
        PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
        pl_mesh_destroy(mesh);
        return raised;
    }

    return mesh;
}

static void check_same(const pl_mesh *a, const pl_mesh *b)
{
    const pl_mesh_view u = pl_mesh_get(a), v = pl_mesh_get(b);
    assert_int_equal(u.vertex_count, v.vertex_count);
    assert_int_equal(u.element_count, v.element_count);
    assert_int_equal(u.region_count, v.region_count);
    assert_int_equal(u.surface_count, v.surface_count);
    for (int32_t r = 0; r < u.region_count; ++r) {
        const int32_t s = pl_mesh_find_region(b, u.region_name[r]);
        assert_true(s >= 0);
        PL_CHECK_NEAR(pl_mesh_region_volume(b, s), pl_mesh_region_volume(a, r), 1e-12);
    }

    for (int32_t s = 0; s < u.surface_count; ++s) {
        PL_CHECK_NEAR(tools_area(b, u.surface_name[s]), tools_area(a, u.surface_name[s]), 1e-12);
    }

    // positions of the nodes of each element, in order: the same numbers
    for (int64_t i = 0; i < u.node_start[u.element_count]; ++i) {
        for (int k = 0; k < 3; ++k) {
            PL_CHECK_NEAR(v.position[3 * v.node[i] + k], u.position[3 * u.node[i] + k], 1e-12);
        }
    }
}

// Versions, text or binary, linear or quadratic: what is written is what is read.
static void test_files_round_trip(void **state)
{
    (void)state;
    static const double version[] = {2.2, 4.1};
    for (int k = 0; k < 8; ++k) {
        pl_error err = {0};
        pl_mesh *mesh = mixed_mesh(k & 1 ? 2 : 1), *back = NULL;
        const char *path = tools_path("mixed.msh");
        PL_CHECK_OK(meshing_write(mesh, path, version[k >> 1 & 1], k & 4, &err));
        PL_CHECK_OK(pl_meshing_read(path, 1, &back, NULL, &err));
        check_same(mesh, back);
        pl_mesh_destroy(back);
        PL_CHECK_OK(pl_meshing_read(path, 10, &back, NULL, &err));
        PL_CHECK_NEAR(pl_mesh_region_volume(back, -1), 1000 * pl_mesh_region_volume(mesh, -1), 1e-8);
        pl_mesh_destroy(back);
        pl_mesh_destroy(mesh);
    }
}

// A curved quadratic mesh keeps its mid nodes.
static void test_files_curved_round_trip(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = NULL, *back = NULL;
    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN, .design = "tube", .size = 5, .order = 2};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    PL_CHECK_OK(pl_meshing_write_msh(mesh, tools_path("tube.msh"), true, &err));
    PL_CHECK_OK(pl_meshing_read(tools_path("tube.msh"), 1, &back, NULL, &err));
    PL_CHECK_NEAR(pl_mesh_region_volume(back, -1), pl_mesh_region_volume(mesh, -1), 1e-9);
    PL_CHECK_NEAR(tools_enclosed(back, "cavity"), tools_enclosed(mesh, "cavity"), 1e-9);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(back);
}

// Meshes nobody here drew: SOFA's.
static void test_files_sofa(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int vertices, tets;
    } mesh_file[] = {
        {"finger", 158, 389}, {"trunk", 709, 1972}, {"diamond", 1628, 4147}, {"pneunet", 2316, 9560}};
    const char *data = getenv("PLIANT_DATA");
    for (int i = 0; i < 4; ++i) {
        char path[512];
        snprintf(path, sizeof path, "%s/sofa/%s.vtk", data ? data : PL_SOURCE_DIR "/../shared/data",
                 mesh_file[i].name);
        if (access(path, R_OK) != 0) {
            print_message("skipped: %s is not there\n", path);
            continue;
        }
        pl_error err = {0};
        pl_mesh *mesh = NULL;
        pl_findings *findings = pl_findings_create();
        PL_CHECK_OK(pl_meshing_read(path, 1, &mesh, findings, &err));
        const pl_mesh_view v = pl_mesh_get(mesh);
        print_message("%s: %d vertices, %d tets, %.0f mm^3\n", mesh_file[i].name, v.vertex_count,
                      v.element_count, pl_mesh_region_volume(mesh, -1));
        assert_int_equal(v.element_count, mesh_file[i].tets);
        assert_true(v.vertex_count <= mesh_file[i].vertices);
        assert_int_equal(pl_mesh_find_region(mesh, "body"), 0);
        pl_mesh_destroy(mesh);
        pl_findings_destroy(findings);
    }
}

// Cell data name regions, in text and in binary (big-endian) files, whatever other data stand around them.
static void test_files_vtk_regions(void **state)
{
    (void)state;
    static const char text[] =
        "# vtk DataFile Version 3.0\ntwo tets and a face\nASCII\nDATASET UNSTRUCTURED_GRID\n"
        "POINTS 5 float\n0 0 0 1 0 0 0 1 0 0 0 1 0 0 -1\n"
        "CELLS 3 14\n4 0 1 2 3\n4 0 1 2 4\n3 0 1 2\nCELL_TYPES 3\n10\n10\n5\n"
        "POINT_DATA 5\nSCALARS heat float\nLOOKUP_TABLE default\n1 2 3 4 5\n"
        "CELL_DATA 3\nFIELD all 2\nother 2 3 int\n1 2 3 4 5 6\nmaterial 1 3 int\n7 9 0\n";
    pl_error err = {0};
    pl_mesh *mesh = NULL;
    pl_mesh_report report;
    tools_write(tools_path("two.vtk"), text, sizeof text - 1);
    PL_CHECK_OK(meshing_read_vtk(tools_path("two.vtk"), 1, &mesh, &report, &err));
    assert_int_equal(report.flipped_elements, 1);
    assert_int_equal(pl_mesh_get(mesh).region_count, 2);
    assert_int_equal(pl_mesh_find_region(mesh, "region7"), 0);
    assert_int_equal(pl_mesh_find_region(mesh, "region9"), 1);
    pl_mesh_destroy(mesh);

    FILE *file = fopen(tools_path("binary.vtk"), "wb");
    static const double point[12] = {0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4};
    static const unsigned char cells[] = {0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
    static const unsigned char type[] = {0, 0, 0, 10}, region[] = {0, 0, 0, 5};
    fprintf(file, "# vtk DataFile Version 2.0\nx\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n");
    for (int i = 0; i < 12; ++i) {
        unsigned char byte[8], swapped[8];
        memcpy(byte, &point[i], 8);
        for (int k = 0; k < 8; ++k) {
            swapped[k] = byte[7 - k];
        }
        fwrite(swapped, 1, 8, file);
    }

    fprintf(file, "\nCELLS 1 5\n");
    fwrite(cells, 1, sizeof cells, file);
    fprintf(file, "\nCELL_TYPES 1\n");
    fwrite(type, 1, sizeof type, file);
    fprintf(file, "\nCELL_DATA 1\nSCALARS CellEntityIds int 1\nLOOKUP_TABLE default\n");
    fwrite(region, 1, sizeof region, file);
    fclose(file);
    PL_CHECK_OK(pl_meshing_read(tools_path("binary.vtk"), 1, &mesh, NULL, &err));
    assert_int_equal(pl_mesh_find_region(mesh, "region5"), 0);
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, 0), 4, 1e-12);
    pl_mesh_destroy(mesh);
}

// Types and data of cells before the cells themselves: their number is not known yet, whatever it claims to
// be.
static void test_files_vtk_order(void **state)
{
    (void)state;
    static const char *const early[] = {"CELL_TYPES 0\n", "CELL_DATA 0\n"};
    for (int i = 0; i < 2; ++i) {
        char text[600];
        pl_error err = {0};
        pl_mesh *mesh = NULL;
        const int size = snprintf(text, sizeof text,
                                  "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                                  "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n%sCELLS 1 5\n4 0 1 2 3\n",
                                  early[i]);
        tools_write(tools_path("order.vtk"), text, (size_t)size);
        assert_int_equal(meshing_read_vtk(tools_path("order.vtk"), 1, &mesh, NULL, &err), PL_BAD_INPUT);
        print_message("%s\n", err.text);
        assert_non_null(strstr(err.text, "after CELLS"));
        assert_null(mesh);
    }
}

// A universal file, written by Gmsh.
static void test_files_unv(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = NULL, *back = NULL;
    const pl_mesh_source source = {.kind = PL_SOURCE_DESIGN, .design = "specimen", .order = 1};
    PL_CHECK_OK(tools_build(&source, &mesh, NULL, &err));
    PL_CHECK_OK(pl_meshing_write_msh(mesh, tools_path("bar.msh"), false, &err));
    int ierr = 0;
    PL_CHECK_OK(meshing_gmsh_load(&err));
    gmshInitialize(0, NULL, 0, &ierr);
    gmshOptionSetNumber("General.Terminal", 0, &ierr);
    gmshOpen(tools_path("bar.msh"), &ierr);
    gmshOptionSetNumber("Mesh.SaveGroupsOfElements", 1, &ierr);
    gmshWrite(tools_path("bar.unv"), &ierr);
    gmshFinalize(&ierr);
    assert_int_equal(ierr, 0);
    PL_CHECK_OK(pl_meshing_read(tools_path("bar.unv"), 1, &back, NULL, &err));
    const pl_mesh_view u = pl_mesh_get(mesh), v = pl_mesh_get(back);
    assert_int_equal(u.element_count, v.element_count);
    PL_CHECK_NEAR(pl_mesh_region_volume(back, -1), pl_mesh_region_volume(mesh, -1), 1e-6);
    print_message("%d regions, first %s; %d surfaces\n", v.region_count, v.region_name[0], v.surface_count);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(back);
}

// Files with a few bytes changed, cut or taken out: read or refused with a sentence, never a crash.
static void test_files_mutated(void **state)
{
    (void)state;
    static const char *const name[] = {"m22.msh", "m22b.msh", "m41.msh", "m41b.msh", "two.vtk"};
    pl_error err = {0};
    pl_mesh *mesh = mixed_mesh(2);
    PL_CHECK_OK(meshing_write(mesh, tools_path(name[0]), 2.2, false, &err));
    PL_CHECK_OK(meshing_write(mesh, tools_path(name[1]), 2.2, true, &err));
    PL_CHECK_OK(meshing_write(mesh, tools_path(name[2]), 4.1, false, &err));
    PL_CHECK_OK(meshing_write(mesh, tools_path(name[3]), 4.1, true, &err));
    pl_mesh_destroy(mesh);
    int outcome[2] = {0};
    const unsigned seed = 20260;
    srand(seed);
    for (int round = 0; round < 600; ++round) {
        static char bytes[1 << 16];
        FILE *file = fopen(tools_path(name[round % 5]), "rb");
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        for (int edit = rand() % 3; edit >= 0 && size > 1; --edit) {
            const size_t at = (size_t)rand() % size, cut = (size_t)rand() % 9;
            if (rand() % 3) {
                bytes[at] = rand() % 2 ? (char)rand() : "0123456789-. $"[rand() % 14];
            } else if (at + cut < size) {
                memmove(bytes + at, bytes + at + cut, size - at - cut);
                size -= cut;
            }
        }
        const char *path = tools_path(round % 5 == 4 ? "mutated.vtk" : "mutated.msh");
        tools_write(path, bytes, size);
        err = (pl_error){0};
        mesh = NULL;
        const bool read = pl_meshing_read(path, 1, &mesh, NULL, &err) == PL_OK;
        assert_true(read == (mesh != NULL) && read == (err.text[0] == 0));
        ++outcome[read];
        pl_mesh_destroy(mesh);
    }

    print_message("seed %u: %d read, %d refused\n", seed, outcome[1], outcome[0]);
    assert_true(outcome[0] > 100 && outcome[1] > 0);
}

#define MSH2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define NODES4 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"

static void test_files_refuse(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *word;
    } wrong[] = {
        {"empty.msh", "", "empty"},
        {"script.msh", "Point(1) = {0,0,0};\n", "$MeshFormat"},
        {"version.msh", "$MeshFormat\n3 0 8\n$EndMeshFormat\n" NODES4, "2.2 or 4.1"},
        {"header.msh", "$MeshFormat\nabc\n", ":2:"},
        {"nodes.msh", MSH2 "$Elements\n0\n$EndElements\n", "$Nodes"},
        {"cut.msh", MSH2 NODES4 "$Elements\n1\n1 4 2 0 1 1 2 3", "$EndElements"},
        {"surface.msh", MSH2 NODES4 "$Elements\n1\n1 2 2 0 1 1 2 3\n$EndElements\n", "no volume element"},
        {"missing.msh", MSH2 NODES4 "$Elements\n1\n1 4 2 0 1 1 2 3 9\n$EndElements\n", "missing.msh"},
        {"flat.msh", MSH2 NODES4 "$Elements\n1\n1 4 2 0 1 1 2 3 3\n$EndElements\n", ""},
        {"few.msh", MSH2 NODES4 "$Elements\n3\n1 4 2 0 1 1 2 3 4\n$EndElements\n", "few.msh"},
        {"hex.msh",
         MSH2 "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n$EndNodes\n"
              "$Elements\n1\n1 5 2 0 1 1 2 3 4 5 6 7 8\n$EndElements\n",
         "tetrahedra"},
        {"text.vtk", "hello\n", "vtk DataFile"},
        {"grid.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\n", "UNSTRUCTURED_GRID"},
        {"cells.vtk",
         "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 "
         "0 0 0 1\n",
         "CELLS"},
        {"text.unv", "hello\n", "universal"},
        {"mesh.inp", "*NODE\n", "read by the core"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        pl_error err = {0};
        pl_mesh *mesh = NULL;
        const char *path = tools_path(wrong[i].name);
        tools_write(path, wrong[i].text, strlen(wrong[i].text));
        const pl_status status = pl_meshing_read(path, 1, &mesh, NULL, &err);
        print_message("%s\n", err.text);
        if (status == PL_OK || !strstr(err.text, wrong[i].word)) {
            print_error("%s: \"%s\" does not say %s\n", wrong[i].name, err.text, wrong[i].word);
            fail();
        }
        assert_null(mesh);
    }

    pl_error err = {0};
    pl_mesh *mesh = NULL;
    assert_int_equal(pl_meshing_read("/nowhere/x.msh", 1, &mesh, NULL, &err), PL_BAD_FILE);
    assert_int_equal(pl_meshing_read("/nowhere/x.msh", 0, &mesh, NULL, &err), PL_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_round_trip), cmocka_unit_test(test_files_curved_round_trip),
        cmocka_unit_test(test_files_sofa),       cmocka_unit_test(test_files_vtk_regions),
        cmocka_unit_test(test_files_vtk_order),  cmocka_unit_test(test_files_unv),
        cmocka_unit_test(test_files_mutated),    cmocka_unit_test(test_files_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
