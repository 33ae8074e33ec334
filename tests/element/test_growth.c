// Laws of stress-free shapes that change: a body that follows its growth stores nothing, energy and forces
// change by the ratio as the derivatives say, and growth there and back is no growth.
#include "check.h"
#include "element/element.h"

#define VERTICES_MAX 64

// One prism pair or one tet pair, raised when quadratic; region 0 and 1.
static pl_mesh *make_pair(bool prisms, bool quadratic)
{
    static const double x[] = {0, 0, 0, 1, .1, 0, 1, 1, 0, 0, 1, 0, 0, 0, .5, 1, 0, .6, 1.1, 1, .5, 0, 1, .5};
    static const int32_t prism[] = {0, 1, 2, 4, 5, 6, 0, 2, 3, 4, 6, 7};
    static const int32_t tet[] = {0, 1, 2, 6, 0, 2, 3, 6};
    static const int64_t start[2][3] = {{0, 4, 8}, {0, 6, 12}};
    static const uint8_t kind[2][2] = {{PL_TET4, PL_TET4}, {PL_PRISM6, PL_PRISM6}};
    static const int32_t region[] = {0, 1};
    static const char *const names[] = {"a", "b"};
    static const int64_t no_surface[] = {0};
    const pl_mesh_def def = {.vertex_count = 8,
                             .position = x,
                             .element_count = 2,
                             .kind = kind[prisms],
                             .node_start = start[prisms],
                             .node = prisms ? prism : tet,
                             .region = region,
                             .region_count = 2,
                             .region_name = names,
                             .surface_start = no_surface};
    pl_mesh *mesh = NULL, *raised = NULL;
    pl_error err = {0};

    PL_CHECK_OK(pl_mesh_create(&def, &mesh, NULL, &err));
    if (!quadratic) {
        return mesh;
    }
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
    pl_mesh_destroy(mesh);

    return raised;
}

static pl_elements *make_elements(const pl_mesh *mesh, pl_material_model model)
{
    static const pl_material materials[] = {
        {.model = PL_LINEAR, .young = 1.3, .poisson = 0.45},
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
    const pl_material *both[2] = {&materials[model], &materials[PL_NEO_HOOKEAN]};
    const bool skip[2] = {false, false};
    pl_elements *E = NULL;
    pl_error err = {0};

    PL_CHECK_OK(pl_elements_create(mesh, both, skip, false, &E, &err));

    return E;
}

static void grow(pl_elements *E, const pl_mesh_view *mesh, pl_growth first, pl_growth second)
{
    pl_error err = {0};
    const pl_growth growth[2] = {first, second};
    PL_CHECK_OK(pl_elements_grow(E, mesh, growth, &err));
}

// Positions that are no rest shape of anything.
static void disturb(const pl_mesh_view *mesh, double *x)
{
    for (int32_t i = 0; i < 3 * mesh->vertex_count; ++i) {
        x[i] = 1.1 * mesh->position[i] + 0.03 * sin(3.0 * i + 1);
    }
}

// A body of tets that grows alone and is scaled by as much stores no energy and pushes nowhere.
static void test_free_growth_stores_nothing(void **state)
{
    (void)state;
    for (int quadratic = 0; quadratic < 2; ++quadratic) {
        pl_mesh *mesh = make_pair(false, quadratic);
        const pl_mesh_view v = pl_mesh_get(mesh);
        pl_elements *E = make_elements(mesh, PL_NEO_HOOKEAN);
        const pl_growth growth = {1.7, 1};
        grow(E, &v, growth, growth);
        double x[3 * VERTICES_MAX], force[3 * VERTICES_MAX], largest = 0;
        for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
            x[i] = cbrt(growth.volume) * v.position[i];
        }
        const double energy = pl_elements_energy(E, x, force, NULL);
        for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
            largest = fmax(largest, fabs(force[i]));
        }
        print_message("energy %.2e, largest force %.2e\n", energy, largest);
        PL_CHECK_NEAR(energy, 0, 1e-14);
        PL_CHECK_NEAR(largest, 0, 1e-12);
        pl_elements_destroy(E);
        pl_mesh_destroy(mesh);
    }
}

// E(g +- h) against dE/dg, its second derivative, and the change of the forces.
static void check_rates(bool prisms, bool quadratic, pl_material_model model, pl_growth_kind kind)
{
    pl_mesh *mesh = make_pair(prisms, quadratic);
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_elements *E = make_elements(mesh, model);
    const double h = 1e-5;
    const pl_growth other = {1.05, 1};
    double x[3 * VERTICES_MAX], force[2][3 * VERTICES_MAX], exact[3 * VERTICES_MAX] = {0}, energy[2],
                                                                      rate[3][2];

    disturb(&v, x);
    for (int side = 0; side < 3; ++side) {
        const double g = 1.2 + (side == 2 ? 0 : (2 * side - 1) * h);
        grow(E, &v, kind == PL_GROW_VOLUME ? (pl_growth){g, prisms ? 0.9 : 1} : (pl_growth){1.1, g}, other);
        const double value = pl_elements_energy(E, x, side < 2 ? force[side] : NULL, NULL);
        assert_true(isfinite(value));
        if (side < 2) {
            energy[side] = value;
        }
        pl_elements_growth_rate(E, &v, 0, kind, x, rate[side], 1, side == 2 ? exact : NULL);
    }

    const double first = (energy[1] - energy[0]) / (2 * h), second = (rate[1][0] - rate[0][0]) / (2 * h);
    double error = 0, scale = 0;
    for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
        const double difference = (force[1][i] - force[0][i]) / (2 * h);
        error = fmax(error, fabs(difference - exact[i]));
        scale = fmax(scale, fabs(exact[i]));
    }

    print_message("%s order %d law %d %s: dE %.1e, ddE %.1e, dforce %.1e relative\n",
                  prisms ? "prism" : "tet", 1 + quadratic, (int)model,
                  kind == PL_GROW_AREA ? "area" : "volume", fabs(first / rate[2][0] - 1),
                  fabs(second / rate[2][1] - 1), error / scale);
    PL_CHECK_NEAR(first, rate[2][0], 1e-7 * fabs(rate[2][0]));
    PL_CHECK_NEAR(second, rate[2][1], 1e-7 * fabs(rate[2][1]));
    assert_true(error < 1e-7 * scale);
    pl_elements_destroy(E);
    pl_mesh_destroy(mesh);
}

static void test_growth_rates_are_derivatives(void **state)
{
    (void)state;
    for (int quadratic = 0; quadratic < 2; ++quadratic) {
        for (int model = 0; model < PL_MATERIAL_MODEL_COUNT; ++model) {
            check_rates(false, quadratic, (pl_material_model)model, PL_GROW_VOLUME);
            check_rates(true, quadratic, (pl_material_model)model, PL_GROW_VOLUME);
            check_rates(true, quadratic, (pl_material_model)model, PL_GROW_AREA);
        }
    }
}

// There and back again is exactly the mesh, to the bit.
static void test_growth_leaves_no_trace(void **state)
{
    (void)state;
    pl_mesh *mesh = make_pair(true, true);
    const pl_mesh_view v = pl_mesh_get(mesh);
    pl_elements *E = make_elements(mesh, PL_NEO_HOOKEAN);
    double x[3 * VERTICES_MAX];
    disturb(&v, x);
    const double before = pl_elements_energy(E, x, NULL, NULL);
    grow(E, &v, (pl_growth){1.3, 0.8}, (pl_growth){1, 1.4});
    assert_true(pl_elements_energy(E, x, NULL, NULL) != before);
    grow(E, &v, (pl_growth){1, 1}, (pl_growth){1, 1});
    PL_CHECK_NEAR(pl_elements_energy(E, x, NULL, NULL), before, 0);
    pl_elements_destroy(E);
    pl_mesh_destroy(mesh);
}

// A flat film of prisms whose area grows by a and that follows (sqrt(a) in its plane, 1/a across) is at rest,
// and its volume is kept.
static void test_film_growth_keeps_volume(void **state)
{
    (void)state;
    static const double X[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, .2, 1, 0, .2, 1, 1, .2, 0, 1, .2};
    static const int32_t node[] = {0, 1, 2, 4, 5, 6, 0, 2, 3, 4, 6, 7};
    static const int64_t start[] = {0, 6, 12}, no_surface[] = {0};
    static const uint8_t kind[] = {PL_PRISM6, PL_PRISM6};
    static const int32_t region[] = {0, 1};
    static const char *const names[] = {"a", "b"};
    const pl_mesh_def def = {.vertex_count = 8,
                             .position = X,
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
    PL_CHECK_OK(pl_mesh_raise(mesh, &raised, &err));
    const pl_mesh_view v = pl_mesh_get(raised);
    pl_elements *E = make_elements(raised, PL_NEO_HOOKEAN);
    const double a = 0.7;
    grow(E, &v, (pl_growth){1, a}, (pl_growth){1, a});
    double x[3 * VERTICES_MAX], force[3 * VERTICES_MAX], weight = 0;
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        x[3 * i] = sqrt(a) * v.position[3 * i];
        x[3 * i + 1] = sqrt(a) * v.position[3 * i + 1];
        x[3 * i + 2] = v.position[3 * i + 2] / a;
    }

    PL_CHECK_NEAR(pl_elements_energy(E, x, force, NULL), 0, 1e-14);
    for (int32_t i = 0; i < 3 * v.vertex_count; ++i) {
        PL_CHECK_NEAR(force[i], 0, 1e-12);
    }

    for (int b = 0; b < E->block_count; ++b) {
        for (int k = 0; k < E->block[b].point_count * PL_LANES; ++k) {
            weight += E->block[b].weight[k];
        }
    }

    PL_CHECK_NEAR(weight, 0.2, 1e-14);
    pl_elements_destroy(E);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_growth_stores_nothing),
        cmocka_unit_test(test_growth_rates_are_derivatives),
        cmocka_unit_test(test_growth_leaves_no_trace),
        cmocka_unit_test(test_film_growth_keeps_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
