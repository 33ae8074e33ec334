// Picking surfaces: boxes and planes on a cube, the cavity of a hollow box with and without an inlet.
#include "check.h"
#include "box_mesh.h"
#include "mesh/mesh.h"

static pl_error err;

// A box of n^3 unit cells, hollow inside with walls of one cell; `inlet` opens the cavity along x at the
// middle.
static pl_mesh *hollow(int n, int inlet, bool raise)
{
    bool *hole = calloc((size_t)(n * n * n), sizeof *hole);
    for (int c = 0; c < n * n * n; ++c) {
        const int i = c % n, j = c / n % n, k = c / (n * n);
        const bool inner = i > 0 && i < n - 1 && j > 0 && j < n - 1 && k > 0 && k < n - 1;
        const bool duct = i < inlet && j == n / 2 && k == n / 2;
        hole[c] = inner || duct;
    }

    const double size[3] = {n, n, n};
    pl_mesh *mesh = NULL, *raised = NULL;
    PL_CHECK_OK(box_mesh(n, n, n, size, hole, NULL, &mesh, &err));
    free(hole);
    if (raise) {
        PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
        pl_mesh_destroy(mesh);
        return raised;
    }

    return mesh;
}

// A closed cavity is found whole: six squares, enclosing its volume, no rim.
static void test_closed_cavity(void **state)
{
    (void)state;
    for (int raise = 0; raise < 2; ++raise) {
        pl_mesh *mesh = hollow(5, 0, raise);
        const pl_pick pick = {.kind = PL_PICK_SEEN_FROM, .point = {2.1, 2.6, 2.4}};
        int64_t *face, count;
        int rims;
        PL_CHECK_OK(pl_mesh_pick(mesh, &pick, &face, &count, &err));
        assert_int_equal(count, 6 * 9 * 2);
        assert_true(pl_mesh_faces_closed(mesh, face, count, &rims));
        assert_int_equal(rims, 0);
        PL_CHECK_NEAR(pl_mesh_faces_enclosed(mesh, face, count), 27, 1e-11);
        PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count), 54, 1e-11);
        pl_mesh_free_faces(face);
        pl_mesh_destroy(mesh);
    }
}

// With an inlet the cavity ends at the mouth: the walls of the inlet count, the skin does not.
static void test_open_cavity(void **state)
{
    (void)state;
    for (int raise = 0; raise < 2; ++raise) {
        for (int n = 5; n <= 7; n += 2) {
            pl_mesh *mesh = hollow(n, 1, raise);
            const pl_pick pick = {.kind = PL_PICK_SEEN_FROM, .point = {0.5 * n + 0.1, 0.5 * n, 0.5 * n}};
            int64_t *face, count;
            int rims;
            PL_CHECK_OK(pl_mesh_pick(mesh, &pick, &face, &count, &err));
            const double inner = n - 2;
            assert_false(pl_mesh_faces_closed(mesh, face, count, &rims));
            assert_int_equal(rims, 1);
            PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count), 6 * inner * inner - 1 + 4, 1e-10);
            PL_CHECK_NEAR(pl_mesh_faces_enclosed(mesh, face, count), inner * inner * inner + 1, 1e-10);
            pl_mesh_free_faces(face);
            pl_mesh_destroy(mesh);
        }
    }
}

// A cup, a box without lid, is a cavity bounded by its upper rim.
static void test_cup(void **state)
{
    (void)state;
    const int n = 6;
    bool hole[216] = {false};
    for (int c = 0; c < n * n * n; ++c) {
        const int i = c % n, j = c / n % n, k = c / (n * n);
        hole[c] = i > 0 && i < n - 1 && j > 0 && j < n - 1 && k > 0;
    }

    const double size[3] = {6, 6, 6};
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(n, n, n, size, hole, NULL, &mesh, &err));
    const pl_pick pick = {.kind = PL_PICK_SEEN_FROM, .point = {3.1, 3.05, 2.5}};
    int64_t *face, count;
    int rims;
    PL_CHECK_OK(pl_mesh_pick(mesh, &pick, &face, &count, &err));
    assert_false(pl_mesh_faces_closed(mesh, face, count, &rims));
    assert_int_equal(rims, 1);
    PL_CHECK_NEAR(pl_mesh_faces_enclosed(mesh, face, count), 4 * 4 * 5, 1e-10);
    pl_mesh_free_faces(face);
    pl_mesh_destroy(mesh);
}

// A bellows: grooves all round outside, narrow necks inside, an inlet at one end. The grooves are half
// enclosed, but the skin around the inlet keeps them apart from the cavity.
static void test_bellows(void **state)
{
    (void)state;
    enum { nx = 25, ny = 14 };
    bool *hole = calloc((size_t)nx * ny * ny, sizeof *hole);
    int air = 0;
    for (int c = 0; c < nx * ny * ny; ++c) {
        const int i = c % nx, j = c / nx % ny, k = c / (nx * ny);
        const int edge_j = j < ny - 1 - j ? j : ny - 1 - j, edge_k = k < ny - 1 - k ? k : ny - 1 - k;
        const int depth = edge_j < edge_k ? edge_j : edge_k; // cells between here and the side
        bool near_groove = false;
        for (int at = i - 2; at <= i + 2; ++at) {
            near_groove = near_groove || (at + 4) / 4 % 2 == 1;
        }
        const bool groove = (i + 4) / 4 % 2 == 1 && i > 0 && i < nx - 1 && depth < 3;
        const bool inner = i >= 2 && i < nx - 2 && depth >= (near_groove ? 5 : 2);
        const bool duct = i < 2 && depth >= 6;
        air += inner || duct;
        hole[c] = groove || inner || duct;
    }

    const double size[3] = {nx, ny, ny};
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(nx, ny, ny, size, hole, NULL, &mesh, &err));
    free(hole);
    const pl_pick pick = {.kind = PL_PICK_SEEN_FROM, .point = {12.4, 7.1, 7.2}};
    int64_t *face, count;
    int rims;
    PL_CHECK_OK(pl_mesh_pick(mesh, &pick, &face, &count, &err));
    assert_false(pl_mesh_faces_closed(mesh, face, count, &rims));
    assert_int_equal(rims, 1);
    PL_CHECK_NEAR(pl_mesh_faces_enclosed(mesh, face, count), air, 1e-9);
    pl_mesh_free_faces(face);
    pl_mesh_destroy(mesh);
}

static void test_box_and_plane(void **state)
{
    (void)state;
    const double size[3] = {2, 3, 4};
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(2, 3, 4, size, NULL, NULL, &mesh, &err));
    int64_t *face, count;
    const pl_pick plane = {.kind = PL_PICK_PLANE, .point = {2, 9, 9}, .normal = {5, 0, 0}};
    PL_CHECK_OK(pl_mesh_pick(mesh, &plane, &face, &count, &err));
    PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count), 12, 1e-12);
    pl_mesh_free_faces(face);
    const pl_pick box = {.kind = PL_PICK_BOX, .low = {-1, -1, -1}, .high = {1.1, 9, 0.5}};
    PL_CHECK_OK(pl_mesh_pick(mesh, &box, &face, &count, &err));
    PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count), 3, 1e-12);
    pl_mesh_free_faces(face);
    pl_mesh_destroy(mesh);
}

static void check_refused(const pl_mesh *mesh, pl_pick pick, const char *words)
{
    int64_t *face, count;
    assert_int_equal(pl_mesh_pick(mesh, &pick, &face, &count, &err), PL_BAD_INPUT);
    assert_null(face);
    if (!strstr(err.text, words)) {
        fail_msg("'%s' does not say '%s'", err.text, words);
    }
}

static void test_refused(void **state)
{
    (void)state;
    pl_mesh *mesh = hollow(5, 1, false);
    check_refused(mesh, (pl_pick){.kind = PL_PICK_SEEN_FROM, .point = {0.5, 0.5, 0.5}},
                  "inside the material");
    check_refused(mesh, (pl_pick){.kind = PL_PICK_SEEN_FROM, .point = {-9, 2, 2}}, "not inside a cavity");
    check_refused(mesh, (pl_pick){.kind = PL_PICK_SEEN_FROM, .point = {NAN, 2, 2}}, "finite");
    check_refused(mesh, (pl_pick){.kind = PL_PICK_PLANE}, "normal");
    check_refused(mesh, (pl_pick){.kind = PL_PICK_PLANE, .normal = {1}, .tolerance = -1}, "tolerance");
    check_refused(mesh, (pl_pick){.kind = PL_PICK_BOX, .low = {0, 3, 0}, .high = {1, 2, 1}}, "along y");
    check_refused(mesh, (pl_pick){.kind = (pl_pick_kind)7}, "kind is 7");
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_cavity), cmocka_unit_test(test_open_cavity),
        cmocka_unit_test(test_cup),           cmocka_unit_test(test_bellows),
        cmocka_unit_test(test_box_and_plane), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
