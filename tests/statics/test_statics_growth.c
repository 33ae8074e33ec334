// Stress-free shapes in equilibrium: free growth scales the body, a bilayer bends as Timoshenko says, a
// chamber of stiff elements is the constraint, derivatives are derivatives.
#include "statics_robot.h"

static const pl_material soft = {.model = PL_NEO_HOOKEAN, .c10 = 0.2, .poisson = 0.49};

// Holds one corner, the second one against turning, the third against rolling: no more than needed.
static void hold_corners(plan *p, double lx, double ly)
{
    const double at[3][3] = {{0, 0, 0}, {lx, 0, 0}, {0, ly, 0}};
    static const bool axis[3][3] = {{true, true, true}, {false, true, true}, {false, false, true}};

    for (int k = 0; k < 3; ++k) {
        pl_fixed_def *f = &p->fixed[p->def.fixed_count++];
        *f = (pl_fixed_def){.name = "corner", .has_box = true, .body = -1};
        for (int i = 0; i < 3; ++i) {
            f->low[i] = at[k][i] - 1e-6;
            f->high[i] = at[k][i] + 1e-6;
            f->axis[i] = axis[k][i];
        }
    }
}

// Free growth of a block is the scaled block, without stress and without energy.
static void test_free_growth(void **state)
{
    (void)state;
    for (int prisms = 0; prisms < 2; ++prisms) {
        pl_mesh *mesh = prisms ? prism_box(2, 2, 2, 2, 3, 1, 2) : tet_box(2, 2, 2, 2, 3, 1, 2, NULL);
        plan p;
        plan_init(&p, mesh, soft);
        p.region[0].rest_volume = 1.4;
        p.region[0].rest_area = prisms ? 0.7 : 0;
        hold_corners(&p, 2, 3);
        rig r = plan_build(&p, NULL);
        const pl_solve_report report = rig_solve(&r, NULL);
        const double s = cbrt(1.4), in = s * (prisms ? sqrt(0.7) : 1), across = s / (prisms ? 0.7 : 1);
        double error = 0;
        for (int32_t i = 0; i < 3 * pl_state_vertex_count(r.state); ++i) {
            error = fmax(error, fabs(rig_x(&r)[i] - (i % 3 == 2 ? across : in) * rig_rest(&r)[i]));
        }
        print_message("free growth: off by %.1e mm, energy %.1e mJ\n", error, report.energy);
        PL_CHECK_BELOW(error, 1e-10);
        PL_CHECK_BELOW(fabs(report.energy), 1e-12);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

// Timoshenko's bimetal: kappa = 6 e (1+m)^2 / (h (3 (1+m)^2 + (1 + m n)(m^2 + 1/(m n)))), m = t1/t2, n =
// E1/E2.
static void test_bilayer(void **state)
{
    (void)state;
    enum { NX = 16, NY = 1, NZ = 2 };
    const double L = 16, w = 1, h = 1, E1 = 3, E2 = 1, strain = 1e-3;
    const double size[3] = {L, w, h};
    int32_t layer[NX * NY * NZ];
    for (int c = 0; c < NX * NY * NZ; ++c) {
        layer[c] = c / (NX * NY);
    }

    pl_mesh *linear = NULL, *mesh = NULL;
    pl_error err = {0};
    PL_CHECK_OK(box_mesh(NX, NY, NZ, size, NULL, layer, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));
    plan p;
    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = E1});
    p.material[1] = (pl_material_def){.name = "other", .material = {.model = PL_LINEAR, .young = E2}};
    p.def.material_count = 2;
    p.region[1] = (pl_region_def){
        .region = "second", .material = "other", .rest_volume = (1 + strain) * (1 + strain) * (1 + strain)};
    p.def.region_count = 2;
    plan_plane(&p, "start", 0, 0);
    plan_plane(&p, "tip", 0, L);
    plan_hold(&p, "start", "x");
    hold_corners(&p, L, w);
    p.def.fixed_count -= 2; // the plane holds the rest, except for rolling about x
    pl_fixed_def *roll = &p.fixed[p.def.fixed_count++];
    *roll = (pl_fixed_def){.name = "roll", .has_box = true, .body = -1, .axis = {false, false, true}};
    roll->low[1] = w - 1e-6;
    roll->high[0] = 1e-6;
    roll->high[1] = w + 1e-6;
    roll->high[2] = 1e-6;
    plan_marker(&p, "tip", "tip");
    rig r = plan_build(&p, NULL);
    rig_solve(&r, NULL);
    const double m = 1, n = E1 / E2;
    const double kappa =
        6 * strain * (1 + m) * (1 + m) / (h * (3 * (1 + m) * (1 + m) + (1 + m * n) * (m * m + 1 / (m * n))));
    const pl_marker_result tip = pl_statics_marker(r.statics, r.state, 0);
    const double turn = asin(tip.rotation[6]); // about y: the longer upper side bends it down
    print_message("bilayer: turned by %.6f rad, Timoshenko %.6f; down by %.6f mm, %.6f\n", -turn, kappa * L,
                  -tip.displacement[2], kappa * L * L / 2);
    PL_CHECK_NEAR(-turn, kappa * L, 2e-3 * kappa * L);
    PL_CHECK_NEAR(-tip.displacement[2], kappa * L * L / 2, 5e-3 * kappa * L * L);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(linear);
}

enum { NB = 3 };

// A cube with a cube of chamber elements inside, its base held.
static pl_mesh *chamber_mesh(void)
{
    int32_t inside[NB * NB * NB] = {0};
    inside[13] = 1;
    const double size[3] = {3, 3, 3};
    pl_mesh *linear = NULL, *mesh = NULL;
    pl_error err = {0};
    PL_CHECK_OK(box_mesh(NB, NB, NB, size, NULL, inside, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));
    pl_mesh_destroy(linear);

    return mesh;
}

static void chamber_plan(plan *p, const pl_mesh *mesh, double modulus)
{
    plan_init(p, mesh, soft);
    plan_plane(p, "base", 2, 0);
    plan_plane(p, "top", 2, 3);
    plan_hold(p, "base", "xyz");
    pl_actuator_def *a = plan_chamber(p, "air", NULL, PL_DRIVE_VOLUME_RATIO);
    a->region = "second";
    a->growth = modulus > 0;
    a->modulus = modulus;
    plan_marker(p, "top", "top");
}

// The stiffer its elements, the nearer a growing chamber comes to its ratio. Its pressure stays above that of
// the constraint, which asks for the volume alone and not for the shape.
static void test_chamber_growth_reaches_its_ratio(void **state)
{
    (void)state;
    pl_mesh *mesh = chamber_mesh();
    const double command = 1.5;
    plan p;
    chamber_plan(&p, mesh, 0);
    rig hard = plan_build(&p, NULL);
    rig_solve(&hard, &command);
    const pl_actuator_result want = pl_statics_actuator(hard.statics, hard.state, 0);
    PL_CHECK_NEAR(want.ratio, command, 1e-9);
    double before = 0, effort = 0;
    for (double modulus = 1; modulus <= 1e4; modulus *= 10) {
        chamber_plan(&p, mesh, modulus);
        rig r = plan_build(&p, NULL);
        rig_solve(&r, &command);
        const pl_actuator_result got = pl_statics_actuator(r.statics, r.state, 0);
        print_message("modulus %g: ratio %.5f of %g asked, %.2f kPa, constraint %.2f kPa\n", modulus,
                      got.ratio, command, 1e3 * got.effort, 1e3 * want.effort);
        assert_true(got.ratio > before && got.ratio < command);
        before = got.ratio;
        effort = got.effort;
        rig_clear(&r);
    }

    PL_CHECK_NEAR(before, command, 1e-3);
    assert_true(effort > want.effort);
    rig_clear(&hard);
    pl_mesh_destroy(mesh);
}

// dE/d(command) is effort times rest measure, and every derivative by the command is a central difference's;
// the command is a pressure that a table turns into a ratio.
static void test_growth_derivatives(void **state)
{
    (void)state;
    static const double table[] = {0, 1, 0.01, 1.1, 0.03, 1.6};
    const double h = 1e-6, at = 0.022;
    pl_mesh *mesh = chamber_mesh();
    plan p;
    chamber_plan(&p, mesh, 2);
    p.actuator[0].drive = PL_DRIVE_PRESSURE;
    p.actuator[0].table = table;
    p.actuator[0].table_count = 3;
    p.region[0].rest_volume = 0.95;
    rig r[3];
    double energy[3];
    for (int k = 0; k < 3; ++k) {
        const double command = at + (k - 1) * h;
        r[k] = plan_build(&p, NULL);
        energy[k] = rig_solve(&r[k], &command).energy;
    }

    pl_error err = {0};
    pl_jacobian_report report;
    double marker[3], effort, measure, gradient;
    const pl_parameter parameter = {.kind = PL_PARAMETER_COMMAND};
    const pl_jacobian out = {.marker = marker, .effort = &effort, .measure = &measure};
    PL_CHECK_OK(pl_statics_jacobian(r[1].statics, r[1].state, &parameter, 1, &out, &report, &err));
    const pl_actuator_result minus = pl_statics_actuator(r[0].statics, r[0].state, 0),
                             plus = pl_statics_actuator(r[2].statics, r[2].state, 0);
    const double top = (pl_statics_marker(r[2].statics, r[2].state, 0).position[2] -
                        pl_statics_marker(r[0].statics, r[0].state, 0).position[2]) /
                       (2 * h);
    print_message("marker %.9g, difference %.9g; effort %.9g, %.9g; measure %.9g, %.9g\n", marker[2], top,
                  effort, (plus.effort - minus.effort) / (2 * h), measure,
                  (plus.measure - minus.measure) / (2 * h));
    PL_CHECK_NEAR(marker[2], top, 1e-6 * fabs(top));
    PL_CHECK_NEAR(effort, (plus.effort - minus.effort) / (2 * h), 1e-6 * fabs(effort));
    PL_CHECK_NEAR(measure, (plus.measure - minus.measure) / (2 * h), 1e-6 * fabs(measure));

    // the energy's derivative is effort times m0 times d(ratio)/d(command), the slope by differences of the
    // table
    const pl_actuator_result now = pl_statics_actuator(r[1].statics, r[1].state, 0);
    const pl_actuator_info info = pl_robot_actuator(r[1].robot, 0);
    assert_true(info.growth && info.table_count == 3);
    const double dE = (energy[2] - energy[0]) / (2 * h), ratio_slope = dE / (now.effort * info.rest);
    assert_true(ratio_slope > 10 && ratio_slope < 40); // secants of the table: 10 and 25

    // adjoint of the effort
    const double one = 1;
    PL_CHECK_OK(
        pl_statics_adjoint(r[1].statics, r[1].state, NULL, &one, &parameter, 1, &gradient, &report, &err));
    PL_CHECK_NEAR(gradient, effort, 1e-9 * fabs(effort));
    for (int k = 0; k < 3; ++k) {
        rig_clear(&r[k]);
    }
    pl_mesh_destroy(mesh);
}

// The effort of elements that grow depends on the constants of their material at a fixed shape already: for
// every law and each of its constants against central differences, by columns and by the adjoint.
static void test_growth_by_constants(void **state)
{
    (void)state;
    static const pl_material law[] = {
        {.model = PL_LINEAR, .young = 0.3, .poisson = 0.45},
        {.model = PL_YEOH, .c10 = 0.05, .c20 = 0.01, .c30 = 0.002, .poisson = 0.49},
        {.model = PL_GENT, .mu = 0.1, .jm = 8, .bulk = 2},
        {.model = PL_OGDEN, .ogden_mu = {0.08, 0.02}, .ogden_alpha = {1.7, 4}, .poisson = 0.3},
        {.model = PL_HGO,
         .c10 = 0.05,
         .k1 = 0.1,
         .k2 = 0.8,
         .kappa = 0.1,
         .poisson = 0.48,
         .fibre = {{1, 1, 0}},
         .fibre_count = 1}};
    const double command = 1.4;
    pl_mesh *mesh = chamber_mesh();
    double worst = 0;

    for (int k = 0; k < (int)(sizeof law / sizeof law[0]); ++k) {
        for (int c = 0; c < PL_DENSITY; ++c) {
            plan p;
            pl_material varied = law[k];
            double *value = pl_material_at(&varied, (pl_material_constant)c), effort[3], column = 0,
                   gradient = 0;
            const double middle = *value, step = 1e-4 * middle, one = 1;
            if (!pl_material_has(law[k].model, (pl_material_constant)c) || middle == 0) {
                continue;
            }
            for (int side = 0; side < 3; ++side) {
                *value = middle + (side == 2 ? 0 : side ? step : -step);
                chamber_plan(&p, mesh, 0);
                p.actuator[0].growth = true;
                p.material[1] = (pl_material_def){.name = "core", .material = varied};
                p.region[1] = (pl_region_def){.region = "second", .material = "core"};
                p.def.material_count = p.def.region_count = 2;
                rig r = plan_build(&p, NULL);
                rig_solve(&r, &command);
                effort[side] = pl_statics_actuator(r.statics, r.state, 0).effort;
                if (side == 2) {
                    const pl_parameter q = {PL_PARAMETER_MATERIAL, 1, c};
                    const pl_jacobian out = {.effort = &column};
                    pl_jacobian_report report;
                    pl_error err = {0};
                    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &q, 1, &out, &report, &err));
                    PL_CHECK_OK(
                        pl_statics_adjoint(r.statics, r.state, NULL, &one, &q, 1, &gradient, &report, &err));
                }
                rig_clear(&r);
            }
            const double quotient = (effort[1] - effort[0]) / (2 * step);
            print_message("effort by %s of %s: %.8g, difference %.8g\n",
                          pl_material_constant_name((pl_material_constant)c),
                          pl_material_model_name(law[k].model), column, quotient);
            worst =
                fmax(worst, fabs(column - quotient) / fmax(fabs(quotient), 1e-3 * fabs(effort[2] / middle)));
            PL_CHECK_NEAR(gradient, column, 1e-9 * fabs(column));
        }
    }

    PL_CHECK_BELOW(worst, 1e-5);
    pl_mesh_destroy(mesh);
}

// A film of prisms: derivative by an area ratio, effort as a stress, and the path back to the start.
static void test_film_growth(void **state)
{
    (void)state;
    const double h = 1e-6;
    pl_mesh *mesh = prism_box(3, 2, 1, 6, 4, 0.5, 2);
    plan p;
    plan_init(&p, mesh, soft);
    p.region[0].rest_area = 0.9;
    plan_plane(&p, "left", 0, 0);
    plan_plane(&p, "right", 0, 6);
    plan_hold(&p, "left", "xyz");
    plan_hold(&p, "right", "x");
    pl_actuator_def *a = plan_film(&p, "film", NULL, PL_DRIVE_AREA_RATIO);
    a->region = "body";
    a->growth = true;
    a->thickness = 0;
    plan_marker(&p, "right", "right");
    rig r = plan_build(&p, NULL);
    const double none = NAN;
    rig_solve(&r, &none);
    double *x = shape_copy(&r), effort[3], y[3], exact_effort, marker[3];
    const double rest_effort = pl_statics_actuator(r.statics, r.state, 0).effort;
    for (int k = 0; k < 3; ++k) {
        const double command = 1.08 + (k - 1) * h; // still stretched: beyond 1 / 0.9 it would buckle
        rig_solve(&r, &command);
        effort[k] = pl_statics_actuator(r.statics, r.state, 0).effort;
        y[k] = pl_statics_marker(r.statics, r.state, 0).position[2];
        if (k == 1) {
            pl_error err = {0};
            pl_jacobian_report report;
            const pl_parameter parameter = {.kind = PL_PARAMETER_COMMAND};
            const pl_jacobian out = {.marker = marker, .effort = &exact_effort};
            PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
        }
    }

    print_message("film: effort %.6f MPa, by ratio %.8g, difference %.8g\n", effort[1], exact_effort,
                  (effort[2] - effort[0]) / (2 * h));
    PL_CHECK_NEAR(exact_effort, (effort[2] - effort[0]) / (2 * h), 1e-5 * fabs(exact_effort));
    PL_CHECK_NEAR(marker[2], (y[2] - y[0]) / (2 * h), 1e-5);
    rig_solve(&r, &none);
    PL_CHECK_BELOW(shape_distance(&r, rig_x(&r), x), 1e-7);
    PL_CHECK_NEAR(pl_statics_actuator(r.statics, r.state, 0).effort, rest_effort, 1e-8);
    free(x);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// A column whose core grows while a clamp takes its end along: an increment begins with the stresses and
// pressures of the last equilibrium, at the growth of that one. With those of the grown core at the shape
// from before it the column would seem to buckle, however short the increment.
static void test_growth_between_moved_clamps(void **state)
{
    (void)state;
    enum { NX = 6, NY = 3, NZ = 3 };
    const double size[3] = {32, 12, 12};
    int32_t inside[NX * NY * NZ] = {0};
    for (int i = 1; i + 1 < NX; ++i) {
        inside[i + NX * (1 + NY)] = 1;
    }
    pl_mesh *linear = NULL, *mesh = NULL;
    pl_error err = {0};
    PL_CHECK_OK(box_mesh(NX, NY, NZ, size, NULL, inside, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &mesh, &err));

    plan p;
    const pl_material mixed = {
        .model = PL_NEO_HOOKEAN, .formulation = PL_LOCKING_FREE, .c10 = 0.1, .poisson = 0.44};
    plan_init(&p, mesh, mixed);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, size[0]);
    plan_hold(&p, "base", "xyz");
    plan_hold(&p, "tip", "xyz");
    pl_fixed_def *tip = &p.fixed[p.def.fixed_count - 1];
    memcpy(tip->move, (double[3]){1.5, -2, -1.5}, sizeof tip->move);
    memcpy(tip->rotate, (double[3]){-0.15, 0.15, -0.15}, sizeof tip->rotate);
    memcpy(tip->about, (double[3]){size[0], 0.5 * size[1], 0.5 * size[2]}, sizeof tip->about);
    pl_actuator_def *core = plan_chamber(&p, "core", NULL, PL_DRIVE_VOLUME_RATIO);
    core->region = "second";
    core->growth = true;
    p.region[1] = p.region[0];
    p.region[1].region = "second";
    p.def.region_count = 2;
    for (int k = 0; k < 3; ++k) {
        const double command = 1.2 + 0.3 * k;
        rig r = plan_build(&p, NULL);
        const pl_solve_report report = rig_solve(&r, &command);
        print_message("core grown to %.1f of its volume: %d factorisations\n", command,
                      report.factorizations);
        assert_int_equal(report.outcome, PL_SOLVED);
        assert_true(report.factorizations <= 8);
        rig_clear(&r);
    }
    pl_mesh_destroy(mesh);
    pl_mesh_destroy(linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_growth),
        cmocka_unit_test(test_bilayer),
        cmocka_unit_test(test_chamber_growth_reaches_its_ratio),
        cmocka_unit_test(test_growth_derivatives),
        cmocka_unit_test(test_growth_by_constants),
        cmocka_unit_test(test_film_growth),
        cmocka_unit_test(test_growth_between_moved_clamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
