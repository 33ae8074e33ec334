// Laws of growth ratios minimised jointly: derivatives of a film point's energy agree with differences, the
// ratios found are a minimum on their plane, the energy left falls in every plain step and is a minimum of
// the shape, and that shape is the exact core's with the same energy, for chambers, films and cables.
#include "base/base.h"
#include "base/vec.h"
#include "geometric/geometric_block.h"
#include "geometric/geometric_impl.h"
#include "geometric_robot.h"

static const pl_material soft = {.model = PL_LINEAR, .young = 1.3, .poisson = 0.3};

// e(r) = |G|^2 - 2 max tr(R^T F G) of a film point, its rotation found by search.
static double film_energy(const double F[9], const double n[3], double r)
{
    double A[9], R[9], G[9], sum = 0;
    for (int i = 0; i < 9; ++i) {
        G[i] = sqrt(r) * (i % 4 == 0) + (1 / r - sqrt(r)) * n[i / 3] * n[i % 3];
        sum += G[i] * G[i];
    }

    pl_mul33(F, G, A);
    geo_rotation_slow(A, R);
    for (int i = 0; i < 9; ++i) {
        sum -= 2 * R[i] * A[i];
    }

    return sum;
}

// A tet of unit gradients has F = its three edges; eight at a time, at random.
static void test_film_derivatives(void **state)
{
    (void)state;
    const geo_kernels *kernels = geo_kernels_choose();
    pl_random random;
    pl_random_seed(&random, 5);
    double worst[3] = {0};
    for (int trial = 0; trial < 50; ++trial) {
        double x[3 * 4 * GEO_LANES], gradient[12 * GEO_LANES], weight[GEO_LANES], normal[3 * GEO_LANES];
        double ratio[GEO_LANES], out[3][3][GEO_LANES], F[GEO_LANES][9];
        geo_block block = {.node_count = 4, .point_count = 1, .lane_count = GEO_LANES};
        block.gradient = gradient;
        block.weight = weight;
        block.normal = normal;
        for (int l = 0; l < GEO_LANES; ++l) {
            double n[3];
            for (int i = 0; i < 3; ++i) {
                n[i] = pl_random_uniform(&random, -1, 1);
            }
            const double length = pl_norm3(n);
            ratio[l] = pl_random_uniform(&random, 0.5, 2);
            weight[l] = pl_random_uniform(&random, 0.5, 2);
            for (int i = 0; i < 12; ++i) {
                gradient[i * GEO_LANES + l] = i < 3 ? -1 : i % 4 == 3;
            }
            for (int a = 0; a < 4; ++a) {
                block.node[a][l] = 4 * l + a;
                for (int i = 0; i < 3; ++i) {
                    F[l][3 * i + (a + 2) % 3] =
                        a == 0 ? 0 : (i == a - 1) + pl_random_uniform(&random, -0.4, 0.4);
                    x[3 * (4 * l + a) + i] = a == 0 ? 0 : F[l][3 * i + (a + 2) % 3];
                }
            }
            for (int i = 0; i < 3; ++i) {
                normal[i * GEO_LANES + l] = n[i] / length;
            }
        }
        const double h = 1e-4;
        for (int side = -1; side <= 1; ++side) {
            double moved[GEO_LANES];
            for (int l = 0; l < GEO_LANES; ++l) {
                moved[l] = ratio[l] + side * h;
            }
            kernels->film(&block, x, moved, out[side + 1][0], out[side + 1][1], out[side + 1][2]);
        }
        for (int l = 0; l < GEO_LANES; ++l) {
            const double n[3] = {normal[l], normal[GEO_LANES + l], normal[2 * GEO_LANES + l]};
            const double slope = (out[2][0][l] - out[0][0][l]) / (2 * h),
                         bend = (out[2][1][l] - out[0][1][l]) / (2 * h);
            worst[0] = fmax(worst[0], fabs(out[1][0][l] - weight[l] * film_energy(F[l], n, ratio[l])));
            worst[1] = fmax(worst[1], fabs(out[1][1][l] - slope) / (1 + fabs(slope)));
            worst[2] = fmax(worst[2], fabs(out[1][2][l] - bend) / (1 + fabs(bend)));
        }
    }

    print_message("energy to %.1e, slope to %.1e, curvature to %.1e of differences\n", worst[0], worst[1],
                  worst[2]);
    PL_CHECK_BELOW(worst[0], 1e-10);
    PL_CHECK_BELOW(worst[1], 1e-6);
    PL_CHECK_BELOW(worst[2], 1e-6);
}

// ---- three robots
// A plate of prisms clamped on its left edge, its right half a film that grows.
static rig film_rig(void)
{
    static plan p;
    pl_mesh *mesh = prism_box(8, 4, 1, 16, 8, 1, 1);

    plan_init(&p, mesh, soft);
    p.surface[p.def.surface_count++] = (pl_surface_def){
        .name = "top", .pick = {.kind = PL_PICK_BOX, .low = {7.9, -1, 0.9}, .high = {17, 9, 1.1}}};
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 16);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    plan_film(&p, "film", "top", PL_DRIVE_AREA_RATIO);
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);

    return r;
}

static const pl_guide_def cable_guide[5] = {{.point = {0, 2.5, 5}},
                                            {.point = {10, 2.5, 5}},
                                            {.point = {12.5, 2.5, 5}},
                                            {.point = {21, 2.5, 5}},
                                            {.point = {30, 2.5, 5}}};

// A beam with a cable along its upper side; beside its second piece stands no vertex, so it has no triangle.
static rig cable_rig(void)
{
    static plan p;
    pl_mesh *mesh = tet_box(12, 2, 2, 30, 5, 5, 1, NULL);

    plan_init(&p, mesh, soft);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 30);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    plan_cable(&p, "tendon", cable_guide, 5, PL_DRIVE_LENGTH_RATIO);
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);

    return r;
}

static pl_geometric_options joint_options(void)
{
    pl_geometric_options o = geo_tight();
    o.form = PL_FORM_MU_LAMBDA;
    o.distribution = PL_RATIOS_JOINT;
    o.actuation = PL_ACTUATE_GROWTH;
    return o;
}

// The energy of the actuation elements at given ratios: kernels and triangles, nothing of the search.
static double energy_at_ratios(pl_geometric *g)
{
    double sum = geo_triangles_force(g, g->x, NULL);
    for (int b = 0; b < g->cells.block_count; ++b) {
        const geo_block *block = &g->cells.block[b];
        double energy[GEO_LANES], min_J[GEO_LANES];
        geo_kernels_choose()->local(block, &g->cells.law[block->law], g->x, g->growth.ratio, energy, min_J,
                                    NULL);
        for (int l = 0; l < block->lane_count; ++l) {
            sum += energy[l];
        }
    }

    return sum;
}

// Ratio k of the drive's list of `n`, and what it weighs in the sum.
static double *ratio_of(pl_geometric *g, const geo_drive *d, int64_t k, double *share)
{
    geo_triangle *t = g->growth.triangle + d->first_triangle;
    *share = d->triangle_count > 0 ? t[k].length : g->growth.share[d->first_point + k];
    return d->triangle_count > 0 ? &t[k].ratio : &g->growth.ratio[d->first_point + k];
}

// At a shape that is no equilibrium: ratios moved at random within the plane sum u r = goal raise the energy,
// by the square of the motion.
static void check_ratios(pl_geometric *g, rig *r, double ratio, const char *what)
{
    pl_error err = {0};
    double energy, step, goal = 0, sum = 0;
    double *x = (double *)pl_state_positions(r->state);

    for (int32_t i = 0; i < 3 * pl_state_vertex_count(r->state); ++i) {
        x[i] += 0.15 * sin(2.3 * i) * (rig_rest(r)[i / 3 * 3] > 0);
    }
    PL_CHECK_OK(pl_geometric_residual(g, r->state, &ratio, &energy, &step, &err));
    geo_drive *d = &g->drive[0];
    const int64_t n = d->triangle_count > 0 ? d->triangle_count : d->point_count;
    double *kept = calloc((size_t)n, sizeof *kept), *move = calloc((size_t)n, sizeof *move), share;
    for (int64_t k = 0; k < n; ++k) {
        kept[k] = *ratio_of(g, d, k, &share);
        sum += share * kept[k];
        goal += share * ratio;
    }

    if (d->triangle_count == 0) {
        PL_CHECK_NEAR(sum / goal, 1, 1e-12);
    } else {
        PL_CHECK_NEAR((sum + geo_cable_rigid(g, d)) / (ratio * d->rest), 1, 1e-12);
    }

    const double least = energy_at_ratios(g);
    pl_random random;
    pl_random_seed(&random, 17);
    double worst = 0;
    for (int trial = 0; trial < 20; ++trial) {
        double along = 0, all = 0, change[2];
        for (int64_t k = 0; k < n; ++k) {
            move[k] = pl_random_uniform(&random, -1, 1);
            ratio_of(g, d, k, &share);
            along += share * move[k];
            all += share * share;
        }
        for (int side = 0; side < 2; ++side) {
            for (int64_t k = 0; k < n; ++k) {
                double *to = ratio_of(g, d, k, &share);
                *to = kept[k] + (side ? 1e-3 : -1e-3) * (share > 0 ? move[k] - along / all * share : 0);
            }
            change[side] = energy_at_ratios(g) - least;
            assert_true(change[side] > 0);
        }
        worst = fmax(worst, fabs(change[1] - change[0]) / (change[0] + change[1]));
    }

    print_message("%s: sum met to %.1e, ratios %.3f .. %.3f, slope over curvature %.1e\n", what,
                  fabs(sum / goal - 1), d->local_low, d->local_high, worst);
    PL_CHECK_BELOW(worst, 0.01);
    free(kept);
    free(move);
}

// Plain steps never raise the energy; where accelerated ones end, no motion lowers it, and its slope there is
// nothing beside its curvature.
static void check_shape(rig *r, double ratio, const char *what)
{
    pl_error err = {0};
    pl_geometric_options o = joint_options();

    o.acceleration = PL_ACCELERATE_NONE;
    o.iteration_limit = 1;
    pl_geometric *g = geo_make(r->robot, &o);
    double last = INFINITY, step, energy;
    pl_state_reset(r->state, r->robot);
    for (int i = 0; i < 40; ++i) {
        pl_solve_report report;
        PL_CHECK_OK(pl_geometric_residual(g, r->state, &ratio, &energy, &step, &err));
        PL_CHECK_BELOW(energy, last * (1 + 1e-12));
        last = energy;
        PL_CHECK_OK(pl_geometric_solve(g, r->state, &ratio, &report, &err));
    }

    pl_geometric_destroy(g);
    o = joint_options();
    g = geo_make(r->robot, &o);
    const pl_solve_report report = geo_run(g, r->state, &ratio);
    print_message("%s: %d iterations, %d taken back, reached %.4f of %.4f\n", what, report.iterations,
                  pl_geometric_get_info(g).rejected, pl_geometric_actuator(g, 0).ratio, ratio);
    assert_true(g->potential);
    pl_state *moved = NULL;
    PL_CHECK_OK(pl_state_create(r->robot, &moved, &err));
    PL_CHECK_OK(pl_geometric_residual(g, r->state, &ratio, &last, &step, &err));
    for (int axis = 0; axis < 3; ++axis) {
        double side_energy[2];
        for (int side = 0; side < 2; ++side) {
            PL_CHECK_OK(pl_state_copy(moved, r->state));
            const double *rest = rig_rest(r);
            for (int32_t v = 0; v < pl_state_vertex_count(moved); ++v) {
                const double s = rest[3 * v] * (1 + 0.3 * sin(rest[3 * v + 1] + axis)) / 20;
                ((double *)pl_state_positions(moved))[3 * v + axis] += (side ? 1e-3 : -1e-3) * s;
            }
            PL_CHECK_OK(pl_geometric_residual(g, moved, &ratio, &side_energy[side], &step, &err));
        }
        assert_true(side_energy[0] > last && side_energy[1] > last);
        PL_CHECK_NEAR((side_energy[1] - side_energy[0]) / (side_energy[1] + side_energy[0] - 2 * last), 0,
                      1e-2);
    }

    check_ratios(g, r, ratio, what);
    pl_state_destroy(moved);
    pl_geometric_destroy(g);
    rig_clear(r);
}

static void test_chamber_is_a_minimum(void **state)
{
    (void)state;
    rig r = geo_hollow(soft, PL_DRIVE_VOLUME_RATIO, 1, true);
    check_shape(&r, 1.5, "chamber");
}

// The vertex metric weighs every tet by its own size, and the published code leaves its volume out: the
// ratios are those of least energy all the same, and their sum is the volume's.
static void test_chamber_by_vertices(void **state)
{
    (void)state;
    for (int even = 0; even < 2; ++even) {
        rig r = geo_hollow_shaken(soft, PL_DRIVE_VOLUME_RATIO, 1, true, 0.7);
        pl_geometric_options o = joint_options();
        o.form = PL_FORM_BLENDED;
        o.metric = PL_METRIC_VERTEX;
        o.even_weights = even;
        pl_geometric *g = geo_make(r.robot, &o);
        check_ratios(g, &r, 1.5, even ? "chamber by vertices, even" : "chamber by vertices");
        double volume = 0;
        for (int64_t k = 0; k < g->drive[0].point_count; ++k) {
            volume += g->growth.share[k];
        }
        PL_CHECK_NEAR(volume / g->drive[0].rest, 1, 1e-12);
        pl_geometric_destroy(g);
        rig_clear(&r);
    }
}

static void test_film_is_a_minimum(void **state)
{
    (void)state;
    rig r = film_rig();
    check_shape(&r, 1.3, "film");
}

static void test_cable_is_a_minimum(void **state)
{
    (void)state;
    rig r = cable_rig();
    check_shape(&r, 0.85, "cable");
}

// ---- against the exact core
// The same energy in both: the (mu, lambda) form, and actuation elements of a modulus.
static void check_exact(plan *p, double command, const char *what)
{
    pl_error err = {0};
    pl_statics_options exact = tight_options();

    exact.displacement = true;
    exact.distribution = PL_RATIOS_JOINT;
    p->actuator[0].growth = true;
    p->actuator[0].modulus = 3;
    rig r = plan_build(p, &exact);
    rig_solve(&r, &command);
    double low[3], high[3], size = 0;
    pl_mesh_bounds(pl_robot_mesh(r.robot), low, high);
    for (int i = 0; i < 3; ++i) {
        size = fmax(size, high[i] - low[i]);
    }

    for (int k = PL_ACCELERATE_ANDERSON; k <= PL_ACCELERATE_LBFGS; ++k) {
        pl_geometric_options o = joint_options();
        o.acceleration = (pl_acceleration)k;
        pl_geometric *g = geo_make(r.robot, &o);
        pl_state *other = NULL;
        PL_CHECK_OK(pl_state_create(r.robot, &other, &err));
        const pl_solve_report report = geo_run(g, other, &command);
        const double apart = state_distance(r.state, other) / size;
        const double ratio = pl_statics_actuator(r.statics, r.state, 0).ratio,
                     energy = pl_statics_elastic(r.statics, r.state, NULL);
        print_message("%s, acceleration %d: %d iterations, %.1e of the size apart; %.9f reached of %g, "
                      "energy %.9g, the exact core's %.9g\n",
                      what, k, report.iterations, apart, ratio, command, report.energy, energy);
        PL_CHECK_BELOW(apart, 1e-6);
        PL_CHECK_NEAR(pl_geometric_actuator(g, 0).ratio, ratio, 1e-7);
        PL_CHECK_NEAR(report.energy / energy, 1, 1e-7);
        assert_true(fabs(ratio - 1) > 0.05); // far enough to mean something
        pl_state_destroy(other);
        pl_geometric_destroy(g);
    }

    rig_clear(&r);
}

static void test_chamber_agrees(void **state)
{
    (void)state;
    static plan p;
    int32_t region[45] = {0};
    for (int i = 1; i < 4; ++i) {
        region[i + 5 * (1 + 3 * 1)] = 1;
    }

    pl_error err = {0};
    pl_mesh *mesh = NULL;
    PL_CHECK_OK(box_mesh(5, 3, 3, (const double[3]){20, 12, 12}, NULL, region, &mesh, &err));
    plan_init(&p, mesh, soft);
    plan_plane(&p, "base", 0, 0);
    plan_hold(&p, "base", "xyz");
    plan_chamber(&p, "air", NULL, PL_DRIVE_VOLUME_RATIO)->region = "second";
    check_exact(&p, 1.6, "chamber");
    pl_mesh_destroy(mesh);
}

// The outer half of a plate of prisms is a film.
static pl_mesh *film_mesh(void)
{
    static const char *const name[2] = {"body", "film"};
    pl_mesh *one = prism_box(8, 4, 1, 16, 8, 1, 1), *two = NULL;
    const pl_mesh_view v = pl_mesh_get(one);
    int32_t *region = calloc((size_t)v.element_count, sizeof *region);

    for (int32_t e = 0; e < v.element_count; ++e) {
        double x = 0;
        for (int64_t k = v.node_start[e]; k < v.node_start[e + 1]; ++k) {
            x += v.position[3 * v.node[k]] / 6;
        }
        region[e] = x > 8;
    }

    const pl_mesh_def def = {.vertex_count = v.vertex_count,
                             .position = v.position,
                             .element_count = v.element_count,
                             .kind = v.kind,
                             .node_start = v.node_start,
                             .node = v.node,
                             .region = region,
                             .region_count = 2,
                             .region_name = name};
    pl_error err = {0};
    PL_CHECK_OK(pl_mesh_create(&def, &two, NULL, &err));
    free(region);
    pl_mesh_destroy(one);

    return two;
}

static void test_film_agrees(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = film_mesh();
    plan_init(&p, mesh, soft);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 16);
    plan_hold(&p, "base", "xyz");
    plan_plane(&p, "bottom", 2, 0); // a plate that grows beside one that does not would leave its plane
    plan_hold(&p, "bottom", "z");
    plan_hold(&p, "tip", "xz"); // so that it cannot be had for nothing
    plan_film(&p, "film", NULL, PL_DRIVE_AREA_RATIO)->region = "film";
    check_exact(&p, 1.15, "film");
    pl_mesh_destroy(mesh);
}

static void test_cable_agrees(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = tet_box(12, 2, 2, 30, 5, 5, 1, NULL);
    plan_init(&p, mesh, soft);
    plan_plane(&p, "base", 0, 0);
    plan_hold(&p, "base", "xyz");
    plan_cable(&p, "tendon", cable_guide, PL_COUNT(cable_guide), PL_DRIVE_LENGTH_RATIO);
    check_exact(&p, 0.7, "cable");
    pl_mesh_destroy(mesh);
}

// The pieces without a triangle keep their length: less than that cannot be asked for.
static void test_cable_too_short(void **state)
{
    (void)state;
    rig r = cable_rig();
    pl_geometric_options o = joint_options();
    pl_geometric *g = geo_make(r.robot, &o);
    pl_error err = {0};
    pl_solve_report report;
    PL_CHECK_NEAR(geo_cable_rigid(g, &g->drive[0]), 2.5, 1e-12);
    assert_int_equal(pl_geometric_solve(g, r.state, &(double){2.4 / 30}, &report, &err), PL_BAD_INPUT);
    assert_non_null(strstr(err.text, "without a triangle are already 2.5 mm"));
    pl_geometric_destroy(g);
    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_film_derivatives),    cmocka_unit_test(test_chamber_is_a_minimum),
        cmocka_unit_test(test_chamber_by_vertices), cmocka_unit_test(test_film_is_a_minimum),
        cmocka_unit_test(test_cable_is_a_minimum),  cmocka_unit_test(test_chamber_agrees),
        cmocka_unit_test(test_film_agrees),         cmocka_unit_test(test_cable_agrees),
        cmocka_unit_test(test_cable_too_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
