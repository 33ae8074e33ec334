// Learning on a rod with three tendons in closed form enough to be fast, and (with arguments TRAIN.sqlite
// TEST.sqlite) on data sets of `pliant sample`: error over the number of samples with and without
// derivatives; times of the learned inverse over 100,000 targets; paths judged by the model that was learned
// from; a stand-in for reality (another modulus, tilted gravity, backlash of the tendons, marker offset,
// noise).
#include "bench.h"
#include "pliant/dataset.h"
#include "learn/learn.h"
#include "learned/learned.h"

// A camera's noise of 0.1 mm, nearly normal: twelve uniform numbers have the variance 1.
static void measure(pl_random *random, double x[3])
{
    for (int i = 0; i < 3; ++i) {
        double noise = 0;
        for (int j = 0; j < 12; ++j) {
            noise += pl_random_uniform(random, -0.5, 0.5);
        }
        x[i] += 0.1 * noise;
    }
}

static const char robot[] =
    "pliant: 1\nname: rod-trunk\nmodel:\n  kind: rod\n  sections:\n"
    "    - {name: body, length: 136, diameter: [30, 30], young: %g MPa, poisson: 0.45,"
    " density: 1070 kg/m^3, elements: 12}\n  tendons:\n"
    "    - {name: t1, drive: shortening, radius: 12, angle: 90 deg, range: [0 mm, 30 mm]}\n"
    "    - {name: t2, drive: shortening, radius: 12, angle: 210 deg, range: [0 mm, 30 mm]}\n"
    "    - {name: t3, drive: shortening, radius: 12, angle: 330 deg, range: [0 mm, 30 mm]}\n"
    "markers:\n  tip: {at: 136}\nloads:\n  gravity: [%g m/s^2, 0 m/s^2, -9.7 m/s^2]\n"
    "  forces: [{marker: tip, force: [0, 0, %g]}]\n";
enum { C = 3 };
static const double range[2] = {0, 30};

static void must(pl_status status, const pl_error *err)
{
    if (status != PL_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static pl_model *rod(double young, double side, double load)
{
    char text[1400];
    pl_error err = {0};
    pl_model *m = NULL;
    snprintf(text, sizeof text, robot, young, side, load);
    must(pl_reduced_load_text(text, strlen(text), "rod", &m, NULL, &err), &err);
    return m;
}

static void solve(pl_model *m, const double *c, double *p)
{
    pl_error err = {0};
    pl_solve_report report;
    must(pl_model_fk(m, c, &report, &err), &err);
    memcpy(p, pl_model_get_answer(m).marker, 3 * sizeof *p);
}

// Samples of a model at random commands, positions and their derivatives only.
static pl_dataset collect(pl_model *m, int count, uint64_t seed)
{
    pl_dataset d = {.count = count, .planned = count};
    pl_error err = {0};
    pl_model_info info = pl_model_get_info(m);

    info.sensor_count = info.actuator_count = 0;
    must(pl_about_copy(&info, &d.about, &err), &err);
    const size_t n = (size_t)count;
    d.command = pl_alloc(n * C * 8);
    d.marker = pl_alloc(n * 3 * 8);
    d.rotation = pl_alloc(n * 9 * 8);
    d.energy = pl_alloc(n * 8);
    d.d_marker = pl_alloc(n * 3 * C * 8);
    d.sensor = d.effort = d.measure = NULL;
    pl_random random;
    pl_random_seed(&random, seed);
    for (int s = 0; s < count; ++s) {
        for (int i = 0; i < C; ++i) {
            // a tenth on the bounds, so that the region is the whole range
            const double u = pl_random_uniform(&random, -0.05, 1.05);
            d.command[C * s + i] = range[1] * fmin(fmax(u, 0), 1);
        }
        pl_model_derivative der;
        pl_jacobian_report how;
        solve(m, d.command + C * s, d.marker + 3 * s);
        must(pl_model_differentiate(m, PL_PART_MARKER, 0, &der, &how, &err), &err);
        memcpy(d.d_marker + 3 * C * s, der.marker, 3 * C * sizeof(double));
    }

    return d;
}

static pl_learned *fit(pl_dataset *d, int count, bool slopes, int width, unsigned more, double *seconds)
{
    const int all = d->count;
    double *keep = d->d_marker;
    pl_learned_options o = pl_learned_options_default();
    pl_learned *l = NULL;
    pl_learned_report r;
    pl_error err = {0};

    o.parts = 1u << PL_LEARN_POSITION | more;
    o.network.width[0] = o.network.width[1] = width;
    o.train.jacobian_weight = slopes ? o.train.jacobian_weight : 0;
    o.train.epoch_limit = 60;
    d->count = count;
    must(pl_learned_fit(d, &o, &l, &r, &err), &err);
    d->count = all;
    d->d_marker = keep;
    *seconds = r.part[0].train.seconds;

    return l;
}

static double distance(const double *a, const double *b)
{
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

// ---- error over the number of samples
static void samples_table(pl_dataset *train, pl_dataset *test, int width)
{
    const int M = train->about.info.marker_count, commands = train->about.info.command_count;
    double low[3], high[3], wide = 0;

    for (int i = 0; i < 3; ++i) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
        for (int s = 0; s < test->count; ++s) {
            low[i] = fmin(low[i], test->marker[3 * M * s + i]);
            high[i] = fmax(high[i], test->marker[3 * M * s + i]);
        }
        wide = fmax(wide, high[i] - low[i]);
    }

    printf("\n%s: network %d,%d; %d independent test samples; workspace %.1f mm wide; error of the first "
           "marker\n",
           train->about.info.name, width, width, test->count, wide);
    printf("%8s  %30s  %30s\n", "", "values only", "values and derivatives");
    printf("%8s  %10s %8s %8s  %10s %8s %8s\n", "samples", "rms mm", "max mm", "max %", "rms mm", "max mm",
           "max %");
    for (int n = 50; n <= train->count; n *= 2) {
        printf("%8d", n);
        for (int slopes = 0; slopes < 2; ++slopes) {
            double seconds, square = 0, most = 0, p[300];
            pl_learned *l = fit(train, n, slopes, width, 0, &seconds);
            pl_network *net = (pl_network *)pl_learned_network(l, PL_LEARN_POSITION);
            for (int s = 0; s < test->count; ++s) {
                pl_network_evaluate(net, test->command + commands * s, p, NULL);
                const double e = distance(p, test->marker + 3 * M * s);
                square += e * e / test->count;
                most = fmax(most, e);
            }
            printf("  %10.4f %8.3f %8.3f", sqrt(square), most, 100 * most / wide);
            fflush(stdout);
            pl_learned_destroy(l);
        }
        printf("\n");
    }
}

// ---- the inverse
static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *const method_name[PL_REACH_METHOD_COUNT] = {"Gauss-Newton", "published gradient",
                                                               "direct inverse"};

static void inverse_table(pl_learned *l, pl_model *m, int count)
{
    double *time_of = calloc((size_t)count, sizeof *time_of);
    printf("\ninverse of the learned rod, %d random reachable targets, each from the previous commands; "
           "CPU time of the thread\n",
           count);
    printf("%20s  %10s %10s %10s %10s  %8s %10s %12s\n", "method", "median us", "99.9 % us", "largest",
           "evaluations", "reached", "mean mm", "worst mm");
    for (int method = 0; method < PL_REACH_METHOD_COUNT; ++method) {
        pl_reach_options o = pl_reach_options_default();
        pl_error err = {0};
        pl_reach *r = NULL;
        o.method = method;
        must(pl_reach_create(l, &o, &r, &err), &err);
        pl_random random;
        pl_random_seed(&random, 11);
        double command[C] = {10, 10, 10}, sum = 0, worst = 0;
        long evaluations = 0, reached = 0;
        const int n = method == PL_REACH_PUBLISHED ? count / 10 : count;
        for (int k = 0; k < n; ++k) {
            double c[C], p[3];
            for (int i = 0; i < C; ++i) {
                c[i] = pl_random_uniform(&random, range[0], range[1]);
            }
            pl_reach_forward(r, c, p, NULL);
            const double start = thread_seconds();
            const pl_reach_result result = pl_reach_solve(r, p, command);
            time_of[k] = 1e6 * (thread_seconds() - start);
            evaluations += result.evaluations;
            reached += result.converged;
            if (k % (n / 500) == 0) { // judged by the model that was learned from
                double q[3];
                solve(m, command, q);
                sum += distance(p, q) / 500;
                worst = fmax(worst, distance(p, q));
            }
        }
        qsort(time_of, (size_t)n, sizeof *time_of, compare);
        printf("%20s  %10.1f %10.1f %10.1f %10.1f  %7.2f%% %10.4f %12.4f\n", method_name[method],
               time_of[n / 2], time_of[(int)(0.999 * n)], time_of[n - 1], (double)evaluations / n,
               100.0 * (double)reached / n, sum, worst);
        pl_reach_destroy(r);
    }

    free(time_of);
}

// ---- paths
typedef struct reality {
    pl_model *m;
    double slack[C]; // backlash
    double played[C];
    double offset[3];
} reality;

static void real_pose(reality *r, const double *c, double *p)
{
    for (int i = 0; i < C; ++i) {
        r->played[i] = fmax(c[i] - r->slack[i], fmin(c[i] + r->slack[i], r->played[i]));
    }

    double d[C];
    for (int i = 0; i < C; ++i) {
        d[i] = fmax(r->played[i], 0);
    }
    solve(r->m, d, p);
    for (int i = 0; i < 3; ++i) {
        p[i] += r->offset[i];
    }
}

static void follow(pl_learned *l, reality *r, pl_path_kind kind, int count, int method, const char *name)
{
    pl_path_def path = pl_path_default(kind);
    pl_error err = {0};
    double point[3 * 240], command[C] = {12, 12, 12}, sum = 0, most = 0, mean = 0, worst = 0;

    path.count = count;
    path.size[0] = path.size[1] = kind == PL_PATH_BOX ? 24 : 40;
    path.size[2] = kind == PL_PATH_BOX ? 8 : 0;
    path.centre[2] = 112;
    must(pl_path_points(&path, point, &err), &err);
    pl_reach_options o = pl_reach_options_default();
    pl_reach *reach = NULL;
    o.method = method;
    must(pl_reach_create(l, &o, &reach, &err), &err);
    for (int k = 0; k < count; ++k) {
        double p[3];
        const double start = thread_seconds();
        const pl_reach_result result = pl_reach_solve(reach, point + 3 * k, command);
        worst = fmax(worst, thread_seconds() - start);
        mean += (thread_seconds() - start) / count;
        (void)result;
        real_pose(r, command, p);
        sum += distance(p, point + 3 * k) / count;
        most = fmax(most, distance(p, point + 3 * k));
    }

    printf("%34s %8s  mean %7.3f mm  largest %7.3f mm  %8.1f us mean\n", name,
           kind == PL_PATH_BOX ? "box" : "flower", sum, most, 1e6 * mean);
    pl_reach_destroy(reach);
}

static void adapt_table(pl_dataset *train, double width, double slack)
{
    pl_error err = {0};
    static const int counts[] = {25, 50, 100, 300};

    printf(
        "\nsim-to-real on the stand-in: E 0.34 for 0.40 MPa, gravity tilted, backlash %.2g mm of 30, marker "
        "offset 1.4 mm, "
        "noise 0.1 mm; %.1f mm wide; 300 independent test poses without noise\n",
        slack, width);
    printf("%9s %10s  %10s %8s  %10s %8s\n", "measured", "kind", "rms mm", "rms %", "largest", "max %");
    for (int kind = 0; kind < PL_ADAPT_KIND_COUNT; ++kind) {
        for (int k = 0; k < 4; ++k) {
            const int n = counts[k];
            double seconds;
            pl_learned *l = fit(train, 400, true, 24, 0, &seconds);
            reality r = {.m = rod(0.34, 1.5, 0), .slack = {slack, slack, slack}, .offset = {1, -0.5, 0.8}};
            pl_random random;
            pl_random_seed(&random, 21);
            double *command = calloc((size_t)n * C, 8), *marker = calloc((size_t)n * 3, 8);
            int *line = calloc((size_t)n, sizeof *line);
            for (int s = 0; s < n; ++s) {
                for (int i = 0; i < C; ++i) {
                    command[C * s + i] = pl_random_uniform(&random, range[0], range[1]);
                }
                real_pose(&r, command + C * s, marker + 3 * s);
                measure(&random, marker + 3 * s);
            }
            const pl_measured measured = {.count = n,
                                          .command_count = C,
                                          .marker_count = 1,
                                          .command = command,
                                          .marker = marker,
                                          .line = line};
            pl_adapt_options o = pl_adapt_options_default();
            pl_adapt_report report;
            o.kind = kind;
            o.held_share = 0;
            must(pl_learned_adapt(l, &measured, &o, &report, &err), &err);
            pl_reach_options ro = pl_reach_options_default();
            pl_reach *reach = NULL;
            must(pl_reach_create(l, &ro, &reach, &err), &err);
            double square = 0, most = 0;
            for (int s = 0; s < 300; ++s) {
                double c[C], p[3], q[3];
                for (int i = 0; i < C; ++i) {
                    c[i] = pl_random_uniform(&random, range[0], range[1]);
                }
                real_pose(&r, c, p);
                pl_reach_forward(reach, c, q, NULL);
                square += pow(distance(p, q), 2) / 300;
                most = fmax(most, distance(p, q));
            }
            printf("%9d %10s  %10.3f %8.2f  %10.3f %8.2f\n", n, pl_adapt_kind_name(kind), sqrt(square),
                   100 * sqrt(square) / width, most, 100 * most / width);
            if (n == 100) {
                follow(l, &r, PL_PATH_FLOWER, 120, PL_REACH_NEWTON, "  adapted, paths on the stand-in");
                follow(l, &r, PL_PATH_BOX, 240, PL_REACH_NEWTON, "  adapted, paths on the stand-in");
                reality loaded = r;
                loaded.m = rod(0.34, 1.5, -0.15);
                follow(l, &loaded, PL_PATH_FLOWER, 120, PL_REACH_NEWTON, "  with 15 g more at the tip");
                pl_model_destroy(loaded.m);
            }
            fflush(stdout);
            pl_reach_destroy(reach);
            pl_model_destroy(r.m);
            pl_learned_destroy(l);
            free(command);
            free(marker);
            free(line);
        }
    }
}

// ---- a stand-in with a past: backlash, lag at speed, and a load that changes, with and without inputs that
// tell them
typedef struct passage {
    double before[C], command[C];
    double speed, load; // mm/s, N
} passage;

// The commands as they act: each lags behind its velocity by a time constant, then has backlash.
static void passage_pose(pl_model *const *m, const passage *p, double slack, double lag, double *out)
{
    double d[C], length = 0;
    for (int i = 0; i < C; ++i) {
        length += pow(p->command[i] - p->before[i], 2);
    }

    for (int i = 0; i < C; ++i) {
        const double move = p->command[i] - p->before[i];
        const double late = p->command[i] - lag * p->speed * move / fmax(sqrt(length), 1e-9);
        d[i] = fmin(fmax(fmax(late - slack, fmin(late + slack, p->before[i])), range[0]), range[1]);
    }

    // linear between the model without and with the load: it is small
    double a[3], b[3];
    solve(m[0], d, a);
    solve(m[1], d, b);
    for (int i = 0; i < 3; ++i) {
        out[i] = a[i] + (b[i] - a[i]) * p->load / 0.15 + (double[]){1, -0.5, 0.8}[i];
    }
}

static passage passage_draw(pl_random *random, const passage *last, double speed, double load)
{
    passage p = {.speed = pl_random_uniform(random, 0, speed), .load = pl_random_uniform(random, 0, load)};
    memcpy(p.before, last->command, sizeof p.before);
    for (int i = 0; i < C; ++i) {
        p.command[i] = pl_random_uniform(random, range[0], range[1]);
    }
    return p;
}

// Inputs that tell the past: the direction each command came from, its velocity, the load.
static void passage_inputs(const passage *p, int count, double *out)
{
    double length = 0;
    for (int i = 0; i < C; ++i) {
        length += pow(p->command[i] - p->before[i], 2);
    }

    for (int i = 0; i < C; ++i) {
        const double move = p->command[i] - p->before[i];
        const double all[] = {fmax(-1, fmin(1, move / 1.0)), p->speed * move / fmax(sqrt(length), 1e-9),
                              p->load};
        if (count >= C) {
            out[i] = all[0];
        }
        if (count >= 2 * C) {
            out[C + i] = all[1];
        }
    }

    if (count % C) {
        out[count - 1] = p->load;
    }
}

static void past_table(pl_dataset *train, double width)
{
    static const struct {
        const char *name;
        double slack, lag, speed, load;
        int extra;
    } list[] = {{"backlash 0.1 mm", 0.1, 0, 0, 0, C},
                {"backlash 0.4 mm", 0.4, 0, 0, 0, C},
                {"the same, load up to 15 g", 0.4, 0, 0, 0.15, C + 1},
                {"the same, 20 mm/s, lag 0.05 s", 0.4, 0.05, 20, 0, 2 * C},
                {"load and speed", 0.4, 0.05, 20, 0.15, 2 * C + 1}};
    static const int counts[] = {50, 100, 300};
    pl_error err = {0};
    printf("\nstand-in with a past (E, gravity, offset and noise as above), process; 300 independent poses, "
           "rms in %% of "
           "%.0f mm\n%32s %9s %14s %20s\n",
           width, "", "measured", "commands only", "with the past, load");
    pl_model *m[2] = {rod(0.34, 1.5, 0), rod(0.34, 1.5, -0.15)};
    for (int k = 0; k < PL_COUNT(list); ++k) {
        for (int c = 0; c < 3; ++c) {
            const int n = counts[c];
            printf("%32s %9d", list[k].name, n);
            for (int with = 0; with < 2; ++with) {
                const int E = with ? list[k].extra : 0;
                double seconds, square = 0;
                pl_learned *l = fit(train, 400, true, 24, 0, &seconds);
                pl_random random;
                pl_random_seed(&random, 33);
                passage p = {.command = {15, 15, 15}};
                double *command = calloc((size_t)n * C, 8), *marker = calloc((size_t)n * 3, 8),
                       *extra = calloc((size_t)n * 8, 8);
                int *line = calloc((size_t)n, sizeof *line);
                char name[2 * C + 1][32] = {"d1", "d2", "d3", "v1", "v2", "v3", "load"};
                for (int s = 0; s < n; ++s) {
                    p = passage_draw(&random, &p, list[k].speed, list[k].load);
                    memcpy(command + C * s, p.command, sizeof p.command);
                    passage_pose(m, &p, list[k].slack, list[k].lag, marker + 3 * s);
                    passage_inputs(&p, E, extra + E * s);
                    measure(&random, marker + 3 * s);
                }
                const pl_measured measured = {.count = n,
                                              .command_count = C,
                                              .marker_count = 1,
                                              .extra_count = E,
                                              .command = command,
                                              .marker = marker,
                                              .extra = extra,
                                              .extra_name = name,
                                              .line = line};
                pl_adapt_options o = pl_adapt_options_default();
                pl_adapt_report report;
                o.kind = PL_ADAPT_PROCESS;
                o.held_share = 0;
                must(pl_learned_adapt(l, &measured, &o, &report, &err), &err);
                pl_reach_options ro = pl_reach_options_default();
                pl_reach *reach = NULL;
                must(pl_reach_create(l, &ro, &reach, &err), &err);
                for (int s = 0; s < 300; ++s) {
                    double q[3], e[3], inputs[8];
                    p = passage_draw(&random, &p, list[k].speed, list[k].load);
                    passage_pose(m, &p, list[k].slack, list[k].lag, e);
                    passage_inputs(&p, E, inputs);
                    if (E) {
                        must(pl_learned_set_extra(l, inputs, &err), &err);
                    }
                    pl_reach_forward(reach, p.command, q, NULL);
                    square += pow(distance(e, q), 2) / 300;
                }
                printf(with ? " %20.2f" : " %14.2f", 100 * sqrt(square) / width);
                fflush(stdout);
                pl_reach_destroy(reach);
                pl_learned_destroy(l);
                free(command);
                free(marker);
                free(extra);
                free(line);
            }
            printf("\n");
        }
    }

    pl_model_destroy(m[0]);
    pl_model_destroy(m[1]);
}

static void files_table(const char *train, const char *test)
{
    pl_dataset a, b;
    pl_error err = {0};

    must(pl_dataset_read(train, &a, &err), &err);
    must(pl_dataset_read(test, &b, &err), &err);

    // stored in the order of a walk: shuffled, so that the first ones cover the whole range
    const int n = a.about.info.command_count, M = 3 * a.about.info.marker_count;
    pl_random random;
    pl_random_seed(&random, 5);
    for (int i = a.count - 1; i > 0; --i) {
        const int j = (int)(pl_random_next(&random) % (uint64_t)(i + 1));
        double *const list[] = {a.command, a.marker, a.d_marker};
        const int per[] = {n, M, M * n};
        for (int k = 0; k < 3; ++k) {
            for (int c = 0; list[k] && c < per[k]; ++c) {
                const double swap = list[k][(int64_t)i * per[k] + c];
                list[k][(int64_t)i * per[k] + c] = list[k][(int64_t)j * per[k] + c];
                list[k][(int64_t)j * per[k] + c] = swap;
            }
        }
    }

    samples_table(&a, &b, 20);
    pl_dataset_clear(&a);
    pl_dataset_clear(&b);
}

int main(int argc, char **argv)
{
    bench_title("learned models");
    if (argc > 1 && strcmp(argv[1], "past") == 0) {
        pl_model *rest = rod(0.4, 0, 0);
        pl_dataset poses = collect(rest, 400, 1);
        past_table(&poses, 150);
        pl_dataset_clear(&poses);
        pl_model_destroy(rest);
        return 0;
    }

    if (argc > 3) { // the files only
        files_table(argv[1], argv[2]);
        return 0;
    }

    pl_model *m = rod(0.4, 0, 0);
    pl_dataset train = collect(m, 800, 1), test = collect(m, 500, 2);
    samples_table(&train, &test, 20);
    if (argc > 2) {
        files_table(argv[1], argv[2]);
    }

    double seconds;
    pl_learned *l = fit(&train, 400, true, 24, 1u << PL_LEARN_JACOBIAN | 1u << PL_LEARN_INVERSE, &seconds);
    inverse_table(l, m, 100000);
    printf("\npaths, judged by the model that was learned from (published: mean 0.13 mm)\n");
    reality same = {.m = m};
    follow(l, &same, PL_PATH_FLOWER, 120, PL_REACH_NEWTON, "Gauss-Newton");
    follow(l, &same, PL_PATH_BOX, 240, PL_REACH_NEWTON, "Gauss-Newton");
    follow(l, &same, PL_PATH_FLOWER, 120, PL_REACH_PUBLISHED, "published gradient");
    follow(l, &same, PL_PATH_FLOWER, 120, PL_REACH_DIRECT, "direct inverse");
    reality other = {.m = rod(0.34, 1.5, 0), .slack = {0.4, 0.4, 0.4}, .offset = {1, -0.5, 0.8}};
    follow(l, &other, PL_PATH_FLOWER, 120, PL_REACH_NEWTON, "on the stand-in, not adapted");
    pl_learned_destroy(l);
    adapt_table(&train, 150, 0.1);
    adapt_table(&train, 150, 0.4); // what no correction without memory can remove
    past_table(&train, 150);
    pl_model_destroy(other.m);
    pl_dataset_clear(&train);
    pl_dataset_clear(&test);
    pl_model_destroy(m);

    return 0;
}
