// Laws of actuation elements that grow: derivatives against central differences, with one ratio for all and
// with the ratios of least energy; those against closed forms.
#include <stdlib.h>
#include "check.h"
#include "actuator/actuator.h"

#define VERTICES 7
#define UNKNOWNS (3 * VERTICES)

// Three tets on a common edge (scaled or films), or three triangles.
static const int32_t cell[3][4] = {{0, 1, 2, 3}, {0, 1, 3, 4}, {0, 1, 4, 5}};
static const double rest[UNKNOWNS] = {0,   0,  0,   0.2, 0.1,  1,  1,   0, 0, 0.3, 1,
                                      0.1, -1, 0.4, 0,   -0.5, -1, 0.2, 0, 0, 2};

static double tet_gradients(const int32_t node[4], double g[12])
{
    double e[9], C[9];
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) {
            e[3 * i + j] = rest[3 * node[j + 1] + i] - rest[3 * node[0] + i];
        }
    }

    pl_cofactor3(e, C);
    const double det = pl_dot3(e, C);
    for (int i = 0; i < 3; ++i) {
        g[i] = 0;
        for (int j = 0; j < 3; ++j) {
            g[3 * (j + 1) + i] = C[3 * i + j] / det;
            g[i] -= g[3 * (j + 1) + i];
        }
    }

    return det / 6;
}

static void add_triangle(pl_functional *h, const int32_t node[3], double weight)
{
    double p[3][3], g[3][2], area, gradient[9] = {0};
    for (int a = 0; a < 3; ++a) {
        memcpy(p[a], rest + 3 * node[a], sizeof p[a]);
    }

    const double length = pl_triangle_gradient((const double(*)[3])p, g, &area);
    for (int a = 0; a < 3; ++a) {
        gradient[3 * a] = g[a][0];
        gradient[3 * a + 1] = g[a][1];
    }

    weight *= area;
    assert_int_equal(
        pl_functional_add_grown(h, PL_GROWN_TRIANGLE, 3, node, 1, &weight, &length, NULL, NULL, gradient),
        PL_OK);
}

static pl_functional body(pl_grown_kind kind)
{
    pl_functional h = {0};
    for (int t = 0; t < 3; ++t) {
        if (kind == PL_GROWN_TRIANGLE) {
            add_triangle(&h, cell[t] + (t == 2), 1.5 + t);
            continue;
        }
        double gradient[12], n[3] = {0.36, 0.48, 0.8};
        const double volume = tet_gradients(cell[t], gradient), weight = (1.5 + t) * volume;
        assert_int_equal(
            pl_functional_add_grown(&h, kind, 4, cell[t], 1, &weight, &volume, n, NULL, gradient), PL_OK);
    }

    return h;
}

static void moved(double *x)
{
    pl_random random;
    pl_random_seed(&random, 5);
    for (int i = 0; i < UNKNOWNS; ++i) {
        x[i] = rest[i] + pl_random_uniform(&random, -0.12, 0.12);
    }
}

// All second derivatives, the row that the ratios share included.
static void tangent(const pl_functional *h, const double *x, double K[UNKNOWNS][UNKNOWNS])
{
    memset(K, 0, sizeof(double[UNKNOWNS][UNKNOWNS]));
    for (int t = 0; t < h->piece_count; ++t) {
        const pl_piece *piece = &h->piece[t];
        const int m = 3 * piece->node_count;
        double H[144];
        pl_functional_hessian(h, t, x, 1, H);
        for (int r = 0; r < m; ++r) {
            for (int c = 0; c < m; ++c) {
                K[3 * h->node[piece->node_start + r / 3] + r % 3]
                 [3 * h->node[piece->node_start + c / 3] + c % 3] += H[r * m + c];
            }
        }
    }

    if (h->joint) {
        double row[UNKNOWNS] = {0};
        const double by_pull = pl_grown_row(h, x, 1, row);
        for (int r = 0; r < UNKNOWNS; ++r) {
            for (int c = 0; c < UNKNOWNS; ++c) {
                K[r][c] += row[r] * row[c] / by_pull;
            }
        }
    }
}

static double energy(pl_functional *h, const double *x, double target, double *g)
{
    if (h->joint) {
        assert_true(pl_grown_meet(h, x, target));
    }
    memset(g, 0, UNKNOWNS * sizeof *g);
    pl_functional_gradient(h, x, 1, g);
    return pl_functional_value(h, x);
}

static void check_positions(pl_functional *h, double target)
{
    double x[UNKNOWNS], g[UNKNOWNS], plus[UNKNOWNS], minus[UNKNOWNS];
    static double K[UNKNOWNS][UNKNOWNS];

    moved(x);
    energy(h, x, target, g);
    tangent(h, x, K);
    for (int j = 0; j < UNKNOWNS; ++j) {
        const double keep = x[j], step = 1e-5;
        x[j] = keep + step;
        const double up = energy(h, x, target, plus);
        x[j] = keep - step;
        const double down = energy(h, x, target, minus);
        x[j] = keep;
        PL_CHECK_NEAR(g[j], (up - down) / (2 * step), 1e-8);
        for (int i = 0; i < UNKNOWNS; ++i) {
            PL_CHECK_NEAR(K[i][j], (plus[i] - minus[i]) / (2 * step), 2e-8);
        }
    }
}

static void test_one_ratio(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        pl_functional h = body((pl_grown_kind)kind);
        const double ratio = 1.3, step = 1e-5;
        double x[UNKNOWNS], g[UNKNOWNS] = {0}, plus[UNKNOWNS], minus[UNKNOWNS], rate[2], up[2], down[2];
        pl_grown_set(&h, ratio);
        check_positions(&h, NAN);
        moved(x);
        pl_grown_rate(&h, x, rate, 1, g);
        pl_grown_set(&h, ratio + step);
        const double high = energy(&h, x, NAN, plus);
        pl_grown_rate(&h, x, up, 1, NULL);
        pl_grown_set(&h, ratio - step);
        const double low = energy(&h, x, NAN, minus);
        pl_grown_rate(&h, x, down, 1, NULL);
        PL_CHECK_NEAR(rate[0], (high - low) / (2 * step), 1e-8);
        PL_CHECK_NEAR(rate[1], (up[0] - down[0]) / (2 * step), 1e-8);
        for (int i = 0; i < UNKNOWNS; ++i) {
            PL_CHECK_NEAR(g[i], (plus[i] - minus[i]) / (2 * step), 1e-8);
        }
        pl_functional_clear(&h);
    }
}

static void test_ratios_of_least_energy(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        pl_functional h = body((pl_grown_kind)kind);
        h.joint = true;
        const double whole = pl_grown_whole(&h), target = 1.25 * whole, step = 1e-5 * whole;
        double x[UNKNOWNS], g[UNKNOWNS];
        check_positions(&h, target);
        // the pull is the derivative of the least energy by the target
        moved(x);
        const double high = energy(&h, x, target + step, g), low = energy(&h, x, target - step, g);
        energy(&h, x, target, g);
        PL_CHECK_NEAR(h.pull, (high - low) / (2 * step), 1e-7);
        // moving measure from one element to the next costs energy
        const double least = pl_functional_value(&h, x), d = 1e-3;
        const int size = (int)h.piece[1].data_start;
        const double *share = h.data + 1; // of the first element; the ratio is the third number
        double *first = h.data + 2, *second = h.data + size + 2;
        for (int sign = -1; sign < 2; sign += 2) {
            *first += sign * d;
            *second -= sign * d * share[0] / share[size];
            assert_true(pl_functional_value(&h, x) > least + 1e-8);
            *first -= sign * d;
            *second += sign * d * share[0] / share[size];
        }
        pl_functional_clear(&h);
    }
}

// Two tets of equal volume, stretched uniformly by t_1 and t_2: g_i = 2 t_i / (1 + sqrt(1 - 2 pull t_i / 3
// w)) with w the weight over the share; asked for more than e_rr > 0 allows there is no answer.
static void test_scaled_closed_form(void **state)
{
    (void)state;
    pl_functional h = {.joint = true};
    double gradient[12], x[UNKNOWNS];
    const double volume = tet_gradients(cell[0], gradient), w = 2.5, weight = w * volume;
    const int32_t second[4] = {3, 4, 5, 6};
    assert_int_equal(
        pl_functional_add_grown(&h, PL_GROWN_SCALED, 4, cell[0], 1, &weight, &volume, NULL, NULL, gradient),
        PL_OK);

    // the second one has the same gradients: its vertices are those of the first, moved
    assert_int_equal(
        pl_functional_add_grown(&h, PL_GROWN_SCALED, 4, second, 1, &weight, &volume, NULL, NULL, gradient),
        PL_OK);
    const double t[2] = {1, 1.3};
    memcpy(x, rest, sizeof x);
    for (int i = 0; i < 12; ++i) {
        // vertex 3 belongs to both: all of the second tet is moved along with it
        x[9 + i] = rest[9 + i % 3] + t[1] * (rest[i] - rest[i % 3]);
    }

    const double target = 2.4 * volume;
    assert_true(pl_grown_meet(&h, x, target));
    double sum = 0;
    for (int k = 0; k < 2; ++k) {
        const double g = 2 * t[k] / (1 + sqrt(1 - 2 * h.pull * t[k] / w));
        sum += volume * g * g * g;
        PL_CHECK_NEAR(h.data[h.piece[k].data_start + 2], g * g * g, 1e-11);
    }

    PL_CHECK_NEAR(sum, target, 1e-11);
    assert_false(pl_grown_meet(&h, x, 40 * volume));
    assert_true(pl_grown_meet(&h, x, target));
    pl_functional_clear(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_ratio),
        cmocka_unit_test(test_ratios_of_least_energy),
        cmocka_unit_test(test_scaled_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
