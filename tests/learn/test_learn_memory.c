// Recurrent networks and Gaussian processes: gradients against differences, and what each can do that a
// memoryless network or a polynomial cannot.
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "check.h"
#include "learn/learn.h"

// A play operator (backlash of half width 0.3): the output depends on the past of the input.
static void play(int sequences, int length, uint64_t seed, double *x, double *y, int *start)
{
    pl_random random;
    pl_random_seed(&random, seed);
    for (int q = 0; q < sequences; ++q) {
        double u = 0, p = 0, speed = 0;
        start[q] = q * length;
        for (int t = 0; t < length; ++t) {
            speed = 0.8 * speed + pl_random_uniform(&random, -0.25, 0.25);
            u = fmax(-1, fmin(1, u + speed));
            p = fmax(u - 0.3, fmin(u + 0.3, p));
            x[q * length + t] = u;
            y[q * length + t] = 10 * p;
        }
    }

    start[sequences] = sequences * length;
}

static void test_lstm_gradient(void **state)
{
    (void)state;
    double x[40], y[40];
    int start[5];
    play(4, 10, 3, x, y, start);
    pl_error err = {0};
    pl_lstm *m = NULL;
    const pl_lstm_def def = {.input_count = 1, .output_count = 1, .cell_count = 5, .seed = 2};
    PL_CHECK_OK(pl_lstm_create(&def, &m, &err));
    const pl_history data = {.sequence_count = 4, .start = start, .x = x, .y = y, .burn = 2};
    const int P = pl_lstm_weight_count(m);
    double *w = pl_lstm_weights(m), *g = malloc((size_t)P * sizeof *g), loss, worst = 0;
    pl_lstm_get_scale(m).out_width[0] = 4;
    PL_CHECK_OK(pl_lstm_loss(m, &data, 1e-2, &loss, g, &err));
    for (int k = 0; k < P; ++k) {
        double high, low, keep = w[k];
        w[k] = keep + 1e-5;
        PL_CHECK_OK(pl_lstm_loss(m, &data, 1e-2, &high, NULL, &err));
        w[k] = keep - 1e-5;
        PL_CHECK_OK(pl_lstm_loss(m, &data, 1e-2, &low, NULL, &err));
        w[k] = keep;
        worst = fmax(worst, fabs((high - low) / 2e-5 - g[k]));
    }

    print_message("through time against differences: %.2e (allowed 1e-8)\n", worst);
    assert_true(worst < 1e-8);

    // by the input of the present step
    double out, J, high, low;
    const double h = 1e-6;
    for (int side = 0; side < 3; ++side) {
        pl_lstm_reset(m);
        for (int t = 0; t < 5; ++t) {
            const double in = x[t] + (t == 4 ? (side - 1) * h : 0);
            pl_lstm_step(m, &in, side == 0 ? &low : side == 1 ? &out : &high, side == 1 ? &J : NULL);
        }
    }

    PL_CHECK_NEAR((high - low) / (2 * h), J, 1e-8);
    free(g);
    pl_lstm_destroy(m);
}

// Hysteresis: the recurrent network leaves a fraction of what is left by one that sees only the present.
static void test_lstm_remembers(void **state)
{
    (void)state;
    enum { Q = 24, T = 40 };
    static double x[Q * T], y[Q * T];
    int start[Q + 1];
    play(Q, T, 5, x, y, start);
    pl_error err = {0};
    pl_lstm *m = NULL;
    const pl_lstm_def def = {.input_count = 1, .output_count = 1, .cell_count = 8, .seed = 2};
    PL_CHECK_OK(pl_lstm_create(&def, &m, &err));
    const pl_history data = {.sequence_count = Q, .start = start, .x = x, .y = y};
    pl_train_options o = pl_train_options_default();
    o.epoch_limit = 150;
    o.rate = 0.02;
    o.patience = 0;
    pl_train_report report, plain;
    PL_CHECK_OK(pl_lstm_train(m, &data, &o, NULL, &report, &err));
    pl_network *n = NULL;
    const pl_network_def flat = {
        .input_count = 1, .output_count = 1, .layer_count = 1, .width = {10}, .seed = 1};
    PL_CHECK_OK(pl_network_create(&flat, &n, &err));
    const pl_learn_data memoryless = {.count = Q * T, .x = x, .y = y};
    o = pl_train_options_default();
    o.epoch_limit = 100;
    PL_CHECK_OK(pl_network_train(n, &memoryless, &o, NULL, &plain, &err));
    print_message("hysteresis, held out, scaled: with memory %.3f, without %.3f\n", report.held_rms,
                  plain.held_rms);
    assert_true(report.held_rms < 0.4 * plain.held_rms);
    pl_network_destroy(n);
    pl_lstm_destroy(m);
}

static void test_gp_gradient(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 4);
    double x[24], y[24], p[3] = {-0.2, 0.4, -5}, g[3], value, high, low, none[3];
    for (int s = 0; s < 12; ++s) {
        x[2 * s] = pl_random_uniform(&random, 0, 4);
        x[2 * s + 1] = pl_random_uniform(&random, -1, 1);
        y[2 * s] = sin(x[2 * s]) + x[2 * s + 1];
        y[2 * s + 1] = 5 * x[2 * s] * x[2 * s + 1];
    }

    pl_error err = {0};
    PL_CHECK_OK(pl_gp_likelihood(x, y, 12, 2, 2, 0.5, p, &value, g, &err));
    for (int k = 0; k < 3; ++k) {
        const double keep = p[k];
        p[k] = keep + 1e-5;
        PL_CHECK_OK(pl_gp_likelihood(x, y, 12, 2, 2, 0.5, p, &high, none, &err));
        p[k] = keep - 1e-5;
        PL_CHECK_OK(pl_gp_likelihood(x, y, 12, 2, 2, 0.5, p, &low, none, &err));
        p[k] = keep;
        PL_CHECK_NEAR((high - low) / 2e-5, g[k], 1e-6 * (1 + fabs(g[k])));
    }
}

// Mean and derivative, error bars that cover the truth, and proposals far from the samples.
static void test_gp(void **state)
{
    (void)state;
    enum { N = 60, M = 200 };
    pl_random random;
    pl_random_seed(&random, 6);
    double x[2 * N], y[N], at[2], mean, J[2], dev, high, low;
    for (int s = 0; s < N; ++s) {
        x[2 * s] = pl_random_uniform(&random, 0, 2); // nothing was measured beyond 2
        x[2 * s + 1] = pl_random_uniform(&random, -1, 1);
        y[s] = 3 * sin(2 * x[2 * s]) * cos(x[2 * s + 1]) + pl_random_uniform(&random, -0.05, 0.05);
    }

    pl_error err = {0};
    pl_gp *gp = NULL, *again = NULL;
    const pl_gp_options o = pl_gp_options_default();
    PL_CHECK_OK(pl_gp_fit(x, y, N, 2, 1, &o, &gp, &err));
    int covered = 0;
    double square = 0;
    for (int s = 0; s < M; ++s) {
        at[0] = pl_random_uniform(&random, 0, 2);
        at[1] = pl_random_uniform(&random, -1, 1);
        pl_gp_evaluate(gp, at, &mean, NULL, &dev);
        const double e = mean - 3 * sin(2 * at[0]) * cos(at[1]);
        square += e * e / M;
        covered += fabs(e) < 2 * dev;
    }

    const pl_gp_view view = pl_gp_get_view(gp);
    print_message("gp: error %.4f rms, %d %% within two deviations, lengths %.2f %.2f noise %.4f\n",
                  sqrt(square), 100 * covered / M, view.length[0], view.length[1],
                  sqrt(view.noise * view.variance[0]));
    assert_true(sqrt(square) < 0.06);
    assert_true(covered > 0.85 * M);
    at[0] = 1.1;
    at[1] = 0.3;
    pl_gp_evaluate(gp, at, &mean, J, &dev);
    for (int i = 0; i < 2; ++i) {
        const double keep = at[i];
        at[i] = keep + 1e-5;
        pl_gp_evaluate(gp, at, &high, NULL, NULL);
        at[i] = keep - 1e-5;
        pl_gp_evaluate(gp, at, &low, NULL, NULL);
        at[i] = keep;
        PL_CHECK_NEAR((high - low) / 2e-5, J[i], 1e-5);
    }

    PL_CHECK_OK(pl_gp_restore(&view, &again, &err));
    pl_gp_evaluate(again, at, &high, NULL, &low);
    PL_CHECK_NEAR(high, mean, 1e-10);
    PL_CHECK_NEAR(low, dev, 1e-10);

    // the first proposal lies where nothing was measured, the second elsewhere
    double candidate[2 * M];
    int pick[3];
    for (int s = 0; s < M; ++s) {
        candidate[2 * s] = pl_random_uniform(&random, 0, 4);
        candidate[2 * s + 1] = pl_random_uniform(&random, -1, 1);
    }

    PL_CHECK_OK(pl_gp_propose(gp, candidate, M, 3, pick, &err));
    assert_true(candidate[2 * pick[0]] > 3);
    assert_true(pick[0] != pick[1] && pick[1] != pick[2] && pick[0] != pick[2]);
    pl_gp_destroy(gp);
    pl_gp_destroy(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lstm_gradient),
                                       cmocka_unit_test(test_lstm_remembers),
                                       cmocka_unit_test(test_gp_gradient), cmocka_unit_test(test_gp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
