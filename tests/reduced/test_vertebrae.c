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

// One gap, its limbs at three radii, one of them slanted: the lengths asked for are those between the plates
// where the model puts them, and a limb by points is the same limb.
static void test_every_limb_has_its_place(void **state)
{
    (void)state;
    static const double low[3] = {45, 30, 38}, high[3] = {40, 30, 44};
    static const double command[3] = {0.9, 1.05, 1.02};
    double tip[2][3];
    for (int k = 0; k < 2; ++k) {
        line_plan p;
        double waypoint[6];
        spine(&p, 90, 90, 1);
        p.def.section_count = 1;
        p.def.actuator_count = 3;
        p.marker[0].at = 103;
        for (int n = 0; n < 3; ++n) {
            p.actuator[n].path.radius[0] = low[n];
            p.actuator[n].path.radius[1] = high[n];
        }
        if (k == 1) {
            pl_line_path_def *path = &p.actuator[2].path;
            for (int end = 0; end < 2; ++end) {
                waypoint[3 * end] = 103 * end;
                waypoint[3 * end + 1] = path->radius[end] * cos(path->angle);
                waypoint[3 * end + 2] = path->radius[end] * sin(path->angle);
            }
            *path = (pl_line_path_def){.span = {0, 103}, .waypoint = waypoint, .waypoint_count = 2};
        }
        pl_model *model = line_build(&p);
        line_solve(model, command);
        const pl_model_answer a = pl_model_get_answer(model);
        for (int n = 0; n < 3; ++n) {
            const double angle = 2 * PL_PI * n / 3, c = cos(angle), s = sin(angle);
            double limb = 0;
            for (int j = 0; j < 3; ++j) {
                const double up = a.marker[j] + high[n] * (a.rotation[3 * j] * c + a.rotation[3 * j + 1] * s);
                const double down = j == 0 ? low[n] * c : j == 1 ? low[n] * s : 0;
                limb += (up - down) * (up - down);
            }
            const double rest = hypot(103, high[n] - low[n]);
            PL_CHECK_NEAR(sqrt(limb), command[n] * rest, 1e-9);
            PL_CHECK_NEAR(a.measure[n], command[n] * rest, 1e-9);
        }
        memcpy(tip[k], a.marker, sizeof tip[k]);
        PL_CHECK_BELOW(line_jacobian_error(model, command, 1e-5), 1e-7);
        pl_model_destroy(model);
    }

    for (int j = 0; j < 3; ++j) {
        PL_CHECK_NEAR(tip[1][j], tip[0][j], 1e-9);
    }
}

// Lengths that no joint has: the spine stays, and answers with the command and the lengths it has.
static void test_impossible_limbs(void **state)
{
    (void)state;
    line_plan p;
    spine(&p, 90, 90, 4);
    pl_model *model = line_build(&p);
    const double good[6] = {0.95, 1.04, 1.01, 1.02, 0.97, NAN}, bad[6] = {0.95, 1.04, 1.01, 9, 0.01, 0.01};
    double tip[3];
    memcpy(tip, line_tip(model, good), sizeof tip);
    pl_solve_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_fk(model, bad, &report, &err));
    assert_int_equal(report.outcome, PL_INFEASIBLE);
    const pl_model_answer a = pl_model_get_answer(model);
    for (int i = 0; i < 6; ++i) {
        PL_CHECK_NEAR(a.command[i], isnan(good[i]) ? 1 : good[i], 1e-12);
        PL_CHECK_NEAR(a.measure[i], 103 * (isnan(good[i]) ? 1 : good[i]), 1e-9);
    }

    for (int j = 0; j < 3; ++j) {
        PL_CHECK_NEAR(a.marker[j], tip[j], 0);
    }
    pl_model_destroy(model);
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
        cmocka_unit_test(test_every_limb_has_its_place),
        cmocka_unit_test(test_impossible_limbs),
        cmocka_unit_test(test_shares_must_add_up),
        cmocka_unit_test(test_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
