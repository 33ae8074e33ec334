// A prestretched film on a frame has several equilibria. The one found is that which the path from rest leads
// to, whatever the increments it is cut into and whatever the voltage asked for.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "meshing_tools.h"
#include "document/document.h"
#include "pliant/pliant.h"
#include "statics/statics_impl.h"

static const char text[] =
    "pliant: 1\nname: film\nmesh:\n  design: {kind: dea_crawler, length: 80, width: 36, film: 0.4, frame: "
    "0.8}\n  size: %g\n  order: 2\nmaterials:\n"
    "  elastomer: {model: neo_hookean, c10: 0.03 MPa, poisson: 0.49}\n"
    "  plastic: {model: linear, young: 80 MPa, poisson: 0.4}\n"
    "regions:\n  film: {material: elastomer, rest_area: 0.75}\n"
    "  rim: {material: elastomer, rest_area: 0.75}\n  frame: plastic\nfixed:\n"
    "  - {name: rear, box: [[-0.01, -500, -0.001], [0.01, 500, 0.001]], axes: [x, z]}\n"
    "  - {name: front, box: [[79.99, -500, -0.001], [80.01, 500, 0.001]], axes: [z]}\n"
    "  - {name: sideways, box: [[-0.01, -18.01, -0.001], [0.01, -17.99, 0.001]], axes: [y]}\n"
    "actuators: [{name: voltage, kind: film, region: film, drive: voltage, thickness: 0.4, permittivity: "
    "4.7, "
    "range: [0, 9 kV]}]\nsurfaces: {front: {plane: {point: [80, 0, 0], normal: [1, 0, 0]}}}\n"
    "markers: {tip: {surface: front}}\n";

static pl_robot *film_load(double size)
{
    char path[] = "/tmp/pliant-film-XXXXXX";
    const int file = mkstemp(path);

    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    fprintf(out, text, size);
    assert_int_equal(fclose(out), 0);
    const pl_load_options load = {.mesher = pl_meshing_mesher(), .no_cache = true};
    pl_robot *robot = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_robot_load(path, &load, &robot, NULL, &err));
    unlink(path);

    return robot;
}

// The shape from rest at a voltage, with increments of at most `turn` (rad; 0: as usual); mm, all vertices.
static void film_solve(const pl_robot *robot, double voltage, double turn, pl_state *state)
{
    const pl_statics_options options = pl_statics_options_default();
    pl_statics *statics = NULL;
    pl_solve_report report;
    pl_error err = {0};

    PL_CHECK_OK(pl_statics_create(robot, &options, &statics, &err));
    if (turn > 0) {
        statics->path.turn = turn;
    }
    pl_state_reset(state, robot);
    PL_CHECK_OK(pl_statics_solve(statics, state, &voltage, &report, &err));
    print_message("%.0f V, increments of %g rad: %d increments, %d factorisations, %s\n", voltage, turn,
                  report.increments, report.factorizations, report.message);
    assert_int_equal(report.outcome, PL_SOLVED);
    pl_statics_destroy(statics);
}

// Largest distance between two shapes, mm.
static double film_apart(const pl_state *a, const pl_state *b)
{
    double most = 0;
    for (int32_t i = 0; i < 3 * pl_state_vertex_count(a); ++i) {
        most = fmax(most, fabs(pl_state_positions(a)[i] - pl_state_positions(b)[i]));
    }
    return most;
}

// Whatever the length of the increments.
static void test_cuts(void **unused)
{
    (void)unused;
    pl_robot *robot = film_load(9);
    pl_state *a = NULL, *b = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_state_create(robot, &a, &err));
    PL_CHECK_OK(pl_state_create(robot, &b, &err));
    film_solve(robot, 3500, 0.15, a);
    film_solve(robot, 3500, 0.25, b); // cut so, it went over a saddle and ended 22 mm away
    print_message("  %.1e mm apart\n", film_apart(a, b));
    PL_CHECK_BELOW(film_apart(a, b), 1e-5);

    // a little more voltage from rest, with increments as usual: a little farther
    film_solve(robot, 3530, 0, b);
    print_message("  %.1e mm apart\n", film_apart(a, b));
    PL_CHECK_BELOW(film_apart(a, b), 0.5);
    pl_state_destroy(a);
    pl_state_destroy(b);
    pl_robot_destroy(robot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
