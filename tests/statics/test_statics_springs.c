// Springs: a bar and a spring share a load by their stiffnesses, forces balance, a spring that cannot push is
// slack, a prestressed one pulls, and derivatives are those of finite differences.
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47};
static const pl_guide_def guide[] = {{.point = {0, 3, 6}}, {.point = {20, 3, 6}}, {.point = {40, 3, 6}}};

// A bar of 40 x 6 x 6 mm along x, clamped at x = 0; markers at its middle and its tip, a cable on top.
static void bar_plan(plan *p, const pl_mesh *mesh)
{
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 40);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
    p->marker[p->def.marker_count++] = (pl_marker_def){.name = "middle", .at = {20, 3, 0}};
    plan_cable(p, "tendon", guide, 3, PL_DRIVE_SHORTENING)->radius = 2;
}

static pl_spring_def *plan_spring(plan *p, const char *name, double stiffness)
{
    pl_spring_def *s = &p->spring[p->def.spring_count++];
    *s = (pl_spring_def){.name = name, .from = "tip", .point = {90, 3, 3}, .stiffness = stiffness};
    return s;
}

static void plan_pull(plan *p, double force)
{
    p->force[0] = (pl_force_def){.marker = "tip", .force = {force, 0, 0}};
    p->def.force_count = 1;
}

static pl_mesh *bar_mesh(void)
{
    return tet_box(8, 2, 2, 40, 6, 6, 2, NULL);
}

static double tip_x(rig *r)
{
    return pl_statics_marker(r->statics, r->state, 0).displacement[0];
}

static const double idle = NAN;

// In parallel: u = F / (k_bar + k), the bar's own stiffness measured without the spring. The reaction at the
// base is what the spring leaves of the force, to the solver's tolerance.
static void test_shares_load(void **state)
{
    (void)state;
    const double F = -1e-3, k = 0.05; // compression: the bar is pushed away from the spring's far end
    static plan p;
    pl_mesh *mesh = bar_mesh();
    bar_plan(&p, mesh);
    plan_pull(&p, F);
    rig alone = plan_build(&p, NULL);
    rig_solve(&alone, &idle);
    assert_int_equal(pl_statics_reading_count(alone.statics), 0);
    plan_spring(&p, "s1", k);
    rig with = plan_build(&p, NULL);
    rig_solve(&with, &idle);
    const double bar = F / tip_x(&alone), expected = F / (bar + k), got = tip_x(&with);
    const double tension = pl_statics_reading(with.statics, with.state, 0),
                 length = pl_statics_reading(with.statics, with.state, 1);
    pl_reaction base;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_reactions(with.statics, with.state, &base));
    print_message("bar %.5f N/mm, spring %.5f N/mm: %.8f mm, by stiffness %.8f mm; tension %.6g N\n", bar, k,
                  got, expected, tension);
    assert_int_equal(pl_statics_reading_count(with.statics), 2);
    const pl_reading_info info = pl_statics_reading_info(with.statics, 0);
    assert_string_equal(info.group, "springs");
    assert_string_equal(info.name, "s1");
    assert_string_equal(info.quantity, "tension");
    assert_string_equal(info.unit, "N");
    assert_string_equal(pl_statics_reading_info(with.statics, 1).quantity, "length");
    assert_string_equal(pl_statics_reading_info(with.statics, 2).name, ""); // there is none
    assert_true(isnan(pl_statics_reading(with.statics, with.state, -1)));
    PL_CHECK_NEAR(got, expected, 2e-4 * fabs(expected)); // the bar is not linear, its strain is 1e-4
    PL_CHECK_NEAR(tension, k * (length - 50), 1e-14);
    PL_CHECK_NEAR(length, 50 - got, 1e-9);
    PL_CHECK_NEAR(base.force[0], -F - tension, 1e-10);
    rig_clear(&alone);
    rig_clear(&with);
    pl_mesh_destroy(mesh);
}

// Pulled towards its far end a spring that cannot push is slack: no tension, the shape of a bar without it.
// The same spring both ways pushes back.
static void test_tension_only(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = bar_mesh();
    rig r[3];
    for (int i = 0; i < 3; ++i) {
        bar_plan(&p, mesh);
        plan_pull(&p, 0.01);
        if (i > 0) {
            plan_spring(&p, "s1", 0.05)->tension_only = i == 1;
        }
        r[i] = plan_build(&p, NULL);
        rig_solve(&r[i], &idle);
    }

    print_message("bar %.6f mm, slack spring %.6f mm, pushing spring %.6f mm\n", tip_x(&r[0]), tip_x(&r[1]),
                  tip_x(&r[2]));
    PL_CHECK_NEAR(pl_statics_reading(r[1].statics, r[1].state, 0), 0, 0);
    PL_CHECK_BELOW(shape_distance(&r[0], rig_x(&r[0]), rig_x(&r[1])), 1e-8);
    assert_true(pl_statics_reading(r[2].statics, r[2].state, 0) < 0);
    assert_true(tip_x(&r[2]) < 0.93 * tip_x(&r[0]));
    for (int i = 0; i < 3; ++i) {
        rig_clear(&r[i]);
    }
    pl_mesh_destroy(mesh);
}

// A prestressed spring aslant between tip and space, and one inside the body: tensions are k (l - l0), the
// reaction at the base balances what acts from outside, and the inner spring is no part of it.
static void test_prestress(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = bar_mesh();
    bar_plan(&p, mesh);
    pl_spring_def *outer = plan_spring(&p, "outer", 0.002), *inner = plan_spring(&p, "inner", 0.02);
    outer->point[2] = 43;
    outer->rest = 20;
    outer->has_rest = true;
    inner->to = "middle";
    inner->rest = 15;
    inner->has_rest = true;
    rig r = plan_build(&p, NULL);
    const pl_solve_report report = rig_solve(&r, &idle);
    const double *rest = rig_rest(&r);
    const pl_marker_result tip = pl_statics_marker(r.statics, r.state, 0);
    double along[3], length = 0;
    const double far[3] = {90, 3, 43};
    for (int i = 0; i < 3; ++i) {
        along[i] = far[i] - tip.position[i];
        length += along[i] * along[i];
    }

    length = sqrt(length);
    const double tension = pl_statics_reading(r.statics, r.state, 0);
    pl_reaction base;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_reactions(r.statics, r.state, &base));
    print_message("outer %.6g N at %.4f mm, inner %.6g N at %.4f mm; tip up %.3f mm, %d factorisations\n",
                  tension, pl_statics_reading(r.statics, r.state, 1),
                  pl_statics_reading(r.statics, r.state, 2), pl_statics_reading(r.statics, r.state, 3),
                  tip.displacement[2], report.factorizations);
    PL_CHECK_NEAR(pl_statics_reading(r.statics, r.state, 1), length, 1e-9);
    PL_CHECK_NEAR(tension, 0.002 * (length - 20), 1e-12);
    PL_CHECK_NEAR(pl_statics_reading(r.statics, r.state, 2),
                  0.02 * (pl_statics_reading(r.statics, r.state, 3) - 15), 1e-14);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(base.force[i], -tension * along[i] / length, 1e-8);
    }
    assert_true(tip.displacement[2] > 1 && shape_distance(&r, rig_x(&r), rest) > 1);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// Tension, length and the tip with respect to the command and to the force, against central differences.
static void test_derivatives(void **state)
{
    (void)state;
    const double h[2] = {1e-3, 1e-5};
    static plan p;
    pl_mesh *mesh = bar_mesh();
    double difference[2][5], exact[5 * 2];
    for (int q = 0; q < 2; ++q) {
        double value[2][5];
        for (int side = 0; side < 2; ++side) {
            const double sign = side ? 1 : -1;
            bar_plan(&p, mesh);
            plan_pull(&p, 0);
            p.force[0].force[2] = 0.005 + (q == 1 ? sign * h[1] : 0);
            plan_spring(&p, "outer", 0.003)->point[2] = -30;
            pl_spring_def *inner = plan_spring(&p, "inner", 0.02);
            inner->to = "middle";
            inner->rest = 17;
            inner->has_rest = true;
            rig r = plan_build(&p, NULL);
            const double command = 1.5 + (q == 0 ? sign * h[0] : 0);
            rig_solve(&r, &command);
            for (int k = 0; k < 4; ++k) {
                value[side][k] = pl_statics_reading(r.statics, r.state, k);
            }
            value[side][4] = pl_statics_marker(r.statics, r.state, 0).position[2];
            if (q == 0 && side == 0) {
                // the derivative at the middle
                const pl_parameter parameter[2] = {{.kind = PL_PARAMETER_COMMAND},
                                                   {.kind = PL_PARAMETER_FORCE, .part = 2}};
                const double middle = 1.5;
                double marker[6 * 2], reading[4 * 2];
                pl_jacobian_report report;
                pl_error err = {0};
                rig_solve(&r, &middle);
                PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, parameter, 2,
                                                &(pl_jacobian){.marker = marker, .reading = reading}, &report,
                                                &err));
                PL_CHECK_BELOW(report.residual, 1e-9);
                memcpy(exact, reading, sizeof reading);
                memcpy(exact + 8, marker + 4, 2 * sizeof *marker);
            }
            rig_clear(&r);
        }
        for (int k = 0; k < 5; ++k) {
            difference[q][k] = (value[1][k] - value[0][k]) / (2 * h[q]);
        }
    }

    for (int k = 0; k < 5; ++k) {
        for (int q = 0; q < 2; ++q) {
            const double got = exact[2 * k + q], want = difference[q][k];
            print_message("output %d by parameter %d: %.9g, differences %.9g (%.1e)\n", k, q, got, want,
                          fabs(got - want) / fabs(want));
            PL_CHECK_NEAR(got, want, 1e-6 * fabs(want));
        }
    }

    pl_mesh_destroy(mesh);
}

// At its rest length a spring that cannot push has a derivative to one side only, and the report says so.
static void test_one_sided(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = bar_mesh();
    for (int tension_only = 0; tension_only < 2; ++tension_only) {
        bar_plan(&p, mesh);
        plan_pull(&p, 0);
        plan_spring(&p, "s1", 0.05)->tension_only = tension_only;
        rig r = plan_build(&p, NULL);
        const pl_parameter pull = {.kind = PL_PARAMETER_FORCE};
        pl_jacobian_report report;
        pl_error err = {0};
        double reading[2];
        rig_solve(&r, &idle);
        PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &pull, 1, &(pl_jacobian){.reading = reading},
                                        &report, &err));
        assert_int_equal(report.one_sided, tension_only);
        rig_clear(&r);
    }

    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares_load),
                                       cmocka_unit_test(test_tension_only), cmocka_unit_test(test_prestress),
                                       cmocka_unit_test(test_derivatives), cmocka_unit_test(test_one_sided)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
