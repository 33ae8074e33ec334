// A problem without statics: any driver can walk on it. Newton's method in ten lines finds equilibria; a term
// that couples two far vertices from the second increment on changes the pattern without a new ordering; the
// gradient is the derivative of the energy, the tangent that of the gradient.
#include "link_term.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47, .density = 1.1e-9};

typedef struct bench {
    pl_robot *robot;
    pl_state *state;
    pl_problem *problem;
} bench;

// A bar of 40 x 6 x 6 mm, clamped at x = 0, under its weight and a force on its tip.
static pl_robot *bar_robot(void)
{
    static plan p;
    pl_mesh *mesh = tet_box(8, 2, 2, 40, 6, 6, 2, NULL);

    plan_init(&p, mesh, rubber);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.def.gravity[2] = -9810;
    p.force[0] = (pl_force_def){.marker = "tip", .force = {0, 0, -0.02}, .moment = {0.1, 0, 0}};
    p.def.force_count = 1;
    pl_robot *robot = plan_robot(&p);
    pl_mesh_destroy(mesh);

    return robot;
}

static bench bench_build(link_term *link)
{
    static const pl_term_create extra[] = {link_create, NULL};
    const pl_problem_options options = {.distribution = PL_RATIOS_UNIFORM, .force_tolerance = 1e-10};
    pl_error err = {0};
    bench b = {.robot = bar_robot()};

    link_next = link;
    if (link) {
        const pl_mesh *mesh = pl_robot_mesh(b.robot);
        link->a = link_vertex(mesh, 40, 6, 6);
        link->b = link_vertex(mesh, 10, 0, 0);
    }

    PL_CHECK_OK(pl_problem_create(b.robot, &options, link ? extra : NULL, &b.problem, &err));
    PL_CHECK_OK(pl_state_create(b.robot, &b.state, &err));

    return b;
}

static void bench_clear(bench *b)
{
    pl_problem_destroy(b->problem);
    pl_state_destroy(b->state);
    pl_robot_destroy(b->robot);
}

// Newton's method at the load set; returns the number of steps to a step below 1e-10 mm.
static int newton(pl_problem *p, double *x)
{
    pl_error err = {0};
    const size_t bytes = (size_t)p->unknowns.n * sizeof(double);
    double *g = malloc(bytes), *d = malloc(bytes), mu[PL_ROWS_MAX], step = INFINITY;
    int steps = 0;

    while (step > 1e-10 && steps < 30) {
        PL_CHECK_OK(pl_problem_refactor(p, &(pl_linearization){.x = x, .indefinite = PL_AS_IT_IS}, &err));
        assert_true(isfinite(pl_problem_evaluate(p, x, g)));
        for (int32_t i = 0; i < p->unknowns.n; ++i) {
            g[i] = -g[i];
        }
        assert_true(pl_problem_solve_bordered(p, g, NULL, d, mu));
        pl_problem_move(p, x, d, 1, x);
        step = pl_problem_largest(p, d, false);
        ++steps;
    }

    free(g);
    free(d);

    return steps;
}

// Four increments to the full load.
static void walk(bench *b)
{
    pl_error err = {0};
    const double none = 0;

    PL_CHECK_OK(
        pl_problem_begin_step(b->problem, &(pl_step){.from = b->state, .command = &none, .load = 1}, &err));
    for (int i = 1; i <= 4; ++i) {
        pl_problem_set(b->problem, 0.25 * i);
        PL_CHECK_BELOW(newton(b->problem, b->state->x), 12);
        PL_CHECK_OK(pl_problem_accept(b->problem, b->state->x, PL_ACCEPT_INCREMENT, &err));
    }

    assert_true(pl_problem_admissible(b->problem, b->state->x));
}

static double shapes_apart(const bench *a, const bench *b)
{
    double largest = 0;
    for (int32_t i = 0; i < 3 * a->state->vertex_count; ++i) {
        largest = fmax(largest, fabs(a->state->x[i] - b->state->x[i]));
    }
    return largest;
}

// Energy and gradient of the shape x after the problem went back to a mark are those of before, bit by bit:
// an accepted shape that has turned by 4 rad counts the angle of the moment from there, a full turn off.
static void test_revert(void **state)
{
    (void)state;
    bench b = bench_build(NULL);
    walk(&b);
    pl_error err = {0};
    pl_problem *p = b.problem;
    const size_t full = pl_problem_full_bytes(p), bytes = (size_t)p->unknowns.n * sizeof(double);
    double *turned = malloc(full), *g = malloc(bytes), *again = malloc(bytes);
    pl_mark mark;

    PL_CHECK_OK(pl_mark_create(p, &mark));
    const double energy = pl_problem_evaluate(p, b.state->x, g);
    pl_problem_mark(p, &mark);
    for (int turn = 2; turn <= 4; turn += 2) {
        for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
            const double *x = b.state->x + 3 * v, y = x[1] - 3, z = x[2] - 3;
            turned[3 * v] = x[0];
            turned[3 * v + 1] = 3 + cos(turn) * y - sin(turn) * z;
            turned[3 * v + 2] = 3 + sin(turn) * y + cos(turn) * z;
        }
        PL_CHECK_OK(pl_problem_accept(p, turned, PL_ACCEPT_INCREMENT, &err));
    }
    const double other = pl_problem_evaluate(p, b.state->x, NULL);
    print_message("energy %.12g mJ, after others were accepted %.12g\n", energy, other);
    assert_true(fabs(other - energy) > 0.1); // 2 pi times 0.1 N mm
    pl_problem_revert(p, &mark);
    assert_true(pl_problem_evaluate(p, b.state->x, again) == energy);
    assert_memory_equal(g, again, bytes);

    pl_mark_clear(&mark);
    free(turned);
    free(g);
    free(again);
    bench_clear(&b);
}

// The link comes with the second increment: one ordering, two analyses, and the shape of a problem that had
// it from the start; without the link the shape is another one.
static void test_pattern_changes(void **state)
{
    (void)state;
    link_term late = {.k = 0.0005, .late = true}, early = {.k = 0.0005};
    bench a = bench_build(&late), b = bench_build(&early), without = bench_build(NULL);
    const int64_t before = a.problem->tangent.K.start[a.problem->unknowns.n];
    walk(&a);
    walk(&b);
    walk(&without);
    const int64_t after = a.problem->tangent.K.start[a.problem->unknowns.n];
    print_message(
        "entries %lld, then %lld; orderings %d, analyses %d; apart %.1e mm, without the link %.2f mm\n",
        (long long)before, (long long)after, pl_factor_order_count(a.problem->linear.factor),
        pl_factor_analysis_count(a.problem->linear.factor), shapes_apart(&a, &b), shapes_apart(&a, &without));
    assert_int_equal(after, before + 9);
    assert_int_equal(late.advances, 4);
    assert_int_equal(pl_factor_order_count(a.problem->linear.factor), 1);
    assert_int_equal(pl_factor_analysis_count(a.problem->linear.factor), 2);
    assert_int_equal(pl_factor_analysis_count(b.problem->linear.factor), 1);
    PL_CHECK_BELOW(shapes_apart(&a, &b), 1e-9);
    assert_true(shapes_apart(&a, &without) > 0.1);
    bench_clear(&a);
    bench_clear(&b);
    bench_clear(&without);
}

// Energy and gradient, gradient and tangent belong together, whatever is in the list: central differences
// along a random direction.
static void test_derivatives(void **state)
{
    (void)state;
    link_term link = {.k = 0.0005};
    bench b = bench_build(&link);
    pl_problem *p = b.problem;
    walk(&b);
    const int32_t n = p->unknowns.n;
    const size_t bytes = (size_t)n * sizeof(double), full = pl_problem_full_bytes(p);
    double *g = malloc(bytes), *g1 = malloc(bytes), *g2 = malloc(bytes), *d = calloc((size_t)n, sizeof *d),
           *x1 = malloc(full), *x2 = malloc(full), *x = malloc(full);
    pl_random random;
    pl_random_seed(&random, 3);
    for (int32_t i = 0; i < 3 * p->mesh.vertex_count; ++i) {
        if (p->unknowns.dof[i] >= 0) {
            d[p->unknowns.dof[i]] = pl_random_uniform(&random, -1, 1);
        }
    }

    pl_problem_move(p, b.state->x, d, 1e-3, x); // off the equilibrium, where the gradient is not 0
    pl_problem_evaluate(p, x, g);
    pl_problem_move(p, x, d, 1e-4, x1);
    pl_problem_move(p, x, d, -1e-4, x2);
    const double e1 = pl_problem_evaluate(p, x1, g1), e2 = pl_problem_evaluate(p, x2, g2);
    double slope = 0, curvature = 0;
    for (int32_t i = 0; i < n; ++i) {
        slope += g[i] * d[i];
        curvature += (g1[i] - g2[i]) / 2e-4 * d[i];
    }

    print_message("slope %.9g, by differences %.9g; curvature %.9g\n", slope, (e1 - e2) / 2e-4, curvature);
    PL_CHECK_NEAR((e1 - e2) / 2e-4, slope, 1e-6 * fabs(slope));

    // K d with the pressures of d: B^T d - M/kappa dp = 0 eliminates them
    pl_problem_evaluate(p, x, g);
    pl_problem_assemble(p, &(pl_linearization){.x = x});
    pl_sparse_multiply(&p->tangent.K, d, g1);
    double *dp = malloc((size_t)p->elements->pressure_count * sizeof *dp + 1);
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        dp[k] = g1[p->unknowns.pressure_dof[k]] / p->elements->pressure_unit[k];
    }
    pl_elements_mass_solve(p->elements, dp);
    for (int32_t k = 0; k < p->elements->pressure_count; ++k) {
        d[p->unknowns.pressure_dof[k]] =
            p->elements->pressure_kappa[k] * dp[k] / p->elements->pressure_unit[k];
    }

    pl_sparse_multiply(&p->tangent.K, d, g1);
    double assembled = 0;
    for (int32_t i = 0; i < 3 * p->mesh.vertex_count; ++i) {
        const int32_t u = p->unknowns.dof[i];
        assembled += u >= 0 ? g1[u] * d[u] : 0;
    }

    print_message("assembled curvature %.9g\n", assembled);
    PL_CHECK_NEAR(assembled, curvature, 1e-6 * fabs(curvature));
    void *owned[] = {g, g1, g2, d, x1, x2, x, dp};
    for (int i = 0; i < PL_COUNT(owned); ++i) {
        free(owned[i]);
    }
    bench_clear(&b);
}

// Scratch is given back: whatever was called, the arena is empty, and what was used at most is within its
// size.
static void test_scratch(void **state)
{
    (void)state;
    bench b = bench_build(NULL);
    walk(&b);
    pl_error err = {0};
    pl_sensitivity_report report;
    const pl_parameter force = {.kind = PL_PARAMETER_FORCE, .index = 0, .part = 2};
    double *dx = malloc(pl_problem_full_bytes(b.problem)), mu[PL_ROWS_MAX];
    b.state->load = 1;
    PL_CHECK_OK(pl_sensitivity_begin(b.problem, b.state, false, &report, &err));
    PL_CHECK_OK(pl_sensitivity_column(b.problem, b.state, &force, -1, dx, mu, &report, &err));
    const pl_arena *scratch = &b.problem->scratch;
    print_message("scratch: %zu of %zu bytes at most\n", scratch->most, scratch->size);
    assert_int_equal(scratch->used, 0);
    assert_true(scratch->most > 0 && scratch->most <= scratch->size);
    PL_CHECK_BELOW(report.residual, 1e-9);
    free(dx);
    bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_revert), cmocka_unit_test(test_pattern_changes),
                                       cmocka_unit_test(test_derivatives), cmocka_unit_test(test_scratch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
