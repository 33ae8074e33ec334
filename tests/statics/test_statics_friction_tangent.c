// Friction with features of obstacles: the tangent with limits that follow the pressures, K - C, is the
// derivative of the forces, where a feature slips on one face and where neighbouring faces share its foot.
// What is left out, the second derivative of the shares, is proportional to the gaps, which are closed here.
#include "problem/problem.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.3};

// A block of 4 x 4 x 4 mm, clamped at z = 0; a ball or a pin of radius 0.5 above (x, y) that has come down
// and is drawn aside.
static rig feature_rig(plan *p, pl_mesh *mesh, pl_obstacle_def *o, bool pin, const double at[2])
{
    *o = (pl_obstacle_def){.name = "feature",
                           .kind = pin ? PL_OBSTACLE_CYLINDER : PL_OBSTACLE_SPHERE,
                           .radius = 0.5,
                           .point = {at[0], at[1], 4.499},
                           .moves = true,
                           .move = {0.16, 0.1, -0.1},
                           .friction = 0.1};
    o->direction[1] = pin ? 1 : 0;
    plan_init(p, mesh, rubber);
    plan_plane(p, "base", 2, 0);
    plan_hold(p, "base", "xyz");
    p->def.contact = (pl_contact_def){.given = true, .obstacle = o, .obstacle_count = 1};
    pl_statics_options options = pl_statics_options_default();
    options.contact_tolerance = 1e-4;

    return plan_build(p, &options);
}

// The pressures of d, which B^T d - M / kappa dp = 0 eliminates.
static void add_pressures(pl_problem *p, double *d, double *product)
{
    double *dp = malloc((size_t)p->elements->pressure_count * sizeof *dp + 1);
    pl_sparse_multiply(&p->tangent.K, d, product);
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        dp[k] = product[p->unknowns.pressure_dof[k]] / p->elements->pressure_unit[k];
    }
    pl_elements_mass_solve(p->elements, dp);
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        d[p->unknowns.pressure_dof[k]] =
            p->elements->pressure_kappa[k] * dp[k] / p->elements->pressure_unit[k];
    }

    free(dp);
}

// K d and C d, of the unknowns, at x.
static void products(pl_problem *p, const double *x, double *d, double *K, double *C)
{
    const size_t full = pl_problem_full_bytes(p);
    double *motion = malloc(full), *force = calloc(1, full), *g = malloc((size_t)p->unknowns.n * sizeof *g);

    pl_problem_evaluate(p, x, g);
    pl_problem_assemble(p, &(pl_linearization){.x = x, .exact = true});
    add_pressures(p, d, K);
    pl_sparse_multiply(&p->tangent.K, d, K);
    pl_problem_expand(p, x, d, motion);
    pl_problem_nonsymmetric(p, x, motion, force);
    pl_problem_gather(p, force, x, C);
    free(motion);
    free(force);
    free(g);
}

// The largest difference of K d - C d and of K d from central differences, over the largest of them.
static void differences(pl_problem *p, const double *x, double error[2])
{
    const int32_t n = p->unknowns.n;
    const size_t bytes = (size_t)n * sizeof(double), full = pl_problem_full_bytes(p);
    double *d = calloc((size_t)n, sizeof *d), *K = malloc(bytes), *C = malloc(bytes), *up = malloc(bytes),
           *down = malloc(bytes), *moved = malloc(full), largest = 0;
    const double h = 1e-7;
    pl_random random;

    pl_random_seed(&random, 5);
    for (int32_t i = 0; i < 3 * p->mesh.vertex_count; ++i) {
        if (p->unknowns.dof[i] >= 0) {
            d[p->unknowns.dof[i]] = pl_random_uniform(&random, -1, 1);
        }
    }

    products(p, x, d, K, C);
    pl_problem_move(p, x, d, h, moved);
    pl_problem_evaluate(p, moved, up);
    pl_problem_move(p, x, d, -h, moved);
    pl_problem_evaluate(p, moved, down);
    error[0] = error[1] = 0;
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        const int32_t i = p->unknowns.pressure_dof[k];
        up[i] = down[i] = K[i] = C[i] = 0;
    }

    for (int32_t i = 0; i < n; ++i) {
        const double slope = (up[i] - down[i]) / (2 * h);
        largest = fmax(largest, fabs(slope));
        error[0] = fmax(error[0], fabs(K[i] - C[i] - slope));
        error[1] = fmax(error[1], fabs(K[i] - slope));
    }

    error[0] /= largest;
    error[1] /= largest;
    void *owned[] = {d, K, C, up, down, moved};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        free(owned[i]);
    }
}

// At a third of the block's width is an edge of its faces, which the feature stands on or beside.
static void test_tangent(void **state)
{
    (void)state;
    static plan p;
    static const double at[][2] = {{1.8, 2.25}, {4.0 / 3, 2.25}, {1.36, 2.25}, {4.0 / 3, 2.62}};
    const pl_problem_options options = {.distribution = PL_RATIOS_UNIFORM, .force_tolerance = 1e-10};
    for (int k = 0; k < 2 * PL_COUNT(at); ++k) {
        pl_mesh *mesh = tet_box(3, 3, 3, 4, 4, 4, 2, NULL);
        pl_obstacle_def o;
        pl_problem *problem = NULL;
        pl_error err = {0};
        rig r = feature_rig(&p, mesh, &o, k / PL_COUNT(at), at[k % PL_COUNT(at)]);
        const double touching = 0.3, before = 1, after = 1 + 5e-5;
        rig_solve(&r, &touching);
        rig_solve(&r, &before);

        // drawn on a little beside the shape as it was: the feature slips
        PL_CHECK_OK(pl_problem_create(r.robot, &options, NULL, &problem, &err));
        PL_CHECK_OK(
            pl_problem_begin_step(problem, &(pl_step){.from = r.state, .command = &after, .load = 1}, &err));
        pl_problem_set(problem, 1);
        PL_CHECK_OK(pl_problem_accept(problem, r.state->x, PL_ACCEPT_UPDATE, &err));
        assert_true(pl_problem_follow(problem, PL_FOLLOW_SHAPE));
        double error[2];
        differences(problem, r.state->x, error);
        printf("%s at (%.3f, %.3f): K - C off by %.1e, K alone by %.1e\n", k / PL_COUNT(at) ? "pin" : "ball",
               at[k % PL_COUNT(at)][0], at[k % PL_COUNT(at)][1], error[0], error[1]);
        PL_CHECK_BELOW(error[0], 1e-3);
        assert_true(error[1] > 5e-3);
        pl_problem_destroy(problem);
        rig_clear(&r);
        pl_mesh_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tangent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
