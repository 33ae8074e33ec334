// Short edges of flat tets are collapsed: details far below the size of the elements vanish, the body stays.
#include "base/base.h"
#include "box_mesh.h"
#include "check.h"
#include "mesh/mesh.h"

// A box of cells whose planes are `gap` apart in the middle of every axis, with two regions and a named
// surface.
static pl_mesh *near_planes(int order, double gap)
{
    pl_mesh *linear = NULL, *moved = NULL, *mesh = NULL;
    pl_error err = {0};
    const double size[3] = {10, 10, 10};
    int32_t region[125] = {0};

    for (int c = 0; c < 125; ++c) {
        region[c] = c / 25 > 2;
    }
    PL_CHECK_OK(box_mesh(5, 5, 5, size, NULL, region, &linear, &err));
    const pl_mesh_view v = pl_mesh_get(linear);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int64_t i = 0; i < 3 * (int64_t)v.vertex_count; ++i) {
        const double at = v.position[i];
        x[i] = fabs(at - 6) < 1e-9 ? 4 + gap : at; // planes at 0, 2, 4, 4 + gap, 8, 10
    }

    PL_CHECK_OK(pl_mesh_moved(linear, x, &moved, &err));
    pl_mesh_destroy(linear);
    free(x);
    if (order == 2) {
        PL_CHECK_OK(pl_mesh_raise(moved, &mesh, &err));
        pl_mesh_destroy(moved);
        return mesh;
    }

    return moved;
}

// The mesh as a mesher delivers it, collapsed, and as a mesh again.
static pl_mesh *collapse(const pl_mesh *mesh, int *collapsed, double *longest)
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    const int64_t nodes = v.node_start[v.element_count];
    const int64_t *boundary;
    const int64_t faces = pl_mesh_boundary(mesh, &boundary);
    static const char *const surface_name[1] = {"skin"};
    pl_tets t = {.element_count = v.element_count, .surface_count = 1};

    t.kind = malloc((size_t)v.element_count);
    t.region = malloc((size_t)v.element_count * sizeof *t.region);
    t.node_start = malloc(((size_t)v.element_count + 1) * sizeof *t.node_start);
    t.node = malloc((size_t)nodes * sizeof *t.node);
    t.surface_start = malloc(2 * sizeof *t.surface_start);
    t.surface_corner = malloc(4 * (size_t)faces * sizeof *t.surface_corner);
    memcpy(t.kind, v.kind, (size_t)v.element_count);
    memcpy(t.region, v.region, (size_t)v.element_count * sizeof *t.region);
    memcpy(t.node_start, v.node_start, ((size_t)v.element_count + 1) * sizeof *t.node_start);
    memcpy(t.node, v.node, (size_t)nodes * sizeof *t.node);
    t.surface_start[0] = 0;
    t.surface_start[1] = faces;
    for (int64_t f = 0; f < faces; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        pl_mesh_face_nodes(mesh, boundary[f], node);
        memcpy(t.surface_corner + 4 * f, node, 3 * sizeof *node);
        t.surface_corner[4 * f + 3] = -1;
    }

    pl_error err = {0};
    PL_CHECK_OK(pl_tets_collapse(&t, v.vertex_count, v.position, collapsed, longest, &err));
    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = v.position,
                             .element_count = t.element_count,
                             .kind = t.kind,
                             .node_start = t.node_start,
                             .node = t.node,
                             .region = t.region,
                             .region_count = v.region_count,
                             .region_name = (const char *const *)v.region_name,
                             .surface_count = 1,
                             .surface_name = surface_name,
                             .surface_start = t.surface_start,
                             .surface_corner = t.surface_corner};
    pl_mesh_report report;
    pl_mesh *out = NULL;
    PL_CHECK_OK(pl_mesh_create(&def, &out, &report, &err));
    assert_int_equal(report.flipped_elements, 0);
    assert_int_equal(report.unmatched_faces, 0);
    free(t.kind);
    free(t.region);
    free(t.node_start);
    free(t.node);
    free(t.surface_start);
    free(t.surface_corner);

    return out;
}

static void test_near_planes(void **state)
{
    (void)state;
    const double gap[] = {2e-6, 1e-4, 1e-2};
    for (int k = 0; k < 6; ++k) {
        pl_mesh *mesh = near_planes(1 + k % 2, gap[k / 2]);
        int collapsed;
        double longest;
        pl_mesh *out = collapse(mesh, &collapsed, &longest);
        const pl_mesh_quality before = pl_mesh_measure_quality(mesh), after = pl_mesh_measure_quality(out);
        const int64_t *face;
        const int64_t faces = pl_mesh_boundary(out, &face);
        const pl_mesh_view v = pl_mesh_get(out);
        print_message(
            "planes %g mm apart, order %d: %d flat of %d, worst %.1e -> %d of %d, worst %.3f; %d edges up "
            "to %.3g mm\n",
            gap[k / 2], 1 + k % 2, before.sliver_count, pl_mesh_get(mesh).element_count, before.worst,
            after.sliver_count, v.element_count, after.worst, collapsed, longest);
        assert_true(before.sliver_count > 100);
        assert_int_equal(after.sliver_count, 0);
        PL_CHECK_BELOW(longest, 2 * gap[k / 2]);
        PL_CHECK_NEAR(pl_mesh_region_volume(out, -1), 1000, 1e-9 + 200 * gap[k / 2]);
        PL_CHECK_NEAR(pl_mesh_region_volume(out, 0), pl_mesh_region_volume(mesh, 0), 1e-9 + 200 * gap[k / 2]);
        PL_CHECK_NEAR(pl_mesh_faces_area(out, face, faces), 600, 1e-9 + 100 * gap[k / 2]);
        assert_int_equal(v.surface_start[1] - v.surface_start[0], faces);
        assert_int_equal(pl_mesh_components(out, NULL), 1);
        pl_mesh_destroy(out);
        pl_mesh_destroy(mesh);
    }
}

// A sound mesh is left as it is, and so is a thin plate: its short edges lead from one face to the other.
static void test_left_alone(void **state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        const double size[3] = {10, 10, k ? 1e-3 : 10};
        pl_mesh *mesh = NULL;
        pl_error err = {0};
        int collapsed;
        double longest;
        PL_CHECK_OK(box_mesh(4, 4, k ? 1 : 4, size, NULL, NULL, &mesh, &err));
        pl_mesh *out = collapse(mesh, &collapsed, &longest);
        assert_int_equal(pl_mesh_get(out).element_count, pl_mesh_get(mesh).element_count);
        assert_int_equal(collapsed, 0);
        pl_mesh_destroy(out);
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_planes),
        cmocka_unit_test(test_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
