// Learning a robot from a data set of `pliant sample` (validation/learned_paper.sh makes them): the error of
// the first marker over the number of samples, with and without derivatives and with the published settings;
// times of the learned inverse over 100,000 targets; published paths judged by the full model. usage:
// learned_curve TRAIN.sqlite TEST.sqlite HIDDEN,HIDDEN PATH:WIDTH,HEIGHT:CX,CY,CZ [CURVE.png [ACTIVATION
// [FIRST]]]
//   ACTIVATION: of our networks (tansig); FIRST: samples of the first row (16)
//   HIDDEN: neurons of the published network; PATH: flower, eight or square, in the xy plane, z is free
#include <time.h>
#include "pliant/dataset.h"
#include "pliant/motion.h"
#include "validate.h"
#include "learn/learn.h"
#include "learned/learned.h"

enum { WAYPOINTS = 240, JUDGED = 60, TARGETS = 100000 };

static void must(pl_status status, const pl_error *err)
{
    if (status != PL_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A small generator of our own: the same subsets and targets everywhere.
static uint64_t seed = 5;
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static double distance(const double *a, const double *b, int axes)
{
    double sum = 0;
    for (int i = 0; i < axes; ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

// The first marker alone, in random order: samples are stored in the order of a walk.
static pl_dataset *read_set(const char *path, bool shuffle)
{
    pl_error err = {0};
    pl_dataset *d;
    must(pl_dataset_read(path, &d, &err), &err);
    const int C = d->about.info.command_count, M = d->about.info.marker_count;
    for (int s = 0; s < d->count; ++s) {
        memmove(d->marker + 3 * s, d->marker + 3 * M * s, 3 * sizeof(double));
        memmove(d->rotation + 9 * s, d->rotation + 9 * M * s, 9 * sizeof(double));
        if (d->d_marker) {
            memmove(d->d_marker + 3 * C * s, d->d_marker + 3 * C * M * s, 3 * (size_t)C * sizeof(double));
        }
    }

    d->about.info.marker_count = 1;
    double *const list[] = {d->command, d->marker, d->d_marker};
    const int per[] = {C, 3, 3 * C};
    for (int i = d->count - 1; shuffle && i > 0; --i) {
        const int j = (int)(uniform() * (i + 1));
        for (int k = 0; k < 3; ++k) {
            for (int c = 0; list[k] && c < per[k]; ++c) {
                const double swap = list[k][i * per[k] + c];
                list[k][i * per[k] + c] = list[k][j * per[k] + c];
                list[k][j * per[k] + c] = swap;
            }
        }
    }

    return d;
}

static pl_activation activation = PL_TANSIG; // of our networks
static int first_row = 16;

static pl_learned *fit(pl_dataset *d, int count, double weight, const pl_network_def *net, unsigned more)
{
    pl_learned_options o = pl_learned_options_default();
    pl_learned_report r;
    pl_learned *l = NULL;
    pl_error err = {0};
    const int all = d->count;

    o.parts = 1u << PL_LEARN_POSITION | more;
    o.network.activation = activation;
    if (net) {
        o.network = *net;
    }
    o.train.jacobian_weight = weight > 0 ? o.train.jacobian_weight : 0;
    d->count = count;
    must(pl_learned_fit(d, &o, &l, &r, &err), &err);
    d->count = all;

    return l;
}

static void errors(pl_learned *l, const pl_dataset *test, double *rms, double *most)
{
    pl_network *n = (pl_network *)pl_learned_network(l, PL_LEARN_POSITION);
    *rms = *most = 0;
    for (int s = 0; s < test->count; ++s) {
        double p[3];
        pl_network_evaluate(n, test->command + test->about.info.command_count * s, p, NULL);
        const double e = distance(p, test->marker + 3 * s, 3);
        *rms += e * e / test->count;
        *most = fmax(*most, e);
    }

    *rms = sqrt(*rms);
}

static double width_of(const pl_dataset *d)
{
    double width = 0;
    for (int i = 0; i < 3; ++i) {
        double low = INFINITY, high = -INFINITY;
        for (int s = 0; s < d->count; ++s) {
            low = fmin(low, d->marker[3 * s + i]);
            high = fmax(high, d->marker[3 * s + i]);
        }
        width = fmax(width, high - low);
    }

    return width;
}

static void curve(pl_dataset *train, const pl_dataset *test, const pl_network_def *published,
                  const char *picture)
{
    enum { KINDS = 3, ROOM = 16 };
    static const char *const name[KINDS] = {"published settings, values", "values", "values and derivatives"};
    const double width = fmax(width_of(train), width_of(test));
    double x[ROOM], y[KINDS][ROOM];
    int rows = 0;
    printf(
        "%s: %d samples, %d test samples, the first marker moves over %.1f mm; networks of 24, 24 neurons\n",
        train->about.info.name, train->count, test->count, width);
    printf("%8s", "samples");
    for (int k = 0; k < KINDS; ++k) {
        printf("  %30s", name[k]);
    }
    printf("\n%8s", "");
    for (int k = 0; k < KINDS; ++k) {
        printf("  %10s %9s %9s", "rms mm", "max mm", "max %");
    }
    printf("\n");
    for (int n = first_row; rows < ROOM; n *= 2) {
        n = n > train->count ? train->count : n;
        printf("%8d", n);
        x[rows] = log10(n);
        for (int k = 0; k < KINDS; ++k) {
            double rms, most;
            pl_learned *l = fit(train, n, k == 2, k == 0 ? published : NULL, 0);
            errors(l, test, &rms, &most);
            y[k][rows] = log10(100 * most / width);
            printf("  %10.4f %9.4f %8.3f%%", rms, most, 100 * most / width);
            fflush(stdout);
            pl_learned_destroy(l);
        }
        printf("\n");
        ++rows;
        if (n == train->count) {
            break;
        }
    }

    const double level[2] = {log10(0.2), log10(0.2)}, ends[2] = {x[0], x[rows - 1]};
    const pl_curve list[] = {{name[0], x, y[0], rows, false},
                             {name[1], x, y[1], rows, false},
                             {name[2], x, y[2], rows, false},
                             {"0.2 %", ends, level, 2, false}};
    const pl_plot plot = {.title = "largest error of the learned marker",
                          .x_label = "log10 of the samples",
                          .y_label = "log10 of the error in % of the width",
                          .curve = list,
                          .curve_count = 4};
    pl_error err = {0};
    if (picture) {
        must(pl_plot_write(&plot, picture, &err), &err);
    }
}

// ---- the inverse
static const char *const method_name[PL_REACH_METHOD_COUNT] = {"Gauss-Newton", "published gradient, N_J",
                                                               "direct inverse"};
static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void times(pl_learned *l, const pl_dataset *d)
{
    static double time_of[TARGETS];
    const int C = d->about.info.command_count;

    printf("\n%d random targets, each from the previous commands; CPU time\n%26s %10s %10s %10s %9s\n",
           TARGETS, "method", "median us", "99.9 % us", "largest", "within");
    for (int method = 0; method < PL_REACH_METHOD_COUNT; ++method) {
        pl_reach_options o = pl_reach_options_default();
        pl_reach *r = NULL;
        pl_error err = {0};
        o.method = method;
        must(pl_reach_create(l, &o, &r, &err), &err);
        double command[16] = {0};
        long reached = 0;
        const int n = method == PL_REACH_PUBLISHED ? TARGETS / 20 : TARGETS;
        for (int k = 0; k < n; ++k) {
            double c[16], p[3];
            for (int i = 0; i < C; ++i) {
                const double *range = d->about.info.command[i].range;
                c[i] = range[0] + (range[1] - range[0]) * uniform();
            }
            pl_reach_forward(r, c, p, NULL);
            const double start = thread_seconds();
            const pl_reach_result result = pl_reach_solve(r, p, command);
            time_of[k] = 1e6 * (thread_seconds() - start);
            reached += result.converged;
        }
        qsort(time_of, (size_t)n, sizeof *time_of, compare);
        printf("%26s %10.1f %10.1f %10.1f %8.2f%%\n", method_name[method], time_of[n / 2],
               time_of[(int)(0.999 * n)], time_of[n - 1], 100.0 * (double)reached / n);
        pl_reach_destroy(r);
    }
}

static void path(pl_learned *l, const pl_dataset *d, const pl_path_def *def, const char *name)
{
    static double point[3 * WAYPOINTS];
    pl_error err = {0};
    pl_model *full = NULL;
    const pl_model_load_options load = {
        .load = {.mesher = pl_meshing_mesher(), .size = d->mesh_size, .order = d->mesh_order}};

    must(pl_path_points(def, point, &err), &err);
    must(pl_model_load(d->robot_file, &load, &full, NULL, &err), &err);
    printf("\n%s of %g x %g mm, %d points (x and y prescribed), every %d judged by the full model\n%26s %10s "
           "%10s %10s %9s\n",
           name, def->size[0], def->size[1], def->count, def->count / JUDGED, "method", "mean us", "mean mm",
           "largest", "within");
    for (int method = 0; method < PL_REACH_METHOD_COUNT; ++method) {
        pl_reach_options o = pl_reach_options_default();
        pl_reach *r = NULL;
        o.method = method;
        o.axes[0] = o.axes[1] = true;
        must(pl_reach_create(l, &o, &r, &err), &err);
        double command[16], seconds = 0, sum = 0, most = 0;
        int judged = 0, reached = 0;
        for (int i = 0; i < 16; ++i) {
            command[i] = NAN;
        }
        for (int k = 0; k < def->count; ++k) {
            const double start = thread_seconds();
            reached += pl_reach_solve(r, point + 3 * k, command).converged;
            seconds += thread_seconds() - start;
            pl_solve_report report;
            if (k % (def->count / JUDGED) == 0) {
                must(pl_model_fk(full, command, &report, &err), &err);
                const double e = distance(pl_model_get_answer(full).marker, point + 3 * k, 2);
                if (report.outcome == PL_SOLVED) {
                    sum += e;
                    most = fmax(most, e);
                    ++judged;
                }
            }
        }
        printf("%26s %10.1f %10.4f %10.4f %5d/%d\n", method_name[method], 1e6 * seconds / def->count,
               sum / judged, most, reached, def->count);
        fflush(stdout);
        pl_reach_destroy(r);
    }

    pl_model_destroy(full);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        printf("skipped: needs data sets, validation/learned_paper.sh makes them\n");
        return 0;
    }

    pl_dataset *train = read_set(argv[1], true), *test = read_set(argv[2], false);
    pl_network_def published = {.activation = PL_TANSIG, .seed = 1};
    for (char *at = argv[3]; *at && published.layer_count < PL_NETWORK_LAYERS; at += *at == ',') {
        published.width[published.layer_count++] = (int)strtol(at, &at, 10);
    }
    activation = argc > 6 ? pl_activation_find(argv[6]) : PL_TANSIG;
    first_row = argc > 7 ? (int)strtol(argv[7], NULL, 10) : 16;
    if (activation == PL_ACTIVATION_COUNT || first_row < 10) {
        fprintf(stderr, "expected the name of an activation, and at least 10 samples\n");
        return 2;
    }

    char kind[20];
    pl_path_def def = pl_path_default(PL_PATH_FLOWER);
    double size[2], centre[3];
    if (sscanf(argv[4], "%19[a-z]:%lf,%lf:%lf,%lf,%lf", kind, &size[0], &size[1], &centre[0], &centre[1],
               &centre[2]) != 6) {
        fprintf(stderr, "expected PATH:WIDTH,HEIGHT:CX,CY,CZ\n");
        return 2;
    }

    const bool flower = strcmp(kind, "flower") == 0, eight = strcmp(kind, "eight") == 0;
    def = pl_path_default(flower ? PL_PATH_FLOWER : eight ? PL_PATH_EIGHT : PL_PATH_SQUARE);
    def.count = flower ? 120 : WAYPOINTS;
    memcpy(def.size, size, sizeof size);
    memcpy(def.centre, centre, sizeof centre);
    curve(train, test, &published, argc > 5 ? argv[5] : NULL);
    pl_learned *l = fit(train, train->count, 1, NULL, 1u << PL_LEARN_JACOBIAN | 1u << PL_LEARN_INVERSE);
    times(l, train);
    path(l, train, &def, kind);
    pl_learned_destroy(l);

    return 0;
}
