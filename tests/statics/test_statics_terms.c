// Terms that the solver has never heard of: a link that appears with an accepted increment is in the
// equilibrium found, and a step limit is never passed.
#include "link_term.h"
#include "statics/statics_impl.h"
#include "statics_robot.h"

static const pl_material rubber = {.model = PL_NEO_HOOKEAN, .c10 = 0.1, .poisson = 0.47};

static pl_robot *bar_robot(void)
{
    static plan p;
    pl_mesh *mesh = tet_box(8, 2, 2, 40, 6, 6, 2, NULL);

    plan_init(&p, mesh, rubber);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_hold(&p, "base", "xyz");
    plan_marker(&p, "tip", "tip");
    p.force[0] = (pl_force_def){.marker = "tip", .force = {0, 0, -0.15}};
    p.def.force_count = 1;
    pl_robot *robot = plan_robot(&p);
    pl_mesh_destroy(mesh);

    return robot;
}

static rig bar_rig(const pl_term_create *extra)
{
    const pl_statics_options options = tight_options();
    pl_error err = {0};
    rig r = {.robot = bar_robot()};
    PL_CHECK_OK(statics_create(r.robot, &options, extra, &r.statics, &err));
    PL_CHECK_OK(pl_state_create(r.robot, &r.state, &err));
    return r;
}

// The link comes after the first of several increments; the equilibrium is that of a solver that knew it from
// the start, and the unknowns were ordered once.
static void test_late_link(void **state)
{
    (void)state;
    static const pl_term_create extra[] = {link_create, NULL};
    link_term late = {.k = 0.002, .late = true}, early = {.k = 0.002};
    link_term *link[2] = {&late, &early};
    rig r[2];
    for (int i = 0; i < 2; ++i) {
        link_next = link[i];
        r[i] = bar_rig(extra);
        link[i]->a = link_vertex(pl_robot_mesh(r[i].robot), 40, 0, 6);
        link[i]->b = link_vertex(pl_robot_mesh(r[i].robot), 20, 6, 6);
    }

    // the vertices were not known when the early link announced its pattern
    pl_error err = {0};
    early.announced = false;
    PL_CHECK_OK(pl_problem_accept(r[1].statics->problem, rig_rest(&r[1]), PL_ACCEPT_INCREMENT, &err));
    const pl_solve_report late_report = rig_solve(&r[0], NULL), early_report = rig_solve(&r[1], NULL);
    const pl_factor *factor = r[0].statics->problem->linear.factor;
    print_message(
        "late: %d increments, %d factorisations, %d ordering, %d analyses; early: %d, %d; apart %.1e mm\n",
        late_report.increments, late_report.factorizations, pl_factor_order_count(factor),
        pl_factor_analysis_count(factor), early_report.increments, early_report.factorizations,
        shape_distance(&r[0], rig_x(&r[0]), rig_x(&r[1])));
    assert_true(late_report.increments > 1);
    assert_int_equal(pl_factor_order_count(factor), 1);
    assert_int_equal(pl_factor_analysis_count(factor), 2);
    PL_CHECK_BELOW(shape_distance(&r[0], rig_x(&r[0]), rig_x(&r[1])), 1e-7);
    rig_clear(&r[0]);
    rig_clear(&r[1]);
}

// No vertex may go below a floor. The term pulls on nothing: it only says how far a step may go.
static double floor_height;
static double floor_limit(const void *self, const pl_problem *p, const double *x, const double *to)
{
    (void)self;
    double limit = 1;
    for (int32_t v = 0; v < p->mesh.vertex_count; ++v) {
        const double from = x[3 * v + 2], end = to[3 * v + 2];
        if (end < floor_height) {
            limit = fmin(limit, (from - floor_height) / (from - end));
        }
    }

    return limit;
}

static pl_status floor_create(pl_problem *p, pl_problem_term *out, pl_error *err)
{
    static const pl_term kind = {.name = "floor", .destroy = link_destroy, .step_limit = floor_limit};
    (void)p;
    (void)err;
    *out = (pl_problem_term){&kind, NULL};
    return PL_OK;
}

static double lowest(const rig *r)
{
    double z = INFINITY;
    for (int32_t v = 0; v < pl_state_vertex_count(r->state); ++v) {
        z = fmin(z, rig_x(r)[3 * v + 2]);
    }
    return z;
}

static void test_step_limit(void **state)
{
    (void)state;
    static const pl_term_create extra[] = {floor_create, NULL};
    floor_height = -1e9;
    rig open = bar_rig(extra);
    rig_solve(&open, NULL);
    const double depth = lowest(&open);
    floor_height = 0.4 * depth;
    rig closed = bar_rig(extra);
    const pl_solve_report report = rig_try(&closed, NULL);
    print_message("lowest point %.3f mm; with a floor at %.3f: %.3f mm, %s at %.1f %%\n", depth, floor_height,
                  lowest(&closed), pl_outcome_name(report.outcome), 100 * report.load_reached);
    assert_true(depth < -2);
    assert_true(report.outcome != PL_SOLVED);
    assert_true(lowest(&closed) >= floor_height);
    PL_CHECK_BELOW(lowest(&closed), 0.8 * floor_height); // it came near
    rig_clear(&open);
    rig_clear(&closed);
}

// What a state means is asked without a trace: the solver goes on as if nobody had asked, and answers about
// one state are the same after work on another.
static void test_questions_leave_no_trace(void **state)
{
    (void)state;
    static const pl_guide_def guide[] = {{.point = {0, 3, 6}}, {.point = {20, 3, 6}}, {.point = {40, 3, 6}}};
    rig r[2];
    pl_solve_report report[2];
    for (int k = 0; k < 2; ++k) {
        static plan p;
        pl_mesh *mesh = tet_box(8, 2, 2, 40, 6, 6, 2, NULL);
        plan_init(&p, mesh, rubber);
        plan_plane(&p, "base", 0, 0);
        plan_plane(&p, "tip", 0, 40);
        plan_hold(&p, "base", "xyz");
        plan_marker(&p, "tip", "tip");
        pl_actuator_def *cable = plan_cable(&p, "tendon", guide, 3, PL_DRIVE_LENGTH_RATIO);
        cable->radius = 2;
        cable->growth = true;
        cable->modulus = 5;
        r[k] = plan_build(&p, NULL);
        pl_mesh_destroy(mesh);
        const double first = 0.97, second = 0.96;
        rig_solve(&r[k], &first);
        const double effort = pl_statics_actuator(r[k].statics, r[k].state, 0).effort;
        assert_true(effort > 0);
        if (k == 1) {
            // another state, with another stress-free shape
            pl_error err = {0};
            pl_state *rest;
            PL_CHECK_OK(pl_state_create(r[k].robot, &rest, &err));
            pl_reaction reaction;
            double residual, largest, *field = malloc((size_t)pl_state_vertex_count(rest) * sizeof *field);
            bool inverted;
            PL_CHECK_NEAR(pl_statics_actuator(r[k].statics, rest, 0).effort, 0, 1e-9);
            PL_CHECK_NEAR(pl_statics_elastic(r[k].statics, rest, NULL), 0, 1e-12);
            PL_CHECK_OK(pl_statics_reactions(r[k].statics, rest, &reaction));
            PL_CHECK_OK(pl_statics_check(r[k].statics, rest, &residual, &largest, &inverted, &err));
            PL_CHECK_OK(pl_statics_field(r[k].statics, rest, PL_FIELD_VON_MISES, field, &err));
            pl_statics_marker(r[k].statics, rest, 0);
            pl_statics_elastic_rate(r[k].statics, rest, 0);
            PL_CHECK_NEAR(pl_statics_actuator(r[k].statics, r[k].state, 0).effort, effort, 0);
            free(field);
            pl_state_destroy(rest);
        }
        report[k] = rig_solve(&r[k], &second);
    }

    print_message("factorisations %d and %d, solves %d and %d\n", report[0].factorizations,
                  report[1].factorizations, report[0].solves, report[1].solves);
    assert_int_equal(report[0].factorizations, report[1].factorizations);
    assert_int_equal(report[0].solves, report[1].solves);
    PL_CHECK_NEAR(shape_distance(&r[0], rig_x(&r[0]), rig_x(&r[1])), 0, 0);
    rig_clear(&r[0]);
    rig_clear(&r[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_late_link), cmocka_unit_test(test_step_limit),
                                       cmocka_unit_test(test_questions_leave_no_trace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
