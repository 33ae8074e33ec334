// Solved means stable: beams and columns of random sizes below and beyond their buckling loads. At every
// state called solved the tangent, factored once more there, has no negative eigenvalue; below the critical
// load the shape is straight, beyond it bent as the elastica.
#include "statics/statics_impl.h"
#include "statics_robot.h"

#define YOUNG 1.0

typedef struct bar {
    double length, width, height;
    int cells;
} bar;

// A bar with square cells along its length, clamped at one end.
static rig bar_rig(const bar *b, bool clamped_tip, double shortening, double force,
                   const pl_statics_options *o)
{
    static plan p;
    const pl_material material = {.model = PL_LINEAR, .young = YOUNG, .poisson = 0};
    pl_mesh *mesh = tet_box(b->cells, 1, 1, b->length, b->width, b->height, 2, NULL);

    plan_init(&p, mesh, material);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, b->length);
    plan_hold(&p, "base", "xyz");
    if (clamped_tip) {
        plan_hold(&p, "tip", "xyz")->move[0] = -shortening;
    }
    plan_marker(&p, "tip", "tip");
    p.marker[p.def.marker_count++] =
        (pl_marker_def){.name = "middle", .at = {0.5 * b->length, 0.5 * b->width, 0.5 * b->height}};
    if (force != 0) {
        p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {-force, 0, 0}};
    }

    rig r = plan_build(&p, o);
    pl_mesh_destroy(mesh);

    return r;
}

// Negative eigenvalues of the exact tangent at the state, by the derivatives' own factor.
static int exact_negative(rig *r)
{
    pl_error err = {0};
    pl_jacobian_report report;
    double marker[6];
    const pl_parameter gravity = {.kind = PL_PARAMETER_GRAVITY, .part = 2};
    const pl_jacobian out = {.marker = marker};

    PL_CHECK_OK(pl_statics_jacobian(r->statics, r->state, &gravity, 1, &out, &report, &err));

    return report.negative_count;
}

static bar random_bar(pl_random *random)
{
    bar b = {.height = 1, .width = pl_random_uniform(random, 1.3, 3), .cells = 14};
    b.length = pl_random_uniform(random, 22, 34);
    return b;
}

// A clamped bar shortened by `times` Euler's shortening bends by w = a / 2 (1 - cos 2 pi x / L) with
// (pi a)^2 / (4 L) = the shortening beyond it, for small a.
static void test_strips(void **state)
{
    (void)state;
    static const double times[] = {0.5, 0.9, 1.2, 1.5, 4};
    pl_random random;
    pl_random_seed(&random, 27);
    for (int k = 0; k < PL_COUNT(times); ++k) {
        const bar b = random_bar(&random);
        const double euler = PL_PI * PL_PI * b.height * b.height / (3 * b.length);
        rig r = bar_rig(&b, true, times[k] * euler, 0, NULL);
        const pl_solve_report report = rig_try(&r, NULL);
        const double *at = pl_statics_marker(r.statics, r.state, 1).displacement;
        const double deflection = hypot(at[1], at[2]),
                     expected = times[k] > 1 ? sqrt(4 * b.length * (times[k] - 1) * euler) / PL_PI : 0;
        print_message(
            "strip at %.1f of Euler's shortening: %s, deflection %.4f mm (small-amplitude form %.4f), %d "
            "factorisations\n",
            times[k], pl_outcome_name(report.outcome), deflection, expected, report.factorizations);
        assert_int_equal(report.outcome, PL_SOLVED);
        assert_int_equal(report.negative_count, 0);
        assert_int_equal(exact_negative(&r), 0);
        PL_CHECK_NEAR(deflection, expected, times[k] < 1 ? 1e-6 : 0.08 * expected);
        rig_clear(&r);
    }
}

// A column under a dead tip load, cantilever: K(k) = pi / 2 sqrt(P / P_cr), k = sin(alpha / 2); tip at
// x = (2 E(k) / K(k) - 1) L, y = 2 k L / K(k).
static void elastica(double load, double tip[2])
{
    double low = 0, high = 0.999;
    for (int i = 0; i < 60; ++i) {
        const double k = 0.5 * (low + high);
        double K = 0, E = 0;
        for (int q = 0; q < 2000; ++q) {
            const double t = 0.5 * PL_PI * (q + 0.5) / 2000, s = sqrt(1 - k * k * sin(t) * sin(t));
            K += 0.5 * PL_PI / 2000 / s;
            E += 0.5 * PL_PI / 2000 * s;
        }
        *(K < 0.5 * PL_PI * sqrt(load) ? &low : &high) = k;
        tip[0] = 2 * E / K - 1;
        tip[1] = 2 * k / K;
    }
}

static void test_columns(void **state)
{
    (void)state;
    static const double times[] = {0.9, 1.2, 1.6};
    pl_random random;
    pl_random_seed(&random, 28);
    for (int k = 0; k < PL_COUNT(times); ++k) {
        const bar b = random_bar(&random);
        const double critical =
            PL_PI * PL_PI * YOUNG * b.width * pow(b.height, 3) / 12 / (4 * b.length * b.length);
        rig r = bar_rig(&b, false, 0, times[k] * critical, NULL);
        const pl_solve_report report = rig_try(&r, NULL);
        const double *at = pl_statics_marker(r.statics, r.state, 0).displacement;
        double tip[2] = {1, 0};
        if (times[k] > 1) {
            elastica(times[k], tip);
        }
        print_message("column at %.1f P_cr: %s, tip %.4f, %.4f of the length (elastica %.4f, %.4f), %d "
                      "factorisations\n",
                      times[k], pl_outcome_name(report.outcome), 1 + at[0] / b.length,
                      hypot(at[1], at[2]) / b.length, tip[0], tip[1], report.factorizations);
        assert_int_equal(report.outcome, PL_SOLVED);
        assert_int_equal(exact_negative(&r), 0);
        PL_CHECK_NEAR(1 + at[0] / b.length, tip[0], 0.03);
        PL_CHECK_NEAR(hypot(at[1], at[2]) / b.length, tip[1], 0.03);
        rig_clear(&r);
    }
}

// Small moves up to and beyond the critical shortening: the mode is followed, and the bar leaves its straight
// shape within the move in which that becomes unstable.
static void test_moves(void **state)
{
    (void)state;
    const bar b = {.length = 26, .width = 2, .height = 1, .cells = 14};
    const double critical =
        PL_PI * PL_PI * YOUNG * b.width * pow(b.height, 3) / 12 / (4 * b.length * b.length);
    rig r = bar_rig(&b, false, 0, 0, NULL);
    int proofs = 0;
    for (int k = 0; k <= 12; ++k) {
        const double load = (0.88 + 0.02 * k) * critical, force[6] = {-load};
        pl_statics_set_forces(r.statics, force);
        const pl_solve_report report = rig_try(&r, NULL);
        const double *at = pl_statics_marker(r.statics, r.state, 0).displacement;
        print_message("%.2f P_cr: %s, deflection %.3f mm, %d factorisations, %d solves\n", load / critical,
                      pl_outcome_name(report.outcome), hypot(at[1], at[2]), report.factorizations,
                      report.solves);
        proofs += report.factorizations;
        if (report.outcome == PL_SOLVED) {
            assert_int_equal(exact_negative(&r), 0);
        }
        assert_true(load < 0.99 * critical || load > 1.02 * critical || report.outcome == PL_SOLVED);
        assert_true(load < 1.02 * critical || hypot(at[1], at[2]) > 0.05 * b.length);
    }

    assert_true(proofs > 0);
    rig_clear(&r);
}

// A solve that does not reach its load returns a state that is in balance at the load it names, or none.
static void test_failed(void **state)
{
    (void)state;
    pl_random random;
    pl_random_seed(&random, 6);
    int failed = 0;
    for (int k = 0; k < 8; ++k) {
        const bar b = random_bar(&random);
        pl_statics_options options = tight_options();
        options.iteration_limit = 1 + 3 * k;
        rig r = bar_rig(&b, false, 0, 0, &options);
        const double stiffness = YOUNG * b.width * pow(b.height, 3) / 12 / (b.length * b.length),
                     force[6] = {0, 0, -pl_random_uniform(&random, 3, 30) * stiffness};
        pl_statics_set_forces(r.statics, force);
        pl_error err = {0};
        double residual, largest;
        bool inverted;
        const pl_solve_report report = rig_try(&r, NULL);
        PL_CHECK_OK(pl_statics_check(r.statics, r.state, &residual, &largest, &inverted, &err));
        print_message("%2d iterations: %s at %.3f%s, residual %.1e of %.1e N\n", options.iteration_limit,
                      pl_outcome_name(report.outcome), report.load_reached,
                      report.no_state ? ", no state" : "", residual, largest);
        failed += report.outcome != PL_SOLVED;
        assert_true(report.outcome == PL_SOLVED || report.load_reached < 1);
        assert_false(inverted);
        PL_CHECK_BELOW(residual, 1e-6 * largest + 1e-12);
        assert_true(!report.no_state || report.load_reached == 0);
        rig_clear(&r);
    }

    assert_true(failed > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strips),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
