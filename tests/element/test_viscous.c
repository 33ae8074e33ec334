// Viscous branches and softening: forces are the derivatives of the energy of a stage and tangents those of
// the forces, for every law; at a constant shape the stress relaxes by exp(-t / tau); what a softened body
// stores and has turned into heat is the energy of its first loading at the largest shape.
#include <stdlib.h>
#include <string.h>
#include "box_mesh.h"
#include "check.h"
#include "element/element.h"
#include "material/material.h"

static pl_material law_of(pl_material_model model, double poisson)
{
    pl_material m = {.model = model, .poisson = poisson};
    switch (model) {
    case PL_LINEAR:
    case PL_STVK:
        m.young = 0.3;
        break;
    case PL_GENT:
        m.mu = 0.1;
        m.jm = 8;
        break;
    case PL_OGDEN:
        m.ogden_mu[0] = 0.08;
        m.ogden_alpha[0] = 2.4;
        m.ogden_mu[1] = 0.02;
        m.ogden_alpha[1] = -1.5;
        break;
    case PL_HGO:
        m.c10 = 0.05;
        m.k1 = 0.1;
        m.k2 = 0.7;
        m.kappa = 0.1;
        m.fibre_count = 1;
        m.fibre[0][0] = m.fibre[0][1] = 1;
        break;
    default:
        m.c10 = 0.05;
        m.c01 = model == PL_MOONEY_RIVLIN ? 0.02 : 0;
        m.c20 = model == PL_YEOH ? 0.01 : 0;
        m.c30 = model == PL_YEOH ? 0.002 : 0;
    }

    m.prony_count = 2;
    m.prony_g[0] = 0.4;
    m.prony_tau[0] = 0.02;
    m.prony_g[1] = 0.2;
    m.prony_tau[1] = 0.3;
    if (pl_material_is_rubber(model)) {
        m.mullins_r = 1.6;
        m.mullins_m = 0.002;
        m.mullins_beta = 0.2;
    }

    return m;
}

typedef struct body {
    pl_mesh *mesh;
    pl_elements *E;
    pl_viscous *v;
    pl_softening *soft; // NULL: of laws that are not rubber
    pl_material material;
    int n;
    double *X, *x;
} body;

static body body_make(pl_material_model model, double poisson)
{
    body b = {.material = law_of(model, poisson)};
    const double size[3] = {2, 1, 1};
    const bool skip = false;
    const pl_material *material = &b.material;
    pl_error err = {0};
    pl_mesh *linear;

    PL_CHECK_OK(box_mesh(2, 1, 1, size, NULL, NULL, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &b.mesh, &err));
    pl_mesh_destroy(linear);
    PL_CHECK_OK(pl_elements_create(b.mesh, &material, &skip, false, &b.E, &err));
    PL_CHECK_OK(pl_softening_create(b.E, &material, &b.soft, &err));
    PL_CHECK_OK(pl_viscous_create(b.E, &material, &b.v, &err));
    assert_non_null(b.v);
    const pl_mesh_view view = pl_mesh_get(b.mesh);
    b.n = 3 * view.vertex_count;
    b.X = malloc((size_t)b.n * sizeof *b.X);
    b.x = malloc((size_t)b.n * sizeof *b.x);
    memcpy(b.X, view.position, (size_t)b.n * sizeof *b.X);

    return b;
}

// An affine deformation with a twist.
static void body_deform(const body *b, double amount, double *x)
{
    for (int v = 0; v < b->n / 3; ++v) {
        const double *X = b->X + 3 * v;
        x[3 * v] = X[0] * (1 + 0.3 * amount) + 0.2 * amount * X[1];
        x[3 * v + 1] = X[1] * (1 - 0.15 * amount) - 0.1 * amount * X[0] * X[2];
        x[3 * v + 2] = X[2] * (1 - 0.1 * amount) + 0.1 * amount * X[0] * X[1];
    }
}

static void body_clear(body *b)
{
    pl_viscous_destroy(b->v);
    pl_softening_destroy(b->soft);
    pl_elements_destroy(b->E);
    pl_mesh_destroy(b->mesh);
    free(b->X);
    free(b->x);
}

static void test_derivatives(void **state)
{
    (void)state;
    // first loading, unloading, and a shape where some points go beyond what they have seen
    for (int k = 0; k < 3 * PL_MATERIAL_MODEL_COUNT; ++k) {
        const int model = k / 3;
        body b = body_make((pl_material_model)model, 0.4);
        body_deform(&b, (double[]){0, 1.5, 1}[k % 3], b.x);
        for (int i = 0; k % 3 == 2 && i < b.n; ++i) {
            b.x[i] += 0.02 * sin(1 + 2.3 * i);
        }
        pl_softening_start(b.soft, b.x);
        body_deform(&b, 0.5, b.x);
        pl_viscous_relax(b.v, b.x);
        pl_viscous_begin(b.v, 0.01, false);
        body_deform(&b, 1, b.x);
        double *force = calloc((size_t)b.n, sizeof *force), *other = calloc((size_t)b.n, sizeof *other),
               *d = calloc((size_t)b.n, sizeof *d), *y = calloc((size_t)b.n, sizeof *y);
        for (int i = 0; i < b.n; ++i) {
            d[i] = sin(1 + 3.7 * i);
        }

        // dE/dx . d by central differences
        const double h = 3e-6;
        double energy[2], slope = 0;
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < b.n; ++i) {
                y[i] = b.x[i] + (k == 0 ? -h : h) * d[i];
            }
            energy[k] = pl_elements_energy(b.E, y, NULL, NULL);
        }
        pl_elements_energy(b.E, b.x, force, NULL);
        for (int i = 0; i < b.n; ++i) {
            slope += force[i] * d[i];
        }
        const double error = fabs((energy[1] - energy[0]) / (2 * h) - slope) / fabs(slope);

        // d . K d from the element tangents, pressures following, against forces
        double quadratic = 0, difference = 0;
        double *tangent = calloc((size_t)b.E->tangent_size, sizeof *tangent);
        double *coupled = calloc((size_t)b.E->pressure_count, sizeof *coupled), *moment;
        pl_elements_tangent(b.E, b.x, 0, NULL, tangent);
        for (int at = 0; at < b.E->block_count; ++at) {
            const pl_block *block = &b.E->block[at];
            const int n = block->node_count;
            for (int l = 0; l < block->lane_count; ++l) {
                const double *K = tangent + block->tangent_start + (int64_t)l * block->tangent_count;
                for (int a = 0; a < n; ++a) {
                    for (int c = a; c < n; ++c) {
                        const double *B = K + 9 * pl_pair_index(n, a, c);
                        for (int i = 0; i < 9; ++i) {
                            quadratic += (a == c ? 1 : 2) * B[i] * d[3 * block->node[a][l] + i / 3] *
                                         d[3 * block->node[c][l] + i % 3];
                        }
                    }
                    for (int c = 0; b.E->law[block->law].mixed && c < block->corner_count; ++c) {
                        const double *B = K + 9 * n * (n + 1) / 2 + (c * n + a) * 3;
                        for (int i = 0; i < 3; ++i) {
                            coupled[block->pressure[c][l]] += B[i] * d[3 * block->node[a][l] + i];
                        }
                    }
                }
            }
        }
        moment = malloc((size_t)b.E->pressure_count * sizeof *moment + 1);
        memcpy(moment, coupled, (size_t)b.E->pressure_count * sizeof *moment);
        pl_elements_mass_solve(b.E, coupled);
        for (int k = 0; k < b.E->pressure_count; ++k) {
            quadratic += b.E->pressure_kappa[k] * moment[k] * coupled[k];
        }
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < b.n; ++i) {
                y[i] = b.x[i] + (k == 0 ? -h : h) * d[i];
            }
            pl_elements_energy(b.E, y, other, NULL);
            for (int i = 0; i < b.n; ++i) {
                difference += (k == 0 ? -1 : 1) * other[i] * d[i] / (2 * h);
            }
        }
        const double tangent_error = fabs(difference - quadratic) / fabs(quadratic);
        print_message("%-14s %s: force %.1e, tangent %.1e\n",
                      pl_material_model_name((pl_material_model)model),
                      (const char *[]){"first loading", "unloading", "mixed"}[k % 3], error, tangent_error);
        PL_CHECK_BELOW(error, 1e-7);
        PL_CHECK_BELOW(tangent_error, 1e-7);
        free(force);
        free(other);
        free(d);
        free(y);
        free(tangent);
        free(coupled);
        free(moment);
        body_clear(&b);
    }
}

// At a constant shape, strained suddenly at t = 0: f(t) - f(infinity) = sum g_i exp(-t / tau_i) f_d, with f_d
// the forces of the deviatoric law.
static void test_relaxation(void **state)
{
    (void)state;
    for (int model = 0; model < PL_MATERIAL_MODEL_COUNT; ++model) {
        body b = body_make((pl_material_model)model, 0.499);
        double *relaxed = calloc((size_t)b.n, sizeof *relaxed), *force = calloc((size_t)b.n, sizeof *force),
               *deviator = calloc((size_t)b.n, sizeof *deviator);
        body_deform(&b, 1, b.x);
        pl_elements_energy(b.E, b.x, relaxed, NULL);
        pl_law law = b.E->law[0];
        law.mixed = false;
        law.kappa = pl_material_is_rubber((pl_material_model)model) ? 0 : -2.0 / 3 * law.mu;
        pl_elements_force_of(b.E, b.x, &law, b.E->pressure, deviator);
        pl_viscous_relax(b.v, b.X); // nothing has relaxed yet
        double *alpha = calloc((size_t)pl_viscous_count(b.v), sizeof *alpha);
        pl_viscous_read(b.v, alpha, b.x);
        const double h = 0.0005, s = 0.5 * 0.58578643762690495 * h;
        double worst = 0, largest = 0, work = 0;
        for (int step = 1; step <= 200; ++step) {
            pl_viscous_begin(b.v, s, false);
            work += pl_viscous_end(b.v, s, false, b.x);
            pl_viscous_begin(b.v, s, true);
            work += pl_viscous_end(b.v, s, true, b.x);
            pl_viscous_accept(b.v);
            pl_viscous_hold(b.v);
            pl_elements_energy(b.E, b.x, force, NULL);
            double rest = 0;
            for (int i = 0; i < b.material.prony_count; ++i) {
                rest += b.material.prony_g[i] * exp(-step * h / b.material.prony_tau[i]);
            }
            for (int i = 0; i < b.n; ++i) {
                worst = fmax(worst, fabs(force[i] - relaxed[i] - rest * deviator[i]));
                largest = fmax(largest, fabs(0.6 * deviator[i]));
            }
        }
        print_message("%-14s relaxation over 0.1 s: %.1e of the largest overstress\n",
                      pl_material_model_name((pl_material_model)model), worst / largest);
        PL_CHECK_BELOW(worst, 1e-3 * largest);
        PL_CHECK_NEAR(work, 0, 1e-15); // nothing moves
        free(relaxed);
        free(force);
        free(deviator);
        free(alpha);
        body_clear(&b);
    }
}

// Unloaded and loaded again along one path: the work of the forces is what is stored, nothing is lost below
// the largest shape, and a cycle from rest turns the heat of the largest energies into heat.
static void test_cycle(void **state)
{
    (void)state;
    for (int model = PL_NEO_HOOKEAN; model < PL_MATERIAL_MODEL_COUNT; ++model) {
        body b = body_make((pl_material_model)model, 0.45);
        double *force = calloc((size_t)b.n, sizeof *force), *y = calloc((size_t)b.n, sizeof *y);
        pl_viscous_off(b.v);
        pl_softening_start(b.soft, b.X);
        const double rest = pl_elements_energy(b.E, b.X, NULL, NULL);

        // trapezoidal rule over 0 -> 1 -> 0 -> 1
        const int n = 400;
        double work[3] = {0}, heat[3];
        for (int leg = 0; leg < 3; ++leg) {
            for (int k = 0; k < n; ++k) {
                const double from = leg == 1 ? 1 - (double)k / n : (double)k / n,
                             to = from + (leg == 1 ? -1.0 : 1.0) / n;
                body_deform(&b, 0.5 * (from + to), b.x);
                pl_elements_energy(b.E, b.x, force, NULL);
                body_deform(&b, from, b.x);
                body_deform(&b, to, y);
                for (int i = 0; i < b.n; ++i) {
                    work[leg] += force[i] * (y[i] - b.x[i]);
                }
                pl_softening_advance(b.soft, y);
                pl_softening_accept(b.soft);
            }
            heat[leg] = pl_softening_heat(b.soft);
        }

        body_deform(&b, 1, b.x);
        const double spent = pl_elements_energy(b.E, b.x, NULL, NULL) - rest;
        print_message("%-14s first loading %.6f, back %.6f, again %.6f mJ; heat %.6f, %.6f mJ\n",
                      pl_material_model_name((pl_material_model)model), work[0], work[1], work[2], heat[0],
                      work[0] + work[1]);
        PL_CHECK_NEAR(work[0], spent, 1e-5 * spent);
        PL_CHECK_NEAR(work[0] + work[1], heat[0], 1e-4 * spent);
        PL_CHECK_NEAR(work[2], -work[1], 1e-5 * spent);
        assert_true(heat[0] > 0.1 * spent);
        assert_true(heat[2] == heat[0] && heat[1] == heat[0]);
        free(force);
        free(y);
        body_clear(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_derivatives), cmocka_unit_test(test_relaxation),
                                       cmocka_unit_test(test_cycle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
