// The solver of inverse problems, on an arm in closed form: targets within reach are met, others end at the
// nearest point with a certificate, bounds hold, redundancy moves least, singular postures do not stop it.
#include "arm_ik.h"
#include "kinematics/kinematics.h"

// 27 samples of a three-section arm, each section at -size, 0 and size.
static pl_samples sample_arm(pl_model *model, const arm *a, double size, double *command, double *marker)
{
    for (int i = 0; i < 27; ++i) {
        double *c = command + 3 * i;
        for (int k = 0, q = i; k < 3; ++k, q /= 3) {
            c[k] = size * (q % 3 - 1);
        }
        arm_go(model, c);
        memcpy(marker + 6 * i, a->marker, sizeof a->marker);
    }
    return (pl_samples){.count = 27, .command = command, .marker = marker};
}

// Targets made from random commands are reached from rest, and from one another.
static void test_random_targets(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -1.2, 1.2);
    const pl_objective o = tip_at(0, 0);
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = make(model, &o, 1, &options);
    pl_random random;
    pl_random_seed(&random, 7);
    double command[27 * 3], marker[27 * 6];
    const pl_samples samples = sample_arm(model, &a, 1, command, marker);
    pl_ik_set_samples(ik, &samples);
    int reached = 0, certified = 0, fk = 0, starts = 0;
    for (int i = 0; i < 400; ++i) {
        double c[3];
        for (int k = 0; k < 3; ++k) {
            c[k] = pl_random_uniform(&random, -1.2, 1.2);
        }
        arm_go(model, c);
        const double target[3] = {a.marker[0], a.marker[1], 0};
        if (i % 2) {
            pl_model_reset(model);
        } else {
            const double other[3] = {c[1], -c[2], c[0]};
            arm_go(model, other);
        }
        pl_error err = {0};
        PL_CHECK_OK(pl_ik_set_target(ik, 0, target, &err));
        const pl_ik_report r = solve(ik, NULL);
        check_range(&r, 3, -1.2, 1.2);
        reached += r.outcome == PL_IK_REACHED;
        certified += r.outcome == PL_IK_NEAREST && r.gradient < 1e-4;
        fk += (int)r.costs.fk_calls;
        starts += r.starts - 1;
        if (r.outcome == PL_IK_REACHED) {
            PL_CHECK_BELOW(hypot(a.marker[0] - target[0], a.marker[1] - target[1]), 0.005);
        }
    }

    print_message("reached %d of 400 with %d further starts, %d others certified, %.1f forward solves each\n",
                  reached, starts, certified, fk / 400.0);
    assert_true(reached >= 396);
    assert_int_equal(reached + certified, 400);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// The least distance to a target over a fine grid of two commands.
static double grid_distance(arm *a, const double target[2], double low, double high, double limit)
{
    double least = INFINITY;
    for (int i = 0; i <= 400; ++i) {
        for (int j = 0; j <= 400; ++j) {
            a->command[0] = low + (high - low) * i / 400;
            a->command[1] = low + (high - low) * j / 400;
            arm_compute(a);
            if (fabs(a->effort[0]) <= limit && fabs(a->effort[1]) <= limit) {
                least = fmin(least, hypot(a->marker[0] - target[0], a->marker[1] - target[1]));
            }
        }
    }

    return least;
}

// Out of reach: the distance left is that of the nearest point found by trying all commands, the projected
// gradient is 0 and the multipliers of active bounds are not negative.
static void test_nearest_point(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -0.8, 0.8);
    const double target[][2] = {{150, 0}, {60, 90}, {20, 80}, {110, -60}, {0, -70}, {101, 1}};
    for (int i = 0; i < PL_COUNT(target); ++i) {
        const double least = grid_distance(&a, target[i], -0.8, 0.8, INFINITY);
        const pl_objective o = tip_at(target[i][0], target[i][1]);
        const pl_ik_options options = pl_ik_options_default();
        pl_ik *ik = make(model, &o, 1, &options);
        const double start[2] = {0.3, -0.2};
        arm_go(model, start);
        const pl_ik_report r = solve(ik, NULL);
        print_message("target %4.0f %4.0f: %s, %.4f mm off (grid %.4f), gradient %.1e, %d active, %d steps\n",
                      target[i][0], target[i][1], pl_ik_outcome_name(r.outcome), r.distance, least,
                      r.gradient, r.active_count, r.iterations);
        assert_int_equal(r.outcome, PL_IK_NEAREST);
        check_range(&r, 2, -0.8, 0.8);
        PL_CHECK_BELOW(r.distance, least + 1e-3);
        PL_CHECK_BELOW(r.gradient, 1e-5);
        for (int k = 0; k < r.active_count; ++k) {
            assert_int_equal(r.active[k].kind, PL_BOUND_COMMAND);
            assert_true(r.active[k].multiplier >= 0);
            PL_CHECK_NEAR(fabs(r.active[k].value), 0.8, 1e-12);
        }
        pl_ik_destroy(ik);
    }

    pl_model_destroy(model);
}

// The multiplier of a bound is what the objective gains when the bound yields.
static void test_multiplier(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -0.8, 0.8);
    const pl_objective o = tip_at(20, 80);
    double value[2], multiplier = 0;
    for (int k = 0; k < 2; ++k) {
        pl_ik_options options = pl_ik_options_default();
        options.least_motion = 0;
        const double high[2] = {0.8 + 1e-3 * k, 0.8};
        options.high = high;
        pl_ik *ik = make(model, &o, 1, &options);
        const double start[2] = {0.3, 0.2};
        arm_go(model, start);
        const pl_ik_report r = solve(ik, NULL);
        assert_int_equal(r.outcome, PL_IK_NEAREST);
        value[k] = r.objective;
        if (k == 0) {
            assert_true(r.active_count > 0);
            assert_string_equal(r.active[0].name, "a");
            assert_true(r.active[0].upper);
            multiplier = r.active[0].multiplier;
        }
        pl_ik_destroy(ik);
    }

    PL_CHECK_NEAR((value[0] - value[1]) / 1e-3, multiplier, 1e-2 * multiplier);
    pl_model_destroy(model);
}

// The share of a motion `d` along which the tip stays where it is: what remains of it beside the rows of the
// tip's Jacobian.
static double idle_share(const arm *a, double d[4])
{
    double g[2][4], n0 = 0, n01 = 0, n1 = 0, total = 0, left = 0;
    for (int i = 0; i < 2; ++i) {
        memcpy(g[i], a->d_marker + 4 * i, sizeof g[i]);
    }

    for (int k = 0; k < 4; ++k) {
        n0 += g[0][k] * g[0][k];
        n01 += g[0][k] * g[1][k];
        total += d[k] * d[k];
    }

    for (int k = 0; k < 4; ++k) {
        g[1][k] -= n01 / n0 * g[0][k];
        n1 += g[1][k] * g[1][k];
    }

    for (int i = 0; i < 2; ++i) {
        double along = 0;
        for (int k = 0; k < 4; ++k) {
            along += d[k] * g[i][k] / (i ? n1 : n0);
        }
        for (int k = 0; k < 4; ++k) {
            d[k] -= along * g[i][k];
        }
    }

    for (int k = 0; k < 4; ++k) {
        left += d[k] * d[k];
    }

    return sqrt(left / total);
}

// Four sections for two coordinates: steps move least, so the idle share of a motion falls with its size.
static void test_least_motion(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 4, -2, 2);
    const double start[4] = {0.5, -0.3, 0.4, 0.2};
    double share[2];
    for (int i = 0; i < 2; ++i) {
        const double size = i ? 0.1 : 0.4;
        arm_go(model, start);
        pl_objective o = tip_at(a.marker[0] + size, a.marker[1] - 0.75 * size);
        o.tolerance = 1e-6;
        const pl_ik_options options = pl_ik_options_default();
        pl_ik *ik = make(model, &o, 1, &options);
        const pl_ik_report r = solve(ik, NULL);
        assert_int_equal(r.outcome, PL_IK_REACHED);
        double d[4];
        for (int k = 0; k < 4; ++k) {
            d[k] = r.command[k] - start[k];
        }
        share[i] = idle_share(&a, d);
        pl_ik_destroy(ik);
    }

    print_message("idle share of motions of 0.5 and 0.125 mm: %.2e, %.2e\n", share[0], share[1]);
    PL_CHECK_BELOW(share[0], 0.05);
    PL_CHECK_BELOW(share[1], 0.35 * share[0]);
    pl_model_destroy(model);
}

// A straight arm cannot shorten to first order: the target on its axis is reached all the same.
static void test_singular_posture(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -2, 2);
    const pl_objective o = tip_at(85, 0);
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = make(model, &o, 1, &options);
    pl_ik_report r = solve(ik, NULL);
    assert_int_equal(r.outcome, PL_IK_REACHED);

    // and through the straight posture to the other side, in steps of one target each
    for (int i = -20; i <= 20; ++i) {
        const double target[3] = {99.9 - 0.02 * i * i, 2 * i, 0};
        pl_error err = {0};
        PL_CHECK_OK(pl_ik_set_target(ik, 0, target, &err));
        r = solve(ik, NULL);
        PL_CHECK_BELOW(r.distance, 2.5); // the arm is 100 mm long and its ends curve in
        assert_true(r.outcome == PL_IK_REACHED || (r.outcome == PL_IK_NEAREST && r.gradient < 1e-3));
    }

    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// An axis that points away from where it should is at its farthest: stationary, and left all the same, also
// a hair off.
static void test_opposite_direction(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -2, 2);
    pl_objective o = pl_objective_default(PL_OBJECTIVE_DIRECTION);
    o.axis[0] = 1;
    o.target[0] = -1;
    for (int i = 0; i < 2; ++i) {
        const pl_ik_options options = pl_ik_options_default();
        const double start[3] = {i ? 1e-7 : 0, 0, 0};
        arm_go(model, start);
        pl_ik *ik = make(model, &o, 1, &options);
        const pl_ik_report r = solve(ik, NULL);
        print_message("%s, %d forward solves\n", r.message, (int)r.costs.fk_calls);
        assert_int_equal(r.outcome, PL_IK_REACHED);
        assert_non_null(strstr(r.message, "direction of `tip`"));
        assert_non_null(strstr(r.message, "rad off"));
        PL_CHECK_NEAR(fabs(r.command[0] + r.command[1] + r.command[2]), PL_PI, 2e-3);
        pl_ik_destroy(ik);
    }

    pl_model_destroy(model);
}

// A target whose only solution has a command exactly at its bound is reached, and the bound is named.
static void test_target_on_a_bound(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -0.8, 0.8);
    const double c[2] = {0.8, 0.25};
    arm_go(model, c);
    const pl_objective o = tip_at(a.marker[0], a.marker[1]);
    pl_model_reset(model);
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = make(model, &o, 1, &options);
    const pl_ik_report r = solve(ik, NULL);
    assert_int_equal(r.outcome, PL_IK_REACHED);
    check_range(&r, 2, -0.8, 0.8);
    PL_CHECK_NEAR(r.command[0], 0.8, 1e-3);
    PL_CHECK_NEAR(r.command[1], 0.25, 1e-3);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// Efforts are nonlinear in the commands: the bound holds all the same, and the distance is the least on it.
static void test_effort_bounds(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -1.5, 1.5);
    const double limit = 1.5, target[2] = {20, 80};
    const double least = grid_distance(&a, target, -1.5, 1.5, limit);
    const pl_effort_bound bound[2] = {{.actuator = 0, .low = -limit, .high = limit},
                                      {.actuator = 1, .low = -limit, .high = limit}};
    pl_ik_options options = pl_ik_options_default();
    options.effort = bound;
    options.effort_count = 2;
    const pl_objective o = tip_at(target[0], target[1]);
    pl_ik *ik = make(model, &o, 1, &options);

    // from inside, and from where the efforts are outside
    const double start[2][2] = {{0, 0}, {1.2, -1.1}};
    for (int i = 0; i < 2; ++i) {
        arm_go(model, start[i]);
        const pl_ik_report r = solve(ik, NULL);
        print_message("%s: %.4f mm (grid %.4f), efforts %.9f %.9f, gradient %.1e\n", r.message, r.distance,
                      least, a.effort[0], a.effort[1], r.gradient);
        assert_int_equal(r.outcome, PL_IK_NEAREST);
        PL_CHECK_BELOW(fabs(a.effort[0]), limit * (1 + 1e-8));
        PL_CHECK_BELOW(fabs(a.effort[1]), limit * (1 + 1e-8));
        PL_CHECK_BELOW(r.distance, least + 1e-2);
        assert_true(r.active_count > 0);
        assert_int_equal(r.active[0].kind, PL_BOUND_EFFORT);
        assert_true(r.active[0].multiplier > 0);
    }

    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// Objectives together: tip and its direction; least effort picks among redundant commands.
static void test_combined(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -1.5, 1.5);
    const double c[3] = {0.9, -0.5, 0.3};
    arm_go(model, c);
    pl_objective o[2] = {tip_at(a.marker[0], a.marker[1]), pl_objective_default(PL_OBJECTIVE_DIRECTION)};
    o[1].axis[0] = 1;
    o[1].target[0] = 5 * cos(0.7);
    o[1].target[1] = 5 * sin(0.7);
    o[1].weight = 20;
    pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = make(model, o, 2, &options);
    const double start[3] = {0.4, -0.1, 0.1};
    arm_go(model, start);
    pl_ik_report r = solve(ik, NULL);
    assert_int_equal(r.outcome, PL_IK_REACHED);
    PL_CHECK_NEAR(r.command[0] + r.command[1] + r.command[2], 0.7, 2e-3);

    // new weights and values are judged as the first ones were
    pl_error err = {0};
    PL_CHECK_OK(pl_ik_set_weight(ik, 1, 10, &err));
    assert_int_equal(pl_ik_set_weight(ik, 1, 0, &err), PL_BAD_INPUT);
    assert_int_equal(pl_ik_set_weight(ik, 2, 1, &err), PL_BAD_INPUT);
    assert_int_equal(pl_ik_set_value(ik, 0, NAN, &err), PL_BAD_INPUT);
    assert_true(isnan(pl_ik_deviation(ik, 2)));
    PL_CHECK_BELOW(pl_ik_deviation(ik, 0), 0.005);
    pl_ik_destroy(ik);

    // the tip alone, with least energy: no solution near by has less
    pl_objective e[2] = {o[0], pl_objective_default(PL_OBJECTIVE_ENERGY)};
    e[1].weight = 1e-3;
    ik = make(model, e, 2, &options);
    arm_go(model, c);
    const double energy = a.energy;
    r = solve(ik, NULL);
    assert_int_equal(r.outcome, PL_IK_REACHED);
    print_message("energy %.4f -> %.4f mJ\n", energy, a.energy);
    assert_true(a.energy < 0.9 * energy);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

// Samples are found by the distance of their markers to the goals, nearest first.
static void test_nearest_samples(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -2.5, 2.5);
    double command[27 * 3], marker[27 * 6];
    const pl_samples samples = sample_arm(model, &a, 1.5, command, marker);
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    memcpy(o.target, marker + 6 * 22, sizeof o.target);
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = make(model, &o, 1, &options);
    assert_int_equal(pl_ik_nearest_sample(ik, 0), -1);
    pl_ik_set_samples(ik, &samples);
    assert_int_equal(pl_ik_nearest_sample(ik, 0), 22);
    double before = 0;
    for (int k = 1; k < 5; ++k) {
        const int s = pl_ik_nearest_sample(ik, k);
        const double d = hypot(marker[6 * s] - o.target[0], marker[6 * s + 1] - o.target[1]);
        assert_true(d >= before);
        before = d;
    }

    pl_ik_destroy(ik);
    pl_model_destroy(model);
}

static int64_t allocations;
static void *counting(void *user, void *block, size_t bytes)
{
    (void)user;
    ++allocations;
    if (bytes == 0) {
        free(block);
        return NULL;
    }

    return realloc(block, bytes);
}

// A solve takes no memory: it fits a control loop.
static void test_no_allocation(void **state)
{
    (void)state;
    pl_memory_set(counting, NULL);
    arm a;
    pl_model *model = arm_create(&a, 3, -1, 1);
    const pl_objective o = tip_at(60, 50);
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = make(model, &o, 1, &options);
    const int64_t before = allocations;
    solve(ik, NULL);
    assert_true(before > 0);
    assert_int_equal(allocations, before);
    pl_ik_destroy(ik);
    pl_model_destroy(model);
    pl_memory_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_targets),    cmocka_unit_test(test_nearest_point),
        cmocka_unit_test(test_multiplier),        cmocka_unit_test(test_least_motion),
        cmocka_unit_test(test_singular_posture),  cmocka_unit_test(test_opposite_direction),
        cmocka_unit_test(test_target_on_a_bound), cmocka_unit_test(test_effort_bounds),
        cmocka_unit_test(test_combined),          cmocka_unit_test(test_nearest_samples),
        cmocka_unit_test(test_no_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
