// Creating meshes: measures of a box, raising and lowering, orientation repair, surfaces.
#include "check.h"
#include "box_mesh.h"
#include "mesh/mesh.h"

static pl_error err;

static void test_box_measures(void **state)
{
    (void)state;
    const double size[3] = {3, 2, 1};
    pl_mesh *mesh = NULL, *raised = NULL, *back = NULL;
    PL_CHECK_OK(box_mesh(3, 4, 2, size, NULL, NULL, &mesh, &err));
    PL_CHECK_NEAR(pl_mesh_region_volume(mesh, -1), 6, 1e-12);
    const int64_t *face;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    assert_int_equal(count, 2 * 2 * (12 + 6 + 8));
    PL_CHECK_NEAR(pl_mesh_faces_area(mesh, face, count), 2 * (6 + 3 + 2), 1e-12);
    PL_CHECK_NEAR(pl_mesh_faces_enclosed(mesh, face, count), -6, 1e-12);
    int rims = -1;
    assert_true(pl_mesh_faces_closed(mesh, face, count, &rims));
    assert_int_equal(rims, 0);

    // Euler: V - E + F - C = 1 for a ball, so the new mid nodes count the edges
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
    const pl_mesh_view a = pl_mesh_get(mesh), b = pl_mesh_get(raised);
    const int64_t faces = (4 * (int64_t)a.element_count + count) / 2;
    assert_int_equal(b.vertex_count - a.vertex_count, a.vertex_count + faces - a.element_count - 1);
    PL_CHECK_NEAR(pl_mesh_region_volume(raised, -1), 6, 1e-12);
    const int64_t raised_count = pl_mesh_boundary(raised, &face);
    assert_int_equal(raised_count, count);
    PL_CHECK_NEAR(pl_mesh_faces_area(raised, face, count), 22, 1e-12);
    PL_CHECK_NEAR(pl_mesh_faces_enclosed(raised, face, count), -6, 1e-12);

    int32_t *vertex_of = NULL;
    PL_CHECK_OK(pl_mesh_corners(raised, &back, &vertex_of, &err));
    const pl_mesh_view c = pl_mesh_get(back);
    assert_int_equal(c.vertex_count, a.vertex_count);
    assert_memory_equal(c.position, a.position, 3 * sizeof(double) * (size_t)a.vertex_count);
    assert_memory_equal(c.node, a.node, 4 * sizeof(int32_t) * (size_t)a.element_count);
    for (int32_t v = 0; v < a.vertex_count; ++v) {
        assert_int_equal(vertex_of[v], v);
    }
    pl_mesh_free_indices(vertex_of);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_box_measures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
