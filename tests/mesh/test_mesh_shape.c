// Shape functions sum to one, are one at their node, and have the derivatives they claim; the Jacobian's
// bound lies below every sample and is sharp for affine elements.
#include "check.h"
#include "base/base.h"
#include "mesh/mesh.h"

static void random_reference(pl_random *random, pl_element_kind kind, double xi[3])
{
    const bool tet = kind == PL_TET4 || kind == PL_TET10;
    do {
        for (int i = 0; i < 3; ++i) {
            xi[i] = pl_random_uniform(random, 0, 1);
        }
    } while (xi[0] + xi[1] + (tet ? xi[2] : 0) > 1);

    xi[2] = tet ? xi[2] : 2 * xi[2] - 1;
}

static void test_unity_and_nodes(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 1);
    for (int kind = 0; kind < PL_ELEMENT_KIND_COUNT; ++kind) {
        double N[PL_ELEMENT_NODES_MAX], dN[3 * PL_ELEMENT_NODES_MAX], xi[3];
        for (int trial = 0; trial < 50; ++trial) {
            random_reference(&random, (pl_element_kind)kind, xi);
            const int n = pl_shape_eval((pl_element_kind)kind, xi, N, dN);
            double sum = -1, d[3] = {0};
            for (int a = 0; a < n; ++a) {
                sum += N[a];
                for (int i = 0; i < 3; ++i) {
                    d[i] += dN[3 * a + i];
                }
            }
            PL_CHECK_NEAR(sum, 0, 1e-14);
            PL_CHECK_NEAR(fabs(d[0]) + fabs(d[1]) + fabs(d[2]), 0, 1e-13);
        }
        for (int a = 0; a < pl_element_node_count((pl_element_kind)kind); ++a) {
            pl_shape_node((pl_element_kind)kind, a, xi);
            const int n = pl_shape_eval((pl_element_kind)kind, xi, N, NULL);
            for (int b = 0; b < n; ++b) {
                PL_CHECK_NEAR(N[b], a == b, 1e-15);
            }
        }
    }
}

// Central differences of quadratics and cubics leave errors of order h^2.
static void test_derivatives(void **state)
{
    (void)state;
    const double h = 1e-5;
    pl_random random;
    pl_random_seed(&random, 2);
    for (int kind = 0; kind < PL_ELEMENT_KIND_COUNT; ++kind) {
        double xi[3], dN[3 * PL_ELEMENT_NODES_MAX];
        random_reference(&random, (pl_element_kind)kind, xi);
        const int n = pl_shape_eval((pl_element_kind)kind, xi, NULL, dN);
        for (int i = 0; i < 3; ++i) {
            double plus[PL_ELEMENT_NODES_MAX], minus[PL_ELEMENT_NODES_MAX];
            xi[i] += h;
            pl_shape_eval((pl_element_kind)kind, xi, plus, NULL);
            xi[i] -= 2 * h;
            pl_shape_eval((pl_element_kind)kind, xi, minus, NULL);
            xi[i] += h;
            for (int a = 0; a < n; ++a) {
                PL_CHECK_NEAR(dN[3 * a + i], (plus[a] - minus[a]) / (2 * h), 1e-9);
            }
        }
    }

    static const int faces[] = {3, 6, 4, 8};
    for (int f = 0; f < 4; ++f) {
        double xi[2] = {0.21, 0.47}, dN[2 * PL_FACE_NODES_MAX], N[PL_FACE_NODES_MAX], sum = 0;
        pl_face_shape_eval(faces[f], xi, N, dN);
        for (int a = 0; a < faces[f]; ++a) {
            sum += N[a];
        }
        PL_CHECK_NEAR(sum, 1, 1e-14);
        for (int i = 0; i < 2; ++i) {
            double plus[PL_FACE_NODES_MAX], minus[PL_FACE_NODES_MAX];
            xi[i] += h;
            pl_face_shape_eval(faces[f], xi, plus, NULL);
            xi[i] -= 2 * h;
            pl_face_shape_eval(faces[f], xi, minus, NULL);
            xi[i] += h;
            for (int a = 0; a < faces[f]; ++a) {
                PL_CHECK_NEAR(dN[2 * a + i], (plus[a] - minus[a]) / (2 * h), 1e-9);
            }
        }
    }
}

// On a face the element's functions of the face's nodes are the face's functions, the others vanish.
static void test_faces_are_traces(void **state)
{
    (void)state;
    for (int kind = 0; kind < PL_ELEMENT_KIND_COUNT; ++kind) {
        for (int face = 0; face < pl_element_face_count((pl_element_kind)kind); ++face) {
            int node[PL_FACE_NODES_MAX];
            const int count = pl_element_face_nodes((pl_element_kind)kind, face, node);
            const double at[2] = {0.3, 0.25};
            double xi[3], N[PL_ELEMENT_NODES_MAX], on_face[PL_FACE_NODES_MAX], rest = 1;
            pl_shape_from_face((pl_element_kind)kind, face, at, xi);
            pl_shape_eval((pl_element_kind)kind, xi, N, NULL);
            pl_face_shape_eval(count, at, on_face, NULL);
            for (int a = 0; a < count; ++a) {
                PL_CHECK_NEAR(N[node[a]], on_face[a], 1e-14);
                rest -= N[node[a]];
            }
            PL_CHECK_NEAR(rest, 0, 1e-14);
        }
    }
}

static double power(double x, int n)
{
    return n == 0 ? 1 : x * power(x, n - 1);
}

// Monomials integrate exactly: a! b! / (a + b + 2)! on the triangle, products on the square.
static void test_face_quadrature(void **state)
{
    (void)state;
    static const double factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040};
    static const int nodes[] = {3, 6, 4, 8}, degree[] = {2, 5, 5, 5};
    for (int f = 0; f < 4; ++f) {
        double xi[PL_FACE_POINTS_MAX][2], weight[PL_FACE_POINTS_MAX];
        int count;
        pl_face_quadrature(nodes[f], &count, xi, weight);
        for (int a = 0; a <= degree[f]; ++a) {
            for (int b = 0; b <= (f < 2 ? degree[f] - a : degree[f]); ++b) {
                double sum = 0;
                for (int q = 0; q < count; ++q) {
                    sum += weight[q] * power(xi[q][0], a) * power(xi[q][1], b);
                }
                const double square = a % 2 || b % 2 ? 0 : 4.0 / (a + 1) / (b + 1);
                PL_CHECK_NEAR(sum, f < 2 ? factorial[a] * factorial[b] / factorial[a + b + 2] : square,
                              1e-15);
            }
        }
    }
}

static void perturbed_element(pl_random *random, pl_element_kind kind, double noise, double *x)
{
    for (int a = 0; a < pl_element_node_count(kind); ++a) {
        double xi[3];
        pl_shape_node(kind, a, xi);
        for (int i = 0; i < 3; ++i) {
            x[3 * a + i] = xi[i] + pl_random_uniform(random, -noise, noise);
        }
    }
}

static void test_jacobian_bound(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 5);
    int positive = 0, tried = 0;
    for (int kind = 0; kind < PL_ELEMENT_KIND_COUNT; ++kind) {
        for (int trial = 0; trial < 60; ++trial) {
            double x[3 * PL_ELEMENT_NODES_MAX], least = INFINITY;
            perturbed_element(&random, (pl_element_kind)kind, 0.002 * trial, x);
            const double bound = pl_jacobian_bound((pl_element_kind)kind, x);
            for (int sample = 0; sample < 400; ++sample) {
                double xi[3];
                random_reference(&random, (pl_element_kind)kind, xi);
                least = fmin(least, pl_jacobian_at((pl_element_kind)kind, x, xi));
            }
            for (int a = 0; a < pl_element_node_count((pl_element_kind)kind); ++a) {
                double xi[3];
                pl_shape_node((pl_element_kind)kind, a, xi);
                least = fmin(least, pl_jacobian_at((pl_element_kind)kind, x, xi));
            }
            PL_CHECK_BELOW(bound, least + 1e-13);
            positive += bound > 0;
            tried += least > 0.02;
        }
    }

    // a bound that is always negative would be of no use: nearly all good elements are proven good
    PL_CHECK_BELOW(0.97 * tried, positive);
}

// Affine images have a constant determinant, which the bound meets; volumes follow.
static void test_jacobian_affine(void **state)
{
    (void)state;
    const double A[9] = {2, 0.3, -0.1, 0.2, 1.5, 0.4, 0, -0.3, 0.8};
    const double reference[PL_ELEMENT_KIND_COUNT] = {1.0 / 6, 1.0 / 6, 1, 1};
    for (int kind = 0; kind < PL_ELEMENT_KIND_COUNT; ++kind) {
        double x[3 * PL_ELEMENT_NODES_MAX];
        for (int a = 0; a < pl_element_node_count((pl_element_kind)kind); ++a) {
            double xi[3];
            pl_shape_node((pl_element_kind)kind, a, xi);
            pl_mulv3(A, xi, x + 3 * a);
        }
        PL_CHECK_NEAR(pl_jacobian_bound((pl_element_kind)kind, x), pl_det3(A), 1e-12);
        PL_CHECK_NEAR(pl_element_volume((pl_element_kind)kind, x), pl_det3(A) * reference[kind], 1e-12);
    }
}

// The flat pieces of an element fill it, and those of its faces have the area vector of the face, whatever
// the order of the nodes: sums over the pieces of straight-sided elements are exact.
static void test_flat_pieces(void **state)
{
    (void)state;
    const double reference[PL_ELEMENT_KIND_COUNT] = {1.0 / 6, 1.0 / 6, 1, 1};
    for (int kind = 0; kind < PL_ELEMENT_KIND_COUNT; ++kind) {
        const int8_t(*tet)[4];
        const int count = pl_element_tets((pl_element_kind)kind, &tet);
        double sum = 0;
        for (int t = 0; t < count; ++t) {
            double x[4][3], edge[9];
            for (int k = 0; k < 4; ++k) {
                pl_shape_node((pl_element_kind)kind, tet[t][k], x[k]);
            }
            for (int k = 0; k < 3; ++k) {
                pl_sub3(x[k + 1], x[0], edge + 3 * k);
            }
            const double volume = pl_det3(edge) / 6;
            PL_CHECK_BELOW(0.0, volume);
            sum += volume;
        }
        PL_CHECK_BELOW(count, PL_ELEMENT_TETS_MAX + 0.5);
        PL_CHECK_NEAR(sum, reference[kind], 1e-14);
    }

    // corners of the unit square and of its half, mid nodes on the edges behind them
    const double square[8][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}};
    const double half[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0.5, 0}, {0.5, 0.5}, {0, 0.5}};
    const int sizes[4] = {3, 6, 4, 8};
    for (int i = 0; i < 4; ++i) {
        const int8_t(*triangle)[3];
        const int count = pl_face_triangles(sizes[i], &triangle);
        double sum = 0;
        for (int t = 0; t < count; ++t) {
            const double(*x)[2] = i < 2 ? half : square;
            const double *a = x[triangle[t][0]], *b = x[triangle[t][1]], *c = x[triangle[t][2]];
            const double area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
            PL_CHECK_BELOW(0.0, area);
            sum += area;
        }
        PL_CHECK_BELOW(count, PL_FACE_TRIANGLES_MAX + 0.5);
        PL_CHECK_NEAR(sum, i < 2 ? 0.5 : 1.0, 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unity_and_nodes),  cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_faces_are_traces), cmocka_unit_test(test_face_quadrature),
        cmocka_unit_test(test_jacobian_bound),   cmocka_unit_test(test_jacobian_affine),
        cmocka_unit_test(test_flat_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
