// Constant curvature: arcs against exact circles, straight sections without a special case, lengths there and
// back, exact derivatives.
#include "reduced_robot.h"
#include "base/base.h"

static void test_arc_is_a_circle(void **state)
{
    (void)state;

    // a quarter circle of radius 50 in the plane of x and z: the line inside is shorter by radius times turn
    const double R = 50, D = 20, turn = PL_PI / 2;
    pl_arc arc = {.length = R * turn, .turn = {0, turn}};
    double p[3], Q[9], l[3];
    pl_arc_end(&arc, p, Q);
    PL_CHECK_NEAR(p[0], R, 1e-12);
    PL_CHECK_NEAR(p[1], 0, 1e-12);
    PL_CHECK_NEAR(p[2], R, 1e-12);
    PL_CHECK_NEAR(Q[2], 1, 1e-14); // its z axis points along x
    pl_arc_to_lengths(&arc, D, 0, l);
    PL_CHECK_NEAR(l[0], (R - D / 2) * turn, 1e-12);
    PL_CHECK_NEAR(l[1], (R + D / 4) * turn, 1e-12);
    const pl_arc back = pl_arc_from_lengths(l, D, 0);
    PL_CHECK_NEAR(back.length, arc.length, 1e-12);
    PL_CHECK_NEAR(back.turn[0], 0, 1e-14);
    PL_CHECK_NEAR(back.turn[1], turn, 1e-14);
}

static void test_arc_is_smooth_at_zero(void **state)
{
    (void)state;

    // through the limit of the series the end moves without a jump: compare with the circle's formula
    for (double turn = 1e-12; turn < 1; turn *= 3) {
        const pl_arc arc = {.length = 100, .turn = {turn, 0}};
        double p[3];
        pl_arc_end(&arc, p, NULL);
        const double s = sin(turn / 2);
        PL_CHECK_NEAR(p[1], -100 * 2 * s * s / turn, 1e-13 * 100);
        PL_CHECK_NEAR(p[2], 100 * sin(turn) / turn, 1e-13 * 100);
    }

    const pl_arc straight = {.length = 100};
    double p[3], Q[9];
    pl_arc_end(&straight, p, Q);
    PL_CHECK_NEAR(p[2], 100, 0);
    PL_CHECK_NEAR(Q[0], 1, 0);
}

static void test_arc_reaches_its_end(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 7);
    for (int i = 0; i < 1000; ++i) {
        pl_arc arc = {.length = pl_random_uniform(&random, 1, 100)}, back;
        const double turn = pl_random_uniform(&random, 0, 6), plane = pl_random_uniform(&random, 0, 6.3);
        arc.turn[0] = (i % 5 ? turn : 1e-9 * turn) * cos(plane);
        arc.turn[1] = (i % 5 ? turn : 1e-9 * turn) * sin(plane);
        double p[3];
        pl_arc_end(&arc, p, NULL);
        assert_true(pl_arc_reach(p, &back));
        PL_CHECK_NEAR(back.length, arc.length, 1e-9 * arc.length);
        PL_CHECK_NEAR(back.turn[0], arc.turn[0], 1e-9);
        PL_CHECK_NEAR(back.turn[1], arc.turn[1], 1e-9);
    }

    // nearly entirely round: the turn is 2 pi less a trace
    const double behind[3] = {3e-10, 4e-10, -1};
    pl_arc round;
    double end[3];
    assert_true(pl_arc_reach(behind, &round));
    PL_CHECK_NEAR(hypot(round.turn[0], round.turn[1]), 2 * PL_PI, 1e-8);
    pl_arc_end(&round, end, NULL);
    PL_CHECK_NEAR(end[0] / round.length, behind[0] / round.length, 1e-15);
    PL_CHECK_NEAR(end[1] / round.length, behind[1] / round.length, 1e-15);
    pl_arc none;
    assert_false(pl_arc_reach((const double[3]){0, 0, 0}, &none));
    assert_false(pl_arc_reach((const double[3]){0, 0, -3}, &none));
}

static void trunk(line_plan *p, double d0, double d1, int pieces)
{
    static const char *const name[] = {"l1", "l2", "l3", "l4", "l5", "l6"};
    line_init(p, PL_CONSTANT_CURVATURE);
    for (int k = 0; k < 2; ++k) {
        pl_section_def *s = &p->section[p->def.section_count++];
        *s = (pl_section_def){.name = k ? "upper" : "lower", .length = 103, .pieces = pieces};
        s->diameter[0] = d0 + (d1 - d0) * k / 2;
        s->diameter[1] = d0 + (d1 - d0) * (k + 1) / 2;
        for (int i = 0; i < 3; ++i) {
            pl_line_actuator_def *a = line_actuator(p, name[3 * k + i], PL_CABLE, PL_DRIVE_LENGTH, 103 * k,
                                                    103 * (k + 1), 0, 2 * PL_PI * i / 3);
            a->path.radius[0] = s->diameter[0] / 2;
            a->path.radius[1] = s->diameter[1] / 2;
        }
    }

    line_marker(p, "middle", 103);
    line_marker(p, "tip", 206);
}

static void test_sections_are_arcs_in_series(void **state)
{
    (void)state;
    line_plan p;
    trunk(&p, 90, 90, 1);
    pl_model *model = line_build(&p);
    const double command[6] = {95, 110, 104, 120, 99, 103};
    line_solve(model, command);
    const pl_arc one = pl_arc_from_lengths(command, 90, 0), two = pl_arc_from_lengths(command + 3, 90, 0);
    double a[3], A[9], b[3];
    pl_arc_end(&one, a, A);
    pl_arc_end(&two, b, NULL);
    const pl_model_answer answer = pl_model_get_answer(model);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(answer.marker[i], a[i], 1e-11);
        PL_CHECK_NEAR(answer.marker[3 + i],
                      a[i] + A[3 * i] * b[0] + A[3 * i + 1] * b[1] + A[3 * i + 2] * b[2], 1e-11);
        PL_CHECK_NEAR(answer.measure[i], command[i], 1e-10);
    }

    pl_model_destroy(model);
}

static void test_cone_converges_with_its_arcs(void **state)
{
    (void)state;

    // curvature as 1/diameter: the turn of a section of lengths l1, l2, l3 is int dl/D ds, a logarithm
    const double command[6] = {103, 103, 103, 95, 107, 107};
    double last = 0;
    for (int pieces = 4; pieces <= 64; pieces *= 4) {
        line_plan p;
        trunk(&p, 100, 80, pieces);
        pl_model *model = line_build(&p);
        line_solve(model, command);
        const double *R = pl_model_get_answer(model).rotation + 9;
        // l = s + T2-part: amplitude of the first harmonic is -8, over the radius: turn = 8
        // log(r0/r1)/(r0-r1)
        const double exact = 8 * log(45.0 / 40) / 5;
        last = fabs(atan2(R[2], R[8]) - exact);
        pl_model_destroy(model);
    }

    PL_CHECK_BELOW(last, 1e-6);
}

static void test_derivatives(void **state)
{
    (void)state;
    for (int cone = 0; cone < 2; ++cone) {
        line_plan p;
        trunk(&p, 100, cone ? 80 : 100, cone ? 5 : 1);
        p.sensor[p.def.sensor_count++] = (pl_line_sensor_def){
            .name = "string", .path = {.span = {0, 206}, .radius = {40, 30}, .angle = 1}};
        pl_model *model = line_build(&p);
        const double command[6] = {95, 110, 104, 120, 99, 103}, rest[6] = {103, 103, 103, 103, 103, 103};
        PL_CHECK_BELOW(line_jacobian_error(model, command, 1e-3), 1e-7);
        PL_CHECK_BELOW(line_jacobian_error(model, rest, 1e-3), 1e-7);
        pl_model_destroy(model);
    }
}

static void test_pressure_bends_by_stiffness(void **state)
{
    (void)state;

    // curvature M / EI with M = p A d, stretch p A / EA
    line_plan p;
    line_init(&p, PL_CONSTANT_CURVATURE);
    const pl_section_def *s = line_section(&p, "s", 45, 25, 0.5, 0.17, 1);
    line_actuator(&p, "c1", PL_CHAMBER, PL_DRIVE_PRESSURE, 0, 45, 7, PL_PI / 2);
    line_marker(&p, "tip", 45);
    const double EA = s->EA, EI = s->EI[0];
    pl_model *model = line_build(&p);
    const double pressure = 0.1;
    line_solve(model, &pressure);
    const double l = 45 * (1 + pressure * 10 / EA), turn = pressure * 10 * 7 / EI * 45;
    const double *tip = pl_model_get_answer(model).marker;
    PL_CHECK_NEAR(tip[1], -l * (1 - cos(turn)) / turn, 1e-12);
    PL_CHECK_NEAR(tip[2], l * sin(turn) / turn, 1e-12);
    PL_CHECK_BELOW(line_jacobian_error(model, &pressure, 1e-4), 1e-7);
    pl_model_destroy(model);
}

static void test_idle_lengths_leave_least_energy(void **state)
{
    (void)state;

    // one length alone: the section bends towards it and shortens, others follow; the two others stay equal
    line_plan p;
    trunk(&p, 90, 90, 1);
    pl_model *model = line_build(&p);
    const double command[6] = {95, NAN, NAN, NAN, NAN, NAN};
    line_solve(model, command);
    const pl_model_answer a = pl_model_get_answer(model);
    PL_CHECK_NEAR(a.measure[0], 95, 1e-10);
    PL_CHECK_NEAR(a.measure[1], a.measure[2], 1e-10);
    PL_CHECK_NEAR(a.measure[3], 103, 1e-10);
    pl_model_destroy(model);
}

static void test_contradicting_lengths_are_refused(void **state)
{
    (void)state;
    line_plan p;
    trunk(&p, 90, 90, 1);
    line_actuator(&p, "l7", PL_CABLE, PL_DRIVE_LENGTH, 0, 103, 45, 1);
    p.def.section = p.section, p.def.actuator = p.actuator, p.def.marker = p.marker;
    pl_error err = {0};
    pl_model *model;
    assert_int_equal(pl_reduced_create(&p.def, &model, NULL, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "are inconsistent"));
}

// A command's rest value is the measure its actuator has undeformed, whatever its range.
static void test_rest_of_lengths(void **state)
{
    (void)state;
    line_plan p;
    line_init(&p, PL_CONSTANT_CURVATURE);
    line_section(&p, "only", 103, 40, 0.1, 0.03, 1);
    pl_line_actuator_def *a = line_actuator(&p, "l1", PL_CABLE, PL_DRIVE_LENGTH, 0, 103, 20, 0);
    a->has_range = true;
    a->range[0] = 85;
    a->range[1] = 135;
    line_marker(&p, "tip", 103);
    pl_model *model = line_build(&p);
    PL_CHECK_NEAR(pl_model_get_info(model).command[0].rest, 103, 1e-9);
    pl_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arc_is_a_circle),
        cmocka_unit_test(test_arc_is_smooth_at_zero),
        cmocka_unit_test(test_arc_reaches_its_end),
        cmocka_unit_test(test_sections_are_arcs_in_series),
        cmocka_unit_test(test_cone_converges_with_its_arcs),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_pressure_bends_by_stiffness),
        cmocka_unit_test(test_idle_lengths_leave_least_energy),
        cmocka_unit_test(test_contradicting_lengths_are_refused),
        cmocka_unit_test(test_rest_of_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
