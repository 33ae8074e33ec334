// A slide moves a free body along a direction, and the force is an unknown: a box squeezed between two pads
// bears mu times the normal forces once it slips, in any number of steps; before it slips the force grows
// with the travel; without a slide the answers are those without it.
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.3};

// Two blocks of 4 x 4 x 4 mm and a box of 3 mm between them, 0.2 mm wider than their distance.
typedef struct squeeze {
    plan p;
    pl_mesh *mesh[2];
    pl_obstacle_def box;
    rig r;
} squeeze;

static void squeeze_build(squeeze *s, double friction, double mass, double height)
{
    s->mesh[0] = tet_box(2, 2, 2, 4, 4, 4, 2, NULL);
    s->mesh[1] = tet_box(2, 2, 2, 4, 4, 4, 2, NULL);
    plan_init(&s->p, s->mesh[0], rubber);
    s->p.mesh[1] = s->mesh[1];
    s->p.body[0].name = "left";
    s->p.body[1] =
        (pl_body_def){.name = "right", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {6.8, 0, 0}};
    s->p.def.body_count = 2;
    s->p.region[0].region = "left.body";
    s->p.region[1] = (pl_region_def){.region = "right.body", .material = "rubber"};
    s->p.def.region_count = 2;
    s->p.surface[0] =
        (pl_surface_def){.name = "left.out", .pick = {.kind = PL_PICK_PLANE, .normal = {1, 0, 0}}};
    s->p.surface[1] =
        (pl_surface_def){.name = "right.out",
                         .body = 1,
                         .pick = {.kind = PL_PICK_PLANE, .normal = {1, 0, 0}, .point = {4, 0, 0}}};
    s->p.def.surface_count = 2;
    plan_hold(&s->p, "left.out", "xyz");
    plan_hold(&s->p, "right.out", "xyz");
    s->p.def.gravity[2] = -9810;
    s->box = (pl_obstacle_def){.name = "box",
                               .kind = PL_OBSTACLE_BOX,
                               .point = {5.4, 2, 2},
                               .size = {3, 7, height},
                               .friction = friction,
                               .free = true,
                               .mass = mass};
    s->p.def.contact = (pl_contact_def){.given = true, .obstacle = &s->box, .obstacle_count = 1};
    const pl_statics_options options = pl_statics_options_default();
    s->r = plan_build(&s->p, &options);
}

static void squeeze_clear(squeeze *s)
{
    rig_clear(&s->r);
    pl_mesh_destroy(s->mesh[0]);
    pl_mesh_destroy(s->mesh[1]);
}

// u . c
static double centre(const squeeze *s, const double u[3])
{
    double R[9], t[3], sum = 0;
    pl_robot_obstacle_pose(s->r.robot, 0, NULL, pl_state_positions(s->r.state), R, t);
    for (int i = 0; i < 3; ++i) {
        sum += u[i] * (t[i] + R[3 * i] * s->box.point[0] + R[3 * i + 1] * s->box.point[1] +
                       R[3 * i + 2] * s->box.point[2]);
    }
    return sum;
}

// Draws the box by `travel` mm along u in `steps`, from where it is; the force.
static double draw(squeeze *s, const double u[3], double travel, int steps)
{
    const double start = centre(s, u);
    int factorisations = 0;
    for (int k = 1; k <= steps; ++k) {
        pl_statics_slide(s->r.statics, 0, u, start + travel * k / steps);
        const pl_solve_report report = rig_try(&s->r, NULL);
        if (report.outcome != PL_SOLVED) {
            print_error("%s: %s\n", pl_outcome_name(report.outcome), report.message);
        }
        assert_int_equal(report.outcome, PL_SOLVED);
        factorisations += report.factorizations;
    }
    PL_CHECK_NEAR(centre(s, u), start + travel, 0.05 * travel);
    printf("  %d steps of %.4f mm: %d factorisations\n", steps, travel / steps, factorisations);

    return pl_statics_slide_force(s->r.statics, s->r.state, 0);
}

static const double mu = 0.3, mass = 2e-6, weight = 2e-6 * 9810, down[3] = {0, 0, -1};

// It bears mu times the normal forces, its weight included, in any number of steps.
static void test_slips(void **state)
{
    (void)state;
    static const int steps[] = {1, 4, 16};
    double force[3];
    for (int k = 0; k < 3; ++k) {
        static squeeze s;
        double hold[4];
        squeeze_build(&s, mu, mass, 7);
        assert_int_equal(rig_try(&s.r, NULL).outcome, PL_SOLVED);
        PL_CHECK_NEAR(pl_statics_slide_force(s.r.statics, s.r.state, 0), 0, 0);
        force[k] = draw(&s, down, 0.5, steps[k]);
        pl_statics_hold_of(s.r.statics, s.r.state, 0, hold);
        printf("%d steps: %.6f N and the weight of %.6f N, normal forces %.6f + %.6f N, of slipping points "
               "%.6f + %.6f; mu N %.6f N\n",
               steps[k], force[k], weight, hold[0], hold[2], hold[1], hold[3], mu * (hold[0] + hold[2]));
        PL_CHECK_NEAR(force[k] + weight, mu * (hold[0] + hold[2]), 1e-3 * force[k]);
        PL_CHECK_NEAR(hold[1] + hold[3], hold[0] + hold[2], 1e-9);
        PL_CHECK_NEAR(hold[0], hold[2], 0.01 * hold[0]);
        PL_CHECK_NEAR(force[k], force[0], 2e-3 * force[0]);
        squeeze_clear(&s);
    }
}

// Before it slips the force grows with the travel; turned round at the limit it points the other travel, by
// the same mu N; across the weight friction bears both, F^2 + W^2 = (mu N)^2.
static void test_directions(void **state)
{
    (void)state;
    static squeeze s;
    const double up[3] = {0, 0, 1}, across[3] = {0, 1, 0};
    double hold[4];
    squeeze_build(&s, mu, mass, 7);
    assert_int_equal(rig_try(&s.r, NULL).outcome, PL_SOLVED);
    const double first = draw(&s, down, 0.03, 1), second = draw(&s, down, 0.03, 1);
    pl_statics_hold_of(s.r.statics, s.r.state, 0, hold);
    printf("sticks: %.6f, then %.6f N, slipping %.6f of %.6f N\n", first, second, hold[1] + hold[3],
           hold[0] + hold[2]);
    PL_CHECK_BELOW(fabs(second - 2 * first), 0.05 * first);
    PL_CHECK_BELOW(hold[1] + hold[3], 0.9 * (hold[0] + hold[2]));

    const double lifts = draw(&s, up, 0.6, 2);
    pl_statics_hold_of(s.r.statics, s.r.state, 0, hold);
    printf("upwards: %.6f N, mu N and the weight %.6f N\n", lifts, mu * (hold[0] + hold[2]) + weight);
    PL_CHECK_NEAR(lifts, mu * (hold[0] + hold[2]) + weight, 1e-3 * lifts);

    // let go of, it stays where friction holds it; then sideways
    pl_statics_slide(s.r.statics, 0, NULL, 0);
    assert_int_equal(rig_try(&s.r, NULL).outcome, PL_SOLVED);
    PL_CHECK_NEAR(pl_statics_slide_force(s.r.statics, s.r.state, 0), 0, 0);
    const double aside = draw(&s, across, 0.8, 4);
    pl_statics_hold_of(s.r.statics, s.r.state, 0, hold);
    const double limit = mu * (hold[0] + hold[2]);
    printf("across: %.6f N, by Pythagoras %.6f N\n", aside, sqrt(limit * limit - weight * weight));
    // the body may spin a little, so that the tractions are not all parallel: never above, and near
    const double most = sqrt(limit * limit - weight * weight);
    PL_CHECK_BELOW(aside, 1.001 * most);
    PL_CHECK_NEAR(aside, most, 0.04 * most);
    squeeze_clear(&s);
}

// The state carries the slide: a copy that is solved again, or read back, has the same force.
static void test_state(void **state)
{
    (void)state;
    static squeeze s;
    squeeze_build(&s, mu, mass, 7);
    assert_int_equal(rig_try(&s.r, NULL).outcome, PL_SOLVED);
    const double force = draw(&s, down, 0.02, 1), at = centre(&s, down);
    assert_int_equal(rig_try(&s.r, NULL).outcome, PL_SOLVED);
    printf("again: %.9f of %.9f N, at %.6f of %.6f mm\n", pl_statics_slide_force(s.r.statics, s.r.state, 0),
           force, centre(&s, down), at);
    PL_CHECK_NEAR(pl_statics_slide_force(s.r.statics, s.r.state, 0), force, 1e-3 * force);
    squeeze_clear(&s);
}

// A body that was let go of before is not lost where the path takes it far: a long box drawn by more than
// half of the robot's size bears what it bears after a short distance.
static void test_far(void **state)
{
    (void)state;
    static squeeze s;
    double hold[4];
    squeeze_build(&s, mu, mass, 40);
    assert_int_equal(rig_try(&s.r, NULL).outcome, PL_SOLVED);
    const double force = draw(&s, down, 8, 1);
    pl_statics_hold_of(s.r.statics, s.r.state, 0, hold);
    printf("far: %.6f N and the weight of %.6f N; mu N %.6f N\n", force, weight, mu * (hold[0] + hold[2]));
    PL_CHECK_NEAR(force + weight, mu * (hold[0] + hold[2]), 1e-3 * force);
    squeeze_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slips), cmocka_unit_test(test_directions),
                                       cmocka_unit_test(test_state), cmocka_unit_test(test_far)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
