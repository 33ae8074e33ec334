// A body that passes through itself is recognised, one that comes close or touches is not, and the count
// agrees with a search through all pairs.
#include <math.h>
#include <stdlib.h>
#include "box_mesh.h"
#include "check.h"
#include "mesh/mesh.h"

#define PI 3.14159265358979323846

static pl_mesh *make_bar(bool quadratic)
{
    pl_mesh *bar = NULL, *raised = NULL;
    pl_error err = {0};

    PL_CHECK_OK(box_mesh(60, 2, 2, (double[]){300, 4, 4}, NULL, NULL, &bar, &err));
    if (!quadratic) {
        return bar;
    }
    PL_CHECK_OK(pl_mesh_raise(bar, &raised, &err));
    pl_mesh_destroy(bar);

    return raised;
}

// Bends the bar along y round a circle by `angle` over its length, climbing by `pitch` per turn along z, and
// widening a little, so that no edge lies exactly on another.
static double *make_coil(const pl_mesh *bar, double angle, double pitch)
{
    const pl_mesh_view v = pl_mesh_get(bar);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    const double radius = 300 / angle;

    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * (size_t)i, a = p[0] / radius;
        x[3 * i] = (radius + 0.0531 * a + p[1] - 2) * cos(a);
        x[3 * i + 1] = (radius + 0.0531 * a + p[1] - 2) * sin(a);
        x[3 * i + 2] = p[2] + pitch * a / (2 * PI);
    }

    return x;
}

static pl_crossings crossings_of(const pl_mesh *mesh, const double *x)
{
    pl_crossings found;
    pl_error err = {0};
    PL_CHECK_OK(pl_mesh_crossings(mesh, x, &found, &err));
    return found;
}

static void test_coils(void **state)
{
    (void)state;
    for (int order = 0; order < 2; ++order) {
        pl_mesh *bar = make_bar(order == 1);
        const struct {
            double turns, pitch;
            bool crosses;
        } coil[] = {{0.5, 0, false},   {0.97, 0, false},  {1.1, 0.3, true}, {1.1, 3.7, true},
                    {1.1, 4.3, false}, {2.5, 4.3, false}, {2.5, 3.9, true}};
        PL_CHECK_NEAR(crossings_of(bar, NULL).count, 0, 0);
        for (int i = 0; i < PL_COUNT(coil); ++i) {
            double *x = make_coil(bar, 2 * PI * coil[i].turns, coil[i].pitch);
            const pl_crossings found = crossings_of(bar, x);
            printf("order %d, %.2f turns, pitch %.1f mm in a bar of 4 mm: %d pairs cross\n", order + 1,
                   coil[i].turns, coil[i].pitch, found.count);
            assert_true((found.count > 0) == coil[i].crosses);
            assert_true((found.face[0] >= 0) == coil[i].crosses);
            free(x);
        }
        pl_mesh_destroy(bar);
    }
}

// ---- the same by all pairs, with another test of a segment against a triangle
static bool segment_hits(const double *p, const double *q, const double *a, const double *b, const double *c)
{
    double d[3];
    pl_sub3(q, p, d);
    const double t = pl_triangle_ray(p, d, a, b, c);
    return t > 0 && t < 1;
}

static int all_pairs(const pl_mesh *mesh, const double *x)
{
    const int64_t *face;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    int pairs = 0;

    for (int64_t f = 0; f < count; ++f) {
        for (int64_t g = f + 1; g < count; ++g) {
            int32_t a[PL_FACE_NODES_MAX], b[PL_FACE_NODES_MAX];
            pl_mesh_face_nodes(mesh, face[f], a);
            pl_mesh_face_nodes(mesh, face[g], b);
            bool neighbours = false, hit = false;
            for (int i = 0; i < 9; ++i) {
                neighbours = neighbours || a[i / 3] == b[i % 3];
            }
            for (int e = 0; e < 3 && !neighbours; ++e) {
                const int n = (e + 1) % 3;
                hit = hit ||
                      segment_hits(x + 3 * a[e], x + 3 * a[n], x + 3 * b[0], x + 3 * b[1], x + 3 * b[2]) ||
                      segment_hits(x + 3 * b[e], x + 3 * b[n], x + 3 * a[0], x + 3 * a[1], x + 3 * a[2]);
            }
            pairs += hit;
        }
    }

    return pairs;
}

static void test_count_agrees_with_all_pairs(void **state)
{
    (void)state;
    pl_mesh *bar = make_bar(false);
    for (int i = 0; i < 4; ++i) {
        double *x = make_coil(bar, 2 * PI * (1.05 + 0.13 * i), 1.3 + 0.7 * i);
        const int expected = all_pairs(bar, x), got = crossings_of(bar, x).count;
        printf("%d pairs by the tree, %d by all pairs\n", got, expected);
        assert_int_equal(got, expected);
        assert_true(expected > 0);
        free(x);
    }

    pl_mesh_destroy(bar);
}

// The point reported lies on the bar where it overlaps: near the start of the bar.
static void test_place(void **state)
{
    (void)state;
    pl_mesh *bar = make_bar(true);
    double *x = make_coil(bar, 2 * PI * 1.02, 0.5);
    const pl_crossings found = crossings_of(bar, x);
    const double radius = 300 / (2 * PI * 1.02), around = atan2(found.at[1], found.at[0]) * radius;
    assert_true(found.count > 0);
    assert_true(around > -5 && around < 11);
    PL_CHECK_NEAR(hypot(found.at[0], found.at[1]), radius, 3);
    free(x);
    pl_mesh_destroy(bar);
}

// Two quadratic tets whose curved faces follow one paraboloid, the upper by `gap` above it and turned by 60
// degrees: their flat triangles cross each other, the faces only where the gap is negative.
static pl_mesh *make_cups(double gap)
{
    double x[20][3];
    int32_t node[20];
    const uint8_t kind[2] = {PL_TET10, PL_TET10};
    const int64_t start[3] = {0, 10, 20};
    const int32_t region[2] = {0, 0};
    const char *name[1] = {"body"};

    for (int t = 0; t < 2; ++t) {
        double corner[4][3] = {{0, 0, t ? 8 : -8}};
        for (int k = 0; k < 3; ++k) {
            const double a = PI / 3 * (2 * (t ? k : -k) + t);
            corner[k + 1][0] = 4 * cos(a);
            corner[k + 1][1] = 4 * sin(a);
        }
        for (int k = 0; k < 4; ++k) {
            memcpy(x[10 * t + k], corner[k], sizeof corner[k]);
        }
        for (int k = 0; k < pl_element_edge_count(PL_TET10); ++k) {
            int edge[3];
            pl_element_edge_nodes(PL_TET10, k, edge);
            for (int i = 0; i < 3; ++i) {
                x[10 * t + edge[2]][i] = 0.5 * (corner[edge[0]][i] + corner[edge[1]][i]);
            }
        }
        for (int k = 0; k < 10; ++k) { // nodes of the face away from the first corner
            double *p = x[10 * t + k];
            if (fabs(p[2]) < 1e-9) {
                p[2] = 0.05 * (p[0] * p[0] + p[1] * p[1]) + t * gap;
            }
            node[10 * t + k] = 10 * t + k;
        }
    }

    const pl_mesh_def def = {.vertex_count = 20,
                             .position = x[0],
                             .element_count = 2,
                             .kind = kind,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = 1,
                             .region_name = name};
    pl_mesh *mesh = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_mesh_create(&def, &mesh, NULL, &err));

    return mesh;
}

// Curved faces that lie in each other do not cross, although their flat triangles do.
static void test_cups(void **state)
{
    (void)state;
    const double gap[] = {0.02, -0.02, -0.3};
    for (int i = 0; i < PL_COUNT(gap); ++i) {
        pl_mesh *cups = make_cups(gap[i]);
        const pl_crossings found = crossings_of(cups, NULL);
        printf("cups, gap %g mm: %d pairs cross\n", gap[i], found.count);
        assert_true((found.count > 0) == (gap[i] < 0));
        pl_mesh_destroy(cups);
    }
}

// Two coaxial quarters of tubes with shifted meshes, `apart` between them: their flat triangles cut into each
// other by 0.02 mm, their curved faces do not.
static int tubes(double apart)
{
    static const double R = 10;
    bool hole[6 * 4 * 3] = {false};

    for (int c = 24; c < 48; ++c) {
        hole[c] = true; // the middle layer
    }

    pl_mesh *linear = NULL, *mesh = NULL;
    pl_error err = {0};
    PL_CHECK_OK(box_mesh(6, 4, 3, (double[]){PI / 2, 8, 3}, hole, NULL, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));
    const pl_mesh_view v = pl_mesh_get(mesh);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * (size_t)i;
        const bool outer = p[2] > 1.5;
        const double r = R + (outer ? apart + p[2] - 2 : p[2] - 1), a = p[0] + (outer ? 0.071 : 0);
        x[3 * i] = r * sin(a);
        x[3 * i + 1] = p[1] + (outer ? 0.37 : 0);
        x[3 * i + 2] = -r * cos(a);
    }

    const int count = crossings_of(mesh, x).count;
    free(x);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(linear);

    return count;
}

static void test_curved(void **state)
{
    (void)state;
    static const double apart[] = {0.03, 0.005, 0.001, -0.01, -0.03, -0.3};
    for (int i = 0; i < 6; ++i) {
        const int count = tubes(apart[i]);
        printf("tubes %.3f mm apart: %d pairs cross\n", apart[i], count);
        assert_true(apart[i] > 0 ? count == 0 : count > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coils),
        cmocka_unit_test(test_cups),
        cmocka_unit_test(test_count_agrees_with_all_pairs),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_curved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
