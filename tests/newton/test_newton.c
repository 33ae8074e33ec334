// Newton's method at fixed loads. The equilibrium does not depend on where the iteration starts; beside a
// saddle it leaves to the side it was pushed to, mirrored shapes with equal energies below that of the
// saddle; what ends it is reported.
#include "newton/newton.h"
#include "statics_robot.h"

typedef struct bench {
    pl_robot *robot;
    pl_problem *problem;
    pl_state *state;
    pl_newton_solver newton;
    double *x;
} bench;

static const double bench_length = 60, bench_side = 3;

// The problem of the robot at full load, and its solver.
static void bench_problem(bench *b)
{
    pl_error err = {0};
    const pl_problem_options options = {.contact_tolerance = 3e-4, .force_tolerance = 1e-9};
    PL_CHECK_OK(pl_problem_create(b->robot, &options, NULL, &b->problem, &err));
    PL_CHECK_OK(pl_state_create(b->robot, &b->state, &err));
    PL_CHECK_OK(
        pl_problem_begin_step(b->problem, &(pl_step){.from = b->state, .command = NULL, .load = 1}, &err));
    pl_problem_set(b->problem, 1);
    PL_CHECK_OK(pl_newton_init(&b->newton, b->problem, true, &err));
    const pl_progress progress = {0};
    pl_newton_watch(&b->newton, &progress, "test", 0);
    b->x = malloc(pl_problem_full_bytes(b->problem));
    memcpy(b->x, b->state->x, pl_problem_full_bytes(b->problem));
}

// A cantilever with a dead force at its tip, at full load.
static void bench_build(bench *b, const double force[3])
{
    static plan p;

    *b = (bench){0};
    pl_mesh *mesh = tet_box(16, 1, 1, bench_length, bench_side, 4.0 / 3 * bench_side, 2, NULL);
    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, bench_length);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {force[0], force[1], force[2]}};
    b->robot = plan_robot(&p);
    pl_mesh_destroy(mesh);

    bench_problem(b);
}

static void bench_clear(bench *b)
{
    pl_newton_clear(&b->newton);
    pl_problem_destroy(b->problem);
    pl_state_destroy(b->state);
    pl_robot_destroy(b->robot);
    free(b->x);
}

static const pl_newton_goal bench_goal = {.force_tolerance = 1e-9, .length_tolerance = 1e-8, .limit = 200};

static void test_start(void **state)
{
    (void)state;
    const double inertia = 4.0 / 3 * pow(bench_side, 4) / 12,
                 force[3] = {0, inertia / (bench_length * bench_length), 0};
    bench from_rest;
    bench_build(&from_rest, force);
    pl_newton_report report;
    pl_error err = {0};
    assert_int_equal(pl_newton_minimise(&from_rest.newton, from_rest.x, &bench_goal, &report, &err),
                     NEWTON_DONE);
    assert_true(report.relative < bench_goal.force_tolerance && report.step < bench_goal.length_tolerance);
    assert_true(report.factors >= 1 && !report.indefinite);

    // other starts: every free vertex elsewhere, by up to a twentieth of the side
    srand(7);
    for (int k = 0; k < 5; ++k) {
        bench other;
        bench_build(&other, force);
        for (int64_t i = 0; i < 3 * (int64_t)other.problem->mesh.vertex_count; ++i) {
            const bool free_axis = other.problem->unknowns.dof[i] >= 0;
            other.x[i] += free_axis ? 0.05 * bench_side * (2.0 * rand() / RAND_MAX - 1) : 0;
        }
        assert_int_equal(pl_newton_minimise(&other.newton, other.x, &bench_goal, &report, &err), NEWTON_DONE);
        const double apart = pl_newton_distance(&other.newton, from_rest.x, other.x);
        print_message("start %d: %.1e mm apart, %d factors\n", k, apart, report.factors);
        PL_CHECK_NEAR(apart, 0, 1e-6);
        bench_clear(&other);
    }

    bench_clear(&from_rest);
}

// A column at 1.3 times Euler's load, pushed aside by 1e-3 of its length, to either side.
static void test_saddle(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, inertia = 4.0 / 3 * pow(bench_side, 4) / 12,
                 euler = pi * pi * inertia / (4 * bench_length * bench_length),
                 force[3] = {-1.3 * euler, 0, 0};
    double energy[2], aside[2];
    pl_error err = {0};
    pl_newton_goal goal = bench_goal;
    goal.start = NEWTON_LEAVE;
    for (int k = 0; k < 2; ++k) {
        bench b;
        bench_build(&b, force);
        pl_newton_report report;
        int32_t tip = 0;
        for (int32_t v = 0; v < b.problem->mesh.vertex_count; ++v) {
            const double s = b.x[3 * (int64_t)v] / bench_length;
            b.x[3 * (int64_t)v + 1] += (k == 0 ? 1 : -1) * 1e-3 * bench_length * s * s;
            tip = b.x[3 * (int64_t)v] > b.x[3 * (int64_t)tip] ? v : tip;
        }
        const double straight = pl_problem_evaluate(b.problem, b.state->x, NULL);
        assert_int_equal(pl_newton_minimise(&b.newton, b.x, &goal, &report, &err), NEWTON_DONE);
        energy[k] = report.energy;
        aside[k] = b.x[3 * (int64_t)tip + 1] - b.problem->mesh.position[3 * (int64_t)tip + 1];
        print_message("tip %+.4f mm aside, energy %.6f mJ (straight %.6f), %d factors\n", aside[k], energy[k],
                      straight, report.factors);
        assert_true(report.indefinite && energy[k] < straight);
        bench_clear(&b);
    }

    assert_true(aside[0] > 0.2 * bench_length && aside[1] < -0.2 * bench_length);
    PL_CHECK_NEAR(energy[0] / energy[1], 1, 0.01); // the tetrahedra of the box are not mirrored
}

static bool refuse(void *user, double fraction, const char *what)
{
    (void)user;
    (void)fraction;
    (void)what;
    return false;
}

static void test_ends(void **state)
{
    (void)state;
    const double inertia = 4.0 / 3 * pow(bench_side, 4) / 12,
                 force[3] = {0, 3 * inertia / (bench_length * bench_length), 0};
    bench b;
    bench_build(&b, force);
    pl_newton_report report;
    pl_error err = {0};
    pl_newton_goal goal = bench_goal;
    goal.limit = 1;
    assert_int_equal(pl_newton_minimise(&b.newton, b.x, &goal, &report, &err), NEWTON_LIMIT);
    const pl_progress stop = {.step = refuse};
    pl_newton_watch(&b.newton, &stop, "test", 0);
    assert_int_equal(pl_newton_minimise(&b.newton, b.x, &bench_goal, &report, &err), NEWTON_STOPPED);
    assert_int_equal(report.end, NEWTON_STOPPED);
    bench_clear(&b);
}

// A new factor pays where the old one leaves more iterations than the new one and its cost: never when
// nothing is left to do, always when the iteration does not contract, sooner the slower it is and the less a
// factor costs.
static void test_renewal(void **state)
{
    (void)state;
    assert_false(pl_newton_renewal_pays(2, 1, 1, 0));
    assert_true(pl_newton_renewal_pays(1, 1, 0.5, 100));

    // 1e-6 to go: 6 iterations at 0.1, 131 at 0.9; after a fall by 10 a new factor takes 3, or 6
    assert_false(pl_newton_renewal_pays(0.1, 0.1, 1e-6, 3.5));
    assert_true(pl_newton_renewal_pays(0.1, 0.1, 1e-6, 2.5));
    assert_true(pl_newton_renewal_pays(0.9, 0.1, 1e-6, 100));
    assert_false(pl_newton_renewal_pays(0.9, 0.1, 1e-6, 130));

    // a cantilever that bends by 40 degrees: with the rule few iterations, without it L-BFGS has to bend the
    // beam
    const double inertia = 4.0 / 3 * pow(bench_side, 4) / 12,
                 force[3] = {0, 2 * inertia / (bench_length * bench_length), 0};
    bench b;
    bench_build(&b, force);
    pl_newton_report report;
    pl_error err = {0};
    assert_int_equal(pl_newton_minimise(&b.newton, b.x, &bench_goal, &report, &err), NEWTON_DONE);
    print_message("bent cantilever: %d factors, %d iterations, cost of a factor %.1f solves\n",
                  report.factors, b.newton.iterations, pl_newton_factor_cost(&b.newton));
    assert_in_range(report.factors, 3, 12);
    assert_in_range(b.newton.iterations, 4, 24);
    bench_clear(&b);
}

// Boxes that slide on three of their faces: no vertex is held along all axes, so that the Laplacian of
// co-rotated steps has a null space (pivots of its factor that are rounding errors hide it on some meshes).
// Steps are straight, a step moves no vertex farther than its own length, and the uniform stretch is found.
static void test_sliding_supports(void **state)
{
    (void)state;
    int refused = 0;
    double worst = 0;

    for (int cells = 1; cells <= 6; ++cells) {
        for (int order = 1; order <= 2; ++order) {
            static plan p;
            bench b = {0};
            pl_error err = {0};
            pl_mesh *mesh = tet_box(cells, cells, cells, 7 + cells, 5, 6, order, NULL);
            plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0.3});
            plan_plane(&p, "base", 0, 0);
            plan_plane(&p, "side", 1, 0);
            plan_plane(&p, "end", 0, 7 + cells);
            plan_hold(&p, "base", "x");
            plan_hold(&p, "side", "y");
            plan_hold(&p, "end", "z");
            plan_marker(&p, "end", "end");
            p.force[p.def.force_count++] = (pl_force_def){.marker = "end", .force = {0.3, 0, 0}};
            b.robot = plan_robot(&p);
            pl_mesh_destroy(mesh);
            bench_problem(&b);

            refused += !pl_newton_can_corotate(&b.newton);
            double *step = calloc((size_t)b.problem->unknowns.n, sizeof *step),
                   *to = malloc(pl_problem_full_bytes(b.problem));
            for (int32_t i = 0; i < b.problem->unknowns.n; ++i) {
                step[i] = 1e-3 * sin(7.0 * i);
            }
            pl_newton_move(&b.newton, b.x, step, to);
            worst = fmax(worst, pl_newton_distance(&b.newton, b.x, to));

            pl_newton_report report;
            assert_int_equal(pl_newton_minimise(&b.newton, b.x, &bench_goal, &report, &err), NEWTON_DONE);
            free(step);
            free(to);
            bench_clear(&b);
        }
    }

    print_message("boxes on sliding supports: %d of 12 step straight, farthest %.2e of %.2e mm\n", refused,
                  worst, sqrt(3) * 1e-3);
    assert_true(worst <= sqrt(3) * 1e-3);
    assert_int_equal(refused, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start), cmocka_unit_test(test_renewal),          cmocka_unit_test(test_saddle),
        cmocka_unit_test(test_ends),  cmocka_unit_test(test_sliding_supports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
