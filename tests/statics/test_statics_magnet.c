// A hard-magnetic cantilever in a field normal to it (Zhao et al. 2019), against the closed forms of the
// beam: with t = B B_r A / mu0 the moment per length at right angles to the field, and theta the angle of the
// beam at s,
//   E I theta'' + t cos(theta) = 0,   theta(0) = 0,   theta'(L) = 0.
// Small angles: the tip moves by t L^3 / (3 E I). Large ones: theta'^2 = 2 t / (E I) (sin theta_L - sin
// theta).
#include "statics_robot.h"

#define LENGTH 60.0
#define SIDE 3.0
#define YOUNG 0.6
#define REMANENCE 1e-7 // V s/mm^2: 100 mT
#define MU0 1.25663706212e-12

static rig magnet_rig(pl_mesh **mesh)
{
    static plan p;
    *mesh = tet_box(20, 2, 2, LENGTH, SIDE, SIDE, 2, NULL);
    plan_init(&p, *mesh, (pl_material){.model = PL_LINEAR, .young = YOUNG, .poisson = 0.3});
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, LENGTH);
    plan_hold(&p, "base", "xyz");
    p.actuator[p.def.actuator_count++] = (pl_actuator_def){.name = "coil",
                                                           .kind = PL_MAGNET,
                                                           .drive = PL_DRIVE_FIELD,
                                                           .region = "body",
                                                           .remanence = {REMANENCE, 0, 0},
                                                           .direction = {0, 0, 2}};
    plan_marker(&p, "tip", "tip");
    const pl_statics_options options = tight_options();

    return plan_build(&p, &options);
}

static void magnet_tip(const rig *r, double x[3])
{
    memcpy(x, pl_statics_marker(r->statics, r->state, 0).position, 3 * sizeof *x);
}

// t L^2 / (E I) of a field in mT.
static double field_load(double mT)
{
    const double I = SIDE * SIDE * SIDE * SIDE / 12;
    return 1e-9 * mT * REMANENCE * SIDE * SIDE / MU0 * LENGTH * LENGTH / (YOUNG * I);
}

// The beam by shooting: fourth-order steps from theta(0) = 0 with theta'(0) such that theta'(L) = 0; the
// tip over the length.
static void elastica(double load, double tip[2])
{
    double low = 0, high = 3 * sqrt(load) + load;
    for (int k = 0; k < 80; ++k) {
        const double h = 1.0 / 2000;
        double theta = 0, slope = 0.5 * (low + high), z = 0, x = 0;
        const double first = slope;
        for (int i = 0; i < 2000; ++i) {
            const double k1 = -load * cos(theta), t2 = theta + h / 2 * slope, s2 = slope + h / 2 * k1;
            const double k2 = -load * cos(t2), t3 = theta + h / 2 * s2, s3 = slope + h / 2 * k2;
            const double k3 = -load * cos(t3), t4 = theta + h * s3, s4 = slope + h * k3;
            const double k4 = -load * cos(t4);
            x += h / 6 * (cos(theta) + 2 * cos(t2) + 2 * cos(t3) + cos(t4));
            z += h / 6 * (sin(theta) + 2 * sin(t2) + 2 * sin(t3) + sin(t4));
            theta += h / 6 * (slope + 2 * s2 + 2 * s3 + s4);
            slope += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        }
        tip[0] = x;
        tip[1] = z;
        if (slope > 0) {
            high = first;
        } else {
            low = first;
        }
    }
}

static void test_cantilever(void **state)
{
    (void)state;
    const double field[] = {0.02, 2, 8, 25};
    pl_mesh *mesh = NULL;
    rig r = magnet_rig(&mesh);
    for (int i = 0; i < 4; ++i) {
        const double command = 1e-9 * field[i];
        rig_solve(&r, &command);
        double x[3], tip[2];
        magnet_tip(&r, x);
        const double move[2] = {x[0] / LENGTH, (x[2] - SIDE / 2) / LENGTH};
        elastica(field_load(field[i]), tip);
        const pl_actuator_result a = pl_statics_actuator(r.statics, r.state, 0);
        print_message(
            "%5g mT: tip at %.5f %.5f of the length, beam %.5f %.5f, small angles %.5f; cosine %.4f\n",
            field[i], move[0], move[1], tip[0], tip[1], field_load(field[i]) / 3, a.ratio);
        if (i == 0) {
            PL_CHECK_NEAR(move[1] / (field_load(field[i]) / 3), 1, 0.01);
        }
        PL_CHECK_NEAR(move[0], tip[0], 0.01);
        PL_CHECK_NEAR(move[1], tip[1], 0.01);
        PL_CHECK_NEAR(a.effort, command, 1e-20);
    }

    // against the field it bends to the other side by the same amount, but for the diagonals of the mesh
    double there[3], back[3];
    const double plus = 8e-9, minus = -8e-9;
    rig_solve(&r, &plus);
    magnet_tip(&r, there);
    rig_solve(&r, &minus);
    magnet_tip(&r, back);
    PL_CHECK_NEAR(there[0], back[0], 1e-2);
    PL_CHECK_NEAR(there[2] - SIDE / 2, SIDE / 2 - back[2], 1e-2);
    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

// The derivative of the tip with respect to the field against differences of solves.
static void test_derivative(void **state)
{
    (void)state;
    pl_mesh *mesh = NULL;
    rig r = magnet_rig(&mesh);
    pl_error err = {0};
    double by[3], x[2][3];
    const double at = 6e-9, h = 2e-13;
    for (int i = 0; i < 2; ++i) {
        const double command = at + (i ? -h : h);
        rig_solve(&r, &command);
        magnet_tip(&r, x[i]);
    }

    rig_solve(&r, &at);
    const pl_parameter parameter = {PL_PARAMETER_COMMAND, 0, 0};
    const pl_jacobian out = {.marker = by};
    pl_jacobian_report report;
    PL_CHECK_OK(pl_statics_jacobian(r.statics, r.state, &parameter, 1, &out, &report, &err));
    for (int k = 0; k < 3; k += 2) {
        const double difference = (x[0][k] - x[1][k]) / (2 * h);
        print_message("d tip %c / d field: %.9g, differences %.9g\n", 'x' + k, by[k], difference);
        PL_CHECK_NEAR(by[k] / difference, 1, 1e-5);
    }

    rig_clear(&r);
    pl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cantilever),
        cmocka_unit_test(test_derivative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
