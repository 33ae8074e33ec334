// Embedding a point: inside, linear fields come back exactly on every element kind, straight or curved;
// outside, the nearest boundary point and its distance.
#include "check.h"
#include "box_mesh.h"
#include "base/base.h"
#include "mesh/mesh.h"

static pl_error err;

static void embedded(const pl_mesh *mesh, const pl_embedding *at, double x[3])
{
    const pl_mesh_view v = pl_mesh_get(mesh);
    double sum = 0;

    x[0] = x[1] = x[2] = 0;
    for (int a = 0; a < at->node_count; ++a) {
        sum += at->weight[a];
        for (int i = 0; i < 3; ++i) {
            x[i] += at->weight[a] * v.position[3 * at->node[a] + i];
        }
    }

    PL_CHECK_NEAR(sum, 1, 1e-12);
}

// A raised box whose vertices are moved by a smooth map, so that its elements are curved.
static pl_mesh *bent_box(double bend)
{
    const double size[3] = {4, 2, 2};
    pl_mesh *box = NULL, *raised = NULL, *bent = NULL;

    PL_CHECK_OK(box_mesh(4, 2, 2, size, NULL, NULL, &box, &err));
    PL_CHECK_OK(pl_mesh_raise(box, &raised, &err));
    const pl_mesh_view v = pl_mesh_get(raised);
    double *x = malloc(3 * sizeof *x * (size_t)v.vertex_count);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * i;
        x[3 * i] = p[0];
        x[3 * i + 1] = p[1] + bend * sin(p[0]);
        x[3 * i + 2] = p[2] + bend * p[0] * p[1];
    }

    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = x,
                             .element_count = v.element_count,
                             .kind = v.kind,
                             .node_start = v.node_start,
                             .node = v.node,
                             .region = v.region,
                             .region_count = 1,
                             .region_name = v.region_name};
    PL_CHECK_OK(pl_mesh_create(&def, &bent, NULL, &err));
    free(x);
    pl_mesh_destroy(box);
    pl_mesh_destroy(raised);

    return bent;
}

static void test_inside(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 11);
    for (int bend = 0; bend < 2; ++bend) {
        pl_mesh *mesh = bent_box(0.15 * bend);
        const pl_mesh_view v = pl_mesh_get(mesh);
        for (int trial = 0; trial < 300; ++trial) {
            // a point made from a random place in a random element
            const int32_t e = (int32_t)(pl_random_next(&random) % (uint64_t)v.element_count);
            double xi[3], N[PL_ELEMENT_NODES_MAX], p[3] = {0}, back[3];
            do {
                for (int i = 0; i < 3; ++i) {
                    xi[i] = pl_random_uniform(&random, 0, 1);
                }
            } while (xi[0] + xi[1] + xi[2] > 1);
            const int n = pl_shape_eval((pl_element_kind)v.kind[e], xi, N, NULL);
            for (int a = 0; a < n; ++a) {
                for (int i = 0; i < 3; ++i) {
                    p[i] += N[a] * v.position[3 * v.node[v.node_start[e] + a] + i];
                }
            }
            pl_embedding at;
            PL_CHECK_OK(pl_mesh_embed(mesh, p, &at, &err));
            PL_CHECK_NEAR(at.distance, 0, 0);
            embedded(mesh, &at, back);
            PL_CHECK_NEAR(pl_distance3(p, back), 0, 1e-10);
        }
        pl_mesh_destroy(mesh);
    }
}

static void test_outside(void **state)
{
    (void)state;
    const double size[3] = {4, 2, 2};
    pl_mesh *mesh = NULL, *raised = NULL;
    PL_CHECK_OK(box_mesh(4, 2, 2, size, NULL, NULL, &mesh, &err));
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
    static const double table[][7] = {{2.3, 1.1, 5, 2.3, 1.1, 2, 3},
                                      {-1, -1, 1, 0, 0, 1, 1.4142135623730951},
                                      {7, 6, 2, 4, 2, 2, 5},
                                      {2.3, 1.1, -1e-3, 2.3, 1.1, 0, 1e-3}};
    for (int i = 0; i < PL_COUNT(table); ++i) {
        for (int k = 0; k < 2; ++k) {
            pl_embedding at;
            double x[3];
            PL_CHECK_OK(pl_mesh_embed(k ? raised : mesh, table[i], &at, &err));
            PL_CHECK_NEAR(at.distance, table[i][6], 1e-8);
            embedded(k ? raised : mesh, &at, x);
            PL_CHECK_NEAR(pl_distance3(x, table[i] + 3), 0, 1e-7);
        }
    }

    pl_embedding at;
    assert_int_equal(pl_mesh_embed(mesh, (double[3]){0, INFINITY, 0}, &at, &err), PL_BAD_INPUT);
    assert_int_equal(pl_mesh_embed(mesh, (double[3]){0, 0, NAN}, &at, &err), PL_BAD_INPUT);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(raised);
}

// Off a curved face the line to the nearest point is perpendicular to the face.
static void test_outside_curved(void **state)
{
    (void)state;
    pl_mesh *mesh = bent_box(0.15);
    pl_random random;
    pl_random_seed(&random, 4);
    for (int trial = 0; trial < 50; ++trial) {
        const double p[3] = {pl_random_uniform(&random, 0.5, 3.5), pl_random_uniform(&random, 0.7, 1.3), 4};
        pl_embedding at;
        double x[3];
        PL_CHECK_OK(pl_mesh_embed(mesh, p, &at, &err));
        embedded(mesh, &at, x);
        PL_CHECK_NEAR(pl_distance3(p, x), at.distance, 1e-12);
        // no boundary node is nearer
        const int64_t *face;
        const int64_t count = pl_mesh_boundary(mesh, &face);
        for (int64_t f = 0; f < count; ++f) {
            double nodes[3 * PL_FACE_NODES_MAX];
            const int n = pl_mesh_gather_face(mesh, face[f], nodes);
            for (int a = 0; a < n; ++a) {
                PL_CHECK_BELOW(at.distance, pl_distance3(p, nodes + 3 * a) + 1e-12);
            }
        }
    }

    pl_mesh_destroy(mesh);
}

// A ray through the box enters on one side, from the void, and leaves on the other.
static void test_rays(void **state)
{
    (void)state;
    const double size[3] = {4, 2, 2};
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(4, 2, 2, size, NULL, NULL, &mesh, &err));
    pl_hit hit;
    const double o[3] = {-3, 0.77, 1.31}, d[3] = {2, 0, 0};
    assert_true(pl_mesh_cast(mesh, o, d, 0, &hit));
    PL_CHECK_NEAR(hit.t, 1.5, 1e-12);
    assert_true(hit.from_void);
    assert_true(pl_mesh_cast(mesh, o, d, 1.6, &hit));
    PL_CHECK_NEAR(hit.t, 3.5, 1e-12);
    assert_false(hit.from_void);
    assert_false(pl_mesh_cast(mesh, o, d, 3.6, &hit));

    // in the plane of a side of the bounding boxes, both ways
    assert_true(pl_mesh_cast(mesh, (double[3]){-1, 1, 1}, (double[3]){1, 0, -0.0}, 0, &hit));
    PL_CHECK_NEAR(hit.t, 1, 1e-12);
    assert_true(pl_mesh_cast(mesh, (double[3]){9, 1, 1}, (double[3]){-1, -0.0, 0}, 0, &hit));
    PL_CHECK_NEAR(hit.t, 5, 1e-12);
    assert_true(pl_mesh_blocks(mesh, (double[3]){9, 1, 1}, (double[3]){-1, -0.0, 0}, 0));
    assert_false(pl_mesh_blocks(mesh, (double[3]){9, 1, 1}, (double[3]){1, 0, 0}, 0));

    // along the seams of the triangulation
    for (int i = 0; i <= 8; ++i) {
        assert_true(pl_mesh_cast(mesh, (double[3]){0.5 * i, 1, 9}, (double[3]){0, 0, -1}, 0, &hit));
        PL_CHECK_NEAR(hit.t, 7, 1e-12);
    }

    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_inside), cmocka_unit_test(test_outside),
                                       cmocka_unit_test(test_outside_curved), cmocka_unit_test(test_rays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
