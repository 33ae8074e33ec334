// A small full body for the tests of models: a bar of 40 x 8 x 8 mm, clamped at x = 0, with a tendon above
// and one at its side.
#ifndef PL_BAR_ROBOT_H
#define PL_BAR_ROBOT_H

#include "pliant/model.h"
#include "geometric/geometric.h"
#include "model/model.h"
#include "statics_robot.h"
#include "robot/robot_def.h"

typedef struct bar {
    pl_mesh *mesh;
    pl_robot *robot;
    pl_model *model;
} bar;

// The robot alone, with elements of order 1 or 2.
static inline bar bar_robot_of(int order, pl_material material)
{
    static const pl_guide_def top[3] = {{.point = {0, 4, 7}}, {.point = {20, 4, 7}}, {.point = {38, 4, 7}}};
    static const pl_guide_def side[3] = {{.point = {0, 7, 4}}, {.point = {20, 7, 4}}, {.point = {38, 7, 4}}};
    bar b = {.mesh = tet_box(5, 1, 1, 40, 8, 8, order, NULL)};
    static plan p;

    plan_init(&p, b.mesh, material);
    plan_plane(&p, "base", 0, 0);
    plan_plane(&p, "tip", 0, 40);
    plan_hold(&p, "base", "xyz");
    const pl_guide_def *const guide[2] = {top, side};
    const char *const name[2] = {"top", "side"};
    for (int i = 0; i < 2; ++i) {
        pl_actuator_def *a = plan_cable(&p, name[i], guide[i], 3, PL_DRIVE_SHORTENING);
        a->radius = 3;
        a->has_range = true;
        a->range[1] = 4;
    }

    plan_marker(&p, "tip", "tip");
    p.sensor[p.def.sensor_count++] = (pl_sensor_def){
        .name = "string", .kind = PL_SENSOR_LENGTH, .guide = top, .guide_count = 3, .radius = 3};
    b.robot = plan_robot(&p);

    return b;
}

static inline bar bar_robot(int order)
{
    return bar_robot_of(order, (pl_material){.model = PL_LINEAR, .young = 0.5, .poisson = 0.3});
}

static inline bar bar_solver(bar b)
{
    pl_error err = {0};
    const pl_statics_options options = tight_options();
    PL_CHECK_OK(pl_model_from_robot(b.robot, &options, &b.model, &err));
    return b;
}

static inline bar bar_exact(void)
{
    return bar_solver(bar_robot(1));
}

// Of rubber, with quadratic elements.
static inline bar bar_rubber(void)
{
    return bar_solver(bar_robot_of(2, (pl_material){.model = PL_NEO_HOOKEAN, .c10 = 0.2, .poisson = 0.45}));
}

// In the form that has an energy, so that it finds the exact method's equilibrium.
static inline bar bar_geometric(void)
{
    bar b = bar_robot(1);
    pl_error err = {0};
    pl_geometric_options options = pl_geometric_options_default();

    options.form = PL_FORM_MU_LAMBDA;
    options.length_tolerance = 1e-9;
    PL_CHECK_OK(pl_model_from_robot_geometric(b.robot, &options, &b.model, &err));

    return b;
}

static inline void bar_clear(bar *b)
{
    pl_model_destroy(b->model);
    pl_robot_destroy(b->robot);
    pl_mesh_destroy(b->mesh);
}

static inline void bar_go(const bar *b, double top, double side)
{
    const double command[2] = {top, side};
    pl_solve_report report;
    pl_error err = {0};
    PL_CHECK_OK(pl_model_fk(b->model, command, &report, &err));
    assert_int_equal(report.outcome, PL_SOLVED);
}

#endif
