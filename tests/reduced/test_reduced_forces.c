// Forces set at the markers of reduced models: closed forms of cantilevers, the same forces in the robot
// file, derivatives against central differences, buckling, and states that keep what acts.
#include "reduced_robot.h"

static void set_forces(pl_model *model, const double *force)
{
    pl_error err = {0};
    PL_CHECK_OK(pl_model_set_forces(model, force, &err));
}

static double stiff_length(const pl_section_def *s, double L)
{
    return L * L * L / (3 * s->EI[1]) + L / s->GA[0];
}

// delta = F (L^3/3EI + L/GA) of a rod, a chain and the published beam.
static void test_cantilever(void **state)
{
    (void)state;
    const double L = 45, F = 1e-8;
    for (int k = 0; k < 3; ++k) {
        line_plan p;
        line_init(&p, k == 0 ? PL_ROD : PL_BEAM);
        p.def.as_published = k == 2;
        const pl_section_def *s = line_section(&p, "s", L, 25, 0.5, 0.17, 6);
        line_actuator(&p, "c", PL_CHAMBER, PL_DRIVE_PRESSURE, 0, L, 5, 0);
        line_marker(&p, "tip", L);
        pl_model *model = line_build(&p);
        const double idle = NAN, force[3] = {F, 0, 0};
        set_forces(model, force);
        PL_CHECK_NEAR(line_tip(model, &idle)[0] / (F * stiff_length(s, L)), 1, 1e-9);
        PL_CHECK_NEAR(pl_model_get_answer(model).force[0], F, 0);
        set_forces(model, NULL);
        PL_CHECK_NEAR(line_tip(model, &idle)[0], 0, 1e-16);
        pl_model_destroy(model);
    }
}

// n arcs of constant curvature bend by F L^3/3EI (1 - 1/4n^2): each has the mean curvature of its length.
static void test_cantilever_of_arcs(void **state)
{
    (void)state;
    static const char *const name[] = {"a", "b", "c", "d"};
    const double L = 100, F = 1e-7;
    for (int n = 1; n <= 4; ++n) {
        line_plan p;
        line_init(&p, PL_CONSTANT_CURVATURE);
        for (int k = 0; k < n; ++k) {
            line_section(&p, name[k], L / n, 12, 1, 0.3, 1);
        }
        line_marker(&p, "tip", L);
        pl_model *model = line_build(&p);
        const double force[3] = {0, F, 0},
                     want = F * L * L * L / (3 * p.section[0].EI[0]) * (1 - 0.25 / (n * n));
        set_forces(model, force);
        PL_CHECK_NEAR(line_tip(model, NULL)[1] / want, 1, 1e-9);
        pl_model_destroy(model);
    }
}

// Robots of every kind that bears forces, with markers on the axis and off it.
static void robot(line_plan *p, int kind, bool in_file, const double *force)
{
    line_init(p, kind == 0 ? PL_ROD : kind == 1 ? PL_BEAM : PL_CONSTANT_CURVATURE);
    line_section(p, "a", 60, 14, 1, 0.33, 6);
    line_section(p, "b", 40, 10, 0.8, 0.3, 5);
    line_marker(p, "tip", 100);
    line_marker(p, "side", 60);
    p->marker[1].offset[0] = 4;
    p->marker[1].offset[2] = 2;
    line_actuator(p, "t", PL_CABLE, PL_DRIVE_TENSION, 0, 100, 4, 1);
    line_actuator(p, "s", PL_CABLE, PL_DRIVE_SHORTENING, 0, 60, 5, 2.5);
    line_actuator(p, "c", PL_CHAMBER, PL_DRIVE_PRESSURE, 0, 100, 3, 4);
    p->sensor[p->def.sensor_count++] =
        (pl_line_sensor_def){.name = "string", .path = {.span = {0, 100}, .radius = {5, 5}, .angle = 1}};
    p->sensor[p->def.sensor_count++] =
        (pl_line_sensor_def){.name = "pressure", .kind = PL_SENSOR_PRESSURE, .actuator = "c"};
    if (in_file) {
        line_force(p, "tip", force[0], force[1], force[2]);
        line_force(p, "side", force[3], force[4], force[5]);
    }
}

static const double force_given[6] = {0.05, -0.03, 0.04, -0.08, 0.06, -0.05},
                    command_given[3] = {1.5, 3, 0.3};

static void test_set_forces_are_those_of_the_file(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        line_plan a, b;
        robot(&a, kind, true, force_given);
        robot(&b, kind, false, force_given);
        pl_model *file = line_build(&a), *set = line_build(&b);
        set_forces(set, force_given);
        line_solve(file, command_given);
        line_solve(set, command_given);
        const double *x = pl_model_get_answer(file).marker, *y = pl_model_get_answer(set).marker;
        for (int i = 0; i < 6; ++i) {
            PL_CHECK_NEAR(x[i], y[i], 1e-9);
        }
        PL_CHECK_NEAR(pl_model_get_answer(file).effort[1], pl_model_get_answer(set).effort[1], 1e-10);
        pl_model_destroy(file);
        pl_model_destroy(set);
    }
}

static void test_derivatives_by_commands_under_forces(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        line_plan p;
        robot(&p, kind, false, NULL);
        pl_model *model = line_build(&p);
        set_forces(model, force_given);
        const double error = line_jacobian_error(model, command_given, 1e-5);
        print_message("kind %d: %.2e\n", kind, error);
        PL_CHECK_BELOW(error, 2e-7);
        pl_model_destroy(model);
    }
}

// Markers, sensors, efforts and measures by every force and by the value of every actuator.
static void test_derivatives_by_loads(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        line_plan p;
        robot(&p, kind, false, NULL);
        pl_model *model = line_build(&p);
        pl_error err = {0};
        pl_parameter parameter[9];
        double marker[6 * 9], sensor[2 * 9], effort[3 * 9], measure[3 * 9];
        for (int j = 0; j < 9; ++j) {
            parameter[j] = j < 6 ? (pl_parameter){PL_PARAMETER_MARKER_FORCE, j / 3, j % 3}
                                 : (pl_parameter){PL_PARAMETER_ACTUATOR, j - 6, 0};
        }
        set_forces(model, force_given);
        line_solve(model, command_given);
        const pl_jacobian out = {.marker = marker, .sensor = sensor, .effort = effort, .measure = measure};
        pl_jacobian_report report;
        PL_CHECK_OK(pl_model_sensitivity(model, parameter, 9, &out, &report, &err));
        double worst = 0;
        for (int j = 0; j < 9; ++j) {
            double end[2][14], command[3], force[6];
            const double h = j < 6 ? 1e-5 : 1e-4;
            for (int side = 0; side < 2; ++side) {
                memcpy(command, command_given, sizeof command);
                memcpy(force, force_given, sizeof force);
                // one unit of shortening is one less of the length
                *(j < 6 ? force + j : command + j - 6) += (side ? h : -h) * (j == 7 ? -1 : 1);
                set_forces(model, force);
                line_solve(model, command);
                const pl_model_answer a = pl_model_get_answer(model);
                memcpy(end[side], a.marker, 6 * sizeof(double));
                memcpy(end[side] + 6, a.sensor, 2 * sizeof(double));
                memcpy(end[side] + 8, a.effort, 3 * sizeof(double));
                memcpy(end[side] + 11, a.measure, 3 * sizeof(double));
            }
            for (int i = 0; i < 14; ++i) {
                const double exact = i < 6    ? marker[i * 9 + j]
                                     : i < 8  ? sensor[(i - 6) * 9 + j]
                                     : i < 11 ? effort[(i - 8) * 9 + j]
                                              : measure[(i - 11) * 9 + j];
                const double difference = (end[1][i] - end[0][i]) / (2 * h);
                worst = fmax(worst, fabs(exact - difference) / (1 + fabs(difference)));
            }
        }
        print_message("kind %d: %.2e\n", kind, worst);
        PL_CHECK_BELOW(worst, 1e-7);
        pl_model_destroy(model);
    }
}

// The published beam: its tip by forces and pressure, with its printed equations.
static void test_published_beam(void **state)
{
    (void)state;
    line_plan p;
    line_init(&p, PL_BEAM);
    p.def.as_published = true;
    line_section(&p, "s", 45, 25, 0.5, 0.17, 1);
    line_actuator(&p, "c", PL_CHAMBER, PL_DRIVE_PRESSURE, 0, 45, 5, 0.4);
    line_marker(&p, "tip", 45);
    p.marker[0].offset[1] = 3;
    pl_model *model = line_build(&p);
    pl_error err = {0};
    const pl_parameter parameter[3] = {{PL_PARAMETER_MARKER_FORCE, 0, 0},
                                       {PL_PARAMETER_MARKER_FORCE, 0, 1},
                                       {PL_PARAMETER_MARKER_FORCE, 0, 2}};
    double marker[9], force[3] = {0.2, -0.1, 0.3};
    const double command = 0.05, h = 1e-5;
    const pl_jacobian out = {.marker = marker};
    pl_jacobian_report report;
    set_forces(model, force);
    PL_CHECK_BELOW(line_jacobian_error(model, &command, 1e-5), 1e-7);
    line_solve(model, &command);
    PL_CHECK_OK(pl_model_sensitivity(model, parameter, 3, &out, &report, &err));
    for (int j = 0; j < 3; ++j) {
        double end[2][3];
        for (int side = 0; side < 2; ++side) {
            force[j] += side ? 2 * h : -h;
            set_forces(model, force);
            memcpy(end[side], line_tip(model, &command), sizeof end[side]);
        }
        force[j] -= h;
        for (int i = 0; i < 3; ++i) {
            PL_CHECK_NEAR((end[1][i] - end[0][i]) / (2 * h), marker[3 * i + j],
                          1e-7 * (1 + fabs(marker[3 * i + j])));
        }
    }

    pl_model_destroy(model);
}

static double fk_outcome(pl_model *model, const double *force, pl_outcome *outcome)
{
    pl_error err = {0};
    pl_solve_report report;
    set_forces(model, force);
    PL_CHECK_OK(pl_model_fk(model, NULL, &report, &err));
    *outcome = report.outcome;
    return report.negative_count;
}

// A straight column is an equilibrium under any weight and stable below its critical load: pi^2 EI/4L^2 of a
// rod (here with shear), 3 EI/L^2 of one arc.
static void test_columns_buckle(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        line_plan p;
        line_init(&p, kind ? PL_CONSTANT_CURVATURE : PL_ROD);
        pl_section_def *s = line_section(&p, "s", 200, 6, 1, 0.3, 24);
        s->EA = s->GA[0] = s->GA[1] = 1e5; // neither shortens nor shears
        line_marker(&p, "tip", 200);
        pl_model *model = line_build(&p);
        const double critical = (kind ? 3 : PL_PI * PL_PI / 4) * s->EI[0] / (200 * 200);
        for (int i = 0; i < 2; ++i) {
            const double force[3] = {0, 0, -(i ? 1.01 : 0.99) * critical};
            pl_outcome outcome;
            pl_model_reset(model);
            const double negative = fk_outcome(model, force, &outcome);
            print_message("kind %d, %g of the critical load: %s, %g negative\n", kind, i ? 1.01 : 0.99,
                          pl_outcome_name(outcome), negative);
            assert_int_equal(outcome, i ? PL_UNSTABLE : PL_SOLVED);
        }
        pl_model_destroy(model);
    }
}

// A recalled state has the forces that acted in it, and its derivatives are those under them.
static void test_states_keep_their_forces(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        line_plan p;
        robot(&p, kind, false, NULL);
        pl_model *model = line_build(&p);
        pl_error err = {0};
        pl_model_derivative d;
        pl_jacobian_report report;
        set_forces(model, force_given);
        line_solve(model, command_given);
        PL_CHECK_OK(pl_model_differentiate(model, PL_PART_MARKER, 0, &d, &report, &err));
        const double before = d.marker[0], tip = pl_model_get_answer(model).marker[0];
        PL_CHECK_OK(pl_model_keep(model, 0, &err));
        set_forces(model, NULL);
        line_solve(model, command_given);
        assert_true(fabs(pl_model_get_answer(model).marker[0] - tip) > 0.1);
        PL_CHECK_OK(pl_model_recall(model, 0, &err));
        PL_CHECK_NEAR(pl_model_get_answer(model).force[3], force_given[3], 0);
        PL_CHECK_OK(pl_model_differentiate(model, PL_PART_MARKER, 0, &d, &report, &err));
        PL_CHECK_NEAR(d.marker[0], before, 1e-9 * (1 + fabs(before)));
        pl_model_reset(model);
        PL_CHECK_NEAR(pl_model_get_answer(model).force[3], 0, 0);
        pl_model_destroy(model);
    }
}

// Why geometry cannot answer for it: with three lengths prescribed the end of a rod keeps its direction and
// its height but not its place; a force across moves it by F L^3 / (12 EI) + F L / GA, a quarter of a
// cantilever's bending, where lengths shared out among gaps would not move at all.
static void test_lengths_hold_the_direction_only(void **state)
{
    (void)state;
    line_plan p;
    line_init(&p, PL_ROD);
    const double L = 200, F = 5e-6, pull = 0.002; // the cables stay tight, far from buckling
    pl_section_def *s = line_section(&p, "s", L, 12, 1, 0.3, 40);
    for (int i = 0; i < 3; ++i) {
        static const char *const name[] = {"a", "b", "c"};
        line_actuator(&p, name[i], PL_CABLE, PL_DRIVE_LENGTH, 0, L, 5, 2 * PL_PI * i / 3);
    }

    line_marker(&p, "tip", L);
    pl_model *model = line_build(&p);
    const double EI = s->EI[0], GA = s->GA[0], force[3] = {F, 0, 0}, hold[3] = {L - pull, L - pull, L - pull};
    set_forces(model, force);
    line_solve(model, hold);
    const pl_model_answer a = pl_model_get_answer(model);
    const double expected = F * L * L * L / (12 * EI) + F * L / GA;
    print_message("moved by %.9g mm, by the formula %.9g; turned by %.1e\n", a.marker[0], expected,
                  a.rotation[2]);
    PL_CHECK_NEAR(a.marker[0], expected, 1e-3 * expected);
    assert_true(fabs(a.rotation[2]) < 1e-3 * expected / L);
    pl_model_destroy(model);
}

static void test_geometry_refuses_forces(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        line_plan p;
        line_init(&p, kind ? PL_VERTEBRAE : PL_CONSTANT_CURVATURE);
        p.section[p.def.section_count++] =
            (pl_section_def){.name = "s", .length = 100, .diameter = {20, 20}, .pieces = 4};
        for (int i = 0; i < 3; ++i) {
            static const char *const name[] = {"a", "b", "c"};
            line_actuator(&p, name[i], PL_CABLE, PL_DRIVE_LENGTH, 0, 100, 10, 2 * PL_PI * i / 3);
        }
        line_marker(&p, "tip", 100);
        pl_model *model = line_build(&p);
        pl_error err = {0};
        const double force[3] = {0, 0, -1}, none[3] = {0};
        assert_int_equal(pl_model_set_forces(model, force, &err), PL_BAD_INPUT);
        print_message("%s\n", err.text);
        assert_non_null(strstr(err.text, "stiffness"));
        PL_CHECK_OK(pl_model_set_forces(model, none, &err));
        pl_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cantilever),
        cmocka_unit_test(test_cantilever_of_arcs),
        cmocka_unit_test(test_set_forces_are_those_of_the_file),
        cmocka_unit_test(test_derivatives_by_commands_under_forces),
        cmocka_unit_test(test_derivatives_by_loads),
        cmocka_unit_test(test_published_beam),
        cmocka_unit_test(test_columns_buckle),
        cmocka_unit_test(test_states_keep_their_forces),
        cmocka_unit_test(test_lengths_hold_the_direction_only),
        cmocka_unit_test(test_geometry_refuses_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
