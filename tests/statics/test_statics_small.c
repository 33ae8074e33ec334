// Obstacles smaller than the faces they press on: a path in one solve ends where it ends in many, without
// slipping sideways; derivatives by the obstacle's motion are those of differences; a footprint that the mesh
// does not resolve is reported, one that it resolves is not.
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.45};

static double reading(rig *r, const char *quantity)
{
    for (int i = 0; i < pl_statics_reading_count(r->statics); ++i) {
        const pl_reading_info info = pl_statics_reading_info(r->statics, i);
        if (strcmp(info.name, "thing") == 0 && strcmp(info.quantity, quantity) == 0) {
            return pl_statics_reading(r->statics, r->state, i);
        }
    }

    fail_msg("no reading %s", quantity);
    return 0;
}

// Below a bar along x whose lower side is at z = 0: a ball, lying and standing pins, the edge of a box.
static pl_obstacle_def obstacle(int kind, double radius, const double at[2])
{
    pl_obstacle_def o = {.name = "thing", .radius = radius, .moves = true, .move = {0, 0, 1}};
    o.kind = kind == 0 ? PL_OBSTACLE_SPHERE : kind < 3 ? PL_OBSTACLE_CYLINDER : PL_OBSTACLE_BOX;
    o.direction[kind == 1 ? 1 : 2] = 1;
    o.length = kind == 2 ? 20 : 0;
    o.point[0] = at[0];
    o.point[1] = at[1];
    o.point[2] = -1e-3 - (kind == 2 ? 10 : kind == 3 ? sqrt(2) * 8 * radius : radius);
    o.size[0] = o.size[2] = 16 * radius;
    o.size[1] = 30;
    o.rotate[1] = kind == 3 ? 0.25 * 3.14159265358979323846 : 0;

    return o;
}

// A bar of 40 x 8 x 8 mm with cells of 8 mm / fine, clamped at x = 0.
static rig bar_rig(plan *p, pl_mesh *mesh, const pl_obstacle_def *o, const pl_statics_options *options)
{
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, 40);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
    p->def.contact = (pl_contact_def){.given = true, .obstacle = o, .obstacle_count = 1};

    return plan_build(p, options);
}

// The contact forces of small obstacles are far stiffer than the bar: a step that does not match them exactly
// would move it to another equilibrium beside the obstacle.
static void test_path(void **state)
{
    (void)state;
    static plan p;
    static const double place[][2] = {{27.3, 3.4}, {30.1, 4.9}};
    for (int k = 0; k < 6; ++k) {
        pl_mesh *mesh = tet_box(5, 1, 1, 40, 8, 8, 2, NULL);
        const pl_obstacle_def o = obstacle(k % 3, k % 2 ? 1.7 : 0.8, place[k / 3]);
        double force[2];
        for (int many = 0; many < 2; ++many) {
            const pl_statics_options options = pl_statics_options_default();
            rig r = bar_rig(&p, mesh, &o, &options);
            int factorizations = 0;
            for (double up = many ? 0.5 : 4; up <= 4; up += 0.5) {
                const pl_solve_report report = rig_solve(&r, &up);
                factorizations += report.factorizations;
                assert_non_null(report.coarse_contact);
            }
            force[many] = reading(&r, "force_z");
            printf("%d: %s, %.5f N, %d factorisations\n", k, many ? "eight solves" : "one solve", force[many],
                   factorizations);
            PL_CHECK_BELOW(factorizations, many ? 150 : 80);
            rig_clear(&r);
        }
        PL_CHECK_NEAR(force[0] / force[1], 1, 2e-3);
        // a beam that is lifted by 4 mm: 3 E I w / a^3, and an end that is free
        assert_true(force[0] > 0.09);
        pl_mesh_destroy(mesh);
    }
}

static void test_derivatives(void **state)
{
    (void)state;
    static plan p;
    static const double place[2] = {27.3, 3.4};
    for (int kind = 0; kind < 4; ++kind) {
        pl_mesh *mesh = tet_box(5, 1, 1, 40, 8, 8, 2, NULL);
        const pl_obstacle_def o = obstacle(kind, 0.9, place);
        pl_statics_options options = tight_options();
        options.contact_tolerance = 1e-7;
        rig r = bar_rig(&p, mesh, &o, &options);
        const double at = 1.3, h = 1e-2;
        double command = at, marker[3], side[2][3], force[2], d_reading[20];
        rig_solve(&r, &command);
        const pl_parameter q = {PL_PARAMETER_COMMAND, 0, 0};
        const pl_jacobian out = {.marker = marker, .reading = d_reading};
        pl_jacobian_report report;
        pl_error err = {0};
        PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &q, 1, &out, &report, &err));
        for (int k = 0; k < 2; ++k) {
            command = at + (k ? h : -h);
            rig_solve(&r, &command);
            memcpy(side[k], pl_statics_marker(r.statics, r.state, 0).position, sizeof side[k]);
            force[k] = reading(&r, "force_z");
        }
        const double slope = (force[1] - force[0]) / (2 * h);
        printf("kind %d: d(tip) %.6f %.6f %.6f, differences %.6f %.6f %.6f; d(force) %.6f, %.6f%s\n", kind,
               marker[0], marker[1], marker[2], (side[1][0] - side[0][0]) / (2 * h),
               (side[1][1] - side[0][1]) / (2 * h), (side[1][2] - side[0][2]) / (2 * h), d_reading[2], slope,
               report.one_sided ? " (one-sided)" : "");
        for (int i = 0; i < 3; ++i) {
            PL_CHECK_NEAR(marker[i], (side[1][i] - side[0][i]) / (2 * h), 1e-5);
        }
        PL_CHECK_NEAR(d_reading[2] / slope, 1, 1e-5);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

// A cable that is shortened bends the bar onto a pin. Its length is prescribed, so that no step of an
// increment that leads through the pin can be shortened: the increment ends where the bar meets it.
static void test_bent_onto_pin(void **state)
{
    (void)state;
    static plan p;
    static const pl_guide_def guide[] = {
        {.point = {0, 4, 1.2}}, {.point = {19, 4, 1.2}}, {.point = {38, 4, 1.2}}};
    const double radius[] = {0.6, 1.2}, place[] = {26, 22};
    pl_mesh *mesh = tet_box(7, 2, 2, 40, 8, 8, 2, NULL);
    int worst = 0;

    for (int k = 0; k < 4; ++k) {
        const pl_obstacle_def pin = {.name = "thing",
                                     .kind = PL_OBSTACLE_CYLINDER,
                                     .radius = radius[k % 2],
                                     .direction = {0, 1, 0},
                                     .point = {place[k / 2], 4, -1 - radius[k % 2]}};
        plan_init(&p, mesh, rubber);
        plan_plane(&p, "base", 0, 0);
        plan_hold(&p, "base", "xyz");
        plan_cable(&p, "tendon", guide, 3, PL_DRIVE_SHORTENING)->radius = 2;
        p.def.contact = (pl_contact_def){.given = true, .obstacle = &pin, .obstacle_count = 1};
        rig r = plan_build(&p, NULL);
        const double command = 3;
        const pl_solve_report report = rig_solve(&r, &command);
        print_message("pin of %g mm at %g mm, cable %g mm shorter: %d factorisations, %.4f N\n", pin.radius,
                      place[k / 2], command, report.factorizations, reading(&r, "force_z"));
        assert_int_equal(report.outcome, PL_SOLVED);
        worst = report.factorizations > worst ? report.factorizations : worst;
        rig_clear(&r);
    }
    print_message("at most %d factorisations\n", worst);
    assert_true(worst <= 40);
    pl_mesh_destroy(mesh);
}

// Hertz: a = (3 F R (1 - nu^2) / (4 E))^(1/3) over the edge of the faces decides.
static void test_footprint(void **state)
{
    (void)state;
    static plan p;
    static const double radius[] = {8, 60};
    for (int k = 0; k < 2; ++k) {
        pl_mesh *mesh = tet_box(6, 6, 2, 12, 12, 4, 2, NULL);
        const pl_obstacle_def ball = {.name = "thing",
                                      .kind = PL_OBSTACLE_SPHERE,
                                      .radius = radius[k],
                                      .point = {6.1, 5.8, 4 + radius[k]},
                                      .moves = true,
                                      .move = {0, 0, -1}};
        plan_init(&p, mesh, rubber);
        plan_plane(&p, "base", 2, 0);
        plan_hold(&p, "base", "xyz");
        p.def.contact = (pl_contact_def){.given = true, .obstacle = &ball, .obstacle_count = 1};
        rig r = plan_build(&p, NULL);
        for (double down = 0.01; down < 1; down *= 8) {
            const pl_solve_report report = rig_solve(&r, &down);
            const double E = 0.58, F = -reading(&r, "force_z"),
                         a = cbrt(0.75 * F * radius[k] * (1 - 0.45 * 0.45) / E);
            // faces with two edges of 2 mm and a diagonal
            const double edge = 2 * (2 + sqrt(2)) / 3;
            printf("ball of %g mm, %g mm deep: %.4f N, contact radius %.3f mm, %.2f of the edge%s\n",
                   radius[k], down, fabs(F), a, fabs(a) / edge,
                   report.coarse_contact ? ", reported as too coarse" : "");
            assert_int_equal(report.coarse_contact != NULL, fabs(a) < 0.25 * edge);
        }
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_path), cmocka_unit_test(test_derivatives),
                                       cmocka_unit_test(test_bent_onto_pin),
                                       cmocka_unit_test(test_footprint)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
