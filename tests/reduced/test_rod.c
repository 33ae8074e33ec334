// Rod and chain against closed forms: Timoshenko's deflection, the elastica, a full circle, a rod bent by its
// weight, a helical tendon; and the laws of tendons.
#include "reduced_robot.h"
#include "model/model.h"

#define L0 100.0
#define EI0 1e4

// A rod of length 100 mm, EI 1e4 N mm^2, so stiff in stretch and shear that the elastica is met to 1e-6.
static void slender(line_plan *p, pl_reduced_kind kind, int pieces)
{
    line_init(p, kind);
    pl_section_def *s = line_section(p, "s", L0, 10, 1, 1, pieces);
    s->EI[0] = s->EI[1] = EI0;
    s->GJ = 8e3;
    s->EA = s->GA[0] = s->GA[1] = 1e6;
    line_marker(p, "tip", L0);
}

// EI theta'' = - (P + w (L - s)) cos(theta), theta(0) = 0, theta'(L) = 0, integrated from the tip with
// theta(L) found by bisection (Runge-Kutta, 4000 steps): a load normal to the rod at rest.
static double heavy_elastica(double P, double w, double *x, double *z)
{
    double low = 0, high = 1.57079;
    for (int i = 0; i < 60; ++i) {
        const double tip = 0.5 * (low + high);
        const int n = 4000;
        const double h = L0 / n;
        double theta = tip, slope = 0;
        *x = *z = 0;
        for (int k = 0; k < n; ++k) {
            // the distance from the tip is u; d theta/du = slope, d slope/du = -(P + w u) cos(theta)/EI
            double y[4][4], at[4] = {theta, slope, 0, 0};
            for (int q = 0; q < 4; ++q) {
                const double f = q == 0 ? 0 : q == 3 ? h : 0.5 * h, u = k * h + f;
                const double t = at[0] + (q ? f * y[q - 1][0] : 0), s = at[1] + (q ? f * y[q - 1][1] : 0);
                y[q][0] = s;
                y[q][1] = -(P + w * u) * cos(t) / EI0;
                y[q][2] = sin(t);
                y[q][3] = cos(t);
            }
            const double *a = y[0], *b = y[1], *c = y[2], *d = y[3];
            theta += h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0]);
            slope += h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1]);
            *x += h / 6 * (a[2] + 2 * b[2] + 2 * c[2] + d[2]);
            *z += h / 6 * (a[3] + 2 * b[3] + 2 * c[3] + d[3]);
        }
        if (theta > 0) {
            high = tip;
        } else {
            low = tip;
        }
    }

    return low;
}

static void test_small_loads_are_timoshenko(void **state)
{
    (void)state;
    // one element and many: delta = F (L^3/3EI + L/GA), exact because the element is
    for (int pieces = 1; pieces <= 16; pieces *= 4) {
        line_plan p;
        line_init(&p, pieces == 4 ? PL_BEAM : PL_ROD);
        const pl_section_def *s = line_section(&p, "s", 45, 25, 0.5, 0.17, pieces);
        line_marker(&p, "tip", 45);
        const double F = 1e-8, L = 45;
        line_force(&p, "tip", F, 0, 0);
        pl_model *model = line_build(&p);
        const double want = F * (L * L * L / (3 * s->EI[1]) + L / s->GA[0]);
        const double *tip = line_tip(model, NULL);
        PL_CHECK_NEAR(tip[0] / want, 1, 1e-12);
        pl_model_destroy(model);
    }
}

static void test_elastica(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        for (double alpha = 1; alpha <= 10; alpha += 3) {
            line_plan p;
            slender(&p, kind ? PL_ROD : PL_BEAM, 20);
            const double P = alpha * EI0 / (L0 * L0);
            line_force(&p, "tip", P, 0, 0);
            pl_model *model = line_build(&p);
            const double *tip = line_tip(model, NULL);
            double x, z;
            heavy_elastica(P, 0, &x, &z);
            print_message("load %4.1f EI/L^2: x %.5f (%.5f), z %.5f (%.5f)\n", alpha, tip[0], x, tip[2], z);
            PL_CHECK_NEAR(tip[0], x, 1e-3 * x);
            PL_CHECK_NEAR(tip[2], z, 1e-3 * L0);
            pl_model_destroy(model);
        }
    }
}

static void test_end_moment_makes_a_circle(void **state)
{
    (void)state;
    // M = 2 pi EI / L bends the rod to a full circle: the tip comes back to the base
    for (int kind = 0; kind < 2; ++kind) {
        line_plan p;
        slender(&p, kind ? PL_ROD : PL_BEAM, 20);
        line_marker(&p, "half", L0 / 2);
        p.force[p.def.force_count++] =
            (pl_line_force_def){.marker = "tip", .moment = {0, 2 * PL_PI * EI0 / L0, 0}};
        pl_model *model = line_build(&p);
        const double *tip = line_tip(model, NULL);
        PL_CHECK_NEAR(tip[0], 0, 1e-3 * L0);
        PL_CHECK_NEAR(tip[2], 0, 1e-3 * L0);
        PL_CHECK_NEAR(tip[3], L0 / PL_PI, 1e-6 * L0); // midway: the diameter across
        PL_CHECK_NEAR(pl_model_get_answer(model).energy, 0.5 * 4 * PL_PI * PL_PI * EI0 / L0, 1e-9 * EI0);
        pl_model_destroy(model);
    }
}

static void test_weight_bends_a_rod(void **state)
{
    (void)state;
    line_plan p;
    slender(&p, PL_ROD, 20);
    const double w = 10 * EI0 / (L0 * L0 * L0);
    p.section[0].mass = w / 9810;
    p.def.gravity[0] = 9810;
    pl_model *model = line_build(&p);
    const double *tip = line_tip(model, NULL);
    double x, z;
    heavy_elastica(0, w, &x, &z);
    PL_CHECK_NEAR(tip[0], x, 1e-3 * x);
    PL_CHECK_NEAR(tip[2], z, 1e-3 * x);
    pl_model_destroy(model);

    // the same as a distributed load
    p.section[0].mass = 0;
    p.def.gravity[0] = 0;
    p.load[p.def.load_count++] = (pl_line_load_def){.force = {w, 0, 0}};
    model = line_build(&p);
    PL_CHECK_NEAR(line_tip(model, NULL)[0], x, 1e-3 * x);
    pl_model_destroy(model);
}

static void test_straight_tendon_bends_to_an_arc(void **state)
{
    (void)state;

    // tension T at the offset d of an inextensible rod: curvature T d / EI, also when it is large
    line_plan p;
    slender(&p, PL_ROD, 20);
    line_actuator(&p, "t", PL_CABLE, PL_DRIVE_TENSION, 0, L0, 5, 0);
    pl_model *model = line_build(&p);
    const double T = 40, turn = T * 5 / EI0 * L0;
    const double *tip = line_tip(model, &T);
    PL_CHECK_NEAR(tip[0], L0 * (1 - cos(turn)) / turn, 0.01);
    PL_CHECK_NEAR(tip[2], L0 * sin(turn) / turn, 0.01);

    // length of the tendon: L - d turn, stretch aside
    PL_CHECK_NEAR(pl_model_get_answer(model).measure[0], L0 - 5 * turn, 0.01);
    pl_model_destroy(model);
}

static void test_helical_tendon(void **state)
{
    (void)state;

    // one turn of radius a: internal force -T t, moment -T d x t with t = (e_z + d') / g, g^2 = 1 + a^2 w^2.
    // To first order in T: twist -T a^2 w L / (g GJ), tip to the side T a L / (g EI w) - along y - and
    // shear, whose mean over a turn is 0
    line_plan p;
    slender(&p, PL_ROD, 80);
    pl_line_actuator_def *t = line_actuator(&p, "t", PL_CABLE, PL_DRIVE_TENSION, 0, L0, 6, 0);
    t->path.turns = 1;
    pl_model *model = line_build(&p);
    const double T = 0.01, w = 2 * PL_PI / L0, g = sqrt(1 + 36 * w * w);
    line_solve(model, &T);
    const pl_model_answer a = pl_model_get_answer(model);
    const double twist = -T * 36 * w * L0 / (g * 8e3), side = T * 6 * L0 / (g * EI0 * w);
    PL_CHECK_NEAR((a.rotation[3] - a.rotation[1]) / 2 / twist, 1, 1e-3);
    PL_CHECK_NEAR(a.marker[1] / side, 1, 2e-3);
    PL_CHECK_NEAR(a.marker[0] / side, 0, 1e-3);
    PL_CHECK_NEAR(pl_model_actuator(model, 0).rest, L0 * g, 1e-9);
    pl_model_destroy(model);
}

static void test_length_and_tension_agree(void **state)
{
    (void)state;
    double tip[2][3], tension = 0;
    for (int by_force = 0; by_force < 2; ++by_force) {
        line_plan p;
        line_init(&p, PL_ROD);
        line_section(&p, "s", L0, 12, 1, 0.33, 12);
        line_marker(&p, "tip", L0);
        line_force(&p, "tip", 0.02, 0.05, 0);
        pl_line_actuator_def *t =
            line_actuator(&p, "t", PL_CABLE, by_force ? PL_DRIVE_TENSION : PL_DRIVE_SHORTENING, 0, L0, 5, 1);
        t->path.radius[1] = 3; // tapered
        pl_model *model = line_build(&p);
        const double command = by_force ? tension : 8;
        memcpy(tip[by_force], line_tip(model, &command), sizeof tip[0]);
        const pl_model_answer a = pl_model_get_answer(model);
        tension = a.effort[0];
        PL_CHECK_NEAR(a.measure[0], pl_model_actuator(model, 0).rest - 8, 1e-8);
        pl_model_destroy(model);
    }

    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(tip[0][i], tip[1][i], 1e-7);
    }
}

static void test_cables_cannot_push(void **state)
{
    (void)state;
    line_plan p;
    line_init(&p, PL_ROD);
    line_section(&p, "s", L0, 12, 1, 0.33, 12);
    line_marker(&p, "tip", L0);
    line_actuator(&p, "t1", PL_CABLE, PL_DRIVE_SHORTENING, 0, L0, 5, 0);
    line_actuator(&p, "t2", PL_CABLE, PL_DRIVE_SHORTENING, 0, L0, 5, PL_PI);
    pl_model *model = line_build(&p);

    // pulling the first leaves the second slack, although it is reported to keep its length: it must not
    // shorten
    const double pull[2] = {6, -20};
    line_solve(model, pull);
    pl_model_answer a = pl_model_get_answer(model);
    assert_true(a.effort[0] > 0);
    PL_CHECK_NEAR(a.effort[1], 0, 0);
    assert_true(pl_model_get_answer(model).actuator[1].slack);
    assert_true(a.measure[1] < pl_model_actuator(model, 1).rest + 20);

    // both at their rest length hold the rod straight when one is pulled back
    const double hold[2] = {0, 0};
    line_solve(model, hold);
    a = pl_model_get_answer(model);
    PL_CHECK_NEAR(a.marker[2], L0, 1e-8);
    PL_CHECK_NEAR(a.marker[0], 0, 1e-8);
    pl_model_destroy(model);
}

static void test_sections_differ(void **state)
{
    (void)state;

    // two sections under a tip moment: each an arc of its own curvature
    line_plan p;
    line_init(&p, PL_ROD);
    for (int k = 0; k < 2; ++k) {
        pl_section_def *s = line_section(&p, k ? "b" : "a", 50, 10, 1, 1, 10);
        s->EI[0] = s->EI[1] = k ? 2000 : 1000;
        s->EA = s->GA[0] = s->GA[1] = 1e6;
    }

    line_marker(&p, "tip", 100);
    p.force[p.def.force_count++] = (pl_line_force_def){.marker = "tip", .moment = {0, 20, 0}};
    pl_model *model = line_build(&p);
    const pl_arc a = {.length = 50, .turn = {0, 1}}, b = {.length = 50, .turn = {0, 0.5}};
    double pa[3], pb[3];
    pl_arc_end(&a, pa, NULL);
    pl_arc_end(&b, pb, NULL);
    const double *tip = line_tip(model, NULL);
    PL_CHECK_NEAR(tip[0], pa[0] + cos(1) * pb[0] + sin(1) * pb[2], 1e-3);
    PL_CHECK_NEAR(tip[2], pa[2] - sin(1) * pb[0] + cos(1) * pb[2], 1e-3);
    pl_model_destroy(model);
}

static void test_large_loads_converge_from_rest(void **state)
{
    (void)state;

    // a thousand EI/L^2 across the rod, and pushes along it far beyond its buckling load
    const double load[][3] = {{1000, 0, 0}, {3, 0, -200}, {1, 2, 500}, {-40, 60, -30}};
    for (int i = 0; i < 4; ++i) {
        line_plan p;
        slender(&p, PL_ROD, 40);
        const double f = EI0 / (L0 * L0);
        line_force(&p, "tip", f * load[i][0], f * load[i][1], f * load[i][2]);
        pl_model *model = line_build(&p);
        pl_solve_report report;
        pl_error err = {0};
        PL_CHECK_OK(pl_model_fk(model, NULL, &report, &err));
        print_message("load %d: %d iterations, %d parts, residual %.1e of the forces\n", i, report.iterations,
                      report.increments, report.residual_relative);
        assert_int_equal(report.outcome, PL_SOLVED);
        PL_CHECK_BELOW(report.residual_relative, 1e-8);
        pl_model_destroy(model);
    }
}

static void test_follower_force(void **state)
{
    (void)state;

    // a follower force bends as the same force fixed in the tip's frame: balance of moments about the base
    line_plan p;
    slender(&p, PL_ROD, 40);
    pl_line_force_def *f = line_force(&p, "tip", 5, 0, 0);
    f->follower = true;
    pl_model *model = line_build(&p);
    const double *tip = line_tip(model, NULL), *R = pl_model_get_answer(model).rotation;

    // the angle theta of the tip: EI theta'' = -F cos(theta - theta_L), the elastica seen from the tip
    const double F[3] = {5 * R[0], 5 * R[3], 5 * R[6]};
    const double moment = tip[2] * F[0] - tip[0] * F[2];

    // curvature at the base from the first element: its mean, at h/2, corrected by the shear force there
    const double *point = pl_model_get_answer(model).point;
    const double h = L0 / 40, lift = 2 * point[3] / (point[5] * point[5] + point[3] * point[3]);
    PL_CHECK_NEAR(lift, moment / EI0, moment / EI0 * 2 * h / L0);
    pl_model_destroy(model);
}

static void test_derivatives(void **state)
{
    (void)state;
    line_plan p;
    line_init(&p, PL_ROD);
    line_section(&p, "a", 60, 14, 1, 0.33, 8)->mass = 2e-7;
    line_section(&p, "b", 40, 10, 0.8, 0.3, 6);
    line_marker(&p, "tip", 100);
    line_marker(&p, "side", 55);
    p.marker[1].offset[0] = 4;
    p.def.gravity[1] = -9810;
    line_force(&p, "side", 0.05, 0, -0.1);
    pl_line_force_def *f = line_force(&p, "tip", 0.02, 0.03, 0);
    f->follower = true;
    f->moment[2] = 1;
    line_actuator(&p, "t1", PL_CABLE, PL_DRIVE_TENSION, 0, 100, 5, 0)->path.turns = 0.4;
    line_actuator(&p, "t2", PL_CABLE, PL_DRIVE_SHORTENING, 0, 60, 5, 2)->path.radius[1] = 3;
    line_actuator(&p, "c", PL_CHAMBER, PL_DRIVE_PRESSURE, 0, 100, 4, 4)->path.turns = -0.2;
    line_actuator(&p, "v", PL_CHAMBER, PL_DRIVE_VOLUME_RATIO, 20, 80, 3, 5);
    p.sensor[p.def.sensor_count++] = (pl_line_sensor_def){
        .name = "string", .path = {.span = {0, 100}, .radius = {5, 2}, .angle = 1, .turns = 0.3}};
    p.sensor[p.def.sensor_count++] =
        (pl_line_sensor_def){.name = "volume", .kind = PL_SENSOR_VOLUME, .actuator = "v"};
    pl_model *model = line_build(&p);
    const double command[4] = {2, 5, 0.3, 1.05};
    const double error = line_jacobian_error(model, command, 1e-5);
    print_message("largest error of the Jacobian: %.2e\n", error);
    PL_CHECK_BELOW(error, 1e-7);
    pl_model_destroy(model);
}

static void test_recall_goes_back(void **state)
{
    (void)state;
    line_plan p;
    line_init(&p, PL_ROD);
    line_section(&p, "s", L0, 12, 1, 0.33, 12);
    line_marker(&p, "tip", L0);
    line_actuator(&p, "t1", PL_CABLE, PL_DRIVE_SHORTENING, 0, L0, 5, 0);
    pl_model *model = line_build(&p);
    const double one = 5, two = 12;
    pl_error err = {0};
    pl_model_derivative d;
    pl_jacobian_report report;
    double tip[3], J[3];
    memcpy(tip, line_tip(model, &one), sizeof tip);
    PL_CHECK_OK(pl_model_differentiate(model, PL_PART_MARKER, 0, &d, &report, &err));
    memcpy(J, d.marker, sizeof J);
    PL_CHECK_OK(pl_model_keep(model, 1, NULL));
    line_solve(model, &two);
    PL_CHECK_OK(pl_model_recall(model, 1, NULL));
    PL_CHECK_OK(pl_model_differentiate(model, PL_PART_MARKER, 0, &d, &report, &err));
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(pl_model_get_answer(model).marker[i], tip[i], 0);
        PL_CHECK_NEAR(d.marker[i], J[i], 1e-12);
    }

    pl_model_reset(model);
    PL_CHECK_NEAR(pl_model_get_answer(model).marker[2], L0, 0);
    pl_model_destroy(model);
}

// A command that has no equilibrium: the answer gives the command at which the rod stands.
static void test_answer_short_of_the_goal(void **state)
{
    (void)state;
    line_plan p;
    line_init(&p, PL_ROD);
    line_section(&p, "s", 100, 4, 1, 0.33, 20);
    line_actuator(&p, "tendon", PL_CABLE, PL_DRIVE_TENSION, 0, 100, 1.5, 0);
    line_marker(&p, "tip", 100);
    pl_model *model = line_build(&p);
    const double low = 0.01, high = 1e9;
    line_solve(model, &low);
    pl_solve_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_fk(model, &high, &report, &err));
    assert_int_equal(report.outcome, PL_STEP_LIMIT);
    const pl_model_answer a = pl_model_get_answer(model);
    PL_CHECK_NEAR(a.command[0], a.effort[0], 1e-12 * a.effort[0]);
    PL_CHECK_BELOW(a.command[0], 0.1 * high);
    pl_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_loads_are_timoshenko),
        cmocka_unit_test(test_elastica),
        cmocka_unit_test(test_end_moment_makes_a_circle),
        cmocka_unit_test(test_weight_bends_a_rod),
        cmocka_unit_test(test_straight_tendon_bends_to_an_arc),
        cmocka_unit_test(test_helical_tendon),
        cmocka_unit_test(test_length_and_tension_agree),
        cmocka_unit_test(test_cables_cannot_push),
        cmocka_unit_test(test_sections_differ),
        cmocka_unit_test(test_large_loads_converge_from_rest),
        cmocka_unit_test(test_follower_force),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_recall_goes_back),
        cmocka_unit_test(test_answer_short_of_the_goal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
