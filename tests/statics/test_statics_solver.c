// The solver as a machine: same bits for any thread count, no memory taken while solving, every outcome with
// a true state behind it, warm starts, wrong options, failing memory, two solvers on one robot.
#include <pthread.h>
#include "base/base.h"
#include "meter.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47};

enum { AIR, TENDON };

// A bar of 24 x 8 x 8 mm with a cavity below its middle and a cable on top.
static pl_robot *bar_robot(pl_drive chamber)
{
    static const pl_guide_def guide[] = {{.point = {0, 4, 8}}, {.point = {12, 4, 8}}, {.point = {24, 4, 8}}};
    static plan p;
    bool hole[6 * 3 * 4] = {false};

    for (int i = 1; i < 5; ++i) {
        hole[i + 6 * (1 + 3 * 1)] = true;
    }

    pl_mesh *mesh = tet_box(6, 3, 4, 24, 8, 8, 2, hole);
    plan_init(&p, mesh, rubber);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 24);
    plan_cavity(&p, "cavity", 12, 4, 3);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    plan_chamber(&p, "air", "cavity", chamber);
    plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING)->radius = 2;
    pl_robot *robot = plan_robot(&p);
    pl_mesh_destroy(mesh);

    return robot;
}

static rig bar_rig(pl_drive chamber, const pl_statics_options *options)
{
    const pl_statics_options usual = pl_statics_options_default();
    pl_error err = {0};
    rig r = {.robot = bar_robot(chamber)};
    PL_CHECK_OK(pl_statics_create(r.robot, options ? options : &usual, &r.statics, &err));
    PL_CHECK_OK(pl_state_create(r.robot, &r.state, &err));
    return r;
}

// Whatever the outcome, the state is an equilibrium at the load that was reached.
static void check_equilibrium(rig *r, const pl_solve_report *report)
{
    pl_error err = {0};
    double residual, largest;
    bool inverted;

    PL_CHECK_OK(pl_statics_check(r->statics, r->state, &residual, &largest, &inverted, &err));
    print_message("%s at %.1f %%: residual %.1e of %.1e N; %s\n", pl_outcome_name(report->outcome),
                  100 * report->load_reached, residual, largest, report->message);
    assert_false(inverted);
    assert_true(report->message[0] != 0);
    PL_CHECK_BELOW(residual, 1e-5 * largest + 1e-9);
    PL_CHECK_BELOW(report->load_reached, 1);
    assert_true((report->outcome == PL_SOLVED) == (report->load_reached == 1));
}

static const double far[2] = {0.02, 3}; // MPa, mm

// Shape and derivatives have the same bits for any number of threads.
static void test_threads(void **state)
{
    (void)state;
    const int threads[] = {1, 2, 3, 8};
    const pl_parameter commands[] = {{.kind = PL_PARAMETER_COMMAND, .index = 0},
                                     {.kind = PL_PARAMETER_COMMAND, .index = 1}};
    uint64_t first = 0;
    for (int i = 0; i < PL_COUNT(threads); ++i) {
        pl_threads_set(threads[i]);
        rig r = bar_rig(PL_DRIVE_PRESSURE, NULL);
        const pl_solve_report report = rig_try(&r, far);
        assert_int_equal(report.outcome, PL_SOLVED);
        const size_t n = 3 * (size_t)pl_state_vertex_count(r.state);
        pl_error err = {0};
        pl_jacobian_report jacobian_report;
        double *d = malloc(2 * n * sizeof *d);
        assert_non_null(d);
        const pl_jacobian out = {.position = d};
        PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, commands, 2, &out, &jacobian_report, &err));
        uint64_t hash = pl_hash_bytes(PL_HASH_SEED, pl_state_positions(r.state), n * sizeof *d);
        hash = pl_hash_bytes(hash, d, 2 * n * sizeof *d);
        print_message("%d threads: %016llx\n", threads[i], (unsigned long long)hash);
        first = i == 0 ? hash : first;
        assert_true(hash == first);
        free(d);
        rig_clear(&r);
    }

    pl_threads_set(1);
}

// ---- memory

static void test_no_memory_while_solving(void **state)
{
    (void)state;
    meter m = {0};
    pl_memory_set(meter_hook, &m);
    rig r = bar_rig(PL_DRIVE_VOLUME_RATIO, NULL);
    const double near_by[2] = {1.1, 2}, further[2] = {1.15, 2.5}, idle[2] = {NAN, NAN};
    const long calls = m.calls, live = m.live;
    rig_try(&r, near_by);
    rig_try(&r, further);
    rig_try(&r, idle);
    print_message("%ld calls to build, %ld while solving\n", calls, m.calls - calls);
    assert_int_equal(m.calls, calls);
    assert_int_equal(m.live, live);
    rig_clear(&r);
    assert_int_equal(m.live, 0);
    pl_memory_set(NULL, NULL);
}

// Every allocation of pl_statics_create may fail: it says so and keeps nothing.
static void test_failing_memory(void **state)
{
    (void)state;
    meter m = {0};
    pl_robot *robot = bar_robot(PL_DRIVE_PRESSURE);
    const pl_statics_options options = pl_statics_options_default();
    pl_statics *statics = NULL;
    pl_error err = {0};
    pl_memory_set(meter_hook, &m);
    PL_CHECK_OK(pl_statics_create(robot, &options, &statics, &err));
    const long calls = m.calls;
    pl_statics_destroy(statics);
    assert_int_equal(m.live, 0);
    for (long n = 1; n <= calls; ++n) {
        m = (meter){.fail_at = n};
        const pl_status status = pl_statics_create(robot, &options, &statics, &err);
        if (status == PL_OK) {
            pl_statics_destroy(statics); // it could do without
        } else {
            assert_int_equal(status, PL_NO_MEMORY);
            assert_null(statics);
            assert_true(err.text[0] != 0);
        }
        if (m.live != 0) {
            print_error("allocation %ld of %ld failed and %ld blocks stayed\n", n, calls, m.live);
        }
        assert_int_equal(m.live, 0);
    }

    print_message("%ld allocations failed one by one\n", calls);
    pl_memory_set(NULL, NULL);
    pl_robot_destroy(robot);
}

// ---- outcomes

static bool stop_after(void *user, double fraction, const char *what)
{
    (void)fraction;
    (void)what;
    return --*(int *)user > 0;
}

static void test_interrupted(void **state)
{
    (void)state;
    int stopped = 0;
    for (int calls = 1; calls <= 22; calls += 7) {
        int left = 1 << 30;
        pl_statics_options options = pl_statics_options_default();
        options.progress = (pl_progress){stop_after, &left};
        rig r = bar_rig(PL_DRIVE_PRESSURE, &options);
        left = calls;
        const double very_far[2] = {0.04, 12};
        const pl_solve_report report = rig_try(&r, very_far);
        stopped += report.outcome == PL_STOPPED;
        check_equilibrium(&r, &report);
        // and one can go on from there
        left = 1 << 30;
        rig_solve(&r, far);
        rig_clear(&r);
    }

    assert_int_equal(stopped, 4);
}

static void test_limits(void **state)
{
    (void)state;
    pl_statics_options few = pl_statics_options_default(), short_path = few, hasty = few;
    few.iteration_limit = 3;
    short_path.increment_limit = 1;
    hasty.time_limit = 1e-9;
    const struct {
        const pl_statics_options *options;
        pl_outcome outcome;
    } cases[] = {{&few, PL_ITERATION_LIMIT}, {&short_path, PL_STEP_LIMIT}, {&hasty, PL_ITERATION_LIMIT}};
    for (int i = 0; i < 3; ++i) {
        rig r = bar_rig(PL_DRIVE_PRESSURE, cases[i].options);
        const double very_far[2] = {0.04, 12};
        const pl_solve_report report = rig_try(&r, very_far);
        assert_int_equal(report.outcome, cases[i].outcome);
        check_equilibrium(&r, &report);
        rig_clear(&r);
    }
}

// A pressure no wall can carry, a cable shorter than nothing.
static void test_impossible(void **state)
{
    (void)state;
    const struct {
        pl_drive chamber;
        double command[2];
    } cases[] = {{PL_DRIVE_PRESSURE, {5, NAN}}, {PL_DRIVE_PRESSURE, {NAN, 23.5}}};
    for (int i = 0; i < 2; ++i) {
        pl_statics_options options = pl_statics_options_default();
        options.iteration_limit = 600;
        rig r = bar_rig(cases[i].chamber, &options);
        const pl_solve_report report = rig_try(&r, cases[i].command);
        assert_int_not_equal(report.outcome, PL_SOLVED);
        check_equilibrium(&r, &report);
        rig_clear(&r);
    }
}

// ---- states

static void test_warm_start(void **state)
{
    (void)state;
    const pl_statics_options options = tight_options();
    rig cold = bar_rig(PL_DRIVE_PRESSURE, &options), warm = bar_rig(PL_DRIVE_PRESSURE, &options);
    const double path[][2] = {{0.01, 1}, {0.012, 1.2}, {0.014, 1.4}, {0.015, 1.5}, {NAN, 2}, {0.02, 3}};
    rig_solve(&cold, far);
    for (int i = 0; i < 6; ++i) {
        rig_solve(&warm, path[i]);
    }

    const double apart = shape_distance(&cold, rig_x(&cold), rig_x(&warm));
    print_message("from rest and step by step: %.1e mm apart\n", apart);
    PL_CHECK_BELOW(apart, 1e-6);
    rig_clear(&cold);
    rig_clear(&warm);
}

// Moves on a line of commands are predicted from those before: the sixth starts where only few solves are
// left.
static void test_moves_on_a_line(void **state)
{
    (void)state;
    int solves[2][7];
    for (int extrapolate = 0; extrapolate < 2; ++extrapolate) {
        pl_statics_options options = pl_statics_options_default();
        options.extrapolate = extrapolate;
        rig r = bar_rig(PL_DRIVE_PRESSURE, &options);
        for (int i = 0; i < 7; ++i) {
            const double at = 1 + 0.02 * i, command[2] = {0.01 * at, 2 * at};
            solves[extrapolate][i] = rig_solve(&r, command).solves;
        }
        rig_clear(&r);
    }

    print_message("solves of the last move: %d, without extrapolation %d\n", solves[1][6], solves[0][6]);
    assert_true(solves[1][6] + 2 <= solves[0][6]);
}

// A state copied, or packed and unpacked, goes on as the first one would.
static void test_state_travels(void **state)
{
    (void)state;
    pl_error err = {0};
    const pl_statics_options options = tight_options();
    rig r = bar_rig(PL_DRIVE_PRESSURE, &options), other = bar_rig(PL_DRIVE_PRESSURE, &options);
    const double half[2] = {0.01, 1.5};
    rig_solve(&r, half);
    const size_t size = pl_state_pack(r.state, NULL, 0);
    double *block = malloc(size * sizeof *block);
    assert_int_equal(pl_state_pack(r.state, block, size), size);
    PL_CHECK_OK(pl_state_unpack(other.state, block, size, &err));
    free(block);
    assert_memory_equal(rig_x(&r), rig_x(&other),
                        3 * (size_t)pl_state_vertex_count(r.state) * sizeof(double));
    PL_CHECK_NEAR(pl_statics_actuator(other.statics, other.state, TENDON).effort,
                  pl_statics_actuator(r.statics, r.state, TENDON).effort, 0);
    rig_solve(&r, far);
    rig_solve(&other, far);
    PL_CHECK_BELOW(shape_distance(&r, rig_x(&r), rig_x(&other)), 1e-6);
    PL_CHECK_OK(pl_state_copy(other.state, r.state));
    const pl_solve_report still = rig_solve(&other, far);
    PL_CHECK_BELOW(shape_distance(&r, rig_x(&r), rig_x(&other)), 1e-7);
    PL_CHECK_BELOW(still.iterations, 5);

    // a state of another robot is refused
    rig stranger = bar_rig(PL_DRIVE_VOLUME_RATIO, NULL);
    pl_solve_report report;
    assert_int_equal(pl_statics_solve(r.statics, stranger.state, far, &report, &err), PL_BAD_INPUT);
    const double infinite[2] = {INFINITY, 0};
    assert_int_equal(pl_statics_solve(r.statics, r.state, infinite, &report, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "air"));
    rig_clear(&stranger);
    rig_clear(&other);
    rig_clear(&r);
}

static void test_wrong_options(void **state)
{
    (void)state;
    pl_robot *robot = bar_robot(PL_DRIVE_PRESSURE);
    const char *const field[] = {"force_tolerance", "force_tolerance", "length_tolerance",
                                 "iteration_limit", "increment_limit", "time_limit",
                                 "time_limit",      "linear_solver",   "force_tolerance"};
    for (int i = 0; i < 9; ++i) {
        pl_statics_options options = pl_statics_options_default();
        pl_statics *statics = NULL;
        pl_error err = {0};
        switch (i) {
        case 0:
            options.force_tolerance = 0;
            break;
        case 1:
            options.force_tolerance = NAN;
            break;
        case 2:
            options.length_tolerance = -1;
            break;
        case 3:
            options.iteration_limit = 0;
            break;
        case 4:
            options.increment_limit = -3;
            break;
        case 5:
            options.time_limit = -1;
            break;
        case 6:
            options.time_limit = NAN;
            break;
        case 7:
            options.linear_solver = PL_SOLVER_CHOLMOD;
            break; // cannot do the locking-free formulation
        default:
            options = (pl_statics_options){0};
            break;
        }
        assert_int_equal(pl_statics_create(robot, &options, &statics, &err), PL_BAD_INPUT);
        assert_null(statics);
        assert_non_null(strstr(err.text, field[i]));
    }

    pl_robot_destroy(robot);
}

// ---- two solvers on one robot at once

typedef struct task {
    pl_robot *robot;
    double command[2];
    double *x;
    bool solved;
} task;

static void *task_run(void *user)
{
    task *t = user;
    const pl_statics_options options = pl_statics_options_default();
    pl_error err;
    pl_solve_report report;
    rig r = {.robot = t->robot};

    if (pl_statics_create(t->robot, &options, &r.statics, &err) == PL_OK &&
        pl_state_create(t->robot, &r.state, &err) == PL_OK &&
        pl_statics_solve(r.statics, r.state, t->command, &report, &err) == PL_OK) {
        t->solved = report.outcome == PL_SOLVED;
        t->x = shape_copy(&r);
    }

    pl_statics_destroy(r.statics);
    pl_state_destroy(r.state);

    return NULL;
}

static void test_two_threads(void **state)
{
    (void)state;
    pl_robot *robot = bar_robot(PL_DRIVE_PRESSURE);
    const size_t bytes = 3 * (size_t)pl_mesh_get(pl_robot_mesh(robot)).vertex_count * sizeof(double);
    task both[2] = {{robot, {0.02, 2}, NULL, false}, {robot, {NAN, 3}, NULL, false}}, alone[2];
    memcpy(alone, both, sizeof both);
    pthread_t thread[2];
    pl_threads_set(2); // shared by both
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(pthread_create(&thread[i], NULL, task_run, &both[i]), 0);
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(thread[i], NULL);
    }
    pl_threads_set(1);
    for (int i = 0; i < 2; ++i) {
        task_run(&alone[i]);
        assert_true(both[i].solved && alone[i].solved);
        assert_memory_equal(both[i].x, alone[i].x, bytes);
        free(both[i].x);
        free(alone[i].x);
    }

    pl_robot_destroy(robot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_no_memory_while_solving),
        cmocka_unit_test(test_failing_memory), cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_warm_start),     cmocka_unit_test(test_moves_on_a_line),
        cmocka_unit_test(test_state_travels),  cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_two_threads),
    };
    pl_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
