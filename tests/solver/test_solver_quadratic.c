// Small quadratic problems: against the best of all active sets, tried one by one.
#include <math.h>
#include <stdlib.h>
#include "check.h"
#include "solver/solver.h"

#define N 3

static double unit(void)
{
    return 2 * (rand() / (double)RAND_MAX) - 1;
}

static double quadratic_value(const double *H, const double *g, const double *p)
{
    double sum = 0;
    for (int i = 0; i < N; ++i) {
        sum += g[i] * p[i];
        for (int j = 0; j < N; ++j) {
            sum += 0.5 * p[i] * H[i * N + j] * p[j];
        }
    }

    return sum;
}

// Each variable free, at its lower or at its upper bound: 27 linear systems, the best feasible one.
static double enumerated(const double *H, const double *g, const double *low, const double *high)
{
    double best = INFINITY;
    for (int set = 0; set < 27; ++set) {
        const int side[N] = {set % 3, set / 3 % 3, set / 9};
        double A[N * N], p[N];
        bool feasible = true;
        for (int i = 0; i < N; ++i) {
            for (int j = 0; j < N; ++j) {
                A[i * N + j] = side[i] == 0 ? H[i * N + j] : i == j;
            }
            p[i] = side[i] == 0 ? -g[i] : side[i] == 1 ? low[i] : high[i];
        }
        feasible = pl_dense_solve(N, A, p, 1);
        for (int i = 0; feasible && i < N; ++i) {
            feasible = p[i] >= low[i] - 1e-12 && p[i] <= high[i] + 1e-12;
        }
        best = feasible ? fmin(best, quadratic_value(H, g, p)) : best;
    }

    return best;
}

static void test_against_enumeration(void **state)
{
    (void)state;
    pl_quadratic *q = pl_quadratic_create(N, 0);
    assert_non_null(q);
    srand(7);
    double worst = 0;
    int bound = 0;
    for (int trial = 0; trial < 500; ++trial) {
        double B[N * N], H[N * N], g[N], low[N], high[N], p[N], box[N];
        for (int i = 0; i < N * N; ++i) {
            B[i] = unit();
        }
        for (int i = 0; i < N * N; ++i) {
            H[i] = i % (N + 1) == 0 ? 0.01 : 0;
            for (int k = 0; k < N; ++k) {
                H[i] += B[k * N + i / N] * B[k * N + i % N];
            }
        }
        for (int i = 0; i < N; ++i) {
            g[i] = 3 * unit();
            low[i] = -fabs(unit());
            high[i] = fabs(unit());
        }
        const pl_quadratic_problem problem = {
            .n = N, .H = H, .g = g, .low = low, .high = high, .p = p, .box = box};
        assert_true(pl_quadratic_solve(q, &problem));
        for (int i = 0; i < N; ++i) {
            assert_true(p[i] >= low[i] && p[i] <= high[i]);
            bound += box[i] != 0;
            // a multiplier pushes back from the side it is at
            assert_true(box[i] == 0 || fabs(p[i] - (box[i] > 0 ? high[i] : low[i])) < 1e-12);
        }
        worst = fmax(worst, quadratic_value(H, g, p) - enumerated(H, g, low, high));
    }

    print_message("500 problems, %d active bounds: at most %.1e above the best active set\n", bound, worst);
    assert_true(bound > 300);
    PL_CHECK_NEAR(worst, 0, 1e-11);
    pl_quadratic_destroy(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_enumeration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
