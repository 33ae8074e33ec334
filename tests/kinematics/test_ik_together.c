// Commands and shape found together: the columns that steer them are derivatives of the outputs, and the end
// is that of equilibria one after another, with the same bounds and fewer solves.
#include "kinematics/kinematics_impl.h"
#include "statics_robot.h"

// A bar of 40 x 8 x 8 mm, clamped at x = 0: a tendon above, driven by its length, one at its side by its
// tension.
typedef struct bar {
    pl_mesh *mesh;
    pl_robot *robot;
    pl_model *model;
} bar;

static bar bar_create(void)
{
    static const pl_guide_def top[3] = {{.point = {0, 4, 7}}, {.point = {20, 4, 7}}, {.point = {38, 4, 7}}};
    static const pl_guide_def side[3] = {{.point = {0, 7, 4}}, {.point = {20, 7, 4}}, {.point = {38, 7, 4}}};
    bar b = {.mesh = tet_box(5, 1, 1, 40, 8, 8, 2, NULL)};
    static plan p;

    plan_init(&p, b.mesh, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.2, .poisson = 0.45});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_hold(&p, "base", "xyz");
    const pl_guide_def *const guide[2] = {top, side};
    const char *const name[2] = {"top", "side"};
    for (int i = 0; i < 2; ++i) {
        pl_actuator_def *a =
            plan_cable(&p, name[i], guide[i], 3, i == 0 ? PL_DRIVE_SHORTENING : PL_DRIVE_TENSION);
        a->radius = 3;
        a->has_range = true;
        a->range[1] = i == 0 ? 4 : 3;
    }

    plan_marker(&p, "tip", "tip");
    b.robot = plan_robot(&p);
    pl_error err = {0};
    const pl_statics_options options = tight_options();
    PL_CHECK_OK(pl_model_from_robot(b.robot, &options, &b.model, &err));

    return b;
}

static void bar_clear(bar *b)
{
    pl_model_destroy(b->model);
    pl_robot_destroy(b->robot);
    pl_mesh_destroy(b->mesh);
}

static void bar_go(bar *b, double top, double side)
{
    const double command[2] = {top, side};
    pl_solve_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_fk(b->model, command, &report, &err));
    assert_int_equal(report.outcome, PL_SOLVED);
}

// ---- columns

static pl_aim_answer look(void *user, const pl_model_answer *now, bool fresh, double *value)
{
    (void)now;
    (void)value;
    *(bool *)user = fresh;
    return PL_AIM_LEAVE;
}

// Columns of the tip (3 x 2) where the bar stands, with the factor at hand; whether it was made there.
static bool columns(bar *b, double *J)
{
    double command[2], marker[3 * 3], effort[2 * 3];
    bool fresh = false, met;
    pl_error err = {0};
    const pl_model_aim aim = {.command = command,
                              .count = 2,
                              .variable = {0, 1},
                              .out = {.marker = marker, .effort = effort},
                              .choose = look,
                              .user = &fresh};

    memset(marker, 0, sizeof marker);
    PL_CHECK_OK(pl_model_find_together(b->model, &aim, &met, &err));
    assert_false(met);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(marker[3 * i + 2], 0, 1e-12); // in equilibrium the shape is about to make no move
        J[2 * i] = marker[3 * i];
        J[2 * i + 1] = marker[3 * i + 1];
    }

    return fresh;
}

static double differ(bar *b, double top, double side, const double *J)
{
    const double h = 1e-3;
    double most = 0, size = 0;

    for (int j = 0; j < 2; ++j) {
        double tip[2][3];
        for (int s = 0; s < 2; ++s) {
            const double step = s ? h : -h;
            bar_go(b, top + (j == 0 ? step : 0), side + (j == 1 ? step : 0));
            memcpy(tip[s], pl_model_get_answer(b->model).marker, sizeof tip[s]);
        }
        for (int i = 0; i < 3; ++i) {
            const double d = (tip[1][i] - tip[0][i]) / (2 * h);
            most = fmax(most, fabs(d - J[2 * i + j]));
            size = fmax(size, fabs(d));
        }
    }

    return most / size;
}

static void test_columns_are_derivatives(void **state)
{
    (void)state;
    bar b = bar_create();
    double J[6];
    pl_model_derivative exact;
    pl_jacobian_report report;
    pl_error err = {0};
    bar_go(&b, 2, 1);

    // with the factor of the derivatives, made at the solution
    PL_CHECK_OK(pl_model_differentiate(b.model, PL_PART_MARKER, 0, &exact, &report, &err));
    assert_true(columns(&b, J));
    for (int i = 0; i < 6; ++i) {
        PL_CHECK_NEAR(J[i], exact.marker[i], 1e-8 * fmax(fabs(exact.marker[i]), 1));
    }
    PL_CHECK_BELOW(differ(&b, 2, 1, J), 1e-5);

    // a little further on with the same factor, turned: as good as an old factor can be
    bar_go(&b, 2.1, 1.05);
    columns(&b, J);
    PL_CHECK_BELOW(differ(&b, 2.1, 1.05, J), 0.05);
    bar_clear(&b);
}

// ---- the same end

#define WAYPOINTS 8
typedef struct trip {
    double command[WAYPOINTS][2];
    double *shape; // the last one
    int count, reached;
    int64_t forward, solves;
} trip;

static bool trip_note(void *user, const pl_waypoint *w)
{
    trip *t = user;
    for (int i = 0; i < 2; ++i) {
        t->command[t->count][i] = w->command[i];
        // bounds to the last bit
        assert_true(w->command[i] >= 0 && w->command[i] <= (i == 0 ? 4 : 3));
    }

    t->reached += w->ik->outcome == PL_IK_REACHED;
    if (w->index > 0) {
        t->forward += w->ik->costs.fk_calls;
        t->solves += w->ik->costs.solves;
    }

    ++t->count;

    return true;
}

// The tip follows a curve of y and z from where (2, 1) puts it, `step` mm per waypoint.
static void trip_make(bar *b, bool together, double step, trip *t)
{
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    const pl_ik_options options = pl_ik_options_default();
    pl_follow_options follow = pl_follow_options_default();
    pl_follow_report report;
    pl_error err = {0};
    pl_ik *ik = NULL;
    double point[3 * WAYPOINTS];
    const int64_t entries = 3 * (int64_t)pl_model_get_info(b->model).point_count;

    o.axes[1] = o.axes[2] = true;
    o.tolerance = 1e-6;
    follow.record = trip_note;
    follow.user = t;
    pl_model_reset(b->model);
    bar_go(b, 2, 1);
    const double *tip = pl_model_get_answer(b->model).marker;
    for (int i = 0; i < WAYPOINTS; ++i) {
        point[3 * i] = 0;
        point[3 * i + 1] = tip[1] + step * i;
        point[3 * i + 2] = tip[2] + step * (i - 0.08 * i * i);
    }

    PL_CHECK_OK(pl_ik_create(b->model, &o, 1, &options, &ik, &err));
    assert_true(ik->together.possible);
    ik->together.possible = together;
    PL_CHECK_OK(pl_follow(ik, point, WAYPOINTS, &follow, &report, &err));
    t->shape = PL_NEW_ARRAY(double, entries);
    memcpy(t->shape, pl_model_get_answer(b->model).point, (size_t)entries * sizeof *t->shape);
    pl_ik_destroy(ik);
}

static void trips_agree(double step, int reached)
{
    bar b = bar_create();
    trip one = {0}, both = {0};
    double apart = 0, far = 0;

    trip_make(&b, false, step, &one);
    trip_make(&b, true, step, &both);
    for (int k = 0; k < WAYPOINTS; ++k) {
        for (int i = 0; i < 2; ++i) {
            apart = fmax(apart, fabs(one.command[k][i] - both.command[k][i]));
        }
    }

    for (int64_t i = 0; i < 3 * (int64_t)pl_model_get_info(b.model).point_count; ++i) {
        far = fmax(far, fabs(one.shape[i] - both.shape[i]));
    }
    print_message("in turn: %d forward solves, %d solves; together: %d, %d\n", (int)one.forward,
                  (int)one.solves, (int)both.forward, (int)both.solves);
    assert_int_equal(one.reached, reached);
    assert_int_equal(both.reached, reached);
    PL_CHECK_BELOW(apart, 1e-5); // mm, N: the goal is met to 1e-6 mm by either
    PL_CHECK_BELOW(far, 1e-5);
    if (reached == WAYPOINTS) {
        assert_true(both.forward <= WAYPOINTS + 1); // one each, three where it was left to the other method
        assert_true(both.solves < one.solves);
    }

    pl_free(one.shape);
    pl_free(both.shape);
    bar_clear(&b);
}

static void test_same_end(void **state)
{
    (void)state;
    trips_agree(0.25, WAYPOINTS);
}

// The path leaves the reach of the tendons: the same waypoints are reached, the same bounds end the rest.
static void test_same_bounds(void **state)
{
    (void)state;
    trips_agree(1.5, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns_are_derivatives),
                                       cmocka_unit_test(test_same_end), cmocka_unit_test(test_same_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
