// Thin stiff layers and fibres: what they carry against closed forms, derivatives against finite differences.
// A layer meshed as a solid of flat elements converges at rest, loaded and back at rest: the tolerance knows
// what rounding leaves of a balance.
#include "mesh/mesh.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49};

// A bar of 100 x 16 x 4 mm along x on a layer of `second` of thickness t, meshed with one flat row of cells.
static pl_mesh *layered_bar(double t)
{
    pl_error err = {0};
    const double size[3] = {100, 16, 6};
    pl_mesh *linear = NULL, *moved = NULL, *raised = NULL;
    int32_t region[13 * 2 * 3];

    for (int c = 0; c < 13 * 2 * 3; ++c) {
        region[c] = c < 13 * 2;
    }
    PL_CHECK_OK(box_mesh(13, 2, 3, size, NULL, region, &linear, &err));
    const pl_mesh_view v = pl_mesh_get(linear);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        memcpy(x + 3 * i, v.position + 3 * i, 3 * sizeof *x);
        x[3 * i + 2] = x[3 * i + 2] < 1 ? -t : x[3 * i + 2] - 2;
    }

    PL_CHECK_OK(pl_mesh_moved(linear, x, &moved, &err));
    free(x);
    PL_CHECK_OK(pl_mesh_raise(moved, &raised, &err));
    pl_mesh_destroy(linear);
    pl_mesh_destroy(moved);

    return raised;
}

static void test_flat_elements_converge(void **state)
{
    (void)state;
    static plan p;
    const pl_guide_def guide[] = {{.point = {0, 8, 4}}, {.point = {50, 8, 4}}, {.point = {100, 8, 4}}};
    const pl_statics_options options = pl_statics_options_default();
    const struct {
        double t, young;
    } layer[] = {{0.1, 20}, {0.1, 2000}, {0.5, 2000}};
    for (int i = 0; i < 3; ++i) {
        pl_mesh *mesh = layered_bar(layer[i].t);
        plan_init(&p, mesh, rubber);
        p.body[0].translation[0] = 300; // coordinates of a drawing need not start at the part
        p.material[p.def.material_count++] = (pl_material_def){
            .name = "paper", .material = {.model = PL_LINEAR, .young = layer[i].young, .poisson = 0.3}};
        p.region[p.def.region_count++] = (pl_region_def){.region = "second", .material = "paper"};
        plan_plane(&p, "base", 0, 0);
        plan_hold(&p, "base", "xyz");
        pl_guide_def moved[3];
        for (int k = 0; k < 3; ++k) {
            moved[k] = guide[k];
            moved[k].point[0] += 300;
        }
        plan_cable(&p, "tendon", moved, 3, PL_DRIVE_TENSION)->radius = 3;
        rig r = plan_build(&p, &options);
        const double command[] = {0, 0.5, 0};
        for (int k = 0; k < 3; ++k) {
            const pl_solve_report report = rig_try(&r, &command[k]);
            print_message("layer %.1f mm, %4.0f MPa, tension %.1f N: %s, %d iterations, %d factorisations, "
                          "residual %.1e N (relative %.1e), step %.1e mm\n",
                          layer[i].t, layer[i].young, command[k], pl_outcome_name(report.outcome),
                          report.iterations, report.factorizations, report.residual, report.residual_relative,
                          report.step);
            assert_int_equal(report.outcome, PL_SOLVED);
            PL_CHECK_BELOW(report.iterations, k == 0 ? 3 : 400);
        }
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

// ---- layers without elements of their own
static const pl_material soft = {.model = PL_LINEAR, .young = 1, .poisson = 0};
static const pl_material stiff = {.model = PL_LINEAR, .young = 500, .poisson = 0};
static const double idle = NAN;

// A bar along x, clamped at x = 0, with the surfaces bottom (z = 0), top, tip.
static void bar_plan(plan *p, const pl_mesh *mesh, double l, double height)
{
    plan_init(p, mesh, soft);
    p->material[p->def.material_count++] = (pl_material_def){.name = "paper", .material = stiff};
    plan_plane(p, "base", 0, 0);
    plan_plane(p, "tip", 0, l);
    plan_plane(p, "bottom", 2, 0);
    plan_plane(p, "top", 2, height);
    plan_hold(p, "base", "xyz");
    plan_marker(p, "tip", "tip");
}

static pl_layer_def *plan_layer(plan *p, const char *surface, double thickness)
{
    pl_layer_def *l = &p->layer[p->def.layer_count++];
    *l = (pl_layer_def){.name = surface, .surface = surface, .material = "paper", .thickness = thickness};
    return l;
}

static void plan_force(plan *p, double x, double z)
{
    p->force[0] = (pl_force_def){.marker = "tip", .force = {x, 0, z}};
    p->def.force_count = 1;
}

// Pulled: the layers' E h b adds to the bar's E A. Bent: a composite beam, whose neutral axis lies near the
// layer; the layer's own bending counts, and where it lies (outside, inside, middle).
static void test_composite_beam(void **state)
{
    (void)state;
    const double L = 60, b = 4, H = 3, h = 0.1, Eb = 1, El = 500;
    pl_mesh *mesh = tet_box(20, 2, 2, L, b, H, 2, NULL);
    static plan p;
    bar_plan(&p, mesh, L, H);
    plan_layer(&p, "bottom", h)->side = PL_SIDE_MIDDLE;
    plan_layer(&p, "top", h)->side = PL_SIDE_MIDDLE;
    plan_force(&p, 1e-4, 0);
    for (int k = 0; k < 2; ++k) { // away from the ends, where the force enters the layers
        p.marker[p.def.marker_count++] =
            (pl_marker_def){.name = k ? "b" : "a", .at = {25 + 10 * k, b / 2, H / 2}};
    }

    rig r = plan_build(&p, NULL);
    rig_solve(&r, &idle);
    const double u = pl_statics_marker(r.statics, r.state, 2).displacement[0] -
                     pl_statics_marker(r.statics, r.state, 1).displacement[0],
                 want = 1e-4 * 10 / (Eb * b * H + 2 * El * h * b);
    print_message("pulled: %.6e mm, closed form %.6e mm\n", u, want);
    PL_CHECK_NEAR(u / want, 1, 0.01);
    rig_clear(&r);
    static const pl_layer_side side[] = {PL_SIDE_OUTSIDE, PL_SIDE_INSIDE, PL_SIDE_MIDDLE};
    for (int k = 0; k < 4; ++k) {
        bar_plan(&p, mesh, L, H);
        pl_layer_def *l = plan_layer(&p, "bottom", h);
        l->side = side[k % 3];
        l->membrane = k == 3;
        plan_force(&p, 0, 1e-5);
        rig bent = plan_build(&p, NULL);
        rig_solve(&bent, &idle);
        // about the bottom face: moments of stiffness of bar and layer
        const double z = k == 0 ? -h / 2 : k == 1 ? h / 2 : 0;
        const double A = Eb * b * H + El * b * h, S = Eb * b * H * H / 2 + El * b * h * z;
        const double I = Eb * b * H * H * H / 3 + El * b * (h * z * z + (k == 3 ? 0 : h * h * h / 12));
        const double EI = I - S * S / A, w = pl_statics_marker(bent.statics, bent.state, 0).displacement[2];
        const double beam = 1e-5 * L * L * L / (3 * EI) + 1e-5 * L / (5.0 / 6 * 0.5 * Eb * b * H);
        print_message("bent, layer %s: %.6e mm, composite beam %.6e mm (%+.2f %%)\n",
                      k == 0   ? "outside"
                      : k == 1 ? "inside"
                      : k == 2 ? "in the face"
                               : "as membrane",
                      w, beam, 100 * (w / beam - 1));
        PL_CHECK_NEAR(w / beam, 1, 0.02);
        // the clamp balances the force in its deformed place, the couple of the held slope included
        pl_reaction at_base;
        assert_int_equal(pl_statics_reactions(bent.statics, bent.state, &at_base), PL_OK);
        const double *tip = pl_statics_marker(bent.statics, bent.state, 0).position, moment = -1e-5 * tip[0];
        print_message("  moment at the clamp %.9e, of the force %.9e N mm\n", at_base.moment[1], -moment);
        PL_CHECK_NEAR(at_base.moment[1] / -moment, 1, 1e-7); // a load near round-off
        rig_clear(&bent);
    }

    pl_mesh_destroy(mesh);
}

// A block between two layers, shortened: beyond the strain of wrinkling the layers' force stays as it is. The
// block keeps straight (two of its sides slide), so the force at its end has a closed form.
static void test_wrinkled_bar(void **state)
{
    (void)state;
    const double L = 12, b = 4, H = 3, h = 0.1, Eb = 1, El = 500;
    const struct {
        double wrinkle, strain, carried; // the layers' strain, of which they carry force
    } c[] = {{0.002, -0.01, -0.002}, {-1, -0.004, -0.004}, {0.002, 0.01, 0.01}, {0.002, -0.001, -0.001}};

    // layers that carry compression are stable up to (3 Eb / El)^(2/3) / 4 = 0.8 % on a deep block
    pl_mesh *mesh = tet_box(6, 2, 2, L, b, H, 2, NULL);
    for (int k = 0; k < 4; ++k) {
        static plan p;
        bar_plan(&p, mesh, L, H);
        p.def.fixed_count = 0;
        plan_plane(&p, "front", 1, 0);
        plan_hold(&p, "base", "x");
        plan_hold(&p, "bottom", "z");
        plan_hold(&p, "front", "y");
        plan_hold(&p, "tip", "x")->move[0] = c[k].strain * L;
        for (int i = 0; i < 2; ++i) {
            pl_layer_def *l = plan_layer(&p, i ? "top" : "bottom", h);
            l->side = PL_SIDE_MIDDLE;
            l->wrinkle = c[k].wrinkle;
        }
        rig r = plan_build(&p, NULL);
        rig_solve(&r, &idle);
        pl_reaction at[8];
        assert_int_equal(pl_statics_reactions(r.statics, r.state, at), PL_OK);
        const double force = at[3].force[0], want = Eb * b * H * c[k].strain + 2 * El * h * b * c[k].carried;
        print_message("wrinkles at %g, strained by %g: %.8f N, closed form %.8f N\n", c[k].wrinkle,
                      c[k].strain, force, want);
        PL_CHECK_NEAR(force / want, 1, 1e-6);
        rig_clear(&r);
    }

    pl_mesh_destroy(mesh);
}

// The bar bends far under a cable and pressure; derivatives of shape and readings with respect to the
// command, the thickness, the layer's material and a fibre's stiffness; both were stretched before.
// q: command, thickness, Young's modulus, stiffness of the fibre, prestretch of both.
static void derivative_plan(plan *p, const pl_mesh *mesh, const double q[6])
{
    static const pl_guide_def guide[] = {{.point = {0, 2, 3}}, {.point = {15, 2, 3}}, {.point = {30, 2, 3}}};
    static const double line[] = {2, 1, 0, 28, 3, 0};

    bar_plan(p, mesh, 30, 3);
    p->material[1].material.young = q[2];
    p->material[1].material.poisson = 0.3;
    plan_cable(p, "tendon", guide, 3, PL_DRIVE_TENSION)->radius = 2;
    pl_layer_def *l = plan_layer(p, "bottom", q[1]);
    l->prestretch = q[4];
    l->wrinkle = 0.004; // a strain that does not follow the modulus
    p->fibre[p->def.fibre_count++] = (pl_fibre_def){.name = "thread",
                                                    .kind = PL_FIBRE_LINE,
                                                    .surface = "bottom",
                                                    .point = line,
                                                    .point_count = 2,
                                                    .stiffness = q[3],
                                                    .prestretch = q[5]};
}

static void test_layer_sensitivity(void **state)
{
    (void)state;
    pl_mesh *mesh = tet_box(8, 2, 2, 30, 4, 3, 2, NULL);
    static plan p;
    const double tension = 0.4, base[6] = {tension, 0.1, 200, 30, 1.004, 1.03};
    derivative_plan(&p, mesh, base);
    rig r = plan_build(&p, NULL);
    rig_solve(&r, &tension);
    const pl_parameter q[6] = {{PL_PARAMETER_COMMAND, 0, 0},         {PL_PARAMETER_LAYER, 0, 0},
                               {PL_PARAMETER_MATERIAL, 1, PL_YOUNG}, {PL_PARAMETER_FIBRE, 0, 0},
                               {PL_PARAMETER_LAYER, 0, 1},           {PL_PARAMETER_FIBRE, 0, 1}};
    const int readings = pl_statics_reading_count(r.statics);
    assert_int_equal(readings, 5);
    double marker[3 * 6], reading[5 * 6];
    const pl_jacobian out = {.marker = marker, .reading = reading};
    pl_jacobian_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, q, 6, &out, &report, &err));
    const double turned = pl_statics_marker(r.statics, r.state, 0).displacement[2];
    print_message("tip moved %.2f mm\n", turned);
    rig_clear(&r);
    for (int c = 0; c < 6; ++c) {
        double tip[2][3], value[2][5];
        const double h = (c < 4 ? 1e-4 : 1e-6) * base[c];
        for (int s = 0; s < 2; ++s) {
            double v[6];
            memcpy(v, base, sizeof v);
            v[c] += s ? -h : h;
            derivative_plan(&p, mesh, v);
            rig one = plan_build(&p, NULL);
            rig_solve(&one, &v[0]);
            memcpy(tip[s], pl_statics_marker(one.statics, one.state, 0).displacement, sizeof tip[s]);
            for (int k = 0; k < readings; ++k) {
                value[s][k] = pl_statics_reading(one.statics, one.state, k);
            }
            rig_clear(&one);
        }
        double worst = 0, scale = 0;
        for (int i = 0; i < 3; ++i) {
            const double d = (tip[0][i] - tip[1][i]) / (2 * h);
            worst = fmax(worst, fabs(d - marker[6 * i + c]));
            scale = fmax(scale, fabs(d));
        }
        print_message("parameter %d: tip off by %.1e of %.3g;", c, worst, scale);
        PL_CHECK_BELOW(worst, 2e-6 * scale);
        for (int k = 0; k < readings; ++k) {
            const double d = (value[0][k] - value[1][k]) / (2 * h);
            print_message(" %.6g (%.1e)", reading[6 * k + c], fabs(d - reading[6 * k + c]) / fabs(d));
            PL_CHECK_NEAR(reading[6 * k + c], d, 2e-5 * fabs(d) + 1e-12);
        }
        print_message("\n");
    }

    pl_mesh_destroy(mesh);
}

// A bar with two threads along it, pulled: far from the ends the section stays plane, so the threads' EA adds
// to the bar's. A thread that cannot push carries nothing where the bar is compressed; an inextensible one is
// strained by less than 1e-4.
static void test_threads(void **state)
{
    (void)state;
    const double L = 60, b = 4, H = 3;
    static const double line[2][6] = {{0, 2, 0, 60, 2, 0}, {0, 2, 3, 60, 2, 3}};
    static const struct {
        double stiffness, force;
        bool tension_only;
    } c[] = {{2, 1e-3, false}, {2, -1e-3, false}, {2, -1e-3, true}, {0, 0.5, false}};
    pl_mesh *mesh = tet_box(20, 2, 2, L, b, H, 2, NULL);
    for (int k = 0; k < 4; ++k) {
        static plan p;
        bar_plan(&p, mesh, L, H);
        for (int i = 0; i < 2; ++i) {
            p.fibre[p.def.fibre_count++] = (pl_fibre_def){.name = i ? "upper" : "lower",
                                                          .kind = PL_FIBRE_LINE,
                                                          .surface = i ? "top" : "bottom",
                                                          .point = line[i],
                                                          .point_count = 2,
                                                          .stiffness = c[k].stiffness,
                                                          .tension_only = c[k].tension_only};
            p.marker[p.def.marker_count++] =
                (pl_marker_def){.name = i ? "b" : "a", .at = {25 + 10 * i, b / 2, H / 2}};
        }
        plan_force(&p, c[k].force, 0);
        const pl_statics_options options = pl_statics_options_default();
        rig r = plan_build(&p, &options);
        PL_CHECK_NEAR(pl_robot_fibre(r.robot, 0).length, L, 1e-6);
        const pl_solve_report report = rig_try(&r, &idle);
        assert_int_equal(report.outcome, PL_SOLVED);
        const double u = pl_statics_marker(r.statics, r.state, 2).displacement[0] -
                         pl_statics_marker(r.statics, r.state, 1).displacement[0],
                     EA = c[k].tension_only ? 0 : pl_robot_fibre(r.robot, 0).stiffness,
                     want = c[k].force * 10 / (b * H + 2 * EA),
                     tension = pl_statics_reading(r.statics, r.state, 0),
                     most = pl_statics_reading(r.statics, r.state, 1);
        print_message(
            "force %g N, EA %g N: %.6e mm, closed form %.6e mm; tension up to %.3g N, strain %.2e\n",
            c[k].force, EA, u, want, tension, most);
        if (c[k].stiffness > 0) {
            PL_CHECK_NEAR(u / want, 1, 0.02);
        } else {
            PL_CHECK_BELOW(most, 1e-4);
            assert_true(tension > 0.1);
        }
        rig_clear(&r);
    }

    pl_mesh_destroy(mesh);
}

// ---- windings
// A quarter of a tube along z, ri 6, ro 8, length 30 mm, cut at two planes of symmetry, with the surface
// `wall` inside.
static pl_mesh *quarter_tube(int around, int along)
{
    pl_error err = {0};
    const double size[3] = {1, 1, 1};
    pl_mesh *linear = NULL, *raised = NULL, *bent = NULL, *out = NULL;

    PL_CHECK_OK(box_mesh(1, around, along, size, NULL, NULL, &linear, &err));
    PL_CHECK_OK(pl_mesh_raise(linear, &raised, &err));
    const pl_mesh_view v = pl_mesh_get(raised);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);
    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *u = v.position + 3 * (size_t)i, r = 6 + 2 * u[0], a = 0.5 * PL_PI * u[1];
        x[3 * i] = u[1] == 1 ? 0 : r * cos(a);
        x[3 * i + 1] = r * sin(a);
        x[3 * i + 2] = 30 * u[2];
    }

    PL_CHECK_OK(pl_mesh_moved(raised, x, &bent, &err));
    const int64_t *boundary, faces = pl_mesh_boundary(bent, &boundary);
    int64_t *face = malloc((size_t)faces * sizeof *face), start[2] = {0};
    for (int64_t k = 0; k < faces; ++k) {
        int32_t node[PL_FACE_NODES_MAX];
        bool inside = true;
        pl_mesh_face_nodes(bent, boundary[k], node);
        for (int c = 0; c < 3; ++c) {
            inside = inside && fabs(hypot(x[3 * node[c]], x[3 * node[c] + 1]) - 6) < 1e-9;
        }
        if (inside) {
            face[start[1]++] = boundary[k];
        }
    }

    const char *name = "wall";
    PL_CHECK_OK(pl_mesh_with_surfaces(bent, 1, &name, start, face, &out, &err));
    free(x);
    free(face);
    pl_mesh_destroy(linear);
    pl_mesh_destroy(raised);
    pl_mesh_destroy(bent);

    return out;
}

// Crossed inextensible windings at the angle a to the axis allow l_z^2 cos^2 a + l_t^2 sin^2 a = 1 only, l
// the stretches. Under pressure with the thrust of closed ends nothing moves at tan^2 a = 2 (54.7 degrees);
// flatter windings make the tube shorter, steeper ones longer. Their length is that of helices, wherever they
// enter the quarter.
static void test_windings(void **state)
{
    (void)state;
    static const struct {
        double angle, pressure;
        int along, starts;
        bool open; // no thrust
    } c[] = {{54.7356, 0.004, 12, 8, false}, {54.7356, 0.004, 12, 32, false}, {54.7356, 0.002, 24, 16, false},
             {45, 0.004, 12, 32, false},     {75, 0.004, 12, 16, false},      {54.7356, 0.02, 12, 16, true},
             {70, 0.02, 12, 16, true}};
    const pl_material wall = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.499};
    for (int k = 0; k < PL_COUNT(c); ++k) {
        static plan p;
        const double a = c[k].angle * PL_PI / 180;
        pl_mesh *mesh = quarter_tube(c[k].along / 3, c[k].along);
        plan_init(&p, mesh, wall);
        plan_plane(&p, "low", 2, 0);
        plan_plane(&p, "end", 2, 30);
        plan_plane(&p, "cut", 0, 0);
        plan_plane(&p, "floor", 1, 0);
        plan_hold(&p, "low", "z");
        plan_hold(&p, "cut", "x");
        plan_hold(&p, "floor", "y");
        plan_marker(&p, "end", "end");
        p.pressure[0] = (pl_surface_pressure_def){.surface = "wall", .pressure = c[k].pressure};
        p.pressure[1] = (pl_surface_pressure_def){.surface = "end", .pressure = -c[k].pressure * 36 / 28};
        p.def.pressure_count = c[k].open ? 1 : 2;
        p.fibre[p.def.fibre_count++] = (pl_fibre_def){.name = "wrap",
                                                      .kind = PL_FIBRE_HELIX,
                                                      .surface = "wall",
                                                      .axis = {0, 0, 1},
                                                      .angle = a,
                                                      .hand = PL_HAND_BOTH,
                                                      .starts = c[k].starts};
        const pl_statics_options options = pl_statics_options_default();
        rig r = plan_build(&p, &options);
        const double want = 2 * c[k].starts * 30 / cos(a) / 4;
        PL_CHECK_NEAR(pl_robot_fibre(r.robot, 0).length / want, 1, 1e-3);
        const pl_solve_report report = rig_try(&r, &idle);
        assert_int_equal(report.outcome, PL_SOLVED);
        double radial = 0, count = 0;
        const double *X = rig_rest(&r), *x = rig_x(&r);
        for (int32_t i = 0; i < pl_state_vertex_count(r.state); ++i) {
            const double R = hypot(X[3 * i], X[3 * i + 1]);
            if (fabs(R - 6) < 1e-9 && X[3 * i + 2] > 6 && X[3 * i + 2] < 24) {
                radial += hypot(x[3 * i], x[3 * i + 1]) / R - 1;
                count++;
            }
        }
        radial /= count;
        const double along = pl_statics_marker(r.statics, r.state, 0).displacement[2] / 30,
                     rule = 0.5 * (pow((1 + along) * cos(a), 2) + pow((1 + radial) * sin(a), 2) - 1);
        print_message(
            "windings at %.1f degrees, %2d starts: longer by %+.4f %%, wider by %+.4f %%, along the "
            "fibres %+.4f %%; %d factorisations\n",
            c[k].angle, c[k].starts, 100 * along, 100 * radial, 100 * rule, report.factorizations);
        PL_CHECK_BELOW(report.factorizations, c[k].open ? 30 : 12);
        if (c[k].open) { // the ends bulge: the rule holds between them
            assert_true(along < -0.005 && radial > 0.001);
            PL_CHECK_BELOW(fabs(rule), 2e-3);
        } else if (k < 3) {
            PL_CHECK_BELOW(fabs(along), 2e-4); // without windings the tube is 2.4 % wider
            PL_CHECK_BELOW(fabs(radial), 1e-3);
        } else {
            assert_true(k == 3 ? along < -0.003 : along > 0.003);
            PL_CHECK_BELOW(fabs(rule), 1e-3);
        }
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_elements_converge),
        cmocka_unit_test(test_composite_beam),
        cmocka_unit_test(test_wrinkled_bar),
        cmocka_unit_test(test_layer_sensitivity),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_windings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
