// Compliance, controllers, plants and the margin of the loop.
#include <stdlib.h>
#include "pliant/control.h"
#include "control/control.h"
#include "model/model.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.45};
static const pl_guide_def top[] = {{.point = {0, 3, 6}}, {.point = {20, 3, 6}}, {.point = {40, 3, 6}}};
static const pl_guide_def left[] = {{.point = {0, 6, 3}}, {.point = {20, 6, 3}}, {.point = {40, 6, 3}}};
static const pl_guide_def string[] = {{.point = {0, 0, 3}}, {.point = {40, 0, 3}}};

// A bar of 40 x 6 x 6 mm with two tendons, a string sensor and a marker at the tip.
static void bar_plan(plan *p, const pl_mesh *mesh, pl_drive drive)
{
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 40);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
    plan_cable(p, "up", top, 3, drive)->radius = 2;
    plan_cable(p, "left", left, 3, drive)->radius = 2;
    p->sensor[p->def.sensor_count++] = (pl_sensor_def){
        .name = "string", .kind = PL_SENSOR_LENGTH, .guide = string, .guide_count = 2, .radius = 2};
}

static pl_model *bar_model(plan *p, pl_robot **robot)
{
    const pl_statics_options options = tight_options();
    pl_error err = {0};
    pl_model *model = NULL;
    *robot = plan_robot(p);
    PL_CHECK_OK(pl_model_from_robot(*robot, &options, &model, &err));
    return model;
}

#define ROWS 6
#define COLUMNS 5

// The same equilibrium held by lengths and by tensions has the same compliance; it is symmetric and positive.
static void test_compliance(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(6, 2, 2, 40, 6, 6, 2, NULL);
    pl_robot *robot[2];
    pl_model *model[2];
    double W[2][ROWS * COLUMNS], tension[2];
    pl_error err = {0};
    for (int k = 0; k < 2; ++k) {
        bar_plan(&p, mesh, k == 0 ? PL_DRIVE_SHORTENING : PL_DRIVE_TENSION);
        model[k] = bar_model(&p, &robot[k]);
        const double pulled[2] = {1.2, 0.5};
        pl_solve_report solve;
        pl_jacobian_report report;
        PL_CHECK_OK(pl_model_fk(model[k], k == 0 ? pulled : tension, &solve, &err));
        assert_int_equal(solve.outcome, PL_SOLVED);
        memcpy(tension, pl_model_get_answer(model[k]).effort, sizeof tension);
        assert_int_equal(pl_compliance_rows(model[k]), ROWS);
        assert_int_equal(pl_compliance_columns(model[k]), COLUMNS);
        PL_CHECK_OK(pl_compliance(model[k], W[k], &report, &err));
    }

    double apart = 0, largest = 0, asymmetry = 0;
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < COLUMNS; ++j) {
            largest = fmax(largest, fabs(W[0][i * COLUMNS + j]));
            apart = fmax(apart, fabs(W[0][i * COLUMNS + j] - W[1][i * COLUMNS + j]));
            if (i < COLUMNS) {
                asymmetry = fmax(asymmetry, fabs(W[0][i * COLUMNS + j] - W[0][j * COLUMNS + i]));
            }
        }
        assert_true(i >= COLUMNS || W[0][i * COLUMNS + i] > 0);
    }

    print_message("compliance up to %.3g: held and free %.1e apart, asymmetry %.1e\n", largest,
                  apart / largest, asymmetry / largest);
    PL_CHECK_NEAR(apart / largest, 0, 1e-6);
    PL_CHECK_NEAR(asymmetry / largest, 0, 1e-9);
    for (int k = 0; k < 2; ++k) {
        pl_model_destroy(model[k]);
        pl_robot_destroy(robot[k]);
    }

    pl_mesh_destroy(mesh);
}

// The published gains: the bound of the norm is the smallest error that makes a sampled loop unstable, and a
// Lyapunov matrix proves the loop up to it.
static void test_margin(void **state)
{
    (void)state;
    pl_margin m;
    pl_error err = {0};
    PL_CHECK_OK(pl_margin_compute(0.14, 0.0003, 20000, 3, &m, &err));
    double M, least;
    pl_margin_verify(0.14, 0.0003, m.proven, m.P, &M, &least);
    print_message("gamma by norm %.6f at %.4f rad, sampled %.6f, proven %.6f (M %.1e, P %.1e)\n", m.gamma,
                  m.frequency, m.sampled, m.proven, M, least);
    assert_true(m.stable);
    PL_CHECK_NEAR(m.gamma, 0.987, 0.002);
    assert_true(m.sampled >= m.gamma - 1e-9);
    PL_CHECK_NEAR(m.sampled, m.gamma, 1e-3);
    assert_true(m.proven > 0.99 * m.gamma && m.proven < m.gamma);

    // a matrix proves nothing beyond the bound
    pl_margin_verify(0.14, 0.0003, 1.01 * m.gamma, m.P, &M, &least);
    assert_true(M > 0);

    // only proportional: |w| < 1 exactly while kp <= 1
    PL_CHECK_OK(pl_margin_compute(0.5, 0, 0, 3, &m, &err));
    PL_CHECK_NEAR(m.gamma, 1, 1e-9);
    PL_CHECK_OK(pl_margin_compute(2.5, 0.1, 0, 3, &m, &err));
    assert_false(m.stable);
    assert_int_equal(pl_margin_compute(NAN, 0, 0, 3, &m, &err), PL_BAD_INPUT);
}

// The recursion of Schur and Cohn agrees with the loop itself, run for long from a disturbance, over gains,
// delays and lags; without delay and lag the bound on the Jacobian's error is that of the published loop.
static void test_response(void **state)
{
    (void)state;
    pl_error err = {0};
    pl_response r;
    int unstable = 0, cases = 0;
    uint64_t seed = 5;
    for (; cases < 300; ++cases) {
        double u[4];
        for (int i = 0; i < 4; ++i) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            u[i] = (double)(seed >> 11) * 0x1p-53;
        }
        const double kp = 1.5 * u[0], ki = u[1] < 0.3 ? 0 : 0.2 * u[1] * kp, lag = u[3] < 0.3 ? 0 : 6 * u[3];
        const int delay = (int)(8 * u[2]);
        PL_CHECK_OK(pl_response_compute(kp, ki, delay, lag, &r, &err));
        double queue[16] = {0}, c = 1, h = 0, a = 0, early = 0, late = 0;
        const double f = lag > 0 ? 1 - exp(-1 / lag) : 1;
        for (int k = 0; k < 20000 && late < 1e9; ++k) {
            queue[k % (delay + 1)] = c;
            a += f * (queue[(k + 1) % (delay + 1)] - a);
            c += -kp * a + ki * h;
            h -= a;
            early = k < 2000 ? fmax(early, fabs(a)) : early;
            late = k < 2000 ? 0 : fmax(late, k > 18000 || fabs(a) > 1e6 * early ? fabs(a) : 0);
        }
        const bool grows = late > 0.5 * early;
        if (grows == r.stable) {
            print_error("kp %g ki %g delay %d lag %g: %s, but late %g early %g\n", kp, ki, delay, lag,
                        r.stable ? "stable" : "unstable", late, early);
        }
        assert_int_equal(grows, !r.stable);
        unstable += !r.stable;
    }

    print_message("%d loops, %d of them unstable\n", cases, unstable);
    assert_true(unstable > 30 && unstable < 270);
    pl_margin m;
    PL_CHECK_OK(pl_margin_compute(0.14, 0.0003, 0, 1, &m, &err));
    PL_CHECK_OK(pl_response_compute(0.14, 0.0003, 0, 0, &r, &err));
    PL_CHECK_NEAR(r.gamma, m.gamma, 1e-4);
    assert_true(r.damped && r.overshoot < 0.05);

    // a delay that makes the loop swing
    PL_CHECK_OK(pl_response_compute(0.5, 0.0003, 2, 1, &r, &err));
    print_message("kp 0.5, delay 2, lag 1: overshoot %.0f %%, sensitivity %.1f\n", 100 * r.overshoot,
                  r.sensitivity);
    assert_true(r.stable && !r.damped && r.overshoot > 0.5);
}

static int allocations; // while the hook is set
static void *counting_realloc(void *user, void *block, size_t bytes)
{
    (void)user;
    ++allocations;
    if (bytes == 0) {
        free(block);
        return NULL;
    }

    return realloc(block, bytes);
}

// A linear plant y = J c that differs from the model's J: the PI loop settles at the set point, limits and
// rates hold at every tick, and after a set point that cannot be reached the integral has not wound up.
static void test_pi_loop(void **state)
{
    (void)state;
    const double J[6] = {1, 0.2, -0.3, 0.9, 0.1, 0.5}; // 3 outputs, 2 commands; the model
    const double real[6] = {1.3, 0.1, -0.2, 0.7, 0.2, 0.6};
    const double low[2] = {0, 0}, high[2] = {10, 10}, rate[2] = {5, 5};
    pl_controller_options o = pl_controller_options_default();
    o.command_count = 2;
    o.output_count = 3;
    o.low = low;
    o.high = high;
    o.rate = rate;
    pl_controller *c = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_controller_create(&o, &c, &err));
    double command[2] = {0}, y[3], set[3];
    const double goal[2] = {4, 6};
    double worst_rate = 0, error = INFINITY;
    int settled = -1;
    for (int tick = 0; tick < 1500; ++tick) {
        // the middle part asks for what the ranges do not allow
        const double factor = tick >= 500 && tick < 1000 ? 4 : 1;
        error = 0;
        for (int i = 0; i < 3; ++i) {
            y[i] = real[2 * i] * command[0] + real[2 * i + 1] * command[1];
            set[i] = factor * (real[2 * i] * goal[0] + real[2 * i + 1] * goal[1]);
            error = fmax(error, fabs(set[i] - y[i]));
        }
        if (tick >= 1000 && settled < 0 && error < 0.02) {
            settled = tick - 1000;
        }
        const double before[2] = {command[0], command[1]};
        pl_control_report report;
        const pl_control_input in = {.set_point = set, .measured = y, .jacobian = J};
        pl_memory_set(counting_realloc, NULL);
        pl_controller_tick(c, &in, command, &report);
        pl_memory_set(NULL, NULL);
        assert_int_equal(allocations, 0);
        assert_false(report.held);
        for (int j = 0; j < 2; ++j) {
            assert_true(command[j] >= low[j] && command[j] <= high[j]);
            worst_rate = fmax(worst_rate, fabs(command[j] - before[j]) / o.period);
        }
    }

    print_message(
        "error at the end %.1e, settled %d ticks after the unreachable set point, fastest %.3f per s\n",
        error, settled, worst_rate);
    assert_true(error < 0.02);
    assert_true(settled >= 0 && settled < 120);
    assert_true(worst_rate <= 5 + 1e-9);

    // a reading that is no number: the command is kept, and the reason is reported
    y[1] = NAN;
    const double kept[2] = {command[0], command[1]};
    pl_control_report report;
    const pl_control_input in = {.set_point = set, .measured = y, .jacobian = J};
    pl_controller_tick(c, &in, command, &report);
    assert_true(report.held && report.why);
    PL_CHECK_NEAR(command[0], kept[0], 0);
    PL_CHECK_NEAR(command[1], kept[1], 0);
    pl_controller_destroy(c);
    o.kp = -1;
    assert_int_equal(pl_controller_create(&o, &c, &err), PL_BAD_INPUT);
    assert_null(c);
}

// Impedance on a body of known compliance C: under a force f the marker yields by f / K.
static void test_impedance(void **state)
{
    (void)state;
    const double J[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, C[9] = {0.5, 0, 0, 0, 0.4, 0, 0, 0, 0.3};
    const double low[3] = {-10, -10, -10}, high[3] = {10, 10, 10}, force[3] = {1, -2, 0.5},
                 rest[3] = {1, 1, 1};
    pl_controller_options o = pl_controller_options_default();
    o.kind = PL_CONTROL_IMPEDANCE;
    o.command_count = o.output_count = 3;
    o.low = low;
    o.high = high;
    o.stiffness[0] = 5;
    o.stiffness[1] = 0.5;
    o.stiffness[2] = 2;
    pl_controller *c = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_controller_create(&o, &c, &err));
    double command[3] = {0}, at[3] = {0};
    for (int tick = 0; tick < 100; ++tick) {
        double free[3]; // where the marker would be without the force: what the model tells
        for (int i = 0; i < 3; ++i) {
            free[i] = J[4 * i] * command[i];
            at[i] = free[i] + C[4 * i] * force[i];
        }
        pl_control_report report;
        const pl_control_input in = {
            .set_point = rest, .measured = free, .jacobian = J, .compliance = C, .force = force};
        pl_controller_tick(c, &in, command, &report);
    }

    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(at[i] - rest[i], force[i] / o.stiffness[i], 1e-4);
    }
    pl_controller_destroy(c);
}

// Two commands, one output: with the energy term the output is shared so that c . M c is least. Without
// limits the step is d = argmin (J d - u)^2 / s^2 + energy (c + d) . M (c + d); as energy goes to 0 the
// commands go to M^-1 J^T / (J M^-1 J^T) times the output.
static void test_energy(void **state)
{
    (void)state;
    const double J[2] = {1, 1}, M[4] = {4, 0, 0, 1}, low[2] = {-10, -10}, high[2] = {10, 10};
    const double set = 5;
    pl_controller_options o = pl_controller_options_default();
    o.kind = PL_CONTROL_TRACK;
    o.gain = 1;
    o.energy = 1e-6;
    o.damping = 1e-6;
    o.command_count = 2;
    o.output_count = 1;
    o.low = low;
    o.high = high;
    pl_controller *c = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_controller_create(&o, &c, &err));
    double command[2] = {0};
    for (int tick = 0; tick < 5; ++tick) {
        const double y = command[0] + command[1];
        pl_control_report report;
        const pl_control_input in = {.set_point = &set, .measured = &y, .jacobian = J, .energy_metric = M};
        pl_controller_tick(c, &in, command, &report);
    }

    PL_CHECK_NEAR(command[0], 1, 1e-4); // (1/4, 1) / (1/4 + 1) times 5
    PL_CHECK_NEAR(command[1], 4, 1e-4);
    pl_controller_destroy(c);
}

// Delay, lag, dead zone, resolution and payload of a plant.
static void test_plant(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(4, 1, 1, 40, 6, 6, 2, NULL);
    bar_plan(&p, mesh, PL_DRIVE_SHORTENING);
    pl_robot *robot;
    pl_model *model = bar_model(&p, &robot);
    const double dead[2] = {0.05, 0.05}, step[1] = {0.1};
    pl_plant_options o = pl_plant_options_default();
    o.delay = 0.3;
    o.lag = 0.2;
    o.dead_zone = dead;
    o.resolution = step;
    o.payload_marker = 0;
    o.payload[2] = -0.01;
    o.payload_from = 4;
    pl_plant *plant = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_plant_create(model, &o, &plant, &err));
    const double pulled[2] = {1, 0}, nudged[2] = {1.03, 0};
    double before = 0, loaded = 0;
    for (int tick = 1; tick <= 60; ++tick) {
        pl_plant_reading r;
        PL_CHECK_OK(pl_plant_step(plant, tick > 30 ? nudged : pulled, &r, &err));
        PL_CHECK_NEAR(r.time, 0.1 * tick, 1e-12);
        // delay of three ticks, then 1 - exp(-t / lag); the small change later stays within the dead zone
        const double expected = tick <= 3 ? 0 : 1 - exp(-0.1 * (tick - 3) / 0.2);
        PL_CHECK_NEAR(r.command[0], expected, 1e-12);
        PL_CHECK_NEAR(r.sensor[0] / 0.1, nearbyint(r.truth[0] / 0.1), 1e-9);
        assert_true(r.solved);
        before = tick == 39 ? r.marker[2] : before;
        loaded = r.marker[2];
    }

    print_message("payload lowers the tip by %.3f mm\n", before - loaded);
    assert_true(before - loaded > 0.5);
    pl_plant_destroy(plant);

    // 4 readings per second at 10 steps per second, missing from 1 s, frozen from 2 s on
    const double rate = 4;
    const pl_plant_fault fault[] = {{PL_FAULT_MISSING, 0, 0.95, 1.95, 0},
                                    {PL_FAULT_FROZEN, 0, 2.45, INFINITY, 0}};
    pl_plant_options few = pl_plant_options_default();
    few.rate = &rate;
    few.fault = fault;
    few.fault_count = 2;
    PL_CHECK_OK(pl_plant_create(model, &few, &plant, &err));
    int readings = 0, during = 0;
    double frozen = NAN;
    for (int tick = 1; tick <= 30; ++tick) {
        const double move[2] = {0.02 * tick, 0};
        pl_plant_reading r;
        PL_CHECK_OK(pl_plant_step(plant, move, &r, &err));
        readings += tick < 10 && isfinite(r.sensor[0]);
        during += tick >= 10 && tick < 20 && isfinite(r.sensor[0]);
        frozen = tick == 24 ? r.sensor[0] : frozen;
        assert_true(tick <= 24 || r.sensor[0] == frozen || (isnan(frozen) && isnan(r.sensor[0])));
    }

    assert_int_equal(readings, 3); // at 0.25, 0.5 and 0.75 s: in steps 3, 5 and 8
    assert_int_equal(during, 0);
    pl_plant_destroy(plant);
    o.delay = -1;
    assert_int_equal(pl_plant_create(model, &o, &plant, &err), PL_BAD_INPUT);
    pl_model_destroy(model);
    pl_robot_destroy(robot);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compliance), cmocka_unit_test(test_margin),
                                       cmocka_unit_test(test_response),   cmocka_unit_test(test_pi_loop),
                                       cmocka_unit_test(test_impedance),  cmocka_unit_test(test_energy),
                                       cmocka_unit_test(test_plant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
