// Memory and interruption: nothing stays behind, no step takes memory once its lengths are known, every
// allocation may fail, and an interrupted run can go on.
#include <stdlib.h>
#include "dynamics_robot.h"
#include "meter.h"

static pl_robot *viscous_robot(void)
{
    static plan p;
    pl_mesh *mesh = tet_box(3, 1, 1, 100, 30, 30, 2, NULL);
    pl_material material = beam_rubber();

    material.prony_count = 1;
    material.prony_g[0] = 0.3;
    material.prony_tau[0] = 0.02;
    plan_beam(&p, mesh, material);
    p.def.gravity[2] = -9810;
    pl_robot *robot = plan_robot(&p);
    pl_mesh_destroy(mesh);

    return robot;
}

static void test_no_memory_in_steps(void **state)
{
    (void)state;
    pl_robot *robot = viscous_robot();
    meter m = {0};
    pl_error err = {0};
    pl_memory_set(meter_hook, &m);
    const pl_dynamics_options options = moving_options(0.01);
    pl_dynamics *d;
    pl_state *s;
    pl_motion_report report;
    PL_CHECK_OK(pl_dynamics_create(robot, &options, &d, &err));
    PL_CHECK_OK(pl_state_create(robot, &s, &err));
    PL_CHECK_OK(pl_dynamics_start(d, s, NULL, &err));
    PL_CHECK_OK(pl_dynamics_advance(d, 0.02, NULL, NULL, &report, &err));
    const long calls = m.calls;
    PL_CHECK_OK(pl_dynamics_advance(d, 0.3, NULL, NULL, &report, &err));
    print_message("%ld allocations to build and start, %ld in %d steps\n", calls, m.calls - calls,
                  report.steps);
    assert_int_equal(m.calls, calls);
    PL_CHECK_OK(pl_dynamics_store(d, s, &err));
    pl_state_destroy(s);
    pl_dynamics_destroy(d);
    assert_int_equal(m.live, 0);
    pl_memory_set(NULL, NULL);
    pl_robot_destroy(robot);
}

// Every allocation of create, start, a motion with changing steps and modes.
static pl_status everything(const pl_robot *robot, pl_error *err)
{
    const pl_dynamics_options options = pl_dynamics_options_default();
    pl_dynamics *d = NULL;
    pl_state *s = NULL;
    pl_motion_report report;
    pl_mode mode;
    int found;
    pl_status status = pl_dynamics_create(robot, &options, &d, err);

    status = status == PL_OK ? pl_state_create(robot, &s, err) : status;
    status = status == PL_OK ? pl_dynamics_start(d, s, NULL, err) : status;
    status = status == PL_OK ? pl_dynamics_advance(d, 0.05, NULL, NULL, &report, err) : status;
    status = status == PL_OK ? pl_dynamics_store(d, s, err) : status;
    status = status == PL_OK ? pl_dynamics_modes(d, s, 1, &mode, NULL, &found, err) : status;
    pl_state_destroy(s);
    pl_dynamics_destroy(d);

    return status;
}

static void test_failing_memory(void **state)
{
    (void)state;
    pl_robot *robot = viscous_robot();
    meter m = {0};
    pl_error err = {0};
    pl_memory_set(meter_hook, &m);
    PL_CHECK_OK(everything(robot, &err));
    const long calls = m.calls;
    assert_int_equal(m.live, 0);
    int refused = 0;
    for (long n = 1; n <= calls; ++n) {
        m = (meter){.fail_at = n};
        err = (pl_error){0};
        const pl_status status = everything(robot, &err);
        if (status != PL_OK) {
            assert_int_equal(status, PL_NO_MEMORY);
            assert_true(err.text[0] != 0);
            ++refused;
        }
        if (m.live != 0) {
            print_error("allocation %ld of %ld failed and %ld blocks stayed\n", n, calls, m.live);
        }
        assert_int_equal(m.live, 0);
    }

    print_message("%ld allocations failed one by one, %d refused\n", calls, refused);
    pl_memory_set(NULL, NULL);
    pl_robot_destroy(robot);
}

static bool stop_after(void *user, double fraction, const char *what)
{
    (void)fraction;
    (void)what;
    return --*(int *)user > 0;
}

// Interrupted at any call of the progress, the state is one of the motion, from where it can go on.
static void test_interrupted(void **state)
{
    (void)state;
    pl_robot *robot = viscous_robot();
    int stopped = 0;
    for (int calls = 1; calls <= 12; ++calls) {
        int left = 1 << 30;
        pl_dynamics_options options = moving_options(0.01);
        options.progress = (pl_progress){stop_after, &left};
        pl_dynamics *d;
        pl_state *s;
        pl_error err = {0};
        pl_motion_report report;
        PL_CHECK_OK(pl_dynamics_create(robot, &options, &d, &err));
        PL_CHECK_OK(pl_state_create(robot, &s, &err));
        PL_CHECK_OK(pl_dynamics_start(d, s, NULL, &err));
        left = calls;
        PL_CHECK_OK(pl_dynamics_advance(d, 0.1, NULL, NULL, &report, &err));
        stopped += report.outcome == PL_MOTION_STOPPED;
        assert_true(report.outcome == PL_MOTION_STOPPED || report.outcome == PL_MOTION_DONE);
        left = 1 << 30;
        PL_CHECK_OK(pl_dynamics_advance(d, 0.1, NULL, NULL, &report, &err));
        assert_int_equal(report.outcome, PL_MOTION_DONE);
        PL_CHECK_NEAR(report.time, 0.1, 1e-9);
        pl_state_destroy(s);
        pl_dynamics_destroy(d);
    }

    assert_true(stopped >= 8);
    pl_robot_destroy(robot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory_in_steps),
                                       cmocka_unit_test(test_failing_memory),
                                       cmocka_unit_test(test_interrupted)};
    pl_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
