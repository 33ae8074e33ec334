// Learned models against a model with closed-form answers: values, derivatives, estimates, fallback, inverse,
// adaptation.
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "check.h"
#include "pliant/learned.h"
#include "learned/learned.h"

// ---- a robot in closed form: an arc of 100 mm that bends in two planes and stretches
enum { C = 3 };
static const pl_command_info commands[C] = {
    {.name = "a", .range = {-1, 1}, .has_range = true, .drive = PL_DRIVE_LENGTH_RATIO, .span = {-1, 1}},
    {.name = "b", .range = {-1, 1}, .has_range = true, .drive = PL_DRIVE_LENGTH_RATIO, .span = {-1, 1}},
    {.name = "s", .range = {0, 0.3}, .has_range = true, .drive = PL_DRIVE_LENGTH_RATIO, .span = {0, 0.3}}};
static const char *const markers[1] = {"tip"};
static const double marker_at[3] = {0, 0, 100};

static void arc_pose(const double *c, double *p, double *R)
{
    const double t = sqrt(c[0] * c[0] + c[1] * c[1] + 1e-12), L = 100 * (1 + c[2]);
    const double u = c[0] / t, v = c[1] / t, side = L * (1 - cos(t)) / t;

    p[0] = u * side;
    p[1] = v * side;
    p[2] = L * sin(t) / t;

    // rotation by t about (-v, u, 0)
    const double k[3] = {-v, u, 0}, cs = cos(t), sn = sin(t);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const double cross[3][3] = {{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}};
            R[3 * i + j] = (i == j ? cs : 0) + (1 - cs) * k[i] * k[j] + sn * cross[i][j];
        }
    }
}

static pl_dataset arcs(int count, uint64_t seed)
{
    pl_dataset d = {.planned = count, .count = count};
    pl_error err = {0};
    const pl_model_info info = {.name = "arc",
                                .kind = "closed",
                                .method = "closed",
                                .hash = 7,
                                .command_count = C,
                                .command = commands,
                                .marker_count = 1,
                                .marker_name = markers,
                                .marker_at = marker_at,
                                .size = 100};

    PL_CHECK_OK(pl_about_copy(&info, &d.about, &err));
    const size_t n = (size_t)count;
    d.command = pl_alloc(n * C * 8);
    d.marker = pl_alloc(n * 3 * 8);
    d.rotation = pl_alloc(n * 9 * 8);
    d.sensor = pl_alloc(8);
    d.effort = pl_alloc(8);
    d.measure = pl_alloc(8);
    d.energy = pl_alloc(n * 8);
    d.d_marker = pl_alloc(n * 3 * C * 8);
    d.d_rotation = pl_alloc(n * 3 * C * 8);
    d.d_sensor = pl_alloc(8);
    d.d_effort = pl_alloc(8);
    d.d_measure = pl_alloc(8);
    d.d_energy = pl_alloc(n * C * 8);
    pl_random random;
    pl_random_seed(&random, seed);
    for (int s = 0; s < count; ++s) {
        double *c = d.command + C * s;
        for (int i = 0; i < C; ++i) {
            c[i] = pl_random_uniform(&random, commands[i].range[0], commands[i].range[1]);
        }
        arc_pose(c, d.marker + 3 * s, d.rotation + 9 * s);
        d.energy[s] = c[0] * c[0] + c[1] * c[1] + 3 * c[2];
        for (int i = 0; i < C; ++i) { // labels by fine differences: exact enough
            const double h = 1e-6, keep = c[i];
            double p[2][3], R[2][9], W[9] = {0};
            c[i] = keep + h;
            arc_pose(c, p[1], R[1]);
            c[i] = keep - h;
            arc_pose(c, p[0], R[0]);
            c[i] = keep;
            const double *Q = d.rotation + 9 * s;
            for (int r = 0; r < 3; ++r) {
                d.d_marker[(3 * s + r) * C + i] = (p[1][r] - p[0][r]) / (2 * h);
                for (int k = 0; k < 3; ++k) {
                    for (int j = 0; j < 3; ++j) {
                        W[3 * r + k] += (R[1][3 * r + j] - R[0][3 * r + j]) / (2 * h) * Q[3 * k + j];
                    }
                }
            }
            const double w[3] = {W[7], W[2], W[3]};
            for (int r = 0; r < 3; ++r) {
                d.d_rotation[(3 * s + r) * C + i] = w[r];
            }
            d.d_energy[s * C + i] = i < 2 ? 2 * c[i] : 3;
        }
    }

    return d;
}

static pl_learned *fitted(int count, unsigned more, double *error)
{
    pl_dataset d = arcs(count, 1);
    pl_learned_options o = pl_learned_options_default();

    o.network.width[0] = o.network.width[1] = 14;
    o.train.epoch_limit = 25;
    o.parts |= more;
    pl_learned *l = NULL;
    pl_learned_report r;
    pl_error err = {0};
    PL_CHECK_OK(pl_learned_fit(&d, &o, &l, &r, &err));
    print_message("%d samples: position %.4f mm rms, %.4f at most of %.0f mm; rotation %.2e rad\n", count,
                  r.part[0].rms, r.part[0].largest, r.width, r.part[1].rms);
    *error = r.part[0].largest;
    pl_dataset_clear(&d);

    return l;
}

// The full model for fallback and checks: the closed form behind pl_model.
typedef struct arc_model {
    double c[C], p[3], R[9], e;
} arc_model;
static void arc_info(void *self, pl_model_info *out)
{
    (void)self;
    *out = (pl_model_info){.name = "arc",
                           .kind = "closed",
                           .hash = 7,
                           .command_count = C,
                           .command = commands,
                           .marker_count = 1,
                           .marker_name = markers,
                           .marker_at = marker_at,
                           .size = 100};
}
static pl_status arc_fk(void *self, const double *c, pl_solve_report *report, pl_error *err)
{
    arc_model *m = self;
    (void)err;
    for (int i = 0; i < C; ++i) {
        m->c[i] = isnan(c[i]) ? 0 : c[i];
    }
    arc_pose(m->c, m->p, m->R);
    report->outcome = PL_SOLVED;

    return PL_OK;
}
static void arc_answer(void *self, pl_model_answer *out)
{
    arc_model *m = self;
    *out = (pl_model_answer){.command = m->c, .marker = m->p, .rotation = m->R, .energy = 0};
}
static void arc_reset(void *self)
{
    pl_solve_report report;
    arc_fk(self, (double[C]){0}, &report, NULL);
}
static const pl_model_type arc_type = {
    .info = arc_info, .fk = arc_fk, .answer = arc_answer, .reset = arc_reset};
static arc_model arc_memory;
static pl_status arc_open(void *user, pl_model **full, pl_error *err)
{
    ++*(int *)user;
    return pl_model_create(&arc_type, &arc_memory, full, err);
}

// Values near the truth, derivatives of every part equal to differences of the values, rotations orthonormal.
static void test_answers(void **state)
{
    (void)state;
    double error;
    pl_learned *l = fitted(150, 0, &error);
    pl_model *m = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_learned_model(l, NULL, &m, &err));
    assert_true(pl_model_is_learned(m) && error < 0.5);
    double c[C] = {0.4, -0.7, 0.1};
    pl_solve_report report;
    PL_CHECK_OK(pl_model_fk(m, c, &report, &err));
    assert_int_equal(report.outcome, PL_SOLVED);
    double p[3], R[9], at[12], low[12];
    arc_pose(c, p, R);
    pl_model_answer a = pl_model_get_answer(m);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(a.marker[i], p[i], 0.3);
    }

    for (int i = 0; i < 9; ++i) {
        PL_CHECK_NEAR(a.rotation[i], R[i], 0.01);
        double dot = 0;
        for (int k = 0; k < 3; ++k) {
            dot += a.rotation[3 * (i / 3) + k] * a.rotation[3 * (i % 3) + k];
        }
        PL_CHECK_NEAR(dot, i / 3 == i % 3, 1e-12);
    }

    assert_true(a.reading[0] == 0);
    assert_int_equal(a.error.source, PL_ERROR_SAMPLES);
    PL_CHECK_NEAR(a.error.confidence, 0.95, 1e-12);
    assert_true(a.error.marker[0] > 0 && a.error.marker[0] < 5 * error);
    pl_model_derivative d;
    pl_jacobian_report how;
    double J[7][C];
    PL_CHECK_OK(
        pl_model_differentiate(m, PL_PART_MARKER | PL_PART_ROTATION | PL_PART_ENERGY, 0, &d, &how, &err));
    memcpy(J[0], d.marker, sizeof(double) * 3 * C);
    memcpy(J[3], d.rotation, sizeof(double) * 3 * C);
    memcpy(J[6], d.energy, sizeof(double) * C);
    for (int i = 0; i < C; ++i) {
        const double h = 1e-5;
        double e[2], Q[9];
        memcpy(Q, a.rotation, sizeof Q);
        for (int side = 1; side >= 0; --side) {
            double x[C] = {c[0], c[1], c[2]};
            x[i] += side ? h : -h;
            PL_CHECK_OK(pl_model_fk(m, x, &report, &err));
            a = pl_model_get_answer(m);
            memcpy(side ? at : low, a.marker, 3 * sizeof *at);
            memcpy((side ? at : low) + 3, a.rotation, 9 * sizeof *at);
            e[side] = a.energy;
        }
        for (int k = 0; k < 3; ++k) {
            PL_CHECK_NEAR((at[k] - low[k]) / (2 * h), J[k][i], 1e-6 * 100);
        }
        double W[9] = {0};
        PL_CHECK_OK(pl_model_fk(m, c, &report, &err));
        a = pl_model_get_answer(m);
        for (int r = 0; r < 3; ++r) {
            for (int k = 0; k < 3; ++k) {
                for (int j = 0; j < 3; ++j) {
                    W[3 * r + k] +=
                        (at[3 + 3 * r + j] - low[3 + 3 * r + j]) / (2 * h) * a.rotation[3 * k + j];
                }
            }
        }
        PL_CHECK_NEAR(W[7], J[3][i], 1e-6);
        PL_CHECK_NEAR(W[2], J[4][i], 1e-6);
        PL_CHECK_NEAR(W[3], J[5][i], 1e-6);
        PL_CHECK_NEAR((e[1] - e[0]) / (2 * h), J[6][i], 1e-6);
    }

    pl_model_destroy(m);
}

// Outside of the samples the answer says so, or comes from the full model; a check measures the true error.
static void test_outside(void **state)
{
    (void)state;
    double error;
    pl_error err = {0};
    pl_solve_report report;
    const double far[C] = {0.2, 1.4, 0.1}, inside[C] = {0.2, 0.4, 0.1};
    for (int fallback = 0; fallback < 2; ++fallback) {
        int opened = 0;
        pl_learned *l = fitted(120, 0, &error);
        pl_model *m = NULL;
        const pl_learned_use use = {
            .outside = fallback ? PL_OUTSIDE_FALLBACK : PL_OUTSIDE_WARN, .open = arc_open, .user = &opened};
        PL_CHECK_OK(pl_learned_model(l, &use, &m, &err));
        PL_CHECK_OK(pl_model_fk(m, inside, &report, &err));
        assert_int_equal(opened, 0);
        pl_learned_check check;
        PL_CHECK_OK(pl_learned_check_full(m, true, &check, &err));
        assert_int_equal(opened, 1);
        assert_true(check.largest > 0 && check.largest < 5 * error && check.marker == 0 && check.steps == 0);
        PL_CHECK_OK(pl_model_fk(m, far, &report, &err));
        double p[3], R[9];
        arc_pose(far, p, R);
        const pl_model_answer a = pl_model_get_answer(m);
        PL_CHECK_NEAR(a.reading[0], 20, 2); // beyond by 0.4 of a range of 2, in percent
        if (fallback) {
            PL_CHECK_NEAR(a.marker[0], p[0], 1e-12);
            assert_false(pl_answer_has_error(&a)); // the full model is the reference
        } else {
            assert_true(pl_answer_has_error(&a) && isnan(a.error.marker[0]) && a.error.unknown);
            assert_true(fabs(a.marker[1] - p[1]) > 1e-9);
            assert_non_null(strstr(report.message, "'b'"));
        }
        pl_model_destroy(m);
    }
}

static int allocations;
static void *counting(void *user, void *block, size_t bytes)
{
    (void)user;
    allocations += bytes > 0;
    if (bytes == 0) {
        free(block);
        return NULL;
    }

    return realloc(block, bytes);
}

// Every method of the inverse reaches random targets, without memory, and keeps the ranges.
static void test_reach(void **state)
{
    (void)state;
    double error;
    pl_error err = {0};
    pl_learned *l = fitted(200, 1u << PL_LEARN_JACOBIAN | 1u << PL_LEARN_INVERSE, &error);
    for (int method = 0; method < PL_REACH_METHOD_COUNT; ++method) {
        pl_reach_options o = pl_reach_options_default();
        o.method = method;
        const double tolerance = o.tolerance = 0.05;
        pl_reach *r = NULL;
        PL_CHECK_OK(pl_reach_create(l, &o, &r, &err));
        pl_random random;
        pl_random_seed(&random, 3);
        double command[C] = {0, 0, 0.1}, worst = 0, sum = 0;
        int most = 0, reached = 0;
        const int before = allocations;
        enum { N = 200 };
        for (int k = 0; k < N; ++k) {
            double c[C], p[3], R[9], q[3];
            for (int i = 0; i < C; ++i) {
                c[i] = pl_random_uniform(&random, 0.95 * commands[i].range[0], 0.95 * commands[i].range[1]);
            }
            arc_pose(c, p, R);
            const pl_reach_result result = pl_reach_solve(r, p, command);
            arc_pose(command, q, R); // judged by the truth
            const double gap = sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
            worst = fmax(worst, gap);
            sum += gap / N;
            most = result.evaluations > most ? result.evaluations : most;
            reached += result.converged;
            // a target counts as reached only with the error of the model
            assert_true(result.reached == (result.distance + result.error <= tolerance));
            for (int i = 0; i < C; ++i) {
                assert_true(command[i] >= -1.0001 && command[i] <= 1.0001);
            }
        }
        print_message("method %d: mean %.4f mm, worst %.4f, reached %d of %d, at most %d evaluations\n",
                      method, sum, worst, reached, N, most);
        assert_int_equal(allocations, before);
        assert_true(sum < (method == PL_REACH_DIRECT ? 2.0 : 0.3));
        assert_true(most <= (method == PL_REACH_NEWTON ? 25 : 20000));
        assert_true(method != PL_REACH_NEWTON || reached == N);
        pl_reach_destroy(r);
    }

    pl_learned_destroy(l);
}

// Redundant: two axes only. Least motion ends nearer to the start than the plain search.
static void test_least_motion(void **state)
{
    (void)state;
    double error, moved[2] = {0, 0};
    pl_error err = {0};
    pl_learned *l = fitted(200, 0, &error);
    for (int k = 0; k < 2; ++k) {
        pl_reach_options o = pl_reach_options_default();
        o.axes[0] = o.axes[1] = true;
        o.least_motion = k ? 0.05 : 0;
        pl_reach *r = NULL;
        PL_CHECK_OK(pl_reach_create(l, &o, &r, &err));
        double c[C] = {0.3, 0.2, 0.15};
        const double start[C] = {0.3, 0.2, 0.15}, target[3] = {-30, 10, 0};
        const pl_reach_result result = pl_reach_solve(r, target, c);
        assert_true(result.distance < 0.1);
        for (int i = 0; i < C; ++i) {
            const double span = commands[i].range[1] - commands[i].range[0];
            moved[k] += pow((c[i] - start[i]) / span, 2);
        }
        pl_reach_destroy(r);
    }

    print_message("motion %.5f without, %.5f with least motion\n", moved[0], moved[1]);
    assert_true(moved[1] <= moved[0] + 1e-9);
    pl_learned_destroy(l);
}

// A real robot that differs smoothly from the simulated one: both corrections, and their derivatives.
static void real_pose(const double *c, double load, double *p)
{
    const double d[C] = {1.1 * c[0] - 0.05, 0.92 * c[1] + 0.08 * c[0] * c[1], c[2] + 0.01};
    double R[9];
    arc_pose(d, p, R);
    p[0] += 2;
    p[2] -= 10 * load;
}

// Share of random commands at which the true error is below the one reported; `often` gets the 95 % quantile
// of the true errors, `reported` the median of the reported ones.
static int compare_real(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double coverage(pl_model *m, double load, double *often, double *reported)
{
    enum { N = 400 };
    double truth[N], bound[N];
    int below = 0;
    pl_error err = {0};
    pl_solve_report report;
    pl_random random;
    pl_random_seed(&random, 77);
    const bool real = !isnan(load);
    for (int k = 0; k < N; ++k) {
        double c[C], p[3], R[9];
        for (int i = 0; i < C; ++i) {
            const double *range = commands[i].range;
            c[i] = range[0] + pl_random_uniform(&random, 0.02, 0.98) * (range[1] - range[0]);
        }
        PL_CHECK_OK(pl_model_fk(m, c, &report, &err));
        const pl_model_answer a = pl_model_get_answer(m);
        if (real) {
            real_pose(c, load, p);
        } else {
            arc_pose(c, p, R);
        }
        truth[k] = sqrt(pow(p[0] - a.marker[0], 2) + pow(p[1] - a.marker[1], 2) + pow(p[2] - a.marker[2], 2));
        bound[k] = a.error.marker[0];
        below += truth[k] <= bound[k];
    }

    qsort(truth, N, sizeof *truth, compare_real);
    qsort(bound, N, sizeof *bound, compare_real);
    *often = truth[(int)(0.95 * N)];
    *reported = bound[N / 2];

    return (double)below / N;
}

// The error that comes with an answer holds: at random commands 90 to 100 % of the true errors are below it,
// and it is not much larger than they are.
static void test_error_holds(void **state)
{
    (void)state;
    for (int k = 0; k < 3; ++k) {
        double error, often, reported;
        pl_error err = {0};
        pl_model *m = NULL;
        PL_CHECK_OK(pl_learned_model(fitted(60 + 70 * k, 0, &error), NULL, &m, &err));
        const double share = coverage(m, NAN, &often, &reported);
        print_message("covered %.1f %%; 95 %% of the errors below %.4f mm, half of the bounds below %.4f\n",
                      100 * share, often, reported);
        assert_true(share >= 0.9 && reported <= 5 * often);
        pl_model_destroy(m);
    }
}

static void test_adapt(void **state)
{
    (void)state;
    enum { N = 80 };
    double error;
    pl_error err = {0};
    for (int kind = 0; kind < PL_ADAPT_KIND_COUNT; ++kind) {
        pl_learned *l = fitted(150, 0, &error);
        double command[N * C], marker[N * 3], extra[N];
        int line[N];
        char name[1][32] = {"load"};
        pl_random random;
        pl_random_seed(&random, 9);
        for (int k = 0; k < N; ++k) {
            for (int i = 0; i < C; ++i) {
                command[C * k + i] = pl_random_uniform(&random, commands[i].range[0], commands[i].range[1]);
            }
            extra[k] = kind == PL_ADAPT_PROCESS ? pl_random_uniform(&random, 0, 1) : 0;
            real_pose(command + C * k, extra[k], marker + 3 * k);
            for (int i = 0; i < 3; ++i) {
                marker[3 * k + i] += pl_random_uniform(&random, -0.05, 0.05);
            }
        }
        const pl_measured measured = {.count = N,
                                      .command_count = C,
                                      .marker_count = 1,
                                      .extra_count = kind == PL_ADAPT_PROCESS,
                                      .command = command,
                                      .marker = marker,
                                      .extra = extra,
                                      .extra_name = name,
                                      .line = line};
        pl_adapt_options o = pl_adapt_options_default();
        o.kind = kind;
        pl_adapt_report r;
        PL_CHECK_OK(pl_learned_adapt(l, &measured, &o, &r, &err));
        print_message("%s: %.3f mm rms before, %.3f after on %d held out, noise %.3f\n",
                      pl_adapt_kind_name(kind), r.before_rms, r.held_rms, r.held_count, r.noise);
        assert_true(r.held_rms < (kind == PL_ADAPT_PROCESS ? 0.5 : 2.5) && r.before_rms > 4);
        const double load = 0.5;
        PL_CHECK_OK(pl_learned_set_extra(l, &load, &err));
        // the derivative of the corrected position
        pl_reach_options how = pl_reach_options_default();
        pl_reach *reach = NULL;
        PL_CHECK_OK(pl_reach_create(l, &how, &reach, &err));
        double c[C] = {0.2, 0.5, 0.12}, p[3], J[3 * C], high[3], low[3];
        pl_reach_forward(reach, c, p, J);
        for (int i = 0; i < C; ++i) {
            const double keep = c[i], h = 1e-5;
            c[i] = keep + h;
            pl_reach_forward(reach, c, high, NULL);
            c[i] = keep - h;
            pl_reach_forward(reach, c, low, NULL);
            c[i] = keep;
            for (int k = 0; k < 3; ++k) {
                PL_CHECK_NEAR((high[k] - low[k]) / (2 * h), J[k * C + i], 1e-4);
            }
        }
        pl_reach_destroy(reach);
        double next[4 * C], often, reported;
        assert_int_equal(pl_learned_next_poses(l, 4, next, &err),
                         kind == PL_ADAPT_PROCESS ? PL_OK : PL_BAD_INPUT);
        // the error of an answer is that against the real robot
        pl_model *m = NULL;
        PL_CHECK_OK(pl_learned_model(l, NULL, &m, &err));
        assert_int_equal(pl_model_get_answer(m).error.source, PL_ERROR_MEASUREMENTS);
        const double share = coverage(m, kind == PL_ADAPT_PROCESS ? load : 0, &often, &reported);
        print_message("covered %.1f %%; 95 %% of the errors below %.4f mm, half of the bounds below %.4f\n",
                      100 * share, often, reported);
        assert_true(share >= 0.9 && reported <= 5 * often);
        pl_model_destroy(m);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    pl_dataset d = arcs(12, 1);
    pl_learned_options o = pl_learned_options_default();
    pl_learned *l = NULL;
    pl_learned_report r;
    pl_error err = {0};
    d.count = 6;
    assert_int_equal(pl_learned_fit(&d, &o, &l, &r, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "6 solved samples"));
    d.count = 12;
    for (int k = 0; k < 36; ++k) {
        d.marker[k] = 4;
    }
    assert_int_equal(pl_learned_fit(&d, &o, &l, &r, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "do not move"));
    pl_dataset_clear(&d);
}

// Samples are proposed inside the region and apart from each other.
static void test_propose(void **state)
{
    (void)state;
    pl_dataset d = arcs(40, 1);
    double c[10 * C];
    pl_error err = {0};
    PL_CHECK_OK(pl_learned_propose(&d, 10, 1, c, &err));
    for (int k = 0; k < 10; ++k) {
        for (int i = 0; i < C; ++i) {
            assert_true(c[C * k + i] >= commands[i].range[0] && c[C * k + i] <= commands[i].range[1]);
        }
        for (int j = 0; j < k; ++j) {
            assert_true(memcmp(c + C * k, c + C * j, sizeof(double) * C) != 0);
        }
    }

    pl_dataset_clear(&d);
}

int main(void)
{
    pl_memory_set(counting, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),      cmocka_unit_test(test_outside),     cmocka_unit_test(test_reach),
        cmocka_unit_test(test_least_motion), cmocka_unit_test(test_error_holds), cmocka_unit_test(test_adapt),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_propose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
