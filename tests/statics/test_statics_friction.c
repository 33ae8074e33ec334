// Friction with obstacles: the traction follows the pressure of the same equilibrium, so that what a solve in
// many steps finds one in a single step finds as well; a plate that slips drags with mu times its force. A
// ball that comes into contact point after point takes hold of each where it met it, in increments chosen by
// their error; one that is taken back, or only tried, leaves what friction holds as it was.
#include "problem/problem.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.3};

static double reading(rig *r, const char *quantity)
{
    for (int i = 0; i < pl_statics_reading_count(r->statics); ++i) {
        const pl_reading_info info = pl_statics_reading_info(r->statics, i);
        if (strcmp(info.name, "plate") == 0 && strcmp(info.quantity, quantity) == 0) {
            return pl_statics_reading(r->statics, r->state, i);
        }
    }

    fail_msg("no reading %s", quantity);
    return 0;
}

// A block of 4 x 4 mm and of the given height, clamped at z = 0; above it a plate or a ball that moves along
// `move`.
static rig block_rig(plan *p, pl_mesh *mesh, double height, pl_obstacle_def *o, bool ball, double mu,
                     const double move[3])
{
    *o = (pl_obstacle_def){.name = "plate",
                           .kind = ball ? PL_OBSTACLE_SPHERE : PL_OBSTACLE_PLANE,
                           .radius = 3,
                           .point = {2, 2, height - 0.001 + (ball ? 3 : 0)},
                           .direction = {0, 0, -1},
                           .moves = true,
                           .friction = mu};
    memcpy(o->move, move, sizeof o->move);
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 2, 0);
    plan_hold(p, "base", "xyz");
    p->def.contact = (pl_contact_def){.given = true, .obstacle = o, .obstacle_count = 1};

    return plan_build(p, NULL);
}

// Pressed and drawn aside at once, along a straight line: the same tractions for any number of steps, also of
// a ball, which meets point after point.
static void test_steps(void **state)
{
    (void)state;
    static plan p;
    static const double move[][3] = {{0.6, 0, -0.5}, {0.15, 0.1, -0.5}};
    for (int k = 0; k < 4; ++k) {
        pl_mesh *mesh = tet_box(3 + k % 2, 3, 3, 4, 4, 4, 2, NULL);
        double force[3][2];
        for (int n = 0; n < 3; ++n) {
            pl_obstacle_def o;
            const int steps = n == 0 ? 1 : n == 1 ? 4 : 16;
            rig r = block_rig(&p, mesh, 4, &o, k / 2, 0.4, move[k % 2]);
            int factorizations = 0;
            for (int i = 1; i <= steps; ++i) {
                const double at = (double)i / steps;
                factorizations += rig_solve(&r, &at).factorizations;
            }
            force[n][0] = reading(&r, "normal_force");
            force[n][1] = hypot(reading(&r, "force_x"), reading(&r, "force_y"));
            printf("%s, %2d steps: normal %.5f N, tangential %.5f N (%.4f), %d factorisations\n",
                   k / 2 ? "ball" : "plate", steps, force[n][0], force[n][1], force[n][1] / force[n][0],
                   factorizations);
            rig_clear(&r);
        }
        for (int n = 0; n < 2; ++n) {
            PL_CHECK_NEAR(force[n][0] / force[2][0], 1, 0.005);
            PL_CHECK_NEAR(force[n][1] / force[2][1], 1, k < 2 ? 0.005 : 0.02);
        }
        pl_mesh_destroy(mesh);
    }
}

// A plate far beyond its limit drags with mu times its normal force. The last block is flatter: a cube rolls
// its edge over at this friction until elements are inverted.
static void test_limit(void **state)
{
    (void)state;
    static plan p;
    static const double mu[] = {0.1, 0.3, 0.5, 0.7}, height[] = {4, 4, 4, 1.5};
    for (int k = 0; k < 4; ++k) {
        const double move[3] = {0.75 * height[k], 0, -0.0625 * height[k]};
        pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, height[k], 2, NULL);
        pl_obstacle_def o;
        rig r = block_rig(&p, mesh, height[k], &o, false, mu[k], move);
        const double one = 1;
        const pl_solve_report report = rig_solve(&r, &one);
        const double ratio = reading(&r, "force_x") / reading(&r, "normal_force");
        printf("friction %.1f: tangential / normal %.5f, %d factorisations\n", mu[k], ratio,
               report.factorizations);
        PL_CHECK_NEAR(ratio / mu[k], 1, 0.02);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

// The largest difference of the forces at x, at the start of the path, from g.
static double forces_differ(pl_problem *p, const double *x, const double *g, double *now)
{
    double most = 0;
    pl_problem_set(p, 0);
    pl_problem_evaluate(p, x, now);
    for (int32_t i = 0; i < p->unknowns.n; ++i) {
        most = fmax(most, fabs(now[i] - g[i]));
    }

    return most;
}

// A ball that presses farther in takes hold of more points, with other limits: all of that goes back with an
// increment, and a mark is the same after it was exchanged for a try.
static void test_taken_back(void **state)
{
    (void)state;
    static plan p;
    static const double move[3] = {0.3, 0.1, -0.8}, part = 0.5, full = 1;
    const pl_problem_options options = {.distribution = PL_RATIOS_UNIFORM, .force_tolerance = 1e-10};
    pl_mesh *mesh = tet_box(4, 4, 3, 4, 4, 4, 2, NULL);
    pl_obstacle_def o;
    pl_problem *problem = NULL;
    pl_error err = {0};
    rig r = block_rig(&p, mesh, 4, &o, true, 0.4, move);
    rig_solve(&r, &part);
    PL_CHECK_OK(pl_problem_create(r.robot, &options, NULL, &problem, &err));
    PL_CHECK_OK(
        pl_problem_begin_step(problem, &(pl_step){.from = r.state, .command = &full, .load = 1}, &err));
    double *x = r.state->x, *g = calloc((size_t)problem->unknowns.n, sizeof *g),
           *now = calloc((size_t)problem->unknowns.n, sizeof *now);
    pl_problem_set(problem, 0);
    pl_problem_evaluate(problem, x, g);

    pl_mark mark;
    PL_CHECK_OK(pl_mark_create(problem, &mark));
    pl_problem_mark(problem, &mark);
    pl_problem_set(problem, 1);
    pl_problem_take_limits(problem, x);
    const double taken = forces_differ(problem, x, g, now);
    pl_problem_revert(problem, &mark);
    pl_mark_clear(&mark);
    const double restored = forces_differ(problem, x, g, now);

    pl_problem_retrace(problem, PL_RETRACE_MARK, x);
    pl_problem_set(problem, 1);
    pl_problem_retrace(problem, PL_RETRACE_EXCHANGE, NULL);
    pl_problem_take_limits(problem, x);
    pl_problem_follow(problem, PL_FOLLOW_BACK);
    pl_problem_retrace(problem, PL_RETRACE_EXCHANGE, NULL);
    pl_problem_retrace(problem, PL_RETRACE_BACK, x);
    const double marked = forces_differ(problem, x, g, now);

    printf("taken hold: forces change by %.2e N; taken back: %.2e N, marked: %.2e N\n", taken, restored,
           marked);
    assert_true(taken > 1e-6);
    assert_true(restored == 0);
    assert_true(marked == 0);
    free(g);
    free(now);
    pl_problem_destroy(problem);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// A beam under its weight on a pin smaller than its elements, which neighbouring faces share.
static void test_pin(void **state)
{
    (void)state;
    static plan p;
    for (int k = 0; k < 3; ++k) {
        const double mu = 0.1 + 0.25 * k;
        pl_mesh *mesh = tet_box(17, 2, 2, 70, 7, 9, 2, NULL);
        pl_material heavy = rubber;
        heavy.density = 1e-9; // t/mm^3
        pl_obstacle_def pin = {.name = "plate",
                               .kind = PL_OBSTACLE_CYLINDER,
                               .radius = 1.1,
                               .point = {51, 3.5, -1.5},
                               .direction = {0, 1, 0},
                               .friction = mu};
        plan_init(&p, mesh, heavy);
        plan_plane(&p, "base", 0, 0);
        plan_hold(&p, "base", "xyz");
        p.def.gravity[2] = -9810;
        p.def.contact = (pl_contact_def){.given = true, .obstacle = &pin, .obstacle_count = 1};
        rig r = plan_build(&p, NULL);
        const pl_solve_report report = rig_solve(&r, NULL);
        const double normal = reading(&r, "normal_force"), along = reading(&r, "force_x");
        printf("pin, friction %.2f: normal %.5f N, along the beam %.5f N, %d factorisations\n", mu, normal,
               along, report.factorizations);
        assert_true(normal > 0);
        PL_CHECK_BELOW(report.factorizations, 60);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_limit),
                                       cmocka_unit_test(test_taken_back), cmocka_unit_test(test_pin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
