// Series of small moves: a move that took long is followed by one with a new factor, one that did not keeps
// the factor; and wherever factors were renewed, the series ends where a solve from rest does.
#include "statics_robot.h"
#include "statics/statics_impl.h"

static rig build(void)
{
    static plan p;
    static const pl_guide_def guide[3] = {{.point = {0, 4, 9}}, {.point = {20, 4, 9}}, {.point = {40, 4, 9}}};
    const pl_statics_options options = pl_statics_options_default();
    pl_mesh *mesh = tet_box(8, 2, 2, 40, 8, 10, 2, NULL);

    plan_init(&p, mesh, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49});
    plan_plane(&p, "base", 0, 0);
    plan_hold(&p, "base", "xyz");
    plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING);
    const rig r = plan_build(&p, &options);
    pl_mesh_destroy(mesh);

    return r;
}

static void test_renewal(void **state)
{
    (void)state;
    enum { MOVES = 14 };
    rig r = build(), rest = build();
    double command = 2;
    int renewed = 0, kept = 0;
    rig_solve(&r, &command);
    for (int i = 0; i < MOVES; ++i) {
        const statics_moves before = r.statics->moves;
        const bool known =
            before.count > 0 && before.version == r.statics->problem->linear.version && before.predicted;
        const double limit = statics_moves_limit(r.statics);
        command += i < MOVES / 2 ? 0.6 : 1e-4; // moves of some size, then tiny ones
        const pl_solve_report report = rig_solve(&r, &command);
        print_message("move %2d: %d factorisations, %d solves%s\n", i, report.factorizations, report.solves,
                      known && before.last > limit ? ", a new factor is due" : "");
        if (known && before.last > limit) {
            assert_int_equal(report.factorizations, 1);
            // beside those of the move, those that look for the softest mode of the new factor
            assert_in_range(report.solves - (int)r.statics->moves.fresh, 0, 2);
            renewed++;
        } else if (known) {
            kept += report.factorizations == 0;
        }
        assert_true(i <= MOVES / 2 + 1 || report.factorizations == 0); // tiny moves need none
    }

    assert_true(renewed > 0 && kept > MOVES / 2);
    rig_solve(&rest, &command);
    const double apart = shape_distance(&r, rig_x(&r), rig_x(&rest));
    print_message("the series ends %.1e mm from the solve from rest\n", apart);
    PL_CHECK_BELOW(apart, 2e-5);
    rig_clear(&r);
    rig_clear(&rest);
}

// Up and back again in the same steps: each shape on the return is known, so it takes no factor and hardly
// a solve, and it is the shape of the ascent.
static void test_back(void **state)
{
    (void)state;
    enum { MOVES = 4 };
    rig r = build();
    double *seen[MOVES + 1], command = 2;
    for (int i = 0; i <= MOVES; ++i) {
        command = 2 + 0.2 * i;
        rig_solve(&r, &command);
        seen[i] = malloc(pl_problem_full_bytes(r.statics->problem));
        memcpy(seen[i], rig_x(&r), pl_problem_full_bytes(r.statics->problem));
    }

    for (int i = MOVES - 1; i >= 0; --i) {
        command = 2 + 0.2 * i;
        const pl_solve_report report = rig_solve(&r, &command);
        const double apart = shape_distance(&r, rig_x(&r), seen[i]);
        print_message("back at %.1f: %d factorisations, %d solves, %.1e mm apart\n", command,
                      report.factorizations, report.solves, apart);
        assert_int_equal(report.factorizations, 0);
        assert_in_range(report.solves, 0, 4); // of them two look for the softest mode once
        PL_CHECK_BELOW(apart, 2e-5);
    }

    for (int i = 0; i <= MOVES; ++i) {
        free(seen[i]);
    }
    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_renewal), cmocka_unit_test(test_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
