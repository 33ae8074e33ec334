// Vertebrae: a gap's limbs there and back, no twist and no shear, many thin gaps become an arc, exact
// derivatives.
#include "reduced_robot.h"
#include "base/base.h"

static void test_gap_there_and_back(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 3);
    for (int i = 0; i < 2000; ++i) {
        const pl_gap gap = {pl_random_uniform(&random, -0.15, 0.15), pl_random_uniform(&random, -0.15, 0.15),
                            pl_random_uniform(&random, 8, 16)};
        double limb[3];
        pl_gap_limbs(&gap, 30, 27, 0.3, limb);
        pl_gap found = {.length = 12};
        assert_true(pl_gap_solve(limb, 30, 27, 0.3, &found));
        PL_CHECK_NEAR(found.roll, gap.roll, 1e-11);
        PL_CHECK_NEAR(found.pitch, gap.pitch, 1e-11);
        PL_CHECK_NEAR(found.length, gap.length, 1e-10);
    }
}

static void spine(line_plan *p, double d0, double d1, int gaps)
{
    static const char *const name[] = {"l1", "l2", "l3", "l4", "l5", "l6"};
    line_init(p, PL_VERTEBRAE);
    for (int k = 0; k < 2; ++k) {
        pl_section_def *s = &p->section[p->def.section_count++];
        *s = (pl_section_def){.name = k ? "upper" : "lower", .length = 103, .pieces = gaps};
        s->diameter[0] = d0 + (d1 - d0) * k / 2;
        s->diameter[1] = d0 + (d1 - d0) * (k + 1) / 2;
        for (int i = 0; i < 3; ++i) {
            pl_line_actuator_def *a = line_actuator(p, name[3 * k + i], PL_CABLE, PL_DRIVE_LENGTH_RATIO,
                                                    103 * k, 103 * (k + 1), 0, 2 * PL_PI * i / 3);
            a->path.radius[0] = s->diameter[0] / 2;
            a->path.radius[1] = s->diameter[1] / 2;
        }
    }
    line_marker(p, "tip", 206);
}

static void test_rest_is_straight_also_in_a_cone(void **state)
{
    (void)state;
    line_plan p;
    spine(&p, 100, 80, 8);
    pl_model *model = line_build(&p);
    const double command[6] = {1, 1, 1, 1, 1, 1};
    const double *tip = line_tip(model, command);
    PL_CHECK_NEAR(tip[0], 0, 1e-10);
    PL_CHECK_NEAR(tip[1], 0, 1e-10);
    PL_CHECK_NEAR(tip[2], 206, 1e-10);
    pl_model_destroy(model);
}

static void test_thin_gaps_become_an_arc(void **state)
{
    (void)state;
    // as the gaps shrink the spine becomes the arc; each bends at its lower plate, so the error falls with
    // their number, not with its square
    const double ratio[6] = {0.95, 1.04, 1.01, 1, 1, 1};
    const double l[3] = {103 * 0.95, 103 * 1.04, 103 * 1.01};
    const pl_arc arc = pl_arc_from_lengths(l, 90, 0);
    double end[3], R[9], want[3], error[2];
    pl_arc_end(&arc, end, R);
    for (int i = 0; i < 3; ++i) {
        want[i] = end[i] + 103 * R[3 * i + 2];
    }
    for (int i = 0; i < 2; ++i) {
        line_plan p;
        spine(&p, 90, 90, i ? 64 : 16);
        pl_model *model = line_build(&p);
        const double *tip = line_tip(model, ratio);
        error[i] = hypot(hypot(tip[0] - want[0], tip[1] - want[1]), tip[2] - want[2]);
        pl_model_destroy(model);
    }
    PL_CHECK_BELOW(error[1], 0.1);
    PL_CHECK_BELOW(error[1], 0.3 * error[0]);
}

static void test_shares_must_add_up(void **state)
{
    (void)state;
    line_plan p;
    spine(&p, 90, 90, 3);
    const double share[3] = {0.3, 0.3, 0.3};
    p.section[0].share = share;
    p.section[0].share_count = 3;
    p.def.section = p.section, p.def.actuator = p.actuator, p.def.marker = p.marker;
    pl_error err = {0};
    assert_int_equal(pl_reduced_check(&p.def, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "add up to 0.9"));
}

static void test_derivatives(void **state)
{
    (void)state;
    line_plan p;
    spine(&p, 100, 80, 8);
    pl_model *model = line_build(&p);
    const double command[6] = {0.95, 1.06, 1, 1.1, 0.97, 1.02}, rest[6] = {1, 1, 1, 1, 1, 1};
    PL_CHECK_BELOW(line_jacobian_error(model, command, 1e-5), 1e-7);
    PL_CHECK_BELOW(line_jacobian_error(model, rest, 1e-5), 1e-7);
    pl_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gap_there_and_back),
        cmocka_unit_test(test_rest_is_straight_also_in_a_cone),
        cmocka_unit_test(test_thin_gaps_become_an_arc),
        cmocka_unit_test(test_shares_must_add_up),
        cmocka_unit_test(test_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
