// From rest to about 80 degrees of tip rotation: the bellows finger of about 7k quadratic tetrahedra inflated
// by pressure, beside CalculiX on the same mesh and law (one thread, *STATIC 0.1, 1., its default controls).
// CPU seconds of ours are those of building the solver and solving, of CalculiX those of its whole process.
// Then the locking-free elements at Poisson 0.49, and every linear solver.
//
//   bench_statics [all|ours] [size]      `ours` leaves CalculiX out; size: edge length of the elements, mm
#include "bench_ccx.h"

extern void openblas_set_num_threads(int count);

typedef struct run {
    const char *name;
    pl_linear_solver solver;
    int threads;
    bool displacement;
} run;

static void head(void)
{
    printf("%-34s %7s %8s %8s %6s %6s %7s %7s %8s\n", "", "threads", "CPU s", "wall s", "incr", "iter",
           "factor", "solves", "turn deg");
}

// Mean displacement of the nodes of the tip as CalculiX prints it: every node once.
static void tip_mean(const bench_robot *b, double tip[3])
{
    const pl_mesh *mesh = pl_robot_mesh(b->robot);
    const pl_mesh_view v = pl_mesh_get(mesh);
    const double *x = pl_state_positions(b->state);
    const int32_t s = pl_mesh_find_surface(mesh, "tip");
    bool *seen = calloc((size_t)v.vertex_count, sizeof *seen);
    int count = 0;

    tip[0] = tip[1] = tip[2] = 0;
    for (int64_t f = v.surface_start[s]; seen && f < v.surface_start[s + 1]; ++f) {
        int32_t node[PL_FACE_NODES_MAX];
        const int nodes = pl_mesh_face_nodes(mesh, v.surface_face[f], node);
        for (int a = 0; a < nodes; ++a) {
            if (!seen[node[a]]) {
                seen[node[a]] = true;
                ++count;
                for (int k = 0; k < 3; ++k) {
                    tip[k] += (x[3 * node[a] + k] - v.position[3 * node[a] + k] - tip[k]) / count;
                }
            }
        }
    }

    free(seen);
}

static bool run_ours(bench_robot *b, const run *r, double pressure)
{
    pl_statics_options options = pl_statics_options_default();
    options.linear_solver = r->solver;
    options.displacement = r->displacement;
    pl_threads_set(r->threads);
    openblas_set_num_threads(r->threads);
    if (!bench_start(b, &options) || !bench_solve(b, &pressure)) {
        printf("%-34s not solved\n", r->name);
        return false;
    }

    const pl_solve_report *p = &b->report;
    printf("%-34s %7d %8.2f %8.2f %6d %6d %7d %7d %8.2f\n", r->name, r->threads, b->create.cpu + b->solve.cpu,
           b->create.wall + b->solve.wall, p->increments, p->iterations, p->factorizations, p->solves,
           bench_turn(b));
    fflush(stdout);

    return true;
}

static void finger_line(const bench_robot *b, const char *law, double pressure)
{
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(b->robot));
    printf("\nskin: %s; layer: stvk; %d tet10, %d vertices; rest to %g kPa\n", law, (int)v.element_count,
           (int)v.vertex_count, 1e3 * pressure);
    head();
}

// Ours with each linear solver, or with the default one alone, against CalculiX.
static bool against_ccx(const char *law, double size, double pressure, bool all_solvers, bool with_ccx)
{
    static const run runs[] = {{"pliant, displacement, cholmod", PL_SOLVER_CHOLMOD, 1, true},
                               {"pliant, displacement, mumps", PL_SOLVER_MUMPS, 1, true},
                               {"pliant, displacement, multifrontal", PL_SOLVER_MULTIFRONTAL, 1, true},
                               {"pliant, displacement, multifrontal", PL_SOLVER_MULTIFRONTAL, 2, true}};
    bench_robot b;
    bench_ccx c;

    if (!bench_load(&b, BENCH_FINGER, size, law)) {
        return false;
    }
    finger_line(&b, law, pressure);
    bool done = true;
    double single = 0;
    for (int i = all_solvers ? 0 : 2; i < PL_COUNT(runs); ++i) {
        done = run_ours(&b, &runs[i], pressure) && done;
        single = i == 2 ? b.create.cpu + b.solve.cpu : single;
    }

    if (done && with_ccx && bench_ccx_run(b.robot, pressure, &c)) {
        double tip[3];
        tip_mean(&b, tip);
        const double apart = hypot(hypot(tip[0] - c.tip[0], tip[1] - c.tip[1]), tip[2] - c.tip[2]);
        const double moved = hypot(hypot(tip[0], tip[1]), tip[2]);
        printf("%-18s %-15s %7d %8.2f %8.2f %6d %6d %7d\n", "CalculiX", c.version, 1, c.cpu, c.wall,
               c.increments, c.iterations, c.factorizations);
        printf("CalculiX over pliant: CPU %.1f (one thread), %.1f (two threads); "
               "factorisations %.1f\n",
               c.cpu / single, c.cpu / (b.create.cpu + b.solve.cpu),
               c.factorizations / (double)b.report.factorizations);
        printf("tips %.3f mm apart, %.2f %% of the path of %.1f mm\n", apart, 100 * apart / moved, moved);
    }

    bench_close(&b);

    return done;
}

// The default formulation where plain elements lock.
static bool locking_free(double size, double pressure)
{
    static const run runs[] = {{"pliant, locking-free, mumps", PL_SOLVER_MUMPS, 1, false},
                               {"pliant, locking-free, multifrontal", PL_SOLVER_MULTIFRONTAL, 1, false},
                               {"pliant, locking-free, default", PL_SOLVER_AUTO, 2, false},
                               {"pliant, displacement, default", PL_SOLVER_AUTO, 2, true}};
    bench_robot b;

    if (!bench_load(&b, BENCH_FINGER, size, BENCH_NEO_HOOKEAN_49)) {
        return false;
    }
    finger_line(&b, BENCH_NEO_HOOKEAN_49, pressure);
    bool done = true;
    for (int i = 0; i < PL_COUNT(runs); ++i) {
        done = run_ours(&b, &runs[i], pressure) && done;
    }
    bench_close(&b);

    return done;
}

int main(int argc, char **argv)
{
    const bool with_ccx = !(argc > 1 && strcmp(argv[1], "ours") == 0);
    const double size = argc > 2 && atof(argv[2]) > 0 ? atof(argv[2]) : BENCH_FINGER_SIZE;

    bench_title("equilibrium from rest, bellows finger");
    bool done = against_ccx(BENCH_NEO_HOOKEAN_45, size, 34e-3, true, with_ccx);
    done = against_ccx(BENCH_STVK_45, size, 43e-3, false, with_ccx) && done;
    done = locking_free(size, 34e-3) && done;

    return done ? 0 : 1;
}
