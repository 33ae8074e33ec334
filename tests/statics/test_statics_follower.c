// Pressure on an open surface with a free rim follows the surface and has no potential: the equilibrium, what
// the clamp feels, and the derivatives.
#include "statics_robot.h"

#define LENGTH 24.0
#define WIDTH 3.0
#define HEIGHT 2.0

// A strip under pressure, on a ball below its tip where one is given.
static rig strip_on(double pressure, const pl_obstacle_def *ball)
{
    static plan p;
    pl_mesh *mesh = tet_box(12, 2, 1, LENGTH, WIDTH, HEIGHT, 2, NULL);
    const pl_material material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.3};

    plan_init(&p, mesh, material);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, LENGTH);
    plan_plane(&p, "top", 2, HEIGHT);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.pressure[p.def.pressure_count++] = (pl_surface_pressure_def){.surface = "top", .pressure = pressure};
    p.def.contact = (pl_contact_def){.given = ball != NULL, .obstacle = ball, .obstacle_count = ball != NULL};
    pl_statics_options options = tight_options();
    options.contact_tolerance = 1e-9;
    rig r = plan_build(&p, &options);
    pl_mesh_destroy(mesh);

    return r;
}

static rig strip(double pressure)
{
    return strip_on(pressure, NULL);
}

// A small pressure p is a line load p b: the tip drops by p b L^4 / 8 E I + p b L^2 / (2 k G A).
static void test_small(void **state)
{
    (void)state;
    const double p = 1e-8, E = 0.4 * 1.3, I = WIDTH * HEIGHT * HEIGHT * HEIGHT / 12;
    const double want = p * WIDTH * pow(LENGTH, 4) / (8 * E * I) +
                        p * WIDTH * LENGTH * LENGTH / (2 * 5.0 / 6 * 0.2 * WIDTH * HEIGHT);
    rig r = strip(p);
    rig_solve(&r, NULL);
    const double got = -pl_statics_marker(r.statics, r.state, 0).displacement[2];
    print_message("small pressure: %.4f of the beam's drop\n", got / want);
    PL_CHECK_NEAR(got / want, 1, 0.03);
    rig_clear(&r);
}

typedef struct rim_node {
    double at;
    int32_t vertex;
} rim_node;

static int by_place(const void *a, const void *b)
{
    const rim_node *p = a, *q = b;
    return (p->at > q->at) - (p->at < q->at);
}

// Adds int x cross dx / 2 along the side of the top face on which rest coordinate `axis` is `at`, walked up
// or down the other one; edges are parabolas through corner, mid, corner.
static void add_side(const rig *r, int axis, double at, bool up, double area[3])
{
    static rim_node node[200];
    const double *x = rig_x(r), *X = rig_rest(r);
    int count = 0;

    for (int32_t v = 0; v < pl_state_vertex_count(r->state); ++v) {
        if (fabs(X[3 * v + 2] - HEIGHT) < 1e-9 && fabs(X[3 * v + axis] - at) < 1e-9) {
            node[count++] = (rim_node){(up ? 1 : -1) * X[3 * v + 1 - axis], v};
        }
    }

    qsort(node, (size_t)count, sizeof *node, by_place);
    for (int k = 0; k + 2 < count; k += 2) {
        for (int q = -1; q <= 1; q += 2) {
            const double t = q / sqrt(3.0), N[3] = {t * (t - 1) / 2, 1 - t * t, t * (t + 1) / 2},
                         dN[3] = {t - 0.5, -2 * t, t + 0.5};
            double y[3] = {0}, dy[3] = {0};
            for (int a = 0; a < 3; ++a) {
                for (int i = 0; i < 3; ++i) {
                    y[i] += N[a] * x[3 * node[k + a].vertex + i];
                    dy[i] += dN[a] * x[3 * node[k + a].vertex + i];
                }
            }
            for (int i = 0; i < 3; ++i) {
                area[i] += 0.5 * (y[(i + 1) % 3] * dy[(i + 2) % 3] - y[(i + 2) % 3] * dy[(i + 1) % 3]);
            }
        }
    }
}

// Bent far round, the clamp holds p times the vector area of the surface as it is now, which its rim alone
// decides; and the independent residual is small.
static void test_large(void **state)
{
    (void)state;
    const double p = 2e-4;
    rig r = strip(p);
    const pl_solve_report report = rig_solve(&r, NULL);
    const double drop = -pl_statics_marker(r.statics, r.state, 0).displacement[2];
    double area[3] = {0}, residual, largest;
    add_side(&r, 1, 0, true, area);
    add_side(&r, 0, LENGTH, true, area);
    add_side(&r, 1, WIDTH, false, area);
    add_side(&r, 0, 0, false, area);
    pl_reaction reaction;
    assert_int_equal(pl_statics_reactions(r.statics, r.state, &reaction), PL_OK);
    print_message(
        "dropped by %.3f of %g mm; %d factorisations, %d solves; held %.6g %.6g, pressed %.6g %.6g\n", drop,
        LENGTH, report.factorizations, report.solves, reaction.force[0], reaction.force[2], p * area[0],
        p * area[2]);
    assert_true(drop > 0.4 * LENGTH);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(reaction.force[i], p * area[i], 1e-7 * p * LENGTH * WIDTH);
    }

    bool inverted;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_check(r.statics, r.state, &residual, &largest, &inverted, &err));
    print_message("residual %.1e of %.1e N\n", residual, largest);
    PL_CHECK_BELOW(residual, 1e-7 * largest);
    assert_false(inverted);
    rig_clear(&r);
}

// Derivatives by the pressure and by gravity against central differences, and the adjoint against them.
static void test_derivatives(void **state)
{
    (void)state;
    const double p = 2e-4, h = 2e-8;
    double tip[2][3], by_force[9] = {0};
    for (int side = 0; side < 2; ++side) {
        rig r = strip(p + (side ? h : -h));
        rig_solve(&r, NULL);
        memcpy(tip[side], pl_statics_marker(r.statics, r.state, 0).position, sizeof tip[side]);
        rig_clear(&r);
    }

    rig r = strip(p);
    rig_solve(&r, NULL);
    const pl_parameter parameter = {.kind = PL_PARAMETER_PRESSURE};
    const pl_jacobian out = {.marker = by_force};
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
    for (int i = 0; i < 3; ++i) {
        const double difference = (tip[1][i] - tip[0][i]) / (2 * h);
        print_message("d tip[%d]/dp: %.8g, by differences %.8g mm/MPa\n", i, by_force[i], difference);
        PL_CHECK_NEAR(by_force[i], difference, 1e-5 * fabs(by_force[2]));
    }

    PL_CHECK_BELOW(report.residual, 1e-8);

    // one vertex's height by the adjoint
    const int64_t n = 3 * (int64_t)pl_state_vertex_count(r.state);
    double *by_position = calloc((size_t)n, sizeof *by_position), *all = calloc((size_t)n, sizeof *all);
    double gradient = 0;
    by_position[n - 1] = 1;
    const pl_jacobian positions = {.position = all};
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &positions, &report, &err));
    PL_CHECK_OK(
        pl_statics_adjoint(r.statics, r.state, by_position, NULL, &parameter, 1, &gradient, &report, &err));
    PL_CHECK_NEAR(gradient, all[n - 1], 1e-9 * fabs(all[n - 1]));
    free(by_position), free(all);
    rig_clear(&r);
}

// With a contact that holds, the force of the rim follows what the contact does too.
static void test_contact(void **state)
{
    (void)state;
    const pl_obstacle_def ball = {.name = "ball",
                                  .kind = PL_OBSTACLE_SPHERE,
                                  .point = {0.9 * LENGTH, 0.1 * WIDTH, -2.5},
                                  .radius = 2,
                                  .friction = -1,
                                  .moves = true,
                                  .move = {0, 0, 1}};
    const double command = 0.1, h = 1e-3;
    double tip[2][3], exact[3] = {0};
    rig r = strip_on(1e-4, &ball);
    rig_solve(&r, &command);
    const pl_parameter parameter = {.kind = PL_PARAMETER_COMMAND};
    const pl_jacobian out = {.marker = exact};
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
    for (int side = 0; side < 2; ++side) {
        const double moved = command + (side ? h : -h);
        rig_solve(&r, &moved);
        memcpy(tip[side], pl_statics_marker(r.statics, r.state, 0).position, sizeof tip[side]);
    }

    for (int i = 0; i < 3; ++i) {
        const double difference = (tip[1][i] - tip[0][i]) / (2 * h);
        print_message("d tip[%d] per mm of the ball: %.8g, by differences %.8g\n", i, exact[i], difference);
        PL_CHECK_NEAR(exact[i], difference, 1e-6 * fabs(exact[2]));
    }

    rig_clear(&r);
}

// Bent far down beside a ball that presses from below: the forces of rim and contact are found together, and
// the residual with the true force of the pressure is small.
static void test_contact_large(void **state)
{
    (void)state;
    const double place[] = {0.6, 0.8};

    for (int k = 0; k < 2; ++k) {
        const pl_obstacle_def ball = {.name = "ball",
                                      .kind = PL_OBSTACLE_SPHERE,
                                      .point = {place[k] * LENGTH, 0.3 * WIDTH, -4},
                                      .radius = 3,
                                      .friction = -1,
                                      .moves = true,
                                      .move = {0, 0, 1}};
        const double command = 2;
        rig r = strip_on(5e-4, &ball);
        const pl_solve_report report = rig_solve(&r, &command);
        double residual, largest;
        bool inverted;
        pl_error err = {0};
        PL_CHECK_OK(pl_statics_check(r.statics, r.state, &residual, &largest, &inverted, &err));
        print_message("ball at %.1f of the length: residual %.1e of %.1e N, %d factorisations\n", place[k],
                      residual, largest, report.factorizations);
        PL_CHECK_BELOW(residual, 1e-7 * largest);
        assert_false(inverted);
        rig_clear(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),         cmocka_unit_test(test_large),
        cmocka_unit_test(test_derivatives),   cmocka_unit_test(test_contact),
        cmocka_unit_test(test_contact_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
