// Lindenroth et al. 2016 as published: its compliance, its equations at hand-computed numbers, exact
// derivatives.
#include "reduced_robot.h"
#include "base/vec.h"

// The paper's segment: 25 mm wide, 45 mm long, chambers at 7 mm and 120 degrees, the first along y.
static void segment(line_plan *p, bool as_published)
{
    static const char *const name[] = {"c1", "c2", "c3"};
    line_init(p, PL_BEAM);
    p->def.as_published = as_published;
    line_section(p, "segment", 45, 25, 0.3, 0.1, 10);
    for (int i = 0; i < 3; ++i) {
        line_actuator(p, name[i], PL_CHAMBER, PL_DRIVE_PRESSURE, 0, 45, 7, PL_PI / 2 + 2 * PL_PI * i / 3);
    }
    line_marker(p, "tip", 45);
}

static void test_tip_loads_are_timoshenko(void **state)
{
    (void)state;
    line_plan p;
    segment(&p, true);
    const pl_section_def s = p.section[0];
    const double F = 0.2, M = 3, L = 45;
    line_force(&p, "tip", F, 0, 0)->moment[1] = M;
    pl_model *model = line_build(&p);
    const double command[3] = {NAN, NAN, NAN};
    const double *tip = line_tip(model, command);
    const double want = F * (L * L * L / (3 * s.EI[1]) + L / s.GA[0]) + M * L * L / (2 * s.EI[1]);
    const double turn = F * L * L / (2 * s.EI[1]) + M * L / s.EI[1], *R = pl_model_get_answer(model).rotation;
    PL_CHECK_NEAR(tip[0], want, 1e-12);
    PL_CHECK_NEAR(atan2(R[2], R[8]), turn, 1e-12);
    pl_model_destroy(model);
}

static void test_equations_of_the_paper(void **state)
{
    (void)state;
    line_plan p;
    segment(&p, true);
    const double EI = p.section[0].EI[0], EA = p.section[0].EA, A = 10, P = 0.1, L = 45, d = 7;
    pl_model *model = line_build(&p);
    for (int i = 0; i < 3; ++i) {
        const double command[3] = {i == 0 ? P : 0, i == 1 ? P : 0, i == 2 ? P : 0};
        const double *tip = line_tip(model, command), angle = PL_PI / 2 + 2 * PL_PI * i / 3;
        const double Mx = d * sin(angle) * P * A, My = -d * cos(angle) * P * A; // 3 to 6
        const double dL = L / EA * P * A / 3;                                   // 11, 12
        // 13: rotations of the direction, each from the moment about the other axis
        const double ax = -1e-3 * L * L / (2 * EI) * My, ay = 1e-3 * L * L / (2 * EI) * Mx;
        const double O[3] = {sin(ay), -sin(ax), cos(ax) + cos(ay)}; // 14
        const double size = sqrt(O[0] * O[0] + O[1] * O[1] + O[2] * O[2]);
        const double kappa = hypot(Mx, My) / EI, l = L + dL;                    // 16, both together
        PL_CHECK_NEAR(tip[0], L * L / (2 * EI) * My + dL * O[0] / size, 1e-12); // 9, 15
        PL_CHECK_NEAR(tip[1], -L * L / (2 * EI) * Mx + dL * O[1] / size, 1e-12);
        PL_CHECK_NEAR(tip[2], sin(kappa * l) / kappa, 1e-12); // 17
        const double *R = pl_model_get_answer(model).rotation;
        double want[9];
        pl_rotation_exp((const double[3]){L / EI * Mx, L / EI * My, 0}, want); // 10
        for (int k = 0; k < 9; ++k) {
            PL_CHECK_NEAR(R[k], want[k], 1e-12);
        }
    }

    pl_model_destroy(model);
}

static void test_as_published_and_chain_agree_at_small_pressure(void **state)
{
    (void)state;

    // deflections are of first order; the elongation is a third of the chain's, as equation 12 has it
    double tip[2][3];
    for (int i = 0; i < 2; ++i) {
        line_plan p;
        segment(&p, i == 0);
        pl_model *model = line_build(&p);
        const double command[3] = {1e-6, 0, 0};
        memcpy(tip[i], line_tip(model, command), sizeof tip[i]);
        pl_model_destroy(model);
    }

    PL_CHECK_NEAR(tip[0][1] / tip[1][1], 1, 1e-5);
    PL_CHECK_NEAR((tip[1][2] - 45) / (tip[0][2] - 45), 3, 1e-3);
}

static void test_derivatives(void **state)
{
    (void)state;
    line_plan p;
    segment(&p, true);
    line_force(&p, "tip", 0.1, -0.2, 0.3);
    pl_model *model = line_build(&p);
    const double command[3] = {0.1, 0.04, 0.02}, rest[3] = {0, 0, 0};
    PL_CHECK_BELOW(line_jacobian_error(model, command, 1e-5), 1e-7);
    PL_CHECK_BELOW(line_jacobian_error(model, rest, 1e-5), 1e-7);
    pl_model_destroy(model);
}

static void test_what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    line_plan p;
    segment(&p, true);
    p.def.section = p.section, p.def.actuator = p.actuator, p.def.marker = p.marker;
    p.def.gravity[2] = -9810;
    pl_error err = {0};
    assert_int_equal(pl_reduced_check(&p.def, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "as_published"));
    p.def.gravity[2] = 0;
    p.section[0].EI[1] = 0;
    assert_int_equal(pl_reduced_check(&p.def, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "EI is 0"));
    p.section[0].EI[1] = 1;
    p.actuator[1].name = "c1";
    assert_int_equal(pl_reduced_check(&p.def, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "given twice"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tip_loads_are_timoshenko),
        cmocka_unit_test(test_equations_of_the_paper),
        cmocka_unit_test(test_as_published_and_chain_agree_at_small_pressure),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
