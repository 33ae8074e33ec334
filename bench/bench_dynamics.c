// Motions in time: a viscous beam let go under gravity with fixed and automatic steps, and a finger that is
// filled in 50 ms; factorisations, solves, CPU and wall time of a step.
//
//   bench_dynamics [SIZES]     SIZES: 1 to 3 meshes of each body (default 2)
#include "bench.h"
#include "pliant/dynamics.h"

#define BENCH_BEAM                                                                                           \
    "pliant: 1\n"                                                                                            \
    "name: beam\n"                                                                                           \
    "mesh: {design: {kind: beam}, size: %g, order: 2}\n"                                                     \
    "materials:\n"                                                                                           \
    "  silicone: {model: neo_hookean, young: 0.264 MPa, poisson: 0.49, density: 1070 kg/m^3, prony: [{g: "   \
    "0.3, tau: 3 ms}, {g: 0.1, tau: 30 ms}, {g: 0.05, tau: 0.3 s}, {g: 0.03, tau: 2 s}]}\n"                  \
    "regions: {body: silicone}\n"                                                                            \
    "fixed: [{surface: base}]\n"                                                                             \
    "markers: {tip: {surface: tip}}\n"                                                                       \
    "loads: {gravity: [0, 0, -9.81 m/s^2]}\n"

#define BENCH_FILLED                                                                                         \
    "pliant: 1\n"                                                                                            \
    "name: finger\n"                                                                                         \
    "mesh: {design: {kind: bending_finger}, size: %g, order: 2}\n"                                           \
    "materials:\n"                                                                                           \
    "  silicone: {model: neo_hookean, c10: 0.12 MPa, poisson: 0.49, density: 1070 kg/m^3, prony: [{g: 0.1, " \
    "tau: 20 ms}]}\n"                                                                                        \
    "  fabric: {model: stvk, young: 30 MPa, poisson: 0.4, density: 1200 kg/m^3}\n"                           \
    "regions: {skin: silicone, layer: fabric}\n"                                                             \
    "fixed: [{surface: base}]\n"                                                                             \
    "actuators: [{name: air, kind: chamber, surface: cavity, drive: pressure}]\n"                            \
    "markers: {tip: {surface: tip}}\n"

static void fill_command(void *user, double t, double *command)
{
    (void)user;
    command[0] = 0.02 * fmin(1, t / 0.05);
}

static double fill_corner(void *user, double t)
{
    (void)user;
    return t < 0.05 - 1e-9 ? 0.05 : INFINITY;
}

static bool bench_motion(const char *name, pl_robot *robot, double step, double until,
                         const pl_signal *signal)
{
    pl_error err = {0};
    pl_dynamics *d = NULL;
    pl_state *state = NULL;
    pl_motion_report r;
    pl_dynamics_options options = pl_dynamics_options_default();

    options.step = step;
    bool ok = pl_dynamics_create(robot, &options, &d, &err) == PL_OK &&
              pl_state_create(robot, &state, &err) == PL_OK &&
              pl_dynamics_start(d, state, signal, &err) == PL_OK;
    const bench_clock start = bench_now();
    ok = ok && pl_dynamics_advance(d, until, NULL, NULL, &r, &err) == PL_OK;
    const bench_clock took = bench_since(start);
    if (ok) {
        printf("| %s | %s | %d | %d | %.3f | %.2f | %.1f | %.1f | %.2f | %s |\n", name,
               step > 0 ? "fixed" : "automatic", r.steps, r.rejected, (double)r.factorizations / r.steps,
               (double)r.solves / r.steps, 1e3 * took.cpu / r.steps, 1e3 * took.wall / r.steps,
               took.wall / r.time, pl_motion_outcome_name(r.outcome));
        fflush(stdout);
    } else {
        bench_failed(name, &err);
    }

    pl_state_destroy(state);
    pl_dynamics_destroy(d);

    return ok;
}

int main(int count, char **argument)
{
    static const double beam_size[3] = {20, 7.4, 4.6}, finger_size[3] = {7.5, 3.8, 3.2};
    const int sizes = count > 1 ? atoi(argument[1]) : 2;
    bool ok = true;

    bench_title("motions in time");
    printf("\n| motion | steps | count | rejected | factorisations a step | solves a step | CPU ms a step | "
           "wall ms a step "
           "| wall over simulated time | outcome |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | "
           "--- |\n");
    for (int k = 0; k < sizes && k < 3; ++k) {
        bench_robot b;
        char name[100];
        if (!bench_load(&b, BENCH_BEAM, beam_size[k])) {
            return 1;
        }
        const int elements = (int)pl_mesh_get(pl_robot_mesh(b.robot)).element_count;
        static const double step[4] = {0.005, 0.01, 0.02, 0};
        for (int i = 0; i < 4; ++i) {
            snprintf(name, sizeof name, "beam, %d tet10, %g ms", elements, 1e3 * step[i]);
            ok = bench_motion(name, b.robot, step[i], 0.4, NULL) && ok;
        }
        bench_close(&b);
    }

    for (int k = 0; k < sizes && k < 3; ++k) {
        bench_robot b;
        char name[100];
        if (!bench_load(&b, BENCH_FILLED, finger_size[k])) {
            return 1;
        }
        const pl_signal signal = {.command = fill_command, .corner = fill_corner};
        const int elements = (int)pl_mesh_get(pl_robot_mesh(b.robot)).element_count;
        static const double step[2] = {0.005, 0};
        for (int i = 0; i < 2; ++i) {
            snprintf(name, sizeof name, "finger, %d tet10, %g ms", elements, 1e3 * step[i]);
            ok = bench_motion(name, b.robot, step[i], 0.2, &signal) && ok;
        }
        bench_close(&b);
    }

    return ok ? 0 : 1;
}
