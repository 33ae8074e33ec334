// Laws of single kinds of elements: (E, nu) read back from (w, R_omega), the uniaxial curve of a rubber law,
// free growth of films and chambers, triangles of a cable; and what is refused.
#include "base/vec.h"
#include "geometric_robot.h"
#include "material/material.h"

static const double bar_size[3] = {20, 6, 6};

static pl_mesh *bar_mesh(void)
{
    return tet_box(5, 2, 2, bar_size[0], bar_size[1], bar_size[2], 1, NULL);
}

static pl_marker_result tip_of(rig *r)
{
    return pl_statics_marker(r->statics, r->state, 0);
}

// A stretched bar of (w, R) thins by nu = (1 - R) / (2 + R) and, pulled by a force, gives E = 6 w R / (2 +
// R).
static void test_bar_reads_back(void **state)
{
    (void)state;
    for (int i = 1; i <= 4; ++i) {
        const double w = 0.7, R = 0.25 * i, force = 1e-4;
        pl_material m = {.model = PL_LINEAR};
        pl_shape_to_elastic(w, R, &m.young, &m.poisson);
        for (int form = 0; form < 2; ++form) {
            rig r = geo_bar(bar_mesh(), bar_size, m, 0, force);
            pl_geometric_options o = geo_tight();
            o.form = (pl_shape_form)form;
            pl_geometric *g = geo_make(r.robot, &o);
            geo_run(g, r.state, NULL);
            const double strain = tip_of(&r).displacement[0] / bar_size[0];
            // the corner opposite to the rollers
            const int32_t last = pl_state_vertex_count(r.state) - 1;
            const double thinned = rig_x(&r)[3 * last + 1] / bar_size[1] - 1;
            const double E = force / (bar_size[1] * bar_size[2]) / strain, nu = -thinned / strain;
            print_message("R %.2f, form %d: E %.6f (law %.6f), nu %.6f (law %.6f)\n", R, form, E, m.young, nu,
                          m.poisson);
            PL_CHECK_NEAR(E / m.young, 1, 1e-4);
            PL_CHECK_NEAR(nu, m.poisson, 1e-4);
            pl_geometric_destroy(g);
            rig_clear(&r);
        }
    }
}

// Pulled far, a bar of a rubber law follows the law's uniaxial curve.
static void check_curve(pl_material m, double stress_low, double stress_high)
{
    for (int i = 0; i < 3; ++i) {
        const double area = bar_size[1] * bar_size[2];
        const double stress = stress_low + (stress_high - stress_low) * i / 2;
        rig r = geo_bar(bar_mesh(), bar_size, m, 0, stress * area);
        pl_geometric_options o = geo_tight();
        o.length_tolerance = 1e-8;
        pl_geometric *g = geo_make(r.robot, &o);
        const pl_solve_report report = geo_run(g, r.state, NULL);
        const double l = 1 + tip_of(&r).displacement[0] / bar_size[0];
        print_message("stretch %.4f: stress %.6f, the law's %.6f (%d iterations)\n", l, stress,
                      pl_material_uniaxial(&m, l), report.iterations);
        PL_CHECK_NEAR(pl_material_uniaxial(&m, l) / stress, 1, 0.005);
        pl_geometric_destroy(g);
        rig_clear(&r);
    }
}

static void test_rubber_curve(void **state)
{
    (void)state;
    check_curve((pl_material){.model = PL_MOONEY_RIVLIN, .c10 = 0.08, .c01 = 0.03, .poisson = 0.47}, 0.05,
                0.3);
    check_curve((pl_material){.model = PL_YEOH, .c10 = 0.1, .c20 = 0.01, .poisson = 0.47}, 0.05, 0.3);
}

// A film that is free to grow reaches the ratio it is asked for and stores nothing, in both metrics.
static void test_film_grows_freely(void **state)
{
    (void)state;
    for (int metric = 0; metric < 2; ++metric) {
        static plan p;
        pl_mesh *mesh = prism_box(6, 4, 1, 12, 8, 0.5, 1);
        plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0.4});
        plan_plane(&p, "top", 2, 0.5);
        plan_plane(&p, "floor", 2, 0);
        plan_plane(&p, "left", 0, 0);
        plan_plane(&p, "front", 1, 0);
        plan_hold(&p, "floor", "z");
        plan_hold(&p, "left", "x");
        plan_hold(&p, "front", "y");
        plan_film(&p, "film", "top", PL_DRIVE_AREA_RATIO);
        rig r = plan_build(&p, NULL);
        pl_geometric_options o = geo_tight();
        o.metric = (pl_metric)metric;
        pl_geometric *g = geo_make(r.robot, &o);
        const double ratio = 1.44;
        const pl_solve_report report = geo_run(g, r.state, &ratio);
        const pl_geometric_actuator_result film = pl_geometric_actuator(g, 0);
        const double *corner = rig_x(&r) + 3 * (pl_state_vertex_count(r.state) - 1);
        print_message("metric %d: reached %.9f, corner (%.6f, %.6f, %.6f), energy %.1e\n", metric, film.ratio,
                      corner[0], corner[1], corner[2], report.energy);
        assert_true(film.growth);
        PL_CHECK_NEAR(film.ratio, 1.44, 1e-8);
        PL_CHECK_NEAR(corner[0], 12 * 1.2, 1e-7);
        PL_CHECK_NEAR(corner[1], 8 * 1.2, 1e-7);
        PL_CHECK_NEAR(corner[2], 0.5 / 1.44, 1e-7);
        PL_CHECK_BELOW(report.energy, 1e-12);
        pl_geometric_destroy(g);
        pl_mesh_destroy(mesh);
        rig_clear(&r);
    }
}

// A cable along a beam that crosses no gap shrinks by triangles on every piece: the beam bends towards it,
// the length reached lies between the length asked for and rest, and comes nearer with more weight.
static void test_cable_triangles(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(12, 2, 2, 30, 5, 5, 1, NULL);
    const pl_guide_def guide[4] = {
        {.point = {0, 2.5, 5}}, {.point = {10, 2.5, 5}}, {.point = {20, 2.5, 5}}, {.point = {30, 2.5, 5}}};
    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0.3});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 30);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    plan_cable(&p, "tendon", guide, 4, PL_DRIVE_LENGTH_RATIO);
    rig r = plan_build(&p, NULL);
    double reached[3], bent[3];
    for (int k = 0; k < 3; ++k) {
        pl_geometric_options o = geo_tight();
        o.length_tolerance = 1e-7;
        o.actuation = PL_ACTUATE_GROWTH;
        o.actuation_weight = k == 0 ? 5 : k == 1 ? 20 : 80;
        pl_geometric *g = geo_make(r.robot, &o);
        pl_state_reset(r.state, r.robot);
        geo_run(g, r.state, &(double){0.8});
        assert_int_equal(pl_geometric_get_info(g).cable_triangles, 3);
        reached[k] = pl_geometric_actuator(g, 0).ratio;
        bent[k] = tip_of(&r).displacement[2];
        // what is not pulled does not push
        pl_state_reset(r.state, r.robot);
        geo_run(g, r.state, &(double){1.1});
        PL_CHECK_BELOW(pl_norm3(tip_of(&r).displacement), 1e-9);
        pl_geometric_destroy(g);
    }

    print_message("weights 5, 20, 80: reached %.4f %.4f %.4f of 0.8, tip up by %.3f %.3f %.3f mm\n",
                  reached[0], reached[1], reached[2], bent[0], bent[1], bent[2]);
    assert_true(reached[0] < 1 && reached[1] < reached[0] && reached[2] < reached[1] && reached[2] > 0.8);
    assert_true(bent[0] > 0.1 && bent[2] > bent[0]);
    pl_mesh_destroy(mesh);
    rig_clear(&r);
}

// The published settings: everything as in the paper, and a tip at rest is not called a solution.
static void test_preset(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_geometric_options o = pl_geometric_options_default();
    PL_CHECK_OK(pl_geometric_preset("fang2020", &o, &err));
    assert_int_equal(pl_geometric_preset("fang2021", &o, &err), PL_BAD_INPUT);
    rig r = geo_hollow((pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0.3}, PL_DRIVE_VOLUME_RATIO,
                       1, true);
    pl_geometric *g = geo_make(r.robot, &o);
    pl_solve_report report;
    PL_CHECK_OK(pl_geometric_solve(g, r.state, &(double){2}, &report, &err));
    print_message("fang2020: %s after %d iterations: %s\n", pl_outcome_name(report.outcome),
                  report.iterations, report.message);
    assert_int_equal(report.outcome, PL_NOT_CONVERGED);
    assert_true(report.step > 1e-4 && report.iterations < 200);
    pl_geometric_destroy(g);
    rig_clear(&r);
}

static void check_refused(const pl_robot *robot, pl_geometric_options o, const char *text)
{
    pl_error err = {0};
    pl_geometric *g = NULL;

    assert_int_equal(pl_geometric_create(robot, &o, &g, &err), PL_BAD_INPUT);
    assert_null(g);
    if (!strstr(err.text, text)) {
        print_error("'%s' does not say '%s'\n", err.text, text);
        fail();
    }
}

static void test_refusals(void **state)
{
    (void)state;
    rig r = geo_hollow((pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0.3}, PL_DRIVE_PRESSURE, 1,
                       false);
    pl_geometric_options o = pl_geometric_options_default();
    o.window = 0;
    check_refused(r.robot, o, "window is 0");
    o = pl_geometric_options_default();
    o.body_weight = 0;
    check_refused(r.robot, o, "body_weight");
    o = pl_geometric_options_default();
    o.form = PL_FORM_MU_LAMBDA;
    o.metric = PL_METRIC_VERTEX;
    check_refused(r.robot, o, "metric: gradient");
    o = pl_geometric_options_default();
    o.actuation = PL_ACTUATE_GROWTH;
    check_refused(r.robot, o, "fill: true");

    // a pressure in the vertex metric
    o = pl_geometric_options_default();
    o.metric = PL_METRIC_VERTEX;
    pl_geometric *g = geo_make(r.robot, &o);
    pl_error err = {0};
    pl_solve_report report;
    assert_int_equal(pl_geometric_solve(g, r.state, &(double){0.01}, &report, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "volume_ratio"));

    // unless it is given its volume
    pl_geometric_ask(g, 0, 1.1);
    PL_CHECK_OK(pl_geometric_solve(g, r.state, &(double){0.01}, &report, &err));
    PL_CHECK_NEAR(pl_geometric_actuator(g, 0).ratio, 1.1, 1e-6);
    pl_geometric_destroy(g);
    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bar_reads_back),
        cmocka_unit_test(test_rubber_curve),
        cmocka_unit_test(test_film_grows_freely),
        cmocka_unit_test(test_cable_triangles),
        cmocka_unit_test(test_preset),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
