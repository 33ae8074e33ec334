// Laws of the functionals: gradients and second derivatives against central differences; closed forms for
// values.
#include <stdlib.h>
#include "check.h"
#include "actuator/actuator.h"

// Central differences of value and gradient at x, for every vertex the functional knows.
static void check_derivatives(const pl_functional *h, double *x, int vertices)
{
    const int n = 3 * vertices;
    double *g = calloc((size_t)n, sizeof *g), *plus = calloc((size_t)n, sizeof *g),
           *minus = calloc((size_t)n, sizeof *g);
    double *K = calloc((size_t)(n * n), sizeof *K), H[9 * 40 * 40];

    pl_functional_gradient(h, x, 1, g);
    for (int t = 0; t < h->piece_count; ++t) {
        const pl_piece *piece = &h->piece[t];
        const int m = 3 * piece->node_count;
        pl_functional_hessian(h, t, x, 1, H);
        for (int r = 0; r < m; ++r) {
            for (int c = 0; c < m; ++c) {
                const int row = 3 * h->node[piece->node_start + r / 3] + r % 3;
                const int column = 3 * h->node[piece->node_start + c / 3] + c % 3;
                K[row * n + column] += H[r * m + c];
            }
        }
    }

    double largest = 0, scale = 0, error_g = 0, error_K = 0;
    for (int j = 0; j < n; ++j) {
        const double step = 1e-5, keep = x[j];
        memset(plus, 0, (size_t)n * sizeof *g);
        memset(minus, 0, (size_t)n * sizeof *g);
        x[j] = keep + step;
        const double vp = pl_functional_value(h, x);
        pl_functional_gradient(h, x, 1, plus);
        x[j] = keep - step;
        const double vm = pl_functional_value(h, x);
        pl_functional_gradient(h, x, 1, minus);
        x[j] = keep;
        error_g = fmax(error_g, fabs((vp - vm) / (2 * step) - g[j]));
        scale = fmax(scale, fabs(g[j]));
        for (int i = 0; i < n; ++i) {
            error_K = fmax(error_K, fabs((plus[i] - minus[i]) / (2 * step) - K[i * n + j]));
            largest = fmax(largest, fabs(K[i * n + j]));
        }
    }

    PL_CHECK_BELOW(error_g, 1e-8 * (scale + largest));
    PL_CHECK_BELOW(error_K, 1e-8 * (scale + largest));
    free(g), free(plus), free(minus), free(K);
}

static void shake(double *x, int n, double size)
{
    pl_random random;
    pl_random_seed(&random, 3);
    for (int i = 0; i < n; ++i) {
        x[i] += pl_random_uniform(&random, -size, size);
    }
}

// a unit-cube surface of 12 triangles seen from inside, or lacking its top, which a rim then closes
static const int cube[12][3] = {{0, 1, 2}, {0, 2, 3}, {4, 6, 5}, {4, 7, 6}, {0, 5, 1}, {0, 4, 5},
                                {1, 6, 2}, {1, 5, 6}, {2, 7, 3}, {2, 6, 7}, {3, 4, 0}, {3, 7, 4}};

static void add_volume_triangle(pl_functional *h, const int32_t node[3])
{
    // through a rim of three vertices with its own mean as apex: the same cone volume as a face
    assert_int_equal(pl_functional_add_rim(h, node, 3, false, NULL), PL_OK);
}

static void test_cube_volume(void **state)
{
    (void)state;
    double x[24] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    pl_functional closed = {0}, capped = {0};
    for (int t = 0; t < 12; ++t) {
        const int32_t node[3] = {cube[t][0], cube[t][1], cube[t][2]};
        add_volume_triangle(&closed, node);
        if (t != 2 && t != 3) {
            add_volume_triangle(&capped, node);
        }
    }

    const int32_t rim[4] = {4, 7, 6, 5};
    assert_int_equal(pl_functional_add_rim(&capped, rim, 4, false, NULL), PL_OK);
    PL_CHECK_NEAR(pl_functional_value(&closed, x), 1, 1e-14);
    PL_CHECK_NEAR(pl_functional_value(&capped, x), 1, 1e-14);
    shake(x, 24, 0.2);
    check_derivatives(&closed, x, 8);
    check_derivatives(&capped, x, 8);
    pl_functional_clear(&closed);
    pl_functional_clear(&capped);
}

static void test_quadratic_rim_and_apex(void **state)
{
    (void)state;
    double x[24];
    for (int i = 0; i < 8; ++i) {
        x[3 * i] = cos(i * PL_PI / 4) + 0.3;
        x[3 * i + 1] = sin(i * PL_PI / 4);
        x[3 * i + 2] = 0.5;
    }

    const int32_t node[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const double apex[3] = {0.1, 0.2, -0.4};
    pl_functional mean = {0}, fixed = {0};
    assert_int_equal(pl_functional_add_rim(&mean, node, 8, true, NULL), PL_OK);
    assert_int_equal(pl_functional_add_rim(&fixed, node, 8, true, apex), PL_OK);
    shake(x, 24, 0.1);
    check_derivatives(&mean, x, 8);
    check_derivatives(&fixed, x, 8);
    pl_functional_clear(&mean);
    pl_functional_clear(&fixed);
}

// The fan over a quarter of a rim, its apex free along one axis, is a quarter of the fan over the whole rim
// from its mean; linear and quadratic, with derivatives.
static void test_arc(void **state)
{
    (void)state;
    for (int quadratic = 0; quadratic < 2; ++quadratic) {
        const int n = 16;
        int32_t node[16];
        double x[48];
        for (int i = 0; i < n; ++i) {
            const double phi = 2 * PL_PI * i / n;
            node[i] = i;
            x[3 * i] = 0.3 + 2 * cos(phi);
            x[3 * i + 1] = 0.1 + sin(phi);
            x[3 * i + 2] = 0.7 + 0.2 * cos(2 * phi);
        }
        const double o[3] = {0.3, 0.1, -0.5}, apex[3] = {0.3, 0.1, 9};
        const bool follows[3] = {false, false, true};
        pl_functional whole = {0}, arc = {0};
        double shifted[48];
        for (int i = 0; i < 48; ++i) {
            shifted[i] = x[i] - o[i % 3];
        }
        assert_int_equal(pl_functional_add_rim(&whole, node, n, quadratic, NULL), PL_OK);
        assert_int_equal(pl_functional_add_arc(&arc, node, 5, quadratic, o, apex, follows), PL_OK);
        PL_CHECK_NEAR(4 * pl_functional_value(&arc, x), pl_functional_value(&whole, shifted), 1e-13);
        shake(x, 48, 0.1);
        check_derivatives(&arc, x, 16);
        pl_functional_clear(&whole);
        pl_functional_clear(&arc);
    }
}

static void test_faces_of_a_tet(void **state)
{
    (void)state;

    // a tet10's outside: volume by faces is minus its own, area by closed form, both with derivatives
    double x[30] = {0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1};
    const int32_t node[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const uint8_t kind = PL_TET10;
    const int64_t start[2] = {0, 10}, none[1] = {0};
    const int32_t region = 0;
    const char *name = "body";
    const pl_mesh_def def = {.vertex_count = 10,
                             .position = x,
                             .element_count = 1,
                             .kind = &kind,
                             .node_start = start,
                             .node = node,
                             .region = &region,
                             .region_count = 1,
                             .region_name = &name,
                             .surface_start = none};
    pl_mesh *mesh = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_mesh_create(&def, &mesh, NULL, &err));
    const int64_t *face;
    const int64_t count = pl_mesh_boundary(mesh, &face);
    pl_functional volume = {0}, area = {0};
    PL_CHECK_OK(pl_functional_add_volume_faces(&volume, mesh, face, count));
    PL_CHECK_OK(pl_functional_add_area_faces(&area, mesh, face, count));
    PL_CHECK_NEAR(pl_functional_value(&volume, x), -8.0 / 6, 1e-14);
    PL_CHECK_NEAR(pl_functional_value(&area, x), 6 + 2 * sqrt(3.0), 1e-13);
    shake(x, 30, 0.1);
    check_derivatives(&volume, x, 10);
    check_derivatives(&area, x, 10);
    pl_functional_clear(&volume);
    pl_functional_clear(&area);
    pl_mesh_destroy(mesh);
}

// Films on the nodes of a tet10, normal to z: area and charge of an affine deformation in closed form, and
// their derivatives at any other.
static void test_film_of_a_tet(void **state)
{
    (void)state;
    const double X[30] = {0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 0, 0,
                          1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1};
    const int32_t node[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const double xi[2][3] = {{0.2, 0.3, 0.1}, {0.15, 0.2, 0.5}}, weight[2] = {0.7, 0.4};
    const double lx = 1.3, ly = 1.1, lz = 0.8;
    const double density[3] = {lx * ly, lx * ly / lz, lx * lx * ly * ly};
    double gradient[60];
    pl_error err = {0};
    for (int q = 0; q < 2; ++q) {
        pl_shape_eval(PL_TET10, xi[q], NULL, gradient + 30 * q);
        for (int k = 0; k < 30; ++k) {
            gradient[30 * q + k] /= 2; // edges of 2
        }
    }

    for (int kind = PL_FILM_AREA; kind <= PL_FILM_CHARGE_FACE; ++kind) {
        pl_functional film = {0};
        double x[30];
        for (int k = 0; k < 30; ++k) {
            x[k] = X[k] * (k % 3 == 0 ? lx : k % 3 == 1 ? ly : lz);
        }
        PL_CHECK_OK(pl_functional_add_film(&film, (pl_film_kind)kind, 10, node, 2, weight, gradient));
        PL_CHECK_NEAR(pl_functional_value(&film, x), 1.1 * density[kind], 1e-13);
        shake(x, 30, 0.1);
        check_derivatives(&film, x, 10);
        pl_functional_clear(&film);
    }
}

static void test_cable_and_angle(void **state)
{
    (void)state;
    double x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 0, 0, 6, 0, 0, 5, 1, 0.5};
    const int32_t a[3] = {0, 1, 2}, b[3] = {3, 4, 5};
    const double w[3] = {0.2, 0.5, 0.3}, anchor[3] = {9, 1, 1};
    pl_functional cable = {0}, angle = {0};
    assert_int_equal(pl_functional_add_segment(&cable, 3, a, w, NULL, 3, b, w, NULL), PL_OK);
    assert_int_equal(pl_functional_add_segment(&cable, 3, b, w, NULL, 0, NULL, NULL, anchor), PL_OK);
    const double first = sqrt(25 + 0.15 * 0.15);
    const double second = pl_distance3((double[]){5.5, 0.3, 0.15}, anchor);
    PL_CHECK_NEAR(pl_functional_value(&cable, x), first + second, 1e-13);
    const double axis[3] = {0, 0, 1};
    const int32_t all[6] = {0, 1, 2, 3, 4, 5};
    const double weight[6] = {1, 1, 2, 1, 3, 1};
    assert_int_equal(pl_functional_add_angle(&angle, 6, all, weight, x, axis), PL_OK);

    // turning the patch in small steps counts full turns
    double y[18], R[9];
    for (int k = 0; k <= 40; ++k) {
        pl_rotation_exp((double[]){0, 0, 0.2 * k}, R);
        for (int v = 0; v < 6; ++v) {
            pl_mulv3(R, x + 3 * v, y + 3 * v);
        }
        angle.near = pl_functional_value(&angle, y);
    }

    PL_CHECK_NEAR(angle.near, 8.0, 1e-12);
    shake(y, 18, 0.1);
    check_derivatives(&cable, y, 6);
    check_derivatives(&angle, y, 6);
    pl_functional_clear(&cable);
    pl_functional_clear(&angle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube_volume),   cmocka_unit_test(test_quadratic_rim_and_apex),
        cmocka_unit_test(test_arc),           cmocka_unit_test(test_faces_of_a_tet),
        cmocka_unit_test(test_film_of_a_tet), cmocka_unit_test(test_cable_and_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
