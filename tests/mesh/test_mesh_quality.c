// Quality of known shapes, connected parts, walls with one and two layers of elements.
#include "check.h"
#include "box_mesh.h"
#include "mesh/mesh.h"

static pl_error err;

static pl_mesh *single(pl_element_kind kind, const double *x)
{
    static const char *const name[] = {"body"};
    const int count = pl_element_node_count(kind);
    const uint8_t kinds[] = {(uint8_t)kind};
    const int64_t start[] = {0, count};
    const int32_t node[] = {0, 1, 2, 3, 4, 5}, region[] = {0};
    const pl_mesh_def def = {.vertex_count = count,
                             .position = x,
                             .element_count = 1,
                             .kind = kinds,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = 1,
                             .region_name = name};
    pl_mesh *mesh = NULL;

    PL_CHECK_OK(pl_mesh_create(&def, &mesh, NULL, &err));

    return mesh;
}

// The regular tet has 3 r / R = 1; the corner of a cube r = h / (3 + sqrt 3), R = h sqrt(3) / 2.
static void test_known_tets(void **state)
{
    (void)state;
    const double regular[12] = {1, 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1};
    const double corner[12] = {0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2};
    pl_mesh *mesh = single(PL_TET4, regular);
    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);
    PL_CHECK_NEAR(q.worst, 1, 1e-14);
    PL_CHECK_NEAR(q.mean, 1, 1e-14);
    PL_CHECK_NEAR(q.shortest_edge, sqrt(8), 1e-14);
    PL_CHECK_NEAR(q.longest_edge, sqrt(8), 1e-14);
    PL_CHECK_NEAR(q.mean_edge, sqrt(8), 1e-14);
    assert_int_equal(q.sliver_count + q.inverted_count, 0);
    pl_mesh_destroy(mesh);
    mesh = single(PL_TET4, corner);
    PL_CHECK_NEAR(pl_mesh_element_quality(mesh, 0), 3 / (3 + sqrt(3)) * 2 / sqrt(3), 1e-14);
    assert_true(pl_mesh_element_quality(mesh, 1) == 0);
    pl_mesh_destroy(mesh);
}

static void test_known_prisms(void **state)
{
    (void)state;
    const double h = sqrt(0.75);
    const double right[18] = {0, 0, 0, 1, 0, 0, 0.5, h, 0, 0, 0, 1, 1, 0, 1, 0.5, h, 1};
    const double flat[18] = {0, 0, 0, 1, 0, 0, 0.5, h, 0, 0, 0, 0.01, 1, 0, 0.01, 0.5, h, 0.01};
    pl_mesh *mesh = single(PL_PRISM6, right);
    PL_CHECK_NEAR(pl_mesh_element_quality(mesh, 0), 1, 1e-13);
    pl_mesh_destroy(mesh);
    mesh = single(PL_PRISM6, flat);
    const pl_mesh_quality q = pl_mesh_measure_quality(mesh);
    assert_int_equal(q.sliver_count, 1);
    PL_CHECK_BELOW(q.worst, 0.05);
    pl_mesh_destroy(mesh);
}

// Boxes of 3 x 1 x 1 cells with the middle left out fall into two parts.
static void test_components(void **state)
{
    (void)state;
    const bool hole[3] = {false, true, false};
    const double size[3] = {3, 1, 1};
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(3, 1, 1, size, NULL, NULL, &mesh, &err));
    assert_int_equal(pl_mesh_components(mesh, NULL), 1);
    pl_mesh_destroy(mesh);
    PL_CHECK_OK(box_mesh(3, 1, 1, size, hole, NULL, &mesh, &err));
    int32_t *part;
    assert_int_equal(pl_mesh_components(mesh, &part), 2);
    for (int e = 0; e < 12; ++e) {
        assert_int_equal(part[e], e / 6);
    }
    pl_mesh_free_indices(part);
    pl_mesh_destroy(mesh);
}

// A plate is thin with one layer of cells and not with two; its thickness is what it is.
static void test_thin_walls(void **state)
{
    (void)state;
    for (int layers = 1; layers <= 3; ++layers) {
        for (int raise = 0; raise < 2; ++raise) {
            const double size[3] = {8, 8, 1.5};
            pl_mesh *mesh = NULL, *raised = NULL;
            PL_CHECK_OK(box_mesh(4, 4, layers, size, NULL, NULL, &mesh, &err));
            PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
            int32_t *element, count;
            double thinnest;
            PL_CHECK_OK(pl_mesh_thin_walls(raise ? raised : mesh, &element, &count, &thinnest, &err));
            PL_CHECK_NEAR(thinnest, 1.5, 1e-9);
            if (layers == 1) {
                assert_true(count > 60); // every cell has a triangle above and below
                for (int i = 1; i < count; ++i) {
                    assert_true(element[i - 1] < element[i]);
                }
            } else {
                assert_int_equal(count, 0);
                assert_null(element);
            }
            pl_mesh_free_indices(element);
            pl_mesh_destroy(mesh);
            pl_mesh_destroy(raised);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_tets), cmocka_unit_test(test_known_prisms),
                                       cmocka_unit_test(test_components), cmocka_unit_test(test_thin_walls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
