// Element loops of the bellows finger: energy and forces, tangents, and the proven bound of J, on one and on
// two threads. Every sample runs both counts of threads one after the other, the best of each is taken, so
// that a disturbance meets both alike.
//
//   bench_elements [samples]
#include "bench.h"
#include "element/element.h"

typedef struct body {
    pl_elements *elements;
    double *x, *force, *tangent;
} body;

typedef void (*loop)(body *b);

static void loop_energy(body *b)
{
    pl_elements_energy(b->elements, b->x, b->force, NULL);
}

static void loop_tangent(body *b)
{
    pl_elements_tangent(b->elements, b->x, 0, NULL, b->tangent);
}

static void loop_positive(body *b)
{
    pl_elements_tangent(b->elements, b->x, 1, NULL, b->tangent);
}

static void loop_bound(body *b)
{
    pl_elements_bound(b->elements, b->x, NULL, NULL);
}

static void measure(const char *name, loop run, body *b, double seconds, int repeats)
{
    double best[2] = {INFINITY, INFINITY}, cpu = INFINITY;
    const double begin = pl_seconds();

    for (int i = 0; i < 3 || (i < 50 && pl_seconds() - begin < seconds); ++i) {
        for (int threads = 1; threads <= 2; ++threads) {
            pl_threads_set(threads);
            run(b);
            const bench_clock start = bench_now();
            for (int k = 0; k < repeats; ++k) {
                run(b);
            }
            const bench_clock t = bench_since(start);
            // the first sample warms caches and threads up
            best[threads - 1] = i > 0 ? fmin(best[threads - 1], 1e3 * t.wall / repeats) : INFINITY;
            cpu = i > 0 && threads == 1 ? fmin(cpu, 1e3 * t.cpu / repeats) : cpu;
        }
    }

    const double elements = b->elements->element_count;
    printf("%-28s %9.2f %9.2f %9.2f %7.2f %10.2f %10.2f   %s\n", name, cpu, best[0], best[1],
           best[0] / best[1], 1e-3 * elements / cpu, 1e-3 * elements / best[1],
           best[0] / best[1] >= 1.6 ? "at least 1.6" : "below 1.6");
    fflush(stdout);
}

// A smooth bend that strains the body by a few percent.
static void bend(const pl_mesh_view *v, double *x)
{
    for (int32_t i = 0; i < v->vertex_count; ++i) {
        const double *X = v->position + 3 * (int64_t)i;
        const double angle = X[0] / 100, radius = 100 + X[2];
        x[3 * i] = radius * sin(angle);
        x[3 * i + 1] = 1.02 * X[1];
        x[3 * i + 2] = radius * cos(angle) - 100;
    }
}

static bool elements_table(double size, bool displacement, double seconds)
{
    bench_robot r;
    if (!bench_load(&r, BENCH_FINGER, size, BENCH_NEO_HOOKEAN_49)) {
        return false;
    }

    const pl_mesh *mesh = pl_robot_mesh(r.robot);
    const pl_mesh_view v = pl_mesh_get(mesh);
    const pl_material materials[2] = {pl_robot_material(r.robot, 0), pl_robot_material(r.robot, 1)};
    const pl_material *of_region[2];
    for (int k = 0; k < 2; ++k) {
        const char *name = pl_robot_region_material(r.robot, k);
        of_region[k] = &materials[strcmp(name, pl_robot_material_name(r.robot, 0)) == 0 ? 0 : 1];
    }

    const bool skip[2] = {false, false};
    pl_error err = {0};
    body b = {0};
    if (pl_elements_create(mesh, of_region, skip, displacement, &b.elements, &err) != PL_OK) {
        bench_close(&r);
        return bench_failed("elements", &err);
    }

    b.x = PL_NEW_ARRAY(double, 3 * (int64_t)v.vertex_count);
    b.force = PL_NEW_ARRAY(double, 3 * (int64_t)v.vertex_count);
    b.tangent = PL_NEW_ARRAY(double, b.elements->tangent_size);
    const bool done = b.x && b.force && b.tangent;
    if (done) {
        bend(&v, b.x);
        printf("\n%d tet10, %s, %s\n", (int)v.element_count, displacement ? "displacement" : "locking-free",
               pl_kernels_choose()->name);
        printf("%-28s %9s %9s %9s %7s %10s %10s\n", "", "CPU ms, 1", "ms, 1", "ms, 2", "gain", "M elem/s 1",
               "M elem/s 2");
        const int repeats = v.element_count > 20000 ? 2 : 5;
        measure("energy and forces", loop_energy, &b, seconds, repeats);
        measure("tangents", loop_tangent, &b, seconds, repeats);
        measure("tangents, positive part", loop_positive, &b, seconds, 1);
        measure("bound of J", loop_bound, &b, seconds, repeats);
    }

    pl_free(b.x);
    pl_free(b.force);
    pl_free(b.tangent);
    pl_elements_destroy(b.elements);
    bench_close(&r);

    return done;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 && atof(argv[1]) > 0 ? atof(argv[1]) : 3;
    bench_title("element loops, bellows finger");
    bool done = elements_table(BENCH_FINGER_SIZE, true, seconds);
    done = elements_table(BENCH_FINGER_SIZE, false, seconds) && done;
    done = elements_table(1.9, false, seconds) && done;
    return done ? 0 : 1;
}
