// Splitting elements keeps volume, boundary, regions and named surfaces, for any set of marked elements, and
// leaves no gap between neighbours.
#include "box_mesh.h"
#include "check.h"

static pl_mesh *bent_box(void)
{
    pl_mesh *box = NULL, *raised = NULL, *named = NULL, *bent = NULL;
    pl_error err = {0};
    const double size[3] = {9, 6, 4};
    const bool hole[18] = {[7] = true};
    int32_t second[18] = {0};

    second[0] = second[1] = 1;
    PL_CHECK_OK(box_mesh(3, 3, 2, size, hole, second, &box, &err));
    PL_CHECK_OK(pl_mesh_raise(box, &raised, &err));
    pl_pick pick = {.kind = PL_PICK_PLANE, .normal = {1, 0, 0}};
    int64_t *face, count;
    PL_CHECK_OK(pl_mesh_pick(raised, &pick, &face, &count, &err));
    const int64_t start[2] = {0, count};
    const char *const name = "base";
    PL_CHECK_OK(pl_mesh_with_surfaces(raised, 1, &name, start, face, &named, &err));
    pl_mesh_free_faces(face);

    // curved: every vertex moved along a smooth field
    const pl_mesh_view v = pl_mesh_get(named);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * (size_t)i;
        x[3 * i] = p[0];
        x[3 * i + 1] = p[1] + 0.02 * p[0] * p[0];
        x[3 * i + 2] = p[2] + 0.01 * p[1] * p[1];
    }

    int32_t *corner = malloc(4 * (size_t)count * sizeof *corner);
    for (int64_t k = 0; k < count; ++k) {
        int32_t node[PL_FACE_NODES_MAX];
        pl_mesh_face_nodes(named, v.surface_face[k], node);
        for (int i = 0; i < 4; ++i) {
            corner[4 * k + i] = i < 3 ? node[i] : -1;
        }
    }

    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = x,
                             .element_count = v.element_count,
                             .kind = v.kind,
                             .node_start = v.node_start,
                             .node = v.node,
                             .region = v.region,
                             .region_count = v.region_count,
                             .region_name = v.region_name,
                             .surface_count = 1,
                             .surface_name = v.surface_name,
                             .surface_start = v.surface_start,
                             .surface_corner = corner};
    PL_CHECK_OK(pl_mesh_create(&def, &bent, NULL, &err));
    free(x);
    free(corner);
    pl_mesh_destroy(box);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(named);

    return bent;
}

static double base_area(const pl_mesh *mesh)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int32_t s = pl_mesh_find_surface(mesh, "base");
    assert_true(s >= 0);
    return pl_mesh_faces_area(mesh, v.surface_face + v.surface_start[s],
                              v.surface_start[s + 1] - v.surface_start[s]);
}

static void test_keeps(void **state)
{
    (void)state;
    pl_mesh *mesh = bent_box();
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int64_t *face;
    const int64_t faces = pl_mesh_boundary(mesh, &face);
    const double area = pl_mesh_faces_area(mesh, face, faces);
    uint8_t *marked = malloc((size_t)v.element_count);
    uint32_t seed = 1;
    for (int round = 0; round < 6; ++round) {
        pl_error err = {0};
        pl_mesh *fine = NULL;
        int32_t count = 0;
        for (int32_t e = 0; e < v.element_count; ++e) {
            seed = seed * 1664525u + 1013904223u;
            marked[e] = round == 5 || (seed >> 16) % 10 < (uint32_t)(2 * round);
            count += marked[e];
        }
        PL_CHECK_OK(pl_mesh_refine(mesh, marked, &fine, &err));
        const pl_mesh_view f = pl_mesh_get(fine);
        const int64_t *fine_face;
        const int64_t fine_faces = pl_mesh_boundary(fine, &fine_face);
        print_message("%d of %d marked: %d elements\n", (int)count, (int)v.element_count,
                      (int)f.element_count);
        for (int32_t r = 0; r < 2; ++r) {
            const double expected = pl_mesh_region_volume(mesh, r);
            PL_CHECK_NEAR(pl_mesh_region_volume(fine, r), expected, 1e-9 * expected);
        }
        // a gap would add boundary; curved faces are integrated piecewise, not exactly
        PL_CHECK_NEAR(pl_mesh_faces_area(fine, fine_face, fine_faces), area, 1e-4 * area);
        PL_CHECK_NEAR(base_area(fine), base_area(mesh), 1e-4 * area);
        PL_CHECK_NEAR(pl_mesh_measure_quality(fine).inverted_count, 0, 0);
        assert_int_equal(f.element_count == v.element_count, count == 0);
        if (round == 5) {
            assert_int_equal(f.element_count, 8 * v.element_count);
        }
        assert_memory_equal(f.position, v.position, 3 * (size_t)v.vertex_count * sizeof *f.position);
        pl_mesh_destroy(fine);
    }

    free(marked);
    pl_mesh_destroy(mesh);
}

static void test_refuses(void **state)
{
    (void)state;
    pl_mesh *box = NULL, *fine = NULL;
    pl_error err = {0};
    const double size[3] = {1, 1, 1};
    const uint8_t marked[6] = {1};
    PL_CHECK_OK(box_mesh(1, 1, 1, size, NULL, NULL, &box, &err));
    assert_int_equal(pl_mesh_refine(box, marked, &fine, &err), PL_BAD_INPUT);
    assert_null(fine);
    pl_mesh_destroy(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keeps), cmocka_unit_test(test_refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
