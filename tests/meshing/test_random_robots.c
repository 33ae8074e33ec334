// Ten random robots of all designs: none is refused, none is called solved with forces out of balance, an
// inverted element or a target missed. Some are asked for more than their material can carry: those stop on
// the path, in an equilibrium all the same. How many do changes with the mesher and with rounding, one at a
// time; a solver that has lost the branch loses many. `validation/random_robots` tries a thousand.
#include "../../validation/random_robot.h"
#include "meshing_tools.h"

#define COUNT 10
#define SEED 20261115
#define LEAST 8 // solved, of which 9 are

static void test_random_robots_come_to_rest(void **state)
{
    (void)state;
    int solved = 0;
    for (uint64_t i = 0; i < COUNT; ++i) {
        pl_error err = {0};
        random_robot robot;
        random_result result;
        PL_CHECK_OK(random_robot_create(SEED + i, &robot, &err));
        random_robot_run(&robot, &result);
        print_message("seed %d, %s, %d elements: %s, residual %.1e of the largest force\n", (int)(SEED + i),
                      robot.design, (int)result.elements, result.words, result.relative);
        assert_int_not_equal(result.verdict, RANDOM_REFUSED);
        assert_int_not_equal(result.verdict, RANDOM_WRONG);
        solved += result.verdict == RANDOM_GOOD;
        if (result.verdict == RANDOM_NOT_SOLVED) {
            PL_CHECK_BELOW(result.relative, 1e-5);
            assert_true(result.report.load_reached > 0 && result.report.load_reached < 1);
            assert_true(result.report.min_J > 0);
            assert_true(result.words[0] != 0); // and it says why
        }
        pl_robot_destroy(robot.robot);
    }

    print_message("%d of %d solved\n", solved, COUNT);
    assert_true(solved >= LEAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots_come_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
