// Progressive remeshing of a chamber that grows: the volume asked for is reached far beyond what one mesh of
// the chamber allows, the wall is where a volume constraint puts it, and the body's rest shape stays.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "meshing_tools.h"
#include "document/document.h"
#include "pliant/pliant.h"
#include "geometric/geometric.h"

static const char text[] =
    "pliant: 1\nname: box\nmesh:\n  design: {kind: pillows, side: 20, height: 12, across: 1, wall: 5, roof: "
    "4, "
    "floor: 4}\n  size: 5\n  order: 1\n  fill: true\nmaterials:\n"
    "  rubber: {model: neo_hookean, c10: 0.05 MPa, poisson: 0.45}\nregions: {plate: rubber}\n"
    "fixed: [{surface: base}]\n"
    "actuators: [{name: air, kind: chamber, surface: chamber1, drive: volume_ratio, range: [1, 200]}]\n";

static pl_robot *box_load(void)
{
    char path[] = "/tmp/pliant-ball-XXXXXX";
    const int file = mkstemp(path);

    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
    const pl_load_options load = {.mesher = pl_meshing_mesher(), .no_cache = true, .fill = true};
    pl_robot *robot = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_robot_load(path, &load, &robot, NULL, &err));
    unlink(path);

    return robot;
}

// Half of the diagonal of the box around a shape, mm.
static double shape_radius(const pl_state *state)
{
    const double *x = pl_state_positions(state);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};

    for (int32_t v = 0; v < pl_state_vertex_count(state); ++v) {
        for (int i = 0; i < 3; ++i) {
            low[i] = fmin(low[i], x[3 * v + i]);
            high[i] = fmax(high[i], x[3 * v + i]);
        }
    }

    return 0.5 * sqrt(pow(high[0] - low[0], 2) + pow(high[1] - low[1], 2) + pow(high[2] - low[2], 2));
}

static pl_solve_report solve(pl_geometric *g, pl_state *state, double ratio)
{
    pl_solve_report report;
    pl_error err = {0};

    PL_CHECK_OK(pl_geometric_solve(g, state, &ratio, &report, &err));
    const pl_geometric_info info = pl_geometric_get_info(g);
    print_message("ratio %g: reached %.5f, radius %.4f mm, %d meshes (%d tets), smallest J %.3f: %s\n", ratio,
                  pl_geometric_actuator(g, 0).ratio, shape_radius(state), info.remeshes,
                  info.remeshed_elements, report.min_J, report.message);
    assert_int_equal(report.outcome, PL_SOLVED);

    return report;
}

static void test_growth_far(void **state_unused)
{
    (void)state_unused;
    pl_error err = {0};
    pl_robot *robot = box_load();
    pl_state *grown = NULL, *forced = NULL, *again = NULL;
    PL_CHECK_OK(pl_state_create(robot, &grown, &err));
    PL_CHECK_OK(pl_state_create(robot, &forced, &err));
    PL_CHECK_OK(pl_state_create(robot, &again, &err));
    pl_geometric_options o = pl_geometric_options_default();
    o.length_tolerance = 1e-4;
    o.actuation = PL_ACTUATE_GROWTH;
    o.remesh = true;
    o.mesher = pl_meshing_mesher();
    pl_geometric *growth = NULL, *constraint = NULL;
    PL_CHECK_OK(pl_geometric_create(robot, &o, &growth, &err));
    o.actuation = PL_ACTUATE_CONSTRAINT;
    PL_CHECK_OK(pl_geometric_create(robot, &o, &constraint, &err));
    const double rest = shape_radius(grown);

    solve(growth, grown, 12);
    solve(constraint, forced, 12);
    assert_true(pl_geometric_get_info(growth).remeshes >= 1);
    PL_CHECK_NEAR(pl_geometric_actuator(growth, 0).ratio, 12, 0.012);

    // the new tets grow from the shape they were found in: by about 3, not by 12
    print_message("local ratios up to %.3f\n", pl_geometric_actuator(growth, 0).local_high);
    PL_CHECK_BELOW(pl_geometric_actuator(growth, 0).local_high, 5);
    PL_CHECK_NEAR(shape_radius(grown), shape_radius(forced), 0.02 * shape_radius(forced));

    // back at its volume it is as drawn; and the answer does not depend on what was solved before
    solve(growth, grown, 1);
    PL_CHECK_NEAR(shape_radius(grown), rest, 1e-3);
    solve(growth, again, 5);
    solve(growth, grown, 12);
    solve(growth, grown, 5);
    PL_CHECK_NEAR(shape_radius(grown), shape_radius(again), 1e-9);
    pl_geometric_destroy(growth);
    pl_geometric_destroy(constraint);
    pl_state_destroy(grown);
    pl_state_destroy(forced);
    pl_state_destroy(again);
    pl_robot_destroy(robot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth_far)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
