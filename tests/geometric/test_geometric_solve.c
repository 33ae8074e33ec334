// Laws of the local/global method: rigid motions cost nothing, it finds the exact core's shape where both
// minimise the same energy, every acceleration ends at the plain fixed point, energies fall, bases hold.
#include "base/vec.h"
#include "geometric_robot.h"

static const pl_material soft = {.model = PL_LINEAR, .young = 1.3, .poisson = 0.3};

static void test_agrees_volume(void **state)
{
    (void)state;
    rig r = geo_hollow(soft, PL_DRIVE_VOLUME_RATIO, 1, false);
    geo_check_exact(&r, &(double){1.6}, "volume", 0);
}

static void test_agrees_pressure(void **state)
{
    (void)state;
    rig r = geo_hollow(soft, PL_DRIVE_PRESSURE, 1, false);
    geo_check_exact(&r, &(double){0.1}, "pressure", 0);
}

// Beams of tets and of prisms under a tip force and gravity, with a cable pulled in.
static void check_beam(pl_mesh *mesh, const char *what)
{
    static plan p;
    pl_material heavy = soft;

    heavy.density = 1.1e-9;
    const pl_guide_def guide[3] = {
        {.point = {0.5, 2, 3.5}}, {.point = {10, 2, 3.5}}, {.point = {29.5, 2, 3.5}}};
    plan_init(&p, mesh, heavy);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 30);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING);
    p.def.gravity[2] = -9810;
    p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {0, 0.002, 0.001}};
    pl_statics_options options = tight_options();
    options.displacement = true;
    rig r = plan_build(&p, &options);
    pl_mesh_destroy(mesh);
    geo_check_exact(&r, &(double){2}, what, 1);
}

static void test_agrees_loads(void **state)
{
    (void)state;
    check_beam(tet_box(12, 2, 2, 30, 4, 4, 1, NULL), "tets");
    check_beam(prism_box(12, 2, 2, 30, 4, 4, 1), "prisms");
}

// Stress-free shapes that differ from the drawn ones: a clamped plate of prisms that shrinks in its plane,
// and a clamped block of tets that swells.
static void test_agrees_rest_shape(void **state)
{
    (void)state;
    for (int k = 0; k < 3; ++k) {
        static plan p;
        pl_mesh *mesh = k == 0   ? prism_box(8, 4, 1, 20, 10, 1, 1)
                        : k == 1 ? tet_box(4, 2, 2, 12, 5, 5, 1, NULL)
                                 : geo_shaken(prism_box(8, 4, 2, 20, 10, 4, 1), 0.3);
        pl_material heavy = soft;
        heavy.density = 1.1e-9;
        plan_init(&p, mesh, heavy);
        p.region[0].rest_area = k == 1 ? 0 : 0.7;
        p.region[0].rest_volume = k == 0 ? 0 : 1.4;
        p.def.gravity[1] = k == 2 ? -98100 : 0;
        plan_plane(&p, "base", 0, 0);
        plan_hold(&p, "base", "xyz");
        pl_statics_options options = tight_options();
        options.displacement = true;
        rig r = plan_build(&p, &options);
        pl_mesh_destroy(mesh);
        static const char *const what[] = {"shrunk prisms", "swollen tets", "warped prisms, heavy"};
        geo_check_exact(&r, NULL, what[k], 1);
    }
}

// A clamp that turns and moves carries the body along as a rigid piece, whatever metric and form; held
// vertices are where the clamp puts them, to the last bit.
static void test_rigid_motion(void **state)
{
    (void)state;
    for (int k = 0; k < 6; ++k) {
        static plan p;
        pl_mesh *mesh = k < 3 ? tet_box(6, 2, 2, 18, 5, 5, 1, NULL) : prism_box(6, 2, 2, 18, 5, 5, 1);
        plan_init(&p, mesh, soft);
        plan_plane(&p, "base", 0, 0);
        pl_fixed_def *clamp = plan_hold(&p, "base", "xyz");
        clamp->rotate[1] = 2.2;
        clamp->rotate[2] = 0.7;
        clamp->move[0] = 3;
        rig r = plan_build(&p, NULL);
        pl_geometric_options o = geo_tight();
        o.form = k % 3 == 0 ? PL_FORM_MU_LAMBDA : PL_FORM_BLENDED;
        o.metric = k % 3 == 2 ? PL_METRIC_VERTEX : PL_METRIC_GRADIENT;
        o.unit_weights = k % 3 == 2;
        pl_geometric *g = geo_make(r.robot, &o);
        const pl_solve_report report = geo_run(g, r.state, NULL);
        double R[9], worst = 0, held = 0;
        pl_rotation_exp(clamp->rotate, R);
        const pl_mesh_view v = pl_mesh_get(mesh);
        for (int32_t i = 0; i < v.vertex_count; ++i) {
            double x[3];
            pl_mulv3(R, v.position + 3 * i, x);
            x[0] += 3;
            const double off = pl_distance3(x, rig_x(&r) + 3 * i);
            worst = fmax(worst, off);
            held = v.position[3 * i] == 0 ? fmax(held, off) : held;
        }
        print_message("case %d: %d iterations, %.1e mm off, energy %.1e\n", k, report.iterations, worst,
                      report.energy);
        PL_CHECK_BELOW(worst, 1e-7);
        PL_CHECK_BELOW(held, 1e-14);
        PL_CHECK_BELOW(report.energy, 1e-13);
        pl_geometric_destroy(g);
        pl_mesh_destroy(mesh);
        rig_clear(&r);
    }
}

// The blended form has no energy to compare: its fixed point is reported by the plain step, and Anderson and
// L-BFGS end where the plain iteration does.
static void test_one_fixed_point(void **state)
{
    (void)state;
    rig r = geo_hollow(soft, PL_DRIVE_VOLUME_RATIO, 1, true);
    pl_error err = {0};
    const double ratio = 1.5;
    pl_state *plain = NULL, *other = NULL;
    int iterations[3];
    PL_CHECK_OK(pl_state_create(r.robot, &plain, &err));
    PL_CHECK_OK(pl_state_create(r.robot, &other, &err));
    for (int metric = 0; metric < 2; ++metric) {
        for (int k = 0; k < 3; ++k) {
            pl_geometric_options o = geo_tight();
            o.metric = (pl_metric)metric;
            o.unit_weights = metric == 1;
            o.acceleration = (pl_acceleration)k;
            pl_geometric *g = geo_make(r.robot, &o);
            pl_state *to = k == 0 ? plain : other;
            pl_state_reset(to, r.robot);
            iterations[k] = geo_run(g, to, &ratio).iterations;
            double energy, step;
            PL_CHECK_OK(pl_geometric_residual(g, to, &ratio, &energy, &step, &err));
            PL_CHECK_BELOW(step, 1.01e-10);
            const pl_geometric_actuator_result air = pl_geometric_actuator(g, 0);
            assert_true(air.growth);
            // soft growth does not get what it asks for
            assert_true(air.ratio > 1.05 && air.ratio < 1.5);
            PL_CHECK_BELOW(k == 0 ? 0 : state_distance(plain, other), 1e-7);
            pl_geometric_destroy(g);
        }
        print_message("metric %d: plain %d, Anderson %d, L-BFGS %d iterations\n", metric, iterations[0],
                      iterations[1], iterations[2]);
        assert_true(iterations[1] < iterations[0] && iterations[2] < iterations[0]);
    }

    pl_state_destroy(plain);
    pl_state_destroy(other);
    rig_clear(&r);
}

// Nearly incompressible rubber at twice the volume of its cavity, by a constraint: all accelerations and
// plain steps end in one shape. (Targets scaled to the volume, as published, have no stable fixed point
// there.)
static void test_rubber_inflates(void **state)
{
    (void)state;
    const pl_material rubber = {.model = PL_MOONEY_RIVLIN, .c10 = 0.0418, .c01 = 0.0106, .poisson = 0.49};
    rig r = geo_hollow(rubber, PL_DRIVE_VOLUME_RATIO, 1, false);
    const double ratio = 2;
    pl_error err = {0};
    pl_state *other[3];
    int iterations[3];
    for (int k = 0; k < 3; ++k) {
        pl_geometric_options o = geo_tight();
        o.acceleration = (pl_acceleration)k;
        o.length_tolerance = 1e-8;
        o.iteration_limit = 20000;
        pl_geometric *g = geo_make(r.robot, &o);
        PL_CHECK_OK(pl_state_create(r.robot, &other[k], &err));
        iterations[k] = geo_run(g, other[k], &ratio).iterations;
        PL_CHECK_NEAR(pl_geometric_actuator(g, 0).ratio, ratio, 1e-6);
        pl_geometric_destroy(g);
        PL_CHECK_BELOW(state_distance(other[0], other[k]), 1e-4);
    }

    print_message("rubber at 2: plain %d, Anderson %d, L-BFGS %d iterations\n", iterations[0], iterations[1],
                  iterations[2]);
    for (int k = 0; k < 3; ++k) {
        pl_state_destroy(other[k]);
    }
    rig_clear(&r);
}

// Without volumes, as the published code counts: where all tets have one volume, that volume is the whole
// difference; the shape stays. The gradient metric keeps its volumes.
static void test_weights_without_volumes(void **state)
{
    (void)state;
    rig r = geo_hollow(soft, PL_DRIVE_VOLUME_RATIO, 1, true);
    pl_error err = {0};
    const double ratio = 1.5, volume = 4.0 * 4 * 4 / 6;
    double energy[2];
    pl_state *even = NULL;
    PL_CHECK_OK(pl_state_create(r.robot, &even, &err));
    for (int k = 0; k < 2; ++k) {
        pl_geometric_options o = geo_tight();
        o.metric = PL_METRIC_VERTEX;
        o.even_weights = k == 1;
        pl_geometric *g = geo_make(r.robot, &o);
        energy[k] = geo_run(g, k == 1 ? even : r.state, &ratio).energy;
        pl_geometric_destroy(g);
        o.metric = PL_METRIC_GRADIENT;
        const pl_status status = pl_geometric_create(r.robot, &o, &g, &err);
        assert_int_equal(status, k == 1 ? PL_BAD_INPUT : PL_OK);
        pl_geometric_destroy(g);
    }

    PL_CHECK_NEAR(energy[0] / energy[1], volume, 1e-6);
    PL_CHECK_BELOW(state_distance(r.state, even), 1e-7);
    pl_state_destroy(even);
    rig_clear(&r);
}

// Growth ratios minimised together with the shape: the energy falls in every plain step, and where it ends no
// small motion lowers it.
static void test_joint_growth_is_a_minimum(void **state)
{
    (void)state;
    rig r = geo_hollow(soft, PL_DRIVE_VOLUME_RATIO, 1, true);
    pl_error err = {0};
    const double ratio = 1.5;
    pl_geometric_options o = geo_tight();
    o.form = PL_FORM_MU_LAMBDA;
    o.distribution = PL_RATIOS_JOINT;
    o.acceleration = PL_ACCELERATE_NONE;
    o.iteration_limit = 1;
    pl_geometric *g = geo_make(r.robot, &o);
    double last = INFINITY, step, energy;
    for (int i = 0; i < 60; ++i) {
        pl_solve_report report;
        PL_CHECK_OK(pl_geometric_residual(g, r.state, &ratio, &energy, &step, &err));
        PL_CHECK_BELOW(energy, last * (1 + 1e-12));
        last = energy;
        PL_CHECK_OK(pl_geometric_solve(g, r.state, &ratio, &report, &err));
    }

    pl_geometric_destroy(g);
    o = geo_tight();
    o.form = PL_FORM_MU_LAMBDA;
    o.distribution = PL_RATIOS_JOINT;
    g = geo_make(r.robot, &o);
    geo_run(g, r.state, &ratio);
    pl_state *moved = NULL;
    PL_CHECK_OK(pl_state_create(r.robot, &moved, &err));
    PL_CHECK_OK(pl_geometric_residual(g, r.state, &ratio, &last, &step, &err));

    // a bump in the middle: the base stays
    for (int axis = 0; axis < 3; ++axis) {
        double slope[2];
        for (int side = 0; side < 2; ++side) {
            PL_CHECK_OK(pl_state_copy(moved, r.state));
            const double *rest = rig_rest(&r);
            for (int32_t v = 0; v < pl_state_vertex_count(moved); ++v) {
                const double s = rest[3 * v] * (1 + 0.3 * sin(rest[3 * v + 1] + axis)) / 20;
                ((double *)pl_state_positions(moved))[3 * v + axis] += (side ? 1e-4 : -1e-4) * s;
            }
            PL_CHECK_OK(pl_geometric_residual(g, moved, &ratio, &slope[side], &step, &err));
        }
        assert_true(slope[0] > last && slope[1] > last);
        PL_CHECK_NEAR((slope[1] - slope[0]) / (slope[1] + slope[0] - 2 * last), 0, 1e-3);
    }

    pl_state_destroy(moved);
    pl_geometric_destroy(g);
    rig_clear(&r);
}

// Any number of threads, and one solve or several of the same: the same bits.
static void test_deterministic(void **state)
{
    (void)state;
    rig r = geo_hollow(soft, PL_DRIVE_VOLUME_RATIO, 1, false);
    pl_error err = {0};
    const double ratio = 1.4;
    pl_state *other = NULL;
    PL_CHECK_OK(pl_state_create(r.robot, &other, &err));
    const pl_geometric_options o = pl_geometric_options_default();
    pl_geometric *g = geo_make(r.robot, &o);
    pl_threads_set(1);
    geo_run(g, r.state, &ratio);
    const int threads[] = {2, 3, 8};
    for (int i = 0; i < 3; ++i) {
        pl_threads_set(threads[i]);
        pl_state_reset(other, r.robot);
        geo_run(g, other, &ratio);
        PL_CHECK_NEAR(state_distance(r.state, other), 0, 0);
    }

    pl_threads_set(0);
    pl_geometric_destroy(g);
    pl_state_destroy(other);
    rig_clear(&r);
}

// A quadratic mesh is worked on by its corners; its straight mid nodes stay in the middle.
static void test_quadratic_mesh(void **state)
{
    (void)state;
    rig linear = geo_hollow(soft, PL_DRIVE_VOLUME_RATIO, 1, false);
    rig quadratic = geo_hollow(soft, PL_DRIVE_VOLUME_RATIO, 2, false);
    const double ratio = 1.3;
    const pl_geometric_options o = geo_tight();
    pl_geometric *a = geo_make(linear.robot, &o), *b = geo_make(quadratic.robot, &o);
    geo_run(a, linear.state, &ratio);
    geo_run(b, quadratic.state, &ratio);
    const pl_marker_result m = pl_statics_marker(linear.statics, linear.state, 0);
    const pl_marker_result n = pl_statics_marker(quadratic.statics, quadratic.state, 0);
    PL_CHECK_BELOW(pl_distance3(m.position, n.position), 1e-6);
    PL_CHECK_NEAR(pl_statics_actuator(quadratic.statics, quadratic.state, 0).ratio, ratio, 1e-6);
    pl_geometric_destroy(a);
    pl_geometric_destroy(b);
    rig_clear(&linear);
    rig_clear(&quadratic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_volume),
        cmocka_unit_test(test_agrees_pressure),
        cmocka_unit_test(test_agrees_loads),
        cmocka_unit_test(test_agrees_rest_shape),
        cmocka_unit_test(test_rigid_motion),
        cmocka_unit_test(test_one_fixed_point),
        cmocka_unit_test(test_rubber_inflates),
        cmocka_unit_test(test_weights_without_volumes),
        cmocka_unit_test(test_joint_growth_is_a_minimum),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_quadratic_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
