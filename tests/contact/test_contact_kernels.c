// Kernels of contact: distances to obstacles and gaps between points and curved faces have the derivatives of
// central differences; weights of points give consistent nodal forces; points of a folded body find the faces
// they meet and no neighbours, through walls neither.
#include "box_mesh.h"
#include "check.h"
#include "contact/contact.h"

#include <string.h>

static double noise(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / (double)(1 << 24) - 0.5;
}

static void shape_check(pl_shape *s, const double x[3], bool curved)
{
    double n[3], H[9], up[3], down[3], dummy[3];
    const double h = 1e-5;

    pl_shape_gap(s, x, INFINITY, n, H);
    PL_CHECK_NEAR(pl_norm3(n), 1, 1e-12);
    for (int j = 0; j < 3; ++j) {
        double a[3] = {x[0], x[1], x[2]}, b[3] = {x[0], x[1], x[2]};
        a[j] += h;
        b[j] -= h;
        const double d =
            (pl_shape_gap(s, a, INFINITY, up, NULL) - pl_shape_gap(s, b, INFINITY, down, NULL)) / (2 * h);
        PL_CHECK_NEAR(n[j], d, 1e-8);
        for (int i = 0; curved && i < 3; ++i) {
            PL_CHECK_NEAR(H[3 * i + j], (up[i] - down[i]) / (2 * h), 1e-8);
        }
    }

    (void)dummy;
}

static void test_shapes(void **state)
{
    (void)state;
    pl_shape shape[] = {{.kind = PL_SHAPE_PLANE},
                        {.kind = PL_SHAPE_SPHERE, .radius = 3},
                        {.kind = PL_SHAPE_SPHERE, .radius = 3, .hollow = true},
                        {.kind = PL_SHAPE_CYLINDER, .radius = 2, .half = {0, 0, 3}},
                        {.kind = PL_SHAPE_CYLINDER, .radius = 2, .half = {0, 0, INFINITY}, .hollow = true},
                        {.kind = PL_SHAPE_BOX, .half = {1, 2, 3}}};
    const double turn[3] = {0.3, -0.7, 0.4}, centre[3] = {1, 2, -1};
    unsigned seed = 1;
    for (int k = 0; k < (int)(sizeof shape / sizeof *shape); ++k) {
        pl_rotation_exp(turn, shape[k].frame);
        memcpy(shape[k].centre, centre, sizeof centre);
        for (int i = 0; i < 50; ++i) {
            const double x[3] = {1 + 12 * noise(&seed), 2 + 12 * noise(&seed), -1 + 12 * noise(&seed)};
            shape_check(&shape[k], x, true);
        }
    }
}

// A tetrahedron as a mesh: inside and outside, faces, edges and vertices.
static void test_mesh_shape(void **state)
{
    (void)state;
    static const double corner[12] = {0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4};
    static const int32_t triangle[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    pl_error err = {0};
    pl_shape s = {.kind = PL_SHAPE_MESH, .frame = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    s.surface = (pl_trisurf){.vertex_count = 4,
                             .triangle_count = 4,
                             .position = PL_NEW_ARRAY(double, 12),
                             .corner = PL_NEW_ARRAY(int32_t, 12)};
    memcpy(s.surface.position, corner, sizeof corner);
    memcpy(s.surface.corner, triangle, sizeof triangle);
    PL_CHECK_OK(pl_shape_prepare(&s, &err));
    unsigned seed = 3;
    for (int i = 0; i < 500; ++i) {
        double n[3];
        const double x[3] = {1 + 8 * noise(&seed), 1 + 8 * noise(&seed), 1 + 8 * noise(&seed)};
        const bool inside = x[0] > 0 && x[1] > 0 && x[2] > 0 && x[0] + x[1] + x[2] < 4;
        const double g = pl_shape_gap(&s, x, INFINITY, n, NULL);
        assert_int_equal(g < 0, inside);
        if (inside) {
            const double want = fmin(fmin(x[0], x[1]), fmin(x[2], (4 - x[0] - x[1] - x[2]) / sqrt(3)));
            PL_CHECK_NEAR(-g, want, 1e-12);
        }
        shape_check(&s, x, false);
    }

    pl_shape_clear(&s);
}

// Two layers of a box with an empty one between; the upper one is bent and turned towards the lower one.
static pl_mesh *two_plates(int order)
{
    bool hole[27] = {false};
    pl_error err = {0};
    pl_mesh *mesh = NULL, *raised = NULL;

    for (int i = 0; i < 9; ++i) {
        hole[9 + i] = true;
    }
    PL_CHECK_OK(box_mesh(3, 3, 3, (double[3]){9, 9, 3}, hole, NULL, &mesh, &err));
    if (order == 1) {
        return mesh;
    }
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
    pl_mesh_destroy(mesh);

    return raised;
}

static void test_pair_derivatives(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; ++order) {
        pl_error err = {0};
        pl_mesh *mesh = two_plates(order);
        const pl_mesh_view v = pl_mesh_get(mesh);
        pl_contact_surface *s;
        PL_CHECK_OK(pl_contact_surface_create(mesh, NULL, &s, &err));
        double *x = PL_NEW_ARRAY(double, 3 * (size_t)v.vertex_count), worst = 0, worst_second = 0;
        unsigned seed = 5;
        for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
            x[i] = v.position[i] + 0.25 * noise(&seed) - (i % 3 == 2 && v.position[i] > 1.5 ? 0.9 : 0);
        }
        pl_contact_finder *finder;
        PL_CHECK_OK(pl_contact_finder_create(s, v.position, true, &finder, &err));
        const pl_contact_pair *found;
        int32_t count;
        assert_true(pl_contact_find(finder, x, 0.3, &found, &count));
        assert_true(count > 20);
        int judged = 0;
        for (int32_t p = 0; p < count; ++p) {
            pl_contact_pair pair = found[p];
            int32_t node[PL_PAIR_NODES_MAX];
            double g[3 * PL_PAIR_NODES_MAX], H[9 * PL_PAIR_NODES_MAX * PL_PAIR_NODES_MAX],
                up[3 * PL_PAIR_NODES_MAX], down[3 * PL_PAIR_NODES_MAX];
            const int nodes = pl_contact_pair_nodes(s, &pair, node), m = 3 * nodes;
            if (!pair.inner || fabs(pair.xi[0]) < 0.01 || fabs(pair.xi[1]) < 0.01 ||
                pair.xi[0] + pair.xi[1] > 0.99) {
                continue; // on a rim
            }
            ++judged;
            pl_contact_pair_derivatives(s, &pair, x, g, H);
            double total[3] = {0};
            for (int j = 0; j < m; ++j) {
                total[j % 3] += g[j];
                const double keep = x[3 * node[j / 3] + j % 3], h = 1e-5;
                pl_contact_pair a = pair, b = pair;
                x[3 * node[j / 3] + j % 3] = keep + h;
                assert_true(pl_contact_pair_gap(s, &a, x));
                pl_contact_pair_derivatives(s, &a, x, up, NULL);
                x[3 * node[j / 3] + j % 3] = keep - h;
                assert_true(pl_contact_pair_gap(s, &b, x));
                pl_contact_pair_derivatives(s, &b, x, down, NULL);
                x[3 * node[j / 3] + j % 3] = keep;
                worst = fmax(worst, fabs(g[j] - (a.gap - b.gap) / (2 * h)));
                for (int i = 0; i < m; ++i) {
                    worst_second = fmax(worst_second, fabs(H[i * m + j] - (up[i] - down[i]) / (2 * h)));
                }
            }
            PL_CHECK_BELOW(pl_norm3(total), 1e-12); // forces balance
        }
        printf("order %d: %d of %d pairs, gradient %.1e, second derivative %.1e\n", order, judged, (int)count,
               worst, worst_second);
        assert_true(judged > 10);
        PL_CHECK_BELOW(worst, 1e-8);
        PL_CHECK_BELOW(worst_second, 1e-7);
        pl_free(x);
        pl_contact_finder_destroy(finder);
        pl_contact_surface_destroy(s);
        pl_mesh_destroy(mesh);
    }
}

// Uniform pressure: corners of quadratic triangles carry nothing, the sum is the area; on every face of a
// box.
static void test_weights(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = NULL, *raised = NULL;
    PL_CHECK_OK(box_mesh(2, 2, 2, (double[3]){2, 3, 4}, NULL, NULL, &mesh, &err));
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
    pl_contact_surface *s;
    PL_CHECK_OK(pl_contact_surface_create(raised, NULL, &s, &err));
    double sum = 0;
    double *force = PL_NEW_ARRAY(double, (size_t)s->vertex_count);
    for (int32_t k = 0; k < s->point_count; ++k) {
        const int32_t *node;
        double weight[PL_FACE_NODES_MAX];
        const int count = pl_contact_point_nodes(s, k, &node, weight);
        sum += s->area[k];
        for (int j = 0; j < count; ++j) {
            force[node[j]] += weight[j] * s->area[k];
        }
    }

    PL_CHECK_NEAR(sum, 52, 1e-12);
    for (int32_t f = 0; f < s->face_count; ++f) {
        for (int c = 0; c < 3; ++c) {
            PL_CHECK_NEAR(force[s->node[PL_FACE_NODES_MAX * f + c]], 0, 1e-13);
        }
    }

    pl_free(force);
    pl_contact_surface_destroy(s);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(mesh);
}

// A thin plate meets itself nowhere, not even when it is pressed to a fifth of its thickness; two plates do.
static void test_thin_wall(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *linear = NULL, *mesh = NULL;
    PL_CHECK_OK(box_mesh(6, 6, 1, (double[3]){6, 6, 0.4}, NULL, NULL, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_contact_surface *s;
    pl_contact_finder *finder;
    PL_CHECK_OK(pl_contact_surface_create(mesh, NULL, &s, &err));
    PL_CHECK_OK(pl_contact_finder_create(s, v.position, true, &finder, &err));
    double *x = PL_NEW_ARRAY(double, 3 * (size_t)v.vertex_count);
    for (int step = 0; step < 5; ++step) {
        for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
            x[i] = v.position[i] * (i % 3 == 2 ? 1 - 0.2 * step : 1);
        }
        const pl_contact_pair *pair;
        int32_t count;
        assert_true(pl_contact_find(finder, x, 0.3, &pair, &count));
        assert_int_equal(count, 0);
    }

    pl_free(x);
    pl_contact_finder_destroy(finder);
    pl_contact_surface_destroy(s);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(linear);
}

// Two plates approach each other in small random steps: a finder that keeps its list of candidates finds what
// a new one finds, and uses the list.
static void test_candidates(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_mesh *mesh = two_plates(2);
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_contact_surface *s;
    pl_contact_finder *kept, *fresh;
    PL_CHECK_OK(pl_contact_surface_create(mesh, NULL, &s, &err));
    PL_CHECK_OK(pl_contact_finder_create(s, v.position, true, &kept, &err));
    double *x = PL_NEW_ARRAY(double, 3 * (size_t)v.vertex_count);
    memcpy(x, v.position, 3 * (size_t)v.vertex_count * sizeof *x);
    unsigned seed = 11;
    int found = 0;
    for (int step = 0; step < 60; ++step) {
        for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
            x[i] += 0.02 * noise(&seed) - (i % 3 == 2 && v.position[i] > 1.5 ? 0.02 : 0);
        }
        const pl_contact_pair *a, *b;
        int32_t m, n;
        assert_true(pl_contact_find(kept, x, 0.06, &a, &m));
        PL_CHECK_OK(pl_contact_finder_create(s, v.position, true, &fresh, &err));
        assert_true(pl_contact_find(fresh, x, 0.06, &b, &n));
        assert_int_equal(m, n);
        for (int32_t i = 0; i < m; ++i) {
            assert_int_equal(a[i].point, b[i].point);
            assert_int_equal(a[i].face, b[i].face);
            PL_CHECK_NEAR(a[i].gap, b[i].gap, 1e-14);
        }
        found += m;
        pl_contact_finder_destroy(fresh);
    }

    const pl_contact_counts counts = pl_contact_finder_counts(kept);
    printf("%d pairs in 60 steps, %d searches in the list, %d through the tree\n", found, (int)counts.listed,
           (int)(counts.refits + counts.rebuilds));
    assert_true(found > 100 && counts.listed > 20);
    pl_free(x);
    pl_contact_finder_destroy(kept);
    pl_contact_surface_destroy(s);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),           cmocka_unit_test(test_mesh_shape),
        cmocka_unit_test(test_pair_derivatives), cmocka_unit_test(test_weights),
        cmocka_unit_test(test_thin_wall),        cmocka_unit_test(test_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
