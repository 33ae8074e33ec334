// Laws of the actuators: drives of one kind agree with each other, targets are met, gases obey their law,
// cables only pull, idle ones hold or let go.
#include "mirror_mesh.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.45};

// ---- a hollow box, clamped at x = 0: 5 x 3 x 3 cells of 4 mm, the middle three along x hollow

static pl_mesh *hollow_box(void)
{
    bool hole[45] = {false};
    for (int i = 1; i < 4; ++i) {
        hole[i + 5 * (1 + 3 * 1)] = true;
    }
    return tet_box(5, 3, 3, 20, 12, 12, 2, hole);
}

static rig hollow_rig(pl_drive drive, bool liquid, bool idle_hold)
{
    static plan p;
    pl_mesh *mesh = hollow_box();

    plan_init(&p, mesh, rubber);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 20);
    plan_cavity(&p, "cavity", 10, 6, 6);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    pl_actuator_def *air = plan_chamber(&p, "air", "cavity", drive);
    air->line_volume = 300;
    air->ambient = 0.1;
    air->liquid = liquid;
    air->idle_hold = idle_hold;
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);

    return r;
}

// Pressure to a volume, the volume to a pressure: the same shape both ways.
static void test_pressure_and_volume(void **state)
{
    (void)state;
    rig by_pressure = hollow_rig(PL_DRIVE_PRESSURE, false, false);
    const double pressure = 0.03;
    rig_solve(&by_pressure, &pressure);
    const pl_actuator_result air = pl_statics_actuator(by_pressure.statics, by_pressure.state, 0);
    PL_CHECK_NEAR(pl_robot_actuator(by_pressure.robot, 0).rest, 12 * 16, 1e-9);
    PL_CHECK_NEAR(air.effort, pressure, 0);
    assert_true(air.ratio > 1.1);
    const pl_drive drive[2] = {PL_DRIVE_VOLUME, PL_DRIVE_VOLUME_RATIO};
    for (int i = 0; i < 2; ++i) {
        rig by_volume = hollow_rig(drive[i], false, false);
        const double target = i == 0 ? air.measure : air.ratio;
        const pl_solve_report report = rig_solve(&by_volume, &target);
        const pl_actuator_result got = pl_statics_actuator(by_volume.statics, by_volume.state, 0);
        const double apart = shape_distance(&by_volume, rig_x(&by_pressure), rig_x(&by_volume));
        print_message("%s: ratio %.6f off by %.1e, pressure off by %.1e, shape by %.1e mm\n",
                      pl_drive_name(drive[i]), got.ratio, fabs(got.ratio / air.ratio - 1),
                      fabs(got.effort / pressure - 1), apart);
        PL_CHECK_NEAR(got.ratio / air.ratio, 1, 1e-9);
        PL_CHECK_NEAR(got.effort / pressure, 1, 1e-6);
        PL_CHECK_BELOW(apart, 1e-6);
        assert_int_equal(report.negative_count, 0);
        rig_clear(&by_volume);
    }

    rig_clear(&by_pressure);
}

// p = p_amb (V0 + VL + q) / (V + VL) - p_amb, and the body is in equilibrium with that very pressure.
static void test_syringe_gas(void **state)
{
    (void)state;
    rig gas = hollow_rig(PL_DRIVE_SYRINGE, false, false);
    rig plain = hollow_rig(PL_DRIVE_PRESSURE, false, false);
    const double V0 = pl_robot_actuator(gas.robot, 0).rest;
    const double pushed[] = {150, 60, -40, 0};
    for (int i = 0; i < 4; ++i) {
        rig_solve(&gas, &pushed[i]);
        const pl_actuator_result air = pl_statics_actuator(gas.statics, gas.state, 0);
        const double law = 0.1 * (V0 + 300 + pushed[i]) / (air.measure + 300) - 0.1;
        print_message("pushed %.0f mm^3: pressure %.6f MPa, law %.6f\n", pushed[i], air.effort, law);
        PL_CHECK_NEAR(air.effort, law, 1e-12);
        rig_solve(&plain, &air.effort);
        PL_CHECK_BELOW(shape_distance(&gas, rig_x(&gas), rig_x(&plain)), 1e-6);
    }

    PL_CHECK_BELOW(shape_distance(&gas, rig_x(&gas), rig_rest(&gas)), 1e-8);
    rig_clear(&gas);
    rig_clear(&plain);
}

// A liquid takes its own volume: V = V0 + q.
static void test_syringe_liquid(void **state)
{
    (void)state;
    rig r = hollow_rig(PL_DRIVE_SYRINGE, true, false);
    const double pushed = 60;
    rig_solve(&r, &pushed);
    const pl_actuator_result water = pl_statics_actuator(r.statics, r.state, 0);
    PL_CHECK_NEAR(water.measure, pl_robot_actuator(r.robot, 0).rest + pushed, 1e-9 * water.measure);
    assert_true(water.effort > 0);
    rig_clear(&r);
}

// Without a command a chamber is vented, or holds its rest volume against a load.
static void test_idle(void **state)
{
    (void)state;
    for (int hold = 0; hold < 2; ++hold) {
        static plan p;
        pl_mesh *mesh = hollow_box();
        plan_init(&p, mesh, rubber);
        plan_plane(&p, "base", 0, 0);
        plan_plane(&p, "tip", 0, 20);
        plan_cavity(&p, "cavity", 10, 6, 6);
        plan_hold(&p, "base", "xyz");
        plan_hold(&p, "tip", "x")->move[0] = -3;
        plan_chamber(&p, "air", "cavity", PL_DRIVE_PRESSURE)->idle_hold = hold;
        rig r = plan_build(&p, NULL);
        pl_mesh_destroy(mesh);
        const double idle = NAN, pressure = 0.02;
        for (int again = 0; again < 2; ++again) {
            rig_solve(&r, &idle);
            const pl_actuator_result air = pl_statics_actuator(r.statics, r.state, 0);
            print_message("idle, hold %d: ratio %.9f, pressure %.3g MPa\n", hold, air.ratio, air.effort);
            if (hold) {
                PL_CHECK_NEAR(air.ratio, 1, 1e-9);
                assert_true(air.effort > 1e-3);
            } else {
                assert_true(air.ratio < 0.95);
                PL_CHECK_NEAR(air.effort, 0, 0);
            }
            rig_solve(&r, &pressure);
        }
        rig_clear(&r);
    }
}

// Letting go brings the body back to rest, whatever drove it.
static void test_release(void **state)
{
    (void)state;
    const pl_drive drive[] = {PL_DRIVE_PRESSURE, PL_DRIVE_VOLUME_RATIO, PL_DRIVE_VOLUME, PL_DRIVE_SYRINGE};
    const double value[] = {0.03, 1.4, 250, 80}, idle = NAN;
    for (int i = 0; i < 4; ++i) {
        rig r = hollow_rig(drive[i], false, false);
        rig_solve(&r, &value[i]);
        assert_true(shape_distance(&r, rig_x(&r), rig_rest(&r)) > 0.1);
        rig_solve(&r, &idle);
        PL_CHECK_BELOW(shape_distance(&r, rig_x(&r), rig_rest(&r)), 1e-7);
        PL_CHECK_NEAR(pl_statics_actuator(r.statics, r.state, 0).effort, 0, 0);
        rig_clear(&r);
    }
}

// ---- a beam along x with cables above and below

static rig cable_rig(pl_drive drive, const pl_command_def *command)
{
    static const pl_guide_def up[] = {{.point = {0, 2, 4}}, {.point = {15, 2, 4}}, {.point = {30, 2, 4}}};
    static const pl_guide_def down[] = {{.point = {0, 2, 0}}, {.point = {15, 2, 0}}, {.point = {30, 2, 0}}};
    static plan p;
    pl_mesh *mesh = tet_box(12, 2, 2, 30, 4, 4, 2, NULL);

    plan_init(&p, mesh, rubber);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 30);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    plan_cable(&p, "up", up, 3, drive)->radius = 1.5;
    plan_cable(&p, "down", down, 3, drive)->radius = 1.5;
    for (int i = 0; command && command[i].name; ++i) {
        p.command[p.def.command_count++] = command[i];
    }
    p.sensor[p.def.sensor_count++] =
        (pl_sensor_def){.name = "cell", .kind = PL_SENSOR_TENSION, .actuator = "up"};

    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);

    return r;
}

// A load cell reads the tension of its cable, and its derivative is that of the tension.
static void test_load_cell(void **state)
{
    (void)state;
    rig r = cable_rig(PL_DRIVE_SHORTENING, NULL);
    const double command[2] = {1.5, 0};
    rig_solve(&r, command);

    const double tension = pl_statics_actuator(r.statics, r.state, 0).effort;
    assert_true(tension > 0.01);
    PL_CHECK_NEAR(pl_statics_sensor(r.statics, r.state, 0), tension, 0);

    double sensor[2], effort[4];
    const pl_parameter q[2] = {{.kind = PL_PARAMETER_COMMAND, .index = 0},
                               {.kind = PL_PARAMETER_COMMAND, .index = 1}};
    const pl_jacobian out = {.sensor = sensor, .effort = effort};
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, q, 2, &out, &report, &err));
    print_message("tension %.4g N, by the commands %.4g and %.4g N/mm\n", tension, sensor[0], sensor[1]);
    for (int j = 0; j < 2; ++j) {
        PL_CHECK_NEAR(sensor[j], effort[j], 0);
    }
    assert_true(sensor[0] > 0);
    rig_clear(&r);
}

// A taut cable meets its length; its tension, given as a command, gives the same shape.
static void test_cable(void **state)
{
    (void)state;
    rig by_length = cable_rig(PL_DRIVE_SHORTENING, NULL), by_tension = cable_rig(PL_DRIVE_TENSION, NULL);
    const double shorten[2] = {5, NAN};
    rig_solve(&by_length, shorten);
    const pl_actuator_result up = pl_statics_actuator(by_length.statics, by_length.state, 0);
    const pl_actuator_result down = pl_statics_actuator(by_length.statics, by_length.state, 1);
    PL_CHECK_NEAR(up.measure, pl_robot_actuator(by_length.robot, 0).rest - 5, 1e-9 * up.measure);
    assert_false(up.slack);
    assert_true(up.effort > 0);
    assert_true(down.slack);
    PL_CHECK_NEAR(down.effort, 0, 0);
    const double tension[2] = {up.effort, NAN};
    rig_solve(&by_tension, tension);
    const double apart = shape_distance(&by_length, rig_x(&by_length), rig_x(&by_tension));
    print_message("cable: tension %.6f N, shapes %.1e mm apart, tip at z %.3f\n", up.effort, apart,
                  pl_statics_marker(by_length.statics, by_length.state, 0).position[2]);
    PL_CHECK_BELOW(apart, 1e-6);
    rig_clear(&by_length);
    rig_clear(&by_tension);
}

// Two antagonists: each is taut at its target or slack below it, never both, never pushing.
static void test_complementarity(void **state)
{
    (void)state;
    rig r = cable_rig(PL_DRIVE_LENGTH_RATIO, NULL);
    const double command[][2] = {{0.85, 1}, {0.85, 1.1}, {0.9, 0.95}, {1.05, 0.85}, {1, 1}, {1.05, 1.05}};
    const double rest = pl_robot_actuator(r.robot, 0).rest;
    for (int i = 0; i < 6; ++i) {
        rig_solve(&r, command[i]);
        for (int k = 0; k < 2; ++k) {
            const pl_actuator_result cable = pl_statics_actuator(r.statics, r.state, k);
            const double room = command[i][k] * rest - cable.measure;
            print_message("%.2f %.2f cable %d: tension %.5f N, room %.3e mm%s\n", command[i][0],
                          command[i][1], k, cable.effort, room, cable.slack ? ", slack" : "");
            assert_true(cable.effort >= 0);
            assert_true(room >= -1e-9 * rest);
            assert_true(cable.effort < 1e-9 || fabs(room) <= 1e-9 * rest);
            if (room > 1e-6 * rest) {
                assert_true(cable.slack);
            }
        }
    }

    PL_CHECK_BELOW(shape_distance(&r, rig_x(&r), rig_rest(&r)), 1e-7);
    rig_clear(&r);
}

// One command drives both cables with its own factors.
static void test_shared_command(void **state)
{
    (void)state;
    static const pl_command_drive drives[] = {{"up", 2}, {"down", 0.5}};
    const pl_command_def command[2] = {{.name = "pull", .drive = drives, .drive_count = 2}};
    rig shared = cable_rig(PL_DRIVE_TENSION, command), apart = cable_rig(PL_DRIVE_TENSION, NULL);
    assert_int_equal(pl_robot_command_count(shared.robot), 1);
    const double one = 0.1, two[2] = {0.2, 0.05};
    rig_solve(&shared, &one);
    rig_solve(&apart, two);
    PL_CHECK_NEAR(pl_statics_actuator(shared.statics, shared.state, 0).effort, 0.2, 1e-15);
    PL_CHECK_NEAR(pl_statics_actuator(shared.statics, shared.state, 1).effort, 0.05, 1e-15);
    PL_CHECK_BELOW(shape_distance(&shared, rig_x(&shared), rig_x(&apart)), 1e-7);
    rig_clear(&shared);
    rig_clear(&apart);
}

// ---- films: a plate of 12 x 12 x 1 mm, held at one edge, its top a film

// A plate whose mesh is symmetric about its middle plane: an unsymmetric one bends by its own error (4e-3 mm
// at 12 kV).
static rig film_rig(pl_drive drive)
{
    static plan p;
    pl_mesh *mesh = mirror_mesh(tet_box(6, 6, 1, 12, 12, 0.5, 2, NULL), 2);

    plan_init(&p, mesh, rubber);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "top", 2, 0.5);
    plan_hold(&p, "base", "xyz");
    plan_film(&p, "film", "top", drive);
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);

    return r;
}

// The mean displacement out of the film's plane, mm.
static double film_bent(const rig *r)
{
    const pl_mesh_view v = pl_mesh_get(pl_robot_mesh(r->robot));
    const double *x = pl_state_positions(r->state);
    double bent = 0;

    for (int64_t i = 0; i < v.vertex_count; ++i) {
        bent += (x[3 * i + 2] - v.position[3 * i + 2]) / v.vertex_count;
    }
    print_message("mean displacement normal to the plane %.2e mm\n", bent);

    return fabs(bent);
}

static void test_film_area(void **state)
{
    (void)state;
    rig r = film_rig(PL_DRIVE_AREA_RATIO);
    PL_CHECK_NEAR(pl_robot_actuator(r.robot, 0).rest, 144, 1e-9);
    const double ratio[] = {1.06, 0.96};
    for (int i = 0; i < 2; ++i) {
        rig_solve(&r, &ratio[i]);
        const pl_actuator_result film = pl_statics_actuator(r.statics, r.state, 0);
        PL_CHECK_NEAR(film.ratio, ratio[i], 1e-9);
        assert_true((film.effort > 0) == (ratio[i] > 1));
        PL_CHECK_BELOW(film_bent(&r), 1e-6);
    }

    rig_clear(&r);
}

// Maxwell stress eps (U / t)^2, averaged over the film, with the thickness t of a film that keeps its volume:
// t = t0 A0 / A. The stress acts in the whole thickness, so the plate stays in its plane.
static void test_film_voltage(void **state)
{
    (void)state;
    rig r = film_rig(PL_DRIVE_VOLTAGE);
    const double U = 12000, eps = 3 * 8.8541878128e-12;
    rig_solve(&r, &U);
    const pl_actuator_result film = pl_statics_actuator(r.statics, r.state, 0);
    const double field = U * film.ratio / 1;
    print_message("film at %.0f V: area ratio %.5f, stress %.4g MPa\n", U, film.ratio, film.effort);
    assert_true(film.ratio > 1.005);
    PL_CHECK_NEAR(film.effort / (eps * field * field), 1, 1e-3);
    PL_CHECK_BELOW(film_bent(&r), 1e-6);
    rig_clear(&r);
}

// ---- an open cavity: a box with a pocket that opens at x = 20, closed by a flat cap over its rim

static void test_open_cavity(void **state)
{
    (void)state;
    static plan p;
    bool hole[45] = {false};
    for (int i = 1; i < 5; ++i) {
        hole[i + 5 * (1 + 3 * 1)] = true;
    }

    pl_mesh *mesh = tet_box(5, 3, 3, 20, 12, 12, 2, hole);
    plan_init(&p, mesh, rubber);
    plan_plane(&p, "base", 0, 0);
    plan_cavity(&p, "pocket", 10, 6, 6);
    plan_hold(&p, "base", "xyz");
    plan_chamber(&p, "air", "pocket", PL_DRIVE_VOLUME_RATIO);
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);
    const pl_actuator_info info = pl_robot_actuator(r.robot, 0);
    assert_int_equal(info.rim_count, 1);
    PL_CHECK_NEAR(info.rest, 16 * 16, 1e-9);
    const double ratio = 1.15;
    rig_solve(&r, &ratio);
    const pl_actuator_result air = pl_statics_actuator(r.statics, r.state, 0);
    PL_CHECK_NEAR(air.ratio, ratio, 1e-9);

    // the cap carries the pressure over to its rim: nothing is left for the clamp to hold
    pl_reaction reaction;
    assert_int_equal(pl_statics_reactions(r.statics, r.state, &reaction), PL_OK);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(reaction.force[i], 0, 1e-8 * air.effort * 16);
        PL_CHECK_NEAR(reaction.moment[i], 0, 1e-7 * air.effort * 16);
    }

    rig_clear(&r);
}

// A cavity cut along two symmetry planes is closed by them: its rest volume is that of the cell, and asking
// for it leaves the body at rest; a quarter and the whole swell alike.
static void test_quarter_cavity(void **state)
{
    (void)state;
    bool quarter_hole[12] = {false}, whole_hole[48] = {false};
    quarter_hole[4] = true; // the cell at x = y = 0 in the middle of z
    for (int j = 1; j < 3; ++j) {
        whole_hole[1 + 4 * (j + 4)] = whole_hole[2 + 4 * (j + 4)] = true;
    }

    const double command[2] = {1, 1.3};
    double tip[2], effort[2];
    for (int whole = 0; whole < 2; ++whole) {
        const int n = whole ? 4 : 2;
        const double size[3] = {n, n, 3};
        pl_mesh *linear = NULL, *mesh = NULL;
        pl_error err = {0};
        plan p;
        PL_CHECK_OK(box_mesh(n, n, 3, size, whole ? whole_hole : quarter_hole, NULL, &linear, &err));
        PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));
        plan_init(&p, mesh, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.2, .poisson = 0.45});
        plan_plane(&p, "base", 2, 0);
        plan_plane(&p, "top", 2, 3);
        plan_hold(&p, "base", "xyz");
        if (!whole) {
            plan_plane(&p, "left", 0, 0);
            plan_plane(&p, "front", 1, 0);
            plan_hold(&p, "left", "x");
            plan_hold(&p, "front", "y");
        }
        plan_cavity(&p, "cavity", whole ? 2.01 : 0.5, whole ? 2.02 : 0.5, 1.5);
        plan_chamber(&p, "air", "cavity", PL_DRIVE_VOLUME_RATIO);
        plan_marker(&p, "top", "top");
        rig r = plan_build(&p, NULL);
        PL_CHECK_NEAR(pl_robot_actuator(r.robot, 0).rest, whole ? 4 : 1, 1e-12);
        rig_solve(&r, &command[0]);
        PL_CHECK_BELOW(shape_distance(&r, rig_x(&r), rig_rest(&r)), 1e-12);
        rig_solve(&r, &command[1]);
        tip[whole] = pl_statics_marker(r.statics, r.state, 0).displacement[2];
        effort[whole] = pl_statics_actuator(r.statics, r.state, 0).effort;
        rig_clear(&r);
        pl_mesh_destroy(mesh);
        pl_mesh_destroy(linear);
    }

    // cells are cut into tets differently in three of the quarters
    print_message("quarter and whole: top moves %.4f and %.4f mm at %.4f and %.4f MPa\n", tip[0], tip[1],
                  effort[0], effort[1]);
    PL_CHECK_NEAR(tip[0], tip[1], 0.02 * tip[1]);
    PL_CHECK_NEAR(effort[0], effort[1], 0.02 * effort[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pressure_and_volume),
        cmocka_unit_test(test_syringe_gas),
        cmocka_unit_test(test_syringe_liquid),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_cable),
        cmocka_unit_test(test_complementarity),
        cmocka_unit_test(test_shared_command),
        cmocka_unit_test(test_film_area),
        cmocka_unit_test(test_film_voltage),
        cmocka_unit_test(test_load_cell),
        cmocka_unit_test(test_open_cavity),
        cmocka_unit_test(test_quarter_cavity),
    };
    pl_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
