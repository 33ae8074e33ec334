// How cost grows with the mesh: the square trunk with three chambers, one of them inflated from rest, at
// about 2k, 7k, 20k and 40k quadratic tetrahedra, each in a process of its own. Exponents p of cost ~
// elements^p between neighbours; the peak of memory is that of the process, meshing included (given apart as
// well).
//
//   bench_growth [threads [size]]      size: only this edge length, mm (1.44: about 100k)
#include "bench.h"

static const char finger[] = "pliant: 1\n"
                             "name: finger\n"
                             "mesh: {design: {kind: cable_finger}, size: %g, order: 2}\n"
                             "materials: {silicone: {model: neo_hookean, c10: 0.2 MPa, poisson: 0.49}}\n"
                             "regions: {body: silicone}\n"
                             "fixed: [{surface: base}]\n"
                             "actuators:\n"
                             "  - name: flexor\n"
                             "    kind: cable\n"
                             "    through: [[0, 0, 4], [20, 0, 4], [40, 0, 4], [50, 0, 4], [70, 0, 4], [80, "
                             "0, 4], [100, 0, 4], [116, 0, 4]]\n"
                             "    radius: 2\n"
                             "    drive: shortening\n"
                             "    range: [0, 20]\n"
                             "markers: {tip: {surface: tip}}\n";

#define SHORTENING 15.0 // mm

enum {
    ELEMENTS,
    UNKNOWNS,
    CREATE,
    SOLVE,
    WALL,
    FACTORIZATIONS,
    SOLVES,
    FACTOR_MB,
    MESH_MB,
    PEAK_MB,
    TURN,
    RESULTS
};

typedef struct growth {
    double size;
    int threads;
} growth;

static bool grow(const void *input, double *result)
{
    const growth *g = input;
    const pl_statics_options options = pl_statics_options_default();
    const double command = SHORTENING;
    bench_robot b;

    pl_threads_set(g->threads);
    if (!bench_load(&b, finger, g->size)) {
        return false;
    }
    result[MESH_MB] = bench_peak_mb();
    if (!bench_start(&b, &options) || !bench_solve(&b, &command)) {
        return false;
    }

    const pl_statics_sizes sizes = pl_statics_get_sizes(b.statics);
    result[ELEMENTS] = sizes.elements;
    result[UNKNOWNS] = sizes.unknowns;
    result[CREATE] = b.create.cpu;
    result[SOLVE] = b.solve.cpu;
    result[WALL] = b.create.wall + b.solve.wall;
    result[FACTORIZATIONS] = b.report.factorizations;
    result[SOLVES] = b.report.solves;
    result[FACTOR_MB] = (double)sizes.factor_bytes / 1048576;
    result[PEAK_MB] = bench_peak_mb();
    result[TURN] = bench_turn(&b);
    bench_close(&b);

    return true;
}

static void row(const double *r)
{
    printf("%8.0f %9.0f %9.2f %9.2f %9.2f %7.0f %7.0f %9.0f %9.0f %9.0f %8.2f\n", r[ELEMENTS], r[UNKNOWNS],
           r[CREATE], r[SOLVE], r[WALL], r[FACTORIZATIONS], r[SOLVES], r[FACTOR_MB], r[MESH_MB], r[PEAK_MB],
           r[TURN]);
    fflush(stdout);
}

static void exponents(const double *a, const double *b)
{
    const double from = a[ELEMENTS], to = b[ELEMENTS];
    printf("%6.0fk to %3.0fk: create %.2f, solve %.2f, solve per factorisation %.2f, factor memory %.2f, "
           "peak %.2f\n",
           1e-3 * from, 1e-3 * to, bench_exponent(a[CREATE], b[CREATE], from, to),
           bench_exponent(a[SOLVE], b[SOLVE], from, to),
           bench_exponent(a[SOLVE] / a[FACTORIZATIONS], b[SOLVE] / b[FACTORIZATIONS], from, to),
           bench_exponent(a[FACTOR_MB], b[FACTOR_MB], from, to),
           bench_exponent(a[PEAK_MB], b[PEAK_MB], from, to));
}

int main(int argc, char **argv)
{
    double size[] = {6.2, 3.7, 2.5, 1.95};
    int sizes = PL_COUNT(size);

    if (argc > 2 && atof(argv[2]) > 0) {
        size[0] = atof(argv[2]);
        sizes = 1;
    }

    const int threads = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 1;
    double result[PL_COUNT(size)][RESULTS];
    bench_title("cost growth, cable finger, locking-free, Poisson 0.49");
    printf("threads: %d; tendon drawn in by %g mm from rest\n\n", threads, SHORTENING);
    printf("%8s %9s %9s %9s %9s %7s %7s %9s %9s %9s %8s\n", "tet10", "unknowns", "create s", "solve s",
           "wall s", "factor", "solves", "factor MB", "mesh MB", "peak MB", "turn deg");
    int done = 0;
    for (; done < sizes; ++done) {
        const growth g = {size[done], threads};
        if (!bench_apart(grow, &g, result[done], RESULTS)) {
            printf("at edges of %g mm: no result\n", size[done]);
            break;
        }
        row(result[done]);
    }

    if (sizes > 1) {
        printf("\nexponents (CPU s)\n");
    }
    for (int i = 1; i < done; ++i) {
        exponents(result[i - 1], result[i]);
    }

    if (done == PL_COUNT(size)) {
        const double *last = result[done - 1];
        printf("peak at %.0f tet10: %.2f GiB, %s 4 GiB\n", last[ELEMENTS], last[PEAK_MB] / 1024,
               last[PEAK_MB] < 4096 ? "below" : "NOT below");
    }

    return done == sizes ? 0 : 1;
}
