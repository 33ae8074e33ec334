// Laws of the elements: derivatives are derivatives, rigid motion stores nothing, forces balance, the patch
// test is exact, kernels and thread counts agree.
#include <stdlib.h>
#include "check.h"
#include "element/element.h"

// a small mixed mesh: two prisms side by side and tets on top would not match; so one mesh of tets, one of
// prisms
static pl_mesh *make_tets(bool quadratic)
{
    // a cube cut into six tets along its diagonal 0-6
    static const double x[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    static const int32_t node[] = {0, 1, 2, 6, 0, 2, 3, 6, 0, 3, 7, 6, 0, 7, 4, 6, 0, 4, 5, 6, 0, 5, 1, 6};
    static const int64_t start[] = {0, 4, 8, 12, 16, 20, 24};
    static const uint8_t kind[6] = {PL_TET4, PL_TET4, PL_TET4, PL_TET4, PL_TET4, PL_TET4};
    static const int32_t region[] = {0, 0, 0, 0, 1, 1};
    static const char *const names[] = {"a", "b"};
    static const int64_t no_surface[] = {0};
    const pl_mesh_def def = {.vertex_count = 8,
                             .position = x,
                             .element_count = 6,
                             .kind = kind,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = 2,
                             .region_name = names,
                             .surface_start = no_surface};
    pl_mesh *mesh = NULL, *raised = NULL;
    pl_error err = {0};

    PL_CHECK_OK(pl_mesh_create(&def, &mesh, NULL, &err));
    if (quadratic) {
        PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
        pl_mesh_destroy(mesh);
        return raised;
    }

    return mesh;
}

static pl_mesh *make_prisms(bool quadratic)
{
    static const double x[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, .5, 1, 0, .5, 1, 1, .5, 0, 1, .5};
    static const int32_t node[] = {0, 1, 2, 4, 5, 6, 0, 2, 3, 4, 6, 7};
    static const int64_t start[] = {0, 6, 12};
    static const uint8_t kind[2] = {PL_PRISM6, PL_PRISM6};
    static const int32_t region[] = {0, 1};
    static const char *const names[] = {"a", "b"};
    static const int64_t no_surface[] = {0};
    const pl_mesh_def def = {.vertex_count = 8,
                             .position = x,
                             .element_count = 2,
                             .kind = kind,
                             .node_start = start,
                             .node = node,
                             .region = region,
                             .region_count = 2,
                             .region_name = names,
                             .surface_start = no_surface};
    pl_mesh *mesh = NULL, *raised = NULL;
    pl_error err = {0};

    PL_CHECK_OK(pl_mesh_create(&def, &mesh, NULL, &err));
    if (quadratic) {
        PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
        pl_mesh_destroy(mesh);
        return raised;
    }

    return mesh;
}

static const pl_material materials[PL_MATERIAL_MODEL_COUNT] = {
    {.model = PL_LINEAR, .young = 1.3, .poisson = 0.45, .density = 1e-9},
    {.model = PL_STVK, .young = 1.3, .poisson = 0.4},
    {.model = PL_NEO_HOOKEAN, .c10 = 0.2, .poisson = 0.49},
    {.model = PL_MOONEY_RIVLIN, .c10 = 0.2, .c01 = 0.07, .poisson = 0.49},
    {.model = PL_YEOH, .c10 = 0.11, .c20 = 0.02, .c30 = 0.005, .poisson = 0.48},
    {.model = PL_GENT, .mu = 0.3, .jm = 12, .poisson = 0.49},
    {.model = PL_OGDEN, .ogden_mu = {0.3, 0.02, -0.05}, .ogden_alpha = {1.7, 5, -2}, .poisson = 0.49},
    {.model = PL_HGO,
     .c10 = 0.1,
     .k1 = 0.4,
     .k2 = 1.5,
     .kappa = 0.1,
     .fibre = {{2, 1, 0}, {0, 1, -3}},
     .fibre_count = 2,
     .poisson = 0.49},
};

static pl_elements *make_elements(const pl_mesh *mesh, pl_material_model model, bool displacement)
{
    const pl_material *both[2] = {&materials[model], &materials[(model + 1) % PL_MATERIAL_MODEL_COUNT]};
    const bool skip[2] = {false, false};
    pl_elements *E = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_elements_create(mesh, both, skip, displacement, &E, &err));
    return E;
}

static void deform(const pl_mesh *mesh, double *x, double size)
{
    const pl_mesh_view view = pl_mesh_get(mesh);
    pl_random random;
    pl_random_seed(&random, 7);
    for (int i = 0; i < 3 * view.vertex_count; ++i) {
        x[i] = view.position[i] + pl_random_uniform(&random, -size, size);
    }
}

// The force is the derivative of the energy, and the condensed tangent that of the force: both against
// central differences, for every law, element and formulation.
static void check_derivatives(pl_mesh *mesh, pl_material_model model, bool displacement)
{
    pl_elements *E = make_elements(mesh, model, displacement);
    const int n = 3 * E->vertex_count;
    double *x = malloc(sizeof(double) * (size_t)n), *f = malloc(sizeof(double) * (size_t)n),
           *plus = malloc(sizeof(double) * (size_t)n), *minus = malloc(sizeof(double) * (size_t)n);
    double *buffer = malloc(sizeof(double) * (size_t)E->tangent_size);
    double *K = calloc((size_t)n * (size_t)n, sizeof(double)),
           *B = calloc((size_t)n * (size_t)E->pressure_count + 1, sizeof(double)),
           *projected = calloc((size_t)E->pressure_count + 1, sizeof(double));

    deform(mesh, x, 0.04);
    pl_elements_energy(E, x, f, NULL);
    pl_elements_tangent(E, x, 0, NULL, buffer);
    for (int b = 0; b < E->block_count; ++b) {
        const pl_block *block = &E->block[b];
        const int nodes = block->node_count;
        for (int l = 0; l < block->lane_count; ++l) {
            const double *pair = buffer + block->tangent_start + l * block->tangent_count,
                         *coupling = pair + nodes * (nodes + 1) / 2 * 9;
            for (int a = 0; a < nodes; ++a) {
                for (int c = a; c < nodes; ++c) {
                    for (int i = 0; i < 9; ++i) {
                        const double k = pair[pl_pair_index(nodes, a, c) * 9 + i];
                        const int row = 3 * block->node[a][l] + i / 3, column = 3 * block->node[c][l] + i % 3;
                        K[(size_t)row * (size_t)n + (size_t)column] += k;
                        if (a != c) {
                            K[(size_t)column * (size_t)n + (size_t)row] += k;
                        }
                    }
                }
                for (int c = 0; E->law[block->law].mixed && c < block->corner_count; ++c) {
                    for (int i = 0; i < 3; ++i) {
                        B[(size_t)block->pressure[c][l] * (size_t)n + (size_t)(3 * block->node[a][l] + i)] +=
                            coupling[(c * nodes + a) * 3 + i];
                    }
                }
            }
        }
    }

    double largest = 0, force_error = 0, tangent_error = 0;
    for (int j = 0; j < n; ++j) {
        const double h = 1e-5, keep = x[j];
        x[j] = keep + h;
        const double ep = pl_elements_energy(E, x, plus, NULL);
        x[j] = keep - h;
        const double em = pl_elements_energy(E, x, minus, NULL);
        x[j] = keep;
        force_error = fmax(force_error, fabs((ep - em) / (2 * h) - f[j]));
        for (int p = 0; p < E->pressure_count; ++p) {
            projected[p] = B[(size_t)p * (size_t)n + (size_t)j];
        }
        pl_elements_mass_solve(E, projected);
        for (int i = 0; i < n; ++i) {
            // K + kappa B^T M^-1 B
            double k = K[(size_t)i * (size_t)n + (size_t)j];
            for (int p = 0; p < E->pressure_count; ++p) {
                k += B[(size_t)p * (size_t)n + (size_t)i] * E->pressure_kappa[p] * projected[p];
            }
            largest = fmax(largest, fabs(k));
            tangent_error = fmax(tangent_error, fabs((plus[i] - minus[i]) / (2 * h) - k));
        }
    }

    PL_CHECK_BELOW(force_error / largest, 1e-8);
    PL_CHECK_BELOW(tangent_error / largest, 1e-7);
    free(x), free(f), free(plus), free(minus), free(buffer), free(K), free(B), free(projected);
    pl_elements_destroy(E);
}

static void test_derivatives(void **state)
{
    (void)state;
    for (int shape = 0; shape < 4; ++shape) {
        pl_mesh *mesh = shape < 2 ? make_tets(shape == 1) : make_prisms(shape == 3);
        for (int model = 0; model < PL_MATERIAL_MODEL_COUNT; ++model) {
            check_derivatives(mesh, (pl_material_model)model, false);
            check_derivatives(mesh, (pl_material_model)model, true);
        }
        pl_mesh_destroy(mesh);
    }
}

// A rigid motion stores no energy and needs no force; any deformation gives forces and moments in balance.
static void test_rigid_and_balance(void **state)
{
    (void)state;
    pl_mesh *mesh = make_tets(true);
    const pl_mesh_view view = pl_mesh_get(mesh);
    const int n = 3 * view.vertex_count;
    double *x = malloc(sizeof(double) * (size_t)n), *f = malloc(sizeof(double) * (size_t)n), R[9];
    pl_rotation_exp((double[]){1.1, -0.7, 2.0}, R);
    for (int model = 0; model < PL_MATERIAL_MODEL_COUNT; ++model) {
        pl_elements *E = make_elements(mesh, (pl_material_model)model, false);
        for (int v = 0; v < view.vertex_count; ++v) {
            pl_mulv3(R, view.position + 3 * v, x + 3 * v);
            x[3 * v] += 5;
        }
        PL_CHECK_NEAR(pl_elements_energy(E, x, f, NULL), 0, 1e-13);
        for (int i = 0; i < n; ++i) {
            PL_CHECK_NEAR(f[i], 0, 1e-13);
        }
        deform(mesh, x, 0.05);
        pl_elements_energy(E, x, f, NULL);
        double sum[3] = {0}, moment[3] = {0};
        for (int v = 0; v < view.vertex_count; ++v) {
            double m[3];
            pl_cross3(x + 3 * v, f + 3 * v, m);
            for (int i = 0; i < 3; ++i) {
                sum[i] += f[3 * v + i];
                moment[i] += m[i];
            }
        }
        PL_CHECK_NEAR(pl_norm3(sum), 0, 1e-13);
        PL_CHECK_NEAR(pl_norm3(moment), 0, 1e-13);
        pl_elements_destroy(E);
    }

    free(x), free(f);
    pl_mesh_destroy(mesh);
}

// All kernels and all thread counts give the same: kernels to round-off, threads to the bit. The bound of J
// of an affine map is its determinant.
static void test_kernels_agree(void **state)
{
    (void)state;
    pl_mesh *mesh = make_tets(true);
    const pl_mesh_view view = pl_mesh_get(mesh);
    const size_t n = 3 * (size_t)view.vertex_count;
    pl_elements *E = make_elements(mesh, PL_MOONEY_RIVLIN, false);
    double *x = malloc(sizeof(double) * n), *one = malloc(sizeof(double) * n),
           *two = malloc(sizeof(double) * n);
    deform(mesh, x, 0.05);
    pl_threads_set(1);
    const double energy = pl_elements_energy(E, x, one, NULL);
    pl_threads_set(2);
    assert_true(energy == pl_elements_energy(E, x, two, NULL));
    assert_memory_equal(one, two, n * sizeof *one);
    const double A[9] = {1.2, 0.1, 0, -0.2, 0.9, 0.3, 0, 0.1, 1.1};
    for (int v = 0; v < view.vertex_count; ++v) {
        pl_mulv3(A, view.position + 3 * v, x + 3 * v);
    }
    PL_CHECK_NEAR(pl_elements_bound(E, x, NULL, NULL), pl_det3(A), 1e-12);
    double min_J;
    pl_elements_energy(E, x, NULL, &min_J);
    PL_CHECK_NEAR(min_J, pl_det3(A), 1e-12);

    // one element folded: it is the one named, whatever block it lies in
    const int32_t folded = view.element_count - 2, *corner = view.node + view.node_start[folded];
    const double *X = view.position;
    int32_t worst = -1;
    memcpy(x, X, n * sizeof *x);
    for (int i = 0; i < 3; ++i) { // the middle of its first edge pushed through the opposite one
        x[3 * corner[4] + i] +=
            1.5 * (0.5 * (X[3 * corner[2] + i] + X[3 * corner[3] + i]) - X[3 * corner[4] + i]);
    }

    double *each = malloc(sizeof(double) * (size_t)view.element_count);
    const double least = pl_elements_bound(E, x, each, &worst);
    assert_true(worst >= 0 && least < 0 && each[worst] == least);
    free(each);

    // mirrored: infinite energy, negative bound
    for (int v = 0; v < view.vertex_count; ++v) {
        x[3 * v] = -x[3 * v];
    }
    assert_true(isinf(pl_elements_energy(E, x, NULL, NULL)));
    assert_true(pl_elements_bound(E, x, NULL, NULL) < 0);
    pl_elements_destroy(E);
    free(x), free(one), free(two);
    pl_mesh_destroy(mesh);
}

// A tangent that takes its stresses from a step: without a step it is the plain one; after a step whose
// stresses are those of the new shape to first order (a small one) it differs from the plain one at the new
// shape by second order only, while the tangents before and after the step differ by first order.
static void test_stresses_ahead(void **state)
{
    (void)state;
    for (int displacement = 0; displacement < 2; ++displacement) {
        pl_mesh *mesh = make_tets(true);
        pl_elements *E = make_elements(mesh, PL_NEO_HOOKEAN, displacement);
        const size_t n = 3 * (size_t)E->vertex_count, pressures = (size_t)E->pressure_count,
                     size = (size_t)E->tangent_size;
        double *x = malloc(n * sizeof *x), *moved = malloc(n * sizeof *x), *dx = calloc(n, sizeof *x),
               *p = malloc((pressures + 1) * sizeof *p), *dp = calloc(pressures + 1, sizeof *dp),
               *plain = malloc(size * sizeof *x), *ahead = malloc(size * sizeof *x);
        deform(mesh, x, 0.03);
        pl_elements_energy(E, x, NULL, NULL);
        memcpy(p, E->pressure, pressures * sizeof *p);
        pl_elements_tangent(E, x, 0, NULL, plain);
        const pl_ahead step = {x, dx, p, dp};
        pl_elements_tangent(E, x, 0, &step, ahead);
        double still = 0, error[2], change = 0;
        for (size_t i = 0; i < size; ++i) {
            still = fmax(still, fabs(ahead[i] - plain[i]));
        }
        PL_CHECK_BELOW(still, 1e-12);
        for (int k = 0; k < 2; ++k) {
            const double h = k ? 5e-5 : 1e-4;
            for (size_t i = 0; i < n; ++i) {
                dx[i] = h * sin(1.7 * (double)i);
                moved[i] = x[i] + dx[i];
            }
            pl_elements_energy(E, moved, NULL, NULL);
            for (size_t i = 0; i < pressures; ++i) {
                dp[i] = E->pressure[i] - p[i];
            }
            double *after = malloc(size * sizeof *after);
            pl_elements_tangent(E, moved, 0, NULL, after);
            pl_elements_tangent(E, moved, 0, &step, ahead);
            error[k] = 0;
            for (size_t i = 0; i < size; ++i) {
                error[k] = fmax(error[k], fabs(ahead[i] - after[i]));
                change = fmax(change, fabs(after[i] - plain[i]));
            }
            free(after);
        }
        print_message("ahead: off by %.1e and %.1e at half the step; the tangent changes by %.1e\n", error[0],
                      error[1], change);
        PL_CHECK_BELOW(error[0], 0.05 * change);
        PL_CHECK_NEAR(error[0] / error[1], 4, 0.2);
        free(x);
        free(moved);
        free(dx);
        free(p);
        free(dp);
        free(plain);
        free(ahead);
        pl_elements_destroy(E);
        pl_mesh_destroy(mesh);
    }
}

// One element's matrix from the buffer, and its extreme eigenvalues.
static void element_spectrum(const pl_block *block, int lane, const double *buffer, double scale,
                             const double *other, double *least, double *most)
{
    const int n = block->node_count, size = 3 * n;
    double *K = calloc((size_t)(size * size), sizeof *K), *value = malloc((size_t)size * sizeof *value);

    for (int a = 0; a < n; ++a) {
        for (int c = a; c < n; ++c) {
            for (int i = 0; i < 9; ++i) {
                const int64_t at =
                    block->tangent_start + lane * block->tangent_count + pl_pair_index(n, a, c) * 9 + i;
                const double k = buffer[at] + (other ? scale * other[at] : 0);
                K[(3 * a + i / 3) * size + 3 * c + i % 3] = K[(3 * c + i % 3) * size + 3 * a + i / 3] = k;
            }
        }
    }

    pl_dense_eigen(size, K, value, NULL);
    *least = value[0];
    *most = value[size - 1];
    free(K);
    free(value);
}

// The positive part K+ of a tangent has no negative eigenvalue, is not below K, and is K where that is
// positive.
static void test_positive_part(void **state)
{
    (void)state;
    pl_mesh *mesh = make_tets(true);
    for (int model = 0; model < PL_MATERIAL_MODEL_COUNT; ++model) {
        pl_elements *E = make_elements(mesh, (pl_material_model)model, true);
        const size_t size = (size_t)E->tangent_size;
        double *x = malloc(3 * (size_t)E->vertex_count * sizeof *x), *K = malloc(size * sizeof *K),
               *positive = malloc(size * sizeof *K);
        double lowest = 0, below = 0, under = 0;
        deform(mesh, x, 0.02);
        for (int i = 0; i < E->vertex_count; ++i) {
            x[3 * i] *= 0.75; // compressed: the tangent is indefinite
        }
        pl_elements_energy(E, x, NULL, NULL);
        pl_elements_tangent(E, x, 0, NULL, K);
        pl_elements_tangent(E, x, 1, NULL, positive);
        for (int b = 0; b < E->block_count; ++b) {
            for (int l = 0; l < E->block[b].lane_count; ++l) {
                double least, most;
                element_spectrum(&E->block[b], l, K, 0, NULL, &least, &most);
                lowest = fmin(lowest, least / most);
                element_spectrum(&E->block[b], l, positive, 0, NULL, &least, &most);
                below = fmin(below, least / most);
                element_spectrum(&E->block[b], l, positive, -1, K, &least, &most);
                under = fmin(under, least);
            }
        }
        print_message("model %d: smallest eigenvalue %.1e of the largest, of the positive part %.1e\n", model,
                      lowest, below);
        assert_true(lowest < -1e-3);
        PL_CHECK_BELOW(-below, 1e-8);
        PL_CHECK_BELOW(-under, 1e-8);
        free(x);
        free(K);
        free(positive);
        pl_elements_destroy(E);
    }

    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stresses_ahead), cmocka_unit_test(test_positive_part),
        cmocka_unit_test(test_derivatives),    cmocka_unit_test(test_rigid_and_balance),
        cmocka_unit_test(test_kernels_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
