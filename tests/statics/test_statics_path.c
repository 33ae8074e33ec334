// Load paths through critical points. The load at which a body buckles or snaps does not depend on how far
// beyond it the path goes; buckled columns agree with Euler's load; an arch lands where another path leads
// to; beyond its limit point no increment is taken for a continuous path.
#include <stdlib.h>
#include "statics/statics_impl.h"
#include "statics_robot.h"

#define PI 3.14159265358979323846

// ---- a cantilever column under a dead load along its axis
static rig column_rig(double length, double side, double force)
{
    static plan p;
    pl_mesh *mesh = tet_box(16, 1, 1, length, side, side, 2, NULL);

    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, length);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {-force, 0, 0}};
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);

    return r;
}

static void test_column(void **state)
{
    (void)state;
    const double length = 60, side = 3, euler = PI * PI * pow(side, 4) / 12 / (4 * length * length),
                 shear = euler / (1 + 1.2 * euler / (0.5 * side * side)), times[] = {1.1, 1.3, 2.2};
    double load[PL_COUNT(times)];
    for (int k = 0; k < PL_COUNT(times); ++k) {
        rig r = column_rig(length, side, times[k] * euler);
        const pl_solve_report report = rig_solve(&r, NULL);
        const double *tip = pl_statics_marker(r.statics, r.state, 0).displacement;
        load[k] = report.buckling_load * times[k] * euler;
        print_message(
            "%.1f P_E: buckles at %.5f P_E (with shear %.5f), tip aside %.2f mm, %d factorisations\n",
            times[k], load[k] / euler, shear / euler, hypot(tip[1], tip[2]), report.factorizations);
        assert_true(hypot(tip[1], tip[2]) > 0.2 * length);
        assert_int_equal(report.negative_count, 0);
        PL_CHECK_NEAR(load[k] / shear, 1, 0.01);
        PL_CHECK_NEAR(load[k] / load[0], 1, 1e-3);
        rig_clear(&r);
    }

    rig below = column_rig(length, side, 0.97 * euler);
    const pl_solve_report report = rig_solve(&below, NULL);
    PL_CHECK_NEAR(report.buckling_load, 0, 0);
    rig_clear(&below);
}

// ---- a clamped arch under a force at its crown
static rig arch_rig(double force, bool stop)
{
    static plan p;
    pl_mesh *arch = arch_mesh(16, 1, 2, 60);

    plan_init(&p, arch, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.05, .poisson = 0.45});
    plan_plane(&p, "left", 0, 0);
    plan_plane(&p, "right", 0, 60);
    plan_hold(&p, "left", "xyz");
    plan_hold(&p, "right", "xyz");
    p.marker[p.def.marker_count++] = (pl_marker_def){.name = "crown", .at = {30, 4, 11}};
    p.force[p.def.force_count++] = (pl_force_def){.marker = "crown", .force = {0, 0, -force}};
    pl_statics_options options = tight_options();
    options.stop_at_limit = stop;
    rig r = plan_build(&p, &options);
    pl_mesh_destroy(arch);

    return r;
}

static double arch_crown(rig *r)
{
    return pl_statics_marker(r->statics, r->state, 0).displacement[2];
}

static void test_arch(void **state)
{
    (void)state;
    const double force[] = {0.06, 0.1, 0.2};
    double limit[PL_COUNT(force)];
    for (int k = 0; k < PL_COUNT(force); ++k) {
        rig r = arch_rig(force[k], false), s = arch_rig(force[k], true);
        const pl_solve_report landed = rig_solve(&r, NULL), stopped = rig_try(&s, NULL);
        limit[k] = landed.limit_load * force[k];
        print_message(
            "%.2f N: snaps at %.4f mN, lands at %.3f mm, %d factorisations; stopped at %.4f mN, %.3f mm\n",
            force[k], 1e3 * limit[k], arch_crown(&r), landed.factorizations,
            1e3 * stopped.limit_load * force[k], arch_crown(&s));
        assert_true(arch_crown(&r) < -11);
        assert_int_equal(landed.negative_count, 0);
        PL_CHECK_NEAR(limit[k] / limit[0], 1, 1e-3);

        // the path ends below the limit load, on the branch it came from
        assert_int_equal(stopped.outcome, PL_LIMIT_POINT);
        PL_CHECK_NEAR(stopped.limit_load, landed.limit_load, 1e-3 * landed.limit_load);
        assert_true(stopped.load_reached <= stopped.limit_load && arch_crown(&s) > -5);
        rig_clear(&r);
        rig_clear(&s);
    }

    // another path to the same shape: beyond the snap the load is raised and taken back
    rig r = arch_rig(0.06, false), far = arch_rig(0.2, false);
    rig_solve(&r, NULL);
    rig_solve(&far, NULL);
    const double up[3] = {0, 0, -0.14}, none[3] = {0};
    pl_statics_set_forces(r.statics, up);
    rig_solve(&r, NULL);
    print_message("0.2 N in two paths: %.2e mm apart\n", shape_distance(&r, rig_x(&r), rig_x(&far)));
    PL_CHECK_BELOW(shape_distance(&r, rig_x(&r), rig_x(&far)), 1e-4);
    pl_statics_set_forces(r.statics, none);
    rig_clear(&r);
    rig_clear(&far);
}

// ---- the whole path by arc length
typedef struct arc_watch {
    double highest, lowest, last, crown;
    int points, unstable;
} arc_watch;

static bool watch_point(void *user, const pl_arc_point *point, const pl_state *state)
{
    arc_watch *w = user;
    (void)state;
    w->points++;
    w->unstable += point->negative_count > 0;
    w->highest = w->unstable == 0 ? fmax(w->highest, point->load) : w->highest;
    w->lowest = w->unstable > 0 ? fmin(w->lowest, point->load) : w->lowest;
    w->last = point->load;

    return true;
}

// It rises to the limit load, falls through unstable equilibria, rises again, and passes the shape that a
// snap lands at.
static void test_follow_arc(void **state)
{
    (void)state;
    const double force = 0.1;
    rig r = arch_rig(force, false), s = arch_rig(force, true);
    const pl_solve_report stopped = rig_try(&s, NULL);
    arc_watch w = {.lowest = 1};
    bool complete = false;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_follow_arc(r.statics, r.state, NULL, 400, watch_point, &w, &complete, &err));
    print_message("%d points, %d unstable; up to %.4f (limit load %.4f), down to %.4f, then %.4f\n", w.points,
                  w.unstable, w.highest, stopped.limit_load, w.lowest, w.last);
    assert_true(complete && w.unstable > 2 && w.last >= 1);
    assert_true(w.lowest < 0.9 * stopped.limit_load);
    PL_CHECK_NEAR(w.highest, stopped.limit_load, 0.02 * stopped.limit_load);
    assert_true(w.highest <= stopped.limit_load * (1 + 1e-4));
    rig_clear(&r);
    rig_clear(&s);

    // with driven clamps it is refused
    rig c = column_rig(60, 3, 0.001);
    c.robot->support[0].move[0] = 1;
    assert_int_equal(pl_statics_follow_arc(c.statics, c.state, NULL, 10, watch_point, &w, &complete, &err),
                     PL_BAD_INPUT);
    c.robot->support[0].move[0] = 0;
    rig_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_column),
        cmocka_unit_test(test_arch),
        cmocka_unit_test(test_follow_arc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
