// Layers on faces: derivatives are derivatives, rigid motion stores nothing, sheets agree with closed forms
// of plane stress, and strips and plates assembled from bare faces bend as beam and plate theory say.
#include <stdlib.h>
#include "check.h"
#include "element/layer.h"
#include "layer_grid.h"
#include "material/material.h"

static double noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24) - 0.5;
}

// ---- laws in plane stress
static void test_sheet_derivatives(void **state)
{
    (void)state;
    const pl_material material[] = {
        {.model = PL_LINEAR, .young = 3, .poisson = 0.3},
        {.model = PL_STVK, .young = 3, .poisson = 0.3},
        {.model = PL_NEO_HOOKEAN, .c10 = 0.5, .poisson = 0.45},
        {.model = PL_MOONEY_RIVLIN, .c10 = 0.5, .c01 = 0.2, .poisson = 0.4},
        {.model = PL_OGDEN, .ogden_mu = {0.7}, .ogden_alpha = {3}, .poisson = 0.45},
    };
    const double e[3] = {0.2, -0.05, 0.15};
    for (int k = 0; k < 5; ++k) {
        pl_sheet sheet;
        pl_sheet_init(&sheet, &material[k]);
        double W, S[3], C[9], worst = 0, worst_C = 0;
        assert_true(pl_sheet_stress(&sheet, e, &W, S, C));
        for (int i = 0; i < 3; ++i) {
            const double h = 1e-5;
            double up[3], down[3], Wu, Wd, Su[3], Sd[3];
            memcpy(up, e, sizeof up);
            memcpy(down, e, sizeof down);
            up[i] += h;
            down[i] -= h;
            pl_sheet_stress(&sheet, up, &Wu, Su, NULL);
            pl_sheet_stress(&sheet, down, &Wd, Sd, NULL);
            worst = fmax(worst, fabs((Wu - Wd) / (2 * h) - S[i]));
            for (int j = 0; j < 3; ++j) {
                worst_C = fmax(worst_C, fabs((Su[j] - Sd[j]) / (2 * h) - C[3 * j + i]));
            }
        }
        print_message("%-13s stress off by %.1e, tangent by %.1e MPa\n",
                      pl_material_model_name(material[k].model), worst, worst_C);
        PL_CHECK_BELOW(worst, 1e-8);
        PL_CHECK_BELOW(worst_C, 1e-7);
        // at small strain: E / (1 - nu^2)
        const double zero[3] = {0};
        pl_sheet_stress(&sheet, zero, &W, S, C);
        for (int i = 0; i < 9; ++i) {
            PL_CHECK_NEAR(C[i], sheet.moduli[i], 1e-9);
        }
        // by material constants
        for (int c = 0; c < PL_MATERIAL_CONSTANT_COUNT; ++c) {
            if (!pl_material_has(material[k].model, (pl_material_constant)c) || c == PL_BULK ||
                c == PL_DENSITY) {
                continue;
            }
            pl_material up = material[k], down = material[k];
            double dS[3], dmoduli[9], Su[3], Sd[3];
            const double value = *pl_material_at(&up, (pl_material_constant)c), h = 1e-5 * value;
            if (value == 0) {
                continue;
            }
            *pl_material_at(&up, (pl_material_constant)c) += h;
            *pl_material_at(&down, (pl_material_constant)c) -= h;
            pl_sheet a, b;
            pl_sheet_init(&a, &up);
            pl_sheet_init(&b, &down);
            pl_sheet_stress(&a, e, &W, Su, NULL);
            pl_sheet_stress(&b, e, &W, Sd, NULL);
            pl_sheet_derivative(&sheet, &material[k], (pl_material_constant)c, e, dS, dmoduli);
            for (int i = 0; i < 9; ++i) {
                PL_CHECK_NEAR(dmoduli[i], (a.moduli[i] - b.moduli[i]) / (2 * h), 1e-6);
            }
            for (int i = 0; i < 3; ++i) {
                PL_CHECK_NEAR(dS[i], (Su[i] - Sd[i]) / (2 * h), 1e-7);
            }
        }
    }
}

// Uniaxial: an incompressible sheet pulled along one axis, free across, carries the law's uniaxial stress.
static void test_sheet_uniaxial(void **state)
{
    (void)state;
    const pl_material m = {.model = PL_MOONEY_RIVLIN, .c10 = 0.3, .c01 = 0.1, .bulk = 1e5};
    pl_sheet sheet;
    pl_sheet_init(&sheet, &m);
    const double l = 1.5;
    const double e[3] = {0.5 * (l * l - 1), 0.5 * (1 / l - 1), 0};
    double W, S[3];
    pl_sheet_stress(&sheet, e, &W, S, NULL);
    print_message("engineering stress %.8f MPa, law %.8f\n", l * S[0], pl_material_uniaxial(&m, l));
    PL_CHECK_NEAR(l * S[0], pl_material_uniaxial(&m, l), 1e-5);
    PL_CHECK_NEAR(S[1], 0, 1e-5);
}

// Wrinkled: no compressive stress beyond E w, derivatives of energy, stress and constants, an energy below
// that of the flat sheet and continuous where wrinkles begin.
static void test_sheet_wrinkles(void **state)
{
    (void)state;
    const double strain[][3] = {{0.02, -0.05, 0.03}, {-0.05, 0.01, -0.02}, {-0.05, -0.08, 0.02}};
    const double w = 0.01, young = 3, nu = 0.3, h = 1e-6;
    for (int k = 0; k < 6; ++k) {
        const pl_material m = {.model = k < 3 ? PL_LINEAR : PL_STVK, .young = young, .poisson = nu};
        const double *e = strain[k % 3];
        pl_sheet flat, sheet;
        pl_sheet_init(&flat, &m);
        sheet = flat;
        sheet.wrinkle = w;
        double W, W0, S[3], S0[3], C[9], worst = 0, worst_C = 0, worst_m = 0;
        assert_true(pl_sheet_stress(&sheet, e, &W, S, C));
        assert_true(pl_sheet_stress(&flat, e, &W0, S0, NULL));
        assert_true(W < W0);
        for (int i = 0; i < 3; ++i) {
            double up[3], down[3], Wu, Wd, Su[3], Sd[3];
            memcpy(up, e, sizeof up);
            memcpy(down, e, sizeof down);
            up[i] += h;
            down[i] -= h;
            pl_sheet_stress(&sheet, up, &Wu, Su, NULL);
            pl_sheet_stress(&sheet, down, &Wd, Sd, NULL);
            worst = fmax(worst, fabs((Wu - Wd) / (2 * h) - S[i]));
            for (int j = 0; j < 3; ++j) {
                worst_C = fmax(worst_C, fabs((Su[j] - Sd[j]) / (2 * h) - C[3 * j + i]));
            }
        }
        for (int c = 0; c < 2; ++c) {
            const pl_material_constant constant = c ? PL_POISSON : PL_YOUNG;
            pl_material up = m, down = m;
            double dS[3], dmoduli[9], Su[3], Sd[3];
            *pl_material_at(&up, constant) += h;
            *pl_material_at(&down, constant) -= h;
            pl_sheet a, b;
            pl_sheet_init(&a, &up);
            pl_sheet_init(&b, &down);
            a.wrinkle = b.wrinkle = w;
            pl_sheet_stress(&a, e, &W, Su, NULL);
            pl_sheet_stress(&b, e, &W, Sd, NULL);
            pl_sheet_derivative(&sheet, &m, constant, e, dS, dmoduli);
            for (int i = 0; i < 3; ++i) {
                worst_m = fmax(worst_m, fabs(dS[i] - (Su[i] - Sd[i]) / (2 * h)));
            }
        }
        print_message("%s, wrinkled: stress off by %.1e, tangent by %.1e, constants by %.1e\n",
                      pl_material_model_name(m.model), worst, worst_C, worst_m);
        PL_CHECK_BELOW(worst, 1e-8);
        PL_CHECK_BELOW(worst_C, 1e-7);
        PL_CHECK_BELOW(worst_m, 1e-7);
        // the smaller principal stress: -E w over the stretch there (linear), or -E w
        const double low = 0.5 * (S[0] + S[1]) - hypot(0.5 * (S[0] - S[1]), S[2]),
                     E2 = 0.5 * (e[0] + e[1]) - hypot(0.5 * (e[0] - e[1]), 0.5 * e[2]);
        PL_CHECK_NEAR(low, -young * w / (k < 3 ? sqrt(1 + 2 * E2) : 1), 1e-12);
        // wrinkles begin at uniaxial stress -E w
        double E[2][3] = {{0}}, there[2], T[2][3];
        for (int i = 0; i < 2; ++i) {
            const double b = -w + (i ? 1e-9 : -1e-9), across = nu * w;
            E[i][1] = k < 3 ? b + 0.5 * b * b : b;
            E[i][0] = k < 3 ? across + 0.5 * across * across : across;
            pl_sheet_stress(&sheet, E[i], &there[i], T[i], NULL);
        }
        PL_CHECK_NEAR(there[0], there[1], 1e-9);
        PL_CHECK_NEAR(there[0], 0.5 * young * w * w, 1e-9);
        PL_CHECK_NEAR(T[0][1], T[1][1], 1e-7);
        PL_CHECK_NEAR(T[0][0], 0, 1e-7);
    }
}

// ---- one face with two neighbours and a held edge
typedef struct sample {
    pl_face_table table;
    pl_layer_face face;
    double X[3 * PL_LAYER_NODES], x[3 * PL_LAYER_NODES];
} sample;

static void sample_make(sample *s, int nodes, uint32_t seed)
{
    // corners 0 1 2; neighbours across edges 0 and 1
    static const double at[12][2] = {{0, 0},     {2, 0},    {0.3, 1.8},  // own corners
                                     {1, 0},     {1.1, 1},  {0.1, 0.9},  // own middles
                                     {1.2, -2},  {1.6, -1}, {0.6, -1.0}, // below
                                     {2.4, 2.2}, {1.3, 2},  {2.2, 1.1}}; // right
    pl_face_table_init(&s->table, nodes);
    memset(&s->face, 0, sizeof s->face);
    pl_layer_edge *e = s->face.edge;
    int count = 0, map[12];
    for (int a = 0; a < 12; ++a) {
        const bool corner = a < 3 || a == 6 || a == 9;
        map[a] = nodes == 6 || corner ? count : -1;
        if (map[a] >= 0) {
            s->X[3 * count] = at[a][0] + 0.05 * noise(&seed);
            s->X[3 * count + 1] = at[a][1] + 0.05 * noise(&seed);
            s->X[3 * count + 2] = 0.1 * noise(&seed);
            ++count;
        }
    }

    s->face.node_count = count;

    // below: corners 1 0 6, middles 3 8 7; its edge 0 runs 1 -> 0
    const int below[6] = {1, 0, 6, 3, 8, 7}, right[6] = {9, 2, 1, 10, 4, 11};
    e[0] = (pl_layer_edge){.kind = PL_LAYER_JOINED, .other_edge = 0, .reversed = true};
    e[1] = (pl_layer_edge){.kind = PL_LAYER_JOINED, .other_edge = 1, .reversed = true};
    e[2] = (pl_layer_edge){.kind = PL_LAYER_HELD};
    for (int a = 0; a < nodes; ++a) {
        e[0].other_node[a] = map[below[a]];
        e[1].other_node[a] = map[right[a]];
    }

    const double across[3] = {2, 2, 0};
    pl_layer_face_init(&s->table, &s->face, s->X, across);
    for (int i = 0; i < 3 * count; ++i) {
        s->x[i] = s->X[i] + 0.15 * noise(&seed);
    }
}

static pl_layer_law sample_law(const pl_material *m, double thickness, double offset, double prestrain)
{
    pl_layer_law law = {.thickness = thickness, .offset = offset, .bending = true, .prestrain = prestrain};
    pl_sheet_init(&law.sheet, m);
    return law;
}

static void test_layer_derivatives(void **state)
{
    (void)state;
    const pl_material material[] = {{.model = PL_LINEAR, .young = 3, .poisson = 0.3},
                                    {.model = PL_NEO_HOOKEAN, .c10 = 0.5, .poisson = 0.45}};
    for (int k = 0; k < 8; ++k) {
        sample s;
        const double pre = k < 4 ? 0 : 0.12;
        sample_make(&s, k % 4 < 2 ? 6 : 3, 7u + (uint32_t)k);
        const pl_layer_law law = sample_law(&material[k % 2], 0.3, 0.15, pre);
        const int m = 3 * s.face.node_count;
        double g[45] = {0}, H[45 * 45], worst = 0, worst_H = 0, scale = 0, scale_H = 0, asymmetry = 0;
        if (pre == 0) {
            PL_CHECK_NEAR(pl_layer_energy(&s.table, &law, &s.face, s.X, NULL), 0, 1e-14);
        }
        pl_layer_energy(&s.table, &law, &s.face, s.x, g);
        pl_layer_tangent(&s.table, &law, &s.face, s.x, false, NULL, H);
        for (int i = 0; i < m; ++i) {
            const double h = 1e-5, keep = s.x[i];
            double up[45] = {0}, down[45] = {0};
            s.x[i] = keep + h;
            const double Eu = pl_layer_energy(&s.table, &law, &s.face, s.x, up);
            s.x[i] = keep - h;
            const double Ed = pl_layer_energy(&s.table, &law, &s.face, s.x, down);
            s.x[i] = keep;
            worst = fmax(worst, fabs((Eu - Ed) / (2 * h) - g[i]));
            scale = fmax(scale, fabs(g[i]));
            for (int j = 0; j < m; ++j) {
                worst_H = fmax(worst_H, fabs((up[j] - down[j]) / (2 * h) - H[m * j + i]));
                scale_H = fmax(scale_H, fabs(H[m * j + i]));
                asymmetry = fmax(asymmetry, fabs(H[m * j + i] - H[m * i + j]));
            }
        }
        // thickness, and young or c10
        const pl_material_constant constant = k % 2 ? PL_C10 : PL_YOUNG;
        double by_h[45] = {0}, by_c[45] = {0}, up[45] = {0}, down[45] = {0}, worst_q = 0;
        pl_layer_by_thickness(&s.table, &law, &s.face, s.x, by_h);
        pl_layer_by_constant(&s.table, &law, &s.face, &material[k % 2], constant, s.x, by_c);
        pl_layer_law a = sample_law(&material[k % 2], 0.3 + 1e-6, 0.15 + 5e-7, pre),
                     b = sample_law(&material[k % 2], 0.3 - 1e-6, 0.15 - 5e-7, pre);
        pl_layer_energy(&s.table, &a, &s.face, s.x, up);
        pl_layer_energy(&s.table, &b, &s.face, s.x, down);
        for (int i = 0; i < m; ++i) {
            worst_q = fmax(worst_q, fabs((up[i] - down[i]) / 2e-6 - by_h[i]));
            up[i] = down[i] = 0;
        }
        pl_material mu = material[k % 2], md = mu;
        *pl_material_at(&mu, constant) += 1e-6;
        *pl_material_at(&md, constant) -= 1e-6;
        a = sample_law(&mu, 0.3, 0.15, pre);
        b = sample_law(&md, 0.3, 0.15, pre);
        pl_layer_energy(&s.table, &a, &s.face, s.x, up);
        pl_layer_energy(&s.table, &b, &s.face, s.x, down);
        for (int i = 0; i < m; ++i) {
            worst_q = fmax(worst_q, fabs((up[i] - down[i]) / 2e-6 - by_c[i]));
        }
        print_message("%d nodes, %s, prestrain %g: gradient %.1e of %.2g, tangent %.1e of %.2g, asymmetry "
                      "%.1e, by parameters "
                      "%.1e\n",
                      s.table.nodes, pl_material_model_name(material[k % 2].model), pre, worst, scale,
                      worst_H, scale_H, asymmetry, worst_q);
        PL_CHECK_BELOW(worst, 1e-7 * scale);
        PL_CHECK_BELOW(worst_H, 1e-6 * scale_H);
        PL_CHECK_BELOW(asymmetry, 1e-12 * scale_H);
        PL_CHECK_BELOW(worst_q, 1e-6 * scale);
        // the positive part is positive: x^T H x >= 0 for random x
        pl_layer_tangent(&s.table, &law, &s.face, s.x, true, NULL, H);
        uint32_t seed = 5;
        for (int round = 0; round < 200; ++round) {
            double v[45], sum = 0;
            for (int i = 0; i < m; ++i) {
                v[i] = noise(&seed);
            }
            for (int i = 0; i < m; ++i) {
                for (int j = 0; j < m; ++j) {
                    sum += v[i] * H[m * i + j] * v[j];
                }
            }
            assert_true(sum >= -1e-10 * scale_H);
        }
    }
}

// ---- strips and plates of bare faces
// Cantilever strip, tip force: small deflection F L^3 / 3EI, large ones from the elastica (F L^2 / EI = 5:
// w/L = 0.71379, u/L = 0.38763; Mattiasson 1981).
static void test_cantilever(void **state)
{
    (void)state;
    const double L = 40, b = 4, h = 0.2, E = 2000, EI = E * b * h * h * h / 12;
    const pl_material paper = {.model = PL_LINEAR, .young = E, .poisson = 0};
    for (int fine = 0; fine < 2; ++fine) {
        const int cells = fine ? 16 : 8;
        layer_grid grid;
        grid_make(&grid, cells, fine ? 2 : 1, L, b, 0.2);
        grid_clamp(&grid, 0, true);
        const pl_layer_law law = sample_law(&paper, h, 0, 0);
        grid_bind(&grid);
        const double small = 1e-4 * EI / (L * L);
        grid_load_edge(&grid, 0, L, 2, small);
        assert_true(grid_solve(&grid, &law, 1));
        const double w = grid_mean(&grid, 0, L, 2), want = small * L * L * L / (3 * EI);
        grid_load_edge(&grid, 0, L, 2, 5 * EI / (L * L) - small);
        assert_true(grid_solve(&grid, &law, 20));
        const double W = grid_mean(&grid, 0, L, 2) / L, U = 1 - grid_mean(&grid, 0, L, 0) / L;
        print_message(
            "strip, %2d cells: small %.5f of beam theory; F L^2/EI = 5: w/L %.5f (0.71379), u/L %.5f "
            "(0.38763)\n",
            cells, w / want, W, U);
        PL_CHECK_NEAR(w / want, 1, fine ? 0.01 : 0.03);
        PL_CHECK_NEAR(W, 0.71379, fine ? 0.005 : 0.02);
        PL_CHECK_NEAR(U, 0.38763, fine ? 0.005 : 0.02);
        grid_clear(&grid);
    }
}

// Square plate under uniform pressure, clamped (w = 0.0012653 q a^4 / D) and simply supported (0.0040624).
static void test_plate(void **state)
{
    (void)state;
    const double a = 40, h = 0.5, E = 2000, nu = 0.3, D = E * h * h * h / (12 * (1 - nu * nu));
    const pl_material paper = {.model = PL_LINEAR, .young = E, .poisson = nu};
    const pl_layer_law law = sample_law(&paper, h, 0, 0);
    for (int clamped = 0; clamped < 2; ++clamped) {
        double error[2];
        for (int fine = 0; fine < 2; ++fine) {
            const int cells = fine ? 8 : 4;
            layer_grid grid;
            grid_make(&grid, cells, cells, a, a, 0.25);
            for (int side = 0; side < 4; ++side) {
                grid_clamp(&grid, side, clamped);
            }
            grid_bind(&grid);
            const double q = 1e-6 * D / (a * a * a);
            grid_load_all(&grid, 2, q);
            assert_true(grid_solve(&grid, &law, 1));
            const double w = grid_nearest(&grid, a / 2, a / 2, 2) / (q * a * a * a * a / D);
            const double want = clamped ? 0.0012653 : 0.0040624;
            error[fine] = w / want - 1;
            print_message("%s plate, %d x %d cells: w D / q a^4 = %.6f, closed form %.6f (%+.2f %%)\n",
                          clamped ? "clamped" : "supported", cells, cells, w, want, 100 * error[fine]);
            grid_clear(&grid);
        }
        PL_CHECK_BELOW(fabs(error[1]), 0.035);
        PL_CHECK_BELOW(fabs(error[1]), 0.9 * fabs(error[0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sheet_derivatives), cmocka_unit_test(test_sheet_uniaxial),
        cmocka_unit_test(test_sheet_wrinkles),    cmocka_unit_test(test_layer_derivatives),
        cmocka_unit_test(test_cantilever),        cmocka_unit_test(test_plate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
