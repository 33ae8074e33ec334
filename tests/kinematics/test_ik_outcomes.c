// How solves of inverse problems end: limits, interruptions, further starts, rates, the papers' methods, and
// what is said about it.
#include "arm_ik.h"

// A start outside the efforts' bounds and too few iterations: no outcome that promises the bounds is given
// where they are broken, and a further start that keeps them is better than one that does not.
static void test_limit_outside_bounds(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -1.2, 1.2);
    const pl_effort_bound bound = {0, -0.1, 0.1};
    pl_ik_options options = pl_ik_options_default();
    options.effort = &bound;
    options.effort_count = 1;
    options.iteration_limit = 2;
    pl_random random;
    pl_random_seed(&random, 3);
    const double straight[3] = {0};
    double marker[6];
    arm_go(model, straight);
    memcpy(marker, a.marker, sizeof marker);
    const pl_samples samples = {.count = 1, .command = straight, .marker = marker};
    int outside[2] = {0};
    for (int i = 0; i < 100; ++i) {
        const double c = pl_random_uniform(&random, -1, 1), d = pl_random_uniform(&random, -1, 1);
        arm_go(model, (const double[3]){0.6, c, d});
        const pl_objective o = tip_at(a.marker[0], a.marker[1]);
        pl_ik *ik = make(model, &o, 1, &options);
        for (int with = 0; with < 2; ++with) {
            pl_ik_set_start_limit(ik, with);
            pl_ik_set_samples(ik, with ? &samples : NULL);
            arm_go(model, (const double[3]){1.15, c, d});
            const pl_ik_report r = solve(ik, NULL);
            const bool broken = fabs(a.effort[0]) > 0.1 * (1 + 1e-8);
            outside[with] += broken;
            assert_true((r.outcome == PL_IK_INFEASIBLE) == broken);
            assert_true(!broken || strstr(r.message, "was reached before the efforts were within") != NULL);
        }
        pl_ik_destroy(ik);
    }

    print_message("outside the bound: %d of 100, %d with a sample inside it\n", outside[0], outside[1]);
    assert_true(outside[0] > 50);
    assert_int_equal(outside[1], 0);
    pl_model_destroy(model);
}

// What is left is reported of the goal that is farthest from its tolerance, in its own unit.
static void test_messages(void **state)
{
    (void)state;
    static const int32_t point[] = {2, 9, 14, 20};
    static const char *const words[] = {"curvature 0.0", "/mm off", "sensor of `reach`",
                                        " mm off",       "reach: ", " mm off"};
    arm a;
    pl_model *model = arm_create(&a, 3, -0.5, 0.5);
    pl_objective o[3] = {pl_objective_default(PL_OBJECTIVE_CURVATURE),
                         pl_objective_default(PL_OBJECTIVE_SENSOR), tip_at(300, 0)};
    o[0].point = point;
    o[0].point_count = 4;
    o[0].axis[2] = 1;
    o[0].value = 0.1;
    o[1].value = 500;
    for (int i = 0; i < 3; ++i) {
        const pl_ik_options options = pl_ik_options_default();
        pl_ik *ik = make(model, &o[i], 1, &options);
        const pl_ik_report r = solve(ik, (const double[3]){0.1, 0.2, 0.1});
        print_message("%s\n", r.message);
        assert_int_equal(r.outcome, PL_IK_NEAREST);
        assert_non_null(strstr(r.message, words[2 * i]));
        assert_non_null(strstr(r.message, words[2 * i + 1]));
        pl_ik_destroy(ik);
    }

    pl_model_destroy(model);
}

// A further start that reaches is taken, though it moved far and least motion is in the value.
static void test_reached_is_best(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -1.5, 1.5);

    // two ways to a point on the axis: bent as an S, and its mirror image
    const double start[2] = {0.4, -1.2};
    arm_go(model, start);
    const pl_objective o = tip_at(a.marker[0], 0);
    pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = make(model, &o, 1, &options);
    pl_ik_report r = solve(ik, start);
    assert_int_equal(r.outcome, PL_IK_REACHED);
    const double bent[2] = {r.command[0], r.command[1]}, mirrored[2] = {-bent[0], -bent[1]};
    pl_ik_destroy(ik);
    double marker[6];
    arm_go(model, mirrored);
    memcpy(marker, a.marker, sizeof marker);
    const pl_samples samples = {.count = 1, .command = mirrored, .marker = marker};
    options.least_motion = 1;
    options.iteration_limit = 1;
    ik = make(model, &o, 1, &options);
    const double near[2] = {bent[0] + 0.05, bent[1] + 0.02};
    arm_go(model, near);
    r = solve(ik, NULL);
    print_message("%s: %.4f mm, value %.2e\n", r.message, r.distance, r.objective);
    assert_int_equal(r.outcome, PL_IK_LIMIT);
    const double value = r.objective;
    pl_ik_set_samples(ik, &samples);
    arm_go(model, near);
    r = solve(ik, NULL);
    print_message("%s: %.4f mm, value %.2e\n", r.message, r.distance, r.objective);
    assert_int_equal(r.outcome, PL_IK_REACHED);
    assert_true(r.objective > value);
    PL_CHECK_NEAR(r.command[0], mirrored[0], 1e-3);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// Rates bind each solve to the command the model stands at.
static void test_rates(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -1, 1);
    pl_ik_options options = pl_ik_options_default();
    const double rate[2] = {0.5, NAN};
    options.rate = rate;
    options.period = 0.2;
    const double goal[2] = {0.9, 0.5};
    arm_go(model, goal);
    const pl_objective o = tip_at(a.marker[0], a.marker[1]);
    pl_model_reset(model);
    pl_ik *ik = make(model, &o, 1, &options);
    double before = 0;
    int steps = 0;
    pl_ik_report r;
    do {
        r = solve(ik, NULL);
        PL_CHECK_BELOW(fabs(r.command[0] - before), 0.1 * (1 + 1e-12));
        if (r.outcome != PL_IK_REACHED) {
            bool named = false;
            for (int k = 0; k < r.active_count; ++k) {
                named = named || (r.active[k].kind == PL_BOUND_RATE && strcmp(r.active[k].name, "a") == 0);
            }
            assert_true(named);
        }
        before = r.command[0];
    } while (r.outcome != PL_IK_REACHED && ++steps < 30);

    assert_int_equal(r.outcome, PL_IK_REACHED);
    assert_true(steps >= 8); // 0.9 at 0.1 a call
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// Shapes that cannot be computed are not taken; interruption and limits are outcomes.
static bool never(void *user, double fraction, const char *what)
{
    (void)user;
    (void)fraction;
    (void)what;
    return false;
}

static void test_failures(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -1.5, 1.5);
    const pl_objective o = tip_at(20, 80);
    pl_ik_options options = pl_ik_options_default();
    a.refuse_beyond = 0.9;
    pl_ik *ik = make(model, &o, 1, &options);
    pl_ik_report r = solve(ik, NULL);
    print_message("%s: %g %g\n", r.message, r.command[0], r.command[1]);
    assert_true(r.outcome == PL_IK_STALLED || r.outcome == PL_IK_LIMIT);
    assert_true(fabs(r.command[0]) <= 0.9 && fabs(r.command[1]) <= 0.9);
    assert_true(r.command[0] > 0.85);
    const double far[2] = {1.2, 1.2};
    r = solve(ik, far); // a start that fails: from where the model stands
    assert_true(r.outcome == PL_IK_STALLED || r.outcome == PL_IK_LIMIT);
    pl_ik_destroy(ik);

    options.progress.step = never;
    ik = make(model, &o, 1, &options);
    r = solve(ik, NULL);
    assert_int_equal(r.outcome, PL_IK_STOPPED);
    pl_ik_destroy(ik);

    options = pl_ik_options_default();
    options.iteration_limit = 1;
    ik = make(model, &o, 1, &options);
    pl_model_reset(model);
    r = solve(ik, NULL);
    assert_int_equal(r.outcome, PL_IK_LIMIT);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// The papers' descent gets there too, at many times the cost.
static void test_gradient_methods(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -1, 1);
    const double c[3] = {0.4, 0.3, -0.2};
    arm_go(model, c);
    pl_objective o = tip_at(a.marker[0], a.marker[1]);
    o.tolerance = 0.2;
    int64_t cost[PL_IK_METHOD_COUNT];
    for (pl_ik_method m = 0; m < PL_IK_METHOD_COUNT; ++m) {
        pl_ik_options options = pl_ik_options_default();
        options.method = m;
        options.iteration_limit = 200;
        pl_model_reset(model);
        pl_ik *ik = make(model, &o, 1, &options);
        const pl_ik_report r = solve(ik, NULL);
        cost[m] = r.costs.fk_calls;
        print_message("%-8s %s: %.3f mm, %lld forward solves\n", pl_ik_method_name(m), r.message, r.distance,
                      (long long)cost[m]);
        assert_int_equal(r.outcome, PL_IK_REACHED);
        assert_int_equal(pl_ik_method_find(pl_ik_method_name(m)), m);
        pl_ik_destroy(ik);
    }

    assert_true(cost[PL_IK_GRADIENT] > 5 * cost[PL_IK_NEWTON]);
    assert_true(cost[PL_IK_GRADIENT] > cost[PL_IK_DESCENT]);
    pl_model_destroy(model);
}

// They keep no bounds on efforts and choose nothing, so they take neither.
static void test_gradient_methods_refuse(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -1.2, 1.2);
    const pl_objective o[2] = {tip_at(90, 20), pl_objective_default(PL_OBJECTIVE_ENERGY)};
    const pl_effort_bound bound = {0, -0.2, 0.2};
    for (int method = PL_IK_GRADIENT; method <= PL_IK_DESCENT; ++method) {
        pl_ik_options options = pl_ik_options_default();
        options.method = (pl_ik_method)method;
        pl_ik *ik = NULL;
        pl_error err = {0};
        assert_int_equal(pl_ik_create(model, o, 2, &options, &ik, &err), PL_BAD_INPUT);
        assert_non_null(strstr(err.text, "accepts goals only"));
        options.effort = &bound;
        options.effort_count = 1;
        assert_int_equal(pl_ik_create(model, o, 1, &options, &ik, &err), PL_BAD_INPUT);
        assert_non_null(strstr(err.text, "cannot keep efforts"));
        assert_null(ik);
    }

    pl_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_outside_bounds),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_reached_is_best),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_gradient_methods),
        cmocka_unit_test(test_gradient_methods_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
