// Networks: analytic derivatives against differences, training laws, refusals.
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "check.h"
#include "learn/learn.h"

static pl_network *kinked(int in, int out, int layers, int width, pl_activation f, bool skip, uint64_t seed,
                          uint64_t kinks)
{
    pl_network_def def = {.input_count = in,
                          .output_count = out,
                          .layer_count = layers,
                          .activation = f,
                          .skip = skip,
                          .kinks = kinks,
                          .seed = seed};
    for (int l = 0; l < layers; ++l) {
        def.width[l] = width + l;
    }

    pl_network *n = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_network_create(&def, &n, &err));

    return n;
}

static pl_network *network(int in, int out, int layers, int width, pl_activation f, bool skip, uint64_t seed)
{
    return kinked(in, out, layers, width, f, skip, seed, 0);
}

// A smooth map of three inputs to three outputs, and its derivative.
static void target(const double *x, double *y, double *J)
{
    const double a = x[0], b = x[1], c = x[2];
    y[0] = 40 * sin(0.8 * a) * cos(0.5 * b) + 3 * c;
    y[1] = 20 * b * exp(-0.3 * c) + a * a;
    y[2] = 100 + 10 * cos(a + b * c);
    if (J) {
        J[0] = 32 * cos(0.8 * a) * cos(0.5 * b);
        J[1] = -20 * sin(0.8 * a) * sin(0.5 * b);
        J[2] = 3;
        J[3] = 2 * a;
        J[4] = 20 * exp(-0.3 * c);
        J[5] = -6 * b * exp(-0.3 * c);
        J[6] = -10 * sin(a + b * c);
        J[7] = -10 * c * sin(a + b * c);
        J[8] = -10 * b * sin(a + b * c);
    }
}

typedef struct sample_set {
    double *x, *y, *J;
    int count;
} sample_set;

static sample_set samples(int count, uint64_t seed)
{
    sample_set s = {malloc((size_t)count * 3 * 8), malloc((size_t)count * 3 * 8),
                    malloc((size_t)count * 9 * 8), count};
    pl_random random;

    pl_random_seed(&random, seed);
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < 3; ++i) {
            s.x[3 * k + i] = pl_random_uniform(&random, -1, 1.5);
        }
        target(s.x + 3 * k, s.y + 3 * k, s.J + 9 * k);
    }

    return s;
}

static void samples_clear(sample_set *s)
{
    free(s->x);
    free(s->y);
    free(s->J);
}

// dy/dx of every activation, and of networks without hidden layers, against central differences.
static void test_jacobian(void **state)
{
    (void)state;
    double worst = 0;
    for (int f = 0; f < PL_ACTIVATION_COUNT; ++f) {
        for (int layers = 0; layers <= 3; ++layers) {
            for (int in = 2; in <= 3; ++in) { // 3: the specialised loop
                pl_network *n =
                    kinked(in, 2, layers, 7, f, layers % 2 == 0, 5, layers < 2 ? 0 : 7u >> in % 2);
                const pl_network_scale c = pl_network_get_scale(n);
                c.in_mid[0] = 0.3;
                c.in_width[1] = 2;
                c.out_width[0] = 7;
                c.out_mid[1] = -4;
                double x[3] = {0.4, -0.9, 0.2}, y[2], J[6], low[2], high[2];
                pl_network_evaluate(n, x, y, J);
                pl_network_evaluate(n, x, low, NULL);
                assert_true(low[0] == y[0] && low[1] == y[1]);
                for (int i = 0; i < in; ++i) {
                    const double h = 1e-5, keep = x[i];
                    x[i] = keep + h;
                    pl_network_evaluate(n, x, high, NULL);
                    x[i] = keep - h;
                    pl_network_evaluate(n, x, low, NULL);
                    x[i] = keep;
                    for (int o = 0; o < 2; ++o) {
                        const double d = (high[o] - low[o]) / (2 * h);
                        worst = fmax(worst, fabs(d - J[o * in + i]) / (1 + fabs(d)));
                    }
                }
                pl_network_destroy(n);
            }
        }
    }

    print_message("dy/dx against differences: %.2e (allowed 1e-8)\n", worst);
    assert_true(worst < 1e-8);
}

// y = |x| + x^2 / 4 has a kink: every trainer fits value and derivative to round-off or nearly so with it,
// and the derivative jumps from -1 to 1. Without it the best network is far off.
static void test_kink(void **state)
{
    (void)state;
    double x[40], y[40], J[40];
    for (int k = 0; k < 40; ++k) {
        x[k] = -1.9 + 0.1 * k + 0.013;
        y[k] = fabs(x[k]) + x[k] * x[k] / 4;
        J[k] = (x[k] < 0 ? -1 : 1) + x[k] / 2;
    }

    const pl_learn_data data = {.count = 40, .x = x, .y = y, .jacobian = J};
    double jump[2];
    for (int with = 0; with < 2; ++with) {
        pl_network *n = kinked(1, 1, 1, 6, PL_TANSIG, true, 3, (uint64_t)with);
        pl_train_options o = pl_train_options_default();
        pl_train_report r;
        pl_error err = {0};
        o.held_share = 0;
        o.epoch_limit = 60;
        PL_CHECK_OK(pl_network_train(n, &data, &o, NULL, &r, &err));
        double left, right;
        pl_network_evaluate(n, (double[]){-1e-9}, NULL, &left);
        pl_network_evaluate(n, (double[]){1e-9}, NULL, &right);
        jump[with] = right - left;
        print_message("kink %d: rms %.1e, derivative jumps by %.4f (2)\n", with, r.train_rms, jump[with]);
        assert_true(with ? r.train_rms < 1e-3 : r.train_rms > 1e-3);
        pl_network_destroy(n);
    }

    assert_true(fabs(jump[0]) < 1e-3 && fabs(jump[1] - 2) < 1e-2);
}

// The gradient of the loss with derivatives in it by every weight.
static void test_loss_gradient(void **state)
{
    (void)state;
    sample_set s = samples(9, 3);
    const pl_learn_data data = {.count = s.count, .x = s.x, .y = s.y, .jacobian = s.J};
    pl_error err = {0};
    double worst = 0;
    for (int f = 0; f < PL_ACTIVATION_COUNT; ++f) {
        pl_network *n = kinked(3, 3, 2, 5, f, true, 11, f % 2 ? 6 : 0);
        PL_CHECK_OK(pl_network_fit_scale(n, &data, &err));
        const int P = pl_network_weight_count(n);
        double *w = pl_network_weights(n), *g = malloc((size_t)P * sizeof *g), loss;
        PL_CHECK_OK(pl_network_loss(n, &data, 0.7, 1e-2, &loss, g, &err));
        for (int k = 0; k < P; ++k) {
            double high, low, keep = w[k];
            w[k] = keep + 1e-5;
            PL_CHECK_OK(pl_network_loss(n, &data, 0.7, 1e-2, &high, NULL, &err));
            w[k] = keep - 1e-5;
            PL_CHECK_OK(pl_network_loss(n, &data, 0.7, 1e-2, &low, NULL, &err));
            w[k] = keep;
            worst = fmax(worst, fabs((high - low) / 2e-5 - g[k]) / (1 + fabs(g[k])));
        }
        free(g);
        pl_network_destroy(n);
    }

    print_message("d loss / d weights against differences: %.2e (allowed 1e-8)\n", worst);
    assert_true(worst < 1e-8);
    samples_clear(&s);
}

static double held_error(pl_network *n, uint64_t seed)
{
    sample_set s = samples(500, seed);
    double sum = 0;

    for (int k = 0; k < s.count; ++k) {
        double y[3];
        pl_network_evaluate(n, s.x + 3 * k, y, NULL);
        for (int i = 0; i < 3; ++i) {
            sum += (y[i] - s.y[3 * k + i]) * (y[i] - s.y[3 * k + i]) / s.count;
        }
    }

    samples_clear(&s);
    return sqrt(sum);
}

// All three trainers learn the map; with derivatives far better from the same few samples.
static void test_trainers(void **state)
{
    (void)state;
    sample_set s = samples(60, 1);
    pl_error err = {0};
    double error[PL_TRAINER_COUNT][2];
    for (int t = 0; t < PL_TRAINER_COUNT; ++t) {
        for (int slopes = 0; slopes < 2; ++slopes) {
            pl_network *n = network(3, 3, 2, 12, PL_TANSIG, true, 2);
            const pl_learn_data data = {
                .count = s.count, .x = s.x, .y = s.y, .jacobian = slopes ? s.J : NULL};
            pl_train_options o = pl_train_options_default();
            o.trainer = t;
            o.epoch_limit = t == PL_LEVENBERG ? 60 : 600;
            o.patience = 0;
            o.batch = 14;
            o.rate = 0.01;
            pl_train_report report;
            bool held[60];
            PL_CHECK_OK(pl_network_train(n, &data, &o, held, &report, &err));
            int out = 0;
            for (int k = 0; k < 60; ++k) {
                out += held[k];
            }
            assert_int_equal(out, 18);
            assert_int_equal(report.train_count, 42);
            error[t][slopes] = held_error(n, 77);
            print_message("%s %s derivatives: %.4f mm after %d epochs\n", pl_trainer_name(t),
                          slopes ? "with" : "without", error[t][slopes], report.epochs);
            pl_network_destroy(n);
        }
        assert_true(error[t][1] < 0.5 * error[t][0]);
    }

    samples_clear(&s);
}

// Levenberg-Marquardt converges fast only with exact rows, of values and of derivatives.
static void test_levenberg(void **state)
{
    (void)state;
    sample_set s = samples(150, 1);
    pl_error err = {0};
    pl_network *n = network(3, 3, 2, 12, PL_TANSIG, true, 2);
    const pl_learn_data data = {.count = s.count, .x = s.x, .y = s.y, .jacobian = s.J};
    pl_train_options o = pl_train_options_default();
    o.trainer = PL_LEVENBERG;
    o.epoch_limit = 80;
    pl_train_report report;
    PL_CHECK_OK(pl_network_train(n, &data, &o, NULL, &report, &err));
    const double error = held_error(n, 77);
    print_message("150 samples with derivatives: %.5f of 60 mm (allowed 0.15)\n", error);
    assert_true(error < 0.15);
    pl_network_destroy(n);
    samples_clear(&s);
}

// The same seed gives the same weights to the last bit; another seed does not.
static void test_seeds(void **state)
{
    (void)state;
    sample_set s = samples(40, 1);
    const pl_learn_data data = {.count = s.count, .x = s.x, .y = s.y, .jacobian = s.J};
    pl_error err = {0};
    double first[3][3];
    for (int run = 0; run < 3; ++run) {
        pl_network *n = network(3, 3, 1, 8, PL_TANSIG, false, run < 2 ? 4 : 5);
        pl_train_options o = pl_train_options_default();
        o.trainer = PL_ADAM;
        o.epoch_limit = 5;
        pl_train_report report;
        PL_CHECK_OK(pl_network_train(n, &data, &o, NULL, &report, &err));
        pl_network_evaluate(n, s.x, first[run], NULL);
        pl_network_destroy(n);
    }

    assert_memory_equal(first[0], first[1], sizeof first[0]);
    assert_true(first[0][0] != first[2][0]);
    samples_clear(&s);
}

typedef struct stop {
    int epochs;
    double best;
} stop;
static bool stop_step(void *user, double fraction, const char *what)
{
    stop *s = user;
    (void)fraction;
    (void)what;
    return ++s->epochs < 7;
}
static void stop_record(void *user, int epoch, double train, double held)
{
    stop *s = user;
    (void)epoch;
    (void)train;
    s->best = fmin(s->best, held);
}

// An interrupted training returns the weights with the smallest held-out error seen.
static void test_interrupt(void **state)
{
    (void)state;
    sample_set s = samples(60, 1);
    const pl_learn_data data = {.count = s.count, .x = s.x, .y = s.y};
    pl_error err = {0};
    pl_network *n = network(3, 3, 2, 12, PL_TANSIG, false, 2);
    stop seen = {.best = INFINITY};
    pl_train_options o = pl_train_options_default();
    o.trainer = PL_ADAM;
    o.rate = 0.3; // restless: the last epoch is not the best
    o.progress = (pl_progress){stop_step, &seen};
    o.record = stop_record;
    o.user = &seen;
    pl_train_report report;
    PL_CHECK_OK(pl_network_train(n, &data, &o, NULL, &report, &err));
    assert_int_equal(report.outcome, PL_TRAIN_STOPPED);
    assert_int_equal(report.epochs, 7);
    PL_CHECK_NEAR(report.held_rms, seen.best, 1e-12);
    pl_network_destroy(n);
    samples_clear(&s);
}

// Early stopping: on noise the held-out error has a minimum, and training ends after it.
static void test_patience(void **state)
{
    (void)state;
    sample_set s = samples(50, 1);
    pl_random random;
    pl_random_seed(&random, 8);
    for (int k = 0; k < 150; ++k) {
        s.y[k] = pl_random_uniform(&random, -1, 1);
    }

    const pl_learn_data data = {.count = s.count, .x = s.x, .y = s.y};
    pl_error err = {0};
    pl_network *n = network(3, 3, 2, 15, PL_TANSIG, false, 2);
    pl_train_options o = pl_train_options_default();
    o.trainer = PL_LEVENBERG;
    o.patience = 10;
    o.epoch_limit = 300;
    pl_train_report report;
    PL_CHECK_OK(pl_network_train(n, &data, &o, NULL, &report, &err));
    print_message("noise: %s after %d epochs, best %d, train %.3f held %.3f\n",
                  pl_train_outcome_name(report.outcome), report.epochs, report.best_epoch, report.train_rms,
                  report.held_rms);
    assert_int_equal(report.outcome, PL_TRAIN_PATIENCE);
    assert_true(report.epochs < 60);
    pl_network_destroy(n);
    samples_clear(&s);
}

static void test_refusals(void **state)
{
    (void)state;
    sample_set s = samples(10, 1);
    pl_error err = {0};
    pl_network *n = NULL;
    pl_network_def bad = {.input_count = 3, .output_count = 0};
    assert_int_equal(pl_network_create(&bad, &n, &err), PL_BAD_INPUT);
    assert_null(n);
    n = network(3, 3, 1, 8, PL_TANSIG, false, 4);
    pl_train_options o = pl_train_options_default();
    pl_train_report report;
    pl_learn_data data = {.count = 3, .x = s.x, .y = s.y};
    assert_int_equal(pl_network_train(n, &data, &o, NULL, &report, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "3 samples"));
    data.count = 10;
    s.y[7 * 3 + 1] = NAN;
    assert_int_equal(pl_network_train(n, &data, &o, NULL, &report, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "sample 8"));
    s.y[7 * 3 + 1] = 0;
    for (int k = 0; k < 10; ++k) {
        s.y[3 * k] = 5;
    }
    assert_int_equal(pl_learn_constant_outputs(&data, 3), 1);
    o.rate = NAN;
    assert_int_equal(pl_network_train(n, &data, &o, NULL, &report, &err), PL_BAD_INPUT);
    pl_network_destroy(n);
    samples_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_jacobian),      cmocka_unit_test(test_kink),
                                       cmocka_unit_test(test_loss_gradient), cmocka_unit_test(test_trainers),
                                       cmocka_unit_test(test_levenberg),     cmocka_unit_test(test_seeds),
                                       cmocka_unit_test(test_interrupt),     cmocka_unit_test(test_patience),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
