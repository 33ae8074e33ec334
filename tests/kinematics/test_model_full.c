// The full body behind pl_model: its derivatives agree with differences, keeping and recalling needs no
// solve, and inverse kinematics brings a real body where it should go within bounds on tendons and their
// tension.
#include "bar_robot.h"
#include "kinematics/kinematics.h"
#include "model/model.h"
#include "pliant/motion.h"

#define ROWS (3 + 3 + 1 + 2 + 2 + 1)

// Positions, efforts, measures, sensor and energy in one vector; rotations are judged by the marker's axis.
static void bar_read(const bar *b, double *v)
{
    const pl_model_answer a = pl_model_get_answer(b->model);
    memcpy(v, a.marker, 3 * sizeof *v);
    for (int i = 0; i < 3; ++i) {
        v[3 + i] = a.rotation[3 * i]; // where the x axis points
    }
    v[6] = a.sensor[0];
    memcpy(v + 7, a.effort, 2 * sizeof *v);
    memcpy(v + 9, a.measure, 2 * sizeof *v);
    v[11] = a.energy;
}

static void test_derivatives(void **state)
{
    (void)state;
    bar b = bar_rubber();
    const double c[2] = {2, 1}, h = 1e-3;
    double J[ROWS][2], low[ROWS], high[ROWS];
    pl_error err = {0};
    pl_model_derivative d;
    pl_jacobian_report report;
    bar_go(&b, c[0], c[1]);
    const pl_model_answer a = pl_model_get_answer(b.model);
    PL_CHECK_NEAR(a.command[0], 2, 0);
    double R[9];
    memcpy(R, a.rotation, sizeof R);
    PL_CHECK_OK(pl_model_differentiate(b.model, 127, 0, &d, &report, &err));
    for (int j = 0; j < 2; ++j) {
        double x[3] = {R[0], R[3], R[6]};
        const double w[3] = {d.rotation[j], d.rotation[2 + j], d.rotation[4 + j]};
        for (int i = 0; i < 3; ++i) {
            J[i][j] = d.marker[2 * i + j];
            J[3 + i][j] = w[(i + 1) % 3] * x[(i + 2) % 3] - w[(i + 2) % 3] * x[(i + 1) % 3];
        }
        J[6][j] = d.sensor[j];
        J[7][j] = d.effort[j];
        J[8][j] = d.effort[2 + j];
        J[9][j] = d.measure[j];
        J[10][j] = d.measure[2 + j];
        J[11][j] = d.energy[j];
    }

    double point[2];
    const int32_t last = pl_model_get_info(b.model).point_count - 1;
    point[0] = d.point[6 * last];
    point[1] = d.point[6 * last + 1];
    for (int j = 0; j < 2; ++j) {
        bar_go(&b, c[0] - (j == 0 ? h : 0), c[1] - (j == 1 ? h : 0));
        bar_read(&b, low);
        const double x0 = pl_model_get_answer(b.model).point[3 * last];
        bar_go(&b, c[0] + (j == 0 ? h : 0), c[1] + (j == 1 ? h : 0));
        bar_read(&b, high);
        const double x1 = pl_model_get_answer(b.model).point[3 * last];
        for (int i = 0; i < ROWS; ++i) {
            PL_CHECK_NEAR((high[i] - low[i]) / (2 * h), J[i][j], 2e-6 * (1 + fabs(J[i][j])));
        }
        PL_CHECK_NEAR((x1 - x0) / (2 * h), point[j], 2e-6 * (1 + fabs(point[j])));
    }

    bar_clear(&b);
}

static void check_energy(plan *p, pl_distribution distribution, double at, double h)
{
    pl_statics_options options = tight_options();
    options.distribution = distribution;
    pl_robot *robot = plan_robot(p);
    pl_model *model = NULL;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_from_robot(robot, &options, &model, &err));
    double energy[3], by_command = 0;
    for (int k = 0; k < 3; ++k) {
        const double command = at + (k - 1) * h;
        pl_solve_report report;
        PL_CHECK_OK(pl_model_fk(model, &command, &report, &err));
        assert_int_equal(report.outcome, PL_SOLVED);
        energy[k] = pl_model_get_answer(model).energy;
        if (k == 1) {
            pl_model_derivative d;
            pl_jacobian_report jacobian;
            PL_CHECK_OK(pl_model_differentiate(model, PL_PART_ENERGY, 0, &d, &jacobian, &err));
            by_command = d.energy[0];
        }
    }

    const double wanted = (energy[2] - energy[0]) / (2 * h);
    print_message("energy %.6g mJ, by the command %.6g, by differences %.6g\n", energy[1], by_command,
                  wanted);
    assert_true(fabs(wanted) * at > 1e-3);
    PL_CHECK_NEAR(by_command, wanted, 2e-5 * fabs(wanted));
    pl_model_destroy(model);
    pl_robot_destroy(robot);
}

// Where a command makes stress-free shapes grow, the energy changes even in a body that does not move.
static void test_energy_of_growth(void **state)
{
    (void)state;

    // a film between its ends, with a stress-free area of its own; then the same by a table
    static plan p;
    pl_mesh *mesh = prism_box(3, 2, 1, 6, 4, 0.5, 2);
    plan_init(&p, mesh, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.2, .poisson = 0.45});
    p.region[0].rest_area = 0.9;
    plan_plane(&p, "left", 0, 0);
    plan_plane(&p, "right", 0, 6);
    plan_hold(&p, "left", "xyz");
    plan_hold(&p, "right", "x");
    pl_actuator_def *a = plan_film(&p, "film", NULL, PL_DRIVE_AREA_RATIO);
    a->region = "body";
    a->growth = true;
    a->thickness = 0.5;
    plan_marker(&p, "right", "right");
    check_energy(&p, PL_RATIOS_UNIFORM, 1.05, 1e-4);
    static const double table[] = {0, 1, 100, 1.1, 300, 1.2};
    a->drive = PL_DRIVE_VOLTAGE;
    a->table = table;
    a->table_count = 3;
    a->permittivity = 3;
    check_energy(&p, PL_RATIOS_UNIFORM, 80, 0.05);
    pl_mesh_destroy(mesh);

    // a beam with a cable that shortens its triangles, by one ratio or by those of least energy
    static const pl_guide_def guide[] = {{.point = {0, 1, 2}}, {.point = {8, 1, 2}}, {.point = {16, 1, 2}}};
    mesh = tet_box(4, 1, 1, 16, 2, 2, 1, NULL);
    plan_init(&p, mesh, (pl_material){.model = PL_LINEAR, .young = 1, .poisson = 0.3});
    plan_plane(&p, "root", 0, 0);
    plan_plane(&p, "tip", 0, 16);
    plan_hold(&p, "root", "xyz");
    a = plan_cable(&p, "tendon", guide, 3, PL_DRIVE_LENGTH_RATIO);
    a->growth = true;
    a->modulus = 4;
    a->radius = 1;
    plan_marker(&p, "tip", "tip");
    check_energy(&p, PL_RATIOS_UNIFORM, 0.9, 1e-4);
    check_energy(&p, PL_RATIOS_JOINT, 0.9, 1e-4);
    pl_mesh_destroy(mesh);
}

// A slot brings positions and commands back to the bit, at no cost.
static void test_slots(void **state)
{
    (void)state;
    bar b = bar_rubber();
    bar_go(&b, 2, 1);
    double v[ROWS], w[ROWS];
    bar_read(&b, v);
    assert_int_equal(pl_model_keep(b.model, 3, NULL), PL_OK);
    bar_go(&b, 0.5, 3);
    bar_read(&b, w);
    assert_true(fabs(v[0] - w[0]) > 1e-3);
    const int64_t solves = pl_model_get_costs(b.model).solves;
    assert_int_equal(pl_model_recall(b.model, 3, NULL), PL_OK);
    bar_read(&b, w);
    assert_memory_equal(v, w, sizeof v);
    assert_int_equal(pl_model_get_costs(b.model).solves, solves);
    pl_model_reset(b.model);
    assert_true(isnan(pl_model_get_answer(b.model).command[0]));
    PL_CHECK_NEAR(pl_model_get_answer(b.model).marker[0], 40, 1e-12);
    assert_ptr_equal(pl_model_robot(b.model), b.robot);
    bar_clear(&b);
}

// Before the first solve all commands are idle: they count at their rest.
static void test_residual_of_idle(void **state)
{
    (void)state;
    bar b = bar_rubber();
    const double place[2] = {1, 2};
    pl_objective o = pl_objective_default(PL_OBJECTIVE_COMMAND);
    o.place = place;
    const pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = NULL;
    pl_error err = {0};
    double r[2];
    PL_CHECK_OK(pl_ik_create(b.model, &o, 1, &options, &ik, &err));
    PL_CHECK_OK(pl_ik_residual(ik, r, NULL, &err));
    PL_CHECK_NEAR(r[0], -1 / 4.0, 1e-15);
    PL_CHECK_NEAR(r[1], -2 / 4.0, 1e-15);
    pl_ik_destroy(ik);
    bar_clear(&b);
}

// Two coordinates of the tip by two tendons; then the same with a bound on a tendon's tension.
static void test_reach(void **state)
{
    (void)state;
    bar b = bar_rubber();
    bar_go(&b, 2.5, 1.2);
    pl_model_answer a = pl_model_get_answer(b.model);
    pl_objective o = pl_objective_default(PL_OBJECTIVE_POSITION);
    memcpy(o.target, a.marker, sizeof o.target);
    o.axes[1] = o.axes[2] = true;
    const double tension = a.effort[0];
    pl_model_reset(b.model);
    pl_ik_options options = pl_ik_options_default();
    pl_ik *ik = NULL;
    pl_ik_report r;
    pl_error err = {0};
    PL_CHECK_OK(pl_ik_create(b.model, &o, 1, &options, &ik, &err));
    PL_CHECK_OK(pl_ik_solve(ik, NULL, &r, &err));
    print_message("%s: %d forward solves, %d factorisations, %d solves, %d Jacobians\n", r.message,
                  (int)r.costs.fk_calls, (int)r.costs.factorizations, (int)r.costs.solves,
                  (int)r.costs.derivative_calls);
    assert_int_equal(r.outcome, PL_IK_REACHED);
    PL_CHECK_NEAR(r.command[0], 2.5, 0.01);
    PL_CHECK_NEAR(r.command[1], 1.2, 0.01);
    pl_ik_destroy(ik);

    const pl_effort_bound bound = {.actuator = 0, .low = 0, .high = 0.7 * tension};
    options.effort = &bound;
    options.effort_count = 1;
    PL_CHECK_OK(pl_ik_create(b.model, &o, 1, &options, &ik, &err));
    PL_CHECK_OK(pl_ik_solve(ik, NULL, &r, &err)); // starts with too much tension
    a = pl_model_get_answer(b.model);
    print_message("%s; tension %.6f of %.6f N\n", r.message, a.effort[0], bound.high);
    assert_int_equal(r.outcome, PL_IK_NEAREST);
    PL_CHECK_BELOW(a.effort[0], bound.high * (1 + 1e-8));
    PL_CHECK_BELOW(bound.high * (1 - 1e-3), a.effort[0]);
    PL_CHECK_BELOW(r.gradient, 1e-4);
    bool named = false;
    for (int i = 0; i < r.active_count; ++i) {
        named =
            named || (r.active[i].kind == PL_BOUND_EFFORT && r.active[i].upper && r.active[i].multiplier > 0);
    }

    assert_true(named);
    pl_ik_destroy(ik);
    bar_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives), cmocka_unit_test(test_energy_of_growth),
        cmocka_unit_test(test_slots),       cmocka_unit_test(test_residual_of_idle),
        cmocka_unit_test(test_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
