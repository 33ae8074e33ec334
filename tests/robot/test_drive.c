// What commands and drives mean: laws that hold for every drive, and commands with factors, one-sided
// commands and tables on a robot.
#include "robot/robot_fixture.h"
#include "robot/robot.h"

#define REST 80.0

// The value at rest asks for the rest measure, moves no motor and lies in the usual span; target, slope and
// value belong together.
static void test_drives(void **state)
{
    (void)state;
    for (int i = 0; i < PL_DRIVE_COUNT; ++i) {
        const pl_drive d = (pl_drive)i;
        const double rest = pl_drive_rest(d, REST);
        double span[2];
        pl_drive_span(d, REST, span);
        assert_true(span[0] <= rest && rest <= span[1] && span[0] < span[1]);
        assert_true(pl_drive_is_possible(d, span[0]) && pl_drive_is_plausible(d, span));
        assert_int_equal(pl_drive_rests_at_zero(d), rest == 0);
        const pl_actuator_info info = {.kind = pl_drive_kind(d), .drive = d, .rest = REST};
        if (pl_drive_has_motor(d)) {
            PL_CHECK_NEAR(pl_actuator_travel(&info, rest, REST), 0, 0);
        } else {
            assert_true(isnan(pl_actuator_travel(&info, rest, REST)));
        }
        const bool measure = !isnan(pl_drive_target(d, REST, rest));
        assert_int_equal(measure, pl_drive_is_geometric(d) || d == PL_DRIVE_SYRINGE);
        if (!measure) {
            assert_true(pl_drive_slope(d, REST) == 0 && pl_actuator_travel_rate(&info, 5) == 0);
            continue;
        }
        PL_CHECK_NEAR(pl_drive_target(d, REST, rest), REST, 1e-13 * REST);
        for (int k = 0; k < 3; ++k) {
            const double v = span[0] + 0.5 * k * (span[1] - span[0]), m = pl_drive_target(d, REST, v);
            PL_CHECK_NEAR(pl_drive_value(d, REST, m), v, 1e-13 * REST);
            PL_CHECK_NEAR(m - REST, pl_drive_slope(d, REST) * (v - rest), 1e-12 * REST);
            if (pl_drive_has_motor(d)) {
                // a shorter cable is wound up, a larger chamber pushed
                PL_CHECK_NEAR(pl_actuator_travel(&info, v, 0), info.kind == PL_CABLE ? REST - m : m - REST,
                              1e-12 * REST);
            }
        }
        PL_CHECK_NEAR(pl_actuator_travel_rate(&info, 5), fabs(pl_drive_slope(d, REST)) * 5, 0);
    }

    assert_string_equal(pl_drive_name(PL_DRIVE_COUNT), "unknown");
}

static const pl_guide_def top[] = {{.point = {2, 15, 25}}, {.point = {35, 15, 25}}};
static const pl_guide_def bottom[] = {{.point = {2, 15, 5}}, {.point = {35, 15, 5}}};

static pl_robot *build(const pl_actuator_def *actuator, int actuators, const pl_command_def *command)
{
    static const pl_body_def body[] = {{.name = "body", .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    static const pl_material_def rubber[] = {
        {.name = "rubber", .material = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49}}};
    static const pl_fixed_def base[] = {{.name = "base", .surface = "base", .axis = {true, true, true}}};
    const pl_robot_def def = {.name = "test",
                              .body = body,
                              .body_count = 1,
                              .material = rubber,
                              .material_count = 1,
                              .fixed = base,
                              .fixed_count = 1,
                              .actuator = actuator,
                              .actuator_count = actuators,
                              .command = command,
                              .command_count = command != NULL};
    pl_error err;
    pl_mesh *mesh = fix_mesh(false, 1);
    const pl_mesh *list[] = {mesh};
    pl_robot *robot = NULL;

    PL_CHECK_OK(pl_robot_create(&def, list, &robot, NULL, &err));
    pl_mesh_destroy(mesh);

    return robot;
}

static void check_command(const pl_robot *robot, double rest, double low, double high)
{
    const pl_command_info c = pl_robot_command(robot, 0);
    print_message("%s by %s: rest %g, span %g to %g\n", c.name, pl_drive_name(c.drive), c.rest, c.span[0],
                  c.span[1]);
    PL_CHECK_NEAR(c.rest, rest, 1e-12 * REST);
    PL_CHECK_NEAR(c.span[0], low, 1e-12 * REST);
    PL_CHECK_NEAR(c.span[1], high, 1e-12 * REST);
}

// Two cables of 33 mm. A factor divides rest value and span; a range of the command comes before both.
static void test_factors(void **state)
{
    (void)state;
    pl_actuator_def cable[] = {
        {.name = "a", .kind = PL_CABLE, .drive = PL_DRIVE_LENGTH, .guide = top, .guide_count = 2},
        {.name = "b", .kind = PL_CABLE, .drive = PL_DRIVE_LENGTH, .guide = bottom, .guide_count = 2}};
    const pl_command_drive drives[] = {{.actuator = "a", .factor = 0.5}, {.actuator = "b", .factor = 0.5}};
    pl_command_def command = {.name = "both", .drive = drives, .drive_count = 2};
    pl_robot *robot = build(cable, 2, &command);
    check_command(robot, 66, 0.7 * 66, 66);
    const double at_rest = 66;
    PL_CHECK_NEAR(pl_robot_actuator_asked(robot, 0, &at_rest), 1, 1e-14);
    pl_robot_destroy(robot);
    command.has_range = true;
    command.range[0] = 50;
    command.range[1] = 60;
    robot = build(cable, 2, &command);
    check_command(robot, 66, 50, 60);
    pl_robot_destroy(robot);

    // an actuator with a command of its own
    robot = build(cable, 2, NULL);
    check_command(robot, 33, 0.7 * 33, 33);
    pl_robot_destroy(robot);

    // one range of its own, one usual range: where both may go
    cable[0].has_range = true;
    cable[0].range[0] = 30;
    cable[0].range[1] = 36;
    command.has_range = false;
    robot = build(cable, 2, &command);
    assert_false(pl_robot_command(robot, 0).has_range);
    check_command(robot, 66, 60, 66);
    pl_robot_destroy(robot);
}

// Antagonists take turns: each side of the span belongs to one of them, and the one at rest is asked for its
// rest length, not for more.
static void test_one_sided(void **state)
{
    (void)state;
    pl_actuator_def cable[] = {
        {.name = "a", .kind = PL_CABLE, .drive = PL_DRIVE_SHORTENING, .guide = top, .guide_count = 2},
        {.name = "b", .kind = PL_CABLE, .drive = PL_DRIVE_SHORTENING, .guide = bottom, .guide_count = 2}};
    const pl_command_drive drives[] = {{.actuator = "a", .factor = 1}, {.actuator = "b", .factor = -2}};
    const pl_command_def command = {.name = "bend", .drive = drives, .drive_count = 2, .one_sided = true};
    pl_robot *robot = build(cable, 2, &command);
    check_command(robot, 0, -0.3 * 33 / 2, 0.3 * 33);
    const double pull = 3.3, push = -3.3, idle = NAN;
    PL_CHECK_NEAR(pl_robot_actuator_asked(robot, 0, &pull), 0.9, 1e-14);
    PL_CHECK_NEAR(pl_robot_actuator_asked(robot, 1, &pull), 1, 1e-14);
    PL_CHECK_NEAR(pl_robot_actuator_asked(robot, 0, &push), 1, 1e-14);
    PL_CHECK_NEAR(pl_robot_actuator_asked(robot, 1, &push), 0.8, 1e-14);
    assert_true(isnan(pl_robot_actuator_asked(robot, 1, &idle)));
    assert_true(isnan(pl_robot_actuator_asked(robot, 2, &pull)));
    pl_robot_destroy(robot);
    cable[0].drive = cable[1].drive = PL_DRIVE_TENSION;
    robot = build(cable, 2, &command);
    check_command(robot, 0, -5, 10);
    assert_true(isnan(pl_robot_actuator_asked(robot, 0, &pull)));
    pl_robot_destroy(robot);
}

// A table says how far its values go and which ratio they ask for; goal, slope and inverse belong together.
static void test_tables(void **state)
{
    (void)state;
    const double table[] = {0, 1, 2, 0.9, 8, 0.7};
    const pl_actuator_def cable = {.name = "a",
                                   .kind = PL_CABLE,
                                   .drive = PL_DRIVE_TENSION,
                                   .guide = top,
                                   .guide_count = 2,
                                   .table = table,
                                   .table_count = 3};
    pl_robot *robot = build(&cable, 1, NULL);
    check_command(robot, 0, 0, 8);
    const double two = 2;
    PL_CHECK_NEAR(pl_robot_actuator_asked(robot, 0, &two), 0.9, 1e-14);
    const pl_actuator *a = &robot->actuator[0];
    assert_int_equal(pl_actuator_law(a), PL_LAW_MEASURE);
    assert_false(pl_actuator_goal_rises(a));
    const double v = 3.7, h = 1e-5, goal = pl_actuator_goal(a, v);
    PL_CHECK_NEAR(pl_actuator_goal_inverse(a, goal), v, 1e-9);
    PL_CHECK_NEAR((pl_actuator_goal(a, v + h) - pl_actuator_goal(a, v - h)) / (2 * h),
                  pl_actuator_goal_slope(a, v), 1e-6);
    PL_CHECK_NEAR(pl_actuator_target(a, 2 * a->rest, v), 2 * goal, 1e-12);
    pl_robot_destroy(robot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drives),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_one_sided),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
