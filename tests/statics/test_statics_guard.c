// Guards of thin curved tets: an eighth of a thick ball of few elements, inflated far beyond the ratio at
// which they would fold between their quadrature points; pressure beside the closed form, derivatives beside
// differences where guards act.
#include "problem/problem.h"
#include "statics_robot.h"

#define GUARD_CELLS 3 // per edge; the first cell is the cavity

static const pl_material rubber = {
    .model = PL_OGDEN, .ogden_mu = {0.08, 0.004}, .ogden_alpha = {1.6, 4.5}, .poisson = 0.495};

// The cube from 0 to 3 without its first cell, drawn to an eighth of a ball of radius 3 with a cavity of 1.
static pl_mesh *ball_mesh(void)
{
    bool hole[GUARD_CELLS * GUARD_CELLS * GUARD_CELLS] = {true};
    pl_mesh *cube = tet_box(GUARD_CELLS, GUARD_CELLS, GUARD_CELLS, 3, 3, 3, 1, hole);
    const pl_mesh_view v = pl_mesh_get(cube);
    double *x = malloc(3 * (size_t)v.vertex_count * sizeof *x);

    for (int32_t i = 0; i < v.vertex_count; ++i) {
        const double *p = v.position + 3 * i, n = pl_norm3(p);
        for (int k = 0; k < 3; ++k) {
            x[3 * i + k] = n > 0 ? p[k] * fmax(p[0], fmax(p[1], p[2])) / n : 0;
        }
    }

    return shaped_mesh(cube, x);
}

static void ball_plan(plan *p, const pl_mesh *mesh, bool chamber)
{
    static const char *const plane[3] = {"sx", "sy", "sz"}, *const axis[3] = {"x", "y", "z"};
    plan_init(p, mesh, rubber);
    for (int k = 0; k < 3; ++k) {
        plan_plane(p, plane[k], k, 0);
        plan_hold(p, plane[k], axis[k]);
    }

    p->surface[p->def.surface_count++] = (pl_surface_def){
        .name = "cavity", .pick = {.kind = PL_PICK_BOX, .low = {0, 0, 0}, .high = {1.01, 1.01, 1.01}}};
    if (chamber) {
        plan_chamber(p, "air", "cavity", PL_DRIVE_VOLUME_RATIO);
    }
}

// Incompressible: p = int from l_b to l_a of W'(l) / (l^3 - 1) dl, W(l) = W(l, l, l^-2), l = r / R.
static double ball_pressure(double ratio, double inner, double outer)
{
    const double la = cbrt(ratio), lb = cbrt(1 + pow(inner / outer, 3) * (ratio - 1));
    double sum = 0;

    for (int i = 0; i < 4000; ++i) {
        const double l = lb + (la - lb) * (i + 0.5) / 4000;
        for (int k = 0; k < 2; ++k) {
            const double a = rubber.ogden_alpha[k];
            sum += 4 * rubber.ogden_mu[k] / a * (pow(l, a - 1) - pow(l, -2 * a - 1)) / (l * l * l - 1);
        }
    }

    return sum * (la - lb) / 4000;
}

// Energy and gradient, gradient and tangent along a random direction at the positions x, without a chamber.
static void check_derivatives(const pl_mesh *mesh, const double *at)
{
    const pl_problem_options options = {.distribution = PL_RATIOS_UNIFORM, .force_tolerance = 1e-10};
    pl_error err = {0};
    plan q;

    ball_plan(&q, mesh, false);
    pl_robot *robot = plan_robot(&q);
    pl_problem *p;
    pl_state *state;
    PL_CHECK_OK(pl_problem_create(robot, &options, NULL, &p, &err));
    PL_CHECK_OK(pl_state_create(robot, &state, &err));
    memcpy(state->x, at, pl_problem_full_bytes(p));
    PL_CHECK_OK(pl_problem_begin_step(p, &(pl_step){.from = state, .command = NULL, .load = 1}, &err));
    const double guards = pl_problem_elastic(p, at, NULL) - pl_elements_energy(p->elements, at, NULL, NULL);
    assert_true(guards > 0);

    const int32_t n = p->unknowns.n;
    const size_t bytes = (size_t)n * sizeof(double), full = pl_problem_full_bytes(p);
    double *g[3] = {malloc(bytes), malloc(bytes), malloc(bytes)}, *d = calloc((size_t)n, sizeof *d),
           *x[2] = {malloc(full), malloc(full)}, energy[2], slope = 0, curvature = 0, assembled = 0;
    pl_random random;
    pl_random_seed(&random, 3);
    for (int32_t i = 0; i < 3 * p->mesh.vertex_count; ++i) {
        if (p->unknowns.dof[i] >= 0) {
            d[p->unknowns.dof[i]] = pl_random_uniform(&random, -1, 1);
        }
    }

    pl_problem_evaluate(p, at, g[2]);
    const double step = 5e-8;
    for (int k = 0; k < 2; ++k) {
        pl_problem_move(p, at, d, k ? -step : step, x[k]);
        energy[k] = pl_problem_evaluate(p, x[k], g[k]);
    }

    for (int32_t i = 0; i < n; ++i) {
        slope += g[2][i] * d[i];
        curvature += (g[0][i] - g[1][i]) / (2 * step) * d[i];
    }

    PL_CHECK_NEAR((energy[0] - energy[1]) / (2 * step), slope, 1e-6 * fabs(slope));

    // pressures follow: B^T d - M/kappa dp = 0
    pl_problem_evaluate(p, at, g[2]);
    pl_problem_assemble(p, &(pl_linearization){.x = at});
    pl_sparse_multiply(&p->tangent.K, d, g[0]);
    double *dp = malloc((size_t)p->elements->pressure_count * sizeof *dp + 1);
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        dp[k] = g[0][p->unknowns.pressure_dof[k]] / p->elements->pressure_unit[k];
    }
    pl_elements_mass_solve(p->elements, dp);
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        d[p->unknowns.pressure_dof[k]] =
            p->elements->pressure_kappa[k] * dp[k] / p->elements->pressure_unit[k];
    }

    pl_sparse_multiply(&p->tangent.K, d, g[0]);
    for (int32_t i = 0; i < 3 * p->mesh.vertex_count; ++i) {
        const int32_t u = p->unknowns.dof[i];
        assembled += u >= 0 ? g[0][u] * d[u] : 0;
    }

    print_message(
        "guards hold %.2e mJ; slope %.6g, by differences %.6g; curvature %.6g, by differences %.6g\n", guards,
        slope, (energy[0] - energy[1]) / (2 * step), assembled, curvature);
    PL_CHECK_NEAR(assembled, curvature, 1e-5 * fabs(curvature));
    void *owned[] = {g[0], g[1], g[2], d, x[0], x[1], dp};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        free(owned[i]);
    }
    pl_problem_destroy(p);
    pl_state_destroy(state);
    pl_robot_destroy(robot);
}

static void test_ball(void **state)
{
    (void)state;
    pl_mesh *mesh = ball_mesh();
    plan p;
    ball_plan(&p, mesh, true);
    rig r = plan_build(&p, NULL);
    static const double ratio[] = {30, 100};
    for (int k = 0; k < 2; ++k) {
        const pl_solve_report report = rig_solve(&r, &ratio[k]);
        // radii of balls with the volumes of the mesh
        const double cavity = pl_robot_actuator(r.robot, 0).rest, wall = pl_mesh_region_volume(mesh, -1);
        const double inner = cbrt(6 / PL_PI * cavity), outer = cbrt(6 / PL_PI * (cavity + wall));
        const double expected = ball_pressure(ratio[k], inner, outer),
                     got = pl_statics_actuator(r.statics, r.state, 0).effort;
        print_message("ratio %g: %.2f kPa, closed form %.2f; smallest J %.3f, %d factorisations\n", ratio[k],
                      1e3 * got, 1e3 * expected, report.min_J, report.factorizations);
        PL_CHECK_NEAR(got, expected, 0.02 * expected);
        assert_true(report.min_J > 0);
        assert_true(report.guarded > 0);
    }

    check_derivatives(mesh, rig_x(&r));
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ball)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
