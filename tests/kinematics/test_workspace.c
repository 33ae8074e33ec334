// Workspaces: plans cover the ranges in small steps and can be resumed; hulls meet closed forms.
#include "arm_model.h"
#include "base/base.h"
#include "base/vec.h"

static double gap(const pl_workspace_plan *plan, int i, int j)
{
    double sum = 0;
    for (int k = 0; k < plan->command_count; ++k) {
        const double d =
            plan->command[i * plan->command_count + k] - plan->command[j * plan->command_count + k];
        sum += d * d;
    }

    return sqrt(sum);
}

static void test_grid(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -1, 1);
    const int steps[3] = {4, 3, 5};
    pl_workspace_def def = {.order = PL_WORKSPACE_GRID, .steps = steps};
    pl_workspace_plan plan;
    pl_error err = {0};
    PL_CHECK_OK(pl_workspace_plan_init(model, &def, &plan, &err));
    assert_int_equal(plan.count, 60);
    const double step[3] = {2.0 / 3, 1, 0.5};
    for (int i = 0; i < 60; ++i) {
        for (int j = 0; j < i; ++j) {
            assert_true(gap(&plan, i, j) > 0.4); // every point once
        }
        if (i > 0) {
            // neighbours differ in one command by one step
            int changed = 0;
            for (int k = 0; k < 3; ++k) {
                const double d = fabs(plan.command[3 * i + k] - plan.command[3 * i - 3 + k]);
                changed += d > 1e-12;
                assert_true(d < 1e-12 || fabs(d - step[k]) < 1e-12);
            }
            assert_int_equal(changed, 1);
        }
    }

    pl_workspace_plan_clear(&plan);
    def = (pl_workspace_def){.order = PL_WORKSPACE_GRID, .count = 130};
    PL_CHECK_OK(pl_workspace_plan_init(model, &def, &plan, &err));
    assert_int_equal(plan.count, 125);
    pl_workspace_plan_clear(&plan);

    // a long grid costs no more than its points
    arm b;
    pl_model *single = arm_create(&b, 1, -1, 1);
    def.count = 300000;
    PL_CHECK_OK(pl_workspace_plan_init(single, &def, &plan, &err));
    assert_int_equal(plan.count, 300000);
    PL_CHECK_NEAR(plan.command[100000], -1 + 2.0 * 100000 / 299999, 1e-12);
    pl_workspace_plan_clear(&plan);
    pl_model_destroy(single);
    const int none[3] = {4, 0, 5};
    def.steps = none;
    assert_int_equal(pl_workspace_plan_init(model, &def, &plan, &err), PL_BAD_INPUT);
    def = (pl_workspace_def){.order = PL_WORKSPACE_HALTON, .count = 0};
    assert_int_equal(pl_workspace_plan_init(model, &def, &plan, &err), PL_BAD_INPUT);
    a.info[1].has_range = false;
    def.count = 10;
    assert_int_equal(pl_workspace_plan_init(model, &def, &plan, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "`b`"));
    pl_model_destroy(model);
}

// Low-discrepancy points fill every eighth of the range evenly; the walk's mean step is a fraction of what
// the sequence's own order has.
static void test_halton(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -1, 1);
    const pl_workspace_def def = {.order = PL_WORKSPACE_HALTON, .count = 400};
    pl_workspace_plan plan, again;
    pl_error err = {0};
    PL_CHECK_OK(pl_workspace_plan_init(model, &def, &plan, &err));
    PL_CHECK_OK(pl_workspace_plan_init(model, &def, &again, &err));
    assert_memory_equal(plan.command, again.command, 1200 * sizeof(double));
    int octant[8] = {0};
    double mean = 0;
    for (int i = 0; i < 400; ++i) {
        const double *c = plan.command + 3 * i;
        ++octant[(c[0] > 0) + 2 * (c[1] > 0) + 4 * (c[2] > 0)];
        mean += i > 0 ? gap(&plan, i, i - 1) / 399 : 0;
    }

    for (int k = 0; k < 8; ++k) {
        assert_true(octant[k] >= 44 && octant[k] <= 56);
    }
    print_message("mean step %.3f of a range of 2\n", mean);
    PL_CHECK_BELOW(mean, 0.3);
    pl_workspace_plan_clear(&plan);
    pl_workspace_plan_clear(&again);
    pl_model_destroy(model);
}

// With `ends` both ends of every range are among the samples, all corners where they are at most half.
static void test_ends(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 3, -1, 1);
    const int counts[] = {2, 5, 15, 16, 40}, corners[] = {2, 2, 2, 8, 8};
    for (int k = 0; k < 5; ++k) {
        const pl_workspace_def def = {.order = PL_WORKSPACE_HALTON, .count = counts[k], .ends = true};
        pl_workspace_plan plan;
        pl_error err = {0};
        PL_CHECK_OK(pl_workspace_plan_init(model, &def, &plan, &err));
        assert_int_equal(plan.count, counts[k]);
        int found = 0, low[3] = {0}, high[3] = {0};
        for (int i = 0; i < plan.count; ++i) {
            const double *c = plan.command + 3 * i;
            found += fabs(c[0]) == 1 && fabs(c[1]) == 1 && fabs(c[2]) == 1;
            for (int j = 0; j < 3; ++j) {
                low[j] += c[j] == -1;
                high[j] += c[j] == 1;
            }
            for (int j = 0; j < i; ++j) {
                assert_true(gap(&plan, i, j) > 0);
            }
        }
        assert_int_equal(found, corners[k]);
        assert_true(low[0] && low[1] && low[2] && high[0] && high[1] && high[2]);
        pl_workspace_plan_clear(&plan);
    }

    pl_model_destroy(model);
}

typedef struct cloud {
    int count, stop_at, first;
    double tip[3 * 400];
} cloud;

static bool cloud_record(void *user, const pl_sample *sample)
{
    cloud *c = user;
    assert_int_equal(sample->index, c->first + c->count);
    assert_int_equal(sample->fk->outcome, PL_SOLVED);
    memcpy(c->tip + 3 * (c->first + c->count), sample->answer.marker, 3 * sizeof(double));
    return ++c->count + c->first < c->stop_at;
}

static bool cold_record(void *user, const pl_sample *sample)
{
    *(int *)user += sample->cold;
    return true;
}

// Starts from the sample before are given up where they cost more, tried again now and then, and kept where
// they do not.
static void test_cold(void **state)
{
    (void)state;
    const int warm[] = {2, 5, 6, 9}, expected[] = {0, 0, 0, 85};
    for (int k = 0; k < 4; ++k) {
        arm a;
        pl_model *model = arm_create(&a, 2, -1, 1);
        a.warm_cost = warm[k];
        a.cold_cost = 5;
        const pl_workspace_def def = {.order = PL_WORKSPACE_HALTON, .count = 100};
        pl_workspace_plan plan;
        pl_error err = {0};
        int cold = 0;
        PL_CHECK_OK(pl_workspace_plan_init(model, &def, &plan, &err));
        PL_CHECK_OK(pl_workspace_run(model, &plan, 0, cold_record, &cold, &err));
        print_message("%d factorisations warm, 5 cold: %d of 100 samples cold\n", warm[k], cold);
        assert_int_equal(cold, expected[k]);
        pl_workspace_plan_clear(&plan);
        pl_model_destroy(model);
    }
}

// A run that was stopped goes on where it ended and gives the same cloud; the hull of a planar arm is flat.
static void test_resume(void **state)
{
    (void)state;
    arm a;
    pl_model *model = arm_create(&a, 2, -1, 1);
    const pl_workspace_def def = {.order = PL_WORKSPACE_HALTON, .count = 400};
    pl_workspace_plan plan;
    pl_error err = {0};
    PL_CHECK_OK(pl_workspace_plan_init(model, &def, &plan, &err));
    cloud whole = {.stop_at = 1000}, part = {.stop_at = 150}, rest = {.stop_at = 1000, .first = 150};
    PL_CHECK_OK(pl_workspace_run(model, &plan, 0, cloud_record, &whole, &err));
    PL_CHECK_OK(pl_workspace_run(model, &plan, 0, cloud_record, &part, &err));
    assert_int_equal(part.count, 150);
    PL_CHECK_OK(pl_workspace_run(model, &plan, 150, cloud_record, &rest, &err));
    assert_int_equal(whole.count, 400);
    assert_memory_equal(whole.tip, part.tip, 450 * sizeof(double));
    assert_memory_equal(whole.tip + 450, rest.tip + 450, 750 * sizeof(double));
    assert_int_equal(pl_workspace_run(model, &plan, 401, cloud_record, &rest, &err), PL_BAD_INPUT);
    pl_hull hull;
    PL_CHECK_OK(pl_hull_measure(whole.tip, 400, &hull, &err));
    assert_int_equal(hull.dimension, 2);
    assert_true(hull.area > 1000 && hull.area < 100 * 100);
    pl_workspace_plan_clear(&plan);
    pl_model_destroy(model);
}

// A box filled with a grid of points: volume, area and eight corners, in any position.
static void test_hull_box(void **state)
{
    (void)state;
    const double w[3] = {0.3, -0.7, 0.4};
    double R[9], point[3 * 343];
    pl_rotation_exp(w, R);
    for (int turned = 0; turned < 2; ++turned) {
        for (int i = 0; i < 343; ++i) {
            const double p[3] = {2.0 * (i % 7) / 6, 3.0 * (i / 7 % 7) / 6, 5.0 * (i / 49) / 6};
            pl_mulv3(R, p, point + 3 * i);
            if (!turned) {
                memcpy(point + 3 * i, p, sizeof p);
            }
            point[3 * i] += 100;
        }
        pl_hull hull;
        pl_error err = {0};
        PL_CHECK_OK(pl_hull_measure(point, 343, &hull, &err));
        assert_int_equal(hull.dimension, 3);
        PL_CHECK_NEAR(hull.volume, 30, 1e-9);
        PL_CHECK_NEAR(hull.area, 62, 1e-8);
        PL_CHECK_NEAR(hull.length, sqrt(38), 1e-9);
    }
}

// Random points on a sphere: all are corners, V - E + F = 2, the volume nears 4/3 pi.
static void test_hull_sphere(void **state)
{
    (void)state;
    static double point[3 * 2000];
    pl_random random;
    pl_random_seed(&random, 3);
    for (int i = 0; i < 2000; ++i) {
        double *p = point + 3 * i, length;
        do {
            for (int k = 0; k < 3; ++k) {
                p[k] = pl_random_uniform(&random, -1, 1);
            }
            length = pl_norm3(p);
        } while (length < 0.1 || length > 1);
        for (int k = 0; k < 3; ++k) {
            p[k] /= length;
        }
    }

    pl_hull hull;
    pl_error err = {0};
    PL_CHECK_OK(pl_hull_measure(point, 2000, &hull, &err));
    assert_int_equal(hull.vertex_count, 2000);
    assert_int_equal(hull.facet_count, 2 * 2000 - 4);
    PL_CHECK_NEAR(hull.volume, 4.0 / 3 * PL_PI, 0.03);

    // scaled twice, eight times the volume
    for (int i = 0; i < 6000; ++i) {
        point[i] *= 2;
    }

    const double volume = hull.volume;
    PL_CHECK_OK(pl_hull_measure(point, 2000, &hull, &err));
    PL_CHECK_NEAR(hull.volume, 8 * volume, 1e-9);
}

static void check_near_hull(const double *point, int count, double volume, double area, double part)
{
    pl_hull hull;
    pl_error err = {0};

    PL_CHECK_OK(pl_hull_measure(point, count, &hull, &err));
    assert_int_equal(hull.dimension, 3);
    assert_int_equal(hull.facet_count, 2 * hull.vertex_count - 4);
    PL_CHECK_NEAR(hull.volume, volume, part * volume);
    PL_CHECK_NEAR(hull.area, area, part * area);
}

// Points that are nearly in the faces of a box, or nearly the same, move its volume by no more than they are
// off, however small that is against the rounding.
static void test_hull_nearly(void **state)
{
    (void)state;
    static double point[3 * 480];
    const double w[3] = {1.3, -0.7, 0.4};
    double R[9];
    pl_random random;
    pl_random_seed(&random, 9);
    pl_rotation_exp(w, R);
    for (double noise = 1e-16; noise < 2e-6; noise *= 10) {
        for (int n = 4; n <= 6; ++n) {
            for (int i = 0; i < n * n * n; ++i) {
                const double p[3] = {i % n, i / n % n, i / (n * n)};
                pl_mulv3(R, p, point + 3 * i);
                for (int k = 0; k < 3; ++k) {
                    point[3 * i + k] += 20 + noise * pl_random_uniform(&random, -3, 3);
                }
            }
            const double side = n - 1;
            check_near_hull(point, n * n * n, side * side * side, 6 * side * side, 1e-5);
        }
        // sixty places of a sphere, each met eight times
        pl_hull once;
        pl_error err = {0};
        for (int i = 0; i < 480; ++i) {
            double *p = point + 3 * i;
            for (int k = 0; k < 3; ++k) {
                p[k] = i < 60 ? pl_random_uniform(&random, -1, 1) : point[3 * (i % 60) + k];
            }
            const double scale = 50 / pl_norm3(p);
            for (int k = 0; k < 3; ++k) {
                p[k] = p[k] * scale + (i < 60 ? 0 : noise * pl_random_uniform(&random, -1, 1));
            }
        }
        PL_CHECK_OK(pl_hull_measure(point, 60, &once, &err));
        check_near_hull(point, 480, once.volume, once.area, 1e-6);
    }
}

// A planar arm's cloud with a little of the third dimension: twice the polygon, and hardly any volume.
static void test_hull_thin(void **state)
{
    (void)state;
    static double point[3 * 400], plane[3 * 400];
    pl_random random;
    pl_random_seed(&random, 4);
    for (int i = 0; i < 400; ++i) {
        const double angle = -1 + 2.0 * (i / 20) / 19, R = 60 + 2 * (i % 20);
        plane[3 * i] = point[3 * i] = R * sin(angle) + 1e-9 * pl_random_uniform(&random, -1, 1);
        plane[3 * i + 1] = point[3 * i + 1] = R * cos(angle) + 1e-9 * pl_random_uniform(&random, -1, 1);
        plane[3 * i + 2] = 0;
        point[3 * i + 2] = 1e-3 * pl_random_uniform(&random, -1, 1);
    }

    pl_hull flat, thin;
    pl_error err = {0};
    PL_CHECK_OK(pl_hull_measure(plane, 400, &flat, &err));
    PL_CHECK_OK(pl_hull_measure(point, 400, &thin, &err));
    assert_int_equal(flat.dimension, 2);
    assert_int_equal(thin.dimension, 3);
    assert_int_equal(thin.facet_count, 2 * thin.vertex_count - 4);
    PL_CHECK_NEAR(thin.area, 2 * flat.area, 1e-4 * flat.area);
    PL_CHECK_BELOW(thin.volume, 2e-3 * flat.area);
    assert_true(thin.volume > 0.5e-3 * flat.area);
}

static void test_hull_flat(void **state)
{
    (void)state;
    double point[300];
    pl_hull hull;
    pl_error err = {0};

    // a disc in an oblique plane
    for (int i = 0; i < 100; ++i) {
        const double t = 2 * PL_PI * i / 100;
        point[3 * i] = cos(t);
        point[3 * i + 1] = 0.6 * sin(t);
        point[3 * i + 2] = 0.8 * sin(t);
    }

    PL_CHECK_OK(pl_hull_measure(point, 100, &hull, &err));
    assert_int_equal(hull.dimension, 2);
    PL_CHECK_NEAR(hull.area, 50 * sin(2 * PL_PI / 100), 1e-12);
    for (int i = 0; i < 100; ++i) {
        for (int k = 0; k < 3; ++k) {
            point[3 * i + k] = (k + 1) * sin(i);
        }
    }

    PL_CHECK_OK(pl_hull_measure(point, 100, &hull, &err));
    assert_int_equal(hull.dimension, 1);
    memset(point, 0, sizeof point);
    PL_CHECK_OK(pl_hull_measure(point, 100, &hull, &err));
    assert_int_equal(hull.dimension, 0);
    assert_int_equal(pl_hull_measure(point, 0, &hull, &err), PL_BAD_INPUT);
    point[4] = NAN;
    assert_int_equal(pl_hull_measure(point, 100, &hull, &err), PL_BAD_INPUT);
    point[4] = 1e41;
    assert_int_equal(pl_hull_measure(point, 100, &hull, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "point 1 is at 1e+41 mm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),        cmocka_unit_test(test_halton),
        cmocka_unit_test(test_ends),        cmocka_unit_test(test_cold),
        cmocka_unit_test(test_resume),      cmocka_unit_test(test_hull_box),
        cmocka_unit_test(test_hull_sphere), cmocka_unit_test(test_hull_flat),
        cmocka_unit_test(test_hull_nearly), cmocka_unit_test(test_hull_thin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
