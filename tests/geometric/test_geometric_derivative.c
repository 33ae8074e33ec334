// Laws of the derivatives of the local/global fixed point: the tensor of every target law is the derivative
// of its force, and motion and efforts change as differences of forward solves say, for constraints, forces,
// gas and films, with cables that are taut and slack.
#include "base/vec.h"
#include "geometric/geometric.h"
#include "geometric/geometric_impl.h"
#include "geometric_robot.h"

static const pl_material soft = {.model = PL_LINEAR, .young = 1.3, .poisson = 0.4};

// D(F) of a single tet whose gradient is the identity, from the kernels that iterate.
static void cell_force(const geo_law *law, const double F[9], double D[9])
{
    static double gradient[12 * GEO_LANES], weight[GEO_LANES], force[12 * GEO_LANES];
    double x[12] = {0}, energy[GEO_LANES], min_J[GEO_LANES];
    geo_block block = {.node_count = 4,
                       .point_count = 1,
                       .lane_count = 1,
                       .gradient = gradient,
                       .weight = weight,
                       .growth_start = -1};
    const double g[12] = {-1, -1, -1, 1, 0, 0, 0, 1, 0, 0, 0, 1};

    for (int l = 0; l < GEO_LANES; ++l) {
        for (int i = 0; i < 12; ++i) {
            gradient[i * GEO_LANES + l] = g[i];
        }
        for (int a = 0; a < 4; ++a) {
            block.node[a][l] = a;
        }
        weight[l] = 1;
    }

    for (int a = 1; a < 4; ++a) {
        for (int i = 0; i < 3; ++i) {
            x[3 * a + i] = F[3 * i + a - 1];
        }
    }

    geo_kernels_choose()->local(&block, law, x, NULL, energy, min_J, force);

    // node a + 1 gets 2 w D e_a
    for (int i = 0; i < 9; ++i) {
        D[i] = force[(3 * (i % 3 + 1) + i / 3) * GEO_LANES] / (2 * law->w);
    }
}

static void test_cell_tangents(void **state)
{
    (void)state;
    pl_error err = {0};
    static pl_shape_curve curve;
    const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.49};
    PL_CHECK_OK(pl_shape_curve_fit(&rubber, 2, &curve, &err));
    const geo_law law[3] = {
        {.target = GEO_MU_LAMBDA, .w = 2, .mu = 0.7, .lambda = 1.9},
        {.target = GEO_BLEND, .w = 0.8, .R = 0.3},
        {.target = GEO_CURVE, .w = 0.8, .curve = curve.r_omega, .inverse_reach = (PL_SHAPE_POINTS - 1) / 3.0},
    };
    const double at[3][9] = {{1.3, 0.2, -0.1, 0.3, 0.9, 0.25, 0.1, -0.4, 1.1},
                             {0.4, 0.9, 0.1, -1.2, 0.5, 0.3, 0.2, 0.1, 0.8},
                             {0.5, 0.1, 0.2, 0, 0.3, 0.1, 0.1, 0, 0.5}}; // J = 0.07: below GEO_FLAT_J
    for (int k = 0; k < 3; ++k) {
        for (int f = 0; f < 3; ++f) {
            double A[81], worst = 0;
            geo_cell_tangent(&law[k], at[f], A);
            for (int j = 0; j < 9; ++j) {
                const double h = 1e-6;
                double F[9], up[9], down[9];
                memcpy(F, at[f], sizeof F);
                F[j] += h;
                cell_force(&law[k], F, up);
                F[j] -= 2 * h;
                cell_force(&law[k], F, down);
                for (int i = 0; i < 9; ++i) {
                    worst = fmax(worst, fabs(A[9 * i + j] - (up[i] - down[i]) / (2 * h)));
                }
            }
            print_message("law %d, shape %d: %.1e\n", k, f, worst);
            PL_CHECK_BELOW(worst, 2e-8);
        }
    }
}

// f at x with the multipliers of the linearisation, 0 where held.
static void whole_force(pl_geometric *g, const double *mu, const double *x, double *f)
{
    geo_local(g, x, f);
    for (int k = 0; k < g->drive_count; ++k) {
        if (g->drive[k].mode == GEO_CONSTRAINT && mu[k] != 0) {
            pl_functional_gradient(&g->drive[k].h, x, mu[k], f);
        }
    }

    for (int64_t i = 0; i < 3 * (int64_t)g->vertex_count; ++i) {
        f[i] = g->support_of[i] < 0 ? f[i] : 0;
    }
}

// K v is the derivative of the forces along v.
static void check_tangent(pl_geometric *g, const pl_state *state, const char *what)
{
    pl_error err = {0};
    const int64_t n = 3 * (int64_t)g->vertex_count;
    double *v = malloc((size_t)n * sizeof *v), *x = malloc((size_t)n * sizeof *v),
           *up = malloc((size_t)n * sizeof *v), *down = malloc((size_t)n * sizeof *v),
           *Kv = malloc((size_t)n * sizeof *v), mu[8] = {0}, largest = 0, worst = 0;
    geo_tangent *t = NULL;

    PL_CHECK_OK(geo_linearize(g, state, &err));
    for (int k = 0; k < g->drive_count; ++k) {
        mu[k] = g->drive[k].mode == GEO_CONSTRAINT ? g->drive[k].sign * g->drive[k].effort : 0;
    }
    PL_CHECK_OK(geo_tangent_create(g, g->x, &t, &err));
    for (int64_t i = 0; i < n; ++i) {
        v[i] = g->support_of[i] < 0 ? sin(1.7 * (double)i) : 0;
    }
    geo_tangent_apply(g, t, v, Kv);
    geo_tangent_destroy(t);
    const double h = 1e-5;
    for (int side = -1; side <= 1; side += 2) {
        for (int64_t i = 0; i < n; ++i) {
            x[i] = g->x[i] + side * h * v[i];
        }
        whole_force(g, mu, x, side < 0 ? down : up);
    }

    for (int64_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(Kv[i]));
        worst = fmax(worst, fabs(Kv[i] - (up[i] - down[i]) / (2 * h)));
    }

    print_message("%s: tangent off by %.1e of it\n", what, worst / largest);
    PL_CHECK_BELOW(worst, 1e-7 * largest);
    void *const block[] = {v, x, up, down, Kv};
    for (int i = 0; i < PL_COUNT(block); ++i) {
        free(block[i]);
    }
}

// All derivatives of a robot against differences of forward solves; returns the number of solves.
static int check_derivatives(rig *r, pl_shape_form form, const double *command, const double *step,
                             const char *what)
{
    pl_error err = {0};
    pl_geometric_options o = geo_tight();

    o.form = form;
    o.length_tolerance = 1e-13; // plain steps are short along soft modes: the shape is less exact than this
    pl_geometric *g = geo_make(r->robot, &o);
    const int n = pl_robot_command_count(r->robot), actuators = pl_robot_actuator_count(r->robot);
    const int64_t rows = 3 * (int64_t)pl_state_vertex_count(r->state);
    pl_parameter parameter[4];
    double *dx = calloc((size_t)(rows * n), sizeof *dx), *up = malloc((size_t)rows * sizeof *up), effort[16],
           high[8], c[4];
    for (int j = 0; j < n; ++j) {
        parameter[j] = (pl_parameter){.kind = PL_PARAMETER_COMMAND, .index = j};
        c[j] = command[j];
    }

    pl_geometric_slopes report;
    assert_true(pl_geometric_differentiable(g));
    geo_run(g, r->state, c);
    check_tangent(g, r->state, what);
    PL_CHECK_OK(pl_geometric_sensitivity(g, r->state, parameter, n, 1e-11, dx, effort, &report, &err));
    for (int j = 0; j < n; ++j) {
        double largest = 0, worst = 0, pull = 0, wrong = 0;
        c[j] = command[j] + step[j];
        geo_run(g, r->state, c);
        memcpy(up, pl_state_positions(r->state), (size_t)rows * sizeof *up);
        for (int a = 0; a < actuators; ++a) {
            high[a] = pl_geometric_actuator(g, a).effort;
        }
        c[j] = command[j] - step[j];
        geo_run(g, r->state, c);
        c[j] = command[j];
        for (int64_t i = 0; i < rows; ++i) {
            const double d = (up[i] - pl_state_positions(r->state)[i]) / (2 * step[j]);
            largest = fmax(largest, fabs(d));
            worst = fmax(worst, fabs(d - dx[i * n + j]));
        }
        for (int a = 0; a < actuators; ++a) {
            const double d = (high[a] - pl_geometric_actuator(g, a).effort) / (2 * step[j]);
            pull = fmax(pull, fabs(d));
            wrong = fmax(wrong, fabs(d - effort[a * n + j]));
        }
        print_message("%s, command %d: motion %.3g, off by %.1e of it; efforts %.3g, off by %.1e; %d solves, "
                      "residual %.0e\n",
                      what, j, largest, largest > 0 ? worst / largest : worst, pull,
                      pull > 0 ? wrong / pull : wrong, report.solves, report.residual);
        PL_CHECK_BELOW(worst, 4e-6 * largest + 1e-9);
        PL_CHECK_BELOW(wrong, 4e-6 * pull + 1e-9);
    }

    const int solves = report.solves;
    free(dx);
    free(up);
    pl_geometric_destroy(g);

    return solves;
}

// Three tendons: two pull, one of them round a corner, and one is slack and stays so.
static rig tendon_rig(pl_mesh *mesh)
{
    static plan p;
    pl_material heavy = soft;

    heavy.density = 1.1e-9;
    const pl_guide_def top[3] = {
        {.point = {0.5, 2, 3.5}}, {.point = {10, 2, 3.5}}, {.point = {29.5, 2, 3.5}}};
    const pl_guide_def side[3] = {{.point = {0.5, 3.5, 2}}, {.point = {14, 3.5, 2}}, {.point = {22, 2, 3}}};
    const pl_guide_def under[2] = {{.point = {0.5, 2, 0.5}}, {.point = {29.5, 2, 0.5}}};
    plan_init(&p, mesh, heavy);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 30);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    plan_cable(&p, "top", top, 3, PL_DRIVE_SHORTENING);
    plan_cable(&p, "side", side, 3, PL_DRIVE_SHORTENING);
    plan_cable(&p, "under", under, 2, PL_DRIVE_SHORTENING);
    p.def.gravity[2] = -9810;
    p.force[p.def.force_count++] =
        (pl_force_def){.marker = "tip", .force = {0, 0.002, 0.001}, .moment = {0.05, 0.1, 0}};
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);

    return r;
}

static void test_tendons(void **state)
{
    (void)state;
    const double command[3] = {2.5, 1, -6}, step[3] = {5e-3, 5e-3, 5e-3};
    rig tets = tendon_rig(tet_box(12, 2, 2, 30, 4, 4, 1, NULL));
    check_derivatives(&tets, PL_FORM_MU_LAMBDA, command, step, "tets");
    check_derivatives(&tets, PL_FORM_BLENDED, command, step, "tets, blended");
    rig_clear(&tets);
    rig prisms = tendon_rig(prism_box(12, 2, 2, 30, 4, 4, 1));
    check_derivatives(&prisms, PL_FORM_MU_LAMBDA, command, step, "prisms");
    rig_clear(&prisms);
    rig quadratic = tendon_rig(tet_box(8, 2, 2, 30, 4, 4, 2, NULL));
    check_derivatives(&quadratic, PL_FORM_MU_LAMBDA, command, step, "quadratic tets");
    rig_clear(&quadratic);
}

static void test_chambers(void **state)
{
    (void)state;
    const struct {
        pl_drive drive;
        double command, step;
        const char *name;
    } each[] = {{PL_DRIVE_PRESSURE, 0.1, 1e-4, "pressure"}, {PL_DRIVE_VOLUME_RATIO, 1.2, 1e-4, "volume"}};
    for (int k = 0; k < PL_COUNT(each); ++k) {
        rig r = geo_hollow(soft, each[k].drive, 1, false);
        check_derivatives(&r, PL_FORM_MU_LAMBDA, &each[k].command, &each[k].step, each[k].name);
        rig_clear(&r);
    }

    // gas in chamber and line
    static plan p;
    bool hole[45] = {false};
    for (int i = 1; i < 4; ++i) {
        hole[i + 5 * (1 + 3 * 1)] = true;
    }

    pl_mesh *mesh = tet_box(5, 3, 3, 20, 12, 12, 1, hole);
    plan_init(&p, mesh, soft);
    plan_plane(&p, "base", 0, 0);
    plan_hold(&p, "base", "xyz");
    plan_cavity(&p, "cavity", 10, 6, 6);
    pl_actuator_def *air = plan_chamber(&p, "air", "cavity", PL_DRIVE_SYRINGE);
    air->line_volume = 100;
    air->ambient = 0.1;
    rig gas = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);
    check_derivatives(&gas, PL_FORM_MU_LAMBDA, &(double){60}, &(double){0.05}, "gas");
    rig_clear(&gas);

    // a rubber: targets by the curve
    const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.45};
    rig r = geo_hollow(rubber, PL_DRIVE_PRESSURE, 1, false);
    check_derivatives(&r, PL_FORM_BLENDED, &(double){0.03}, &(double){1e-5}, "rubber");
    rig_clear(&r);
}

static void test_film_and_open_pressure(void **state)
{
    (void)state;
    static plan p;
    pl_mesh *mesh = prism_box(8, 4, 2, 16, 8, 1, 1);
    plan_init(&p, mesh, soft);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "top", 2, 1);
    plan_hold(&p, "base", "xyz");
    pl_actuator_def *film = plan_film(&p, "film", "top", PL_DRIVE_VOLTAGE);
    film->thickness = 0.1;
    film->permittivity = 3;
    p.pressure[p.def.pressure_count++] = (pl_surface_pressure_def){.surface = "top", .pressure = 1e-4};
    rig r = plan_build(&p, NULL);
    pl_mesh_destroy(mesh);
    check_derivatives(&r, PL_FORM_MU_LAMBDA, &(double){6000}, &(double){5},
                      "voltage beside an open pressure");
    rig_clear(&r);
}

// The tension of a slack cable as a parameter: what it does the moment it becomes taut, against a small
// tension of a cable driven by force along the same guides.
static void test_effort_of_slack(void **state)
{
    (void)state;
    pl_error err = {0};
    rig r = tendon_rig(tet_box(12, 2, 2, 30, 4, 4, 1, NULL));
    pl_geometric_options o = geo_tight();
    o.form = PL_FORM_MU_LAMBDA;
    pl_geometric *g = geo_make(r.robot, &o);
    const double command[3] = {2.5, 1, -6};
    const pl_parameter q[2] = {{.kind = PL_PARAMETER_EFFORT, .index = 2},
                               {.kind = PL_PARAMETER_COMMAND, .index = 2}};
    const int64_t rows = 3 * (int64_t)pl_state_vertex_count(r.state);
    double *dx = calloc((size_t)(2 * rows), sizeof *dx), effort[6], length = 0;
    pl_geometric_slopes report;
    geo_run(g, r.state, command);
    PL_CHECK_OK(pl_geometric_sensitivity(g, r.state, q, 2, 1e-11, dx, effort, &report, &err));

    // its length now, then a command that makes it just taut: dx per mm is dx per N over dL per N
    const double rest = pl_geometric_actuator(g, 2).measure / pl_geometric_actuator(g, 2).ratio;
    double *before = malloc((size_t)rows * sizeof *before), taut[3] = {2.5, 1, 0}, along = 0, square = 0;
    length = pl_geometric_actuator(g, 2).measure;
    memcpy(before, pl_state_positions(r.state), (size_t)rows * sizeof *before);
    taut[2] = rest - length + 1e-3;
    geo_run(g, r.state, taut);
    const double tension = pl_geometric_actuator(g, 2).effort;
    for (int64_t i = 0; i < rows; ++i) {
        const double moved = pl_state_positions(r.state)[i] - before[i];
        along += moved * dx[2 * i] * tension;
        square += moved * moved;
        PL_CHECK_NEAR(dx[2 * i + 1], 0, 1e-12); // slack: its command does nothing
    }

    print_message("1 um beyond taut: %.3g N; motion %.4f of the predicted\n", tension, along / square);
    assert_true(tension > 0);
    PL_CHECK_NEAR(along / square, 1, 2e-3);
    PL_CHECK_NEAR(effort[2 * 2], 1, 1e-12);
    free(dx);
    free(before);
    pl_geometric_destroy(g);
    rig_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cell_tangents),   cmocka_unit_test(test_tendons),
        cmocka_unit_test(test_chambers),        cmocka_unit_test(test_film_and_open_pressure),
        cmocka_unit_test(test_effort_of_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
