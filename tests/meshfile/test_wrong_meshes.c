// Wrong mesh files: each is refused with the right words; mutations of good files crash nothing; a lack of
// memory at any allocation is reported and leaks nothing.
#include "mesh_samples.h"
#include "base/base.h"
#include "meshfile/meshfile.h"

#define VTU_HEAD "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n"
#define VTU_PIECE "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">\n"
#define VTU_POINTS                                                                                           \
    "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\">0 0 0 1 0 0 0 1 0 0 0 "                    \
    "1</DataArray></Points>\n"
#define VTU_CELLS(nodes, end, type)                                                                          \
    "<Cells><DataArray type=\"Int32\" Name=\"connectivity\">" nodes                                          \
    "</DataArray>\n<DataArray type=\"Int32\" "                                                               \
    "Name=\"offsets\">" end "</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\">" type                   \
    "</DataArray></Cells>\n"
#define VTU_TAIL "</Piece></UnstructuredGrid></VTKFile>\n"
#define VTU_GOOD_CELLS VTU_CELLS("0 1 2 3", "4", "10")

#define INP_NODES "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n"
#define INP_TET "*ELEMENT, TYPE=C3D4, ELSET=E\n1,1,2,3,4\n"

typedef struct wrong_mesh {
    const char *extension, *text, *words;
} wrong_mesh;

static const wrong_mesh wrong[] = {
    {"vtu", "", "no tetrahedra"},
    {"vtu", "solid", "not well-formed XML"},
    {"vtu", "<html></html>", "expected <VTKFile>"},
    {"vtu", "<!DOCTYPE a [<!ENTITY b \"c\">]><VTKFile type=\"UnstructuredGrid\"/>", "DOCTYPE"},
    {"vtu", "<VTKFile type=\"PolyData\"/>", "expected UnstructuredGrid"},
    {"vtu", "<VTKFile type=\"UnstructuredGrid\" byte_order=\"Middle\"/>", "byte_order is \"Middle\""},
    {"vtu", "<VTKFile type=\"UnstructuredGrid\" header_type=\"UInt16\"/>", "UInt32 or UInt64"},
    {"vtu", "<VTKFile type=\"UnstructuredGrid\" compressor=\"vtkLZ4DataCompressor\"/>",
     "vtkZLibDataCompressor"},
    {"vtu", VTU_HEAD VTU_TAIL, "mismatched tag"},
    {"vtu", VTU_HEAD "<Piece NumberOfPoints=\"-4\" NumberOfCells=\"1\">" VTU_TAIL, "expected a count"},
    {"vtu", VTU_HEAD "<Piece NumberOfPoints=\"4000000000000\" NumberOfCells=\"1\">" VTU_TAIL, "too many"},
    {"vtu",
     VTU_HEAD "<Piece NumberOfPoints=\"400000000\" NumberOfCells=\"1\">" VTU_POINTS VTU_GOOD_CELLS VTU_TAIL,
     "ends before its"},
    {"vtu", VTU_HEAD VTU_PIECE VTU_GOOD_CELLS VTU_TAIL, "no array of points"},
    {"vtu", VTU_HEAD VTU_PIECE VTU_POINTS VTU_TAIL, "no array offsets"},
    {"vtu", VTU_HEAD VTU_PIECE VTU_POINTS VTU_CELLS("0 1 2 9", "4", "10") VTU_TAIL, "refers to point 9"},
    {"vtu", VTU_HEAD VTU_PIECE VTU_POINTS VTU_CELLS("0 1 2 3", "4", "12") VTU_TAIL, "VTK type 12"},
    {"vtu", VTU_HEAD VTU_PIECE VTU_POINTS VTU_CELLS("0 1 2", "3", "10") VTU_TAIL, "has 3 nodes, expected 4"},
    {"vtu", VTU_HEAD VTU_PIECE VTU_POINTS VTU_CELLS("0 1 x 3", "4", "10") VTU_TAIL, "number 3 of 4"},
    {"vtu", VTU_HEAD VTU_PIECE VTU_POINTS VTU_CELLS("0 1 2 3 3", "4", "10") VTU_TAIL,
     "more than the expected 4 numbers"},
    {"vtu", VTU_HEAD VTU_PIECE VTU_POINTS VTU_CELLS("0 1 2 3", "-4", "10") VTU_TAIL,
     "less than the previous one"},
    {"vtu", VTU_HEAD VTU_PIECE VTU_POINTS VTU_CELLS("0 1 2 2", "4", "10") VTU_TAIL, "element"},
    {"vtu",
     VTU_HEAD VTU_PIECE
     "<Points><DataArray type=\"Float64\" NumberOfComponents=\"2\"/></Points>" VTU_GOOD_CELLS VTU_TAIL,
     "2 components, expected 3"},
    {"vtu",
     VTU_HEAD VTU_PIECE
     "<Points><DataArray type=\"Float16\" NumberOfComponents=\"3\"/></Points>" VTU_GOOD_CELLS VTU_TAIL,
     "type Float16"},
    {"vtu",
     VTU_HEAD VTU_PIECE
     "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"odd\"/></Points>" VTU_GOOD_CELLS
         VTU_TAIL,
     "ascii, binary or appended"},
    {"vtu",
     VTU_HEAD VTU_PIECE "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"appended\" "
                        "offset=\"0\"/></Points>" VTU_GOOD_CELLS VTU_TAIL,
     "no AppendedData"},
    {"vtu",
     VTU_HEAD VTU_PIECE "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"binary\">"
                        "/////w==</DataArray></Points>" VTU_GOOD_CELLS VTU_TAIL,
     "4294967295 bytes, expected 96"},
    {"vtu",
     VTU_HEAD VTU_PIECE
     "<CellData><DataArray type=\"Float64\" Name=\"region\">0.5</DataArray></CellData>" VTU_POINTS
         VTU_GOOD_CELLS VTU_TAIL,
     "expected a whole number"},
    {"vtu",
     VTU_HEAD
     "<FieldData><Array type=\"String\" Name=\"region_names\" format=\"ascii\">97 "
     "0</Array></FieldData>" VTU_PIECE
     "<CellData><DataArray type=\"Int32\" Name=\"region\">3</DataArray></CellData>" VTU_POINTS VTU_GOOD_CELLS
         VTU_TAIL,
     "there is no name"},
    {"inp", INP_NODES, "no tetrahedra"},
    {"inp", "1,2,3\n", "a keyword"},
    {"inp", "*INCLUDE, INPUT=other.inp\n", "*INCLUDE is not supported"},
    {"inp", INP_NODES "2,1,1,1\n", "node 2 is given twice"},
    {"inp", "*NODE\nx,0,0,0\n", "must begin with its number"},
    {"inp", "*NODE\n1,0,zero,0\n", "three coordinates"},
    {"inp", INP_NODES "*ELEMENT, TYPE=C3D8\n1,1,2,3,4,1,2,3,4\n", "\"C3D8\" is not supported"},
    {"inp", INP_NODES "*ELEMENT, TYPE=C3D4\n1,1,2,3\n", "ends after 3 of 4 nodes"},
    {"inp", INP_NODES "*ELEMENT, TYPE=C3D4\n1,1,2,3,4,5\n", "its number and 4 nodes"},
    {"inp", INP_NODES "*ELEMENT, TYPE=C3D4\n1,1,2,3,5\n", "refers to node 5"},
    {"inp", INP_NODES INP_TET "1,1,2,4,3\n", "element 1 is given twice"},
    {"inp", INP_NODES INP_TET "*ELSET, ELSET=A\n3\n", "refers to element 3"},
    {"inp", INP_NODES INP_TET "*ELSET, ELSET=A\nA\n", "nested too deep"},
    {"inp", INP_NODES INP_TET "*ELSET\n1\n", "needs a name"},
    {"inp", INP_NODES INP_TET "*NSET, NSET=A, GENERATE\n4, 1\n", "first <= last"},
    {"inp", INP_NODES INP_TET "*SURFACE, NAME=S, TYPE=ELEMENT\n1, S5\n", "side S5"},
    {"inp", INP_NODES INP_TET "*SURFACE, NAME=S, TYPE=ELEMENT\n2, S1\n", "element 2 does not exist"},
    {"inp", INP_NODES INP_TET "*SURFACE, NAME=S, TYPE=NODE\n1\n", "TYPE=ELEMENT"},
    {"inp", INP_NODES INP_TET "*INSTANCE, NAME=I, PART=P\n1., 0., 0.\n", "*INSTANCE moves"},
    {"node", "", "is empty"},
    {"node", "1 2 0 0\n1 0 0\n", "dimension is 2"},
    {"node", "99999999 3 0 0\n1 0 0 0\n", "header says 99999999 lines"},
    {"node", "2 3 0 0\n1 0 0 0\n", "ends after 1 of 2 nodes"},
    {"node", "2 3 0 0\n1 0 0 0\n3 0 0 0\n", "found node number 3, expected 2"},
    {"node", "1 3 0 0\n1 0 0\n", "three coordinates"},
    {"xyz", "", "is unknown"},
    {"stl", "", "contain surfaces"},
    {"msh", "", "pliant::meshing"},
};

static void test_wrong_meshes(void **state)
{
    (void)state;
    print_message("%d wrong meshes\n", PL_COUNT(wrong));
    for (int i = 0; i < PL_COUNT(wrong); ++i) {
        char name[32];
        pl_mesh *mesh;
        pl_error err = {0};
        snprintf(name, sizeof name, "wrong%d.%s", i, wrong[i].extension);
        sample_write_text(name, wrong[i].text);
        const pl_status status = pl_mesh_load(sample_path(name), 1, NULL, &mesh, NULL, &err);
        if (status != PL_BAD_INPUT || !strstr(err.text, wrong[i].words) || !strstr(err.text, name)) {
            print_error("wrong mesh %d gives status %d and \"%s\", wanted the words \"%s\"\n", i, status,
                        err.text, wrong[i].words);
            fail();
        }
        assert_null(mesh);
    }
}

// ---- .ele beside a good .node

static void test_wrong_ele(void **state)
{
    (void)state;
    static const wrong_mesh ele[] = {
        {"ele", "1 5 0\n1 1 2 3 4\n", "5 nodes, expected 4 or 10"},
        {"ele", "1 4 0\n1 1 2 3 5\n", "refers to node 5, nodes are numbered from 1 to 4"},
        {"ele", "2 4 0\n1 1 2 3 4\n", "ends after 1 of 2"},
        {"ele", "1 4 1\n1 1 2 3 4\n", "attribute"},
        {"ele", "1 4 0\n1 1 2 3\n", "a node number is missing"},
    };
    for (int i = 0; i < PL_COUNT(ele); ++i) {
        pl_mesh *mesh;
        pl_error err = {0};
        sample_write_text("case.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n");
        sample_write_text("case.ele", ele[i].text);
        assert_int_equal(pl_mesh_load(sample_path("case.ele"), 1, NULL, &mesh, NULL, &err), PL_BAD_INPUT);
        if (!strstr(err.text, ele[i].words)) {
            print_error("wanted \"%s\" in \"%s\"\n", ele[i].words, err.text);
            fail();
        }
    }

    pl_mesh *mesh;
    pl_error err = {0};
    assert_int_equal(pl_mesh_load(sample_path("absent.vtu"), 1, NULL, &mesh, NULL, &err), PL_BAD_FILE);
}

// ---- mutations

// Changes a few bytes: flips, digits to other digits, cuts, doubled pieces.
static size_t mutate(pl_random *random, const char *from, size_t length, char *to)
{
    memcpy(to, from, length);
    for (int k = (int)(pl_random_next(random) % 3); k >= 0 && length > 2; --k) {
        const size_t at = pl_random_next(random) % length, left = length - at;
        switch (pl_random_next(random) % 6) {
        case 0:
            to[at] = (char)pl_random_next(random);
            break;
        case 1:
            to[at] = "0123456789-., \n=<>/\"*"[pl_random_next(random) % 21];
            break;
        case 2:
            length = at + 1;
            break;
        case 3: {
            const size_t n = 1 + pl_random_next(random) % (left < 9 ? left : 9);
            memmove(to + at, to + at + n, left - n);
            length -= n;
            break;
        }
        case 4: {
            const size_t n = 1 + pl_random_next(random) % (left < 40 ? left : 40);
            memmove(to + at + n, to + at, left);
            length += n;
            break;
        }
        default:
            to[at] = (char)(to[at] ^ (1 << pl_random_next(random) % 8));
        }
    }
    return length;
}

static void fuzz(const char *source, const char *target, int rounds, uint64_t seed)
{
    char *good;
    size_t length;
    pl_error err = {0};
    pl_random random;
    int read = 0;

    PL_CHECK_OK(pl_file_read(sample_path(source), &good, &length, &err));
    char *bad = malloc(length + 200);
    pl_random_seed(&random, seed);
    for (int i = 0; i < rounds; ++i) {
        pl_mesh *mesh;
        err = (pl_error){0};
        sample_write(target, bad, mutate(&random, good, length, bad));
        const pl_status status = pl_mesh_load(sample_path(target), 1, NULL, &mesh, NULL, &err);
        // either a mesh, or a sentence and no mesh
        assert_true(status == PL_OK ? mesh != NULL : !mesh && err.text[0]);
        read += status == PL_OK;
        pl_mesh_destroy(mesh);
    }

    print_message("%s: %d of %d mutations still read (seed %d)\n", source, read, rounds, (int)seed);
    free(bad);
    pl_file_free(good);
}

static void test_mutations(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = sample_mesh(true);
    PL_CHECK_OK(pl_mesh_write_vtu(mesh, sample_path("ascii.vtu"), PL_VTU_ASCII, &err));
    PL_CHECK_OK(pl_mesh_write_vtu(mesh, sample_path("base64.vtu"), PL_VTU_BASE64, &err));
    PL_CHECK_OK(pl_mesh_write_vtu(mesh, sample_path("raw.vtu"), PL_VTU_RAW, &err));
    PL_CHECK_OK(pl_mesh_write_inp(mesh, sample_path("good.inp"), &err));
    PL_CHECK_OK(pl_mesh_write_tetgen(mesh, sample_path("good.node"), &err));
    PL_CHECK_OK(pl_mesh_write_tetgen(mesh, sample_path("bad.node"), &err));
    fuzz("ascii.vtu", "bad.vtu", 1000, 1);
    fuzz("base64.vtu", "bad.vtu", 1000, 2);
    fuzz("raw.vtu", "bad.vtu", 1000, 3);
    fuzz("good.inp", "bad.inp", 1500, 4);
    fuzz("good.ele", "bad.ele", 700, 5);
    PL_CHECK_OK(pl_mesh_write_tetgen(mesh, sample_path("bad.node"), &err));
    fuzz("good.node", "bad.node", 700, 6);
    pl_mesh_destroy(mesh);
}

// ---- memory

static long allocations_left, blocks_held;

static void *failing_memory(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        blocks_held -= block != NULL;
        free(block);
        return NULL;
    }

    if (allocations_left-- <= 0) {
        return NULL;
    }
    blocks_held += block == NULL;
    return realloc(block, bytes);
}

// The n-th allocation fails, for every n until all is well: PL_NO_MEMORY, no mesh, nothing held.
static void check_memory(const char *name)
{
    for (long n = 0;; ++n) {
        pl_mesh *mesh;
        pl_error err = {0};
        allocations_left = n;
        blocks_held = 0;
        pl_memory_set(failing_memory, NULL);
        const pl_status status = pl_mesh_load(sample_path(name), 1, NULL, &mesh, NULL, &err);
        allocations_left = INT32_MAX;
        pl_mesh_destroy(mesh);
        pl_memory_set(NULL, NULL);
        assert_int_equal(blocks_held, 0);
        if (status == PL_OK) {
            print_message("%s: %ld allocations\n", name, n);
            assert_true(n > 10);
            return;
        }
        assert_int_equal(status, PL_NO_MEMORY);
    }
}

static void test_memory(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = sample_mesh(false), *tets = sample_mesh(true);
    PL_CHECK_OK(pl_mesh_write_vtu(mesh, sample_path("memory.vtu"), PL_VTU_BASE64, &err));
    PL_CHECK_OK(pl_mesh_write_inp(mesh, sample_path("memory.inp"), &err));
    PL_CHECK_OK(pl_mesh_write_tetgen(tets, sample_path("memory.node"), &err));
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(tets);
    check_memory("memory.vtu");
    check_memory("memory.inp");
    check_memory("memory.node");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_meshes),
        cmocka_unit_test(test_wrong_ele),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, sample_begin, sample_end);
}
