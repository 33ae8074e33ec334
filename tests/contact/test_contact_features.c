// Features of obstacles against curved faces: gap, its first and second derivative and the share of a foot
// among neighbouring faces against central differences; shares of a foot that passes from face to face add up
// to one; a point above the top of a block is outside although it is below the planes of all sides; features
// lie on the surface of their obstacle.
#include "base/rotation.h"
#include "box_mesh.h"
#include "check.h"
#include "contact/contact.h"

#include <string.h>

#define CELLS 3
#define EDGE 2.0

static double between(unsigned *seed, double a, double b)
{
    *seed = *seed * 1664525u + 1013904223u;
    return a + (b - a) * (*seed >> 8) / (double)(1 << 24);
}

// A block whose vertices are moved a little: curved faces.
static pl_contact_surface *block(pl_mesh **mesh, double bent, double **x)
{
    static const double size[3] = {CELLS * EDGE, CELLS * EDGE, CELLS * EDGE};
    pl_mesh *linear = NULL;
    pl_contact_surface *surface = NULL;
    pl_error err = {0};
    unsigned seed = 3;

    PL_CHECK_OK(box_mesh(CELLS, CELLS, CELLS, size, NULL, NULL, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, mesh, &err));
    PL_CHECK_OK(pl_contact_surface_create(*mesh, NULL, &surface, &err));
    pl_mesh_destroy(linear);
    const pl_mesh_view v = pl_mesh_get(*mesh);
    *x = malloc(3 * (size_t)v.vertex_count * sizeof **x);
    for (int64_t i = 0; i < 3 * (int64_t)v.vertex_count; ++i) {
        (*x)[i] = v.position[i] + bent * between(&seed, -1, 1);
    }

    return surface;
}

static int feet(const pl_contact_surface *s, const double *x, const double p[3], double radius,
                pl_contact_pair *out, double *weight)
{
    int32_t *face = malloc((size_t)s->face_count * sizeof *face);
    for (int32_t f = 0; f < s->face_count; ++f) {
        face[f] = f;
    }

    const int count = pl_contact_feet(s, x, face, s->face_count, p, radius, EDGE, out, weight, 16);
    free(face);
    return count;
}

// All values of one foot, as functions of the point and the nodes of its face.
typedef struct foot_values {
    double gap, weight, gradient[3 * (PL_FACE_NODES_MAX + 1)];
    bool inner;
} foot_values;

static foot_values foot_at(const pl_contact_surface *s, const double *x, const double p[3], double radius,
                           int32_t face)
{
    const double one = 1;
    foot_values v = {0};
    pl_contact_pair pair = {.face = face};

    assert_true(pl_contact_foot(s, x, p, radius, EDGE, &pair, &v.weight));
    v.gap = pair.gap;
    v.inner = pair.inner;
    pl_contact_foot_derivatives(s, &pair, x, &one, 1, v.gradient, NULL);

    return v;
}

static void test_derivatives(void **state)
{
    (void)state;
    pl_mesh *mesh = NULL;
    double *x, worst[3] = {0};
    pl_contact_surface *s = block(&mesh, 0.08, &x);
    unsigned seed = 11;
    int tested = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const double radius = trial % 2 ? 0 : between(&seed, 0.2, 1.5), h = 1e-6, one = 1;
        double p[3] = {between(&seed, 1, 5), between(&seed, 1, 5),
                       CELLS * EDGE + radius + between(&seed, -0.1, 0.1)};
        pl_contact_pair found[16];
        double weight[16];
        const int count = feet(s, x, p, radius, found, weight);
        for (int k = 0; k < count; ++k) {
            enum { NODES = PL_FACE_NODES_MAX + 1 };
            double gradient[3 * NODES], H[9 * NODES * NODES], shift[3 * NODES] = {0}, slope[2];
            const pl_contact_pair *pair = &found[k];
            const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)pair->face;
            if (!pair->inner) {
                continue;
            }
            const int m = 3 * pl_contact_foot_derivatives(s, pair, x, &one, 1, gradient, H);
            pl_contact_foot_weight_gradient(s, pair, slope);
            pl_contact_foot_shift(s, pair, x, &one, 1, slope, shift);
            ++tested;
            for (int j = 0; j < m; ++j) {
                double *at = j < 3 ? &p[j] : &x[3 * (size_t)node[j / 3 - 1] + (size_t)(j % 3)];
                const double keep = *at;
                *at = keep + h;
                const foot_values up = foot_at(s, x, p, radius, pair->face);
                *at = keep - h;
                const foot_values down = foot_at(s, x, p, radius, pair->face);
                *at = keep;
                worst[0] = fmax(worst[0], fabs((up.gap - down.gap) / (2 * h) - gradient[j]));
                worst[2] = fmax(worst[2], fabs((up.weight - down.weight) / (2 * h) - shift[j]));
                for (int i = 0; i < m; ++i) {
                    worst[1] =
                        fmax(worst[1], fabs((up.gradient[i] - down.gradient[i]) / (2 * h) - H[i * m + j]));
                }
            }
        }
    }

    printf("%d feet: gradient %.1e, second derivative %.1e, share %.1e\n", tested, worst[0], worst[1],
           worst[2]);
    assert_true(tested > 40);
    PL_CHECK_BELOW(worst[0], 1e-8);
    PL_CHECK_BELOW(worst[1], 1e-6);
    PL_CHECK_BELOW(worst[2], 1e-6);
    free(x);
    pl_contact_surface_destroy(s);
    pl_mesh_destroy(mesh);
}

// The edge that a ball above a convex rim of the block meets, with its gap and gradient; false: none.
static bool edge_at(const pl_contact_surface *s, const double *x, const double p[3], double radius,
                    pl_contact_pair *edge, double *gradient)
{
    pl_contact_pair found[16];
    double weight[16];
    const double one = 1;
    const int count = feet(s, x, p, radius, found, weight);
    if (count == 0 || found[count - 1].inner) {
        return false;
    }
    *edge = found[count - 1];
    pl_contact_foot_derivatives(s, edge, x, &one, 1, gradient, NULL);

    return true;
}

// A ball that meets an edge turns its normal as it moves across the edge.
static void test_edges(void **state)
{
    (void)state;
    pl_mesh *mesh = NULL;
    double *x, worst[2] = {0};
    pl_contact_surface *s = block(&mesh, 0.08, &x);
    unsigned seed = 5;
    int tested = 0;
    for (int trial = 0; trial < 60; ++trial) {
        enum { NODES = PL_FACE_NODES_MAX + 1 };
        const double radius = between(&seed, 0.5, 1.5), h = 1e-6, one = 1, top = CELLS * EDGE;
        const double turn = between(&seed, 0.25 * PL_PI, 0.4 * PL_PI),
                     out = trial % 3 ? 0 : radius * cos(turn);
        double p[3] = {top + radius * cos(turn), out > 0 ? top + out : between(&seed, 1, top - 1),
                       top + radius * sin(turn)},
               gradient[3 * NODES], H[9 * NODES * NODES], up[3 * NODES], down[3 * NODES];
        pl_contact_pair pair, above, below;
        if (!edge_at(s, x, p, radius, &pair, gradient)) {
            continue;
        }
        const int32_t *node = s->node + PL_FACE_NODES_MAX * (size_t)pair.face;
        const int m = 3 * pl_contact_foot_derivatives(s, &pair, x, &one, 1, gradient, H);
        ++tested;
        for (int j = 0; j < m; ++j) {
            double *at = j < 3 ? &p[j] : &x[3 * (size_t)node[j / 3 - 1] + (size_t)(j % 3)];
            const double keep = *at;
            *at = keep + h;
            assert_true(edge_at(s, x, p, radius, &above, up) && above.face == pair.face);
            *at = keep - h;
            assert_true(edge_at(s, x, p, radius, &below, down) && below.face == pair.face);
            *at = keep;
            worst[0] = fmax(worst[0], fabs((above.gap - below.gap) / (2 * h) - gradient[j]));
            for (int i = 0; i < m; ++i) {
                worst[1] = fmax(worst[1], fabs((up[i] - down[i]) / (2 * h) - H[i * m + j]));
            }
        }
    }

    printf("%d edges: gradient %.1e, second derivative %.1e\n", tested, worst[0], worst[1]);
    assert_true(tested > 30);
    PL_CHECK_BELOW(worst[0], 1e-8);
    PL_CHECK_BELOW(worst[1], 1e-6);
    free(x);
    pl_contact_surface_destroy(s);
    pl_mesh_destroy(mesh);
}

// On a flat top, away from its rim: one foot in all, wherever the point is.
static void test_shares(void **state)
{
    (void)state;
    pl_mesh *mesh = NULL;
    double *x, least = INFINITY, most = 0;
    pl_contact_surface *s = block(&mesh, 0, &x);
    for (int k = 0; k <= 400; ++k) {
        const double p[3] = {0.3 + 5.4 * k / 400, 2.3, CELLS * EDGE - 1e-3};
        pl_contact_pair found[16];
        double weight[16], sum = 0;
        const int count = feet(s, x, p, 0, found, weight);
        for (int i = 0; i < count; ++i) {
            PL_CHECK_NEAR(found[i].gap, -1e-3, 1e-12);
            PL_CHECK_NEAR(found[i].n[2], 1, 1e-12);
            sum += weight[i];
        }
        least = fmin(least, sum);
        most = fmax(most, sum);
    }

    printf("shares add up to %.4f .. %.4f\n", least, most);
    PL_CHECK_NEAR(least, 1, 0.1);
    PL_CHECK_NEAR(most, 1, 0.1);
    free(x);
    pl_contact_surface_destroy(s);
    pl_mesh_destroy(mesh);
}

static void test_above(void **state)
{
    (void)state;
    pl_mesh *mesh = NULL;
    double *x;
    pl_contact_surface *s = block(&mesh, 0, &x);
    unsigned seed = 5;
    for (int k = 0; k < 200; ++k) {
        const double above = between(&seed, 1e-6, 0.05),
                     p[3] = {between(&seed, 0, 6), between(&seed, 0, 6), CELLS * EDGE + above};
        pl_contact_pair found[16];
        double weight[16];
        const int count = feet(s, x, p, 0, found, weight);
        for (int i = 0; i < count; ++i) {
            PL_CHECK_NEAR(found[i].gap, above, 1e-9);
        }
    }

    free(x);
    pl_contact_surface_destroy(s);
    pl_mesh_destroy(mesh);
}

static void test_features(void **state)
{
    (void)state;
    const double ball[4] = {3, 3, 3, 6}, turn[3] = {0.4, -0.3, 0.9};
    pl_shape shape[3] = {{.kind = PL_SHAPE_SPHERE, .radius = 0.7},
                         {.kind = PL_SHAPE_CYLINDER, .radius = 0.4, .half = {0, 0, 3}},
                         {.kind = PL_SHAPE_BOX, .half = {2, 1, 0.3}}};
    for (int k = 0; k < 3; ++k) {
        pl_feature feature[400];
        pl_rotation_exp(turn, shape[k].frame);
        shape[k].centre[0] = 3;
        const int count = pl_shape_features(&shape[k], 0.5, INFINITY, ball, NULL);
        assert_true(count > 0 && count < 400);
        assert_int_equal(pl_shape_features(&shape[k], 0.5, INFINITY, ball, feature), count);
        double worst = 0, n[3];
        for (int f = 0; f < count; ++f) {
            worst = fmax(worst,
                         fabs(pl_shape_gap(&shape[k], feature[f].at, INFINITY, n, NULL) + feature[f].radius));
        }
        printf("%d features, off the surface by %.1e mm\n", count, worst);
        PL_CHECK_BELOW(worst, 1e-12);
    }
}

// Mirrored, turned and scaled together with the body, an obstacle has its features in the same places: no
// axis of space, no order and no unit is preferred.
static void test_covariance(void **state)
{
    (void)state;
    const double ball[4] = {3, 1, -2, 6}, turn[2][3] = {{0.4, -0.3, 0.9}, {-1.1, 0.6, 0.2}}, scale = 3.7;
    const pl_shape shape[3] = {
        {.kind = PL_SHAPE_CYLINDER, .radius = 0.4, .half = {0, 0, 3}, .centre = {1, 2, 3}},
        {.kind = PL_SHAPE_CYLINDER, .radius = 0.4, .half = {0, 0, INFINITY}, .centre = {1, 2, 3}},
        {.kind = PL_SHAPE_BOX, .half = {2, 1, 0.3}, .centre = {1, 2, 3}}};
    double R[2][9];
    pl_rotation_exp(turn[0], R[0]);
    pl_rotation_exp(turn[1], R[1]);
    for (int k = 0; k < 3; ++k) {
        pl_feature one[600], two[600];
        pl_shape a = shape[k], b = shape[k];
        double there[4] = {0, 0, 0, scale * ball[3]}, worst = 0;
        memcpy(a.frame, R[0], sizeof R[0]);

        // b = scale Q a, Q a reflection and a rotation; a frame with the determinant 1 has another first axis
        for (int i = 0; i < 3; ++i) {
            double row[3], at[3];
            memcpy(row, a.frame + 3 * i, sizeof row);
            row[0] *= -1;
            pl_mulv3(R[1], row, b.frame + 3 * i);
            memcpy(at, i == 0 ? a.centre : ball, sizeof at);
            at[0] *= -1;
            pl_mulv3(R[1], at, i == 0 ? b.centre : there);
            b.half[i] *= scale;
        }
        for (int i = 0; i < 3; ++i) {
            b.frame[i] *= -1;
            b.centre[i] *= scale;
            there[i] *= scale;
        }
        b.radius *= scale;

        const int count = pl_shape_features(&a, 0.45, INFINITY, ball, one);
        assert_in_range(count, 8, 600);
        assert_int_equal(pl_shape_features(&b, 0.45 * scale, INFINITY, there, two), count);
        for (int f = 0; f < count; ++f) {
            double at[3] = {-one[f].at[0], one[f].at[1], one[f].at[2]}, y[3], least = INFINITY;
            pl_mulv3(R[1], at, y);
            for (int g = 0; g < count; ++g) {
                const double z[3] = {two[g].at[0] / scale, two[g].at[1] / scale, two[g].at[2] / scale};
                least = fmin(least, pl_distance3(y, z) + fabs(one[f].radius - two[g].radius / scale));
            }
            worst = fmax(worst, least);
        }
        printf("%d features, moved with the obstacle to %.1e mm\n", count, worst);
        PL_CHECK_BELOW(worst, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_derivatives), cmocka_unit_test(test_edges),
                                       cmocka_unit_test(test_shares),      cmocka_unit_test(test_above),
                                       cmocka_unit_test(test_features),    cmocka_unit_test(test_covariance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
