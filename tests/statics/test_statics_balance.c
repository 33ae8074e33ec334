// Balance: supports exert what the loads ask for, force and moment; closed pressures ask for nothing; rigid
// regions stay rigid and pass forces on.
#include "statics_robot.h"

static const pl_material heavy = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47, .density = 1.07e-9};

static pl_reaction reaction_sum(rig *r)
{
    pl_reaction each[8], sum = {{0}, {0}};
    assert_true(pl_robot_fixed_count(r->robot) <= 8);
    assert_int_equal(pl_statics_reactions(r->statics, r->state, each), PL_OK);
    for (int k = 0; k < pl_robot_fixed_count(r->robot); ++k) {
        for (int i = 0; i < 3; ++i) {
            sum.force[i] += each[k].force[i];
            sum.moment[i] += each[k].moment[i];
        }
    }

    return sum;
}

static void cross(const double *a, const double *b, double *out)
{
    for (int i = 0; i < 3; ++i) {
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    }
}

static void check_vector(const double *got, const double *want, double tolerance)
{
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(got[i], want[i], tolerance);
    }
}

// A free end pulled and twisted: force and moment about the origin, on the bent shape.
static void test_forces_and_moments(void **state)
{
    (void)state;
    static plan p;
    const double F[3] = {0.01, 0.02, -0.03}, M[3] = {0.05, 0.1, 0.08};
    pl_mesh *mesh = tet_box(8, 2, 2, 24, 5, 5, 2, NULL);
    plan_init(&p, mesh, heavy);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 24);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.marker[p.def.marker_count++] = (pl_marker_def){.name = "side", .at = {10, 5, 2}, .radius = 2};
    p.force[0] = (pl_force_def){.marker = "tip", .force = {F[0], F[1], F[2]}};
    p.force[1] = (pl_force_def){.marker = "side", .force = {0, 0.01, 0}, .moment = {M[0], M[1], M[2]}};
    p.def.force_count = 2;
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);
    rig_solve(&r, NULL);
    const pl_reaction got = reaction_sum(&r);
    const double side[3] = {0, 0.01, 0};
    double want[3], moment[3], a[3], b[3];
    cross(pl_statics_marker(r.statics, r.state, 0).position, F, a);
    cross(pl_statics_marker(r.statics, r.state, 1).position, side, b);

    // a moment about a fixed axis turns with the patch: only its share along the axis is given, the rest
    // follows from the potential, so the sum is checked along the axis
    double along_got = 0, along_want = 0;
    for (int i = 0; i < 3; ++i) {
        want[i] = -F[i] - side[i];
        moment[i] = -a[i] - b[i];
        along_got += M[i] * got.moment[i];
        along_want += M[i] * (moment[i] - M[i]);
    }

    print_message("reaction %.9f %.9f %.9f N, moment along the axis %.3e of %.3e\n", got.force[0],
                  got.force[1], got.force[2], along_got, along_want);
    check_vector(got.force, want, 1e-9);
    PL_CHECK_NEAR(along_got, along_want, 1e-8);
    rig_clear(&r);
}

// Weight: the reaction is the weight, its moment that of the centre of mass.
static void test_weight(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(8, 2, 2, 24, 5, 5, 2, NULL);
    plan_init(&p, mesh, heavy);
    plan_plane(&p, "base", 0, 0);
    plan_hold(&p, "base", "xyz");
    p.def.gravity[0] = 2000;
    p.def.gravity[2] = -9810;
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);
    rig_solve(&r, NULL);
    const pl_reaction got = reaction_sum(&r);
    const double mass = heavy.density * 600, want[3] = {-2000 * mass, 0, 9810 * mass};
    check_vector(got.force, want, 1e-9 * mass * 1e4);

    // no other moment than that of a single force: M . F = 0
    const double skew =
        got.moment[0] * got.force[0] + got.moment[1] * got.force[1] + got.moment[2] * got.force[2];
    PL_CHECK_NEAR(skew / (mass * mass * 1e8 * 24), 0, 1e-9);
    rig_clear(&r);
}

// A pressure in a closed cavity pushes the body nowhere, given as a drive or as a load.
static void test_closed_pressure(void **state)
{
    (void)state;
    for (int load = 0; load < 2; ++load) {
        static plan p;
        bool hole[45] = {false};
        hole[2 + 5 * (1 + 3 * 1)] = hole[3 + 5 * (1 + 3 * 1)] = true;
        pl_mesh *mesh = tet_box(5, 3, 3, 20, 12, 9, 2, hole);
        plan_init(&p, mesh, heavy);
        plan_plane(&p, "base", 0, 0);
        plan_cavity(&p, "cavity", 10, 6, 4.5);
        plan_hold(&p, "base", "xyz");
        if (load) {
            p.pressure[p.def.pressure_count++] =
                (pl_surface_pressure_def){.surface = "cavity", .pressure = 0.03};
        } else {
            plan_chamber(&p, "air", "cavity", PL_DRIVE_PRESSURE);
        }
        rig r = plan_build(&p, NULL);
        pl_mesh_destroy(mesh);
        const double pressure = 0.03, zero[3] = {0};
        rig_solve(&r, &pressure);
        const pl_reaction got = reaction_sum(&r);
        print_message("closed pressure: reaction %.1e N\n", fabs(got.force[0]) + fabs(got.force[2]));
        assert_true(shape_distance(&r, rig_x(&r), rig_rest(&r)) > 0.1);
        check_vector(got.force, zero, 1e-9);
        check_vector(got.moment, zero, 1e-8);
        rig_clear(&r);
    }
}

// The check sees what the solve left, and sees a shape that is no equilibrium.
static void test_independent_check(void **state)
{
    (void)state;
    static plan p;
    pl_error err = {0};
    pl_mesh *mesh = tet_box(6, 2, 2, 18, 5, 5, 2, NULL);
    plan_init(&p, mesh, heavy);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 18);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {0, 0, -0.05}};
    pl_statics_options options = pl_statics_options_default();
    rig r = plan_build(&p, &options);
    pl_mesh_destroy(mesh);
    const pl_solve_report report = rig_solve(&r, NULL);
    double residual, largest;
    bool inverted;
    PL_CHECK_OK(pl_statics_check(r.statics, r.state, &residual, &largest, &inverted, &err));
    print_message("residual %.2e N reported, %.2e N checked, largest force %.2e N\n", report.residual,
                  residual, largest);
    PL_CHECK_BELOW(report.residual_relative, 1e-6);
    PL_CHECK_NEAR(residual, report.residual, 1e-3 * report.residual + 1e-12 * largest);

    // one vertex off by a tenth of a millimetre
    const size_t size = pl_state_pack(r.state, NULL, 0);
    double *block = malloc(size * sizeof *block);
    pl_state_pack(r.state, block, size);
    const double *x = rig_x(&r);
    size_t at = 0;
    const int32_t v = pl_state_vertex_count(r.state) / 2;
    while (at + 3 <= size && memcmp(block + at, x + 3 * v, 3 * sizeof *x) != 0) {
        ++at;
    }
    assert_true(at + 3 <= size);
    block[at] += 0.1;
    PL_CHECK_OK(pl_state_unpack(r.state, block, size, &err));
    free(block);
    PL_CHECK_OK(pl_statics_check(r.statics, r.state, &residual, &largest, &inverted, &err));
    assert_true(residual > 1e-2 * largest);
    rig_clear(&r);
}

// ---- a soft bar with a rigid head: cells x < 12 soft, beyond rigid

static pl_mesh *headed_bar(void)
{
    pl_error err = {0};
    pl_mesh *linear = NULL, *raised = NULL;
    int32_t region[6 * 2 * 2];
    const double size[3] = {18, 5, 5};

    for (int c = 0; c < 24; ++c) {
        region[c] = c % 6 >= 4;
    }
    PL_CHECK_OK(box_mesh(6, 2, 2, size, NULL, region, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &raised, &err));
    pl_mesh_destroy(linear);

    return raised;
}

static double distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static void test_rigid_region(void **state)
{
    (void)state;
    static plan p;
    const double F[3] = {0, 0.02, -0.06};
    pl_mesh *mesh = headed_bar();
    plan_init(&p, mesh, heavy);
    p.material[0].material.density = 0;
    p.region[p.def.region_count++] = (pl_region_def){.region = "second", .material = "rubber"};
    p.rigid[p.def.rigid_count++] = (pl_rigid_def){.region = "second"};
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 18);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.force[p.def.force_count++] = (pl_force_def){.marker = "tip", .force = {F[0], F[1], F[2]}};
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);
    rig_solve(&r, NULL);
    const double *x = rig_x(&r), *X = rig_rest(&r);
    double worst = 0;
    int pairs = 0;
    for (int32_t a = 0; a < pl_state_vertex_count(r.state); ++a) {
        for (int32_t b = 0; b < a && X[3 * a] > 12 - 1e-9; ++b) {
            if (X[3 * b] > 12 - 1e-9) {
                worst = fmax(worst, fabs(distance(x + 3 * a, x + 3 * b) - distance(X + 3 * a, X + 3 * b)));
                ++pairs;
            }
        }
    }

    const double drop = -pl_statics_marker(r.statics, r.state, 0).displacement[2];
    print_message("rigid head: %d distances kept within %.1e mm, tip drop %.3f mm\n", pairs, worst, drop);
    assert_true(pairs > 1000);
    assert_true(drop > 2);
    PL_CHECK_BELOW(worst, 1e-10);
    double moment[3], want[3] = {-F[0], -F[1], -F[2]};
    const pl_reaction got = reaction_sum(&r);
    check_vector(got.force, want, 1e-9);
    cross(pl_statics_marker(r.statics, r.state, 0).position, F, moment);
    for (int i = 0; i < 3; ++i) {
        PL_CHECK_NEAR(got.moment[i], -moment[i], 1e-8);
    }
    rig_clear(&r);
}

// A rigid head has weight too.
static void test_rigid_weight(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = headed_bar();
    plan_init(&p, mesh, heavy);
    p.material[p.def.material_count++] = (pl_material_def){
        .name = "metal", .material = {.model = PL_LINEAR, .young = 1000, .poisson = 0.3, .density = 7.8e-9}};
    p.region[p.def.region_count++] = (pl_region_def){.region = "second", .material = "metal"};
    p.rigid[p.def.rigid_count++] = (pl_rigid_def){.region = "second"};
    plan_plane(&p, "base", 0, 0);
    plan_hold(&p, "base", "xyz");
    p.def.gravity[2] = -9810;
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);
    rig_solve(&r, NULL);
    const double weight = 9810 * (300 * heavy.density + 150 * 7.8e-9), want[3] = {0, 0, weight};
    check_vector(reaction_sum(&r).force, want, 1e-9 * weight);
    rig_clear(&r);
}

// A rigid region that touches a driven clamp goes with it.
static void test_rigid_region_clamped(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = headed_bar();
    plan_init(&p, mesh, heavy);
    p.region[p.def.region_count++] = (pl_region_def){.region = "second", .material = "rubber"};
    p.rigid[p.def.rigid_count++] = (pl_rigid_def){.region = "second"};
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 18);
    plan_hold(&p, "base", "xyz");
    plan_hold(&p, "tip", "xyz")->move[2] = 2;
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);
    rig_solve(&r, NULL);
    const double *x = rig_x(&r), *X = rig_rest(&r);
    for (int32_t v = 0; v < pl_state_vertex_count(r.state); ++v) {
        if (X[3 * v] > 12 - 1e-9) {
            PL_CHECK_NEAR(x[3 * v], X[3 * v], 1e-12);
            PL_CHECK_NEAR(x[3 * v + 2], X[3 * v + 2] + 2, 1e-12);
        }
    }

    pl_reaction each[2];
    assert_int_equal(pl_statics_reactions(r.statics, r.state, each), PL_OK);
    assert_true(each[1].force[2] > 1e-3);
    PL_CHECK_NEAR(each[0].force[2], -each[1].force[2], 1e-9);
    rig_clear(&r);
}

// Sliding supports hold their axis and nothing else: a block under its weight on a plane.
static void test_sliding(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(3, 3, 3, 10, 10, 10, 2, NULL);
    plan_init(&p, mesh, heavy);
    plan_plane(&p, "floor", 2, 0);
    plan_plane(&p, "wall", 0, 0);
    plan_plane(&p, "side", 1, 0);
    plan_hold(&p, "floor", "z");
    plan_hold(&p, "wall", "x");
    plan_hold(&p, "side", "y");
    p.def.gravity[2] = -981000; // a hundredfold, so that the block bulges
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);
    rig_solve(&r, NULL);
    pl_reaction each[3];
    assert_int_equal(pl_statics_reactions(r.statics, r.state, each), PL_OK);
    const double weight = heavy.density * 1000 * 981000;
    PL_CHECK_NEAR(each[0].force[2], weight, 1e-8 * weight);
    PL_CHECK_NEAR(each[1].force[0], 0, 1e-8 * weight);
    PL_CHECK_NEAR(each[2].force[1], 0, 1e-8 * weight);
    const double *x = rig_x(&r), *X = rig_rest(&r);
    double bulge = 0;
    for (int32_t v = 0; v < pl_state_vertex_count(r.state); ++v) {
        if (X[3 * v + 2] == 0) {
            PL_CHECK_NEAR(x[3 * v + 2], 0, 0);
            bulge = fmax(bulge, x[3 * v] - X[3 * v]);
        }
    }

    assert_true(bulge > 1e-3);
    rig_clear(&r);
}

// Two bodies in one robot, each with its own pose, do not feel each other.
static void test_two_bodies(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(5, 1, 1, 15, 3, 3, 2, NULL);
    const pl_mesh_view view = pl_mesh_get(mesh);
    const int32_t n = view.vertex_count;
    plan_init(&p, mesh, heavy);

    // the second stands turned by 90 degrees about z: along y
    p.mesh[1] = mesh;
    p.body[0].name = "a";
    p.body[1] =
        (pl_body_def){.name = "b", .rotation = {0, -1, 0, 1, 0, 0, 0, 0, 1}, .translation = {50, 0, 0}};
    p.def.body_count = 2;
    p.region[0].region = "a.body";
    p.region[p.def.region_count++] = (pl_region_def){.region = "b.body", .material = "rubber"};
    for (int b = 0; b < 2; ++b) {
        p.fixed[p.def.fixed_count++] = (pl_fixed_def){.name = b ? "b" : "a",
                                                      .has_box = true,
                                                      .low = {-1e-6, -1, -1},
                                                      .high = {1e-6, 4, 4},
                                                      .body = b,
                                                      .axis = {true, true, true}};
    }

    p.def.gravity[2] = -9810;
    rig r = plan_build(&p, NULL);
    rig_solve(&r, NULL);
    assert_int_equal(pl_state_vertex_count(r.state), 2 * n);
    const double *x = rig_x(&r);
    double worst = 0, drop = 0;
    for (int32_t v = 0; v < n; ++v) {
        const double *a = x + 3 * v, *b = x + 3 * (n + v);
        worst = fmax(worst, fabs(b[0] - (50 - a[1])) + fabs(b[1] - a[0]) + fabs(b[2] - a[2]));
        drop = fmax(drop, view.position[3 * v + 2] - a[2]);
    }

    print_message("two bodies: drop %.4f mm, apart %.1e mm\n", drop, worst);
    assert_true(drop > 0.1);
    PL_CHECK_BELOW(worst, 1e-8);
    pl_reaction each[2];
    assert_int_equal(pl_statics_reactions(r.statics, r.state, each), PL_OK);
    for (int b = 0; b < 2; ++b) {
        PL_CHECK_NEAR(each[b].force[2], heavy.density * 135 * 9810, 1e-10);
    }
    pl_mesh_destroy(mesh);
    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_and_moments), cmocka_unit_test(test_weight),
        cmocka_unit_test(test_closed_pressure),    cmocka_unit_test(test_independent_check),
        cmocka_unit_test(test_rigid_region),       cmocka_unit_test(test_rigid_region_clamped),
        cmocka_unit_test(test_rigid_weight),       cmocka_unit_test(test_sliding),
        cmocka_unit_test(test_two_bodies),
    };
    pl_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
